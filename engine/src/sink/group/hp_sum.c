/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sum: sum(), total() and avg().
**
**    hpSumRange()      add values of one group
**    hpSumScattered()  add values, each to its own group
**    hpSumMerge()      put two parts of a sum together
**    hpSumCtx()        the same as stock's SumCtx
**    hpSumReal()       one step with a real
**    hpSumBits()       how large are the integers of a batch?
**    hpSumIsSound(), hpSumIsSafe(), hpSumIsSmall(), hpSumLost()   may the parts
**                      be put together?
**
** Sums of integers are exact, of 128 bits.  mAbs, the OR of all absolute values,
** bounds what any partial sum may have been: hpSumIsSafe() tells when stock finds
** the same though some of its partial sums overflow.
**
** Sums of reals are pairs of sum and error (Kahan, Babuska, Neumaier).  Rounded
** they give the double of the exact sum, in whatever order terms were added,
** unless large terms cancel: the largest sum on the way is kept to see that.  So a
** worker may also add up four sums side by side.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MIN_LANES   16     /* So many values are summed side by side */

/* One step of sum() with a real.  As kahanBabuskaNeumaierStep(). */
static SQLITE_INLINE void hpSumReal(HpSumReal *pSum, double r){
  double s = pSum->rSum;
  double t = s + r;
  if( fabs(s) > fabs(r) ){
    pSum->rErr += (s - t) + r;
  }else{
    pSum->rErr += (r - t) + s;
  }
  pSum->rSum = t;
  if( !(fabs(t)<=pSum->mx) ) pSum->mx = fabs(t);
}

/*
** True if the sum may be added to others in any order: it is finite, and no sum
** on the way was so much larger that what was lost there, and in the sum of
** what was lost, could show now.
*/
static int hpSumIsSound(const HpSum *pSum){
  double s = fabs(pSum->u.r.rSum);
  assert( hpSumIsReal(pSum) );
  return s<=1e300 && pSum->u.r.mx<=s*(1<<20) && fabs(pSum->u.r.rErr)*(1<<20)<=s;
}

/* The bits of the size of x, or of one less, and its sign in bit 63 */
#define hpAbsBits(X)  ((u64)(X) ^ ((u64)((X)>>63)>>1))

/* Number of bits of x */
static int hpBits(u64 x){
  int n = 0;
  for(; x; x>>=1) n++;
  return n;
}

/* True if no partial sum of n integers has more than 64 bits, in whatever order
** they are added.  mAbs is the OR of their hpAbsBits(). */
static int hpSumIsSmall(u64 mAbs, u64 n){
  return hpBits(mAbs & ~HP_ABS_MINUS) + hpBits(n)<=63;
}

/*
** Stock's avg() and total() go on with reals when a sum of integers overflows:
** with a sum and the sum of what rounding it lost, each of which is computed
** without an error as long as it has no more than 53 bits.  Then the two add up
** to the exact sum, in whatever order and wherever it overflowed, and what they
** round to is the double that is nearest to it.  An integer sum that did not
** overflow is rounded to the same double.
**
** Return the most that what was lost may be.  The i-th addition loses at most
** 2^-53 times what the sum can be then, i*mAbs; and it is followed by one of
** less than 16384, as integers of more than 52 bits are added in two parts.
*/
static double hpSumLost(u64 mAbs, u64 n){
  double r = (double)(mAbs & ~HP_ABS_MINUS) + 1.0;
  return r*(double)n*(double)(n+1)/18014398509481984.0
       + 16384.0*(double)(n+2);
}
#define HP_MX_LOST 9007199254740992.0    /* 2^53 */

