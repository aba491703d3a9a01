/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_expr: running a vector program.
**
**    hpExprOpen()      a worker's vectors; constant operations run
**    hpExprFilter()    run the filters: narrows the selection vector
**    hpExprRest()      run the rest, under the final selection
**    hpExprRangeIsWhole()    were the rows in range in one piece, over all workers?
**    hpExprClose()     free what operations keep
**
** An operation computes one vector from others, for the rows of the
** selection vector.  It looks at the types that occur in its operands and
** takes a typed loop where they are all integers, all reals, or all text,
** and otherwise one general loop, in which everything but plain numbers is
** turned into a Mem and handed to the functions that the VDBE itself uses
** (sqlite3MemCompare, applyNumericAffinity, sqlite3VdbeBooleanValue, ...).
** The typed loops are what makes it fast; the general loop is what makes it
** right; each typed loop says under which condition it is the same thing.
**
** Cheap operands are computed for all selected rows, whether or not SQL's short
** cuts would have reached them; dear ones, and those that may fail, only where
** a CASE, COALESCE, AND or OR leads to them (hp_side.c).  Operators cannot fail
** but for memory.  A function that fails sets p->rcOp to HP_DECLINE: stock's
** code then finds the error, or finds that it does not matter.  Out of memory
** inside a stock function sets db->mallocFailed, which is looked at after each
** batch.
**
** An operation whose operands are constants is one itself: hpExprOpen()
** computes it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Set pOut to aArg[p->aPick[i]] in each row i, or to NULL where aPick[i] is
** n.
*/
static void hpVecPick(HpFrame *p, HpVec *pOut, const u16 *aArg, int n){
  const u16 *aPick = p->aPick;
  u8 mType = 0;
  u8 bFloat = 1;         /* All in float form or reals */
  int k;
  for(k=0; k<n; k++){
    HpVec *pVec = &p->aVec[aArg[k]];
    mType |= pVec->mType;
    if( pVec->mIdx==0 && pVec->mType==HP_INT
     && pVec->aVal[0].i<=1000000 && pVec->aVal[0].i>=-1000000
    ){
      continue;          /* Converted below */
    }
    if( pVec->bFloat==0 && pVec->mType!=HP_REAL && pVec->mType!=0 ) bFloat = 0;
  }
  if( mType!=HP_NUM ) bFloat = 0;
  for(k=0; k<n && bFloat==0; k++) hpVecExact(p, &p->aVec[aArg[k]]);
  mType = 0;
  HP_ROWS(p, {
    u8 t = HP_NULL;
    assert( aPick[i]<=n );
    if( aPick[i]<n ){
      const HpVec *pVec = &p->aVec[aArg[aPick[i]]];
      int iIn = i & pVec->mIdx;
      t = pVec->aTag[iIn];
      pOut->aVal[i] = pVec->aVal[iIn];
      pOut->aLen[i] = pVec->aLen[iIn];
      if( bFloat && pVec->mIdx==0 && t==HP_INT ){
        pOut->aVal[i].r = (double)pVec->aVal[0].i;
      }
    }
    pOut->aTag[i] = t;
    mType |= t;
  })
  pOut->bFloat = bFloat;
  pOut->mType = mType;
  if( mType!=HP_NUM ) hpVecExact(p, pOut);
}

