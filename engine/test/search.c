/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** search STOCK: where SQLite would search an index and look rows up, the table may be
** scanned instead.
**
**    answers     Bounds of every form and type, indexes of every kind: forced to scan,
**                ours says what the library STOCK says.  What is refused, and what is
**                given back because the order of rows shows.
**    rows        The same of rows in the order of an ORDER BY; functions that write to the
**                table; an index that lacks entries.
**    counters    sqlite3_stmt_status() counts as in SQLite.
**    gate        Which searches are left to SQLite: those for few rows, those for rows
**                that lie beside each other.  Literals, parameters, statistics.
**    damage      Bytes of the index are changed while it only says how much there is.
*/
#include <stdio.h>
#include <stdlib.h>
#include "pair.h"

/*
** Each column that is searched has one index.  One row in 97 has a value of k, they lie far
** apart; those of near are beside each other.
*/
static const char zTables[] =
  "CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, near INTEGER, s TEXT COLLATE NOCASE, x, n INTEGER,"
  " v REAL, d TEXT, p INTEGER, big INTEGER, q INTEGER);"
  "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r WHERE i<40000)"
  " INSERT INTO t SELECT i, i*7919%97, i/10, CASE i%3 WHEN 0 THEN 'a' WHEN 1 THEN 'A' ELSE 'b' END||(i*31%50),"
  "  CASE i%11 WHEN 0 THEN NULL WHEN 1 THEN i*0.5 WHEN 2 THEN 'w'||(i%7) WHEN 3 THEN x'0102' ELSE i*13%40 END,"
  "  i%9, i*0.25, date('2020-01-01', (i*17%900)||' days'), i%50,"
  "  CASE i*7919%97 WHEN 96 THEN -9223372036854775807-1 WHEN 95 THEN 9223372036854775807 ELSE i END, i%4 FROM r;"
  "CREATE INDEX tq ON t(q, big);"
  "CREATE INDEX tk ON t(k); CREATE INDEX tnear ON t(near); CREATE INDEX ts ON t(s);"
  "CREATE INDEX tx ON t(x DESC, n); CREATE INDEX td ON t(d); CREATE INDEX tp ON t(p) WHERE p>10;"
  "CREATE TABLE w(a INTEGER, b INTEGER, c TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID;"
  "INSERT INTO w SELECT id, k, s FROM t WHERE id<3000; CREATE INDEX wb ON w(b);"
  "CREATE TABLE g(id INTEGER PRIMARY KEY, name TEXT);"
  "INSERT INTO g SELECT id-1, 'g'||id FROM t WHERE id<9;";

/* Begin a test with all of that; zMore is for ours */
static void begin(const char *zMore){
  pairTables(zTables, "");
  runOn(&ours, adb[0], zMore);
}

/* Query zSql on both: '+' ours scans, '<' it gives the statement back, '-' it has no plan, '?' one of
** these */
static void same(const char *zSql){
  char eWay = *zSql++;
  sqlite3_int64 nRun = counted(adb[0], "run");
  pairSame(zSql);
  nRun = counted(adb[0], "run") - nRun;
  if( eWay=='?' ) return;
  check(nRun==(eWay=='+'), "run %lld times: %s", nRun, zSql);
  check(isTaken(adb[0], zSql)==(eWay!='-'), "%s: %s", eWay=='-' ? "taken over" : "not taken over", zSql);
}

