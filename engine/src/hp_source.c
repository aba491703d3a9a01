/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_source: the leaf pages of a b-tree, in key order, in runs.
**
**    hpSourceOpen()     find the way down to the leaves
**    hpRunInit()        memory for a worker's runs
**    hpSourceNext()     read the next run of leaves into a worker's memory
**    hpSourceParallel() may several workers call that?
**    hpSourceClose()    let go of the interior pages
**    hpSourceIsLarge()  is the b-tree worth the trouble? (any time)
**    hpSourceRangeIsLarge()  the same for a part of it
**    hpSourceRangeSeemsLarge()  a guess, before there is a transaction
**    hpCellRecord()     the record in a cell of an index
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
**       (another VFS may want to see single pages), and only while this
**       page cache holds no dirty page: then the file is what the cache
**       would say.  The transaction that OP_Transaction began keeps other
**       processes from changing it.
**    2. The same in WAL mode, where each leaf is first looked up in the
**       wal-index under the read mark that the transaction holds.
**    3. Page by page through the pager: any VFS, in-memory and temporary
**       databases, uncommitted changes.
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
** Bounds of the keys (HpRange) are turned into bounds of the tree: two
** descents find the child numbers, one a level, of the first and of the last
** leaf that can hold a key in range.  The scan goes from one to the other.
** The filters of the query hold the exact bounds.
**
** What a read costs tells whether the file is in the operating system's cache.
** After a slow one the operating system is told which leaves the next runs
** will want (posix_fadvise), a page or a stretch of pages at a time: it reads
** ahead by itself only where the leaves of a table are adjacent.
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

/* A read that takes longer than this, in nanoseconds a page, is one from
** disk.  It makes reading ahead worthwhile for so many runs. */
#define HP_COLD_NS   10000
#define HP_COLD_RUNS 32
#define HP_AHEAD     2         /* Runs ahead */

#if SQLITE_OS_UNIX && defined(POSIX_FADV_WILLNEED) && defined(CLOCK_MONOTONIC)
# define HP_READAHEAD 1
#endif

/* Most leaves a run of a table that is small */
#define HP_SMALL_RUN 12

struct HpSource {
  BtShared *pBt;         /* The b-tree's file */
  Pager *pPager;         /* Its pager */
  int szPage;            /* Bytes a page */
  u8 bDirect;            /* Way 1 or 2; otherwise way 3 */
  u8 bWal;               /* Some leaves may be in the WAL */
  u8 bRootLeaf;          /* The root is the only leaf.  2: it has been read */
  u8 bIndex;             /* The b-tree of an index */
  u8 bCached;            /* Only look at pages in the cache */
  int nLevel;            /* Interior levels */
  i64 nLeaf;             /* About so many leaves in all */
  int nMax;              /* Most leaves a run */
  int rc;                /* Taking a run failed: there are no more */
  u32 iSeq;              /* Number of the next run */
  int nCold;             /* Read ahead for so many runs.  Atomic */
  int iAhead;            /* Children of the lowest level before this are known
                         ** to the operating system */
  Pgno iRoot;            /* Root page */
  struct HpLevel {       /* The way from the root to the current leaves */
    DbPage *pDb;           /* Interior page, referenced */
    const u8 *aHdr;        /* Its b-tree header */
    const u8 *aData;       /* Its first byte */
    int nCell;             /* Its cells: it has nCell+1 children */
    int iChild;            /* Next child to visit */
    int iLast;             /* Last child to visit */
    u8 bEnd;               /* It stands on the way to the last leaf */
  } aLevel[BTCURSOR_MAX_DEPTH];
  int nEnd;              /* Entries of aEnd.  0: the scan ends where the tree does */
  int aEnd[BTCURSOR_MAX_DEPTH];  /* Children on the way to the last leaf */
};

