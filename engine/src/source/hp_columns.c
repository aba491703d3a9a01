/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_columns: columns of leaf pages that the connections of a process share.
**
** A scan copies each leaf out of the file, finds its cells, and decodes the
** columns that are wanted.  What has been decoded may stay in memory, as
** segments (hp_segment.c), for the scans that come after.  The file remains the
** truth.  Four modules keep it:
**
**    hp_columns.c      what there is of one file, its memory, and how it goes
**    hp_columnrun.c    one run of leaves: made, added to, mended, read
**    hp_columnfile.c   the files of a process, and the states of each
**    hp_columnscan.c   what one scan sees of that
**
** Whether the file has changed since, hp_filestate.c knows.
**
**    hpColumnsSlot()     Where runs with this first leaf are.
**    hpColumnsInsert(), hpColumnsDrop(), hpColumnsRetire(),
**    hpColumnsFreeRun()  A run comes, or goes.
**    hpColumnsDropSome(), hpColumnsNone()   Runs go that are not used; all do.
**    hpColumnsLost()     Most have gone: has it paid to keep them?
**    hpColumnsBury()     Free what was dropped, if no scan runs.
**    hpColumnsMay(), hpColumnsNoRoom()   Memory for more, and if there is none.
**    hpColumnsOwn()      Bytes of a segment that are in no slab.
**    hpColumnsSlab(), hpColumnsSlabMost()   Memory for segments.
**    hpColumnsLeaveSlabs()   Slabs that are not used any more.
**    hpColumnsInner(), hpColumnsInnerAdd(), hpColumnsInnerDrop()   What is
**                        known of a page above leaves.
**
** How runs go.  No scan may read what has been freed: hpColumnsDrop() takes it
** out of its slot, and the scans that run may still read it; when the last of
** them ends hpColumnsBury() frees it.  hpColumnsRetire() is the same for a run
** that never was in a slot.
**
** Bounds.  hp_store.c and this module have one account (hpBudgetKeep()).
** PRAGMA hp_columns may set less for what the scans of a connection add to, and
** so does a page cache that is smaller than the default (hpStoreShare()).  When
** there is no more room, runs go that HP_UNUSED scans of the file have passed
** over; if there are none, nothing more is kept.  A scan that had no room as
** other files have it ends with dropping what is kept of an idle one
** (hp_columnfile.c): the next has room.
**
** Segments lie in slabs (hp_slab.c), of which each worker has one at a time,
** and the scans that come after go on with those that are not full.  Those that
** go leave holes until their neighbours go, too.  So it is whole slabs that
** count as kept, and where there is no room, and most of what is kept are
** holes, all runs are dropped.  Segments that are mended have memory of their
** own.
**
** Whether it pays.  To keep a run takes as long as HP_PAYS finds of it save.
** When most runs are dropped before they have been found that often, twice as
** many scans are waited for before anything is kept again, up to HP_MX_WAIT.
**
** Threads.  A file has a mutex, held to take a run and to add one, never while
** values are read.  What is dropped while scans run is freed when the last of
** them ends.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

/* Something more is kept of the file, or less.  The mutex is held; others only
** look */
static void hpColumnsHolds(HpColumnFile *pFile, int n){
  HpFileState *p = pFile->pState;
  assert( sqlite3_mutex_held(p->pMutex) && (n>0 || p->nHeld>0) );
  AtomicStore(&p->nHeld, p->nHeld+n);
}

/* So many bytes of slabs are free */
static void hpColumnsSlabFreed(HpColumnFile *pFile, i64 n){
  pFile->nByte -= n;
  pFile->nSlab -= n;
  hpBudgetKept(n);
  assert( pFile->nSlab>=0 && pFile->nByte>=pFile->nSlab );
}

/* Bytes of a segment that are in no slab */
static i64 hpColumnsOwn(const HpSegment *p){ return p->pSlab ? 0 : p->nByte; }

