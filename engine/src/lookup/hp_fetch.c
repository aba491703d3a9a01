/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_fetch: many rows in one call.
**
**    hp_row()       Called by an application when sqlite3_step() has given a
**                   row: packs it into a buffer.
**    hp_fetch()     Called then: packs the rows that come next, or says that
**                   there are none.
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

/* Texts of so many bytes are copied by two moves, whatever their length. */
#define HP_FETCH_SHORT 16

/* Where a column of the result is in a packed row. */
typedef struct HpFetchColumn HpFetchColumn;
struct HpFetchColumn {
  u16 eHow;                 /* HP_FETCH_xxx */
  u16 iType;                /* Its type is at this byte of the row */
  u16 iCell;                /* ... and its eight bytes are at this one */
};
#define HP_FETCH_PLAIN 0
#define HP_FETCH_SKIP  1    /* There is no such column */
#define HP_FETCH_REAL  2    /* Integers become reals */

/* A column of the result that is one again that was there before. */
typedef struct HpFetchExtra HpFetchExtra;
struct HpFetchExtra {
  HpFetchColumn to;
  HpFetchColumn from;       /* The same as this one */
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
  const HpFetchColumn *pEnd;  /* Behind the last one */
  int nExtra;               /* Columns in aExtra[] */
  int nHead;                /* Bytes of a packed row without its texts */
  const u8 *aEnd;           /* Where the leaf ends */
  u8 *aBuf;                 /* Rows are packed into this */
  u8 *aBufEnd;              /* ... which ends there */
  HpFetchColumn rowid;      /* HP_FETCH_SKIP if it is not wanted */
  HpFetchColumn aField[HP_FETCH_COLUMNS];
  HpFetchExtra aExtra[HP_FETCH_COLUMNS];
};

