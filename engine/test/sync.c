/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** One sync for the commits of several connections (hp_sync.c): what was told or
** seen is synced, a sync that fails fails its commits and no others, and all go
** on working.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "hptest.h"

static const char zShared[] = "commits synced together with another one";
static const char *zStock;
static Lib stock;

/*
** A disk that takes some time to sync, and of which we know what it has: the log
** as it was when the last sync began that has ended.
*/
static pthread_mutex_t diskMutex = PTHREAD_MUTEX_INITIALIZER;
static const char *zDisk;      /* The database whose log is watched, or NULL */
static int nSyncUs;            /* Microseconds that a sync takes */
static unsigned char *aSynced;
static int nSynced;
static int nSync;              /* Syncs up to now */
static int iFailing;           /* This one fails; 0: none */
static int nLongSync;          /* Those of 50 ms and more that have ended.  Atomic */
static int nNameSync;          /* Those of directories that have ended.  Atomic */

static int fdDisk = -1;        /* The database: to close it would end all locks */

static unsigned char *logOf(const char *zFile, int *pn){
  char zName[400];
  sqlite3_snprintf(sizeof(zName), zName, "%s-wal", zFile);
  return readFile(zName, pn);
}
int fdatasync(int fd){
  unsigned char *a = 0;
  int n = 0, bFails, nUs;
  struct stat buf;
  pthread_mutex_lock(&diskMutex);
  nSync++;
  bFails = nSync==iFailing;
  if( zDisk ) a = logOf(zDisk, &n);
  pthread_mutex_unlock(&diskMutex);
  nUs = nSyncUs;
  if( nUs ) usleep((useconds_t)nUs);
  if( nUs>=50000 ) __atomic_add_fetch(&nLongSync, 1, __ATOMIC_SEQ_CST);
  if( bFails ){
    free(a);
    errno = EIO;
    return -1;
  }
  if( fstat(fd, &buf)==0 && S_ISDIR(buf.st_mode) ) __atomic_add_fetch(&nNameSync, 1, __ATOMIC_SEQ_CST);
  if( a ){
    pthread_mutex_lock(&diskMutex);
    free(aSynced);
    aSynced = a;
    nSynced = n;
    pthread_mutex_unlock(&diskMutex);
  }
  return 0;
}

static sqlite3 *opened(const char *zFile){
  sqlite3 *db = openDb(&ours, zFile, 0);
  sqlite3_busy_timeout(db, 60000);
  execute(db, "PRAGMA synchronous=full; PRAGMA wal_autocheckpoint=0");
  return db;
}
static sqlite3 *made(const char *zFile){
  sqlite3 *db = freshDb(opened, zFile, "PRAGMA journal_mode=wal", "CREATE TABLE t(id INTEGER PRIMARY KEY, who, v)");
  execute(db, "CREATE TABLE keys(k PRIMARY KEY, who)");
  return db;
}

/*
** The power fails: the file is what it was, and of the log there is what was
** synced, and perhaps some of what was written since.  Opens what is left with
** stock's library.
*/
static sqlite3 *afterPowerFailure(const char *zFile, const char *zLeft, int iSeed){
  char zWal[400];
  unsigned char *aDb, *aNow;
  struct stat buf;
  int nDb, nNow, n;
  removeDb(zLeft);
  pthread_mutex_lock(&diskMutex);
  aNow = logOf(zFile, &nNow);
  fstat(fdDisk, &buf);
  aDb = malloc((size_t)buf.st_size);
  nDb = (int)pread(fdDisk, aDb, (size_t)buf.st_size, 0);
  n = nSynced;
  if( nNow>nSynced ){
    /* Some of the rest got to the disk, and its last sector is torn */
    int nMore = (int)((unsigned)iSeed*2654435761u % (unsigned)(nNow-nSynced+1));
    if( memcmp(aNow, aSynced, (size_t)(nSynced<32 ? nSynced : 32))==0 ){
      aSynced = realloc(aSynced, (size_t)(nSynced+nMore));
      memcpy(&aSynced[nSynced], &aNow[nSynced], (size_t)nMore);
      n = nSynced+nMore;
    }
  }
  sqlite3_snprintf(sizeof(zWal), zWal, "%s-wal", zLeft);
  writeFile(zLeft, aDb, nDb);
  writeFile(zWal, aSynced, n);
  pthread_mutex_unlock(&diskMutex);
  free(aNow);
  free(aDb);
  return openDb(&stock, zLeft, 0);
}

/*
** Writers, each of which notes what was acknowledged.
*/
enum { NWRITER = 8, NMOST = 20000 };
typedef struct Writer Writer;
struct Writer {
  const char *zFile;
  int iWho;
  int eKind;             /* 0: single statements, 1: transactions, 2: both, and more */
  int nOwn;              /* To commit */
  int nAck;              /* Acknowledged: rows 1 to nAck of iWho, but for those that failed.  Atomic */
  int nFailed;
  unsigned char aFailed[NMOST];
};
static Writer aWriter[NWRITER];