/*
** Set *pCtx to reals that add up to the integer sum *pSum: as what rounding
** loses in three steps has far fewer than 53 bits, exactly.
*/
static void hpSumSplit(const HpSum *pSum, SumCtx *pCtx){
  i64 iSum = pSum->u.i.iSum;
  assert( !hpSumIsReal(pSum) );
  memset(pCtx, 0, sizeof(*pCtx));
  pCtx->rSum = (double)pSum->u.i.iCarry*18446744073709551616.0;
  kahanBabuskaNeumaierStep(pCtx, (double)(iSum>>32)*4294967296.0);
  kahanBabuskaNeumaierStep(pCtx, (double)(iSum & 0xffffffff));
}

/*
** Is the result of the integer sum *pSum that of stock, in whatever order the
** values are added?  bOvrfl: sum() is wanted, which is an error if some partial
** sum overflows, and not only avg() and total().
**
** Where more may have been lost than 53 bits can tell, the nearest double may
** still be the same with and without all that this could add up to.
*/
static int hpSumIsSafe(const HpSum *pSum, int bOvrfl){
  u64 mAbs = pSum->u.i.mAbs;
  u64 n = (u64)hpSumCount(pSum);
  double rLost;
  assert( !hpSumIsReal(pSum) && n>0 );
  if( hpSumIsSmall(mAbs, n) ) return 1;
  /* Where none is negative, partial sums only grow */
  if( bOvrfl && pSum->u.i.iCarry==0 ) return (mAbs & HP_ABS_MINUS)==0;
  rLost = hpSumLost(mAbs, n);
  if( rLost>HP_MX_LOST ){
    SumCtx ctx;
    double r = ceil(rLost/HP_MX_LOST)*(double)(2*n+2);
    if( r>HP_MX_LOST/4 ) return 0;
    hpSumSplit(pSum, &ctx);
    return ctx.rSum+(ctx.rErr-r)==ctx.rSum+(ctx.rErr+r);
  }
  return 1;
}

/* Add iHigh*2^64 + iLow to the integer sum *pSum */
static void hpSumWide(HpSum *pSum, i64 iHigh, u64 iLow){
  u64 u = (u64)pSum->u.i.iSum + iLow;
  i64 c = pSum->u.i.iCarry - (pSum->u.i.iSum<0) + iHigh + (u<iLow);
  pSum->u.i.iSum = (i64)u;
  pSum->u.i.iCarry = c + (pSum->u.i.iSum<0);
}

/* The first real turns the integer sum into a real one */
static void hpSumApprox(HpSum *pSum){
  SumCtx ctx;
  /* A carry is lost: then the sum is flagged, and computed again */
  assert( !hpSumIsReal(pSum) );
  assert( pSum->u.i.iCarry==0 || (pSum->n & HP_SUM_OVRFL) );
  pSum->u.r.mx = fabs((double)pSum->u.i.iSum);
  kahanBabuskaNeumaierInit(&ctx, pSum->u.i.iSum);
  pSum->u.r.rSum = ctx.rSum;
  pSum->u.r.rErr = ctx.rErr;
  pSum->n |= HP_SUM_REAL;
}

/*
** Write the sum as stock has it to *pCtx.
*/
static void hpSumCtx(const HpSum *pSum, SumCtx *pCtx){
  memset(pCtx, 0, sizeof(*pCtx));
  pCtx->cnt = hpSumCount(pSum);
  pCtx->approx = hpSumIsReal(pSum);
  pCtx->ovrfl = (pSum->n & HP_SUM_OVRFL)!=0;
  if( pCtx->approx ){
    pCtx->rSum = pSum->u.r.rSum;
    pCtx->rErr = pSum->u.r.rErr;
  }else if( pSum->u.i.iCarry ){
    assert( pSum->n & HP_SUM_OVRFL );
    hpSumSplit(pSum, pCtx);
    pCtx->cnt = hpSumCount(pSum);
    pCtx->approx = 1;
    pCtx->ovrfl = 1;
  }else{
    pCtx->ovrfl = 0;
    pCtx->iSum = pSum->u.i.iSum;
  }
}

