/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Look-ups by key on many connections in WAL mode (hp_store.c, hp_seek.c and
** hp_readlock.c).
**
**   1. Pages are kept and used, within the bounds that apply, and given back.
**   2. Another process, on stock SQLite, writes, checkpoints, vacuums and
**      changes the journal mode between look-ups: they see it at once, also
**      after a switch of the journal mode here that failed.
**   3. The locks that another process meets are those of stock SQLite.
**   4. Threads look up while one writes and checkpoints, and while a heap limit
**      comes and goes.  Runs under ThreadSanitizer as well: `connections STOCK
**      threads`.
**   5. Memory runs out at every allocation, and reading fails.
**   6. Locks that linger (hp_linger()) spare the system calls, are in nobody's way in
**      this process, in others' like a reader's until they end, and end with the
**      last connection.  They keep no log from beginning anew, and no checkpoint
**      from its end, for longer.  2 and 4 once more, while they do.
**   7. Searching by rowid gives what a scan gives, however rowids are spread.
*/
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"
#include "hpsqlite.h"

#define N_ROW 4000               /* Rows, one a page: twice the page cache */

static const char *zStock;       /* The stock library */
static const char *zDb;          /* The database */

static unsigned long long seed = 1;
static unsigned random32(void){
  seed = seed*6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(seed>>33);
}

static void makeDb(int nRow){
  sqlite3 *db;
  char *zSql;
  removeDb(zDb);
  db = openDb(&ours, zDb, 0);
  execute(db, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL;"
              "PRAGMA synchronous=OFF;"
              "CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER, x)");
  zSql = sqlite3_mprintf("WITH s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s"
      " LIMIT %d) INSERT INTO t SELECT i, 0, zeroblob(700) FROM s", nRow);
  execute(db, zSql);
  sqlite3_free(zSql);
  execute(db, "PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_close(db);
}

static int misses(sqlite3 *db){
  int n = 0, mx = 0;
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &n, &mx, 1);
  return n;
}

/* The sum of v over all rows, each looked up by its key, or -1 for an error */
static sqlite3_int64 sumLookups(sqlite3 *db){
  sqlite3_stmt *p;
  sqlite3_int64 sum = 0;
  int i, rc = SQLITE_ROW;
  if( sqlite3_prepare_v2(db, "SELECT v FROM t WHERE id=?", -1, &p, 0) ) return -1;
  for(i=1; i<=N_ROW; i++){
    sqlite3_bind_int(p, 1, (i*1237)%N_ROW + 1);
    rc = sqlite3_step(p);
    if( rc!=SQLITE_ROW ) break;
    sum += sqlite3_column_int64(p, 0);
    sqlite3_reset(p);
  }
  sqlite3_finalize(p);
  return rc==SQLITE_ROW ? sum : -1;
}

/* Read all rows until pages that are used are kept */
static void warm(sqlite3 *db){
  int i;
  for(i=0; i<4; i++) sumLookups(db);
  misses(db);
}


/**************************** 1. Bounds ************************************/

