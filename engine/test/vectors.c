/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** vectors STOCK: rows and values of every shape for what looks at several of
** them at once: cells whose rowids and sizes take one byte to nine, in pages of
** every size; first columns of every serial type under ORDER BY ... LIMIT; texts
** of every length as keys of groups and beside a constant; integers at the ends of 32 and of
** 64 bits in sums and products; texts that are nearly alike under min() and max(); formats of
** strftime(); expressions of which a row needs one side.  All answers are those of the library STOCK.  The tables are larger than a batch, so that what is
** learned from one batch is used on the next.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"

/* Rowids of rows 1 to 3000: of one length, of many, negative */
static const char *const azRowid[] = {
  "i", "i*i*i", "(i-1500)*1000003", "i+9223372036854770000",
};

/* Values of the first column, of which the smallest and largest are wanted */
static const char *const azFirst[] = {
  "i%2", "CASE WHEN i%7=0 THEN NULL WHEN i%900<2 THEN 1 ELSE i%5 END",
  "i*7919%3001 - 1500", "(i*7919%3001 - 1500)<<(i%50)", "(i*7919%3001)/8.0-20",
  "CASE i%3 WHEN 0 THEN i*7919%301 WHEN 1 THEN i/-8.0 ELSE 1-i%2 END",
  /* Of each kind one that comes late and belongs to the first */
  "CASE i WHEN 2700 THEN NULL WHEN 2500 THEN 1 WHEN 2510 THEN 0 WHEN 2600 THEN"
  " -3.5 WHEN 2601 THEN -4 WHEN 2602 THEN 1e9 WHEN 2603 THEN 70000 ELSE 5+i%70 END",
  "CASE i%4 WHEN 0 THEN 'x'||i WHEN 1 THEN zeroblob(i%3) ELSE i%77 END",
};

/* What comes before the first column and after it: sizes of records around 128,
** up to more than a page */
static const char *const azPad[] = {
  "zeroblob(i%7)", "zeroblob(100+i%40)",
  "zeroblob(CASE WHEN i%31=0 THEN 16000+i*5 ELSE i%300 END)",
};

static const char *const azTop[] = {
  "SELECT rowid, k FROM t ORDER BY k LIMIT 5",
  "SELECT rowid, k FROM t ORDER BY k DESC LIMIT 5",
  "SELECT rowid, k FROM t ORDER BY k NULLS LAST LIMIT 900",
  "SELECT rowid, k FROM t ORDER BY k DESC NULLS FIRST LIMIT 7",
  "SELECT rowid, k, length(p) FROM t ORDER BY k, rowid DESC LIMIT 30",
  "SELECT rowid FROM t WHERE k=1 ORDER BY q LIMIT 6",
  "SELECT sum(rowid), sum(rowid%1009), min(rowid), max(rowid), count(k),"
  " sum(length(hex(p))), min(q) FROM t",
  "SELECT count(*), total(length(hex(p))) FROM t WHERE rowid%3=1 AND k>0",
};

/* Texts beside a constant: dates and what is nearly one, numbers */
static const char *const azText[] = {
  "substr('1995-03-15 12:00:00',1,i%19)",
  "CASE i%9 WHEN 0 THEN '1995-03-1'||i%10 WHEN 1 THEN '1995-03-' WHEN 2 THEN"
  " '1995-03' WHEN 3 THEN '19950315' WHEN 4 THEN '1995.031' WHEN 5 THEN '199x-03-15'"
  " WHEN 6 THEN '12345678901' ELSE date('1994-06-01', i||' days') END",
  "CASE i%500 WHEN 0 THEN '1995e031' WHEN 1 THEN '99999999' ELSE date('1994-06-01', i||' days') END",
};
static const char *const azCompare[] = {
  "<'1995-03-15'", "<='1995-03-'", "='1995-03-15'", ">'1995-03'", ">='1995-03-15 1'",
  "<>'1995-03-15'", "IS '1995-03-15'", "<'abcdefgh'",
};

/* Keys of groups: one, two, text of all lengths, integers around 2^55 */
static const char *const azKey[] = {
  "substr('abcdefghijklmnopqrstuvwxyz',1+i%2,i%21)",
  "substr('abcdefghijklmnopqrstuvwxyz',1,i%9)",
  "CASE WHEN i<1500 THEN i%10 ELSE i%4*9007199254740992*4-i%3 END",
  "char(97+i%3)", "i%200", "(i%300)*(1<<(i%63))",
};

