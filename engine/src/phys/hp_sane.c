/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sane: does a plan hold together (prepare time, SQLITE_DEBUG)?
**
**    hpSanePipe()    true if the program and the columns of a pipe do: asserted
**                    when the pipe is compiled
**    hpSanePlan()    true if all of it does: asserted when all is compiled
**
** A plan is sane if
**
**    1.  columns are in the order of the record, and each is there once;
**    2.  vectors ascend: an operation, a side or a filter reads only what
**        stands before it;
**    3.  each pipe has what its sink needs, and nothing that is another's;
**    4.  its source gives what its sink takes: places of rows, groups of the
**        pipe before, a number of rows without columns;
**    5.  vectors that a sink, a key or an aggregate reads are made by the
**        program of its own pipe;
**    6.  a relation that is read has been made before: by an earlier pipe, by
**        a set, or of the rows that the reader's home has put aside;
**    7.  both sides of a look-up have as many keys, with the same collations;
**    8.  columns that are gathered are columns that the relation keeps, from a
**        row that was looked up in it;
**    9.  registers are registers of the statement;
**    10. the arms of a UNION ALL have groups that are laid out alike.
**
** It is about what the lowering makes, whatever the file holds.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef SQLITE_DEBUG
/* Is iVec a vector that was made before vector iOut? */
static int hpSaneIsBefore(const HpProg *pProg, int iVec, int iOut){
  return iVec>=0 && iVec<iOut && iOut<=pProg->nVec;
}

/*
** Invariant 2: does each operation read what is there when it runs, and each
** filter?  Vectors ascend, those of constants before those of the operations
** that read them.
*/
static int hpSaneProg(const HpPipePlan *pPipe){
  const HpProg *p = &pPipe->prog;
  int i, k;
  if( p->nRange>p->nFilter || p->nConst+p->nOp>p->nVec ) return 0;
  for(i=0; i<p->nOp; i++){
    const HpOp *pOp = &p->aOp[i];
    int iOut = pOp->iOut;
    if( i>0 && iOut<=p->aOp[i-1].iOut ) return 0;
    if( pOp->eOp==HP_OP_COLUMN ){
      if( pOp->a>=pPipe->source.nCol ) return 0;
    }else if( pOp->eOp>=HP_OP_CASE ){
      for(k=0; k<pOp->n; k++){
        if( pOp->iArg+k>=p->nArg ) return 0;
        if( !hpSaneIsBefore(p, p->aArg[pOp->iArg+k], iOut) ) return 0;
      }
    }else{
      if( !hpSaneIsBefore(p, pOp->a, iOut) ) return 0;
      if( pOp->eOp!=HP_OP_TRUTH && !hpSaneIsBefore(p, pOp->b, iOut) ) return 0;
      if( pOp->eOp==HP_OP_IN && !hpSaneIsBefore(p, pOp->b+pOp->n-1, iOut) ){
        return 0;
      }
    }
  }
  if( p->iSide!=0 || p->mxDepth>HP_MX_AROUND ) return 0;
  for(i=1; i<p->nSide; i++){
    const HpSide *pSide = &p->aSide[i];
    if( pSide->iFrom>=pSide->iTo || pSide->iTo>p->nOp ) return 0;
    if( i>1 && pSide->iFrom<pSide[-1].iFrom ) return 0;
    if( pSide->iSame>i || pSide->iAround>=pSide->iSame ) return 0;
    for(k=0; k<pSide->n; k++){
      int iVec = p->aArg[pSide->iArg+k];
      if( !hpSaneIsBefore(p, iVec, p->aOp[pSide->iFrom].iOut) ) return 0;
    }
  }
  for(i=0; i<p->nFilter; i++){
    if( p->aFilter[i].iVec>=p->nVec || p->aFilter[i].nOp>p->nOp ) return 0;
    if( i>0 && p->aFilter[i].nOp<p->aFilter[i-1].nOp ) return 0;
  }
  return 1;
}

/*
** Invariant 1: no two columns are the same, and they are in the order of the
** record, the rowid of a table first, that of an index last.
*/
static int hpSaneColumns(const HpSourcePlan *pPlan){
  int i;
  if( pPlan->nCol<0 || pPlan->nCol>HP_MX_COL ) return 0;
  for(i=1; i<pPlan->nCol; i++){
    if( pPlan->aCol[i].iStore<=pPlan->aCol[i-1].iStore ) return 0;
  }
  if( pPlan->nCol==0 ) return pPlan->mxCol<0 && pPlan->bRowid==0;
  return pPlan->bRowid==(pPlan->aCol[0].iStore<0)
      && pPlan->mxCol==pPlan->aCol[pPlan->nCol-1].iStore
      && (pPlan->bIdxRowid==0 || pPlan->bIndex);
}