/*
** Compute a CASE without base: arguments are WHEN, THEN, WHEN, THEN, ..., and
** perhaps ELSE.
*/
static void hpOpCase(HpFrame *p, const HpOp *pOp, HpVec *pOut){
  const u16 *aArg = &p->pProg->aArg[pOp->iArg];
  u16 aThen[HP_MX_LIST/2+1];
  u16 *aPick = p->aPick;
  int nWhen = pOp->n/2;
  int k;
  assert( nWhen>0 && pOp->n<=HP_MX_LIST );
  for(k=0; k<nWhen; k++) aThen[k] = aArg[2*k+1];
  if( pOp->n%2 ) aThen[nWhen] = aArg[2*nWhen];
  HP_ROWS(p, { aPick[i] = (u16)nWhen; })
  for(k=nWhen-1; k>=0; k--){
    HpVec *pWhen = &p->aVec[aArg[2*k]];
    hpVecExact(p, pWhen);
    if( (pWhen->mType & ~(HP_INT|HP_NULL))==0 ){
      const u8 *aTag = pWhen->aTag;
      const HpVal *aVal = pWhen->aVal;
      u32 m = pWhen->mIdx;
      HP_ROWS(p, {
        int b = (aTag[i & m]==HP_INT) & (aVal[i & m].i!=0);
        aPick[i] = b ? (u16)k : aPick[i];
      })
    }else{
      HP_ROWS(p, {
        if( hpVecTruth(p, pWhen, i)==1 ) aPick[i] = (u16)k;
      })
    }
  }
  hpVecPick(p, pOut, aThen, nWhen + pOp->n%2);
}

/*
** Compute COALESCE(): the first argument that is not NULL.
*/
static void hpOpCoalesce(HpFrame *p, const HpOp *pOp, HpVec *pOut){
  const u16 *aArg = &p->pProg->aArg[pOp->iArg];
  u16 *aPick = p->aPick;
  int n = pOp->n;
  int k;
  if( (p->aVec[aArg[0]].mType & HP_NULL)==0 ){
    hpTextCopy(p, pOut, &p->aVec[aArg[0]]);
    return;
  }
  HP_ROWS(p, { aPick[i] = (u16)(n-1); })
  for(k=n-2; k>=0; k--){
    const HpVec *pVec = &p->aVec[aArg[k]];
    const u8 *aTag = pVec->aTag;
    u32 m = pVec->mIdx;
    HP_ROWS(p, { aPick[i] = aTag[i & m]!=HP_NULL ? (u16)k : aPick[i]; })
  }
  hpVecPick(p, pOut, aArg, n);
}

/*
** Compute CASE or COALESCE.  Operands that are sides have values for selected
** rows only, so of what is not selected no operand is read.
*/
static void hpOpChoose(HpFrame *p, const HpOp *pOp, HpVec *pOut){
  u8 bDense = p->bDense;
  int bFill = pOp->bSide && bDense && p->nSel<p->nRow;
  if( bFill ) p->bDense = 0;
  if( pOp->eOp==HP_OP_CASE ){
    hpOpCase(p, pOp, pOut);
  }else{
    hpOpCoalesce(p, pOp, pOut);
  }
  p->bDense = bDense;
  if( bFill ) hpVecFill(p, pOut);
}

/*
** Run a comparison by an application's collation into p->aBool.  Only rows that
** are selected are compared; the others are false.
*/
static void hpOpUser(HpFrame *p, int iOp){
  const HpOp *pOp = &p->pProg->aOp[iOp];
  u8 bDense = p->bDense;
  /* The application's code runs in the thread that it has called us in */
  assert( pOp->bUser && p->db==p->pWorker->pPipe->pQuery->db );
  hpVecExact(p, &p->aVec[pOp->a]);
  if( pOp->eOp==HP_OP_COMPARE ) hpVecExact(p, &p->aVec[pOp->b]);
  memset(p->aBool, 0, p->nRow);
  p->bDense = 0;
  if( pOp->eOp==HP_OP_COMPARE ){
    hpCompareRun(p, pOp);
  }else{
    hpInRun(p, pOp, p->apState[iOp]);
  }
  p->bDense = bDense;
}

