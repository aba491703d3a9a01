/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_source: the leaf pages of a table b-tree, in key order, in runs.
**
**    hpSourceOpen()     find the way down to the leaves
**    hpRunInit()        memory for a worker's runs
**    hpSourceNext()     read the next run of leaves into a worker's memory
**    hpSourceParallel() may several workers call that?
**    hpSourceClose()    let go of the interior pages
**    hpSourceIsLarge()  is the table worth the trouble? (any time)
**
** A table b-tree lists its leaves in its lowest interior pages, so the page
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

struct HpSource {
  BtShared *pBt;         /* The b-tree's file */
  Pager *pPager;         /* Its pager */
  int szPage;            /* Bytes a page */
  u8 bDirect;            /* Way 1 or 2; otherwise way 3 */
  u8 bWal;               /* Some leaves may be in the WAL */
  u8 bRootLeaf;          /* The root is the only leaf.  2: it has been read */
  int nLevel;            /* Interior levels */
  int nMax;              /* Most leaves a run */
  u32 iSeq;              /* Number of the next run */
  Pgno iRoot;            /* Root page */
  struct HpLevel {       /* The way from the root to the current leaves */
    DbPage *pDb;           /* Interior page, referenced */
    const u8 *aHdr;        /* Its b-tree header */
    const u8 *aData;       /* Its first byte */
    int nCell;             /* Its cells: it has nCell+1 children */
    int iChild;            /* Next child to visit */
  } aLevel[BTCURSOR_MAX_DEPTH];
};

/*
** Fetch page iPg, which must be an interior page of a table b-tree, into
** *pLevel.  If it is a leaf instead set pLevel->pDb to 0 and return SQLITE_OK.
*/
static int hpSourceLevel(HpSource *pSrc, Pgno iPg, struct HpLevel *pLevel){
  int rc;
  DbPage *pDb;
  const u8 *aHdr;
  memset(pLevel, 0, sizeof(*pLevel));
  if( iPg<1 || iPg>btreePagecount(pSrc->pBt) ) return HP_DECLINE;
  rc = sqlite3PagerGet(pSrc->pPager, iPg, &pDb, PAGER_GET_READONLY);
  if( rc ) return rc;
  pLevel->aData = sqlite3PagerGetData(pDb);
  aHdr = pLevel->aData + (iPg==1 ? 100 : 0);
  if( aHdr[0]==(PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF) ){
    sqlite3PagerUnrefNotNull(pDb);
    return SQLITE_OK;
  }
  pLevel->nCell = get2byte(&aHdr[3]);
  if( aHdr[0]!=(PTF_INTKEY|PTF_LEAFDATA)
   || pLevel->nCell<1 || pLevel->nCell>(int)MX_CELL(pSrc->pBt)
  ){
    sqlite3PagerUnrefNotNull(pDb);
    return HP_DECLINE;
  }
  pLevel->aHdr = aHdr;
  pLevel->pDb = pDb;
  return SQLITE_OK;
}

/*
** Page number of child i of an interior page, or 0 if its cell is not
** where a cell can be.
*/
static Pgno hpSourceChild(const HpSource *pSrc, const struct HpLevel *p, int i){
  int ofst;
  if( i==p->nCell ) return get4byte(&p->aHdr[8]);
  ofst = get2byte(&p->aHdr[12+2*i]);
  if( ofst<12 || ofst>(int)pSrc->pBt->usableSize-4 ) return 0;
  return get4byte(&p->aData[ofst]);
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
      && sqlite3PcacheDirtyList(pPager->pPCache)==0
      && isOpen(pPager->fd)
      && pPager->fd->pMethods->xRead==unixRead;
#else
  return 0;
#endif
}

