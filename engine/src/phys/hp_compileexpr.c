/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compileexpr: from an Expr tree to operations, and the allow-list of them
** (prepare time).
**
**    hpCompileExpr()       an expression: its vector, or a reason against it
**    hpCompileExprColumn()  a column of the table
**    hpCompileExprWhere()  a WHERE clause: filters
**    hpCompileExprLosesSubtype()    can an argument bring a subtype that we
**                          would lose?
**
** The allow-list stands in hpCompileExpr() and hpCompileAgg(): what is not
** named there is refused, and the program is SQLite's.  hpCompileFunc() says
** which functions are called, and how.
**
** Expressions contain expressions.  The modules below that compile some of them
** (hp_compilecompare.c, hp_compilearms.c) come back here by HpCompile.xExpr.
** Columns of other tables and sub-selects are known to those above: they set
** HpCompile.xOther and HpCompile.xSub.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Of pExpr only the type or the length is wanted.  If it is a column stock does
** not read its value, which may go on for many overflow pages; we would.
** (The characters of a text have to be counted.)
*/
static void hpCompileTypeOnly(HpCompile *pC, const Expr *pExpr, u8 eType){
  int i;
  assert( eType==HP_ONLY_TYPE || eType==HP_ONLY_LENGTH );
  if( pExpr->op!=TK_COLUMN && pExpr->op!=TK_AGG_COLUMN ) return;
  for(i=0; i<pC->pPlan->nPipe; i++){
    HpSourcePlan *pSource = &pC->pPlan->aPipe[i].source;
    if( pSource->eTypeOnly!=HP_ONLY_TYPE ) pSource->eTypeOnly = eType;
  }
}

/*
** The vector of virtual column pCol.  Where the table is STRICT a value of
** the wrong type is an error.
*/
static int hpCompileVirtual(HpCompile *pC, Column *pCol){
  int a;
  assert( (pCol->colFlags & COLFLAG_VIRTUAL)!=0 && pC->nSelf>=0 );
  if( pC->pTab->tabFlags & TF_Strict ) return hpCompileNo(pC, HP_NO_COLUMN);
  if( pC->nSelf>=100 ) return hpCompileNo(pC, HP_NO_COLUMN);
  pC->nSelf++;
  a = hpCompileExpr(pC, sqlite3ColumnExpr(pC->pTab, pCol));
  pC->nSelf--;
  if( pCol->affinity>=SQLITE_AFF_TEXT ){
    a = hpCompileAff(pC, HP_OP_AFFINITY, pCol->affinity, a);
  }
  return a;
}

/*
** The vector of column iColumn of the table.
*/
static int hpCompileExprColumn(HpCompile *pC, int iColumn){
  Table *pTab = pC->pTab;
  HpOp op;
  int i;
  if( iColumn>=0 && iColumn!=pTab->iPKey
   && (pTab->aCol[iColumn].colFlags & COLFLAG_VIRTUAL)!=0
  ){
    return hpCompileVirtual(pC, &pTab->aCol[iColumn]);
  }
  i = hpCompileStored(pC, iColumn);
  if( i<0 ) return -1;
  memset(&op, 0, sizeof(op));
  op.eOp = HP_OP_COLUMN;
  op.a = (u16)i;
  i = hpProgOp(&pC->pPipe->prog, &op);
  return i<0 ? hpCompileNo(pC, HP_NO_LIMIT) : i;
}

/*
** The vector of NULLIF(x,y): x, but NULL where the two are equal under
** the collation pColl and without affinity.
*/
static int hpCompileNullif(HpCompile *pC, ExprList *pList, CollSeq *pColl){
  u16 aVec[3];
  int a;
  assert( pList->nExpr==2 );
  a = hpCompileCompareAs(pC, TK_EQ, pList->a[0].pExpr, pList->a[1].pExpr,
                         pColl, SQLITE_AFF_BLOB);
  if( a<0 ) return -1;
  aVec[0] = (u16)a;
  a = hpCompileLiteral(pC, TK_NULL, 0);
  if( a<0 ) return -1;
  aVec[1] = (u16)a;
  a = hpCompileExpr(pC, pList->a[0].pExpr);
  if( a<0 ) return -1;
  aVec[2] = (u16)a;
  return hpCompileList(pC, HP_OP_CASE, aVec, 3);
}

