/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_coderows: queries that need few of the rows that they scan, or sort them
** (prepare time).
**
**    sqlite3HpRowsAccept()  did the planner choose a scan for which that pays?
**    sqlite3HpCodeRows()    make the plan, and emit OP_HpScan and OP_HpRow
**    sqlite3HpCoroutine()   tell a co-routine whether all rows are asked for
**
** ORDER BY with LIMIT and without, SELECT DISTINCT, and WHERE before a sort.
** Which output it is says hpCodeRowsSink(); sets and led loops are tried where
** it is none of these.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* sqlite3HpRowsAccept(): hpCodeSetAccept() has said yes; the loop searches
** an index */
#define HP_ROWS_SET    0x40000000

#define HP_ROWS_SEARCH 0x20000000

/*
** May LIMIT be a number of rows that hpTopOpen() takes?
*/
static int hpCodeRowsLimitOk(const Select *p){
  int n;
  if( p->pLimit==0 || !sqlite3ExprIsInteger(p->pLimit->pLeft, &n, 0, 0) ){
    return 1;
  }
  return n>0 && n<=HP_MX_TOP;
}

/*
** The sink for query p, or NULL: the rows that pass are found piece by piece
** (hp_codeloop.c), if there is a WHERE clause.  pOrderBy is what a sorter has
** to do, eDistinct how DISTINCT is done.
**
** Where rows go straight to the application only DISTINCT is taken.  Rows that
** go to a co-routine are all asked for, by INSERT or the query around this one,
** unless the latter has a LIMIT: pDest->iSDParm2.
*/
static const HpSinkType *hpCodeRowsSink(
  Select *p,
  ExprList *pOrderBy,
  int eDistinct,
  SelectDest *pDest
){
  int eDest = pDest->eDest;
  assert( pOrderBy==0 || pOrderBy->nExpr>0 );
  if( p->pSrc->nSrc>1 ) return 0;
  if( eDest==SRT_Coroutine && pDest->iSDParm2 && pOrderBy==0 ) return 0;
  switch( eDest ){
    case SRT_Output: case SRT_Coroutine: case SRT_EphemTab: case SRT_Set:
    case SRT_Mem:
      break;
    default:
      return 0;
  }
  if( eDistinct==WHERE_DISTINCT_ORDERED ) return 0;
  if( eDistinct==WHERE_DISTINCT_UNORDERED ){
    /* With LIMIT and no sorter stock stops early */
    return p->iLimit==0 || pOrderBy ? &hpSinkFirst : 0;
  }
  if( pOrderBy && p->iLimit ) return hpCodeRowsLimitOk(p) ? &hpSinkTop : 0;
  if( pOrderBy && eDistinct==WHERE_DISTINCT_NOOP && eDest!=SRT_Mem ){
    return &hpSinkSort;
  }
  return 0;
}

/*
** A term of the FROM clause of p, whose rows go to pDest, is about to be coded
** as a co-routine, whose rows go to pTo: may it be that not all of these are
** asked for?
*/
SQLITE_PRIVATE void sqlite3HpCoroutine(
  const Select *p,
  const SelectDest *pDest,
  SelectDest *pTo
){
  assert( pTo->eDest==SRT_Coroutine );
  pTo->iSDParm2 = pDest->eDest==SRT_Coroutine && pDest->iSDParm2;
  if( (p->pLimit || p->iLimit) && p->pOrderBy==0
   && (p->selFlags & SF_Aggregate)==0
  ){
    pTo->iSDParm2 = 1;
  }
}

/* Leaves that it takes: see hpFoundIsLarge(), hpSizeIsShort(),
** hpPartitionWorthIt() */
static int hpCodeRowsLeast(const Select *p, const HpSinkType *pSink){
  assert( pSink!=0 && pSink!=&hpSinkGroups );
  if( pSink==&hpSinkTop ) return HP_MIN_LEAF;
  if( pSink==&hpSinkSort ) return p->pHp ? HP_PART_LEAF : HP_MIN_PARALLEL;
  return HP_MIN_PROBED;
}

