/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_columnrun: the columns of one run of leaves.
**
**    hpColumnRunLook()     The run of some leaves.
**    hpColumnRunSame(), hpColumnRunSameKind()   Has it these leaves? Is it of a
**                          b-tree of this kind?
**    hpColumnRunSet()      One of its columns.
**    hpColumnRunSets()     All, those that the scan does not read, too.
**    hpColumnRunRows(), hpColumnRunChunks()   Rows of one of its batches; how
**                          many batches there are.
**    hpColumnRunLeafRows() Rows of one of its leaves.
**    hpColumnRunInOrder()  Are its rowids in order, as a range of rowids wants?
**    hpColumnRunPlace()    The place of a row (hp_place.c).
**    hpColumnRunAbove()    The page above its leaves is as the scan sees it.
**    hpColumnRunAdd()      Columns that a scan has read.
**    hpColumnRunMend()     A copy, some of whose leaves have been read anew
**                          (hp_mend.c).
**    hpColumnRunIsSane()   for assert(): does it hold together?
**
** The unit is a whole run: up to HP_RUN_BYTES of leaves of a table under one
** interior page, from a child on whose number is a multiple (hp_source.c).  A
** scan that begins or ends within a unit finds its part of it.
**
** A run is known by the numbers of its leaves, and by nothing else: what a
** segment holds depends on the bytes of these leaves, and on the place of the
** column in their records.  Interior pages are read by each scan, from its own
** state of the file, so it does not matter what became of the tree above, nor
** whose table it is.  Where neither a leaf nor the page above has changed
** since, the number of the first leaf says which the others are.
**
** Values that lie on overflow pages, or are missing at the end of a record, are
** not in the leaf: such a column of a run is not kept.  Where only the number
** of rows is asked for that is kept, without columns; of an index, too.
**
** Which state.  A run is true of the state that it was read in (iBorn) and of
** all later ones, but for leaves that have changed (aStale); what is known of
** the page above its leaves, until that changes (iInnerBorn, iInnerStale).
** Columns of one run are of one state: where a scan adds to a run of which
** leaves have changed, that is dropped, and what the scan has read comes in its
** place.  A copy that is mended has segments in common with the run before it,
** of which only the last user frees them (HpSegment.nRef).
**
** All of it with the mutex of the file held, but for what reads rows of a run
** that a scan has taken: that does not change, and does not go before the scan
** ends.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

#ifdef SQLITE_DEBUG
/*
** Its batches have the rows that its leaves have, each segment those of its
** batch, and as many leaves are stale as it says.
*/
static int hpColumnRunIsSane(const HpColumnRun *p){
  u32 nRow = 0;
  int nStale = 0;
  int i, k;
  if( p->nPage<1 || p->iFirst!=p->aPg[0] ) return 0;
  for(i=0; i<p->nPage; i++){
    if( p->aPg[i]<p->iMin || p->aPg[i]>p->iMax ) return 0;
    if( i>0 && p->aRow[i]<p->aRow[i-1] ) return 0;
    if( p->aStale[i] && p->aStale[i]<=p->iBorn ) return 0;
    nStale += p->aStale[i]!=0;
  }
  for(i=0; i<p->nChunk; i++) nRow += p->anRow[i];
  if( p->nChunk>0 && nRow!=p->aRow[p->nPage-1] ) return 0;
  for(k=0; k<p->nCol; k++){
    HpSegment **ap = p->aCol[k].apSeg;
    for(i=0; ap && i<p->nChunk; i++){
      if( ap[i]==0 || ap[i]->nRow!=p->anRow[i] || ap[i]->nRef<1 ) return 0;
    }
  }
  return nStale==p->nStale;
}
#endif

/* Are the nPage leaves of p from iFirst on those of aPage[]? */
static int hpColumnRunSame(
  const HpColumnRun *p,
  int iFirst,
  const Pgno *aPage,
  int nPage
){
  assert( iFirst>=0 && nPage>0 );
  return p->nPage>=iFirst+nPage
      && memcmp(&p->aPg[iFirst], aPage, sizeof(Pgno)*nPage)==0;
}

