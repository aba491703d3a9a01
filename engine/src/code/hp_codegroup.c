/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_codegroup: an aggregate query goes into the statement's program (prepare
** time).
**
**    sqlite3HpCodeGroups()  after SQLite's code: code ours (GROUP BY)
**    hpCodeGroupRow()       the same without GROUP BY (sqlite3HpCodeRow())
**
** sqlite3Select() calls sqlite3HpBegin(), sqlite3HpAccept() (hp_choice.c) and
** one of these, in this order, while it generates code for an aggregate query.
** SQLite's code is generated in any case.  Begin notes the instruction before
** the scan that resets the accumulators, and if all goes well the last call
** replaces that instruction by a jump to ours: hpDeliverGroups() and
** hpDeliverAggs() have drawings.
**
** The table to scan is chosen first (hp_root.c), then the plan is compiled
** (hp_outgroup.c), and put into the program (hp_deliver.c).  Each of these
** steps may refuse the query; then nothing has been coded.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** In EXPLAIN QUERY PLAN say what pPlan does, from address iHp on.
*/
static void hpCodeGroupExplain(
  Parse *pParse,
  const Select *p,
  const HpPlan *pPlan,
  int iHp
){
  assert( iHp>0 );
  if( hpPlanIsArms(pPlan) ){
    hpExplain(pParse, p->pSrc->a[0].u4.pSubq->addrFillSub, 0, 0);
  }else{
    hpExplain(pParse, iHp, hpPlanLast(pPlan)->pGroup->bAnyOrder,
              pPlan->nPipe>1 ? p->pSrc : 0);
  }
}

/*
** Code an aggregate query without GROUP BY.  Called after stock's loop, before
** the aggregates are finished.  iHp comes from sqlite3HpAccept().
*/
static void hpCodeGroupRow(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  int iHp
){
  HpPlan *pPlan;
  HpJoin *pJoin;
  assert( p->pGroupBy==0 && iHp!=0 );
  if( !hpRootChoose(pParse, p, pAggInfo, &pJoin) ) return;
  pPlan = hpOutGroup(pParse, p, pAggInfo, 0, pJoin);
  if( pPlan && pJoin ) hpExplainJoin(pParse, pJoin);
  hpLopFree(pJoin);
  if( pPlan==0 ) return;
  hpCodeGroupExplain(pParse, p, pPlan, iHp);
  hpDeliverAggs(pParse, pPlan, pAggInfo, iHp);
}

/* Walker callback: stop at an aggregate function */
static int hpCodeGroupWalkAgg(Walker *pWalker, Expr *pExpr){
  if( pExpr->op!=TK_AGG_FUNCTION ) return WRC_Continue;
  pWalker->eCode = 1;
  return WRC_Abort;
}

/*
** Does SQLite surely sort the groups of p by its ORDER BY clause?  It does if
** that is not the GROUP BY clause over again; columns have been resolved on
** both sides, but in one of them have become those of the aggregate.
*/
static int hpCodeGroupSorts(const Select *p){
  const ExprList *pOrder = p->pOrderBy;
  const ExprList *pGroup = p->pGroupBy;
  Walker w;
  int i;
  if( pOrder==0 ) return 0;
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpCodeGroupWalkAgg;
  w.xSelectCallback = sqlite3SelectWalkNoop;
  sqlite3WalkExprList(&w, (ExprList*)pOrder);
  if( w.eCode || pOrder->nExpr!=pGroup->nExpr ) return 1;
  for(i=0; i<pOrder->nExpr; i++){
    const Expr *a = sqlite3ExprSkipCollateAndLikely(pOrder->a[i].pExpr);
    const Expr *b = sqlite3ExprSkipCollateAndLikely(pGroup->a[i].pExpr);
    int bA = a->op==TK_COLUMN || a->op==TK_AGG_COLUMN;
    int bB = b->op==TK_COLUMN || b->op==TK_AGG_COLUMN;
    if( bA!=bB || (bA && (a->iTable!=b->iTable || a->iColumn!=b->iColumn)) ){
      return 1;
    }
  }
  return 0;
}

/*
** SQLite gives the groups of p as its scan comes to them.  May it stop before
** the last one?  Not if it sorts them.
*/
static int hpCodeGroupMayStop(const Select *p, const SelectDest *pDest){
  assert( hpOrderIsGiven(hpLopRoot(p->pSrc)->hp.eOrder) );
  if( hpCodeGroupSorts(p) ) return 0;
  return p->pLimit!=0
      /* Of a co-routine the query around it has said so */
      || (pDest->eDest==SRT_Coroutine && pDest->iSDParm2);
}

/*
** Code an aggregate query with GROUP BY.  Called after stock's code for the
** groups, where the program goes on when all of them are delivered.
*/
SQLITE_PRIVATE void sqlite3HpCodeGroups(
  Parse *pParse,
  Select *p,
  SelectDest *pDest,     /* Where the result goes */
  AggInfo *pAggInfo,
  int iHp,               /* From sqlite3HpAccept() */
  KeyInfo *pKeyInfo,     /* Collation and order of the GROUP BY terms */
  int iAMem,             /* First register of the terms */
  int iUseFlag,          /* Register: there is a group to output */
  int iAbortFlag,        /* Register: the output wants no more */
  int regOutput,         /* Return address of the output subroutine */
  int addrOutput,        /* The output subroutine */
  int addrEnd            /* Go here when the output wants no more */
){
  HpPlan *pPlan;
  HpJoin *pJoin;
  HpGroupsTo out;
  if( iHp==0 || pParse->nErr || pKeyInfo==0 ) return;
  if( hpOrderIsGiven(hpLopRoot(p->pSrc)->hp.eOrder)
   && hpCodeGroupMayStop(p, pDest) ){
    hpConfigStat(pParse->db, HP_NO_PLAN);
    return;
  }
  if( !hpRootChoose(pParse, p, pAggInfo, &pJoin) ) return;
  pPlan = hpOutGroup(pParse, p, pAggInfo, pKeyInfo, pJoin);
  if( pPlan && pJoin ) hpExplainJoin(pParse, pJoin);
  hpLopFree(pJoin);
  if( pPlan==0 ) return;
  assert( hpPlanLast(pPlan)->pGroup->keys.n<=pKeyInfo->nKeyField );
  hpPlanLast(pPlan)->pGroup->bStream
      = hpOrderIsGiven(hpLopRoot(p->pSrc)->hp.eOrder);
  out.regKey = iAMem;
  out.regUse = iUseFlag;
  out.regAbort = iAbortFlag;
  out.addrAbort = addrEnd;
  out.regReturn = regOutput;
  out.addrOutput = addrOutput;
  hpCodeGroupExplain(pParse, p, pPlan, iHp);
  hpDeliverGroups(pParse, pPlan, pAggInfo, iHp, &out);
}
#endif /* SQLITE_OMIT_HP */
