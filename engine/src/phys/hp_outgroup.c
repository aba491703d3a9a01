/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_outgroup: a SELECT with aggregates becomes a plan (prepare time).
**
**    hpOutGroup()      the plan of an aggregate query, or why there is none
**
** hp_compileexpr.c makes programs of expressions; here keys, aggregate
** functions, bare columns, HAVING and the bounds of the scan are put together.
** Rows may be read in another order than SQLite reads them in if nobody can see
** that (hpOutGroupAnyOrder()).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Does key k show the same as bare column i, in all arms?
*/
static int hpOutGroupIsKey(const HpGroupPlan *p, int i, int k){
  assert( i<p->nBare && k<p->keys.n );
  for(; p; p=p->pNext){
    if( p->aBare[i].iRel>=0 || p->keys.aVec[k]!=p->aBare[i].iVec ) return 0;
  }
  return 1;
}

/* Let key k show bare column i */
static void hpOutGroupByKey(HpGroupPlan *p, int i, int k){
  for(; p; p=p->pNext) p->aBare[i].iKey = (i16)k;
}

/* Groups of p and of the arms after it rest on equal values being alike */
static void hpOutGroupAlike(HpGroupPlan *p){
  for(; p; p=p->pNext) p->bAlike = 1;
}

/*
** Bare columns are shown as the first row of the group has them.  So are keys:
** a bare column that is a key needs no copy.
*/
static void hpOutGroupFirst(HpGroupPlan *pPlan){
  int i, k;
  assert( pPlan->nBare>0 && pPlan->bLoadFirst==0 );
  for(i=0; i<pPlan->nBare; i++){
    for(k=0; k<pPlan->keys.n; k++){
      if( hpOutGroupIsKey(pPlan, i, k) ) hpOutGroupByKey(pPlan, i, k);
    }
    if( pPlan->aBare[i].iKey<0 ){
      HpGroupPlan *p;
      for(p=pPlan; p; p=p->pNext) p->bLoadFirst = 1;
    }
  }
}

