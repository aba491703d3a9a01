/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compilecompare: comparisons (prepare time).
**
**    hpCompileCompare()         of two values
**    hpCompileCompareAs()       the same with another affinity
**    hpCompileCompareRows()     of two values, or of two row values
**    hpCompileCompareBetween()  BETWEEN
**    hpCompileCompareHalf()     one bound of it: a filter of its own
**    hpCompileCompareIn()       IN with a list
**
** Operands are compiled by HpCompile.xExpr.
**
** A row value is compared field by field, a BETWEEN is two comparisons, and an
** IN with others than constants is one for each value.  SQLite stops at the
** first of them that decides.  So the rest is a side (hp_compileside.c) of
** those before, if that is cheaper or a function in it may fail.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Most values of an IN list with others than constants.  Stock stops at the
** first match, which we do not: a list of 150 took nine times as long. */
#define HP_MX_OR 8

/*
** The vector of pLeft op pRight, neither of which is a row value.  pColl is
** the collation and aff the affinity of the comparison.
*/
static int hpCompileCompareAs(
  HpCompile *pC,
  u8 op,
  Expr *pLeft,
  Expr *pRight,
  CollSeq *pColl,
  u8 aff
){
  HpOp x;
  int a, b;
  assert( (op>=TK_NE && op<=TK_GE) || op==TK_IS || op==TK_ISNOT );
  if( sqlite3ExprIsVector(pLeft) || sqlite3ExprIsVector(pRight) ){
    return hpCompileNo(pC, HP_NO_ROWVALUE);
  }
  memset(&x, 0, sizeof(x));
  hpCompileColl(pC, pColl, &x);
  a = pC->xExpr(pC, pLeft);
  if( a<0 ) return -1;
  b = pC->xExpr(pC, pRight);
  if( b<0 ) return -1;
  /* Sides that the operands have are closed */
  assert( hpProgSees(&pC->pPipe->prog, a) && hpProgSees(&pC->pPipe->prog, b) );
  x.eOp = HP_OP_COMPARE;
  x.op = op;
  x.aff = aff & SQLITE_AFF_MASK;
  x.a = (u16)a;
  x.b = (u16)b;
  if( x.bUser==0 && hpProgIsConst(&pC->pPipe->prog, a) ){
    /* The constant on the right: the fast loops want it so */
    static const u8 aSwap[] = {   /* NE EQ GT LE LT GE */
      TK_NE, TK_EQ, TK_LT, TK_GE, TK_GT, TK_LE
    };
    assert( TK_EQ==TK_NE+1 && TK_GT==TK_NE+2 && TK_LE==TK_NE+3 );
    assert( TK_LT==TK_NE+4 && TK_GE==TK_NE+5 );
    x.a = (u16)b;
    x.b = (u16)a;
    if( op>=TK_NE && op<=TK_GE ) x.op = aSwap[op-TK_NE];
  }
  if( x.aff==SQLITE_AFF_TEXT && hpProgIsConst(&pC->pPipe->prog, x.b) ){
    /* Where it is compared with text only, its text is made once */
    b = hpCompileAff(pC, HP_OP_AFFINITY, SQLITE_AFF_TEXT, x.b);
    if( b<0 ) return -1;
    x.n = (u16)(b+1);
  }
  a = hpProgOp(&pC->pPipe->prog, &x);
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
}

/* The same with the affinity of "pLeft op pRight" */
static int hpCompileCompare(
  HpCompile *pC,
  u8 op,
  Expr *pLeft,
  Expr *pRight,
  CollSeq *pColl
){
  if( sqlite3ExprIsVector(pLeft) || sqlite3ExprIsVector(pRight) ){
    return hpCompileNo(pC, HP_NO_ROWVALUE);
  }
  return hpCompileCompareAs(pC, op, pLeft, pRight, pColl,
                            binaryCompareP5(pLeft, pRight, 0));
}

