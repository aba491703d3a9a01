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
**
** For a WHERE clause before something that takes all rows in one step.  It is worth
** it where few rows pass (hp_found.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* About what it costs stock to go to a row found, and to fetch another leaf,
** and what it saves not to filter a row and not to fetch a leaf: nanoseconds */
#define HP_NS_SEEK     150
#define HP_NS_FETCH    1200
#define HP_NS_ROW      12
#define HP_NS_LEAF     400

/*
** Begin.
*/
static int hpRowidsOpen(HpWorker *p, Mem *aMem){
  int rc = hpFoundOpen(p, sizeof(HpFound));
  UNUSED_PARAMETER(aMem);
  if( rc || hpFoundIsLarge(p->pSink) ) return rc;
  p->pQuery->bSmall = 1;
  return HP_DECLINE;
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
  for(ii=0; ii<p->nSel; ii++){
    pFound->aPlace[pFound->nPlace] = hpFoundPlace(pFound, p->aSel[ii], 0);
    if( pFound->aPlace[pFound->nPlace++]<0 ) return HP_DECLINE;
  }
  hpFoundEnough(pFound);
  return SQLITE_OK;
}

/*
** True if nFound rows of nRow rows on nLeaf leaves cost more than they save.
*/
static int hpRowidsCost(i64 nFound, i64 nRow, i64 nLeaf){
  return nFound*HP_NS_SEEK + MIN(nFound, nLeaf)*HP_NS_FETCH
            > nRow*HP_NS_ROW + nLeaf*HP_NS_LEAF;
}

/*
** Are too many rows found, in this run and in all?
*/
static int hpRowidsIsMany(const HpFound *pFound, i64 nRow){
  const HpWorker *p = pFound->pWorker;
  return hpFoundKnows(pFound)
      && hpRowidsCost(pFound->nPlace-pFound->nBefore, nRow, p->run.nPage)
      && hpRowidsCost(pFound->nPlace, p->nScanned, pFound->nLeaf);
}
static void hpRowidsRun(HpWorker *p){
  hpFoundRun(p, hpRowidsIsMany);
}
#endif /* SQLITE_OMIT_HP */