/*
** Compute a AND b, or a OR b, into p->aBool.  With bSide b is only there where
** a leaves the answer open.
*/
static void hpOpLogic(HpFrame *p, HpVec *pA, HpVec *pB, int bOr, int bSide){
  /* By 3*a+b, where 2 is NULL */
  static const u8 aaTruth[2][9] = {
    { 0,0,0,  0,1,2,  0,2,2 },
    { 0,1,2,  1,1,1,  2,1,2 },
  };
  const u8 *aTruth = aaTruth[bOr];
  const HpVal *aA = pA->aVal;
  const HpVal *aB = pB->aVal;
  u32 mA = pA->mIdx;
  u32 mB = pB->mIdx;
  u8 *aBool = p->aBool;
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  if( bSide ){
    const u8 *aTagB = pB->aTag;
    if( pB->mType & ~(HP_INT|HP_NULL) ){
      int ii;
      if( p->nSel<p->nRow ) memset(aBool, 0, p->nRow);
      for(ii=0; ii<p->nSel; ii++){
        int i = p->aSel[ii];
        u8 b = hpVecBool(p, pA, i);
        if( b!=bOr ) b = aTruth[3*b + hpVecBool(p, pB, i)];
        aBool[i] = b;
      }
      return;
    }
    /* What stands where b is not there does not matter: no branch */
    HP_ROWS(p, {
      u8 b = aTagB[i & mB]!=HP_INT ? 2 : aB[i & mB].i!=0;
      aBool[i] = aTruth[3*hpVecBool(p, pA, i) + b];
    })
    return;
  }
  if( pA->mType==HP_INT && pB->mType==HP_INT && bOr ){
    HP_ROWS(p, { aBool[i] = (aA[i & mA].i!=0) | (aB[i & mB].i!=0); })
  }else if( pA->mType==HP_INT && pB->mType==HP_INT ){
    HP_ROWS(p, { aBool[i] = (aA[i & mA].i!=0) & (aB[i & mB].i!=0); })
  }else{
    HP_ROWS(p, { aBool[i] = aTruth[3*hpVecBool(p, pA, i) + hpVecBool(p, pB, i)]; })
  }
}

/* Does an operation read a vector that has no values yet? */
static int hpOpReadsCodes(const HpFrame *p, const HpOp *pOp){
  const u16 *aArg = &p->pProg->aArg[pOp->iArg];
  int k;
  if( pOp->eOp>=HP_OP_CASE ){
    for(k=0; k<pOp->n && p->aVec[aArg[k]].bCodes==0; k++){}
    return k<pOp->n;
  }
  return p->aVec[pOp->a].bCodes || (pOp->eOp!=HP_OP_TRUTH && p->aVec[pOp->b].bCodes);
}

/* Relation i: an earlier pipe has made it */
static const HpRel *hpOpRel(const HpFrame *p, int i){
  const HpQuery *pQuery = p->pWorker->pPipe->pQuery;
  assert( i<pQuery->nRel );
  return pQuery->apRel[i];
}

