/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_chain: runs of adjacent overflow pages, in one read.
**
**    sqlite3HpChain()  accessPayload(): read on along the chain of a cursor
**    hpChainRead()     read them, and tell how many were
**
** What of a payload does not fit into its leaf is on a chain of overflow
** pages, of which each begins with the number of the next.  SQLite reads them
** one by one.  But the pages of a chain were usually taken one after another,
** and their number is known from the size of the payload.  So this reads the
** next page of the chain, together with those that follow it in the file,
** straight to where the payload is wanted:
**
**     file   | next | data of page 7 | next | data of page 8 | next | data ...
**               |          |            |          |            |
**              [0]         |           [1]         |           [2]   aNext
**                          v                       v
**     payload ...| data of page 7        | data of page 8        | data ...
**
** It is one preadv(), which copies each byte once.  Then the numbers are
** looked at.  If page 7 names 8, and 8 names 9, all of it is the payload.
** Where one names another page, or none, what came after is not, and is read
** again from where it is.  Nothing is ever taken for payload that the chain
** does not lead to, so a chain that is damaged gives what SQLite makes of it.
**
** A guess that fails has read pages in vain.  Each file has a memory
** (HpGuess) of how long runs were: it doubles while runs are as long as
** guessed, falls to what a shorter one was, and where pages are scattered it
** tries two pages once in a while, less and less often.
**
** When reading is done.  SQLite itself reads overflow pages around its page
** cache (SQLITE_DIRECT_OVERFLOW_READ) if no page in the cache is dirty, since
** then the file is what the cache would say; the conditions here are no wider:
** the built-in unix VFS on a real file (hpPageDirect()), no dirty page.  In
** WAL mode each page is looked up under the read mark that the transaction
** holds: a run is either all in the database file, or in adjacent frames of the
** WAL, which is where the pages of a chain are that was written at once.  Pages
** of pointer maps, and the one of the lock byte, end a run.  SQLite reads
**
**   *  a single page;
**   *  a short payload in the WAL, or a run that begins in the page cache:
**      SQLite keeps such pages in the cache, where they are the next time;
**   *  whatever preadv() did not read in full.  Errors are thereby those of
**      SQLite, which reads again.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_CHAIN_PAGES  64          /* Most pages a read */
#define HP_CHAIN_BYTES  (256*1024)  /* Most bytes a read */
#define HP_CHAIN_FIRST  (32*1024)   /* Bytes of the first guess about a file */
#define HP_CHAIN_WAL    (16*1024)   /* Least payload read from the WAL */
#define HP_CHAIN_GAP    (255+24)    /* Most bytes between two pages: those
                                    ** reserved, and the header of a frame */
#define HP_CHAIN_WAIT   255         /* Most chains between two tries */
#define HP_CHAIN_FAULT  4130        /* sqlite3FaultSim(): reading fails */

#ifdef HP_PREADV
/*
** A guess how many of the next n pages of a chain are adjacent, the first
** included.
*/
static int hpChainGuess(HpGuess *p, u32 szPage, u32 n){
  int mx = (int)MIN(n, MIN(HP_CHAIN_PAGES, MAX(2, HP_CHAIN_BYTES/szPage)));
  assert( n>0 && p->nRun<=HP_CHAIN_PAGES );
  if( p->nRun==0 ) p->nRun = (u8)MAX(2, MIN(8, HP_CHAIN_FIRST/szPage));
  if( p->nRun==1 ){
    if( p->nSkip>0 ){
      p->nSkip--;
      return 1;
    }
    return MIN(2, mx);
  }
  return MIN(p->nRun, mx);
}

/*
** Of nGuess pages nFound were adjacent.
*/
static void hpChainLearn(HpGuess *p, int nGuess, int nFound){
  assert( nFound>=1 && nFound<=nGuess && nGuess<=HP_CHAIN_PAGES );
  assert( p->nRun>=1 );          /* There was a guess: hpChainGuess() */
  if( nFound<nGuess ){
    p->nRun = (u8)MAX(1, nFound);
    if( nFound<=1 ){
      p->nWait = (u8)MIN(HP_CHAIN_WAIT, 2*p->nWait+1);
      p->nSkip = p->nWait;
    }
  }else if( nGuess>=p->nRun && nGuess>1 ){
    p->nRun = (u8)MIN(HP_CHAIN_PAGES, 2*nGuess);
    p->nWait = 0;
  }
}

