/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_top: the first rows of an ORDER BY with LIMIT.
**
**    hpTopStep()     look at the selected rows of a batch
**    hpTopPlace()    the place of a row kept
**    hpTopCompare(), hpTopUp(), hpTopDown()    the heap, for the merge
**
** The best rows are in a heap with the worst on top.  A row has to be better than
** that one to come in; of equal ones the first scanned stays, as in stock's
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
static int hpTopCompare(const HpPlan *pPlan, u8 *aA, u8 *aB){
  const HpKept *a = hpTopKey(aA);
  const HpKept *b = hpTopKey(aB);
  int k;
  for(k=0; k<pPlan->nKey; k++){
    int c = hpFoundCompare(a[k].tag, a[k].val, a[k].n, b[k].tag, b[k].val,
                          b[k].n, pPlan->aKeyColl[k], pPlan->aKeySort[k]);
    if( c ) return c;
  }
  return hpTopPlace(aA)<hpTopPlace(aB) ? -1 : 1;
}

/*
** True if row i of the batch, which is scanned later than all rows of the
** heap, comes before aTop.
*/
static int hpTopIsBetter(HpExec *p, u8 *aTop, int i){
  const HpPlan *pPlan = p->pPlan;
  const HpKept *a = hpTopKey(aTop);
  int k;
  for(k=0; k<pPlan->nKey; k++){
    HpVal v;
    u32 n;
    u8 tag = hpFoundValue(&p->aVec[pPlan->aKey[k]], i, &v, &n);
    int c = hpFoundCompare(tag, v, n, a[k].tag, a[k].val, a[k].n,
                          pPlan->aKeyColl[k], pPlan->aKeySort[k]);
    if( c ) return c<0;
  }
  return 0;
}

