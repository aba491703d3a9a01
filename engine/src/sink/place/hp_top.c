/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_top: the first rows of an ORDER BY with LIMIT.
**
**    hpTopOpen()     begin
**    hpTopRows()     look at the selected rows of a frame
**    hpTopRun()      a run of leaves is done
**    hpTopMerge()    the best rows of all workers
**
** The best rows are in a heap with the worst on top.  A row has to be better than
** that one to come in; of those with equal keys the first scanned stays, as in stock's
** sorter.  From the worst row follows a bound on the first ORDER BY term, by
** which records are passed over before they are cut (HpBound).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* A row of the heap */
#define hpTopPlace(A)  (*(i64*)(A))
#define hpTopKey(A)    ((HpKept*)&(A)[sizeof(i64)])

/*
** Compare two rows of the heap.  Of equal rows the one scanned later comes later
** in the order.
*/
static int hpTopCompare(const HpTop *pTop, u8 *aA, u8 *aB){
  const HpFindPlan *pPlan = pTop->found.pPlan;
  const HpKept *a = hpTopKey(aA);
  const HpKept *b = hpTopKey(aB);
  int c = hpKeptCompareKeys(&pPlan->keys, pTop->iKey, &a[pTop->iKey], &b[pTop->iKey]);
  if( c ) return c;
  assert( hpTopPlace(aA)!=hpTopPlace(aB) );   /* No row is there twice */
  return hpTopPlace(aA)<hpTopPlace(aB) ? -1 : 1;
}

/*
** True if row i of the batch, which is scanned later than all rows of the
** heap, comes before aTop.
*/
static int hpTopIsBetter(
  const HpFindPlan *pPlan,
  const HpFrame *p,
  u8 *aTop,
  int i
){
  return hpKeptCompareRow(&pPlan->keys, 0, p, i, hpTopKey(aTop))<0;
}

