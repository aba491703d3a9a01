/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** numbers STOCK: arithmetic gives stock's answers, to the last bit.
**
** Integers whose sums overflow, at the start, in the middle, only for a while;
** of both signs; beside reals; keys and comparisons above 2^53, where not every
** integer is a double; columns that hold integers and reals; reals that cancel.
** Each is summed, averaged, grouped, compared and ordered, from the table and
** from an index that has it.
**
** Reals become the text that stock makes of them: decimals of up to 16 digits, and their neighbours,
** around the sizes at which hp_decimal.c leaves them to SQLite.
**
** What has no real in it is added up once, by all workers: avg() and total()
** need no second scan, nor does sum() where it overflows for certain.
**
** The program may be compiled with any flags, with a library compiled with the
** same.  Where doubles are computed with excess precision (32-bit x86), nothing
** is taken over.
*/
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"

#define N_ROW 4000

typedef sqlite3_int64 i64;
typedef sqlite3_uint64 u64;
#define LARGEST  ((i64)0x7fffffffffffffffLL)

static u64 iRandom;
static i64 next(void){
  iRandom ^= iRandom<<13;
  iRandom ^= iRandom>>7;
  iRandom ^= iRandom<<17;
  return (i64)iRandom;
}

/* Shapes of columns */
static const struct Shape {
  const char *zName;
  int bInt;              /* Integers only, and not both signs */
} aShape[] = {
  { "random integers of 64 bits", 1 },
  { "random integers of 63 bits", 1 },
  { "nanoseconds", 1 },
  { "microseconds", 1 },
  { "an overflow that is taken back", 0 },
  { "the largest integer after -1", 1 },
  { "the smallest integer, and -1", 1 },
  { "random integers, and a real in the end", 0 },
  { "random integers after a real", 0 },
  { "halfway between two doubles", 1 },
  { "two large ones that cancel", 0 },
  { "random reals", 0 },
  { "prices: integers and reals", 0 },
  { "integers and reals around 2^53", 0 },
  { "integers and reals around 2^63", 0 },
  { "texts and NULLs beside integers", 0 },
};
#define N_SHAPE ((int)(sizeof(aShape)/sizeof(aShape[0])))

/* Bind the value of row i */
static void bind(sqlite3_stmt *p, int k, int iShape, int i){
  i64 v = next();
  switch( iShape ){
    case 1:  v &= LARGEST;  break;
    case 2:  v = 1700000000000000000LL + i*1234567891LL;  break;
    case 3:  v = 1700000000000000LL + i*1234567LL;  break;
    case 4:  v = i%3==0 ? LARGEST : i%3==1 ? 1 : -LARGEST-1;  break;
    case 5:  v = i==1 ? -1 : i==2 ? LARGEST : i==3 ? 1 : 0;  break;
    case 6:  v = i%7 ? -1 : -LARGEST-1;  break;
    case 9:  v = ((i64)1<<62) + (i%64==0 ? 1025 : 1);  break;
    case 10: v = i%2 ? LARGEST-i : i-LARGEST;  break;
    case 13:
      v = 9007199254740992LL + i%5;
      if( i%3==0 ){
        sqlite3_bind_double(p, k, 9007199254740992.0 + 2*(i%4));
        return;
      }
      break;
    case 14:
      v = LARGEST - i%3;
      if( i%3==0 ){
        sqlite3_bind_double(p, k, 9223372036854775808.0);
        return;
      }
      break;
    case 15:
      if( i%11==0 ){
        sqlite3_bind_null(p, k);
        return;
      }
      if( i%5==0 ){
        sqlite3_bind_text(p, k, i%2 ? "9223372036854775807" : "12x", -1,
                          SQLITE_STATIC);
        return;
      }
      break;
  }
  if( (iShape==7 && i==N_ROW-1) || (iShape==8 && i==0) ){
    sqlite3_bind_double(p, k, 0.3);
  }else if( iShape==11 ){
    sqlite3_bind_double(p, k, (double)v * (i%2 ? 1e-20 : 1.0/3.0));
  }else if( iShape==12 ){
    if( i%3 ){
      sqlite3_bind_double(p, k, (v&0xffff)/100.0);
    }else{
      sqlite3_bind_int64(p, k, v&0xfff);
    }
  }else{
    sqlite3_bind_int64(p, k, v);
  }
}

