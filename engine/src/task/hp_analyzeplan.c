/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_analyzeplan: the statistics of an index as a scan (prepare time).
**
**    sqlite3HpAnalyzeBegin()   before SQLite's loop over the index: OP_HpTask
**
** The plan has one pipe.  It scans the b-tree of the index, or of a table
** WITHOUT ROWID.  SQLite's loop compares some columns; the sink counts how
** often each prefix of these changes.  Partial indexes, expressions and
** descending columns are nothing special: the entries are there, in order.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_ANALYZE
/*
** SQLite is about to code the loop over pIdx that compares its first nTest
** columns, and takes it to have nCol in all.  The StatAccum goes to register
** regStat.  Returns the address of OP_HpTask, or 0 if it is left to SQLite.
*/
SQLITE_PRIVATE int sqlite3HpAnalyzeBegin(
  Parse *pParse,
  Index *pIdx,
  int nCol,
  int nTest,
  int regStat
){
  HpPrefixPlan *pPrefix;
  HpCompile c;
  HpPlan *pPlan;
  SrcItem x;
  int rc = SQLITE_OK;
  int i;
  if( !hpTaskPlanMay(pParse) || pParse->db->nAnalysisLimit ) return 0;
  memset(&x, 0, sizeof(x));
  x.pSTab = pIdx->pTable;
  x.hp.pIdx = pIdx;
  pPlan = hpCompileNew(&c, pParse, &x, 1);
  if( pPlan==0 ) return 0;
  assert( nTest>=0 && nTest<nCol && nCol<=pIdx->nColumn );
  pPlan->xTask = hpAnalyzeRun;
  c.pPipe->source.pType = &hpPrefixScanType;
  c.pPipe->pSink = &hpSinkPrefix;
  if( nTest==0 ){
    c.pPipe->source.pType = &hpCountType;
    c.pPipe->pSink = &hpSinkCount;
  }
  c.pPipe->pPrefix = pPrefix = hpCompileAlloc(pPlan, sizeof(*pPrefix));
  if( pPrefix==0 || hpCompileKeys(pPlan, &pPrefix->keys, nTest) ){
    rc = SQLITE_NOMEM;
  }else{
    pPrefix->bUnique = nTest==1 && pIdx->nKeyCol==1 && IsUniqueIndex(pIdx);
    pPrefix->nCol = nCol;
    pPrefix->nKeyCol = pIdx->nKeyCol;
  }
  for(i=0; i<nTest && rc==SQLITE_OK; i++){
    rc = hpTaskPlanColumn(&c, &pPrefix->keys, i);
  }
  assert( rc || pPrefix->keys.n==nTest );
  return hpTaskPlanCode(&c, rc, regStat);
}
#endif /* HP_ANALYZE */
#endif /* SQLITE_OMIT_HP */
