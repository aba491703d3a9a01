/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_seek: searching a table by rowid.
**
**    sqlite3HpSeek()     Called by sqlite3BtreeTableMoveto() with a cursor on
**                        the root page: goes down to the leaf.
**    hpSeekInOrder()     Are the rowids of this page in order?
**
** SQLite bisects each page on the way.  Of a page that is not in the
** processor's cache every probe is a wait for memory, and every probe is a
** branch that cannot be predicted: a look-up in a million rows takes 20 of
** them.  But rowids are mostly dense, and the keys of the interior page above
** tell the range of the rowids below.  So where a rowid is in its page can be
** calculated, and mostly that is right at once: then two probes do for an
** interior page and one for a leaf.
**
** The guess is the first probe.  If it misses, the next ones are 1 and then 4
** cells further on, then what is left is bisected.  So a table whose rowids are
** spread unevenly costs at most some probes more than it did.  Whatever the
** guess, only comparisons with the cells decide; the loop ends as SQLite's
** does.
**
** That is the same cell as long as the rowids of the page are in order.  In a
** damaged page they may not be, and then it depends on the probes what is found.
** So where it is not known that they are in order the probes are SQLite's own.  It
** becomes known by reading all of them, once for a page in memory: of a page of
** the store of hp_store.c when it gets there, of one of the page cache when it
** has been searched some times (MemPage.nHpSeek).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* To read a cell of a page costs about this share of what a guess saves */
#define HP_SEEK_SHARE   16

/*
** True if the rowids of a page, whose b-tree header is at aData[iHdr], are in
** order, each where SQLite finds it.
*/
static int hpSeekInOrder(const u8 *aData, int iHdr, int szPage){
  const u8 *aHdr = &aData[iHdr];
  int bLeaf = aHdr[0]==(PTF_INTKEY|PTF_LEAFDATA|PTF_LEAF);
  int nHdr = bLeaf ? 8 : 12;
  int nCell = get2byte(&aHdr[3]);
  i64 iLast = SMALLEST_INT64;
  int i;
  assert( (szPage & (szPage-1))==0 && iHdr>=0 && iHdr+12<szPage );
  if( !bLeaf && aHdr[0]!=(PTF_INTKEY|PTF_LEAFDATA) ) return 0;
  if( iHdr+nHdr+2*nCell>szPage ) return 0;
  for(i=0; i<nCell; i++){
    const u8 *z = &aData[get2byte(&aHdr[nHdr+2*i]) & (szPage-1)];
    i64 iRowid;
    if( bLeaf ){
      int n = 1;
      while( z[n-1]>=0x80 ){
        if( ++n>5 ) return 0;
      }
      z += n;
    }else{
      z += 4;
    }
    iRowid = sqlite3VarintValue(z);
    if( iRowid<=iLast && i>0 ) return 0;
    iLast = iRowid;
  }
  return 1;
}

/*
** Page pPage is searched, and it is not known that its rowids are in order.
** Return true if from now on it is.
*/
static SQLITE_NOINLINE int hpSeekAgain(MemPage *pPage){
  assert( pPage->intKey && pPage->nHpSeek!=HP_SEEK_ORDER );
  if( pPage->nHpSeek==HP_SEEK_NONE ) return 0;
  if( ++pPage->nHpSeek<MIN(HP_SEEK_ORDER-1, 4+pPage->nCell/HP_SEEK_SHARE) ){
    return 0;
  }
  pPage->nHpSeek = HP_SEEK_NONE;
  if( hpSeekInOrder(pPage->aData, pPage->hdrOffset, (int)pPage->maskPage+1) ){
    pPage->nHpSeek = HP_SEEK_ORDER;
  }
  return pPage->nHpSeek==HP_SEEK_ORDER;
}

/*
** Where in pPage, whose rowids are greater than iLow and not greater than
** iHigh, is iKey?
*/
static int hpSeekGuess(MemPage *pPage, i64 iKey, i64 iLow, i64 iHigh){
  u64 nRange = (u64)iHigh - (u64)iLow;
  u64 n = (u64)iKey - (u64)iLow - 1;
  int mx = pPage->nCell - 1;
  int i;
  assert( pPage->nHpSeek==HP_SEEK_ORDER && mx>=0 );
  if( n>=nRange ) return mx/2;    /* Not what the page above says */
  i = (int)((double)n * (pPage->nCell + !pPage->leaf) / (double)nRange);
  assert( i>=0 );
  return i<mx ? i : mx;
}

