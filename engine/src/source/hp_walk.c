/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_walk: from leaf to leaf, along the interior pages above them.
**
**    hpWalkAdvance()   make the lowest interior page one with leaves to come
**    hpWalkFetch()     read the lowest interior page, if it was left out
**    hpWalkSkip()      pass over children without rows that are wanted
**    hpWalkSep(), hpWalkSepBytes()   index: the entry after a leaf
**    hpWalkRowid()     table: the rowid that separates two leaves
**    hpWalkThin(), hpWalkThinNext()  a sample of the leaves
**    hpWalkFirst()     only the first leaves
**
** Call order: hpDescentInit() has found the first leaf.  For each run of leaves
** hpWalkAdvance(), which goes up and down to the next interior page that has
** children left, then page numbers are taken from that (HpLevel.iChild).  The
** scan's mutex is held: interior pages come from the pager.
**
** In the b-tree of an index, and of a WITHOUT ROWID table, each cell of an
** interior page is an entry itself, between the leaves of the child before it
** and those of the child after it.  With each leaf of a run comes the entry
** that follows its last one, if that is such a cell: from the page above, or,
** after the last leaf under that, from the first page further up that has
** more children.
**
**                 [  d  |  g  ]            leaves:     entry after the leaf:
**                /      |      \           a b         c
**          [ c ]      [ f ]    [ j ]       -           d
**          /   \      /   \    /   \       e           f
**       a b     -    e     -  h i   k      ...
**
** Where it is known which rowids are wanted (HpPortion.pWanted) children are
** left out that hold none of them, by the separators on both sides.  A table is
** then read as by a search for each of the rowids in order, each page once.
**
** Where columns of leaves are in memory (hp_columns.c) so may be what is known
** of the page above them: it is not read then (hpWalkKnown()).  If it turns out
** that it is needed hpWalkFetch() does.  If it is another page by then what is
** kept of the file is not to be trusted.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Read only about nSample leaves, evenly spread: the first one of every so many
** pages of the highest level that has enough of them.
*/
static void hpWalkThin(HpSource *pSrc, int nSample){
  i64 n = 1;
  int i = 0;
  assert( nSample>0 && pSrc->nThin==0 );
  if( pSrc->nLevel==0 ) return;
  while( 1 ){
    const struct HpLevel *p = &pSrc->aLevel[i];
    n *= i==0 ? p->iLast-p->iChild+1 : p->in.nCell+1;
    if( n>=nSample || i==pSrc->nLevel-1 ) break;
    i++;
  }
  pSrc->iThin = i;
  pSrc->nThin = (int)MAX(1, n/nSample);
  pSrc->nMax = 1;
}

/* Read only the first nLeaf leaves, or those of one page above if it has
** fewer */
static void hpWalkFirst(HpSource *pSrc, int nLeaf){
  int i;
  for(i=0; i<pSrc->nLevel; i++){
    struct HpLevel *p = &pSrc->aLevel[i];
    int n = i==pSrc->nLevel-1 ? nLeaf : 0;
    p->iLast = MIN(p->iLast, p->iChild+n-1);
  }
}

/* The next leaf of a sample.  Children that a level does not have are left
** out */
static void hpWalkThinNext(HpSource *pSrc){
  struct HpLevel *pLevel = &pSrc->aLevel[pSrc->iThin];
  int i;
  assert( pSrc->nThin>0 && pSrc->iThin<pSrc->nLevel );
  for(i=pSrc->iThin+1; i<pSrc->nLevel; i++){
    pSrc->aLevel[i].iChild = pSrc->aLevel[i].iLast+1;
  }
  pLevel->iChild = MIN(pLevel->iChild+pSrc->nThin-1, pLevel->iLast+1);
}

/*
** Go on from the next child of pLevel to the first one that may have rows that
** are wanted.  A separator that is not greater than the one before says
** nothing.
*/
static void hpWalkSkip(HpSource *pSrc, struct HpLevel *p){
  i64 iLow, iHigh;
  if( pSrc->pWanted==0 ) return;
  assert( pSrc->bIndex==0 && pSrc->pColumns==0 );
  if( p->iChild>0 && hpDescentLargest(p, p->iChild-1, &iLow) ){
    pSrc->iPassed = iLow;
  }
  while( p->iChild<=p->iLast && hpDescentLargest(p, p->iChild, &iHigh) ){
    iLow = pSrc->iPassed;
    if( iHigh<=iLow || hpBitsAny(pSrc->pWanted, iLow, iHigh) ) return;
    pSrc->iPassed = iHigh;
    p->iChild++;
  }
}

/*
** The scan is about to go down to page iPg, above leaves.  If what is known of
** it is enough to take their columns from memory do not read it, and return
** true.
*/
static int hpWalkKnown(HpSource *pSrc, Pgno iPg){
  struct HpLevel *p = &pSrc->aLevel[pSrc->nLevel-1];
  const HpColumnInner *pKnown;
  if( pSrc->pColumns==0 || pSrc->bIndex || pSrc->nEnd>0 || pSrc->bOrder ){
    return 0;
  }
  if( pSrc->pPart && pSrc->pPart->bSearch ) return 0;
  if( pSrc->aAhead && AtomicLoad(&pSrc->bCold) ) return 0;
  pKnown = hpColumnsInner(pSrc->pColumns, iPg, pSrc->nUnit);
  if( pKnown==0 ) return 0;
  assert( p->iPg==0 && pSrc->nThin==0 );
  memset(p, 0, sizeof(*p));
  p->iPg = iPg;
  p->pKnown = pKnown;
  p->in.nCell = p->iLast = pKnown->nCell;
  return 1;
}

