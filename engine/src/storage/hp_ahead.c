/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_ahead: telling the operating system which pages will be read next.
**
**    sqlite3HpAheadStep()   a cursor leaves a leaf in the course of a scan
**    sqlite3HpAheadCheck()  integrity_check goes on to the next leaf
**    sqlite3HpAheadRow()    a row of a table is looked up by way of an index
**    sqlite3HpAheadRead()   read a page, and notice whether that takes long
**    hpAheadOn()            may pages of this database be asked for?
**    hpAheadSlow(), hpAheadClock()    was a read slow?
**    hpAheadNear(), hpAheadSpan()     does the system read ahead by itself?
**    hpAheadMissing()       is a page not in the page cache?
**    hpAheadFrames()        where are these pages, in the WAL or in the file?
**    hpAheadAsk()           ask for them
**
** The leaves of a table that grew together with others are scattered over the
** file.  Read one after the other, each is a small read at a random place: the
** disk does one at a time, and the operating system, which guesses what is
** wanted from where the last reads were, guesses nothing.  But the pages that a
** scan will read are known: the interior page above the current leaf lists
** them.  So they are asked for ahead (POSIX_FADV_WILLNEED), many at a time,
** adjacent ones in one request, and the disk works on all of them while the
** scan goes on.  On the disk of a virtual machine a random read took 90 us, and
** a page that was asked for among 256 others arrived every 9 us.
**
** Asking is a hint.  What a page holds comes from SQLite's own read, at the
** same time as ever, so no answer depends on what is done here, nor on any
** error.  A page number that a corrupt interior page lists is asked for if the
** database has a page of that number, and that is all.
**
** WHEN.  Each leaf that a scan moves on to is a step.  HpAhead.nWait counts
** steps down in the cursor, and only when it is used up is anything done:
**
**    The first step of a scan only notes where the scan is and has the read of
**    the next leaf timed.  A step belongs to the same scan if the cursor is now
**    where so many steps would have brought it; a cursor that was moved in
**    between begins again.
**
**    From the second step on: if the read was fast, the page was in the
**    operating system's cache.  Then nothing is asked for, and the next look is
**    1, 3, 7 and from then on every 15 steps later (63 if all is in the page
**    cache): a scan of what is cached costs a counter for each leaf, and 50 ns
**    for each 16.  If it was slow, longer than HP_SLOW_NS, the next
**    HP_AHEAD_MIN leaves are asked for.
**
**    When half of what was asked for is used up, more is: twice as much
**    ahead if some read was slow in the meantime, up to HP_AHEAD_MAX pages.  So
**    a query that stops after some rows (LIMIT) has asked for no more than
**    about what it had read, and a disk with long delays gets a long queue.
**
**    How long asking takes tells whether the pages were cached: 0.15 us a page
**    if so, 1.4 us to 4 us if the system has to find memory and to begin a
**    read.  When what was asked for was cached, asking ends, and reads are
**    timed again after those pages.
**
** What to ask for is put into the order of the file, and pages go into one
** request as long as they are half of what lies between the first and the last
** of them: one request takes the disk as long as two pages do.
**
** Where leaves are adjacent the operating system reads ahead by itself, in
** larger pieces and as cheaply.  So the time of a read tells something only if
** the page is not the one after the page before, and a list of pages that goes
** on where the scan is in one piece is left to it.  Where leaves are in runs of
** some pages each, as those of tables that grew by many rows at a time, the
** looks are at the beginnings of runs.
**
** The same where overflow pages lie between the leaves, if the scan reads them.
** Leaves that were asked for, one here and one there, would only break what
** the operating system sees of the order.  So the overflow pages that a cursor
** reads are counted, each leaf then stands for so many pages (hpAheadSpan()),
** and if that is half of what lies between the leaves they are left alone.  The
** executor, which reads a run of leaves before it follows their chains, asks
** for all that lies between.
**
** The end of an interior page would be the end of what is known.  When it comes
** into sight its sibling is asked for, and half of that distance later it is
** read (that is: fetched into the page cache where the scan will look for it
** soon) and its first children are asked for.
**
** ROWS.  A range of an index names the rows of a table in an order that has
** nothing to do with theirs: each is a random read, or two.  While rows are
** looked up through the index, and two reads of the last few were slow, the
** entries that follow on the leaf of the index say which rowids come next.  The
** way to each goes down the table's interior pages as far as these are in the
** page cache; the page where it ends is asked for.  That is the leaf, or an
** interior page, which half of the distance later will be there: then it is
** read and the leaf below it asked for.  The distance grows as above, and the
** entries have to be visited one after the other: a search that takes three
** entries here and three there does not get past its first steps.  When the
** distance is an eighth of all pages of the file it is asked for as a whole: so
** much of it is wanted, and what comes next is likely to want the rest.
**
** AROUND.  The system reads more than it is told where it sees an order.  If some
** pages of a file have been asked for and those between them have not, it sees
** none: without us it would have read most of a small file while a part of it was
** wanted, and rows looked up later here and there would have been in its cache.
** So if this process has asked for some share of a file, of HP_AROUND_FILE at most,
** and single reads are slow that nobody asked for, what is around them is asked
** for: the file is soon there as a whole.  The reads of a connection are timed for
** that until HP_AROUND_READS in a row are fast.
**
** WHERE.  Only files of the built-in unix VFS, and through the handle that the
** connection has anyway: to open and close another would drop the locks
** of this process.  Not for temporary files, which are written to be read soon.
** In WAL mode a page whose newest version under the read mark of the
** transaction is in the WAL is asked for there.  Pages that the page cache
** holds are not.  What is read through a memory map (PRAGMA mmap_size) takes no
** time that could be seen here, so nothing is asked for.
**
** The vectorised executor reads leaves by itself, in runs: see hp_source.c.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_AHEAD_MIN      4    /* Pages asked for at first */
#define HP_AHEAD_MAX    256    /* And most: what a disk's queue holds.  With
                               ** more, asking itself waits for the disk */
