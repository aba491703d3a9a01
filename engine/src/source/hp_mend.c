/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_mend: runs of columns in memory, some of whose leaves have changed.
**
**    hpMendRun()      mend the run that a worker has taken
**    hpMendClose()
**
** An UPDATE changes a few leaves of many runs.  Columns of the others still hold, so only the leaves
** that have changed are read.  Their rows take the places of the old ones in a copy of the run:
**
**                      leaves    a  b  c  d | e  f  g        b has changed
**                     batches   [          ] [       ]
**        segment of a column:   [ab bbb ccc] [eeffgg ]
**        the same, mended:      [ab BBB ccc] [  ..   ]       the second one is shared
**
** A batch keeps its leaves.  Of each column whose values are still the same the segment is shared,
** too.  Where values have changed, but each has room in the form of the segment, a copy of it gets
** these (hpSegmentMakeRow()).  Otherwise, as where a leaf has more rows or fewer, the segment is decoded,
** and a new one made.
**
** All columns of the run are mended, whether the query wants them or not, so that the next query
** finds them.  To that end there is a second worker, which has the columns of the run as its plan,
** and only cuts the records of one batch at a time.
**
** Nothing here fails.  A run that cannot be mended is read as if nothing were kept: a leaf of several
** batches, a batch of too many rows, records that are not sound, no memory.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

struct HpMender {
  HpWorker cut;          /* Cuts leaves that have changed ... */
  HpReader read;         /* What that reads */
  HpPipePlan pipe;       /* ... into the columns of the run */
  HpSegmentMaker maker;
  HpVec now, old, mix;   /* A column: of these leaves, of a segment, of what it becomes */
  struct HpColumnSet *aSet;   /* Columns of the run, ... */
  int nSet, nSetAlloc;
  int *aiCol;            /* ... which of the plan each is, ... */
  HpSegment **apNew;     /* ... and its new segments, one for each batch; NULL: as before */
  u16 *anRow;            /* Rows of each batch by now */
  int nChunk;
  u32 *aRow;             /* Rows up to the end of each leaf by now */
  u8 bSound;             /* Records are to be sound, and so far they are */
  u8 *aTime;             /* Texts of times of p->old: hpSegmentColumn() */
};

/* What worker p needs to mend runs: pMender->nSetAlloc is -1 without memory */
static HpMender *hpMendNew(HpWorker *p){
  HpMender *pNew = hpArenaAlloc(&p->vec, sizeof(*pNew));
  HpWorker *pCut;
  HpFrame *pFrame;
  if( pNew==0 ) return 0;
  memset(pNew, 0, sizeof(*pNew));
  pCut = &pNew->cut;
  pCut->pRead = &pNew->read;
  pCut->db = p->db;
  pCut->pPipe = p->pPipe;
  pCut->pCfg = p->pCfg;
  pCut->pPlan = &pNew->pipe;
  pNew->pipe.source.iDb = p->pPlan->source.iDb;
  pNew->pipe.source.iRoot = p->pPlan->source.iRoot;
  pFrame = &pCut->frame;
  pFrame->pWorker = pCut;
  pFrame->db = p->db;
  pFrame->pCfg = p->pCfg;
  pFrame->nAlloc = p->pRead->batch.nAlloc;
  pFrame->bDense = 1;
  pFrame->bAvx2 = p->frame.bAvx2;
  if( hpVecInit(pFrame, &pNew->now, HP_BATCH) || hpVecInit(pFrame, &pNew->old, HP_BATCH)
   || hpVecInit(pFrame, &pNew->mix, HP_BATCH)
  ){
    pNew->nSetAlloc = -1;
  }
  pNew->aTime = hpArenaAlloc(&pFrame->vec, HP_BATCH*HP_TIME_TEXT + HP_SLACK);
  if( pNew->aTime==0 ) pNew->nSetAlloc = -1;
  return pNew;
}

/* Free the segments that nobody has taken over */
static void hpMendForget(HpMender *p){
  i64 n = (i64)p->nSet*p->nChunk;
  i64 i;
  for(i=0; i<n; i++) hpSegmentFree(p->apNew[i]);
  p->nChunk = 0;
}

static void hpMendClose(HpWorker *p){
  HpMender *pMender = p->pRead->pMender;
  if( pMender ){
    sqlite3_free(pMender->aSet);
    sqlite3_free(pMender->aiCol);
    sqlite3_free(pMender->apNew);
    sqlite3_free(pMender->anRow);
    sqlite3_free(pMender->aRow);
    hpArenaClear(&pMender->cut.side);
    hpArenaClear(&pMender->cut.frame.vec);
    hpArenaClear(&pMender->cut.vec);
    p->pRead->pMender = 0;
  }
}

