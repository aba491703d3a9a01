/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Memory is counted without a mutex: the numbers are those of SQLite.
**
**    alone    one thread allocates, resizes and frees at random, the same in
**             ours and in stock: every counter is the same at each step.
**    threads  several do: at the end what is in use is what was, and the
**             highest value is one that can have been, but for what each
**             counts for itself.
**    limits   what a heap limit refuses is what stock refuses, also when limits
**             come and go while threads allocate.
**    mine     an allocator of the application gets every call, one at a time.
**    each     so does each of its methods if the others are the default ones.
**    methods  with a page cache of the application all pages go through it, and
**             with mutexes or an allocator of its own a scan has one worker.
**
**    memory STOCK         all of them
**    memory STOCK threads only what several threads do, for ThreadSanitizer
*/
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"

#define N_SLOT   200
#define N_STEP   20000
#define N_THREAD 4
#define N_SHARE  16384     /* HP_MEMORY_SHARE */

/* What is called here of a library */
typedef struct Memory Memory;
struct Memory {
  void *(*xMalloc)(sqlite3_uint64);
  void *(*xRealloc)(void*, sqlite3_uint64);
  void (*xFree)(void*);
  sqlite3_uint64 (*xSize)(void*);
  int (*xStatus)(int, sqlite3_int64*, sqlite3_int64*, int);
  sqlite3_int64 (*xHardLimit)(sqlite3_int64);
  sqlite3_int64 (*xSoftLimit)(sqlite3_int64);
};
static const Memory mine = {
  sqlite3_malloc64, sqlite3_realloc64, sqlite3_free, sqlite3_msize,
  sqlite3_status64, sqlite3_hard_heap_limit64, sqlite3_soft_heap_limit64
};

static Memory load(const char *zStock){
  Memory x;
  void *p = dlopen(zStock, RTLD_NOW|RTLD_LOCAL);
  check(p!=0, "%s: %s", zStock, p ? "" : dlerror());
  if( p==0 ) exit(finish());
  *(void**)&x.xMalloc = dlsym(p, "sqlite3_malloc64");
  *(void**)&x.xRealloc = dlsym(p, "sqlite3_realloc64");
  *(void**)&x.xFree = dlsym(p, "sqlite3_free");
  *(void**)&x.xSize = dlsym(p, "sqlite3_msize");
  *(void**)&x.xStatus = dlsym(p, "sqlite3_status64");
  *(void**)&x.xHardLimit = dlsym(p, "sqlite3_hard_heap_limit64");
  *(void**)&x.xSoftLimit = dlsym(p, "sqlite3_soft_heap_limit64");
  return x;
}

static unsigned next(unsigned *pSeed){
  *pSeed = *pSeed*1664525 + 1013904223;
  return *pSeed>>8;
}

/* Do something with one of aSlot[]; return what that did to the sum of sizes */
static sqlite3_int64 step(const Memory *p, void **aSlot, unsigned *pSeed){
  void **pp = &aSlot[next(pSeed)%N_SLOT];
  sqlite3_int64 nOld = (sqlite3_int64)p->xSize(*pp);
  unsigned n = next(pSeed)%10==0 ? next(pSeed)%100000 : next(pSeed)%500;
  switch( next(pSeed)%3 ){
    case 0:
      p->xFree(*pp);
      *pp = 0;
      break;
    case 1: {
      void *pNew = p->xRealloc(*pp, n);
      if( pNew || n==0 ) *pp = pNew;
      break;
    }
    default:
      if( *pp==0 ) *pp = p->xMalloc(n);
  }
  if( *pp ) memset(*pp, 1, p->xSize(*pp)<8 ? p->xSize(*pp) : 8);
  return (sqlite3_int64)p->xSize(*pp) - nOld;
}

static void freeAll(const Memory *p, void **aSlot){
  int i;
  for(i=0; i<N_SLOT; i++){
    p->xFree(aSlot[i]);
    aSlot[i] = 0;
  }
}

