/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_defragmap: which page of a file is what, and where it is to be.
**
**    hpDefragMapNew()     begin a picture of the file
**    hpDefragMapStep()    a little more of it: reads a page, or a few
**    hpDefragMapAhead()   ask the operating system for pages to come
**    hpDefragMapCell()    the overflow chain of a cell
**    hpDefragMapChild()   the child of an interior page
**
** hp_defrag.c moves pages, and has to know of each page which other one names
** it, and where it ought to be.  The file says neither, so a picture is made
** of it (HpDefrag), about 21 bytes a page, in these steps:
**
**    LIST     the trunks of the free list
**    TREES    the interior pages of all b-trees, one in a hundred.  These name
**             all leaves, in key order
**    LEAVES   only if there are pages that nobody has named: they are overflow
**             pages.  Leaves are read until all are found.  The last page of a
**             chain is not read
**    PLAN     which pages stay, and which go where: in memory alone
**
** LEAVES takes long.  If others write so often that pictures come to nothing
** (bQuick), and overflow pages are few, it is left out: they stay where they
** are, as roots do.
**
** A call of hpDefragMapStep() reads about one page, so the picture can be
** made in slices, as long as nobody else changes the file.  At the end each
** page has been named exactly once, or the file is damaged: SQLITE_CORRUPT.
** A leaf is not looked into if that is not needed, so not each damage is
** found; but what is in a leaf is not changed by moving it.
**
** The wanted order.  For each b-tree, by root number: its interior pages; then
** its leaves in key order, each followed by the overflow chains of its cells.
** The chain of a cell of an interior page of an index is between the leaves on
** both sides of it.
**
** Who stays.  A file that is in order but for a few pages must not be written
** anew, nor one that VACUUM made, where interior pages are among the leaves.
** So a page stays (KEEP) if it is in a run of HP_DEFRAG_BYTES that are
** adjacent and in order; or in a block of four times as many, counted from
** the first leaf, or in the last block, if that consists of pieces of this
** size, in which each page is near the one before it, and has few gaps; or if
** it is an interior page that has such a page beside it.  Roots, pointer maps
** and the page of the lock byte are passed over where they stand.
**
** Who goes where.  All other pages, those of b-trees in the wanted order and
** then the free ones, get the places that are not kept, in ascending order.
** Free pages are at the end of the file then.  iEnd is the last place that
** pages of b-trees need; whoever is behind it does not stay.
**
** It ends.  When all have been moved, nothing that stayed has moved, and the
** others are in ascending order.  A new picture keeps at least the same pages,
** so the others, a part of those before, are in their places: nothing moves.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_DEFRAG_BYTES  (256*1024)   /* A run that is long enough, ... */
#define HP_DEFRAG_SHORT  8            /* ... but at least so many pages */
#define HP_DEFRAG_NEAR   16           /* So many places away is near */
#define HP_DEFRAG_AHEAD  64           /* Pages that are asked for at once */

/*
** The number of roots of a schema; they are written to aRoot[] if that is not
** NULL.
*/
static int hpDefragMapRoots(const Schema *pSchema, Pgno *aRoot){
  const HashElem *pElem;
  int n = 0;
  if( aRoot ) aRoot[n] = 1;
  n++;
  for(pElem=sqliteHashFirst(&pSchema->tblHash); pElem;
      pElem=sqliteHashNext(pElem)){
    const Table *pTab = (const Table*)sqliteHashData(pElem);
    const Index *pIdx;
    if( !IsOrdinaryTable(pTab) || pTab->tnum==1 ) continue;
    if( HasRowid(pTab) ){
      if( aRoot ) aRoot[n] = pTab->tnum;
      n++;
    }
    for(pIdx=pTab->pIndex; pIdx; pIdx=pIdx->pNext){
      if( aRoot ) aRoot[n] = pIdx->tnum;
      n++;
    }
  }
  return n;
}