/* Integers in two columns: small, at the ends of 32 and of 64 bits, and only in one late row */
static const char *const azInt[] = {
  "i%100-50, i%7-3", "i*7919, -i", "2147483647-i%3, -2147483648+i%2", "2147483648-i%2, i%3",
  "9223372036854775807-i%2, i%3-1", "-9223372036854775807-i%2, 1-i%3",
  "(i%64)<<(i%58), (i%9-4)<<(i%60)", "CASE i WHEN 2801 THEN 9223372036854775807 ELSE i END, i%5",
  "i%50, CASE i WHEN 2900 THEN -9223372036854775807-1 ELSE -1 END",
};
static const char *const azIntQuery[] = {
  "SELECT quote(a+b), quote(a-b), quote(a*b), quote(a+1), quote(2-b), quote(a*3), quote(b*-1) FROM t"
    " GROUP BY a, b ORDER BY a, b",
  "SELECT total(a+b), avg(a-b), total(a*b), min(a+b), max(a-b), min(a*b), max(a*b) FROM t",
  "SELECT sum(a), sum(b), total(a), avg(b), min(a), max(a), min(b), max(b), count(*) FROM t",
  "SELECT sum(b), avg(a), min(a), max(b), min(b), max(a) FROM t WHERE rowid%5<>2",
  "SELECT rowid%3, sum(b), avg(a), min(a), max(b), a FROM t GROUP BY rowid%3",
};

/* Texts and reals of which the smallest and the largest are wanted, with their row */
static const char *const azEnd[] = {
  "date('2013-07-01', (i*17%31)||' days')", "substr('abcdefghabcdefghabcd', 1, i*7%21)",
  "'abcdefgh'||char(97+i*11%26)", "substr('bcdefghi', 1, i%9)||x'00'||substr('az', 1, i%3)",
  "CASE i WHEN 2700 THEN 'abc' WHEN 2800 THEN 'zz' ELSE 'm'||i END", "i*7919%3001/8.0",
  "CASE i%3 WHEN 0 THEN -0.0 ELSE 0.0 END", "CASE i WHEN 2950 THEN NULL ELSE 'k'||i%5 END",
};
static const char *const azEndQuery[] = {
  "SELECT quote(min(s)), quote(max(s)) FROM t", "SELECT v, quote(min(s)) FROM t",
  "SELECT v, quote(max(s)) FROM t WHERE v%4<>1", "SELECT v%3, v, quote(max(s)) FROM t GROUP BY v%3",
  "SELECT v, quote(min(s COLLATE nocase)) FROM t",
};

/* Expressions of which SQLite computes one side for most rows.  The sides concatenate p, texts of
** 30 KB: for all rows that would be more than hp_memory */
static const char *const azSide[] = {
  "count(*) FROM t WHERE k<300 OR length(p||p||p||k)>200000",
  "count(*) FROM t WHERE NOT (k>=290 AND (length(p||p||k)<7 OR p||p||k='x'))",
  "max(CASE WHEN k<100 THEN 1 WHEN k<200 THEN 2 WHEN k<297 THEN NULL ELSE length(p||p||k) END) FROM t",
  "max(CASE k%100 WHEN 99 THEN p||p||k WHEN 98 THEN 'x'||p END), count(*) FROM t",
  "sum(CASE WHEN k<10 THEN length(p||k) WHEN k<295 THEN k ELSE length(p||p||m) END) FROM t",
  "count(coalesce(n, k, p||p||p||p, m)) FROM t",
  "max(coalesce(nullif(k, 7), p||p||p||p)) FROM t",
  "sum(length(iif(k<297, n, p||p||p||p))) FROM t",
  "sum(k IN (k+n, k, length(p||p||p||p), length(p||p||m))) FROM t WHERE n>=0",
  "sum(k<400 OR length(p||p||p||p)>9 OR p||p||p LIKE '%x%') FROM t",
  "count(*) FROM t WHERE k BETWEEN 298 AND length(p||p||p)",
  "count(*) FROM t WHERE (k, p||p||p||p)=(5, p||'x'||p) OR (k, p||p)<(3, p||p||p)",
  "max(p||p||p||p) FILTER (WHERE k=9), sum(length(p||p||p||m)) FILTER (WHERE k%100=9) FROM t",
  "k%3, group_concat(substr(p||p||k, 60000)) FILTER (WHERE k<4), count(*) FROM t GROUP BY k%3",
};

