/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_worth: is a scan worth it, as far as can be told before it runs (prepare
** time)?
**
**    hpWorthIt()           a table is; if not the query is refused
**    hpWorthMayPay()       the same without refusing it
**    hpWorthArms()         one of the arms of a UNION ALL is
**    hpWorthMayBeLarge()   may a b-tree have so many leaves?
**    hpWorthChildren()     the children of a page, if it is in the cache
**    hpWorthWasLong()      were executions of a statement long?
**    sqlite3HpAgain()      before a run: is the program out of date?
**
** A refusal must cost nothing, so a table known to be small is refused before
** anything is compiled.  Only pages that are in the cache are looked at, and no
** transaction is begun.  What is seen there may be out of date: OP_HpScan looks
** again (hp_gate.c).  In EXPLAIN QUERY PLAN the table is read, so that it says
** what will be done.
**
** A statement that was refused since its table is small may be kept while the
** table grows, and one whose ranges are small may be run for a large one.  Both
** are marked (hpCompileSmall(), hpCompileLong()), and are prepared again when
** they have taken long: sqlite3HpAgain(), hp_race.c.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** True if the executions of v, a statement that is prepared again, were long,
** or one is.
*/
static int hpWorthWasLong(const Vdbe *v){
  return v!=0
      && (v->hpRace.bLong
          || v->aCounter[SQLITE_STMTSTATUS_VM_STEP]/HP_LONG_STEPS
               > v->aCounter[SQLITE_STMTSTATUS_RUN]);
}

/*
** Look at page iPg of a b-tree, if it is in the cache: without I/O, and without
** a transaction, so what is seen may be out of date.  Returns the number of its
** children, 0 if it is a leaf, -1 if that is not known.  *piChild is set to the
** first child.
*/
static int hpWorthChildren(
  BtShared *pBt,
  Pgno iPg,
  int bIndex,            /* It is the b-tree of an index */
  Pgno *piChild
){
  DbPage *pDb = iPg ? sqlite3PagerLookup(pBt->pPager, iPg) : 0;
  const u8 *aData;
  const u8 *aHdr;
  int n = -1;
  int ofst;
  assert( sqlite3_mutex_held(pBt->mutex) );
  if( pDb==0 ) return -1;
  aData = sqlite3PagerGetData(pDb);
  aHdr = &aData[iPg==1 ? 100 : 0];
  switch( aHdr[0] & (bIndex ? ~PTF_ZERODATA : ~(PTF_INTKEY|PTF_LEAFDATA)) ){
    case PTF_LEAF:
      n = 0;
      break;
    case 0:
      n = get2byte(&aHdr[3]) + 1;
      ofst = get2byte(&aHdr[12]);
      *piChild = ofst+4<=(int)pBt->usableSize ? get4byte(&aData[ofst]) : 0;
      break;
  }
  /* Not sqlite3PagerUnrefNotNull(): it may be the only page in use */
  sqlite3PcacheRelease(pDb);
  return n;
}

/*
** May the b-tree have mnLeaf leaves?  No, if the whole file is small or the
** pages in the cache say so; else perhaps.  OP_HpScan looks again.
*/
static int hpWorthMayBeLarge(
  Btree *pBtree,
  Pgno iRoot,
  int bIndex,
  int mnLeaf
){
  u32 nPage = sqlite3BtreeLastPage(pBtree);
  Pgno iChild = 0;
  int n, nChild;
  assert( mnLeaf>0 && sqlite3BtreeHoldsMutex(pBtree) );
  if( nPage>0 && nPage<(u32)mnLeaf ) return 0;
  n = hpWorthChildren(pBtree->pBt, iRoot, bIndex, &iChild);
  if( n<0 || n>=mnLeaf ) return 1;
  nChild = n ? hpWorthChildren(pBtree->pBt, iChild, bIndex, &iChild) : 0;
  return nChild<0 || (i64)n*nChild>=mnLeaf;
}

/*
** For EXPLAIN QUERY PLAN: will the b-tree be found to have mnLeaf leaves?
*/
static int hpWorthIsLarge(
  Btree *pBtree,
  Pgno iRoot,
  int bIndex,
  int mnLeaf
){
  int bLarge = 0;
  int bOpened = 0;
  assert( mnLeaf>0 && sqlite3BtreeHoldsMutex(pBtree) );
  if( sqlite3BtreeTxnState(pBtree)==SQLITE_TXN_NONE ){
    if( sqlite3BtreeBeginTrans(pBtree, 0, 0) ) return 0;
    bOpened = 1;
  }
  if( hpSizeIsLarge(pBtree, iRoot, bIndex, mnLeaf, &bLarge) ) bLarge = 0;
  if( bOpened ) sqlite3BtreeCommit(pBtree);
  return bLarge;
}

