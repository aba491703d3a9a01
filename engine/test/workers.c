/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Scans by several workers, with every leaf a unit of work: the answers are
** stock's, whatever was in which part; memory is bounded; nothing is left
** behind.  The progress handler is called as often with any number of workers.
** Threads have large stacks, and are not made where the application's mutexes
** do nothing.  Runs under ThreadSanitizer.
*/
#ifndef _GNU_SOURCE
# define _GNU_SOURCE         /* For pthread_setattr_default_np() */
#endif
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

static Lib stock;

/* The answers of both libraries are the same, and ours took the query over */
static void same(sqlite3 *pOurs, sqlite3 *pStock, const char *zSql){
  Text a = {0, 0, 0};
  Text b = {0, 0, 0};
  check(isTaken(pOurs, zSql), "not taken over: %s", zSql);
  answer(&ours, pOurs, zSql, &a);
  answer(&stock, pStock, zSql, &b);
  check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s\nours:  %.400s\nstock: %.400s",
        zSql, a.z, b.z);
  textClear(&a);
  textClear(&b);
}

/*
** Entries of aggregates with ORDER BY: as many as are sorted in one way or another, spread
** evenly, all but a few in one place, equal, of all types; from one worker, two, and more.
*/
static void testOrdered(sqlite3 *db, sqlite3 *dbStock){
  static const char *const azValue[] = {
    "x*7919%1000/10.0", "iif(x%250, 5+x%33*1e-9, 1e300)", "iif(x%250, 5+x%3*1e-9, -1e300)", "x%5", "-x", "x",
    "1", "CASE x%4 WHEN 0 THEN NULL WHEN 1 THEN x'ff'||x WHEN 2 THEN 'text '||(x%9) ELSE x*7919%100 END",
    "iif(x%2, NULL, x'ffffffffffffffffff')", "(x*7919%1000)<<53", "9007199254740993+x*7919%7", "iif(x%2, x%9, x%9+0.0)",
  };
  static const char *const azAsk[] = {
    "SELECT g, count(*), group_concat(quote(v) ORDER BY v) FROM ordered GROUP BY g",
    "SELECT g, group_concat(v ORDER BY v), string_agg(v, '-' ORDER BY v DESC, x) FROM ordered GROUP BY g",
    "SELECT g, group_concat(DISTINCT v ORDER BY v), group_concat(DISTINCT v ORDER BY v DESC) FROM ordered GROUP BY g",
    "SELECT group_concat(DISTINCT v ORDER BY v) FROM ordered", "SELECT group_concat(v ORDER BY v DESC) FROM ordered WHERE g<3",
  };
  static const int anRow[] = { 31, 32, 33, 34, 64, 65, 66, 255, 256, 257, 258, 511, 512, 513, 1, 2 };
  char zSql[600];
  unsigned i, k;
  for(i=0; i<sizeof(azValue)/sizeof(azValue[0]); i++){
    execute(db, "DROP TABLE IF EXISTS ordered; CREATE TABLE ordered(g, x, v)");
    for(k=0; k<sizeof(anRow)/sizeof(anRow[0]); k++){
      sqlite3_snprintf(sizeof(zSql), zSql,
        "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<%d)"
        " INSERT INTO ordered SELECT %d, x, %s FROM c", anRow[k], k, azValue[i]);
      execute(db, zSql);
    }
    /* Rows of all groups side by side */
    execute(db, "CREATE TABLE mixed AS SELECT * FROM ordered ORDER BY x*7919%521, g; DROP TABLE ordered;"
                "ALTER TABLE mixed RENAME TO ordered");
    for(k=0; k<sizeof(azAsk)/sizeof(azAsk[0]); k++) same(db, dbStock, azAsk[k]);
  }
  execute(db, "DROP TABLE ordered");
}

