/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_record: cutting records: from the cells of leaf pages to a batch.
**
**    hpRecordInit()      memory for a batch of rows
**    hpRecordEmpty()     no rows any more
**    hpRecordLeaf()     cut the records of a leaf, append them to the batch
**    hpRecordCellHead()       the varints that a cell of a table begins with
**    hpRecordIntegersAvx2()   integers of records, four at a time
**    hpRecordIsSound()  would stock take a record for corrupt?
**
** Cutting finds, for each row and each column that the plan uses, the serial
** type and the address of the value, and decodes nothing.  Columns are
** decoded later and one at a time, only for the rows still selected.
**
** A record begins with a header of serial types, so the place of column i
** is the sum of the sizes of the columns before it.  Where all serial types
** up to the last column used are single bytes (they are, unless a string is
** longer than 57 bytes) and the record lies in the page, that is a simple loop
** (plain C), or the headers of 32 records are transposed, so that one vector
** holds the types of a column, sizes come from a byte shuffle, and offsets are
** added up column by column for 32 rows at once (AVX2).  Every other row takes
** hpCutSlow(): long types, headers and values that reach into overflow pages,
** records with fewer columns than the table.
**
** The cells themselves are found 32 at a time as well: the first 16 bytes of
** each are transposed, which gives the lengths of the two varints that a cell
** of a table begins with, hence the place of its record, and often the first
** serial types too: then a test of a column near the front of the record
** (HpBound) is made for 32 rows before anything is stored of them.
**
** What stock would call SQLITE_CORRUPT is declined, and so is anything else
** that looks odd.  Stock parses a header as far as the column that it wants, which
** is one of the plan's: damage behind them is seen by neither.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Cells between the one that is read and the one that is asked for */
#define HP_CELL_AHEAD 12

/* Records cut at a time */
#define HP_CUT 32

/* Records on their way from a page into the batch */
typedef struct HpCells HpCells;
struct HpCells {
  const u8 *az[HP_CUT];  /* HpRecord.z of each, */
  u32 aLocal[HP_CUT];    /* its nLocal, */
  u32 aByte[HP_CUT];     /* and its nByte */
};

/*
** Remove all rows from the batch.
*/
static void hpRecordEmpty(HpBatch *pBatch){
  assert( pBatch->nCol>=1 && pBatch->nRow<=pBatch->nAlloc );
  pBatch->nRow = 0;
  pBatch->nSkip = 0;
  memset(pBatch->aMin, 0xff, HP_CUT*pBatch->nCol);
  memset(pBatch->aMax, 0, HP_CUT*pBatch->nCol);
  if( pBatch->side.pBlock ) hpArenaClear(&pBatch->side);
}

/*
** Allocate the batch of p.  Returns HP_DECLINE if there is no memory.
*/
static int hpRecordInit(HpWorker *p){
  const HpSourcePlan *pPlan = &p->pPipe->source;
  HpBatch *pBatch = &p->batch;
  i64 n = p->pCfg->nBatch;
  assert( hpSerialIsSane() );
  assert( n>=1 && n<=HP_BATCH && pBatch->aType==0 );
  pBatch->nAlloc = (int)n;
  pBatch->nStride = (int)n + HP_CUT;
  pBatch->nCol = MAX(1, pPlan->nCol);
  pBatch->aRowid = hpArenaAlloc(&p->vec, sizeof(i64)*n);
  pBatch->aType = hpArenaAlloc(&p->vec, (i64)pBatch->nStride*pBatch->nCol);
  pBatch->aOfst = hpArenaAlloc(&p->vec,
                               sizeof(u16)*(i64)pBatch->nStride*pBatch->nCol);
  pBatch->apRec = hpArenaAlloc(&p->vec, sizeof(u8*)*n);
  pBatch->aMin = hpArenaAlloc(&p->vec, 2*HP_CUT*(i64)pBatch->nCol);
  if( pBatch->aRowid==0 || pBatch->aType==0 || pBatch->aOfst==0
   || pBatch->apRec==0 || pBatch->aMin==0
  ){
    return HP_DECLINE;
  }
  pBatch->aMax = &pBatch->aMin[HP_CUT*pBatch->nCol];
  hpRecordEmpty(pBatch);
  return SQLITE_OK;
}