static int ran(sqlite3 *db, const char *zSql){
  return sqlite3_exec(db, zSql, 0, 0, 0);
}
static void *writer(void *pArg){
  Writer *p = (Writer*)pArg;
  sqlite3 *db = opened(p->zFile);
  int i;
  for(i=1; i<=p->nOwn; i++){
    char zSql[300];
    int rc, eKind = p->eKind==2 ? i%5 : p->eKind;
    sqlite3_snprintf(sizeof(zSql), zSql, "INSERT INTO t(who, v) VALUES(%d, %d)", p->iWho, i);
    if( eKind==0 ){
      rc = ran(db, zSql);
    }else if( eKind==3 ){
      /* Too large for the cache: its pages are written before the commit */
      execute(db, "PRAGMA cache_size=5");
      rc = ran(db, "BEGIN IMMEDIATE");
      if( rc==SQLITE_OK ) rc = ran(db, zSql);
      if( rc==SQLITE_OK ) rc = ran(db, "INSERT INTO keys SELECT random(), hex(randomblob(300)) FROM "
        "(SELECT 1 UNION SELECT 2 UNION SELECT 3), (SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4)");
      if( rc==SQLITE_OK ) rc = ran(db, "COMMIT");
    }else{
      rc = ran(db, "BEGIN IMMEDIATE");
      if( rc==SQLITE_OK && eKind==4 ){
        /* One that is rolled back comes to nothing, and so does a part of this */
        rc = ran(db, "INSERT INTO t(who, v) VALUES(-1, 1); ROLLBACK; BEGIN IMMEDIATE; SAVEPOINT s;"
                     "INSERT INTO t(who, v) VALUES(-2, 1); ROLLBACK TO s; RELEASE s");
      }
      /* May it keep columns of what it has found, or of what it writes? */
      if( rc==SQLITE_OK && eKind==5 ) rc = ran(db, "SELECT sum(v) FROM t");
      if( rc==SQLITE_OK ) rc = ran(db, zSql);
      if( rc==SQLITE_OK && eKind==5 ) rc = ran(db, "SELECT sum(v) FROM t");
      if( rc==SQLITE_OK ) rc = ran(db, "UPDATE t SET who=who WHERE id=(SELECT max(id) FROM t)");
      if( rc==SQLITE_OK ) rc = ran(db, "COMMIT");
    }
    if( rc!=SQLITE_OK ){
      check((rc & 0xff)==SQLITE_IOERR && iFailing>0, "writer %d, row %d: %d %s", p->iWho, i, rc, sqlite3_errmsg(db));
      if( !sqlite3_get_autocommit(db) ) execute(db, "ROLLBACK");
      p->aFailed[i] = 1;
      p->nFailed++;
    }
    __atomic_store_n(&p->nAck, i, __ATOMIC_SEQ_CST);
  }
  sqlite3_close(db);
  return 0;
}

/* All that writer i was told of, up to its row nAck, is in db */
static void checkAcknowledged(const Lib *pLib, sqlite3 *db, int i, int nAck, const char *zWhat){
  const Writer *p = &aWriter[i];
  char zSql[200];
  sqlite3_int64 n;
  int k, nWant = 0;
  for(k=1; k<=nAck; k++) nWant += !p->aFailed[k];
  sqlite3_snprintf(sizeof(zSql), zSql, "SELECT count(DISTINCT v) FROM t WHERE who=%d AND v<=%d", p->iWho, nAck);
  n = integer(pLib, db, zSql);
  check(n==nWant, "%s: writer %d was told of %d of its rows 1 to %d, and %lld are there", zWhat, i, nWant, nAck, n);
}

static void startAll(pthread_t *aThread, void *(*xRun)(void*), const char *zFile, int eKind, int nOwn){
  int i;
  for(i=0; i<NWRITER; i++){
    memset(&aWriter[i], 0, sizeof(aWriter[i]));
    aWriter[i].zFile = zFile;
    aWriter[i].iWho = i+1;
    aWriter[i].eKind = eKind;
    aWriter[i].nOwn = nOwn;
  }
  for(i=0; i<NWRITER; i++) pthread_create(&aThread[i], 0, xRun, &aWriter[i]);
}
static void start(pthread_t *aThread, const char *zFile, int eKind, int nOwn){
  startAll(aThread, writer, zFile, eKind, nOwn);
}

/* Threads of xRun write to a new file, with short syncs, and all that they were told
** of is there.  Returns a connection. */
static sqlite3 *allRan(void *(*xRun)(void*), const char *zFile, int nOwn, const char *zWhat){
  pthread_t aThread[NWRITER];
  sqlite3 *db;
  int i;
  nSyncUs = 0;
  db = made(zFile);
  nSyncUs = 300;
  startAll(aThread, xRun, zFile, 0, nOwn);
  for(i=0; i<NWRITER; i++) pthread_join(aThread[i], 0);
  nSyncUs = 0;
  for(i=0; i<NWRITER; i++) checkAcknowledged(&ours, db, i, nOwn, zWhat);
  checkIntegrity(&ours, db, zWhat);
  return db;
}