/*
** Move cursor pCur from the root page, which is not empty, to the entry for
** iKey or one next to it, and store in *pRes how that compares, as
** sqlite3BtreeTableMoveto() does.  Return true, and store the result code in
** *pRc.  Return false, having done nothing, if hp is switched off.
*/
SQLITE_PRIVATE int sqlite3HpSeek(
  BtCursor *pCur,        /* The cursor, on the root page */
  i64 iKey,              /* Rowid to search for */
  int bRight,            /* Expect it at the right end */
  int *pRes,             /* OUT: <0, 0, >0: entry is less, equal, greater */
  int *pRc               /* OUT: Result code */
){
  i64 iLow = 0, iHigh = 0;   /* Rowids of the page are in (iLow, iHigh] */
  int mKnown = 0;            /* 1: iLow is set.  2: iHigh is set */
  assert( cursorHoldsMutex(pCur) );
  assert( pCur->pKeyInfo==0 && pCur->pPage->nCell>0 );
  if( hpConfig()->bOff ) return 0;
  for(;;){
    MemPage *pPage = pCur->pPage;
    int lwr = 0, upr = pPage->nCell - 1;
    int nStep = 0;           /* Distance to the next guess.  0: bisect */
    int eDir = 0;            /* Direction of the last one */
    int idx, c;
    Pgno iChild;

    if( bRight ){
      idx = upr;
    }else if( mKnown==3 && upr>=4
           && (pPage->nHpSeek==HP_SEEK_ORDER || hpSeekAgain(pPage))
    ){
      idx = hpSeekGuess(pPage, iKey, iLow, iHigh);
      nStep = 1;
    }else{
      idx = upr>>1;
    }
    for(;;){
      i64 iCell;
      u8 *pCell = findCellPastPtr(pPage, idx);
      assert( idx>=lwr && idx<=upr && upr<pPage->nCell );
      if( pPage->intKeyLeaf ){
        while( 0x80 <= *(pCell++) ){
          if( pCell>=pPage->aDataEnd ){
            *pRc = SQLITE_CORRUPT_PAGE(pPage);
            return 1;
          }
        }
      }
      iCell = sqlite3VarintValue(pCell);
      if( iCell<iKey ){
        lwr = idx + 1;
        iLow = iCell;
        mKnown |= 1;
        c = -1;
      }else if( iCell>iKey ){
        upr = idx - 1;
        iHigh = iCell;
        mKnown |= 2;
        c = +1;
      }else{
        pCur->ix = (u16)idx;
        if( pPage->leaf ){
          pCur->curFlags |= BTCF_ValidNKey;
          pCur->info.nKey = iCell;
          pCur->info.nSize = 0;
          *pRes = 0;
          *pRc = SQLITE_OK;
          return 1;
        }
        iHigh = iCell;
        mKnown |= 2;
        lwr = idx;
        break;
      }
      if( lwr>upr ) break;
      if( nStep==0 || eDir==-c || nStep>4 ){
        nStep = 0;
        idx = (lwr+upr)>>1;
      }else{
        eDir = c;
        idx = c<0 ? MIN(idx+nStep, upr) : MAX(idx-nStep, lwr);
        nStep *= 4;
      }
    }
    if( pPage->leaf ){
      pCur->ix = (u16)idx;
      *pRes = c;
      *pRc = SQLITE_OK;
      break;
    }
    assert( lwr>=0 && lwr<=pPage->nCell );
    if( lwr>=pPage->nCell ){
      iChild = get4byte(&pPage->aData[pPage->hdrOffset+8]);
    }else{
      iChild = get4byte(findCell(pPage, lwr));
    }
    pCur->ix = (u16)lwr;
    *pRc = moveToChild(pCur, iChild);
    if( *pRc ) break;
  }
  pCur->info.nSize = 0;
  assert( (pCur->curFlags & BTCF_ValidOvfl)==0 );
  return 1;
}

#endif /* SQLITE_OMIT_HP */
