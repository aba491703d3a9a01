/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** race STOCK [answers|seen|gate|bounded]: SQLite's loops begin, are given up, and ours finishes.
**
**    answers     With HPSQLITE_TEST=force,race=N, whatever is given up after N instructions
**                says what the library STOCK says.
**    seen        The same switches.  What others see of a statement that began again: nothing.
**                What must not begin again does not.
**    gate        Without switches: long joins are given up, short ones are not, without
**                statistics.  Parameters, and a statement that is run again.
**    bounded     With HPSQLITE_TEST=clock=steps, each instruction of SQLite's takes as long: searches and
**                joins that a scan is no better for are SQLite's to their end, in the first execution,
**                with literals as with parameters; what goes on for long is given up early.
*/
#include <stdio.h>
#include <stdlib.h>
#include "pair.h"

#define TAKEN "begun by SQLite's loops and taken from them"

/*
** Orders of customers, with lines, as shops have them: each key that refers to another table has an
** index, and there are no statistics.  Customer 7 has 3,000 orders, others have about 8.
*/
static const char zTables[] =
  "CREATE TABLE country(id INTEGER PRIMARY KEY, name TEXT);"
  "CREATE TABLE customer(id INTEGER PRIMARY KEY, country INTEGER, name TEXT);"
  "CREATE TABLE ord(id INTEGER PRIMARY KEY, customer INTEGER, day TEXT, state TEXT);"
  "CREATE TABLE line(id INTEGER PRIMARY KEY, ord INTEGER, n INTEGER, price REAL, item TEXT);"
  "INSERT INTO country VALUES(1,'A'),(2,'B'),(3,'C'),(4,NULL);"
  "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r WHERE i<1000)"
  " INSERT INTO customer SELECT i, i%4+1, 'c'||i%300 FROM r;"
  "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r WHERE i<10000)"
  " INSERT INTO ord SELECT i, CASE WHEN i<=3000 THEN 7 ELSE i*7919%1000+1 END,"
  "  date('2024-01-01', (i*17%700)||' days'), substr('ops', i%3+1, 1) FROM r;"
  "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r WHERE i<40000)"
  " INSERT INTO line SELECT i, i*31%10000+1, i%9, CASE i%50 WHEN 0 THEN NULL ELSE i*0.25 END, 'i'||i%77 FROM r;"
  "CREATE INDEX cc ON customer(country); CREATE INDEX oc ON ord(customer); CREATE INDEX od ON ord(day);"
  "CREATE INDEX lo ON line(ord); CREATE INDEX li ON line(item);";

static void begin(const char *zMore){
  pairTables(zTables, "");
  runOn(&ours, adb[0], zMore);
}

#define JOIN " FROM country k JOIN customer c ON c.country=k.id JOIN ord o ON o.customer=c.id" \
  " JOIN line l ON l.ord=o.id "