/* The same of all kinds and without end: C is a condition, X a value */
static const char *const azKind[] = {
  "CASE WHEN C THEN X END", "CASE WHEN C THEN X WHEN C THEN X ELSE X END", "coalesce(X, X, X)", "iif(C, X, X)",
  "X IN (X, X, 5)", "X BETWEEN X AND X", "(X, X)<(X, X)", "nullif(X, X)", "(C OR C OR C)", "(C AND C AND C)",
  "NOT (C OR X)", "CASE X WHEN X THEN X WHEN 3 THEN X END",
};
static const char *const azCondition[] = {
  "k%5", "n>3", "m LIKE '%1%'", "m IS NULL", "n||k LIKE '_1%'", "k<2990", "length(m)=2", "NULL", "m=2.0", "x IS NOT FALSE",
};
static const char *const azValue[] = {
  "k", "n", "m", "x", "n||m", "x*2+1", "substr(m, 2)", "upper(m)", "m+1", "NULL", "'12'", "3", "CAST(m AS TEXT)", "k/7.0",
};

/* Two expressions have the same side, in which the second finds all it needs */
static const char *const azTwice[] = {
  "k%3=1 OR m||'1' AS v, count(*) FROM t WHERE n<6 AND (k%3=1 OR m||'1')"
    " GROUP BY v",
  "CASE WHEN k%3=1 THEN m||'x' ELSE 1 END='m1x' AS v, CASE WHEN k%3=1 THEN m||'x'"
    " ELSE n||'' END>'5' AS w, count(*) FROM t WHERE n<6 GROUP BY v, w",
  "coalesce(n, m||'x')>'4' AS v, coalesce(n, m||'x', k)='m1x' AS w, count(*)"
    " FROM t WHERE k%50>2 GROUP BY v, w",
  "sum(m||'1') FILTER (WHERE k%3=1), max(m||'1') FILTER (WHERE k%3=1),"
    " count(m||'1') FILTER (WHERE k%3=1) FROM t WHERE k%50>2",
};

/* Write an expression of azKind[], nested nDepth times, to *pz.  The state is *pi */
static void makeSide(char **pz, int nDepth, unsigned *pi){
  const char *z = azKind[(*pi = *pi*1103515245 + 12345)/65536 % (sizeof(azKind)/sizeof(azKind[0]))];
  char cBefore = 0;
  for(; *z; cBefore=*z++){
    unsigned r = (*pi = *pi*1103515245 + 12345)/65536;
    int bOne = (*z=='C' || *z=='X') && (z[1]<'A' || z[1]>'Z') && (cBefore<'A' || cBefore>'Z');
    if( bOne && nDepth>0 && r%3==0 ){
      makeSide(pz, nDepth-1, pi);
    }else if( bOne && *z=='C' ){
      *pz += sprintf(*pz, "%s", azCondition[r/3 % (sizeof(azCondition)/sizeof(azCondition[0]))]);
    }else if( bOne ){
      *pz += sprintf(*pz, "%s", azValue[r/3 % (sizeof(azValue)/sizeof(azValue[0]))]);
    }else{
      *(*pz)++ = *z;
    }
  }
  **pz = 0;
}

/* Dates and times, and what is nearly one */
static const char *const azTime[] = {
  "datetime('2024-02-27', '+'||i*7919||' seconds')", "date('1999-12-30', '+'||i||' days')",
  "CASE i%9 WHEN 0 THEN NULL WHEN 1 THEN date('2024-02-27') WHEN 2 THEN '2024-02-30' WHEN 3 THEN"
  " '2024-02-27T10:11:12' WHEN 4 THEN '2024-02-27 24:00:00' WHEN 5 THEN 2460000.5+i WHEN 6 THEN 'no time'"
  " WHEN 7 THEN '2024-02-27 10:11' ELSE datetime('2024-02-27 23:59:59') END",
};
static const char *const azFormat[] = {
  "%Y", "%Y-%m", "%Y-%m-%d", "%F", "%T", "%R", "%H:%M", "%Y-%m-%d %H", "%Y-%m-%dT%H", "%H:00", "%Y-%m-%d %H:00:00",
  "%d.%m.%Y", "%Y%m%d", "%Y-", "%d ", "%d?%H", "-%m", "%%", "%Y%%", "x", "%", "%Y%", "%H%M%S", "%j", "%Y-W%W",
  "%F %T", "%FT%T", "%F%T", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.000 in the middle", "%F %F %F", "%F %F %F %F",
  "%Y\303\244", "%M:%S", "%M-%S", "%S", "%S:", "%S ", "%m-%d %H", "%d%H", "\001%Y",
};

