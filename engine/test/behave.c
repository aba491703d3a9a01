/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What an application sees around a query that is taken over must be what it
** sees around any other: interrupts, the progress handler, the authorizer,
** traces, statement counters, reset in the middle, nested statements, changes
** of the table and of the schema meanwhile, rollbacks, tables that grow, locks
** of a shared cache, a heap limit, connections in several threads.  One function
** a subject.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "hptest.h"

static const char *zFile;          /* A database with the tables of azQuery */
static const char zLong[] =        /* Takes a while on the database of main() */
  "SELECT c, a, count(*), sum(b*2+a), min(b), max(b) FROM big"
  " WHERE b>1 OR a<5 GROUP BY c, a";

/* The answer to zSql with the offload off, for comparison */
static void answerOff(sqlite3 *db, const char *zSql, Text *p){
  execute(db, "PRAGMA hp_offload=off");
  answer(&ours, db, zSql, p);
  execute(db, "PRAGMA hp_offload=force");
}

/* All queries: the same with the offload forced and off */
static void testAnswers(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int i;
  for(i=0; i<nQuery; i++){
    Text a = {0,0,0}, b = {0,0,0};
    answer(&ours, db, azQuery[i], &a);
    answerOff(db, azQuery[i], &b);
    check(strcmp(a.z, b.z)==0, "%s differs from stock's code", azQuery[i]);
    textClear(&a);
    textClear(&b);
  }
  sqlite3_close(db);
}

static void *interruptLater(void *pDb){
  usleep(3000);
  sqlite3_interrupt((sqlite3*)pDb);
  return 0;
}

static void *interruptNow(void *pDb){
  usleep(100);
  sqlite3_interrupt((sqlite3*)pDb);
  return 0;
}

/* Processor time: what else the machine does takes none of it */
static double now(void){
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec*1e-9;
}

/* sqlite3_interrupt() from another thread, and before the first step */
static void testInterrupt(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  Text a = {0,0,0}, b = {0,0,0}, c = {0,0,0};
  int i, nInterrupted = 0;
  answer(&ours, db, zLong, &a);
  for(i=0; i<10; i++){
    pthread_t thread;
    double t;
    int rc;
    textClear(&b);
    pthread_create(&thread, 0, interruptLater, db);
    t = now();
    rc = answer(&ours, db, zLong, &b);
    t = now() - t;
    pthread_join(thread, 0);
    nInterrupted += rc==SQLITE_INTERRUPT;
    check(rc==SQLITE_INTERRUPT || (rc==SQLITE_OK && strcmp(a.z, b.z)==0),
          "interrupted query: %d", rc);
    check(rc!=SQLITE_INTERRUPT || t<2.0, "an interrupt took %f s", t);
  }
  check(nInterrupted>0, "no query was interrupted");
  answer(&ours, db, zLong, &c);
  check(strcmp(a.z, c.z)==0, "after interrupts the answer is another one");
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left after interrupts");
  textClear(&a);
  textClear(&b);
  textClear(&c);
}

/*
** A count(*) long enough to be interrupted: counting notices after each run
** of leaves.
*/
static void testInterruptCount(void){
  const char *zCount = temporaryFile("behave-count.db");
  sqlite3 *db = openDb(&ours, zCount, 0);
  const sqlite3_int64 nRow = 300000;
  int i, nInterrupted = 0;
  execute(db, "PRAGMA page_size=512; PRAGMA synchronous=off");
  execute(db, "CREATE TABLE c AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
              " SELECT i+1 FROM n WHERE i<300000) SELECT i, 'some text' FROM n");
  execute(db, "PRAGMA cache_size=10");
  check(integer(&ours, db, "SELECT count(*) FROM c")==nRow, "count(*) is wrong");
  for(i=0; i<200 && nInterrupted<3; i++){
    sqlite3_stmt *pStmt = prepared(db, "SELECT count(*) FROM c");
    pthread_t thread;
    double t;
    int rc;
    pthread_create(&thread, 0, interruptNow, db);
    t = now();
    rc = sqlite3_step(pStmt);
    t = now() - t;
    pthread_join(thread, 0);
    nInterrupted += rc==SQLITE_INTERRUPT;
    check(rc==SQLITE_INTERRUPT
          || (rc==SQLITE_ROW && sqlite3_column_int64(pStmt, 0)==nRow),
          "interrupted count(*): %d", rc);
    check(t<2.0, "an interrupted count(*) took %f s", t);
    sqlite3_finalize(pStmt);
  }
  check(nInterrupted==3, "count(*) was interrupted %d times", nInterrupted);
  check(integer(&ours, db, "SELECT count(*) FROM c")==nRow,
        "count(*) is wrong after interrupts");
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left after count(*)");
  removeDb(zCount);
}

