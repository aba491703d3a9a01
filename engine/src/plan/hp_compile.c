/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compile: from Expr trees to a vector program (prepare time).
**
**    hpCompileNew(), hpCompileAlloc(), hpCompileKeys(), hpCompileFree()    a plan
**    hpCompileSource(), hpCompileFor()    what a pipe scans; go on with that pipe
**    hpCompileExpr()    an expression: its vector, or a reason against it
**    hpCompileWhere()   a WHERE clause: filters
**    hpCompileMark(), hpCompileBack()    forget what was compiled since
**    hpCompileConst()   a constant: coded into a register
**    hpCompileOp(), hpCompileAff(), hpCompileArgs(), hpCompileList(), hpCompileTruth()
**                       an operation
**    hpCompileSideIf(), hpCompileSideEnd()  operations that fewer rows need,
**                                           ...
**    hpCompileChoice()  ... and a CASE that puts them together
**    hpCompileLiteral()    a constant that the query does not have
**    hpCompileSortColumns()    terms of ORDER BY
**    hpCompileStored()  where in the record a column is
**    hpCompileIsTable() is a term of FROM a table of the file?
**    hpCompileSmall()   note that the table was small
**    hpCompileLong()    note that there would be a plan if executions are long
**    hpCompileIsConst(), hpCompileCollOk(), hpCompileLosesSubtype()
**                       what an expression is
**    hpCompileNo()             refuse, with a reason for PRAGMA hp_stats
**    hpCompileNoUser()  refuse pipes that call the application's functions
**
** The allow-list stands here, in hpCompileExpr() and hpCompileAgg(): what is
** not named there is refused, and the program is stock's.
** Constants (literals, bound parameters, and what operators make of them) are
** coded by stock's own expression compiler into registers, so that they need
** no case here.  Calls of functions with constants are operations of the
** program: they may fail where stock would not have come to them.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Most values of an IN list with others than constants.  Stock stops at the
** first match, which we do not: a list of 150 took nine times as long. */
#define HP_MX_OR 8

/* Refuse an expression.  The first reason is kept. */
static int hpCompileNo(HpCompile *pC, u8 eNo){
  assert( eNo>=HP_NO_LIMIT && eNo<=HP_NO_JOIN );
  if( pC->eNo==0 ) pC->eNo = eNo;
  return -1;
}

/*
** Refuse a plan of several pipes of which one calls the application's functions: a pipe
** that declines would have stock call them again for the pipes before it.
*/
static int hpCompileNoUser(HpCompile *pC){
  const HpPlan *pPlan = pC->pPlan;
  int i;
  for(i=0; i<pPlan->nPipe; i++){
    if( pPlan->aPipe[i].bUser ){
      hpCompileNo(pC, HP_NO_FUNCTION);
      return SQLITE_ERROR;
    }
  }
  return SQLITE_OK;
}

#ifdef SQLITE_DEBUG
/* Is iVec a vector that was made before vector iOut? */
static int hpVecIsBefore(const HpProg *pProg, int iVec, int iOut){
  return iVec>=0 && iVec<iOut && iOut<=pProg->nVec;
}

/*
** Does each operation read what is there when it runs, and each filter?  The
** vectors of constants come before those of the operations that read them.
*/
static int hpProgIsSane(const HpPipePlan *pPipe){
  const HpProg *p = &pPipe->prog;
  int i, k;
  if( p->nRange>p->nFilter || p->nConst+p->nOp>p->nVec ) return 0;
  for(i=0; i<p->nOp; i++){
    const HpOp *pOp = &p->aOp[i];
    int iOut = pOp->iOut;
    if( i>0 && iOut<=p->aOp[i-1].iOut ) return 0;
    if( pOp->eOp==HP_OP_COLUMN ){
      if( pOp->a>=pPipe->source.nCol ) return 0;
    }else if( pOp->eOp>=HP_OP_CASE ){
      for(k=0; k<pOp->n; k++){
        if( pOp->iArg+k>=p->nArg ) return 0;
        if( !hpVecIsBefore(p, p->aArg[pOp->iArg+k], iOut) ) return 0;
      }
    }else{
      if( !hpVecIsBefore(p, pOp->a, iOut) ) return 0;
      if( pOp->eOp!=HP_OP_TRUTH && !hpVecIsBefore(p, pOp->b, iOut) ) return 0;
      if( pOp->eOp==HP_OP_IN && !hpVecIsBefore(p, pOp->b+pOp->n-1, iOut) ){
        return 0;
      }
    }
  }
  if( p->iSide!=0 || p->mxDepth>HP_MX_AROUND ) return 0;
  for(i=1; i<p->nSide; i++){
    const HpSide *pSide = &p->aSide[i];
    if( pSide->iFrom>=pSide->iTo || pSide->iTo>p->nOp ) return 0;
    if( i>1 && pSide->iFrom<pSide[-1].iFrom ) return 0;
    if( pSide->iSame>i || pSide->iAround>=pSide->iSame ) return 0;
    for(k=0; k<pSide->n; k++){
      int iVec = p->aArg[pSide->iArg+k];
      if( !hpVecIsBefore(p, iVec, p->aOp[pSide->iFrom].iOut) ) return 0;
    }
  }
  for(i=0; i<p->nFilter; i++){
    if( p->aFilter[i].iVec>=p->nVec || p->aFilter[i].nOp>p->nOp ) return 0;
    if( i>0 && p->aFilter[i].nOp<p->aFilter[i-1].nOp ) return 0;
  }
  return 1;
}

