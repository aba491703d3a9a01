/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Scans by several workers, with every leaf a unit of work: the answers are
** stock's, whatever was in which part; memory is bounded; nothing is left
** behind.  Runs under ThreadSanitizer.
*/
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

static Lib stock;

/* The answers of both libraries are the same, and ours took the query over */
static void same(sqlite3 *pOurs, sqlite3 *pStock, const char *zSql){
  Text a = {0, 0, 0};
  Text b = {0, 0, 0};
  check(isTaken(pOurs, zSql), "not taken over: %s", zSql);
  answer(&ours, pOurs, zSql, &a);
  answer(&stock, pStock, zSql, &b);
  check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s\nours:  %.400s\nstock: %.400s",
        zSql, a.z, b.z);
  textClear(&a);
  textClear(&b);
}

/* Threads of this process */
static int threads(void){
  DIR *p = opendir("/proc/self/task");
  struct dirent *pEntry;
  int n = 0;
  if( p==0 ) return 1;
  while( (pEntry = readdir(p))!=0 ) n += pEntry->d_name[0]!='.';
  closedir(p);
  return n;
}

static void *interrupter(void *pArg){
  usleep(30000);
  sqlite3_interrupt((sqlite3*)pArg);
  return 0;
}

static const char *const azSame[] = {
  "SELECT g, count(*), sum(i), avg(r), total(f), min(s), max(i) FROM t GROUP BY g",
  "SELECT id+0 AS n, sum(r), s FROM t GROUP BY n",
  "SELECT s, r, count(*), max(i) FROM t GROUP BY s, r ORDER BY s DESC, r",
  "SELECT g, min(r), id, s FROM t GROUP BY g",
  "SELECT max(i), id, count(*) FROM t",
  "SELECT k, count(*), id FROM t GROUP BY k",
  "SELECT k COLLATE nocase, max(s), id FROM t GROUP BY 1",
  "SELECT g, group_concat(id) FROM t WHERE id%50=0 GROUP BY g",
  "SELECT g, count(DISTINCT s), sum(i) FILTER (WHERE r>0.5) FROM t GROUP BY g",
  "SELECT sum(i), sum(f), avg(f) FROM t WHERE i IS NOT NULL",
  "SELECT id, s FROM t ORDER BY r DESC, s LIMIT 20 OFFSET 3",
  "SELECT DISTINCT g, k FROM t",
  "SELECT s, group_concat(k ORDER BY k), json_group_array(json_array(i)"
    " ORDER BY r DESC) FROM t GROUP BY s",
  "SELECT g, json_group_array(r ORDER BY r), string_agg(s, '-' ORDER BY s DESC, k)"
    " FROM t WHERE id%3=0 GROUP BY g HAVING count(*)>2",
  "SELECT group_concat(DISTINCT k ORDER BY k COLLATE nocase), sum(f ORDER BY i),"
    " min(s) FROM t",
  "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY i DESC) AS n"
    " FROM t) WHERE n<=3",
  "SELECT * FROM (SELECT id, rank() OVER (PARTITION BY s ORDER BY k) AS n FROM t)"
    " WHERE n<=2",
  "SELECT * FROM (SELECT id, dense_rank() OVER (PARTITION BY id/2 ORDER BY f) AS n"
    " FROM t) WHERE n=1",
};
#define ORDERED 12   /* The first with ORDER BY in an aggregate, of many groups */

/* What is interrupted, most of the time: the scan; step functions called for
** groups ahead; the output of one large group */
static const char *const azInterrupt[] = {
  "SELECT s, r, count(*), max(i) FROM t GROUP BY s, r ORDER BY s DESC, r",
  "SELECT id%10, json_group_array(r ORDER BY id), json_group_array(s ORDER BY id),"
    " json_group_array(f ORDER BY id) FROM t GROUP BY 1",
  "SELECT json_group_array(r ORDER BY id), json_group_array(s ORDER BY id),"
    " json_group_array(f ORDER BY id) FROM t",
};

