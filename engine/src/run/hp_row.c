/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_row: OP_HpRow, which steps SQLite's own loop from row to row.
**
**    sqlite3HpRow()  OP_HpRow
**
** Where few rows matter (hp_found.c, hp_piece.c) it moves the cursor to the next
** place found, or that of an index to the entry that leads there (hp_entry.c).
** Where rows are sorted (hp_sort.c) it gives the next record of the merge.  Where
** OP_HpScan has declined it does as the opcode that it stands for: OP_Next, or
** OP_SorterNext with OP_SorterData.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** OP_HpRow in an output loop: put the next record into the register that
** OP_SorterData names, which stands before the instruction to jump to.
** SQLITE_DONE: there is none.
*/
static int hpRowSorted(Vdbe *v, const VdbeOp *pOp, Mem *aMem){
  const VdbeOp *pData = &v->aOp[pOp->p2-1];
  Mem *pReg = &aMem[pOp->p3];
  Mem *pOut = &aMem[pData->p2];
  int rc;
  assert( pData->opcode==OP_SorterData && pData->p1==pOp->p1 );
  v->apCsr[pData->p3]->cacheStatus = CACHE_STALE;
  if( (pReg->flags & MEM_Dyn)==0 ){
    VdbeCursor *pC = v->apCsr[pOp->p1];
    rc = sqlite3VdbeSorterNext(v->db, pC);
    if( rc==SQLITE_OK ) rc = sqlite3VdbeSorterRowkey(pC, pOut);
  }else{
    HpPipe *p = ((HpQuery*)pReg->z)->pPipe;
    u8 *aGroup;
    sqlite3VdbeMemSetNull(pOut);
    rc = hpMergeNext(p, &aGroup);
    if( rc ) return rc;
    if( aGroup==0 ){
      /* Let go of the memory now */
      sqlite3VdbeMemSetNull(pReg);
      rc = SQLITE_DONE;
    }else{
      const HpHead *pHead = (const HpHead*)aGroup;
      assert( p->pQuery->v==v && pHead->nRec>pHead->nNorm );
      pOut->flags = MEM_Blob|MEM_Ephem;
      pOut->z = (char*)&pHead->z[pHead->nNorm];
      pOut->n = (int)(pHead->nRec - pHead->nNorm);
      if( p->pPlan->pSort->pPart ) pOut->n -= 4;
    }
  }
  return rc;
}

/*
** Move pCur to the row iRowid, or to the first one after it.  *pbExact is set if that
** row is there.  SQLITE_DONE: no row is.
*/
static int hpRowSeek(BtCursor *pCur, i64 iRowid, int *pbExact){
  int res;
  int rc = sqlite3BtreeTableMoveto(pCur, iRowid, 0, &res);
  assert( sqlite3_mutex_held(pCur->pBtree->db->mutex) );
  *pbExact = rc==SQLITE_OK && res==0;
  return rc || res>=0 ? rc : sqlite3BtreeNext(pCur, 0);
}