/*
** The columns of a plan that is finished: no two are the same, and they are in
** the order of the record, the rowid of a table first, that of an index last.
*/
static int hpColumnsAreSane(const HpSourcePlan *pPlan){
  int i;
  if( pPlan->nCol<0 || pPlan->nCol>HP_MX_COL ) return 0;
  for(i=1; i<pPlan->nCol; i++){
    if( pPlan->aCol[i].iStore<=pPlan->aCol[i-1].iStore ) return 0;
  }
  if( pPlan->nCol==0 ) return pPlan->mxCol<0 && pPlan->bRowid==0;
  return pPlan->bRowid==(pPlan->aCol[0].iStore<0)
      && pPlan->mxCol==pPlan->aCol[pPlan->nCol-1].iStore
      && (pPlan->bIdxRowid==0 || pPlan->bIndex);
}
#endif

/*
** Free a plan: destructor of the pointer in P4 of OP_HpScan.
*/
static void hpCompileFree(void *pArg){
  HpPlan *pPlan = (HpPlan*)pArg;
  if( pPlan ){
    HpArena mem = pPlan->mem;
    int i;
    for(i=0; i<pPlan->nPipe; i++){
      assert( pPlan->aPipe[i].prog.pMem==&pPlan->mem );   /* It was not moved */
      hpBoundsFree(pPlan->aPipe[i].source.pRange);
    }
    if( pPlan->pSearch ) hpBoundsFree(pPlan->pSearch->pRange);
    hpArenaClear(&mem);
  }
}

/*
** True if pColl is one of the three built-in collations, as they were built
** in.  *pp is set to it, or to NULL for BINARY.
*/
static int hpCompileCollOk(CollSeq *pColl, CollSeq **pp){
  *pp = sqlite3IsBinary(pColl) ? 0 : pColl;
  return hpVecCollIsOwn(pColl);
}

/*
** Set pOp->pColl to the collation of a comparison, NULL for BINARY.  If an
** application made it, it may only be called from the application's thread, and
** where stock would call it: see hpCompileSide().
*/
static void hpCompileColl(HpCompile *pC, CollSeq *pColl, HpOp *pOp){
  assert( pOp->bUser==0 );
  if( !hpCompileCollOk(pColl, &pOp->pColl) ){
    pC->pPipe->bSerial = pC->pPipe->bUser = 1;
    pOp->bUser = 1;
  }
}

/*
** True if pExpr is constant and calls no function.  The short ways are for what
** most expressions consist of: to walk trees takes long for each of their nodes.
*/
static int hpCompileIsConst(HpCompile *pC, Expr *pExpr){
  switch( pExpr->op ){
    case TK_INTEGER: case TK_FLOAT: case TK_BLOB: case TK_NULL: case TK_VARIABLE:
      return 1;
    case TK_COLUMN: case TK_AGG_COLUMN:
      if( !ExprHasProperty(pExpr, EP_FixedCol) ) return 0;
      break;
    case TK_FUNCTION:
      return 0;
  }
  return sqlite3ExprIsConstant(pC->pParse, pExpr)
      && !hpSafeHasCall(pC->pParse, pExpr);
}

/*
** The vector of a constant: pExpr is coded into a register later on.
*/
static int hpCompileConst(HpCompile *pC, Expr *pExpr){
  HpProg *pProg = &pC->pPipe->prog;
  int i;
  for(i=0; i<pProg->nConst; i++){
    if( pProg->aConst[i].bList ) continue;
    /* Without pParse: a parameter equals itself, not its value of today */
    if( pProg->aConst[i].pExpr==pExpr
     || sqlite3ExprCompare(0, pProg->aConst[i].pExpr, pExpr, -1)==0
    ){
      return pProg->aConst[i].iVec;
    }
  }
  assert( i==pProg->nConst && pExpr!=0 );
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
    pCol->aDflt = hpArenaAlloc(&pC->pPlan->mem, (i64)pVal->n+HP_SLACK);
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
  /* One tag, of a value that is there */
  assert( (pCol->dfltTag & (pCol->dfltTag-1))==0 && pCol->dfltTag!=0 );
  assert( (pCol->dfltTag & HP_STR)==0 || pCol->dflt.z!=0 );
  return rc;
}

static int hpCompileExpr(HpCompile*, Expr*);

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

/* Add the operation eOp(a, b).  Returns its vector, or -1. */
static int hpCompileOp(HpCompile *pC, u8 eOp, u8 op, int a, int b){
  HpOp x;
  if( a<0 || b<0 ) return -1;
  assert( a<pC->pPipe->prog.nVec && b<pC->pPipe->prog.nVec );
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  x.op = op;
  x.a = (u16)a;
  x.b = (u16)b;
  a = hpProgOp(&pC->pPipe->prog, &x);
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
}