/*
** Functions that depend on the order of rows and have no ORDER BY: the arguments of rows are kept in
** logs, with integers of every length in bytes, texts around the lengths that have another form, subtypes,
** and values longer than a piece of a log.
*/
static void testLogs(sqlite3 *db, sqlite3 *dbStock){
  static const char *const azValue[] = {
    "x", "-x", "((1<<(x%64))-1)*iif(x%2, 1, -1)", "1<<(x%64)", "-(1<<(x%64))", "x%127-63", "NULL", "x/7.0",
    "iif(x%3, -0.0, 1e300*1e300)", "substr(hex(zeroblob(20)), 1, x%40)", "zeroblob(x%40)", "'a'||char(0)||x",
    "iif(x%300, x, hex(zeroblob(40000)))",
    "CASE x%6 WHEN 0 THEN NULL WHEN 1 THEN x'ff' WHEN 2 THEN '' WHEN 3 THEN x WHEN 4 THEN x/3.0 ELSE x'' END",
  };
  static const char *const azAsk[] = {
    "SELECT g, group_concat(v), count(v) FROM logged GROUP BY g",
    "SELECT x, string_agg(v, '-'), total(g) FROM logged GROUP BY x",
    "SELECT g, group_concat(v, g), group_concat(x) FILTER (WHERE x%2) FROM logged GROUP BY g",
    "SELECT g, json_group_array(hex(v)), json_group_object(x, quote(v)), group_concat(v ORDER BY x DESC) FROM logged"
      " GROUP BY g ORDER BY g DESC",
    "SELECT x%40, json_group_array(json_array(x, g)), json_group_array(json_quote(x)) FROM logged GROUP BY 1",
    "SELECT group_concat(quote(v), v) FROM logged", "SELECT json_group_array(x) FROM logged WHERE v>0",
    "SELECT g, group_concat(DISTINCT v) FROM logged GROUP BY g", "SELECT group_concat(x) FROM logged WHERE x<0",
    "SELECT g, json_group_array(v) FROM logged GROUP BY g",      /* Of blobs: an error */
    "SELECT a.g, group_concat(a.v), count(*) FROM logged a JOIN t b ON b.id=a.x GROUP BY a.g",
  };
  static const char *const azMemory[] = { "0", "30000" };
  sqlite3_int64 nFile = counted(db, "wrote to a file");
  char zSql[600];
  unsigned i, k, m;
  for(i=0; i<sizeof(azValue)/sizeof(azValue[0]); i++){
    sqlite3_snprintf(sizeof(zSql), zSql,
      "DROP TABLE IF EXISTS logged; CREATE TABLE logged(g, x, v);"
      "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<2200)"
      " INSERT INTO logged SELECT x*7919%%13, x%%701, %s FROM c", azValue[i]);
    execute(db, zSql);
    for(m=0; m<sizeof(azMemory)/sizeof(azMemory[0]); m++){
      sqlite3_snprintf(sizeof(zSql), zSql, "PRAGMA hp_memory=%s", azMemory[m]);
      execute(db, zSql);
      for(k=0; k<sizeof(azAsk)/sizeof(azAsk[0]); k++) same(db, dbStock, azAsk[k]);
    }
    execute(db, "PRAGMA hp_memory=0");
  }
  check(counted(db, "wrote to a file")>nFile, "no log was written to a file");
  execute(db, "DROP TABLE logged");
}

/* Threads of this process */
static int threads(void){
  DIR *p = opendir("/proc/self/task");
  struct dirent *pEntry;
  int n = 0;
  if( p==0 ) return 1;
  while( (pEntry = readdir(p))!=0 ) n += pEntry->d_name[0]!='.';
  closedir(p);
  return n;
}

/*
** The threads of this process, when there are no more than nMost or after ten
** seconds.  One that was joined is in the list until the kernel has put it away,
** which waits for a processor as everything does.
*/
static int threadsAtRest(int nMost){
  int i;
  for(i=0; i<10000 && threads()>nMost; i++) usleep(1000);
  return threads();
}

/* Interrupt until a statement has seen it: between two that run nobody does */
static int bSeen;
static void *interrupter(void *pArg){
  do{
    usleep(30000);
    sqlite3_interrupt((sqlite3*)pArg);
  }while( !__atomic_load_n(&bSeen, __ATOMIC_ACQUIRE) );
  return 0;
}