/* Whatever plan there is, it may begin with SQLite's loops */
static void testAnswers(void){
  static const char *const az[] = {
    "+SELECT count(*), sum(l.n), avg(price)" JOIN "WHERE k.name='B'",
    "+SELECT k.name, count(*), sum(l.n), total(price)" JOIN "GROUP BY k.name",
    "?SELECT c.name, count(DISTINCT o.day), max(price)" JOIN "WHERE o.state='p' GROUP BY c.name ORDER BY 2 DESC, 1",
    "+SELECT o.state, sum(price) AS s" JOIN "WHERE c.id>500 GROUP BY o.state HAVING count(*)>3 ORDER BY s LIMIT 2",
    "?SELECT count(*) FROM (SELECT c.id, count(*) AS n" JOIN "GROUP BY c.id) WHERE n>20",
    "?SELECT item, count(*), group_concat(n) FROM line WHERE n>3 GROUP BY item",
    "+SELECT item, count(*) FROM line GROUP BY item ORDER BY count(*) DESC LIMIT 5",
    "?SELECT ord, sum(n) FROM line GROUP BY ord ORDER BY ord DESC LIMIT 5",
    "+SELECT n, max(price), item FROM line GROUP BY n",
    "+SELECT count(*), sum(price), min(item) FROM line WHERE n=4",
    "+SELECT count(DISTINCT item), sum(DISTINCT n) FROM line",
    "+SELECT max(price), id FROM line WHERE n>2",
    "?SELECT c.id%10, count(o.id), sum(o.id) FROM customer c LEFT JOIN ord o ON o.customer=c.id GROUP BY 1",
    "?SELECT state, count(*) FROM ord WHERE id IN (SELECT ord FROM line WHERE n=3) GROUP BY state",
    "+SELECT state, count(*) FROM ord o WHERE EXISTS (SELECT 1 FROM line l WHERE l.ord=o.id AND l.n=3) GROUP BY 1",
    "+SELECT state, count(*) FROM ord WHERE customer>(SELECT avg(customer) FROM ord) GROUP BY state",
    "+SELECT x, count(*) FROM (SELECT n AS x FROM line UNION ALL SELECT customer FROM ord) GROUP BY x",
    "+WITH t AS MATERIALIZED (SELECT ord, sum(n) AS s FROM line GROUP BY ord)"
      " SELECT a.s, count(*) FROM t a JOIN t b ON a.ord=b.ord GROUP BY a.s",
    "+SELECT state, n, rank() OVER (ORDER BY n) FROM (SELECT state, count(*) AS n FROM ord GROUP BY state)",
    "+SELECT * FROM (SELECT n, sum(price) AS s FROM line GROUP BY n) JOIN country ON id=n",
    "+SELECT abs(-9223372036854775807-(n>100)), count(*) FROM line GROUP BY 1",
    "+SELECT sum(9223372036854775807-n) FROM line",
    "?SELECT id, (SELECT sum(l.n) FROM ord o JOIN line l ON l.ord=o.id WHERE o.customer=c.id) FROM customer c",
    "?SELECT id, (SELECT count(*) FROM line WHERE n=c.id) FROM customer c WHERE id<20",
  };
  unsigned i;
  int k;
  begin("");
  for(k=0; k<2; k++){
    for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
      sqlite3_int64 nTaken = counted(adb[0], TAKEN);
      pairSame(&az[i][1]);
      nTaken = counted(adb[0], TAKEN) - nTaken;
      /* '?': it has no plan, because of the order of rows, or has none with some statistics */
      if( az[i][0]=='+' ) check(nTaken>0, "not given up: %s", &az[i][1]);
    }
    both("ANALYZE");
  }
  end("answers");
}

static int nCall, nTrace, nProfile, nRow;
static void called(sqlite3_context *p, int n, sqlite3_value **a){
  nCall += n;
  sqlite3_result_value(p, a[0]);
}
static int traced(unsigned eType, void *pArg, void *p, void *x){
  (void)pArg, (void)p, (void)x;
  if( eType==SQLITE_TRACE_STMT ) nTrace++;
  if( eType==SQLITE_TRACE_PROFILE ) nProfile++;
  if( eType==SQLITE_TRACE_ROW ) nRow++;
  return 0;
}

/* Another connection writes when the progress handler is called for the first time */
static sqlite3 *pOther;
static int nProgress;
static int writes(void *pArg){
  (void)pArg;
  if( nProgress++==0 ) execute(pOther, "UPDATE line SET n=n+1 WHERE id%100=0; DELETE FROM line WHERE id>39000");
  return 0;
}
static int stops(void *pArg){
  return ++nProgress>=*(int*)pArg;
}

/* All rows of pStmt, from the beginning */
static void rows(sqlite3_stmt *pStmt, Text *pOut){
  textClear(pOut);
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    textAppend(pOut, "%s %lld %lld\n", sqlite3_column_text(pStmt, 0), sqlite3_column_int64(pStmt, 1),
               sqlite3_column_int64(pStmt, 2));
  }
  check(sqlite3_reset(pStmt)==SQLITE_OK, "%s", sqlite3_errmsg(sqlite3_db_handle(pStmt)));
}

/* The same in this order of loops */
#define LOOPS " FROM country k CROSS JOIN customer c ON c.country=k.id CROSS JOIN ord o ON o.customer=c.id" \
  " CROSS JOIN line l ON l.ord=o.id "