/*
** Statements prepared while their tables are small: when the tables have grown
** they are prepared again, but those of sqlite3_prepare() stay as they are.
*/
static void testGrown(void){
  static const struct { const char *zSql; sqlite3_int64 iSmall, iLarge; } a[] = {
    { "SELECT sum(b) FROM g", 45, 20000100000 },
    { "SELECT count(*) FROM (SELECT b%10 FROM g GROUP BY 1)", 10, 10 },
    { "SELECT count(*) FROM (SELECT DISTINCT b%7 FROM g)", 7, 7 },
    { "SELECT b FROM g ORDER BY b DESC LIMIT 1", 9, 200000 },
    { "SELECT b FROM g ORDER BY b DESC", 9, 200000 },
  };
  const int n = sizeof(a)/sizeof(a[0]);
  sqlite3_stmt *apStmt[2][8];
  sqlite3 *db = openDb(&ours, ":memory:", 0);
  int i, k, iRun;
  execute(db, "PRAGMA hp_offload=on");
  execute(db, "CREATE TABLE g(a INTEGER PRIMARY KEY, b)");
  execute(db, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n"
              " WHERE i<9) INSERT INTO g SELECT NULL, i FROM n");
  for(i=0; i<n; i++){
    apStmt[0][i] = prepared(db, a[i].zSql);
    sqlite3_prepare(db, a[i].zSql, -1, &apStmt[1][i], 0);
  }
  check(counted(db, "taken over")==0, "a query of a small table is taken over");
  for(iRun=0; iRun<6; iRun++){
    sqlite3_int64 nBefore = counted(db, "run");
    if( iRun==2 ){
      execute(db, "DELETE FROM g; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
                  " SELECT i+1 FROM n WHERE i<200000)"
                  " INSERT INTO g SELECT i, i FROM n");
    }
    for(k=0; k<2; k++){
      for(i=0; i<n; i++){
        sqlite3_int64 iWant = iRun<2 ? a[i].iSmall : a[i].iLarge;
        int rc = sqlite3_step(apStmt[k][i]);
        check(rc==SQLITE_ROW && sqlite3_column_int64(apStmt[k][i],0)==iWant,
              "run %d of %s is wrong: %d", iRun, a[i].zSql, rc);
        while( rc==SQLITE_ROW ) rc = sqlite3_step(apStmt[k][i]);
        check(sqlite3_reset(apStmt[k][i])==SQLITE_OK && rc==SQLITE_DONE,
              "run %d of %s ends with %d", iRun, a[i].zSql, rc);
      }
    }
    if( iRun<3 ){
      check(counted(db, "run")==nBefore, "run %d is not SQLite's", iRun);
    }else{
      check(counted(db, "run")==nBefore+n, "run %d is SQLite's: %d of %d taken",
            iRun, (int)(counted(db, "run")-nBefore), n);
    }
  }
  for(i=0; i<n; i++){
    k = sqlite3_stmt_status(apStmt[0][i], SQLITE_STMTSTATUS_REPREPARE, 0);
    check(k==1, "prepared again %d times: %s", k, a[i].zSql);
    sqlite3_finalize(apStmt[0][i]);
    sqlite3_finalize(apStmt[1][i]);
  }
  /* A range that is large, and one that is small, between parameters */
  apStmt[0][0] = prepared(db, "SELECT sum(b) FROM g WHERE a BETWEEN ? AND ?");
  for(iRun=0; iRun<4; iRun++){
    sqlite3_int64 nBefore = counted(db, "run");
    sqlite3_bind_int(apStmt[0][0], 1, 1);
    sqlite3_bind_int(apStmt[0][0], 2, 150000);
    sqlite3_step(apStmt[0][0]);
    check(sqlite3_column_int64(apStmt[0][0], 0)==11250075000,
          "run %d of a large range is wrong", iRun);
    sqlite3_reset(apStmt[0][0]);
    /* When the first one is known to be long, half of it is done */
    check(counted(db, "run")==nBefore+(iRun>0), "run %d of a large range", iRun);
  }
  sqlite3_finalize(apStmt[0][0]);
  apStmt[0][0] = prepared(db, "SELECT sum(b) FROM g WHERE a BETWEEN ? AND ?");
  iRun = (int)counted(db, "given back: small table");
  for(i=1; i<=30000; i++){
    sqlite3_bind_int(apStmt[0][0], 1, i);
    sqlite3_bind_int(apStmt[0][0], 2, i+9);
    sqlite3_step(apStmt[0][0]);
    if( sqlite3_column_int64(apStmt[0][0], 0)!=10*i+45 ){
      check(0, "run %d of a small range is wrong", i);
      break;
    }
    sqlite3_reset(apStmt[0][0]);
  }
  check(counted(db, "given back: small table")==iRun,
        "a small range is looked at when it runs");
  sqlite3_finalize(apStmt[0][0]);
  /* One that stays small is prepared again now and then, and stays right */
  execute(db, "DELETE FROM g WHERE a>10");
  apStmt[0][0] = prepared(db, "SELECT sum(b) FROM g WHERE b>=?");
  for(i=0; i<30000; i++){
    int iLeast = i%10 + 1;
    sqlite3_bind_int(apStmt[0][0], 1, iLeast);
    k = sqlite3_step(apStmt[0][0]);
    if( k!=SQLITE_ROW || sqlite3_column_int(apStmt[0][0], 0)
                           !=55-iLeast*(iLeast-1)/2 ){
      check(0, "run %d over a small table is wrong: %d", i, k);
      break;
    }
    sqlite3_reset(apStmt[0][0]);
  }
  k = sqlite3_stmt_status(apStmt[0][0], SQLITE_STMTSTATUS_REPREPARE, 0);
  check(k>=1 && k<10, "prepared again %d times in 30000 runs", k);
  sqlite3_finalize(apStmt[0][0]);
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left");
}

