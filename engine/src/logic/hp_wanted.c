/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_wanted: rule: which rows a query wants of a window (prepare time).
**
**    sqlite3HpWanted()  what the query around says of row_number(), rank() or
**                       dense_rank() of a sub-select
**
** hp_outsort.c makes a plan of it.  hp_partition.c says what is done at run
** time, and begins with the SQL.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** If pExpr is a column of the FROM clause term pItem, a SELECT with a window
** that numbers rows, return HP_NUMBER_xxx: how.  Else 0.
*/
static u8 hpWantedColumn(const SrcItem *pItem, const Expr *pExpr){
  const Select *pSub = pItem->u4.pSubq->pSelect;
  const Expr *pFunc;
  const Window *pWin;
  assert( pItem->fg.isSubquery && pSub!=0 );
  if( pExpr==0 || pExpr->op!=TK_COLUMN || pExpr->iTable!=pItem->iCursor ){
    return 0;
  }
  if( pExpr->iColumn<0 || pExpr->iColumn>=pSub->pEList->nExpr ) return 0;
  if( sqlite3ExprAffinity(pExpr)==SQLITE_AFF_TEXT ) return 0;
  pFunc = pSub->pEList->a[pExpr->iColumn].pExpr;
  if( pFunc->op!=TK_FUNCTION || !ExprHasProperty(pFunc, EP_WinFunc) ) return 0;
  for(pWin=pSub->pWin; pWin && pWin!=pFunc->y.pWin; pWin=pWin->pNextWin){}
  return pWin ? hpSafeNumber(pFunc) : 0;
}

/*
** If term pTerm of WHERE bounds the number of rows of pItem from above fill in
** *p and return true.
*/
static int hpWantedTerm(const SrcItem *pItem, const Expr *pTerm,
                           HpWanted *p){
  const Expr *pNumber = pTerm->pLeft;
  Expr *pLimit = pTerm->pRight;
  int i, n;
  if( ExprHasProperty(pTerm, EP_OuterON) ) return 0;
  memset(p, 0, sizeof(*p));
  switch( pTerm->op ){
    case TK_EQ: case TK_IS:
      if( hpWantedColumn(pItem, pNumber)==0 ){
        pNumber = pTerm->pRight;
        pLimit = pTerm->pLeft;
      }
      break;
    case TK_LT:
      p->nLimit = -1;
      break;
    case TK_LE:
      break;
    case TK_GT:
      p->nLimit = -1;
      /* no break */ deliberate_fall_through
    case TK_GE:
      pNumber = pTerm->pRight;
      pLimit = pTerm->pLeft;
      break;
    case TK_BETWEEN:
      pLimit = pTerm->x.pList->a[1].pExpr;
      break;
    case TK_IN:
      if( !ExprUseXList(pTerm) || pTerm->x.pList==0 ) return 0;
      p->eNumber = hpWantedColumn(pItem, pNumber);
      for(i=0; i<pTerm->x.pList->nExpr && p->eNumber; i++){
        if( !sqlite3ExprIsInteger(pTerm->x.pList->a[i].pExpr, &n, 0, 0) ){
          return 0;
        }
        p->nLimit = MAX(p->nLimit, n);
      }
      return p->eNumber!=0;
    default:
      return 0;
  }
  p->eNumber = hpWantedColumn(pItem, pNumber);
  if( p->eNumber==0 ) return 0;
  assert( pLimit!=0 && pLimit!=pNumber && (p->nLimit==0 || p->nLimit==-1) );
  if( sqlite3ExprIsInteger(pLimit, &n, 0, 0) ){
    p->nLimit = n>0 ? n+p->nLimit : 0;
    return 1;
  }
  p->pLimit = pLimit;
  return pLimit->op==TK_VARIABLE;
}

/*
** The same for a WHERE clause: some term of it.
*/
static int hpWantedWhere(const SrcItem *pItem, const Expr *pWhere,
                            HpWanted *p){
  while( pWhere->op==TK_AND ){
    if( hpWantedWhere(pItem, pWhere->pRight, p) ) return 1;
    pWhere = pWhere->pLeft;
  }
  return hpWantedTerm(pItem, pWhere, p);
}

/*
** Query p is about to code the subquery of term iFrom of its FROM clause.  If
** the subquery has a window, or p has and the subquery sorts the rows for it,
** leave a note there which rows are wanted.
*/
SQLITE_PRIVATE void sqlite3HpWanted(Parse *pParse, Select *p, int iFrom){
  SrcItem *pItem = &p->pSrc->a[iFrom];
  Select *pSub = pItem->u4.pSubq->pSelect;
  HpWanted x;
  HpWanted *pNew;
  int i;
  assert( iFrom>=0 && iFrom<p->pSrc->nSrc && pItem->fg.isSubquery );
  if( p->pWin ){
    if( p->pHp==0 ) return;
    if( pSub->pWin
     && (sqlite3ExprListCompare(pSub->pWin->pPartition, p->pWin->pPartition, -1)
         || sqlite3ExprListCompare(pSub->pWin->pOrderBy, p->pWin->pOrderBy, -1))
    ){
      return;
    }
    pSub->pHp = p->pHp;
    return;
  }
  if( pSub->pWin==0 || p->pWhere==0 ) return;
  if( pSub->pPrior || pSub->pLimit || (pSub->selFlags & SF_Aggregate) ) return;
  if( pItem->fg.jointype & (JT_LEFT|JT_RIGHT|JT_LTORJ) ) return;
  if( pItem->fg.isCte
   && (pItem->u2.pCteUse->eM10d==M10d_Yes || pItem->u2.pCteUse->nUse>=2)
  ){
    return;              /* Somebody else may read it */
  }
  if( isSelfJoinView(p->pSrc, pItem, 0, iFrom)
   || isSelfJoinView(p->pSrc, pItem, iFrom+1, p->pSrc->nSrc)
  ){
    return;              /* Likewise */
  }
  for(i=0; i<p->pSrc->nSrc; i++){
    if( p->pSrc->a[i].fg.isTabFunc ) return;
  }
  if( !hpWantedWhere(pItem, p->pWhere, &x) ) return;
  if( x.eNumber!=HP_NUMBER_ROWS && pSub->pWin->pOrderBy==0 ) return;
  if( !hpSafe(pParse, p->pWhere, pSub->pEList, 0)
   || !hpSafe(pParse, 0, pSub->pOrderBy, 0)
  ){
    return;
  }
  pNew = sqlite3DbMallocRaw(pParse->db, sizeof(*pNew));
  if( pNew==0 ) return;
  if( pSub->pWin->pPartition ) x.nPart = pSub->pWin->pPartition->nExpr;
  *pNew = x;
  sqlite3ParserAddCleanup(pParse, sqlite3DbFree, pNew);
  if( pParse->nErr==0 ) pSub->pHp = pNew;
}
#endif /* SQLITE_OMIT_HP */