/* Room for n elements of sz bytes at *pp, whose content does not matter */
static int hpMendRoom(void *pp, i64 n, i64 sz){
  void *pNew = sqlite3_realloc64(*(void**)pp, (u64)(n*sz));
  if( pNew ) *(void**)pp = pNew;
  return pNew!=0;
}

/*
** Let the plan of the second worker read columns aStore[0..nCol-1], which are in order, and have
** memory for a batch of them.
*/
static int hpMendPlan(HpMender *p, const int *aStore, int nCol){
  HpSourcePlan *pPlan = &p->pipe.source;
  HpWorker *pCut = &p->cut;
  int i;
  for(i=0; i<nCol && i<pPlan->nCol && pPlan->aCol[i].iStore==aStore[i]; i++){}
  if( i==nCol && i==pPlan->nCol ) return 1;
  hpArenaClear(&pCut->side);
  hpArenaClear(&pCut->vec);
  memset(&pCut->pRead->batch, 0, sizeof(pCut->pRead->batch));
  pPlan->nCol = 0;
  pPlan->aCol = hpArenaAlloc(&pCut->vec, sizeof(HpCol)*(i64)nCol);
  if( pPlan->aCol==0 ) return 0;
  memset(pPlan->aCol, 0, sizeof(HpCol)*(size_t)nCol);
  for(i=0; i<nCol; i++){
    assert( i==0 || aStore[i-1]<aStore[i] );
    pPlan->aCol[i].iStore = aStore[i];
  }
  pPlan->nCol = nCol;
  pPlan->bRowid = aStore[0]<0;
  pPlan->mxCol = aStore[nCol-1];
  if( hpRecordInit(pCut) ){
    pPlan->nCol = 0;
    return 0;
  }
  return 1;
}

/* Find out which columns the run has, and let the second worker read these */
static int hpMendSets(HpMender *p, HpColumnScan *pScan, const HpRun *pRun){
  int *aStore;
  int nCol = 0;
  int bDone;
  int i, k, n;
  p->nSet = 0;
  while( (n = hpColumnRunSets(pScan, pRun->pMend, p->aSet, p->nSetAlloc, &p->bSound))>p->nSetAlloc ){
    if( !hpMendRoom(&p->aSet, n, sizeof(p->aSet[0]))
     || !hpMendRoom(&p->aiCol, n, sizeof(p->aiCol[0]))
    ){
      return 0;
    }
    p->nSetAlloc = n;
  }
  aStore = sqlite3_malloc64(sizeof(int)*(u64)(n+1));
  if( aStore==0 ) return 0;
  for(k=0; k<n; k++){
    int iStore = p->aSet[k].iStore;
    if( p->aSet[k].apSeg==0 ) continue;
    for(i=nCol; i>0 && aStore[i-1]>iStore; i--){}
    if( i>0 && aStore[i-1]==iStore ) continue;
    memmove(&aStore[i+1], &aStore[i], sizeof(int)*(size_t)(nCol-i));
    aStore[i] = iStore;
    nCol++;
  }
  bDone = nCol>0 && hpMendPlan(p, aStore, nCol);
  for(k=0; k<n && bDone; k++){
    for(i=0; i<nCol && aStore[i]!=p->aSet[k].iStore; i++){}
    assert( i<nCol || p->aSet[k].apSeg==0 );
    p->aiCol[k] = i;
  }
  sqlite3_free(aStore);
  p->nSet = n;
  return bDone;
}

/* Rows of leaf i when the run was read */
static int hpMendWas(const HpRun *pRun, int i){
  return (int)hpColumnRunLeafRows(pRun->pMend, i);
}

/* ... and by now */
static int hpMendIs(const HpMender *p, int i){
  return (int)(p->aRow[i] - (i>0 ? p->aRow[i-1] : 0));
}

/*
** The values of p->now, of the leaves from iFirst to iEnd-1 that have changed, are to go into a copy
** of pSeg, which has the same number of rows.  Sets *ppNew to it; to NULL if all values are the same.
** Returns false if there is no memory, or it has no room for some value.
*/
static int hpMendValues(
  HpMender *p,
  const HpRun *pRun,
  const HpSegment *pSeg,
  int iFirst, int iEnd,
  HpSegment **ppNew
){
  HpFrame *pFrame = &p->cut.frame;
  HpSegment *pNew = 0;
  int iOld = 0, iNow = 0;
  int i, k, n;
  for(i=iFirst; i<iEnd; i++, iOld+=n){
    n = hpMendIs(p, i);
    assert( n==hpMendWas(pRun, i) );
    if( pRun->aChanged[i]==0 ) continue;
    pFrame->nRow = n;
    hpSegmentColumn(pSeg, iOld, pFrame, &p->old, p->aTime);
    for(k=0; k<n; k++, iNow++){
      HpVal a, b;
      u32 nA, nB;
      u8 tag = hpVecValue(&p->now, iNow, &a, &nA);
      if( tag==hpVecValue(&p->old, k, &b, &nB)
       && (tag==HP_NULL || ((tag & HP_STR) ? nA==nB && memcmp(a.z, b.z, nA)==0 : a.u==b.u))
      ){
        continue;
      }
      if( pNew==0 ) pNew = hpSegmentDup(pSeg);
      if( pNew==0 || !hpSegmentMakeRow(pNew, iOld+k, tag, a, nA) ){
        hpSegmentFree(pNew);
        return 0;
      }
    }
  }
  assert( iOld==pSeg->nRow && iNow==p->cut.pRead->batch.nRow );
  *ppNew = pNew;
  return 1;
}

