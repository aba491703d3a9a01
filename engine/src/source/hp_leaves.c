/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_leaves: rows of leaf pages, a batch at a time.
**
**    hpLeavesType    the source of all scans that read values
**
** A pipe asks for batch after batch.  A batch ends with its run of leaves at the
** latest, because the next run overwrites the pages that it points into.  If the run is kept a batch
** ends with a leaf, so that leaves that change can be put into it again (hp_mend.c).  Of a run whose
** columns are in memory there are no records: hp_keep.c gives its batches.  If some of its leaves have
** changed since, hp_mend.c comes first.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Memory for a worker.
*/
static int hpLeavesBegin(HpWorker *p){
  int rc = hpSourceRunInit(p, p->pPipe->pSource->szPage);
  if( rc==SQLITE_OK ) rc = hpKeepInit(p);
  return rc ? rc : hpRecordInit(p);
}

/* The run is kept: does the batch end before leaf iLeaf, which it has no room for? */
static int hpLeavesIsFull(const HpWorker *p){
  const HpRun *pRun = &p->pRead->run;
  const u8 *aHdr = &pRun->aBuf[(i64)pRun->iLeaf*pRun->szPage + pRun->iHdr];
  return pRun->bKeep && pRun->iCell==0 && p->pRead->batch.nRow>0
      && get2byte(&aHdr[3])>p->pRead->batch.nAlloc-p->pRead->batch.nRow;
}

/*
** Fill the batch of p.
*/
static int hpLeavesNext(HpWorker *p){
  HpRun *pRun = &p->pRead->run;
  const HpBatch *pBatch = &p->pRead->batch;
  u8 bBound = p->pRead->bound.bOn;
  int rc = SQLITE_OK;
  assert( pBatch->nRow==0 && pBatch->nSkip==0 );
  if( pRun->iLeaf>=pRun->nPage ){
    rc = hpSourceNext(p);
    if( rc || pRun->nPage==0 ) return rc;
    pRun->iLeaf = pRun->iCell = 0;
    p->frame.iPos = (u64)pRun->iSeq<<32;
    if( pRun->pMend ) rc = hpMendRun(p);
    if( rc ) return rc;
    if( pRun->pKept && (pRun->mBound & 4)!=0 && !hpKeepIsInOrder(p) ) return HP_DECLINE;
    hpKeepBegin(p);
  }
  if( pRun->pKept ) return hpKeepNext(p);
  assert( pRun->pMend==0 && pRun->iLeaf<pRun->nPage && pRun->iCell>=0 );
  if( pRun->bKeep ) p->pRead->bound.bOn = 0;    /* All rows are kept */
  do{
    rc = hpCellsLeaf(p, pRun->iLeaf, &pRun->iCell);
    if( rc==SQLITE_OK && pRun->iCell<0 ){
      pRun->iLeaf++;
      pRun->iCell = 0;
    }
  }while( rc==SQLITE_OK && pRun->iLeaf<pRun->nPage
       && pBatch->nRow<pBatch->nAlloc && !hpLeavesIsFull(p) );
  if( rc==SQLITE_OK ) hpKeepBatch(p);
  p->pRead->bound.bOn = bBound;
  return rc;
}

static const HpSourceType hpLeavesType = {
  hpLeavesBegin, hpLeavesNext, hpKeepColumn, hpKeepSegment, 0, 1
};
#endif /* SQLITE_OMIT_HP */
