/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_store: pages of a database file that the connections of a process share.
**
** SQLite's page cache belongs to a connection and holds 2000 KiB, unless PRAGMA
** cache_size says otherwise.  What does not fit is read from the file again and
** again, at about a microsecond a page, most of which is memory being copied.
** This file keeps such pages once for the whole process:
**
**    hpGetPage()             The pager's xGet method, in front of SQLite's own.
**    sqlite3HpGetter()       Called where the pager chooses its xGet method.
**    sqlite3HpCacheCheck()   Called when a read transaction has begun: are the
**                            pages of the last one still valid?
**    hpStoreAllowed()        May pages and columns be shared, as settings go?
**    hpStoreShare()          How much of a file may there be when it adds some?
**    hpStoreLeave()          Memory is to be given back, or the pager is closed.
**    hpStoreForget()         SQLITE_FCNTL_RESET_CACHE, or the pager leaves WAL mode.
**
** A store (HpStore) is what one state of one database file has on its pages.
** Pages are only added, and they never change: so threads look them up without
** a lock or a counter, and what 32 connections use is in memory once.  A page
** is handed to the b-tree as a memory-mapped page would be, that is with a
** header of its connection and read-only, and only in read transactions; the
** cache of the connection is not touched.
**
** Which state.  Only in WAL mode, where the file itself changes by checkpoints
** alone.  A page that a transaction does not find in its part of the WAL, it
** reads from the file; and nobody writes to such a page while the transaction
** has its read mark.  The state of the file, as far as those pages go, is told
** by two things in the wal-index: the salts, which change when the WAL is begun
** anew, and the number of frames that had been copied into the file when the
** transaction began.  When one of the two is another, a connection leaves the
** store.  The first one that has the new state makes a new store, and nobody
** joins the old one any more, should its state seem to come back.  As long as
** a connection uses a store it has the database open in WAL mode, so nobody
** can have left that mode.  This is as much as SQLite relies on when it keeps
** the pages in its own cache from one transaction to the next.  A connection
** that joins relies on less: the size and the times of the file must be those
** of when the store was made, as a file may have been copied over it.  All that
** is not so of a connection that leaves WAL mode itself, which may fail when
** its WAL is closed already, and then keeps no lock: later there may be a WAL
** with the state that was.  So it forgets the store.
**
** When it pays.  A connection joins after it had to read as many pages in one
** state as its own cache has room for, HP_STORE_MISSES at least, and later if
** the last store did not pay.  A page goes into the store when it is read a
** second time, by anybody: a bitmap tells.  One scan of a large table, or one
** look at each page, leaves nothing behind.  Small databases, and those that
** are checkpointed all the time, never get here.
**
** Bounds, all of which hold:
**
**   1.  PRAGMA cache_size says what a connection's own page cache may take.
**       Where that is less than the default the connection adds pages only as
**       long as those of the file take as small a part of the bound of 2, one
**       in HP_STORE_LEAST at least.
**   2.  All stores of the process, and all columns (hp_columns.c), take up to an
**       eighth of the memory of the machine, or of the control group or the
**       address space if these are smaller.  That is shared by all connections, be it 500.  When it is
**       used up no page is added.
**   3.  There is no store while a hard heap limit is set, as memory that is
**       kept would be missing elsewhere; a soft one makes the bound of 2 an
**       eighth of the limit, if that is less.  Nor is there one if the memory
**       is not that of the C library (SQLITE_CONFIG_MALLOC, _HEAP), or if the
**       application brought a page cache or the memory for it (_PCACHE2,
**       _PAGECACHE).
**   4.  Where the file is read through a memory map (PRAGMA mmap_size) pages
**       come from there, and from the store only those that the map does not
**       reach.
**
** The memory is counted by sqlite3_memory_used().  It is freed when the last
** connection leaves: when it finds the file in another state, a hard heap
** limit set, or more kept than there may be, by sqlite3_db_release_memory()
** and PRAGMA shrink_memory, or when it is closed.
**
** Writing is as ever: in a write transaction all pages come from SQLite's
** cache, whose size, and with it when pages are spilled, is never changed.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

