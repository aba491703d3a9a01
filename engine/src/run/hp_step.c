/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_step: for PRAGMA hp_log, what each step of a scan did.
**
**    hpStepTree()    the b-tree that a pipe scans, by name
**    hpStepBegin()   a pipe is about to run
**    hpStepEnd()     it has run: tell the log
**
** The log gets a line for each pipe that has run,
**
**    hp step: WHAT|ROWS|PASSED|MICROSECONDS|KEPT|RUNS|WORKERS
**
** which is what was read, and what became of it; how many rows were read; how
** many of them the filters, and look-ups of a join, let through; how long that
** took; how many runs of leaves had their columns in memory, of how many; and
** by how many workers.  Rows of a zone that cannot pass are not read.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* The b-tree that a pipe scans, by name */
static void hpStepTree(sqlite3 *db, const HpSourcePlan *p, StrAccum *pOut){
  HashElem *i;
  assert( p->iDb>=0 && p->iDb<db->nDb && p->iRoot>0 );
  for(i=sqliteHashFirst(&db->aDb[p->iDb].pSchema->tblHash); i;
      i=sqliteHashNext(i)){
    const Table *pTab = (const Table*)sqliteHashData(i);
    const Index *pIdx;
    if( !IsOrdinaryTable(pTab) ) continue;
    if( pTab->tnum==p->iRoot ) break;
    for(pIdx=pTab->pIndex; pIdx && pIdx->tnum!=p->iRoot; pIdx=pIdx->pNext){}
    if( pIdx==0 ) continue;
    sqlite3_str_appendf(pOut, "%s.", pTab->zName);
    sqlite3_str_appendall(pOut,
        IsPrimaryKeyIndex(pIdx) ? "primary key" : pIdx->zName);
    return;
  }
  sqlite3_str_appendall(pOut,
      i ? ((const Table*)sqliteHashData(i))->zName : "a table");
}

/* The time in microseconds */
static i64 hpStepClock(void){
#if SQLITE_OS_UNIX && defined(CLOCK_MONOTONIC)
  struct timespec t;
  if( clock_gettime(CLOCK_MONOTONIC, &t)==0 ){
    return (i64)t.tv_sec*1000000 + t.tv_nsec/1000;
  }
#endif
  return 0;
}

/* What the workers of p have read and kept so far */
static void hpStepCount(const HpPipe *p, HpStep *pStep){
  int i;
  assert( p->nWorker>=0 && p->nWorker<=HP_MX_THREAD );
  assert( p->pPlan!=0 && p->pPlan->pSink!=0 );
  pStep->nRow = pStep->nPass = pStep->nTaken = pStep->nKept = 0;
  for(i=0; i<p->nWorker; i++){
    const HpWorker *pWorker = p->apWorker[i];
    pStep->nRow += pWorker->nScanned;
    pStep->nPass += p->pPlan->pSink->xRows ? pWorker->nPassed
                                           : pWorker->nScanned;
    pStep->nTaken += pWorker->pRead->run.nTaken;
    pStep->nKept += pWorker->pRead->run.nKept;
  }
}

/* Pipe p is about to run */
static void hpStepBegin(const HpPipe *p, HpStep *pStep){
  memset(pStep, 0, sizeof(*pStep));
  if( p->pQuery->db->hp.bLog==0 ) return;
  pStep->t = hpStepClock();
  hpStepCount(p, pStep);
  /* A worker that goes on has a new HpRun */
  pStep->nTaken = pStep->nKept = 0;
}

/* The name of what is read */
static void hpStepSource(const HpPipe *p, StrAccum *pOut){
  const HpSourceType *pType = p->pPlan->source.pType;
  if( pType==&hpSetType ){
    sqlite3_str_appendall(pOut, "the values of IN");
  }else if( pType==&hpRegroupType ){
    sqlite3_str_appendall(pOut, "the groups before");
  }else{
    if( pType==&hpUnstashType ) sqlite3_str_appendall(pOut, "rows set aside of ");
    hpStepTree(p->pQuery->db, &p->pPlan->source, pOut);
  }
}

/* What becomes of the rows */
static const char *hpStepSink(const HpPipePlan *p){
  if( p->pSink==&hpSinkGroups ){
    return p->pGroup && p->pGroup->keys.n ? "groups" : "aggregates";
  }
  if( p->pSink==&hpSinkSort ) return "sorted rows";
  if( p->pSink==&hpSinkTop ) return "the first rows of an order";
  if( p->pSink==&hpSinkFirst ) return "one row for each key";
  if( p->pSink==&hpSinkRowids ) return "places of the rows that pass";
  if( p->pSink==&hpSinkRel ) return "a hash table";
  if( p->pSink==&hpSinkStash ) return "rows set aside";
  if( p->pSink==&hpSinkCount ) return "a count";
  return "a sample, to see what is worth it";
}

/* Pipe p has run, and what it had read before is in pStep */
static void hpStepEnd(const HpPipe *p, const HpStep *pStep){
  HpStep x;
  StrAccum out;
  char zWhat[120];
  if( p->pQuery->db->hp.bLog==0 ) return;
  sqlite3StrAccumInit(&out, 0, zWhat, sizeof(zWhat), 0);
  hpStepSource(p, &out);
  sqlite3_str_appendf(&out, " -> %s", hpStepSink(p->pPlan));
  hpStepCount(p, &x);
  /* Workers that go on count on */
  assert( x.nRow>=pStep->nRow && x.nPass>=pStep->nPass );
  hpConfigLog(p->pQuery->db, "step: %s|%llu|%llu|%lld|%llu|%llu|%d",
      sqlite3StrAccumFinish(&out), x.nRow-pStep->nRow, x.nPass-pStep->nPass,
      hpStepClock()-pStep->t, x.nKept-pStep->nKept, x.nTaken-pStep->nTaken,
      p->nWorker);
}
#endif /* SQLITE_OMIT_HP */