/*
** Integers of all sizes, the constants, NULL and reals are read by the same
** instructions, because which one comes next cannot be predicted: the eight
** bytes that end where the value does are shifted left and back.
*/
typedef struct HpFetchKind HpFetchKind;
struct HpFetchKind {
  u8 nByte;
  u8 nShift;
  u8 eType;                 /* SQLITE_INTEGER...; 0: there are no such values */
  u8 iConst;
  u8 bOther;                /* Not an integer and not NULL */
  i64 iMask;                /* 0 if the value takes no bytes */
};
static const HpFetchKind aHpFetchKind[12] = {
  { 0,  0, SQLITE_NULL,    0, 0,  0 },
  { 1, 56, SQLITE_INTEGER, 0, 0, -1 },
  { 2, 48, SQLITE_INTEGER, 0, 0, -1 },
  { 3, 40, SQLITE_INTEGER, 0, 0, -1 },
  { 4, 32, SQLITE_INTEGER, 0, 0, -1 },
  { 6, 16, SQLITE_INTEGER, 0, 0, -1 },
  { 8,  0, SQLITE_INTEGER, 0, 0, -1 },
  { 8,  0, SQLITE_FLOAT,   0, 1, -1 },
  { 0,  0, SQLITE_INTEGER, 0, 0,  0 },
  { 0,  0, SQLITE_INTEGER, 1, 0,  0 },
  { 0,  0, 0,              0, 1,  0 },
  { 0,  0, 0,              0, 1,  0 },
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
  i16 aFrom[HP_FETCH_COLUMNS];    /* Field of each column; -1: rowid; -2: none */
  u8 aReal[HP_FETCH_COLUMNS];     /* What OP_RealAffinity is for */
  int i, iCsr, iCells;
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
  assert( iCsr>=0 && iCsr<p->nCursor && p->apCsr[iCsr]!=0 );
  pLoop->pCsr = p->apCsr[iCsr];
  pLoop->iCounter = (u8)pNext->p5;
  pLoop->nCol = pRow->p2;
  pLoop->nField = 0;
  pLoop->nExtra = 0;
  if( pLoop->nCol>HP_FETCH_COLUMNS || pNext->p2>=p->pc ) return 0;
  for(i=0; i<pLoop->nCol; i++) aFrom[i] = -2;
  for(pOp=&aOp[pNext->p2]; pOp<pRow; pOp++){
    int iReg = pOp->opcode==OP_Column ? pOp->p3
             : pOp->opcode==OP_Rowid ? pOp->p2 : pOp->p1;
    int iCol = iReg - pRow->p1;
    assert( pLoop->nCol<=HP_FETCH_COLUMNS );
    if( iCol<0 || iCol>=pLoop->nCol ) return 0;
    switch( pOp->opcode ){
      case OP_Column:
        if( pOp->p1!=iCsr || pOp->p2>=HP_FETCH_COLUMNS ) return 0;
        aFrom[iCol] = (i16)pOp->p2;
        aReal[iCol] = 0;
        break;
      case OP_Rowid:
        if( pOp->p1!=iCsr || !pLoop->pCsr->isTable ) return 0;
        aFrom[iCol] = -1;
        break;
      case OP_RealAffinity:
        if( aFrom[iCol]<0 ) return 0;
        aReal[iCol] = 1;
        break;
      default:
        return 0;
    }
  }
  iCells = 8 + ROUND8(pLoop->nCol);
  pLoop->nHead = iCells + 8*pLoop->nCol;
  pLoop->rowid.eHow = HP_FETCH_SKIP;
  for(i=0; i<pLoop->nCol; i++){
    HpFetchColumn sCol, *pCol = &pLoop->rowid;
    HpFetchExtra *pExtra;
    if( aFrom[i]==-2 ) return 0;
    sCol.iType = (u16)(8 + i);
    sCol.iCell = (u16)(iCells + 8*i);
    sCol.eHow = HP_FETCH_PLAIN;
    if( aFrom[i]>=0 ){
      if( aReal[i] ) sCol.eHow = HP_FETCH_REAL;
      assert( aFrom[i]<HP_FETCH_COLUMNS );
      while( pLoop->nField<=aFrom[i] ){
        pLoop->aField[pLoop->nField++].eHow = HP_FETCH_SKIP;
      }
      pCol = &pLoop->aField[aFrom[i]];
    }
    if( pCol->eHow==HP_FETCH_SKIP ){
      *pCol = sCol;
    }else if( pCol->eHow==sCol.eHow ){
      assert( pLoop->nExtra<ArraySize(pLoop->aExtra) );
      pExtra = &pLoop->aExtra[pLoop->nExtra++];
      pExtra->to = sCol;
      pExtra->from = *pCol;
    }else{
      return 0;
    }
  }
  pLoop->pEnd = &pLoop->aField[pLoop->nField];
  pLoop->nOp = (int)(pNext - &aOp[pNext->p2]) + 1;
  assert( pLoop->nField<=HP_FETCH_COLUMNS && pLoop->nOp>1 );
  return 1;
}

/*
** Read the types of the first nField fields of a record into aType[], any way
** that a header may be written.  Return where the data begin, or 0 if the record is
** not plain.
*/
static u32 hpFetchHeader(
  const u8 *aRec, u32 nRec,
  int nField,
  u32 *aType
){
  u32 iHdr, nHdr;
  u64 iData;
  int i;
  assert( nField>=0 && nField<=HP_FETCH_COLUMNS );
  if( nRec==0 ) return 0;
  iHdr = getVarint32(aRec, nHdr);
  iData = nHdr;
  if( nHdr>nRec ) return 0;
  for(i=0; i<nField; i++){
    if( iHdr>=nHdr ) return 0;
    aType[i] = aRec[iHdr];
    if( aType[i]<0x80 ){
      iHdr++;
    }else{
      /* A value with so large a type is longer than any varint: there is
      ** no need to look behind the record. */
      if( iHdr+9>nRec ) return 0;
      iHdr += sqlite3GetVarint32(&aRec[iHdr], &aType[i]);
    }
    iData += sqlite3VdbeSerialTypeLen(aType[i]);
  }
  /* Where the header ends the data must: OP_Column says so as well. */
  if( iHdr>nHdr || iData>nRec || (iHdr==nHdr && iData!=nRec) ) return 0;
  assert( nHdr>0 && nHdr<=nRec );
  return nHdr;
}

