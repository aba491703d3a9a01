/*
** What every build of the amalgamation has to do, whoever compiled it and with
** whatever options: prints what is wrong.
**
**    smoke FILE        FILE is a database that does not exist yet
**
** Each query runs in SQLite's own code and in the executor, with one worker and
** with four, on a table of 100,000 rows in WAL mode: the answers are the same.
** Then threads with a connection each read while one writes.
**
** With -DSMOKE_STOCK it runs on SQLite itself, or with SQLITE_OMIT_HP.  Reals
** are sums of quarters, so that the answers do not depend on the precision in
** which they are added up.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include "sqlite3.h"
#ifndef SMOKE_STOCK
# include "hpsqlite.h"
#endif

static const char *zFile;        /* The database */
static int nWrong = 0;           /* What was found */

static const char *const azQuery[] = {
  "SELECT g, count(*), sum(i), sum(r), min(d), max(i), avg(r) FROM t GROUP BY g",
  "SELECT i%7, count(DISTINCT g), total(r) FROM t WHERE i>50 GROUP BY 1",
  "SELECT d, g, count(*) FROM t WHERE g<>'g3' GROUP BY d, g HAVING count(*)>40",
  "SELECT count(*), sum(length(g)) FROM t WHERE g LIKE 'G1%'",
  "SELECT count(*) FROM t WHERE d LIKE '%-1%' AND upper(g) NOT LIKE '_2%'",
  "SELECT g, group_concat(i, ',' ORDER BY r DESC, a) FROM t WHERE a<3000"
  " GROUP BY g",
  "SELECT i%10, length(group_concat(g)), group_concat(r, '') FROM t GROUP BY 1",
#ifdef SQLITE_ENABLE_PERCENTILE
  "SELECT g, median(r), percentile(i, 90), percentile_disc(r, 0.25) FROM t GROUP BY g",
#endif
  "SELECT DISTINCT g, i%3 FROM t ORDER BY 1, 2",
  "SELECT a, d FROM t ORDER BY r DESC, g, a LIMIT 20",
  "SELECT a, g FROM t WHERE i%1000=7 ORDER BY g, d, a",
  "SELECT substr(d,1,7), sum(CASE WHEN i>500 THEN i ELSE -r END) FROM t"
  " GROUP BY 1",
  "SELECT typeof(r), coalesce(n, g), count(n), sum(i*2+1) FROM t GROUP BY 1, 2",
  "SELECT count(*) FROM t",
  "SELECT sum(a), sum(r) FROM t WHERE a BETWEEN 20000 AND 60000",
};
#define N_QUERY ((int)(sizeof(azQuery)/sizeof(azQuery[0])))

static void wrong(const char *zWhat, const char *zWhy){
  nWrong++;
  printf("%s: %s\n", zWhat, zWhy ? zWhy : "no error message");
}

static sqlite3 *openDb(void){
  sqlite3 *db = 0;
  if( sqlite3_open(zFile, &db)!=SQLITE_OK ) wrong(zFile, sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, 20000);
  return db;
}

/* All rows of zSql as a text, or its error.  To be freed. */
static char *answer(sqlite3 *db, const char *zSql){
  sqlite3_str *pOut = sqlite3_str_new(0);
  sqlite3_stmt *pStmt = 0;
  int i;
  int rc = sqlite3_prepare_v2(db, zSql, -1, &pStmt, 0);
  if( rc==SQLITE_OK ){
    while( (rc = sqlite3_step(pStmt))==SQLITE_ROW ){
      for(i=0; i<sqlite3_column_count(pStmt); i++){
        const char *z = (const char*)sqlite3_column_text(pStmt, i);
        sqlite3_str_appendf(pOut, "%s|", z ? z : "NULL");
      }
    }
  }
  if( rc!=SQLITE_DONE ){
    sqlite3_str_appendf(pOut, "error %d: %s", rc, sqlite3_errmsg(db));
  }
  sqlite3_finalize(pStmt);
  sqlite3_str_appendf(pOut, "\n");
  return sqlite3_str_finish(pOut);
}

static void run(sqlite3 *db, const char *zSql){
  if( sqlite3_exec(db, zSql, 0, 0, 0)!=SQLITE_OK ){
    wrong(zSql, sqlite3_errmsg(db));
  }
}

/* The answer of zSql is zExpect */
static void expect(sqlite3 *db, const char *zSql, const char *zExpect){
  char *z = answer(db, zSql);
  if( strcmp(z, zExpect) ) wrong(zSql, z);
  sqlite3_free(z);
}

