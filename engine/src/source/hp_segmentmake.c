/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_segmentmake: the values of a vector become a segment (hp_segment.c).
**
**    hpSegmentMake()     from a vector that hpDecodeColumn() has filled
**    hpSegmentMakeRow()  in a copy, a row gets another value, if its form has
**                        room for it
**
** A segment is made in two passes.  The first finds its form and how many bytes
** that takes (HpSegmentShape).  The second writes it into memory that is just
** as large: a slab's, or its own if it is large for that (HpSegmentMaker).
**
** Which form.  It depends on the types that occur, and on nothing in rows of
** NULL, which get some other row's value first:
**
**    integers    SEQ, if each is one more than the one before, else INT
**    reals       DECIMAL with the smallest scale that fits, else REAL
**    texts       DICT, if few of them differ, else DATE or TIME, if all are,
**                else FIXED, if they are equally long, else TEXT
**    both        ANY
**
** A decimal is tried by multiplying, rounding, and dividing again: only if each
** double comes out with the same bits is the form DECIMAL, so not with -0.0.
** The first eight values are tried before the others, and tell most failures.
**
** A dictionary is given up as soon as it has more entries than 128 and an
** eighth of the rows so far, or if at the end more than half of the rows have
** texts of their own.  The entries of dictionaries of the same texts mostly
** come in the same order (hpSegmentOrder()), so that whoever compares them
** (hp_direct.c) need not search.
**
** Dates have two bytes a row, so they span 127 years at most; times have four,
** and span 63.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

#define HP_MX_DICT     256     /* Most entries of a dictionary */
#define HP_DICT_BITS   10      /* So many bits number the slots of its hash
                               ** table */

/* Integers of a decimal are smaller than this: see hpSegmentReals() */
#define HP_MX_DECIMAL 2251799813685248.0    /* 2^51 */

/*
** What is known of a vector before a segment of it is made.
*/
typedef struct HpSegmentShape HpSegmentShape;
struct HpSegmentShape {
  u8 eForm;
  u8 w;
  u8 iScale;
  u8 cBetween;
  i64 iBase, iMax;
  u64 mnText, mxText;
  int nEntry;
  i64 nText;             /* Bytes of text */
  i64 *aInt;             /* DECIMAL: its integers; dates */
};

/* Memory for making segments, of a worker */
struct HpSegmentMaker {
  HpSlab *pSlab;                 /* Segments lie in this slab, if it has room,
                                 ** or NULL; ... */
  i64 nSlabMost;                 /* ... up to so many bytes, and larger ones in
                                 ** none */
  HpSlab *(*xSlab)(HpColumnScan*, i64);    /* Another slab with room for so
                                           ** many, ... */
  HpColumnScan *pScan;           /* ... or NULL */
  i64 aInt[HP_BATCH+HP_LANES];
  u8 aCode[HP_BATCH];
  u16 aSlot[1<<HP_DICT_BITS];    /* Entry plus one, or 0 */
  struct HpSegmentWord {
    u64 k1, k2;            /* The first eight bytes, and the last eight */
    const u8 *z;
    u32 n;
  } aEntry[HP_MX_DICT];
  u8 aByte[256+HP_SLACK];        /* Texts of one byte: those of entries */
  u8 aOrder[HP_MX_DICT];         /* Entries in the order that they get, ... */
  u8 aRank[256];                 /* ... and the place that each code has in
                                 ** that */
};

/* Memory for a segment of nByte bytes, whose fields are 0 but for pSlab; or
** NULL */
static HpSegment *hpSegmentAlloc(HpSegmentMaker *pMaker, i64 nByte){
  HpSlab *pSlab = 0;
  HpSegment *p;
  if( nByte>pMaker->nSlabMost ){
    p = sqlite3_malloc64(nByte);
    if( p==0 ) return 0;
  }else{
    nByte = ROUND8(nByte);
    if( pMaker->pSlab==0 || hpSlabRoom(pMaker->pSlab)<nByte ){
      pMaker->pSlab = pMaker->xSlab(pMaker->pScan, nByte);
      if( pMaker->pSlab==0 ) return 0;
    }
    pSlab = pMaker->pSlab;
    p = hpSlabTake(pSlab, nByte);
  }
  memset(p, 0, sizeof(*p));
  p->pSlab = pSlab;
  return p;
}

/* Bytes that a number up to u takes */
static int hpSegmentWidth(u64 u){
  if( u==0 ) return 0;
  if( u<=0xff ) return 1;
  if( u<=0xffff ) return 2;
  return u<=0xffffffff ? 4 : 8;
}

#ifdef HP_AVX2


