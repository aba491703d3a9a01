/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_aggplan: a SELECT with aggregates becomes a plan (prepare time).
**
**    hpAggPlan()      the plan of an aggregate query, or why there is none
**
** hp_compile.c makes programs of expressions; here keys, aggregate functions, bare
** columns, HAVING and the bounds of the scan are put together.  Rows may be read
** in another order than stock reads them in if nobody can see that
** (hpAggPlanAnyOrder()).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Bare columns are shown as the first row of the group has them.  So are keys:
** a bare column that is a key needs no copy.
*/
static void hpAggPlanFirst(HpGroupPlan *pPlan){
  int i, k;
  assert( pPlan->nBare>0 && pPlan->bLoadFirst==0 );
  for(i=0; i<pPlan->nBare; i++){
    for(k=0; k<pPlan->keys.n && pPlan->aBare[i].iRel<0; k++){
      if( pPlan->keys.aVec[k]==pPlan->aBare[i].iVec ) pPlan->aBare[i].iKey = (i16)k;
    }
    if( pPlan->aBare[i].iKey<0 ) pPlan->bLoadFirst = 1;
  }
}

/*
** Bare columns are shown as the row of a min() or max() has them.  Keys whose equal values
** are all alike are shown by any row.  Is there a column that is not?
*/
static int hpAggPlanBest(HpCompile *pC, const ExprList *pGroupBy){
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  int bLoad = 0;
  int i, k;
  for(i=0; i<pPlan->nBare; i++){
    struct HpBare *pBare = &pPlan->aBare[i];
    for(k=0; k<pPlan->keys.n && pBare->iKey<0 && pBare->iRel<0; k++){
      if( pPlan->keys.aVec[k]==pBare->iVec
       && hpCompileAggUniform(pC, pGroupBy->a[k].pExpr)
      ){
        pBare->iKey = (i16)k;
      }
    }
    bLoad |= pBare->iKey<0;
  }
  return bLoad;
}

/* What hpBareIsShown() looks for */
typedef struct HpBareWalk HpBareWalk;
struct HpBareWalk {
  int iAgg;              /* Column of the AggInfo */
  const ExprList *pTerms;    /* Not within these expressions; or NULL */
};

/*
** Are pA and pB the same?  As sqlite3ExprCompare(), but columns may be those of an
** AggInfo or of the table.
*/
static int hpBareSame(const Expr *pA, const Expr *pB){
  const ExprList *pList;
  int i;
  if( hpGraphSame(pA, pB) || sqlite3ExprCompare(0, pA, pB, -1)==0 ) return 1;
  if( pA->op!=pB->op ) return 0;
  switch( pA->op ){
    case TK_CONCAT:
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_REM:
      return hpBareSame(pA->pLeft, pB->pLeft) && hpBareSame(pA->pRight, pB->pRight);
    case TK_CAST:
      return sqlite3StrICmp(pA->u.zToken, pB->u.zToken)==0
          && hpBareSame(pA->pLeft, pB->pLeft);
    case TK_FUNCTION:
      pList = pA->x.pList;
      if( ExprHasProperty(pA, EP_WinFunc) || ExprHasProperty(pB, EP_WinFunc)
       || sqlite3StrICmp(pA->u.zToken, pB->u.zToken)!=0
       || pList==0 || pB->x.pList==0 || pList->nExpr!=pB->x.pList->nExpr
      ){
        return 0;
      }
      for(i=0; i<pList->nExpr; i++){
        if( !hpBareSame(pList->a[i].pExpr, pB->x.pList->a[i].pExpr) ) return 0;
      }
      return 1;
  }
  return 0;
}

static int hpBareWalkExpr(Walker *pWalker, Expr *pExpr){
  const HpBareWalk *pWalk = (const HpBareWalk*)pWalker->u.pNC;
  int i;
  for(i=0; pWalk->pTerms && i<pWalk->pTerms->nExpr; i++){
    const Expr *pTerm = sqlite3ExprSkipCollate(pWalk->pTerms->a[i].pExpr);
    if( hpBareSame(sqlite3ExprSkipCollate(pExpr), pTerm) ) return WRC_Prune;
  }
  switch( pExpr->op ){
    case TK_REGISTER:        /* A term of GROUP BY */
    case TK_AGG_FUNCTION:
      return WRC_Prune;
    case TK_AGG_COLUMN:
      if( pExpr->iAgg!=pWalk->iAgg ) break;
      /* no break */ deliberate_fall_through
    case TK_COLUMN:
      pWalker->eCode = 1;
      return WRC_Abort;
  }
  return WRC_Continue;
}

