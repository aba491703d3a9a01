/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Those who wait for a file stand in line (hp_turn.c): none is passed over, none waits longer than its
** timeout says, and whoever takes no part sees what SQLite does.
*/
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "hptest.h"

static const char zWaits[] = "waits for a lock on the file";
static const char *zSelf;
static const char *zStock;
static Lib stock;

static double now(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec*1e-9;
}

static sqlite3 *opened(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3_busy_timeout(db, 30000);
  return db;
}
static sqlite3 *made(const char *zFile, const char *zPragmas){
  return freshDb(opened, zFile, zPragmas, "CREATE TABLE t(id INTEGER PRIMARY KEY, who, n)");
}

/*
** Eight threads write until there are enough rows.
*/
typedef struct Writer Writer;
struct Writer {
  const char *zFile, *zPragmas;
  int iWho;
  int bSingle;           /* Single statements, not BEGIN IMMEDIATE */
  int nUs;               /* Microseconds between two transactions */
  int nMost;             /* Rows of all threads */
  int *pnRow;            /* Rows up to now */
  int nOwn;              /* Those of this thread */
  int *pnReady;          /* Threads that are to begin together, less those that are there; or NULL */
};

static void *writer(void *pArg){
  Writer *p = (Writer*)pArg;
  sqlite3 *db = opened(p->zFile);
  sqlite3_stmt *apStmt[3];
  char zSql[100];
  int i, rc = SQLITE_DONE;
  execute(db, p->zPragmas);
  sqlite3_snprintf(sizeof(zSql), zSql, "INSERT INTO t(who, n) VALUES(%d, random())", p->iWho);
  apStmt[0] = prepared(db, "BEGIN IMMEDIATE");
  apStmt[1] = prepared(db, zSql);
  apStmt[2] = prepared(db, "COMMIT");
  if( p->pnReady ){
    __atomic_sub_fetch(p->pnReady, 1, __ATOMIC_SEQ_CST);
    while( __atomic_load_n(p->pnReady, __ATOMIC_SEQ_CST) ) usleep(100);
  }
  while( rc==SQLITE_DONE && __atomic_add_fetch(p->pnRow, 1, __ATOMIC_SEQ_CST)<=p->nMost ){
    for(i=p->bSingle; i<(p->bSingle ? 2 : 3) && rc==SQLITE_DONE; i++){
      rc = sqlite3_step(apStmt[i]);
      sqlite3_reset(apStmt[i]);
    }
    p->nOwn++;
    if( p->nUs ) usleep((useconds_t)p->nUs);
  }
  check(rc==SQLITE_DONE, "a writer fails with %d: %s", rc, sqlite3_errmsg(db));
  for(i=0; i<3; i++) sqlite3_finalize(apStmt[i]);
  sqlite3_close(db);
  return 0;
}

static void testWriters(const char *zMode, const char *zSync, int bSingle, int nUs){
  enum { N = 8 };
  const char *zFile = temporaryFile("writers.db");
  char zPragmas[100], zWhat[100];
  pthread_t aThread[N];
  Writer aWriter[N];
  sqlite3 *db;
  int bSync = strcmp(zSync, "full")==0;
  int i, nRow = 0, nReady = N, nMost = (bSync ? 800 : 16000)*(longRun() ? 5 : 1);
  sqlite3_snprintf(sizeof(zPragmas), zPragmas, "PRAGMA journal_mode=%s", zMode);
  db = made(zFile, zPragmas);
  sqlite3_snprintf(sizeof(zPragmas), zPragmas, "PRAGMA synchronous=%s", zSync);
  sqlite3_snprintf(sizeof(zWhat), zWhat, "%s, %s, %s, %d us", zMode, zSync, bSingle ? "single" : "BEGIN", nUs);
  for(i=0; i<N; i++){
    Writer w = { zFile, zPragmas, i, bSingle, nUs, nMost, &nRow, 0, &nReady };
    aWriter[i] = w;
    pthread_create(&aThread[i], 0, writer, &aWriter[i]);
  }
  for(i=0; i<N; i++) pthread_join(aThread[i], 0);
  check(integer(&ours, db, "SELECT count(*) FROM t")==nMost, "%s: all rows are there", zWhat);
  for(i=0; i<N; i++){
    /* At least an eighth of the mean: SQLite leaves the least lucky ones nothing at times */
    check(aWriter[i].nOwn*8>=nMost/8, "%s: thread %d has %d rows of %d", zWhat, i, aWriter[i].nOwn, nMost);
  }
  checkIntegrity(&ours, db, zWhat);
  sqlite3_close(db);
}

