/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_arith: arithmetic and bits of two vectors.
**
**    hpArithRun()  +, -, *, /, %
**    hpArithBit()    &, |, <<, >>
**
** Integers that overflow become reals, and x/0 is NULL, as in SQLite.  Typed
** loops and AVX2 serve vectors of numbers, in float form too (HpVec).  Everything
** else is turned into numbers by SQLite's own code first.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Arithmetic on two integers as OP_Add and its like do it.  Returns the tag
** of the result, or 0 if it has to be done with reals. */
static SQLITE_INLINE u8 hpIntArith(int op, i64 a, i64 b, HpVal *pOut){
  switch( op ){
    case TK_PLUS:   if( sqlite3AddInt64(&a, b) ) return 0;  break;
    case TK_MINUS:  if( sqlite3SubInt64(&a, b) ) return 0;  break;
    case TK_STAR:   if( sqlite3MulInt64(&a, b) ) return 0;  break;
    case TK_SLASH:
      if( b==0 ) return HP_NULL;
      if( b==-1 && a==SMALLEST_INT64 ) return 0;
      a /= b;
      break;
    default:
      assert( op==TK_REM );
      if( b==0 ) return HP_NULL;
      if( b==-1 ) b = 1;
      a %= b;
      break;
  }
  pOut->i = a;
  return HP_INT;
}

/* Arithmetic on two reals; iA and iB are the operands as integers, for % */
static SQLITE_INLINE u8 hpRealArith(
  int op, double a, double b, i64 iA, i64 iB, HpVal *pOut
){
  double r;
  switch( op ){
    case TK_PLUS:   r = a+b;  break;
    case TK_MINUS:  r = a-b;  break;
    case TK_STAR:   r = a*b;  break;
    case TK_SLASH:
      if( b==(double)0 ) return HP_NULL;
      r = a/b;
      break;
    default:
      assert( op==TK_REM );
      if( iB==0 ) return HP_NULL;
      if( iB==-1 ) iB = 1;
      r = (double)(iA % iB);
      break;
  }
  if( r!=r ) return HP_NULL;
  pOut->r = r;
  return HP_REAL;
}

/*
** Row i of pVec as an operand of arithmetic.  Returns HP_INT or HP_REAL, or
** HP_NULL.  *pi is the value as an integer (for %), *pr as a real.
*/
static u8 hpVecNumber(
  const HpFrame *p,
  const HpVec *pVec,
  int i,
  i64 *pi,
  double *pr
){
  Mem m;
  u16 t;
  assert( pVec->bFloat==0 );
  i &= pVec->mIdx;
  switch( pVec->aTag[i] ){
    case HP_NULL:
      return HP_NULL;
    case HP_INT:
      *pi = pVec->aVal[i].i;
      *pr = (double)*pi;
      return HP_INT;
    case HP_REAL:
      *pr = pVec->aVal[i].r;
      *pi = sqlite3RealToI64(*pr);
      return HP_REAL;
  }
  assert( pVec->aTag[i] & HP_STR );
  hpVecToMem(p, pVec, i, &m);
  t = numericType(&m);
  if( t & MEM_Int ){
    *pi = m.u.i;
  }
  /* numericType() leaves the number in m.u and the text in m.z */
  hpVecToMem(p, pVec, i, &m);
  if( (t & MEM_Int)==0 ) *pi = sqlite3VdbeIntValue(&m);
  *pr = sqlite3VdbeRealValue(&m);
  sqlite3VdbeMemRelease(&m);
  return (t & MEM_Int) ? HP_INT : HP_REAL;
}

