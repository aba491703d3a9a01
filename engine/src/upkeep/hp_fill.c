/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_fill: CREATE TABLE AS SELECT; INSERT INTO an empty table SELECT.
**
**    hpFillRun()    fill a table: HpPlan.xTask
**
** SQLite asks a co-routine for one row of the SELECT after the other, makes a
** record of it, and inserts that at the end of the table.  Here the SELECT is a
** scan of one b-tree (task/hp_fillplan.c): workers filter its rows and make the
** records, which are put aside in the order of the scan (sink/spool/hp_spool.c).
** Then hp_layer.c writes the table bottom up.
**
** The table has to be empty.  So new rowids are 1, 2, 3 and so on, and no
** inserted row meets another one.  The rows of INSERT count as changes, and the
** last rowid is kept; those of CREATE TABLE AS do neither.  An update hook, or
** a pre-update hook, wants to be called for each row of INSERT: with one the
** statement is left to SQLite.
**
** Before the first page is written all records are made.  Until then anything
** that is unexpected lets SQLite's loop run (HP_DECLINE).  After that errors
** end the statement, as they do in SQLite.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Instructions that SQLite runs for a row, beside those of the scan */
#define HP_FILL_STEPS  4

/* Rows between looks at the interrupt flag and the progress handler */
#define HP_FILL_POLL   1024

/* Rows on their way to the table */
typedef struct HpFill HpFill;
struct HpFill {
  HpPipe *pPipe;         /* The pipe that has made them */
  HpLayer *pLayer;
  i64 iRowid;            /* Of the last row */
  i64 nRow;              /* Rows so far */
  u32 nTold;             /* Rows that the progress handler has to know of */
};

/*
** Write nRow rows, which come next: a part of hp_spool.c.
*/
static int hpFillGive(void *pArg, const u8 *a, u32 nRow){
  HpFill *pTo = (HpFill*)pArg;
  const HpFillPlan *pPlan = pTo->pPipe->pPlan->pFill;
  int rc = SQLITE_OK;
  u32 i;
  assert( pPlan!=0 && nRow>0 );
  for(i=0; i<nRow; i++){
    i64 iRowid = pTo->iRowid+1;
    u32 n;
    const u8 *aRecord = hpSpoolEntry(pPlan, &a, &n, &iRowid);
    assert( pTo->nRow==0 || iRowid>pTo->iRowid );
    rc = hpLayerRow(pTo->pLayer, iRowid, aRecord, n);
    if( rc ) break;
    pTo->iRowid = iRowid;
    pTo->nRow++;
  }
  pTo->nTold += nRow;
  if( rc==SQLITE_OK && pTo->nTold>=HP_FILL_POLL ){
    rc = hpThreadProgress(pTo->pPipe->apWorker[0], pTo->nTold*HP_FILL_STEPS);
    pTo->nTold = 0;
  }
  /* It is too late to decline */
  return rc==HP_DECLINE ? SQLITE_NOMEM_BKPT : rc;
}

/*
** Pipe p has run.  Write its rows to the empty table of cursor pTo.
*/
static int hpFillWrite(HpPipe *p, BtCursor *pTo){
  const HpFillPlan *pPlan = p->pPlan->pFill;
  HpFill to;
  int rc;
  memset(&to, 0, sizeof(to));
  to.pPipe = p;
  assert( pTo->curFlags & BTCF_WriteFlag );
  rc = hpLayerNew(pTo->pBtree, pTo->pgnoRoot, &to.pLayer);
  if( rc==SQLITE_OK ) rc = hpSpoolGive(p, hpFillGive, &to);
  if( rc==SQLITE_OK ) rc = hpLayerEnd(to.pLayer);
  hpLayerFree(to.pLayer);
  if( pPlan->bCount && to.nRow>0 ){
    p->pQuery->v->nChange += to.nRow;
    p->pQuery->db->lastRowid = to.iRowid;
  }
  return rc;
}

/*
** Fill the table of cursor P3 of pOp with the rows of pPlan.
*/
static int hpFillRun(
  Vdbe *v,
  const HpPlan *pPlan,
  const VdbeOp *pOp,
  Mem *aMem,
  int *piNext
){
  const HpPipePlan *pPipe = hpPlanLast(pPlan);
  BtCursor *pTo = v->apCsr[pOp->p3]->uc.pCursor;
  HpQuery *p;
  int rc;
  UNUSED_PARAMETER(piNext);
  assert( v->apCsr[pOp->p3]->eCurType==CURTYPE_BTREE && pPipe->pFill!=0 );
  /* Integers 0 and 1 have a byte in older files */
  if( v->minWriteFileFormat<4 ) return HP_DECLINE;
  if( pPipe->pFill->bCount && hpDeferrableIsHooked(v->db) ) return HP_DECLINE;
  if( !hpCopyIsEmpty(pTo) ) return HP_DECLINE;
  rc = hpTaskScanRun(v, pPlan, aMem, &p);
  if( rc==SQLITE_OK ){
    u64 nScanned = p->pPipe->pass.nScanned;
    hpPipeDone(p->pPipe);
    if( nScanned && pPipe->source.pRange==0 ){
      v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] += (u32)(nScanned-1);
    }
    rc = hpFillWrite(p->pPipe, pTo);
    hpCopyLeave(v, pTo, rc);
    if( rc==SQLITE_OK ) hpConfigStat(v->db, HP_STAT_FILLED);
  }
  hpQueryFree(p);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