/* Those before bOnce=0 need no second scan of integers */
static const struct Query {
  const char *z;
  int bOnce;
} aQuery[] = {
  { "SELECT avg(v), total(v) FROM t", 1 },
  { "SELECT g, avg(v), total(v) FROM t GROUP BY g", 1 },
  { "SELECT i%900, avg(v), total(v), count(*) FROM t GROUP BY i%900", 1 },
  { "SELECT g, avg(v) FROM t GROUP BY g HAVING avg(v)>0", 1 },
  { "SELECT sum(v) FROM t", 0 },
  { "SELECT g, sum(v), avg(v) FROM t GROUP BY g", 0 },
  { "SELECT i%900, sum(v) FROM t GROUP BY i%900", 0 },
  { "SELECT sum(v), avg(v), count(*) FROM t WHERE g<3 AND i>5", 0 },
  { "SELECT avg(v) FILTER (WHERE i%2), total(DISTINCT v) FROM t", 0 },
  { "SELECT v, typeof(v), count(*), min(i) FROM t GROUP BY v", 0 },
  { "SELECT v/2, count(*), avg(v) FROM t GROUP BY v/2", 0 },
  { "SELECT count(DISTINCT v), min(v), max(v) FROM t", 0 },
  { "SELECT count(*), sum(i) FROM t WHERE v>9007199254740992.0", 0 },
  { "SELECT count(*), sum(i) FROM t WHERE v=9007199254740993", 0 },
  { "SELECT count(*), sum(i) FROM t WHERE v<9223372036854775807", 0 },
  { "SELECT count(*), sum(i) FROM t WHERE v BETWEEN -0.5 AND 300.01", 0 },
  { "SELECT sum(v*0.1), avg(v/3), total(v%7), sum(v+0.5), sum(v*v) FROM t", 0 },
  { "SELECT g, sum(v*(1-0.07)), avg(-v) FROM t GROUP BY g", 0 },
  { "SELECT v, i FROM t ORDER BY v, i LIMIT 20", 0 },
  { "SELECT v, i FROM t ORDER BY v DESC, i", 0 },
  { "SELECT DISTINCT v FROM t", 0 },
  { "SELECT g, group_concat(v, ' ' ORDER BY v, i) FROM t GROUP BY g", 0 },
};
#define N_QUERY ((int)(sizeof(aQuery)/sizeof(aQuery[0])))

static Lib stock;

static void same(
  sqlite3 *pOurs,
  sqlite3 *pStock,
  const char *zSql,
  const char *zWhat
){
  Text a = {0, 0, 0};
  Text b = {0, 0, 0};
  answer(&ours, pOurs, zSql, &a);
  answer(&stock, pStock, zSql, &b);
  check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s (%s)\nours:  %.300s\n"
        "stock: %.300s", zSql, zWhat, a.z, b.z);
  textClear(&a);
  textClear(&b);
}

/* The values of one shape in a table, and then in an index as well */
static void testShape(const char *zFile, int iShape, int bExact){
  sqlite3 *pOurs, *pStock;
  sqlite3_stmt *pStmt;
  int i, k;
  removeDb(zFile);
  pOurs = openDb(&ours, zFile, 0);
  execute(pOurs, "PRAGMA page_size=1024; CREATE TABLE t(i INTEGER PRIMARY KEY,"
          " g, v, x); BEGIN");
  pStmt = prepared(pOurs, "INSERT INTO t VALUES(?1, ?1*7%10, ?2,"
                          " 'abcdefghijklmnopqrstuvwxyz')");
  iRandom = 88172645463325252ULL;
  for(i=0; i<N_ROW; i++){
    sqlite3_bind_int64(pStmt, 1, i);
    bind(pStmt, 2, iShape, i);
    sqlite3_step(pStmt);
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pStmt);
  execute(pOurs, "COMMIT");
  for(k=0; k<2; k++){
    if( k==1 ) execute(pOurs, "CREATE INDEX tgv ON t(g,v)");
    sqlite3_close(pOurs);
    pOurs = openDb(&ours, zFile, 0);
    pStock = openDb(&stock, zFile, 0);
    for(i=0; i<N_QUERY; i++){
      const struct Query *p = &aQuery[i];
      i64 nSerial = counted(pOurs, "run again with one worker");
      i64 nBack = counted(pOurs, "given back: other");
      same(pOurs, pStock, p->z, aShape[iShape].zName);
      if( k==0 && i<8 ){
        check(isTaken(pOurs, p->z)==bExact, "%staken over: %s",
              bExact ? "not " : "", p->z);
      }
      if( p->bOnce && aShape[iShape].bInt && bExact ){
        check(counted(pOurs, "run again with one worker")==nSerial,
              "scanned twice: %s (%s)", p->z, aShape[iShape].zName);
        check(counted(pOurs, "given back: other")==nBack,
              "given back: %s (%s)", p->z, aShape[iShape].zName);
      }
    }
    stock.close(pStock);
  }
  sqlite3_close(pOurs);
  removeDb(zFile);
}

