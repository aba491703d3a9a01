/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_unstash: rows that were put aside (hp_stash.c), as the source of a pipe.
**
**    hpUnstashType     the source
**
** A row is there as a record and its rowid, so the records of a batch are cut
** into columns as those of leaves are, and columns are decoded from them.
** Workers take a batch at a time, in scan order.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Fill the batch of p with the next rows.  Each batch is a run of its own.
*/
static int hpUnstashNext(HpWorker *p){
  HpStash *pStash = p->pPipe->pStash;
  HpBatch *pBatch = &p->pRead->batch;
  HpCells cells;
  i64 iRow;
  int i, k, n;
  assert( pBatch->nRow==0 );
  hpThreadLock(p->pPipe);
  iRow = pStash->iNext;
  n = (int)MIN(pBatch->nAlloc, pStash->nRow-iRow);
  pStash->iNext += n;
  p->pRead->run.iSeq = pStash->iSeq++;
  assert( n>=0 && pStash->iNext<=pStash->nRow );
  hpThreadUnlock(p->pPipe);
  p->frame.iPos = (u64)p->pRead->run.iSeq<<32;
  p->pRead->run.nPage = p->pRead->run.iLeaf = n>0;
  for(i=0; i<n; i+=HP_CUT){
    int m = MIN(HP_CUT, n-i);
    int rc;
    for(k=0; k<m; k++){
      HpStashRow *pRow = pStash->apRow[iRow+i+k];
      cells.az[k] = (const u8*)&pRow[1];
      cells.aByte[k] = pRow->nByte;
      cells.aLocal[k] = pRow->nLocal;
      pBatch->aRowid[i+k] = pRow->iRowid;
    }
    rc = hpRecordCut(p, &cells, m);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

static const HpSourceType hpUnstashType = {
  hpRecordInit, hpUnstashNext, hpDecodeColumn, 0, 0, 0
};
#endif /* SQLITE_OMIT_HP */