#define HP_AHEAD_GAP     64    /* Most pages that are not leaves between two
                               ** leaves that are asked for in one request */
#define HP_AHEAD_FILE     8    /* Look-ups that look this share of the file
                               ** ahead ask for all of it */
#define HP_AHEAD_IDLE    15    /* Steps between looks while reads are fast, */
#define HP_AHEAD_CACHED  63    /* ... while there are none */
#define HP_AHEAD_NEVER   0xffff

/* Asking for what is in the operating system's cache takes less time than
** this, in nanoseconds a request and a page */
#define HP_ASK_NS       500
#define HP_ASK_PAGE_NS  100

#define HP_AROUND_FIRST   4    /* Slow reads before: a scan has some as well */
#define HP_AROUND_SHARE  64    /* One page in so many has been asked for */
#define HP_AROUND_BYTES  (256*1024)       /* What is asked for around one */
#define HP_AROUND_FILE   (128*1024*1024)  /* Largest file where that is done */

#define HP_ROWS_FIRST     3    /* Rows before the first look */
#define HP_ROWS_MIN       8    /* Rows looked ahead at first */
#define HP_ROWS_IDLE     63    /* Rows between looks while reads are fast */

/*
** True if page iPg comes soon after page iPrev in the file: where a table is in
** order, the leaves of two interior pages have one of these in between, or three
** where interior pages of two levels were split.
*/
static int hpAheadNear(Pgno iPrev, Pgno iPg){
  return iPg-iPrev-1<4;
}

/*
** True if pages of pFile may be asked for.
*/
static int hpAheadFile(const sqlite3_file *pFile){
#ifdef HP_READAHEAD
  return isOpen(pFile) && pFile->pMethods->xRead==unixRead;
#else
  UNUSED_PARAMETER(pFile);
  return 0;
#endif
}

/*
** True if pages of the database of pBt may be asked for on behalf of db.
*/
static int hpAheadOn(const sqlite3 *db, const BtShared *pBt){
  const Pager *pPager = pBt->pPager;
  return db->hp.bNoAhead==0
      && hpConfig()->bOff==0
      && MEMDB==0
      && pPager->tempFile==0
      && hpAheadFile(pPager->fd);
}

#ifdef HP_READAHEAD
/*
** True if n leaves after page iFirst, of which iLast is the last and none is
** farther than HP_AHEAD_GAP behind the one before it, are read as well if they
** are left to the operating system: nearly all of what lies between is leaves,
** or half of it with the overflow pages that come to be read.
**
** It takes adjacent reads to see a pattern: where each third page is a leaf it
** sees none.
*/
static int hpAheadInOrder(Pgno iFirst, Pgno iLast, int n, int nSpan){
  Pgno nPage = iLast-iFirst;
  assert( n>0 && nSpan>0 );
  return nPage<=(nSpan==1 ? (Pgno)(n + n/8 + 3) : 2*(Pgno)n*nSpan);
}

/*
** A scan that left nLeaf leaves read nChain overflow pages of their rows: how
** many pages each leaf stands for, with itself.
*/
static int hpAheadSpan(i64 nLeaf, i64 nChain){
  assert( nChain>=0 );
  if( nChain==0 || nLeaf<=0 ) return 1;
  return 1 + (int)MIN(HP_AHEAD_GAP, (nChain+nLeaf-1)/nLeaf);
}

/*
** Set aFrame[i] to the frame of the WAL that holds page aPg[i], or to 0 if the
** database file does.
*/
static int hpAheadFrames(Pager *pPager, const Pgno *aPg, u32 *aFrame, int n){
  int rc = SQLITE_OK;
#ifndef SQLITE_OMIT_WAL
  if( pagerUseWal(pPager) ){
    int i;
    for(i=0; i<n && rc==SQLITE_OK; i++){
      assert( aPg[i]>0 );
      rc = sqlite3WalFindFrame(pPager->pWal, aPg[i], &aFrame[i]);
    }
  }else
#endif
  memset(aFrame, 0, n*sizeof(u32));
  return rc;
}

/* Time, in nanoseconds */
static i64 hpAheadClock(void){
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (i64)t.tv_sec*1000000000 + t.tv_nsec;
}