/*
** Move pCur to the next row of p, a table that is scanned piece by piece, or as
** OP_Next does.
*/
static int hpRowPiece(HpQuery *p, BtCursor *pCur, VdbeOp *pOp, Mem *aMem){
  int bByRowid = hpPieceIsByRowid(p->pPieces);
  i64 *pnStock = &aMem[pOp->p3+1].u.i;   /* Rows left to stock */
  int bExact = 1;
  int rc = SQLITE_OK;
  while( 1 ){
    if( p->pPipe ){
      HpFound *pFound = p->pPipe->apWorker[0]->pSink;
      assert( p->pPipe->pSource==0 && pFound->iNext<=pFound->nPlace );
      if( hpPieceLost(p->pPieces) ){
        *pnStock = hpPieceEnd(p, 1);
        return sqlite3BtreeNext(pCur, 0);
      }
      while( pFound->iNext<pFound->nPlace ){
        i64 iPlace = pFound->aPlace[pFound->iNext++];
        if( bByRowid==0 ){
          rc = hpEntryPlace(pFound, pCur, iPlace);
        }else{
          rc = hpRowSeek(pCur, iPlace, &bExact);
          if( rc==SQLITE_OK && !bExact ) continue;
          if( rc==SQLITE_DONE ) break;
        }
        p->v->aCounter[pOp->p5]--;       /* All of its rows have been counted */
        return rc;
      }
      if( p->pPipe->pass.bAll ) return SQLITE_DONE;
      if( bByRowid ){
        rc = hpRowSeek(pCur, pFound->iLast, &bExact);
      }else if( pFound->bLast ){
        rc = hpEntryPlace(pFound, pCur, pFound->iLast);
      }
      *pnStock = hpPieceEnd(p, 0);
      if( rc || !bExact ) return rc;
    }
    if( *pnStock>0 || !hpPieceMay(pCur) ) return sqlite3BtreeNext(pCur, 0);
    if( p->v->expired==1 ){
      /* The application has detached a database, say: others have moved in
      ** sqlite3.aDb[].  SQLite's cursors know theirs */
      sqlite3VdbeMemSetNull(&aMem[pOp->p3]);
      *pnStock = HP_ROWS_ALL;
      return sqlite3BtreeNext(pCur, 0);
    }
    rc = hpPieceLook(p, aMem, pnStock);
    if( rc==SQLITE_OK && *pnStock>0 ) continue;
    if( rc==SQLITE_OK ) rc = hpPieceRun(p, pCur, aMem);
    if( rc ){
      rc = hpQueryFailed(p, p->db, rc);
      sqlite3VdbeMemSetNull(&aMem[pOp->p3]);
      *pnStock = HP_ROWS_ALL;
      return rc==HP_DECLINE ? sqlite3BtreeNext(pCur, 0) : rc;
    }
  }
}

/*
** OP_HpRow: move the table cursor to the next row found, or as OP_Next does
** if the executor declined.  SQLITE_DONE: there is none.
*/
SQLITE_PRIVATE int sqlite3HpRow(Vdbe *v, VdbeOp *pOp, Mem *aMem){
  VdbeCursor *pC = v->apCsr[pOp->p1];
  BtCursor *pCur = pC->uc.pCursor;
  Mem *pReg = &aMem[pOp->p3];
  HpQuery *p;
  HpFound *pFound;
  int rc;

  if( isSorter(pC) ) return hpRowSorted(v, pOp, aMem);
  if( (pReg->flags & MEM_Dyn)==0 ){
    aMem[pOp->p3+1].u.i = HP_ROWS_ALL;
    return sqlite3BtreeNext(pCur, 0);
  }
  p = (HpQuery*)pReg->z;
  assert( pOp->opcode==OP_HpRow && p->v==v );
  pC->deferredMoveto = 0;
  pC->cacheStatus = CACHE_STALE;
  if( p->pPieces ) return hpRowPiece(p, pCur, pOp, aMem);
  pFound = p->pPipe->apWorker[0]->pSink;
  assert( pFound->pPlan==p->pPipe->pPlan->pFind );
  assert( pFound->iNext<=pFound->nPlace );
  if( pFound->pPlan->pRange ){
    if( pFound->iNext==pFound->nPlace ) return SQLITE_DONE;
    return hpEntryMove(p, aMem, pFound->iNext++);
  }
  if( pFound->bBegun && pCur->eState!=CURSOR_VALID ){
    /* Somebody wrote to the table.  What was found may no longer hold. */
    sqlite3VdbeMemSetNull(pReg);
    return sqlite3BtreeNext(pCur, 0);
  }
  pFound->bBegun = 1;
  if( pFound->iNext<pFound->nPlace ){
    v->aCounter[pOp->p5]--;        /* OP_HpScan has counted all rows */
    return hpEntryPlace(pFound, pCur, pFound->aPlace[pFound->iNext++]);
  }
  if( p->pPipe->pass.bAll==0 ){
    /* The rest of the table is stock's */
    rc = hpEntryPlace(pFound, pCur, pFound->iLast);
    sqlite3VdbeMemSetNull(pReg);
    return rc ? rc : sqlite3BtreeNext(pCur, 0);
  }
  return SQLITE_DONE;
}
#endif /* SQLITE_OMIT_HP */
