/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_page: pages of b-trees that may hold anything.
**
**    hpPageSort()    put page numbers in order
**    hpPageInner()   an interior page: is it one, and sound?
**    hpPageCell()    a cell of it, without the number of its child
**    hpPageChild()   the page that a cell leads to
**    hpPageRecord()  the record of an index cell
**    hpPageIsPtrmap()    does a page hold pointers to the parents of others?
**    hpPagePtrmap()      the page that holds that of a page
**    hpPageFile()    may pages be read from the file, if the page cache has none that
**                    is newer?
**    hpPageDirect()  ... and it has none
**
** Numbers in a page are checked against its end before they are used, so that a
** damaged file or a hostile one makes nobody read elsewhere.  Whoever gets
** HP_DECLINE, or zero for a child, leaves the page to SQLite, which says what is
** wrong with it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Let a[i], the top of a heap of n numbers, sink to where it belongs */
static void hpPageSink(Pgno *a, u32 i, u32 n){
  Pgno x = a[i];
  for(;;){
    u32 k = 2*i + 1;
    if( k>=n ) break;
    if( k+1<n && a[k]<a[k+1] ) k++;
    if( a[k]<=x ) break;
    a[i] = a[k];
    i = k;
  }
  a[i] = x;
}

/*
** Put n page numbers in order.  A heap sort: it needs no memory, and no input
** is worse than others.  What is in order already stays as it is.
*/
static void hpPageSort(Pgno *a, u32 n){
  u32 i;
  assert( n==0 || a!=0 );
  for(i=1; i<n && a[i-1]<=a[i]; i++){}
  if( i>=n ) return;
  for(i=n/2; i>0; i--) hpPageSink(a, i-1, n);
  for(i=n-1; i>0; i--){
    Pgno x = a[0];
    a[0] = a[i];
    a[i] = x;
    hpPageSink(a, 0, i);
  }
  assert( a[0]<=a[1] && a[n-2]<=a[n-1] );
}

/*
** The record of a cell of an index.  z is the cell without the number of
** its child, aEnd the end of its page.
*/
static int hpPageRecord(
  BtShared *pBt,
  const u8 *z,
  const u8 *aEnd,
  HpRecord *pRec
){
  u32 nByte, nLocal;
  int n = getVarint32(z, nByte);
  /* Stock takes seven bits of the ninth byte, which no record needs */
  if( n>5 ) return HP_DECLINE;
  z += n;
  nLocal = nByte;
  if( nByte>pBt->maxLocal ){
    u32 mnLocal = pBt->minLocal;
    nLocal = mnLocal + (nByte-mnLocal)%(pBt->usableSize-4);
    if( nLocal>pBt->maxLocal ) nLocal = mnLocal;
    if( nByte>SQLITE_MAX_LENGTH || z>aEnd-4 ) return HP_DECLINE;
    aEnd -= 4;
  }
  if( nByte==0 || z>aEnd || nLocal>(u32)(aEnd-z) ) return HP_DECLINE;
  /* hp_walk.c makes room for no more */
  assert( nLocal>0 && nLocal<=nByte && nLocal<=pBt->maxLocal );
  pRec->z = z;
  pRec->nByte = nByte;
  pRec->nLocal = nLocal;
  return SQLITE_OK;
}

/*
** True if leaves that the page cache does not hold may be read straight from the
** file: see hp_leafread.c.
*/
static int hpPageFile(const HpConfig *pCfg, Pager *pPager){
#if SQLITE_OS_UNIX
  return pCfg->bPager==0
      && MEMDB==0
      && pPager->tempFile==0
      && isOpen(pPager->fd)
      && pPager->fd->pMethods->xRead==unixRead
      && hpMemoryPcacheDefault();
#else
  UNUSED_PARAMETER2(pCfg, pPager);
  return 0;
#endif
}

#ifdef HP_PREADV
/*
** True if the file says of every page what the page cache would.
*/
static int hpPageDirect(const HpConfig *pCfg, Pager *pPager){
  return pPager->pPCache->pDirty==0 && hpPageFile(pCfg, pPager);
}
#endif

/*
** Set *p to the b-tree page iPg, whose first byte is aData[0].  Return its
** type, or 0 if it is an interior page with a number of cells that cannot be.
*/
static int hpPageInner(
  HpInner *p,
  const BtShared *pBt,
  const u8 *aData,
  Pgno iPg
){
  p->aData = aData;
  p->aHdr = &aData[iPg==1 ? 100 : 0];
  p->aEnd = &aData[pBt->usableSize];
  p->nCell = get2byte(&p->aHdr[3]);
  assert( iPg>0 && p->aHdr+12<p->aEnd );
  if( (p->aHdr[0] & PTF_LEAF)==0
   && (p->nCell<1 || p->nCell>(int)MX_CELL(pBt))
  ){
    return 0;
  }
  return p->aHdr[0];
}

/*
** Cell i of an interior page, or NULL if it is not where a cell can be.
*/
static const u8 *hpPageCell(const HpInner *p, int i){
  int ofst;
  assert( i>=0 && i<p->nCell );
  ofst = get2byte(&p->aHdr[12+2*i]);
  if( ofst<12 || ofst>(int)(p->aEnd - p->aData)-5 ) return 0;
  assert( &p->aData[ofst+5]<=p->aEnd );
  return &p->aData[ofst];
}

/*
** Page number of child i of an interior page, or 0 if its cell is not
** where a cell can be.
*/
static Pgno hpPageChild(const HpInner *p, int i){
  const u8 *z;
  assert( i>=0 && i<=p->nCell );
  if( i==p->nCell ) return get4byte(&p->aHdr[8]);
  z = hpPageCell(p, i);
  return z ? get4byte(z) : 0;
}

#ifndef SQLITE_OMIT_AUTOVACUUM
/*
** The page that holds the pointer to the parent of page iPg, or is page iPg.  As
** ptrmapPageno(), whose assert() demands the b-tree's mutex: a worker does not
** hold it, but the thread that waits for the worker does.
*/
static Pgno hpPagePtrmap(const BtShared *pBt, Pgno iPg){
  Pgno nMapped = pBt->usableSize/5 + 1;
  Pgno iMap;
  if( iPg<2 ) return 0;
  iMap = (iPg-2)/nMapped*nMapped + 2;
  iMap += iMap==PENDING_BYTE_PAGE(pBt);
  assert( iMap>=2 && (iMap<=iPg || iPg==PENDING_BYTE_PAGE(pBt)) );
  return iMap;
}
#endif

/*
** True if page iPg holds pointers to the parents of others.
*/
static int hpPageIsPtrmap(const BtShared *pBt, Pgno iPg){
#ifndef SQLITE_OMIT_AUTOVACUUM
  return ISAUTOVACUUM(pBt) && hpPagePtrmap(pBt, iPg)==iPg;
#else
  UNUSED_PARAMETER2(pBt, iPg);
  return 0;
#endif
}
#endif /* SQLITE_OMIT_HP */
