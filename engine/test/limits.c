/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** limits STOCK [N]: under a hard heap limit we answer whenever stock does.
**
** Queries of all kinds that are taken over run under sqlite3_hard_heap_limit64()
** of what is in use plus 16 KiB, and an Nth (8th) more each time up to some
** megabytes: so memory runs out while rows are scanned, while groups are sorted,
** merged, and written to files, and while SQLite's own code sorts or prints what
** has been delivered.  Where stock answers, so do we, and alike.  Where stock
** runs out of memory we may.  Afterwards the transaction that the query was in
** goes on, and no memory is left.  The same of a limit that is set later, when two
** connections have scanned a table.
*/
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"

#define N_ROW 20000

static Lib aLib[2];                /* Ours and stock */
static sqlite3_int64 (*axLimit[2])(sqlite3_int64);
static sqlite3_int64 (*axSoft[2])(sqlite3_int64);
static sqlite3_int64 (*axUsed[2])(void);
static int (*axRelease[2])(sqlite3*);

static const char *const azLimited[] = {
  "SELECT count(*), sum(r), avg(i), min(s), max(s) FROM t",
  "SELECT g, count(*), sum(r) FROM t GROUP BY g",
  "SELECT i/3, count(*), sum(r), min(s) FROM t GROUP BY i/3",
  "SELECT s, count(*), max(r), x FROM t GROUP BY s",
  "SELECT s, count(*), max(r), x FROM t GROUP BY s ORDER BY 3 DESC",
  "SELECT s COLLATE nocase, min(x) FROM t GROUP BY 1 ORDER BY 2, 1",
  "SELECT x, count(*) FROM t GROUP BY x HAVING count(*)>1 ORDER BY 2 DESC",
  "SELECT DISTINCT s FROM t",
  "SELECT DISTINCT x, g FROM t ORDER BY x DESC",
  "SELECT count(DISTINCT s), count(DISTINCT x) FROM t",
  "SELECT s, r, i FROM t ORDER BY x DESC, s",
  "SELECT x FROM t ORDER BY x LIMIT 300",
  "SELECT * FROM t WHERE r>3 ORDER BY s LIMIT 2000",
  "SELECT g, group_concat(s) FROM t GROUP BY g",
  "SELECT g, group_concat(x, ',' ORDER BY s DESC) FROM t GROUP BY g",
  "SELECT i%997, group_concat(x ORDER BY r, s) FROM t GROUP BY i%997",
  "SELECT g, json_group_array(s ORDER BY x) FROM t GROUP BY g ORDER BY 2",
  "SELECT group_concat(x, ' ' ORDER BY x) FROM t",
  "SELECT sum(length(upper(x)||s)), max(x||i) FROM t",
  "SELECT * FROM (SELECT i, row_number() OVER (PARTITION BY g ORDER BY x) AS n"
    " FROM t) WHERE n<=5",
  "INSERT INTO w SELECT s FROM t GROUP BY s ORDER BY max(x)",
  "SELECT count(*) FROM (SELECT s, max(x) AS m FROM t GROUP BY s ORDER BY m)",
};
#define N_LIMITED ((int)(sizeof(azLimited)/sizeof(azLimited[0])))

