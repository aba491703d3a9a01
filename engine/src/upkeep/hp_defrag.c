/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_defrag: PRAGMA hp_defrag, a slice of online defragmentation.
**
**    sqlite3HpDefrag()    code the PRAGMA
**
** VACUUM puts the pages of a file in order, and locks everybody out
** meanwhile.  Here the same is done in slices of some milliseconds.  A slice
** is a write transaction of its own, in which some pages change places, an
** ordinary one: the journal or the log, crashes, a full disk, backups and
** other connections are SQLite's pager's business.  Between the slices
** anybody may read and write.
**
** The statement.  PRAGMA hp_defrag(ms) is this program:
**
**            Function     hp_defrag_may: not inside a transaction, not beside
**                         running statements
**            Transaction  to write, as before any statement that writes
**            Function     hp_defrag_slice: the work, and COMMIT
**            ResultRow    pages moved, pages left.  0 left: it is in order
**
** The work of a slice.  hp_defragmap.c has a picture of the file, or makes
** one; if that takes longer than the slice no page is moved in this one.  It
** says which pages stay, and of the others, in the wanted order, which place
** each gets, in ascending order.  So a move is: page x, which comes next,
** goes to the next place, and who is there, y, goes to where x was:
**
**    y is a leaf of the free list    x is copied, and the list says where y is
**    anything else                   both are exchanged
**
** Then who names x, and who names y, gets the new number: a parent, the page
** before it in a chain, a trunk, page 1.  With auto_vacuum pointer maps are
** set for both and for those that they name.  A page is written at most once
** a slice, however often it moves.
**
** When nothing is left to be moved free pages are the last ones of the file,
** but for roots, which keep their numbers.  The file is cut behind the last
** page in use.  It never grows, as no page is ever allocated.
**
** How long.  A slice ends when what it has done, and what its commit will
** take, come near to ms.  The latter is what commits took of late; so that
** this is true the number of pages that a slice may write grows by half at a
** time, from HP_DEFRAG_PAGES on, and falls when a slice was long.  Nor does a
** slice write more pages than the page cache holds without writing, or add
** more than HP_DEFRAG_LOG to the log, since whoever commits may have to
** checkpoint it.  It moves one page at least, unless it made a picture.  If
** another connection of the process waits to write, it moves pages for a
** quarter of the time only.
**
** Between slices.  The picture stays with the BtShared (hp_extent.c) and is
** true as long as the pager's data version is that which our commit left.
** Whoever else commits makes it be made anew; pages that stand in order then
** stay.  With an error it is forgotten, and the statement's transaction is
** rolled back.
**
** A damaged file gives SQLITE_CORRUPT, as far as it is noticed: a page that is
** named twice or never, a pointer that is not where it ought to be.
**
** auto_vacuum=FULL.  Its commits empty the free list, and move pages for that.
** If a file has free pages nevertheless, the first slice only commits.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_DEFRAG_MS      50      /* Default of the PRAGMA */
#define HP_DEFRAG_MX_MS   60000   /* Longest slice */
#define HP_DEFRAG_GUESS   15000   /* First guess: a commit, in microseconds */
#define HP_DEFRAG_PAGES   64      /* Pages that the first slice writes */
#define HP_DEFRAG_LOG     (1536*1024) /* Bytes that a slice adds to a log */
#define HP_DEFRAG_LOST    4       /* So many pictures were made in vain */
#define HP_DEFRAG_NONE    0xffffffff  /* No page has this number */
#define HP_DEFRAG_LOOK    16      /* After so many moves: who waits? */

/* A slice */
typedef struct HpDefragSlice HpDefragSlice;
struct HpDefragSlice {
  sqlite3 *db;
  BtShared *pBt;
  HpDefrag *p;           /* Where pages are and are to be */
  i64 tBegin, tEnd;      /* Microseconds */
  u32 nWrite;            /* Pages written */
  u32 mxWrite;           /* Most of them */
  u32 nMove;             /* Pages moved */
  u8 bMade;              /* The picture was made, or a part of it */
};

#ifndef SQLITE_OMIT_AUTOVACUUM
/* How pages of each kind are named by others: PTRMAP_xxx, or 0 */
static const u8 aHpDefragType[] = {
  0, 0, PTRMAP_BTREE, PTRMAP_BTREE, PTRMAP_OVERFLOW1, PTRMAP_OVERFLOW2, 0, 0
};
#endif

