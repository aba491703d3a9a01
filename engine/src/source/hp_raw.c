/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_raw: columns that go from one record to another as they are stored.
**
**    hpRawSize()  what they take in the new record
**    hpRawCopy()  copy them
**
** A sort (hp_sort.c) makes records that mostly consist of columns of the table.
** Neighbours are copied in one piece, and no value is decoded.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

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
  const struct HpSlow *pSlow = &p->batch.aSlow[(i64)i*p->pPipe->source.nCol+k];
  const HpCol *pCol = &p->pPipe->source.aCol[k];
  *pz = 0;
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
  const HpBatch *pBatch = &p->batch;
  int k;
  assert( pField->eField==HP_FIELD_RAW && i<pBatch->nRow );
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
  const HpBatch *pBatch = &p->batch;
  u8 *zHdr = *pzHdr;
  u8 *zData = *pzData;
  u32 n;
  int k;
  if( hpRawType(pBatch, pField, 0, i)!=HP_SER_SLOW ){
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
#endif /* SQLITE_OMIT_HP */