/*
** True if the program and the columns of pPipe, which has just been compiled,
** hold together.
*/
static int hpSanePipe(const HpPipePlan *pPipe){
  return hpSaneColumns(&pPipe->source) && hpSaneProg(pPipe);
}

/* Is iReg a register of the statement? */
static int hpSaneReg(const Parse *pParse, int iReg){
  return iReg>0 && iReg<=pParse->nMem;
}

/* Is iReg the first of n registers of the statement, or none? */
static int hpSaneRegs(const Parse *pParse, int iReg, int n){
  return iReg==0 || (iReg>0 && iReg+n-1<=pParse->nMem);
}

/* Are aVec[0..n-1] vectors of the program? */
static int hpSaneVecs(const HpProg *p, const u16 *aVec, int n){
  int i;
  for(i=0; i<n; i++){
    if( aVec[i]>=p->nVec ) return 0;
  }
  return 1;
}

/* Is iVec a vector of the program, or none? */
static int hpSaneVec(const HpProg *p, int iVec){
  return iVec==HP_NO_VEC || iVec<p->nVec;
}

/* Are the keys vectors of the program? */
static int hpSaneKeys(const HpProg *p, const HpKeys *pKeys){
  return pKeys->n>=0
      && (pKeys->n==0 || (pKeys->aVec && pKeys->aColl && pKeys->aSort))
      && hpSaneVecs(p, pKeys->aVec, pKeys->n);
}

/* Do both have the same columns, as far as comparing them goes? */
static int hpSameKeys(const HpKeys *a, const HpKeys *b){
  int i;
  if( a->n!=b->n || a->n<1 ) return 0;
  for(i=0; i<a->n; i++){
    if( a->aColl[i]!=b->aColl[i] || a->aSort[i]!=b->aSort[i] ) return 0;
  }
  return 1;
}

/* Invariant 9 of the bounds of a scan */
static int hpSaneRange(const Parse *pParse, const HpRange *p){
  int i;
  if( p->nEq<0 || p->nEq>HP_MX_EQ || p->nSkip>HP_MX_SMALL ) return 0;
  if( p->pKeyInfo==0 && p->nEq>0 ) return 0;
  for(i=0; i<p->nEq; i++){
    if( i!=p->iIn || p->nIn==0 ){
      if( !hpSaneReg(pParse, p->aEq[i].iReg) ) return 0;
    }
  }
  if( p->nIn<0 || p->nIn>HP_MX_IN || (p->nIn>0 && p->iIn>=p->nEq) ) return 0;
  for(i=0; i<p->nIn; i++){
    if( !hpSaneReg(pParse, p->aInReg[i]) ) return 0;
  }
  return hpSaneRegs(pParse, p->aEnd[0].iReg, 1)
      && hpSaneRegs(pParse, p->aEnd[1].iReg, 1);
}

/*
** Invariant 5 of a sink that makes groups; and 9.
*/
static int hpSaneGroups(
  const Parse *pParse,
  const HpPlan *pPlan,
  const HpProg *pProg,
  const HpGroupPlan *p
){
  int i;
  if( p->entry.szEntry<=0 || !hpSaneKeys(pProg, &p->keys) ) return 0;
  for(i=0; i<p->nAgg; i++){
    const HpAggDef *pAgg = &p->aAgg[i];
    if( pAgg->eAgg<HP_AGG_COUNT || pAgg->eAgg>HP_AGG_LOG ) return 0;
    if( !hpSaneVec(pProg, pAgg->iVec) ) return 0;
    if( !hpSaneVec(pProg, pAgg->iFilter) ) return 0;
    if( pAgg->nArg>HP_MX_ARG ) return 0;
    if( !hpSaneVecs(pProg, pAgg->aArg, pAgg->nArg) ) return 0;
    if( pAgg->iSet<-1 || pAgg->iSet>=p->nSet ) return 0;
    if( pAgg->iOff>=p->entry.szEntry ) return 0;
  }
  for(i=0; i<p->nBare; i++){
    const struct HpBare *pBare = &p->aBare[i];
    const HpRelPlan *pRel;
    if( !hpSaneVec(pProg, pBare->iVec) || pBare->iKey>=p->keys.n ) return 0;
    if( pBare->iRel<0 ) continue;
    if( pBare->iRel>=pPlan->nPipe-1 ) return 0;
    pRel = pPlan->aPipe[pBare->iRel].pRel;
    if( pRel==0 || pBare->iRelCol>=pRel->nCol ) return 0;
  }
  for(i=0; i<p->nHaving; i++){
    if( p->aHaving[i].iAgg>=p->nAgg ) return 0;
    if( !hpSaneVec(pProg, p->aHaving[i].iVec) ) return 0;
  }
  if( p->top.iLimitReg ){
    if( !hpSaneReg(pParse, p->top.iLimitReg) ) return 0;
    if( p->top.iAgg>=p->nAgg ) return 0;
  }
  return hpSaneRegs(pParse, p->iKeyReg, p->keys.n)
      && hpSaneRegs(pParse, p->iBareReg, p->nBare);
}

