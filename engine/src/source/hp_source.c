/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_source: the leaf pages of a b-tree, in key order, in runs.
**
**    hpSourceOpen()     find the way down to the leaves
**    hpSourceRunInit()        memory for a worker's runs
**    hpSourceNext()     read the next run of leaves into a worker's memory
**    hpSourceUnmended() read the leaves that were not to be read (HpRun.pMend)
**    hpSourceParallel() may several workers call that?
**    hpSourceColumns()  may runs be in memory as columns?
**    hpSourceRuns()     how many runs there have been
**    hpSourceChained()  so many overflow pages were read of rows
**    hpSourceWays()     the ways from the root to all runs
**    hpSourceClose()    let go of the interior pages
**    hpSourceIsLarge()  is the b-tree worth the trouble? (any time)
**    hpSourcePlanSize()     about how many leaves, and rows, are read?
**    hpSourceRangeIsLarge()  the same for a part of it
**    hpSourceRangeSkips(), hpSourceRangeWas()   is it not to be asked this time?
**    hpSourceRangeSeemsLarge()  a guess, before there is a transaction
**    hpSourceSearchSize(), hpSourceSearchMayBeLarge()  of an index by which rows are looked up:
**                       about how many are there, and how far from each other?
**    hpSourceCountIsLarge()  are its entries counted faster here?
**    hpSourceIsShort()  is there so little that stock's sorter is as good?
**    hpSourceRows()     about how many rows there are
**
** A b-tree lists its leaves in its lowest interior pages, so the page
** numbers of the next hundreds of leaves are known before any is read.  A
** run is up to HP_RUN_BYTES of leaves that stand under one such interior
** page; it is the unit of work.  Leaves are always copied into a buffer of
** our own, which stays in the processor's second-level cache, and are
** consumed before the next run overwrites them.
**
** A worker takes the page numbers of the next run with the scan's mutex held,
** since interior pages come from the pager.  It then reads the leaves without
** the mutex if they come straight from the file.
**
** Interior pages come from the pager.  For leaves there are three ways:
**
**    1. Straight from the file, adjacent leaves in one xRead.  Only through
**       the connection's own file handle, only with the built-in unix VFS
**       (another VFS may want to see single pages, and so may a page cache of
**       the application, SQLITE_CONFIG_PCACHE2).  While this page cache holds
**       dirty pages each leaf is first looked up there: what has been evicted
**       is in the file.  The transaction that OP_Transaction began keeps other
**       processes from changing it.
**    2. The same in WAL mode, where each leaf is first looked up in the
**       wal-index under the read mark that the transaction holds.
**    3. Page by page through the pager: any VFS, in-memory and temporary
**       databases.
**
** In the b-tree of an index, and of a WITHOUT ROWID table, each cell of an
** interior page is an entry itself, between the leaves of the child before it
** and those of the child after it.  With each leaf of a run comes the entry
** that follows its last one, if that is such a cell: from the page above, or,
** after the last leaf under that, from the first page further up that has
** more children.
**
**                 [  d  |  g  ]            leaves:     entry after the leaf:
**                /      |      \           a b         c
**          [ c ]      [ f ]    [ j ]       -           d
**          /   \      /   \    /   \       e           f
**       a b     -    e     -  h i   k      ...
**
** Leaves whose columns are in memory (hp_columns.c) are not read: HpRun.pKept; or only those of a
** run that have changed: HpRun.pMend.  Of the former a worker takes several runs at a time
** (hpColumnScanNext()), and goes on with them without the mutex.  Wherever a
** scan begins and ends, it cuts the leaves under an interior page at the same
** places into units, so that it finds what another has kept.
**
** Bounds of the keys (HpRange) are turned into bounds of the tree: two
** descents find the child numbers, one a level, of the first and of the last
** leaf that can hold a key in range.  The scan goes from one to the other.
** The filters of the query hold the exact bounds.  That is what SQLite gives if
** keys are in order: it finds the first one and reads on as far as the first
** that is beyond.  So of a range of rowids the scan sees to it that they are
** (HpRun.iLow, aHigh), and one leaf more is read, as SQLite may.
**
** What a read costs tells whether the file is in the operating system's cache.
** If it was slow the operating system is asked for the leaves of the
** next runs (hp_ahead.c), until it turns out that it has them; with what lies
** between, where that is the overflow pages of their rows.  Where many
** leaves are adjacent it reads ahead by itself, in larger pieces of memory:
** asking for 84,000 adjacent leaves took 0.2 s more than leaving them to it.
** So that the end of an interior page stops nothing, what is ahead has a way of
** its own from the root to a leaf (HpSource.aAhead).
**
** A part of the leaves (HpPart) begins after a leaf that a cursor stands on, whose
** way through the tree it takes over.
**
** Where it is known which rowids are wanted (HpQuery.pWanted), and they are fewer than
** half of the leaves, children are left out that hold none of them, by the separators
** on both sides.  A table is then read as by a search for each of the rowids in order,
** each page once.  Unless these are very few, columns in memory are better, and are kept
** if the same is asked again.
**
** A scan that calls application code (HpPipePlan.bUser) keeps copies of the interior
** pages and no references: that code may write to the table, and SQLite takes
** a page that is referenced twice while it balances the tree for corrupt.
**
** A tree that is not what it should be (leaves at different depths, a page
** number out of range, an empty page) is declined: stock's code then says
** what it always said about it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Most bytes that the unix VFS expects to be asked for at once */
#define HP_READ_BYTES 0x1ffff

/* A run was not in the operating system's cache if reading it took longer, in
** nanoseconds a request and a page.  What is cached takes a fifth at most. */
#define HP_COLD_NS       5000
#define HP_COLD_PAGE_NS  3000

#define HP_AHEAD_LEAVES   512  /* Most leaves asked for ahead */

/* After so many leaves in the order of the file the next ones are left to the
** operating system */
#define HP_AHEAD_IN_ORDER 256

/* If so many leaves hold one row that is wanted all of them may be kept as columns */
#define HP_MX_PASSED 4

/* Most leaves a run of a table that is small */
#define HP_SMALL_RUN 12

/* In HpRun.aFrame: the leaf is in memory already */
#define HP_FRAME_HERE 0xffffffff

struct HpSource {
  BtShared *pBt;         /* The b-tree's file */
  Pager *pPager;         /* Its pager */
  int szPage;            /* Bytes a page */
  u8 bDirect;            /* Way 1 or 2; otherwise way 3 */
  u8 bWal;               /* Some leaves may be in the WAL */
  u8 bDirty;             /* bDirect: some may be newer in the page cache */
  u8 bRootLeaf;          /* The root is the only leaf.  2: it has been read */
  u8 bIndex;             /* The b-tree of an index */
  u8 bCached;            /* Only look at pages in the cache */
  u8 bKept;              /* Columns of the run before were in memory, or of most of its leaves */
  HpColumnScan *pColumns;  /* Columns in memory, or NULL: only leaves */
  HpArena *pCopy;        /* Memory for copies of interior pages, or NULL */
  u8 bOrder;             /* Rowids are to be in order */
  u8 bWay;               /* Keep the ways to all runs: */
  u16 *aWay;             /* the number of a child for each level and run */
  i64 nWayAlloc;         /* Entries allocated */
  int nLevel;            /* Interior levels */
  i64 nLeaf;             /* About so many leaves in all */
  int nUnit;             /* Leaves under one page are cut into runs of so many */
  int nMax;              /* Most leaves a run, if they are read: its memory */
  HpPart *pPart;         /* Only these leaves, or NULL: all */
  int iThin, nThin;      /* A sample: after a leaf go on by so many at this level */
  const HpRel *pWanted;  /* Rowids wanted, or NULL: all.  See HpQuery.xWanted */
  int (*xWanted)(const HpRel*, i64, i64);
  i64 iPassed;           /* Leaves up to this rowid have been passed */
  int rc;                /* Taking a run failed: there are no more */
  u32 iSeq;              /* Number of the next run */
  Pgno iRoot;            /* Root page */
  i64 nTaken;            /* Leaves taken so far, */
  i64 nChain;            /* and overflow pages read of their rows */
  int bCold;             /* Ask for leaves ahead.  Atomic */
  i64 nAsked;            /* Leaves before this one have been asked for */
  Pgno iLast;            /* The leaf taken last, */
  int nInOrder;          /* and how many before it were in the file's order */
  Pgno iLastAsked;       /* The same of the leaf before nAsked */
  int nAskedInOrder;
  struct HpLevel *aAhead;  /* The way to the next one, or NULL: never ask */
  struct HpLevel {       /* The way from the root to the current leaves */
    Pgno iPg;              /* Interior page, or 0 */
    DbPage *pDb;           /* It is referenced, or ... */
    u8 *aCopy;             /* ... copied to here, or ... */
    const HpColumnInner *pKnown;  /* ... has not been read: hpSourceKnown() */
    HpInner in;            /* What it holds */
    int iChild;            /* Next child to visit */
    int iLast;             /* Last child to visit */
    u8 bEnd;               /* It stands on the way to the last leaf */
  } aLevel[BTCURSOR_MAX_DEPTH];
  int nEnd;              /* Entries of aEnd.  0: the scan ends with the tree */
  int aEnd[BTCURSOR_MAX_DEPTH];  /* Children on the way to the last leaf */
};

