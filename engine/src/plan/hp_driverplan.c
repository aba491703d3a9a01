/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_driverplan: the outermost loop of a statement goes through the rows that pass
** (prepare time).
**
**    hpDriverPlanAccept()     is the outermost loop a scan of a whole table?
**    hpDriverPlanCode()       filter it: emit OP_HpScan and OP_HpRow
**    hpDriverPlanNext(), hpDriverPlanLast()    the end of a loop
**    hpDriverPlanMay()        may a loop that searches an index go through rows that are found?
**    hpDriverPlanIn()         where the loop over the values of an IN begins
**    hpDriverPlanLoop()       let a loop go through rows that are found
**    hpDriverPlanKeys(), hpDriverPlanSearch()    the same of a loop that searches an index
**    sqlite3HpLoopAccept(), sqlite3HpCodeLoop()    the same for UPDATE and DELETE
**
** hp_piece.c says what is done at run time, with a drawing of the program.  All that
** SQLite has coded stays: the loop tests the WHERE clause again on the rows that it
** is led to.  So what is found may be too much, and terms that we do not do, or that
** are about other tables, are left out.
**
** Of a join, rows of the outermost loop that have no partner in a table are left out, too,
** if that is found by a unique key and the WHERE clause leaves rows of it out
** (hpDriverLook()).  That is as far as hp_lop.c does it with what is safe to leave out.
**
** A term may fail, or call the application.  SQLite tests the terms of the outermost
** loop in the order of the WHERE clause, correlated sub-selects last; a row that we
** leave out is not seen by any of them.  So terms that are left out have to be safe,
** but for those that are tested later in any case.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Return the address of the OP_Rewind of the outermost loop of pWInfo, if that goes
** through all of a table in ascending order, and there is a WHERE clause pWhere;
** else 0.
*/
static int hpDriverPlanAccept(Parse *pParse, WhereInfo *pWInfo, const Expr *pWhere){
  sqlite3 *db = pParse->db;
  SrcList *pSrc = pWInfo->pTabList;
  const u32 mOk = WHERE_IPK|WHERE_UNQ_WANTED|WHERE_SELFCULL;
  const WhereLevel *pLevel = &pWInfo->a[0];
  const WhereLoop *pLoop;
  const VdbeOp *pOp;
  SrcItem *pItem;
  int i, iRewind;
  if( pWhere==0 || pParse->nested || pParse->nErr ) return 0;
  if( hpConfigOffload(db)==HP_OFFLOAD_OFF ) return 0;
  if( ENC(db)!=SQLITE_UTF8 || pWInfo->nLevel<1 ){
    return hpConfigStat(db, HP_NO_SHAPE);
  }
  for(i=0; i<pSrc->nSrc; i++){
    if( pSrc->a[i].fg.isRecursive || (pSrc->a[i].fg.jointype & (JT_RIGHT|JT_LTORJ)) ){
      return hpConfigStat(db, HP_NO_SHAPE);
    }
  }
  pItem = &pSrc->a[pLevel->iFrom];
  if( pItem->fg.fromExists || !hpSubselectIsTable(pItem) || !HasRowid(pItem->pSTab) ){
    return hpConfigStat(db, HP_NO_SHAPE);
  }
  pLoop = pLevel->pWLoop;
  iRewind = pLevel->p2-1;
  if( (pWInfo->revMask & 1)!=0 || pLevel->op!=OP_Next || iRewind<=0
   || (pLoop->wsFlags & ~mOk)!=0 || (pLoop->wsFlags & WHERE_IPK)==0
   || pLoop->nLTerm!=0 || pWInfo->eOnePass==ONEPASS_SINGLE
  ){
    return hpConfigStat(db, HP_NO_PLAN);
  }
  pOp = sqlite3VdbeGetOp(pParse->pVdbe, iRewind);
  if( pOp->opcode!=OP_Rewind || pOp->p1!=pItem->iCursor ){
    return hpConfigStat(db, HP_NO_PLAN);
  }
  memset(&pItem->hp, 0, sizeof(pItem->hp));
  pItem->hp.bWhole = pItem->hp.bByRowid = pItem->hp.bPlain = 1;
  if( pSrc->nSrc>1 ) hpChoiceNote(pWInfo, 1, 0, 0);
  return iRewind;
}

