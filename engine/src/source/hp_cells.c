/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_cells: the cells of a leaf page, and the records in them.
**
**    hpCellsLeaf()    append the records of a leaf to the batch
**    hpCellsHead()    the varints that a cell of a table begins with
**    hpCellsIntegersAvx2()    integers of records, four at a time
**
** Cells of a table are found 32 at a time (AVX2): the first 16 bytes of
** each are transposed, which gives the lengths of the two varints that a cell
** of a table begins with, hence the place of its record, and often the first
** serial types too: then a test of a column near the front of the record
** (HpBound) is made for 32 rows before anything is stored of them.
**
** The AVX2 code has macros of hp_record.c.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Cells between the one that is read and the one that is asked for */
#define HP_CELL_AHEAD 12

/*
** The two varints that a cell of a table begins with: the size of the record
** and the rowid (not wanted: piRowid is NULL).  Returns their length.  18 bytes
** must be readable.
**
** Sizes around 128 make the length of the first one unpredictable, so there is
** no branch where both together have eight bytes or less.
*/
static SQLITE_INLINE int hpCellsHead(const u8 *z, u32 *pnByte, i64 *piRowid){
  u64 x;
  int n;
#if defined(__GNUC__) && SQLITE_BYTEORDER==1234
  u64 mLast;             /* The last byte of each varint */
  u64 mSecond;
  memcpy(&x, z, 8);
  mLast = ~x & ((((u64)0x80808080)<<32)|0x80808080);
  mSecond = mLast & (mLast-1);
  if( mSecond!=0 && (mLast & 0x8080)!=0 ){
    u32 bTwo = ((u32)mLast>>7 & 1) ^ 1;    /* The size takes two bytes */
    *pnByte = ((u32)x & 0x7f)<<(7*bTwo) | ((u32)(x>>8) & 0x7f & (0-bTwo));
    n = (__builtin_ctzll(mSecond)>>3)+1;
    if( piRowid ){
      n = 1 + bTwo;
      n += sqlite3GetVarint(&z[n], (u64*)piRowid);
    }
    assert( n>=2 && n<=11 );
    return n;
  }
#endif
  n = getVarint32(z, *pnByte);
  /* Stock takes seven bits of the ninth byte, which no record needs */
  if( n>5 ) *pnByte = 0xffffffff;
  n += sqlite3GetVarint(&z[n], &x);
  if( piRowid ) *piRowid = (i64)x;
  assert( n>=2 && n<=18 );
  return n;
}

/* Record i of pCells */
static SQLITE_INLINE void hpCellsSet(
  HpCells *pCells,
  int i,
  const HpRecord *pRec
){
  assert( i>=0 && i<HP_CUT && pRec->nLocal<=pRec->nByte );
  pCells->az[i] = pRec->z;
  pCells->aLocal[i] = pRec->nLocal;
  pCells->aByte[i] = pRec->nByte;
}

/*
** hpCellsLeaf() for the b-tree of an index.  Cell number nCell is the entry
** that follows the leaf.
*/
static int hpCellsIndex(HpWorker *p, int iLeaf, int *piCell){
  const HpRun *pRun = &p->pRead->run;
  HpBatch *pBatch = &p->pRead->batch;
  BtShared *pBt = hpThreadBt(p->pPipe);
  int nUsable = (int)pBt->usableSize;
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aEnd = &aPage[nUsable];
  int nCell = get2byte(&aPage[3]);
  int iMin = 8+2*nCell;  /* Lowest place of a cell */
  int iCell = *piCell;
  HpCells cells;
  HpRecord rec;
  int rc;

  assert( iLeaf>=0 && iLeaf<pRun->nPage && iCell>=0 );
  assert( pRun->iHdr==0 && pRun->aSep!=0 && p->pRead->bound.bOn==0 );
  if( aPage[0]!=(PTF_ZERODATA|PTF_LEAF)
   || nCell>(int)MX_CELL(pBt) || iMin>nUsable
  ){
    return HP_DECLINE;
  }
  if( nCell==0 && pRun->bRoot==0 ) return HP_DECLINE;
  while( iCell<nCell && pBatch->nRow<pBatch->nAlloc ){
    int n = MIN(HP_CUT, MIN(nCell-iCell, pBatch->nAlloc-pBatch->nRow));
    const u8 *aPtr = &aPage[8+2*iCell];
    int i;
    for(i=0; i<n; i++){
      int ofst = get2byte(&aPtr[2*i]);
      if( ofst<iMin || ofst>nUsable-4 ) return HP_DECLINE;
      rc = hpPageRecord(pBt, &aPage[ofst], aEnd, &rec);
      if( rc ) return rc;
      hpCellsSet(&cells, i, &rec);
    }
    rc = hpRecordCut(p, &cells, n);
    if( rc ) return rc;
    iCell += n;
  }
  *piCell = iCell;
  if( iCell==nCell ){
    if( pRun->aSep[iLeaf].z==0 ){
      *piCell = -1;
    }else if( pBatch->nRow<pBatch->nAlloc ){
      hpCellsSet(&cells, 0, &pRun->aSep[iLeaf]);
      rc = hpRecordCut(p, &cells, 1);
      if( rc ) return rc;
      *piCell = -1;
    }
  }
  return SQLITE_OK;
}