/* Invariant 5 of records that are sorted */
static int hpSaneSort(
  const Parse *pParse,
  const HpPlan *pPlan,
  const HpPipePlan *pPipe
){
  const HpSortPlan *p = pPipe->pSort;
  int i;
  if( p->row.entry.bRows==0 || p->row.nAgg!=0 ) return 0;
  if( !hpSaneGroups(pParse, pPlan, &pPipe->prog, &p->row) ) return 0;
  for(i=0; i<p->nField; i++){
    const HpField *pField = &p->aField[i];
    if( pField->eField>HP_FIELD_REAL && pField->eField!=HP_FIELD_WHOLE ){
      return 0;
    }
    if( hpFieldIsVec(pField) && pField->iVec>=pPipe->prog.nVec ){
      return 0;
    }
    if( (pField->eField==HP_FIELD_RAW || pField->eField==HP_FIELD_REAL)
     && pField->iCol>=pPipe->source.nCol
    ){
      return 0;
    }
  }
  if( p->pPart && !hpSaneKeys(&pPipe->prog, &p->pPart->keys) ) return 0;
  return hpSaneRegs(pParse, p->iLimitReg, 1);
}

/* Invariant 5 of records that fill a table */
static int hpSaneFill(
  const Parse *pParse,
  const HpPlan *pPlan,
  const HpPipePlan *pPipe
){
  const HpFillPlan *p = pPipe->pFill;
  return pPipe->pSort==&p->rows && p->rows.row.keys.n==0 && pPlan->xTask!=0
      && hpSaneSort(pParse, pPlan, pPipe)
      && hpSaneVec(&pPipe->prog, p->iKey)
      && hpSaneVecs(&pPipe->prog, p->aNotNull, p->nNotNull);
}

/* Invariant 5 of a relation */
static int hpSaneRel(const HpProg *p, const HpRelPlan *pRel){
  return pRel->key.keys.n>0
      && pRel->key.aNever!=0
      && hpSaneKeys(p, &pRel->key.keys)
      && hpSaneVecs(p, pRel->aVec, pRel->nCol);
}

/*
** Invariant 3: what the sink of a pipe needs is there.
*/
static int hpSaneSink(
  const Parse *pParse,
  const HpPlan *pPlan,
  const HpPipePlan *p
){
  const HpSinkType *pSink = p->pSink;
  int nWhat = (p->pGroup!=0) + (p->pSort!=0) + (p->pFind!=0) + (p->pRel!=0)
            + (p->pPrefix!=0) + (p->pCheck!=0);
  if( p->source.pType==0 || pSink==0 || nWhat!=1 ) return 0;
  if( p->pGroup ){
    return pSink==&hpSinkGroups
        && hpSaneGroups(pParse, pPlan, &p->prog, p->pGroup);
  }
  if( p->pFill ) return pSink==&hpSinkSpool && hpSaneFill(pParse, pPlan, p);
  if( p->pSort ) return pSink==&hpSinkSort && hpSaneSort(pParse, pPlan, p);
  if( p->pRel ) return pSink==&hpSinkRel && hpSaneRel(&p->prog, p->pRel);
  if( p->pPrefix && pSink==&hpSinkNone ){
    return p->pPrefix->keys.n==0 && p->prog.nFilter==1;
  }
  if( p->pPrefix && pSink==&hpSinkCount ) return p->pPrefix->keys.n==0;
#ifdef HP_ANALYZE
  if( p->pPrefix ){
    return pSink==&hpSinkPrefix && p->prog.nFilter==0
        && hpSaneKeys(&p->prog, &p->pPrefix->keys)
        && (p->pPrefix->bUnique==0 || p->pPrefix->keys.n==1);
  }
#endif
  if( p->pCheck ){
    return pSink==&hpSinkCheck && hpSaneKeys(&p->prog, &p->pCheck->order);
  }
  return (pSink==&hpSinkTop || pSink==&hpSinkFirst || pSink==&hpSinkRowids)
      && hpSaneKeys(&p->prog, &p->pFind->keys)
      && (pSink!=&hpSinkRowids || p->pFind->keys.n==0)
      && p->pFind->nTie<=p->pFind->keys.n
      && hpSaneRegs(pParse, p->pFind->iLimitReg, 1);
}