/*
** Give an interior page back.  One that was only looked for in the cache,
** without a transaction, may be the only page in use, which
** sqlite3PagerUnrefNotNull() does not allow.
*/
static void hpSourceUnref(DbPage *pDb){
  assert( pDb->nRef>0 );
  if( pDb->flags & PGHDR_MMAP ){
    sqlite3PagerUnrefNotNull(pDb);
  }else{
    sqlite3PcacheRelease(pDb);
  }
}

/*
** Fetch page iPg, which must be an interior page of the b-tree, into *pLevel,
** which is zero or was released.  If it is a leaf instead set pLevel->iPg to 0
** and return SQLITE_OK.
*/
static int hpSourceLevel(HpSource *pSrc, Pgno iPg, struct HpLevel *pLevel){
  int eType = pSrc->bIndex ? PTF_ZERODATA : PTF_INTKEY|PTF_LEAFDATA;
  int rc;
  DbPage *pDb;
  u8 *aCopy = pLevel->aCopy;
  memset(pLevel, 0, sizeof(*pLevel));
  pLevel->aCopy = aCopy;
  if( iPg<1 || iPg>btreePagecount(pSrc->pBt) ) return HP_DECLINE;
  if( pSrc->bCached ){
    pDb = sqlite3PagerLookup(pSrc->pPager, iPg);
    /* What is not there is most often a leaf */
    if( pDb==0 ) return iPg==pSrc->iRoot ? HP_DECLINE : SQLITE_OK;
    rc = SQLITE_OK;
  }else{
    rc = sqlite3PagerGet(pSrc->pPager, iPg, &pDb, PAGER_GET_READONLY);
  }
  if( rc ) return rc;
  switch( hpPageInner(&pLevel->in, pSrc->pBt, sqlite3PagerGetData(pDb), iPg)
          ^ eType ){
    case 0:
      break;
    case PTF_LEAF:
      hpSourceUnref(pDb);
      return SQLITE_OK;
    default:
      hpSourceUnref(pDb);
      return HP_DECLINE;
  }
  assert( pLevel->in.nCell>0 );
  pLevel->iLast = pLevel->in.nCell;
  pLevel->iPg = iPg;
  if( pSrc->pCopy==0 ){
    pLevel->pDb = pDb;
    return SQLITE_OK;
  }
  if( aCopy==0 ) aCopy = hpArenaAlloc(pSrc->pCopy, pSrc->szPage + HP_SLACK);
  if( aCopy ){
    memcpy(aCopy, sqlite3PagerGetData(pDb), pSrc->szPage);
    memset(&aCopy[pSrc->szPage], 0, HP_SLACK);
    hpPageInner(&pLevel->in, pSrc->pBt, aCopy, iPg);
  }else{
    rc = HP_DECLINE;
  }
  pLevel->aCopy = aCopy;
  hpSourceUnref(pDb);
  return rc;
}

/*
** Release the interior pages of aLevel[] from level i downwards.
*/
static void hpSourceRelease(struct HpLevel *aLevel, int i){
  assert( i>=0 && i<BTCURSOR_MAX_DEPTH );
  for(; i<BTCURSOR_MAX_DEPTH && aLevel[i].iPg; i++){
    if( aLevel[i].pDb ) hpSourceUnref(aLevel[i].pDb);
    aLevel[i].pDb = 0;
    aLevel[i].pKnown = 0;
    aLevel[i].iPg = 0;
  }
}

/*
** The first child of interior page *p that can hold keys not less than *pKey;
** if bUpper, the last one that can hold keys not greater.  With pKey->bNull
** keys equal to *pKey do not count.  -1: declined.
**
** The cells looked at are those that SQLite looks at: should they not be in
** order the way to the first key is the same.
*/
static int hpSourceSearch(
  const HpSource *pSrc,
  const struct HpLevel *p,
  HpBoundKey *pKey,
  int bUpper
){
  const u8 *aEnd = p->in.aEnd;
  int i = 0;             /* Separators before i are too small, */
  int n = p->in.nCell;   /* that at n, if any, is not */
  assert( p->iPg!=0 && pKey->bOn );
  assert( (pKey->rec.pKeyInfo!=0)==pSrc->bIndex );
  while( i<n ){
    int iMid = (i+n-1)/2;
    int c;
    const u8 *z = hpPageCell(&p->in, iMid);
    if( z==0 || hpBoundsCompare(pKey, pSrc->pBt, &z[4], aEnd, &c) ) return -1;
    /* Of a table the separator is the largest key of its child */
    if( c<0 || (c==0 && pSrc->bIndex && bUpper!=pKey->bNull) ){
      i = iMid+1;
    }else{
      n = iMid;
    }
  }
  return i;
}

/*
** Set *piRowid to the largest rowid that child iChild of an interior page has.  Returns
** false if there is no separator to say so.
*/
static int hpSourceLargest(const struct HpLevel *p, int iChild, i64 *piRowid){
  const u8 *z = iChild<p->in.nCell ? hpPageCell(&p->in, iChild) : 0;
  return z!=0 && &z[4+sqlite3GetVarint(&z[4], (u64*)piRowid)]<=p->in.aEnd;
}

/*
** Do the separators of the interior page at level i of aLevel[] increase, and lie
** between those on both sides of it further up?  Then a search for a rowid on one of its
** leaves gets there.
*/
static int hpSourceIsOrdered(const struct HpLevel *aLevel, int i){
  const struct HpLevel *p = &aLevel[i];
  i64 iLow = 0, iRowid;
  int bLow = 0;
  int k;
  for(k=i-1; k>=0 && bLow==0; k--){
    int iCell = aLevel[k].iChild-2;
    bLow = iCell>=0 && hpSourceLargest(&aLevel[k], iCell, &iLow);
  }
  for(k=0; k<p->in.nCell; k++){
    if( !hpSourceLargest(p, k, &iRowid) || (bLow && iRowid<=iLow) ) return 0;
    iLow = iRowid;
    bLow = 1;
  }
  for(k=i-1; k>=0; k--){
    if( hpSourceLargest(&aLevel[k], aLevel[k].iChild-1, &iRowid) ) return iLow<iRowid;
  }
  return 1;
}

/*
** Fetch the interior page at level i of aLevel[], which is page iPg, and note
** where in it the scan ends.
*/
static int hpSourceDown(
  HpSource *pSrc,
  struct HpLevel *aLevel,
  int i,
  Pgno iPg
){
  struct HpLevel *p = &aLevel[i];
  int rc = hpSourceLevel(pSrc, iPg, p);
  assert( i>=0 && i<BTCURSOR_MAX_DEPTH && pSrc->nEnd<BTCURSOR_MAX_DEPTH );
  if( rc==SQLITE_OK && p->iPg && pSrc->pPart && pSrc->pPart->bSearch
   && !hpSourceIsOrdered(aLevel, i)
  ){
    return HP_DECLINE;
  }
  if( rc==SQLITE_OK && p->iPg && i<pSrc->nEnd
   && (i==0 || (p[-1].bEnd && p[-1].iChild==p[-1].iLast+1))
  ){
    if( pSrc->aEnd[i]>p->in.nCell ) return HP_DECLINE;
    p->bEnd = 1;
    p->iLast = pSrc->aEnd[i];
  }
  return rc;
}

/*
** Find the last leaf of the scan: fill in pSrc->aEnd.  Of a table that is one
** more, which SQLite looks at if nothing on the leaf before is beyond the bound.
*/
static int hpSourceEnd(HpSource *pSrc, HpBoundKey *pKey){
  Pgno iPg = pSrc->iRoot;
  struct HpLevel aLevel[1];
  int nCell = 0;         /* Of the page above */
  int i;
  assert( pKey->bOn && pSrc->nEnd==0 );
  memset(aLevel, 0, sizeof(aLevel));
  for(i=0; i<BTCURSOR_MAX_DEPTH-1; i++){
    int rc = hpSourceLevel(pSrc, iPg, aLevel);
    if( rc ) return rc;
    if( aLevel[0].iPg==0 ){
      pSrc->nEnd = i;
      if( i>0 && pSrc->bIndex==0 && pSrc->aEnd[i-1]<nCell ) pSrc->aEnd[i-1]++;
      return SQLITE_OK;
    }
    nCell = aLevel[0].in.nCell;
    pSrc->aEnd[i] = hpSourceSearch(pSrc, aLevel, pKey, 1);
    if( pSrc->aEnd[i]>=0 ) iPg = hpPageChild(&aLevel[0].in, pSrc->aEnd[i]);
    if( aLevel[0].pDb ) hpSourceUnref(aLevel[0].pDb);
    if( pSrc->aEnd[i]<0 ) return HP_DECLINE;
  }
  return HP_DECLINE;
}