#define HP_STORE_CHUNK   512    /* Pages of a chunk of pointers */
#define HP_STORE_POINTERS ((i64)(HP_STORE_CHUNK*sizeof(u8*)))  /* Its bytes */
#define HP_STORE_NOTES   (1024*1024)    /* Most bits of the bitmap */
#define HP_STORE_MISSES  500     /* Pages read at least before a pager joins */
#define HP_STORE_CACHE   2000    /* KiB of a page cache: SQLite's default */
#define HP_STORE_LEAST   16      /* A small cache leaves so a part at least */
#define HP_STORE_SLAB    (2*1024*1024)  /* Bytes of the first slabs */
#define HP_STORE_MX_SLAB (16*1024*1024) /* Bytes of the largest */

/* Bytes between pages.  SQLite may read some bytes past the end of a page if it
** is corrupt.  And pages at multiples of 4096 would share few cache sets. */
#define HP_STORE_GAP     64

/* One state of a database file */
typedef struct HpState HpState;
typedef struct HpStore HpStore;
struct HpState {
  unixInodeInfo *pInode; /* The file */
  u32 aSalt[2];          /* Of the WAL */
  u32 nBackfill;         /* Frames of it that are in the file */
  int szPage;            /* Page size */
};

/*
** Its pages.  Fields marked (m) are protected by the mutex
** SQLITE_MUTEX_STATIC_LRU, which SQLite's page cache has for the same purpose
** where it uses it.
*/
struct HpStore {
  HpState state;         /* State of the file */
  HpFileStat stat;       /* What the system said of it when this was made */
  int nRef;              /* (m) Connections that use it */
  int bJoin;             /* (m) More may join: it is in hpStoreList */
  HpStore *pNext;        /* (m) In hpStoreList */
  Pgno nPage;            /* Pages of the database file when it was made */
  u8 ***aapPage;         /* Chunks of pointers to pages, each NULL at first, plus
                         ** 1 if rowids are in order: see hp_seek.c */
  u32 nNote;             /* Bits of aNote[], a power of two */
  u32 nNoted;            /* Bits set, about */
  u32 *aNote;            /* Pages that have been read */
  struct HpStoreSlab {
    struct HpStoreSlab *pNext;
  } *pSlab;              /* (m) Memory for pages */
  u8 *pFree, *pEnd;      /* (m) What is left of the last slab */
  i64 nByte;             /* (m) Bytes of all slabs and chunks */
};

static HpStore *hpStoreList = 0;   /* (m) Stores that may be joined */

#ifndef SQLITE_MUTEX_OMIT
static sqlite3_mutex *hpStoreMutex(void){
  return sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU);
}
#endif

#ifdef SQLITE_DEBUG
/* May p be joined?  The mutex is held. */
static int hpStoreIsListed(const HpStore *p){
  const HpStore *pList = hpStoreList;
  while( pList && pList!=p ) pList = pList->pNext;
  return pList!=0;
}

/* The fields of a store that is in use.  The mutex is held. */
static int hpStoreIsSane(const HpStore *p){
  if( p->nRef<1 || p->bJoin!=hpStoreIsListed(p) ) return 0;
  if( p->nByte<0 || p->pFree>p->pEnd ) return 0;
  return (p->pSlab==0)==(p->pEnd==0);
}
#endif

/*
** May pages and columns be shared, as far as settings go?
*/
static int hpStoreAllowed(void){
  return sqlite3GlobalConfig.pPage==0
      && hpMemoryPcacheDefault()
      && hpBudgetMayKeep();
}

/* Bytes of a page cache of szCache, as PRAGMA cache_size gives it */
static i64 hpStoreCacheBytes(i64 szCache, i64 szPage){
  return szCache<0 ? -1024*szCache : szCache*szPage;
}

/*
** How many bytes of the pages of a file, or of its columns, there may be for
** this pager to add some.
*/
static i64 hpStoreShare(const Pager *pPager){
  i64 szPage = pPager->pageSize;
  i64 nFull = MIN((i64)HP_STORE_CACHE*1024,
                  hpStoreCacheBytes(SQLITE_DEFAULT_CACHE_SIZE, szPage));
  i64 n = hpStoreCacheBytes(pPager->pPCache->szCache, szPage);
  assert( n>=0 && nFull>=0 && szPage>=512 );
  if( n>=nFull ) return LARGEST_INT64;
  return hpBudgetKeepMost()/1024 * MAX(n*1024/nFull, 1024/HP_STORE_LEAST);
}