/* Whatever the bounds are, the answer is that of SQLite's search */
static void testAnswers(void){
  static const char *const azTerm[] = {
    "k=5", "k=5.0", "k='5'", "5=k", "k IS 5", "k BETWEEN 3 AND 7", "k>90", "k>=90.5", "k<2", "k<=-1", "k<-1",
    "k>3 AND k<9 AND k<>5", "k IN (3)", "k IN (3,4,3)", "k IN (3,NULL,'4')", "k IN (1000,-1,2.5)", "k=NULL", "k=x'05'",
    "k>'a'", "k<'a'", "k>NULL", "k IN (NULL)", "near=77", "near BETWEEN 100 AND 400", "near>3990",
    "s='A7'", "s='a7' COLLATE NOCASE", "s='a7' COLLATE BINARY", "s BETWEEN 'A1' AND 'B'", "s LIKE 'a1%'", "s>'b4'",
    "s IN ('A3','b9','zz')", "s=7", "x=7", "x=7 AND n=3", "x=7 AND n>3", "x=7 AND n IN (1,2,5)", "x>'w3'", "x<3",
    "x IN (7,'w1',x'0102')", "x IN (7,8) AND n IN (1,2)", "x IS NULL", "x IS NULL AND n=2", "x>=x'01'", "x=7.5",
    "d='2021-03-04'", "d BETWEEN '2021-01-01' AND '2021-06-30'", "d>'2022'", "d<5",
    "p=40", "p>30", "p=5", "p IN (20,30)", "k=5 OR k=7", "k=5 OR near=9", "k=5 AND near>300", "+k=5",
    "k IN (SELECT 5)", "(near=5 OR near=7) AND k>2",
  };
  static const char *const azWhat[] = {
    "SELECT count(*), sum(n), min(id), max(d) FROM t WHERE %s",
    "SELECT n, count(*), total(v), avg(k) FROM t WHERE %s GROUP BY n",
    "SELECT d, s, count(*) FROM t WHERE %s AND n<7 GROUP BY d, s ORDER BY 3 DESC, 1, 2 LIMIT 9",
    "SELECT k, near, sum(v), count(DISTINCT n) FROM t WHERE %s GROUP BY k, near",
    "SELECT k, group_concat(id) FROM t WHERE %s GROUP BY k",
    "SELECT x, max(v), id FROM t WHERE %s GROUP BY x",
    "SELECT name, count(*), sum(n) FROM t JOIN g ON g.id=n WHERE %s GROUP BY name",
    "SELECT n, count(*) FROM t LEFT JOIN g ON g.id=n AND name<>'g3' WHERE %s AND k<50 GROUP BY n",
    "SELECT count(*), sum(g.id) FROM t LEFT JOIN g ON g.id=n AND k IN (6,7) AND near IN (1,2,77) WHERE %s",
    "SELECT count(*) FROM t WHERE %s AND EXISTS (SELECT 1 FROM g WHERE g.id=n)",
    "SELECT * FROM t WHERE %s ORDER BY v DESC LIMIT 5",
    "SELECT DISTINCT n, p FROM t WHERE %s",
    /* Of equal rows those come first that the index has first */
    "SELECT id, k, x FROM t WHERE %s ORDER BY n LIMIT 40",
    "SELECT id, s, d, near FROM t WHERE %s AND n<7 ORDER BY p DESC, n LIMIT 9 OFFSET 12",
    "SELECT id, n, x, s FROM t WHERE %s ORDER BY n, q",
    "SELECT (SELECT d FROM t WHERE %s ORDER BY n DESC, p LIMIT 1), 7",
    "SELECT count(*), group_concat(id) FROM (SELECT id FROM t WHERE %s ORDER BY n LIMIT 30)",
  };
  unsigned i, j;
  int k;
  begin("PRAGMA hp_offload=force");
  for(k=0; k<2; k++){
    for(i=0; i<sizeof(azTerm)/sizeof(azTerm[0]); i++){
      for(j=0; j<sizeof(azWhat)/sizeof(azWhat[0]); j++){
        Text sql = {0,0,0};
        textAppend(&sql, "?");
        textAppend(&sql, azWhat[j], azTerm[i]);
        same(sql.z);
        textClear(&sql);
      }
    }
    both("ANALYZE");
  }
  end("answers");
}

