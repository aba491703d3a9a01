/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_plan: an aggregate query goes into the statement's program (prepare time).
**
**    sqlite3HpCodeGroups()  after SQLite's code: code ours (GROUP BY)
**    hpPlanCodeRow()        the same without GROUP BY (sqlite3HpCodeRow())
**
** sqlite3Select() calls sqlite3HpBegin(), sqlite3HpAccept() (hp_choice.c) and
** one of these, in this order, while it generates code for an aggregate query.
** SQLite's code is generated in any case.  Begin notes the instruction before
** the scan that resets the accumulators, and if all goes well the last call
** replaces that instruction by a jump to a copy of it:
**
**           reset -> Goto hp         the noted instruction
**    next:  ...                      SQLite: scan, sort, step
**           Goto done
**    hp:    reset                    the copy
**           ...                      constants into registers
**           HpScan  P1=r P2=next     run; on HP_DECLINE jump to SQLite's code
**    loop:  HpNext  P1=r P2=done     keys, columns, contexts into registers
**           Gosub output             SQLite: finish, HAVING, ORDER BY, result
**           Goto loop
**    done:
**
** The table to scan is chosen first (hp_root.c), then the plan is compiled
** (hp_aggplan.c), and put into the program (hp_emit.c).  Each of these steps
** may refuse the query; then nothing has been coded.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Code the instruction at iHp and the scan, and turn the instruction at iHp
** into a jump to here.  Returns the register that holds the execution.
*/
static int hpPlanCodeAgg(
  Parse *pParse,
  Select *p,
  HpPlan *pPlan,
  int iHp,
  int iLoopEnd           /* SQLite's loops end before this instruction */
){
  Vdbe *v = pParse->pVdbe;
  int regExec = ++pParse->nMem;
  int i;

  assert( iHp>0 );
  if( hpPlanIsArms(pPlan) ){
    hpExplain(pParse, p->pSrc->a[0].u4.pSubq->addrFillSub, 0, 0);
  }else{
    hpExplain(pParse, iHp, hpPlanLast(pPlan)->pGroup->bAnyOrder,
                  pPlan->nPipe>1 ? p->pSrc : 0);
  }
  /* As sqlite3HpBegin() found it */
  assert( sqlite3VdbeGetOp(v, iHp)->opcode==OP_Null
         || sqlite3VdbeGetOp(v, iHp)->opcode==OP_Gosub
       || pParse->db->mallocFailed );
  assert( iHp<iLoopEnd || pParse->db->mallocFailed );
  hpEmitDetour(pParse, iHp);
  pPlan->iLoop = iHp+1;
  pPlan->iLoopEnd = iLoopEnd;
  i = hpEmitScan(pParse, pPlan, regExec);
  sqlite3VdbeChangeP2(v, i, iHp+1);
  return regExec;
}

/*
** What follows the instruction at iHp opens a table for each aggregate with
** ORDER BY inside, which stock's code for the result reads.  Open them here
** too: they stay empty.  With GROUP BY the copy of the instruction at iHp does
** that.
*/
static void hpPlanCodeOrder(Parse *pParse, AggInfo *pAggInfo, int iHp){
  Vdbe *v = pParse->pVdbe;
  int nOp = sqlite3VdbeCurrentAddr(v);
  int i, k;
  for(k=0; k<pAggInfo->nFunc; k++){
    int iTab = pAggInfo->aFunc[k].iOBTab;
    for(i=iHp+1; iTab>=0 && i<nOp; i++){
      VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
      if( pOp->opcode==OP_OpenEphemeral && pOp->p1==iTab ){
        KeyInfo *pKeyInfo = sqlite3KeyInfoRef(pOp->p4.pKeyInfo);
        sqlite3VdbeAddOp4(v, OP_OpenEphemeral, iTab, pOp->p2, 0,
                          (char*)pKeyInfo, P4_KEYINFO);
        break;
      }
    }
    assert( iTab<0 || i<nOp || pParse->db->mallocFailed );
  }
}