int main(int argc, char **argv){
  const char *zFile;
  sqlite3 *db;
  sqlite3 *dbStock;
  sqlite3_stmt *pStmt;
  pthread_t thread;
  size_t i;
  int n;
  int nThread;

  setenv("HPSQLITE_TEST", "threads=4,run=1", 1);
  if( argc!=2 || loadStock(&stock, argv[1]) ){
    fprintf(stderr, "usage: workers STOCK-LIBRARY\n");
    return 2;
  }
  zFile = temporaryFile("workers.db");
  db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  execute(db, "PRAGMA synchronous=off; PRAGMA page_size=1024;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, g, k, s, i, r, f);"
    "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<30000)"
    " INSERT INTO t SELECT x, x%7, CASE x%5 WHEN 0 THEN 'a' WHEN 1 THEN 'A'"
    "  WHEN 2 THEN 3 WHEN 3 THEN 3.0 END, 'text '||(x*7919%1000), x*7919%10007,"
    "  (x*7919%10007)/10007.0, (x*7919%10007)/7.0-700 FROM c;"
    /* Two levels of cancellation, and integers whose sum overflows in some
    ** orders only */
    "CREATE TABLE odd(a, b);"
    "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<3000)"
    " INSERT INTO odd SELECT CASE x WHEN 1 THEN 1e100 WHEN 800 THEN -1e100"
    "  WHEN 900 THEN -1e16 WHEN 2500 THEN 1e16 WHEN 3 THEN -0.4505547500615829"
    "  ELSE 1.0/x END,"
    "  CASE x WHEN 1 THEN -1 WHEN 2 THEN 9223372036854775807 WHEN 2999 THEN 1"
    "  ELSE 0 END FROM c;");
  dbStock = openDb(&stock, zFile, SQLITE_OPEN_READWRITE);
  execute(db, "PRAGMA hp_offload=force");
  same(db, dbStock, azSame[0]);
  nThread = threads();   /* A sanitizer may have one of its own by now */

  for(i=0; i<sizeof(azSame)/sizeof(azSame[0]); i++) same(db, dbStock, azSame[i]);
  check(threads()==nThread, "%d threads are left", threads()-nThread);

  /* Sums that do not add up in parts */
  n = counted(db, "run again with one worker");
  same(db, dbStock, "SELECT sum(a), avg(a), count(*) FROM odd");
  same(db, dbStock, "SELECT sum(b) FROM odd");
  same(db, dbStock, "SELECT sum(b) FROM odd WHERE b<>-1");
  check(counted(db, "run again with one worker")>n, "parts were added up");

  /* Groups in files: the same answers, and no more memory than a few times
  ** what is allowed, with the buffers of four workers */
  execute(db, "PRAGMA hp_memory=400000");
  for(i=0; i<sizeof(azSame)/sizeof(azSame[0]); i++) same(db, dbStock, azSame[i]);
  check(counted(db, "wrote to a file")>0, "nothing was written to a file");
  sqlite3_memory_highwater(1);
  execute(db, "SELECT count(*), sum(r) FROM (SELECT id, s, sum(r) AS r FROM t"
              " GROUP BY id, s)");
  check(sqlite3_memory_highwater(0)<6000000, "%lld bytes for 400000",
        sqlite3_memory_highwater(0));
  execute(db, "PRAGMA hp_memory=0");

  /* A statement reset in the middle, and run again */
  check(sqlite3_prepare_v2(db, azSame[1], -1, &pStmt, 0)==SQLITE_OK, "prepare");
  for(n=0; n<10; n++){
    check(sqlite3_step(pStmt)==SQLITE_ROW, "step");
    check(sqlite3_column_int(pStmt, 0)==1, "first group");
    if( n%2 ) check(sqlite3_step(pStmt)==SQLITE_ROW, "step");
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pStmt);

  /* The same while some groups have been finished ahead */
  check(sqlite3_prepare_v2(db, azSame[ORDERED], -1, &pStmt, 0)==SQLITE_OK,
        "prepare");
  for(n=0; n<10; n++){
    for(i=0; i<(size_t)n*n+1; i++){
      check(sqlite3_step(pStmt)==SQLITE_ROW, "step");
    }
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pStmt);

  /* An error in a group that was finished ahead but is not wanted */
  check(sqlite3_prepare_v2(db, "SELECT s, json_group_array(CASE WHEN s='text 10'"
                           " THEN x'00ff' ELSE i END ORDER BY i) FROM t GROUP BY s",
                           -1, &pStmt, 0)==SQLITE_OK, "prepare");
  for(n=0; n<40; n++){
    check(sqlite3_step(pStmt)==SQLITE_ROW && sqlite3_step(pStmt)==SQLITE_ROW,
          "step");
    check(sqlite3_reset(pStmt)==SQLITE_OK, "reset");
    check(strcmp(sqlite3_errmsg(db), "not an error")==0, "%s",
          sqlite3_errmsg(db));
  }
  check(sqlite3_step(pStmt)==SQLITE_ROW && sqlite3_step(pStmt)==SQLITE_ROW
     && sqlite3_step(pStmt)==SQLITE_ERROR, "no error");
  check(strcmp(sqlite3_errmsg(db), "JSON cannot hold BLOB values")==0, "%s",
        sqlite3_errmsg(db));
  sqlite3_finalize(pStmt);

  /* sqlite3_interrupt() from elsewhere */
  for(i=0; i<sizeof(azInterrupt)/sizeof(azInterrupt[0]); i++){
    check(pthread_create(&thread, 0, interrupter, db)==0, "pthread_create");
    for(n=SQLITE_OK; n==SQLITE_OK; ){
      n = sqlite3_exec(db, azInterrupt[i], 0, 0, 0);
    }
    check(n==SQLITE_INTERRUPT, "interrupted: %d", n);
    pthread_join(thread, 0);
    same(db, dbStock, azSame[0]);
  }

  /* A child process has workers of its own */
  n = fork();
  if( n==0 ){
    sqlite3 *p = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
    execute(p, "PRAGMA hp_offload=force");
    _exit(sqlite3_exec(p, azSame[0], 0, 0, 0)==SQLITE_OK ? 0 : 1);
  }
  check(n>0 && waitpid(n, &n, 0)>0 && WIFEXITED(n) && WEXITSTATUS(n)==0, "fork");

  sqlite3_close(db);
  stock.close(dbStock);
  removeDb(zFile);
  return finish();
}
