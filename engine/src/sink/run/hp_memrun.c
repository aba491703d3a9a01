/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_memrun: sorted runs in memory.
**
**    hpMemRunMake()     make one of a worker's groups or rows so far
**    hpMemRunAt()    a group of one, by its number
**    hpMemRunFree()     forget all of a worker
**
** Entries that are too many for the processor's cache are put in order while they
** are in it, a portion at a time, and copied, one behind the other, to memory that is
** touched again when the runs are put together: from beginning to end, and not in the
** order of keys, which is a cache miss or two for each step.
**
** Records are those of a file (hp_spill.c), so a run can go there as it is.  Of a run of
** groups, or of pairs, it is known where each record begins, and pointers are
** set, so hp_slice.c can put runs together.
**
** Runs lie in an arena, whose large blocks are of huge pages: clearing small ones, fault by
** fault, would take longer than to fill them.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Are runs put together by hp_slice.c? */
static int hpMemRunIsSliced(const HpEntryPlan *pPlan){
  return pPlan->bRows==0 || pPlan->bWhole;
}

/*
** Put what pRuns has in order, and append it to its runs.  Rows are then forgotten; groups are
** for the caller to forget.
*/
static int hpMemRunMake(HpRuns *pRuns){
  const HpEntryPlan *pPlan = pRuns->pPlan;
  HpMemRun *pRun;
  HpBuf buf;
  u64 n = 0;
  i64 nAt = hpMemRunIsSliced(pPlan) ? sizeof(u32)*(i64)pRuns->nEntry : 0;
  u32 i;
  int rc;
  assert( pPlan->pType==0 || pPlan->pType->bLarge==0 );
  if( pRuns->nEntry==0 ) return SQLITE_OK;
  if( hpBufGrow(&pRuns->aMemRun, &pRuns->nMemRunAlloc, pRuns->nMemRun, sizeof(HpMemRun)) ){
    return HP_DECLINE;
  }
  rc = hpRadixHeld(pRuns);
  if( rc ) return rc;
  for(i=0; i<pRuns->nEntry; i++) n += hpSpillSize(pPlan, hpRadixAt(pRuns, i));
  if( n>SQLITE_MAX_LENGTH ) return HP_DECLINE;
  pRun = &pRuns->aMemRun[pRuns->nMemRun];
  memset(pRun, 0, sizeof(*pRun));
  if( pRuns->memRun.mxBlock==0 ){
    hpBudgetArena(pRuns->pWorker->pPipe, &pRuns->memRun);
  }
  pRun->a = hpArenaAlloc(&pRuns->memRun, (i64)n + nAt);
  if( pRun->a==0 ) return HP_DECLINE;
  memset(&buf, 0, sizeof(buf));
  buf.a = pRun->a;
  buf.nAlloc = (u32)n;
  if( nAt ) pRun->aAt = (u32*)&pRun->a[n];
  pRun->nHead = hpSpillHead(pPlan);
  for(i=0; i<pRuns->nEntry; i++){
    u32 iAt = buf.n;
    if( hpSpillRecord(pPlan, hpRadixAt(pRuns, i), &buf) ) return HP_DECLINE;
    if( nAt ){
      u8 *aEntry = &pRun->a[iAt+pRun->nHead];
      assert( (iAt & 7)==0 && hpHeldIsSane(pPlan, aEntry) );
      pRun->aAt[i] = iAt/8;
      hpSpillPointers(pPlan, aEntry);
    }
  }
  assert( buf.n==n && buf.a==pRun->a );
  pRun->n = (u32)n;
  pRun->nEntry = pRuns->nEntry;
  pRuns->nMemRun++;
  if( hpMemRunIsSliced(pPlan) ) pRuns->nMemEntry += pRuns->nEntry;
  if( pPlan->bRows ){
    pRuns->nEntry = 0;
    pRuns->nRowByte = 0;
    hpArenaReset(&pRuns->arena);
    return SQLITE_OK;
  }
  return pPlan->pType ? pPlan->pType->xNote(pRuns, 0) : SQLITE_OK;
}

/* Entry i of a run, in key order */
static u8 *hpMemRunAt(const HpMemRun *pRun, u32 i){
  assert( pRun->aAt!=0 && i<pRun->nEntry );
  return &pRun->a[8*(i64)pRun->aAt[i]+pRun->nHead];
}

/*
** Forget the runs of a worker.
*/
static void hpMemRunFree(HpRuns *pRuns){
  hpArenaClear(&pRuns->memRun);
  pRuns->nMemRun = 0;
  pRuns->nMemEntry = 0;
}
#endif /* SQLITE_OMIT_HP */
