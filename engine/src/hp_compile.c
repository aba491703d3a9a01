/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compile: from Expr trees to an HpPlan, at prepare time.
**
**    hpCompile()      the plan of an aggregate query, or NULL
**    hpPlanFree()     free a plan
**    hpAggKind()      the aggregate functions that have code of their own
**
** The allow-list stands here, in hpCompileExpr() and hpCompileAgg(): what is
** not named there is refused, and the program is stock's.
** Constants (everything that does not depend on the row: literals, bound
** parameters, date('now','-90 days')) are coded by stock's own
** expression compiler into registers, so that they need no case here.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* State of a compilation */
typedef struct HpCompile HpCompile;
struct HpCompile {
  Parse *pParse;
  AggInfo *pAggInfo;     /* Of the query */
  Table *pTab;           /* The one table */
  int iCur;              /* Its cursor */
  HpPlan *pPlan;         /* What is being made */
  int nColAlloc;         /* Size of pPlan->aCol */
};

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
** Free a plan: destructor of the pointer in P4 of OP_HpScan.
*/
static void hpPlanFree(void *pArg){
  HpPlan *pPlan = (HpPlan*)pArg;
  int i;
  if( pPlan==0 ) return;
  for(i=0; i<pPlan->nCol; i++) sqlite3_free(pPlan->aCol[i].aDflt);
  sqlite3_free(pPlan->aCol);
  sqlite3_free(pPlan->aKey);
  sqlite3_free(pPlan->aKeyColl);
  sqlite3_free(pPlan->aKeySort);
  for(i=0; pPlan->aAgg && i<pPlan->nAgg; i++) sqlite3_free(pPlan->aAgg[i].aArg);
  sqlite3_free(pPlan->aAgg);
  sqlite3_free(pPlan->aBare);
  hpProgFree(&pPlan->prog);
  sqlite3_free(pPlan);
}

/*
** True if pColl is one of the three built-in collations, as they were built
** in.  *pp is set to it, or to NULL for BINARY.
*/
static int hpCollOk(CollSeq *pColl, CollSeq **pp){
  *pp = pColl;
  if( sqlite3IsBinary(pColl) ){
    *pp = 0;
    return 1;
  }
  return pColl->xCmp==nocaseCollatingFunc || pColl->xCmp==rtrimCollFunc;
}

/*
** The vector of a constant: pExpr is coded into a register later on.
*/
static int hpCompileConst(HpCompile *pC, Expr *pExpr){
  HpProg *pProg = &pC->pPlan->prog;
  int i;
  for(i=0; i<pProg->nConst; i++){
    if( pProg->aConst[i].bList ) continue;
    /* Without pParse: a parameter equals itself, not its value of today */
    if( sqlite3ExprCompare(0, pProg->aConst[i].pExpr, pExpr, -1)==0 ){
      return pProg->aConst[i].iVec;
    }
  }
  return hpProgConst(pProg, ++pC->pParse->nMem, pExpr, 0);
}

/*
** The value that a record without column pCol has there.
*/
static int hpCompileDefault(HpCompile *pC, Column *pColumn, HpCol *pCol){
  sqlite3_value *pVal = 0;
  int rc = SQLITE_OK;
  pCol->dfltTag = HP_NULL;
  if( pColumn->iDflt==0 ) return SQLITE_OK;
  sqlite3ValueFromExpr(pC->pParse->db, sqlite3ColumnExpr(pC->pTab, pColumn),
                       SQLITE_UTF8, pColumn->affinity, &pVal);
  if( pVal==0 ) return SQLITE_OK;
  if( pVal->flags & MEM_Null ){
    /* As it is */
  }else if( pVal->flags & (MEM_Int|MEM_IntReal) ){
    pCol->dfltTag = HP_INT;
    pCol->dflt.i = pVal->u.i;
    if( pVal->flags & MEM_IntReal ){
      pCol->dfltTag = HP_REAL;
      pCol->dflt.r = (double)pVal->u.i;
    }
  }else if( pVal->flags & MEM_Real ){
    pCol->dfltTag = HP_REAL;
    pCol->dflt.r = pVal->u.r;
  }else if( (pVal->flags & (MEM_Str|MEM_Blob))!=0 && ExpandBlob(pVal)==0 ){
    pCol->aDflt = sqlite3_malloc64((u64)pVal->n+HP_SLACK);
    if( pCol->aDflt==0 ){
      rc = SQLITE_NOMEM;
    }else{
      memset(pCol->aDflt, 0, pVal->n+HP_SLACK);
      if( pVal->n ) memcpy(pCol->aDflt, pVal->z, pVal->n);
      pCol->dfltTag = (pVal->flags & MEM_Str) ? HP_TEXT : HP_BLOB;
      pCol->dflt.z = pCol->aDflt;
      pCol->nDflt = (u32)pVal->n;
    }
  }else{
    rc = SQLITE_ERROR;
  }
  sqlite3ValueFree(pVal);
  return rc;
}