/* The power fails at any moment: what was told, and what a reader has seen, is
** there.  A checkpoint would sync the file too, and is another test's. */
/* Memory shared with other processes: what they have seen, or were told */
enum { NKILLED = 9 };
static int *pSeen;
static int *mapped(const char *zFile){
  char zName[400];
  int fd;
  void *p;
  sqlite3_snprintf(sizeof(zName), zName, "%s-seen", zFile);
  fd = open(zName, O_RDWR|O_CREAT, 0600);
  if( fd<0 || ftruncate(fd, sizeof(int)*(NKILLED+1)) ) exit(2);
  p = mmap(0, sizeof(int)*(NKILLED+1), PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return (int*)p;
}
static void sees(const char *zFile){
  sqlite3 *db = openDb(&stock, zFile, 0);
  for(;;){
    int n = (int)integer(&stock, db, "SELECT count(*) FROM t");
    __atomic_store_n(pSeen, n, __ATOMIC_SEQ_CST);
  }
}
static void testPower(int eKind, int nRound){
  const char *zFile = temporaryFile("power.db");
  const char *zLeft = temporaryFile("left.db");
  pthread_t aThread[NWRITER];
  sqlite3 *db;
  int i, k, nBefore;
  pid_t pid;
  char zWhat[100];
  zDisk = 0;
  nSyncUs = 0;
  db = made(zFile);
  execute(db, "INSERT INTO t(who, v) VALUES(0, 0)");
  pthread_mutex_lock(&diskMutex);
  free(aSynced);
  aSynced = logOf(zFile, &nSynced);
  zDisk = zFile;
  nBefore = nSync;
  pthread_mutex_unlock(&diskMutex);
  fdDisk = open(zFile, O_RDONLY);
  pSeen = mapped(zFile);
  *pSeen = 0;
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl("/proc/self/exe", "sync", zStock, "sees", zFile, (char*)0);
    _exit(9);
  }
  nSyncUs = 1500;
  start(aThread, zFile, eKind, 40*nRound);
  for(k=0; k<nRound; k++){
    int aAck[NWRITER];
    sqlite3_int64 nSeen, nSeenStock;
    sqlite3 *dbLeft;
    usleep(7000);
    sqlite3_snprintf(sizeof(zWhat), zWhat, "kind %d, power failure %d", eKind, k);
    for(i=0; i<NWRITER; i++) aAck[i] = __atomic_load_n(&aWriter[i].nAck, __ATOMIC_SEQ_CST);
    nSeen = integer(&ours, db, "SELECT count(*) FROM t");
    nSeenStock = __atomic_load_n(pSeen, __ATOMIC_SEQ_CST);
    dbLeft = afterPowerFailure(zFile, zLeft, k*31+eKind);
    for(i=0; i<NWRITER; i++) checkAcknowledged(&stock, dbLeft, i, aAck[i], zWhat);
    check(integer(&stock, dbLeft, "SELECT count(*) FROM t")>=nSeen, "%s: a reader of ours has seen %lld rows", zWhat, nSeen);
    check(integer(&stock, dbLeft, "SELECT count(*) FROM t")>=nSeenStock, "%s: a reader has seen %lld rows", zWhat, nSeenStock);
    check(integer(&stock, dbLeft, "SELECT count(*) FROM t WHERE who<0")==0, "%s: what was rolled back is not there", zWhat);
    checkIntegrity(&stock, dbLeft, zWhat);
    stock.close(dbLeft);
  }
  for(i=0; i<NWRITER; i++) pthread_join(aThread[i], 0);
  for(i=0; i<NWRITER; i++) checkAcknowledged(&ours, db, i, aWriter[i].nOwn, "at the end");
  check(__atomic_load_n(pSeen, __ATOMIC_SEQ_CST)>0, "another process has seen rows");
  kill(pid, SIGKILL);
  waitpid(pid, 0, 0);
  check(nSync-nBefore<NWRITER*40*nRound, "kind %d: %d syncs for %d commits", eKind, nSync-nBefore, NWRITER*40*nRound);
  checkIntegrity(&ours, db, "at the end");
  zDisk = 0;
  sqlite3_close(db);
  close(fdDisk);
}

/* The i-th sync fails, for each i: whoever was told so has no row, all others
** have theirs, and all go on. */
static void testFailing(int eKind){
  const char *zFile = temporaryFile("failing.db");
  pthread_t aThread[NWRITER];
  int i, k, nFailed = 0;
  for(k=1; k<=(longRun() ? 60 : 7); k++){
    sqlite3 *db;
    char zWhat[100];
    sqlite3_int64 n, nWant = 0;
    nSyncUs = 0;
    iFailing = 0;
    db = made(zFile);
    execute(db, "INSERT INTO t(who, v) VALUES(0, 0); DELETE FROM t");
    sqlite3_snprintf(sizeof(zWhat), zWhat, "kind %d, sync %d fails", eKind, k);
    nSyncUs = 800;
    /* Those of directories, whose errors SQLite does not heed, count too */
    iFailing = nSync+8+3*k;
    start(aThread, zFile, eKind, 20);
    for(i=0; i<NWRITER; i++) pthread_join(aThread[i], 0);
    nSyncUs = 0;
    for(i=0; i<NWRITER; i++){
      checkAcknowledged(&ours, db, i, aWriter[i].nOwn, zWhat);
      nFailed += aWriter[i].nFailed;
      nWant += aWriter[i].nOwn - aWriter[i].nFailed;
    }
    n = integer(&ours, db, "SELECT count(*) FROM t");
    check(n==nWant, "%s: %lld rows, %lld wanted", zWhat, n, nWant);
    checkIntegrity(&ours, db, zWhat);
    sqlite3_close(db);
    db = openDb(&stock, zFile, 0);
    n = integer(&stock, db, "SELECT count(*) FROM t");
    check(n==nWant, "%s: %lld rows for stock, %lld wanted", zWhat, n, nWant);
    checkIntegrity(&stock, db, zWhat);
    stock.close(db);
  }
  iFailing = 0;
  check(nFailed>0, "kind %d: %d commits failed", eKind, nFailed);
}