/* Microseconds of some clock */
static i64 hpDefragNow(sqlite3 *db){
#if SQLITE_OS_UNIX && defined(CLOCK_MONOTONIC)
  struct timespec t;
  UNUSED_PARAMETER(db);
  if( clock_gettime(CLOCK_MONOTONIC, &t)==0 ){
    return (i64)t.tv_sec*1000000 + t.tv_nsec/1000;
  }
  return 0;
#else
  i64 t = 0;
  (void)sqlite3OsCurrentTimeInt64(db->pVfs, &t);
  return t*1000;
#endif
}

/* A page is about to be changed */
static int hpDefragWrite(HpDefragSlice *pS, MemPage *pPage){
  if( (pPage->pDbPage->flags & PGHDR_WRITEABLE)==0 ) pS->nWrite++;
  return sqlite3PagerWrite(pPage->pDbPage);
}

/*
** Where page pPage, in which page id is named, has the number iPg of it; NULL
** if it has not.
*/
static u8 *hpDefragFind(const HpDefrag *p, MemPage *pPage, Pgno id, Pgno iPg){
  u8 *a = pPage->aData;
  u32 n;
  int i;
  switch( hpDefragIs(p, id) ){
    case HP_DEFRAG_TRUNK:
      if( p->aParent[id]==1 ) a += 32;
      break;
    case HP_DEFRAG_FREE:
      n = get4byte(&a[4]);
      if( n>pPage->pBt->usableSize/4 - 2 ) return 0;
      for(a+=8; n>0 && get4byte(a)!=iPg; n--) a += 4;
      return n ? a : 0;
    case HP_DEFRAG_INNER:
    case HP_DEFRAG_LEAF:
      if( pPage->isInit==0 && btreeInitPage(pPage) ) return 0;
      for(i=0; !pPage->leaf && i<=pPage->nCell; i++){
        a = hpDefragMapChild(pPage, i);
        if( get4byte(a)==iPg ) return a;
      }
      return 0;
    case HP_DEFRAG_HEAD:
      if( pPage->isInit==0 && btreeInitPage(pPage) ) return 0;
      for(i=0; i<pPage->nCell; i++){
        Pgno nPage;
        if( hpDefragMapCell(pPage, i, &a, &nPage) ) return 0;
        if( a && get4byte(a)==iPg ) return a;
      }
      return 0;
    default:
      assert( hpDefragIs(p, id)==HP_DEFRAG_CHAIN );
      break;
  }
  return get4byte(a)==iPg ? a : 0;
}

/*
** Page id was at iFrom and is at iTo now.  Change the number in the page that
** names it.  One of both may be HP_DEFRAG_NONE.
*/
static int hpDefragPoint(HpDefragSlice *pS, Pgno id, Pgno iFrom, Pgno iTo){
  const HpDefrag *p = pS->p;
  MemPage *pPage;
  int rc = btreeGetPage(pS->pBt, p->aPlace[p->aParent[id]], &pPage, 0);
  assert( hpDefragIs(p, id)>HP_DEFRAG_FIXED && p->aParent[id]!=id );
  if( rc ) return rc;
  rc = hpDefragWrite(pS, pPage);
  if( rc==SQLITE_OK ){
    u8 *a = hpDefragFind(p, pPage, id, iFrom);
    if( a ){
      put4byte(a, iTo);
    }else{
      rc = SQLITE_CORRUPT_PAGE(pPage);
    }
  }
  releasePage(pPage);
  return rc;
}

#ifndef SQLITE_OMIT_AUTOVACUUM
/*
** Page id names the page at place iPg, as one of type eType.  Set the entry
** of the pointer map.  If the picture knows nothing of that the file is
** damaged, and iPg may be anything.
*/
static int hpDefragNamed(HpDefragSlice *pS, Pgno id, Pgno iPg, u8 eType){
  const HpDefrag *p = pS->p;
  const Pgno x = iPg>=2 && iPg<=p->nPage ? p->aWho[iPg] : 0;
  int rc = SQLITE_OK;
  if( x==0 || hpDefragIs(p, x)==HP_DEFRAG_FIXED || p->aParent[x]!=id
   || aHpDefragType[hpDefragIs(p, x)]!=eType
  ){
    return SQLITE_CORRUPT_PGNO(p->aPlace[id]);
  }
  ptrmapPut(pS->pBt, iPg, eType, p->aPlace[id], &rc);
  return rc;
}

