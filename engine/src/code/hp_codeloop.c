/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_codeloop: the outermost loop of a statement goes through the rows that
** pass (prepare time).
**
**    hpCodeLoopAccept()    is the outermost loop a scan of a whole table?
**    hpCodeLoop()          filter it: emit OP_HpScan and OP_HpRow
**    hpCodeLoopMay()       may a loop that searches an index go through rows
**                          that are found?
**    sqlite3HpLoopAccept(), sqlite3HpCodeLoop()    the same for UPDATE, DELETE
**
** hp_outfilter.c makes the plan, hpDeliverPlaces() has a drawing of the
** program.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Return the address of the OP_Rewind of the outermost loop of pWInfo, if that
** goes through all of a table in ascending order, and there is a WHERE clause
** pWhere; else 0.
*/
static int hpCodeLoopAccept(Parse *pParse, WhereInfo *pWInfo,
                            const Expr *pWhere){
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
    if( pSrc->a[i].fg.isRecursive
     || (pSrc->a[i].fg.jointype & (JT_RIGHT|JT_LTORJ))
    ){
      return hpConfigStat(db, HP_NO_SHAPE);
    }
  }
  pItem = &pSrc->a[pLevel->iFrom];
  if( pItem->fg.fromExists || !hpSubselectIsTable(pItem)
   || !HasRowid(pItem->pSTab)
  ){
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

/* May the entries that pWInfo searches for be those of rows that are found?
** With LIKE there may be two searches, one after the other, for texts and
** for blobs. */
static int hpCodeLoopMay(Vdbe *v, const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  int i;
  for(i=0; i<pLoop->nLTerm; i++){
    if( pLoop->aLTerm[i] && (pLoop->aLTerm[i]->wtFlags & TERM_LIKEOPT)!=0 ){
      return 0;
    }
  }
  return hpSpliceIn(v, pWInfo)>=0;
}

/*
** The outermost loop has been coded: its OP_Rewind at address iRewind.  Let it
** go through the rows of pSrc that pass pWhere only.  eLoop: HP_LOOP_xxx.
*/
static void hpCodeLoop(
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
  pPlan = hpOutFilter(pParse, pSrc, pItem, pWhere, eLoop==HP_LOOP_WRITES);
  if( pPlan==0 ) return;
  hpPlanLast(pPlan)->pFind->bPieces = 1;
  hpPlanLast(pPlan)->pFind->bAll = eLoop==HP_LOOP_ALL;
  hpExplainSort(pParse, iRewind);
  hpDeliverPlaces(pParse, pPlan, &loop);
}

/*
** The planner has chosen pWInfo for the WHERE clause pWhere of an UPDATE or
** DELETE. pChange are the expressions that an UPDATE computes.  Return what
** sqlite3HpCodeLoop() wants to know: 0 if the loop is left as it is.
*/
SQLITE_PRIVATE int sqlite3HpLoopAccept(
  Parse *pParse,
  WhereInfo *pWInfo,
  Expr *pWhere,
  ExprList *pChange
){
  int iRewind = hpCodeLoopAccept(pParse, pWInfo, pWhere);
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
  hpCodeLoop(pParse, pSrc, pWhere, iLoop<0 ? -iLoop : iLoop,
                   iLoop<0 ? HP_LOOP_WRITES : HP_LOOP_ALL);
}
#endif /* SQLITE_OMIT_HP */