static void testBounds(void){
  sqlite3 *db, *db2;
  sqlite3_int64 nUsed;
  makeDb(N_ROW);
  db = openDb(&ours, zDb, 0);
  nUsed = sqlite3_memory_used();
  check(sumLookups(db)==0, "sum");
  misses(db);
  warm(db);
  sumLookups(db);
  check(misses(db)<N_ROW/10, "pages are not kept");
  check(integer(&ours, db, "PRAGMA cache_size")==-2000, "PRAGMA cache_size");
  nUsed = sqlite3_memory_used() - nUsed;
  check(nUsed>N_ROW*1024 && nUsed<N_ROW*1024*3, "%lld bytes", (long long)nUsed);

  /* A second connection has them at once, for some memory of its own */
  db2 = openDb(&ours, zDb, 0);
  nUsed = sqlite3_memory_used();
  sumLookups(db2);
  misses(db2);
  sumLookups(db2);
  check(misses(db2)<N_ROW/10, "pages are not shared");
  check(sqlite3_memory_used()-nUsed<4000000, "they are there twice");

  /* db lets go of them, and then db2 */
  sqlite3_db_release_memory(db);
  sumLookups(db2);
  check(misses(db2)<N_ROW/10, "sqlite3_db_release_memory: the other one");
  nUsed = sqlite3_memory_used();
  execute(db2, "PRAGMA shrink_memory");
  check(nUsed-sqlite3_memory_used()>N_ROW*1024, "not given back");

  /* A page cache of the default size, a smaller one, and none */
  warm(db);
  execute(db, "PRAGMA cache_size=-2000");
  warm(db);
  sumLookups(db);
  check(misses(db)<N_ROW/10, "PRAGMA cache_size: pages are not kept");
  execute(db, "PRAGMA cache_size=20");
  warm(db);
  sumLookups(db);
  check(misses(db)<N_ROW/10, "a small PRAGMA cache_size: pages are not kept");
  sqlite3_close(db2);

  /* A soft heap limit, of which pages may be an eighth */
  db2 = openDb(&ours, zDb, 0);
  warm(db2);
  sumLookups(db2);
  check(misses(db2)<N_ROW/10, "pages are not kept");
  nUsed = sqlite3_memory_used();
  sqlite3_soft_heap_limit64(1000000000);
  sumLookups(db2);
  check(misses(db2)<N_ROW/10, "not kept with a large heap limit");
  sqlite3_soft_heap_limit64(N_ROW*1024);
  sumLookups(db);
  sumLookups(db2);
  check(misses(db2)>N_ROW/2, "kept in spite of a heap limit");
  check(nUsed-sqlite3_memory_used()>N_ROW*1024, "not given back");
  sqlite3_soft_heap_limit64(0);
  warm(db2);
  sumLookups(db2);
  check(misses(db2)<N_ROW/10, "not kept again");

  /* A hard one */
  nUsed = sqlite3_memory_used();
  sqlite3_hard_heap_limit64(nUsed+100000000);
  sumLookups(db2);
  check(misses(db2)>N_ROW/2, "kept in spite of a hard heap limit");
  check(nUsed-sqlite3_memory_used()>N_ROW*1024, "not given back for a hard one");
  sqlite3_hard_heap_limit64(0);

  /* A memory map of a part of the file: the store has the others */
  execute(db2, "PRAGMA mmap_size=1000000");
  warm(db2);
  sumLookups(db2);
  check(misses(db2)<N_ROW/10, "not kept beside a memory map");
  sumLookups(db);
  check(integer(&ours, db2, "PRAGMA mmap_size")==1000000, "mmap_size");
  execute(db2, "PRAGMA mmap_size=100000000");
  sumLookups(db2);
  misses(db2);
  sumLookups(db2);
  check(misses(db2)<N_ROW/10, "not mapped");
  sqlite3_close(db2);
  sqlite3_close(db);
  check(sqlite3_memory_used()==0, "%lld bytes are left",
        (long long)sqlite3_memory_used());

  /* The stored cache size */
  db = openDb(&ours, zDb, 0);
  execute(db, "PRAGMA default_cache_size=1000");
  sqlite3_close(db);
  db = openDb(&ours, zDb, 0);
  warm(db);
  sumLookups(db);
  check(misses(db)<N_ROW/10, "PRAGMA default_cache_size: pages are not kept");
  sqlite3_close(db);

  /* One scan leaves nothing behind */
  makeDb(N_ROW);
  db = openDb(&ours, zDb, 0);
  execute(db, "PRAGMA hp_offload=off");
  nUsed = sqlite3_memory_used();
  integer(&ours, db, "SELECT sum(v) FROM t WHERE x IS NOT NULL");
  check(sqlite3_memory_used()-nUsed<2500000, "a scan is kept: %lld",
        (long long)(sqlite3_memory_used()-nUsed));
  sqlite3_close(db);
}


/********************* 2., 3. Another process on stock *********************/

static int toChild[2], fromChild[2];

/* Run SQL that comes from the parent; say how it ended, and the sum of v */
static void child(void){
  Lib stock;
  sqlite3 *db = 0;
  char zSql[300];
  close(toChild[1]);
  if( loadStock(&stock, zStock) ) _exit(1);
  while( read(toChild[0], zSql, sizeof(zSql))==sizeof(zSql) ){
    sqlite3_int64 a[2];
    if( db==0 ){
      db = openDb(&stock, zDb, 0);
      stock.exec(db, "PRAGMA synchronous=OFF", 0, 0, 0);
    }
    a[0] = a[1] = -1;
    if( strcmp(zSql, "close")==0 ){
      stock.close(db);
      db = 0;
    }else if( zSql[0]=='?' ){
      /* One value */
      a[1] = integer(&stock, db, &zSql[1]);
    }else{
      a[0] = stock.exec(db, zSql, 0, 0, 0);
      a[1] = integer(&stock, db, "SELECT sum(v) FROM t");
    }
    if( write(fromChild[1], a, sizeof(a))!=sizeof(a) ) break;
  }
  _exit(0);
}

/* Let the child do it.  Return the second number of its answer */
static sqlite3_int64 other(const char *zSql, int *pRc){
  char z[300];
  sqlite3_int64 a[2] = {-2, -2};
  memset(z, 0, sizeof(z));
  snprintf(z, sizeof(z), "%s", zSql);
  if( write(toChild[1], z, sizeof(z))!=sizeof(z)
   || read(fromChild[0], a, sizeof(a))!=sizeof(a)
  ){
    check(0, "the other process: %s", zSql);
  }
  if( pRc ) *pRc = (int)a[0];
  return a[1];
}