/* Both counters of each kind, less what they began with */
static const int aOp[] = {
  SQLITE_STATUS_MEMORY_USED, SQLITE_STATUS_MALLOC_COUNT,
  SQLITE_STATUS_MALLOC_SIZE
};
typedef struct Counters Counters;
struct Counters { sqlite3_int64 a[2*sizeof(aOp)/sizeof(aOp[0])]; };
static Counters counters(const Memory *p, const Counters *pBase){
  Counters x;
  unsigned i;
  for(i=0; i<sizeof(aOp)/sizeof(aOp[0]); i++){
    p->xStatus(aOp[i], &x.a[2*i], &x.a[2*i+1], 0);
    if( pBase ){
      x.a[2*i+1] -= pBase->a[2*i];
      x.a[2*i] -= pBase->a[2*i];
    }
  }
  return x;
}
static void reset(const Memory *p){
  sqlite3_int64 a, b;
  unsigned i;
  for(i=0; i<sizeof(aOp)/sizeof(aOp[0]); i++) p->xStatus(aOp[i], &a, &b, 1);
}

static void testAlone(const Memory *pStock){
  const Memory *ap[2];
  void *aaSlot[2][N_SLOT];
  unsigned aSeed[2] = {1, 1};
  Counters aBase[2];
  int i, iStep, nBad = 0;
  memset(aaSlot, 0, sizeof(aaSlot));
  ap[0] = &mine;
  ap[1] = pStock;
  for(i=0; i<2; i++){
    ap[i]->xFree(ap[i]->xMalloc(1));       /* sqlite3_initialize() allocates */
    reset(ap[i]);
    aBase[i] = counters(ap[i], 0);
  }
  for(iStep=0; iStep<N_STEP && nBad==0; iStep++){
    Counters a[2];
    sqlite3_int64 n[2];
    for(i=0; i<2; i++){
      /* A limit now and then, which both may run into */
      if( iStep%1000==500 ) ap[i]->xHardLimit(aBase[i].a[0] + 800000);
      if( iStep%1000==700 ) ap[i]->xHardLimit(0);
      if( iStep%1000==700 ) ap[i]->xSoftLimit(0);
      if( iStep%3000==0 ) reset(ap[i]);
      n[i] = step(ap[i], aaSlot[i], &aSeed[i]);
      a[i] = counters(ap[i], &aBase[i]);
    }
    nBad += n[0]!=n[1] || memcmp(&a[0], &a[1], sizeof(a[0]))!=0;
  }
  check(nBad==0, "counters are others than stock's after step %d", iStep);
  for(i=0; i<2; i++) freeAll(ap[i], aaSlot[i]);
}

/* A limit has to refuse something, or testAlone() shows less than it says */
static void testLimit(const Memory *p){
  sqlite3_int64 nUsed, mx;
  void *a, *b;
  p->xStatus(SQLITE_STATUS_MEMORY_USED, &nUsed, &mx, 0);
  check(p->xHardLimit(nUsed+100000)==0, "there was a limit");
  a = p->xMalloc(90000);
  b = p->xMalloc(90000);
  check(a!=0 && b==0, "limit: first %d, second %d", a!=0, b!=0);
  check(p->xRealloc(a, 190000)==0, "limit: made larger");
  check(p->xHardLimit(0)==nUsed+100000, "the limit was another");
  p->xSoftLimit(0);
  b = p->xMalloc(90000);
  check(b!=0, "no limit: no memory");
  p->xFree(a);
  p->xFree(b);
}

typedef struct Thread Thread;
struct Thread {
  pthread_t id;
  unsigned iSeed;
  sqlite3_int64 mxSum;   /* Most that this thread had at a time */
};
static void *thread(void *pArg){
  Thread *p = pArg;
  void *aSlot[N_SLOT];
  sqlite3_int64 nSum = 0;
  int i;
  memset(aSlot, 0, sizeof(aSlot));
  for(i=0; i<N_STEP; i++){
    nSum += step(&mine, aSlot, &p->iSeed);
    if( nSum>p->mxSum ) p->mxSum = nSum;
  }
  freeAll(&mine, aSlot);
  return 0;
}