/* Walker callback: stop at a column of cursor u.iCur, and at a correlated sub-select */
static int hpDriverLater(Walker *pWalker, Expr *pExpr){
  if( (pExpr->op==TK_COLUMN && pExpr->iTable==pWalker->u.iCur)
   || ((pExpr->op==TK_SELECT || pExpr->op==TK_EXISTS || pExpr->op==TK_IN)
       && ExprHasProperty(pExpr, EP_VarSelect))
  ){
    pWalker->eCode = 1;
    return WRC_Abort;
  }
  return WRC_Continue;
}

/*
** May term pExpr of the WHERE clause be left out, so that SQLite's loop alone tests it?
*/
static int hpDriverMayLeave(HpCompile *pC, const SrcList *pSrc, Expr *pExpr){
  Walker w;
  int i;
  memset(&w, 0, sizeof(w));
  w.pParse = pC->pParse;
  w.xExprCallback = hpDriverLater;
  w.xSelectCallback = sqlite3SelectWalkNoop;
  for(i=0; i<pSrc->nSrc && w.eCode==0; i++){
    w.u.iCur = pSrc->a[i].iCursor==pC->iCur ? -1 : pSrc->a[i].iCursor;
    sqlite3WalkExpr(&w, pExpr);
  }
  return w.eCode || hpSafe(pC->pParse, pExpr, 0, 0);
}

/*
** Make filters of those terms of pWhere that are about the table, and that we
** do.  Returns an error if one of the others may not be left out.
*/
static int hpDriverWhere(HpCompile *pC, Expr *pWhere){
  HpMark mark;
  if( pWhere->op==TK_AND ){
    if( hpDriverWhere(pC, pWhere->pLeft) ) return SQLITE_ERROR;
    return hpDriverWhere(pC, pWhere->pRight);
  }
  assert( pC->pJoin==0 );     /* hpDriverLook() has another way */
  if( ExprHasProperty(pWhere, EP_OuterON) ) return SQLITE_OK;
  hpCompileMark(pC, &mark);
  pC->xSub = hpSubselectIsStrict(pWhere) ? hpScalarSub : 0;
  if( hpCompileExprWhere(pC, pWhere)==SQLITE_OK && pC->pPipe->bSerial==0
   && pC->pPipe->bUser==0
  ){
    return SQLITE_OK;
  }
  hpCompileBack(pC, &mark);
  return hpDriverMayLeave(pC, pC->pTop->pSrc, pWhere) ? SQLITE_OK
                                                      : SQLITE_ERROR;
}

static int hpDriverBegin(HpCompile *pC){
  HpFindPlan *pFind = hpCompileAlloc(pC->pPlan, sizeof(*pFind));
  u8 bByRowid = pC->pTop->bByRowid;
  pC->pPipe->pSink = &hpSinkRowids;
  pC->pPipe->source.bPlaces = bByRowid==0;
  pC->pPipe->source.bOrder = bByRowid;
  pC->pPipe->pFind = pFind;
  if( pFind==0 ) return SQLITE_NOMEM;
  pFind->bByRowid = bByRowid;
  return SQLITE_OK;
}

/* Of one table some row has to be left out; of a join partners may do that */
static int hpDriverSink(HpCompile *pC){
  if( pC->pTop->bByRowid && hpCompileStored(pC, -1)<0 ) return SQLITE_ERROR;
  return pC->pJoin || pC->pPipe->prog.nFilter ? SQLITE_OK : SQLITE_ERROR;
}