/*
** Five writers come one after the other while the lock is held: so they get it.
*/
typedef struct Comer Comer;
struct Comer {
  const char *zFile;
  int iWho;
  int bReady;            /* Is about to wait.  Atomic */
  int rc;
  int nTimeout;          /* Milliseconds */
  double t;              /* Seconds that it waited */
};
static void *comer(void *pArg){
  Comer *p = (Comer*)pArg;
  sqlite3 *db = opened(p->zFile);
  sqlite3_stmt *pStmt;
  char zSql[100];
  sqlite3_busy_timeout(db, p->nTimeout);
  integer(&ours, db, "SELECT count(*) FROM t");
  sqlite3_snprintf(sizeof(zSql), zSql, "INSERT INTO t(who) VALUES(%d)", p->iWho);
  pStmt = prepared(db, zSql);
  __atomic_store_n(&p->bReady, 1, __ATOMIC_SEQ_CST);
  p->t = now();
  sqlite3_step(pStmt);
  p->rc = sqlite3_finalize(pStmt);
  p->t = now()-p->t;
  if( p->rc!=SQLITE_OK ){
    check(strcmp(sqlite3_errmsg(db), "database is locked")==0, "the message is %s", sqlite3_errmsg(db));
  }
  sqlite3_close(db);
  return 0;
}
static void come(Comer *p, pthread_t *pThread){
  pthread_create(pThread, 0, comer, p);
  while( !__atomic_load_n(&p->bReady, __ATOMIC_SEQ_CST) ) usleep(1000);
  usleep(60000);
}

static void testOrder(const char *zMode){
  const char *zFile = temporaryFile("order.db");
  pthread_t aThread[5];
  Comer aComer[5];
  sqlite3 *db = made(zFile, zMode);
  Text order = {0,0,0};
  int i, nTry;
  for(nTry=0; nTry<5; nTry++){
    execute(db, "DELETE FROM t; BEGIN IMMEDIATE");
    for(i=0; i<5; i++){
      Comer c = { zFile, i, 0, -1, 30000, 0 };
      aComer[i] = c;
      come(&aComer[i], &aThread[i]);
    }
    execute(db, "COMMIT");
    for(i=0; i<5; i++){
      pthread_join(aThread[i], 0);
      check(aComer[i].rc==SQLITE_OK, "%s: writer %d fails with %d", zMode, i, aComer[i].rc);
    }
    textClear(&order);
    answer(&ours, db, "SELECT group_concat(who, '') FROM (SELECT who FROM t ORDER BY id)", &order);
    /* A machine that is busy with other things may let two of them come as one */
    if( strstr(order.z, "3031323334") ) break;
  }
  check(strstr(order.z, "3031323334")!=0, "%s: they come in order: %s", zMode, order.z);
  textClear(&order);
  sqlite3_close(db);
}

