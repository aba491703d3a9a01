/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** groups STOCK: many groups, of which hardly two rows share one, come out as stock has them.
**
** Nothing is forced: the tables are so large that the executor finds out by itself that groups
** hardly recur, makes sorted runs of them, and puts these together slice by slice.  Keys are
** integers, texts, both, several, in descending order, alike in NOCASE; groups have values
** with memory of their own.  Some recur so late that the executor has decided, some go on to
** recur, and then it has to come to another decision.  Memory is too short for all, and runs go to a file.  A
** progress handler interrupts at any moment.
**
** Sums of a few hundred groups are added up in arrays, until a value comes that these cannot add.
**
** The first rows of partitions are kept as values, or with their records.
**
** median() and its kind are computed of arrays of numbers, or called for what is none.
**
** With "few", for a slower sanitizer, some of it.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"


static const char zRuns[] = "put groups together from sorted runs in memory";
static Lib stock;
static const char *zFile;

static const char zTables[] =
  "PRAGMA synchronous=off;"
  "CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, s TEXT, m, n TEXT COLLATE nocase, r REAL, v INT);"
  "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<%d)"
  " INSERT INTO t SELECT x, x*7919%%150001-75000, 'key '||(x*104729%%150011),"
  "  CASE WHEN x>60000 AND x%%3=0 THEN 'm'||(x*31%%100003) WHEN x%%1000=7 THEN NULL ELSE x*613%%80021 END,"
  "  CASE x%%2 WHEN 0 THEN 'Name ' ELSE 'NAME ' END||(x*7%%90001), x*0.37, x%%100 FROM c;"
  "CREATE TABLE again(a INT, b INT);"
  "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<%d)"
  " INSERT INTO again SELECT x*7919%%40009, x FROM c;"
  "CREATE TABLE w(k INT, s TEXT, i INT, big INT, r REAL, z INT, mix, late, d DECIMAL(10,2));"
  "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<%d)"
  " INSERT INTO w SELECT x%%307, 'key '||(x%%1009), x%%100-50, x*(1<<38), x*0.01-300, iif(x%%3, x, NULL),"
  "  iif(x>50000, x+0.5, x), iif(x%%90001=0, 1<<62, x), x%%1000/10.0 FROM c;";