/* Free a run of pFile, of which nothing is in use */
static void hpColumnsFreeRun(HpColumnFile *pFile, HpColumnRun *p){
  i64 nByte = p->nByte - p->nSegment;
  int i, k;
  assert( p->nSegment>=0 && p->nByte>=p->nSegment );
  for(k=0; k<p->nCol; k++){
    HpSegment **ap = p->aCol[k].apSeg;
    for(i=0; ap && i<p->nChunk; i++){
      assert( ap[i]->nRef>0 && ap[i]->nRow==p->anRow[i] );
      if( ap[i]->pSlab ){
        if( ap[i]->nRef==1 ) pFile->nInSlab -= ap[i]->nByte;
        hpColumnsSlabFreed(pFile, hpSegmentFree(ap[i]));
      }else{
        nByte += hpSegmentFree(ap[i]);
      }
    }
  }
  hpBudgetKept(nByte);
  while( p->pArray ){
    struct HpColumnArray *pArray = p->pArray;
    p->pArray = pArray->pNext;
    sqlite3_free(pArray);
  }
  sqlite3_free(p->aCol);
  sqlite3_free(p);
}

/* Let go of the slabs of a list.  They go when their last segment does */
static void hpColumnsLeaveSlabs(HpColumnFile *pFile, HpSlab **pp){
  assert( sqlite3_mutex_held(pFile->pMutex) );
  while( *pp ){
    HpSlab *p = *pp;
    *pp = p->pNext;
    hpColumnsSlabFreed(pFile, hpSlabLeave(p));
  }
}

/* Bytes of what is known of a page above leaves */
static i64 hpColumnsInnerSize(int nCell, int szUnit){
  return sizeof(HpColumnInner) + (i64)sizeof(Pgno)*(nCell/szUnit);
}

/* Forget what *pp points to */
static void hpColumnsInnerDrop(HpColumnFile *pFile, HpColumnInner **pp){
  HpColumnInner *p = *pp;
  *pp = p->pNext;
  hpColumnsHolds(pFile, -1);
  p->pNext = pFile->pDeadInner;
  pFile->pDeadInner = p;
  pFile->nByte -= hpColumnsInnerSize(p->nCell, p->szUnit);
  assert( pFile->nByte>=pFile->nSlab );
}

/* Free the runs that have been dropped, unless a scan may have some of them */
static void hpColumnsBury(HpColumnFile *pFile){
  assert( sqlite3_mutex_held(pFile->pMutex) && pFile->nScan>=0 );
  while( pFile->nScan==0 && pFile->pDead ){
    HpColumnRun *p = pFile->pDead;
    pFile->pDead = p->pNext;
    hpColumnsFreeRun(pFile, p);
  }
  while( pFile->nScan==0 && pFile->pDeadInner ){
    HpColumnInner *p = pFile->pDeadInner;
    pFile->pDeadInner = p->pNext;
    hpBudgetKept(hpColumnsInnerSize(p->nCell, p->szUnit));
    sqlite3_free(p);
  }
  if( pFile->nScan==0 && pFile->nRun==0 ){
    hpColumnsLeaveSlabs(pFile, &pFile->pSlab);
  }
}

static HpColumnRun **hpColumnsSlot(const HpColumnFile *pFile, Pgno iLeaf){
  assert( pFile->nSlot>0 && (pFile->nSlot & (pFile->nSlot-1))==0 );
  return &pFile->apRun[(iLeaf*0x9e3779b1u >> 7) & (pFile->nSlot-1)];
}

/* No scan to come finds run p any more, which is in no slot */
static void hpColumnsRetire(HpColumnFile *pFile, HpColumnRun *p){
  assert( sqlite3_mutex_held(pFile->pMutex) );
  p->pNext = pFile->pDead;
  pFile->pDead = p;
  pFile->nByte -= p->nByte;
  assert( pFile->nByte>=pFile->nSlab );
}

/* Drop the run that *pp points to */
static void hpColumnsDrop(HpColumnFile *pFile, HpColumnRun **pp){
  HpColumnRun *p = *pp;
  assert( pFile->nRun>0 && p->iFirst==p->aPg[0] );
  *pp = p->pNext;
  pFile->nRun--;
  hpColumnsHolds(pFile, -1);
  hpColumnsRetire(pFile, p);
}

