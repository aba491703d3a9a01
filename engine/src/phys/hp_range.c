/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_range: bounds of a scan, from the WHERE clause (prepare time).
**
**    hpRangeCompile()     find the bounds
**    hpRangeSeemsLarge()  do literals say that there is much?
**    hpRangeSearchMayBeLarge()  the same of an index search
**    hpRangeIsOfIndex()   is something known from that index alone?
**    hpRangeSafe()        is no error lost where a scan stands for a search?
**
** Where the planner searches a b-tree instead of scanning it,
**
**    SEARCH t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
**    SEARCH t USING COVERING INDEX i (a=? AND b>?)
**
** the same terms are looked for in the WHERE clause: equality with a constant
** for each of the first columns of the index, bounds for the next one.  All
** of the WHERE clause is also a filter, so a bound may be too wide but never
** too narrow.  It is never too narrow if the term compares as the index is
** sorted: with the same collation, and with an affinity that the column's
** values have already.
**
** The terms are the first filters (HpProg.nRange).  In key order the rows that
** pass them are in one piece.  Where they are not the file is damaged, and
** stock, which looks for the first and stops behind the last, gives other rows:
** hpExprFilter() declines, of the rows of one worker, and hpExprRangeIsWhole()
** of those of all.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What hpRangeTerm() looks for */
typedef struct HpRangeFind HpRangeFind;

struct HpRangeFind {
  HpCompile *pC;
  int iColumn;           /* Column of the table; -1: rowid */
  const char *zColl;     /* Collation of the index; NULL: rowid */
  u8 aff;                /* Affinity of the column */
  u8 bIn;                /* The term may be an IN */
  struct HpEnd aFound[3];  /* Lower bound, upper bound, equality */
  Expr *apTerm[3];       /* The term of each */
};

/*
** pLeft op pRight is true for all rows that matter.  Note what it says about
** the column.
*/
static int hpRangeCompare(
  HpRangeFind *pFind,
  Expr *pExpr,           /* The comparison, or a BETWEEN */
  u8 op,
  Expr *pLeft,
  Expr *pRight
){
  Parse *pParse = pFind->pC->pParse;
  HpProg *pProg = &pFind->pC->pPipe->prog;
  struct HpEnd *pEnd;
  Expr *pCol = sqlite3ExprSkipCollate(pLeft);
  Expr *pConst = pRight;
  CollSeq *pColl;
  int iVec, i;
  u8 aff;
  assert( op==TK_EQ || op==TK_IS || (op>=TK_GT && op<=TK_GE) );
  /* What decides about the partner of a row leaves none out */
  if( ExprHasProperty(pExpr, EP_OuterON) ) return SQLITE_OK;
  if( pCol->op!=TK_COLUMN || pCol->iTable!=pFind->pC->iCur ){
    static const u8 aSwap[] = { TK_LT, TK_GE, TK_GT, TK_LE };
    pCol = sqlite3ExprSkipCollate(pRight);
    pConst = pLeft;
    if( op>=TK_GT && op<=TK_GE ) op = aSwap[op-TK_GT];
    if( pCol->op!=TK_COLUMN || pCol->iTable!=pFind->pC->iCur ) return SQLITE_OK;
  }
  if( ExprHasProperty(pCol, EP_FixedCol) ) return SQLITE_OK;
  if( pCol->iColumn!=pFind->iColumn
   && (pFind->iColumn>=0 || pCol->iColumn!=pFind->pC->pTab->iPKey)
  ){
    return SQLITE_OK;
  }
  if( sqlite3ExprIsVector(pConst) ) return SQLITE_OK;
  if( !sqlite3ExprIsConstant(pParse, pConst) ) return SQLITE_OK;
  aff = binaryCompareP5(pLeft, pRight, 0) & SQLITE_AFF_MASK;
  if( aff>=SQLITE_AFF_NUMERIC ? pFind->aff<SQLITE_AFF_NUMERIC
                              : aff==SQLITE_AFF_TEXT && pFind->aff!=aff ){
    return SQLITE_OK;
  }
  if( pFind->zColl ){
    if( pExpr->op==TK_BETWEEN ){
      pColl = sqlite3BinaryCompareCollSeq(pParse, pLeft, pRight);
    }else{
      pColl = sqlite3ExprCompareCollSeq(pParse, pExpr);
    }
    if( pColl==0 ) pColl = pParse->db->pDfltColl;
    if( sqlite3StrICmp(pColl->zName, pFind->zColl)!=0 ) return SQLITE_OK;
  }
  switch( op ){
    case TK_GT: case TK_GE:  pEnd = &pFind->aFound[0]; break;
    case TK_LT: case TK_LE:  pEnd = &pFind->aFound[1]; break;
    default:                 pEnd = &pFind->aFound[2]; break;
  }
  if( pEnd->iReg || (pEnd==&pFind->aFound[2] && pFind->apTerm[2]) ){
    return SQLITE_OK;
  }
  iVec = hpCompileConst(pFind->pC, pConst);
  if( iVec<0 ) return SQLITE_ERROR;
  for(i=0; pProg->aConst[i].iVec!=iVec; i++){}
  assert( i<pProg->nConst && pProg->aConst[i].iReg>0 );
  pEnd->iReg = pProg->aConst[i].iReg;
  pEnd->aff = aff;
  pFind->apTerm[pEnd - pFind->aFound] = pExpr;
  return SQLITE_OK;
}

