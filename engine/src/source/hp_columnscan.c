/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_columnscan: what one scan sees of the columns in memory (hp_columns.c).
**
**    hpColumnScanOpen()      A scan begins: may it use columns, and of which
**                            state?
**    hpColumnScanQuick()     Columns of a run that it is about to take, ...
**    hpColumnScanNext()      ... and of those after it.
**    hpColumnScanFind()      Columns of the run of leaves that it has just
**                            taken.
**    hpColumnScanWanted()    Is this column to be kept?
**    hpColumnScanMended()    Leaves of a run that had changed have been read
**                            (hp_mend.c).
**    hpColumnScanClose()     The scan ends.
**    hpColumnScanDistrust()  What is kept does not fit what the scan has read.
**    hpColumnScanSeemKept()  Before there is a scan: will it find its columns?
**
** A scan of state V uses runs with iBorn<=V.  If leaves are stale by then it
** reads these, and puts their values into a copy of the run, for all columns
** that are kept (hp_mend.c). The copy takes the run's place, if V is the newest
** state, and has segments in common with it.
**
** A transaction that has written, or may, uses no columns and keeps none: what
** it sees is no state of the file.
**
** When.  A column is kept when it is read again (HpColumnFile.aNote): of every
** third run the second time, of the others the third time.  A program that asks
** once pays for a look at that.  To keep a run costs a part of what it costs to
** scan it, so it must pay: where most runs had to be dropped before they had
** been found HP_PAYS times, more and more scans are waited for that drop
** nothing (nWait).  So a program pays once or twice if another process writes
** between its scans, with a rollback journal.
**
** Where hp_store.c may keep no pages there are no columns (hpStoreAllowed()).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

/* May connection db use columns of the file of pPager, as far as settings go?
** */
static int hpColumnScanAllowed(const sqlite3 *db, Pager *pPager){
  const HpConfig *pCfg = hpConfig();
  return (db->hp.nColumns>=0 || pCfg->eColumns)
      && !pCfg->bOff
      && pPager->eState==PAGER_READER
      && hpFileStateIsKnown(pPager->fd)
      && pPager->tempFile==0 && pPager->noLock==0
      && hpStoreAllowed()
      && (hpMemoryDefault() || pCfg->bForce)
      && hpPageFile(pCfg, pPager);
}

/* Column pCol of the table at iRoot, as it is noted; without pCol, that its
** rows are counted */
static u64 hpColumnScanNoteOf(Pgno iRoot, const HpCol *pCol){
  return ((u64)iRoot<<32) | (pCol ? (u32)(pCol->iStore+2)<<1 | pCol->bReal : 0);
}

/* The place of note x, or one where it can be: that of another one if there is
** no room */
static u32 hpColumnScanNoteAt(const HpColumnFile *pFile, u64 x){
  u32 i = (u32)((x*(((u64)0x9e3779b9<<32)|0x7f4a7c15))>>40);
  u32 k;
  for(k=0; k<8; k++){
    u32 iAt = (i+k) & (HP_NOTES-1);
    if( pFile->aNote[iAt]==0 || pFile->aNote[iAt]==x ) return iAt;
  }
  return (i + pFile->iScan%8) & (HP_NOTES-1);
}

/*
** Note that a column is read; without pCol, that rows are counted.  How often
** has it been read by now? 3: or more often. If bLater this scan has been noted
** before.
*/
static int hpColumnScanNote(
  HpColumnFile *pFile,
  Pgno iRoot,
  const HpCol *pCol,
  int bLater
){
  u64 x = hpColumnScanNoteOf(iRoot, pCol);
  u32 iAt = hpColumnScanNoteAt(pFile, x);
  assert( sqlite3_mutex_held(pFile->pMutex) && pFile->aTimes[iAt]<=3 );
  if( pFile->aNote[iAt]==x ){
    if( pFile->aTimes[iAt]<3 && !bLater ) pFile->aTimes[iAt]++;
    return pFile->aTimes[iAt];
  }
  if( bLater ) return 1;
  pFile->aNote[iAt] = x;
  pFile->aTimes[iAt] = 1;
  return 1;
}