static int nProgress;              /* Calls of the progress handler */
static int iStop;                  /* The call that says stop */
static int progress(void *p){
  (void)p;
  return ++nProgress==iStop;
}

/* The progress handler is called while a query runs, and may stop it */
static void testProgress(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  Text a = {0,0,0}, b = {0,0,0};
  int nAll, i;
  /* Two workers; below one, so that each call comes after the same rows */
  execute(db, "PRAGMA hp_threads=2");
  iStop = 1;
  i = answer(&ours, db, zLong, &b);
  check(i==SQLITE_OK, "without a progress handler: %d", i);
  textClear(&b);
  sqlite3_progress_handler(db, 100, progress, 0);
  i = answer(&ours, db, zLong, &b);
  check(i==SQLITE_INTERRUPT, "the first call's stop gives %d", i);
  textClear(&b);
  sqlite3_progress_handler(db, 0, 0, 0);
  execute(db, "PRAGMA hp_threads=1");
  answer(&ours, db, zLong, &a);
  iStop = -1;
  nProgress = 0;
  sqlite3_progress_handler(db, 100, progress, 0);
  answer(&ours, db, zLong, &b);
  nAll = nProgress;
  check(strcmp(a.z, b.z)==0, "a progress handler changes the answer");
  check(nAll>10, "the progress handler was called %d times only", nAll);
  for(i=1; i<=nAll; i += 1+nAll/12){
    int rc;
    textClear(&b);
    iStop = i;
    nProgress = 0;
    rc = answer(&ours, db, zLong, &b);
    check(rc==SQLITE_INTERRUPT, "the progress handler's stop at %d of %d"
          " gives %d", i, nAll, rc);
    check(strncmp(a.z, b.z, strstr(b.z, "error") - b.z)==0,
          "wrong rows before the progress handler's stop");
  }
  sqlite3_progress_handler(db, 0, 0, 0);
  textClear(&b);
  answer(&ours, db, zLong, &b);
  check(strcmp(a.z, b.z)==0, "after the progress handler another answer");
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left after a stop");
  textClear(&a);
  textClear(&b);
}

static const char *zDenied;        /* Column that the authorizer acts on */
static int eVerdict;               /* What it says */
static int authorize(void *p, int op, const char *z1, const char *z2,
                     const char *z3, const char *z4){
  textAppend((Text*)p, "%d %s %s %s %s\n", op, z1 ? z1 : "", z2 ? z2 : "",
             z3 ? z3 : "", z4 ? z4 : "");
  if( op==SQLITE_READ && zDenied && strcmp(z2, zDenied)==0 ) return eVerdict;
  return SQLITE_OK;
}

/* The authorizer is asked the same, and obeyed */
static void testAuthorizer(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int i, k;
  for(i=0; i<nQuery; i++){
    for(k=0; k<3; k++){
      Text aAsked[2], aText[2];
      int j;
      memset(aAsked, 0, sizeof(aAsked));
      memset(aText, 0, sizeof(aText));
      zDenied = k==0 ? 0 : "i";
      eVerdict = k==1 ? SQLITE_DENY : SQLITE_IGNORE;
      for(j=0; j<2; j++){
        execute(db, j ? "PRAGMA hp_offload=off" : "PRAGMA hp_offload=force");
        textAppend(&aAsked[j], "asked:\n");
        sqlite3_set_authorizer(db, authorize, &aAsked[j]);
        answer(&ours, db, azQuery[i], &aText[j]);
        sqlite3_set_authorizer(db, 0, 0);
      }
      check(strcmp(aAsked[0].z, aAsked[1].z)==0,
            "the authorizer is asked otherwise: %s", azQuery[i]);
      check(strcmp(aText[0].z, aText[1].z)==0,
            "the authorizer (%d) gives another answer: %s", k, azQuery[i]);
      for(j=0; j<2; j++){
        textClear(&aAsked[j]);
        textClear(&aText[j]);
      }
    }
  }
  sqlite3_close(db);
}

static int trace(unsigned type, void *p, void *pStmt, void *pX){
  (void)pStmt;
  (void)pX;
  ((int*)p)[type==SQLITE_TRACE_STMT ? 0 : type==SQLITE_TRACE_ROW ? 1 : 2]++;
  return 0;
}