/* The smallest and the largest of n integers, four at least */
__attribute__((target("avx2")))
static void hpSegmentRangeAvx2(const i64 *a, int n, i64 *piMin, i64 *piMax){
  __m256i mn = _mm256_loadu_si256((const __m256i*)a);
  __m256i mx = mn;
  i64 aMin[4], aMax[4];
  int i;
  for(i=4; i+4<=n; i+=4){
    __m256i v = _mm256_loadu_si256((const __m256i*)&a[i]);
    mn = _mm256_blendv_epi8(mn, v, _mm256_cmpgt_epi64(mn, v));
    mx = _mm256_blendv_epi8(mx, v, _mm256_cmpgt_epi64(v, mx));
  }
  _mm256_storeu_si256((__m256i*)aMin, mn);
  _mm256_storeu_si256((__m256i*)aMax, mx);
  for(; i<n; i++){
    aMin[0] = MIN(aMin[0], a[i]);
    aMax[0] = MAX(aMax[0], a[i]);
  }
  *piMin = MIN(MIN(aMin[0], aMin[1]), MIN(aMin[2], aMin[3]));
  *piMax = MAX(MAX(aMax[0], aMax[1]), MAX(aMax[2], aMax[3]));
}

/*
** Set aInt[] to n doubles, four at least, times a power of ten, as integers,
** but for up to three at the end, and *piMin and *piMax to the smallest and the
** largest.  Returns how many were done; -1: one of them does not come out as it
** was.
**
** The sum of such a number and 1.5*2^52 has the number in its lowest bits, and
** no sign of a zero.
*/
__attribute__((target("avx2")))
static int hpSegmentDecimalAvx2(
  const HpVal *a,
  int n,
  double rScale,
  i64 *aInt,
  i64 *piMin,
  i64 *piMax
){
  const __m256d scale = _mm256_set1_pd(rScale);
  const __m256d magic = _mm256_set1_pd(6755399441055744.0);
  const __m256d mx = _mm256_set1_pd(HP_MX_DECIMAL);
  const __m256d sign = _mm256_set1_pd(-0.0);
  __m256i ok = _mm256_set1_epi64x(-1);
  __m256d mn = _mm256_set1_pd(HP_MX_DECIMAL);
  __m256d mxFound = _mm256_set1_pd(-HP_MX_DECIMAL);
  double aMin[4], aMax[4];
  int i;
  for(i=0; i+4<=n; i+=4){
    __m256d r = _mm256_loadu_pd(&a[i].r);
    __m256d q = _mm256_round_pd(_mm256_mul_pd(r, scale),
                                _MM_FROUND_TO_NEAREST_INT|_MM_FROUND_NO_EXC);
    __m256d fits = _mm256_cmp_pd(_mm256_andnot_pd(sign, q), mx, _CMP_LT_OQ);
    __m256d sum = _mm256_add_pd(q, magic);
    __m256d back = _mm256_div_pd(_mm256_sub_pd(sum, magic), scale);
    __m256i v = _mm256_sub_epi64(_mm256_castpd_si256(sum),
                                 _mm256_castpd_si256(magic));
    ok = _mm256_and_si256(ok, _mm256_castpd_si256(fits));
    ok = _mm256_and_si256(ok, _mm256_cmpeq_epi64(_mm256_castpd_si256(back),
                                                 _mm256_castpd_si256(r)));
    mn = _mm256_min_pd(mn, q);
    mxFound = _mm256_max_pd(mxFound, q);
    _mm256_storeu_si256((__m256i*)&aInt[i], v);
  }
  if( _mm256_movemask_epi8(ok)!=-1 ) return -1;
  _mm256_storeu_pd(aMin, mn);
  _mm256_storeu_pd(aMax, mxFound);
  *piMin = (i64)MIN(MIN(aMin[0], aMin[1]), MIN(aMin[2], aMin[3]));
  *piMax = (i64)MAX(MAX(aMax[0], aMax[1]), MAX(aMax[2], aMax[3]));
  return i;
}

/* As hpSegmentPack(), of 1, 2 or 4 bytes: eight values at a time.  Returns how
** many were done */
__attribute__((target("avx2")))
static int hpSegmentPackAvx2(u8 *aTo, int w, const i64 *a, int n, i64 iBase){
  const __m256i base = _mm256_set1_epi64x(iBase);
  int i;
  for(i=0; i+8<=n; i+=8){
    __m256i x = _mm256_sub_epi64(_mm256_loadu_si256((const __m256i*)&a[i]),
                                 base);
    __m256i y = _mm256_sub_epi64(_mm256_loadu_si256((const __m256i*)&a[i+4]),
                                 base);
    __m128i half;
    x = _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(x),
                                              _mm256_castsi256_ps(y),
                                              _MM_SHUFFLE(2,0,2,0)));
    x = _mm256_permute4x64_epi64(x, _MM_SHUFFLE(3,1,2,0));
    if( w==4 ){
      _mm256_storeu_si256((__m256i*)&((u32*)aTo)[i], x);
      continue;
    }
    half = _mm_packus_epi32(_mm256_castsi256_si128(x),
                            _mm256_extracti128_si256(x, 1));
    if( w==2 ){
      _mm_storeu_si128((__m128i*)&((u16*)aTo)[i], half);
    }else{
      _mm_storel_epi64((__m128i*)&aTo[i], _mm_packus_epi16(half, half));
    }
  }
  return i;
}
#endif /* HP_AVX2 */

