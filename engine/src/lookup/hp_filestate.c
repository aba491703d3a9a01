/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_filestate: has a database file changed, and in which pages?
**
** What is kept of a file from one statement to the next (hp_store.c,
** hp_columns.c) must be true of the file that the next one reads.  This module
** says of which state of the file a transaction is, and knows nothing of what
** is kept.
**
**    hpFileStateIsKnown()    Is it a file whose changes can be told at all?
**    hpFileStateStat()       What does the system say of a file?
**    hpFileStateJoin()       The state of a file, for one user more.
**    hpFileStateUnref()      One user less.
**    hpFileStateNow()        The state that a transaction sees, and what
**                            changed.
**    hpFileStateTold()       Whoever keeps something of it has taken notice.
**    hpFileStateLost()       Nothing that is known of the file holds any more.
**    hpFileStateForget()     The same, of the file of a pager.
**    sqlite3HpWriteBegin()   A transaction is about to write to the file.
**    sqlite3HpCommitBegin()  With a journal: pages are about to be written, ...
**    sqlite3HpCommitEnd()    ... and that was committed, or not.
**    sqlite3HpWalBegun()     The WAL is begun anew by this process.
**
** States are numbered (HpFileState.iNow).  A state that is later than another
** one has a higher number.
**
** Who may change a file?
**
**    * A transaction of this process, in a journal mode with a file (DELETE,
**      TRUNCATE, PERSIST), in MEMORY, which has none that outlives it, or in
**      OFF, in which a ROLLBACK leaves what has been written. VACUUM, the
**      backup API and a change of the journal mode are such transactions.
**    * A transaction of another process, with SQLite's library as well.
**    * Whoever finds a journal of a process that died, and plays it back.
**    * A commit in WAL mode, of either: it changes nothing but the WAL. A
**      checkpoint, of either: it changes the file, but not what a transaction
**      reads.
**    * In WAL mode, who finds the wal-index torn, and makes it anew from the
**      WAL.
**    * Somebody who knows nothing of SQLite: cp, rsync, a restore from a
**      backup.
**
** Locks of another kind (unix-dotfile, unix-none, nolock=1, immutable=1, a VFS
** of the application, sqlite3_deserialize()) say nothing about any of these. So
** the first rule:
**
**    1.  NO STATE WITHOUT POSIX LOCKS. The file's methods must be those of the
**        VFS "unix" or "unix-excl", and it must have an inode, by which others
**        that have it open are found. A file that replaces another one has
**        another inode.
**
** With a rollback journal there are two further rules:
**
**    2.  A STATE IS WHAT ONE CAN SEE OF IT: the 16 bytes of page 1 with the
**        change counter (Pager.dbFileVers), by which SQLite keeps the pages in
**        its cache, and the size and the times of the file. While a
**        transaction reads, its lock keeps the file as it is. If any of these
**        is another than last time, nothing is known. It takes no list of who
**        may have done what: a write changes the time, be it a rollback, a
**        journal that is played back, or cp with an equal counter.
**    3.  ONLY A COMMIT THAT WAS NOTED WHOLE LEADS FROM ONE STATE TO THE NEXT.
**        When a transaction writes to the file for the first time, and has its
**        exclusive lock, the file has no state any more
**        (sqlite3HpWriteBegin()). The commit gives it the next one, if its
**        pages could be noted, and the file was in the known state before. All
**        else leaves it without: a ROLLBACK, an error, a commit of too many
**        pages or without memory to note them, journal_mode=OFF where pages
**        were spilled, a connection that is closed in between.
**
** It does not matter whether the lock is given back between transactions
** (locking_mode=EXCLUSIVE): such a connection does not count its commits, but
** the third rule does not go by that.
**
** With a WAL a state is told by the salts and the number of frames that the
** transaction sees.  Each frame is a state.  The pages of frames that have come
** since are listed in the wal-index. When the WAL is begun anew by this process
** (sqlite3HpWalBegun()) the numbers go on.  When another one has done that,
** which new salts tell, they go on if the wal-index has counted as many commits
** since as the new WAL has: hpFileStateIsNext().  Else some were missed, and
** nothing is known.  A transaction that sees fewer frames, because it has begun
** before, is of an earlier state.  And as with a journal:
**
**    4.  If the size or the times of the file have changed, and no checkpoint
**        tells why, nothing is known.
**
** With an exclusive lock, and a wal-index in the memory of the connection, all
** this is as without.  The wal-index is then read by nobody else, and the rules
** do not rely on others.
**
** A transaction that has written, or may, is of no state: what it sees is not
** committed.
**
** After fork() a child must not use its parent's connections. Its own ones find
** what was known before, which the rules then test against the file.
**
** SQLITE_MUTEX_STATIC_LRU, which protects the fields marked (m), is not held
** while that of a file is waited for, nor the other way round.  A commit finds
** the state of its file in the inode: its time does not depend on how many
** files are open.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

