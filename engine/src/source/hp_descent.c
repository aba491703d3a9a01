/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_descent: the way from the root of a b-tree to the first leaf of a scan,
** and to the last one.
**
**    hpDescentInit()     both ways, of the leaves that a plan reads
**    hpDescentDown()     go down a level
**    hpDescentLevel()    read an interior page
**    hpDescentRelease()  let go of the pages of some levels
**    hpDescentUnref()    let go of one page
**    hpDescentLargest()  the largest rowid of a child
**    hpDescentIsSane()   for assert(): does a way hold together?
**
** Bounds of the keys (HpRange) are turned into bounds of the tree: two descents
** find the child numbers, one a level, of the first and of the last leaf that
** can hold a key in range.  The scan goes from one to the other.  The filters
** of the query hold the exact bounds.  That is what SQLite gives if keys are in
** order: it finds the first one and reads on as far as the first that is
** beyond.  So of a range of rowids one leaf more is read, as SQLite may.
**
**    level 0           [ | * | | E | ]         *: the way to the first leaf
**                         /        \           E: the last child, from there
**    level 1     [ | | * | ]     [ E | | ]        on bEnd is set and iLast is
**                      |           |              less than nCell
**    leaves           first      last
**
** The end is kept as numbers (HpSource.aEnd), not as pages: a page is read when
** the scan comes there, and hpDescentDown() then cuts its children off.
**
** A part of the leaves (HpPart) begins after a leaf that a cursor stands on,
** whose way through the tree it takes over.
**
** Interior pages are referenced while they are on the way, or copied, where the
** scan calls application code (HpPipePlan.bUser): that code may write to the
** table, and SQLite takes a page that is referenced twice while it balances the
** tree for corrupt.  With HpSource.bCached only pages in the page cache are
** looked at, and no transaction is needed.
**
** A tree that is not what it should be (leaves at different depths, a page
** number out of range, an empty page) is declined: SQLite's code then says what
** it always said about it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Give an interior page back.  One that was only looked for in the cache,
** without a transaction, may be the only page in use, which
** sqlite3PagerUnrefNotNull() does not allow.
*/
static void hpDescentUnref(DbPage *pDb){
  assert( pDb->nRef>0 );
  if( pDb->flags & PGHDR_MMAP ){
    sqlite3PagerUnrefNotNull(pDb);
  }else{
    sqlite3PcacheRelease(pDb);
  }
}

/*
** Fetch page iPg, which must be an interior page of the b-tree, into *pLevel,
** which is zero or was released.  If it is a leaf instead set pLevel->iPg to 0
** and return SQLITE_OK.
*/
static int hpDescentLevel(HpSource *pSrc, Pgno iPg, struct HpLevel *pLevel){
  int eType = pSrc->bIndex ? PTF_ZERODATA : PTF_INTKEY|PTF_LEAFDATA;
  int rc;
  DbPage *pDb;
  u8 *aCopy = pLevel->aCopy;
  memset(pLevel, 0, sizeof(*pLevel));
  pLevel->aCopy = aCopy;
  if( iPg<1 || iPg>btreePagecount(pSrc->pBt) ) return HP_DECLINE;
  if( pSrc->bCached ){
    pDb = sqlite3PagerLookup(pSrc->pPager, iPg);
    /* What is not there is most often a leaf */
    if( pDb==0 ) return iPg==pSrc->iRoot ? HP_DECLINE : SQLITE_OK;
    rc = SQLITE_OK;
  }else{
    rc = sqlite3PagerGet(pSrc->pPager, iPg, &pDb, PAGER_GET_READONLY);
  }
  if( rc ) return rc;
  switch( hpPageInner(&pLevel->in, pSrc->pBt, sqlite3PagerGetData(pDb), iPg)
          ^ eType ){
    case 0:
      break;
    case PTF_LEAF:
      hpDescentUnref(pDb);
      return SQLITE_OK;
    default:
      hpDescentUnref(pDb);
      return HP_DECLINE;
  }
  assert( pLevel->in.nCell>0 );
  pLevel->iLast = pLevel->in.nCell;
  pLevel->iPg = iPg;
  if( pSrc->pCopy==0 ){
    pLevel->pDb = pDb;
    return SQLITE_OK;
  }
  if( aCopy==0 ) aCopy = hpArenaAlloc(pSrc->pCopy, pSrc->szPage + HP_SLACK);
  if( aCopy ){
    memcpy(aCopy, sqlite3PagerGetData(pDb), pSrc->szPage);
    memset(&aCopy[pSrc->szPage], 0, HP_SLACK);
    hpPageInner(&pLevel->in, pSrc->pBt, aCopy, iPg);
  }else{
    rc = HP_DECLINE;
  }
  pLevel->aCopy = aCopy;
  hpDescentUnref(pDb);
  return rc;
}