/* HP_LOOP_xxx of the outermost loop of p, whose rows a sorter takes for
** pOrderBy, or NULL */
static u8 hpCodeRowsLoop(const Select *p, const ExprList *pOrderBy,
                         const SelectDest *pDest){
  if( pOrderBy ) return HP_LOOP_ALL;
  if( p->pLimit || p->iLimit ) return HP_LOOP_SOME;
  switch( pDest->eDest ){
    case SRT_Set: case SRT_EphemTab: case SRT_Table:
      return HP_LOOP_ALL;
    case SRT_Coroutine:
      return pDest->iSDParm2 ? HP_LOOP_SOME : HP_LOOP_ALL;
  }
  return HP_LOOP_SOME;
}

/* True if the scan that sqlite3HpAccept() found is one of a whole table */
static int hpCodeRowsWhole(const SrcItem *pItem){
  return pItem->hp.pIdx==0 && pItem->hp.pSearch==0 && !pItem->hp.bLower
      && !pItem->hp.bUpper;
}

/*
** The planner has chosen pWInfo for query p, which does not aggregate.  Return
** the address of the OP_Rewind of the scan if it is one of ours, else 0; and
** HP_ROWS_SET.  Of a search of an index that is HP_ROWS_SEARCH, and where the
** loop over the values of an IN begins.
*/
SQLITE_PRIVATE int sqlite3HpRowsAccept(
  Parse *pParse,
  Select *p,
  WhereInfo *pWInfo,
  ExprList *pOrderBy,    /* What the sorter does, or NULL */
  int eDistinct,         /* WHERE_DISTINCT_xxx */
  SelectDest *pDest
){
  sqlite3 *db = pParse->db;
  SrcItem *pItem;
  int iRewind;
  const HpSinkType *pSink;
  HpScanLoop loop;
  if( hpConfigOffload(db)==HP_OFFLOAD_OFF ) return 0;
  pSink = hpCodeRowsSink(p, pOrderBy, eDistinct, pDest);
  if( pSink==0 ){
    iRewind = hpCodeLoopAccept(pParse, pWInfo, p->pWhere);
    hpChoiceArm(pParse, p, pWInfo, pDest);
    if( pOrderBy==0 && eDistinct==WHERE_DISTINCT_NOOP ){
      hpChoiceFill(pParse, p, pWInfo, pDest);
    }
    if( hpCodeSetAccept(pParse, p, pWInfo, pDest,
                        iRewind>0) ) iRewind |= HP_ROWS_SET;
    return iRewind;
  }
  if( pParse->nested || pParse->nErr ) return 0;
  if( p->pWin ) return hpConfigStat(db, HP_NO_WINDOW);
  pItem = &p->pSrc->a[0];
  if( p->pSrc->nSrc!=1 || ENC(db)!=SQLITE_UTF8
   || pItem->fg.isRecursive || pItem->fg.fromExists
       || !hpSubselectIsTable(pItem)
  ){
    return hpConfigStat(db, HP_NO_SHAPE);
  }
  if( hpChoiceIsSearch(pWInfo)
   && (pSink==&hpSinkFirst || p->pHp || !hpCodeLoopMay(pParse->pVdbe, pWInfo))
  ){
    return hpConfigStat(db, HP_NO_PLAN);
  }
  if( sqlite3HpAccept(1, pWInfo, 0)==0 ) return 0;
  if( pWInfo->eOnePass!=ONEPASS_OFF || pWInfo->a[0].op!=OP_Next ){
    return hpConfigStat(db, HP_NO_PLAN);
  }
  /* An address and a flag do not meet */
  assert( sqlite3VdbeCurrentAddr(pParse->pVdbe)<HP_ROWS_SEARCH );
  if( pItem->hp.pSearch ){
    return HP_ROWS_SEARCH | hpSpliceIn(pParse->pVdbe, pWInfo);
  }
  iRewind = pWInfo->a[0].p2-1;
  assert( iRewind>0 && iRewind<sqlite3VdbeCurrentAddr(pParse->pVdbe) );
  if( !hpSpliceScan(pParse->pVdbe, iRewind, &loop)
   || (pSink!=&hpSinkSort
       && (loop.iCur!=pItem->iCursor || !HasRowid(pItem->pSTab)
           || !hpCodeRowsWhole(pItem)))
  ){
    return hpConfigStat(db, HP_NO_PLAN);
  }
  return iRewind;
}

