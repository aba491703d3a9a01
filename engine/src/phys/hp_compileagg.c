/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compileagg: aggregate functions (prepare time).
**
**    hpCompileAgg()      an aggregate function: its arguments, and its code
**    hpCompileAggOf()    the same of what it is for parts of the rows
**    hpCompileAggAnyOrder()    is it the same in whatever order rows are read?
**    hpCompileAggUniform() are equal values of an expression all alike?
**
** count, sum, total, avg, min and max have code of their own (hp_agg.c).  All
** others are called: with ORDER BY inside when entries are sorted
** (hp_aggorder.c), those that are SQLite's and depend on the order of rows when
** groups are delivered (hp_agglog.c), those of the application and with
** DISTINCT for each row.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** HP_AGG_xxx for an aggregate function.
*/
static u8 hpAggKind(const FuncDef *pFunc){
  if( pFunc->xSFunc==countStep ) return HP_AGG_COUNT;
  if( pFunc->xSFunc==sumStep ) return HP_AGG_SUM;
  if( pFunc->xSFunc!=minmaxStep ) return HP_AGG_CALL;
  return pFunc->pUserData ? HP_AGG_MAX : HP_AGG_MIN;
}

/*
** The vector of pExpr, an argument of *pDef.  Stock computes it for the rows
** that FILTER passes: where that matters (hpCompileSideIf()) it is NULL in the
** others.
*/
static int hpCompileAggArg(HpCompile *pC, const HpAggDef *pDef, Expr *pExpr){
  u16 aVec[2];
  int iSide = 0;
  int a;
  assert( pDef->iFilter==HP_NO_VEC || pDef->iFilter<pC->pPipe->prog.nVec );
  aVec[0] = pDef->iFilter;
  if( pDef->iFilter!=HP_NO_VEC
   && !sqlite3ExprCanReturnSubtype(pC->pParse, pExpr)
   && hpCompileSideIf(pC, hpCostIsSide(0, 2, hpCostExpr(pC->pParse, pExpr)),
          hpSafeHasCall(pC->pParse, pExpr), HP_NEED_TRUE, aVec, 1, &iSide)
  ){
    return -1;
  }
  a = hpCompileExpr(pC, pExpr);
  if( !hpCompileSideEnd(pC, iSide, a) || a<0 ) return a;
  aVec[1] = (u16)a;
  return hpCompileSideChoice(pC, HP_OP_CASE, aVec, 2, 1);
}

/*
** Compile the arguments of an aggregate function that has no code of its own
** but is called for each row.  bSub: subtypes of arguments matter, bDrop: and
** there must not be any.
*/
static int hpCompileAggArgs(
  HpCompile *pC,
  ExprList *pList,
  HpAggDef *pDef,
  int bSub,
  int bDrop
){
  FuncDef *pFunc = pDef->pFunc;
  int i;
  assert( pDef->nArg==0 && pC->bNoSub==0 );
  if( pFunc->xFinalize==0 || pList==0 || pList->nExpr>HP_MX_ARG ){
    return SQLITE_ERROR;
  }
  if( pFunc->funcFlags & SQLITE_FUNC_NEEDCOLL ) return SQLITE_ERROR;
  pDef->aArg = hpArenaAlloc(&pC->pPlan->mem, sizeof(u16)*(i64)pList->nExpr);
  if( pDef->aArg==0 ) return SQLITE_NOMEM;
  for(i=0; i<pList->nExpr; i++){
    Expr *pExpr = pList->a[i].pExpr;
    int iVec;
    pC->bNoSub = bSub && (bDrop || hpCompileExprLosesSubtype(pC, pExpr));
    iVec = hpCompileAggArg(pC, pDef, pExpr);
    pC->bNoSub = 0;
    if( iVec<0 ) return SQLITE_ERROR;
    pDef->aArg[pDef->nArg++] = (u16)iVec;
  }
  assert( pDef->nArg==pList->nExpr && pDef->nArg<=HP_MX_ARG );
  if( pDef->nArg ) pDef->iVec = pDef->aArg[0];
  return SQLITE_OK;
}

