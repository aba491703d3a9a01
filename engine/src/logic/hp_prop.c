/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_prop: properties of the rows of a join (prepare time).
**
**    hpPropIsRowid()    is an expression the rowid of a table?
**    hpPropOneRow()     has each group one row of the driving table?
**    hpPropGiven()      of which inputs has each group one row?
**    hpPropMaySearch()  might SQLite search an index of an input?
**    hpPropFilters()    does anything leave out rows of an input?
**
** Each is computed from keys and terms, not from sizes.  They say whether rows
** may be read in another order, whether columns are the same in all rows of a
** group, and whether a look-up is worth being made first.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Might SQLite search an index for rows of input i, a sub-select, or find them
** by rowid? Only if a term of its WHERE clause is about the first column of
** that; and its code may say that it does not.
*/
static int hpPropMaySearch(const HpJoin *p, int i){
  const Table *pTab = p->aIn[i].pItem->pSTab;
  const Index *pIdx;
  HpEdge edge;
  int iColumn, k;
  assert( p->aIn[i].eJoin!=HP_JOIN_NONE && p->aIn[i].nKey>0 );
  if( p->aIn[i].pItem->hp.bWhole ) return 0;
  for(k=0; k<p->nTerm; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    if( (pTerm->m & MASKBIT(i))==0 ) continue;
    if( hpInputIsSub(&p->aIn[i]) && pTerm->iOuter!=i ) continue;
    if( !hpTermCompare(p, pTerm, i, -2, &edge) ){
      if( pTab->pIndex ) return 1;
      continue;
    }
    iColumn = sqlite3ExprSkipCollate(edge.pOwn)->iColumn;
    if( iColumn<0 || iColumn==pTab->iPKey ) return 1;
    for(pIdx=pTab->pIndex; pIdx; pIdx=pIdx->pNext){
      if( pIdx->aiColumn[0]<-1 || pIdx->aiColumn[0]==iColumn ) return 1;
    }
  }
  return 0;
}

/*
** Is any row of input i left out, by its own terms or by inputs that it looks
** up?
*/
static int hpPropFilters(const HpJoin *p, int i){
  int k;
  if( p->aIn[i].eJoin==HP_JOIN_SEMI ) return 1;
  for(k=0; k<p->nTerm; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    if( pTerm->m==MASKBIT(i) && pTerm->iOuter<0 && !pTerm->bKey ) return 1;
  }
  for(k=0; k<p->nIn; k++){
    if( k!=i && k!=p->iRoot && p->aIn[k].iHome==i
     && (p->aIn[k].eJoin==HP_JOIN_INNER || p->aIn[k].eJoin==HP_JOIN_SEMI)
     && hpPropFilters(p, k)
    ){
      return 1;
    }
  }
  return 0;
}

/* Is pExpr the rowid of pItem? */
static int hpPropIsRowid(const SrcItem *pItem, const Expr *pExpr){
  return (pExpr->op==TK_COLUMN || pExpr->op==TK_AGG_COLUMN)
      && pExpr->iTable==pItem->iCursor && HasRowid(pItem->pSTab)
      && (pExpr->iColumn<0 || pExpr->iColumn==pItem->pSTab->iPKey);
}

/* Is column iColumn of the root one of pGroupBy, where values differ that
** differ under collation zColl? */
static int hpPropHasColumn(
  const HpJoin *p,
  const ExprList *pGroupBy,
  int iColumn,
  const char *zColl
){
  int iCursor = p->aIn[p->iRoot].pItem->iCursor;
  int i;
  for(i=0; i<pGroupBy->nExpr; i++){
    const Expr *pTerm = pGroupBy->a[i].pExpr;
    const Expr *pExpr = sqlite3ExprSkipCollate((Expr*)pTerm);
    CollSeq *pColl = sqlite3ExprNNCollSeq(p->pParse, pTerm);
    if( (pExpr->op==TK_COLUMN || pExpr->op==TK_AGG_COLUMN)
     && pExpr->iTable==iCursor && pExpr->iColumn==iColumn && pColl
     && (sqlite3IsBinary(pColl) || sqlite3StrICmp(pColl->zName, zColl)==0)
    ){
      return 1;
    }
  }
  return 0;
}

/*
** Does each group of pGroupBy, which may be NULL, have one row of the root?
*/
static int hpPropOneRow(const HpJoin *p, const ExprList *pGroupBy){
  const SrcItem *pRoot = p->aIn[p->iRoot].pItem;
  const Table *pTab = pRoot->pSTab;
  const Index *pIdx;
  int i;
  for(i=0; pGroupBy && i<pGroupBy->nExpr; i++){
    if( hpPropIsRowid(pRoot, sqlite3ExprSkipCollate(pGroupBy->a[i].pExpr)) ){
      return 1;
    }
  }
  for(pIdx=pTab->pIndex; pGroupBy && pIdx; pIdx=pIdx->pNext){
    if( !IsUniqueIndex(pIdx) || pIdx->pPartIdxWhere || pIdx->bHasExpr ){
      continue;
    }
    for(i=0; i<pIdx->nKeyCol; i++){
      int iColumn = pIdx->aiColumn[i];
      if( iColumn<0 || pTab->aCol[iColumn].notNull==0 ) break;
      if( !hpPropHasColumn(p, pGroupBy, iColumn, pIdx->azColl[i]) ) break;
    }
    if( i==pIdx->nKeyCol ) return 1;
  }
  return 0;
}

/*
** Rows of a group have one row of each input of m, and equal values of pExpr
** under pColl.  Returns all inputs of which they have one row.
*/
static Bitmask hpPropGiven(
  const HpJoin *p,
  Bitmask m,
  const Expr *pExpr,
  CollSeq *pColl
){
  Bitmask mOld;
  int i, k;
  if( hpPropIsRowid(p->aIn[p->iRoot].pItem, pExpr) ) m |= MASKBIT(p->iRoot);
  for(i=0; i<p->nIn; i++){
    const HpEdge *pEdge = &p->aIn[i].aKey[0];
    if( p->aIn[i].eJoin!=HP_JOIN_INNER || p->aIn[i].nKey!=1 ) continue;
    if( !hpTermSame(pExpr, pEdge->pOwn) && !hpTermSame(pExpr, pEdge->pOther) ){
      continue;
    }
    /* 3 and 3.0 are equal, but not as texts */
    if( pEdge->aff==SQLITE_AFF_TEXT
     && sqlite3ExprAffinity(pExpr)!=SQLITE_AFF_TEXT
    ){
      continue;
    }
    if( sqlite3IsBinary(pColl) || pColl==pEdge->pColl ) m |= MASKBIT(i);
  }
  do{
    mOld = m;
    for(i=0; i<p->nIn; i++){
      Bitmask mKey = 0;
      if( p->aIn[i].eJoin!=HP_JOIN_INNER ) continue;
      for(k=0; k<p->aIn[i].nKey; k++) mKey |= p->aIn[i].aKey[k].m;
      if( (mKey & ~m)==0 && mKey ) m |= MASKBIT(i);
    }
  }while( m!=mOld );
  assert( (m>>p->nIn)==0 );
  return m;
}
#endif /* SQLITE_OMIT_HP */
