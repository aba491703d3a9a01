/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_budget: how much memory a statement may take (PRAGMA hp_memory).
**
**    hpBudgetUsable()    bytes that the process may use at all
**    hpBudgetSetting()   bytes that a statement may hold, as PRAGMA hp_memory shows
**    hpBudgetOpen()      an account for a statement
**    hpBudgetArena()     an arena of a worker, whose blocks are small beside it
**    hpBudgetHold()      a worker's sink holds so much now
**    hpBudgetMay()       may it have more, and how badly does it need it?
**    hpBudgetIsLimited() is memory limited by the application?
**    hpBudgetKeep(), hpBudgetKept()    pages and columns that outlive statements
**    hpBudgetOomUndo()   running out of memory was no error after all
**
** A statement has one account for all of its workers and pipes.  It is about what
** grows with the data: groups, rows to be sorted, places, values computed or put
** together for a batch.  Buffers of a fixed size are not counted: about a megabyte
** a worker.
**
** Each worker may hold its share of the limit in any case, and more as long as the
** others leave it.  What the answer to hpBudgetMay() is depends on how badly the
** memory is needed:
**
**    HP_WISH    something can be done instead: write groups to a file, end the
**               scan, do without the faster table.  Not a byte beyond the limit
**    HP_KEEP    what is kept can be put nowhere else: without it the query is
**               declined.  A megabyte beyond the limit
**    HP_FINISH  the batch has to be finished before anything can be put aside.
**               A share and a megabyte beyond the limit
**
** The default limit is an eighth of what the process may use (machine, control
** group, RLIMIT_AS), and at least HP_MEMORY.  A hard heap limit of the process, or
** a heap of fixed size (SQLITE_CONFIG_HEAP), leaves no more than half of what is
** still free.
**
** What is kept of files for later statements, pages (hp_store.c) and columns
** (hp_columns.c), has an account of the process: also an eighth of what that may use.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif
#if SQLITE_OS_UNIX
# include <sys/resource.h>
#endif

/*
** db has run out of memory, which is no error after all.  As sqlite3OomClear(),
** in a statement that goes on.
*/
static void hpBudgetOomUndo(sqlite3 *db){
  assert( sqlite3_mutex_held(db->mutex) );
  if( db->mallocFailed ){
    db->mallocFailed = 0;
    assert( db->lookaside.bDisable>0 );    /* By sqlite3OomFault() */
    if( db->nVdbeExec>0 ) AtomicStore(&db->u1.isInterrupted, 0);
    EnableLookaside;
  }
}

/* Is memory limited, by a hard heap limit or as a heap of fixed size? */
static int hpBudgetIsLimited(void){
  return mem0.hardLimit>0 || sqlite3GlobalConfig.pHeap!=0;
}

#if SQLITE_OS_UNIX
/*
** The number that a file of a control group begins with, or 0.
*/
static i64 hpBudgetRead(const char *zFile){
  char z[32];
  ssize_t n;
  i64 nLimit = 0;
  int fd = osOpen(zFile, O_RDONLY|O_CLOEXEC, 0);
  if( fd<0 ) return 0;
  n = osRead(fd, z, sizeof(z)-1);
  osClose(fd);
  if( n<=0 ) return 0;
  z[n] = 0;
  for(n=0; sqlite3Isdigit(z[n]); n++){}
  z[n] = 0;
  if( n==0 || sqlite3Atoi64(z, &nLimit, (int)n, SQLITE_UTF8) ) return 0;
  return nLimit;
}
#endif

