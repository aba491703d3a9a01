/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_keep: a worker's runs of leaves, to columns in memory and from them.
**
**    hpKeepInit()     memory, if the scan uses columns
**    hpKeepNext()     the next batch of a run whose columns are in memory
**    hpKeepBegin()    the leaves of a run are going to be read: keep it?
**    hpKeepBatch()    a batch of it has been cut
**    hpKeepIsInOrder()  are the rowids of a run whose columns are in memory in order?
**    hpKeepColumn()   values of one column, for the rows selected in a frame
**    hpKeepSegment()  the same as they are kept
**    hpKeepIsElsewhere()  are values of the batch not in its leaves?
**    hpKeepForget()   the worker reads no more: forget what is of a run that is not complete
**    hpKeepClose()
**
** A run that is kept is decoded batch by batch, all rows of each column, before the
** program of the query sees the batch, and that takes over its values from there, and works on
** dictionaries and codes as if it had found them.  The run is
** handed over when its last batch has been read (hp_columns.c).  Batches of a run end
** where the leaves' own would, so a scan that finds it in memory has the same ones.
**
** Of a run in memory batches are passed over of which a filter lets no row pass, as the
** smallest and the largest value tell.
**
** Nothing here fails: what cannot be kept is not.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

/* What a worker needs to keep columns */
struct HpKeeper {
  HpSegmentMaker maker;
  HpVec *aVec;           /* A batch, decoded: of each column of the plan */
  u8 *aHas;              /* ... True if the run has the column already */
  u8 *aKeep;             /* ... True if the column is kept: its values are in aVec, ... */
  u8 *aTaken;            /* ... unless they have been taken from there */
  int nChunk, nAlloc;    /* Batches of the run so far, and room for so many */
  u16 *anRow;            /* Rows of each */
  HpSegment **apSeg;     /* Segments of each: nCol */
  HpSegment **apNow;     /* Those of the batch that the program sees, or NULL */
  u8 bSound;             /* All records so far are sound, and this is to be known */
  i64 iPlace;            /* ... place of the last one */
};

/* Memory for worker p, whose scan may find columns */
static int hpKeepInit(HpWorker *p){
  i64 nCol = p->pPlan->source.nCol;
  i64 nFilter = MAX(p->pPlan->prog.nFilter, 1);
  HpRun *pRun = &p->pRead->run;
  if( hpSourceColumns(p->pPipe->pSource)==0 ) return SQLITE_OK;
  pRun->apKept = hpArenaAlloc(&p->vec, sizeof(pRun->apKept[0])*nCol);
  pRun->apTime = hpArenaAlloc(&p->vec, sizeof(pRun->apTime[0])*nCol);
  pRun->apQuick = hpArenaAlloc(&p->vec, sizeof(pRun->apQuick[0])*HP_MX_QUICK);
  pRun->apQuickKept = hpArenaAlloc(&p->vec,
                              sizeof(pRun->apKept[0])*nCol*HP_MX_QUICK);
  if( pRun->apTime==0 || pRun->apQuick==0 || pRun->apQuickKept==0 ) return HP_DECLINE;
  memset(pRun->apTime, 0, sizeof(pRun->apTime[0])*(size_t)nCol);
  pRun->aZone = hpArenaAlloc(&p->vec, sizeof(HpBound)*nFilter);
  pRun->aZoneCol = hpArenaAlloc(&p->vec, sizeof(int)*nFilter);
  pRun->nZone = -1;
  return pRun->apKept && pRun->aZone && pRun->aZoneCol ? SQLITE_OK : HP_DECLINE;
}

/* What filters say about columns.  Their constants are known by now */
static void hpKeepZones(HpWorker *p){
  const HpProg *pProg = &p->pPlan->prog;
  HpRun *pRun = &p->pRead->run;
  int i;
  pRun->nZone = 0;
  if( !hpZoneIsSafe(pProg) ) return;
  for(i=0; i<pProg->nFilter; i++){
    int iCol = hpZoneOf(p, i, &pRun->aZone[pRun->nZone]);
    if( iCol>=0 ) pRun->aZoneCol[pRun->nZone++] = iCol;
  }
}