/* Traces, statement counters, and what a statement is said to be */
static void testCounters(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int aTrace[2][3];
  int j;
  memset(aTrace, 0, sizeof(aTrace));
  for(j=0; j<2; j++){
    sqlite3_stmt *pStmt;
    int i, nRow = 0;
    execute(db, j ? "PRAGMA hp_offload=off" : "PRAGMA hp_offload=force");
    /* What reads the schema is not to be traced. */
    execute(db, "SELECT 1 FROM t LIMIT 1");
    sqlite3_trace_v2(db, SQLITE_TRACE_STMT|SQLITE_TRACE_ROW|SQLITE_TRACE_PROFILE,
                     trace, aTrace[j]);
    pStmt = prepared(db, azQuery[1]);
    check(sqlite3_stmt_readonly(pStmt), "not read-only");
    for(i=0; i<3; i++){
      while( sqlite3_step(pStmt)==SQLITE_ROW ) nRow++;
      sqlite3_reset(pStmt);
    }
    check(nRow==15, "%d rows instead of 15", nRow);
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_RUN, 0)==3, "runs");
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_REPREPARE, 0)==0,
          "reprepared without need");
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_VM_STEP, 0)>0, "no steps");
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_AUTOINDEX, 0)==0,
          "automatic index");
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_MEMUSED, 0)>0, "no memory");
    check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0)>0,
          "a full scan that steps nowhere (%s)", j ? "off" : "force");
    sqlite3_finalize(pStmt);
    sqlite3_trace_v2(db, 0, 0, 0);
  }
  check(memcmp(aTrace[0], aTrace[1], sizeof(aTrace[0]))==0,
        "traced statements, rows, profiles: %d, %d, %d instead of %d, %d, %d",
        aTrace[0][0], aTrace[0][1], aTrace[0][2],
        aTrace[1][0], aTrace[1][1], aTrace[1][2]);
  sqlite3_close(db);
}

/*
** Steps of a query with a parameter, which is iBind or, if zBind, that.  Its
** answer must be the same with the offload off.
*/
static int steps(sqlite3 *db, const char *zSql, int iBind, const char *zBind){
  Text aText[2] = {{0,0,0}, {0,0,0}};
  int nStep = 0;
  int j;
  for(j=0; j<2; j++){
    sqlite3_stmt *pStmt;
    execute(db, j ? "PRAGMA hp_offload=off" : "PRAGMA hp_offload=force");
    pStmt = prepared(db, zSql);
    if( zBind==0 ){
      sqlite3_bind_int(pStmt, 1, iBind);
    }else if( zBind[0] ){
      sqlite3_bind_text(pStmt, 1, zBind, -1, SQLITE_STATIC);
    }
    while( sqlite3_step(pStmt)==SQLITE_ROW ){
      textAppend(&aText[j], "%s,%s;", sqlite3_column_text(pStmt, 0),
                 sqlite3_column_text(pStmt, 1));
    }
    if( j==0 ) nStep = sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_VM_STEP, 0);
    sqlite3_finalize(pStmt);
  }
  check(strcmp(aText[0].z ? aText[0].z : "", aText[1].z ? aText[1].z : "")==0,
        "another answer: %s", zSql);
  textClear(&aText[0]);
  textClear(&aText[1]);
  return nStep;
}

/* Does the program of zSql put rows into a table for a window? */
static int copiesRows(sqlite3 *db, const char *zSql){
  Text sql = {0,0,0};
  sqlite3_stmt *pStmt;
  int bCopies = 0;
  textAppend(&sql, "EXPLAIN %s", zSql);
  pStmt = prepared(db, sql.z);
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    if( strcmp((const char*)sqlite3_column_text(pStmt, 1), "OpenDup")==0 ) bCopies = 1;
  }
  sqlite3_finalize(pStmt);
  textClear(&sql);
  return bCopies;
}

