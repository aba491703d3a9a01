/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_spill: entries written to a temporary file as sorted runs.
**
**    hpSpillHeld()      write the entries that a worker holds
**    hpSpillOpen(), hpSpillNote(), hpSpillWrite()   the file
**    hpSpillSize(), hpSpillRecord()    an entry as a record
**    hpSpillBytes(), hpSpillHead()     the size of one; where its entry begins
**    hpSpillPointers()  make a record that was read an entry again
**    hpSpillClose()     remove the file, free everything
**
** A record in the file is
**
**    u64       bytes of the record, a multiple of 8
**    entry     HpEntryPlan.szEntry bytes.  Pointers in it mean nothing
**    more      what HpEntryType.xWrite() adds
**    key       the key record, HpHead.nRec bytes
**
** That of an entry that is a key and a record is itself (HpPair).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_SPILL_BUF   (128*1024)    /* Bytes held before they are written */
#define HP_SPILL_IO    (64*1024)     /* Bytes written or read at once: the unix
                                     ** VFS does not expect 128 KiB or more */
#define HP_MX_RUN      2000    /* Most sorted runs of a scan */

/* The temporary file of a worker */
struct HpSpill {
  sqlite3_file *pFd;
  i64 nByte;             /* Bytes written */
  u64 mxRecord;          /* Bytes of the largest record */
  int nRun;              /* Sorted runs in the file */
  int nRunAlloc;
  struct HpSpillRun {
    i64 iEnd;              /* Where it ends */
    u64 mxRecord;          /* Bytes of its largest record */
  } *aRun;
};

/* Where in a record the entry begins */
static u8 hpSpillHead(const HpEntryPlan *pPlan){ return pPlan->bWhole ? 0 : 8; }

/* Bytes of the record that begins at a, of which 8 bytes are there */
static u64 hpSpillBytes(const HpEntryPlan *pPlan, const u8 *a){
  u64 n;
  if( pPlan->bWhole ) return hpPairSize((const HpPair*)a);
  memcpy(&n, a, 8);
  return n;
}

/*
** Bytes of the record of an entry.
*/
static u64 hpSpillSize(const HpEntryPlan *pPlan, const u8 *aEntry){
  u64 n;
  if( pPlan->bWhole ) return hpPairSize((const HpPair*)aEntry);
  n = 8 + pPlan->szEntry + (u64)hpEntryHead(pPlan, aEntry)->nRec;
  if( pPlan->pType && pPlan->pType->xSize ){
    n += pPlan->pType->xSize(pPlan, aEntry);
  }
  return ROUND8(n);
}

/*
** Append the record of an entry to pBuf.
*/
static int hpSpillRecord(
  const HpEntryPlan *pPlan,
  const u8 *aEntry,
  HpBuf *pBuf
){
  const HpHead *pHead = hpEntryHead(pPlan, aEntry);
  u64 n = hpSpillSize(pPlan, aEntry);
  u8 *a, *aBase;
  if( n>SQLITE_MAX_LENGTH || hpBufRoom(pBuf, (u32)n) ) return HP_DECLINE;
  a = &pBuf->a[pBuf->n];
  assert( (pBuf->n & 7)==0 && n>=8+(u64)pPlan->szEntry );
  pBuf->n += (u32)n;
  if( pPlan->bWhole ){
    memcpy(a, aEntry, n);
    return SQLITE_OK;
  }
  memset(&a[n-8], 0, 8);
  memcpy(a, &n, 8);
  aBase = &a[8];
  memcpy(aBase, aEntry, pPlan->szEntry);
  a = &aBase[pPlan->szEntry];
  if( pPlan->pType && pPlan->pType->xWrite ){
    a = pPlan->pType->xWrite(pPlan, aEntry, aBase, a);
  }
  if( pHead->nRec ) memcpy(a, pHead->z, pHead->nRec);
  a += pHead->nRec;
  /* It is as long as hpSpillSize() says, which is a multiple of 8 */
  assert( a<=&aBase[n-8] && a>&aBase[n-16] );
  return SQLITE_OK;
}

/*
** Set the pointers of an entry that was read from a file.
*/
static void hpSpillPointers(const HpEntryPlan *pPlan, u8 *aEntry){
  HpHead *pHead = hpEntryHead(pPlan, aEntry);
  u8 *a = &aEntry[pPlan->szEntry];
  if( pPlan->bWhole ) return;
  if( pPlan->pType && pPlan->pType->xPoint ){
    a = pPlan->pType->xPoint(pPlan, aEntry, a);
  }
  pHead->z = pHead->nRec ? a : 0;
}

/* The run being written has a record of n bytes */
static void hpSpillNote(struct HpSpill *pSpill, u64 n){
  struct HpSpillRun *pRun = &pSpill->aRun[pSpill->nRun];
  assert( (n & 7)==0 && pSpill->nRun<pSpill->nRunAlloc );
  pRun->mxRecord = MAX(pRun->mxRecord, n);
  pSpill->mxRecord = MAX(pSpill->mxRecord, n);
}