/* A thread with a connection of its own */
static void *reader(void *pArg){
  sqlite3 *db = openDb();
  int i;
  for(i=0; i<20; i++){
    expect(db, "SELECT count(*), sum(a) FROM t WHERE a<=100000",
           "100000|5000050000|\n");
    expect(db, "SELECT g, d FROM t WHERE a=77777", "g99|2024-01-17|\n");
  }
  sqlite3_close(db);
  return pArg;
}

int main(int argc, char **argv){
  sqlite3 *db;
  int i;
  if( argc!=2 ) return 2;
  zFile = argv[1];
  sqlite3_initialize();
  db = openDb();
  run(db, "PRAGMA journal_mode=WAL");
  run(db, "PRAGMA synchronous=OFF");
  run(db, "CREATE TABLE t(a INTEGER PRIMARY KEY, g TEXT, i INT, r REAL, n, d)");
  run(db, "WITH s(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM s WHERE x<100000)"
          " INSERT INTO t SELECT x, 'g'||(x%101), x*7919%1001, (x%4000)/4.0-300,"
          " CASE WHEN x%3 THEN x%5 END, '2024-0'||(1+x%9)||'-'||(10+x%20)"
          " FROM s WHERE x%10<>0 UNION ALL SELECT x, 'g'||(x%101), -x, x/4.0, NULL,"
          " '2024-10-'||(10+x%20) FROM s WHERE x%10=0");
  run(db, "UPDATE t SET g='g99', d='2024-01-17' WHERE a=77777");

  for(i=0; i<N_QUERY; i++){
    char *zPlain, *zOurs;
    run(db, "PRAGMA hp_offload=off");
    zPlain = answer(db, azQuery[i]);
    if( strncmp(zPlain, "error", 5)==0 ) wrong(azQuery[i], zPlain);
    run(db, "PRAGMA hp_offload=force; PRAGMA hp_threads=1");
    zOurs = answer(db, azQuery[i]);
    if( strcmp(zPlain, zOurs) ) wrong(azQuery[i], "other answer");
    sqlite3_free(zOurs);
    run(db, "PRAGMA hp_threads=4");
    zOurs = answer(db, azQuery[i]);
    if( strcmp(zPlain, zOurs) ) wrong(azQuery[i], "other answer of four workers");
    sqlite3_free(zOurs);
    sqlite3_free(zPlain);
  }
#ifdef SQLITE_ENABLE_PERCENTILE
  {
    /* Both fail: the second one, in an earlier row, for SQLite */
    static const char zTwo[] =
      "SELECT percentile(r, iif(a=900, 200, 50)), median(iif(a=300, 'x', r)) FROM t";
    char *zPlain, *zOurs;
    run(db, "PRAGMA hp_offload=off");
    zPlain = answer(db, zTwo);
    run(db, "PRAGMA hp_offload=force");
    zOurs = answer(db, zTwo);
    if( strcmp(zPlain, zOurs) || strstr(zPlain, "not numeric")==0 ) wrong(zTwo, zOurs);
    sqlite3_free(zOurs);
    sqlite3_free(zPlain);
  }
#endif
#ifndef SMOKE_STOCK
  {
    char *z = answer(db, "PRAGMA hp_stats=full");
    const char *zRun = strstr(z, "|run|");
#ifdef __i386__
    /* Nothing is taken over with the excess precision of the x87 */
    const int nRun = 0;
#else
    const int nRun = N_QUERY;
#endif
    if( zRun==0 || atoi(&zRun[5])<nRun || (nRun==0 && atoi(&zRun[5])>0) ){
      wrong("the executor runs", zRun ? "too few queries, or too many" : "PRAGMA hp_stats");
    }
    sqlite3_free(z);
    hp_linger(HP_LINGER_END);
  }
#endif

  if( sqlite3_threadsafe() ){
    pthread_t aThread[3];
    for(i=0; i<3; i++) pthread_create(&aThread[i], 0, reader, 0);
    for(i=0; i<200; i++){
      run(db, "INSERT INTO t(g, d) VALUES('new', '2025')");
    }
    for(i=0; i<3; i++) pthread_join(aThread[i], 0);
  }
  run(db, "DELETE FROM t WHERE g='new' OR a%50=3");
  expect(db, "SELECT count(*) FROM t", "98000|\n");
  expect(db, "PRAGMA integrity_check", "ok|\n");
  sqlite3_close(db);
  if( sqlite3_memory_used()!=0 ) wrong("sqlite3_memory_used()", "not 0");
  sqlite3_shutdown();
  return nWrong>0;
}
