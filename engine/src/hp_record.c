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

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
# include <immintrin.h>
# define HP_AVX2 1
#endif

/* A record in its page */
typedef struct HpRecord HpRecord;
struct HpRecord {
  const u8 *z;           /* The part that lies in the page */
  u32 nLocal;            /* Bytes of that part */
  u32 nByte;             /* Bytes in all */
};

/* Records cut at a time: few enough that they are still in L1 */
#define HP_CUT 64

/*
** Decoding of serial types 0..11 without a branch: the eight bytes at the
** value, as a big-endian number, shifted, masked, plus a constant.
*/
static const u8 hpSerShift[12] = { 0,56,48,40,32,16,0,0,0,0,0,0 };
static const u64 hpSerMask[12] = {
  0, ~(u64)0,~(u64)0,~(u64)0,~(u64)0,~(u64)0,~(u64)0,~(u64)0, 0,0,0,0
};
static const u8 hpSerConst[12] = { 0,0,0,0,0,0,0,0,0,1,0,0 };
static const u8 hpSerTag[12] = {
  HP_NULL, HP_INT, HP_INT, HP_INT, HP_INT, HP_INT, HP_INT, HP_REAL,
  HP_INT, HP_INT, HP_NULL, HP_NULL
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
** Allocate the batch of p.  Returns HP_DECLINE if there is no memory.
*/
static int hpBatchInit(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpBatch *pBatch = &p->batch;
  int n = p->pCfg->nBatch;
  int i;
  pBatch->nAlloc = n;
  pBatch->aRowid = hpArenaAlloc(&p->vec, sizeof(i64)*n);
  pBatch->aCut = hpArenaAlloc(&p->vec, sizeof(pBatch->aCut[0])*(pPlan->nCol+1));
  if( pBatch->aRowid==0 || pBatch->aCut==0 ) return HP_DECLINE;
  for(i=0; i<pPlan->nCol; i++){
    pBatch->aCut[i].aSer = hpArenaAlloc(&p->vec, sizeof(u32)*n);
    pBatch->aCut[i].apVal = hpArenaAlloc(&p->vec, sizeof(u8*)*n);
    if( pBatch->aCut[i].aSer==0 || pBatch->aCut[i].apVal==0 ){
      return HP_DECLINE;
    }
  }
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
  BtShared *pBt = p->db->aDb[p->pPlan->iDb].pBt->pBt;
  u32 nPg = pBt->usableSize - 4;
  u32 n = pRec->nLocal;
  Pgno iPg = get4byte(&pRec->z[n]);
  u8 *aOut;
  assert( nWant<=pRec->nByte && nWant>n );
  if( (i64)nWant+p->batch.side.nTotal>p->nMemory ) return HP_DECLINE;
  aOut = hpArenaAlloc(&p->batch.side, (i64)nWant+HP_SLACK);
  if( aOut==0 ) return HP_DECLINE;
  memcpy(aOut, pRec->z, n);
  while( n<nWant ){
    DbPage *pDb;
    const u8 *aData;
    u32 nCopy = MIN(nPg, nWant-n);
    int rc;
    if( iPg<2 || iPg>btreePagecount(pBt) ) return HP_DECLINE;
    rc = sqlite3PagerGet(pBt->pPager, iPg, &pDb, PAGER_GET_READONLY);
    if( rc ) return rc;
    aData = sqlite3PagerGetData(pDb);
    memcpy(&aOut[n], &aData[4], nCopy);
    iPg = get4byte(aData);
    sqlite3PagerUnrefNotNull(pDb);
    n += nCopy;
  }
  memset(&aOut[n], 0, HP_SLACK);
  *pz = aOut;
  return SQLITE_OK;
}

/*
** Cut one record, whatever it looks like, into row iRow of the batch.
*/
static int hpCutSlow(HpExec *p, const HpRecord *pRec, int iRow){
  const HpPlan *pPlan = p->pPlan;
  const u8 *z = pRec->z;
  u32 nHdr;              /* Bytes of the header */
  u32 iHdr;              /* Place in the header */
  u64 iVal;              /* Place of the value of column iCol */
  int iCol;              /* Column of the record */
  int k = 0;             /* Next column of the plan */
  int rc;

  if( pRec->nByte==0 ) return HP_DECLINE;
  iHdr = getVarint32(z, nHdr);
  if( nHdr>98307 || nHdr>pRec->nByte || iHdr>nHdr ) return HP_DECLINE;
  if( nHdr>pRec->nLocal ){
    rc = hpRecordOverflow(p, pRec, nHdr, &z);
    if( rc ) return rc;
  }
  while( k<pPlan->nCol && pPlan->aCol[k].iStore<0 ) k++;
  iVal = nHdr;
  for(iCol=0; k<pPlan->nCol && iHdr<nHdr; iCol++){
    u32 t;
    iHdr += getVarint32(&z[iHdr], t);
    if( pPlan->aCol[k].iStore==iCol ){
      p->batch.aCut[k].aSer[iRow] = t;
      /* An offset for now: the record may have to move */
      p->batch.aCut[k].apVal[iRow] = (const u8*)SQLITE_INT_TO_PTR(iVal);
      k++;
    }
    iVal += sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || iVal>pRec->nByte ) return HP_DECLINE;
  }
  if( iHdr>=nHdr && iVal!=pRec->nByte ) return HP_DECLINE;
  for(iCol=k; iCol<pPlan->nCol; iCol++){
    p->batch.aCut[iCol].aSer[iRow] = HP_SER_NONE;
  }
  if( iVal>pRec->nLocal ){
    rc = hpRecordOverflow(p, pRec, (u32)iVal, &z);
    if( rc ) return rc;
  }
  for(iCol=0; iCol<k; iCol++){
    if( pPlan->aCol[iCol].iStore<0 ) continue;
    p->batch.aCut[iCol].apVal[iRow] =
        &z[SQLITE_PTR_TO_INT(p->batch.aCut[iCol].apVal[iRow])];
  }
  return SQLITE_OK;
}

