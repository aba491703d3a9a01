/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_segment: the values of one column of up to HP_BATCH rows, in few bytes.
**
**    hpSegmentColumn()   values for the rows that are selected
**    hpSegmentIsOut()    is no row within bounds?
**    hpSegmentAscends()  do integers increase from row to row?
**    hpSegmentCode()     INT, DECIMAL, DATE, TIME: the number of a row
**    hpSegmentNumber()   INT, DECIMAL: what a number stands for
**    hpSegmentText()     DATE, TIME: likewise
**    hpSegmentDate()     and back
**    hpSegmentDup()      a copy
**    hpSegmentFree()     one reference less
**
** Segments are made in hp_segmentmake.c.  From then on they do not change, but
** for copies of one that are being mended (hp_mend.c), which nobody else has.
**
** A segment gives back to the bit what it was made from: tags, values, lengths,
** float form.  So nothing further on can tell where a vector comes from.
**
**    SEQ      integers, each one more than the one before: rowids
**    INT      integers, as what each is more than the smallest, in 0, 1, 2, 4
**             or 8 bytes.  None: all are equal
**    DECIMAL  doubles that are such an integer, divided by 1, 10, ... 1000000:
**             prices
**    REAL     other doubles
**    DICT     texts and blobs, up to 256 different ones: a byte for each row
**    DATE     texts like 2026-11-27, as numbers (hp_date.c), of which what each
**             is more than the first has two bytes
**    TIME     texts like 2026-11-27 13:45:00, likewise, in up to four bytes
**    FIXED    other texts and blobs, if all have the same length: their bytes
**    TEXT     other texts and blobs: where each ends, then their bytes
**    ANY      numbers beside texts, or integers beside reals: as they come
**
** Whatever the form, types have a byte for each row if there are several.  What
** stands in a row of NULL is some other row's value, and means nothing.
**
** The smallest and the largest integer, or decimal, are known, and of texts the
** smallest and the largest beginning: hpSegmentIsOut() compares these with the
** bounds of a filter, so that a batch without a row in them is not read.
**
** Of all of them one value can be read without the ones before, as a selection
** wants it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

/* What integers of DECIMAL are divided by: HpSegment.iScale */
static const double aHpScale[] = {
  1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0
};

/* p has one user less.  Returns the bytes that are free now: none, while it or
** its slab has others */
static i64 hpSegmentFree(HpSegment *p){
  i64 nByte;
  assert( p==0 || p->nRef>0 );
  if( p==0 || --p->nRef ) return 0;
  if( p->pSlab ) return hpSlabLeave(p->pSlab);
  nByte = p->nByte;
  sqlite3_free(p);
  return nByte;
}

/* A copy of *p, for one user; or NULL without memory */
static HpSegment *hpSegmentDup(const HpSegment *p){
  HpSegment *pNew = sqlite3_malloc64(p->nByte);
  if( pNew ){
    const u8 *aOld = (const u8*)p;
    u8 *aNew = (u8*)pNew;
    memcpy(pNew, p, p->nByte);
    pNew->nRef = 1;
    pNew->pSlab = 0;
    if( p->aTag ) pNew->aTag = &aNew[p->aTag-aOld];
    pNew->aData = &aNew[p->aData-aOld];
    pNew->aEntry = (struct HpSegmentText*)&aNew[(const u8*)p->aEntry-aOld];
    pNew->aText = &aNew[p->aText-aOld];
  }
  return pNew;
}

#ifdef HP_AVX2


/* Four bytes at z, as they stand */
static SQLITE_INLINE int hpSegmentRaw4(const u8 *z){
  int x;
  memcpy(&x, z, 4);
  return x;
}

