/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_refill: CREATE INDEX and REINDEX.
**
**    hpRefillRun()    fill an index: HpPlan.xTask
**
** SQLite scans the table, gives each row's entry to a sorter, and inserts them
** in order.  Here the plan (task/hp_indexplan.c) is that of a sort: workers
** scan the table, each makes sorted runs of entries, a key and the record, and
** these are put together slice by slice (sink/run/hp_slice.c), or merged where some
** are in files.  The records, in order, go to hp_layer.c, which writes the
** b-tree bottom up.
**
** The key ends with the rowid, or the columns of the primary key, so that no
** two entries are equal, and the order does not depend on workers.
**
** UNIQUE.  Entries that agree in the indexed columns, none of them NULL, are
** neighbours.  The program then goes on with the instruction that SQLite has
** for that, so that the error is SQLite's.
**
** Before the first page is written all entries are sorted.  Until then anything
** that is unexpected lets SQLite's loop run (HP_DECLINE).  After that errors
** end the statement, as they do in SQLite.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Entries between looks at the interrupt flag and the progress handler */
#define HP_REFILL_POLL  1024

/* An entry is asked for so many steps before it is copied */
#define HP_REFILL_AHEAD 12

/* Instructions that SQLite runs for an entry, after it has been sorted */
#define HP_REFILL_STEPS 4

/*
** The record of an entry, and its size: *pn.  Behind it there may be
** HP_SZ_PREFIX bytes.
*/
static const u8 *hpRefillRecord(
  const HpSortPlan *pSort,
  const u8 *aEntry,
  u32 *pn
){
  const HpPair *p = (const HpPair*)aEntry;
  *pn = p->nRec - (pSort->bPrefix ? HP_SZ_PREFIX : 0);
  assert( pSort->row.entry.bWhole && p->nRec>HP_SZ_PREFIX*pSort->bPrefix );
  return (const u8*)&p[1] + p->nKey;
}

/*
** Do two neighbours agree in the columns that have to be unique, whose bytes
** are the beginning of their keys?  Of one that has a NULL there they are none.
*/
static int hpRefillIsTwice(const HpBuf *pLast, const u8 *aEntry){
  const HpPair *p = (const HpPair*)aEntry;
  u32 n = hpSortPrefix(aEntry);
  assert( n<=p->nKey );
  return n>0 && n==pLast->n && memcmp(&p[1], pLast->a, n)==0;
}

/* Keep those bytes of an entry */
static int hpRefillKeep(HpBuf *pLast, const u8 *aEntry){
  u32 n = hpSortPrefix(aEntry);
  pLast->n = 0;
  if( n==0 ) return SQLITE_OK;
  if( hpBufRoom(pLast, n) ) return SQLITE_NOMEM_BKPT;
  memcpy(pLast->a, (const u8*)aEntry + sizeof(HpPair), n);
  pLast->n = n;
  return SQLITE_OK;
}

/* Entries on their way to the b-tree */
typedef struct HpRefill HpRefill;
struct HpRefill {
  HpPipe *pPipe;         /* The pipe that has made them */
  HpLayer *pLayer;
  HpBuf last;            /* UNIQUE: those bytes of the last entry */
  u32 nTold;             /* Entries that the progress handler has to know of */
  u8 bTwice;             /* Two of them are not unique */
};

/*
** Write nEntry entries, which come next.  SQLITE_ABORT: they are not unique.
*/
static int hpRefillGive(void *pArg, u8 **apEntry, u32 nEntry){
  HpRefill *pTo = (HpRefill*)pArg;
  const HpSortPlan *pSort = pTo->pPipe->pPlan->pSort;
  int rc = SQLITE_OK;
  u32 i, n;
  for(i=0; i<nEntry && rc==SQLITE_OK; i++){
    const u8 *aRecord;
    if( i+HP_REFILL_AHEAD<nEntry ){
      hpPrefetch(apEntry[i+HP_REFILL_AHEAD]);
      hpPrefetch(apEntry[i+HP_REFILL_AHEAD]+64);
    }
    if( pSort->bPrefix ){
      pTo->bTwice = hpRefillIsTwice(&pTo->last, apEntry[i]);
      if( pTo->bTwice ) return SQLITE_ABORT;
      rc = hpRefillKeep(&pTo->last, apEntry[i]);
      if( rc ) return rc;
    }
    aRecord = hpRefillRecord(pSort, apEntry[i], &n);
    rc = hpLayerAdd(pTo->pLayer, aRecord, n);
  }
  pTo->nTold += nEntry;
  if( rc==SQLITE_OK && pTo->nTold>=HP_REFILL_POLL ){
    rc = hpThreadProgress(pTo->pPipe->apWorker[0], pTo->nTold*HP_REFILL_STEPS);
    pTo->nTold = 0;
  }
  /* It is too late to decline */
  assert( pTo->bTwice==0 );
  return rc==HP_DECLINE ? SQLITE_NOMEM_BKPT : rc;
}