/*
** pExpr is a column IN a list.  If it is the column of the index note the term:
** it says what SQLite searches for, but does not bound what we read.
*/
static void hpRangeIn(HpRangeFind *pFind, Expr *pExpr){
  const Expr *pCol = sqlite3ExprSkipCollate(pExpr->pLeft);
  assert( pExpr->op==TK_IN && pFind->bIn );
  /* What decides about the partner of a row leaves none out */
  if( ExprHasProperty(pExpr, EP_OuterON) ) return;
  if( pFind->aFound[2].iReg || pFind->apTerm[2] || !ExprUseXList(pExpr)
   || pExpr->x.pList->nExpr>HP_MX_IN || pCol->op!=TK_COLUMN
   || pCol->iTable!=pFind->pC->iCur || pCol->iColumn!=pFind->iColumn
  ){
    return;
  }
  pFind->aFound[2].aff = (u8)pFind->aff;
  pFind->apTerm[2] = pExpr;
}

/*
** Look at the terms of pWhere that AND connects.
*/
static int hpRangeTerm(HpRangeFind *pFind, Expr *pWhere){
  int rc = SQLITE_OK;
  if( pWhere==0 ) return rc;
  switch( pWhere->op ){
    case TK_AND:
      rc = hpRangeTerm(pFind, pWhere->pLeft);
      if( rc==SQLITE_OK ) rc = hpRangeTerm(pFind, pWhere->pRight);
      break;
    case TK_IN:
      if( pFind->bIn ) hpRangeIn(pFind, pWhere);
      break;
    case TK_EQ: case TK_IS:
    case TK_GT: case TK_LE: case TK_LT: case TK_GE:
      rc = hpRangeCompare(pFind, pWhere, pWhere->op, pWhere->pLeft,
                          pWhere->pRight);
      break;
    case TK_BETWEEN: {
      ExprList *pList = pWhere->x.pList;
      rc = hpRangeCompare(pFind, pWhere, TK_GE, pWhere->pLeft,
                          pList->a[0].pExpr);
      if( rc==SQLITE_OK ){
        rc = hpRangeCompare(pFind, pWhere, TK_LE, pWhere->pLeft,
                            pList->a[1].pExpr);
      }
      break;
    }
  }
  return rc;
}

/*
** Prepare *pFind for column i of index pIdx, or for the rowid.  Returns false
** if it has none of use.
*/
static int hpRangeColumn(HpRangeFind *pFind, HpCompile *pC, const Index *pIdx,
                         int i){
  assert( i>=0 && (pIdx ? pIdx->pTable==pC->pTab : i==0) );
  memset(pFind, 0, sizeof(*pFind));
  pFind->pC = pC;
  pFind->iColumn = -1;
  pFind->aff = SQLITE_AFF_INTEGER;
  if( pIdx ){
    CollSeq *pColl;
    if( i>=pIdx->nKeyCol || pIdx->aiColumn[i]<XN_ROWID ) return 0;
    pFind->iColumn = pIdx->aiColumn[i];
    if( pFind->iColumn>=0 ){
      pFind->aff = pC->pTab->aCol[pFind->iColumn].affinity;
    }
    pFind->zColl = pIdx->azColl[i];
    pColl = sqlite3FindCollSeq(pC->pParse->db, SQLITE_UTF8, pFind->zColl, 0);
    if( pColl==0 || !hpCompileCollOk(pColl, &pColl) ) return 0;
  }
  return 1;
}