/*
** Is the b-tree to be scanned for pItem worth it, as far as can be told now?
** That takes mnLeaf leaves.
**
** If only a range is to be scanned, the share of the rows that the planner
** expects in there should have so many.  Otherwise that is unlikely.  Where the
** bounds are literals hpOutGroup() finds out.  Parameters are not known now,
** and there are many small ranges for a large one: then the query is refused,
** until it is prepared again after long executions, or in the midst of one.
*/
static int hpWorthMayPay(Parse *pParse, SrcItem *pItem, int mnLeaf){
  Table *pTab = pItem->pSTab;
  Index *pIdx = pItem->hp.pIdx;
  Pgno iRoot = pIdx ? pIdx->tnum : pTab->tnum;
  Pgno iChild;
  int iDb = sqlite3SchemaToIndex(pParse->db, pTab->pSchema);
  Btree *pBtree = pParse->db->aDb[iDb].pBt;
  int bLarge = 1;
  assert( iDb>=0 && mnLeaf>0 );
  /* A search is replaced by a scan of its table only */
  assert( pIdx ? pIdx->pTable==pTab && pItem->hp.pSearch==0 : HasRowid(pTab) );
  assert( pItem->hp.nShare>=0 );
  if( pBtree==0 ) return 0;
  if( hpConfigOffload(pParse->db)==HP_OFFLOAD_FORCE ) return 1;
  sqlite3BtreeEnter(pBtree);
  if( pParse->explain==2 ){
    bLarge = hpWorthIsLarge(pBtree, iRoot, pIdx!=0, mnLeaf);
  }else{
    bLarge = hpWorthMayBeLarge(pBtree, iRoot, pIdx!=0, mnLeaf);
  }
  if( bLarge && pItem->hp.pSearch ){
    /* Literals have been looked at */
    bLarge = pItem->hp.bLiteral || hpWorthWasLong(pParse->pReprepare)
        || hpWorthChildren(pBtree->pBt, pItem->hp.pSearch->tnum, 1, &iChild)<0;
    if( !bLarge ) hpCompileLong(pParse);
  }else if( bLarge && pItem->hp.nShare>0 && !hpWorthWasLong(pParse->pReprepare)
   && hpWorthChildren(pBtree->pBt, iRoot, pIdx!=0, &iChild)>=0
  ){
    LogEst n = sqlite3LogEst(mnLeaf) + pItem->hp.nShare;
    pItem->hp.bUnlikely = !hpWorthMayBeLarge(pBtree, iRoot, pIdx!=0,
                              (int)MIN(0x7fffffff, sqlite3LogEstToInt(n)));
    bLarge = !pItem->hp.bUnlikely || pItem->hp.bLiteral;
    if( !bLarge ) hpCompileLong(pParse);
  }
  sqlite3BtreeLeave(pBtree);
  return bLarge;
}

/* The same; if it is not worth it the query is refused, until the table has
** grown */
static int hpWorthIt(Parse *pParse, SrcItem *pItem, int mnLeaf){
  if( hpWorthMayPay(pParse, pItem, mnLeaf) ) return 1;
  hpCompileSmall(pParse);
  return hpConfigStat(pParse->db, HP_NO_SMALL);
}

/* The same of the arms of pItem, of which one has to be */
static int hpWorthArms(Parse *pParse, const SrcItem *pItem){
  Select *p;
  int bPays = 0;
  for(p=hpUnionFirst(pItem); p; p=hpUnionNext(p)){
    SrcItem *pOwn = &p->pSrc->a[0];
    assert( p->pSrc->nSrc==1 && pOwn->hp.bArm && pOwn->hp.pSearch==0 );
    pOwn->hp.bPays = (u8)hpWorthMayPay(pParse, pOwn, HP_MIN_LEAF);
    bPays |= pOwn->hp.bPays;
  }
  if( bPays ) return 1;
  hpCompileSmall(pParse);
  return hpConfigStat(pParse->db, HP_NO_SMALL);
}

/*
** Statement v, which is about to run, was left to SQLite because a table was
** small.  Return true if it is to be prepared again.
**
** Whether the table is large now is not looked at, since that would cost every
** execution something.  Instead, once the statement has taken HP_AGAIN_STEPS
** instructions since it was prepared, in one execution or in many, it is
** prepared again: a small part of the time that those took.
*/
SQLITE_PRIVATE int sqlite3HpAgain(Vdbe *v){
  u32 nStep = v->aCounter[SQLITE_STMTSTATUS_VM_STEP];
  assert( v->eHpSmall==1 || v->eHpSmall==2 );
  if( (v->prepFlags & SQLITE_PREPARE_SAVESQL)==0 ) return 0;
  if( v->eHpSmall==1 || nStep<v->nHpStep ){
    /* Preparing again, or the application, may have set the counter */
    v->eHpSmall = 2;
    v->nHpStep = nStep;
  }
  return nStep-v->nHpStep>=HP_AGAIN_STEPS;
}
#endif /* SQLITE_OMIT_HP */
