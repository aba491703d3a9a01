/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_change: changes of an index, as pairs that can be sorted.
**
**    hpChangeMake(), hpChangeFree()    the changes of an index: none yet
**    hpChangeOp()       ... and one more, that of an instruction
**    hpChangeIsOrdered()    did they come in the order of the index?
**    hpChangeKey()      the normalized key of an entry, which is a record
**    hpChangePut()      ... as an entry or a change of the index
**    hpChangeSort()     put all of them in order
**    hpChangeNumber(), hpChangeIsSame(), hpChangeEntry()    what a change says
**    hpChangeIsTwice()  may only one of two entries be there?
**    hpChangeForget()   forget all but the first ones
**    hpChangeRepeats()  do many of them take back others?
**
** A key has the columns of the index, in its order and its collations, so that
** memcmp() puts entries in the order of the b-tree (exec/hp_key.c).  It ends
** with the number of the change: see HpDefer.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Least memory that is worth it */
#define HP_DEFER_MEMORY  (1<<20)

/*
** Let HpDefer.key be the normalized key of the entry whose record is
** aRecord[0..n-1].  A record of fewer columns than the index has a part of the
** key.  HP_DECLINE: it has more, or is none, or memory is short.
*/
static int hpChangeKey(HpDefer *p, const u8 *aRecord, u32 n){
  const KeyInfo *pInfo = p->pInfo;
  u32 nHdr, iHdr, iData;
  int i;
  int bNull = 0;
  p->key.n = 0;
  p->nField = 0;
  p->nPrefix = 0;
  if( n<2 ) return HP_DECLINE;
  iHdr = getVarint32(aRecord, nHdr);
  iData = nHdr;
  if( nHdr>n || nHdr<=iHdr ) return HP_DECLINE;
  for(i=0; iHdr<nHdr; i++){
    u32 t, nByte;
    CollSeq *pColl;        /* NULL for BINARY, however it was spelled */
    Mem mem;
    HpVal v;
    u8 tag;
    if( i>=pInfo->nAllField ) return HP_DECLINE;
    iHdr += getVarint32(&aRecord[iHdr], t);
    nByte = sqlite3VdbeSerialTypeLen(t);
    if( iHdr>nHdr || nByte>n-iData ) return HP_DECLINE;
    if( t>=12 ){
      tag = (t & 1) ? HP_TEXT : HP_BLOB;
      v.z = &aRecord[iData];
    }else{
      sqlite3VdbeSerialGet(&aRecord[iData], t, &mem);
      v.i = mem.u.i;
      tag = (mem.flags & MEM_Int) ? HP_INT
          : (mem.flags & MEM_Real) ? HP_REAL : HP_NULL;
    }
    iData += nByte;
    pColl = pInfo->aColl[i];
    if( hpKeyAppend(&p->key, tag, v, nByte, sqlite3IsBinary(pColl) ? 0 : pColl,
                    pInfo->aSortFlags[i]) ){
      return HP_DECLINE;
    }
    if( i<p->nKeyCol ) bNull |= tag==HP_NULL;
    if( i+1==p->nKeyCol && bNull==0 ) p->nPrefix = p->key.n;
  }
  p->nField = i;
  return i>0 ? SQLITE_OK : HP_DECLINE;
}

