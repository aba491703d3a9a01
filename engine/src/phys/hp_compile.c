/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compile: a plan that is being made, and operations of its programs
** (prepare time).
**
**    hpCompileNew(), hpCompileEmpty(), hpCompileFree()    a plan
**    hpCompileAlloc(), hpCompileKeys()  memory of it
**    hpCompileSource(), hpCompileFor()  what a pipe scans; go on with that pipe
**    hpCompileNo()      refuse, with a reason for PRAGMA hp_stats
**    hpCompileNoFunc()  refuse a call of a function, by name
**    hpCompileNoUser()  refuse pipes that call the application's functions
**    hpCompileGroups()  groups as the sink of a pipe
**    hpCompileOp(), hpCompileAff(), hpCompileTruth()    an operation
**    hpCompileArgs(), hpCompileList()    one that has a list of arguments
**    hpCompileConst()   a constant: coded into a register
**    hpCompileLiteral() one that the query does not have
**    hpCompileStored()  where in the record a column is
**    hpCompileColl(), hpCompileCollOk()  the collation of an operation
**    hpCompileIsConst() is an expression a constant?
**    hpCompileMark(), hpCompileBack()    forget what was compiled since
**    hpCompileSortColumns()    when all is compiled: order columns
**    hpCompileSmall()   note that the table was small
**    hpCompileLong()    note that there would be a plan if executions are long
**
** A plan is begun by hpCompileNew(), with the pipes that it will have.  For
** each pipe, hpCompileFor() says which one it is; expressions are compiled into
** its program (hp_compileexpr.c), and hpCompileSortColumns() finishes it.  The
** memory is the plan's: whoever makes it frees it with hpCompileFree(), until
** the statement takes it over (hp_deliver.c).
**
** Each function that compiles something returns the vector where its value will
** be, or -1 with the reason in HpCompile.eNo.  The first reason is kept.  The
** same operation is compiled once: hpProgOp() finds it again.
**
** Constants (literals, bound parameters, and what operators make of them) are
** coded by SQLite's own expression compiler into registers, so that they need
** no case here.  Calls of functions with constants are operations of the
** program: they may fail where SQLite would not have come to them.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Refuse an expression.  The first reason is kept. */
static int hpCompileNo(HpCompile *pC, u8 eNo){
  assert( eNo>=HP_NO_LIMIT && eNo<=HP_NO_JOIN );
  if( pC->eNo==0 ) pC->eNo = eNo;
  return -1;
}

/* Refuse a call of a function, by name */
static int hpCompileNoFunc(HpCompile *pC, const Expr *pExpr, u8 eNo){
  hpConfigLog(pC->pParse->db, "note: the function %s()%s", pExpr->u.zToken,
      eNo==HP_NO_WINDOW ? " OVER a window" :
      eNo==HP_NO_NONDETERM ? " gives another result each time it is called" :
      " is not called for batches of rows");
  return hpCompileNo(pC, eNo);
}

/*
** Refuse a plan of several pipes of which one calls the application's
** functions: a pipe that declines would have stock call them again for the
** pipes before it.
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

/* Zeroed memory of the plan, or NULL */
static void *hpCompileAlloc(HpPlan *pPlan, i64 nByte){
  void *pNew = hpArenaAlloc(&pPlan->mem, nByte);
  if( pNew ) memset(pNew, 0, nByte);
  return pNew;
}

/* Memory for nKey keys */
static int hpCompileKeys(HpPlan *pPlan, HpKeys *pKeys, int nKey){
  assert( nKey>=0 && pKeys->aVec==0 );
  pKeys->aColl = hpArenaAlloc(&pPlan->mem, sizeof(CollSeq*)*(i64)nKey);
  pKeys->aVec = hpArenaAlloc(&pPlan->mem, sizeof(u16)*(i64)nKey);
  pKeys->aSort = hpArenaAlloc(&pPlan->mem, nKey);
  if( pKeys->aColl==0 || pKeys->aVec==0 || pKeys->aSort==0 ){
    return SQLITE_NOMEM;
  }
  return SQLITE_OK;
}