/* Rows in the order of an ORDER BY: which searches are scans instead */
static void testRows(void){
  static const char *const az[] = {
    "+SELECT id, s FROM t WHERE k=5 ORDER BY v DESC LIMIT 5",
    "+SELECT id, s FROM t WHERE k=5 AND n>3 ORDER BY n, d LIMIT 5 OFFSET 20",
    "+SELECT id, k FROM t WHERE k BETWEEN 5 AND 30 ORDER BY n LIMIT 50",
    "+SELECT id, k FROM t WHERE k>90 ORDER BY n LIMIT 50",
    "+SELECT id, k FROM t WHERE k<9 ORDER BY n LIMIT 50",
    "+SELECT id, x, n FROM t WHERE x>3 ORDER BY n+q LIMIT 50",
    "+SELECT id, x, n FROM t WHERE x=7 ORDER BY q LIMIT 50",
    "+SELECT id, x, n FROM t WHERE x=7 AND n>2 ORDER BY q LIMIT 50",
    "+SELECT id, s FROM t WHERE s='a7' ORDER BY n LIMIT 50",
    "+SELECT id, s FROM t WHERE s>'B30' ORDER BY n LIMIT 50",
    "+SELECT id, p FROM t WHERE p=40 ORDER BY n LIMIT 50",
    "+SELECT id, s FROM t WHERE k=5 ORDER BY n",
    "+SELECT * FROM t WHERE k BETWEEN 5 AND 30 AND n<>4 ORDER BY n, s",
    "+SELECT q, big, id FROM t WHERE q=1 ORDER BY n LIMIT 9",
    /* SQLite tests terms of the index for its entries, before those that need the row */
    "-SELECT id FROM t WHERE q=1 AND k<>96 AND abs(big)>=0 ORDER BY v LIMIT 3",
    "-SELECT id FROM t WHERE q IN (1,2) AND k<>96 AND abs(big)>=0 ORDER BY v LIMIT 3",
    "-SELECT id, d FROM t WHERE q<2 AND k<>96 AND abs(big)>=0 ORDER BY v",
    "+SELECT id FROM t WHERE q=1 AND k<>96 AND abs(n)>=0 ORDER BY v LIMIT 3",
    "+SELECT id FROM t WHERE q=1 AND big>7 AND abs(big)>=0 AND k<>96 ORDER BY v LIMIT 3",
    "?SELECT id FROM t WHERE q=1 AND abs(big)>=0 AND k<>96 ORDER BY v LIMIT 3",
    "+INSERT INTO g(name) SELECT s FROM t WHERE k=5 ORDER BY n LIMIT 5",
    "?SELECT name FROM g ORDER BY id",
    "+SELECT id FROM t WHERE id IN (SELECT id FROM t WHERE k=5 ORDER BY n LIMIT 3)",
    "+WITH c AS MATERIALIZED (SELECT id, s FROM t WHERE k>90 ORDER BY n) SELECT * FROM c",
    "+SELECT count(*), group_concat(z.id) FROM g LEFT JOIN (SELECT id FROM t WHERE k>90 ORDER BY n) z",
    /* Sub-selects may not be needed */
    "-SELECT id FROM t WHERE k>5 AND n>(SELECT 3) ORDER BY v LIMIT 5",
    /* IN: the index gives the rows of one value after those of another */
    "+SELECT id, k FROM t WHERE k IN (5,6) ORDER BY n LIMIT 5",
    "+SELECT id, k FROM t WHERE k IN (30,5,NULL,6,5) AND n>1 ORDER BY n LIMIT 50",
    "+SELECT id, x, n FROM t WHERE x IN (7,3,'w1') ORDER BY q LIMIT 70",
    "+SELECT id, x, n FROM t WHERE x=7 AND n IN (8,1,5) ORDER BY q LIMIT 70",
    "+SELECT id, x, n FROM t WHERE x IN (7,3) AND n>3 ORDER BY q LIMIT 70",
    "+SELECT id, s FROM t WHERE s IN ('A3','b9','zz') ORDER BY n LIMIT 70",
    "+SELECT * FROM t WHERE k IN (5,6) ORDER BY n, s",
    "-SELECT id FROM t WHERE k IN (5,6) AND n>(SELECT 3) ORDER BY n LIMIT 5",
    "-SELECT id FROM t WHERE x IN (7,3) AND n IN (1,2) ORDER BY q LIMIT 5",
    "-SELECT id FROM t WHERE k IN (SELECT id FROM g) ORDER BY n LIMIT 5",
    /* The index gives the order */
    "-SELECT id, k FROM t WHERE k>5 ORDER BY k LIMIT 5",
    "-SELECT id, k FROM t WHERE k=5 ORDER BY id LIMIT 5",
    /* Without an order rows are given at once */
    "-SELECT id, k FROM t WHERE k=5 AND n=3",
    "-SELECT DISTINCT n FROM t WHERE k=5 ORDER BY d LIMIT 5",
    "-SELECT id FROM t INDEXED BY tk WHERE k=5 ORDER BY n LIMIT 5",
    "-SELECT a FROM w WHERE b=5 ORDER BY c LIMIT 5",
    "-SELECT (SELECT id FROM t WHERE k=g.id ORDER BY n LIMIT 1) FROM g LIMIT 9",
    /* No rows, or none are wanted */
    "+SELECT id, s FROM t WHERE k=500 ORDER BY v DESC LIMIT 5",
    "?SELECT id, s FROM t WHERE k=NULL ORDER BY v DESC LIMIT 5",
    "?SELECT id, s FROM t WHERE k=5 ORDER BY v DESC LIMIT -1",
    "?SELECT id, s FROM t WHERE k=5 ORDER BY v DESC LIMIT 0",
    0
  };
  int i;
  begin("PRAGMA hp_offload=force");
  for(i=0; az[i]; i++){
    if( az[i][1]=='I' ) both(&az[i][1]);
    else same(az[i]);
  }
  end("rows");
}