/* Is run p of a b-tree of the kind that the scan reads?  A damaged file may
** have a page in both */
static int hpColumnRunSameKind(const HpColumnScan *pScan, const HpColumnRun *p){
  return p->bIndex==pScan->pPlan->bIndex;
}

/* The run with the leaves of pRun, or the end of its slot.  The mutex is
** held. */
static HpColumnRun **hpColumnRunLook(
  const HpColumnScan *pScan,
  const HpRun *pRun
){
  HpColumnRun **pp = hpColumnsSlot(pScan->pFile, pRun->aLeaf[0]);
  assert( sqlite3_mutex_held(pScan->pFile->pMutex) && pRun->nPage>0 );
  for(; *pp; pp=&(*pp)->pNext){
    const HpColumnRun *p = *pp;
    if( p->nPage==pRun->nPage && hpColumnRunSame(p, 0, pRun->aLeaf, p->nPage)
     && hpColumnRunSameKind(pScan, p)
    ){
      break;
    }
  }
  return pp;
}

/* The column of run p that pCol is, or NULL */
static struct HpColumnSet *hpColumnRunSet(
  const HpColumnRun *p,
  const HpCol *pCol
){
  int i;
  for(i=0; i<p->nCol; i++){
    if( p->aCol[i].iStore==pCol->iStore && p->aCol[i].bReal==pCol->bReal ){
      return &p->aCol[i];
    }
  }
  return 0;
}

/* The leaves of run p are those of pRun, as the scan sees the page above
** them */
static void hpColumnRunAbove(
  const HpColumnScan *pScan,
  HpColumnRun *p,
  const HpRun *pRun
){
  assert( sqlite3_mutex_held(pScan->pFile->pMutex) && pRun->iInUnit==0 );
  p->iInner = pRun->iInner;
  p->iChild = pRun->iChild;
  p->bWhole = pRun->bWhole;
  p->iInnerBorn = pScan->iState;
  p->iInnerStale = 0;
}

/*
** A run without columns, with the leaves of pRun and the batches of anRow[].
** It has aRow[i] rows up to the end of leaf i; without aRow, what the leaves
** say that have been read.
*/
static HpColumnRun *hpColumnRunNew(
  HpColumnScan *pScan,
  const HpRun *pRun,
  int nChunk,
  const u16 *anRow,
  const u32 *aRow
){
  u64 nByte = sizeof(HpColumnRun)
            + (sizeof(u64)+sizeof(Pgno)+sizeof(u32))*(u64)pRun->nPage
            + sizeof(u16)*(u64)nChunk;
  HpColumnRun *p = sqlite3_malloc64(nByte);
  u32 nRow = 0;
  int i;
  if( p==0 || !hpColumnsMay(pScan, (i64)nByte) ){
    sqlite3_free(p);
    return 0;
  }
  memset(p, 0, nByte);
  p->nByte = (i64)nByte;
  p->nChunk = nChunk;
  p->nPage = pRun->nPage;
  p->aStale = (u64*)&p[1];
  p->aPg = (Pgno*)&p->aStale[p->nPage];
  p->aRow = (u32*)&p->aPg[p->nPage];
  p->anRow = (u16*)&p->aRow[p->nPage];
  if( nChunk ) memcpy(p->anRow, anRow, sizeof(u16)*nChunk);
  p->iBorn = pScan->iState;
  p->iUsed = pScan->pFile->iScan;
  p->bIndex = pScan->pPlan->bIndex;
  hpColumnRunAbove(pScan, p, pRun);
  p->iFirst = p->iMin = p->iMax = pRun->aLeaf[0];
  for(i=0; i<p->nPage; i++){
    assert( pRun->iHdr==0 );
    if( aRow ){
      nRow = aRow[i];
    }else{
      nRow += get2byte(&pRun->aBuf[(i64)i*pRun->szPage+3]);
    }
    p->aPg[i] = pRun->aLeaf[i];
    p->aRow[i] = nRow;
    p->iMin = MIN(p->iMin, pRun->aLeaf[i]);
    p->iMax = MAX(p->iMax, pRun->aLeaf[i]);
  }
  assert( hpColumnRunIsSane(p) );
  return p;
}

/* Bytes of an HpColumnArray of nCol columns of a run of nChunk batches */
static i64 hpColumnRunArraySize(int nCol, int nChunk){
  return offsetof(struct HpColumnArray, apSeg)
       + (i64)sizeof(HpSegment*)*nCol*nChunk;
}