/* Append rows iFrom..iFrom+n-1 of *pFrom to the nTo rows of *pTo.  Both are not in float form */
static void hpMendAppend(HpVec *pTo, int nTo, const HpVec *pFrom, int iFrom, int n){
  int i;
  assert( n>=0 && nTo+n<=HP_BATCH && iFrom+n<=HP_BATCH );
  assert( pTo->bFloat==0 && pFrom->bFloat==0 );
  memcpy(&pTo->aTag[nTo], &pFrom->aTag[iFrom], n);
  memcpy(&pTo->aVal[nTo], &pFrom->aVal[iFrom], sizeof(HpVal)*n);
  memcpy(&pTo->aLen[nTo], &pFrom->aLen[iFrom], sizeof(u32)*n);
  for(i=nTo; i<nTo+n; i++) pTo->mType |= pTo->aTag[i];
}

/* A new segment, of pSeg with the values of p->now in place of those of leaves that have changed */
static HpSegment *hpMendWhole(
  HpMender *p,
  const HpRun *pRun,
  const HpSegment *pSeg,
  int iFirst, int iEnd
){
  HpFrame *pFrame = &p->cut.frame;
  HpVec *pMix = &p->mix;
  const i64 mx = (i64)1<<51;
  int iOld = 0, iNow = 0, nMix = 0;
  int bWide = 0, bNaN = 0;
  int i, n;
  pFrame->nRow = p->cut.pRead->batch.nRow;
  hpVecExact(pFrame, &p->now);
  pFrame->nRow = pSeg->nRow;
  hpSegmentColumn(pSeg, 0, pFrame, &p->old, p->aTime);
  hpVecExact(pFrame, &p->old);
  pMix->mType = pMix->bFloat = 0;
  for(i=iFirst; i<iEnd; i++){
    n = hpMendIs(p, i);
    if( pRun->aChanged[i] ){
      hpMendAppend(pMix, nMix, &p->now, iNow, n);
      iNow += n;
    }else{
      hpMendAppend(pMix, nMix, &p->old, iOld, n);
    }
    nMix += n;
    iOld += hpMendWas(pRun, i);
  }
  assert( iNow==p->cut.pRead->batch.nRow && iOld==pSeg->nRow );
  pFrame->nRow = nMix;
  if( pMix->mType==HP_NUM ){
    HP_ROWS(pFrame, {
      bWide |= pMix->aTag[i]==HP_INT && (pMix->aVal[i].i>=mx || pMix->aVal[i].i<=-mx);
    })
    if( !bWide ) hpDecodeFloat(pFrame, pMix, &bNaN);
    assert( bNaN==0 );
  }
  return hpSegmentMake(&p->maker, pMix, nMix, pFrame->bAvx2);
}

/* Column k of the run cannot be kept any more: values are not in the leaves */
static void hpMendLose(HpMender *p, int k){
  int i;
  p->aSet[k].apSeg = 0;
  for(i=0; i<p->nChunk; i++){
    hpSegmentFree(p->apNew[(i64)k*p->nChunk+i]);
    p->apNew[(i64)k*p->nChunk+i] = 0;
  }
}

