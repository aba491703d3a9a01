/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_topgroup: groups that may be among the first ones of an order.
**
**    hpTopGroupMost()     the scan begins: so many groups are wanted
**    hpTopGroupMerge()    when all workers are done: find them, or merge all
**    hpTopGroupBegin()    groups are about to be delivered
**    hpTopGroupNext()     the next group: one that may be among the first
**    hpTopGroupEnd()      free what that needs
**
** SELECT a, count(*) FROM t GROUP BY a ORDER BY 2 DESC LIMIT 10 shows ten groups.  SQLite
** sorts all rows to get the groups, and sorts all groups again.  Here nothing is sorted but
** what is shown:
**
**    1. Groups of the second worker are looked up in the hash table of the first one, and
**       added to its groups; those of the third in both, and so on.  Threads take slices of
**       a table.  Entries of one hash value are in one slice, so no two threads look at the
**       same group.
**    2. Each thread looks at slices of all groups, and keeps the best in a heap.
**    3. What the heaps agree on is put in key order, as SQLite would have delivered it.
**
** Among equal values the first in key order wins if further terms of ORDER BY are the first
** keys (HpTopAgg.bKeys), or there are none.  Otherwise all groups are found that are as
** good as the worst one in the heap, and SQLite's sorter decides.  Keys alone may be the
** order, too (HpTopAgg.iAgg is negative).
**
** This is not done where keys came in order, as such groups need no sorting, where some
** have been put into a file, where a value is not a number or a sum raises an error, or
** where very many are equal.  Then groups come in key order, and a heap leaves out those
** that are worse than all in it.  Of n groups about k*ln(n/k) are delivered.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MX_TOPGROUP 10000   /* If more groups are wanted all are delivered */
#define HP_MX_TIES     65536   /* So many may be as good as the worst, for each worker */
#define HP_TOP_SLICE   16384   /* Entries of a hash table, or groups, taken at a time */
#define HP_TOP_STEP    32      /* ... of which so many are looked up side by side */

/* A group, and what it is sorted by */
struct HpTopEntry {
  HpLiteral x;
  u8 *aGroup;
};

/* The best groups so far: a heap whose first one is the worst */
struct HpTopGroup {
  const HpGroupPlan *pPlan;
  u8 bOrder;             /* Groups come in key order, and do not stay */
  i64 nMost;             /* Number of groups that are wanted */
  u8 **apTie;            /* Of a worker: groups that are not worse than the worst
                         ** of all, */
  u32 nTie;              /* and their number */
  i64 n;                 /* Number of groups in the heap */
  struct HpTopEntry a[1];
};

/* Does *pA come behind *pB?  Of equal ones, if that can be told, the one behind in key order */
static int hpTopGroupIsWorse(
  const HpTopGroup *p,
  const struct HpTopEntry *pA,
  const struct HpTopEntry *pB
){
  const HpTopAgg *pTop = &p->pPlan->top;
  int c;
  if( pA->x.tag==HP_NULL || pB->x.tag==HP_NULL ){
    c = (pA->x.tag!=HP_NULL) - (pB->x.tag!=HP_NULL);
  }else{
    c = hpVecValCompare(pA->x.tag, pA->x.val, 0, pB->x.tag, pB->x.val, 0, 0);
  }
  if( c==0 && pTop->bKeys && p->bOrder==0 ){
    return hpRadixCompare(&p->pPlan->entry, pA->aGroup, pB->aGroup)>0;
  }
  return pTop->bDesc ? c<0 : c>0;
}

/* How many groups of pPlan are wanted, as registers aMem[] say?  0: all, or too many */
static i64 hpTopGroupMost(const HpGroupPlan *pPlan, const Mem *aMem){
  const Mem *pLimit = &aMem[pPlan->top.iLimitReg];
  i64 n = pPlan->top.iLimitReg && (pLimit->flags & MEM_Int) ? pLimit->u.i : 0;
  return n>0 && n<=HP_MX_TOPGROUP ? n : 0;
}