#ifdef HP_AVX2
/*
** aOut[i] = a op b for rows 0..n-1, where a step of 0 stands for a constant.
** *pbLarge is set if some result is not a number or not below HP_MX_FLOAT,
** *pbZero if some result is zero.  Rows are handled four at a time; vectors
** have room for that.
*/
__attribute__((target("avx2")))
static void hpArithAvx2(
  int op,
  const HpVal *aA, int iStepA,
  const HpVal *aB, int iStepB,
  HpVal *aOut,
  int n,
  int *pbLarge,
  int *pbZero
){
  const __m256d mx = _mm256_set1_pd(HP_MX_FLOAT);
  const __m256d abs = _mm256_castsi256_pd(_mm256_set1_epi64x(LARGEST_INT64));
  __m256d bad = _mm256_setzero_pd();
  __m256d zero = _mm256_setzero_pd();
  __m256d a = _mm256_set1_pd(aA[0].r);
  __m256d b = _mm256_set1_pd(aB[0].r);
  int i;
  for(i=0; i<n; i+=4){
    __m256d r;
    if( iStepA ) a = _mm256_loadu_pd(&aA[i].r);
    if( iStepB ) b = _mm256_loadu_pd(&aB[i].r);
    switch( op ){
      case TK_PLUS:  r = _mm256_add_pd(a, b);  break;
      case TK_MINUS: r = _mm256_sub_pd(a, b);  break;
      default:       r = _mm256_mul_pd(a, b);  break;
    }
    bad = _mm256_or_pd(bad,
              _mm256_cmp_pd(_mm256_and_pd(r, abs), mx, _CMP_NLT_UQ));
    zero = _mm256_or_pd(zero,
              _mm256_cmp_pd(r, _mm256_setzero_pd(), _CMP_EQ_OQ));
    _mm256_storeu_pd(&aOut[i].r, r);
  }
  *pbLarge = _mm256_movemask_pd(bad)!=0;
  *pbZero = _mm256_movemask_pd(zero)!=0;
}

/*
** aOut[i] is HP_INT where both aA[i] and aB[i] are, else HP_REAL.  All tags are
** one of the two.  Returns the OR of aOut.  aA or aB may be one constant.
** Vectors have room for 32 at a time.
*/
__attribute__((target("avx2")))
static u8 hpTagsAvx2(
  const u8 *aA, u32 mA,
  const u8 *aB, u32 mB,
  u8 *aOut,
  int n
){
  const __m256i isInt = _mm256_set1_epi8(HP_INT);
  const __m256i isReal = _mm256_set1_epi8(HP_REAL);
  __m256i a = _mm256_set1_epi8((char)aA[0]);
  __m256i b = _mm256_set1_epi8((char)aB[0]);
  u8 mOut = 0;
  int i;
  for(i=0; i<n; i+=32){
    __m256i x;
    u32 m;
    u32 mUse = n-i>=32 ? 0xffffffff : (((u32)1<<(n-i))-1);
    if( mA ) a = _mm256_loadu_si256((const __m256i*)&aA[i]);
    if( mB ) b = _mm256_loadu_si256((const __m256i*)&aB[i]);
    x = _mm256_and_si256(_mm256_and_si256(a, b), isInt);
    m = (u32)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, isInt)) & mUse;
    mOut |= (m ? HP_INT : 0) | (m!=mUse ? HP_REAL : 0);
    _mm256_storeu_si256((__m256i*)&aOut[i], _mm256_sub_epi8(isReal, x));
  }
  return mOut;
}
#endif

/*
** The same in plain C, for the rows of p.
*/
#define HP_REAL_LOOP(OP) \
  HP_ROWS(p, { \
    double r = aA[i*iStepA].r OP aB[i*iStepB].r; \
    bLarge |= !(fabs(r)<HP_MX_FLOAT); \
    bZero |= r==0.0; \
    aOut[i].r = r; \
  })
static void hpArithPlain(
  HpFrame *p,
  int op,
  const HpVal *aA, int iStepA,
  const HpVal *aB, int iStepB,
  HpVal *aOut,
  int *pbLarge,
  int *pbZero
){
  int bLarge = 0;
  int bZero = 0;
  switch( op ){
    case TK_PLUS:   HP_REAL_LOOP(+)  break;
    case TK_MINUS:  HP_REAL_LOOP(-)  break;
    default:        HP_REAL_LOOP(*)  break;
  }
  *pbLarge = bLarge;
  *pbZero = bZero;
}