/*
** The vector of column iColumn of the table.
*/
static int hpCompileColumn(HpCompile *pC, int iColumn){
  HpPlan *pPlan = pC->pPlan;
  Table *pTab = pC->pTab;
  HpCol *pCol;
  HpOp op;
  int iStore = -1;
  int i;
  if( iColumn>=0 && iColumn!=pTab->iPKey ){
    if( pTab->aCol[iColumn].colFlags & COLFLAG_VIRTUAL ) return -1;
    iStore = sqlite3TableColumnToStorage(pTab, (i16)iColumn);
  }
  for(i=0; i<pPlan->nCol && pPlan->aCol[i].iStore!=iStore; i++){}
  if( i==pPlan->nCol ){
    if( i>=HP_MX_COL
     || hpGrow(&pPlan->aCol, &pC->nColAlloc, i, sizeof(*pCol))
    ){
      return -1;
    }
    pCol = &pPlan->aCol[i];
    memset(pCol, 0, sizeof(*pCol));
    pCol->iStore = iStore;
    pPlan->nCol++;
    if( iStore<0 ){
      pPlan->bRowid = 1;
    }else{
      Column *pColumn = &pTab->aCol[iColumn];
      pCol->bReal = pColumn->affinity==SQLITE_AFF_REAL;
      if( hpCompileDefault(pC, pColumn, pCol) ) return -1;
    }
  }
  memset(&op, 0, sizeof(op));
  op.eOp = HP_OP_COLUMN;
  op.a = (u16)i;
  return hpProgOp(&pPlan->prog, &op);
}

/* Add the operation eOp(a, b).  Returns its vector, or -1. */
static int hpCompileOp(HpCompile *pC, u8 eOp, u8 op, int a, int b){
  HpOp x;
  if( a<0 || b<0 ) return -1;
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  x.op = op;
  x.a = (u16)a;
  x.b = (u16)b;
  return hpProgOp(&pC->pPlan->prog, &x);
}

static int hpCompileExpr(HpCompile*, Expr*);

/*
** The vector of pLeft op pRight.  pColl is the collation of the comparison.
*/
static int hpCompileCompare(
  HpCompile *pC,
  u8 op,
  Expr *pLeft,
  Expr *pRight,
  CollSeq *pColl
){
  HpOp x;
  int a, b;
  memset(&x, 0, sizeof(x));
  if( sqlite3ExprIsVector(pLeft) || sqlite3ExprIsVector(pRight) ) return -1;
  if( !hpCollOk(pColl, &x.pColl) ) return -1;
  a = hpCompileExpr(pC, pLeft);
  if( a<0 ) return -1;
  b = hpCompileExpr(pC, pRight);
  if( b<0 ) return -1;
  x.eOp = HP_OP_COMPARE;
  x.op = op;
  x.aff = binaryCompareP5(pLeft, pRight, 0) & SQLITE_AFF_MASK;
  x.a = (u16)a;
  x.b = (u16)b;
  return hpProgOp(&pC->pPlan->prog, &x);
}

