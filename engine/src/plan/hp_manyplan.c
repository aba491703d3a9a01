/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_manyplan: a LEFT JOIN to many rows (prepare time).
**
**    hpManyPlan()     may its rows be grouped before they are joined?
**
** A join is a tree of look-ups by unique keys (hp_graph.c).  One LEFT JOIN may do without if
** the query shows nothing of its table but what aggregates come to:
**
**    SELECT c_name, count(o_orderkey) FROM customer LEFT JOIN orders ON o_custkey=c_custkey
**     GROUP BY c_custkey
**
** Then the table is grouped by its side of the ON clause, as that of a correlated
** sub-select is (hp_subplan.c), and the groups are a relation that each row of customer
** looks up (HpGraph.iMany).  A row without partner has a row of NULLs: a count of 0, but
** count(*) is 1.
**
** Each group of the query then has as many of these values as rows of the root.  Counts are
** added up, and min and max taken again.  sum, total and avg need groups of one such row.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Is there a value in the row of NULLs that a LEFT JOIN adds, for pExpr?  Not if it is
** a column, or what arithmetic makes of one. */
static int hpManyHasValue(const Expr *pExpr){
  switch( pExpr->op ){
    case TK_COLUMN: case TK_AGG_COLUMN:
      return ExprHasProperty(pExpr, EP_FixedCol);
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_REM:
    case TK_CONCAT: case TK_BITAND: case TK_BITOR: case TK_LSHIFT: case TK_RSHIFT:
      return hpManyHasValue(pExpr->pLeft) && hpManyHasValue(pExpr->pRight);
    case TK_UMINUS: case TK_UPLUS: case TK_BITNOT: case TK_CAST: case TK_COLLATE:
      return hpManyHasValue(pExpr->pLeft);
  }
  return 1;
}

/*
** May aggregate function pF be computed of the many rows for each of their keys, and
** then of these, where each of them has a row of NULLs if there is none?  bOne: groups
** have one such key.
*/
static int hpManyMayPart(
  const HpGraph *p,
  const struct AggInfo_func *pF,
  int bOne
){
  void (*xStep)(sqlite3_context*,int,sqlite3_value**) = pF->pFunc->xSFunc;
  const ExprList *pList = pF->pFExpr->x.pList;
  int bFilter = ExprHasProperty(pF->pFExpr, EP_WinFunc);
  Bitmask m;
  assert( !bFilter || pF->pFExpr->y.pWin->pFilter!=0 );
  if( pF->iDistinct>=0 || pF->iOBTab>=0 ) return 0;
  if( xStep!=countStep && xStep!=minmaxStep && (xStep!=sumStep || !bOne) ) return 0;
  if( bFilter && (!hpGraphMask(p, pF->pFExpr->y.pWin->pFilter, &m)
                  || (m & ~MASKBIT(p->iMany))!=0) ){
    return 0;
  }
  if( pList==0 || pList->nExpr==0 ) return xStep==countStep && !bFilter;
  return pList->nExpr==1 && hpGraphMask(p, pList->a[0].pExpr, &m) && m==MASKBIT(p->iMany)
      && !hpManyHasValue(pList->a[0].pExpr);
}

/* Does one of pList, which may be NULL, name the many rows, or something unknown? */
static int hpManyNames(const HpGraph *p, const ExprList *pList){
  Bitmask m;
  int k;
  for(k=0; pList && k<pList->nExpr; k++){
    if( !hpGraphMask(p, pList->a[k].pExpr, &m) || (m & MASKBIT(p->iMany)) ) return 1;
  }
  return 0;
}

/*
** p has a LEFT JOIN to many rows.  Are the aggregates of the query, pAggInfo, all about
** these, and is nothing else?  Then they are those of its groups.
*/
static int hpManyPlan(HpGraph *p, AggInfo *pAggInfo, const ExprList *pGroupBy){
  HpNode *pNode = &p->aNode[p->iMany];
  int bOne = hpGraphOneRow(p, pGroupBy);
  int k;
  assert( p->iMany>=0 && p->iMany<p->nNode && hpNodeIsMany(pNode) );
  assert( pNode->pAggInfo==0 && pNode->iTwin<0 && pNode->nKey>0 );
  if( pAggInfo->nFunc==0 || hpManyNames(p, pGroupBy) ) return 0;
  for(k=0; k<pAggInfo->nFunc; k++){
    if( !hpManyMayPart(p, &pAggInfo->aFunc[k], bOne) ) return 0;
  }
  for(k=0; k<pAggInfo->nAccumulator; k++){
    if( pAggInfo->aCol[k].iTable==pNode->pItem->iCursor ) return 0;
  }
  pNode->pAggInfo = pAggInfo;
  pNode->nAgg = pAggInfo->nFunc;
  return 1;
}
#endif /* SQLITE_OMIT_HP */