/*
** Go down to the first leaf of the scan; of a part of one, to the leaf before.
*/
static int hpSourceBegin(HpSource *pSrc, HpBoundKey *pKey){
  const HpPart *pPart = pSrc->pPart;
  Pgno iPg = pSrc->iRoot;
  int i;
  for(i=0; i<BTCURSOR_MAX_DEPTH-1; i++){
    struct HpLevel *p = &pSrc->aLevel[i];
    int rc = hpSourceDown(pSrc, pSrc->aLevel, i, iPg);
    int iFirst = 0;
    if( rc ) return rc;
    if( p->iPg==0 ){
      if( pSrc->nEnd && pSrc->nEnd!=i ) return HP_DECLINE;
      if( pPart && pPart->nLevel!=i ) return HP_DECLINE;
      pSrc->nLevel = i;
      if( i && pPart==0 ) p[-1].iChild--;
      return SQLITE_OK;
    }
    if( pKey ) iFirst = hpSourceSearch(pSrc, p, pKey, 0);
    if( pPart ) iFirst = i<pPart->nLevel ? pPart->aChild[i] : -1;
    /* No key is in range: stock finds that out as fast */
    if( iFirst<0 || iFirst>p->iLast ) return HP_DECLINE;
    assert( p->iLast<=p->in.nCell );
    p->iChild = iFirst+1;
    iPg = hpPageChild(&p->in, iFirst);
  }
  return HP_DECLINE;
}

/*
** About how many leaves are there from the first to the last?  Exact if there
** are few of them.
*/
static i64 hpSourceLeaves(const HpSource *pSrc){
  i64 n = 1;             /* Leaves in a child of the level */
  i64 nLeaf = 1;
  int i;
  for(i=pSrc->nLevel-1; i>=0; i--){
    const struct HpLevel *p = &pSrc->aLevel[i];
    int iFirst = i==pSrc->nLevel-1 ? p->iChild : p->iChild-1;
    if( p->bEnd ){
      /* Above: from the first leaf to the end of the child, and back */
      nLeaf += (p->iLast-iFirst)*n;
    }else{
      nLeaf += (p->in.nCell-iFirst)*n;
      if( i<pSrc->nEnd ) nLeaf += (pSrc->aEnd[i]-p->in.nCell)*n;
    }
    n *= p->in.nCell+1;
  }
  return nLeaf;
}

/*
** Set up *pSrc for the b-tree at page iRoot and find the first and last leaf
** in pRange, which may be NULL.  aMem[] holds its constants.  A read
** transaction is open.  The interior pages are to be released even on error.
*/
static int hpSourceInit(
  HpSource *pSrc,
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  HpArena *pCopy,        /* Copy interior pages to here, if not NULL */
  HpPart *pPart          /* Only these leaves, or NULL */
){
  Btree *pBtree = db->aDb[pPlan->iDb].pBt;
  const HpRange *pRange = pPlan->pRange;
  HpBoundKey key;
  int rc = SQLITE_OK;
  memset(pSrc, 0, sizeof(*pSrc));
  if( pBtree==0 || (db->flags & SQLITE_CellSizeCk)!=0 ) return HP_DECLINE;
  assert( sqlite3BtreeHoldsMutex(pBtree) );
  assert( pPlan->bCached || sqlite3BtreeTxnState(pBtree)!=SQLITE_TXN_NONE );
  pSrc->pBt = pBtree->pBt;
  pSrc->pPager = pSrc->pBt->pPager;
  pSrc->szPage = (int)pSrc->pBt->pageSize;
  pSrc->iRoot = pPlan->iRoot;
  pSrc->bIndex = pPlan->bIndex;
  pSrc->bCached = pPlan->bCached;
  pSrc->pCopy = pCopy;
  pSrc->pPart = pPart;
  assert( pPart==0 || pRange==0 );
  if( pSrc->bIndex && pSrc->iRoot==1 ) return HP_DECLINE;
  if( pRange==0 ){
    rc = hpSourceBegin(pSrc, 0);
  }else{
    rc = hpBoundsKey(db, pRange, aMem, 1, &key);
    if( rc==SQLITE_OK && key.bOn ) rc = hpSourceEnd(pSrc, &key);
    hpBoundsClear(&key);
    if( rc==SQLITE_OK ){
      rc = hpBoundsKey(db, pRange, aMem, 0, &key);
      if( rc==SQLITE_OK ) rc = hpSourceBegin(pSrc, key.bOn ? &key : 0);
      hpBoundsClear(&key);
    }
  }
  if( rc==SQLITE_OK ) pSrc->nLeaf = hpSourceLeaves(pSrc);
  if( pPart ) pSrc->nLeaf = MIN(pSrc->nLeaf, pPart->nLeaf);
  return rc;
}

#ifdef SQLITE_DEBUG
static int hpSourceIsSane(const HpSource*);
#endif

/*
** Read only about nSample leaves, evenly spread: the first one of every so many
** pages of the highest level that has enough of them.
*/
static void hpSourceThin(HpSource *pSrc, int nSample){
  i64 n = 1;
  int i = 0;
  if( pSrc->nLevel==0 ) return;
  while( 1 ){
    const struct HpLevel *p = &pSrc->aLevel[i];
    n *= i==0 ? p->iLast-p->iChild+1 : p->in.nCell+1;
    if( n>=nSample || i==pSrc->nLevel-1 ) break;
    i++;
  }
  pSrc->iThin = i;
  pSrc->nThin = (int)MAX(1, n/nSample);
  pSrc->nMax = 1;
}

/* Read only the first nLeaf leaves, or those of one page above if it has fewer */
static void hpSourceFirst(HpSource *pSrc, int nLeaf){
  int i;
  for(i=0; i<pSrc->nLevel; i++){
    struct HpLevel *p = &pSrc->aLevel[i];
    int n = i==pSrc->nLevel-1 ? nLeaf : 0;
    p->iLast = MIN(p->iLast, p->iChild+n-1);
  }
}

/* The next leaf of a sample.  Children that a level does not have are left out */
static void hpSourceThinNext(HpSource *pSrc){
  struct HpLevel *pLevel = &pSrc->aLevel[pSrc->iThin];
  int i;
  for(i=pSrc->iThin+1; i<pSrc->nLevel; i++){
    pSrc->aLevel[i].iChild = pSrc->aLevel[i].iLast+1;
  }
  pLevel->iChild = MIN(pLevel->iChild+pSrc->nThin-1, pLevel->iLast+1);
}

/*
** Open the b-tree of the pipe for reading.  A read transaction is open.
** p->pSource is to be closed with hpSourceClose(), even on error.
*/
static int hpSourceOpen(HpQuery *p, Mem *aMem){
  HpSource *pSrc;
  int rc;

  assert( p->pSource==0 && p->pPipe->source.bCached==0 );
  assert( p->nWorker==0 || p->pPipe->bAdds );
  pSrc = hpArenaAlloc(&p->arena, sizeof(*pSrc));
  if( pSrc==0 ) return HP_DECLINE;
  p->pSource = pSrc;
  rc = hpSourceInit(pSrc, p->db, &p->pPipe->source, aMem,
                    p->pPipe->bUser ? &p->arena : 0, p->pPart);
  if( rc ) return rc;
  if( pSrc->nLevel==0 ){
    pSrc->bRootLeaf = 1;
    pSrc->nUnit = pSrc->nMax = 1;
  }else{
    pSrc->nUnit = MAX(1, HP_RUN_BYTES/pSrc->szPage);
    if( p->pCfg->nRun ) pSrc->nUnit = MIN(pSrc->nUnit, p->pCfg->nRun);
    if( pSrc->nLevel==1 && pSrc->aLevel[0].in.nCell<HP_MIN_PARALLEL ){
      pSrc->nUnit = MIN(pSrc->nUnit, HP_SMALL_RUN);
    }
    pSrc->nMax = pSrc->nUnit;
    if( pSrc->nLevel==1 || pSrc->pPart ){
      pSrc->nMax = (int)MAX(1, MIN(pSrc->nMax, pSrc->nLeaf));
    }
    /* Where little is read, fresh memory costs more than requests */
    if( pSrc->nLeaf<HP_MIN_PARALLEL ){
      pSrc->nMax = MIN(pSrc->nMax, HP_SMALL_RUN);
    }
    if( pSrc->pPart==0 && p->pPipe->source.pRange==0 ) pSrc->nUnit = pSrc->nMax;
  }
  if( p->nSample && p->bFirst ){
    hpSourceFirst(pSrc, p->nSample);
  }else if( p->nSample ){
    hpSourceThin(pSrc, p->nSample);
  }
  if( p->pWanted && (p->nWanted<pSrc->nLeaf/2 || p->pCfg->bStash) ){
    assert( pSrc->bIndex==0 && p->pPipe->source.pRange==0 );
    pSrc->pWanted = p->pWanted;
    pSrc->xWanted = p->xWanted;
    pSrc->iPassed = SMALLEST_INT64;
  }
  pSrc->bOrder = (p->pPipe->source.pRange!=0 || p->pPipe->source.bOrder)
              && pSrc->bIndex==0 && p->pPipe->source.bRowid;
  pSrc->bWay = p->pPipe->source.bPlaces;
  pSrc->iSeq = p->iRun;
  pSrc->bDirect = hpPageFile(p->pCfg, pSrc->pPager);
  pSrc->bDirty = pSrc->pPager->pPCache->pDirty!=0;
#ifndef SQLITE_OMIT_WAL
  pSrc->bWal = pSrc->bDirect && pagerUseWal(pSrc->pPager);
#endif
  if( pSrc->bDirect && pSrc->nLevel>0 && pSrc->pWanted==0
   && hpAheadOn(p->db, pSrc->pBt)
  ){
    pSrc->aAhead = hpArenaAlloc(&p->arena, sizeof(pSrc->aLevel));
    if( pSrc->aAhead==0 ) return HP_DECLINE;
    memset(pSrc->aAhead, 0, sizeof(pSrc->aLevel));
  }
  if( pSrc->bDirect && pSrc->nLevel>0 && pSrc->bOrder==(p->pPipe->source.pRange!=0)
   && (pSrc->pWanted==0 || p->nWanted>=pSrc->nLeaf/HP_MX_PASSED || p->pCfg->eColumns)
  ){
    pSrc->pColumns = hpColumnScanOpen(p, pSrc->pPager, pSrc->pWanted!=0);
    if( pSrc->pColumns ) pSrc->pWanted = 0;
  }
  assert( hpSourceIsSane(pSrc) );
  return SQLITE_OK;
}