#define HP_MX_FRAMES 1000000   /* Most states by which iNow grows */
#define HP_MX_PAGES  1000000   /* Pages that have changed and are noted */
#define HP_TINY_PAGES 500      /* The same with columns=tiny */
#define HP_MX_HEADERS 4096     /* Frames that are read to count commits */

/* Values of HpFileState.eMode */
#define HP_STATE_NONE     0    /* Nothing is known */
#define HP_STATE_JOURNAL  1
#define HP_STATE_WAL      2

/* Rule 1 */
static int hpFileStateIsKnown(const sqlite3_file *pFd){
  return pFd->pMethods==&posixIoMethods && ((const unixFile*)pFd)->pInode!=0;
}

#ifndef SQLITE_MUTEX_OMIT
static sqlite3_mutex *hpFileStateMutex(void){
  return sqlite3MutexAlloc(SQLITE_MUTEX_STATIC_LRU);
}
#endif

static void hpFileStateFree(HpFileState *p){
  assert( p->nRef==0 && p->pColumns==0 );
  sqlite3_mutex_free(p->pMutex);
  sqlite3_free(p->changed.a);
  sqlite3_free(p->commit.a);
  sqlite3_free(p);
}

static HpFileState *hpFileStateNew(unixInodeInfo *pInode){
  HpFileState *p = sqlite3MallocZero(sizeof(*p));
  if( p==0 ) return 0;
  p->pInode = pInode;
  p->pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
  p->iNow = p->iTold = 1+(u64)HP_MX_FRAMES;
  if( p->pMutex==0 && sqlite3GlobalConfig.bCoreMutex ){
    hpFileStateFree(p);
    return 0;
  }
  return p;
}

static void hpFileStateUnref(HpFileState *p){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = hpFileStateMutex(); )
  int bFree;
  sqlite3_mutex_enter(pMutex);
  assert( p->nRef>0 && p->pInode->pHpState==p );
  bFree = --p->nRef==0;
  if( bFree ) AtomicStore(&p->pInode->pHpState, 0);
  sqlite3_mutex_leave(pMutex);
  if( bFree ) hpFileStateFree(p);
}

/* The state of the file pFd, with a reference more, if something is known of
** it.  Else NULL */
static HpFileState *hpFileStateOf(const sqlite3_file *pFd){
  MUTEX_LOGIC( sqlite3_mutex *pMutex; )
  unixInodeInfo *pInode;
  HpFileState *p;
  if( !hpFileStateIsKnown(pFd) ) return 0;
  pInode = ((const unixFile*)pFd)->pInode;
  if( AtomicLoad(&pInode->pHpState)==0 ) return 0;
  MUTEX_LOGIC( pMutex = hpFileStateMutex(); )
  sqlite3_mutex_enter(pMutex);
  p = pInode->pHpState;
  if( p ) p->nRef++;
  sqlite3_mutex_leave(pMutex);
  return p;
}