/* One half of a BETWEEN: i is 0 for the lower bound, 1 for the upper */
static int hpCompileBetween(HpCompile *pC, Expr *pExpr, int i){
  Expr *pBound = pExpr->x.pList->a[i].pExpr;
  return hpCompileCompare(pC, i ? TK_LE : TK_GE, pExpr->pLeft, pBound,
      sqlite3BinaryCompareCollSeq(pC->pParse, pExpr->pLeft, pBound));
}

/*
** The vector of pExpr->pLeft IN (constants).
*/
static int hpCompileIn(HpCompile *pC, Expr *pExpr){
  HpOp x;
  ExprList *pList;
  int a, i;
  memset(&x, 0, sizeof(x));
  if( !ExprUseXList(pExpr) || sqlite3ExprIsVector(pExpr->pLeft) ) return -1;
  pList = pExpr->x.pList;
  if( pList==0 || pList->nExpr<1 || pList->nExpr>HP_MX_VEC/2 ) return -1;
  for(i=0; i<pList->nExpr; i++){
    if( sqlite3ExprIsVector(pList->a[i].pExpr) ) return -1;
    if( !sqlite3ExprIsConstant(pC->pParse, pList->a[i].pExpr) ) return -1;
  }
  if( !hpCollOk(sqlite3ExprCollSeq(pC->pParse, pExpr->pLeft), &x.pColl) ){
    return -1;
  }
  a = hpCompileExpr(pC, pExpr->pLeft);
  if( a<0 ) return -1;
  for(i=0; i<pList->nExpr; i++){
    int b = hpProgConst(&pC->pPlan->prog, ++pC->pParse->nMem,
                        pList->a[i].pExpr, 1);
    if( b<0 ) return -1;
    if( i==0 ) x.b = (u16)b;
  }
  x.eOp = HP_OP_IN;
  x.a = (u16)a;
  x.n = (u16)pList->nExpr;
  x.aff = sqlite3ExprAffinity(pExpr->pLeft) & SQLITE_AFF_MASK;
  return hpProgOp(&pC->pPlan->prog, &x);
}

/*
** The vector of X LIKE Y and X GLOB Y with constant Y, by SQLite's own
** functions.
*/
static int hpCompileLike(HpCompile *pC, Expr *pExpr){
  sqlite3 *db = pC->pParse->db;
  ExprList *pList;
  FuncDef *pDef;
  HpOp x;
  int a, b;
  if( ExprHasProperty(pExpr, EP_WinFunc|EP_Distinct) ) return -1;
  if( !ExprUseXList(pExpr) || pExpr->x.pList==0 ) return -1;
  pList = pExpr->x.pList;
  if( pList->nExpr!=2 ) return -1;
  pDef = sqlite3FindFunction(db, pExpr->u.zToken, 2, ENC(db), 0);
  if( pDef==0 || pDef->xSFunc!=likeFunc ) return -1;
  if( !sqlite3ExprIsConstant(pC->pParse, pList->a[0].pExpr) ) return -1;
  a = hpCompileConst(pC, pList->a[0].pExpr);
  if( a<0 ) return -1;
  b = hpCompileExpr(pC, pList->a[1].pExpr);
  if( b<0 ) return -1;
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_LIKE;
  x.a = (u16)a;
  x.b = (u16)b;
  x.pInfo = pDef->pUserData;
  return hpProgOp(&pC->pPlan->prog, &x);
}