/*
** What a statement tells of a commit that is not synced yet waits for it.  Here
** one thread commits a key, with a sync that takes long, and another one comes.
*/
typedef struct Teller Teller;
struct Teller {
  const char *zFile;
  const char *zSql;
  int bMust;             /* It must wait */
};
static int longSyncs(void){ return __atomic_load_n(&nLongSync, __ATOMIC_SEQ_CST); }
static void *teller(void *pArg){
  const char *zFile = (const char*)pArg;
  sqlite3 *db = opened(zFile);
  int nUs = nSyncUs;
  /* Its first commit syncs more, and opens no chain */
  nSyncUs = 0;
  execute(db, "INSERT INTO t(who, v) VALUES(7, 7)");
  nSyncUs = nUs;
  execute(db, "INSERT INTO keys VALUES('a', 1)");
  sqlite3_close(db);
  return 0;
}
static void *failingTeller(void *pArg){
  const char *zFile = (const char*)pArg;
  sqlite3 *db = opened(zFile);
  int rc;
  /* Its first commit syncs more, and opens no chain */
  nSyncUs = 0;
  iFailing = 0;
  execute(db, "INSERT INTO t(who, v) VALUES(7, 7)");
  nSyncUs = 60000;
  iFailing = nSync+1;
  rc = sqlite3_exec(db, "INSERT INTO keys VALUES('a', 1)", 0, 0, 0);
  check(rc==SQLITE_IOERR || rc==SQLITE_IOERR_FSYNC, "the sync fails: %d", rc);
  sqlite3_close(db);
  return 0;
}
static void *waiter(void *pArg){
  sqlite3 *db = opened((const char*)pArg);
  execute(db, "INSERT INTO t(who, v) VALUES(9, 9)");
  sqlite3_close(db);
  return 0;
}
/* Two connections to a new file, of which the second has read it.  Somebody has
** waited for the first one of late, so commits open chains. */
static sqlite3 *pair(const char *zFile, sqlite3 **pp2){
  sqlite3 *db;
  pthread_t other;
  nSyncUs = 0;
  db = made(zFile);
  *pp2 = opened(zFile);
  integer(&ours, *pp2, "SELECT count(*) FROM keys");
  execute(db, "BEGIN IMMEDIATE");
  pthread_create(&other, 0, waiter, (void*)zFile);
  usleep(20000);
  execute(db, "COMMIT");
  pthread_join(other, 0);
  return db;
}
static void testTells(const char *zBegin, const char *zSql, int bMust){
  const char *zFile = temporaryFile("tells.db");
  sqlite3 *db, *db2;
  pthread_t thread, other;
  int i, bWaited = 0, bBefore = 0, bSynced = 0;
  for(i=0; i<20 && !(bMust ? bWaited : bBefore); i++){
    nSyncUs = 0;
    zDisk = 0;
    db = made(zFile);
    execute(db, "INSERT INTO keys VALUES('old', 0)");
    db2 = opened(zFile);
    integer(&ours, db2, "SELECT count(*) FROM keys");
    /* Somebody has waited of late, so a chain is opened */
    execute(db, "BEGIN IMMEDIATE");
    pthread_create(&other, 0, waiter, (void*)zFile);
    usleep(20000);
    execute(db, "COMMIT");
    pthread_join(other, 0);
    nSyncUs = 60000;
    nLongSync = 0;
    pthread_create(&thread, 0, teller, (void*)zFile);
    usleep(20000);
    if( zBegin ) execute(db2, zBegin);
    if( zBegin==0 || !longSyncs() ){
      sqlite3_stmt *pStmt = prepared(db2, zSql);
      sqlite3_step(pStmt);
      bSynced = longSyncs()>0;
      sqlite3_finalize(pStmt);
      bWaited |= bSynced;
      bBefore |= !bSynced;
      check(!bMust || bSynced, "%s: tells of a commit that is not synced", zSql);
    }
    if( !sqlite3_get_autocommit(db2) ) sqlite3_exec(db2, "ROLLBACK", 0, 0, 0);
    pthread_join(thread, 0);
    sqlite3_close(db2);
    sqlite3_close(db);
  }
  check(bMust ? bWaited : bBefore, "%s: %s", zSql, bMust ? "it waits" : "it need not wait");
}

/* changes() and its like wait too */
static void testChanges(void){
  const char *zFile = temporaryFile("changes.db");
  int i, bOverlap = 0;
  for(i=0; i<20 && !bOverlap; i++){
    sqlite3 *db, *db2;
    pthread_t thread;
    db = pair(zFile, &db2);
    nSyncUs = 60000;
    nLongSync = 0;
    pthread_create(&thread, 0, teller, (void*)zFile);
    usleep(20000);
    execute(db2, "BEGIN IMMEDIATE; DELETE FROM keys WHERE k='a'");
    if( !longSyncs() ){
      bOverlap = 1;
      check(sqlite3_changes(db2)==1, "it has seen the row");
      check(longSyncs(), "changes() waits for the sync");
    }
    execute(db2, "ROLLBACK");
    pthread_join(thread, 0);
    sqlite3_close(db2);
    sqlite3_close(db);
  }
  check(bOverlap, "a transaction overlaps with a sync");
}