/*
** True if several threads may call the step function of pFunc, for different
** groups, with copies of the connection: the function keeps nothing but its
** context.
*/
static int hpAggIsPure(const FuncDef *pFunc){
  return pFunc->xSFunc==groupConcatStep
      || pFunc->xSFunc==sumStep
#ifndef SQLITE_OMIT_JSON
      || pFunc->xSFunc==jsonArrayStep
      || pFunc->xSFunc==jsonObjectStep
#endif
#ifdef SQLITE_ENABLE_PERCENTILE
      || pFunc->xSFunc==percentStep
#endif
      || pFunc->xSFunc==countStep;
}

/*
** Aggregate *pDef keeps the arguments of its rows: as eAgg, HP_AGG_ORDER or
** HP_AGG_LOG.
*/
static void hpCompileAggLate(HpCompile *pC, HpAggDef *pDef, u8 eAgg){
  assert( eAgg==HP_AGG_ORDER || eAgg==HP_AGG_LOG );
  assert( pC->pPipe->pGroup->nLate<pC->pPipe->pGroup->nAgg );
  pDef->eAgg = eAgg;
  pDef->bParallel = hpAggIsPure(pDef->pFunc);
  pC->pPipe->pGroup->nLate++;
  pC->pPipe->bDeep = 1;      /* Several workers may call it: hpAggAhead() */
}

/*
** May workers keep a log for *pDef?  If calls for several logs fail, the error
** is that of the first row: rows are compared by their numbers in the logs, so
** all have the same FILTER.
*/
static int hpCompileAggMayLog(const HpGroupPlan *pPlan, const HpAggDef *pDef){
  const HpAggDef *pOther;
  assert( pDef->eAgg==HP_AGG_CALL && pDef->iSet<0 );
  if( !hpAggIsPure(pDef->pFunc) || hpBudgetIsLimited() ) return 0;
  /* It does not fail */
  if( pDef->pFunc->xSFunc==groupConcatStep ) return 1;
  for(pOther=pPlan->aAgg; pOther<pDef; pOther++){
    if( pOther->eAgg==HP_AGG_LOG && pOther->pFunc->xSFunc!=groupConcatStep
     && pOther->iFilter!=pDef->iFilter
    ){
      return 0;
    }
  }
  return 1;
}

/*
** Compile an aggregate function with ORDER BY inside.  Stock passes arguments
** through records of a b-tree: subtypes only if the function asks for them, and
** a REAL that is an integer with that affinity comes back as an integer.  That
** is what virtual columns are; so they are refused.
*/
static int hpCompileAggOrder(
  HpCompile *pC,
  struct AggInfo_func *pF,
  HpAggDef *pDef
){
  ExprList *pList = pF->pFExpr->x.pList;
  ExprList *pTerms = pF->pFExpr->pLeft->x.pList;
  int i;
  assert( pF->iOBTab>=0 && pTerms->nExpr>0 && pDef->nTerm==0 );
  pDef->bSelf = pF->bOBPayload==0;
  pDef->bUnique = pF->bOBUnique;
  pDef->bKeepSub = pF->bUseSubtype;
  if( hpCompileAggArgs(pC, pList, pDef, pF->bUseSubtype, pF->bOBUnique) ){
    return SQLITE_ERROR;
  }
  pDef->szEntry = 8*(2 + (pDef->bSelf ? 0 : pDef->nArg));
  pDef->aTerm = hpArenaAlloc(&pC->pPlan->mem,
                             sizeof(HpTerm)*(i64)pTerms->nExpr);
  if( pDef->aTerm==0 ) return SQLITE_NOMEM;
  for(i=0; i<pTerms->nExpr; i++){
    HpTerm *pTerm = &pDef->aTerm[i];
    Expr *pExpr = pTerms->a[i].pExpr;
    int iVec = hpCompileExpr(pC, pExpr);
    if( iVec<0 ) return SQLITE_ERROR;
    pTerm->iVec = (u16)iVec;
    pTerm->flags = pTerms->a[i].fg.sortFlags;
    if( !hpCompileCollOk(sqlite3ExprNNCollSeq(pC->pParse, pExpr),
                         &pTerm->pColl) ){
      hpCompileNo(pC, HP_NO_COLLATION);
      return SQLITE_ERROR;
    }
    pDef->nTerm++;
  }
  for(i=0; i<pC->pPipe->prog.nOp; i++){
    const HpOp *pOp = &pC->pPipe->prog.aOp[i];
    if( pOp->eOp==HP_OP_AFFINITY && pOp->aff==SQLITE_AFF_REAL ){
      hpCompileNo(pC, HP_NO_AGGREGATE);
      return SQLITE_ERROR;
    }
  }
  assert( pDef->bSelf==0 || (pDef->nTerm==1 && pDef->nArg==1) );
  hpCompileAggLate(pC, pDef, HP_AGG_ORDER);
  return SQLITE_OK;
}