/* row_number(), rank() and dense_rank() are known when a row comes ('+'); others are not */
static void testNumbers(void){
  static const char *const az[] = {
    "+SELECT id, row_number() OVER (PARTITION BY s ORDER BY i, id) FROM t",
    "+SELECT id, rank() OVER (ORDER BY g), dense_rank() OVER (ORDER BY g) FROM t",
    "+SELECT id, rank() OVER (PARTITION BY g ORDER BY x, i%3), dense_rank() OVER (PARTITION BY g ORDER BY x, i%3) FROM t",
    "+SELECT id, rank() OVER (), dense_rank() OVER (), row_number() OVER () FROM t",
    "+SELECT id, rank() OVER (PARTITION BY x), row_number() OVER (PARTITION BY i%3, g ORDER BY r DESC) FROM t ORDER BY 1",
    "+SELECT x, rank() OVER (PARTITION BY g COLLATE nocase ORDER BY x DESC NULLS LAST) FROM t",
    "+SELECT row_number() OVER (ORDER BY count(*), g), g, count(*) FROM t GROUP BY g",
    "+SELECT DISTINCT rank() OVER (ORDER BY g) FROM t",
    "+SELECT sum(n), max(x) FROM (SELECT row_number() OVER (PARTITION BY g ORDER BY id) AS n, * FROM t) WHERE n%3=0",
    "+SELECT * FROM (SELECT id, x, row_number() OVER (ORDER BY i DESC, id) AS n FROM t) WHERE id%5=2 ORDER BY n LIMIT 9",
    "+SELECT id, (SELECT max(n) FROM (SELECT row_number() OVER (PARTITION BY g ORDER BY t.id) AS n FROM big WHERE a=t.i%10))"
      " FROM (SELECT *, 1 AS one FROM t WHERE id<9) AS t",
    "+SELECT row_number() OVER (ORDER BY id) AS n FROM t WHERE x IS NULL UNION ALL SELECT rank() OVER (ORDER BY c) FROM big"
      " WHERE a=3 ORDER BY n LIMIT 40",
    "-SELECT id, row_number() OVER w, sum(i) OVER w FROM t WINDOW w AS (PARTITION BY g ORDER BY id)",
    "-SELECT id, lag(i) OVER (ORDER BY id), row_number() OVER (ORDER BY id) FROM t",
    "+SELECT id, rank() OVER (ORDER BY g RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t",
    "-SELECT id, percent_rank() OVER (ORDER BY g), ntile(3) OVER (ORDER BY g) FROM t",
  };
  sqlite3 *db = openDb(&ours, zFile, 0);
  unsigned i;
  execute(db, "PRAGMA hp_offload=force");
  for(i=0; i<sizeof(az)/sizeof(az[0]); i++){
    const char *zSql = &az[i][1];
    Text a = {0,0,0}, b = {0,0,0};
    check(copiesRows(db, zSql)==(az[i][0]=='-'), "%s: %s", az[i][0]=='-' ? "no copy of rows" : "rows are copied", zSql);
    answer(&ours, db, zSql, &a);
    answerOff(db, zSql, &b);
    check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "differs from stock's code: %s", zSql);
    textClear(&a);
    textClear(&b);
  }
  sqlite3_close(db);
}

/* The first rows of partitions: where others are left out, and where not */
static void testPartitions(void){
#define ROWS "SELECT id, row_number() OVER (PARTITION BY s ORDER BY i) AS n"
  static const char *const azFew[] = {
    "SELECT * FROM ("ROWS" FROM t) WHERE n<=?",
    "SELECT * FROM ("ROWS" FROM t) WHERE ?=n AND id<>4",
    "SELECT * FROM ("ROWS" FROM t) WHERE n BETWEEN 1 AND ? ORDER BY id",
    "SELECT * FROM ("ROWS" FROM t) WHERE ?>n",
    "SELECT * FROM ("ROWS" FROM t) WHERE n IN (1,3) AND id>?",
    "SELECT * FROM ("ROWS", rank() OVER (PARTITION BY s ORDER BY i) FROM t)"
      " WHERE n<=?",
    "WITH w AS ("ROWS" FROM (SELECT * FROM t WHERE g<>'a')) SELECT * FROM w"
      " WHERE n IS ?",
    "SELECT w.id, sum(b) FROM ("ROWS" FROM t) AS w JOIN big ON big.rowid=w.id"
      " WHERE n<=? GROUP BY w.id",
    "SELECT id, dense_rank() OVER w AS n FROM t WHERE id IN (SELECT id FROM"
      " ("ROWS" FROM t) WHERE n<=?) WINDOW w AS (ORDER BY s)",
    "SELECT * FROM (SELECT id, rank() OVER (PARTITION BY s ORDER BY r) AS n"
      " FROM t) WHERE n<?",
    "SELECT * FROM (SELECT id, dense_rank() OVER (ORDER BY i) AS n FROM t)"
      " WHERE n<=?",
  };
  static const char *const azAll[] = {
    "SELECT * FROM ("ROWS" FROM t) WHERE n>=?",
    "SELECT * FROM ("ROWS" FROM t) WHERE n<=? OR id=7",
    "SELECT * FROM ("ROWS" FROM t) WHERE n<=?+0.5",
    "SELECT * FROM ("ROWS" FROM t LIMIT 3000) WHERE n<=?",
    "SELECT * FROM ("ROWS", lead(i) OVER (PARTITION BY s ORDER BY i) FROM t)"
      " WHERE n<=?",
    "SELECT * FROM ("ROWS", count(*) OVER (PARTITION BY s) FROM t) WHERE n<=?",
    "SELECT * FROM ("ROWS", abs(i) FROM t) WHERE n<=?",
    "SELECT * FROM ("ROWS" FROM t) WHERE n<=? AND abs(id)>3",
    "SELECT * FROM ("ROWS" FROM t UNION ALL "ROWS" FROM t) WHERE n<=?",
    "WITH w AS ("ROWS" FROM t) SELECT *, (SELECT max(n) FROM w) FROM w WHERE n<=?",
    "WITH w AS MATERIALIZED ("ROWS" FROM t) SELECT * FROM w WHERE n<=?",
    "SELECT big.c, n FROM big LEFT JOIN ("ROWS" FROM t) AS w"
      " ON w.id=big.rowid AND n<=? WHERE big.rowid<9",
  };
  sqlite3 *db = openDb(&ours, zFile, 0);
  int nRow = (int)integer(&ours, db, "SELECT count(*) FROM t");
  int i, n;
  for(i=0; i<(int)(sizeof(azFew)/sizeof(azFew[0])); i++){
    n = steps(db, azFew[i], 2, 0);
    check(n<nRow*5, "%d steps: %s", n, azFew[i]);
    /* What is not an integer bounds nothing, or in a way of its own */
    steps(db, azFew[i], 0, "2");
    steps(db, azFew[i], 0, "x");
    steps(db, azFew[i], 0, "");
    steps(db, azFew[i], -1, 0);
    steps(db, azFew[i], 5000, 0);
  }
  n = steps(db, azFew[0], 0, "2");
  check(n>nRow*10, "a bound that is text leaves out rows: %d steps", n);
  for(i=0; i<(int)(sizeof(azAll)/sizeof(azAll[0])); i++){
    n = steps(db, azAll[i], 2, 0);
    check(n>nRow*10, "%d steps: %s", n, azAll[i]);
  }
  sqlite3_close(db);
#undef ROWS
}