/*
** Compile term pTerm, unless it is NULL, as a filter of the range.
*/
static int hpRangeFilter(HpCompile *pC, Expr *pTerm){
  HpProg *pProg = &pC->pPipe->prog;
  int i;
  for(i=0; i<pC->nRangeTerm && pC->apRangeTerm[i]!=pTerm; i++){}
  if( pTerm==0 || i<pC->nRangeTerm ) return SQLITE_OK;
  if( hpCompileExprWhere(pC, pTerm) ) return SQLITE_ERROR;
  assert( pC->nRangeTerm<ArraySize(pC->apRangeTerm) );
  pC->apRangeTerm[pC->nRangeTerm++] = pTerm;
  pProg->nRange = pProg->nFilter;
  return SQLITE_OK;
}

/*
** The filter compiled last is an IN, of a column of the index of p: note the
** values.
*/
static int hpRangeValues(HpCompile *pC, HpRange *p, int iEq){
  const HpProg *pProg = &pC->pPipe->prog;
  const HpOp *pOp;
  int i;
  assert( iEq>=0 && iEq<HP_MX_EQ && p->aEq[iEq].iReg==0 );
  if( pProg->nOp==0 ) return SQLITE_ERROR;
  pOp = &pProg->aOp[pProg->nOp-1];
  if( p->nIn || pOp->eOp!=HP_OP_IN || pOp->n>HP_MX_IN ) return SQLITE_ERROR;
  p->aInReg = hpArenaAlloc(&pC->pPlan->mem, sizeof(int)*HP_MX_IN);
  if( p->aInReg==0 ) return SQLITE_NOMEM;
  for(i=0; i<pProg->nConst; i++){
    const struct HpConst *pConst = &pProg->aConst[i];
    if( pConst->iVec<pOp->b || pConst->iVec>=pOp->b+pOp->n ) continue;
    p->aInReg[p->nIn++] = pConst->iReg;
  }
  if( p->nIn==0 ) return SQLITE_ERROR;
  p->iIn = iEq;
  p->aEq[iEq].iReg = p->aInReg[0];
  return SQLITE_OK;
}

/* Walker callback: stop at a column that the index does not have which
** SQLite searches for u.pSrcItem */
static int hpRangeColumnOf(Walker *pWalker, Expr *pExpr){
  const SrcItem *pItem = pWalker->u.pSrcItem;
  if( pExpr->op!=TK_COLUMN ) return WRC_Continue;
  if( pExpr->iTable==pItem->iCursor
   && (pExpr->iColumn<0 || pExpr->iColumn==pItem->pSTab->iPKey
       || sqlite3TableColumnToIndex(pItem->hp.pSearch, pExpr->iColumn)>=0)
  ){
    pWalker->eCode = 1;
    return WRC_Continue;
  }
  pWalker->eCode = 0;
  return WRC_Abort;
}

/* Are columns of pItem in pExpr, or in pList, all of which the index has
** that SQLite searches? */
static int hpRangeIsOfIndex(SrcItem *pItem, Expr *pExpr, ExprList *pList){
  Walker w;
  assert( pItem->hp.pSearch!=0 && pItem->hp.pSearch->pTable==pItem->pSTab );
  memset(&w, 0, sizeof(w));
  w.xExprCallback = hpRangeColumnOf;
  w.xSelectCallback = sqlite3SelectWalkNoop;
  w.u.pSrcItem = pItem;
  if( sqlite3WalkExpr(&w, pExpr)==WRC_Continue ) sqlite3WalkExprList(&w, pList);
  return w.eCode;
}

