/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_partition: the first rows of each partition of a window.
**
**    hpPartitionLimit()      how many rows are wanted
**    hpPartitionWorthIt()    is it worth to look?
**    hpPartitionOpen()       begin
**    hpPartitionStep()       add the selected rows of a batch, here or to hp_sort
**    hpPartitionSort()       make a sorted run of the rows kept
**    hpPartitionClose()      end
**
** "The first k rows of each group" is written as
**
**    SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY a ORDER BY b) AS r
**                   FROM t) WHERE r<=k
**
** SQLite makes three SELECTs of it: the outer one, the one with the window, and
** one that it puts in the FROM clause of that, which sorts the rows of t by a
** and b.  row_number(), rank() and dense_rank() of a row depend on nothing but
** rows before it, so rows whose number is too large can be left out before the
** window's code sees them, and the others still get their numbers.  What the
** outer WHERE says is known when it codes its FROM clause: sqlite3HpWanted()
** leaves a note (HpWanted) in the SELECT with the window, and when that one
** codes its own FROM clause the note goes on to the sort.  The sort is hp_sort's,
** and stock's code for window, WHERE and the rest runs over what comes out of it.
** So leaving out fewer rows than possible is never wrong.
**
** Each worker has a hash table of partitions (hp_agg.c, by the PARTITION BY terms
** as if they were those of GROUP BY).  A partition has its first rows so far, in
** order, and what it takes to come before the last of them: a number for the
** first ORDER BY term of each row (hpPartitionNumber()), which is as far as most rows
** get.  These limits stand side by side, so that they stay in the processor's cache.  Of a row the
** values are kept, as many come only to be replaced; the record that the sort wants is made in the
** end, unless part of it is in no vector.
**
** Of row_number() the first k rows are kept, those with equal keys in scan
** order as everywhere; of rank() the first k and what is equal to the k-th; of
** dense_rank() the rows of the first k keys.  In the end the rows kept are sorted
** as hp_sort does it.  The merge of what the workers found counts the rows of
** each partition, and leaves out the rest.
**
** When memory is short the rows kept so far become a sorted run and the
** partitions are forgotten.  If partitions are so many or k so large that most
** rows are kept the worker goes on as if all rows were wanted: from an estimate
** (hpPartitionEnough()), or when it sees that memory is used up to no avail.
**
** As in hp_rows, a row that is left out is not seen by expressions above the sort.
** None of them may fail or have an effect: hpSafe().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_PART_CHECK  128    /* Look at partitions after so many rows, and twice
                              ** as many, and so on */

/*
** How many rows are wanted of each partition?  0: all of them.
*/
static i64 hpPartitionLimit(const HpSortPlan *pPlan, const Mem *aMem){
  i64 n = 0;
  if( pPlan->pPart==0 ) return 0;
  if( pPlan->iLimitReg ){
    const Mem *pMem = &aMem[pPlan->iLimitReg];
    if( (pMem->flags & MEM_Int)==0 ) return 0;
    n = MAX(pMem->u.i, 0);
  }
  /* One row is as right as none */
  return MAX(n + pPlan->nLimit, 1);
}

/* True if few rows are wanted, and the table is not too small */
static int hpPartitionWorthIt(const HpPipe *p){
  return p->pOut->mxRow>0 && p->pOut->mxRow<=HP_MX_WANTED
      && (p->pSource->nLeaf>=HP_PART_LEAF || !hpSizeIsShort(p));
}

