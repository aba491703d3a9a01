/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_deferwrite: changes of an index that have waited go into its b-tree.
**
**    hpDeferWrite()     all of them, in order
**
** There are two ways.  Where the b-tree has about as many entries as change, it
** is written anew: its entries are read, put in order with the changes, and
** those that remain go to storage/hp_layer.c.  Nothing is changed before it is
** known that each deletion has its entry.
**
** Else each change is done by SQLite's own functions, in the order of keys.
** That alone is several times faster than in any other order: each page is
** looked for once, and is in the processor's cache while it changes.  And where
** the next key belongs to the leaf that the cursor is on, which two comparisons
** tell, the search begins there (hpDeferSeek()).
**
** An entry that is to be deleted and is not there is an error of the statement,
** as in OP_IdxDelete.  So is SQLITE_CONSTRAINT_UNIQUE: an entry that has to be
** unique is not, and the statement begins again (hp_defer.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Changes between looks at the interrupt flag, and between calls of the
** progress handler: a power of two */
#define HP_DEFER_POLL  8192

/* The b-tree is written anew if it has at most so many bytes for each one that
** changes */
#define HP_DEFER_ANEW  2

/* Of so many bytes a b-tree is not asked for its size */
#define HP_DEFER_LEAST 65536

/*
** Is the statement to go on, after nDone changes?
*/
static int hpDeferPoll(const HpDefer *p, u32 nDone){
  sqlite3 *db = p->db;
  assert( sqlite3_mutex_held(db->mutex) );
  /* Not those of a transaction: a query that is interrupted leaves it alone */
  if( p->pBtree || (nDone & (HP_DEFER_POLL-1)) ) return SQLITE_OK;
#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
  if( db->xProgress && db->xProgress(db->pProgressArg) ){
    return SQLITE_INTERRUPT;
  }
#endif
  return AtomicLoad(&db->u1.isInterrupted) ? SQLITE_INTERRUPT : SQLITE_OK;
}

/*
** The order of cell i of leaf pPage and key pKey: negative, 0, positive.  99:
** the cell has overflow pages, or is damaged.
*/
static int hpDeferCompare(
  MemPage *pPage,
  int i,
  UnpackedRecord *pKey,
  RecordCompare xCompare
){
  int c = indexCellCompare(pPage, i, pKey, xCompare);
  assert( i>=0 && i<pPage->nCell );
  if( pKey->errCode ){
    pKey->errCode = SQLITE_OK;
    return 99;
  }
  return c;
}

/*
** Is the place of pKey on the leaf that pCur is on, between its first cell and
** its last?  Then move pCur there, as sqlite3BtreeIndexMoveto() does, with the
** same *pRes.
*/
static int hpDeferNear(BtCursor *pCur, UnpackedRecord *pKey, int *pRes){
  MemPage *pPage = pCur->pPage;
  RecordCompare xCompare;
  int iLow, iHigh, i, c;
  if( pCur->eState!=CURSOR_VALID || pCur->iPage<=0 ) return 0;
  if( pPage->leaf==0 || pPage->nCell<2 || pPage->intKey ) return 0;
  if( pPage->isInit==0 || pPage->nOverflow ) return 0;
  xCompare = sqlite3VdbeFindCompare(pKey);
  pKey->errCode = SQLITE_OK;
  iHigh = pPage->nCell-1;
  c = hpDeferCompare(pPage, iHigh, pKey, xCompare);
  if( c<=0 || c==99 ) return 0;
  c = hpDeferCompare(pPage, 0, pKey, xCompare);
  if( c>=0 ) return 0;
  /* Keys come in order, so it is behind the cell that the cursor is on */
  iLow = MIN(pCur->ix, iHigh-1);
  if( iLow>0 && hpDeferCompare(pPage, iLow, pKey, xCompare)>=0 ) iLow = 0;
  /* Cell iLow is less than the key, cell iHigh greater */
  *pRes = -1;
  while( iHigh-iLow>1 && *pRes<0 ){
    i = (iLow+iHigh)/2;
    c = hpDeferCompare(pPage, i, pKey, xCompare);
    if( c==99 ) return 0;
    if( c>0 ){
      iHigh = i;
    }else{
      iLow = i;
      *pRes = c;
    }
  }
  assert( *pRes<=0 && iLow<pPage->nCell );
  pCur->ix = (u16)iLow;
  pCur->info.nSize = 0;
  pCur->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl|BTCF_AtLast);
  return 1;
}