/* The first run to be kept: memory for that, or NULL */
static HpKeeper *hpKeepNew(HpWorker *p){
  HpKeeper *pNew = hpArenaAlloc(&p->vec, sizeof(*pNew));
  int nCol = p->pPlan->source.nCol;
  int k;
  if( pNew==0 ) return 0;
  memset(pNew, 0, sizeof(*pNew));
  pNew->aVec = hpArenaAlloc(&p->vec, sizeof(HpVec)*(i64)nCol);
  pNew->aHas = hpArenaAlloc(&p->vec, nCol);
  pNew->aKeep = hpArenaAlloc(&p->vec, nCol);
  pNew->aTaken = hpArenaAlloc(&p->vec, nCol);
  pNew->apNow = hpArenaAlloc(&p->vec, sizeof(pNew->apNow[0])*(i64)nCol);
  pNew->maker.pScan = hpSourceColumns(p->pPipe->pSource);
  pNew->maker.xSlab = hpColumnsSlab;
  pNew->maker.nSlabMost = hpColumnsSlabMost(pNew->maker.pScan);
  if( pNew->aVec==0 || pNew->aHas==0 || pNew->aKeep==0 || pNew->aTaken==0 || pNew->apNow==0 ) return 0;
  memset(pNew->aVec, 0, sizeof(HpVec)*nCol);
  memset(pNew->aKeep, 0, nCol);
  memset(pNew->apNow, 0, sizeof(pNew->apNow[0])*(size_t)nCol);
  for(k=0; k<nCol; k++){
    if( hpColumnScanWanted(hpSourceColumns(p->pPipe->pSource), k)
     && hpVecInit(&p->frame, &pNew->aVec[k], p->pRead->batch.nAlloc)
    ){
      return 0;
    }
  }
  return pNew;
}

/* Free the segments that nobody has taken over */
static void hpKeepForget(HpWorker *p){
  HpKeeper *pKeeper = p->pRead->pKeeper;
  if( pKeeper ){
    i64 n = (i64)pKeeper->nChunk*p->pPlan->source.nCol;
    i64 i;
    for(i=0; i<n; i++) hpSegmentFree(pKeeper->apSeg[i]);
    pKeeper->nChunk = 0;
  }
}

static void hpKeepClose(HpWorker *p){
  if( p->pRead->pKeeper ){
    hpKeepForget(p);
    sqlite3_free(p->pRead->pKeeper->anRow);
    sqlite3_free(p->pRead->pKeeper->apSeg);
    p->pRead->pKeeper = 0;
  }
}

static void hpKeepBegin(HpWorker *p){
  HpKeeper *pKeeper;
  int k;
  hpKeepForget(p);
  assert( p->pRead->run.bKeep==0
       || (p->pRead->run.pKept==0 && p->pRead->run.iInUnit==0) );
  if( p->pRead->run.bKeep==0 ) return;
  if( p->pRead->pKeeper==0 ) p->pRead->pKeeper = hpKeepNew(p);
  pKeeper = p->pRead->pKeeper;
  if( pKeeper==0 ){
    p->pRead->run.bKeep = 0;
    return;
  }
  for(k=0; k<p->pPlan->source.nCol; k++){
    pKeeper->aHas[k] = p->pRead->run.apKept[k]!=0;
    pKeeper->aKeep[k] = !pKeeper->aHas[k]
                     && hpColumnScanWanted(hpSourceColumns(p->pPipe->pSource),
                                           k);
  }
  pKeeper->bSound = p->pPlan->pSink->eRecords==HP_RECORDS_SOUND;
  pKeeper->iPlace = -1;
}

/* Room for one batch more */
static int hpKeepRoom(HpKeeper *pKeeper, int nCol){
  if( pKeeper->nChunk==pKeeper->nAlloc ){
    int n = 2*pKeeper->nAlloc + 16;
    u16 *anRow = sqlite3_realloc64(pKeeper->anRow, sizeof(u16)*(u64)n);
    HpSegment **apSeg;
    if( anRow ) pKeeper->anRow = anRow;
    apSeg = sqlite3_realloc64(pKeeper->apSeg, sizeof(apSeg[0])*(u64)n*nCol);
    if( apSeg ) pKeeper->apSeg = apSeg;
    if( anRow==0 || apSeg==0 ) return 0;
    pKeeper->nAlloc = n;
  }
  return 1;
}

/* Has the batch of p values of column iCol that do not lie in its leaves? */
static int hpKeepIsElsewhere(const HpWorker *p, int iCol){
  const HpBatch *pBatch = &p->pRead->batch;
  const HpRun *pRun = &p->pRead->run;
  const u8 *aEnd = &pRun->aBuf[(i64)pRun->nPage*pRun->szPage];
  const u8 *aType = &pBatch->aType[iCol*pBatch->nStride];
  int nCol = p->pPlan->source.nCol;
  int bSlow = 0;
  int i;
  assert( pRun->pKept==0 && pBatch->nCol==nCol );
  if( p->pPlan->source.aCol[iCol].iStore<0 ) return 0;
  for(i=0; i<HP_CUT; i++) bSlow |= pBatch->aMax[iCol*HP_CUT+i]==HP_SER_SLOW;
  for(i=0; bSlow && i<pBatch->nRow; i++){
    const struct HpSlow *pSlow = &pBatch->aSlow[(i64)i*nCol+iCol];
    if( aType[i]!=HP_SER_SLOW ) continue;
    if( pSlow->type==HP_SER_NONE || pSlow->z<pRun->aBuf || pSlow->z>=aEnd ) return 1;
  }
  return 0;
}