/*
** Which vectors have the values that a row keeps: pParts->aiVal.
*/
static int hpPartitionValues(HpPartitions *pParts, const HpSortPlan *pPlan, HpWorker *p){
  const HpKeys *pKeys = &pPlan->row.keys;
  int nVec = p->frame.pProg->nVec;
  int i, k;
  pParts->aiVal = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)(pKeys->n+pPlan->nField+1));
  pParts->aVec = hpArenaAlloc(&p->vec, sizeof(HpVec)*(i64)nVec);
  if( pParts->aiVal==0 || pParts->aVec==0 ) return HP_DECLINE;
  memset(pParts->aVec, 0, sizeof(HpVec)*(size_t)nVec);
  for(k=pPlan->pPart->keys.n; k<pKeys->n; k++) pParts->aiVal[pParts->nVal++] = pKeys->aVec[k];
  for(k=0; k<pPlan->nField; k++) pParts->bRecord |= pPlan->aField[k].eField==HP_FIELD_RAW;
  for(k=0; k<pPlan->nField && !pParts->bRecord; k++){
    const HpField *pField = &pPlan->aField[k];
    if( pField->eField!=HP_FIELD_VEC ) continue;
    for(i=0; i<pParts->nVal && pParts->aiVal[i]!=pField->iVec; i++){}
    if( i==pParts->nVal ) pParts->aiVal[pParts->nVal++] = pField->iVec;
  }
  assert( pParts->nVal<=pKeys->n+pPlan->nField );
  return SQLITE_OK;
}

/*
** Begin.
*/
static int hpPartitionOpen(HpWorker *p){
  HpSort *pSort = p->pSink;
  HpPartitions *pParts;
  int rc;
  if( !hpPartitionWorthIt(p->pPipe) ) return SQLITE_OK;
  assert( pSort->pParts==0 && p->pPipe->pOut->mxRow<=HP_MX_WANTED );
  pSort->pParts = pParts = sqlite3_malloc64(sizeof(*pParts));
  if( pParts==0 ) return HP_DECLINE;
  memset(pParts, 0, sizeof(*pParts));
  pParts->mxRow = p->pPipe->pOut->mxRow;
  pParts->nCheck = HP_PART_CHECK;
  pParts->rRow = (double)hpSizeRows(p->pPipe->pSource);
  pParts->aOrder = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)p->frame.nAlloc);
  pParts->aCand = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)p->frame.nAlloc);
  if( pParts->aOrder==0 || pParts->aCand==0 ) return HP_DECLINE;
  hpBudgetArena(p->pPipe, &pParts->kept);
  rc = hpPartitionValues(pParts, pSort->pPlan, p);
  if( rc ) return rc;
  rc = hpTableOpen(&p->frame, pSort->pPlan->pPart, &pParts->pAgg);
  /* In order of the keys groups might be put aside: hpAssignUnordered() */
  if( rc==SQLITE_OK ) hpAssignOpen(pParts->pAgg, 0);
  return rc;
}

/*
** Forget the partitions of a worker.
*/
static void hpPartitionClose(HpSort *pSort){
  if( pSort && pSort->pParts ){
    hpTableClose(pSort->pParts->pAgg);
    sqlite3_free(pSort->pParts->aLimit);
    hpArenaClear(&pSort->pParts->kept);
    sqlite3_free(pSort->pParts);
    pSort->pParts = 0;
  }
}

/*
** A number for a value, so that a value with a smaller one comes before it in the
** order of flags (KEYINFO_ORDER_xxx).  Doubles have 2^64 - 2^53 different values,
** their bits turned so that they sort.  What lies before is for NULL, what lies
** behind for the first bytes of texts and blobs.  8 bytes are readable there.
*/
#define HP_ORDER_TEXT ((((u64)0xfff00000)<<32) | 1)
#define HP_ORDER_BLOB ((((u64)0xfff80000)<<32) | 1)
static SQLITE_INLINE u64 hpPartitionNumber(
  u8 tag, HpVal v, u32 n,
  CollSeq *pColl,
  u8 flags
){
  u64 x = 0;
  if( tag & HP_NUM ){
    if( tag==HP_INT ) v.r = (double)v.i;
    if( v.r==0.0 ) v.r = 0.0;      /* -0.0 is equal */
    x = v.u ^ ((v.u>>63) ? ~(u64)0 : (u64)1<<63);
  }else if( tag & HP_STR ){
    if( pColl==0 && n>0 ) x = hpLoadBytes(v.z, MIN(n,8)) << (64-8*MIN(n,8));
    x = tag==HP_TEXT ? HP_ORDER_TEXT+(x>>13) : HP_ORDER_BLOB+(x>>14);
  }else if( flags & KEYINFO_ORDER_BIGNULL ){
    x = ~(u64)0;
  }
  return (flags & KEYINFO_ORDER_DESC) ? ~x : x;
}

