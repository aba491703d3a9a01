/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_scalar: sub-selects that have one value, or one set of values, for all rows (prepare
** time).
**
**    hpScalarIsConst()    may its value be a constant of a program?
**    hpScalarCode()       code that
**    hpScalarIsSet()      IN: may its values be a set of a plan?
**    hpScalarCodeSets()   code that
**    hpScalarSub()        compile either (HpCompile.xSub)
**    hpScalarIsStrict()   do all rows that get to an expression need its sub-selects?
**    hpScalarCannotFail() can nothing in an expression fail?
**
** SQLite evaluates such a sub-select once, when the first row gets to it.  Its code is a
** subroutine, so ours calls that before the scan: whoever comes second takes the result.
** But then it is evaluated even if no row gets to it.  So it must not fail, nor call
** the application: an integer sum that overflows would be an error that SQLite does not
** raise.
**
** The values of IN (SELECT ...) SQLite puts into a table of its own, unless an index
** has them.  hp_set.c reads that when it is made.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Can the aggregate function pExpr not fail? */
static int hpScalarAggregate(sqlite3 *db, const Expr *pExpr){
  const FuncDef *pDef;
  const Expr *pArg;
  if( pExpr->pAggInfo ){
    pDef = pExpr->pAggInfo->aFunc[pExpr->iAgg].pFunc;
  }else{
    /* SQLite has coded a copy */
    pDef = sqlite3FindFunction(db, pExpr->u.zToken,
               pExpr->x.pList ? pExpr->x.pList->nExpr : 0, SQLITE_UTF8, 0);
  }
  if( pDef==0 || (pDef->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) return 0;
  if( pDef->xFinalize==countFinalize || pDef->xFinalize==avgFinalize
   || pDef->xFinalize==totalFinalize || pDef->xFinalize==minMaxFinalize
  ){
    return 1;
  }
  if( pDef->xFinalize!=sumFinalize || pExpr->x.pList==0 ) return 0;
  /* Of a REAL column there are no integers */
  pArg = sqlite3ExprSkipCollate(pExpr->x.pList->a[0].pExpr);
  return (pArg->op==TK_COLUMN || pArg->op==TK_AGG_COLUMN) && pArg->iColumn>=0
      && pArg->y.pTab!=0 && pArg->y.pTab->aCol[pArg->iColumn].affinity==SQLITE_AFF_REAL;
}

/* Is pExpr a LIKE or GLOB of a pattern that is not too long? */
static int hpScalarIsLike(sqlite3 *db, const Expr *pExpr){
  const Expr *pPattern;
  const FuncDef *pDef;
  if( pExpr->op!=TK_FUNCTION || !ExprUseXList(pExpr) || pExpr->x.pList==0
   || pExpr->x.pList->nExpr!=2
  ){
    return 0;
  }
  pDef = sqlite3FindFunction(db, pExpr->u.zToken, 2, SQLITE_UTF8, 0);
  pPattern = pExpr->x.pList->a[0].pExpr;
  return pDef && pDef->xSFunc==likeFunc && pPattern->op==TK_STRING
      && sqlite3Strlen30(pPattern->u.zToken)
             <= db->aLimit[SQLITE_LIMIT_LIKE_PATTERN_LENGTH];
}

static int hpScalarWalkExpr(Walker *pWalker, Expr *pExpr){
  switch( pExpr->op ){
    case TK_AGG_FUNCTION:
      if( ExprHasProperty(pExpr, EP_WinFunc)
       || !hpScalarAggregate(pWalker->pParse->db, pExpr)
      ){
        break;
      }
      return WRC_Continue;
    case TK_COLUMN:
      /* The expression of a generated column may fail */
      if( pExpr->iColumn>=0 && pExpr->y.pTab
       && (pExpr->y.pTab->aCol[pExpr->iColumn].colFlags & COLFLAG_VIRTUAL)!=0
      ){
        break;
      }
      return WRC_Continue;
    case TK_AGG_COLUMN: case TK_SELECT: case TK_EXISTS:
      return WRC_Continue;
    default:
      if( hpScalarIsLike(pWalker->pParse->db, pExpr) ) return WRC_Continue;
      return hpCompileSafeExpr(pWalker, pExpr);
  }
  pWalker->eCode = 0;
  return WRC_Abort;
}

/* May that be the LIMIT or OFFSET of a sub-select?  What is no integer is an error. */
static int hpScalarIsLimit(const Expr *pExpr){
  int n;
  return pExpr==0 || sqlite3ExprIsInteger(pExpr, &n, 0, 0);
}

/* Virtual tables may do anything */
static int hpScalarWalkSelect(Walker *pWalker, Select *p){
  int i;
  if( p->pLimit && (!hpScalarIsLimit(p->pLimit->pLeft) || !hpScalarIsLimit(p->pLimit->pRight)) ){
    pWalker->eCode = 0;
    return WRC_Abort;
  }
  for(i=0; p->pSrc && i<p->pSrc->nSrc; i++){
    const SrcItem *pItem = &p->pSrc->a[i];
    if( pItem->fg.isSubquery==0 && !IsOrdinaryTable(pItem->pSTab) ){
      pWalker->eCode = 0;
      return WRC_Abort;
    }
  }
  return WRC_Continue;
}

/* Is pExpr, a sub-select or an IN of one, not correlated, a subroutine, and safe? */
static int hpScalarIsSafe(Parse *pParse, const Expr *pExpr){
  Walker w;
  if( ExprHasProperty(pExpr, EP_VarSelect) || !ExprHasProperty(pExpr, EP_Subrtn)
   || pExpr->x.pSelect->pEList->nExpr!=1
  ){
    return 0;
  }
  memset(&w, 0, sizeof(w));
  w.pParse = pParse;
  w.eCode = 1;
  w.xExprCallback = hpScalarWalkExpr;
  w.xSelectCallback = hpScalarWalkSelect;
  sqlite3WalkSelect(&w, pExpr->x.pSelect);
  return w.eCode;
}

/*
** May the value of sub-select pExpr be a constant of a program?  SQLite's code for the
** query has been made.
*/
static int hpScalarIsConst(Parse *pParse, Expr *pExpr){
  assert( pExpr->op==TK_SELECT || pExpr->op==TK_EXISTS );
  return pExpr->iTable>0 && hpScalarIsSafe(pParse, pExpr);
}

/*
** Are all sub-selects in pExpr evaluated for all rows that get to it?  Only then is that
** before the first row is given, and the application may change what they read.
*/
static int hpScalarIsStrict(const Expr *pExpr){
  if( pExpr==0 || !ExprHasProperty(pExpr, EP_Subquery) ) return 1;
  switch( pExpr->op ){
    case TK_SELECT:
      return 1;
    case TK_IN:
      return !ExprHasProperty(pExpr->pLeft, EP_Subquery);
    case TK_NE: case TK_EQ: case TK_GT: case TK_LE: case TK_LT: case TK_GE:
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_NOT:
      return hpScalarIsStrict(pExpr->pLeft) && hpScalarIsStrict(pExpr->pRight);
  }
  return 0;
}

/*
** Can nothing in pExpr fail, sub-selects included?
*/
static int hpScalarCannotFail(Parse *pParse, Expr *pExpr){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.pParse = pParse;
  w.eCode = 1;
  w.xExprCallback = hpScalarWalkExpr;
  w.xSelectCallback = hpScalarWalkSelect;
  sqlite3WalkExpr(&w, pExpr);
  return w.eCode;
}

/*
** Code the value of sub-select pExpr into register iReg.
*/
static void hpScalarCode(Parse *pParse, const Expr *pExpr, int iReg){
  Vdbe *v = pParse->pVdbe;
  assert( ExprHasProperty(pExpr, EP_Subrtn) && pExpr->iTable>0 );
  sqlite3VdbeAddOp2(v, OP_Gosub, pExpr->y.sub.regReturn, pExpr->y.sub.iAddr);
  sqlite3VdbeAddOp2(v, OP_Copy, pExpr->iTable, iReg);
}

/*
** May the right side of pExpr, an IN, be a set of a plan?
*/
static int hpScalarIsSet(Parse *pParse, const Expr *pExpr){
  assert( pExpr->op==TK_IN );
  return ExprUseXSelect(pExpr) && hpScalarIsSafe(pParse, pExpr)
      && !sqlite3ExprIsVector(pExpr->pLeft);
}

/*
** The pipe of a set: all values of cursor iCsr, under collation pColl.
*/
static int hpScalarPipe(HpCompile *pC, HpPipePlan *pPipe, int iCsr, CollSeq *pColl){
  HpPlan *pPlan = pC->pPlan;
  HpSourcePlan *pSource = &pPipe->source;
  HpRelPlan *pRel = hpCompileAlloc(pPlan, sizeof(*pRel));
  HpOp op;
  int iVec;
  pPipe->prog.pMem = &pPlan->mem;
  pPipe->pSink = &hpSinkRel;
  pPipe->bSerial = 1;
  pPipe->pRel = pRel;
  pSource->pType = &hpSetType;
  pSource->iCsr = iCsr;
  pSource->nCol = 1;
  pSource->aCol = hpCompileAlloc(pPlan, sizeof(HpCol));
  memset(&op, 0, sizeof(op));
  op.eOp = HP_OP_COLUMN;
  iVec = hpProgOp(&pPipe->prog, &op);
  if( pRel==0 || pSource->aCol==0 || iVec<0
   || hpCompileKeys(pPlan, &pRel->key.keys, 1)
  ){
    return SQLITE_NOMEM;
  }
  pRel->bSemi = 1;
  pRel->iRel = 2*(pPlan->nPipe-1) + pPlan->nSet;
  pRel->key.aNever = hpCompileAlloc(pPlan, 1);
  pRel->key.keys.n = 1;
  pRel->key.keys.aVec[0] = (u16)iVec;
  pRel->key.keys.aSort[0] = 0;
  pRel->key.keys.aColl[0] = pColl;
  return pRel->key.aNever ? SQLITE_OK : SQLITE_NOMEM;
}

/*
** The vector of pExpr, an IN of which hpScalarIsSet() is true, or -1.
*/
static int hpScalarSet(HpCompile *pC, Expr *pExpr){
  HpPlan *pPlan = pC->pPlan;
  Parse *pParse = pC->pParse;
  Expr *pLeft = pExpr->pLeft;
  Expr *pRight = pExpr->x.pSelect->pEList->a[0].pExpr;
  u8 aff = (u8)sqlite3CompareAffinity(pRight, sqlite3ExprAffinity(pLeft));
  HpLookup *pKey = hpCompileAlloc(pPlan, sizeof(*pKey));
  CollSeq *pColl;
  u16 aArg[1];
  HpOp x;
  int a, i;
  if( pPlan->aSet==0 ) pPlan->aSet = hpCompileAlloc(pPlan, HP_MX_SET*sizeof(HpSetPlan));
  if( pKey==0 || pPlan->aSet==0 || hpCompileKeys(pPlan, &pKey->keys, 1) ){
    return hpCompileNo(pC, HP_NO_LIMIT);
  }
  if( !hpCompileCollOk(sqlite3BinaryCompareCollSeq(pParse, pLeft, pRight), &pColl) ){
    return hpCompileNo(pC, HP_NO_COLLATION);
  }
  a = hpCompileExpr(pC, pLeft);
  if( a>=0 && aff>SQLITE_AFF_BLOB ) a = hpCompileAff(pC, HP_OP_AFFINITY, aff, a);
  if( a<0 ) return -1;
  for(i=0; i<pPlan->nSet && pPlan->aSet[i].pExpr!=pExpr; i++){}
  if( i==pPlan->nSet ){
    if( i==HP_MX_SET || hpScalarPipe(pC, &pPlan->aSet[i].pipe, pExpr->iTable, pColl) ){
      return hpCompileNo(pC, HP_NO_LIMIT);
    }
    pPlan->aSet[pPlan->nSet++].pExpr = pExpr;
  }
  pKey->keys.n = 1;
  pKey->keys.aVec[0] = aArg[0] = (u16)a;
  pKey->keys.aSort[0] = 0;
  pKey->keys.aColl[0] = pColl;
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_SET;
  x.a = (u16)i;
  x.pInfo = pKey;
  x.iGuard = HP_NO_VEC;
  return hpCompileArgs(pC, &x, aArg, 1);
}

/*
** The vector of pExpr, a sub-select or an IN of one, or -1.
*/
static int hpScalarSub(HpCompile *pC, Expr *pExpr){
  int a;
  if( pExpr->op==TK_AGG_FUNCTION ) return hpCompileNo(pC, HP_NO_OTHER);
  if( pExpr->op==TK_IN ){
    if( hpScalarIsSet(pC->pParse, pExpr) ) return hpScalarSet(pC, pExpr);
  }else if( hpScalarIsConst(pC->pParse, pExpr) ){
    a = hpCompileConst(pC, pExpr);
    return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
  }
  return hpCompileNo(pC, HP_NO_SUBQUERY);
}

/*
** Let SQLite make the tables of the sets of pPlan.
*/
static void hpScalarCodeSets(Parse *pParse, HpPlan *pPlan){
  int i;
  for(i=0; i<pPlan->nSet; i++){
    const Expr *pExpr = pPlan->aSet[i].pExpr;
    sqlite3VdbeAddOp2(pParse->pVdbe, OP_Gosub, pExpr->y.sub.regReturn,
                      pExpr->y.sub.iAddr);
    pPlan->aSet[i].pExpr = 0;
  }
}
#endif /* SQLITE_OMIT_HP */
