/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_runs: sorted runs, read and merged.
**
**    hpRunsNew()       a merge of some runs
**    hpRunsMemory()    let it read those that a worker has in memory
**    hpRunsFirst()     go to their first groups or rows
**    hpRunsStep()      the next group, the parts of all runs added up
**    hpRunsWanted()    the next row that a window wants
**    hpRunsSpill()     write a worker's runs in memory to its file, as one
**    hpRunsMixed()     were values of entries added up in another order than
**                      SQLite's?
**    hpRunsFree()      free a merge
**
** A run is a sequence of groups or rows whose normalized keys increase: in memory (hp_radix.c,
** hp_memrun.c) or in a temporary file (hp_spill.c).  Each has a reader.  Readers are in a heap, the
** one with the smallest key on top.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Make nWant bytes readable at pReader->aBuf[pReader->iBuf].
*/
static int hpReaderFill(HpRunReader *pReader, u64 nWant){
  u32 nRest = pReader->nBuf - pReader->iBuf;
  u32 nRead, i;
  int rc;
  assert( pReader->iBuf<=pReader->nBuf && pReader->iOfst<=pReader->iEnd );
  if( nRest>=nWant ) return SQLITE_OK;
  if( nWant>(u64)(pReader->iEnd-pReader->iOfst)+nRest ){
    return SQLITE_CORRUPT_BKPT;
  }
  if( nWant>pReader->mxRecord ) return SQLITE_CORRUPT_BKPT;
  if( pReader->nAlloc==0 ){
    /* Once, and enough: while groups are delivered it would be too late */
    u32 nNew = (u32)MAX(pReader->mxRecord, HP_SPILL_BUF);
    assert( pReader->aBuf==0 && nRest==0 );
    pReader->aBuf = sqlite3_malloc64(nNew);
    if( pReader->aBuf==0 ) return HP_DECLINE;
    pReader->nAlloc = nNew;
  }else if( nRest ){
    memmove(pReader->aBuf, &pReader->aBuf[pReader->iBuf], nRest);
  }
  pReader->iBuf = 0;
  nRead = (u32)MIN((i64)(pReader->nAlloc-nRest), pReader->iEnd-pReader->iOfst);
  for(i=0, rc=SQLITE_OK; i<nRead && rc==SQLITE_OK; i+=HP_SPILL_IO){
    rc = sqlite3OsRead(pReader->pFd, &pReader->aBuf[nRest+i],
                       (int)MIN(HP_SPILL_IO, nRead-i), pReader->iOfst+i);
  }
  pReader->iOfst += nRead;
  pReader->nBuf = nRest + nRead;
  assert( pReader->nBuf>=nWant && pReader->nBuf<=pReader->nAlloc );
  return rc==SQLITE_IOERR_SHORT_READ ? SQLITE_IOERR_READ : rc;
}

/*
** Go to the next group of a run.
*/
static int hpReaderNext(const HpEntryPlan *pPlan, HpRunReader *pReader){
  u64 n = 8;
  int rc;
  pReader->aEntry = 0;
  if( pReader->pRuns ){
    if( pReader->iNext<pReader->n ){
      if( !pReader->pRuns->bOrdered ){
        hpRadixPrefetch(pPlan, pReader->pRuns->aSorted, pReader->iNext, pReader->n)
      }
      pReader->aEntry = hpRadixAt(pReader->pRuns, pReader->iNext++);
    }
    return SQLITE_OK;
  }
  if( pReader->iBuf==pReader->nBuf && pReader->iOfst==pReader->iEnd ){
    return SQLITE_OK;
  }
  rc = hpReaderFill(pReader, n);
  if( rc ) return rc;
  n = hpSpillBytes(pPlan, &pReader->aBuf[pReader->iBuf]);
  rc = hpReaderFill(pReader, n);
  if( rc ) return rc;
  pReader->aEntry = &pReader->aBuf[pReader->iBuf+hpSpillHead(pPlan)];
  pReader->iBuf += (u32)n;
  hpSpillPointers(pPlan, pReader->aEntry);
  if( pPlan->bRows ){
    /* At least eight bytes are readable: a record has that many */
    u32 nKey;
    const u8 *z = hpEntryKey(pPlan, pReader->aEntry, &nKey);
    pReader->prefix = hpLoad8(z);
    if( nKey<8 ) pReader->prefix &= ~(u64)0 << (64-8*nKey);
  }
  return SQLITE_OK;
}

#ifdef SQLITE_DEBUG
/* No reader's group comes before that of the one above it in the heap */
static int hpHeapIsSane(const HpEntryPlan *pPlan, const HpMerge *pMerge){
  int i;
  for(i=1; i<pMerge->nHeap; i++){
    if( hpRadixCompare(pPlan, pMerge->apHeap[(i-1)/2]->aEntry,
                       pMerge->apHeap[i]->aEntry)>0 ) return 0;
  }
  /* A row's reader stays in the heap */
  return pMerge->nHeap+(pPlan->bRows ? 0 : pMerge->nUsed)<=pMerge->nReader;
}
#endif

