/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_memory: memory without a mutex of the process.
**
**    sqlite3HpMalloc()    sqlite3Malloc(): allocate, and count it
**    sqlite3HpRealloc()   sqlite3Realloc(): the same for another size
**    sqlite3HpFree()      sqlite3_free(): the same backwards
**    sqlite3HpOverflow()  count memory of the page cache
**    sqlite3HpCounted()   a counter is about to be read
**    hpMemoryDefault()    does memory come from the C library?
**    hpMemoryPcacheDefault()    is the page cache SQLite's own?
**
** SQLite counts what it allocates (sqlite3_memory_used(), sqlite3_status())
** under one mutex, which it holds while the allocator of the C library, thread
** safe itself, does its work.  All threads that prepare statements or open
** connections meet there.  Atomic counters instead would meet as well, in the
** processor: two threads that did nothing but allocate were slower with them.
** So each thread counts for itself,
**
**    SQLite's counter    what has been put there
**    aShare[0]           what a thread has added since, HP_MEMORY_SHARE at most
**    aShare[1]           and another
**    ...
**
** and puts what it has into SQLite's counter when that becomes much.  Whoever
** wants to read a counter puts all shares there first.  A value is therefore
** the sum of all that was done.  A highest value is exact while one thread
** allocates; of several each knows its own share only, and it may miss what the
** others had not put there yet, HP_MEMORY_SHARE of each.
**
** Each function returns 0 if the allocation is SQLite's business: when a heap
** limit is set, as checking it and allocating has to be one step; when one
** method of the allocator is the application's, as it expects every call, and
** SQLite promises never to make two at the same time; and with HPSQLITE=off.
** SQLite's code and this one may work side by side.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#if SQLITE_OS_UNIX && !defined(SQLITE_WASI) || defined(HP_COUNT_MEMORY)
/*
** True if memory comes from the C library: every method that allocates is
** SQLite's default.  An application may replace only one of them, for example
** an xFree that wipes what it frees.
*/
static SQLITE_INLINE int hpMemoryDefault(void){
#if defined(SQLITE_SYSTEM_MALLOC) || defined(SQLITE_MEMDEBUG)
  const sqlite3_mem_methods *p = &sqlite3GlobalConfig.m;
  return p->xMalloc==sqlite3MemMalloc
      && p->xFree==sqlite3MemFree
      && p->xRealloc==sqlite3MemRealloc
      && p->xSize==sqlite3MemSize
      && p->xRoundup==sqlite3MemRoundup;
#else
  return 0;
#endif
}
#endif

#if SQLITE_OS_UNIX
/*
** True if every method of the page cache that handles pages is SQLite's.
*/
static SQLITE_INLINE int hpMemoryPcacheDefault(void){
  const sqlite3_pcache_methods2 *p = &sqlite3GlobalConfig.pcache2;
  return p->xFetch==pcache1Fetch
      && p->xUnpin==pcache1Unpin
      && p->xCreate==pcache1Create
      && p->xDestroy==pcache1Destroy
      && p->xRekey==pcache1Rekey
      && p->xTruncate==pcache1Truncate
      && p->xCachesize==pcache1Cachesize
      && p->xPagecount==pcache1Pagecount
      && p->xShrink==pcache1Shrink;
}
#endif

#ifdef HP_COUNT_MEMORY
# include <stdatomic.h>

#define HP_MEMORY_THREADS 64     /* Beyond so many threads some share a share */
#define HP_MEMORY_SHARE   16384  /* Most of a share: bytes, or allocations */

/* The counters that are shared out */
static const u8 aHpCounter[] = {
  SQLITE_STATUS_MEMORY_USED,
  SQLITE_STATUS_MALLOC_COUNT,
  SQLITE_STATUS_PAGECACHE_OVERFLOW
};
#define HP_MEMORY_USED  0           /* Indexes of aHpCounter[] */
#define HP_MEMORY_COUNT 1
#define HP_MEMORY_CACHE 2

/* What one thread has added to them.  No two are in one line of the cache. */
typedef struct HpShare HpShare;
struct HpShare {
  _Atomic i64 a[ArraySize(aHpCounter)];
  u8 aPad[128 - sizeof(i64)*ArraySize(aHpCounter)];
};
static struct {
  HpShare aShare[HP_MEMORY_THREADS];
  _Atomic int nShare;            /* Threads that have come here */
} hpShares;

/* True if memory may be allocated here */
static int hpMemoryOk(void){
  return hpMemoryDefault()
      && hpLimitLoad(&mem0.alarmThreshold)<=0
      && hpConfig()->bOff==0;
}

/* The share of this thread */
static HpShare *hpMemoryShare(void){
  static __thread HpShare *pShare;
  /* Each in a line of the cache of its own; and & takes a remainder */
  assert( sizeof(HpShare)==128 );
  assert( (HP_MEMORY_THREADS & (HP_MEMORY_THREADS-1))==0 );
  if( pShare==0 ){
    int i = atomic_fetch_add(&hpShares.nShare, 1);
    pShare = &hpShares.aShare[i & (HP_MEMORY_THREADS-1)];
  }
  return pShare;
}

