/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_outtop: outputs TOP and DISTINCT: places of the rows that are needed
** (prepare time).
**
**    hpOutTop()    the plan of ORDER BY with LIMIT, or of SELECT DISTINCT
**
** The places are where the scan has found the rows.  SQLite's loop goes through
** them, and computes the result: hp_found.c says what is done at run time, with
** a drawing of the program.
**
** ORDER BY may also scan where SQLite searches an index and looks rows up
** (hp_entry.c, hpGateSearch()).  Then of equal rows those come first that do so
** in the index.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

static int hpOutTopBegin(HpCompile *pC){
  HpFindPlan *pFind = hpCompileAlloc(pC->pPlan, sizeof(*pFind));
  int bTop = pC->pTop->eOp==HP_LOP_TOP;
  pC->pPipe->pSink = bTop ? &hpSinkTop : &hpSinkFirst;
  pC->pPipe->source.bPlaces = 1;
  pC->pPipe->pFind = pFind;
  /* Of DISTINCT rows are given while the application may change what a
  ** sub-select reads.  Where SQLite searches an index there may be no row that
  ** it is needed for. */
  pC->xSub = bTop && pC->pTop->pIn->pItem->hp.pSearch==0 ? hpScalarSub : 0;
  return pFind ? SQLITE_OK : SQLITE_NOMEM;
}

/* The values by which rows are ordered, or in which they differ */
static int hpOutTopKeys(HpCompile *pC){
  const HpLop *pTop = pC->pTop;
  HpKeys *pKeys = &pC->pPipe->pFind->keys;
  int rc = hpOutSortKeys(pC, pKeys, pTop->pList,
                          pTop->eOp==HP_LOP_DISTINCT, HP_MX_EQ);
  if( rc==SQLITE_OK && pC->pPlan->pSearch ){
    rc = hpOutSortTies(pC, pKeys, pTop->pSelect->pSrc);
  }
  return rc;
}

static int hpOutTopEnd(HpCompile *pC){
  const HpLop *pTop = pC->pTop;
  const Select *p = pTop->pSelect;
  SrcItem *pItem = pTop->pIn->pItem;
  HpFindPlan *pFind = pC->pPipe->pFind;
  HpPlan *pPlan = pC->pPlan;
  /* hpCodeRowsWhole() */
  assert( pC->pPipe->source.bIndex==0 && pC->pPipe->source.pRange==0 );
  if( pPlan->pSearch ){
    pFind->pRange = pPlan->pSearch->pRange;
    pFind->nTie = pFind->keys.n - pTop->pList->nExpr;
    pFind->iCur = pItem->iCursor;
    /* Rows that do not come before the worst one so far are not looked up */
    if( hpRangeIsOfIndex(pItem, 0, pTop->pList) ) pPlan->bNarrow = 1;
  }
  if( pTop->eOp==HP_LOP_TOP ){
    pFind->iLimitReg = p->iOffset ? p->iOffset+1 : p->iLimit;
    assert( pFind->iLimitReg>0 && pFind->iLimitReg<=pC->pParse->nMem );
  }
  return SQLITE_OK;
}

static const HpOutput hpOutTopType = {
  HP_IN(HP_LOP_SCAN),    /* Places are those of one b-tree */
  HP_OUT_THREADS, HP_NO_OTHER,
  hpOutTopBegin, 0, hpOutTopKeys, hpOutTopEnd
};

/*
** The plan of query p, or NULL if it is refused.
*/
static HpPlan *hpOutTop(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  const HpSinkType *pSink
){
  int bTop = pSink==&hpSinkTop;
  HpLop in, top;
  assert( pSink==&hpSinkFirst || (bTop && pOrderBy!=0) );
  if( !hpSafe(pParse, 0, p->pEList, bTop ? 0 : HP_SAFE_EACH)
   || (pOrderBy && !hpSafe(pParse, 0, pOrderBy, 0))
  ){
    hpConfigStat(pParse->db, HP_NO_OTHER);
    return 0;
  }
  hpLopTree(&top, bTop ? HP_LOP_TOP : HP_LOP_DISTINCT, p, &in, &p->pSrc->a[0],
            p->pWhere, 0);
  top.pList = bTop ? pOrderBy : p->pEList;
  return hpLower(pParse, &top, &hpOutTopType);
}
#endif /* SQLITE_OMIT_HP */
