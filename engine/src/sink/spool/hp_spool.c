/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_spool: the rows of a scan as records, in the order of the scan.
**
**    hpSpoolOpen()      a worker begins
**    hpSpoolRows()      add the selected rows of a frame
**    hpSpoolFinish()    a worker has added all of its rows
**    hpSpoolCombine()   all workers have: is everything in order?
**    hpSpoolGive()      give the records to somebody, part by part
**    hpSpoolEntry()     the first row of a part
**    hpSpoolClose()     free what a worker has
**
** CREATE TABLE AS and INSERT ... SELECT (upkeep/hp_fill.c) put rows into a
** table as the scan comes to them.  Here each worker makes the records of its
** runs of leaves.  A part is some records of one run, one behind the other:
**
**    worker 0    run 0: part, part    run 2: part          run 5: part
**    worker 1    run 1: part          run 3: part, part    run 4: part
**
** The runs of a worker ascend, so going through all parts in the order of the
** scan is a merge of as many lists as there are workers, one comparison a part,
** and nothing is sorted.
**
** A row of a part is
**
**    u32       bytes of the record
**    i64       the rowid, if the plan says what it is (HpFillPlan.iKey)
**    record    as SQLite's OP_MakeRecord would have made it
**
** Rowids have to be integers that ascend: within a part that is seen when rows
** are added, from part to part by hpSpoolCombine().  They do where an INTEGER
** PRIMARY KEY is copied.  Else SQLite's loop runs, and so it does for NULL in a
** column that is NOT NULL: who is right there, and with what message, is not
** for the workers to say.
**
** Memory.  Parts of HP_SPOOL_PART bytes are kept as long as hp_memory has room
** for them.  Those that come later go to a temporary file of the worker, and
** are read once.  With PRAGMA temp_store=memory the scan is given up instead.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Bytes of a part: it is made in the processor's cache */
#define HP_SPOOL_PART  (64*1024)

/* Some rows of a run of leaves */
typedef struct HpSpoolPart HpSpoolPart;
struct HpSpoolPart {
  HpSpoolPart *pNext;    /* The worker's next one */
  u32 iSeq;              /* The run, in the order of the scan */
  u32 nRow;
  u32 n;                 /* Bytes */
  const u8 *a;           /* The rows; NULL: they are in the file, ... */
  i64 iOfst;             /* ... from here on */
  i64 iFirst, iLast;     /* The rowids of the first row and of the last one */
};

/* What a worker has */
typedef struct HpSpool HpSpool;
struct HpSpool {
  HpArena mem;           /* Memory of parts */
  HpSpoolPart *pFirst, *pLast;   /* Parts, in the order of the scan */
  HpSpoolPart now;       /* The one that is being made, ... */
  HpBuf buf;             /* ... and its rows */
  sqlite3_file *pFd;     /* The temporary file, or NULL, ... */
  i64 nFile;             /* ... and the bytes in it */
  u32 mxFile;            /* Bytes of the largest part that is there */
  u8 *aRead;             /* Of the first worker: memory to read one */
};

/* Bytes in front of the record of a row */
#define hpSpoolHead(PLAN) ((u32)((PLAN)->iKey==HP_NO_VEC ? 4 : 12))

/*
** Begin in worker p.
*/
static int hpSpoolOpen(HpWorker *p, Mem *aMem){
  HpSpool *pNew = sqlite3MallocZero(sizeof(*pNew));
  UNUSED_PARAMETER(aMem);
  assert( p->pSink==0 && p->pPlan->pFill!=0 );
  p->pSink = pNew;
  if( pNew==0 ) return HP_DECLINE;
  hpBudgetArena(p->pPipe, &pNew->mem);
  return SQLITE_OK;
}

