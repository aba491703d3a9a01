/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_raw: columns that go from one record to another as they are stored.
**
**    hpRawLoad()  before records of a batch are made of the selected rows
**    hpRawIsInteger()  is a value an integer, as it is stored?
**    hpRawSize()  what columns take in the new record
**    hpRawCopy()  copy them
**    hpRawRecordSize(), hpRawRecord()   a record with all columns of the plan, of such values
**
** A sort (hp_sort.c) makes records that mostly consist of columns of the table.
** Neighbours are copied in one piece, and no value is decoded.
**
** Where the columns of the batch are in memory (HpRun.pKept) there is no record to copy from.
** Then the values of the rows that are to be kept are taken from there.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Rows selected in pFrame are about to be kept.  If the columns of the batch are in memory, get
** their values of columns iCol to iCol+nCol-1 of the plan.
*/
static int hpRawLoad(HpWorker *p, HpFrame *pFrame, int iCol, int nCol){
  int k;
  assert( iCol>=0 && iCol+nCol<=p->pPlan->source.nCol );
  assert( pFrame->pWorker==p && pFrame->pSource->bValues==0 );
  if( p->pRead->run.pKept==0 ) return SQLITE_OK;
  if( p->pRead->aRaw==0 ){
    i64 nByte = sizeof(HpVec)*(i64)p->pPlan->source.nCol;
    p->pRead->aRaw = hpArenaAlloc(&p->vec, nByte);
    if( p->pRead->aRaw==0 ) return HP_DECLINE;
    memset(p->pRead->aRaw, 0, nByte);
  }
  for(k=iCol; k<iCol+nCol; k++){
    if( p->pRead->aRaw[k].aTag==0
     && hpVecInit(&p->frame, &p->pRead->aRaw[k], p->pRead->batch.nAlloc)
    ){
      return HP_DECLINE;
    }
    hpKeepColumn(pFrame, k, &p->pRead->aRaw[k]);
  }
  return SQLITE_OK;
}

/*
** Column k of the plan in row i, which was cut by hpRecordCutSlow(): its serial type,
** and *pz is set to the bytes.  A value that the record does not have comes from
** *pVal: then *pz is NULL.
*/
static u32 hpRawSlow(
  const HpWorker *p,
  int k,
  int i,
  const u8 **pz,
  HpVal *pVal,
  u32 *pn
){
  const struct HpSlow *pSlow
      = &p->pRead->batch.aSlow[(i64)i*p->pPlan->source.nCol+k];
  const HpCol *pCol = &p->pPlan->source.aCol[k];
  *pz = 0;
  assert( p->pRead->batch.aSlow!=0 && i<p->pRead->batch.nRow );
  if( pSlow->type==HP_SER_NONE ){
    *pVal = pCol->dflt;
    *pn = pCol->nDflt;
    return hpSerialType(pCol->dfltTag, pCol->dflt, pCol->nDflt);
  }
  if( pSlow->type==10 || pSlow->type==11 ) return 0;
  *pz = pSlow->z;
  *pn = sqlite3VdbeSerialTypeLen(pSlow->type);
  return pSlow->type;
}

/*
** Does the record of row i have an integer in column k of the plan?  Of what it
** does not have the default counts.  No columns are in memory.
*/
static int hpRawIsInteger(const HpWorker *p, int k, int i){
  const HpBatch *pBatch = &p->pRead->batch;
  u32 t = pBatch->aType[(i64)k*pBatch->nStride+i];
  assert( p->pRead->run.pKept==0 && i<pBatch->nRow );
  if( t==HP_SER_SLOW ){
    t = pBatch->aSlow[(i64)i*p->pPlan->source.nCol+k].type;
    if( t==HP_SER_NONE ) return p->pPlan->source.aCol[k].dfltTag==HP_INT;
  }
  return (t>=1 && t<=6) || t==8 || t==9;
}

/* Serial type and offset, in row I of batch B, of column K of HP_FIELD_RAW F */
#define hpRawType(B,F,K,I) \
    ((B)->aType[(i64)((F)->iCol+(K))*(B)->nStride+(I)])
#define hpRawOfst(B,F,K,I) \
    ((B)->aOfst[(i64)((F)->iCol+(K))*(B)->nStride+(I)])