/*
** Record i of pCells is that of the cell at z, in a leaf of a table that ends
** at aEnd.  The rowid goes to *piRowid unless that is NULL.
*/
static SQLITE_INLINE int hpCellsTable(
  const BtShared *pBt,
  const u8 *z,
  const u8 *aEnd,
  HpCells *pCells,
  int i,
  i64 *piRowid
){
  u32 nByte;
  u32 nLocal;
  z += hpCellsHead(z, &nByte, piRowid);
  if( nByte<=pBt->maxLeaf ){
    nLocal = nByte;
    if( &z[nByte]>aEnd || nByte==0 ) return HP_DECLINE;
  }else{
    nLocal = hpRecordLocal(pBt, nByte);
    if( nByte>SQLITE_MAX_LENGTH || &z[nLocal+4]>aEnd ) return HP_DECLINE;
  }
  assert( i<HP_CUT && nLocal<=nByte );
  pCells->az[i] = z;
  pCells->aLocal[i] = nLocal;
  pCells->aByte[i] = nByte;
  return SQLITE_OK;
}

/*
** Find the records of the n cells of a table whose places are at aPtr: pCells,
** and aRowid unless that is NULL.  Leaves out rows that pBound, unless that is
** NULL, says are not wanted.  *pn is set to the number of records found.
*/
static int hpCellsPlain(
  const HpWorker *p,
  const u8 *aPage,
  const u8 *aPtr,
  int n,
  int iMin,              /* Lowest place of a cell */
  const HpBound *pBound,
  HpCells *pCells,
  i64 *aRowid,
  int *pn
){
  const BtShared *pBt = hpThreadBt(p->pPipe);
  int nUsable = (int)pBt->usableSize;
  int m = 0;
  int i, rc;
  assert( n>0 && n<=HP_CUT && (pBound==0 || pBound->bOn) );
  for(i=0; i<n; i++){
    int ofst = get2byte(&aPtr[2*i]);
    if( ofst<iMin || ofst>nUsable-4 ) return HP_DECLINE;
    if( i+HP_CELL_AHEAD<n ){
      hpPrefetch(&aPage[get2byte(&aPtr[2*(i+HP_CELL_AHEAD)])]);
    }
    rc = hpCellsTable(pBt, &aPage[ofst], &aPage[nUsable], pCells, m,
                      aRowid ? &aRowid[m] : 0);
    if( rc ) return rc;
    m += pBound==0 || pCells->aLocal[m]<pCells->aByte[m]
      || !hpRecordOut(pBound, p->pPlan->source.mxCol, pCells->az[m],
                      pCells->aByte[m]);
  }
  *pn = m;
  return SQLITE_OK;
}

#ifdef HP_AVX2
/*
** The integers of serial types t, in the lowest bytes, whose values begin with
** the eight bytes in each quarter of v.  Type 7 stays as it is.
*/
__attribute__((target("avx2")))
static SQLITE_INLINE __m256i hpCellsIntegersAvx2(__m256i v, __m128i s8){
  const __m256i swap = _mm256_setr_epi8(
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8,
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8);
  __m256i s = _mm256_cvtepu8_epi64(s8);
  __m256i m = _mm256_srlv_epi64(_mm256_set1_epi64x(SMALLEST_INT64), s);
  v = _mm256_srlv_epi64(_mm256_shuffle_epi8(v, swap), s);
  return _mm256_sub_epi64(_mm256_xor_si256(v, m), m);
}

