/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sort: ORDER BY without LIMIT, of all rows of a scan that pass.
**
**    hpSortOpen()           begin
**    hpSortExact(), hpSortLoad()    before rows of a batch are added
**    hpSortStep()           add the selected rows of a frame
**    hpSortClose()          free everything
**    hpSortRecord()         the record of a row
**    hpSortLoadOne()        before that, if not all selected rows are added
**    hpSortPut()            add a row whose key and record are there
**    hpSortPrefix()         of a sorted entry: HpSortPlan.nPrefix
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
** What is kept of a row is an entry of HpRuns without aggregates: the head, the
** normalized key of the ORDER BY terms,
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

/* Fields of a record whose types are found out once: 16 bytes of stack each */
#define HP_SORT_KEPT   32

/* OP_MakeRecord stores reals up to this, or down to -1 less it, as integers */
#define HP_MX_WHOLE    (((i64)0x7fff<<32)|0xffffffff)

/*
** Begin.
*/
static int hpSortOpen(HpWorker *p){
  HpSort *pSort = sqlite3_malloc64(sizeof(*pSort));
  assert( p->pSink==0 && p->pPlan->pSort->row.entry.bRows );
  if( pSort==0 ) return HP_DECLINE;
  memset(pSort, 0, sizeof(*pSort));
  p->pSink = pSort;
  p->pRuns = &pSort->runs;
  pSort->pPlan = p->pPlan->pSort;
  hpHeldInit(&pSort->runs, &pSort->pPlan->row.entry, p);
  return SQLITE_OK;
}

static void hpSortClose(HpSort *pSort){
  if( pSort ){
    hpSpillClose(&pSort->runs);
    sqlite3_free(pSort);
  }
}

/*
** The value of a field of row i that has a vector: its type, or 0 to decline.
** In a REAL column an integer is what the table stores as one, and a NaN in the
** file is NULL.  Of what goes into one, whole numbers are if they have room in
** six bytes.
*/
static SQLITE_INLINE u8 hpSortValue(
  const HpFrame *p,
  const HpField *pField,
  int i,
  HpVal *pVal,
  u32 *pn
){
  u8 tag = hpVecValue(&p->aVec[pField->iVec], i, pVal, pn);
  assert( hpFieldIsVec(pField) );
  if( pField->eField==HP_FIELD_REAL && tag==HP_REAL
   && hpRawIsInteger(p->pWorker, pField->iCol, i)
  ){
    /* Others stand for several integers */
    if( fabs(pVal->r)>=(double)HP_MX_EXACT ) return 0;
    pVal->i = (i64)pVal->r;
    tag = HP_INT;
  }
  if( pField->eField==HP_FIELD_WHOLE && tag==HP_REAL
   && pVal->r>=-(double)HP_MX_WHOLE-1.0 && pVal->r<=(double)HP_MX_WHOLE
   && (double)(i64)pVal->r==pVal->r
  ){
    pVal->i = (i64)pVal->r;
    tag = HP_INT;
  }
  return tag;
}