/*
** Invariant 4: the source of a pipe gives what its sink takes.
*/
static int hpSaneSource(const HpPipePlan *p){
  const HpSourcePlan *pSource = &p->source;
  int i;
  if( pSource->pType==&hpCountType ){
    /* How many entries there are is all that it says */
    if( pSource->nCol>0 || p->prog.nOp>0 || pSource->pRange ) return 0;
    if( p->pGroup==0 ) return p->pPrefix!=0;
    for(i=0; i<p->pGroup->nAgg; i++){
      if( p->pGroup->aAgg[i].eAgg!=HP_AGG_COUNT ) return 0;
      if( p->pGroup->aAgg[i].iVec!=HP_NO_VEC ) return 0;
    }
    return p->pGroup->keys.n==0 && p->pGroup->nBare==0;
  }
  if( pSource->pType==&hpRegroupType ){
    /* They are in no b-tree, and one worker has all of them */
    return p->pRel!=0 && p->bSerial && pSource->pRange==0
        && pSource->bPlaces==0;
  }
#ifdef HP_ANALYZE
  if( pSource->pType==&hpPrefixScanType ) return p->pSink==&hpSinkPrefix;
#endif
  if( pSource->pType!=&hpLeavesType ) return 0;
  if( p->prog.nRange>0 && pSource->pRange==0 ) return 0;
  /* Rows are found again by their places, or by their rowids */
  if( p->pFind ) return pSource->bPlaces!=p->pFind->bByRowid;
  return pSource->bPlaces==0;
}

/*
** Relation iRel as pipe iPipe may look it up, or NULL if it has not been made
** by then: invariant 6.
*/
static const HpRelPlan *hpSaneMade(const HpPlan *pPlan, int iPipe, int iRel){
  int nRel = pPlan->nPipe-1;
  const HpPipePlan *pOwn = &pPlan->aPipe[iPipe];
  int i, k;
  if( iRel<nRel ) return iRel<iPipe ? pPlan->aPipe[iRel].pRel : 0;
  /* Of the keys that a later pipe wants: only the first filter reads it */
  if( pOwn->eWant==0 || pOwn->iWant!=iRel || iRel>=2*nRel ) return 0;
  for(i=iPipe+1; i<pPlan->nPipe; i++){
    const HpPipePlan *p = &pPlan->aPipe[i];
    for(k=0; k<p->nWant; k++){
      if( p->aWant[k]->iRel==iRel ) return p->aWant[k];
    }
    for(k=0; k<p->nSubWant; k++){
      if( p->aSubWant[k]->iRel==iRel ) return p->aSubWant[k];
    }
  }
  return 0;
}

/*
** Invariant 8: does vector iVec have numbers of rows of relation iRel?  They
** have been looked up in it, or another relation has kept them.
*/
static int hpSaneIsRow(const HpProg *p, int iVec, int iRel){
  int i;
  for(i=0; i<p->nOp; i++){
    const HpOp *pOp = &p->aOp[i];
    if( pOp->iOut!=iVec ) continue;
    return pOp->eOp==HP_OP_ROW ? pOp->a==iRel
         : pOp->eOp==HP_OP_GATHER && pOp->a!=iRel;
  }
  return 0;
}

