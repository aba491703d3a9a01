/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Many rows in one call.
**
**    hp_fetch()     Called by an application when sqlite3_step() has given a
**                   row: packs the rows that come next into a buffer, or says
**                   that there are none.
**
** A program that reads a table spends more on asking than SQLite on answering:
** a call for the step, two for each value, and in SQLite an instruction for
** each column and one to go on.  In languages for which a call of C is dear it
** is several times as much.
**
** Where the statement's loop does nothing but give columns of one b-tree,
**
**         Rewind or a seek
**      L: Column, Rowid, RealAffinity ...
**         ResultRow
**         DecrJumpZero               (with LIMIT)
**         Next or Prev, to L
**
** the rows on the leaf that the cursor is on are cut and packed here, one
** after the other, and the cursor is moved on.  That is all: after it the
** statement is as if these rows had been stepped over, and the next
** sqlite3_step() goes on behind them: to the next leaf, or to what cannot be
** done here, which is whatever is not plain: overflow pages, missing columns
** that have a default, a corrupt cell, UTF-16, tracing, a progress handler.  So
** hp_fetch() never reads a page, never allocates, and has no errors.
**
** What a packed row looks like is said in hpsqlite.h.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Columns of a result, and fields of a record, that are dealt with here. */
#define HP_FETCH_COLUMNS 64

/* What is put into a column of the result. */
typedef struct HpFetchColumn HpFetchColumn;
struct HpFetchColumn {
  i16 iField;               /* This field of the record; -1: the rowid */
  u8 bReal;                 /* Integers become reals */
};

/* The loop of a statement. */
typedef struct HpFetchLoop HpFetchLoop;
struct HpFetchLoop {
  VdbeCursor *pCsr;         /* What it goes over */
  int iDir;                 /* +1: OP_Next.  -1: OP_Prev */
  i64 *pLimit;              /* Rows still wanted, that of now included; or 0 */
  u8 iCounter;              /* Vdbe.aCounter[] of OP_Next */
  int nOp;                  /* Instructions a row */
  int nCol;                 /* Columns of the result */
  int nField;               /* Fields to look at in a record */
  HpFetchColumn aCol[HP_FETCH_COLUMNS];
};

/*
** Find the loop that p, which has just given a row, is in.  Return false if it
** is not one of those that can be done here.
*/
static int hpFetchLoop(Vdbe *p, HpFetchLoop *pLoop){
  Op *aOp = p->aOp;
  Op *pRow = &aOp[p->pc-1];       /* OP_ResultRow */
  Op *pNext = &aOp[p->pc];        /* OP_Next */
  Op *pOp;
  int i, iCsr;
  if( p->pc<1 || pRow->opcode!=OP_ResultRow ) return 0;
  pLoop->pLimit = 0;
  if( pNext->opcode==OP_DecrJumpZero ){
    Mem *pMem = &p->aMem[pNext->p1];
    assert( pMem->flags & MEM_Int );
    pLoop->pLimit = &pMem->u.i;
    pNext++;
  }
  if( pNext->opcode==OP_Next ){
    pLoop->iDir = 1;
  }else if( pNext->opcode==OP_Prev ){
    pLoop->iDir = -1;
  }else{
    return 0;
  }
  iCsr = pNext->p1;
  pLoop->pCsr = p->apCsr[iCsr];
  pLoop->iCounter = (u8)pNext->p5;
  pLoop->nCol = pRow->p2;
  pLoop->nField = 0;
  if( pLoop->nCol>HP_FETCH_COLUMNS || pNext->p2>=p->pc ) return 0;
  for(i=0; i<pLoop->nCol; i++) pLoop->aCol[i].iField = -2;
  for(pOp=&aOp[pNext->p2]; pOp<pRow; pOp++){
    HpFetchColumn *pCol;
    int iReg = pOp->opcode==OP_Column ? pOp->p3
             : pOp->opcode==OP_Rowid ? pOp->p2 : pOp->p1;
    if( iReg<pRow->p1 || iReg>=pRow->p1+pRow->p2 ) return 0;
    pCol = &pLoop->aCol[iReg - pRow->p1];
    switch( pOp->opcode ){
      case OP_Column:
        if( pOp->p1!=iCsr || pOp->p2>=HP_FETCH_COLUMNS ) return 0;
        pCol->iField = (i16)pOp->p2;
        pCol->bReal = 0;
        if( pOp->p2>=pLoop->nField ) pLoop->nField = pOp->p2+1;
        break;
      case OP_Rowid:
        if( pOp->p1!=iCsr || !pLoop->pCsr->isTable ) return 0;
        pCol->iField = -1;
        pCol->bReal = 0;
        break;
      case OP_RealAffinity:
        if( pCol->iField<0 ) return 0;
        pCol->bReal = 1;
        break;
      default:
        return 0;
    }
  }
  for(i=0; i<pLoop->nCol; i++){
    if( pLoop->aCol[i].iField==-2 ) return 0;
  }
  pLoop->nOp = (int)(pNext - &aOp[pNext->p2]) + 1;
  return 1;
}