static void testFresh(void){
  static const char *const azChange[] = {
    "UPDATE t SET v=v+1",
    "UPDATE t SET v=v+1 WHERE id%50=0",
    "PRAGMA wal_checkpoint",
    "UPDATE t SET v=v+3 WHERE id=77; PRAGMA wal_checkpoint",
    "UPDATE t SET v=v+3 WHERE id%9=0; PRAGMA wal_checkpoint(TRUNCATE)",
    "UPDATE t SET v=v-3 WHERE id%8=0; PRAGMA wal_checkpoint(RESTART);"
      "UPDATE t SET v=v-1 WHERE id%7=0",
    "DELETE FROM t WHERE id%2; VACUUM;"
      "INSERT INTO t SELECT id-1, v+1, x FROM t",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA journal_mode=DELETE",
    "PRAGMA wal_autocheckpoint=5; UPDATE t SET v=v+2 WHERE id%20=1;"
      "UPDATE t SET v=v+2 WHERE id%20=2; UPDATE t SET v=v+2 WHERE id%20=3",
    "BEGIN; UPDATE t SET v=v+100; ROLLBACK",
    "UPDATE t SET v=5 WHERE id>10; PRAGMA wal_checkpoint(FULL); VACUUM",
    "close",
  };
  sqlite3 *a[3];
  unsigned i, j, k;
  int nKept = 0;
  other("close", 0);
  makeDb(N_ROW);
  for(j=0; j<3; j++){
    a[j] = openDb(&ours, zDb, 0);
    warm(a[j]);
  }
  for(k=0; k<3; k++){
    sqlite3_int64 sum;
    for(i=0; i<sizeof(azChange)/sizeof(azChange[0]); i++){
      sum = other(azChange[i], 0);
      if( sum<0 ) sum = other("?SELECT sum(v) FROM t", 0);
      for(j=0; j<3; j++){
        if( j==2 && i%4 ) continue;    /* Sleeps most of the time */
        check(sumLookups(a[j])==sum, "connection %d, round %d, after %s", j, k,
              azChange[i]);
        if( i%3==0 ) warm(a[j]);
        misses(a[j]);
        check(sumLookups(a[j])==sum, "connection %d, round %d, after %s", j, k,
              azChange[i]);
        nKept += misses(a[j])<N_ROW/10;
      }
    }
    /* Leave WAL mode, change, and go back */
    for(j=0; j<3; j++) sqlite3_close(a[j]);
    other("PRAGMA journal_mode=DELETE; UPDATE t SET v=v+11", 0);
    for(j=0; j<3; j++) a[j] = openDb(&ours, zDb, 0);
    sum = other("PRAGMA user_version=1", 0);
    check(sumLookups(a[0])==sum, "delete mode");
    sqlite3_close(a[0]);
    a[0] = openDb(&ours, zDb, 0);
    check(other("?PRAGMA journal_mode=WAL", 0)!=-2, "journal mode");
    sum = other("UPDATE t SET v=v+1", 0);
    check(sumLookups(a[0])==sum, "back in WAL mode");
  }
  check(nKept>10, "pages were kept %d times", nKept);

  /* A transaction sees one state, whatever happens meanwhile */
  warm(a[0]);
  execute(a[0], "BEGIN");
  {
    sqlite3_int64 sum = sumLookups(a[0]);
    other("UPDATE t SET v=v+1", 0);
    check(sumLookups(a[0])==sum, "in a transaction");
    other("PRAGMA wal_checkpoint; UPDATE t SET v=v+1", 0);
    warm(a[1]);
    check(sumLookups(a[1])==sum+2*N_ROW, "a later transaction");
    check(sumLookups(a[0])==sum, "in a transaction");
    execute(a[0], "COMMIT");
    check(sumLookups(a[0])==sum+2*N_ROW, "after it");

    /* Own changes, undone and kept */
    execute(a[0], "BEGIN");
    execute(a[0], "UPDATE t SET v=v+1");
    check(sumLookups(a[0])==sum+3*N_ROW, "own changes");
    execute(a[0], "SAVEPOINT x; UPDATE t SET v=v+1 WHERE id<100; ROLLBACK TO x");
    check(sumLookups(a[0])==sum+3*N_ROW, "savepoint");
    check(sumLookups(a[1])==sum+2*N_ROW, "not seen by others");
    execute(a[0], "ROLLBACK");
    check(sumLookups(a[0])==sum+2*N_ROW, "rolled back");
    execute(a[0], "UPDATE t SET v=v-2");
    check(sumLookups(a[0])==sum && sumLookups(a[1])==sum, "committed");
    execute(a[0], "PRAGMA wal_checkpoint(TRUNCATE)");
    check(sumLookups(a[0])==sum && sumLookups(a[1])==sum, "checkpointed");
    execute(a[0], "PRAGMA locking_mode=EXCLUSIVE");
    sumLookups(a[0]);
    execute(a[0], "PRAGMA locking_mode=NORMAL");
    check(sumLookups(a[0])==sum, "locking mode");
  }
  for(j=0; j<3; j++) sqlite3_close(a[j]);
}

/* To leave WAL mode fails after the WAL was closed, as another connection of the
** shared cache reads.  Then the file changes, and there is an empty WAL again */
static void testLeave(void){
  sqlite3 *a[2], *db;
  sqlite3_stmt *p;
  sqlite3_int64 sum;
  int i;
  other("close", 0);
  makeDb(N_ROW);
  for(i=0; i<2; i++) a[i] = openDb(&ours, zDb, SQLITE_OPEN_SHAREDCACHE);
  warm(a[0]);
  check(sumLookups(a[0])==0 && misses(a[0])<N_ROW/10, "pages are not kept");
  p = prepared(a[1], "SELECT id FROM t");
  check(sqlite3_step(p)==SQLITE_ROW, "a reader");
  i = sqlite3_exec(a[0], "PRAGMA journal_mode=DELETE", 0, 0, 0);
  check(i==SQLITE_LOCKED, "WAL mode while there is a reader: %d", i);
  for(i=1; sqlite3_step(p)==SQLITE_ROW; i++){}
  check(i==N_ROW, "rows of the reader: %d", i);
  sqlite3_finalize(p);
  other("UPDATE t SET v=v+7", 0);
  other("close", 0);
  sum = other("?SELECT sum(v) FROM t", 0);
  check(sum==7*N_ROW, "another process has left WAL mode");
  db = openDb(&ours, zDb, 0);
  for(i=0; i<3; i++) check(sumLookups(db)==sum, "not what is in the file");
  for(i=0; i<3; i++) check(sumLookups(a[i%2])==sum, "nor with a shared cache");
  check(misses(db)>0 && sumLookups(db)==sum && misses(db)<N_ROW/10,
        "pages are not kept again");
  sqlite3_close(db);
  for(i=0; i<2; i++) sqlite3_close(a[i]);
}