/*
** Read overflow pages from page iPg on straight from the file, for nByte bytes
** of payload, to aTo.  Return how many were read, and set *piNext to the page
** that comes after them, or return 0: they are to come from the pager.
**
** The scan's mutex is held.  It is let go of while reading, unless frames of
** the WAL have to be looked up.
*/
static u32 hpRecordChain(
  HpWorker *p,
  Pgno iPg,
  u8 *aTo,
  u32 nByte,
  Pgno *piNext
){
#ifdef HP_PREADV
  BtShared *pBt = p->pScan->db->aDb[p->pPipe->source.iDb].pBt->pBt;
  int bUnlock = !pagerUseWal(pBt->pPager);
  int n;
  assert( hpThreadIsLocked(p->pScan) && nByte>0 );
  if( !hpPageDirect(p->pCfg, pBt->pPager) ) return 0;
  if( bUnlock ) hpThreadUnlock(p->pScan);
  n = hpChainRead(pBt, &p->guess, HP_CHAIN_SINGLE|HP_CHAIN_FRAMES, iPg, 0, aTo,
                  nByte, 0, piNext);
  if( bUnlock ) hpThreadLock(p->pScan);
  if( n>0 ) hpConfigStat(p->pScan->db, HP_STAT_CHAIN);
  return n;
#else
  return 0;
#endif
}

/*
** Page iPg of a chain of overflow pages names iNext.  Stock does not read pages
** of which it needs no byte if the pointer maps say what comes after them
** (getOverflowPage()).  True if they say the same or nothing.
*/
static int hpRecordLink(BtShared *pBt, Pgno iPg, Pgno iNext){
  int bSame = 1;
#ifndef SQLITE_OMIT_AUTOVACUUM
  Pgno iGuess = iPg+1;
  assert( iPg>=2 && iPg<=btreePagecount(pBt) );
  while( hpPageIsPtrmap(pBt, iGuess) || iGuess==PENDING_BYTE_PAGE(pBt) ){
    iGuess++;
  }
  if( iGuess<=btreePagecount(pBt) ){
    Pgno iMap = hpPagePtrmap(pBt, iGuess);
    DbPage *pDb;
    const u8 *aEntry;
    if( sqlite3PagerGet(pBt->pPager, iMap, &pDb, PAGER_GET_READONLY) ) return 0;
    aEntry = (const u8*)sqlite3PagerGetData(pDb) + 5*(iGuess-iMap-1);
    if( aEntry[0]<PTRMAP_ROOTPAGE || aEntry[0]>PTRMAP_BTREE ){
      bSame = 0;
    }else if( aEntry[0]==PTRMAP_OVERFLOW2 && get4byte(&aEntry[1])==iPg ){
      bSame = iNext==iGuess;
    }
    sqlite3PagerUnrefNotNull(pDb);
  }
#endif
  return bSame;
}

/*
** Put the first nWant bytes of a record with overflow pages together in
** memory of the batch.  *pz is set to them.
*/
static int hpRecordOverflow(
  HpWorker *p,             /* The execution */
  const HpRecord *pRec,  /* The record */
  u32 nWant,             /* Bytes wanted: more than pRec->nLocal */
  int bGap,              /* There may be a page of which no byte is used */
  const u8 **pz          /* OUT: the bytes, HP_SLACK more are readable */
){
  BtShared *pBt = p->pScan->db->aDb[p->pPipe->source.iDb].pBt->pBt;
  u32 nPg = pBt->usableSize - 4;
  u32 n = pRec->nLocal;
  Pgno iPg = get4byte(&pRec->z[n]);
  u8 *aOut;
  u32 nPage;             /* Pages read in a run */
  int rc = SQLITE_OK;
  assert( nWant<=pRec->nByte && nWant>n && pRec->nLocal<pRec->nByte );
  /* As sqlite3VdbeMemFromBtree(): the chain would have to be a loop */
  if( nWant>(i64)pBt->pageSize*btreePagecount(pBt) ) return HP_DECLINE;
  bGap = bGap && ISAUTOVACUUM(pBt);
  if( !hpBudgetMay(p, nWant, HP_KEEP) ) return HP_DECLINE;
  aOut = hpArenaAlloc(&p->batch.side, (i64)nWant+HP_SLACK);
  if( aOut==0 ) return HP_DECLINE;
  memcpy(aOut, pRec->z, n);
  hpThreadLock(p->pScan);
  hpSourceChained(p->pScan->pSource, (nWant-n+nPg-1)/nPg);
  while( n<nWant ){
    DbPage *pDb;
    const u8 *aData;
    u32 nCopy;
    Pgno iNext;
    assert( hpThreadIsLocked(p->pScan) );
    nPage = hpRecordChain(p, iPg, &aOut[n], nWant-n, &iNext);
    if( nPage>0 ){
      n += MIN(nWant-n, nPage*nPg);
      if( bGap ){
        Pgno i;
        for(i=iPg; i<iPg+nPage && rc==SQLITE_OK; i++){
          Pgno iTo = i<iPg+nPage-1 ? i+1 : iNext;
          if( !hpRecordLink(pBt, i, iTo) ) rc = HP_DECLINE;
        }
        if( rc ) break;
      }
      iPg = iNext;
      continue;
    }
    nCopy = MIN(nPg, nWant-n);
    if( iPg<2 || iPg>btreePagecount(pBt) ){
      rc = HP_DECLINE;
      break;
    }
    rc = sqlite3PagerGet(pBt->pPager, iPg, &pDb, PAGER_GET_READONLY);
    if( rc ) break;
    aData = sqlite3PagerGetData(pDb);
    memcpy(&aOut[n], &aData[4], nCopy);
    iNext = get4byte(aData);
    sqlite3PagerUnrefNotNull(pDb);
    n += nCopy;
    if( bGap && !hpRecordLink(pBt, iPg, iNext) ){
      rc = HP_DECLINE;
      break;
    }
    iPg = iNext;
  }
  assert( n<=nWant && (rc!=SQLITE_OK || n==nWant) );
  hpThreadUnlock(p->pScan);
  memset(&aOut[n], 0, HP_SLACK);
  *pz = aOut;
  return rc;
}

