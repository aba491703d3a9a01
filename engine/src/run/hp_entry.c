/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_entry: SQLite's cursors go to the rows that were found.
**
**    hpEntryPlace()    the cursor of a table: to a place
**    hpEntryMove()     that of an index, which SQLite's loop searches: to the entry of a row
**    hpEntryAll()      have all rows that were found an entry?
**
** Where SQLite searches an index, and looks rows up, a scan of the table may find sooner which rows
** matter (hp_found.c).  SQLite's loop goes through the entries of the index, and may read columns from
** there, so it is the cursor of the index that has to be led:
**
**           key                      the last instruction in front of the search
**           HpScan P1=r P2=seek      find rows; on HP_DECLINE jump to stock
**           HpRow idx top            entry of the first row found
**           Goto end
**    seek:  SeekGE idx -> end
**    top:   IdxGT idx -> end
**           DeferredSeek idx, table  stock: the row of the entry
**           ...                      stock: filter, sort, output
**           HpRow idx top            entry of the next one; or as OP_Next, if declined
**    end:
**
** The entry of a row is known: the values that are searched for, those of the other columns of the
** index, which the scan has kept (HpFound.aTie), and the rowid.  Where an entry is not there the index
** is damaged: hpEntryAll() declines before the first row is given.
**
** A sorter takes the rows, and nothing of the application's is called for them
** (hpSafe()), so nobody writes to the table meanwhile.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Move pCur, the cursor of a table, to the row at iPlace.
** Rows found are often on the same leaf, or below the same
** interior page: then no way down from the root is needed.
*/
static int hpEntryPlace(HpFound *pFound, BtCursor *pCur, i64 iPlace){
  int nLevel = pFound->nLevel;
  const u16 *aWay = &pFound->aWay[(i64)hpPlaceSeq(iPlace)*nLevel];
  int iCell = hpPlaceCell(iPlace);
  int rc;
  assert( nLevel>=0 && nLevel<BTCURSOR_MAX_DEPTH && iPlace>=0 );
  if( pCur->eState!=CURSOR_VALID || pFound->iPgFound==0
   || pCur->pPage->pgno!=pFound->iPgFound
   || (pFound->iFound>>16)!=(iPlace>>16)
  ){
    int i = nLevel-1;
    if( i>=0 && pCur->eState==CURSOR_VALID && pCur->iPage==nLevel
     && memcmp(pCur->aiIdx, aWay, sizeof(u16)*i)==0
    ){
      moveToParent(pCur);
    }else{
      rc = moveToRoot(pCur);
      if( rc ) return rc==SQLITE_EMPTY ? SQLITE_CORRUPT_BKPT : rc;
      i = 0;
    }
    for(; i<nLevel; i++){
      MemPage *pPage = pCur->pPage;
      int iChild = aWay[i] + (i==nLevel-1 ? hpPlaceLeaf(iPlace) : 0);
      assert( pCur->iPage==i );
      if( pPage->leaf || iChild>pPage->nCell ) return SQLITE_CORRUPT_PAGE(pPage);
      pCur->ix = (u16)iChild;
      rc = moveToChild(pCur, iChild<pPage->nCell
                         ? get4byte(findCell(pPage, iChild))
                         : get4byte(&pPage->aData[pPage->hdrOffset+8]));
      if( rc ) return rc;
    }
    pFound->iPgFound = pCur->pPage->pgno;
  }
  if( !pCur->pPage->intKeyLeaf || iCell>=pCur->pPage->nCell ){
    return SQLITE_CORRUPT_PAGE(pCur->pPage);
  }
  pFound->iFound = iPlace;
  pCur->ix = (u16)iCell;
  pCur->curFlags &= ~(BTCF_AtLast|BTCF_ValidNKey|BTCF_ValidOvfl);
  pCur->info.nSize = 0;
  return SQLITE_OK;
}

/* A value that was kept, which stays where it is */
static void hpEntryValue(Mem *pMem, const HpKept *pKept){
  assert( pMem->flags==MEM_Null );
  switch( pKept->tag ){
    case HP_NULL:
      break;
    case HP_INT:
      sqlite3VdbeMemSetInt64(pMem, pKept->val.i);
      break;
    case HP_REAL:
      sqlite3VdbeMemSetDouble(pMem, pKept->val.r);
      break;
    default:
      pMem->flags = MEM_Static | (pKept->tag==HP_TEXT ? MEM_Str : MEM_Blob);
      pMem->z = (char*)pKept->val.z;
      pMem->n = (int)pKept->n;
      pMem->enc = SQLITE_UTF8;
      break;
  }
}