/*
** Add to *pnHdr and *pnData what the columns of pField take in row i of the
** batch, in the header of a record and behind it.
*/
static void hpRawSize(
  const HpWorker *p,
  const HpField *pField,
  int i,
  u64 *pnHdr,
  u64 *pnData
){
  const HpBatch *pBatch = &p->pRead->batch;
  int k;
  assert( pField->eField==HP_FIELD_RAW && i<pBatch->nRow );
  if( p->pRead->run.pKept ){
    for(k=0; k<pField->n; k++){
      HpVal v;
      u32 n;
      u8 tag = hpVecValue(&p->pRead->aRaw[pField->iCol+k], i, &v, &n);
      hpSerialRoom(tag, v, n, pnHdr, pnData);
    }
    return;
  }
  if( hpRawType(pBatch, pField, 0, i)!=HP_SER_SLOW ){
    int kLast = pField->n-1;
    *pnHdr += pField->n;
    *pnData += hpRawOfst(pBatch, pField, kLast, i)
               + sqlite3SmallTypeSizes[hpRawType(pBatch, pField, kLast, i)]
               - hpRawOfst(pBatch, pField, 0, i);
    return;
  }
  for(k=0; k<pField->n; k++){
    const u8 *zVal;
    HpVal v;
    u32 n;
    u32 t = hpRawSlow(p, pField->iCol+k, i, &zVal, &v, &n);
    *pnHdr += sqlite3VarintLen(t);
    *pnData += sqlite3VdbeSerialTypeLen(t);
  }
}

/*
** Copy these columns: their types to *pzHdr, their values to *pzData.  Both are
** set to what comes after.
*/
static void hpRawCopy(
  const HpWorker *p,
  const HpField *pField,
  int i,
  u8 **pzHdr,
  u8 **pzData
){
  const HpBatch *pBatch = &p->pRead->batch;
  u8 *zHdr = *pzHdr;
  u8 *zData = *pzData;
  u32 n;
  int k;
  if( p->pRead->run.pKept ){
    for(k=0; k<pField->n; k++){
      HpVal v;
      u8 tag = hpVecValue(&p->pRead->aRaw[pField->iCol+k], i, &v, &n);
      u32 t = hpSerialType(tag, v, n);
      zHdr += hpSerialHead(zHdr, t);
      zData += hpSerialPut(zData, t, v, n);
    }
  }else if( hpRawType(pBatch, pField, 0, i)!=HP_SER_SLOW ){
    int iFirst = hpRawOfst(pBatch, pField, 0, i);
    u8 t = 0;
    for(k=0; k<pField->n; k++){
      t = hpRawType(pBatch, pField, k, i);
      *zHdr++ = (t & 0xfe)==10 ? 0 : t;
    }
    n = hpRawOfst(pBatch, pField, k-1, i) + sqlite3SmallTypeSizes[t] - iFirst;
    memcpy(zData, &pBatch->apRec[i][iFirst], n);
    zData += n;
  }else{
    for(k=0; k<pField->n; k++){
      const u8 *zVal;
      HpVal v;
      u32 t = hpRawSlow(p, pField->iCol+k, i, &zVal, &v, &n);
      zHdr += hpSerialHead(zHdr, t);
      if( zVal ){
        memcpy(zData, zVal, n);
        zData += n;
      }else{
        zData += hpSerialPut(zData, t, v, n);
      }
    }
  }
  *pzHdr = zHdr;
  *pzData = zData;
}

/*
** After hpRawLoad() of all columns of the plan, in memory: set *pnHdr and *pnData to what a record of
** row i takes that has them in their places, and NULL in the others.
*/
static void hpRawRecordSize(const HpWorker *p, int i, u64 *pnHdr, u64 *pnData){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  int k;
  assert( p->pRead->run.pKept!=0 && pPlan->mxCol>=0 );
  *pnHdr = pPlan->mxCol + 1;
  *pnData = 0;
  for(k=0; k<pPlan->nCol; k++){
    HpVal v;
    u32 n;
    u8 tag = hpVecValue(&p->pRead->aRaw[k], i, &v, &n);
    if( pPlan->aCol[k].iStore<0 ) continue;
    --*pnHdr;
    hpSerialRoom(tag, v, n, pnHdr, pnData);
  }
  *pnHdr += *pnHdr<=126 ? 1 : *pnHdr+2<0x4000 ? 2 : 3;
}

/*
** Write that record: its header to zHdr, its values to zData, where eight bytes more than they
** take are writable.
*/
static void hpRawRecord(const HpWorker *p, int i, u8 *zHdr, u8 *zData){
  const HpSourcePlan *pPlan = &p->pPlan->source;
  int iStore = 0;
  int k;
  assert( zData>zHdr && p->pRead->aRaw!=0 );
  zHdr += hpSerialHead(zHdr, (u32)(zData-zHdr));
  for(k=0; k<pPlan->nCol; k++){
    HpVal v;
    u32 n, t;
    u8 tag = hpVecValue(&p->pRead->aRaw[k], i, &v, &n);
    if( pPlan->aCol[k].iStore<0 ) continue;
    for(; iStore<pPlan->aCol[k].iStore; iStore++) *zHdr++ = 0;
    iStore++;
    t = hpSerialType(tag, v, n);
    zHdr += hpSerialHead(zHdr, t);
    zData += hpSerialPut(zData, t, v, n);
  }
}
#endif /* SQLITE_OMIT_HP */
