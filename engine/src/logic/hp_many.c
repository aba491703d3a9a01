/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_many: rule: the rows of a LEFT JOIN to many are grouped first (prepare
** time).
**
**    hpManyFind()     the input that no unique key leads to
**    hpManyGroups()   are the aggregates of the query all about its rows?
**
** A join reaches its inputs by unique keys (hp_inputkey.c).  One LEFT JOIN may
** do without if the query shows nothing of its table but aggregates:
**
**    SELECT c_name, count(o_orderkey) FROM customer
**      LEFT JOIN orders ON o_custkey=c_custkey GROUP BY c_custkey
**
** Then the table is grouped by its side of the ON clause, as that of a
** correlated sub-select is (hp_subselect.c), and the groups are a hash table
** that each row of customer looks up (HpJoin.iMany).  A row without partner has
** a row of NULLs: a count of 0, but count(*) is 1.
**
** Each group of the query then has as many of these values as rows of the
** driving table.  Counts are added up, and min and max taken again.  sum, total
** and avg need groups of one such row.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** If a LEFT JOIN has no unique key, and no terms but those of its ON clause are
** about its table, let that be groups.
*/
static void hpManyFind(HpJoin *p){
  int i, k;
  assert( p->iMany<0 && !p->bPart );
  for(i=0; i<p->nIn; i++){
    if( (p->mDone & MASKBIT(i))==0 && p->aIn[i].eJoin==HP_JOIN_LEFT ) break;
  }
  if( i==p->nIn ) return;
  for(k=0; k<p->nTerm; k++){
    if( (p->aTerm[k].m & MASKBIT(i)) && p->aTerm[k].iOuter!=i ) return;
  }
  p->iMany = i;
  p->aIn[i].eJoin = HP_JOIN_SINGLE;
}

/* Is there a value in the row of NULLs that a LEFT JOIN adds, for pExpr?
** Not if it is a column, or what arithmetic makes of one. */
static int hpManyHasValue(const Expr *pExpr){
  switch( pExpr->op ){
    case TK_COLUMN: case TK_AGG_COLUMN:
      return ExprHasProperty(pExpr, EP_FixedCol);
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_REM:
    case TK_CONCAT: case TK_BITAND: case TK_BITOR: case TK_LSHIFT:
    case TK_RSHIFT:
      return hpManyHasValue(pExpr->pLeft) && hpManyHasValue(pExpr->pRight);
    case TK_UMINUS: case TK_UPLUS: case TK_BITNOT: case TK_CAST:
    case TK_COLLATE:
      return hpManyHasValue(pExpr->pLeft);
  }
  return 1;
}

/*
** May aggregate function pF be computed of the many rows for each of their
** keys, and then of these, where each of them has a row of NULLs if there is
** none?  bOne: groups have one such key.
*/
static int hpManyMayPart(
  const HpJoin *p,
  const struct AggInfo_func *pF,
  int bOne
){
  void (*xStep)(sqlite3_context*,int,sqlite3_value**) = pF->pFunc->xSFunc;
  const ExprList *pList = pF->pFExpr->x.pList;
  int bFilter = ExprHasProperty(pF->pFExpr, EP_WinFunc);
  Bitmask m;
  assert( !bFilter || pF->pFExpr->y.pWin->pFilter!=0 );
  if( pF->iDistinct>=0 || pF->iOBTab>=0 ) return 0;
  if( xStep!=countStep && xStep!=minmaxStep && (xStep!=sumStep || !bOne) ){
    return 0;
  }
  if( bFilter && (!hpTermMask(p, pF->pFExpr->y.pWin->pFilter, &m)
                  || (m & ~MASKBIT(p->iMany))!=0) ){
    return 0;
  }
  if( pList==0 || pList->nExpr==0 ) return xStep==countStep && !bFilter;
  return pList->nExpr==1 && hpTermMask(p, pList->a[0].pExpr, &m)
      && m==MASKBIT(p->iMany)
      && !hpManyHasValue(pList->a[0].pExpr);
}

/* Does one of pList, which may be NULL, name the many rows, or something
** unknown? */
static int hpManyNames(const HpJoin *p, const ExprList *pList){
  Bitmask m;
  int k;
  for(k=0; pList && k<pList->nExpr; k++){
    if( !hpTermMask(p, pList->a[k].pExpr, &m) || (m & MASKBIT(p->iMany)) ){
      return 1;
    }
  }
  return 0;
}

/*
** p has a LEFT JOIN to many rows.  Are the aggregates of the query, pAggInfo,
** all about these, and is nothing else?  Then they are those of its groups.
*/
static int hpManyGroups(HpJoin *p, AggInfo *pAggInfo, const ExprList *pGroupBy){
  HpInput *pInput = &p->aIn[p->iMany];
  int bOne = hpPropOneRow(p, pGroupBy);
  int k;
  assert( p->iMany>=0 && p->iMany<p->nIn && hpInputIsMany(pInput) );
  assert( pInput->pAggInfo==0 && pInput->iTwin<0 && pInput->nKey>0 );
  if( pAggInfo->nFunc==0 || hpManyNames(p, pGroupBy) ) return 0;
  for(k=0; k<pAggInfo->nFunc; k++){
    if( !hpManyMayPart(p, &pAggInfo->aFunc[k], bOne) ) return 0;
  }
  for(k=0; k<pAggInfo->nAccumulator; k++){
    if( pAggInfo->aCol[k].iTable==pInput->pItem->iCursor ) return 0;
  }
  pInput->pAggInfo = pAggInfo;
  pInput->nAgg = pAggInfo->nFunc;
  return 1;
}
#endif /* SQLITE_OMIT_HP */
