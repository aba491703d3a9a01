/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_countplan: SELECT count(*), the number of entries of a b-tree.
**
**    sqlite3HpCount()         OP_Count: count them with several workers
**    sqlite3HpExplainCount()  say so in EXPLAIN QUERY PLAN
**
** SQLite chooses the b-tree, the smallest of the table's, and visits all of
** its pages through the page cache.  All that is wanted of a leaf is the
** number of its cells, so here the leaves are read around the cache, by
** several workers.  Of an index the cells of interior pages count too.
**
** What is in the page cache already is counted faster there.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* The plan for counting the entries of the b-tree at iRoot */
static void hpCountPlan(
  HpPlan *pPlan,
  HpPipePlan *pPipe,
  int iDb,
  Pgno iRoot,
  int bIndex
){
  memset(pPlan, 0, sizeof(*pPlan));
  memset(pPipe, 0, sizeof(*pPipe));
  pPlan->nPipe = 1;
  pPlan->aPipe = pPipe;
  pPipe->source.iDb = iDb;
  pPipe->source.iRoot = iRoot;
  pPipe->source.bIndex = (u8)bIndex;
  pPipe->source.pType = &hpCountType;
  pPipe->pSink = &hpSinkCount;
}

/* Is the b-tree of pPlan to be counted here?  A read transaction is open. */
static int hpCountPlanWorthIt(sqlite3 *db, const HpPlan *pPlan){
  const HpSourcePlan *pSource = &pPlan->aPipe[0].source;
  int bLarge = 1;
  int eOffload = hpConfigOffload(db);
  assert( pSource->iDb>=0 && pSource->iDb<db->nDb );
  assert( sqlite3BtreeTxnState(db->aDb[pSource->iDb].pBt)!=SQLITE_TXN_NONE );
  if( eOffload==HP_OFFLOAD_OFF || pSource->iRoot<2 ) return 0;
  if( eOffload!=HP_OFFLOAD_FORCE
   && hpSizeCountIsLarge(db, pSource, &bLarge)
  ){
    bLarge = 0;
  }
  return bLarge;
}

/*
** Set *pnEntry to the number of entries of the b-tree of pCur, which is in
** database iDb.  HP_DECLINE: stock is to count them.
*/
SQLITE_PRIVATE int sqlite3HpCount(
  Vdbe *v,
  int iDb,
  BtCursor *pCur,
  i64 *pnEntry
){
  HpPlan plan;
  HpPipePlan pipe;
  HpQuery *p;
  int bIndex = pCur->pKeyInfo!=0;
  int rc;
  assert( sqlite3_mutex_held(v->db->mutex) );
  assert( pCur->pBtree==v->db->aDb[iDb].pBt );
  if( hpConfigOffload(v->db)!=HP_OFFLOAD_FORCE
   && !hpWorthMayBeLarge(pCur->pBtree, pCur->pgnoRoot, bIndex, HP_MIN_PARALLEL)
  ){
    return HP_DECLINE;
  }
  hpCountPlan(&plan, &pipe, iDb, pCur->pgnoRoot, bIndex);
  if( !hpCountPlanWorthIt(v->db, &plan) ) return HP_DECLINE;
  p = hpQueryNew(v, &plan);
  if( p==0 ) return HP_DECLINE;
  rc = hpQueryRun(p, &plan, 0, hpThreads(v->db), 0);
  if( rc==SQLITE_OK ) *pnEntry = (i64)p->pPipe->pass.nScanned;
  hpQueryFree(p);
  return (rc & 0xff)==SQLITE_CORRUPT ? HP_DECLINE : rc;
}

/*
** The last line of EXPLAIN QUERY PLAN is about counting the entries of the
** b-tree at iRoot.
*/
SQLITE_PRIVATE void sqlite3HpExplainCount(
  Parse *pParse,
  int iDb,
  Pgno iRoot,
  int bIndex
){
  Btree *pBtree = pParse->db->aDb[iDb].pBt;
  HpPlan plan;
  HpPipePlan pipe;
  int bOpened = 0;
  int bWorthIt;
  if( pParse->explain!=2 || pParse->nErr || pBtree==0 ) return;
  hpCountPlan(&plan, &pipe, iDb, iRoot, bIndex);
  sqlite3BtreeEnter(pBtree);
  if( sqlite3BtreeTxnState(pBtree)==SQLITE_TXN_NONE ){
    bOpened = sqlite3BtreeBeginTrans(pBtree, 0, 0)==SQLITE_OK;
  }
  bWorthIt = sqlite3BtreeTxnState(pBtree)!=SQLITE_TXN_NONE
          && hpCountPlanWorthIt(pParse->db, &plan);
  if( bOpened ) sqlite3BtreeCommit(pBtree);
  sqlite3BtreeLeave(pBtree);
  if( bWorthIt ){
    hpExplain(pParse, sqlite3VdbeCurrentAddr(pParse->pVdbe)-1, 0, 0);
  }
}
#endif /* SQLITE_OMIT_HP */