/*
** Compute pOut = a op b with doubles, for +, - and * of numbers in float form,
** reals, and constants.  Returns 0 if that does not give stock's result.
**
** Where both operands are integers the result is one, and as long as it is
** below 2^53 the double is exactly it.  Where one is real the double is the
** result.  Only -0.0 = 0 * -1 is no integer.
*/
static int hpFloatArith(HpFrame *p, const HpOp *pOp, HpVec *pOut){
  const HpVec *apIn[2];
  const HpVal *aaVal[2];
  int aStep[2];
  HpVal aConst[2];
  u8 *aTag = pOut->aTag;
  int op = pOp->op;
  int bLarge;              /* Some result is not a number or large */
  int bZero;             /* Some result is 0.0 or -0.0 */
  int bInt;              /* Some results may be integers */
  int i;
  assert( ((p->aVec[pOp->a].mType|p->aVec[pOp->b].mType) & ~HP_NUM)==0 );

  if( op!=TK_PLUS && op!=TK_MINUS && op!=TK_STAR ) return 0;
  apIn[0] = &p->aVec[pOp->a];
  apIn[1] = &p->aVec[pOp->b];
  for(i=0; i<2; i++){
    const HpVec *pVec = apIn[i];
    aaVal[i] = pVec->aVal;
    aStep[i] = pVec->mIdx!=0;
    if( pVec->mIdx==0 && pVec->mType==HP_INT ){
      i64 x = pVec->aVal[0].i;
      if( x>=((i64)1<<51) || x<-((i64)1<<51) ) return 0;
      aConst[i].r = (double)x;
      aaVal[i] = &aConst[i];
    }else if( pVec->mType!=HP_REAL && !pVec->bFloat ){
      return 0;
    }
  }
  bInt = (apIn[0]->mType & apIn[1]->mType & HP_INT)!=0;
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense ){
    hpArithAvx2(op, aaVal[0], aStep[0], aaVal[1], aStep[1], pOut->aVal,
                p->nRow, &bLarge, &bZero);
  }else
#endif
  hpArithPlain(p, op, aaVal[0], aStep[0], aaVal[1], aStep[1], pOut->aVal,
               &bLarge, &bZero);
  if( !bInt ){
    int bNaN = 0;
    memset(aTag, HP_REAL, p->nRow);
    pOut->mType = HP_REAL;
    pOut->bFloat = 0;
    if( bLarge ){
      HP_ROWS(p, {
        if( pOut->aVal[i].r!=pOut->aVal[i].r ){
          aTag[i] = HP_NULL;
          bNaN = 1;
        }
      })
    }
    if( bNaN ) pOut->mType |= HP_NULL;
  }else{
    const u8 *aTA = apIn[0]->aTag;
    const u8 *aTB = apIn[1]->aTag;
    u32 mA = apIn[0]->mIdx;
    u32 mB = apIn[1]->mIdx;
    HpVal *aVal = pOut->aVal;
    u8 mType = 0;
    if( bLarge ) return 0;
#ifdef HP_AVX2
    if( p->bAvx2 && p->bDense ){
      mType = hpTagsAvx2(aTA, mA, aTB, mB, aTag, p->nRow);
    }else
#endif
    HP_ROWS(p, {
      u8 t = HP_REAL - (aTA[i & mA] & aTB[i & mB] & HP_INT);
      aTag[i] = t;
      mType |= t;
    })
    if( op==TK_STAR && bZero ){
      HP_ROWS(p, { if( aTag[i]==HP_INT ) aVal[i].r += 0.0; })
    }
    pOut->mType = mType;
    pOut->bFloat = 1;
    if( mType==HP_REAL ) pOut->bFloat = 0;
    if( mType==HP_INT ) hpVecExact(p, pOut);
  }
  return 1;
}

