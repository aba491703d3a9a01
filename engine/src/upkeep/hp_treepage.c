/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_treepage: is a page of a b-tree sound?  What checkTreePage() of btree.c
** says of one page.
**
**    hpTreePage()        check a page but for the pages that it names
**    hpTreePageRef()     a page is in use: the first time?
**    hpTreePageMap()     does the pointer map say the same of a page?
**    hpTreePageChild()   both, of the child of an interior page
**
** A page is sound if
**
**    1.  cells and freeblocks do not overlap, and with the fragments that the
**        header counts they fill the page from the first of them on;
**    2.  rowids are in order, and within the bounds that separators further up
**        give to the page: greater than the one before it, and not greater
**        than the one behind it;
**    3.  no record has a header of less than two bytes.
**
** Nothing is said about what is wrong: HP_DECLINE, and SQLite's own code looks
** at all pages again.  So a page may be declined that SQLite takes, as an empty
** leaf below an interior page, but not the other way round.
**
** For 1, where SQLite has a heap of all cells, there is a bit for each byte of
** the page: most cells are in two words of them.
**
** References.  Each worker has a bit for each page of the file.  What two of
** them have seen is found when all have ended (hp_trees.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Bytes iFrom to iFrom+n-1 of the page are in use.  Returns true if some of
** them have been before.
*/
static SQLITE_INLINE int hpTreePageCover(u64 *aCover, u32 iFrom, u32 n){
  u32 iLast = iFrom+n-1;
  u32 i = iFrom>>6;
  u32 iEnd = iLast>>6;
  u64 m = ~(u64)0 << (iFrom & 63);
  u64 mEnd = ~(u64)0 >> (63-(iLast & 63));
  u64 bad = 0;
  assert( n>0 && iLast<=0xffff );
  if( i==iEnd ){
    m &= mEnd;
    bad = aCover[i] & m;
    aCover[i] |= m;
    return bad!=0;
  }
  bad = aCover[i] & m;
  aCover[i] |= m;
  for(i++; i<iEnd; i++){
    bad |= aCover[i];
    aCover[i] = ~(u64)0;
  }
  bad |= aCover[i] & mEnd;
  aCover[i] |= mEnd;
  return bad!=0;
}

/* Page iPg is in use.  SQLITE_OK: there is one, and it has not been before */
static SQLITE_INLINE int hpTreePageRef(HpTreeLook *p, Pgno iPg){
  u32 m = (u32)1 << (iPg & 31);
  if( iPg==0 || iPg>p->nPage || (p->aRef[iPg>>5] & m)!=0 ) return HP_DECLINE;
  p->aRef[iPg>>5] |= m;
  return SQLITE_OK;
}

/*
** SQLITE_OK if the pointer map, should the file have one, says that page iPg
** has type eType and parent iParent.
*/
static int hpTreePageMap(
  const HpTreeLook *p,
  Pgno iPg,
  u8 eType,
  Pgno iParent
){
#ifndef SQLITE_OMIT_AUTOVACUUM
  const u8 *a;
  Pgno iMap;
  if( p->apMap==0 ) return SQLITE_OK;
  if( iPg<2 || iPg>p->nPage ) return HP_DECLINE;
  iMap = hpPagePtrmap(p->pBt, iPg);
  a = p->apMap[(iPg-2)/(p->pBt->usableSize/5+1)];
  if( iPg<=iMap || 5*(iPg-iMap)>p->pBt->usableSize ) return HP_DECLINE;
  a += 5*(iPg-iMap-1);
  if( a[0]!=eType || get4byte(&a[1])!=iParent ) return HP_DECLINE;
#else
  UNUSED_PARAMETER2(p, iPg);
  UNUSED_PARAMETER2(eType, iParent);
#endif
  return SQLITE_OK;
}

/* Interior page iParent names page iPg as a child */
static int hpTreePageChild(HpTreeLook *p, Pgno iPg, Pgno iParent){
  if( hpTreePageRef(p, iPg) ) return HP_DECLINE;
  return hpTreePageMap(p, iPg, PTRMAP_BTREE, iParent);
}

/* nPage overflow pages from page iPg on are a chain that begins in iParent */
static int hpTreePageChain(HpTreeLook *p, Pgno iPg, u32 nPage, Pgno iParent){
  HpTreeChain *pChain;
  assert( nPage>0 );
  if( hpBufGrow(&p->aChain, &p->nChainAlloc, p->nChain, sizeof(HpTreeChain)) ){
    return HP_DECLINE;
  }
  pChain = &p->aChain[p->nChain++];
  pChain->iPg = iPg;
  pChain->nPage = nPage;
  pChain->iParent = iParent;
  return SQLITE_OK;
}

/*
** The payload of a cell, from z on, has nByte bytes.  Returns how many of these
** are in the page, or 0 if it is not sound.  Where there are overflow pages
** they are noted: behind that part is the number of the first.
*/
static u32 hpTreePageLocal(
  HpTreeLook *p,
  Pgno iPg,
  const u8 *z,
  const u8 *aEnd,
  u32 nByte,
  u32 mxLocal,
  u32 mnLocal
){
  u32 nUsable = p->pBt->usableSize;
  u32 nLocal = nByte;
  if( nByte==0 || nByte>SQLITE_MAX_LENGTH || z>=aEnd || z[0]<2 ) return 0;
  if( nByte>mxLocal ){
    nLocal = mnLocal + (nByte-mnLocal)%(nUsable-4);
    if( nLocal>mxLocal ) nLocal = mnLocal;
    if( nLocal+4>(u32)(aEnd-z) ) return 0;
    if( hpTreePageChain(p, get4byte(&z[nLocal]),
                        (nByte-nLocal+nUsable-5)/(nUsable-4), iPg)
    ){
      return 0;
    }
  }
  assert( nLocal>0 && nLocal<=nByte );
  return nLocal;
}

/*
** Check the freeblocks of the page, whose b-tree header is aHdr[], from iTop
** on.  *pnFree becomes the bytes in them.
*/
static int hpTreePageFree(
  HpTreeLook *p,
  const u8 *aPage,
  const u8 *aHdr,
  u32 iTop,
  u32 *pnFree
){
  u32 nUsable = p->pBt->usableSize;
  u32 i = get2byte(&aHdr[1]);
  u32 iMin = iTop;
  *pnFree = 0;
  while( i>0 ){
    u32 n;
    if( i<iMin || i>nUsable-4 ) return HP_DECLINE;
    n = get2byte(&aPage[i+2]);
    if( n<4 || i+n>nUsable ) return HP_DECLINE;
    if( hpTreePageCover(p->aCover, i, n) ) return HP_DECLINE;
    *pnFree += n;
    iMin = i+n+4;
    i = get2byte(&aPage[i]);
  }
  return SQLITE_OK;
}

/*
** Check page iPg, whose bytes are aPage[], with HP_SLACK behind them.  It has
** to be of type eType.  Only a root may be empty: that of an empty table, or
** page 1, which has less room than the only child that it then has.
*/
static int hpTreePage(
  HpTreeLook *p,
  Pgno iPg,
  const u8 *aPage,
  u8 eType,
  int bRoot,
  const HpTreeBound *pBound
){
  const BtShared *pBt = p->pBt;
  u32 nUsable = pBt->usableSize;
  const u8 *aEnd = &aPage[nUsable];
  const u8 *aHdr = &aPage[iPg==1 ? 100 : 0];
  int bLeaf = (eType & PTF_LEAF)!=0;
  int bTable = (eType & PTF_INTKEY)!=0;
  const u8 *aIdx = &aHdr[bLeaf ? 8 : 12];
  u32 mxLocal = bTable ? pBt->maxLeaf : pBt->maxLocal;
  u32 mnLocal = bTable ? pBt->minLeaf : pBt->minLocal;
  int nCell = get2byte(&aHdr[3]);
  u32 iTop = get2byteNotZero(&aHdr[5]);
  u32 nUsed = 0;
  u32 nFree;
  i64 iLast = pBound->iLow;
  int bLast = pBound->mOn & 1;
  int i;
  assert( iPg>0 && iPg<=p->nPage );
  assert( nUsable<=SQLITE_MAX_PAGE_SIZE && (bLast==0 || bTable) );
  if( aHdr[0]!=eType || nCell>(int)MX_CELL(pBt) ) return HP_DECLINE;
  if( nCell==0 && bRoot==0 ) return HP_DECLINE;
  if( iTop>nUsable || &aPage[iTop]<&aIdx[2*nCell] ) return HP_DECLINE;
  memset(p->aCover, 0, (nUsable+63)/64*sizeof(u64));
  for(i=0; i<nCell; i++){
    u32 iCell = get2byte(&aIdx[2*i]);
    const u8 *z = &aPage[iCell];
    u32 nCut = 0;        /* Bytes of the number of an overflow page */
    u32 nByte, nLocal;
    i64 iRowid;
    if( iCell<iTop || iCell>nUsable-4 ) return HP_DECLINE;
    if( bLeaf==0 ) z += 4;
    if( bTable ){
      if( bLeaf ){
        z += hpCellsHead(z, &nByte, &iRowid);
      }else{
        z += sqlite3GetVarint(z, (u64*)&iRowid);
        nByte = 0;
      }
      if( bLast && iRowid<=iLast ) return HP_DECLINE;
      bLast = 1;
      iLast = iRowid;
    }else{
      int n = getVarint32(z, nByte);
      if( n>5 ) return HP_DECLINE;
      z += n;
    }
    if( bLeaf || bTable==0 ){
      nLocal = hpTreePageLocal(p, iPg, z, aEnd, nByte, mxLocal, mnLocal);
      if( nLocal==0 ) return HP_DECLINE;
      nCut = nLocal<nByte ? 4 : 0;
      z += nLocal + nCut;
    }
    nByte = (u32)(z-&aPage[iCell]);
    if( nByte<4 ) nByte = 4;
    if( iCell+nByte>nUsable ) return HP_DECLINE;
    if( hpTreePageCover(p->aCover, iCell, nByte) ) return HP_DECLINE;
    nUsed += nByte;
  }
  if( nCell>0 && (pBound->mOn & 2)!=0 && iLast>pBound->iHigh ){
    return HP_DECLINE;
  }
  if( hpTreePageFree(p, aPage, aHdr, iTop, &nFree) ) return HP_DECLINE;
  if( nUsable-iTop-nUsed-nFree!=aHdr[7] ) return HP_DECLINE;
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