/*
** The vector of pLeft op pRight from field i on: row values or not.
** (a,b)<(c,d) is a<c OR (a=c AND b<d), which is NULL where stock's chain of
** jumps gives NULL, and (a,b)=(c,d) is a=c AND b=d.
*/
static int hpCompileFields(
  HpCompile *pC,
  u8 op,
  Expr *pLeft,
  Expr *pRight,
  int bCommuted,         /* The right side says the collation */
  int i
){
  int n = sqlite3ExprVectorSize(pLeft);
  u8 opx = op;           /* Operator of this field */
  CollSeq *pColl;
  Expr *pL = pLeft;
  Expr *pR = pRight;
  u16 aVec[1];
  int nDone;
  int nRest = 0;
  int iSide;
  int a, b, k;
  assert( i>=0 && i<n );
  /* hpCompileCompareRows() turns these round */
  assert( n==1 || (op!=TK_NE && op!=TK_ISNOT) );
  if( n>1 ){
    if( pLeft->op!=TK_VECTOR || pRight->op!=TK_VECTOR
     || sqlite3ExprVectorSize(pRight)!=n
    ){
      return hpCompileNo(pC, HP_NO_SUBQUERY);
    }
    pL = pLeft->x.pList->a[i].pExpr;
    pR = pRight->x.pList->a[i].pExpr;
  }
  if( bCommuted ){
    pColl = sqlite3BinaryCompareCollSeq(pC->pParse, pR, pL);
  }else{
    pColl = sqlite3BinaryCompareCollSeq(pC->pParse, pL, pR);
  }
  if( i==n-1 ) return hpCompileCompare(pC, op, pL, pR, pColl);
  if( op==TK_LE ) opx = TK_LT;
  if( op==TK_GE ) opx = TK_GT;
  a = hpCompileCompare(pC, opx, pL, pR, pColl);
  if( a>=0 && opx!=TK_EQ && opx!=TK_IS ){
    b = hpCompileCompare(pC, TK_EQ, pL, pR, pColl);
  }else{
    b = a;
  }
  if( b<0 ) return -1;
  /* The next field matters where this one is not different */
  nDone = hpCostExpr(pC->pParse, pL) + hpCostExpr(pC->pParse, pR);
  for(k=i+1; k<n; k++){
    nRest += hpCostExpr(pC->pParse, pLeft->x.pList->a[k].pExpr);
    nRest += hpCostExpr(pC->pParse, pRight->x.pList->a[k].pExpr);
  }
  aVec[0] = (u16)b;
  if( hpCompileSideIf(pC, hpCostIsSide(0, nDone, nRest), 0, HP_NEED_NOT_FALSE,
                      aVec, 1, &iSide) ){
    return -1;
  }
  k = hpCompileFields(pC, op, pLeft, pRight, bCommuted, i+1);
  b = hpCompileSideJoin(pC, HP_OP_AND, b, k, hpCompileSideEnd(pC, iSide, k));
  if( opx==TK_EQ || opx==TK_IS ) return b;
  return hpCompileOp(pC, HP_OP_OR, 0, a, b);
}

/* The vector of pLeft op pRight, of row values or not */
static int hpCompileCompareRows(
  HpCompile *pC,
  u8 op,
  Expr *pLeft,
  Expr *pRight,
  int bCommuted
){
  int a;
  if( !sqlite3ExprIsVector(pLeft) || (op!=TK_NE && op!=TK_ISNOT) ){
    return hpCompileFields(pC, op, pLeft, pRight, bCommuted, 0);
  }
  assert( sqlite3ExprIsVector(pLeft) && (op==TK_NE || op==TK_ISNOT) );
  op = op==TK_NE ? TK_EQ : TK_IS;
  a = hpCompileFields(pC, op, pLeft, pRight, bCommuted, 0);
  return hpCompileOp(pC, HP_OP_NOT, 0, a, a);
}

/* One half of a BETWEEN: i is 0 for the lower bound, 1 for the upper */
static int hpCompileCompareHalf(HpCompile *pC, Expr *pExpr, int i){
  Expr *pBound = pExpr->x.pList->a[i].pExpr;
  assert( pExpr->op==TK_BETWEEN && (i==0 || i==1) );
  assert( pExpr->x.pList->nExpr==2 );
  return hpCompileCompareRows(pC, i ? TK_LE : TK_GE, pExpr->pLeft, pBound, 0);
}

/* The vector of pExpr, a BETWEEN: stock makes an AND of it */
static int hpCompileCompareBetween(HpCompile *pC, Expr *pExpr, int bJump){
  Expr *pHigh = pExpr->x.pList->a[1].pExpr;
  int a = hpCompileCompareHalf(pC, pExpr, 0);
  u16 aVec[1];
  int iSide = 0;
  int b;
  if( a<0 ) return -1;
  aVec[0] = (u16)a;
  if( (bJump || hpCompileSideIsSafe(pC->pParse, pHigh))
   && hpCompileSideIf(pC, hpCostIsSide(0, 2, hpCostExpr(pC->pParse, pHigh)), 0,
                      HP_NEED_NOT_FALSE, aVec, 1, &iSide)
  ){
    return -1;
  }
  b = hpCompileCompareHalf(pC, pExpr, 1);
  return hpCompileSideJoin(pC, HP_OP_AND, a, b,
                           hpCompileSideEnd(pC, iSide, b));
}

