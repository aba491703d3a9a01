/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_copy: VACUUM and VACUUM INTO; INSERT INTO an empty table SELECT * FROM.
**
**    hpCopyRun()       copy a b-tree into an empty one: HpPlan.xTask
**    hpCopyIsEmpty(), hpCopyLeave()    may one be written by way of a cursor;
**                      it has been
**
** VACUUM makes the schema anew in another database, and runs for each table
** INSERT INTO new SELECT * FROM old, which SQLite codes as a loop that takes
** cell after cell of the table, and then of each index, and inserts it at the
** end of the new b-tree.  Here the cells go to hp_layer.c.  Those that fit on
** their page go there as they are.  Others, and all that get a new rowid or
** another page size, are made by sqlite3BtreeTransferRow(), as in SQLite.
**
** Rowids.  A table without INTEGER PRIMARY KEY and without indexes gets new
** ones, 1, 2, 3 and so on, but not by VACUUM INTO: the plan says so (bNumber).
**
** INSERT INTO t SELECT * FROM s has the same loops where both tables are alike.
** The one over rows counts changes, and keeps the last rowid if there is one.
** With a hook for the rows it is left to SQLite.
**
** Order.  SQLite looks for the place of each entry, so what a damaged file has
** in another order is in order in the copy, and of equal entries one remains.
** Here each entry has to be greater than the one before, by SQLite's own
** comparison, and a record that nothing is wrong with.  If one is not, what has
** been copied is taken back, and SQLite's loop begins anew: such a file takes
** longer, and comes out as ever.  The same is done if the source cannot be
** read.  (If the copy cannot be written, that is an error as in SQLite.)
**
** VACUUM does not look at the order where all collations are BINARY: entries
** that are out of order are so in its copy.  An error ends the statement, and
** with it the new database.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Entries between looks at the interrupt flag and the progress handler, and
** instructions that SQLite runs for each */
#define HP_COPY_POLL  1024
#define HP_COPY_STEPS 4

/* Bytes behind a record that comparisons may read */
#define HP_COPY_SPARE 80

/* A b-tree that is being copied */
typedef struct HpCopy HpCopy;
struct HpCopy {
  Vdbe *v;
  BtCursor *pFrom;
  BtCursor *pTo;         /* At the root of its b-tree, which is empty */
  HpLayer *pLayer;
  u8 bVacuum;
  u8 bNumber;            /* With new rowids */
  u8 bTable;             /* It is that of a table: rowids, not records */
  i64 iRowid;            /* ... that of the last entry */
  u64 nEntry;            /* Entries so far */
  UnpackedRecord *pKey;  /* For comparisons.  NULL: order does not matter */
  HpBuf now;             /* The record of this entry, ... */
  HpBuf last;            /* ... and that of the one before */
};

/*
** Is a[0..n-1], with HP_COPY_SPARE bytes behind it, the record of an entry as
** SQLite writes them?  Only of these it is sure that their order does not
** depend on what they are compared with.
*/
static int hpCopyIsSound(const KeyInfo *pInfo, const u8 *a, u32 n){
  u32 nHdr, iHdr;
  u64 nByte;
  int nField = 0;
  iHdr = getVarint32(a, nHdr);
  if( nHdr>n || nHdr<=iHdr || (nHdr<0x80 && iHdr>1) ) return 0;
  nByte = nHdr;
  while( iHdr<nHdr ){
    u32 t = a[iHdr];
    if( t<0x80 ){
      if( t==10 || t==11 ) return 0;
      nByte += sqlite3SmallTypeSizes[t];
      iHdr++;
    }else{
      iHdr += getVarint32(&a[iHdr], t);
      if( t<0x80 ) return 0;
      nByte += sqlite3VdbeSerialTypeLen(t);
    }
    nField++;
  }
  assert( pInfo->nKeyField<=pInfo->nAllField );
  return iHdr==nHdr && nByte<=n
      && nField>=pInfo->nKeyField && nField<=pInfo->nAllField;
}