/*
** One step of sum() with row i of pVec.  As sumStep().
*/
static SQLITE_INLINE void hpSumValue(
  HpAgg *pAgg,
  HpFrame *p,
  HpSum *pSum,
  const HpVec *pVec,
  int i
){
  u8 tag;
  i64 iVal = 0;
  double r = 0.0;
  assert( pAgg->runs.pWorker==p->pWorker && pVec->bLate==0 );
  i &= pVec->mIdx;
  tag = pVec->aTag[i];
  if( tag==HP_NULL ) return;
  if( tag==HP_INT ){
    iVal = pVec->bFloat ? (i64)pVec->aVal[i].r : pVec->aVal[i].i;
  }else if( tag==HP_REAL ){
    r = pVec->aVal[i].r;
  }else{
    Mem m;
    hpVecToMem(p, pVec, i, &m);
    if( sqlite3_value_numeric_type((sqlite3_value*)&m)==SQLITE_INTEGER ){
      tag = HP_INT;
      iVal = sqlite3_value_int64((sqlite3_value*)&m);
    }else{
      r = sqlite3_value_double((sqlite3_value*)&m);
    }
    sqlite3VdbeMemRelease(&m);
  }
  pSum->n += HP_SUM_ONE;
  if( tag==HP_INT ){
    if( !hpSumIsReal(pSum) ){
      i64 x = pSum->u.i.iSum;
      pSum->u.i.mAbs |= hpAbsBits(iVal);
      if( sqlite3AddInt64(&x, iVal)==0 ){
        pSum->u.i.iSum = x;
        return;
      }
      pSum->n |= HP_SUM_OVRFL;
      if( p->pWorker->pPipe->pQuery->bExact==0 ){
        hpSumWide(pSum, iVal>>63, (u64)iVal);
        pAgg->bLanes = 1;
        return;
      }
      hpSumApprox(pSum);
    }
    if( iVal<4503599627370496LL && iVal>-4503599627370496LL ){
      hpSumReal(&pSum->u.r, (double)iVal);
    }else{
      SumCtx ctx;
      hpSumCtx(pSum, &ctx);
      kahanBabuskaNeumaierStepInt64(&ctx, iVal);
      pSum->u.r.rSum = ctx.rSum;
      pSum->u.r.rErr = ctx.rErr;
      pSum->u.r.mx = MAX(pSum->u.r.mx, fabs(ctx.rSum));
    }
  }else{
    if( !hpSumIsReal(pSum) ){
      hpSumApprox(pSum);
    }else if( p->pWorker->pPipe->pQuery->bExact ){
      pSum->n &= ~(i64)HP_SUM_OVRFL;
    }
    hpSumReal(&pSum->u.r, r);
  }
}

#ifdef HP_AVX2
/*
** Add rows aRow[0..n-1] of aVal to a sum of reals: four sums side by side, put
** together in the end.  n is a multiple of 4.  What an addition lost comes from
** Knuth's way, without a comparison: the same as hpSumReal() computes, as long
** as nothing overflows, and if something does the sum is not sound.
*/
__attribute__((target("avx2")))
static void hpSumAvx2(HpSum *pSum, const HpVal *aVal, const u16 *aRow, int n){
  const __m256d mAbs = _mm256_castsi256_pd(_mm256_set1_epi64x(LARGEST_INT64));
  __m256d s = _mm256_setr_pd(pSum->u.r.rSum, 0.0, 0.0, 0.0);
  __m256d e = _mm256_setr_pd(pSum->u.r.rErr, 0.0, 0.0, 0.0);
  __m256d mx = _mm256_set1_pd(pSum->u.r.mx);
  double aS[4], aE[4], aMx[4];
  int i;
  assert( n>0 && (n & 3)==0 && hpSumIsReal(pSum) );
  for(i=0; i<n; i+=4){
    __m256d r = _mm256_setr_pd(aVal[aRow[i]].r, aVal[aRow[i+1]].r,
                               aVal[aRow[i+2]].r, aVal[aRow[i+3]].r);
    __m256d t = _mm256_add_pd(s, r);
    __m256d x = _mm256_sub_pd(t, s);
    e = _mm256_add_pd(e, _mm256_add_pd(
            _mm256_sub_pd(s, _mm256_sub_pd(t, x)), _mm256_sub_pd(r, x)));
    s = t;
    mx = _mm256_max_pd(mx, _mm256_and_pd(t, mAbs));
  }
  _mm256_storeu_pd(aS, s);
  _mm256_storeu_pd(aE, e);
  _mm256_storeu_pd(aMx, mx);
  pSum->u.r.rSum = aS[0];
  pSum->u.r.rErr = aE[0];
  pSum->u.r.mx = MAX(MAX(aMx[0], aMx[1]), MAX(aMx[2], aMx[3]));
  for(i=1; i<4; i++){
    pSum->u.r.rErr += aE[i];
    hpSumReal(&pSum->u.r, aS[i]);
  }
}
#endif

