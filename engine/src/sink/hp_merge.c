/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_merge: the groups or rows of all workers, in key order.
**
**    hpMergeSortRun()    a sorted run in memory of a worker's rows so far
**    hpMergeSpillRuns()  write these runs to a file as one
**    hpMergeOpen()       when all workers are done: ready to deliver
**    hpMergeNext()       the next group or row
**    hpMergeClose()      free everything
**
** A sorted run is a sequence of groups whose normalized keys increase: what a
** worker has in memory in the end, and whatever it had to write to its
** temporary file before, because of its share of hp_memory.  The answer is the
** merge of all runs, in which groups of equal keys become one
** (hpResultMerge).  This gives key order, puts the workers' parts together, and
** bounds memory, all by one mechanism: each spilled group is written once and
** read once.
**
** Rows to be sorted are many, and each is touched for every step.
** So they are put in order while still in the processor's cache, a megabyte at
** a time, and copied to a run in memory that has the form of the file.  The runs
** are read from beginning to end when they are merged: all at once in the end,
** or before that those of one worker, to be written to its file.
**
** Without spilled runs the merge is done in hpMergeOpen(), so that there is
** still a way back if parts of a group cannot be added up (HP_SERIAL).  Many
** groups are merged in several parts, each a range of keys that it finds in all
** runs, and workers take one part after the other.  With spilled runs groups are
** merged as they are delivered.  Then such doubts have to be ruled out before:
** hpSpillSigns() looks at each part when it is sorted.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Reads a sorted run */
typedef struct HpRunReader HpRunReader;
struct HpRunReader {
  u8 *aGroup;            /* The current group, or NULL at the end */
  u64 prefix;            /* Of a row: first bytes of its key */
  const HpRuns *pRuns;     /* In memory: whose groups, ... */
  u32 iNext, n;          /* ... the next one, and where to stop */
  sqlite3_file *pFd;     /* In a file: which (NULL: aBuf has all of it), ... */
  i64 iOfst, iEnd;       /* ... what is still to be read, ... */
  u64 mxRecord;          /* ... in records of so many bytes at most, ... */
  u8 *aBuf;              /* ... bytes read before, ... */
  u32 iBuf, nBuf, nAlloc;    /* ... place in them, number, size of aBuf */
};

struct HpMerge {
  int nReader;
  HpRunReader *aReader;
  int nHeap;             /* Readers that are not at their end */
  HpRunReader **apHeap;  /* The one with the smallest key first */
  HpRunReader **apUsed;  /* Those whose groups were delivered last */
  int nUsed;
  u8 **apGroup;          /* Without a file: all groups, merged */
  u32 nGroup, iGroup;    /* Their number, and the next one */
  u64 nIn;               /* Groups of all readers */
  u32 iAhead;            /* Up to here hpAggAhead() has looked */
  HpNumber count;         /* HpSortPlan.pPart: numbers of rows */
};

