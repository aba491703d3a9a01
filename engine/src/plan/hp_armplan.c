/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_armplan: aggregates over a UNION ALL, of tables that are parts of one, say
** (prepare time).
**
**    hpArmPlanCount()    how many arms has a term of FROM, if they are all ours?
**    hpArmPlanFirst()    the first one, and ...
**    hpArmPlanNext()     ... the one after
**    hpArmPlanEnter()    go on with an arm: compile for its pipe
**    hpArmPlanWhere()    its filters
**
** SQLite runs such a sub-select as a co-routine, row after row:
**
**    SELECT k, sum(x) FROM (SELECT k, x FROM a WHERE x>0
**                           UNION ALL SELECT k, 2*x FROM b) WHERE k<9 GROUP BY k
**
** Each arm is a pipe of its own, with filters, keys and arguments; all of them have one
** sink (HpPipePlan.bMore), so that groups go on from arm to arm:
**
**    leaves of a ─► x>0, k<9; k, x    ─┐
**    leaves of b ─► k<9;      k, 2*x  ─┴► groups
**
** Expressions of the query around them name columns of the sub-select.  In the pipe of
** an arm such a column is what that arm has for it (hpArmColumn()); affinity and collation
** of comparisons are those of the column, whose Expr they are made from.
**
** SQLite computes the columns of all rows that pass the arm's own WHERE clause.  So they
** must not fail, unless there are no other filters.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Is arm p of a form that we do?  hpChoiceArm() has looked at its scan. */
static int hpArmIsPlain(const Select *p){
  const u32 mNot = SF_Aggregate|SF_Distinct|SF_Recursive|SF_Values|SF_MultiValue;
  return (p->selFlags & mNot)==0 && p->pLimit==0 && p->iLimit==0 && p->pOrderBy==0
      && p->pGroupBy==0 && p->pHaving==0
#ifndef SQLITE_OMIT_WINDOWFUNC
      && p->pWin==0
#endif
      && p->op==(p->pPrior ? TK_ALL : TK_SELECT)
      && p->pSrc->nSrc==1 && p->pSrc->a[0].hp.bArm
      && hpSubselectIsTable(&p->pSrc->a[0]);
}

/*
** Number of the arms of pItem, a term of FROM, if it is a UNION ALL whose code SQLite has
** made, and of which we do each arm; else 0.
**
** An arm that was a UNION ALL itself SQLite has coded as several, and has forgotten all of
** them but the last one: then there is code for more arms than are found here.
*/
static int hpArmPlanCount(Parse *pParse, const SrcItem *pItem){
  const Select *p;
  int n = 0;
  if( pItem->fg.isSubquery==0 || pItem->fg.viaCoroutine==0 || pItem->fg.isRecursive ){
    return 0;
  }
  for(p=pItem->u4.pSubq->pSelect; p; p=p->pPrior){
    if( !hpArmIsPlain(p) || ++n>HP_MX_PIPE ) return 0;
  }
  return n>1 && n==hpSpliceArms(pParse->pVdbe, pItem->u4.pSubq) ? n : 0;
}

/*
** The first arm of pItem.
*/
static Select *hpArmPlanFirst(const SrcItem *pItem){
  Select *p = pItem->u4.pSubq->pSelect;
  while( p->pPrior ) p = p->pPrior;
  return p;
}

/* The arm after p, or NULL */
static Select *hpArmPlanNext(const Select *p){ return p->pNext; }