#ifdef HP_SHARED
/* The columns in memory that the scan may use, or NULL */
static HpColumnScan *hpSourceColumns(const HpSource *pSrc){ return pSrc->pColumns; }
#endif

/*
** Number of the next run.
*/
static u32 hpSourceRuns(const HpSource *pSrc){ return pSrc->iSeq; }

/*
** True if several workers may take runs: reading goes around the pager, and
** the scan is large enough or bAny is set.
*/
static int hpSourceParallel(const HpSource *pSrc, int bAny){
  if( pSrc->bDirect==0 || pSrc->nLevel==0 ) return 0;
  return bAny || pSrc->nLeaf>=HP_MIN_PARALLEL;
}

/* Most bytes of an entry on an interior page that are kept */
static int hpSepBytes(const HpSource *pSrc){
  assert( pSrc->bIndex );
  return ROUND8(pSrc->pBt->maxLocal + 4);
}

/*
** Allocate the memory that p->run is read into: szPage bytes of each page.
*/
static int hpSourceRunInit(HpWorker *p, int szPage){
  const HpSource *pSrc = p->pQuery->pSource;
  HpRun *pRun = &p->run;
  i64 nByte;
  assert( pRun->aBuf==0 && pSrc->nMax>=1 );
  pRun->szPage = szPage;
  nByte = (i64)pSrc->nMax*pRun->szPage;
  pRun->aLeaf = hpArenaAlloc(&p->vec, sizeof(Pgno)*pSrc->nUnit);
  pRun->aFrame = hpArenaAlloc(&p->vec, sizeof(u32)*pSrc->nMax);
  pRun->aBuf = hpArenaAlloc(&p->vec, nByte + HP_SLACK);
  if( pRun->aLeaf==0 || pRun->aFrame==0 || pRun->aBuf==0 ) return HP_DECLINE;
  memset(pRun->aFrame, 0, sizeof(u32)*pSrc->nMax);
  memset(&pRun->aBuf[nByte], 0, HP_SLACK);
  if( pSrc->aAhead ){
    pRun->aAhead = hpArenaAlloc(&p->vec, sizeof(Pgno)*(HP_AHEAD_LEAVES+2));
    pRun->aAheadFrame = hpArenaAlloc(&p->vec, sizeof(u32)*(HP_AHEAD_LEAVES+2));
    if( pRun->aAhead==0 || pRun->aAheadFrame==0 ) return HP_DECLINE;
  }
  if( pSrc->pColumns ){
    pRun->aChanged = hpArenaAlloc(&p->vec, pSrc->nUnit);
    if( pRun->aChanged==0 ) return HP_DECLINE;
  }
  if( pSrc->bOrder ){
    pRun->aHigh = hpArenaAlloc(&p->vec, sizeof(i64)*pSrc->nUnit);
    if( pRun->aHigh==0 ) return HP_DECLINE;
  }
  if( pSrc->bIndex ){
    nByte = (i64)pSrc->nUnit*hpSepBytes(pSrc);
    pRun->aSep = hpArenaAlloc(&p->vec, sizeof(HpRecord)*pSrc->nUnit);
    pRun->aSepBuf = hpArenaAlloc(&p->vec, nByte + HP_SLACK);
    if( pRun->aSep==0 || pRun->aSepBuf==0 ) return HP_DECLINE;
    memset(pRun->aSepBuf, 0, nByte + HP_SLACK);
  }
  return SQLITE_OK;
}

/*
** Go on from the next child of pLevel to the first one that may have rows that are
** wanted.  A separator that is not greater than the one before says nothing.
*/
static void hpSourceSkip(HpSource *pSrc, struct HpLevel *p){
  i64 iLow, iHigh;
  if( pSrc->pWanted==0 ) return;
  if( p->iChild>0 && hpSourceLargest(p, p->iChild-1, &iLow) ) pSrc->iPassed = iLow;
  while( p->iChild<=p->iLast && hpSourceLargest(p, p->iChild, &iHigh) ){
    iLow = pSrc->iPassed;
    if( iHigh<=iLow || pSrc->xWanted(pSrc->pWanted, iLow, iHigh) ) return;
    pSrc->iPassed = iHigh;
    p->iChild++;
  }
}

/*
** The scan is about to go down to page iPg, above leaves.  If what is known of it is enough to take
** their columns from memory do not read it, and return true.
*/
static int hpSourceKnown(HpSource *pSrc, Pgno iPg){
  struct HpLevel *p = &pSrc->aLevel[pSrc->nLevel-1];
  const HpColumnInner *pKnown;
  if( pSrc->pColumns==0 || pSrc->bIndex || pSrc->nEnd>0 || pSrc->bOrder ) return 0;
  if( pSrc->pPart && pSrc->pPart->bSearch ) return 0;
  if( pSrc->aAhead && AtomicLoad(&pSrc->bCold) ) return 0;
  pKnown = hpColumnsInner(pSrc->pColumns, iPg, pSrc->nUnit);
  if( pKnown==0 ) return 0;
  assert( p->iPg==0 && pSrc->nThin==0 );
  memset(p, 0, sizeof(*p));
  p->iPg = iPg;
  p->pKnown = pKnown;
  p->in.nCell = p->iLast = pKnown->nCell;
  return 1;
}

/* The lowest page is needed after all */
static int hpSourceFetch(HpSource *pSrc){
  struct HpLevel *p = &pSrc->aLevel[pSrc->nLevel-1];
  int iChild = p->iChild;
  int nCell = p->in.nCell;
  int rc;
  if( p->pKnown==0 ) return SQLITE_OK;
  rc = hpSourceLevel(pSrc, p->iPg, p);
  if( rc==SQLITE_OK && (p->iPg==0 || p->in.nCell!=nCell) ){
    hpColumnScanDistrust(pSrc->pColumns);
    rc = HP_DECLINE;
  }
  p->iChild = iChild;
  return rc;
}

/*
** Make the lowest level of aLevel[] an interior page with children not yet
** visited.  Set *pbEnd if there is none.
*/
static int hpSourceAdvance(HpSource *pSrc, struct HpLevel *aLevel, int *pbEnd){
  int i = pSrc->nLevel-1;
  assert( i>=0 && aLevel[0].iPg!=0 );
  *pbEnd = 0;
  while( 1 ){
    struct HpLevel *pLevel = &aLevel[i];
    Pgno iPg;
    int rc;
    if( aLevel==pSrc->aLevel ) hpSourceSkip(pSrc, pLevel);
    if( pLevel->iChild>pLevel->iLast ){
      if( i==0 ){
        *pbEnd = 1;
        return SQLITE_OK;
      }
      hpSourceRelease(aLevel, i);
      i--;
      continue;
    }
    if( i==pSrc->nLevel-1 ) return SQLITE_OK;
    iPg = hpPageChild(&pLevel->in, pLevel->iChild++);
    if( ++i==pSrc->nLevel-1 && aLevel==pSrc->aLevel && hpSourceKnown(pSrc, iPg) ) return SQLITE_OK;
    rc = hpSourceDown(pSrc, aLevel, i, iPg);
    if( rc ) return rc;
    if( aLevel[i].iPg==0 ) return HP_DECLINE;
  }
}

/*
** Leaf iPg comes after leaf *piLast, which so many leaves are in order before.
*/
static void hpSourceOrder(Pgno *piLast, int *pnInOrder, Pgno iPg){
  int n = 0;
  assert( *pnInOrder>=0 );
  if( hpAheadNear(*piLast, iPg) ){
    /* Interior pages may be in between, but not often */
    n = MAX(0, *pnInOrder + 1 - 8*(int)(iPg-*piLast-1));
  }
  *pnInOrder = n;
  *piLast = iPg;
}

#ifdef HP_READAHEAD
/*
** The interior page after the lowest one of aLevel[], if it is to be read and
** is not in the page cache; or 0.
*/
static Pgno hpSourceSibling(const HpSource *pSrc, const struct HpLevel *aLevel){
  const struct HpLevel *p = &aLevel[pSrc->nLevel-2];
  Pgno iPg;
  if( pSrc->nLevel<2 || p->iChild>p->iLast ) return 0;
  iPg = hpPageChild(&p->in, p->iChild);
  if( iPg>btreePagecount(pSrc->pBt) ) return 0;
  return hpAheadMissing(pSrc->pPager, iPg) ? iPg : 0;
}