/* Is it more than n nanoseconds since iBegin?  (Tests say what it is.) */
static int hpAheadSlow(i64 iBegin, i64 n){
  int eDisk = hpConfig()->eDisk;
  return eDisk==HP_DISK_REAL ? hpAheadClock()-iBegin>n : eDisk==HP_DISK_COLD;
}

/* Ask for these bytes of pFile, of which hpAheadFile() is true */
static void hpAheadAdvise(const sqlite3_file *pFile, i64 iOfst, i64 nByte){
  assert( hpAheadFile(pFile) && iOfst>=0 && nByte>0 );
  (void)posix_fadvise(((const unixFile*)pFile)->h, iOfst, nByte,
                      POSIX_FADV_WILLNEED);
}

/*
** Pages that this process has asked for, by files: file i is one of those whose
** dev and ino give that number.  Only a hint.  Atomic.
*/
static u32 aHpAsked[16];
static u32 *hpAheadAsked(const Pager *pPager){
  const unixInodeInfo *pInode = ((const unixFile*)pPager->fd)->pInode;
  u64 x;
  assert( hpAheadFile(pPager->fd) );
  if( pInode==0 ) return &aHpAsked[0];
  x = hpHashMix((u64)pInode->fileId.dev*31 + (u64)pInode->fileId.ino);
  return &aHpAsked[x & (ArraySize(aHpAsked)-1)];
}

/*
** Of n pages that will be wanted, aPg[0] is in the database file.  Return how
** many, from it on, to ask for in one request: the stretch from *piLow to
** *piHigh, half of which at least will be wanted.
*/
static int hpAheadStretch(
  const Pgno *aPg,
  const u32 *aFrame,     /* Which are in the WAL */
  int n,
  int nSpan,             /* See hpAheadSpan() */
  Pgno *piLow,
  Pgno *piHigh
){
  Pgno iLow = aPg[0], iHigh = aPg[0];
  int k;
  assert( n>0 && aFrame[0]==0 && nSpan>=1 && nSpan<=HP_AHEAD_GAP+1 );
  for(k=1; k<n && aFrame[k]==0; k++){
    Pgno iPg = aPg[k];
    Pgno iLow2 = MIN(iLow, iPg), iHigh2 = MAX(iHigh, iPg);
    if( iLow-iLow2>HP_AHEAD_GAP || iHigh2-iHigh>HP_AHEAD_GAP
     || iHigh2-iLow2>=2*(Pgno)nSpan*(k+1)
    ){
      break;
    }
    iLow = iLow2;
    iHigh = iHigh2;
  }
  assert( iHigh-iLow<2*(Pgno)nSpan*k );
  *piLow = iLow;
  *piHigh = iHigh;
  return k;
}

/*
** Ask for n pages, best in the order of the file; aFrame says which of them are
** in the WAL.  Return true if it seems that they had to be read from disk.
*/
static int hpAheadAsk(
  Pager *pPager,
  const Pgno *aPg,
  const u32 *aFrame,
  int n,
  int nSpan,             /* See hpAheadSpan() */
  u32 *pnPage            /* IN/OUT: Pages asked for */
){
  int szPage = pPager->pageSize;
  int nAsk = 0;
  u32 nPage = 0;
  u32 *pAsked;
  i64 iBegin = hpAheadClock();
  int i, k;
  assert( n>0 );
  for(i=0; i<n; i+=k){
    const sqlite3_file *pFile = pPager->fd;
    i64 iOfst, nByte;
    k = 1;
#ifndef SQLITE_OMIT_WAL
    if( aFrame[i] ){
      assert( pagerUseWal(pPager) );
      while( i+k<n && aFrame[i+k]==aFrame[i]+k ) k++;
      pFile = pPager->pWal->pWalFd;
      if( !hpAheadFile(pFile) ) continue;
      iOfst = walFrameOffset(aFrame[i], szPage);
      nByte = (i64)k*(szPage + WAL_FRAME_HDRSIZE);
      nPage += k;
    }else
#endif
    {
      Pgno iLow, iHigh;
      k = hpAheadStretch(&aPg[i], &aFrame[i], n-i, nSpan, &iLow, &iHigh);
      iOfst = (i64)(iLow-1)*szPage;
      nByte = (i64)(iHigh-iLow+1)*szPage;
      nPage += iHigh-iLow+1;
    }
    hpAheadAdvise(pFile, iOfst, nByte);
    nAsk++;
  }
  *pnPage += nPage;
  pAsked = hpAheadAsked(pPager);
  AtomicStore(pAsked, AtomicLoad(pAsked)+nPage);
  AtomicStore(&pPager->nHpFast, 0);
  return hpAheadSlow(iBegin, (i64)HP_ASK_NS*nAsk + (i64)HP_ASK_PAGE_NS*nPage);
}