/* A cursor holds pages while its connection is told to give memory back */
static void testHeld(void){
  sqlite3 *db;
  sqlite3_stmt *p;
  sqlite3_int64 n = 0;
  makeDb(N_ROW);
  db = openDb(&ours, zDb, 0);
  warm(db);
  sqlite3_prepare_v2(db, "SELECT id FROM t NOT INDEXED WHERE id>? ORDER BY id", -1,
                     &p, 0);
  sqlite3_bind_int(p, 1, 100);
  while( sqlite3_step(p)==SQLITE_ROW ){
    n += sqlite3_column_int(p, 0);
    if( sqlite3_column_int(p, 0)%1000==0 ){
      sqlite3_db_release_memory(db);
      sumLookups(db);
    }
    if( sqlite3_column_int(p, 0)==2500 ) execute(db, "PRAGMA mmap_size=100000000");
  }
  sqlite3_finalize(p);
  check(n==(sqlite3_int64)N_ROW*(N_ROW+1)/2-5050, "a scan");
  check(sqlite3_close(db)==SQLITE_OK, "close");
  check(sqlite3_memory_used()==0, "%lld bytes are left",
        (long long)sqlite3_memory_used());
}

/* The result of a checkpoint by the other process: 1 if it was in the way of a
** lock */
static int busy(void){
  return (int)other("?PRAGMA wal_checkpoint(RESTART)", 0);
}

/* Two connections to a database whose WAL is another process's */
static void twoReaders(sqlite3 **a){
  int i;
  other("close", 0);
  makeDb(100);
  other("UPDATE t SET v=1; UPDATE t SET v=0", 0);
  for(i=0; i<2; i++) a[i] = openDb(&ours, zDb, 0);
  for(i=0; i<2; i++) integer(&ours, a[i], "SELECT count(*) FROM t");
}

static void testLocks(void){
  sqlite3 *a[2];
  int i, rc;
  twoReaders(a);
  check(busy()==0, "nobody reads");
  other("UPDATE t SET v=1", 0);
  for(i=0; i<2; i++){
    execute(a[i], "BEGIN");
    integer(&ours, a[i], "SELECT v FROM t WHERE id=1");
  }
  other("UPDATE t SET v=2", 0);
  check(busy()==1, "two read");
  execute(a[0], "COMMIT");
  check(busy()==1, "one reads");
  execute(a[1], "COMMIT");
  check(busy()==0, "both are done");
  execute(a[0], "BEGIN IMMEDIATE");
  other("UPDATE t SET v=3", &rc);
  check(rc==SQLITE_BUSY, "one writes");
  execute(a[0], "COMMIT");
  other("UPDATE t SET v=3", &rc);
  check(rc==SQLITE_OK, "nobody writes");
  check(integer(&ours, a[1], "SELECT v FROM t WHERE id=1")==3,
        "what was written");
  for(i=0; i<2; i++) sqlite3_close(a[i]);
}


/*************************** 4. Threads ************************************/

static int bStop = 0;
static int bLinger = 0;     /* Locks linger: see hp_linger() */
static int nError = 0;
static int nDone = 0;

/* In each transaction all rows that are looked up have the same v, which never
** goes back */
static void *reader(void *pArg){
  sqlite3 *db = openDb(&ours, zDb, 0);
  sqlite3_stmt *p;
  unsigned x = *(unsigned*)pArg * 7919 + 1;
  sqlite3_int64 vLast = 0;
  if( bLinger ) hp_linger(HP_LINGER_ON);
  sqlite3_busy_timeout(db, 5000);
  sqlite3_prepare_v2(db, "SELECT v FROM t WHERE id=?", -1, &p, 0);
  while( !__atomic_load_n(&bStop, __ATOMIC_RELAXED) ){
    int i, n = x%3==0 ? 1 : 300;
    int bOk = n==1 || sqlite3_exec(db, "BEGIN", 0, 0, 0)==SQLITE_OK;
    sqlite3_int64 v = -1;
    for(i=0; bOk && i<n; i++){
      x = x*1103515245 + 12345;
      sqlite3_bind_int(p, 1, (x>>8)%N_ROW + 1);
      bOk = sqlite3_step(p)==SQLITE_ROW
         && (v<0 || v==sqlite3_column_int64(p, 0));
      v = sqlite3_column_int64(p, 0);
      sqlite3_reset(p);
    }
    if( n>1 ) bOk = sqlite3_exec(db, "COMMIT", 0, 0, 0)==SQLITE_OK && bOk;
    if( !bOk || v<vLast ) __atomic_add_fetch(&nError, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&nDone, 1, __ATOMIC_RELAXED);
    vLast = v;
  }
  sqlite3_finalize(p);
  sqlite3_close(db);
  return 0;
}

