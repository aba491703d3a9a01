/*
** 2026-11-26
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** lengths STOCK: under a lowered SQLITE_LIMIT_LENGTH we answer as stock does,
** SQLITE_TOOBIG included, and are of use where nothing is long.
**
** Drivers lower that limit for each connection: better-sqlite3 to the longest
** string of JavaScript.  A table of short rows gets one row more, whose text is
** about as long as a part of the limit that we look at, as the limit, or longer.
** Queries read it, sort by it, group by it, compute with it, or leave it alone.
*/
#include <stdio.h>
#include "pair.h"

#define JAVASCRIPT 536870888
#define LEAST      (16*1024*1024)

/* One that reads no long value is the first one */
static const char *const azLong[] = {
  "SELECT g, count(*), sum(i) FROM t GROUP BY g",
  "SELECT count(s), length(max(s)), length(min(s)) FROM t",
  "SELECT sum(length(s)), max(i) FROM t",
  "SELECT sum(length(b)), max(i) FROM t",
  "SELECT sum(length(s||s)), max(i) FROM t",
  "SELECT sum(length(s||g||b)) FROM t WHERE i>10",
  "SELECT sum(length(upper(s))), max(substr(s, -3)) FROM t",
  "SELECT sum(length(replace(s, 'x', 'yy'))) FROM t",
  "SELECT sum(length(hex(s))) FROM t",
  "SELECT g, sum(i) FROM t WHERE s LIKE '%y' GROUP BY g",
  "SELECT length(s), count(*) FROM t GROUP BY s",
  "SELECT length(s), length(b), count(*) FROM t GROUP BY s, b",
  "SELECT count(*) FROM (SELECT DISTINCT s, b FROM t)",
  "SELECT count(DISTINCT s), count(DISTINCT g) FROM t",
  "SELECT i, length(s) FROM t ORDER BY s, b LIMIT 5",
  "SELECT i FROM t ORDER BY s||b DESC LIMIT 5",
  "SELECT g, length(group_concat(s)) FROM t GROUP BY g",
  "SELECT length(group_concat(s, ',' ORDER BY i DESC)) FROM t",
  "SELECT u.n, count(*), sum(length(t.s)) FROM t JOIN u ON u.g=t.g GROUP BY u.n",
  "SELECT length(max(t.s||u.s)), count(*) FROM t JOIN u ON u.g=t.g",
  "SELECT sum(i) FROM t WHERE s IN (SELECT s FROM u)",
};
#define N_LONG ((int)(sizeof(azLong)/sizeof(azLong[0])))

/* Lower the limit of both connections, or raise it to the usual one */
static void limit(int n){
  int i;
  for(i=0; i<2; i++) apLib[i]->limit(adb[i], SQLITE_LIMIT_LENGTH, n);
}

static void tables(void){
  pairTables("CREATE TABLE t(i INTEGER PRIMARY KEY, g, s TEXT, b BLOB);"
       "CREATE TABLE u(g INTEGER PRIMARY KEY, n, s TEXT);"
       "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n LIMIT 300)"
       " INSERT INTO t SELECT k, k%7, 'text '||k%11, zeroblob(k%5) FROM n;"
       "INSERT INTO u SELECT DISTINCT g, g%3, 'short' FROM t", "");
  execute(adb[0], "PRAGMA hp_offload=force");
}

/*
** All queries under limit nLimit.  bRun is 0 if none may be taken over, 1 if the
** first must be, 2 if all that stock answers must be.
*/
static void ask(int nLimit, int bRun, const char *zWhat){
  int k;
  limit(nLimit);
  for(k=0; k<N_LONG; k++){
    sqlite3_int64 nBefore = counted(adb[0], "run");
    sqlite3_int64 n;
    pairSame(azLong[k]);
    n = counted(adb[0], "run") - (nBefore<0 ? 0 : nBefore);
    if( !hasEngine() ) continue;
    if( bRun==0 ) check(n<=0, "limit %d, %s: run: %s", nLimit, zWhat, azLong[k]);
    if( bRun==2 || (bRun==1 && k==0) ){
      check(n>0, "limit %d, %s: not run: %s", nLimit, zWhat, azLong[k]);
    }
  }
  limit(0x7fffffff);
}

/* A row more, with a text and a blob of nByte bytes */
static void longRow(int nByte, int nLimit){
  Text sql = {0,0,0};
  char zWhat[40];
  snprintf(zWhat, sizeof(zWhat), "a row of %d bytes", nByte);
  tables();
  textAppend(&sql, "INSERT INTO t VALUES(1000, 3,"
    " CAST(replace(hex(zeroblob(%d)), '00', 'x') AS TEXT)||'y', zeroblob(%d))",
    nByte, nByte);
  both(sql.z);
  textClear(&sql);
  ask(nLimit, 1, zWhat);
  end(zWhat);
}

int main(int argc, char **argv){
  static const int aByte[] = {
    1000, LEAST/4096-50, LEAST/4096+50, LEAST/64-20000, LEAST/64+20000,
    LEAST/3, LEAST/2+100, LEAST-100, LEAST+100
  };
  unsigned i;
  if( argc<2 || pairLoad(argv[1]) ) return 2;
  azFile[0] = temporaryFile("lengths-ours.db");
  azFile[1] = temporaryFile("lengths-stock.db");

  tables();
  ask(JAVASCRIPT, 2, "short rows");
  ask(LEAST, 2, "short rows");
  ask(LEAST-1, 0, "short rows");
  ask(1000, 0, "short rows");
  end("short rows");
  for(i=0; i<sizeof(aByte)/sizeof(aByte[0]); i++) longRow(aByte[i], LEAST);
  longRow(JAVASCRIPT/64-20000, JAVASCRIPT);
  longRow(JAVASCRIPT/64+20000, JAVASCRIPT);
  return finish();
}