/*
** Values of the first nCol columns of the plan go on on overflow pages.  Return
** true if SQLite would not have to read all of these: see HpSourcePlan.eTypeOnly.
*/
static int hpRecordUnread(
  const HpSourcePlan *pPlan,
  const HpRecord *pRec,
  const struct HpSlow *aSlow,
  int nCol               /* Columns of the plan that the record has */
){
  int k;
  assert( nCol>=pPlan->bRowid && nCol<=pPlan->nCol );
  if( pPlan->eTypeOnly!=HP_ONLY_LENGTH ) return pPlan->eTypeOnly!=0;
  for(k=pPlan->bRowid; k<nCol; k++){
    u32 t = aSlow[k].type;
    u32 iEnd = SQLITE_PTR_TO_INT(aSlow[k].z) + sqlite3VdbeSerialTypeLen(t);
    if( iEnd>pRec->nLocal && t>=12 && (t & 1)==0 ) return 1;
  }
  return 0;
}

/*
** Cut record i of pCells, whatever it looks like, into row iRow of the batch.
*/
static int hpCutSlow(HpWorker *p, const HpCells *pCells, int i, int iRow){
  const HpSourcePlan *pPlan = &p->pPipe->source;
  HpBatch *pBatch = &p->batch;
  struct HpSlow *aSlow;
  HpRecord rec;
  const u8 *z;
  u32 nHdr;              /* Bytes of the header */
  u32 iHdr;              /* Place in the header */
  u64 iVal;              /* Place of the value of column iCol */
  u64 iUsed;             /* Where the values of the plan's columns end */
  u32 nPg = p->pScan->db->aDb[pPlan->iDb].pBt->pBt->usableSize - 4;
  int bGap = 0;          /* There may be a page between them */
  int iCol;              /* Column of the record */
  int k = pPlan->bRowid; /* Next column of the plan */
  int rc;

  assert( i>=0 && i<HP_CUT && iRow>=0 && iRow<pBatch->nAlloc );
  rec.z = z = pCells->az[i];
  rec.nLocal = pCells->aLocal[i];
  rec.nByte = pCells->aByte[i];
  assert( rec.nLocal<=rec.nByte );
  if( pBatch->aSlow==0 ){
    pBatch->aSlow = hpArenaAlloc(&p->vec,
        (i64)pBatch->nAlloc*pPlan->nCol*sizeof(struct HpSlow));
    if( pBatch->aSlow==0 ) return HP_DECLINE;
  }
  aSlow = &pBatch->aSlow[(i64)iRow*pPlan->nCol];
  pBatch->apRec[iRow] = z;         /* For hpFoundPlace() */
  for(iCol=k; iCol<pPlan->nCol; iCol++){
    pBatch->aType[iCol*pBatch->nStride+iRow] = HP_SER_SLOW;
    pBatch->aMax[iCol*HP_CUT] = HP_SER_SLOW;
  }
  if( rec.nByte==0 ) return HP_DECLINE;
  iHdr = getVarint32(z, nHdr);
  if( nHdr>98307 || nHdr>rec.nByte || iHdr>nHdr ) return HP_DECLINE;
  if( nHdr>rec.nLocal ){
    if( pPlan->eTypeOnly ) return HP_DECLINE;
    rc = hpRecordOverflow(p, &rec, nHdr, 0, &z);
    if( rc ) return rc;
  }
  iVal = nHdr;
  iUsed = MAX(nHdr, rec.nLocal);
  for(iCol=0; k<pPlan->nCol && iHdr<nHdr; iCol++){
    u32 t;
    iHdr += getVarint32(&z[iHdr], t);
    if( pPlan->aCol[k].iStore==iCol ){
      aSlow[k].type = t;
      /* An offset for now: the record may have to move */
      aSlow[k].z = (const u8*)SQLITE_INT_TO_PTR(iVal);
      k++;
      bGap |= iVal>=iUsed+nPg;
      iUsed = MAX(iUsed, iVal+sqlite3VdbeSerialTypeLen(t));
    }
    iVal += sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || iVal>rec.nByte ) return HP_DECLINE;
  }
  if( iHdr>=nHdr && iVal!=rec.nByte ) return HP_DECLINE;
  if( pPlan->bIdxRowid && (iHdr<nHdr || k<pPlan->nCol) ) return HP_DECLINE;
  assert( iVal<=rec.nByte && k<=pPlan->nCol );
  for(iCol=k; iCol<pPlan->nCol; iCol++) aSlow[iCol].type = HP_SER_NONE;
  if( iVal>rec.nLocal ){
    if( hpRecordUnread(pPlan, &rec, aSlow, k) ) return HP_DECLINE;
    rc = hpRecordOverflow(p, &rec, (u32)iVal, bGap, &z);
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
static int hpCutPlain(HpWorker *p, const HpCells *pCells, int nRec, int iRow){
  const HpSourcePlan *pPlan = &p->pPipe->source;
  HpBatch *pBatch = &p->batch;
  int nType = pPlan->mxCol+1;      /* Serial types needed */
  int mxHdr = pPlan->bIdxRowid ? nType+1 : 0x7f;
  int i, rc;
  assert( nType>0 && nRec<=HP_CUT && iRow+nRec<=pBatch->nAlloc );
  for(i=0; i<nRec; i++, iRow++){
    const u8 *z = pCells->az[i];
    u32 nHdr = z[0];
    pBatch->apRec[iRow] = z;
    if( (int)nHdr<=mxHdr && (int)nHdr>nType && nHdr<=pCells->aLocal[i]
     && nType<=HP_MX_COL
    ){
      u32 iVal = nHdr;
      u8 mLong = 0;
      int k = pPlan->bRowid;
      int iCol;
      for(iCol=0; iCol<nType; iCol++){
        u8 t = z[1+iCol];
        mLong |= t;
        if( iCol==pPlan->aCol[k].iStore ){
          pBatch->aType[k*pBatch->nStride+iRow] = t;
          pBatch->aOfst[k*pBatch->nStride+iRow] = (u16)iVal;
          if( t<pBatch->aMin[k*HP_CUT] ) pBatch->aMin[k*HP_CUT] = t;
          if( t>pBatch->aMax[k*HP_CUT] ) pBatch->aMax[k*HP_CUT] = t;
          k++;
        }
        iVal += sqlite3SmallTypeSizes[t & 0x7f];
      }
      assert( k==pPlan->nCol );
      if( mLong<0x80 && iVal<=pCells->aLocal[i]
       && ((int)nHdr!=nType+1 || iVal==pCells->aByte[i])
      ){
        continue;
      }
    }
    rc = hpCutSlow(p, pCells, i, iRow);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

#ifdef HP_AVX2
/* One of four steps that transpose 16 vectors of 16 bytes (in each half) */
#define HP_UNPACK(TO,FROM,I) \
  TO[2*I] = _mm256_unpacklo_epi8(FROM[I], FROM[I+8]); \
  TO[2*I+1] = _mm256_unpackhi_epi8(FROM[I], FROM[I+8]);
#define HP_UNPACK8(TO,FROM) \
  HP_UNPACK(TO,FROM,0) HP_UNPACK(TO,FROM,1) HP_UNPACK(TO,FROM,2) \
  HP_UNPACK(TO,FROM,3) HP_UNPACK(TO,FROM,4) HP_UNPACK(TO,FROM,5) \
  HP_UNPACK(TO,FROM,6) HP_UNPACK(TO,FROM,7)

/* Vectors I and I+16 of x[], of what Z(I) and Z(I+16) point to */
#define HP_LOAD2(Z,I) \
  x[I] = _mm256_inserti128_si256(_mm256_castsi128_si256( \
             _mm_loadu_si128((const __m128i*)(Z(I)))), \
             _mm_loadu_si128((const __m128i*)(Z((I)+16))), 1);

/* Transpose 16 bytes at each of Z(0)..Z(31): then x[i] has byte i of each */
#define HP_TRANSPOSE(Z) \
  HP_LOAD2(Z,0) HP_LOAD2(Z,1) HP_LOAD2(Z,2) HP_LOAD2(Z,3) \
  HP_LOAD2(Z,4) HP_LOAD2(Z,5) HP_LOAD2(Z,6) HP_LOAD2(Z,7) \
  HP_LOAD2(Z,8) HP_LOAD2(Z,9) HP_LOAD2(Z,10) HP_LOAD2(Z,11) \
  HP_LOAD2(Z,12) HP_LOAD2(Z,13) HP_LOAD2(Z,14) HP_LOAD2(Z,15) \
  HP_UNPACK8(y, x) HP_UNPACK8(x, y) HP_UNPACK8(y, x) HP_UNPACK8(x, y)

/* The lower and the upper 16 of 32 bytes, as 16 bits each; and back */
#define HP_LO16(X) _mm256_cvtepu8_epi16(_mm256_castsi256_si128(X))
#define HP_HI16(X) _mm256_cvtepu8_epi16(_mm256_extracti128_si256(X, 1))
#define HP_PACK16(LO,HI) \
  _mm256_permute4x64_epi64(_mm256_packs_epi16(LO, HI), 0xd8)

/* Where 16-bit numbers A are not larger than B */
#define HP_LE16(A,B) _mm256_cmpeq_epi16(_mm256_min_epu16(A, B), A)

/* 16 numbers at A, cut off at 0xffff, as 16 bits each */
#define HP_LOAD16(A) \
  _mm256_permute4x64_epi64(_mm256_packus_epi32( \
      _mm256_loadu_si256((const __m256i*)(A)), \
      _mm256_loadu_si256((const __m256i*)&(A)[8])), 0xd8)

/*
** Sizes of the values of 32 serial types of one byte.
*/
__attribute__((target("avx2")))
static SQLITE_INLINE __m256i hpSizeAvx2(__m256i t){
  const __m256i size = _mm256_setr_epi8(
      0,1,2,3,4,6,8,8,0,0,0,0,0,0,1,1, 0,1,2,3,4,6,8,8,0,0,0,0,0,0,1,1);
  __m256i big = _mm256_and_si256(
      _mm256_srli_epi16(_mm256_sub_epi8(t, _mm256_set1_epi8(12)), 1),
      _mm256_set1_epi8(0x7f));
  return _mm256_blendv_epi8(_mm256_shuffle_epi8(size, t), big,
                            _mm256_cmpgt_epi8(t, _mm256_set1_epi8(15)));
}

/*
** The same with AVX2: nRec is HP_CUT at most.
*/
__attribute__((target("avx2")))
static int hpCutAvx2(HpWorker *p, HpCells *pCells, int nRec, int iRow){
  const HpSourcePlan *pPlan = &p->pPipe->source;
  HpBatch *pBatch = &p->batch;
  int nStride = pBatch->nStride;
  int nType = pPlan->mxCol+1;      /* Serial types needed */
  int mxHdr = pPlan->bIdxRowid ? nType+1 : 0x7f;
  int k = pPlan->bRowid;           /* Next column of the plan */
  int iStore = pPlan->aCol[k].iStore;
  const u8 **az = pCells->az;
  __m256i hdr, lo, hi, ok, end;
  __m256i mLong = _mm256_setzero_si256();
  u32 mBad;
  int i, iAt, rc;

  assert( nRec>0 && nRec<=HP_CUT && nType>0 && nType<HP_MX_COL );
  assert( iRow+nRec<=pBatch->nAlloc && iRow+HP_CUT<=nStride );
  for(i=nRec; i<HP_CUT; i++){
    az[i] = az[0];
    pCells->aLocal[i] = pCells->aByte[i] = 0;
  }
  memcpy(&pBatch->apRec[iRow], az, sizeof(az[0])*nRec);
  hdr = lo = hi = mLong;
  for(iAt=0; iAt<=nType; iAt+=16){
    __m256i x[16], y[16];
    int n = MIN(16, nType+1-iAt);
#define HP_RECORD(I) &az[I][iAt]
    HP_TRANSPOSE(HP_RECORD)
    /* Now x[i] are the types of column iAt+i-1 */
    i = 0;
    if( iAt==0 ){
      hdr = x[i++];
      lo = HP_LO16(hdr);
      hi = HP_HI16(hdr);
    }
    for(; i<n; i++){
      __m256i t = x[i];
      __m256i sz = hpSizeAvx2(t);
      mLong = _mm256_or_si256(mLong, t);
      if( iAt+i-1==iStore ){
        __m256i *pMin = (__m256i*)&pBatch->aMin[k*HP_CUT];
        __m256i *pMax = (__m256i*)&pBatch->aMax[k*HP_CUT];
        u16 *aOfst = &pBatch->aOfst[k*nStride+iRow];
        _mm256_storeu_si256((__m256i*)&pBatch->aType[k*nStride+iRow], t);
        _mm256_storeu_si256((__m256i*)aOfst, lo);
        _mm256_storeu_si256((__m256i*)&aOfst[16], hi);
        _mm256_storeu_si256(pMin,
            _mm256_min_epu8(_mm256_loadu_si256(pMin), t));
        _mm256_storeu_si256(pMax,
            _mm256_max_epu8(_mm256_loadu_si256(pMax), t));
        k++;
        iStore = k<pPlan->nCol ? pPlan->aCol[k].iStore : -1;
      }
      lo = _mm256_add_epi16(lo, HP_LO16(sz));
      hi = _mm256_add_epi16(hi, HP_HI16(sz));
    }
  }
  assert( k==pPlan->nCol );
  /* Rows that may stay: the header is a byte and long enough, ... */
  ok = _mm256_andnot_si256(
           _mm256_cmpgt_epi8(hdr, _mm256_set1_epi8((char)mxHdr)),
           _mm256_cmpgt_epi8(hdr, _mm256_set1_epi8((char)nType)));
  /* ... the values are in the page, ... */
  ok = _mm256_and_si256(ok,
           HP_PACK16(HP_LE16(lo, HP_LOAD16(pCells->aLocal)),
                     HP_LE16(hi, HP_LOAD16(&pCells->aLocal[16]))));
  /* ... and if there is no other column the record ends with the last one */
  end = HP_PACK16(_mm256_cmpeq_epi16(lo, HP_LOAD16(pCells->aByte)),
                  _mm256_cmpeq_epi16(hi, HP_LOAD16(&pCells->aByte[16])));
  ok = _mm256_andnot_si256(_mm256_andnot_si256(end,
           _mm256_cmpeq_epi8(hdr, _mm256_set1_epi8((char)(nType+1)))), ok);
  mBad = ~(u32)_mm256_movemask_epi8(ok) | (u32)_mm256_movemask_epi8(mLong);
  if( nRec<HP_CUT ) mBad &= ((u32)1<<nRec)-1;
  while( mBad ){
    i = __builtin_ctz(mBad);
    mBad &= mBad-1;
    rc = hpCutSlow(p, pCells, i, iRow+i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}
#endif /* HP_AVX2 */

/*
** The two varints that a cell of a table begins with: the size of the record
** and the rowid (not wanted: piRowid is NULL).  Returns their length.  18 bytes
** must be readable.
**
** Sizes around 128 make the length of the first one unpredictable, so there is
** no branch where both together have eight bytes or less.
*/
static SQLITE_INLINE int hpRecordCellHead(const u8 *z, u32 *pnByte, i64 *piRowid){
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

/*
** Bytes of a record of nByte bytes, in a leaf of a table, that are on the page.
*/
static u32 hpRecordLocal(const BtShared *pBt, u32 nByte){
  u32 mnLocal = pBt->minLeaf;
  u32 nLocal;
  if( nByte<=pBt->maxLeaf ) return nByte;
  nLocal = mnLocal + (nByte-mnLocal)%(pBt->usableSize-4);
  assert( mnLocal<=pBt->maxLeaf );
  return nLocal<=pBt->maxLeaf ? nLocal : mnLocal;
}

/*
** True if the header of the record of nByte bytes at z is one: its sizes add up
** to that of the record.  Of a header that reaches into overflow pages only what
** is on the page is looked at.
*/
static int hpRecordIsSound(const BtShared *pBt, const u8 *z, u32 nByte){
  u32 nLocal = hpRecordLocal(pBt, nByte);
  u32 nHdr, iHdr;
  u64 iVal;
  iHdr = getVarint32(z, nHdr);
  iVal = nHdr;
  if( nHdr>nByte || iHdr>nHdr ) return 0;
  while( iHdr<nHdr ){
    u32 t;
    if( iHdr+9>nLocal && nLocal<nByte ) return 1;
    iHdr += getVarint32(&z[iHdr], t);
    iVal += sqlite3VdbeSerialTypeLen(t);
    if( iVal>nByte ) return 0;
  }
  return iHdr==nHdr && iVal==nByte;
}

/*
** True if the record of nByte bytes at z, all of them in the page, is outside
** of pBound for sure, and what there is of columns up to mxCol is sound.
*/
static SQLITE_INLINE int hpRecordOut(
  const HpBound *pBound,
  int mxCol,
  const u8 *z,
  u32 nByte
){
  int iStore = pBound->iStore;
  u32 iVal = z[0];
  u32 iEnd;
  const struct HpSer *pSer;
  HpVal v;
  u32 t;
  int i;
  assert( pBound->bOn && iStore>=0 && iStore<=mxCol );
  if( iVal>=0x80 || (int)iVal<=iStore+1 ) return 0;
  for(i=1; i<=iStore; i++){
    if( z[i]>=0x80 ) return 0;
    iVal += sqlite3SmallTypeSizes[z[i]];
  }
  t = z[iStore+1];
  if( t>=10 || iVal+sqlite3SmallTypeSizes[t]>nByte ) return 0;
  iEnd = iVal;
  for(i=iStore; i<=mxCol && i+1<z[0]; i++){
    if( z[i+1]>=0x80 ) return 0;
    iEnd += sqlite3SmallTypeSizes[z[i+1]];
  }
  if( iEnd>nByte || (i+1==z[0] && iEnd!=nByte) ) return 0;
  pSer = &aHpSer[t];
  v.i = hpSerialGet(pSer, &z[iVal]);
  if( pSer->tag==HP_INT ) return (v.i<pBound->iMin) | (v.i>pBound->iMax);
  if( pSer->tag==HP_REAL ) return (v.r<pBound->rMin) | (v.r>pBound->rMax);
  return pBound->bNull==0;
}

/*
** Rows iRow..iRow+n-1 come from entries of an index, which end with a rowid.
** True if that is an integer in all of them.
*/
static int hpRecordRowids(const HpWorker *p, int iRow, int n){
  const HpSourcePlan *pPlan = &p->pPipe->source;
  const HpBatch *pBatch = &p->batch;
  int k = pPlan->nCol-1; /* The rowid is the last column */
  int i;
  assert( pPlan->bIdxRowid && pPlan->aCol[k].iStore==pPlan->mxCol );
  for(i=iRow; i<iRow+n; i++){
    u32 t = pBatch->aType[k*pBatch->nStride+i];
    if( t==HP_SER_SLOW ) t = pBatch->aSlow[(i64)i*pPlan->nCol+k].type;
    if( t<1 || t==7 || t>9 ) return 0;
  }
  return 1;
}

/*
** Cut nRec records and append them to the batch.
*/
static SQLITE_INLINE int hpCut(HpWorker *p, HpCells *pCells, int nRec){
  const HpSourcePlan *pPlan = &p->pPipe->source;
  int iRow = p->batch.nRow;
  int rc;
  assert( nRec>=0 && nRec<=HP_CUT && iRow+nRec<=p->batch.nAlloc );
  if( nRec==0 ) return SQLITE_OK;
  if( pPlan->mxCol<0 ){
    if( p->pScan->pSource->bWay ){
      memcpy(&p->batch.apRec[iRow], pCells->az, sizeof(pCells->az[0])*nRec);
    }
    rc = SQLITE_OK;
#ifdef HP_AVX2
  }else if( p->frame.bAvx2 && pPlan->mxCol<HP_MX_COL-1 ){
    rc = hpCutAvx2(p, pCells, nRec, iRow);
#endif
  }else{
    rc = hpCutPlain(p, pCells, nRec, iRow);
  }
  if( rc ) return rc;
  if( pPlan->bIdxRowid && !hpRecordRowids(p, iRow, nRec) ) return HP_DECLINE;
  p->batch.nRow += nRec;
  return SQLITE_OK;
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
** hpRecordLeaf() for the b-tree of an index.  Cell number nCell is the entry
** that follows the leaf.
*/
static int hpRecordIndexLeaf(HpWorker *p, int iLeaf, int *piCell){
  const HpRun *pRun = &p->run;
  HpBatch *pBatch = &p->batch;
  BtShared *pBt = p->pScan->db->aDb[p->pPipe->source.iDb].pBt->pBt;
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
  assert( pRun->iHdr==0 && pRun->aSep!=0 && p->bound.bOn==0 );
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
    rc = hpCut(p, &cells, n);
    if( rc ) return rc;
    iCell += n;
  }
  *piCell = iCell;
  if( iCell==nCell ){
    if( pRun->aSep[iLeaf].z==0 ){
      *piCell = -1;
    }else if( pBatch->nRow<pBatch->nAlloc ){
      hpCellsSet(&cells, 0, &pRun->aSep[iLeaf]);
      rc = hpCut(p, &cells, 1);
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
  z += hpRecordCellHead(z, &nByte, piRowid);
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
  const BtShared *pBt = p->pScan->db->aDb[p->pPipe->source.iDb].pBt->pBt;
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
      || !hpRecordOut(pBound, p->pPipe->source.mxCol, pCells->az[m],
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
static SQLITE_INLINE __m256i hpRecordIntegersAvx2(__m256i v, __m128i s8){
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
static u32 hpBoundAvx2(
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
    v = hpRecordIntegersAvx2(v, _mm_cvtsi32_si128(s4));
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
static SQLITE_INLINE __m256i hpRowidsAvx2(const u8 **z, int nByte){
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
  const BtShared *pBt = p->pScan->db->aDb[p->pPipe->source.iDb].pBt->pBt;
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
      sz = hpSizeAvx2(x[k]);
      m = _mm256_or_si256(m, x[k]);
      vLo = _mm256_add_epi16(vLo, HP_LO16(sz));
      vHi = _mm256_add_epi16(vHi, HP_HI16(sz));
    }
    ok = _mm256_and_si256(ok, _mm256_cmpeq_epi8(t,
             _mm256_min_epu8(t, _mm256_set1_epi8(9))));
    sz = hpSizeAvx2(t);
    endLo = _mm256_add_epi16(vLo, HP_LO16(sz));
    endHi = _mm256_add_epi16(vHi, HP_HI16(sz));
    okLo = _mm256_and_si256(inLo, HP_LE16(endLo, szLo));
    okHi = _mm256_and_si256(inHi, HP_LE16(endHi, szHi));
    if( nRowid+1+p->pPipe->source.mxCol<14 ){
      /* The other columns that stock reads, of those that there are */
      for(; k<=nRowid+p->pPipe->source.mxCol; k++){
        t2 = _mm256_and_si256(x[k+1], _mm256_cmpgt_epi8(hdr,
                 _mm256_set1_epi8((char)(k+1-nRowid))));
        sz = hpSizeAvx2(t2);
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
    mKeep |= mBad | ~hpBoundAvx2(pBound, aPage, aRec, t);
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
        _mm256_storeu_si256((__m256i*)a4, hpRowidsAvx2(az, nRowid));
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
** The next n rowids of the run are aRowid[].  Declined unless they are greater
** than all before and in the run's bounds.
*/
static int hpRecordInOrder(HpWorker *p, const i64 *aRowid, int n){
  HpRun *pRun = &p->run;
  int bad = (pRun->mBound & 1)!=0 && aRowid[0]<=pRun->iLow;
  int i;
  for(i=1; i<n; i++) bad |= aRowid[i]<=aRowid[i-1];
  assert( n>0 && (pRun->mBound & 4)!=0 );
  pRun->iLow = aRowid[n-1];
  if( (pRun->mBound & 2)!=0 && pRun->iLow>pRun->iHigh ) bad = 1;
  pRun->mBound |= 1;
  return bad ? HP_DECLINE : SQLITE_OK;
}

/*
** Append rows of leaf iLeaf of the run to the batch, from cell *piCell on,
** until the batch is full or the leaf is used up, and set *piCell to the
** next cell, or to -1 when there is none.
*/
static int hpRecordLeaf(HpWorker *p, int iLeaf, int *piCell){
  const HpSourcePlan *pPlan = &p->pPipe->source;
  const HpRun *pRun = &p->run;
  HpBatch *pBatch = &p->batch;
  BtShared *pBt = p->pScan->db->aDb[pPlan->iDb].pBt->pBt;
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aHdr = &aPage[pRun->iHdr];
  int nCell = get2byte(&aHdr[3]);
  int iMin = pRun->iHdr+8+2*nCell; /* Lowest place of a cell */
  int iCell = *piCell;
  const HpBound *pBound = p->bound.bOn ? &p->bound : 0;
  HpCells cells;

  if( pPlan->bIndex ) return hpRecordIndexLeaf(p, iLeaf, piCell);
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
    if( rc==SQLITE_OK && pRun->mBound ) rc = hpRecordInOrder(p, aRowid, m);
    if( rc==SQLITE_OK ) rc = hpCut(p, &cells, m);
    if( rc ) return rc;
    assert( m>=0 && m<=n && pBatch->nRow<=pBatch->nAlloc );
    pBatch->nSkip += n-m;
    iCell += n;
  }
  *piCell = iCell<nCell ? iCell : -1;
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