/*
** Open the table b-tree of p->pPlan for reading.  A read transaction is
** open.  p->pSource is to be closed with hpSourceClose(), even on error.
*/
static int hpSourceOpen(HpScan *p){
  Btree *pBtree = p->db->aDb[p->pPlan->iDb].pBt;
  HpSource *pSrc;
  int rc;
  int i;

  if( pBtree==0 || (p->db->flags & SQLITE_CellSizeCk)!=0 ) return HP_DECLINE;
  pSrc = hpArenaAlloc(&p->arena, sizeof(*pSrc));
  if( pSrc==0 ) return HP_DECLINE;
  memset(pSrc, 0, sizeof(*pSrc));
  pSrc->pBt = pBtree->pBt;
  pSrc->pPager = pSrc->pBt->pPager;
  pSrc->szPage = (int)pSrc->pBt->pageSize;
  pSrc->iRoot = p->pPlan->iRoot;
  p->pSource = pSrc;
  rc = hpSourceLevel(pSrc, pSrc->iRoot, &pSrc->aLevel[0]);
  if( rc ) return rc;
  if( pSrc->aLevel[0].pDb==0 ){
    pSrc->bRootLeaf = 1;
    pSrc->nMax = 1;
  }else{
    for(i=0; pSrc->aLevel[i].pDb; i++){
      if( i>=BTCURSOR_MAX_DEPTH-1 ) return HP_DECLINE;
      rc = hpSourceLevel(pSrc, hpSourceChild(pSrc, &pSrc->aLevel[i], 0),
                         &pSrc->aLevel[i+1]);
      if( rc ) return rc;
      pSrc->aLevel[i].iChild = 1;
    }
    pSrc->nLevel = i;
    pSrc->aLevel[i-1].iChild = 0;
    pSrc->nMax = MAX(1, HP_RUN_BYTES/pSrc->szPage);
    if( p->pCfg->nRun ) pSrc->nMax = MIN(pSrc->nMax, p->pCfg->nRun);
    if( i==1 ) pSrc->nMax = MIN(pSrc->nMax, pSrc->aLevel[0].nCell+1);
  }
  pSrc->bDirect = hpSourceDirect(p->pCfg, pSrc->pPager);
#ifndef SQLITE_OMIT_WAL
  pSrc->bWal = pSrc->bDirect && pagerUseWal(pSrc->pPager);
#endif
  return SQLITE_OK;
}

/*
** True if several workers may take runs: reading goes around the pager, and
** the table is large enough or bAny is set.  Its size is known from two pages.
*/
static int hpSourceParallel(const HpSource *pSrc, int bAny){
  i64 nLeaf;
  int i;
  if( pSrc->bDirect==0 || pSrc->nLevel==0 ) return 0;
  nLeaf = pSrc->aLevel[0].nCell+1;
  for(i=1; i<pSrc->nLevel; i++) nLeaf *= pSrc->aLevel[i].nCell+1;
  return bAny || nLeaf>=HP_MIN_PARALLEL;
}

