/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_merge: the entries of all workers, in key order.
**
**    hpMergeOpen()     when all workers are done: ready to deliver
**    hpMergeNext()     the next entry
**    hpMergeGive()     all pairs, to somebody who takes them
**    hpMergeClose()    free everything
**    hpMergeSort()     before hpMergeOpen(), if workers have not done it: sort
**    hpMergeTake()     in its place: the entries are in order already
**
** A sorted run is a sequence of entries whose normalized keys increase: what a
** worker has in memory in the end, and whatever it had to write to its
** temporary file before, because of its share of hp_memory.  The answer is the
** merge of all runs (hp_runs.c), in which entries of equal keys become one, if
** they are groups (HpEntryType.xCombine).  This gives key order, puts the
** workers' parts together, and bounds memory, all by one mechanism: each spilled
** entry is written once and read once.
**
** Rows to be sorted are many, and so are groups whose keys hardly recur.  They
** are put in order while still in the processor's cache, and are in runs in
** memory that have the form of the file (hp_memrun.c).  Those of groups are put
** together slice by slice (hp_slice.c); those of rows are read from beginning to
** end when they are merged: all at once in the end, or before that those of one
** worker, to be written to its file.
**
** Without spilled runs the merge is done in hpMergeOpen(), so that there is
** still a way back if parts of an entry cannot be added up (HP_SERIAL).  Many
** entries are merged in several parts, each a range of keys that it finds in all
** runs, and workers take one part after the other.  With spilled runs entries
** are merged as they are delivered.  Then such doubts have to be ruled out
** before: HpEntryType.xNote() looks at each part when it is sorted, and xDoubt()
** at all of them.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

static void hpMergeClose(HpPipe *p){
  int i;
  hpSliceForget(p);
  for(i=0; i<p->pOut->nMerge; i++) hpRunsFree(p->pOut->apMerge[i]);
}

/*
** The first of the sorted groups of pRuns whose key is not smaller than that of
** aEntry.
*/
static u32 hpSortedFind(const HpRuns *pRuns, const u8 *aEntry){
  u32 iFirst = 0;
  u32 n = pRuns->nEntry;
  while( iFirst<n ){
    u32 iMid = iFirst + (n-iFirst)/2;
    if( hpRadixCompare(pRuns->pPlan, hpRadixAt(pRuns, iMid), aEntry)<0 ){
      iFirst = iMid+1;
    }else{
      n = iMid;
    }
  }
  return iFirst;
}

/*
** Entries that are all in memory: make part i of n of their merge.  Parts begin at
** keys that divide the largest run, that of worker iLarge, evenly.
*/
static int hpMergePart(HpPipe *p, int iLarge, int i, int n){
  const HpRuns *pLarge = p->apWorker[iLarge]->pRuns;
  HpMerge *pMerge = hpRunsNew(p->nWorker);
  int k;
  assert( i>=0 && i<n && n<=HP_MX_PART && p->pOut->nMerge==i );
  if( pMerge==0 ) return HP_DECLINE;
  p->pOut->apMerge[p->pOut->nMerge++] = pMerge;
  for(k=0; k<p->nWorker; k++){
    const HpRuns *pRuns = p->apWorker[k]->pRuns;
    HpRunReader *pReader = &pMerge->aReader[pMerge->nReader];
    u32 aBound[2];
    int j;
    if( pRuns->nEntry==0 ) continue;
    for(j=0; j<2; j++){
      u32 iBound = (u32)((u64)pLarge->nEntry*(i+j)/n);
      aBound[j] = i+j==0 ? 0 : i+j==n ? pRuns->nEntry :
          hpSortedFind(pRuns, hpRadixAt(pLarge, iBound));
    }
    assert( aBound[0]<=aBound[1] && aBound[1]<=pRuns->nEntry );
    pReader->pRuns = pRuns;
    pReader->iNext = aBound[0];
    pReader->n = aBound[1];
    pMerge->nIn += aBound[1]-aBound[0];
    pMerge->nReader++;
  }
  pMerge->apEntry = hpArenaMalloc(sizeof(u8*)*(i64)(pMerge->nIn+1));
  return pMerge->apEntry ? SQLITE_OK : HP_DECLINE;
}

/*
** Merge the groups of a part, and keep those that HAVING may want.
*/
static int hpMergeAll(HpPipe *p, HpMerge *pMerge, int bCheck){
  const HpEntryPlan *pPlan = p->pEntry;
  u32 n = 0;
  int rc = hpRunsFirst(pPlan, pMerge);
  while( rc==SQLITE_OK ){
    u8 *aEntry;
    int bWanted;
    rc = hpRunsStep(pPlan, pMerge, &aEntry);
    if( rc || aEntry==0 ) break;
    rc = pPlan->pType->xDone(p, aEntry, bCheck, &bWanted);
    assert( hpHeldIsSane(pPlan, aEntry) && pMerge->nEntry<pMerge->nIn );
    assert( pMerge->nEntry==0 || hpRadixCompare(pPlan,
                pMerge->apEntry[pMerge->nEntry-1], aEntry)<0 );
    if( bWanted ) pMerge->apEntry[pMerge->nEntry++] = aEntry;
    if( rc==SQLITE_OK && ++n%HP_POLL==0 ) rc = hpThreadStopped(p);
  }
  return rc;
}

