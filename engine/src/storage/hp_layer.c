/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_layer: a b-tree written bottom up, from entries in order.
**
**    hpLayerNew()     begin, for the empty b-tree of a root page
**    hpLayerAdd()     the next entry of an index, a record
**    hpLayerRow()     the next row of a table, a record
**    hpLayerCell()    the next entry of an index or a table, as a cell
**    hpLayerEnd()     the last one was that: write the rightmost pages and the
**                     root
**    hpLayerFree()    free everything
**
** SQLite inserts one entry after the other, and balances.  Where all entries
** are known and in order there is nothing to balance: a page is filled in
** memory until the next cell has no room, gets a page number, and is given to
** the pager as it is.  The cell between two pages goes one level up, with the
** number of the page on its left:
**
**    level 1            [ .d .h ]                  being filled
**    level 0    [a b c]  [e f g]  [i j             a page in memory each
**                 written           being filled
**
** So each level has one page in memory, whatever the size of the b-tree.  In a
** table all cells stay on their leaves, and what goes up is the rowid of the
** last one.
**
** No page but the root may be empty, and no interior page may have no cell
** (SQLite never writes such pages, and its deletions rely on that).  So a cell
** that has no room on its page, and is to go up, is held back until another one
** follows: only then the page is written.  If none follows (hpLayerEnd()), the
** last cell of the page goes up in its place, and the one that was held back is
** alone on the rightmost page.
**
** Pages come from allocateBtreePage(), leaves as BTALLOC_LEAF, so they lie in
** order (hp_extent.c), and are written by way of sqlite3PagerWrite(): the
** journal, savepoints, the log, backups and a full disk are SQLite's business.
** Overflow chains are those of fillInCell(), the maps of auto_vacuum those of
** setChildPtrmaps().  The root page is written last: until then the b-tree is
** empty, and after an error the statement is rolled back as any.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Where cell pointers begin on a page of level I */
#define hpLayerHead(I) ((I)==0 ? 8 : 12)

/* The page of a level that is being filled */
typedef struct HpLayerPage HpLayerPage;
struct HpLayerPage {
  u8 *aPage;             /* Its image */
  u32 nCell;             /* Cells on it */
  u32 iFree;             /* Where its cell content begins */
  u8 *aHeld;             /* The cell that has no room on it, ... */
  u32 nHeld;             /* ... and its bytes.  0: there is none */
};

struct HpLayer {
  Btree *pBtree;
  Pgno iRoot;
  MemPage *pRoot;        /* For fillInCell(): a leaf of the index */
  u8 bTable;             /* It is that of a table */
  i64 iRowid;            /* ... and this the rowid of its last entry */
  int nLevel;
  HpLayerPage aLevel[BTCURSOR_MAX_DEPTH];
  u8 *aCell;             /* The entry as a cell */
};

#ifdef SQLITE_DEBUG
/* Have pointers and cells of a page room, and is a cell held back only where
** there are some? */
static int hpLayerIsSane(const HpLayer *p){
  const BtShared *pBt = p->pBtree->pBt;
  int i;
  for(i=0; i<p->nLevel; i++){
    const HpLayerPage *pLevel = &p->aLevel[i];
    if( pLevel->iFree>pBt->usableSize ) return 0;
    if( hpLayerHead(i)+2*pLevel->nCell>pLevel->iFree ) return 0;
    if( pLevel->nHeld>0 && pLevel->nCell<2 ) return 0;
  }
  return 1;
}
#endif

/*
** Let there be a page for level iLevel, and no cell on it.
*/
static int hpLayerEmpty(HpLayer *p, int iLevel){
  BtShared *pBt = p->pBtree->pBt;
  HpLayerPage *pLevel = &p->aLevel[iLevel];
  assert( iLevel<=p->nLevel );
  if( iLevel>=BTCURSOR_MAX_DEPTH ) return SQLITE_FULL;
  if( pLevel->aPage==0 ){
    pLevel->aPage = sqlite3_malloc64(2*(u64)pBt->pageSize);
    if( pLevel->aPage==0 ) return SQLITE_NOMEM_BKPT;
    pLevel->aHeld = &pLevel->aPage[pBt->pageSize];
    p->nLevel = iLevel+1;
  }
  memset(pLevel->aPage, 0, pBt->pageSize);
  pLevel->nCell = 0;
  pLevel->iFree = pBt->usableSize;
  return SQLITE_OK;
}

/*
** Give the page of level iLevel to the pager as pPage, whose reference is given
** back.  The child right of its last cell is iRight.
*/
static int hpLayerWrite(HpLayer *p, int iLevel, MemPage *pPage, Pgno iRight){
  BtShared *pBt = p->pBtree->pBt;
  HpLayerPage *pLevel = &p->aLevel[iLevel];
  u8 *a = pLevel->aPage;
  int rc = SQLITE_OK;
  int eType = p->bTable ? PTF_INTKEY|PTF_LEAFDATA : PTF_ZERODATA;
  assert( sqlite3PagerIswriteable(pPage->pDbPage) && pPage->hdrOffset==0 );
  assert( hpLayerIsSane(p) && (iLevel==0)==(iRight==0) );
  a[0] = (u8)(iLevel ? eType : eType|PTF_LEAF);
  put2byte(&a[3], pLevel->nCell);
  put2byte(&a[5], pLevel->iFree);
  if( iLevel ) put4byte(&a[8], iRight);
  memcpy(pPage->aData, a, pBt->pageSize);
  pPage->isInit = 0;
  if( ISAUTOVACUUM(pBt) ) rc = setChildPtrmaps(pPage);
  releasePage(pPage);
  return rc;
}

/*
** Write the page of level iLevel to a page of the file: *piPage.
*/
static int hpLayerFlush(HpLayer *p, int iLevel, Pgno iRight, Pgno *piPage){
  BtShared *pBt = p->pBtree->pBt;
  MemPage *pPage = 0;
  int rc;
  assert( p->aLevel[iLevel].nCell>0 );
  pBt->iHpRoot = p->iRoot;
  /* Of free pages the first ones of the file, as balance_nonroot() does when it
  ** appends: in ascending order */
  rc = allocateBtreePage(pBt, &pPage, piPage, 1,
                         iLevel ? BTALLOC_INTERIOR : BTALLOC_LEAF);
  if( rc ) return rc;
  return hpLayerWrite(p, iLevel, pPage, iRight);
}

/* Has a cell of n bytes room on the page of level iLevel? */
static SQLITE_INLINE int hpLayerFits(const HpLayer *p, int iLevel, u32 n){
  const HpLayerPage *pLevel = &p->aLevel[iLevel];
  return hpLayerHead(iLevel)+2*(pLevel->nCell+1)+n<=pLevel->iFree;
}

/* Copy n bytes, which are few mostly */
static SQLITE_INLINE void hpLayerBytes(u8 *aTo, const u8 *a, u32 n){
  if( n>=8 && n<=64 ){
    u32 i;
    for(i=0; i+8<n; i+=8) memcpy(&aTo[i], &a[i], 8);
    memcpy(&aTo[n-8], &a[n-8], 8);
  }else{
    memcpy(aTo, a, n);
  }
}

/* Append a cell to the page of level iLevel, where it has room */
static SQLITE_INLINE void hpLayerAppend(
  HpLayer *p,
  int iLevel,
  const u8 *aCell,
  u32 n
){
  HpLayerPage *pLevel = &p->aLevel[iLevel];
  assert( n>=4 && hpLayerFits(p, iLevel, n) );
  pLevel->iFree -= n;
  hpLayerBytes(&pLevel->aPage[pLevel->iFree], aCell, n);
  put2byte(&pLevel->aPage[hpLayerHead(iLevel)+2*pLevel->nCell], pLevel->iFree);
  pLevel->nCell++;
}

static int hpLayerInner(HpLayer*, int, const u8*, u32);

/*
** The page of level iLevel is full, and aCell stands behind its last cell.
** Write the page, and let aCell go up.
*/
static int hpLayerUp(HpLayer *p, int iLevel, u8 *aCell, u32 n){
  u8 aUp[4];
  Pgno iPage = 0;
  int rc;
  if( iLevel==0 ){
    /* A leaf's cells have four bytes at least, even if the payload has two */
    if( n==4 ) n = MIN(4, 1+(u32)aCell[0]);
    memmove(&aCell[4], aCell, n);
    n += 4;
    rc = hpLayerFlush(p, iLevel, 0, &iPage);
  }else{
    rc = hpLayerFlush(p, iLevel, get4byte(aCell), &iPage);
  }
  put4byte(aUp, iPage);
  memcpy(aCell, aUp, 4);
  if( rc==SQLITE_OK && iLevel+1==p->nLevel ) rc = hpLayerEmpty(p, iLevel+1);
  if( rc==SQLITE_OK ) rc = hpLayerInner(p, iLevel+1, aCell, n);
  return rc ? rc : hpLayerEmpty(p, iLevel);
}

/*
** The next cell of level iLevel, which is an interior one, and then begins with
** the child on its left, or that of an index.
*/
static int hpLayerInner(HpLayer *p, int iLevel, const u8 *aCell, u32 n){
  HpLayerPage *pLevel = &p->aLevel[iLevel];
  if( pLevel->nHeld ){
    u32 nHeld = pLevel->nHeld;
    int rc;
    pLevel->nHeld = 0;
    rc = hpLayerUp(p, iLevel, pLevel->aHeld, nHeld);
    if( rc ) return rc;
  }
  if( hpLayerFits(p, iLevel, n) ){
    hpLayerAppend(p, iLevel, aCell, n);
  }else{
    memcpy(pLevel->aHeld, aCell, n);
    pLevel->nHeld = n;
  }
  assert( hpLayerIsSane(p) );
  return SQLITE_OK;
}

/*
** The leaf of a table has no room for one more cell: write it.
*/
static int hpLayerLeaf(HpLayer *p){
  u8 aUp[4+9];
  Pgno iPage = 0;
  int rc = hpLayerFlush(p, 0, 0, &iPage);
  assert( p->bTable );
  put4byte(aUp, iPage);
  if( rc==SQLITE_OK && p->nLevel==1 ) rc = hpLayerEmpty(p, 1);
  if( rc==SQLITE_OK ){
    int nUp = 4 + sqlite3PutVarint(&aUp[4], (u64)p->iRowid);
    rc = hpLayerInner(p, 1, aUp, (u32)nUp);
  }
  return rc ? rc : hpLayerEmpty(p, 0);
}

/* hpLayerCell(), with or without room on the leaf */
static SQLITE_NOINLINE int hpLayerNext(
  HpLayer *p,
  const u8 *aCell,
  u32 n,
  i64 iRowid
){
  assert( p->pRoot!=0 && n>=4 );
  if( p->bTable==0 ) return hpLayerInner(p, 0, aCell, n);
  if( !hpLayerFits(p, 0, n) ){
    int rc = hpLayerLeaf(p);
    if( rc ) return rc;
  }
  hpLayerAppend(p, 0, aCell, n);
  p->iRowid = iRowid;
  return SQLITE_OK;
}

/*
** The next row of a table: its record of n bytes.  Its rowid is greater than
** those of all rows before it.
*/
static int hpLayerRow(HpLayer *p, i64 iRowid, const u8 *aRecord, u32 n){
  HpLayerPage *pLevel = &p->aLevel[0];
  u8 aHead[2*9];
  u32 nHead;
  u8 *aCell;
  assert( p->pRoot!=0 && p->bTable && n>=2 );
  if( n>p->pRoot->maxLocal ){
    BtreePayload x;
    int nCell, rc;
    memset(&x, 0, sizeof(x));
    x.nKey = iRowid;
    x.pData = aRecord;
    x.nData = (int)n;
    p->pBtree->pBt->iHpRoot = p->iRoot;
    rc = fillInCell(p->pRoot, p->aCell, &x, &nCell);
    return rc ? rc : hpLayerNext(p, p->aCell, (u32)nCell, iRowid);
  }
  nHead = (u32)putVarint32(aHead, n);
  nHead += (u32)sqlite3PutVarint(&aHead[nHead], (u64)iRowid);
  if( !hpLayerFits(p, 0, nHead+n) ){
    int rc = hpLayerLeaf(p);
    if( rc ) return rc;
  }
  /* With two bytes in front, a record of two makes a cell of four at least */
  pLevel->iFree -= nHead+n;
  aCell = &pLevel->aPage[pLevel->iFree];
  memcpy(aCell, aHead, nHead);
  memcpy(&aCell[nHead], aRecord, n);
  put2byte(&pLevel->aPage[hpLayerHead(0)+2*pLevel->nCell], pLevel->iFree);
  pLevel->nCell++;
  p->iRowid = iRowid;
  return SQLITE_OK;
}

/*
** The next entry of a table with rowid iRowid, or of an index: a cell of n
** bytes, as it is on a leaf.  Its key is greater than those of all before it.
*/
static SQLITE_INLINE int hpLayerCell(
  HpLayer *p,
  const u8 *aCell,
  u32 n,
  i64 iRowid
){
  assert( p->pRoot!=0 && n>=4 );
  if( p->aLevel[0].nHeld || !hpLayerFits(p, 0, n) ){
    return hpLayerNext(p, aCell, n, iRowid);
  }
  hpLayerAppend(p, 0, aCell, n);
  p->iRowid = iRowid;
  return SQLITE_OK;
}

/*
** Begin to write the b-tree of pBtree at iRoot, which is empty.  A write
** transaction is open.  *pp is to be freed with hpLayerFree(), with an error,
** too.
*/
static int hpLayerNew(Btree *pBtree, Pgno iRoot, HpLayer **pp){
  BtShared *pBt = pBtree->pBt;
  HpLayer *p;
  int rc;
  assert( pBtree->inTrans==TRANS_WRITE && iRoot>1 );
  *pp = p = sqlite3MallocZero(sizeof(*p));
  if( p==0 ) return SQLITE_NOMEM_BKPT;
  p->pBtree = pBtree;
  p->iRoot = iRoot;
  p->aCell = sqlite3_malloc64((u64)pBt->pageSize+8);
  if( p->aCell==0 ) return SQLITE_NOMEM_BKPT;
  rc = hpLayerEmpty(p, 0);
  if( rc==SQLITE_OK ) rc = getAndInitPage(pBt, iRoot, &p->pRoot, 0);
  if( rc==SQLITE_OK && (p->pRoot->nCell!=0 || p->pRoot->leaf==0) ){
    rc = SQLITE_CORRUPT_PGNO(iRoot);
  }
  if( rc==SQLITE_OK ) p->bTable = p->pRoot->intKey;
  return rc;
}

/*
** The next entry of an index: a record of n bytes.  Its key is greater than
** those of all entries before it.
*/
static int hpLayerAdd(HpLayer *p, const u8 *aRecord, u32 n){
  u8 *aCell = p->aCell;
  int nCell;
  assert( p->pRoot!=0 && p->bTable==0 && n>=2 );
  if( n<=p->pRoot->maxLocal ){
    nCell = putVarint32(aCell, n);
    hpLayerBytes(&aCell[nCell], aRecord, n);
    nCell += (int)n;
    if( nCell<4 ) aCell[nCell++] = 0;
  }else{
    BtreePayload x;
    int rc;
    memset(&x, 0, sizeof(x));
    x.pKey = aRecord;
    x.nKey = n;
    p->pBtree->pBt->iHpRoot = p->iRoot;
    rc = fillInCell(p->pRoot, aCell, &x, &nCell);
    if( rc ) return rc;
  }
  return hpLayerCell(p, aCell, (u32)nCell, 0);
}

/*
** A cell of level iLevel is held back, and none follows: it is to be on a page
** of its own.
*/
static int hpLayerSplit(HpLayer *p, int iLevel){
  HpLayerPage *pLevel = &p->aLevel[iLevel];
  u32 nHeld = pLevel->nHeld;
  u32 nLast;
  int rc;
  assert( nHeld>0 && pLevel->nCell>=2 && (iLevel>0 || p->bTable==0) );
  /* Content lies in the order of cells, from the end of the page on */
  nLast = get2byteNotZero(&pLevel->aPage[hpLayerHead(iLevel)
                                         +2*(pLevel->nCell-2)]);
  nLast -= pLevel->iFree;
  memcpy(p->aCell, &pLevel->aPage[pLevel->iFree], nLast);
  memset(&pLevel->aPage[pLevel->iFree], 0, nLast);
  pLevel->iFree += nLast;
  pLevel->nCell--;
  put2byte(&pLevel->aPage[hpLayerHead(iLevel)+2*pLevel->nCell], 0);
  pLevel->nHeld = 0;
  rc = hpLayerUp(p, iLevel, p->aCell, nLast);
  if( rc==SQLITE_OK ) hpLayerAppend(p, iLevel, pLevel->aHeld, nHeld);
  return rc;
}

/*
** There are no more entries: write what is still in memory, the root last.
*/
static int hpLayerEnd(HpLayer *p){
  Pgno iRight = 0;
  int i;
  int rc = SQLITE_OK;
  for(i=0; rc==SQLITE_OK; i++){
    assert( i<p->nLevel && hpLayerIsSane(p) );
    if( p->aLevel[i].nHeld ) rc = hpLayerSplit(p, i);
    if( rc || i+1==p->nLevel ) break;
    rc = hpLayerFlush(p, i, iRight, &iRight);
  }
  if( rc==SQLITE_OK ) rc = sqlite3PagerWrite(p->pRoot->pDbPage);
  if( rc==SQLITE_OK ){
    MemPage *pRoot = p->pRoot;
    p->pRoot = 0;
    rc = hpLayerWrite(p, i, pRoot, iRight);
  }
  return rc;
}

static void hpLayerFree(HpLayer *p){
  if( p ){
    int i;
    for(i=0; i<p->nLevel; i++) sqlite3_free(p->aLevel[i].aPage);
    if( p->pRoot ) releasePage(p->pRoot);
    sqlite3_free(p->aCell);
    sqlite3_free(p);
  }
}
#endif /* SQLITE_OMIT_HP */