static const char zLong[] = "SELECT k.name, count(*), sum(l.n)" LOOPS "GROUP BY k.name";

static void testSeen(void){
  /* What they do cannot be done twice: nothing is given up */
  static const char *const azOnce[] = {
    "SELECT called(name), (SELECT sum(n) FROM line) FROM country",
    "SELECT sum(called(n)) FROM line",
    "INSERT INTO copy SELECT state, count(*) FROM ord GROUP BY state",
    "CREATE TABLE copy2 AS SELECT k.name, sum(l.n) AS s" JOIN "GROUP BY 1",
    "SELECT value, (SELECT sum(n) FROM line) FROM json_each('[1,2,3]')",
    "SELECT id, (SELECT sum(n) FROM line WHERE n>c.id) FROM country c WHERE id>1",
  };
  static const int aStop[] = { 1, 2, 3, 10, 50 };
  Text a = {0,0,0}, b = {0,0,0};
  sqlite3_int64 nTaken;
  sqlite3_stmt *pStmt;
  unsigned i;
  begin("");
  sqlite3_create_function(adb[0], "called", 1, SQLITE_UTF8, 0, called, 0, 0);
  execute(adb[0], "CREATE TABLE copy(a, b)");
  for(i=0; i<sizeof(azOnce)/sizeof(azOnce[0]); i++){
    nTaken = counted(adb[0], TAKEN);
    nCall = 0;
    execute(adb[0], azOnce[i]);
    check(counted(adb[0], TAKEN)==nTaken || i==5, "given up: %s", azOnce[i]);
    if( i<2 ) check(nCall==(i ? 40000 : 4), "called %d times: %s", nCall, azOnce[i]);
  }

  /* Traces tell of one statement */
  nTaken = counted(adb[0], TAKEN);
  pStmt = prepared(adb[0], zLong);
  sqlite3_trace_v2(adb[0], SQLITE_TRACE_STMT|SQLITE_TRACE_ROW|SQLITE_TRACE_PROFILE, traced, 0);
  while( sqlite3_step(pStmt)==SQLITE_ROW ){}
  sqlite3_reset(pStmt);
  sqlite3_trace_v2(adb[0], 0, 0, 0);
  check(nTrace==1 && nProfile==1 && nRow==4, "traced %d, profiled %d, %d rows", nTrace, nProfile, nRow);
  check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_RUN, 0)==1
     && sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_REPREPARE, 0)==0, "status");
  sqlite3_finalize(pStmt);
  check(counted(adb[0], TAKEN)==nTaken+1, "traced: not given up");

  /* An interrupt comes in SQLite's loops or in ours */
  for(i=0; i<sizeof(aStop)/sizeof(aStop[0]); i++){
    int rc;
    nProgress = 0;
    sqlite3_progress_handler(adb[0], 10, stops, (void*)&aStop[i]);
    pStmt = prepared(adb[0], zLong);
    rc = sqlite3_step(pStmt);
    sqlite3_progress_handler(adb[0], 0, 0, 0);
    check(rc==SQLITE_INTERRUPT && sqlite3_finalize(pStmt)==SQLITE_INTERRUPT, "stop %d: %d", aStop[i], rc);
  }
  check(sqlite3_get_autocommit(adb[0])==1, "in a transaction");

  /* All is read in the state in which it began, though another connection commits meanwhile */
  execute(adb[0], "PRAGMA journal_mode=WAL");
  pOther = openDb(&ours, azFile[0], 0);
  pStmt = prepared(adb[0], zLong);
  rows(pStmt, &a);
  nProgress = 0;
  nTaken = counted(adb[0], TAKEN);
  sqlite3_progress_handler(adb[0], 5, writes, 0);
  rows(pStmt, &b);
  sqlite3_progress_handler(adb[0], 0, 0, 0);
  check(counted(adb[0], TAKEN)==nTaken+1 && nProgress>0, "written: not given up");
  check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "another state\n before %s\n got %s", a.z, b.z);
  rows(pStmt, &b);
  check(a.n!=b.n || memcmp(a.z, b.z, a.n)!=0, "nothing was written");
  sqlite3_finalize(pStmt);
  textClear(&a);
  textClear(&b);
  ours.close(pOther);

  /* In a transaction with changes of its own */
  execute(adb[0], "BEGIN; DELETE FROM line WHERE id%2; SAVEPOINT s");
  check(integer(&ours, adb[0], "SELECT count(*)" JOIN)
        ==integer(&ours, adb[0], "SELECT count(*) FROM line WHERE +id>=0 AND ord>0"), "own changes");
  execute(adb[0], "ROLLBACK TO s; COMMIT");
  end("seen");
}

