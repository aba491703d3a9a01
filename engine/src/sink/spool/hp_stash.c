/*
** 2026-11-24
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_stash: rows of a pipe that are put aside, to be taken up by another one
** (hp_unstash.c).
**
**    hpStashNew()      an empty one
**    hpStashOpen()     a worker begins to put rows aside
**    hpStashRows()     put the selected rows of a batch aside
**    hpStashCombine()  all workers are done: the rows in scan order
**    hpStashClose()    a worker is done
**    hpStashIsFull()   was there no room for all rows?
**    hpStashScanned()  rows read when these were put aside
**    hpStashRewind()   begin to take them up, perhaps once more
**    hpStashFree()     free it
**
** Where few rows of a table pass its own filters, and others are looked up by them,
** it pays to know first which rows these are: of the other tables no more is kept
** than they look up (hp_query.c).  So the table is scanned with its own filters
** only, and what passes is put aside:
**
**    lineitem's leaves -> filters -> stash -> which orders are wanted?
**    orders' leaves -> only those wanted -> relation
**    stash -> look-ups -> groups
**
** A row is kept as its record and its rowid, so that the program that takes it up is
** the same whatever the source.  Values are decoded again; that are few.  Where the columns
** of a row are in memory, and its leaf has not been read, a record is made of them.
**
** Workers get runs in any order.  Each keeps the rows of a run together; when all
** are done runs are put in order, so that rows come in that of the scan.
**
** Too many rows to be worth it, or too many bytes, set HpStash.bFull and decline:
** then the pipe runs as it does without.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_STASH_BLOCK 65536   /* Memory for rows is taken so many bytes at a time */
#define HP_MX_STASHED 32768    /* Most bytes of a record that is made here */

/*
** A stash for at most mxRow rows, or NULL.
*/
static HpStash *hpStashNew(i64 mxRow){
  HpStash *p = sqlite3MallocZero(sizeof(*p));
  if( p ) p->mxRow = mxRow;
  return p;
}

static void hpStashFree(HpStash *p){
  int i;
  if( p==0 ) return;
  for(i=0; i<HP_MX_THREAD; i++){
    hpArenaClear(&p->aPart[i].mem);
    sqlite3_free(p->aPart[i].apRow);
    sqlite3_free(p->aPart[i].aRun);
  }
  sqlite3_free(p->apRow);
  sqlite3_free(p);
}

/*
** Begin in worker p.
*/
static int hpStashOpen(HpWorker *p){
  int i;
  for(i=0; p->pPipe->apWorker[i]!=p; i++){}
  assert( i<HP_MX_THREAD );
  p->pSink = &p->pPipe->pStash->aPart[i];
  return SQLITE_OK;
}

/* The rows stay */
static void hpStashClose(HpWorker *p){
  p->pSink = 0;
}

/* There is no room: see above */
static int hpStashFull(HpWorker *p){
  AtomicStore(&p->pPipe->pStash->bFull, 1);
  return HP_DECLINE;
}

/*
** Make *paEntry, of entries of sz bytes, large enough for nNeed of them.
*/
static int hpStashGrow(void *paEntry, i64 *pnAlloc, i64 nNeed, int sz){
  void **pa = (void**)paEntry;
  if( nNeed>*pnAlloc ){
    i64 n = MAX(256, 2*nNeed);
    void *aNew = sqlite3_realloc64(*pa, (u64)n*sz);
    if( aNew==0 ) return HP_DECLINE;
    *pa = aNew;
    *pnAlloc = n;
  }
  return SQLITE_OK;
}