static const HpOutput hpDriverOutput = {
  HP_IN(HP_LOP_SCAN)|HP_IN(HP_LOP_JOIN),
  HP_OUT_THREADS, HP_NO_OTHER,
  hpDriverBegin, hpDriverWhere, hpDriverSink, 0
};

/*
** Let the input of pTop, a scan, be a join that leaves out rows without partner
** in tables whose own terms leave rows out.  Returns false if there are none.
*/
static int hpDriverLook(Parse *pParse, HpLop *pTop){
  SrcList *pSrc = pTop->pSrc;
  HpLop *pIn = pTop->pIn;
  HpJoin *pJoin;
  int i;
  assert( pIn->eOp==HP_LOP_SCAN );
  if( pTop->bByRowid || pSrc->nSrc<2
   || !hpSafe(pParse, pIn->pWhere, 0, HP_SAFE_SELECT)
  ){
    return 0;
  }
  for(i=0; i<pSrc->nSrc; i++){
    /* A virtual table, or a sub-select, is asked for each row that gets there */
    if( !hpSubselectIsTable(&pSrc->a[i]) ) return 0;
  }
  pJoin = hpLopJoin(pParse, pSrc, pIn->pWhere, 1);
  if( pJoin==0 ) return 0;
  /* A part of it is no longer asked for all its rows */
  assert( pJoin->bPart && pJoin->iMany<0 );
  if( pJoin->nPipe<2 || pJoin->aIn[pJoin->iRoot].pItem!=pIn->pItem ){
    hpLopFree(pJoin);
    return 0;
  }
  pIn->eOp = HP_LOP_JOIN;
  pIn->pJoin = pJoin;
  return 1;
}

/*
** The plan for the scan of pItem, or NULL if it is refused.
*/
static HpPlan *hpDriverCompile(
  Parse *pParse,
  SrcList *pSrc,
  SrcItem *pItem,
  Expr *pWhere,
  int bByRowid
){
  HpPlan *pPlan;
  HpLop in, top;
  /* Rows are found by their place in the table, or by rowid */
  assert( HasRowid(pItem->pSTab) && pItem->hp.pIdx==0 );
  memset(&in, 0, sizeof(in));
  memset(&top, 0, sizeof(top));
  in.eOp = HP_LOP_SCAN;
  in.pItem = pItem;
  in.pWhere = pWhere;
  top.eOp = HP_LOP_FILTER;
  top.pIn = &in;
  top.pOut = &hpDriverOutput;
  top.pSrc = pSrc;
  top.bByRowid = (u8)bByRowid;
  if( hpDriverLook(pParse, &top) ){
    pPlan = hpLowerSilent(pParse, &top);
    if( pPlan ) return pPlan;
    in.eOp = HP_LOP_SCAN;
  }
  return hpLower(pParse, &top);
}

/*
** The OP_Next of the loop whose OP_Rewind is at iRewind, or 0 if it has none of ours.
*/
static int hpDriverPlanNext(Vdbe *v, int iRewind){
  int iCur = sqlite3VdbeGetOp(v, iRewind)->p1;
  int i;
  assert( sqlite3VdbeGetOp(v, iRewind)->opcode==OP_Rewind
       || v->db->mallocFailed );
  for(i=sqlite3VdbeCurrentAddr(v)-1; i>iRewind; i--){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->opcode==OP_Next && pOp->p1==iCur && pOp->p2==iRewind+1 ){
      return pOp->p3==0 ? i : 0;
    }
  }
  return 0;
}

/* The OP_Next of the loop that searches an index and looks rows of cursor iTabCur up, or 0 */
static int hpDriverPlanLast(Vdbe *v, int iTabCur){
  const VdbeOp *aOp = sqlite3VdbeGetOp(v, 0);
  int nOp = sqlite3VdbeCurrentAddr(v);
  int i, iCur;
  assert( v->db->mallocFailed==0 );
  for(i=nOp-1; i>0 && (aOp[i].opcode!=OP_DeferredSeek || aOp[i].p3!=iTabCur); i--){}
  for(iCur=aOp[i].p1; i>0 && i<nOp && (aOp[i].opcode!=OP_Next || aOp[i].p1!=iCur); i++){}
  return i<nOp ? i : 0;
}