/*
** Note that page id, of which nothing was known, is of kind eKind and named by
** page iParent.
*/
static int hpDefragMapName(HpDefrag *p, Pgno id, u8 eKind, Pgno iParent){
  if( id<2 || id>p->nPage || p->aKind[id]!=0 ) return SQLITE_CORRUPT_PGNO(id);
  assert( iParent>=1 && iParent<=p->nPage && p->nUnknown>0 );
  p->aKind[id] = eKind;
  p->aParent[id] = iParent;
  p->nUnknown--;
  return SQLITE_OK;
}

/* Page id stays where it is */
static int hpDefragMapFix(HpDefrag *p, Pgno id){
  if( id<1 || id>p->nPage || p->aKind[id]!=0 ) return SQLITE_CORRUPT_PGNO(id);
  p->aKind[id] = HP_DEFRAG_FIXED;
  p->nUnknown--;
  return SQLITE_OK;
}

/*
** Begin a picture of database iDb, in whose file a transaction is open and
** whose schema is in memory.  Return NULL and set *pRc if that cannot be.
*/
static HpDefrag *hpDefragMapNew(sqlite3 *db, int iDb, int *pRc){
  BtShared *pBt = db->aDb[iDb].pBt->pBt;
  const Schema *pSchema = db->aDb[iDb].pSchema;
  const Pgno nPage = btreePagecount(pBt);
  const u64 n = (u64)nPage+1;
  int nRoot = hpDefragMapRoots(pSchema, 0);
  HpDefrag *p;
  Pgno i;
  int rc = SQLITE_OK;
  assert( sqlite3_mutex_held(pBt->mutex) );
  p = sqlite3_malloc64(sizeof(*p) + n*(5*sizeof(Pgno)+1)
                       + sizeof(Pgno)*2*((u64)nRoot+1));
  if( p==0 ){
    *pRc = SQLITE_NOMEM_BKPT;
    return 0;
  }
  memset(p, 0, sizeof(*p));
  p->nPage = nPage;
  p->aParent = (Pgno*)&p[1];
  p->aPlace = &p->aParent[n];
  p->aWho = &p->aPlace[n];
  p->aSeq = &p->aWho[n];
  p->aNew = &p->aSeq[n];
  p->aRoot = &p->aNew[n];
  p->aFirst = &p->aRoot[nRoot+1];
  p->aKind = (u8*)&p->aFirst[nRoot+1];
  p->nRoot = nRoot;
  p->nUnknown = nPage;
  memset(p->aKind, 0, n);
  hpDefragMapRoots(pSchema, p->aRoot);
  hpPageSort(p->aRoot, (u32)nRoot);
  for(i=0; (int)i<nRoot && rc==SQLITE_OK; i++){
    rc = hpDefragMapFix(p, p->aRoot[i]);
  }
  if( rc==SQLITE_OK && nPage>=PENDING_BYTE_PAGE(pBt) ){
    rc = hpDefragMapFix(p, PENDING_BYTE_PAGE(pBt));
  }
#ifndef SQLITE_OMIT_AUTOVACUUM
  for(i=2; ISAUTOVACUUM(pBt) && i<=nPage && rc==SQLITE_OK; ){
    Pgno iMap = PTRMAP_PAGENO(pBt, i);
    if( iMap<=nPage ) rc = hpDefragMapFix(p, iMap);
    i = iMap + pBt->usableSize/5 + 1;
  }
#endif
  p->nFin = p->aRoot[nRoot-1];
  p->iTrunk = get4byte(&pBt->pPage1->aData[32]);
  p->iPrev = 1;
  if( rc ){
    *pRc = rc;
    sqlite3_free(p);
    p = 0;
  }
  return p;
}