/*
** Code an aggregate query without GROUP BY.  Called after stock's loop, before
** the aggregates are finished.  iHp comes from sqlite3HpAccept().
*/
static void hpPlanCodeRow(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  int iHp
){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  HpGroupPlan *pGroup;
  HpJoin *pJoin;
  int addrSkip, addrNext, regExec;
  assert( p->pGroupBy==0 && iHp!=0 );
  if( !hpRootChoose(pParse, p, pAggInfo, &pJoin) ) return;
  pPlan = hpAggPlan(pParse, p, pAggInfo, 0, pJoin);
  if( pPlan==0 ) return;
  pGroup = hpPlanLast(pPlan)->pGroup;
  assert( pGroup->keys.n==0 && pGroup->nAgg==pAggInfo->nFunc );
  pGroup->iBareReg = AggInfoColumnReg(pAggInfo, 0);
  pGroup->iFuncReg = AggInfoFuncReg(pAggInfo, 0);
  addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  regExec = hpPlanCodeAgg(pParse, p, pPlan, iHp, addrSkip);
  hpPlanCodeOrder(pParse, pAggInfo, iHp);
  addrNext = sqlite3VdbeAddOp1(v, OP_HpNext, regExec);
  sqlite3VdbeJumpHere(v, addrNext);
  sqlite3VdbeJumpHere(v, addrSkip);
}

/* Walker callback: stop at an aggregate function */
static int hpPlanWalkAgg(Walker *pWalker, Expr *pExpr){
  if( pExpr->op!=TK_AGG_FUNCTION ) return WRC_Continue;
  pWalker->eCode = 1;
  return WRC_Abort;
}

/*
** Does SQLite surely sort the groups of p by its ORDER BY clause?  It does if
** that is not the GROUP BY clause over again; columns have been resolved on
** both sides, but in one of them have become those of the aggregate.
*/
static int hpPlanSorts(const Select *p){
  const ExprList *pOrder = p->pOrderBy;
  const ExprList *pGroup = p->pGroupBy;
  Walker w;
  int i;
  if( pOrder==0 ) return 0;
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpPlanWalkAgg;
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
static int hpPlanMayStop(const Select *p, const SelectDest *pDest){
  assert( hpOrderIsGiven(hpLopRoot(p->pSrc)->hp.eOrder) );
  if( hpPlanSorts(p) ) return 0;
  return p->pLimit!=0
      /* Of a co-routine the query around it has said so */
      || (pDest->eDest==SRT_Coroutine && pDest->iSDParm2);
}

/*
** Where stock's loops end for GROUP BY: at addrEnd, or where rows are sorted
** that they have put into cursor iSort.
*/
static int hpPlanSorted(Vdbe *v, int iHp, int addrEnd, int iSort){
  int i;
  assert( iHp<addrEnd || v->db->mallocFailed );
  for(i=iHp+1; i<addrEnd; i++){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->opcode==OP_SorterSort && pOp->p1==iSort ) return i;
  }
  return addrEnd;
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
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  HpGroupPlan *pGroup;
  HpJoin *pJoin;
  int addrSkip, addrNext, regExec;
  if( iHp==0 || pParse->nErr || pKeyInfo==0 ) return;
  if( hpOrderIsGiven(hpLopRoot(p->pSrc)->hp.eOrder)
   && hpPlanMayStop(p, pDest) ){
    hpConfigStat(pParse->db, HP_NO_PLAN);
    return;
  }
  if( !hpRootChoose(pParse, p, pAggInfo, &pJoin) ) return;
  pPlan = hpAggPlan(pParse, p, pAggInfo, pKeyInfo, pJoin);
  if( pPlan==0 ) return;
  pGroup = hpPlanLast(pPlan)->pGroup;
  assert( iAMem>0 && iUseFlag>0 && pGroup->keys.n>0 );
  assert( pGroup->keys.n<=pKeyInfo->nKeyField );
  assert( pGroup->nAgg==pAggInfo->nFunc );
  pGroup->bStream = hpOrderIsGiven(hpLopRoot(p->pSrc)->hp.eOrder);
  pGroup->iKeyReg = iAMem;
  pGroup->iBareReg = AggInfoColumnReg(pAggInfo, 0);
  pGroup->iFuncReg = AggInfoFuncReg(pAggInfo, 0);
  addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  regExec = hpPlanCodeAgg(pParse, p, pPlan, iHp,
                          hpPlanSorted(v, iHp, addrSkip, pAggInfo->sortingIdx));
  sqlite3VdbeAddOp2(v, OP_Integer, 1, iUseFlag);
  addrNext = sqlite3VdbeAddOp1(v, OP_HpNext, regExec);
  sqlite3VdbeAddOp2(v, OP_Gosub, regOutput, addrOutput);
  sqlite3VdbeAddOp2(v, OP_IfPos, iAbortFlag, addrEnd);
  sqlite3VdbeAddOp2(v, OP_Goto, 0, addrNext);
  sqlite3VdbeJumpHere(v, addrNext);
  sqlite3VdbeJumpHere(v, addrSkip);
}
#endif /* SQLITE_OMIT_HP */
