/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_find: OP_HpFind, which looks up the group of a correlated sub-select.
**
**    sqlite3HpFind()    OP_HpFind
**
** The sub-select is a scan of a whole table for each row around it (hp_findplan.c).
** The first of these scans are SQLite's: what it would never have come to we do not
** do.  When it has gone through as many rows as the table has, about, in this
** statement, the table is scanned once, grouped by the inner sides of the keys, and
** from then on a hash table has the group of each row.  So at most twice SQLite's
** time is spent where it stops soon after.
**
** EXISTS has groups without aggregates.
**
** Groups hold as long as nobody writes to the table (hp_guard.c).  Then, and if the
** groups take more than hp_memory, or the scan declines, the sub-select is SQLite's
** until the statement ends.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Scan the table of p, which is new, and enter its groups into a hash table.
*/
static int hpFindMake(HpQuery *p, const HpPlan *pPlan, Mem *aMem, int bExact){
  int rc = hpFinderNew(p);
  if( rc==SQLITE_OK ) rc = hpQueryRun(p, pPlan, aMem, bExact ? 1 : hpThreads(p->db), bExact);
  if( rc==SQLITE_OK ){
    sqlite3BeginBenignMalloc();
    rc = hpFinderFill(p);
    sqlite3EndBenignMalloc();
  }
  if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
  if( rc==SQLITE_OK ) hpQueryDone(p, pPlan);
  return rc;
}

/*
** Is it time to scan the table?  pReg is empty at first; then it has the number of rows
** that SQLite had gone through by then, and the register behind it that of the table.
*/
static int hpFindTime(Vdbe *v, const HpPlan *pPlan, Mem *aMem, Mem *pReg){
  u32 nStep = v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP];
  i64 nLeaf, nRow;
  if( hpConfigOffload(v->db)==HP_OFFLOAD_FORCE ) return 1;
  if( (pReg->flags & MEM_Int)==0 ){
    sqlite3VdbeMemSetInt64(pReg, nStep);
    if( hpSourcePlanSize(v->db, &pPlan->aPipe[0].source, aMem, &nLeaf, &nRow)
     || nLeaf<HP_MIN_LEAF
    ){
      nRow = HP_ROWS_ALL;
    }
    sqlite3VdbeMemSetInt64(&pReg[1], nRow);
    return 0;
  }
  return (u32)(nStep - (u32)pReg->u.i)>=pReg[1].u.i;
}

/* From now on the sub-select is SQLite's */
static void hpFindOff(Mem *pReg){
  sqlite3VdbeMemSetInt64(pReg, 0);
  sqlite3VdbeMemSetInt64(&pReg[1], HP_ROWS_ALL);
}

/*
** OP_HpFind: load the group of the outer sides in registers P3 and on.  HP_DECLINE:
** stock's code is to answer.
*/
SQLITE_PRIVATE int sqlite3HpFind(Vdbe *v, VdbeOp *pOp, Mem *aMem){
  sqlite3 *db = v->db;
  const HpPlan *pPlan = (const HpPlan*)pOp->p4.pMem->z;
  Mem *pReg = &aMem[pOp->p1];
  HpQuery *p;
  int rc;
  if( (pReg->flags & MEM_Dyn)==0 ){
    if( (pReg->flags & MEM_Int) && pReg[1].u.i==HP_ROWS_ALL ) return HP_DECLINE;
    if( hpQueryMayNot(v) || !hpFindTime(v, pPlan, aMem, pReg) ) return HP_DECLINE;
    p = hpQueryNew(v, pPlan);
    rc = p ? hpFindMake(p, pPlan, aMem, 0) : HP_DECLINE;
    if( rc==HP_SERIAL ){
      hpConfigStat(db, HP_STAT_SERIAL);
      hpQueryFree(p);
      p = hpQueryNew(v, pPlan);
      rc = p ? hpFindMake(p, pPlan, aMem, 1) : HP_DECLINE;
    }
    if( rc ){
      rc = hpQueryFailed(p, db, rc);
      hpQueryFree(p);
      hpFindOff(pReg);
      return rc;
    }
    sqlite3VdbeMemSetNull(pReg);
    sqlite3VdbeMemSetPointer(pReg, p, "hp", hpQueryFree);
  }
  p = (HpQuery*)pReg->z;
  if( !hpFinderHolds(p->pFinder) ){
    hpFindOff(pReg);
    return HP_DECLINE;
  }
  return hpFinderLoad(p, pPlan->pKeyed, &aMem[pOp->p3], aMem);
}
#endif /* SQLITE_OMIT_HP */