/* A function of the application writes to other rows than the one that it is called for, ... */
static void touch(sqlite3_context *p, int n, sqlite3_value **a){
  int i = sqlite3_value_int(a[0]);
  const char *zForm = i%2 ? "UPDATE t SET d=d||' x' WHERE id=%d" : "DELETE FROM t WHERE id=%d";
  char zSql[100];
  (void)n;
  snprintf(zSql, sizeof(zSql), zForm, i*7%1000+200);
  execute(sqlite3_context_db_handle(p), zSql);
  sqlite3_result_int(p, i);
}

/* ... and so does a collation, when it is called for the second time */
static int nCollate;

static int collate(void *p, int nA, const void *a, int nB, const void *b){
  int c = memcmp(a, b, nA<nB ? nA : nB);
  if( ++nCollate==2 ) execute((sqlite3*)p, "DELETE FROM t WHERE id%7=1; UPDATE t SET d=d||'a long text' WHERE id%3=1");
  return c ? c : nA-nB;
}

/* Nothing of the application's is called while SQLite's loop is led from row to row */
static void testWrites(void){
  static const char *const az[] = {
    "SELECT touch(id), d FROM t WHERE k=5 ORDER BY n DESC, d LIMIT 20",
    "SELECT id, d FROM t WHERE k BETWEEN 5 AND 9 AND n>2 ORDER BY n, touch(id) LIMIT 20",
    "SELECT id, d FROM t WHERE k=5 AND touch(id)>7 ORDER BY n LIMIT 20",
    "SELECT touch(id), d FROM t WHERE d>'2021' ORDER BY q DESC",
    "SELECT id, s='x' COLLATE mine, d FROM t WHERE k>60 ORDER BY n, d LIMIT 20",
    "SELECT id, min(s COLLATE mine, 'x'), d FROM t WHERE k>60 ORDER BY n, d LIMIT 20",
    "SELECT id, s IN ('a', 'b', 'c'), CASE s COLLATE mine WHEN 'x' THEN 1 END FROM t WHERE k>60 ORDER BY n, d LIMIT 20",
    "SELECT id, ''||id BETWEEN 'x' COLLATE mine AND 'y', d FROM t ORDER BY id%7 LIMIT 20",
    "SELECT DISTINCT s='x' COLLATE mine, n FROM t",
  };
  unsigned i;
  int k;
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    Text a[2] = {{0,0,0}, {0,0,0}};
    for(k=0; k<2; k++){
      begin(k ? "PRAGMA hp_offload=force" : "PRAGMA hp_offload=off");
      sqlite3_create_function(adb[0], "touch", 1, SQLITE_UTF8, 0, touch, 0, 0);
      nCollate = 0;
      sqlite3_create_collation(adb[0], "mine", SQLITE_UTF8, adb[0], collate);
      check(!isTaken(adb[0], az[i]), "taken over: %s", az[i]);
      answer(&ours, adb[0], az[i], &a[k]);
      answer(&ours, adb[0], "SELECT count(*), sum(length(d)) FROM t", &a[k]);
      end("writes");
    }
    check(a[0].n==a[1].n && memcmp(a[0].z, a[1].z, a[0].n)==0, "%s\n off   %.300s\n force %.300s", az[i],
          a[0].z, a[1].z);
    textClear(&a[0]);
    textClear(&a[1]);
  }
}

