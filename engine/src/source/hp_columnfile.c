/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_columnfile: the files whose columns are kept, and the states of each.
**
**    hpColumnFileJoin()   What is kept of the file of a pager, with a reference
**                         more.
**    hpColumnFileUnref()  A reference less.
**    hpColumnFileLeave()  The pager wants no columns any more.
**    hpColumnFileState()  The state that a transaction sees.  What does not
**                         hold any more is dropped.
**    hpColumnFileTick()   A scan of a file begins.
**    hpColumnFileIdle()   One had no room: let the columns of an idle file go.
**    hpColumnFileGiveBack()  The machine is short of memory: those of one file.
**    sqlite3HpCacheLeave()   Memory is to be given back, or the pager is
**                            closed.
**    sqlite3HpCacheForget()  SQLITE_FCNTL_RESET_CACHE; the pager leaves WAL
**                            mode.
**    sqlite3HpMemoryWanted() A heap limit is met, or memory is wanted back.
**
** There is one HpColumnFile for a file as long as anybody has it
** (HpFileState.pColumns): whoever gives up what is kept drops it for all.  A
** pager has a reference from its first scan on, and each scan one of its own.
**
** States.  When a scan begins hp_filestate.c tells which pages have changed
** since the last one began.  They become stale in the runs that have them as
** leaves; a run of which a fourth is stale is dropped, since to read it again
** would take as long.  What is known of a page above leaves goes when it
** changes.  If it is not known what has changed, all of it goes.
**
** Idle files.  All files share one account (hpBudgetKeep()).  A scan that had
** no room in it says so when it ends, and the columns go of that file which has
** not been scanned for the longest time: more than HP_IDLE scans of others.
** So two files that take turns do not push each other out.
**
** The list and the references are under SQLITE_MUTEX_STATIC_LRU.  With that
** held nobody waits for the mutex of a file: sqlite3HpMemoryWanted(), which is
** called where memory is allocated, maybe by a thread that has one, only tries.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

static HpColumnFile *hpColumnFileList = 0;    /* (m) */
static u32 hpColumnFileClock = 0;             /* Scans of all files.  Atomic */

/* The first of aPage[0..nPage-1], which are in order, that is not less than
** iPg */
static int hpColumnFileFirst(const Pgno *aPage, int nPage, Pgno iPg){
  int iLow = 0, iHigh = nPage;
  while( iLow<iHigh ){
    int iMid = (iLow+iHigh)/2;
    if( aPage[iMid]<iPg ) iLow = iMid+1; else iHigh = iMid;
  }
  return iLow;
}

/* Leaf k of run p has changed in state iState */
static void hpColumnFileStaleLeaf(HpColumnRun *p, int k, u64 iState){
  assert( k>=0 && k<p->nPage && p->iBorn<iState );
  if( p->aStale[k]==0 ){
    p->aStale[k] = iState;
    p->nStale++;
  }
}

/*
** The pages aPage[0..nPage-1] have changed in state iState.  They are put in
** order, and become stale in the runs that have them as leaves.
*/
static void hpColumnFileStale(
  HpColumnFile *pFile,
  Pgno *aPage,
  int nPage,
  u64 iState
){
  u32 nRun = pFile->nRun;
  u32 i;
  assert( sqlite3_mutex_held(pFile->pMutex) );
  assert( nPage>0 && iState>0 );
  hpPageSort(aPage, (u32)nPage);
  for(i=0; i<pFile->nSlot; i++){
    HpColumnRun **pp = &pFile->apRun[i];
    while( *pp ){
      HpColumnRun *p = *pp;
      int iLow = hpColumnFileFirst(aPage, nPage, p->iMin);
      int iHigh = iLow + hpColumnFileFirst(&aPage[iLow], nPage-iLow, p->iMax+1);
      int k;
      if( iHigh-iLow<p->nPage ){
        /* A damaged b-tree may have a leaf in several places */
        for(; iLow<iHigh; iLow++){
          for(k=0; k<p->nPage; k++){
            if( p->aPg[k]==aPage[iLow] ) hpColumnFileStaleLeaf(p, k, iState);
          }
        }
      }else{
        for(k=0; k<p->nPage; k++){
          int iAt = iLow + hpColumnFileFirst(&aPage[iLow], iHigh-iLow,
                                             p->aPg[k]);
          if( iAt<iHigh && aPage[iAt]==p->aPg[k] ){
            hpColumnFileStaleLeaf(p, k, iState);
          }
        }
      }
      if( p->iInnerStale==0 ){
        int iAt = hpColumnFileFirst(aPage, nPage, p->iInner);
        if( iAt<nPage && aPage[iAt]==p->iInner ) p->iInnerStale = iState;
      }
      assert( hpColumnRunIsSane(p) );
      if( p->nStale*HP_MX_STALE>p->nPage ){
        hpColumnsDrop(pFile, pp);
      }else{
        pp = &p->pNext;
      }
    }
  }
  for(i=0; i<HP_INNERS; i++){
    HpColumnInner **pp = &pFile->apInner[i];
    while( *pp ){
      int iAt = hpColumnFileFirst(aPage, nPage, (*pp)->iPg);
      if( iAt<nPage && aPage[iAt]==(*pp)->iPg ){
        hpColumnsInnerDrop(pFile, pp);
      }else{
        pp = &(*pp)->pNext;
      }
    }
  }
  hpColumnsBury(pFile);
  if( 2*pFile->nRun<nRun ) hpColumnsLost(pFile);
}