/* Row i becomes iBase plus the number of w bytes in aData[i] */
__attribute__((target("avx2")))
static void hpSegmentIntegersAvx2(
  const HpSegment *p,
  int iFrom,
  int n,
  HpVal *aVal
){
  const __m256i base = _mm256_set1_epi64x(p->iBase);
  const u8 *a = &p->aData[(i64)iFrom*p->w];
  int i;
#define HP_WIDEN(W, LOAD, CVT) \
  for(i=0; i<n; i+=4){ \
    __m256i v = CVT(LOAD(&a[i*W])); \
    _mm256_storeu_si256((__m256i*)&aVal[i], _mm256_add_epi64(v, base)); \
  }
#define HP_LOAD4(Z)  _mm_cvtsi32_si128(hpSegmentRaw4(Z))
#define HP_LOAD8(Z)  _mm_loadl_epi64((const __m128i*)(Z))
#define HP_LOAD16Z(Z) _mm_loadu_si128((const __m128i*)(Z))
  switch( p->w ){
    case 1:  HP_WIDEN(1, HP_LOAD4, _mm256_cvtepu8_epi64)   break;
    case 2:  HP_WIDEN(2, HP_LOAD8, _mm256_cvtepu16_epi64)  break;
    default: HP_WIDEN(4, HP_LOAD16Z, _mm256_cvtepu32_epi64) break;
  }
}

/* The same, and divided by rScale: see hpSegmentDecimalAvx2() */
__attribute__((target("avx2")))
static void hpSegmentDividedAvx2(HpVal *aVal, int n, double rScale){
  const __m256d scale = _mm256_set1_pd(rScale);
  const __m256d magic = _mm256_set1_pd(6755399441055744.0);
  int i;
  for(i=0; i<n; i+=4){
    __m256i v = _mm256_loadu_si256((const __m256i*)&aVal[i]);
    __m256i sum = _mm256_add_epi64(v, _mm256_castpd_si256(magic));
    __m256d r = _mm256_castsi256_pd(sum);
    _mm256_storeu_pd(&aVal[i].r, _mm256_div_pd(_mm256_sub_pd(r, magic), scale));
  }
}
#endif /* HP_AVX2 */

/* INT, DECIMAL, DATE, TIME: by how much row i is more than the smallest */
static SQLITE_INLINE u64 hpSegmentCode(const HpSegment *p, int i){
  assert( i>=0 && i<p->nRow && p->eForm!=HP_FORM_DICT );
  switch( p->w ){
    case 0:  return 0;
    case 1:  return p->aData[i];
    case 2:  return ((const u16*)p->aData)[i];
    case 4:  return ((const u32*)p->aData)[i];
  }
  return ((const u64*)p->aData)[i];
}

/* INT, DECIMAL: the value that u is, in float form where the segment is:
** integers or reals */
static HpVal hpSegmentNumber(const HpSegment *p, u64 u){
  HpVal v;
  assert( p->eForm==HP_FORM_INT || p->eForm==HP_FORM_DECIMAL );
  v.u = (u64)p->iBase + u;
  if( p->eForm==HP_FORM_DECIMAL ) v.r = (double)v.i/aHpScale[p->iScale];
  return v;
}

/* DATE, TIME: the text of *pn bytes that u is, which may be written to
** aBuf[0..HP_TIME_TEXT-1] */
static const u8 *hpSegmentText(const HpSegment *p, u64 u, u8 *aBuf, u32 *pn){
  i64 x = (i64)((u64)p->iBase + u);
  assert( x>=p->iBase && x<=p->iMax );
  if( p->eForm==HP_FORM_DATE ){
    *pn = 10;
    return hpDateText((int)x);
  }
  assert( p->eForm==HP_FORM_TIME );
  hpDateTimeText(x, p->cBetween, aBuf);
  *pn = 19;
  return aBuf;
}

/*
** The number of the text of n bytes at z in a segment of form eForm, DATE or
** TIME, or -1: it has none.
*/
static SQLITE_INLINE i64 hpSegmentDate(
  u8 eForm,
  u8 cBetween,
  const u8 *z,
  u32 n
){
  if( eForm==HP_FORM_DATE ) return n==10 ? hpDateNumber(z) : -1;
  return n==19 && z[10]==cBetween ? hpDateTimeNumber(z) : -1;
}

