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
**    hpBudgetLimit()     ... and no more than a limit of the heap leaves
**    hpBudgetOpen()      an account for a statement
**    hpBudgetArena()     an arena of a worker, whose blocks are small beside it
**    hpBudgetHold()      a worker's sink holds so much now
**    hpBudgetMay()       may it have more, and how badly does it need it?
**    hpBudgetIsLimited() is memory limited by the application?
**    hpBudgetKeep(), hpBudgetKept()    pages and columns that outlive statements
**    hpBudgetKeepMost()  how many there may be
**    hpBudgetMayKeep()   may there be any?
**    hpBudgetLook()      look whether the machine is short of memory
**    sqlite3HpHeapIsTight()  should page caches no longer grow?
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
** groups, RLIMIT_AS), and at least HP_MEMORY, or a quarter if that is less.  A
** hard heap limit of the process, or a heap of fixed size
** (SQLITE_CONFIG_HEAP), leaves no more than half of what is still free.
**
** A scan leaves SQLite's page caches as they are, so there is less in them
** than SQLite would have there.  An application that sets a hard heap limit by
** what is in use has a lower one, up to which they would grow, until some
** other allocation fails that did not with SQLite.  So page caches go on with
** the pages that they have when so much is left below the limit as one in
** HP_TIGHT of it.
**
** Control groups are those that the process is in, as /proc/self/cgroup names
** them, and all above them: of version 2, and of version 1 the one for memory.
**
** What is kept of files for later statements, pages (hp_store.c) and columns
** (hp_columns.c), has an account of the process: also an eighth of what that
** may use, or of a soft heap limit.  As each of several processes has such an
** account, they look what is left by all, HP_LOOK apart: what Linux calls
** available in the machine, and what the control groups leave beside their
** cached files.  If that is less than an eighth nothing is added, and if it is
** less than a sixteenth what is kept of a file goes when it is read.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif
#if SQLITE_OS_UNIX && !defined(SQLITE_WASI)
# include <sys/resource.h>
# include <time.h>
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

#define HP_TIGHT     8             /* So a part of a hard heap limit, ... */
#define HP_MN_TIGHT  (256*1024)    /* ... at least, ... */
#define HP_MX_TIGHT  (4*1024*1024) /* ... and at most */

/* Is little left below a hard heap limit? */
SQLITE_PRIVATE int sqlite3HpHeapIsTight(void){
  i64 nHard;
  if( hpLimitLoad(&mem0.alarmThreshold)<=0 ) return 0;
  nHard = hpLimitLoad(&mem0.hardLimit);
  return nHard>0 && hpConfig()->bOff==0
      && nHard-sqlite3_memory_used()
           < MAX(HP_MN_TIGHT, MIN(HP_MX_TIGHT, nHard/HP_TIGHT));
}

/* Is memory limited, by a hard heap limit or as a heap of fixed size? */
static int hpBudgetIsLimited(void){
  return mem0.hardLimit>0 || sqlite3GlobalConfig.pHeap!=0;
}

#if defined(__linux__) && SQLITE_OS_UNIX
#define HP_MX_SYSTEM  8192       /* Bytes read of a file of the kernel's */
#define HP_MX_GROUP   1024       /* Bytes of the path of a control group */

/* Read the file /zDir/zFile, with a zero behind it.  Returns its bytes, or 0 */
static int hpBudgetFile(
  const char *zDir,
  const char *zFile,
  char *z,
  int nAlloc
){
  char zPath[HP_MX_GROUP+100];
  ssize_t n;
  int nAll = 0;
  int fd;
  sqlite3_snprintf(sizeof(zPath), zPath, "%s/%s/%s",
                   hpConfig()->bHere ? "." : "", zDir, zFile);
  fd = osOpen(zPath, O_RDONLY|O_CLOEXEC, 0);
  if( fd<0 ) return 0;
  while( nAll<nAlloc-1 && (n = osRead(fd, &z[nAll], nAlloc-1-nAll))>0 ){
    nAll += (int)n;
  }
  osClose(fd);
  z[nAll] = 0;
  return nAll;
}

/* The number at z, or nNone if there is none, or one that no i64 holds */
static i64 hpBudgetNumber(const char *z, i64 nNone){
  i64 x = 0;
  int n = 0;
  while( z[0]==' ' || z[0]==':' ) z++;
  while( sqlite3Isdigit(z[n]) ) n++;
  if( n==0 || sqlite3Atoi64(z, &x, n, SQLITE_UTF8) ) return nNone;
  return x;
}

/* The number behind zName, which begins a line of z, or nNone */
static i64 hpBudgetField(const char *z, const char *zName, i64 nNone){
  int n = sqlite3Strlen30(zName);
  while( z && strncmp(z, zName, n)!=0 ){
    z = strchr(z, '\n');
    if( z ) z++;
  }
  return z ? hpBudgetNumber(&z[n], nNone) : nNone;
}