/*
** Run operation iOp for the rows selected.
*/
static void hpOpRun(HpFrame *p, int iOp){
  const HpOp *pOp = &p->pProg->aOp[iOp];
  HpVec *pOut = &p->aVec[pOp->iOut];
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  u8 *aBool = p->aBool;
  assert( p->nSel>0 && p->rcOp==0 );
  assert( pOp->bConst || pOut->nDepth==p->nDepth );

  if( p->nCodes>0 && pOp->eOp!=HP_OP_COLUMN && hpOpReadsCodes(p, pOp) ){
    if( hpCodesRun(p, iOp) ){
      if( !pOp->bFilter ) hpVecFromBool(p, pOut);
      return;
    }
    hpCodesNow(p, 0);
  }
  switch( pOp->eOp ){
    case HP_OP_COLUMN:
      if( hpCodesLater(p, iOp) || hpCodesLate(p, pOp) ) return;
      p->pSource->xColumn(p, pOp->a, pOut);
      return;
    case HP_OP_ARITH:
      hpArithRun(p, pOp, pOut);
      return;
    case HP_OP_BIT:
    case HP_OP_BITNOT:
      hpArithBit(p, pOp, pOut);
      return;
    case HP_OP_CONCAT:
      hpTextConcat(p, pOp, pOut);
      return;
    case HP_OP_CAST:
    case HP_OP_AFFINITY:
      hpTextCast(p, pOp, pOut);
      return;
    case HP_OP_CASE:
    case HP_OP_COALESCE:
      hpOpChoose(p, pOp, pOut);
      return;
    case HP_OP_FUNC:
      hpFuncRun(p, iOp);
      return;
    case HP_OP_LOOKUP:
      hpRelLookup(p, pOp, hpOpRel(p, pOp->a), p->apState[iOp], pOut);
      return;
    case HP_OP_SET: {
      const HpQuery *pQuery = p->pWorker->pPipe->pQuery;
      assert( pOp->a<pQuery->nSet );
      hpRelIn(p, pOp, pQuery->apRel[pQuery->nRel+pOp->a], p->apState[iOp],
              pOut);
      return;
    }
    case HP_OP_ROW:
      hpRelRow(p, hpOpRel(p, pOp->a),
               &p->aVec[p->pProg->aArg[pOp->iArg]], pOut);
      return;
    case HP_OP_GATHER:
      assert( hpRelHasRows(p, hpOpRel(p, pOp->a),
                           &p->aVec[p->pProg->aArg[pOp->iArg]], 0) );
      hpRelGather(p, &hpOpRel(p, pOp->a)->aCol[pOp->b],
                  &p->aVec[p->pProg->aArg[pOp->iArg]], pOp->op, pOut);
      return;
    case HP_OP_COMPARE:
      if( pOp->bUser ){
        hpOpUser(p, iOp);
      }else{
        hpCompareRun(p, pOp);
      }
      break;
    case HP_OP_IN:
      if( pOp->bUser ){
        hpOpUser(p, iOp);
        break;
      }
      hpVecExact(p, pA);
      hpInRun(p, pOp, p->apState[iOp]);
      break;
    case HP_OP_LIKE:
      hpVecExact(p, pB);
      hpLikeRun(p, pOp, p->apState[iOp]);
      break;
    case HP_OP_ISNULL:
      HP_ROWS(p, {
        int bNull = pA->aTag[i & pA->mIdx]==HP_NULL;
        aBool[i] = bNull==(pOp->op==TK_ISNULL);
      })
      break;
    case HP_OP_NOT:
      hpVecExact(p, pA);
      HP_ROWS(p, {
        u8 b = hpVecBool(p, pA, i);
        aBool[i] = b==2 ? 2 : !b;
      })
      break;
    case HP_OP_TRUTH:
      hpVecExact(p, pA);
      HP_ROWS(p, {
        u8 b = hpVecBool(p, pA, i);
        if( b==2 ) b = pOp->b & 1;
        aBool[i] = b ^ (pOp->b>>1);
      })
      break;
    default:
      assert( pOp->eOp==HP_OP_AND || pOp->eOp==HP_OP_OR );
      hpOpLogic(p, pA, pB, pOp->eOp==HP_OP_OR, pOp->bSide);
      break;
  }
  if( !pOp->bFilter ) hpVecFromBool(p, pOut);
}

/*
** Compute operation iOp, which is constant, for one row that stands for all.
*/
static void hpOpRunConst(HpFrame *p, int iOp){
  u16 *aSel = p->aSel;
  assert( p->nRow==0 && p->pProg->aOp[iOp].bConst );
  p->aSel = p->aAll;
  p->nSel = 1;
  p->bDense = 0;
  p->nRow = 1;
  hpOpRun(p, iOp);
  p->aVec[p->pProg->aOp[iOp].iOut].mIdx = 0;
  p->aSel = aSel;
  p->nRow = 0;
}

#ifdef HP_SSE2
/* The table of hpExprSelect(): for each eight bits the numbers of those that are set, and how many
** these are */
static int hpExprWhich(HpFrame *p){
  int m;
  p->aWhich = hpArenaAlloc(&p->vec, 256*sizeof(p->aWhich[0]));
  if( p->aWhich==0 ) return HP_DECLINE;
  memset(p->aWhich[0], 0, sizeof(p->aWhich[0]));
  for(m=1; m<256; m++){
    const u8 *aRest = p->aWhich[m & (m-1)];    /* Without the lowest bit */
    p->aWhich[m][0] = (u8)__builtin_ctz((unsigned)m);
    memcpy(&p->aWhich[m][1], aRest, 7);
    p->aWhich[m][8] = aRest[8]+1;
  }
  return SQLITE_OK;
}
#endif