/*
** A sync fails while another connection has begun a transaction with the commit
** that it was for: whatever this one asks then fails, and it is rolled back.
*/
static void testFailedBase(int bChanges, const char *zSql){
  const char *zFile = temporaryFile("base.db");
  int i, bOverlap = 0;
  for(i=0; i<20 && !bOverlap; i++){
    sqlite3 *db, *db2;
    pthread_t thread;
    iFailing = 0;
    db = pair(zFile, &db2);
    nSyncUs = 60000;
    nLongSync = 0;
    iFailing = nSync+1;
    pthread_create(&thread, 0, failingTeller, (void*)zFile);
    usleep(20000);
    execute(db2, "BEGIN IMMEDIATE");
    if( !longSyncs() ){
      int rc;
      if( bChanges ) sqlite3_changes(db2);
      rc = sqlite3_exec(db2, zSql, 0, 0, 0);
      bOverlap = rc!=SQLITE_OK;
      check(rc==SQLITE_OK || (rc&0xff)==SQLITE_IOERR, "%s: %d %s", zSql, rc, sqlite3_errmsg(db2));
      if( bOverlap ){
        check(sqlite3_get_autocommit(db2), "%s: the transaction is rolled back", zSql);
        check(integer(&ours, db2, "SELECT count(*) FROM keys")==0, "%s: the row is not there", zSql);
        execute(db2, "BEGIN IMMEDIATE; INSERT INTO keys VALUES('a', 3); COMMIT");
      }
    }
    if( !sqlite3_get_autocommit(db2) ) execute(db2, "ROLLBACK");
    pthread_join(thread, 0);
    nSyncUs = 0;
    check(integer(&ours, db, "SELECT count(*) FROM keys WHERE who=1")==0, "what failed is not there");
    check(!bOverlap || integer(&ours, db, "SELECT count(*) FROM keys WHERE who=3")==1, "what came then is");
    checkIntegrity(&ours, db, zSql);
    sqlite3_close(db2);
    sqlite3_close(db);
  }
  iFailing = 0;
  check(bOverlap, "%s: a transaction overlaps with a sync that fails", zSql);
}

/* A hook that is set when a transaction has begun, or before */
static int nHook, bHookEarly;
static void updated(void *p, int op, const char *zDb, const char *zTable, sqlite3_int64 i){
  (void)p; (void)op; (void)zDb; (void)zTable; (void)i;
  nHook++;
  bHookEarly |= !longSyncs();
}
static int traced(unsigned m, void *p, void *pStmt, void *x){
  (void)m; (void)p; (void)x;
  if( m==SQLITE_TRACE_ROW ) updated(0, 0, 0, (const char*)pStmt, 0);
  return 0;
}
static void rolledBack(void *p){ updated(p, 0, 0, 0, 0); }
static void testHook(int eKind){
  const char *zFile = temporaryFile("hook.db");
  int i;
  nHook = bHookEarly = 0;
  for(i=0; i<5; i++){
    sqlite3 *db, *db2;
    pthread_t thread;
    db = pair(zFile, &db2);
    if( eKind==1 ) sqlite3_trace_v2(db2, SQLITE_TRACE_ROW, traced, 0);
    if( eKind==2 ) sqlite3_rollback_hook(db2, rolledBack, 0);
    nSyncUs = 60000;
    nLongSync = 0;
    pthread_create(&thread, 0, teller, (void*)zFile);
    usleep(20000);
    if( eKind==0 ){
      execute(db2, "BEGIN IMMEDIATE");
      sqlite3_update_hook(db2, updated, 0);
      execute(db2, "UPDATE keys SET who=who; ROLLBACK");
    }else if( eKind==1 ){
      execute(db2, "BEGIN IMMEDIATE; SELECT * FROM keys; ROLLBACK");
    }else{
      sqlite3_exec(db2, "INSERT OR ROLLBACK INTO keys VALUES('a', 2)", 0, 0, 0);
    }
    nSyncUs = 0;
    pthread_join(thread, 0);
    sqlite3_close(db2);
    sqlite3_close(db);
  }
  check(nHook>0 && !bHookEarly, "hook %d is called %d times, too early: %d", eKind, nHook, bHookEarly);
}

/* A writer that wants the file for itself does not keep the lock on loan while it
** waits for that. */
static void testExclusive(void){
  const char *zFile = temporaryFile("alone.db");
  pthread_t aThread[NWRITER];
  sqlite3 *db, *db2;
  int nBefore;
  nSyncUs = 0;
  db = made(zFile);
  nSyncUs = 300;
  start(aThread, zFile, 0, 4000);
  usleep(100000);
  db2 = opened(zFile);
  execute(db2, "PRAGMA locking_mode=exclusive");
  sqlite3_busy_timeout(db2, 400);
  nBefore = (int)integer(&ours, db, "SELECT count(*) FROM t");
  sqlite3_exec(db2, "INSERT INTO t(who, v) VALUES(0, 0)", 0, 0, 0);
  check((int)integer(&ours, db, "SELECT count(*) FROM t")>nBefore+10, "the others go on");
  sqlite3_close(db2);
  { int i; for(i=0; i<NWRITER; i++) pthread_join(aThread[i], 0); }
  nSyncUs = 0;
  sqlite3_close(db);
}