/*
** True unless pread() was replaced through xSetSystemCall: then there is
** somebody who wants to see what is read.
*/
static int hpChainPreads(void){
#ifdef USE_PREAD64
  return osPread64==pread64;
#else
  return osPread==pread;
#endif
}

/*
** The payload is wanted from byte iOfst of page iPg of a chain on: nByte bytes
** to aTo, or if that is NULL nothing but the number of the page where they end,
** iOfst being 0 and nByte bytes in full pages.
**
** Read some pages and return how many.  *piNext is set to what comes after
** them.  Return 0 if the pages are to be read in another way.
**
** aSkip is szPage bytes of scratch memory if iOfst is not 0 or aTo is NULL.
*/
static int hpChainRead(
  BtShared *pBt,         /* The file */
  HpGuess *pGuess,       /* What is known about its chains */
  int eFlags,            /* HP_CHAIN_xxx */
  Pgno iPg,              /* A page of the chain */
  u32 iOfst,             /* Bytes of its payload that are not wanted */
  u8 *aTo,               /* Where the payload goes, or NULL */
  u32 nByte,             /* Bytes wanted */
  u8 *aSkip,             /* See above */
  Pgno *piNext           /* OUT: what the last page read names */
){
  struct iovec aVec[3*HP_CHAIN_PAGES+1];
  u8 aNext[HP_CHAIN_PAGES][4];
  u8 aGap[HP_CHAIN_GAP]; /* What is between two pages */
  Pager *pPager = pBt->pPager;
  sqlite3_file *pFile = pPager->fd;
  u32 szPage = pBt->pageSize;
  u32 szData = pBt->usableSize - 4;
  u32 nGap = szPage - pBt->usableSize;
  Pgno mxPg = btreePagecount(pBt);
  i64 iFrom = (i64)szPage*(iPg-1);
  i64 nRead = 0;
  int nVec = 0;
  int nPage = hpChainGuess(pGuess, szPage, (iOfst+nByte+szData-1)/szData);
  int i;

  assert( nByte>0 && iOfst<szData && nGap<=255 );
  assert( aTo!=0 || (iOfst==0 && nByte%szData==0) );
  assert( aSkip!=0 || (iOfst==0 && aTo!=0) );
  if( iPg<2 || iPg>mxPg || iPg==PENDING_BYTE_PAGE(pBt) ) return 0;
  if( (Pgno)nPage>mxPg-iPg+1 ) nPage = (int)(mxPg-iPg+1);
  for(i=1; i<nPage; i++){
    if( iPg+i==PENDING_BYTE_PAGE(pBt) ) nPage = i;
    if( hpPageIsPtrmap(pBt, iPg+i) ) nPage = i;
  }
  if( nPage<2 && (eFlags & HP_CHAIN_SINGLE)==0 ) return 0;

#ifndef SQLITE_OMIT_WAL
  if( pagerUseWal(pPager) ){
    Wal *pWal = pPager->pWal;
    u32 iFrame;
    if( sqlite3WalFindFrame(pWal, iPg, &iFrame) ) return 0;
    for(i=1; i<nPage; i++){
      u32 iThis;
      if( sqlite3WalFindFrame(pWal, iPg+i, &iThis) ) return 0;
      if( iThis!=(iFrame ? iFrame+i : 0) ) nPage = i;
    }
    if( iFrame ){
      DbPage *pDb;
      if( (eFlags & HP_CHAIN_FRAMES)==0 || pWal->szPage!=szPage ) return 0;
      pDb = sqlite3PagerLookup(pPager, iPg);
      if( pDb ){
        sqlite3PagerUnrefNotNull(pDb);
        return 0;
      }
      pFile = pWal->pWalFd;
      iFrom = walFrameOffset(iFrame, szPage) + WAL_FRAME_HDRSIZE;
      nGap += WAL_FRAME_HDRSIZE;
    }
  }
#endif
  if( pFile->pMethods->xRead!=unixRead || !hpChainPreads() ) return 0;
#if SQLITE_MAX_MMAP_SIZE>0
  if( ((unixFile*)pFile)->mmapSize>0 ) return 0;
#endif

  for(i=0; i<nPage && nByte>0; i++){
    u32 nPart = MIN(szData-iOfst, nByte);
    assert( i==0 || (iPg+i<=mxPg && !hpPageIsPtrmap(pBt, iPg+i)) );
    if( i>0 && nGap ){
      aVec[nVec].iov_base = aGap;
      aVec[nVec++].iov_len = nGap;
      nRead += nGap;
    }
    aVec[nVec].iov_base = aNext[i];
    aVec[nVec++].iov_len = 4;
    if( iOfst ){
      aVec[nVec].iov_base = aSkip;
      aVec[nVec++].iov_len = iOfst;
    }
    aVec[nVec].iov_base = aTo ? aTo : aSkip;
    aVec[nVec++].iov_len = nPart;
    nRead += 4 + iOfst + nPart;
    if( aTo ) aTo += nPart;
    nByte -= nPart;
    iOfst = 0;
  }
  nPage = i;
  assert( nGap<=sizeof(aGap) );
  assert( nVec<=ArraySize(aVec) );
  if( sqlite3FaultSim(HP_CHAIN_FAULT)
   || preadv(((unixFile*)pFile)->h, aVec, nVec, iFrom)!=nRead
  ){
    return 0;
  }
  for(i=0; i<nPage-1 && get4byte(aNext[i])==iPg+i+1; i++){}
  hpChainLearn(pGuess, nPage, i+1);
  *piNext = get4byte(aNext[i]);
  return i+1;
}
#endif /* HP_PREADV */