/* Queries, and whether sorted runs are to be made */
static const struct Case {
  const char *zSql;
  enum { RUNS, NONE, EITHER } eEnd;
} aCase[] = {
  { "SELECT k, sum(v), count(*) FROM t GROUP BY k", RUNS },
  { "SELECT k, avg(r), total(v) FROM t GROUP BY k ORDER BY k DESC", RUNS },
  { "SELECT s, k, n, v, sum(r), count(*) FROM t GROUP BY s, k, n, v", RUNS },
  { "SELECT n, count(*), max(s), min(k) FROM t GROUP BY n", RUNS },
  { "SELECT n, id, r, count(m), max(v) FROM t GROUP BY n, v%2", RUNS },
  { "SELECT m, sum(k), min(n) FROM t GROUP BY m", RUNS },
  { "SELECT m, max(r), s FROM t GROUP BY m", RUNS },
  { "SELECT m, count(*) FROM t WHERE v<>3 GROUP BY m HAVING count(*)>1", RUNS },
  { "SELECT m, sum(v) FROM t GROUP BY m HAVING sum(v)>=99 ORDER BY 2, 1", RUNS },
  { "SELECT -r, CASE WHEN id>90000 THEN s ELSE k END, count(*) FROM t GROUP BY 1, 2", RUNS },
  { "SELECT CASE WHEN id>90000 THEN s ELSE k END, count(*) FROM t GROUP BY 1", RUNS },
  { "SELECT count(*), sum(c), max(x) FROM (SELECT k AS x, count(*) AS c FROM t GROUP BY k)", RUNS },
  { "SELECT sum(r*(id%2*2-1)), m FROM t GROUP BY m", EITHER },
  { "SELECT sum(9223372036854775807), m FROM t GROUP BY m", EITHER },
  { "SELECT k, (SELECT count(*) FROM t b WHERE b.m=a.k) FROM t a WHERE v=5", EITHER },
  { "SELECT v, count(*) FROM t GROUP BY v", NONE },
  { "SELECT k/10, count(*), sum(r) FROM t GROUP BY k/10", NONE },
  { "SELECT k, count(DISTINCT v) FROM t GROUP BY k", NONE },
  { "SELECT k, group_concat(v) FROM t GROUP BY k", NONE },
  { "SELECT s, count(*) FROM t GROUP BY s ORDER BY 2 DESC LIMIT 3", NONE },
  { "SELECT a, sum(b), count(*) FROM again GROUP BY a", RUNS },
  { "SELECT k, sum(i), count(*), avg(i), total(i*i), sum(i*2) FROM w GROUP BY k", NONE },
  { "SELECT k, sum(r), avg(r), count(z), sum(z), avg(z*0.1), count(*) FROM w GROUP BY k", NONE },
  { "SELECT s, sum(i), sum(r), max(i), min(r), sum(z) FILTER (WHERE i>0) FROM w GROUP BY s", NONE },
  { "SELECT k, s, sum(i), sum(-i), sum(d), avg(d), sum(mix), total(mix) FROM w GROUP BY k, s", EITHER },
  { "SELECT k, sum(mix), sum(i), count(mix) FROM w GROUP BY k", NONE },
  { "SELECT k, sum(d), sum(d*2), sum(d*(1-d)), sum(i) FROM w GROUP BY k", NONE },
  { "SELECT k, sum(big), avg(big), sum(i) FROM w GROUP BY k", NONE },
  { "SELECT k, avg(late), total(late), sum(i) FROM w GROUP BY k", NONE },
  { "SELECT k, sum(late), sum(i) FROM w GROUP BY k", EITHER },
  { "SELECT k, sum(iif(z%2, 1<<62, -(1<<62))), sum(i) FROM w GROUP BY k", EITHER },
  { "SELECT k, sum(iif(i=49, 9e307, r)), sum(i) FROM w GROUP BY k", EITHER },
  { "SELECT k, sum(r), sum(iif(z>60000, s, i)), sum(iif(z>90000, NULL, i)) FROM w GROUP BY k", EITHER },
  { "SELECT k, sum(i) AS x, count(*) FROM w GROUP BY k ORDER BY x DESC LIMIT 7", NONE },
  { "SELECT k, sum(i), count(DISTINCT i), sum(DISTINCT z), count(*) FROM w GROUP BY k", NONE },
  { "SELECT k, sum(i) FROM (SELECT k, i FROM w UNION ALL SELECT k, r FROM w WHERE i<0) GROUP BY k", EITHER },
  { "SELECT k, r FROM (SELECT k, r, row_number() OVER (PARTITION BY k ORDER BY r DESC) AS n FROM w) WHERE n<=2", NONE },
  { "SELECT * FROM (SELECT k, s, i, row_number() OVER (PARTITION BY k ORDER BY s, i DESC) AS n FROM w) WHERE n<=5",
    NONE },
  { "SELECT * FROM (SELECT *, rank() OVER (PARTITION BY s ORDER BY i) AS n FROM w) WHERE n<=3", NONE },
  { "SELECT * FROM (SELECT n, m, r, dense_rank() OVER (PARTITION BY v ORDER BY n DESC, m) AS x FROM t) WHERE x<=4",
    NONE },
  { "SELECT * FROM (SELECT id, m, row_number() OVER (ORDER BY m DESC NULLS FIRST, r) AS x FROM t) WHERE x<300", NONE },
  { "SELECT * FROM (SELECT mix, z, i, rank() OVER (PARTITION BY z IS NULL, i ORDER BY mix*0, z NULLS LAST) AS x"
    " FROM w) WHERE x<=40", NONE },
  { "SELECT * FROM (SELECT n, count(*) OVER () AS c, row_number() OVER (PARTITION BY n ORDER BY id) AS x FROM t)"
    " WHERE x=1", EITHER },
  { "SELECT v, median(r), percentile(k, 90), percentile_cont(r, 0.25), percentile_disc(k, .5)"
    " FROM t GROUP BY v", NONE },
  { "SELECT v, percentile(r, v), median(v), median(NULL), median(r) FILTER (WHERE k>0) FROM t GROUP BY v",
    NONE },
  { "SELECT id/7, median(k), percentile_disc(r, 1), percentile_disc(r, 0.0) FROM t GROUP BY id/7", NONE },
  { "SELECT v, percentile(CASE WHEN id%3 THEN k END, CASE id%2 WHEN 0 THEN 50 ELSE 50.0 END) FROM t GROUP BY v",
    NONE },
  { "SELECT v, percentile_disc(CASE id%3 WHEN 0 THEN -0.0 WHEN 1 THEN 0.0 ELSE -v END, 0.5) FROM t GROUP BY v",
    NONE },
  { "SELECT v, percentile(k, 50+id%5*0.0001) FROM t GROUP BY v", NONE },
  { "SELECT median(r), percentile_cont(k, 0.99) FROM t", NONE },
  { "SELECT v, median(r ORDER BY k) FROM t GROUP BY v", EITHER },
  { "SELECT v, median(m) FROM t GROUP BY v", EITHER },
  { "SELECT v, percentile(k, id) FROM t GROUP BY v", EITHER },
  { "SELECT v, percentile_cont(k, 2) FROM t GROUP BY v", EITHER },
  { "SELECT v, median(CASE WHEN id=77777 THEN 9e999 ELSE r END) FROM t GROUP BY v", EITHER },
  { "SELECT v, count(*), group_concat(k), percentile(k, NULL), median(m) FROM t GROUP BY v", EITHER },
};
#define N_CASE ((int)(sizeof(aCase)/sizeof(aCase[0])))