/*
** The eight bytes of a text or blob: where in the buffer it is, and its length.
*/
static u64 hpFetchPlace(i64 iAt, u32 n){
  u32 aPlace[2];
  u64 v;
  assert( iAt>=0 && iAt<=0xffffffff );
  aPlace[0] = (u32)iAt;
  aPlace[1] = n;
  memcpy(&v, aPlace, sizeof(v));
  return v;
}

/*
** Pack the row of a record to pRow, whose fields have the types aType[] or, if
** that is 0, those that the bytes of the header are.  Return where the row ends, or
** 0 if the record is not plain or there may be too little room.
*/
static SQLITE_INLINE u8 *hpFetchValues(
  const HpFetchLoop *pLoop,
  const u8 *aRec, u32 nRec,    /* The record */
  u32 nHdr,                    /* Its header */
  const u32 *aType,
  i64 iRowid,
  u8 *pRow
){
  const u8 *pHdr = &aRec[1];
  const u8 *pData = &aRec[nHdr];
  const u8 *pRecEnd = &aRec[nRec];
  const HpFetchColumn *pCol = pLoop->aField;
  u8 *pHeap = pRow + pLoop->nHead;
  int i;

  assert( nHdr>0 && nHdr<=nRec && pRow>=pLoop->aBuf );
  if( pHeap>pLoop->aBufEnd ) return 0;
  for(; pCol<pLoop->pEnd; pCol++){
    const u32 t = aType ? *aType++ : *pHdr++;
    u64 v;
    u8 eType;
    if( pCol->eHow==HP_FETCH_SKIP ){
      if( aType==0 && t>=0x80 ) return 0;
      pData += t<0x80 ? sqlite3SmallTypeSizes[t] : (t-12)>>1;
      continue;
    }
    if( t<12 ){
      /* In front of a value there are always eight bytes: the page has a
      ** header. */
      const HpFetchKind *pKind = &aHpFetchKind[t];
      i64 x;
      pData += pKind->nByte;
      if( pData>pRecEnd ) return 0;
      x = (i64)(sqlite3Get8byte(pData-8) << pKind->nShift) >> pKind->nShift;
      v = (u64)((x & pKind->iMask) | pKind->iConst);
      eType = pKind->eType;
      if( pKind->bOther | pCol->eHow ){
        if( eType==0 ) return 0;
        if( eType==SQLITE_FLOAT ){
          if( IsNaN(v) ) eType = SQLITE_NULL;
        }else if( eType==SQLITE_INTEGER ){
          double r = (double)(i64)v;
          memcpy(&v, &r, sizeof(v));
          eType = SQLITE_FLOAT;
        }
      }
    }else{
      const u8 *a = pData;
      const u32 n = (t-12)>>1;
      if( aType==0 && t>=0x80 ) return 0;
      pData += n;
      if( pData>pRecEnd ) return 0;
      if( (i64)n+HP_FETCH_SHORT>pLoop->aBufEnd-pHeap ) return 0;
      if( n<=HP_FETCH_SHORT && pLoop->aEnd-a>=HP_FETCH_SHORT ){
        memcpy(pHeap, a, HP_FETCH_SHORT);
      }else{
        memcpy(pHeap, a, n);
      }
      v = hpFetchPlace(pHeap - pLoop->aBuf, n);
      pHeap += ROUND8(n);
      eType = (t & 1) ? SQLITE_TEXT : SQLITE_BLOB;
    }
    assert( pCol->iType<pCol->iCell && pCol->iCell+8<=pLoop->nHead );
    pRow[pCol->iType] = eType;
    memcpy(&pRow[pCol->iCell], &v, sizeof(v));
  }
  if( pData!=pRecEnd && (pData>pRecEnd || (aType==0 && pHdr==&aRec[nHdr])) ){
    return 0;
  }

  if( pLoop->rowid.eHow!=HP_FETCH_SKIP ){
    pRow[pLoop->rowid.iType] = SQLITE_INTEGER;
    memcpy(&pRow[pLoop->rowid.iCell], &iRowid, sizeof(iRowid));
  }
  for(i=0; i<pLoop->nExtra; i++){
    const HpFetchExtra *pExtra = &pLoop->aExtra[i];
    pRow[pExtra->to.iType] = pRow[pExtra->from.iType];
    memcpy(&pRow[pExtra->to.iCell], &pRow[pExtra->from.iCell], 8);
  }
  {
    u32 n = (u32)(pHeap - pRow);
    assert( pHeap<=pLoop->aBufEnd && n%8==0 && n>=(u32)pLoop->nHead );
    memcpy(pRow, &n, sizeof(n));
  }
  return pHeap;
}

