/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_pack: all keys of a row in 128 bits, where they fit.
**
**    hpPackRows()    the packs of the selected rows
**    hpPackOne()     the pack of a single value
**    hpPackRealIsInt()    is a real number a whole one?
**
** A pack tells whether two rows belong to the same group: one string of up to
** 15 bytes, two of up to 7, integers of 56 bits, and so on.  It says nothing
** about order.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Set *pi to the integer that real r is, and return true if it is one.  Up to
** 2^63 every real that is a whole number is.
*/
static SQLITE_INLINE int hpPackRealIsInt(double r, i64 *pi){
  if( r>=-9223372036854775808.0 && r<9223372036854775808.0 ){
    *pi = (i64)r;
    return (double)*pi==r;
  }
  return 0;
}

/*
** One key as a number of nBit bits (32 or 64), or HP_UNPACKED.  The lowest two
** bits tell the type.  Equal keys, and only they, have equal numbers.
*/
static SQLITE_INLINE u64 hpPackKey(u8 tag, HpVal v, u32 n, int nBit){
  i64 x;
  assert( nBit==32 || nBit==64 );
  switch( tag ){
    case HP_NULL:
      return 3;
    case HP_TEXT:
      if( (int)n>=nBit/8 ) return HP_UNPACKED;
      return (hpLoadBytes(v.z, n)<<8) | (n<<2) | 1;
    case HP_REAL:
      if( !hpPackRealIsInt(v.r, &v.i) ) return HP_UNPACKED;
      /* no break */ deliberate_fall_through
    case HP_INT:
      x = (i64)((u64)v.i<<(72-nBit));
      if( x>>(72-nBit)!=v.i ) return HP_UNPACKED;
      return ((u64)x>>(64-nBit)) | 2;
  }
  return HP_UNPACKED;
}

/* The only key of a row as a pack */
static SQLITE_INLINE HpPack hpPackOne(u8 tag, HpVal v, u32 n){
  HpPack x;
  x.a = 0;
  x.b = 3;
  switch( tag ){
    case HP_NULL:
      return x;
    case HP_TEXT:
      if( n<=15 ){
        x.a = hpLoadBytes(v.z, MIN(n,8));
        x.b = (n<<2) | 1;
        if( n>8 ) x.b |= hpLoadBytes(&v.z[8], n-8)<<8;
        return x;
      }
      break;
    case HP_REAL:
      if( !hpPackRealIsInt(v.r, &v.i) ) break;
      /* no break */ deliberate_fall_through
    case HP_INT:
      x.a = v.u;
      x.b = HP_PACK_INT;
      return x;
  }
  x.a = x.b = HP_UNPACKED;
  return x;
}

#ifdef HP_AVX2
/* The eight bytes of text at Z(0) to Z(3), as big-endian numbers */
#define HP_TEXTS(Z) \
  _mm256_shuffle_epi8( \
      _mm256_set_epi64x(hpRaw8(Z(3)), hpRaw8(Z(2)), hpRaw8(Z(1)), hpRaw8(Z(0))), \
      _mm256_setr_epi8(7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8, \
                       7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8))

/*
** Rows i to i+3 of pVec, all of them texts or all integers, as hpPackKey() of
** 64 bits has them.  Where they do not fit *pLong gets all bits.
*/
__attribute__((target("avx2")))
static SQLITE_INLINE __m256i hpPackKeyAvx2(
  const HpVec *pVec,
  int i,
  __m256i *pLong
){
  const HpVal *a = &pVec->aVal[i];
  __m256i x, n;
  if( pVec->mType==HP_INT ){
    __m256i v = _mm256_loadu_si256((const __m256i*)a);
    const __m256i m55 = _mm256_set1_epi64x((i64)1<<55);
    x = _mm256_srli_epi64(_mm256_add_epi64(v, m55), 56);
    *pLong = _mm256_or_si256(*pLong, _mm256_cmpgt_epi64(x,
                                         _mm256_setzero_si256()));
    return _mm256_or_si256(_mm256_slli_epi64(v, 8), _mm256_set1_epi64x(2));
  }
#define HP_TEXT_AT(I) a[I].z
  x = HP_TEXTS(HP_TEXT_AT);
  n = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)&pVec->aLen[i]));
  *pLong = _mm256_or_si256(*pLong,
               _mm256_cmpgt_epi64(n, _mm256_set1_epi64x(7)));
  x = _mm256_srlv_epi64(x, _mm256_sub_epi64(_mm256_set1_epi64x(64),
                                            _mm256_slli_epi64(n, 3)));
  return _mm256_or_si256(_mm256_slli_epi64(x, 8),
             _mm256_or_si256(_mm256_slli_epi64(n, 2), _mm256_set1_epi64x(1)));
}