/*
** Set *pRec to the record at z, which is in a page of the run.  What its header says
** about columns that the pipe does not use nobody has looked at yet.
*/
static int hpStashRecord(const HpWorker *p, const u8 *z, HpRecord *pRec){
  const HpRun *pRun = &p->pRead->run;
  const BtShared *pBt = hpThreadBt(p->pPipe);
  i64 iLeaf = (z - pRun->aBuf)/pRun->szPage;
  const u8 *aPage = &pRun->aBuf[iLeaf*pRun->szPage];
  i64 n = &aPage[pBt->usableSize] - z;   /* So many bytes there are */
  u32 nHdr, iHdr;
  u64 iVal;
  assert( iLeaf>=0 && iLeaf<pRun->nPage && n>0 );
  iHdr = getVarint32(z, nHdr);
  iVal = nHdr;
  if( (i64)nHdr>n ) return HP_DECLINE;
  while( iHdr<nHdr ){
    u32 t;
    iHdr += getVarint32(&z[iHdr], t);    /* What is behind the page is readable */
    iVal += sqlite3VdbeSerialTypeLen(t);
    if( iVal>0x7fffffff ) return HP_DECLINE;
  }
  if( iHdr!=nHdr ) return HP_DECLINE;
  pRec->z = z;
  pRec->nByte = (u32)iVal;
  pRec->nLocal = hpRecordLocal(pBt, pRec->nByte);
  if( pRec->nLocal<pRec->nByte ) n -= 4;
  return (i64)pRec->nLocal>n ? HP_DECLINE : SQLITE_OK;
}

/*
** Put row i of the batch of p aside.
*/
static int hpStashRow(HpWorker *p, int i){
  HpStashPart *pPart = (HpStashPart*)p->pSink;
  HpStashRow *pRow;
  const HpSourcePlan *pPlan = &p->pPlan->source;
  HpRecord rec = {0, 0, 0};
  u64 nHdr = 0, nData = 0;   /* Of values in memory */
  i64 n;
  int rc;
  if( pPlan->mxCol<0 ){
    /* It is its rowid */
  }else if( p->pRead->run.pKept ){
    hpRawRecordSize(p, i, &nHdr, &nData);
    if( nHdr+nData>HP_MX_STASHED ) return HP_DECLINE;
    rec.nByte = rec.nLocal = (u32)(nHdr+nData);
  }else{
    rc = hpStashRecord(p, p->pRead->batch.apRec[i], &rec);
    if( rc ) return rc;
  }
  n = ROUND8((i64)sizeof(*pRow) + rec.nLocal + 4);
  if( pPart->pEnd-pPart->pFree<n+HP_SLACK ){
    i64 nNew = MAX(HP_STASH_BLOCK, n+HP_SLACK);
    if( !hpBudgetMay(p, nNew, HP_WISH) ) return hpStashFull(p);
    if( pPart->pFree ) memset(pPart->pFree, 0, HP_SLACK);
    pPart->pFree = hpArenaAlloc(&pPart->mem, nNew);
    if( pPart->pFree==0 ) return HP_DECLINE;
    pPart->pEnd = &pPart->pFree[nNew];
  }
  rc = hpStashGrow(&pPart->apRow, &pPart->nRowAlloc, pPart->nRow+1, sizeof(pRow));
  if( rc ) return rc;
  pRow = (HpStashRow*)pPart->pFree;
  assert( EIGHT_BYTE_ALIGNMENT(pRow) && pPart->pFree+n<=pPart->pEnd );
  if( pPlan->bRowid==0 ){
    pRow->iRowid = 0;
  }else if( p->pRead->run.pKept ){
    assert( pPlan->aCol[0].iStore<0 );
    pRow->iRowid = p->pRead->aRaw[0].aVal[i].i;
  }else{
    pRow->iRowid = p->pRead->batch.aRowid[i];
  }
  pRow->nByte = rec.nByte;
  pRow->nLocal = rec.nLocal;
  if( nHdr ){
    hpRawRecord(p, i, (u8*)&pRow[1], (u8*)&pRow[1]+nHdr);
  }else if( rec.z ){
    memcpy(&pRow[1], rec.z, rec.nLocal + (rec.nLocal<rec.nByte ? 4 : 0));
  }
  pPart->apRow[pPart->nRow++] = pRow;
  pPart->pFree += n;
  return SQLITE_OK;
}

