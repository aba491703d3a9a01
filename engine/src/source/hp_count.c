/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_count: the number of entries of a b-tree.
**
**    hpCountRuns()  count those of all runs that a worker takes
**
** All that is wanted of a leaf is the number of its cells.  Of an index the cells
** of interior pages count too.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Count the entries in one run of leaves after the other, in p->nScanned.
*/
static int hpCountRuns(HpExec *p){
  const HpRun *pRun = &p->run;
  int bIndex = p->pPlan->bIndex;
  u8 eType = bIndex ? PTF_ZERODATA|PTF_LEAF : PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF;
  int mxCell = MX_CELL(p->pScan->db->aDb[p->pPlan->iDb].pBt->pBt);
  int rc;
  while( (rc = hpSourceNext(p))==SQLITE_OK && pRun->nPage>0 ){
    int i;
    for(i=0; i<pRun->nPage; i++){
      const u8 *aHdr = &pRun->aBuf[(i64)i*pRun->szPage + pRun->iHdr];
      int nCell = get2byte(&aHdr[3]);
      if( aHdr[0]!=eType || nCell>mxCell ) return HP_DECLINE;
      if( nCell==0 && pRun->bRoot==0 ) return HP_DECLINE;
      p->nScanned += nCell + (bIndex && pRun->aSep[i].z!=0);
    }
    rc = hpScanStopped(p->pScan);
    if( rc ) break;
  }
  return rc;
}
#endif /* SQLITE_OMIT_HP */