/* Does pWhere have a term, besides those of the range, that SQLite tests on
** the entries of the index before it looks rows up? */
static int hpRangeNarrows(const HpCompile *pC, SrcItem *pItem, Expr *pWhere){
  int i;
  if( pWhere==0 ) return 0;
  if( pWhere->op==TK_AND ){
    return hpRangeNarrows(pC, pItem, pWhere->pLeft)
        || hpRangeNarrows(pC, pItem, pWhere->pRight);
  }
  for(i=0; i<pC->nRangeTerm; i++) if( pC->apRangeTerm[i]==pWhere ) return 0;
  return hpRangeIsOfIndex(pItem, pWhere, 0);
}

/*
** If the planner found bounds for pItem find them as well: fill in
** pC->pPipe->source.pRange, and compile the terms as filters.  Called before
** hpCompileExprWhere() with all of the WHERE clause, which leaves these out.
**
** The bounds of an index by which SQLite looks rows up go to HpPlan.pSearch.
*/
static int hpRangeCompile(HpCompile *pC, SrcItem *pItem, Expr *pWhere){
  HpRangeFind find;
  HpRange *p;
  HpSourcePlan *pTo = &pC->pPipe->source;
  Index *pSearch = pItem->hp.pSearch;
  Index *pIdx = pSearch ? pSearch : pC->pIdx;
  int nEq = pItem->hp.nEq;
  int bBound = pItem->hp.bLower || pItem->hp.bUpper;
  int i;
  /* Its terms are the first filters */
  assert( pC->pPipe->prog.nFilter==0 && pC->pPipe->source.pRange==0 );
  /* A scan stands for a search: it is of the table, and of all of it */
  assert( pSearch==0 || (pC->pIdx==0 && pC->pPlan->pSearch==0) );
  if( nEq==0 && !bBound ) return SQLITE_OK;
  if( nEq>HP_MX_EQ ) return SQLITE_ERROR;
  if( pSearch ){
    pC->pPlan->pSearch = pTo = hpCompileAlloc(pC->pPlan, sizeof(*pTo));
    if( pTo==0 ) return SQLITE_NOMEM;
    pTo->iDb = pC->pPipe->source.iDb;
    pTo->iRoot = pSearch->tnum;
    pTo->bIndex = 1;
  }
  pTo->pRange = p = hpArenaAlloc(&pC->pPlan->mem, sizeof(*p));
  if( p==0 ) return SQLITE_NOMEM;
  memset(p, 0, sizeof(*p));
  for(i=0; i<nEq+bBound; i++){
    if( !hpRangeColumn(&find, pC, pIdx, i) ) return SQLITE_ERROR;
    find.bIn = pSearch!=0 && i<nEq;
    if( hpRangeTerm(&find, pWhere) ) return SQLITE_ERROR;
    if( i<nEq ){
      p->aEq[i] = find.aFound[2];
      if( find.apTerm[2]==0 || hpRangeFilter(pC, find.apTerm[2]) ){
        return SQLITE_ERROR;
      }
      if( p->aEq[i].iReg==0 && hpRangeValues(pC, p, i) ) return SQLITE_ERROR;
    }else{
      int bDesc = pIdx && pIdx->aSortOrder[i]==SQLITE_SO_DESC;
      if( pItem->hp.bLower && find.aFound[0].iReg==0 ) return SQLITE_ERROR;
      if( pItem->hp.bUpper && find.aFound[1].iReg==0 ) return SQLITE_ERROR;
      p->aEnd[bDesc] = find.aFound[0];
      p->aEnd[!bDesc] = find.aFound[1];
      if( hpRangeFilter(pC, find.apTerm[0]) ) return SQLITE_ERROR;
      if( hpRangeFilter(pC, find.apTerm[1]) ) return SQLITE_ERROR;
    }
  }
  assert( pC->pPipe->prog.nRange==pC->pPipe->prog.nFilter );
  assert( pIdx!=0 || nEq==0 );
  p->nEq = nEq;
  if( pIdx ){
    p->pKeyInfo = sqlite3KeyInfoOfIndex(pC->pParse, pIdx);
    if( p->pKeyInfo==0 ) return SQLITE_NOMEM;
  }
  if( pSearch ){
    /* In the table they are not in one piece */
    pC->pPipe->prog.nRange = 0;
    pC->pPlan->bNarrow = (u8)hpRangeNarrows(pC, pItem, pWhere);
  }
  return SQLITE_OK;
}

