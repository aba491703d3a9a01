/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_slice: groups of many sorted runs in memory, put together slice by slice.
**
**    hpSliceAll()    all groups, in key order
**    hpSliceReady(), hpSliceGive()    pairs, in key order, to who takes them
**    hpSliceForget() free what the former has made
**
** Where groups hardly recur (hp_rare.c) there are hundreds of runs of each worker.  A merge
** of so many would compare each key ten times, and in one thread.  Instead the order of keys
** is cut into slices, each of so many groups as fit into the processor's cache:
**
**    1. Some keys of each run, evenly chosen, are put in order.  Every n-th is the bound of
**       a slice, so slices are about as large as each other, however keys are distributed.
**    2. Of each run it is found out where the slices begin.  Workers take run after run.
**    3. Of each slice the groups of all runs, some dozens of each, are sorted, and those of
**       equal keys added up.  Workers take slice after slice.
**
** Pairs are not put together, and whoever wants them takes slice after slice in
** the caller's thread, while the other workers sort those that come next.  If
** they are behind, so does the caller.  By then nothing is allocated any more.
**
** That is sorting by sampling, "samplesort" (Frazer and McKellar, 1970).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_SLICE_ENTRIES 4096   /* About so many groups a slice */
#define HP_MX_SLICE     1024   /* Most slices */
#define HP_SLICE_SAMPLE 16     /* Keys for each slice of which its bounds are chosen */

/* Sorted groups: a run in memory, or what a worker has in none */
struct HpSliceRun {
  const HpRuns *pRuns;
  const HpMemRun *pRun;  /* Or NULL */
  u32 n;                 /* Entries */
};

struct HpSlices {
  int nRun;
  struct HpSliceRun *aRun;
  u64 nEntry;            /* Entries of all runs */
  u32 nSlice;
  u8 **apBound;          /* Where slice 1, 2, ... begins: a group with the first key */
  u32 *aFirst;           /* Of each run, for each slice and one more: its first group there */
  u8 **apEntry;          /* All groups.  Those of slice i begin at aStart[i], ... */
  u32 *aStart;
  u32 *aN;               /* ... and are so many in the end */
  u8 bRecord;            /* Some keys are records */
  /* Of pairs: */
  HpGive xGive;          /* Who takes them, ... */
  void *pGive;           /* ... and its argument */
  u8 *aDone;             /* Which slices are sorted.  By HpPipe.pMutex */
  u32 nMost;             /* Entries of the largest one */
  struct HpSorted *aScratch;   /* For each worker twice so many */
};

/* Entry i of a run */
static u8 *hpSliceAt(const struct HpSliceRun *p, u32 i){
  assert( i<p->n );
  return p->pRun ? hpMemRunAt(p->pRun, i) : hpRadixAt(p->pRuns, i);
}

/* Free pSlices, but not HpSlices.apEntry */
static void hpSliceFree(HpSlices *pSlices){
  sqlite3_free(pSlices->aRun);
  sqlite3_free(pSlices->apBound);
  sqlite3_free(pSlices->aFirst);
  sqlite3_free(pSlices->aStart);
  sqlite3_free(pSlices->aN);
  sqlite3_free(pSlices->aDone);
  sqlite3_free(pSlices->aScratch);
  sqlite3_free(pSlices);
}

/*
** The runs of all workers: pSlices->aRun.
*/
static int hpSliceRuns(const HpPipe *p, HpSlices *pSlices){
  int i, k;
  u64 n = 0;
  for(i=0; i<p->nWorker; i++) n += p->apWorker[i]->pRuns->nMemRun + 1;
  pSlices->aRun = sqlite3_malloc64(sizeof(pSlices->aRun[0])*n);
  if( pSlices->aRun==0 ) return HP_DECLINE;
  for(i=0; i<p->nWorker; i++){
    const HpRuns *pRuns = p->apWorker[i]->pRuns;
    pSlices->bRecord |= pRuns->bRecord;
    for(k=0; k<pRuns->nMemRun+(pRuns->nEntry>0); k++){
      struct HpSliceRun *pRun = &pSlices->aRun[pSlices->nRun++];
      pRun->pRuns = pRuns;
      pRun->pRun = k<pRuns->nMemRun ? &pRuns->aMemRun[k] : 0;
      pRun->n = pRun->pRun ? pRun->pRun->nEntry : pRuns->nEntry;
    }
  }
  return SQLITE_OK;
}

