/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_record: from the cells of leaf pages to columns.
**
**    hpBatchInit()      memory for a batch of rows
**    hpRecordLeaf()     cut the records of a leaf, append them to the batch
**    hpRecordColumn()   decode one column of the batch into a vector
**
** Cutting finds, for each row and each column that the plan uses, the serial
** type and the address of the value, and decodes nothing.  Columns are
** decoded later and one at a time, only for the rows still selected.
**
** A record begins with a header of serial types, so the place of column i
** is the sum of the sizes of the columns before it.  Where all serial types
** up to the last column used are single bytes (they are, unless a string is
** longer than 57 bytes) and the record lies in the page, sixteen of them are
** turned into sizes with one byte shuffle and into offsets with one prefix
** sum (AVX2), or in a simple loop (plain C).  Every other row takes
** hpCutSlow(): long types, headers and values that reach into overflow pages,
** records with fewer columns than the table.
**
** What stock would call SQLITE_CORRUPT is declined, and so is anything else
** that looks odd.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Records cut at a time: few enough that they are still in L1 */
#define HP_CUT 64

/*
** Decoding of serial types 0..11 without a branch: the eight bytes at the
** value, as a big-endian number, shifted, masked, plus a constant.
*/
#define HP_WIDE 0x80
static const struct HpSer {
  u64 mask;
  u8 shift;
  u8 add;
  u8 tag;
  u8 seen;               /* tag, and HP_WIDE for eight bytes */
} aHpSer[12] = {
  { 0,       0,  0, HP_NULL, HP_NULL },
  { ~(u64)0, 56, 0, HP_INT,  HP_INT },
  { ~(u64)0, 48, 0, HP_INT,  HP_INT },
  { ~(u64)0, 40, 0, HP_INT,  HP_INT },
  { ~(u64)0, 32, 0, HP_INT,  HP_INT },
  { ~(u64)0, 16, 0, HP_INT,  HP_INT },
  { ~(u64)0, 0,  0, HP_INT,  HP_INT|HP_WIDE },
  { ~(u64)0, 0,  0, HP_REAL, HP_REAL },
  { 0,       0,  0, HP_INT,  HP_INT },
  { 0,       0,  1, HP_INT,  HP_INT },
  { 0,       0,  0, HP_NULL, HP_NULL },
  { 0,       0,  0, HP_NULL, HP_NULL },
};

/* Eight bytes at z as a big-endian number */
static SQLITE_INLINE u64 hpLoad8(const u8 *z){
  u64 x;
  memcpy(&x, z, 8);
#if SQLITE_BYTEORDER==1234
  x = sqlite3BSwap64(x);
#elif SQLITE_BYTEORDER!=4321
  x = sqlite3Get8byte(z);
#endif
  return x;
}

/*
** Remove all rows from the batch.
*/
static void hpBatchEmpty(HpBatch *pBatch){
  pBatch->nRow = 0;
  pBatch->nSkip = 0;
  memset(pBatch->aMin, 0xff, pBatch->nStride);
  memset(pBatch->aMax, 0, pBatch->nStride);
  if( pBatch->side.pBlock ) hpArenaClear(&pBatch->side);
}

/*
** Allocate the batch of p.  Returns HP_DECLINE if there is no memory.
*/
static int hpBatchInit(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpBatch *pBatch = &p->batch;
  i64 n = p->pCfg->nBatch;
  i64 nStride = pPlan->mxCol<HP_MX_COL ? (pPlan->mxCol+16)&~15 : 16;
  if( nStride==0 ) nStride = 16;
  pBatch->nAlloc = (int)n;
  pBatch->nStride = (int)nStride;
  pBatch->aRowid = hpArenaAlloc(&p->vec, sizeof(i64)*n);
  pBatch->aType = hpArenaAlloc(&p->vec, n*nStride);
  pBatch->aOfst = hpArenaAlloc(&p->vec, sizeof(u16)*n*nStride);
  pBatch->apRec = hpArenaAlloc(&p->vec, sizeof(u8*)*n);
  pBatch->aMin = hpArenaAlloc(&p->vec, 2*nStride);
  if( pBatch->aRowid==0 || pBatch->aType==0 || pBatch->aOfst==0
   || pBatch->apRec==0 || pBatch->aMin==0
  ){
    return HP_DECLINE;
  }
  pBatch->aMax = &pBatch->aMin[nStride];
  hpBatchEmpty(pBatch);
  return SQLITE_OK;
}

