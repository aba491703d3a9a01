/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_prefix: how often does each prefix of a key change?
**
**    hpPrefixOpen()    a worker begins
**    hpPrefixRows()    compare the rows of a batch with the ones before them
**    hpPrefixBegin(), hpPrefixPut()    a run of leaves begins; keep a row of it
**    hpPrefixSame()    are two values equal?
**    hpPrefixClose()   free what a worker has
**    hpPrefixCounts()  the changes of all workers, and where their runs meet
**
** The rows come in key order, as the entries of an index do.  For each column k
** ANALYZE wants to know how many rows differ from the one before in one of the
** columns 0..k:
**
**     a b     k=0  k=1
**     1 x
**     1 y           1
**     2 y      1    1
**     2 y               two changes of (a,b), one of (a)
**
** Two values are equal if sqlite3MemCompare() says so by the collation of the
** column, and NULL equals NULL.
**
** A worker has some of the runs of leaves, so it keeps the first row of each
** and the last one.  When all workers are done, the last row of a run is
** compared with the first one of the next.
**
** Most leaves never become batches: hp_prefixscan.c compares their records.
**
** Of an index of one UNIQUE column (HpPrefixPlan.bUnique) SQLite compares rows
** only up to the first one that is not NULL.  All later ones count as changes,
** NULLs behind them too, where the order is descending.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_ANALYZE
/*
** Begin in worker p.
*/
static int hpPrefixOpen(HpWorker *p, Mem *aMem){
  int nKey = p->pPlan->pPrefix->keys.n;
  HpPrefix *pNew = sqlite3MallocZero(sizeof(*pNew));
  UNUSED_PARAMETER(aMem);
  assert( p->pSink==0 && p->pPlan->pSink->xRows==hpPrefixRows );
  p->pSink = pNew;
  if( pNew==0 ) return HP_DECLINE;
  hpBudgetArena(p->pPipe, &pNew->mem);
  pNew->anChange = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)(nKey+1));
  pNew->aSame = hpArenaAlloc(&p->vec, p->frame.nAlloc);
  if( pNew->anChange==0 || pNew->aSame==0 ) return HP_DECLINE;
  memset(pNew->anChange, 0, sizeof(u64)*(size_t)(nKey+1));
  return SQLITE_OK;
}

/*
** Free what worker p has.
*/
static void hpPrefixClose(HpWorker *p){
  HpPrefix *pPrefix = (HpPrefix*)p->pSink;
  if( pPrefix ){
    HpPrefixRun *pRun;
    for(pRun=pPrefix->pFirst; pRun; pRun=pRun->pNext){
      sqlite3_free(pRun->first.a);
      sqlite3_free(pRun->last.a);
    }
    hpArenaClear(&pPrefix->mem);
    sqlite3_free(pPrefix);
    p->pSink = 0;
  }
}

/*
** Keep a row in pBuf, whose keys have types aTag[], values aVal[] and lengths
** aLen[], which matter for texts and blobs.  Kept are the values, the lengths
** and the types, in arrays, then texts and blobs, with eight bytes to be read
** behind each.  The value of a text is the place where it begins.
*/
static int hpPrefixPut(
  HpWorker *p,
  const u8 *aTag,
  const HpVal *aVal,
  const u32 *aLen,
  HpBuf *pBuf
){
  HpPrefix *pPrefix = (HpPrefix*)p->pSink;
  int n = p->pPlan->pPrefix->keys.n;
  u64 nByte = ROUND8((u64)n*(sizeof(HpVal)+sizeof(u32)+1));
  u64 iText = nByte;
  HpVal *aToVal;
  u32 *aToLen;
  int k;
  for(k=0; k<n; k++){
    if( aTag[k] & HP_STR ) nByte += (u64)aLen[k]+8;
  }
  if( nByte>SQLITE_MAX_LENGTH ) return HP_DECLINE;
  pBuf->n = 0;
  if( pBuf->nAlloc<nByte ){
    u32 nOld = pBuf->nAlloc;
    if( !hpBudgetMay(p, (i64)nByte, HP_KEEP) ) return HP_DECLINE;
    if( hpBufRoom(pBuf, (u32)nByte) ) return HP_DECLINE;
    pPrefix->nByte += pBuf->nAlloc-nOld;
    hpBudgetHold(p, pPrefix->nByte + pPrefix->mem.nTotal);
  }
  pBuf->n = (u32)nByte;
  aToVal = (HpVal*)pBuf->a;
  aToLen = (u32*)&aToVal[n];
  memcpy(&aToLen[n], aTag, n);
  for(k=0; k<n; k++){
    aToVal[k] = aVal[k];
    aToLen[k] = 0;
    if( aTag[k] & HP_STR ){
      aToLen[k] = aLen[k];
      memcpy(&pBuf->a[iText], aVal[k].z, aLen[k]);
      memset(&pBuf->a[iText+aLen[k]], 0, 8);
      aToVal[k].u = iText;
      iText += (u64)aLen[k]+8;
    }
  }
  assert( iText==nByte );
  return SQLITE_OK;
}