/* The schema changes within a chain, connections come and go, with hooks and
** other settings, and readers: all rows are there. */
static void *mixer(void *pArg){
  Writer *p = (Writer*)pArg;
  int i;
  for(i=1; i<=p->nOwn; i++){
    sqlite3 *db = opened(p->zFile);
    char zSql[300];
    sqlite3_snprintf(sizeof(zSql), zSql, "CREATE TABLE x%d_%d(a); INSERT INTO x%d_%d VALUES(1); DROP TABLE x%d_%d",
                     p->iWho, i, p->iWho, i, p->iWho, i);
    if( i%4==0 ) execute(db, zSql);
    if( i%3==0 ) execute(db, "PRAGMA synchronous=normal");
    if( i%7==0 ) execute(db, "PRAGMA wal_autocheckpoint=5");
    if( i%5==0 ) execute(db, "PRAGMA hp_turn=off");
    sqlite3_snprintf(sizeof(zSql), zSql, "INSERT INTO t(who, v) VALUES(%d, %d) RETURNING id", p->iWho, i);
    check(integer(&ours, db, zSql)>0, "a row is returned");
    if( i%6==0 ) execute(db, "BEGIN IMMEDIATE; INSERT INTO t(who, v) VALUES(-1, 1)");   /* and close */
    p->nAck = i;
    sqlite3_close(db);
  }
  return 0;
}
static void testMixed(int nOwn){
  const char *zFile = temporaryFile("mixed.db");
  sqlite3 *db = allRan(mixer, zFile, nOwn, "mixed");
  check(integer(&ours, db, "SELECT count(*) FROM t WHERE who<0")==0, "what was rolled back is not there");
  check(integer(&ours, db, "SELECT count(*) FROM sqlite_schema")==3, "no table is left");
  sqlite3_close(db);
}

/*
** Processes of ours with several threads each, and one of stock, write to a file
** and are killed, all at any moment.  What they were told stands in memory that
** they share with this process.
*/
typedef struct Killed Killed;
struct Killed {
  const char *zFile;
  int iWho;
  const Lib *pLib;
  int *pAck;             /* Rows 1 to *pAck were acknowledged */
};
static void *killed(void *pArg){
  Killed *p = (Killed*)pArg;
  sqlite3 *db = openDb(p->pLib, p->zFile, 0);
  char zSql[200];
  int i;
  runOn(p->pLib, db, "PRAGMA busy_timeout=60000");
  if( p->iWho%4!=3 ) runOn(p->pLib, db, "PRAGMA synchronous=full");
  else runOn(p->pLib, db, "PRAGMA synchronous=normal");
  runOn(p->pLib, db, "PRAGMA wal_autocheckpoint=50");
  sqlite3_snprintf(sizeof(zSql), zSql, "SELECT coalesce(max(v), 0) FROM t WHERE who=%d", p->iWho);
  for(i=1+(int)integer(p->pLib, db, zSql); ; i++){
    sqlite3_snprintf(sizeof(zSql), zSql, "%sINSERT INTO t(who, v) VALUES(%d, %d)%s", i%2 ? "BEGIN IMMEDIATE; " : "",
                     p->iWho, i, i%2 ? "; UPDATE keys SET who=who+1; COMMIT" : "");
    runOn(p->pLib, db, zSql);
    __atomic_store_n(p->pAck, i, __ATOMIC_SEQ_CST);
  }
  return 0;
}
static void kills(const char *zFile, int iFirst, int n){
  static Killed aKilled[NKILLED];
  pthread_t thread;
  int i;
  for(i=0; i<n; i++){
    Killed k = { zFile, iFirst+i, iFirst+i==NKILLED ? &stock : &ours, &pSeen[iFirst+i] };
    aKilled[i] = k;
    pthread_create(&thread, 0, killed, &aKilled[i]);
  }
  for(;;) pause();
}
static void testKilled(const char *zMode, int nRound){
  static const int aFirst[] = { 1, 5, NKILLED }, aCount[] = { 4, 4, 1 };
  const char *zFile = temporaryFile("killed.db");
  int k, i;
  nSyncUs = 0;
  sqlite3_close(made(zFile));
  pSeen = mapped(zFile);
  memset(pSeen, 0, sizeof(int)*(NKILLED+1));
  for(k=0; k<nRound; k++){
    pid_t aPid[3];
    sqlite3 *db = openDb(&stock, zFile, 0);
    char zWhat[100];
    runOn(&stock, db, zMode);
    stock.close(db);
    fflush(stdout);
    for(i=0; i<3; i++){
      aPid[i] = fork();
      if( aPid[i]==0 ){
        char zFirst[20], zCount[20];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sqlite3_snprintf(sizeof(zFirst), zFirst, "%d", aFirst[i]);
        sqlite3_snprintf(sizeof(zCount), zCount, "%d", aCount[i]);
        execl("/proc/self/exe", "sync", zStock, "kills", zFile, zFirst, zCount, (char*)0);
        _exit(9);
      }
    }
    usleep((useconds_t)(30000 + (unsigned)k*2654435761u%60000));
    for(i=0; i<3; i++) kill(aPid[(i+k)%3], SIGKILL);
    for(i=0; i<3; i++) waitpid(aPid[i], 0, 0);
    sqlite3_snprintf(sizeof(zWhat), zWhat, "%s, kill %d", zMode, k);
    db = openDb(&stock, zFile, 0);
    for(i=1; i<=NKILLED; i++){
      char zSql[100];
      int nAck = __atomic_load_n(&pSeen[i], __ATOMIC_SEQ_CST);
      sqlite3_snprintf(sizeof(zSql), zSql, "SELECT count(*) FROM t WHERE who=%d AND v<=%d", i, nAck);
      check(integer(&stock, db, zSql)==nAck, "%s: %d rows of %d were acknowledged", zWhat, nAck, i);
    }
    checkIntegrity(&stock, db, zWhat);
    stock.close(db);
  }
  check(pSeen[1]+pSeen[5]>nRound, "%s: the writers wrote: %d, %d", zMode, pSeen[1], pSeen[5]);
}