/*
** Point *pEnd to a register of aMem[] that holds its constant, if that is a
** literal.  Returns false if it is not.
*/
static int hpRangeLiteral(
  HpCompile *pC,
  struct HpEnd *pEnd,
  sqlite3_value **apVal, /* Values to free */
  Mem *aMem,
  int *pnMem             /* Registers of aMem[] in use */
){
  const HpProg *pProg = &pC->pPipe->prog;
  int n = *pnMem;
  int i;
  if( pEnd->iReg==0 ) return 1;
  for(i=0; pProg->aConst[i].iReg!=pEnd->iReg; i++){}
  assert( i<pProg->nConst && n>0 && n<HP_MX_EQ+3 );
  if( sqlite3ValueFromExpr(pC->pParse->db, pProg->aConst[i].pExpr, SQLITE_UTF8,
                           SQLITE_AFF_BLOB, &apVal[n])
   || apVal[n]==0
  ){
    return 0;
  }
  aMem[n] = *(Mem*)apVal[n];
  pEnd->iReg = n;
  *pnMem = n+1;
  return 1;
}

/*
** The search of index pItem->hp.pVia by which SQLite looks rows up has been
** compiled: its terms are the first filters of pC.  See hpRangeSafe().
** *pbOther: there was a term that needs the row.
*/
static int hpRangeSearched(
  const HpCompile *pC,
  const SrcItem *pItem,
  Expr *p,
  int *pbOther
){
  int i;
  if( p==0 ) return 1;
  if( p->op==TK_AND ){
    return hpRangeSearched(pC, pItem, p->pLeft, pbOther)
        && hpRangeSearched(pC, pItem, p->pRight, pbOther);
  }
  assert( pItem->hp.pVia->pTable==pItem->pSTab );
  for(i=0; i<pC->nRangeTerm; i++) if( pC->apRangeTerm[i]==p ) return 1;
  if( !sqlite3ExprCoveredByIndex(p, pItem->iCursor, pItem->hp.pVia) ){
    *pbOther = 1;
    return 1;
  }
  return *pbOther==0
      || hpSafe(pC->pParse, p, 0, HP_SAFE_KNOWN|HP_SAFE_OPEN);
}

/*
** SQLite looks up the rows of pItem by an index, and a scan of the table is to
** stand for that.  SQLite tests the terms of pWhere that need only what the
** index has before the others; we test all of them in their order, behind the
** bounds.  True if each term that may fail is tested for all rows that SQLite
** tests it for.
*/
static int hpRangeSafe(
  const HpCompile *pC,
  const SrcItem *pItem,
  Expr *pWhere
){
  int bOther = 0;
  /* hpRangeCompile() has been called */
  assert( pItem->hp.pSearch==0 || pC->nRangeTerm>0 );
  return pItem->hp.pVia==0 || hpRangeSearched(pC, pItem, pWhere, &bOther);
}

/*
** The range has been compiled.  Do literals and the page cache say that it is
** large?
*/
static int hpRangeSeemsLarge(HpCompile *pC){
  sqlite3 *db = pC->pParse->db;
  const HpSourcePlan *pPlan = &pC->pPipe->source;
  sqlite3_value *apVal[HP_MX_EQ+3];
  Mem aMem[HP_MX_EQ+3];
  HpSourcePlan plan;
  HpRange range;
  int nMem = 1;          /* Register 0 means none */
  int bLarge = pPlan->pRange!=0;
  int i;
  if( !bLarge ) return 0;
  memset(apVal, 0, sizeof(apVal));
  range = *pPlan->pRange;
  for(i=0; bLarge && i<range.nEq; i++){
    bLarge = hpRangeLiteral(pC, &range.aEq[i], apVal, aMem, &nMem);
  }
  for(i=0; bLarge && i<2; i++){
    bLarge = hpRangeLiteral(pC, &range.aEnd[i], apVal, aMem, &nMem);
  }
  if( bLarge ){
    assert( nMem<=ArraySize(aMem) );
    memset(&plan, 0, sizeof(plan));
    plan.iDb = pPlan->iDb;
    plan.iRoot = pPlan->iRoot;
    plan.bIndex = pPlan->bIndex;
    plan.pRange = &range;
    plan.bCached = 1;
    sqlite3BtreeEnter(db->aDb[plan.iDb].pBt);
    bLarge = hpSizeRangeSeemsLarge(db, &plan, aMem);
    sqlite3BtreeLeave(db->aDb[plan.iDb].pBt);
  }
  for(i=0; i<ArraySize(apVal); i++) sqlite3ValueFree(apVal[i]);
  return bLarge;
}

