/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sort: ORDER BY without LIMIT, of all rows of a scan that pass.
**
**    hpSortOpen()           begin
**    hpSortExact()          before rows of a batch are added
**    hpSortStep()           add the selected rows of a batch
**    hpSortKey(), hpSortTail()    the record of a row: its keys, and the rest
**
** Stock scans the table, makes a record of the ORDER BY terms and the result
** columns of each row, gives it to a sorter, and then runs its output loop over
** the records as they come back, reading columns from the current one through a
** pseudo-table.  The executor does all of that but the output loop:
**
**           Rewind -> Goto hp         the noted instruction
**           ...                       stock: scan, filter, insert into sorter
**           Goto skip
**    hp:    ...                       constants into registers
**           HpScan  P1=r P2=stock     sort; on HP_DECLINE jump to stock
**           OpenPseudo                as below
**           HpRow   P3=r P2=body      first record into the register
**           Goto done                 there is none
**    stock: Rewind                    the copy
**           Goto ...
**    skip:  OpenPseudo                stock
**           SorterSort  P2=done
**    next:  SorterData                current record into the register
**    body:  Column ..., output
**           SorterNext -> HpRow P3=r P2=body
**    done:
**
** OP_HpRow does as OP_SorterNext and OP_SorterData did if OP_HpScan declined.
** By the time the output loop runs the table has been read, here as there, so
** that it does not matter what the application does meanwhile.
**
** A row is kept as a group is (hp_agg.c), but as one that nobody looks up and
** that has no aggregates: the head, the normalized key of the ORDER BY terms,
** and behind the key the record that stock would have made.  Sorting, writing to
** a file when memory is short, and merging are hp_merge's; of rows with equal
** keys the one scanned first comes first, as in stock's sorter, which is stable.
**
** Columns of the table go from one record to the other as they are stored,
** neighbours in one piece, and are not decoded.  ORDER BY terms that the output
** loop does not read are NULL in the record: the key says it all.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_SORT_CHUNK  (1024*1024)   /* Bytes of rows a run: half of L2 */
#define HP_SORT_RUNS   256           /* So many runs, then longer ones */

/*
** Begin.
*/
static int hpSortOpen(HpExec *p){
  HpAgg *pAgg = sqlite3_malloc64(sizeof(*pAgg));
  if( pAgg==0 ) return HP_DECLINE;
  memset(pAgg, 0, sizeof(*pAgg));
  pAgg->pPlan = p->pPlan;
  p->pAgg = pAgg;
  return SQLITE_OK;
}

/* The serial type of an integer, as sqlite3VdbeSerialType() */
static SQLITE_INLINE u32 hpSerialInt(i64 i){
  u64 u = (u64)(i<0 ? ~i : i);
  if( u<=127 ) return (i & 1)==i ? 8+(u32)u : 1;
  if( u<=32767 ) return 2;
  if( u<=8388607 ) return 3;
  if( u<=2147483647 ) return 4;
  if( u<=(((u64)0x7fff<<32)|0xffffffff) ) return 5;
  return 6;
}

/* The serial type of a value */
static SQLITE_INLINE u32 hpSerialType(u8 tag, HpVal v, u32 n){
  switch( tag ){
    case HP_INT:  return hpSerialInt(v.i);
    case HP_REAL: return 7;
    case HP_TEXT: return 2*n+13;
    case HP_BLOB: return 2*n+12;
  }
  return 0;
}

/*
** Write a value of serial type t to z, where eight bytes more than it takes are
** writable.  Returns its length.
*/
static SQLITE_INLINE u32 hpSerialPut(u8 *z, u32 t, HpVal v, u32 n){
  static const u8 aShift[] = { 0, 56, 48, 40, 32, 16, 0, 0, 0, 0 };
  if( t<12 ){
    u64 x = v.u << aShift[t];
#if SQLITE_BYTEORDER==1234
    x = sqlite3BSwap64(x);
    memcpy(z, &x, 8);
#else
    sqlite3Put4byte(z, (u32)(x>>32));
    sqlite3Put4byte(&z[4], (u32)x);
#endif
    return sqlite3SmallTypeSizes[t];
  }
  if( n ) memcpy(z, v.z, n);
  return n;
}

/* Write the serial type t to z.  Returns its length. */
static SQLITE_INLINE u32 hpSerialHead(u8 *z, u32 t){
  if( t<0x80 ){
    *z = (u8)t;
    return 1;
  }
  return (u32)sqlite3PutVarint(z, t);
}

/* Row i of a vector: its type, and *pVal and *pn are set */
static SQLITE_INLINE u8 hpSortValue(const HpVec *pVec, int i, HpVal *pVal, u32 *pn){
  u8 tag;
  i &= pVec->mIdx;
  tag = pVec->aTag[i];
  *pVal = pVec->aVal[i];
  *pn = (tag & HP_STR) ? pVec->aLen[i] : 0;
  return tag;
}