/*
** Does anything that is output of groups of p read column iAgg of their AggInfo, but
** for what equals one of pTerms?  What a term of GROUP BY is made of it does not
** read if that is in the result by number or name: stock reads the term.
*/
static int hpBareIsShown(
  Parse *pParse,
  const Select *p,
  int iAgg,
  const ExprList *pTerms
){
  HpBareWalk walk;
  Walker w;
  walk.iAgg = iAgg;
  walk.pTerms = pTerms;
  memset(&w, 0, sizeof(w));
  w.pParse = pParse;
  w.xExprCallback = hpBareWalkExpr;
  w.xSelectCallback = sqlite3SelectWalkNoop;
  w.u.pNC = (NameContext*)&walk;
  sqlite3WalkExprList(&w, p->pEList);
  sqlite3WalkExpr(&w, p->pHaving);
  sqlite3WalkExprList(&w, p->pOrderBy);
  return w.eCode!=0;
}

/*
** Is the answer the same in whatever order rows are read?  Of sums that is
** found out when they are known: HpGroupPlan.bAnyOrder.
*/
static int hpAggPlanAnyOrder(HpCompile *pC, const Select *p){
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  const ExprList *pGroupBy = p->pGroupBy;
  int i;
  for(i=0; pGroupBy && i<pGroupBy->nExpr; i++){
    Expr *pExpr = pGroupBy->a[i].pExpr;
    if( !hpJoinPlanIsGiven(pC, pExpr) && !hpCompileAggUniform(pC, pExpr) ) return 0;
  }
  for(i=0; i<pPlan->nBare; i++){
    if( pPlan->aBare[i].iKey<0
     && !hpJoinPlanIsGiven(pC, pC->pAggInfo->aCol[i].pCExpr)
     && (pPlan->keys.n==0 || hpBareIsShown(pC->pParse, p, i, pGroupBy))
    ){
      return 0;
    }
  }
  for(i=0; i<pPlan->nAgg; i++){
    const HpAggDef *pDef = &pPlan->aAgg[i];
    if( pDef->bLoad ) return 0;
    if( !hpCompileAggAnyOrder(pC, pC->pAggInfo->aFunc[i].pFExpr, pDef) ) return 0;
  }
  pPlan->bAnyOrder = 1;
  return 1;
}

/*
** Note the terms of HAVING that tell early which groups are not wanted: the first
** ones of a conjunction, as long as they compare a count or a sum with a
** constant.  Later ones do not count: what comes before them may raise an error.
*/
static int hpAggPlanHaving(HpCompile *pC, const Expr *pExpr){
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  struct HpHaving *pNew;
  Expr *pAgg, *pConst;
  u8 op;
  int iVec;
  if( pExpr->op==TK_AND ){
    return hpAggPlanHaving(pC, pExpr->pLeft)
        && hpAggPlanHaving(pC, pExpr->pRight);
  }
  op = pExpr->op;
  pAgg = pExpr->pLeft;
  pConst = pExpr->pRight;
  if( op<TK_NE || op>TK_GE || pPlan->nHaving>=HP_MX_HAVING ) return 0;
  if( pAgg->op!=TK_AGG_FUNCTION ){
    SWAP(Expr*, pAgg, pConst);
    if( op>=TK_GT ) op = ((op-TK_GT)^2) + TK_GT;
  }
  if( pAgg->op!=TK_AGG_FUNCTION || pAgg->pAggInfo!=pC->pAggInfo
   || pPlan->aAgg[pAgg->iAgg].eAgg>HP_AGG_SUM
   || comparisonAffinity(pExpr)==SQLITE_AFF_TEXT
   || !hpCompileIsConst(pC, pConst)
  ){
    return 0;
  }
  assert( op>=TK_NE && op<=TK_GE );
  assert( pAgg->iAgg>=0 && pAgg->iAgg<pPlan->nAgg );
  iVec = hpCompileConst(pC, pConst);
  if( iVec<0 ) return 0;
  pNew = &pPlan->aHaving[pPlan->nHaving++];
  pNew->op = op;
  pNew->iAgg = (u16)pAgg->iAgg;
  pNew->iVec = (u16)iVec;
  return 1;
}

/* Walker callback: a result that cannot fail, or show that it was computed */
static int hpAggPlanSafeExpr(Walker *pWalker, Expr *pExpr){
  if( pExpr->op==TK_AGG_FUNCTION ) return WRC_Prune;
  if( pExpr->op==TK_AGG_COLUMN || pExpr->op==TK_REGISTER ) return WRC_Continue;
  return hpCompileSafeExpr(pWalker, pExpr);
}