/*
** Let the sink of the pipe of now be groups with nAgg aggregates and nBare bare
** columns.  NULL: there is no memory.
*/
static HpGroupPlan *hpCompileGroups(HpCompile *pC, int nAgg, int nBare){
  HpPlan *pPlan = pC->pPlan;
  HpGroupPlan *pNew = hpCompileAlloc(pPlan, sizeof(*pNew));
  assert( pC->pPipe->pSink==0 && pC->pPipe->pGroup==0 );
  assert( nAgg>=0 && nBare>=0 );
  pC->pPipe->pSink = &hpSinkGroups;
  pC->pPipe->pGroup = pNew;
  if( pNew==0 ) return 0;
  pNew->nAgg = nAgg;
  pNew->nBare = nBare;
  pNew->aAgg = hpCompileAlloc(pPlan, sizeof(HpAggDef)*(i64)nAgg);
  pNew->aBare = hpCompileAlloc(pPlan, sizeof(struct HpBare)*(i64)nBare);
  return pNew->aAgg && pNew->aBare ? pNew : 0;
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
  /* A table WITHOUT ROWID is its primary key */
  assert( pIdx ? pIdx->pTable==pTab : HasRowid(pTab) );
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
  assert( pPipe>=pC->pPlan->aPipe && pPipe<=hpPlanLast(pC->pPlan) );
  assert( iCur>=0 && pPipe->source.bIndex==(pIdx!=0) );
  pC->pTab = pTab;
  pC->pIdx = pIdx;
  pC->iCur = iCur;
  pC->pPipe = pPipe;
}

/*
** A plan without pipes, or NULL.
*/
static HpPlan *hpCompileEmpty(void){
  HpArena mem;
  HpPlan *pPlan;
  memset(&mem, 0, sizeof(mem));
  /* Without memory for a plan the statement is stock's */
  sqlite3BeginBenignMalloc();
  pPlan = hpArenaAlloc(&mem, sizeof(*pPlan));
  sqlite3EndBenignMalloc();
  if( pPlan==0 ) return 0;
  memset(pPlan, 0, sizeof(*pPlan));
  pPlan->mem = mem;
  return pPlan;
}

