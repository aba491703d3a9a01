/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_taskscan: the scan of a task that reads one tree.
**
**    hpTaskScanIsLarge()   is a b-tree large enough for a task?
**    hpTaskScanRun()       run a plan, if what it reads is large
**
** A scan changes nothing, and is over when this returns: what the sinks of the
** last pipe have is there until hpQueryFree().  ANALYZE and foreign_key_check
** leave it to SQLite to write down, or to show, what they find.  CREATE INDEX
** and REINDEX lay the entries, which are sorted by then (hp_refill.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Set *pbLarge if the b-tree at iRoot is large enough for a task, or tasks are
** forced.
*/
static int hpTaskScanIsLarge(
  sqlite3 *db,
  Btree *pBtree,
  Pgno iRoot,
  int bIndex,            /* It is the b-tree of an index */
  int *pbLarge
){
  assert( pBtree->db==db );
  *pbLarge = 1;
  if( hpConfigOffload(db)==HP_OFFLOAD_FORCE ) return SQLITE_OK;
  return hpSizeIsLarge(pBtree, iRoot, bIndex, HP_MIN_LEAF, pbLarge);
}

/*
** Run pPlan: *pp is to be freed with hpQueryFree(), with an error, too.
*/
static int hpTaskScanRun(Vdbe *v, const HpPlan *pPlan, Mem *aMem, HpQuery **pp){
  sqlite3 *db = v->db;
  const HpSourcePlan *pSource = &hpPlanLast(pPlan)->source;
  int bLarge;
  int rc;
  *pp = 0;
  assert( pSource->iDb>=0 && pSource->iDb<db->nDb && pPlan->nSet==0 );
  rc = hpTaskScanIsLarge(db, db->aDb[pSource->iDb].pBt, pSource->iRoot,
                         pSource->bIndex, &bLarge);
  if( rc==SQLITE_OK && pSource->pRange
   && hpConfigOffload(db)!=HP_OFFLOAD_FORCE
  ){
    rc = hpSizeRangeIsLarge(db, pSource, aMem, &bLarge);
  }
  if( rc==SQLITE_OK && !bLarge ){
    hpConfigStat(db, HP_STAT_SMALL);
    return HP_DECLINE;
  }
  if( rc==SQLITE_OK ){
    *pp = hpQueryNew(v, pPlan);
    rc = *pp ? hpQueryRun(*pp, pPlan, aMem, hpThreads(db), 0) : HP_DECLINE;
  }
  if( rc==SQLITE_OK && db->mallocFailed ) rc = SQLITE_NOMEM;
  return rc ? hpQueryFailed(*pp, db, rc) : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