/* Keep row iRow of a frame */
static int hpPrefixKeep(
  HpWorker *pWorker,
  const HpFrame *p,
  int i,
  HpBuf *pBuf
){
  const HpKeys *pKeys = &pWorker->pPlan->pPrefix->keys;
  HpVal aVal[HP_MX_COL];
  u32 aLen[HP_MX_COL];
  u8 aTag[HP_MX_COL];
  int k;
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &p->aVec[pKeys->aVec[k]];
    assert( pVec->bFloat==0 && pVec->bCodes==0 && pVec->bLate==0 );
    aTag[k] = pVec->aTag[i];
    aVal[k] = pVec->aVal[i];
    aLen[k] = (aTag[k] & HP_STR) ? pVec->aLen[i] : 0;
  }
  return hpPrefixPut(pWorker, aTag, aVal, aLen, pBuf);
}

/* Key k of n of a row that is kept: sets *pVal and *pn, and returns its type */
static u8 hpPrefixKept(const HpBuf *pBuf, int n, int k, HpVal *pVal, u32 *pn){
  const HpVal *aVal = (const HpVal*)pBuf->a;
  const u32 *aLen = (const u32*)&aVal[n];
  u8 tag = ((const u8*)&aLen[n])[k];
  assert( k>=0 && k<n && pBuf->n>=n*(sizeof(HpVal)+sizeof(u32)+1) );
  *pVal = aVal[k];
  *pn = aLen[k];
  if( tag & HP_STR ) pVal->z = &pBuf->a[aVal[k].u];
  return tag;
}

/* Are two values equal? */
static SQLITE_INLINE int hpPrefixSame(
  u8 tA, HpVal a, u32 nA,
  u8 tB, HpVal b, u32 nB,
  CollSeq *pColl
){
  if( (tA|tB) & HP_NULL ) return tA==tB;
  if( (tA & tB & HP_STR) && nA==nB && hpVecSame(a.z, b.z, nA) ) return 1;
  if( (tA & tB & HP_STR) && (tA==HP_BLOB || pColl==0) ) return 0;
  return hpVecValCompare(tA, a, nA, tB, b, nB, pColl)==0;
}

/*
** Let aSame[i] be false where rows i and i-1 differ in pVec, for i from 1 to
** n-1.
*/
static void hpPrefixColumn(
  const HpVec *pVec,
  CollSeq *pColl,
  int n,
  u8 *aSame
){
  const HpVal *aVal = pVec->aVal;
  const u32 *aLen = pVec->aLen;
  const u8 *aTag = pVec->aTag;
  int i;
  assert( pVec->mIdx!=0 && n>0 && n<=HP_BATCH );
  if( pVec->mType==HP_INT ){
    for(i=1; i<n; i++) aSame[i] &= aVal[i].i==aVal[i-1].i;
  }else if( pVec->mType==HP_REAL ){
    for(i=1; i<n; i++) aSame[i] &= aVal[i].r==aVal[i-1].r;
  }else if( pVec->mType==HP_TEXT && pColl==0 ){
    for(i=1; i<n; i++){
      if( aSame[i]==0 ) continue;
      aSame[i] = aLen[i]==aLen[i-1]
              && hpVecSame(aVal[i].z, aVal[i-1].z, aLen[i]);
    }
  }else{
    for(i=1; i<n; i++){
      if( aSame[i]==0 ) continue;
      aSame[i] = hpPrefixSame(aTag[i], aVal[i], aLen[i],
                              aTag[i-1], aVal[i-1], aLen[i-1], pColl);
    }
  }
}

/* Run iSeq of leaves begins.  NULL: no memory */
static HpPrefixRun *hpPrefixBegin(HpWorker *p, u32 iSeq){
  HpPrefix *pPrefix = (HpPrefix*)p->pSink;
  HpPrefixRun *pRun = hpArenaAlloc(&pPrefix->mem, sizeof(*pRun));
  if( pRun==0 ) return 0;
  memset(pRun, 0, sizeof(*pRun));
  pRun->iSeq = iSeq;
  assert( pPrefix->pLast==0 || pPrefix->pLast->iSeq<iSeq );
  if( pPrefix->pLast ){
    pPrefix->pLast->pNext = pRun;
  }else{
    pPrefix->pFirst = pRun;
  }
  pPrefix->pLast = pRun;
  return pRun;
}

/* bUnique: count the NULLs that the run begins with */
static void hpPrefixNulls(HpPrefixRun *pRun, const HpVec *pVec, int n){
  int i = 0;
  if( pRun->nNull<pRun->nRow || (pVec->mType & HP_NULL)==0 ) return;
  while( i<n && pVec->aTag[i]==HP_NULL ) i++;
  pRun->nNull += i;
}