/*
** Fetch page iPg, which must be an interior page of the b-tree, into *pLevel.
** If it is a leaf instead set pLevel->pDb to 0 and return SQLITE_OK.
*/
static int hpSourceLevel(HpSource *pSrc, Pgno iPg, struct HpLevel *pLevel){
  int eType = pSrc->bIndex ? PTF_ZERODATA : PTF_INTKEY|PTF_LEAFDATA;
  int rc;
  DbPage *pDb;
  const u8 *aHdr;
  memset(pLevel, 0, sizeof(*pLevel));
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
  pLevel->aData = sqlite3PagerGetData(pDb);
  aHdr = pLevel->aData + (iPg==1 ? 100 : 0);
  if( aHdr[0]==(eType|PTF_LEAF) ){
    sqlite3PagerUnrefNotNull(pDb);
    return SQLITE_OK;
  }
  pLevel->nCell = get2byte(&aHdr[3]);
  if( aHdr[0]!=eType
   || pLevel->nCell<1 || pLevel->nCell>(int)MX_CELL(pSrc->pBt)
  ){
    sqlite3PagerUnrefNotNull(pDb);
    return HP_DECLINE;
  }
  pLevel->iLast = pLevel->nCell;
  pLevel->aHdr = aHdr;
  pLevel->pDb = pDb;
  return SQLITE_OK;
}

/*
** Cell i of an interior page, or NULL if it is not where a cell can be.
*/
static const u8 *hpSourceCell(
  const HpSource *pSrc,
  const struct HpLevel *p,
  int i
){
  int ofst = get2byte(&p->aHdr[12+2*i]);
  if( ofst<12 || ofst>(int)pSrc->pBt->usableSize-5 ) return 0;
  return &p->aData[ofst];
}

/*
** Page number of child i of an interior page, or 0 if its cell is not
** where a cell can be.
*/
static Pgno hpSourceChild(const HpSource *pSrc, const struct HpLevel *p, int i){
  const u8 *z;
  if( i==p->nCell ) return get4byte(&p->aHdr[8]);
  z = hpSourceCell(pSrc, p, i);
  return z ? get4byte(z) : 0;
}

/*
** The record of a cell of an index.  z is the cell without the number of
** its child, aEnd the end of its page.
*/
static int hpCellRecord(
  BtShared *pBt,
  const u8 *z,
  const u8 *aEnd,
  HpRecord *pRec
){
  u32 nByte, nLocal;
  z += getVarint32(z, nByte);
  nLocal = nByte;
  if( nByte>pBt->maxLocal ){
    u32 mnLocal = pBt->minLocal;
    nLocal = mnLocal + (nByte-mnLocal)%(pBt->usableSize-4);
    if( nLocal>pBt->maxLocal ) nLocal = mnLocal;
    if( nByte>SQLITE_MAX_LENGTH || z>aEnd-4 ) return HP_DECLINE;
    aEnd -= 4;
  }
  if( nByte==0 || z>aEnd || nLocal>(u32)(aEnd-z) ) return HP_DECLINE;
  pRec->z = z;
  pRec->nByte = nByte;
  pRec->nLocal = nLocal;
  return SQLITE_OK;
}

/*
** Release the interior pages from level i downwards.
*/
static void hpSourceRelease(HpSource *pSrc, int i){
  for(; i<BTCURSOR_MAX_DEPTH && pSrc->aLevel[i].pDb; i++){
    sqlite3PagerUnrefNotNull(pSrc->aLevel[i].pDb);
    pSrc->aLevel[i].pDb = 0;
  }
}

/*
** True if leaves may be read straight from the file.  See above.
*/
static int hpSourceDirect(const HpConfig *pCfg, Pager *pPager){
#if SQLITE_OS_UNIX
  return pCfg->bPager==0
      && MEMDB==0
      && pPager->tempFile==0
      && pPager->pPCache->pDirty==0
      && isOpen(pPager->fd)
      && pPager->fd->pMethods->xRead==unixRead;
#else
  return 0;
#endif
}