/*
** The same for the only key of rows i to i+3, as hpPackOne(): *pA and *pB.
*/
__attribute__((target("avx2")))
static SQLITE_INLINE void hpPackOneAvx2(
  const HpVec *pVec,
  int i,
  __m256i *pA,
  __m256i *pB,
  __m256i *pLong
){
  const HpVal *a = &pVec->aVal[i];
  const u32 *aLen = &pVec->aLen[i];
  const __m256i c8 = _mm256_set1_epi64x(8);
  const __m256i c64 = _mm256_set1_epi64x(64);
  __m256i n, x, m;
  if( pVec->mType==HP_INT ){
    *pA = _mm256_loadu_si256((const __m256i*)a);
    *pB = _mm256_set1_epi64x(HP_PACK_INT);
    return;
  }
  n = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)aLen));
  m = _mm256_cmpgt_epi64(n, c8);
  *pA = _mm256_srlv_epi64(HP_TEXTS(HP_TEXT_AT), _mm256_sub_epi64(c64,
            _mm256_slli_epi64(_mm256_blendv_epi8(n, c8, m), 3)));
  *pB = _mm256_or_si256(_mm256_slli_epi64(n, 2), _mm256_set1_epi64x(1));
  if( !_mm256_testz_si256(m, m) ){
    /* Shifted out entirely where there are no more than eight bytes, of which
    ** the first ones are read once more */
#define HP_TEXT_REST(I) &a[I].z[aLen[I]>8 ? 8 : 0]
    x = HP_TEXTS(HP_TEXT_REST);
    x = _mm256_srlv_epi64(x, _mm256_sub_epi64(c64,
            _mm256_slli_epi64(_mm256_sub_epi64(n, c8), 3)));
    *pB = _mm256_or_si256(*pB, _mm256_slli_epi64(x, 8));
    *pLong = _mm256_or_si256(*pLong,
                 _mm256_cmpgt_epi64(n, _mm256_set1_epi64x(15)));
  }
}

/*
** Pack the one or two keys of rows 0, 1, ... of the batch, selected or not, four
** at a time.  Each key is a vector of texts only or of integers only.  Returns
** the number of rows done and clears *pbAll if one did not fit.
*/
__attribute__((target("avx2")))
static int hpPackAvx2(
  const HpVec *pKey0,
  const HpVec *pKey1,    /* NULL: there is one key */
  int nRow,
  HpPack *aPack,
  int *pbAll
){
  __m256i any = _mm256_setzero_si256();
  int i;
  for(i=0; i+4<=nRow; i+=4){
    __m256i mLong = _mm256_setzero_si256();
    __m256i a, b, lo, hi;
    if( pKey1 ){
      a = hpPackKeyAvx2(pKey0, i, &mLong);
      b = hpPackKeyAvx2(pKey1, i, &mLong);
    }else{
      hpPackOneAvx2(pKey0, i, &a, &b, &mLong);
    }
    any = _mm256_or_si256(any, mLong);
    a = _mm256_or_si256(a, mLong);
    b = _mm256_or_si256(b, mLong);
    lo = _mm256_unpacklo_epi64(a, b);
    hi = _mm256_unpackhi_epi64(a, b);
    _mm256_storeu_si256((__m256i*)&aPack[i],
                        _mm256_permute2x128_si256(lo, hi, 0x20));
    _mm256_storeu_si256((__m256i*)&aPack[i+2],
                        _mm256_permute2x128_si256(lo, hi, 0x31));
  }
  if( !_mm256_testz_si256(any, any) ) *pbAll = 0;
  return i;
}

/* True if all rows of pVec are of one type that hpPackAvx2() knows */
static SQLITE_INLINE int hpPackIsPlain(const HpVec *pVec){
  return pVec->mIdx!=0 && (pVec->mType==HP_INT || pVec->mType==HP_TEXT);
}
#endif /* HP_AVX2 */

