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
** nobody looks at it, and there is no hook, trigger or counter of changes.  Of
** other statements that of the table is, if the table is empty when it runs.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** SQLite is about to code the loop that copies the b-tree of cursor iFrom,
** which is open, into that of iTo: index pIdx, or if that is NULL table pTab.
** Returns the address of OP_HpTask, or 0 if it is left to SQLite.
*/
SQLITE_PRIVATE int sqlite3HpCopyBegin(
  Parse *pParse,
  Table *pTab,
  Index *pIdx,
  int iFrom,
  int iTo
){
  sqlite3 *db = pParse->db;
  HpPlan *pPlan;
  int addr, i;
  /* Not hpTaskPlanMay(): cells are copied in any encoding */
  if( pParse->nErr ) return 0;
  if( (db->mDbFlags & DBFLAG_Vacuum)==0
   && (pIdx || (pTab->tabFlags & TF_Autoincrement))
  ){
    return 0;
  }
  if( hpConfigOffload(db)==HP_OFFLOAD_OFF || !IsOrdinaryTable(pTab) ) return 0;
  for(i=0; pIdx && i<pIdx->nColumn; i++){
    /* SQLite inserts these as any: the collation may have changed */
    if( sqlite3_stricmp(sqlite3StrBINARY, pIdx->azColl[i]) ) return 0;
  }
  pPlan = hpCompileEmpty();
  if( pPlan==0 ) return 0;
  assert( pPlan->nPipe==0 && pPlan->nSet==0 );
  pPlan->xTask = hpCopyRun;
  pPlan->bNumber = pIdx==0 && pTab->iPKey<0 && pTab->pIndex==0
                && (db->mDbFlags & DBFLAG_VacuumInto)==0;
  addr = hpEmitTask(pParse, pPlan);
  if( db->mallocFailed ) return 0;
  sqlite3VdbeChangeP1(pParse->pVdbe, addr, iFrom);
  sqlite3VdbeChangeP3(pParse->pVdbe, addr, iTo);
  return addr;
}
#endif /* SQLITE_OMIT_HP */