/*
** True if all values with number x are equal: NULL, and numbers below 2^53.
*/
static int hpPartitionExact(u64 x, u8 flags){
  if( flags & KEYINFO_ORDER_DESC ) x = ~x;
  return x==0 || x==~(u64)0
      || (x>(((u64)0x3cbfffff<<32)|0xffffffff) && x<(u64)0xc3400000<<32);
}

/*
** Numbers of the first ORDER BY terms of the selected rows.
*/
static void hpPartitionOrder(HpSort *pSort, const HpFrame *p){
  const HpSortPlan *pPlan = pSort->pPlan;
  u64 *aOrder = pSort->pParts->aOrder;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int k = pPlan->pPart->keys.n;
  int ii;
  if( k==pPlan->row.keys.n ){
    memset(aOrder, 0, sizeof(u64)*nSel);
  }else{
    const HpVec *pVec = &p->aVec[pPlan->row.keys.aVec[k]];
    CollSeq *pColl = pPlan->row.keys.aColl[k];
    u8 flags = pPlan->row.keys.aSort[k];
    u8 mType = pVec->mType;
    assert( pVec->bFloat==0 && pVec->bLate==0 );
#define HP_ORDER_LOOP(TAG,LEN) \
    for(ii=0; ii<nSel; ii++){ \
      int i = aSel[ii] & pVec->mIdx; \
      aOrder[ii] = hpPartitionNumber(TAG, pVec->aVal[i], LEN, pColl, flags); \
    }
    if( mType==HP_INT ){
      HP_ORDER_LOOP(HP_INT, 0)
    }else if( mType==HP_REAL ){
      HP_ORDER_LOOP(HP_REAL, 0)
    }else{
      HP_ORDER_LOOP(pVec->aTag[i], (pVec->aTag[i] & HP_STR) ? pVec->aLen[i] : 0)
    }
#undef HP_ORDER_LOOP
  }
}