/*
** Can argument pArg bring a subtype that we would lose?  Functions hand it from
** result to argument; operators would have to carry it on.  Functions in pArg
** then decline if they return one (HP_SUB_DECLINE).
*/
static int hpCompileExprLosesSubtype(HpCompile *pC, Expr *pArg){
  while( pArg->op==TK_COLLATE || pArg->op==TK_UPLUS ){
    /* A COLLATE that pushing down WHERE terms made clears it */
    if( pArg->op==TK_COLLATE && !ExprHasProperty(pArg, EP_Collate) ) return 1;
    pArg = pArg->pLeft;
  }
  if( !sqlite3ExprCanReturnSubtype(pC->pParse, pArg) ) return 0;
  if( pArg->op==TK_FUNCTION ){
    FuncDef *pDef = sqlite3FindFunction(pC->pParse->db, pArg->u.zToken,
        pArg->x.pList ? pArg->x.pList->nExpr : 0, SQLITE_UTF8, 0);
    return pDef==0 || (pDef->funcFlags & SQLITE_FUNC_INLINE)!=0
        || pDef->xSFunc==nullifFunc;
  }
  return 1;
}

/*
** The vector of a function call.  sqlite3ExprCodeTarget() has been there
** before: the function exists and may be used here.
*/
static int hpCompileFunc(HpCompile *pC, Expr *pExpr){
  Parse *pParse = pC->pParse;
  sqlite3 *db = pParse->db;
  ExprList *pList = pExpr->x.pList;
  int nArg = pList ? pList->nExpr : 0;
  u16 aVec[HP_MX_LIST];
  u8 bNoSub = pC->bNoSub;
  CollSeq *pColl = 0;
  FuncDef *pDef;
  HpOp x;
  int i, a;

  assert( ExprUseXList(pExpr) && !ExprHasProperty(pExpr, EP_TokenOnly) );
  if( ExprHasProperty(pExpr, EP_WinFunc) ){
    return hpCompileNoFunc(pC, pExpr, HP_NO_WINDOW);
  }
  if( nArg>HP_MX_LIST ) return hpCompileNo(pC, HP_NO_LIMIT);
  pDef = sqlite3FindFunction(db, pExpr->u.zToken, nArg, ENC(db), 0);
  if( pDef==0 || pDef->xFinalize || pDef->xSFunc==0
   || (pDef->funcFlags & (SQLITE_FUNC_INTERNAL|SQLITE_FUNC_WINDOW
                          |SQLITE_FUNC_EPHEM))!=0
  ){
    return hpCompileNoFunc(pC, pExpr, HP_NO_FUNCTION);
  }
  if( pDef->funcFlags & SQLITE_FUNC_INLINE ){
    if( nArg==0 ) return hpCompileNoFunc(pC, pExpr, HP_NO_FUNCTION);
    switch( SQLITE_PTR_TO_INT(pDef->pUserData) ){
      case INLINEFUNC_coalesce:
        return hpCompileArmsCoalesce(pC, pList);
      case INLINEFUNC_iif:
        return hpCompileArmsCase(pC, 0, pList);
      case INLINEFUNC_unlikely:
        return hpCompileExpr(pC, pList->a[0].pExpr);
    }
    return hpCompileNoFunc(pC, pExpr, HP_NO_FUNCTION);
  }
  /* PRAGMA case_sensitive_like makes a like() that is not marked so */
  if( (pDef->funcFlags & (SQLITE_FUNC_CONSTANT|SQLITE_FUNC_SLOCHNG))==0
   && pDef->xSFunc!=likeFunc
  ){
    return hpCompileNoFunc(pC, pExpr, HP_NO_NONDETERM);
  }
  /* In a generated column 'now' is an error */
  if( pC->nSelf && (pDef->funcFlags & SQLITE_FUNC_SLOCHNG) ){
    return hpCompileNoFunc(pC, pExpr, HP_NO_FUNCTION);
  }
  memset(&x, 0, sizeof(x));
  if( pDef->xSFunc==likeFunc && nArg==2
   && sqlite3ExprIsConstant(pParse, pList->a[0].pExpr)
  ){
    int b;
    a = hpCompileExpr(pC, pList->a[0].pExpr);
    b = a<0 ? -1 : hpCompileExpr(pC, pList->a[1].pExpr);
    if( b<0 ) return -1;
    pC->pPipe->bDeep = 1;
    x.eOp = HP_OP_LIKE;
    x.a = (u16)a;
    x.b = (u16)b;
    x.pInfo = pDef->pUserData;
    a = hpProgOp(&pC->pPipe->prog, &x);
    return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
  }
  if( pDef->funcFlags & (SQLITE_FUNC_LENGTH|SQLITE_FUNC_TYPEOF) ){
    u32 f = pDef->funcFlags & (SQLITE_FUNC_LENGTH|SQLITE_FUNC_TYPEOF);
    hpCompileTypeOnly(pC, pExpr->x.pList->a[0].pExpr,
                      f==SQLITE_FUNC_LENGTH ? HP_ONLY_LENGTH : HP_ONLY_TYPE);
  }
  if( pDef->funcFlags & SQLITE_FUNC_NEEDCOLL ){
    for(i=0; i<nArg && pColl==0; i++){
      pColl = sqlite3ExprCollSeq(pParse, pList->a[i].pExpr);
    }
    if( pColl==0 ) pColl = db->pDfltColl;
    hpCompileColl(pC, pColl, &x);
  }
  if( pDef->xSFunc==nullifFunc && nArg==2 ){
    return hpCompileNullif(pC, pList, pColl);
  }
  x.pColl = pColl;
  for(i=0; i<nArg; i++){
    Expr *pArg = pList->a[i].pExpr;
    pC->bNoSub = ((pDef->funcFlags & (SQLITE_SUBTYPE|SQLITE_FUNC_NEEDCOLL))!=0
                  || (pDef->funcFlags & SQLITE_FUNC_BUILTIN)==0)
              && hpCompileExprLosesSubtype(pC, pArg);
    a = hpCompileExpr(pC, pArg);
    if( a<0 ) return -1;
    aVec[i] = (u16)a;
  }
  pC->bNoSub = bNoSub;
  if( (pDef->funcFlags & SQLITE_FUNC_BUILTIN)==0 && pDef->xSFunc!=likeFunc ){
    pC->pPipe->bSerial = pC->pPipe->bUser = 1;
  }
  pC->pPipe->bDeep = 1;
  x.eOp = HP_OP_FUNC;
  x.bUser = 0;
  x.bSub = sqlite3ExprCanReturnSubtype(pParse, pExpr)!=0;
  x.pInfo = pDef;
  a = hpCompileArgs(pC, &x, aVec, nArg);
  if( bNoSub && x.bSub && a>=0 ){
    HpProg *pProg = &pC->pPipe->prog;
    for(i=0; pProg->aOp[i].iOut!=a; i++){}
    assert( i<pProg->nOp && pProg->aOp[i].eOp==HP_OP_FUNC );
    pProg->aOp[i].bSub = HP_SUB_DECLINE;
  }
  return a;
}

