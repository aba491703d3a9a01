/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_leafahead: asks the operating system for the leaves of the runs to come.
**
**    hpLeafAheadLook()   note which pages to ask for
**    hpLeafAheadOrder()  is a leaf the next one in the file?
**
** What a read costs tells whether the file is in the operating system's cache
** (hp_leafread.c).  If it was slow the leaves of the next runs are asked for
** (hp_ahead.c), until it turns out that it has them; with what lies between,
** where that is the overflow pages of their rows.  Up to HP_AHEAD_LEAVES, and
** HP_AHEAD_BYTES, are asked for ahead of the run that is taken.
**
** Where HP_AHEAD_IN_ORDER leaves are adjacent it reads ahead by itself, in
** larger pieces of memory: asking for 84,000 adjacent leaves took 0.2 s more
** than leaving them to it.
**
** So that the end of an interior page stops nothing, what is ahead has a way of
** its own from the root to a leaf (HpSource.aAhead).  It begins where the scan
** is, and again if the scan has overtaken it.  An interior page that is not in
** the page cache yet is asked for as leaves are, and waited for one run later.
**
** Call order: hpLeafAheadLook() with the scan's mutex held, before the run is
** taken; hpLeafReadFile() then asks without it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* After so many leaves in the order of the file the next ones are left to the
** operating system */
#define HP_AHEAD_IN_ORDER 256

/*
** Leaf iPg comes after leaf *piLast, which so many leaves are in order before.
*/
static void hpLeafAheadOrder(Pgno *piLast, int *pnInOrder, Pgno iPg){
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
static Pgno hpLeafAheadSibling(
  const HpSource *pSrc,
  const struct HpLevel *aLevel
){
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
static int hpLeafAheadCopyWay(HpSource *pSrc, struct HpLevel *aTo){
  int i;
  hpDescentRelease(aTo, 0);
  for(i=0; i<pSrc->nLevel; i++){
    const struct HpLevel *p = &pSrc->aLevel[i];
    int rc = hpDescentLevel(pSrc, p->iPg, &aTo[i]);
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
static void hpLeafAheadLook(HpSource *pSrc, HpRun *pRun){
  struct HpLevel *aAhead = pSrc->aAhead;
  int iLow = pSrc->nLevel-1;
  int nSpan = hpAheadSpan(pSrc->nTaken, pSrc->nChain);
  int mxAhead = MIN(HP_AHEAD_LEAVES, HP_AHEAD_BYTES/pSrc->szPage/nSpan);
  int bEnd = 0;
  int n = 0;
  assert( pSrc->bDirect && pSrc->nLevel>0 && pRun->aAhead!=0 );
  if( pSrc->nAsked<pSrc->nTaken || aAhead[0].iPg==0 ){
    if( hpLeafAheadCopyWay(pSrc, aAhead) ){
      hpDescentRelease(aAhead, 0);
      pSrc->aAhead = 0;
      return;
    }
    pSrc->nAsked = pSrc->nTaken;
    pSrc->iLastAsked = pSrc->iLast;
    pSrc->nAskedInOrder = pSrc->nInOrder;
    pRun->aAhead[n] = hpLeafAheadSibling(pSrc, aAhead);
    n += pRun->aAhead[n]!=0;
  }
  while( n<HP_AHEAD_LEAVES && pSrc->nAsked<pSrc->nTaken+mxAhead ){
    struct HpLevel *p = &aAhead[iLow];
    Pgno iPg;
    if( p->iChild>p->iLast ){
      /* What is being asked for is not read yet */
      if( n>0 && hpLeafAheadSibling(pSrc, aAhead) ) break;
      if( hpWalkAdvance(pSrc, aAhead, &bEnd) ){
        /* The scan will come there too and decline, or fail */
        hpDescentRelease(aAhead, 0);
        pSrc->aAhead = 0;
        break;
      }
      if( bEnd ) break;
      pRun->aAhead[n] = hpLeafAheadSibling(pSrc, aAhead);
      n += pRun->aAhead[n]!=0;
    }
    iPg = hpPageChild(&p->in, p->iChild++);
    if( iPg<2 || iPg>btreePagecount(pSrc->pBt) ) continue;
    hpLeafAheadOrder(&pSrc->iLastAsked, &pSrc->nAskedInOrder, iPg);
    if( pSrc->nAskedInOrder<HP_AHEAD_IN_ORDER ) pRun->aAhead[n++] = iPg;
    pSrc->nAsked++;
  }
  /* There is room for two interior pages more */
  assert( n<=HP_AHEAD_LEAVES+2 && pSrc->nAsked>=pSrc->nTaken );
  pRun->nAhead = n;
  pRun->nSpan = nSpan;
  hpPageSort(pRun->aAhead, (u32)n);
  if( hpAheadFrames(pSrc->pPager, pRun->aAhead, pRun->aAheadFrame, n) ){
    pRun->nAhead = 0;
  }
}
#endif /* HP_READAHEAD */
#endif /* SQLITE_OMIT_HP */
