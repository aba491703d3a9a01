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
**
** Entries of that table are records of one value, to which affinity has been applied.
** The pipe makes a relation of them (hp_build.c) before the scan begins; whether there
** is a NULL among them is noted in HpPass.bSetNull.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* The cursor of the table, or NULL */
static BtCursor *hpSetCursor(const HpWorker *p){
  const Vdbe *v = p->pPipe->pQuery->v;
  int iCsr = p->pPlan->source.iCsr;
  VdbeCursor *pC = iCsr<v->nCursor ? v->apCsr[iCsr] : 0;
  return pC && pC->eCurType==CURTYPE_BTREE ? pC->uc.pCursor : 0;
}

/*
** Decode the entry that pCur is at as row i.  Texts are copied, since the page may go.
*/
static int hpSetRow(HpWorker *p, BtCursor *pCur, int i){
  Mem x;
  u32 nByte = sqlite3BtreePayloadSize(pCur);
  u32 nHdr, iHdr, t;
  u8 *z;
  int rc;
  if( nByte<2 || nByte>p->pPipe->pQuery->mxStored ) return HP_DECLINE;
  z = hpValuesText(p, nByte);
  if( z==0 ) return HP_DECLINE;
  rc = sqlite3BtreePayload(pCur, 0, nByte, z);
  if( rc ) return rc;
  iHdr = getVarint32(z, nHdr);
  if( nHdr<=iHdr || nHdr>nByte ) return HP_DECLINE;
  getVarint32(&z[iHdr], t);
  if( nHdr+(u64)sqlite3VdbeSerialTypeLen(t)>nByte ) return HP_DECLINE;
  memset(&x, 0, sizeof(x));
  sqlite3VdbeSerialGet(&z[nHdr], t, &x);
  if( x.flags & MEM_Null ) p->pPipe->pass.bSetNull = 1;
  return hpValuesMem(p, 0, i, &x, 0);
}

/*
** Fill the batch of p.
*/
static int hpSetNext(HpWorker *p){
  BtCursor *pCur = hpSetCursor(p);
  int bEnd = 0;
  int rc = SQLITE_OK;
  int n;
  assert( p->pPlan->source.nCol==1 && p->pRead->batch.nRow==0 );
  if( pCur==0 ) return HP_DECLINE;
  hpValuesClear(p);
  if( p->pRead->run.iSeq==0 ){
    rc = sqlite3BtreeFirst(pCur, &bEnd);
    if( rc ) return rc;
  }else{
    bEnd = sqlite3BtreeEof(pCur);
  }
  for(n=0; n<p->pRead->batch.nAlloc && !bEnd; n++){
    rc = hpSetRow(p, pCur, n);
    if( rc ) return rc;
    rc = sqlite3BtreeNext(pCur, 0);
    if( rc==SQLITE_DONE ){
      bEnd = 1;
    }else if( rc ){
      return rc;
    }
  }
  hpValuesDone(p, n);
  return SQLITE_OK;
}

static const HpSourceType hpSetType = {
  hpValuesBegin, hpSetNext, hpValuesColumn, 0, 1, 0
};
#endif /* SQLITE_OMIT_HP */