static Lib stock;
static sqlite3 *adb[2];

/* Queries given back to SQLite while they ran */
static int nGivenBack;
static int givenBack(void *p, int n, char **az, char **azName){
  (void)p; (void)n; (void)azName;
  if( strncmp(az[0], "given back", 10)==0 ) nGivenBack += atoi(az[1]);
  return 0;
}

/* Both libraries answer zSql alike; ours by the engine unless bAny */
static void same(const char *zSql, const char *zWhat, int bAny){
  Text a, b;
  memset(&a, 0, sizeof(a));
  memset(&b, 0, sizeof(b));
  answer(&ours, adb[0], zSql, &a);
  answer(&stock, adb[1], zSql, &b);
  check(strcmp(a.z, b.z)==0, "%s (%s)\n ours  %.300s stock %.300s", zSql, zWhat,
        a.z, b.z);
  nGivenBack = 0;
  ours.exec(adb[0], "PRAGMA hp_stats", givenBack, 0, 0);
  check(bAny || (isTaken(adb[0], zSql) && nGivenBack==0),
        "not taken over: %s (%s)", zSql, zWhat);
  textClear(&a);
  textClear(&b);
}

/* Open the database, which adb[0] made, in both libraries */
static void reopen(const char *zFile){
  ours.close(adb[0]);
  adb[0] = openDb(&ours, zFile, 0);
  execute(adb[0], "PRAGMA hp_offload=force; PRAGMA hp_threads=1");
  adb[1] = openDb(&stock, zFile, 0);
}

/* A database of table t with rows 1 to 3000 of zRow, open in both libraries */
static void begin(
  const char *zFile,
  const char *zPragma,
  const char *zTable,
  const char *zRow
){
  static char zSql[4000];
  removeDb(zFile);
  adb[0] = openDb(&ours, zFile, 0);
  snprintf(zSql, sizeof(zSql),
    "%s; CREATE TABLE t%s; WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1"
    " FROM c WHERE i<3000) INSERT INTO t%s FROM c", zPragma, zTable, zRow);
  execute(adb[0], zSql);
  reopen(zFile);
}

static void end(const char *zFile){
  ours.close(adb[0]);
  stock.close(adb[1]);
  removeDb(zFile);
}

#define N(A) ((int)(sizeof(A)/sizeof(A[0])))