/*
** Free what worker p has.
*/
static void hpSpoolClose(HpWorker *p){
  HpSpool *pSpool = (HpSpool*)p->pSink;
  if( pSpool ){
    if( pSpool->pFd ) sqlite3OsCloseFree(pSpool->pFd);
    hpArenaClear(&pSpool->mem);
    sqlite3_free(pSpool->buf.a);
    sqlite3_free(pSpool->aRead);
    sqlite3_free(pSpool);
    p->pSink = 0;
  }
}

/*
** Write the n bytes at a to the end of worker p's file.  Whatever goes wrong,
** SQLite may do without.
*/
static int hpSpoolWrite(HpWorker *p, const u8 *a, u32 n){
  HpSpool *pSpool = (HpSpool*)p->pSink;
  u32 i;
  if( sqlite3TempInMemory(p->pPipe->pQuery->db) ) return HP_DECLINE;
  if( pSpool->pFd==0 && vdbeSorterOpenTempFile(p->db, 0, &pSpool->pFd) ){
    return HP_DECLINE;
  }
  assert( n>0 && pSpool->nFile>=0 );
  for(i=0; i<n; i+=HP_SPILL_IO){
    if( sqlite3OsWrite(pSpool->pFd, &a[i], (int)MIN(HP_SPILL_IO, n-i),
                       pSpool->nFile+i)
    ){
      return HP_DECLINE;
    }
  }
  pSpool->nFile += n;
  pSpool->mxFile = MAX(pSpool->mxFile, n);
  return SQLITE_OK;
}

/*
** The part that is being made is complete: put it aside.
*/
static int hpSpoolPut(HpWorker *p){
  HpSpool *pSpool = (HpSpool*)p->pSink;
  HpBuf *pBuf = &pSpool->buf;
  HpSpoolPart *pPart;
  assert( pBuf->n>0 && pSpool->now.nRow>0 );
  assert( pSpool->pLast==0 || pSpool->pLast->iSeq<=pSpool->now.iSeq );
  pPart = hpArenaAlloc(&pSpool->mem, sizeof(*pPart));
  if( pPart==0 ) return HP_DECLINE;
  *pPart = pSpool->now;
  pPart->n = pBuf->n;
  hpBudgetHold(p, pSpool->mem.nTotal + pBuf->nAlloc);
  if( hpBudgetMay(p, pBuf->n, HP_WISH) ){
    u8 *a = hpArenaAlloc(&pSpool->mem, pBuf->n);
    if( a==0 ) return HP_DECLINE;
    memcpy(a, pBuf->a, pBuf->n);
    pPart->a = a;
  }else{
    pPart->iOfst = pSpool->nFile;
    if( hpSpoolWrite(p, pBuf->a, pBuf->n) ) return HP_DECLINE;
  }
  if( pSpool->pLast ){
    pSpool->pLast->pNext = pPart;
  }else{
    pSpool->pFirst = pPart;
  }
  pSpool->pLast = pPart;
  memset(&pSpool->now, 0, sizeof(pSpool->now));
  pBuf->n = 0;
  return SQLITE_OK;
}

/*
** Is there a NULL among the selected rows of pVec?
*/
static int hpSpoolHasNull(const HpFrame *p, const HpVec *pVec){
  int ii;
  assert( hpVecIsSelection(p) && p->nSel>0 );
  if( (pVec->mType & HP_NULL)==0 ) return 0;
  for(ii=0; ii<p->nSel; ii++){
    if( pVec->aTag[p->aSel[ii] & pVec->mIdx]==HP_NULL ) return 1;
  }
  return 0;
}