/*
** Bare columns are shown as the row of a min() or max() has them.  Keys whose
** equal values are all alike are shown by any row.  Is there a column that is
** not?
*/
static int hpOutGroupBest(HpCompile *pC, HpGroupPlan *pPlan,
                         const ExprList *pGroupBy){
  int bLoad = 0;
  int i, k;
  assert( pPlan->bLoadFirst==0 );      /* They show one row or the other */
  assert( pPlan->keys.n==0 || pGroupBy->nExpr>=pPlan->keys.n );
  for(i=0; i<pPlan->nBare; i++){
    struct HpBare *pBare = &pPlan->aBare[i];
    for(k=0; k<pPlan->keys.n && pBare->iKey<0; k++){
      if( hpOutGroupIsKey(pPlan, i, k)
       && hpCompileAggUniform(pC, pGroupBy->a[k].pExpr)
      ){
        hpOutGroupByKey(pPlan, i, k);
        hpOutGroupAlike(pPlan);
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
** Are pA and pB the same?  As sqlite3ExprCompare(), but columns may be those of
** an AggInfo or of the table.
*/
static int hpBareSame(const Expr *pA, const Expr *pB){
  const ExprList *pList;
  int i;
  if( hpTermSame(pA, pB) || sqlite3ExprCompare(0, pA, pB, -1)==0 ) return 1;
  if( pA->op!=pB->op ) return 0;
  switch( pA->op ){
    case TK_CONCAT:
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_REM:
      return hpBareSame(pA->pLeft, pB->pLeft)
          && hpBareSame(pA->pRight, pB->pRight);
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
** Does anything that is output of groups of p read column iAgg of their
** AggInfo, but for what equals one of pTerms?  What a term of GROUP BY is made
** of it does not read if that is in the result by number or name: stock reads
** the term.
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
static int hpOutGroupAnyOrder(HpCompile *pC, const Select *p){
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  const ExprList *pGroupBy = p->pGroupBy;
  int i;
  assert( pPlan->bAnyOrder==0 && pPlan->nAgg==pC->pAggInfo->nFunc );
  for(i=0; pGroupBy && i<pGroupBy->nExpr; i++){
    Expr *pExpr = pGroupBy->a[i].pExpr;
    if( !hpLowerJoinIsGiven(pC, pExpr) && !hpCompileAggUniform(pC, pExpr) ){
      return 0;
    }
  }
  for(i=0; i<pPlan->nBare; i++){
    if( pPlan->aBare[i].iKey<0
     && !hpLowerJoinIsGiven(pC, pC->pAggInfo->aCol[i].pCExpr)
     && (pPlan->keys.n==0 || hpBareIsShown(pC->pParse, p, i, pGroupBy))
    ){
      return 0;
    }
  }
  for(i=0; i<pPlan->nAgg; i++){
    const HpAggDef *pDef = &pPlan->aAgg[i];
    if( pDef->bLoad ) return 0;
    if( !hpCompileAggAnyOrder(pC, pC->pAggInfo->aFunc[i].pFExpr, pDef) ){
      return 0;
    }
  }
  pPlan->bAnyOrder = 1;
  return 1;
}

/*
** Note the terms of HAVING that tell early which groups are not wanted: the
** first ones of a conjunction, as long as they compare a count or a sum with a
** constant.  Later ones do not count: what comes before them may raise an
** error.
*/
static int hpOutGroupHaving(HpCompile *pC, const Expr *pExpr){
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  struct HpHaving *pNew;
  Expr *pAgg, *pConst;
  u8 op;
  int iVec;
  assert( pPlan->keys.n>0 );
  if( pExpr->op==TK_AND ){
    return hpOutGroupHaving(pC, pExpr->pLeft)
        && hpOutGroupHaving(pC, pExpr->pRight);
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

/* Walker callback: a column of an aggregate query is the column of the table
** that it was */
static int hpOutGroupColumn(Walker *pWalker, Expr *pExpr){
  UNUSED_PARAMETER(pWalker);
  if( pExpr->op==TK_AGG_COLUMN ) pExpr->op = TK_COLUMN;
  return WRC_Continue;
}

/* Does term pTerm of ORDER BY sort by key i of GROUP BY, in the direction of
** that? */
static int hpOutGroupSortsBy(
  const HpCompile *pC,
  const Select *p,
  int i,
  const struct ExprList_item *pTerm
){
  Parse *pParse = pC->pParse;
  Expr *pKey = p->pGroupBy->a[i].pExpr;
  Expr *pCopy;
  Walker w;
  int bSame;
  assert( i>=0 && i<pC->pPipe->pGroup->keys.n );
  if( pTerm->fg.sortFlags!=pC->pPipe->pGroup->keys.aSort[i]
   || sqlite3ExprNNCollSeq(pParse, pTerm->pExpr)!=sqlite3ExprNNCollSeq(pParse,
                                                                       pKey)
  ){
    return 0;
  }
  pCopy = sqlite3ExprDup(pParse->db, sqlite3ExprSkipCollate(pTerm->pExpr), 0);
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpOutGroupColumn;
  w.xSelectCallback = sqlite3SelectWalkFail;
  bSame = pCopy!=0 && sqlite3WalkExpr(&w, pCopy)==WRC_Continue
       && sqlite3ExprCompare(0, pCopy, sqlite3ExprSkipCollate(pKey), -1)==0;
  sqlite3ExprDelete(pParse->db, pCopy);
  return bSame;
}

/*
** If p sorts its groups by an aggregate first, or by keys, and LIMIT wants some
** of them, note which.  SQLite computes the results of all groups, but of those
** that are left out nobody sees anything, unless that calls the application or
** fails.
*/
static void hpOutGroupTop(HpCompile *pC, const Select *p){
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  HpTopAgg *pTop = &pPlan->top;
  const ExprList *pOrder = p->pOrderBy;
  int nOrder = pOrder ? pOrder->nExpr : 0;
  int i, iKey;
  if( p->iLimit==0 || p->pHaving || p->pWin || p->pPrior || p->pNext
   || (p->selFlags & SF_Distinct)!=0 || pPlan->keys.n==0
  ){
    return;
  }
  for(i=0; i<pPlan->nAgg; i++){
    if( pPlan->aAgg[i].eAgg>=HP_AGG_CALL ) return;
  }
  if( !hpSafe(pC->pParse, 0, p->pEList, HP_SAFE_GROUP)
   || !hpSafe(pC->pParse, 0, p->pOrderBy, HP_SAFE_GROUP)
  ){
    return;
  }
  assert( pTop->iLimitReg==0 );
  pTop->iAgg = -1;
  if( nOrder ){
    const struct ExprList_item *pTerm = &pOrder->a[0];
    const Expr *pExpr = sqlite3ExprSkipCollate(pTerm->pExpr);
    if( pExpr->op==TK_AGG_FUNCTION && pExpr->pAggInfo==pC->pAggInfo ){
      if( pTerm->fg.sortFlags & KEYINFO_ORDER_BIGNULL ) return;
      pTop->iAgg = pExpr->iAgg;
      assert( pTop->iAgg>=0 && pTop->iAgg<pPlan->nAgg );
      pTop->bDesc = (pTerm->fg.sortFlags & KEYINFO_ORDER_DESC)!=0;
    }
  }
  i = pTop->iAgg>=0;
  for(iKey=0; i<nOrder && iKey<pPlan->keys.n; i++, iKey++){
    if( !hpOutGroupSortsBy(pC, p, iKey, &pOrder->a[i]) ) break;
  }
  pTop->bKeys = i==nOrder || iKey==pPlan->keys.n;
  if( pTop->iAgg<0 && pTop->bKeys==0 ) return;
  pTop->iLimitReg = p->iOffset ? p->iOffset+1 : p->iLimit;
}

/*
** Let the sink of the pipe of now be the groups of p: compile keys, aggregate
** functions and bare columns.
*/
static int hpOutGroupSink(HpCompile *pC){
  Select *p = pC->pTop->pSelect;
  const KeyInfo *pKeyInfo = pC->pTop->pKeyInfo;
  const SrcItem *pItem = pC->pTop->pIn->pItem;
  AggInfo *pAggInfo = pC->pAggInfo;
  HpGroupPlan *pGroup = hpCompileGroups(pC, pAggInfo->nFunc,
                                        pAggInfo->nAccumulator);
  int nKey = pKeyInfo ? p->pGroupBy->nExpr : 0;
  int i, k;
  if( pGroup==0 || hpCompileKeys(pC->pPlan, &pGroup->keys, nKey) ){
    return SQLITE_NOMEM;
  }
  if( pC->pPipe->bAdds ) pC->pPipe[-1].pGroup->pNext = pGroup;
  if( nKey && pC->pJoin ) nKey = hpLowerJoinTerms(pC, p->pGroupBy, pKeyInfo);
  assert( nKey>=0 && (nKey==0 || nKey<=p->pGroupBy->nExpr) );
  pGroup->keys.n = nKey;
  for(i=0; i<nKey; i++){
    HpKeys *pKeys = &pGroup->keys;
    int iVec = hpCompileExpr(pC, p->pGroupBy->a[i].pExpr);
    if( iVec<0 ) return SQLITE_ERROR;
    pKeys->aVec[i] = (u16)iVec;
    if( hpOrderIsGiven(pItem->hp.eOrder) ){
      pKeys->aSort[i] = i<32 && ((pItem->hp.mDesc>>i) & 1) ? KEYINFO_ORDER_DESC
          : 0;
    }else{
      pKeys->aSort[i] = pKeyInfo->aSortFlags ? pKeyInfo->aSortFlags[i] : 0;
    }
    if( !hpCompileCollOk(pKeyInfo->aColl[i], &pKeys->aColl[i]) ){
      hpCompileNo(pC, HP_NO_COLLATION);
      return SQLITE_ERROR;
    }
  }
  for(i=0; i<pGroup->nAgg; i++){
    int rc = pC->pJoin && pC->pJoin->iMany>=0
           ? hpLowerJoinAgg(pC, i, &pGroup->aAgg[i])
           : hpCompileAgg(pC, &pAggInfo->aFunc[i], &pGroup->aAgg[i]);
    if( rc ) return rc;
  }
  for(i=0; i<pGroup->nBare; i++){
    Expr *pExpr = pAggInfo->aCol[i].pCExpr;
    struct HpBare *pBare = &pGroup->aBare[i];
    int iVec;
    pBare->iKey = pBare->iRel = -1;
    if( nKey && !hpBareIsShown(pC->pParse, p, i, 0) ){
      pBare->iKey = 0;       /* Any value will do */
      pBare->iVec = pGroup->keys.aVec[0];
      continue;
    }
    for(k=0; k<nKey && !hpTermSame(p->pGroupBy->a[k].pExpr, pExpr); k++){}
    if( pC->pJoin && k==nKey ){
      iVec = hpLowerJoinLate(pC, pExpr, pBare);
    }else{
      iVec = -2;
    }
    if( iVec==-2 ) iVec = hpCompileExpr(pC, pExpr);
    if( iVec<0 ) return SQLITE_ERROR;
    pBare->iVec = (u16)iVec;
  }
  for(i=0; i<pGroup->nAgg && pGroup->aAgg[i].eAgg<HP_AGG_CALL; i++){}
  if( nKey && p->pHaving && i==pGroup->nAgg ) hpOutGroupHaving(pC, p->pHaving);
  hpOutGroupTop(pC, p);
  return SQLITE_OK;
}

/*
** Which row of a group of pGroup do bare columns show?  That of the last min()
** or max(), as in SQLite, or the first one.
*/
static int hpOutGroupShown(HpCompile *pC, HpGroupPlan *pGroup, const Select *p){
  int iMinMax = -1;
  int i;
  u8 bLoad;
  if( pGroup->nBare==0 ) return SQLITE_OK;
  for(i=0; i<pGroup->nAgg; i++){
    const HpAggDef *pDef = &pGroup->aAgg[i];
    if( pDef->eAgg!=HP_AGG_MIN && pDef->eAgg!=HP_AGG_MAX ) continue;
    iMinMax = i;
    /* It does not see all rows */
    if( pDef->iSet>=0
     || ExprHasProperty(pC->pAggInfo->aFunc[i].pFExpr, EP_WinFunc)
    ){
      return SQLITE_ERROR;
    }
  }
  if( iMinMax<0 ){
    hpOutGroupFirst(pGroup);
    return SQLITE_OK;
  }
  bLoad = (u8)hpOutGroupBest(pC, pGroup, p->pGroupBy);
  /* In all arms the function is the same */
  assert( pGroup->pNext==0
       || pGroup->pNext->aAgg[iMinMax].eAgg==pGroup->aAgg[iMinMax].eAgg );
  for(; pGroup; pGroup=pGroup->pNext) pGroup->aAgg[iMinMax].bLoad = bLoad;
  return SQLITE_OK;
}

/*
** What SQLite's loops of a join cost, if they begin with another table than the
** one that is scanned.
*/
static int hpOutGroupBegin(HpCompile *pC){
  const HpChoice *p = &pC->pTop->pIn->pItem->hp;
  HpPlan *pPlan = pC->pPlan;
  assert( pPlan->nStock==0 && pPlan->bGuess==0 );
  if( p->bMoved==0 ) return SQLITE_OK;
  pPlan->nStock = p->nCost;
  pPlan->nStockRow = p->nCostRow;
  pPlan->iStockRoot = p->iCostRoot;
  pPlan->bGuess = p->bGuess;
  return SQLITE_OK;
}

/*
** The groups have been compiled: which rows they show, and whether those may be
** read in another order than SQLite reads them in.
*/
static int hpOutGroupEnd(HpCompile *pC){
  const Select *p = pC->pTop->pSelect;
  const SrcItem *pItem = pC->pTop->pIn->pItem;
  HpGroupPlan *pGroup = pC->pPipe->pGroup;
  if( hpOutGroupShown(pC, pGroup, p) ) return SQLITE_ERROR;
  if( pItem->hp.eOrder>=HP_ORDER_LOOKUP && !hpOutGroupAnyOrder(pC, p) ){
    hpCompileNo(pC, HP_NO_ORDER);
    return SQLITE_ERROR;
  }
  /* The application's functions would see rows in another order */
  if( pItem->hp.pVia && hpCompileNoUser(pC) ) return SQLITE_ERROR;
  pGroup->bInOrder = pItem->hp.eOrder==HP_ORDER_INDEX;
  if( pItem->hp.eOrder==HP_ORDER_ROWID ) pC->pPipe->source.bOrder = 1;
  assert( pGroup->bOpaque==0 || pC->pPipe->bSerial );
  assert( pGroup->bInOrder==0 || pC->pPipe->source.bIndex );
  pGroup->entry.szEntry = hpLayoutGroup(pGroup);
  return pGroup->entry.szEntry>0x7fff ? SQLITE_ERROR : SQLITE_OK;
}

static const HpOutput hpOutGroupType = {
  HP_IN(HP_LOP_SCAN)|HP_IN(HP_LOP_JOIN)|HP_IN(HP_LOP_UNION),
  HP_OUT_SUB|HP_OUT_LARGE, HP_NO_OTHER,
  hpOutGroupBegin, 0, hpOutGroupSink, hpOutGroupEnd
};

/*
** The plan of query p.  Returns NULL if it is refused.  Registers of constants
** are allocated but not coded.
*/
static HpPlan *hpOutGroup(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  KeyInfo *pKeyInfo,     /* Collation and order of GROUP BY, or NULL */
  HpJoin *pJoin          /* Of a join, or NULL */
){
  HpLop in, top;
  assert( (p->pGroupBy!=0 && p->pGroupBy->nExpr>0) || pKeyInfo==0 );
  assert( pKeyInfo==0 || pKeyInfo->nKeyField>=p->pGroupBy->nExpr );
  assert( p->pSrc->nSrc==1 || pJoin!=0 );
  hpLopTree(&top, HP_LOP_GROUP, p, &in, hpLopRoot(p->pSrc), p->pWhere, pJoin);
  top.pAggInfo = pAggInfo;
  top.pKeyInfo = pKeyInfo;
  return hpLower(pParse, &top, &hpOutGroupType);
}
#endif /* SQLITE_OMIT_HP */
