/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_plan: may the executor take this query, and how?
**
**    sqlite3HpBegin()       before the scan is coded: is it a candidate?
**    sqlite3HpAccept()      after the planner chose: is it a full scan?
**    sqlite3HpCodeGroups()  after stock's code: code ours (GROUP BY)
**    hpPlanCodeRow()        the same without GROUP BY (sqlite3HpCodeRow())
**    sqlite3HpAgain()       before a run: is the program out of date?
**    hpPlanMayBeLarge(), hpPlanWorthIt()    is the b-tree large enough?
**    hpPlanIsSearch()       does the planner look up the rows that an index search finds?
**    hpPlanArm()            of an arm of a UNION ALL: can its scan be taken over?
**    hpPlanExplain()        change a line of EXPLAIN QUERY PLAN
**    hpPlanCode()           code constants and OP_HpScan
**    hpPlanBranch(), hpPlanRejoin()    in place of an instruction: jump to our code, and
**                           back
**    hpPlanDetour()         the same, but our code begins with that instruction
**    hpPlanNote(), hpPlanAnyGraph()    the loops of a join, and its graph if the order of
**                           rows does not matter
**
** sqlite3Select() calls these, in this order, while it generates code for
** an aggregate query.  Stock's code is generated in any case.  Begin notes
** the instruction before the scan that resets the accumulators, and if all goes
** well the last call replaces that instruction by a jump to a copy of it:
**
**           reset -> Goto hp         the noted instruction
**    next:  ...                      stock: scan, sort, step
**           Goto done
**    hp:    reset                    the copy
**           ...                      constants into registers
**           HpScan  P1=r P2=next     run; on HP_DECLINE jump to stock's code
**    loop:  HpNext  P1=r P2=done     keys, columns, contexts into registers
**           Gosub output             stock: finish, HAVING, ORDER BY, result
**           Goto loop
**    done:
**
** A refusal must cost nothing, so the cheap tests come first, and a table
** known to be small is refused before anything is compiled.
**
** Of a join the outermost loop's table is scanned, if it reaches all others
** (hp_graph.c), since then rows come in stock's order.  Otherwise another table
** that reaches all may be, one with many rows first, if the planner expects its loops to
** cost HP_MIN_COST, and if the order of rows cannot show: hpAggPlanAnyOrder().  Whether it is worth
** it is said when it runs (hp_gate.c), after SQLite's loops have begun if there are no statistics
** (hp_race.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Is p, an aggregate query, a candidate?  If so return the address of the
** instruction that resets the accumulators, which is never 0; otherwise 0.
*/
SQLITE_PRIVATE int sqlite3HpBegin(Parse *pParse, Select *p){
  sqlite3 *db = pParse->db;
  int i;
  assert( pParse->pVdbe!=0 && sqlite3_mutex_held(db->mutex) );
  if( hpConfigOffload(db)==HP_OFFLOAD_OFF ) return 0;
  if( pParse->nested ) return 0;
  if( ENC(db)!=SQLITE_UTF8 || p->pSrc->nSrc==0 ){
    return hpConfigStat(db, HP_NO_SHAPE);
  }
  if( p->pSrc->nSrc>1 || hpArmPlanCount(pParse, &p->pSrc->a[0])==0 ){
    for(i=0; i<p->pSrc->nSrc; i++){
      if( !hpCompileIsTable(&p->pSrc->a[i]) ) return hpConfigStat(db, HP_NO_SHAPE);
    }
  }
  for(i=sqlite3VdbeCurrentAddr(pParse->pVdbe)-1; i>0; i--){
    switch( sqlite3VdbeGetOp(pParse->pVdbe, i)->opcode ){
      case OP_Null:          /* resetAccumulator() */
      case OP_Gosub:         /* The same as a subroutine */
        return i;
      case OP_OpenEphemeral: /* DISTINCT, after OP_Null */
      case OP_Explain:
        break;
      default:
        return 0;
    }
  }
  return 0;
}

/*
** True if the index of pLoop gives the groups of pGroupBy in the order of its
** terms: then sets pItem->hp.mDesc.  The planner takes an index with the terms in any
** order, ascending or not: stock's groups then come in the order of the index.  bReverse:
** the loop goes backwards.
*/
static int hpPlanSameOrder(
  const WhereLoop *pLoop,
  SrcItem *pItem,
  const ExprList *pGroupBy,
  int bReverse
){
  const Index *pIdx = pLoop->u.btree.pIndex;
  int i;
  assert( (pLoop->wsFlags & WHERE_INDEXED)!=0 && pIdx!=0 );
  pItem->hp.mDesc = 0;
  for(i=0; i<pGroupBy->nExpr; i++){
    const Expr *pExpr = sqlite3ExprSkipCollateAndLikely(pGroupBy->a[i].pExpr);
    int iCol = pLoop->u.btree.nEq + i;
    if( pExpr==0 || (pExpr->op!=TK_COLUMN && pExpr->op!=TK_AGG_COLUMN)
     || pExpr->iTable!=pItem->iCursor
     || iCol>=pIdx->nKeyCol || pIdx->aiColumn[iCol]!=pExpr->iColumn || i>=32
    ){
      return 0;
    }
    if( pIdx->aSortOrder[iCol]!=bReverse ) pItem->hp.mDesc |= (u32)1<<i;
  }
  return 1;
}

/*
** If pLoop is a search for rowids between two literals return how many may be there at most,
** otherwise HP_MIN_ROWIDS.
*/
static i64 hpPlanRowids(const WhereLoop *pLoop){
  i64 a[2];
  int i;
  if( (pLoop->wsFlags & WHERE_IPK)==0 || pLoop->nLTerm!=2 ) return HP_MIN_ROWIDS;
  for(i=0; i<2; i++){
    int x;
    Expr *pExpr = pLoop->aLTerm[i]->pExpr->pRight;
    if( pExpr==0 || !sqlite3ExprIsInteger(pExpr, &x, 0, 0) ) return HP_MIN_ROWIDS;
    a[i] = x;
  }
  return MAX(1, a[1]-a[0]+1);
}

/*
** True if loop iLevel of pWInfo gives rows of its table in the order of their rowids: all
** columns of its index have one value, if it is not the table's own b-tree.  An automatic
** index has further columns.
*/
static int hpPlanByRowid(const WhereInfo *pWInfo, int iLevel){
  const u32 mNot = WHERE_COLUMN_IN|WHERE_AUTO_INDEX|WHERE_VIRTUALTABLE|WHERE_MULTI_OR;
  const WhereLoop *pLoop = pWInfo->a[iLevel].pWLoop;
  const Table *pTab = pWInfo->pTabList->a[pWInfo->a[iLevel].iFrom].pSTab;
  if( (pWInfo->revMask & MASKBIT(iLevel))!=0 ) return 0;
  if( !HasRowid(pTab) || (pLoop->wsFlags & mNot)!=0 || pLoop->nSkip!=0 ) return 0;
  if( pLoop->wsFlags & WHERE_IPK ) return 1;
  return (pLoop->wsFlags & WHERE_INDEXED)!=0
      && pLoop->u.btree.nEq==pLoop->u.btree.pIndex->nKeyCol;
}

/*
** True if the executions of v, a statement that is prepared again, were long, or one is.
*/
static int hpPlanWasLong(const Vdbe *v){
  return v!=0
      && (v->hpRace.bLong
          || v->aCounter[SQLITE_STMTSTATUS_VM_STEP]/HP_LONG_STEPS
               > v->aCounter[SQLITE_STMTSTATUS_RUN]);
}

/* Is p, which may be NULL, a literal? */
static int hpPlanIsLiteral(const Expr *p){
  if( p && p->op==TK_UMINUS ) p = p->pLeft;
  return p!=0 && (p->op==TK_INTEGER || p->op==TK_FLOAT || p->op==TK_STRING);
}

/*
** True if the outermost loop of pWInfo searches an index, and looks up the rows of its table.
*/
static int hpPlanIsSearch(const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  return pLoop->nLTerm>0 && (pLoop->wsFlags & (WHERE_INDEXED|WHERE_IDX_ONLY))==WHERE_INDEXED;
}

/*
** True if all bounds of pLoop are literals.
*/
static int hpPlanLiterals(const WhereLoop *pLoop){
  int i;
  for(i=0; i<pLoop->nLTerm; i++){
    const Expr *p = pLoop->aLTerm[i] ? pLoop->aLTerm[i]->pExpr : 0;
    int k = 0;
    if( p==0 ) return 0;   /* Of a skip-scan */
    if( p->op==TK_IN && ExprUseXList(p) ){
      for(; k<p->x.pList->nExpr && hpPlanIsLiteral(p->x.pList->a[k].pExpr); k++){}
      if( k<p->x.pList->nExpr ) return 0;
    }else if( !hpPlanIsLiteral(p->pRight) ){
      return 0;
    }
  }
  return 1;
}

/*
** True if the outermost loop of pWInfo is a scan of one b-tree
** that gives no order of use to nGroupBy GROUP BY terms, or to min() and max() where
** nGroupBy is 0.
**
** The b-tree is the table, or an index that has all columns used, or the
** primary key of a WITHOUT ROWID table.  The scan may have bounds: these and
** the index are left in the FROM clause term for hpAggPlan().
**
** Groups may come in order if the answer has all of them (no LIMIT): from an
** index that has all columns used, or from one that has not.  Then stock looks up
** each row of the table, and reading the table as it lies is better, if
** nothing in the answer tells in which order rows were read.
** So it is if the index gives only the first terms in order, and stock sorts.
** The scan may go backwards if only the order of the groups shows that: those of a join
** that has one row in each, or of an index that is not read.  SQLite does that for
** GROUP BY x ORDER BY count(*) DESC.
**
** The scan may be instead of a search of an index that has not all columns
** (pItem->hp.pSearch).  Rows come in the same order if the whole key has one value.  Which of
** the two is better is said when it runs: hpGateSearch(), hpGateJoin().
*/
static int hpPlanAccept(WhereInfo *pWInfo, int nGroupBy){
  const WhereLoop *pLoop;
  SrcItem *pItem;
  u32 mOk = WHERE_SELFCULL|WHERE_COLUMN_RANGE|WHERE_BOTH_LIMIT;
  int bJoin = pWInfo->pTabList->nSrc>1;
  const u32 mPlain = WHERE_UNQ_WANTED|WHERE_SELFCULL;
  int bReverse = pWInfo->revMask==1;
  int nOrdered;
  assert( nGroupBy>=0 );
  if( pWInfo->nLevel<1 || (pWInfo->revMask & ~(Bitmask)1)!=0 ) return 0;
  pLoop = pWInfo->a[0].pWLoop;
  nOrdered = sqlite3WhereIsOrdered(pWInfo);
  if( nGroupBy==0 && nOrdered>0 ) return 0;
  pItem = &pWInfo->pTabList->a[pWInfo->a[0].iFrom];
  if( pItem->fg.viaCoroutine ) mOk |= WHERE_COROUTINE;
  pItem->hp.eOrder = HP_ORDER_NONE;
  pItem->hp.pVia = pItem->hp.pSearch = 0;
  pItem->hp.bByRowid = (u8)hpPlanByRowid(pWInfo, 0);
  if( pLoop->wsFlags & WHERE_IPK ){
    if( nGroupBy && nOrdered==nGroupBy ){
      /* Of one table each row is a group */
      const Expr *pTerm = pWInfo->pOrderBy->a[0].pExpr;
      if( !bJoin
       || !hpGraphIsRowid(pItem, sqlite3ExprSkipCollateAndLikely((Expr*)pTerm))
      ){
        return 0;
      }
      pItem->hp.mDesc = (u32)bReverse;
      pItem->hp.eOrder = HP_ORDER_ROWID;
    }
    mOk |= WHERE_IPK;
  }else if( (pLoop->wsFlags & ~mPlain)==WHERE_INDEXED
         && nGroupBy && pLoop->nLTerm==0
         && HasRowid(pItem->pSTab) && pItem->fg.isIndexedBy==0
         && pLoop->u.btree.pIndex->pPartIdxWhere==0
  ){
    pItem->hp.pVia = pLoop->u.btree.pIndex;
    pItem->hp.eOrder = nOrdered==nGroupBy ? HP_ORDER_LOOKUP : HP_ORDER_ROWS;
    mOk |= WHERE_INDEXED|WHERE_UNQ_WANTED;
  }else if( hpPlanIsSearch(pWInfo) ){
    if( !HasRowid(pItem->pSTab) || pItem->fg.isIndexedBy ) return 0;
    pItem->hp.pVia = pItem->hp.pSearch = pLoop->u.btree.pIndex;
    if( nGroupBy && nOrdered==nGroupBy ) pItem->hp.eOrder = HP_ORDER_LOOKUP;
    else if( !pItem->hp.bByRowid ) pItem->hp.eOrder = HP_ORDER_ROWS;
    mOk |= WHERE_INDEXED|WHERE_UNQ_WANTED|WHERE_COLUMN_EQ|WHERE_COLUMN_IN|WHERE_IN_ABLE
         | WHERE_IN_EARLYOUT|WHERE_IN_SEEKSCAN;
  }else{
    if( nGroupBy && nOrdered==nGroupBy ) pItem->hp.eOrder = HP_ORDER_INDEX;
    const u32 mIdx = WHERE_INDEXED|WHERE_IDX_ONLY;
    if( (pLoop->wsFlags & mIdx)!=mIdx ) return 0;
    mOk |= mIdx|WHERE_COLUMN_EQ|WHERE_UNQ_WANTED;
  }
  if( bReverse && pItem->hp.eOrder!=HP_ORDER_ROWID && pItem->hp.eOrder!=HP_ORDER_LOOKUP ){
    return 0;
  }
  if( (pLoop->wsFlags & ~mOk)!=0 || pLoop->nSkip!=0 ) return 0;
  if( pLoop->nLTerm!=0
   && ((pLoop->nOut<HP_MIN_OUT
        && (pItem->hp.pSearch==0 || (pItem->pSTab->tabFlags & TF_HasStat1)!=0))
       || hpPlanRowids(pLoop)<HP_MIN_ROWIDS)
   && hpConfigOffload(pWInfo->pParse->db)!=HP_OFFLOAD_FORCE
  ){
    return 0;
  }
  if( pWInfo->pParse->pIdxEpr ) return 0;
  if( hpOrderIsGiven(pItem->hp.eOrder) && pItem->hp.eOrder!=HP_ORDER_ROWID
   && !hpPlanSameOrder(pLoop, pItem, pWInfo->pOrderBy, bReverse)
  ){
    return 0;
  }
  pItem->hp.pIdx = 0;
  if( (pLoop->wsFlags & WHERE_IPK)==0 && pItem->hp.eOrder<HP_ORDER_LOOKUP
   && pItem->hp.pSearch==0
  ){
    pItem->hp.pIdx = pLoop->u.btree.pIndex;
  }
  assert( pItem->hp.pIdx==0 || pItem->hp.pIdx->pTable==pItem->pSTab );
  pItem->hp.nEq = pLoop->u.btree.nEq;
  pItem->hp.bLower = (pLoop->wsFlags & WHERE_BTM_LIMIT)!=0;
  pItem->hp.bUpper = (pLoop->wsFlags & WHERE_TOP_LIMIT)!=0;
  pItem->hp.bWhole = pLoop->nLTerm==0
      && (pLoop->wsFlags & ~(WHERE_UNQ_WANTED|WHERE_SELFCULL))==WHERE_IPK;
  pItem->hp.bUnlikely = 0;
  pItem->hp.nShare = 0;
  pItem->hp.bLiteral = (u8)hpPlanLiterals(pLoop);
  if( pLoop->nLTerm ){
    LogEst nRow = pItem->hp.pIdx ? pItem->hp.pIdx->aiRowLogEst[0]
                                 : pItem->pSTab->nRowLogEst;
    pItem->hp.nShare = MAX(0, nRow - pLoop->nOut);
  }
  if( pItem->hp.pSearch && pItem->hp.bLiteral
   && !hpPlanWasLong(pWInfo->pParse->pReprepare)
   && hpConfigOffload(pWInfo->pParse->db)!=HP_OFFLOAD_FORCE
   && !hpRangeSearchMayBeLarge(pWInfo->pParse, pItem->hp.pSearch, pLoop)
  ){
    hpCompileSmall(pWInfo->pParse);
    return 0;
  }
  /* Rowids have no equality: that is a look-up, of one row */
  assert( pItem->hp.pIdx!=0 || pItem->hp.pSearch!=0 || pItem->hp.nEq==0 );
  assert( pItem->hp.pIdx!=0 || HasRowid(pItem->pSTab) );
  return 1;
}

/*
** If p is an arm of a UNION ALL that a co-routine gives, note whether its scan can be
** taken over.
*/
static void hpPlanArm(
  Parse *pParse,
  const Select *p,
  WhereInfo *pWInfo,
  const SelectDest *pDest
){
  SrcItem *pItem = &pWInfo->pTabList->a[0];
  if( pWInfo->pTabList->nSrc!=1 ) return;
  pItem->hp.bArm = 0;
  if( pDest->eDest!=SRT_Coroutine || (p->pNext==0 && p->op!=TK_ALL) ) return;
  if( pParse->nested || pParse->nErr || !hpCompileIsTable(pItem) ) return;
  if( hpPlanIsSearch(pWInfo) ) return;
  pItem->hp.bArm = (u8)hpPlanAccept(pWInfo, 0);
}

/*
** Look at page iPg of a b-tree, if it is in the cache: without I/O, and without
** a transaction, so what is seen may be out of date.  Returns the number of its
** children, 0 if it is a leaf, -1 if that is not known.  *piChild is set to the
** first child.
*/
static int hpPlanChildren(
  BtShared *pBt,
  Pgno iPg,
  int bIndex,            /* It is the b-tree of an index */
  Pgno *piChild
){
  DbPage *pDb = iPg ? sqlite3PagerLookup(pBt->pPager, iPg) : 0;
  const u8 *aData;
  const u8 *aHdr;
  int n = -1;
  int ofst;
  assert( sqlite3_mutex_held(pBt->mutex) );
  if( pDb==0 ) return -1;
  aData = sqlite3PagerGetData(pDb);
  aHdr = &aData[iPg==1 ? 100 : 0];
  switch( aHdr[0] & (bIndex ? ~PTF_ZERODATA : ~(PTF_INTKEY|PTF_LEAFDATA)) ){
    case PTF_LEAF:
      n = 0;
      break;
    case 0:
      n = get2byte(&aHdr[3]) + 1;
      ofst = get2byte(&aHdr[12]);
      *piChild = ofst+4<=(int)pBt->usableSize ? get4byte(&aData[ofst]) : 0;
      break;
  }
  /* Not sqlite3PagerUnrefNotNull(): it may be the only page in use */
  sqlite3PcacheRelease(pDb);
  return n;
}

/* What the planner thinks the loops of pWInfo cost, in its own units */
static LogEst hpPlanCost(const WhereInfo *pWInfo){
  LogEst nCost = 0;
  LogEst nRow = 0;       /* Rows of the loops further out */
  int i;
  for(i=0; i<pWInfo->nLevel; i++){
    const WhereLoop *pLoop = pWInfo->a[i].pWLoop;
    nCost = sqlite3LogEstAdd(nCost, nRow + pLoop->rRun);
    nCost = sqlite3LogEstAdd(nCost, pLoop->rSetup);
    nRow += pLoop->nOut;
  }
  return nCost;
}

/*
** Is what the planner thinks of term i of FROM good without statistics that it lacks?
*/
static int hpPlanIsKnown(const WhereInfo *pWInfo, int i){
  const Table *pTab = pWInfo->pTabList->a[i].pSTab;
  int k;
  if( pTab->tabFlags & TF_HasStat1 ) return 1;
  if( pTab->pIndex ) return 0;
  for(k=0; k<pWInfo->nLevel && pWInfo->a[k].iFrom!=i; k++){}
  if( k==pWInfo->nLevel ) return 0;
  return k==0 || (pWInfo->a[k].pWLoop->wsFlags & WHERE_ONEROW)!=0;
}

/*
** The planner thinks that the loops of pWInfo cost nCost, without statistics.  Returns what it would
** think if it knew the rows of the outermost loop, as far as can be told now.  A table of a page or
** two is seen to be small, literals may lead to many entries of an index, and rowids be close to
** each other.
*/
static LogEst hpPlanCorrect(const WhereInfo *pWInfo, LogEst nCost){
  Parse *pParse = pWInfo->pParse;
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  const Table *pTab = pWInfo->pTabList->a[pWInfo->a[0].iFrom].pSTab;
  int iDb = sqlite3SchemaToIndex(pParse->db, pTab->pSchema);
  Btree *pBtree = pParse->db->aDb[iDb].pBt;
  Pgno iChild = 0;
  LogEst nRow = pLoop->nOut;
  if( (pTab->tabFlags & TF_HasStat1)!=0 || pLoop->nSkip!=0 || pBtree==0 ) return nCost;
  if( pLoop->nLTerm==0 && HasRowid(pTab) ){
    int n;
    sqlite3BtreeEnter(pBtree);
    n = hpPlanChildren(pBtree->pBt, pTab->tnum, 0, &iChild);
    if( n>0 && hpPlanChildren(pBtree->pBt, iChild, 0, &iChild)!=0 ) n = -1;
    sqlite3BtreeLeave(pBtree);
    if( n>=0 ) nRow -= pTab->nRowLogEst - sqlite3LogEst((u64)MAX(1, n)*HP_LEAF_ROWS);
  }else if( hpPlanRowids(pLoop)<HP_MIN_ROWIDS ){
    nRow = MIN(nRow, sqlite3LogEst((u64)hpPlanRowids(pLoop)));
  }else if( pLoop->nLTerm>0 && (pLoop->wsFlags & WHERE_INDEXED)!=0
         && nRow<HP_MIN_OUT && nCost-nRow+HP_MIN_OUT>=HP_MIN_COST && hpPlanLiterals(pLoop)
         && hpRangeSearchMayBeLarge(pParse, pLoop->u.btree.pIndex, pLoop)
  ){
    nRow = HP_MIN_OUT;
  }
  return nCost + nRow - pLoop->nOut;
}

/*
** May another table of join pWInfo be scanned than that of the outermost loop?  Then
** rows come in another order: stock must sort for GROUP BY, if there is one.  Whether
** that is better hangs on what stock's loops cost.  Returns what the planner thinks, or 0 if
** that is not worth it.
**
** Without statistics that says little: *pbGuess is set.  Then stock's loops begin when the
** join runs, and are given up if they take long (hp_race.c).  So all that has to be seen here is
** whether they may be that long.
**
** PRAGMA optimize leaves tables without an index out if they are large.  Of these statistics would
** say no more than the number of rows, which is nothing to a search for one row, and which the gate
** knows when the join runs if it is the outermost loop that scans them.
*/
static LogEst hpPlanAny(const WhereInfo *pWInfo, int nGroupBy, u8 *pbGuess){
  const SrcList *pSrc = pWInfo->pTabList;
  int nOrdered = sqlite3WhereIsOrdered((WhereInfo*)pWInfo);
  int bForce = hpConfigOffload(pWInfo->pParse->db)==HP_OFFLOAD_FORCE;
  LogEst nCost;
  int i;
  *pbGuess = 0;
  if( pSrc->nSrc<2 || pWInfo->nLevel<1 || pWInfo->revMask!=0 ) return 0;
  if( nOrdered>0 && nOrdered>=nGroupBy ) return 0;
  if( pWInfo->pParse->pIdxEpr ) return 0;
  for(i=0; i<pSrc->nSrc; i++){
    if( pSrc->a[i].fg.isIndexedBy ) return 0;
    if( !hpPlanIsKnown(pWInfo, i) ) *pbGuess = 1;
  }
  nCost = hpPlanCost(pWInfo);
  if( bForce ) return MAX(1, nCost);
  if( *pbGuess && !hpPlanWasLong(pWInfo->pParse->pReprepare) ){
    if( hpPlanCorrect(pWInfo, nCost)<HP_MIN_COST ){
      hpCompileLong(pWInfo->pParse);
      return 0;
    }
    nCost = MAX(nCost, HP_MIN_COST);
  }
  return nCost>=HP_MIN_COST || *pbGuess ? MAX(1, nCost) : 0;
}

/* All of pItem may be scanned, in whatever order */
static void hpPlanWhole(SrcItem *pItem){
  HpChoice *p = &pItem->hp;
  memset(p, 0, sizeof(*p));
  p->eOrder = HP_ORDER_ROWS;
  if( !HasRowid(pItem->pSTab) ) p->pIdx = sqlite3PrimaryKeyIndex(pItem->pSTab);
}

/*
** Does loop pLoop test its terms in the order of the WHERE clause?  Where it
** looks rows up by an index it does not.  For an automatic index and a Bloom
** filter some of them are tested for all rows of the table first.
*/
static int hpPlanIsPlain(const WhereLoop *pLoop){
  const u32 mNot = WHERE_AUTO_INDEX|WHERE_BLOOMFILTER|WHERE_MULTI_OR|WHERE_VIRTUALTABLE;
  return (pLoop->wsFlags & mNot)==0
      && (pLoop->wsFlags & (WHERE_IPK|WHERE_IDX_ONLY))!=0;
}

/* The one term of the WHERE clause by which pLoop finds rows, or NULL */
static const Expr *hpPlanAccess(const WhereLoop *pLoop){
  const WhereTerm *pTerm = pLoop->nLTerm==1 ? pLoop->aLTerm[0] : 0;
  /* An equality of two columns is there the other way round, too */
  if( pTerm && pTerm->iParent>=0 ) pTerm = &pTerm->pWC->a[pTerm->iParent];
  return pTerm ? pTerm->pExpr : 0;
}

/*
** Note what hp_graph.c wants to know of the loops of pWInfo.  bRoot: the first one can be
** the scan; what it scans has been noted.  nCost, bGuess: those of HpChoice.
*/
static void hpPlanNote(WhereInfo *pWInfo, int bRoot, LogEst nCost, u8 bGuess){
  SrcList *pSrc = pWInfo->pTabList;
  SrcItem *pFirst = &pSrc->a[pWInfo->a[0].iFrom];
  int i;
  for(i=0; i<pSrc->nSrc; i++){
    if( &pSrc->a[i]!=pFirst || !bRoot ) hpPlanWhole(&pSrc->a[i]);
    pSrc->a[i].hp.iLevel = pSrc->a[i].hp.iStock = 0;
  }
  for(i=0; i<pWInfo->nLevel; i++){
    SrcItem *pItem = &pSrc->a[pWInfo->a[i].iFrom];
    pItem->hp.iLevel = pItem->hp.iStock = (u8)(i+1);
    pItem->hp.bByRowid = (u8)hpPlanByRowid(pWInfo, i);
    pItem->hp.bBuild = (pWInfo->a[i].pWLoop->wsFlags & WHERE_AUTO_INDEX)!=0;
    pItem->hp.bPlain = (u8)hpPlanIsPlain(pWInfo->a[i].pWLoop);
    pItem->hp.pAccess = hpPlanAccess(pWInfo->a[i].pWLoop);
  }
  pFirst->hp.bRoot = (u8)bRoot;
  pFirst->hp.bMoved = 0;
  pFirst->hp.nCost = nCost;
  pFirst->hp.bGuess = bGuess;
  pFirst->hp.nCostRow = 0;
  if( nCost && (pFirst->pSTab->tabFlags & TF_HasStat1)==0 ){
    pFirst->hp.nCostRow = pFirst->pSTab->nRowLogEst;
    pFirst->hp.iCostRoot = pFirst->pSTab->tnum;
  }
}

/*
** Is pWInfo the loop of a correlated sub-select that finds its rows by an index, anew for each row
** around it?  If that takes long all groups may be made at once (hp_findplan.c).  Their rows come in
** the order of rowids.
*/
static int hpPlanIsFind(const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  const Select *p = pWInfo->pSelect;
  return p!=0 && (p->selFlags & SF_Correlated)!=0 && p->pGroupBy==0
      && pWInfo->pTabList->nSrc==1 && pWInfo->nLevel==1 && pLoop->nLTerm>0
      && (pLoop->wsFlags & (WHERE_ONEROW|WHERE_INDEXED))==WHERE_INDEXED
      && hpPlanByRowid(pWInfo, 0)
      && pWInfo->pTabList->a[0].fg.isIndexedBy==0;
}

/*
** The planner has chosen pWInfo.  Return iHp, from sqlite3HpBegin(), if the
** executor can do that, and otherwise 0.
*/
SQLITE_PRIVATE int sqlite3HpAccept(int iHp, WhereInfo *pWInfo, int nGroupBy){
  LogEst nCost;
  u8 bGuess;
  int bRoot;
  if( iHp==0 ) return 0;
  if( hpPlanIsFind(pWInfo) ){
    Parse *pParse = pWInfo->pParse;
    SrcItem *pItem = &pWInfo->pTabList->a[0];
    memset(&pItem->hp, 0, sizeof(pItem->hp));
    pItem->hp.bFind = 1;
    pItem->hp.bUnlikely = !hpPlanWasLong(pParse->pReprepare)
        && hpConfigOffload(pParse->db)!=HP_OFFLOAD_FORCE;
    return iHp;
  }
  bRoot = hpPlanAccept(pWInfo, nGroupBy);
  nCost = hpPlanAny(pWInfo, nGroupBy, &bGuess);
  if( !bRoot && nCost==0 ) return hpConfigStat(pWInfo->pParse->db, HP_NO_PLAN);
  hpPlanNote(pWInfo, bRoot, nCost, bGuess);
  return iHp;
}

/*
** May the b-tree have mnLeaf leaves?  No, if the whole file is small or the
** pages in the cache say so; else perhaps.  OP_HpScan looks again.
*/
static int hpPlanMayBeLarge(
  Btree *pBtree,
  Pgno iRoot,
  int bIndex,
  int mnLeaf
){
  u32 nPage = sqlite3BtreeLastPage(pBtree);
  Pgno iChild = 0;
  int n, nChild;
  assert( mnLeaf>0 && sqlite3BtreeHoldsMutex(pBtree) );
  if( nPage>0 && nPage<(u32)mnLeaf ) return 0;
  n = hpPlanChildren(pBtree->pBt, iRoot, bIndex, &iChild);
  if( n<0 || n>=mnLeaf ) return 1;
  nChild = n ? hpPlanChildren(pBtree->pBt, iChild, bIndex, &iChild) : 0;
  return nChild<0 || (i64)n*nChild>=mnLeaf;
}

/*
** For EXPLAIN QUERY PLAN: will the b-tree be found to have mnLeaf leaves?
*/
static int hpPlanIsLarge(
  Btree *pBtree,
  Pgno iRoot,
  int bIndex,
  int mnLeaf
){
  int bLarge = 0;
  int bOpened = 0;
  if( sqlite3BtreeTxnState(pBtree)==SQLITE_TXN_NONE ){
    if( sqlite3BtreeBeginTrans(pBtree, 0, 0) ) return 0;
    bOpened = 1;
  }
  if( hpSourceIsLarge(pBtree, iRoot, bIndex, mnLeaf, &bLarge) ) bLarge = 0;
  if( bOpened ) sqlite3BtreeCommit(pBtree);
  return bLarge;
}

/*
** Is the b-tree to be scanned for pItem worth it, as far as can be told now?  That
** takes mnLeaf leaves.
**
** If only a range is to be scanned, the share of the rows that the planner
** expects in there should have so many.  Otherwise that is unlikely.  Where the
** bounds are literals hpAggPlan() finds out.  Parameters are not known now, and
** there are many small ranges for a large one: then the query is refused, until it
** is prepared again after long executions, or in the midst of one.
*/
static int hpPlanMayPay(Parse *pParse, SrcItem *pItem, int mnLeaf){
  Table *pTab = pItem->pSTab;
  Index *pIdx = pItem->hp.pIdx;
  Pgno iRoot = pIdx ? pIdx->tnum : pTab->tnum;
  Pgno iChild;
  int iDb = sqlite3SchemaToIndex(pParse->db, pTab->pSchema);
  Btree *pBtree = pParse->db->aDb[iDb].pBt;
  int bLarge = 1;
  assert( iDb>=0 && mnLeaf>0 );
  if( pBtree==0 ) return 0;
  if( hpConfigOffload(pParse->db)==HP_OFFLOAD_FORCE ) return 1;
  sqlite3BtreeEnter(pBtree);
  if( pParse->explain==2 ){
    bLarge = hpPlanIsLarge(pBtree, iRoot, pIdx!=0, mnLeaf);
  }else{
    bLarge = hpPlanMayBeLarge(pBtree, iRoot, pIdx!=0, mnLeaf);
  }
  if( bLarge && pItem->hp.pSearch ){
    /* Literals have been looked at */
    bLarge = pItem->hp.bLiteral || hpPlanWasLong(pParse->pReprepare)
        || hpPlanChildren(pBtree->pBt, pItem->hp.pSearch->tnum, 1, &iChild)<0;
    if( !bLarge ) hpCompileLong(pParse);
  }else if( bLarge && pItem->hp.nShare>0 && !hpPlanWasLong(pParse->pReprepare)
   && hpPlanChildren(pBtree->pBt, iRoot, pIdx!=0, &iChild)>=0
  ){
    LogEst n = sqlite3LogEst(mnLeaf) + pItem->hp.nShare;
    pItem->hp.bUnlikely = !hpPlanMayBeLarge(pBtree, iRoot, pIdx!=0,
                              (int)MIN(0x7fffffff, sqlite3LogEstToInt(n)));
    bLarge = !pItem->hp.bUnlikely || pItem->hp.bLiteral;
    if( !bLarge ) hpCompileLong(pParse);
  }
  sqlite3BtreeLeave(pBtree);
  return bLarge;
}

/* The same; if it is not worth it the query is refused, until the table has grown */
static int hpPlanWorthIt(Parse *pParse, SrcItem *pItem, int mnLeaf){
  if( hpPlanMayPay(pParse, pItem, mnLeaf) ) return 1;
  hpCompileSmall(pParse);
  return hpConfigStat(pParse->db, HP_NO_SMALL);
}

/* The same of the arms of pItem, of which one has to be */
static int hpPlanArmsWorthIt(Parse *pParse, const SrcItem *pItem){
  Select *p;
  int bPays = 0;
  for(p=hpArmPlanFirst(pItem); p; p=hpArmPlanNext(p)){
    SrcItem *pOwn = &p->pSrc->a[0];
    pOwn->hp.bPays = (u8)hpPlanMayPay(pParse, pOwn, HP_MIN_LEAF);
    bPays |= pOwn->hp.bPays;
  }
  if( bPays ) return 1;
  hpCompileSmall(pParse);
  return hpConfigStat(pParse->db, HP_NO_SMALL);
}

/*
** The graph of join p with aggregates pAggInfo, which may be NULL; or NULL.
*/
static HpGraph *hpPlanGraph(Parse *pParse, Select *p, AggInfo *pAggInfo){
  HpGraph *pGraph = hpGraphNew(pParse, p->pSrc, p->pWhere, 0);
  if( pGraph && pGraph->iMany>=0
   && (pAggInfo==0 || !hpManyPlan(pGraph, pAggInfo, p->pGroupBy))
  ){
    hpGraphFree(pGraph);
    pGraph = 0;
  }
  return pGraph;
}

/*
** Choose another root for join p than the outermost loop's table: of those that reach
** all others the one with the most rows.  Returns the graph with that root, or NULL.
*/
static HpGraph *hpPlanMove(Parse *pParse, Select *p, AggInfo *pAggInfo){
  SrcList *pSrc = p->pSrc;
  SrcItem *pFirst = hpGraphRoot(pSrc);
  LogEst nCost = pFirst->hp.nCost;
  int bForce = hpConfigOffload(pParse->db)==HP_OFFLOAD_FORCE;
  Bitmask mTried = 0;
  for(;;){
    SrcItem *pRoot = 0;
    HpGraph *pGraph;
    u8 iLevel;
    int i;
    for(i=0; i<pSrc->nSrc && i<HP_MX_NODE; i++){
      SrcItem *pItem = &pSrc->a[i];
      if( (mTried & MASKBIT(i)) || pItem==pFirst || pItem->hp.iLevel==0 ) continue;
      if( !bForce && pItem->pSTab->nRowLogEst<HP_MIN_OUT ) continue;
      if( pFirst->hp.bGuess && !hpPlanMayPay(pParse, pItem, HP_MIN_LEAF) ) continue;
      if( pRoot==0 || pItem->pSTab->nRowLogEst>pRoot->pSTab->nRowLogEst ) pRoot = pItem;
    }
    if( pRoot==0 ) return 0;
    mTried |= MASKBIT(pRoot - pSrc->a);
    iLevel = pRoot->hp.iLevel;
    pFirst->hp.iLevel = iLevel;
    pRoot->hp.iLevel = 1;
    pGraph = hpPlanGraph(pParse, p, pAggInfo);
    if( pGraph ){
      pRoot->hp.bMoved = 1;
      pRoot->hp.nCost = nCost;
      pRoot->hp.bGuess = pFirst->hp.bGuess;
      pRoot->hp.nCostRow = pFirst->hp.nCostRow;
      pRoot->hp.iCostRoot = pFirst->hp.iCostRoot;
      return pGraph;
    }
    pFirst->hp.iLevel = 1;
    pRoot->hp.iLevel = iLevel;
  }
}

/*
** The graph of p, whose rows may come in any order: its root is the table of the outermost
** loop, or another one that reaches all others.  NULL: there is none, or it is small.
*/
static HpGraph *hpPlanAnyGraph(Parse *pParse, Select *p){
  HpGraph *pGraph = hpPlanGraph(pParse, p, 0);
  if( pGraph==0 ) pGraph = hpPlanMove(pParse, p, 0);
  if( pGraph==0 ){
    hpConfigStat(pParse->db, HP_NO_JOIN);
  }else if( !hpPlanWorthIt(pParse, hpGraphRoot(p->pSrc), HP_MIN_LEAF) ){
    hpGraphFree(pGraph);
    pGraph = 0;
  }
  return pGraph;
}

/*
** Is join p, which scans pFirst, worth it?  If that is small a table of a LEFT JOIN may be
** large, of which all rows are read to be grouped (HpGraph.iMany).
*/
static int hpPlanJoinWorthIt(Parse *pParse, Select *p, SrcItem *pFirst, int *pbMany){
  int i;
  *pbMany = 0;
  if( hpPlanMayPay(pParse, pFirst, HP_MIN_LEAF) ) return 1;
  for(i=0; i<p->pSrc->nSrc; i++){
    SrcItem *pItem = &p->pSrc->a[i];
    if( (pItem->fg.jointype & JT_LEFT)==0 || pItem->hp.iLevel==0 ) continue;
    if( hpPlanMayPay(pParse, pItem, HP_MIN_LEAF) ) *pbMany = 1;
  }
  return *pbMany || hpPlanWorthIt(pParse, pFirst, HP_MIN_LEAF);
}

/*
** Is SELECT p worth it, as far as can be told now?  Of a join *ppGraph is set to its
** graph, with the root that is chosen.
*/
static int hpPlanRoot(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  HpGraph **ppGraph
){
  *ppGraph = 0;
  if( hpArmPlanCount(pParse, &p->pSrc->a[0]) ){
    if( hpSubPlanAny(p->pWhere) ) return hpConfigStat(pParse->db, HP_NO_SUBQUERY);
    return hpPlanArmsWorthIt(pParse, &p->pSrc->a[0]);
  }
  if( p->pSrc->nSrc>1 || hpSubPlanAny(p->pWhere) ){
    int bMany = 0;
    SrcItem *pFirst = hpGraphRoot(p->pSrc);
    if( pFirst->hp.bRoot && hpPlanJoinWorthIt(pParse, p, pFirst, &bMany) ){
      *ppGraph = hpPlanGraph(pParse, p, pAggInfo);
      if( *ppGraph && bMany && (*ppGraph)->iMany<0 ){
        hpGraphFree(*ppGraph);
        *ppGraph = 0;
        return hpPlanWorthIt(pParse, pFirst, HP_MIN_LEAF);
      }
    }
    if( *ppGraph==0 && pFirst->hp.nCost ) *ppGraph = hpPlanMove(pParse, p, pAggInfo);
    if( *ppGraph ) return 1;
    return hpConfigStat(pParse->db, p->pSrc->nSrc>1 ? HP_NO_JOIN : HP_NO_SUBQUERY);
  }
  return hpPlanWorthIt(pParse, hpGraphRoot(p->pSrc), HP_MIN_LEAF);
}

/*
** Statement v, which is about to run, was left to SQLite because a table was
** small.  Return true if it is to be prepared again.
**
** Whether the table is large now is not looked at, since that would cost every
** execution something.  Instead, once the statement has taken HP_AGAIN_STEPS
** instructions since it was prepared, in one execution or in many, it is
** prepared again: a small part of the time that those took.
*/
SQLITE_PRIVATE int sqlite3HpAgain(Vdbe *v){
  u32 nStep = v->aCounter[SQLITE_STMTSTATUS_VM_STEP];
  assert( v->eHpSmall==1 || v->eHpSmall==2 );
  if( (v->prepFlags & SQLITE_PREPARE_SAVESQL)==0 ) return 0;
  if( v->eHpSmall==1 || nStep<v->nHpStep ){
    /* Preparing again, or the application, may have set the counter */
    v->eHpSmall = 2;
    v->nHpStep = nStep;
  }
  return nStep-v->nHpStep>=HP_AGAIN_STEPS;
}

/*
** The term of pSrc that z begins with, as EXPLAIN QUERY PLAN shows it, or NULL.
*/
static const SrcItem *hpPlanItem(
  Parse *pParse,
  const SrcList *pSrc,
  const char *z
){
  int i;
  for(i=0; i<pSrc->nSrc; i++){
    char *zName = sqlite3MPrintf(pParse->db, "%S", &pSrc->a[i]);
    int n = sqlite3Strlen30(zName);
    int bSame = zName!=0 && strncmp(z, zName, n)==0 && (z[n]==' ' || z[n]==0);
    sqlite3DbFree(pParse->db, zName);
    if( bSame ) return &pSrc->a[i];
  }
  return 0;
}

/* The table of pSrc, which may be NULL, that is scanned if stock's loops take long; or NULL */
static const SrcItem *hpPlanLater(const SrcList *pSrc){
  int i;
  for(i=0; pSrc && i<pSrc->nSrc; i++){
    if( pSrc->a[i].hp.bMoved && pSrc->a[i].hp.bGuess ) return &pSrc->a[i];
  }
  return 0;
}

/*
** In EXPLAIN QUERY PLAN say what we do, from address iFrom on.  bLookup: the
** table is read instead of an index.  pSrc: the tables of a join, or NULL.
*/
static void hpPlanExplain(
  Parse *pParse,
  int iFrom,
  int bLookup,
  const SrcList *pSrc
){
  Vdbe *v = pParse->pVdbe;
  int nOp = sqlite3VdbeCurrentAddr(v);
  const SrcItem *pLater = hpPlanLater(pSrc);
  int i;
  assert( iFrom>=0 );
  if( pParse->explain!=2 ) return;
  if( hpConfigOffload(pParse->db)==HP_OFFLOAD_FORCE ) pLater = 0;
  for(i=iFrom; i<nOp; i++){
    VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    const char *z = pOp->p4.z;
    const SrcItem *pItem = 0;
    char *zNew = 0;
    if( pOp->opcode!=OP_Explain || pOp->p4type!=P4_DYNAMIC || z==0 ) continue;
    /* Of a sub-select: it says so itself */
    if( strstr(z, " VECTORIZED") || strstr(z, " USING HASH TABLE (") ) continue;
    if( pSrc && strncmp(z, "BLOOM FILTER ON ", 16)==0
     && hpPlanItem(pParse, pSrc, &z[16])
    ){
      sqlite3VdbeChangeToNoop(v, i);
      continue;
    }
    if( pSrc && strncmp(z, "SCAN ", 5)==0 ){
      pItem = hpPlanItem(pParse, pSrc, &z[5]);
    }else if( pSrc && strncmp(z, "SEARCH ", 7)==0 ){
      pItem = hpPlanItem(pParse, pSrc, &z[7]);
    }
    if( pLater ){
      if( pItem==0 ) continue;
      nOp = i;           /* The outermost loop: no line more is changed */
      zNew = sqlite3MPrintf(pParse->db, "%s OR, IF LONG, VECTORIZED SCAN OF %S", z, pLater);
    }else if( pItem && pItem->hp.zKey ){
      zNew = sqlite3MPrintf(pParse->db, "SEARCH %S%s USING HASH TABLE (%s)%s",
          pItem, pItem->fg.fromExists ? " EXISTS" : "", pItem->hp.zKey,
          (pItem->fg.jointype & JT_LEFT) ? " LEFT-JOIN" : "");
    }else if( pItem && pItem->hp.bMoved ){
      zNew = sqlite3MPrintf(pParse->db, "SCAN %S VECTORIZED", pItem);
    }else if( strncmp(z, "SCAN ", 5)==0 && bLookup && strstr(z, " USING INDEX ") ){
      zNew = sqlite3MPrintf(pParse->db, "%.*s VECTORIZED",
                            (int)(strstr(z, " USING INDEX ")-z), z);
    }else if( strncmp(z, "SEARCH ", 7)==0 && strstr(z, " USING INDEX ") ){
      zNew = sqlite3MPrintf(pParse->db, "%s OR VECTORIZED SCAN", z);
    }else if( strncmp(z, "SCAN ", 5)==0 || strncmp(z, "SEARCH ", 7)==0 ){
      /* Stock calls the scan for a min() or max() a SEARCH */
      zNew = sqlite3MPrintf(pParse->db, "%s VECTORIZED", z);
    }else if( strncmp(z, "USE TEMP B-TREE FOR ", 20)==0
           && strstr(z, "(ORDER BY)")==0
    ){
      zNew = sqlite3MPrintf(pParse->db, "USE HASH TABLE FOR %s", &z[20]);
    }
    if( zNew ){
      sqlite3DbFree(pParse->db, pOp->p4.z);
      pOp->p4.z = zNew;
    }
  }
}

/* Do keys or columns of a relation come from vector iVec? */
static int hpPlanRelReads(const HpRelPlan *p, u16 iVec){
  int k;
  if( p==0 ) return 0;
  for(k=0; k<p->key.keys.n; k++) if( p->key.keys.aVec[k]==iVec ) return 1;
  for(k=0; k<p->nCol; k++) if( p->aVec[k]==iVec ) return 1;
  return 0;
}

/*
** Does anything read vector iVec that is no operation of the program?  Unless bGroup, that it is a
** key of groups does not count.
*/
static int hpPlanSinkReads(const HpPipePlan *pPipe, u16 iVec, int bGroup){
  const HpGroupPlan *pGroup = pPipe->pGroup;
  const HpKeys *pKeys = 0;
  int i, k;
  if( pGroup && bGroup ) pKeys = &pGroup->keys;
  if( pPipe->pSort ) pKeys = &pPipe->pSort->row.keys;
  if( pPipe->pFind ) pKeys = &pPipe->pFind->keys;
  for(k=0; pKeys && k<pKeys->n; k++) if( pKeys->aVec[k]==iVec ) return 1;
  for(i=0; pGroup && i<pGroup->nAgg; i++){
    const HpAggDef *pDef = &pGroup->aAgg[i];
    if( pDef->iVec==iVec || pDef->iFilter==iVec ) return 1;
    for(k=0; k<pDef->nArg; k++) if( pDef->aArg[k]==iVec ) return 1;
    for(k=0; k<pDef->nTerm; k++) if( pDef->aTerm[k].iVec==iVec ) return 1;
  }
  for(i=0; pGroup && i<pGroup->nBare; i++){
    /* What a key shows comes from the group */
    if( pGroup->aBare[i].iVec==iVec && (bGroup || pGroup->aBare[i].iKey<0) ) return 1;
  }
  for(i=0; pPipe->pSort && i<pPipe->pSort->nField; i++){
    const HpField *pField = &pPipe->pSort->aField[i];
    if( pField->eField==HP_FIELD_VEC && pField->iVec==iVec ) return 1;
  }
  if( hpPlanRelReads(pPipe->pRel, iVec) || hpPlanRelReads(pPipe->pProbe, iVec) ) return 1;
  for(i=0; i<pPipe->nWant; i++) if( hpPlanRelReads(pPipe->aWant[i], iVec) ) return 1;
  for(i=0; i<pPipe->nSubWant; i++) if( hpPlanRelReads(pPipe->aSubWant[i], iVec) ) return 1;
  return 0;
}

/* Does operation pOp read vector iVec? */
static int hpPlanOpReads(const HpProg *pProg, const HpOp *pOp, u16 iVec){
  int k;
  if( pOp->eOp==HP_OP_COLUMN ) return 0;
  if( pOp->eOp<HP_OP_CASE ) return pOp->a==iVec || (pOp->eOp!=HP_OP_TRUTH && pOp->b==iVec);
  for(k=0; k<pOp->n; k++) if( pProg->aArg[pOp->iArg+k]==iVec ) return 1;
  return 0;
}

/*
** Which columns does pPipe read for its filters only, and which for them and as keys of groups?  In a
** join the first filters may be run alone, and then only these count.
*/
static void hpPlanOnly(HpPipePlan *pPipe, int bJoin){
  HpProg *pProg = &pPipe->prog;
  int nFilter = bJoin ? pPipe->nOwn : pProg->nFilter;
  int nFirst = nFilter ? pProg->aFilter[nFilter-1].nOp : 0;
  int i, k;
  for(i=0; i<pProg->nOp; i++){
    HpOp *pOp = &pProg->aOp[i];
    if( pOp->eOp!=HP_OP_COLUMN ) continue;
    for(k=nFirst; k<pProg->nOp && !hpPlanOpReads(pProg, &pProg->aOp[k], pOp->iOut); k++){}
    if( k<pProg->nOp ) continue;
    pOp->bOnlyFilters = i<nFirst && !hpPlanSinkReads(pPipe, pOp->iOut, 1);
    pOp->bOnlyKeys = pPipe->pGroup && !hpPlanSinkReads(pPipe, pOp->iOut, 0);
  }
}

/*
** Code the constants of pPlan and OP_HpScan, with the execution in register
** regExec.  If it is followed by OP_HpRow there is another one for that.  The plan
** belongs to the program from now on.  Returns the address of OP_HpScan: the caller
** sets P2, where to go when it declines.
*/
static int hpPlanCode(Parse *pParse, HpPlan *pPlan, int regExec){
  Vdbe *v = pParse->pVdbe;
  sqlite3_value *pP4;
  u8 okConstFactor = pParse->okConstFactor;
  int eRows = 0;         /* HP_SCAN_xxx */
  int i, k;

  assert( regExec>0 && regExec<=pParse->nMem );
  assert( hpSanePlan(pParse, pPlan) );
  hpShowPlan(pParse, pPlan);
  hpConfigStat(pParse->db, HP_STAT_TAKEN);
  pParse->okConstFactor = 0;
  for(k=0; k<pPlan->nSet; k++) hpPlanOnly(&pPlan->aSet[k].pipe, 0);
  for(k=0; k<pPlan->nPipe; k++){
    const HpProg *pProg = &pPlan->aPipe[k].prog;
    hpPlanOnly(&pPlan->aPipe[k], pPlan->nPipe>1);
    for(i=0; i<pProg->nConst; i++){
      struct HpConst *pConst = &pProg->aConst[i];
      assert( pConst->pExpr!=0 );      /* They are coded once */
      assert( pConst->iReg>0 && pConst->iReg<=pParse->nMem );
      if( pConst->pExpr->op==TK_SELECT || pConst->pExpr->op==TK_EXISTS ){
        hpScalarCode(pParse, pConst->pExpr, pConst->iReg);
      }else{
        sqlite3ExprCode(pParse, pConst->pExpr, pConst->iReg);
      }
      pConst->pExpr = 0;
    }
  }
  hpScalarCodeSets(pParse, pPlan);
  pParse->okConstFactor = okConstFactor;
  pP4 = sqlite3ValueNew(pParse->db);
  if( pP4==0 ){
    hpCompileFree(pPlan);
    return sqlite3VdbeAddOp0(v, OP_Noop);
  }
  sqlite3VdbeMemSetPointer(pP4, pPlan, "hp", hpCompileFree);
  if( hpPlanLast(pPlan)->pFind ) eRows = HP_SCAN_FIND;
  if( hpPlanLast(pPlan)->pSort ) eRows = HP_SCAN_SORT;
  return sqlite3VdbeAddOp4(v, OP_HpScan, regExec, 0, eRows, (char*)pP4, P4_MEM);
}

/*
** Let the program go on from instruction iFrom, which is not run then, with the code that
** follows: a jump takes its place.  What is coded so far does not come here.
*/
static void hpPlanBranch(Parse *pParse, HpBranch *p, int iFrom){
  Vdbe *v = pParse->pVdbe;
  VdbeOp *pOp;
  p->iFrom = iFrom;
  p->addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  pOp = sqlite3VdbeGetOp(v, iFrom);
  p->op = *pOp;
  pOp->p4type = P4_NOTUSED;
  pOp->p4.p = 0;
  pOp->p5 = 0;
  pOp->opcode = OP_Goto;
  pOp->p1 = pOp->p3 = 0;
  pOp->p2 = sqlite3VdbeCurrentAddr(v);
}

/*
** When the instruction at addrScan declines the program goes on as it did, with a copy of
** the instruction that the jump has replaced.  Our code ends here.
*/
static void hpPlanRejoin(Parse *pParse, const HpBranch *p, int addrScan){
  Vdbe *v = pParse->pVdbe;
  int addr;
  sqlite3VdbeJumpHere(v, addrScan);
  addr = sqlite3VdbeAddOp3(v, p->op.opcode, p->op.p1, p->op.p2, p->op.p3);
  if( pParse->db->mallocFailed ){
    freeP4(pParse->db, p->op.p4type, p->op.p4.p);
  }else{
    VdbeOp *pOp = sqlite3VdbeGetOp(v, addr);
    pOp->p4type = p->op.p4type;
    pOp->p4 = p->op.p4;
    pOp->p5 = p->op.p5;
  }
  sqlite3VdbeAddOp2(v, OP_Goto, 0, p->iFrom+1);
  sqlite3VdbeJumpHere(v, p->addrSkip);
}

/*
** The same, but the code that follows begins with a copy of instruction iFrom, and if it declines it goes
** on with the one after that.
*/
static void hpPlanDetour(Parse *pParse, int iFrom){
  Vdbe *v = pParse->pVdbe;
  VdbeOp *pOp = sqlite3VdbeGetOp(v, iFrom);
  int addr = sqlite3VdbeAddOp3(v, pOp->opcode, pOp->p1, pOp->p2, pOp->p3);
  if( pParse->db->mallocFailed ) return;
  pOp = sqlite3VdbeGetOp(v, addr);
  *pOp = *sqlite3VdbeGetOp(v, iFrom);
  pOp = sqlite3VdbeGetOp(v, iFrom);
  pOp->p4type = P4_NOTUSED;
  pOp->p4.p = 0;
  pOp->p5 = 0;
  pOp->opcode = OP_Goto;
  pOp->p1 = pOp->p3 = 0;
  pOp->p2 = addr;
}

/*
** Code the instruction at iHp and the scan, and turn the instruction at iHp
** into a jump to here.  Returns the register that holds the execution.
*/
static int hpPlanCodeAgg(
  Parse *pParse,
  Select *p,
  HpPlan *pPlan,
  int iHp,
  int iLoopEnd           /* SQLite's loops end before this instruction */
){
  Vdbe *v = pParse->pVdbe;
  int regExec = ++pParse->nMem;
  int i;

  assert( iHp>0 );
  if( hpPlanIsArms(pPlan) ){
    hpPlanExplain(pParse, p->pSrc->a[0].u4.pSubq->addrFillSub, 0, 0);
  }else{
    hpPlanExplain(pParse, iHp, hpPlanLast(pPlan)->pGroup->bAnyOrder,
                  pPlan->nPipe>1 ? p->pSrc : 0);
  }
  /* As sqlite3HpBegin() found it */
  assert( sqlite3VdbeGetOp(v, iHp)->opcode==OP_Null || sqlite3VdbeGetOp(v, iHp)->opcode==OP_Gosub
       || pParse->db->mallocFailed );
  hpPlanDetour(pParse, iHp);
  pPlan->iLoop = iHp+1;
  pPlan->iLoopEnd = iLoopEnd;
  i = hpPlanCode(pParse, pPlan, regExec);
  sqlite3VdbeChangeP2(v, i, iHp+1);
  return regExec;
}

/*
** What follows the instruction at iHp opens a table for each aggregate with ORDER
** BY inside, which stock's code for the result reads.  Open them here too: they
** stay empty.  With GROUP BY the copy of the instruction at iHp does that.
*/
static void hpPlanCodeOrder(Parse *pParse, AggInfo *pAggInfo, int iHp){
  Vdbe *v = pParse->pVdbe;
  int nOp = sqlite3VdbeCurrentAddr(v);
  int i, k;
  for(k=0; k<pAggInfo->nFunc; k++){
    int iTab = pAggInfo->aFunc[k].iOBTab;
    for(i=iHp+1; iTab>=0 && i<nOp; i++){
      VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
      if( pOp->opcode==OP_OpenEphemeral && pOp->p1==iTab ){
        KeyInfo *pKeyInfo = sqlite3KeyInfoRef(pOp->p4.pKeyInfo);
        sqlite3VdbeAddOp4(v, OP_OpenEphemeral, iTab, pOp->p2, 0,
                          (char*)pKeyInfo, P4_KEYINFO);
        break;
      }
    }
    assert( iTab<0 || i<nOp || pParse->db->mallocFailed );
  }
}

/*
** Code an aggregate query without GROUP BY.  Called after stock's loop, before
** the aggregates are finished.  iHp comes from sqlite3HpAccept().
*/
static void hpPlanCodeRow(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  int iHp
){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  HpGroupPlan *pGroup;
  HpGraph *pGraph;
  int addrSkip, addrNext, regExec;
  assert( p->pGroupBy==0 && iHp!=0 );
  if( !hpPlanRoot(pParse, p, pAggInfo, &pGraph) ) return;
  pPlan = hpAggPlan(pParse, p, pAggInfo, 0, pGraph);
  if( pPlan==0 ) return;
  pGroup = hpPlanLast(pPlan)->pGroup;
  pGroup->iBareReg = AggInfoColumnReg(pAggInfo, 0);
  pGroup->iFuncReg = AggInfoFuncReg(pAggInfo, 0);
  addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  regExec = hpPlanCodeAgg(pParse, p, pPlan, iHp, addrSkip);
  hpPlanCodeOrder(pParse, pAggInfo, iHp);
  addrNext = sqlite3VdbeAddOp1(v, OP_HpNext, regExec);
  sqlite3VdbeJumpHere(v, addrNext);
  sqlite3VdbeJumpHere(v, addrSkip);
}

/* Walker callback: stop at an aggregate function */
static int hpPlanWalkAgg(Walker *pWalker, Expr *pExpr){
  if( pExpr->op!=TK_AGG_FUNCTION ) return WRC_Continue;
  pWalker->eCode = 1;
  return WRC_Abort;
}

/*
** Does SQLite surely sort the groups of p by its ORDER BY clause?  It does if that is not the GROUP BY
** clause over again; columns have been resolved on both sides, but in one of them have become those of
** the aggregate.
*/
static int hpPlanSorts(const Select *p){
  const ExprList *pOrder = p->pOrderBy;
  const ExprList *pGroup = p->pGroupBy;
  Walker w;
  int i;
  if( pOrder==0 ) return 0;
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpPlanWalkAgg;
  w.xSelectCallback = sqlite3SelectWalkNoop;
  sqlite3WalkExprList(&w, (ExprList*)pOrder);
  if( w.eCode || pOrder->nExpr!=pGroup->nExpr ) return 1;
  for(i=0; i<pOrder->nExpr; i++){
    const Expr *a = sqlite3ExprSkipCollateAndLikely(pOrder->a[i].pExpr);
    const Expr *b = sqlite3ExprSkipCollateAndLikely(pGroup->a[i].pExpr);
    int bA = a->op==TK_COLUMN || a->op==TK_AGG_COLUMN;
    int bB = b->op==TK_COLUMN || b->op==TK_AGG_COLUMN;
    if( bA!=bB || (bA && (a->iTable!=b->iTable || a->iColumn!=b->iColumn)) ) return 1;
  }
  return 0;
}

/*
** SQLite gives the groups of p as its scan comes to them.  May it stop before the last
** one?  Not if it sorts them.
*/
static int hpPlanMayStop(const Select *p, const SelectDest *pDest){
  if( hpPlanSorts(p) ) return 0;
  return p->pLimit!=0
      /* Of a co-routine the query around it has said so */
      || (pDest->eDest==SRT_Coroutine && pDest->iSDParm2);
}

/*
** Where stock's loops end for GROUP BY: at addrEnd, or where rows are sorted that they have put into
** cursor iSort.
*/
static int hpPlanSorted(Vdbe *v, int iHp, int addrEnd, int iSort){
  int i;
  for(i=iHp+1; i<addrEnd; i++){
    const VdbeOp *pOp = sqlite3VdbeGetOp(v, i);
    if( pOp->opcode==OP_SorterSort && pOp->p1==iSort ) return i;
  }
  return addrEnd;
}

/*
** Code an aggregate query with GROUP BY.  Called after stock's code for the
** groups, where the program goes on when all of them are delivered.
*/
SQLITE_PRIVATE void sqlite3HpCodeGroups(
  Parse *pParse,
  Select *p,
  SelectDest *pDest,     /* Where the result goes */
  AggInfo *pAggInfo,
  int iHp,               /* From sqlite3HpAccept() */
  KeyInfo *pKeyInfo,     /* Collation and order of the GROUP BY terms */
  int iAMem,             /* First register of the terms */
  int iUseFlag,          /* Register: there is a group to output */
  int iAbortFlag,        /* Register: the output wants no more */
  int regOutput,         /* Return address of the output subroutine */
  int addrOutput,        /* The output subroutine */
  int addrEnd            /* Go here when the output wants no more */
){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  HpGroupPlan *pGroup;
  HpGraph *pGraph;
  int addrSkip, addrNext, regExec;
  if( iHp==0 || pParse->nErr || pKeyInfo==0 ) return;
  if( hpOrderIsGiven(hpGraphRoot(p->pSrc)->hp.eOrder) && hpPlanMayStop(p, pDest) ){
    hpConfigStat(pParse->db, HP_NO_PLAN);
    return;
  }
  if( !hpPlanRoot(pParse, p, pAggInfo, &pGraph) ) return;
  pPlan = hpAggPlan(pParse, p, pAggInfo, pKeyInfo, pGraph);
  if( pPlan==0 ) return;
  pGroup = hpPlanLast(pPlan)->pGroup;
  assert( iAMem>0 && iUseFlag>0 && pGroup->keys.n>0 );
  pGroup->bStream = hpOrderIsGiven(hpGraphRoot(p->pSrc)->hp.eOrder);
  pGroup->iKeyReg = iAMem;
  pGroup->iBareReg = AggInfoColumnReg(pAggInfo, 0);
  pGroup->iFuncReg = AggInfoFuncReg(pAggInfo, 0);
  addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  regExec = hpPlanCodeAgg(pParse, p, pPlan, iHp,
                          hpPlanSorted(v, iHp, addrSkip, pAggInfo->sortingIdx));
  sqlite3VdbeAddOp2(v, OP_Integer, 1, iUseFlag);
  addrNext = sqlite3VdbeAddOp1(v, OP_HpNext, regExec);
  sqlite3VdbeAddOp2(v, OP_Gosub, regOutput, addrOutput);
  sqlite3VdbeAddOp2(v, OP_IfPos, iAbortFlag, addrEnd);
  sqlite3VdbeAddOp2(v, OP_Goto, 0, addrNext);
  sqlite3VdbeJumpHere(v, addrNext);
  sqlite3VdbeJumpHere(v, addrSkip);
}
#endif /* SQLITE_OMIT_HP */
