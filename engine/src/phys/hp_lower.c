/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_lower: a tree of logical operators becomes a plan (prepare time).
**
**    hpLower()    the plan of a tree, or NULL
**
** A query that may be taken over is a tree of two levels (HpLop): an input,
** which gives rows, and an output, which says what is made of them:
**
**    SCAN    one b-tree           GROUP   groups, delivered or as a set of IN
**    JOIN    a scan with look-ups SORT    rows in order, as records
**    UNION   scans in turn        TOP     the first rows in order
**                                 DISTINCT one row of each combination
**                                 FILTER  the rows that pass
**                                 KEYED   groups that are looked up
**                                 FILL    records that fill a table
**
** Each input becomes pipes in one way, whatever the output is:
**
**    SCAN    one pipe: the bounds of the scan, then filters
**    JOIN    a pipe for each table that is looked up, then that of the driving
**            table (hp_lowerjoin.c)
**    UNION   a pipe for each arm, all of which have the same sink
**
** And each output is a table of functions (HpOutput), called in this order:
**
**    xBegin   the plan is empty: memory of the sink
**    xWhere   SCAN: the terms of WHERE.  NULL: all of them have to be filters
**    xSink    the filters of a pipe have been compiled: keys, arguments,
**             fields.  UNION: once for each arm
**    xEnd     all pipes have been compiled
**
** Which inputs an output can have is a mask, HpOutput.mIn.  Where a bit is
** missing, the reason stands beside it.  So a new output is a table with its
** functions, and a new input one function here.
**
** What keeps a tree from being lowered in the first place (the cheap tests) is
** looked at before one is built: hp_choice.c, hp_worth.c.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Refuse: too little is known to be read */
static int hpLowerSmall(HpCompile *pC){
  hpCompileSmall(pC->pParse);
  hpCompileNo(pC, HP_NO_SMALL);
  return SQLITE_ERROR;
}

/*
** The bounds of a scan or of a join's driving table have been compiled.  Is
** something in the way of reading it?
*/
static int hpLowerBounds(HpCompile *pC, const HpLop *pIn){
  const SrcItem *pItem = pIn->pItem;
  assert( pIn->eOp==HP_LOP_SCAN || pIn->eOp==HP_LOP_JOIN );
  if( !hpRangeSafe(pC, pItem, pIn->pWhere) ){
    hpCompileNo(pC, HP_NO_ORDER);
    return SQLITE_ERROR;
  }
  if( (pC->pOut->mTrait & HP_OUT_LARGE)!=0 && pItem->hp.bUnlikely
   && !hpRangeSeemsLarge(pC)
  ){
    return hpLowerSmall(pC);
  }
  return SQLITE_OK;
}

/*
** Input SCAN: the bounds and filters of the one pipe.
*/
static int hpLowerScan(HpCompile *pC, HpLop *pIn){
  const HpOutput *pOut = pC->pOut;
  int rc;
  assert( pIn->eOp==HP_LOP_SCAN && pC->pPlan->nPipe==1 );
  if( pOut->xWhere ){
    rc = pOut->xWhere(pC, pIn->pWhere);
  }else{
    rc = hpRangeCompile(pC, pIn->pItem, pIn->pWhere);
    if( rc==SQLITE_OK ) rc = hpLowerBounds(pC, pIn);
    if( rc==SQLITE_OK ) rc = hpCompileExprWhere(pC, pIn->pWhere);
  }
  return rc ? rc : pOut->xSink(pC);
}

/*
** Input JOIN: the pipes of its hash tables, and that of its driving table.
*/
static int hpLowerLookups(HpCompile *pC, HpLop *pIn){
  int rc = hpLowerJoinPipes(pC, pIn->pJoin, pIn->pWhere);
  assert( pIn->eOp==HP_LOP_JOIN );
  if( rc==SQLITE_OK ) rc = hpLowerBounds(pC, pIn);
  return rc ? rc : pC->pOut->xSink(pC);
}

/*
** Input UNION: the pipes of its arms.  One of them has to be large.  Afterwards
** the pipe of now is the first one.
*/
static int hpLowerUnion(HpCompile *pC, HpLop *pIn){
  HpPlan *pPlan = pC->pPlan;
  Select *pArm = hpUnionFirst(pIn->pItem);
  const SrcItem *pFirst = &pArm->pSrc->a[0];
  int bLarge = 0;
  int i, rc;
  assert( pIn->eOp==HP_LOP_UNION && pPlan->nPipe>1 );
  for(i=0; i<pPlan->nPipe; i++, pArm=hpUnionNext(pArm)){
    const SrcItem *pOwn = &pArm->pSrc->a[0];
    hpLowerUnionEnter(pC, pIn->pItem, pArm, i);
    rc = hpLowerUnionWhere(pC, pIn->pWhere);
    if( rc==SQLITE_OK ) rc = pC->pOut->xSink(pC);
    if( rc ) return rc;
    if( pOwn->hp.bUnlikely ? hpRangeSeemsLarge(pC) : pOwn->hp.bPays ){
      bLarge = 1;
    }
  }
  assert( pArm==0 );           /* There is a pipe for each */
  if( !bLarge ) return hpLowerSmall(pC);
  for(i=1; i<pPlan->nPipe; i++){
    pPlan->aPipe[0].bSerial |= pPlan->aPipe[i].bSerial;
    pPlan->aPipe[0].bDeep |= pPlan->aPipe[i].bDeep;
  }
  hpCompileFor(pC, &pPlan->aPipe[0], pFirst->pSTab, pFirst->hp.pIdx,
               pFirst->iCursor);
  return hpCompileNoUser(pC);
}

