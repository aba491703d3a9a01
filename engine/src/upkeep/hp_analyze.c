/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_analyze: ANALYZE.
**
**    hpAnalyzeRun()    the statistics of an index: HpPlan.xTask
**
** SQLite counts the entries of an index.  Then its loop calls stat_push() for
** each, with the number of the first column that differs from the entry before.
** Workers scan the index and count such changes (sink/check/hp_prefix.c).  Then the
** StatAccum is made that stat_init() and all the calls of stat_push() would
** have left, and SQLite makes the row of sqlite_stat1 of it.
**
**    HpTask  P2=end P3=r     r: the StatAccum
**    Count, stat_init()
**    Rewind                  SQLite's loop, with stat_push()
**    ...
**    end: stat_get()
**
** SQLite compares the first columns only (those of HpPrefixPlan): the others
** differ in any case, as do all entries of an index whose single column is
** UNIQUE and NOT NULL.  Of such an index the entries are only counted.
**
** With analysis_limit SQLite skips entries, and samples (SQLITE_ENABLE_STAT4)
** depend on each of them: both are SQLite's.  The number of entries that it has
** counted before, StatAccum.nEst, matters for these only.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_ANALYZE
/*
** Count the entries of the index of pPlan, and the changes of its prefixes.
*/
static int hpAnalyzeCount(
  Vdbe *v,
  const HpPlan *pPlan,
  Mem *aMem,
  u64 *anChange,
  i64 *pnRow
){
  HpQuery *p;
  int rc = hpTaskScanRun(v, pPlan, aMem, &p);
  if( rc==SQLITE_OK ){
    if( hpPlanLast(pPlan)->pPrefix->keys.n>0 ){
      *pnRow = hpPrefixCounts(p->pPipe, anChange);
      assert( (u64)*pnRow==p->pPipe->pass.nScanned );
    }else{
      *pnRow = (i64)p->pPipe->pass.nScanned;
    }
  }
  hpQueryFree(p);
  return rc;
}

/*
** Let register P3 of pOp have the StatAccum that SQLite's loop would have made.
*/
static int hpAnalyzeRun(
  Vdbe *v,
  const HpPlan *pPlan,
  const VdbeOp *pOp,
  Mem *aMem,
  int *piNext
){
  const HpPrefixPlan *pPrefix = hpPlanLast(pPlan)->pPrefix;
  StatAccum *pStat;
  u64 anChange[HP_MX_COL];
  i64 nRow = 0;
  int rc, i;
  UNUSED_PARAMETER(piNext);
  assert( pOp->p3>0 && pPrefix->keys.n<=HP_MX_COL );
  assert( pPrefix->keys.n<=pPrefix->nCol && pPrefix->nKeyCol<=pPrefix->nCol );
  memset(anChange, 0, sizeof(anChange));
  rc = hpAnalyzeCount(v, pPlan, aMem, anChange, &nRow);
  /* Of an empty index there is no row, or another one */
  if( rc==SQLITE_OK && nRow<=0 ) rc = HP_DECLINE;
  if( rc ) return rc;
  pStat = sqlite3DbMallocZero(v->db,
              sizeof(*pStat) + sizeof(tRowcnt)*(u64)pPrefix->nCol);
  if( pStat==0 ) return SQLITE_NOMEM_BKPT;
  hpConfigStat(v->db, HP_STAT_ANALYZED);
  pStat->db = v->db;
  pStat->nEst = pStat->nRow = (tRowcnt)nRow;
  pStat->nCol = pPrefix->nCol;
  pStat->nKeyCol = pPrefix->nKeyCol;
  pStat->current.anDLt = (tRowcnt*)&pStat[1];
  for(i=0; i<pPrefix->nCol; i++){
    u64 n = i<pPrefix->keys.n ? anChange[i] : (u64)(nRow-1);
    assert( n<(u64)nRow );
    pStat->current.anDLt[i] = (tRowcnt)n;
  }
  /* As sqlite3_result_blob() in statInit() */
  return sqlite3VdbeMemSetStr(&aMem[pOp->p3], (char*)pStat, sizeof(*pStat), 0,
                              statAccumDestructor);
}
#endif /* HP_ANALYZE */
#endif /* SQLITE_OMIT_HP */
