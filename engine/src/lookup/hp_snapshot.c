/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_snapshot: a page cache outlives the commits of other connections.
**
** In WAL mode SQLite empties the page cache of a connection when the header of
** the wal-index is another one than at its last transaction: of whoever shares
** a database with a writer the cache is always cold.  But the log lists the
** pages that were written, and the others are what they were.
**
**    sqlite3HpSnapshotNote()   Called before a read transaction begins: of
**                              which header are the cached pages?
**    sqlite3HpSnapshotKeeps()  Called if it has another one: drop those that
**                              were written since, and say if the rest holds.
**
** A page of a snapshot is the last frame of it in the log up to the snapshot's
** last one, or what the file has if there is none; checkpoints copy frames into
** the file, and change no page by that.  So two snapshots of one log differ in
** the pages of the frames that only the later one has.  They are of one log,
** and the earlier one is its beginning, if
**
**    1.  the salts, the page size and the byte order of checksums are the
**        same.  Salts change whenever the log is begun anew;
**    2.  there are more frames than there were, and as many commits more as
**        these may be.  Who makes a wal-index anew, because a process died
**        while it wrote to it, counts commits from 0;
**    3.  the checksum of the last frame that was there then is the one that the
**        header had.  Each one covers all frames before, so these are the
**        same, whatever happened to the wal-index or the file;
**    4.  the live header has these salts still when the numbers of pages have
**        been read.  A transaction that finds all frames in the file locks none
**        of them: then the log may be begun anew meanwhile, and the numbers be
**        those of other frames.
**
** The earlier header is all zeros, and has no frames, when the connection is
** new, has run a checkpoint that found a change, or has opened the log again.
**
** What else depends on what a cache holds?  Page 1 has the size of the file and
** the schema cookie, and is always dropped.  Pages behind the end of the file,
** if it has become smaller, as they may come back with other contents.  Pages
** are dropped in the same way as when a transaction frees them, so the b-tree
** parses them again.  PRAGMA data_version, running backups and our own notes
** (Pager.iDataVersion) are told as ever.
**
** SQLite empties the cache as before: with mmap_size, in exclusive locking
** mode, where the wal-index is in memory of the connection or cannot be relied
** on, for sqlite3_snapshot_open(), with a rollback journal, which tells nothing
** of pages, and when there are so many frames that reading the pages is as
** fast.
*/
#if !defined(SQLITE_OMIT_HP) && !defined(SQLITE_OMIT_WAL)
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Frames that are looked at, at most: in all, and for each page in the cache.
** To look one up in the cache takes 20 ns, to read a page a microsecond */
#define HP_MX_SNAPSHOT     4096
#define HP_SNAPSHOT_FRAMES   16

/*
** The transaction before, if there was one, has ended, and the next one is
** about to begin.
*/
SQLITE_PRIVATE void sqlite3HpSnapshotNote(Wal *pWal){
  if( pWal->hp.bDrop ){
    /* Pages may come from frames of commits that failed: hp_sync.c */
    memset(&pWal->hdr, 0, sizeof(pWal->hdr));
    pWal->hp.bDrop = 0;
  }
  assert( sizeof(pWal->hp.aHdrWas)==sizeof(WalIndexHdr) );
  memcpy(pWal->hp.aHdrWas, &pWal->hdr, sizeof(WalIndexHdr));
}

/* Rules 1 and 2 */
static int hpSnapshotGrew(const WalIndexHdr *pWas, const WalIndexHdr *pNow){
  u32 nFrame = pNow->mxFrame-pWas->mxFrame;
  u32 nCommit = pNow->iChange-pWas->iChange;
  return pWas->isInit && pWas->mxFrame>0 && pWas->mxFrame<pNow->mxFrame
      && nCommit>0 && nCommit<=nFrame
      && memcmp(pWas->aSalt, pNow->aSalt, sizeof(pWas->aSalt))==0
      && pWas->szPage==pNow->szPage && pWas->bigEndCksum==pNow->bigEndCksum;
}

/* Rule 3 */
static int hpSnapshotBegins(Wal *pWal, const WalIndexHdr *pWas){
  u8 a[8];               /* The checksum in the header of a frame */
  i64 iOfst = walFrameOffset(pWas->mxFrame, pWal->szPage);
  assert( pWas->mxFrame>0 && WAL_FRAME_HDRSIZE==16+sizeof(a) );
  return sqlite3OsRead(pWal->pWalFd, a, sizeof(a), iOfst+16)==SQLITE_OK
      && sqlite3Get4byte(&a[0])==pWas->aFrameCksum[0]
      && sqlite3Get4byte(&a[4])==pWas->aFrameCksum[1];
}