/* Raise the highest value of SQLite's counter op to x, if it is lower */
static void hpMemoryHigh(int op, i64 x){
  wsdStatInit;
  sqlite3_int64 mx = atomic_load_explicit(&wsdStat.mxValue[op],
                                          memory_order_relaxed);
  assert( op>=0 && op<ArraySize(wsdStat.mxValue) );
  while( x>mx
   && !atomic_compare_exchange_weak(&wsdStat.mxValue[op], &mx, x)
  ){}
}

/* Put counter i of a share into SQLite's */
static void hpMemoryPut(HpShare *p, int i){
  wsdStatInit;
  int op = aHpCounter[i];
  i64 n = atomic_exchange(&p->a[i], 0);
  assert( i>=0 && i<ArraySize(aHpCounter) );
  if( n!=0 ) hpMemoryHigh(op, n + atomic_fetch_add(&wsdStat.nowValue[op], n));
}

/* Add n, which may be negative, to counter i */
static void hpMemoryCount(HpShare *p, int i, int n){
  wsdStatInit;
  int op = aHpCounter[i];
  i64 x = n + atomic_fetch_add_explicit(&p->a[i], n, memory_order_relaxed);
  assert( p>=&hpShares.aShare[0] && p<&hpShares.aShare[HP_MEMORY_THREADS] );
  if( n>0 ){
    hpMemoryHigh(op, x + atomic_load_explicit(&wsdStat.nowValue[op],
                                              memory_order_relaxed));
  }
  if( x>HP_MEMORY_SHARE || x<-HP_MEMORY_SHARE ) hpMemoryPut(p, i);
}

/*
** SQLite's counter op is about to be read: put all shares of it there.
*/
SQLITE_PRIVATE void sqlite3HpCounted(int op){
  int n = MIN(hpShares.nShare, HP_MEMORY_THREADS);
  int i, j;
  assert( aHpCounter[HP_MEMORY_USED]==SQLITE_STATUS_MEMORY_USED );
  assert( aHpCounter[HP_MEMORY_COUNT]==SQLITE_STATUS_MALLOC_COUNT );
  assert( aHpCounter[HP_MEMORY_CACHE]==SQLITE_STATUS_PAGECACHE_OVERFLOW );
  for(i=0; i<(int)ArraySize(aHpCounter); i++){
    if( aHpCounter[i]!=op ) continue;
    for(j=0; j<n; j++) hpMemoryPut(&hpShares.aShare[j], i);
  }
}

/*
** Set *pp to n bytes of memory, n>0, or to NULL if there is none.
*/
SQLITE_PRIVATE int sqlite3HpMalloc(int n, void **pp){
  assert( n>0 );
  if( !hpMemoryOk() ) return 0;
  hpMemoryHigh(SQLITE_STATUS_MALLOC_SIZE, n);
  *pp = sqlite3MemMalloc(sqlite3MemRoundup(n));
  if( *pp ){
    HpShare *p = hpMemoryShare();
    assert( sqlite3MemSize(*pp)>=n );
    hpMemoryCount(p, HP_MEMORY_USED, sqlite3MemSize(*pp));
    hpMemoryCount(p, HP_MEMORY_COUNT, 1);
  }
  return 1;
}

/*
** Make *pp, which has nOld bytes, as large as nNew, which is nByte rounded up.
** If there is no memory it stays as it is and *pp becomes NULL.
*/
SQLITE_PRIVATE int sqlite3HpRealloc(void **pp, int nOld, int nByte, int nNew){
  assert( *pp!=0 && nByte>0 && nNew>=nByte );
  if( !hpMemoryOk() ) return 0;
  assert( nOld==sqlite3MemSize(*pp) );
  hpMemoryHigh(SQLITE_STATUS_MALLOC_SIZE, nByte);
  *pp = sqlite3MemRealloc(*pp, nNew);
  if( *pp ){
    hpMemoryCount(hpMemoryShare(), HP_MEMORY_USED, sqlite3MemSize(*pp) - nOld);
  }
  return 1;
}

SQLITE_PRIVATE int sqlite3HpFree(void *pOld){
  HpShare *p;
  assert( pOld!=0 );
  if( !hpMemoryOk() ) return 0;
  p = hpMemoryShare();
  hpMemoryCount(p, HP_MEMORY_USED, -sqlite3MemSize(pOld));
  hpMemoryCount(p, HP_MEMORY_COUNT, -1);
  sqlite3MemFree(pOld);
  return 1;
}

/*
** Of the memory allocated n bytes were for a page of nByte bytes; or if n is
** negative, they no longer are.
*/
SQLITE_PRIVATE int sqlite3HpOverflow(int n, int nByte){
  assert( n>=0 ? n>=nByte : nByte==0 );
  if( hpConfig()->bOff ) return 0;
  hpMemoryHigh(SQLITE_STATUS_PAGECACHE_SIZE, nByte);
  hpMemoryCount(hpMemoryShare(), HP_MEMORY_CACHE, n);
  return 1;
}
#endif /* HP_COUNT_MEMORY */
#endif /* SQLITE_OMIT_HP */