/*
** Make aTo[] the same way through the tree as pSrc->aLevel[].  The pages are
** fetched, as those of a memory map cannot be referenced twice.
*/
static int hpSourceCopyWay(HpSource *pSrc, struct HpLevel *aTo){
  int i;
  hpSourceRelease(aTo, 0);
  for(i=0; i<pSrc->nLevel; i++){
    const struct HpLevel *p = &pSrc->aLevel[i];
    int rc = hpSourceLevel(pSrc, p->iPg, &aTo[i]);
    if( rc ) return rc;
    if( aTo[i].iPg==0 ) return HP_DECLINE;
    aTo[i].iChild = p->iChild;
    aTo[i].iLast = p->iLast;
    aTo[i].bEnd = p->bEnd;
  }
  return SQLITE_OK;
}

/*
** Note in pRun which pages to ask for: leaves that have not been asked for,
** beginning with those of the run that is about to be taken, and the next
** interior page.
*/
static void hpSourceLookAhead(HpSource *pSrc, HpRun *pRun){
  struct HpLevel *aAhead = pSrc->aAhead;
  int iLow = pSrc->nLevel-1;
  int nSpan = hpAheadSpan(pSrc->nTaken, pSrc->nChain);
  int mxAhead = MIN(HP_AHEAD_LEAVES, HP_AHEAD_BYTES/pSrc->szPage/nSpan);
  int bEnd = 0;
  int n = 0;
  assert( pSrc->bDirect && pSrc->nLevel>0 && pRun->aAhead!=0 );
  if( pSrc->nAsked<pSrc->nTaken || aAhead[0].iPg==0 ){
    if( hpSourceCopyWay(pSrc, aAhead) ){
      hpSourceRelease(aAhead, 0);
      pSrc->aAhead = 0;
      return;
    }
    pSrc->nAsked = pSrc->nTaken;
    pSrc->iLastAsked = pSrc->iLast;
    pSrc->nAskedInOrder = pSrc->nInOrder;
    pRun->aAhead[n] = hpSourceSibling(pSrc, aAhead);
    n += pRun->aAhead[n]!=0;
  }
  while( n<HP_AHEAD_LEAVES && pSrc->nAsked<pSrc->nTaken+mxAhead ){
    struct HpLevel *p = &aAhead[iLow];
    Pgno iPg;
    if( p->iChild>p->iLast ){
      /* What is being asked for is not read yet */
      if( n>0 && hpSourceSibling(pSrc, aAhead) ) break;
      if( hpSourceAdvance(pSrc, aAhead, &bEnd) ){
        /* The scan will come there too and decline, or fail */
        hpSourceRelease(aAhead, 0);
        pSrc->aAhead = 0;
        break;
      }
      if( bEnd ) break;
      pRun->aAhead[n] = hpSourceSibling(pSrc, aAhead);
      n += pRun->aAhead[n]!=0;
    }
    iPg = hpPageChild(&p->in, p->iChild++);
    if( iPg<2 || iPg>btreePagecount(pSrc->pBt) ) continue;
    hpSourceOrder(&pSrc->iLastAsked, &pSrc->nAskedInOrder, iPg);
    if( pSrc->nAskedInOrder<HP_AHEAD_IN_ORDER ) pRun->aAhead[n++] = iPg;
    pSrc->nAsked++;
  }
  /* There is room for two interior pages more */
  assert( n<=HP_AHEAD_LEAVES+2 && pSrc->nAsked>=pSrc->nTaken );
  pRun->nAhead = n;
  pRun->nSpan = nSpan;
  hpAheadSort(pRun->aAhead, n);
  if( hpAheadFrames(pSrc->pPager, pRun->aAhead, pRun->aAheadFrame, n) ){
    pRun->nAhead = 0;
  }
}
#endif /* HP_READAHEAD */

/*
** Read the leaves of pRun, or no more than the first pRun->szPage bytes of
** each, straight from the file or the WAL.
*/
static int hpSourceRead(HpSource *pSrc, HpRun *pRun){
  Pager *pPager = pSrc->pPager;
  const Pgno *aLeaf = pRun->aLeaf;
  const u32 *aFrame = pRun->aFrame;
  int szPage = pSrc->szPage;
  int szRead = pRun->szPage;
  int mxRead = szRead<szPage ? 1 : HP_READ_BYTES/szPage;  /* Pages a read */
  int rc = SQLITE_OK;
  int i, n;
#ifdef HP_READAHEAD
  int nRead = 0;
  i64 iBegin;
  if( pRun->nAhead>0 ){
    if( !hpAheadAsk(pPager, pRun->aAhead, pRun->aAheadFrame, pRun->nAhead,
                    pRun->nSpan, &pRun->nAsked) ){
      AtomicStore(&pSrc->bCold, 0);
    }
  }
  iBegin = hpAheadClock();
#endif
  /* Ways 1 and 2: the file, and the read mark, say what the cache would */
  assert( hpPageFile(hpConfig(), pPager) );
  assert( pSrc->bDirty || pPager->pPCache->pDirty==0 );
  assert( pSrc->bWal==pagerUseWal(pPager) );
#ifndef SQLITE_OMIT_WAL
  assert( !pagerUseWal(pPager) || pPager->pWal->readLock>=0 );
#endif
  for(i=0; i<pRun->nPage && rc==SQLITE_OK; i+=n){
    u8 *aTo = &pRun->aBuf[(i64)i*szRead];
    n = 1;
    if( aFrame[i]==HP_FRAME_HERE ) continue;
#ifdef HP_READAHEAD
    nRead++;
#endif
#ifndef SQLITE_OMIT_WAL
    if( aFrame[i] ){
      rc = sqlite3WalReadFrame(pPager->pWal, aFrame[i], szRead, aTo);
      continue;
    }
#endif
    while( n<mxRead && i+n<pRun->nPage
        && aLeaf[i+n]==aLeaf[i]+n && aFrame[i+n]==0
    ){
      n++;
    }
    assert( n>=1 && i+n<=pRun->nPage && (n==1 || szRead==szPage) );
    rc = sqlite3OsRead(pPager->fd, aTo, n*szRead, (i64)(aLeaf[i]-1)*szPage);
    if( rc==SQLITE_IOERR_SHORT_READ ) rc = HP_DECLINE;
#ifdef HP_READAHEAD
    if( i==0 && n<pRun->nPage && pRun->aAhead && AtomicLoad(&pSrc->bCold)==0
     && hpAheadSlow(iBegin, HP_SLOW_NS(n*szPage))
    ){
      /* The first run: of what comes next nothing has been asked for */
      AtomicStore(&pSrc->bCold, 1);
      if( pSrc->bDirty==0 && pRun->pMend==0 ){
        hpAheadAsk(pPager, &aLeaf[n], &aFrame[n], pRun->nPage-n, 1,
                   &pRun->nAsked);
      }
    }
#endif
  }
#ifdef HP_READAHEAD
  if( hpAheadSlow(iBegin,
          (i64)HP_COLD_NS*nRead + (i64)HP_COLD_PAGE_NS*pRun->nPage) ){
    AtomicStore(&pSrc->bCold, 1);
  }
#endif
  return rc;
}

/*
** Read those leaves of pRun that the page cache holds, and note which these are.
*/
static void hpSourceReadCache(const HpSource *pSrc, HpRun *pRun){
  int i;
  assert( pSrc->bDirty );
  for(i=0; i<pRun->nPage; i++){
    DbPage *pDb = sqlite3PagerLookup(pSrc->pPager, pRun->aLeaf[i]);
    pRun->aFrame[i] = pDb ? HP_FRAME_HERE : 0;
    if( pDb==0 ) continue;
    memcpy(&pRun->aBuf[(i64)i*pRun->szPage], sqlite3PagerGetData(pDb),
           pRun->szPage);
    sqlite3PagerUnrefNotNull(pDb);
  }
}

/*
** Read the leaves of pRun through the pager.
*/
static int hpSourceReadPager(const HpSource *pSrc, HpRun *pRun){
  int i;
  assert( pSrc->bDirect==0 && pRun->szPage<=pSrc->szPage );
  for(i=0; i<pRun->nPage; i++){
    DbPage *pDb;
    int rc = sqlite3PagerGet(pSrc->pPager, pRun->aLeaf[i], &pDb,
                             PAGER_GET_READONLY);
    if( rc ) return rc;
    memcpy(&pRun->aBuf[(i64)i*pRun->szPage], sqlite3PagerGetData(pDb),
           pRun->szPage);
    sqlite3PagerUnrefNotNull(pDb);
  }
  return SQLITE_OK;
}