/* How far the eight bytes at the value of each serial type are shifted */
#define HP_SHIFTS \
  _mm_setr_epi8(64,56,48,40,32,16,0,0,64,64,64,64,0,0,0,0)

/*
** A bit for each of 32 rows that pBound says are not wanted: the column has
** type t[i], one of 0..9, and its value is at aPage[aVal[i]].
*/
__attribute__((target("avx2")))
static u32 hpCellsBoundAvx2(
  const HpBound *pBound,
  const u8 *aPage,
  const u16 *aVal,
  __m256i t
){
  const __m256i iMin = _mm256_set1_epi64x(pBound->iMin);
  const __m256i iMax = _mm256_set1_epi64x(pBound->iMax);
  const __m256d rMin = _mm256_set1_pd(pBound->rMin);
  const __m256d rMax = _mm256_set1_pd(pBound->rMax);
  __m256i shift = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(HP_SHIFTS),
                                      t);
  u32 mOne = (u32)_mm256_movemask_epi8(
                 _mm256_cmpeq_epi8(t, _mm256_set1_epi8(9)));
  u32 mReal = (u32)_mm256_movemask_epi8(
                  _mm256_cmpeq_epi8(t, _mm256_set1_epi8(7)));
  u32 mNull = (u32)_mm256_movemask_epi8(
                  _mm256_cmpeq_epi8(t, _mm256_setzero_si256()));
  u32 mOut = 0;
  u32 mRealOut = 0;
  u8 aShift[HP_CUT];
  int i;
  assert( pBound->bOn );
  _mm256_storeu_si256((__m256i*)aShift, shift);
  for(i=0; i<HP_CUT; i+=4){
    __m256i v = _mm256_set_epi64x(
        hpRaw8(&aPage[aVal[i+3]]), hpRaw8(&aPage[aVal[i+2]]),
        hpRaw8(&aPage[aVal[i+1]]), hpRaw8(&aPage[aVal[i]]));
    __m256i out;
    int s4;
    memcpy(&s4, &aShift[i], 4);
    v = hpCellsIntegersAvx2(v, _mm_cvtsi32_si128(s4));
    out = _mm256_or_si256(_mm256_cmpgt_epi64(iMin, v),
                          _mm256_cmpgt_epi64(v, iMax));
    mOut |= (u32)_mm256_movemask_pd(_mm256_castsi256_pd(out))<<i;
    if( mReal ){
      __m256d r = _mm256_castsi256_pd(v);
      mRealOut |= (u32)_mm256_movemask_pd(
          _mm256_or_pd(_mm256_cmp_pd(r, rMin, _CMP_LT_OQ),
                       _mm256_cmp_pd(r, rMax, _CMP_GT_OQ)))<<i;
    }
  }
  mOut = (mOut & ~mReal) | (mRealOut & mReal);
  if( mOne ){
    /* Here they were taken for 0 */
    mOut &= ~mOne;
    if( pBound->iMin>1 || pBound->iMax<1 ) mOut |= mOne;
  }
  if( mNull ){
    mOut &= ~mNull;
    if( pBound->bNull==0 ) mOut |= mNull;
  }
  return mOut;
}

/* The rowids of four varints of nByte bytes each at the addresses in z[] */
__attribute__((target("avx2")))
static SQLITE_INLINE __m256i hpCellsRowidsAvx2(const u8 **z, int nByte){
  const __m256i swap = _mm256_setr_epi8(
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8,
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8);
  const __m256i m7 = _mm256_set1_epi16(0x007f);
  const __m256i m14 = _mm256_set1_epi32(0x00003fff);
  const __m256i m28 = _mm256_set1_epi64x(0x0fffffff);
  __m256i v = _mm256_set_epi64x(hpRaw8(z[3]), hpRaw8(z[2]),
                                hpRaw8(z[1]), hpRaw8(z[0]));
  assert( nByte>=1 && nByte<=8 );
  v = _mm256_srl_epi64(_mm256_shuffle_epi8(v, swap),
                       _mm_cvtsi32_si128(64-8*nByte));
  v = _mm256_or_si256(_mm256_and_si256(v, m7),
          _mm256_srli_epi16(_mm256_slli_epi16(_mm256_srli_epi16(v, 8), 9), 2));
  v = _mm256_or_si256(_mm256_and_si256(v, m14),
          _mm256_slli_epi32(_mm256_srli_epi32(v, 16), 14));
  return _mm256_or_si256(_mm256_and_si256(v, m28),
          _mm256_slli_epi64(_mm256_srli_epi64(v, 32), 28));
}