/*
** Code query p, whose loop begins at iFrom: HpScanLoop.iFrom.  Returns the
** address of OP_HpScan, or 0 if the query is refused.
*/
static int hpCodeRowsSort(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  int eDest,
  int iFrom
){
  HpSortPlan *pSort;
  HpPlan *pPlan = hpOutSort(pParse, p, pOrderBy, eDest);
  if( pPlan==0 ) return 0;
  pSort = pPlan->aPipe[0].pSort;
  assert( pPlan->nPipe==1 && (pSort->pPart==0 || p->pHp!=0) );
  hpExplainSort(pParse, iFrom);
  return hpDeliverRecords(pParse, pPlan, iFrom,
                          pSort->pPart ? p->pHp->pLimit : 0);
}

/*
** Code the query's own way.  Called after stock's loop.  iRewind comes from
** sqlite3HpRowsAccept().  If hp_sort does the sorter's work returns the address
** of OP_HpScan, for sqlite3HpCodeSorted(), else 0.
*/
SQLITE_PRIVATE int sqlite3HpCodeRows(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  int eDistinct,
  SelectDest *pDest,
  int iRewind
){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  HpScanLoop loop;
  int addrScan;
  const HpSinkType *pSink;

  if( pParse->nErr ) return 0;
  if( iRewind & HP_ROWS_SET ){
    if( hpCodeSet(pParse, p, pDest) ) return 0;
    iRewind &= ~HP_ROWS_SET;
  }
  if( iRewind==0 ) return 0;
  pSink = hpCodeRowsSink(p, pOrderBy, eDistinct, pDest);
  if( pSink==0 ){
    if( pDest->eDest==SRT_Exists && (p->selFlags & SF_Correlated)!=0
     && hpCodeFindExists(pParse, p, iRewind, pDest->iSDParm)
    ){
      return 0;
    }
    hpCodeLoop(pParse, p->pSrc, p->pWhere, iRewind, hpCodeRowsLoop(p, pOrderBy,
                                                                   pDest));
    return 0;
  }
  if( !hpWorthIt(pParse, &p->pSrc->a[0], hpCodeRowsLeast(p, pSink)) ) return 0;
  if( iRewind & HP_ROWS_SEARCH ){
    int iIn = iRewind & ~HP_ROWS_SEARCH;
    if( pParse->db->mallocFailed ) return 0;
    if( !hpSpliceSearch(v, p->pSrc->a[0].iCursor, iIn, &loop) ){
      return hpConfigStat(pParse->db, HP_NO_PLAN);
    }
  }else{
    if( !hpSpliceScan(v, iRewind, &loop) ) return 0;
    hpSpliceNext(v, &loop);
  }
  if( pSink==&hpSinkSort ){
    addrScan = hpCodeRowsSort(pParse, p, pOrderBy, pDest->eDest, loop.iFrom);
    if( addrScan==0 && p->pWhere && hpCodeRowsWhole(&p->pSrc->a[0]) ){
      hpCodeLoop(pParse, p->pSrc, p->pWhere, loop.iFrom, HP_LOOP_ALL);
    }
    return addrScan;
  }
  if( loop.iNext==0 ) return 0;
  pPlan = hpOutTop(pParse, p, pOrderBy, pSink);
  if( pPlan==0 ) return 0;
  if( pPlan->pSearch ){
    assert( pSink==&hpSinkTop );
    hpExplainSort(pParse, loop.iRow);
    hpDeliverEntries(pParse, pPlan, &loop);
  }else{
    hpExplainSort(pParse, loop.iFrom);
    hpDeliverPlaces(pParse, pPlan, &loop);
  }
  return 0;
}
#endif /* SQLITE_OMIT_HP */
