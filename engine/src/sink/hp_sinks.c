/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sinks: the sinks, each a table of functions.
**
**    hpSinkGroups    groups and their aggregates
**    hpSinkSort      sorted records
**    hpSinkSpool     records in the order of the scan
**    hpSinkTop       places of the first rows of an order
**    hpSinkFirst     places of one row for each combination of values
**    hpSinkRowids    places of the rows that pass
**    hpSinkCount     nothing: the source counts
**    hpSinkRel       a relation, which later pipes look rows up in
**    hpSinkPrefix    how often each prefix of a key changes
**    hpSinkNone      no row may pass: declines if one does
**    hpSinkCheck     nothing: are rows as they have to be?
**    hpSinkStash     rows put aside, which later pipes read in place of leaves
**
** A scan (hp_query.c) does not know what becomes of the rows that pass.  It calls,
** for each worker but where it says otherwise:
**
**    xBegin     once, before there are workers: HP_DECLINE if stock is as good
**    xOpen      in the caller's thread
**    xMore      likewise: what it has goes on with another pipe (HpPipePlan.bAdds)
**    xRows      the selected rows of a batch: in the worker's thread, as the
**               next two are
**    xRunEnd    a run of leaves is done
**    xFinish    all rows of this worker are in
**    xCombine   once, in the caller's thread, when all workers are done
**    xClose     at the end, whatever happened
**
** eRecords says whether it looks at the records of a batch, or where they stand: what the source
** then has to read.
**
** What is NULL is not wanted.  Calls are made once a batch or less often, never
** once a row.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Groups and their aggregates */
static int hpSinkAggBegin(HpPipe *p, Mem *aMem){
  assert( p->nWorker==0 && p->pShown->top.pBest==0 && p->pOut->nMerge==0 );
  p->pShown->top.nTop = hpTopGroupMost(p->pPlan->pGroup, aMem);
  return SQLITE_OK;
}
static int hpSinkAggOpen(HpWorker *p, Mem *aMem){
  UNUSED_PARAMETER(aMem);
  return hpAggOpen(p);
}
static void hpSinkAggMore(HpWorker *p){
  HpAgg *pAgg = (HpAgg*)p->pSink;
  hpAggSettle(pAgg);
  assert( pAgg->pPlan->entry.szEntry==p->pPlan->pGroup->entry.szEntry );
  pAgg->pPlan = p->pPlan->pGroup;
  pAgg->runs.pPlan = &pAgg->pPlan->entry;
}
static int hpSinkAggRows(HpWorker *p, HpFrame *pFrame){
  assert( p->pPipe->pEntry==&((HpAgg*)p->pSink)->pPlan->entry );
  return hpAggStep((HpAgg*)p->pSink, pFrame);
}
static int hpSinkAggFinish(HpWorker *p){
  HpAgg *pAgg = (HpAgg*)p->pSink;
  int rc;
  assert( p->pPlan->bMore==0 && p->rc==SQLITE_OK );
  hpAggSettle(pAgg);
  rc = p->pPipe->pShown->top.nTop ? SQLITE_OK : hpRadixHeld(p->pRuns);
  return rc || p->pPlan->pGroup->nLate==0 ? rc : hpAggOrderSort(p->pRuns);
}
static int hpSinkAggCombine(HpPipe *p){
  assert( p->pCrew==0 && p->pPlan->bMore==0 );
  int rc = hpDistinctCombine(p);
  return rc ? rc : hpTopGroupMerge(p);
}
static void hpSinkAggClose(HpWorker *p){
  hpTableClose((HpAgg*)p->pSink);
}