static const char *const azSame[] = {
  "SELECT g, count(*), sum(i), avg(r), total(f), min(s), max(i) FROM t GROUP BY g",
  "SELECT id+0 AS n, sum(r), s FROM t GROUP BY n",
  "SELECT s, r, count(*), max(i) FROM t GROUP BY s, r ORDER BY s DESC, r",
  "SELECT g, min(r), id, s FROM t GROUP BY g",
  "SELECT max(i), id, count(*) FROM t",
  "SELECT k, count(*), id FROM t GROUP BY k",
  "SELECT k COLLATE nocase, max(s), id FROM t GROUP BY 1",
  "SELECT g, group_concat(id) FROM t WHERE id%50=0 GROUP BY g",
  "SELECT g, count(DISTINCT s), sum(i) FILTER (WHERE r>0.5) FROM t GROUP BY g",
  "SELECT count(DISTINCT i), count(DISTINCT f), count(DISTINCT s), count(DISTINCT r), count(*) FROM t",
  "SELECT k, count(DISTINCT k), count(DISTINCT k COLLATE nocase), count(DISTINCT i%9), max(r) FROM t"
    " GROUP BY k COLLATE nocase HAVING count(DISTINCT id%50)>2",
  "SELECT g, count(DISTINCT CASE id%5 WHEN 0 THEN s||' of more than 15' WHEN 1 THEN i%70*1.0 WHEN 2"
    " THEN i%70 WHEN 3 THEN CAST(s AS BLOB) ELSE r END), count(DISTINCT id%3) FILTER (WHERE r>0.5)"
    " FROM t GROUP BY g",
  "SELECT s||' of more than 15 bytes' AS x, r, count(DISTINCT id%7) FROM t WHERE id%3 GROUP BY x, r",
  "SELECT sum(i), sum(f), avg(f) FROM t WHERE i IS NOT NULL",
  "SELECT id, s FROM t ORDER BY r DESC, s LIMIT 20 OFFSET 3",
  "SELECT DISTINCT g, k FROM t",
  "SELECT s, group_concat(k ORDER BY k), json_group_array(json_array(i)"
    " ORDER BY r DESC) FROM t GROUP BY s",
  "SELECT g, json_group_array(r ORDER BY r), string_agg(s, '-' ORDER BY s DESC, k)"
    " FROM t WHERE id%3=0 GROUP BY g HAVING count(*)>2",
  "SELECT group_concat(DISTINCT k ORDER BY k COLLATE nocase), sum(f ORDER BY i),"
    " min(s) FROM t",
  "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY i DESC) AS n"
    " FROM t) WHERE n<=3",
  "SELECT * FROM (SELECT id, rank() OVER (PARTITION BY s ORDER BY k) AS n FROM t)"
    " WHERE n<=2",
  "SELECT * FROM (SELECT id, dense_rank() OVER (PARTITION BY id/2 ORDER BY f) AS n"
    " FROM t) WHERE n=1",
};
#define ORDERED 16   /* The first with ORDER BY in an aggregate, of many groups */

/* What is interrupted, most of the time: the scan; step functions called for
** groups ahead; the output of one large group */
static const char *const azInterrupt[] = {
  "SELECT s, r, count(*), max(i) FROM t GROUP BY s, r ORDER BY s DESC, r",
  "SELECT id%10, json_group_array(r ORDER BY id), json_group_array(s ORDER BY id),"
    " json_group_array(f ORDER BY id) FROM t GROUP BY 1",
  "SELECT json_group_array(r ORDER BY id), json_group_array(s ORDER BY id),"
    " json_group_array(f ORDER BY id) FROM t",
};

/*
** What one step of a query of azSteps must tell the progress handler: 8 steps
** a row of table few, whatever is done with the rows.
*/
static const char *const azSteps[] = {
  "SELECT g, count(*), sum(i), max(s) FROM few GROUP BY g",
  "SELECT id+0 AS n, sum(r), s FROM few GROUP BY n",
  "SELECT count(*), sum(r), min(s) FROM few",
  "SELECT count(*) FROM few WHERE i<>5",
  "SELECT count(*) FROM few WHERE r>2",
  "SELECT id FROM few WHERE i%5000=17 ORDER BY f",
  "SELECT id, s FROM few ORDER BY r DESC, s LIMIT 20",
  "SELECT DISTINCT g FROM few",
  "SELECT id, s, r FROM few ORDER BY f, id",
  "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY i DESC)"
    " AS n FROM few) WHERE n<=3",
  "SELECT g, json_group_array(r ORDER BY r) FROM few WHERE id%100=0 GROUP BY g",
  "SELECT g, group_concat(s) FROM few WHERE id%100=0 GROUP BY g",
};
#define N_STEP_SQL ((int)(sizeof(azSteps)/sizeof(azSteps[0])))

