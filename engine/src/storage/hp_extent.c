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
**    hpExtentDefrag()         where hp_defrag.c keeps what it knows of the file
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
** Alone.  While all that the file grows by is one b-tree's, the next page of
** the file is the right one, and nothing is reserved.  A b-tree grows alone if
** it got the page that is the last of the file now (HpExtents.iTailRoot).  That
** is not known of one that has just been opened.
**
** How much.  A b-tree of fewer than HP_EXTENT_MIN pages reserves nothing.  A
** larger one reserves a HP_EXTENT_SHARE-th of what it has of leaves and
** overflow pages, at most HP_EXTENT_BYTES.  So a file is at most a sixteenth
** larger for it, on average half of that, and a large one much less, while a
** scan of n pages meets few gaps: about 16*ln(n/32) extents, later one a
** megabyte.  The size of a b-tree is an estimate (hp_treesize.c).  Interior
** pages get a HP_EXTENT_SHARE-th of what leaves get.
**
** WAL.  Before a commit each page that the transaction reserved at the end of
** the file and did not use is written to the log, as zeros (hp_walfill.c).
**
** The free list itself, trunk by trunk, is read and changed in hp_trunk.c.
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

#define HP_EXTENT_SHARE   16      /* It reserves 1/16 of its size, ... */
#define HP_EXTENT_BYTES   (1024*1024)  /* ... at most so many bytes */
#define HP_EXTENT_SMALL   64      /* Small b-trees that are remembered */
#define HP_EXTENT_RUN     4       /* Shortest run of free pages that is used */
#define HP_EXTENT_WALK    1024    /* Trunks in which marks are looked for, */
#define HP_EXTENT_PLAIN   2       /* and how many of them without one */

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
  struct HpDefrag *pDefrag;  /* What hp_defrag.c keeps, or NULL */
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
    if( iFirst==PENDING_BYTE_PAGE(pBt) || hpPageIsPtrmap(pBt, iFirst) ){
      return 0;
    }
  }
  return 1;
}
#endif

/* Pages of run p that are leaves of its trunk */
static u32 hpExtentLeaves(const HpExtent *p){
  return p->iEnd - p->iNext + (p->iEnd!=p->iTrunk);
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
    sqlite3_free(pBt->pHpExtents->pDefrag);
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
static u32 hpExtentOfTrunk(const HpExtents *p, Pgno iTrunk){
  u32 n = 0;
  int i;
  for(i=0; i<p->nExtent; i++){
    if( p->aExtent[i].iTrunk==iTrunk ) n += hpExtentLeaves(&p->aExtent[i]);
  }
  return n;
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
** Where hp_defrag.c keeps what it knows of the file between two slices, one
** allocation; or NULL if there is no memory.
*/
static HpDefrag **hpExtentDefrag(BtShared *pBt){
  HpExtents *p = hpExtents(pBt);
  assert( sqlite3_mutex_held(pBt->mutex) );
  return p ? &p->pDefrag : 0;
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
    rc = k==0 ? HP_DECLINE : hpTrunkLeaf(pBt, pTrunk, n, k-1, ppPage, pPgno);
    if( rc==SQLITE_OK && pE->iNext++==pE->iEnd ) hpExtentRemove(p, i);
  }
  releasePage(pTrunk);
  return rc;
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
  hpPageSort(a, k);
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
    const u32 nReserved = hpExtentOfTrunk(p, iTrunk);
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
                    : hpTrunkLeaf(pBt, pTrunk, n, iBest, ppPage, pPgno);
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