/*
** The vector of whether pExpr->pLeft is one of the values of pExpr, an IN, from
** value i on.  Stock stops at the first one.
*/
static int hpCompileInEach(HpCompile *pC, Expr *pExpr, CollSeq *pColl, int i){
  Parse *pParse = pC->pParse;
  ExprList *pList = pExpr->x.pList;
  u16 aVec[1];
  int nRest = 0;
  int bFunc = 0;
  int iSide, k;
  int a = hpCompileCompareAs(pC, TK_EQ, pExpr->pLeft, pList->a[i].pExpr, pColl,
                             sqlite3ExprAffinity(pExpr->pLeft));
  assert( i>=0 && i<pList->nExpr && pList->nExpr<=HP_MX_OR );
  if( a<0 || i==pList->nExpr-1 ) return a;
  for(k=i+1; k<pList->nExpr; k++){
    nRest += hpCostExpr(pParse, pList->a[k].pExpr);
    bFunc |= hpSafeHasCall(pC->pParse, pList->a[k].pExpr);
  }
  aVec[0] = (u16)a;
  if( hpCompileSideIf(pC, hpCostIsSide(0, 2, nRest), bFunc, HP_NEED_NOT_TRUE,
                      aVec,
                      1, &iSide)
  ){
    return -1;
  }
  k = hpCompileInEach(pC, pExpr, pColl, i+1);
  return hpCompileSideJoin(pC, HP_OP_OR, a, k,
                           hpCompileSideEnd(pC, iSide, k));
}

/*
** The vector of pExpr->pLeft IN (list).
**
** A list of constants is one operation.  Else each value is compared as
** stock does it, with the affinity of the left side.
*/
static int hpCompileCompareIn(HpCompile *pC, Expr *pExpr){
  HpProg *pProg = &pC->pPipe->prog;
  Expr *pLeft = pExpr->pLeft;
  HpOp x;
  ExprList *pList;
  CollSeq *pColl;
  int bConst = 1;
  int a, b, i;
  assert( pExpr->op==TK_IN );
  if( !ExprUseXList(pExpr) ){
    return pC->xSub ? pC->xSub(pC, pExpr) : hpCompileNo(pC, HP_NO_SUBQUERY);
  }
  if( sqlite3ExprIsVector(pLeft) ) return hpCompileNo(pC, HP_NO_ROWVALUE);
  pList = pExpr->x.pList;
  if( pList==0 || pList->nExpr<1 ) return hpCompileNo(pC, HP_NO_OTHER);
  for(i=0; i<pList->nExpr; i++){
    Expr *pItem = pList->a[i].pExpr;
    if( sqlite3ExprIsVector(pItem) ) return hpCompileNo(pC, HP_NO_ROWVALUE);
    if( bConst ){
      bConst = sqlite3ExprIsConstant(pC->pParse, pItem)
            && !hpSafeHasCall(pC->pParse, pItem);
    }
  }
  pColl = sqlite3ExprCollSeq(pC->pParse, pLeft);
  if( !bConst ){
    if( pList->nExpr>HP_MX_OR ) return hpCompileNo(pC, HP_NO_LIMIT);
    return hpCompileInEach(pC, pExpr, pColl, 0);
  }
  memset(&x, 0, sizeof(x));
  hpCompileColl(pC, pColl, &x);
  a = pC->xExpr(pC, pLeft);
  if( a<0 ) return -1;
  if( pList->nExpr>HP_MX_VEC/2 ) return hpCompileNo(pC, HP_NO_LIMIT);
  for(i=0; i<pList->nExpr; i++){
    b = hpProgConst(pProg, ++pC->pParse->nMem, pList->a[i].pExpr, 1);
    if( b<0 ) return hpCompileNo(pC, HP_NO_LIMIT);
    if( i==0 ) x.b = (u16)b;
    assert( b==x.b+i );    /* b, b+1, ... b+n-1: HP_OP_IN */
  }
  x.eOp = HP_OP_IN;
  x.a = (u16)a;
  x.n = (u16)pList->nExpr;
  x.aff = sqlite3ExprAffinity(pLeft) & SQLITE_AFF_MASK;
  a = hpProgOp(pProg, &x);
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
}
#endif /* SQLITE_OMIT_HP */