/*
** Let p->now be a record of n bytes, and p->last the one before.  They are
** a[], or if that is NULL those of the entry that p->pFrom is at.
*/
static int hpCopyKeep(HpCopy *p, const u8 *a, u32 n){
  HpBuf x = p->last;
  int rc = SQLITE_OK;
  p->last = p->now;
  p->now = x;
  p->now.n = 0;
  if( hpBufRoom(&p->now, n+HP_COPY_SPARE) ) return HP_DECLINE;
  if( a ){
    memcpy(p->now.a, a, n);
  }else{
    rc = sqlite3BtreePayload(p->pFrom, 0, n, p->now.a);
  }
  memset(&p->now.a[n], 0, HP_COPY_SPARE);
  p->now.n = n;
  assert( p->now.n+HP_COPY_SPARE<=p->now.nAlloc );
  return rc;
}

/*
** Is p->now greater than p->last?  Both are sound.  False if that is not sure:
** only integers are compared here, and texts as BINARY does.
*/
static SQLITE_INLINE int hpCopyIsGreater(const HpCopy *p){
  const KeyInfo *pInfo = p->pTo->pKeyInfo;
  const u8 *aNow = p->now.a;
  const u8 *aLast = p->last.a;
  const u8 *z = &aNow[aNow[0]];
  const u8 *zLast = &aLast[aLast[0]];
  int i;
  if( (aNow[0] | aLast[0]) & 0x80 ) return 0;
  for(i=0; i<pInfo->nKeyField; i++){
    u32 t = aNow[i+1];
    u32 tLast = aLast[i+1];
    int c;
    if( (t | tLast) & 0x80 ) return 0;
    if( t-1<9 && tLast-1<9 && t!=7 && tLast!=7 ){
      i64 x = hpSerialGet(&aHpSer[t], z);
      i64 y = hpSerialGet(&aHpSer[tLast], zLast);
      c = x<y ? -1 : x>y;
    }else if( t>=13 && tLast>=13 && (t & tLast & 1)
     && (pInfo->aColl[i]==0 || sqlite3IsBinary(pInfo->aColl[i]))
    ){
      c = memcmp(z, zLast, MIN((t-13)/2, (tLast-13)/2));
      if( c==0 ) c = (int)t - (int)tLast;
    }else{
      return 0;
    }
    if( c ) return pInfo->aSortFlags[i] ? 0 : c>0;
    z += sqlite3SmallTypeSizes[t];
    zLast += sqlite3SmallTypeSizes[tLast];
  }
  return 0;
}

/*
** Does the entry with that record, n bytes as in hpCopyKeep(), belong behind
** all those before it?  Of an index.  HP_DECLINE: no, or that is not sure.
*/
static int hpCopyOrder(HpCopy *p, const u8 *a, u32 n){
  const KeyInfo *pInfo = p->pTo->pKeyInfo;
  UnpackedRecord *pKey = p->pKey;
  int c, rc;
  /* SQLite has errors for these */
  if( n>(u32)p->v->db->aLimit[SQLITE_LIMIT_LENGTH]
   || n>(u64)sqlite3BtreeMaxRecordSize(p->pFrom)
  ){
    return HP_DECLINE;
  }
  rc = hpCopyKeep(p, a, n);
  if( rc ) return rc;
  if( !hpCopyIsSound(pInfo, p->now.a, n) ) return HP_DECLINE;
  if( p->nEntry==0 || hpCopyIsGreater(p) ) return SQLITE_OK;
  pKey->nField = pInfo->nKeyField+1;
  pKey->errCode = SQLITE_OK;
  pKey->eqSeen = 0;
  sqlite3VdbeRecordUnpack((int)n, p->now.a, pKey);
  assert( pKey->default_rc==0 && pKey->nField>0 );
  c = sqlite3VdbeFindCompare(pKey)((int)p->last.n, p->last.a, pKey);
  if( pKey->errCode==SQLITE_NOMEM ) return SQLITE_NOMEM_BKPT;
  return c<0 && pKey->errCode==SQLITE_OK ? SQLITE_OK : HP_DECLINE;
}