/*
** Append row i of the frame to the part that is being made.
*/
static int hpSpoolAdd(
  HpSpool *pSpool,
  const HpFillPlan *pPlan,
  const HpFrame *p,
  int i
){
  HpSpoolPart *pNow = &pSpool->now;
  HpBuf *pBuf = &pSpool->buf;
  u32 nHead = hpSpoolHead(pPlan);
  u32 iAt = pBuf->n;
  u32 n;
  if( hpBufRoom(pBuf, nHead) ) return HP_DECLINE;
  pBuf->n += nHead;
  if( hpSortRecord(&pPlan->rows, p, i, pBuf) ) return HP_DECLINE;
  n = pBuf->n - iAt - nHead;
  if( n>(u32)p->db->aLimit[SQLITE_LIMIT_LENGTH] ) return HP_DECLINE;
  memcpy(&pBuf->a[iAt], &n, 4);
  if( nHead>4 ){
    HpVal v;
    u32 nVal;
    u8 tag = hpVecValue(&p->aVec[pPlan->iKey], i, &v, &nVal);
    if( tag!=HP_INT || (pNow->nRow && v.i<=pNow->iLast) ) return HP_DECLINE;
    memcpy(&pBuf->a[iAt+4], &v.i, 8);
    if( pNow->nRow==0 ) pNow->iFirst = v.i;
    pNow->iLast = v.i;
  }
  pNow->nRow++;
  return SQLITE_OK;
}

/*
** Add the selected rows of a frame.
*/
static int hpSpoolRows(HpWorker *pWorker, HpFrame *p){
  HpSpool *pSpool = (HpSpool*)pWorker->pSink;
  const HpFillPlan *pPlan = pWorker->pPlan->pFill;
  u32 iSeq = (u32)(p->iPos>>32);
  int rc = SQLITE_OK;
  int k, ii;
  assert( p->pWorker==pWorker && hpVecIsSelection(p) );
  if( pSpool->now.nRow && pSpool->now.iSeq!=iSeq ){
    rc = hpSpoolPut(pWorker);
    if( rc ) return rc;
  }
  for(k=0; k<pPlan->nNotNull; k++){
    if( hpSpoolHasNull(p, &p->aVec[pPlan->aNotNull[k]]) ) return HP_DECLINE;
  }
  hpSortExact(&pPlan->rows, p);
  rc = hpSortLoad(&pPlan->rows, p);
  for(ii=0; ii<p->nSel && rc==SQLITE_OK; ii++){
    pSpool->now.iSeq = iSeq;
    rc = hpSpoolAdd(pSpool, pPlan, p, p->aSel[ii]);
    if( rc==SQLITE_OK && pSpool->buf.n>=HP_SPOOL_PART ){
      rc = hpSpoolPut(pWorker);
    }
  }
  if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
  return rc;
}

/*
** All rows of worker p are there.
*/
static int hpSpoolFinish(HpWorker *p){
  HpSpool *pSpool = (HpSpool*)p->pSink;
  assert( p->rc==SQLITE_OK && (pSpool->now.nRow>0)==(pSpool->buf.n>0) );
  return pSpool->now.nRow ? hpSpoolPut(p) : SQLITE_OK;
}

/* Where somebody is who goes through all parts */
typedef struct HpSpoolWalk HpSpoolWalk;
struct HpSpoolWalk {
  const HpSpoolPart *apPart[HP_MX_THREAD];   /* Of each worker the next one */
  int iWorker;           /* Whose part hpSpoolNext() has returned */
};

/* Begin with the first part */
static void hpSpoolFirst(const HpPipe *p, HpSpoolWalk *pWalk){
  int i;
  assert( p->pCrew==0 && p->nWorker<=HP_MX_THREAD );
  for(i=0; i<p->nWorker; i++){
    pWalk->apPart[i] = ((const HpSpool*)p->apWorker[i]->pSink)->pFirst;
  }
}

/* The next part in the order of the scan, or NULL */
static const HpSpoolPart *hpSpoolNext(const HpPipe *p, HpSpoolWalk *pWalk){
  const HpSpoolPart *pPart = 0;
  int i;
  for(i=0; i<p->nWorker; i++){
    const HpSpoolPart *pNext = pWalk->apPart[i];
    if( pNext && (pPart==0 || pNext->iSeq<pPart->iSeq) ){
      pPart = pNext;
      pWalk->iWorker = i;
    }
  }
  if( pPart ) pWalk->apPart[pWalk->iWorker] = pPart->pNext;
  return pPart;
}