/*
** The same as hpCellsPlain() with AVX2, for pages of up to 32768 bytes, n being
** HP_CUT at most.
*/
__attribute__((target("avx2")))
static int hpCellsAvx2(
  const HpWorker *p,
  const u8 *aPage,
  const u8 *aPtr,
  int n,
  int iMin,
  const HpBound *pBound,
  HpCells *pCells,
  i64 *aRowid,
  int *pn
){
  const __m256i swap = _mm256_setr_epi8(
      1,0,3,2,5,4,7,6,9,8,11,10,13,12,15,14,
      1,0,3,2,5,4,7,6,9,8,11,10,13,12,15,14);
  const __m256i iota = _mm256_setr_epi16(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15);
  const __m256i c7f = _mm256_set1_epi16(0x7f);
  const __m256i mOne = _mm256_set1_epi16(1);
  const BtShared *pBt = hpThreadBt(p->pPipe);
  int nUsable = (int)pBt->usableSize;
  u32 mAll = n<HP_CUT ? ((u32)1<<n)-1 : 0xffffffff;
  u32 mBad;              /* Cells to be looked at one by one */
  u32 mKeep;             /* Cells not left out */
  u16 aCell[HP_CUT];     /* Places of the cells, ... */
  u16 aRec[HP_CUT];      /* ... of the records, ... */
  u16 aByte[HP_CUT];     /* ... and their sizes */
  __m256i x[16], y[16];
  __m256i lo, hi, m, bad, inLo, inHi;
  __m256i two, twoLo, twoHi, szLo, szHi;
  int nRowid;            /* Bytes of the rowid, in most cells */
  int i, k, rc;

  /* Numbers of 16 bits with a sign hold all places and sizes */
  assert( pBt->maxLeaf<0x7fff && iMin>=8 && iMin<=nUsable );
  assert( n>0 && n<=HP_CUT && nUsable<=32768 );
  lo = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i*)aPtr), swap);
  hi = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i*)&aPtr[32]), swap);
  if( n<HP_CUT ){
    /* Instead of those that there are not the first one once more */
    __m256i first = _mm256_set1_epi16((short)get2byte(aPtr));
    __m256i n16 = _mm256_set1_epi16((short)n);
    lo = _mm256_blendv_epi8(first, lo, _mm256_cmpgt_epi16(n16, iota));
    hi = _mm256_blendv_epi8(first, hi, _mm256_cmpgt_epi16(
             n16, _mm256_add_epi16(iota, _mm256_set1_epi16(16))));
  }
  m = _mm256_set1_epi16((short)iMin);
  bad = _mm256_or_si256(_mm256_cmpgt_epi16(m, lo), _mm256_cmpgt_epi16(m, hi));
  m = _mm256_set1_epi16((short)(nUsable-4));
  bad = _mm256_or_si256(bad, _mm256_cmpgt_epi16(lo, m));
  bad = _mm256_or_si256(bad, _mm256_cmpgt_epi16(hi, m));
  if( !_mm256_testz_si256(bad, bad) ) return HP_DECLINE;
  _mm256_storeu_si256((__m256i*)aCell, lo);
  _mm256_storeu_si256((__m256i*)&aCell[16], hi);
