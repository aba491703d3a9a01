/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compare: comparisons of two vectors.
**
**    hpCompareRun()  =, <>, <, <=, >, >=, IS, IS NOT, for the rows to compute
**
** Typed loops serve vectors that are all integers, all reals or all text; texts
** are compared by their first eight bytes before anything else.  Mixed types,
** affinities and collations take the general loop, which calls SQLite's own
** comparison.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* For a comparison operator: its truth where left is smaller, equal, larger */
static void hpCompareTruth(int op, u8 *aTruth){
  static const u8 aT[][3] = {
    {1,0,1}, {0,1,0}, {0,0,1}, {1,1,0}, {1,0,0}, {0,1,1}
  };
  assert( TK_EQ==TK_NE+1 && TK_GT==TK_NE+2 && TK_LE==TK_NE+3 );
  assert( TK_LT==TK_NE+4 && TK_GE==TK_NE+5 );
  if( op==TK_IS ) op = TK_EQ;
  if( op==TK_ISNOT ) op = TK_NE;
  memcpy(aTruth, aT[op-TK_NE], 3);
}

/* p->aBool[i] = EXPR for each row i */
#define HP_BOOL_LOOP(EXPR)  HP_ROWS(p, { aBool[i] = (u8)(EXPR); })

/* The six comparisons of A with B, both already of one C type */
#define HP_COMPARE_LOOPS(A,B) \
  switch( op ){ \
    case TK_NE: HP_BOOL_LOOP((A)!=(B)) break; \
    case TK_EQ: HP_BOOL_LOOP((A)==(B)) break; \
    case TK_GT: HP_BOOL_LOOP((A)>(B))  break; \
    case TK_LE: HP_BOOL_LOOP((A)<=(B)) break; \
    case TK_LT: HP_BOOL_LOOP((A)<(B))  break; \
    default:    HP_BOOL_LOOP((A)>=(B)) break; \
  }

#define HP_BOOL_ASK 0xff /* In aBool: not known yet */

#ifdef HP_AVX2
/*
** Compare texts aVal[0..n-1] with one whose first eight bytes are prefix, four at
** a time: aBool[i] is aTruth[0] where those of the text are smaller and aTruth[2]
** where they are larger.  It is HP_BOOL_ASK where they are equal or fewer or, if
** bNumeric, where the text does not begin like a date.  Returns the number of
** rows done, and sets *pbAsk if HP_BOOL_ASK was stored.
*/
__attribute__((target("avx2")))
static int hpPrefixAvx2(
  const HpVal *aVal,
  const u32 *aLen,
  int n,
  u64 prefix,
  int bNumeric,
  const u8 *aTruth,
  u8 *aBool,
  int *pbAsk
){
  static const u32 aSpread[16] = {
    0x00000000, 0x00000001, 0x00000100, 0x00000101,
    0x00010000, 0x00010001, 0x00010100, 0x00010101,
    0x01000000, 0x01000001, 0x01000100, 0x01000101,
    0x01010000, 0x01010001, 0x01010100, 0x01010101,
  };
  const __m256i swap = _mm256_setr_epi8(
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8,
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8);
  const __m256i sign = _mm256_set1_epi64x(SMALLEST_INT64);
  const __m256i y = _mm256_xor_si256(_mm256_set1_epi64x((i64)prefix), sign);
  const __m256i minus = _mm256_set1_epi64x((i64)'-'<<32);
  const __m256i mMinus = _mm256_set1_epi64x((i64)0xff<<32);
  const __m256i mDigit = _mm256_set1_epi64x((i64)0xffffffff);
  int mTrue0 = aTruth[0] ? 15 : 0;
  int mTrue2 = aTruth[2] ? 15 : 0;
  int mAsk = 0;
  int i;
  for(i=0; i+4<=n; i+=4){
    int mLess, mMore, m;
    u32 x4;
    __m256i x = _mm256_set_epi64x(hpRaw8(aVal[i+3].z), hpRaw8(aVal[i+2].z),
                                  hpRaw8(aVal[i+1].z), hpRaw8(aVal[i].z));
    __m256i ok = _mm256_cmpgt_epi64(
        _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)&aLen[i])),
        _mm256_set1_epi64x(7));
    if( bNumeric ){
      /* As hpVecMayBeNumber(): four digits and a minus */
      __m256i bad = _mm256_subs_epu8(
          _mm256_sub_epi8(x, _mm256_set1_epi8('0')), _mm256_set1_epi8(9));
      bad = _mm256_or_si256(_mm256_and_si256(bad, mDigit),
                _mm256_xor_si256(_mm256_and_si256(x, mMinus), minus));
      ok = _mm256_and_si256(ok,
               _mm256_cmpeq_epi64(bad, _mm256_setzero_si256()));
    }
    x = _mm256_xor_si256(_mm256_shuffle_epi8(x, swap), sign);
    mLess = _mm256_movemask_pd(_mm256_castsi256_pd(
                _mm256_and_si256(ok, _mm256_cmpgt_epi64(y, x))));
    mMore = _mm256_movemask_pd(_mm256_castsi256_pd(
                _mm256_and_si256(ok, _mm256_cmpgt_epi64(x, y))));
    m = 15 ^ (mLess | mMore);
    mAsk |= m;
    x4 = aSpread[(mLess & mTrue0) | (mMore & mTrue2)] | aSpread[m]*HP_BOOL_ASK;
    memcpy(&aBool[i], &x4, 4);
  }
  if( mAsk ) *pbAsk = 1;
  return i;
}
#endif /* HP_AVX2 */

