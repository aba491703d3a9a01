/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_outfilter: output FILTER: places of the rows that pass (prepare time).
**
**    hpOutFilter()    the plan of the outermost loop of a statement
**
** hp_piece.c says what is done at run time, with a drawing of the program.  All
** that SQLite has coded stays: the loop tests the WHERE clause again on the
** rows that it is led to.  So what is found may be too much, and terms that we
** do not do, or that are about other tables, are left out.
**
** Of a join, rows of the outermost loop that have no partner in a table are
** left out, too, if that is found by a unique key and the WHERE clause leaves
** rows of it out (hpOutFilterLook()).  That is as far as hp_lop.c does it with
** what is safe to leave out.
**
** A term may fail, or call the application.  SQLite tests the terms of the
** outermost loop in the order of the WHERE clause, correlated sub-selects last;
** a row that we leave out is not seen by any of them.  So terms that are left
** out have to be safe, but for those that are tested later in any case.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Walker callback: stop at a column of cursor u.iCur, and at a correlated
** sub-select */
static int hpOutFilterLater(Walker *pWalker, Expr *pExpr){
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
** May term pExpr of the WHERE clause be left out, so that SQLite's loop alone
** tests it?
*/
static int hpOutFilterMayLeave(HpCompile *pC, const SrcList *pSrc, Expr *pExpr){
  Walker w;
  int i;
  memset(&w, 0, sizeof(w));
  w.pParse = pC->pParse;
  w.xExprCallback = hpOutFilterLater;
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
static int hpOutFilterWhere(HpCompile *pC, Expr *pWhere){
  HpMark mark;
  if( pWhere->op==TK_AND ){
    if( hpOutFilterWhere(pC, pWhere->pLeft) ) return SQLITE_ERROR;
    return hpOutFilterWhere(pC, pWhere->pRight);
  }
  assert( pC->pJoin==0 );     /* hpOutFilterLook() has another way */
  if( ExprHasProperty(pWhere, EP_OuterON) ) return SQLITE_OK;
  hpCompileMark(pC, &mark);
  pC->xSub = hpSubselectIsStrict(pWhere) ? hpScalarSub : 0;
  if( hpCompileExprWhere(pC, pWhere)==SQLITE_OK && pC->pPipe->bSerial==0
   && pC->pPipe->bUser==0
  ){
    return SQLITE_OK;
  }
  hpCompileBack(pC, &mark);
  return hpOutFilterMayLeave(pC, pC->pTop->pSrc, pWhere) ? SQLITE_OK
                                                      : SQLITE_ERROR;
}

static int hpOutFilterBegin(HpCompile *pC){
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
static int hpOutFilterSink(HpCompile *pC){
  if( pC->pTop->bByRowid && hpCompileStored(pC, -1)<0 ) return SQLITE_ERROR;
  return pC->pJoin || pC->pPipe->prog.nFilter ? SQLITE_OK : SQLITE_ERROR;
}

static const HpOutput hpOutFilterType = {
  HP_IN(HP_LOP_SCAN)|HP_IN(HP_LOP_JOIN),   /* Places are those of one b-tree */
  HP_OUT_THREADS, HP_NO_OTHER,
  hpOutFilterBegin, hpOutFilterWhere, hpOutFilterSink, 0
};

/*
** Let the input of pTop, a scan, be a join that leaves out rows without partner
** in tables whose own terms leave rows out.  Returns false if there are none.
*/
static int hpOutFilterLook(Parse *pParse, HpLop *pTop){
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
    /* A virtual table, or a sub-select, is asked for each row that gets
    ** there */
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
static HpPlan *hpOutFilter(
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
  hpLopTree(&top, HP_LOP_FILTER, 0, &in, pItem, pWhere, 0);
  top.pSrc = pSrc;
  top.bByRowid = (u8)bByRowid;
  if( hpOutFilterLook(pParse, &top) ){
    top.bTry = 1;
    pPlan = hpLower(pParse, &top, &hpOutFilterType);
    hpLopFree(in.pJoin);
    if( pPlan ) return pPlan;
    in.pJoin = 0;
    in.eOp = HP_LOP_SCAN;
    top.bTry = 0;
  }
  return hpLower(pParse, &top, &hpOutFilterType);
}
#endif /* SQLITE_OMIT_HP */