/*
** Invariants 6, 7 and 8: what pipe iPipe looks up, and what it reads of that.
*/
static int hpSaneLookups(const HpPlan *pPlan, int iPipe){
  const HpProg *p = &pPlan->aPipe[iPipe].prog;
  int i;
  for(i=0; i<p->nOp; i++){
    const HpOp *pOp = &p->aOp[i];
    const HpLookup *pKey = (const HpLookup*)pOp->pInfo;
    const HpRelPlan *pRel;
    if( pOp->eOp<HP_OP_LOOKUP || pOp->eOp>HP_OP_SET ) continue;
    if( pOp->eOp==HP_OP_SET ){
      if( pOp->a>=pPlan->nSet || pKey==0 || pOp->n!=pKey->keys.n ) return 0;
      pRel = pPlan->aSet[pOp->a].pipe.pRel;
      if( !hpSaneKeys(p, &pKey->keys) ) return 0;
      if( !hpSameKeys(&pKey->keys, &pRel->key.keys) ) return 0;
      continue;
    }
    pRel = hpSaneMade(pPlan, iPipe, pOp->a);
    if( pRel==0 ) return 0;
    if( pOp->eOp==HP_OP_LOOKUP ){
      if( pKey==0 || pKey->aNever==0 || pOp->n!=pKey->keys.n ) return 0;
      if( !hpSaneKeys(p, &pKey->keys) ) return 0;
      if( !hpSameKeys(&pKey->keys, &pRel->key.keys) ) return 0;
    }else if( pOp->n!=1 ){
      return 0;
    }
    if( pOp->eOp==HP_OP_GATHER
     && (pOp->b>=pRel->nCol || !hpSaneIsRow(p, p->aArg[pOp->iArg], pOp->a))
    ){
      return 0;
    }
  }
  return 1;
}

/*
** Numbers of filters and operations that are parts of a program.
*/
static int hpSaneParts(const HpPipePlan *p){
  int i;
  if( p->nOwn>p->prog.nFilter || p->nLook>p->prog.nFilter ) return 0;
  if( p->nWantOp>p->prog.nOp || p->nSubWantOp>p->prog.nOp ) return 0;
  for(i=0; i<p->nWant; i++){
    if( !p->aWant[i]->bWant || !hpSaneRel(&p->prog, p->aWant[i]) ) return 0;
  }
  for(i=0; i<p->nSubWant; i++){
    if( !p->aSubWant[i]->bWant ) return 0;
    if( !hpSaneRel(&p->prog, p->aSubWant[i]) ) return 0;
  }
  return 1;
}

/*
** True if pPlan, which has just been compiled, holds together.
*/
static int hpSanePlan(const Parse *pParse, const HpPlan *pPlan){
  int i, k;
  if( pPlan->nPipe<1 || pPlan->nPipe>HP_MX_PIPE ) return 0;
  if( pPlan->nSet<0 || pPlan->nSet>HP_MX_SET ) return 0;
  for(i=0; i<pPlan->nSet; i++){
    const HpPipePlan *p = &pPlan->aSet[i].pipe;
    if( p->source.pType!=&hpSetType || p->pRel==0 ) return 0;
    if( !hpSaneSink(pParse, pPlan, p) ) return 0;
    if( p->pRel->iRel!=2*(pPlan->nPipe-1)+i ) return 0;
  }
  for(i=0; i<pPlan->nPipe; i++){
    const HpPipePlan *p = &pPlan->aPipe[i];
    int bLast = i==pPlan->nPipe-1;
    if( !hpSaneSink(pParse, pPlan, p) ) return 0;
    if( !hpSaneLookups(pPlan, i) || !hpSaneParts(p) ) return 0;
    if( !hpSanePipe(p) || !hpSaneSource(p) ) return 0;
    if( p->source.pRange && !hpSaneRange(pParse, p->source.pRange) ) return 0;
    if( (bLast && p->bMore) || (i==0 && p->bAdds) ) return 0;
    if( !bLast && p->bMore!=pPlan->aPipe[i+1].bAdds ) return 0;
    /* Of a join all but the last pipe make relations: their own, or groups of
    ** which the next one makes it */
    if( p->pRel && p->pRel->iRel!=i ) return 0;
    if( p->source.pType==&hpRegroupType
     && (i==0 || pPlan->aPipe[i-1].pGroup==0 || p->pRel==0)
    ){
      return 0;
    }
    if( !bLast && !p->bMore && p->pRel==0 && p->pCheck==0
     && pPlan->aPipe[i+1].source.pType!=&hpRegroupType
    ){
      return 0;
    }
    if( p->bMore ){
      const HpGroupPlan *a = p->pGroup, *b = pPlan->aPipe[i+1].pGroup;
      if( a==0 || b==0 || a->entry.szEntry!=b->entry.szEntry ) return 0;
      if( a->keys.n!=b->keys.n || a->nAgg!=b->nAgg ) return 0;
      for(k=0; k<a->nAgg; k++){
        if( a->aAgg[k].iOff!=b->aAgg[k].iOff ) return 0;
      }
    }
  }
  return pPlan->pSearch==0 || pPlan->pSearch->pRange==0
      || hpSaneRange(pParse, pPlan->pSearch->pRange);
}
#endif /* SQLITE_DEBUG */
#endif /* SQLITE_OMIT_HP */