/*
** Column k of the plan in row i, which was cut by hpCutSlow(): its serial type,
** and *pz is set to the bytes.  A value that the record does not have comes from
** *pVal: then *pz is NULL.
*/
static u32 hpSortSlow(HpExec *p, int k, int i, const u8 **pz, HpVal *pVal, u32 *pn){
  const struct HpSlow *pSlow = &p->batch.aSlow[(i64)i*p->pPlan->nCol+k];
  const HpCol *pCol = &p->pPlan->aCol[k];
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
** Append the record of row i to pBuf.  The two passes do the same: first for
** the sizes, then for the bytes.
*/
static int hpSortRecord(HpExec *p, int i, HpBuf *pBuf){
  const HpPlan *pPlan = p->pPlan;
  const HpBatch *pBatch = &p->batch;
  u64 nHdr = 0;
  u64 nData = 0;
  u64 nOuter = 0;        /* Bytes of the record around the record */
  u32 typeOuter = 0;
  u8 *z, *zData;
  HpVal v;
  u32 n;
  int j, k;

  for(j=0; j<pPlan->nField; j++){
    const HpField *pField = &pPlan->aField[j];
    if( pField->eField==HP_FIELD_VEC ){
      u8 tag = hpSortValue(&p->aVec[pField->iVec], i, &v, &n);
      u32 t = hpSerialType(tag, v, n);
      nHdr += t<0x80 ? 1 : sqlite3VarintLen(t);
      nData += t<12 ? sqlite3SmallTypeSizes[t] : n;
    }else if( pField->eField==HP_FIELD_NULL ){
      nHdr++;
    }else if( hpRawType(pBatch, pField, 0, i)!=HP_SER_SLOW ){
      int kLast = pField->n-1;
      nHdr += pField->n;
      nData += hpRawOfst(pBatch, pField, kLast, i)
               + sqlite3SmallTypeSizes[hpRawType(pBatch, pField, kLast, i)]
               - hpRawOfst(pBatch, pField, 0, i);
    }else{
      for(k=0; k<pField->n; k++){
        const u8 *zVal;
        u32 t = hpSortSlow(p, pField->iCol+k, i, &zVal, &v, &n);
        nHdr += sqlite3VarintLen(t);
        nData += sqlite3VdbeSerialTypeLen(t);
      }
    }
  }
  nHdr += nHdr<=126 ? 1 : sqlite3VarintLen(nHdr);
  if( nHdr>=0x4000 ) return HP_DECLINE;
  if( pPlan->bNested ){
    if( nHdr+nData>SQLITE_MAX_LENGTH ) return HP_DECLINE;
    typeOuter = 2*(u32)(nHdr+nData)+12;
    nOuter = 1 + pPlan->nKey + sqlite3VarintLen(typeOuter);
    if( nOuter>=0x80 ) return HP_DECLINE;
  }
  if( nOuter+nHdr+nData>SQLITE_MAX_LENGTH
   || hpBufRoom(pBuf, (u32)(nOuter+nHdr+nData)+8)
  ){
    return HP_DECLINE;
  }
  z = &pBuf->a[pBuf->n];
  pBuf->n += (u32)(nOuter+nHdr+nData);
  if( pPlan->bNested ){
    *z++ = (u8)nOuter;
    memset(z, 0, pPlan->nKey);
    z += pPlan->nKey;
    z += hpSerialHead(z, typeOuter);
  }
  zData = &z[nHdr];
  z += hpSerialHead(z, (u32)nHdr);
  for(j=0; j<pPlan->nField; j++){
    const HpField *pField = &pPlan->aField[j];
    if( pField->eField==HP_FIELD_VEC ){
      u8 tag = hpSortValue(&p->aVec[pField->iVec], i, &v, &n);
      u32 t = hpSerialType(tag, v, n);
      z += hpSerialHead(z, t);
      zData += hpSerialPut(zData, t, v, n);
    }else if( pField->eField==HP_FIELD_NULL ){
      *z++ = 0;
    }else if( hpRawType(pBatch, pField, 0, i)!=HP_SER_SLOW ){
      int iFirst = hpRawOfst(pBatch, pField, 0, i);
      u8 t = 0;
      for(k=0; k<pField->n; k++){
        t = hpRawType(pBatch, pField, k, i);
        *z++ = (t & 0xfe)==10 ? 0 : t;
      }
      n = hpRawOfst(pBatch, pField, k-1, i) + sqlite3SmallTypeSizes[t] - iFirst;
      memcpy(zData, &pBatch->apRec[i][iFirst], n);
      zData += n;
    }else{
      for(k=0; k<pField->n; k++){
        const u8 *zVal;
        u32 t = hpSortSlow(p, pField->iCol+k, i, &zVal, &v, &n);
        z += hpSerialHead(z, t);
        if( zVal ){
          memcpy(zData, zVal, n);
          zData += n;
        }else{
          zData += hpSerialPut(zData, t, v, n);
        }
      }
    }
  }
  assert( zData==&pBuf->a[pBuf->n] );
  return SQLITE_OK;
}

/*
** Append the normalized key of row i to pBuf, which is empty.  *pnPrefix is set to
** the bytes of it that tell the partition.
*/
static int hpSortKey(HpExec *p, int i, HpBuf *pBuf, u32 *pnPrefix){
  const HpPlan *pPlan = p->pPlan;
  int nPart = pPlan->pPart ? pPlan->pPart->nKey : 0;
  int k;
  *pnPrefix = 0;
  for(k=0; k<pPlan->nKey; k++){
    if( hpKeyValue(pBuf, &p->aVec[pPlan->aKey[k]], i, pPlan->aKeyColl[k],
                   pPlan->aKeySort[k])
    ){
      return HP_DECLINE;
    }
    if( k+1==nPart ) *pnPrefix = pBuf->n;
  }
  return SQLITE_OK;
}

/*
** Append the record of row i, behind the key, to pBuf.  With partitions there are
** four bytes more: nPrefix.
*/
static int hpSortTail(HpExec *p, int i, HpBuf *pBuf, u32 nPrefix){
  if( hpSortRecord(p, i, pBuf) ) return HP_DECLINE;
  if( p->pPlan->pPart ){
    if( hpBufRoom(pBuf, 4) ) return HP_DECLINE;
    sqlite3Put4byte(&pBuf->a[pBuf->n], nPrefix);
    pBuf->n += 4;
  }
  return SQLITE_OK;
}

/*
** Add row i of the batch.
*/
static int hpSortAdd(HpExec *p, int i){
  HpAgg *pAgg = p->pAgg;
  HpBuf *pBuf = &pAgg->key;
  HpHead *pHead;
  u32 nNorm, nPrefix;
  pBuf->n = 0;
  if( hpSortKey(p, i, pBuf, &nPrefix) ) return HP_DECLINE;
  nNorm = pBuf->n;
  if( hpSortTail(p, i, pBuf, nPrefix) ) return HP_DECLINE;
  pHead = hpArenaAlloc(&pAgg->arena, (i64)sizeof(*pHead)+pBuf->n);
  if( pHead==0 ) return HP_DECLINE;
  pHead->iPos = p->iPos + i;
  pHead->z = (u8*)&pHead[1];
  pHead->nNorm = nNorm;
  pHead->nRec = pBuf->n;
  memcpy(&pHead[1], pBuf->a, pBuf->n);
  pAgg->aSorted[pAgg->nGroup++].aGroup = (u8*)pHead;
  pAgg->nRowByte += sizeof(*pHead) + sizeof(struct HpSorted) + pBuf->n;
  return SQLITE_OK;
}

/*
** Bytes of rows that the next run is made of.
*/
static i64 hpSortChunk(const HpExec *p){
  i64 n = (i64)HP_SORT_CHUNK << MIN(p->pAgg->nMemRun/HP_SORT_RUNS, 20);
  return sqlite3TempInMemory(p->pScan->db) ? n : MIN(n, p->nMemory/4);
}

/*
** Before rows of the batch are added: their integers as such.
*/
static void hpSortExact(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  int k;
  for(k=0; k<pPlan->nKey; k++) hpVecExact(p, &p->aVec[pPlan->aKey[k]]);
  for(k=0; k<pPlan->nField; k++){
    if( pPlan->aField[k].eField==HP_FIELD_VEC ){
      hpVecExact(p, &p->aVec[pPlan->aField[k].iVec]);
    }
  }
}

/*
** Add the selected rows of the batch, from number ii on.
*/
static int hpSortStep(HpExec *p, int ii){
  HpAgg *pAgg = p->pAgg;
  i64 mxRow = hpSortChunk(p);
  int rc;
  for(; ii<p->nSel; ii++){
    if( pAgg->nGroup==pAgg->nSortedAlloc ){
      u32 nNew = MAX(1024, pAgg->nSortedAlloc*2);
      struct HpSorted *aNew;
      if( nNew>0x7fffffff ) return HP_DECLINE;
      aNew = sqlite3_realloc64(pAgg->aSorted, sizeof(*aNew)*(u64)nNew);
      if( aNew==0 ) return HP_DECLINE;
      pAgg->aSorted = aNew;
      pAgg->nSortedAlloc = nNew;
    }
    rc = hpSortAdd(p, p->aSel[ii]);
    if( rc ) return rc;
    if( pAgg->nRowByte>mxRow ){
      rc = hpMergeSortRun(p);
      if( rc ) return rc;
      mxRow = hpSortChunk(p);
      /* With PRAGMA temp_store=memory stock keeps all rows in memory, too */
      if( !sqlite3TempInMemory(p->pScan->db)
       && pAgg->nMemByte+hpGroupMemory(pAgg)>p->nMemory
      ){
        rc = hpMergeSpillRuns(p);
        if( rc ) return rc;
      }
    }
  }
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