/* An index that lacks entries of the rows that are found: they are not given, as SQLite does not see them */
static void testLacks(void){
  begin("PRAGMA hp_offload=force");
  both("DROP INDEX tk; CREATE INDEX tk ON t(k) WHERE v>170; PRAGMA writable_schema=on;"
       "UPDATE sqlite_schema SET sql='CREATE INDEX tk ON t(k)' WHERE name='tk'; PRAGMA writable_schema=reset");
  same("<SELECT id, k FROM t WHERE k=5 ORDER BY v LIMIT 3");
  same("<SELECT id, k FROM t WHERE k=5 ORDER BY v LIMIT 1");
  same("+SELECT id, k FROM t WHERE k=5 ORDER BY v DESC LIMIT 3");
  end("lacks");
}

static void mine(sqlite3_context *p, int n, sqlite3_value **a){
  sqlite3_result_int(p, n*sqlite3_value_int(a[0]));
}

/* What is scanned, and what is not */
static void testWays(void){
  static const char *const az[] = {
    "+SELECT n, count(*) FROM t WHERE k=5 GROUP BY n",
    "+SELECT n, count(*) FROM t WHERE k IN (5,6) GROUP BY n",
    "+SELECT k, count(*), sum(n) FROM t WHERE k BETWEEN 5 AND 9 GROUP BY k ORDER BY k DESC",
    "+SELECT n, sum(p) FROM t WHERE s='a7' GROUP BY n",
    "+SELECT n, sum(p) FROM t WHERE x=7 GROUP BY n",
    "+SELECT count(*), sum(v) FROM t WHERE p=40",
    "+SELECT name, count(*) FROM t JOIN g ON g.id=n WHERE k BETWEEN 5 AND 9 GROUP BY name",
    "+SELECT near, count(*) FROM t WHERE n>2 GROUP BY near",
    "+SELECT near, n, count(*) FROM t WHERE p>2 GROUP BY near, n",
    /* All columns of the index have one value: rows come by rowid either way */
    "+SELECT n, group_concat(id), x, max(v) FROM t WHERE k=5 GROUP BY n",
    /* Elsewhere the order of rows shows */
    "-SELECT n, group_concat(id) FROM t WHERE k IN (5,6) GROUP BY n",
    "-SELECT n, x FROM t WHERE k IN (5,6) GROUP BY n",
    "-SELECT x, count(*) FROM t WHERE k IN (5,6) GROUP BY x",
    "-SELECT s, count(*) FROM t WHERE k IN (5,6) GROUP BY s",
    "<SELECT sum(big) FROM t WHERE k IN (95,96)",
    "?SELECT sum(CASE k WHEN 5 THEN 1e30 WHEN 6 THEN -1e30 ELSE v*0.1 END) FROM t WHERE k IN (5,6,7)",
    /* Groups come as SQLite reads them, so it may stop */
    "-SELECT k, sum(n) FROM t WHERE k>5 GROUP BY k LIMIT 2",
    /* The application wants this index, or its functions are called */
    "-SELECT n, count(*) FROM t INDEXED BY tk WHERE k=5 GROUP BY n",
    "-SELECT n, count(*) FROM t WHERE k=5 AND mine(n) GROUP BY n",
    "-SELECT n, count(*) FROM t WHERE k IN (5,6) AND mine(n) GROUP BY n",
    /* No rowids */
    "-SELECT c, sum(a) FROM w WHERE b=5 GROUP BY c",
    /* What may fail is not asked of rows that the search does not find: k=96 overflows */
    "+SELECT sum(abs(big)) FROM t WHERE k=5",
    "+SELECT n, sum(id) FROM t WHERE abs(big)>7 AND k BETWEEN 5 AND 9 GROUP BY n",
    /* SQLite tests terms on what the index has before others, so they may fail where a scan would not */
    "-SELECT count(*) FROM t WHERE q=1 AND n>100 AND abs(big)>7",
    "-SELECT q, count(*) FROM t WHERE n>100 AND abs(big)>7 GROUP BY q",
    "-SELECT q, n, count(*) FROM t WHERE n>100 AND abs(big)>7 GROUP BY q, n",
    "-SELECT name, count(*) FROM t JOIN g ON g.id=n WHERE q IN (1,2) AND d>'9' AND abs(big)>7 GROUP BY name",
    "+SELECT count(*) FROM t WHERE q=1 AND n>100 AND big>7 AND abs(n)>7",
    "?SELECT sum(abs(big)) FROM t WHERE k=96",
    "?SELECT n, max(abs(big)) FROM t WHERE abs(big)>7 AND k>90 GROUP BY n",
    0
  };
  int i;
  begin("PRAGMA hp_offload=force");
  sqlite3_create_function(adb[0], "mine", 1, SQLITE_UTF8|SQLITE_DETERMINISTIC, 0, mine, 0, 0);
  for(i=0; az[i]; i++){
    if( strstr(az[i], "mine(") ) check(!isTaken(adb[0], &az[i][1]), "%s", az[i]);
    else same(az[i]);
  }
  end("ways");
}

