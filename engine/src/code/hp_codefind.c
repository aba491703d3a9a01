/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_codefind: a correlated sub-select looks its group up (prepare time).
**
**    sqlite3HpCodeRow()    an aggregate without GROUP BY: look groups up, or
**                          leave it to hpCodeGroupRow()
**    hpCodeFindExists()    EXISTS: look groups up
**
** SQLite runs the loop of a correlated sub-select anew for each row around it.
** If that is a scan of a whole table, and all that ties it to the row are
** equalities,
**
**    (SELECT sum(v) FROM t WHERE t.k=outer.x AND t.w>5)
**
** then one scan, grouped by the inner sides, here t.k, has the answers for all
** rows: hp_find.c.  Stock's code for the sub-select stays, with a branch before
** its loop: hpDeliverFind() has a drawing.
**
** Where stock finds the rows by an index each time, that is done only if
** executions are long, since most are for few rows around it (hpCompileLong()).
**
** So a missing group is what stock makes of no rows.  Of EXISTS the noted
** instruction is the OP_Rewind of the loop, and OP_HpFind sets the result.
**
** It is for all statements, whatever is around the sub-select.  What may not be
** done for rows that SQLite would not have come to, or more often, is refused:
** functions that fail or are the application's, on either side.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Are the functions of pAggInfo, at a glance, ones that groups can be found
** of? */
static int hpCodeFindMayAgg(const AggInfo *pAggInfo){
  int i;
  for(i=0; i<pAggInfo->nFunc; i++){
    const struct AggInfo_func *p = &pAggInfo->aFunc[i];
    if( p->iDistinct>=0 || p->iOBTab>=0 ) return 0;
    if( p->pFunc->xSFunc!=countStep && p->pFunc->xSFunc!=sumStep
     && p->pFunc->xSFunc!=minmaxStep
    ){
      return 0;
    }
  }
  return 1;
}

/*
** Correlated sub-select p, an aggregate without GROUP BY, has been coded up to
** the end of its loop.  iHp is the address of the instruction that resets the
** accumulators. Returns true if groups are looked up.
*/
static int hpCodeFindRow(Parse *pParse, Select *p, AggInfo *pAggInfo, int iHp){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  assert( (p->selFlags & SF_Correlated)!=0 && p->pGroupBy==0 );
  if( p->pSrc->nSrc!=1 || pAggInfo->nAccumulator || !hpSpliceIsNull(v, iHp)
   || (p->pSrc->a[0].hp.bWhole==0 && p->pSrc->a[0].hp.bFind==0)
   || !hpWorthIt(pParse, &p->pSrc->a[0], HP_MIN_LEAF)
  ){
    return 0;
  }
  if( p->pSrc->a[0].hp.bFind && p->pSrc->a[0].hp.bUnlikely ){
    if( hpCodeFindMayAgg(pAggInfo) ) hpCompileLong(pParse);
    return hpConfigStat(pParse->db, HP_NO_PLAN);
  }
  pPlan = hpOutKeyed(pParse, p, pAggInfo);
  if( pPlan==0 ) return 0;
  hpExplainFind(pParse, pPlan, &p->pSrc->a[0], sqlite3VdbeCurrentAddr(v)-1);
  hpDeliverFind(pParse, pPlan, pAggInfo, iHp);
  return 1;
}

/*
** Code an aggregate query without GROUP BY.  Called after stock's loop, before
** the aggregates are finished.  iHp comes from sqlite3HpAccept().
*/
SQLITE_PRIVATE void sqlite3HpCodeRow(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  int iHp
){
  int bFind = p->pSrc->a[0].hp.bFind;
  if( iHp==0 || pParse->nErr ) return;
  if( (p->selFlags & SF_Correlated)!=0
   && hpCodeFindRow(pParse, p, pAggInfo, iHp)
  ){
    return;
  }
  if( !bFind ){
    hpCodeGroupRow(pParse, p, pAggInfo, iHp);
  }
}

/*
** The loop of correlated sub-select p has been coded, its OP_Rewind at
** iRewind.  If there is a row register iResult is to be 1.  Returns true if
** that is looked up.
*/
static int hpCodeFindExists(Parse *pParse, Select *p, int iRewind, int iResult){
  HpScanLoop loop;
  HpPlan *pPlan;
  int n;
  assert( (p->selFlags & SF_Correlated)!=0 && p->pGroupBy==0 );
  assert( iResult>0 && iResult<=pParse->nMem );
  if( p->pSrc->nSrc!=1 || p->iOffset
   || !hpSpliceScan(pParse->pVdbe, iRewind, &loop)
   || !sqlite3ExprIsInteger(p->pLimit->pLeft, &n, 0, 0) || n!=1
   || !hpWorthIt(pParse, &p->pSrc->a[0], HP_MIN_LEAF)
   || !hpSafe(pParse, 0, p->pEList, 0)
  ){
    return 0;
  }
  pPlan = hpOutKeyed(pParse, p, 0);
  if( pPlan==0 ) return 0;
  hpExplainFind(pParse, pPlan, &p->pSrc->a[0], iRewind);
  hpDeliverExists(pParse, pPlan, &loop, iResult);
  return 1;
}
#endif /* SQLITE_OMIT_HP */