/* A real that is, or is next to, a decimal; or any */
static double decimal(void){
  static const double aEdge[] = { 1e-3, 4e9, 8e12, 1e13, 1e15, 9007199254740992.0, 1e-4, 1 };
  u64 nDigit = 1;
  double r, rScale = 1;
  union { double r; u64 u; } x;
  int i;
  for(i=(int)((u64)next()%17); i>0; i--) nDigit *= 10;
  for(i=(int)((u64)next()%9); i>0; i--) rScale *= 10;
  r = (double)((u64)next()%nDigit)/rScale;
  if( next()%10==0 ) r = aEdge[(u64)next()%8] + (double)(next()%3)/rScale;
  x.r = r;
  switch( (u64)next()%8 ){
    case 0: x.u++;                       break;
    case 1: if( x.u ) x.u--;             break;
    case 2: x.r = -x.r;                  break;
    case 3: if( next()%8==0 ) x.u = (u64)next();  break;
  }
  return x.r;
}

static void testTexts(const char *zFile){
  sqlite3 *pOurs, *pStock;
  sqlite3_stmt *pStmt;
  int nRow = longRun() ? 2000000 : 100000;
  int i;
  removeDb(zFile);
  pOurs = openDb(&ours, zFile, 0);
  execute(pOurs, "CREATE TABLE t(i INTEGER PRIMARY KEY, v); BEGIN");
  pStmt = prepared(pOurs, "INSERT INTO t(v) VALUES(?1)");
  iRandom = 2463534242ULL;
  for(i=0; i<nRow; i++){
    sqlite3_bind_double(pStmt, 1, decimal());
    sqlite3_step(pStmt);
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pStmt);
  execute(pOurs, "COMMIT");
  sqlite3_close(pOurs);
  pOurs = openDb(&ours, zFile, 0);
  pStock = openDb(&stock, zFile, 0);
  same(pOurs, pStock, "SELECT i, v||'', CAST(v AS TEXT), json_array(v), quote(v) FROM t", "decimals");
  same(pOurs, pStock, "SELECT json_group_array(v), group_concat(v) FROM t GROUP BY i/1000", "decimals");
  stock.close(pStock);
  sqlite3_db_config(pOurs, SQLITE_DBCONFIG_FP_DIGITS, 5, 0);
  check(integer(&ours, pOurs, "SELECT CAST(1.234567 AS TEXT)='1.2346'"), "digits were to be 5");
  sqlite3_close(pOurs);
  removeDb(zFile);
}

int main(int argc, char **argv){
  const char *zFile = temporaryFile("numbers.db");
  int bExact = hasEngine();
  int i;
#if defined(__i386__)
  bExact = 0;   /* With SSE as well: integers are converted in the x87 */
#elif defined(FLT_EVAL_METHOD)
  if( FLT_EVAL_METHOD==2 || FLT_EVAL_METHOD<0 ) bExact = 0;
#endif
  if( argc!=2 || loadStock(&stock, argv[1]) ) return 2;
  for(i=0; i<N_SHAPE; i++) testShape(zFile, i, bExact);
  testTexts(zFile);
  return finish();
}