/* A statement reset, rebound and finalized after some of its rows */
static void testReset(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3_stmt *pStmt = prepared(db,
      "SELECT c, count(*) FROM big WHERE a<?1 GROUP BY c");
  sqlite3_int64 nBefore;
  int i, k;
  sqlite3_bind_int(pStmt, 1, 5);
  for(i=0; i<20; i++){
    for(k=0; k<i; k++){
      check(sqlite3_step(pStmt)==SQLITE_ROW, "no row");
      check(sqlite3_column_int(pStmt, 0)==k, "row %d is for %d", k,
            sqlite3_column_int(pStmt, 0));
    }
    sqlite3_reset(pStmt);
    sqlite3_bind_int(pStmt, 1, 5+i%5);
  }
  check(sqlite3_get_autocommit(db) && sqlite3_txn_state(db, 0)==SQLITE_TXN_NONE,
        "a transaction is left after reset");
  sqlite3_finalize(pStmt);
  execute(db, "PRAGMA shrink_memory");
  nBefore = sqlite3_memory_used();
  for(i=0; i<10; i++){
    pStmt = prepared(db, zLong);
    for(k=0; k<i; k++) sqlite3_step(pStmt);
    sqlite3_finalize(pStmt);
  }
  execute(db, "PRAGMA shrink_memory");
  check(sqlite3_memory_used()<nBefore+20000, "unfinished statements leave %lld"
        " bytes", (long long)(sqlite3_memory_used()-nBefore));
  sqlite3_close(db);
}

static void nestedQuery(sqlite3_context *ctx, int n, sqlite3_value **a){
  sqlite3 *db = sqlite3_context_db_handle(ctx);
  (void)n;
  (void)a;
  sqlite3_result_int64(ctx,
      integer(&ours, db, "SELECT sum(c) FROM big WHERE a=3"));
}
static void nestedWrite(sqlite3_context *ctx, int n, sqlite3_value **a){
  sqlite3 *db = sqlite3_context_db_handle(ctx);
  (void)n;
  execute(db, "INSERT INTO log VALUES(1)");
  sqlite3_result_value(ctx, a[0]);
}

/* Queries and writes in a function that a query calls */
static void testNested(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  Text a = {0,0,0}, b = {0,0,0};
  int i;
  static const char *const azSql[] = {
    "SELECT g, max(nq()), count(*) FROM t WHERE id<20 GROUP BY g",
    "SELECT g, sum(i) FROM t WHERE id<20 AND nw(i)>=0 GROUP BY g",
    "SELECT g, count(*), nq() FROM t GROUP BY g HAVING nq()>0",
  };
  sqlite3_create_function(db, "nq", 0, SQLITE_UTF8, 0, nestedQuery, 0, 0);
  sqlite3_create_function(db, "nw", 1, SQLITE_UTF8, 0, nestedWrite, 0, 0);
  for(i=0; i<3; i++){
    textClear(&a);
    textClear(&b);
    execute(db, "CREATE TEMP TABLE log(n); INSERT INTO log VALUES(1),(2),(3);");
    answerOff(db, azSql[i], &a);
    execute(db, "DROP TABLE log;"
                "CREATE TEMP TABLE log(n); INSERT INTO log VALUES(1),(2),(3);");
    answer(&ours, db, azSql[i], &b);
    execute(db, "DROP TABLE log");
    check(strcmp(a.z, b.z)==0, "%s\n off %s force %s", azSql[i], a.z, b.z);
  }
  sqlite3_close(db);
  textClear(&a);
  textClear(&b);
}