/* The lowest page is needed after all */
static int hpWalkFetch(HpSource *pSrc){
  struct HpLevel *p = &pSrc->aLevel[pSrc->nLevel-1];
  int iChild = p->iChild;
  int nCell = p->in.nCell;
  int rc;
  if( p->pKnown==0 ) return SQLITE_OK;
  assert( pSrc->pColumns!=0 && pSrc->bIndex==0 && iChild<=nCell );
  rc = hpDescentLevel(pSrc, p->iPg, p);
  if( rc==SQLITE_OK && (p->iPg==0 || p->in.nCell!=nCell) ){
    hpColumnScanDistrust(pSrc->pColumns);
    rc = HP_DECLINE;
  }
  p->iChild = iChild;
  return rc;
}

/*
** Make the lowest level of aLevel[] an interior page with children not yet
** visited.  Set *pbEnd if there is none.
*/
static int hpWalkAdvance(HpSource *pSrc, struct HpLevel *aLevel, int *pbEnd){
  int i = pSrc->nLevel-1;
  assert( i>=0 && aLevel[0].iPg!=0 );
  *pbEnd = 0;
  while( 1 ){
    struct HpLevel *pLevel = &aLevel[i];
    Pgno iPg;
    int rc;
    if( aLevel==pSrc->aLevel ) hpWalkSkip(pSrc, pLevel);
    if( pLevel->iChild>pLevel->iLast ){
      if( i==0 ){
        *pbEnd = 1;
        return SQLITE_OK;
      }
      hpDescentRelease(aLevel, i);
      i--;
      continue;
    }
    if( i==pSrc->nLevel-1 ) return SQLITE_OK;
    iPg = hpPageChild(&pLevel->in, pLevel->iChild++);
    if( ++i==pSrc->nLevel-1 && aLevel==pSrc->aLevel && hpWalkKnown(pSrc, iPg) ){
      return SQLITE_OK;
    }
    rc = hpDescentDown(pSrc, aLevel, i, iPg);
    if( rc ) return rc;
    if( aLevel[i].iPg==0 ) return HP_DECLINE;
  }
}

/* Most bytes of an entry on an interior page that are kept */
static int hpWalkSepBytes(const HpSource *pSrc){
  assert( pSrc->bIndex );
  return ROUND8(pSrc->pBt->maxLocal + 4);
}

/*
** The leaf that was taken last is leaf i of pRun.  Keep a copy of the entry
** that follows it, if that stands on an interior page and the scan goes on
** after it.
*/
static int hpWalkSep(const HpSource *pSrc, HpRun *pRun, int i){
  HpRecord *pSep = &pRun->aSep[i];
  int iLevel = pSrc->nLevel-1;
  const struct HpLevel *p = &pSrc->aLevel[iLevel];
  const u8 *z;
  int rc;
  assert( pSrc->bIndex && i>=0 && i<pSrc->nUnit );
  pSep->z = 0;
  while( p->iChild>p->iLast ){
    if( iLevel==0 ) return SQLITE_OK;
    p = &pSrc->aLevel[--iLevel];
  }
  z = hpPageCell(&p->in, p->iChild-1);
  if( z==0 ) return HP_DECLINE;
  rc = hpPageRecord(pSrc->pBt, &z[4], p->in.aEnd, pSep);
  if( rc==SQLITE_OK ){
    u8 *a = &pRun->aSepBuf[(i64)i*hpWalkSepBytes(pSrc)];
    assert( (int)pSep->nLocal+4<=hpWalkSepBytes(pSrc) );
    memcpy(a, pSep->z, pSep->nLocal + (pSep->nLocal<pSep->nByte ? 4 : 0));
    pSep->z = a;
  }
  return rc;
}

/*
** Set *piRowid to the rowid of the interior cell before the next child of the
** lowest interior page, if bNext is 0, or to that of the one after the child
** before it.  SQLITE_EMPTY: there is none, the leaf is the first or last one of
** the table.
*/
static int hpWalkRowid(const HpSource *pSrc, int bNext, i64 *piRowid){
  int iLevel;
  assert( pSrc->bOrder && pSrc->bIndex==0 );
  for(iLevel=pSrc->nLevel-1; iLevel>=0; iLevel--){
    const struct HpLevel *p = &pSrc->aLevel[iLevel];
    int iCell = p->iChild-1;
    const u8 *z;
    /* Further up the next child is not the current one, but the one after it */
    if( iLevel<pSrc->nLevel-1 && bNext==0 ) iCell--;
    if( iCell<0 || iCell>=p->in.nCell ) continue;
    z = hpPageCell(&p->in, iCell);
    if( z==0 || &z[4+sqlite3GetVarint(&z[4], (u64*)piRowid)]>p->in.aEnd ){
      return HP_DECLINE;
    }
    return SQLITE_OK;
  }
  return SQLITE_EMPTY;
}
#endif /* SQLITE_OMIT_HP */
