/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_prefixscan: entries of an index, compared where they are.
**
**    hpPrefixScanType    a source that does what hp_prefix.c does with batches
**
** Neighbours of an index mostly have serial types of one byte, and are equal
** only if their bytes are.  So each record of a run is compared with the one
** before, and nothing is decoded.  Values of other bytes may be equal, too:
**
**    numbers of different types    decoded and compared: 1 and 1.0
**    reals                         likewise: 0.0 and -0.0
**    texts                         by the collation, if that is not BINARY
**
** A run may have a record that goes on on overflow pages, longer types, a NaN,
** or anything unexpected.  Then nothing is counted of it here, and its rows
** become batches as in any scan (hp_leaves.c), and go to the sink.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_ANALYZE
/* What has been seen of a run */
typedef struct HpPrefixScan HpPrefixScan;
struct HpPrefixScan {
  const u8 *zFirst;      /* Its first record, or NULL */
  const u8 *zLast;       /* The last one so far */
  i64 nRow;              /* Records */
  i64 nNull;             /* HpPrefixPlan.bUnique: NULLs that it begins with */
  u64 anChange[HP_MX_COL];   /* Changes of each prefix */
};

/* Type and value of a number of serial type t at z */
static SQLITE_INLINE u8 hpPrefixScanNumber(u32 t, const u8 *z, HpVal *pVal){
  assert( t>=1 && t<=9 );
  pVal->i = hpSerialGet(&aHpSer[t], z);
  return aHpSer[t].tag;
}

/* Is a real NaN, which SQLite reads as NULL, or infinite? */
static SQLITE_INLINE int hpPrefixScanIsNaN(const u8 *z){
  return (z[0] & 0x7f)==0x7f && (z[1] & 0xf0)==0xf0;
}

/*
** Values of serial types tA and tB have not the same bytes, or not the same
** type.  Are they equal nevertheless?
*/
static SQLITE_NOINLINE int hpPrefixScanSame(
  u32 tA, const u8 *zA,
  u32 tB, const u8 *zB,
  CollSeq *pColl
){
  if( tA-1<9 && tB-1<9 ){
    HpVal a, b;
    u8 tagA = hpPrefixScanNumber(tA, zA, &a);
    u8 tagB = hpPrefixScanNumber(tB, zB, &b);
    return hpVecNumCompare(tagA, a, tagB, b)==0;
  }
  if( pColl==0 || tA<13 || tB<13 || (tA & tB & 1)==0 ) return 0;
  return pColl->xCmp(pColl->pUser, (int)(tA-13)/2, zA, (int)(tB-13)/2, zB)==0;
}

/* Are n bytes the same?  Eight more are readable.  Up to 16 there is no branch
** that depends on them: nobody can foresee where an index changes */
static SQLITE_INLINE int hpPrefixScanBytes(const u8 *zA, const u8 *zB, u32 n){
  if( n<8 ) return hpLoadBytes(zA, n)==hpLoadBytes(zB, n);
  if( n<=16 ){
    return ((hpRaw8(zA)^hpRaw8(zB)) | (hpRaw8(&zA[n-8])^hpRaw8(&zB[n-8])))==0;
  }
  return memcmp(zA, zB, n)==0;
}