/* The smallest and the largest of n integers */
static void hpSegmentRange(
  const i64 *a,
  int n,
  int bAvx2,
  i64 *piMin,
  i64 *piMax
){
  int i;
#ifdef HP_AVX2
  if( bAvx2 && n>=4 ){
    hpSegmentRangeAvx2(a, n, piMin, piMax);
    return;
  }
#else
  UNUSED_PARAMETER(bAvx2);
#endif
  *piMin = *piMax = a[0];
  for(i=1; i<n; i++){
    *piMin = MIN(*piMin, a[i]);
    *piMax = MAX(*piMax, a[i]);
  }
}

/*
** Set aInt[] to the n doubles of a[], times rScale, and *piMin and *piMax to
** the smallest and the largest.  Returns false if one does not come out as it
** was.
*/
static int hpSegmentDecimals(
  const HpVal *a,
  int n,
  double rScale,
  i64 *aInt,
  int bAvx2,
  i64 *piMin,
  i64 *piMax
){
  int i = 0;
  *piMin = LARGEST_INT64;
  *piMax = SMALLEST_INT64;
#ifdef HP_AVX2
  if( bAvx2 && n>=4 ){
    i = hpSegmentDecimalAvx2(a, n, rScale, aInt, piMin, piMax);
    if( i<0 ) return 0;
  }
#else
  UNUSED_PARAMETER(bAvx2);
#endif
  for(; i<n; i++){
    double r = a[i].r*rScale;
    HpVal back;
    if( !(r<HP_MX_DECIMAL && r>-HP_MX_DECIMAL) ) return 0;
    aInt[i] = (i64)(r<0 ? r-0.5 : r+0.5);
    back.r = (double)aInt[i]/rScale;
    if( back.u!=a[i].u ) return 0;
    *piMin = MIN(*piMin, aInt[i]);
    *piMax = MAX(*piMax, aInt[i]);
  }
  return 1;
}

/*
** Doubles: decimals if a few of them are.
*/
static void hpSegmentReals(
  HpSegmentMaker *pMaker,
  HpSegmentShape *p,
  const HpVal *a,
  int n,
  int bAvx2
){
  int i;
  p->eForm = HP_FORM_REAL;
  p->w = 8;
  for(i=0; i<ArraySize(aHpScale); i++){
    i64 iMin, iMax;
    if( !hpSegmentDecimals(a, MIN(n, 8), aHpScale[i], pMaker->aInt, 0, &iMin,
                           &iMax)
     || !hpSegmentDecimals(a, n, aHpScale[i], pMaker->aInt, bAvx2, &iMin, &iMax)
    ){
      continue;
    }
    if( hpSegmentWidth((u64)iMax-(u64)iMin)==8 ) return;
    p->eForm = HP_FORM_DECIMAL;
    p->iScale = (u8)i;
    p->iBase = iMin;
    p->iMax = iMax;
    p->w = (u8)hpSegmentWidth((u64)iMax-(u64)iMin);
    p->aInt = pMaker->aInt;
    return;
  }
}

/* Integers */
static void hpSegmentIntegers(
  HpSegmentShape *p,
  const HpVal *a,
  int n,
  int bAvx2
){
  i64 iMin, iMax;
  int i = 1;
  while( i<n && (u64)a[i].i==(u64)a[0].i+(u64)i ) i++;
  p->iBase = a[0].i;
  /* After the largest integer comes no other: what is out of bounds, the ends
  ** tell */
  if( i==n && n>1 && a[n-1].i>a[0].i ){
    p->eForm = HP_FORM_SEQ;
    p->iMax = a[n-1].i;
    return;
  }
  hpSegmentRange(&a[0].i, n, bAvx2, &iMin, &iMax);
  p->eForm = HP_FORM_INT;
  p->iBase = iMin;
  p->iMax = iMax;
  p->w = (u8)hpSegmentWidth((u64)iMax-(u64)iMin);
}