/*
** True if pBound says that no row of the segment is wanted.
*/
static int hpSegmentIsOut(const HpSegment *p, const HpBound *pBound){
  u8 m = p->mType & ~HP_NULL;
  if( m!=p->mType && pBound->bNull ) return 0;
  if( pBound->bText && m==HP_TEXT ){
    return p->eForm<=HP_FORM_TEXT
        && (p->mxText<pBound->mnText || p->mnText>pBound->mxText);
  }
  if( pBound->bOn==0 ) return 0;
  if( m==HP_INT && p->eForm<=HP_FORM_INT ){
    return p->iMax<pBound->iMin || p->iBase>pBound->iMax;
  }
  if( p->eForm==HP_FORM_DECIMAL ){
    double rScale = aHpScale[p->iScale];
    return (double)p->iMax/rScale<pBound->rMin
        || (double)p->iBase/rScale>pBound->rMax;
  }
  return 0;
}

/*
** Are n rows from iFrom on integers, each of them greater than the one before,
** and the first one, if bLast, greater than *piLast?  Sets *piLast to the last
** one.
*/
static int hpSegmentAscends(
  const HpSegment *p,
  int iFrom,
  int n,
  int bLast,
  i64 *piLast
){
  i64 iLast = *piLast;
  int i = iFrom;
  assert( n>0 && iFrom>=0 && iFrom+n<=p->nRow );
  if( p->mType!=HP_INT ) return 0;
  if( p->eForm==HP_FORM_SEQ ){
    i64 iFirst = p->iBase + iFrom;
    *piLast = p->iMax - (p->nRow-iFrom-n);
    return !bLast || iFirst>iLast;
  }
  if( p->eForm!=HP_FORM_INT ) return 0;
  if( !bLast ) iLast = hpSegmentNumber(p, hpSegmentCode(p, i++)).i;
  for(; i<iFrom+n; i++){
    i64 x = hpSegmentNumber(p, hpSegmentCode(p, i)).i;
    if( x<=iLast ) return 0;
    iLast = x;
  }
  *piLast = iLast;
  return 1;
}

/*
** Integers of INT and DECIMAL, from row iFrom on, for the rows selected.
*/
static void hpSegmentInteger(
  const HpSegment *p,
  int iFrom,
  HpFrame *pFrame,
  HpVal *aVal
){
  const u8 *a = p->aData;
  u64 iBase = (u64)p->iBase;
#ifdef HP_AVX2
  if( pFrame->bAvx2 && pFrame->bDense && p->w>0 && p->w<8 ){
    hpSegmentIntegersAvx2(p, iFrom, pFrame->nRow, aVal);
    return;
  }
#endif
  switch( p->w ){
    case 0:  HP_ROWS(pFrame, { aVal[i].u = iBase; })  break;
    case 1:  HP_ROWS(pFrame, { aVal[i].u = iBase + a[iFrom+i]; })  break;
    case 2:
      HP_ROWS(pFrame, { aVal[i].u = iBase + ((const u16*)a)[iFrom+i]; })
      break;
    case 4:
      HP_ROWS(pFrame, { aVal[i].u = iBase + ((const u32*)a)[iFrom+i]; })
      break;
    default:
      HP_ROWS(pFrame, { aVal[i].u = iBase + ((const u64*)a)[iFrom+i]; })
      break;
  }
}

/* Integers of DECIMAL become doubles */
static void hpSegmentDivided(const HpSegment *p, HpFrame *pFrame, HpVal *aVal){
  double rScale = aHpScale[p->iScale];
#ifdef HP_AVX2
  if( pFrame->bAvx2 && pFrame->bDense ){
    hpSegmentDividedAvx2(aVal, pFrame->nRow, rScale);
    return;
  }
#endif
  HP_ROWS(pFrame, { aVal[i].r = (double)aVal[i].i/rScale; })
}

