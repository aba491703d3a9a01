/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_taskplan: what plans of tasks have in common (prepare time).
**
**    hpTaskPlanMay()       may there be a plan at all?
**    hpTaskPlanEnd()       it is compiled, or refused
**    hpTaskPlanColumn()    a column of an index, as a key
**    hpTaskPlanCode()      the end of the plan, and OP_HpTask
**    sqlite3HpTaskEnd()    behind SQLite's loop
**
** The columns of an index are read where they stand in its entries, be they
** columns of the table or expressions, as SQLite's loop reads them.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** May a loop of SQLite's be done by a scan, as far as the connection goes?
*/
static int hpTaskPlanMay(Parse *pParse){
  return pParse->nErr==0
      && hpConfigOffload(pParse->db)!=HP_OFFLOAD_OFF
      && ENC(pParse->db)==SQLITE_UTF8;
}

/*
** The plan of pC is compiled, or refused if rc is not 0.  Returns 0 if columns
** are in the order of the record and it may be emitted.  Else it is freed.
*/
static int hpTaskPlanEnd(HpCompile *pC, int rc){
  HpPlan *pPlan = pC->pPlan;
  Parse *pParse = pC->pParse;
  int i;
  assert( pPlan->xTask!=0 );
  /* The application's functions might be called twice for a row, or look at
  ** what is being written */
  if( rc==SQLITE_OK ) rc = hpCompileNoUser(pC);
  if( rc==SQLITE_OK && (pParse->nErr || pParse->db->mallocFailed) ){
    rc = SQLITE_ERROR;
  }
  if( rc ){
    hpConfigStat(pParse->db, pC->eNo ? pC->eNo : HP_NO_OTHER);
    hpCompileFree(pPlan);
    return rc;
  }
  for(i=0; i<pPlan->nPipe; i++) hpCompileSortColumns(&pPlan->aPipe[i]);
  return SQLITE_OK;
}

#ifdef HP_TASK_SCAN
/*
** Let column i of the index that pC scans be key i of pKeys, which has room for
** it.
*/
static int hpTaskPlanColumn(HpCompile *pC, HpKeys *pKeys, int i){
  HpSourcePlan *pSource = &pC->pPipe->source;
  sqlite3 *db = pC->pParse->db;
  HpCol *pCol;
  CollSeq *pColl;
  HpOp op;
  int iVec;
  assert( pC->pIdx!=0 && i>=0 && i<pC->pIdx->nColumn );
  assert( pKeys->n==i && pSource->nCol==i );
  pColl = sqlite3FindCollSeq(db, SQLITE_UTF8, pC->pIdx->azColl[i], 0);
  if( pColl==0 || !hpCompileCollOk(pColl, &pKeys->aColl[i]) ){
    hpCompileNo(pC, HP_NO_COLLATION);
    return SQLITE_ERROR;
  }
  memset(&op, 0, sizeof(op));
  op.eOp = HP_OP_COLUMN;
  op.a = (u16)i;
  if( i>=HP_MX_COL
   || hpArenaGrow(&pC->pPlan->mem, &pSource->aCol, &pSource->nColAlloc, i,
                  sizeof(*pCol))
  ){
    hpCompileNo(pC, HP_NO_LIMIT);
    return SQLITE_ERROR;
  }
  pCol = &pSource->aCol[pSource->nCol++];
  memset(pCol, 0, sizeof(*pCol));
  pCol->iStore = i;
  pCol->dfltTag = HP_NULL;
  iVec = hpProgOp(&pC->pPipe->prog, &op);
  if( iVec<0 ) return SQLITE_ERROR;
  pKeys->aVec[i] = (u16)iVec;
  pKeys->aSort[i] = 0;
  pKeys->n++;
  return SQLITE_OK;
}

/*
** The same, and if it may be emitted OP_HpTask is, with iP3 as its P3.  Returns
** its address, or 0.
*/
static int hpTaskPlanCode(HpCompile *pC, int rc, int iP3){
  if( hpTaskPlanEnd(pC, rc) ) return 0;
  return hpDeliverTask(pC->pParse, pC->pPlan, 0, iP3);
}
#endif /* HP_TASK_SCAN */

/*
** SQLite's loop has been coded.  addrTask is the OP_HpTask before it, or 0 if
** there is none.
*/
SQLITE_PRIVATE void sqlite3HpTaskEnd(Parse *pParse, int addrTask){
  if( addrTask==0 || pParse->db->mallocFailed ) return;
  assert( hpSplicePlan(pParse->pVdbe, addrTask)->xTask!=0 );
  sqlite3VdbeJumpHere(pParse->pVdbe, addrTask);
}
#endif /* SQLITE_OMIT_HP */