/* Page id of a b-tree is pPage now: set the entries of those that it names */
static int hpDefragChildren(HpDefragSlice *pS, Pgno id, MemPage *pPage){
  const int bInner = hpDefragIs(pS->p, id)==HP_DEFRAG_INNER;
  int rc = pPage->isInit ? SQLITE_OK : btreeInitPage(pPage);
  int i;
  if( rc==SQLITE_OK && pPage->leaf==bInner ){
    rc = SQLITE_CORRUPT_PAGE(pPage);
  }
  for(i=0; rc==SQLITE_OK && i<pPage->nCell; i++){
    u8 *aHead;
    Pgno n;
    rc = hpDefragMapCell(pPage, i, &aHead, &n);
    if( rc==SQLITE_OK && aHead ){
      rc = hpDefragNamed(pS, id, get4byte(aHead), PTRMAP_OVERFLOW1);
    }
  }
  for(i=0; rc==SQLITE_OK && !pPage->leaf && i<=pPage->nCell; i++){
    rc = hpDefragNamed(pS, id, get4byte(hpDefragMapChild(pPage, i)),
                       PTRMAP_BTREE);
  }
  return rc;
}

/*
** Page id, which is pPage now, has moved: set its entry of the pointer map,
** and those of the pages that it names.
*/
static int hpDefragPtrmap(HpDefragSlice *pS, Pgno id, MemPage *pPage){
  const HpDefrag *p = pS->p;
  const Pgno iPlace = p->aPlace[id];
  const u8 eKind = hpDefragIs(p, id);
  int rc = SQLITE_OK;
  assert( ISAUTOVACUUM(pS->pBt) && pPage->pgno==iPlace );
  if( eKind>=HP_DEFRAG_TRUNK ){
    ptrmapPut(pS->pBt, iPlace, PTRMAP_FREEPAGE, 0, &rc);
    return rc;
  }
  rc = hpDefragNamed(pS, p->aParent[id], iPlace, aHpDefragType[eKind]);
  if( rc ) return rc;
  if( eKind>=HP_DEFRAG_HEAD ){
    Pgno iNext = get4byte(pPage->aData);
    if( iNext ) rc = hpDefragNamed(pS, id, iNext, PTRMAP_OVERFLOW2);
  }else{
    rc = hpDefragChildren(pS, id, pPage);
  }
  return rc;
}
#endif

/*
** Page pX is copied to pY, the leaf of the free list; what it was becomes the
** free one.
*/
static int hpDefragCopy(HpDefragSlice *pS, MemPage *pX, MemPage *pY){
  BtShared *pBt = pS->pBt;
  int rc = hpDefragWrite(pS, pY);
  if( rc ) return rc;
  memcpy(pY->aData, pX->aData, pBt->pageSize);
  if( pBt->btsFlags & BTS_SECURE_DELETE ){
    rc = hpDefragWrite(pS, pX);
    if( rc==SQLITE_OK ) memset(pX->aData, 0, pBt->pageSize);
  }else{
    sqlite3PagerDontWrite(pX->pDbPage);
    rc = btreeSetHasContent(pBt, pX->pgno);
  }
  return rc;
}

/* Both pages change places */
static int hpDefragSwap(HpDefragSlice *pS, MemPage *pX, MemPage *pY){
  const u32 szPage = pS->pBt->pageSize;
  u8 aTmp[256];
  u32 i;
  int rc = hpDefragWrite(pS, pX);
  if( rc==SQLITE_OK ) rc = hpDefragWrite(pS, pY);
  if( rc ) return rc;
  assert( szPage%sizeof(aTmp)==0 );
  for(i=0; i<szPage; i+=sizeof(aTmp)){
    memcpy(aTmp, &pX->aData[i], sizeof(aTmp));
    memcpy(&pX->aData[i], &pY->aData[i], sizeof(aTmp));
    memcpy(&pY->aData[i], aTmp, sizeof(aTmp));
  }
  return SQLITE_OK;
}