static pthread_t mainThread;
static int nCalled;                /* Calls of the progress handler */
static int iStop;                  /* The call that says stop */
static int nElsewhere;             /* Calls in another thread */
static int progress(void *p){
  (void)p;
  nElsewhere += !pthread_equal(pthread_self(), mainThread);
  return ++nCalled==iStop;
}

/* Step once through zSql.  The handler is called each nOp steps and says stop
** the iStopAt-th time.  Returns the code of sqlite3_step(). */
static int oneStep(sqlite3 *db, const char *zSql, int nOp, int iStopAt){
  sqlite3_stmt *pStmt = prepared(db, zSql);
  int rc;
  nCalled = nElsewhere = 0;
  iStop = iStopAt;
  sqlite3_progress_handler(db, nOp, progress, 0);
  rc = sqlite3_step(pStmt);
  sqlite3_progress_handler(db, 0, 0, 0);
  check(nElsewhere==0, "%d calls in another thread: %s", nElsewhere, zSql);
  if( rc==SQLITE_INTERRUPT ){
    check(strcmp(sqlite3_errmsg(db), "interrupted")==0, "%s",
          sqlite3_errmsg(db));
  }
  sqlite3_finalize(pStmt);
  return rc;
}

/* True if n calls are those for nStep steps and each nOp of them, about */
static int about(int n, int nStep, int nOp){
  double r = (double)nStep/nOp;
  return n>=r*0.8-1 && n<=r*1.2+1;
}

static void testSteps(sqlite3 *db){
  const int nRow = 12000;
  static const int aThread[] = { 1, 2, 4, 8 };
  static const int aOp[] = { 1, 100, 1000, 100000 };
  sqlite3_stmt *pStmt;
  int i, j, k, n, rc;
  mainThread = pthread_self();
  execute(db, "CREATE TABLE few(id INTEGER PRIMARY KEY, g, k, s, i, r, f);"
              "INSERT INTO few SELECT * FROM t WHERE id<=12000");
  for(i=0; i<4; i++){
    char zPragma[40];
    sqlite3_snprintf(sizeof(zPragma), zPragma, "PRAGMA hp_threads=%d", aThread[i]);
    execute(db, zPragma);
    for(j=0; j<N_STEP_SQL; j++){
      int nAll = 0;
      check(isTaken(db, azSteps[j]), "not taken over: %s", azSteps[j]);
      for(k=0; k<4; k++){
        rc = oneStep(db, azSteps[j], aOp[k], -1);
        check(rc==SQLITE_ROW && about(nCalled, 8*nRow, aOp[k]),
              "%d threads: %d calls, each %d steps, for %d rows (%d): %s",
              aThread[i], nCalled, aOp[k], nRow, rc, azSteps[j]);
        if( aOp[k]==1000 ) nAll = nCalled;
      }
      /* A budget of 1,000 steps, and one that is used up in the end */
      rc = oneStep(db, azSteps[j], 100, 10);
      check(rc==SQLITE_INTERRUPT && nCalled==10,
            "%d threads: the budget is used up after %d calls and gives %d: %s",
            aThread[i], nCalled, rc, azSteps[j]);
      rc = oneStep(db, azSteps[j], 1000, nAll*9/10);
      check(rc==SQLITE_INTERRUPT && nCalled==nAll*9/10,
            "%d threads: the stop at call %d comes after %d and gives %d: %s",
            aThread[i], nAll*9/10, nCalled, rc, azSteps[j]);
    }

    /* Steps of short executions add up */
    pStmt = prepared(db, "SELECT sum(a), count(*) FROM odd WHERE a<1e15");
    nCalled = 0;
    iStop = -1;
    sqlite3_progress_handler(db, 100000, progress, 0);
    for(n=0; n<20; n++){
      check(sqlite3_step(pStmt)==SQLITE_ROW, "step");
      sqlite3_reset(pStmt);
    }
    sqlite3_progress_handler(db, 0, 0, 0);
    sqlite3_finalize(pStmt);
    check(about(nCalled, 20*3000*8, 100000), "%d threads: %d calls for 20 short"
          " executions", aThread[i], nCalled);

    /* A scan that is given back counts, and so do the others that follow */
    rc = oneStep(db, "SELECT sum(b) FROM odd WHERE b>=0", 100, -1);
    check(rc==SQLITE_ERROR && nCalled<=3*8*3000/100,
          "%d threads: %d calls for a scan that is given back (%d)", aThread[i],
          nCalled, rc);

    /* count(*) is one instruction of SQLite's */
    rc = oneStep(db, "SELECT count(*) FROM t", 1000, -1);
    check(rc==SQLITE_ROW && nCalled==0, "%d threads: %d calls for count(*)",
          aThread[i], nCalled);
  }
  execute(db, "PRAGMA hp_threads=auto");
}

