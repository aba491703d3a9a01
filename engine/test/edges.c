/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Columns in memory at their edges: values at the ends of what a segment holds, and pages
** that a damaged file has in several places.
**
** Run with HPSQLITE_TEST=force,columns=force, with one worker and runs of four leaves, and with
** several workers: each scan keeps what it reads, and reads what is kept.  Each query is run by the executor and by
** SQLite's code on the same connection, which have to say the same, errors included.
**
** "edges twice" runs the damaged files only, for ThreadSanitizer.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"

#define SZ_PAGE  1024
#define COUNT(A) ((int)(sizeof(A)/sizeof(A[0])))

static sqlite3_int64 kept(sqlite3 *db){
  return counted(db, "runs of leaves whose columns were in memory");
}

#define MIN64 "-9223372036854775807-1"

/*
** Each form, with a base, a step or a width that reaches an end of its numbers: what filters leave
** out by the smallest and the largest value, orders, groups, and values that come later (hp_mend.c).
*/
static void testEnds(void){
  static const char *const azValue[] = {
    /* One more each time, to the largest integer, from the smallest, and on from one to the other */
    "iif(value<=300, 9223372036854775507+value, " MIN64 "+(value-301))",
    "iif(value%7, iif(value<=300, 9223372036854775507+value, " MIN64 "+(value-301)), NULL)",
    "9223372036854774607+value", MIN64 "+value-1", "9223372036854775808-value",
    /* A base at one end, in all widths, and one more than each has */
    "9223372036854775807-value%2*255", "9223372036854775807-value%2*256", MIN64 "+value%2*255",
    "9223372036854775807-value%2*65535", MIN64 "+value%2*65535", MIN64 "+value%2*65536",
    "9223372036854775807-value%2*4294967295", "9223372036854775807-value%2*4294967296",
    MIN64 "+value%2*4294967295", MIN64 "+value%2*4294967296", MIN64 "+value%9*536870911",
    "iif(value%2, 9223372036854775807, " MIN64 ")", "iif(value%2, -1, 9223372036854775807)",
    "iif(value%2, 0, " MIN64 ")", "iif(value%3, NULL, iif(value%2, 1, " MIN64 "))",
    /* Decimals, and what is none any more */
    "2251799813685247.0-value", "value-2251799813685247.0", "(value%2*2-1)*2251799813685247.0",
    "22517998136852.47-value/100.0", "value%2*42949672.95", "value%2*42949672.96", "-value%2*0.255",
    "(value%2*2-1)*2251799813.685247", "iif(value%2, 4503599627370495-value, 0.25)",
    "iif(value%3, 2251799813685246+value%4, 0.5)", "iif(value%3, 9007199254740993, -0.5)",
    "iif(value%2, 9223372036854775807, 0.5)", "iif(value%2, " MIN64 ", 1e18)",
    /* Dates and times: as far from each other as their bytes allow, and one further */
    "iif(value%2, '1900-00-00', '2027-15-31')", "iif(value%2, '1900-00-00', '2028-00-00')",
    "iif(value%2, '2155-15-31', '2028-00-00')", "iif(value%2, '2155-15-31', '2027-15-31')",
    "iif(value%2, '1900-00-00 00:00:00', '1963-15-31 31:63:63')",
    "iif(value%2, '1900-00-00 00:00:00', '1964-00-00 00:00:00')",
    "iif(value%2, '2155-15-31 31:63:63', '2155-15-31 31:62:00')",
    "iif(value%2, '2155-15-31 31:63:63', '2092-00-00 00:00:00')",
  };
  static const char *const azConst[] = {
    MIN64, "-9223372036854775807", "-2251799813685247", "-1", "5", "2251799813685246.5",
    "4503599627370497", "9223372036854775806", "9223372036854775807", "9e18", "-9.3e18",
    "'1964-00-00'", "'2155-15-31'", "-0.255", "42949672.955",
  };
  static const char *const azOp[] = { "<", "=", ">=", "<>" };
  static const char *const azAsk[] = {
    "SELECT count(*), sum(id), min(v), max(v), count(v) FROM t",
    "SELECT id, v FROM t ORDER BY v LIMIT 3", "SELECT id, v FROM t ORDER BY v DESC LIMIT 3",
    "SELECT v, count(*), min(id) FROM t GROUP BY v", "SELECT sum(v) FROM t WHERE id%700=5",
    "SELECT total(v), avg(v) FROM t", "SELECT sum(v) FROM t", "SELECT count(DISTINCT v) FROM t",
    "SELECT count(*), sum(id) FROM t WHERE v IN (9223372036854775807, " MIN64 ", 0, '1900-00-00')",
    "SELECT v, count(*) FROM t WHERE v BETWEEN " MIN64 " AND -9223372036854775806 GROUP BY v",
    "SELECT count(*), sum(t.id) FROM t JOIN t AS o ON o.v=t.v WHERE t.id%400=3",
  };
  static const char *const azChange[] = {
    "v=9223372036854775807", "v=" MIN64, "v=iif(typeof(v)='integer' AND v<9e18, v+1, v)", "v=0",
    "v=-2251799813685248.0", "v='2155-15-31'", "v='1900-00-00 00:00:00'", "v=NULL",
  };
  const char *zFile = temporaryFile("ends.db");
  const char *zWays = getenv("HPSQLITE_TEST");
  int bOdd = zWays && strstr(zWays, "threads=4");
  int i, k, m;
  for(i=bOdd && !longRun(); i<COUNT(azValue); i+=longRun() ? 1 : 2){
    char zSql[400];
    sqlite3 *db;
    removeDb(zFile);
    db = openDb(&ours, zFile, 0);
    execute(db, "PRAGMA page_size=1024; PRAGMA synchronous=off; PRAGMA journal_mode=wal;"
                "CREATE TABLE t(id INTEGER PRIMARY KEY, v)");
    sqlite3_snprintf(sizeof(zSql), zSql, "INSERT INTO t SELECT value, %s FROM " SERIES("1200"),
                     azValue[i]);
    execute(db, zSql);
    for(k=0; k<COUNT(azAsk); k++) sameAnswer(db, azAsk[k], 2, azValue[i]);
    for(k=0; k<COUNT(azConst); k++){
      for(m=0; m<COUNT(azOp); m++){
        sqlite3_snprintf(sizeof(zSql), zSql,
            "SELECT count(*), sum(id) FROM t WHERE v%s%s", azOp[m], azConst[k]);
        sameAnswer(db, zSql, 1, azValue[i]);
      }
    }
    check(kept(db)>0, "columns of %s are kept", azValue[i]);
    for(k=0; k<COUNT(azChange); k++){
      sqlite3_snprintf(sizeof(zSql), zSql, "UPDATE t SET %s WHERE id=%d", azChange[k], 600+k);
      execute(db, zSql);
      for(m=0; m<COUNT(azAsk); m+=2) sameAnswer(db, azAsk[m], 1, azValue[i]);
      sqlite3_snprintf(sizeof(zSql), zSql, "SELECT count(*), sum(id) FROM t WHERE v>=%s",
                       azConst[(k+i)%COUNT(azConst)]);
      sameAnswer(db, zSql, 1, azValue[i]);
    }
    sqlite3_close(db);
  }
}

