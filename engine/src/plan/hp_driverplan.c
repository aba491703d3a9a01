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
**    hpDriverPlanCode()       filter it, and let hp_deliver.c code it
**    hpDriverPlanMay()        may a loop that searches an index go through
**                             rows that are found?
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
  HpScanLoop loop;
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
  if( !hpSpliceScan(pParse->pVdbe, iRewind, &loop)
   || loop.iCur!=pItem->iCursor
  ){
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
  top.pSrc = pSrc;
  top.bByRowid = (u8)bByRowid;
  if( hpDriverLook(pParse, &top) ){
    pPlan = hpLowerSilent(pParse, &top, &hpDriverOutput);
    if( pPlan ) return pPlan;
    in.eOp = HP_LOP_SCAN;
  }
  return hpLower(pParse, &top, &hpDriverOutput);
}

/* May the entries that pWInfo searches for be those of rows that are found?  With LIKE there may be two
** searches, one after the other, for texts and for blobs. */
static int hpDriverPlanMay(Vdbe *v, const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  int i;
  for(i=0; i<pLoop->nLTerm; i++){
    if( pLoop->aLTerm[i] && (pLoop->aLTerm[i]->wtFlags & TERM_LIKEOPT)!=0 ) return 0;
  }
  return hpSpliceIn(v, pWInfo)>=0;
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
  SrcItem *pItem = 0;
  HpScanLoop loop;
  HpPlan *pPlan;
  int i;
  assert( iRewind>0 && eLoop<=HP_LOOP_WRITES && pWhere!=0 );
  if( !hpSpliceScan(pParse->pVdbe, iRewind, &loop) ) return;
  for(i=0; i<pSrc->nSrc; i++){
    if( pSrc->a[i].iCursor==loop.iCur ) pItem = &pSrc->a[i];
  }
  if( pItem==0 ) return;
  if( !hpWorthIt(pParse, pItem, HP_MIN_PIECES) ) return;
  if( !hpSpliceNext(pParse->pVdbe, &loop) ) return;
  pPlan = hpDriverCompile(pParse, pSrc, pItem, pWhere, eLoop==HP_LOOP_WRITES);
  if( pPlan==0 ) return;
  hpPlanLast(pPlan)->pFind->bPieces = 1;
  hpPlanLast(pPlan)->pFind->bAll = eLoop==HP_LOOP_ALL;
  hpSortPlanExplain(pParse, iRewind);
  hpDeliverPlaces(pParse, pPlan, &loop);
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