/*
** The state of the file pFd, for which rule 1 holds, with a reference more.
** NULL without memory.
*/
static HpFileState *hpFileStateJoin(const sqlite3_file *pFd){
  MUTEX_LOGIC( sqlite3_mutex *pMutex = hpFileStateMutex(); )
  unixInodeInfo *pInode = ((const unixFile*)pFd)->pInode;
  HpFileState *p = hpFileStateOf(pFd);
  HpFileState *pNew;
  assert( hpFileStateIsKnown(pFd) );
  if( p ) return p;
  pNew = hpFileStateNew(pInode);
  if( pNew==0 ) return 0;
  sqlite3_mutex_enter(pMutex);
  p = pInode->pHpState;
  if( p==0 ){
    p = pNew;
    pNew = 0;
    AtomicStore(&pInode->pHpState, p);
  }
  p->nRef++;
  sqlite3_mutex_leave(pMutex);
  if( pNew ) hpFileStateFree(pNew);
  return p;
}

/* What the system says of a file.  Returns false if it says nothing */
static int hpFileStateStat(const sqlite3_file *pFd, HpFileStat *p){
  struct stat buf;
  memset(p, 0, sizeof(*p));
  if( osFstat(((const unixFile*)pFd)->h, &buf) ) return 0;
  p->nByte = (i64)buf.st_size;
  p->aTime[0] = (i64)buf.st_mtime;
  p->aTime[2] = (i64)buf.st_ctime;
#if defined(__APPLE__)
  p->aTime[1] = (i64)buf.st_mtimespec.tv_nsec;
  p->aTime[3] = (i64)buf.st_ctimespec.tv_nsec;
#elif defined(st_mtime)        /* A macro where there are nanoseconds */
  p->aTime[1] = (i64)buf.st_mtim.tv_nsec;
  p->aTime[3] = (i64)buf.st_ctim.tv_nsec;
#endif
  return 1;
}

/*
** Whatever has been kept does not hold any more: later states have nothing to
** do with it.  The mutex is held.
*/
static void hpFileStateLost(HpFileState *p){
  p->eMode = HP_STATE_NONE;
  p->pWriter = p->pNoted = 0;
  p->changed.n = 0;
  p->bLost = 1;
  p->iNow += 1+(u64)HP_MX_FRAMES;
  p->iTold = p->iNow;
}