/*
** Choose the bounds of pSlices->nSlice slices: pSlices->apBound.
*/
static int hpSliceBounds(HpPipe *p, HpSlices *pSlices){
  const HpEntryPlan *pPlan = p->pEntry;
  u64 nStep = MAX(1, pSlices->nEntry/((u64)pSlices->nSlice*HP_SLICE_SAMPLE));
  u64 nAlloc = pSlices->nEntry/nStep + 1;
  u64 iNext = nStep/2;   /* Place of the next key, as if runs stood behind each other */
  u64 iRun = 0;          /* Place of the first of the run */
  struct HpSorted *a;
  u32 n = 0;
  u32 i;
  int k;
  pSlices->apBound = sqlite3_malloc64(sizeof(u8*)*(u64)pSlices->nSlice);
  a = sqlite3_malloc64(2*sizeof(*a)*nAlloc);
  if( pSlices->apBound==0 || a==0 ){
    sqlite3_free(a);
    return HP_DECLINE;
  }
  for(k=0; k<pSlices->nRun; k++){
    const struct HpSliceRun *pRun = &pSlices->aRun[k];
    for(; iNext<iRun+pRun->n && n<nAlloc; iNext+=nStep){
      a[n].prefix = 0;
      a[n++].aEntry = hpSliceAt(pRun, (u32)(iNext-iRun));
    }
    iRun += pRun->n;
  }
  assert( iRun==pSlices->nEntry && n>0 );
  hpRadixMerge(pPlan, a, &a[n], n);
  for(i=1; i<pSlices->nSlice; i++){
    pSlices->apBound[i] = a[(u64)n*i/pSlices->nSlice].aEntry;
    assert( i==1 || hpRadixCompare(pPlan, pSlices->apBound[i-1],
                                   pSlices->apBound[i])<=0 );
  }
  sqlite3_free(a);
  return hpThreadStopped(p);
}

/*
** What a worker does to find out where slices begin in the runs.
*/
static void hpSliceFind(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  const HpSlices *pSlices = pPipe->pOut->pSlices;
  int k;
  while( p->rc==SQLITE_OK
      && (k = hpThreadNext(pPipe, &pPipe->pOut->iMerge))<pSlices->nRun
  ){
    const struct HpSliceRun *pRun = &pSlices->aRun[k];
    u32 *aFirst = &pSlices->aFirst[(u64)k*(pSlices->nSlice+1)];
    u32 i;
    aFirst[0] = 0;
    for(i=1; i<pSlices->nSlice; i++){
      u32 lwr = aFirst[i-1];
      u32 upr = pRun->n;
      u32 nStep = 1;
      /* The next bound is not far: steps that double, then the middle of the last one */
      while( nStep<upr-lwr
          && hpRadixCompare(pPipe->pEntry, hpSliceAt(pRun, lwr+nStep-1),
                            pSlices->apBound[i])<0
      ){
        lwr += nStep;
        nStep *= 2;
      }
      upr = MIN(upr, lwr+nStep);
      while( lwr<upr ){
        u32 iMid = lwr + (upr-lwr)/2;
        if( hpRadixCompare(pPipe->pEntry, hpSliceAt(pRun, iMid),
                           pSlices->apBound[i])<0
        ){
          lwr = iMid+1;
        }else{
          upr = iMid;
        }
      }
      assert( lwr>=aFirst[i-1] && lwr<=pRun->n );
      aFirst[i] = lwr;
    }
    aFirst[pSlices->nSlice] = pRun->n;
    p->rc = hpThreadStopped(pPipe);
  }
  if( p->rc ) AtomicStore(&pPipe->pass.bStop, 1);
}