/*
** Find out the state of the database file.  Return false if there is no
** saying, or if no store can be made for it.
*/
static int hpStoreState(Pager *pPager, HpState *p){
  Wal *pWal = pPager->pWal;
  if( pWal==0 || pWal->readLock<0 || pWal->exclusiveMode!=WAL_NORMAL_MODE
   || pPager->exclusiveMode || pWal->bShmUnreliable || pPager->tempFile
   || !hpFileStateIsKnown(pPager->fd)
   || (!hpMemoryDefault() && !hpConfig()->bForce)
  ){
    return 0;
  }
  memset(p, 0, sizeof(*p));
  p->pInode = ((unixFile*)pPager->fd)->pInode;
  p->aSalt[0] = pWal->hdr.aSalt[0];
  p->aSalt[1] = pWal->hdr.aSalt[1];
  p->nBackfill = pWal->readLock ? pWal->minFrame-1 : pWal->hdr.mxFrame;
  p->szPage = (int)pPager->pageSize;
  return 1;
}

/*
** Free a store that nobody uses any more.
*/
static void hpStoreFree(HpStore *p){
  u32 i;
  u32 nChunk = p->nPage/HP_STORE_CHUNK + 1;
  assert( p->aapPage!=0 && p->aNote!=0 );
  assert( p->nRef==0 && p->bJoin==0 );
  for(i=0; i<nChunk; i++) sqlite3_free(p->aapPage[i]);
  while( p->pSlab ){
    struct HpStoreSlab *pNext = p->pSlab->pNext;
    sqlite3_free(p->pSlab);
    p->pSlab = pNext;
  }
  sqlite3_free(p->aapPage);
  sqlite3_free(p->aNote);
  sqlite3_free(p);
}

/*
** Make a store.
*/
static HpStore *hpStoreNew(
  const HpState *pState,
  const HpFileStat *pStat,
  Pgno nPage
){
  HpStore *p = sqlite3MallocZero(sizeof(*p));
  if( p==0 ) return 0;
  p->state = *pState;
  p->stat = *pStat;
  p->nPage = nPage;
  p->nNote = 1024;
  while( p->nNote<=nPage && p->nNote<HP_STORE_NOTES ) p->nNote *= 2;
  assert( (p->nNote & (p->nNote-1))==0 && p->nNote<=HP_STORE_NOTES );
  p->aapPage = sqlite3MallocZero((nPage/HP_STORE_CHUNK + 1)*sizeof(u8**));
  p->aNote = sqlite3MallocZero(p->nNote/8);
  if( p->aapPage==0 || p->aNote==0 ){
    sqlite3_free(p->aapPage);
    sqlite3_free(p->aNote);
    sqlite3_free(p);
    return 0;
  }
  return p;
}

/*
** Stop joining store p.
*/
static void hpStoreUnlink(HpStore *p){
  HpStore **pp;
  assert( sqlite3_mutex_held(hpStoreMutex()) );
  assert( hpStoreIsListed(p)==p->bJoin );
  if( p->bJoin==0 ) return;
  for(pp=&hpStoreList; *pp!=p; pp=&(*pp)->pNext){}
  *pp = p->pNext;
  p->bJoin = 0;
}

/*
** Join the store of the state of the file, making it if need be.
*/
static void hpStoreJoin(Pager *pPager){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = hpStoreMutex(); )
  HpState state;
  HpFileStat stat;
  HpStore *p, *pNew;
  int bOld = 0;
  assert( pPager->hp.pStore==0 && pPager->hp.bUse==0 );
  if( !hpStoreAllowed() || !hpFileStateStat(pPager->fd, &stat)
   || !hpStoreState(pPager, &state)
  ){
    return;
  }
  sqlite3BeginBenignMalloc();
  pNew = hpStoreNew(&state, &stat, pPager->dbSize);
  sqlite3EndBenignMalloc();
  sqlite3_mutex_enter(pMutex);
  for(p=hpStoreList; p && p->state.pInode!=state.pInode; p=p->pNext){}
  if( p && memcmp(&p->state, &state, sizeof(state)) ){
    if( memcmp(p->state.aSalt, state.aSalt, sizeof(state.aSalt))==0
     && p->state.nBackfill>state.nBackfill
    ){
      bOld = 1;     /* This transaction has begun before the store was made */
    }else{
      hpStoreUnlink(p);
    }
    p = 0;
  }
  if( p && memcmp(&p->stat, &stat, sizeof(stat)) ){
    hpStoreUnlink(p);   /* Somebody has written past SQLite, or a checkpoint */
    p = 0;
  }
  if( p==0 && pNew && bOld==0 ){
    p = pNew;
    pNew = 0;
    p->bJoin = 1;
    p->pNext = hpStoreList;
    hpStoreList = p;
  }
  if( p ) p->nRef++;
  assert( p==0 || (p->bJoin && hpStoreIsSane(p)) );
  sqlite3_mutex_leave(pMutex);
  if( pNew ) hpStoreFree(pNew);
  pPager->hp.pStore = p;
  pPager->hp.bUse = p!=0;
  pPager->hp.nGain = 0;
  pPager->hp.aSeen[0] = pPager->iDataVersion;
  pPager->hp.aSeen[1] = pPager->pWal->hdr.aCksum[1];
}