/* Run zSql on both libraries with the settings zPragmas: the same, and as eEnd says */
static void compare(const struct Case *pCase, const char *zPragmas, int eEnd){
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
  sqlite3 *db2 = openDb(&stock, zFile, SQLITE_OPEN_READWRITE);
  Text got = {0,0,0}, right = {0,0,0};
  int i;
  execute(db, zPragmas);
  answer(&stock, db2, pCase->zSql, &right);
  answer(&ours, db, pCase->zSql, &got);
  for(i=0; i<right.n && right.z[i]==got.z[i]; i++){}
  check(got.n==right.n && i==right.n, "%s: %s: differs at byte %d:\n got %.100s\n not %.100s", zPragmas,
        pCase->zSql, i, &got.z[i], &right.z[i]);
  if( eEnd!=EITHER && hasEngine() ){
    check((counted(db, zRuns)>0)==(eEnd==RUNS), "%s: runs are made, or not: %s", zPragmas, pCase->zSql);
    check(counted(db, "run")==1, "%s: is not taken over: %s", zPragmas, pCase->zSql);
  }
  textClear(&got);
  textClear(&right);
  sqlite3_close(db);
  stock.close(db2);
}

/* Runs do not fit into memory */
static void testSpill(void){
  int i;
  for(i=0; i<N_CASE; i++){
    if( aCase[i].eEnd==RUNS ){
      compare(&aCase[i], "PRAGMA temp_store=file; PRAGMA hp_memory=3000000", EITHER);
    }
  }
  if( hasEngine() ){
    sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
    execute(db, "PRAGMA temp_store=file; PRAGMA hp_memory=8000000");
    integer(&ours, db, "SELECT count(*) FROM (SELECT s, k, n, sum(r) FROM t GROUP BY s, k, n)");
    check(counted(db, "wrote to a file")==1, "runs are not written to a file");
    check(counted(db, "given back: other")==0, "runs are not merged from a file");
    sqlite3_close(db);
  }
}

static int nCall, mxCall;
static int stop(void *p){
  (void)p;
  return ++nCall>=mxCall;
}

/* Interrupted at any call of a progress handler, the query ends so, or is done */
static void testInterrupt(void){
  static const char zSql[] = "SELECT s, k, sum(r), min(n) FROM t GROUP BY s, k";
  sqlite3 *db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
  int nStopped = 0;
  int rc = SQLITE_INTERRUPT;
  for(mxCall=1; rc==SQLITE_INTERRUPT; mxCall+=1+mxCall/4){
    Text got = {0,0,0};
    nCall = 0;
    sqlite3_progress_handler(db, 100000, stop, 0);
    rc = answer(&ours, db, zSql, &got);
    nStopped += rc==SQLITE_INTERRUPT;
    check(rc==SQLITE_INTERRUPT || rc==SQLITE_OK || rc==SQLITE_DONE, "%d: %s", rc, zSql);
    textClear(&got);
  }
  check(nStopped>3, "stopped only %d times", nStopped);
  sqlite3_progress_handler(db, 0, 0, 0);
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left: %s", zSql);
}

int main(int argc, char **argv){
  sqlite3 *db;
  char *zSql;
  int bFew = argc>2;
  int i;
  if( argc<2 || loadStock(&stock, argv[1]) ){
    fprintf(stderr, "usage: groups STOCK [few]\n");
    return 2;
  }
  zFile = temporaryFile("groups.db");
  removeDb(zFile);
  /* Stock makes the tables: it has no sanitizer */
  db = openDb(&stock, zFile, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  zSql = sqlite3_mprintf(zTables, bFew ? 20000 : 100000, bFew ? 5 : 600000, bFew ? 60000 : 300000);
  runOn(&stock, db, zSql);
  sqlite3_free(zSql);
  stock.close(db);
  if( bFew ){
    for(i=0; i<N_CASE; i+=7) compare(&aCase[i], "PRAGMA hp_threads=3", EITHER);
    removeDb(zFile);
    return finish();
  }
  for(i=0; i<N_CASE; i++){
    compare(&aCase[i], "PRAGMA hp_threads=1", aCase[i].eEnd);
    if( aCase[i].eEnd!=NONE ) compare(&aCase[i], "PRAGMA hp_threads=3", EITHER);
  }
  testSpill();
  testInterrupt();
  removeDb(zFile);
  return finish();
}