/*
** Fill *pDef from aggregate function pF.
*/
static int hpCompileAgg(
  HpCompile *pC,
  struct AggInfo_func *pF,
  HpAggDef *pDef
){
  Parse *pParse = pC->pParse;
  HpGroupPlan *pPlan = pC->pPipe->pGroup;
  ExprList *pList = pF->pFExpr->x.pList;
  int iVec;
  assert( pDef>=pPlan->aAgg && pDef<&pPlan->aAgg[pPlan->nAgg] );
  pDef->pFunc = pF->pFunc;
  pDef->iVec = HP_NO_VEC;
  pDef->iFilter = HP_NO_VEC;
  pDef->iSet = -1;
  pDef->eAgg = hpAggKind(pF->pFunc);
  if( ExprHasProperty(pF->pFExpr, EP_WinFunc) ){
    iVec = hpCompileExpr(pC, pF->pFExpr->y.pWin->pFilter);
    if( iVec<0 ) return SQLITE_ERROR;
    pDef->iFilter = (u16)iVec;
  }
  if( pF->iOBTab>=0 ){
    if( hpCompileAggOrder(pC, pF, pDef) ) return SQLITE_ERROR;
  }else if( pDef->eAgg==HP_AGG_CALL ){
    if( hpCompileAggArgs(pC, pList, pDef, 1, 0) ) return SQLITE_ERROR;
    if( pF->iDistinct<0 && hpCompileAggMayLog(pPlan, pDef) ){
      hpCompileAggLate(pC, pDef, HP_AGG_LOG);
    }else{
      /* In scan order */
      if( (pF->pFunc->funcFlags & SQLITE_FUNC_BUILTIN)==0 ){
        pC->pPipe->bUser = 1;
      }
      pC->pPipe->bSerial = 1;
      pPlan->bOpaque = 1;
    }
  }else if( pList==0 || pList->nExpr==0 ){
    return pDef->eAgg==HP_AGG_COUNT ? SQLITE_OK : SQLITE_ERROR;
  }else{
    if( pList->nExpr!=1 ) return SQLITE_ERROR;
    /* min() and max() keep the best value without its subtype */
    pC->bNoSub = pDef->eAgg>=HP_AGG_MIN;
    iVec = hpCompileAggArg(pC, pDef, pList->a[0].pExpr);
    pC->bNoSub = 0;
    if( iVec<0 ) return SQLITE_ERROR;
    pDef->iVec = (u16)iVec;
  }
  if( pDef->eAgg==HP_AGG_MIN || pDef->eAgg==HP_AGG_MAX || pF->iDistinct>=0 ){
    CollSeq *pColl = sqlite3ExprCollSeq(pParse, pList->a[0].pExpr);
    if( pColl==0 ) pColl = pParse->db->pDfltColl;
    if( !hpCompileCollOk(pColl, &pDef->pColl) ){
      hpCompileNo(pC, HP_NO_COLLATION);
      return SQLITE_ERROR;
    }
  }
  if( pF->iDistinct>=0 ){
    if( pList->nExpr!=1 ) return SQLITE_ERROR;
    assert( pPlan->nSet<pPlan->nAgg && pDef->iVec!=HP_NO_VEC );
    pDef->iSet = (i16)pPlan->nSet++;
    if( pDef->eAgg!=HP_AGG_COUNT ) pC->pPipe->bSerial = 1;
  }
  return SQLITE_OK;
}