/*
** Move pCur, a cursor of the index, to the entry of the row that is number i of those found.
** *pbThere is set if there is one.
*/
static int hpEntrySeek(HpQuery *p, BtCursor *pCur, Mem *aMem, i64 i, int *pbThere){
  HpFound *pFound = p->pPipe->apWorker[0]->pSink;
  const HpFindPlan *pPlan = pFound->pPlan;
  BtCursor *pTab = p->v->apCsr[pPlan->iCur]->uc.pCursor;
  HpRange range = *pPlan->pRange;
  HpBoundKey key;
  int n = hpBoundsConstant(&range) + pPlan->nTie;
  int res = -1;
  int k;
  int rc = hpEntryPlace(pFound, pTab, pFound->aPlace[i]);
  assert( i>=0 && i<pFound->nPlace && (pFound->aTie!=0)==(pPlan->nTie>0) );
  *pbThere = 0;
  if( rc ) return rc;
  range.nEq = hpBoundsConstant(&range);
  memset(range.aEnd, 0, sizeof(range.aEnd));
  rc = hpBoundsKey(p->db, &range, aMem, 0, &key);
  if( rc==SQLITE_OK ){
    assert( key.rec.nField==range.nEq && n<ArraySize(key.aMem) );
    key.rec.pKeyInfo = range.pKeyInfo;
    key.rec.aMem = key.aMem;
    for(k=range.nEq; k<=n; k++) sqlite3VdbeMemInit(&key.aMem[k], p->db, MEM_Null);
    for(k=range.nEq; k<n; k++){
      hpEntryValue(&key.aMem[k], &pFound->aTie[i*pPlan->nTie + k-range.nEq]);
    }
    sqlite3VdbeMemSetInt64(&key.aMem[n], sqlite3BtreeIntegerKey(pTab));
    key.rec.nField = (u16)(n+1);
    rc = sqlite3BtreeIndexMoveto(pCur, &key.rec, &res);
  }
  hpBoundsClear(&key);
  *pbThere = rc==SQLITE_OK && res==0;
  return rc;
}

/*
** The same for OP_HpRow: hpEntryAll() has said that there is one.
*/
static int hpEntryMove(HpQuery *p, Mem *aMem, i64 i){
  VdbeCursor *pIdx = p->v->apCsr[p->pPipe->pPlan->pFind->iIdxCur];
  int bThere;
  int rc = hpEntrySeek(p, pIdx->uc.pCursor, aMem, i, &bThere);
  assert( i<((HpFound*)p->pPipe->apWorker[0]->pSink)->nPlace );
  pIdx->cacheStatus = CACHE_STALE;
  pIdx->nullRow = 0;
  if( rc==HP_DECLINE || (rc==SQLITE_OK && !bThere) ) rc = SQLITE_CORRUPT_BKPT;
  return rc;
}

/*
** HP_DECLINE if the scan of p has ended before all of the table was read, or if some row that was found
** has no entry.  SQLite's cursor of the index stays where it is: its search may have been done.
*/
static int hpEntryAll(HpQuery *p, Mem *aMem){
  HpFound *pFound = p->pPipe->apWorker[0]->pSink;
  const VdbeCursor *pIdx = p->v->apCsr[p->pPipe->pPlan->pFind->iIdxCur];
  BtCursor *pCur;
  int bThere = 1;
  int rc;
  i64 i;
  assert( pFound->pPlan->pRange!=0 );
  if( p->pPipe->pass.bAll==0 ) return HP_DECLINE;
  pCur = sqlite3_malloc64(sqlite3BtreeCursorSize());
  if( pCur==0 ) return HP_DECLINE;
  sqlite3BtreeCursorZero(pCur);
  rc = sqlite3BtreeCursor(pIdx->uc.pCursor->pBtree, pIdx->pgnoRoot, 0, pIdx->pKeyInfo, pCur);
  for(i=0; i<pFound->nPlace && rc==SQLITE_OK && bThere; i++){
    rc = hpEntrySeek(p, pCur, aMem, i, &bThere);
    if( i%HP_POLL==0 && AtomicLoad(&p->db->u1.isInterrupted) ) rc = SQLITE_INTERRUPT;
  }
  if( pCur->pBtree ) sqlite3BtreeCloseCursor(pCur);
  sqlite3_free(pCur);
  pFound->iPgFound = 0;          /* The next one is in front of this */
  return rc==SQLITE_OK && !bThere ? HP_DECLINE : rc;
}
#endif /* SQLITE_OMIT_HP */