/* Drop runs: all, if nUnused is 0, or those that so many scans have passed
** over */
static void hpColumnsDropSome(HpColumnFile *pFile, u32 nUnused){
  u32 i;
  assert( sqlite3_mutex_held(pFile->pMutex) );
  for(i=0; i<pFile->nSlot; i++){
    HpColumnRun **pp = &pFile->apRun[i];
    while( *pp ){
      if( nUnused && pFile->iScan-(*pp)->iUsed<=nUnused ){
        pp = &(*pp)->pNext;
      }else{
        hpColumnsDrop(pFile, pp);
      }
    }
  }
  for(i=0; i<HP_INNERS && nUnused==0; i++){
    while( pFile->apInner[i] ) hpColumnsInnerDrop(pFile, &pFile->apInner[i]);
  }
  hpColumnsBury(pFile);
}

/* All runs, or most, have been dropped: did it pay to keep them? */
static void hpColumnsLost(HpColumnFile *pFile){
  assert( sqlite3_mutex_held(pFile->pMutex) );
  if( pFile->nKept ){
    int bPaid = pFile->nFound>=HP_PAYS*pFile->nKept;
    pFile->nWait = bPaid ? 0 : MIN(2*pFile->nWait+2, HP_MX_WAIT);
    pFile->nKept = pFile->nFound = 0;
  }
  pFile->iReset = pFile->iScan;
}

/* Nothing that is kept holds any more */
static void hpColumnsNone(HpColumnFile *pFile){
  hpColumnsDropSome(pFile, 0);
  hpColumnsLost(pFile);
}

/* May the runs of the file take n bytes more? */
static int hpColumnsMay(HpColumnScan *pScan, i64 n){
  HpColumnFile *pFile = pScan->pFile;
  assert( n>=0 && sqlite3_mutex_held(pFile->pMutex) );
  if( pFile->nByte+n>pScan->nLimit ) return 0;
  if( !hpBudgetKeep(n) ){
    pScan->bShort = 1;
    return 0;
  }
  pFile->nByte += n;
  return 1;
}

/* Put *p into the slot of its first leaf */
static void hpColumnsLink(const HpColumnFile *pFile, HpColumnRun *p){
  HpColumnRun **pp = hpColumnsSlot(pFile, p->iFirst);
  assert( sqlite3_mutex_held(pFile->pMutex) );
  p->pNext = *pp;
  *pp = p;
}

/* Twice as many slots, if there is memory */
static void hpColumnsGrow(HpColumnFile *pFile){
  HpColumnRun **apOld = pFile->apRun;
  u32 nOld = pFile->nSlot;
  HpColumnRun **apNew = sqlite3MallocZero(2*(u64)nOld*sizeof(apNew[0]));
  u32 i;
  if( apNew==0 ) return;
  pFile->apRun = apNew;
  pFile->nSlot = 2*nOld;
  for(i=0; i<nOld; i++){
    while( apOld[i] ){
      HpColumnRun *p = apOld[i];
      apOld[i] = p->pNext;
      hpColumnsLink(pFile, p);
    }
  }
  sqlite3_free(apOld);
}

/* A new run of the file */
static void hpColumnsInsert(HpColumnScan *pScan, HpColumnRun *p){
  HpColumnFile *pFile = pScan->pFile;
  assert( pFile->pState->iNow==pScan->iState && pFile->nScan>0 );
  if( pFile->nRun>=pFile->nSlot ) hpColumnsGrow(pFile);
  hpColumnsLink(pFile, p);
  pFile->nRun++;
  hpColumnsHolds(pFile, +1);
}

/*
** There is no room for what pScan keeps.  Let runs go that no scan uses; or
** all, if most of what is kept are holes in slabs, which those that go leave
** between the others.  If there are none, keep nothing more.
*/
static void hpColumnsNoRoom(HpColumnScan *pScan){
  HpColumnFile *pFile = pScan->pFile;
  u32 nRun = pFile->nRun;
  int bAll = hpConfig()->eColumns==HP_COLUMNS_TINY
      || 2*(pFile->nSlab-pFile->nInSlab)>pFile->nByte;
  hpColumnsDropSome(pFile, bAll ? 0 : HP_UNUSED);
  if( pFile->nRun==nRun ) pScan->bKeep = 0;
}