/*
** In how many bytes do all keys of slice i agree?  Pairs of a run are in order,
** so the first one and the last one tell.
*/
static u32 hpSliceSame(const HpEntryPlan *pPlan, const HpSlices *p, u32 i){
  const u8 *zFirst = 0;
  u32 nSame = 0;
  int k, iEnd;
  for(k=0; k<p->nRun; k++){
    const u32 *aFirst = &p->aFirst[(u64)k*(p->nSlice+1) + i];
    if( aFirst[0]>=aFirst[1] ) continue;
    for(iEnd=0; iEnd<2; iEnd++){
      u32 n, j;
      const u8 *z = hpEntryKey(pPlan,
          hpSliceAt(&p->aRun[k], iEnd ? aFirst[1]-1 : aFirst[0]), &n);
      if( zFirst==0 ){
        zFirst = z;
        nSame = n;
      }
      n = MIN(n, nSame);
      for(j=0; j<n && z[j]==zFirst[j]; j++){}
      nSame = j;
    }
  }
  assert( zFirst!=0 );
  return nSame;
}

/*
** Put slice i together.
*/
static int hpSliceOne(HpWorker *p, u32 i, struct HpSorted *a, u32 n, int bCheck){
  const HpPipe *pPipe = p->pPipe;
  const HpEntryPlan *pPlan = pPipe->pEntry;
  HpSlices *pSlices = pPipe->pOut->pSlices;
  u8 **apOut = &pSlices->apEntry[pSlices->aStart[i]];
  const HpEntryType *pType;
  u32 nOut = 0;
  u32 m = 0;
  u32 j;
  int k;
  int rc;
  for(k=0; k<pSlices->nRun; k++){
    const u32 *aFirst = &pSlices->aFirst[(u64)k*(pSlices->nSlice+1) + i];
    for(j=aFirst[0]; j<aFirst[1]; j++) a[m++].aEntry = hpSliceAt(&pSlices->aRun[k], j);
  }
  assert( m==n );
  if( pPlan->bWhole ){
    rc = hpRadixPairs(p->pRuns, a, n, hpSliceSame(pPlan, pSlices, i));
  }else{
    rc = hpRadixSort(p->pRuns, a, n, pSlices->bRecord);
  }
  if( pPlan->bRows ){
    /* Rows stay apart */
    for(j=0; j<n; j++) apOut[j] = a[j].aEntry;
    pSlices->aN[i] = n;
    return rc ? rc : hpThreadStopped(pPipe);
  }
  pType = pPlan->pType;
  for(j=0; j<n && rc==SQLITE_OK; j++){
    u8 *aEntry = a[j].aEntry;
    int bWanted = 0;
    while( rc==SQLITE_OK && j+1<n && hpRadixCompare(pPlan, aEntry, a[j+1].aEntry)==0 ){
      rc = pType->xCombine(pPlan, aEntry, a[++j].aEntry);
    }
    if( rc==SQLITE_OK ) rc = pType->xDone(pPipe, aEntry, bCheck, &bWanted);
    if( rc==SQLITE_OK && bWanted ) apOut[nOut++] = aEntry;
  }
  pSlices->aN[i] = nOut;
  return rc ? rc : hpThreadStopped(pPipe);
}

/*
** What a worker does to put slices together.
*/
static void hpSliceWork(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  const HpSlices *pSlices = pPipe->pOut->pSlices;
  int bCheck = hpRunsMixed(pPipe);
  struct HpSorted *a = 0;
  u32 nAlloc = 0;
  int i;
  while( p->rc==SQLITE_OK
      && (i = hpThreadNext(pPipe, &pPipe->pOut->iMerge))<(int)pSlices->nSlice
  ){
    u32 n = pSlices->aStart[i+1]-pSlices->aStart[i];
    assert( pSlices->aStart[i]<=pSlices->aStart[i+1] );
    if( n==0 ) continue;
    if( n>nAlloc ){
      sqlite3_free(a);
      nAlloc = 0;
      a = hpArenaMalloc(2*sizeof(*a)*(i64)n);
      if( a ) nAlloc = n;
    }
    p->rc = a ? hpSliceOne(p, (u32)i, a, n, bCheck) : HP_DECLINE;
  }
  sqlite3_free(a);
  if( p->rc ) AtomicStore(&pPipe->pass.bStop, 1);
}

#ifdef SQLITE_DEBUG
/* Are groups in key order, and no two of them the same? */
static int hpSliceIsSorted(const HpEntryPlan *pPlan, u8 **apEntry, u32 n){
  u32 i;
  for(i=1; i<n; i++){
    if( hpRadixCompare(pPlan, apEntry[i-1], apEntry[i])>=0 ) return 0;
  }
  return 1;
}
#endif

