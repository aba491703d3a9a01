/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_rare: near-unique keys of GROUP BY.
**
**    hpRareOpen()    groups are in one table at first
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
** Whether it is so is asked when the table has HP_RARE_GROUPS, and when that number has doubled.
** A larger table stays.  If d values come equally often, about n*n/2d of the first n rows find their group
** there, so d is known from the number that did.  A table is better if the rows to come
** will mostly meet their groups.
**
** That may be wrong: perhaps keys only begin to recur, as in tables that have a row of each account
** for each day.  So it is counted how many keys are new, of one in HP_RARE_SHARE of them, as bits that their
** hash values choose.  If few are the worker goes back to one table.  Where keys come in order they are
** no groups in a table at all (hp_assign.c); when that ends it is likely that they begin again.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_RARE_GROUPS  32768        /* Ask when there are so many groups: HpRare.nCheck */
#define HP_RARE_LATE    (4*HP_RARE_GROUPS)  /* ... and no more when there are so many */
#define HP_RARE_CHUNK   (1024*1024)  /* Bytes of the groups of a run: half of L2 */
#define HP_RARE_RUNS    512          /* So many runs, then longer ones */
#define HP_RARE_TIMES   1.5          /* Groups of so many rows belong into one table */
#define HP_RARE_BIT     (1<<18)      /* Bits for one in HP_RARE_SHARE keys: of 12 million */
#define HP_RARE_SHARE   64
#define HP_RARE_WINDOW  (4*HP_RARE_GROUPS)  /* Look how many are new after so many groups at least, */
#define HP_RARE_NEW     0.25         /* ... and whether it is less than this share */

/*
** May the groups of pAgg be in runs?  Not if they have what cannot be put together, if they are
** looked up in the table later, or come in order.
*/
static int hpRareMay(const HpAgg *pAgg){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const HpWorker *p = pAgg->runs.pWorker;
  const HpPipe *pPipe = p->pPipe;
  return pPlan->nSet==0 && pPlan->nLate==0 && pPlan->bOpaque==0
      && pPlan->bInOrder==0 && pPlan->bStream==0 && pPlan->pNext==0
      && p->pPlan->bMore==0 && p->pPlan->bAdds==0
      && pPipe->pQuery->bExact==0 && pPipe->pShown->top.nTop==0
      && pPipe->pSource!=0;
}

/* Worker p has scanned a run of leaves */
static void hpRareLeaves(HpWorker *p){
  HpAgg *pAgg = (HpAgg*)p->pSink;
  assert( pAgg->nRow>=pAgg->rare.nLeafRow && p->pRead->run.nPage>0 );
  pAgg->rare.nLeaf += p->pRead->run.nPage;
  pAgg->rare.nLeafRow = pAgg->nRow;
}

/*
** Will most rows of the scan have begun a group?  That is known after the first run.
*/
static int hpRareIs(const HpAgg *pAgg, const HpWorker *p){
  double rSeen = (double)pAgg->nRow;
  double rMet = rSeen - (double)pAgg->runs.nEntry + 1;
  double rAll = (double)p->pPipe->pSource->nLeaf
              / ((double)pAgg->rare.nLeaf*p->pPipe->nWorker)
                * (double)pAgg->rare.nLeafRow;
  double rKeys = rSeen*rSeen / (2*rMet);
  assert( pAgg->rare.nLeaf>0 && pAgg->nRow>=pAgg->runs.nEntry );
  return rAll>2*rSeen && rAll<HP_RARE_TIMES*rKeys;
}

/*
** The table is about to become a run.  Count its keys, and say whether few of those that came lately are new.
*/
static int hpRareRecurs(HpAgg *pAgg){
  u64 nGroup;            /* Groups since it was looked the last time */
  double rNew;
  u32 j;
  assert( !pAgg->runs.bOrdered && pAgg->rare.nBit<=HP_RARE_BIT );
  for(j=0; j<=pAgg->mSlot; j++){
    u32 salt = pAgg->aSlot[2*j];
    if( pAgg->aSlot[2*j+1]==0 || salt>=0xffffffff/HP_RARE_SHARE ) continue;
    salt &= HP_RARE_BIT-1;
    if( (pAgg->rare.aBit[salt/64]>>(salt%64) & 1)==0 ) pAgg->rare.nBit++;
    pAgg->rare.aBit[salt/64] |= (u64)1<<(salt%64);
  }
  pAgg->rare.nGroup += pAgg->runs.nEntry;
  nGroup = pAgg->rare.nGroup - pAgg->rare.nLastGroup;
  if( nGroup<MAX(HP_RARE_WINDOW, pAgg->rare.nGroup/8) || pAgg->rare.nBit>HP_RARE_BIT/4*3 ) return 0;
  /* Keys whose bit another one has set are new, too */
  rNew = (double)(pAgg->rare.nBit-pAgg->rare.nLastBit) * HP_RARE_SHARE
         / (1 - (double)pAgg->rare.nBit/HP_RARE_BIT);
  pAgg->rare.nLastGroup = pAgg->rare.nGroup;
  pAgg->rare.nLastBit = pAgg->rare.nBit;
  return rNew<HP_RARE_NEW*(double)nGroup;
}