/*
** Mend batch iChunk, which has leaves iFirst to iEnd-1, some of which have changed.
*/
static int hpMendChunk(HpMender *p, const HpRun *pRun, int iChunk, int iFirst, int iEnd){
  HpWorker *pCut = &p->cut;
  int bSameRows = 1;
  int nRow = 0;
  i64 iPlace = -1;
  int i, k;
  assert( iFirst<iEnd && iEnd<=pRun->nPage && iChunk<p->nChunk );
  hpRecordEmpty(pCut);
  for(i=iFirst; i<iEnd; i++){
    int n = hpMendWas(pRun, i);
    if( pRun->aChanged[i] ){
      int iCell = 0;
      int nBefore = pCut->pRead->batch.nRow;
      if( hpCellsLeaf(pCut, i, &iCell) || iCell>=0 ) return 0;
      bSameRows &= n==pCut->pRead->batch.nRow-nBefore;
      n = pCut->pRead->batch.nRow-nBefore;
    }
    nRow += n;
    p->aRow[i] = (i>0 ? p->aRow[i-1] : 0) + (u32)n;
  }
  if( nRow>pCut->pRead->batch.nAlloc ) return 0;
  p->anRow[iChunk] = (u16)nRow;
  /* Without a column of the record it is not known where the record is */
  if( p->pipe.source.mxCol<0 ) p->bSound = 0;
  for(i=0; i<pCut->pRead->batch.nRow && p->bSound; i++){
    iPlace = hpPlaceOf(pCut, i, iPlace, 1);
    if( iPlace<0 ) p->bSound = 0;
  }
  for(k=0; k<p->nSet; k++){
    HpSegment **ppNew = &p->apNew[(i64)k*p->nChunk+iChunk];
    const HpSegment *pSeg;
    if( p->aSet[k].apSeg==0 ) continue;
    if( hpKeepIsElsewhere(pCut, p->aiCol[k]) ){
      hpMendLose(p, k);
      continue;
    }
    pSeg = p->aSet[k].apSeg[iChunk];
    p->pipe.source.aCol[p->aiCol[k]].bReal = p->aSet[k].bReal;
    pCut->frame.nRow = pCut->pRead->batch.nRow;
    hpDecodeColumn(&pCut->frame, p->aiCol[k], &p->now);
    if( bSameRows && hpMendValues(p, pRun, pSeg, iFirst, iEnd, ppNew) ) continue;
    *ppNew = hpMendWhole(p, pRun, pSeg, iFirst, iEnd);
    if( *ppNew==0 ) return 0;
  }
  return 1;
}

/* Mend all batches of the run whose leaves have changed */
static int hpMendLeaves(HpMender *p, const HpRun *pRun){
  const HpColumnRun *pOld = pRun->pMend;
  int nChunk = hpColumnRunChunks(pOld);
  int iLeaf = 0;
  int i;
  assert( p->nChunk==0 && p->nSet>0 );
  if( !hpMendRoom(&p->apNew, (i64)p->nSet*nChunk, sizeof(p->apNew[0]))
   || !hpMendRoom(&p->anRow, nChunk, sizeof(p->anRow[0]))
   || !hpMendRoom(&p->aRow, pRun->nPage, sizeof(p->aRow[0]))
  ){
    return 0;
  }
  p->nChunk = nChunk;
  memset(p->apNew, 0, sizeof(p->apNew[0])*(size_t)p->nSet*nChunk);
  p->read.run.aBuf = pRun->aBuf;
  p->read.run.szPage = pRun->szPage;
  p->read.run.nPage = pRun->nPage;
  p->read.run.iSeq = pRun->iSeq;
  for(i=0; i<nChunk; i++){
    int iFirst = iLeaf;
    int nRow = hpColumnRunRows(pOld, i);
    int bChanged = 0;
    p->anRow[i] = (u16)nRow;
    for(; iLeaf<pRun->nPage && nRow>0; iLeaf++){
      int n = hpMendWas(pRun, iLeaf);
      nRow -= n;
      bChanged |= pRun->aChanged[iLeaf];
      p->aRow[iLeaf] = (iLeaf>0 ? p->aRow[iLeaf-1] : 0) + (u32)n;
    }
    if( nRow!=0 ) return 0;
    if( bChanged && !hpMendChunk(p, pRun, i, iFirst, iLeaf) ) return 0;
  }
  return iLeaf==pRun->nPage;
}

/*
** Of run p->run, with HpRun.pMend, the leaves that have changed have been read.  Mend it, or read the
** others.
*/
static int hpMendRun(HpWorker *p){
  HpRun *pRun = &p->pRead->run;
  HpColumnScan *pScan = hpSourceColumns(p->pPipe->pSource);
  HpMender *pMender;
  int bDone = 0;
  assert( pRun->pMend!=0 && pRun->pKept==0 && pRun->iInUnit==0 );
  if( p->pRead->pMender==0 ) p->pRead->pMender = hpMendNew(p);
  pMender = p->pRead->pMender;
  if( pMender && pMender->nSetAlloc>=0 ){
    bDone = hpMendSets(pMender, pScan, pRun)
         && hpMendLeaves(pMender, pRun)
         && hpColumnScanMended(pScan, pRun, pMender->anRow, pMender->aRow,
                               pMender->bSound,
                            pMender->aSet, pMender->nSet, pMender->apNew);
    hpMendForget(pMender);
  }
  if( bDone==0 ) return hpSourceUnmended(p);
  assert( pRun->pKept!=0 && pRun->pKept!=pRun->pMend );
  pRun->pMend = 0;
  pRun->nMended++;
  return SQLITE_OK;
}

#else

static int hpMendRun(HpWorker *p){ UNUSED_PARAMETER(p); return HP_DECLINE; }
static void hpMendClose(HpWorker *p){ UNUSED_PARAMETER(p); }
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