/* The same statement with a value after the other: does ours run?  zWays has a character for each */
static void tryValues(const char *zSql, const int *aValue, const char *zWays){
  sqlite3_stmt *pStmt = prepared(adb[0], zSql);
  int i;
  for(i=0; zWays[i]; i++){
    sqlite3_int64 nRun = counted(adb[0], "run");
    sqlite3_bind_int(pStmt, 1, aValue[i]);
    while( sqlite3_step(pStmt)==SQLITE_ROW ){}
    check(sqlite3_reset(pStmt)==SQLITE_OK, "%s", zSql);
    nRun = counted(adb[0], "run") - nRun;
    check(nRun==(zWays[i]=='+'), "value %d, %d: run %lld times: %s", i, aValue[i], nRun, zSql);
  }
  sqlite3_finalize(pStmt);
}

/* One worker: so the costs are the same on all machines */
static void testGate(void){
  static const char *const az[] = {
    /* Most rows are looked up, or next to none */
    "+SELECT n, count(*) FROM t WHERE k>20 GROUP BY n",
    "<SELECT n, count(*) FROM t WHERE k=5 GROUP BY n",
    "-SELECT n, count(*) FROM t WHERE k=-5 GROUP BY n",
    "<SELECT n, count(*) FROM t WHERE k IN (1,2,3,4,5,6,7,8,9,10) GROUP BY n",
    "<SELECT n, count(*) FROM t WHERE k IN (1,2) GROUP BY n",
    /* Rows: many are looked up for few, or for so many that we would have to do that, too */
    "+SELECT id, n FROM t WHERE k>20 ORDER BY v LIMIT 5",
    "<SELECT id, n FROM t WHERE k=5 ORDER BY v LIMIT 5",
    "-SELECT id, n FROM t WHERE k=-5 ORDER BY v LIMIT 5",
    "<SELECT id, n FROM t WHERE k<5 ORDER BY v LIMIT 5000",
    /* What the index has may tell SQLite that rows need not be looked up */
    "<SELECT p, count(*), sum(v) FROM t WHERE x>'w3' AND n>7 GROUP BY p",
    "+SELECT p, count(*), sum(v) FROM t WHERE x>'w3' AND q>1 GROUP BY p",
    "?SELECT id, p FROM t WHERE x>'w3' ORDER BY n, id LIMIT 5",
    "+SELECT id, p FROM t WHERE x>'w3' ORDER BY n, v LIMIT 5",
    /* So many rows are found beside each other as quickly as by a scan, but not if they lie far apart */
    "+SELECT n, count(*) FROM t WHERE k<25 GROUP BY n",
    "<SELECT n, count(*) FROM t WHERE near<200 GROUP BY n",
    "+SELECT n, count(*) FROM t WHERE near>700 GROUP BY n",
    0
  };
  static const int aFew[] = { 95, 95, 95, 95, 20, 20 };
  static const int aMany[] = { 1, 1, 1, 96, 1, 1, 96 };
  int i, k;
  begin("PRAGMA hp_offload=on; PRAGMA hp_threads=1; PRAGMA hp_columns=off");
  for(k=0; k<2; k++){
    /* First nothing is in SQLite's cache; then the literals can be looked up in it */
    for(i=0; az[i]; i++){
      if( k==0 ) pairSame(&az[i][1]);
      else same(az[i]);
    }
  }
  /* A parameter says nothing before it has a value: the first executions are SQLite's, unless they
  ** are long.  Then each value is looked at, and after one with few rows some are not. */
  tryValues("SELECT n, count(*) FROM t WHERE k>?1 GROUP BY n", aFew, "-----+");
  tryValues("SELECT n, count(*) FROM t WHERE k>?1 GROUP BY n", aMany, "-++-");
  /* With columns in memory a scan is so much quicker that fewer rows are worth it */
  execute(adb[0], "PRAGMA hp_columns=auto");
  for(i=0; i<5; i++) pairSame("SELECT n, count(*) FROM t WHERE k>20 GROUP BY n");
  same("+SELECT n, count(*) FROM t WHERE k IN (1,2,3,4,5,6,7,8,9,10) GROUP BY n");
  same("-SELECT n, count(*) FROM t WHERE k=-5 GROUP BY n");
  execute(adb[0], "PRAGMA hp_columns=off");
  /* Statistics that expect few rows */
  execute(adb[0], "ANALYZE; UPDATE sqlite_stat1 SET stat='40000 3' WHERE idx='tk'; ANALYZE sqlite_schema");
  check(!isTaken(adb[0], "SELECT n, count(*) FROM t WHERE k=5 GROUP BY n"), "statistics");
  end("gate");
}