#define HP_CELL(I) &aPage[aCell[I]]
  HP_TRANSPOSE(HP_CELL)

  /* The size: a byte, or two if the first one has the high bit set */
  two = x[0];
  szLo = HP_LO16(x[0]);
  szHi = HP_HI16(x[0]);
  twoLo = _mm256_cmpgt_epi16(szLo, c7f);
  twoHi = _mm256_cmpgt_epi16(szHi, c7f);
  bad = _mm256_and_si256(two, x[1]);
  szLo = _mm256_blendv_epi8(szLo, _mm256_or_si256(
             _mm256_slli_epi16(_mm256_and_si256(szLo, c7f), 7),
             HP_LO16(x[1])), twoLo);
  szHi = _mm256_blendv_epi8(szHi, _mm256_or_si256(
             _mm256_slli_epi16(_mm256_and_si256(szHi, c7f), 7),
             HP_HI16(x[1])), twoHi);
  lo = _mm256_add_epi16(_mm256_sub_epi16(lo, twoLo), mOne);
  hi = _mm256_add_epi16(_mm256_sub_epi16(hi, twoHi), mOne);

  /* From here on x[i] is the byte of the cell that is i after the size.  The
  ** rowid is as long as in the first cell; where it is not the cell is bad.
  ** Of nine bytes it is looked at one by one. */
  for(i=0; i<14; i++) x[i] = _mm256_blendv_epi8(x[i+1], x[i+2], two);
  for(nRowid=1; nRowid<9; nRowid++){
    if( ((u32)_mm256_movemask_epi8(x[nRowid-1]) & 1)==0 ) break;
    bad = _mm256_or_si256(bad, _mm256_xor_si256(x[nRowid-1],
                                                _mm256_set1_epi8((char)0x80)));
  }
  bad = _mm256_or_si256(bad, x[nRowid-1]);
  mBad = nRowid<9 ? (u32)_mm256_movemask_epi8(bad) : mAll;
  m = _mm256_set1_epi16((short)nRowid);
  lo = _mm256_add_epi16(lo, m);
  hi = _mm256_add_epi16(hi, m);

  /* Records that are not empty and lie in the page */
  m = _mm256_set1_epi16((short)nUsable);
  inLo = HP_LE16(_mm256_add_epi16(lo, szLo), m);
  inHi = HP_LE16(_mm256_add_epi16(hi, szHi), m);
  mBad |= ~(u32)_mm256_movemask_epi8(HP_PACK16(inLo, inHi));
  m = _mm256_set1_epi16((short)pBt->maxLeaf);
  bad = HP_PACK16(_mm256_or_si256(_mm256_cmpgt_epi16(szLo, m),
                                  _mm256_cmpgt_epi16(mOne, szLo)),
                  _mm256_or_si256(_mm256_cmpgt_epi16(szHi, m),
                                  _mm256_cmpgt_epi16(mOne, szHi)));
  mBad |= (u32)_mm256_movemask_epi8(bad);
  mBad &= mAll;
  mKeep = mAll;

  if( pBound && nRowid+1+pBound->iStore<14 ){
    /* The value of the bound's column, as in hpRecordOut() */
    __m256i hdr = x[nRowid];
    __m256i t = x[nRowid+1+pBound->iStore];
    __m256i vLo = HP_LO16(hdr);
    __m256i vHi = HP_HI16(hdr);
    __m256i ok = _mm256_cmpgt_epi8(hdr,
                                   _mm256_set1_epi8((char)(pBound->iStore+1)));
    __m256i sz, okLo, okHi, endLo, endHi, t2;
    m = _mm256_setzero_si256();
    for(k=nRowid+1; k<=nRowid+pBound->iStore; k++){
      sz = hpRecordSizesAvx2(x[k]);
      m = _mm256_or_si256(m, x[k]);
      vLo = _mm256_add_epi16(vLo, HP_LO16(sz));
      vHi = _mm256_add_epi16(vHi, HP_HI16(sz));
    }
    ok = _mm256_and_si256(ok, _mm256_cmpeq_epi8(t,
             _mm256_min_epu8(t, _mm256_set1_epi8(9))));
    sz = hpRecordSizesAvx2(t);
    endLo = _mm256_add_epi16(vLo, HP_LO16(sz));
    endHi = _mm256_add_epi16(vHi, HP_HI16(sz));
    okLo = _mm256_and_si256(inLo, HP_LE16(endLo, szLo));
    okHi = _mm256_and_si256(inHi, HP_LE16(endHi, szHi));
    if( nRowid+1+p->pPlan->source.mxCol<14 ){
      /* The other columns that stock reads, of those that there are */
      for(; k<=nRowid+p->pPlan->source.mxCol; k++){
        t2 = _mm256_and_si256(x[k+1], _mm256_cmpgt_epi8(hdr,
                 _mm256_set1_epi8((char)(k+1-nRowid))));
        sz = hpRecordSizesAvx2(t2);
        m = _mm256_or_si256(m, t2);
        endLo = _mm256_add_epi16(endLo, HP_LO16(sz));
        endHi = _mm256_add_epi16(endHi, HP_HI16(sz));
      }
      /* Where the header ends with them the record does */
      t2 = _mm256_cmpgt_epi8(hdr, _mm256_set1_epi8((char)(k+1-nRowid)));
      ok = _mm256_and_si256(ok, _mm256_or_si256(t2,
               HP_PACK16(_mm256_cmpeq_epi16(endLo, szLo),
                         _mm256_cmpeq_epi16(endHi, szHi))));
      okLo = _mm256_and_si256(okLo, HP_LE16(endLo, szLo));
      okHi = _mm256_and_si256(okHi, HP_LE16(endHi, szHi));
    }
    ok = _mm256_andnot_si256(_mm256_cmpgt_epi8(_mm256_setzero_si256(), m), ok);
    ok = _mm256_and_si256(ok, HP_PACK16(okLo, okHi));
    mKeep = ~(u32)_mm256_movemask_epi8(ok);
    /* Where it is not ok the record may be anything: read its first bytes */
    _mm256_storeu_si256((__m256i*)aRec,
        _mm256_add_epi16(lo, _mm256_and_si256(vLo, okLo)));
    _mm256_storeu_si256((__m256i*)&aRec[16],
        _mm256_add_epi16(hi, _mm256_and_si256(vHi, okHi)));
    mKeep |= mBad | ~hpCellsBoundAvx2(pBound, aPage, aRec, t);
    mKeep &= mAll;
    if( mKeep==0 ){
      *pn = 0;
      return SQLITE_OK;
    }
  }

  if( mKeep==mAll && mBad==0 ){
    const __m256i base = _mm256_set1_epi64x((i64)aPage);
    for(i=0; i<HP_CUT; i+=16){
      __m128i a = _mm256_castsi256_si128(i ? hi : lo);
      __m128i b = _mm256_extracti128_si256(i ? hi : lo, 1);
      __m256i sz = i ? szHi : szLo;
      __m256i *pTo = (__m256i*)&pCells->az[i];
      _mm256_storeu_si256(&pTo[0],
          _mm256_add_epi64(base, _mm256_cvtepu16_epi64(a)));
      _mm256_storeu_si256(&pTo[1],
          _mm256_add_epi64(base, _mm256_cvtepu16_epi64(_mm_srli_si128(a, 8))));
      _mm256_storeu_si256(&pTo[2],
          _mm256_add_epi64(base, _mm256_cvtepu16_epi64(b)));
      _mm256_storeu_si256(&pTo[3],
          _mm256_add_epi64(base, _mm256_cvtepu16_epi64(_mm_srli_si128(b, 8))));
      m = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(sz));
      _mm256_storeu_si256((__m256i*)&pCells->aByte[i], m);
      _mm256_storeu_si256((__m256i*)&pCells->aLocal[i], m);
      m = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(sz, 1));
      _mm256_storeu_si256((__m256i*)&pCells->aByte[i+8], m);
      _mm256_storeu_si256((__m256i*)&pCells->aLocal[i+8], m);
    }
    if( aRowid ){
      for(i=0; i<n; i+=4){
        const u8 *az[4];
        i64 a4[4];
        for(k=0; k<4; k++) az[k] = pCells->az[i+k] - nRowid;
        _mm256_storeu_si256((__m256i*)a4, hpCellsRowidsAvx2(az, nRowid));
        memcpy(&aRowid[i], a4, sizeof(i64)*MIN(4, n-i));
      }
    }
    *pn = n;
    return SQLITE_OK;
  }

  _mm256_storeu_si256((__m256i*)aRec, lo);
  _mm256_storeu_si256((__m256i*)&aRec[16], hi);
  _mm256_storeu_si256((__m256i*)aByte, szLo);
  _mm256_storeu_si256((__m256i*)&aByte[16], szHi);
  for(k=0; mKeep; mKeep &= mKeep-1, k++){
    i = __builtin_ctz(mKeep);
    if( aRowid || (mBad>>i & 1) ){
      rc = hpCellsTable(pBt, &aPage[aCell[i]], &aPage[nUsable], pCells, k,
                        aRowid ? &aRowid[k] : 0);
      if( rc ) return rc;
    }else{
      pCells->az[k] = &aPage[aRec[i]];
      pCells->aLocal[k] = pCells->aByte[k] = aByte[i];
    }
  }
  *pn = k;
  return SQLITE_OK;
}
#endif /* HP_AVX2 */

