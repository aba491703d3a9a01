/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_source: the leaf pages of a b-tree, in key order, in runs.
**
**    hpSourceOpen()     find the way down to the leaves
**    hpSourceRunInit()  memory for a worker's runs
**    hpSourceNext()     read the next run of leaves into a worker's memory
**    hpSourceUnmended() read the leaves that were not to be read (HpRun.pMend)
**    hpSourceParallel() may several workers call that?
**    hpSourceColumns()  may runs be in memory as columns?
**    hpSourceRuns()     how many runs there have been
**    hpSourceChained()  so many overflow pages were read of rows
**    hpSourceWays()     the ways from the root to all runs
**    hpSourceClose()    let go of the interior pages
**
** What it takes is in modules of its own: the way down (hp_descent.c), the way
** from leaf to leaf (hp_walk.c), leaves ahead (hp_leafahead.c), reading them
** (hp_leafread.c), and how large a scan will be (hp_size.c).
**
** A b-tree lists its leaves in its lowest interior pages, so the page
** numbers of the next hundreds of leaves are known before any is read.  A
** run is up to HP_RUN_BYTES of leaves that stand under one such interior
** page; it is the unit of work.  Leaves are always copied into a buffer of
** our own, which stays in the processor's second-level cache, and are
** consumed before the next run overwrites them.
**
** A worker takes the page numbers of the next run with the scan's mutex held
** (hpSourceTake()), since interior pages come from the pager.  It then reads
** the leaves without the mutex if they come straight from the file.
**
** Leaves whose columns are in memory (hp_columns.c) are not read: HpRun.pKept;
** or only those of a run that have changed: HpRun.pMend.  Of the former a
** worker takes several runs at a time (hpColumnScanNext()), and goes on with
** them without the mutex.  Wherever a scan begins and ends, it cuts the leaves
** under an interior page at the same places into units, so that it finds what
** another has kept.
**
** Of a range of rowids the scan sees to it that these are in order, and within
** the bounds of each leaf (HpRun.iLow, aHigh): the filters do not look at them.
**
** Rowids that are wanted (HpPortion.pWanted) lead to few leaves if they are
** fewer than half of these.  Unless they are very few, columns in memory are
** better, and are kept if the same is asked again.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* If so many leaves hold one row that is wanted all of them may be kept as
** columns */
#define HP_MX_PASSED 4

/* Most leaves a run of a table that is small */
#define HP_SMALL_RUN 12