/*
** Does the entry that comes next, of a table the one with iRowid, belong behind
** all those before it?  n and a are the bytes of its record, or a is NULL.
*/
static SQLITE_INLINE int hpCopyNext(HpCopy *p, i64 iRowid, const u8 *a, u32 n){
  if( p->pKey ) return hpCopyOrder(p, a, n);
  if( p->bTable && !p->bVacuum ){
    if( p->nEntry>0 && iRowid<=p->iRowid ) return HP_DECLINE;
#ifdef SQLITE_ENABLE_PREUPDATE_HOOK
    /* SQLite puts the row into a register, and has an error for this */
    if( n>(u32)p->v->db->aLimit[SQLITE_LIMIT_LENGTH] ) return HP_DECLINE;
#endif
  }
  return SQLITE_OK;
}

/*
** Copy the entry that p->pFrom is at, whatever it is.  *pbRead is set if an
** error is one of the source.
*/
static int hpCopyAny(HpCopy *p, int *pbRead){
  BtShared *pBt = p->pTo->pBt;
  BtCursor *pFrom = p->pFrom;
  i64 iRowid = 0;
  int rc;
  getCellInfo(pFrom);
  if( p->bTable ) iRowid = p->bNumber ? p->iRowid+1 : pFrom->info.nKey;
  *pbRead = 1;
  rc = hpCopyNext(p, iRowid,
                  pFrom->info.nLocal==pFrom->info.nPayload
                      && pFrom->info.pPayload+pFrom->info.nLocal
                             <= pFrom->pPage->aDataEnd
                    ? pFrom->info.pPayload : 0,
                  pFrom->info.nPayload);
  if( rc==SQLITE_OK ) rc = sqlite3BtreeTransferRow(p->pTo, pFrom, iRowid);
  if( rc ) return rc;
  while( pBt->nPreformatSize<4 ) pBt->pTmpSpace[pBt->nPreformatSize++] = 0;
  *pbRead = 0;
  assert( p->bTable==pFrom->pPage->intKey );
  p->nEntry++;
  p->iRowid = iRowid;
  return hpLayerCell(p->pLayer, pBt->pTmpSpace, (u32)pBt->nPreformatSize,
                     iRowid);
}

/*
** Copy the entries from the one that p->pFrom is at to the end of the leaf, as
** they are, up to one that does not fit on a leaf as it is.  p->pFrom is then
** at the last one.  The number of entries is *pn; 0 if the first does not fit.
*/
static int hpCopyLeaf(HpCopy *p, int *pn, int *pbRead){
  BtCursor *pFrom = p->pFrom;
  MemPage *pPage = pFrom->pPage;
  int nCell = pPage->nCell;
  int iFirst = pFrom->ix;
  int i;
  int rc = SQLITE_OK;
  assert( pPage->leaf && pPage->isInit && pPage->nOverflow==0 );
  assert( p->bNumber==0 && pPage->intKey==p->bTable );
  for(i=iFirst; i<nCell && rc==SQLITE_OK; i++){
    const u8 *z = findCell(pPage, i);
    const u8 *a = z;
    u32 nPayload = *a++;
    u64 iRowid = 0;
    if( nPayload & 0x80 ){
      if( *a & 0x80 ) break;
      nPayload = (nPayload & 0x7f)<<7 | *a++;
      if( nPayload<0x80 ) break;
    }
    if( p->bTable ){
      /* Such a number has more bytes than it needs, but for very large ones */
      if( *a==0x80 ) break;
      a += sqlite3GetVarint(a, &iRowid);
    }
    /* A leaf's cell has four bytes at least, and of the shortest ones not all
    ** of these belong to it */
    if( nPayload>pPage->maxLocal || nPayload<4 ) break;
    if( &a[nPayload]>pPage->aDataEnd ) break;
    *pbRead = 1;
    rc = hpCopyNext(p, (i64)iRowid, a, nPayload);
    if( rc ) break;
    *pbRead = 0;
    p->nEntry++;
    p->iRowid = (i64)iRowid;
    rc = hpLayerCell(p->pLayer, z, (u32)(a-z)+nPayload, (i64)iRowid);
  }
  *pn = i-iFirst;
  if( *pn ){
    pFrom->ix = (u16)(i-1);
    pFrom->info.nSize = 0;
    pFrom->curFlags &= ~(BTCF_ValidNKey|BTCF_ValidOvfl);
  }
  return rc;
}