static void hpKeepBatch(HpWorker *p){
  HpKeeper *pKeeper = p->pRead->pKeeper;
  HpFrame all;           /* The frame, with all rows of the batch */
  int nCol = p->pPlan->source.nCol;
  HpSegment **apSeg;
  int k;
  if( p->pRead->run.bKeep==0 || p->pRead->batch.nRow==0 ) return;
  assert( p->pRead->batch.nSkip==0 );
  if( !hpKeepRoom(pKeeper, nCol) ){
    p->pRead->run.bKeep = 0;
    return;
  }
  all = p->frame;
  all.nRow = p->pRead->batch.nRow;
  all.bDense = 1;
  apSeg = &pKeeper->apSeg[(i64)pKeeper->nChunk*nCol];
  memset(apSeg, 0, sizeof(apSeg[0])*nCol);
  memset(pKeeper->aTaken, 0, nCol);
  pKeeper->anRow[pKeeper->nChunk++] = (u16)p->pRead->batch.nRow;
  for(k=0; k<nCol; k++){
    if( pKeeper->aKeep[k]==0 ) continue;
    if( hpKeepIsElsewhere(p, k) ){
      i64 i;
      pKeeper->aKeep[k] = 0;
      for(i=0; i<pKeeper->nChunk; i++){
        hpSegmentFree(pKeeper->apSeg[i*nCol+k]);
        pKeeper->apSeg[i*nCol+k] = 0;
      }
      continue;
    }
    hpDecodeColumn(&all, k, &pKeeper->aVec[k]);
    apSeg[k] = hpSegmentMake(&pKeeper->maker, &pKeeper->aVec[k], all.nRow,
                             all.bAvx2);
    if( apSeg[k]==0 ){
      p->pRead->run.bKeep = 0;
      return;
    }
  }
  for(k=0; k<p->pRead->batch.nRow && pKeeper->bSound; k++){
    pKeeper->iPlace = hpPlaceOf(p, k, pKeeper->iPlace, 1);
    if( pKeeper->iPlace<0 ) pKeeper->bSound = 0;
  }
  memcpy(pKeeper->apNow, apSeg, sizeof(apSeg[0])*nCol);
  if( p->pRead->run.iLeaf==p->pRead->run.nPage ){
    hpColumnRunAdd(hpSourceColumns(p->pPipe->pSource), &p->pRead->run,
                   pKeeper->nChunk, pKeeper->anRow, pKeeper->apSeg,
                   pKeeper->aHas, pKeeper->bSound);
    for(k=0; k<nCol; k++) if( apSeg[k] ) pKeeper->apNow[k] = 0;
    hpKeepForget(p);
  }
}

/* Does the sink want no row of batch i of the run?  See HpReader.bound */
static int hpKeepIsOut(const HpWorker *p, int i){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  int k;
  if( p->pRead->bound.bOn==0 ) return 0;
  for(k=0; k<pPlan->nCol; k++){
    if( pPlan->aCol[k].iStore==p->pRead->bound.iStore ){
      return hpSegmentIsOut(p->pRead->run.apKept[k][i], &p->pRead->bound);
    }
  }
  return 0;
}

/* Memory for texts of times that the batch has to be decoded to.  Returns true if there is none */
static int hpKeepTimes(HpWorker *p){
  HpRun *pRun = &p->pRead->run;
  i64 nByte = (i64)p->pRead->batch.nAlloc*HP_TIME_TEXT + HP_SLACK;
  int k;
  assert( pRun->iKept>0 );
  for(k=0; k<p->pPlan->source.nCol; k++){
    if( pRun->apTime[k] || pRun->apKept[k][pRun->iKept-1]->eForm!=HP_FORM_TIME ) continue;
    pRun->apTime[k] = hpArenaAlloc(&p->vec, nByte);
    if( pRun->apTime[k]==0 ) return 1;
    memset(pRun->apTime[k], 0, nByte);
  }
  return 0;
}

/* The scan is that of a range of rowids.  Are those of the run, which is in memory, in order? */
static int hpKeepIsInOrder(const HpWorker *p){
  assert( p->pPlan->source.bRowid && p->pPlan->source.aCol[0].iStore<0 );
  return hpColumnRunInOrder(&p->pRead->run, 0);
}