/* Room for so many pointers of run p, or NULL without memory */
static HpSegment **hpColumnRunArray(HpColumnRun *p, int nCol, int nChunk){
  i64 nByte = hpColumnRunArraySize(nCol, nChunk);
  struct HpColumnArray *pNew = sqlite3_malloc64((u64)nByte);
  if( pNew==0 ) return 0;
  pNew->pNext = p->pArray;
  p->pArray = pNew;
  return pNew->apSeg;
}

/* Is column k of the plan, which the scan has kept unless aHas[] says
** otherwise, new to run p? */
static int hpColumnRunIsNew(
  const HpColumnScan *pScan,
  const HpColumnRun *p,
  const u8 *aHas,
  int k
){
  return pScan->aKeep[k] && aHas[k]==0
      && hpColumnRunSet(p, &pScan->pPlan->aCol[k])==0;
}

/*
** Add to run p the columns that pScan keeps, but those of aHas[]:
** apSeg[i*nCol+k] is the segment of column k of the plan, of batch i; NULL
** instead of the first: it cannot be kept.  Returns false without memory.  The
** segments are p's if they are set to NULL.
*/
static int hpColumnRunAddSets(
  HpColumnScan *pScan,
  HpColumnRun *p,
  HpSegment **apSeg,
  const u8 *aHas
){
  const HpSourcePlan *pPlan = pScan->pPlan;
  int nStep = pPlan->nCol;
  int nNew = 0, nFull = 0;
  i64 nSegment = 0;
  i64 nInSlab = 0;
  i64 nByte;
  struct HpColumnSet *aNew;
  HpSegment **apNew;
  int i, k;
  for(k=0; k<pPlan->nCol; k++){
    if( !hpColumnRunIsNew(pScan, p, aHas, k) ) continue;
    nNew++;
    nFull += apSeg[k]!=0;
    for(i=0; apSeg[k] && i<p->nChunk; i++){
      assert( apSeg[i*nStep+k]->nRow==p->anRow[i] );
      assert( apSeg[i*nStep+k]->nRef==1 );
      nSegment += hpColumnsOwn(apSeg[i*nStep+k]);
      nInSlab += apSeg[i*nStep+k]->nByte - hpColumnsOwn(apSeg[i*nStep+k]);
    }
  }
  if( nNew==0 ) return 1;
  nByte = nSegment + (i64)sizeof(*aNew)*nNew
        + hpColumnRunArraySize(nFull, p->nChunk);
  aNew = sqlite3_realloc64(p->aCol, sizeof(*aNew)*(u64)(p->nCol+nNew));
  if( aNew==0 ) return 0;
  p->aCol = aNew;
  if( !hpColumnsMay(pScan, nByte) ) return 0;
  apNew = hpColumnRunArray(p, nFull, p->nChunk);
  if( apNew==0 ){
    pScan->pFile->nByte -= nByte;
    hpBudgetKept(nByte);
    return 0;
  }
  p->nByte += nByte;
  p->nSegment += nSegment;
  pScan->pFile->nInSlab += nInSlab;
  for(k=0; k<pPlan->nCol; k++){
    if( !hpColumnRunIsNew(pScan, p, aHas, k) ) continue;
    aNew[p->nCol].iStore = pPlan->aCol[k].iStore;
    aNew[p->nCol].bReal = pPlan->aCol[k].bReal;
    aNew[p->nCol].apSeg = apSeg[k] ? apNew : 0;
    for(i=0; apSeg[k] && i<p->nChunk; i++){
      *apNew++ = apSeg[i*nStep+k];
      if( i ) apSeg[i*nStep+k] = 0;
    }
    apSeg[k] = 0;
    p->nCol++;
  }
  assert( hpColumnRunIsSane(p) );
  return 1;
}