/* Page x goes to iTo, and who is there goes to where x was */
static int hpDefragMove(HpDefragSlice *pS, Pgno x, Pgno iTo){
  HpDefrag *p = pS->p;
  BtShared *pBt = pS->pBt;
  const Pgno y = p->aWho[iTo];
  const Pgno iFrom = p->aPlace[x];
  const int bFree = hpDefragIs(p, y)==HP_DEFRAG_FREE;
  MemPage *pX = 0, *pY = 0;
  int flags = 0;
  int rc;
  assert( iTo<iFrom && hpDefragIs(p, y)>HP_DEFRAG_FIXED );
  assert( (p->aKind[y] & HP_DEFRAG_KEEP)==0 );
  rc = btreeGetUnusedPage(pBt, iFrom, &pX, 0);
  if( rc==SQLITE_OK ){
    if( bFree && !btreeGetHasContent(pBt, iTo) ) flags = PAGER_GET_NOCONTENT;
    rc = btreeGetUnusedPage(pBt, iTo, &pY, flags);
  }
  if( rc==SQLITE_OK ){
    rc = bFree ? hpDefragCopy(pS, pX, pY) : hpDefragSwap(pS, pX, pY);
  }
  if( rc==SQLITE_OK ){
    pX->isInit = pY->isInit = 0;
    p->aPlace[x] = iTo;
    p->aWho[iTo] = x;
    p->aPlace[y] = iFrom;
    p->aWho[iFrom] = y;
    if( p->aParent[x]==p->aParent[y] ){
      /* For a moment one page must not have the number of both */
      rc = hpDefragPoint(pS, x, iFrom, HP_DEFRAG_NONE);
      if( rc==SQLITE_OK ) rc = hpDefragPoint(pS, y, iTo, iFrom);
      if( rc==SQLITE_OK ) rc = hpDefragPoint(pS, x, HP_DEFRAG_NONE, iTo);
    }else{
      rc = hpDefragPoint(pS, x, iFrom, iTo);
      if( rc==SQLITE_OK ) rc = hpDefragPoint(pS, y, iTo, iFrom);
    }
  }
#ifndef SQLITE_OMIT_AUTOVACUUM
  if( rc==SQLITE_OK && ISAUTOVACUUM(pBt) ){
    /* x is in pY now */
    rc = hpDefragPtrmap(pS, x, pY);
    if( rc==SQLITE_OK ) rc = hpDefragPtrmap(pS, y, pX);
  }
#endif
  releasePage(pX);
  releasePage(pY);
  return rc;
}

/* Is the slice over?  nDone things have been done in it */
static int hpDefragOver(HpDefragSlice *pS, u32 nDone){
  i64 tCommit = pS->nWrite ? pS->db->hp.tDefrag : 0;
  i64 tNow;
  if( nDone==0 ) return 0;
  if( pS->nWrite>=pS->mxWrite ) return 1;
  tNow = hpDefragNow(pS->db);
#ifdef HP_SYNC
  /* Whoever waits makes slices shorter, but not endless */
  if( nDone%HP_DEFRAG_LOOK==0 && pS->nWrite>0
   && tNow-pS->tBegin>=(pS->tEnd-pS->tBegin)/4
  ){
    unixInodeInfo *pInode = hpTurnInode(pS->pBt);
    if( pInode && hpTurnWaitedSince(pInode, 0) ) return 1;
  }
#endif
  return tNow+tCommit>=pS->tEnd;
}

/* Make the picture, as far as time allows */
static int hpDefragPicture(HpDefragSlice *pS){
  int rc = SQLITE_OK;
  u32 n = 0;
  while( rc==SQLITE_OK && pS->p->eStep!=HP_DEFRAG_MOVE
      && !hpDefragOver(pS, n++)
  ){
    rc = hpDefragMapStep(pS->p, pS->pBt);
    pS->bMade = 1;
    if( AtomicLoad(&pS->db->u1.isInterrupted) ) rc = SQLITE_INTERRUPT;
  }
  return rc;
}

