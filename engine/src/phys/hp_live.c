/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_live: who reads which value of a plan (prepare time).
**
**    hpLiveOpReads()   does an operation read a vector?
**    hpLivePlan()      a plan is compiled: what are its columns read for?
**
** Columns that are read for filters alone, or as keys of groups, need less work
** than others (HpOp.bOnlyFilters, bOnlyKeys).  That can be known of a whole
** plan only, when its filters, keys and arguments are there.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Do keys or columns of a relation come from vector iVec? */
static int hpLiveRelReads(const HpRelPlan *p, u16 iVec){
  int k;
  if( p==0 ) return 0;
  for(k=0; k<p->key.keys.n; k++) if( p->key.keys.aVec[k]==iVec ) return 1;
  for(k=0; k<p->nCol; k++) if( p->aVec[k]==iVec ) return 1;
  return 0;
}

/*
** Does anything read vector iVec that is no operation of the program?  Unless
** bGroup, that it is a key of groups does not count.
*/
static int hpLiveSinkReads(const HpPipePlan *pPipe, u16 iVec, int bGroup){
  const HpGroupPlan *pGroup = pPipe->pGroup;
  const HpKeys *pKeys = 0;
  int i, k;
  assert( iVec<pPipe->prog.nVec );
  if( pGroup && bGroup ) pKeys = &pGroup->keys;
  if( pPipe->pSort ) pKeys = &pPipe->pSort->row.keys;
  if( pPipe->pFind ) pKeys = &pPipe->pFind->keys;
  if( pPipe->pPrefix ) pKeys = &pPipe->pPrefix->keys;
  for(k=0; pKeys && k<pKeys->n; k++) if( pKeys->aVec[k]==iVec ) return 1;
  for(i=0; pGroup && i<pGroup->nAgg; i++){
    const HpAggDef *pDef = &pGroup->aAgg[i];
    if( pDef->iVec==iVec || pDef->iFilter==iVec ) return 1;
    for(k=0; k<pDef->nArg; k++) if( pDef->aArg[k]==iVec ) return 1;
    for(k=0; k<pDef->nTerm; k++) if( pDef->aTerm[k].iVec==iVec ) return 1;
  }
  for(i=0; pGroup && i<pGroup->nBare; i++){
    /* What a key shows comes from the group */
    if( pGroup->aBare[i].iVec==iVec && (bGroup || pGroup->aBare[i].iKey<0) ){
      return 1;
    }
  }
  for(i=0; pPipe->pSort && i<pPipe->pSort->nField; i++){
    const HpField *pField = &pPipe->pSort->aField[i];
    if( hpFieldIsVec(pField) && pField->iVec==iVec ) return 1;
  }
  if( pPipe->pFill && pPipe->pFill->iKey==iVec ) return 1;
  if( hpLiveRelReads(pPipe->pRel, iVec)
   || hpLiveRelReads(pPipe->pProbe, iVec) ){
    return 1;
  }
  for(i=0; i<pPipe->nWant; i++){
    if( hpLiveRelReads(pPipe->aWant[i], iVec) ){
      return 1;
    }
  }
  for(i=0; i<pPipe->nSubWant; i++){
    if( hpLiveRelReads(pPipe->aSubWant[i], iVec) ){
      return 1;
    }
  }
  return 0;
}

/* Does operation pOp read vector iVec? */
static int hpLiveOpReads(const HpProg *pProg, const HpOp *pOp, u16 iVec){
  int k;
  assert( iVec<pProg->nVec );
  if( pOp->eOp==HP_OP_COLUMN ) return 0;
  if( pOp->eOp<HP_OP_CASE ){
    return pOp->a==iVec || (pOp->eOp!=HP_OP_TRUTH && pOp->b==iVec);
  }
  for(k=0; k<pOp->n; k++) if( pProg->aArg[pOp->iArg+k]==iVec ) return 1;
  return 0;
}

/*
** Which columns does pPipe read for its filters only, and which for them and as
** keys of groups?  In a join the first filters may be run alone, and then only
** these count.
*/
static void hpLiveOnly(HpPipePlan *pPipe, int bJoin){
  HpProg *pProg = &pPipe->prog;
  int nFilter = bJoin ? pPipe->nOwn : pProg->nFilter;
  int nFirst = nFilter ? pProg->aFilter[nFilter-1].nOp : 0;
  int i, k;
  assert( nFilter<=pProg->nFilter && nFirst<=pProg->nOp );
  for(i=0; i<pProg->nOp; i++){
    HpOp *pOp = &pProg->aOp[i];
    if( pOp->eOp!=HP_OP_COLUMN ) continue;
    for(k=nFirst; k<pProg->nOp
        && !hpLiveOpReads(pProg, &pProg->aOp[k], pOp->iOut); k++){}
    if( k<pProg->nOp ) continue;
    pOp->bOnlyFilters = i<nFirst && !hpLiveSinkReads(pPipe, pOp->iOut, 1);
    pOp->bOnlyKeys = pPipe->pGroup && !hpLiveSinkReads(pPipe, pOp->iOut, 0);
  }
}

/*
** Plan pPlan is compiled: note of its columns what they are read for.
*/
static void hpLivePlan(HpPlan *pPlan){
  int i;
  assert( pPlan->nSet==0 || pPlan->aSet!=0 );
  for(i=0; i<pPlan->nSet; i++) hpLiveOnly(&pPlan->aSet[i].pipe, 0);
  for(i=0; i<pPlan->nPipe; i++){
    hpLiveOnly(&pPlan->aPipe[i], pPlan->nPipe>1);
  }
}
#endif /* SQLITE_OMIT_HP */