/*
** A slab with room for nByte bytes, NULL without memory.  It is for one worker
** until it is full, or the scan ends.
*/
static HpSlab *hpColumnsSlab(HpColumnScan *pScan, i64 nByte){
  HpColumnFile *pFile = pScan->pFile;
  HpSlab *p;
  assert( nByte>0 && nByte<=ROUND8(hpColumnsSlabMost(pScan)) );
  hpThreadEnter(pFile->pMutex);
  do{
    p = pFile->pSlab;
    if( p ){
      pFile->pSlab = p->pNext;
    }else if( pScan->bKeep ){
      if( hpColumnsMay(pScan, pScan->szSlab) ){
        pFile->nSlab += pScan->szSlab;
        p = hpSlabNew(pScan->szSlab);
        if( p==0 ) hpColumnsSlabFreed(pFile, pScan->szSlab);
      }else{
        hpColumnsNoRoom(pScan);
      }
    }
    if( p ){
      p->pNext = pScan->pSlab;
      pScan->pSlab = p;
    }
  }while( p && hpSlabRoom(p)<nByte );
  sqlite3_mutex_leave(pFile->pMutex);
  return p;
}

/* Bytes of what goes into slabs, at most: they are left with less room than
** that */
static i64 hpColumnsSlabMost(const HpColumnScan *pScan){
  return pScan->szSlab/HP_SLAB_LARGE;
}

/*
** What is known of page iPg above leaves, which has not changed since, and
** whose leaves are cut into units of szUnit; or NULL.  It is there until the
** scan ends.
*/
static const HpColumnInner *hpColumnsInner(
  HpColumnScan *pScan,
  Pgno iPg,
  int szUnit
){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnInner *p;
  hpThreadEnter(pFile->pMutex);
  p = pFile->apInner[iPg%HP_INNERS];
  while( p && (p->iPg!=iPg || p->szUnit!=szUnit || p->iBorn>pScan->iState) ){
    p = p->pNext;
  }
  sqlite3_mutex_leave(pFile->pMutex);
  return p;
}

/* Page iPg is *pIn, and stands above leaves.  Remember that */
static void hpColumnsInnerAdd(
  HpColumnScan *pScan,
  Pgno iPg,
  const HpInner *pIn,
  int szUnit
){
  HpColumnFile *pFile = pScan->pFile;
  i64 nByte = hpColumnsInnerSize(pIn->nCell, szUnit);
  HpColumnInner **pp = &pFile->apInner[iPg%HP_INNERS];
  HpColumnInner *p;
  int i;
  assert( pIn->nCell>0 && szUnit>0 && pScan->iState>0 );
  hpThreadEnter(pFile->pMutex);
  for(p=*pp; p && (p->iPg!=iPg || p->szUnit!=szUnit); p=p->pNext){}
  if( p==0 && pFile->pState->iNow==pScan->iState
   && (p = sqlite3_malloc64((u64)nByte))!=0 ){
    if( hpColumnsMay(pScan, nByte) ){
      p->iPg = iPg;
      p->iBorn = pScan->iState;
      p->nCell = pIn->nCell;
      p->szUnit = szUnit;
      for(i=0; i<=pIn->nCell/szUnit; i++){
        p->aFirst[i] = hpPageChild(pIn, i*szUnit);
      }
      p->pNext = *pp;
      *pp = p;
      hpColumnsHolds(pFile, +1);
    }else{
      sqlite3_free(p);
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
}

#else

static const HpColumnInner *hpColumnsInner(
  HpColumnScan *p,
  Pgno iPg,
  int szUnit
){
  UNUSED_PARAMETER2(p, iPg);
  UNUSED_PARAMETER(szUnit);
  return 0;
}


static void hpColumnsInnerAdd(
  HpColumnScan *p,
  Pgno iPg,
  const HpInner *pIn,
  int szUnit
){
  UNUSED_PARAMETER2(p, iPg);
  UNUSED_PARAMETER2(pIn, szUnit);
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