/*
** Leave the store.  If pages of it are in use just do not use others: this is
** called again when there are none.
*/
static void hpStoreLeave(Pager *pPager){
  HpStore *p = pPager->hp.pStore;
  assert( pPager->hp.bUse==0 || p!=0 );
  if( pPager->hp.bUse ){
    /* Wait longer with the next store if this one was not worth while */
    if( pPager->hp.nGain>0 ){
      pPager->hp.nWait = 0;
    }else if( pPager->hp.nWait<6 ){
      pPager->hp.nWait++;
    }
  }
  pPager->hp.bUse = 0;
  pPager->hp.nMiss = 0;
  if( p && pPager->nMmapOut==0 ){
    MUTEX_LOGIC( sqlite3_mutex *pMutex = hpStoreMutex(); )
    int bFree;
    pPager->hp.pStore = 0;
    sqlite3_mutex_enter(pMutex);
    assert( hpStoreIsSane(p) );
    bFree = --p->nRef==0;
    if( bFree ){
      hpStoreUnlink(p);
      hpBudgetKept(p->nByte);
    }
    sqlite3_mutex_leave(pMutex);
    if( bFree ) hpStoreFree(p);
  }
}

/*
** The content of the file may be another than the wal-index says: forget all.
*/
static void hpStoreForget(Pager *pPager){
  if( pPager->hp.pStore ){
    MUTEX_LOGIC( sqlite3_mutex *pMutex = hpStoreMutex(); )
    sqlite3_mutex_enter(pMutex);
    hpStoreUnlink(pPager->hp.pStore);
    sqlite3_mutex_leave(pMutex);
    hpStoreLeave(pPager);
    assert( pPager->hp.bUse==0 );
  }
}

/*
** A read transaction has begun on a pager that has a store.
*/
SQLITE_PRIVATE void sqlite3HpCacheCheck(Pager *pPager){
  HpState state;
  u32 iSum = pPager->pWal ? pPager->pWal->hdr.aCksum[1] : 0;
  assert( pPager->hp.pStore!=0 );
  if( (pPager->hp.nCheck++ & 63)==0 ) hpBudgetLook();
  /* SQLite has forgotten its pages though the header of the wal-index is what
  ** it was: that was recovered, and the file may have been exchanged. */
  if( pPager->hp.aSeen[0]!=pPager->iDataVersion && pPager->hp.aSeen[1]==iSum ){
    hpStoreForget(pPager);
    return;
  }
  pPager->hp.aSeen[0] = pPager->iDataVersion;
  pPager->hp.aSeen[1] = iSum;
  if( pPager->hp.bUse==0 || !hpStoreAllowed()
   || !hpStoreState(pPager, &state)
   || memcmp(&state, &pPager->hp.pStore->state, sizeof(state))
  ){
    hpStoreLeave(pPager);
  }
}