/*
** Put row i of the batch into aRow, a row of the heap.  Stock would read the
** result columns of such a row, be it that better ones come later.
*/
static int hpTopSet(HpExec *p, u8 *aRow, int i){
  const HpPlan *pPlan = p->pPlan;
  int k, rc;
  hpTopPlace(aRow) = hpFoundPlace(p, i, 1);
  if( hpTopPlace(aRow)<0 ) return HP_DECLINE;
  for(k=0; k<pPlan->nKey; k++){
    rc = hpFoundKeep(p->pRows, &hpTopKey(aRow)[k], &p->aVec[pPlan->aKey[k]], i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

/*
** Add aRow to the heap, which is not full.
*/
static void hpTopUp(const HpPlan *pPlan, HpRows *pRows, u8 *aRow){
  u8 **ap = pRows->apTop;
  i64 j;
  for(j=pRows->nTop++; j>0; j=(j-1)/2){
    if( hpTopCompare(pPlan, ap[(j-1)/2], aRow)>0 ) break;
    ap[j] = ap[(j-1)/2];
  }
  ap[j] = aRow;
}

/*
** Put aRow in place of the row on top of the heap.
*/
static void hpTopDown(const HpPlan *pPlan, HpRows *pRows, u8 *aRow){
  u8 **ap = pRows->apTop;
  i64 n = pRows->nTop;
  i64 j, jNext;
  for(j=0; (jNext = 2*j+1)<n; j=jNext){
    if( jNext+1<n && hpTopCompare(pPlan, ap[jNext+1], ap[jNext])>0 ) jNext++;
    if( hpTopCompare(pPlan, aRow, ap[jNext])>0 ) break;
    ap[j] = ap[jNext];
  }
  ap[j] = aRow;
}

#ifdef SQLITE_DEBUG
/* No row kept is worse than the one above it in the heap */
static int hpTopIsHeap(const HpPlan *pPlan, const HpRows *pRows){
  i64 j;
  for(j=1; j<pRows->nTop; j++){
    if( hpTopCompare(pPlan, pRows->apTop[(j-1)/2], pRows->apTop[j])<0 ) return 0;
  }
  return pRows->nTop<=pRows->mxTop;
}
#endif

/*
** Add row i of the batch to the heap, which is not full.
*/
static int hpTopAdd(HpExec *p, int i){
  i64 sz = sizeof(i64) + sizeof(HpKept)*p->pPlan->nKey;
  u8 *aRow = hpArenaAlloc(&p->pRows->arena, sz);
  int rc;
  if( aRow==0 ) return HP_DECLINE;
  memset(aRow, 0, sz);
  rc = hpTopSet(p, aRow, i);
  if( rc==SQLITE_OK ) hpTopUp(p->pPlan, p->pRows, aRow);
  return rc;
}

/*
** Replace the worst row of the heap by row i of the batch.
*/
static int hpTopReplace(HpExec *p, int i){
  u8 *aRow = p->pRows->apTop[0];
  int rc = hpTopSet(p, aRow, i);
  if( rc==SQLITE_OK ) hpTopDown(p->pPlan, p->pRows, aRow);
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
static int hpTopCandidates(HpExec *p, const u16 *aRow, int n){
  const HpPlan *pPlan = p->pPlan;
  const HpVec *pVec = &p->aVec[pPlan->aKey[0]];
  const HpKept *pWorst = hpTopKey(p->pRows->apTop[0]);
  CollSeq *pColl = pPlan->aKeyColl[0];
  u8 flags = pPlan->aKeySort[0];
  int bDesc = (flags & KEYINFO_ORDER_DESC)!=0;
  int bTie = pPlan->nKey>1;        /* Equal keys: the other keys decide */
  const HpVal *aVal = pVec->aVal;
  u16 *aCand = p->pRows->aCand;
  int nCand = 0;
  int ii;

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
      u64 y = hpBytes(aVal[i].z, nText) << ((64-8*nText) & 63);
      aCand[nCand] = (u16)i;
      nCand += bDesc ? y>=x : y<=x;
    }
  }else{
    for(ii=0; ii<n; ii++){
      int i = aRow[ii];
      HpVal v;
      u32 nText;
      u8 tag = hpFoundValue(pVec, i, &v, &nText);
      aCand[nCand] = (u16)i;
      nCand += hpFoundCompare(tag, v, nText, pWorst->tag, pWorst->val, pWorst->n,
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
static void hpTopBound(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  const HpKept *pWorst = hpTopKey(p->pRows->apTop[0]);
  HpBound *pBound = &p->bound;
  u8 flags = pPlan->aKeySort[0];
  int bDesc = (flags & KEYINFO_ORDER_DESC)!=0;
  int iStore = -1;
  double r;              /* The worst key as a real, ... */
  i64 x;                 /* ... and as an integer */
  int i;

  if( p->pRows->nBoundOff>0 ) return;
  for(i=0; i<pPlan->prog.nOp; i++){
    const HpOp *pOp = &pPlan->prog.aOp[i];
    if( pOp->eOp==HP_OP_FUNC ) return;       /* See hpRowsBound() */
    if( pOp->eOp==HP_OP_COLUMN && pOp->iOut==pPlan->aKey[0] ){
      iStore = pPlan->aCol[pOp->a].iStore;
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
** HP_SINK_TOP: the selected rows of a batch.
*/
static int hpTopStep(HpExec *p){
  HpRows *pRows = p->pRows;
  const u16 *aRow = p->aSel;
  int n = p->nSel;
  int ii = 0;
  int rc;
  while( ii<n && pRows->nTop<pRows->mxTop ){
    rc = hpTopAdd(p, aRow[ii++]);
    if( rc ) return rc;
  }
  if( ii<n ){
    n = hpTopCandidates(p, &aRow[ii], n-ii);
    for(ii=0; ii<n; ii++){
      int i = pRows->aCand[ii];
      if( hpTopIsBetter(p, pRows->apTop[0], i) ){
        rc = hpTopReplace(p, i);
        if( rc ) return rc;
      }
    }
  }
  assert( hpTopIsHeap(p->pPlan, pRows) );
  if( pRows->nTop==pRows->mxTop ) hpTopBound(p);
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
