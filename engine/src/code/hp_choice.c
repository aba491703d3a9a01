/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_choice: what SQLite's planner has chosen, and whether a scan can stand for
** it (prepare time).
**
**    sqlite3HpBegin()     before the scan is coded: is it a candidate?
**    sqlite3HpAccept()    after the planner chose: is it a full scan?
**    hpChoiceArms()       number of the arms of a UNION ALL
**    hpChoiceIsSearch()   does it look up the rows that an index search finds?
**    hpChoiceArm()        of an arm of a UNION ALL: can its scan be taken over?
**    hpChoiceFill()       the same of a SELECT whose rows may fill a table
**    hpChoiceNote()       note the loops of a join
**
** sqlite3HpBegin() makes the cheap tests, before SQLite's planner has run.
** When it has, sqlite3HpAccept() looks at its loops, which are gone afterwards.
** So what later steps have to know is noted in the terms of FROM (HpChoice,
** SrcItem.hp): the b-tree that is read and its bounds, whether groups come in
** order (HP_ORDER_xxx), where in the nest of loops the term stands, what the
** planner expects all that to cost.
**
** There are two ways for a query to be accepted.  The outermost loop is a scan
** of one b-tree, or a search that a scan may stand for: hpChoiceAccept().  Or
** rows may come in any order and the planner expects the loops of a join to
** cost HP_MIN_COST: hpChoiceAny().  Then hp_root.c may choose another table.
** A correlated sub-select that searches an index is a third kind:
** hp_codefind.c.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Number of the arms of pItem, a term of FROM, if it is a UNION ALL of which we
** do each arm, and for each of which SQLite has made code; else 0.
**
** An arm that was a UNION ALL itself SQLite has coded as several, and has
** forgotten all of them but the last one: then there is code for more arms than
** are found here.
*/
static int hpChoiceArms(Parse *pParse, const SrcItem *pItem){
  int n = hpUnionCount(pItem);
  assert( pParse->pVdbe!=0 && n>=0 );
  if( n==0 ) return 0;
  return n==hpSpliceArms(pParse->pVdbe, pItem->u4.pSubq) ? n : 0;
}

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
  if( p->pSrc->nSrc>1 || hpChoiceArms(pParse, &p->pSrc->a[0])==0 ){
    for(i=0; i<p->pSrc->nSrc; i++){
      if( !hpSubselectIsTable(&p->pSrc->a[i]) ){
        return hpConfigStat(db, HP_NO_SHAPE);
      }
    }
  }
  return hpSpliceReset(pParse->pVdbe);
}