/*
** A copy of pRun->pMend with the nSet columns of aSet[], batches of anRow[]
** rows, and aRow[i] rows up to the end of leaf i, whose records are sound if
** bSound.  Batch i of column k is apNew[k*nChunk+i], or if that is NULL, as
** before.  The mutex is held.  NULL without memory.
*/
static HpColumnRun *hpColumnRunMend(
  HpColumnScan *pScan,
  const HpRun *pRun,
  const u16 *anRow,
  const u32 *aRow,
  int bSound,
  const struct HpColumnSet *aSet,
  int nSet,
  HpSegment **apNew
){
  HpColumnFile *pFile = pScan->pFile;
  const HpColumnRun *pOld = pRun->pMend;
  int nChunk = pOld->nChunk;
  HpColumnRun *p = hpColumnRunNew(pScan, pRun, nChunk, anRow, aRow);
  i64 nOwn = sizeof(aSet[0])*(i64)nSet + hpColumnRunArraySize(nSet, nChunk);
  i64 nShared = 0;
  HpSegment **apTo = 0;
  int i, k;
  assert( sqlite3_mutex_held(pFile->pMutex) && pFile->nScan>0 );
  assert( pRun->iInUnit==0 && pRun->nPage==pOld->nPage );
  if( p==0 ) return 0;
  p->bSound = (u8)bSound;
  p->aCol = sqlite3_malloc64(sizeof(aSet[0])*(u64)nSet);
  if( p->aCol ) apTo = hpColumnRunArray(p, nSet, nChunk);
  for(k=0; apTo && k<nSet; k++){
    struct HpColumnSet *pSet = &p->aCol[k];
    *pSet = aSet[k];
    if( pSet->apSeg==0 ) continue;
    pSet->apSeg = apTo;
    for(i=0; i<nChunk; i++){
      HpSegment *pNew = apNew[k*nChunk+i];
      if( pNew ){
        nOwn += hpColumnsOwn(pNew);
      }else{
        nShared += hpColumnsOwn(aSet[k].apSeg[i]);
      }
      *apTo++ = pNew ? pNew : aSet[k].apSeg[i];
    }
  }
  if( apTo==0 || !hpColumnsMay(pScan, nOwn) ){
    pFile->nByte -= p->nByte;
    hpColumnsFreeRun(pFile, p);
    return 0;
  }
  p->nCol = nSet;
  p->nByte += nOwn+nShared;
  pFile->nByte += nShared;
  for(k=0; k<nSet; k++){
    for(i=0; p->aCol[k].apSeg && i<nChunk; i++){
      HpSegment **ppNew = &apNew[k*nChunk+i];
      p->nSegment += hpColumnsOwn(p->aCol[k].apSeg[i]);
      if( *ppNew==0 ) p->aCol[k].apSeg[i]->nRef++;
      *ppNew = 0;
    }
  }
  assert( hpColumnRunIsSane(p) );
  return p;
}

/*
** The leaves of pRun have been read, in nChunk batches of anRow[] rows; none,
** if they have only been counted.  apSeg[i*nCol+k] is
** the segment of column k of the plan, of batch i; NULL where it is not kept,
** in all batches alike, or in aHas[]: the run has had it.  Those that are taken
** over become NULL.  If the file has another state by now, nothing is kept.
** bSound: all records have been looked at, and are sound.
*/
static void hpColumnRunAdd(
  HpColumnScan *pScan,
  const HpRun *pRun,
  int nChunk,
  const u16 *anRow,
  HpSegment **apSeg,
  const u8 *aHas,
  int bSound
){
  HpColumnFile *pFile = pScan->pFile;
  HpColumnRun **pp;
  int bRoom = 1;
  assert( pRun->bKeep && pRun->bWhole && pRun->pKept==0 );
  hpThreadEnter(pFile->pMutex);
  if( pFile->pState->iNow==pScan->iState ){
    pp = hpColumnRunLook(pScan, pRun);
    /* Columns of one run are of one state */
    if( *pp && ((*pp)->nStale || (nChunk
     && ((*pp)->nChunk!=nChunk
         || memcmp((*pp)->anRow, anRow, sizeof(u16)*nChunk)))
    )){
      hpColumnsDrop(pFile, pp);
      pp = hpColumnRunLook(pScan, pRun);
    }
    if( *pp==0 ){
      HpColumnRun *pNew = hpColumnRunNew(pScan, pRun, nChunk, anRow, 0);
      if( pNew ){
        hpColumnsInsert(pScan, pNew);
        pFile->nKept++;
      }
      pp = hpColumnRunLook(pScan, pRun);
      bRoom = pNew!=0;
    }
    if( *pp ) (*pp)->bSound |= (u8)bSound;
    if( bRoom && nChunk ) bRoom = hpColumnRunAddSets(pScan, *pp, apSeg, aHas);
    if( bRoom==0 ) hpColumnsNoRoom(pScan);
  }else{
    pScan->bKeep = 0;
  }
  sqlite3_mutex_leave(pFile->pMutex);
}