/* What recurses with the data has room, though threads usually have small
** stacks, as those of musl are */
static void testStacks(sqlite3 *db, sqlite3 *dbStock){
#ifdef __GLIBC__
  static const char *const azDeep[] = {
    "SELECT count(*), sum(d LIKE p) FROM deep",
    "SELECT count(*), sum(d GLOB q) FROM deep",
    "SELECT count(*), sum(d LIKE (SELECT p FROM pattern)) FROM deep",
    "SELECT count(*), sum(d LIKE (SELECT p||'_%' FROM pattern)) FROM deep",
    "SELECT sum(json_valid(j)), sum(length(json(j))), max(json_type(j)) FROM deep",
    "SELECT n%5, json_group_array(json(j) ORDER BY n) FROM deep GROUP BY 1",
  };
  pthread_attr_t usual, small;
  int i;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128*1024);
  check(pthread_setattr_default_np(&small)==0, "pthread_setattr_default_np");
  execute(db, "CREATE TABLE deep(n, d, p, q, j);"
    "CREATE TABLE pattern AS SELECT replace(hex(zeroblob(5000)),'0','%a') AS p;"
    "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<60)"
    " INSERT INTO deep SELECT x, replace(hex(zeroblob(5000)),'0','a'), p,"
    "  replace(p,'%','*'), replace(hex(zeroblob(450)),'0','[')||x||"
    "  replace(hex(zeroblob(450)),'0',']') FROM c, pattern;");
  for(i=0; i<(int)(sizeof(azDeep)/sizeof(azDeep[0])); i++){
    Text a = {0, 0, 0};
    Text b = {0, 0, 0};
    answer(&ours, db, azDeep[i], &a);
    answer(&stock, dbStock, azDeep[i], &b);
    check(strcmp(a.z, b.z)==0 && strstr(a.z, "error")==0, "%s: %.80s", azDeep[i],
          a.z);
    textClear(&a);
    textClear(&b);
  }
  pthread_setattr_default_np(&usual);
  pthread_attr_destroy(&usual);
  pthread_attr_destroy(&small);
#else
  (void)db;
  (void)dbStock;
#endif
}

/*
** Mutex methods of a program with one thread: they do nothing.
*/
static int nForeign;               /* Calls from another thread.  Atomic */
static void foreign(void){
  if( !pthread_equal(pthread_self(), mainThread) ){
    __atomic_add_fetch(&nForeign, 1, __ATOMIC_RELAXED);
  }
}
static int noInit(void){ return SQLITE_OK; }
static sqlite3_mutex *noAlloc(int e){ (void)e; return (sqlite3_mutex*)&nForeign; }
static void noLock(sqlite3_mutex *p){ (void)p; foreign(); }
static int noTry(sqlite3_mutex *p){ (void)p; foreign(); return SQLITE_OK; }
static const sqlite3_mutex_methods noMutex = {
  noInit, noInit, noAlloc, noLock, noLock, noTry, noLock, 0, 0
};