/* The table changes while rows of a result are being read */
static void testChanges(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3 *other = openDb(&ours, zFile, 0);
  sqlite3_stmt *pStmt;
  int i, nRow = 0;
  pStmt = prepared(db, "SELECT a, count(*) FROM big GROUP BY a");
  execute(db, "BEGIN");
  while( sqlite3_step(pStmt)==SQLITE_ROW ){
    check(sqlite3_column_int(pStmt, 0)==nRow, "group %d", nRow);
    nRow++;
    execute(db, "DELETE FROM big WHERE a=9");
    execute(db, "INSERT INTO big VALUES(77, 1, 1)");
  }
  check(nRow==10, "%d groups", nRow);
  sqlite3_reset(pStmt);
  for(nRow=0; sqlite3_step(pStmt)==SQLITE_ROW; nRow++){
    if( nRow==9 ) check(sqlite3_column_int(pStmt, 0)==77
        && sqlite3_column_int(pStmt, 1)==10, "uncommitted rows are not seen");
  }
  check(nRow==10, "%d groups within the transaction", nRow);
  check(integer(&ours, other, "SELECT count(*) FROM big WHERE a=77")==0,
        "another connection sees uncommitted rows");
  sqlite3_reset(pStmt);
  execute(db, "ROLLBACK");
  sqlite3_step(pStmt);
  check(sqlite3_column_int(pStmt, 0)==0
        && integer(&ours, db, "SELECT count(*) FROM big WHERE a=77")==0,
        "rolled back rows are seen");
  sqlite3_reset(pStmt);
  /* The schema changes under the prepared statement, here and elsewhere. */
  for(i=0; i<4; i++){
    static const char *const azChange[] = {
      "CREATE INDEX ia ON big(a)", "DROP INDEX ia",
      "ALTER TABLE big ADD COLUMN n DEFAULT 5", "ALTER TABLE big DROP COLUMN n"
    };
    integer(&ours, other, "SELECT 1 FROM big");     /* Reads the new schema */
    execute(i%2 ? other : db, azChange[i]);
    for(nRow=0; sqlite3_step(pStmt)==SQLITE_ROW; nRow++){}
    check(nRow==10, "%d groups after %s", nRow, azChange[i]);
    sqlite3_reset(pStmt);
  }
  check(sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_REPREPARE, 0)==4,
        "reprepared %d times instead of 4",
        sqlite3_stmt_status(pStmt, SQLITE_STMTSTATUS_REPREPARE, 0));
  sqlite3_finalize(pStmt);
  /* A lock is held while a result is being read, and only then. */
  pStmt = prepared(db, "SELECT c, count(*) FROM big GROUP BY c");
  sqlite3_step(pStmt);
  check(sqlite3_exec(other, "BEGIN EXCLUSIVE", 0, 0, 0)==SQLITE_BUSY,
        "no lock is held between rows");
  sqlite3_finalize(pStmt);
  check(sqlite3_exec(other, "BEGIN EXCLUSIVE", 0, 0, 0)==SQLITE_OK,
        "a lock is left");
  check(sqlite3_exec(db, azQuery[1], 0, 0, 0)==SQLITE_BUSY,
        "an exclusive lock is not minded");
  execute(other, "COMMIT");
  sqlite3_close(other);
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left");
}

/*
** A transaction is rolled back while rows of a result are being read.  What
** sqlite3_step() returns then is what it returns in stock: SQLITE_ABORT_ROLLBACK
** if the schema had been changed and the rest of the table was to be read, and
** otherwise the other rows.
*/
static void testRollback(void){
  static const char *const azBegin[] = {
    "BEGIN; INSERT INTO r VALUES(0, 7, 'new')",
    "BEGIN; INSERT INTO r VALUES(7, 7, 'new'); CREATE TABLE x(y)",
    "SAVEPOINT a; DELETE FROM r WHERE k=4; CREATE TABLE x(y)",
  };
  static const char *const azSql[] = {
    "SELECT k, count(*) FROM r GROUP BY k",            /* Index */
    "SELECT k, count(v) FROM r GROUP BY k",            /* Index, rows looked up */
    "SELECT v%10, count(*) FROM r GROUP BY 1",         /* Sorted */
    "SELECT s, sum(k), group_concat(v ORDER BY v) FROM r GROUP BY s",
    "SELECT DISTINCT v%10 FROM r",
    "SELECT v FROM r WHERE v%100=3 ORDER BY s",
    "SELECT v FROM r ORDER BY s LIMIT 7",
    "SELECT count(*), sum(v) FROM r",
  };
  const char *zRollback = temporaryFile("behave-rollback.db");
  sqlite3 *db = openDb(&ours, zRollback, 0);
  int i, j, k, iRow, nAbort = 0;
  execute(db, "CREATE TABLE r(k INTEGER, v, s); CREATE INDEX rk ON r(k);"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<2999)"
    " INSERT INTO r SELECT i%5, i, 'text '||(i*7919%6) FROM n;");
  for(i=0; i<3; i++){
    for(j=0; j<(int)(sizeof(azSql)/sizeof(azSql[0])); j++){
      for(iRow=1; iRow<8; iRow++){
        Text aText[2] = {{0,0,0}, {0,0,0}};
        for(k=0; k<2; k++){
          sqlite3_stmt *pStmt;
          int rc = SQLITE_ROW;
          int n = 0;
          execute(db, k ? "PRAGMA hp_offload=force" : "PRAGMA hp_offload=off");
          execute(db, azBegin[i]);
          check(k==0 || isTaken(db, azSql[j]), "not taken over: %s", azSql[j]);
          pStmt = prepared(db, azSql[j]);
          while( n++<iRow && rc==SQLITE_ROW ) rc = sqlite3_step(pStmt);
          if( i==2 ) execute(db, "ROLLBACK TO a");
          execute(db, "ROLLBACK");
          for(n=0; n<20 && rc==SQLITE_ROW; n++) rc = sqlite3_step(pStmt);
          nAbort += rc==SQLITE_ABORT;
          textAppend(&aText[k], "%d, %d (%s)", rc, sqlite3_extended_errcode(db),
                     sqlite3_errmsg(db));
          sqlite3_finalize(pStmt);
        }
        check(strcmp(aText[0].z, aText[1].z)==0, "row %d, %s, %s: %s instead of"
              " %s", iRow, azBegin[i], azSql[j], aText[1].z, aText[0].z);
        textClear(&aText[0]);
        textClear(&aText[1]);
      }
    }
  }
  check(nAbort>0, "no statement was aborted");
  check(sqlite3_close(db)==SQLITE_OK, "a statement is left");
  removeDb(zRollback);
}