/*
** The next n rowids of the run, of leaf iLeaf, are aRowid[].  Declined unless they are
** greater than all before and within the leaf's bounds.
*/
static int hpCellsInOrder(HpWorker *p, int iLeaf, const i64 *aRowid, int n){
  HpRun *pRun = &p->pRead->run;
  int bad = (pRun->mBound & 1)!=0 && aRowid[0]<=pRun->iLow;
  int i;
  for(i=1; i<n; i++) bad |= aRowid[i]<=aRowid[i-1];
  assert( n>0 && (pRun->mBound & 4)!=0 );
  pRun->iLow = aRowid[n-1];
  bad |= pRun->iLow>pRun->aHigh[iLeaf];
  pRun->mBound |= 1;
  return bad ? HP_DECLINE : SQLITE_OK;
}

/*
** Append rows of leaf iLeaf of the run to the batch, from cell *piCell on,
** until the batch is full or the leaf is used up, and set *piCell to the
** next cell, or to -1 when there is none.
*/
static int hpCellsLeaf(HpWorker *p, int iLeaf, int *piCell){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  HpRun *pRun = &p->pRead->run;
  HpBatch *pBatch = &p->pRead->batch;
  BtShared *pBt = hpThreadBt(p->pPipe);
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aHdr = &aPage[pRun->iHdr];
  int nCell = get2byte(&aHdr[3]);
  int iMin = pRun->iHdr+8+2*nCell; /* Lowest place of a cell */
  int iCell = *piCell;
  const HpBound *pBound = p->pRead->bound.bOn ? &p->pRead->bound : 0;
  HpCells cells;

  if( pPlan->bIndex ) return hpCellsIndex(p, iLeaf, piCell);
  assert( pBound==0 || pRun->mBound==0 );
  assert( iLeaf>=0 && iLeaf<pRun->nPage && iCell>=0 );
  if( aHdr[0]!=(PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF)
   || nCell>(int)MX_CELL(pBt) || iMin>(int)pBt->usableSize
  ){
    return HP_DECLINE;
  }
  if( nCell==0 && pRun->bRoot==0 ) return HP_DECLINE;
  while( iCell<nCell && pBatch->nRow<pBatch->nAlloc ){
    int n = MIN(HP_CUT, MIN(nCell-iCell, pBatch->nAlloc-pBatch->nRow));
    const u8 *aPtr = &aHdr[8+2*iCell];
    i64 *aRowid = pPlan->bRowid ? &pBatch->aRowid[pBatch->nRow] : 0;
    int m;               /* Records to look at */
    int rc;
#ifdef HP_AVX2
    if( p->frame.bAvx2 && pBt->usableSize<=32768 ){
      rc = hpCellsAvx2(p, aPage, aPtr, n, iMin, pBound, &cells, aRowid, &m);
    }else
#endif
    rc = hpCellsPlain(p, aPage, aPtr, n, iMin, pBound, &cells, aRowid, &m);
    if( rc==SQLITE_OK && pRun->mBound ) rc = hpCellsInOrder(p, iLeaf, aRowid, m);
    if( rc==SQLITE_OK ) rc = hpRecordCut(p, &cells, m);
    if( rc ) return rc;
    assert( m>=0 && m<=n && pBatch->nRow<=pBatch->nAlloc );
    pBatch->nSkip += n-m;
    iCell += n;
  }
  *piCell = iCell<nCell ? iCell : -1;
  if( iCell>=nCell && pRun->mBound ) pRun->iLow = pRun->aHigh[iLeaf];
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