static void *writer(void *pArg){
  sqlite3 *db = openDb(&ours, zDb, 0);
  (void)pArg;
  sqlite3_busy_timeout(db, 5000);
  execute(db, "PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0");
  while( !__atomic_load_n(&bStop, __ATOMIC_RELAXED) ){
    sqlite3_exec(db, "UPDATE t SET v=v+1", 0, 0, 0);
    usleep(100000);
    sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", 0, 0, 0);
    usleep(200000);
  }
  sqlite3_close(db);
  return 0;
}

static void testThreads(int nThread, int nSecond){
  pthread_t a[33];
  unsigned aId[33];
  sqlite3_int64 nUsed, nHigh;
  int i;
  makeDb(N_ROW);
  bStop = nDone = nError = 0;
  for(i=0; i<nThread; i++){
    aId[i] = i;
    pthread_create(&a[i], 0, i ? reader : writer, &aId[i]);
  }
  /* Longer on a machine so slow that little would have been shown */
  for(i=0; i<nSecond*5 || (i<nSecond*5+300
            && __atomic_load_n(&nDone, __ATOMIC_RELAXED)<=100); i++){
    usleep(200000);
    sqlite3_soft_heap_limit64(i%4==3 ? 1000000000 : 0);
    nUsed = sqlite3_memory_used();
    nHigh = sqlite3_memory_highwater(i%3==0);
    check(nUsed>0 && nHigh>0, "memory in use");
  }
  sqlite3_soft_heap_limit64(0);
  __atomic_store_n(&bStop, 1, __ATOMIC_RELAXED);
  for(i=0; i<nThread; i++) pthread_join(a[i], 0);
  check(nError==0, "%d of %d transactions", nError, nDone);
  check(nDone>100, "only %d transactions", nDone);
  check(sqlite3_memory_used()==0, "%lld bytes are left",
        (long long)sqlite3_memory_used());
}


/*************************** 6. Locks that linger **************************/

static int nFcntl;
static int (*xFcntl)(int, int, ...);
static int countingFcntl(int fd, int cmd, struct flock *p){
  nFcntl++;
  return xFcntl(fd, cmd, p);
}

/* System calls of so many look-ups */
static int callsOf(sqlite3 *db, int n){
  sqlite3_stmt *p = prepared(db, "SELECT v FROM t WHERE id=1");
  nFcntl = 0;
  for(; n>0; n--){
    check(sqlite3_step(p)==SQLITE_ROW, "a look-up");
    sqlite3_reset(p);
  }
  sqlite3_finalize(p);
  return nFcntl;
}

static void testLinger(void){
  sqlite3 *a[2];
  int i, rc;
  twoReaders(a);
  xFcntl = (int(*)(int, int, ...))replaceCall("fcntl",
                                           (sqlite3_syscall_ptr)countingFcntl);
  check(callsOf(a[0], 100)>=200, "locks are not counted: %d", nFcntl);
  check(hp_linger(HP_LINGER_ASK)==0, "none is wanted, and one lingers");
  check(busy()==0, "nobody reads");
  other("UPDATE t SET v=1", 0);

  hp_linger(HP_LINGER_ON);
  check(callsOf(a[0], 100)<20, "%d system calls", nFcntl);
  check(callsOf(a[1], 100)<5, "%d system calls on another connection", nFcntl);
  check(hp_linger(HP_LINGER_ASK)==1, "it does not linger");
  other("UPDATE t SET v=2", 0);
  check(callsOf(a[0], 100)<20, "%d system calls after a commit", nFcntl);
  check(integer(&ours, a[1], "SELECT v FROM t WHERE id=1")==2, "the commit");
  check(busy()==1, "the other process does not see it");
  hp_linger(HP_LINGER_END);
  check(hp_linger(HP_LINGER_ASK)==0, "it still lingers");
  check(busy()==0, "the other process still sees it");

  /* It is in nobody's way in this process. */
  other("UPDATE t SET v=3", 0);
  callsOf(a[0], 10);
  check(integer(&ours, a[1], "PRAGMA wal_checkpoint(TRUNCATE)")==0,
        "a checkpoint");
  execute(a[1], "UPDATE t SET v=4");
  callsOf(a[0], 10);
  check(integer(&ours, a[0], "PRAGMA wal_checkpoint(RESTART)")==0,
        "a checkpoint by the reader itself");
  execute(a[1], "UPDATE t SET v=5");
  check(integer(&ours, a[0], "SELECT v FROM t WHERE id=1")==5, "what was written");

  /* While a transaction reads, it is the transaction's lock that stays. */
  execute(a[0], "BEGIN");
  callsOf(a[0], 1);
  callsOf(a[1], 10);
  other("UPDATE t SET v=6", 0);
  hp_linger(HP_LINGER_END);
  check(busy()==1, "the transaction's lock is gone");
  check(integer(&ours, a[0], "SELECT v FROM t WHERE id=1")==5, "its snapshot");
  execute(a[0], "COMMIT");
  check(busy()==0, "it lingers where the log is to begin anew");
  other("UPDATE t SET v=7", 0);
  execute(a[0], "BEGIN");
  callsOf(a[0], 1);
  execute(a[0], "COMMIT");
  hp_linger(HP_LINGER_OFF);
  check(busy()==1, "it does not linger any more, and nobody has ended it");
  hp_linger(HP_LINGER_END);
  check(busy()==0, "it lingers though it shall not");
  check(callsOf(a[0], 100)>=200, "locks linger though they shall not");

  /* Once some of the log has been copied back, a writer waits for a moment in
  ** which it can begin the log anew.  Then nothing lingers. */
  hp_linger(HP_LINGER_ON);
  other("UPDATE t SET v=8", 0);
  execute(a[1], "BEGIN");
  callsOf(a[1], 1);
  other("UPDATE t SET v=9", 0);
  check(callsOf(a[0], 100)<20, "%d system calls, nothing copied", nFcntl);
  check(busy()==1, "a transaction reads, and another lock lingers");
  check(callsOf(a[0], 100)>=199, "it lingers where the log is to begin anew");
  execute(a[1], "COMMIT");
  check(busy()==0, "a lock is left that nobody has ended");
  other("UPDATE t SET v=10", 0);
  check(callsOf(a[0], 100)<20, "%d system calls, in a new log", nFcntl);
  hp_linger(HP_LINGER_END);

  /* What lingers ends with the last connection. */
  hp_linger(HP_LINGER_ON);
  for(i=0; i<2; i++) callsOf(a[i], 10);
  for(i=0; i<2; i++) check(sqlite3_close(a[i])==SQLITE_OK, "close");
  other("PRAGMA journal_mode=DELETE; PRAGMA journal_mode=WAL", &rc);
  check(rc==SQLITE_OK, "the other process cannot leave WAL mode");
  hp_linger(HP_LINGER_OFF);
  replaceCall("fcntl", (sqlite3_syscall_ptr)xFcntl);
}