/* Who waits too long gets SQLITE_BUSY, and those behind it go on */
static void testTimeout(const char *zMode){
  const char *zFile = temporaryFile("timeout.db");
  static const int aMs[] = { 400, 200, 30000 };
  pthread_t aThread[3];
  Comer aComer[3];
  sqlite3 *db = made(zFile, zMode);
  int i;
  execute(db, "BEGIN IMMEDIATE");
  for(i=0; i<3; i++){
    Comer c = { zFile, i, 0, -1, 0, 0 };
    aComer[i] = c;
    aComer[i].nTimeout = aMs[i];
    come(&aComer[i], &aThread[i]);
  }
  for(i=0; i<2; i++){
    pthread_join(aThread[i], 0);
    check(aComer[i].rc==SQLITE_BUSY, "%s: a timeout of %d ms gives %d", zMode, aMs[i], aComer[i].rc);
    check(aComer[i].t>aMs[i]*0.9e-3, "%s: %d ms are over after %.0f", zMode, aMs[i], aComer[i].t*1e3);
  }
  execute(db, "COMMIT");
  pthread_join(aThread[2], 0);
  check(aComer[2].rc==SQLITE_OK, "%s: the third one goes on: %d", zMode, aComer[2].rc);
  sqlite3_close(db);
}