/* Has the statement been told to stop? */
static int hpCopyIsStopped(Vdbe *v, u64 nEntry){
  assert( sqlite3_mutex_held(v->db->mutex) );
  return hpThreadSteps(v, nEntry*HP_COPY_STEPS)
      || AtomicLoad(&v->db->u1.isInterrupted);
}

/*
** Copy all entries.  HP_DECLINE: some of them are in p->pLayer, and SQLite's
** loop is to do it.
*/
static int hpCopyCells(HpCopy *p){
  BtCursor *pFrom = p->pFrom;
  int bAsItIs = !p->bNumber && p->pTo->pBt->usableSize==pFrom->pBt->usableSize;
  u64 nTold = 0;
  int bRead = 1;
  int bEmpty = 0;
  int rc = sqlite3BtreeFirst(pFrom, &bEmpty);
  assert( p->bTable==(pFrom->pKeyInfo==0) );
  while( rc==SQLITE_OK && !bEmpty ){
    int n = 0;
    if( bAsItIs && pFrom->pPage->leaf ) rc = hpCopyLeaf(p, &n, &bRead);
    if( rc==SQLITE_OK && n==0 ) rc = hpCopyAny(p, &bRead);
    if( rc==SQLITE_OK && p->nEntry-nTold>=HP_COPY_POLL ){
      bRead = 0;
      if( hpCopyIsStopped(p->v, p->nEntry-nTold) ) rc = SQLITE_INTERRUPT;
      nTold = p->nEntry;
    }
    if( rc ) break;
    bRead = 1;
    rc = sqlite3BtreeNext(pFrom, 0);
    if( rc==SQLITE_DONE ) return SQLITE_OK;
  }
  /* VACUUM ends, and with it the copy.  Of others SQLite keeps what came before
  ** the damage */
  if( bRead && !p->bVacuum && (rc & 0xff)==SQLITE_CORRUPT ) rc = HP_DECLINE;
  return rc;
}

/*
** Is the b-tree of pTo empty, and is there no other cursor of it?
*/
static int hpCopyIsEmpty(BtCursor *pTo){
  int bEmpty = 0;
  assert( pTo->curFlags & BTCF_WriteFlag );
  return (pTo->curFlags & BTCF_Multiple)==0
      && sqlite3BtreeFirst(pTo, &bEmpty)==SQLITE_OK && bEmpty
      && moveToRoot(pTo)==SQLITE_EMPTY;
}

/*
** Statement v has written the b-tree of pTo, or failed with rc.  Its root is no
** longer what the cursor takes it for.  If it failed without a statement
** journal, pages would be left that belong to nothing.  A full disk and the
** like roll back the transaction then, and so does what is damaged.
*/
static void hpCopyLeave(Vdbe *v, BtCursor *pTo, int rc){
  btreeReleaseAllCursorPages(pTo);
  pTo->eState = CURSOR_INVALID;
  if( rc && v->iStatement==0 && (v->db->mDbFlags & DBFLAG_Vacuum)==0 ){
    v->errorAction = OE_Rollback;
  }
}