/* SQLite does not count a search as a scan, and the sort that is saved counts as ever */
static void testCounters(void){
  sqlite3_stmt *pStmt;
  begin("PRAGMA hp_offload=force");
  pStmt = prepared(adb[0], "SELECT n, count(*) FROM t WHERE k>5 GROUP BY n");
  while( sqlite3_step(pStmt)==SQLITE_ROW ){}
  check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)==0
     && sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_SORT, 0)==1, "counters");
  sqlite3_finalize(pStmt);
  pStmt = prepared(adb[0], "SELECT n FROM t WHERE k>5 ORDER BY v LIMIT 5");
  while( sqlite3_step(pStmt)==SQLITE_ROW ){}
  check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)==0
     && sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_SORT, 0)==1, "counters of rows");
  sqlite3_finalize(pStmt);
  end("counters");
}

/* EXPLAIN QUERY PLAN names the index, and what may be done instead */
static void testExplain(void){
  static const char zSql[] = "EXPLAIN QUERY PLAN SELECT n, count(*) FROM t WHERE k>5 GROUP BY n";
  Text plan = {0,0,0};
  sqlite3_stmt *pStmt;
  begin("");
  pStmt = prepared(adb[0], zSql);
  while( sqlite3_step(pStmt)==SQLITE_ROW ) textAppend(&plan, "%s\n", sqlite3_column_text(pStmt, 3));
  sqlite3_finalize(pStmt);
  check(strcmp(plan.z, "SEARCH t USING INDEX tk (k>?) OR VECTORIZED SCAN\n"
                       "USE HASH TABLE FOR GROUP BY\n")==0, "%s", plan.z);
  plan.n = 0;
  pStmt = prepared(adb[0], "EXPLAIN QUERY PLAN SELECT n FROM t WHERE k>5 ORDER BY v LIMIT 2");
  while( sqlite3_step(pStmt)==SQLITE_ROW ) textAppend(&plan, "%s\n", sqlite3_column_text(pStmt, 3));
  sqlite3_finalize(pStmt);
  check(strcmp(plan.z, "SEARCH t USING INDEX tk (k>?) OR VECTORIZED SCAN\n"
                       "USE TEMP B-TREE FOR ORDER BY\n")==0, "%s", plan.z);
  textClear(&plan);
  end("EXPLAIN");
}