/* Rule 4 */
static int hpSnapshotIsLive(Wal *pWal){
  volatile WalIndexHdr *pLive = walIndexHdr(pWal);
  int i;
  if( pWal->readLock>0 ) return 1;
  walShmBarrier(pWal);
  for(i=0; i<2; i++){
    /* The second copy is written first */
    if( pLive[i].aSalt[0]!=pWal->hdr.aSalt[0] ) return 0;
    if( pLive[i].aSalt[1]!=pWal->hdr.aSalt[1] ) return 0;
  }
  return 1;
}

/*
** Drop page iPg from the cache, if it is there.
*/
static void hpSnapshotDrop(Pager *pPager, Pgno iPg){
  PgHdr *pPg = sqlite3PagerLookup(pPager, iPg);
  if( pPg==0 ) return;
  assert( sqlite3PcachePageRefcount(pPg)==1 );
  sqlite3PcacheDrop(pPg);
}

/*
** Drop the pages of frames iFirst to iLast.  Return false if these cannot be
** told.
*/
static int hpSnapshotFrames(Pager *pPager, u32 iFirst, u32 iLast){
  u32 i = iFirst;
  assert( iFirst>0 && iFirst<=iLast );
  while( i<=iLast ){
    WalHashLoc loc;
    u32 iEnd;            /* The last one that this part of the index has */
    if( walHashGet(pPager->pWal, walFramePage(i), &loc) ) return 0;
    iEnd = loc.iZero + (loc.iZero ? HASHTABLE_NPAGE : HASHTABLE_NPAGE_ONE);
    assert( i>loc.iZero && i<=iEnd );
    for(iEnd=MIN(iEnd, iLast); i<=iEnd; i++){
      Pgno iPg = loc.aPgno[i-loc.iZero-1];
      if( iPg==0 ) return 0;
      hpSnapshotDrop(pPager, iPg);
    }
  }
  return 1;
}

/* Tell the connection what became of its page cache: HP_STAT_xxx.  Returns
** bKept */
static int hpSnapshotStat(Pager *pPager, int bKept){
  if( pPager->xBusyHandler==btreeInvokeBusyHandler ){
    sqlite3 *db = ((BtShared*)pPager->pBusyHandlerArg)->db;
    db->hp.aStat[bKept ? HP_STAT_KEPT : HP_STAT_DROPPED]++;
  }
  return bKept;
}

/*
** A read transaction has begun, and since the header that was noted somebody
** may have committed.  Return true, with the pages dropped that have changed,
** if all others in the cache are those of the new snapshot.
*/
SQLITE_PRIVATE int sqlite3HpSnapshotKeeps(Pager *pPager){
  Wal *pWal = pPager->pWal;
  WalIndexHdr was;
  const WalIndexHdr *pNow = &pWal->hdr;
  i64 nFrame;
  i64 nPage = sqlite3PcachePagecount(pPager->pPCache);
  int bKept;
  assert( pWal->readLock>=0 && nPage>=0 );
  memcpy(&was, pWal->hp.aHdrWas, sizeof(was));
  nFrame = (i64)pNow->mxFrame-was.mxFrame;
  if( hpConfig()->bOff || nPage==0 ) return 0;
  if( !hpSnapshotGrew(&was, pNow) || nFrame>HP_MX_SNAPSHOT
   || nFrame>nPage*HP_SNAPSHOT_FRAMES || USEFETCH(pPager)
   || pPager->exclusiveMode || pWal->exclusiveMode!=WAL_NORMAL_MODE
   || pWal->bShmUnreliable || sqlite3PcacheRefCount(pPager->pPCache)!=0
  ){
    return hpSnapshotStat(pPager, 0);
  }
#ifdef SQLITE_ENABLE_SNAPSHOT
  if( pWal->pSnapshot ) return 0;
#endif
  SEH_TRY {
    bKept = hpSnapshotBegins(pWal, &was)
         && hpSnapshotFrames(pPager, was.mxFrame+1, pNow->mxFrame)
         && hpSnapshotIsLive(pWal);
  } SEH_EXCEPT( bKept = 0; )
  if( !bKept ) return hpSnapshotStat(pPager, 0);
  hpSnapshotDrop(pPager, 1);
  if( pNow->nPage<was.nPage ){
    sqlite3PcacheTruncate(pPager->pPCache, pNow->nPage);
  }
  pPager->iDataVersion++;
  sqlite3BackupRestart(pPager->pBackup);
  return hpSnapshotStat(pPager, 1);
}
#endif /* !SQLITE_OMIT_HP && !SQLITE_OMIT_WAL */
