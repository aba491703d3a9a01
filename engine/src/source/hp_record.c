/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_record: cutting records: types and places of values.
**
**    hpRecordInit()      memory for a batch of rows
**    hpRecordEmpty()     no rows any more
**    hpRecordCut()      cut some records, append them to the batch
**    hpRecordLocal()    bytes of a record that lie in the page
**    hpRecordOut()      can a record be left out (HpBound)?
**    hpRecordSizesAvx2()    bytes of values from their serial types
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
** hpRecordCutSlow(): long types, headers and values that reach into overflow pages,
** records with fewer columns than the table.
**
** What stock would call SQLITE_CORRUPT is declined, and so is anything else
** that looks unexpected.  Stock parses a header as far as the column that it
** wants, which is one of the plan's: damage behind them is seen by neither.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Remove all rows from the batch.
*/
static void hpRecordEmpty(HpWorker *p){
  HpBatch *pBatch = &p->pRead->batch;
  assert( pBatch->nCol>=1 && pBatch->nRow<=pBatch->nAlloc );
  pBatch->nRow = 0;
  pBatch->nSkip = 0;
  memset(pBatch->aMin, 0xff, HP_CUT*pBatch->nCol);
  memset(pBatch->aMax, 0, HP_CUT*pBatch->nCol);
  if( p->side.pBlock ) hpArenaClear(&p->side);
}

/*
** Allocate the batch of p.  Returns HP_DECLINE if there is no memory.
*/
static int hpRecordInit(HpWorker *p){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  HpBatch *pBatch = &p->pRead->batch;
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
  hpRecordEmpty(p);
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
  BtShared *pBt = hpThreadBt(p->pPipe);
  int bUnlock = !pagerUseWal(pBt->pPager);
  int n;
  assert( hpThreadIsLocked(p->pPipe) && nByte>0 );
  if( !hpPageDirect(p->pCfg, pBt->pPager) ) return 0;
  if( bUnlock ) hpThreadUnlock(p->pPipe);
  n = hpChainRead(pBt, &p->pRead->guess, HP_CHAIN_SINGLE|HP_CHAIN_FRAMES, iPg,
                  0, aTo, nByte, 0, piNext);
  if( bUnlock ) hpThreadLock(p->pPipe);
  if( n>0 ) hpConfigStat(p->pPipe->pQuery->db, HP_STAT_CHAIN);
  return n;
#else
  UNUSED_PARAMETER2(p, iPg);
  UNUSED_PARAMETER2(aTo, nByte);
  UNUSED_PARAMETER(piNext);
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
  BtShared *pBt = hpThreadBt(p->pPipe);
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
  aOut = hpArenaAlloc(&p->side, (i64)nWant+HP_SLACK);
  if( aOut==0 ) return HP_DECLINE;
  memcpy(aOut, pRec->z, n);
  hpThreadLock(p->pPipe);
  hpSourceChained(p->pPipe->pSource, (nWant-n+nPg-1)/nPg);
  while( n<nWant ){
    DbPage *pDb;
    const u8 *aData;
    u32 nCopy;
    Pgno iNext;
    assert( hpThreadIsLocked(p->pPipe) );
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
  hpThreadUnlock(p->pPipe);
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
static int hpRecordCutSlow(HpWorker *p, const HpCells *pCells, int i, int iRow){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  HpBatch *pBatch = &p->pRead->batch;
  struct HpSlow *aSlow;
  HpRecord rec;
  const u8 *z;
  u32 nHdr;              /* Bytes of the header */
  u32 iHdr;              /* Place in the header */
  u64 iVal;              /* Place of the value of column iCol */
  u64 iUsed;             /* Where the values of the plan's columns end */
  u64 nStored = 0;       /* Bytes of these values */
  u64 iNeed = 0;         /* Where those of them end that are wanted, ... */
  int bHead = 0;         /* ... some being texts that are not: HpCol.bHead */
  u32 nPg = hpThreadBt(p->pPipe)->usableSize - 4;
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
      nStored += sqlite3VdbeSerialTypeLen(t);
      if( t>=12 && pPlan->aCol[k].bHead ){
        bHead = 1;
      }else{
        iNeed = iVal+sqlite3VdbeSerialTypeLen(t);
      }
      k++;
      bGap |= iVal>=iUsed+nPg;
      iUsed = MAX(iUsed, iVal+sqlite3VdbeSerialTypeLen(t));
    }
    iVal += sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || iVal>rec.nByte ) return HP_DECLINE;
  }
  if( iHdr>=nHdr && iVal!=rec.nByte ) return HP_DECLINE;
  if( nStored>p->pPipe->pQuery->mxStored ) return HP_DECLINE;
  if( pPlan->bIdxRowid && (iHdr<nHdr || k<pPlan->nCol) ) return HP_DECLINE;
  assert( iVal<=rec.nByte && k<=pPlan->nCol );
  for(iCol=k; iCol<pPlan->nCol; iCol++) aSlow[iCol].type = HP_SER_NONE;
  if( bHead ) iVal = MIN(iVal, MAX(iNeed, nHdr));
  if( iVal>rec.nLocal ){
    if( hpRecordUnread(pPlan, &rec, aSlow, k) ) return HP_DECLINE;
    rc = hpRecordOverflow(p, &rec, (u32)iVal, bGap, &z);
    if( rc ) return rc;
  }
  for(iCol=pPlan->bRowid; iCol<k; iCol++){
    /* Of what is not wanted there may be nothing */
    u64 i = (u64)SQLITE_PTR_TO_INT(aSlow[iCol].z);
    aSlow[iCol].z = bHead && i>iVal ? z : &z[i];
  }
  return SQLITE_OK;
}