/*
** Page iPg of the database was read, by itself and slowly.  If the file is small
** ask for what is around it.
*/
static void hpAheadAround(Pager *pPager, Pgno iPg){
  i64 nByte = (i64)pPager->dbSize*pPager->pageSize;
  i64 iOfst = (i64)(iPg-1)*pPager->pageSize;
  const BtShared *pBt = (const BtShared*)pPager->pBusyHandlerArg;
  u32 iFrame;
  if( pPager->xBusyHandler!=btreeInvokeBusyHandler || nByte>HP_AROUND_FILE
   || !hpAheadOn(pBt->db, pBt)
   || (AtomicLoad(hpAheadAsked(pPager))<pPager->dbSize/HP_AROUND_SHARE
       && hpConfig()->eDisk!=HP_DISK_SINGLE)
   || hpAheadFrames(pPager, &iPg, &iFrame, 1) || iFrame!=0
  ){
    return;
  }
  assert( pBt->pPager==pPager );     /* Whose busy handler it is */
  iOfst -= iOfst % HP_AROUND_BYTES;
  assert( iOfst>=0 );
  if( iOfst<nByte ){
    hpAheadAdvise(pPager->fd, iOfst, MIN(HP_AROUND_BYTES, nByte-iOfst));
  }
}

/*
** readDbPage(), timed.
*/
SQLITE_PRIVATE int sqlite3HpAheadRead(PgHdr *pPg){
  Pager *pPager = pPg->pPager;
  int eDisk = hpConfig()->eDisk;
  i64 iBegin = hpAheadClock();
  int rc = readDbPage(pPg);
  int bSlow = hpAheadSlow(iBegin, HP_SLOW_NS(pPager->pageSize));
  if( pPager->nHpTime ){
    pPager->nHpTime--;
    pPager->nHpSlow += bSlow;
  }else if( pPager->nHpDue==0 ){
    u32 nFast = AtomicLoad(&pPager->nHpFast);
    if( eDisk!=HP_DISK_REAL ) bSlow = eDisk==HP_DISK_SINGLE;
    pPager->nHpLone += bSlow;
    if( bSlow && rc==SQLITE_OK && pPager->nHpLone>HP_AROUND_FIRST ){
      hpAheadAround(pPager, pPg->pgno);
    }
    AtomicStore(&pPager->nHpFast, bSlow ? 0 : nFast+1);
  }
  if( pPager->nHpDue ) pPager->nHpDue--;
  return rc;
}

/* The pages to ask for next */
struct HpWant {
  Pager *pPager;
  Pgno mxPg;             /* The largest there can be */
  int n;
  Pgno aPg[HP_AHEAD_MAX+2];
};

static void hpAheadInit(struct HpWant *pWant, BtShared *pBt){
  pWant->pPager = pBt->pPager;
  pWant->mxPg = btreePagecount(pBt);
  pWant->n = 0;
}

/*
** True if page iPg is not in the page cache.
*/
static int hpAheadMissing(Pager *pPager, Pgno iPg){
  DbPage *pDb;
  if( iPg<2 ) return 0;
  pDb = sqlite3PagerLookup(pPager, iPg);
  if( pDb ) sqlite3PagerUnrefNotNull(pDb);
  return pDb==0;
}

/*
** Page iPg will be wanted.
*/
static void hpAheadWant(struct HpWant *pWant, Pgno iPg){
  int n = pWant->n;
  assert( n>=0 && n<=ArraySize(pWant->aPg) );
  if( iPg>pWant->mxPg || n>=ArraySize(pWant->aPg) ) return;
  if( n>0 && pWant->aPg[n-1]==iPg ) return;
  if( hpAheadMissing(pWant->pPager, iPg) ) pWant->aPg[pWant->n++] = iPg;
}

#ifdef SQLITE_DEBUG
/* What is kept of a scan, which may have looked at it or not */
static int hpAheadIsSane(const HpAhead *p){
  if( p->iDir==0 ) return 1;     /* Nothing else was set */
  if( p->iDir!=1 && p->iDir!=-1 ) return 0;
  if( p->nDepth>HP_AHEAD_MAX || (p->bAsk && p->nDepth<1) ) return 0;
  return p->nIdle<=MAX(HP_AHEAD_CACHED, HP_ROWS_IDLE);
}
#endif

/*
** Ask for the pages that are wanted.  Return false if it seems that all of
** them were in the operating system's cache.
*/
static int hpAheadSend(sqlite3 *db, struct HpWant *pWant, int nSpan){
  u32 aFrame[ArraySize(pWant->aPg)];
  int n = pWant->n;
  u32 nPage = 0;
  int bCold;
  assert( n==0 || pWant->pPager->tempFile==0 );
  pWant->n = 0;
  /* Near ones are asked for in one request, wherever a scan comes to them */
  hpPageSort(pWant->aPg, (u32)n);
  if( n==0 || hpAheadFrames(pWant->pPager, pWant->aPg, aFrame, n) ) return 1;
  bCold = hpAheadAsk(pWant->pPager, pWant->aPg, aFrame, n, nSpan, &nPage);
  db->hp.aStat[HP_STAT_AHEAD] += nPage;
  pWant->pPager->nHpDue = (u32)n;
  /* A single page says little: asking may have been interrupted */
  return bCold || n==1;
}