/*
** SQLite searches pIdx, as pLoop says, for literals, and looks rows up.  May
** they be so many that a scan of the table is better, as far as the pages in
** the cache tell?  Nothing has been compiled: most searches are for few rows.
*/
static int hpRangeSearchMayBeLarge(Parse *pParse, Index *pIdx,
                                   const WhereLoop *pLoop){
  sqlite3 *db = pParse->db;
  sqlite3_value *apVal[HP_MX_EQ+2];
  Mem aMem[HP_MX_EQ+3];  /* Register 0 means none */
  HpSourcePlan plan;
  HpRange range;
  int nEq = pLoop->u.btree.nEq;
  int bLarge = 1;
  int i;
  assert( pLoop->u.btree.pIndex==pIdx && (pLoop->wsFlags & WHERE_INDEXED)!=0 );
  /* An application's collation is not to be called now: hpRangeColumn()
  ** refuses it later on */
  for(i=0; i<=nEq && i<pIdx->nKeyCol; i++){
    CollSeq *pColl = sqlite3FindCollSeq(db, SQLITE_UTF8, pIdx->azColl[i], 0);
    if( pColl==0 || !hpCompileCollOk(pColl, &pColl) ) return 1;
  }
  if( nEq>HP_MX_EQ || pLoop->nLTerm>nEq+2 || pLoop->u.btree.nBtm>1
   || pLoop->u.btree.nTop>1
  ){
    return 1;
  }
  memset(apVal, 0, sizeof(apVal));
  memset(&plan, 0, sizeof(plan));
  memset(&range, 0, sizeof(range));
  range.nEq = nEq;
  for(i=0; i<pLoop->nLTerm; i++){
    const Expr *pTerm = pLoop->aLTerm[i]->pExpr;
    int iCol = MIN(i, nEq);
    int bLast = i>nEq || (i==nEq && (pLoop->wsFlags & WHERE_BTM_LIMIT)==0);
    int bDesc = pIdx->aSortOrder[iCol]==SQLITE_SO_DESC;
    struct HpEnd *pEnd = i<nEq ? &range.aEq[i] : &range.aEnd[bLast!=bDesc];
    Expr *pVal = pTerm->pRight;
    if( pTerm->op==TK_IN ){
      pVal = pTerm->x.pList->a[0].pExpr;
      range.nIn = pTerm->x.pList->nExpr;
    }
    pEnd->iReg = i+1;
    pEnd->aff = (u8)sqlite3TableColumnAffinity(pIdx->pTable,
                                               pIdx->aiColumn[iCol]);
    if( sqlite3ValueFromExpr(db, pVal, SQLITE_UTF8, pEnd->aff, &apVal[i])
     || apVal[i]==0
    ){
      break;
    }
    aMem[i+1] = *(Mem*)apVal[i];
  }
  if( i==pLoop->nLTerm
   && (range.pKeyInfo = sqlite3KeyInfoOfIndex(pParse, pIdx))!=0
  ){
    plan.iDb = sqlite3SchemaToIndex(db, pIdx->pSchema);
    plan.iRoot = pIdx->tnum;
    plan.bIndex = 1;
    plan.pRange = &range;
    plan.bCached = 1;
    sqlite3BtreeEnter(db->aDb[plan.iDb].pBt);
    bLarge = hpSizeSearchMayBeLarge(db, &plan, aMem, HP_MIN_SEARCH);
    sqlite3BtreeLeave(db->aDb[plan.iDb].pBt);
  }
  hpBoundsFree(&range);
  for(i=0; i<ArraySize(apVal); i++) sqlite3ValueFree(apVal[i]);
  return bLarge;
}
#endif /* SQLITE_OMIT_HP */