/*
** Pack the row of a record to aBuf[iAt].  Return the number of bytes, or 0 if
** the record is not plain or there may be too little room, which ends at nBuf.
*/
static i64 hpFetchPack(
  HpFetchLoop *pLoop,
  const u8 *aRec, u32 nRec,    /* The record */
  i64 iRowid,
  u8 *aBuf, i64 iAt, i64 nBuf
){
  u32 aType[HP_FETCH_COLUMNS];
  u32 aOffset[HP_FETCH_COLUMNS];
  const int nCol = pLoop->nCol;
  const int nField = pLoop->nField;
  u8 *aOutType = &aBuf[iAt+8];
  u8 *aOut = aOutType + ROUND8(nCol);
  i64 iHeap = iAt + 8 + ROUND8(nCol) + 8*(i64)nCol;
  u32 iHdr, nHdr, iData;
  int i;

  /* Columns may repeat, so that a row may be larger than its record. */
  if( iHeap + (i64)nCol*8 > nBuf || nRec==0 ) return 0;
  iHdr = getVarint32(aRec, nHdr);
  iData = nHdr;
  if( nHdr>nRec ) return 0;
  for(i=0; i<nField; i++){
    u32 t;
    if( iHdr>=nHdr ) return 0;
    t = aRec[iHdr];
    if( t<0x80 ){
      iHdr++;
      iData += sqlite3SmallTypeSizes[t];
    }else{
      /* A value with so large a type is longer than any varint: there is
      ** no need to look behind the record. */
      if( iHdr+9>nRec ) return 0;
      iHdr += sqlite3GetVarint32(&aRec[iHdr], &t);
      iData += sqlite3VdbeSerialTypeLen(t);
    }
    if( iData>nRec ) return 0;
    aType[i] = t;
    aOffset[i] = iData;        /* Its end */
  }
  /* Where the header ends the data must: OP_Column says so as well. */
  if( iHdr>nHdr || (iHdr==nHdr && iData!=nRec) ) return 0;

  for(i=0; i<nCol; i++){
    const HpFetchColumn *pCol = &pLoop->aCol[i];
    u64 v = 0;
    u8 eType;
    if( pCol->iField<0 ){
      eType = SQLITE_INTEGER;
      v = (u64)iRowid;
    }else{
      u32 t = aType[pCol->iField];
      const u8 *a = &aRec[aOffset[pCol->iField]];
      if( t>=12 ){
        u32 n = (t-12)/2;
        u32 aPlace[2];
        eType = (t & 1) ? SQLITE_TEXT : SQLITE_BLOB;
        if( iHeap + n + 8 > nBuf ) return 0;
        memcpy(&aBuf[iHeap], a-n, n);
        aPlace[0] = (u32)iHeap;
        aPlace[1] = n;
        memcpy(&v, aPlace, sizeof(v));
        iHeap += ROUND8(n);
      }else{
        eType = SQLITE_INTEGER;
        if( t-1<=5 ){
          /* Integers of all sizes by the same instructions, because which
          ** one comes next cannot be predicted.  In front of a value there are
          ** always eight bytes: the page has a header. */
          u64 x = ((u64)sqlite3Get4byte(a-8)<<32) | sqlite3Get4byte(a-4);
          int nShift = 64 - 8*sqlite3SmallTypeSizes[t];
          v = (u64)((i64)(x<<nShift) >> nShift);
        }else if( t==7 ){
          v = ((u64)sqlite3Get4byte(a-8)<<32) | sqlite3Get4byte(a-4);
          eType = IsNaN(v) ? SQLITE_NULL : SQLITE_FLOAT;
        }else if( t==0 ){
          eType = SQLITE_NULL;
        }else if( t<=9 ){
          v = t - 8;
        }else{
          return 0;
        }
        if( pCol->bReal && eType==SQLITE_INTEGER ){
          double r = (double)(i64)v;
          memcpy(&v, &r, sizeof(v));
          eType = SQLITE_FLOAT;
        }
      }
    }
    aOutType[i] = eType;
    memcpy(&aOut[8*i], &v, sizeof(v));
  }
  {
    u32 n = (u32)(iHeap - iAt);
    memcpy(&aBuf[iAt], &n, sizeof(n));
  }
  return iHeap - iAt;
}

/*
** Cut the cell that is at pCell as xParseCell() does, quickly where it is a row of
** less than 128 bytes: whatever the page's size, these are on the page.
*/
static void hpFetchCell(MemPage *pPage, u8 *pCell, CellInfo *pInfo){
  if( pPage->intKey && pCell[0]<0x80 ){
    u64 iKey = pCell[1];
    u8 *z = &pCell[2];
    if( iKey>=0x80 ){
      if( z[0]<0x80 ){
        iKey = ((iKey & 0x7f)<<7) | z[0];
        z++;
      }else{
        z += sqlite3GetVarint(&pCell[1], &iKey) - 1;
      }
    }
    pInfo->nKey = (i64)iKey;
    pInfo->pPayload = z;
    pInfo->nPayload = pInfo->nLocal = pCell[0];
    assert( pInfo->nPayload<=pPage->maxLocal );
  }else{
    pPage->xParseCell(pPage, pCell, pInfo);
  }
}