/* A damaged index may say anything of how much there is: the answer is that of the table, or SQLite
** says what is wrong */
static void testDamage(const char *zSql){
  Text right = {0,0,0};
  unsigned iRandom = 1;
  int iRoot, i, k;
  begin("PRAGMA hp_offload=on; PRAGMA hp_threads=1");
  iRoot = (int)integer(&ours, adb[0], "SELECT rootpage FROM sqlite_schema WHERE name='tk'");
  answer(&ours, adb[0], zSql, &right);
  for(i=0; i<200; i++){
    FILE *pFile = fopen(azFile[0], "r+b");
    unsigned char a[512], b[512];
    long iOfst = (iRoot-1)*512L;
    sqlite3 *db;
    Text got = {0,0,0};
    if( i%2 && pFile ){
      /* A page further down */
      fseek(pFile, iOfst+12+2*(i%4), SEEK_SET);
      k = fgetc(pFile);
      k = k*256 + fgetc(pFile);
      fseek(pFile, iOfst+k, SEEK_SET);
      for(k=0, iOfst=0; k<4; k++) iOfst = iOfst*256 + fgetc(pFile);
      iOfst = (iOfst-1)*512;
    }
    check(pFile && fseek(pFile, iOfst, SEEK_SET)==0 && fread(a, sizeof(a), 1, pFile)==1, "read");
    if( pFile==0 ) break;
    memcpy(b, a, sizeof(b));
    for(k=0; k<4; k++){
      iRandom = iRandom*1103515245+12345;
      b[(iRandom>>8)%(k ? 512 : 24)] = (unsigned char)(iRandom>>20);
    }
    fseek(pFile, iOfst, SEEK_SET);
    fwrite(b, sizeof(b), 1, pFile);
    fflush(pFile);
    db = openDb(&ours, azFile[0], 0);
    execute(db, "PRAGMA hp_threads=1");
    answer(&ours, db, zSql, &got);
    if( got.n==right.n && memcmp(got.z, right.z, right.n)==0 ){
      check(1, "%s", zSql);
    }else{
      Text off = {0,0,0};
      execute(db, "PRAGMA hp_offload=off");
      answer(&ours, db, zSql, &off);
      check(off.n==got.n && memcmp(off.z, got.z, off.n)==0, "damage %d:\n ours  %s\n stock %s\n right %s", i, got.z, off.z, right.z);
      textClear(&off);
    }
    textClear(&got);
    ours.close(db);
    fseek(pFile, iOfst, SEEK_SET);
    fwrite(a, sizeof(a), 1, pFile);
    fclose(pFile);
  }
  textClear(&right);
  end("damage");
}

int main(int argc, char **argv){
  stepClock();
  if( argc!=2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: search STOCK\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("search-ours.db");
  azFile[1] = temporaryFile("search-stock.db");
  testAnswers();
  testWays();
  testRows();
  testWrites();
  testLacks();
  testGate();
  testCounters();
  testExplain();
  testDamage("SELECT n, count(*) FROM t WHERE k BETWEEN 20 AND 60 GROUP BY n");
  testDamage("SELECT id, n FROM t WHERE k BETWEEN 20 AND 60 ORDER BY n LIMIT 20");
  return finish();
}