/*
** What a worker does for the merge: one part after the other.
*/
static void hpMergeRun(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  int bCheck = hpRunsMixed(pPipe);
  int i;
  while( p->rc==SQLITE_OK
      && (i = hpThreadNext(pPipe, &pPipe->pOut->iMerge))<pPipe->pOut->nMerge
  ){
    p->rc = hpMergeAll(pPipe, pPipe->pOut->apMerge[i], bCheck);
  }
  if( p->rc ) AtomicStore(&pPipe->pass.bStop, 1);
}

/*
** The merge of runs some of which are in files, or of one run, or of rows:
** hpMergeNext() does it.
*/
static int hpMergeStream(HpPipe *p, int nReader){
  HpMerge *pMerge = hpRunsNew(nReader);
  int i, j;
  if( pMerge==0 ) return HP_DECLINE;
  p->pOut->apMerge[p->pOut->nMerge++] = pMerge;
  for(i=0; i<p->nWorker; i++){
    const HpRuns *pRuns = p->apWorker[i]->pRuns;
    const struct HpSpill *pSpill = pRuns->pSpill;
    if( pRuns->nEntry>0 ){
      HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
      pReader->pRuns = pRuns;
      pReader->n = pRuns->nEntry;
    }
    hpRunsMemory(pMerge, pRuns);
    for(j=0; pSpill && j<pSpill->nRun; j++){
      HpRunReader *pReader = &pMerge->aReader[pMerge->nReader++];
      pReader->pFd = pSpill->pFd;
      pReader->iOfst = j ? pSpill->aRun[j-1].iEnd : 0;
      pReader->iEnd = pSpill->aRun[j].iEnd;
      pReader->mxRecord = pSpill->aRun[j].mxRecord;
    }
  }
  assert( pMerge->nReader==nReader );
  return hpRunsFirst(p->pEntry, pMerge);
}

/* Write the groups that worker p has in runs in memory to its file, which makes one of them */
static void hpMergeSpill(HpWorker *p){
  p->rc = hpRunsSpill(p->pRuns);
  if( p->rc ) AtomicStore(&p->pPipe->pass.bStop, 1);
}

/* Put the entries of worker p in order */
static void hpMergeSortRun(HpWorker *p){
  p->rc = hpRadixHeld(p->pRuns);
  if( p->rc ) AtomicStore(&p->pPipe->pass.bStop, 1);
}

/* The same for all workers of p */
static int hpMergeSort(HpPipe *p){
  return hpThreadEach(p, hpMergeSortRun);
}

/*
** Let HpDelivery.apMerge have groups apEntry[0..n-1], which are merged.
*/
static int hpMergeTake(HpPipe *p, u8 **apEntry, u32 n){
  HpMerge *pMerge = hpRunsNew(0);
  if( pMerge==0 ){
    sqlite3_free(apEntry);
    return HP_DECLINE;
  }
  assert( p->pOut->nMerge==0 );            /* It is the only part */
  pMerge->apEntry = apEntry;
  pMerge->nEntry = n;
  p->pOut->apMerge[p->pOut->nMerge++] = pMerge;
  return SQLITE_OK;
}

/*
** The nEntry groups are in many runs in memory.
*/
static int hpMergeSlices(HpPipe *p, u64 nEntry){
  u8 **apEntry;
  u32 n;
  int rc = hpSliceAll(p, nEntry, &apEntry, &n);
  hpConfigStat(p->pQuery->db, HP_STAT_RUNS);
  assert( rc || n<=nEntry );
  return rc ? rc : hpMergeTake(p, apEntry, n);
}