/*
** Compare the rows of a frame with the ones before them.
*/
static int hpPrefixRows(HpWorker *pWorker, HpFrame *p){
  HpPrefix *pPrefix = (HpPrefix*)pWorker->pSink;
  const HpPrefixPlan *pPlan = pWorker->pPlan->pPrefix;
  const HpKeys *pKeys = &pPlan->keys;
  HpPrefixRun *pRun = pPrefix->pLast;
  u8 *aSame = pPrefix->aSame;
  int bFirst = pRun==0 || pRun->iSeq!=(u32)(p->iPos>>32);
  int n = p->nRow;
  int k;
  /* There are no filters */
  assert( p->pWorker==pWorker && p->nSel==n && n>0 && n<=p->nAlloc );
  for(k=0; k<pKeys->n; k++) hpVecExact(p, &p->aVec[pKeys->aVec[k]]);
  if( bFirst ){
    pRun = hpPrefixBegin(pWorker, (u32)(p->iPos>>32));
    if( pRun==0 ) return HP_DECLINE;
    if( !pPlan->bUnique && hpPrefixKeep(pWorker, p, 0, &pRun->first) ){
      return HP_DECLINE;
    }
  }
  if( pPlan->bUnique ){
    hpPrefixNulls(pRun, &p->aVec[pKeys->aVec[0]], n);
    pRun->nRow += n;
    return SQLITE_OK;
  }
  memset(aSame, 1, n);
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &p->aVec[pKeys->aVec[k]];
    CollSeq *pColl = pKeys->aColl[k];
    int nSame = 0;
    int i;
    if( !bFirst && aSame[0] ){
      HpVal val;
      u32 nLen;
      u8 tag = hpPrefixKept(&pRun->last, pKeys->n, k, &val, &nLen);
      aSame[0] = (u8)hpPrefixSame(tag, val, nLen, pVec->aTag[0], pVec->aVal[0],
                     (pVec->aTag[0] & HP_STR) ? pVec->aLen[0] : 0, pColl);
    }
    hpPrefixColumn(pVec, pColl, n, aSame);
    for(i=0; i<n; i++) nSame += aSame[i];
    pPrefix->anChange[k] += (u64)(n-nSame);
  }
  pRun->nRow += n;
  return hpPrefixKeep(pWorker, p, n-1, &pRun->last);
}

/* Count the changes from the last row of pLast to the first one of pRun */
static void hpPrefixBorder(
  const HpKeys *pKeys,
  const HpPrefixRun *pLast,
  const HpPrefixRun *pRun,
  u64 *anChange
){
  int bSame = 1;
  int k;
  for(k=0; k<pKeys->n; k++){
    if( bSame ){
      HpVal a, b;
      u32 nA, nB;
      u8 tA = hpPrefixKept(&pLast->last, pKeys->n, k, &a, &nA);
      u8 tB = hpPrefixKept(&pRun->first, pKeys->n, k, &b, &nB);
      bSame = hpPrefixSame(tA, a, nA, tB, b, nB, pKeys->aColl[k]);
    }
    anChange[k] += !bSame;
  }
}

/*
** All workers of p are done.  Add to anChange[k] the changes of prefix k, and
** return the number of rows.
*/
static i64 hpPrefixCounts(const HpPipe *p, u64 *anChange){
  const HpPrefixPlan *pPlan = p->pPlan->pPrefix;
  HpPrefixRun *apRun[HP_MX_THREAD];
  const HpPrefixRun *pLast = 0;
  i64 nRow = 0;
  i64 nNull = 0;         /* NULLs that they begin with */
  int i, k;
  assert( p->pCrew==0 && p->nWorker>0 && p->nWorker<=HP_MX_THREAD );
  for(i=0; i<p->nWorker; i++){
    const HpPrefix *pPrefix = (const HpPrefix*)p->apWorker[i]->pSink;
    apRun[i] = pPrefix->pFirst;
    for(k=0; k<pPlan->keys.n; k++) anChange[k] += pPrefix->anChange[k];
  }
  for(;;){
    int iNext = -1;
    for(i=0; i<p->nWorker; i++){
      if( apRun[i]==0 ) continue;
      if( iNext<0 || apRun[i]->iSeq<apRun[iNext]->iSeq ) iNext = i;
    }
    if( iNext<0 ) break;
    if( pPlan->bUnique ){
      if( nNull==nRow ) nNull += apRun[iNext]->nNull;
    }else if( pLast ){
      hpPrefixBorder(&pPlan->keys, pLast, apRun[iNext], anChange);
    }
    pLast = apRun[iNext];
    assert( pLast->nRow>0 );
    nRow += pLast->nRow;
    apRun[iNext] = pLast->pNext;
  }
  if( pPlan->bUnique ) anChange[0] = (u64)(nRow-1-MAX(nNull-1, 0));
  assert( nRow==0 || pPlan->keys.n==0 || anChange[0]<(u64)nRow );
  return nRow;
}
#endif /* HP_ANALYZE */
#endif /* SQLITE_OMIT_HP */