/* All kinds of scans while mutexes are not SQLite's, or lock nothing */
static void testMutexes(const char *zFile, sqlite3 *dbStock){
  sqlite3_mutex_methods usual;
  sqlite3 *db;
  int i, j;
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_GETMUTEX, &usual);
  for(j=0; j<3; j++){
    sqlite3_shutdown();
    if( j<2 ){
      sqlite3_config(SQLITE_CONFIG_MUTEX, &noMutex);
    }else{
      sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    }
    if( j==1 ) sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
    execute(db, "PRAGMA hp_offload=force; PRAGMA hp_threads=4");
    check(integer(&ours, db, "PRAGMA hp_threads")==1,
          "threads where mutexes do nothing (%d)", j);
    for(i=0; i<(int)(sizeof(azSame)/sizeof(azSame[0])); i++){
      same(db, dbStock, azSame[i]);
    }
    check(integer(&ours, db, "SELECT count(*) FROM t")==30000, "count(*)");
    sqlite3_close(db);
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_SERIALIZED);
    sqlite3_config(SQLITE_CONFIG_MUTEX, &usual);
  }
  check(nForeign==0, "%d mutexes locked by other threads", nForeign);
}

int main(int argc, char **argv){
  const char *zFile;
  sqlite3 *db;
  sqlite3 *dbStock;
  sqlite3_stmt *pStmt;
  pthread_t thread;
  size_t i;
  int n;
  int nThread;

  setenv("HPSQLITE_TEST", "threads=4,run=1", 1);
  if( argc!=2 || loadStock(&stock, argv[1]) ){
    fprintf(stderr, "usage: workers STOCK-LIBRARY\n");
    return 2;
  }
  zFile = temporaryFile("workers.db");
  db = openDb(&ours, zFile, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE);
  execute(db, "PRAGMA synchronous=off; PRAGMA page_size=1024;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, g, k, s, i, r, f);"
    "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<30000)"
    " INSERT INTO t SELECT x, x%7, CASE x%5 WHEN 0 THEN 'a' WHEN 1 THEN 'A'"
    "  WHEN 2 THEN 3 WHEN 3 THEN 3.0 END, 'text '||(x*7919%1000), x*7919%10007,"
    "  (x*7919%10007)/10007.0, (x*7919%10007)/7.0-700 FROM c;"
    /* Two levels of cancellation, and integers whose sum overflows in some
    ** orders only */
    "CREATE TABLE odd(a, b);"
    "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<3000)"
    " INSERT INTO odd SELECT CASE x WHEN 1 THEN 1e100 WHEN 800 THEN -1e100"
    "  WHEN 900 THEN -1e16 WHEN 2500 THEN 1e16 WHEN 3 THEN -0.4505547500615829"
    "  ELSE 1.0/x END,"
    "  CASE x WHEN 1 THEN -1 WHEN 2 THEN 9223372036854775807 WHEN 2999 THEN 1"
    "  ELSE 0 END FROM c;");
  dbStock = openDb(&stock, zFile, SQLITE_OPEN_READWRITE);
  execute(db, "PRAGMA hp_offload=force");
  same(db, dbStock, azSame[0]);
  nThread = threadsAtRest(2);   /* A sanitizer may have one of its own by now */

  for(i=0; i<sizeof(azSame)/sizeof(azSame[0]); i++) same(db, dbStock, azSame[i]);
  n = threadsAtRest(nThread);
  check(n==nThread, "%d threads are left", n-nThread);

  testOrdered(db, dbStock);
  testLogs(db, dbStock);

  /* Sums that do not add up in parts */
  n = counted(db, "run again with one worker");
  same(db, dbStock, "SELECT sum(a), avg(a), count(*) FROM odd");
  same(db, dbStock, "SELECT sum(b) FROM odd");
  same(db, dbStock, "SELECT sum(b) FROM odd WHERE b<>-1");
  check(counted(db, "run again with one worker")>n, "parts were added up");

  /* Groups in files: the same answers, and no more memory than a few times
  ** what is allowed, with the buffers of four workers */
  execute(db, "PRAGMA hp_memory=400000");
  for(i=0; i<sizeof(azSame)/sizeof(azSame[0]); i++) same(db, dbStock, azSame[i]);
  check(counted(db, "wrote to a file")>0, "nothing was written to a file");
  sqlite3_memory_highwater(1);
  execute(db, "SELECT count(*), sum(r) FROM (SELECT id, s, sum(r) AS r FROM t"
              " GROUP BY id, s)");
  check(sqlite3_memory_highwater(0)<6000000, "%lld bytes for 400000",
        sqlite3_memory_highwater(0));
  execute(db, "PRAGMA hp_memory=0");

  /* A statement reset in the middle, and run again */
  check(sqlite3_prepare_v2(db, azSame[1], -1, &pStmt, 0)==SQLITE_OK, "prepare");
  for(n=0; n<10; n++){
    check(sqlite3_step(pStmt)==SQLITE_ROW, "step");
    check(sqlite3_column_int(pStmt, 0)==1, "first group");
    if( n%2 ) check(sqlite3_step(pStmt)==SQLITE_ROW, "step");
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pStmt);

  /* The same while some groups have been finished ahead */
  check(sqlite3_prepare_v2(db, azSame[ORDERED], -1, &pStmt, 0)==SQLITE_OK,
        "prepare");
  for(n=0; n<10; n++){
    for(i=0; i<(size_t)n*n+1; i++){
      check(sqlite3_step(pStmt)==SQLITE_ROW, "step");
    }
    sqlite3_reset(pStmt);
  }
  sqlite3_finalize(pStmt);

  /* An error in a group that was finished ahead but is not wanted */
  check(sqlite3_prepare_v2(db, "SELECT s, json_group_array(CASE WHEN s='text 10'"
                           " THEN x'00ff' ELSE i END ORDER BY i) FROM t GROUP BY s",
                           -1, &pStmt, 0)==SQLITE_OK, "prepare");
  for(n=0; n<40; n++){
    check(sqlite3_step(pStmt)==SQLITE_ROW && sqlite3_step(pStmt)==SQLITE_ROW,
          "step");
    check(sqlite3_reset(pStmt)==SQLITE_OK, "reset");
    check(strcmp(sqlite3_errmsg(db), "not an error")==0, "%s",
          sqlite3_errmsg(db));
  }
  check(sqlite3_step(pStmt)==SQLITE_ROW && sqlite3_step(pStmt)==SQLITE_ROW
     && sqlite3_step(pStmt)==SQLITE_ERROR, "no error");
  check(strcmp(sqlite3_errmsg(db), "JSON cannot hold BLOB values")==0, "%s",
        sqlite3_errmsg(db));
  sqlite3_finalize(pStmt);

  /* sqlite3_interrupt() from elsewhere */
  for(i=0; i<sizeof(azInterrupt)/sizeof(azInterrupt[0]); i++){
    __atomic_store_n(&bSeen, 0, __ATOMIC_RELEASE);
    check(pthread_create(&thread, 0, interrupter, db)==0, "pthread_create");
    for(n=SQLITE_OK; n==SQLITE_OK; ){
      n = sqlite3_exec(db, azInterrupt[i], 0, 0, 0);
    }
    check(n==SQLITE_INTERRUPT, "interrupted: %d", n);
    __atomic_store_n(&bSeen, 1, __ATOMIC_RELEASE);
    pthread_join(thread, 0);
    same(db, dbStock, azSame[0]);
  }

  testSteps(db);
  testStacks(db, dbStock);

  /* A child process has workers of its own */
  n = fork();
  if( n==0 ){
    sqlite3 *p = openDb(&ours, zFile, SQLITE_OPEN_READWRITE);
    execute(p, "PRAGMA hp_offload=force");
    _exit(sqlite3_exec(p, azSame[0], 0, 0, 0)==SQLITE_OK ? 0 : 1);
  }
  check(n>0 && waitpid(n, &n, 0)>0 && WIFEXITED(n) && WEXITSTATUS(n)==0, "fork");

  check(sqlite3_close(db)==SQLITE_OK, "a statement is left");
  testMutexes(zFile, dbStock);
  stock.close(dbStock);
  removeDb(zFile);
  return finish();
}