/* Add the operation eOp(a) with affinity aff */
static int hpCompileAff(HpCompile *pC, u8 eOp, u8 aff, int a){
  HpOp x;
  if( a<0 ) return -1;
  assert( eOp==HP_OP_CAST || eOp==HP_OP_AFFINITY );
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  x.aff = aff;
  x.a = x.b = (u16)a;
  a = hpProgOp(&pC->pPipe->prog, &x);
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
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
** The number in the plan of column iColumn of the table, which is stored, or of
** the rowid.  -1: there are too many, or the index scanned has no such column.
*/
static int hpCompileStored(HpCompile *pC, int iColumn){
  HpSourcePlan *pPlan = &pC->pPipe->source;
  Table *pTab = pC->pTab;
  HpCol *pCol;
  int iStore = -1;
  int i;
  assert( iColumn>=-1 && iColumn<pTab->nCol );
  if( iColumn>=0 && iColumn!=pTab->iPKey ){
    iStore = sqlite3TableColumnToStorage(pTab, (i16)iColumn);
  }
  if( pC->pIdx ){
    iStore = sqlite3TableColumnToIndex(pC->pIdx, iStore<0 ? -1 : iColumn);
    if( iStore<0 ) return hpCompileNo(pC, HP_NO_COLUMN);
  }
  for(i=0; i<pPlan->nCol && pPlan->aCol[i].iStore!=iStore; i++){}
  if( i==pPlan->nCol ){
    if( i>=HP_MX_COL
     || hpArenaGrow(&pC->pPlan->mem, &pPlan->aCol, &pPlan->nColAlloc, i,
                    sizeof(*pCol))
    ){
      return hpCompileNo(pC, HP_NO_LIMIT);
    }
    pCol = &pPlan->aCol[i];
    memset(pCol, 0, sizeof(*pCol));
    pCol->iStore = iStore;
    pPlan->nCol++;
    assert( pPlan->nCol<=HP_MX_COL && pPlan->nCol<=pPlan->nColAlloc );
    if( iStore<0 ){
      pPlan->bRowid = 1;
    }else if( pC->pIdx && pC->pIdx->aiColumn[iStore]<0 ){
      pPlan->bIdxRowid = 1;
    }else{
      Column *pColumn = &pTab->aCol[iColumn];
      pCol->bReal = pColumn->affinity==SQLITE_AFF_REAL;
      if( hpCompileDefault(pC, pColumn, pCol) ) return hpCompileNo(pC, HP_NO_LIMIT);
    }
  }
  return i;
}

/*
** The vector of column iColumn of the table.
*/
static int hpCompileColumn(HpCompile *pC, int iColumn){
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
  a = hpCompileExpr(pC, pLeft);
  if( a<0 ) return -1;
  b = hpCompileExpr(pC, pRight);
  if( b<0 ) return -1;
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
** Operations follow that stock does not run for all rows: only where eNeed
** (HP_NEED_xxx) is so of vectors aVec[0..nVec-1].  Put them into a side
** (hp_side.c) if bSide, or if they may fail (bMust).  Sets *piSide for
** hpCompileSideEnd().
**
** Never bMust where stock does run the code: an error would go unnoticed.
*/
static int hpCompileSideIf(
  HpCompile *pC,
  int bSide,
  int bMust,
  u8 eNeed,
  const u16 *aVec,
  int nVec,
  int *piSide
){
  *piSide = 0;
  if( bMust==0 && bSide==0 ) return SQLITE_OK;
  if( hpProgSide(&pC->pPipe->prog, eNeed, aVec, nVec, piSide) && bMust ){
    hpCompileNo(pC, HP_NO_LIMIT);
    return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

/* End that side.  Returns whether there is one */
static int hpCompileSideEnd(HpCompile *pC, int iSide){
  return iSide>0 && hpProgSideEnd(&pC->pPipe->prog, iSide);
}

/* The vector of a AND b, or a OR b: eOp says which.  bSide: b is a side */
static int hpCompileJoin(HpCompile *pC, u8 eOp, int a, int b, int bSide){
  HpProg *pProg = &pC->pPipe->prog;
  int i;
  a = hpCompileOp(pC, eOp, 0, a, b);
  for(i=pProg->nOp-1; bSide && a>=0 && i>=0; i--){
    if( pProg->aOp[i].iOut==a ){
      pProg->aOp[i].bSide = 1;
      break;
    }
  }
  return a;
}

/*
** The vector of pLeft op pRight from field i on: row values or not.
** (a,b)<(c,d) is a<c OR (a=c AND b<d), which is NULL where stock's chain of jumps gives
** NULL, and (a,b)=(c,d) is a=c AND b=d.
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
  b = hpCompileJoin(pC, HP_OP_AND, b, k, hpCompileSideEnd(pC, iSide));
  if( opx==TK_EQ || opx==TK_IS ) return b;
  return hpCompileOp(pC, HP_OP_OR, 0, a, b);
}

/* The vector of pLeft op pRight, of row values or not */
static int hpCompileRowCompare(
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
static int hpCompileBetween(HpCompile *pC, Expr *pExpr, int i){
  Expr *pBound = pExpr->x.pList->a[i].pExpr;
  assert( pExpr->op==TK_BETWEEN && (i==0 || i==1) );
  return hpCompileRowCompare(pC, i ? TK_LE : TK_GE, pExpr->pLeft, pBound, 0);
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
  return hpCompileJoin(pC, HP_OP_OR, a, k, hpCompileSideEnd(pC, iSide));
}

/*
** The vector of pExpr->pLeft IN (list).
**
** A list of constants is one operation.  Else each value is compared as
** stock does it, with the affinity of the left side.
*/
static int hpCompileIn(HpCompile *pC, Expr *pExpr){
  HpProg *pProg = &pC->pPipe->prog;
  Expr *pLeft = pExpr->pLeft;
  HpOp x;
  ExprList *pList;
  CollSeq *pColl;
  int bConst = 1;
  int a, b, i;
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
  a = hpCompileExpr(pC, pLeft);
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

/*
** An operation with arguments aVec[0..nVec-1].  *pOp says which.
*/
static int hpCompileArgs(HpCompile *pC, HpOp *pOp, const u16 *aVec, int nVec){
  HpProg *pProg = &pC->pPipe->prog;
  int iArg = pProg->nArg;
  int i, a;
  assert( nVec>=0 && nVec<=HP_MX_LIST && pOp->eOp>=HP_OP_CASE );
  for(i=0; i<nVec; i++){
    if( pProg->nArg>=0xffff
     || hpArenaGrow(pProg->pMem, &pProg->aArg, &pProg->nArgAlloc,
                  pProg->nArg, sizeof(u16))
    ){
      return hpCompileNo(pC, HP_NO_LIMIT);
    }
    pProg->aArg[pProg->nArg++] = aVec[i];
  }
  pOp->n = (u16)nVec;
  pOp->iArg = (u16)iArg;
  a = hpProgOp(pProg, pOp);
  if( a<0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  if( a!=pProg->aOp[pProg->nOp-1].iOut || pProg->aOp[pProg->nOp-1].iArg!=iArg ){
    pProg->nArg = iArg;    /* The same operation was there */
  }
  return a;
}

/* The same where nothing but eOp and the arguments matters */
static int hpCompileList(HpCompile *pC, u8 eOp, const u16 *aVec, int nVec){
  HpOp x;
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  return hpCompileArgs(pC, &x, aVec, nVec);
}

/* The vector of a constant that the query does not have: op is TK_xxx */
static int hpCompileLiteral(HpCompile *pC, int op, const char *z){
  Expr *pExpr = sqlite3Expr(pC->pParse->db, op, z);
  int a = -1;
  if( pExpr && sqlite3ExprDeferredDelete(pC->pParse, pExpr)==0 ){
    a = hpCompileConst(pC, pExpr);
  }
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
}

/* The vector of "a IS [NOT] TRUE" and the like: bNull is the truth of NULL,
** as stock's OP_IsTrue has it, bNot turns the result round */
static int hpCompileTruth(HpCompile *pC, int a, int bNull, int bNot){
  HpOp x;
  if( a<0 ) return -1;
  assert( (bNull==0 || bNull==1) && (bNot==0 || bNot==1) );
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_TRUTH;
  x.a = (u16)a;
  x.b = (u16)(bNull + 2*bNot);
  a = hpProgOp(&pC->pPipe->prog, &x);
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
}

/* May pExpr be computed for fewer rows than stock computes it for? */
static int hpSideIsSafe(Parse *pParse, Expr *pExpr){
  return ExprHasProperty(pExpr, EP_Subquery)==0
      && hpSafe(pParse, pExpr, 0, HP_SAFE_KNOWN|HP_SAFE_OPEN);
}

/*
** The vector of terms i to nTerm-1, which pExpr->op connects.  aCost[k] is what
** terms k and later cost.  bMust: those after the first may fail, and stock
** does not come to them where it is decided.  bMay: they may be left out there.
*/
static int hpCompileTerms(
  HpCompile *pC,
  Expr **apTerm,
  const int *aCost,
  int i,
  int nTerm,
  int bOr,
  int bJump,             /* Stock codes them as jumps */
  int bMay
){
  u8 eOp = bOr ? HP_OP_OR : HP_OP_AND;
  int iFirst = i;
  int a = -1;
  for(; i<nTerm; i++){
    u16 aVec[1];
    int bMust = 0;
    int iSide = 0;
    int b, k;
    if( i>iFirst && bMay ){
      for(k=i; bJump && k<nTerm && bMust==0; k++){
        bMust = hpSafeHasCall(pC->pParse, apTerm[k]);
      }
      aVec[0] = (u16)a;
      if( hpCompileSideIf(pC,
              hpCostIsSide(aCost[0]-aCost[iFirst], aCost[iFirst]-aCost[i],
                           aCost[i]),
              bMust, bOr ? HP_NEED_NOT_TRUE : HP_NEED_NOT_FALSE, aVec, 1,
                &iSide)
      ){
        return -1;
      }
    }
    if( iSide ){
      b = hpCompileTerms(pC, apTerm, aCost, i, nTerm, bOr, bJump, bMay);
      return hpCompileJoin(pC, eOp, a, b, hpCompileSideEnd(pC, iSide));
    }
    pC->bJump = (u8)bJump;
    b = hpCompileExpr(pC, apTerm[i]);
    a = i==iFirst ? b : hpCompileOp(pC, eOp, 0, a, b);
    if( a<0 ) return -1;
  }
  return a;
}

/*
** The vector of pExpr, an AND or OR.  Terms that one operator connects are a
** chain:  what it has decided for a row leaves the selection.
**
** As jumps stock comes to a term where those before do not decide.  Only a term
** without a sub-select may come before those that have one, in all rows.
** Otherwise stock computes all terms, so that those which may fail have to be
** computed in all rows.
*/
static int hpCompileLogic(HpCompile *pC, Expr *pExpr, int bJump){
  Parse *pParse = pC->pParse;
  Expr **apTerm;
  int *aCost;
  int bMay = 1;
  int bSub = 0;
  int n = 1;
  int i;
  u8 op = pExpr->op;
  Expr *p;
  assert( op==TK_AND || op==TK_OR );
  for(p=pExpr; p->op==op && n<HP_MX_LIST; p=p->pLeft) n++;
  /* Expressions nest deeply: not on the stack */
  apTerm = hpCompileAlloc(pC->pPlan, (i64)n*sizeof(Expr*));
  aCost = hpCompileAlloc(pC->pPlan, ((i64)n+1)*sizeof(int));
  if( apTerm==0 || aCost==0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  for(i=n-1, p=pExpr; i>0; i--, p=p->pLeft) apTerm[i] = p->pRight;
  apTerm[0] = p;
  for(aCost[n]=0, i=n-1; i>=0; i--){
    aCost[i] = aCost[i+1] + hpCostExpr(pParse, apTerm[i]);
  }
  for(i=0; i<n; i++){
    int bHas = ExprHasProperty(apTerm[i], EP_Subquery)!=0;
    if( i>0 && (bJump==0 || (bSub && bHas==0))
     && !hpSideIsSafe(pParse, apTerm[i])
    ){
      bMay = 0;
    }
    bSub |= bHas;
  }
  return hpCompileTerms(pC, apTerm, aCost, 0, n, op==TK_OR, bJump, bMay);
}

/* The vector of pExpr, a BETWEEN: stock makes an AND of it */
static int hpCompileBoth(HpCompile *pC, Expr *pExpr, int bJump){
  Expr *pHigh = pExpr->x.pList->a[1].pExpr;
  int a = hpCompileBetween(pC, pExpr, 0);
  u16 aVec[1];
  int iSide = 0;
  int b;
  if( a<0 ) return -1;
  aVec[0] = (u16)a;
  if( (bJump || hpSideIsSafe(pC->pParse, pHigh))
   && hpCompileSideIf(pC, hpCostIsSide(0, 2, hpCostExpr(pC->pParse, pHigh)), 0,
                      HP_NEED_NOT_FALSE, aVec, 1, &iSide)
  ){
    return -1;
  }
  b = hpCompileBetween(pC, pExpr, 1);
  return hpCompileJoin(pC, HP_OP_AND, a, b, hpCompileSideEnd(pC, iSide));
}

/* The vector of CASE or COALESCE, eOp.  bSide: some arguments are sides */
static int hpCompileChoice(
  HpCompile *pC,
  u8 eOp,
  const u16 *aVec,
  int n,
  int bSide
){
  HpOp x;
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  x.bSide = (u8)(bSide!=0);
  return hpCompileArgs(pC, &x, aVec, n);
}

/* The last expression of pList that may fail, or -1.  bCase: of its WHENs */
static int hpLastFunc(HpCompile *pC, const ExprList *pList, int bCase){
  int i = pList->nExpr-1;
  if( bCase ) i = i%2 ? i-1 : i-2;
  while( i>=0 && !hpSafeHasCall(pC->pParse, pList->a[i].pExpr) ){
    i -= bCase ? 2 : 1;
  }
  return i;
}

/*
** The vector of CASE pBase WHEN ... with or without pBase, from item i of pList
** on.  aCost[k] is what items k and later cost, and iFunc the last WHEN that
** may fail.
*/
static int hpCompileArms(
  HpCompile *pC,
  Expr *pBase,
  ExprList *pList,
  int i,
  const int *aCost,
  int iFunc
){
  int nExpr = pList->nExpr;
  u16 *aVec = hpCompileAlloc(pC->pPlan, ((i64)nExpr-i+1)*sizeof(u16));
  u16 *aWhen = hpCompileAlloc(pC->pPlan, ((i64)nExpr-i+1)*sizeof(u16));
  int iFirst = i;
  int bSide = 0;
  int nVec = 0;
  int nWhen = 0;
  int iSide = 0;
  int a;
  if( aVec==0 || aWhen==0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  while( i<nExpr && iSide==0 ){
    Expr *pItem = pList->a[i].pExpr;
    u8 eNeed = HP_NEED_NOT_TRUE;       /* ELSE, or all that is left */
    if( nWhen>0 && i<nExpr-1
     && hpCompileSideIf(pC,
            hpCostIsSide(aCost[0]-aCost[iFirst], aCost[iFirst]-aCost[i],
                         aCost[i]),
            iFunc>=i, HP_NEED_NOT_TRUE, aWhen, nWhen, &iSide)
    ){
      return -1;
    }
    if( iSide ){
      a = hpCompileArms(pC, pBase, pList, i, aCost, iFunc);
      bSide |= hpCompileSideEnd(pC, iSide);
      if( a<0 ) return -1;
      aVec[nVec++] = (u16)a;
      break;
    }
    if( i<nExpr-1 ){
      if( pBase ){
        a = hpCompileCompare(pC, TK_EQ, pBase, pItem,
                sqlite3BinaryCompareCollSeq(pC->pParse, pBase, pItem));
      }else{
        pC->bJump = 1;
        a = hpCompileExpr(pC, pItem);
      }
      if( a<0 ) return -1;
      aVec[nVec++] = aWhen[nWhen++] = (u16)a;
      pItem = pList->a[++i].pExpr;
      eNeed = HP_NEED_FIRST;
    }
    /* THEN, or ELSE */
    if( hpCompileSideIf(pC, hpCostIsSide(0, 0, hpCostExpr(pC->pParse, pItem)),
            hpSafeHasCall(pC->pParse, pItem), eNeed, aWhen, nWhen, &iSide)
    ){
      return -1;
    }
    a = hpCompileExpr(pC, pItem);
    bSide |= hpCompileSideEnd(pC, iSide);
    iSide = 0;
    if( a<0 ) return -1;
    aVec[nVec++] = (u16)a;
    i++;
  }
  return hpCompileChoice(pC, HP_OP_CASE, aVec, nVec, bSide);
}

/*
** The vector of CASE pBase WHEN ... with or without pBase.
*/
static int hpCompileCase(HpCompile *pC, Expr *pBase, ExprList *pList){
  int *aCost = hpCompileAlloc(pC->pPlan, ((i64)pList->nExpr+1)*sizeof(int));
  assert( pList->nExpr>=2 );    /* WHEN and THEN */
  if( aCost==0 || pList->nExpr>HP_MX_LIST ) return hpCompileNo(pC, HP_NO_LIMIT);
  if( pBase && sqlite3ExprIsVector(pBase) ){
    return hpCompileNo(pC, HP_NO_ROWVALUE);
  }
  hpCostList(pC->pParse, pList, 1, aCost);
  return hpCompileArms(pC, pBase, pList, 0, aCost, hpLastFunc(pC, pList, 1));
}

/*
** The vector of COALESCE(list), from item i on.  aCost[] and iFunc are as
** above.
*/
static int hpCompileFirst(
  HpCompile *pC,
  ExprList *pList,
  int i,
  const int *aCost,
  int iFunc
){
  u16 *aVec = hpCompileAlloc(pC->pPlan, ((i64)pList->nExpr-i+1)*sizeof(u16));
  int iFirst = i;
  int nVec = 0;
  int iSide = 0;
  int bSide = 0;
  int a;
  if( aVec==0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  while( i<pList->nExpr && iSide==0 ){
    if( i>iFirst
     && hpCompileSideIf(pC,
            hpCostIsSide(aCost[0]-aCost[iFirst], aCost[iFirst]-aCost[i],
                         aCost[i]),
            iFunc>=i, HP_NEED_NULL, aVec, nVec, &iSide)
    ){
      return -1;
    }
    if( iSide ){
      a = hpCompileFirst(pC, pList, i, aCost, iFunc);
      bSide = hpCompileSideEnd(pC, iSide);
    }else{
      a = hpCompileExpr(pC, pList->a[i++].pExpr);
    }
    if( a<0 ) return -1;
    aVec[nVec++] = (u16)a;
  }
  if( nVec==1 ) return aVec[0];
  return hpCompileChoice(pC, HP_OP_COALESCE, aVec, nVec, bSide);
}

/*
** The vector of COALESCE(list).
*/
static int hpCompileCoalesce(HpCompile *pC, ExprList *pList){
  int *aCost = hpCompileAlloc(pC->pPlan, ((i64)pList->nExpr+1)*sizeof(int));
  if( aCost==0 || pList->nExpr>HP_MX_LIST ) return hpCompileNo(pC, HP_NO_LIMIT);
  hpCostList(pC->pParse, pList, 0, aCost);
  return hpCompileFirst(pC, pList, 0, aCost, hpLastFunc(pC, pList, 0));
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
static int hpCompileLosesSubtype(HpCompile *pC, Expr *pArg){
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
  if( ExprHasProperty(pExpr, EP_WinFunc) ) return hpCompileNo(pC, HP_NO_WINDOW);
  if( nArg>HP_MX_LIST ) return hpCompileNo(pC, HP_NO_LIMIT);
  pDef = sqlite3FindFunction(db, pExpr->u.zToken, nArg, ENC(db), 0);
  if( pDef==0 || pDef->xFinalize || pDef->xSFunc==0
   || (pDef->funcFlags & (SQLITE_FUNC_INTERNAL|SQLITE_FUNC_WINDOW
                          |SQLITE_FUNC_EPHEM))!=0
  ){
    return hpCompileNo(pC, HP_NO_FUNCTION);
  }
  if( pDef->funcFlags & SQLITE_FUNC_INLINE ){
    if( nArg==0 ) return hpCompileNo(pC, HP_NO_FUNCTION);
    switch( SQLITE_PTR_TO_INT(pDef->pUserData) ){
      case INLINEFUNC_coalesce:
        return hpCompileCoalesce(pC, pList);
      case INLINEFUNC_iif:
        return hpCompileCase(pC, 0, pList);
      case INLINEFUNC_unlikely:
        return hpCompileExpr(pC, pList->a[0].pExpr);
    }
    return hpCompileNo(pC, HP_NO_FUNCTION);
  }
  /* PRAGMA case_sensitive_like makes a like() that is not marked so */
  if( (pDef->funcFlags & (SQLITE_FUNC_CONSTANT|SQLITE_FUNC_SLOCHNG))==0
   && pDef->xSFunc!=likeFunc
  ){
    return hpCompileNo(pC, HP_NO_NONDETERM);
  }
  /* In a generated column 'now' is an error */
  if( pC->nSelf && (pDef->funcFlags & SQLITE_FUNC_SLOCHNG) ){
    return hpCompileNo(pC, HP_NO_FUNCTION);
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
              && hpCompileLosesSubtype(pC, pArg);
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
      return hpCompileColumn(pC, pExpr->iColumn);
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
      return hpCompileRowCompare(pC, pExpr->op, pExpr->pLeft, pExpr->pRight,
                                 ExprHasProperty(pExpr, EP_Commuted));
    case TK_TRUTH: {
      int isTrue = sqlite3ExprTruthValue(pExpr->pRight);
      pC->bJump = bJump;
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileTruth(pC, a, !isTrue, isTrue ^ (pExpr->op2==TK_IS));
    }
    case TK_AND: case TK_OR:
      return hpCompileLogic(pC, pExpr, bJump);
    case TK_NOT:
      pC->bJump = bJump;
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_NOT, 0, a, a);
    case TK_ISNULL: case TK_NOTNULL:
      hpCompileTypeOnly(pC, pExpr->pLeft, HP_ONLY_TYPE);
      a = hpCompileExpr(pC, pExpr->pLeft);
      return hpCompileOp(pC, HP_OP_ISNULL, pExpr->op, a, a);
    case TK_BETWEEN:
      return hpCompileBoth(pC, pExpr, bJump);
    case TK_IN:
      return hpCompileIn(pC, pExpr);
    case TK_CASE:
      return hpCompileCase(pC, pExpr->pLeft, pExpr->x.pList);
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
static int hpCompileWhere(HpCompile *pC, Expr *pWhere){
  int iVec;
  assert( pC->nRangeTerm<=ArraySize(pC->apRangeTerm) );
  assert( pC->pPipe->prog.iSide==0 && pC->bNoSub==0 );
  if( pWhere==0 ) return SQLITE_OK;
  for(iVec=0; iVec<pC->nRangeTerm; iVec++){
    if( pC->apRangeTerm[iVec]==pWhere ) return SQLITE_OK;
  }
  if( pWhere->op==TK_AND ){
    if( hpCompileWhere(pC, pWhere->pLeft) ) return SQLITE_ERROR;
    return hpCompileWhere(pC, pWhere->pRight);
  }
  if( pWhere->op==TK_BETWEEN && !sqlite3ExprIsConstant(pC->pParse, pWhere) ){
    iVec = hpCompileBetween(pC, pWhere, 0);
    if( iVec<0 || hpProgFilter(&pC->pPipe->prog, iVec) ) return SQLITE_ERROR;
    iVec = hpCompileBetween(pC, pWhere, 1);
  }else{
    pC->bJump = 1;
    iVec = hpCompileExpr(pC, pWhere);
  }
  if( iVec<0 ) return SQLITE_ERROR;
  return hpProgFilter(&pC->pPipe->prog, iVec);
}

/*
** Note how far pC has come, and go back there: what has been compiled since is forgotten.
** Arrays have grown at most, so their ends say it all.
*/
static void hpCompileMark(const HpCompile *pC, HpMark *p){
  p->prog = pC->pPipe->prog;
  p->source = pC->pPipe->source;
  p->bSerial = pC->pPipe->bSerial;
  p->bUser = pC->pPipe->bUser;
  p->bDeep = pC->pPipe->bDeep;
  p->nSet = pC->pPlan->nSet;
}
static void hpCompileBack(HpCompile *pC, const HpMark *p){
  HpProg *pProg = &pC->pPipe->prog;
  HpSourcePlan *pSource = &pC->pPipe->source;
  pProg->nVec = p->prog.nVec;
  pProg->nOp = p->prog.nOp;
  pProg->nArg = p->prog.nArg;
  pProg->nConst = p->prog.nConst;
  pProg->nFilter = p->prog.nFilter;
  pProg->nSide = p->prog.nSide;
  pProg->iSide = p->prog.iSide;
  pC->pPlan->nSet = p->nSet;
  pSource->nCol = p->source.nCol;
  pSource->bRowid = p->source.bRowid;
  pSource->bIdxRowid = p->source.bIdxRowid;
  pSource->eTypeOnly = p->source.eTypeOnly;
  pC->pPipe->bSerial = p->bSerial;
  pC->pPipe->bUser = p->bUser;
  pC->pPipe->bDeep = p->bDeep;
  pC->bNoSub = 0;
  pC->nSelf = 0;
}

/* Order columns by their place in the record, the rowid first */
static void hpCompileSortColumns(HpPipePlan *pPipe){
  HpSourcePlan *pPlan = &pPipe->source;
  u16 aTo[HP_MX_COL];    /* New number of each column */
  int i, j;
  for(i=0; i<pPlan->nCol; i++){
    aTo[i] = 0;
    for(j=0; j<pPlan->nCol; j++){
      aTo[i] += pPlan->aCol[j].iStore<pPlan->aCol[i].iStore;
    }
  }
  for(i=0; i<pPipe->prog.nOp; i++){
    HpOp *pOp = &pPipe->prog.aOp[i];
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
  assert( hpColumnsAreSane(pPlan) && hpProgIsSane(pPipe) );
}

/* Zeroed memory of the plan, or NULL */
static void *hpCompileAlloc(HpPlan *pPlan, i64 nByte){
  void *pNew = hpArenaAlloc(&pPlan->mem, nByte);
  if( pNew ) memset(pNew, 0, nByte);
  return pNew;
}

/* Pipe pPipe scans pTab, or its index pIdx unless that is NULL */
static void hpCompileSource(
  Parse *pParse,
  HpPipePlan *pPipe,
  Table *pTab,
  Index *pIdx
){
  HpSourcePlan *pSource = &pPipe->source;
  pSource->pType = &hpLeavesType;
  pSource->iDb = sqlite3SchemaToIndex(pParse->db, pTab->pSchema);
  pSource->bIndex = pIdx!=0;
  pSource->iRoot = pIdx ? pIdx->tnum : pTab->tnum;
  assert( pSource->iDb>=0 && pSource->iDb<pParse->db->nDb );
}

/*
** From now on compile for pPipe, which scans pTab or pIdx.  iCur is the cursor
** that columns of the table have.
*/
static void hpCompileFor(
  HpCompile *pC,
  HpPipePlan *pPipe,
  Table *pTab,
  Index *pIdx,
  int iCur
){
  pC->pTab = pTab;
  pC->pIdx = pIdx;
  pC->iCur = iCur;
  pC->pPipe = pPipe;
}

/*
** Begin to compile a query: an empty plan of nPipe pipes, or NULL.  The last one
** scans the b-tree that sqlite3HpAccept() noted in pItem.  *pC is for
** hpCompileExpr() and its like.
*/
static HpPlan *hpCompileNew(
  HpCompile *pC,
  Parse *pParse,
  const SrcItem *pItem,
  int nPipe
){
  HpArena mem;
  HpPlan *pPlan;
  HpPipePlan *pPipe;
  assert( nPipe>0 && IsOrdinaryTable(pItem->pSTab) );
  assert( pItem->hp.pIdx==0 || pItem->hp.pIdx->pTable==pItem->pSTab );
  memset(pC, 0, sizeof(*pC));
  memset(&mem, 0, sizeof(mem));
  /* Without memory for a plan the query is stock's */
  sqlite3BeginBenignMalloc();
  pPlan = hpArenaAlloc(&mem, sizeof(*pPlan));
  sqlite3EndBenignMalloc();
  if( pPlan==0 ) return 0;
  memset(pPlan, 0, sizeof(*pPlan));
  pPlan->mem = mem;
  pPlan->aPipe = hpCompileAlloc(pPlan, sizeof(HpPipePlan)*(i64)nPipe);
  if( pPlan->aPipe==0 ){
    hpCompileFree(pPlan);
    return 0;
  }
  pPlan->nPipe = nPipe;
  pC->pParse = pParse;
  pC->pPlan = pPlan;
  for(pPipe=pPlan->aPipe; pPipe<&pPlan->aPipe[nPipe]; pPipe++){
    pPipe->prog.pMem = &pPlan->mem;
  }
  pPipe = hpPlanLast(pPlan);
  hpCompileSource(pParse, pPipe, pItem->pSTab, pItem->hp.pIdx);
  hpCompileFor(pC, pPipe, pItem->pSTab, pItem->hp.pIdx, pItem->iCursor);
  return pPlan;
}

/* Memory for nKey keys */
static int hpCompileKeys(HpPlan *pPlan, HpKeys *pKeys, int nKey){
  assert( nKey>=0 && pKeys->aVec==0 );
  pKeys->aColl = hpArenaAlloc(&pPlan->mem, sizeof(CollSeq*)*(i64)nKey);
  pKeys->aVec = hpArenaAlloc(&pPlan->mem, sizeof(u16)*(i64)nKey);
  pKeys->aSort = hpArenaAlloc(&pPlan->mem, nKey);
  if( pKeys->aColl==0 || pKeys->aVec==0 || pKeys->aSort==0 ) return SQLITE_NOMEM;
  return SQLITE_OK;
}

/*
** The statement is left to stock because there is little to read.  It may be
** kept while its table grows, so mark it: see sqlite3HpAgain().
*/
static void hpCompileSmall(Parse *pParse){
  assert( sqlite3ParseToplevel(pParse)->pVdbe!=0 );
  sqlite3ParseToplevel(pParse)->pVdbe->eHpSmall = 1;
}

/*
** Executions are thought to be short, and so there is no plan.  If one is long the statement is
** prepared again in the midst of it (hp_race.c), and before others if they are long together.
*/
static void hpCompileLong(Parse *pParse){
  hpCompileSmall(pParse);
  sqlite3ParseToplevel(pParse)->pVdbe->hpRace.bMay = 1;
}

/* Is pItem, a term of FROM, a table of the file? */
static int hpCompileIsTable(const SrcItem *pItem){
  return pItem->fg.isSubquery==0 && pItem->fg.viaCoroutine==0
      && IsOrdinaryTable(pItem->pSTab) && (pItem->pSTab->tabFlags & TF_Ephemeral)==0;
}
#endif /* SQLITE_OMIT_HP */
