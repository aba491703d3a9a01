/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_decode: values of one column, out of the records of a batch.
**
**    hpDecodeColumn()  decode a column for the rows that are selected
**    hpDecodeFloat()   numbers in float form
**
** hp_record.c has worked out type and place of each value (HpBatch).  Here they
** become numbers and pointers: four rows at a time with AVX2 where types are all
** of a kind, otherwise one by one.  A column of integers and reals may come out
** in float form (HpVec).  Text stays where it is, in the page.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef SQLITE_DEBUG
/*
** Are the types of column iCol, of all rows of the batch, from mn to mx?  Tables
** of types are read without another look.
*/
static int hpTypesAreIn(const HpBatch *pBatch, int iCol, u8 mn, u8 mx){
  const u8 *aType = &pBatch->aType[iCol*pBatch->nStride];
  int i;
  for(i=0; i<pBatch->nRow; i++){
    if( aType[i]<mn || aType[i]>mx ) return 0;
  }
  return 1;
}

/* Is each tag that was set one of pVec->mType? */
static int hpTagsAreIn(const HpFrame *p, const HpVec *pVec){
  int bad = 0;
  HP_ROWS(p, { bad |= pVec->aTag[i] & ~pVec->mType; })
  return bad==0;
}

/* Are all integers small enough for float form? */
static int hpFloatsFit(const HpFrame *p, const HpVec *pVec){
  const i64 mx = (i64)1<<51;
  int bad = 0;
  HP_ROWS(p, {
    i64 x = pVec->aVal[i].i;
    bad |= pVec->aTag[i]==HP_INT && (x>=mx || x<=-mx);
  })
  return bad==0;
}
#endif

#ifdef HP_AVX2
/*
** Turn rows 0..n-1 into float form, four at a time (vectors have room for
** that).  All integers are below 2^51 in size: such a number, added to the bits
** of 1.5*2^52, gives the bits of 1.5*2^52 plus the number.  *pbNaN is set if
** some real is not a number.
*/
__attribute__((target("avx2")))
static void hpFloatAvx2(HpVal *aVal, const u8 *aTag, int n, int *pbNaN){
  const __m256d magic = _mm256_set1_pd(6755399441055744.0);
  const __m256i isInt = _mm256_set1_epi64x(HP_INT);
  __m256d bad = _mm256_setzero_pd();
  int i;
  for(i=0; i<n; i+=4){
    u32 t4;
    __m256i v = _mm256_loadu_si256((const __m256i*)&aVal[i]);
    __m256d r = _mm256_castsi256_pd(
                    _mm256_add_epi64(v, _mm256_castpd_si256(magic)));
    __m256i m;
    memcpy(&t4, &aTag[i], 4);
    m = _mm256_cmpeq_epi64(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)t4)),
                           isInt);
    r = _mm256_blendv_pd(_mm256_castsi256_pd(v), _mm256_sub_pd(r, magic),
                         _mm256_castsi256_pd(m));
    bad = _mm256_or_pd(bad, _mm256_cmp_pd(r, r, _CMP_UNORD_Q));
    _mm256_storeu_pd(&aVal[i].r, r);
  }
  *pbNaN = _mm256_movemask_pd(bad)!=0;
}
#endif

/*
** Turn a vector of integers and reals into float form, and set *pbNaN if some
** real is not a number.  All integers are below 2^51 in size.
*/
static void hpDecodeFloat(HpFrame *p, HpVec *pVec, int *pbNaN){
  HpVal *aVal = pVec->aVal;
  const u8 *aTag = pVec->aTag;
  int bNaN = 0;
  assert( pVec->mIdx!=0 && pVec->bFloat==0 && hpFloatsFit(p, pVec) );
  pVec->bFloat = 1;
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense ){
    hpFloatAvx2(aVal, aTag, p->nRow, pbNaN);
    return;
  }
#endif
  HP_ROWS(p, {
    HpVal x;
    u64 m = (u64)0 - (u64)(aTag[i]==HP_INT);
    x.r = (double)aVal[i].i;
    x.u = (x.u & m) | (aVal[i].u & ~m);
    bNaN |= x.r!=x.r;
    aVal[i] = x;
  })
  *pbNaN = bNaN;
}