static u64 hpColumnFileState(HpColumnFile *pFile, Pager *pPager){
  HpFileState *p = pFile->pState;
  u64 iState = hpFileStateNow(p, pPager);
  assert( sqlite3_mutex_held(p->pMutex) && p->pColumns==pFile );
  assert( iState<=p->iNow );
  if( p->bLost ){
    hpColumnsNone(pFile);
  }else if( p->changed.n ){
    hpColumnFileStale(pFile, p->changed.a, p->changed.n, p->iTold+1);
  }
  hpFileStateTold(p);
  return iState;
}

static void hpColumnFileFree(HpColumnFile *p){
  assert( p->nRef==0 && p->nScan==0 );
  if( p->apRun ){
    hpThreadEnter(p->pMutex);
    hpColumnsDropSome(p, 0);
    assert( p->nByte==0 );
    sqlite3_mutex_leave(p->pMutex);
  }
  sqlite3_free(p->apRun);
  sqlite3_free(p);
}

static HpColumnFile *hpColumnFileNew(HpFileState *pState){
  HpColumnFile *p = sqlite3MallocZero(sizeof(*p));
  if( p==0 ) return 0;
  p->pState = pState;
  p->pMutex = pState->pMutex;
  p->nSlot = 64;
  p->apRun = sqlite3MallocZero(p->nSlot*sizeof(p->apRun[0]));
  if( p->apRun==0 ){
    hpColumnFileFree(p);
    return 0;
  }
  return p;
}

