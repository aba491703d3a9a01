/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_count: the number of entries of a b-tree.
**
**    hpCountType    a source that counts, and gives no rows
**
** All that is wanted of a leaf is the number of its cells.  Of an index the cells
** of interior pages count too.  The numbers of rows of runs are kept as columns are
** (hp_columns.c), and known where columns are.  If leaves of a run have changed since these are
** counted, each time.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Memory for a worker: only the header of a page is read.
*/
static int hpCountBegin(HpWorker *p){
  return hpSourceRunInit(p, 8);
}

/*
** Count the entries in the next run of leaves, in p->nScanned.
*/
static int hpCountNext(HpWorker *p){
  HpRun *pRun = &p->pRead->run;
  int bIndex = p->pPlan->source.bIndex;
  u8 eType = bIndex ? PTF_ZERODATA|PTF_LEAF : PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF;
  int mxCell = MX_CELL(hpThreadBt(p->pPipe));
  int i;
  int rc = hpSourceNext(p);
  if( rc ) return rc;
  assert( pRun->bKeep==0 || pRun->pKept==0 );
  assert( pRun->pMend==0 || pRun->pKept==0 );
  for(i=0; i<pRun->nPage && bIndex; i++) p->nScanned += pRun->aSep[i].z!=0;
  if( pRun->pKept ) p->nScanned += pRun->iKeptEnd-pRun->iKeptRow;
#ifdef HP_SHARED
  if( pRun->pMend ) pRun->bKeep = 0;
#endif
  for(i=0; i<pRun->nPage && pRun->pKept==0; i++){
    const u8 *aHdr = &pRun->aBuf[(i64)i*pRun->szPage + pRun->iHdr];
    int nCell = get2byte(&aHdr[3]);
#ifdef HP_SHARED
    if( pRun->pMend && pRun->aChanged[i]==0 ){
      p->nScanned += hpColumnRunLeafRows(pRun->pMend, i);
      continue;
    }
#endif
    if( aHdr[0]!=eType || nCell>mxCell ) return HP_DECLINE;
    if( nCell==0 && pRun->bRoot==0 ) return HP_DECLINE;
    p->nScanned += nCell;
  }
#ifdef HP_SHARED
  if( pRun->bKeep ){
    hpColumnRunAdd(hpSourceColumns(p->pPipe->pSource), pRun, 0, 0, 0, 0, 0);
  }
#endif
  pRun->iLeaf = pRun->nPage;
  return hpThreadStopped(p->pPipe);
}

static const HpSourceType hpCountType = {
  hpCountBegin, hpCountNext, 0, 0, 0, 1
};
#endif /* SQLITE_OMIT_HP */
