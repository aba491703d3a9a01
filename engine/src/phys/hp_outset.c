/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_outset: output SET: the values of IN (SELECT ...) in any order (prepare
** time).
**
**    hpOutSet()    the plan of such a SELECT
**
** The rows are groups by all columns, without aggregates.
**
** If SQLite searches the table that we would scan, only what a sub-select costs
** is known that scans its table for each row: then that has to pay for all
** (hp_gate.c).
**
** Values that are equal, but not alike, become one: 3 and 3.0.  In a set that
** is the same, unless they are made texts.  Under another collation than BINARY
** the first of several values stays, be it of the set or of DISTINCT, and
** SQLite may look for it in an index.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

static int hpOutSetBegin(HpCompile *pC){
  HpGroupPlan *pGroup = hpCompileGroups(pC, 0, 0);
  int n = pC->pTop->pList->nExpr;
  if( pGroup==0 ) return SQLITE_NOMEM;
  if( n>HP_MX_COL ) return SQLITE_ERROR;
  pGroup->bNoSort = 1;
  return hpCompileKeys(pC->pPlan, &pGroup->keys, n);
}

/* The columns of the set are the keys of groups */
static int hpOutSetKeys(HpCompile *pC){
  const ExprList *pList = pC->pTop->pList;
  const char *zAff = pC->pTop->zAff;
  HpKeys *pKeys = &pC->pPipe->pGroup->keys;
  int i;
  assert( zAff==0 || sqlite3Strlen30(zAff)==pList->nExpr );
  pKeys->n = pList->nExpr;
  for(i=0; i<pKeys->n; i++){
    Expr *pExpr = pList->a[i].pExpr;
    int iVec = hpCompileExpr(pC, pExpr);
    if( iVec<0 ) return SQLITE_ERROR;
    if( !sqlite3IsBinary(sqlite3ExprNNCollSeq(pC->pParse, pExpr))
     || (zAff && zAff[i]==SQLITE_AFF_TEXT && !hpCompileAggUniform(pC, pExpr))
    ){
      hpCompileNo(pC, HP_NO_ORDER);
      return SQLITE_ERROR;
    }
    pKeys->aVec[i] = (u16)iVec;
    pKeys->aColl[i] = 0;
    pKeys->aSort[i] = 0;
  }
  return SQLITE_OK;
}

static int hpOutSetEnd(HpCompile *pC){
  const SrcItem *pRoot = pC->pTop->pIn->pItem;
  HpGroupPlan *pGroup = pC->pPipe->pGroup;
  HpPlan *pPlan = pC->pPlan;
  int bPays = 0;
  int i;
  assert( pC->pPipe==hpPlanLast(pPlan) && pGroup!=0 );
  pPlan->bSought = pRoot->hp.bMoved || !pRoot->hp.bRoot;
  for(i=0; i<pPlan->nPipe; i++) bPays |= pPlan->aPipe[i].eEach==HP_EACH_SCAN;
  if( pPlan->bSought && !bPays
   && hpConfigOffload(pC->pParse->db)!=HP_OFFLOAD_FORCE
  ){
    hpCompileNo(pC, HP_NO_PLAN);
    return SQLITE_ERROR;
  }
  pGroup->entry.szEntry = hpLayoutGroup(pGroup);
  return pGroup->entry.szEntry>0x7fff ? SQLITE_ERROR : SQLITE_OK;
}

static const HpOutput hpOutSetType = {
  HP_IN(HP_LOP_JOIN),    /* SQLite's loop of one table costs as much */
  0, HP_NO_OTHER,
  hpOutSetBegin, 0, hpOutSetKeys, hpOutSetEnd
};

/*
** The plan of p, or NULL if it is refused.
*/
static HpPlan *hpOutSet(
  Parse *pParse,
  Select *p,
  const char *zAff,          /* Affinities of the set's columns */
  HpJoin *pJoin
){
  HpLop in, top;
  assert( pJoin->iMany<0 && !pJoin->bPart );     /* hpRootAnyJoin() */
  hpLopTree(&top, HP_LOP_SET, p, &in, hpLopRoot(p->pSrc), p->pWhere, pJoin);
  top.pList = p->pEList;
  top.zAff = zAff;
  return hpLower(pParse, &top, &hpOutSetType);
}
#endif /* SQLITE_OMIT_HP */