/*
** All pipes have been compiled.  Are there any that the output cannot have?
*/
static int hpLowerTraits(HpCompile *pC){
  const HpPlan *pPlan = pC->pPlan;
  const HpJoin *pJoin = pC->pTop->pIn->pJoin;
  u8 mTrait = pC->pOut->mTrait;
  int i;
  /* Rows of a join do not come where SQLite would call a function for them */
  if( pJoin && !pJoin->bPart ) mTrait |= HP_OUT_OWN;
  for(i=0; (mTrait & HP_OUT_THREADS)!=0 && i<pPlan->nPipe; i++){
    if( pPlan->aPipe[i].bSerial || pPlan->aPipe[i].bUser ) return SQLITE_ERROR;
  }
  return (mTrait & HP_OUT_OWN)!=0 ? hpCompileNoUser(pC) : SQLITE_OK;
}

/* The pipes of pTop, in an empty plan */
static int hpLowerPipes(HpCompile *pC, HpLop *pTop){
  static int (*const axIn[])(HpCompile*, HpLop*) = {
    hpLowerScan, hpLowerLookups, hpLowerUnion
  };
  HpLop *pIn = pTop->pIn;
  int rc = pC->pOut->xBegin(pC);
  assert( ArraySize(axIn)==HP_LOP_UNION+1 && pIn->eOp<=HP_LOP_UNION );
  if( rc==SQLITE_OK ) rc = axIn[pIn->eOp](pC, pIn);
  if( rc==SQLITE_OK && pC->pOut->xEnd ) rc = pC->pOut->xEnd(pC);
  if( rc==SQLITE_OK ) rc = hpLowerTraits(pC);
  return rc;
}

/* The table whose scan comes first: its bounds are the plan's */
static SrcItem *hpLowerFirst(const HpLop *pIn){
  if( pIn->eOp!=HP_LOP_UNION ) return pIn->pItem;
  return &hpUnionFirst(pIn->pItem)->pSrc->a[0];
}

/* Number of pipes that an input has */
static int hpLowerCount(const HpLop *pIn){
  switch( pIn->eOp ){
    case HP_LOP_JOIN:   return pIn->pJoin->nPipe;
    case HP_LOP_UNION:  return hpUnionCount(pIn->pItem);
  }
  return 1;
}

/*
** The plan of pTop, whose output becomes pOut.  NULL: it is refused, the reason
** has been counted unless another tree is tried, and no registers have been
** allocated.  Otherwise those of constants have, but are not coded yet.
*/
static HpPlan *hpLower(Parse *pParse, HpLop *pTop, const HpOutput *pOut){
  HpLop *pIn = pTop->pIn;
  int nMem = pParse->nMem;
  u8 eNo = pOut->eNo;
  HpCompile c;
  HpPlan *pPlan;
  int i, rc;
  assert( (pOut->mIn & HP_IN(pIn->eOp))!=0 );
  assert( (pIn->eOp==HP_LOP_JOIN)==(pIn->pJoin!=0) );
  pPlan = hpCompileNew(&c, pParse, hpLowerFirst(pIn), hpLowerCount(pIn));
  if( pPlan ){
    c.pTop = pTop;
    c.pOut = pOut;
    c.pAggInfo = pTop->pAggInfo;
    if( pOut->mTrait & HP_OUT_SUB ) c.xSub = hpScalarSub;
    rc = hpLowerPipes(&c, pTop);
    if( pParse->nErr || pParse->db->mallocFailed ) rc = SQLITE_ERROR;
    if( c.eNo ) eNo = c.eNo;
    if( rc ){
      hpCompileFree(pPlan);
      pPlan = 0;
    }
  }
  if( pPlan==0 ){
    pParse->nMem = nMem;     /* The program is to be SQLite's */
    if( !pTop->bTry ) hpConfigStat(pParse->db, eNo);
    return 0;
  }
  for(i=0; i<pPlan->nPipe; i++) hpCompileSortColumns(&pPlan->aPipe[i]);
  hpLopShow(pParse, pTop);
  return pPlan;
}
#endif /* SQLITE_OMIT_HP */