/*
** If p sorts its groups by an aggregate first, and LIMIT wants some of them, note which.
** SQLite computes the results of all groups, but of those that are left out nobody sees
** anything, unless that calls the application or fails.
*/
static void hpAggPlanTop(HpCompile *pC, const Select *p){
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  const struct ExprList_item *pTerm;
  const Expr *pExpr;
  Walker w;
  int i;
  if( p->iLimit==0 || p->pOrderBy==0 || p->pHaving || p->pWin || p->pPrior || p->pNext
   || (p->selFlags & SF_Distinct)!=0 || pPlan->keys.n==0
  ){
    return;
  }
  pTerm = &p->pOrderBy->a[0];
  pExpr = sqlite3ExprSkipCollate(pTerm->pExpr);
  if( pExpr->op!=TK_AGG_FUNCTION || pExpr->pAggInfo!=pC->pAggInfo
   || (pTerm->fg.sortFlags & KEYINFO_ORDER_BIGNULL)!=0
  ){
    return;
  }
  for(i=0; i<pPlan->nAgg; i++){
    if( pPlan->aAgg[i].eAgg>=HP_AGG_CALL ) return;
  }
  memset(&w, 0, sizeof(w));
  w.pParse = pC->pParse;
  w.eCode = 1;
  w.xExprCallback = hpAggPlanSafeExpr;
  w.xSelectCallback = sqlite3SelectWalkFail;
  if( sqlite3WalkExprList(&w, p->pEList) || sqlite3WalkExprList(&w, p->pOrderBy)
   || w.eCode==0
  ){
    return;
  }
  pPlan->top.iLimitReg = p->iOffset ? p->iOffset+1 : p->iLimit;
  pPlan->top.iAgg = (u16)pExpr->iAgg;
  pPlan->top.bDesc = (pTerm->fg.sortFlags & KEYINFO_ORDER_DESC)!=0;
}