/*
** HpCompile.xOther: the vector of pExpr if that is a column of the sub-select, else -2.
*/
static int hpArmColumn(HpCompile *pC, Expr *pExpr, int bJump){
  u8 bNoSub = pC->bNoSub;
  const Column *pCol;
  Expr *pOwn;
  int iVec;
  UNUSED_PARAMETER(bJump);
  assert( pC->pArm!=0 && pC->nSelf==0 );
  if( (pExpr->op!=TK_COLUMN && pExpr->op!=TK_AGG_COLUMN) || pExpr->iTable!=pC->iArms ){
    return -2;
  }
  if( ExprHasProperty(pExpr, EP_FixedCol) && sqlite3ExprIsConstant(pC->pParse, pExpr) ){
    return -2;
  }
  if( pExpr->iColumn<0 || pExpr->iColumn>=pC->pArm->pEList->nExpr ){
    return hpCompileNo(pC, HP_NO_COLUMN);
  }
  pOwn = pC->pArm->pEList->a[pExpr->iColumn].pExpr;
  pCol = &pExpr->y.pTab->aCol[pExpr->iColumn];
  /* SQLite drops a subtype between the two */
  if( sqlite3ExprCanReturnSubtype(pC->pParse, pOwn) ) return hpCompileNo(pC, HP_NO_OTHER);
  /* ... and computes the column whatever is done with it */
  pC->bNoSub = 0;
  iVec = hpCompileExpr(pC, pOwn);
  pC->bNoSub = bNoSub;
  if( iVec<0 || pCol->affinity!=SQLITE_AFF_REAL ) return iVec;
  /* SQLite shows integers of such a column as reals */
  if( sqlite3ExprAffinity(pOwn)==SQLITE_AFF_REAL ) return iVec;
  if( sqlite3ExprDataType(pOwn) & 0x06 ) return hpCompileNo(pC, HP_NO_COLUMN);
  return hpCompileAff(pC, HP_OP_CAST, SQLITE_AFF_REAL, iVec);
}

/*
** From now on compile for pipe iPipe, which scans the table of arm p of pItem.
*/
static void hpArmPlanEnter(HpCompile *pC, const SrcItem *pItem, Select *p, int iPipe){
  const SrcItem *pOwn = &p->pSrc->a[0];
  HpPipePlan *pPipe = &pC->pPlan->aPipe[iPipe];
  assert( iPipe>=0 && iPipe<pC->pPlan->nPipe && p->pSrc->nSrc==1 );
  assert( hpArmIsPlain(p) && (iPipe==0)==(p->pPrior==0) );
  hpCompileSource(pC->pParse, pPipe, pOwn->pSTab, pOwn->hp.pIdx);
  hpCompileFor(pC, pPipe, pOwn->pSTab, pOwn->hp.pIdx, pOwn->iCursor);
  pPipe->bMore = iPipe<pC->pPlan->nPipe-1;
  pPipe->bAdds = iPipe>0;
  pC->pArm = p;
  pC->iArms = pItem->iCursor;
  pC->xOther = hpArmColumn;
  pC->nRangeTerm = 0;
}

/*
** Compile the WHERE clause of the arm of now, then pOuter, that of the query around it.
*/
static int hpArmPlanWhere(HpCompile *pC, Expr *pOuter){
  Select *p = pC->pArm;
  SrcItem *pOwn = &p->pSrc->a[0];
  ExprList *pEList = p->pEList;
  int i;
  assert( pC->pPipe->prog.nFilter==0 && pC->nRangeTerm==0 );
  if( !hpSafe(pC->pParse, 0, pEList, pOuter ? 0 : HP_SAFE_EACH) ){
    hpCompileNo(pC, HP_NO_OTHER);
    return SQLITE_ERROR;
  }
  if( hpRangeCompile(pC, pOwn, p->pWhere) || hpCompileExprWhere(pC, p->pWhere) ){
    return SQLITE_ERROR;
  }
  for(i=0; pOuter==0 && i<pEList->nExpr; i++){
    Expr *pExpr = pEList->a[i].pExpr;
    if( hpSafe(pC->pParse, pExpr, 0, 0) ) continue;
    if( hpCompileExpr(pC, pExpr)<0 ) return SQLITE_ERROR;
  }
  return hpCompileExprWhere(pC, pOuter);
}
#endif /* SQLITE_OMIT_HP */