/* Two writers are faster than one, and one is as with SQLite */
static void testShares(void){
  const char *zFile = temporaryFile("shares.db");
  pthread_t aThread[NWRITER];
  sqlite3 *db;
  int i, nBefore;
  nSyncUs = 0;
  db = made(zFile);
  execute(db, "INSERT INTO t(who, v) VALUES(0, 0)");
  nSyncUs = 2000;
  nBefore = nSync;
  for(i=0; i<20; i++) execute(db, "INSERT INTO t(who, v) VALUES(0, 0)");
  check(nSync-nBefore==20 && counted(db, zShared)==0, "alone: %d syncs for 20 commits", nSync-nBefore);
  nBefore = nSync;
  start(aThread, zFile, 0, 100);
  for(i=0; i<NWRITER; i++) pthread_join(aThread[i], 0);
  check((nSync-nBefore)*2<NWRITER*100, "%d syncs for %d commits", nSync-nBefore, NWRITER*100);
  nSyncUs = 0;
  sqlite3_close(db);
}

/* A log that has begun anew is cut off to its limit, as SQLite does: by a commit that
** nobody follows, so that no frame of another one is cut off too. */
static void *cutter(void *pArg){
  Writer *p = (Writer*)pArg;
  sqlite3 *db = opened(p->zFile);
  int i;
  execute(db, "PRAGMA journal_size_limit=20000");
  for(i=1; i<=p->nOwn; i++){
    char zSql[200];
    if( p->iWho==1 && i%10==0 ){
      execute(db, "INSERT INTO t(who, v) VALUES(0, zeroblob(400000)); DELETE FROM t WHERE who=0;"
                  "PRAGMA wal_checkpoint(restart)");
    }
    sqlite3_snprintf(sizeof(zSql), zSql, "INSERT INTO t(who, v) VALUES(%d, %d)", p->iWho, i);
    execute(db, zSql);
    __atomic_store_n(&p->nAck, i, __ATOMIC_SEQ_CST);
  }
  sqlite3_close(db);
  return 0;
}
static void testCutOff(int nOwn){
  const char *zFile = temporaryFile("cut.db");
  sqlite3 *db = allRan(cutter, zFile, nOwn, "cut off");
  struct stat buf;
  char zWal[400];
  execute(db, "PRAGMA journal_size_limit=20000; PRAGMA wal_checkpoint(restart); DELETE FROM t WHERE id=1");
  sqlite3_snprintf(sizeof(zWal), zWal, "%s-wal", zFile);
  check(stat(zWal, &buf)==0 && buf.st_size<=40000, "the log is cut off: %lld bytes", (long long)buf.st_size);
  sqlite3_close(db);
}

/* The log is a new file: nobody is told of a commit before its name is synced. */
static int nUnnamed;           /* Commits that were told too early.  Atomic */
static void *namer(void *pArg){
  sqlite3 *db = opened((const char*)pArg);
  int i;
  for(i=0; i<3; i++){
    execute(db, "INSERT INTO t(who, v) VALUES(1, 1)");
    if( __atomic_load_n(&nNameSync, __ATOMIC_SEQ_CST)==0 ) __atomic_add_fetch(&nUnnamed, 1, __ATOMIC_SEQ_CST);
  }
  sqlite3_close(db);
  return 0;
}
static void testNewLog(int nRound){
  const char *zFile = temporaryFile("named.db");
  int i, k;
  nSyncUs = nUnnamed = 0;
  sqlite3_close(made(zFile));
  nSyncUs = 200;
  for(k=0; k<nRound; k++){
    pthread_t aThread[NWRITER];
    nNameSync = 0;
    for(i=0; i<NWRITER; i++) pthread_create(&aThread[i], 0, namer, (void*)zFile);
    for(i=0; i<NWRITER; i++) pthread_join(aThread[i], 0);
  }
  nSyncUs = 0;
  check(nUnnamed==0, "%d commits were told before the name of their log was synced", nUnnamed);
}