/*
** All workers are done.  Are rowids in order?  Allocate what reading parts from
** files takes: afterwards it is too late to decline.
*/
static int hpSpoolCombine(HpPipe *p){
  HpSpool *pFirst = (HpSpool*)p->apWorker[0]->pSink;
  u32 mxFile = 0;
  int i;
  assert( p->pCrew==0 && pFirst->aRead==0 );
  if( p->pPlan->pFill->iKey!=HP_NO_VEC ){
    const HpSpoolPart *pPart, *pLast = 0;
    HpSpoolWalk walk;
    hpSpoolFirst(p, &walk);
    while( (pPart = hpSpoolNext(p, &walk))!=0 ){
      if( pLast && pPart->iFirst<=pLast->iLast ) return HP_DECLINE;
      pLast = pPart;
    }
  }
  for(i=0; i<p->nWorker; i++){
    const HpSpool *pSpool = (const HpSpool*)p->apWorker[i]->pSink;
    mxFile = MAX(mxFile, pSpool->mxFile);
    p->pQuery->db->nSpill += pSpool->nFile;
  }
  if( mxFile ){
    hpConfigStat(p->pQuery->db, HP_STAT_SPILLED);
    pFirst->aRead = sqlite3_malloc64(mxFile);
    if( pFirst->aRead==0 ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** Read a part of pSpool from its file to a.
*/
static int hpSpoolRead(const HpSpool *pSpool, const HpSpoolPart *pPart, u8 *a){
  int rc = SQLITE_OK;
  u32 i;
  assert( pPart->a==0 && pPart->iOfst+pPart->n<=pSpool->nFile );
  for(i=0; i<pPart->n && rc==SQLITE_OK; i+=HP_SPILL_IO){
    rc = sqlite3OsRead(pSpool->pFd, &a[i], (int)MIN(HP_SPILL_IO, pPart->n-i),
                       pPart->iOfst+i);
  }
  return rc==SQLITE_IOERR_SHORT_READ ? SQLITE_IOERR_READ : rc;
}

/*
** The row at *pa of a part: its record, *pn bytes, and its rowid if the plan
** says what that is.  *pa is set to what comes behind it.
*/
static SQLITE_INLINE const u8 *hpSpoolEntry(
  const HpFillPlan *pPlan,
  const u8 **pa,
  u32 *pn,
  i64 *piKey
){
  u32 nHead = hpSpoolHead(pPlan);
  const u8 *aRecord = *pa + nHead;
  memcpy(pn, *pa, 4);
  if( nHead>4 ) memcpy(piKey, *pa+4, 8);
  assert( *pn>0 );
  *pa = aRecord + *pn;
  return aRecord;
}

/*
** Give all parts to xGive in the order of the scan, in this thread.
*/
static int hpSpoolGive(
  HpPipe *p,
  int (*xGive)(void*, const u8*, u32),   /* Takes so many rows */
  void *pGive
){
  u8 *aRead = ((HpSpool*)p->apWorker[0]->pSink)->aRead;
  const HpSpoolPart *pPart;
  HpSpoolWalk walk;
  int rc = SQLITE_OK;
  hpSpoolFirst(p, &walk);
  while( rc==SQLITE_OK && (pPart = hpSpoolNext(p, &walk))!=0 ){
    const u8 *a = pPart->a;
    assert( pPart->nRow>0 && (a!=0 || aRead!=0) );
    if( a==0 ){
      rc = hpSpoolRead((const HpSpool*)p->apWorker[walk.iWorker]->pSink, pPart,
                       aRead);
      a = aRead;
    }
    if( rc==SQLITE_OK ) rc = xGive(pGive, a, pPart->nRow);
  }
  return rc;
}
#endif /* SQLITE_OMIT_HP */