/*
** The same for any record.
*/
static SQLITE_NOINLINE u8 *hpFetchRecord(
  const HpFetchLoop *pLoop,
  const u8 *aRec, u32 nRec,
  i64 iRowid,
  u8 *pRow
){
  u32 aType[HP_FETCH_COLUMNS];
  u32 nHdr = hpFetchHeader(aRec, nRec, pLoop->nField, aType);
  if( nHdr==0 ) return 0;
  return hpFetchValues(pLoop, aRec, nRec, nHdr, aType, iRowid, pRow);
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
  u8 *pRow = &aBuf[*piAt];
  int nRow = 0;
  assert( sqlite3_mutex_held(p->db->mutex) && *piAt>=0 && mxRow>0 );
  if( pC==0 || pC->eCurType!=CURTYPE_BTREE || pC->nullRow
   || pC->deferredMoveto
  ){
    return 0;
  }
  pCur = pC->uc.pCursor;
  if( pCur->eState!=CURSOR_VALID ) return 0;
  assert( cursorHoldsMutex(pCur) );
  pPage = pCur->pPage;
  if( !pPage->isInit || !pPage->leaf ) return 0;
  if( pLoop->pLimit && *pLoop->pLimit>=0 && mxRow>*pLoop->pLimit-1 ){
    mxRow = (int)(*pLoop->pLimit-1);
  }
  pLoop->aEnd = pPage->aDataEnd;
  pLoop->aBuf = aBuf;
  pLoop->aBufEnd = &aBuf[nBuf];
  while( nRow<mxRow ){
    int ix = pCur->ix + pLoop->iDir;
    u8 *pCell, *pNext = 0;
    const u8 *aRec;
    u32 nRec;
    u64 iRowid;
    if( ix<0 || ix>=pPage->nCell ) break;
    pCell = findCell(pPage, ix);
    if( pPage->intKey && pCell[0]<0x80 ){
      /* A row of less than 128 bytes is on the page, whatever the page's size. */
      nRec = pCell[0];
      iRowid = pCell[1];
      aRec = &pCell[2];
      if( iRowid>=0x80 ){
        if( pCell[2]<0x80 ){
          iRowid = ((iRowid & 0x7f)<<7) | pCell[2];
          aRec++;
        }else{
          u64 iKey;
          aRec += sqlite3GetVarint(&pCell[1], &iKey) - 1;
          iRowid = iKey;
        }
      }
    }else{
      CellInfo info;
      pPage->xParseCell(pPage, pCell, &info);
      if( info.nLocal!=info.nPayload ) break;
      nRec = info.nPayload;
      iRowid = (u64)info.nKey;
      aRec = info.pPayload;
    }
    if( nRec==0 || (i64)nRec>pPage->aDataEnd-aRec ) break;
    if( aRec[0]>pLoop->nField && aRec[0]<0x80 && aRec[0]<=nRec ){
      pNext = hpFetchValues(pLoop, aRec, nRec, aRec[0], 0, (i64)iRowid, pRow);
    }
    if( pNext==0 ){
      pNext = hpFetchRecord(pLoop, aRec, nRec, (i64)iRowid, pRow);
      if( pNext==0 ) break;
    }
    pRow = pNext;
    nRow++;
    pCur->ix = (u16)ix;
  }
  if( nRow ){
    *piAt = pRow - aBuf;
    pCur->info.nSize = 0;
    pCur->curFlags &= ~(BTCF_AtLast|BTCF_ValidNKey|BTCF_ValidOvfl);
    pC->cacheStatus = CACHE_STALE;
    if( pLoop->pLimit ) *pLoop->pLimit -= nRow;
    /* The row of now is still one of those wanted */
    assert( pLoop->pLimit==0 || *pLoop->pLimit!=0 );
    p->aCounter[pLoop->iCounter] += nRow;
    p->aCounter[SQLITE_STMTSTATUS_VM_STEP] += (u32)nRow * pLoop->nOp;
    p->pResultRow = 0;
  }
  return nRow;
}