/*
** The entry of a dictionary of nEntry that is text z.  If there is none it
** becomes entry nEntry, if there is room.  k1 and k2 are its first and its last
** eight bytes.
*/
static SQLITE_INLINE int hpSegmentWord(
  HpSegmentMaker *pMaker,
  const u8 *z,
  u32 n,
  u64 k1,
  u64 k2,
  int nEntry
){
  u32 iSlot = (u32)(hpHashWord(k1, k2, n)>>(64-HP_DICT_BITS));
  struct HpSegmentWord *pNew;
  int i;
  assert( nEntry<=HP_MX_DICT );
  while( (i = pMaker->aSlot[iSlot]-1)>=0 ){
    const struct HpSegmentWord *pEntry = &pMaker->aEntry[i];
    if( pEntry->k1==k1 && pEntry->k2==k2 && pEntry->n==n
     && (n<=16 || memcmp(pEntry->z, z, n)==0)
    ){
      return i;
    }
    iSlot = (iSlot+1) & ((1<<HP_DICT_BITS)-1);
  }
  if( nEntry<HP_MX_DICT ){
    pMaker->aSlot[iSlot] = (u16)(nEntry+1);
    pNew = &pMaker->aEntry[nEntry];
    pNew->k1 = k1;
    pNew->k2 = k2;
    pNew->z = z;
    pNew->n = n;
  }
  return nEntry;
}

/*
** A dictionary of nEntry texts: let the order of its entries depend on little
** else than which these are: that of the slots of the hash table, where only
** texts that have met are in the order of their rows.
*/
static void hpSegmentOrder(HpSegmentMaker *pMaker, int nEntry){
  int n = 0;
  int i;
  for(i=0; n<nEntry; i++){
    assert( i<(1<<HP_DICT_BITS) );
    if( pMaker->aSlot[i] ) pMaker->aOrder[n++] = (u8)(pMaker->aSlot[i]-1);
  }
  for(i=0; i<nEntry; i++) pMaker->aRank[pMaker->aOrder[i]] = (u8)i;
}

/*
** Texts and blobs of one byte: a dictionary of those that occur, in order.
** Codes are the bytes.
*/
static void hpSegmentBytes(
  HpSegmentMaker *pMaker,
  HpSegmentShape *p,
  const HpVec *pVec,
  int n
){
  u8 aSeen[256];         /* Does this byte occur? */
  u8 *aCode = pMaker->aCode;
  const HpVal *aVal = pVec->aVal;
  int i;
  memset(aSeen, 0, sizeof(aSeen));
  for(i=0; i<n; i++){
    aCode[i] = *aVal[i].z;
    aSeen[aCode[i]] = 1;
  }
  for(i=0; i<256; i++){
    struct HpSegmentWord *pNew = &pMaker->aEntry[p->nEntry];
    if( aSeen[i]==0 ) continue;
    pMaker->aByte[p->nEntry] = (u8)i;
    pMaker->aOrder[p->nEntry] = (u8)p->nEntry;
    pMaker->aRank[i] = (u8)p->nEntry;
    pNew->z = &pMaker->aByte[p->nEntry++];
    pNew->n = 1;
  }
  p->eForm = HP_FORM_DICT;
  p->iBase = 0;
  p->nText = p->nEntry;
  p->w = p->nEntry>1 ? 1 : 0;
}

/*
** Texts and blobs: a dictionary, if few of them differ.  It is given up as soon
** as, after the first ones, more than an eighth of those seen are new.
**
** Of up to 16 bytes the length, the first eight and the last eight tell all.
*/
static void hpSegmentTexts(
  HpSegmentMaker *pMaker,
  HpSegmentShape *p,
  const HpVec *pVec,
  int n
){
  u32 nFirst = pVec->aLen[0];
  /* Have all the length of the next one? */
  int bFixed = memcmp(pVec->aLen, &pVec->aLen[1],
                      sizeof(pVec->aLen[0])*(size_t)(n-1))==0;
  i64 nAll = (i64)nFirst*n;
  i64 nDict = 0;
  int i;
  if( !bFixed ){
    for(i=0, nAll=0; i<n; i++) nAll += pVec->aLen[i];
  }
  p->nText = nAll;
  if( bFixed ){
    p->eForm = HP_FORM_FIXED;
    p->iBase = nFirst;
    if( nFirst==1 ){
      hpSegmentBytes(pMaker, p, pVec, n);
      return;
    }
  }else{
    p->eForm = HP_FORM_TEXT;
    p->w = (u8)(nAll<=0xffff ? 2 : 4);
  }
  memset(pMaker->aSlot, 0, sizeof(pMaker->aSlot));
  for(i=0; i<n; i++){
    const u8 *z = pVec->aVal[i].z;
    u32 nByte = bFixed ? nFirst : pVec->aLen[i];
    u64 k1 = nByte>=8 ? (u64)hpRaw8(z) : hpLoadBytes(z, nByte);
    u64 k2 = nByte>8 ? (u64)hpRaw8(&z[nByte-8]) : 0;
    int iEntry = hpSegmentWord(pMaker, z, nByte, k1, k2, p->nEntry);
    if( iEntry==p->nEntry ){
      if( iEntry==HP_MX_DICT || iEntry>128+i/8 ) return;
      nDict += nByte;
      p->nEntry++;
    }
    pMaker->aCode[i] = (u8)iEntry;
  }
  if( 2*p->nEntry>n && n>1 ){
    p->nEntry = 0;
    return;
  }
  p->eForm = HP_FORM_DICT;
  p->iBase = 0;
  p->nText = nDict;
  p->w = p->nEntry>1 ? 1 : 0;
  hpSegmentOrder(pMaker, p->nEntry);
}