/*
** Release the interior pages of aLevel[] from level i downwards.
*/
static void hpDescentRelease(struct HpLevel *aLevel, int i){
  assert( i>=0 && i<BTCURSOR_MAX_DEPTH );
  for(; i<BTCURSOR_MAX_DEPTH && aLevel[i].iPg; i++){
    if( aLevel[i].pDb ) hpDescentUnref(aLevel[i].pDb);
    aLevel[i].pDb = 0;
    aLevel[i].pKnown = 0;
    aLevel[i].iPg = 0;
  }
}

/*
** The first child of interior page *p that can hold keys not less than *pKey;
** if bUpper, the last one that can hold keys not greater.  With pKey->bNull
** keys equal to *pKey do not count.  -1: declined.
**
** The cells looked at are those that SQLite looks at: should they not be in
** order the way to the first key is the same.
*/
static int hpDescentSearch(
  const HpSource *pSrc,
  const struct HpLevel *p,
  HpBoundKey *pKey,
  int bUpper
){
  const u8 *aEnd = p->in.aEnd;
  int i = 0;             /* Separators before i are too small, */
  int n = p->in.nCell;   /* that at n, if any, is not */
  assert( p->iPg!=0 && pKey->bOn );
  assert( (pKey->rec.pKeyInfo!=0)==pSrc->bIndex );
  while( i<n ){
    int iMid = (i+n-1)/2;
    int c;
    const u8 *z = hpPageCell(&p->in, iMid);
    if( z==0 || hpBoundsCompare(pKey, pSrc->pBt, &z[4], aEnd, &c) ) return -1;
    /* Of a table the separator is the largest key of its child */
    if( c<0 || (c==0 && pSrc->bIndex && bUpper!=pKey->bNull) ){
      i = iMid+1;
    }else{
      n = iMid;
    }
  }
  return i;
}

/*
** Set *piRowid to the largest rowid that child iChild of an interior page has.
** Returns false if there is no separator to say so.
*/
static int hpDescentLargest(const struct HpLevel *p, int iChild, i64 *piRowid){
  const u8 *z = iChild<p->in.nCell ? hpPageCell(&p->in, iChild) : 0;
  return z!=0 && &z[4+sqlite3GetVarint(&z[4], (u64*)piRowid)]<=p->in.aEnd;
}

/*
** Do the separators of the interior page at level i of aLevel[] increase, and
** lie between those on both sides of it further up?  Then a search for a rowid
** on one of its leaves gets there.
*/
static int hpDescentIsOrdered(const struct HpLevel *aLevel, int i){
  const struct HpLevel *p = &aLevel[i];
  i64 iLow = 0, iRowid;
  int bLow = 0;
  int k;
  for(k=i-1; k>=0 && bLow==0; k--){
    int iCell = aLevel[k].iChild-2;
    bLow = iCell>=0 && hpDescentLargest(&aLevel[k], iCell, &iLow);
  }
  for(k=0; k<p->in.nCell; k++){
    if( !hpDescentLargest(p, k, &iRowid) || (bLow && iRowid<=iLow) ) return 0;
    iLow = iRowid;
    bLow = 1;
  }
  for(k=i-1; k>=0; k--){
    if( hpDescentLargest(&aLevel[k], aLevel[k].iChild-1, &iRowid) ){
      return iLow<iRowid;
    }
  }
  return 1;
}