/*
** Append the record of row i to pBuf.  The two passes do the same: first for
** the sizes, then for the bytes.  What the first one finds out of the first
** HP_SORT_KEPT fields is kept for the second.
*/
static int hpSortRecord(
  const HpSortPlan *pPlan,
  const HpFrame *p,
  int i,
  HpBuf *pBuf
){
  const HpWorker *pWorker = p->pWorker;
  u64 nHdr = 0;
  u64 nData = 0;
  u64 nOuter = 0;        /* Bytes of the record around the record */
  u32 typeOuter = 0;
  u8 *z, *zData;
  struct { HpVal v; u32 n, t; } aKept[HP_SORT_KEPT];
  HpVal v;
  u32 n, t;
  int j;

  for(j=0; j<pPlan->nField; j++){
    const HpField *pField = &pPlan->aField[j];
    if( hpFieldIsVec(pField) ){
      u8 tag = hpSortValue(p, pField, i, &v, &n);
      if( tag==0 ) return HP_DECLINE;
      t = hpSerialRoom(tag, v, n, &nHdr, &nData);
      if( j<HP_SORT_KEPT ){
        aKept[j].v = v;
        aKept[j].n = n;
        aKept[j].t = t;
      }
    }else if( pField->eField==HP_FIELD_NULL ){
      nHdr++;
    }else{
      hpRawSize(pWorker, pField, i, &nHdr, &nData);
    }
  }
  nHdr += nHdr<=126 ? 1 : 2;
  if( nHdr>=0x4000 ) return HP_DECLINE;
  if( pPlan->nNested ){
    if( nHdr+nData>SQLITE_MAX_LENGTH ) return HP_DECLINE;
    typeOuter = 2*(u32)(nHdr+nData)+12;
    nOuter = 1 + pPlan->nNested + sqlite3VarintLen(typeOuter);
    if( nOuter>=0x80 ) return HP_DECLINE;
  }
  if( nOuter+nHdr+nData>SQLITE_MAX_LENGTH
   || hpBufRoom(pBuf, (u32)(nOuter+nHdr+nData)+8)
  ){
    return HP_DECLINE;
  }
  assert( pPlan->row.entry.bRows && pBuf->n+nOuter+nHdr+nData<=pBuf->nAlloc );
  z = &pBuf->a[pBuf->n];
  pBuf->n += (u32)(nOuter+nHdr+nData);
  if( pPlan->nNested ){
    *z++ = (u8)nOuter;
    memset(z, 0, pPlan->nNested);
    z += pPlan->nNested;
    z += hpSerialHead(z, typeOuter);
  }
  zData = &z[nHdr];
  z += hpSerialHead(z, (u32)nHdr);
  for(j=0; j<pPlan->nField; j++){
    const HpField *pField = &pPlan->aField[j];
    if( hpFieldIsVec(pField) ){
      if( j<HP_SORT_KEPT ){
        v = aKept[j].v;
        n = aKept[j].n;
        t = aKept[j].t;
      }else{
        u8 tag = hpSortValue(p, pField, i, &v, &n);
        t = hpSerialType(tag, v, n);
      }
      z += hpSerialHead(z, t);
      zData += hpSerialPut(zData, t, v, n);
    }else if( pField->eField==HP_FIELD_NULL ){
      *z++ = 0;
    }else{
      hpRawCopy(pWorker, pField, i, &z, &zData);
    }
  }
  assert( zData==&pBuf->a[pBuf->n] );
  return SQLITE_OK;
}

/*
** Records of the selected rows are about to be made: see hp_raw.c.
*/
static int hpSortLoad(const HpSortPlan *pPlan, HpFrame *p){
  int rc = SQLITE_OK;
  int k;
  for(k=0; k<pPlan->nField && rc==SQLITE_OK; k++){
    const HpField *pField = &pPlan->aField[k];
    if( pField->eField==HP_FIELD_RAW ){
      rc = hpRawLoad(p->pWorker, p, pField->iCol, pField->n);
    }
  }
  return rc;
}

/* The same for row i only */
static int hpSortLoadOne(const HpSortPlan *pPlan, HpFrame *p, int i){
  u16 *aSel = p->aSel;
  int nSel = p->nSel;
  u8 bDense = p->bDense;
  u16 iRow = (u16)i;
  int rc;
  assert( i<p->nRow && hpVecIsSelection(p) );
  if( p->pWorker->pRead->run.pKept==0 ) return SQLITE_OK;
  p->aSel = &iRow;
  p->nSel = 1;
  p->bDense = 0;
  rc = hpSortLoad(pPlan, p);
  p->aSel = aSel;
  p->nSel = nSel;
  p->bDense = bDense;
  return rc;
}