/*
** Return the address of the instruction with which the loop over the values of an IN begins, around the
** search of pWInfo: an OP_Rewind, or OP_Last.  0: there is no IN; -1: there is one that we do not know.
*/
static int hpDriverPlanIn(Vdbe *v, const WhereInfo *pWInfo){
  const WhereLevel *pLevel = &pWInfo->a[0];
  int addr;
  assert( hpChoiceIsSearch(pWInfo) );
  if( (pLevel->pWLoop->wsFlags & WHERE_COLUMN_IN)==0 ) return 0;
  if( pLevel->u.in.nIn!=1 ) return -1;
  addr = pLevel->u.in.aInLoop[0].addrInTop-1;
  if( addr<1 ) return -1;
  switch( sqlite3VdbeGetOp(v, addr)->opcode ){
    case OP_Rewind: case OP_Last:  return addr;
  }
  return -1;
}

/*
** Let the loop from iRewind to iNext go through the rows that pPlan finds: at once, or
** piece by piece, while the loop goes on.
*/
static void hpDriverPlanLoop(Parse *pParse, HpPlan *pPlan, int iRewind, int iNext){
  Vdbe *v = pParse->pVdbe;
  int bPieces = hpPlanLast(pPlan)->pFind->bPieces;
  int regExec = pParse->nMem+1;
  HpBranch branch;
  VdbeOp *pOp;
  int addrScan;
  assert( iRewind>0 && iRewind<iNext && iNext<sqlite3VdbeCurrentAddr(v) );
  assert( !bPieces || hpPlanLast(pPlan)->pSink==&hpSinkRowids );
  pParse->nMem += 2;     /* The execution, and the number of rows left to stock */
  hpSortPlanExplain(pParse, iRewind);
  hpEmitBranch(pParse, &branch, iRewind);
  pOp = sqlite3VdbeGetOp(v, iNext);
  pOp->opcode = OP_HpRow;
  pOp->p3 = regExec;
  addrScan = hpEmitScan(pParse, pPlan, regExec);
  if( !bPieces ){
    sqlite3VdbeAddOp3(v, OP_HpRow, branch.op.p1, iRewind+1, regExec);
    sqlite3VdbeChangeP5(v, SQLITE_STMTSTATUS_FULLSCAN_STEP);
    sqlite3VdbeAddOp2(v, OP_Goto, 0, branch.op.p2);
  }
  hpEmitRejoin(pParse, &branch, addrScan);
}

/* May the entries that pWInfo searches for be those of rows that are found?  With LIKE there may be two
** searches, one after the other, for texts and for blobs. */
static int hpDriverPlanMay(Vdbe *v, const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  int i;
  for(i=0; i<pLoop->nLTerm; i++){
    if( pLoop->aLTerm[i] && (pLoop->aLTerm[i]->wtFlags & TERM_LIKEOPT)!=0 ) return 0;
  }
  return hpDriverPlanIn(v, pWInfo)>=0;
}

/* Instructions in front of a search that hpEmitDetour() may move */
static int hpDriverMayMove(const VdbeOp *pOp){
  switch( pOp->opcode ){
    case OP_Integer: case OP_Int64: case OP_Real: case OP_String8: case OP_String: case OP_Null:
    case OP_Blob: case OP_Variable: case OP_Copy: case OP_SCopy: case OP_Affinity: case OP_IsNull:
    case OP_OpenRead: case OP_Explain: case OP_Noop:
      return 1;
  }
  return 0;
}