/*
** The vector of pExpr, or -1 if the executor does not do it.
*/
static int hpCompileExpr(HpCompile *pC, Expr *pExpr){
  int a, b;
  while( pExpr && (pExpr->op==TK_COLLATE || pExpr->op==TK_UPLUS) ){
    pExpr = pExpr->pLeft;
  }
  if( pExpr==0 ) return -1;
  if( sqlite3ExprIsConstant(pC->pParse, pExpr) ){
    if( sqlite3ExprIsVector(pExpr) ) return -1;
    return hpCompileConst(pC, pExpr);
  }
  switch( pExpr->op ){
    case TK_AGG_COLUMN:
      if( pExpr->pAggInfo!=pC->pAggInfo ) return -1;
      /* no break */ deliberate_fall_through
    case TK_COLUMN:
      if( pExpr->iTable!=pC->iCur || pExpr->y.pTab!=pC->pTab ) return -1;
      return hpCompileColumn(pC, pExpr->iColumn);
    case TK_UMINUS: {
      /* As stock does: 0-X */
      Expr *pZero = sqlite3Expr(pC->pParse->db, TK_INTEGER, "0");
      if( pZero==0 ) return -1;
      sqlite3ExprDeferredDelete(pC->pParse, pZero);
      a = hpCompileConst(pC, pZero);
      b = a<0 ? -1 : hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_ARITH, TK_MINUS, a, b);
    }
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_REM:
      a = hpCompileExpr(pC, pExpr->pLeft);
      b = a<0 ? -1 : hpCompileExpr(pC, pExpr->pRight);
      return hpCompileOp(pC, HP_OP_ARITH, pExpr->op, a, b);
    case TK_NE: case TK_EQ: case TK_GT: case TK_LE: case TK_LT: case TK_GE:
    case TK_IS: case TK_ISNOT:
      return hpCompileCompare(pC, pExpr->op, pExpr->pLeft, pExpr->pRight,
                              sqlite3ExprCompareCollSeq(pC->pParse, pExpr));
    case TK_AND: case TK_OR:
      a = hpCompileExpr(pC, pExpr->pLeft);
      b = a<0 ? -1 : hpCompileExpr(pC, pExpr->pRight);
      return hpCompileOp(pC, pExpr->op==TK_AND ? HP_OP_AND : HP_OP_OR, 0, a, b);
    case TK_NOT:
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_NOT, 0, a, a);
    case TK_ISNULL: case TK_NOTNULL:
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_ISNULL, pExpr->op, a, a);
    case TK_BETWEEN:
      if( sqlite3ExprIsVector(pExpr->pLeft) ) return -1;
      a = hpCompileBetween(pC, pExpr, 0);
      b = a<0 ? -1 : hpCompileBetween(pC, pExpr, 1);
      return hpCompileOp(pC, HP_OP_AND, 0, a, b);
    case TK_IN:
      return hpCompileIn(pC, pExpr);
    case TK_FUNCTION:
      return hpCompileLike(pC, pExpr);
  }
  return -1;
}

/*
** Make filters of the terms of pWhere that AND connects.
*/
static int hpCompileWhere(HpCompile *pC, Expr *pWhere){
  int iVec;
  if( pWhere==0 ) return SQLITE_OK;
  if( pWhere->op==TK_AND ){
    if( hpCompileWhere(pC, pWhere->pLeft) ) return SQLITE_ERROR;
    return hpCompileWhere(pC, pWhere->pRight);
  }
  if( pWhere->op==TK_BETWEEN && !sqlite3ExprIsVector(pWhere->pLeft)
   && !sqlite3ExprIsConstant(pC->pParse, pWhere)
  ){
    iVec = hpCompileBetween(pC, pWhere, 0);
    if( iVec<0 || hpProgFilter(&pC->pPlan->prog, iVec) ) return SQLITE_ERROR;
    iVec = hpCompileBetween(pC, pWhere, 1);
  }else{
    iVec = hpCompileExpr(pC, pWhere);
  }
  if( iVec<0 ) return SQLITE_ERROR;
  return hpProgFilter(&pC->pPlan->prog, iVec);
}

