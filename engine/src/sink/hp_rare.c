/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_rare: groups that hardly two rows share.
**
**    hpRareStep()    after a batch: make a sorted run of the groups, if that is better
**    hpRareLeaves()  after a run of leaves: note how many rows there were
**
** A hash table of all groups is what a scan wants as long as rows find their groups there.
** Where nearly each row begins a new one it only costs: millions of groups lie in the order
** in which they came, so each look into the table, and each step through the groups
** in key order, to sort, to merge, to deliver, waits for memory.
**
** Then a worker has a table that fits into the processor's cache.  When that is full its groups become
** a sorted run (hp_memrun.c), and it begins anew.  Rows of one group may end up in several
** runs, whose parts are put together in the end (hp_slice.c), as parts of several workers are.
**
** Whether it is so is asked when the table has HP_RARE_GROUPS, and each time that their number has
** doubled.  If d values come equally often, about n*n/2d of the first n rows find their group
** there, so d is known from the number that did.  A table is better if all the rows to come
** will meet their groups several times.
**
** That may be wrong: perhaps keys only begin to recur.  So the different keys are counted on,
** one in 16 of them as bits that their hash values choose.  If each has come several
** times the worker goes back to one table.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_RARE_GROUPS  32768        /* Ask when there are so many groups: HpAgg.nCheck */
#define HP_RARE_CHUNK   (1024*1024)  /* Bytes of the groups of a run: half of L2 */
#define HP_RARE_RUNS    512          /* So many runs, then longer ones */
#define HP_RARE_TIMES   3            /* Groups of so many rows belong into one table */
#define HP_RARE_BIT     (1<<18)      /* Bits for one in HP_RARE_SHARE keys */
#define HP_RARE_SHARE   16

/*
** May the groups of pAgg be in runs?  Not if they have what cannot be put together, if they are
** looked up in the table later, or come in order.
*/
static int hpRareMay(const HpAgg *pAgg){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const HpWorker *p = pAgg->runs.pWorker;
  const HpQuery *pQuery = p->pQuery;
  return pPlan->keys.n>0 && pPlan->nSet==0 && pPlan->nLate==0 && pPlan->bOpaque==0
      && pPlan->bInOrder==0 && pPlan->bStream==0 && pPlan->pNext==0
      && p->pPipe->bMore==0 && p->pPipe->bAdds==0
      && pQuery->bExact==0 && pQuery->nTop==0 && pQuery->pSource!=0;
}

/* Worker p has scanned a run of leaves */
static void hpRareLeaves(HpWorker *p){
  HpAgg *pAgg = (HpAgg*)p->pSink;
  pAgg->nLeaf += p->run.nPage;
  pAgg->nLeafRow = pAgg->nRow;
}

/*
** Will most rows of the scan have begun a group?  That is known after the first run.
*/
static int hpRareIs(const HpAgg *pAgg, const HpWorker *p){
  double rSeen = (double)pAgg->nRow;
  double rMet = rSeen - (double)pAgg->runs.nGroup + 1;
  double rAll = (double)p->pQuery->pSource->nLeaf / ((double)pAgg->nLeaf*p->pQuery->nWorker)
                * (double)pAgg->nLeafRow;
  double rKeys = rSeen*rSeen / (2*rMet);
  return rAll>2*rSeen && rAll<HP_RARE_TIMES*rKeys;
}

/*
** Count the keys of the table that is about to become a run, and say whether each key has come several
** times by now.  -ln(1-x) is the number of keys a bit, if a share of x of them is set.
*/
static int hpRareRecurs(HpAgg *pAgg){
  u32 j;
  double x;
  for(j=0; j<=pAgg->mSlot; j++){
    u32 salt = pAgg->aSlot[2*j];
    if( pAgg->aSlot[2*j+1]==0 || salt>>28!=0 ) continue;
    salt &= HP_RARE_BIT-1;
    if( (pAgg->aRareBit[salt/64]>>(salt%64) & 1)==0 ) pAgg->nRareBit++;
    pAgg->aRareBit[salt/64] |= (u64)1<<(salt%64);
  }
  x = (double)pAgg->nRareBit/HP_RARE_BIT;
  x = x*(1+x*(1.0/2+x*(1.0/3+x*(1.0/4))));
  return pAgg->nRareBit<=HP_RARE_BIT/2 && pAgg->runs.nMemGroup>8*HP_RARE_GROUPS
      && (double)pAgg->runs.nMemGroup > 2*HP_RARE_TIMES*HP_RARE_SHARE*(HP_RARE_BIT*x);
}

/* Is the table so large that it is to become a run? */
static int hpRareIsFull(const HpAgg *pAgg){
  const HpRuns *pRuns = &pAgg->runs;
  i64 nByte = (i64)HP_RARE_CHUNK << MIN(pRuns->nMemRun/HP_RARE_RUNS, 20);
  i64 nShare = pRuns->pWorker->pQuery->budget.nShare;
  if( pRuns->pWorker->pCfg->nRare>0 ) return pRuns->nGroup>=(u32)pRuns->pWorker->pCfg->nRare;
  return pRuns->arena.nTotal-pRuns->arena.nFree>=MIN(nByte, nShare/4);
}

/*
** Make a run of the groups of pAgg, and forget them.
*/
static int hpRareRun(HpAgg *pAgg){
  int bMore = pAgg->runs.pWorker->pCfg->nRare>0 || !hpRareRecurs(pAgg);
  int rc = hpMemRunMake(&pAgg->runs);
  if( rc ) return rc;
  hpTableReset(pAgg, HP_RARE_CHUNK/4);
  if( !bMore ){
    pAgg->bRare = 0;
    pAgg->nCheck = 0xffffffff;
  }
  return SQLITE_OK;
}

/*
** The selected rows have been added to their groups.
*/
static int hpRareStep(HpAgg *pAgg, const HpFrame *p){
  assert( pAgg->pPlan->keys.n>0 );
  pAgg->nRow += p->nSel;
  if( pAgg->nCheck==0 ) pAgg->nCheck = p->pCfg->nRare>0 ? 1 : HP_RARE_GROUPS;
  if( pAgg->bRare ) return hpRareIsFull(pAgg) ? hpRareRun(pAgg) : SQLITE_OK;
  if( pAgg->runs.nGroup<pAgg->nCheck || pAgg->runs.bOrdered ) return SQLITE_OK;
  if( !hpRareMay(pAgg) ){
    pAgg->nCheck = 0xffffffff;
    return SQLITE_OK;
  }
  if( p->pCfg->nRare==0 && pAgg->nLeaf==0 ) return SQLITE_OK;
  if( p->pCfg->nRare==0 && !hpRareIs(pAgg, p->pWorker) ){
    pAgg->nCheck = 2*MAX(pAgg->runs.nGroup, HP_RARE_GROUPS);
    return SQLITE_OK;
  }
  pAgg->aRareBit = hpArenaAlloc(&pAgg->scratch, HP_RARE_BIT/8);
  if( pAgg->aRareBit==0 ) return HP_DECLINE;
  memset(pAgg->aRareBit, 0, HP_RARE_BIT/8);
  pAgg->bRare = 1;
  return hpRareRun(pAgg);
}
#endif /* SQLITE_OMIT_HP */