/*
** Append the normalized key of row i to pBuf, which is empty.  *pnPrefix is set
** to the bytes of it that the first HpSortPlan.nPrefix terms take; of a pair
** that has a NULL there to 0.
*/
static int hpSortKey(
  const HpSortPlan *pPlan,
  const HpFrame *p,
  int i,
  HpBuf *pBuf,
  u32 *pnPrefix
){
  const HpKeys *pKeys = &pPlan->row.keys;
  int bNull = 0;
  int k;
  assert( pBuf->n==0 && pPlan->nPrefix<=pKeys->n );
  *pnPrefix = 0;
  for(k=0; k<pKeys->n; k++){
    if( hpKeyValue(pBuf, &p->aVec[pKeys->aVec[k]], i, pKeys->aColl[k],
                   pKeys->aSort[k])
    ){
      return HP_DECLINE;
    }
    if( k<pPlan->nPrefix && pPlan->row.entry.bWhole ){
      HpVal v;
      u32 n;
      bNull |= hpVecValue(&p->aVec[pKeys->aVec[k]], i, &v, &n)==HP_NULL;
    }
    if( k+1==pPlan->nPrefix && !bNull ) *pnPrefix = pBuf->n;
  }
  return SQLITE_OK;
}

/*
** Add the row that is in pSort->runs.key: nNorm bytes of its key, and its
** record.  If the plan asks for nPrefix it stands behind that.
*/
static int hpSortPut(HpSort *pSort, u32 nNorm, u32 nPrefix, u64 iPos){
  HpRuns *pRuns = &pSort->runs;
  HpBuf *pBuf = &pRuns->key;
  HpHead *pHead;
  assert( nPrefix<=nNorm && pRuns->nEntry<pRuns->nSortedAlloc );
  if( pSort->pPlan->bPrefix ){
    if( hpBufRoom(pBuf, HP_SZ_PREFIX) ) return HP_DECLINE;
    sqlite3Put4byte(&pBuf->a[pBuf->n], nPrefix);
    pBuf->n += HP_SZ_PREFIX;
  }
  pHead = hpArenaAlloc(&pRuns->arena, (i64)sizeof(*pHead)+pBuf->n);
  if( pHead==0 ) return HP_DECLINE;
  pHead->iPos = iPos;
  pHead->z = (u8*)&pHead[1];
  pHead->nNorm = nNorm;
  pHead->nRec = pBuf->n;
  assert( nNorm+(pSort->pPlan->bPrefix ? HP_SZ_PREFIX : 0)<pBuf->n );
  memcpy(&pHead[1], pBuf->a, pBuf->n);
  pRuns->aSorted[pRuns->nEntry++].aEntry = (u8*)pHead;
  pRuns->nRowByte += sizeof(*pHead) + sizeof(struct HpSorted) + pBuf->n;
  return SQLITE_OK;
}

/* The same for an entry that is a key and a record */
static int hpSortPutPair(HpSort *pSort, u32 nKey, u32 nPrefix){
  HpRuns *pRuns = &pSort->runs;
  HpBuf *pBuf = &pRuns->key;
  HpPair *pPair;
  u64 n;
  assert( nKey>0 && nKey<pBuf->n && nPrefix<=nKey );
  if( pSort->pPlan->bPrefix ){
    if( hpBufRoom(pBuf, HP_SZ_PREFIX) ) return HP_DECLINE;
    sqlite3Put4byte(&pBuf->a[pBuf->n], nPrefix);
    pBuf->n += HP_SZ_PREFIX;
  }
  n = ROUND8(sizeof(*pPair)+(u64)pBuf->n);
  pPair = hpArenaAlloc(&pRuns->arena, (i64)n);
  if( pPair==0 ) return HP_DECLINE;
  memset((u8*)pPair+n-8, 0, 8);
  pPair->nKey = nKey;
  pPair->nRec = pBuf->n - nKey;
  memcpy(&pPair[1], pBuf->a, pBuf->n);
  pRuns->aSorted[pRuns->nEntry++].aEntry = (u8*)pPair;
  pRuns->nRowByte += (i64)n + sizeof(struct HpSorted);
  return SQLITE_OK;
}