/* A transaction that has read does not wait when it wants to write */
static void testUpgrade(void){
  const char *zFile = temporaryFile("upgrade.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  sqlite3 *db2 = opened(zFile);
  sqlite3_stmt *pStmt = prepared(db2, "INSERT INTO t(who) VALUES(1)");
  execute(db2, "BEGIN; SELECT count(*) FROM t");
  execute(db, "BEGIN IMMEDIATE");
  sqlite3_step(pStmt);
  check(sqlite3_reset(pStmt)==SQLITE_BUSY, "another one writes: busy");
  execute(db, "INSERT INTO t(who) VALUES(2); COMMIT");
  sqlite3_step(pStmt);
  check(sqlite3_extended_errcode(db2)==SQLITE_BUSY_SNAPSHOT, "another one has written: %d",
        sqlite3_extended_errcode(db2));
  sqlite3_reset(pStmt);
  check(counted(db2, zWaits)==0, "nobody has waited");
  execute(db2, "ROLLBACK");
  sqlite3_finalize(pStmt);
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* An application's handler is called as often, and with the same numbers, as by SQLite */
static char zCalls[400];
static int handler(void *pArg, int nCall){
  (void)pArg;
  sqlite3_snprintf(sizeof(zCalls)-(int)strlen(zCalls), &zCalls[strlen(zCalls)], "%d,", nCall);
  return nCall<6;
}
static void handlerScript(const Lib *pLib, int (*xHandler)(sqlite3*, int(*)(void*,int), void*),
                          const char *zFile, const char *zMode, Text *pOut){
  sqlite3 *db, *db2;
  static const char *const azSql[] = {
    "BEGIN IMMEDIATE", "INSERT INTO t(who) VALUES(1)", "BEGIN EXCLUSIVE", "SELECT count(*) FROM t",
    "PRAGMA wal_checkpoint(truncate)", "DELETE FROM t", "VACUUM", "BEGIN; INSERT INTO t(who) VALUES(3)",
  };
  int i;
  removeDb(zFile);
  db = openDb(pLib, zFile, 0);
  runOn(pLib, db, zMode);
  runOn(pLib, db, "CREATE TABLE t(id INTEGER PRIMARY KEY, who, n)");
  db2 = openDb(pLib, zFile, 0);
  xHandler(db2, handler, 0);
  for(i=0; i<2*(int)(sizeof(azSql)/sizeof(azSql[0])); i++){
    int rc;
    runOn(pLib, db, i%2 ? "BEGIN EXCLUSIVE" : "BEGIN; INSERT INTO t(who) VALUES(0)");
    zCalls[0] = 0;
    rc = pLib->exec(db2, azSql[i/2], 0, 0, 0);
    textAppend(pOut, "%s: %d %s\n", azSql[i/2], rc, zCalls);
    pLib->exec(db2, "ROLLBACK", 0, 0, 0);
    runOn(pLib, db, "COMMIT");
  }
  pLib->close(db2);
  pLib->close(db);
}

static void testHandlers(const char *zMode){
  int (*xStock)(sqlite3*, int(*)(void*,int), void*);
  void *pDl = dlopen(zStock, RTLD_NOW|RTLD_LOCAL);
  Text a = {0,0,0}, b = {0,0,0};
  *(void**)&xStock = pDl ? dlsym(pDl, "sqlite3_busy_handler") : 0;
  check(xStock!=0, "%s has sqlite3_busy_handler()", zStock);
  if( xStock==0 ) return;
  handlerScript(&ours, sqlite3_busy_handler, temporaryFile("handler1.db"), zMode, &a);
  handlerScript(&stock, xStock, temporaryFile("handler2.db"), zMode, &b);
  check(strcmp(a.z, b.z)==0, "%s: handlers are called otherwise:\n%s\n%s", zMode, a.z, b.z);
  check(strstr(a.z, "0,1,2,3,4,5,6,")!=0, "%s: they are called: %s", zMode, a.z);
  textClear(&a);
  textClear(&b);
}

/* In a process of its own: have the lock for a while, and tell that */
static int hold(const char *zFile){
  sqlite3 *db = opened(zFile);
  execute(db, "BEGIN IMMEDIATE");
  if( write(1, "!", 1)!=1 ) return 3;
  usleep(400000);
  execute(db, "COMMIT");
  sqlite3_close(db);
  return 0;
}

/* A process that is made while threads of its parent stand in line has a line of its own */
static void testFork(void){
  const char *zFile = temporaryFile("fork.db");
  pthread_t thread;
  Comer c = { zFile, 1, 0, -1, 30000, 0 };
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  int aPipe[2], status = -1;
  pid_t pid, pidHold;
  char cTold;
  check(pipe(aPipe)==0, "a pipe");
  pidHold = fork();
  if( pidHold==0 ){
    dup2(aPipe[1], 1);
    execl(zSelf, zSelf, zStock, "hold", zFile, (char*)0);
    _exit(3);
  }
  check(read(aPipe[0], &cTold, 1)==1, "another process has the lock");
  come(&c, &thread);
  pid = fork();
  if( pid==0 ){
    sqlite3 *db2 = opened(zFile);
    int i, rc = SQLITE_OK;
    for(i=0; i<20 && rc==SQLITE_OK; i++) rc = sqlite3_exec(db2, "INSERT INTO t(who) VALUES(5)", 0, 0, 0);
    _exit(rc);
  }
  waitpid(pid, &status, 0);
  check(status==0, "the child writes: %d", status);
  waitpid(pidHold, &status, 0);
  check(status==0, "the other process ends well: %d", status);
  pthread_join(thread, 0);
  check(c.rc==SQLITE_OK, "and the parent's thread writes: %d", c.rc);
  check(integer(&ours, db, "SELECT count(*) FROM t")==21, "all rows are there");
  close(aPipe[0]);
  close(aPipe[1]);
  sqlite3_close(db);
}

/* Stock SQLite in another process gets the lock beside threads of ours that want it all the time */
static int beside(const char *zFile){
  sqlite3 *db;
  int i, rc = SQLITE_OK;
  int (*xTimeout)(sqlite3*, int);
  *(void**)&xTimeout = dlsym(dlopen(zStock, RTLD_NOW|RTLD_LOCAL), "sqlite3_busy_timeout");
  if( loadStock(&stock, zStock) ) return 3;
  db = openDb(&stock, zFile, 0);
  xTimeout(db, 60000);
  for(i=0; i<20 && rc==SQLITE_OK; i++) rc = stock.exec(db, "INSERT INTO t(who) VALUES(99)", 0, 0, 0);
  if( rc ) fprintf(stderr, "stock beside ours: %d\n", rc);
  stock.close(db);
  return rc;
}
static void testBeside(const char *zMode){
  const char *zFile = temporaryFile("beside.db");
  pthread_t aThread[4];
  Writer aWriter[4];
  sqlite3 *db = made(zFile, zMode);
  int i, nRow = 0, status = -1;
  pid_t pid = fork();
  if( pid==0 ){
    execl(zSelf, zSelf, zStock, "beside", zFile, (char*)0);
    _exit(3);
  }
  for(i=0; i<4; i++){
    Writer w = { zFile, "PRAGMA synchronous=off", i, i%2, 0, 1<<30, &nRow, 0, 0 };
    aWriter[i] = w;
    pthread_create(&aThread[i], 0, writer, &aWriter[i]);
  }
  waitpid(pid, &status, 0);
  __atomic_store_n(&nRow, 1<<30, __ATOMIC_SEQ_CST);
  for(i=0; i<4; i++) pthread_join(aThread[i], 0);
  check(status==0, "%s: stock SQLite gets its turns: %d", zMode, status);
  check(integer(&ours, db, "SELECT count(*) FROM t WHERE who=99")==20, "%s: and its rows are there", zMode);
  sqlite3_close(db);
}

/* Who wants the file for itself is woken when a reader ends, in the line of writers or not */
static int bReading;
static void *reader(void *pFile){
  sqlite3 *db = opened((const char*)pFile);
  sqlite3_stmt *pStmt = prepared(db, "SELECT id FROM t");
  sqlite3_step(pStmt);
  __atomic_store_n(&bReading, 1, __ATOMIC_SEQ_CST);
  usleep(10000);
  sqlite3_finalize(pStmt);
  sqlite3_close(db);
  return 0;
}
static void testExclusive(const char *zSql){
  const char *zFile = temporaryFile("exclusive.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=delete");
  double tLeast = 1e9;
  int i;
  execute(db, "INSERT INTO t(who) VALUES(1)");
  for(i=0; i<20 && tLeast>0.06; i++){
    pthread_t thread;
    double t;
    __atomic_store_n(&bReading, 0, __ATOMIC_SEQ_CST);
    pthread_create(&thread, 0, reader, (void*)zFile);
    while( !__atomic_load_n(&bReading, __ATOMIC_SEQ_CST) ) usleep(100);
    t = now();
    execute(db, zSql);
    t = now()-t;
    if( t<tLeast ) tLeast = t;
    sqlite3_exec(db, "COMMIT", 0, 0, 0);
    pthread_join(thread, 0);
  }
  /* A reader ends after 10 ms: whoever is not woken sleeps for 100 */
  check(tLeast<0.06, "%s waits for %.0f ms", zSql, tLeast*1e3);
  sqlite3_close(db);
}

/*
** A connection that cannot get what it wants for a reason of its own, an exclusive lock in WAL mode while
** others have the file open, is no obstacle for the others.
*/
static int bWritten;
static int nExclusive;
static void *exclusive(void *pFile){
  sqlite3 *db = opened((const char*)pFile);
  int rc = SQLITE_BUSY;
  sqlite3_busy_timeout(db, 2000);
  execute(db, "PRAGMA locking_mode=exclusive");
  while( rc==SQLITE_BUSY && !__atomic_load_n(&bWritten, __ATOMIC_SEQ_CST) ){
    rc = sqlite3_exec(db, "BEGIN IMMEDIATE", 0, 0, 0);
    nExclusive++;
  }
  check(rc==SQLITE_BUSY, "an exclusive lock beside others: %d", rc);
  sqlite3_close(db);
  return 0;
}
static void testOwnReason(void){
  const char *zFile = temporaryFile("reason.db");
  pthread_t aThread[4];
  Writer aWriter[3];
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  int i, nRow = 0;
  pthread_create(&aThread[3], 0, exclusive, (void*)zFile);
  for(i=0; i<3; i++){
    Writer w = { zFile, "PRAGMA synchronous=off", i, 1, 3000, 900, &nRow, 0, 0 };
    aWriter[i] = w;
    pthread_create(&aThread[i], 0, writer, &aWriter[i]);
  }
  for(i=0; i<3; i++) pthread_join(aThread[i], 0);
  __atomic_store_n(&bWritten, 1, __ATOMIC_SEQ_CST);
  pthread_join(aThread[3], 0);
  /* 300 rows each take a second, and 30 if for each of them all wait for 100 ms */
  check(nExclusive<10, "the others write while it waits %d times", nExclusive);
  check(integer(&ours, db, "SELECT count(*) FROM t")==900, "all rows are there");
  sqlite3_close(db);
}

/* Another VFS on the same file changes who takes part, while somebody stands in line */
static void testMixed(void){
  const char *zFile = temporaryFile("mixed.db");
  char zUri[400];
  pthread_t aThread[2];
  Comer aComer[2];
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=delete"), *dbExcl;
  int i;
  execute(db, "BEGIN IMMEDIATE");
  for(i=0; i<2; i++){
    Comer c = { zFile, i, 0, -1, 300, 0 };
    aComer[i] = c;
    come(&aComer[i], &aThread[i]);
  }
  sqlite3_snprintf(sizeof(zUri), zUri, "file:%s?vfs=unix-excl", zFile);
  dbExcl = opened(zUri);
  check(integer(&ours, dbExcl, "SELECT count(*) FROM t")==0, "unix-excl reads beside unix");
  for(i=0; i<2; i++){
    pthread_join(aThread[i], 0);
    check(aComer[i].rc==SQLITE_BUSY, "its timeout is over: %d", aComer[i].rc);
  }
  execute(db, "INSERT INTO t(who) VALUES(7); COMMIT");
  sqlite3_close(dbExcl);
  execute(db, "INSERT INTO t(who) VALUES(8)");
  sqlite3_close(db);
}

/* With PRAGMA hp_turn=off nobody stands in line */
static void testOff(void){
  const char *zFile = temporaryFile("pragma.db");
  sqlite3 *db = made(zFile, "PRAGMA journal_mode=wal");
  sqlite3 *db2 = opened(zFile);
  Text text = {0,0,0};
  int rc;
  execute(db2, "PRAGMA hp_turn=off");
  answer(&ours, db2, "PRAGMA hp_turn", &text);
  check(strstr(text.z, "t'6f6666'")!=0, "hp_turn is %s", text.z);
  sqlite3_busy_timeout(db2, 60);
  execute(db, "BEGIN IMMEDIATE");
  rc = sqlite3_exec(db2, "INSERT INTO t(who) VALUES(1)", 0, 0, 0);
  check(rc==SQLITE_BUSY && counted(db2, zWaits)==0, "SQLite waits by itself: %d", rc);
  execute(db2, "PRAGMA hp_turn=on");
  rc = sqlite3_exec(db2, "INSERT INTO t(who) VALUES(1)", 0, 0, 0);
  check(rc==SQLITE_BUSY && counted(db2, zWaits)>0, "and now in line: %d", rc);
  execute(db, "COMMIT");
  textClear(&text);
  sqlite3_close(db2);
  sqlite3_close(db);
}

/* turn STOCK [threads]: only the tests with threads; turn STOCK
** beside FILE, turn STOCK hold FILE: see those */
int main(int argc, char **argv){
  static const char *const azMode[] = { "PRAGMA journal_mode=wal", "PRAGMA journal_mode=delete" };
  int i;
  zSelf = argv[0];
  zStock = argc>1 ? argv[1] : "";
  if( argc==4 ) return strcmp(argv[2], "hold")==0 ? hold(argv[3]) : beside(argv[3]);
  if( argc==2 ){
    check(loadStock(&stock, zStock)==0, "%s is a library", zStock);
    testUpgrade();
    testOff();
    testFork();
    testMixed();
    testOwnReason();
    testExclusive("BEGIN EXCLUSIVE");
    testExclusive("VACUUM");
    testExclusive("INSERT INTO t(who) VALUES(2)");
    for(i=0; i<2; i++){
      testHandlers(azMode[i]);
      testBeside(azMode[i]);
    }
  }
  for(i=0; i<2; i++){
    testOrder(azMode[i]);
    testTimeout(azMode[i]);
  }
  testWriters("wal", "off", 0, 0);
  testWriters("wal", "normal", 1, 0);
  testWriters("wal", "full", 0, 300);
  testWriters("delete", "off", 0, 0);
  testWriters("truncate", "off", 1, 100);
  return finish();
}
