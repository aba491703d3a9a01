/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_root: which table of a query is scanned (prepare time).
**
**    hpRootChoose()      of an aggregate query: the join of its join, or a
**                        reason against it
**    hpRootAnyJoin()    the join of a query whose rows may come in any order
**
** Of a join the outermost loop's table is scanned, if it reaches all others
** (hp_lop.c), since then rows come in SQLite's order.  Otherwise another
** table that reaches all may be, one with many rows first, if the planner
** expects its loops to cost HP_MIN_COST, and if the order of rows cannot show:
** hpOutGroupAnyOrder().  The root of a join is the table whose HpChoice.iLevel
** is 1, so another root is tried by exchanging levels.
**
** The root must be worth a scan (hp_worth.c), or of a LEFT JOIN the table on
** the right whose rows are all read (hp_many.c).  Whether a join is worth
** it is said when it runs (hp_gate.c), after SQLite's loops have begun if there
** are no statistics (hp_race.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The join of join p with aggregates pAggInfo, which may be NULL; or NULL.
*/
static HpJoin *hpRootJoin(Parse *pParse, Select *p, AggInfo *pAggInfo){
  HpJoin *pJoin = hpLopJoin(pParse, p->pSrc, p->pWhere, 0);
  if( pJoin && pJoin->iMany>=0
   && (pAggInfo==0 || !hpManyGroups(pJoin, pAggInfo, p->pGroupBy))
  ){
    hpLopFree(pJoin);
    pJoin = 0;
  }
  assert( pJoin==0 || pJoin->iMany<0 || pAggInfo!=0 );
  return pJoin;
}

/*
** Choose another root for join p than the outermost loop's table: of those that
** reach all others the one with the most rows.  Returns the join with that
** root, or NULL.
*/
static HpJoin *hpRootMove(Parse *pParse, Select *p, AggInfo *pAggInfo){
  SrcList *pSrc = p->pSrc;
  SrcItem *pFirst = hpLopRoot(pSrc);
  LogEst nCost = pFirst->hp.nCost;
  int bForce = hpConfigOffload(pParse->db)==HP_OFFLOAD_FORCE;
  Bitmask mTried = 0;
  for(;;){
    SrcItem *pRoot = 0;
    HpJoin *pJoin;
    u8 iLevel;
    int i;
    for(i=0; i<pSrc->nSrc && i<HP_MX_NODE; i++){
      SrcItem *pItem = &pSrc->a[i];
      if( (mTried & MASKBIT(i)) || pItem==pFirst || pItem->hp.iLevel==0 ){
        continue;
      }
      if( !bForce && pItem->pSTab->nRowLogEst<HP_MIN_OUT ) continue;
      if( pFirst->hp.bGuess && !hpWorthMayPay(pParse, pItem, HP_MIN_LEAF) ){
        continue;
      }
      if( pRoot==0 || pItem->pSTab->nRowLogEst>pRoot->pSTab->nRowLogEst ){
        pRoot = pItem;
      }
    }
    if( pRoot==0 ) return 0;
    /* Levels differ, so two of them can be exchanged */
    assert( pFirst->hp.iLevel==1 && pRoot->hp.iLevel>1 );
    mTried |= MASKBIT(pRoot - pSrc->a);
    iLevel = pRoot->hp.iLevel;
    pFirst->hp.iLevel = iLevel;
    pRoot->hp.iLevel = 1;
    pJoin = hpRootJoin(pParse, p, pAggInfo);
    if( pJoin ){
      assert( pJoin->aIn[pJoin->iRoot].pItem==pRoot );
      pRoot->hp.bMoved = 1;
      pRoot->hp.nCost = nCost;
      pRoot->hp.bGuess = pFirst->hp.bGuess;
      pRoot->hp.nCostRow = pFirst->hp.nCostRow;
      pRoot->hp.iCostRoot = pFirst->hp.iCostRoot;
      return pJoin;
    }
    pFirst->hp.iLevel = 1;
    pRoot->hp.iLevel = iLevel;
  }
}

/*
** The join of p, whose rows may come in any order: its root is the table of
** the outermost loop, or another one that reaches all others.  NULL: there is
** none, or it is small.
*/
static HpJoin *hpRootAnyJoin(Parse *pParse, Select *p){
  HpJoin *pJoin = hpRootJoin(pParse, p, 0);
  if( pJoin==0 ) pJoin = hpRootMove(pParse, p, 0);
  if( pJoin==0 ){
    hpConfigStat(pParse->db, HP_NO_JOIN);
  }else if( !hpWorthIt(pParse, hpLopRoot(p->pSrc), HP_MIN_LEAF) ){
    hpLopFree(pJoin);
    pJoin = 0;
  }
  return pJoin;
}

/*
** Is join p, which scans pFirst, worth it?  If that is small a table of a LEFT
** JOIN may be large, of which all rows are read to be grouped (HpJoin.iMany).
*/
static int hpRootJoinWorthIt(
  Parse *pParse,
  Select *p,
  SrcItem *pFirst,
  int *pbMany
){
  int i;
  assert( pFirst->hp.bRoot && pFirst->hp.iLevel==1 );
  *pbMany = 0;
  if( hpWorthMayPay(pParse, pFirst, HP_MIN_LEAF) ) return 1;
  for(i=0; i<p->pSrc->nSrc; i++){
    SrcItem *pItem = &p->pSrc->a[i];
    if( (pItem->fg.jointype & JT_LEFT)==0 || pItem->hp.iLevel==0 ) continue;
    if( hpWorthMayPay(pParse, pItem, HP_MIN_LEAF) ) *pbMany = 1;
  }
  return *pbMany || hpWorthIt(pParse, pFirst, HP_MIN_LEAF);
}

/*
** Is SELECT p worth it, as far as can be told now?  Of a join *ppJoin is set
** to its join, with the root that is chosen.
*/
static int hpRootChoose(
  Parse *pParse,
  Select *p,
  AggInfo *pAggInfo,
  HpJoin **ppJoin
){
  *ppJoin = 0;
  if( hpChoiceArms(pParse, &p->pSrc->a[0]) ){
    if( hpSubselectAny(p->pWhere) ){
      return hpConfigStat(pParse->db, HP_NO_SUBQUERY);
    }
    return hpWorthArms(pParse, &p->pSrc->a[0]);
  }
  if( p->pSrc->nSrc>1 || hpSubselectAny(p->pWhere) ){
    int bMany = 0;
    SrcItem *pFirst = hpLopRoot(p->pSrc);
    if( pFirst->hp.bRoot && hpRootJoinWorthIt(pParse, p, pFirst, &bMany) ){
      *ppJoin = hpRootJoin(pParse, p, pAggInfo);
      if( *ppJoin && bMany && (*ppJoin)->iMany<0 ){
        hpLopFree(*ppJoin);
        *ppJoin = 0;
        return hpWorthIt(pParse, pFirst, HP_MIN_LEAF);
      }
    }
    if( *ppJoin==0 && pFirst->hp.nCost ){
      *ppJoin = hpRootMove(pParse, p, pAggInfo);
    }
    if( *ppJoin ) return 1;
    return hpConfigStat(pParse->db, p->pSrc->nSrc>1 ? HP_NO_JOIN
                        : HP_NO_SUBQUERY);
  }
  return hpWorthIt(pParse, hpLopRoot(p->pSrc), HP_MIN_LEAF);
}
#endif /* SQLITE_OMIT_HP */