/*
** Open the b-tree of the pipe for reading.  A read transaction is open.
** p->pSource is to be closed with hpSourceClose(), even on error.
*/
static int hpSourceOpen(HpPipe *p, Mem *aMem){
  const HpConfig *pCfg = p->pQuery->pCfg;
  const HpPortion *pPortion = &p->portion;
  HpSource *pSrc;
  int rc;

  assert( p->pSource==0 && p->pPlan->source.bCached==0 );
  assert( p->nWorker==0 || p->pPlan->bAdds );
  pSrc = hpArenaAlloc(&p->arena, sizeof(*pSrc));
  if( pSrc==0 ) return HP_DECLINE;
  p->pSource = pSrc;
  rc = hpDescentInit(pSrc, p->pQuery->db, &p->pPlan->source, aMem,
                    p->pPlan->bUser ? &p->arena : 0, pPortion->pPart);
  if( rc ) return rc;
  if( pSrc->nLevel==0 ){
    pSrc->bRootLeaf = 1;
    pSrc->nUnit = pSrc->nMax = 1;
  }else{
    pSrc->nUnit = MAX(1, HP_RUN_BYTES/pSrc->szPage);
    if( pCfg->nRun ) pSrc->nUnit = MIN(pSrc->nUnit, pCfg->nRun);
    if( pSrc->nLevel==1 && pSrc->aLevel[0].in.nCell<HP_MIN_PARALLEL ){
      pSrc->nUnit = MIN(pSrc->nUnit, HP_SMALL_RUN);
    }
    pSrc->nMax = pSrc->nUnit;
    if( pSrc->nLevel==1 || pSrc->pPart ){
      pSrc->nMax = (int)MAX(1, MIN(pSrc->nMax, pSrc->nLeaf));
    }
    /* Where little is read, fresh memory costs more than requests */
    if( pSrc->nLeaf<HP_MIN_PARALLEL ){
      pSrc->nMax = MIN(pSrc->nMax, HP_SMALL_RUN);
    }
    if( pSrc->pPart==0 && p->pPlan->source.pRange==0 ) pSrc->nUnit = pSrc->nMax;
  }
  if( pPortion->nSample && pPortion->bFirst ){
    hpWalkFirst(pSrc, pPortion->nSample);
  }else if( pPortion->nSample ){
    hpWalkThin(pSrc, pPortion->nSample);
  }
  if( pPortion->pWanted && (pPortion->nWanted<pSrc->nLeaf/2 || pCfg->bStash) ){
    assert( pSrc->bIndex==0 && p->pPlan->source.pRange==0 );
    pSrc->pWanted = pPortion->pWanted;
    pSrc->iPassed = SMALLEST_INT64;
  }
  pSrc->bOrder = (p->pPlan->source.pRange!=0 || p->pPlan->source.bOrder)
              && pSrc->bIndex==0 && p->pPlan->source.bRowid;
  pSrc->bWay = p->pPlan->source.bPlaces;
  pSrc->iSeq = pPortion->iRun;
  pSrc->bDirect = hpPageFile(pCfg, pSrc->pPager);
  pSrc->bDirty = pSrc->pPager->pPCache->pDirty!=0;
#ifndef SQLITE_OMIT_WAL
  pSrc->bWal = pSrc->bDirect && pagerUseWal(pSrc->pPager);
#endif
  if( pSrc->bDirect && pSrc->nLevel>0 && pSrc->pWanted==0
   && hpAheadOn(p->pQuery->db, pSrc->pBt)
  ){
    pSrc->aAhead = hpArenaAlloc(&p->arena, sizeof(pSrc->aLevel));
    if( pSrc->aAhead==0 ) return HP_DECLINE;
    memset(pSrc->aAhead, 0, sizeof(pSrc->aLevel));
  }
  if( pSrc->bDirect && pSrc->nLevel>0 && !p->pPlan->source.bStored
   && pSrc->bOrder==(p->pPlan->source.pRange!=0)
   && p->pPlan->pCheck==0              /* That is about the file */
   && (pSrc->pWanted==0 || pPortion->nWanted>=pSrc->nLeaf/HP_MX_PASSED
       || pCfg->eColumns)
  ){
    pSrc->pColumns = hpColumnScanOpen(p, pSrc->pPager, pSrc->pWanted!=0);
    if( pSrc->pColumns ) pSrc->pWanted = 0;
  }
  assert( hpDescentIsSane(pSrc) );
  return SQLITE_OK;
}

#ifdef HP_SHARED


/* The columns in memory that the scan may use, or NULL */
static HpColumnScan *hpSourceColumns(const HpSource *pSrc){
  return pSrc->pColumns;
}
#endif

/*
** Number of the next run.
*/
static u32 hpSourceRuns(const HpSource *pSrc){ return pSrc->iSeq; }

/*
** True if several workers may take runs: reading goes around the pager, and
** the scan is large enough or bAny is set.
*/
static int hpSourceParallel(const HpSource *pSrc, int bAny){
  if( pSrc->bDirect==0 || pSrc->nLevel==0 ) return 0;
  return bAny || pSrc->nLeaf>=HP_MIN_PARALLEL;
}

