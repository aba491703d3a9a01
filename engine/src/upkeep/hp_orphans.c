/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_orphans: PRAGMA foreign_key_check.
**
**    hpOrphansRun()    has a table no row whose parent is missing?
**                      HpPlan.xTask
**
** SQLite's loop goes through the rows of a table and searches the parents of
** each.  Here the keys of all parents become relations (sink/rel/hp_build.c), and
** workers scan the table and look them up.  The one filter passes orphans.  The
** first of them ends the scan, and SQLite's loop shows all, in its order.
**
**    HpTask  P2=end          no orphans
**    Rewind                  SQLite's loop over the table
**    ...
**    end:
**
** To read all parents does not pay if there are far more of them than rows.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_ORPHANS
/* A search takes SQLite as long as it takes us to read so many parents */
#define HP_ORPHANS_PARENTS 4

/*
** Are there so few parents that it pays to read them all?
*/
static int hpOrphansPays(sqlite3 *db, const HpPlan *pPlan, Mem *aMem){
  i64 nLeaf;
  i64 nParent = 0;
  i64 nRow = 0;
  int i;
  assert( pPlan->nPipe>0 );
  if( hpConfigOffload(db)==HP_OFFLOAD_FORCE ) return 1;
  for(i=0; i<pPlan->nPipe; i++){
    if( hpSizeOfPlan(db, &pPlan->aPipe[i].source, aMem, &nLeaf, &nRow) ){
      return 0;
    }
    if( i<pPlan->nPipe-1 ) nParent += nRow;
  }
  return nParent/HP_ORPHANS_PARENTS<=nRow*(pPlan->nPipe-1);
}

/*
** Is there no orphan in the table of pPlan?  HP_DECLINE: SQLite is to look.
*/
static int hpOrphansRun(
  Vdbe *v,
  const HpPlan *pPlan,
  const VdbeOp *pOp,
  Mem *aMem,
  int *piNext
){
  HpQuery *p = 0;
  int rc;
  UNUSED_PARAMETER2(pOp, piNext);
  assert( hpPlanLast(pPlan)->pSink==&hpSinkNone );
  if( !hpOrphansPays(v->db, pPlan, aMem) ){
    hpConfigStat(v->db, HP_STAT_SMALL);
    return HP_DECLINE;
  }
  rc = hpTaskScanRun(v, pPlan, aMem, &p);
  if( rc==SQLITE_OK ) hpConfigStat(v->db, HP_STAT_ORPHANS);
  hpQueryFree(p);
  /* SQLite may show orphans before it comes to what cannot be read, or not come
  ** to it */
  return rc && rc!=SQLITE_INTERRUPT ? HP_DECLINE : rc;
}
#endif /* HP_ORPHANS */
#endif /* SQLITE_OMIT_HP */