/* sqlite3BtreeIndexMoveto(), where the last key was a little less than this */
static int hpDeferSeek(BtCursor *pCur, UnpackedRecord *pKey, int *pRes){
  assert( pCur->pKeyInfo!=0 && pKey->default_rc==0 );
  if( hpDeferNear(pCur, pKey, pRes) ) return SQLITE_OK;
  return sqlite3BtreeIndexMoveto(pCur, pKey, pRes);
}

/*
** Delete the entry of pKey, as OP_IdxDelete does.
*/
static int hpDeferDelete(HpDefer *p, BtCursor *pCur, UnpackedRecord *pKey){
  int res = 0;
  int rc = hpDeferSeek(pCur, pKey, &res);
  if( rc ) return rc;
  if( res!=0 ){
    if( p->pIndex ){
      rc = sqlite3VdbeFindIndexKey(pCur, p->pIndex, pKey, &res, 0);
      if( rc ) return rc;
    }
    if( res!=0 ){
      if( sqlite3WritableSchema(p->db) ) return SQLITE_OK;
      return sqlite3ReportError(SQLITE_CORRUPT_INDEX, __LINE__,
                                "index corruption");
    }
  }
  rc = sqlite3BtreeDelete(pCur, BTREE_AUXDELETE|BTREE_SAVEPOSITION);
  if( rc==SQLITE_OK && pCur->eState==CURSOR_SKIPNEXT ){
    /* It is on an entry beside the one deleted, of the same leaf */
    pCur->eState = CURSOR_VALID;
    pCur->skipNext = 0;
  }
  return rc;
}

/* Is one of the columns of pKey NULL? */
static int hpDeferHasNull(const UnpackedRecord *pKey){
  int i;
  for(i=0; i<pKey->nField && (pKey->aMem[i].flags & MEM_Null)==0; i++){}
  return i<pKey->nField;
}

/*
** Insert an entry, as OP_IdxInsert does, and before it OP_NoConflict if it has
** to be unique.
*/
static int hpDeferInsert(
  HpDefer *p,
  UnpackedRecord *pKey,
  const u8 *aRecord,
  u32 n
){
  BtCursor *pCur = p->pCur;
  u16 nField = pKey->nField;
  BtreePayload x;
  int res = 0;
  int rc;
  if( p->bUnique ) pKey->nField = (u16)p->nKeyCol;
  rc = hpDeferSeek(pCur, pKey, &res);
  if( rc==SQLITE_OK && res==0 && p->bUnique ){
    if( !hpDeferHasNull(pKey) ) return SQLITE_CONSTRAINT_UNIQUE;
    pKey->nField = nField;
    rc = hpDeferSeek(pCur, pKey, &res);
  }
  if( rc ) return rc;
  assert( pKey->nField<=nField );
  memset(&x, 0, sizeof(x));
  x.pKey = aRecord;
  x.nKey = n;
  x.aMem = pKey->aMem;
  x.nMem = pKey->nField;
  rc = sqlite3BtreeInsert(pCur, &x, 0, res);
  pKey->nField = nField;     /* As many are unpacked the next time */
  return rc;
}

/*
** Do the changes one after the other.
*/
static int hpDeferEach(HpDefer *p, UnpackedRecord *pKey){
  BtCursor *pCur = p->pCur;
  u32 i;
  int rc = SQLITE_OK;
  assert( (pCur->curFlags & BTCF_WriteFlag)!=0 );
  for(i=0; i<p->run.nEntry && rc==SQLITE_OK; i++){
    const HpPair *pPair = (const HpPair*)p->run.aSorted[i].aEntry;
    u32 n;
    const u8 *a = hpChangeEntry(p, pPair, &n);
    if( i+1<p->run.nEntry ) hpPrefetch(p->run.aSorted[i+1].aEntry);
    sqlite3VdbeRecordUnpack((int)n, a, pKey);
    pKey->default_rc = 0;
    pKey->eqSeen = 0;
    if( hpChangeNumber(pPair) & 1 ){
      rc = hpDeferDelete(p, pCur, pKey);
    }else{
      rc = hpDeferInsert(p, pKey, a, n);
    }
    if( rc==SQLITE_OK ) rc = hpDeferPoll(p, i+1);
  }
  return rc;
}