/* Run pStmt with k, which may be 0 to bind nothing; 1 if it was taken from SQLite's loops */
static int taken(sqlite3_stmt *pStmt, int k){
  sqlite3_int64 nTaken = counted(adb[0], TAKEN);
  if( k ) sqlite3_bind_int(pStmt, 1, k);
  while( sqlite3_step(pStmt)==SQLITE_ROW ){}
  sqlite3_reset(pStmt);
  return (int)(counted(adb[0], TAKEN) - nTaken);
}

/* A statement that has no plan at first, and that takes long */
static sqlite3_stmt *ranged(void){
  sqlite3_stmt *pStmt = prepared(adb[0],
      "SELECT n, count(*), total(price) FROM line WHERE ord BETWEEN ?1 AND ?2 GROUP BY n");
  sqlite3_bind_int(pStmt, 1, 1);
  sqlite3_bind_int(pStmt, 2, 9990);
  return pStmt;
}

/* Statements that have no plan at first, as few rows are expected, are prepared again in the midst of a
** long execution.  Nobody sees more of that than that they have been */
static void testPrepared(void){
  static const char zEach[] = "SELECT c.name, (SELECT sum(l.n) FROM line l WHERE l.ord=c.id) AS s FROM customer c,"
    " country k, country k2 WHERE k.id<=?1 ORDER BY s DESC, 1 LIMIT 3";
  Text a = {0,0,0}, b = {0,0,0};
  sqlite3_stmt *pStmt, *pOpen;
  sqlite3_int64 nRun;
  int k;
  for(k=0; k<4; k++){
    /* Alone, in a transaction, beside a statement that is open, traced */
    pStmt = ranged();
    pOpen = prepared(adb[0], "SELECT id FROM country");
    if( k==1 ) execute(adb[0], "BEGIN; UPDATE country SET name='X' WHERE id=1");
    if( k==2 ) check(sqlite3_step(pOpen)==SQLITE_ROW, "open");
    sqlite3_trace_v2(adb[0], k==3 ? SQLITE_TRACE_STMT|SQLITE_TRACE_ROW|SQLITE_TRACE_PROFILE : 0, traced, 0);
    nRun = counted(adb[0], "run");
    nTrace = nProfile = nRow = 0;
    rows(pStmt, &b);
    sqlite3_trace_v2(adb[0], 0, 0, 0);
    check(k<3 || (nTrace==1 && nProfile==1 && nRow==9), "traced %d, profiled %d, %d rows", nTrace, nProfile, nRow);
    check(counted(adb[0], "run")==nRun+1, "%d: not prepared again", k);
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_REPREPARE, 0)==1
       && sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_RUN, 0)==1, "%d: counters", k);
    if( k==0 ) textAppend(&a, "%s", b.z);
    check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%d: got %s, and before %s", k, b.z, a.z);
    if( k==2 ) check(sqlite3_step(pOpen)==SQLITE_ROW && sqlite3_column_int(pOpen, 0)==2, "the open one");
    if( k==1 ) check(sqlite3_get_autocommit(adb[0])==0, "the transaction is over");
    if( k==1 ) execute(adb[0], "ROLLBACK");
    /* A short execution is SQLite's */
    sqlite3_bind_int(pStmt, 2, 1);
    rows(pStmt, &b);
    check(counted(adb[0], "run")==nRun+1, "%d: a short one is not SQLite's", k);
    sqlite3_finalize(pStmt);
    sqlite3_finalize(pOpen);
  }
  execute(adb[0], "PRAGMA hp_offload=off");
  pStmt = prepared(adb[0], "SELECT n, count(*), total(price) FROM line WHERE ord BETWEEN 1 AND 9990 GROUP BY n");
  rows(pStmt, &b);
  sqlite3_finalize(pStmt);
  check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "SQLite says %s, and ours %s", b.z, a.z);
  pStmt = prepared(adb[0], zEach);
  sqlite3_bind_int(pStmt, 1, 4);
  rows(pStmt, &a);
  sqlite3_finalize(pStmt);
  execute(adb[0], "PRAGMA hp_offload=on");

  /* A sub-select that searches an index for each row makes its groups at once, the second time too */
  pStmt = prepared(adb[0], zEach);
  sqlite3_bind_int(pStmt, 1, 4);
  for(k=0; k<2; k++){
    nRun = counted(adb[0], "run");
    rows(pStmt, &b);
    check(counted(adb[0], "run")==nRun+1, "%d: no groups are made", k);
    check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%d: got %s, not %s", k, b.z, a.z);
  }
  sqlite3_finalize(pStmt);

  /* Not if a row has been given */
  pStmt = prepared(adb[0], "SELECT c.id, (SELECT sum(l.n) FROM line l WHERE l.ord=c.id) AS s FROM customer c, country k");
  for(k=0; sqlite3_step(pStmt)==SQLITE_ROW; k++){}
  check(k==4000 && sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_REPREPARE, 0)==0, "prepared again after a row");
  sqlite3_finalize(pStmt);
  textClear(&a);
  textClear(&b);
}