/*
** Write the entries of p, which are sorted, to pLayer.  *pbTwice is set if two
** of them are not unique.
*/
static int hpRefillLay(HpPipe *p, HpLayer *pLayer, int *pbTwice){
  HpRefill to;
  int rc;
  memset(&to, 0, sizeof(to));
  to.pPipe = p;
  to.pLayer = pLayer;
  rc = hpMergeGive(p, hpRefillGive, &to);
  sqlite3_free(to.last.a);
  *pbTwice = to.bTwice;
  if( to.bTwice ) return SQLITE_OK;
  /* The index has been emptied */
  if( rc==HP_DECLINE ) rc = SQLITE_NOMEM_BKPT;
  return rc ? rc : hpLayerEnd(pLayer);
}

/*
** Sort the entries: *pp is to be freed with hpQueryFree(), with an error, too.
*/
static int hpRefillSort(Vdbe *v, const HpPlan *pPlan, Mem *aMem, HpQuery **pp){
  const HpSourcePlan *pSource = &hpPlanLast(pPlan)->source;
  *pp = 0;
  assert( pSource->iDb>=0 && pSource->iDb<v->db->nDb );
  /* Integers 0 and 1 have a byte in older files */
  if( v->db->aDb[pSource->iDb].pSchema->file_format<4 ) return HP_DECLINE;
  if( v->minWriteFileFormat<4 ) return HP_DECLINE;
  return hpTaskScanRun(v, pPlan, aMem, pp);
}

/*
** Is iRoot the root of an index?  The schema of a damaged file may say so of a
** table.
*/
static int hpRefillIsIndex(Btree *pBtree, Pgno iRoot){
  MemPage *pRoot = 0;
  int bIndex = 0;
  assert( pBtree->inTrans==TRANS_WRITE );
  if( getAndInitPage(pBtree->pBt, iRoot, &pRoot, 0)==SQLITE_OK ){
    bIndex = pRoot->intKey==0;
    releasePage(pRoot);
  }
  return bIndex;
}

/*
** Fill the index whose root page is P1 of pOp, and which is to be emptied
** before, or the empty one whose root is in register P3.  pPlan scans its
** table.
*/
static int hpRefillRun(
  Vdbe *v,
  const HpPlan *pPlan,
  const VdbeOp *pOp,
  Mem *aMem,
  int *piNext
){
  sqlite3 *db = v->db;
  Btree *pBtree = db->aDb[hpPlanLast(pPlan)->source.iDb].pBt;
  Pgno iRoot = pOp->p3>0 ? (Pgno)aMem[pOp->p3].u.i : (Pgno)pOp->p1;
  HpLayer *pLayer = 0;
  HpQuery *p;
  int bTwice = 0;
  int rc;
  assert( (pOp->p1==0)==(pOp->p3>0) );
  if( !hpRefillIsIndex(pBtree, iRoot) ) return HP_DECLINE;
  rc = hpRefillSort(v, pPlan, aMem, &p);
  if( rc==SQLITE_OK ){
    hpPipeDone(p->pPipe);
    v->aCounter[SQLITE_STMTSTATUS_SORT]++;
#ifdef SQLITE_TEST
    sqlite3_sort_count++;
#endif
    if( pOp->p3==0 ) rc = sqlite3BtreeClearTable(pBtree, (int)iRoot, 0);
    if( rc==SQLITE_OK ) rc = hpLayerNew(pBtree, iRoot, &pLayer);
    if( rc==SQLITE_OK ) rc = hpRefillLay(p->pPipe, pLayer, &bTwice);
    hpLayerFree(pLayer);
    if( bTwice ) *piNext = pPlan->iLoop;
    else if( rc==SQLITE_OK ) hpConfigStat(db, HP_STAT_REFILLED);
  }
  hpQueryFree(p);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