/*
** Fetch interior page iPg into *pInner, if it is one.  If bRead is false it is
** only looked for in the page cache.
*/
static DbPage *hpAheadInner(
  BtShared *pBt,
  Pgno iPg,
  int eType,             /* Type that the page has to have */
  int bRead,
  HpInner *pInner
){
  Pager *pPager = pBt->pPager;
  DbPage *pDb = 0;
  assert( eType!=0 && (eType & PTF_LEAF)==0 );
  if( iPg<2 || iPg>btreePagecount(pBt) ) return 0;
  if( bRead && pPager->pPCache->pDirty==0 ){
    /* Of an error nobody hears here: SQLite will read the page as well */
    if( sqlite3PagerGet(pPager, iPg, &pDb, PAGER_GET_READONLY) ) return 0;
  }else{
    pDb = sqlite3PagerLookup(pPager, iPg);
    if( pDb==0 ) return 0;
  }
  if( hpPageInner(pInner, pBt, sqlite3PagerGetData(pDb), iPg)!=eType ){
    sqlite3PagerUnrefNotNull(pDb);
    return 0;
  }
  return pDb;
}

/* The interior page pPage */
static void hpAheadOfPage(HpInner *p, const MemPage *pPage){
  assert( pPage->isInit && pPage->leaf==0 );
  p->aData = pPage->aData;
  p->aHdr = &pPage->aData[pPage->hdrOffset];
  p->aEnd = &pPage->aData[pPage->pBt->usableSize];
  p->nCell = pPage->nCell;
}

/* Child k of *p, counted in direction iDir */
static Pgno hpAheadChild(const HpInner *p, int k, int iDir){
  assert( iDir==1 || iDir==-1 );
  return hpPageChild(p, iDir>0 ? k : p->nCell-k);
}

/*
** The children of the interior page above pCur's leaf have been asked for.
** Ask for n children of the interior page that comes next; or for that page
** itself, and return true: its children are to be asked for soon.
*/
static int hpAheadSibling(
  HpAhead *p,
  BtCursor *pCur,
  int n,
  struct HpWant *pWant
){
  const MemPage *pUp = pCur->apPage[pCur->iPage-1];
  int iUp = pCur->aiIdx[pCur->iPage-1] + p->iDir;
  HpInner in;
  DbPage *pDb;
  Pgno iPg;
  assert( pCur->iPage>0 && p->bAsk && n>0 );
  if( iUp<0 || iUp>pUp->nCell ) return 0;
  hpAheadOfPage(&in, pUp);
  iPg = hpPageChild(&in, iUp);
  if( iPg!=p->iNextPg ){
    p->iNextPg = iPg;
    p->nNext = 0;
    hpAheadWant(pWant, iPg);
    return 1;
  }
  pDb = hpAheadInner(pCur->pBt, iPg, in.aHdr[0], 1, &in);
  if( pDb==0 ) return 0;
  for(; p->nNext<n && p->nNext<=in.nCell; p->nNext++){
    hpAheadWant(pWant, hpAheadChild(&in, p->nNext, p->iDir));
  }
  sqlite3PagerUnrefNotNull(pDb);
  return 0;
}

/*
** Reads were slow, or not, since the last look: begin to ask, ask for more, or
** look less often.
*/
static void hpAheadAdapt(HpAhead *p, int bSlow, int mn, int mx, int mxIdle){
  assert( mn>0 && mx>0 && mx<=HP_AHEAD_MAX );
  if( p->bAsk ){
    if( bSlow ) p->nDepth = (u16)MIN(2*p->nDepth, mx);
  }else if( bSlow ){
    p->bAsk = 1;
    p->nDepth = (u16)MIN(mx, MAX(mn, p->nDepth/2));
  }else{
    p->nIdle = (u8)MIN(2*p->nIdle+1, mxIdle);
  }
  assert( hpAheadIsSane(p) );
}

/* What was asked for was in the operating system's cache */
static void hpAheadStop(HpAhead *p){
  p->bAsk = 0;
  p->nIdle = 0;
}

/* Have the next n reads timed */
static void hpAheadTime(HpAhead *p, Pager *pPager, int n){
  assert( n>=0 );
  p->nSlow = pPager->nHpSlow;
  pPager->nHpTime = MAX(pPager->nHpTime, (u32)n);
}

