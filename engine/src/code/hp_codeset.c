/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_codeset: the values of IN (SELECT ...) in any order (prepare time).
**
**    hpCodeSetAccept()    may that be?  Note what the planner chose
**    hpCodeSet()          make the plan, and emit OP_HpScan and OP_HpNext
**
** SQLite puts the rows of such a SELECT into a table of its own, so nobody sees
** in which order they come, nor how often.  If it is a join, or has correlated
** sub-selects, it may be taken over as if it were SELECT ... GROUP BY all its
** columns: any table that reaches the others is scanned (hp_lop.c), whatever
** SQLite's loops begin with. hpDeliverSet() has a drawing.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The planner has chosen pWInfo for p, whose rows go to pDest.  bScan: the
** outermost loop scans all of its table.  If the rows may be values of a set
** note what hpCodeSet() wants to know of the loops, and return true.
*/
static int hpCodeSetAccept(
  Parse *pParse,
  const Select *p,
  WhereInfo *pWInfo,
  const SelectDest *pDest,
  int bScan
){
  const SrcList *pSrc = p->pSrc;
  int i;
  if( pDest->eDest!=SRT_Set || pParse->nested || pParse->nErr
   || pParse->pIdxEpr
  ){
    return 0;
  }
  if( p->pPrior || p->pNext || p->pLimit || p->pWin || p->pOrderBy ) return 0;
  if( (p->selFlags & SF_Correlated)!=0 || pWInfo->nLevel<1 ) return 0;
  if( pSrc->nSrc<2 && !hpSubselectAny(p->pWhere) ) return 0;
  if( ENC(pParse->db)!=SQLITE_UTF8
   || hpConfigOffload(pParse->db)==HP_OFFLOAD_OFF
  ){
    return 0;
  }
  for(i=0; i<pSrc->nSrc; i++){
    const SrcItem *pItem = &pSrc->a[i];
    if( pItem->fg.isRecursive || pItem->fg.isIndexedBy
     || !hpSubselectIsTable(pItem)
    ){
      return 0;
    }
  }
  hpChoiceNote(pWInfo, bScan, 0, 0);
  return 1;
}

/*
** The loops of p have been coded, whose rows are values of set pDest, and
** hpCodeSetAccept() has said yes.  Code the same by a scan.  Returns false if
** that is not done.
*/
static int hpCodeSet(Parse *pParse, Select *p, const SelectDest *pDest){
  HpJoin *pJoin;
  HpPlan *pPlan;
  int iStart;
  assert( pDest->eDest==SRT_Set );
  iStart = hpSpliceSet(pParse->pVdbe, pDest->iSDParm);
  if( iStart==0 ) return 0;
  pJoin = hpRootAnyJoin(pParse, p);
  if( pJoin==0 ) return 0;
  pPlan = hpOutSet(pParse, p, pDest->zAffSdst, pJoin);
  if( pPlan ) hpExplainJoin(pParse, pJoin);
  hpLopFree(pJoin);
  if( pPlan==0 ) return 0;
  /* EXPLAIN QUERY PLAN: it is scanned */
  hpLopRoot(p->pSrc)->hp.bMoved = 1;
  hpExplain(pParse, iStart, 0, p->pSrc);
  hpDeliverSet(pParse, pPlan, iStart, p->pEList->nExpr, pDest);
  return 1;
}
#endif /* SQLITE_OMIT_HP */
