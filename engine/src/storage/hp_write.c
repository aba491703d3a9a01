/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_write: what is adjacent in a file, in one write.
**
**    sqlite3HpWritePages()   dirty pages to the database file
**    sqlite3HpWriteGap()     zeros where pages are left out behind its end
**    sqlite3HpWriteFrames()  dirty pages to the WAL
**    sqlite3HpWriteFrame()   a frame of the WAL: its header and its page
**    sqlite3HpWriteRecord()  a record of the rollback journal
**    hpWriteIsSeen()         does a program look at each write?
**    sqlite3HpSpill()        which pages to write together with one that is
**    sqlite3HpSpilled()      written to make room in the cache
**
** SQLite writes each page by a call of its own, with a second one for the
** header of a frame in the WAL, and two more for what is in front of and
** behind a page in the rollback journal.  Dirty pages are sorted by their
** numbers when they are written, so those of a large value, and of everything
** that grew, come one after the other, and so do frames and journal records.
** These functions hand them to the operating system together, by pwritev().
**
** What is written, and where to, is exactly what SQLite would write, between
** the same two syncs: in which order it reaches the disk between them is open
** in either case.  If pwritev() does not write everything (the disk is
** full, a quota, a signal) the functions say that nothing was done.  SQLite
** then writes the same again in its own way and gets the error, if there is
** one.  So there is no error code here.
**
** When the page cache is full SQLite writes the dirty page that was not used
** for the longest time, and the next time the next one.  Where that is the
** following page of the file, as when a large value or many rows are inserted,
** up to 32 are written at once and are clean then.  They are pages that SQLite
** might write as well at that moment: nobody has a reference to them, and they
** need no sync of the journal and no copy for a savepoint first.  Not so with
** journal_mode=OFF: after a ROLLBACK what was written is still there, and is to
** be what SQLite would have written.
**
** Pages that b-trees reserve at the end of the file (hp_extent.c) are not dirty,
** and are left out when those behind them are written.  SQLite writes nearly
** every page by which a file grows, and file systems that replicate a database
** (LiteFS) expect it.  Those are file systems in user space (FUSE), the only ones
** to see single writes: zeros are written there.  In WAL mode a commit does so,
** wherever the file is.
**
** Only files of the built-in unix VFS are written in this way, and not if the
** application replaced pwrite(): someone else may want to see single pages.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_PREADV
# include <sys/vfs.h>
#endif

#define HP_FUSE_MAGIC   0x65735546     /* FUSE_SUPER_MAGIC of linux/magic.h */
#define HP_WRITE_PAGES  32     /* Most pages a write */
#define HP_WRITE_FAULT  4131   /* sqlite3FaultSim(): writing fails */

#ifdef HP_PREADV
/*
** May this file be written here?
*/
static int hpWriteOk(sqlite3_file *pFile){
#ifdef SQLITE_TEST
  /* What SQLite's tests let fail is in unixWrite() */
  if( sqlite3_io_error_pending || sqlite3_diskfull_pending ) return 0;
#endif
#ifdef SQLITE_MMAP_READWRITE
  return 0;
#elif defined(USE_PREAD64)
  return pFile->pMethods->xWrite==unixWrite && osPwrite64==pwrite64
      && hpConfig()->bOff==0;
#else
  return pFile->pMethods->xWrite==unixWrite && osPwrite==pwrite
      && hpConfig()->bOff==0;
#endif
}

#ifdef SQLITE_DEBUG
/* The bytes of nVec pieces */
static i64 hpWriteBytes(const struct iovec *aVec, int nVec){
  i64 n = 0;
  int i;
  for(i=0; i<nVec; i++) n += (i64)aVec[i].iov_len;
  return n;
}
#endif

/*
** Write nVec pieces, nByte bytes in all, to a file, from iOfst on.  True if all
** was written.
*/
static int hpWriteAll(
  sqlite3_file *pFile,
  const struct iovec *aVec,
  int nVec,
  i64 nByte,
  i64 iOfst
){
  assert( nVec>0 && iOfst>=0 && nByte==hpWriteBytes(aVec, nVec) );
  return sqlite3FaultSim(HP_WRITE_FAULT)==SQLITE_OK
      && pwritev(((unixFile*)pFile)->h, aVec, nVec, iOfst)==nByte;
}

/* Make *p the n bytes at a */
static void hpWritePiece(struct iovec *p, const void *a, u32 n){
  p->iov_base = (void*)a;
  p->iov_len = n;
}
#endif /* HP_PREADV */