/*
** Compile the arguments of an aggregate function that has no code of its own
** but is called for each row, in scan order.
*/
static int hpCompileAggCall(HpCompile *pC, ExprList *pList, HpAggDef *pDef){
  FuncDef *pFunc = pDef->pFunc;
  int i;
  if( pFunc->xFinalize==0 || pList==0 || pList->nExpr>HP_MX_ARG ){
    return SQLITE_ERROR;
  }
  if( pFunc->funcFlags & SQLITE_FUNC_NEEDCOLL ) return SQLITE_ERROR;
  pDef->aArg = sqlite3_malloc64(sizeof(u16)*(u64)pList->nExpr);
  if( pDef->aArg==0 ) return SQLITE_NOMEM;
  for(i=0; i<pList->nExpr; i++){
    Expr *pExpr = pList->a[i].pExpr;
    int iVec = hpCompileExpr(pC, pExpr);
    if( iVec<0 ) return SQLITE_ERROR;
    /* Vectors do not keep subtypes, such as "this text is JSON" */
    if( (pFunc->funcFlags & SQLITE_SUBTYPE)!=0 && pExpr->op!=TK_AGG_COLUMN
     && pExpr->op!=TK_COLUMN && pExpr->op!=TK_STRING && pExpr->op!=TK_INTEGER
    ){
      return SQLITE_ERROR;
    }
    pDef->aArg[pDef->nArg++] = (u16)iVec;
  }
  if( pDef->nArg ) pDef->iVec = pDef->aArg[0];
  if( (pFunc->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) pC->pPlan->bUser = 1;
  pC->pPlan->bSerial = 1;
  pC->pPlan->bOpaque = 1;
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
  HpPlan *pPlan = pC->pPlan;
  ExprList *pList = pF->pFExpr->x.pList;
  int iVec;
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
  if( pDef->eAgg==HP_AGG_CALL ){
    if( hpCompileAggCall(pC, pList, pDef) ) return SQLITE_ERROR;
  }else if( pList==0 || pList->nExpr==0 ){
    return pDef->eAgg==HP_AGG_COUNT ? SQLITE_OK : SQLITE_ERROR;
  }else{
    if( pList->nExpr!=1 ) return SQLITE_ERROR;
    iVec = hpCompileExpr(pC, pList->a[0].pExpr);
    if( iVec<0 ) return SQLITE_ERROR;
    pDef->iVec = (u16)iVec;
  }
  if( pDef->eAgg==HP_AGG_MIN || pDef->eAgg==HP_AGG_MAX || pF->iDistinct>=0 ){
    CollSeq *pColl = sqlite3ExprCollSeq(pParse, pList->a[0].pExpr);
    if( pColl==0 ) pColl = pParse->db->pDfltColl;
    if( !hpCollOk(pColl, &pDef->pColl) ) return SQLITE_ERROR;
  }
  if( pF->iDistinct>=0 ){
    if( pList->nExpr!=1 ) return SQLITE_ERROR;
    pDef->iSet = (i16)pPlan->nSet++;
    pPlan->bSerial = 1;
    pPlan->bOpaque = 1;
  }
  return SQLITE_OK;
}

/* Order columns by their place in the record, the rowid first */
static void hpCompileSortColumns(HpPlan *pPlan){
  u16 aTo[HP_MX_COL];    /* New number of each column */
  int i, j;
  for(i=0; i<pPlan->nCol; i++){
    aTo[i] = 0;
    for(j=0; j<pPlan->nCol; j++){
      aTo[i] += pPlan->aCol[j].iStore<pPlan->aCol[i].iStore;
    }
  }
  for(i=0; i<pPlan->prog.nOp; i++){
    HpOp *pOp = &pPlan->prog.aOp[i];
    if( pOp->eOp==HP_OP_COLUMN ) pOp->a = aTo[pOp->a];
  }
  for(i=1; i<pPlan->nCol; i++){
    HpCol x = pPlan->aCol[i];
    for(j=i; j>0 && pPlan->aCol[j-1].iStore>x.iStore; j--){
      pPlan->aCol[j] = pPlan->aCol[j-1];
    }
    pPlan->aCol[j] = x;
  }
  pPlan->mxCol = pPlan->nCol ? pPlan->aCol[pPlan->nCol-1].iStore : -1;
}

/*
** Bare columns are shown as the first row of the group has them.  So are keys:
** a bare column that is a key needs no copy.
*/
static void hpCompileFirst(HpPlan *pPlan){
  int i, k;
  for(i=0; i<pPlan->nBare; i++){
    for(k=0; k<pPlan->nKey; k++){
      if( pPlan->aKey[k]==pPlan->aBare[i].iVec ) pPlan->aBare[i].iKey = (i16)k;
    }
    if( pPlan->aBare[i].iKey<0 ) pPlan->bLoadFirst = 1;
  }
}

/*
** Compile the query.  Returns NULL if it is refused.  Registers of constants
** are allocated but not coded.
*/
static HpPlan *hpCompile(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  KeyInfo *pKeyInfo      /* Collation and order of GROUP BY, or NULL */
){
  HpCompile c;
  HpPlan *pPlan;
  int nKey = pKeyInfo ? p->pGroupBy->nExpr : 0;
  int i;
  int iMinMax = -1;
  int bOdd = 0;          /* min() or max() does not see all rows */

  memset(&c, 0, sizeof(c));
  c.pParse = pParse;
  c.pAggInfo = pAggInfo;
  c.pTab = p->pSrc->a[0].pSTab;
  c.iCur = p->pSrc->a[0].iCursor;
  c.pPlan = pPlan = sqlite3_malloc64(sizeof(*pPlan));
  if( pPlan==0 ) return 0;
  memset(pPlan, 0, sizeof(*pPlan));
  pPlan->iDb = sqlite3SchemaToIndex(pParse->db, c.pTab->pSchema);
  pPlan->iRoot = c.pTab->tnum;
  pPlan->nKey = nKey;
  pPlan->nAgg = pAggInfo->nFunc;
  pPlan->nBare = pAggInfo->nAccumulator;
  pPlan->aKey = sqlite3_malloc64(sizeof(u16)*(nKey+1));
  pPlan->aKeyColl = sqlite3_malloc64(sizeof(CollSeq*)*(nKey+1));
  pPlan->aKeySort = sqlite3_malloc64(nKey+1);
  pPlan->aAgg = sqlite3_malloc64(sizeof(HpAggDef)*(u64)(pPlan->nAgg+1));
  pPlan->aBare = sqlite3_malloc64(sizeof(struct HpBare)*(u64)(pPlan->nBare+1));
  if( pPlan->aKey==0 || pPlan->aKeyColl==0 || pPlan->aKeySort==0
   || pPlan->aAgg==0 || pPlan->aBare==0
  ){
    goto refused;
  }
  memset(pPlan->aAgg, 0, sizeof(HpAggDef)*(u64)(pPlan->nAgg+1));

  if( hpCompileWhere(&c, p->pWhere) ) goto refused;
  for(i=0; i<nKey; i++){
    int iVec = hpCompileExpr(&c, p->pGroupBy->a[i].pExpr);
    if( iVec<0 ) goto refused;
    pPlan->aKey[i] = (u16)iVec;
    pPlan->aKeySort[i] = pKeyInfo->aSortFlags ? pKeyInfo->aSortFlags[i] : 0;
    if( !hpCollOk(pKeyInfo->aColl[i], &pPlan->aKeyColl[i]) ) goto refused;
  }
  for(i=0; i<pPlan->nAgg; i++){
    if( hpCompileAgg(&c, &pAggInfo->aFunc[i], &pPlan->aAgg[i]) ) goto refused;
    if( pPlan->aAgg[i].eAgg==HP_AGG_MIN || pPlan->aAgg[i].eAgg==HP_AGG_MAX ){
      iMinMax = i;
      if( pPlan->aAgg[i].iFilter!=HP_NO_VEC || pPlan->aAgg[i].iSet>=0 ){
        bOdd = 1;
      }
    }
  }
  for(i=0; i<pPlan->nBare; i++){
    int iVec = hpCompileExpr(&c, pAggInfo->aCol[i].pCExpr);
    if( iVec<0 ) goto refused;
    pPlan->aBare[i].iVec = (u16)iVec;
    pPlan->aBare[i].iKey = -1;
  }
  if( pPlan->nBare ){
    /* Stock: the last min() or max() says from which row to show columns */
    if( bOdd ){
      goto refused;
    }else if( iMinMax>=0 ){
      pPlan->aAgg[iMinMax].bLoad = 1;
    }else{
      hpCompileFirst(pPlan);
    }
  }
  hpCompileSortColumns(pPlan);
  pPlan->szGroup = hpAggLayout(pPlan);
  if( pPlan->szGroup>0x7fff || pParse->nErr || pParse->db->mallocFailed ){
    goto refused;
  }
  return pPlan;

refused:
  hpPlanFree(pPlan);
  return 0;
}
#endif /* SQLITE_OMIT_HP */
