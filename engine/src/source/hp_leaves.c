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
** latest, because the next run overwrites the pages that it points into.  Of a run whose
** columns are in memory there are no records: hp_keep.c gives its batches.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Memory for a worker.
*/
static int hpLeavesBegin(HpWorker *p){
  int rc = hpSourceRunInit(p, p->pQuery->pSource->szPage);
  if( rc==SQLITE_OK ) rc = hpKeepInit(p);
  return rc ? rc : hpRecordInit(p);
}

/*
** Fill the batch of p.
*/
static int hpLeavesNext(HpWorker *p){
  HpRun *pRun = &p->run;
  u8 bBound = p->bound.bOn;
  int rc = SQLITE_OK;
  assert( p->batch.nRow==0 && p->batch.nSkip==0 );
  if( pRun->iLeaf>=pRun->nPage ){
    rc = hpSourceNext(p);
    if( rc || pRun->nPage==0 ) return rc;
    pRun->iLeaf = pRun->iCell = 0;
    p->frame.iPos = (u64)pRun->iSeq<<32;
    hpKeepBegin(p);
  }
  if( pRun->pKept ) return hpKeepNext(p);
  if( pRun->bKeep ) p->bound.bOn = 0;    /* All rows are kept */
  do{
    rc = hpCellsLeaf(p, pRun->iLeaf, &pRun->iCell);
    if( rc==SQLITE_OK && pRun->iCell<0 ){
      pRun->iLeaf++;
      pRun->iCell = 0;
    }
  }while( rc==SQLITE_OK && pRun->iLeaf<pRun->nPage && p->batch.nRow<p->batch.nAlloc );
  if( rc==SQLITE_OK ) hpKeepBatch(p);
  p->bound.bOn = bBound;
  return rc;
}

static const HpSourceType hpLeavesType = {
  hpLeavesBegin, hpLeavesNext, hpKeepColumn, 0, 1
};
#endif /* SQLITE_OMIT_HP */