/* Bytes of the groups of pAgg */
static i64 hpRareBytes(const HpAgg *pAgg){
  return pAgg->runs.arena.nTotal - pAgg->runs.arena.nFree;
}

/* Is the table so large that it is to become a run? */
static int hpRareIsFull(const HpAgg *pAgg){
  const HpRuns *pRuns = &pAgg->runs;
  i64 nByte = (i64)HP_RARE_CHUNK << MIN(pRuns->nMemRun/HP_RARE_RUNS, 20);
  i64 nShare = pRuns->pWorker->pPipe->budget.nShare;
  if( pRuns->pWorker->pCfg->nRare>0 ) return pRuns->nEntry>=(u32)pRuns->pWorker->pCfg->nRare;
  return hpRareBytes(pAgg)>=MIN(nByte, nShare/4);
}

/* Is there memory for a run of the groups of pAgg? */
static int hpRareHasRoom(const HpAgg *pAgg){
  i64 nByte = hpRareBytes(pAgg) + 16*(i64)pAgg->runs.nEntry;
  return nByte<=SQLITE_MAX_LENGTH/2 && hpHeldMay(&pAgg->runs, nByte, HP_WISH);
}

/* HpHolder: groups stay in the one table, whatever comes */
static const HpHolder hpRareNever = { 0, 0 };

/*
** Make a run of the groups of pAgg, and forget them.  If there is no memory for it all go to a file.
*/
static int hpRareRun(HpAgg *pAgg){
  int bMore = pAgg->runs.pWorker->pCfg->nRare>0 || !hpRareRecurs(pAgg);
  int rc;
  if( !hpRareHasRoom(pAgg) ){
    pAgg->bFull = 1;
    return SQLITE_OK;
  }
  hpAggSettle(pAgg);
  rc = hpMemRunMake(&pAgg->runs);
  if( rc ) return rc;
  hpTableReset(pAgg, HP_RARE_CHUNK);
  assert( pAgg->runs.nMemEntry>0 && hpTableIsSane(pAgg) );
  if( !bMore ) pAgg->pHolder = &hpRareNever;
  return SQLITE_OK;
}

/* HpHolder: a table that is large enough becomes a run */
static int hpRareRunsBatch(HpAgg *pAgg, const HpFrame *p){
  UNUSED_PARAMETER(p);
  assert( pAgg->pPlan->keys.n>0 && hpRareMay(pAgg) );
  return hpRareIsFull(pAgg) ? hpRareRun(pAgg) : SQLITE_OK;
}
static const HpHolder hpRareRuns = { hpRareRunsBatch, 1 };

/*
** Are the groups of pAgg to be in runs from now on?  If not HpRare.nCheck says
** when to ask again, or they never are.
*/
static int hpRareBegins(HpAgg *pAgg, const HpWorker *p){
  u32 nGroup = pAgg->runs.nEntry;
  u32 nAgain = 2*MAX(nGroup, HP_RARE_GROUPS);
  if( !hpRareMay(pAgg) || pAgg->runs.bOrdered ){
    if( p->pCfg->nRare==0 || !pAgg->runs.bOrdered ) pAgg->pHolder = &hpRareNever;
    return 0;
  }
  if( p->pCfg->nRare>0 ) return 1;
  if( pAgg->rare.nLeaf==0 && nGroup<HP_RARE_LATE ) return 0;
  if( nGroup<HP_RARE_LATE && hpRareIs(pAgg, p) && hpRareHasRoom(pAgg) ) return 1;
  pAgg->rare.nCheck = nAgain;
  if( nAgain>=HP_RARE_LATE ) pAgg->pHolder = &hpRareNever;
  return 0;
}

/* HpHolder: one table, as long as rows find their groups there */
static int hpRareTableBatch(HpAgg *pAgg, const HpFrame *p){
  assert( pAgg->pPlan->keys.n>0 );
  if( pAgg->rare.nCheck==0 ){
    pAgg->rare.nCheck = p->pCfg->nRare>0 ? 1 : HP_RARE_GROUPS;
  }
  if( pAgg->runs.nEntry<pAgg->rare.nCheck || !hpRareBegins(pAgg, p->pWorker) ){
    return SQLITE_OK;
  }
  pAgg->rare.aBit = hpArenaAlloc(&pAgg->scratch, HP_RARE_BIT/8);
  if( pAgg->rare.aBit==0 ) return HP_DECLINE;
  memset(pAgg->rare.aBit, 0, HP_RARE_BIT/8);
  pAgg->pHolder = &hpRareRuns;
  return hpRareRun(pAgg);
}
static const HpHolder hpRareTable = { hpRareTableBatch, 0 };

/* Where the groups of pAgg, none so far, are at first */
static void hpRareOpen(HpAgg *pAgg){
  pAgg->pHolder = pAgg->pPlan->keys.n ? &hpRareTable : &hpRareNever;
}
#endif /* SQLITE_OMIT_HP */