/*
** The leaf that was taken last is leaf i of pRun.  Keep a copy of the entry
** that follows it, if that stands on an interior page and the scan goes on
** after it.
*/
static int hpSourceSep(const HpSource *pSrc, HpRun *pRun, int i){
  HpRecord *pSep = &pRun->aSep[i];
  int iLevel = pSrc->nLevel-1;
  const struct HpLevel *p = &pSrc->aLevel[iLevel];
  const u8 *z;
  int rc;
  assert( pSrc->bIndex && i>=0 && i<pSrc->nUnit );
  pSep->z = 0;
  while( p->iChild>p->iLast ){
    if( iLevel==0 ) return SQLITE_OK;
    p = &pSrc->aLevel[--iLevel];
  }
  z = hpPageCell(&p->in, p->iChild-1);
  if( z==0 ) return HP_DECLINE;
  rc = hpPageRecord(pSrc->pBt, &z[4], p->in.aEnd, pSep);
  if( rc==SQLITE_OK ){
    u8 *a = &pRun->aSepBuf[(i64)i*hpSepBytes(pSrc)];
    assert( (int)pSep->nLocal+4<=hpSepBytes(pSrc) );
    memcpy(a, pSep->z, pSep->nLocal + (pSep->nLocal<pSep->nByte ? 4 : 0));
    pSep->z = a;
  }
  return rc;
}

/*
** Set *piRowid to the rowid of the interior cell before the next child of the
** lowest interior page, if bNext is 0, or to that of the one after the child
** before it.  SQLITE_EMPTY: there is none, the leaf is the first or last one of the
** table.
*/
static int hpSourceRowid(const HpSource *pSrc, int bNext, i64 *piRowid){
  int iLevel;
  assert( pSrc->bOrder && pSrc->bIndex==0 );
  for(iLevel=pSrc->nLevel-1; iLevel>=0; iLevel--){
    const struct HpLevel *p = &pSrc->aLevel[iLevel];
    int iCell = p->iChild-1;
    const u8 *z;
    /* Further up the next child is not the current one, but the one after it */
    if( iLevel<pSrc->nLevel-1 && bNext==0 ) iCell--;
    if( iCell<0 || iCell>=p->in.nCell ) continue;
    z = hpPageCell(&p->in, iCell);
    if( z==0 || &z[4+sqlite3GetVarint(&z[4], (u64*)piRowid)]>p->in.aEnd ){
      return HP_DECLINE;
    }
    return SQLITE_OK;
  }
  return SQLITE_EMPTY;
}

/*
** Of n leaves taken, which are the next run, nothing is known yet but their
** numbers.  Note the way to the first one of them.
*/
static int hpSourceWay(HpSource *pSrc, const HpRun *pRun, int n){
  i64 iAt = (i64)pRun->iSeq*pSrc->nLevel;
  int i;
  if( iAt+pSrc->nLevel>pSrc->nWayAlloc ){
    i64 nNew = MAX(64, 2*(iAt+pSrc->nLevel));
    u16 *aNew;
    sqlite3BeginBenignMalloc();
    aNew = sqlite3_realloc64(pSrc->aWay, sizeof(u16)*(u64)nNew);
    sqlite3EndBenignMalloc();
    if( aNew==0 ) return HP_DECLINE;
    pSrc->aWay = aNew;
    pSrc->nWayAlloc = nNew;
  }
  for(i=0; i<pSrc->nLevel; i++){
    int nBack = i<pSrc->nLevel-1 ? 1 : n;
    assert( n>0 && pSrc->aLevel[i].iChild>=nBack );
    assert( pSrc->aLevel[i].iChild-nBack<=0xffff );
    pSrc->aWay[iAt+i] = (u16)(pSrc->aLevel[i].iChild-nBack);
  }
  return SQLITE_OK;
}

/*
** Give away the ways from the root to all runs, of a scan with a sink that finds
** rows: the way to run i is *paWay from i*n on, the numbers of n children, of
** which the last one is the first leaf of the run.  Returns n.
*/
static int hpSourceWays(HpSource *pSrc, u16 **paWay){
  assert( pSrc->bWay && (pSrc->aWay==0)==(pSrc->nWayAlloc==0) );
  *paWay = pSrc->aWay;
  pSrc->aWay = 0;
  return pSrc->nLevel;
}

#ifdef SQLITE_DEBUG
/*
** Of each level that holds a page: the next child is not behind the one after
** the last, nor is that behind the children that the page has.
*/
static int hpSourceIsSane(const HpSource *pSrc){
  int i;
  if( pSrc->nLevel>BTCURSOR_MAX_DEPTH || pSrc->nMax<1 ) return 0;
  for(i=0; i<pSrc->nLevel; i++){
    const struct HpLevel *p = &pSrc->aLevel[i];
    if( p->iPg==0 ) continue;
    if( p->iChild<0 || p->iChild>p->iLast+1 || p->iLast>p->in.nCell ) return 0;
    if( p->pDb==0 && p->aCopy==0 && p->pKnown==0 ) return 0;
  }
  return 1;
}
#endif

/*
** How many runs may one of nWorker workers take beforehand, if there are n under the same page?  None
** near the end, where the others would wait; and none where the scan may end when it has enough
** rows, or its ways or its place are wanted after each run.
*/
static int hpSourceMore(const HpSource *pSrc, int n, int nWorker){
  i64 nEach = (pSrc->nLeaf-pSrc->nTaken)/pSrc->nUnit/nWorker;
  assert( pSrc->pWanted==0 );
  if( pSrc->bWay || pSrc->pPart ) return 0;
  if( hpConfig()->eColumns ) nEach = LARGEST_INT64;    /* Tests have small tables */
  return (int)MAX(0, MIN(MIN(n, HP_MX_QUICK), nEach/4));
}

/*
** Take the page numbers of the next run, for one of nWorker workers.  The scan's mutex is held.
*/
static int hpSourceTake(HpSource *pSrc, HpRun *pRun, int nWorker){
  int rc = SQLITE_OK;
  int bEnd, i;
  int n = 0;
  pRun->nPage = 0;
  pRun->bRoot = pSrc->bRootLeaf!=0;
  pRun->nAhead = 0;
  pRun->pKept = 0;
  pRun->nQuick = 0;
  pRun->pMend = 0;
  pRun->bKeep = 0;
  pRun->iHdr = 0;
  pRun->mBound = pSrc->bOrder ? 4 : 0;
  pRun->iSeq = pSrc->iSeq++;
  if( pSrc->bRootLeaf ){
    if( pSrc->bRootLeaf==2 ) return SQLITE_OK;
    pSrc->bRootLeaf = 2;
    if( pSrc->bOrder ) pRun->aHigh[0] = LARGEST_INT64;
    pRun->aLeaf[n++] = pSrc->iRoot;
    pRun->iHdr = pSrc->iRoot==1 ? 100 : 0;
    if( pSrc->bIndex ) pRun->aSep[0].z = 0;
  }else{
    struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
    Pgno mxPg = btreePagecount(pSrc->pBt);
    Pgno iLock = PENDING_BYTE_PAGE(pSrc->pBt);  /* Of no b-tree */
    int nMax, iInUnit, iFirst;
    if( pSrc->pPart && pSrc->pPart->nLeaf<=pSrc->nTaken ){
      pSrc->pPart->bMore = 1;
      return SQLITE_OK;
    }
    rc = hpSourceAdvance(pSrc, pSrc->aLevel, &bEnd);
    if( rc || bEnd ) return rc;
    iFirst = pLevel->iChild;
    iInUnit = iFirst % pSrc->nUnit;
    nMax = pSrc->nUnit - iInUnit;
    if( pSrc->pColumns==0 ) nMax = MIN(nMax, pSrc->nMax);
#ifdef HP_READAHEAD
    if( pSrc->aAhead && AtomicLoad(&pSrc->bCold) && pSrc->bKept==0 ){
      rc = hpSourceFetch(pSrc);
      if( rc ) return rc;
      hpSourceLookAhead(pSrc, pRun);
    }
#endif
    if( pSrc->bOrder ){
      rc = hpSourceRowid(pSrc, 0, &pRun->iLow);
      if( rc==HP_DECLINE ) return rc;
      pRun->mBound |= rc==SQLITE_OK ? 1 : 0;
    }
    if( pSrc->pColumns ){
      pRun->iInner = pLevel->iPg;
      pRun->iChild = iFirst;
      pRun->iInUnit = iInUnit;
      if( iInUnit==0 && pSrc->bIndex==0 && pSrc->bOrder==0 ){
        const Pgno *aFirst = pLevel->pKnown ? &pLevel->pKnown->aFirst[iFirst/pSrc->nUnit] : 0;
        int nMore = 0;
        if( aFirst && pRun->apQuick ){
          nMore = hpSourceMore(pSrc, (pLevel->iLast-iFirst)/pSrc->nUnit, nWorker);
        }
        pRun->aLeaf[0] = aFirst ? aFirst[0] : hpPageChild(&pLevel->in, iFirst);
        n = hpColumnScanQuick(pSrc->pColumns, pRun, pSrc->nUnit,
                              pLevel->iLast-iFirst+1,
                           aFirst ? &aFirst[1] : 0, nMore);
      }
      if( n==0 ){
        rc = hpSourceFetch(pSrc);
        if( rc ) return rc;
      }else{
        if( iFirst==0 && pLevel->pKnown==0 ){
          hpColumnsInnerAdd(pSrc->pColumns, pLevel->iPg, &pLevel->in, pSrc->nUnit);
        }
        pLevel->iChild += n;
        pSrc->iSeq += pRun->nQuick;
        pSrc->iLast = pRun->aLeaf[pRun->nPage-1];
        pSrc->nInOrder = 0;
        pSrc->nTaken += n;
        pSrc->bKept = 1;
        return pSrc->bWay ? hpSourceWay(pSrc, pRun, n) : SQLITE_OK;
      }
    }
    while( n<nMax && pLevel->iChild<=pLevel->iLast ){
      Pgno iPg = hpPageChild(&pLevel->in, pLevel->iChild++);
      if( iPg<2 || iPg>mxPg || iPg==iLock ) return HP_DECLINE;
      if( pSrc->bOrder ){
        rc = hpSourceRowid(pSrc, 1, &pRun->aHigh[n]);
        if( rc==HP_DECLINE ) return rc;
        if( rc ) pRun->aHigh[n] = LARGEST_INT64;
      }
      if( pSrc->bIndex ){
        rc = hpSourceSep(pSrc, pRun, n);
        if( rc ) return rc;
      }
      pRun->aLeaf[n++] = iPg;
      hpSourceSkip(pSrc, pLevel);
    }
    pRun->nPage = n;
    if( pSrc->pColumns ){
      pRun->iUnit = hpPageChild(&pLevel->in, iFirst-iInUnit);
      pRun->bWhole = iInUnit==0 && (n==nMax || pLevel->iChild>pLevel->in.nCell);
      hpColumnScanFind(pSrc->pColumns, pRun);
      if( pRun->pKept==0 && pRun->nPage>pSrc->nMax ){
        /* The others are left to the next run */
        n = pRun->nPage = pSrc->nMax;
        pRun->bKeep = pRun->bWhole = 0;
        pRun->pMend = 0;
        pLevel->iChild = iFirst+n;
      }
      assert( pSrc->bDirty==0 );
    }
    for(i=0; i<n; i++) hpSourceOrder(&pSrc->iLast, &pSrc->nInOrder, pRun->aLeaf[i]);
    pSrc->nTaken += n;
    if( pSrc->nThin ) hpSourceThinNext(pSrc);
    rc = pSrc->bWay ? hpSourceWay(pSrc, pRun, n) : SQLITE_OK;
  }
  pRun->nPage = n;
  pSrc->bKept = pRun->pKept || pRun->pMend;
  if( rc || pRun->pKept ) return rc;
  if( pSrc->pColumns ) memset(pRun->aFrame, 0, sizeof(u32)*n);
  if( pSrc->bDirty && pSrc->bDirect ) hpSourceReadCache(pSrc, pRun);
#ifndef SQLITE_OMIT_WAL
  if( pSrc->bWal ){
    for(i=0; i<n && rc==SQLITE_OK; i++){
      if( pSrc->bDirty && pRun->aFrame[i] ) continue;
      if( pRun->pMend && pRun->aChanged[i]==0 ) continue;
      rc = sqlite3WalFindFrame(pSrc->pPager->pWal, pRun->aLeaf[i],
                               &pRun->aFrame[i]);
    }
  }
#endif
  for(i=0; i<n && pRun->pMend; i++){
    if( pRun->aChanged[i]==0 ) pRun->aFrame[i] = HP_FRAME_HERE;
  }
  assert( n<=pSrc->nMax && hpSourceIsSane(pSrc) );
  if( rc==SQLITE_OK && pSrc->bDirect==0 ) rc = hpSourceReadPager(pSrc, pRun);
  return rc;
}

