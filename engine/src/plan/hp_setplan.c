/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_setplan: the values of IN (SELECT ...) in any order (prepare time).
**
**    hpSetPlanAccept()    may that be?  Note what the planner chose
**    hpSetPlanCode()      compile it, and let hp_deliver.c code it
**
** SQLite puts the rows of such a SELECT into a table of its own, so nobody sees in which
** order they come, nor how often.  If it is a join, or has correlated sub-selects, it may
** be taken over as if it were SELECT ... GROUP BY all its columns: any table that reaches
** the others is scanned (hp_lop.c), whatever SQLite's loops begin with.
** hpDeliverSet() has a drawing.
**
** If SQLite searches the table that we would scan, only what a sub-select costs is known
** that scans its table for each row: then that has to pay for all (hp_gate.c).
**
** Values that are equal, but not alike, become one: 3 and 3.0.  In a set that is the same,
** unless they are made texts.  Under another collation than BINARY the first of several
** values stays, be it of the set or of DISTINCT, and SQLite may look for it in an index.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The planner has chosen pWInfo for p, whose rows go to pDest.  bScan: the outermost loop
** scans all of its table.  If the rows may be values of a set note what hpSetPlanCode()
** wants to know of the loops, and return true.
*/
static int hpSetPlanAccept(
  Parse *pParse,
  const Select *p,
  WhereInfo *pWInfo,
  const SelectDest *pDest,
  int bScan
){
  const SrcList *pSrc = p->pSrc;
  int i;
  if( pDest->eDest!=SRT_Set || pParse->nested || pParse->nErr || pParse->pIdxEpr ) return 0;
  if( p->pPrior || p->pNext || p->pLimit || p->pWin || p->pOrderBy ) return 0;
  if( (p->selFlags & SF_Correlated)!=0 || pWInfo->nLevel<1 ) return 0;
  if( pSrc->nSrc<2 && !hpSubselectAny(p->pWhere) ) return 0;
  if( ENC(pParse->db)!=SQLITE_UTF8 || hpConfigOffload(pParse->db)==HP_OFFLOAD_OFF ) return 0;
  for(i=0; i<pSrc->nSrc; i++){
    const SrcItem *pItem = &pSrc->a[i];
    if( pItem->fg.isRecursive || pItem->fg.isIndexedBy || !hpSubselectIsTable(pItem) ){
      return 0;
    }
  }
  hpChoiceNote(pWInfo, bScan, 0, 0);
  return 1;
}

static int hpSetPlanBegin(HpCompile *pC){
  HpPlan *pPlan = pC->pPlan;
  HpGroupPlan *pGroup = hpCompileAlloc(pPlan, sizeof(*pGroup));
  int n = pC->pTop->pList->nExpr;
  pC->pPipe->pSink = &hpSinkGroups;
  pC->pPipe->pGroup = pGroup;
  if( pGroup==0 ) return SQLITE_NOMEM;
  pGroup->bNoSort = 1;
  pGroup->aAgg = hpCompileAlloc(pPlan, 0);
  pGroup->aBare = hpCompileAlloc(pPlan, 0);
  if( pGroup->aAgg==0 || pGroup->aBare==0 || n>HP_MX_COL ) return SQLITE_ERROR;
  return hpCompileKeys(pPlan, &pGroup->keys, n);
}

/* The columns of the set are the keys of groups */
static int hpSetPlanKeys(HpCompile *pC){
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

static int hpSetPlanEnd(HpCompile *pC){
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

static const HpOutput hpSetPlanOutput = {
  HP_IN(HP_LOP_JOIN),    /* SQLite's loop of one table costs as much */
  0, HP_NO_OTHER,
  hpSetPlanBegin, 0, hpSetPlanKeys, hpSetPlanEnd
};

/*
** The plan of p, or NULL if it is refused.
*/
static HpPlan *hpSetPlan(
  Parse *pParse,
  Select *p,
  const char *zAff,          /* Affinities of the set's columns */
  HpJoin *pJoin            /* It is freed */
){
  HpLop in, top;
  assert( pJoin->iMany<0 && !pJoin->bPart );     /* hpRootAnyJoin() */
  memset(&in, 0, sizeof(in));
  memset(&top, 0, sizeof(top));
  in.eOp = HP_LOP_JOIN;
  in.pItem = hpLopRoot(p->pSrc);
  in.pWhere = p->pWhere;
  in.pJoin = pJoin;
  top.eOp = HP_LOP_SET;
  top.pIn = &in;
  top.pSelect = p;
  top.pList = p->pEList;
  top.zAff = zAff;
  return hpLower(pParse, &top, &hpSetPlanOutput);
}

/*
** The loops of p have been coded, whose rows are values of set pDest, and hpSetPlanAccept()
** has said yes.  Code the same by a
** scan.  Returns false if that is not done.
*/
static int hpSetPlanCode(Parse *pParse, Select *p, const SelectDest *pDest){
  HpJoin *pJoin;
  HpPlan *pPlan;
  int iStart;
  assert( pDest->eDest==SRT_Set );
  iStart = hpSpliceSet(pParse->pVdbe, pDest->iSDParm);
  if( iStart==0 ) return 0;
  pJoin = hpRootAnyJoin(pParse, p);
  if( pJoin==0 ) return 0;
  pPlan = hpSetPlan(pParse, p, pDest->zAffSdst, pJoin);
  if( pPlan==0 ) return 0;
  hpLopRoot(p->pSrc)->hp.bMoved = 1;       /* EXPLAIN QUERY PLAN: it is scanned */
  hpExplain(pParse, iStart, 0, p->pSrc);
  hpDeliverSet(pParse, pPlan, iStart, p->pEList->nExpr, pDest);
  return 1;
}
#endif /* SQLITE_OMIT_HP */