/* Does p read a database in shared cache mode?  With SQLITE_DEBUG each counts as
** one: SQLite wants its asserts about mutexes to run. */
#ifdef SQLITE_DEBUG
# define hpFetchIsShared(P) \
    (((P)->db->openFlags & SQLITE_OPEN_SHAREDCACHE)!=0)
#else
# define hpFetchIsShared(P) ((P)->lockMask!=0)
#endif

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
    assert( pc>=0 && pc<p->nOp );
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
SQLITE_API int hp_row(
  sqlite3_stmt *pStmt,
  unsigned char *aBuf,
  sqlite3_int64 nBuf,
  sqlite3_int64 *piAt
){
  Vdbe *p = (Vdbe*)pStmt;
  sqlite3 *db;
  i64 iAt, iHeap;
  u8 *aType, *aCell;
  int i, nCol, ok = 0;
  if( p==0 || aBuf==0 || piAt==0 || *piAt<0 ) return 0;
  db = p->db;
  if( db==0 ) return 0;
  sqlite3_mutex_enter(db->mutex);
  if( p->pResultRow==0 || ENC(db)!=SQLITE_UTF8 ) goto done;
  iAt = *piAt;
  nCol = p->nResColumn;
  iHeap = iAt + 8 + ROUND8(nCol) + 8*(i64)nCol;
  if( iHeap>nBuf ) goto done;
  aType = &aBuf[iAt+8];
  aCell = aType + ROUND8(nCol);
  for(i=0; i<nCol; i++){
    Mem *pMem = &p->pResultRow[i];
    int eType = sqlite3_value_type(pMem);
    u64 v = 0;
    if( eType==SQLITE_INTEGER ){
      v = (u64)pMem->u.i;
    }else if( eType==SQLITE_FLOAT ){
      double r = (pMem->flags & MEM_Real) ? pMem->u.r : (double)pMem->u.i;
      memcpy(&v, &r, sizeof(v));
    }else if( eType!=SQLITE_NULL ){
      u32 n = (u32)pMem->n;
      if( (pMem->flags & MEM_Zero)
       || (eType==SQLITE_TEXT && pMem->enc!=SQLITE_UTF8)
       || iHeap+n+8>nBuf
      ){
        goto done;
      }
      if( n ) memcpy(&aBuf[iHeap], pMem->z, n);
      v = hpFetchPlace(iHeap, n);
      iHeap += ROUND8(n);
    }
    aType[i] = (u8)eType;
    memcpy(&aCell[8*i], &v, sizeof(v));
  }
  {
    u32 n = (u32)(iHeap - iAt);
    assert( iHeap<=nBuf && iHeap>iAt );
    memcpy(&aBuf[iAt], &n, sizeof(n));
  }
  *piAt = iHeap;
  ok = 1;
done:
  sqlite3_mutex_leave(db->mutex);
  return ok;
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
   && !hpFetchIsShared(p) && ENC(db)==SQLITE_UTF8 && db->mTrace==0
#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
   && db->xProgress==0
#endif
   && db->mallocFailed==0 && AtomicLoad(&db->u1.isInterrupted)==0
  ){
    HpFetchLoop sLoop;
    if( hpFetchLoop(p, &sLoop) ){
      sqlite3VdbeEnter(p);
      nRow = hpFetchLeaf(p, &sLoop, aBuf, nBuf, piAt, mxRow);
      sqlite3VdbeLeave(p);
    }
  }
  sqlite3_mutex_leave(db->mutex);
  return nRow;
}
#endif /* SQLITE_OMIT_HP */