/*
** Pack rows from the leaf that the cursor is on, and move the cursor to the
** last of them.  See hp_fetch().
*/
static int hpFetchLeaf(
  Vdbe *p,
  HpFetchLoop *pLoop,
  u8 *aBuf, i64 nBuf, i64 *piAt,
  int mxRow
){
  VdbeCursor *pC = pLoop->pCsr;
  BtCursor *pCur;
  MemPage *pPage;
  int nRow = 0;
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || pC->nullRow
   || pC->deferredMoveto
  ){
    return 0;
  }
  pCur = pC->uc.pCursor;
  if( pCur->eState!=CURSOR_VALID ) return 0;
  pPage = pCur->pPage;
  if( !pPage->isInit || !pPage->leaf ) return 0;
  if( pLoop->pLimit && *pLoop->pLimit>=0 && mxRow>*pLoop->pLimit-1 ){
    mxRow = (int)(*pLoop->pLimit-1);
  }
  while( nRow<mxRow ){
    int ix = pCur->ix + pLoop->iDir;
    CellInfo info;
    i64 n;
    if( ix<0 || ix>=pPage->nCell ) break;
    hpFetchCell(pPage, findCell(pPage, ix), &info);
    if( info.nLocal!=info.nPayload
     || info.pPayload+info.nPayload>pPage->aDataEnd
    ){
      break;
    }
    n = hpFetchPack(pLoop, info.pPayload, info.nPayload, info.nKey,
                    aBuf, *piAt, nBuf);
    if( n==0 ) break;
    *piAt += n;
    nRow++;
    pCur->ix = (u16)ix;
  }
  if( nRow ){
    pCur->info.nSize = 0;
    pCur->curFlags &= ~(BTCF_AtLast|BTCF_ValidNKey|BTCF_ValidOvfl);
    pC->cacheStatus = CACHE_STALE;
    if( pLoop->pLimit ) *pLoop->pLimit -= nRow;
    p->aCounter[pLoop->iCounter] += nRow;
    p->aCounter[SQLITE_STMTSTATUS_VM_STEP] += (u32)nRow * pLoop->nOp;
    p->pResultRow = 0;
  }
  return nRow;
}

/*
** Is the row that p has just given the last one?  It is where the program goes
** on to its end: a look-up by rowid or unique key, an aggregate, the last row of
** a LIMIT.
*/
static int hpFetchEnds(Vdbe *p){
  int pc = p->pc;
  int n;
  for(n=0; n<8; n++){
    Op *pOp = &p->aOp[pc];
    switch( pOp->opcode ){
      case OP_Halt: return pOp->p1==SQLITE_OK;
      case OP_Goto: pc = pOp->p2; break;
      case OP_Noop: pc++; break;
      case OP_DecrJumpZero:
        if( p->aMem[pOp->p1].u.i!=1 ) return 0;
        pc = pOp->p2;
        break;
      default: return 0;
    }
  }
  return 0;
}

/*
** See hpsqlite.h.
*/
SQLITE_API int hp_fetch(
  sqlite3_stmt *pStmt,
  unsigned char *aBuf,
  sqlite3_int64 nBuf,
  sqlite3_int64 *piAt,
  int mxRow
){
  Vdbe *p = (Vdbe*)pStmt;
  sqlite3 *db;
  int nRow = 0;
  if( p==0 || aBuf==0 || piAt==0 || *piAt<0 || mxRow<0 ) return 0;
  db = p->db;
  if( db==0 ) return 0;
  sqlite3_mutex_enter(db->mutex);
  if( p->eVdbeState!=VDBE_RUN_STATE || p->pResultRow==0 || p->explain
   || db->hp.eOffload==HP_OFFLOAD_OFF || hpConfig()->bOff
  ){
    /* Nothing that can be said */
  }else if( hpFetchEnds(p) ){
    nRow = -1;
  }else if( mxRow>0
   && p->lockMask==0 && ENC(db)==SQLITE_UTF8 && db->mTrace==0
#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
   && db->xProgress==0
#endif
   && db->mallocFailed==0 && AtomicLoad(&db->u1.isInterrupted)==0
  ){
    HpFetchLoop sLoop;
    if( hpFetchLoop(p, &sLoop) ){
      nRow = hpFetchLeaf(p, &sLoop, aBuf, nBuf, piAt, mxRow);
    }
  }
  sqlite3_mutex_leave(db->mutex);
  return nRow;
}
#endif /* SQLITE_OMIT_HP */
