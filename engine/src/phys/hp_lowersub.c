/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_lowersub: pipes of inputs that are grouped by their key (prepare time).
**
**    hpLowerSubGroups()   the sink of the pipe that scans the table: groups
**    hpLowerSubAggs()     the aggregates of these
**    hpLowerSubRegroup()  the pipe behind that, which makes a hash table
**    hpLowerSubMissing()  what the aggregate of no rows is
**    hpLowerSubSpan()     does a group have such a value?
**
** A correlated sub-select with aggregates (hp_subselect.c), and a LEFT JOIN to
** many rows (hp_many.c), are two pipes: one makes groups by the key, and one
** reads these into a hash table, whose columns are the aggregates.  A row
** without a partner has the NULL row of the hash table: of count and total that
** is another value.
**
** We read rows in the order of rowids.  If SQLite would find them in the order
** of an index that has more columns than the key, aggregates must not show it.
**
** Errors are those of a join: what fails declines.  Whether SQLite scans the
** table of the sub-select or searches an index is known, since its code has
** been made (SrcItem.hp.bWhole); but it may scan an index, too.  Which of these
** is better hp_gate.c says.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The smallest and the largest value of the column of pInput->span.
*/
static int hpLowerSubBoth(HpCompile *pC, const HpInput *pInput, HpAggDef *aAgg){
  int iVec = hpCompileExpr(pC, pInput->span.pOwn);
  CollSeq *pColl;
  int i;
  assert( pInput->bSpan && pInput->nAgg>=2 );
  if( iVec<0 ) return SQLITE_ERROR;
  if( !hpCompileCollOk(pInput->span.pColl, &pColl) ){
    hpCompileNo(pC, HP_NO_COLLATION);
    return SQLITE_ERROR;
  }
  for(i=0; i<2; i++){
    aAgg[i].eAgg = i ? HP_AGG_MAX : HP_AGG_MIN;
    aAgg[i].iVec = (u16)iVec;
    aAgg[i].iFilter = HP_NO_VEC;
    aAgg[i].iSet = -1;
    aAgg[i].pColl = pColl;
  }
  return SQLITE_OK;
}

/*
** Let the sink of the pipe of now be groups by pKey, with nAgg aggregates:
** those of one input or of several.
*/
static HpGroupPlan *hpLowerSubGroups(HpCompile *pC, const HpLookup *pKey,
                                     int nAgg){
  HpGroupPlan *pGroup = hpCompileGroups(pC, nAgg, 0);
  assert( pKey->keys.n>0 && nAgg>0 );
  if( pGroup==0 ) return 0;
  pGroup->keys = pKey->keys;
  return pGroup->keys.n+nAgg<=HP_MX_COL ? pGroup : 0;
}

/*
** The pipe of now scans the table of pInput, and has groups.  Compile the
** aggregates that pInput wants of them.
*/
static int hpLowerSubAggs(HpCompile *pC, const HpInput *pInput){
  AggInfo *pOld = pC->pAggInfo;
  AggInfo *pAggInfo = pInput->pAggInfo;
  HpGroupPlan *pGroup = pC->pPipe->pGroup;
  HpAggDef *aAgg = &pGroup->aAgg[pInput->iAgg];
  int bAnyOrder = pAggInfo!=0 && pInput->pItem->hp.bByRowid==0;
  int rc = SQLITE_OK;
  int i;
  assert( pInput->iAgg+hpSubselectAggs(pInput)<=pGroup->nAgg );
  assert( pInput->iOnly<pC->pPipe->prog.nVec );
  if( bAnyOrder ) pGroup->bAnyOrder = 1;
  if( pAggInfo==0 ) rc = hpLowerSubBoth(pC, pInput, aAgg);
  pC->pAggInfo = pAggInfo;
  for(i=0; pAggInfo && i<pAggInfo->nFunc && rc==SQLITE_OK; i++){
    rc = hpCompileAgg(pC, &pAggInfo->aFunc[i], &aAgg[i]);
    if( aAgg[i].eAgg>=HP_AGG_CALL || aAgg[i].iSet>=0 ) rc = SQLITE_ERROR;
    if( rc==SQLITE_OK && bAnyOrder
     && !hpCompileAggAnyOrder(pC, pAggInfo->aFunc[i].pFExpr, &aAgg[i])
    ){
      hpCompileNo(pC, HP_NO_ORDER);
      rc = SQLITE_ERROR;
    }
  }
  pC->pAggInfo = pOld;
  for(i=0; pInput->iOnly>=0 && i<hpSubselectAggs(pInput) && rc==SQLITE_OK; i++){
    int iVec = pInput->iOnly;
    if( aAgg[i].iFilter!=HP_NO_VEC ){
      iVec = hpCompileOp(pC, HP_OP_AND, 0, iVec, aAgg[i].iFilter);
    }
    if( iVec<0 ) rc = SQLITE_ERROR;
    aAgg[i].iFilter = (u16)iVec;
  }
  return rc;
}