/* Syncs fail while readers keep columns of the table: they never have what came to
** nothing, nor those of another commit that had the same frames. */
static int bReadersEnd;
static void *columnReader(void *pArg){
  static const char zSql[] = "SELECT count(*) || ',' || sum(v) || ',' || sum(who*v) || ',' || max(v) FROM t";
  sqlite3 *db = opened((const char*)pArg);
  int nDone = 0;
  while( !__atomic_load_n(&bReadersEnd, __ATOMIC_SEQ_CST) ){
    int k;
    char *azText[2];
    execute(db, "BEGIN");
    for(k=0; k<2; k++){
      sqlite3_stmt *pStmt;
      execute(db, k ? "PRAGMA hp_columns=off" : "PRAGMA hp_columns=auto");
      pStmt = prepared(db, zSql);
      azText[k] = sqlite3_step(pStmt)==SQLITE_ROW
          ? sqlite3_mprintf("%s", sqlite3_column_text(pStmt, 0)) : 0;
      sqlite3_finalize(pStmt);
    }
    execute(db, "COMMIT");
    if( azText[0]==0 || azText[1]==0 || strcmp(azText[0], azText[1]) ){
      check(0, "columns: %s, the file: %s", azText[0], azText[1]);
    }
    sqlite3_free(azText[0]);
    sqlite3_free(azText[1]);
    nDone++;
  }
  sqlite3_close(db);
  check(nDone>3, "a reader has read %d times", nDone);
  return 0;
}
static void testColumns(int nRound){
  const char *zFile = temporaryFile("kept.db");
  pthread_t aThread[NWRITER], aReader[2];
  int i, k, nFailed = 0;
  for(k=0; k<nRound; k++){
    sqlite3 *db;
    nSyncUs = 0;
    iFailing = 0;
    db = made(zFile);
    execute(db, "INSERT INTO t(who, v) SELECT 0, value FROM " SERIES("3000"));
    __atomic_store_n(&bReadersEnd, 0, __ATOMIC_SEQ_CST);
    for(i=0; i<2; i++) pthread_create(&aReader[i], 0, columnReader, (void*)zFile);
    nSyncUs = 800;
    iFailing = nSync+30+7*k;
    start(aThread, zFile, k%3==1 ? 2 : k%3==2 ? 0 : 5, 30);
    for(i=0; i<NWRITER; i++) pthread_join(aThread[i], 0);
    __atomic_store_n(&bReadersEnd, 1, __ATOMIC_SEQ_CST);
    for(i=0; i<2; i++) pthread_join(aReader[i], 0);
    nSyncUs = 0;
    for(i=0; i<NWRITER; i++){
      checkAcknowledged(&ours, db, i, aWriter[i].nOwn, "columns");
      nFailed += aWriter[i].nFailed;
    }
    sqlite3_close(db);
  }
  iFailing = 0;
  check(nFailed>0, "%d commits failed beside readers", nFailed);
}

int main(int argc, char **argv){
  int bThreads = argc>2 && strcmp(argv[2], "threads")==0;
  int k;
  zStock = argc>1 ? argv[1] : "";
  check(loadStock(&stock, zStock)==0, "%s is a library", zStock);
  if( argc>3 && strcmp(argv[2], "sees")==0 ){
    pSeen = mapped(argv[3]);
    sees(argv[3]);
  }
  if( argc>5 && strcmp(argv[2], "kills")==0 ){
    pSeen = mapped(argv[3]);
    kills(argv[3], atoi(argv[4]), atoi(argv[5]));
  }
  if( argc>2 && strcmp(argv[2], "columns")==0 ){
    testColumns(longRun() ? 60 : 6);
    return finish();
  }
  testShares();
  for(k=0; k<3; k++) testPower(k, longRun() ? 100 : bThreads ? 3 : 6);
  testMixed(longRun() ? 400 : 30);
  for(k=0; k<4; k++) testFailing(k);
  testCutOff(longRun() ? 400 : 40);
  testNewLog(longRun() ? 200 : 10);
  if( !bThreads ){
    testTells(0, "INSERT INTO keys VALUES('a', 2)", 1);
    testTells(0, "INSERT INTO keys VALUES('b', 2) RETURNING k", 1);
    testTells(0, "UPDATE keys SET who=5 WHERE k='c'", 1);
    testTells("BEGIN IMMEDIATE", "SELECT count(*) FROM keys", 1);
    testTells("BEGIN IMMEDIATE", "SELECT * FROM keys WHERE k='z'", 1);
    testTells("BEGIN IMMEDIATE", "INSERT INTO keys VALUES('a', 2)", 1);
    testTells("BEGIN IMMEDIATE", "ROLLBACK", 1);
    testTells("BEGIN IMMEDIATE", "INSERT INTO keys VALUES('d', 2)", 0);
    testTells("BEGIN", "INSERT INTO keys VALUES('d', 2)", 0);
    testChanges();
    testFailedBase(0, "SELECT count(*) FROM keys");
    testFailedBase(0, "SELECT * FROM keys WHERE k='z'");
    testFailedBase(0, "SELECT 1");
    testFailedBase(1, "SELECT count(*) FROM keys; COMMIT");
    testFailedBase(1, "INSERT INTO keys VALUES('c', 1); COMMIT");
    testFailedBase(0, "COMMIT");
    for(k=0; k<3; k++) testHook(k);
    testKilled("PRAGMA journal_mode=wal", longRun() ? 300 : 15);
    testKilled("PRAGMA journal_mode=delete", longRun() ? 100 : 5);
    testExclusive();
  }
  return finish();
}