/* bLimit: heap limits come and go meanwhile, and a counter is read */
static void testThreads(int bLimit){
  Thread a[N_THREAD];
  Counters base, end;
  sqlite3_int64 mxOne = 0, mxAll = 0;
  int i;
  mine.xFree(mine.xMalloc(1));
  reset(&mine);
  base = counters(&mine, 0);
  for(i=0; i<N_THREAD; i++){
    a[i].iSeed = 100 + (unsigned)i;
    a[i].mxSum = 0;
    check(pthread_create(&a[i].id, 0, thread, &a[i])==0, "no thread");
  }
  for(i=0; bLimit && i<2000; i++){
    mine.xHardLimit(base.a[0] + 500000);
    mine.xStatus(SQLITE_STATUS_MEMORY_USED, &end.a[0], &end.a[1], 0);
    mine.xHardLimit(0);
    mine.xSoftLimit(0);
  }
  for(i=0; i<N_THREAD; i++){
    pthread_join(a[i].id, 0);
    mxAll += a[i].mxSum;
    if( a[i].mxSum>mxOne ) mxOne = a[i].mxSum;
  }
  end = counters(&mine, &base);
  check(end.a[0]==0 && end.a[2]==0, "%lld bytes and %lld allocations are left",
        end.a[0], end.a[2]);
  check(end.a[1]>=mxOne-N_THREAD*N_SHARE && end.a[1]<=mxAll+N_THREAD*100000,
        "most was %lld, of one thread %lld, of all %lld", end.a[1], mxOne,
        mxAll);
}

/* An allocator that notices if it is called twice at a time */
static sqlite3_mem_methods base;
static atomic_int nInside;
static atomic_int nTwice;
static atomic_int nEntered;
static void enter(void){
  if( atomic_fetch_add(&nInside, 1)>0 ) nTwice++;
  nEntered++;
}
static void *onceMalloc(int n){
  void *p;
  enter();
  p = base.xMalloc(n);
  atomic_fetch_sub(&nInside, 1);
  return p;
}
static void *onceRealloc(void *p, int n){
  enter();
  p = base.xRealloc(p, n);
  atomic_fetch_sub(&nInside, 1);
  return p;
}
static void onceFree(void *p){
  enter();
  base.xFree(p);
  atomic_fetch_sub(&nInside, 1);
}

static void testMine(void){
  sqlite3_mem_methods once;
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &base);
  once = base;
  once.xMalloc = onceMalloc;
  once.xRealloc = onceRealloc;
  once.xFree = onceFree;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &once);
  testThreads(0);
  check(nEntered>N_STEP, "the application's allocator was called %d times",
        nEntered);
  check(nTwice==0, "the application's allocator was called twice at a time, "
        "%d times", nTwice);
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_MALLOC, &base);
}

/* An allocator of which one method counts its calls */
static int nCalled;
static void *countMalloc(int n){ nCalled++; return base.xMalloc(n); }
static void countFree(void *p){ nCalled++; base.xFree(p); }
static void *countRealloc(void *p, int n){
  nCalled++;
  return base.xRealloc(p, n);
}
static int countSize(void *p){ nCalled++; return base.xSize(p); }
static int countRoundup(int n){ nCalled++; return base.xRoundup(n); }