/*
** Allocate the memory that p->run is read into.
*/
static int hpRunInit(HpExec *p){
  const HpSource *pSrc = p->pScan->pSource;
  HpRun *pRun = &p->run;
  i64 nByte = (i64)pSrc->nMax*pSrc->szPage;
  pRun->szPage = pSrc->szPage;
  pRun->aLeaf = hpArenaAlloc(&p->vec, sizeof(Pgno)*pSrc->nMax);
  pRun->aFrame = hpArenaAlloc(&p->vec, sizeof(u32)*pSrc->nMax);
  pRun->aBuf = hpArenaAlloc(&p->vec, nByte + HP_SLACK);
  if( pRun->aLeaf==0 || pRun->aFrame==0 || pRun->aBuf==0 ) return HP_DECLINE;
  memset(pRun->aFrame, 0, sizeof(u32)*pSrc->nMax);
  memset(&pRun->aBuf[nByte], 0, HP_SLACK);
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
  while( pSrc->aLevel[i].iChild>pSrc->aLevel[i].nCell ){
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
    rc = hpSourceLevel(pSrc, iPg, &pSrc->aLevel[++i]);
    if( rc ) return rc;
    if( pSrc->aLevel[i].pDb==0 ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** Read the leaves of pRun straight from the file or the WAL.
*/
static int hpSourceRead(const HpSource *pSrc, HpRun *pRun){
  Pager *pPager = pSrc->pPager;
  const Pgno *aLeaf = pRun->aLeaf;
  const u32 *aFrame = pRun->aFrame;
  int szPage = pSrc->szPage;
  int mxRead = HP_READ_BYTES/szPage;   /* Most pages a read */
  int rc = SQLITE_OK;
  int i, n;
  for(i=0; i<pRun->nPage && rc==SQLITE_OK; i+=n){
    u8 *aTo = &pRun->aBuf[(i64)i*szPage];
    n = 1;
#ifndef SQLITE_OMIT_WAL
    if( aFrame[i] ){
      rc = sqlite3WalReadFrame(pPager->pWal, aFrame[i], szPage, aTo);
      continue;
    }
#endif
    while( n<mxRead && i+n<pRun->nPage
        && aLeaf[i+n]==aLeaf[i]+n && aFrame[i+n]==0
    ){
      n++;
    }
    rc = sqlite3OsRead(pPager->fd, aTo, n*szPage, (i64)(aLeaf[i]-1)*szPage);
    if( rc==SQLITE_IOERR_SHORT_READ ) rc = HP_DECLINE;
  }
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
    memcpy(&pRun->aBuf[(i64)i*pSrc->szPage], sqlite3PagerGetData(pDb),
           pSrc->szPage);
    sqlite3PagerUnrefNotNull(pDb);
  }
  return SQLITE_OK;
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
  pRun->iHdr = 0;
  pRun->iSeq = pSrc->iSeq++;
  if( pSrc->bRootLeaf ){
    if( pSrc->bRootLeaf==2 ) return SQLITE_OK;
    pSrc->bRootLeaf = 2;
    pRun->aLeaf[n++] = pSrc->iRoot;
    pRun->iHdr = pSrc->iRoot==1 ? 100 : 0;
  }else{
    struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
    Pgno mxPg = btreePagecount(pSrc->pBt);
    rc = hpSourceAdvance(pSrc, &bEnd);
    if( rc || bEnd ) return rc;
    while( n<pSrc->nMax && pLevel->iChild<=pLevel->nCell ){
      Pgno iPg = hpSourceChild(pSrc, pLevel, pLevel->iChild++);
      if( iPg<2 || iPg>mxPg ) return HP_DECLINE;
      pRun->aLeaf[n++] = iPg;
    }
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
  rc = hpSourceTake(pSrc, &p->run);
  hpScanUnlock(p->pScan);
  if( rc==SQLITE_OK && pSrc->bDirect ) rc = hpSourceRead(pSrc, &p->run);
  return rc;
}

static void hpSourceClose(HpSource *pSrc){
  if( pSrc ) hpSourceRelease(pSrc, 0);
}

/*
** Set *pbLarge if the table at iRoot has HP_MIN_LEAF leaves or more, looking
** at two pages at most.  A read transaction is open.
*/
static int hpSourceIsLarge(Btree *pBtree, Pgno iRoot, int *pbLarge){
  HpSource src;
  struct HpLevel aLevel[2];
  int rc;
  *pbLarge = 0;
  memset(&src, 0, sizeof(src));
  src.pBt = pBtree->pBt;
  src.pPager = src.pBt->pPager;
  rc = hpSourceLevel(&src, iRoot, &aLevel[0]);
  if( rc==SQLITE_OK && aLevel[0].pDb ){
    if( aLevel[0].nCell+1>=HP_MIN_LEAF ){
      *pbLarge = 1;
    }else{
      rc = hpSourceLevel(&src, hpSourceChild(&src,&aLevel[0],0), &aLevel[1]);
      if( rc==SQLITE_OK && aLevel[1].pDb ){
        *pbLarge = 1;
        sqlite3PagerUnrefNotNull(aLevel[1].pDb);
      }
    }
    sqlite3PagerUnrefNotNull(aLevel[0].pDb);
  }
  return rc;
}
#endif /* SQLITE_OMIT_HP */