#ifdef HP_AVX2
/*
** The sum of aVal[0..n-1], which are integers, and in *pmAbs the OR of their hpAbsBits().
** What overflows is lost.
*/
__attribute__((target("avx2")))
static i64 hpSumIntsAvx2(const HpVal *aVal, int n, u64 *pmAbs){
  const __m256i zero = _mm256_setzero_si256();
  __m256i s = zero;
  __m256i m = zero;
  u64 aS[4], aM[4];
  int i;
  for(i=0; i+4<=n; i+=4){
    __m256i v = _mm256_loadu_si256((const __m256i*)&aVal[i]);
    __m256i minus = _mm256_cmpgt_epi64(zero, v);
    s = _mm256_add_epi64(s, v);
    m = _mm256_or_si256(m, _mm256_xor_si256(v, _mm256_srli_epi64(minus, 1)));
  }
  _mm256_storeu_si256((__m256i*)aS, s);
  _mm256_storeu_si256((__m256i*)aM, m);
  for(; i<n; i++){
    aS[0] += aVal[i].u;
    aM[0] |= hpAbsBits(aVal[i].i);
  }
  *pmAbs = aM[0] | aM[1] | aM[2] | aM[3];
  return (i64)(aS[0] + aS[1] + aS[2] + aS[3]);
}
#endif

/*
** Add integers, rows aRow[0..n-1] of aVal, to an integer sum: the low and the
** high halves by themselves.
*/
static void hpSumInts(
  HpAgg *pAgg,
  HpSum *pSum,
  const HpVal *aVal,
  const u16 *aRow,
  int n,
  int bAvx2
){
  u64 iLow = 0;
  i64 iHigh = 0;
  u64 mAbs = 0;
  int ii;
#ifdef HP_AVX2
  /* Rows that follow each other, and numbers that are far from overflowing */
  assert( !hpSumIsReal(pSum) && pAgg->runs.pWorker->pPipe->pQuery->bExact==0 );
  if( bAvx2 && n>=HP_MIN_LANES && aRow[n-1]-aRow[0]==n-1
   && pSum->u.i.iSum<=LARGEST_INT64/2 && pSum->u.i.iSum>=SMALLEST_INT64/2
  ){
    i64 iSum = hpSumIntsAvx2(&aVal[aRow[0]], n, &mAbs);
    if( hpSumIsSmall(mAbs, 2*(u64)n) ){
      hpSumWide(pSum, iSum>>63, (u64)iSum);
      pSum->u.i.mAbs |= mAbs;
      pSum->n += (i64)n*HP_SUM_ONE;
      return;
    }
    mAbs = 0;
  }
#else
  UNUSED_PARAMETER(bAvx2);
#endif
  for(ii=0; ii<n; ii++){
    i64 v = aVal[aRow[ii]].i;
    iLow += (u32)v;
    iHigh += v>>32;
    mAbs |= hpAbsBits(v);
  }
  if( (pSum->n & HP_SUM_OVRFL)==0
   && (!hpSumIsSmall(mAbs, 2*(u64)n)
     || pSum->u.i.iSum>LARGEST_INT64/2 || pSum->u.i.iSum<SMALLEST_INT64/2)
  ){
    /* A partial sum may overflow: look at each */
    i64 x = pSum->u.i.iSum;
    for(ii=0; ii<n && sqlite3AddInt64(&x, aVal[aRow[ii]].i)==0; ii++){}
    if( ii<n ){
      pSum->n |= HP_SUM_OVRFL;
      pAgg->bLanes = 1;
    }
  }
  hpSumWide(pSum, iHigh>>32, (u64)iHigh<<32);
  hpSumWide(pSum, 0, iLow);
  pSum->u.i.mAbs |= mAbs;
  pSum->n += (i64)n*HP_SUM_ONE;
}