/*
** Is the b-tree small beside the changes?
*/
static int hpDeferIsSmall(const HpDefer *p){
  BtCursor *pCur = p->pCur;
  i64 nChange = p->nRecord + 4*(i64)p->run.nEntry;
  HpTreeSize x;
  if( p->bPart || nChange<HP_DEFER_LEAST ) return 0;
  if( hpTreeSize(pCur->pBt, pCur->pgnoRoot, &x) ) return 0;
  return (x.nLeaf+x.nOverflow)*pCur->pBt->usableSize <= nChange*HP_DEFER_ANEW;
}

/*
** Put the entries of the b-tree to the changes.  HP_DECLINE: they are not what
** entries should be, or too many.
*/
static int hpDeferRead(HpDefer *p){
  BtCursor *pCur = p->pCur;
  HpBuf last, copy;
  u32 nRead = 0;
  int bEmpty = 0;
  int rc = sqlite3BtreeFirst(pCur, &bEmpty);
  memset(&last, 0, sizeof(last));
  memset(&copy, 0, sizeof(copy));
  while( rc==SQLITE_OK && !bEmpty ){
    u32 n = sqlite3BtreePayloadSize(pCur);
    u32 nLocal;
    const u8 *a = sqlite3BtreePayloadFetch(pCur, &nLocal);
    if( p->nByte>2*p->nMost || n>SQLITE_MAX_LENGTH ) rc = HP_DECLINE;
    if( rc==SQLITE_OK && nLocal<n ){
      copy.n = 0;
      rc = hpBufRoom(&copy, n);
      a = copy.a;
      if( rc==SQLITE_OK ) rc = sqlite3BtreePayload(pCur, 0, n, copy.a);
    }
    if( rc==SQLITE_OK ) rc = hpChangeKey(p, a, n);
    if( rc ) break;
    if( p->nField!=p->nColumn
     || (last.n>0 && memcmp(last.a, p->key.a, MIN(last.n, p->key.n))>=0)
    ){
      rc = HP_DECLINE;
      break;
    }
    last.n = 0;
    rc = hpBufAppend(&last, p->key.a, p->key.n);
    if( rc==SQLITE_OK ) rc = hpChangePut(p, 0, a, n);
    if( rc==SQLITE_OK ) rc = hpDeferPoll(p, ++nRead);
    if( rc==SQLITE_OK ){
      rc = sqlite3BtreeNext(pCur, 0);
      if( rc==SQLITE_DONE ){
        rc = SQLITE_OK;
        break;
      }
    }
  }
  sqlite3_free(last.a);
  sqlite3_free(copy.a);
  return rc;
}

/*
** All entries and changes are in order: leave of them the entries that the
** b-tree is to have.  HP_DECLINE: one that is to be deleted is not there, or
** two of the b-tree are not unique.
*/
static int hpDeferRemain(HpDefer *p){
  struct HpSorted *a = p->run.aSorted;
  u32 n = p->run.nEntry;
  u32 i, k;
  u32 nOut = 0;
  for(i=1; p->bUnique && i<n; i++){
    const HpPair *pPair = (const HpPair*)a[i].aEntry;
    const HpPair *pBefore = (const HpPair*)a[i-1].aEntry;
    if( hpChangeIsTwice(pBefore, pPair) ){
      return hpChangeNumber(pBefore) || hpChangeNumber(pPair)
           ? SQLITE_CONSTRAINT_UNIQUE : HP_DECLINE;
    }
  }
  for(i=0; i<n; i=k){
    const HpPair *pLast = 0;
    for(k=i; k<n; k++){
      const HpPair *pPair = (const HpPair*)a[k].aEntry;
      if( k>i && !hpChangeIsSame((const HpPair*)a[i].aEntry, pPair) ) break;
      if( (hpChangeNumber(pPair) & 1)==0 ){
        pLast = pPair;
      }else{
        if( pLast==0 ) return HP_DECLINE;
        pLast = 0;
      }
    }
    /* What is still to be read is behind */
    if( pLast ) a[n+nOut++].aEntry = (u8*)pLast;
  }
  for(i=0; i<nOut; i++) a[i] = a[n+i];
  p->run.nEntry = nOut;
  assert( nOut<=n );
  return SQLITE_OK;
}