/*
** What a program sees that sets a limit by what is in use while two connections have scanned: a text.
** The page caches are smaller with our library than with stock's, since scans do not fill them.
*/
static void limited(int i, const char *zMode, sqlite3_int64 nMore, Text *pOut){
  static const char *const azStep[] = {
    "0SELECT sum(x) FROM t", "0UPDATE t SET x=x+1 WHERE rowid<100", "1SELECT sum(x) FROM t",
    "1SELECT count(*), max(s) FROM t WHERE x%3=0", "1UPDATE t SET x=x-1 WHERE rowid%500=0",
    "0SELECT sum(x) FROM t", "0SELECT s FROM t WHERE rowid=20000", "1SELECT x FROM t WHERE rowid=3",
  };
  const char *zFile = temporaryFile("later.db");
  sqlite3 *adb[2];
  char zSql[100];
  unsigned k;
  removeDb(zFile);
  adb[0] = openDb(&aLib[i], zFile, 0);
  sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s; PRAGMA synchronous=off", zMode);
  runOn(&aLib[i], adb[0], zSql);
  runOn(&aLib[i], adb[0], "CREATE TABLE t(x INTEGER, s TEXT);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<30000)"
    " INSERT INTO t SELECT i, printf('%0100d', i) FROM n");
  adb[1] = openDb(&aLib[i], zFile, 0);
  for(k=0; k<10; k++){
    integer(&aLib[i], adb[k%2], k%2 ? "SELECT s, count(*) FROM t GROUP BY s LIMIT 1" : "SELECT sum(x) FROM t");
  }
  runOn(&aLib[i], adb[1], "UPDATE t SET x=x+1 WHERE rowid%100=7");
  for(k=0; k<3; k++) integer(&aLib[i], adb[k==2], "SELECT sum(x) FROM t");
  axLimit[i](axUsed[i]() + nMore);
  for(k=0; k<sizeof(azStep)/sizeof(azStep[0]); k++){
    answer(&aLib[i], adb[azStep[k][0]-'0'], &azStep[k][1], pOut);
  }
  axLimit[i](0);
  axSoft[i](0);
  answer(&aLib[i], adb[0], "SELECT sum(x), max(s) FROM t", pOut);
  aLib[i].close(adb[0]);
  aLib[i].close(adb[1]);
  removeDb(zFile);
}

static void testLater(void){
  static const char *const azMode[] = { "delete", "wal", "persist", "memory" };
  sqlite3_int64 nMore;
  unsigned k;
  for(k=0; k<sizeof(azMode)/sizeof(azMode[0]); k++){
    for(nMore=150000; nMore<1000000; nMore+=nMore/(longRun() ? 3 : 1)){
      Text a = {0, 0, 0};
      Text b = {0, 0, 0};
      limited(0, azMode[k], nMore, &a);
      limited(1, azMode[k], nMore, &b);
      check(strcmp(a.z, b.z)==0 || strstr(b.z, "out of memory"), "%s, %lld bytes later:\n%s\nstock: %s",
            azMode[k], nMore, a.z, b.z);
      textClear(&a);
      textClear(&b);
    }
  }
}

static void *symbol(void *p, const char *zName){
  void *x = dlsym(p, zName);
  if( x==0 ) exit(2);
  return x;
}

