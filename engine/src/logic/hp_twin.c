/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_twin: rule: sub-selects of one table by one key share a scan (prepare
** time).
**
**    hpTwinAll()    find them among the inputs of a join
**
** One scan makes groups that have the aggregates of both, each with its own
** WHERE clause as FILTER (HpInput.iTwin).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Are inputs i and j groups of one table, by the same columns, which are looked
** up by the same values?  And would SQLite find the rows of both in the same
** way?
*/
static int hpTwinAreSo(const HpJoin *p, int i, int j){
  const HpInput *pA = &p->aIn[i];
  const HpInput *pB = &p->aIn[j];
  int k;
  assert( i<j && j<p->nIn );
  if( !hpInputHasGroups(pA) || !hpInputHasGroups(pB) || hpInputIsMany(pA)
   || hpInputIsMany(pB) || pA->pItem->pSTab!=pB->pItem->pSTab
   || pA->iHome!=pB->iHome || pA->nKey!=pB->nKey
   || hpPropMaySearch(p, i)!=hpPropMaySearch(p, j)
  ){
    return 0;
  }
  for(k=0; k<pA->nKey; k++){
    const HpEdge *pX = &pA->aKey[k];
    const HpEdge *pY = &pB->aKey[k];
    if( sqlite3ExprSkipCollate(pX->pOwn)->iColumn
            !=sqlite3ExprSkipCollate(pY->pOwn)->iColumn
     || !hpTermSame(sqlite3ExprSkipCollate(pX->pOther),
                    sqlite3ExprSkipCollate(pY->pOther))
     || pX->aff!=pY->aff || pX->pColl!=pY->pColl
    ){
      return 0;
    }
  }
  return 1;
}

/*
** Find the twins among the inputs.
*/
static void hpTwinAll(HpJoin *p){
  int i, j;
  for(i=0; i<p->nIn; i++) p->aIn[i].nAgg = hpSubselectAggs(&p->aIn[i]);
  for(j=1; j<p->nIn; j++){
    for(i=0; i<j && p->aIn[j].iTwin<0; i++){
      if( p->aIn[i].iTwin>=0 || !hpTwinAreSo(p, i, j) ) continue;
      p->aIn[j].iTwin = i;
      p->aIn[j].iAgg = p->aIn[i].nAgg;
      assert( p->aIn[j].iAgg>0 && p->aIn[i].iAgg==0 );
      p->aIn[i].nAgg += hpSubselectAggs(&p->aIn[j]);
    }
  }
}
#endif /* SQLITE_OMIT_HP */