/*
** Allocate vectors and what operations keep, read the constants from registers
** aMem[], and compute what is constant.  What stands in the frame up to nAlloc has
** been set.
*/
static int hpExprOpen(HpFrame *p, Mem *aMem){
  const HpProg *pProg = p->pProg;
  i64 n = p->nAlloc;
  int i;
  assert( n>0 && p->aVec==0 && p->pSource!=0 && p->db==p->pWorker->db );
  p->iOutRange = HP_NO_POS;
  p->aSel = hpArenaAlloc(&p->vec, sizeof(u16)*n);
  p->aAll = hpArenaAlloc(&p->vec, sizeof(u16)*n);
  p->aBool = hpArenaAlloc(&p->vec, n);
  p->aVec = hpArenaAlloc(&p->vec, sizeof(HpVec)*(i64)(pProg->nVec+1));
  if( p->aSel==0 || p->aAll==0 || p->aBool==0 || p->aVec==0 ){
    return HP_DECLINE;
  }
  memset(p->aVec, 0, sizeof(HpVec)*(i64)(pProg->nVec+1));
  for(i=0; i<n; i++) p->aAll[i] = (u16)i;
#ifdef HP_SSE2
  if( pProg->nFilter && hpExprWhich(p) ) return HP_DECLINE;
#endif
  for(i=0; i<pProg->nConst; i++){
    HpVec *pVec = &p->aVec[pProg->aConst[i].iVec];
    int rc = hpVecInit(p, pVec, 1);
    if( rc ) return rc;
    hpVecConst(p, pVec, &aMem[pProg->aConst[i].iReg]);
    if( pVec->mType==0 ) return HP_DECLINE;
    if( (pVec->mType & HP_STR)
     && pVec->aLen[0]>p->pWorker->pPipe->pQuery->mxText
    ){
      return HP_DECLINE;
    }
  }
  p->aPick = hpArenaAlloc(&p->vec, sizeof(u16)*n);
  p->apState = hpArenaAlloc(&p->vec, sizeof(void*)*(i64)(pProg->nOp+1));
  if( p->aPick==0 || p->apState==0 || hpSideOpen(p) ) return HP_DECLINE;
  memset(p->apState, 0, sizeof(void*)*(i64)(pProg->nOp+1));
  for(i=0; i<pProg->nOp; i++){
    const HpOp *pOp = &pProg->aOp[i];
    int rc = hpVecInit(p, &p->aVec[pOp->iOut], pOp->bConst ? 1 : (int)n);
    if( pOp->iSide ){
      p->aVec[pOp->iOut].nDepth = pProg->aSide[pOp->iSide].nDepth;
    }
    if( rc==SQLITE_OK ){
      switch( pOp->eOp ){
        case HP_OP_IN:
          hpInAffinity(p, pOp);
          rc = hpInOpen(p, pOp, &p->apState[i]);
          break;
        case HP_OP_LIKE:
          rc = hpLikeOpen(p, pOp, &p->apState[i]);
          break;
        case HP_OP_FUNC:
          rc = hpFuncOpen(p, i);
          break;
        case HP_OP_LOOKUP:
        case HP_OP_SET:
          p->apState[i] = hpArenaAlloc(&p->vec, (n+4)*sizeof(HpPack));
          if( p->apState[i]==0 ) rc = HP_DECLINE;
          break;
      }
    }
    if( rc ) return rc;
    if( pOp->bConst ) hpOpRunConst(p, i);
    if( p->rcOp ) return p->rcOp;
  }
  assert( p->textConst.pBlock==0 && p->nDepth==0 );
  /* Text of constants computed here stays */
  p->textConst = p->text;
  memset(&p->text, 0, sizeof(p->text));
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}

/*
** Free what hpExprOpen() made.  Harmless if it has not been called.
*/
static void hpExprClose(HpFrame *p){
  hpFuncClose(p);
  hpArenaClear(&p->text);
  hpArenaClear(&p->textConst);
  hpArenaClear(&p->vec);
  sqlite3_free(p->key.a);
  memset(&p->key, 0, sizeof(p->key));
}