/*
** Read the next run of leaves into p->run, or go on with one that was taken beforehand.  p->run.nPage
** is 0 at the end of the table.
*/
static int hpSourceNext(HpWorker *p){
  HpSource *pSrc = p->pQuery->pSource;
  int rc;
  if( pSrc->pColumns && hpColumnScanNext(pSrc->pColumns, &p->run) ){
    return SQLITE_OK;
  }
  hpThreadLock(p->pQuery);
  if( pSrc->rc==SQLITE_OK ) pSrc->rc = hpSourceTake(pSrc, &p->run, p->pQuery->nWorker);
  rc = pSrc->rc;
  assert( hpThreadIsLocked(p->pQuery) && p->run.nPage<=pSrc->nUnit );
  assert( p->pQuery->nWorker==1 || pSrc->bDirect || p->pQuery->pass.bAlone );
  assert( rc || p->run.nPage==0 || pSrc->iSeq==p->run.iSeq+1+(u32)p->run.nQuick );
  hpThreadUnlock(p->pQuery);
  if( rc==SQLITE_OK && pSrc->bDirect && p->run.pKept==0 ) rc = hpSourceRead(pSrc, &p->run);
  return rc;
}

#ifdef HP_SHARED
/*
** Of p->run only the leaves that have changed have been read.  Read the others, as for a scan without
** columns.
*/
static int hpSourceUnmended(HpWorker *p){
  HpSource *pSrc = p->pQuery->pSource;
  HpRun *pRun = &p->run;
  int rc = SQLITE_OK;
  int i;
  assert( pRun->pMend!=0 && pRun->pKept==0 && pSrc->bDirect && pSrc->bDirty==0 );
  hpThreadLock(p->pQuery);
  for(i=0; i<pRun->nPage && rc==SQLITE_OK; i++){
    u32 iFrame = 0;
#ifndef SQLITE_OMIT_WAL
    if( pSrc->bWal && pRun->aFrame[i]==HP_FRAME_HERE ){
      rc = sqlite3WalFindFrame(pSrc->pPager->pWal, pRun->aLeaf[i], &iFrame);
    }
#endif
    pRun->aFrame[i] = pRun->aFrame[i]==HP_FRAME_HERE ? iFrame : HP_FRAME_HERE;
  }
  hpThreadUnlock(p->pQuery);
  if( rc==SQLITE_OK ) rc = hpSourceRead(pSrc, pRun);
  pRun->pMend = 0;
  return rc;
}
#endif

/*
** Overflow pages of the leaves taken were read.  The scan's mutex is held.
*/
static void hpSourceChained(HpSource *pSrc, u32 nPage){
  pSrc->nChain += nPage;
}

static void hpSourceClose(HpSource *pSrc){
  if( pSrc ){
    if( pSrc->pColumns ) hpColumnScanClose(pSrc->pColumns);
    pSrc->pColumns = 0;
    hpSourceRelease(pSrc->aLevel, 0);
    if( pSrc->aAhead ) hpSourceRelease(pSrc->aAhead, 0);
    sqlite3_free(pSrc->aWay);
  }
}

/*
** Set *pbLarge if the b-tree at iRoot has HP_MIN_LEAF leaves or more, looking
** at two pages at most.  A read transaction is open.
*/
static int hpSourceIsLarge(
  Btree *pBtree,
  Pgno iRoot,
  int bIndex,            /* It is the b-tree of an index */
  int mnLeaf,            /* Leaves that it takes */
  int *pbLarge
){
  HpSource src;
  struct HpLevel aLevel[2];
  int rc;
  assert( mnLeaf>0 && sqlite3BtreeTxnState(pBtree)!=SQLITE_TXN_NONE );
  *pbLarge = 0;
  memset(&src, 0, sizeof(src));
  memset(aLevel, 0, sizeof(aLevel));
  src.pBt = pBtree->pBt;
  src.pPager = src.pBt->pPager;
  src.bIndex = (u8)bIndex;
  rc = hpSourceLevel(&src, iRoot, &aLevel[0]);
  if( rc==SQLITE_OK && aLevel[0].pDb ){
    if( aLevel[0].in.nCell+1>=mnLeaf ){
      *pbLarge = 1;
    }else{
      rc = hpSourceLevel(&src, hpPageChild(&aLevel[0].in, 0), &aLevel[1]);
      if( rc==SQLITE_OK && aLevel[1].pDb ){
        /* With long keys an index page may have few children */
        *pbLarge = (aLevel[0].in.nCell+1)*(aLevel[1].in.nCell+1)>=mnLeaf;
        sqlite3PagerUnrefNotNull(aLevel[1].pDb);
      }
    }
    sqlite3PagerUnrefNotNull(aLevel[0].pDb);
  }
  return rc;
}

/*
** Set *pnLeaf to about the number of leaves that a scan of pPlan reads, 0 if it
** fails, and unless pnRow is NULL, *pnRow to that of rows.  Constants of its range
** are in aMem[].
*/
static int hpSourcePlanSize(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  i64 *pnLeaf,
  i64 *pnRow
){
  HpSource src;
  int rc = hpSourceInit(&src, db, pPlan, aMem, 0, 0);
  *pnLeaf = rc==SQLITE_OK ? (i64)src.nLeaf : 0;
  if( pnRow ) *pnRow = rc==SQLITE_OK ? hpSourceRows(&src) : 0;
  hpSourceRelease(src.aLevel, 0);
  return rc;
}

/*
** A statement that runs often with small ranges pays for being asked each
** time: the more of them there were in a row, the more are let pass.  Is this one?
*/
static int hpSourceRangeSkips(HpRange *pRange){
  assert( pRange->nSkip>=0 && pRange->nSkip<=HP_MX_SMALL );
  if( pRange->nSkip==0 ) return 0;
  pRange->nSkip--;
  return 1;
}

/* It was not: was the range large? */
static void hpSourceRangeWas(HpRange *pRange, int bLarge){
  pRange->nSmall = bLarge ? 0 : MIN(2*pRange->nSmall+1, HP_MX_SMALL);
  pRange->nSkip = pRange->nSmall;
}