/*
** Put the change with this number, of the entry whose key is HpDefer.key and
** whose record is aRecord[0..n-1], to the changes of p.  HP_DECLINE: memory is
** short, and nothing has changed.
*/
static int hpChangePut(HpDefer *p, u32 iNumber, const u8 *aRecord, u32 n){
  HpRuns *pRun = &p->run;
  u32 nKey = p->key.n + HP_SZ_CHANGE;
  u32 nRec = n + (p->bUnique ? HP_SZ_PREFIX : 0);
  HpPair *pPair;
  assert( pRun->nSortedAlloc>=2*pRun->nEntry && p->key.n>0 );
  if( 2*(pRun->nEntry+1)>pRun->nSortedAlloc ){
    u32 nNew = pRun->nSortedAlloc ? 2*pRun->nSortedAlloc : 256;
    struct HpSorted *aNew;
    if( nNew>(u32)1<<30 ) return HP_DECLINE;
    aNew = sqlite3_realloc64(pRun->aSorted, sizeof(*aNew)*(u64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    pRun->aSorted = aNew;
    pRun->nSortedAlloc = nNew;
  }
  pPair = hpArenaAlloc(&pRun->arena, (i64)sizeof(HpPair)+nKey+nRec);
  if( pPair==0 ) return HP_DECLINE;
  pPair->nKey = nKey;
  pPair->nRec = nRec;
  memcpy(&pPair[1], p->key.a, p->key.n);
  sqlite3Put4byte((u8*)&pPair[1]+p->key.n, iNumber);
  memcpy((u8*)&pPair[1]+nKey, aRecord, n);
  if( p->bUnique ) sqlite3Put4byte((u8*)&pPair[1]+nKey+n, p->nPrefix);
  pRun->aSorted[pRun->nEntry++].aEntry = (u8*)pPair;
  p->nRecord += nRec;
  p->nByte += hpPairSize(pPair) + 2*sizeof(struct HpSorted);
  return SQLITE_OK;
}

/* The number of a change: odd if the entry is deleted */
static u32 hpChangeNumber(const HpPair *pPair){
  assert( pPair->nKey>HP_SZ_CHANGE );
  return sqlite3Get4byte((const u8*)&pPair[1] + pPair->nKey - HP_SZ_CHANGE);
}

/* Are two changes of the same entry? */
static int hpChangeIsSame(const HpPair *pA, const HpPair *pB){
  return pA->nKey==pB->nKey
      && memcmp(&pA[1], &pB[1], pA->nKey-HP_SZ_CHANGE)==0;
}

/*
** HpDefer.bUnique: may only one of two entries be there?  They agree in the
** columns that have to be unique, and none of these is NULL.
*/
static int hpChangeIsTwice(const HpPair *pA, const HpPair *pB){
  u32 n = hpSortPrefix((const u8*)pA);
  assert( n+HP_SZ_CHANGE<=pA->nKey );
  return n>0 && n==hpSortPrefix((const u8*)pB)
      && memcmp(&pA[1], &pB[1], n)==0;
}

/* The record of the entry of a change of p, and its size: *pn */
static const u8 *hpChangeEntry(
  const HpDefer *p,
  const HpPair *pPair,
  u32 *pn
){
  *pn = pPair->nRec - (p->bUnique ? HP_SZ_PREFIX : 0);
  assert( pPair->nRec>=2 );
  return (const u8*)&pPair[1] + pPair->nKey;
}

/*
** Put all changes in order.  Allocates nothing.
*/
static int hpChangeSort(HpDefer *p){
  HpRuns *pRun = &p->run;
  u32 n = pRun->nEntry;
  assert( 2*n<=pRun->nSortedAlloc && p->plan.bWhole && pRun->pPlan==&p->plan );
  if( n==0 ) return SQLITE_OK;
  return hpRadixSort(pRun, pRun->aSorted, n, 0);
}

/*
** Do changes of p take back earlier ones: rows that are updated over and over,
** or a queue?  SQLite does that in a few leaves that are in the cache.
*/
static int hpChangeRepeats(HpDefer *p){
  const struct HpSorted *a = p->run.aSorted;
  u32 i, nSame = 0;
  if( hpChangeSort(p) ) return 0;
  for(i=1; i<p->run.nEntry; i++){
    nSame += hpChangeIsSame((const HpPair*)a[i-1].aEntry,
                            (const HpPair*)a[i].aEntry);
  }
  return nSame>p->run.nEntry/4;
}

/*
** Forget all changes but the first n.
*/
static void hpChangeForget(HpDefer *p, u32 n){
  assert( n<=p->run.nEntry );
  while( n>0 && p->run.nEntry>n ){
    const HpPair *pPair;
    pPair = (const HpPair*)p->run.aSorted[--p->run.nEntry].aEntry;
    p->nRecord -= pPair->nRec;
    p->nByte -= hpPairSize(pPair) + 2*sizeof(struct HpSorted);
  }
  if( n==0 ){
    p->run.nEntry = 0;
    hpArenaReset(&p->run.arena);
    p->nRecord = p->nByte = 0;
    /* Numbers begin anew; the first changes are known */
    p->nCounted = MIN(p->nCounted, HP_DEFER_LOOK+1);
  }
}

/*
** Let pBuf be the record of the n values of aMem.
*/
static int hpChangeRecord(HpBuf *pBuf, Mem *aMem, int n){
  u64 nHdr = 0, nData = 0;
  HpVal v;
  int i, iPass;
  u8 *zHdr = 0, *zData = 0;
  assert( n>0 );
  pBuf->n = 0;
  for(iPass=0; iPass<2; iPass++){
    for(i=0; i<n; i++){
      Mem *pMem = &aMem[i];
      u32 nByte = 0;
      u8 tag;
      v.u = 0;
      if( pMem->flags & MEM_Null ){
        tag = HP_NULL;
      }else if( pMem->flags & (MEM_Int|MEM_IntReal) ){
        tag = HP_INT;
        v.i = pMem->u.i;
      }else if( pMem->flags & MEM_Real ){
        tag = HP_REAL;
        v.r = pMem->u.r;
      }else{
        if( ExpandBlob(pMem) ) return HP_DECLINE;
        tag = (pMem->flags & MEM_Str) ? HP_TEXT : HP_BLOB;
        v.z = (const u8*)pMem->z;
        nByte = (u32)pMem->n;
      }
      if( iPass==0 ){
        hpSerialRoom(tag, v, nByte, &nHdr, &nData);
      }else{
        u32 t = hpSerialType(tag, v, nByte);
        zHdr += hpSerialHead(zHdr, t);
        zData += hpSerialPut(zData, t, v, nByte);
      }
    }
    if( iPass==0 ){
      /* The size of the header counts itself */
      nHdr += nHdr<127 ? 1 : 2;
      if( nHdr>=1<<14 || nHdr+nData>SQLITE_MAX_LENGTH ) return HP_DECLINE;
      if( hpBufRoom(pBuf, (u32)(nHdr+nData)+8) ) return HP_DECLINE;
      zHdr = pBuf->a;
      zData = &pBuf->a[nHdr];
      zHdr += sqlite3PutVarint(zHdr, nHdr);
    }
  }
  pBuf->n = (u32)(nHdr+nData);
  assert( zHdr==&pBuf->a[nHdr] && zData==&pBuf->a[pBuf->n] );
  return SQLITE_OK;
}

/*
** Changes of pIndex, none yet, which may take nMost bytes.  bUnique: see
** HpDefer.  NULL: memory is short, or that is too little.
*/
static HpDefer *hpChangeMake(
  sqlite3 *db,
  const Index *pIndex,
  KeyInfo *pInfo,
  i64 nMost,
  int bUnique
){
  HpDefer *p;
  assert( pIndex->nColumn==pInfo->nAllField );
  if( nMost<HP_DEFER_MEMORY ) return 0;
  p = sqlite3_malloc64(sizeof(*p));
  if( p==0 ) return 0;
  memset(p, 0, sizeof(*p));
  p->db = db;
  p->pInfo = sqlite3KeyInfoRef(pInfo);
  p->nColumn = pIndex->nColumn;
  p->nKeyCol = pIndex->nKeyCol;
  p->bPart = pIndex->uniqNotNull && !bUnique;
  p->bUnique = (u8)bUnique;
  p->nMost = nMost;
  p->plan.bRows = 1;
  p->plan.bWhole = 1;
  p->plan.szEntry = sizeof(HpPair);
  p->run.pPlan = &p->plan;
  return p;
}

/*
** Free p and its changes.  It belongs to no list any more.
*/
static void hpChangeFree(HpDefer *p){
  hpArenaClear(&p->run.arena);
  sqlite3_free(p->run.aSorted);
  sqlite3_free(p->key.a);
  sqlite3_free(p->last.a);
  sqlite3_free(p->record.a);
  sqlite3KeyInfoUnref(p->pInfo);
  sqlite3_free(p);
}

/*
** The key of a change has been made: is it the greatest so far?  Keys that go
** through the index in order, again and again, do not come in its order.
*/
static int hpChangeOrder(HpDefer *p){
  if( p->nCounted>HP_DEFER_LOOK ) return SQLITE_OK;
  if( p->last.n>0 ){
    int c = memcmp(p->last.a, p->key.a, MIN(p->last.n, p->key.n));
    if( c>0 || (c==0 && p->last.n>p->key.n) ) return SQLITE_OK;
    p->nAhead++;
  }
  assert( p->key.n>0 );
  p->last.n = 0;
  return hpBufAppend(&p->last, p->key.a, p->key.n);
}

/* The first HP_DEFER_LOOK changes of p are known.  Are they in order? */
static int hpChangeIsOrdered(const HpDefer *p){
  assert( p->nCounted>=HP_DEFER_LOOK );
  return p->nAhead>=HP_DEFER_LOOK-HP_DEFER_LOOK/512;
}

/*
** Put the change that OP_IdxInsert or OP_IdxDelete, pOp, is to make to p.
** HP_DECLINE: it is not among them.
*/
static int hpChangeOp(HpDefer *p, const VdbeOp *pOp, Mem *aMem){
  int bDelete = pOp->opcode==OP_IdxDelete;
  const u8 *aRecord = (const u8*)aMem[pOp->p2].z;
  u32 n = (u32)aMem[pOp->p2].n;
  int rc = SQLITE_OK;
  int nField = p->bPart ? p->nKeyCol : p->nColumn;
  assert( bDelete || pOp->opcode==OP_IdxInsert );
  if( bDelete && p->bUnique ) return HP_DECLINE;
  if( bDelete ){
    rc = hpChangeRecord(&p->record, &aMem[pOp->p2], pOp->p5);
    aRecord = p->record.a;
    n = p->record.n;
  }
  if( rc==SQLITE_OK ) rc = hpChangeKey(p, aRecord, n);
  if( rc==SQLITE_OK && p->nField!=nField ) rc = HP_DECLINE;
  if( rc==SQLITE_OK && p->nCounted>=0x7ffffff0 ) rc = HP_DECLINE;
  if( rc==SQLITE_OK ) rc = hpChangeOrder(p);
  if( rc==SQLITE_OK ){
    rc = hpChangePut(p, 2*(p->nCounted+1) + bDelete, aRecord, n);
  }
  if( rc==SQLITE_OK ) p->nCounted++;
  return rc;
}
#endif /* SQLITE_OMIT_HP */