/*
** Run operations *piOp up to iTo, but for constant ones, and sides for the rows
** that need them.  Returns p->rcOp.
*/
static int hpOpRunTo(HpFrame *p, int *piOp, int iTo){
  const HpProg *pProg = p->pProg;
  while( *piOp<iTo ){
    if( p->iNextSide<pProg->nSide && pProg->aSide[p->iNextSide].iFrom==*piOp ){
      const HpSide *pSide = &pProg->aSide[p->iNextSide++];
      if( hpSideBegin(p, pSide) ){
        hpOpRunTo(p, piOp, pSide->iTo);
        hpSideEnd(p, pSide);
      }else{
        hpSideSkip(p, pSide);
      }
      *piOp = pSide->iTo;
    }else{
      if( pProg->aOp[*piOp].bConst==0 ) hpOpRun(p, *piOp);
      (*piOp)++;
    }
    if( p->rcOp ) return p->rcOp;
  }
  return SQLITE_OK;
}

/*
** The selected rows are those in range.  True if the worker has seen them in one
** piece so far: see hp_range.c.  The scan begins with the leaf where the first of
** them would be, so in a sound file only rows of the first run come before.
*/
static int hpExprInRange(HpFrame *p){
  int n = p->nSel;
  int nRow = p->nRow;
  const u16 *aSel = p->aSel;
  int bFirst = (p->iPos>>32)==p->pWorker->pPipe->portion.iRun && p->bInRange==0;
  /* A run has fewer rows than 2^32 */
  assert( (p->iPos>>32)==((p->iPos+nRow-1)>>32) );
  if( n==0 ){
    if( !bFirst ) p->iOutRange = MIN(p->iOutRange, p->iPos);
    return 1;
  }
  if( aSel[n-1]-aSel[0]!=n-1 || p->iOutRange!=HP_NO_POS
   || (aSel[0]!=0 && !bFirst)
  ){
    return 0;
  }
  p->bInRange = 1;
  p->iInRange = p->iPos + aSel[n-1];
  if( aSel[n-1]!=nRow-1 ) p->iOutRange = p->iInRange+1;
  return 1;
}

/*
** All workers are done.  True if none has seen a row behind the range that comes
** before one in range of another worker.
*/
static int hpExprRangeIsWhole(const HpPipe *pPipe){
  u64 iLast = 0;
  int i;
  assert( pPipe->pCrew==0 );      /* All have ended */
  for(i=0; i<pPipe->nWorker; i++){
    iLast = MAX(iLast, pPipe->apWorker[i]->frame.iInRange);
  }
  for(i=0; i<pPipe->nWorker; i++){
    if( pPipe->apWorker[i]->frame.iOutRange<iLast ) return 0;
  }
  return 1;
}

#ifdef SQLITE_DEBUG
/* Is p->aBool 0, 1 or 2 in each selected row? */
static int hpExprIsTruth(const HpFrame *p){
  int ii;
  for(ii=0; ii<p->nSel && p->aBool[p->aSel[ii]]<=2; ii++){}
  return ii==p->nSel;
}
#endif

/*
** All rows are selected.  Select those that p->aBool is 1 of.  Returns their number.
**
** Which rows pass nobody can foresee, so there is no branch: of each eight rows a table tells the
** numbers of those that pass, and as many places are written as there are rows.
*/
static int hpExprSelect(HpFrame *p){
  const u8 *aBool = p->aBool;
  u16 *aSel = p->aSel;
  int nRow = p->nRow;
  int n = 0;
  int i = 0;
#ifdef HP_SSE2
  const __m128i one = _mm_set1_epi8(1);
  for(; i+8<=nRow; i+=8){
    __m128i x = _mm_loadl_epi64((const __m128i*)&aBool[i]);
    int m = _mm_movemask_epi8(_mm_cmpeq_epi8(x, one)) & 0xff;
    __m128i a = _mm_loadl_epi64((const __m128i*)p->aWhich[m]);
    a = _mm_add_epi16(_mm_unpacklo_epi8(a, _mm_setzero_si128()), _mm_set1_epi16((short)i));
    /* n<=i, so the eight are within the vector */
    _mm_storeu_si128((__m128i*)&aSel[n], a);
    n += p->aWhich[m][8];
  }
#endif
  for(; i<nRow; i++){
    aSel[n] = (u16)i;
    n += aBool[i]==1;
  }
  return n;
}

