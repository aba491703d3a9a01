/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_place: where in its b-tree a row of a batch is.
**
**    hpPlaceOf()      the place of a row of the batch
**    hpPlaceLast()    that of the last row of the run
**
** A place (HP_PLACE) is the number of a run, the leaf in it, and the cell in that.
** As a number it increases in scan order.  Macros in hpSource.h take it apart.
** A cursor finds the leaf by the ways to all runs: hpSourceWays().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The place of row i of the batch, which comes after all that were asked for
** before: iLast is the last of them, -1 if there is none.  Its cell is looked for
** after that one, by where its record begins: so all cells of a leaf are gone
** through once, and one of two cells that share a record is not found twice.
**
** If bAll the record is to be sound as far as its header tells, for stock's loop
** reads other columns of it than the scan does.
**
** Returns -1 if there is no such cell, or if the record is not sound.  Of a run whose columns
** are in memory rows are cells, and records have been found sound where that matters.
*/
static i64 hpPlaceOf(const HpWorker *p, int i, i64 iLast, int bAll){
  const HpRun *pRun = &p->pRead->run;
  const BtShared *pBt = hpThreadBt(p->pPipe);
  const u8 *z, *aPage, *aHdr;
  int iLeaf, nCell, iRec;
  int iCell = 0;
  if( pRun->pKept ){
    return hpColumnRunPlace(pRun, pRun->iKeptRow+(u32)i);
  }
  z = p->pRead->batch.apRec[i];
  iLeaf = (int)((z - pRun->aBuf)/pRun->szPage);
  aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  aHdr = &aPage[pRun->iHdr];
  nCell = get2byte(&aHdr[3]);
  iRec = (int)(z - aPage);
  if( hpPlaceSeq(iLast)==pRun->iSeq && hpPlaceLeaf(iLast)==iLeaf ){
    iCell = hpPlaceCell(iLast)+1;
  }
  assert( i<p->pRead->batch.nRow && iLeaf>=0 && iLeaf<pRun->nPage );
  assert( i>=0 && z>aHdr && iRec<pRun->szPage );
  for(; iCell<nCell; iCell++){
    int ofst = get2byte(&aHdr[8+2*iCell]);
    u32 nByte;
    if( (u32)(iRec-ofst-2)<=16
     && hpCellsHead(&aPage[ofst], &nByte, 0)==iRec-ofst
    ){
      if( bAll && !hpRecordIsSound(pBt, z, nByte) ) return -1;
      return HP_PLACE(pRun->iSeq, iLeaf, iCell);
    }
  }
  return -1;
}

/*
** The place of the last row of the run.
*/
static i64 hpPlaceLast(const HpWorker *p){
  const HpRun *pRun = &p->pRead->run;
  int iLeaf = pRun->nPage-1;
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  assert( pRun->nPage>0 && (pRun->pKept==0 || pRun->iKeptEnd>0) );
  if( pRun->pKept ) return hpColumnRunPlace(pRun, pRun->iKeptEnd-1);
  return HP_PLACE(pRun->iSeq, iLeaf, get2byte(&aPage[pRun->iHdr+3])-1);
}
#endif /* SQLITE_OMIT_HP */