/*
** All workers are done and their entries are sorted: make HpDelivery.apMerge,
** ready for hpMergeNext().
*/
static int hpMergeOpen(HpPipe *p){
  const HpEntryPlan *pPlan = p->pEntry;
  u64 nEntry = 0;
  int nReader = 0;
  int nPart = 1;
  int bSpill = 0;
  int bSlices = 0;       /* Some groups are in runs in memory */
  int bMerge = hpRunsMixed(p);       /* Look at all groups before the first */
  int iLarge = 0;
  int i, rc;

  for(i=0; i<p->nWorker; i++){
    const HpRuns *pRuns = p->apWorker[i]->pRuns;
    if( pRuns->nMemEntry>0 ) bSlices = 1;
    if( pRuns->pSpill ) bSpill = 1;
  }
  if( bSlices && bSpill ){
    rc = hpThreadEach(p, hpMergeSpill);
    if( rc ) return rc;
  }
  for(i=0; i<p->nWorker; i++){
    const HpRuns *pRuns = p->apWorker[i]->pRuns;
    nEntry += pRuns->nEntry + pRuns->nMemEntry;
    nReader += (pRuns->nEntry>0) + pRuns->nMemRun;
    if( pRuns->nEntry>p->apWorker[iLarge]->pRuns->nEntry ) iLarge = i;
    if( pRuns->pSpill ) nReader += pRuns->pSpill->nRun;
  }
  assert( p->pOut->nMerge==0 && p->pCrew==0 );
  if( bSlices && !bSpill ){
    return pPlan->bWhole ? hpSliceReady(p, nEntry) : hpMergeSlices(p, nEntry);
  }
  if( nReader>HP_MX_RUN ) return HP_DECLINE;
  if( nReader>1 || (pPlan->pType && pPlan->pType->bLarge) ) bMerge = 1;
  if( bSpill || pPlan->bRows || bMerge==0 ){
    rc = hpMergeStream(p, nReader);
    if( rc || bSpill==0 ) return rc;
    hpConfigStat(p->pQuery->db, HP_STAT_SPILLED);
    for(i=0; i<p->nWorker; i++){
      const struct HpSpill *pSpill = p->apWorker[i]->pRuns->pSpill;
      if( pSpill ) p->pQuery->db->nSpill += pSpill->nByte;
    }
    return pPlan->pType ? pPlan->pType->xDoubt(p) : SQLITE_OK;
  }
  if( p->nWorker>1 && (nEntry>=HP_MIN_PART || p->pQuery->pCfg->nThread>1) ){
    nPart = (int)MIN((u64)MIN(HP_MX_PART, 4*p->nWorker), MAX(nEntry, 1));
  }
  assert( nPart>=1 && nPart<=HP_MX_PART && pPlan->bRows==0 );
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
  p->pOut->iMerge = 0;
  return rc;
}

/*
** The next entry that is wanted: *paEntry is NULL if there is none.
*/
static int hpMergeNext(HpPipe *p, u8 **paEntry){
  HpDelivery *pOut = p->pOut;
  const HpEntryPlan *pPlan = p->pEntry;
  HpMerge *pMerge;
  assert( p->pOut->nMerge>0 && p->pCrew==0 );
  if( p->pOut->apMerge[0]->apEntry==0 ){
    u32 n = 0;
    if( pPlan->bRows ){
      return hpRunsWanted(p, pOut->apMerge[0], paEntry);
    }
    for(;;){
      int rc = hpRunsStep(pPlan, pOut->apMerge[0], paEntry);
      if( rc || *paEntry==0 || pPlan->pType->xWanted(p, *paEntry) ) return rc;
      if( ++n%HP_POLL==0 && AtomicLoad(&p->pQuery->db->u1.isInterrupted) ){
        return SQLITE_INTERRUPT;
      }
    }
  }
  *paEntry = 0;
  while( pOut->iMerge<pOut->nMerge ){
    pMerge = pOut->apMerge[pOut->iMerge];
    if( pMerge->iEntry<pMerge->nEntry ){
      if( pPlan->pType->xAhead ){
        int rc = pPlan->pType->xAhead(p, pMerge);
        if( rc ) return rc;
      }
      if( pMerge->iEntry+HP_AHEAD_ENTRY<pMerge->nEntry ){
        u8 **apNext = &pMerge->apEntry[pMerge->iEntry];
        hpRadixAhead(pPlan, apNext[HP_AHEAD_ENTRY], 0);
        hpRadixAhead(pPlan, apNext[HP_AHEAD_KEY], 1);
      }
      *paEntry = pMerge->apEntry[pMerge->iEntry++];
      assert( hpHeldIsSane(pPlan, *paEntry) );
      break;
    }
    pOut->iMerge++;
  }
  return SQLITE_OK;
}

/*
** Give all pairs to xGive, in key order.  Those of runs in memory are not
** merged yet.
*/
static int hpMergeGive(HpPipe *p, HpGive xGive, void *pGive){
  int rc = SQLITE_OK;
  assert( p->pEntry->bWhole && p->pCrew==0 );
  if( p->pOut->pSlices ) return hpSliceGive(p, xGive, pGive);
  while( rc==SQLITE_OK ){
    u8 *aPair;
    rc = hpMergeNext(p, &aPair);
    if( rc || aPair==0 ) break;
    rc = xGive(pGive, &aPair, 1);
  }
  return rc;
}
#endif /* SQLITE_OMIT_HP */