/* Read the next trunk of the free list, or see that it is over */
static int hpDefragMapTrunk(HpDefrag *p, BtShared *pBt){
  MemPage *pTrunk;
  u32 n, i;
  int rc;
  if( p->iTrunk==0 ){
    p->eStep = HP_DEFRAG_TREES;
    return SQLITE_OK;
  }
  rc = hpDefragMapName(p, p->iTrunk, HP_DEFRAG_TRUNK, p->iPrev);
  if( rc ) return rc;
  rc = hpTrunkGet(pBt, p->iTrunk, &pTrunk, &n);
  if( rc ) return rc==HP_DECLINE ? SQLITE_CORRUPT_PGNO(p->iTrunk) : rc;
  for(i=0; i<n && rc==SQLITE_OK; i++){
    rc = hpDefragMapName(p, get4byte(&pTrunk->aData[8+4*i]), HP_DEFRAG_FREE,
                         p->iTrunk);
  }
  p->iPrev = p->iTrunk;
  p->iTrunk = get4byte(&pTrunk->aData[0]);
  releasePage(pTrunk);
  return rc;
}

/* Fetch page id of a b-tree, sound as far as its header goes */
static int hpDefragMapGet(BtShared *pBt, Pgno id, MemPage **ppPage){
  int rc = btreeGetPage(pBt, id, ppPage, PAGER_GET_READONLY);
  if( rc==SQLITE_OK && (*ppPage)->isInit==0 ){
    rc = btreeInitPage(*ppPage);
    if( rc ){
      releasePage(*ppPage);
      *ppPage = 0;
    }
  }
  return rc;
}

/*
** Has cell i of a page an overflow chain?  *paHead is set to where it has the
** number of its first page, or NULL, and *pnPage to the number of its pages.
*/
static int hpDefragMapCell(
  MemPage *pPage,
  int i,
  u8 **paHead,
  Pgno *pnPage
){
  const u32 nUsable = pPage->pBt->usableSize;
  u8 *pCell = findCell(pPage, i);
  CellInfo info;
  *paHead = 0;
  assert( i>=0 && i<pPage->nCell );
  pPage->xParseCell(pPage, pCell, &info);
  if( info.nLocal>=info.nPayload ) return SQLITE_OK;
  if( info.nSize>(u32)(pPage->aData+nUsable-pCell) ){
    return SQLITE_CORRUPT_PAGE(pPage);
  }
  *paHead = &pCell[info.nSize-4];
  *pnPage = (info.nPayload - info.nLocal + nUsable - 5)/(nUsable-4);
  return SQLITE_OK;
}

/* If cell i of a page has a chain its first page comes next in the order */
static int hpDefragMapHead(HpDefrag *p, MemPage *pPage, int i){
  u8 *aHead;
  Pgno n;
  int rc = hpDefragMapCell(pPage, i, &aHead, &n);
  if( rc==SQLITE_OK && aHead ){
    Pgno iHead = get4byte(aHead);
    rc = hpDefragMapName(p, iHead, HP_DEFRAG_HEAD, pPage->pgno);
    if( rc==SQLITE_OK ) p->aSeq[p->nSeq++] = iHead;
  }
  return rc;
}

/* Where an interior page has the number of child i */
static u8 *hpDefragMapChild(MemPage *pPage, int i){
  assert( i>=0 && i<=pPage->nCell && !pPage->leaf );
  if( i==pPage->nCell ) return &pPage->aData[pPage->hdrOffset+8];
  return findCell(pPage, i);
}

/*
** Go down the left edge of the b-tree that comes next, so as to know how many
** levels it has.  A b-tree of one page is done with.
*/
static int hpDefragMapRoot(HpDefrag *p, BtShared *pBt){
  Pgno iPg = p->aRoot[p->iRoot];
  MemPage *pPage;
  int rc, i;
  assert( p->nLevel==0 && p->iRoot<p->nRoot );
  p->aFirst[p->iRoot] = p->nSeq;
  p->nInner = 0;
  rc = hpDefragMapGet(pBt, iPg, &pPage);
  if( rc ) return rc;
  if( pPage->leaf ){
    for(i=0; i<pPage->nCell && rc==SQLITE_OK; i++){
      rc = hpDefragMapHead(p, pPage, i);
    }
    releasePage(pPage);
    p->iRoot++;
    return rc;
  }
  p->eInner = pPage->aData[pPage->hdrOffset];
  p->aLevel[0].iPg = iPg;
  p->aLevel[0].iChild = 0;
  p->nLevel = 1;
  p->nDepth = 0;
  while( rc==SQLITE_OK && !pPage->leaf ){
    if( ++p->nDepth>=BTCURSOR_MAX_DEPTH ) rc = SQLITE_CORRUPT_PAGE(pPage);
    iPg = get4byte(hpDefragMapChild(pPage, 0));
    releasePage(pPage);
    pPage = 0;
    if( iPg<2 || iPg>p->nPage ) rc = SQLITE_CORRUPT_PGNO(iPg);
    if( rc==SQLITE_OK ) rc = hpDefragMapGet(pBt, iPg, &pPage);
  }
  releasePage(pPage);
  return rc;
}

