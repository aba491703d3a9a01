/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_extent: adaptive preallocation.
**
**    sqlite3HpAllocate()      the first thing that allocateBtreePage() asks
**    sqlite3HpExtentForget()  a rollback, a backup: what is known may be wrong
**    sqlite3HpExtentFree()    the b-tree is closed or gets another page size
**    sqlite3HpExtentCommit()  before a commit
**
** SQLite gives a growing b-tree the next page of the file, so b-trees that grow
** together lie between one another, and each page of a scan is a read of its
** own.  Here a b-tree that grows reserves an extent, a run of adjacent pages,
** and takes its pages from there, in ascending order.  It has up to two: for
** leaves with their overflow pages, and for interior pages.  Leaves of rows
** that arrive in the order of their keys are therefore in that order in the
** file, the overflow pages of a row are adjacent, between its leaf and the next
** one, and interior pages are together.
**
** An ordinary file.  Reserved pages are free pages, now and at every commit.
** An extent of n pages is added to the end of the file with its last page as a
** trunk of the free list and the pages before it as leaves of that trunk:
**
**      next                 end
**       |                    |
**    ...[  ][  ][  ][  ][  ][T ]      T: next trunk, 5, end-1, end-2 ... next
**
** The page that is wanted next is the last of the trunk's array, so that taking
** it changes one number in the trunk and one on page 1.  When no leaves are
** left the trunk itself is taken.  Everybody else may use these pages: another
** process with stock SQLite, incremental_vacuum, VACUUM, and SQLite's own code
** in this process when a limit leaves nothing else.  Nothing is lost then but
** order.
**
** What is in memory (HpExtents, one for each BtShared) only says which free
** page is whose.  It is forgotten when the file was changed by others (the
** pager's data version) or something was rolled back, and found again by
** looking at the trunks: the last eight bytes of a trunk, which SQLite does
** not use, hold a mark and the root of the b-tree it is for.  Before a page is
** taken the trunk must list it; a mark that is wrong gives a page to another
** b-tree, no more.
**
** Which page (hpExtentAllocate):
**
**    1. the next page of the b-tree's extent;
**    2. if there are free pages that nobody reserved (rows were deleted): a run
**       of them becomes the extent if the b-tree is large and there is one,
**       else any of them is taken.  So a file with such pages does not grow;
**    3. a new extent at the end of the file, if the b-tree is large and does
**       not grow alone;
**    4. one page at the end of the file;
**    5. where the file may not grow (max_page_count): any free page.
**
** Alone.  While all that the file grows by is one b-tree's, the next page of the
** file is the right one, and nothing is reserved.  A b-tree grows alone if
** it got the page that is the last of the file now (HpExtents.iTailRoot).  That
** is not known of one that has just been opened.
**
** How much.  A b-tree of fewer than HP_EXTENT_MIN pages reserves nothing.  A
** larger one reserves a HP_EXTENT_SHARE-th of what it has of leaves and
** overflow pages, at most HP_EXTENT_BYTES.  So a file is at most a sixteenth
** larger for it, on average half of that, and a large one much less, while a
** scan of n pages meets few gaps: about 16*ln(n/32) extents, later one a
** megabyte.  How large a b-tree is is found by looking at one path from its
** root (hpTreeSize).  Interior pages get a HP_EXTENT_SHARE-th of what leaves
** get.
**
** WAL.  SQLite writes a frame for each page by which a database grows, because
** it puts something there.  Programs that copy the log rest on it: a page behind
** the end of the file that has no frame cannot be read.  So does a checkpoint,
** which takes a file for damaged if the size that the log gives it exceeds its
** own by much more than the log holds.  Hence, before a commit, each page that
** the transaction reserved at the end of the file and did not use is written to
** the log, as zeros (hpWalFill).  Pages that are reserved and used by the same
** transaction, as when many rows are inserted at once, are written once.
**
** Not for files of a VFS that the application brought: what it makes of pages
** is not known, and replication systems that are a VFS count frames.  Not for
** temporary and in-memory databases, auto_vacuum=FULL (it would remove
** the pages at each commit), VACUUM, nor once incremental_vacuum shortened the
** file within this transaction.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Not an error: the run of leaves is used up */
#define HP_USED_UP SQLITE_ROW

#define HP_EXTENT_MIN     32      /* Pages of the smallest that reserves */
#define HP_EXTENT_SHARE   16      /* It reserves 1/16 of its size, ... */
#define HP_EXTENT_BYTES   (1024*1024)  /* ... at most so many bytes */
#define HP_EXTENT_SMALL   64      /* Small b-trees that are remembered */
#define HP_EXTENT_RUN     4       /* Shortest run of free pages that is used */
#define HP_EXTENT_WALK    1024    /* Trunks in which marks are looked for, */
#define HP_EXTENT_PLAIN   2       /* and how many of them without one */
#define HP_EXTENT_MX      ((i64)1<<30)  /* More are not counted (hpTreeSize) */
#define HP_EXTENT_FRAMES  32      /* Frames of reserved pages in one write */

/* In the last 8 bytes of a trunk: this, plus the kind; the root page */
#define HP_EXTENT_MARK    0x68704500

/*
** A run of free pages that are kept for one b-tree.
*/
typedef struct HpExtent HpExtent;
typedef struct HpExtents HpExtents;
struct HpExtent {
  Pgno iRoot;            /* Root page of the b-tree */
  Pgno iNext;            /* The next page to be taken */
  Pgno iEnd;             /* The last page of the run */
  Pgno iTrunk;           /* The trunk that lists them.  It may be iEnd itself */
  u8 eKind;              /* BTALLOC_LEAF or BTALLOC_INTERIOR */
};

/*
** What is known of the free list of a database file.
*/
struct HpExtents {
  u32 iVersion;          /* Pager.iDataVersion that this is true for */
  u8 bKnown;             /* False: nothing is known */
  Pgno iSplit;           /* A trunk whose leaves have no runs, ... */
  u32 nSplit;            /* ... when it had so many */
  Pgno iTailRoot;        /* The b-tree that got the last pages of the file, */
  Pgno nTail;            /* ... when it had so many pages.  0: not known */
  int nExtent, nAlloc;
  HpExtent *aExtent;
  struct HpSmallTree {
    Pgno iRoot;            /* A b-tree that was found to be small */
    u32 nLeft;             /* It is for so many pages more */
  } aSmall[HP_EXTENT_SMALL];
};

/*
** Where a b-tree stands (hpTreeSize).
*/
typedef struct HpTreeSize HpTreeSize;
struct HpTreeSize {
  i64 nInterior, nLeaf, nOverflow;
};

#ifdef SQLITE_DEBUG
/*
** What is known is about b-trees and trunks that there may be.  (Where a run
** begins and ends the file says.)
*/
static int hpExtentsAreSane(const HpExtents *p){
  int i;
  if( p->nExtent<0 || p->nExtent>p->nAlloc ) return 0;
  if( (p->nAlloc==0)!=(p->aExtent==0) ) return 0;
  for(i=0; i<p->nExtent; i++){
    const HpExtent *pE = &p->aExtent[i];
    if( pE->iRoot<1 || pE->iTrunk<2 ) return 0;
    if( pE->eKind!=BTALLOC_LEAF && pE->eKind!=BTALLOC_INTERIOR ) return 0;
  }
  return 1;
}

/* Is none of these pages one that an extent leaves out? */
static int hpExtentIsWhole(const BtShared *pBt, Pgno iFirst, Pgno iLast){
  for(; iFirst<=iLast; iFirst++){
    if( iFirst==PENDING_BYTE_PAGE(pBt) || hpPageIsPtrmap(pBt, iFirst) ) return 0;
  }
  return 1;
}
#endif

/* Pages of run p that are leaves of its trunk */
static u32 hpExtentLeaves(const HpExtent *p){
  return p->iEnd - p->iNext + (p->iEnd!=p->iTrunk);
}

/* Largest number of leaves on a trunk that every version of SQLite accepts */
static u32 hpTrunkMax(const BtShared *pBt){
  assert( pBt->usableSize>=480 );
  return pBt->usableSize/4 - 8;
}

SQLITE_PRIVATE void sqlite3HpExtentForget(BtShared *pBt){
  /* A backup writes to its destination without that mutex, in a transaction */
  assert( sqlite3_mutex_held(pBt->mutex) || pBt->inTransaction==TRANS_WRITE );
  if( pBt->pHpExtents ){
    pBt->pHpExtents->bKnown = 0;
    pBt->pHpExtents->nExtent = 0;
    pBt->pHpExtents->iSplit = 0;
    pBt->pHpExtents->nTail = 0;
  }
}

SQLITE_PRIVATE void sqlite3HpExtentFree(BtShared *pBt){
  if( pBt->pHpExtents ){
    sqlite3_free(pBt->pHpExtents->aExtent);
    sqlite3_free(pBt->pHpExtents);
    pBt->pHpExtents = 0;
  }
}

/*
** Add a run.  Return SQLITE_NOMEM if there is no memory: it is not known then,
** and its pages are free pages as any.
*/
static int hpExtentAdd(HpExtents *p, const HpExtent *pNew){
  assert( hpExtentsAreSane(p) );
  if( p->nExtent==p->nAlloc ){
    int nAlloc = p->nAlloc ? p->nAlloc*2 : 8;
    HpExtent *a = sqlite3_realloc64(p->aExtent, sizeof(HpExtent)*(u64)nAlloc);
    if( a==0 ) return SQLITE_NOMEM_BKPT;
    p->aExtent = a;
    p->nAlloc = nAlloc;
  }
  p->aExtent[p->nExtent++] = *pNew;
  assert( hpExtentsAreSane(p) );
  return SQLITE_OK;
}

static void hpExtentRemove(HpExtents *p, int i){
  assert( i>=0 && i<p->nExtent );
  p->aExtent[i] = p->aExtent[--p->nExtent];
}

/* The run that page iPg of trunk iTrunk is reserved in, or -1 */
static int hpExtentOf(const HpExtents *p, Pgno iTrunk, Pgno iPg){
  int i;
  for(i=0; i<p->nExtent; i++){
    const HpExtent *pE = &p->aExtent[i];
    if( pE->iTrunk==iTrunk && iPg>=pE->iNext && iPg<=pE->iEnd ) return i;
  }
  return -1;
}

/* The number of pages that are reserved */
static u32 hpExtentReserved(const HpExtents *p){
  u32 n = 0;
  int i;
  for(i=0; i<p->nExtent; i++){
    n += p->aExtent[i].iEnd - p->aExtent[i].iNext + 1;
  }
  return n;
}

/* The number of leaves of trunk iTrunk that are reserved */
static u32 hpTrunkReserved(const HpExtents *p, Pgno iTrunk){
  u32 n = 0;
  int i;
  for(i=0; i<p->nExtent; i++){
    if( p->aExtent[i].iTrunk==iTrunk ) n += hpExtentLeaves(&p->aExtent[i]);
  }
  return n;
}

/*
** Fetch trunk iTrunk of the free list and set *pnLeaf to the number of its
** leaves.  HP_DECLINE if it cannot be one: SQLite's code will say so.
*/
static int hpTrunkGet(
  BtShared *pBt,
  Pgno iTrunk,
  MemPage **ppTrunk,
  u32 *pnLeaf
){
  int rc;
  *ppTrunk = 0;
  if( iTrunk<2 || iTrunk>btreePagecount(pBt) ) return HP_DECLINE;
  rc = btreeGetUnusedPage(pBt, iTrunk, ppTrunk, 0);
  if( rc!=SQLITE_OK ) return rc==SQLITE_CORRUPT ? HP_DECLINE : rc;
  *pnLeaf = get4byte(&(*ppTrunk)->aData[4]);
  if( *pnLeaf>pBt->usableSize/4 - 2 ){
    releasePage(*ppTrunk);
    *ppTrunk = 0;
    return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** Find the extents that are marked in the free list.
*/
static int hpExtentFind(BtShared *pBt, HpExtents *p){
  Pgno iTrunk = get4byte(&pBt->pPage1->aData[32]);
  int nLook = HP_EXTENT_WALK;
  int nPlain = HP_EXTENT_PLAIN;
  int rc = SQLITE_OK;
  assert( p->nExtent==0 && p->bKnown==0 );
  while( iTrunk && nLook-->0 && nPlain>0 ){
    MemPage *pTrunk;
    HpExtent x;
    u32 n, i, mark;
    rc = hpTrunkGet(pBt, iTrunk, &pTrunk, &n);
    if( rc ) break;
    mark = get4byte(&pTrunk->aData[pBt->usableSize-8]) - HP_EXTENT_MARK;
    x.iRoot = get4byte(&pTrunk->aData[pBt->usableSize-4]);
    if( (mark==BTALLOC_LEAF || mark==BTALLOC_INTERIOR)
     && n<=hpTrunkMax(pBt) && x.iRoot>0 && x.iRoot<=btreePagecount(pBt)
    ){
      for(i=0; i<n; i++){
        if( get4byte(&pTrunk->aData[8+4*i])!=iTrunk-1-i ) break;
      }
      x.eKind = (u8)mark;
      x.iTrunk = x.iEnd = iTrunk;
      x.iNext = iTrunk - i;
      rc = hpExtentAdd(p, &x);
    }else{
      nPlain--;
    }
    iTrunk = get4byte(&pTrunk->aData[0]);
    releasePage(pTrunk);
    if( rc ) break;
  }
  /* The free list may lead round in a circle: then nothing is trusted */
  if( hpExtentReserved(p)>get4byte(&pBt->pPage1->aData[36]) ) rc = HP_DECLINE;
  if( rc==SQLITE_OK ) p->bKnown = 1;
  return rc;
}

/*
** What is known of the free list, or 0 if there is no memory.
*/
static HpExtents *hpExtents(BtShared *pBt){
  HpExtents *p = pBt->pHpExtents;
  if( p==0 ){
    p = sqlite3MallocZero(sizeof(*p));
    pBt->pHpExtents = p;
  }else if( p->iVersion!=pBt->pPager->iDataVersion ){
    sqlite3HpExtentForget(pBt);
  }
  if( p ) p->iVersion = pBt->pPager->iDataVersion;
  assert( p==0 || hpExtentsAreSane(p) );
  assert( p==0 || p->bKnown || p->nExtent==0 );
  return p;
}

/*
** Add up the overflow pages of the cells of leaf aData, whatever it holds: at
** most HP_EXTENT_MX, so that a hostile file cannot make the product overflow.
*/
static i64 hpLeafOverflow(const BtShared *pBt, const u8 *aData, int hdr){
  const u32 usable = pBt->usableSize;
  const int bIntkey = aData[hdr]==(PTF_LEAF|PTF_LEAFDATA|PTF_INTKEY);
  const u32 mx = bIntkey ? pBt->maxLeaf : pBt->maxLocal;
  const u32 mn = bIntkey ? pBt->minLeaf : pBt->minLocal;
  const u32 nCell = get2byte(&aData[hdr+3]);
  i64 nOverflow = 0;
  u32 i;
  assert( mn<=mx );
  if( hdr+8+2*nCell>usable ) return 0;
  for(i=0; i<nCell; i++){
    const u32 iCell = get2byte(&aData[hdr+8+2*i]);
    u32 nPayload, nLocal;
    if( iCell>usable-4 ) continue;
    getVarint32(&aData[iCell], nPayload);
    if( nPayload<=mx ) continue;
    nLocal = mn + (nPayload-mn)%(usable-4);
    if( nLocal>mx ) nLocal = mn;
    nOverflow += (nPayload - nLocal + usable - 5)/(usable-4);
  }
  return MIN(nOverflow, HP_EXTENT_MX);
}

/*
** Estimate the size of the b-tree with root iRoot: the pages on one path from
** the root down, a middle one, stand for all.  Exact in the number of leaves
** while there is one level above them.  Of a b-tree with fewer than
** HP_EXTENT_MIN leaves only the overflow pages of leaves that are in the cache
** are counted, and those truly: it must not be taken for larger than it is.
**
** This may be called while the b-tree is being balanced, so pages are looked
** at as bytes.
*/
static int hpTreeSize(BtShared *pBt, Pgno iRoot, HpTreeSize *pSize){
  Pgno iPg = iRoot;
  int nLevel;
  memset(pSize, 0, sizeof(*pSize));
  pSize->nLeaf = 1;
  for(nLevel=0; nLevel<BTCURSOR_MAX_DEPTH; nLevel++){
    const int hdr = iPg==1 ? 100 : 0;
    DbPage *pDbPage;
    const u8 *aData;
    u32 nCell, iCell;
    int rc;
    if( iPg<1 || iPg>btreePagecount(pBt) ) return SQLITE_OK;
    rc = sqlite3PagerGet(pBt->pPager, iPg, &pDbPage, PAGER_GET_READONLY);
    if( rc ) return rc;
    aData = sqlite3PagerGetData(pDbPage);
    nCell = get2byte(&aData[hdr+3]);
    if( (aData[hdr] & PTF_LEAF)!=0 ){
      if( pSize->nLeaf>=HP_EXTENT_MIN || pSize->nLeaf==1 ){
        pSize->nOverflow = pSize->nLeaf * hpLeafOverflow(pBt, aData, hdr);
      }
      sqlite3PagerUnref(pDbPage);
      break;
    }
    if( hdr+12+2*nCell>pBt->usableSize ){
      sqlite3PagerUnref(pDbPage);
      break;
    }
    if( nLevel==0 && nCell+1<HP_EXTENT_MIN ){
      u32 i;
      for(i=0; i<nCell; i++){
        DbPage *pLeaf;
        const u8 *aLeaf;
        iCell = get2byte(&aData[hdr+12+2*i]);
        if( iCell>pBt->usableSize-4 ) continue;
        pLeaf = sqlite3PagerLookup(pBt->pPager, get4byte(&aData[iCell]));
        if( pLeaf==0 ) continue;
        aLeaf = sqlite3PagerGetData(pLeaf);
        if( (aLeaf[0] & PTF_LEAF)!=0 ){
          pSize->nOverflow += hpLeafOverflow(pBt, aLeaf, 0);
        }
        sqlite3PagerUnref(pLeaf);
      }
    }
    pSize->nInterior += pSize->nLeaf;
    pSize->nLeaf *= nCell+1;
    /* Pages that are their own children would be more than the file has */
    pSize->nLeaf = MIN(pSize->nLeaf, HP_EXTENT_MX);
    assert( pSize->nLeaf>=1 && pSize->nInterior>=1 );
    if( nCell==0 ){
      iPg = get4byte(&aData[hdr+8]);
    }else{
      iCell = get2byte(&aData[hdr+12+2*(nCell/2)]);
      iPg = iCell>pBt->usableSize-4 ? 0 : get4byte(&aData[iCell]);
    }
    sqlite3PagerUnref(pDbPage);
  }
  assert( pSize->nOverflow>=0 && pSize->nOverflow<=HP_EXTENT_MX*HP_EXTENT_MX );
  return SQLITE_OK;
}

/*
** Set *pn to the number of pages that an extent for pages of kind *peKind of
** b-tree iRoot should have: fewer than 2 is none.  Where a b-tree has no extent
** for interior pages they come from the leaves'.
*/
static int hpExtentWanted(
  BtShared *pBt,
  HpExtents *p,
  Pgno iRoot,
  u8 *peKind,
  u32 *pn
){
  struct HpSmallTree *pSmall = &p->aSmall[iRoot % HP_EXTENT_SMALL];
  const u32 mx = MIN(HP_EXTENT_BYTES/pBt->pageSize, hpTrunkMax(pBt));
  const int nFixed = pBt->db->hp.nExtent;
  HpTreeSize x;
  i64 n;
  int rc;
  assert( iRoot>0 && (*peKind==BTALLOC_LEAF || *peKind==BTALLOC_INTERIOR) );
  *pn = 0;
  if( pSmall->iRoot==iRoot && pSmall->nLeft>0 && nFixed==0 ){
    pSmall->nLeft--;
    *peKind = BTALLOC_LEAF;
    return SQLITE_OK;
  }
  rc = hpTreeSize(pBt, iRoot, &x);
  if( rc ) return rc;
  if( nFixed>0 ){
    n = x.nInterior ? MIN((u32)nFixed, hpTrunkMax(pBt)) : 0;
  }else if( hpConfig()->nExtent>0 ){
    n = MIN((u32)hpConfig()->nExtent, hpTrunkMax(pBt));
  }else if( x.nInterior + x.nLeaf + x.nOverflow<HP_EXTENT_MIN ){
    n = 0;
    pSmall->iRoot = iRoot;
    pSmall->nLeft = (u32)(HP_EXTENT_MIN-1 - x.nInterior-x.nLeaf-x.nOverflow);
    assert( pSmall->nLeft<HP_EXTENT_MIN );
  }else{
    n = MIN((x.nLeaf+x.nOverflow)/HP_EXTENT_SHARE, mx);
  }
  if( *peKind==BTALLOC_INTERIOR ){
    if( n/HP_EXTENT_SHARE>=2 ){
      n = n/HP_EXTENT_SHARE;
    }else{
      *peKind = BTALLOC_LEAF;
    }
  }
  /* As many as one trunk can list */
  assert( n>=0 && n<=hpTrunkMax(pBt) );
  *pn = (u32)n;
  return SQLITE_OK;
}

/*
** Take trunk pTrunk, which has no leaves left, out of the free list for use.
*/
static int hpTrunkTake(BtShared *pBt, MemPage *pTrunk){
  MemPage *pPage1 = pBt->pPage1;
  const u32 nFree = get4byte(&pPage1->aData[36]);
  MemPage *pPrev = 0;
  Pgno iPg = get4byte(&pPage1->aData[32]);
  u32 nLook = 0;
  u32 n;
  int rc = sqlite3PagerWrite(pPage1->pDbPage);
  assert( get4byte(&pTrunk->aData[4])==0 );
  while( rc==SQLITE_OK && iPg!=pTrunk->pgno ){
    releasePage(pPrev);
    pPrev = 0;
    rc = nLook++>nFree ? HP_DECLINE : hpTrunkGet(pBt, iPg, &pPrev, &n);
    if( rc==SQLITE_OK ) iPg = get4byte(&pPrev->aData[0]);
  }
  if( rc==SQLITE_OK && pPrev ) rc = sqlite3PagerWrite(pPrev->pDbPage);
  if( rc==SQLITE_OK ) rc = sqlite3PagerWrite(pTrunk->pDbPage);
  if( rc==SQLITE_OK ){
    memcpy(pPrev ? &pPrev->aData[0] : &pPage1->aData[32], pTrunk->aData, 4);
    put4byte(&pPage1->aData[36], nFree-1);
  }
  releasePage(pPrev);
  return rc;
}

/*
** Take leaf i of the n leaves of trunk pTrunk for use.
*/
static int hpLeafTake(
  BtShared *pBt,
  MemPage *pTrunk,
  u32 n,
  u32 i,
  MemPage **ppPage,
  Pgno *pPgno
){
  MemPage *pPage1 = pBt->pPage1;
  u8 *aLeaf = &pTrunk->aData[8];
  const Pgno iPg = get4byte(&aLeaf[4*i]);
  const u32 nFree = get4byte(&pPage1->aData[36]);
  int flags, rc;
  assert( i<n && *ppPage==0 );
  if( iPg<2 || iPg>btreePagecount(pBt) || nFree<2 ) return HP_DECLINE;
  rc = sqlite3PagerWrite(pPage1->pDbPage);
  if( rc ) return rc;
  rc = sqlite3PagerWrite(pTrunk->pDbPage);
  if( rc ) return rc;
  flags = btreeGetHasContent(pBt, iPg) ? 0 : PAGER_GET_NOCONTENT;
  rc = btreeGetUnusedPage(pBt, iPg, ppPage, flags);
  if( rc ) return rc;
  rc = sqlite3PagerWrite((*ppPage)->pDbPage);
  if( rc ){
    releasePage(*ppPage);
    *ppPage = 0;
    return rc;
  }
  memcpy(&aLeaf[4*i], &aLeaf[4*(n-1)], 4);
  put4byte(&pTrunk->aData[4], n-1);
  put4byte(&pPage1->aData[36], nFree-1);
  *pPgno = iPg;
  return SQLITE_OK;
}

/*
** Take the next page of run i.  HP_DECLINE if the trunk does not say what is
** expected.  HP_USED_UP if the run is used up after all: other leaves
** have been added to its trunk, which remains in the free list.
*/
static int hpExtentTake(
  BtShared *pBt,
  HpExtents *p,
  int i,
  MemPage **ppPage,
  Pgno *pPgno
){
  HpExtent *pE = &p->aExtent[i];
  MemPage *pTrunk;
  u32 n, k;
  int rc = hpTrunkGet(pBt, pE->iTrunk, &pTrunk, &n);
  assert( i>=0 && i<p->nExtent && *ppPage==0 );
  if( rc ) return rc;
  if( pE->iNext==pE->iTrunk ){
    if( n>0 ){
      hpExtentRemove(p, i);
      rc = HP_USED_UP;
    }else{
      rc = hpTrunkTake(pBt, pTrunk);
      if( rc==SQLITE_OK ){
        *ppPage = pTrunk;
        *pPgno = pTrunk->pgno;
        hpExtentRemove(p, i);
        return SQLITE_OK;
      }
    }
  }else{
    for(k=n; k>0 && get4byte(&pTrunk->aData[8+4*(k-1)])!=pE->iNext; k--){}
    rc = k==0 ? HP_DECLINE : hpLeafTake(pBt, pTrunk, n, k-1, ppPage, pPgno);
    if( rc==SQLITE_OK && pE->iNext++==pE->iEnd ) hpExtentRemove(p, i);
  }
  releasePage(pTrunk);
  return rc;
}

/* Compare two page numbers, for qsort() */
static int hpPgnoCompare(const void *pA, const void *pB){
  const Pgno a = *(const Pgno*)pA, b = *(const Pgno*)pB;
  return a<b ? -1 : a>b;
}

/*
** Look among the n leaves of trunk pTrunk, of which some are reserved, for runs
** of at least HP_EXTENT_RUN pages that nobody has, and reserve about nWant
** pages for pNew: of one run if there is one so long, else of several.
** HP_DECLINE if there is none.
*/
static int hpExtentClaim(
  HpExtents *p,
  const MemPage *pTrunk,
  u32 n,
  u32 nWant,
  HpExtent *pNew
){
  const int nWas = p->nExtent;
  u32 i, k, nRun, nMin, nLeft;
  u32 nBest = 0;
  Pgno *a;
  assert( n>0 && nWant>1 && pNew->iRoot>0 );
  if( p->iSplit==pTrunk->pgno && n<=p->nSplit ) return HP_DECLINE;
  a = sqlite3_malloc64(sizeof(Pgno)*(u64)n);
  if( a==0 ) return HP_DECLINE;
  for(i=k=0; i<n; i++){
    Pgno iPg = get4byte(&pTrunk->aData[8+4*i]);
    if( hpExtentOf(p, pTrunk->pgno, iPg)<0 ) a[k++] = iPg;
  }
  qsort(a, k, sizeof(a[0]), hpPgnoCompare);
  for(i=nRun=0; i<k; i++){
    nRun = i>0 && a[i]==a[i-1]+1 ? nRun+1 : 1;
    nBest = MAX(nBest, nRun);
  }
  nLeft = MAX(nWant, HP_EXTENT_RUN);
  nMin = nBest<nLeft ? HP_EXTENT_RUN : nLeft;
  pNew->iTrunk = pTrunk->pgno;
  for(i=nRun=0; i<k && nLeft>0; i++){
    nRun++;
    if( i+1<k && a[i+1]==a[i]+1 ) continue;
    if( nRun>=nMin ){
      pNew->iNext = a[i]-nRun+1;
      pNew->iEnd = pNew->iNext + MIN(nRun, nLeft) - 1;
      if( hpExtentAdd(p, pNew)!=SQLITE_OK ) break;
      nLeft -= MIN(nRun, nLeft);
    }
    nRun = 0;
  }
  assert( k<=n && p->nExtent>=nWas );
  sqlite3_free(a);
  if( p->nExtent>nWas ) return SQLITE_OK;
  p->iSplit = pTrunk->pgno;
  p->nSplit = n;
  return HP_DECLINE;
}

/*
** Some free pages are reserved and some are not.  Take one that is not; if
** nWant>1 reserve a run of them for pNew first.
*/
static int hpFreeTake(
  BtShared *pBt,
  HpExtents *p,
  u32 nWant,
  HpExtent *pNew,
  Pgno nearby,
  MemPage **ppPage,
  Pgno *pPgno
){
  Pgno iTrunk = get4byte(&pBt->pPage1->aData[32]);
  const u32 nFree = get4byte(&pBt->pPage1->aData[36]);
  u32 nLook = 0;
  assert( nFree>hpExtentReserved(p) );
  while( iTrunk && nLook++<=nFree ){
    MemPage *pTrunk;
    u32 n, i;
    const u32 nReserved = hpTrunkReserved(p, iTrunk);
    int rc = hpTrunkGet(pBt, iTrunk, &pTrunk, &n);
    if( rc ) return rc;
    if( n>nReserved ){
      const int nWas = p->nExtent;
      u32 iBest = n;
      i64 nBest = LARGEST_INT64;
      if( nWant>1 && hpExtentClaim(p, pTrunk, n, nWant, pNew)==SQLITE_OK ){
        releasePage(pTrunk);
        rc = hpExtentTake(pBt, p, nWas, ppPage, pPgno);
        /* A trunk that lists itself: SQLite's code will say so */
        return rc==HP_USED_UP ? HP_DECLINE : rc;
      }
      for(i=0; i<n; i++){
        const Pgno iPg = get4byte(&pTrunk->aData[8+4*i]);
        const i64 nAway = iPg>nearby ? (i64)iPg-nearby : (i64)nearby-iPg;
        if( nAway<nBest
         && (nReserved==0 || hpExtentOf(p, iTrunk, iPg)<0)
        ){
          iBest = i;
          nBest = nAway;
        }
      }
      rc = iBest==n ? HP_DECLINE
                    : hpLeafTake(pBt, pTrunk, n, iBest, ppPage, pPgno);
      releasePage(pTrunk);
      return rc;
    }
    if( n==0 && hpExtentOf(p, iTrunk, iTrunk)<0 ){
      rc = hpTrunkTake(pBt, pTrunk);
      if( rc==SQLITE_OK ){
        *ppPage = pTrunk;
        *pPgno = iTrunk;
      }else{
        releasePage(pTrunk);
      }
      return rc;
    }
    iTrunk = get4byte(&pTrunk->aData[0]);
    releasePage(pTrunk);
  }
  return HP_DECLINE;
}

/*
** Add n pages to the end of the file.  The first is for use, the others are
** reserved for pNew.  There may be fewer, one at least: an extent is
** interrupted neither by the page of the lock byte nor by a pointer map.
** HP_DECLINE if the file may not grow.
*/
static int hpFileGrow(
  BtShared *pBt,
  HpExtents *p,
  u32 n,
  HpExtent *pNew,
  MemPage **ppPage,
  Pgno *pPgno
){
  MemPage *pPage1 = pBt->pPage1;
  const Pgno iLock = PENDING_BYTE_PAGE(pBt);
  const Pgno mx = sqlite3PagerMaxPageCount(pBt->pPager, 0);
  const u32 nFree = get4byte(&pPage1->aData[36]);
  Pgno iHead = get4byte(&pPage1->aData[32]);
  Pgno iMap = 0;             /* Becomes a page of the pointer map */
  Pgno iFirst = btreePagecount(pBt)+1;
  Pgno iLast;
  MemPage *pMap = 0, *pTrunk = 0, *pHead = 0;
  u32 i;
  int rc;

  assert( n>=1 && *ppPage==0 && (n==1 || pNew->iRoot>0) );
  if( iFirst==iLock ) iFirst++;
  if( hpPageIsPtrmap(pBt, iFirst) ){
    iMap = iFirst++;
    if( iFirst==iLock ) iFirst++;
  }
  if( iFirst>mx || mx-iFirst<n-1 ){
    if( iFirst>mx ) return HP_DECLINE;
    n = mx-iFirst+1;
  }
  for(iLast=iFirst; iLast-iFirst+1<n; iLast++){
    if( iLast+1==iLock ) break;
    if( hpPageIsPtrmap(pBt, iLast+1) ) break;
  }
  assert( iFirst>btreePagecount(pBt) && iLast<=mx );
  assert( hpExtentIsWhole(pBt, iFirst, iLast) );
  assert( iLast==iFirst || iLast-iFirst-1<=hpTrunkMax(pBt) );

  rc = sqlite3PagerWrite(pPage1->pDbPage);
  if( rc==SQLITE_OK && iMap ){
    rc = btreeGetUnusedPage(pBt, iMap, &pMap, PAGER_GET_NOCONTENT);
    if( rc==SQLITE_OK ) rc = sqlite3PagerWrite(pMap->pDbPage);
  }
  if( rc==SQLITE_OK ){
    rc = btreeGetUnusedPage(pBt, iFirst, ppPage, PAGER_GET_NOCONTENT);
  }
  if( rc==SQLITE_OK ) rc = sqlite3PagerWrite((*ppPage)->pDbPage);
  if( rc==SQLITE_OK && iLast>iFirst ){
    rc = btreeGetUnusedPage(pBt, iLast, &pTrunk, PAGER_GET_NOCONTENT);
    if( rc==SQLITE_OK ) rc = sqlite3PagerWrite(pTrunk->pDbPage);
    /* Behind a trunk of others' pages, so that pages that are freed and wanted
    ** are the first in the list */
    if( rc==SQLITE_OK && iHead && hpExtentOf(p, iHead, iHead)<0 ){
      rc = hpTrunkGet(pBt, iHead, &pHead, &i);
      if( rc==SQLITE_OK ) rc = sqlite3PagerWrite(pHead->pDbPage);
    }
    for(i=iFirst+1; rc==SQLITE_OK && ISAUTOVACUUM(pBt) && i<=iLast; i++){
      ptrmapPut(pBt, i, PTRMAP_FREEPAGE, 0, &rc);
    }
  }
  if( rc==SQLITE_OK ){
    pBt->nPage = iLast;
    p->nTail = iLast;
    p->iTailRoot = pNew->iRoot;
    put4byte(&pPage1->aData[28], iLast);
    *pPgno = iFirst;
  }
  if( rc==SQLITE_OK && iLast>iFirst ){
    u8 *aLink = pHead ? &pHead->aData[0] : &pPage1->aData[32];
    u8 *a = pTrunk->aData;
    memcpy(a, aLink, 4);
    put4byte(&a[4], iLast-iFirst-1);
    for(i=0; i<iLast-iFirst-1; i++) put4byte(&a[8+4*i], iLast-1-i);
    put4byte(&a[pBt->usableSize-8], HP_EXTENT_MARK + pNew->eKind);
    put4byte(&a[pBt->usableSize-4], pNew->iRoot);
    put4byte(aLink, iLast);
    put4byte(&pPage1->aData[36], nFree + iLast - iFirst);
    pNew->iNext = iFirst+1;
    pNew->iEnd = pNew->iTrunk = iLast;
    /* Without memory it is not known whose these pages are: they are looked for
    ** again. */
    if( hpExtentAdd(p, pNew)!=SQLITE_OK ) sqlite3HpExtentForget(pBt);
  }
  releasePage(pHead);
  releasePage(pTrunk);
  releasePage(pMap);
  if( rc!=SQLITE_OK ){
    releasePage(*ppPage);
    *ppPage = 0;
  }
  return rc;
}

/*
** True if the file is one of a VFS that is built in, and not of one that stands
** before it.
*/
static int hpExtentVfs(const Pager *pPager){
#if SQLITE_OS_UNIX
  return pPager->pVfs->xOpen==unixOpen
      && pPager->fd->pMethods->xRead==unixRead
      && pPager->fd->pMethods->xWrite==unixWrite;
#else
  UNUSED_PARAMETER(pPager);
  return 0;
#endif
}

/* True if b-trees of this file may reserve pages now */
static int hpExtentEnabled(const BtShared *pBt){
  const Pager *pPager = pBt->pPager;
  const sqlite3 *db = pBt->db;
  if( db->hp.nExtent==HP_EXTENT_OFF || hpConfig()->bOff ) return 0;
  if( pPager->tempFile || pPager->memDb ) return 0;
  if( sqlite3IsMemdb(pPager->pVfs) ) return 0;
  if( !hpExtentVfs(pPager) && hpConfig()->bAnyVfs==0 ) return 0;
#ifndef SQLITE_OMIT_AUTOVACUUM
  if( pBt->autoVacuum && !pBt->incrVacuum ) return 0;
  if( pBt->bDoTruncate ) return 0;
#endif
  return (db->mDbFlags & DBFLAG_Vacuum)==0;
}

/*
** True if b-tree iRoot grows alone and no extent is asked for.
*/
static int hpGrowsAlone(BtShared *pBt, const HpExtents *p, Pgno iRoot){
  return p->nTail==btreePagecount(pBt) && p->iTailRoot==iRoot
      && pBt->db->hp.nExtent==0 && hpConfig()->nExtent==0;
}

/*
** A page is to be allocated in mode *peMode of allocateBtreePage(), near page
** nearby.  BTALLOC_LEAF and _INTERIOR mean any page, for that use in the
** b-tree of which BtShared.iHpRoot is the root; they become BTALLOC_ANY.
** HP_DECLINE: SQLite's own code is to choose.  Else the result is that of
** allocateBtreePage(), with *ppPage and *pPgno set.
*/
SQLITE_PRIVATE int sqlite3HpAllocate(
  BtShared *pBt,
  MemPage **ppPage,
  Pgno *pPgno,
  Pgno nearby,
  u8 *peMode
){
  const u32 nFree = get4byte(&pBt->pPage1->aData[36]);
  HpExtents *p;
  HpExtent x;
  u32 nWant = 0;
  int bTree = *peMode>BTALLOC_LE;
  int i, rc;

  assert( sqlite3_mutex_held(pBt->mutex) );
  assert( pBt->inTransaction==TRANS_WRITE );
  assert( bTree==0 || pBt->iHpRoot>0 );
  x.eKind = bTree ? *peMode : BTALLOC_LEAF;
  x.iRoot = bTree ? pBt->iHpRoot : 0;
  if( bTree ) *peMode = BTALLOC_ANY;
  if( nFree>=btreePagecount(pBt) ) return HP_DECLINE;
  if( *peMode!=BTALLOC_ANY || !hpExtentEnabled(pBt)
   || (p = hpExtents(pBt))==0
  ){
    sqlite3HpExtentForget(pBt);
    return HP_DECLINE;
  }
  *ppPage = 0;
  if( !p->bKnown ){
    rc = hpExtentFind(pBt, p);
    if( rc ) goto allocate_out;
  }

  if( bTree ){
    /* Once more if it turns out to be an interior page without an extent of
    ** its own, or if the extent was used up. */
    u8 eKind;
    do{
      eKind = x.eKind;
      for(i=0; i<p->nExtent; i++){
        const HpExtent *pE = &p->aExtent[i];
        if( pE->iRoot!=x.iRoot || pE->eKind!=eKind ) continue;
        rc = hpExtentTake(pBt, p, i, ppPage, pPgno);
        if( rc!=HP_USED_UP ) goto allocate_out;
        i = -1;
      }
      if( x.eKind==BTALLOC_LEAF && hpGrowsAlone(pBt, p, x.iRoot)
       && nFree<=hpExtentReserved(p)
      ){
        nWant = 1;
        break;
      }
      rc = hpExtentWanted(pBt, p, x.iRoot, &x.eKind, &nWant);
      if( rc ) goto allocate_out;
    }while( x.eKind!=eKind );
  }

  if( nFree>hpExtentReserved(p) ){
    /* A list that SQLite alone made is SQLite's */
    if( p->nExtent==0 && nWant<2 ) return HP_DECLINE;
    rc = hpFreeTake(pBt, p, nWant, &x, nearby, ppPage, pPgno);
  }else if( nFree==0 && nWant==0 ){
    return HP_DECLINE;
  }else{
    rc = hpFileGrow(pBt, p, MAX(nWant, 1), &x, ppPage, pPgno);
  }

allocate_out:
  assert( rc!=HP_USED_UP && hpExtentsAreSane(p) );
  assert( rc==SQLITE_OK || *ppPage==0 );
  assert( rc!=SQLITE_OK || *pPgno!=PENDING_BYTE_PAGE(pBt) );
  if( rc!=SQLITE_OK ) sqlite3HpExtentForget(pBt);
  return rc;
}

#ifndef SQLITE_OMIT_WAL
/*
** The frame that ends the last transaction in the log: those behind it are of
** this one.  As walIndexHdr(), whose assert() demands that the caller catches
** the exceptions of Windows.
*/
static u32 hpWalCommitted(const Wal *pWal){
  assert( pWal->nWiData>0 && pWal->apWiData[0] );
  return ((const WalIndexHdr*)pWal->apWiData[0])->mxFrame;
}

/* The page of frame iFrame.  As walFramePgno(), whose assert() demands the
** same. */
static Pgno hpWalPgno(const Wal *pWal, u32 iFrame){
  const int iHash = walFramePage(iFrame);
  assert( iFrame>0 && iFrame<=pWal->hdr.mxFrame );
  assert( iHash<pWal->nWiData && pWal->apWiData[iHash]!=0 );
  if( iHash==0 ){
    return pWal->apWiData[0][WALINDEX_HDR_SIZE/sizeof(u32) + iFrame - 1];
  }
  return pWal->apWiData[iHash][(iFrame-1-HASHTABLE_NPAGE_ONE)%HASHTABLE_NPAGE];
}

/*
** Bit i of aSeen[] is that of page iFrom+i, one of nGrown that the transaction
** adds to the file.  Set that of page iPg; return 1 if it was not set.
*/
static u32 hpWalSee(u8 *aSeen, Pgno iFrom, u32 nGrown, Pgno iPg){
  const u32 i = iPg - iFrom;
  if( iPg<iFrom || i>=nGrown || (aSeen[i>>3] & (1<<(i&7)))!=0 ) return 0;
  aSeen[i>>3] |= 1<<(i&7);
  return 1;
}

/*
** Write the pages at aPg[0..n-1] to the log as frames of zeros.
*/
static int hpWalZeros(Pager *pPager, PgHdr *aPg, int n){
  int i;
  assert( n>0 && n<=HP_EXTENT_FRAMES );
  for(i=0; i<n; i++){
    aPg[i].pData = pPager->pTmpSpace;
    aPg[i].pDirty = i+1<n ? &aPg[i+1] : 0;
  }
  pPager->aStat[PAGER_STAT_WRITE] += n;
  return sqlite3WalFrames(pPager->pWal, (int)pPager->pageSize, aPg, 0, 0,
                          pPager->walSyncFlags);
}

/*
** Write a frame to the log for each page that the transaction adds to the file
** and that has none: neither is it in one of the transaction's frames nor is
** it dirty.  Those are reserved pages.  In every other page that is added
** something was written.
*/
static int hpWalFill(Pager *pPager){
  const Wal *pWal = pPager->pWal;
  const Pgno iFrom = pPager->dbOrigSize + 1;
  const u32 nGrown = pPager->dbSize - pPager->dbOrigSize;
  const u32 nByte = nGrown/8 + 1;
  const PgHdr *pPg;
  PgHdr aPg[HP_EXTENT_FRAMES];
  u8 aSmall[128];            /* aSeen[] of a small transaction */
  u8 *aSeen = aSmall;
  u32 nSeen, iFrame;
  Pgno iPg;
  int n = 0;
  int rc = SQLITE_OK;

  assert( pagerUseWal(pPager) && pPager->dbSize>pPager->dbOrigSize );
  if( nByte>sizeof(aSmall) ){
    aSeen = sqlite3_malloc64(nByte);
    if( aSeen==0 ) return SQLITE_NOMEM_BKPT;
  }
  memset(aSeen, 0, nByte);
  nSeen = hpWalSee(aSeen, iFrom, nGrown, pPager->lckPgno);
  for(pPg=pPager->pPCache->pDirty; pPg; pPg=pPg->pDirtyNext){
    nSeen += hpWalSee(aSeen, iFrom, nGrown, pPg->pgno);
  }
  for(iFrame=hpWalCommitted(pWal)+1; iFrame<=pWal->hdr.mxFrame; iFrame++){
    nSeen += hpWalSee(aSeen, iFrom, nGrown, hpWalPgno(pWal, iFrame));
  }
  if( nSeen<nGrown ){
    memset(aPg, 0, sizeof(aPg));
    memset(pPager->pTmpSpace, 0, pPager->pageSize);
  }
  for(iPg=iFrom; rc==SQLITE_OK && nSeen<nGrown; iPg++){
    assert( iPg<=pPager->dbSize );
    if( hpWalSee(aSeen, iFrom, nGrown, iPg) ){
      aPg[n++].pgno = iPg;
      nSeen++;
      if( n==HP_EXTENT_FRAMES || nSeen==nGrown ){
        rc = hpWalZeros(pPager, aPg, n);
        n = 0;
      }
    }
  }
  assert( rc!=SQLITE_OK || (nSeen==nGrown && n==0) );
  if( aSeen!=aSmall ) sqlite3_free(aSeen);
  return rc;
}
#endif

/*
** The transaction is about to be committed.
*/
SQLITE_PRIVATE int sqlite3HpExtentCommit(BtShared *pBt){
  HpExtents *p = pBt->pHpExtents;
  int rc = SQLITE_OK;
  assert( sqlite3_mutex_held(pBt->mutex) );
  assert( pBt->inTransaction==TRANS_WRITE );
  if( p==0 ) return SQLITE_OK;
#ifndef SQLITE_OMIT_AUTOVACUUM
  /* auto_vacuum=FULL empties the free list without asking for its pages */
  if( pBt->bDoTruncate ) sqlite3HpExtentForget(pBt);
#endif
#ifndef SQLITE_OMIT_WAL
  if( pagerUseWal(pBt->pPager) && pBt->pPager->dbSize>pBt->pPager->dbOrigSize ){
    rc = hpWalFill(pBt->pPager);
  }
#endif
  /* The commit counts the data version up */
  if( p->iVersion==pBt->pPager->iDataVersion ) p->iVersion++;
  return rc;
}

#endif /* SQLITE_OMIT_HP */