/* How many bytes of a pair's key the first HpSortPlan.nPrefix terms take.  The
** plan has bPrefix. */
static u32 hpSortPrefix(const u8 *aEntry){
  const HpPair *p = (const HpPair*)aEntry;
  assert( p->nRec>=HP_SZ_PREFIX );
  return sqlite3Get4byte((const u8*)&p[1] + p->nKey + p->nRec - HP_SZ_PREFIX);
}

/*
** Add row i of the batch.
*/
static int hpSortAdd(HpSort *pSort, const HpFrame *p, int i){
  HpBuf *pBuf = &pSort->runs.key;
  u32 nNorm, nPrefix;
  pBuf->n = 0;
  if( hpSortKey(pSort->pPlan, p, i, pBuf, &nPrefix) ) return HP_DECLINE;
  nNorm = pBuf->n;
  if( hpSortRecord(pSort->pPlan, p, i, pBuf) ) return HP_DECLINE;
  if( pSort->pPlan->row.entry.bWhole ){
    return hpSortPutPair(pSort, nNorm, nPrefix);
  }
  return hpSortPut(pSort, nNorm, nPrefix, p->iPos + i);
}

/*
** Bytes of rows that the next run is made of.
*/
static i64 hpSortChunk(const HpRuns *pRuns){
  const HpWorker *p = pRuns->pWorker;
  i64 n = (i64)HP_SORT_CHUNK << MIN(pRuns->nMemRun/HP_SORT_RUNS, 20);
  assert( p->pPipe->budget.nShare>=0 );
  return sqlite3TempInMemory(p->pPipe->pQuery->db)
       ? n : MIN(n, p->pPipe->budget.nShare/4);
}

/*
** Before rows of the batch are added: their integers as such.
*/
static void hpSortExact(const HpSortPlan *pPlan, HpFrame *p){
  int k;
  const HpKeys *pKeys = &pPlan->row.keys;
  for(k=0; k<pKeys->n; k++) hpVecExact(p, &p->aVec[pKeys->aVec[k]]);
  for(k=0; k<pPlan->nField; k++){
    if( hpFieldIsVec(&pPlan->aField[k]) ){
      hpVecExact(p, &p->aVec[pPlan->aField[k].iVec]);
    }
  }
}

/*
** Add the selected rows of the batch, from number ii on.
*/
static int hpSortStep(HpSort *pSort, HpFrame *p, int ii){
  HpRuns *pRuns = &pSort->runs;
  i64 mxRow = hpSortChunk(pRuns);
  int rc = ii<p->nSel ? hpSortLoad(pSort->pPlan, p) : SQLITE_OK;
  assert( hpVecIsSelection(p) && pRuns->pWorker==p->pWorker );
  if( rc ) return rc;
  for(; ii<p->nSel; ii++){
    if( pRuns->nEntry==pRuns->nSortedAlloc ){
      u32 nNew = MAX(1024, pRuns->nSortedAlloc*2);
      struct HpSorted *aNew;
      if( nNew>0x7fffffff ) return HP_DECLINE;
      aNew = sqlite3_realloc64(pRuns->aSorted, sizeof(*aNew)*(u64)nNew);
      if( aNew==0 ) return HP_DECLINE;
      pRuns->aSorted = aNew;
      pRuns->nSortedAlloc = nNew;
    }
    rc = hpSortAdd(pSort, p, p->aSel[ii]);
    if( rc ) return rc;
    if( pRuns->nRowByte>mxRow ){
      rc = hpMemRunMake(pRuns);
      if( rc ) return rc;
      mxRow = hpSortChunk(pRuns);
      /* With PRAGMA temp_store=memory stock keeps all rows in memory, too */
      if( !sqlite3TempInMemory(p->pWorker->pPipe->pQuery->db)
       && !hpHeldMay(pRuns, 0, HP_WISH)
      ){
        rc = hpRunsSpill(pRuns);
        if( rc ) return rc;
      }
    }
  }
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