static int bTick;
static int nTick = 1000;   /* Microseconds between two of them */
static void *ticker(void *pArg){
  (void)pArg;
  while( __atomic_load_n(&bTick, __ATOMIC_RELAXED) ){
    if( hp_linger(HP_LINGER_ASK) ) hp_linger(HP_LINGER_END);
    usleep(nTick);
  }
  return 0;
}

/* xTest while locks linger, for a millisecond or so */
static void lingering(void (*xTest)(void)){
  pthread_t t;
  bTick = 1;
  hp_linger(HP_LINGER_ON);
  bLinger = 1;
  pthread_create(&t, 0, ticker, 0);
  xTest();
  __atomic_store_n(&bTick, 0, __ATOMIC_RELAXED);
  pthread_join(t, 0);
  bLinger = 0;
  hp_linger(HP_LINGER_OFF);
  hp_linger(HP_LINGER_END);
}

/* Connections that look up every half of a millisecond */
static void *regular(void *pArg){
  sqlite3 *db = openDb(&ours, zDb, 0);
  (void)pArg;
  hp_linger(HP_LINGER_ON);
  while( !__atomic_load_n(&bStop, __ATOMIC_RELAXED) ){
    integer(&ours, db, "SELECT v FROM t WHERE id=1");
    usleep(500);
  }
  hp_linger(HP_LINGER_OFF);
  sqlite3_close(db);
  return 0;
}

/* How often the log was begun anew, as its header says */
static int timesBegun(void){
  char zWal[200];
  int n;
  unsigned char *a;
  snprintf(zWal, sizeof(zWal), "%s-wal", zDb);
  a = readFile(zWal, &n);
  n = n>32 ? a[12]<<24 | a[13]<<16 | a[14]<<8 | a[15] : 0;
  free(a);
  return n;
}

/*
** Another process, which knows nothing of this, writes and checkpoints while
** connections look up all the time.  Their locks are ended every five
** milliseconds.  The log begins anew again and again, and each kind of
** checkpoint that waits gets what it waits for.
*/
static void testProgress(void){
  static const char *const azMode[] = {"FULL", "RESTART", "TRUNCATE"};
  pthread_t aThread[8];
  char z[200];
  int i, nBefore;
  other("close", 0);
  makeDb(100);
  bStop = 0;
  for(i=0; i<8; i++) pthread_create(&aThread[i], 0, regular, 0);
  other("PRAGMA wal_autocheckpoint=20; PRAGMA busy_timeout=10000", 0);
  /* When there is a moment without a reader depends on how threads are scheduled */
  nBefore = timesBegun();
  for(i=0; i<8000 && (i%100 || timesBegun()==nBefore); i++){
    other("UPDATE t SET v=v+1 WHERE id<5", 0);
  }
  check(timesBegun()!=nBefore, "%d commits of a frame left one log", i);
  for(i=0; i<30; i++){
    other("UPDATE t SET v=v+1 WHERE id<5", 0);
    snprintf(z, sizeof(z), "?PRAGMA wal_checkpoint(%s)", azMode[i%3]);
    check(other(z, 0)==0, "%s", z);
  }
  __atomic_store_n(&bStop, 1, __ATOMIC_RELAXED);
  for(i=0; i<8; i++) pthread_join(aThread[i], 0);
  bStop = 0;
}