/* The files of a control group.  azCache: the names, in memory.stat, of two
** numbers of bytes of cached files */
static const struct HpGroupFiles {
  const char *zRoot;
  const char *azMost[2];
  const char *zUsed;
  const char *azCache[2];
} aHpGroup[] = {
  { "sys/fs/cgroup", { "memory.max", "memory.high" }, "memory.current",
    { "inactive_file ", "active_file " } },
  { "sys/fs/cgroup/memory", { "memory.limit_in_bytes", 0 },
    "memory.usage_in_bytes",
    { "total_inactive_file ", "total_active_file " } },
};

/*
** Bytes that the control group in zDir may use, at most nMost; or, with bLeft,
** that it has not used, where what it has cached of files is not used.
*/
static i64 hpBudgetGroup(
  const struct HpGroupFiles *p,
  const char *zDir,
  i64 nMost,
  int bLeft
){
  char z[HP_MX_SYSTEM];
  i64 n = nMost;
  int i;
  for(i=0; i<2; i++){
    if( p->azMost[i] && hpBudgetFile(zDir, p->azMost[i], z, sizeof(z)) ){
      n = MIN(n, hpBudgetNumber(z, nMost));
    }
  }
  if( bLeft && n<nMost && hpBudgetFile(zDir, p->zUsed, z, sizeof(z)) ){
    i64 nUsed = hpBudgetNumber(z, 0);
    if( hpBudgetFile(zDir, "memory.stat", z, sizeof(z)) ){
      for(i=0; i<2; i++) nUsed -= hpBudgetField(z, p->azCache[i], 0);
    }
    n = MAX(0, n-MAX(0, nUsed));
  }
  return n;
}

/* Does a line of /proc/self/cgroup with the names z[0..n-1] tell a group that
** limits memory? */
static int hpBudgetIsGroup(const char *z, int n, int iVersion){
  const char *zEnd = &z[n];
  if( iVersion==0 ) return n==0;
  while( z<zEnd ){
    const char *zComma = memchr(z, ',', zEnd-z);
    if( zComma==0 ) zComma = zEnd;
    if( zComma-z==6 && memcmp(z, "memory", 6)==0 ) return 1;
    z = zComma+1;
  }
  return 0;
}