/*
** Let there be a limit for each partition: none yet for the new ones.
*/
static int hpPartitionLimits(HpPartitions *pParts){
  u32 nPart = pParts->pAgg->runs.nEntry;
  if( nPart>pParts->nLimitAlloc ){
    u32 nNew = MAX(HP_MX_CACHED, 2*nPart);
    u64 *aNew = sqlite3_realloc64(pParts->aLimit, sizeof(u64)*(u64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    pParts->aLimit = aNew;
    pParts->nLimitAlloc = nNew;
  }
  while( pParts->nLimit<nPart ) pParts->aLimit[pParts->nLimit++] = ~(u64)0;
  assert( pParts->nLimit==nPart );   /* None is forgotten by itself */
  return SQLITE_OK;
}

/*
** The limit of a partition, HpPartitions.aLimit: none, that of its last row, or what comes before
** that if no other row with its number is wanted.
*/
static u64 hpPartitionLast(const HpSortPlan *pPlan, const HpPartition *pPart){
  int nPart = pPlan->pPart->keys.n;
  int nKey = pPlan->row.keys.n;
  u64 iLast;
  int bExact;
  if( pPart->bFull==0 ) return ~(u64)0;
  assert( pPart->nRow>0 );
  iLast = pPart->aRow[pPart->nRow-1].iOrder;
  bExact = pPlan->eNumber==HP_NUMBER_ROWS
      && (nPart==nKey
          || (nPart+1==nKey && hpPartitionExact(iLast, pPlan->row.keys.aSort[nPart])));
  return iLast - (bExact && iLast>0);
}

/*
** Compare row i of the batch, which has iOrder, with one that was kept.
*/
static SQLITE_INLINE int hpPartitionCompare(
  const HpSortPlan *pPlan,
  const HpFrame *p,
  int i,
  u64 iOrder,
  const HpPartitionRow *pRow
){
  if( iOrder!=pRow->iOrder ) return iOrder<pRow->iOrder ? -1 : 1;
  return hpKeptCompareRow(&pPlan->row.keys, pPlan->pPart->keys.n, p, i, pRow->pKept->aVal);
}

/* Compare two rows that were kept */
static int hpPartitionCompareRows(
  const HpSortPlan *pPlan,
  const HpPartitionRow *pA,
  const HpPartitionRow *pB
){
  if( pA->iOrder!=pB->iOrder ) return pA->iOrder<pB->iOrder ? -1 : 1;
  return hpKeptCompareKeys(&pPlan->row.keys, pPlan->pPart->keys.n, pA->pKept->aVal, pB->pKept->aVal);
}

/* Bytes of a row that is kept, without texts and record */
#define hpPartitionSize(P) \
  (sizeof(HpPartitionKept) + sizeof(HpKept)*(size_t)MAX((P)->nVal-1, 0))

/*
** Keep row i of the batch in *pKept.
*/
static int hpPartitionKeep(HpSort *pSort, HpFrame *p, int i, HpPartitionKept *pKept){
  HpPartitions *pParts = pSort->pParts;
  HpBuf *pBuf = &pSort->runs.key;
  int k, rc;
  pKept->iPos = p->iPos + i;
  for(k=0; k<pParts->nVal; k++){
    rc = hpKeptSet(&pParts->kept, &pKept->aVal[k], &p->aVec[pParts->aiVal[k]], i);
    if( rc ) return rc;
  }
  if( pParts->bRecord==0 ) return SQLITE_OK;
  rc = hpSortLoadOne(pSort->pPlan, p, i);
  if( rc ) return rc;
  pBuf->n = 0;
  if( hpSortRecord(pSort->pPlan, p, i, pBuf) ) return HP_DECLINE;
  if( pBuf->n>pKept->nRecAlloc ){
    u32 nNew = MAX(pBuf->n, 2*pKept->nRecAlloc);
    u8 *aNew = hpArenaAlloc(&pParts->kept, nNew);
    if( aNew==0 ) return HP_DECLINE;
    pKept->aRec = aNew;
    pKept->nRecAlloc = nNew;
  }
  memcpy(pKept->aRec, pBuf->a, pBuf->n);
  pKept->nRec = pBuf->n;
  return SQLITE_OK;
}

/*
** Insert row i of the batch as entry j of pPart.
*/
static int hpPartitionInsert(
  HpSort *pSort,
  HpFrame *p,
  int i,
  HpPartition *pPart, u32 j,
  u64 iOrder
){
  HpPartitions *pParts = pSort->pParts;
  HpPartitionKept *pKept = pParts->pFree;
  int rc;
  if( pPart->nRow>=pPart->nAlloc ){
    u32 nNew = pPart->nAlloc ? pPart->nAlloc*2
                             : (u32)MIN(pParts->mxRow+1, 4);
    HpPartitionRow *aNew = hpArenaAlloc(&pParts->kept, sizeof(*aNew)*(i64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    if( pPart->nRow ) memcpy(aNew, pPart->aRow, sizeof(*aNew)*(size_t)pPart->nRow);
    pPart->aRow = aNew;
    pPart->nAlloc = nNew;
  }
  if( pKept ){
    pParts->pFree = pKept->pNext;
  }else{
    pKept = hpArenaAlloc(&pParts->kept, hpPartitionSize(pParts));
    if( pKept==0 ) return HP_DECLINE;
    memset(pKept, 0, hpPartitionSize(pParts));
  }
  rc = hpPartitionKeep(pSort, p, i, pKept);
  if( rc ) return rc;
  assert( j<=pPart->nRow && pPart->nRow<pPart->nAlloc );
  memmove(&pPart->aRow[j+1], &pPart->aRow[j],
          sizeof(HpPartitionRow)*(size_t)(pPart->nRow-j));
  pPart->aRow[j].iOrder = iOrder;
  pPart->aRow[j].pKept = pKept;
  pPart->nRow++;
  pParts->nKept++;
  assert( pParts->nKept>=(i64)pPart->nRow );
  return SQLITE_OK;
}

/*
** Leave out the last row of pPart.
*/
static void hpPartitionDrop(HpPartitions *pParts, HpPartition *pPart){
  HpPartitionKept *pKept = pPart->aRow[--pPart->nRow].pKept;
  assert( pParts->nKept>pPart->nRow );
  pKept->pNext = pParts->pFree;
  pParts->pFree = pKept;
  pParts->nKept--;
}

#ifdef SQLITE_DEBUG
/* The rows of a partition are in order; with equal keys, in that of the scan */
static int hpPartitionIsSane(const HpSortPlan *pPlan, const HpPartition *pPart){
  u32 j;
  if( pPart->nRow>pPart->nAlloc ) return 0;
  for(j=1; j<pPart->nRow; j++){
    const HpPartitionRow *pA = &pPart->aRow[j-1];
    const HpPartitionRow *pB = &pPart->aRow[j];
    int c = hpPartitionCompareRows(pPlan, pA, pB);
    if( c>0 || (c==0 && pA->pKept->iPos>=pB->pKept->iPos) ) return 0;
  }
  return 1;
}
#endif

/*
** Leave out what is not wanted any more of a partition that has got a row more.
*/
static void hpPartitionTrim(HpSort *pSort, HpPartition *pPart){
  const HpSortPlan *pPlan = pSort->pPlan;
  HpPartitions *pParts = pSort->pParts;
  HpPartitionRow *a = pPart->aRow;
  u32 mxRow = (u32)pParts->mxRow;
  switch( pPlan->eNumber ){
    case HP_NUMBER_ROWS:
      if( pPart->nRow>mxRow ) hpPartitionDrop(pParts, pPart);
      pPart->bFull = pPart->nRow==mxRow;
      break;
    case HP_NUMBER_RANK:
      while( pPart->nRow>mxRow
          && hpPartitionCompareRows(pPlan, &a[pPart->nRow-1], &a[mxRow-1])!=0
      ){
        hpPartitionDrop(pParts, pPart);
      }
      pPart->bFull = pPart->nRow>=mxRow;
      break;
    default:
      assert( pPlan->eNumber==HP_NUMBER_DENSE );
      if( pPart->nKey>mxRow ){
        u32 n = pPart->nRow-1;
        while( n>0 && hpPartitionCompareRows(pPlan, &a[n-1], &a[n])==0 ) n--;
        while( pPart->nRow>n ) hpPartitionDrop(pParts, pPart);
        pPart->nKey--;
      }
      pPart->bFull = pPart->nKey==mxRow;
      assert( pPart->nKey<=mxRow && pPart->nKey<=pPart->nRow );
      break;
  }
  assert( hpPartitionIsSane(pPlan, pPart) );
}

/*
** Keep row i of the batch, which is of partition pPart, unless it turns out
** that it is not wanted.  All rows there were scanned before it.
*/
static int hpPartitionAdd(
  HpSort *pSort,
  HpFrame *p,
  HpPartition *pPart,
  int i,
  u64 iOrder
){
  const HpSortPlan *pPlan = pSort->pPlan;
  u32 lwr = 0;
  u32 upr = pPart->nRow;
  int bSame;             /* There is a row with an equal key */
  int c, rc;
#define hpPartitionNew(J)  hpPartitionCompare(pPlan, p, i, iOrder, &pPart->aRow[J])
  /* It goes to lwr, behind those that are not larger */
  c = upr>0 ? hpPartitionNew(upr-1) : -1;
  if( c>=0 ) lwr = upr;
  while( lwr<upr ){
    u32 j = (lwr+upr)/2;
    if( hpPartitionNew(j)<0 ){
      upr = j;
    }else{
      lwr = j+1;
    }
  }
  bSame = c==0 || (c<0 && lwr>0 && hpPartitionNew(lwr-1)==0);
#undef hpPartitionNew
  if( pPart->bFull && lwr==pPart->nRow
   && (bSame==0 || pPlan->eNumber==HP_NUMBER_ROWS)
  ){
    return SQLITE_OK;
  }
  rc = hpPartitionInsert(pSort, p, i, pPart, lwr, iOrder);
  if( rc ) return rc;
  if( bSame==0 ) pPart->nKey++;
  hpPartitionTrim(pSort, pPart);
  return SQLITE_OK;
}

/*
** Hand row pKept over to the sort.  Its key begins with the nPrefix bytes that are in the buffer.
*/
static int hpPartitionRow(HpSort *pSort, HpFrame *p, const HpPartitionKept *pKept, u32 nPrefix){
  const HpSortPlan *pPlan = pSort->pPlan;
  const HpPartitions *pParts = pSort->pParts;
  const HpKeys *pKeys = &pPlan->row.keys;
  HpBuf *pBuf = &pSort->runs.key;
  int nPart = pPlan->pPart->keys.n;
  u32 nNorm;
  int k;
  assert( pParts->bRecord || pParts->nVal>=pKeys->n-nPart );
  pBuf->n = nPrefix;
  for(k=nPart; k<pKeys->n; k++){
    const HpKept *pVal = &pKept->aVal[k-nPart];
    if( hpKeyAppend(pBuf, pVal->tag, pVal->val, pVal->n, pKeys->aColl[k], pKeys->aSort[k]) ){
      return HP_DECLINE;
    }
  }
  nNorm = pBuf->n;
  if( pParts->bRecord ){
    if( hpBufAppend(pBuf, pKept->aRec, pKept->nRec) ) return HP_DECLINE;
  }else{
    for(k=0; k<pParts->nVal; k++){
      HpVec *pVec = &pParts->aVec[pParts->aiVal[k]];
      pVec->aVal = (HpVal*)&pKept->aVal[k].val;
      pVec->aTag = (u8*)&pKept->aVal[k].tag;
      pVec->aLen = (u32*)&pKept->aVal[k].n;
    }
    if( hpSortRecord(pPlan, p, 0, pBuf) ) return HP_DECLINE;
  }
  return hpSortPut(pSort, nNorm, nPrefix, pKept->iPos);
}

/*
** Hand the rows kept over to the sort: as if they were all that there had been.
** Then there are no partitions.
*/
static int hpPartitionRows(HpSort *pSort){
  HpPartitions *pParts = pSort->pParts;
  const HpGroupPlan *pPart = pSort->pPlan->pPart;
  HpRuns *pRuns = &pSort->runs;
  HpFrame frame = pRuns->pWorker->frame;
  u32 iPart, j;
  int rc;
  if( pParts->nKept>0x7fffffff ) return HP_DECLINE;
  if( pParts->nKept>pRuns->nSortedAlloc ){
    struct HpSorted *aNew;
    aNew = sqlite3_realloc64(pRuns->aSorted, sizeof(*aNew)*(u64)pParts->nKept);
    if( aNew==0 ) return HP_DECLINE;
    pRuns->aSorted = aNew;
    pRuns->nSortedAlloc = (u32)pParts->nKept;
  }
  /* Where hpSortRecord() finds the values of a row */
  frame.aVec = pParts->aVec;
  assert( pRuns->nEntry==0 );
  for(iPart=0; iPart<pParts->pAgg->runs.nEntry; iPart++){
    const u8 *aGroup = hpHeldAt(&pParts->pAgg->runs, iPart);
    const HpPartition *p = hpGroupPartition(aGroup);
    u32 nPrefix;
    assert( hpPartitionIsSane(pSort->pPlan, p) );
    pRuns->key.n = 0;
    if( pPart->keys.n ){
      u8 aBuf[HP_SZ_NUMBER];
      u32 n;
      const u8 *z = hpHeldKey(&pPart->entry, aGroup, aBuf, &n);
      if( hpBufAppend(&pRuns->key, z, n) ) return HP_DECLINE;
    }
    nPrefix = pRuns->key.n;
    for(j=0; j<p->nRow; j++){
      rc = hpPartitionRow(pSort, &frame, p->aRow[j].pKept, nPrefix);
      if( rc ) return rc;
    }
  }
  assert( pRuns->nEntry==pParts->nKept );
  pParts->nKept = pParts->nSince = 0;
  pParts->nLimit = 0;
  pParts->pFree = 0;
  hpArenaClear(&pParts->kept);
  hpBudgetArena(pRuns->pWorker->pPipe, &pParts->kept);
  if( pPart->keys.n ){
    hpTableReset(pParts->pAgg, pRuns->pWorker->pPipe->budget.nShare/4);
    pParts->pAgg->runs.bOrdered = 0;
  }else{
    memset(hpGroupPartition(hpHeldAt(&pParts->pAgg->runs, 0)), 0,
           sizeof(HpPartition));
  }
  return SQLITE_OK;
}

/*
** After the selected rows: will most rows be kept, because there are so many
** partitions, or so many rows wanted of each?  How many partitions there will be
** is to be guessed.  If more than half of the rows were the first of their
** partition take them for drawn at random from a set of some size; else, if new
** ones come as often as before, they will go on to come.
*/
static int hpPartitionTooMany(const HpSort *pSort, const HpFrame *p){
  const HpWorker *pWorker = p->pWorker;
  HpPartitions *pParts = pSort->pParts;
  u32 nPart = pParts->pAgg->runs.nEntry;
  u32 nBefore = pParts->nPart;
  double rSeen = (double)pParts->nSeen;
  double rScanned = (double)pWorker->nScanned + p->aSel[p->nSel-1] + 1;
  double rAll = pParts->rRow * rSeen / (rScanned*pWorker->pPipe->nWorker);
  double rKept = (double)nPart;
  pParts->nPart = nPart;
  if( pParts->rRow==0.0 ) return 0;
  if( rKept>rSeen/2 ){
    rKept = rSeen*rSeen / (2*(rSeen-rKept+1));
  }else if( nBefore>0 && nPart-nBefore>nBefore-nBefore/8 ){
    rKept *= rAll/rSeen;
  }
  rKept = MAX(rKept*(double)pParts->mxRow, (double)pParts->nKept);
  return (hpSizeIsShort(pWorker->pPipe) ? 4 : 2)*rKept>rAll;
}

/*
** Make a sorted run of the worker's rows.
*/
static int hpPartitionSort(HpSort *pSort){
  int rc = pSort->pParts ? hpPartitionRows(pSort) : SQLITE_OK;
  return rc ? rc : hpMemRunMake(&pSort->runs);
}

/*
** After the selected rows: is it worth to go on, and is there memory enough?
*/
static int hpPartitionEnough(HpSort *pSort, const HpFrame *p){
  HpPartitions *pParts = pSort->pParts;
  HpPipe *pPipe = p->pWorker->pPipe;
  int bOff;
  int rc;
  i64 n = hpHeldMemory(&pSort->runs) + hpHeldMemory(&pParts->pAgg->runs)
          + pParts->kept.nTotal + pParts->kept.nSpare
          + pParts->nKept*(i64)sizeof(struct HpSorted)
          + pParts->nLimitAlloc*(i64)sizeof(u64);
  hpBudgetHold(p->pWorker, n);
  /* Sorted they are there twice, and merged with earlier ones three times.  Of values, a text is in
  ** the key and in the record */
  if( !hpBudgetMay(p->pWorker, (pParts->bRecord ? 2 : 4)*n, HP_WISH) ){
    bOff = 2*pParts->nKept>pParts->nSince;
    rc = hpPartitionSort(pSort);
    if( rc==SQLITE_OK && !sqlite3TempInMemory(pPipe->pQuery->db) ){
      rc = hpRunsSpill(&pSort->runs);
    }
  }else if( pParts->nSeen>=pParts->nCheck ){
    pParts->nCheck *= 2;
    bOff = hpPartitionTooMany(pSort, p);
    if( bOff==0 ) return SQLITE_OK;
    if( hpSizeIsShort(pPipe) ) return HP_DECLINE;
    rc = hpPartitionSort(pSort);
  }else{
    return SQLITE_OK;
  }
  if( bOff ) hpPartitionClose(pSort);
  return rc;
}

/*
** Set HpPartitions.aCand to those of the selected rows that are within the limits of their
** partitions, and ask for the memory that adding them will touch.  Returns their number.
*/
static int hpPartitionWithin(HpPartitions *pParts, const HpFrame *p, int bKeys){
  const HpAgg *pAgg = pParts->pAgg;
  const u64 *aOrder = pParts->aOrder;
  const u64 *aLimit = pParts->aLimit;
  u16 *aCand = pParts->aCand;
  int n = 0;
  int ii;
  if( bKeys==0 ){
    for(ii=0; ii<p->nSel; ii++){
      if( aOrder[ii]<=aLimit[0] ) aCand[n++] = (u16)ii;
    }
    return n;
  }
  for(ii=0; ii<p->nSel; ii++){
    u32 iPart = pAgg->aiGroup[ii];
    assert( iPart<pParts->nLimit );
    if( aOrder[ii]>aLimit[iPart] ) continue;
    aCand[n++] = (u16)ii;
    hpPrefetch(hpGroupPartition(hpHeldAt(&pAgg->runs, iPart)));
  }
  for(ii=0; ii<n; ii++){
    const HpPartition *pPart = hpGroupPartition(hpHeldAt(&pAgg->runs, pAgg->aiGroup[aCand[ii]]));
    if( pPart->nRow ) hpPrefetch(pPart->aRow);
  }
  for(ii=0; ii<n; ii++){
    const HpPartition *pPart = hpGroupPartition(hpHeldAt(&pAgg->runs, pAgg->aiGroup[aCand[ii]]));
    if( pPart->nRow ) hpPrefetch(pPart->aRow[pPart->nRow-1].pKept);
  }
  return n;
}

/*
** Add the selected rows.
*/
static int hpPartitionRun(HpSort *pSort, HpFrame *p){
  HpPartitions *pParts = pSort->pParts;
  HpAgg *pAgg = pParts->pAgg;
  const u64 *aOrder = pParts->aOrder;
  int nKey = pAgg->pPlan->keys.n;
  int nCand;
  int ii, rc;
  if( nKey ){
    rc = pAgg->pAssigner->xRows(pAgg, p);
    if( rc ) return rc;
    assert( hpAssignIsRight(pAgg, p) );
  }
  rc = hpPartitionLimits(pParts);
  if( rc ) return rc;
  hpPartitionOrder(pSort, p);
  nCand = hpPartitionWithin(pParts, p, nKey>0);
  for(ii=0; ii<nCand; ii++){
    int i = pParts->aCand[ii];
    u32 iPart = nKey ? pAgg->aiGroup[i] : 0;
    HpPartition *pPart = hpGroupPartition(hpHeldAt(&pAgg->runs, iPart));
    /* Rows before may have made it narrower */
    if( aOrder[i]>pParts->aLimit[iPart] ) continue;
    rc = hpPartitionAdd(pSort, p, pPart, p->aSel[i], aOrder[i]);
    if( rc ) return rc;
    /* It only gets narrower */
    assert( hpPartitionLast(pSort->pPlan, pPart)<=pParts->aLimit[iPart] );
    pParts->aLimit[iPart] = hpPartitionLast(pSort->pPlan, pPart);
  }
  pParts->nSeen += p->nSel;
  pParts->nSince += p->nSel;
  return hpPartitionEnough(pSort, p);
}

/*
** Add the selected rows of the batch, the first ones of a scan in smaller portions,
** as long as there are partitions, and the rest to the sort.
*/
static int hpPartitionStep(HpSort *pSort, HpFrame *p){
  u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int n = 0;
  int rc = SQLITE_OK;
  hpSortExact(pSort->pPlan, p);
  while( n<nSel && pSort->pParts && rc==SQLITE_OK ){
    p->aSel = &aSel[n];
    p->nSel = nSel-n;
    if( pSort->pParts->nSeen<HP_BATCH ) p->nSel = MIN(p->nSel, HP_PART_CHECK);
    n += p->nSel;
    rc = hpPartitionRun(pSort, p);
  }
  p->aSel = aSel;
  p->nSel = nSel;
  assert( rc || n==nSel || pSort->pParts==0 );
  return rc ? rc : hpSortStep(pSort, p, n);
}
#endif /* SQLITE_OMIT_HP */