/*
** True if the index of pLoop gives the groups of pGroupBy in the order of its
** terms: then sets pItem->hp.mDesc.  The planner takes an index with the terms
** in any order, ascending or not: stock's groups then come in the order of the
** index.  bReverse:  the loop goes backwards.
*/
static int hpChoiceSameOrder(
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
** If pLoop is a search for rowids between two literals return how many may be
** there at most, otherwise HP_MIN_ROWIDS.
*/
static i64 hpChoiceRowids(const WhereLoop *pLoop){
  i64 a[2];
  int i;
  if( (pLoop->wsFlags & WHERE_IPK)==0 || pLoop->nLTerm!=2 ){
    return HP_MIN_ROWIDS;
  }
  for(i=0; i<2; i++){
    int x;
    Expr *pExpr = pLoop->aLTerm[i]->pExpr->pRight;
    if( pExpr==0 || !sqlite3ExprIsInteger(pExpr, &x, 0, 0) ){
      return HP_MIN_ROWIDS;
    }
    a[i] = x;
  }
  return MAX(1, a[1]-a[0]+1);
}

/*
** True if loop iLevel of pWInfo gives rows of its table in the order of their
** rowids: all columns of its index have one value, if it is not the table's own
** b-tree.  An automatic index has further columns.
*/
static int hpChoiceByRowid(const WhereInfo *pWInfo, int iLevel){
  const u32 mNot = WHERE_COLUMN_IN|WHERE_AUTO_INDEX|WHERE_VIRTUALTABLE
                 | WHERE_MULTI_OR;
  const WhereLoop *pLoop = pWInfo->a[iLevel].pWLoop;
  const Table *pTab = pWInfo->pTabList->a[pWInfo->a[iLevel].iFrom].pSTab;
  assert( iLevel>=0 && iLevel<pWInfo->nLevel );
  if( (pWInfo->revMask & MASKBIT(iLevel))!=0 ) return 0;
  if( !HasRowid(pTab) || (pLoop->wsFlags & mNot)!=0 || pLoop->nSkip!=0 ){
    return 0;
  }
  if( pLoop->wsFlags & WHERE_IPK ) return 1;
  return (pLoop->wsFlags & WHERE_INDEXED)!=0
      && pLoop->u.btree.nEq==pLoop->u.btree.pIndex->nKeyCol;
}

/* Is p, which may be NULL, a literal? */
static int hpChoiceIsLiteral(const Expr *p){
  if( p && p->op==TK_UMINUS ) p = p->pLeft;
  return p!=0 && (p->op==TK_INTEGER || p->op==TK_FLOAT || p->op==TK_STRING);
}

/*
** True if the outermost loop of pWInfo searches an index, and looks up the rows
** of its table.
*/
static int hpChoiceIsSearch(const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  assert( pWInfo->nLevel>0 );
  return pLoop->nLTerm>0
      && (pLoop->wsFlags & (WHERE_INDEXED|WHERE_IDX_ONLY))==WHERE_INDEXED;
}

/*
** True if all bounds of pLoop are literals.
*/
static int hpChoiceLiterals(const WhereLoop *pLoop){
  int i;
  for(i=0; i<pLoop->nLTerm; i++){
    const Expr *p = pLoop->aLTerm[i] ? pLoop->aLTerm[i]->pExpr : 0;
    int k = 0;
    if( p==0 ) return 0;   /* Of a skip-scan */
    if( p->op==TK_IN && ExprUseXList(p) ){
      for(; k<p->x.pList->nExpr
          && hpChoiceIsLiteral(p->x.pList->a[k].pExpr); k++){}
      if( k<p->x.pList->nExpr ) return 0;
    }else if( !hpChoiceIsLiteral(p->pRight) ){
      return 0;
    }
  }
  return 1;
}

/*
** True if the outermost loop of pWInfo is a scan of one b-tree
** that gives no order of use to nGroupBy GROUP BY terms, or to min() and max()
** where nGroupBy is 0.
**
** The b-tree is the table, or an index that has all columns used, or the
** primary key of a WITHOUT ROWID table.  The scan may have bounds: these and
** the index are left in the FROM clause term for hpOutGroup().
**
** Groups may come in order if the answer has all of them (no LIMIT): from an
** index that has all columns used, or from one that has not.  Then stock looks
** up each row of the table, and reading the table as it lies is better, if
** nothing in the answer tells in which order rows were read.
** So it is if the index gives only the first terms in order, and stock sorts.
** The scan may go backwards if only the order of the groups shows that: those
** of a join that has one row in each, or of an index that is not read.  SQLite
** does that for GROUP BY x ORDER BY count(*) DESC.
**
** The scan may be instead of a search of an index that has not all columns
** (pItem->hp.pSearch).  Rows come in the same order if the whole key has one
** value.  Which of the two is better is said when it runs: hpGateSearch(),
** hpGateJoin().
*/
static int hpChoiceAccept(WhereInfo *pWInfo, int nGroupBy){
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
  pItem->hp.bByRowid = (u8)hpChoiceByRowid(pWInfo, 0);
  if( pLoop->wsFlags & WHERE_IPK ){
    if( nGroupBy && nOrdered==nGroupBy ){
      /* Of one table each row is a group */
      const Expr *pTerm = pWInfo->pOrderBy->a[0].pExpr;
      if( !bJoin
       || !hpPropIsRowid(pItem, sqlite3ExprSkipCollateAndLikely((Expr*)pTerm))
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
  }else if( hpChoiceIsSearch(pWInfo) ){
    if( !HasRowid(pItem->pSTab) || pItem->fg.isIndexedBy ) return 0;
    pItem->hp.pVia = pItem->hp.pSearch = pLoop->u.btree.pIndex;
    if( nGroupBy && nOrdered==nGroupBy ) pItem->hp.eOrder = HP_ORDER_LOOKUP;
    else if( !pItem->hp.bByRowid ) pItem->hp.eOrder = HP_ORDER_ROWS;
    mOk |= WHERE_INDEXED|WHERE_UNQ_WANTED|WHERE_COLUMN_EQ|WHERE_COLUMN_IN
         | WHERE_IN_ABLE|WHERE_IN_EARLYOUT|WHERE_IN_SEEKSCAN;
  }else{
    if( nGroupBy && nOrdered==nGroupBy ) pItem->hp.eOrder = HP_ORDER_INDEX;
    const u32 mIdx = WHERE_INDEXED|WHERE_IDX_ONLY;
    if( (pLoop->wsFlags & mIdx)!=mIdx ) return 0;
    mOk |= mIdx|WHERE_COLUMN_EQ|WHERE_UNQ_WANTED;
  }
  if( bReverse && pItem->hp.eOrder!=HP_ORDER_ROWID
   && pItem->hp.eOrder!=HP_ORDER_LOOKUP ){
    return 0;
  }
  if( (pLoop->wsFlags & ~mOk)!=0 || pLoop->nSkip!=0 ) return 0;
  if( pLoop->nLTerm!=0
   && ((pLoop->nOut<HP_MIN_OUT
        && (pItem->hp.pSearch==0 || (pItem->pSTab->tabFlags & TF_HasStat1)!=0))
       || hpChoiceRowids(pLoop)<HP_MIN_ROWIDS)
   && hpConfigOffload(pWInfo->pParse->db)!=HP_OFFLOAD_FORCE
  ){
    return 0;
  }
  if( pWInfo->pParse->pIdxEpr ) return 0;
  if( hpOrderIsGiven(pItem->hp.eOrder) && pItem->hp.eOrder!=HP_ORDER_ROWID
   && !hpChoiceSameOrder(pLoop, pItem, pWInfo->pOrderBy, bReverse)
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
  pItem->hp.bLiteral = (u8)hpChoiceLiterals(pLoop);
  if( pLoop->nLTerm ){
    LogEst nRow = pItem->hp.pIdx ? pItem->hp.pIdx->aiRowLogEst[0]
                                 : pItem->pSTab->nRowLogEst;
    pItem->hp.nShare = MAX(0, nRow - pLoop->nOut);
  }
  if( pItem->hp.pSearch && pItem->hp.bLiteral
   && !hpWorthWasLong(pWInfo->pParse->pReprepare)
   && hpConfigOffload(pWInfo->pParse->db)!=HP_OFFLOAD_FORCE
   && !hpRangeSearchMayBeLarge(pWInfo->pParse, pItem->hp.pSearch, pLoop)
  ){
    hpCompileSmall(pWInfo->pParse);
    return 0;
  }
  /* Rowids have no equality: that is a look-up, of one row */
  assert( pItem->hp.pIdx!=0 || pItem->hp.pSearch!=0 || pItem->hp.nEq==0 );
  assert( pItem->hp.pIdx!=0 || HasRowid(pItem->pSTab) );
  /* One b-tree is scanned, and only of a table are rows in another order */
  assert( pItem->hp.pSearch==0
       || (pItem->hp.pSearch==pItem->hp.pVia && pItem->hp.pIdx==0) );
  assert( pItem->hp.eOrder<HP_ORDER_LOOKUP || pItem->hp.pVia!=0 );
  assert( pItem->hp.eOrder!=HP_ORDER_INDEX || pItem->hp.pIdx!=0 );
  return 1;
}

/*
** Can the scan of a SELECT whose rows a co-routine gives, one after the other,
** be taken over?
*/
static int hpChoiceGives(
  Parse *pParse,
  WhereInfo *pWInfo,
  const SelectDest *pDest
){
  if( pDest->eDest!=SRT_Coroutine || pParse->nested || pParse->nErr ) return 0;
  if( !hpSubselectIsTable(&pWInfo->pTabList->a[0]) ) return 0;
  assert( pWInfo->pTabList->nSrc==1 );
  return !hpChoiceIsSearch(pWInfo) && hpChoiceAccept(pWInfo, 0);
}

/*
** If p is an arm of a UNION ALL that a co-routine gives, note whether its scan
** can be taken over.
*/
static void hpChoiceArm(
  Parse *pParse,
  const Select *p,
  WhereInfo *pWInfo,
  const SelectDest *pDest
){
  SrcItem *pItem = &pWInfo->pTabList->a[0];
  if( pWInfo->pTabList->nSrc!=1 ) return;
  pItem->hp.bArm = 0;
  if( p->pNext==0 && p->op!=TK_ALL ) return;
  pItem->hp.bArm = (u8)hpChoiceGives(pParse, pWInfo, pDest);
}

/*
** If p is a SELECT whose rows a co-routine gives in the order of one scan, note
** whether that can be taken over: its rows may be those of CREATE TABLE AS or
** INSERT (hp_fillplan.c).
*/
static void hpChoiceFill(
  Parse *pParse,
  const Select *p,
  WhereInfo *pWInfo,
  const SelectDest *pDest
){
  SrcItem *pItem = &pWInfo->pTabList->a[0];
  if( pWInfo->pTabList->nSrc!=1 ) return;
  pItem->hp.bFill = 0;
  if( p->pNext || p->pPrior || p->pOrderBy || p->pLimit ) return;
  if( pItem->fg.fromExists || pItem->fg.isRecursive ) return;
  pItem->hp.bFill = (u8)hpChoiceGives(pParse, pWInfo, pDest);
}

/* What the planner thinks the loops of pWInfo cost, in its own units */
static LogEst hpChoiceCost(const WhereInfo *pWInfo){
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
** Is what the planner thinks of term i of FROM good without statistics that it
** lacks?
*/
static int hpChoiceIsKnown(const WhereInfo *pWInfo, int i){
  const Table *pTab = pWInfo->pTabList->a[i].pSTab;
  int k;
  assert( i>=0 && i<pWInfo->pTabList->nSrc );
  if( pTab->tabFlags & TF_HasStat1 ) return 1;
  if( pTab->pIndex ) return 0;
  for(k=0; k<pWInfo->nLevel && pWInfo->a[k].iFrom!=i; k++){}
  if( k==pWInfo->nLevel ) return 0;
  return k==0 || (pWInfo->a[k].pWLoop->wsFlags & WHERE_ONEROW)!=0;
}

/*
** The planner thinks that the loops of pWInfo cost nCost, without statistics.
** Returns what it would think if it knew the rows of the outermost loop, as far
** as can be told now.  A table of a page or two is seen to be small, literals
** may lead to many entries of an index, and rowids be close to each other.
*/
static LogEst hpChoiceCorrect(const WhereInfo *pWInfo, LogEst nCost){
  Parse *pParse = pWInfo->pParse;
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  const Table *pTab = pWInfo->pTabList->a[pWInfo->a[0].iFrom].pSTab;
  int iDb = sqlite3SchemaToIndex(pParse->db, pTab->pSchema);
  Btree *pBtree = pParse->db->aDb[iDb].pBt;
  Pgno iChild = 0;
  LogEst nRow = pLoop->nOut;
  assert( nCost==hpChoiceCost(pWInfo) );
  if( (pTab->tabFlags & TF_HasStat1)!=0 || pLoop->nSkip!=0 || pBtree==0 ){
    return nCost;
  }
  if( pLoop->nLTerm==0 && HasRowid(pTab) ){
    int n;
    sqlite3BtreeEnter(pBtree);
    n = hpWorthChildren(pBtree->pBt, pTab->tnum, 0, &iChild);
    if( n>0 && hpWorthChildren(pBtree->pBt, iChild, 0, &iChild)!=0 ) n = -1;
    sqlite3BtreeLeave(pBtree);
    if( n>=0 ){
      nRow -= pTab->nRowLogEst - sqlite3LogEst((u64)MAX(1, n)*HP_LEAF_ROWS);
    }
  }else if( hpChoiceRowids(pLoop)<HP_MIN_ROWIDS ){
    nRow = MIN(nRow, sqlite3LogEst((u64)hpChoiceRowids(pLoop)));
  }else if( pLoop->nLTerm>0 && (pLoop->wsFlags & WHERE_INDEXED)!=0
         && nRow<HP_MIN_OUT && nCost-nRow+HP_MIN_OUT>=HP_MIN_COST
             && hpChoiceLiterals(pLoop)
         && hpRangeSearchMayBeLarge(pParse, pLoop->u.btree.pIndex, pLoop)
  ){
    nRow = HP_MIN_OUT;
  }
  return nCost + nRow - pLoop->nOut;
}

/*
** May another table of join pWInfo be scanned than that of the outermost loop?
** Then rows come in another order: stock must sort for GROUP BY, if there is
** one.  Whether that pays depends on the cost of SQLite's loops.  Returns what
** the planner thinks, or 0 if that is not worth it.
**
** Without statistics that says little: *pbGuess is set.  Then stock's loops
** begin when the join runs, and are given up if they take long (hp_race.c).  So
** all that has to be seen here is whether they may be that long.
**
** PRAGMA optimize leaves tables without an index out if they are large.  Of
** these statistics would say no more than the number of rows, which is nothing
** to a search for one row, and which the gate knows when the join runs if it is
** the outermost loop that scans them.
*/
static LogEst hpChoiceAny(const WhereInfo *pWInfo, int nGroupBy, u8 *pbGuess){
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
    if( !hpChoiceIsKnown(pWInfo, i) ) *pbGuess = 1;
  }
  nCost = hpChoiceCost(pWInfo);
  if( bForce ) return MAX(1, nCost);
  if( *pbGuess && !hpWorthWasLong(pWInfo->pParse->pReprepare) ){
    if( hpChoiceCorrect(pWInfo, nCost)<HP_MIN_COST ){
      hpCompileLong(pWInfo->pParse);
      return 0;
    }
    nCost = MAX(nCost, HP_MIN_COST);
  }
  return nCost>=HP_MIN_COST || *pbGuess ? MAX(1, nCost) : 0;
}

/* All of pItem may be scanned, in whatever order */
static void hpChoiceWhole(SrcItem *pItem){
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
static int hpChoiceIsPlain(const WhereLoop *pLoop){
  const u32 mNot = WHERE_AUTO_INDEX|WHERE_BLOOMFILTER|WHERE_MULTI_OR
                 | WHERE_VIRTUALTABLE;
  return (pLoop->wsFlags & mNot)==0
      && (pLoop->wsFlags & (WHERE_IPK|WHERE_IDX_ONLY))!=0;
}

/* The one term of the WHERE clause by which pLoop finds rows, or NULL */
static const Expr *hpChoiceAccess(const WhereLoop *pLoop){
  const WhereTerm *pTerm = pLoop->nLTerm==1 ? pLoop->aLTerm[0] : 0;
  assert( pTerm==0 || pTerm->iParent<pTerm->pWC->nTerm );
  /* An equality of two columns is there the other way round, too */
  if( pTerm && pTerm->iParent>=0 ) pTerm = &pTerm->pWC->a[pTerm->iParent];
  return pTerm ? pTerm->pExpr : 0;
}

/*
** Note what hp_lop.c wants to know of the loops of pWInfo.  bRoot: the first
** one can be the scan; what it scans has been noted.  nCost, bGuess: those of
** HpChoice.
*/
static void hpChoiceNote(WhereInfo *pWInfo, int bRoot, LogEst nCost, u8 bGuess){
  SrcList *pSrc = pWInfo->pTabList;
  SrcItem *pFirst = &pSrc->a[pWInfo->a[0].iFrom];
  int i;
  for(i=0; i<pSrc->nSrc; i++){
    if( &pSrc->a[i]!=pFirst || !bRoot ) hpChoiceWhole(&pSrc->a[i]);
    pSrc->a[i].hp.iLevel = pSrc->a[i].hp.iStock = 0;
  }
  for(i=0; i<pWInfo->nLevel; i++){
    SrcItem *pItem = &pSrc->a[pWInfo->a[i].iFrom];
    pItem->hp.iLevel = pItem->hp.iStock = (u8)(i+1);
    pItem->hp.bByRowid = (u8)hpChoiceByRowid(pWInfo, i);
    pItem->hp.bBuild = (pWInfo->a[i].pWLoop->wsFlags & WHERE_AUTO_INDEX)!=0;
    pItem->hp.bPlain = (u8)hpChoiceIsPlain(pWInfo->a[i].pWLoop);
    pItem->hp.pAccess = hpChoiceAccess(pWInfo->a[i].pWLoop);
  }
  /* Levels differ, and that of the outermost loop is 1 */
  assert( pWInfo->nLevel<=pSrc->nSrc && pFirst->hp.iLevel==1 );
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
** Is pWInfo the loop of a correlated sub-select that finds its rows by an
** index, anew for each row around it?  If that takes long all groups may be
** made at once (hp_codefind.c).  Their rows come in the order of rowids.
*/
static int hpChoiceIsFind(const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  const Select *p = pWInfo->pSelect;
  return p!=0 && (p->selFlags & SF_Correlated)!=0 && p->pGroupBy==0
      && pWInfo->pTabList->nSrc==1 && pWInfo->nLevel==1 && pLoop->nLTerm>0
      && (pLoop->wsFlags & (WHERE_ONEROW|WHERE_INDEXED))==WHERE_INDEXED
      && hpChoiceByRowid(pWInfo, 0)
      && pWInfo->pTabList->a[0].fg.isIndexedBy==0;
}

/* For PRAGMA hp_log: how SQLite's outermost loop finds its rows */
static void hpChoiceLog(const WhereInfo *pWInfo){
  const WhereLoop *pLoop = pWInfo->a[0].pWLoop;
  const SrcItem *pItem = &pWInfo->pTabList->a[pWInfo->a[0].iFrom];
  if( pItem->pSTab==0 || pLoop->nLTerm==0 ) return;
  hpConfigLog(pWInfo->pParse->db, "note: SQLite searches %s and expects to "
      "find %llu rows%s", pItem->pSTab->zName, sqlite3LogEstToInt(pLoop->nOut),
      (pItem->pSTab->tabFlags & TF_HasStat1) ? "" : ", without ANALYZE");
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
  if( hpChoiceIsFind(pWInfo) ){
    Parse *pParse = pWInfo->pParse;
    SrcItem *pItem = &pWInfo->pTabList->a[0];
    memset(&pItem->hp, 0, sizeof(pItem->hp));
    pItem->hp.bFind = 1;
    pItem->hp.bUnlikely = !hpWorthWasLong(pParse->pReprepare)
        && hpConfigOffload(pParse->db)!=HP_OFFLOAD_FORCE;
    return iHp;
  }
  bRoot = hpChoiceAccept(pWInfo, nGroupBy);
  nCost = hpChoiceAny(pWInfo, nGroupBy, &bGuess);
  if( !bRoot && nCost==0 ){
    hpChoiceLog(pWInfo);
    return hpConfigStat(pWInfo->pParse->db, HP_NO_PLAN);
  }
  hpChoiceNote(pWInfo, bRoot, nCost, bGuess);
  return iHp;
}
#endif /* SQLITE_OMIT_HP */