static int hpColumnRunRows(const HpColumnRun *p, int i){
  assert( i>=0 && i<p->nChunk );
  return p->anRow[i];
}

static u32 hpColumnRunLeafRows(const HpColumnRun *p, int i){
  assert( i>=0 && i<p->nPage );
  return p->aRow[i] - (i>0 ? p->aRow[i-1] : 0);
}

static int hpColumnRunChunks(const HpColumnRun *p){ return p->nChunk; }

/*
** Of pRun, whose columns are in memory, column iCol has the rowids, and none of
** its batches has been given yet.  Are they in order, and within the bounds of
** each leaf: HpRun.iLow and aHigh?
*/
static int hpColumnRunInOrder(const HpRun *pRun, int iCol){
  const HpColumnRun *p = pRun->pKept;
  HpSegment **apSeg = pRun->apKept[iCol];
  i64 iLast = pRun->iLow;
  int bLast = (pRun->mBound & 1)!=0;
  int iLeaf = pRun->iInUnit;
  int iChunk = pRun->iKept;
  int iFrom = (int)pRun->iKeptFrom;
  u32 iRow = pRun->iKeptRow;
  assert( pRun->iKeptEnd<=p->aRow[p->nPage-1] );
  while( iRow<pRun->iKeptEnd ){
    int n = (int)MIN(p->aRow[iLeaf]-iRow, (u32)(p->anRow[iChunk]-iFrom));
    assert( iLeaf<p->nPage && iChunk<p->nChunk );
    if( n>0 ){
      if( !hpSegmentAscends(apSeg[iChunk], iFrom, n, bLast, &iLast) ) return 0;
      if( iLast>pRun->aHigh[iLeaf-pRun->iInUnit] ) return 0;
      bLast = 1;
    }
    iRow += (u32)n;
    iFrom += n;
    if( iRow==p->aRow[iLeaf] ) iLeaf++;
    if( iFrom==p->anRow[iChunk] ){
      iChunk++;
      iFrom = 0;
    }
  }
  return 1;
}

/*
** Set aSet[] to the columns of p, up to nAlloc of them, and *pbSound to whether
** its records are known to be sound.  Returns how many columns there are.
*/
static int hpColumnRunSets(
  HpColumnScan *pScan,
  const HpColumnRun *p,
  struct HpColumnSet *aSet,
  int nAlloc,
  u8 *pbSound
){
  int n;
  hpThreadEnter(pScan->pFile->pMutex);
  n = p->nCol;
  *pbSound = p->bSound;
  if( nAlloc>0 ) memcpy(aSet, p->aCol, sizeof(aSet[0])*(size_t)MIN(n, nAlloc));
  sqlite3_mutex_leave(pScan->pFile->pMutex);
  return n;
}

/* Of pRun, whose columns are in memory: the place of row iRow of its unit */
static i64 hpColumnRunPlace(const HpRun *pRun, u32 iRow){
  const u32 *aRow = pRun->pKept->aRow;
  int iLow = pRun->iInUnit, iHigh = pRun->iInUnit+pRun->nPage-1;
  assert( iHigh<pRun->pKept->nPage );
  assert( iRow<aRow[iHigh] && (iLow==0 || iRow>=aRow[iLow-1]) );
  while( iLow<iHigh ){
    int iMid = (iLow+iHigh)/2;
    if( aRow[iMid]<=iRow ) iLow = iMid+1; else iHigh = iMid;
  }
  return HP_PLACE(pRun->iSeq, iLow-pRun->iInUnit,
                  iRow-(iLow ? aRow[iLow-1] : 0));
}

#else

static i64 hpColumnRunPlace(const HpRun *pRun, u32 iRow){
  return HP_PLACE(pRun->iSeq, 0, iRow);
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