/*
** Write page pList->pgno and those after it in the list that are adjacent in
** the database file.  Return how many were written: 0, or 2 and more.  Page 1
** is SQLite's, which changes it before.
*/
SQLITE_PRIVATE int sqlite3HpWritePages(Pager *pPager, PgHdr *pList){
#ifdef HP_PREADV
  struct iovec aVec[HP_WRITE_PAGES];
  i64 szPage = pPager->pageSize;
  Pgno iPg = pList->pgno;
  PgHdr *p;
  int n = 0;
  assert( !pagerUseWal(pPager) && isOpen(pPager->fd) );
  if( iPg==1 || pList->pDirty==0 || pList->pDirty->pgno!=iPg+1 ) return 0;
  for(p=pList; p && n<HP_WRITE_PAGES; p=p->pDirty){
    if( p->pgno!=iPg+n || p->pgno>pPager->dbSize
     || (p->flags & PGHDR_DONT_WRITE)!=0
    ){
      break;
    }
    assert( (p->flags & PGHDR_NEED_SYNC)==0 );
    hpWritePiece(&aVec[n++], p->pData, (u32)szPage);
  }
  if( n<2 || !hpWriteOk(pPager->fd) ) return 0;
  return hpWriteAll(pPager->fd, aVec, n, n*szPage, (iPg-1)*szPage) ? n : 0;
#else
  UNUSED_PARAMETER2(pPager, pList);
  return 0;
#endif
}

#ifdef HP_PREADV
/*
** True if a program may look at each write to pFile: its file system is one of
** user space, or what it is cannot be found out.
*/
static int hpWriteIsSeen(sqlite3_file *pFile){
  struct statfs fs;
  return hpConfig()->bFuse || fstatfs(((unixFile*)pFile)->h, &fs)!=0
      || fs.f_type==HP_FUSE_MAGIC;
}
#endif

/*
** Page iPg is about to be written, further than a page behind the end of the
** file.  Write zeros to the pages between, if a program may miss them.
*/
SQLITE_PRIVATE int sqlite3HpWriteGap(Pager *pPager, Pgno iPg){
#ifdef HP_PREADV
  struct iovec aVec[HP_WRITE_PAGES];
  const i64 szPage = pPager->pageSize;
  Pgno i = pPager->dbFileSize+1;
  int rc = SQLITE_OK;
  int n;
  assert( i<iPg );
  if( pPager->tempFile || !hpWriteOk(pPager->fd)
   || !hpWriteIsSeen(pPager->fd)
  ){
    return SQLITE_OK;
  }
  memset(pPager->pTmpSpace, 0, (size_t)szPage);
  for(n=0; n<HP_WRITE_PAGES; n++){
    hpWritePiece(&aVec[n], pPager->pTmpSpace, (u32)szPage);
  }
  while( rc==SQLITE_OK && i<iPg ){
    const Pgno iEnd = i<=pPager->lckPgno ? MIN(iPg, pPager->lckPgno) : iPg;
    n = (int)MIN(iEnd-i, HP_WRITE_PAGES);
    /* Nothing is ever written where the locks are */
    assert( n==0 || i>pPager->lckPgno || i+n<=pPager->lckPgno );
    if( n>0 && !hpWriteAll(pPager->fd, aVec, n, n*szPage, (i-1)*szPage) ){
      n = 1;
      rc = sqlite3OsWrite(pPager->fd, pPager->pTmpSpace, (int)szPage,
                          (i-1)*szPage);
    }
    i += MAX(n, 1);
  }
  return rc;
#else
  UNUSED_PARAMETER2(pPager, iPg);
  return SQLITE_OK;
#endif
}

/*
** pPg is about to be written to make room.  Link those pages to it that come
** next, both in the file and in the order in which pages would be written for
** room.
*/
SQLITE_PRIVATE void sqlite3HpSpill(Pager *pPager, PgHdr *pPg){
#ifdef HP_PREADV
  PgHdr *pLast = pPg;
  PgHdr *p;
  int n = 1;
  sqlite3_file *pFile = pPager->fd;
  assert( pPg->pDirty==0 );
#ifndef SQLITE_OMIT_WAL
  if( pagerUseWal(pPager) ) pFile = pPager->pWal->pWalFd;
#endif
  if( pPager->journalMode==PAGER_JOURNALMODE_OFF ) return;
  if( !isOpen(pFile) || !hpWriteOk(pFile) ) return;
  for(p=pPg->pDirtyPrev; p && n<HP_WRITE_PAGES; p=p->pDirtyPrev, n++){
    if( p->pgno!=pLast->pgno+1 || p->nRef>0 || p->pgno>pPager->dbSize
     || (p->flags & (PGHDR_NEED_SYNC|PGHDR_DONT_WRITE))!=0
     || subjRequiresPage(p)
    ){
      break;
    }
    assert( p->pPager==pPager && (p->flags & PGHDR_DIRTY)!=0 );
    pLast->pDirty = p;
    p->pDirty = 0;
    pLast = p;
  }
  assert( n<=HP_WRITE_PAGES && pLast->pDirty==0 );
#else
  UNUSED_PARAMETER2(pPager, pPg);
#endif
}

/*
** pPg was written, and the pages that sqlite3HpSpill() linked to it: those are
** clean now.
*/
SQLITE_PRIVATE void sqlite3HpSpilled(Pager *pPager, PgHdr *pPg){
  PgHdr *p = pPg->pDirty;
  while( p ){
    PgHdr *pNext = p->pDirty;      /* The page may be gone when it is clean */
    assert( p->nRef==0 && (p->flags & PGHDR_NEED_SYNC)==0 );
    pPager->aStat[PAGER_STAT_SPILL]++;
    sqlite3PcacheMakeClean(p);
    p = pNext;
  }
}