/*
** Does it seem that a scan of pPlan will find its columns, where its table has
** nLeaf leaves? They have been read before, and there are so many runs.
*/
static int hpColumnScanSeemKept(
  const sqlite3 *db,
  const HpSourcePlan *pPlan,
  i64 nLeaf
){
  Pager *pPager = sqlite3BtreePager(db->aDb[pPlan->iDb].pBt);
  HpColumnFile *pFile = pPager->hp.pColumns;
  int i, n = 3;
  if( pFile==0 || !hpColumnScanAllowed(db, pPager) ) return 0;
  hpThreadEnter(pFile->pMutex);
  /* Three in four, since nLeaf is a guess */
  if( (i64)pFile->nRun*4*MAX(1, HP_RUN_BYTES/pPager->pageSize)<nLeaf*3 ) n = 0;
  for(i=0; i<pPlan->nCol && n==3; i++){
    u64 x = hpColumnScanNoteOf(pPlan->iRoot, &pPlan->aCol[i]);
    u32 iAt = hpColumnScanNoteAt(pFile, x);
    n = pFile->aNote[iAt]==x ? pFile->aTimes[iAt] : 0;
  }
  sqlite3_mutex_leave(pFile->pMutex);
  return n==3;
}

/*
** A scan of p begins.  NULL: without columns. bSome: it could do with some of
** the leaves, and reads all of them only if columns are to be kept or have
** been.
*/
static HpColumnScan *hpColumnScanOpen(HpPipe *p, Pager *pPager, int bSome){
  const HpPipePlan *pPlan = p->pPlan;
  int bCount = pPlan->pSink->xRows==0;
  int bLater = p->portion.pPart && p->portion.pPart->bLater;
  HpColumnScan *pScan;
  HpColumnFile *pFile;
  int i;
  assert( bCount==0 || pPlan->source.nCol==0 );
  if( pPlan->source.pType->bColumns==0 || pPlan->bUser
   || (bCount && pPlan->source.pRange)
   || (bCount==0 && (pPlan->source.bIndex || pPlan->source.nCol==0))
   || p->portion.nSample || p->pass.bNone
  ){
    return 0;
  }
  hpBudgetLook();
  if( !hpColumnScanAllowed(p->pQuery->db, pPager) ){
    if( pPager->eState==PAGER_READER ){
      if( !hpBudgetMayKeep() ) hpColumnFileGiveBack(pPager);
      hpColumnFileLeave(pPager);
    }
    return 0;
  }
  pScan = hpArenaAlloc(&p->arena, sizeof(*pScan));
  pFile = pScan ? hpColumnFileJoin(pPager) : 0;
  if( pFile==0 ) return 0;
  memset(pScan, 0, sizeof(*pScan));
  pScan->pFile = pFile;
  pScan->pPlan = &pPlan->source;
  pScan->bCount = (u8)bCount;
  pScan->bSound = pPlan->pSink->eRecords==HP_RECORDS_SOUND;
  pScan->nLimit = p->pQuery->db->hp.nColumns>0 ? p->pQuery->db->hp.nColumns
                : p->pQuery->pCfg->eColumns==HP_COLUMNS_TINY ? HP_TINY
                : LARGEST_INT64;
  pScan->nLimit = MIN(pScan->nLimit, hpStoreShare(pPager));
  pScan->szSlab = MIN((i64)pPager->dbSize*pPager->pageSize,
                      pScan->nLimit)/HP_SLAB_SHARE;
  pScan->szSlab = MAX(pScan->szSlab,
                      MIN(HP_MIN_SLAB, pScan->nLimit/HP_SLAB_LARGE));
  pScan->szSlab = MIN(pScan->szSlab, HP_MX_SLAB);
  assert( pScan->szSlab>=0 && pScan->nLimit>=0 );
  hpThreadEnter(pFile->pMutex);
  pScan->iState = hpColumnFileState(pFile, pPager);
  if( pScan->iState ){
    pFile->nScan++;
    hpColumnFileTick(pFile);
    if( !bLater ) pFile->iScan++;
    for(i=0; i<MAX(pPlan->source.nCol, bCount); i++){
      int n = hpColumnScanNote(pFile, pPlan->source.iRoot,
                            bCount ? 0 : &pPlan->source.aCol[i], bLater);
      if( p->pQuery->pCfg->eColumns ) n = 4;
      pScan->aKeep[i] = n>3 || (n>1 && pFile->iScan-pFile->iReset>pFile->nWait);
      pScan->bSome |= n==2 || (n==3 && pFile->iScan-pFile->iReset==1);
      pScan->bKeep |= pScan->aKeep[i];
    }
    if( bSome && pScan->bKeep==0 ){
      pFile->nScan--;
      pScan->iState = 0;
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
  if( pScan->iState==0 ){
    hpColumnFileUnref(pFile);
    return 0;
  }
  return pScan;
}

/* Has leaf i of p changed by the state that the scan reads? */
static int hpColumnScanIsStale(
  const HpColumnScan *pScan,
  const HpColumnRun *p,
  int i
){
  assert( i>=0 && i<p->nPage );
  return p->nStale>0 && p->aStale[i]!=0 && p->aStale[i]<=pScan->iState;
}

/* May the scan use run p, as far as its leaves have not changed? */
static int hpColumnScanMayUse(const HpColumnScan *pScan, const HpColumnRun *p){
  return p->iBorn<=pScan->iState && p->bSound>=pScan->bSound
      && hpColumnRunSameKind(pScan, p)
      && (p->nChunk>0 || pScan->bCount);
}

/* The run, of the unit of pRun, that has its leaves; or NULL.  The mutex is
** held. */
static HpColumnRun *hpColumnScanPart(
  const HpColumnScan *pScan,
  const HpRun *pRun
){
  HpColumnRun *p = *hpColumnsSlot(pScan->pFile, pRun->iUnit);
  for(; p; p=p->pNext){
    if( p->iFirst==pRun->iUnit && hpColumnScanMayUse(pScan, p)
     && hpColumnRunSame(p, pRun->iInUnit, pRun->aLeaf, pRun->nPage)
    ){
      break;
    }
  }
  return p;
}

/* Has p all columns that are wanted?  apKept[], pRun's or of one for later,
** gets those that it has */
static int hpColumnScanHas(
  const HpColumnScan *pScan,
  const HpColumnRun *p,
  HpRun *pRun,
  HpSegment ***apKept
){
  const HpSourcePlan *pPlan = pScan->pPlan;
  int bAll = 1;
  int i;
  assert( sqlite3_mutex_held(pScan->pFile->pMutex) );
  for(i=0; i<pPlan->nCol; i++){
    const struct HpColumnSet *pSet = hpColumnRunSet(p, &pPlan->aCol[i]);
    apKept[i] = pSet ? pSet->apSeg : 0;
    if( apKept[i]==0 ) bAll = 0;
    /* What cannot be kept makes the others useless for this plan */
    if( pSet && pSet->apSeg==0 ) pRun->bKeep = 0;
  }
  return bAll;
}

/* Let pRun read p, whose leaves from iFirst on it has */
static void hpColumnScanTake(const HpColumnRun *p, int iFirst, HpRun *pRun){
  u32 iRow = iFirst ? p->aRow[iFirst-1] : 0;
  assert( iFirst>=0 && pRun->nPage>0 && iFirst+pRun->nPage<=p->nPage );
  pRun->pKept = p;
  pRun->bKeep = 0;
  pRun->iInUnit = iFirst;
  pRun->iKeptRow = iRow;
  pRun->iKeptEnd = p->aRow[iFirst+pRun->nPage-1];
  pRun->nKeptRow = 0;
  pRun->iKept = 0;
  for(; pRun->iKept<p->nChunk && iRow>=p->anRow[pRun->iKept]; pRun->iKept++){
    iRow -= p->anRow[pRun->iKept];
  }
  pRun->iKeptFrom = iRow;
  assert( pRun->iKeptRow<=pRun->iKeptEnd );
  assert( pRun->iKept<p->nChunk || p->nChunk==0
       || pRun->iKeptRow==pRun->iKeptEnd );
  pRun->nKept++;
}

/* The scan uses run p.  The mutex is held */
static void hpColumnScanUsed(HpColumnScan *pScan, HpColumnRun *p){
  assert( sqlite3_mutex_held(pScan->pFile->pMutex) );
  p->iUsed = pScan->pFile->iScan;
  pScan->pFile->nFound++;
}

/*
** The run of the leaves under page iInner from child iChild on, nMost at most,
** the first of which is iLeaf, if none of them has changed, nor has the page,
** and it has all columns: see hpColumnScanHas(). Or NULL. The mutex is held. A
** table that has become smaller has smaller units than its runs may have.
*/
static HpColumnRun *hpColumnScanWhole(
  const HpColumnScan *pScan,
  HpRun *pRun,
  int iChild,
  Pgno iLeaf,
  int nMost,
  HpSegment ***apKept
){
  HpColumnRun *p = *hpColumnsSlot(pScan->pFile, iLeaf);
  for(; p; p=p->pNext){
    if( p->iFirst==iLeaf && p->iInner==pRun->iInner && p->iChild==iChild
     && p->bWhole && p->nPage<=nMost && p->nStale==0
         && p->iInnerBorn<=pScan->iState
     && (p->iInnerStale==0 || p->iInnerStale>pScan->iState)
     && hpColumnScanMayUse(pScan, p) && hpColumnScanHas(pScan, p, pRun, apKept)
    ){
      break;
    }
  }
  return p;
}

/*
** pRun is about to take the leaves under page pRun->iInner from child
** pRun->iChild on, of which there are nMost, up to nUnit of them, the first of
** which is pRun->aLeaf[0]. If there is a run of such leaves, none of which have
** changed, nor has the page, take it, without a look at the numbers of the
** others; and up to nMore of the runs after it, whose first leaves are in
** aMore[], for
** hpColumnScanNext(): two workers that take one at a time wait for each other
** more than they work.  Returns how many leaves they are, or 0.
*/
static int hpColumnScanQuick(
  HpColumnScan *pScan,
  HpRun *pRun,
  int nUnit,
  int nMost,
  const Pgno *aMore,
  int nMore
){
  HpColumnFile *pFile = pScan->pFile;
  int nCol = pScan->pPlan->nCol;
  HpColumnRun *p;
  int n = 0;
  assert( nMore<=HP_MX_QUICK );
  hpThreadEnter(pFile->pMutex);
  p = hpColumnScanWhole(pScan, pRun, pRun->iChild, pRun->aLeaf[0],
                        MIN(nUnit, nMost), pRun->apKept);
  if( p ){
    n = pRun->nPage = p->nPage;
    hpColumnScanUsed(pScan, p);
    hpColumnScanTake(p, 0, pRun);
    pRun->aLeaf[n-1] = p->aPg[n-1];
  }
  pRun->iQuick = pRun->nQuick = 0;
  while( p && pRun->nQuick<nMore ){
    int i = pRun->nQuick;
    p = hpColumnScanWhole(pScan, pRun, pRun->iChild+n, aMore[i],
                          MIN(nUnit, nMost-n),
                       &pRun->apQuickKept[i*nCol]);
    if( p ){
      n += p->nPage;
      hpColumnScanUsed(pScan, p);
      pRun->apQuick[pRun->nQuick++] = p;
    }
  }
  assert( n<=nMost && (n==0 || pRun->pKept!=0) );
  sqlite3_mutex_leave(pFile->pMutex);
  return n;
}

/* Let pRun go on with a run that was taken together with the one of now.
** False: there is none. */
static int hpColumnScanNext(HpColumnScan *pScan, HpRun *pRun){
  int nCol = pScan->pPlan->nCol;
  const HpColumnRun *p;
  if( pRun->iQuick>=pRun->nQuick ) return 0;
  p = pRun->apQuick[pRun->iQuick];
  assert( pRun->nQuick<=HP_MX_QUICK && pRun->pKept && pRun->iInUnit==0 );
  memcpy(pRun->apKept, &pRun->apQuickKept[pRun->iQuick*nCol],
         sizeof(pRun->apKept[0])*nCol);
  pRun->iQuick++;
  pRun->iSeq++;
  pRun->iChild += pRun->nPage;
  pRun->nPage = p->nPage;
  pRun->aLeaf[0] = p->iFirst;
  pRun->aLeaf[p->nPage-1] = p->aPg[p->nPage-1];
  hpColumnScanTake(p, 0, pRun);
  return 1;
}

/*
** The leaves of pRun have just been taken.  If all columns that the plan wants
** are kept of them, set pRun->pKept and apKept; or, if some leaves have changed
** since, pRun->pMend and aChanged. Otherwise, and if mending fails, pRun->bKeep
** says whether to keep some, and apKept has those that are kept of it.
*/
static void hpColumnScanFind(HpColumnScan *pScan, HpRun *pRun){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnRun *p;
  int i, nChanged;
  int nCol = pScan->pPlan->nCol;
  pRun->pKept = 0;
  if( nCol ) memset(pRun->apKept, 0, sizeof(pRun->apKept[0])*(size_t)nCol);
  hpThreadEnter(pFile->pMutex);
  pRun->bKeep = pRun->bWhole && pScan->bKeep
      && (pScan->bSome==0 || pRun->iSeq%HP_SOME==0);
  p = hpColumnScanPart(pScan, pRun);
  if( p ) p->iUsed = pFile->iScan;
  if( p && hpColumnScanHas(pScan, p, pRun, pRun->apKept) ){
    if( p->nStale ) p->nTaken++;
    for(i=nChanged=0; i<pRun->nPage; i++){
      pRun->aChanged[i] = (u8)hpColumnScanIsStale(pScan, p, pRun->iInUnit+i);
      nChanged += pRun->aChanged[i];
    }
    if( nChanged==0 ){
      if( pRun->iInUnit==0 && pRun->nPage==p->nPage
       && pFile->pState->iNow==pScan->iState ){
        hpColumnRunAbove(pScan, p, pRun);
      }
      hpColumnScanUsed(pScan, p);
      hpColumnScanTake(p, pRun->iInUnit, pRun);
    }else if( pRun->iInUnit==0 && pRun->nPage==p->nPage && nChanged<p->nPage ){
      pRun->pMend = p;
    }
  }
  assert( pRun->pKept==0 || (pRun->pMend==0 && pRun->bKeep==0) );
  if( p && nCol && pRun->pKept==0 && (p->nStale || pRun->nPage!=p->nPage) ){
    /* If it is read and kept, then anew */
    memset(pRun->apKept, 0, sizeof(pRun->apKept[0])*(size_t)nCol);
  }
  sqlite3_mutex_leave(pFile->pMutex);
}

static int hpColumnScanWanted(const HpColumnScan *p, int iCol){
  return p->aKeep[iCol];
}

/*
** The leaves of pRun that had changed since pRun->pMend was read have been
** read. pRun reads columns of the copy of it that hpColumnRunMend() makes, and
** so do the scans to come, unless the file has another state by now.  Segments
** that are taken over become NULL. Returns false if there is no memory, or if a
** column that the scan wants cannot be kept any more.
*/
static int hpColumnScanMended(
  HpColumnScan *pScan,
  HpRun *pRun,
  const u16 *anRow,
  const u32 *aRow,
  int bSound,
  const struct HpColumnSet *aSet,
  int nSet,
  HpSegment **apNew
){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnRun *p;
  HpColumnRun **pp;
  int bDone;
  assert( pRun->pMend!=0 && pRun->pKept==0 );
  hpThreadEnter(pFile->pMutex);
  p = hpColumnRunMend(pScan, pRun, anRow, aRow, bSound, aSet, nSet, apNew);
  bDone = p && hpColumnScanMayUse(pScan, p)
      && hpColumnScanHas(pScan, p, pRun, pRun->apKept);
  if( p ){
    /* Another scan may have mended it, or dropped it */
    pp = hpColumnsSlot(pFile, p->iFirst);
    while( *pp && *pp!=pRun->pMend ) pp = &(*pp)->pNext;
    if( *pp && pFile->pState->iNow==pScan->iState ){
      HpColumnRun *pOld = *pp;
      hpColumnsDrop(pFile, pp);
      hpColumnsInsert(pScan, p);
      if( pFile->nScan==1 && pOld->nTaken==1 ){
        /* This worker reads the copy, there is no other scan, and none of its
        ** other workers has the old run, as it may if the leaves are in a
        ** damaged b-tree
        ** twice */
        assert( pFile->pDead==pOld );
        pFile->pDead = pOld->pNext;
        hpColumnsFreeRun(pFile, pOld);
      }
    }else{
      hpColumnsRetire(pFile, p);
    }
    if( bDone ){
      hpColumnScanUsed(pScan, p);
      hpColumnScanTake(p, 0, pRun);
    }
  }
  sqlite3_mutex_leave(pFile->pMutex);
  return bDone;
}

/*
** The scan ends: what it found is no longer in use.
*/
static void hpColumnScanClose(HpColumnScan *pScan){
  HpColumnFile *pFile = pScan->pFile;
  HpSlab *pFull = 0;
  hpThreadEnter(pFile->pMutex);
  assert( pFile->nScan>0 );
  pFile->nScan--;
  while( pScan->pSlab ){
    HpSlab *p = pScan->pSlab;
    HpSlab **ppTo = hpSlabRoom(p)<hpColumnsSlabMost(pScan) ? &pFull
        : &pFile->pSlab;
    pScan->pSlab = p->pNext;
    p->pNext = *ppTo;
    *ppTo = p;
  }
  hpColumnsLeaveSlabs(pFile, &pFull);
  hpColumnsBury(pFile);
  sqlite3_mutex_leave(pFile->pMutex);
  if( pScan->bShort ) hpColumnFileIdle();
  hpColumnFileUnref(pFile);
}

/*
** A page was found to be other than what was known of it.  That should not be:
** forget all that is kept of the file, so that the next scan reads it.
*/
static void hpColumnScanDistrust(HpColumnScan *pScan){
  HpColumnFile *pFile = pScan->pFile;
  hpThreadEnter(pFile->pMutex);
  hpFileStateLost(pFile->pState);
  sqlite3_mutex_leave(pFile->pMutex);
}

#else

static HpColumnScan *hpColumnScanOpen(HpPipe *p, Pager *pPager, int bSome){
  UNUSED_PARAMETER2(p, pPager);
  UNUSED_PARAMETER(bSome);
  return 0;
}
static void hpColumnScanFind(HpColumnScan *p, HpRun *pRun){
  UNUSED_PARAMETER2(p, pRun);
}
static int hpColumnScanQuick(
  HpColumnScan *p,
  HpRun *pRun,
  int nUnit,
  int nMost,
  const Pgno *aMore,
  int nMore
){
  UNUSED_PARAMETER2(p, pRun);
  UNUSED_PARAMETER2(nUnit, nMost);
  UNUSED_PARAMETER(aMore);
  UNUSED_PARAMETER(nMore);
  return 0;
}
static int hpColumnScanNext(HpColumnScan *p, HpRun *pRun){
  UNUSED_PARAMETER2(p, pRun);
  return 0;
}
static void hpColumnScanClose(HpColumnScan *p){ UNUSED_PARAMETER(p); }
static void hpColumnScanDistrust(HpColumnScan *p){ UNUSED_PARAMETER(p); }
static int hpColumnScanSeemKept(
  const sqlite3 *db,
  const HpSourcePlan *pPlan,
  i64 nLeaf
){
  UNUSED_PARAMETER2(db, pPlan);
  UNUSED_PARAMETER(nLeaf);
  return 0;
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