#ifdef HP_AVX2
/* The eight bytes of row I of a column */
#define HP_AT8(I) hpRaw8(&apRec[I][aOfst[I]])
/*
** Decode the numbers and NULLs of rows 0.. of a column, 16 at a time, and
** return how many rows that were.  *pSeen is set as aHpSer[].seen tells.
*/
__attribute__((target("avx2")))
static int hpNumbersAvx2(
  const u8 **apRec,
  const u8 *aType,
  const u16 *aOfst,
  int n,
  u8 *aTag,
  HpVal *aVal,
  u8 *pSeen
){
  const __m128i tag = _mm_setr_epi8(
      HP_NULL, HP_INT, HP_INT, HP_INT, HP_INT, HP_INT, HP_INT, HP_REAL,
      HP_INT, HP_INT, HP_NULL, HP_NULL, 0, 0, 0, 0);
  const __m128i shift = HP_SHIFTS;
  const __m128i nine = _mm_set1_epi8(9);
  const __m128i six = _mm_set1_epi8(6);
  __m128i seen = _mm_setzero_si128();
  __m128i wide = _mm_setzero_si128();
  u64 aSeen[2];
  int i, q;
  assert( n>0 && n<=HP_BATCH );
  for(i=0; i+16<=n; i+=16){
    __m128i t = _mm_loadu_si128((const __m128i*)&aType[i]);
    __m128i one = _mm_cmpeq_epi8(t, nine);
    __m128i g = _mm_shuffle_epi8(tag, t);
    __m128i s8 = _mm_shuffle_epi8(shift, t);
    int bOne = _mm_movemask_epi8(one);
    seen = _mm_or_si128(seen, g);
    wide = _mm_or_si128(wide, _mm_cmpeq_epi8(t, six));
    _mm_storeu_si128((__m128i*)&aTag[i], g);
    for(q=i; q<i+16; q+=4){
      __m256i v = _mm256_set_epi64x(HP_AT8(q+3), HP_AT8(q+2),
                                    HP_AT8(q+1), HP_AT8(q));
      v = hpCellsIntegersAvx2(v, s8);
      s8 = _mm_srli_si128(s8, 4);
      if( bOne ){
        v = _mm256_sub_epi64(v, _mm256_cvtepi8_epi64(one));
        one = _mm_srli_si128(one, 4);
      }
      _mm256_storeu_si256((__m256i*)&aVal[q], v);
    }
  }
  _mm_storeu_si128((__m128i*)aSeen, seen);
  aSeen[0] |= aSeen[1];
  aSeen[0] |= aSeen[0]>>32;
  aSeen[0] |= aSeen[0]>>16;
  *pSeen |= (u8)(aSeen[0] | (aSeen[0]>>8));
  if( _mm_movemask_epi8(wide) ) *pSeen |= HP_WIDE;
  return i;
}

/*
** The same for text and blobs of up to 57 bytes.
*/
__attribute__((target("avx2")))
static int hpStringsAvx2(
  const u8 **apRec,
  const u8 *aType,
  const u16 *aOfst,
  int n,
  u8 *aTag,
  HpVal *aVal,
  u32 *aLen,
  u8 *pSeen
){
  const __m128i c12 = _mm_set1_epi8(12);
  const __m128i c1 = _mm_set1_epi8(1);
  const __m128i c3f = _mm_set1_epi8(0x3f);
  int i, q;
  for(i=0; i+16<=n; i+=16){
    __m128i t = _mm_loadu_si128((const __m128i*)&aType[i]);
    __m128i isText = _mm_cmpeq_epi8(_mm_and_si128(t, c1), c1);
    __m128i len = _mm_and_si128(_mm_srli_epi16(_mm_sub_epi8(t, c12), 1), c3f);
    int mText = _mm_movemask_epi8(isText);
    _mm_storeu_si128((__m128i*)&aTag[i], _mm_blendv_epi8(
        _mm_set1_epi8(HP_BLOB), _mm_set1_epi8(HP_TEXT), isText));
    if( mText!=0 ) *pSeen |= HP_TEXT;
    if( mText!=0xffff ) *pSeen |= HP_BLOB;
    for(q=i; q<i+16; q+=4){
      __m256i o = _mm256_cvtepu16_epi64(
          _mm_loadl_epi64((const __m128i*)&aOfst[q]));
      __m256i z = _mm256_loadu_si256((const __m256i*)&apRec[q]);
      _mm256_storeu_si256((__m256i*)&aVal[q], _mm256_add_epi64(z, o));
      _mm_storeu_si128((__m128i*)&aLen[q], _mm_cvtepu8_epi32(len));
      len = _mm_srli_si128(len, 4);
    }
  }
  return i;
}
#endif /* HP_AVX2 */