/*
** Comparison of text with a text constant under BINARY into p->aBool.
** If bNumeric, text in the form of a number becomes one before it is compared;
** the constant does not have that form.
*/
static void hpCompareText(HpFrame *p, const HpOp *pOp, int bNumeric){
  const HpVec *pA = &p->aVec[pOp->a];
  const HpVec *pB = &p->aVec[pOp->b];
  const HpVal *aA = pA->aVal;
  const u32 *aLen = pA->aLen;
  const u8 *z = pB->aVal[0].z;
  u32 n = pB->aLen[0];
  u64 prefix = n>=8 ? hpLoad8(z) : 0;
  u8 *aBool = p->aBool;
  int iFrom = 0;         /* Rows done, but for those with HP_BOOL_ASK */
  int bAsk = 0;
  u8 aTruth[3];
  assert( pA->mType==HP_TEXT && pB->mType==HP_TEXT && pB->mIdx==0 );
  assert( sqlite3IsBinary(pOp->pColl) );
  hpCompareTruth(pOp->op, aTruth);
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense && n>=8 ){
    iFrom = hpPrefixAvx2(aA, aLen, p->nRow, prefix, bNumeric, aTruth,
                         aBool, &bAsk);
  }
#endif
  HP_ROWS_FROM(p, bAsk ? 0 : iFrom, {
    const u8 *zA = aA[i].z;
    u32 nA = aLen[i];
    u64 x;
    int c;
    if( i<iFrom && aBool[i]!=HP_BOOL_ASK ) continue;
    x = hpLoad8(zA);
    if( bNumeric && hpVecMayBeNumber(zA, nA) ){
      c = hpVecMemCompare(p, pA, pB, i, pOp->aff, pOp->pColl);
      c = (c>0)-(c<0);
    }else if( n>=8 && nA>=8 && x!=prefix ){
      c = (x>prefix)*2-1;
    }else{
      c = memcmp(zA, z, MIN(nA, n));
      c = c ? (c>0)*2-1 : (nA>n)-(nA<n);
    }
    aBool[i] = aTruth[1+c];
  })
}

/*
** Text of n bytes at z, at most 16, as a number that sorts as it does but for its
** length: the first eight bytes, and the others.
*/
static SQLITE_INLINE void hpCompareHalves(const u8 *z, u32 n, u64 *pHigh, u64 *pLow){
  u64 x = hpLoad8(z);
  assert( n<=16 );
  *pHigh = n>=8 ? x : (x>>1>>(63-8*n)) << ((64-8*n) & 63);
  *pLow = n>8 ? (hpLoad8(&z[8])>>(128-8*n)) << (128-8*n) : 0;
}

/*
** Comparison of two columns of text under BINARY into p->aBool.  Short texts, as
** dates are, are compared without branches: which is larger is hard to predict.
*/
static void hpCompareTexts(HpFrame *p, const HpOp *pOp){
  const HpVec *pA = &p->aVec[pOp->a];
  const HpVec *pB = &p->aVec[pOp->b];
  const HpVal *aA = pA->aVal;
  const HpVal *aB = pB->aVal;
  int bNumeric = pOp->aff>=SQLITE_AFF_NUMERIC;
  u8 *aBool = p->aBool;
  u8 aTruth[3];
  assert( pA->mIdx!=0 && pB->mIdx!=0 );
  hpCompareTruth(pOp->op, aTruth);
  HP_ROWS(p, {
    const u8 *zA = aA[i].z;
    const u8 *zB = aB[i].z;
    u32 nA = pA->aLen[i];
    u32 nB = pB->aLen[i];
    int c;
    if( bNumeric && (hpVecMayBeNumber(zA, nA) || hpVecMayBeNumber(zB, nB)) ){
      c = hpVecMemCompare(p, pA, pB, i, pOp->aff, pOp->pColl);
    }else if( nA==nB && nA>=8 && nA<=16 ){
      /* The two halves may overlap: where that counts the first ones are equal */
      u64 a0 = hpLoad8(zA), a1 = hpLoad8(&zA[nA-8]);
      u64 b0 = hpLoad8(zB), b1 = hpLoad8(&zB[nB-8]);
      c = 2*((a0>b0)-(a0<b0)) + ((a1>b1)-(a1<b1));
    }else if( nA<=16 && nB<=16 ){
      u64 a0, a1, b0, b1;
      hpCompareHalves(zA, nA, &a0, &a1);
      hpCompareHalves(zB, nB, &b0, &b1);
      c = 4*((a0>b0)-(a0<b0)) + 2*((a1>b1)-(a1<b1)) + ((nA>nB)-(nA<nB));
    }else{
      c = hpVecBinCompare(zA, nA, zB, nB);
    }
    aBool[i] = aTruth[1+(c>0)-(c<0)];
  })
}