/*
** Return memory for one more page of store p, or NULL.  It may have nShare
** bytes.
*/
static u8 *hpStoreAlloc(HpStore *p, i64 nShare){
  int szSlot = p->state.szPage + HP_STORE_GAP;
  u8 *a = 0;
  assert( sqlite3_mutex_held(hpStoreMutex()) && hpStoreIsSane(p) );
  if( p->pEnd - p->pFree < szSlot ){
    i64 n = p->nByte/4;
    struct HpStoreSlab *pSlab;
    n = MIN(MAX(n, HP_STORE_SLAB), HP_STORE_MX_SLAB);
    if( p->nByte+n>nShare || !hpBudgetKeep(n) ) return 0;
    pSlab = sqlite3Malloc(n);
    if( pSlab==0 ){
      hpBudgetKept(n);
      return 0;
    }
#ifdef MADV_HUGEPAGE
    {
      uptr iStart = ((uptr)pSlab + 4095) & ~(uptr)4095;
      uptr iEnd = ((uptr)pSlab + n) & ~(uptr)4095;
      (void)madvise((void*)iStart, iEnd-iStart, MADV_HUGEPAGE);
    }
#endif
    pSlab->pNext = p->pSlab;
    p->pSlab = pSlab;
    p->pFree = (u8*)(((uptr)pSlab + sizeof(*pSlab) + 63) & ~(uptr)63);
    p->pEnd = (u8*)pSlab + n;
    p->nByte += n;
  }
  a = p->pFree;
  p->pFree += szSlot;
  assert( p->pFree<=p->pEnd );
  return a;
}

/*
** Page iPage has been read from the database file to aData.  Keep it if it has
** been read before, and return true if that has been done.
*/
static int hpStoreAdd(Pager *pPager, Pgno iPage, const u8 *aData){
  HpStore *p = pPager->hp.pStore;
  u32 iNote = iPage & (p->nNote-1);
  u32 mNote = (u32)1<<(iNote&31);
  MUTEX_LOGIC( sqlite3_mutex *pMutex; )
  u8 **ap, *a = 0;
  assert( iPage>1 );
  if( iPage>p->nPage ) return 0;
  if( (__atomic_fetch_or(&p->aNote[iNote>>5], mNote, __ATOMIC_RELAXED)
       & mNote)==0
   && !hpConfig()->bForce
  ){
    /* Forget all if the bitmap is about full with others */
    if( __atomic_add_fetch(&p->nNoted, 1, __ATOMIC_RELAXED)>p->nNote/2
     && p->nNote<=p->nPage
    ){
      u32 i;
      for(i=0; i<p->nNote/32; i++) AtomicStore(&p->aNote[i], 0);
      AtomicStore(&p->nNoted, 0);
    }
    return 0;
  }
  MUTEX_LOGIC( pMutex = hpStoreMutex(); )
  sqlite3BeginBenignMalloc();
  sqlite3_mutex_enter(pMutex);
  ap = AtomicLoad(&p->aapPage[iPage/HP_STORE_CHUNK]);
  if( ap==0 && hpBudgetKeep(HP_STORE_POINTERS) ){
    ap = sqlite3MallocZero(HP_STORE_POINTERS);
    if( ap==0 ){
      hpBudgetKept(HP_STORE_POINTERS);
    }else{
      p->nByte += HP_STORE_POINTERS;
      __atomic_store_n(&p->aapPage[iPage/HP_STORE_CHUNK], ap, __ATOMIC_RELEASE);
    }
  }
  if( ap && AtomicLoad(&ap[iPage%HP_STORE_CHUNK])==0
   && (a = hpStoreAlloc(p, hpStoreShare(pPager)))!=0
  ){
    memcpy(a, aData, p->state.szPage);
    memset(&a[p->state.szPage], 0, HP_STORE_GAP);
    a += hpSeekInOrder(a, 0, p->state.szPage);
    __atomic_store_n(&ap[iPage%HP_STORE_CHUNK], a, __ATOMIC_RELEASE);
  }
  sqlite3_mutex_leave(pMutex);
  sqlite3EndBenignMalloc();
  return a!=0;
}

