/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_union: a UNION ALL in FROM as an operator of a tree (prepare time).
**
**    hpUnionCount()    number of the arms of a term of FROM, if each is plain
**    hpUnionFirst()    the first arm
**    hpUnionNext()     the arm after another one
**    hpUnionIsPlain()  is an arm of a form that we do?
**
** SQLite runs such a sub-select as a co-routine, row after row:
**
**    SELECT k, sum(x) FROM (SELECT k, x FROM a WHERE x>0
**                           UNION ALL SELECT k, 2*x FROM b)
**      WHERE k<9 GROUP BY k
**
** Each arm is a pipe of its own, with filters, keys and arguments; all of them
** have one sink (HpPipePlan.bMore), so that groups go on from arm to arm:
**
**    leaves of a ─► x>0, k<9; k, x    ─┐
**    leaves of b ─► k<9;      k, 2*x  ─┴► groups
**
** Expressions of the query around them name columns of the sub-select.  In the
** pipe of an arm such a column is what that arm has for it (hp_lowerunion.c);
** affinity and collation of comparisons are those of the column, whose Expr
** they are made from.
**
** SQLite computes the columns of all rows that pass the arm's own WHERE
** clause.  So they must not fail, unless there are no other filters.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Is arm p of a form that we do?  hpChoiceArm() has looked at its scan. */
static int hpUnionIsPlain(const Select *p){
  const u32 mNot = SF_Aggregate|SF_Distinct|SF_Recursive|SF_Values
                 | SF_MultiValue;
  return (p->selFlags & mNot)==0 && p->pLimit==0 && p->iLimit==0
      && p->pOrderBy==0
      && p->pGroupBy==0 && p->pHaving==0
#ifndef SQLITE_OMIT_WINDOWFUNC
      && p->pWin==0
#endif
      && p->op==(p->pPrior ? TK_ALL : TK_SELECT)
      && p->pSrc->nSrc==1 && p->pSrc->a[0].hp.bArm
      && hpSubselectIsTable(&p->pSrc->a[0]);
}

/*
** Number of the arms of pItem, a term of FROM, if it is a UNION ALL of which we
** do each arm; else 0.
*/
static int hpUnionCount(const SrcItem *pItem){
  const Select *p;
  int n = 0;
  if( pItem->fg.isSubquery==0 || pItem->fg.viaCoroutine==0
   || pItem->fg.isRecursive
  ){
    return 0;
  }
  for(p=pItem->u4.pSubq->pSelect; p; p=p->pPrior){
    if( !hpUnionIsPlain(p) || ++n>HP_MX_PIPE ) return 0;
  }
  return n>1 ? n : 0;
}

/*
** The first arm of pItem.
*/
static Select *hpUnionFirst(const SrcItem *pItem){
  Select *p = pItem->u4.pSubq->pSelect;
  while( p->pPrior ) p = p->pPrior;
  return p;
}

/* The arm after p, or NULL */
static Select *hpUnionNext(const Select *p){ return p->pNext; }
#endif /* SQLITE_OMIT_HP */
