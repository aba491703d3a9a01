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
** In VACUUM nothing is checked that SQLite does not check: entries that are out
** of order in a damaged file are so in its copy.  An error ends the statement,
** and with it the new database.
**
** INSERT INTO t SELECT * FROM s is the same loop where both tables are alike.
** It counts changes and keeps the last rowid, and it looks for each rowid in t.
** So t has to be empty, and rowids that are not in order are SQLITE_CORRUPT.
** With a hook for the rows it is left to SQLite.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Entries between looks at the interrupt flag and the progress handler, and
** instructions that SQLite runs for each */
#define HP_COPY_POLL  1024
#define HP_COPY_STEPS 4

/*
** The entry that pFrom is at as a cell of a leaf, if it is one as it stands:
** its bytes, and *pn of them.  Else NULL.
*/
static const u8 *hpCopyCell(BtCursor *pFrom, u32 *pn){
  MemPage *pPage = pFrom->pPage;
  const u8 *z = findCell(pPage, pFrom->ix);
  u32 n;
  getCellInfo(pFrom);
  n = pFrom->info.nSize;
  assert( pFrom->eState==CURSOR_VALID && n>=4 );
  if( pFrom->info.nLocal!=pFrom->info.nPayload ) return 0;
  if( z+n>pPage->aDataEnd ) return 0;
  *pn = n - pPage->childPtrSize;
  /* A leaf's cell has four bytes at least, and of the shortest ones not all of
  ** these belong to it */
  return *pn<=4 ? 0 : z + pPage->childPtrSize;
}

/*
** Copy all entries of pFrom to pLayer, as cells of pTo, which is at the root of
** its b-tree.  bNumber: with new rowids.
*/
static int hpCopyCells(
  Vdbe *v,
  BtCursor *pFrom,
  BtCursor *pTo,
  HpLayer *pLayer,
  int bNumber
){
  int bVacuum = (v->db->mDbFlags & DBFLAG_Vacuum)!=0;
  BtShared *pBt = pTo->pBt;
  int bTable = pTo->pKeyInfo==0;
  int bAsItIs = !bNumber && pBt->usableSize==pFrom->pBt->usableSize;
  i64 iRowid = 0;
  u32 nTold = 0;
  int bEmpty = 0;
  int rc = sqlite3BtreeFirst(pFrom, &bEmpty);
  assert( bTable==(pFrom->pKeyInfo==0) && (bTable || !bNumber) );
  if( rc || bEmpty ) return rc;
  while( rc==SQLITE_OK ){
    const u8 *aCell;
    u32 n = 0;
    if( bNumber ){
      iRowid++;
    }else if( bTable ){
      i64 iLast = iRowid;
      iRowid = sqlite3BtreeIntegerKey(pFrom);
      if( !bVacuum && nTold>0 && iRowid<=iLast ){
        rc = SQLITE_CORRUPT_PGNO(pFrom->pgnoRoot);
        break;
      }
    }
    aCell = bAsItIs ? hpCopyCell(pFrom, &n) : 0;
    if( aCell==0 ){
      rc = sqlite3BtreeTransferRow(pTo, pFrom, iRowid);
      if( rc ) break;
      while( pBt->nPreformatSize<4 ) pBt->pTmpSpace[pBt->nPreformatSize++] = 0;
      aCell = pBt->pTmpSpace;
      n = (u32)pBt->nPreformatSize;
    }
    rc = hpLayerCell(pLayer, aCell, n, iRowid);
    if( rc==SQLITE_OK && ++nTold%HP_COPY_POLL==0
     && (hpThreadSteps(v, HP_COPY_POLL*HP_COPY_STEPS)
         || AtomicLoad(&v->db->u1.isInterrupted))
    ){
      rc = SQLITE_INTERRUPT;
    }
    if( rc==SQLITE_OK ) rc = sqlite3BtreeNext(pFrom, 0);
  }
  if( !bVacuum && nTold>0 ){
    v->nChange += nTold;
    v->db->lastRowid = iRowid;
  }
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
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
  HpLayer *pLayer = 0;
  int bLarge;
  int rc;
  UNUSED_PARAMETER(aMem);
  UNUSED_PARAMETER(piNext);
  assert( v->apCsr[pOp->p1]->eCurType==CURTYPE_BTREE );
  if( (db->mDbFlags & DBFLAG_Vacuum)==0 && hpDeferrableIsHooked(db) ){
    return HP_DECLINE;
  }
  rc = hpTaskScanIsLarge(db, pFrom->pBtree, pFrom->pgnoRoot,
                         pFrom->pKeyInfo!=0, &bLarge);
  if( rc || !bLarge ) return HP_DECLINE;
  if( !hpCopyIsEmpty(pTo) ) return HP_DECLINE;
  rc = hpLayerNew(pTo->pBtree, pTo->pgnoRoot, &pLayer);
  if( rc==SQLITE_OK ) rc = hpCopyCells(v, pFrom, pTo, pLayer, pPlan->bNumber);
  if( rc==SQLITE_OK ) rc = hpLayerEnd(pLayer);
  hpLayerFree(pLayer);
  hpCopyLeave(v, pTo, rc);
  if( rc==SQLITE_OK ) hpConfigStat(db, HP_STAT_COPIED);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
