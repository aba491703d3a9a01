/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_set: the right side of IN (SELECT ...), which SQLite has put into a table of its
** own.
**
**    hpSetType      the source that reads it
**    hpSetClose()   free what a worker has
**
** Entries of that table are records of one value, to which affinity has been applied.
** The pipe makes a relation of them (hp_build.c) before the scan begins; whether there
** is a NULL among them is noted in HpQuery.bSetNull.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* The values of a batch */
struct HpSetRows {
  u8 bBegun;             /* The cursor is at the next entry, ... */
  u8 bEnd;               /* ... or behind the last one */
  HpVal *aVal;
  u8 *aTag;
  u32 *aLen;
  HpArena text;          /* Their texts */
};

/* The cursor of the table, or NULL */
static BtCursor *hpSetCursor(const HpWorker *p){
  const Vdbe *v = p->pQuery->v;
  int iCsr = p->pPipe->source.iCsr;
  VdbeCursor *pC = iCsr<v->nCursor ? v->apCsr[iCsr] : 0;
  return pC && pC->eCurType==CURTYPE_BTREE ? pC->uc.pCursor : 0;
}

/*
** Memory for a worker.
*/
static int hpSetBegin(HpWorker *p){
  HpSetRows *pNew = hpArenaAlloc(&p->vec, sizeof(*pNew));
  int rc = hpRecordInit(p);
  i64 n = p->batch.nAlloc;
  if( rc || pNew==0 ) return HP_DECLINE;
  memset(pNew, 0, sizeof(*pNew));
  p->pSet = pNew;
  pNew->aVal = hpArenaAlloc(&p->vec, sizeof(HpVal)*n);
  pNew->aTag = hpArenaAlloc(&p->vec, n);
  pNew->aLen = hpArenaAlloc(&p->vec, sizeof(u32)*n);
  return pNew->aVal && pNew->aTag && pNew->aLen ? SQLITE_OK : HP_DECLINE;
}

/*
** Decode the entry that pCur is at as row i.  Texts are copied, since the page may go.
*/
static int hpSetRow(HpSetRows *pSet, BtCursor *pCur, int i){
  Mem x;
  u32 nByte = sqlite3BtreePayloadSize(pCur);
  u32 nHdr, iHdr, t;
  u8 *z;
  int rc;
  if( nByte<2 || nByte>SQLITE_MAX_LENGTH ) return HP_DECLINE;
  z = hpArenaAlloc(&pSet->text, (i64)nByte+HP_SLACK);
  if( z==0 ) return HP_DECLINE;
  memset(&z[nByte], 0, HP_SLACK);
  rc = sqlite3BtreePayload(pCur, 0, nByte, z);
  if( rc ) return rc;
  iHdr = getVarint32(z, nHdr);
  if( nHdr<=iHdr || nHdr>nByte ) return HP_DECLINE;
  getVarint32(&z[iHdr], t);
  if( nHdr+(u64)sqlite3VdbeSerialTypeLen(t)>nByte ) return HP_DECLINE;
  memset(&x, 0, sizeof(x));
  sqlite3VdbeSerialGet(&z[nHdr], t, &x);
  pSet->aVal[i].i = 0;
  pSet->aLen[i] = 0;
  if( x.flags & MEM_Null ){
    pSet->aTag[i] = HP_NULL;
  }else if( x.flags & MEM_Int ){
    pSet->aTag[i] = HP_INT;
    pSet->aVal[i].i = x.u.i;
  }else if( x.flags & MEM_Real ){
    pSet->aTag[i] = HP_REAL;
    pSet->aVal[i].r = x.u.r;
  }else{
    pSet->aTag[i] = (x.flags & MEM_Str) ? HP_TEXT : HP_BLOB;
    pSet->aVal[i].z = &z[nHdr];
    pSet->aLen[i] = (u32)x.n;
  }
  return SQLITE_OK;
}

/*
** Fill the batch of p.  Each batch is a run of its own.
*/
static int hpSetNext(HpWorker *p){
  HpSetRows *pSet = p->pSet;
  BtCursor *pCur = hpSetCursor(p);
  int rc = SQLITE_OK;
  int n;
  if( pCur==0 ) return HP_DECLINE;
  hpArenaClear(&pSet->text);
  if( pSet->bBegun==0 ){
    int bEmpty;
    rc = sqlite3BtreeFirst(pCur, &bEmpty);
    if( rc ) return rc;
    pSet->bBegun = 1;
    pSet->bEnd = (u8)bEmpty;
  }
  for(n=0; n<p->batch.nAlloc && pSet->bEnd==0; n++){
    rc = hpSetRow(pSet, pCur, n);
    if( rc ) return rc;
    if( pSet->aTag[n]==HP_NULL ) p->pQuery->bSetNull = 1;
    rc = sqlite3BtreeNext(pCur, 0);
    if( rc==SQLITE_DONE ){
      pSet->bEnd = 1;
    }else if( rc ){
      return rc;
    }
  }
  p->batch.nRow = n;
  p->run.iSeq++;
  p->run.nPage = p->run.iLeaf = n>0;
  return SQLITE_OK;
}

/* The values of the batch */
static void hpSetColumn(const HpWorker *p, HpFrame *pFrame, int iCol, HpVec *pOut){
  const HpSetRows *pSet = p->pSet;
  u8 mType = 0;
  UNUSED_PARAMETER(iCol);
  HP_ROWS(pFrame, {
    pOut->aTag[i] = pSet->aTag[i];
    pOut->aVal[i] = pSet->aVal[i];
    pOut->aLen[i] = pSet->aLen[i];
    mType |= pSet->aTag[i];
  })
  pOut->bFloat = 0;
  pOut->mType = mType;
}

/* Free the texts of worker p */
static void hpSetClose(HpWorker *p){
  if( p->pSet ) hpArenaClear(&p->pSet->text);
}

static const HpSourceType hpSetType = { hpSetBegin, hpSetNext, hpSetColumn };
#endif /* SQLITE_OMIT_HP */