#if defined(SQLITE_DEBUG) && defined(HP_AVX2)
/* Are aPack[0..n-1] what plain C makes of the selected rows? */
static int hpPackIsRight(
  const HpFrame *p,
  const HpKeys *pKeys,
  const HpPack *aPack,
  int n
){
  const HpVec *pA = &p->aVec[pKeys->aVec[0]];
  const HpVec *pB = &p->aVec[pKeys->aVec[pKeys->n-1]];
  int ii;
  for(ii=0; ii<n; ii++){
    int i = p->aSel[ii];
    HpPack x;
    if( pKeys->n==1 ){
      x = hpPackOne(pA->aTag[i], pA->aVal[i], pA->aLen[i]);
    }else{
      x.a = hpPackKey(pA->aTag[i], pA->aVal[i], pA->aLen[i], 64);
      x.b = hpPackKey(pB->aTag[i], pB->aVal[i], pB->aLen[i], 64);
      if( x.a==HP_UNPACKED || x.b==HP_UNPACKED ) x.a = x.b = HP_UNPACKED;
    }
    if( x.a!=aPack[ii].a || x.b!=aPack[ii].b ) return 0;
  }
  return 1;
}
#endif

/*
** Pack the keys of the selected rows into aPack.  Returns true if all of them
** fit.  Whether the keys of a row fit depends on nothing but them (and the
** query), so that equal rows of all batches meet.
*/
static int hpPackRows(HpFrame *p, const HpKeys *pKeys, HpPack *aPack){
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int nKey = pKeys->n;
  int bAll = 1;
  int iFrom;             /* So many selected rows are done */
  int ii, k;
  assert( hpVecIsSelection(p) );

  assert( nKey>0 && nSel>0 && nSel<=p->nRow );
  for(k=0; k<nKey && nKey<=4 && pKeys->aColl[k]==0; k++){}
  if( k<nKey ){
    for(ii=0; ii<nSel; ii++) aPack[ii].a = aPack[ii].b = HP_UNPACKED;
    return 0;
  }
  iFrom = 0;
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense && nKey<=2
   && hpPackIsPlain(&p->aVec[pKeys->aVec[0]])
   && hpPackIsPlain(&p->aVec[pKeys->aVec[nKey-1]])
  ){
    int n = hpPackAvx2(&p->aVec[pKeys->aVec[0]],
                       nKey==2 ? &p->aVec[pKeys->aVec[1]] : 0,
                       p->nRow, aPack, &bAll);
    for(iFrom=nSel; iFrom>0 && aSel[iFrom-1]>=n; iFrom--){}
    if( nSel<p->nRow ){
      for(ii=0; ii<iFrom; ii++) aPack[ii] = aPack[aSel[ii]];
    }
    assert( hpPackIsRight(p, pKeys, aPack, iFrom) );
    if( !bAll ){
      /* A row that is not selected does not matter */
      bAll = 1;
      for(ii=0; ii<iFrom; ii++) bAll &= aPack[ii].b!=HP_UNPACKED;
    }
  }
#endif
  if( nKey==1 ){
    const HpVec *pVec = &p->aVec[pKeys->aVec[0]];
    for(ii=iFrom; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      aPack[ii] = hpPackOne(pVec->aTag[i], pVec->aVal[i], pVec->aLen[i]);
      bAll &= aPack[ii].b!=HP_UNPACKED;
    }
    return bAll;
  }
  for(k=0; k<nKey; k++){
    const HpVec *pVec = &p->aVec[pKeys->aVec[k]];
    int nBit = nKey==2 ? 64 : 32;
    for(ii=iFrom; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      u64 x = hpPackKey(pVec->aTag[i], pVec->aVal[i], pVec->aLen[i], nBit);
      assert( x==HP_UNPACKED || nBit==64 || (nKey<=4 && x<((u64)1<<32)) );
      if( k==0 ){
        aPack[ii].a = x;
        aPack[ii].b = 0;
      }else if( aPack[ii].b==HP_UNPACKED ){
        continue;
      }else if( k==1 ){
        aPack[ii].b = x;
      }else{
        aPack[ii].a |= k==2 ? x<<32 : 0;
        aPack[ii].b |= k==3 ? x<<32 : 0;
      }
      if( x==HP_UNPACKED ){
        aPack[ii].a = aPack[ii].b = HP_UNPACKED;
        bAll = 0;
      }
    }
  }
  return bAll;
}
#endif /* SQLITE_OMIT_HP */