/*
** Let pPipe read the groups of pFrom, the pipe before, which has keys pKey, and
** make relation iRel of them: its columns are the aggregates.
*/
static int hpLowerSubRegroup(
  HpCompile *pC,
  HpPipePlan *pPipe,
  const HpPipePlan *pFrom,
  const HpLookup *pKey,
  int iRel
){
  HpPlan *pPlan = pC->pPlan;
  const HpGroupPlan *pGroup = pFrom->pGroup;
  HpSourcePlan *pSource = &pPipe->source;
  HpRelPlan *pRel = hpCompileAlloc(pPlan, sizeof(*pRel));
  int n = pKey->keys.n + pGroup->nAgg;
  int i;
  assert( pPipe==&pFrom[1] && pFrom->pSink==&hpSinkGroups && pGroup!=0 );
  assert( pGroup->keys.n==pKey->keys.n );
  assert( pPipe==&pPlan->aPipe[iRel] && pPipe->prog.nVec==0 );
  pSource->pType = &hpRegroupType;
  pSource->iDb = pFrom->source.iDb;
  pSource->aCol = hpCompileAlloc(pPlan, sizeof(HpCol)*(i64)n);
  pPipe->bSerial = 1;
  pPipe->pSink = &hpSinkRel;
  pPipe->pRel = pRel;
  if( pRel==0 || pSource->aCol==0 ) return SQLITE_NOMEM;
  pRel->iRel = iRel;
  pRel->key = *pKey;
  pRel->key.keys.aVec = hpCompileAlloc(pPlan, sizeof(u16)*(i64)pKey->keys.n);
  pRel->aVec = hpCompileAlloc(pPlan, sizeof(u16)*(i64)pGroup->nAgg);
  if( pRel->key.keys.aVec==0 || pRel->aVec==0 ) return SQLITE_NOMEM;
  for(i=0; i<n; i++){
    HpOp op;
    int iVec;
    memset(&op, 0, sizeof(op));
    op.eOp = HP_OP_COLUMN;
    op.a = (u16)i;
    iVec = hpProgOp(&pPipe->prog, &op);
    if( iVec<0 ) return SQLITE_NOMEM;
    pSource->aCol[i].iStore = i;
    pSource->nCol++;
    if( i<pKey->keys.n ){
      pRel->key.keys.aVec[i] = (u16)iVec;
    }else{
      pRel->aVec[pRel->nCol++] = (u16)iVec;
    }
  }
  return SQLITE_OK;
}

/*
** The vector of whether pInput->span holds: the smallest and largest value are
** vectors iMin and iMax, NULL where there is none.
*/
static int hpLowerSubSpan(HpCompile *pC, const HpInput *pInput, int iMin,
                          int iMax){
  const HpEdge *pSpan = &pInput->span;
  HpOp x;
  int iOther = iMin<0 || iMax<0 ? -1 : hpCompileExpr(pC, pSpan->pOther);
  int a;
  assert( pInput->bSpan && pSpan->op>=TK_NE && pSpan->op<=TK_GE );
  if( iOther<0 ) return -1;
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_COMPARE;
  x.op = pSpan->op;
  x.a = (u16)(pSpan->op==TK_GT || pSpan->op==TK_GE ? iMax : iMin);
  x.b = (u16)iOther;
  if( !hpCompileCollOk(pSpan->pColl, &x.pColl) ){
    return hpCompileNo(pC, HP_NO_COLLATION);
  }
  a = hpProgOp(&pC->pPipe->prog, &x);
  if( a>=0 && pSpan->op==TK_NE ){
    int b;
    x.a = (u16)iMax;
    b = hpProgOp(&pC->pPipe->prog, &x);
    a = b<0 ? -1 : hpCompileOp(pC, HP_OP_OR, 0, a, b);
  }
  if( a<0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  return hpCompileTruth(pC, a, 0, 0);
}

/*
** The vector of aggregate function pF of a group, where a is what the relation
** has for it: NULL where there are no rows.  bOuter: then there is a row of
** NULLs.
*/
static int hpLowerSubMissing(
  HpCompile *pC,
  const struct AggInfo_func *pF,
  int a,
  int bOuter
){
  const FuncDef *pFunc = pF->pFunc;
  const ExprList *pList = pF->pFExpr->x.pList;
  u16 aVec[2];
  int b;
  if( a<0 ) return -1;
  assert( hpProgSees(&pC->pPipe->prog, a) );
  if( pFunc->xFinalize==countFinalize ){
    int bRow = bOuter && (pList==0 || pList->nExpr==0);
    b = hpCompileLiteral(pC, TK_INTEGER, bRow ? "1" : "0");
  }else if( pFunc->xFinalize==totalFinalize ){
    b = hpCompileLiteral(pC, TK_FLOAT, "0.0");
  }else{
    return a;
  }
  if( b<0 ) return -1;
  aVec[0] = (u16)a;
  aVec[1] = (u16)b;
  return hpCompileList(pC, HP_OP_COALESCE, aVec, 2);
}
#endif /* SQLITE_OMIT_HP */
