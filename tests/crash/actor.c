/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A process of a storm (storm.c): connections of one library, which do as they are told.
**
** A command is a line, and so is what is said to it: an error code, and what came of it.
** C is the number of a connection.
**
**    o C URI       open one
**    x C           close it
**    e C SQL       run statements: all their rows
**    a C N K M     ask: what N executions of each query below say, of those of bits M.  K bounds some
**                  of them
**    b C URI       copy the file URI into it: sqlite3_backup
**    k C SQL       run statements, and be killed
**
** Of a checkpoint only the first number is told: how many frames there are is ours to choose.
*/
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "crash.h"

#define MX_SECOND  100       /* Longest time for a command */
#define MX_ROWS    1200      /* Most bytes of rows that are told; of more a hash is */

/*
** Sums, filters that let few values pass, ranges of rowids, groups, joins, first rows; of tables that
** may be gone.  %d is K.
*/
static const char *const azAsk[] = {
  "SELECT count(x), sum(x), min(x), max(x) FROM t",
  "SELECT count(*), sum(n), max(s), total(r) FROM u",
  "SELECT count(*), sum(x), max(s) FROM t WHERE x>=1000000+%d",
  "SELECT count(x), sum(x) FROM t WHERE rowid>=1",
  "SELECT g, count(*), sum(n), min(id) FROM u GROUP BY g",
  "SELECT count(*), sum(n) FROM u WHERE id BETWEEN %d AND 9*%d",
  "SELECT count(*), sum(t.x), sum(u.n) FROM t JOIN u ON u.id=t.x%%2000*10",
  "SELECT rowid, x, s FROM t ORDER BY x DESC LIMIT 3",
  "SELECT count(*), sum(id), min(n) FROM u WHERE s='text 7' OR n<%d%%100",
  "SELECT count(*) FROM t", "SELECT count(*) FROM u", "SELECT count(*), max(y), max(z) FROM w",
};

static Db aDb[10];
static const Lib *pLib;
static char zReply[60000];
static int nReply;

static void say(const char *zFormat, ...){
  va_list ap;
  va_start(ap, zFormat);
  nReply += vsnprintf(&zReply[nReply], sizeof(zReply)-nReply, zFormat, ap);
  va_end(ap);
  if( nReply>=(int)sizeof(zReply) ) nReply = sizeof(zReply)-1;
}

/* All rows of a statement, which is finalized */
static int sayRows(sqlite3 *db, sqlite3_stmt *pStmt, int nCol){
  int iBegin = nReply;
  u64 h = 0;
  int rc;
  while( (rc = pLib->step(pStmt))==SQLITE_ROW ){
    int i, n = pLib->column_count(pStmt);
    if( nCol && n>nCol ) n = nCol;
    for(i=0; i<n; i++){
      const char *z = (const char*)pLib->column_text(pStmt, i);
      h = hashBytes(h+i, z ? z : "NULL", z ? pLib->column_bytes(pStmt, i) : 4);
      if( nReply-iBegin<MX_ROWS ) say("%s%.90s", i ? "|" : " ", z ? z : "NULL");
    }
  }
  if( nReply-iBegin>=MX_ROWS ){
    nReply = iBegin + 100;
    say("... %016llx", (unsigned long long)h);
  }
  pLib->finalize(pStmt);
  return rc==SQLITE_DONE ? SQLITE_OK : pLib->extended_errcode(db) & 0xff;
}

/* Run statements; after an error no transaction is open */
static int run(Db *p, const char *zSql){
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK && *zSql ){
    sqlite3_stmt *pStmt = 0;
    int bCheckpoint = strncmp(zSql, "PRAGMA wal_checkpoint", 21)==0;
    rc = pLib->prepare_v2(p->db, zSql, -1, &pStmt, &zSql) & 0xff;
    if( pStmt ) rc = sayRows(p->db, pStmt, bCheckpoint);
    while( *zSql==' ' || *zSql==';' ) zSql++;
  }
  if( rc ) dbUndo(p);
  return rc;
}

/* Ask all, nTimes each: answers that are not the first one's are told, too */
static int ask(Db *p, int nTimes, int k, int m){
  int i, j;
  for(i=0; i<(int)(sizeof(azAsk)/sizeof(azAsk[0])); i++){
    char zSql[300], zFirst[MX_ROWS+400];
    if( (m & 1<<i)==0 ) continue;
    snprintf(zSql, sizeof(zSql), azAsk[i], k, k);
    for(j=0; j<nTimes; j++){
      int iBegin = nReply;
      int rc;
      sqlite3_stmt *pStmt = 0;
      rc = pLib->prepare_v2(p->db, zSql, -1, &pStmt, 0) & 0xff;
      if( pStmt ) rc = sayRows(p->db, pStmt, 0);
      say(rc ? " error %d ;" : " ;", rc);
      if( j==0 ){
        snprintf(zFirst, sizeof(zFirst), "%s", &zReply[iBegin]);
      }else if( strcmp(&zReply[iBegin], zFirst)==0 ){
        zReply[nReply = iBegin] = 0;
      }else{
        say(" <- time %d ;", j+1);
      }
    }
  }
  return SQLITE_OK;
}

static int backup(Db *p, const char *zUri){
  sqlite3_backup *pBackup;
  Db from;
  int rc = dbOpen(&from, pLib, zUri, 0);
  if( rc==SQLITE_OK ){
    pBackup = pLib->backup_init(p->db, "main", from.db, "main");
    if( pBackup ){
      pLib->backup_step(pBackup, -1);
      pLib->backup_finish(pBackup);
    }
    rc = pLib->extended_errcode(p->db) & 0xff;
  }
  dbClose(&from);
  return rc;
}

/*
** Do as told until there is nothing more.
*/
int actorMain(const char *zLib){
  static char zLine[8000];
  pLib = strcmp(zLib, "ours")==0 ? &ours : &stock;
  while( fgets(zLine, sizeof(zLine), stdin) ){
    int i = zLine[2]-'0';
    char *zArg = &zLine[3];
    Db *p = &aDb[i];
    int rc = SQLITE_OK, nTimes, k, m;
    zLine[strcspn(zLine, "\n")] = 0;
    while( *zArg==' ' ) zArg++;
    alarm(MX_SECOND);
    nReply = 0;
    zReply[0] = 0;
    switch( zLine[0] ){
      case 'o':
        rc = dbOpen(p, pLib, zArg, 0);
        if( rc==SQLITE_OK ) pLib->busy_timeout(p->db, 0);
        break;
      case 'x': rc = dbClose(p); break;
      case 'a':
        if( sscanf(zArg, "%d %d %d", &nTimes, &k, &m)!=3 ) abort();
        rc = ask(p, nTimes, k, m);
        break;
      case 'b': rc = backup(p, zArg); break;
      case 'e': rc = run(p, zArg); break;
      case 'k':
        run(p, zArg);
        raise(SIGKILL);
        break;
      default: abort();
    }
    printf("%d%s\n", rc, zReply);
    fflush(stdout);
  }
  return 0;
}