/*
** Put the selected rows of a frame aside.
*/
static int hpStashRows(HpWorker *p, HpFrame *pFrame){
  HpStashPart *pPart = (HpStashPart*)p->pSink;
  HpStash *pStash = p->pPipe->pStash;
  u32 iSeq = p->pRead->run.iSeq;
  int ii, rc;
  /* A worker has no more than its share: runs are given out a few at a time */
  if( pPart->nRow+pFrame->nSel>pStash->mxRow/p->pPipe->nWorker ){
    return hpStashFull(p);
  }
  if( pPart->nRun==0 || pPart->aRun[pPart->nRun-1].iSeq!=iSeq ){
    rc = hpStashGrow(&pPart->aRun, &pPart->nRunAlloc, pPart->nRun+1,
                     sizeof(HpStashRun));
    if( rc ) return rc;
    pPart->aRun[pPart->nRun].iSeq = iSeq;
    pPart->aRun[pPart->nRun++].n = 0;
  }
  rc = hpRawLoad(p, pFrame, 0, p->pPlan->source.nCol);
  if( rc ) return rc;
  for(ii=0; ii<pFrame->nSel; ii++){
    rc = hpStashRow(p, pFrame->aSel[ii]);
    if( rc ) return rc;
  }
  pPart->aRun[pPart->nRun-1].n += pFrame->nSel;
  assert( pPart->nRow<=pStash->mxRow );
  hpBudgetHold(p, pPart->mem.nTotal + 8*pPart->nRowAlloc);
  return SQLITE_OK;
}

/* qsort(): runs in order */
static int hpStashCmp(const void *pA, const void *pB){
  u32 a = ((const HpStashRun*)pA)->iSeq;
  u32 b = ((const HpStashRun*)pB)->iSeq;
  return a<b ? -1 : a>b;
}

/*
** Make one list of what the workers of p have put aside.
*/
static int hpStashCombine(HpPipe *p){
  HpStash *pStash = p->pStash;
  HpStashRun *aRun;
  i64 nRun = 0;
  i64 n = 0;
  i64 j;
  int i;
  for(i=0; i<p->nWorker; i++){
    HpStashPart *pPart = &pStash->aPart[i];
    HpStashRow **apRow = pPart->apRow;
    if( pPart->pFree ) memset(pPart->pFree, 0, HP_SLACK);
    for(j=0; j<pPart->nRun; j++){
      pPart->aRun[j].apRow = apRow;
      apRow += pPart->aRun[j].n;
    }
    assert( apRow==pPart->apRow+pPart->nRow );
    nRun += pPart->nRun;
    pStash->nRow += pPart->nRow;
    p->pQuery->nHeld += pPart->mem.nTotal + 16*pPart->nRow;
  }
  pStash->nScanned = p->pass.nScanned;
  assert( pStash->apRow==0 );
  sqlite3BeginBenignMalloc();
  aRun = sqlite3_malloc64(sizeof(*aRun)*(u64)(nRun+1));
  pStash->apRow = sqlite3_malloc64(sizeof(*pStash->apRow)*(u64)(pStash->nRow+1));
  sqlite3EndBenignMalloc();
  if( aRun==0 || pStash->apRow==0 ){
    sqlite3_free(aRun);
    return HP_DECLINE;
  }
  for(i=0, j=0; i<p->nWorker; i++){
    HpStashPart *pPart = &pStash->aPart[i];
    if( pPart->nRun ) memcpy(&aRun[j], pPart->aRun, sizeof(*aRun)*(size_t)pPart->nRun);
    j += pPart->nRun;
  }
  qsort(aRun, (size_t)nRun, sizeof(*aRun), hpStashCmp);
  for(j=0; j<nRun; j++){
    memcpy(&pStash->apRow[n], aRun[j].apRow, sizeof(HpStashRow*)*(size_t)aRun[j].n);
    n += aRun[j].n;
  }
  assert( n==pStash->nRow );
  sqlite3_free(aRun);
  return SQLITE_OK;
}

/* Has there been no room for all rows? */
static int hpStashIsFull(const HpStash *p){ return AtomicLoad(&p->bFull); }

/* Rows that were read when these were put aside */
static u64 hpStashScanned(const HpStash *p){ return p->nScanned; }

static void hpStashRewind(HpStash *p){
  p->iNext = 0;
  p->iSeq = 0;
}
#endif /* SQLITE_OMIT_HP */
