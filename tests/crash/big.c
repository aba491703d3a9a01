/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A file that crosses the lock-byte page where it really is, at 1 GiB.
**
** Eight tables, each with an index, grow together past 1 GiB; then half of
** them are emptied, and all grow again.  The same by stock on a file of its
** own.  At each stage stock, in another process, finds the file sound, and
** the contents of both are the same.  Spoiled, ours changes one row.
*/
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "crash.h"

#define N_TABLE    8
#define N_ROUND    500       /* Rows of each table that are added at a time */
#define N_FIRST    300       /* So many times at first, */
#define N_AGAIN    190       /* and after each deletion */

static int grow(Db *p, int nTime){
  int i, rc = SQLITE_OK;
  i64 n = dbInt(p, "SELECT count(*) FROM big0");
  while( nTime-->0 && rc==SQLITE_OK ){
    rc = dbRun(p, "BEGIN");
    for(i=0; i<N_TABLE && rc==SQLITE_OK; i++){
      rc = dbRun(p,
        "WITH RECURSIVE n(i) AS (SELECT %lld UNION ALL SELECT i+1 FROM n"
        " LIMIT %d) INSERT INTO big%d(a, b)"
        " SELECT mix(i), fill(i+%d, CASE WHEN i%%50=0 THEN 30000 ELSE 300 END)"
        " FROM n", (long long)n, N_ROUND, i, i);
    }
    if( rc==SQLITE_OK ) rc = dbRun(p, "COMMIT");
    n += N_ROUND;
  }
  if( rc==SQLITE_OK && dbInt(p, "PRAGMA page_count")<=(1<<18) ){
    rc = failed("the file ends before the page of the lock byte");
  }
  return rc;
}

static int stages(Db *p, int eStage){
  int i, rc = SQLITE_OK;
  if( eStage==0 ){
    rc = dbRun(p, "PRAGMA page_size=4096; PRAGMA synchronous=off;"
                  "PRAGMA journal_mode=truncate");
    for(i=0; i<N_TABLE && rc==SQLITE_OK; i++){
      rc = dbRun(p, "CREATE TABLE big%d(a, b); CREATE INDEX big%da ON"
                    " big%d(a)", i, i, i);
    }
    return rc ? rc : grow(p, N_FIRST);
  }
  for(i=0; i<N_TABLE && rc==SQLITE_OK; i+=2) rc = dbRun(p, "DELETE FROM big%d", i);
  if( rc==SQLITE_OK && eStage==2 ) rc = dbRun(p, "DELETE FROM big1 WHERE a%%3");
  return rc ? rc : grow(p, N_AGAIN);
}

/*
** In a process of its own: write, or look at a file and tell its digest.
*/
static int apart(const Lib *pLib, const char *zFile, int eStage, u64 *pDigest){
  int aFd[2], status = 1;
  pid_t pid;
  if( pipe(aFd) ) abort();
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    Db db;
    u64 iDigest = 0;
    int rc = dbOpen(&db, pLib, zFile, 0);
    if( rc==SQLITE_OK && pDigest==0 ) rc = stages(&db, eStage);
    if( rc==SQLITE_OK && pDigest==0 && args.bSpoil && pLib==&ours ){
      rc = dbRun(&db, "UPDATE big3 SET a=5 WHERE rowid=77");
    }
    if( rc==SQLITE_OK && pDigest ) rc = dbCheck(&db);
    if( rc==SQLITE_OK && pDigest ) rc = dbDigest(&db, &iDigest);
    if( rc ) failed("%s", db.zErr);
    if( write(aFd[1], &iDigest, sizeof(iDigest))!=sizeof(iDigest) ) rc = 1;
    fflush(stdout);
    _exit(dbClose(&db) || rc);
  }
  close(aFd[1]);
  if( pDigest && read(aFd[0], pDigest, sizeof(*pDigest))!=sizeof(*pDigest) ){
    *pDigest = 0;
  }
  close(aFd[0]);
  waitpid(pid, &status, 0);
  return status!=0;
}

int bigCase(u64 iSeed){
  const char *azFile[2];
  u64 aDigest[2];
  int i, eStage, nBad = 0;
  (void)iSeed;
  azFile[0] = fileName("ours.db");
  azFile[1] = fileName("stock.db");
  for(eStage=0; eStage<3 && nBad==0; eStage++){
    for(i=0; i<2 && nBad==0; i++){
      nBad += apart(i ? &stock : &ours, azFile[i], eStage, 0);
      nBad += apart(&stock, azFile[i], eStage, &aDigest[i]);
    }
    if( nBad==0 && aDigest[0]!=aDigest[1] ){
      nBad += failed("stage %d: the files differ", eStage);
    }
  }
  removeDb(azFile[0]);
  removeDb(azFile[1]);
  return nBad;
}