/*
** Begin to compile a query: an empty plan of nPipe pipes, or NULL.  The last
** one scans the b-tree that sqlite3HpAccept() noted in pItem.  *pC is for
** hpCompileExpr() and its like.
*/
static HpPlan *hpCompileNew(
  HpCompile *pC,
  Parse *pParse,
  const SrcItem *pItem,
  int nPipe
){
  HpPlan *pPlan = hpCompileEmpty();
  HpPipePlan *pPipe;
  assert( nPipe>0 && IsOrdinaryTable(pItem->pSTab) );
  assert( pItem->hp.pIdx==0 || pItem->hp.pIdx->pTable==pItem->pSTab );
  memset(pC, 0, sizeof(*pC));
  if( pPlan==0 ) return 0;
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

/*
** Note how far pC has come, and go back there: what has been compiled since is
** forgotten.  Arrays have grown at most, so their ends say it all.
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
  /* The pipe is the same, and has only grown since */
  assert( pProg->nVec>=p->prog.nVec && pProg->nOp>=p->prog.nOp );
  assert( pProg->nConst>=p->prog.nConst && pProg->nFilter>=p->prog.nFilter );
  assert( pSource->nCol>=p->source.nCol && pC->pPlan->nSet>=p->nSet );
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

/*
** Columns of pPipe have their order: find those of the fields of its records
** that need to know.
*/
static void hpCompilePlaces(HpPipePlan *pPipe){
  const HpSourcePlan *pSource = &pPipe->source;
  HpSortPlan *pSort = pPipe->pSort;
  int i, k;
  for(i=0; i<pSort->nField; i++){
    HpField *pField = &pSort->aField[i];
    if( pField->eField!=HP_FIELD_RAW && pField->eField!=HP_FIELD_REAL ){
      continue;
    }
    for(k=0; pSource->aCol[k].iStore!=pField->iStore; k++){}
    assert( k+pField->n<=pSource->nCol );
    assert( pSource->aCol[k+pField->n-1].iStore==pField->iStore+pField->n-1 );
    pField->iCol = k;
  }
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
  assert( hpSanePipe(pPipe) );
  if( pPipe->pSort ) hpCompilePlaces(pPipe);
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
** Executions are thought to be short, and so there is no plan.  If one is long
** the statement is prepared again in the midst of it (hp_race.c), and before
** others if they are long together.
*/
static void hpCompileLong(Parse *pParse){
  hpCompileSmall(pParse);
  sqlite3ParseToplevel(pParse)->pVdbe->hpRace.bMay = 1;
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
** where stock would call it: HpPipePlan.bSerial.
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
** most expressions consist of: to walk trees takes long for each of their
** inputs.
*/
static int hpCompileIsConst(HpCompile *pC, Expr *pExpr){
  switch( pExpr->op ){
    case TK_INTEGER: case TK_FLOAT: case TK_BLOB: case TK_NULL:
    case TK_VARIABLE:
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

/* The vector of a constant that the query does not have: op is TK_xxx */
static int hpCompileLiteral(HpCompile *pC, int op, const char *z){

  Expr *pExpr = sqlite3Expr(pC->pParse->db, op, z);
  int a = -1;
  assert( (op==TK_NULL && z==0) || op==TK_INTEGER || op==TK_FLOAT );
  if( pExpr && sqlite3ExprDeferredDelete(pC->pParse, pExpr)==0 ){
    a = hpCompileConst(pC, pExpr);
  }
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
}

/* Add the operation eOp(a, b).  Returns its vector, or -1. */
static int hpCompileOp(HpCompile *pC, u8 eOp, u8 op, int a, int b){
  HpOp x;
  if( a<0 || b<0 ) return -1;
  assert( a<pC->pPipe->prog.nVec && b<pC->pPipe->prog.nVec );
  /* Others have fields that are not filled in here */
  assert( eOp==HP_OP_ARITH || eOp==HP_OP_COMPARE || eOp==HP_OP_CONCAT
       || (eOp>=HP_OP_AND && eOp<=HP_OP_ISNULL)
       || eOp==HP_OP_BIT || eOp==HP_OP_BITNOT );
  assert( a==b || (eOp!=HP_OP_NOT && eOp!=HP_OP_ISNULL && eOp!=HP_OP_BITNOT) );
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
  assert( aff>=SQLITE_AFF_BLOB && a<pC->pPipe->prog.nVec );
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  x.aff = aff;
  x.a = x.b = (u16)a;
  a = hpProgOp(&pC->pPipe->prog, &x);
  return a<0 ? hpCompileNo(pC, HP_NO_LIMIT) : a;
}

/* The vector of "a IS [NOT] TRUE" and the like: bNull is the truth of NULL,
** as stock's OP_IsTrue has it, bNot turns the result round */
static int hpCompileTruth(HpCompile *pC, int a, int bNull, int bNot){
  HpOp x;
  if( a<0 ) return -1;
  assert( (bNull==0 || bNull==1) && (bNot==0 || bNot==1) );
  assert( hpProgSees(&pC->pPipe->prog, a) );
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_TRUTH;
  x.a = (u16)a;
  x.b = (u16)(bNull + 2*bNot);
  a = hpProgOp(&pC->pPipe->prog, &x);
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
    assert( hpProgSees(pProg, aVec[i]) || pOp->bSide );
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
  assert( iColumn<0 || (pTab->aCol[iColumn].colFlags & COLFLAG_VIRTUAL)==0 );
  if( iColumn>=0 && iColumn!=pTab->iPKey ){
    iStore = sqlite3TableColumnToStorage(pTab, (i16)iColumn);
  }
  if( pC->pIdx ){
    iStore = sqlite3TableColumnToIndex(pC->pIdx, iStore<0 ? -1 : iColumn);
    if( iStore<0 ) return hpCompileNo(pC, HP_NO_COLUMN);
  }
  assert( iStore<(pC->pIdx ? pC->pIdx->nColumn : pTab->nNVCol) );
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
      if( hpCompileDefault(pC, pColumn, pCol) ){
        return hpCompileNo(pC, HP_NO_LIMIT);
      }
    }
  }
  return i;
}
#endif /* SQLITE_OMIT_HP */