/* All of the b-tree has been named: its interior pages come first */
static void hpDefragMapEndTree(HpDefrag *p){
  Pgno *a = &p->aSeq[p->aFirst[p->iRoot]];
  memmove(&a[p->nInner], a, sizeof(Pgno)*(p->nSeq - p->aFirst[p->iRoot]));
  memcpy(a, p->aNew, sizeof(Pgno)*p->nInner);
  p->nSeq += p->nInner;
  p->iRoot++;
}

/*
** Go on in the b-tree: an interior page above the leaves names all of them,
** one above that its next child.
*/
static int hpDefragMapInner(HpDefrag *p, BtShared *pBt){
  HpDefragLevel *pTop = &p->aLevel[p->nLevel-1];
  const int bLow = p->nLevel==p->nDepth;
  const Pgno iPg = pTop->iPg;
  int bIndex;
  MemPage *pPage;
  int rc = hpDefragMapGet(pBt, iPg, &pPage);
  assert( p->nLevel>0 && p->nLevel<=p->nDepth );
  if( rc ) return rc;
  if( pPage->aData[pPage->hdrOffset]!=p->eInner ){
    rc = SQLITE_CORRUPT_PAGE(pPage);
  }
  bIndex = pPage->intKey==0;
  while( rc==SQLITE_OK ){
    int i = pTop->iChild++;
    Pgno id;
    if( i>0 && bIndex && i<=pPage->nCell ){
      rc = hpDefragMapHead(p, pPage, i-1);
      if( rc ) break;
    }
    if( i>pPage->nCell ){
      p->nLevel--;
      if( p->nLevel==0 ) hpDefragMapEndTree(p);
      break;
    }
    id = get4byte(hpDefragMapChild(pPage, i));
    rc = hpDefragMapName(p, id, bLow ? HP_DEFRAG_LEAF : HP_DEFRAG_INNER, iPg);
    if( rc ) break;
    if( bLow ){
      p->aSeq[p->nSeq++] = id;
    }else{
      p->aNew[p->nInner++] = id;
      pTop[1].iPg = id;
      pTop[1].iChild = 0;
      p->nLevel++;
      break;
    }
  }
  releasePage(pPage);
  return rc;
}

/* Pages that nobody has named stay where they are */
static void hpDefragMapFixRest(HpDefrag *p){
  Pgno i;
  for(i=1; p->nUnknown>0 && i<=p->nPage; i++){
    if( p->aKind[i] ) continue;
    p->aKind[i] = HP_DEFRAG_FIXED;
    p->nUnknown--;
    p->nFin = MAX(p->nFin, i);
  }
}

/* The picture of the b-trees goes on, a page or two */
static int hpDefragMapTree(HpDefrag *p, BtShared *pBt){
  if( p->nLevel ) return hpDefragMapInner(p, pBt);
  if( p->iRoot<p->nRoot ) return hpDefragMapRoot(p, pBt);
  p->aFirst[p->nRoot] = p->nSeq;
  p->iRoot = 0;
  p->iIn = p->iAsked = 0;
  p->iCell = -1;
  if( p->bQuick && p->nUnknown<=p->nPage/8 && !ISAUTOVACUUM(pBt) ){
    hpDefragMapFixRest(p);
  }
  p->eStep = p->nUnknown ? HP_DEFRAG_LEAVES : HP_DEFRAG_PLAN;
  return SQLITE_OK;
}