/*
** Allocate the memory that p->run is read into: szPage bytes of each page.
*/
static int hpSourceRunInit(HpWorker *p, int szPage){
  const HpSource *pSrc = p->pPipe->pSource;
  HpRun *pRun = &p->pRead->run;
  i64 nByte;
  assert( pRun->aBuf==0 && pSrc->nMax>=1 );
  pRun->szPage = szPage;
  nByte = (i64)pSrc->nMax*pRun->szPage;
  pRun->aLeaf = hpArenaAlloc(&p->vec, sizeof(Pgno)*pSrc->nUnit);
  pRun->aFrame = hpArenaAlloc(&p->vec, sizeof(u32)*pSrc->nMax);
  pRun->aBuf = hpArenaAlloc(&p->vec, nByte + HP_SLACK);
  if( pRun->aLeaf==0 || pRun->aFrame==0 || pRun->aBuf==0 ) return HP_DECLINE;
  memset(pRun->aFrame, 0, sizeof(u32)*pSrc->nMax);
  memset(&pRun->aBuf[nByte], 0, HP_SLACK);
  if( pSrc->aAhead ){
    pRun->aAhead = hpArenaAlloc(&p->vec, sizeof(Pgno)*(HP_AHEAD_LEAVES+2));
    pRun->aAheadFrame = hpArenaAlloc(&p->vec, sizeof(u32)*(HP_AHEAD_LEAVES+2));
    if( pRun->aAhead==0 || pRun->aAheadFrame==0 ) return HP_DECLINE;
  }
  if( pSrc->pColumns ){
    pRun->aChanged = hpArenaAlloc(&p->vec, pSrc->nUnit);
    if( pRun->aChanged==0 ) return HP_DECLINE;
  }
  if( pSrc->bOrder ){
    pRun->aHigh = hpArenaAlloc(&p->vec, sizeof(i64)*pSrc->nUnit);
    if( pRun->aHigh==0 ) return HP_DECLINE;
  }
  if( pSrc->bIndex ){
    nByte = (i64)pSrc->nUnit*hpWalkSepBytes(pSrc);
    pRun->aSep = hpArenaAlloc(&p->vec, sizeof(HpRecord)*pSrc->nUnit);
    pRun->aSepBuf = hpArenaAlloc(&p->vec, nByte + HP_SLACK);
    if( pRun->aSep==0 || pRun->aSepBuf==0 ) return HP_DECLINE;
    memset(pRun->aSepBuf, 0, nByte + HP_SLACK);
  }
  return SQLITE_OK;
}

/*
** Of n leaves taken, which are the next run, nothing is known yet but their
** numbers.  Note the way to the first one of them.
*/
static int hpSourceWay(HpSource *pSrc, const HpRun *pRun, int n){
  i64 iAt = (i64)pRun->iSeq*pSrc->nLevel;
  int i;
  if( iAt+pSrc->nLevel>pSrc->nWayAlloc ){
    i64 nNew = MAX(64, 2*(iAt+pSrc->nLevel));
    u16 *aNew;
    sqlite3BeginBenignMalloc();
    aNew = sqlite3_realloc64(pSrc->aWay, sizeof(u16)*(u64)nNew);
    sqlite3EndBenignMalloc();
    if( aNew==0 ) return HP_DECLINE;
    pSrc->aWay = aNew;
    pSrc->nWayAlloc = nNew;
  }
  for(i=0; i<pSrc->nLevel; i++){
    int nBack = i<pSrc->nLevel-1 ? 1 : n;
    assert( n>0 && pSrc->aLevel[i].iChild>=nBack );
    assert( pSrc->aLevel[i].iChild-nBack<=0xffff );
    pSrc->aWay[iAt+i] = (u16)(pSrc->aLevel[i].iChild-nBack);
  }
  return SQLITE_OK;
}

/*
** Give away the ways from the root to all runs, of a scan with a sink that
** finds rows: the way to run i is *paWay from i*n on, the numbers of n
** children, of which the last one is the first leaf of the run.  Returns n.
*/
static int hpSourceWays(HpSource *pSrc, u16 **paWay){
  assert( pSrc->bWay && (pSrc->aWay==0)==(pSrc->nWayAlloc==0) );
  *paWay = pSrc->aWay;
  pSrc->aWay = 0;
  return pSrc->nLevel;
}

/*
** How many runs may one of nWorker workers take beforehand, if there are n
** under the same page?  None near the end, where the others would wait; and
** none where the scan may end when it has enough rows, or its ways or its place
** are wanted after each run.
*/
static int hpSourceMore(const HpSource *pSrc, int n, int nWorker){
  i64 nEach = (pSrc->nLeaf-pSrc->nTaken)/pSrc->nUnit/nWorker;
  assert( pSrc->pWanted==0 );
  if( pSrc->bWay || pSrc->pPart ) return 0;
  /* Tests have small tables */
  if( hpConfig()->eColumns ) nEach = LARGEST_INT64;
  return (int)MAX(0, MIN(MIN(n, HP_MX_QUICK), nEach/4));
}