/*
** Decode column iCol of the plan into pOut.
*/
static void hpDecodeColumn(HpFrame *p, int iCol, HpVec *pOut){
  const HpWorker *pWorker = p->pWorker;
  const HpCol *pCol = &pWorker->pPlan->source.aCol[iCol];
  const HpBatch *pBatch = &pWorker->pRead->batch;
  int iFrom;
  const u8 **apRec = pBatch->apRec;
  const u8 *aType;
  const u16 *aOfst;
  u8 *aTag = pOut->aTag;
  HpVal *aVal = pOut->aVal;
  u32 *aLen = pOut->aLen;
  u8 mType = 0;
  u8 mn, mx;             /* Smallest and largest serial type */
  int bWide = 0;         /* Some integer has eight bytes */
  int bNaN = 0;
  int nCol = pWorker->pPlan->source.nCol;

  assert( iCol>=0 && iCol<pWorker->pPlan->source.nCol && pOut->mIdx!=0 );
  assert( pBatch->nRow>0 && pBatch->nRow<=pBatch->nAlloc );
  pOut->bFloat = 0;
  pOut->pSeg = 0;
  pOut->bLate = 0;
  if( pCol->iStore<0 ){
    HP_ROWS(p, {
      aTag[i] = HP_INT;
      aVal[i].i = pBatch->aRowid[i];
    })
    pOut->mType = HP_INT;
    return;
  }
  mn = 0xff;
  mx = 0;
  for(iFrom=0; iFrom<HP_CUT; iFrom++){
    mn = MIN(mn, pBatch->aMin[iCol*HP_CUT+iFrom]);
    mx = MAX(mx, pBatch->aMax[iCol*HP_CUT+iFrom]);
  }
  /* Column numbers are places in the record, but that of the rowid */
  assert( pCol->iStore<=pWorker->pPlan->source.mxCol && iCol<pBatch->nCol );
  aType = &pBatch->aType[iCol*pBatch->nStride];
  aOfst = &pBatch->aOfst[iCol*pBatch->nStride];
  iFrom = 0;
  assert( hpTypesAreIn(pBatch, iCol, mn, mx) );
  if( mx<12 ){
#ifdef HP_AVX2
    if( p->bAvx2 && p->bDense ){
      iFrom = hpNumbersAvx2(apRec, aType, aOfst, pBatch->nRow, aTag, aVal,
                            &mType);
    }
#endif
    HP_ROWS_FROM(p, iFrom, {
      const struct HpSer *pSer = &aHpSer[aType[i]];
      aVal[i].i = hpSerialGet(pSer, &apRec[i][aOfst[i]]);
      aTag[i] = pSer->tag;
      mType |= pSer->seen;
    })
    bWide = mType & HP_WIDE;
    mType &= ~HP_WIDE;
  }else if( mn>=12 && mx<0x80 ){
#ifdef HP_AVX2
    if( p->bAvx2 && p->bDense ){
      iFrom = hpStringsAvx2(apRec, aType, aOfst, pBatch->nRow, aTag, aVal, aLen,
                            &mType);
    }
#endif
    HP_ROWS_FROM(p, iFrom, {
      u32 t = aType[i];
      u8 tag = HP_BLOB - (t&1)*(HP_BLOB-HP_TEXT);
      aVal[i].z = &apRec[i][aOfst[i]];
      aLen[i] = (t-12)>>1;
      aTag[i] = tag;
      mType |= tag;
    })
  }else{
    HP_ROWS(p, {
      u32 t = aType[i];
      const u8 *z;
      u8 tag;
      if( t==HP_SER_SLOW ){
        const struct HpSlow *pSlow = &pBatch->aSlow[(i64)i*nCol+iCol];
        t = pSlow->type;
        z = pSlow->z;
      }else{
        z = &apRec[i][aOfst[i]];
      }
      if( t<12 ){
        bWide |= t==6;
        aVal[i].i = hpSerialGet(&aHpSer[t], z);
        tag = aHpSer[t].tag;
      }else if( t==HP_SER_NONE ){
        aVal[i] = pCol->dflt;
        aLen[i] = pCol->nDflt;
        tag = pCol->dfltTag;
        bWide = 1;
      }else{
        aVal[i].z = z;
        aLen[i] = (t-12)>>1;
        tag = (t&1) ? HP_TEXT : HP_BLOB;
      }
      aTag[i] = tag;
      mType |= tag;
    })
  }
  if( pCol->bReal && (mType & HP_INT) ){
    mType = (mType & ~HP_INT) | HP_REAL;
    HP_ROWS(p, {
      if( aTag[i]==HP_INT ){
        aVal[i].r = (double)aVal[i].i;
        aTag[i] = HP_REAL;
      }
    })
  }
  assert( (mType & ~(HP_NULL|HP_NUM|HP_STR))==0 );
  if( mType==HP_NUM && !bWide ){
    hpDecodeFloat(p, pOut, &bNaN);
  }else if( mType & HP_REAL ){
    HP_ROWS(p, { bNaN |= (aTag[i]==HP_REAL) & (aVal[i].r!=aVal[i].r); })
  }
  if( bNaN ){
    /* A NaN in the file is read as NULL */
    hpVecExact(p, pOut);
    HP_ROWS(p, {
      if( aTag[i]==HP_REAL && aVal[i].r!=aVal[i].r ){
        aTag[i] = HP_NULL;
        mType |= HP_NULL;
      }
    })
  }
  pOut->mType = mType;
  assert( hpTagsAreIn(p, pOut) );
}
#endif /* SQLITE_OMIT_HP */