/*
** A process that lingers and ends none of its locks: the others find what they
** would find with a transaction of its that reads.  A copy of the process made by
** fork() has no lock and takes none away; with the process they are gone.
*/
static void testNoTick(void){
  static const char *const azSql[] = {
    "?PRAGMA wal_checkpoint(PASSIVE)", "?PRAGMA wal_checkpoint(FULL)",
    "?PRAGMA wal_checkpoint(RESTART)", "?PRAGMA wal_checkpoint(TRUNCATE)",
  };
  sqlite3_int64 aGot[2][16];
  int bReads, iCase, rc;
  for(bReads=0; bReads<2; bReads++){
    for(iCase=0; iCase<16; iCase++){
      int aPipe[2][2];
      char c = 0;
      pid_t pid, pid2;
      int status;
      other("close", 0);
      makeDb(100);
      other("UPDATE t SET v=1", 0);
      if( pipe(aPipe[0]) || pipe(aPipe[1]) ) return;
      fflush(stdout);
      if( (pid = fork())==0 ){
        sqlite3 *db = openDb(&ours, zDb, 0);
        if( bReads ){
          execute(db, "BEGIN");
        }else{
          hp_linger(HP_LINGER_ON);
        }
        integer(&ours, db, "SELECT v FROM t WHERE id=1");
        if( (pid2 = fork())==0 ){
          hp_linger(HP_LINGER_END);
          _exit(0);
        }
        waitpid(pid2, &status, 0);
        if( write(aPipe[0][1], &c, 1)!=1 ) _exit(1);
        if( read(aPipe[1][0], &c, 1)!=1 ) _exit(1);
        _exit(0);
      }
      if( read(aPipe[0][0], &c, 1)!=1 ) check(0, "no lock");
      other(iCase & 8 ? "PRAGMA busy_timeout=20" : "PRAGMA busy_timeout=0", 0);
      if( iCase & 4 ) other("UPDATE t SET v=2", 0);
      aGot[bReads][iCase] = other(azSql[iCase & 3], 0);
      other("UPDATE t SET v=3", &rc);
      check(rc==SQLITE_OK, "nobody can write");
      if( write(aPipe[1][1], &c, 1)!=1 ) check(0, "it is gone");
      waitpid(pid, &status, 0);
      check(WIFEXITED(status) && WEXITSTATUS(status)==0, "it failed");
      check(other(azSql[3], 0)==0, "its lock has survived it");
      close(aPipe[0][0]); close(aPipe[0][1]);
      close(aPipe[1][0]); close(aPipe[1][1]);
      if( bReads ) check(aGot[0][iCase]==aGot[1][iCase], "%s, case %d: %lld, with"
          " a reader %lld", azSql[iCase & 3], iCase, (long long)aGot[0][iCase],
          (long long)aGot[1][iCase]);
    }
  }
}

static void someThreads(void){ testThreads(6, 3); }


/************************ 5. Memory and reading fail ***********************/

static ssize_t (*xPread)(int, void*, size_t, off_t);
static ssize_t failingPread(int fd, void *a, size_t n, off_t i){
  if( fails() ){
    errno = EIO;
    return -1;
  }
  return xPread(fd, a, n, i);
}

/* One connection after the other, and then the first again */
static int lookupsOf(sqlite3 **a, sqlite3_int64 *pSum){
  int i, rc = SQLITE_OK;
  *pSum = 0;
  for(i=0; i<3 && rc==SQLITE_OK; i++){
    sqlite3_stmt *p = 0;
    rc = sqlite3_prepare_v2(a[i%2], "SELECT v+id FROM t WHERE id=?", -1, &p, 0);
    if( rc==SQLITE_OK ){
      int j;
      for(j=1; j<60; j++){
        sqlite3_bind_int(p, 1, j);
        if( sqlite3_step(p)!=SQLITE_ROW ) break;
        *pSum += sqlite3_column_int64(p, 0);
        sqlite3_reset(p);
      }
    }
    if( i==1 ) sqlite3_db_release_memory(a[0]);
    if( p ) rc = sqlite3_finalize(p);
  }
  return rc;
}

/* SQLite reports an EIO as a corrupt database */
static int isFault(int rc){
  rc &= 0xff;
  return rc==SQLITE_NOMEM || rc==SQLITE_IOERR || rc==SQLITE_CORRUPT;
}

static void testFaults(const char *zWhat){
  int n, bMore, bMode, nTotal = 0;
  sqlite3_int64 right = 3*(59*60/2);
  makeDb(200);
  for(bMode=0; bMode<2; bMode++){
    for(n=0, bMore=1; bMore; n++){
      sqlite3 *a[2];
      sqlite3_int64 sum;
      int rc;
      a[0] = openDb(&ours, zDb, 0);
      a[1] = openDb(&ours, zDb, 0);
      fault.nFailed = 0;
      fault.bForEver = bMode;
      fault.nLeft = n;
      rc = lookupsOf(a, &sum);
      fault.nLeft = -1;
      bMore = fault.nFailed>0;
      nTotal += bMore;
      check(rc==SQLITE_OK ? sum==right
                          : isFault(rc),
            "%s %d: %d, %lld", zWhat, n, rc, (long long)sum);
      rc = lookupsOf(a, &sum);
      check(rc==SQLITE_OK && sum==right, "%s %d: then %d, %lld", zWhat, n, rc,
            (long long)sum);
      sqlite3_close(a[0]);
      sqlite3_close(a[1]);
      check(sqlite3_memory_used()==0, "%s %d: bytes are left", zWhat, n);
    }
  }
  check(nTotal>50, "only %d failures: %s", nTotal, zWhat);
}