/*
** A scan in direction iDir has left a child of interior page pPage and goes on
** with child iChild.  The children are leaves.  *p is what is kept of the scan;
** bSame is true if it is where it was expected.
*/
static void hpAheadLeaves(
  HpAhead *p,
  sqlite3 *db,
  MemPage *pPage,
  int iChild,
  int iDir,
  int bSame,
  BtCursor *pCur         /* The cursor that scans, or NULL */
){
  BtShared *pBt = pPage->pBt;
  Pager *pPager = pBt->pPager;
  HpInner in;
  int k;                 /* The number of iChild in the direction of the scan */
  int bSoon = 0;         /* Do not wait for the end of the page */
  int bJump;             /* It is not where the operating system expects it */
  int nSpan = hpAheadSpan(p->nStep, p->nChain);
  int mx = MIN(HP_AHEAD_MAX, HP_AHEAD_BYTES/(int)pBt->pageSize/nSpan);

  hpAheadOfPage(&in, pPage);
  k = iDir>0 ? iChild : in.nCell-iChild;
  assert( k>=1 && k<=in.nCell );
  bJump = !hpAheadNear(hpAheadChild(&in, k-1, iDir),
                       hpAheadChild(&in, k, iDir));
  if( bSame ){
    /* If the last look's read never came, the page cache holds all of it */
    hpAheadAdapt(p, p->nSlow!=pPager->nHpSlow, HP_AHEAD_MIN, mx,
                 pPager->nHpTime ? HP_AHEAD_CACHED : HP_AHEAD_IDLE);
    p->nWait = p->nIdle;
  }else{
    memset(p, 0, sizeof(*p));
    p->iDir = (i8)iDir;
    p->iPg = pPage->pgno;
  }
  if( p->bAsk ){
    int iEnd = k + p->nDepth;
    /* The page may have fewer children now */
    int iAsk = MAX(k, MIN(p->iAsked, in.nCell+1));
    if( iAsk<=k+p->nDepth/2 ){
      struct HpWant want;
      int iFirst = iAsk-1;
      Pgno iPrev = hpAheadChild(&in, iFirst, iDir);
      int bNear = bJump==0 || nSpan>1;
      hpAheadInit(&want, pBt);
      for(; iAsk<iEnd && iAsk<=in.nCell; iAsk++){
        Pgno iPg = hpAheadChild(&in, iAsk, iDir);
        bNear &= nSpan==1 ? hpAheadNear(iPrev, iPg) : iPg-iPrev-1<HP_AHEAD_GAP;
        hpAheadWant(&want, iPg);
        iPrev = iPg;
      }
      p->iAsked = (u16)iAsk;
      if( iAsk>iFirst+1 ){
        p->bOrder = bNear
            && hpAheadInOrder(hpAheadChild(&in, iFirst, iDir), iPrev,
                              iAsk-1-iFirst, nSpan);
        /* The operating system does that by itself */
        if( p->bOrder ) want.n = 0;
      }
      if( iAsk<iEnd && pCur && pCur->iPage>0 && !(p->bOrder && nSpan>1) ){
        bSoon = hpAheadSibling(p, pCur, iEnd-iAsk, &want);
      }
      if( !hpAheadSend(db, &want, nSpan) ) hpAheadStop(p);
    }
    p->nWait = p->bAsk ? p->nDepth/2 : p->nDepth;
    if( bSoon ) p->nWait = (u16)MIN(p->nWait, (in.nCell-k)/2);
  }
  /* The next look is at the end of the page at the latest */
  p->nWait = (u16)MIN(p->nWait, in.nCell-k);
  if( p->bAsk==0 && bJump==0 ){
    /* And where the scan jumps, as only there time tells something */
    int i;
    for(i=0; i<p->nWait; i++){
      if( !hpAheadNear(hpAheadChild(&in, k+i, iDir),
                       hpAheadChild(&in, k+i+1, iDir)) ){
        p->nWait = (u16)i;
      }
    }
  }
  p->iNext = (u16)(k + p->nWait + 1);
  p->nStep = p->nWait + 1;
  p->nChain = 0;
  p->bEnd = p->iNext>in.nCell;
  assert( p->iNext>k && p->iNext<=in.nCell+1 && hpAheadIsSane(p) );
  hpAheadTime(p, pPager, p->bAsk ? p->nWait+1 : bJump);
}

/*
** Cursor pCur has left a leaf and stands in an interior page above it.  It will
** go on with the leaf that comes next in direction iDir.
*/
SQLITE_PRIVATE void sqlite3HpAheadStep(BtCursor *pCur, int iDir){
  HpAhead *p = &pCur->hpLeaf;
  MemPage *pPage = pCur->pPage;
  int iChild = pCur->ix + (iDir>0);
  int bSame = p->iDir==iDir;
  assert( cursorHoldsMutex(pCur) && pPage->leaf==0 );
  assert( (iDir==1 || iDir==-1) && hpAheadIsSane(p) );
  if( !hpAheadOn(pCur->pBtree->db, pCur->pBt) ){
    p->nWait = HP_AHEAD_NEVER;
  }else if( pCur->iPage<p->iLevel ){
    /* Above the page whose leaves are finished: the next one comes */
    HpInner in;
    hpAheadOfPage(&in, pPage);
    p->iPg = pCur->iPage==p->iLevel-1 ? hpPageChild(&in, iChild) : 0;
    p->iAsked = p->iPg && p->iPg==p->iNextPg ? p->nNext : 0;
    p->iNext = bSame && p->bEnd ? 1 : 0;
    p->bEnd = 0;
    p->nWait = 0;
  }else{
    bSame = bSame && (p->iPg==pPage->pgno || p->iPg==0)
         && p->iNext==(iDir>0 ? iChild : pPage->nCell-iChild);
    p->iPg = pPage->pgno;
    hpAheadLeaves(p, pCur->pBtree->db, pPage, iChild, iDir, bSame, pCur);
    p->iLevel = pCur->iPage;
  }
}

/*
** integrity_check goes on with the leaf that is child iChild of page pPage.  It
** goes backwards, and has seen the last child.
*/
SQLITE_PRIVATE void sqlite3HpAheadCheck(
  IntegrityCk *pCheck,
  MemPage *pPage,
  int iChild
){
  HpAhead *p = &pCheck->hpLeaf;
  if( !hpAheadOn(pCheck->db, pCheck->pBt) ){
    p->nWait = HP_AHEAD_NEVER;
  }else{
    int bSame = p->iDir!=0;
    assert( p->iDir<=0 );
    if( p->iPg!=pPage->pgno ){
      p->iPg = pPage->pgno;
      p->iAsked = 0;
    }
    hpAheadLeaves(p, pCheck->db, pPage, iChild, -1, bSame, 0);
  }
}