/*
** Compile the query.  Returns NULL if it is refused.  Registers of constants
** are allocated but not coded.
*/
static HpPlan *hpAggPlan(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  KeyInfo *pKeyInfo,     /* Collation and order of GROUP BY, or NULL */
  HpGraph *pGraph        /* Of a join.  It is freed */
){
  HpCompile c;
  HpPlan *pPlan;
  HpGroupPlan *pGroup;
  int nKey = pKeyInfo ? p->pGroupBy->nExpr : 0;
  int i, k;
  int iMinMax = -1;
  int bPartial = 0;          /* min() or max() does not see all rows */
  int nMem = pParse->nMem;
  SrcItem *pItem = hpGraphRoot(p->pSrc);

  assert( (p->pGroupBy!=0 && p->pGroupBy->nExpr>0) || pKeyInfo==0 );
  assert( pKeyInfo==0 || pKeyInfo->nKeyField>=nKey );
  assert( p->pSrc->nSrc==1 || pGraph!=0 );
  pPlan = hpCompileNew(&c, pParse, pItem, pGraph ? pGraph->nPipe : 1);
  if( pPlan==0 ){
    hpGraphFree(pGraph);
    return 0;
  }
  if( pItem->hp.bMoved ) pPlan->nStock = pItem->hp.nCost;
  c.pAggInfo = pAggInfo;
  c.xSub = hpScalarSub;
  c.pPipe->pSink = &hpSinkGroups;
  c.pPipe->pGroup = pGroup = hpCompileAlloc(pPlan, sizeof(*pGroup));
  if( pGroup==0 ) goto refused;
  pGroup->nAgg = pAggInfo->nFunc;
  pGroup->nBare = pAggInfo->nAccumulator;
  pGroup->aAgg = hpCompileAlloc(pPlan, sizeof(HpAggDef)*(i64)pGroup->nAgg);
  pGroup->aBare = hpCompileAlloc(pPlan, sizeof(struct HpBare)*(i64)pGroup->nBare);
  if( pGroup->aAgg==0 || pGroup->aBare==0
   || hpCompileKeys(pPlan, &pGroup->keys, nKey)
  ){
    goto refused;
  }
  if( pGraph ){
    if( hpJoinPlan(&c, pGraph, p->pWhere) ) goto refused;
  }else if( hpRangeCompile(&c, pItem, p->pWhere) ){
    goto refused;
  }
  if( pItem->hp.bUnlikely && !hpRangeSeemsLarge(&c) ){
    hpCompileSmall(pParse);
    hpCompileNo(&c, HP_NO_SMALL);
    goto refused;
  }
  if( pGraph==0 && hpCompileWhere(&c, p->pWhere) ) goto refused;
  if( nKey && pGraph ) nKey = hpJoinPlanTerms(&c, p->pGroupBy, pKeyInfo);
  pGroup->keys.n = nKey;
  for(i=0; i<nKey; i++){
    HpKeys *pKeys = &pGroup->keys;
    int iVec = hpCompileExpr(&c, p->pGroupBy->a[i].pExpr);
    if( iVec<0 ) goto refused;
    pKeys->aVec[i] = (u16)iVec;
    if( hpOrderIsGiven(pItem->hp.eOrder) ){
      pKeys->aSort[i] = i<32 && ((pItem->hp.mDesc>>i) & 1) ? KEYINFO_ORDER_DESC : 0;
    }else{
      pKeys->aSort[i] = pKeyInfo->aSortFlags ? pKeyInfo->aSortFlags[i] : 0;
    }
    if( !hpCompileCollOk(pKeyInfo->aColl[i], &pKeys->aColl[i]) ){
      hpCompileNo(&c, HP_NO_COLLATION);
      goto refused;
    }
  }
  for(i=0; i<pGroup->nAgg; i++){
    int rc = pGraph && pGraph->iMany>=0
           ? hpJoinPlanAgg(&c, i, &pGroup->aAgg[i])
           : hpCompileAgg(&c, &pAggInfo->aFunc[i], &pGroup->aAgg[i]);
    if( rc ) goto refused;
    if( pGroup->aAgg[i].eAgg==HP_AGG_MIN || pGroup->aAgg[i].eAgg==HP_AGG_MAX ){
      iMinMax = i;
      if( pGroup->aAgg[i].iSet>=0
       || ExprHasProperty(pAggInfo->aFunc[i].pFExpr, EP_WinFunc)   /* FILTER */
      ){
        bPartial = 1;
      }
    }
  }
  for(i=0; i<pGroup->nBare; i++){
    Expr *pExpr = pAggInfo->aCol[i].pCExpr;
    struct HpBare *pBare = &pGroup->aBare[i];
    int iVec;
    pBare->iKey = pBare->iRel = -1;
    if( nKey && !hpBareIsShown(pParse, p, i, 0) ){
      pBare->iKey = 0;       /* Any value will do */
      pBare->iVec = pGroup->keys.aVec[0];
      continue;
    }
    for(k=0; k<nKey && !hpGraphSame(p->pGroupBy->a[k].pExpr, pExpr); k++){}
    if( pGraph && k==nKey ){
      iVec = hpJoinPlanLate(&c, pExpr, pBare);
    }else{
      iVec = -2;
    }
    if( iVec==-2 ) iVec = hpCompileExpr(&c, pExpr);
    if( iVec<0 ) goto refused;
    pBare->iVec = (u16)iVec;
  }
  if( pGroup->nBare ){
    /* Stock: the last min() or max() says from which row to show columns */
    if( bPartial ){
      goto refused;
    }else if( iMinMax>=0 ){
      pGroup->aAgg[iMinMax].bLoad = (u8)hpAggPlanBest(&c, p->pGroupBy);
    }else{
      hpAggPlanFirst(pGroup);
    }
  }
  for(i=0; i<pGroup->nAgg && pGroup->aAgg[i].eAgg<HP_AGG_CALL; i++){}
  if( nKey && p->pHaving && i==pGroup->nAgg ) hpAggPlanHaving(&c, p->pHaving);
  hpAggPlanTop(&c, p);
  if( pItem->hp.eOrder>=HP_ORDER_LOOKUP
   && !hpAggPlanAnyOrder(&c, p)
  ){
    hpCompileNo(&c, HP_NO_ORDER);
    goto refused;
  }
  pGroup->bInOrder = pItem->hp.eOrder==HP_ORDER_INDEX;
  if( pItem->hp.eOrder==HP_ORDER_ROWID ) c.pPipe->source.bOrder = 1;
  assert( pGroup->bOpaque==0 || c.pPipe->bSerial );
  assert( pGroup->bInOrder==0 || c.pPipe->source.bIndex );
  if( pGraph && !hpJoinPlanEnd(&c) ) goto refused;
  for(i=0; i<pPlan->nPipe; i++) hpCompileSortColumns(&pPlan->aPipe[i]);
  pGroup->szGroup = hpGroupLayout(pGroup);
  if( pGroup->szGroup>0x7fff || pParse->nErr || pParse->db->mallocFailed ){
    goto refused;
  }
  hpGraphFree(pGraph);
  return pPlan;

refused:
  hpGraphFree(pGraph);
  hpConfigStat(pParse->db, c.eNo ? c.eNo : HP_NO_OTHER);
  pParse->nMem = nMem;   /* The program is to be stock's */
  hpCompileFree(pPlan);
  return 0;
}
#endif /* SQLITE_OMIT_HP */