/*
** Cut nRec records into rows iRow, iRow+1, ... of the batch.  Plain C.
*/
static int hpCutPlain(HpExec *p, const HpRecord *aRec, int nRec, int iRow){
  const HpPlan *pPlan = p->pPlan;
  int iFirst = pPlan->bRowid;
  int nCol = pPlan->nCol;
  int i, k, rc;
  for(i=0; i<nRec; i++, iRow++){
    const HpRecord *pRec = &aRec[i];
    const u8 *z = pRec->z;
    u32 nHdr = z[0];
    if( nHdr<0x80 && (int)nHdr>=pPlan->mxCol+2 && nHdr<=pRec->nLocal ){
      u32 iVal = nHdr;
      int iCol = 0;
      u8 mLong = 0;
      for(k=iFirst; k<nCol; k++){
        int iStore = pPlan->aCol[k].iStore;
        for(; iCol<iStore; iCol++){
          mLong |= z[1+iCol];
          iVal += sqlite3SmallTypeSizes[z[1+iCol] & 0x7f];
        }
        p->batch.aCut[k].aSer[iRow] = z[1+iStore];
        p->batch.aCut[k].apVal[iRow] = &z[iVal];
      }
      if( iCol<=pPlan->mxCol ){
        mLong |= z[1+iCol];
        iVal += sqlite3SmallTypeSizes[z[1+iCol] & 0x7f];
      }
      if( mLong<0x80 && iVal<=pRec->nLocal
       && ((int)nHdr!=pPlan->mxCol+2 || iVal==pRec->nByte)
      ){
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
** The same with AVX2: sixteen serial types at a time.
*/
__attribute__((target("avx2")))
static int hpCutAvx2(HpExec *p, const HpRecord *aRec, int nRec, int iRow){
  const HpPlan *pPlan = p->pPlan;
  const __m128i size = _mm_setr_epi8(0,1,2,3,4,6,8,8,0,0,0,0,0,0,1,1);
  const __m128i c12 = _mm_set1_epi8(12);
  const __m128i c15 = _mm_set1_epi8(15);
  const __m128i c7f = _mm_set1_epi8(0x7f);
  int iFirst = pPlan->bRowid;
  int nCol = pPlan->nCol;
  int nType = pPlan->mxCol+1;      /* Serial types needed */
  const struct HpCut *aCut = p->batch.aCut;
  const HpCol *aCol = pPlan->aCol;
  int i, k, rc;
  u16 aOfst[HP_MX_COL+16];

  assert( nType<=HP_MX_COL );
  for(i=0; i<nRec; i++, iRow++){
    const HpRecord *pRec = &aRec[i];
    const u8 *z = pRec->z;
    u32 nHdr = z[0];
    if( nHdr<0x80 && (int)nHdr>=nType+1 && nHdr<=pRec->nLocal ){
      u32 iVal = nHdr;
      u32 mLong = 0;
      int iType;
      for(iType=0; iType<nType; iType+=16){
        __m128i t = _mm_loadu_si128((const __m128i*)&z[1+iType]);
        int n = nType-iType;
        u32 mUse = n>=16 ? 0xffff : ((1u<<n)-1);
        __m128i isBig = _mm_cmpgt_epi8(t, c15);
        __m128i big = _mm_and_si128(_mm_srli_epi16(_mm_sub_epi8(t,c12),1), c7f);
        __m128i sz = _mm_blendv_epi8(_mm_shuffle_epi8(size, t), big, isBig);
        __m256i w = _mm256_cvtepu8_epi16(sz);
        __m256i s = w;
        __m128i lo, hi;
        mLong |= (u32)_mm_movemask_epi8(t) & mUse;
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
        n = (n>16 ? 16 : n) - 1;
        iVal = (u32)aOfst[iType+n] +
               sqlite3SmallTypeSizes[z[1+iType+n] & 0x7f];
      }
      if( mLong==0 && iVal<=pRec->nLocal
       && ((int)nHdr!=nType+1 || iVal==pRec->nByte)
      ){
        for(k=iFirst; k<nCol; k++){
          int iStore = aCol[k].iStore;
          aCut[k].aSer[iRow] = z[1+iStore];
          aCut[k].apVal[iRow] = &z[aOfst[iStore]];
        }
        continue;
      }
    }
    rc = hpCutSlow(p, pRec, iRow);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}
#endif /* HP_AVX2 */

/* Length of the varint at z.  Nine bytes and 8 more must be readable. */
static SQLITE_INLINE int hpVarintLen(const u8 *z){
  int n = 1;
  if( z[0]<0x80 ) return 1;
  while( n<9 && z[n-1]>=0x80 ) n++;
  return n;
}

/*
** Append rows of leaf iLeaf of the run to the batch, from cell *piCell on,
** until the batch is full or the leaf is used up, and set *piCell to the
** next cell, or to -1 when there is none.
*/
static int hpRecordLeaf(
  HpExec *p,
  const HpRun *pRun,
  int iLeaf,
  int *piCell
){
  const HpPlan *pPlan = p->pPlan;
  HpBatch *pBatch = &p->batch;
  BtShared *pBt = p->db->aDb[pPlan->iDb].pBt->pBt;
  int nUsable = (int)pBt->usableSize;
  u32 mxLocal = pBt->maxLeaf;
  u32 mxLength = (u32)p->db->aLimit[SQLITE_LIMIT_LENGTH];
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aHdr = &aPage[pRun->iHdr];
  const u8 *aEnd = &aPage[nUsable];
  int nCell = get2byte(&aHdr[3]);
  int iMin = pRun->iHdr+8+2*nCell; /* Lowest place of a cell */
  int iCell = *piCell;
  HpRecord aRec[HP_CUT];

  if( aHdr[0]!=(PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF)
   || nCell>(int)MX_CELL(pBt) || iMin>nUsable
  ){
    return HP_DECLINE;
  }
  if( nCell==0 && pRun->bRoot==0 ) return HP_DECLINE;
  while( iCell<nCell && pBatch->nRow<pBatch->nAlloc ){
    int n = MIN(HP_CUT, MIN(nCell-iCell, pBatch->nAlloc-pBatch->nRow));
    const u8 *aPtr = &aHdr[8+2*iCell];
    int i, rc;
    for(i=0; i<n; i++){
      int ofst = get2byte(&aPtr[2*i]);
      const u8 *z = &aPage[ofst];
      u32 nByte;
      if( ofst<iMin || ofst>nUsable-4 ) return HP_DECLINE;
      if( z[0]<0x80 ){
        nByte = *(z++);
      }else{
        z += sqlite3GetVarint32(z, &nByte);
      }
      if( pPlan->bRowid ){
        z += sqlite3GetVarint(z, (u64*)&pBatch->aRowid[pBatch->nRow+i]);
      }else{
        z += hpVarintLen(z);
      }
      aRec[i].z = z;
      aRec[i].nByte = nByte;
      if( nByte<=mxLocal ){
        aRec[i].nLocal = nByte;
        if( &z[nByte]>aEnd || nByte==0 ) return HP_DECLINE;
      }else{
        u32 mnLocal = pBt->minLeaf;
        u32 nLocal = mnLocal + (nByte-mnLocal)%(nUsable-4);
        if( nLocal>mxLocal ) nLocal = mnLocal;
        aRec[i].nLocal = nLocal;
        if( nByte>mxLength || &z[nLocal+4]>aEnd ) return HP_DECLINE;
      }
    }
    if( pPlan->mxCol<0 ){
      rc = SQLITE_OK;
#ifdef HP_AVX2
    }else if( p->bAvx2 && pPlan->mxCol<HP_MX_COL ){
      rc = hpCutAvx2(p, aRec, n, pBatch->nRow);
#endif
    }else{
      rc = hpCutPlain(p, aRec, n, pBatch->nRow);
    }
    if( rc ) return rc;
    pBatch->nRow += n;
    iCell += n;
  }
  *piCell = iCell<nCell ? iCell : -1;
  return SQLITE_OK;
}

/*
** Decode column pCol of the batch into pOut, for the rows selected.
*/
static void hpRecordColumn(
  HpExec *p,             /* The execution */
  const HpCol *pCol,     /* The column */
  const struct HpCut *pCut,  /* Its serial types and values */
  HpVec *pOut            /* Vector to fill */
){
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  u8 mType = 0;
  u32 mn = 0xffffffff;   /* Smallest serial type */
  u32 mx = 0;            /* Largest */
  int ii;

  if( pCol->iStore<0 ){
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii];
      pOut->aTag[i] = HP_INT;
      pOut->aVal[i].i = p->batch.aRowid[i];
    }
    pOut->mType = HP_INT;
    return;
  }
  for(ii=0; ii<nSel; ii++){
    u32 t = pCut->aSer[aSel[ii]];
    mn = MIN(mn, t);
    mx = MAX(mx, t);
  }
  if( mx<12 ){
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii];
      u32 t = pCut->aSer[i];
      u64 x = hpLoad8(pCut->apVal[i]);
      pOut->aVal[i].i = (((i64)x >> hpSerShift[t]) & hpSerMask[t])
                        + hpSerConst[t];
      pOut->aTag[i] = hpSerTag[t];
      mType |= hpSerTag[t];
    }
  }else if( mn>=12 && mx!=HP_SER_NONE ){
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii];
      u32 t = pCut->aSer[i];
      u8 tag = (t&1) ? HP_TEXT : HP_BLOB;
      pOut->aVal[i].z = pCut->apVal[i];
      pOut->aLen[i] = (t-12)>>1;
      pOut->aTag[i] = tag;
      mType |= tag;
    }
  }else{
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii];
      u32 t = pCut->aSer[i];
      u8 tag;
      if( t<12 ){
        u64 x = hpLoad8(pCut->apVal[i]);
        pOut->aVal[i].i = (((i64)x >> hpSerShift[t]) & hpSerMask[t])
                          + hpSerConst[t];
        tag = hpSerTag[t];
      }else if( t==HP_SER_NONE ){
        pOut->aVal[i] = pCol->dflt;
        pOut->aLen[i] = pCol->nDflt;
        tag = pCol->dfltTag;
      }else{
        pOut->aVal[i].z = pCut->apVal[i];
        pOut->aLen[i] = (t-12)>>1;
        tag = (t&1) ? HP_TEXT : HP_BLOB;
      }
      pOut->aTag[i] = tag;
      mType |= tag;
    }
  }
  if( pCol->bReal && (mType & HP_INT) ){
    mType = (mType & ~HP_INT) | HP_REAL;
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii];
      if( pOut->aTag[i]==HP_INT ){
        pOut->aVal[i].r = (double)pOut->aVal[i].i;
        pOut->aTag[i] = HP_REAL;
      }
    }
  }
  if( mType & HP_REAL ){
    /* A NaN in the file is read as NULL */
    int bNaN = 0;
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii];
      bNaN |= pOut->aTag[i]==HP_REAL && pOut->aVal[i].r!=pOut->aVal[i].r;
    }
    if( bNaN ){
      mType |= HP_NULL;
      for(ii=0; ii<nSel; ii++){
        int i = aSel[ii];
        if( pOut->aTag[i]==HP_REAL && pOut->aVal[i].r!=pOut->aVal[i].r ){
          pOut->aTag[i] = HP_NULL;
        }
      }
    }
  }
  pOut->mType = mType;
}
#endif /* SQLITE_OMIT_HP */