/*
** Run zSql in library i with nMore bytes more than are in use.  Return 0 or an
** error, and a hash of the rows in *pHash.
*/
static int run(
  int i,
  sqlite3 *db,
  const char *zSql,
  sqlite3_int64 nMore,
  unsigned *pHash
){
  const Lib *p = &aLib[i];
  sqlite3_stmt *pStmt = 0;
  unsigned h = 1;
  int rc = p->prepare(db, zSql, -1, &pStmt, 0);
  if( rc ) return rc;
  axRelease[i](db);
  if( nMore ) axLimit[i](axUsed[i]() + nMore);
  while( (rc = p->step(pStmt))==SQLITE_ROW ){
    int k, j, n = p->count(pStmt);
    for(k=0; k<n; k++){
      int eType = p->type(pStmt, k);
      h = h*31 + (unsigned)eType;
      if( eType==SQLITE_INTEGER ){
        h = h*31 + (unsigned)p->int64(pStmt, k);
      }else if( eType==SQLITE_FLOAT ){
        double r = p->real(pStmt, k);
        unsigned a[2];
        memcpy(a, &r, sizeof(a));
        h = (h*31 + a[0])*31 + a[1];
      }else{
        const unsigned char *z = p->blob(pStmt, k);
        int nByte = p->bytes(pStmt, k);
        for(j=0; j<nByte; j++) h = h*31 + z[j];
      }
    }
  }
  p->finalize(pStmt);
  axLimit[i](0);
  axSoft[i](0);
  p->exec(db, "DELETE FROM w", 0, 0, 0);
  *pHash = h;
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

int main(int argc, char **argv){
  const char *zFile = temporaryFile("limits.db");
  sqlite3 *adb[2];
  void *pStock;
  int i, k, nWorse = 0, nFail = 0, nRun = 0;
  int nPart = longRun() ? 8 : 3;
  sqlite3_int64 nMore;
  if( argc<2 || loadStock(&aLib[1], argv[1]) ) return 2;
  if( argc>2 ) nPart = atoi(argv[2]);
  if( !hasEngine() ) return finish();
  aLib[0] = ours;
  pStock = dlopen(argv[1], RTLD_NOW|RTLD_LOCAL);
  axLimit[0] = sqlite3_hard_heap_limit64;
  axSoft[0] = sqlite3_soft_heap_limit64;
  axUsed[0] = sqlite3_memory_used;
  axRelease[0] = sqlite3_db_release_memory;
  *(void**)&axLimit[1] = symbol(pStock, "sqlite3_hard_heap_limit64");
  *(void**)&axSoft[1] = symbol(pStock, "sqlite3_soft_heap_limit64");
  *(void**)&axUsed[1] = symbol(pStock, "sqlite3_memory_used");
  *(void**)&axRelease[1] = symbol(pStock, "sqlite3_db_release_memory");

  testLater();
  removeDb(zFile);
  adb[0] = openDb(&ours, zFile, 0);
  execute(adb[0], "CREATE TABLE t(i INTEGER PRIMARY KEY, g, s TEXT, r REAL, x);"
    "CREATE TABLE u(a); BEGIN");
  {
    Text sql = {0, 0, 0};
    textAppend(&sql, "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n"
      " LIMIT %d) INSERT INTO t SELECT k, k%%7, 'key '||(k*7919%%5003), k*0.37,"
      " 'value '||(k*104729%%20011)||substr('abcdefghijklmnopqrstuvwxyz',k%%20)"
      " FROM n", N_ROW);
    execute(adb[0], sql.z);
    textClear(&sql);
  }
  execute(adb[0], "COMMIT");
  sqlite3_close(adb[0]);
  for(i=0; i<2; i++) adb[i] = openDb(&aLib[i], zFile, 0);
  for(i=0; i<2; i++){
    aLib[i].exec(adb[i], "PRAGMA cache_size=-100; SELECT * FROM t, u;"
                 " CREATE TEMP TABLE w(a)", 0, 0, 0);
  }

  for(k=0; k<N_LIMITED; k++){
    const char *zSql = azLimited[k];
    unsigned right = 0;
    execute(adb[0], k%2 ? "PRAGMA hp_threads=2" : "PRAGMA hp_threads=1");
    check(isTaken(adb[0], zSql) || k==N_LIMITED-1, "not taken over: %s", zSql);
    check(run(1, adb[1], zSql, 0, &right)==SQLITE_OK, "an error: %s", zSql);
    for(nMore=16*1024; nMore<12*1024*1024; nMore+=nMore/nPart){
      unsigned h = 0;
      int rc = run(1, adb[1], zSql, nMore, &h);
      int rcOurs;
      check(rc!=SQLITE_OK || h==right, "stock: another answer: %s", zSql);
      execute(adb[0], "BEGIN; INSERT INTO u VALUES(1)");
      rcOurs = run(0, adb[0], zSql, nMore, &h);
      check(rcOurs==SQLITE_OK ? h==right : rcOurs==SQLITE_NOMEM,
            "%lld bytes: another answer, or error %d: %s", nMore, rcOurs, zSql);
      check(rcOurs==SQLITE_OK || rc!=SQLITE_OK, "%lld bytes: stock answers, we "
            "run out of memory: %s", nMore, zSql);
      check(rcOurs || !sqlite3_get_autocommit(adb[0]),
            "%lld bytes: the transaction is gone: %s", nMore, zSql);
      if( !sqlite3_get_autocommit(adb[0]) ) execute(adb[0], "ROLLBACK");
      nRun++;
      nFail += rc!=SQLITE_OK;
      nWorse += rcOurs!=SQLITE_OK && rc==SQLITE_OK;
    }
  }
  check(nFail>N_LIMITED, "of %d runs only %d ran out of memory", nRun, nFail);
  if( nWorse ) printf("%d of %d runs, of which stock fails %d\n", nWorse, nRun,
                      nFail);
  for(i=0; i<2; i++) aLib[i].close(adb[i]);
  check(sqlite3_memory_used()==0, "%lld bytes are left", sqlite3_memory_used());
  removeDb(zFile);
  return finish();
}
