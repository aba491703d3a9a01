/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_trunk: the free list of a database file, trunk by trunk.
**
**    hpTrunkMax()       the number of leaves that a trunk of ours has at most
**    hpTrunkGet()       a trunk, with the number of its leaves
**    hpTrunkTake()      a trunk without leaves leaves the list, for use
**    hpTrunkLeaf()      so does one of the leaves of a trunk
**
** Page 1 has the first trunk at offset 32 and the number of free pages at 36.
** A trunk has the next trunk, the number of its leaves, and their numbers:
**
**    0        4        8                                 usable-8
**    [ next  ][ n     ][ leaf 0 ][ leaf 1 ] ... [ n-1 ]  [ mark  ][ root  ]
**
** SQLite leaves the last six entries of a trunk empty, for the sake of versions
** before 3.6.0.  So there is room for the mark of hp_extent.c.
**
** Call order: hpTrunkGet() first; the page is then the caller's until
** releasePage().  The others take a trunk that is held.  They write page 1 and
** the trunk through the pager before they change either, and change nothing if
** that fails.
**
** A file may hold anything.  What cannot be a trunk is HP_DECLINE: SQLite's
** code then comes to the same page, and says what it always says.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Largest number of leaves on a trunk that every version of SQLite accepts */
static u32 hpTrunkMax(const BtShared *pBt){
  assert( pBt->usableSize>=480 );
  return pBt->usableSize/4 - 8;
}

/*
** Fetch trunk iTrunk of the free list and set *pnLeaf to the number of its
** leaves.  HP_DECLINE if it cannot be one: SQLite's code will say so.
*/
static int hpTrunkGet(
  BtShared *pBt,
  Pgno iTrunk,
  MemPage **ppTrunk,
  u32 *pnLeaf
){
  int rc;
  *ppTrunk = 0;
  if( iTrunk<2 || iTrunk>btreePagecount(pBt) ) return HP_DECLINE;
  rc = btreeGetUnusedPage(pBt, iTrunk, ppTrunk, 0);
  if( rc!=SQLITE_OK ) return rc==SQLITE_CORRUPT ? HP_DECLINE : rc;
  *pnLeaf = get4byte(&(*ppTrunk)->aData[4]);
  if( *pnLeaf>pBt->usableSize/4 - 2 ){
    releasePage(*ppTrunk);
    *ppTrunk = 0;
    return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** Take trunk pTrunk, which has no leaves left, out of the free list for use.
*/
static int hpTrunkTake(BtShared *pBt, MemPage *pTrunk){
  MemPage *pPage1 = pBt->pPage1;
  const u32 nFree = get4byte(&pPage1->aData[36]);
  MemPage *pPrev = 0;
  Pgno iPg = get4byte(&pPage1->aData[32]);
  u32 nLook = 0;
  u32 n;
  int rc = sqlite3PagerWrite(pPage1->pDbPage);
  assert( get4byte(&pTrunk->aData[4])==0 );
  while( rc==SQLITE_OK && iPg!=pTrunk->pgno ){
    releasePage(pPrev);
    pPrev = 0;
    rc = nLook++>nFree ? HP_DECLINE : hpTrunkGet(pBt, iPg, &pPrev, &n);
    if( rc==SQLITE_OK ) iPg = get4byte(&pPrev->aData[0]);
  }
  if( rc==SQLITE_OK && pPrev ) rc = sqlite3PagerWrite(pPrev->pDbPage);
  if( rc==SQLITE_OK ) rc = sqlite3PagerWrite(pTrunk->pDbPage);
  if( rc==SQLITE_OK ){
    memcpy(pPrev ? &pPrev->aData[0] : &pPage1->aData[32], pTrunk->aData, 4);
    put4byte(&pPage1->aData[36], nFree-1);
  }
  releasePage(pPrev);
  return rc;
}

/*
** Take leaf i of the n leaves of trunk pTrunk for use.
*/
static int hpTrunkLeaf(
  BtShared *pBt,
  MemPage *pTrunk,
  u32 n,
  u32 i,
  MemPage **ppPage,
  Pgno *pPgno
){
  MemPage *pPage1 = pBt->pPage1;
  u8 *aLeaf = &pTrunk->aData[8];
  const Pgno iPg = get4byte(&aLeaf[4*i]);
  const u32 nFree = get4byte(&pPage1->aData[36]);
  int flags, rc;
  assert( i<n && *ppPage==0 );
  if( iPg<2 || iPg>btreePagecount(pBt) || nFree<2 ) return HP_DECLINE;
  rc = sqlite3PagerWrite(pPage1->pDbPage);
  if( rc ) return rc;
  rc = sqlite3PagerWrite(pTrunk->pDbPage);
  if( rc ) return rc;
  flags = btreeGetHasContent(pBt, iPg) ? 0 : PAGER_GET_NOCONTENT;
  rc = btreeGetUnusedPage(pBt, iPg, ppPage, flags);
  if( rc ) return rc;
  rc = sqlite3PagerWrite((*ppPage)->pDbPage);
  if( rc ){
    releasePage(*ppPage);
    *ppPage = 0;
    return rc;
  }
  memcpy(&aLeaf[4*i], &aLeaf[4*(n-1)], 4);
  put4byte(&pTrunk->aData[4], n-1);
  put4byte(&pPage1->aData[36], nFree-1);
  *pPgno = iPg;
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