/*
** The root is the only leaf, and the only run: take it, unless it has been.
*/
static void hpSourceTakeRoot(HpSource *pSrc, HpRun *pRun){
  assert( pSrc->nLevel==0 && pSrc->pColumns==0 );
  if( pSrc->bRootLeaf==2 ) return;
  pSrc->bRootLeaf = 2;
  if( pSrc->bOrder ) pRun->aHigh[0] = LARGEST_INT64;
  pRun->aLeaf[0] = pSrc->iRoot;
  pRun->iHdr = pSrc->iRoot==1 ? 100 : 0;
  if( pSrc->bIndex ) pRun->aSep[0].z = 0;
  pRun->nPage = 1;
}

/*
** The next leaf is the first one of a unit.  Take the columns of the unit from
** memory, and those of some units after it, if they are there as they were:
** the numbers of their leaves are not looked at.  Returns how many leaves they
** are; 0: none.  For one of nWorker workers.
*/
static int hpSourceTakeQuick(HpSource *pSrc, HpRun *pRun, int nWorker){
  struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
  int iFirst = pLevel->iChild;
  const Pgno *aFirst = 0;
  int nMore = 0;
  int n;
  assert( iFirst%pSrc->nUnit==0 && pSrc->bIndex==0 && pSrc->bOrder==0 );
  if( pLevel->pKnown ) aFirst = &pLevel->pKnown->aFirst[iFirst/pSrc->nUnit];
  if( aFirst && pRun->apQuick ){
    nMore = (pLevel->iLast-iFirst)/pSrc->nUnit;
    nMore = hpSourceMore(pSrc, nMore, nWorker);
  }
  pRun->aLeaf[0] = aFirst ? aFirst[0] : hpPageChild(&pLevel->in, iFirst);
  n = hpColumnScanQuick(pSrc->pColumns, pRun, pSrc->nUnit,
                        pLevel->iLast-iFirst+1, aFirst ? &aFirst[1] : 0, nMore);
  if( n==0 ) return 0;
  if( iFirst==0 && pLevel->pKnown==0 ){
    hpColumnsInnerAdd(pSrc->pColumns, pLevel->iPg, &pLevel->in, pSrc->nUnit);
  }
  pLevel->iChild += n;
  pSrc->iSeq += pRun->nQuick;
  pSrc->iLast = pRun->aLeaf[pRun->nPage-1];
  pSrc->nInOrder = 0;
  pSrc->nTaken += n;
  pSrc->bKept = 1;
  return n;
}

/*
** Set the numbers of the leaves of pRun: up to nMax, from the next one on,
** under the lowest interior page.
*/
static int hpSourceTakeNumbers(HpSource *pSrc, HpRun *pRun, int nMax){
  struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
  Pgno mxPg = btreePagecount(pSrc->pBt);
  Pgno iLock = PENDING_BYTE_PAGE(pSrc->pBt);  /* Of no b-tree */
  int rc;
  int n = 0;
  while( n<nMax && pLevel->iChild<=pLevel->iLast ){
    Pgno iPg = hpPageChild(&pLevel->in, pLevel->iChild++);
    if( iPg<2 || iPg>mxPg || iPg==iLock ) return HP_DECLINE;
    if( pSrc->bOrder ){
      rc = hpWalkRowid(pSrc, 1, &pRun->aHigh[n]);
      if( rc==HP_DECLINE ) return rc;
      if( rc ) pRun->aHigh[n] = LARGEST_INT64;
    }
    if( pSrc->bIndex ){
      rc = hpWalkSep(pSrc, pRun, n);
      if( rc ) return rc;
    }
    pRun->aLeaf[n++] = iPg;
    hpWalkSkip(pSrc, pLevel);
  }
  pRun->nPage = n;
  return SQLITE_OK;
}