/* Plans that run several times in one execution, and several plans in one.  Each of these once went
** on for ever, or took SQLite's code more time than there was, or crashed */
static void testTwice(void){
  static const char *const az[] = {
    /* The co-routine runs once for each country */
    "SELECT sum((SELECT max(s) FROM (SELECT k.name, sum(l.n) s" LOOPS "WHERE l.n>?1 GROUP BY 1) WHERE s>x.id)), 0, 0"
      " FROM country x",
    "SELECT sum((SELECT max(s) FROM (SELECT k.name, sum(l.n) s" LOOPS "WHERE l.n>2 GROUP BY 1) WHERE s>x.id)), 0, 0"
      " FROM country x",
    "SELECT count(*), sum(s), 0 FROM (SELECT sum(l.n) s" LOOPS "WHERE l.n>?1 UNION ALL SELECT sum(l.n)" LOOPS
      "WHERE l.n>?1+1 UNION ALL SELECT sum(l.n)" LOOPS "WHERE l.n>?1+2 UNION ALL SELECT count(*)" LOOPS
      "WHERE l.n>?1+3 UNION ALL SELECT max(l.n)" LOOPS "WHERE l.n>?1+4 UNION ALL SELECT max(l.price)" LOOPS
      "WHERE l.n>?1+5)",
  };
  Text a = {0,0,0}, b = {0,0,0};
  unsigned i;
  int k;
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    for(k=0; k<2; k++){
      sqlite3_int64 nTaken;
      sqlite3_stmt *pStmt;
      execute(adb[0], k ? "PRAGMA hp_offload=on" : "PRAGMA hp_offload=off");
      pStmt = prepared(adb[0], az[i]);
      if( sqlite3_bind_parameter_count(pStmt) ) sqlite3_bind_int(pStmt, 1, 2);
      nTaken = counted(adb[0], TAKEN);
      rows(pStmt, k ? &b : &a);
      nTaken = counted(adb[0], TAKEN) - nTaken;
      check(nTaken<=4 && (k==0 || nTaken>0), "given up %lld times: %s", nTaken, az[i]);
      sqlite3_finalize(pStmt);
    }
    check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s\n got %s\n right %s", az[i], b.z, a.z);
  }
  /* More often in one execution than it is ours at once: it is given up in the first execution only */
  for(k=0; k<3; k++){
    sqlite3_int64 nTaken = counted(adb[0], TAKEN);
    integer(&ours, adb[0], "SELECT sum((SELECT max(s) FROM (SELECT k.name, sum(l.n) s" LOOPS "WHERE l.n>3 GROUP BY 1)"
            " WHERE s>x.id)) FROM (SELECT id FROM customer WHERE id<=20) x");
    check(counted(adb[0], TAKEN)-nTaken==(k==0), "execution %d", k);
  }
  textClear(&a);
  textClear(&b);

  /* Skip-scan, of a table without statistics whose partial index has some */
  execute(adb[0], "CREATE INDEX part ON ord(state, day, customer, id) WHERE id>0; ANALYZE part; ANALYZE sqlite_schema");
  integer(&ours, adb[0], "SELECT count(*) FROM ord o CROSS JOIN line l ON l.ord=o.id CROSS JOIN line l2 ON l2.ord=l.n"
    " CROSS JOIN line l3 ON l3.ord=l2.n WHERE o.day='2024-02-03' AND o.customer=5 AND o.id>0");
  execute(adb[0], "DROP INDEX part");
}