/*****************************************************************************
** Pages in several places.
*/
static unsigned char *aFile;

static unsigned char *page(int iPg){ return &aFile[(iPg-1)*SZ_PAGE]; }
static int nCell(int iPg){ return (int)get2(&page(iPg)[3]); }

/* Where the number of child i of interior page iPg stands */
static unsigned char *child(int iPg, int i){
  unsigned char *a = page(iPg);
  return i<nCell(iPg) ? &a[get2(&a[12+2*i])] : &a[8];
}

/* The i-th page above leaves of the b-tree at iRoot, which has two or three levels */
static int above(int iRoot, int i){
  int iPg = (int)get4(child(iRoot, i));
  return (page(iPg)[0] & 8) ? iRoot : iPg;
}

static void copyChild(int iTo, int i, int iFrom, int k){
  memcpy(child(iTo, i), child(iFrom, k), 4);
}

/* Roots: of a large table, of a small one of the same columns, of an index */
static int iLarge, iSmall, iIndex;

static void inOneUnit(void){ copyChild(above(iLarge, 0), 5, above(iLarge, 0), 4); }
static void inTwoUnits(void){ copyChild(above(iLarge, 1), 7, above(iLarge, 0), 4); }
static void thrice(void){
  copyChild(above(iLarge, 0), 9, above(iLarge, 0), 4);
  copyChild(above(iLarge, 0), 20, above(iLarge, 0), 4);
  copyChild(above(iLarge, 1), 0, above(iLarge, 0), 4);
}
static void innerTwice(void){ copyChild(iLarge, 1, iLarge, 0); }
static void innerThrice(void){
  copyChild(iLarge, 1, iLarge, 0);
  copyChild(iLarge, 2, iLarge, 0);
}
static void sameLeaves(void){
  int iPg = above(iSmall, 0), i;
  for(i=0; i<=nCell(iPg); i++) copyChild(iPg, i, above(iLarge, 0), i);
}
static void someLeaves(void){
  int iPg = above(iSmall, 0), i;
  for(i=0; i<=nCell(iPg); i+=3) copyChild(iPg, i, above(iLarge, 0), i+1);
}
static void leavesOfIndex(void){
  int iTo = above(iSmall, 0), iFrom = above(iIndex, 0), i;
  for(i=0; i<=nCell(iTo); i++) copyChild(iTo, i, iFrom, i%(nCell(iFrom)+1));
}
static void leavesInIndex(void){
  int iTo = above(iIndex, 0), iFrom = above(iSmall, 0), i;
  for(i=0; i<=nCell(iTo); i++) copyChild(iTo, i, iFrom, i);
}
/* With runs of four leaves, one of them: SQLite looks at the first of them all to see how deep it is */
static void someOfIndex(void){
  int i;
  for(i=4; i<8; i++) copyChild(above(iSmall, 0), i, above(iIndex, 0), i);
}
static void someInIndex(void){
  int i;
  for(i=4; i<8; i++) copyChild(above(iIndex, 0), i, above(iSmall, 0), i);
}
static void innerAsLeaf(void){ put4(child(above(iLarge, 0), 6), above(iLarge, 1)); }
static void itself(void){ put4(child(above(iLarge, 0), 6), above(iLarge, 0)); }
static void leafAsInner(void){ copyChild(iLarge, 1, above(iLarge, 0), 3); }