#ifdef HP_AVX2
/*
** aOut[i] = a op b of integers, for rows 0..n-1, where a step of 0 stands for a constant.
** False if some result overflows, or may.
*/
__attribute__((target("avx2")))
static int hpIntsAvx2(
  int op,
  const HpVal *aA, int iStepA,
  const HpVal *aB, int iStepB,
  HpVal *aOut,
  int n
){
  const __m256i half = _mm256_set1_epi64x((i64)1<<31);
  __m256i bad = _mm256_setzero_si256();    /* Sign bits: a result overflows */
  __m256i large = _mm256_setzero_si256();  /* Upper halves: a factor is no i32 */
  __m256i a = _mm256_set1_epi64x(aA[0].i);
  __m256i b = _mm256_set1_epi64x(aB[0].i);
  int i;
  for(i=0; i<n; i+=4){
    __m256i r;
    if( iStepA ) a = _mm256_loadu_si256((const __m256i*)&aA[i]);
    if( iStepB ) b = _mm256_loadu_si256((const __m256i*)&aB[i]);
    switch( op ){
      case TK_PLUS:
        r = _mm256_add_epi64(a, b);
        bad = _mm256_or_si256(bad, _mm256_and_si256(_mm256_xor_si256(a, r),
                                                    _mm256_xor_si256(b, r)));
        break;
      case TK_MINUS:
        r = _mm256_sub_epi64(a, b);
        bad = _mm256_or_si256(bad, _mm256_and_si256(_mm256_xor_si256(a, b),
                                                    _mm256_xor_si256(a, r)));
        break;
      default:
        r = _mm256_mul_epi32(a, b);
        large = _mm256_or_si256(large, _mm256_or_si256(_mm256_add_epi64(a, half),
                                                       _mm256_add_epi64(b, half)));
        break;
    }
    _mm256_storeu_si256((__m256i*)&aOut[i], r);
  }
  return _mm256_movemask_pd(_mm256_castsi256_pd(bad))==0
      && _mm256_testz_si256(large, _mm256_set1_epi64x((i64)((u64)0xffffffff<<32)));
}
#endif

/*
** Compute pOut = a op b of integers, for +, - and *.  Returns 0 if some result overflows, or
** may, or if this is not known to be faster.
*/
static int hpIntsArith(HpFrame *p, const HpOp *pOp, HpVec *pOut){
#ifdef HP_AVX2
  const HpVec *pA = &p->aVec[pOp->a];
  const HpVec *pB = &p->aVec[pOp->b];
  int op = pOp->op;
  assert( pA->mType==HP_INT && pB->mType==HP_INT );
  if( !p->bAvx2 || !p->bDense || (op!=TK_PLUS && op!=TK_MINUS && op!=TK_STAR) ) return 0;
  if( !hpIntsAvx2(op, pA->aVal, pA->mIdx!=0, pB->aVal, pB->mIdx!=0, pOut->aVal, p->nRow) ){
    return 0;
  }
  memset(pOut->aTag, HP_INT, p->nRow);
  pOut->mType = HP_INT;
  return 1;
#else
  UNUSED_PARAMETER(p);
  UNUSED_PARAMETER2(pOp, pOut);
  return 0;
#endif
}