/*
** accessPayload() is at page *piPg of the chain of pCur, which is number *piIdx
** in it, and wants *pnByte bytes of payload, to *paTo, that begin *piOfst bytes
** from the first one of this page, which may be on a later one.
**
** If some pages are read here, bring all of this to where they end and return
** 1.  Return 0 if the page is to be read by SQLite.
*/
SQLITE_PRIVATE int sqlite3HpChain(
  BtCursor *pCur,
  int *piIdx,
  Pgno *piPg,
  u32 *piOfst,
  u32 *pnByte,
  u8 **paTo
){
#ifdef HP_PREADV
  BtShared *pBt = pCur->pBt;
  Pager *pPager = pBt->pPager;
  const HpConfig *pCfg = hpConfig();
  Pgno *aOverflow = &pCur->aOverflow[*piIdx];
  u32 szData = pBt->usableSize - 4;
  u32 iOfst = *piOfst;
  int bSkip = iOfst>=szData;       /* Only find the next pages */
  u32 nWant = bSkip ? iOfst/szData : (iOfst+*pnByte+szData-1)/szData;
  int eFlags = pCur->info.nPayload>=HP_CHAIN_WAL ? HP_CHAIN_FRAMES : 0;
  Pgno iNext;
  int n, i;

  /* To read ahead, it matters that what lies between leaves is read too */
  if( pCur->hpLeaf.nChain<0xff00 ) pCur->hpLeaf.nChain++;
  if( nWant<2 || pCfg->bOff || !hpPageDirect(pCfg, pPager) ) return 0;
  /* SQLite asks the pointer maps what is next, and believes them */
  if( bSkip && ISAUTOVACUUM(pBt) ) return 0;
  if( aOverflow[1]!=0 && aOverflow[1]!=*piPg+1 ) return 0;
  assert( cursorHoldsMutex(pCur) && (pCur->curFlags & BTCF_ValidOvfl)!=0 );
  assert( pCur->info.nPayload>pCur->info.nLocal && *pnByte>0 );
  /* aOverflow[] has an entry for each page of the chain */
  assert( *piIdx+nWant<=((u64)pCur->info.nPayload-pCur->info.nLocal+szData-1)
                        /szData );
  n = hpChainRead(pBt, &pBt->hpGuess, eFlags, *piPg,
                  bSkip ? 0 : iOfst, bSkip ? 0 : *paTo,
                  bSkip ? nWant*szData : *pnByte,
                  (u8*)pPager->pTmpSpace, &iNext);
  if( n==0 ) return 0;
  assert( n>0 && (u32)n<=nWant );
  hpConfigStat(pCur->pBtree->db, HP_STAT_CHAIN);
  if( pCur->hpLeaf.nChain<0xff00 ) pCur->hpLeaf.nChain += (u16)(n-1);
  for(i=1; i<n; i++) aOverflow[i] = *piPg+i;
  if( bSkip ){
    *piOfst -= n*szData;
  }else{
    u32 nByte = MIN(*pnByte, n*szData-iOfst);
    *piOfst = 0;
    *pnByte -= nByte;
    *paTo += nByte;
  }
  *piIdx += n;
  *piPg = iNext;
  return 1;
#else
  UNUSED_PARAMETER2(pCur, piIdx);
  UNUSED_PARAMETER2(piPg, piOfst);
  UNUSED_PARAMETER2(pnByte, paTo);
  return 0;
#endif
}
#endif /* SQLITE_OMIT_HP */