/*
** A record of the rollback journal at iOfst: page iPg, as it was, and its
** checksum.  True if it was written.
*/
SQLITE_PRIVATE int sqlite3HpWriteRecord(
  Pager *pPager,
  i64 iOfst,
  Pgno iPg,
  const void *aData,
  u32 cksum
){
#ifdef HP_PREADV
  struct iovec aVec[3];
  u8 aNum[2][4];
  assert( isOpen(pPager->jfd) && iPg>0 && iPg!=pPager->lckPgno );
  if( !hpWriteOk(pPager->jfd) ) return 0;
  put4byte(aNum[0], iPg);
  put4byte(aNum[1], cksum);
  hpWritePiece(&aVec[0], aNum[0], 4);
  hpWritePiece(&aVec[1], aData, (u32)pPager->pageSize);
  hpWritePiece(&aVec[2], aNum[1], 4);
  return hpWriteAll(pPager->jfd, aVec, 3, pPager->pageSize+8, iOfst);
#else
  UNUSED_PARAMETER2(pPager, iOfst);
  UNUSED_PARAMETER2(iPg, aData);
  UNUSED_PARAMETER(cksum);
  return 0;
#endif
}

#ifndef SQLITE_OMIT_WAL
/*
** A frame of the WAL, whose header is aHdr, at iOfst.  True if it was written.
** Not while the end of a sector is being looked for: there SQLite syncs between
** two writes.
*/
SQLITE_PRIVATE int sqlite3HpWriteFrame(
  struct WalWriter *p,
  const u8 *aHdr,
  const void *aData,
  i64 iOfst
){
#ifdef HP_PREADV
  struct iovec aVec[2];
  if( p->iSyncPoint!=0 || !hpWriteOk(p->pFd) ) return 0;
  hpWritePiece(&aVec[0], aHdr, WAL_FRAME_HDRSIZE);
  hpWritePiece(&aVec[1], aData, (u32)p->szPage);
  return hpWriteAll(p->pFd, aVec, 2, p->szPage+WAL_FRAME_HDRSIZE, iOfst);
#else
  UNUSED_PARAMETER2(p, aHdr);
  UNUSED_PARAMETER2(aData, iOfst);
  return 0;
#endif
}

/*
** Append the frames of the first pages of pList to the WAL at iOfst.  nTruncate
** is not 0 if the last page of the list ends a transaction.  Return how many
** were written, 0 if none.
**
** If iFirst is not 0 this transaction has already written frames from that one
** on.  A page that is in one of them goes there again, which SQLite does.
**
** Each header has the checksum of all that is before it.  If nothing was
** written the checksum so far is what it was.
*/
SQLITE_PRIVATE int sqlite3HpWriteFrames(
  struct WalWriter *p,
  PgHdr *pList,
  int nTruncate,
  u32 iFirst,
  i64 iOfst
){
#ifdef HP_PREADV
  struct iovec aVec[2*HP_WRITE_PAGES];
  u8 aHdr[HP_WRITE_PAGES][WAL_FRAME_HDRSIZE];
  u32 aCksum[2];
  PgHdr *pPg;
  int n = 0;
  assert( p->iSyncPoint==0 && p->szPage==(int)p->pWal->szPage );
  if( pList->pDirty==0 || !hpWriteOk(p->pFd) ) return 0;
  memcpy(aCksum, p->pWal->hdr.aFrameCksum, sizeof(aCksum));
  for(pPg=pList; pPg && n<HP_WRITE_PAGES; pPg=pPg->pDirty){
    u32 iFrame = 0;
    if( iFirst && n>0 ){
      if( walFindFrame(p->pWal, pPg->pgno, &iFrame) || iFrame>=iFirst ) break;
    }
    walEncodeFrame(p->pWal, pPg->pgno, pPg->pDirty==0 ? nTruncate : 0,
                   pPg->pData, aHdr[n]);
    hpWritePiece(&aVec[2*n], aHdr[n], WAL_FRAME_HDRSIZE);
    hpWritePiece(&aVec[2*n+1], pPg->pData, (u32)p->szPage);
    n++;
  }
  assert( n>0 && n<=HP_WRITE_PAGES );
  if( hpWriteAll(p->pFd, aVec, 2*n, n*(i64)(p->szPage+WAL_FRAME_HDRSIZE),
                 iOfst)
  ){
    return n;
  }
  memcpy(p->pWal->hdr.aFrameCksum, aCksum, sizeof(aCksum));
#else
  UNUSED_PARAMETER2(p, pList);
  UNUSED_PARAMETER2(nTruncate, iFirst);
  UNUSED_PARAMETER(iOfst);
#endif
  return 0;
}
#endif /* SQLITE_OMIT_WAL */
#endif /* SQLITE_OMIT_HP */