/*
** The leaves of pRun are those of the lowest interior page from child iFirst
** on, leaf iInUnit of a unit.  Are their columns in memory?  If not, as many of
** them are taken as there is room for.
*/
static void hpSourceTakeColumns(
  HpSource *pSrc,
  HpRun *pRun,
  int iFirst,
  int iInUnit
){
  struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
  pRun->iUnit = hpPageChild(&pLevel->in, iFirst-iInUnit);
  pRun->bWhole = iInUnit==0 && (pRun->nPage==pSrc->nUnit
                                || pLevel->iChild>pLevel->in.nCell);
  hpColumnScanFind(pSrc->pColumns, pRun);
  if( pRun->pKept==0 && pRun->nPage>pSrc->nMax ){
    /* The others are left to the next run */
    pRun->nPage = pSrc->nMax;
    pRun->bKeep = pRun->bWhole = 0;
    pRun->pMend = 0;
    pLevel->iChild = iFirst+pRun->nPage;
  }
  assert( pSrc->bDirty==0 );
}

/*
** Take the next leaves, under an interior page, as a run.
*/
static int hpSourceTakeLeaves(HpSource *pSrc, HpRun *pRun, int nWorker){
  struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
  int nMax, iInUnit, iFirst, i;
  int bEnd;
  int n = 0;
  int rc;
  if( pSrc->pPart && pSrc->pPart->nLeaf<=pSrc->nTaken ){
    pSrc->pPart->bMore = 1;
    return SQLITE_OK;
  }
  rc = hpWalkAdvance(pSrc, pSrc->aLevel, &bEnd);
  if( rc || bEnd ) return rc;
  iFirst = pLevel->iChild;
  iInUnit = iFirst % pSrc->nUnit;
  nMax = pSrc->nUnit - iInUnit;
  if( pSrc->pColumns==0 ) nMax = MIN(nMax, pSrc->nMax);
#ifdef HP_READAHEAD
  if( pSrc->aAhead && AtomicLoad(&pSrc->bCold) && pSrc->bKept==0 ){
    rc = hpWalkFetch(pSrc);
    if( rc ) return rc;
    hpLeafAheadLook(pSrc, pRun);
  }
#endif
  if( pSrc->bOrder ){
    rc = hpWalkRowid(pSrc, 0, &pRun->iLow);
    if( rc==HP_DECLINE ) return rc;
    pRun->mBound |= rc==SQLITE_OK ? 1 : 0;
  }
  if( pSrc->pColumns ){
    pRun->iInner = pLevel->iPg;
    pRun->iChild = iFirst;
    pRun->iInUnit = iInUnit;
    if( iInUnit==0 && pSrc->bIndex==0 && pSrc->bOrder==0 ){
      n = hpSourceTakeQuick(pSrc, pRun, nWorker);
    }
    if( n ) return pSrc->bWay ? hpSourceWay(pSrc, pRun, n) : SQLITE_OK;
    rc = hpWalkFetch(pSrc);
    if( rc ) return rc;
  }
  rc = hpSourceTakeNumbers(pSrc, pRun, nMax);
  if( rc ) return rc;
  assert( pRun->nPage>0 && pRun->nPage<=nMax );
  if( pSrc->pColumns ) hpSourceTakeColumns(pSrc, pRun, iFirst, iInUnit);
  assert( pRun->nPage<=(pRun->pKept ? pSrc->nUnit : pSrc->nMax) );
  n = pRun->nPage;
  for(i=0; i<n; i++){
    hpLeafAheadOrder(&pSrc->iLast, &pSrc->nInOrder, pRun->aLeaf[i]);
  }
  pSrc->nTaken += n;
  if( pSrc->nThin ) hpWalkThinNext(pSrc);
  pSrc->bKept = pRun->pKept || pRun->pMend;
  return pSrc->bWay ? hpSourceWay(pSrc, pRun, n) : SQLITE_OK;
}

