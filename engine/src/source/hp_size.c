/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_size: how large is a b-tree, or the part of it that a scan reads?
**
**    hpSizeIsLarge()     is the b-tree worth the trouble? (any time)
**    hpSizeOfPlan()      about how many leaves, and rows, are read?
**    hpSizeRangeIsLarge()  is a range large enough?
**    hpSizeRangeSkips(), hpSizeRangeWas()   is it not to be asked this time?
**    hpSizeRangeSeemsLarge()  a guess, before there is a transaction
**    hpSizeOfSearch(), hpSizeSearchMayBeLarge()  of an index by which rows are
**                        looked up: about how many are there, and how far from
**                        each other?
**    hpSizeCountIsLarge()  are its entries counted faster here?
**    hpSizeIsShort()     is there so little that SQLite's sorter is as good?
**    hpSizeRows()        about how many rows there are
**
** All of them ask before a scan, or instead of one: when a statement is
** prepared or when it begins, so they look at a few pages.  They find the ways
** to the first and to the last leaf, as a scan does (hp_descent.c), and count
** the children between them, level by level.  Children of pages that are not on
** these ways are taken to be as many as those on them: exact for a range of few
** leaves, which is where it matters.  A leaf tells how many rows a leaf has.
**
** Thresholds are HP_MIN_LEAF, for a scan, and HP_MIN_PARALLEL leaves, from
** which on counting and sorting are better here.  PRAGMA hp_offload=force lets
** small tables pass.
**
** A range whose size depends on parameters is measured when the statement runs.
** For one that is small each time that would be wasted: after n small ones in a
** row 2*n+1 executions pass unasked, HP_MX_SMALL at most (HpRange.nSkip).
**
** Without a transaction (HpSourcePlan.bCached) only pages in the page cache are
** looked at, and the answer is a guess.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Set *pbLarge if the b-tree at iRoot has HP_MIN_LEAF leaves or more, looking
** at two pages at most.  A read transaction is open.
*/
static int hpSizeIsLarge(
  Btree *pBtree,
  Pgno iRoot,
  int bIndex,            /* It is the b-tree of an index */
  int mnLeaf,            /* Leaves that it takes */
  int *pbLarge
){
  HpSource src;
  struct HpLevel aLevel[2];
  int rc;
  assert( mnLeaf>0 && sqlite3BtreeTxnState(pBtree)!=SQLITE_TXN_NONE );
  *pbLarge = 0;
  memset(&src, 0, sizeof(src));
  memset(aLevel, 0, sizeof(aLevel));
  src.pBt = pBtree->pBt;
  src.pPager = src.pBt->pPager;
  src.bIndex = (u8)bIndex;
  rc = hpDescentLevel(&src, iRoot, &aLevel[0]);
  if( rc==SQLITE_OK && aLevel[0].pDb ){
    if( aLevel[0].in.nCell+1>=mnLeaf ){
      *pbLarge = 1;
    }else{
      rc = hpDescentLevel(&src, hpPageChild(&aLevel[0].in, 0), &aLevel[1]);
      if( rc==SQLITE_OK && aLevel[1].pDb ){
        /* With long keys an index page may have few children */
        *pbLarge = (aLevel[0].in.nCell+1)*(aLevel[1].in.nCell+1)>=mnLeaf;
        sqlite3PagerUnrefNotNull(aLevel[1].pDb);
      }
    }
    sqlite3PagerUnrefNotNull(aLevel[0].pDb);
  }
  return rc;
}

/*
** Set *pnLeaf to about the number of leaves that a scan of pPlan reads, 0 if it
** fails, and unless pnRow is NULL, *pnRow to that of rows.  Constants of its
** range are in aMem[].
*/
static int hpSizeOfPlan(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  i64 *pnLeaf,
  i64 *pnRow
){
  HpSource src;
  int rc = hpDescentInit(&src, db, pPlan, aMem, 0, 0);
  *pnLeaf = rc==SQLITE_OK ? (i64)src.nLeaf : 0;
  if( pnRow ) *pnRow = rc==SQLITE_OK ? hpSizeRows(&src) : 0;
  hpDescentRelease(src.aLevel, 0);
  return rc;
}

/*
** A statement that runs often with small ranges pays for being asked each
** time: the more of them there were in a row, the more are let pass.  Is this
** one?
*/
static int hpSizeRangeSkips(HpRange *pRange){
  assert( pRange->nSkip>=0 && pRange->nSkip<=HP_MX_SMALL );
  if( pRange->nSkip==0 ) return 0;
  pRange->nSkip--;
  return 1;
}

/* It was not: was the range large? */
static void hpSizeRangeWas(HpRange *pRange, int bLarge){
  assert( pRange->nSkip==0 && pRange->nSmall<=HP_MX_SMALL );
  pRange->nSmall = bLarge ? 0 : MIN(2*pRange->nSmall+1, HP_MX_SMALL);
  pRange->nSkip = pRange->nSmall;
}