/*
** Add a reader to the heap, unless it is at its end.
*/
static void hpHeapAdd(const HpEntryPlan *pPlan, HpMerge *pMerge, HpRunReader *pNew){
  int i;
  if( pNew->aEntry==0 ) return;
  for(i=pMerge->nHeap++; i>0; i=(i-1)/2){
    HpRunReader *pUp = pMerge->apHeap[(i-1)/2];
    if( hpRadixCompare(pPlan, pUp->aEntry, pNew->aEntry)<=0 ) break;
    pMerge->apHeap[i] = pUp;
  }
  pMerge->apHeap[i] = pNew;
  assert( hpHeapIsSane(pPlan, pMerge) );
}

/*
** Remove the first reader from the heap.
*/
static HpRunReader *hpHeapRemove(const HpEntryPlan *pPlan, HpMerge *pMerge){
  HpRunReader *pOut = pMerge->apHeap[0];
  HpRunReader *pLast = pMerge->apHeap[--pMerge->nHeap];
  int n = pMerge->nHeap;
  int i = 0;
  assert( n>=0 && pOut->aEntry!=0 );
  for(;;){
    int j = 2*i+1;
    if( j>=n ) break;
    if( j+1<n && hpRadixCompare(pPlan, pMerge->apHeap[j+1]->aEntry,
                                pMerge->apHeap[j]->aEntry)<0 ){
      j++;
    }
    if( hpRadixCompare(pPlan, pLast->aEntry, pMerge->apHeap[j]->aEntry)<=0 ){
      break;
    }
    pMerge->apHeap[i] = pMerge->apHeap[j];
    i = j;
  }
  pMerge->apHeap[i] = pLast;
  return pOut;
}

/*
** The next group of all runs, its parts merged, or NULL: *paEntry.  It is valid
** until the next call.
*/
static int hpRunsStep(const HpEntryPlan *pPlan, HpMerge *pMerge, u8 **paEntry){
  HpRunReader *pFirst;
  int rc;
  *paEntry = 0;
  while( pMerge->nUsed>0 ){
    HpRunReader *pReader = pMerge->apUsed[--pMerge->nUsed];
    rc = hpReaderNext(pPlan, pReader);
    if( rc ) return rc;
    hpHeapAdd(pPlan, pMerge, pReader);
  }
  if( pMerge->nHeap==0 ) return SQLITE_OK;
  assert( hpHeapIsSane(pPlan, pMerge) && pPlan->bRows==0 );
  pFirst = hpHeapRemove(pPlan, pMerge);
  pMerge->apUsed[pMerge->nUsed++] = pFirst;
  while( pMerge->nHeap>0
      && hpRadixCompare(pPlan, pMerge->apHeap[0]->aEntry, pFirst->aEntry)==0
  ){
    HpRunReader *pReader = hpHeapRemove(pPlan, pMerge);
    pMerge->apUsed[pMerge->nUsed++] = pReader;
    rc = pPlan->pType->xCombine(pPlan, pFirst->aEntry, pReader->aEntry);
    if( rc ) return rc;
  }
  *paEntry = pFirst->aEntry;
  return SQLITE_OK;
}

/*
** Of rows: is that of pA the first?
*/
static SQLITE_INLINE int hpReaderLess(
  const HpEntryPlan *pPlan,
  const HpRunReader *pA,
  const HpRunReader *pB
){
  if( pA->prefix!=pB->prefix ) return pA->prefix<pB->prefix;
  return hpRadixCompare(pPlan, pA->aEntry, pB->aEntry)<0;
}

/*
** Of rows: the next one, or NULL: *paEntry.  It is valid until the next
** call.
**
** The reader that was first goes on, and finds its new place in the heap: the
** hole that it leaves moves down to a leaf, which is where most of them belong,
** and then it moves up from there.
*/
static int hpHeapRow(const HpEntryPlan *pPlan, HpMerge *pMerge, u8 **paEntry){
  HpRunReader **ap = pMerge->apHeap;
  assert( pPlan->bRows && pMerge->nUsed<=1 );
  *paEntry = 0;
  if( pMerge->nUsed ){
    HpRunReader *pNew = ap[0];
    int i = 0;
    int j, n;
    int rc = hpReaderNext(pPlan, pNew);
    if( rc ) return rc;
    if( pNew->aEntry==0 ) pNew = ap[--pMerge->nHeap];
    n = pMerge->nHeap;
    while( (j = 2*i+1)<n ){
      if( j+1<n ) j += hpReaderLess(pPlan, ap[j+1], ap[j]);
      ap[i] = ap[j];
      i = j;
    }
    while( i>0 && hpReaderLess(pPlan, pNew, ap[(i-1)/2]) ){
      ap[i] = ap[(i-1)/2];
      i = (i-1)/2;
    }
    ap[i] = pNew;
  }
  pMerge->nUsed = pMerge->nHeap>0;
  assert( hpHeapIsSane(pPlan, pMerge) );
  if( pMerge->nHeap ) *paEntry = ap[0]->aEntry;
  return SQLITE_OK;
}