/* Shared cache: table locks, and uncommitted rows for who wants them */
static void testSharedCache(void){
  int flags = SQLITE_OPEN_SHAREDCACHE;
  sqlite3 *a = openDb(&ours, zFile, flags);
  sqlite3 *b = openDb(&ours, zFile, flags);
  int rc;
  execute(a, "BEGIN; INSERT INTO big VALUES(88,1,1);");
  rc = sqlite3_exec(b, "SELECT a, count(*) FROM big GROUP BY a", 0, 0, 0);
  check(rc==SQLITE_LOCKED, "a locked table of a shared cache gives %d", rc);
  check(integer(&ours, b, "SELECT sum(i) FROM t")>0,
        "another table is locked too");
  execute(b, "PRAGMA read_uncommitted=on");
  check(integer(&ours, b, "SELECT sum(a) FROM big WHERE a=88")==88,
        "uncommitted rows of a shared cache are not seen");
  execute(a, "ROLLBACK");
  check(integer(&ours, b, "SELECT total(a) FROM big WHERE a=88")==0,
        "rolled back rows of a shared cache are seen");
  sqlite3_close(a);
  sqlite3_close(b);
}

/* A heap limit: the right answer or SQLITE_NOMEM, at any limit */
static void testHeapLimit(void){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int i, k, nOk = 0, nNomem = 0;
  for(i=0; i<nQuery; i++){
    Text right = {0,0,0};
    answer(&ours, db, azQuery[i], &right);
    for(k=0; k<7; k++){
      Text got = {0,0,0};
      int rc;
      execute(db, "PRAGMA shrink_memory");
      sqlite3_hard_heap_limit64(sqlite3_memory_used() + (10000LL<<(2*k)));
      rc = answer(&ours, db, azQuery[i], &got);
      sqlite3_hard_heap_limit64(0);
      nOk += rc==SQLITE_OK;
      nNomem += (rc&0xff)==SQLITE_NOMEM;
      check(rc==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM
            || strcmp(got.z, right.z)==0,
            "a heap limit gives %d: %s", rc, azQuery[i]);
      textClear(&got);
    }
    textClear(&right);
  }
  check(nOk>0 && nNomem>0, "heap limits: %d right answers, %d errors", nOk,
        nNomem);
  sqlite3_close(db);
}

/* Four threads with a connection each.  The results must be the same. */
static void *runQueries(void *pText){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int i;
  for(i=0; i<nQuery; i++) answer(&ours, db, azQuery[i], (Text*)pText);
  sqlite3_close(db);
  return 0;
}
static void testThreads(void){
  pthread_t aThread[4];
  Text aText[4];
  int i;
  memset(aText, 0, sizeof(aText));
  for(i=0; i<4; i++) pthread_create(&aThread[i], 0, runQueries, &aText[i]);
  for(i=0; i<4; i++) pthread_join(aThread[i], 0);
  for(i=1; i<4; i++){
    check(strcmp(aText[0].z, aText[i].z)==0, "thread %d got another answer", i);
  }
  for(i=0; i<4; i++) textClear(&aText[i]);
}

int main(void){
  stepClock();
  sqlite3_int64 nBefore = sqlite3_memory_used();
  zFile = temporaryFile("behave.db");
  fixture(zFile, "PRAGMA page_size=4096", 6000);
  testAnswers();
  testInterrupt();
  testInterruptCount();
  testGrown();
  testProgress();
  testAuthorizer();
  testCounters();
  testPartitions();
  testNumbers();
  testReset();
  testNested();
  testChanges();
  testRollback();
  testSharedCache();
  testHeapLimit();
  testThreads();
  check(sqlite3_memory_used()==nBefore, "%lld bytes are left",
        (long long)(sqlite3_memory_used()-nBefore));
  removeDb(zFile);
  return finish();
}