/* An empty heap for nMost groups, or NULL */
static HpTopGroup *hpTopGroupNew(const HpGroupPlan *pPlan, i64 nMost, int bOrder){
  HpTopGroup *p;
  sqlite3BeginBenignMalloc();
  p = sqlite3_malloc64(sizeof(*p) + sizeof(p->a[0])*(u64)nMost);
  sqlite3EndBenignMalloc();
  if( p==0 ) return 0;
  p->pPlan = pPlan;
  p->bOrder = (u8)bOrder;
  p->nMost = nMost;
  p->apTie = 0;
  p->nTie = 0;
  p->n = 0;
  return p;
}

/* Set *pNew to aGroup.  False if its value is not a number, or an error */
static int hpTopGroupEntry(const HpGroupPlan *pPlan, u8 *aGroup, struct HpTopEntry *pNew){
  u32 n;
  memset(pNew, 0, sizeof(*pNew));
  pNew->aGroup = aGroup;
  if( hpResultFails(pPlan, aGroup) ) return 0;
  if( pPlan->top.iAgg<0 ){
    pNew->x.tag = HP_INT;
    return 1;
  }
  pNew->x.tag = hpResultValue(&pPlan->aAgg[pPlan->top.iAgg], aGroup, &pNew->x.val, &n);
  return pNew->x.tag!=0 && (pNew->x.tag & HP_STR)==0;
}

/* Put *pNew in the place of the worst one */
static void hpTopGroupSink(HpTopGroup *p, const struct HpTopEntry *pNew){
  i64 i = 0;
  i64 j;
  assert( p->n==p->nMost );
  while( (j = 2*i+1)<p->n ){
    if( j+1<p->n && hpTopGroupIsWorse(p, &p->a[j+1], &p->a[j]) ) j++;
    if( !hpTopGroupIsWorse(p, &p->a[j], pNew) ) break;
    p->a[i] = p->a[j];
    i = j;
  }
  p->a[i] = *pNew;
}

/* Add *pNew.  False if it is worse than all of enough, or as good but comes too late */
static int hpTopGroupAdd(HpTopGroup *p, const struct HpTopEntry *pNew){
  if( p->n<p->nMost ){
    i64 i = p->n++;
    while( i>0 && hpTopGroupIsWorse(p, pNew, &p->a[(i-1)/2]) ){
      p->a[i] = p->a[(i-1)/2];
      i = (i-1)/2;
    }
    p->a[i] = *pNew;
    return 1;
  }
  if( p->pPlan->top.bKeys ? !hpTopGroupIsWorse(p, &p->a[0], pNew)
                          : hpTopGroupIsWorse(p, pNew, &p->a[0]) ){
    return 0;
  }
  hpTopGroupSink(p, pNew);
  return 1;
}

/*
** Groups of p are about to be delivered in key order, of which p->nTop are wanted.  Without
** memory all are.
*/
static void hpTopGroupBegin(HpPipe *p){
  const HpGroupPlan *pPlan = hpGroupOf(p->pEntry);
  assert( p->pShown->top.pBest==0 );
  if( p->pShown->top.nTop==0 || pPlan->top.iAgg<0 ) return;
  p->pShown->top.pBest = hpTopGroupNew(pPlan, p->pShown->top.nTop, 1);
}

/*
** May aGroup, the next group of p, be among those that are wanted?
*/
static int hpTopGroupWanted(HpPipe *p, u8 *aGroup){
  struct HpTopEntry x;
  assert( p->pShown->top.pBest->bOrder );
  assert( p->pShown->top.pBest->pPlan==hpGroupOf(p->pEntry) );
  return !hpTopGroupEntry(hpGroupOf(p->pEntry), aGroup, &x)
      || hpTopGroupAdd(p->pShown->top.pBest, &x);
}

/* Free what p has */
static void hpTopGroupEnd(HpPipe *p){
  sqlite3_free(p->pShown->top.pBest);
  p->pShown->top.pBest = 0;
}