static int nWanted;
static int interrupts(void *pArg){
  if( ++nProgress==nWanted ) sqlite3_interrupt((sqlite3*)pArg);
  return 0;
}

/* An interrupt is not forgotten while a statement is prepared again; and if it cannot be, it goes on as it is */
static void testAgain(void){
  sqlite3_stmt *pStmt;
  int i, rc, nOld;
  for(i=1; i<8; i++){
    nWanted = i;
    nProgress = 0;
    pStmt = ranged();
    sqlite3_progress_handler(adb[0], 100000, interrupts, adb[0]);
    rc = sqlite3_step(pStmt);
    sqlite3_progress_handler(adb[0], 0, 0, 0);
    check(nProgress<i || rc==SQLITE_INTERRUPT, "interrupt %d is forgotten: %d", i, rc);
    sqlite3_finalize(pStmt);
  }
  /* A handler that stops it just then; what comes after is not interrupted */
  for(i=495; i<505; i++){
    nProgress = 0;
    pStmt = ranged();
    sqlite3_progress_handler(adb[0], 1000, stops, &i);
    rc = sqlite3_step(pStmt);
    sqlite3_progress_handler(adb[0], 0, 0, 0);
    check(rc==SQLITE_INTERRUPT, "stop %d: %d", i, rc);
    sqlite3_interrupt(adb[0]);
    check(integer(&ours, adb[0], "SELECT 7")==7 && integer(&ours, adb[0], "SELECT 8")==8, "stop %d: for ever", i);
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_RUN, 0)==1, "stop %d: RUN", i);
    sqlite3_finalize(pStmt);
  }
  pStmt = ranged();
  nOld = sqlite3_limit(adb[0], SQLITE_LIMIT_SQL_LENGTH, 30);
  rc = sqlite3_step(pStmt);
  for(i=0; rc==SQLITE_ROW; i++) rc = sqlite3_step(pStmt);
  check(rc==SQLITE_DONE && i==9, "a limit that was lowered: %d, %d rows", rc, i);
  sqlite3_finalize(pStmt);
  sqlite3_limit(adb[0], SQLITE_LIMIT_SQL_LENGTH, nOld);
}