/*
** Is that so of any sum of the scan?  Then return HP_DECLINE: when groups are
** delivered it will be too late.
*/
static int hpMergeDoubt(const HpQuery *p){
  const HpGroupPlan *pPlan = p->pEntry;
  int k, i;
  for(k=0; k<pPlan->nAgg; k++){
    struct HpSign all;
    if( pPlan->aAgg[k].eAgg!=HP_AGG_SUM || pPlan->aAgg[k].bShared ) continue;
    memset(&all, 0, sizeof(all));
    for(i=0; i<p->nWorker; i++){
      const struct HpSign *pSign = &p->apWorker[i]->pRuns->aSign[k];
      all.mAbs |= pSign->mAbs;
      all.bReal |= pSign->bReal;
      all.bMinus |= pSign->bMinus;
      all.bPlus |= pSign->bPlus;
      all.bUnsound |= pSign->bUnsound;
    }
    if( hpSpillDoubt(&pPlan->aAgg[k], &all, p->nScanned) ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

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
static int hpReaderNext(const HpGroupPlan *pPlan, HpRunReader *pReader){
  u64 n = 8;
  int rc;
  pReader->aGroup = 0;
  if( pReader->pRuns ){
    if( pReader->iNext<pReader->n ){
      if( !pReader->pRuns->bOrdered ){
        hpRadixPrefetch(pPlan, pReader->pRuns->aSorted, pReader->iNext, pReader->n)
      }
      pReader->aGroup = hpRadixGroup(pReader->pRuns, pReader->iNext++);
    }
    return SQLITE_OK;
  }
  if( pReader->iBuf==pReader->nBuf && pReader->iOfst==pReader->iEnd ){
    return SQLITE_OK;
  }
  rc = hpReaderFill(pReader, n);
  if( rc ) return rc;
  memcpy(&n, &pReader->aBuf[pReader->iBuf], 8);
  rc = hpReaderFill(pReader, n);
  if( rc ) return rc;
  pReader->aGroup = &pReader->aBuf[pReader->iBuf+8];
  pReader->iBuf += (u32)n;
  hpSpillPointers(pPlan, pReader->aGroup);
  if( pPlan->bRows ){
    /* At least eight bytes are readable: a record has that many */
    const HpHead *pHead = hpGroupHead(pPlan, pReader->aGroup);
    pReader->prefix = hpLoad8(pHead->z);
    if( pHead->nNorm<8 ) pReader->prefix &= ~(u64)0 << (64-8*pHead->nNorm);
  }
  return SQLITE_OK;
}

#ifdef SQLITE_DEBUG
/* No reader's group comes before that of the one above it in the heap */
static int hpMergeIsHeap(const HpGroupPlan *pPlan, const HpMerge *pMerge){
  int i;
  for(i=1; i<pMerge->nHeap; i++){
    if( hpRadixCompare(pPlan, pMerge->apHeap[(i-1)/2]->aGroup,
                       pMerge->apHeap[i]->aGroup)>0 ) return 0;
  }
  return pMerge->nHeap+pMerge->nUsed<=pMerge->nReader;
}
#endif

/*
** Add a reader to the heap, unless it is at its end.
*/
static void hpHeapAdd(const HpGroupPlan *pPlan, HpMerge *pMerge, HpRunReader *pNew){
  int i;
  if( pNew->aGroup==0 ) return;
  for(i=pMerge->nHeap++; i>0; i=(i-1)/2){
    HpRunReader *pUp = pMerge->apHeap[(i-1)/2];
    if( hpRadixCompare(pPlan, pUp->aGroup, pNew->aGroup)<=0 ) break;
    pMerge->apHeap[i] = pUp;
  }
  pMerge->apHeap[i] = pNew;
  assert( hpMergeIsHeap(pPlan, pMerge) );
}

/*
** Remove the first reader from the heap.
*/
static HpRunReader *hpHeapRemove(const HpGroupPlan *pPlan, HpMerge *pMerge){
  HpRunReader *pOut = pMerge->apHeap[0];
  HpRunReader *pLast = pMerge->apHeap[--pMerge->nHeap];
  int n = pMerge->nHeap;
  int i = 0;
  for(;;){
    int j = 2*i+1;
    if( j>=n ) break;
    if( j+1<n && hpRadixCompare(pPlan, pMerge->apHeap[j+1]->aGroup,
                                pMerge->apHeap[j]->aGroup)<0 ){
      j++;
    }
    if( hpRadixCompare(pPlan, pLast->aGroup, pMerge->apHeap[j]->aGroup)<=0 ){
      break;
    }
    pMerge->apHeap[i] = pMerge->apHeap[j];
    i = j;
  }
  pMerge->apHeap[i] = pLast;
  return pOut;
}

/*
** The next group of all runs, its parts merged, or NULL: *paGroup.  It is valid
** until the next call.
*/
static int hpMergeStep(const HpGroupPlan *pPlan, HpMerge *pMerge, u8 **paGroup){
  HpRunReader *pFirst;
  int rc;
  *paGroup = 0;
  while( pMerge->nUsed>0 ){
    HpRunReader *pReader = pMerge->apUsed[--pMerge->nUsed];
    rc = hpReaderNext(pPlan, pReader);
    if( rc ) return rc;
    hpHeapAdd(pPlan, pMerge, pReader);
  }
  if( pMerge->nHeap==0 ) return SQLITE_OK;
  assert( hpMergeIsHeap(pPlan, pMerge) && pPlan->bRows==0 );
  pFirst = hpHeapRemove(pPlan, pMerge);
  pMerge->apUsed[pMerge->nUsed++] = pFirst;
  while( pMerge->nHeap>0
      && hpRadixCompare(pPlan, pMerge->apHeap[0]->aGroup, pFirst->aGroup)==0
  ){
    HpRunReader *pReader = hpHeapRemove(pPlan, pMerge);
    pMerge->apUsed[pMerge->nUsed++] = pReader;
    rc = hpResultMerge(pPlan, pFirst->aGroup, pReader->aGroup);
    if( rc ) return rc;
  }
  *paGroup = pFirst->aGroup;
  return SQLITE_OK;
}

/*
** Of rows: is that of pA the first?
*/
static SQLITE_INLINE int hpReaderLess(
  const HpGroupPlan *pPlan,
  const HpRunReader *pA,
  const HpRunReader *pB
){
  if( pA->prefix!=pB->prefix ) return pA->prefix<pB->prefix;
  return hpRadixCompare(pPlan, pA->aGroup, pB->aGroup)<0;
}

/*
** Of rows: the next one, or NULL: *paGroup.  It is valid until the next
** call.
**
** The reader that was first goes on, and finds its new place in the heap: the
** hole that it leaves moves down to a leaf, which is where most of them belong,
** and then it moves up from there.
*/
static int hpMergeRow(const HpGroupPlan *pPlan, HpMerge *pMerge, u8 **paGroup){
  HpRunReader **ap = pMerge->apHeap;
  assert( pPlan->bRows && pMerge->nUsed<=1 );
  *paGroup = 0;
  if( pMerge->nUsed ){
    HpRunReader *pNew = ap[0];
    int i = 0;
    int j, n;
    int rc = hpReaderNext(pPlan, pNew);
    if( rc ) return rc;
    if( pNew->aGroup==0 ) pNew = ap[--pMerge->nHeap];
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
  if( pMerge->nHeap ) *paGroup = ap[0]->aGroup;
  return SQLITE_OK;
}

/*
** The same, but leave out rows that a window does not want.
*/
static int hpMergeWanted(const HpQuery *p, HpMerge *pMerge, u8 **paGroup){
  int rc;
  do{
    rc = hpMergeRow(p->pEntry, pMerge, paGroup);
  }while( rc==SQLITE_OK && p->mxRow>0 && *paGroup
       && hpNumberSkip(p, &pMerge->count, *paGroup) );
  return rc;
}

static void hpMergeFree(HpMerge *pMerge){
  if( pMerge ){
    int i;
    for(i=0; i<pMerge->nReader; i++){
      if( pMerge->aReader[i].pFd ) sqlite3_free(pMerge->aReader[i].aBuf);
    }
    sqlite3_free(pMerge->aReader);
    sqlite3_free(pMerge->apHeap);
    sqlite3_free(pMerge->apUsed);
    sqlite3_free(pMerge->apGroup);
    sqlite3_free(pMerge->count.norm.a);
    sqlite3_free(pMerge);
  }
}

static void hpMergeClose(HpQuery *p){
  int i;
  for(i=0; i<p->nMerge; i++) hpMergeFree(p->apMerge[i]);
}

/*
** A merge of up to nReader runs, or NULL.
*/
static HpMerge *hpMergeNew(int nReader){
  HpMerge *pMerge = sqlite3_malloc64(sizeof(*pMerge));
  u64 n = (u64)nReader+1;
  if( pMerge==0 ) return 0;
  memset(pMerge, 0, sizeof(*pMerge));
  pMerge->aReader = sqlite3_malloc64(sizeof(HpRunReader)*n);
  pMerge->apHeap = sqlite3_malloc64(sizeof(HpRunReader*)*n);
  pMerge->apUsed = sqlite3_malloc64(sizeof(HpRunReader*)*n);
  if( pMerge->aReader==0 || pMerge->apHeap==0 || pMerge->apUsed==0 ){
    hpMergeFree(pMerge);
    return 0;
  }
  memset(pMerge->aReader, 0, sizeof(HpRunReader)*n);
  return pMerge;
}

/*
** Let pMerge read the runs that pRuns has in memory.
*/
static void hpMergeRuns(HpMerge *pMerge, const HpRuns *pRuns){
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
static int hpMergeFirst(const HpGroupPlan *pPlan, HpMerge *pMerge){
  int i;
  for(i=0; i<pMerge->nReader; i++){
    HpRunReader *pReader = &pMerge->aReader[i];
    int rc = hpReaderNext(pPlan, pReader);
    if( rc ) return rc;
    hpHeapAdd(pPlan, pMerge, pReader);
  }
  return SQLITE_OK;
}

/*
** Make a sorted run in memory of a worker's rows, in the form
** that they would have in the file.
*/
static int hpMergeSortRun(HpRuns *pRuns){
  const HpGroupPlan *pPlan = pRuns->pPlan;
  HpBuf *pBuf;
  u64 n = 0;
  u32 i;
  int rc;
  if( pRuns->nGroup==0 ) return SQLITE_OK;
  if( hpBufGrow(&pRuns->aMemRun, &pRuns->nMemRunAlloc, pRuns->nMemRun,
                sizeof(HpBuf))
  ){
    return HP_DECLINE;
  }
  rc = hpRadixGroups(pRuns);
  if( rc ) return rc;
  for(i=0; i<pRuns->nGroup; i++){
    const HpHead *pHead = hpGroupHead(pPlan, pRuns->aSorted[i].aGroup);
    n += ROUND8(8 + pPlan->szGroup + (u64)pHead->nRec);
  }
  pBuf = &pRuns->aMemRun[pRuns->nMemRun];
  memset(pBuf, 0, sizeof(*pBuf));
  if( n>SQLITE_MAX_LENGTH || hpBufRoom(pBuf, (u32)n) ) return HP_DECLINE;
  pRuns->nMemRun++;
  for(i=0; i<pRuns->nGroup; i++){
    if( hpSpillRecord(pPlan, pRuns->aSorted[i].aGroup, pBuf) ){
      return HP_DECLINE;
    }
  }
  assert( pBuf->n==n );
  pRuns->nMemByte += pBuf->nAlloc;
  pRuns->nGroup = 0;
  pRuns->nRowByte = 0;
  hpArenaReset(&pRuns->arena);
  return SQLITE_OK;
}

/*
** Merge the runs that a worker has in memory, write them to the
** file as one, and forget them.
*/
static int hpMergeSpillRuns(HpRuns *pRuns){
  HpQuery *pQuery = pRuns->pWorker->pQuery;
  HpMerge *pMerge;
  HpBuf buf;
  u8 *aGroup;
  u32 i, nBefore;
  int rc;
  if( pRuns->nMemRun==0 ) return SQLITE_OK;
  if( hpSpillOpen(pRuns) ) return HP_DECLINE;
  pMerge = hpMergeNew(pRuns->nMemRun);
  if( pMerge==0 ) return HP_DECLINE;
  hpMergeRuns(pMerge, pRuns);
  memset(&buf, 0, sizeof(buf));
  rc = hpMergeFirst(pRuns->pPlan, pMerge);
  for(i=1; rc==SQLITE_OK; i++){
    rc = hpMergeWanted(pQuery, pMerge, &aGroup);
    if( rc || aGroup==0 ) break;
    nBefore = buf.n;
    rc = hpSpillRecord(pRuns->pPlan, aGroup, &buf);
    hpSpillNote(pRuns->pSpill, buf.n-nBefore);
    if( rc==SQLITE_OK && buf.n>=HP_SPILL_BUF
     && hpSpillWrite(pRuns->pSpill, &buf)
    ){
      rc = HP_DECLINE;
    }
    if( rc==SQLITE_OK && i%HP_POLL==0 ) rc = hpThreadStopped(pQuery);
  }
  if( rc==SQLITE_OK && buf.n && hpSpillWrite(pRuns->pSpill, &buf) ){
    rc = HP_DECLINE;
  }
  sqlite3_free(buf.a);
  hpMergeFree(pMerge);
  pRuns->pSpill->aRun[pRuns->pSpill->nRun++].iEnd = pRuns->pSpill->nByte;
  hpSpillFreeRuns(pRuns);
  return rc;
}

/*
** The first of the sorted groups of pRuns whose key is not smaller than that of
** aGroup.
*/
static u32 hpSortedFind(const HpRuns *pRuns, const u8 *aGroup){
  u32 iFirst = 0;
  u32 n = pRuns->nGroup;
  while( iFirst<n ){
    u32 iMid = iFirst + (n-iFirst)/2;
    if( hpRadixCompare(pRuns->pPlan, hpRadixGroup(pRuns, iMid), aGroup)<0 ){
      iFirst = iMid+1;
    }else{
      n = iMid;
    }
  }
  return iFirst;
}

/*
** Groups that are all in memory: make part i of n of their merge.  Parts begin at
** keys that divide the largest run, that of worker iLarge, evenly.
*/
static int hpMergePart(HpQuery *p, int iLarge, int i, int n){
  const HpRuns *pLarge = p->apWorker[iLarge]->pRuns;
  HpMerge *pMerge = hpMergeNew(p->nWorker);
  int k;
  if( pMerge==0 ) return HP_DECLINE;
  p->apMerge[p->nMerge++] = pMerge;
  for(k=0; k<p->nWorker; k++){
    const HpRuns *pRuns = p->apWorker[k]->pRuns;
    HpRunReader *pReader = &pMerge->aReader[pMerge->nReader];
    u32 aBound[2];
    int j;
    if( pRuns->nGroup==0 ) continue;
    for(j=0; j<2; j++){
      u32 iBound = (u32)((u64)pLarge->nGroup*(i+j)/n);
      aBound[j] = i+j==0 ? 0 : i+j==n ? pRuns->nGroup :
          hpSortedFind(pRuns, hpRadixGroup(pLarge, iBound));
    }
    pReader->pRuns = pRuns;
    pReader->iNext = aBound[0];
    pReader->n = aBound[1];
    pMerge->nIn += aBound[1]-aBound[0];
    pMerge->nReader++;
  }
  pMerge->apGroup = hpArenaMalloc(sizeof(u8*)*(i64)(pMerge->nIn+1));
  return pMerge->apGroup ? SQLITE_OK : HP_DECLINE;
}

/*
** Merge the groups of a part, and keep those that HAVING may want.
*/
static int hpMergeAll(HpQuery *p, HpMerge *pMerge, int bCheck){
  const HpGroupPlan *pPlan = p->pEntry;
  u32 n = 0;
  int rc = hpMergeFirst(pPlan, pMerge);
  while( rc==SQLITE_OK ){
    u8 *aGroup;
    rc = hpMergeStep(pPlan, pMerge, &aGroup);
    if( rc || aGroup==0 ) break;
    rc = hpResultDoubt(pPlan, aGroup, bCheck);
    if( hpResultWanted(pPlan, aGroup, p->aHaving) ){
      pMerge->apGroup[pMerge->nGroup++] = aGroup;
    }
    if( rc==SQLITE_OK && ++n%HP_POLL==0 ) rc = hpThreadStopped(p);
  }
  return rc;
}

/*
** What a worker does for the merge: one part after the other.
*/
static void hpMergeRun(HpWorker *p){
  HpQuery *pQuery = p->pQuery;
  int bCheck = hpResultMixed(pQuery);
  int i;
  while( p->rc==SQLITE_OK && (i = hpThreadNext(pQuery, &pQuery->iMerge))<pQuery->nMerge ){
    p->rc = hpMergeAll(pQuery, pQuery->apMerge[i], bCheck);
  }
  if( p->rc ) AtomicStore(&pQuery->bStop, 1);
}

/*
** The merge of runs some of which are in files, or of one run, or of rows:
** hpMergeNext() does it.
*/
static int hpMergeStream(HpQuery *p, int nReader){
  HpMerge *pMerge = hpMergeNew(nReader);
  int i, j;
  if( pMerge==0 ) return HP_DECLINE;
  p->apMerge[p->nMerge++] = pMerge;
  for(i=0; i<p->nWorker; i++){
    const HpRuns *pRuns = p->apWorker[i]->pRuns;
    const struct HpSpill *pSpill = pRuns->pSpill;
    if( pRuns->nGroup>0 ){
      HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
      pReader->pRuns = pRuns;
      pReader->n = pRuns->nGroup;
    }
    hpMergeRuns(pMerge, pRuns);
    for(j=0; pSpill && j<pSpill->nRun; j++){
      HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
      pReader->pFd = pSpill->pFd;
      pReader->iOfst = j ? pSpill->aRun[j-1].iEnd : 0;
      pReader->iEnd = pSpill->aRun[j].iEnd;
      pReader->mxRecord = pSpill->aRun[j].mxRecord;
    }
  }
  return hpMergeFirst(p->pEntry, pMerge);
}

/* Put the groups of worker p in order */
static void hpMergeSort(HpWorker *p){
  p->rc = hpRadixGroups(p->pRuns);
  if( p->rc ) AtomicStore(&p->pQuery->bStop, 1);
}

/*
** Only some groups are wanted, and none are sorted yet.  Find these, and let p->apMerge have
** them, or sort all.
*/
static int hpMergeTop(HpQuery *p){
  u8 **apGroup;
  u32 n;
  HpMerge *pMerge;
  int rc = hpTopGroupFind(p, &apGroup, &n);
  if( rc ) return rc;
  if( apGroup==0 ) return hpThreadEach(p, hpMergeSort);
  pMerge = hpMergeNew(0);
  if( pMerge==0 ){
    sqlite3_free(apGroup);
    return HP_DECLINE;
  }
  pMerge->apGroup = apGroup;
  pMerge->nGroup = n;
  p->apMerge[p->nMerge++] = pMerge;
  return SQLITE_OK;
}

/*
** All workers are done and their groups are sorted, unless p->nTop is set: make p->apMerge,
** ready for hpMergeNext().
*/
static int hpMergeOpen(HpQuery *p){
  const HpGroupPlan *pPlan = p->pEntry;
  u64 nGroup = 0;
  int nReader = 0;
  int nPart = 1;
  int bSpill = 0;
  int bMerge = hpResultMixed(p);       /* Look at all groups before the first */
  int iLarge = 0;
  int i, rc;

  for(i=0; i<p->nWorker; i++){
    const HpRuns *pRuns = p->apWorker[i]->pRuns;
    nGroup += pRuns->nGroup;
    nReader += (pRuns->nGroup>0) + pRuns->nMemRun;
    if( pRuns->nGroup>p->apWorker[iLarge]->pRuns->nGroup ) iLarge = i;
    if( pRuns->pSpill ){
      nReader += pRuns->pSpill->nRun;
      bSpill = 1;
    }
  }
  assert( p->nMerge==0 && p->pCrew==0 );
  if( nReader>HP_MX_RUN ) return HP_DECLINE;
  if( p->nTop ){
    rc = hpMergeTop(p);
    if( rc || p->nMerge ) return rc;
  }
  if( nReader>1 || pPlan->nLate ) bMerge = 1;
  if( bSpill || pPlan->bRows || bMerge==0 ){
    rc = hpMergeStream(p, nReader);
    if( rc || bSpill==0 ) return rc;
    hpConfigStat(p->db, HP_STAT_SPILLED);
    for(i=0; i<p->nWorker; i++){
      const struct HpSpill *pSpill = p->apWorker[i]->pRuns->pSpill;
      if( pSpill ) p->db->nSpill += pSpill->nByte;
    }
    for(i=0; i<p->nWorker; i++) hpSpillSigns(p->apWorker[i]->pRuns);
    return hpMergeDoubt(p);
  }
  if( p->nWorker>1 && (nGroup>=HP_MIN_PART || p->pCfg->nThread>1) ){
    nPart = (int)MIN((u64)MIN(HP_MX_PART, 4*p->nWorker), MAX(nGroup, 1));
  }
  for(i=0; i<nPart; i++){
    rc = hpMergePart(p, iLarge, i, nPart);
    if( rc ) return rc;
  }
  if( nPart>1 ){
    rc = hpThreadEach(p, hpMergeRun);
  }else{
    hpMergeRun(p->apWorker[0]);
    rc = p->apWorker[0]->rc;
  }
  p->iMerge = 0;
  return rc;
}

/*
** The next group that HAVING may want: *paGroup is NULL if there is none.
*/
static int hpMergeGroup(HpQuery *p, u8 **paGroup){
  const HpGroupPlan *pPlan = p->pEntry;
  HpMerge *pMerge;
  if( p->apMerge[0]->apGroup==0 ){
    u32 n = 0;
    if( pPlan->bRows ){
      return hpMergeWanted(p, p->apMerge[0], paGroup);
    }
    for(;;){
      int rc = hpMergeStep(pPlan, p->apMerge[0], paGroup);
      if( rc || *paGroup==0 || hpResultWanted(pPlan, *paGroup, p->aHaving) ){
        return rc;
      }
      if( ++n%HP_POLL==0 && AtomicLoad(&p->db->u1.isInterrupted) ){
        return SQLITE_INTERRUPT;
      }
    }
  }
  *paGroup = 0;
  while( p->iMerge<p->nMerge ){
    pMerge = p->apMerge[p->iMerge];
    if( pMerge->iGroup<pMerge->nGroup ){
      if( pPlan->nLate && p->nWorker>1 && pMerge->iGroup==pMerge->iAhead ){
        u32 n;
        int rc = hpAggAhead(p, &pMerge->apGroup[pMerge->iGroup],
                            pMerge->nGroup-pMerge->iGroup, &n);
        pMerge->iAhead += n;
        if( rc ) return rc;
      }
      if( pPlan->nLate && pMerge->iGroup+2<pMerge->nGroup ){
        hpAggAheadPrefetch(pPlan, &pMerge->apGroup[pMerge->iGroup+1]);
      }
      if( pMerge->iGroup+HP_AHEAD_GROUP<pMerge->nGroup ){
        u8 **apNext = &pMerge->apGroup[pMerge->iGroup];
        hpRadixAhead(pPlan, apNext[HP_AHEAD_GROUP], 0);
        hpRadixAhead(pPlan, apNext[HP_AHEAD_KEY], 1);
      }
      *paGroup = pMerge->apGroup[pMerge->iGroup++];
      break;
    }
    p->iMerge++;
  }
  return SQLITE_OK;
}

/*
** The next group: *paGroup is NULL if there is none.
*/
static int hpMergeNext(HpQuery *p, u8 **paGroup){
  u32 n = 0;
  for(;;){
    int rc = hpMergeGroup(p, paGroup);
    if( rc || *paGroup==0 || p->pTopGroup==0 || hpTopGroupWanted(p, *paGroup) ) return rc;
    if( ++n%HP_POLL==0 && AtomicLoad(&p->db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
  }
}
#endif /* SQLITE_OMIT_HP */