/* The same, of the file pFd.  It need not be one whose changes can be told */
static void hpFileStateForget(const sqlite3_file *pFd){
  HpFileState *p = hpFileStateOf(pFd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  hpFileStateLost(p);
  sqlite3_mutex_leave(p->pMutex);
  hpFileStateUnref(p);
}

/* Room for n pages more.  False: there are too many, or there is no memory */
static int hpFileStateRoom(HpFilePages *p, i64 n){
  i64 nNew = p->n+n;
  int bTiny = hpConfig()->eColumns==HP_COLUMNS_TINY;
  i64 nMost = bTiny ? HP_TINY_PAGES : HP_MX_PAGES;
  Pgno *aNew;
  if( nNew>nMost ) return 0;
  if( nNew<=p->nAlloc ) return 1;
  nNew = MAX(nNew, 2*(i64)p->nAlloc+64);
  aNew = sqlite3_realloc64(p->a, sizeof(Pgno)*(u64)nNew);
  if( aNew==0 ) return 0;
  p->a = aNew;
  p->nAlloc = (int)nNew;
  return 1;
}
static int hpFileStatePage(HpFilePages *p, Pgno iPg){
  if( !hpFileStateRoom(p, 1) ) return 0;
  p->a[p->n++] = iPg;
  return 1;
}

/*
** Frames from iFirst to iLast: their pages have changed. False: these cannot be
** told.
**
** Should the WAL be begun anew meanwhile, the numbers read here are
** overwritten: hpFileStateIsLive() then says that they mean nothing.
*/
static int hpFileStateFrames(HpFileState *p, Wal *pWal, u32 iFirst, u32 iLast){
  u32 n = iLast-iFirst+1;
  u32 i;
  if( p->nHeld==0 ) return 1;
  if( n>HP_MX_FRAMES || !hpFileStateRoom(&p->changed, n) ) return 0;
  for(i=0; i<n; i++){
    WalHashLoc loc;
    if( walHashGet(pWal, walFramePage(iFirst+i), &loc) ) return 0;
    if( loc.aPgno==0 ) return 0;
    p->changed.a[p->changed.n++] = loc.aPgno[iFirst+i-loc.iZero-1];
  }
  return 1;
}

/* Read n bytes of frame i of the WAL, from iAt on.  Returns false if that
** fails */
static int hpFileStateRead(Wal *pWal, u32 i, int iAt, void *a, int n){
  i64 iOfst = walFrameOffset(i, pWal->szPage) + iAt;
  return sqlite3OsRead(pWal->pWalFd, a, n, iOfst)==SQLITE_OK;
}

/*
** How many commits are in the first n frames of the WAL? -1: there is no
** saying.
**
** Where a power failure may damage a sector (psow=0) the last frame of a commit
** is written again until the sector is full, with its mark.  Such a frame has
** the same page with the same content as the one before.  So has a commit that
** changes nothing: then there is no saying.
*/
static i64 hpFileStateCommits(Wal *pWal, u32 n){
  u8 aHdr[8], aLast[8];
  i64 nCommit = 0;
  u8 *aPage = 0;
  u32 i;
  if( n>HP_MX_HEADERS ) return -1;
  memset(aLast, 0, sizeof(aLast));
  for(i=1; i<=n && nCommit>=0; i++){
    if( !hpFileStateRead(pWal, i, 0, aHdr, sizeof(aHdr)) ){
      nCommit = -1;
    }else if( sqlite3Get4byte(&aHdr[4]) ){
      nCommit++;
      if( memcmp(aHdr, aLast, sizeof(aHdr))==0 ){
        int sz = (int)pWal->szPage;
        if( aPage==0 ) aPage = sqlite3_malloc64(2*(u64)sz);
        if( aPage==0
         || !hpFileStateRead(pWal, i-1, WAL_FRAME_HDRSIZE, aPage, sz)
         || !hpFileStateRead(pWal, i, WAL_FRAME_HDRSIZE, &aPage[sz], sz)
         || memcmp(aPage, &aPage[sz], sz)==0
        ){
          nCommit = -1;
        }
      }
    }
    memcpy(aLast, aHdr, sizeof(aHdr));
  }
  sqlite3_free(aPage);
  return nCommit;
}

/*
** The WAL has other salts than last time.  Is it the next one after that, which
** was empty or has got no more frames?
**
** The wal-index counts commits, so those of the new WAL have to be all.  When a
** process dies while it writes there, the wal-index is made anew, and counts
** from 0. The count, C, is then that of commits since, and not more than are in
** the new WAL, M. Had commits been missed, they would be taken for none if C is
** M more than last time: so never, unless the count was 0 last time.  Then
** nothing is known. Beside that, frames of the old WAL that nobody has seen may
** still stand behind the new ones.
*/
static int hpFileStateIsNext(const HpFileState *p, Wal *pWal){
  const WalIndexHdr *pHdr = &pWal->hdr;
  u32 nCommit = pHdr->iChange-p->iChange;
  u32 iBehind = MAX(pHdr->mxFrame, p->mxFrame)+1;
  u8 aFrame[WAL_FRAME_HDRSIZE];
  if( p->eMode!=HP_STATE_WAL || p->iChange==0 ) return 0;
  if( p->szPage!=(int)pWal->szPage || nCommit>HP_MX_HEADERS ) return 0;
  if( p->mxFrame>0
   && sqlite3Get4byte((const u8*)&pHdr->aSalt[0])
        !=sqlite3Get4byte((const u8*)&p->aSalt[0])+1
  ){
    return 0;
  }
  if( hpFileStateRead(pWal, iBehind, 0, aFrame, sizeof(aFrame))
   && memcmp(&aFrame[8], p->aSalt, sizeof(p->aSalt))==0
  ){
    return 0;
  }
  return hpFileStateCommits(pWal, pHdr->mxFrame)==(i64)nCommit;
}

/* Are these the salts that other processes see in the wal-index? */
static int hpFileStateIsLive(Wal *pWal, const u32 *aSalt){
  volatile WalIndexHdr *pLive = walIndexHdr(pWal);
  walShmBarrier(pWal);
  return pLive->aSalt[0]==aSalt[0] && pLive->aSalt[1]==aSalt[1];
}

/*
** Rule 4.  The salts are those of last time, and *pStat is what the system says
** of the file now.  A checkpoint says how far it will go before it writes, and
** how far it has come when it has written.
*/
static int hpFileStateTouched(
  HpFileState *p,
  Wal *pWal,
  const HpFileStat *pStat
){
  volatile WalCkptInfo *pInfo = walCkptInfo(pWal);
  u32 nDone = AtomicLoad(&pInfo->nBackfill);
  u32 nTried = AtomicLoad(&pInfo->nBackfillAttempted);
  int bRuns = nDone!=nTried || nDone!=p->nDone || p->nDone!=p->nTried;
  int bTouched = !bRuns && memcmp(pStat, &p->stat, sizeof(*pStat))!=0;
  p->stat = *pStat;
  p->nDone = nDone;
  p->nTried = nTried;
  return bTouched;
}

/* The state that a transaction of pPager sees, with a WAL; 0: none that can be
** told */
static u64 hpFileStateWal(HpFileState *p, Pager *pPager){
  Wal *pWal = pPager->pWal;
  const WalIndexHdr *pHdr = &pWal->hdr;
  HpFileStat stat;
  int bTouched;
  if( pWal->readLock<0 || pWal->bShmUnreliable || sqlite3HpSyncLive(pWal) ){
    return 0;
  }
  if( !hpFileStateStat(pPager->fd, &stat) ) return 0;
  if( !hpFileStateIsLive(pWal, pHdr->aSalt) ) return 0;
  bTouched = hpFileStateTouched(p, pWal, &stat);
  if( p->eMode!=HP_STATE_WAL || p->szPage!=(int)pPager->pageSize
   || memcmp(p->aSalt, pHdr->aSalt, sizeof(p->aSalt))
   || (p->mxFrame==pHdr->mxFrame && p->mxFrame>0
        && memcmp(p->aCksum, pHdr->aFrameCksum, sizeof(p->aCksum)))
  ){
    if( hpFileStateIsNext(p, pWal) ){
      memcpy(p->aSalt, pHdr->aSalt, sizeof(p->aSalt));
      p->mxFrame = 0;
    }else{
      hpFileStateLost(p);
    }
  }else if( bTouched ){
    hpFileStateLost(p);
  }
  if( p->eMode==HP_STATE_NONE ){
    p->eMode = HP_STATE_WAL;
    p->szPage = (int)pPager->pageSize;
    p->mxFrame = pHdr->mxFrame;
  }
  if( p->mxFrame<pHdr->mxFrame ){
    /* A transaction that reads the file only does not keep the WAL from being
    ** begun anew; the salts change before the list of pages does. */
    int bAll = hpFileStateFrames(p, pWal, p->mxFrame+1, pHdr->mxFrame);
    if( !hpFileStateIsLive(pWal, pHdr->aSalt) ){
      hpFileStateLost(p);
      return 0;
    }
    if( bAll ){
      p->iNow += pHdr->mxFrame-p->mxFrame;
    }else{
      hpFileStateLost(p);
      p->eMode = HP_STATE_WAL;
    }
  }else if( pHdr->mxFrame<p->mxFrame ){
    u64 nBack = p->mxFrame-pHdr->mxFrame;
    return nBack<p->iNow ? p->iNow-nBack : 0;
  }
  memcpy(p->aSalt, pHdr->aSalt, sizeof(p->aSalt));
  memcpy(p->aCksum, pHdr->aFrameCksum, sizeof(p->aCksum));
  p->mxFrame = pHdr->mxFrame;
  p->iChange = pHdr->iChange;
  return p->iNow;
}

/* The same with a rollback journal.  Rules 2 and 3 */
static u64 hpFileStateJournal(HpFileState *p, Pager *pPager){
  HpFileStat stat;
  if( pPager->eLock<SHARED_LOCK ) return 0;
  if( !hpFileStateStat(pPager->fd, &stat) ) return 0;
  if( p->eMode!=HP_STATE_JOURNAL || p->szPage!=(int)pPager->pageSize
   || memcmp(p->aVers, pPager->dbFileVers, sizeof(p->aVers))
   || memcmp(&p->stat, &stat, sizeof(stat))
  ){
    hpFileStateLost(p);
    p->eMode = HP_STATE_JOURNAL;
    p->szPage = (int)pPager->pageSize;
    memcpy(p->aVers, pPager->dbFileVers, sizeof(p->aVers));
    p->stat = stat;
  }
  return p->iNow;
}

/*
** The state that the transaction of pPager, which reads, sees; 0: none that can
** be told.  If p->bLost is set by then, nothing that has been kept holds.
** Otherwise, the pages of p->changed have changed after state p->iTold. Whoever
** has taken notice of either calls hpFileStateTold().  The mutex is held.
*/
static u64 hpFileStateNow(HpFileState *p, Pager *pPager){
  assert( sqlite3_mutex_held(p->pMutex) );
  assert( pPager->eState==PAGER_READER && hpFileStateIsKnown(pPager->fd) );
  assert( p->iTold<=p->iNow );
  if( pagerUseWal(pPager) ){
    Wal *pWal = pPager->pWal;
    u64 iState = 0;
    SEH_TRY { iState = hpFileStateWal(p, pPager); } SEH_EXCEPT( iState = 0; )
    (void)pWal;            /* For these macros */
    return iState;
  }
  return hpFileStateJournal(p, pPager);
}

/*
** Let p->commit be the pages that the transaction of pPager has changed. False:
** that is not known.
*/
static int hpFileStateChanged(HpFileState *p, Pager *pPager){
  HpFilePages *pTo = &p->commit;
  const PgHdr *pPg;
  Pgno i;
  pTo->n = 0;
  if( pPager->eState==PAGER_WRITER_CACHEMOD ){
    pPg = sqlite3PcacheDirtyList(pPager->pPCache);
    while( pPg && hpFileStatePage(pTo, pPg->pgno) ) pPg = pPg->pDirty;
    return pPg==0;
  }
  /* As memory was short some have been written, and are not dirty any more */
  if( pPager->pInJournal==0 ) return 0;
  for(i=1; i<=MAX(pPager->dbSize, pPager->dbOrigSize); i++){
    if( i<=pPager->dbOrigSize
     && !sqlite3BitvecTestNotNull(pPager->pInJournal, i)
    ){
      continue;
    }
    if( !hpFileStatePage(pTo, i) ) return 0;
  }
  return 1;
}

/*
** The dirty pages of pPager are about to be written, as a commit with a
** rollback journal.  No other connection can begin one.
*/
SQLITE_PRIVATE void sqlite3HpCommitBegin(Pager *pPager){
  HpFileState *p;
  if( pPager->tempFile ) return;
  p = hpFileStateOf(pPager->fd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  p->pNoted = p->nHeld>0 && hpFileStateChanged(p, pPager) ? pPager : 0;
  sqlite3_mutex_leave(p->pMutex);
  hpFileStateUnref(p);
}

/*
** The transaction of pPager has an exclusive lock, and is about to write to the
** file for the first time.  Rule 3.
*/
SQLITE_PRIVATE void sqlite3HpWriteBegin(Pager *pPager){
  HpFileState *p;
  HpFileStat stat;
  if( pPager->tempFile || pPager->eState>=PAGER_WRITER_DBMOD ) return;
  p = hpFileStateOf(pPager->fd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  p->pWriter = 0;
  if( p->eMode==HP_STATE_JOURNAL
   && memcmp(p->aVers, pPager->dbFileVers, sizeof(p->aVers))==0
   && hpFileStateStat(pPager->fd, &stat)
   && memcmp(&p->stat, &stat, sizeof(stat))==0
  ){
    p->pWriter = pPager;
  }
  p->eMode = HP_STATE_NONE;
  pPager->hp.bWrites = 1;
  sqlite3_mutex_leave(p->pMutex);
  hpFileStateUnref(p);
}

/*
** The transaction of pPager ends, and it still has its locks. bDone: it has
** been committed.
*/
SQLITE_PRIVATE void sqlite3HpCommitEnd(Pager *pPager, int bDone){
  HpFileState *p;
  if( pPager->hp.bWrites==0 ) return;
  pPager->hp.bWrites = 0;
  p = hpFileStateOf(pPager->fd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  if( bDone && p->pWriter==pPager && p->pNoted==pPager
   && hpFileStateRoom(&p->changed, p->commit.n)
   && hpFileStateStat(pPager->fd, &p->stat)
  ){
    assert( p->eMode==HP_STATE_NONE );
    memcpy(&p->changed.a[p->changed.n], p->commit.a,
           sizeof(Pgno)*(size_t)p->commit.n);
    p->changed.n += p->commit.n;
    memcpy(p->aVers, pPager->dbFileVers, sizeof(p->aVers));
    p->eMode = HP_STATE_JOURNAL;
    p->iNow++;
  }
  p->pWriter = p->pNoted = 0;
  sqlite3_mutex_leave(p->pMutex);
  hpFileStateUnref(p);
}

/*
** A WAL is begun anew: pWal->hdr tells of it, but nobody has seen that yet, and
** *pOld of the one before, which has been copied into the file as a whole, or
** has no frames. pWal has the write lock.
*/
SQLITE_PRIVATE void sqlite3HpWalBegun(Wal *pWal, const WalIndexHdr *pOld){
  HpFileState *p = hpFileStateOf(pWal->pDbFd);
  if( p==0 ) return;
  hpThreadEnter(p->pMutex);
  assert( pWal->writeLock && pWal->hdr.mxFrame==0 );
  if( p->eMode==HP_STATE_WAL
   && memcmp(p->aSalt, pOld->aSalt, sizeof(p->aSalt))==0
   && (p->mxFrame<pOld->mxFrame
        ? hpFileStateFrames(p, pWal, p->mxFrame+1, pOld->mxFrame)
        : p->mxFrame==pOld->mxFrame
            && memcmp(p->aCksum, pOld->aFrameCksum, sizeof(p->aCksum))==0)
  ){
    p->iNow += pOld->mxFrame-p->mxFrame;
    memcpy(p->aSalt, pWal->hdr.aSalt, sizeof(p->aSalt));
    p->mxFrame = 0;
    p->iChange = pOld->iChange;
    p->nDone = p->nTried+1;    /* There was a checkpoint */
  }else{
    hpFileStateLost(p);
  }
  sqlite3_mutex_leave(p->pMutex);
  hpFileStateUnref(p);
}

/* Whoever keeps something of the file knows what has changed, or that nothing
** holds */
static void hpFileStateTold(HpFileState *p){
  p->bLost = 0;
  p->changed.n = 0;
  p->iTold = p->iNow;
}

#else
SQLITE_PRIVATE void sqlite3HpWriteBegin(Pager *p){ UNUSED_PARAMETER(p); }
SQLITE_PRIVATE void sqlite3HpCommitBegin(Pager *p){ UNUSED_PARAMETER(p); }
SQLITE_PRIVATE void sqlite3HpCommitEnd(Pager *p, int bDone){
  UNUSED_PARAMETER2(p, bDone);
}
# ifndef SQLITE_OMIT_WAL
SQLITE_PRIVATE void sqlite3HpWalBegun(Wal *pWal, const WalIndexHdr *pOld){
  UNUSED_PARAMETER2(pWal, pOld);
}
# endif
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