/*
** Compare the keys of record z, of nByte bytes, with those of the record
** before.  Returns false if that cannot be done here.
*/
static SQLITE_INLINE int hpPrefixScanRecord(
  HpPrefixScan *p,
  const HpKeys *pKeys,
  const u8 *z,
  u32 nByte
){
  const u8 *zLast = p->zLast;
  int nKey = pKeys->n;
  u32 nHdr = z[0];
  u32 iVal = nHdr;
  u32 iLast;
  int bSame = 1;         /* So far the prefix is that of the record before */
  int k;
  assert( nKey>0 && nKey<=HP_MX_COL && nByte>0 );
  if( nHdr>0x7f || (int)nHdr<=nKey || nHdr>nByte ) return 0;
  if( zLast==0 ) p->zFirst = zLast = z;
  iLast = zLast[0];
  for(k=0; k<nKey; k++){
    u32 t = z[1+k];
    u32 tLast = zLast[1+k];
    u32 n;
    int bThis;
    if( t>=0x80 || t==10 || t==11 ) return 0;
    n = sqlite3SmallTypeSizes[t];
    if( iVal+n>nByte ) return 0;
    if( t==7 && hpPrefixScanIsNaN(&z[iVal]) ) return 0;
    bThis = (t==tLast) & hpPrefixScanBytes(&z[iVal], &zLast[iLast], n);
    if( (pKeys->aColl[k]!=0 || (t-1<9 && (t==7 || t!=tLast)))
     && bSame && !bThis
    ){
      bThis = hpPrefixScanSame(t, &z[iVal], tLast, &zLast[iLast],
                               pKeys->aColl[k]);
    }
    bSame &= bThis;
    p->anChange[k] += 1-bSame;
    iLast += sqlite3SmallTypeSizes[tLast];
    iVal += n;
  }
  if( (int)nHdr==nKey+1 && iVal!=nByte ) return 0;
  p->zLast = z;
  p->nRow++;
  return 1;
}

/*
** bUnique: the same where only the NULLs count that a run begins with.
*/
static int hpPrefixScanNull(HpPrefixScan *p, const u8 *z, u32 nByte){
  assert( p->nNull>=0 && p->nNull<=p->nRow );
  if( p->nNull==p->nRow ){
    u32 nHdr = z[0];
    if( nHdr>0x7f || nHdr<2 || nHdr>nByte || z[1]>=0x80 ) return 0;
    /* A real may be NaN, which is NULL */
    if( z[1]==7 || z[1]==10 || z[1]==11 ) return 0;
    p->nNull += z[1]==0;
  }
  p->nRow++;
  return 1;
}

/* Do what is to be done with a record */
static SQLITE_INLINE int hpPrefixScanOne(
  HpPrefixScan *p,
  const HpPrefixPlan *pPlan,
  const u8 *z,
  u32 nByte
){
  return pPlan->bUnique ? hpPrefixScanNull(p, z, nByte)
                        : hpPrefixScanRecord(p, &pPlan->keys, z, nByte);
}

/*
** Compare the records of leaf iLeaf of the run, and the entry behind it.
** Returns false if that cannot be done here.
*/
static int hpPrefixScanLeaf(HpWorker *pWorker, int iLeaf, HpPrefixScan *p){
  const HpRun *pRun = &pWorker->pRead->run;
  const HpPrefixPlan *pPlan = pWorker->pPlan->pPrefix;
  int iDb = pWorker->pPlan->source.iDb;
  BtShared *pBt = pWorker->pPipe->pQuery->db->aDb[iDb].pBt->pBt;
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aEnd = &aPage[pBt->usableSize];
  int nCell = get2byte(&aPage[3]);
  int iMin = 8+2*nCell;
  int iMax = (int)pBt->usableSize-4;
  u32 nMost = pBt->maxLocal;
  const HpRecord *pSep = &pRun->aSep[iLeaf];
  int i;
  assert( iLeaf>=0 && iLeaf<pRun->nPage && pRun->iHdr==0 );
  if( aPage[0]!=(PTF_ZERODATA|PTF_LEAF) || nCell==0
   || nCell>(int)MX_CELL(pBt) || iMin>iMax
  ){
    return 0;
  }
  for(i=0; i<nCell; i++){
    int ofst = get2byte(&aPage[8+2*i]);
    const u8 *z;
    u32 nByte;
    if( ofst<iMin || ofst>iMax ) return 0;
    z = &aPage[ofst];
    nByte = *z++;
    if( nByte & 0x80 ){
      if( *z & 0x80 ) return 0;
      nByte = (nByte & 0x7f)<<7 | *z++;
    }
    if( nByte==0 || nByte>nMost || nByte>(u32)(aEnd-z) ) return 0;
    if( !hpPrefixScanOne(p, pPlan, z, nByte) ) return 0;
  }
  return pSep->z==0
      || (pSep->nLocal==pSep->nByte
          && hpPrefixScanOne(p, pPlan, pSep->z, pSep->nByte));
}