/*
** Fetch the interior page at level i of aLevel[], which is page iPg, and note
** where in it the scan ends.
*/
static int hpDescentDown(
  HpSource *pSrc,
  struct HpLevel *aLevel,
  int i,
  Pgno iPg
){
  struct HpLevel *p = &aLevel[i];
  int rc = hpDescentLevel(pSrc, iPg, p);
  assert( i>=0 && i<BTCURSOR_MAX_DEPTH && pSrc->nEnd<BTCURSOR_MAX_DEPTH );
  if( rc==SQLITE_OK && p->iPg && pSrc->pPart && pSrc->pPart->bSearch
   && !hpDescentIsOrdered(aLevel, i)
  ){
    return HP_DECLINE;
  }
  if( rc==SQLITE_OK && p->iPg && i<pSrc->nEnd
   && (i==0 || (p[-1].bEnd && p[-1].iChild==p[-1].iLast+1))
  ){
    if( pSrc->aEnd[i]>p->in.nCell ) return HP_DECLINE;
    p->bEnd = 1;
    p->iLast = pSrc->aEnd[i];
  }
  return rc;
}

/*
** Find the last leaf of the scan: fill in pSrc->aEnd.  Of a table that is one
** more, which SQLite looks at if nothing on the leaf before is beyond the
** bound.
*/
static int hpDescentEnd(HpSource *pSrc, HpBoundKey *pKey){
  Pgno iPg = pSrc->iRoot;
  struct HpLevel aLevel[1];
  int nCell = 0;         /* Of the page above */
  int i;
  assert( pKey->bOn && pSrc->nEnd==0 );
  memset(aLevel, 0, sizeof(aLevel));
  for(i=0; i<BTCURSOR_MAX_DEPTH-1; i++){
    int rc = hpDescentLevel(pSrc, iPg, aLevel);
    if( rc ) return rc;
    if( aLevel[0].iPg==0 ){
      pSrc->nEnd = i;
      if( i>0 && pSrc->bIndex==0 && pSrc->aEnd[i-1]<nCell ) pSrc->aEnd[i-1]++;
      return SQLITE_OK;
    }
    nCell = aLevel[0].in.nCell;
    pSrc->aEnd[i] = hpDescentSearch(pSrc, aLevel, pKey, 1);
    if( pSrc->aEnd[i]>=0 ) iPg = hpPageChild(&aLevel[0].in, pSrc->aEnd[i]);
    if( aLevel[0].pDb ) hpDescentUnref(aLevel[0].pDb);
    if( pSrc->aEnd[i]<0 ) return HP_DECLINE;
  }
  return HP_DECLINE;
}

/*
** Go down to the first leaf of the scan; of a part of one, to the leaf before.
*/
static int hpDescentBegin(HpSource *pSrc, HpBoundKey *pKey){
  const HpPart *pPart = pSrc->pPart;
  Pgno iPg = pSrc->iRoot;
  int i;
  for(i=0; i<BTCURSOR_MAX_DEPTH-1; i++){
    struct HpLevel *p = &pSrc->aLevel[i];
    int rc = hpDescentDown(pSrc, pSrc->aLevel, i, iPg);
    int iFirst = 0;
    if( rc ) return rc;
    if( p->iPg==0 ){
      if( pSrc->nEnd && pSrc->nEnd!=i ) return HP_DECLINE;
      if( pPart && pPart->nLevel!=i ) return HP_DECLINE;
      pSrc->nLevel = i;
      if( i && pPart==0 ) p[-1].iChild--;
      return SQLITE_OK;
    }
    if( pKey ) iFirst = hpDescentSearch(pSrc, p, pKey, 0);
    if( pPart ) iFirst = i<pPart->nLevel ? pPart->aChild[i] : -1;
    /* No key is in range: stock finds that out as fast */
    if( iFirst<0 || iFirst>p->iLast ) return HP_DECLINE;
    assert( p->iLast<=p->in.nCell );
    p->iChild = iFirst+1;
    iPg = hpPageChild(&p->in, iFirst);
  }
  return HP_DECLINE;
}