static void testGate(void){
  static const char zBig[] =
    "WITH RECURSIVE r(i) AS (SELECT 40001 UNION ALL SELECT i+1 FROM r WHERE i<300000)"
    " INSERT INTO line SELECT i, i*31%10000+1, i%9, i*0.25, 'i'||i%77 FROM r;";
  static const char *const azShort[] = {
    "SELECT count(*), sum(l.n)" LOOPS "WHERE k.id=2 AND o.day='2024-02-03'",
    "SELECT count(*), sum(l.n)" LOOPS "WHERE c.id BETWEEN 100 AND 103 AND k.id=2 AND o.day='2024-02-03'",
    "SELECT count(*), sum(l.n)" LOOPS "WHERE k.id=4 AND c.id=999",
  };
  Text a = {0,0,0}, b = {0,0,0};
  sqlite3_stmt *pStmt;
  sqlite3_int64 nRun;
  unsigned i;
  begin("PRAGMA hp_offload=on; PRAGMA hp_threads=1; BEGIN");
  execute(adb[0], zBig);
  execute(adb[0], "COMMIT");
  pStmt = prepared(adb[0], zLong);
  nRun = counted(adb[0], "run");
  check(taken(pStmt, 0)==1 && counted(adb[0], "run")==nRun+1, "a long join is not given up");
  check(taken(pStmt, 0)==0 && counted(adb[0], "run")==nRun+2, "it is given up again");
  sqlite3_finalize(pStmt);
  for(i=0; i<sizeof(azShort)/sizeof(azShort[0]); i++){
    pStmt = prepared(adb[0], azShort[i]);
    nRun = counted(adb[0], "run");
    check(taken(pStmt, 0)==0 && counted(adb[0], "run")==nRun, "a short join is given up: %s", azShort[i]);
    sqlite3_finalize(pStmt);
  }
  /* What parameters lead to is found out each time */
  pStmt = prepared(adb[0], "SELECT k.name, count(*), sum(l.n) FROM customer c CROSS JOIN country k ON c.country=k.id"
    " CROSS JOIN ord o ON o.customer=c.id CROSS JOIN line l ON l.ord=o.id WHERE c.id>?1 GROUP BY k.name");
  for(i=0; i<3; i++){
    check(taken(pStmt, 1)==1, "parameter: not given up");
    check(taken(pStmt, 1000)==0, "parameter: given up");
  }
  sqlite3_finalize(pStmt);
  answer(&ours, adb[0], zLong, &a);
  execute(adb[0], "PRAGMA hp_offload=off");
  answer(&ours, adb[0], zLong, &b);
  check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s\n got %s\n right %s", zLong, a.z, b.z);
  textClear(&a);
  textClear(&b);
  execute(adb[0], "PRAGMA hp_offload=on");

  testPrepared();

  /* A statement that was given up is ours at once for a while, also prepared anew, and then tried again */
  pStmt = prepared(adb[0], zLong);
  nRun = counted(adb[0], "run");
  for(i=0; i<13; i++) check(taken(pStmt, 0)==0 && counted(adb[0], "run")==nRun+1+i, "prepared anew: given up");
  check(taken(pStmt, 0)==1, "it is not tried again");
  sqlite3_finalize(pStmt);
  testTwice();
  testAgain();

  /* EXPLAIN QUERY PLAN says SQLite's loops, and what may come in their place */
  pStmt = prepared(adb[0], "EXPLAIN QUERY PLAN SELECT count(*)" LOOPS "WHERE k.id>1");
  while( sqlite3_step(pStmt)==SQLITE_ROW ) textAppend(&a, "%s\n", sqlite3_column_text(pStmt, 3));
  sqlite3_finalize(pStmt);
  check(strcmp(a.z, "SEARCH k USING INTEGER PRIMARY KEY (rowid>?) OR, IF LONG, VECTORIZED SCAN OF l\n"
    "SEARCH c USING COVERING INDEX cc (country=?)\n"
    "SEARCH o USING COVERING INDEX oc (customer=?)\n"
    "SEARCH l USING COVERING INDEX lo (ord=?)\n")==0, "%s", a.z);
  textClear(&a);
  end("gate");
}

/* One row in five has each a, scattered; b the same, side by side; one row in eight came back */
static const char zWide[] =
  "CREATE TABLE wide(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, g INTEGER, v REAL, pad TEXT);"
  "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM r WHERE i<20000)"
  " INSERT INTO wide SELECT i, i*7919%20000/4000, (i-1)/4000, i%7, i%100, hex(zeroblob(250)) FROM r;"
  "CREATE INDEX wa ON wide(a); CREATE INDEX wb ON wide(b, g);"
  "CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO kind VALUES(1,'A'),(2,'B'),(3,'C'),(4,'D');"
  "CREATE TABLE back(wide INTEGER PRIMARY KEY, kind INTEGER, n INTEGER);"
  "INSERT INTO back SELECT id, id*31%4+1, id%10 FROM wide WHERE id%8=0; CREATE INDEX bk ON back(kind);"
  "CREATE TABLE part(id INTEGER PRIMARY KEY, n INTEGER);"
  "INSERT INTO part SELECT id, id%5 FROM wide WHERE id<=1000;"
  "CREATE TABLE item(id INTEGER PRIMARY KEY, part INTEGER, n INTEGER, pad TEXT);"
  "INSERT INTO item SELECT id, id*7919%1000+1, id%9, substr(pad, 1, 90) FROM wide WHERE id<=10000;"
  "CREATE INDEX ip ON item(part);";