/*
** Look for page iPage in the store.  Return true, and a reference to it in
** *ppPage, if it is there and the WAL has no newer one.
*/
static int hpStoreGet(Pager *pPager, Pgno iPage, DbPage **ppPage){
  HpStore *p = pPager->hp.pStore;
  PgHdr *pPg;
  u8 **ap, *a;
  u32 iFrame = 0;
  int bOrder;
  /* Of bound 3 what may not change while connections are open */
  assert( pPager->hp.bUse && p!=0 );
  assert( sqlite3GlobalConfig.pPage==0 && hpMemoryPcacheDefault() );
  assert( pPager->eState==PAGER_READER && pPager->pWal->readLock>=0 );
  if( iPage<=1 || iPage>p->nPage || iPage>pPager->dbSize ) return 0;
  ap = __atomic_load_n(&p->aapPage[iPage/HP_STORE_CHUNK], __ATOMIC_ACQUIRE);
  if( ap==0 ) return 0;
  a = __atomic_load_n(&ap[iPage%HP_STORE_CHUNK], __ATOMIC_ACQUIRE);
  if( a==0 ) return 0;
  bOrder = (uptr)a & 1;
  a -= bOrder;
  hpPrefetch(a);
  hpPrefetch(a + 64);
  if( sqlite3WalFindFrame(pPager->pWal, iPage, &iFrame) || iFrame ) return 0;
  if( pPager->pMmapFreelist==0 ){
    /* pagerAcquireMapPage() is for pages that xFetch() gave if memory runs out,
    ** so it gets a header that it does not have to allocate. */
    sqlite3BeginBenignMalloc();
    pPg = sqlite3MallocZero(sizeof(*pPg) + pPager->nExtra);
    sqlite3EndBenignMalloc();
    if( pPg==0 ) return 0;
    pPg->pExtra = (void*)&pPg[1];
    pPg->flags = PGHDR_MMAP;
    pPg->nRef = 1;
    pPg->pPager = pPager;
    pPager->pMmapFreelist = pPg;
  }
  (void)pagerAcquireMapPage(pPager, iPage, a, ppPage);
  (*ppPage)->flags |= PGHDR_HP;
  if( bOrder ){
    ((MemPage*)sqlite3PagerGetExtra(*ppPage))->nHpSeek = HP_SEEK_ORDER;
  }
  pPager->aStat[PAGER_STAT_HIT]++;
  pPager->hp.nGain++;
  return 1;
}

/*
** Get a page in a read transaction in WAL mode.
*/
static SQLITE_NOINLINE int hpGetPageWal(
  Pager *pPager,
  Pgno iPage,
  DbPage **ppPage,
  int flags
){
  u32 nMiss;
  int rc;
  if( pPager->hp.bUse && hpStoreGet(pPager, iPage, ppPage) ) return SQLITE_OK;
  nMiss = pPager->aStat[PAGER_STAT_MISS];
  rc = getPageNormal(pPager, iPage, ppPage, flags);
  if( nMiss!=pPager->aStat[PAGER_STAT_MISS] && rc==SQLITE_OK
   && pPager->eState==PAGER_READER
  ){
    /* A page had to be read */
    if( pPager->hp.bUse ){
      u32 iFrame = 0;
      if( iPage>1 && hpBudgetMayKeep()
       && sqlite3WalFindFrame(pPager->pWal, iPage, &iFrame)==SQLITE_OK
       && iFrame==0
      ){
        /* To add a page costs about as much as a hit saves */
        pPager->hp.nGain -= hpStoreAdd(pPager, iPage, (*ppPage)->pData);
      }
    }else if( pPager->hp.pStore==0
           && ((++pPager->hp.nMiss>>pPager->hp.nWait)
                 > MAX(numberOfCachePages(pPager->pPCache), HP_STORE_MISSES)
               || hpConfig()->bForce)
    ){
      pPager->hp.nMiss = 0;
      hpStoreJoin(pPager);
    }
  }
  return rc;
}

/*
** The pager's xGet method.
*/
static int hpGetPage(Pager *pPager, Pgno iPage, DbPage **ppPage, int flags){
  if( pPager->eState!=PAGER_READER || pPager->pWal==0 ){
    return getPageNormal(pPager, iPage, ppPage, flags);
  }
  return hpGetPageWal(pPager, iPage, ppPage, flags);
}

/* The method for reading pages where SQLite has chosen xGet; pages that are not
** mapped, too */
SQLITE_PRIVATE PagerGetter sqlite3HpGetter(PagerGetter xGet){
  return hpConfig()->bOff ? xGet : hpGetPage;
}

#else
SQLITE_PRIVATE void sqlite3HpCacheCheck(Pager *p){ UNUSED_PARAMETER(p); }
static void hpStoreLeave(Pager *p){ UNUSED_PARAMETER(p); }
static void hpStoreForget(Pager *p){ UNUSED_PARAMETER(p); }
SQLITE_PRIVATE PagerGetter sqlite3HpGetter(PagerGetter xGet){ return xGet; }
#endif

#endif /* SQLITE_OMIT_HP */