/*
** The loop that ends at iNext searches an index, and looks rows of cursor iTabCur up:
**
**           ...                      the first key, in registers
**           SeekGE idx -> end        or SeekGT; Rewind if there is no first key
**           ...                      the last key, unless they are the same
**    top:   IdxGT idx -> end         or IdxGE; none if there is no last key
**           DeferredSeek idx, table
**           ...
**           Next idx -> top
**
** Return the address of the instruction with which hpEmitDetour() is to begin, or 0 if the loop is not
** as we know it.  OP_SeekGE may look at what follows it, so it stays where it is.
*/
static int hpDriverPlanKeys(Vdbe *v, int iTabCur, int iNext){
  const VdbeOp *aOp = sqlite3VdbeGetOp(v, 0);
  int iCur = aOp[iNext].p1;
  int iTop = aOp[iNext].p2;
  int iRow = iTop;
  int iFrom = iTop-1;
  assert( aOp[iNext].opcode==OP_Next );
  if( iTop<3 || iTop+1>=iNext ) return 0;
  if( aOp[iTop].opcode==OP_IdxGT || aOp[iTop].opcode==OP_IdxGE ){
    if( aOp[iTop].p1!=iCur ) return 0;
    iRow++;
  }
  if( aOp[iFrom].opcode==OP_SeekGE || aOp[iFrom].opcode==OP_SeekGT || aOp[iFrom].opcode==OP_Rewind ){
    if( aOp[iFrom].p1!=iCur ) return 0;
    iFrom--;
  }
  if( aOp[iRow].opcode!=OP_DeferredSeek || aOp[iRow].p1!=iCur || aOp[iRow].p3!=iTabCur
   || !hpDriverMayMove(&aOp[iFrom])
  ){
    return 0;
  }
  assert( iFrom>0 && iFrom<iTop && iTop<=iRow && iRow<iNext );
  return iFrom;
}

/*
** Let the loop that ends at iNext go through the entries of the rows that pPlan finds.  iFrom comes from
** hpDriverPlanKeys(), or from hpDriverPlanIn() (bIn).
**
** With IN there is a loop around this one, which entries do not end: OP_IdxGT asks whether they have the value
** that it is at.  So ours leaves OP_IdxGT out, and goes on behind the loop outside.  The instruction at
** iNext does one or the other:
**
**           Rewind values -> end     ours begins with a copy of this
**           ...
**           SeekGE idx, IdxGT idx    stock's only
**    row:   DeferredSeek idx, table
**           ...
**           Goto x                   was Next idx
**           Next values
**    end:
**    hp:    HpRow idx -> row
**           Goto end
**    x:     IfPos -> stock           OP_HpScan has declined
**           Goto hp
**    stock: Next idx                 the copy
*/
static void hpDriverPlanSearch(Parse *pParse, HpPlan *pPlan, int iFrom, int iNext, int bIn){
  Vdbe *v = pParse->pVdbe;
  VdbeOp *pOp = sqlite3VdbeGetOp(v, iNext);
  HpFindPlan *pFind = hpPlanLast(pPlan)->pFind;
  int regExec = pParse->nMem+1;
  int iCur = pOp->p1;
  int iTop = pOp->p2;
  int iEnd = iNext+1;
  int addrSkip, addrScan, addrRow;
  pParse->nMem += 2;     /* The execution, and the number of rows left to stock */
  assert( pPlan->pSearch!=0 && iFrom>0 && iFrom<iNext );
  pFind->iIdxCur = iCur;
  hpSortPlanExplain(pParse, iTop);
  if( bIn ){
    iEnd = sqlite3VdbeGetOp(v, iFrom)->p2;
    while( iTop<iNext && sqlite3VdbeGetOp(v, iTop)->opcode!=OP_DeferredSeek ) iTop++;
    /* hpDriverPlanLast() has seen it; and the loop around ends behind */
    assert( iTop<iNext && iNext<iEnd );
  }else{
    pOp->opcode = OP_HpRow;
    pOp->p3 = regExec;
  }
  addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  hpEmitDetour(pParse, iFrom);
  pPlan->iLoop = iFrom+1;
  pPlan->iLoopEnd = iEnd;
  addrScan = hpEmitScan(pParse, pPlan, regExec);
  sqlite3VdbeChangeP2(v, addrScan, iFrom+1);
  addrRow = sqlite3VdbeAddOp3(v, OP_HpRow, iCur, iTop, regExec);
  sqlite3VdbeAddOp2(v, OP_Goto, 0, iEnd);
  if( bIn ){
    int addrNext = sqlite3VdbeCurrentAddr(v);
    hpEmitDetour(pParse, iNext);
    sqlite3VdbeAddOp2(v, OP_Goto, 0, iNext+1);
    sqlite3VdbeChangeP2(v, iNext, sqlite3VdbeAddOp2(v, OP_IfPos, regExec+1, addrNext));
    sqlite3VdbeAddOp2(v, OP_Goto, 0, addrRow);
  }
  sqlite3VdbeJumpHere(v, addrSkip);
}