/* The entries that were read are forgotten, and the changes are left */
static void hpDeferUnread(HpDefer *p){
  struct HpSorted *a = p->run.aSorted;
  u32 n = 0;
  u32 i;
  for(i=0; i<p->run.nEntry; i++){
    if( hpChangeNumber((const HpPair*)a[i].aEntry)>0 ) a[n++] = a[i];
  }
  assert( n>0 );
  p->run.nEntry = n;
}

/* The cursor stands nowhere, and holds neither a page nor a key */
static void hpDeferLeave(BtCursor *pCur){
  btreeReleaseAllCursorPages(pCur);
  sqlite3BtreeClearCursor(pCur);
  assert( pCur->eState==CURSOR_INVALID );
}

/*
** Write the b-tree anew, of its entries and the changes.  HP_DECLINE: the
** b-tree has not changed, and the changes are in any order.
*/
static int hpDeferAnew(HpDefer *p){
  BtCursor *pCur = p->pCur;
  Btree *pBtree = pCur->pBtree;
  HpLayer *pLayer = 0;
  u32 i, n;
  int rc = hpDeferRead(p);
  if( rc==SQLITE_OK ) rc = hpChangeSort(p);
  if( rc==SQLITE_OK ) rc = hpDeferRemain(p);
  hpDeferLeave(pCur);
  if( rc==HP_DECLINE ) hpDeferUnread(p);
  if( rc ) return rc;
  rc = sqlite3BtreeClearTable(pBtree, (int)pCur->pgnoRoot, 0);
  if( rc==SQLITE_OK && p->run.nEntry>0 ){
    rc = hpLayerNew(pBtree, pCur->pgnoRoot, &pLayer);
    for(i=0; i<p->run.nEntry && rc==SQLITE_OK; i++){
      const HpPair *pPair = (const HpPair*)p->run.aSorted[i].aEntry;
      const u8 *a = hpChangeEntry(p, pPair, &n);
      hpPrefetch(p->run.aSorted[MIN(i+8, p->run.nEntry-1)].aEntry);
      rc = hpLayerAdd(pLayer, a, n);
      if( rc==SQLITE_OK ) rc = hpDeferPoll(p, i+1);
    }
    if( rc==SQLITE_OK ) rc = hpLayerEnd(pLayer);
    hpLayerFree(pLayer);
  }
  assert( rc!=HP_DECLINE );
  return rc;
}

/*
** All changes of p go into the b-tree of pIndex, by way of cursor pCur, which
** stands nowhere, and are forgotten.  An error is that of the statement.
*/
static int hpDeferWrite(HpDefer *p, BtCursor *pCur, Index *pIndex){
  int rc = HP_DECLINE;
  if( p->run.nEntry==0 ) return SQLITE_OK;
  assert( pCur->eState==CURSOR_INVALID );
  p->pCur = pCur;
  p->pIndex = pIndex;
  if( hpDeferIsSmall(p) ) rc = hpDeferAnew(p);
  if( rc==HP_DECLINE ){
    UnpackedRecord *pKey = sqlite3VdbeAllocUnpackedRecord(p->pInfo);
    rc = pKey ? hpChangeSort(p) : SQLITE_NOMEM_BKPT;
    if( rc==SQLITE_OK ) rc = hpDeferEach(p, pKey);
    sqlite3DbFree(p->db, pKey);
    hpDeferLeave(pCur);
  }
  p->pCur = 0;
  p->pIndex = 0;
  hpChangeForget(p, 0);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