/*
** Texts of ten bytes, FIXED: DATE, if all are dates, of no more than 127 years;
** of 19 bytes TIME, if all are times, of no more than 63 years.
*/
static void hpSegmentDates(
  HpSegmentMaker *pMaker,
  HpSegmentShape *p,
  const HpVec *pVec,
  int n,
  int bAvx2
){
  u8 eForm = p->iBase==10 ? HP_FORM_DATE : HP_FORM_TIME;
  int nBit = eForm==HP_FORM_TIME ? HP_TIME_BITS : 0;
  u8 cBetween = nBit ? pVec->aVal[0].z[10] : 0;
  i64 iMin, iMax;
  int i;
  assert( p->eForm==HP_FORM_FIXED && (p->iBase==10 || p->iBase==19) );
  if( nBit && cBetween!=' ' && cBetween!='T' ) return;
#ifdef HP_AVX2
  if( bAvx2 && n>=4 && hpSegmentDate(eForm, cBetween, pVec->aVal[0].z,
                                     (u32)p->iBase)>=0 ){
    if( !hpDateNumbersAvx2(pVec->aVal, n, cBetween, pMaker->aInt) ) return;
  }else
#endif
  for(i=0; i<n; i++){
    pMaker->aInt[i] = hpSegmentDate(eForm, cBetween, pVec->aVal[i].z,
                                    (u32)p->iBase);
    if( pMaker->aInt[i]<0 ) return;
  }
  hpSegmentRange(pMaker->aInt, n, bAvx2, &iMin, &iMax);
  if( iMax-iMin>(nBit ? 0xffffffff : 0xffff) ) return;
  hpDateFill((int)(iMin>>nBit), (int)(iMax>>nBit));
  p->eForm = eForm;
  p->w = (u8)(nBit ? hpSegmentWidth((u64)(iMax-iMin)) : 2);
  p->cBetween = cBetween;
  p->iBase = iMin;
  p->iMax = iMax;
  p->nText = 0;
  p->aInt = pMaker->aInt;
  /* Beginnings of times are those of their dates */
  p->mnText = hpZonePrefix(hpDateText((int)(iMin>>nBit)), 10);
  p->mxText = hpZonePrefix(hpDateText((int)(iMax>>nBit)), 10);
}

/* The smallest and the largest beginning of texts: of the dictionary, or of all
** n */
static void hpSegmentBeginnings(
  const HpSegmentMaker *pMaker,
  HpSegmentShape *p,
  const HpVec *pVec,
  int n
){
  int bDict = p->eForm==HP_FORM_DICT;
  int i;
  p->mnText = ~(u64)0;
  for(i=0; i<(bDict ? p->nEntry : n); i++){
    u64 x = bDict ? hpZonePrefix(pMaker->aEntry[i].z, pMaker->aEntry[i].n)
                  : hpZonePrefix(pVec->aVal[i].z, pVec->aLen[i]);
    p->mnText = MIN(p->mnText, x);
    p->mxText = MAX(p->mxText, x);
  }
}

/*
** Find out in which form the n values of *pVec can be kept.
*/
static void hpSegmentShape(
  HpSegmentMaker *pMaker,
  HpSegmentShape *p,
  const HpVec *pVec,
  int n,
  int bAvx2
){
  u8 m = pVec->mType & ~HP_NULL;
  memset(p, 0, sizeof(*p));
  if( m==0 ){
    p->eForm = HP_FORM_INT;
  }else if( m==HP_INT ){
    hpSegmentIntegers(p, pVec->aVal, n, bAvx2);
  }else if( m==HP_REAL || pVec->bFloat ){
    hpSegmentReals(pMaker, p, pVec->aVal, n, bAvx2);
  }else if( (m & HP_NUM)==0 ){
    hpSegmentTexts(pMaker, p, pVec, n);
    if( p->eForm==HP_FORM_FIXED && (p->iBase==10 || p->iBase==19)
     && m==HP_TEXT ){
      hpSegmentDates(pMaker, p, pVec, n, bAvx2);
    }
    if( p->eForm!=HP_FORM_DATE && p->eForm!=HP_FORM_TIME ){
      hpSegmentBeginnings(pMaker, p, pVec, n);
    }
  }else{
    int i;
    p->eForm = HP_FORM_ANY;
    p->w = 8;
    p->nEntry = n;
    for(i=0; i<n; i++) p->nText += (pVec->aTag[i] & HP_STR) ? pVec->aLen[i] : 0;
  }
}