/*
** Of the chain whose page p->iChain is known, the pages that come next: as
** many as p->nChain, or up to its end if that is 0.
*/
static int hpDefragMapChain(HpDefrag *p, BtShared *pBt){
  DbPage *pDb;
  Pgno iNext;
  int rc = sqlite3PagerGet(pBt->pPager, p->iChain, &pDb, PAGER_GET_READONLY);
  if( rc ) return rc;
  iNext = get4byte((const u8*)sqlite3PagerGetData(pDb));
  sqlite3PagerUnrefNotNull(pDb);
  if( p->nChain==0 && iNext==0 ){
    p->iChain = 0;
    return SQLITE_OK;
  }
  rc = hpDefragMapName(p, iNext, HP_DEFRAG_CHAIN, p->iChain);
  if( rc ) return rc;
  p->aNew[p->nNew++] = iNext;
  p->iChain = iNext;
  if( p->nChain>0 && --p->nChain==0 ) p->iChain = 0;
  return SQLITE_OK;
}

/* The cells of leaf id, from p->iCell on, up to one that has a long chain */
static int hpDefragMapLeaf(HpDefrag *p, BtShared *pBt, Pgno id){
  MemPage *pPage;
  int rc = hpDefragMapGet(pBt, id, &pPage);
  if( rc ) return rc;
  if( !pPage->leaf ) rc = SQLITE_CORRUPT_PAGE(pPage);
  while( rc==SQLITE_OK && p->iChain==0 && p->iCell<pPage->nCell ){
    u8 *aHead;
    Pgno iHead, n;
    rc = hpDefragMapCell(pPage, p->iCell++, &aHead, &n);
    if( rc || aHead==0 ) continue;
    iHead = get4byte(aHead);
    rc = hpDefragMapName(p, iHead, HP_DEFRAG_HEAD, id);
    if( rc ) break;
    p->aNew[p->nNew++] = iHead;
    if( n>1 ){
      p->iChain = iHead;
      p->nChain = n-1;
    }
  }
  if( rc==SQLITE_OK && p->iCell>=pPage->nCell && p->iChain==0 ){
    p->iCell = -1;
    p->iIn++;
  }
  releasePage(pPage);
  return rc;
}

/*
** Put overflow pages where they belong in the order: aNew[] is made of aSeq[].
** When all are known the rest is copied.
*/
static int hpDefragMapLeaves(HpDefrag *p, BtShared *pBt){
  Pgno id;
  if( p->iChain ) return hpDefragMapChain(p, pBt);
  while( p->iRoot<p->nRoot && p->iCell<0 && p->aFirst[p->iRoot]<=p->iIn ){
    assert( p->aFirst[p->iRoot]==p->iIn );
    p->aFirst[p->iRoot++] = p->nNew;
  }
  if( p->nUnknown==0 ){
    Pgno *a;
    if( p->iCell>=0 ) p->iIn++;
    for(; p->iRoot<p->nRoot; p->iRoot++){
      p->aFirst[p->iRoot] += p->nNew - p->iIn;
    }
    memcpy(&p->aNew[p->nNew], &p->aSeq[p->iIn], sizeof(Pgno)*(p->nSeq-p->iIn));
    p->nSeq = p->aFirst[p->nRoot] = p->nNew + p->nSeq - p->iIn;
    a = p->aSeq;
    p->aSeq = p->aNew;
    p->aNew = a;
    p->eStep = HP_DEFRAG_PLAN;
    return SQLITE_OK;
  }
  /* A page that nobody names */
  if( p->iIn>=p->nSeq ) return SQLITE_CORRUPT_BKPT;
  id = p->aSeq[p->iIn];
  if( p->iCell<0 ){
    p->aNew[p->nNew++] = id;
    p->iCell = 0;
    if( hpDefragIs(p, id)==HP_DEFRAG_LEAF ){
      hpDefragMapAhead(p, pBt, p->iIn);
    }else{
      p->iIn++;
      p->iCell = -1;
      if( hpDefragIs(p, id)==HP_DEFRAG_HEAD ){
        p->iChain = id;
        p->nChain = 0;
      }
      return SQLITE_OK;
    }
  }
  return hpDefragMapLeaf(p, pBt, id);
}

