/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_copyplan: a loop that copies a b-tree entry by entry (prepare time).
**
**    sqlite3HpCopyBegin()   before the loop: OP_HpTask
**
** SQLite's transfer optimization codes such a loop for a table, and one for
** each of its indexes, if INSERT INTO new SELECT * FROM old is between tables
** that are alike.  Those of VACUUM are taken over: their destination is new,
** nobody looks at it, and there is no hook, trigger or counter of changes.
** Those of other statements are, if the b-tree is empty when they run.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** SQLite is about to code the loop that copies the b-tree of cursor iFrom,
** which is open, into that of iTo: index pIdx of pTab, or if that is NULL the
** table itself.  Returns the address of OP_HpTask, or 0 if SQLite's loop does
** it.
*/
SQLITE_PRIVATE int sqlite3HpCopyBegin(
  Parse *pParse,
  Table *pTab,
  Index *pIdx,
  int iFrom,
  int iTo
){
  sqlite3 *db = pParse->db;
  int bVacuum = (db->mDbFlags & DBFLAG_Vacuum)!=0;
  HpPlan *pPlan;
  /* Not hpTaskPlanMay(): cells are copied in any encoding */
  if( pParse->nErr ) return 0;
  assert( iFrom>=0 && iTo>=0 && iFrom!=iTo );
  if( !bVacuum && pIdx==0 && (pTab->tabFlags & TF_Autoincrement) ) return 0;
  if( hpConfigOffload(db)==HP_OFFLOAD_OFF || !IsOrdinaryTable(pTab) ) return 0;
  pPlan = hpCompileEmpty();
  if( pPlan==0 ) return 0;
  assert( pPlan->nPipe==0 && pPlan->nSet==0 );
  pPlan->xTask = hpCopyRun;
  pPlan->bNumber = pIdx==0 && pTab->iPKey<0 && pTab->pIndex==0
                && (db->mDbFlags & DBFLAG_VacuumInto)==0;
  /* As OPFLAG_NCHANGE of SQLite's loop */
  pPlan->bCounted = !bVacuum
                 && (pIdx==0 || (!HasRowid(pTab) && IsPrimaryKeyIndex(pIdx)));
  return hpDeliverTask(pParse, pPlan, iFrom, iTo);
}
#endif /* SQLITE_OMIT_HP */