/*
** Look n groups up in table pTo, and add those that it has to its own.  The others stay in
** aSalt[] and apGroup[], and *pn becomes their number.
*/
static int hpTopGroupMeet(HpAgg *pTo, u32 *aSalt, u8 **apGroup, int *pn){
  const HpGroupPlan *pPlan = pTo->pPlan;
  u32 aAt[HP_TOP_STEP];
  int nLeft = 0;
  int i, k, rc;
  assert( *pn<=HP_TOP_STEP );
  assert( pTo->runs.bOrdered==0 || pTo->runs.nEntry==0 );
  for(i=0; i<*pn; i++){
    u32 j = aSalt[i] & pTo->mSlot;
    u32 iGroup;
    while( (iGroup = pTo->aSlot[2*j+1])!=0 && pTo->aSlot[2*j]!=aSalt[i] ){
      j = (j+1) & pTo->mSlot;
    }
    aAt[i] = j;
    if( iGroup ){
      const u8 *aGroup = hpHeldAt(&pTo->runs, iGroup-1);
      for(k=0; k<pPlan->entry.szEntry; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  for(i=0; i<*pn; i++){
    u32 iGroup = pTo->aSlot[2*aAt[i]+1];
    if( iGroup && hpGroupPack(apGroup[i])->b==HP_UNPACKED ){
      hpPrefetch(hpGroupHead(pPlan, hpHeldAt(&pTo->runs, iGroup-1))->z);
      hpPrefetch(hpGroupHead(pPlan, apGroup[i])->z);
    }
  }
  for(i=0; i<*pn; i++){
    u32 j = aAt[i];
    u32 iGroup;
    u8 *aFound = 0;
    for(; (iGroup = pTo->aSlot[2*j+1])!=0; j = (j+1) & pTo->mSlot){
      if( pTo->aSlot[2*j]!=aSalt[i] ) continue;
      aFound = hpHeldAt(&pTo->runs, iGroup-1);
      if( hpGroupSame(pPlan, aFound, apGroup[i]) ) break;
    }
    if( iGroup==0 ){
      aSalt[nLeft] = aSalt[i];
      apGroup[nLeft++] = apGroup[i];
      continue;
    }
    rc = hpResultMerge(pPlan, aFound, apGroup[i]);
    if( rc ) return rc;
    hpGroupHead(pPlan, apGroup[i])->iPos = HP_NO_POS;
  }
  *pn = nLeft;
  return SQLITE_OK;
}

/* The first entry of the next slice */
static i64 hpTopGroupSlice(HpPipe *p){
  return (i64)hpThreadNext(p, &p->pOut->iMerge)*HP_TOP_SLICE;
}

/*
** What a thread does to put the groups of worker HpTopWanted.iFold into those
** of workers before it.  A group that has been added to another one has no
** position any more.
*/
static void hpTopGroupFold(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  int iFold = pPipe->pShown->top.iFold;
  const HpAgg *pFrom = (const HpAgg*)pPipe->apWorker[iFold]->pSink;
  i64 iFirst;
  assert( iFold>0 && iFold<pPipe->nWorker );
  while( p->rc==SQLITE_OK && (iFirst = hpTopGroupSlice(pPipe))<=pFrom->mSlot ){
    u32 nSlice = (u32)MIN(HP_TOP_SLICE, (i64)pFrom->mSlot+1-iFirst);
    int bMore = 1;
    u32 j = (u32)iFirst;
    while( bMore && p->rc==SQLITE_OK ){
      u32 aSalt[HP_TOP_STEP];
      u8 *apGroup[HP_TOP_STEP];
      int n = 0;
      int k;
      /* Linear probing may have moved entries of the slice behind its end */
      for(; n<HP_TOP_STEP; j++){
        const u32 *aEntry = &pFrom->aSlot[2*(j & pFrom->mSlot)];
        if( aEntry[1]==0 ){
          bMore = j-(u32)iFirst<nSlice;
          if( !bMore ) break;
        }else if( ((aEntry[0]-(u32)iFirst) & pFrom->mSlot)<nSlice ){
          aSalt[n] = aEntry[0];
          apGroup[n] = hpHeldAt(&pFrom->runs, aEntry[1]-1);
          for(k=0; k<pFrom->pPlan->entry.szEntry; k+=64){
            hpPrefetch(&apGroup[n][k]);
          }
          n++;
        }
      }
      for(k=0; k<iFold && n>0 && p->rc==SQLITE_OK; k++){
        p->rc = hpTopGroupMeet((HpAgg*)pPipe->apWorker[k]->pSink, aSalt,
                               apGroup, &n);
      }
    }
    if( p->rc==SQLITE_OK ) p->rc = hpThreadStopped(pPipe);
  }
  if( p->rc ) AtomicStore(&pPipe->pass.bStop, 1);
}

/*
** The next slice of the groups of all workers: whose they are, or NULL, and which.
*/
static const HpRuns *hpTopGroupGroups(HpPipe *p, u32 *piFirst, u32 *piEnd){
  i64 i = hpTopGroupSlice(p);
  int k;
  for(k=0; k<p->nWorker; k++){
    const HpRuns *pRuns = p->apWorker[k]->pRuns;
    i64 n = ((i64)pRuns->nEntry+HP_TOP_SLICE-1)/HP_TOP_SLICE*HP_TOP_SLICE;
    if( i<n ){
      *piFirst = (u32)i;
      *piEnd = (u32)MIN(i+HP_TOP_SLICE, (i64)pRuns->nEntry);
      assert( *piFirst<*piEnd );
      return pRuns;
    }
    i -= n;
  }
  return 0;
}

/* What a thread does to find the best groups */
static void hpTopGroupBest(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  HpTopGroup *pTop = ((HpAgg*)p->pSink)->pTop;
  const HpRuns *pRuns;
  int bCheck = hpResultMixed(pPipe);
  int nWith = 0;         /* Workers that have groups */
  u32 i, iEnd;
  for(i=0; i<(u32)pPipe->nWorker; i++){
    nWith += pPipe->apWorker[i]->pRuns->nEntry>0;
  }
  while( p->rc==SQLITE_OK && AtomicLoad(&pPipe->pShown->top.bNot)==0
      && (pRuns = hpTopGroupGroups(pPipe, &i, &iEnd))!=0 ){
    for(; i<iEnd && p->rc==SQLITE_OK; i++){
      u8 *aGroup = hpHeldAt(pRuns, i);
      struct HpTopEntry x;
      if( hpGroupHead(pTop->pPlan, aGroup)->iPos==HP_NO_POS ) continue;
      if( bCheck || nWith>1 ) p->rc = hpResultDoubt(pTop->pPlan, aGroup, bCheck);
      if( !hpTopGroupEntry(pTop->pPlan, aGroup, &x) ){
        AtomicStore(&pPipe->pShown->top.bNot, 1);
        break;
      }
      hpTopGroupAdd(pTop, &x);
    }
    if( p->rc==SQLITE_OK ) p->rc = hpThreadStopped(pPipe);
  }
  if( p->rc ) AtomicStore(&pPipe->pass.bStop, 1);
}

/* What a thread does to find the groups that are not worse than the worst in the first heap */
static void hpTopGroupTies(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  const HpTopGroup *pTop = ((HpAgg*)pPipe->apWorker[0]->pSink)->pTop;
  HpAgg *pAgg = (HpAgg*)p->pSink;
  const HpRuns *pRuns;
  u32 i, iEnd;
  while( AtomicLoad(&pPipe->pShown->top.bNot)==0
      && (pRuns = hpTopGroupGroups(pPipe, &i, &iEnd))!=0 ){
    for(; i<iEnd; i++){
      u8 *aGroup = hpHeldAt(pRuns, i);
      struct HpTopEntry x;
      if( hpGroupHead(pTop->pPlan, aGroup)->iPos==HP_NO_POS ) continue;
      hpTopGroupEntry(pTop->pPlan, aGroup, &x);
      if( pTop->n==pTop->nMost && hpTopGroupIsWorse(pTop, &x, &pTop->a[0]) ) continue;
      if( pAgg->pTop->nTie==HP_MX_TIES ){
        AtomicStore(&pPipe->pShown->top.bNot, 1);
        break;
      }
      pAgg->pTop->apTie[pAgg->pTop->nTie++] = aGroup;
    }
  }
}

/* Let all threads of p do xRun, or only this one if there is little to do */
static int hpTopGroupEach(HpPipe *p, int bAlone, void (*xRun)(HpWorker*)){
  p->pOut->iMerge = 0;
  if( !bAlone ) return hpThreadEach(p, xRun);
  xRun(p->apWorker[0]);
  return p->apWorker[0]->rc;
}

/* Can the groups be found without order? */
static int hpTopGroupMay(const HpPipe *p){
  int i;
  for(i=0; i<p->nWorker; i++){
    const HpRuns *pRuns = p->apWorker[i]->pRuns;
    assert( pRuns->nMemRun==0 );
    if( pRuns->pSpill || (pRuns->nEntry>0 && pRuns->bOrdered) ) return 0;
  }
  return 1;
}

#ifdef SQLITE_DEBUG
/* Is none worse than the one above it in the heap? */
static int hpTopGroupIsHeap(const HpTopGroup *p){
  i64 i;
  for(i=1; i<p->n; i++){
    if( hpTopGroupIsWorse(p, &p->a[i], &p->a[(i-1)/2]) ) return 0;
  }
  return p->n<=p->nMost;
}
#endif

/* The best of all heaps, in the first one.  Then, without bKeys, all as good as its worst */
static int hpTopGroupJoin(
  HpPipe *p,
  u64 nGroup,            /* Groups of all workers */
  int bAlone,
  u8 ***papGroup,
  u32 *pnGroup
){
  HpTopGroup *pTop = ((HpAgg*)p->apWorker[0]->pSink)->pTop;
  struct HpSorted *a;
  u32 n = 0;
  i64 nMost;
  i64 j;
  int i, rc;
  for(i=1; i<p->nWorker; i++){
    const HpTopGroup *pOther = ((HpAgg*)p->apWorker[i]->pSink)->pTop;
    assert( hpTopGroupIsHeap(pOther) && pOther->nMost==pTop->nMost );
    for(j=0; j<pOther->n; j++) hpTopGroupAdd(pTop, &pOther->a[j]);
  }
  assert( hpTopGroupIsHeap(pTop) );
  nMost = pTop->n;
  if( pTop->pPlan->top.bKeys==0 ){
    for(i=0; i<p->nWorker; i++){
      HpAgg *pAgg = (HpAgg*)p->apWorker[i]->pSink;
      pAgg->pTop->nTie = 0;
      pAgg->pTop->apTie = hpArenaAlloc(&pAgg->scratch,
                                 sizeof(u8*)*(i64)MIN(nGroup+1, HP_MX_TIES));
      if( pAgg->pTop->apTie==0 ) return HP_DECLINE;
    }
    rc = hpTopGroupEach(p, bAlone, hpTopGroupTies);
    if( rc || AtomicLoad(&p->pShown->top.bNot) ) return rc;
    for(nMost=0, i=0; i<p->nWorker; i++){
      nMost += ((HpAgg*)p->apWorker[i]->pSink)->pTop->nTie;
    }
  }
  a = sqlite3_malloc64(2*sizeof(*a)*(u64)(nMost+1));
  if( a==0 ) return HP_DECLINE;
  memset(a, 0, sizeof(*a)*(nMost+1));
  if( pTop->pPlan->top.bKeys ){
    for(; n<nMost; n++) a[n].aEntry = pTop->a[n].aGroup;
  }else{
    for(i=0; i<p->nWorker; i++){
      const HpAgg *pAgg = (const HpAgg*)p->apWorker[i]->pSink;
      for(j=0; j<pAgg->pTop->nTie; j++) a[n++].aEntry = pAgg->pTop->apTie[j];
    }
  }
  assert( n==nMost );
  hpRadixMerge(&pTop->pPlan->entry, a, &a[n], n);
  *papGroup = sqlite3_malloc64(sizeof(u8*)*(u64)(n+1));
  for(*pnGroup=0; *papGroup && *pnGroup<n; ++*pnGroup) (*papGroup)[*pnGroup] = a[*pnGroup].aEntry;
  sqlite3_free(a);
  return *papGroup ? SQLITE_OK : HP_DECLINE;
}

/*
** All workers are done, and no groups are sorted.  If only some are wanted and they can be
** found set *papGroup to them, in key order, to be freed, and *pnGroup to their number; else
** *papGroup is NULL, and the groups are to be put in order.
*/
static int hpTopGroupFind(HpPipe *p, u8 ***papGroup, u32 *pnGroup){
  HpTopWanted *pWanted = &p->pShown->top;
  u64 nGroup = 0;
  int rc = SQLITE_OK;
  int bAlone, i;
  assert( pWanted->nTop>0 && hpGroupOf(p->pEntry)->nLate==0 );
  assert( hpGroupOf(p->pEntry)->bOpaque==0 );
  *papGroup = 0;
  if( !hpTopGroupMay(p) ) return SQLITE_OK;
  for(i=0; i<p->nWorker; i++) nGroup += p->apWorker[i]->pRuns->nEntry;
  bAlone = nGroup<HP_MIN_PART && p->pQuery->pCfg->nThread<=1;
  for(i=1; i<p->nWorker && rc==SQLITE_OK; i++){
    if( p->apWorker[i]->pRuns->nEntry==0 ) continue;
    pWanted->iFold = i;
    rc = hpTopGroupEach(p, bAlone, hpTopGroupFold);
  }
  pWanted->bNot = 0;
  for(i=0; i<p->nWorker && rc==SQLITE_OK; i++){
    HpTopGroup *pTop = hpTopGroupNew(hpGroupOf(p->pEntry), pWanted->nTop, 0);
    ((HpAgg*)p->apWorker[i]->pSink)->pTop = pTop;
    if( pTop==0 ) rc = HP_DECLINE;
  }
  if( rc==SQLITE_OK ) rc = hpTopGroupEach(p, bAlone, hpTopGroupBest);
  if( rc==SQLITE_OK && pWanted->bNot==0 ){
    rc = hpTopGroupJoin(p, nGroup, bAlone, papGroup, pnGroup);
  }
  for(i=0; i<p->nWorker; i++){
    HpAgg *pAgg = (HpAgg*)p->apWorker[i]->pSink;
    sqlite3_free(pAgg->pTop);
    pAgg->pTop = 0;
  }
  p->pOut->iMerge = 0;
  return rc;
}

/*
** All workers of p are done: make HpDelivery.apMerge.  If only some groups are
** wanted they are not sorted yet.
*/
static int hpTopGroupMerge(HpPipe *p){
  if( p->pShown->top.nTop ){
    u8 **apGroup;
    u32 n;
    int rc = hpTopGroupFind(p, &apGroup, &n);
    if( rc==SQLITE_OK && apGroup ) return hpMergeTake(p, apGroup, n);
    if( rc==SQLITE_OK ) rc = hpMergeSort(p);
    if( rc ) return rc;
  }
  return hpMergeOpen(p);
}

/*
** The next group: *paGroup is NULL if there is none.
*/
static int hpTopGroupNext(HpPipe *p, u8 **paGroup){
  u32 n = 0;
  for(;;){
    int rc = hpMergeNext(p, paGroup);
    if( rc || *paGroup==0 || p->pShown->top.pBest==0 ) return rc;
    if( hpTopGroupWanted(p, *paGroup) ) return SQLITE_OK;
    if( ++n%HP_POLL==0 && AtomicLoad(&p->pQuery->db->u1.isInterrupted) ){
      return SQLITE_INTERRUPT;
    }
  }
}
#endif /* SQLITE_OMIT_HP */