/*
** Replace one method at a time, as who wants freed memory wiped does.  It is
** called for each of 100 allocations, resizes and releases, and when the
** default methods are back no counter is off.
*/
static void testEach(void){
  static const char *const azMethod[] = {
    "xMalloc", "xFree", "xRealloc", "xSize", "xRoundup"
  };
  int iMethod, i;
  for(iMethod=0; iMethod<5; iMethod++){
    sqlite3_mem_methods m;
    sqlite3_shutdown();
    m = base;
    switch( iMethod ){
      case 0: m.xMalloc = countMalloc; break;
      case 1: m.xFree = countFree; break;
      case 2: m.xRealloc = countRealloc; break;
      case 3: m.xSize = countSize; break;
      default: m.xRoundup = countRoundup;
    }
    check(sqlite3_config(SQLITE_CONFIG_MALLOC, &m)==SQLITE_OK, "no config");
    sqlite3_initialize();
    nCalled = 0;
    for(i=0; i<100; i++){
      void *p = sqlite3_malloc(100);
      p = sqlite3_realloc(p, 10000);
      sqlite3_free(p);
    }
    check(nCalled>=100, "%s alone is replaced: called %d times",
          azMethod[iMethod], nCalled);
    sqlite3_shutdown();
    check(sqlite3_memory_used()==0, "%s alone is replaced: %lld bytes are left",
          azMethod[iMethod], sqlite3_memory_used());
    sqlite3_config(SQLITE_CONFIG_MALLOC, &base);
  }
}

/* A page cache and a mutex that count their calls */
static sqlite3_pcache_methods2 basePcache;
static sqlite3_pcache_page *countFetch(sqlite3_pcache *p, unsigned i, int e){
  nCalled++;
  return basePcache.xFetch(p, i, e);
}
static sqlite3_mutex_methods baseMutex;
static void countEnter(sqlite3_mutex *p){ baseMutex.xMutexEnter(p); }

static void testMethods(void){
  const char *zFile = temporaryFile("methods.db");
  sqlite3_pcache_methods2 pcache;
  sqlite3_mutex_methods mutex;
  sqlite3_mem_methods m;
  sqlite3 *db;
  sqlite3_int64 nPage, nThread;
  if( !hasEngine() ) return;
  db = openDb(&ours, zFile, 0);
  nThread = integer(&ours, db, "PRAGMA hp_threads");
  execute(db, "CREATE TABLE t(a,b);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 3000)"
      " INSERT INTO t SELECT i, randomblob(300) FROM n;");
  nPage = integer(&ours, db, "PRAGMA page_count");
  sqlite3_close(db);

  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &basePcache);
  pcache = basePcache;
  pcache.xFetch = countFetch;
  sqlite3_config(SQLITE_CONFIG_PCACHE2, &pcache);
  db = openDb(&ours, zFile, 0);
  check(isTaken(db, "SELECT sum(a) FROM t"), "not taken over");
  nCalled = 0;
  check(integer(&ours, db, "SELECT sum(a) FROM t")==4501500, "wrong sum");
  check(nCalled>=nPage*9/10, "of %lld pages %d came from the application's page"
        " cache", nPage, nCalled);
  sqlite3_close(db);
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_PCACHE2, &basePcache);

  m = base;
  m.xFree = countFree;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &m);
  db = openDb(&ours, zFile, 0);
  check(integer(&ours, db, "PRAGMA hp_threads")==1,
        "several workers would call the application's allocator");
  sqlite3_close(db);
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_MALLOC, &base);

  sqlite3_config(SQLITE_CONFIG_GETMUTEX, &baseMutex);
  mutex = baseMutex;
  mutex.xMutexEnter = countEnter;
  sqlite3_config(SQLITE_CONFIG_MUTEX, &mutex);
  db = openDb(&ours, zFile, 0);
  execute(db, "PRAGMA hp_threads=4");
  check(integer(&ours, db, "PRAGMA hp_threads")==1,
        "several workers would rely on the application's mutexes");
  sqlite3_close(db);
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_MUTEX, &baseMutex);
  db = openDb(&ours, zFile, 0);
  check(integer(&ours, db, "PRAGMA hp_threads")==nThread,
        "fewer workers with SQLite's own methods");
  sqlite3_close(db);
  removeDb(zFile);
}

int main(int argc, char **argv){
  if( argc<2 ) return 2;
  if( argc==2 ){
    Memory stock = load(argv[1]);
    testAlone(&stock);
    testLimit(&mine);
    testLimit(&stock);
  }
  testThreads(0);
  testThreads(1);
  testMine();
  testEach();
  testMethods();
  return finish();
}