/*
** The new b-tree is to be empty again, for SQLite's loop.
*/
static int hpCopyUndo(HpCopy *p){
  BtCursor *pTo = p->pTo;
  int rc = hpLayerEnd(p->pLayer);
  btreeReleaseAllCursorPages(pTo);
  pTo->eState = CURSOR_INVALID;
  if( rc==SQLITE_OK ){
    rc = sqlite3BtreeClearTable(pTo->pBtree, (int)pTo->pgnoRoot, 0);
  }
  assert( pTo->iPage<0 );
  return rc ? rc : HP_DECLINE;
}

/*
** May the entries of pTo be compared?  *pbOrder is set if they have to be.
*/
static int hpCopyMayCompare(const BtCursor *pTo, int bVacuum, int *pbOrder){
  const KeyInfo *pInfo = pTo->pKeyInfo;
  int i;
  *pbOrder = pInfo!=0 && !bVacuum;
  for(i=0; pInfo && i<pInfo->nAllField; i++){
    const CollSeq *pColl = pInfo->aColl[i];
    if( pColl==0 || sqlite3IsBinary(pColl) ) continue;
    if( !hpVecCollIsOwn(pColl) ) return 0;
    *pbOrder = 1;
  }
  assert( pInfo==0 || i==pInfo->nAllField );
  return 1;
}

/*
** Copy the b-tree of cursor P1 of pOp into that of cursor P3.
*/
static int hpCopyRun(
  Vdbe *v,
  const HpPlan *pPlan,
  const VdbeOp *pOp,
  Mem *aMem,
  int *piNext
){
  sqlite3 *db = v->db;
  BtCursor *pFrom = v->apCsr[pOp->p1]->uc.pCursor;
  BtCursor *pTo = v->apCsr[pOp->p3]->uc.pCursor;
  HpCopy x;
  int bLarge, bOrder;
  int rc;
  UNUSED_PARAMETER(aMem);
  UNUSED_PARAMETER(piNext);
  assert( v->apCsr[pOp->p1]->eCurType==CURTYPE_BTREE );
  memset(&x, 0, sizeof(x));
  x.v = v;
  x.pFrom = pFrom;
  x.pTo = pTo;
  x.bVacuum = (db->mDbFlags & DBFLAG_Vacuum)!=0;
  x.bNumber = pPlan->bNumber;
  x.bTable = pTo->pKeyInfo==0;
  if( !x.bVacuum && pPlan->bCounted && hpDeferrableIsHooked(db) ){
    return HP_DECLINE;
  }
  if( !hpCopyMayCompare(pTo, x.bVacuum, &bOrder) ) return HP_DECLINE;
  rc = hpTaskScanIsLarge(db, pFrom->pBtree, pFrom->pgnoRoot,
                         pFrom->pKeyInfo!=0, &bLarge);
  if( rc || !bLarge ) return HP_DECLINE;
  if( !hpCopyIsEmpty(pTo) ) return HP_DECLINE;
  if( bOrder ){
    x.pKey = sqlite3VdbeAllocUnpackedRecord(pTo->pKeyInfo);
    if( x.pKey==0 ) return SQLITE_NOMEM_BKPT;
  }
  rc = hpLayerNew(pTo->pBtree, pTo->pgnoRoot, &x.pLayer);
  if( rc==SQLITE_OK ){
    rc = hpCopyCells(&x);
    if( rc==HP_DECLINE ){
      rc = hpCopyUndo(&x);
    }else if( rc==SQLITE_OK ){
      rc = hpLayerEnd(x.pLayer);
    }
  }
  hpLayerFree(x.pLayer);
  sqlite3DbFree(db, x.pKey);
  sqlite3_free(x.now.a);
  sqlite3_free(x.last.a);
  hpCopyLeave(v, pTo, rc==HP_DECLINE ? SQLITE_OK : rc);
  if( rc ) return rc;
  if( pPlan->bCounted ) v->nChange += x.nEntry;
  if( pPlan->bCounted && x.bTable && x.nEntry>0 ) db->lastRowid = x.iRowid;
  hpConfigStat(db, HP_STAT_COPIED);
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