/*
** Sum the values of pVec in rows aRow[0..n-1], which all belong to one group.
*/
static void hpSumRange(
  HpAgg *pAgg,
  HpFrame *p,
  HpSum *pSum,
  const HpVec *pVec,
  const u16 *aRow,
  int n
){
  const HpVal *aVal = pVec->aVal;
  int ii = 0;
  if( pVec->mIdx!=0 && pVec->mType==HP_INT && !hpSumIsReal(pSum) ){
    if( p->pWorker->pPipe->pQuery->bExact==0 ){
      hpSumInts(pAgg, pSum, aVal, aRow, n, p->bAvx2);
      ii = n;
    }
  }else if( pVec->mIdx!=0 && (pVec->mType==HP_REAL || pVec->bFloat) ){
    /* Stock's sum is one of integers until the first real.  From there on,
    ** unless it had overflowed, integers and reals take the same step. */
    while( ii<n && (pSum->n & (HP_SUM_REAL|HP_SUM_OVRFL))!=HP_SUM_REAL ){
      hpSumValue(pAgg, p, pSum, pVec, aRow[ii++]);
    }
#ifdef HP_AVX2
    if( p->bAvx2 && n-ii>=HP_MIN_LANES
     && p->pWorker->pPipe->pQuery->bExact==0
    ){
      int nLane = (n-ii) & ~3;
      hpSumAvx2(pSum, aVal, &aRow[ii], nLane);
      pSum->n += (i64)nLane*HP_SUM_ONE;
      ii += nLane;
      pAgg->bLanes = 1;
    }
#endif
    if( ii<n ){
      HpSum sum = *pSum;
      assert( (sum.n & (HP_SUM_REAL|HP_SUM_OVRFL))==HP_SUM_REAL );
      sum.n += (i64)(n-ii)*HP_SUM_ONE;
      for(; ii<n; ii++) hpSumReal(&sum.u.r, aVal[aRow[ii]].r);
      *pSum = sum;
    }
  }
  for(; ii<n; ii++) hpSumValue(pAgg, p, pSum, pVec, aRow[ii]);
}

/*
** Add the value of pVec in each row aSel[0..nSel-1] to the sum at iOff of its
** own group.
*/
static void hpSumScattered(
  HpAgg *pAgg,
  HpFrame *p,
  int iOff,
  const HpVec *pVec,
  const u16 *aSel,
  u8 **apGroup,
  int nSel
){
  int ii;
  assert( iOff>=(int)sizeof(HpPack) );   /* A group begins with its pack */
  if( pVec->mIdx==0
   || (pVec->mType!=HP_INT && pVec->mType!=HP_REAL && !pVec->bFloat)
  ){
    for(ii=0; ii<nSel; ii++){
      hpSumValue(pAgg, p, (HpSum*)&apGroup[ii][iOff], pVec, aSel[ii]);
    }
  }else if( pVec->mType==HP_INT ){
    for(ii=0; ii<nSel; ii++){
      HpSum *pSum = (HpSum*)&apGroup[ii][iOff];
      i64 v = pVec->aVal[aSel[ii]].i;
      i64 x = pSum->u.i.iSum;
      if( hpSumIsReal(pSum) || sqlite3AddInt64(&x, v) ){
        hpSumValue(pAgg, p, pSum, pVec, aSel[ii]);
      }else{
        pSum->u.i.mAbs |= hpAbsBits(v);
        pSum->u.i.iSum = x;
        pSum->n += HP_SUM_ONE;
      }
    }
  }else{
    for(ii=0; ii<nSel; ii++){
      HpSum *pSum = (HpSum*)&apGroup[ii][iOff];
      if( (pSum->n & (HP_SUM_REAL|HP_SUM_OVRFL))!=HP_SUM_REAL ){
        hpSumValue(pAgg, p, pSum, pVec, aSel[ii]);
      }else{
        pSum->n += HP_SUM_ONE;
        hpSumReal(&pSum->u.r, pVec->aVal[aSel[ii]].r);
      }
    }
  }
}