/* The place after a page, where the next one of the order is well */
static Pgno hpDefragMapAfter(const HpDefrag *p, Pgno iPg){
  do{
    iPg++;
  }while( iPg<=p->nPage && hpDefragIs(p, iPg)==HP_DEFRAG_FIXED );
  return iPg;
}

/* Pages i to iEnd-1 of the order stay */
static void hpDefragMapKeep(HpDefrag *p, Pgno i, Pgno iEnd){
  for(; i<iEnd; i++) p->aKind[p->aSeq[i]] |= HP_DEFRAG_KEEP;
}

/*
** Is block i to iEnd-1 of the order well where it is?  Pages that are near
** each other are a piece.  Pieces have to be long, and without many gaps.
*/
static int hpDefragMapBlock(const HpDefrag *p, Pgno i, Pgno iEnd, Pgno nRun){
  const Pgno n = iEnd-i;
  Pgno iLow = p->aSeq[i];    /* Places that the piece spans */
  Pgno iHigh = iLow;
  Pgno nSpan = 0;            /* Number of places that those before it span */
  Pgno nJump = 0;            /* Pieces before it */
  assert( n>0 && n<=4*nRun );
  for(i++; i<iEnd; i++){
    const Pgno iPg = p->aSeq[i];
    const Pgno iPrev = p->aSeq[i-1];
    if( (iPg>iPrev ? iPg-iPrev : iPrev-iPg)>HP_DEFRAG_NEAR ){
      nJump++;
      nSpan += iHigh-iLow+1;
      iLow = iHigh = iPg;
    }
    iLow = MIN(iLow, iPg);
    iHigh = MAX(iHigh, iPg);
  }
  nSpan += iHigh-iLow+1;
  return nJump<=n/nRun && nSpan<=n+n/4;
}

/* Which of the pages of a b-tree stay, as far as its order goes? */
static void hpDefragMapStay(HpDefrag *p, Pgno iFirst, Pgno iEnd, Pgno nRun){
  Pgno i, k;
  assert( iFirst<=iEnd && iEnd<=p->nSeq );
  for(i=iFirst; i<iEnd; i=k){
    k = i + MIN(4*nRun, iEnd-i);
    if( (k-i>1 || iEnd-iFirst==1) && hpDefragMapBlock(p, i, k, nRun) ){
      hpDefragMapKeep(p, i, k);
    }
  }
  for(i=iFirst; i<iEnd; i=k){
    for(k=i+1; k<iEnd && p->aSeq[k]==hpDefragMapAfter(p, p->aSeq[k-1]); k++){}
    if( k-i>=nRun ) hpDefragMapKeep(p, i, k);
  }
}

/*
** Which of the pages of b-tree k stay?  Its interior pages may be together, or
** where VACUUM leaves them: beside leaves that stay.
*/
static void hpDefragMapTreeStays(HpDefrag *p, int k, Pgno nRun){
  Pgno i = p->aFirst[k];
  Pgno iLeaf = i;
  while( iLeaf<p->aFirst[k+1]
      && hpDefragIs(p, p->aSeq[iLeaf])==HP_DEFRAG_INNER
  ){
    iLeaf++;
  }
  hpDefragMapStay(p, i, iLeaf, nRun);
  hpDefragMapStay(p, iLeaf, p->aFirst[k+1], nRun);
  for(; i<iLeaf; i++){
    const Pgno iPg = p->aSeq[i];
    if( (p->aKind[iPg-1] & HP_DEFRAG_KEEP)!=0
     || (iPg<p->nPage && (p->aKind[iPg+1] & HP_DEFRAG_KEEP)!=0)
    ){
      p->aKind[iPg] |= HP_DEFRAG_KEEP;
    }
  }
}