/*
** The rowid at the end of entry i of the leaf pPage of an index.  Return false
** if it is not there.
*/
static int hpAheadRowid(MemPage *pPage, int i, i64 *piRowid){
  const u8 *aEnd = &pPage->aData[pPage->pBt->usableSize];
  CellInfo info;
  u32 szHdr, eType, n;
  Mem mem;
  assert( i>=0 && i<pPage->nCell && pPage->leaf && pPage->intKey==0 );
  pPage->xParseCell(pPage, findCell(pPage, i), &info);
  if( info.nPayload!=info.nLocal || info.nPayload<3
   || info.pPayload>=aEnd || info.nPayload>(u32)(aEnd-info.pPayload)
  ){
    return 0;
  }
  szHdr = info.pPayload[0];
  if( szHdr<3 || szHdr>=0x80 || szHdr>info.nPayload ) return 0;
  eType = info.pPayload[szHdr-1];
  if( eType<1 || eType>9 || eType==7 ) return 0;
  n = sqlite3SmallTypeSizes[eType];
  if( szHdr+n>info.nPayload ) return 0;
  sqlite3VdbeSerialGet(&info.pPayload[info.nPayload-n], eType, &mem);
  *piRowid = mem.u.i;
  return 1;
}

/*
** The child of interior page *p of a table that holds iRowid.
*/
static Pgno hpAheadSearch(const HpInner *p, i64 iRowid){
  int i = 0;             /* Keys before i are too small, */
  int n = p->nCell;      /* that at n, if any, is not */
  while( i<n ){
    int iMid = (i+n)/2;
    const u8 *z = hpPageCell(p, iMid);
    u8 a[9];
    i64 iKey;
    if( z==0 ) return 0;
    memset(a, 0, sizeof(a));
    memcpy(a, &z[4], MIN(sizeof(a), (size_t)(p->aEnd-&z[4])));
    (void)sqlite3GetVarint(a, (u64*)&iKey);
    if( iKey<iRowid ){
      i = iMid+1;
    }else{
      n = iMid;
    }
  }
  return hpPageChild(p, i);
}

/*
** The row iRowid of table pTab will be looked up.  Ask for its leaf, or for the
** first page on the way there that is not in the page cache.  If bRead is
** true that page has been asked for before, and is read.
*/
static void hpAheadLookup(
  struct HpWant *pWant,
  BtCursor *pTab,
  i64 iRowid,
  int bRead,
  u8 *pbInner            /* Set to 1 if it is not the leaf */
){
  HpInner in;
  Pgno iPg;
  int i;
  assert( pTab->iPage>=1 );
  hpAheadOfPage(&in, pTab->apPage[0]);
  iPg = hpAheadSearch(&in, iRowid);
  for(i=1; i<pTab->iPage; i++){
    DbPage *pDb = hpAheadInner(pTab->pBt, iPg, PTF_INTKEY|PTF_LEAFDATA, bRead,
                               &in);
    if( pDb==0 ){
      *pbInner = 1;
      break;
    }
    iPg = hpAheadSearch(&in, iRowid);
    sqlite3PagerUnrefNotNull(pDb);
  }
  hpAheadWant(pWant, iPg);
}

/*
** If look-ups look a large share of the file ahead ask for all of it, once.
** The distance has doubled up to here because rows were looked up, so that
** costs about as much as they did: and it is one request.
*/
static int hpAheadWhole(HpAhead *p, sqlite3 *db, const struct HpWant *pWant){
  Pager *pPager = pWant->pPager;
  assert( pWant->mxPg>0 && p->nDepth>0 );
  if( p->bWhole || pWant->mxPg>(u32)p->nDepth*HP_AHEAD_FILE ) return 0;
  p->bWhole = 1;
  hpAheadAdvise(pPager->fd, 0, (i64)pWant->mxPg*pPager->pageSize);
  db->hp.aStat[HP_STAT_AHEAD] += pWant->mxPg;
  hpAheadStop(p);
  return 1;
}