/*
** Take the page numbers of the next run, for one of nWorker workers.  The
** scan's mutex is held.
*/
static int hpSourceTake(HpSource *pSrc, HpRun *pRun, int nWorker){
  int rc = SQLITE_OK;
  pRun->nPage = 0;
  pRun->bRoot = pSrc->bRootLeaf!=0;
  pRun->nAhead = 0;
  pRun->pKept = 0;
  pRun->nQuick = 0;
  pRun->pMend = 0;
  pRun->bKeep = 0;
  pRun->iHdr = 0;
  pRun->mBound = pSrc->bOrder ? 4 : 0;
  pRun->iSeq = pSrc->iSeq++;
  if( pSrc->bRootLeaf ){
    hpSourceTakeRoot(pSrc, pRun);
  }else{
    rc = hpSourceTakeLeaves(pSrc, pRun, nWorker);
  }
  if( rc || pRun->nPage==0 || pRun->pKept ) return rc;
  return hpLeafReadFrames(pSrc, pRun);
}

/*
** Read the next run of leaves into p->run, or go on with one that was taken
** beforehand.  p->run.nPage is 0 at the end of the table.
*/
static int hpSourceNext(HpWorker *p){
  HpSource *pSrc = p->pPipe->pSource;
  int rc;
  if( pSrc->pColumns && hpColumnScanNext(pSrc->pColumns, &p->pRead->run) ){
    p->pRead->run.nTaken++;
    return SQLITE_OK;
  }
  hpThreadLock(p->pPipe);
  if( pSrc->rc==SQLITE_OK ){
    pSrc->rc = hpSourceTake(pSrc, &p->pRead->run, p->pPipe->nWorker);
  }
  rc = pSrc->rc;
  assert( hpThreadIsLocked(p->pPipe) && p->pRead->run.nPage<=pSrc->nUnit );
  assert( p->pPipe->nWorker==1 || pSrc->bDirect || p->pPipe->pass.bAlone );
  assert( rc || p->pRead->run.nPage==0
         || pSrc->iSeq==p->pRead->run.iSeq+1+(u32)p->pRead->run.nQuick );
  hpThreadUnlock(p->pPipe);
  p->pRead->run.nTaken += p->pRead->run.nPage>0;
  if( rc==SQLITE_OK && pSrc->bDirect && p->pRead->run.pKept==0 ){
    rc = hpLeafReadFile(pSrc, &p->pRead->run);
  }
  return rc;
}

#ifdef HP_SHARED


/*
** Of p->run only the leaves that have changed have been read.  Read the others,
** as for a scan without columns.
*/
static int hpSourceUnmended(HpWorker *p){
  HpSource *pSrc = p->pPipe->pSource;
  HpRun *pRun = &p->pRead->run;
  int rc = SQLITE_OK;
  int i;
  assert( pRun->pMend!=0 && pRun->pKept==0 && pSrc->bDirect
         && pSrc->bDirty==0 );
  hpThreadLock(p->pPipe);
  for(i=0; i<pRun->nPage && rc==SQLITE_OK; i++){
    u32 iFrame = 0;
#ifndef SQLITE_OMIT_WAL
    if( pSrc->bWal && pRun->aFrame[i]==HP_FRAME_HERE ){
      rc = sqlite3WalFindFrame(pSrc->pPager->pWal, pRun->aLeaf[i], &iFrame);
    }
#endif
    pRun->aFrame[i] = pRun->aFrame[i]==HP_FRAME_HERE ? iFrame : HP_FRAME_HERE;
  }
  hpThreadUnlock(p->pPipe);
  if( rc==SQLITE_OK ) rc = hpLeafReadFile(pSrc, pRun);
  pRun->pMend = 0;
  return rc;
}
#endif

/*
** Overflow pages of the leaves taken were read.  The scan's mutex is held.
*/
static void hpSourceChained(HpSource *pSrc, u32 nPage){
  pSrc->nChain += nPage;
}

static void hpSourceClose(HpSource *pSrc){
  if( pSrc ){
    if( pSrc->pColumns ) hpColumnScanClose(pSrc->pColumns);
    pSrc->pColumns = 0;
    hpDescentRelease(pSrc->aLevel, 0);
    if( pSrc->aAhead ) hpDescentRelease(pSrc->aAhead, 0);
    sqlite3_free(pSrc->aWay);
  }
}
#endif /* SQLITE_OMIT_HP */