/* Sorted records, of all rows or of the first ones of each partition */
static int hpSinkSortBegin(HpPipe *p, Mem *aMem){
  assert( p->nWorker==0 );
  p->pOut->mxRow = hpPartitionLimit(p->pPlan->pSort, aMem);
  if( !hpSizeIsShort(p) || hpPartitionWorthIt(p) ) return SQLITE_OK;
  p->pass.bSmall = 1;
  return HP_DECLINE;
}
static int hpSinkSortOpen(HpWorker *p, Mem *aMem){
  int rc = hpSortOpen(p);
  UNUSED_PARAMETER(aMem);
  return rc ? rc : hpPartitionOpen(p);
}
static int hpSinkSortRows(HpWorker *p, HpFrame *pFrame){
  return hpPartitionStep((HpSort*)p->pSink, pFrame);
}
static int hpSinkSortFinish(HpWorker *p){
  assert( p->pPlan->bMore==0 && p->rc==SQLITE_OK );
  return hpPartitionSort((HpSort*)p->pSink);
}
static int hpSinkSortCombine(HpPipe *p){
  int rc = hpMergeOpen(p);
  int i;
  for(i=0; i<p->nWorker; i++) hpPartitionClose((HpSort*)p->apWorker[i]->pSink);
  return rc;
}
static void hpSinkSortClose(HpWorker *p){
  hpPartitionClose((HpSort*)p->pSink);
  hpSortClose((HpSort*)p->pSink);
}

static const HpSinkType hpSinkGroups = {
  hpSinkAggBegin, hpSinkAggOpen, hpSinkAggMore, hpSinkAggRows, hpRareLeaves, hpSinkAggFinish,
  hpSinkAggCombine, hpSinkAggClose, HP_RECORDS_NOT
};
static const HpSinkType hpSinkSort = {
  hpSinkSortBegin, hpSinkSortOpen, 0, hpSinkSortRows, 0, hpSinkSortFinish,
  hpSinkSortCombine, hpSinkSortClose, HP_RECORDS_NOT
};
static const HpSinkType hpSinkSpool = {
  0, hpSpoolOpen, 0, hpSpoolRows, 0, hpSpoolFinish, hpSpoolCombine,
  hpSpoolClose, HP_RECORDS_NOT
};
static const HpSinkType hpSinkTop = {
  0, hpTopOpen, 0, hpTopRows, hpTopRun, 0, hpTopMerge, hpFoundClose, HP_RECORDS_SOUND
};
static const HpSinkType hpSinkFirst = {
  0, hpFirstOpen, 0, hpFirstRows, hpFirstRun, 0, hpFirstMerge, hpFirstClose,
  HP_RECORDS_PLACES
};
static const HpSinkType hpSinkRowids = {
  0, hpRowidsOpen, 0, hpRowidsRows, hpRowidsRun, 0, hpFoundMerge, hpFoundClose,
  HP_RECORDS_PLACES
};
static const HpSinkType hpSinkRel = {
  0, hpBuildOpen, 0, hpBuildRows, 0, 0, hpBuildCombine, hpBuildClose, HP_RECORDS_NOT
};
#ifdef HP_ANALYZE
static const HpSinkType hpSinkPrefix = {
  0, hpPrefixOpen, 0, hpPrefixRows, 0, 0, 0, hpPrefixClose, HP_RECORDS_NOT
};
#endif
static int hpSinkNoneOpen(HpWorker *p, Mem *aMem){
  UNUSED_PARAMETER2(p, aMem);
  assert( p->pPlan->pPrefix->keys.n==0 );
  return SQLITE_OK;
}
static int hpSinkNoneRows(HpWorker *p, HpFrame *pFrame){
  UNUSED_PARAMETER2(p, pFrame);
  assert( pFrame->nSel>0 );
  return HP_DECLINE;
}
static const HpSinkType hpSinkNone = {
  0, hpSinkNoneOpen, 0, hpSinkNoneRows, 0, 0, 0, 0, HP_RECORDS_NOT
};
static int hpSinkStashOpen(HpWorker *p, Mem *aMem){
  UNUSED_PARAMETER(aMem);
  return hpStashOpen(p);
}
static const HpSinkType hpSinkStash = {
  0, hpSinkStashOpen, 0, hpStashRows, 0, 0, hpStashCombine, hpStashClose,
  HP_RECORDS_NOT
};
static const HpSinkType hpSinkCheck = {
  0, hpCheckRowsOpen, 0, hpCheckRowsBatch, hpCheckRowsRun, hpCheckRowsFinish,
  hpCheckRowsCombine, hpCheckRowsClose, HP_RECORDS_NOT
};
/* The number of entries is wanted: the source counts them, there are no rows */
static const HpSinkType hpSinkCount = { 0, 0, 0, 0, 0, 0, 0, 0, HP_RECORDS_NOT };
#endif /* SQLITE_OMIT_HP */
