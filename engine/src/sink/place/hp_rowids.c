/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_rowids: the rows that pass the filters.
**
**    hpRowidsOpen()    begin
**    hpRowidsRows()    note the selected rows of a frame
**    hpRowidsRun()     a run of leaves is done
**    hpRowidsCost()    are they too many?
**
** For a WHERE clause, piece by piece (hp_piece.c).  It is worth it where few rows
** pass.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Nanoseconds, about: SQLite goes to another leaf, and tests a row, with operations
** that are calls, and others; we do the same; SQLite goes to a row that is found, or
** looks one of another table up.  (Six
** million rows of 29 a leaf, one comparison: all the rows are found in 1.5 times
** SQLite's time by one worker, 9 percent of them in the same.)
*/
#define HP_NS_LEAF     700
#define HP_NS_ROW       25
#define HP_NS_CALL      40
#define HP_NS_OP         8
#define HP_NS_OUR_LEAF 400
#define HP_NS_OUR_ROW    8
#define HP_NS_SEEK      45
#define HP_NS_LOOKUP   300

/*
** Begin.
*/
static int hpRowidsOpen(HpWorker *p, Mem *aMem){
  UNUSED_PARAMETER(aMem);
  return hpFoundOpen(p, sizeof(HpFound));
}

/*
** The selected rows of a frame.
*/
static int hpRowidsRows(HpWorker *pWorker, HpFrame *p){
  HpFound *pFound = pWorker->pSink;
  int ii;
  int rc = hpFoundReserve(pFound, p->nSel);
  if( rc ) return rc;
  assert( pFound->nPlace+p->nSel<=pFound->nAlloc );
  assert( p->pSource->bValues==0 );  /* Rows have places */
  for(ii=0; ii<p->nSel && pFound->pPlan->bByRowid; ii++){
    i64 iRowid = pWorker->pRead->batch.aRowid[p->aSel[ii]];
    /* Others would not be found again in the order of the scan */
    assert( pFound->nPlace==0 || pFound->aPlace[pFound->nPlace-1]<iRowid );
    pFound->aPlace[pFound->nPlace++] = iRowid;
  }
  for(; ii<p->nSel; ii++){
    pFound->aPlace[pFound->nPlace] = hpFoundPlace(pFound, p->aSel[ii], 0);
    if( pFound->aPlace[pFound->nPlace++]<0 ) return HP_DECLINE;
  }
  hpFoundEnough(pFound);
  return SQLITE_OK;
}

/*
** True if finding nFound rows of nRow rows on nLeaf leaves costs more than it saves.
*/
static int hpRowidsCost(const HpPipe *p, i64 nFound, i64 nRow, i64 nLeaf){
  const HpProg *pProg = &p->pPlan->prog;
  int nWorker = MIN(p->mxWorker, 4);
  i64 nsRow = HP_NS_ROW;
  int i;
  assert( nFound>=0 && nFound<=nRow && nWorker>0 );
  for(i=0; i<pProg->nOp; i++){
    u8 eOp = pProg->aOp[i].eOp;
    if( pProg->aOp[i].bConst || eOp==HP_OP_COLUMN ) continue;
    nsRow += eOp==HP_OP_LOOKUP ? HP_NS_LOOKUP
           : eOp==HP_OP_LIKE || eOp==HP_OP_FUNC ? HP_NS_CALL : HP_NS_OP;
  }
  return (nLeaf*HP_NS_OUR_LEAF + nRow*HP_NS_OUR_ROW)/nWorker
            + nFound*(HP_NS_SEEK + nsRow) + MIN(nFound, nLeaf)*HP_NS_LEAF
            > nRow*nsRow + nLeaf*HP_NS_LEAF;
}

/*
** Are too many rows found, in this run and in all?
*/
static int hpRowidsIsMany(const HpFound *pFound, i64 nRow){
  const HpWorker *p = pFound->pWorker;
  return hpFoundKnows(pFound)
      && hpRowidsCost(p->pPipe, pFound->nPlace-pFound->nBefore, nRow,
                      p->pRead->run.nPage)
      && hpRowidsCost(p->pPipe, pFound->nPlace, p->nScanned, pFound->nLeaf);
}
static void hpRowidsRun(HpWorker *p){
  hpFoundRun(p, hpRowidsIsMany);
}
#endif /* SQLITE_OMIT_HP */
