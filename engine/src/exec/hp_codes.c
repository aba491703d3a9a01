/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_codes: filters on columns in memory as they are kept.
**
**    hpCodesLater()   need a column not be decoded yet?
**    hpCodesRun()     compute a filter from codes, if that can be done
**    hpCodesNow()     decode the columns that have not been
**    hpCodesLate()    may a column stay as it is, for the sink?
**    hpCodesValues()  it may not
**
** A segment (hp_segment.c) has a number for each row: how much an integer or a decimal is more than
** the smallest one, how much a date is later than the first one, or the number of a text in a
** dictionary.  A filter that compares such a column with a constant needs no more than these codes:
**
**    integers, decimals, dates,  codes are in the order of values, so the codes of the rows that
**    times                       pass are a range.  Where it begins and ends is searched for, with
**                                the comparison that decides everywhere else.  IN is some ranges.
**    dictionary                  the filter is run on the entries, by the code that runs it on rows,
**                                and each row gets what its entry has got.  So are LIKE and IN.
**
** While filters run columns stay as they are (HpVec.bCodes), until an operation wants values.
** When the filters are done what has not been decoded is, but for rows that did not pass.  A column
** that only filters look at (HpOp.bOnlyFilters) is never decoded.  Keys of groups (HpOp.bOnlyKeys) that
** are entries of a dictionary are decoded if the sink asks for that (HpVec.bLate): it may know the
** groups of these entries (hp_direct.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

/* A dictionary is worth it if there are so many rows for each entry */
#define HP_ROWS_AN_ENTRY  2

/* All rows take as long as one in so many */
#define HP_ROWS_ALIKE     16

/* Most constants of an IN that are compared with codes one by one */
#define HP_CODES_IN       16

/* The column that vector iVec is */
static int hpCodesColumn(const HpFrame *p, u16 iVec){
  const HpProg *pProg = p->pProg;
  int i;
  for(i=0; pProg->aOp[i].iOut!=iVec; i++){}
  assert( i<pProg->nOp && pProg->aOp[i].eOp==HP_OP_COLUMN );
  return pProg->aOp[i].a;
}

/* The segment of vector iVec, a column that is not decoded */
static const HpSegment *hpCodesOf(const HpFrame *p, u16 iVec, int *piFrom){
  const HpSegment *pSeg;
  assert( p->aVec[iVec].bCodes );
  pSeg = p->pSource->xSegment(p, hpCodesColumn(p, iVec), piFrom);
  assert( *piFrom>=0 && *piFrom+p->nRow<=pSeg->nRow );
  return pSeg;
}

/* The segment of the column that pOp is, if it is in memory: see
** HpSourceType.xSegment */
static const HpSegment *hpCodesSegment(
  const HpFrame *p,
  const HpOp *pOp,
  int *piFrom
){
  if( p->pSource->xSegment==0 ) return 0;
  return p->pSource->xSegment(p, pOp->a, piFrom);
}

/*
** Operation iOp is a column, and filters are being run.  If its codes may do set HpVec.bCodes of its
** vector, and return true.
*/
static int hpCodesLater(HpFrame *p, int iOp){
  const HpOp *pOp = &p->pProg->aOp[iOp];
  const HpSegment *pSeg;
  int iFrom;
  pSeg = p->bFiltering ? hpCodesSegment(p, pOp, &iFrom) : 0;
  if( pSeg==0 ) return 0;
  switch( pSeg->eForm ){
    case HP_FORM_INT: case HP_FORM_DECIMAL:
      if( pSeg->w>4 ) return 0;
      break;
    case HP_FORM_DICT: case HP_FORM_DATE: case HP_FORM_TIME:
      break;
    default:
      return 0;
  }
  assert( p->aVec[pOp->iOut].bCodes==0 );
  assert( p->aVec[pOp->iOut].nDepth==p->nDepth );
  p->aVec[pOp->iOut].bCodes = 1;
  p->nCodes++;
  return 1;
}

/* Code of row I of W bytes */
#define hpCodeAt(A,W,I) \
    ((W)==1 ? (A)[I] : (W)==2 ? ((const u16*)(A))[I] : ((const u32*)(A))[I])

#ifdef HP_AVX2
/*
** aBool[i] = (iLow<=aCode[i] && aCode[i]<=iHigh)!=bNot for n codes of w bytes.  Returns how many
** have been done.
*/
__attribute__((target("avx2")))
static int hpCodesRangeAvx2(
  const u8 *aCode,
  int w,
  int n,
  u32 iLow, u32 iHigh,
  int bNot,
  u8 *aBool
){
  const __m256i flip = _mm256_set1_epi8((char)bNot);
  const __m256i one = _mm256_set1_epi8(1);
  int i = 0;
#define HP_CODES(I) _mm256_loadu_si256((const __m256i*)&aCode[I])
#define HP_IS_WITHIN(W,X) \
    _mm256_cmpeq_epi##W(_mm256_min_epu##W(_mm256_sub_epi##W(X, low), span), \
                        _mm256_sub_epi##W(X, low))
#define HP_PUT(X) \
    _mm256_storeu_si256((__m256i*)&aBool[i], \
                        _mm256_xor_si256(_mm256_and_si256(X, one), flip));
  if( w==1 ){
    const __m256i low = _mm256_set1_epi8((char)iLow);
    const __m256i span = _mm256_set1_epi8((char)(iHigh-iLow));
    for(; i+32<=n; i+=32){
      __m256i x = HP_CODES(i);
      x = HP_IS_WITHIN(8, x);
      HP_PUT(x)
    }
  }else if( w==2 ){
    const __m256i low = _mm256_set1_epi16((short)iLow);
    const __m256i span = _mm256_set1_epi16((short)(iHigh-iLow));
    for(; i+32<=n; i+=32){
      __m256i x = HP_CODES(2*i);
      __m256i y = HP_CODES(2*i+32);
      x = HP_IS_WITHIN(16, x);
      y = HP_IS_WITHIN(16, y);
      x = _mm256_permute4x64_epi64(_mm256_packs_epi16(x, y), 0xd8);
      HP_PUT(x)
    }
  }else{
    const __m256i low = _mm256_set1_epi32((int)iLow);
    const __m256i span = _mm256_set1_epi32((int)(iHigh-iLow));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for(; i+32<=n; i+=32){
      __m256i a = HP_CODES(4*i), b = HP_CODES(4*i+32);
      __m256i c = HP_CODES(4*i+64), d = HP_CODES(4*i+96);
      a = HP_IS_WITHIN(32, a);
      b = HP_IS_WITHIN(32, b);
      c = HP_IS_WITHIN(32, c);
      d = HP_IS_WITHIN(32, d);
      a = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
      a = _mm256_permutevar8x32_epi32(a, order);
      HP_PUT(a)
    }
  }
#undef HP_CODES
#undef HP_IS_WITHIN
#undef HP_PUT
  return i;
}
#endif /* HP_AVX2 */

/*
** p->aBool is whether the codes of rows are from iLow to iHigh-1, or are not if bNot.
*/
static void hpCodesRange(
  HpFrame *p,
  const HpSegment *pSeg,
  int iFrom,
  u64 iLow, u64 iHigh,
  int bNot
){
  const u8 *aCode = &pSeg->aData[(i64)iFrom*pSeg->w];
  int w = pSeg->w;
  u8 *aBool = p->aBool;
  u32 low = (u32)iLow;
  u32 span = (u32)(iHigh-iLow-1);
  if( iLow>=iHigh || w==0 ){
    u8 b = (u8)((iLow<iHigh && iLow==0)!=bNot);
    HP_ROWS(p, { aBool[i] = b; })
    return;
  }
  assert( iHigh-1<=0xffffffff && (w==1 || w==2 || w==4) );
#define HP_CODE_IS(I) (u8)(((u32)hpCodeAt(aCode, w, I)-low<=span)!=bNot)
#ifdef HP_AVX2
  if( p->bAvx2 && p->nSel*HP_ROWS_ALIKE>=p->nRow ){
    int i = hpCodesRangeAvx2(aCode, w, p->nRow, low, low+span, bNot, aBool);
    for(; i<p->nRow; i++) aBool[i] = HP_CODE_IS(i);
    return;
  }
#endif
  HP_ROWS(p, { aBool[i] = HP_CODE_IS(i); })
#undef HP_CODE_IS
}

/*
** The codes of rows that comparison op is true of, where those of smaller values are less than
** nLess, and those of larger ones not less than nMore: *piLow to *piHigh-1, or all others.  Returns
** whether it is the others.
*/
static int hpCodesWhich(int op, u64 nLess, u64 nMore, u64 *piLow, u64 *piHigh){
  assert( nLess<=nMore );
  *piLow = 0;
  *piHigh = nMore;
  switch( op ){
    case TK_LE:            return 0;
    case TK_GT:            return 1;
    case TK_LT:            *piHigh = nLess;  return 0;
    case TK_GE:            *piHigh = nLess;  return 1;
    case TK_EQ: case TK_IS: *piLow = nLess;  return 0;
  }
  *piLow = nLess;
  return 1;
}

/* How many of n codes of numbers are less than constant pB; or, with bMore, not more? */
static u64 hpCodesSearch(const HpSegment *pSeg, u64 n, const HpVec *pB, int bMore){
  u8 tag = pSeg->eForm==HP_FORM_DECIMAL ? HP_REAL : HP_INT;
  u64 iLow = 0;
  while( iLow<n ){
    u64 iMid = iLow + (n-iLow)/2;
    int c = hpVecNumCompare(tag, hpSegmentNumber(pSeg, iMid), pB->mType, pB->aVal[0]);
    if( c<0 || (bMore && c==0) ) iLow = iMid+1; else n = iMid;
  }
  return iLow;
}

/* A column of numbers compared with a constant */
static int hpCodesNumbers(HpFrame *p, const HpOp *pOp, const HpSegment *pSeg, int iFrom){
  const HpVec *pB = &p->aVec[pOp->b];
  u64 n = (u64)pSeg->iMax-(u64)pSeg->iBase+1;
  u64 nLess, nMore, iLow, iHigh;
  int bNot;
  if( pB->mType!=HP_INT && pB->mType!=HP_REAL ) return 0;
  if( pSeg->mType==HP_NULL || (pSeg->mType & HP_STR) ) return 0;
  nLess = hpCodesSearch(pSeg, n, pB, 0);
  nMore = hpCodesSearch(pSeg, n, pB, 1);
  assert( nMore<=nLess+1 );          /* No two codes are one number */
  bNot = hpCodesWhich(pOp->op, nLess, nMore, &iLow, &iHigh);
  hpCodesRange(p, pSeg, iFrom, iLow, iHigh, bNot);
  return 1;
}

/* The same of n codes of dates or times, and a constant that is a text */
static u64 hpCodesSearchText(const HpSegment *pSeg, u64 n, const HpVec *pB, int bMore){
  u64 iLow = 0;
  while( iLow<n ){
    u64 iMid = iLow + (n-iLow)/2;
    u8 aBuf[HP_TIME_TEXT];
    u32 nText;
    const u8 *z = hpSegmentText(pSeg, iMid, aBuf, &nText);
    int c = memcmp(z, pB->aVal[0].z, MIN(nText, pB->aLen[0]));
    if( c==0 ) c = (nText>pB->aLen[0]) - (nText<pB->aLen[0]);
    if( c<0 || (bMore && c==0) ) iLow = iMid+1; else n = iMid;
  }
  return iLow;
}

/* Does a text of n bytes begin with a year, as 2026-?  Then it is a number by no affinity */
static int hpCodesIsYear(const u8 *z, u32 n){
  int i;
  if( n<5 || z[4]!='-' ) return 0;
  for(i=0; i<4; i++) if( !sqlite3Isdigit(z[i]) ) return 0;
  return 1;
}

/* A column of dates or times compared with a constant */
static int hpCodesDates(HpFrame *p, const HpOp *pOp, const HpSegment *pSeg, int iFrom){
  const HpVec *pB = &p->aVec[pOp->b];
  u64 n = (u64)(pSeg->iMax-pSeg->iBase)+1;
  i64 x;
  u64 nLess, nMore, iLow, iHigh;
  int bNot;
  if( pB->mType!=HP_TEXT || !sqlite3IsBinary(pOp->pColl) ) return 0;
  if( !hpCodesIsYear(pB->aVal[0].z, pB->aLen[0]) ) return 0;
  x = hpSegmentDate(pSeg->eForm, pSeg->cBetween, pB->aVal[0].z, pB->aLen[0]);
  if( x>=0 ){
    nLess = x<=pSeg->iBase ? 0 : MIN((u64)(x-pSeg->iBase), n);
    nMore = x<pSeg->iBase ? 0 : MIN((u64)(x-pSeg->iBase)+1, n);
  }else{
    nLess = hpCodesSearchText(pSeg, n, pB, 0);
    nMore = hpCodesSearchText(pSeg, n, pB, 1);
  }
  bNot = hpCodesWhich(pOp->op, nLess, nMore, &iLow, &iHigh);
  hpCodesRange(p, pSeg, iFrom, iLow, iHigh, bNot);
  return 1;
}

/* Set *piCode to the code of the value that constant pB has, if some row of pSeg may have it, and else to
** -1.  Returns false if codes do not tell. */
static int hpCodesEqual(const HpOp *pOp, const HpSegment *pSeg, const HpVec *pB, i64 *piCode){
  u64 n = (u64)pSeg->iMax-(u64)pSeg->iBase+1;
  *piCode = -1;
  if( pSeg->eForm==HP_FORM_DATE || pSeg->eForm==HP_FORM_TIME ){
    i64 x;
    if( pB->mType!=HP_TEXT || !sqlite3IsBinary(pOp->pColl) ) return 0;
    if( !hpCodesIsYear(pB->aVal[0].z, pB->aLen[0]) ) return 0;
    x = hpSegmentDate(pSeg->eForm, pSeg->cBetween, pB->aVal[0].z, pB->aLen[0]);
    if( x>=pSeg->iBase && x<=pSeg->iMax ) *piCode = x-pSeg->iBase;
  }else{
    u64 iLow;
    if( pB->mType!=HP_INT && pB->mType!=HP_REAL ) return 0;
    if( pSeg->mType & HP_STR ) return 0;
    iLow = hpCodesSearch(pSeg, n, pB, 0);
    if( hpCodesSearch(pSeg, n, pB, 1)>iLow ) *piCode = (i64)iLow;
  }
  return 1;
}

/* A column of numbers, dates or times IN a few constants: neighbours are found together */
static int hpCodesIn(HpFrame *p, const HpOp *pOp, const HpSegment *pSeg, int iFrom){
  i64 aCode[HP_CODES_IN];
  u8 aOr[HP_BATCH];
  u8 *aBool = p->aBool;
  u8 bNull = 0;          /* 2 if a constant is NULL: what is not found is NULL then */
  int nCode = 0;
  int i, k, iNext;
  if( pSeg->mType==HP_NULL ) return 0;
  for(k=0; k<pOp->n; k++){
    const HpVec *pB = &p->aVec[pOp->b+k];
    i64 iCode;
    if( pB->mType==HP_NULL ){
      bNull = 2;
      continue;
    }
    if( nCode==HP_CODES_IN || !hpCodesEqual(pOp, pSeg, pB, &iCode) ) return 0;
    if( iCode<0 ) continue;
    for(i=nCode++; i>0 && aCode[i-1]>iCode; i--) aCode[i] = aCode[i-1];
    aCode[i] = iCode;
  }
  assert( p->nRow<=HP_BATCH );
  assert( nCode<=HP_CODES_IN && (nCode==0 || (u64)aCode[nCode-1]
            <=(u64)pSeg->iMax-(u64)pSeg->iBase) );
  hpCodesRange(p, pSeg, iFrom, 0, 0, 0);
  for(k=0; k<nCode; k=iNext){
    for(iNext=k+1; iNext<nCode && aCode[iNext]<=aCode[iNext-1]+1; iNext++){}
    p->aBool = aOr;
    hpCodesRange(p, pSeg, iFrom, aCode[k], aCode[iNext-1]+1, 0);
    p->aBool = aBool;
    HP_ROWS(p, { aBool[i] |= aOr[i]; })
  }
  if( bNull ){
    HP_ROWS(p, { if( aBool[i]==0 ) aBool[i] = bNull; })
  }
  return 1;
}

/* Two columns of dates compared with each other */
static int hpCodesBoth(HpFrame *p, const HpOp *pOp){
  int iFromA, iFromB;
  const HpSegment *pA = hpCodesOf(p, pOp->a, &iFromA);
  const HpSegment *pB = hpCodesOf(p, pOp->b, &iFromB);
  const u16 *a, *b;
  int iDiff;
  u8 *aBool = p->aBool;
  if( pA->eForm!=HP_FORM_DATE || pB->eForm!=HP_FORM_DATE || pA->aTag || pB->aTag
   || !sqlite3IsBinary(pOp->pColl)
  ){
    return 0;
  }
  a = (const u16*)pA->aData + iFromA;
  b = (const u16*)pB->aData + iFromB;
  iDiff = (int)(pB->iBase-pA->iBase);
#define HP_DATES(OP) HP_ROWS(p, { aBool[i] = (int)a[i]-(int)b[i] OP iDiff; })  break;
  switch( pOp->op ){
    case TK_LT: HP_DATES(<)
    case TK_LE: HP_DATES(<=)
    case TK_GT: HP_DATES(>)
    case TK_GE: HP_DATES(>=)
    case TK_EQ: case TK_IS: HP_DATES(==)
    default: HP_DATES(!=)
  }
#undef HP_DATES
  return 1;
}

#ifdef SQLITE_DEBUG
/* Is the code of each selected row one of nEntry entries? */
static int hpCodesAreEntries(const HpFrame *p, const u8 *aCode, int nEntry){
  int ii;
  for(ii=0; ii<p->nSel && aCode[p->aSel[ii]]<nEntry; ii++){}
  return ii==p->nSel;
}
#endif

/* Run comparison, IN or LIKE number iOp on the entries of the dictionary pSeg of vector iVec */
static int hpCodesEntries(HpFrame *p, int iOp, u16 iVec, const HpSegment *pSeg, int iFrom){
  const HpOp *pOp = &p->pProg->aOp[iOp];
  HpVec *pVec = &p->aVec[iVec];
  const u8 *aCode = &pSeg->aData[(i64)iFrom*pSeg->w];
  int nEntry = pSeg->nEntry;
  u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int nRow = p->nRow;
  u8 bDense = p->bDense;
  u8 aTruth[256];
  u8 *aBool = p->aBool;
  int i;
  if( (pSeg->mType & ~HP_NULL)!=HP_TEXT ) return 0;
  if( nEntry*HP_ROWS_AN_ENTRY>nSel || nEntry>p->nAlloc ) return 0;
  assert( nEntry>0 && nEntry<=ArraySize(aTruth) );
  for(i=0; i<nEntry; i++){
    pVec->aTag[i] = HP_TEXT;
    pVec->aVal[i].z = &pSeg->aText[pSeg->aEntry[i].iOfst];
    pVec->aLen[i] = pSeg->aEntry[i].n;
  }
  pVec->mType = HP_TEXT;
  pVec->bFloat = 0;
  p->aSel = p->aAll;
  p->nSel = p->nRow = nEntry;
  p->bDense = 1;
  switch( pOp->eOp ){
    case HP_OP_COMPARE:  hpCompareRun(p, pOp);  break;
    case HP_OP_IN:       hpInRun(p, pOp, p->apState[iOp]);  break;
    default:             hpLikeRun(p, pOp, p->apState[iOp]);  break;
  }
  memcpy(aTruth, aBool, nEntry);
  p->aSel = aSel;
  p->nSel = nSel;
  p->nRow = nRow;
  p->bDense = bDense;
  if( pSeg->w==0 ){
    HP_ROWS(p, { aBool[i] = aTruth[0]; })
  }else{
    /* What stands where there is a NULL does not matter */
    assert( (pSeg->mType & HP_NULL) || hpCodesAreEntries(p, aCode, nEntry) );
    HP_ROWS(p, { aBool[i] = aTruth[aCode[i]]; })
  }
  return 1;
}

/*
** Operation iOp reads columns that are not decoded.  If it can be computed from their codes do that,
** into p->aBool, and return true.
*/
static int hpCodesRun(HpFrame *p, int iOp){
  const HpOp *pOp = &p->pProg->aOp[iOp];
  u16 iVec = pOp->eOp==HP_OP_LIKE ? pOp->b : pOp->a;
  const HpSegment *pSeg;
  int iFrom;
  int bDone;
  if( pOp->eOp!=HP_OP_COMPARE && pOp->eOp!=HP_OP_IN && pOp->eOp!=HP_OP_LIKE ) return 0;
  if( pOp->bUser || p->aVec[iVec].bCodes==0 ) return 0;
  if( pOp->eOp==HP_OP_COMPARE && p->aVec[pOp->b].bCodes ) return hpCodesBoth(p, pOp);
  if( pOp->eOp!=HP_OP_IN && p->aVec[pOp->eOp==HP_OP_LIKE ? pOp->a : pOp->b].mIdx!=0 ) return 0;
  pSeg = hpCodesOf(p, iVec, &iFrom);
  if( pSeg->aTag && (pOp->op==TK_IS || pOp->op==TK_ISNOT || pSeg->mType==HP_NULL) ) return 0;
  if( pSeg->eForm==HP_FORM_DICT ){
    bDone = hpCodesEntries(p, iOp, iVec, pSeg, iFrom);
  }else if( pOp->eOp==HP_OP_IN ){
    bDone = hpCodesIn(p, pOp, pSeg, iFrom);
  }else if( pOp->eOp!=HP_OP_COMPARE ){
    bDone = 0;
  }else if( pSeg->eForm==HP_FORM_DATE || pSeg->eForm==HP_FORM_TIME ){
    bDone = hpCodesDates(p, pOp, pSeg, iFrom);
  }else{
    bDone = hpCodesNumbers(p, pOp, pSeg, iFrom);
  }
  if( bDone && (pSeg->mType & HP_NULL) ){
    const u8 *aTag = &pSeg->aTag[iFrom];
    u8 *aBool = p->aBool;
    HP_ROWS(p, { if( aTag[i]==HP_NULL ) aBool[i] = 2; })
  }
  return bDone;
}

/*
** Operation pOp is a column.  If only keys of groups come from it, and its texts are entries of a
** dictionary, give its vector the types and HpVec.pSeg, and return true.
*/
static int hpCodesLate(HpFrame *p, const HpOp *pOp){
  HpVec *pVec = &p->aVec[pOp->iOut];
  const HpSegment *pSeg;
  int iFrom;
  pSeg = pOp->bOnlyKeys && !p->bFiltering ? hpCodesSegment(p, pOp, &iFrom) : 0;
  if( pSeg==0 || pSeg->eForm!=HP_FORM_DICT || (pSeg->mType & ~HP_NULL)!=HP_TEXT ) return 0;
  assert( iFrom+p->nRow<=pSeg->nRow && pVec->bCodes==0 );
  pVec->mType = pSeg->mType;
  pVec->bFloat = 0;
  pVec->bLate = 1;
  pVec->pSeg = pSeg;
  pVec->aCode = pSeg->w ? &pSeg->aData[iFrom] : 0;
  if( pSeg->aTag ) memcpy(pVec->aTag, &pSeg->aTag[iFrom], p->nRow);
#ifdef SQLITE_DEBUG
  memset(pVec->aVal, 0xff, sizeof(HpVal)*p->nRow);
#endif
  return 1;
}

/* The selected rows of vector iVec are read, so decode them if they have not been */
static void hpCodesValues(HpFrame *p, u16 iVec){
  if( p->aVec[iVec].bLate ){
    p->pSource->xColumn(p, hpCodesColumn(p, iVec), &p->aVec[iVec]);
    assert( p->aVec[iVec].bLate==0 );
  }
}

/* Does column pOp belong to the sides that are being run, or to none? */
static int hpCodesIsHere(const HpFrame *p, const HpOp *pOp){
  int n = p->aVec[pOp->iOut].nDepth;
  return n==0 || (n<=p->nDepth && p->aAround[n-1].iSide==pOp->iSide);
}

/*
** Decode the columns that have not been, for the rows selected where they
** stand.  Those of sides that are not being run stay as they are.  bEnd: the
** filters are done.
*/
static void hpCodesNow(HpFrame *p, int bEnd){
  const HpProg *pProg = p->pProg;
  int i;
  assert( bEnd==0 || p->nDepth==0 );
  for(i=0; p->nCodes>0 && i<pProg->nOp; i++){
    const HpOp *pOp = &pProg->aOp[i];
    HpVec *pVec = &p->aVec[pOp->iOut];
    HpAround now;
    if( pVec->bCodes==0 ) continue;
    if( bEnd==0 && !hpCodesIsHere(p, pOp) ) continue;
    pVec->bCodes = 0;
    p->nCodes--;
    if( p->nSel==0 ) continue;
    if( bEnd==0 || pOp->bOnlyFilters==0 ){
      if( bEnd && hpCodesLate(p, pOp) ) continue;
      hpVecScope(p, pVec->nDepth, &now);
      p->pSource->xColumn(p, pOp->a, pVec);
      hpVecBack(p, &now);
    }
#ifdef SQLITE_DEBUG
    else memset(pVec->aTag, 0xff, p->nRow);
#endif
  }
  assert( bEnd==0 || p->nCodes==0 );
}

#else

static int hpCodesLater(HpFrame *p, int iOp){ UNUSED_PARAMETER2(p, iOp); return 0; }
static int hpCodesRun(HpFrame *p, int iOp){ UNUSED_PARAMETER2(p, iOp); return 0; }
static void hpCodesNow(HpFrame *p, int bEnd){ UNUSED_PARAMETER2(p, bEnd); }
static int hpCodesLate(HpFrame *p, const HpOp *pOp){ UNUSED_PARAMETER2(p, pOp); return 0; }
static void hpCodesValues(HpFrame *p, u16 iVec){ UNUSED_PARAMETER2(p, iVec); }
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