/*
** The outermost loop has been coded: its OP_Rewind at address iRewind.  Let it go
** through the rows of pSrc that pass pWhere only.  eLoop: HP_LOOP_xxx.
*/
static void hpDriverPlanCode(
  Parse *pParse,
  SrcList *pSrc,
  Expr *pWhere,
  int iRewind,
  u8 eLoop
){
  const VdbeOp *pOp = sqlite3VdbeGetOp(pParse->pVdbe, iRewind);
  SrcItem *pItem = 0;
  HpPlan *pPlan;
  int i, iNext;
  assert( iRewind>0 && eLoop<=HP_LOOP_WRITES && pWhere!=0 );
  for(i=0; i<pSrc->nSrc; i++){
    if( pSrc->a[i].iCursor==pOp->p1 ) pItem = &pSrc->a[i];
  }
  if( pItem==0 || pOp->opcode!=OP_Rewind ) return;
  if( !hpWorthIt(pParse, pItem, HP_MIN_PIECES) ) return;
  iNext = hpDriverPlanNext(pParse->pVdbe, iRewind);
  if( iNext==0 ) return;
  pPlan = hpDriverCompile(pParse, pSrc, pItem, pWhere, eLoop==HP_LOOP_WRITES);
  if( pPlan==0 ) return;
  hpPlanLast(pPlan)->pFind->bPieces = 1;
  hpPlanLast(pPlan)->pFind->bAll = eLoop==HP_LOOP_ALL;
  hpDriverPlanLoop(pParse, pPlan, iRewind, iNext);
}

/*
** The planner has chosen pWInfo for the WHERE clause pWhere of an UPDATE or DELETE.
** pChange are the expressions that an UPDATE computes.  Return what sqlite3HpCodeLoop()
** wants to know: 0 if the loop is left as it is.
*/
SQLITE_PRIVATE int sqlite3HpLoopAccept(
  Parse *pParse,
  WhereInfo *pWInfo,
  Expr *pWhere,
  ExprList *pChange
){
  int iRewind = hpDriverPlanAccept(pParse, pWInfo, pWhere);
  if( iRewind==0 || pWInfo->eOnePass==ONEPASS_OFF ) return iRewind;
  /* A function of the application might write to the table */
  return hpSafe(pParse, 0, pChange, HP_SAFE_EACH) ? -iRewind : 0;
}

/*
** The loop of an UPDATE or DELETE of pSrc has been coded.  iLoop comes from
** sqlite3HpLoopAccept().
*/
SQLITE_PRIVATE void sqlite3HpCodeLoop(
  Parse *pParse,
  SrcList *pSrc,
  Expr *pWhere,
  int iLoop
){
  if( iLoop==0 || pParse->nErr || pParse->db->mallocFailed ) return;
  hpDriverPlanCode(pParse, pSrc, pWhere, iLoop<0 ? -iLoop : iLoop,
                   iLoop<0 ? HP_LOOP_WRITES : HP_LOOP_ALL);
}
#endif /* SQLITE_OMIT_HP */