/*
** Choose slices, and find out where they are in each run.
*/
static int hpSliceCut(HpPipe *p, HpSlices *pSlices){
  u64 nFirst;
  u32 i;
  int k;
  int rc = hpSliceRuns(p, pSlices);
  if( rc ) return rc;
  pSlices->nSlice = (u32)MIN(HP_MX_SLICE, 1+pSlices->nEntry/HP_SLICE_ENTRIES);
  nFirst = (u64)pSlices->nRun*(pSlices->nSlice+1);
  rc = hpSliceBounds(p, pSlices);
  if( rc ) return rc;
  pSlices->aFirst = sqlite3_malloc64(sizeof(u32)*nFirst);
  pSlices->aStart = sqlite3MallocZero(sizeof(u32)*((u64)pSlices->nSlice+1));
  pSlices->aN = sqlite3MallocZero(sizeof(u32)*(u64)pSlices->nSlice);
  pSlices->apEntry = hpArenaMalloc(sizeof(u8*)*(i64)(pSlices->nEntry+1));
  if( pSlices->aFirst==0 || pSlices->aStart==0 || pSlices->aN==0 || pSlices->apEntry==0 ){
    return HP_DECLINE;
  }
  p->pOut->iMerge = 0;
  rc = hpThreadEach(p, hpSliceFind);
  if( rc ) return rc;
  for(i=0; i<=pSlices->nSlice; i++){
    for(k=0; k<pSlices->nRun; k++){
      pSlices->aStart[i] += pSlices->aFirst[(u64)k*(pSlices->nSlice+1) + i];
    }
  }
  assert( pSlices->aStart[pSlices->nSlice]==pSlices->nEntry );
  p->pOut->iMerge = 0;
  return SQLITE_OK;
}

/*
** Choose slices, and put them together: as hpSliceAll().
*/
static int hpSliceRun(HpPipe *p, HpSlices *pSlices, u32 *pnEntry){
  u32 i, n = 0;
  int rc = hpSliceCut(p, pSlices);
  if( rc==SQLITE_OK ) rc = hpThreadEach(p, hpSliceWork);
  /* Without the places that groups left to which others had been added */
  for(i=0; i<pSlices->nSlice && rc==SQLITE_OK; i++){
    if( n<pSlices->aStart[i] && pSlices->aN[i]>0 ){
      memmove(&pSlices->apEntry[n], &pSlices->apEntry[pSlices->aStart[i]],
              sizeof(u8*)*(size_t)pSlices->aN[i]);
    }
    n += pSlices->aN[i];
  }
  *pnEntry = n;
  assert( rc || hpSliceIsSorted(p->pEntry, pSlices->apEntry, n) );
  return rc;
}

/*
** The nEntry groups of all workers, which are sorted and in memory.  Set *papEntry to them in key
** order, to be freed, those of equal keys added up, and *pnEntry to their number.
*/
static int hpSliceAll(HpPipe *p, u64 nEntry, u8 ***papEntry, u32 *pnEntry){
  HpSlices *pSlices;
  int rc;
  assert( p->pOut->pSlices==0 && p->pCrew==0 && nEntry>0 );
  *papEntry = 0;
  if( nEntry>0x7fffffff ) return HP_DECLINE;
  p->pOut->pSlices = pSlices = sqlite3MallocZero(sizeof(*pSlices));
  if( pSlices==0 ) return HP_DECLINE;
  pSlices->nEntry = nEntry;
  rc = hpSliceRun(p, pSlices, pnEntry);
  if( rc ) sqlite3_free(pSlices->apEntry);
  else *papEntry = pSlices->apEntry;
  hpSliceFree(pSlices);
  p->pOut->pSlices = 0;
  p->pOut->iMerge = 0;
  return rc;
}

