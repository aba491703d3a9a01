/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_walfill: reserved pages get frames in the log.
**
**    hpWalFill()        before the commit of a transaction that grew the file
**
** SQLite writes a frame for each page by which a database grows, because it
** puts something there.  Programs that copy the log rest on it: a page behind
** the end of the file that has no frame cannot be read.  So does a checkpoint,
** which takes a file for damaged if the size that the log gives it exceeds its
** own by much more than the log holds.  An extent (hp_extent.c) ends with pages
** that nobody has written.  Hence each page that the transaction reserved at
** the end of the file and did not use is written to the log, as zeros.  Pages
** that are reserved and used by the same transaction, as when many rows are
** inserted at once, are written once.
**
** Algorithm: a bit for each page behind the end of the file as it was.  Bits
** are set for the page of the lock byte, for dirty pages, which the commit
** writes, and for pages of the transaction's frames, which were spilled.  The
** others get a frame, HP_WAL_FRAMES in one write.  The frames of a transaction
** are those behind the last commit in the wal-index.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifndef SQLITE_OMIT_WAL

#define HP_WAL_FRAMES     32      /* Frames of reserved pages in one write */

/*
** The frame that ends the last transaction in the log: those behind it are of
** this one.  As walIndexHdr(), whose assert() demands that the caller catches
** the exceptions of Windows.
*/
static u32 hpWalCommitted(const Wal *pWal){
  assert( pWal->nWiData>0 && pWal->apWiData[0] );
  if( sqlite3HpSyncLive(pWal) ) return sqlite3HpSyncLive(pWal)->mxFrame;
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
  assert( n>0 && n<=HP_WAL_FRAMES );
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
  PgHdr aPg[HP_WAL_FRAMES];
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
      if( n==HP_WAL_FRAMES || nSeen==nGrown ){
        rc = hpWalZeros(pPager, aPg, n);
        n = 0;
      }
    }
  }
  assert( rc!=SQLITE_OK || (nSeen==nGrown && n==0) );
  if( aSeen!=aSmall ) sqlite3_free(aSeen);
  return rc;
}
#endif /* SQLITE_OMIT_WAL */
#endif /* SQLITE_OMIT_HP */