/*
** In each row of NULL, let the value be one of another row: the form then
** depends on those only.  Also leave only types that occur in pVec->mType.
*/
static void hpSegmentFillNulls(HpVec *pVec, int n){
  u64 m = 0;
  u8 mType;
  int iFirst;
  int i;
  if( (pVec->mType & (pVec->mType-1))==0 ) return;
  for(i=0; i+8<=n; i+=8) m |= (u64)hpRaw8(&pVec->aTag[i]);
  for(; i<n; i++) m |= pVec->aTag[i];
  m |= m>>32;
  m |= m>>16;
  mType = (u8)(m | m>>8);
  pVec->mType = mType;
  if( (mType & HP_NULL)==0 || mType==HP_NULL ) return;
  for(iFirst=0; pVec->aTag[iFirst]==HP_NULL; iFirst++){}
  for(i=0; i<n; i++){
    if( pVec->aTag[i]==HP_NULL ){
      pVec->aVal[i] = pVec->aVal[iFirst];
      pVec->aLen[i] = pVec->aLen[iFirst];
    }
  }
}

/* Write n values of w bytes: what a[] is more than iBase */
static void hpSegmentPack(
  u8 *aTo,
  int w,
  const i64 *a,
  int n,
  i64 iBase,
  int bAvx2
){
  int i = 0;
#ifdef HP_AVX2
  if( bAvx2 && w>0 && w<8 ) i = hpSegmentPackAvx2(aTo, w, a, n, iBase);
#else
  UNUSED_PARAMETER(bAvx2);
#endif
  switch( w ){
    case 0: break;
    case 1: for(; i<n; i++) aTo[i] = (u8)(a[i]-iBase); break;
    case 2: for(; i<n; i++) ((u16*)aTo)[i] = (u16)(a[i]-iBase); break;
    case 4: for(; i<n; i++) ((u32*)aTo)[i] = (u32)(a[i]-iBase); break;
    default: for(; i<n; i++) ((u64*)aTo)[i] = (u64)a[i]-(u64)iBase; break;
  }
}

/* Set aTo[] to the places that n codes get */
static void hpSegmentCodes(const u8 *aCode, const u8 *aRank, int n, u8 *aTo){
  int i;
  for(i=0; i<n; i++) aTo[i] = aRank[aCode[i]];
}

/* Copy n bytes, and up to 15 more: there is slack behind both */
static SQLITE_INLINE void hpSegmentPut(u8 *aTo, const u8 *z, u32 n){
  if( n<=64 ){
    u32 i;
    for(i=0; i<n; i+=16) memcpy(&aTo[i], &z[i], 16);
  }else{
    memcpy(aTo, z, n);
  }
}

/* Copy texts to aText, and note where each ends, in w bytes */
static void hpSegmentCopy(
  const HpVec *pVec,
  int n,
  u8 *aData,
  int w,
  u8 *aText
){
  u32 iOfst = 0;
  int i;
  for(i=0; i<n; i++){
    u32 nByte = pVec->aLen[i];
    hpSegmentPut(&aText[iOfst], pVec->aVal[i].z, nByte);
    iOfst += nByte;
    if( w==2 ){
      ((u16*)aData)[i+1] = (u16)iOfst;
    }else{
      ((u32*)aData)[i+1] = iOfst;
    }
  }
}

#ifdef SQLITE_DEBUG
/* Is row i the value v of type tag, a text or a blob of n bytes, to the bit?
** And do the smallest and the largest value include it? */
static int hpSegmentMakeIs(const HpSegment *p, int i, u8 tag, HpVal v, u32 n){
  u8 aBuf[HP_TIME_TEXT];
  const u8 *z = 0;
  u32 nText = 0;
  HpVal has;
  u64 x;
  if( tag!=(p->aTag ? p->aTag[i] : p->mType) || (tag & p->mType)==0 ) return 0;
  if( tag==HP_NULL ) return 1;
  has.u = 0;
  switch( p->eForm ){
    case HP_FORM_SEQ:
      has.i = p->iBase + i;
      break;
    case HP_FORM_INT:
    case HP_FORM_DECIMAL:
      x = hpSegmentCode(p, i);
      if( x>(u64)p->iMax-(u64)p->iBase ) return 0;
      has = hpSegmentNumber(p, x);
      break;
    case HP_FORM_REAL:
      has = ((const HpVal*)p->aData)[i];
      break;
    case HP_FORM_DICT: {
      int iEntry = p->w ? p->aData[i] : 0;
      if( iEntry>=p->nEntry ) return 0;
      z = &p->aText[p->aEntry[iEntry].iOfst];
      nText = p->aEntry[iEntry].n;
      break;
    }
    case HP_FORM_DATE:
    case HP_FORM_TIME:
      z = hpSegmentText(p, hpSegmentCode(p, i), aBuf, &nText);
      break;
    case HP_FORM_FIXED:
      nText = (u32)p->iBase;
      z = &p->aText[(i64)i*nText];
      break;
    case HP_FORM_TEXT: {
      const u16 *a2 = (const u16*)p->aData;
      const u32 *a4 = (const u32*)p->aData;
      u32 iOfst = p->w==2 ? a2[i] : a4[i];
      nText = (p->w==2 ? a2[i+1] : a4[i+1]) - iOfst;
      z = &p->aText[iOfst];
      break;
    }
    default:
      if( tag & HP_STR ){
        z = &p->aText[p->aEntry[i].iOfst];
        nText = p->aEntry[i].n;
      }else{
        has = ((const HpVal*)p->aData)[i];
      }
  }
  if( z==0 ) return has.u==v.u;
  if( nText!=n || memcmp(z, v.z, n)!=0 ) return 0;
  x = hpZonePrefix(z, n);
  return p->eForm==HP_FORM_ANY || (x>=p->mnText && x<=p->mxText);
}