/* Move pages, as long as time allows */
static int hpDefragMoves(HpDefragSlice *pS){
  HpDefrag *p = pS->p;
  int rc = SQLITE_OK;
  assert( p->eStep==HP_DEFRAG_MOVE );
  while( rc==SQLITE_OK && p->iSeq<p->nSeq ){
    Pgno x = p->aSeq[p->iSeq];
    if( p->aKind[x] & HP_DEFRAG_KEEP ){
      p->iSeq++;
      continue;
    }
    if( hpDefragIs(p, p->iTo)==HP_DEFRAG_FIXED
     || (p->aKind[p->aWho[p->iTo]] & HP_DEFRAG_KEEP)!=0
    ){
      p->iTo++;
      continue;
    }
    if( p->aPlace[x]!=p->iTo ){
      if( hpDefragOver(pS, pS->nMove+pS->bMade) ) break;
      if( AtomicLoad(&pS->db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
      hpDefragMapAhead(p, pS->pBt, p->iSeq);
      rc = hpDefragMove(pS, x, p->iTo);
      pS->nMove++;
    }
    if( p->aKind[x] & HP_DEFRAG_WRONG ) p->nLeft--;
    p->iSeq++;
    p->iTo++;
  }
  assert( rc || p->iSeq<p->nSeq || p->nLeft==0 );
  return rc;
}

/*
** All pages are where they are to be.  Cut the file behind the last one.
** Where a root is behind them, the free pages before it become the free list.
*/
static int hpDefragCut(HpDefragSlice *pS){
  HpDefrag *p = pS->p;
  BtShared *pBt = pS->pBt;
  u8 *a1 = pBt->pPage1->aData;
  Pgno iPrev = 1;            /* The trunk before, or page 1 */
  MemPage *pTrunk = 0;
  u32 nFree = 0;
  u32 n = 0;                 /* Leaves of pTrunk */
  Pgno i;
  int rc = hpDefragWrite(pS, pBt->pPage1);
  assert( p->nLeft==0 && p->iSeq==p->nSeq && p->nFin<p->nPage );
  if( rc ) return rc;
  put4byte(&a1[32], 0);
  for(i=p->iEnd+1; i<=p->nFin && rc==SQLITE_OK; i++){
    if( hpDefragIs(p, i)==HP_DEFRAG_FIXED ) continue;
    assert( hpDefragIs(p, p->aWho[i])>=HP_DEFRAG_TRUNK );
    nFree++;
    if( pTrunk && n<hpTrunkMax(pBt) ){
      put4byte(&pTrunk->aData[8+4*n], i);
      put4byte(&pTrunk->aData[4], ++n);
      continue;
    }
    put4byte(iPrev==1 ? &a1[32] : pTrunk->aData, i);
    releasePage(pTrunk);
    pTrunk = 0;
    n = 0;
    iPrev = i;
    rc = btreeGetUnusedPage(pBt, i, &pTrunk, 0);
    if( rc==SQLITE_OK ) rc = hpDefragWrite(pS, pTrunk);
    if( rc==SQLITE_OK ) memset(pTrunk->aData, 0, pBt->pageSize);
  }
  releasePage(pTrunk);
  if( rc==SQLITE_OK ){
    put4byte(&a1[36], nFree);
    put4byte(&a1[28], p->nFin);
    pBt->nPage = p->nFin;
    sqlite3PagerTruncateImage(pBt->pPager, p->nFin);
  }
  return rc;
}

/* Begin a slice: what is known of the file, if it is still true */
static int hpDefragBegin(HpDefragSlice *pS, int iDb){
  BtShared *pBt = pS->pBt;
  HpDefrag **pp = hpExtentDefrag(pBt);
  HpSettings *pSet = &pS->db->hp;
  int rc = SQLITE_OK;
  if( pp==0 ) return SQLITE_NOMEM_BKPT;
  pS->p = *pp;
  *pp = 0;
  if( pS->p && (pS->p->iVersion!=pBt->pPager->iDataVersion
             || pS->p->nPage!=btreePagecount(pBt)) ){
    if( pS->p->eStep!=HP_DEFRAG_MOVE && pSet->nDefragLost<255 ){
      pSet->nDefragLost++;
    }
    sqlite3_free(pS->p);
    pS->p = 0;
  }
  if( pS->p==0 ){
    pS->p = hpDefragMapNew(pS->db, iDb, &rc);
    if( pS->p ) pS->p->bQuick = pSet->nDefragLost>=HP_DEFRAG_LOST;
  }
  if( rc==SQLITE_OK ) rc = saveAllCursors(pBt, 0, 0);
  if( rc==SQLITE_OK ){
    invalidateAllOverflowCache(pBt);
    sqlite3HpExtentForget(pBt);
  }
  return rc;
}

/* COMMIT.  What that took is noted for the next slice */
static int hpDefragCommit(HpDefragSlice *pS, Btree *pBtree){
  HpSettings *pSet = &pS->db->hp;
  i64 t = hpDefragNow(pS->db);
  int rc = sqlite3BtreeCommit(pBtree);
  if( rc==SQLITE_OK && pS->nWrite>0 ){
    i64 tNow = hpDefragNow(pS->db);
    i64 tSlice = pS->tEnd - pS->tBegin;
    pSet->tDefrag = MAX(MIN(tNow-t, 1000000), pSet->tDefrag/8*7);
    if( tNow>pS->tEnd ){
      pSet->nDefrag = MAX(pSet->nDefrag*2/3, HP_DEFRAG_PAGES/4);
    }else if( pS->nWrite>=pSet->nDefrag && tNow-pS->tBegin<tSlice/4*3 ){
      pSet->nDefrag += pSet->nDefrag/2;
    }
  }
  return rc;
}

/* The work of a slice of at most nMs milliseconds; see above */
static int hpDefragSlice(HpDefragSlice *pS, Btree *pBtree, int iDb, int nMs){
  BtShared *pBt = pS->pBt;
  int bFull = 0;             /* The commit empties the free list */
  int rc;
  assert( sqlite3BtreeTxnState(pBtree)==SQLITE_TXN_WRITE );
#ifndef SQLITE_OMIT_AUTOVACUUM
  bFull = pBt->autoVacuum && !pBt->incrVacuum
       && get4byte(&pBt->pPage1->aData[36])>0;
#endif
  /* An eighth is for what is not foreseen */
  pS->tEnd = pS->tBegin + (i64)nMs*875;
  if( pS->db->hp.nDefrag==0 ){
    pS->db->hp.nDefrag = HP_DEFRAG_PAGES;
    pS->db->hp.tDefrag = HP_DEFRAG_GUESS;
  }
  pS->mxWrite = (u32)MAX(numberOfCachePages(pBt->pPager->pPCache)/4*3, 16);
  pS->mxWrite = MIN(pS->mxWrite, pS->db->hp.nDefrag);
#ifndef SQLITE_OMIT_WAL
  if( pagerUseWal(pBt->pPager) ){
    pS->mxWrite = MIN(pS->mxWrite, HP_DEFRAG_LOG/pBt->pageSize);
  }
#endif
  rc = hpDefragBegin(pS, iDb);
  if( rc==SQLITE_OK && bFull && pS->db->xAutovacPages==0 ){
    rc = hpDefragWrite(pS, pBt->pPage1);
  }else if( rc==SQLITE_OK ){
    rc = hpDefragPicture(pS);
    if( rc==SQLITE_OK && pS->p->eStep==HP_DEFRAG_MOVE ){
      pS->db->hp.nDefragLost = pS->p->bQuick ? HP_DEFRAG_LOST-1 : 0;
      rc = hpDefragMoves(pS);
      if( rc==SQLITE_OK && pS->p->iSeq==pS->p->nSeq
       && pS->p->nFin<pS->p->nPage
      ){
        rc = hpDefragCut(pS);
        pS->p->nPage = 0;
      }
    }
  }
  if( rc==SQLITE_OK ) rc = hpDefragCommit(pS, pBtree);
  if( bFull && rc==SQLITE_OK ) pS->p->nPage = 0;
  return rc;
}

/* hp_defrag_may(): may there be a slice now? */
static void hpDefragMayFunc(
  sqlite3_context *ctx,
  int nArg,
  sqlite3_value **apArg
){
  sqlite3 *db = sqlite3_context_db_handle(ctx);
  UNUSED_PARAMETER2(nArg, apArg);
  if( !db->autoCommit ){
    sqlite3_result_error(ctx, "cannot defragment from within a transaction",
                         -1);
  }else if( db->nVdbeActive>1 ){
    sqlite3_result_error(ctx, "cannot defragment - SQL statements in progress",
                         -1);
  }
}

/*
** hp_defrag_slice(database, milliseconds): pages moved in the upper 32 bits of
** the result, pages left in the lower ones.
*/
static void hpDefragSliceFunc(
  sqlite3_context *ctx,
  int nArg,
  sqlite3_value **apArg
){
  sqlite3 *db = sqlite3_context_db_handle(ctx);
  const int iDb = sqlite3_value_int(apArg[0]);
  Btree *pBtree = db->aDb[iDb].pBt;
  HpDefragSlice s;
  u32 nLeft = 0;
  int rc;
  assert( nArg==2 && iDb<db->nDb && pBtree!=0 );
  UNUSED_PARAMETER(nArg);
  memset(&s, 0, sizeof(s));
  s.db = db;
  s.pBt = pBtree->pBt;
  s.tBegin = hpDefragNow(db);
  sqlite3BtreeEnter(pBtree);
  rc = hpDefragSlice(&s, pBtree, iDb, sqlite3_value_int(apArg[1]));
  if( rc==SQLITE_OK ){
    const HpDefrag *p = s.p;
    if( p->nPage==0 ){
      /* The file was cut, or SQLite moved pages */
      nLeft = p->eStep==HP_DEFRAG_MOVE ? p->nLeft : btreePagecount(s.pBt);
    }else if( p->eStep==HP_DEFRAG_MOVE ){
      nLeft = p->nLeft;
    }else{
      nLeft = p->nPage;
    }
    if( nLeft>0 && p->nPage>0 ){
      HpDefrag **pp = hpExtentDefrag(s.pBt);
      s.p->iVersion = s.pBt->pPager->iDataVersion;
      if( pp ){
        assert( *pp==0 );
        *pp = s.p;
        s.p = 0;
      }
    }
  }
  sqlite3_free(s.p);
  sqlite3BtreeLeave(pBtree);
  if( rc ){
    sqlite3_result_error_code(ctx, rc);
  }else{
    sqlite3_result_int64(ctx, (i64)s.nMove<<32 | nLeft);
  }
}

static FuncDef aHpDefragFunc[] = {
  FUNCTION(hp_defrag_may, 0, 0, 0, hpDefragMayFunc),
  FUNCTION(hp_defrag_slice, 2, 0, 0, hpDefragSliceFunc),
};

/*
** Called for a PRAGMA that nobody knows.  If it is hp_defrag code a slice for
** database iDb, and return true.  zRight is the number of milliseconds, or
** NULL.
*/
SQLITE_PRIVATE int sqlite3HpDefrag(
  Parse *pParse,
  const char *zLeft,
  const char *zRight,
  int iDb
){
  sqlite3 *db = pParse->db;
  Vdbe *v = sqlite3GetVdbe(pParse);
  const Schema *pSchema;
  const Pager *pPager;
  int nMs = HP_DEFRAG_MS;
  int iReg;
  assert( sqlite3_mutex_held(db->mutex) );
  if( v==0 || sqlite3StrICmp(zLeft, "hp_defrag")!=0 ) return 0;
  if( zRight
   && (!sqlite3GetInt32(zRight, &nMs) || nMs<1 || nMs>HP_DEFRAG_MX_MS)
  ){
    sqlite3ErrorMsg(pParse, "hp_defrag takes 1 to %d milliseconds",
                    HP_DEFRAG_MX_MS);
    return 1;
  }
  if( sqlite3ReadSchema(pParse) ) return 1;
  pSchema = db->aDb[iDb].pSchema;
  iReg = pParse->nMem+1;
  pParse->nMem += 4;
  sqlite3VdbeSetNumCols(v, 2);
  sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "moved", SQLITE_STATIC);
  sqlite3VdbeSetColName(v, 1, COLNAME_NAME, "left", SQLITE_STATIC);
  pPager = db->aDb[iDb].pBt ? sqlite3BtreePager(db->aDb[iDb].pBt) : 0;
  if( pPager==0 || pPager->memDb || pPager->tempFile ){
    sqlite3VdbeMultiLoad(v, iReg, "ii", 0, 0);
    return 1;
  }
  sqlite3VdbeAddFunctionCall(pParse, 0, iReg, iReg, 0, &aHpDefragFunc[0], 0);
  sqlite3VdbeAddOp4Int(v, OP_Transaction, iDb, 1, pSchema->schema_cookie,
                       pSchema->iGeneration);
  sqlite3VdbeChangeP5(v, 1);
  sqlite3VdbeUsesBtree(v, iDb);
  sqlite3VdbeAddOp2(v, OP_Integer, iDb, iReg);
  sqlite3VdbeAddOp2(v, OP_Integer, nMs, iReg+1);
  sqlite3VdbeAddFunctionCall(pParse, 0, iReg, iReg+2, 2, &aHpDefragFunc[1], 0);
  sqlite3VdbeAddOp2(v, OP_Integer, 32, iReg);
  sqlite3VdbeAddOp3(v, OP_ShiftRight, iReg, iReg+2, iReg+1);
  sqlite3VdbeAddOp3(v, OP_ShiftLeft, iReg, iReg+2, iReg+2);
  sqlite3VdbeAddOp3(v, OP_ShiftRight, iReg, iReg+2, iReg+2);
  sqlite3VdbeAddOp2(v, OP_ResultRow, iReg+1, 2);
  return 1;
}
#endif /* SQLITE_OMIT_HP */