/*
** Bits enough for any of the selected rows of pVec, which are integers or NULL: the OR of their hpAbsBits(),
** or more.
*/
static u64 hpSumBits(const HpFrame *p, const HpVec *pVec){
  const HpVal *aVal = pVec->aVal;
  u64 mAbs = 0;
  int ii;
  assert( pVec->mIdx!=0 && (pVec->mType & ~HP_NULL)==HP_INT );
  if( pVec->pSeg && pVec->pSeg->eForm==HP_FORM_INT ){
    return hpAbsBits(pVec->pSeg->iBase) | hpAbsBits(pVec->pSeg->iMax);
  }
  if( pVec->mType!=HP_INT ){
    for(ii=0; ii<p->nSel; ii++){
      int i = p->aSel[ii];
      if( pVec->aTag[i]==HP_INT ) mAbs |= hpAbsBits(aVal[i].i);
    }
    return mAbs;
  }
#ifdef HP_AVX2
  if( p->bAvx2 && p->nSel==p->nRow ){
    hpSumIntsAvx2(aVal, p->nSel, &mAbs);
    return mAbs;
  }
#endif
  for(ii=0; ii<p->nSel; ii++) mAbs |= hpAbsBits(aVal[p->aSel[ii]].i);
  return mAbs;
}

/*
** Add sum pFrom to pTo.  Whether that of integers is stock's, is for
** hpSumIsSafe() to say when all parts are there.
*/
static int hpSumMerge(HpSum *pTo, const HpSum *pFrom){
  HpSum from = *pFrom;
  i64 nCnt = hpSumCount(pTo) + hpSumCount(&from);
  assert( pTo!=pFrom );
  assert( hpSumCount(pTo)>=0 && hpSumCount(&from)>=0 );
  if( hpSumCount(&from)==0 ) return SQLITE_OK;
  if( hpSumCount(pTo)==0 ){
    *pTo = from;
    return SQLITE_OK;
  }
  if( !hpSumIsReal(pTo) && !hpSumIsReal(&from) ){
    pTo->u.i.mAbs |= from.u.i.mAbs;
    hpSumWide(pTo, from.u.i.iCarry - (from.u.i.iSum<0), (u64)from.u.i.iSum);
    pTo->n = nCnt*HP_SUM_ONE;
    if( !hpSumIsSmall(pTo->u.i.mAbs, (u64)nCnt) ) pTo->n |= HP_SUM_OVRFL;
    return SQLITE_OK;
  }
  if( (pTo->n|from.n) & HP_SUM_OVRFL ) return HP_SERIAL;
  if( !hpSumIsReal(pTo) ) hpSumApprox(pTo);
  if( !hpSumIsReal(&from) ) hpSumApprox(&from);
  pTo->u.r.rErr += from.u.r.rErr;
  pTo->u.r.mx = MAX(pTo->u.r.mx, from.u.r.mx);
  hpSumReal(&pTo->u.r, from.u.r.rSum);
  pTo->n = nCnt*HP_SUM_ONE + HP_SUM_REAL;
  return hpSumIsSound(pTo) ? SQLITE_OK : HP_SERIAL;
}
#endif /* SQLITE_OMIT_HP */
