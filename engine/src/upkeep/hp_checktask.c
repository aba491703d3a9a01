/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_checktask: the rows of a table and its indexes, for PRAGMA integrity_check
** and quick_check.
**
**    hpCheckTaskRun()    are they as they have to be: HpPlan.xTask
**
** SQLite goes through all rows of a table, looks at the types of the columns
** and at CHECK constraints, and looks each row up in each index.  Here the plan
** (task/hp_checkplan.c) has a pipe for each index and one for the table.  Each
** scans its b-tree once, in the order of the file, with all workers
** (sink/check/hp_checkrows.c).
**
** If all is as it has to be there is nothing to say, and the program goes on
** behind SQLite's loop.  If not, or if anything fails, SQLite's loop runs, for
** this table: it knows what to say, and in which order.  Only an interrupt ends
** the statement here.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Is what the table says of each index what that holds? */
static int hpCheckTaskSums(const HpCheckAll *p){
  int i;
  for(i=0; i<p->nSum; i++){
    if( memcmp(&p->aSum[i], &p->aOwn[i], sizeof(HpCheckSum)) ) return 0;
  }
  return 1;
}

/*
** Check what pPlan is about.  HP_DECLINE: SQLite's loop is to do it.
*/
static int hpCheckTaskRun(
  Vdbe *v,
  const HpPlan *pPlan,
  const VdbeOp *pOp,
  Mem *aMem,
  int *piNext
){
  sqlite3 *db = v->db;
  const HpSourcePlan *pSource = &hpPlanLast(pPlan)->source;
  Btree *pBtree = db->aDb[pSource->iDb].pBt;
  int nSum = hpPlanLast(pPlan)->pCheck->nSum;
  int bLarge;
  HpCheckAll *pAll;
  HpQuery *p = 0;
  int rc, i;
  assert( pOp->opcode==OP_HpTask && *piNext==pOp->p2 && nSum<=pPlan->nPipe );
  UNUSED_PARAMETER2(pOp, piNext);
  /* The temporary database may be empty */
  if( sqlite3BtreeLastPage(pBtree)==0 ) return HP_DECLINE;
  rc = hpTaskScanIsLarge(db, pBtree, pSource->iRoot, pSource->bIndex, &bLarge);
  if( rc ) return HP_DECLINE;
  if( !bLarge ){
    hpConfigStat(db, HP_STAT_SMALL);
    return HP_DECLINE;
  }
  sqlite3BeginBenignMalloc();
  pAll = sqlite3MallocZero(sizeof(*pAll) + 2*sizeof(HpCheckSum)*(u64)nSum);
  sqlite3EndBenignMalloc();
  if( pAll ) p = hpQueryNew(v, pPlan);
  if( p==0 ){
    sqlite3_free(pAll);
    return HP_DECLINE;
  }
  sqlite3_randomness(sizeof(pAll->aKey), pAll->aKey);
  pAll->nSum = nSum;
  pAll->aSum = (HpCheckSum*)&pAll[1];
  pAll->aOwn = &pAll->aSum[nSum];
  p->pCheck = pAll;
  for(i=0; i<pPlan->nPipe && rc==SQLITE_OK; i++){
    rc = hpPipeNew(p, &pPlan->aPipe[i]);
    if( rc==SQLITE_OK ) rc = hpPipeRun(p->pPipe, aMem, hpThreads(db));
    if( rc==SQLITE_OK ) hpPipeClose(p);
  }
  assert( rc || p->pPipe==0 );
  if( rc==SQLITE_OK && db->mallocFailed ) rc = SQLITE_NOMEM;
  if( rc==SQLITE_OK && !hpCheckTaskSums(pAll) ) rc = HP_DECLINE;
  if( rc ){
    rc = hpQueryFailed(p, db, rc);
    /* Whatever it was, SQLite comes upon it, or does not */
    if( rc!=SQLITE_INTERRUPT ) rc = HP_DECLINE;
  }else{
    hpConfigStat(db, HP_STAT_CHECKED);
  }
  hpQueryFree(p);
  sqlite3_free(pAll);
  assert( rc==SQLITE_OK || rc==SQLITE_INTERRUPT || rc==HP_DECLINE );
  return rc;
}
#endif /* SQLITE_OMIT_HP */