/* Does the segment give back what *pVec holds? */
static int hpSegmentMakeHolds(const HpSegment *p, const HpVec *pVec){
  int i;
  for(i=0; i<p->nRow; i++){
    u8 tag = pVec->aTag[i];
    if( !hpSegmentMakeIs(p, i, tag, pVec->aVal[i], pVec->aLen[i]) ) return 0;
  }
  return p->aText>=(const u8*)&p[1] && p->aText<=(const u8*)p + p->nByte
      && (p->eForm!=HP_FORM_DICT || p->w==(p->nEntry>1));
}
#endif

/*
** A segment of the n rows of *pVec, of which all are defined, or NULL without
** memory.  What stands in rows of NULL changes.  pMaker is scratch.  To be
** freed with hpSegmentFree().
*/
static HpSegment *hpSegmentMake(
  HpSegmentMaker *pMaker,
  HpVec *pVec,
  int n,
  int bAvx2
){
  HpSegmentShape shape;
  HpSegment *p;
  i64 nTag, nData, nEntry, nByte;
  u8 *a;
  int i;
  assert( n>0 && n<=HP_BATCH && pVec->mIdx!=0 );
  hpSegmentFillNulls(pVec, n);
  assert( pVec->bFloat==0 || pVec->mType==HP_NUM );
  hpSegmentShape(pMaker, &shape, pVec, n, bAvx2);
  nTag = (pVec->mType & (pVec->mType-1)) ? ROUND8(n) : 0;
  nData = ROUND8((i64)(n + (shape.eForm==HP_FORM_TEXT))*shape.w);
  nEntry = shape.nEntry*(i64)sizeof(struct HpSegmentText);
  if( shape.eForm!=HP_FORM_DICT && shape.eForm!=HP_FORM_ANY ) nEntry = 0;
  nByte = ROUND8(sizeof(*p)) + nTag + nData + nEntry + shape.nText + HP_SLACK;
  if( nByte>0x7fffffff ) return 0;
  p = hpSegmentAlloc(pMaker, nByte);
  if( p==0 ) return 0;
  a = (u8*)p + ROUND8(sizeof(*p));
  memset(&((u8*)p)[nByte-HP_SLACK], 0, HP_SLACK);
  p->eForm = shape.eForm;
  p->mType = pVec->mType;
  p->bFloat = pVec->bFloat;
  p->w = shape.w;
  p->iScale = shape.iScale;
  p->cBetween = shape.cBetween;
  p->nRow = n;
  p->nByte = (u32)nByte;
  p->nRef = 1;
  p->iBase = shape.iBase;
  p->iMax = shape.iMax;
  p->mnText = shape.mnText;
  p->mxText = shape.mxText;
  p->nEntry = (u16)(p->eForm==HP_FORM_DICT ? shape.nEntry : 0);
  assert( p->iBase<=p->iMax || p->eForm>HP_FORM_DECIMAL );
  if( nTag ){
    memcpy(a, pVec->aTag, n);
    p->aTag = a;
    a += nTag;
  }
  p->aEntry = (struct HpSegmentText*)a;
  a += nEntry;
  p->aData = a;
  p->aText = &a[nData];
  switch( p->eForm ){
    case HP_FORM_SEQ:
      break;
    case HP_FORM_INT:
      hpSegmentPack(a, p->w, &pVec->aVal[0].i, n, p->iBase, bAvx2);
      break;
    case HP_FORM_DECIMAL:
    case HP_FORM_DATE:
    case HP_FORM_TIME:
      hpSegmentPack(a, p->w, shape.aInt, n, p->iBase, bAvx2);
      break;
    case HP_FORM_REAL:
      memcpy(a, pVec->aVal, (i64)n*8);
      break;
    case HP_FORM_DICT: {
      struct HpSegmentText *aEntry = (struct HpSegmentText*)p->aEntry;
      u32 iOfst = 0;
      if( p->w ) hpSegmentCodes(pMaker->aCode, pMaker->aRank, n, a);
      for(i=0; i<shape.nEntry; i++){
        const struct HpSegmentWord *pWord = &pMaker->aEntry[pMaker->aOrder[i]];
        aEntry[i].iOfst = iOfst;
        aEntry[i].n = pWord->n;
        memcpy(&a[nData+iOfst], pWord->z, aEntry[i].n);
        iOfst += aEntry[i].n;
      }
      break;
    }
    case HP_FORM_FIXED:
      for(i=0; i<n; i++){
        hpSegmentPut(&a[nData+i*p->iBase], pVec->aVal[i].z, (u32)p->iBase);
      }
      break;
    case HP_FORM_TEXT:
      memset(a, 0, p->w);
      hpSegmentCopy(pVec, n, a, p->w, &a[nData]);
      break;
    default: {
      struct HpSegmentText *aEntry = (struct HpSegmentText*)p->aEntry;
      u32 iOfst = 0;
      memcpy(a, pVec->aVal, (i64)n*8);
      for(i=0; i<n; i++){
        aEntry[i].iOfst = iOfst;
        aEntry[i].n = (pVec->aTag[i] & HP_STR) ? pVec->aLen[i] : 0;
        if( aEntry[i].n ) memcpy(&a[nData+iOfst], pVec->aVal[i].z, aEntry[i].n);
        iOfst += aEntry[i].n;
      }
      break;
    }
  }
  assert( hpSegmentMakeHolds(p, pVec) );
  return p;
}