/*
** Let *pDef be aggregate function pF, where vector iVec has its value for each
** of the parts that the rows of a group come in.  sum, total and avg are right
** of one part only: then they are that value.
*/
static int hpCompileAggOf(
  HpCompile *pC,
  const struct AggInfo_func *pF,
  int iVec,
  HpAggDef *pDef
){
  const ExprList *pList = pF->pFExpr->x.pList;
  memset(pDef, 0, sizeof(*pDef));
  pDef->pFunc = pF->pFunc;
  pDef->iVec = (u16)iVec;
  pDef->iFilter = HP_NO_VEC;
  pDef->iSet = -1;
  pDef->eAgg = hpAggKind(pF->pFunc);
  pDef->bWeigh = pDef->eAgg==HP_AGG_COUNT;
  assert( pDef->eAgg<HP_AGG_CALL );
  assert( iVec>=0 && pF->iDistinct<0 && pF->iOBTab<0 );
  if( pDef->eAgg>=HP_AGG_MIN ){
    CollSeq *pColl = sqlite3ExprCollSeq(pC->pParse, pList->a[0].pExpr);
    if( pColl==0 ) pColl = pC->pParse->db->pDfltColl;
    if( !hpCompileCollOk(pColl, &pDef->pColl) ){
      hpCompileNo(pC, HP_NO_COLLATION);
      return SQLITE_ERROR;
    }
  }
  return SQLITE_OK;
}

/*
** True if pExpr gives texts, blobs and NULL only, or integers and NULL.
*/
static int hpAggIsPlain(HpCompile *pC, Expr *pExpr){
  static void (*const axPlain[])(sqlite3_context*,int,sqlite3_value**) = {
    substrFunc, upperFunc, lowerFunc, trimFunc, hexFunc, lengthFunc, instrFunc,
#ifndef SQLITE_OMIT_DATETIME_FUNCS
    strftimeFunc, dateFunc,
#endif
  };
  const FuncDef *pDef;
  char aff;
  int i;
  switch( pExpr->op ){
    case TK_CONCAT:
      return 1;
    case TK_CAST:
      aff = sqlite3AffinityType(pExpr->u.zToken, 0);
      return aff==SQLITE_AFF_TEXT || aff==SQLITE_AFF_INTEGER;
    case TK_FUNCTION:
      if( ExprHasProperty(pExpr, EP_WinFunc) ) return 0;
      pDef = sqlite3FindFunction(pC->pParse->db, pExpr->u.zToken,
                 pExpr->x.pList ? pExpr->x.pList->nExpr : 0, SQLITE_UTF8, 0);
      if( pDef==0 ) return 0;
      for(i=0; i<ArraySize(axPlain); i++){
        if( pDef->xSFunc==axPlain[i] ) return 1;
      }
      return 0;
  }
  return 0;
}

/*
** True if equal values of pExpr are all represented alike: not 3 and 3.0, 0.0
** and -0.0, 'a' and 'A'.  One value escapes, which is looked for as rows come
** (hpAggAlike()): a column of integers stores -2^63 as it is given.
*/
static int hpCompileAggUniform(HpCompile *pC, Expr *pExpr){
  CollSeq *pColl = sqlite3ExprCollSeq(pC->pParse, pExpr);
  char aff;
  pExpr = sqlite3ExprSkipCollate(pExpr);
  if( hpAggIsPlain(pC, pExpr) ) return sqlite3IsBinary(pColl);
  if( pExpr->op!=TK_COLUMN && pExpr->op!=TK_AGG_COLUMN ) return 0;
  if( pExpr->iTable!=pC->iCur && pC->pJoin==0 ) return 0;
  if( pExpr->iColumn<0 || pExpr->iColumn==pExpr->y.pTab->iPKey ) return 1;
  aff = pExpr->y.pTab->aCol[pExpr->iColumn].affinity;
  return (aff==SQLITE_AFF_TEXT || aff==SQLITE_AFF_INTEGER
       || aff==SQLITE_AFF_NUMERIC)
      && sqlite3IsBinary(pColl);
}

/*
** Is aggregate pDef, which is function pExpr, the same in whatever order its
** rows are read?  Of a sum that is found out when it is known:
** HpGroupPlan.bAnyOrder.
*/
static int hpCompileAggAnyOrder(HpCompile *pC, const Expr *pExpr,
                                const HpAggDef *pDef){
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      return 1;
    case HP_AGG_SUM:
      return pDef->iSet<0;
    case HP_AGG_MIN: case HP_AGG_MAX:
      return pDef->iSet<0
          && hpCompileAggUniform(pC, pExpr->x.pList->a[0].pExpr);
  }
  return 0;
}
#endif /* SQLITE_OMIT_HP */
