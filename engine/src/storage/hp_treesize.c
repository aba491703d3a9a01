/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_treesize: an estimate of the number of pages that a b-tree has.
**
**    hpTreeSize()       interior pages, leaves, and overflow pages
**
** The pages on one path from the root, a middle one, stand for all of their
** level.  The number of leaves is exact while there is one level above them.
** A path costs a page for each level, and these are mostly in the cache: they
** are being balanced.
**
** Of a b-tree that is smaller than HP_EXTENT_MIN leaves only those overflow
** pages are counted whose leaves are in the cache, and those truly.  A b-tree
** must not be taken for larger than it is, or a small one reserved pages.
**
** The file may be hostile: a page may be its own child, or claim payloads of
** gigabytes.  Each factor is at most HP_TREE_MX, so no product overflows.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_TREE_MX        ((i64)1<<30)  /* More pages are not counted */

/* Number of pages of each kind */
typedef struct HpTreeSize HpTreeSize;
struct HpTreeSize {
  i64 nInterior, nLeaf, nOverflow;
};

/*
** Add up the overflow pages of the cells of leaf aData, whatever it holds: at
** most HP_TREE_MX, so that a hostile file cannot make the product overflow.
*/
static i64 hpLeafOverflow(const BtShared *pBt, const u8 *aData, int hdr){
  const u32 usable = pBt->usableSize;
  const int bIntkey = aData[hdr]==(PTF_LEAF|PTF_LEAFDATA|PTF_INTKEY);
  const u32 mx = bIntkey ? pBt->maxLeaf : pBt->maxLocal;
  const u32 mn = bIntkey ? pBt->minLeaf : pBt->minLocal;
  const u32 nCell = get2byte(&aData[hdr+3]);
  i64 nOverflow = 0;
  u32 i;
  assert( mn<=mx );
  if( hdr+8+2*nCell>usable ) return 0;
  for(i=0; i<nCell; i++){
    const u32 iCell = get2byte(&aData[hdr+8+2*i]);
    u32 nPayload, nLocal;
    if( iCell>usable-4 ) continue;
    getVarint32(&aData[iCell], nPayload);
    if( nPayload<=mx ) continue;
    nLocal = mn + (nPayload-mn)%(usable-4);
    if( nLocal>mx ) nLocal = mn;
    nOverflow += (nPayload - nLocal + usable - 5)/(usable-4);
  }
  return MIN(nOverflow, HP_TREE_MX);
}

/*
** Estimate the size of the b-tree with root iRoot: the pages on one path from
** the root down, a middle one, stand for all.  Exact in the number of leaves
** while there is one level above them.  Of a b-tree with fewer than
** HP_EXTENT_MIN leaves only the overflow pages of leaves that are in the cache
** are counted, and those truly: it must not be taken for larger than it is.
**
** This may be called while the b-tree is being balanced, so pages are looked
** at as bytes.
*/
static int hpTreeSize(BtShared *pBt, Pgno iRoot, HpTreeSize *pSize){
  Pgno iPg = iRoot;
  int nLevel;
  memset(pSize, 0, sizeof(*pSize));
  pSize->nLeaf = 1;
  for(nLevel=0; nLevel<BTCURSOR_MAX_DEPTH; nLevel++){
    const int hdr = iPg==1 ? 100 : 0;
    DbPage *pDbPage;
    const u8 *aData;
    u32 nCell, iCell;
    int rc;
    if( iPg<1 || iPg>btreePagecount(pBt) ) return SQLITE_OK;
    rc = sqlite3PagerGet(pBt->pPager, iPg, &pDbPage, PAGER_GET_READONLY);
    if( rc ) return rc;
    aData = sqlite3PagerGetData(pDbPage);
    nCell = get2byte(&aData[hdr+3]);
    if( (aData[hdr] & PTF_LEAF)!=0 ){
      if( pSize->nLeaf>=HP_EXTENT_MIN || pSize->nLeaf==1 ){
        pSize->nOverflow = pSize->nLeaf * hpLeafOverflow(pBt, aData, hdr);
      }
      sqlite3PagerUnref(pDbPage);
      break;
    }
    if( hdr+12+2*nCell>pBt->usableSize ){
      sqlite3PagerUnref(pDbPage);
      break;
    }
    if( nLevel==0 && nCell+1<HP_EXTENT_MIN ){
      u32 i;
      for(i=0; i<nCell; i++){
        DbPage *pLeaf;
        const u8 *aLeaf;
        iCell = get2byte(&aData[hdr+12+2*i]);
        if( iCell>pBt->usableSize-4 ) continue;
        pLeaf = sqlite3PagerLookup(pBt->pPager, get4byte(&aData[iCell]));
        if( pLeaf==0 ) continue;
        aLeaf = sqlite3PagerGetData(pLeaf);
        if( (aLeaf[0] & PTF_LEAF)!=0 ){
          pSize->nOverflow += hpLeafOverflow(pBt, aLeaf, 0);
        }
        sqlite3PagerUnref(pLeaf);
      }
    }
    pSize->nInterior += pSize->nLeaf;
    pSize->nLeaf *= nCell+1;
    /* Pages that are their own children would be more than the file has */
    pSize->nLeaf = MIN(pSize->nLeaf, HP_TREE_MX);
    assert( pSize->nLeaf>=1 && pSize->nInterior>=1 );
    if( nCell==0 ){
      iPg = get4byte(&aData[hdr+8]);
    }else{
      iCell = get2byte(&aData[hdr+12+2*(nCell/2)]);
      iPg = iCell>pBt->usableSize-4 ? 0 : get4byte(&aData[iCell]);
    }
    sqlite3PagerUnref(pDbPage);
  }
  assert( pSize->nOverflow>=0 && pSize->nOverflow<=HP_TREE_MX*HP_TREE_MX );
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