/*
** About how many leaves are there from the first to the last?  Exact if there
** are few of them.
*/
static i64 hpDescentLeaves(const HpSource *pSrc){
  i64 n = 1;             /* Leaves in a child of the level */
  i64 nLeaf = 1;
  int i;
  for(i=pSrc->nLevel-1; i>=0; i--){
    const struct HpLevel *p = &pSrc->aLevel[i];
    int iFirst = i==pSrc->nLevel-1 ? p->iChild : p->iChild-1;
    if( p->bEnd ){
      /* Above: from the first leaf to the end of the child, and back */
      nLeaf += (p->iLast-iFirst)*n;
    }else{
      nLeaf += (p->in.nCell-iFirst)*n;
      if( i<pSrc->nEnd ) nLeaf += (pSrc->aEnd[i]-p->in.nCell)*n;
    }
    n *= p->in.nCell+1;
  }
  return nLeaf;
}

/*
** Set up *pSrc for the b-tree at page iRoot and find the first and last leaf
** in pRange, which may be NULL.  aMem[] holds its constants.  A read
** transaction is open.  The interior pages are to be released even on error.
*/
static int hpDescentInit(
  HpSource *pSrc,
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  HpArena *pCopy,        /* Copy interior pages to here, if not NULL */
  HpPart *pPart          /* Only these leaves, or NULL */
){
  Btree *pBtree = db->aDb[pPlan->iDb].pBt;
  const HpRange *pRange = pPlan->pRange;
  HpBoundKey key;
  int rc = SQLITE_OK;
  memset(pSrc, 0, sizeof(*pSrc));
  if( pBtree==0 || (db->flags & SQLITE_CellSizeCk)!=0 ) return HP_DECLINE;
  assert( sqlite3BtreeHoldsMutex(pBtree) );
  assert( pPlan->bCached || sqlite3BtreeTxnState(pBtree)!=SQLITE_TXN_NONE );
  pSrc->pBt = pBtree->pBt;
  pSrc->pPager = pSrc->pBt->pPager;
  pSrc->szPage = (int)pSrc->pBt->pageSize;
  pSrc->iRoot = pPlan->iRoot;
  pSrc->bIndex = pPlan->bIndex;
  pSrc->bCached = pPlan->bCached;
  pSrc->pCopy = pCopy;
  pSrc->pPart = pPart;
  assert( pPart==0 || pRange==0 );
  if( pSrc->bIndex && pSrc->iRoot==1 ) return HP_DECLINE;
  if( pRange==0 ){
    rc = hpDescentBegin(pSrc, 0);
  }else{
    rc = hpBoundsKey(db, pRange, aMem, 1, &key);
    if( rc==SQLITE_OK && key.bOn ) rc = hpDescentEnd(pSrc, &key);
    hpBoundsClear(&key);
    if( rc==SQLITE_OK ){
      rc = hpBoundsKey(db, pRange, aMem, 0, &key);
      if( rc==SQLITE_OK ) rc = hpDescentBegin(pSrc, key.bOn ? &key : 0);
      hpBoundsClear(&key);
    }
  }
  if( rc==SQLITE_OK ) pSrc->nLeaf = hpDescentLeaves(pSrc);
  if( pPart ) pSrc->nLeaf = MIN(pSrc->nLeaf, pPart->nLeaf);
  return rc;
}

#ifdef SQLITE_DEBUG


/*
** Of each level that holds a page: the next child is not behind the one after
** the last, nor is that behind the children that the page has.
*/
static int hpDescentIsSane(const HpSource *pSrc){
  int i;
  if( pSrc->nLevel>BTCURSOR_MAX_DEPTH || pSrc->nMax<1 ) return 0;
  if( pSrc->nUnit<pSrc->nMax || pSrc->iThin>MAX(0, pSrc->nLevel-1) ) return 0;
  for(i=0; i<pSrc->nLevel; i++){
    const struct HpLevel *p = &pSrc->aLevel[i];
    if( p->iPg==0 ) continue;
    if( p->iChild<0 || p->iChild>p->iLast+1 || p->iLast>p->in.nCell ) return 0;
    if( p->pDb==0 && p->aCopy==0 && p->pKnown==0 ) return 0;
  }
  return 1;
}
#endif
#endif /* SQLITE_OMIT_HP */