/*
** Sort slice i of pairs, with scratch a.
*/
static void hpSlicePairs(HpWorker *p, u32 i, struct HpSorted *a){
  HpPipe *pPipe = p->pPipe;
  HpSlices *pSlices = pPipe->pOut->pSlices;
  u32 n = pSlices->aStart[i+1]-pSlices->aStart[i];
  assert( n<=pSlices->nMost && pSlices->aDone[i]==0 );
  if( n ) p->rc = hpSliceOne(p, i, a, n, 0);
  hpThreadLock(pPipe);
  pSlices->aDone[i] = p->rc==SQLITE_OK;
  hpThreadUnlock(pPipe);
}

/*
** What a worker does to sort slices of pairs.  The first one gives them away.
*/
static void hpSliceGiver(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  const HpSlices *pSlices = pPipe->pOut->pSlices;
  struct HpSorted *a = pSlices->aScratch;
  int nSlice = (int)pSlices->nSlice;
  int bFirst = p==pPipe->apWorker[0];
  int iNext = 0;         /* The next slice to sort */
  int iGive = 0;         /* The first worker: the next one to be given away */
  int i;
  for(i=0; pPipe->apWorker[i]!=p; i++){}
  a += 2*(u64)pSlices->nMost*i;
  while( p->rc==SQLITE_OK && (bFirst ? iGive : iNext)<nSlice ){
    if( bFirst ){
      int bDone;
      hpThreadLock(pPipe);
      bDone = pSlices->aDone[iGive];
      hpThreadUnlock(pPipe);
      if( bDone ){
        u8 **apEntry = &pSlices->apEntry[pSlices->aStart[iGive]];
        p->rc = pSlices->xGive(pSlices->pGive, apEntry, pSlices->aN[iGive++]);
        continue;
      }
    }
    if( iNext<nSlice ) iNext = hpThreadNext(pPipe, &pPipe->pOut->iMerge);
    if( iNext<nSlice ){
      hpSlicePairs(p, (u32)iNext, a);
    }else if( bFirst ){
      p->rc = hpThreadStopped(pPipe);
      hpThreadYield();
    }
  }
  if( p->rc ) AtomicStore(&pPipe->pass.bStop, 1);
}

/* Free what hpSliceReady() has made */
static void hpSliceForget(HpPipe *p){
  if( p->pOut->pSlices ){
    assert( p->pCrew==0 );
    sqlite3_free(p->pOut->pSlices->apEntry);
    hpSliceFree(p->pOut->pSlices);
    p->pOut->pSlices = 0;
    p->pOut->iMerge = 0;
  }
}

/*
** The nPair pairs of all workers are sorted and in memory: allocate all that
** hpSliceGive() needs.
*/
static int hpSliceReady(HpPipe *p, u64 nPair){
  HpSlices *pSlices;
  u32 i;
  int rc;
  assert( p->pOut->pSlices==0 && p->pCrew==0 && p->pEntry->bWhole );
  if( nPair>0x7fffffff ) return HP_DECLINE;
  p->pOut->pSlices = pSlices = sqlite3MallocZero(sizeof(*pSlices));
  if( pSlices==0 ) return HP_DECLINE;
  pSlices->nEntry = nPair;
  rc = hpSliceCut(p, pSlices);
  for(i=0; rc==SQLITE_OK && i<pSlices->nSlice; i++){
    u32 n = pSlices->aStart[i+1]-pSlices->aStart[i];
    pSlices->nMost = MAX(pSlices->nMost, n);
  }
  if( rc==SQLITE_OK ){
    u64 n = 2*(u64)pSlices->nMost*p->nWorker;
    pSlices->aDone = sqlite3MallocZero(pSlices->nSlice);
    pSlices->aScratch = sqlite3_malloc64(sizeof(struct HpSorted)*n);
    if( pSlices->aDone==0 || pSlices->aScratch==0 ) rc = HP_DECLINE;
  }
  if( rc ) hpSliceForget(p);
  return rc;
}

/*
** Give all pairs to xGive, in key order and in this thread.
*/
static int hpSliceGive(HpPipe *p, HpGive xGive, void *pGive){
  int rc;
  assert( p->pOut->pSlices!=0 && p->pOut->pSlices->aScratch!=0 );
  assert( p->pOut->iMerge==0 );
  p->pOut->pSlices->xGive = xGive;
  p->pOut->pSlices->pGive = pGive;
  rc = hpThreadEach(p, hpSliceGiver);
  hpSliceForget(p);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