/*
** Ask for what the entries j, in direction p->iDir, ... of the leaf of pIdx
** name, up to the distance p->nDepth.
*/
static void hpAheadEntries(HpAhead *p, BtCursor *pIdx, BtCursor *pTab, int j){
  MemPage *pPage = pIdx->pPage;
  int iEnd = MIN(pPage->nCell, j + p->nDepth);
  int bAgain = p->bInner;
  struct HpWant want;
  i64 iRowid;
  assert( p->bAsk && p->iDir!=0 && j>=0 && j<pPage->nCell );
  hpAheadInit(&want, pTab->pBt);
  p->bInner = 0;
  if( bAgain ){
    /* Some interior pages that were asked for should be there by now */
    int jAgain;
    for(jAgain=j; jAgain<iEnd && jAgain<p->iAsked; jAgain++){
      int i = p->iDir>0 ? jAgain : pPage->nCell-1-jAgain;
      if( hpAheadRowid(pPage, i, &iRowid) ){
        hpAheadLookup(&want, pTab, iRowid, 1, &p->bInner);
      }
    }
    (void)hpAheadSend(pTab->pBtree->db, &want, 1);
  }
  for(j=MAX(j, p->iAsked); j<iEnd; j++){
    int i = p->iDir>0 ? j : pPage->nCell-1-j;
    if( hpAheadRowid(pPage, i, &iRowid) ){
      hpAheadLookup(&want, pTab, iRowid, 0, &p->bInner);
    }
  }
  p->iAsked = (u16)MAX(iEnd, p->iAsked);
  if( want.n>0 && hpAheadWhole(p, pTab->pBtree->db, &want) ) return;
  if( !hpAheadSend(pTab->pBtree->db, &want, 1) ) hpAheadStop(p);
}

/*
** Cursor pTab, of a table, is to be moved to the row that the entry under
** cursor pIdx names.
*/
SQLITE_PRIVATE void sqlite3HpAheadRow(BtCursor *pIdx, BtCursor *pTab){
  HpAhead *p = &pTab->hpRow;
  MemPage *pPage = pIdx->pPage;
  Pager *pPager;
  int bSame, j, d;
  int mx;

  assert( cursorHoldsMutex(pTab) && cursorHoldsMutex(pIdx) );
  if( pIdx->pBt!=pTab->pBt || !hpAheadOn(pTab->pBtree->db, pTab->pBt) ){
    p->nWait = HP_AHEAD_NEVER;
    return;
  }
  p->nWait = HP_ROWS_FIRST;
  if( pIdx->eState!=CURSOR_VALID || pPage->leaf==0 || pPage->intKey
   || pTab->eState!=CURSOR_VALID || pTab->pPage->leaf==0 || pTab->iPage<1
  ){
    return;
  }

  /* Is this the entry that comes so many after the last one? */
  pPager = pTab->pBt->pPager;
  mx = MIN(HP_AHEAD_MAX, HP_AHEAD_BYTES/(int)pTab->pBt->pageSize);
  if( p->iPg==pPage->pgno ){
    d = (int)pIdx->ix - p->iNext;
    if( p->iDir==0 ) p->iDir = d>0 ? 1 : -1;
    d *= p->iDir;
  }else{
    d = p->iDir>0 ? pIdx->ix : pPage->nCell-1-pIdx->ix;
    p->iAsked = 0;
  }
  /* Entries that something else than the table rejected may be in between */
  bSame = p->iPg!=0 && p->iDir!=0 && d>=0 && d<=2*(p->nNext+1);
  if( bSame==0 ){
    memset(p, 0, sizeof(*p));
    p->nWait = HP_ROWS_FIRST;
    p->nNext = HP_ROWS_FIRST;
    p->iPg = pPage->pgno;
    p->iNext = pIdx->ix;
    p->nSlow = pPager->nHpSlow;
    return;
  }
  j = p->iDir>0 ? pIdx->ix : pPage->nCell-1-pIdx->ix;
  hpAheadAdapt(p, pPager->nHpSlow-p->nSlow>=2, HP_ROWS_MIN, mx, HP_ROWS_IDLE);
  if( p->bWhole ) p->bAsk = 0;
  if( p->bAsk ){
    if( p->iAsked<=j+p->nDepth/2 ) hpAheadEntries(p, pIdx, pTab, j);
    p->nWait = p->bAsk ? p->nDepth/2 : p->nDepth;
    /* The next look is at the next leaf of the index at the latest */
    p->nWait = (u16)MIN(p->nWait, pPage->nCell-1-j);
  }else{
    p->nWait = MAX(HP_ROWS_FIRST, p->nIdle);
  }
  p->nNext = p->nWait;
  p->iPg = pPage->pgno;
  p->iNext = pIdx->ix;
  assert( hpAheadIsSane(p) );
  hpAheadTime(p, pPager, p->bAsk ? 2*(p->nWait+1) : HP_ROWS_FIRST+1);
}

#else /* Not HP_READAHEAD: nothing is ever asked for */

SQLITE_PRIVATE void sqlite3HpAheadStep(BtCursor *pCur, int iDir){
  UNUSED_PARAMETER(iDir);
  pCur->hpLeaf.nWait = HP_AHEAD_NEVER;
}
SQLITE_PRIVATE void sqlite3HpAheadCheck(
  IntegrityCk *pCheck,
  MemPage *pPage,
  int iChild
){
  UNUSED_PARAMETER2(pPage, iChild);
  pCheck->hpLeaf.nWait = HP_AHEAD_NEVER;
}
SQLITE_PRIVATE void sqlite3HpAheadRow(BtCursor *pIdx, BtCursor *pTab){
  UNUSED_PARAMETER(pIdx);
  pTab->hpRow.nWait = HP_AHEAD_NEVER;
}
SQLITE_PRIVATE int sqlite3HpAheadRead(DbPage *pPg){
  return readDbPage(pPg);
}
#endif /* HP_READAHEAD */
#endif /* SQLITE_OMIT_HP */