/*
** Cut nRec records into rows iRow, iRow+1, ... of the batch.  Plain C.
*/
static int hpRecordCutPlain(HpWorker *p, const HpCells *pCells, int nRec, int iRow){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  HpBatch *pBatch = &p->pRead->batch;
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
    rc = hpRecordCutSlow(p, pCells, i, iRow);
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
static SQLITE_INLINE __m256i hpRecordSizesAvx2(__m256i t){
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
static int hpRecordCutAvx2(HpWorker *p, HpCells *pCells, int nRec, int iRow){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  HpBatch *pBatch = &p->pRead->batch;
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
      __m256i sz = hpRecordSizesAvx2(t);
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
    rc = hpRecordCutSlow(p, pCells, i, iRow+i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}
#endif /* HP_AVX2 */

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
  const HpSourcePlan *pPlan = &p->pPlan->source;
  const HpBatch *pBatch = &p->pRead->batch;
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
static SQLITE_INLINE int hpRecordCut(HpWorker *p, HpCells *pCells, int nRec){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  int iRow = p->pRead->batch.nRow;
  int rc;
  assert( nRec>=0 && nRec<=HP_CUT && iRow+nRec<=p->pRead->batch.nAlloc );
  if( nRec==0 ) return SQLITE_OK;
  if( pPlan->mxCol<0 ){
    if( p->pPipe->pSource->bWay ){
      memcpy(&p->pRead->batch.apRec[iRow], pCells->az,
             sizeof(pCells->az[0])*nRec);
    }
    rc = SQLITE_OK;
#ifdef HP_AVX2
  }else if( p->frame.bAvx2 && pPlan->mxCol<HP_MX_COL-1 ){
    rc = hpRecordCutAvx2(p, pCells, nRec, iRow);
#endif
  }else{
    rc = hpRecordCutPlain(p, pCells, nRec, iRow);
  }
  if( rc ) return rc;
  if( pPlan->bIdxRowid && !hpRecordRowids(p, iRow, nRec) ) return HP_DECLINE;
  p->pRead->batch.nRow += nRec;
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