/* Comparison of values of any types into p->aBool */
static void hpCompareAny(HpFrame *p, const HpOp *pOp){
  const HpVec *pA = &p->aVec[pOp->a];
  const HpVec *pB = &p->aVec[pOp->b];
  int op = pOp->op;
  int bBin = sqlite3IsBinary(pOp->pColl);
  u8 *aBool = p->aBool;
  u8 aTruth[3];
  assert( pA->bFloat==0 && pB->bFloat==0 );
  hpCompareTruth(op, aTruth);
  HP_ROWS(p, {
    int iA = i & pA->mIdx;
    int iB = i & pB->mIdx;
    u8 tA = pA->aTag[iA];
    u8 tB = pB->aTag[iB];
    HpVal a = pA->aVal[iA];
    HpVal b = pB->aVal[iB];
    int c;
    if( (tA|tB) & HP_NULL ){
      if( op==TK_IS || op==TK_ISNOT ){
        aBool[i] = (tA==tB)==(op==TK_IS);
      }else{
        aBool[i] = 2;
      }
      continue;
    }
    if( ((tA|tB) & ~HP_NUM)==0 ){
      /* Numbers compare as numbers whatever the affinity */
      c = hpVecNumCompare(tA, a, tB, b);
    }else if( (tA & tB)==HP_TEXT && bBin
           && (pOp->aff<SQLITE_AFF_NUMERIC
               || (!hpVecMayBeNumber(a.z, pA->aLen[iA])
                   && !hpVecMayBeNumber(b.z, pB->aLen[iB])))
    ){
      c = hpVecBinCompare(a.z, pA->aLen[iA], b.z, pB->aLen[iB]);
    }else{
      c = hpVecMemCompare(p, pA, pB, i, pOp->aff, pOp->pColl);
    }
    aBool[i] = aTruth[1+(c>0)-(c<0)];
  })
}

/*
** Compute a comparison into p->aBool.
*/
static void hpCompareRun(HpFrame *p, const HpOp *pOp){
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  u8 *aBool = p->aBool;
  int op = pOp->op;
  u8 mType = pA->mType | pB->mType;
  const HpVal *aA = pA->aVal;
  const HpVal *aB = pB->aVal;
  u32 mA = pA->mIdx;
  u32 mB = pB->mIdx;
  int bConst = mA!=0 && mB==0;

  assert( pOp->eOp==HP_OP_COMPARE );
  assert( op==TK_IS || op==TK_ISNOT || (op>=TK_NE && op<=TK_GE) );
  assert( pOp->n==0 || (pOp->n<=p->pProg->nVec && pOp->n-1!=pOp->b) );
  if( pOp->n && (pA->mType & HP_NUM)==0 && (pB->mType & HP_NUM)!=0 ){
    HpOp x = *pOp;
    x.b = pOp->n - 1;
    x.n = 0;
    hpCompareRun(p, &x);
    return;
  }

  if( (mType & HP_NULL)==0 ){
    if( op==TK_IS ) op = TK_EQ;
    if( op==TK_ISNOT ) op = TK_NE;
  }
  if( bConst && (mType & ~HP_NUM)==0 && pB->mType!=HP_NUM
   && (pA->mType==HP_REAL || pA->bFloat)
   && (pB->mType==HP_REAL || hpIsExact(aB[0].i))
  ){
    double b = pB->mType==HP_REAL ? aB[0].r : (double)aB[0].i;
    HP_COMPARE_LOOPS(aA[i].r, b)
    return;
  }
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  if( mType==HP_INT && bConst ){
    i64 b = aB[0].i;
    HP_COMPARE_LOOPS(aA[i].i, b)
  }else if( mType==HP_INT ){
    HP_COMPARE_LOOPS(aA[i & mA].i, aB[i & mB].i)
  }else if( mType==HP_REAL ){
    HP_COMPARE_LOOPS(aA[i & mA].r, aB[i & mB].r)
  }else if( mType==HP_TEXT && bConst && sqlite3IsBinary(pOp->pColl)
         && (pOp->aff<SQLITE_AFF_NUMERIC
             || !hpVecMayBeNumber(aB[0].z, pB->aLen[0]))
  ){
    if( (op==TK_EQ || op==TK_NE) && pOp->aff<SQLITE_AFF_NUMERIC ){
      const u8 *z = aB[0].z;
      u32 n = pB->aLen[0];
      int bEq = op==TK_EQ;
      HP_BOOL_LOOP( (pA->aLen[i]==n && hpVecSame(aA[i].z, z, n))==bEq )
    }else{
      hpCompareText(p, pOp, pOp->aff>=SQLITE_AFF_NUMERIC);
    }
  }else if( mType==HP_TEXT && mA && mB && sqlite3IsBinary(pOp->pColl) ){
    hpCompareTexts(p, pOp);
  }else{
    hpCompareAny(p, pOp);
  }
}
#endif /* SQLITE_OMIT_HP */