/*
** Set *pbLarge if there are HP_MIN_LEAF leaves in the range of pPlan, whose
** constants are in aMem[].
*/
static int hpSourceRangeIsLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  int *pbLarge
){
  i64 nLeaf;
  int rc;
  *pbLarge = 0;
  if( hpSourceRangeSkips(pPlan->pRange) ) return SQLITE_OK;
  rc = hpSourcePlanSize(db, pPlan, aMem, &nLeaf, 0);
  *pbLarge = nLeaf>=HP_MIN_LEAF;
  hpSourceRangeWas(pPlan->pRange, *pbLarge);
  return rc;
}

/*
** True if the interior pages in the cache say that there are HP_MIN_LEAF leaves
** in the range of pPlan.  For use without a transaction: what they say may be
** out of date.
*/
static int hpSourceRangeSeemsLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem
){
  i64 nLeaf;
  assert( pPlan->bCached );
  return hpSourcePlanSize(db, pPlan, aMem, &nLeaf, 0)==SQLITE_OK
      && nLeaf>=HP_MIN_LEAF;
}

/*
** The same of an index by which SQLite looks rows up: may there be mnLeaf leaves in the range of
** pPlan?  With several values that is asked of the first one only.  What is not in the cache may
** be.
*/
static int hpSourceSearchMayBeLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  int mnLeaf
){
  HpSource src;
  int bLarge = 1;
  int rc = hpSourceInit(&src, db, pPlan, aMem, 0, 0);
  assert( pPlan->bCached && pPlan->bIndex );
  if( rc==SQLITE_OK ){
    bLarge = src.nLeaf>1 && src.nLeaf*MAX(1, pPlan->pRange->nIn)>=mnLeaf;
    if( bLarge==0 && src.nLevel ){
      const struct HpLevel *p = &src.aLevel[src.nLevel-1];
      DbPage *pDb = sqlite3PagerLookup(src.pPager, hpPageChild(&p->in, p->iChild));
      if( pDb ) hpSourceUnref(pDb);
      bLarge = pDb==0;
    }
  }
  hpSourceRelease(src.aLevel, 0);
  return bLarge;
}

/* The rowid at the end of the entry at z[] on a leaf of an index; 0 if that cannot be told */
static i64 hpSourceEntryRowid(BtShared *pBt, const u8 *z, const u8 *aEnd){
  HpRecord rec;
  u32 nHdr, nByte;
  Mem mem;
  if( z>aEnd-4 || hpPageRecord(pBt, z, aEnd, &rec) || rec.nLocal<rec.nByte ) return 0;
  getVarint32(rec.z, nHdr);
  if( nHdr<2 || nHdr>rec.nByte || rec.z[nHdr-1]>9 ) return 0;
  nByte = sqlite3SmallTypeSizes[rec.z[nHdr-1]];
  if( nByte>rec.nByte-nHdr ) return 0;
  sqlite3VdbeSerialGet(&rec.z[rec.nByte-nByte], rec.z[nHdr-1], &mem);
  return (mem.flags & MEM_Int) ? mem.u.i : 0;
}

/* What entries on leaves of an index say about the rows that they lead to */
typedef struct HpSpread HpSpread;
struct HpSpread {
  int nSeen, nFar;       /* Rows after another one, and so many rowids or more
                         ** behind it */
  i64 iMin, iMax;        /* The smallest and the largest rowid.  iMax<iMin:
                         ** none */
};

/* Add the entries on child i of the interior page that pSrc is about to read.
** A row is far if it is more than nNear rowids from that of the entry before */
static void hpSourceSpread(const HpSource *pSrc, int i, i64 nNear, HpSpread *p){
  const struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
  const u8 *aHdr, *aEnd;
  i64 iLast = 0;
  int nCell;
  DbPage *pDb;
  Pgno iPg;
  assert( pSrc->nLevel>0 );
  iPg = hpPageChild(&pLevel->in, i);
  if( iPg<2 || sqlite3PagerGet(pSrc->pPager, iPg, &pDb, PAGER_GET_READONLY) ){
    return;
  }
  aHdr = sqlite3PagerGetData(pDb);
  aEnd = &aHdr[pSrc->pBt->usableSize];
  nCell = get2byte(&aHdr[3]);
  if( aHdr[0]!=(PTF_ZERODATA|PTF_LEAF) || nCell>(int)MX_CELL(pSrc->pBt) ) nCell = 0;
  for(i=0; i<nCell; i++){
    i64 iRowid = hpSourceEntryRowid(pSrc->pBt, &aHdr[get2byte(&aHdr[8+2*i])], aEnd);
    if( iRowid==0 ) continue;
    if( iLast ){
      u64 nGap = iRowid>iLast ? (u64)iRowid-(u64)iLast : (u64)iLast-(u64)iRowid;
      p->nSeen++;
      p->nFar += nGap>(u64)nNear;
    }
    p->iMin = p->iMax<p->iMin ? iRowid : MIN(p->iMin, iRowid);
    p->iMax = MAX(p->iMax, iRowid);
    iLast = iRowid;
  }
  sqlite3PagerUnrefNotNull(pDb);
}

/*
** SQLite looks up the rows that the range of pPlan, of an index, has entries for.  Set *pnRow to
** about their number, of all values of an IN, and *prFar to the share of those that are more than
** nNear rowids from the row before.  They seem to lie within *pnSpan rowids, 0
** if that cannot be told.  If there are fewer than mnRow *prFar and *pnSpan are
** not set.
**
** The entries of two leaves tell, near the first one and the last one of those
** below an interior page.
*/
static int hpSourceSearchSize(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  i64 nNear,
  i64 mnRow,
  i64 *pnRow,
  double *prFar,
  i64 *pnSpan
){
  HpRange range = *pPlan->pRange;
  HpSourcePlan plan = *pPlan;
  int i;
  plan.pRange = &range;
  *pnRow = 0;
  for(i=0; i<MAX(1, range.nIn); i++){
    HpSource src;
    int bFew = *pnRow<mnRow;
    int rc;
    if( range.nIn ) range.aEq[range.iIn].iReg = range.aInReg[i];
    rc = hpSourceInit(&src, db, &plan, aMem, 0, 0);
    if( rc==SQLITE_OK && src.nLeaf>1 ){
      /* Half of the first leaf, and of the last one */
      *pnRow += hpSourceRows(&src)/src.nLeaf*(src.nLeaf-1);
      if( bFew && *pnRow>=mnRow ){
        const struct HpLevel *p = &src.aLevel[src.nLevel-1];
        HpSpread x;
        memset(&x, 0, sizeof(x));
        x.iMax = -1;
        hpSourceSpread(&src, MIN(p->iChild+1, p->iLast), nNear, &x);
        if( p->iLast>p->iChild+2 ) hpSourceSpread(&src, p->iLast-1, nNear, &x);
        if( x.nSeen ) *prFar = (double)x.nFar/x.nSeen;
        if( x.nSeen && range.nIn==0 && x.iMax/2-x.iMin/2<LARGEST_INT64/4 ){
          *pnSpan = x.iMax-x.iMin+1;
        }
      }
    }
    hpSourceRelease(src.aLevel, 0);
    /* What is no simple value finds nothing */
    if( rc && (rc!=HP_DECLINE || range.nIn==0) ) return rc;
  }
  return SQLITE_OK;
}

/*
** Set *pbLarge if it pays to count the entries of the b-tree of pPlan around
** the page cache: most of its pages are not in there.
*/
static int hpSourceCountIsLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  int *pbLarge
){
  HpSource src;
  int rc = hpSourceInit(&src, db, pPlan, 0, 0, 0);
  assert( pPlan->nCol==0 && pPlan->pRange==0 );
  *pbLarge = rc==SQLITE_OK && src.nLeaf>=HP_MIN_PARALLEL
          && src.nLeaf>2*(i64)sqlite3PcachePagecount(src.pPager->pPCache);
  hpSourceRelease(src.aLevel, 0);
  return rc;
}

/*
** About how many rows there are, as the first leaf suggests.  0: unknown.
*/
static i64 hpSourceRows(const HpSource *pSource){
  DbPage *pDb;
  Pgno iPg;
  int n;
  if( pSource->nLevel==0 ) return 0;
  assert( pSource->aLevel[pSource->nLevel-1].pKnown==0 );    /* No run has been taken yet */
  iPg = hpPageChild(&pSource->aLevel[pSource->nLevel-1].in, 0);
  if( iPg<2
   || sqlite3PagerGet(pSource->pPager, iPg, &pDb, PAGER_GET_READONLY)
  ){
    return 0;
  }
  n = get2byte(&((u8*)sqlite3PagerGetData(pDb))[3]);
  sqlite3PagerUnrefNotNull(pDb);
  return n*pSource->nLeaf;
}

/*
** Is stock's sorter as good?  It is for what fits into the cache, unless most
** rows need not be sorted.
*/
static int hpSourceIsShort(const HpQuery *p){
  return p->pSource->nLeaf<HP_MIN_PARALLEL
      && hpConfigOffload(p->db)!=HP_OFFLOAD_FORCE;
}
#endif /* SQLITE_OMIT_HP */
