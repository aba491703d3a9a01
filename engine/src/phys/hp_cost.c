/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_cost: what an expression costs, and whether to compute it for fewer rows.
**
**    hpCostExpr()     the cost of an expression, for each row
**    hpCostList()     of the items of a list from each one on
**    hpCostIsSide()   is what follows worth a side (hp_side.c)?
**    hpCostAlone()    what it costs where no row needs it
**
** The unit is about what a vector loop takes for one number, half a nanosecond.
** Operations that make text, or call a function, or match a pattern, cost a
** hundred times that.  To begin a side and to put it together costs about eight
** units.  That is what a jump costs SQLite, so nothing is lost to it even if
** all rows need the side.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_COST_DEAR  100    /* Makes text, calls a function, matches a
                             ** pattern */
#define HP_COST_MIXED 40     /* Texts are turned into numbers, types are
                             ** mixed */
#define HP_COST_SIDE  24     /* What is cheaper is computed for all rows */
#define HP_COST_ALONE 4      /* To look whether some row needs a side */
#define HP_COST_MAX   1000000

/* Is pExpr a column whose values need not be numbers? */
static int hpCostIsMixed(const Expr *pExpr){
  pExpr = sqlite3ExprSkipCollate((Expr*)pExpr);
  return pExpr!=0 && (pExpr->op==TK_COLUMN || pExpr->op==TK_AGG_COLUMN)
      && sqlite3ExprAffinity(pExpr)<SQLITE_AFF_NUMERIC;
}

/* Walker callback: add the cost of pExpr without its operands */
static int hpCostCallback(Walker *pWalker, Expr *pExpr){
  int n = 1;
  switch( pExpr->op ){
    case TK_COLUMN: case TK_AGG_COLUMN:
      if( ExprUseYTab(pExpr) && pExpr->y.pTab && pExpr->iColumn>=0
       && (pExpr->y.pTab->aCol[pExpr->iColumn].colFlags & COLFLAG_VIRTUAL)!=0
      ){
        n = HP_COST_DEAR;
      }
      break;
    case TK_INTEGER: case TK_FLOAT: case TK_STRING: case TK_BLOB: case TK_NULL:
    case TK_VARIABLE: case TK_COLLATE: case TK_UPLUS: case TK_TRUEFALSE:
      return WRC_Continue;
    case TK_FUNCTION: case TK_CONCAT: case TK_CAST: case TK_SELECT:
    case TK_EXISTS:
      n = HP_COST_DEAR;
      break;
    case TK_SLASH: case TK_REM:
      n = 4;
      /* no break */ deliberate_fall_through
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_UMINUS:
    case TK_BITAND: case TK_BITOR: case TK_LSHIFT: case TK_RSHIFT:
    case TK_BITNOT:
      if( hpCostIsMixed(pExpr->pLeft) || hpCostIsMixed(pExpr->pRight) ){
        n = HP_COST_MIXED;
      }
      break;
    case TK_EQ: case TK_NE: case TK_LT: case TK_LE: case TK_GT: case TK_GE:
    case TK_IS: case TK_ISNOT:
      n = hpCostIsMixed(pExpr->pLeft) || hpCostIsMixed(pExpr->pRight) ? 6 : 2;
      break;
    case TK_BETWEEN: case TK_CASE: case TK_IN:
      n = 4;
      break;
  }
  pWalker->u.n = MIN(pWalker->u.n+n, HP_COST_MAX);
  return WRC_Continue;
}

/* What pExpr costs */
static int hpCostExpr(Parse *pParse, Expr *pExpr){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.pParse = pParse;
  w.xExprCallback = hpCostCallback;
  w.xSelectCallback = 0;
  sqlite3WalkExpr(&w, pExpr);
  assert( w.u.n>=0 && w.u.n<=HP_COST_MAX );
  return w.u.n;
}

/*
** Set aCost[i] to what items i and later of pList cost, and aCost[n] to 0 for
** one item behind the last.  bCase: they are those of a CASE, whose THEN and
** ELSE have sides for themselves.
*/
static void hpCostList(
  Parse *pParse,
  const ExprList *pList,
  int bCase,
  int *aCost
){
  int i;
  assert( pList->nExpr>0 && (bCase==0 || bCase==1) );
  aCost[pList->nExpr] = 0;
  for(i=pList->nExpr-1; i>=0; i--){
    int n = hpCostExpr(pParse, pList->a[i].pExpr);
    if( bCase && (i%2 || i==pList->nExpr-1) ) n = hpCostAlone(n);
    aCost[i] = MIN(aCost[i+1]+n, HP_COST_MAX);
  }
}

/*
** Of a chain nBefore has been done for more rows, then nDone for those of now,
** and nRest follows, which fewer may need: is it worth it to select these?
**
** Dear operations always are.  Cheap ones come in pieces that double, so that
** a row which is decided early pays no more than what was done for it, twice,
** and one that is decided late not for many selections.
*/
static int hpCostIsSide(int nBefore, int nDone, int nRest){
  assert( nBefore>=0 && nDone>=0 && nRest>=0 );
  return nRest>=HP_COST_SIDE && nDone>=MIN(nBefore, HP_COST_DEAR);
}

/*
** The cost of an expression that has a side for itself where it is dear
*/
static int hpCostAlone(int nCost){
  assert( HP_COST_ALONE<HP_COST_SIDE );    /* It is never dearer than without */
  return hpCostIsSide(0, 0, nCost) ? HP_COST_ALONE : nCost;
}
#endif /* SQLITE_OMIT_HP */