/*
** Row iRow gets the value v of type tag, a text or a blob of n bytes, or the
** integer of a vector in float form.  Returns false if that takes another form,
** other types, or more bytes: then *p is as it was.  The smallest and the
** largest value may be said to be less, or more, than they are.
*/
static int hpSegmentMakeRow(HpSegment *p, int iRow, u8 tag, HpVal v, u32 n){
  u8 *aData = (u8*)p->aData;
  u64 u;
  i64 x = v.i;
  i64 iMin, iMax;
  int i, nBit;
  assert( iRow>=0 && iRow<p->nRow );
  assert( p->nRef==1 && p->pSlab==0 );    /* A copy that nobody has seen */
  if( (p->mType & tag)==0 || (p->aTag==0 && tag!=p->mType) ) return 0;
  switch( tag==HP_NULL ? HP_FORM_MX : p->eForm ){
    case HP_FORM_DECIMAL:
      if( tag==HP_INT ) v.r = (double)x;
      if( !hpSegmentDecimals(&v, 1, aHpScale[p->iScale], &x, 0, &iMin, &iMax) ){
        return 0;
      }
    /* fall through */
    case HP_FORM_INT:
      u = (u64)x - (u64)p->iBase;
      if( x<p->iBase || hpSegmentWidth(u)>p->w ) return 0;
      p->iMax = MAX(p->iMax, x);
      hpSegmentPack(&aData[(i64)iRow*p->w], p->w, &x, 1, p->iBase, 0);
      break;
    case HP_FORM_REAL:
      if( tag==HP_INT ){
        if( x>=HP_MX_DECIMAL || x<=-HP_MX_DECIMAL ) return 0;
        v.r = (double)x;
      }
      ((HpVal*)aData)[iRow] = v;
      break;
    case HP_FORM_DICT:
      for(i=0; i<p->nEntry; i++){
        const struct HpSegmentText *pEntry = &p->aEntry[i];
        if( pEntry->n==n && memcmp(&p->aText[pEntry->iOfst], v.z, n)==0 ) break;
      }
      if( i==p->nEntry ) return 0;
      if( p->w ) aData[iRow] = (u8)i;
      break;
    case HP_FORM_DATE:
    case HP_FORM_TIME:
      nBit = p->eForm==HP_FORM_TIME ? HP_TIME_BITS : 0;
      x = hpSegmentDate(p->eForm, p->cBetween, v.z, n);
      if( x<p->iBase || hpSegmentWidth((u64)(x-p->iBase))>p->w ) return 0;
      hpDateFill((int)(p->iBase>>nBit), (int)(x>>nBit));
      p->iMax = MAX(p->iMax, x);
      hpSegmentPack(&aData[(i64)iRow*p->w], p->w, &x, 1, p->iBase, 0);
      break;
    case HP_FORM_FIXED:
      if( n!=p->iBase ) return 0;
      memcpy((u8*)&p->aText[(i64)iRow*n], v.z, n);
      break;
    case HP_FORM_MX:
      break;
    default:
      return 0;
  }
  if( p->eForm>=HP_FORM_DATE && p->eForm<=HP_FORM_FIXED && tag!=HP_NULL ){
    p->mnText = MIN(p->mnText, hpZonePrefix(v.z, n));
    p->mxText = MAX(p->mxText, hpZonePrefix(v.z, n));
  }
  if( p->aTag ) ((u8*)p->aTag)[iRow] = tag;
  assert( hpSegmentMakeIs(p, iRow, tag, v, n) );
  return 1;
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