static void testBounded(void){
  static const struct { int nTaken; const char *z; } aCase[] = {
    /* 4,000 rows that are looked up take less than the scan of all pages, whatever the gate thinks */
    { 0, "SELECT g, count(*), sum(v) FROM wide WHERE a=3 GROUP BY g ORDER BY 2" },
    { 0, "SELECT g, count(*), sum(v) FROM wide WHERE b=3 GROUP BY g ORDER BY 2" },
    { 0, "SELECT id, v, g FROM wide WHERE a=2 ORDER BY v DESC LIMIT 5" },
    { 0, "SELECT id, v, g FROM wide WHERE a=2 ORDER BY v DESC" },
    { 0, "SELECT max(v), total(v) FROM wide WHERE a=?1" },
    { 0, "SELECT k.name, count(*), sum(v) FROM wide w JOIN kind k ON k.id=w.g WHERE w.a=3 GROUP BY 1" },
    /* What SQLite begins at a small table */
    { 0, "SELECT g, sum(v-n) FROM kind k CROSS JOIN back b ON b.kind=k.id CROSS JOIN wide w ON w.id=b.wide"
         " WHERE k.name='C' GROUP BY g" },
    /* Sub-selects, when little is left */
    { 0, "SELECT id, (SELECT count(*) FROM item WHERE item.part=part.id) AS c,"
         " (SELECT max(n) FROM item WHERE item.part=part.id) FROM part ORDER BY c DESC, 1 LIMIT 3" },
    /* Each row takes long: seen after a part of them */
#define LONG "(g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v+g+v)"
    { 1, "SELECT g, count(*), sum(v) FROM wide WHERE a=3 AND " LONG "*2+" LONG "*3+" LONG "*5>0 GROUP BY g ORDER BY 2" },
    { 1, "SELECT id, v, g FROM wide WHERE a=2 AND " LONG "*2+" LONG "*3+" LONG "*5>0 ORDER BY v DESC, id LIMIT 5" },
  };
  int k;
  unsigned i;
  for(k=0; k<2; k++){
    removeDb(azFile[k]);
    adb[k] = openDb(apLib[k], azFile[k], 0);
  }
  both("PRAGMA synchronous=OFF; BEGIN");
  both(zWide);
  both("COMMIT");
  for(k=0; k<2; k++){
    for(i=0; i<sizeof(aCase)/sizeof(aCase[0]); i++){
      sqlite3 *db = openDb(&ours, azFile[0], 0);
      sqlite3_int64 nRun, nTaken;
      sqlite3_stmt *pStmt;
      execute(db, "PRAGMA hp_offload=on; PRAGMA hp_threads=1");
      nRun = counted(db, "run");
      nTaken = counted(db, TAKEN);
      pStmt = prepared(db, aCase[i].z);
      if( sqlite3_bind_parameter_count(pStmt) ) sqlite3_bind_int(pStmt, 1, 3);
      while( sqlite3_step(pStmt)==SQLITE_ROW ){}
      sqlite3_finalize(pStmt);
      nRun = counted(db, "run") - nRun;
      nTaken = counted(db, TAKEN) - nTaken;
      check(nRun==aCase[i].nTaken && nTaken==aCase[i].nTaken, "run %lld times, %lld of them late: %s", nRun, nTaken,
            aCase[i].z);
      ours.close(db);
    }
    both("ANALYZE");
  }
  end("bounded");
}

int main(int argc, char **argv){
  const char *zOnly = argc>2 ? argv[2] : "";
  if( argc<2 || argc>3 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: race STOCK [answers|seen|gate|bounded]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("race-ours.db");
  azFile[1] = temporaryFile("race-stock.db");
  if( strcmp(zOnly, "seen")==0 ) testSeen();
  else if( strcmp(zOnly, "gate")==0 ) testGate();
  else if( strcmp(zOnly, "bounded")==0 ) testBounded();
  else testAnswers();
  return finish();
}