/*
** Put row i of the batch into aRow, a row of the heap.  Stock would read the
** result columns of such a row, be it that better ones come later.
*/
static int hpTopSet(HpTop *pTop, const HpFrame *p, u8 *aRow, int i){
  const HpFindPlan *pPlan = pTop->found.pPlan;
  int k, rc;
  hpTopPlace(aRow) = hpFoundPlace(&pTop->found, i, 1);
  if( hpTopPlace(aRow)<0 ) return HP_DECLINE;
  for(k=0; k<pPlan->keys.n; k++){
    rc = hpKeptSet(&pTop->found.arena, &hpTopKey(aRow)[k],
                   &p->aVec[pPlan->keys.aVec[k]], i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

/*
** Add aRow to the heap, which is not full.
*/
static void hpTopUp(HpTop *pTop, u8 *aRow){
  u8 **ap = pTop->apTop;
  i64 j;
  assert( pTop->nTop<pTop->mxTop );
  for(j=pTop->nTop++; j>0; j=(j-1)/2){
    if( hpTopCompare(pTop, ap[(j-1)/2], aRow)>0 ) break;
    ap[j] = ap[(j-1)/2];
  }
  ap[j] = aRow;
}

/*
** Put aRow in place of the row on top of the heap.
*/
static void hpTopDown(HpTop *pTop, u8 *aRow){
  u8 **ap = pTop->apTop;
  i64 n = pTop->nTop;
  i64 j, jNext;
  assert( n>0 && n<=pTop->mxTop );
  for(j=0; (jNext = 2*j+1)<n; j=jNext){
    if( jNext+1<n && hpTopCompare(pTop, ap[jNext+1], ap[jNext])>0 ) jNext++;
    if( hpTopCompare(pTop, aRow, ap[jNext])>0 ) break;
    ap[j] = ap[jNext];
  }
  ap[j] = aRow;
}

#ifdef SQLITE_DEBUG
/* No row kept is worse than the one above it in the heap */
static int hpTopIsHeap(const HpTop *pTop){
  i64 j;
  for(j=1; j<pTop->nTop; j++){
    if( hpTopCompare(pTop, pTop->apTop[(j-1)/2], pTop->apTop[j])<0 ) return 0;
  }
  return pTop->nTop<=pTop->mxTop;
}
#endif

/*
** Add row i of the batch to the heap, which is not full.
*/
static int hpTopAdd(HpTop *pTop, const HpFrame *p, int i){
  i64 sz = sizeof(i64) + sizeof(HpKept)*pTop->found.pPlan->keys.n;
  u8 *aRow = hpArenaAlloc(&pTop->found.arena, sz);
  int rc;
  if( aRow==0 ) return HP_DECLINE;
  memset(aRow, 0, sz);
  rc = hpTopSet(pTop, p, aRow, i);
  if( rc==SQLITE_OK ) hpTopUp(pTop, aRow);
  return rc;
}

/*
** Replace the worst row of the heap by row i of the batch.
*/
static int hpTopReplace(HpTop *pTop, const HpFrame *p, int i){
  u8 *aRow = pTop->apTop[0];
  int rc = hpTopSet(pTop, p, aRow, i);
  if( rc==SQLITE_OK ) hpTopDown(pTop, aRow);
  return rc;
}

/* Those of aRow[0..n-1] where EXPR is true, to aCand.  Returns the number. */
#define HP_CAND_LOOP(EXPR) \
  for(ii=0; ii<n; ii++){ \
    int i = aRow[ii]; \
    aCand[nCand] = (u16)i; \
    nCand += (EXPR); \
  }

/*
** Of the rows aRow[0..n-1], find those whose first key may put them before the
** worst row of the heap: aCand[].  aRow may be aCand.  Returns the number.
** This is what most rows see, and nothing else: so loops by type.
*/
static int hpTopCandidates(
  HpTop *pTop,
  const HpFrame *p,
  const u16 *aRow,
  int n
){
  const HpFindPlan *pPlan = pTop->found.pPlan;
  const HpVec *pVec = &p->aVec[pPlan->keys.aVec[0]];
  const HpKept *pWorst = hpTopKey(pTop->apTop[0]);
  CollSeq *pColl = pPlan->keys.aColl[0];
  u8 flags = pPlan->keys.aSort[0];
  int bDesc = (flags & KEYINFO_ORDER_DESC)!=0;
  int bTie = pPlan->keys.n>1;        /* Equal keys: the other keys decide */
  const HpVal *aVal = pVec->aVal;
  u16 *aCand = pTop->aCand;
  int nCand = 0;
  int ii;

  assert( pTop->nTop==pTop->mxTop && n>0 && n<=p->nSel );
  if( pVec->mIdx && pVec->mType==HP_INT && pWorst->tag==HP_INT ){
    i64 x = pWorst->val.i;
    if( bDesc && bTie ){
      HP_CAND_LOOP( aVal[i].i>=x )
    }else if( bDesc ){
      HP_CAND_LOOP( aVal[i].i>x )
    }else if( bTie ){
      HP_CAND_LOOP( aVal[i].i<=x )
    }else{
      HP_CAND_LOOP( aVal[i].i<x )
    }
  }else if( pVec->mIdx && (pVec->mType==HP_REAL || pVec->bFloat)
         && (pWorst->tag==HP_REAL
             || (pWorst->tag==HP_INT && hpIsExact(pWorst->val.i)))
  ){
    double x = pWorst->tag==HP_REAL ? pWorst->val.r : (double)pWorst->val.i;
    if( bDesc && bTie ){
      HP_CAND_LOOP( aVal[i].r>=x )
    }else if( bDesc ){
      HP_CAND_LOOP( aVal[i].r>x )
    }else if( bTie ){
      HP_CAND_LOOP( aVal[i].r<=x )
    }else{
      HP_CAND_LOOP( aVal[i].r<x )
    }
  }else if( pVec->mIdx && pVec->mType==HP_TEXT && pWorst->tag==HP_TEXT
         && sqlite3IsBinary(pColl)
  ){
    /* Texts whose first eight bytes differ compare as those do */
    u64 x = hpLoad8(pWorst->val.z);
    const u32 *aLen = pVec->aLen;
    for(ii=0; ii<n; ii++){
      int i = aRow[ii];
      u32 nText = MIN(aLen[i], 8);
      u64 y = hpLoadBytes(aVal[i].z, nText) << ((64-8*nText) & 63);
      aCand[nCand] = (u16)i;
      nCand += bDesc ? y>=x : y<=x;
    }
  }else{
    for(ii=0; ii<n; ii++){
      int i = aRow[ii];
      HpVal v;
      u32 nText;
      u8 tag = hpVecValue(pVec, i, &v, &nText);
      aCand[nCand] = (u16)i;
      nCand += hpKeptCompare(tag, v, nText, pWorst->tag, pWorst->val, pWorst->n,
                             pColl, flags)<bTie;
    }
  }
  return nCand;
}

/*
** Let rows whose first key cannot put them before the worst row of the heap be
** left out before they are decoded, if that key is a number in a column near
** the front of the record.
*/
static void hpTopBound(const HpTop *pTop){
  const HpFindPlan *pPlan = pTop->found.pPlan;
  const HpKept *pWorst = hpTopKey(pTop->apTop[0]);
  const HpPipePlan *pRead = pTop->found.pWorker->pPlan;
  HpBound *pBound = &pTop->found.pWorker->pRead->bound;
  u8 flags = pPlan->keys.aSort[0];
  int bDesc = (flags & KEYINFO_ORDER_DESC)!=0;
  int iStore = -1;
  double r;              /* The worst key as a real, ... */
  i64 x;                 /* ... and as an integer */
  int i;
  /* Until there are enough rows each of them may matter */
  assert( pTop->nTop==pTop->mxTop );

  if( pTop->found.nBoundOff>0 ) return;
  for(i=0; i<pRead->prog.nOp; i++){
    const HpOp *pOp = &pRead->prog.aOp[i];
    if( pOp->eOp==HP_OP_FUNC ) return;       /* See hpFoundBound() */
    if( pOp->eOp==HP_OP_COLUMN && pOp->iOut==pPlan->keys.aVec[0] ){
      iStore = pRead->source.aCol[pOp->a].iStore;
    }
  }
  if( iStore<0 || iStore>HP_MX_BOUND ) return;
  if( pWorst->tag==HP_INT ){
    x = pWorst->val.i;
    r = (double)x;
  }else if( pWorst->tag==HP_REAL ){
    r = pWorst->val.r;
    x = fabs(r)<HP_MX_FLOAT ? (i64)r : 0;
  }else{
    return;
  }
  if( !(fabs(r)<HP_MX_FLOAT) ) return;
  pBound->iStore = iStore;
  pBound->iMin = bDesc ? x : SMALLEST_INT64;
  pBound->iMax = bDesc ? LARGEST_INT64 : x;
  pBound->rMin = bDesc ? r : -INFINITY;
  pBound->rMax = bDesc ? INFINITY : r;
  pBound->bNull = bDesc==((flags & KEYINFO_ORDER_BIGNULL)!=0);
  pBound->bOn = 1;
}

/*
** Begin.  aMem[] are the registers.
*/
static int hpTopOpen(HpWorker *p, Mem *aMem){
  const Mem *pLimit = &aMem[p->pPlan->pFind->iLimitReg];
  HpTop *pTop;
  int rc = hpFoundOpen(p, sizeof(HpTop));
  if( rc ) return rc;
  pTop = p->pSink;
  if( (pLimit->flags & MEM_Int)==0 ) return HP_DECLINE;
  pTop->mxTop = pLimit->u.i;
  if( pTop->mxTop<=0 || pTop->mxTop>HP_MX_TOP ) return HP_DECLINE;
  if( pTop->found.bForce==0 && p==p->pPipe->apWorker[0]
   && pTop->mxTop>hpSizeRows(p->pPipe->pSource)/HP_TOP_SHARE
  ){
    p->pPipe->pass.bSmall = 1;
    return HP_DECLINE;
  }
  pTop->aCand = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)p->frame.nAlloc);
  pTop->apTop = hpArenaAlloc(&pTop->found.arena, sizeof(u8*)*pTop->mxTop);
  return pTop->aCand && pTop->apTop ? SQLITE_OK : HP_DECLINE;
}

/*
** The selected rows of a frame.
*/
static int hpTopRows(HpWorker *pWorker, HpFrame *p){
  HpTop *pTop = pWorker->pSink;
  const u16 *aRow = p->aSel;
  int n = p->nSel;
  int ii = 0;
  int rc;
  assert( pTop->found.pWorker==pWorker && hpVecIsSelection(p) );
  assert( p->pSource->bValues==0 );  /* Rows have places */
  while( ii<n && pTop->nTop<pTop->mxTop ){
    rc = hpTopAdd(pTop, p, aRow[ii++]);
    if( rc ) return rc;
  }
  if( ii<n ){
    n = hpTopCandidates(pTop, p, &aRow[ii], n-ii);
    for(ii=0; ii<n; ii++){
      int i = pTop->aCand[ii];
      if( hpTopIsBetter(pTop->found.pPlan, p, pTop->apTop[0], i) ){
        rc = hpTopReplace(pTop, p, i);
        if( rc ) return rc;
      }
    }
  }
  assert( hpTopIsHeap(pTop) );
  if( pTop->nTop==pTop->mxTop ) hpTopBound(pTop);
  hpFoundEnough(&pTop->found);
  return SQLITE_OK;
}

/*
** As many rows are found as LIMIT says: are they too many?  Known after the first
** run.
*/
static int hpTopIsMany(const HpFound *pFound, i64 nRow){
  UNUSED_PARAMETER(nRow);
  return pFound->nScanned==0
      && ((const HpTop*)pFound)->mxTop>pFound->nTableRow/HP_TOP_SHARE;
}
static void hpTopRun(HpWorker *p){
  hpFoundRun(p, hpTopIsMany);
}

/*
** Put the rows of the heap in the order of the index, and keep its columns, texts in memory of pArena.
*/
static int hpTopTies(HpTop *pTop, HpArena *pArena){
  const HpFindPlan *pPlan = pTop->found.pPlan;
  u8 **ap = pTop->apTop;
  HpKept *pOut;
  i64 n = pTop->nTop;
  i64 k;
  int i;
  pTop->iKey = pPlan->keys.n - pPlan->nTie;
  for(pTop->nTop=0; pTop->nTop<n; ) hpTopUp(pTop, ap[pTop->nTop]);
  for(k=n-1; k>0; k--){
    u8 *aLast = ap[0];
    pTop->nTop = k;
    hpTopDown(pTop, ap[k]);
    ap[k] = aLast;
    assert( k==n-1 || hpTopCompare(pTop, ap[k], ap[k+1])<0 );
  }
  pTop->nTop = n;
  pTop->found.aTie = pOut = hpArenaAlloc(pArena, sizeof(HpKept)*n*pPlan->nTie);
  if( pOut==0 ) return HP_DECLINE;
  for(k=0; k<n; k++){
    for(i=pTop->iKey; i<pPlan->keys.n; i++, pOut++){
      *pOut = hpTopKey(ap[k])[i];
      if( pOut->tag & HP_STR ){
        u8 *a = hpArenaAlloc(pArena, (i64)pOut->n+1);
        if( a==0 ) return HP_DECLINE;
        memcpy(a, pOut->val.z, pOut->n);
        pOut->val.z = a;
      }
    }
  }
  return SQLITE_OK;
}

/*
** The scan is over: the places of the best rows of all workers.
*/
static int hpTopMerge(HpPipe *p){
  HpTop *pOut = p->apWorker[0]->pSink;
  i64 k;
  int i;
  assert( p->pCrew==0 && hpTopIsHeap(pOut) );
  for(i=1; i<p->nWorker; i++){
    const HpTop *pIn = p->apWorker[i]->pSink;
    assert( pIn->mxTop==pOut->mxTop && hpTopIsHeap(pIn) );
    for(k=0; k<pIn->nTop; k++){
      if( pOut->nTop<pOut->mxTop ){
        hpTopUp(pOut, pIn->apTop[k]);
      }else if( hpTopCompare(pOut, pIn->apTop[k], pOut->apTop[0])<0 ){
        hpTopDown(pOut, pIn->apTop[k]);
      }
    }
  }
  assert( hpTopIsHeap(pOut) );
  if( pOut->found.pPlan->nTie && hpTopTies(pOut, &p->arena) ) return HP_DECLINE;
  if( hpFoundReserve(&pOut->found, pOut->nTop) ) return HP_DECLINE;
  for(k=0; k<pOut->nTop; k++){
    pOut->found.aPlace[pOut->found.nPlace++] = hpTopPlace(pOut->apTop[k]);
  }
  return hpFoundMerge(p);
}
#endif /* SQLITE_OMIT_HP */