static int hpKeepNext(HpWorker *p){
  HpRun *pRun = &p->pRead->run;
  HpBatch *pBatch = &p->pRead->batch;
  assert( pRun->pKept!=0 && pBatch->nRow==0 && pBatch->nSkip==0 );
  if( pRun->nZone<0 ) hpKeepZones(p);
  while( pRun->iKeptRow+pRun->nKeptRow<pRun->iKeptEnd && pBatch->nRow==0 ){
    int i = pRun->iKept++;
    int k;
    if( pRun->nKeptRow ) pRun->iKeptFrom = 0;    /* It may have begun within a segment */
    pRun->iKeptRow += pRun->nKeptRow;
    pRun->nKeptRow = MIN((u32)hpColumnRunRows(pRun->pKept, i)-pRun->iKeptFrom,
                         pRun->iKeptEnd-pRun->iKeptRow);
    for(k=0; k<pRun->nZone; k++){
      if( hpSegmentIsOut(pRun->apKept[pRun->aZoneCol[k]][i], &pRun->aZone[k]) ) break;
    }
    if( k==pRun->nZone && !hpKeepIsOut(p, i) ){
      pBatch->nRow = (int)pRun->nKeptRow;
    }else{
      pBatch->nSkip += (int)pRun->nKeptRow;
    }
  }
  assert( pBatch->nRow<=pBatch->nAlloc );
  assert( pRun->iKeptRow+pRun->nKeptRow<=pRun->iKeptEnd );
  if( pBatch->nRow && hpKeepTimes(p) ) return HP_DECLINE;
  pRun->iLeaf = pRun->iKeptRow+pRun->nKeptRow==pRun->iKeptEnd ? pRun->nPage : 0;
  return SQLITE_OK;
}

/*
** If column iCol of the batch is in memory, or has just been kept: its segment, of which row *piFrom is
** the first of the batch.  Else NULL.  It is not freed before the scan ends, or the next batch begins.
*/
static const HpSegment *hpKeepSegment(
  const HpFrame *pFrame,
  int iCol,
  int *piFrom
){
  const HpWorker *p = pFrame->pWorker;
  const HpRun *pRun = &p->pRead->run;
  assert( iCol>=0 && iCol<p->pPlan->source.nCol );
  assert( pRun->pKept==0 || pRun->iKept>0 );
  *piFrom = 0;
  if( pRun->pKept==0 ){
    const HpSegment *pSeg = pRun->bKeep ? p->pRead->pKeeper->apNow[iCol] : 0;
    assert( pSeg==0 || pSeg->nRow==p->pRead->batch.nRow );
    return pSeg;
  }
  *piFrom = (int)pRun->iKeptFrom;
  return pRun->apKept[iCol][pRun->iKept-1];
}

static void hpKeepColumn(HpFrame *pFrame, int iCol, HpVec *pOut){
  const HpWorker *p = pFrame->pWorker;
  const HpRun *pRun = &p->pRead->run;
  HpKeeper *pKeeper = p->pRead->pKeeper;
  if( pRun->pKept ){
    hpSegmentColumn(pRun->apKept[iCol][pRun->iKept-1], (int)pRun->iKeptFrom,
                    pFrame, pOut, pRun->apTime[iCol]);
  }else if( pRun->bKeep && pKeeper->aKeep[iCol]
         && pKeeper->aTaken[iCol]==0
  ){
    /* Arrays of both have room for a batch */
    HpVec *pFrom = &pKeeper->aVec[iCol];
    HpVec was = *pOut;
    pKeeper->aTaken[iCol] = 1;
    pOut->aTag = pFrom->aTag;
    pOut->aVal = pFrom->aVal;
    pOut->aLen = pFrom->aLen;
    pOut->mType = pFrom->mType;
    pOut->bFloat = pFrom->bFloat;
    pOut->pSeg = 0;
    pOut->bLate = 0;
    pFrom->aTag = was.aTag;
    pFrom->aVal = was.aVal;
    pFrom->aLen = was.aLen;
  }else{
    hpDecodeColumn(pFrame, iCol, pOut);
  }
}

#else

static int hpKeepInit(HpWorker *p){ UNUSED_PARAMETER(p); return SQLITE_OK; }
static void hpKeepBegin(HpWorker *p){ UNUSED_PARAMETER(p); }
static void hpKeepBatch(HpWorker *p){ UNUSED_PARAMETER(p); }
static int hpKeepIsInOrder(const HpWorker *p){ UNUSED_PARAMETER(p); return 0; }
static int hpKeepNext(HpWorker *p){ UNUSED_PARAMETER(p); return HP_DECLINE; }
static const HpSegment *hpKeepSegment(const HpFrame *p, int iCol, int *piFrom){
  UNUSED_PARAMETER2(p, iCol);
  UNUSED_PARAMETER(piFrom);
  return 0;
}
static void hpKeepColumn(HpFrame *pFrame, int iCol, HpVec *pOut){
  hpDecodeColumn(pFrame, iCol, pOut);
}
static void hpKeepForget(HpWorker *p){ UNUSED_PARAMETER(p); }
static void hpKeepClose(HpWorker *p){ UNUSED_PARAMETER(p); }
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