/* One user less */
static void hpColumnFileUnref(HpColumnFile *p){
  MUTEX_LOGIC( sqlite3_mutex *pMutex =
                   sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpFileState *pState = p->pState;
  int bFree;
  sqlite3_mutex_enter(pMutex);
  assert( p->nRef>0 && pState->pColumns==p );
  bFree = --p->nRef==0;
  if( bFree ){
    pState->pColumns = 0;
    if( p->pNext ) p->pNext->pPrev = p->pPrev;
    if( p->pPrev ) p->pPrev->pNext = p->pNext; else hpColumnFileList = p->pNext;
  }
  sqlite3_mutex_leave(pMutex);
  if( bFree ){
    hpColumnFileFree(p);
    hpFileStateUnref(pState);
  }
}

/* Let go of the columns of pPager */
static void hpColumnFileLeave(Pager *pPager){
  HpColumnFile *p = pPager->hp.pColumns;
  pPager->hp.pColumns = 0;
  if( p ) hpColumnFileUnref(p);
}

/* There may be less than is kept: drop all runs of the file of pPager, whoever
** else has it open */
static void hpColumnFileGiveBack(Pager *pPager){
  HpColumnFile *p = pPager->hp.pColumns;
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  hpColumnsDropSome(p, 0);
  hpColumnsLost(p);
  sqlite3_mutex_leave(p->pMutex);
}

/*
** Drop the runs of all files that are not being scanned.  This is called when
** memory is allocated, by a thread that may have the mutex of a file: never
** while it goes through the runs, unless it scans.
*/
SQLITE_PRIVATE void sqlite3HpMemoryWanted(void){
  MUTEX_LOGIC( sqlite3_mutex *pMutex; )
  HpColumnFile *p;
  if( AtomicLoad(&hpColumnFileList)==0 ) return;
  MUTEX_LOGIC( pMutex = sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  if( sqlite3_mutex_try(pMutex)!=SQLITE_OK ) return;
  for(p=hpColumnFileList; p; p=p->pNext){
    if( sqlite3_mutex_try(p->pMutex)!=SQLITE_OK ) continue;
    if( p->nRun && p->nScan==0 ){
      hpColumnsDropSome(p, 0);
      hpColumnsLost(p);
    }
    sqlite3_mutex_leave(p->pMutex);
  }
  sqlite3_mutex_leave(pMutex);
}

/*
** Scans have had no room, as other files have it.  Drop what is kept of the one
** that has not been scanned for the longest time, if that was so long ago that
** it is idle.  No mutex is held.
*/
static void hpColumnFileIdle(void){
  MUTEX_LOGIC( sqlite3_mutex *pMutex =
                   sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  u32 iClock = AtomicLoad(&hpColumnFileClock);
  u32 nMost = HP_IDLE;
  HpColumnFile *pIdle = 0;
  HpColumnFile *p;
  sqlite3_mutex_enter(pMutex);
  for(p=hpColumnFileList; p; p=p->pNext){
    u32 nAge = iClock - AtomicLoad(&p->iClock);
    assert( p->nRef>0 && p->pState->pColumns==p );
    if( nAge>nMost && AtomicLoad(&p->pState->nHeld)>0 ){
      nMost = nAge;
      pIdle = p;
    }
  }
  if( pIdle ) pIdle->nRef++;
  sqlite3_mutex_leave(pMutex);
  if( pIdle ){
    hpThreadEnter(pIdle->pMutex);
    hpColumnsDropSome(pIdle, 0);
    sqlite3_mutex_leave(pIdle->pMutex);
    hpColumnFileUnref(pIdle);
  }
}

/* A scan of the file begins */
static void hpColumnFileTick(HpColumnFile *p){
  assert( sqlite3_mutex_held(p->pMutex) && p->nScan>0 );
  AtomicStore(&p->iClock, __atomic_add_fetch(&hpColumnFileClock, 1,
                                             __ATOMIC_RELAXED));
}

/*
** What is kept of the file of *ppState, of which this takes over the reference,
** with one user more.  NULL without memory.
*/
static HpColumnFile *hpColumnFileOf(HpFileState **ppState){
  MUTEX_LOGIC( sqlite3_mutex *pMutex =
                   sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpFileState *pState = *ppState;
  HpColumnFile *pNew = hpColumnFileNew(pState);
  HpColumnFile *p;
  sqlite3_mutex_enter(pMutex);
  p = pState->pColumns;
  if( p==0 && pNew ){
    p = pNew;
    pNew = 0;
    *ppState = 0;
    pState->pColumns = p;
    p->pNext = hpColumnFileList;
    if( hpColumnFileList ) hpColumnFileList->pPrev = p;
    hpColumnFileList = p;
  }
  if( p ) p->nRef++;
  assert( p==0 || (p->nRef>0 && p->pMutex==pState->pMutex) );
  sqlite3_mutex_leave(pMutex);
  if( pNew ) hpColumnFileFree(pNew);
  return p;
}

/*
** The columns of the file of pPager, for the pager, if it has none yet, and for
** a scan.  NULL without memory.
*/
static HpColumnFile *hpColumnFileJoin(Pager *pPager){
  MUTEX_LOGIC( sqlite3_mutex *pMutex =
                   sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU); )
  HpColumnFile *p = pPager->hp.pColumns;
  if( p==0 ){
    HpFileState *pState = hpFileStateJoin(pPager->fd);
    if( pState==0 ) return 0;
    p = hpColumnFileOf(&pState);
    if( pState ) hpFileStateUnref(pState);
    if( p==0 ) return 0;
    pPager->hp.pColumns = p;
  }
  sqlite3_mutex_enter(pMutex);
  p->nRef++;
  /* The pager's and the scan's */
  assert( p->nRef>1 && p->pState->pColumns==p );
  sqlite3_mutex_leave(pMutex);
  return p;
}

#else

static void hpColumnFileLeave(Pager *p){ UNUSED_PARAMETER(p); }


SQLITE_PRIVATE void sqlite3HpMemoryWanted(void){}
#endif /* HP_SHARED */

SQLITE_PRIVATE void sqlite3HpCacheLeave(Pager *pPager){
  hpStoreLeave(pPager);
  hpColumnFileLeave(pPager);
}

/*
** The content of the file may be another than is known: forget all.
*/
SQLITE_PRIVATE void sqlite3HpCacheForget(Pager *pPager){
  hpStoreForget(pPager);
#ifdef HP_SHARED
  hpFileStateForget(pPager->fd);
#endif
  hpColumnFileLeave(pPager);
}
#endif /* SQLITE_OMIT_HP */