/*
** Set *pbLarge if there are HP_MIN_LEAF leaves in the range of pPlan, whose
** constants are in aMem[].
*/
static int hpSizeRangeIsLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  int *pbLarge
){
  i64 nLeaf;
  int rc;
  *pbLarge = 0;
  if( hpSizeRangeSkips(pPlan->pRange) ) return SQLITE_OK;
  rc = hpSizeOfPlan(db, pPlan, aMem, &nLeaf, 0);
  *pbLarge = nLeaf>=HP_MIN_LEAF;
  hpSizeRangeWas(pPlan->pRange, *pbLarge);
  return rc;
}

/*
** True if the interior pages in the cache say that there are HP_MIN_LEAF leaves
** in the range of pPlan.  For use without a transaction: what they say may be
** out of date.
*/
static int hpSizeRangeSeemsLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem
){
  i64 nLeaf;
  assert( pPlan->bCached );
  return hpSizeOfPlan(db, pPlan, aMem, &nLeaf, 0)==SQLITE_OK
      && nLeaf>=HP_MIN_LEAF;
}

/*
** The same of an index by which SQLite looks rows up: may there be mnLeaf
** leaves in the range of pPlan?  With several values that is asked of the first
** one only.  What is not in the cache may be.
*/
static int hpSizeSearchMayBeLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  int mnLeaf
){
  HpSource src;
  int bLarge = 1;
  int rc = hpDescentInit(&src, db, pPlan, aMem, 0, 0);
  assert( pPlan->bCached && pPlan->bIndex );
  if( rc==SQLITE_OK ){
    bLarge = src.nLeaf>1 && src.nLeaf*MAX(1, pPlan->pRange->nIn)>=mnLeaf;
    if( bLarge==0 && src.nLevel ){
      const struct HpLevel *p = &src.aLevel[src.nLevel-1];
      DbPage *pDb = sqlite3PagerLookup(src.pPager,
                                       hpPageChild(&p->in, p->iChild));
      if( pDb ) hpDescentUnref(pDb);
      bLarge = pDb==0;
    }
  }
  hpDescentRelease(src.aLevel, 0);
  return bLarge;
}

/* The rowid at the end of the entry at z[] on a leaf of an index; 0 if that
** cannot be told */
static i64 hpSizeEntryRowid(BtShared *pBt, const u8 *z, const u8 *aEnd){
  HpRecord rec;
  u32 nHdr, nByte;
  Mem mem;
  if( z>aEnd-4 || hpPageRecord(pBt, z, aEnd, &rec) || rec.nLocal<rec.nByte ){
    return 0;
  }
  getVarint32(rec.z, nHdr);
  if( nHdr<2 || nHdr>rec.nByte || rec.z[nHdr-1]>9 ) return 0;
  nByte = sqlite3SmallTypeSizes[rec.z[nHdr-1]];
  if( nByte>rec.nByte-nHdr ) return 0;
  sqlite3VdbeSerialGet(&rec.z[rec.nByte-nByte], rec.z[nHdr-1], &mem);
  return (mem.flags & MEM_Int) ? mem.u.i : 0;
}

/* What entries on leaves of an index say about the rows that they lead to */
typedef struct HpSpread HpSpread;
struct HpSpread {
  int nSeen, nFar;       /* Rows after another one, and so many rowids or more
                         ** behind it */
  i64 iMin, iMax;        /* The smallest and the largest rowid.  iMax<iMin:
                         ** none */
};

/* Add the entries on child i of the interior page that pSrc is about to read.
** A row is far if it is more than nNear rowids from that of the entry before */
static void hpSizeSpread(const HpSource *pSrc, int i, i64 nNear, HpSpread *p){
  const struct HpLevel *pLevel = &pSrc->aLevel[pSrc->nLevel-1];
  const u8 *aHdr, *aEnd;
  i64 iLast = 0;
  int nCell;
  DbPage *pDb;
  Pgno iPg;
  assert( pSrc->nLevel>0 );
  iPg = hpPageChild(&pLevel->in, i);
  if( iPg<2 || sqlite3PagerGet(pSrc->pPager, iPg, &pDb, PAGER_GET_READONLY) ){
    return;
  }
  aHdr = sqlite3PagerGetData(pDb);
  aEnd = &aHdr[pSrc->pBt->usableSize];
  nCell = get2byte(&aHdr[3]);
  if( aHdr[0]!=(PTF_ZERODATA|PTF_LEAF) || nCell>(int)MX_CELL(pSrc->pBt) ){
    nCell = 0;
  }
  for(i=0; i<nCell; i++){
    i64 iRowid = hpSizeEntryRowid(pSrc->pBt, &aHdr[get2byte(&aHdr[8+2*i])],
                                  aEnd);
    if( iRowid==0 ) continue;
    if( iLast ){
      u64 nGap = iRowid>iLast ? (u64)iRowid-(u64)iLast : (u64)iLast-(u64)iRowid;
      p->nSeen++;
      p->nFar += nGap>(u64)nNear;
    }
    p->iMin = p->iMax<p->iMin ? iRowid : MIN(p->iMin, iRowid);
    p->iMax = MAX(p->iMax, iRowid);
    iLast = iRowid;
  }
  sqlite3PagerUnrefNotNull(pDb);
}