int main(int argc, char **argv){
  static const char *const azPage[] = {
    "PRAGMA page_size=512", "PRAGMA page_size=4096", "PRAGMA page_size=32768",
    "PRAGMA page_size=65536",
  };
  static char zRow[2000], zSql[1000];
  const char *zFile = temporaryFile("vectors.db");
  int iPage, i, j, k;
  if( argc!=2 || loadStock(&stock, argv[1]) ) return 2;
  if( !hasEngine() ) return finish();

  /* Cells: each first column with each sort of rowid and of size */
  for(iPage=0; iPage<N(azPage); iPage++){
    for(i=0; i<N(azFirst); i++){
      const char *zRowid = azRowid[(i/3+iPage)%N(azRowid)];
      const char *zPad = azPad[(i+iPage)%N(azPad)];
      /* k comes first, or after a column, as i tells */
      snprintf(zRow, sizeof(zRow), "(rowid,k,p,q) SELECT %s, %s, %s, i%%13",
               zRowid, azFirst[i], zPad);
      begin(zFile, azPage[iPage], i%2 ? "(q,k,p)" : "(k,p,q)", zRow);
      for(j=0; j<N(azTop); j++) same(azTop[j], zRow, j==4);
      end(zFile);
    }
  }

  /* Texts beside a constant, as text and in a column of numbers */
  for(i=0; i<N(azText); i++){
    for(k=0; k<3; k++){
      snprintf(zRow, sizeof(zRow), " SELECT %s, i", azText[i]);
      begin(zFile, azPage[1], k==1 ? "(s DATE, v)" : "(s TEXT, v)", zRow);
      if( k==2 ){
        /* Texts in the form of a number, which are numbers when compared */
        stock.close(adb[1]);
        execute(adb[0], "PRAGMA writable_schema=on; UPDATE sqlite_schema"
                " SET sql=replace(sql, 's TEXT', 's DATE')");
        reopen(zFile);
      }
      for(j=0; j<N(azCompare); j++){
        snprintf(zSql, sizeof(zSql), "SELECT count(*), sum(v), min(v) FROM t"
                 " WHERE s %s", azCompare[j]);
        same(zSql, azText[i], 0);
      }
      end(zFile);
    }
  }

  /* Arithmetic, sums, the smallest and the largest */
  for(i=0; i<N(azInt); i++){
    snprintf(zRow, sizeof(zRow), " SELECT %s", azInt[i]);
    begin(zFile, azPage[1], "(a INTEGER, b INTEGER)", zRow);
    for(j=0; j<N(azIntQuery); j++) same(azIntQuery[j], zRow, 1);
    end(zFile);
  }
  for(i=0; i<N(azEnd); i++){
    snprintf(zRow, sizeof(zRow), " SELECT %s, i", azEnd[i]);
    begin(zFile, azPage[1], "(s, v)", zRow);
    for(j=0; j<N(azEndQuery); j++) same(azEndQuery[j], zRow, 0);
    end(zFile);
  }

  for(i=0; i<N(azTime); i++){
    snprintf(zRow, sizeof(zRow), " SELECT %s, i", azTime[i]);
    begin(zFile, azPage[1], "(s, v)", zRow);
    for(j=0; j<N(azFormat); j++){
      char zSql[200];
      snprintf(zSql, sizeof(zSql), "SELECT strftime('%s', s) AS f, typeof(max(strftime('%s', s))), count(*),"
               " sum(v) FROM t GROUP BY f", azFormat[j], azFormat[j]);
      /* Some of what is no date gives the query back to SQLite */
      same(zSql, zRow, i==2);
    }
    end(zFile);
  }

  /* Sides: none is computed for rows that do not need it, ... */
  begin(zFile, azPage[1], "(k, n, m, p)", " SELECT i, nullif(i%7,3), CASE WHEN i%2 THEN 'm'||i"
        " ELSE i/2.0 END, hex(zeroblob(15000*(i<=300)))");
  execute(adb[0], "DELETE FROM t WHERE k>300; PRAGMA hp_memory=4000000");
  for(i=0; i<N(azSide); i++){
    snprintf(zSql, sizeof(zSql), "SELECT %s", azSide[i]);
    same(zSql, "sides", 0);
  }
  end(zFile);
  /* ... and each where it is needed */
  begin(zFile, azPage[1], "(k, n INT, m, x REAL)", " SELECT i, nullif(i%7,3), CASE i%5 WHEN 0 THEN NULL WHEN 1"
        " THEN 'm1' WHEN 2 THEN i%30 WHEN 3 THEN x'3132' ELSE i%50/2.0 END, CASE WHEN i%3 THEN i%90/4.0 END");
  for(i=0; i<200; i++){
    static char zSide[100000], zQuery[200100];
    unsigned iRandom = (unsigned)i*7919 + 1;
    char *z = zSide;
    makeSide(&z, i%5, &iRandom);
    if( strlen(zSide)>3000 ) continue;
    snprintf(zQuery, sizeof(zQuery), i%2 ? "SELECT count(*), max(%s) FROM t WHERE %s"
             : "SELECT %s AS v, count(*), min(k) FROM t WHERE k<0 OR NOT %s GROUP BY v", zSide, zSide);
    same(zQuery, "sides", 1);
  }
  for(i=0; i<N(azTwice); i++){
    snprintf(zSql, sizeof(zSql), "SELECT %s", azTwice[i]);
    same(zSql, "the same side twice", 1);
  }
  end(zFile);

  /* Keys of groups: each alone and beside each, with and without a filter */
  for(i=0; i<N(azKey); i++){
    for(j=0; j<N(azKey); j++){
      snprintf(zRow, sizeof(zRow), " SELECT %s, %s, i/8.0", azKey[i], azKey[j]);
      begin(zFile, azPage[1], "(a, b, v)", zRow);
      same("SELECT a, b, count(*), sum(v) FROM t GROUP BY a, b", zRow, 0);
      same("SELECT a, b, count(*), sum(v) FROM t WHERE v>20 GROUP BY a, b", zRow,
           0);
      same("SELECT a, count(*), sum(v) FROM t WHERE v%10<>3 GROUP BY a", zRow, 0);
      same("SELECT b, avg(v) FROM t GROUP BY b", zRow, 0);
      end(zFile);
    }
  }
  return finish();
}