/*
** Put the first nWant bytes of a record with overflow pages together in
** memory of the batch.  *pz is set to them.
*/
static int hpRecordOverflow(
  HpExec *p,             /* The execution */
  const HpRecord *pRec,  /* The record */
  u32 nWant,             /* Bytes wanted: more than pRec->nLocal */
  const u8 **pz          /* OUT: the bytes, HP_SLACK more are readable */
){
  BtShared *pBt = p->pScan->db->aDb[p->pPlan->iDb].pBt->pBt;
  u32 nPg = pBt->usableSize - 4;
  u32 n = pRec->nLocal;
  Pgno iPg = get4byte(&pRec->z[n]);
  u8 *aOut;
  int rc = SQLITE_OK;
  assert( nWant<=pRec->nByte && nWant>n );
  if( (i64)nWant+p->batch.side.nTotal>p->nMemory ) return HP_DECLINE;
  aOut = hpArenaAlloc(&p->batch.side, (i64)nWant+HP_SLACK);
  if( aOut==0 ) return HP_DECLINE;
  memcpy(aOut, pRec->z, n);
  hpScanLock(p->pScan);
  while( n<nWant ){
    DbPage *pDb;
    const u8 *aData;
    u32 nCopy = MIN(nPg, nWant-n);
    if( iPg<2 || iPg>btreePagecount(pBt) ){
      rc = HP_DECLINE;
      break;
    }
    rc = sqlite3PagerGet(pBt->pPager, iPg, &pDb, PAGER_GET_READONLY);
    if( rc ) break;
    aData = sqlite3PagerGetData(pDb);
    memcpy(&aOut[n], &aData[4], nCopy);
    iPg = get4byte(aData);
    sqlite3PagerUnrefNotNull(pDb);
    n += nCopy;
  }
  hpScanUnlock(p->pScan);
  memset(&aOut[n], 0, HP_SLACK);
  *pz = aOut;
  return rc;
}

/*
** Cut one record, whatever it looks like, into row iRow of the batch.
*/
static int hpCutSlow(HpExec *p, const HpRecord *pRec, int iRow){
  const HpPlan *pPlan = p->pPlan;
  HpBatch *pBatch = &p->batch;
  struct HpSlow *aSlow;
  const u8 *z = pRec->z;
  u32 nHdr;              /* Bytes of the header */
  u32 iHdr;              /* Place in the header */
  u64 iVal;              /* Place of the value of column iCol */
  int iCol;              /* Column of the record */
  int k = pPlan->bRowid; /* Next column of the plan */
  int rc;

  if( pBatch->aSlow==0 ){
    pBatch->aSlow = hpArenaAlloc(&p->vec,
        (i64)pBatch->nAlloc*pPlan->nCol*sizeof(struct HpSlow));
    if( pBatch->aSlow==0 ) return HP_DECLINE;
  }
  aSlow = &pBatch->aSlow[(i64)iRow*pPlan->nCol];
  pBatch->apRec[iRow] = z;         /* For hpRecordRowid() */
  memset(&pBatch->aType[(i64)iRow*pBatch->nStride], 0xff, pBatch->nStride);
  memset(pBatch->aMax, 0xff, pBatch->nStride);
  if( pRec->nByte==0 ) return HP_DECLINE;
  iHdr = getVarint32(z, nHdr);
  if( nHdr>98307 || nHdr>pRec->nByte || iHdr>nHdr ) return HP_DECLINE;
  if( nHdr>pRec->nLocal ){
    rc = hpRecordOverflow(p, pRec, nHdr, &z);
    if( rc ) return rc;
  }
  iVal = nHdr;
  for(iCol=0; k<pPlan->nCol && iHdr<nHdr; iCol++){
    u32 t;
    iHdr += getVarint32(&z[iHdr], t);
    if( pPlan->aCol[k].iStore==iCol ){
      aSlow[k].type = t;
      /* An offset for now: the record may have to move */
      aSlow[k].z = (const u8*)SQLITE_INT_TO_PTR(iVal);
      k++;
    }
    iVal += sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || iVal>pRec->nByte ) return HP_DECLINE;
  }
  if( iHdr>=nHdr && iVal!=pRec->nByte ) return HP_DECLINE;
  if( pPlan->bIdxRowid && (iHdr<nHdr || k<pPlan->nCol) ) return HP_DECLINE;
  for(iCol=k; iCol<pPlan->nCol; iCol++) aSlow[iCol].type = HP_SER_NONE;
  if( iVal>pRec->nLocal ){
    rc = hpRecordOverflow(p, pRec, (u32)iVal, &z);
    if( rc ) return rc;
  }
  for(iCol=pPlan->bRowid; iCol<k; iCol++){
    aSlow[iCol].z = &z[SQLITE_PTR_TO_INT(aSlow[iCol].z)];
  }
  return SQLITE_OK;
}