/*
** The vector of pExpr, or -1 if the executor does not do it.
*/
static int hpCompileExpr(HpCompile *pC, Expr *pExpr){
  Parse *pParse = pC->pParse;
  u8 bJump = pC->bJump;
  int a, b;
  /* Generated columns are not around what comes from other pipes */
  assert( pC->nSelf>=0 && pC->nSelf<=100 && pC->pPipe->prog.pMem!=0 );
  pC->xExpr = hpCompileExpr;
  pC->bJump = 0;
  while( pExpr && (pExpr->op==TK_COLLATE || pExpr->op==TK_UPLUS) ){
    pExpr = pExpr->pLeft;
    bJump = 0;
  }
  if( pExpr==0 ) return hpCompileNo(pC, HP_NO_OTHER);
  if( sqlite3ExprIsVector(pExpr) ) return hpCompileNo(pC, HP_NO_ROWVALUE);
  if( hpCompileIsConst(pC, pExpr) ){
    /* Functions may fail where stock would not have called them, so calls
    ** with constants are operations like others */
    a = hpCompileConst(pC, pExpr);
    return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
  }
  if( pC->xOther && pC->nSelf==0 ){
    a = pC->xOther(pC, pExpr, bJump);
    if( a!=-2 ) return a;
  }
  switch( pExpr->op ){
    case TK_AGG_COLUMN:
      if( pExpr->pAggInfo!=pC->pAggInfo ) return hpCompileNo(pC, HP_NO_COLUMN);
      /* no break */ deliberate_fall_through
    case TK_COLUMN:
      assert( ExprUseYTab(pExpr) );
      if( ExprHasProperty(pExpr, EP_FixedCol)
       && sqlite3ExprIsConstant(pParse, pExpr)
      ){
        /* WHERE says that it equals pLeft: as stock does */
        u8 aff = sqlite3TableColumnAffinity(pExpr->y.pTab, pExpr->iColumn);
        a = hpCompileExpr(pC, pExpr->pLeft);
        if( aff<=SQLITE_AFF_BLOB ) return a;
        return hpCompileAff(pC, HP_OP_AFFINITY, aff, a);
      }
      if( pExpr->y.pTab!=pC->pTab
       || (pC->nSelf ? pExpr->iTable>=0 : pExpr->iTable!=pC->iCur)
      ){
        return hpCompileNo(pC, HP_NO_COLUMN);
      }
      return hpCompileExprColumn(pC, pExpr->iColumn);
    case TK_UMINUS:
      /* As stock does: 0-X */
      a = hpCompileLiteral(pC, TK_INTEGER, "0");
      b = a<0 ? -1 : hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_ARITH, TK_MINUS, a, b);
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_REM:
      a = hpCompileExpr(pC, pExpr->pLeft);
      b = a<0 ? -1 : hpCompileExpr(pC, pExpr->pRight);
      return hpCompileOp(pC, HP_OP_ARITH, pExpr->op, a, b);
    case TK_BITAND: case TK_BITOR: case TK_LSHIFT: case TK_RSHIFT:
      a = hpCompileExpr(pC, pExpr->pLeft);
      b = a<0 ? -1 : hpCompileExpr(pC, pExpr->pRight);
      return hpCompileOp(pC, HP_OP_BIT, pExpr->op, a, b);
    case TK_BITNOT:
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_BITNOT, 0, a, a);
    case TK_CONCAT:
      a = hpCompileExpr(pC, pExpr->pLeft);
      b = a<0 ? -1 : hpCompileExpr(pC, pExpr->pRight);
      return hpCompileOp(pC, HP_OP_CONCAT, 0, a, b);
    case TK_CAST:
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileAff(pC, HP_OP_CAST,
                          sqlite3AffinityType(pExpr->u.zToken, 0), a);
    case TK_NE: case TK_EQ: case TK_GT: case TK_LE: case TK_LT: case TK_GE:
    case TK_IS: case TK_ISNOT:
      return hpCompileCompareRows(pC, pExpr->op, pExpr->pLeft, pExpr->pRight,
                                 ExprHasProperty(pExpr, EP_Commuted));
    case TK_TRUTH: {
      int isTrue = sqlite3ExprTruthValue(pExpr->pRight);
      assert( pExpr->op2==TK_IS || pExpr->op2==TK_ISNOT );
      pC->bJump = bJump;
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileTruth(pC, a, !isTrue, isTrue ^ (pExpr->op2==TK_IS));
    }
    case TK_AND: case TK_OR:
      return hpCompileArmsLogic(pC, pExpr, bJump);
    case TK_NOT:
      pC->bJump = bJump;
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_NOT, 0, a, a);
    case TK_ISNULL: case TK_NOTNULL:
      hpCompileTypeOnly(pC, pExpr->pLeft, HP_ONLY_TYPE);
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_ISNULL, pExpr->op, a, a);
    case TK_BETWEEN:
      return hpCompileCompareBetween(pC, pExpr, bJump);
    case TK_IN:
      return hpCompileCompareIn(pC, pExpr);
    case TK_CASE:
      return hpCompileArmsCase(pC, pExpr->pLeft, pExpr->x.pList);
    case TK_FUNCTION:
      return hpCompileFunc(pC, pExpr);
    case TK_SELECT: case TK_EXISTS: case TK_AGG_FUNCTION:
      return pC->xSub ? pC->xSub(pC, pExpr) : hpCompileNo(pC, HP_NO_SUBQUERY);
    case TK_SELECT_COLUMN:
      return hpCompileNo(pC, HP_NO_SUBQUERY);
  }
  return hpCompileNo(pC, HP_NO_OTHER);
}