/*
** SQLite looks up the rows that the range of pPlan, of an index, has entries
** for.  Set *pnRow to about their number, of all values of an IN, and *prFar to
** the share of those that are more than nNear rowids from the row before.  They
** seem to lie within *pnSpan rowids, 0 if that cannot be told.  If there are
** fewer than mnRow *prFar and *pnSpan are not set.
**
** The entries of two leaves tell, near the first one and the last one of those
** below an interior page.
*/
static int hpSizeOfSearch(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  Mem *aMem,
  i64 nNear,
  i64 mnRow,
  i64 *pnRow,
  double *prFar,
  i64 *pnSpan
){
  HpRange range = *pPlan->pRange;
  HpSourcePlan plan = *pPlan;
  int i;
  assert( pPlan->bIndex && nNear>=0 );
  plan.pRange = &range;
  *pnRow = 0;
  for(i=0; i<MAX(1, range.nIn); i++){
    HpSource src;
    int bFew = *pnRow<mnRow;
    int rc;
    if( range.nIn ) range.aEq[range.iIn].iReg = range.aInReg[i];
    rc = hpDescentInit(&src, db, &plan, aMem, 0, 0);
    if( rc==SQLITE_OK && src.nLeaf>1 ){
      /* Half of the first leaf, and of the last one */
      *pnRow += hpSizeRows(&src)/src.nLeaf*(src.nLeaf-1);
      if( bFew && *pnRow>=mnRow ){
        const struct HpLevel *p = &src.aLevel[src.nLevel-1];
        HpSpread x;
        memset(&x, 0, sizeof(x));
        x.iMax = -1;
        hpSizeSpread(&src, MIN(p->iChild+1, p->iLast), nNear, &x);
        if( p->iLast>p->iChild+2 ) hpSizeSpread(&src, p->iLast-1, nNear, &x);
        if( x.nSeen ) *prFar = (double)x.nFar/x.nSeen;
        if( x.nSeen && range.nIn==0 && x.iMax/2-x.iMin/2<LARGEST_INT64/4 ){
          *pnSpan = x.iMax-x.iMin+1;
        }
      }
    }
    hpDescentRelease(src.aLevel, 0);
    /* What is no simple value finds nothing */
    if( rc && (rc!=HP_DECLINE || range.nIn==0) ) return rc;
  }
  return SQLITE_OK;
}

/*
** Set *pbLarge if it pays to count the entries of the b-tree of pPlan around
** the page cache: most of its pages are not in there.
*/
static int hpSizeCountIsLarge(
  sqlite3 *db,
  const HpSourcePlan *pPlan,
  int *pbLarge
){
  HpSource src;
  int rc = hpDescentInit(&src, db, pPlan, 0, 0, 0);
  assert( pPlan->nCol==0 && pPlan->pRange==0 );
  *pbLarge = rc==SQLITE_OK && src.nLeaf>=HP_MIN_PARALLEL
          && src.nLeaf>2*(i64)sqlite3PcachePagecount(src.pPager->pPCache);
  hpDescentRelease(src.aLevel, 0);
  return rc;
}

/*
** About how many rows there are, as the first leaf suggests.  0: unknown.
*/
static i64 hpSizeRows(const HpSource *pSource){
  DbPage *pDb;
  Pgno iPg;
  int n;
  if( pSource->nLevel==0 ) return 0;
  /* No run has been taken yet */
  assert( pSource->aLevel[pSource->nLevel-1].pKnown==0 );
  iPg = hpPageChild(&pSource->aLevel[pSource->nLevel-1].in, 0);
  if( iPg<2
   || sqlite3PagerGet(pSource->pPager, iPg, &pDb, PAGER_GET_READONLY)
  ){
    return 0;
  }
  n = get2byte(&((u8*)sqlite3PagerGetData(pDb))[3]);
  sqlite3PagerUnrefNotNull(pDb);
  return n*pSource->nLeaf;
}

/*
** Is stock's sorter as good?  It is for what fits into the cache, unless most
** rows need not be sorted.
*/
static int hpSizeIsShort(const HpPipe *p){
  return p->pSource->nLeaf<HP_MIN_PARALLEL
      && hpConfigOffload(p->pQuery->db)!=HP_OFFLOAD_FORCE;
}
#endif /* SQLITE_OMIT_HP */