/* Which pages stay, and how many are to be moved? */
static void hpDefragMapPlan(HpDefrag *p, const BtShared *pBt){
  Pgno nRun = MAX(HP_DEFRAG_BYTES/pBt->pageSize, HP_DEFRAG_SHORT);
  Pgno n = 0;
  Pgno i, iTo;
  int k;
  assert( p->nUnknown==0 && p->nLeft==0 );
  for(k=0; k<p->nRoot; k++){
    hpDefragMapTreeStays(p, k, nRun);
  }
  p->iEnd = 1;
  while( n<p->nSeq ){
    p->iEnd = hpDefragMapAfter(p, p->iEnd);
    n++;
  }
  assert( p->iEnd<=p->nPage );
  p->nFin = MAX(p->nFin, p->iEnd);
  for(i=1; i<=p->nPage; i++){
    p->aPlace[i] = p->aWho[i] = i;
    if( i>p->iEnd ) p->aKind[i] &= ~HP_DEFRAG_KEEP;
  }
  iTo = 1;
  for(i=0; i<p->nSeq; i++){
    Pgno id = p->aSeq[i];
    if( p->aKind[id] & HP_DEFRAG_KEEP ) continue;
    do{
      iTo = hpDefragMapAfter(p, iTo);
    }while( p->aKind[iTo] & HP_DEFRAG_KEEP );
    assert( iTo<=p->iEnd );
    if( id!=iTo ){
      p->aKind[id] |= HP_DEFRAG_WRONG;
      p->nLeft++;
    }
  }
  p->iSeq = p->iAsked = 0;
  p->iTo = 2;
  p->eStep = HP_DEFRAG_MOVE;
}

/*
** Go on with the picture.  It is ready when p->eStep is HP_DEFRAG_MOVE.
*/
static int hpDefragMapStep(HpDefrag *p, BtShared *pBt){
  assert( sqlite3_mutex_held(pBt->mutex) && p->nPage==btreePagecount(pBt) );
  switch( p->eStep ){
    case HP_DEFRAG_LIST:   return hpDefragMapTrunk(p, pBt);
    case HP_DEFRAG_TREES:  return hpDefragMapTree(p, pBt);
    case HP_DEFRAG_LEAVES: return hpDefragMapLeaves(p, pBt);
    default:
      assert( p->eStep==HP_DEFRAG_PLAN );
      hpDefragMapPlan(p, pBt);
      return SQLITE_OK;
  }
}

/*
** Page i of the order is about to be read, and leaves behind it are next, or
** those that are to be moved.  Ask the operating system for some of them.
*/
static void hpDefragMapAhead(HpDefrag *p, BtShared *pBt, Pgno i){
#ifdef HP_READAHEAD
  Pgno aPg[HP_DEFRAG_AHEAD];
  u32 aFrame[HP_DEFRAG_AHEAD];
  const u8 mSkip = p->eStep==HP_DEFRAG_MOVE ? HP_DEFRAG_KEEP : 0;
  u32 nPage = 0;
  int n = 0;
  if( i<p->iAsked || !hpAheadOn(pBt->db, pBt) ) return;
  for(; i<p->nSeq && n<HP_DEFRAG_AHEAD; i++){
    Pgno id = p->aSeq[i];
    Pgno iPg = p->eStep==HP_DEFRAG_MOVE ? p->aPlace[id] : id;
    if( mSkip==0 && hpDefragIs(p, id)!=HP_DEFRAG_LEAF ) continue;
    if( (p->aKind[id] & mSkip)==0 && hpAheadMissing(pBt->pPager, iPg) ){
      aPg[n++] = iPg;
    }
  }
  p->iAsked = i;
  if( n<2 ) return;
  hpPageSort(aPg, (u32)n);
  if( hpAheadFrames(pBt->pPager, aPg, aFrame, n)==SQLITE_OK ){
    (void)hpAheadAsk(pBt->pPager, aPg, aFrame, n, 1, &nPage);
  }
#else
  UNUSED_PARAMETER2(p, pBt);
  UNUSED_PARAMETER(i);
#endif
}
#endif /* SQLITE_OMIT_HP */