/*
** Write the bytes of pBuf to the end of the file, and empty it.
*/
static int hpSpillWrite(struct HpSpill *pSpill, HpBuf *pBuf){
  int rc = SQLITE_OK;
  u32 i;
  assert( (pBuf->n & 7)==0 && pSpill->nRun<pSpill->nRunAlloc );
  for(i=0; i<pBuf->n && rc==SQLITE_OK; i+=HP_SPILL_IO){
    u32 n = MIN(HP_SPILL_IO, pBuf->n-i);
    rc = sqlite3OsWrite(pSpill->pFd, &pBuf->a[i], (int)n, pSpill->nByte+i);
  }
  pSpill->nByte += pBuf->n;
  pBuf->n = 0;
  return rc;
}

/*
** Get ready to write one more run to the file of a worker.
*/
static int hpSpillOpen(HpRuns *pRuns){
  const HpWorker *p = pRuns->pWorker;
  struct HpSpill *pSpill = pRuns->pSpill;
  /* PRAGMA temp_store=memory: there is no file to write to */
  if( sqlite3TempInMemory(p->pPipe->pQuery->db) ) return HP_DECLINE;
  if( pSpill==0 ){
    pRuns->pSpill = pSpill = sqlite3_malloc64(sizeof(*pSpill));
    if( pSpill==0 ) return HP_DECLINE;
    memset(pSpill, 0, sizeof(*pSpill));
    if( vdbeSorterOpenTempFile(p->db, 0, &pSpill->pFd) ) return HP_DECLINE;
  }
  if( pSpill->nRun>=HP_MX_RUN
   || hpBufGrow(&pSpill->aRun, &pSpill->nRunAlloc, pSpill->nRun,
                sizeof(pSpill->aRun[0]))
  ){
    return HP_DECLINE;
  }
  pSpill->aRun[pSpill->nRun].mxRecord = 0;
  assert( pSpill->nRun==0 || pSpill->aRun[pSpill->nRun-1].iEnd==pSpill->nByte );
  return SQLITE_OK;
}

/*
** Write the entries of a worker as a sorted run to its file.  The caller forgets
** them.  Whatever goes wrong, stock's code may still do without.
*/
static int hpSpillHeld(HpRuns *pRuns){
  const HpEntryPlan *pPlan = pRuns->pPlan;
  const HpWorker *p = pRuns->pWorker;
  struct HpSpill *pSpill;
  HpBuf buf;
  u32 i;
  int rc;

  assert( pRuns->nEntry>0 );
  if( hpSpillOpen(pRuns) ) return HP_DECLINE;
  pSpill = pRuns->pSpill;
  rc = pPlan->pType ? pPlan->pType->xNote(pRuns, 1) : SQLITE_OK;
  if( rc ) return rc;
  rc = hpRadixHeld(pRuns);
  memset(&buf, 0, sizeof(buf));
  if( rc==SQLITE_OK ) rc = hpBufRoom(&buf, HP_SPILL_BUF);
  for(i=0; i<pRuns->nEntry && rc==SQLITE_OK; i++){
    u32 nBefore = buf.n;
    if( !pRuns->bOrdered ){
      hpRadixPrefetch(pPlan, pRuns->aSorted, i, pRuns->nEntry)
    }
    rc = hpSpillRecord(pPlan, hpRadixAt(pRuns, i), &buf);
    hpSpillNote(pSpill, buf.n-nBefore);
    if( rc==SQLITE_OK && buf.n>=HP_SPILL_BUF && hpSpillWrite(pSpill, &buf) ){
      rc = HP_DECLINE;
    }
    if( rc==SQLITE_OK && i%HP_POLL==HP_POLL-1 ) rc = hpThreadStopped(p->pPipe);
  }
  if( rc==SQLITE_OK && buf.n && hpSpillWrite(pSpill, &buf) ) rc = HP_DECLINE;
  sqlite3_free(buf.a);
  pSpill->aRun[pSpill->nRun++].iEnd = pSpill->nByte;
  /* Each run will have one record in memory.  Large ones would be too much */
  if( rc==SQLITE_OK && pPlan->pType && pPlan->pType->bLarge
   && pSpill->nRun*pSpill->mxRecord>pSpill->nRun*(u64)HP_SPILL_BUF
                                    +(u64)p->pPipe->budget.nShare
  ){
    rc = HP_DECLINE;
  }
  return rc;
}

/*
** Free all that pRuns has.
*/
static void hpSpillClose(HpRuns *pRuns){
  VVA_ONLY( const HpPipe *pPipe = pRuns->pWorker->pPipe; )
  /* Nobody reads them.  A worker may close its partitions in its own thread */
  assert( pPipe->pCrew==0 || pPipe->pOut->nMerge==0 );
  hpArenaClear(&pRuns->memRun);
  if( pRuns->pSpill ){
    if( pRuns->pSpill->pFd ) sqlite3OsCloseFree(pRuns->pSpill->pFd);
    sqlite3_free(pRuns->pSpill->aRun);
    sqlite3_free(pRuns->pSpill);
    pRuns->pSpill = 0;
  }
  sqlite3_free(pRuns->aMemRun);
  sqlite3_free(pRuns->aSorted);
  sqlite3_free(pRuns->apChunk);
  sqlite3_free(pRuns->key.a);
  hpArenaClear(&pRuns->arena);
}
#endif /* SQLITE_OMIT_HP */
