/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** budget: what a statement has in memory at most, against PRAGMA hp_memory.
**
** Each query needs many times what it may have: a million groups, rows to be
** sorted, values of DISTINCT, first rows of partitions.  It runs in a process of
** its own, whose largest resident size the kernel tells.  What the same process
** takes for a query that keeps one group is subtracted: the library, SQLite's page
** cache, the buffers of the workers.  The rest has to be within the limit and what
** a batch may take beyond it.
**
** This one is linked with the library as it is installed: sanitizers need memory of
** their own.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

#define N_LIMIT (16*1024*1024)
#define N_ROW   1000000

static const char *zFile;

/* A query; what it does once it has used its memory up */
static const struct Case {
  const char *zSql;
  enum { SPILLS, DECLINES, EITHER } eEnd;
} aCase[] = {
  { "SELECT count(*) FROM (SELECT k, sum(id), min(id) FROM t GROUP BY k)", SPILLS },
  { "SELECT count(*) FROM (SELECT s, count(*), max(k) FROM t GROUP BY s)", SPILLS },
  { "SELECT count(*) FROM (SELECT k, s, avg(id) FROM t GROUP BY s, k)", SPILLS },
  { "SELECT count(*) FROM (SELECT k/4, group_concat(s ORDER BY id DESC) FROM t"
    " GROUP BY k/4)", EITHER },
  { "SELECT count(DISTINCT s) FROM t", DECLINES },
  { "SELECT k, s FROM t ORDER BY s DESC, k", SPILLS },
  { "SELECT * FROM (SELECT s, row_number() OVER (PARTITION BY k ORDER BY id) AS n"
    " FROM t) WHERE n<=1", SPILLS },
  { "SELECT DISTINCT s FROM t", EITHER },
  { "SELECT s FROM t ORDER BY k LIMIT 90000", EITHER },
};
#define N_CASE ((int)(sizeof(aCase)/sizeof(aCase[0])))

/*
** In a process of its own: make the table.
*/
static void fill(void){
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  char *zSql = sqlite3_mprintf(
      "PRAGMA synchronous=off;"
      "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, s TEXT);"
      "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<%d)"
      " INSERT INTO t SELECT x, x*7919%%%d, 'key '||(x*104729%%%d) FROM c;",
      N_ROW, N_ROW+1, N_ROW+9);
  execute(db, zSql);
  sqlite3_free(zSql);
  sqlite3_close(db);
}

/*
** In a process of its own: run zSql with nThread workers.  Returns 0 if all went
** as pCase says.
*/
static int query(const char *zSql, int nThread, const struct Case *pCase){
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
  sqlite3_stmt *pStmt;
  char zPragma[100];
  int nSpill, nDeclined;
  snprintf(zPragma, sizeof(zPragma), "PRAGMA hp_memory=%d; PRAGMA hp_threads=%d;"
           " PRAGMA temp_store=file", N_LIMIT, nThread);
  execute(db, zPragma);
  pStmt = prepared(db, zSql);
  while( sqlite3_step(pStmt)==SQLITE_ROW ){}
  if( sqlite3_finalize(pStmt) ) return 1;
  nSpill = (int)counted(db, "wrote to a file");
  nDeclined = (int)counted(db, "given back: other");
  sqlite3_close(db);
  if( pCase==0 || pCase->eEnd==EITHER ) return 0;
  return pCase->eEnd==SPILLS ? nSpill==0 || nDeclined!=0 : nDeclined==0;
}

/*
** Kilobytes that a process which runs zSql has in memory at most.
*/
static long peak(const char *zSql, int nThread, const struct Case *pCase){
  struct rusage usage;
  int status;
  pid_t pid = fork();
  if( pid==0 ) _exit(query(zSql, nThread, pCase));
  wait4(pid, &status, 0, &usage);
  check(WIFEXITED(status) && WEXITSTATUS(status)==0,
        "%d workers: not as it should be: %s", nThread, zSql);
  return usage.ru_maxrss;
}

int main(void){
  pid_t pid;
  int status, i, nThread;
  zFile = temporaryFile("budget.db");
  removeDb(zFile);
  pid = fork();
  if( pid==0 ){
    fill();
    _exit(0);
  }
  waitpid(pid, &status, 0);
  check(status==0, "the table was not made");
  for(nThread=1; nThread<=4; nThread*=2){
    long nBase = peak("SELECT count(*), sum(k), max(s) FROM t", nThread, 0);
    for(i=0; i<N_CASE; i++){
      long n = peak(aCase[i].zSql, nThread, &aCase[i]) - nBase;
      if( getenv("SHOW") ) printf("%d: %6ld kB  %s\n", nThread, n, aCase[i].zSql);
      check(n<=N_LIMIT/1024*5/4 + 4096*(nThread+1),
            "%d workers: %ld kB of %d: %s", nThread, n, N_LIMIT/1024,
            aCase[i].zSql);
    }
  }
  removeDb(zFile);
  return finish();
}