/* Keep the keys of a record that hpPrefixScanRecord() has seen */
static int hpPrefixScanKeep(HpWorker *p, const u8 *z, HpBuf *pBuf){
  int nKey = p->pPlan->pPrefix->keys.n;
  HpVal aVal[HP_MX_COL];
  u32 aLen[HP_MX_COL];
  u8 aTag[HP_MX_COL];
  u32 iVal = z[0];
  int k;
  assert( nKey>0 && nKey<=HP_MX_COL && (int)z[0]>nKey );
  for(k=0; k<nKey; k++){
    u32 t = z[1+k];
    aLen[k] = 0;
    if( t>=12 ){
      aTag[k] = (t & 1) ? HP_TEXT : HP_BLOB;
      aVal[k].z = &z[iVal];
      aLen[k] = (t-12)/2;
    }else if( t==0 ){
      aTag[k] = HP_NULL;
      aVal[k].i = 0;
    }else{
      aTag[k] = hpPrefixScanNumber(t, &z[iVal], &aVal[k]);
    }
    iVal += sqlite3SmallTypeSizes[t];
  }
  return hpPrefixPut(p, aTag, aVal, aLen, pBuf);
}

/*
** Compare all records of the run.  *pbDone is set if that could be done here.
*/
static int hpPrefixScanRun(HpWorker *pWorker, int *pbDone){
  HpRun *pRun = &pWorker->pRead->run;
  HpPrefix *pPrefix = (HpPrefix*)pWorker->pSink;
  const HpPrefixPlan *pPlan = pWorker->pPlan->pPrefix;
  HpPrefixScan x;
  HpPrefixRun *pNew;
  int i;
  int rc = SQLITE_OK;
  assert( pWorker->pPlan->source.bIndex && pPrefix!=0 );
  *pbDone = 0;
  if( pRun->bRoot ) return SQLITE_OK;
  memset(&x, 0, sizeof(x));
  for(i=0; i<pRun->nPage; i++){
    if( !hpPrefixScanLeaf(pWorker, i, &x) ) return SQLITE_OK;
  }
  pNew = hpPrefixBegin(pWorker, pRun->iSeq);
  if( pNew==0 ) return HP_DECLINE;
  pNew->nRow = x.nRow;
  pNew->nNull = x.nNull;
  for(i=0; i<pPlan->keys.n; i++) pPrefix->anChange[i] += x.anChange[i];
  if( !pPlan->bUnique ){
    rc = hpPrefixScanKeep(pWorker, x.zFirst, &pNew->first);
    if( rc==SQLITE_OK ) rc = hpPrefixScanKeep(pWorker, x.zLast, &pNew->last);
  }
  /* They have been looked at, and are in no batch */
  pWorker->pRead->batch.nSkip = (int)x.nRow;
  pRun->iLeaf = pRun->nPage;
  *pbDone = 1;
  return rc;
}

/*
** Memory for a worker, as for any scan of leaves.
*/
static int hpPrefixScanBegin(HpWorker *p){
  return hpLeavesType.xBegin(p);
}

/*
** The next run, or the next batch of one whose records become batches.
*/
static int hpPrefixScanNext(HpWorker *p){
  HpRun *pRun = &p->pRead->run;
  assert( p->pRead->batch.nRow==0 && p->pRead->batch.nSkip==0 );
  if( pRun->iLeaf>=pRun->nPage ){
    int bDone;
    int rc = hpSourceNext(p);
    if( rc || pRun->nPage==0 ) return rc;
    assert( pRun->pKept==0 && pRun->pMend==0 && pRun->bKeep==0 );
    pRun->iLeaf = pRun->iCell = 0;
    p->frame.iPos = (u64)pRun->iSeq<<32;
    rc = hpPrefixScanRun(p, &bDone);
    if( rc || bDone ) return rc;
  }
  return hpLeavesType.xNext(p);
}

static const HpSourceType hpPrefixScanType = {
  hpPrefixScanBegin, hpPrefixScanNext, hpKeepColumn, 0, 0, 0
};
#endif /* HP_ANALYZE */
#endif /* SQLITE_OMIT_HP */