static const struct Damage {
  const char *zName;
  void (*xDamage)(void);
} aDamage[] = {
  { "a leaf is there twice in a unit", inOneUnit },
  { "a leaf is there in two units", inTwoUnits },
  { "a leaf is there four times", thrice },
  { "a page above leaves is there twice", innerTwice },
  { "a page above leaves is there three times", innerThrice },
  { "two tables have the same leaves", sameLeaves },
  { "two tables have some leaves in common", someLeaves },
  { "a table has the leaves of an index", leavesOfIndex },
  { "an index has the leaves of a table", leavesInIndex },
  { "a table has some leaves of an index", someOfIndex },
  { "an index has some leaves of a table", someInIndex },
  { "a page above leaves is among the leaves", innerAsLeaf },
  { "a page is its own child", itself },
  { "a leaf is among the pages above leaves", leafAsInner },
};

/*
** A change of what is there twice shows in both places.  Two workers that mend the same run at a time
** do not free what the other one reads.
*/
static void testTwice(const char *zMode){
  static const char *const azAsk[] = {
    "SELECT count(*), sum(n), count(s) FROM t", "SELECT count(*) FROM u", "SELECT count(*) FROM t",
    "SELECT count(*) FROM k", "SELECT count(*), sum(n), max(s) FROM u",
    "SELECT n%9, count(*), sum(id) FROM t GROUP BY 1", "SELECT count(*), sum(n) FROM t WHERE n>=5000000",
    "SELECT sum(n), max(id) FROM t WHERE id>=1",
  };
  const char *zFile = temporaryFile("twice.db");
  unsigned char *aSound;
  int nFile, i, j, k;
  sqlite3 *db;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA page_size=1024; PRAGMA synchronous=off;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, s TEXT);"
    "CREATE TABLE u(id INTEGER PRIMARY KEY, n INT, s TEXT);"
    "CREATE TABLE k(a TEXT, b); CREATE INDEX kb ON k(b);"
    "INSERT INTO t SELECT value, value*7, printf('%090d', value) FROM " SERIES("4000") ";"
    "INSERT INTO u SELECT value, value*7, printf('%090d', value) FROM " SERIES("300") ";"
    "INSERT INTO k SELECT printf('%0150d', value), printf('%060d', value) FROM " SERIES("400"));
  iLarge = (int)integer(&ours, db, "SELECT rootpage FROM sqlite_schema WHERE name='t'");
  iSmall = (int)integer(&ours, db, "SELECT rootpage FROM sqlite_schema WHERE name='u'");
  iIndex = (int)integer(&ours, db, "SELECT rootpage FROM sqlite_schema WHERE name='kb'");
  sqlite3_close(db);
  aSound = readFile(zFile, &nFile);
  aFile = malloc(nFile);
  if( aFile==0 ) exit(2);
  for(i=0; i<COUNT(aDamage); i++){
    char zSql[200];
    memcpy(aFile, aSound, nFile);
    aDamage[i].xDamage();
    removeDb(zFile);
    writeFile(zFile, aFile, nFile);
    db = openDb(&ours, zFile, 0);
    sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA journal_mode=%s; PRAGMA synchronous=off", zMode);
    execute(db, zSql);
    for(k=0; k<COUNT(azAsk); k++) sameAnswer(db, azAsk[k], 2, aDamage[i].zName);
    for(j=0; j<(longRun() ? 300 : 25); j++){
      sqlite3_snprintf(sizeof(zSql), zSql,
          "UPDATE t SET n=n+1000000 WHERE id BETWEEN %d AND %d AND id%%3=0", 20+j*7%60, 30+j*7%60);
      ours.exec(db, "PRAGMA hp_offload=off", 0, 0, 0);
      ours.exec(db, zSql, 0, 0, 0);          /* Which may say that the file is malformed */
      for(k=j%3; k<COUNT(azAsk); k+=3) sameAnswer(db, azAsk[k], 1+(k==0), aDamage[i].zName);
    }
    sqlite3_close(db);
  }
  free(aFile);
  free(aSound);
}

int main(int argc, char **argv){
  if( argc==1 ) testEnds();
  (void)argv;
  testTwice("wal");
  testTwice("delete");
  return finish();
}