/*
** The first child of interior page *p that can hold keys not less than *pKey;
** if bUpper, the last one that can hold keys not greater.  With pKey->bNull
** keys equal to *pKey do not count.  -1: declined.
*/
static int hpSourceSearch(
  const HpSource *pSrc,
  const struct HpLevel *p,
  HpKey *pKey,
  int bUpper
){
  const u8 *aEnd = &p->aData[pSrc->pBt->usableSize];
  int i = 0;             /* Separators before i are too small, */
  int n = p->nCell;      /* that at n, if any, is not */
  while( i<n ){
    int iMid = (i+n)/2;
    int c;
    const u8 *z = hpSourceCell(pSrc, p, iMid);
    if( z==0 || hpKeyCompare(pKey, pSrc->pBt, &z[4], aEnd, &c) ) return -1;
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
** Fetch the interior page at level i, which is page iPg, and note where in it
** the scan ends.
*/
static int hpSourceDown(HpSource *pSrc, int i, Pgno iPg){
  struct HpLevel *p = &pSrc->aLevel[i];
  int rc = hpSourceLevel(pSrc, iPg, p);
  if( rc==SQLITE_OK && p->pDb && i<pSrc->nEnd
   && (i==0 || (p[-1].bEnd && p[-1].iChild==p[-1].iLast+1))
  ){
    if( pSrc->aEnd[i]>p->nCell ) return HP_DECLINE;
    p->bEnd = 1;
    p->iLast = pSrc->aEnd[i];
  }
  return rc;
}

/*
** Find the last leaf of the scan: fill in pSrc->aEnd.
*/
static int hpSourceEnd(HpSource *pSrc, HpKey *pKey){
  Pgno iPg = pSrc->iRoot;
  int i;
  for(i=0; i<BTCURSOR_MAX_DEPTH-1; i++){
    struct HpLevel level;
    int rc = hpSourceLevel(pSrc, iPg, &level);
    if( rc ) return rc;
    if( level.pDb==0 ){
      pSrc->nEnd = i;
      return SQLITE_OK;
    }
    pSrc->aEnd[i] = hpSourceSearch(pSrc, &level, pKey, 1);
    if( pSrc->aEnd[i]>=0 ) iPg = hpSourceChild(pSrc, &level, pSrc->aEnd[i]);
    sqlite3PagerUnrefNotNull(level.pDb);
    if( pSrc->aEnd[i]<0 ) return HP_DECLINE;
  }
  return HP_DECLINE;
}

/*
** Go down to the first leaf of the scan.
*/
static int hpSourceBegin(HpSource *pSrc, HpKey *pKey){
  Pgno iPg = pSrc->iRoot;
  int i;
  for(i=0; i<BTCURSOR_MAX_DEPTH-1; i++){
    struct HpLevel *p = &pSrc->aLevel[i];
    int rc = hpSourceDown(pSrc, i, iPg);
    int iFirst = 0;
    if( rc ) return rc;
    if( p->pDb==0 ){
      if( pSrc->nEnd && pSrc->nEnd!=i ) return HP_DECLINE;
      pSrc->nLevel = i;
      if( i ) p[-1].iChild--;
      return SQLITE_OK;
    }
    if( pKey ) iFirst = hpSourceSearch(pSrc, p, pKey, 0);
    /* No key is in range: stock finds that out as fast */
    if( iFirst<0 || iFirst>p->iLast ) return HP_DECLINE;
    p->iChild = iFirst+1;
    iPg = hpSourceChild(pSrc, p, iFirst);
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
      nLeaf += (p->nCell-iFirst)*n;
      if( i<pSrc->nEnd ) nLeaf += (pSrc->aEnd[i]-p->nCell)*n;
    }
    n *= p->nCell+1;
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
  const HpPlan *pPlan,
  Mem *aMem
){
  Btree *pBtree = db->aDb[pPlan->iDb].pBt;
  const HpRange *pRange = pPlan->pRange;
  HpKey key;
  int rc = SQLITE_OK;
  memset(pSrc, 0, sizeof(*pSrc));
  if( pBtree==0 || (db->flags & SQLITE_CellSizeCk)!=0 ) return HP_DECLINE;
  pSrc->pBt = pBtree->pBt;
  pSrc->pPager = pSrc->pBt->pPager;
  pSrc->szPage = (int)pSrc->pBt->pageSize;
  pSrc->iRoot = pPlan->iRoot;
  pSrc->bIndex = pPlan->bIndex;
  pSrc->bCached = pPlan->bCached;
  if( pSrc->bIndex && pSrc->iRoot==1 ) return HP_DECLINE;
  if( pRange==0 ){
    rc = hpSourceBegin(pSrc, 0);
  }else{
    rc = hpRangeKey(db, pRange, aMem, 1, &key);
    if( rc==SQLITE_OK && key.bOn ) rc = hpSourceEnd(pSrc, &key);
    hpKeyClear(&key);
    if( rc==SQLITE_OK ){
      rc = hpRangeKey(db, pRange, aMem, 0, &key);
      if( rc==SQLITE_OK ) rc = hpSourceBegin(pSrc, key.bOn ? &key : 0);
      hpKeyClear(&key);
    }
  }
  if( rc==SQLITE_OK ) pSrc->nLeaf = hpSourceLeaves(pSrc);
  return rc;
}

/*
** Open the b-tree of p->pPlan for reading.  A read transaction is open.
** p->pSource is to be closed with hpSourceClose(), even on error.
*/
static int hpSourceOpen(HpScan *p, Mem *aMem){
  HpSource *pSrc;
  int rc;

  pSrc = hpArenaAlloc(&p->arena, sizeof(*pSrc));
  if( pSrc==0 ) return HP_DECLINE;
  p->pSource = pSrc;
  rc = hpSourceInit(pSrc, p->db, p->pPlan, aMem);
  if( rc ) return rc;
  if( pSrc->nLevel==0 ){
    pSrc->bRootLeaf = 1;
    pSrc->nMax = 1;
  }else{
    pSrc->nMax = MAX(1, HP_RUN_BYTES/pSrc->szPage);
    if( p->pCfg->nRun ) pSrc->nMax = MIN(pSrc->nMax, p->pCfg->nRun);
    if( pSrc->nLevel==1 ) pSrc->nMax = (int)MIN(pSrc->nMax, pSrc->nLeaf);
    /* Where little is read, fresh memory costs more than requests */
    if( pSrc->nLeaf<HP_MIN_PARALLEL ) pSrc->nMax = MIN(pSrc->nMax, HP_SMALL_RUN);
  }
  pSrc->bDirect = hpSourceDirect(p->pCfg, pSrc->pPager);
#ifndef SQLITE_OMIT_WAL
  pSrc->bWal = pSrc->bDirect && pagerUseWal(pSrc->pPager);
#endif
  return SQLITE_OK;
}

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
  return ROUND8(pSrc->pBt->maxLocal + 4);
}

/*
** Allocate the memory that p->run is read into.
*/
static int hpRunInit(HpExec *p){
  const HpSource *pSrc = p->pScan->pSource;
  HpRun *pRun = &p->run;
  i64 nByte;
  /* Only the header is wanted to count cells */
  pRun->szPage = p->pPlan->eSink==HP_SINK_COUNT ? 8 : pSrc->szPage;
  nByte = (i64)pSrc->nMax*pRun->szPage;
  pRun->aLeaf = hpArenaAlloc(&p->vec, sizeof(Pgno)*pSrc->nMax);
  pRun->aFrame = hpArenaAlloc(&p->vec, sizeof(u32)*pSrc->nMax);
  pRun->aBuf = hpArenaAlloc(&p->vec, nByte + HP_SLACK);
  if( pRun->aLeaf==0 || pRun->aFrame==0 || pRun->aBuf==0 ) return HP_DECLINE;
  memset(pRun->aFrame, 0, sizeof(u32)*pSrc->nMax);
  memset(&pRun->aBuf[nByte], 0, HP_SLACK);
#ifdef HP_READAHEAD
  pRun->aAhead = hpArenaAlloc(&p->vec, sizeof(Pgno)*HP_AHEAD*pSrc->nMax);
  if( pRun->aAhead==0 ) return HP_DECLINE;
#endif
  if( pSrc->bIndex ){
    nByte = (i64)pSrc->nMax*hpSepBytes(pSrc);
    pRun->aSep = hpArenaAlloc(&p->vec, sizeof(HpRecord)*pSrc->nMax);
    pRun->aSepBuf = hpArenaAlloc(&p->vec, nByte + HP_SLACK);
    if( pRun->aSep==0 || pRun->aSepBuf==0 ) return HP_DECLINE;
    memset(pRun->aSepBuf, 0, nByte + HP_SLACK);
  }
  return SQLITE_OK;
}

/*
** Make the lowest level an interior page with children not yet visited.  Set
** *pbEnd if there is none.
*/
static int hpSourceAdvance(HpSource *pSrc, int *pbEnd){
  int i = pSrc->nLevel-1;
  int rc;
  *pbEnd = 0;
  while( pSrc->aLevel[i].iChild>pSrc->aLevel[i].iLast ){
    if( i==0 ){
      *pbEnd = 1;
      return SQLITE_OK;
    }
    hpSourceRelease(pSrc, i);
    i--;
  }
  while( i<pSrc->nLevel-1 ){
    struct HpLevel *pLevel = &pSrc->aLevel[i];
    Pgno iPg = hpSourceChild(pSrc, pLevel, pLevel->iChild++);
    rc = hpSourceDown(pSrc, ++i, iPg);
    if( rc ) return rc;
    pSrc->iAhead = 0;
    if( pSrc->aLevel[i].pDb==0 ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

#ifdef HP_READAHEAD
/* Time, in nanoseconds */
static i64 hpSourceClock(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (i64)t.tv_sec*1000000000 + t.tv_nsec;
}

/*
** Note the leaves that the next runs want, from the lowest interior page.
*/
static void hpSourceLookAhead(HpSource *pSrc, HpRun *pRun){
  const struct HpLevel *p = &pSrc->aLevel[pSrc->nLevel-1];
  int i = MAX(pSrc->iAhead, p->iChild);
  int iEnd = MIN(p->iLast+1, p->iChild + HP_AHEAD*pSrc->nMax);
  AtomicStore(&pSrc->nCold, AtomicLoad(&pSrc->nCold)-1);
  for(; i<iEnd; i++){
    pRun->aAhead[pRun->nAhead++] = hpSourceChild(pSrc, p, i);
  }
  pSrc->iAhead = i;
}

/*
** Tell the operating system about the pages in pRun->aAhead.
*/
static void hpSourceAdvise(const HpSource *pSrc, const HpRun *pRun){
  int fd = ((unixFile*)pSrc->pPager->fd)->h;
  const Pgno *a = pRun->aAhead;
  int i, n;
  for(i=0; i<pRun->nAhead; i+=n){
    for(n=1; i+n<pRun->nAhead && a[i+n]==a[i]+n; n++){}
    if( a[i] ){
      (void)posix_fadvise(fd, (i64)(a[i]-1)*pSrc->szPage, (i64)n*pSrc->szPage,
                          POSIX_FADV_WILLNEED);
    }
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
  i64 iBegin = hpSourceClock();
  hpSourceAdvise(pSrc, pRun);
#endif
  for(i=0; i<pRun->nPage && rc==SQLITE_OK; i+=n){
    u8 *aTo = &pRun->aBuf[(i64)i*szRead];
    n = 1;
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
    rc = sqlite3OsRead(pPager->fd, aTo, n*szRead, (i64)(aLeaf[i]-1)*szPage);
    if( rc==SQLITE_IOERR_SHORT_READ ) rc = HP_DECLINE;
  }
#ifdef HP_READAHEAD
  if( hpSourceClock()-iBegin>(i64)HP_COLD_NS*pRun->nPage ){
    AtomicStore(&pSrc->nCold, HP_COLD_RUNS);
  }
#endif
  return rc;
}

/*
** Read the leaves of pRun through the pager.
*/
static int hpSourceReadPager(const HpSource *pSrc, HpRun *pRun){
  int i;
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
  pSep->z = 0;
  while( p->iChild>p->iLast ){
    if( iLevel==0 ) return SQLITE_OK;
    p = &pSrc->aLevel[--iLevel];
  }
  z = hpSourceCell(pSrc, p, p->iChild-1);
  if( z==0 ) return HP_DECLINE;
  rc = hpCellRecord(pSrc->pBt, &z[4], &p->aData[pSrc->pBt->usableSize], pSep);
  if( rc==SQLITE_OK ){
    u8 *a = &pRun->aSepBuf[(i64)i*hpSepBytes(pSrc)];
    memcpy(a, pSep->z, pSep->nLocal + (pSep->nLocal<pSep->nByte ? 4 : 0));
    pSep->z = a;
  }
  return rc;
}

/*
** Take the page numbers of the next run.  The scan's mutex is held.
*/
static int hpSourceTake(HpSource *pSrc, HpRun *pRun){
  int rc = SQLITE_OK;
  int bEnd;
  int n = 0;
  pRun->nPage = 0;
  pRun->bRoot = pSrc->bRootLeaf!=0;
  pRun->nAhead = 0;
  pRun->iHdr = 0;
  pRun->iSeq = pSrc->iSeq++;
  if( pSrc->bRootLeaf ){
    if( pSrc->bRootLeaf==2 ) return SQLITE_OK;
    pSrc->bRootLeaf = 2;
    pRun->aLeaf[n++] = pSrc->iRoot;
    pRun->iHdr = pSrc->iRoot==1 ? 100 : 0;
    if( pSrc->bIndex ) pRun->aSep[0].z = 0;
  }else{
    struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
    Pgno mxPg = btreePagecount(pSrc->pBt);
    Pgno iLock = PENDING_BYTE_PAGE(pSrc->pBt);  /* Of no b-tree */
    rc = hpSourceAdvance(pSrc, &bEnd);
    if( rc || bEnd ) return rc;
    while( n<pSrc->nMax && pLevel->iChild<=pLevel->iLast ){
      Pgno iPg = hpSourceChild(pSrc, pLevel, pLevel->iChild++);
      if( iPg<2 || iPg>mxPg || iPg==iLock ) return HP_DECLINE;
      if( pSrc->bIndex ){
        rc = hpSourceSep(pSrc, pRun, n);
        if( rc ) return rc;
      }
      pRun->aLeaf[n++] = iPg;
    }
#ifdef HP_READAHEAD
    if( AtomicLoad(&pSrc->nCold)>0 ) hpSourceLookAhead(pSrc, pRun);
#endif
  }
#ifndef SQLITE_OMIT_WAL
  if( pSrc->bWal ){
    int i;
    for(i=0; i<n && rc==SQLITE_OK; i++){
      rc = sqlite3WalFindFrame(pSrc->pPager->pWal, pRun->aLeaf[i],
                               &pRun->aFrame[i]);
    }
  }
#endif
  pRun->nPage = n;
  if( rc==SQLITE_OK && pSrc->bDirect==0 ) rc = hpSourceReadPager(pSrc, pRun);
  return rc;
}

/*
** Read the next run of leaves into p->run.  p->run.nPage is 0 at the end of
** the table.
*/
static int hpSourceNext(HpExec *p){
  HpSource *pSrc = p->pScan->pSource;
  int rc;
  hpScanLock(p->pScan);
  if( pSrc->rc==SQLITE_OK ) pSrc->rc = hpSourceTake(pSrc, &p->run);
  rc = pSrc->rc;
  hpScanUnlock(p->pScan);
  if( rc==SQLITE_OK && pSrc->bDirect ) rc = hpSourceRead(pSrc, &p->run);
  return rc;
}

static void hpSourceClose(HpSource *pSrc){
  if( pSrc ) hpSourceRelease(pSrc, 0);
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
  *pbLarge = 0;
  memset(&src, 0, sizeof(src));
  src.pBt = pBtree->pBt;
  src.pPager = src.pBt->pPager;
  src.bIndex = (u8)bIndex;
  rc = hpSourceLevel(&src, iRoot, &aLevel[0]);
  if( rc==SQLITE_OK && aLevel[0].pDb ){
    if( aLevel[0].nCell+1>=mnLeaf ){
      *pbLarge = 1;
    }else{
      rc = hpSourceLevel(&src, hpSourceChild(&src,&aLevel[0],0), &aLevel[1]);
      if( rc==SQLITE_OK && aLevel[1].pDb ){
        /* With long keys an index page may have few children */
        *pbLarge = (aLevel[0].nCell+1)*(aLevel[1].nCell+1)>=mnLeaf;
        sqlite3PagerUnrefNotNull(aLevel[1].pDb);
      }
    }
    sqlite3PagerUnrefNotNull(aLevel[0].pDb);
  }
  return rc;
}

/*
** The same for the leaves in the range of pPlan, whose constants are in
** aMem[].
**
** A statement that runs often with small ranges pays for being asked each
** time: the more of them there were in a row, the more are let pass.
*/
static int hpSourceRangeIsLarge(
  sqlite3 *db,
  const HpPlan *pPlan,
  Mem *aMem,
  int *pbLarge
){
  HpRange *pRange = pPlan->pRange;
  HpSource src;
  int rc;
  *pbLarge = 0;
  if( pRange->nSkip>0 ){
    pRange->nSkip--;
    return SQLITE_OK;
  }
  rc = hpSourceInit(&src, db, pPlan, aMem);
  *pbLarge = rc==SQLITE_OK && src.nLeaf>=HP_MIN_LEAF;
  hpSourceRelease(&src, 0);
  pRange->nSmall = *pbLarge ? 0 : MIN(2*pRange->nSmall+1, HP_MX_SMALL);
  pRange->nSkip = pRange->nSmall;
  return rc;
}

/*
** True if the interior pages in the cache say that there are HP_MIN_LEAF leaves in
** the range of pPlan.  For use without a transaction: what they say may be out
** of date.
*/
static int hpSourceRangeSeemsLarge(sqlite3 *db, const HpPlan *pPlan, Mem *aMem){
  HpSource src;
  int rc;
  assert( pPlan->bCached );
  rc = hpSourceInit(&src, db, pPlan, aMem);
  hpSourceRelease(&src, 0);
  return rc==SQLITE_OK && src.nLeaf>=HP_MIN_LEAF;
}

/*
** Set *pbLarge if it pays to count the entries of the b-tree of pPlan around
** the page cache: most of its pages are not in there.
*/
static int hpSourceCountIsLarge(
  sqlite3 *db,
  const HpPlan *pPlan,
  int *pbLarge
){
  HpSource src;
  int rc = hpSourceInit(&src, db, pPlan, 0);
  *pbLarge = rc==SQLITE_OK && src.nLeaf>=HP_MIN_PARALLEL
          && src.nLeaf>2*(i64)sqlite3PcachePagecount(src.pPager->pPCache);
  hpSourceRelease(&src, 0);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