/*
** Cut nRec records into rows iRow, iRow+1, ... of the batch.  Plain C.
*/
static int hpCutPlain(HpExec *p, const HpRecord *aRec, int nRec, int iRow){
  const HpPlan *pPlan = p->pPlan;
  HpBatch *pBatch = &p->batch;
  int nType = pPlan->mxCol+1;      /* Serial types needed */
  int mxHdr = pPlan->bIdxRowid ? nType+1 : 0x7f;
  int i, rc;
  for(i=0; i<nRec; i++, iRow++){
    const HpRecord *pRec = &aRec[i];
    const u8 *z = pRec->z;
    u32 nHdr = z[0];
    if( (int)nHdr<=mxHdr && (int)nHdr>nType && nHdr<=pRec->nLocal
     && nType<=HP_MX_COL
    ){
      u8 *aType = &pBatch->aType[(i64)iRow*pBatch->nStride];
      u16 *aOfst = &pBatch->aOfst[(i64)iRow*pBatch->nStride];
      u32 iVal = nHdr;
      u8 mLong = 0;
      int iCol;
      for(iCol=0; iCol<nType; iCol++){
        u8 t = z[1+iCol];
        mLong |= t;
        aType[iCol] = t;
        aOfst[iCol] = (u16)iVal;
        if( t<pBatch->aMin[iCol] ) pBatch->aMin[iCol] = t;
        if( t>pBatch->aMax[iCol] ) pBatch->aMax[iCol] = t;
        iVal += sqlite3SmallTypeSizes[t & 0x7f];
      }
      if( mLong<0x80 && iVal<=pRec->nLocal
       && ((int)nHdr!=nType+1 || iVal==pRec->nByte)
      ){
        pBatch->apRec[iRow] = z;
        continue;
      }
    }
    rc = hpCutSlow(p, pRec, iRow);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

#ifdef HP_AVX2
/*
** The same with AVX2: sixteen serial types at a time.  nStride is the
** pBatch->nStride, as a constant where that is 16.
*/
__attribute__((target("avx2"),always_inline))
static SQLITE_INLINE int hpCutAvx2Stride(
  HpExec *p,
  const HpRecord *aRec,
  int nRec,
  int iRow,
  int nStride
){
  const __m128i size = _mm_setr_epi8(0,1,2,3,4,6,8,8,0,0,0,0,0,0,1,1);
  const __m128i c12 = _mm_set1_epi8(12);
  const __m128i c15 = _mm_set1_epi8(15);
  const __m128i c7f = _mm_set1_epi8(0x7f);
  HpBatch *pBatch = &p->batch;
  u8 *aMin = pBatch->aMin;
  u8 *aMax = pBatch->aMax;
  const u8 **apRec = pBatch->apRec;
  u8 *aType = &pBatch->aType[(i64)iRow*nStride];
  u16 *aOfst = &pBatch->aOfst[(i64)iRow*nStride];
  u32 nType = p->pPlan->mxCol+1;   /* Serial types needed */
  u32 mxHdr = p->pPlan->bIdxRowid ? nType+1 : 0x7f;
  int nLast = (nType-1)&15;        /* Last one, in the last sixteen */
  u32 mLast = (2u<<nLast)-1;       /* Those of the last sixteen that count */
  int i, iType, rc;

  assert( nType>=1 && (int)nType<=nStride );
  for(i=0; i<nRec; i++, iRow++, aType+=nStride, aOfst+=nStride){
    const HpRecord *pRec = &aRec[i];
    const u8 *z = pRec->z;
    u32 nHdr = z[0];
    if( nHdr<=mxHdr && nHdr>nType && nHdr<=pRec->nLocal ){
      u32 iVal = nHdr;
      u32 mLong = 0;
      u16 aEnd[16];
      for(iType=0; iType<nStride; iType+=16){
        __m128i t = _mm_loadu_si128((const __m128i*)&z[1+iType]);
        __m128i isBig = _mm_cmpgt_epi8(t, c15);
        __m128i big = _mm_and_si128(_mm_srli_epi16(_mm_sub_epi8(t,c12),1), c7f);
        __m128i sz = _mm_blendv_epi8(_mm_shuffle_epi8(size, t), big, isBig);
        __m256i w = _mm256_cvtepu8_epi16(sz);
        __m256i s = w;
        __m128i lo, hi, mn, mx;
        int bLast = iType+16>=nStride;
        mLong |= (u32)_mm_movemask_epi8(t) & (bLast ? mLast : 0xffff);
        mn = _mm_loadu_si128((const __m128i*)&aMin[iType]);
        mx = _mm_loadu_si128((const __m128i*)&aMax[iType]);
        _mm_storeu_si128((__m128i*)&aMin[iType], _mm_min_epu8(mn, t));
        _mm_storeu_si128((__m128i*)&aMax[iType], _mm_max_epu8(mx, t));
        _mm_storeu_si128((__m128i*)&aType[iType], t);
        s = _mm256_add_epi16(s, _mm256_slli_si256(s, 2));
        s = _mm256_add_epi16(s, _mm256_slli_si256(s, 4));
        s = _mm256_add_epi16(s, _mm256_slli_si256(s, 8));
        lo = _mm256_castsi256_si128(s);
        hi = _mm256_extracti128_si256(s, 1);
        hi = _mm_add_epi16(hi, _mm_set1_epi16((short)_mm_extract_epi16(lo, 7)));
        s = _mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
        /* s is where each value ends, s-w where it begins */
        s = _mm256_add_epi16(s, _mm256_set1_epi16((short)iVal));
        _mm256_storeu_si256((__m256i*)&aOfst[iType], _mm256_sub_epi16(s, w));
        _mm256_storeu_si256((__m256i*)aEnd, s);
        iVal = aEnd[bLast ? nLast : 15];
      }
      if( mLong==0 && iVal<=pRec->nLocal
       && (nHdr!=nType+1 || iVal==pRec->nByte)
      ){
        apRec[iRow] = z;
        continue;
      }
    }
    rc = hpCutSlow(p, pRec, iRow);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}
__attribute__((target("avx2")))
static int hpCutAvx2(HpExec *p, const HpRecord *aRec, int nRec, int iRow){
  if( p->batch.nStride==16 ) return hpCutAvx2Stride(p, aRec, nRec, iRow, 16);
  return hpCutAvx2Stride(p, aRec, nRec, iRow, p->batch.nStride);
}
#endif /* HP_AVX2 */

/* Length of the varint at z.  Nine bytes and 8 more must be readable. */
static SQLITE_INLINE int hpVarintLen(const u8 *z){
  int n = 1;
  if( z[0]<0x80 ) return 1;
#if defined(__GNUC__) && SQLITE_BYTEORDER==1234
  {
    u64 x;
    memcpy(&x, z, 8);
    x = ~x & ((((u64)0x80808080)<<32)|0x80808080);
    return x ? (__builtin_ctzll(x)>>3)+1 : 9;
  }
#endif
  while( n<9 && z[n-1]>=0x80 ) n++;
  return n;
}

/*
** The rowid of row i of the batch.  Where the plan does not use it, it is read
** backwards from the record, which comes right after it: the bytes of a varint
** but the last have the high bit set, unless there are nine of them, and the
** byte before it, the last of the record's size, has not.
*/
static i64 hpRecordRowid(const HpExec *p, int i){
  const u8 *z;
  i64 iRowid;
  int n = 1;
  if( p->pPlan->bRowid ) return p->batch.aRowid[i];
  z = p->batch.apRec[i];
  if( z[-1]>=0x80 ){
    n = 9;
  }else{
    while( n<9 && z[-1-n]>=0x80 ) n++;
  }
  sqlite3GetVarint(&z[-n], (u64*)&iRowid);
  return iRowid;
}

/*
** True if the record of nByte bytes at z, all of them in the page, is outside
** of pBound for sure.
*/
static SQLITE_INLINE int hpRecordOut(
  const HpBound *pBound,
  const u8 *z,
  u32 nByte
){
  int iStore = pBound->iStore;
  u32 iVal = z[0];
  const struct HpSer *pSer;
  HpVal v;
  u32 t;
  int i;
  if( iVal>=0x80 || (int)iVal<=iStore+1 ) return 0;
  for(i=1; i<=iStore; i++){
    if( z[i]>=0x80 ) return 0;
    iVal += sqlite3SmallTypeSizes[z[i]];
  }
  t = z[iStore+1];
  if( t>=10 || iVal+sqlite3SmallTypeSizes[t]>nByte ) return 0;
  pSer = &aHpSer[t];
  v.i = (((i64)hpLoad8(&z[iVal]) >> pSer->shift) & pSer->mask) + pSer->add;
  if( pSer->tag==HP_INT ) return (v.i<pBound->iMin) | (v.i>pBound->iMax);
  if( pSer->tag==HP_REAL ) return (v.r<pBound->rMin) | (v.r>pBound->rMax);
  return pBound->bNull==0;
}

/*
** Rows iRow..iRow+n-1 come from entries of an index, which end with a rowid.
** True if that is an integer in all of them.
*/
static int hpRecordRowids(const HpExec *p, int iRow, int n){
  const HpPlan *pPlan = p->pPlan;
  const HpBatch *pBatch = &p->batch;
  int iStore = pPlan->mxCol;
  int i;
  if( iStore<pBatch->nStride && pBatch->aMin[iStore]>=1
   && pBatch->aMax[iStore]<=6
  ){
    return 1;
  }
  for(i=iRow; i<iRow+n; i++){
    u32 t = pBatch->aType[(i64)i*pBatch->nStride+MIN(iStore,pBatch->nStride-1)];
    if( t==HP_SER_SLOW ){
      t = pBatch->aSlow[(i64)i*pPlan->nCol+pPlan->nCol-1].type;
    }
    if( t<1 || t==7 || t>9 ) return 0;
  }
  return 1;
}

/*
** Cut nRec records and append them to the batch.
*/
static SQLITE_INLINE int hpCut(HpExec *p, const HpRecord *aRec, int nRec){
  const HpPlan *pPlan = p->pPlan;
  int iRow = p->batch.nRow;
  int rc;
  if( pPlan->mxCol<0 ){
    rc = SQLITE_OK;
#ifdef HP_AVX2
  }else if( p->bAvx2 && pPlan->mxCol<HP_MX_COL ){
    rc = hpCutAvx2(p, aRec, nRec, iRow);
#endif
  }else{
    rc = hpCutPlain(p, aRec, nRec, iRow);
  }
  if( rc ) return rc;
  if( pPlan->bIdxRowid && !hpRecordRowids(p, iRow, nRec) ) return HP_DECLINE;
  p->batch.nRow += nRec;
  return SQLITE_OK;
}

/*
** hpRecordLeaf() for the b-tree of an index.  Cell number nCell is the entry
** that follows the leaf.
*/
static int hpRecordIndexLeaf(HpExec *p, int iLeaf, int *piCell){
  const HpRun *pRun = &p->run;
  HpBatch *pBatch = &p->batch;
  BtShared *pBt = p->pScan->db->aDb[p->pPlan->iDb].pBt->pBt;
  int nUsable = (int)pBt->usableSize;
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aEnd = &aPage[nUsable];
  int nCell = get2byte(&aPage[3]);
  int iMin = 8+2*nCell;  /* Lowest place of a cell */
  int iCell = *piCell;
  HpRecord aRec[HP_CUT];
  int rc;

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
      rc = hpCellRecord(pBt, &aPage[ofst], aEnd, &aRec[i]);
      if( rc ) return rc;
    }
    rc = hpCut(p, aRec, n);
    if( rc ) return rc;
    iCell += n;
  }
  *piCell = iCell;
  if( iCell==nCell ){
    if( pRun->aSep[iLeaf].z==0 ){
      *piCell = -1;
    }else if( pBatch->nRow<pBatch->nAlloc ){
      rc = hpCut(p, &pRun->aSep[iLeaf], 1);
      if( rc ) return rc;
      *piCell = -1;
    }
  }
  return SQLITE_OK;
}

/*
** Append rows of leaf iLeaf of the run to the batch, from cell *piCell on,
** until the batch is full or the leaf is used up, and set *piCell to the
** next cell, or to -1 when there is none.
*/
static int hpRecordLeaf(HpExec *p, int iLeaf, int *piCell){
  const HpPlan *pPlan = p->pPlan;
  const HpRun *pRun = &p->run;
  HpBatch *pBatch = &p->batch;
  BtShared *pBt = p->pScan->db->aDb[pPlan->iDb].pBt->pBt;
  int nUsable = (int)pBt->usableSize;
  u32 mxLocal = pBt->maxLeaf;
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aHdr = &aPage[pRun->iHdr];
  const u8 *aEnd = &aPage[nUsable];
  int nCell = get2byte(&aHdr[3]);
  int iMin = pRun->iHdr+8+2*nCell; /* Lowest place of a cell */
  int iCell = *piCell;
  const HpBound *pBound = p->bound.bOn ? &p->bound : 0;
  HpRecord aRec[HP_CUT];

  if( pPlan->bIndex ) return hpRecordIndexLeaf(p, iLeaf, piCell);
  if( aHdr[0]!=(PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF)
   || nCell>(int)MX_CELL(pBt) || iMin>nUsable
  ){
    return HP_DECLINE;
  }
  if( nCell==0 && pRun->bRoot==0 ) return HP_DECLINE;
  while( iCell<nCell && pBatch->nRow<pBatch->nAlloc ){
    int n = MIN(HP_CUT, MIN(nCell-iCell, pBatch->nAlloc-pBatch->nRow));
    const u8 *aPtr = &aHdr[8+2*iCell];
    int m = 0;           /* Records to look at */
    int i, rc;
    for(i=0; i<n; i++){
      int ofst = get2byte(&aPtr[2*i]);
      const u8 *z = &aPage[ofst];
      u32 nByte;
      if( ofst<iMin || ofst>nUsable-4 ) return HP_DECLINE;
      if( z[0]<0x80 ){
        nByte = *(z++);
      }else if( z[1]<0x80 ){
        nByte = ((z[0]&0x7f)<<7) | z[1];
        z += 2;
      }else{
        z += sqlite3GetVarint32(z, &nByte);
      }
      if( pPlan->bRowid ){
        z += sqlite3GetVarint(z, (u64*)&pBatch->aRowid[pBatch->nRow+m]);
      }else{
        z += hpVarintLen(z);
      }
      aRec[m].z = z;
      aRec[m].nByte = nByte;
      if( nByte<=mxLocal ){
        aRec[m].nLocal = nByte;
        if( &z[nByte]>aEnd || nByte==0 ) return HP_DECLINE;
        m -= pBound && hpRecordOut(pBound, z, nByte);
      }else{
        u32 mnLocal = pBt->minLeaf;
        u32 nLocal = mnLocal + (nByte-mnLocal)%(nUsable-4);
        if( nLocal>mxLocal ) nLocal = mnLocal;
        aRec[m].nLocal = nLocal;
        if( nByte>SQLITE_MAX_LENGTH || &z[nLocal+4]>aEnd ) return HP_DECLINE;
      }
      m++;
    }
    rc = hpCut(p, aRec, m);
    if( rc ) return rc;
    pBatch->nSkip += n-m;
    iCell += n;
  }
  *piCell = iCell<nCell ? iCell : -1;
  return SQLITE_OK;
}

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
static void hpVecFloat(HpExec *p, HpVec *pVec, int *pbNaN){
  HpVal *aVal = pVec->aVal;
  const u8 *aTag = pVec->aTag;
  int bNaN = 0;
  pVec->bFloat = 1;
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense ){
    hpFloatAvx2(aVal, aTag, p->batch.nRow, pbNaN);
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

/*
** Decode column iCol of the plan into pOut.
*/
static void hpRecordColumn(HpExec *p, int iCol, HpVec *pOut){
  const HpCol *pCol = &p->pPlan->aCol[iCol];
  const HpBatch *pBatch = &p->batch;
  int nStride = pBatch->nStride;
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

  pOut->bFloat = 0;
  if( pCol->iStore<0 ){
    HP_ROWS(p, {
      aTag[i] = HP_INT;
      aVal[i].i = pBatch->aRowid[i];
    })
    pOut->mType = HP_INT;
    return;
  }
  mn = 0;
  mx = 0xff;
  aType = pBatch->aType;
  aOfst = pBatch->aOfst;
  if( pCol->iStore<nStride ){
    aType += pCol->iStore;
    aOfst += pCol->iStore;
    mn = pBatch->aMin[pCol->iStore];
    mx = pBatch->aMax[pCol->iStore];
  }
  if( mn==mx && mn>=1 && mn<=7 ){
    /* All numbers of one width */
    int shift = aHpSer[mn].shift;
    memset(aTag, aHpSer[mn].tag, pBatch->nRow);
    HP_ROWS(p, {
      aVal[i].i = (i64)hpLoad8(&apRec[i][aOfst[i*nStride]]) >> shift;
    })
    mType = aHpSer[mn].tag;
  }else if( mx<12 ){
    HP_ROWS(p, {
      const struct HpSer *pSer = &aHpSer[aType[i*nStride]];
      u64 x = hpLoad8(&apRec[i][aOfst[i*nStride]]);
      aVal[i].i = (((i64)x >> pSer->shift) & pSer->mask) + pSer->add;
      aTag[i] = pSer->tag;
      mType |= pSer->seen;
    })
    bWide = mType & HP_WIDE;
    mType &= ~HP_WIDE;
  }else if( mn==mx && mn>=12 && mx<0x80 ){
    u32 n = (mn-12)>>1;
    mType = (mn&1) ? HP_TEXT : HP_BLOB;
    memset(aTag, mType, pBatch->nRow);
    HP_ROWS(p, {
      aVal[i].z = &apRec[i][aOfst[i*nStride]];
      aLen[i] = n;
    })
  }else if( mn>=12 && mx<0x80 ){
    HP_ROWS(p, {
      u32 t = aType[i*nStride];
      u8 tag = HP_BLOB - (t&1)*(HP_BLOB-HP_TEXT);
      aVal[i].z = &apRec[i][aOfst[i*nStride]];
      aLen[i] = (t-12)>>1;
      aTag[i] = tag;
      mType |= tag;
    })
  }else{
    HP_ROWS(p, {
      u32 t = aType[i*nStride];
      const u8 *z;
      u8 tag;
      if( t==HP_SER_SLOW ){
        const struct HpSlow *pSlow = &pBatch->aSlow[(i64)i*p->pPlan->nCol+iCol];
        t = pSlow->type;
        z = pSlow->z;
      }else{
        z = &apRec[i][aOfst[i*nStride]];
      }
      if( t<12 ){
        bWide |= t==6;
        aVal[i].i = (((i64)hpLoad8(z) >> aHpSer[t].shift) & aHpSer[t].mask)
                    + aHpSer[t].add;
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
  if( mType==HP_NUM && !bWide ){
    hpVecFloat(p, pOut, &bNaN);
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
}
#endif /* SQLITE_OMIT_HP */
