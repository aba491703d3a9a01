/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_held: the entries that a worker holds, and their memory.
**
**    hpHeldInit()    no entries yet
**    hpHeldAt()      entry number i
**    hpHeldKey()     its normalized key
**    hpHeldMemory()  bytes that a worker's entries and runs take
**    hpHeldMay()     may they take more?
**    hpHeldReset()   no entries any more
**    hpHeldIsSane()  for asserts
**
** An entry is a group, a row that is to be sorted, or a pair.  Runs know of it
** what HpEntryPlan says: where its key is, and how large it is.  What else has
** to be done with it (HpEntryType) is the business of whoever makes entries.
**
** Groups lie in chunks that never move (HpRuns.apChunk), rows and pairs one
** behind the other in the arena.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Begin with no entries: pPlan says what an entry of worker p is.
*/
static void hpHeldInit(HpRuns *pRuns, const HpEntryPlan *pPlan, HpWorker *p){
  pRuns->pPlan = pPlan;
  pRuns->pWorker = p;
  hpBudgetArena(p->pPipe, &pRuns->arena);
}

/*
** The normalized key of an entry, and in *pn its length.  aBuf is scratch.
*/
static const u8 *hpHeldKey(
  const HpEntryPlan *pPlan,
  const u8 *aEntry,
  u8 *aBuf,              /* HP_SZ_NUMBER bytes */
  u32 *pn
){
  const HpHead *pHead = hpEntryHead(pPlan, aEntry);
  if( hpEntryIsInt(pPlan, aEntry) ){
    *pn = hpKeyInt(aBuf, (i64)hpEntryPack(aEntry)->a, pPlan->eSort);
    return aBuf;
  }
  *pn = pHead->nNorm;
  return pHead->z;
}

/* Entry number i of those in memory, in the order in which they came */
static u8 *hpHeldAt(const HpRuns *pRuns, u32 iEntry){
  assert( iEntry<pRuns->nEntry );
  return pRuns->apChunk[iEntry/HP_CHUNK]
         + (size_t)(iEntry%HP_CHUNK)*pRuns->pPlan->szEntry;
}

/* Bytes of memory in use, and what sorting entries and putting runs together
** would take */
static i64 hpHeldMemory(const HpRuns *pRuns){
  i64 nSorted = pRuns->nSortedAlloc;
  return pRuns->arena.nTotal + pRuns->arena.nSpare + pRuns->nTable
       + pRuns->memRun.nTotal
       + (i64)sizeof(u8*)*pRuns->nMemEntry
       + (i64)sizeof(struct HpSorted)*MAX(2*(i64)pRuns->nEntry, nSorted);
}

/*
** May the worker have nMore bytes more, for what it holds now and these?
*/
static int hpHeldMay(const HpRuns *pRuns, i64 nMore, int eNeed){
  hpBudgetHold(pRuns->pWorker, hpHeldMemory(pRuns));
  return hpBudgetMay(pRuns->pWorker, nMore, eNeed);
}

/*
** Forget all entries.  What is kept of their memory is within the worker's
** share, or it would be put aside again at once.
*/
static void hpHeldReset(HpRuns *pRuns){
  i64 nShare = pRuns->pWorker->pPipe->budget.nShare;
  i64 nSorted = sizeof(struct HpSorted)*(i64)pRuns->nSortedAlloc;
  assert( pRuns->pPlan->bRows==0 && pRuns->pWorker!=0 );
  if( nSorted>nShare/4 ){
    sqlite3_free(pRuns->aSorted);
    pRuns->aSorted = 0;
    pRuns->nSortedAlloc = 0;
    nSorted = 0;
  }
  hpArenaRecycle(&pRuns->arena, nShare - pRuns->nTable - nSorted);
  pRuns->nEntry = 0;
}

#ifdef SQLITE_DEBUG
/* Has an entry a key, and what else its type says? */
static int hpHeldIsSane(const HpEntryPlan *pPlan, const u8 *aEntry){
  const HpHead *pHead = hpEntryHead(pPlan, aEntry);
  if( pPlan->bWhole ) return ((const HpPair*)aEntry)->nKey>0;
  if( pHead->nNorm>pHead->nRec || (pHead->z==0 && pHead->nRec>0) ) return 0;
  return pPlan->pType==0 || pPlan->pType->xIsSane(pPlan, aEntry);
}
#endif
#endif /* SQLITE_OMIT_HP */