/*
** Compute pOut = a op b.
*/
static void hpArithRun(HpFrame *p, const HpOp *pOp, HpVec *pOut){
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  int op = pOp->op;
  u32 mA = pA->mIdx;
  u32 mB = pB->mIdx;
  u8 mType = pA->mType | pB->mType;
  u8 mOut = 0;

  assert( pOp->eOp==HP_OP_ARITH && pOut!=pA && pOut!=pB );
  assert( mA==0 || pOut->mIdx!=0 || p->nRow==1 );
  pOut->bFloat = 0;
  if( (mType & ~HP_NUM)==0 && mType!=HP_INT && hpFloatArith(p, pOp, pOut) ){
    return;
  }
  pOut->bFloat = 0;
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  if( mType==HP_INT && hpIntsArith(p, pOp, pOut) ) return;
  HP_ROWS(p, {
    int iA = i & mA;
    int iB = i & mB;
    u8 tA = pA->aTag[iA];
    u8 tB = pB->aTag[iB];
    HpVal *pVal = &pOut->aVal[i];
    u8 t = 0;
    if( (tA & tB)==HP_INT ){
      t = hpIntArith(op, pA->aVal[iA].i, pB->aVal[iB].i, pVal);
    }
    if( t ){
      /* Done */
    }else if( ((tA|tB) & ~HP_NUM)==0 && op!=TK_REM ){
      double rA = tA==HP_INT ? (double)pA->aVal[iA].i : pA->aVal[iA].r;
      double rB = tB==HP_INT ? (double)pB->aVal[iB].i : pB->aVal[iB].r;
      t = hpRealArith(op, rA, rB, 0, 0, pVal);
    }else if( (tA|tB) & HP_NULL ){
      t = HP_NULL;
    }else{
      i64 xA;
      i64 xB;
      double rA;
      double rB;
      tA = hpVecNumber(p, pA, i, &xA, &rA);
      tB = hpVecNumber(p, pB, i, &xB, &rB);
      if( (tA & tB)==HP_INT ) t = hpIntArith(op, xA, xB, pVal);
      if( t==0 ) t = hpRealArith(op, rA, rB, xA, xB, pVal);
    }
    pOut->aTag[i] = t;
    mOut |= t;
  })
  pOut->mType = mOut;
}

/*
** Row i of pVec as an integer, as stock casts operands of & and |.  *pi is not
** set if it is NULL.
*/
static u8 hpVecInt(const HpFrame *p, const HpVec *pVec, int i, i64 *pi){
  Mem m;
  assert( pVec->bFloat==0 );
  i &= pVec->mIdx;
  switch( pVec->aTag[i] ){
    case HP_NULL:
      return HP_NULL;
    case HP_INT:
      *pi = pVec->aVal[i].i;
      return HP_INT;
    case HP_REAL:
      *pi = sqlite3RealToI64(pVec->aVal[i].r);
      return HP_INT;
  }
  assert( pVec->aTag[i] & HP_STR );
  hpVecToMem(p, pVec, i, &m);
  *pi = sqlite3VdbeIntValue(&m);
  sqlite3VdbeMemRelease(&m);
  return HP_INT;
}

/* a shifted left by b bits, right if b is negative, as OP_ShiftLeft does */
static i64 hpShift(i64 a, i64 b){
  if( b>=64 ) return 0;
  if( b<=-64 ) return a<0 ? -1 : 0;
  assert( b>-64 && b<64 );           /* Others are undefined in C */
  if( b>=0 ) return (i64)((u64)a << b);
  return a<0 ? (i64)~(~(u64)a >> -b) : (i64)((u64)a >> -b);
}

/*
** Compute pOut = a & b, a | b, a << b, a >> b, or ~a.
*/
static void hpArithBit(HpFrame *p, const HpOp *pOp, HpVec *pOut){
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  u8 mOut = 0;
  assert( pOp->eOp==HP_OP_BIT || pOp->eOp==HP_OP_BITNOT );
  assert( pOut!=pA && pOut!=pB );
  pOut->bFloat = 0;
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  HP_ROWS(p, {
    i64 a = 0;
    i64 b = 0;
    u8 t = hpVecInt(p, pA, i, &a) | hpVecInt(p, pB, i, &b);
    if( t & HP_NULL ) t = HP_NULL;
    switch( pOp->op ){
      case TK_BITAND:  a &= b;  break;
      case TK_BITOR:   a |= b;  break;
      case TK_LSHIFT:  a = hpShift(a, b);  break;
      case TK_RSHIFT:  a = hpShift(a, b==SMALLEST_INT64 ? 64 : -b);  break;
      default:         a = ~a;  break;
    }
    pOut->aVal[i].i = a;
    pOut->aTag[i] = t;
    mOut |= t;
  })
  pOut->mType = mOut;
}
#endif /* SQLITE_OMIT_HP */