/*
** Rows iFrom, iFrom+1, ... of a segment become rows 0, 1, ... of *pOut, those
** that are selected in pFrame.  Texts stay in the segment, but for those of
** TIME, which are written to aTime[], HP_TIME_TEXT bytes for each row: it may
** be NULL for another segment.
*/
static void hpSegmentColumn(
  const HpSegment *p,
  int iFrom,
  HpFrame *pFrame,
  HpVec *pOut,
  u8 *aTime
){
  u8 *aTag = pOut->aTag;
  HpVal *aVal = pOut->aVal;
  u32 *aLen = pOut->aLen;
  assert( iFrom>=0 && iFrom+pFrame->nRow<=p->nRow && pOut->mIdx!=0 );
  assert( p->aTag!=0 || (p->mType & (p->mType-1))==0 );
  assert( aTime!=0 || p->eForm!=HP_FORM_TIME );
  pOut->mType = p->mType;
  pOut->bFloat = p->bFloat;
  pOut->pSeg = p;
  pOut->bLate = 0;
  if( p->aTag==0 ){
    u8 tag = p->mType;
    if( pFrame->bDense ){
      memset(aTag, tag, pFrame->nRow);
    }else{
      HP_ROWS(pFrame, { aTag[i] = tag; })
    }
  }else{
    const u8 *aFrom = &p->aTag[iFrom];
    HP_ROWS(pFrame, { aTag[i] = aFrom[i]; })
  }
  switch( p->eForm ){
    case HP_FORM_SEQ: {
      i64 iBase = p->iBase + iFrom;
      HP_ROWS(pFrame, { aVal[i].i = iBase + i; })
      break;
    }
    case HP_FORM_INT:
      hpSegmentInteger(p, iFrom, pFrame, aVal);
      break;
    case HP_FORM_DECIMAL:
      hpSegmentInteger(p, iFrom, pFrame, aVal);
      hpSegmentDivided(p, pFrame, aVal);
      break;
    case HP_FORM_REAL: {
      const u64 *a = (const u64*)p->aData + iFrom;
      HP_ROWS(pFrame, { aVal[i].u = a[i]; })
      break;
    }
    case HP_FORM_DICT: {
      const u8 *a = &p->aData[iFrom];
      int w = p->w;
      pOut->aCode = w ? a : 0;
      HP_ROWS(pFrame, {
        const struct HpSegmentText *pEntry = &p->aEntry[w ? a[i] : 0];
        aVal[i].z = &p->aText[pEntry->iOfst];
        aLen[i] = pEntry->n;
      })
      break;
    }
    case HP_FORM_DATE: {
      const u16 *a = (const u16*)p->aData + iFrom;
      const u8 *zBase = hpDateText((int)p->iBase);
      HP_ROWS(pFrame, {
        aVal[i].z = &zBase[a[i]*HP_DATE_TEXT];
        aLen[i] = 10;
      })
      break;
    }
    case HP_FORM_TIME: {
      HP_ROWS(pFrame, {
        u8 *z = &aTime[i*HP_TIME_TEXT];
        hpDateTimeText(p->iBase+(i64)hpSegmentCode(p, iFrom+i), p->cBetween, z);
        aVal[i].z = z;
        aLen[i] = 19;
      })
      break;
    }
    case HP_FORM_FIXED: {
      u32 nByte = (u32)p->iBase;
      const u8 *a = &p->aText[(i64)iFrom*nByte];
      HP_ROWS(pFrame, {
        aVal[i].z = &a[i*(i64)nByte];
        aLen[i] = nByte;
      })
      break;
    }
    case HP_FORM_TEXT:
      if( p->w==2 ){
        const u16 *a = (const u16*)p->aData + iFrom;
        HP_ROWS(pFrame, {
          aVal[i].z = &p->aText[a[i]];
          aLen[i] = (u32)(a[i+1]-a[i]);
        })
      }else{
        const u32 *a = (const u32*)p->aData + iFrom;
        HP_ROWS(pFrame, {
          aVal[i].z = &p->aText[a[i]];
          aLen[i] = a[i+1]-a[i];
        })
      }
      break;
    default: {
      const u64 *a = (const u64*)p->aData + iFrom;
      const struct HpSegmentText *aEntry = &p->aEntry[iFrom];
      HP_ROWS(pFrame, {
        if( aTag[i] & HP_STR ){
          aVal[i].z = &p->aText[aEntry[i].iOfst];
        }else{
          aVal[i].u = a[i];
        }
        aLen[i] = aEntry[i].n;
      })
      break;
    }
  }
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