/*
** Make filters of the terms of pWhere that AND connects.
*/
static int hpCompileExprWhere(HpCompile *pC, Expr *pWhere){
  int iVec;
  assert( pC->nRangeTerm<=ArraySize(pC->apRangeTerm) );
  assert( pC->pPipe->prog.iSide==0 && pC->bNoSub==0 );
  pC->xExpr = hpCompileExpr;
  if( pWhere==0 ) return SQLITE_OK;
  for(iVec=0; iVec<pC->nRangeTerm; iVec++){
    if( pC->apRangeTerm[iVec]==pWhere ) return SQLITE_OK;
  }
  if( pWhere->op==TK_AND ){
    if( hpCompileExprWhere(pC, pWhere->pLeft) ) return SQLITE_ERROR;
    return hpCompileExprWhere(pC, pWhere->pRight);
  }
  if( pWhere->op==TK_BETWEEN && !sqlite3ExprIsConstant(pC->pParse, pWhere) ){
    iVec = hpCompileCompareHalf(pC, pWhere, 0);
    if( iVec<0 || hpProgFilter(&pC->pPipe->prog, iVec) ) return SQLITE_ERROR;
    iVec = hpCompileCompareHalf(pC, pWhere, 1);
  }else{
    pC->bJump = 1;
    iVec = hpCompileExpr(pC, pWhere);
  }
  /* It is for one expression only */
  assert( pC->bJump==0 );
  if( iVec<0 ) return SQLITE_ERROR;
  return hpProgFilter(&pC->pPipe->prog, iVec);
}
#endif /* SQLITE_OMIT_HP */