/*
** Bytes of memory that this process may use.  Found out once; then kept in
** megabytes, so that it is read and written whole.
*/
static i64 hpBudgetUsable(void){
  static u32 nUsable = 0;
  u32 nMega = AtomicLoad(&nUsable);
  if( nMega==0 ){
    i64 n = 1024*1024*1024;
#if SQLITE_OS_UNIX
    static const char *const azLimit[] = {
      "/sys/fs/cgroup/memory.max",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    };
    struct rlimit lim;
    int i;
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    if( sysconf(_SC_PHYS_PAGES)>0 ){
      n = (i64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    }
#endif
    if( getrlimit(RLIMIT_AS, &lim)==0 && lim.rlim_cur!=RLIM_INFINITY ){
      n = MIN(n, (i64)lim.rlim_cur);
    }
    for(i=0; i<ArraySize(azLimit); i++){
      i64 nLimit = hpBudgetRead(azLimit[i]);
      if( nLimit>0 ) n = MIN(n, nLimit);
    }
    if( sizeof(void*)<8 ) n = MIN(n, 1024*1024*1024);
#endif
    nMega = (u32)MIN(MAX(n>>20, 1), 0x7fffffff);
    AtomicStore(&nUsable, nMega);
  }
  return (i64)nMega<<20;
}

/*
** Bytes that a statement of db may hold, as the settings say.
*/
static i64 hpBudgetSetting(sqlite3 *db){
  i64 n = db->hp.nMemory ? db->hp.nMemory : hpConfig()->nMemory;
  return n ? n : MAX(hpBudgetUsable()/8, HP_MEMORY);
}

/*
** The same, but no more than a limit of the heap leaves.
*/
static i64 hpBudgetLimit(sqlite3 *db){
  i64 n = hpBudgetSetting(db);
  i64 nLimit = mem0.hardLimit;
  if( sqlite3GlobalConfig.pHeap
   && (nLimit<=0 || sqlite3GlobalConfig.nHeap<nLimit)
  ){
    nLimit = sqlite3GlobalConfig.nHeap;
  }
  if( nLimit>0 ){
    i64 nFree = (nLimit - sqlite3_memory_used())/2;
    n = MIN(n, MAX(0, nFree));
  }
  return n;
}

#ifdef HP_SHARED
static i64 nHpKept;      /* Bytes that are kept for later statements.  Atomic */

/* May n bytes more be kept?  If so they are, until hpBudgetKept(). */
static int hpBudgetKeep(i64 n){
  i64 nAll = __atomic_add_fetch(&nHpKept, n, __ATOMIC_RELAXED);
  assert( n>=0 );
  if( nAll<=hpBudgetUsable()/8 ) return 1;
  hpBudgetKept(n);
  return 0;
}

/* So many bytes are no longer kept */
static void hpBudgetKept(i64 n){
  i64 nAll = __atomic_sub_fetch(&nHpKept, n, __ATOMIC_RELAXED);
  assert( n>=0 && nAll>=0 );
  (void)nAll;
}
#endif

/*
** The account of a pipe whose workers are known: p->budget.  Relations of earlier
** pipes are part of what the statement holds.
*/
static void hpBudgetOpen(HpQuery *p){
  p->budget.nLimit = MAX(0, hpBudgetLimit(p->db) - p->nRelByte);
  p->budget.nShare = p->budget.nLimit/p->nWorker;
}

/*
** Let pArena, of a worker of p, grow in steps that are small beside its share.
*/
static void hpBudgetArena(const HpQuery *p, HpArena *pArena){
  pArena->mxBlock = MIN(8*1024*1024, MAX(4096, p->budget.nShare/16));
}

/*
** The sink of worker p holds n bytes.
*/
static void hpBudgetHold(HpWorker *p, i64 n){
  p->nHeld = n;
  AtomicStore(&p->nHeldTold, (u32)MIN(n>>10, 0x7fffffff));
}

/*
** May worker p have nMore bytes more?  eNeed is HP_WISH, HP_KEEP or HP_FINISH.
*/
static int hpBudgetMay(const HpWorker *p, i64 nMore, int eNeed){
  const HpQuery *pQuery = p->pQuery;
  const HpBudget *pBudget = &pQuery->budget;
  i64 nOwn = p->nHeld + p->frame.text.nTotal + p->batch.side.nTotal + nMore;
  i64 nSlack = eNeed==HP_WISH ? 0 : HP_MIN_MEMORY;
  i64 nAll;
  int i;
  assert( pBudget->nShare<=pBudget->nLimit && nMore>=0 );
  if( eNeed==HP_FINISH ) nSlack += pBudget->nShare;
  if( nOwn<=pBudget->nShare+nSlack ) return 1;
  if( nOwn>pBudget->nLimit+nSlack ) return 0;
  nAll = nOwn;
  for(i=0; i<pQuery->nWorker; i++){
    const HpWorker *pOther = pQuery->apWorker[i];
    if( pOther && pOther!=p ) nAll += (i64)AtomicLoad(&pOther->nHeldTold)<<10;
  }
  return nAll<=pBudget->nLimit+nSlack;
}
#endif /* SQLITE_OMIT_HP */