/*
** The least that hpBudgetGroup() says of the groups of this process and those
** above them, nMost at most.
*/
static i64 hpBudgetGroups(i64 nMost, int bLeft){
  char zAll[HP_MX_SYSTEM];
  char zDir[HP_MX_GROUP];
  const char *z, *zEnd;
  i64 nLeast = nMost;
  int iVersion;
  if( hpBudgetFile("proc/self", "cgroup", zAll, sizeof(zAll))==0 ) zAll[0] = 0;
  for(iVersion=0; iVersion<ArraySize(aHpGroup); iVersion++){
    const struct HpGroupFiles *p = &aHpGroup[iVersion];
    int nRoot = sqlite3Strlen30(p->zRoot);
    int n = 0;
    /* A line is NUMBER:CONTROLLERS:PATH.  Version 2 names no controllers */
    for(z=zAll; z && z[0]; z=zEnd ? zEnd+1 : 0){
      const char *zNames = strchr(z, ':');
      const char *zPath = zNames ? strchr(zNames+1, ':') : 0;
      zEnd = strchr(z, '\n');
      if( zPath && (zEnd==0 || zPath<zEnd)
       && hpBudgetIsGroup(zNames+1, (int)(zPath-zNames)-1, iVersion)
      ){
        n = zEnd ? (int)(zEnd-zPath)-1 : sqlite3Strlen30(zPath)-1;
        if( n>(int)sizeof(zDir)-1-nRoot ) n = 0;
        memcpy(&zDir[nRoot], zPath+1, n);
      }
    }
    memcpy(zDir, p->zRoot, nRoot);
    zDir[nRoot+n] = 0;
    /* In a container the path may be one that only the host has */
    if( strstr(zDir, "/..") ) n = 0;
    for(;;){
      zDir[nRoot+n] = 0;
      nLeast = MIN(nLeast, hpBudgetGroup(p, zDir, nMost, bLeft));
      if( n==0 ) break;
      while( n>0 && zDir[nRoot+--n]!='/' ){}
    }
  }
  return nLeast;
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
#if SQLITE_OS_UNIX && !defined(SQLITE_WASI)
    struct rlimit lim;
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    if( sysconf(_SC_PHYS_PAGES)>0 ){
      n = (i64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    }
#endif
    if( getrlimit(RLIMIT_AS, &lim)==0 && lim.rlim_cur!=RLIM_INFINITY ){
      n = MIN(n, (i64)lim.rlim_cur);
    }
#ifdef HP_MX_GROUP
    n = hpBudgetGroups(n, 0);
#endif
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
  i64 nUsable = hpBudgetUsable();
  return n ? n : MAX(nUsable/8, MIN(HP_MEMORY, nUsable/4));
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
#define HP_LOOK   1000           /* Milliseconds between looks */
#define HP_FEW    8              /* Below such a part add nothing, ... */
#define HP_SHORT  16             /* ... and below this one keep nothing */

/* No atomic operation is on more bytes than a pointer has: of 8 bytes they are
** calls of libatomic on old processors of 32 bits, and on RISC-V of 32 bits */
static uptr nHpKept;     /* Bytes that are kept for later statements.  Atomic */
static u8 eHpLeft;       /* What was seen: HP_FEW, HP_SHORT, or 0.  Atomic */

/* How many bytes may be kept */
static i64 hpBudgetKeepMost(void){
  i64 n = hpBudgetUsable();
  i64 nSoft = hpLimitLoad(&mem0.alarmThreshold);
  if( nSoft>0 ) n = MIN(n, nSoft);
  return n/8;
}

/* May there be anything that is kept, and is it not too much? */
static int hpBudgetMayKeep(void){
  return AtomicLoad(&eHpLeft)!=HP_SHORT
      && (hpLimitLoad(&mem0.alarmThreshold)<=0
           || (hpLimitLoad(&mem0.hardLimit)<=0
                && (i64)AtomicLoad(&nHpKept)<=hpBudgetKeepMost()));
}

/*
** Look at what memory is available, unless that was done less than HP_LOOK ago.
*/
static void hpBudgetLook(void){
#if defined(HP_MX_GROUP) && defined(CLOCK_MONOTONIC)
  static u32 iHpLook;    /* When it was looked last, or 0.  Atomic */
  char z[1024];
  struct timespec t;
  i64 nUsable, nLeft;
  u32 iLast = AtomicLoad(&iHpLook);
  u32 iNow;
  if( clock_gettime(CLOCK_MONOTONIC, &t) ) return;
  iNow = ((u32)t.tv_sec*1000 + (u32)(t.tv_nsec/1000000)) | 1;
  if( iLast!=0 && iNow-iLast<(hpConfig()->bHere ? 0 : HP_LOOK) ) return;
  if( !__atomic_compare_exchange_n(&iHpLook, &iLast, iNow, 0, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED) ) return;
  nUsable = hpBudgetUsable();
  nLeft = LARGEST_INT64;
  if( hpBudgetFile("proc", "meminfo", z, sizeof(z)) ){
    nLeft = hpBudgetField(z, "MemAvailable", nLeft/1024)*1024;
  }
  nLeft = MIN(nLeft, hpBudgetGroups(LARGEST_INT64, 1));
  AtomicStore(&eHpLeft, nLeft<nUsable/HP_SHORT ? HP_SHORT
                      : nLeft<nUsable/HP_FEW ? HP_FEW : 0);
#endif
}

/* May n bytes more be kept?  If so they are, until hpBudgetKept(). */
static int hpBudgetKeep(i64 n){
  i64 nAll = (i64)__atomic_add_fetch(&nHpKept, (uptr)n, __ATOMIC_RELAXED);
  assert( n>=0 && nAll>=n );
  hpBudgetLook();
  if( nAll<=hpBudgetKeepMost() && AtomicLoad(&eHpLeft)==0 ) return 1;
  hpBudgetKept(n);
  return 0;
}

/* So many bytes are no longer kept */
static void hpBudgetKept(i64 n){
  uptr nAll = __atomic_sub_fetch(&nHpKept, (uptr)n, __ATOMIC_RELAXED);
  assert( n>=0 && nAll+(uptr)n>=nAll );    /* So many were kept */
  (void)nAll;
}
#endif

/*
** The account of a pipe whose workers are known: p->budget.  Relations of earlier
** pipes are part of what the statement holds.
*/
static void hpBudgetOpen(HpPipe *p){
  p->budget.nLimit = MAX(0, hpBudgetLimit(p->pQuery->db) - p->pQuery->nHeld);
  p->budget.nShare = p->budget.nLimit/p->nWorker;
}

/*
** Let pArena, of a worker of p, grow in steps that are small beside its share.
*/
static void hpBudgetArena(const HpPipe *p, HpArena *pArena){
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
  const HpPipe *pPipe = p->pPipe;
  const HpBudget *pBudget = &pPipe->budget;
  i64 nOwn = p->nHeld + p->frame.text.nTotal + p->side.nTotal + nMore;
  i64 nSlack = eNeed==HP_WISH ? 0 : HP_MIN_MEMORY;
  i64 nAll;
  int i;
  assert( pBudget->nShare<=pBudget->nLimit && nMore>=0 );
  if( eNeed==HP_FINISH ) nSlack += pBudget->nShare;
  if( nOwn<=pBudget->nShare+nSlack ) return 1;
  if( nOwn>pBudget->nLimit+nSlack ) return 0;
  nAll = nOwn;
  for(i=0; i<pPipe->nWorker; i++){
    const HpWorker *pOther = pPipe->apWorker[i];
    if( pOther && pOther!=p ) nAll += (i64)AtomicLoad(&pOther->nHeldTold)<<10;
  }
  return nAll<=pBudget->nLimit+nSlack;
}
#endif /* SQLITE_OMIT_HP */