/*
** Apply the filters: afterwards p->aSel[0..p->nSel-1] are the
** rows for which the WHERE clause is true, in order.
**
** While at least half of the rows are selected all rows are computed: loops
** without a selection vector are that much faster.
*/
static int hpExprFilter(HpFrame *p){
  const HpProg *pProg = p->pProg;
  int iOp = 0;
  int i, ii;

  assert( p->nRow>0 && p->nRow<=p->nAlloc && p->rcOp==0 );
  assert( p->nCodes==0 && p->nDepth==0 );
  p->bFiltering = 1;
  p->iNextSide = pProg->nSide>0;
  p->nSel = p->nRow;
  p->bDense = 1;
  memcpy(p->aSel, p->aAll, sizeof(u16)*p->nSel);
  hpArenaReset(&p->text);
  for(i=0; i<pProg->nFilter && p->nSel>0; i++){
    const struct HpFilter *pFilter = &pProg->aFilter[i];
    int n = 0;
    if( hpOpRunTo(p, &iOp, pFilter->nOp) ) return p->rcOp;
    if( iOp==0 || !pProg->aOp[iOp-1].bFilter
     || pProg->aOp[iOp-1].iOut!=pFilter->iVec
    ){
      HpVec *pVec = &p->aVec[pFilter->iVec];
      hpCodesNow(p, 0);
      hpVecExact(p, pVec);
      for(ii=0; ii<p->nSel; ii++){
        p->aBool[p->aSel[ii]] = hpVecTruth(p, pVec, p->aSel[ii]);
      }
    }
    assert( hpExprIsTruth(p) );
    if( p->nSel==p->nRow ){
      n = hpExprSelect(p);
    }else{
      for(ii=0; ii<p->nSel; ii++){
        u16 row = p->aSel[ii];
        p->aSel[n] = row;
        n += p->aBool[row]==1;
      }
    }
    assert( n<=p->nSel );
    p->nSel = n;
    p->bDense = n*2>=p->nRow;
    if( i+1==pProg->nRange && !hpExprInRange(p) ) return HP_DECLINE;
  }
  if( i<pProg->nRange && !hpExprInRange(p) ) return HP_DECLINE;
  p->bFiltering = 0;
  hpCodesNow(p, 1);
  assert( hpVecIsSelection(p) && p->nCodes==0 );
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}

#ifdef SQLITE_DEBUG
/* Has each row that passed the filters a partner where it must have one? */
static int hpExprHasPartners(const HpFrame *p){
  const HpProg *pProg = p->pProg;
  int i;
  for(i=0; i<pProg->nOp; i++){
    const HpOp *pOp = &pProg->aOp[i];
    if( pOp->eOp==HP_OP_GATHER && pOp->op==0 && pOp->iSide==0
     && !hpRelHasRows(p, hpOpRel(p, pOp->a),
                      &p->aVec[pProg->aArg[pOp->iArg]], 1)
    ){
      return 0;
    }
  }
  return 1;
}
#endif

/*
** Compute keys and arguments for the rows that passed the filters.
*/
static int hpExprRest(HpFrame *p){
  const HpProg *pProg = p->pProg;
  int iOp = pProg->nFilter ? pProg->aFilter[pProg->nFilter-1].nOp : 0;
  assert( p->bFiltering==0 && p->nCodes==0 && p->nSel>0 );
  assert( p->nDepth==0 );
  while( p->iNextSide<pProg->nSide && pProg->aSide[p->iNextSide].iFrom<iOp ){
    p->iNextSide++;      /* Of filters that no row was left for */
  }
  if( hpOpRunTo(p, &iOp, pProg->nOp) ) return p->rcOp;
  assert( p->nDepth==0 && hpExprHasPartners(p) );
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
