/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_taskscan: the scans of tasks that only count.
**
**    hpTaskScanRun()    run a plan, if what it reads is large
**
** ANALYZE and foreign_key_check leave it to SQLite to write down, or to show,
** what they find.  So their scans change nothing, and are over when this
** returns: what the sinks of the last pipe have is there until hpQueryFree().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_TASK_SCAN
/*
** Run pPlan: *pp is to be freed with hpQueryFree(), with an error, too.
*/
static int hpTaskScanRun(Vdbe *v, const HpPlan *pPlan, Mem *aMem, HpQuery **pp){
  sqlite3 *db = v->db;
  const HpSourcePlan *pSource = &hpPlanLast(pPlan)->source;
  int bLarge = 1;
  int rc = SQLITE_OK;
  *pp = 0;
  assert( pSource->iDb>=0 && pSource->iDb<db->nDb && pPlan->nSet==0 );
  if( hpConfigOffload(db)!=HP_OFFLOAD_FORCE ){
    rc = hpSizeIsLarge(db->aDb[pSource->iDb].pBt, pSource->iRoot,
                       pSource->bIndex, HP_MIN_LEAF, &bLarge);
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
#endif /* HP_TASK_SCAN */
#endif /* SQLITE_OMIT_HP */