/* In a process of its own, as the allocator is chosen at the beginning */
static int faults(void){
  setenv("HPSQLITE_TEST", "force", 1);
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  failMemory(1);
  testFaults("allocation");
  failMemory(0);
  xPread = (ssize_t(*)(int, void*, size_t, off_t))
      replaceCall("pread", (sqlite3_syscall_ptr)failingPread);
  testFaults("read");
  return finish();
}


/*************************** 6. Searching **********************************/

static void testSeek(void){
  static const char *const azRowid[] = {
    "i", "i*1000003", "-i", "i*i", "i*i*i*i", "(i*2654435761)%4294967296",
    "CASE WHEN i%2 THEN i ELSE 9223372036854775807-i END",
    "CASE WHEN i<1000 THEN i-9223372036854775808 ELSE i*3 END",
    "1<<(i%60) | i", "random()",
  };
  unsigned k;
  for(k=0; k<sizeof(azRowid)/sizeof(azRowid[0]); k++){
    sqlite3 *db;
    sqlite3_stmt *p, *pNear;
    sqlite3_int64 *a;
    int i, j, n;
    char *zSql;
    removeDb(zDb);
    db = openDb(&ours, zDb, 0);
    execute(db, "PRAGMA page_size=512; PRAGMA journal_mode=WAL;"
                "PRAGMA synchronous=OFF; PRAGMA hp_offload=off;"
                "CREATE TABLE t(id INTEGER PRIMARY KEY, v)");
    zSql = sqlite3_mprintf("WITH s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s"
        " LIMIT 6000) INSERT OR IGNORE INTO t SELECT %s, %s FROM s", azRowid[k],
        k%2 ? "NULL" : "zeroblob(i%40)");
    execute(db, zSql);
    sqlite3_free(zSql);
    if( k%3==0 ) execute(db, "DELETE FROM t WHERE abs(random()%3)=0");
    n = (int)integer(&ours, db, "SELECT count(*) FROM t");
    a = malloc(sizeof(*a)*(n+1));
    sqlite3_prepare_v2(db, "SELECT id FROM t ORDER BY id", -1, &p, 0);
    for(i=0; i<n && sqlite3_step(p)==SQLITE_ROW; i++){
      a[i] = sqlite3_column_int64(p, 0);
    }
    sqlite3_finalize(p);
    sqlite3_prepare_v2(db, "SELECT id FROM t WHERE id=?", -1, &p, 0);
    sqlite3_prepare_v2(db, "SELECT id FROM t WHERE id>? ORDER BY id LIMIT 1", -1,
                       &pNear, 0);
    for(j=0; j<6000; j++){
      int bOk;
      i = random32()%n;
      sqlite3_bind_int64(p, 1, a[i]);
      check(sqlite3_step(p)==SQLITE_ROW && sqlite3_column_int64(p, 0)==a[i],
            "%s: rowid %lld", azRowid[k], (long long)a[i]);
      sqlite3_reset(p);
      if( a[i]<a[n-1] && a[i]+1<a[i+1] ){
        sqlite3_bind_int64(p, 1, a[i]+1);
        check(sqlite3_step(p)==SQLITE_DONE, "%s: no rowid %lld", azRowid[k],
              (long long)a[i]+1);
        sqlite3_reset(p);
      }
      if( i==0 ) continue;
      sqlite3_bind_int64(pNear, 1, a[i] - (j&1));
      bOk = sqlite3_step(pNear)==SQLITE_ROW;
      if( j&1 ){
        check(bOk && sqlite3_column_int64(pNear, 0)==a[i], "%s: next to %lld",
              azRowid[k], (long long)a[i]);
      }else{
        check(i==n-1 ? !bOk : bOk && sqlite3_column_int64(pNear, 0)==a[i+1],
              "%s: next to %lld", azRowid[k], (long long)a[i]);
      }
      sqlite3_reset(pNear);
    }
    sqlite3_finalize(p);
    sqlite3_finalize(pNear);
    checkIntegrity(&ours, db, azRowid[k]);
    sqlite3_close(db);
    free(a);
  }
}

int main(int argc, char **argv){
  pid_t pid;
  int status;
  if( argc<2 ){
    fprintf(stderr, "usage: connections STOCK [threads]\n");
    return 2;
  }
  zStock = argv[1];
  zDb = temporaryFile("connections.db");
  if( argc>2 ){
    testThreads(6, 5);
    lingering(someThreads);
    removeDb(zDb);
    return finish();
  }
  fflush(stdout);
  if( (pid = fork())==0 ) return faults();
  waitpid(pid, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status)==0, "faults");
  if( pipe(toChild) || pipe(fromChild) ) return 2;
  if( (pid = fork())==0 ) child();
  testBounds();
  testFresh();
  testLeave();
  testHeld();
  testLocks();
  testThreads(5, 3);
  testThreads(33, 3);
  testLinger();
  testNoTick();
  lingering(testFresh);
  lingering(someThreads);
  nTick = 5000;
  lingering(testProgress);
  testSeek();
  close(toChild[1]);
  close(toChild[0]);
  waitpid(pid, &status, 0);
  removeDb(zDb);
  return finish();
}