/*
** The same, but leave out rows that a window does not want.
*/
static int hpRunsWanted(const HpPipe *p, HpMerge *pMerge, u8 **paEntry){
  int rc;
  do{
    rc = hpHeapRow(p->pEntry, pMerge, paEntry);
  }while( rc==SQLITE_OK && p->pOut->mxRow>0 && *paEntry
       && hpNumberSkip(p, &pMerge->count, *paEntry) );
  return rc;
}

/* Do entries of p hold what depends on the order of rows, and was there another
** one? */
static int hpRunsMixed(const HpPipe *p){
  const HpEntryType *pType = p->pEntry->pType;
  return pType && pType->xMixed(p);
}

static void hpRunsFree(HpMerge *pMerge){
  if( pMerge ){
    int i;
    for(i=0; i<pMerge->nReader; i++){
      if( pMerge->aReader[i].pFd ) sqlite3_free(pMerge->aReader[i].aBuf);
    }
    sqlite3_free(pMerge->aReader);
    sqlite3_free(pMerge->apHeap);
    sqlite3_free(pMerge->apUsed);
    sqlite3_free(pMerge->apEntry);
    sqlite3_free(pMerge->count.norm.a);
    sqlite3_free(pMerge);
  }
}

/*
** A merge of up to nReader runs, or NULL.
*/
static HpMerge *hpRunsNew(int nReader){
  HpMerge *pMerge = sqlite3_malloc64(sizeof(*pMerge));
  u64 n = (u64)nReader+1;
  if( pMerge==0 ) return 0;
  memset(pMerge, 0, sizeof(*pMerge));
  pMerge->aReader = sqlite3_malloc64(sizeof(HpRunReader)*n);
  pMerge->apHeap = sqlite3_malloc64(sizeof(HpRunReader*)*n);
  pMerge->apUsed = sqlite3_malloc64(sizeof(HpRunReader*)*n);
  if( pMerge->aReader==0 || pMerge->apHeap==0 || pMerge->apUsed==0 ){
    hpRunsFree(pMerge);
    return 0;
  }
  memset(pMerge->aReader, 0, sizeof(HpRunReader)*n);
  return pMerge;
}

/*
** Let pMerge read the runs that pRuns has in memory.
*/
static void hpRunsMemory(HpMerge *pMerge, const HpRuns *pRuns){
  int i;
  for(i=0; i<pRuns->nMemRun; i++){
    HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
    pReader->aBuf = pRuns->aMemRun[i].a;
    pReader->nBuf = pRuns->aMemRun[i].n;
  }
}

/*
** Go to the first group of each run.
*/
static int hpRunsFirst(const HpEntryPlan *pPlan, HpMerge *pMerge){
  int i;
  assert( pMerge->nHeap==0 && pMerge->nUsed==0 );
  for(i=0; i<pMerge->nReader; i++){
    HpRunReader *pReader = &pMerge->aReader[i];
    int rc = hpReaderNext(pPlan, pReader);
    if( rc ) return rc;
    hpHeapAdd(pPlan, pMerge, pReader);
  }
  return SQLITE_OK;
}

/*
** Merge the runs that a worker has in memory, write them to the
** file as one, and forget them.
*/
static int hpRunsSpill(HpRuns *pRuns){
  HpPipe *pPipe = pRuns->pWorker->pPipe;
  HpMerge *pMerge;
  HpBuf buf;
  u8 *aEntry;
  u32 i, nBefore;
  int rc;
  if( pRuns->nMemRun==0 ) return SQLITE_OK;
  if( hpSpillOpen(pRuns) ) return HP_DECLINE;
  pMerge = hpRunsNew(pRuns->nMemRun);
  if( pMerge==0 ) return HP_DECLINE;
  hpRunsMemory(pMerge, pRuns);
  assert( pMerge->nReader==pRuns->nMemRun );
  memset(&buf, 0, sizeof(buf));
  rc = hpRunsFirst(pRuns->pPlan, pMerge);
  for(i=1; rc==SQLITE_OK; i++){
    rc = pRuns->pPlan->bRows ? hpRunsWanted(pPipe, pMerge, &aEntry)
                             : hpRunsStep(pRuns->pPlan, pMerge, &aEntry);
    if( rc || aEntry==0 ) break;
    nBefore = buf.n;
    rc = hpSpillRecord(pRuns->pPlan, aEntry, &buf);
    hpSpillNote(pRuns->pSpill, buf.n-nBefore);
    if( rc==SQLITE_OK && buf.n>=HP_SPILL_BUF
     && hpSpillWrite(pRuns->pSpill, &buf)
    ){
      rc = HP_DECLINE;
    }
    if( rc==SQLITE_OK && i%HP_POLL==0 ) rc = hpThreadStopped(pPipe);
  }
  if( rc==SQLITE_OK && buf.n && hpSpillWrite(pRuns->pSpill, &buf) ){
    rc = HP_DECLINE;
  }
  sqlite3_free(buf.a);
  hpRunsFree(pMerge);
  pRuns->pSpill->aRun[pRuns->pSpill->nRun++].iEnd = pRuns->pSpill->nByte;
  hpMemRunFree(pRuns);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
