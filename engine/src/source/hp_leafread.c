/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_leafread: the leaves of a run, from where their newest version is.
**
**    hpLeafReadFrames()  before the scan's mutex is left: where is each leaf?
**    hpLeafReadFile()    read leaves from the file and the WAL
**
** There are three ways:
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
** HpRun.aFrame says of each leaf where it is: a frame of the WAL; 0, the file;
** HP_FRAME_HERE, it has been read already, or is not wanted.
**
** Call order: a worker calls hpLeafReadFrames() with the scan's mutex held, and
** hpLeafReadFile() without, unless that has been way 3, where all is read.
**
** Each read tells whether the file is in the operating system's cache: it was
** not if it took longer than HP_COLD_NS a request and HP_COLD_PAGE_NS a page
** (hp_leafahead.c).
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

/*
** Read the leaves of pRun, or no more than the first pRun->szPage bytes of
** each, straight from the file or the WAL.
*/
static int hpLeafReadFile(HpSource *pSrc, HpRun *pRun){
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
** Read those leaves of pRun that the page cache holds, and note which these
** are.
*/
static void hpLeafReadCache(const HpSource *pSrc, HpRun *pRun){
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
static int hpLeafReadPager(const HpSource *pSrc, HpRun *pRun){
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
** The numbers of the leaves of pRun are known.  Find out where each of them is,
** and read those that only the page cache, or the pager, has.  The scan's mutex
** is held.
*/
static int hpLeafReadFrames(HpSource *pSrc, HpRun *pRun){
  int n = pRun->nPage;
  int rc = SQLITE_OK;
  int i;
  assert( n>0 && pRun->pKept==0 );
  if( pSrc->pColumns ) memset(pRun->aFrame, 0, sizeof(u32)*n);
  if( pSrc->bDirty && pSrc->bDirect ) hpLeafReadCache(pSrc, pRun);
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
  assert( n<=pSrc->nMax && hpDescentIsSane(pSrc) );
  if( rc==SQLITE_OK && pSrc->bDirect==0 ) rc = hpLeafReadPager(pSrc, pRun);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
