/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_checkrows: are rows as they have to be?  For PRAGMA integrity_check.
**
**    hpCheckRowsOpen()     begin
**    hpCheckRowsBatch()    look at the rows of a batch
**    hpCheckRowsRun()      a run of leaves is done
**    hpCheckRowsFinish()   all runs of this worker are
**    hpCheckRowsCombine()  what all workers have found
**    hpCheckRowsClose()    free everything
**
** Whatever is not as it has to be is declined: SQLite's code says what it is.
** A pipe (HpCheckPlan) has some of
**
**    1.  types that a column may not have, NULL among them;
**    2.  expressions that may not be false: CHECK;
**    3.  an order in which rows come, without two that are equal, nor two that
**        agree in columns that are UNIQUE;
**    4.  sums over the entries of indexes.
**
** Sums.  Whether each row of a table is in an index, SQLite finds by a search
** for each.  Here the pipe of the table computes the entry of each row, and
** adds up hash values of these; the pipe of the index adds up those of the
** entries that it holds.  If both have the same number, and the same sum, they
** are the same, in whatever order they came.  If moreover the index is in
** order, each search would have found its entry.  A hash value has two parts of
** 64 bits, under keys that are drawn each time, so that no file can be made to
** deceive: different entries have equal sums with a probability of about 2 to
** the power of -120.
**
** What is hashed is what SQLite compares.  Integers and reals that are equal
** are the same: those that are a double are hashed as that.  Text is hashed by
** its bytes, whatever the collation, since an index has to have the text of the
** table.
**
** Order.  Each row of a batch is compared with the one before it, column by
** column: the next column only where two are equal so far.  Between batches the
** last row is kept, and of each run the first and the last one.  In the end the
** runs of all workers are put in order, and their borders are compared.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Places in HpCheckAll.aKey[] */
#define HP_CHECK_ROW    0    /* Of an entry, from column to column */
#define HP_CHECK_NULL   1
#define HP_CHECK_NUMBER 2
#define HP_CHECK_BIG    3    /* An integer that is no double */
#define HP_CHECK_TEXT   4
#define HP_CHECK_BLOB   5
#define HP_CHECK_STRING 6    /* Of the bytes of both */
#define HP_CHECK_FIRST  7    /* The beginning of an entry */

/* A text of up to so many bytes could be a number */
#define HP_CHECK_DIGITS 100

/* One value of a row that is kept */
typedef struct HpCheckVal HpCheckVal;
struct HpCheckVal {
  u8 tag;
  u32 n;
  HpVal v;
};

/* The ends of a run of leaves */
typedef struct HpCheckEnds HpCheckEnds;
struct HpCheckEnds {
  u32 iSeq;              /* The number of the run */
  HpCheckVal *aFirst;    /* Its first row, ... */
  HpCheckVal *aLast;     /* ... and its last one; or NULL */
};

/* What a worker has */
typedef struct HpCheckRows HpCheckRows;
struct HpCheckRows {
  const HpCheckPlan *pPlan;
  const HpCheckAll *pAll;
  HpCheckSum *aSum;      /* For each of HpCheckPlan.aSum */
  u64 *aHash;            /* Of each slot, two hash values for each row */
  u16 *aEqual;           /* Rows that equal the one before, so far */
  HpCheckVal *aLast;     /* The last row of the batch before, ... */
  HpBuf last;            /* ... and its texts */
  u8 bLast;              /* There is one, of the same run */
  HpCheckEnds *aEnds;    /* Of its runs */
  int nEnds, nEndsAlloc;
  HpArena mem;           /* Memory of all of that */
};

/* Two numbers multiplied, both halves of the product mixed */
static SQLITE_INLINE u64 hpCheckRowsMix(u64 x, u64 y){
#if defined(__SIZEOF_INT128__)
  __extension__ unsigned __int128 z = (unsigned __int128)x*y;
  return (u64)z ^ (u64)(z>>64);
#else
  u64 a = (x>>32)*(y>>32);
  u64 b = (x>>32)*(y & 0xffffffff);
  u64 c = (x & 0xffffffff)*(y>>32);
  u64 d = (x & 0xffffffff)*(y & 0xffffffff);
  u64 m = (d>>32) + (b & 0xffffffff) + (c & 0xffffffff);
  return (x*y) ^ (a + (b>>32) + (c>>32) + (m>>32));
#endif
}

/* The hash of n bytes under keys aKey[] */
static u64 hpCheckRowsBytes(const u8 *z, u32 n, u64 h, const u64 *aKey){
  u64 k = aKey[HP_CHECK_STRING];
  u32 nAll = n;
  u64 x, y;
  assert( h==aKey[HP_CHECK_TEXT] || h==aKey[HP_CHECK_BLOB] );
  for(; n>16; n-=16, z+=16){
    h = hpCheckRowsMix((u64)hpRaw8(z)^k, (u64)hpRaw8(&z[8])^h);
  }
  x = hpLoadBytes(z, MIN(n, 8));
  y = n>8 ? hpLoadBytes(&z[8], n-8) : 0;
  h = hpCheckRowsMix(x^k, y^h);
  return hpCheckRowsMix(h^nAll, aKey[HP_CHECK_ROW]);
}

/* The hash of integer i */
static SQLITE_INLINE u64 hpCheckRowsInt(i64 i, const u64 *aKey){
  HpVal x;
  if( !hpIsExact(i) ){
    x.r = (double)i;
    if( x.r>=9223372036854775808.0 || (i64)x.r!=i ){
      return hpCheckRowsMix((u64)i^aKey[HP_CHECK_BIG], aKey[HP_CHECK_FIRST]);
    }
  }
  x.r = (double)i;
  return hpCheckRowsMix(x.u^aKey[HP_CHECK_NUMBER], aKey[HP_CHECK_TEXT]);
}

/* The hash of a value */
static SQLITE_INLINE u64 hpCheckRowsValue(
  u8 tag,
  HpVal v,
  u32 n,
  const u64 *aKey
){
  switch( tag ){
    case HP_INT:
      return hpCheckRowsInt(v.i, aKey);
    case HP_REAL:
      if( v.r==0.0 ) v.r = 0.0;
      return hpCheckRowsMix(v.u^aKey[HP_CHECK_NUMBER], aKey[HP_CHECK_TEXT]);
    case HP_TEXT:
      return hpCheckRowsBytes(v.z, n, aKey[HP_CHECK_TEXT], aKey);
    case HP_BLOB:
      return hpCheckRowsBytes(v.z, n, aKey[HP_CHECK_BLOB], aKey);
  }
  return aKey[HP_CHECK_NULL];
}

/* The two hash values of row i in slot k are at this place and the next */
#define hpCheckRowsAt(P,K,I) (&(P)->aHash[2*((i64)(K)*HP_BATCH+(I))])

/*
** Memory for a worker.
*/
static int hpCheckRowsOpen(HpWorker *pWorker, Mem *aMem){
  const HpCheckPlan *pPlan = pWorker->pPlan->pCheck;
  HpCheckRows *p = sqlite3MallocZero(sizeof(*p));
  i64 nHash = 2*sizeof(u64)*HP_BATCH*(i64)pPlan->nSlot;
  int i;
  UNUSED_PARAMETER(aMem);
  assert( pWorker->pPipe->pQuery->pCheck!=0 && pWorker->pSink==0 );
  if( p==0 ) return HP_DECLINE;
  pWorker->pSink = p;
  p->pPlan = pPlan;
  p->pAll = pWorker->pPipe->pQuery->pCheck;
  p->aSum = hpArenaAlloc(&p->mem, sizeof(HpCheckSum)*MAX(1, pPlan->nSum));
  p->aHash = hpArenaAlloc(&p->mem, MAX(8, nHash));
  p->aEqual = hpArenaAlloc(&p->mem, sizeof(u16)*HP_BATCH);
  p->aLast = hpArenaAlloc(&p->mem, sizeof(HpCheckVal)*MAX(1, pPlan->order.n));
  if( p->aSum==0 || p->aHash==0 || p->aEqual==0 || p->aLast==0 ){
    return HP_DECLINE;
  }
  memset(p->aSum, 0, sizeof(HpCheckSum)*MAX(1, pPlan->nSum));
  for(i=0; i<pPlan->nSlot; i++){
    assert( pPlan->aSlot[i].iVec<pWorker->pPlan->prog.nVec );
  }
  return SQLITE_OK;
}

static void hpCheckRowsClose(HpWorker *pWorker){
  HpCheckRows *p = (HpCheckRows*)pWorker->pSink;
  if( p ){
    sqlite3_free(p->last.a);
    sqlite3_free(p->aEnds);
    hpArenaClear(&p->mem);
    sqlite3_free(p);
    pWorker->pSink = 0;
  }
}

/* Could SQLite make a number of a text of n bytes at z?  True if in doubt */
static int hpCheckRowsIsNumber(const u8 *z, u32 n){
  char aCopy[HP_CHECK_DIGITS+1];
  double r;
  if( !hpVecMayBeNumber(z, n) ) return 0;
  if( n>HP_CHECK_DIGITS ) return 1;
  memcpy(aCopy, z, n);
  aCopy[n] = 0;
  return sqlite3AtoF(aCopy, &r)>0;
}

/*
** Has no row a type that a column may not have?  Of stored columns HpVec.mType
** names the types that occur, and those only; and of what is no number, and so
** NULL, that it is stored as a real.
*/
static int hpCheckRowsTypes(const HpCheckPlan *pPlan, HpFrame *pFrame){
  int k;
  assert( pFrame->nSel==pFrame->nRow );
  for(k=0; k<pPlan->nType; k++){
    const struct HpCheckType *pType = &pPlan->aType[k];
    const HpVec *pVec = &pFrame->aVec[pType->iVec];
    u8 m = pVec->mType & pType->mBad;
    int i;
    if( m==0 ) continue;
    if( pType->bComputed==0 && (m!=HP_TEXT || pType->bNumber==0) ){
      return HP_DECLINE;
    }
    for(i=0; i<pFrame->nRow; i++){
      int j = i & pVec->mIdx;
      u8 tag = pVec->aTag[j];
      if( (tag & pType->mBad)==0 ) continue;
      if( tag!=HP_TEXT || pType->bNumber==0
       || hpCheckRowsIsNumber(pVec->aVal[j].z, pVec->aLen[j])
      ){
        return HP_DECLINE;
      }
    }
  }
  return SQLITE_OK;
}

/* Is no CHECK constraint false? */
static int hpCheckRowsTrue(const HpCheckPlan *pPlan, HpFrame *pFrame){
  int i, k;
  for(k=0; k<pPlan->nTrue; k++){
    HpVec *pVec = &pFrame->aVec[pPlan->aTrue[k]];
    hpVecExact(pFrame, pVec);
    for(i=0; i<pFrame->nRow; i++){
      if( hpVecBool(pFrame, pVec, i)==0 ) return HP_DECLINE;
    }
  }
  return SQLITE_OK;
}

/*
** The rows are entries of an index.  Is each NULL in column k one that is
** stored as such?  What is no number is read as NULL, as are types that records
** do not have, but a search for NULL does not find them.
*/
static int hpCheckRowsIsNull(const HpFrame *pFrame, const HpVec *pVec, int k){
  const HpBatch *pBatch = &pFrame->pWorker->pRead->batch;
  int nCol = pFrame->pWorker->pPlan->source.nCol;
  int i;
  assert( k<nCol && pVec->mIdx!=0 );
  for(i=0; i<pFrame->nRow; i++){
    u32 t = pBatch->aType[k*pBatch->nStride+i];
    if( pVec->aTag[i]!=HP_NULL ) continue;
    if( t==HP_SER_SLOW ) t = pBatch->aSlow[(i64)i*nCol+k].type;
    if( t!=0 ) return 0;
  }
  return 1;
}

/*
** Compute the hash values of slot k.  Of a REAL column that is an integer as
** large that the double says less it is not known what SQLite would compare.
*/
static int hpCheckRowsHash(HpCheckRows *p, HpFrame *pFrame, int k){
  const struct HpCheckSlot *pSlot = &p->pPlan->aSlot[k];
  HpVec *pVec = &pFrame->aVec[pSlot->iVec];
  const u64 *aKey = p->pAll->aKey[0];
  const u64 *aOther = p->pAll->aKey[1];
  u64 *aHash = hpCheckRowsAt(p, k, 0);
  int n = pFrame->nRow;
  int i;
  hpVecExact(pFrame, pVec);
  assert( pVec->bLate==0 && pVec->bCodes==0 );
  if( pVec->mType==HP_INT && pVec->mIdx && p->pPlan->bShort==0 ){
    const HpVal *aVal = pVec->aVal;
    for(i=0; i<n; i++, aHash+=2){
      aHash[0] = hpCheckRowsInt(aVal[i].i, aKey);
      aHash[1] = hpCheckRowsInt(aVal[i].i, aOther);
    }
    return SQLITE_OK;
  }
  if( p->pPlan->bOwn && (pVec->mType & HP_NULL)!=0
   && !hpCheckRowsIsNull(pFrame, pVec, k)
  ){
    return HP_DECLINE;
  }
  for(i=0; i<n; i++, aHash+=2){
    int j = i & pVec->mIdx;
    u8 tag = pVec->aTag[j];
    HpVal v = pVec->aVal[j];
    u32 nByte = (tag & HP_STR) ? pVec->aLen[j] : 0;
    if( tag==0 ) return HP_DECLINE;
    if( pSlot->bReal && tag==HP_REAL ){
      double r = fabs(v.r);
      if( r>=(double)HP_MX_EXACT && r<=9223372036854775808.0 ){
        return HP_DECLINE;
      }
    }
    aHash[0] = hpCheckRowsValue(tag, v, nByte, aKey);
    aHash[1] = hpCheckRowsValue(tag, v, nByte, aOther);
  }
  return SQLITE_OK;
}

/* Add the entries of the rows to the sums */
static int hpCheckRowsSums(HpCheckRows *p, HpFrame *pFrame){
  const HpCheckPlan *pPlan = p->pPlan;
  u64 k0 = p->pAll->aKey[0][HP_CHECK_ROW];
  u64 k1 = p->pAll->aKey[1][HP_CHECK_ROW];
  int i, j, k;
  for(k=0; k<pPlan->nSlot; k++){
    if( hpCheckRowsHash(p, pFrame, k) ) return HP_DECLINE;
  }
  for(k=0; k<pPlan->nSum; k++){
    const struct HpCheckIndex *pIndex = &pPlan->aSum[k];
    HpCheckSum *pSum = &p->aSum[k];
    HpVec *pWhere = 0;
    if( pIndex->iWhere!=HP_NO_VEC ){
      pWhere = &pFrame->aVec[pIndex->iWhere];
      hpVecExact(pFrame, pWhere);
    }
    for(i=0; i<pFrame->nRow; i++){
      u64 e0 = p->pAll->aKey[0][HP_CHECK_FIRST];
      u64 e1 = p->pAll->aKey[1][HP_CHECK_FIRST];
      if( pWhere && hpVecBool(pFrame, pWhere, i)!=1 ) continue;
      for(j=0; j<pIndex->n; j++){
        const u64 *a = hpCheckRowsAt(p, pIndex->aiSlot[j], i);
        e0 = hpCheckRowsMix(e0 ^ a[0], k0);
        e1 = hpCheckRowsMix(e1 ^ a[1], k1);
      }
      pSum->aSum[0] += e0;
      pSum->aSum[1] += e1;
      pSum->n++;
    }
  }
  return SQLITE_OK;
}

/* Compare two values as an index does, with collation pColl: NULL first */
static SQLITE_INLINE int hpCheckRowsCompare(
  u8 tA, HpVal a, u32 nA,
  u8 tB, HpVal b, u32 nB,
  CollSeq *pColl
){
  if( tA==HP_INT && tB==HP_INT ) return a.i<b.i ? -1 : a.i>b.i;
  if( (tA|tB) & HP_NULL ) return (tB==HP_NULL) - (tA==HP_NULL);
  if( tA==HP_TEXT && tB==HP_TEXT && pColl==0 ){
    u64 x = hpZonePrefix(a.z, nA);
    u64 y = hpZonePrefix(b.z, nB);
    if( x!=y ) return x<y ? -1 : 1;
  }
  return hpVecValCompare(tA, a, nA, tB, b, nB, pColl);
}

/*
** Rows are in order as far as they are looked at in columns before k; those in
** p->aEqual[] equal the one before in all of these.  Look at column k, and
** leave those that are still equal.
*/
static int hpCheckRowsColumn(HpCheckRows *p, HpFrame *pFrame, int k, int *pnEq){
  const HpKeys *pKeys = &p->pPlan->order;
  const HpVec *pVec = &pFrame->aVec[pKeys->aVec[k]];
  CollSeq *pColl = pKeys->aColl[k];
  int iWrong = pKeys->aSort[k] ? -1 : 1;  /* What the comparison may not give */
  int n = *pnEq;
  int m = 0;
  int ii;
  assert( k>=0 && k<pKeys->n && n>0 && n<pFrame->nRow );
  for(ii=0; ii<n; ii++){
    int i = p->aEqual[ii];
    int j = (i-1) & pVec->mIdx;
    u8 tA = pVec->aTag[j];
    u8 tB;
    u32 nA = (tA & HP_STR) ? pVec->aLen[j] : 0;
    HpVal a = pVec->aVal[j];
    int c;
    j = i & pVec->mIdx;
    tB = pVec->aTag[j];
    c = hpCheckRowsCompare(tA, a, nA, tB, pVec->aVal[j],
                           (tB & HP_STR) ? pVec->aLen[j] : 0, pColl);
    if( c!=0 && (c>0)==(iWrong>0) ) return HP_DECLINE;
    p->aEqual[m] = (u16)i;
    m += c==0;
  }
  *pnEq = m;
  return SQLITE_OK;
}

/* Is one of the first HpCheckPlan.nUnique columns of row i NULL? */
static int hpCheckRowsHasNull(
  const HpCheckRows *p,
  const HpFrame *pFrame,
  int i
){
  int k;
  assert( p->pPlan->nUnique>0 && p->pPlan->nUnique<=p->pPlan->order.n );
  for(k=0; k<p->pPlan->nUnique; k++){
    const HpVec *pVec = &pFrame->aVec[p->pPlan->order.aVec[k]];
    if( pVec->aTag[i & pVec->mIdx]==HP_NULL ) return 1;
  }
  return 0;
}

/* The values of row i in the columns of the order */
static void hpCheckRowsLoad(
  const HpCheckRows *p,
  const HpFrame *pFrame,
  int i,
  HpCheckVal *aOut
){
  const HpKeys *pKeys = &p->pPlan->order;
  int k;
  assert( i>=0 && i<pFrame->nRow );
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &pFrame->aVec[pKeys->aVec[k]];
    int j = i & pVec->mIdx;
    aOut[k].tag = pVec->aTag[j];
    aOut[k].v = pVec->aVal[j];
    aOut[k].n = (aOut[k].tag & HP_STR) ? pVec->aLen[j] : 0;
  }
}

/* Bytes of the texts of a row that is kept, eight more behind each */
static i64 hpCheckRowsTextSize(const HpCheckVal *a, int n){
  i64 nByte = 0;
  int k;
  for(k=0; k<n; k++) if( a[k].tag & HP_STR ) nByte += (i64)a[k].n+8;
  return nByte;
}

/* Copy the texts of row a[] to z[], and let it point to those */
static void hpCheckRowsTextCopy(HpCheckVal *a, int n, u8 *z){
  int k;
  for(k=0; k<n; k++){
    if( (a[k].tag & HP_STR)==0 ) continue;
    if( a[k].n ) memcpy(z, a[k].v.z, a[k].n);
    memset(&z[a[k].n], 0, 8);
    a[k].v.z = z;
    z += a[k].n+8;
  }
}

/* Does row b[] come after row a[], and do the two not agree where they may
** not? */
static int hpCheckRowsIsNext(
  const HpCheckPlan *pPlan,
  const HpCheckVal *a,
  const HpCheckVal *b
){
  int bNull = 0;
  int k;
  for(k=0; k<pPlan->order.n; k++){
    int c = hpCheckRowsCompare(a[k].tag, a[k].v, a[k].n, b[k].tag, b[k].v,
                               b[k].n, pPlan->order.aColl[k]);
    if( c!=0 ) return (c<0)==(pPlan->order.aSort[k]==0);
    bNull |= a[k].tag==HP_NULL;
    if( k+1==pPlan->nUnique && bNull==0 ) return 0;
  }
  return 0;
}

/* Keep row a[] as long as the worker lives */
static HpCheckVal *hpCheckRowsKeep(HpCheckRows *p, const HpCheckVal *a){
  int n = p->pPlan->order.n;
  i64 nByte = hpCheckRowsTextSize(a, n);
  HpCheckVal *aNew = hpArenaAlloc(&p->mem, sizeof(*a)*(i64)n + nByte);
  if( aNew ){
    memcpy(aNew, a, sizeof(*a)*n);
    hpCheckRowsTextCopy(aNew, n, (u8*)&aNew[n]);
  }
  return aNew;
}

/*
** Do the rows of a batch come in order, and after those before?
*/
static int hpCheckRowsOrder(HpCheckRows *p, HpFrame *pFrame){
  const HpCheckPlan *pPlan = p->pPlan;
  HpCheckVal aRow[HP_MX_COL];
  int nKey = pPlan->order.n;
  int nRow = pFrame->nRow;
  int nEq = nRow-1;
  i64 nByte;
  int i, k;
  assert( nKey>0 && nKey<=HP_MX_COL && nRow>0 );
  for(k=0; k<nKey; k++) hpVecExact(pFrame, &pFrame->aVec[pPlan->order.aVec[k]]);
  hpCheckRowsLoad(p, pFrame, 0, aRow);
  if( p->bLast ){
    if( !hpCheckRowsIsNext(pPlan, p->aLast, aRow) ) return HP_DECLINE;
  }else{
    HpCheckEnds *pEnds;
    if( hpBufGrow(&p->aEnds, &p->nEndsAlloc, p->nEnds, sizeof(*pEnds)) ){
      return HP_DECLINE;
    }
    pEnds = &p->aEnds[p->nEnds++];
    pEnds->iSeq = pFrame->pWorker->pRead->run.iSeq;
    pEnds->aLast = 0;
    pEnds->aFirst = hpCheckRowsKeep(p, aRow);
    if( pEnds->aFirst==0 ) return HP_DECLINE;
  }
  for(i=1; i<nRow; i++) p->aEqual[i-1] = (u16)i;
  for(k=0; k<nKey && nEq>0; k++){
    if( hpCheckRowsColumn(p, pFrame, k, &nEq) ) return HP_DECLINE;
    if( k+1==pPlan->nUnique ){
      for(i=0; i<nEq; i++){
        if( !hpCheckRowsHasNull(p, pFrame, p->aEqual[i]) ) return HP_DECLINE;
      }
    }
  }
  if( nEq>0 ) return HP_DECLINE;
  hpCheckRowsLoad(p, pFrame, nRow-1, p->aLast);
  nByte = hpCheckRowsTextSize(p->aLast, nKey);
  p->last.n = 0;
  if( nByte>SQLITE_MAX_LENGTH || hpBufRoom(&p->last, (u32)nByte) ){
    return HP_DECLINE;
  }
  hpCheckRowsTextCopy(p->aLast, nKey, p->last.a);
  p->bLast = 1;
  return SQLITE_OK;
}

/*
** Look at the rows of a batch: all of them, as no filter leaves out any.
*/
static int hpCheckRowsBatch(HpWorker *pWorker, HpFrame *pFrame){
  HpCheckRows *p = (HpCheckRows*)pWorker->pSink;
  assert( pFrame->nSel==pFrame->nRow && pFrame->nRow<=HP_BATCH );
  if( hpCheckRowsTypes(p->pPlan, pFrame)
   || hpCheckRowsTrue(p->pPlan, pFrame)
   || hpCheckRowsSums(p, pFrame)
   || (p->pPlan->order.n>0 && hpCheckRowsOrder(p, pFrame))
  ){
    return HP_DECLINE;
  }
  return pFrame->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}

/* A run of leaves is done.  If there is no memory aLast stays NULL */
static void hpCheckRowsRun(HpWorker *pWorker){
  HpCheckRows *p = (HpCheckRows*)pWorker->pSink;
  assert( p->bLast==0 || p->aEnds[p->nEnds-1].iSeq==pWorker->pRead->run.iSeq );
  if( p->bLast ) p->aEnds[p->nEnds-1].aLast = hpCheckRowsKeep(p, p->aLast);
  p->bLast = 0;
}

static int hpCheckRowsFinish(HpWorker *pWorker){
  HpCheckRows *p = (HpCheckRows*)pWorker->pSink;
  int i;
  assert( p->bLast==0 );
  for(i=0; i<p->nEnds; i++) if( p->aEnds[i].aLast==0 ) return HP_DECLINE;
  return SQLITE_OK;
}

/*
** Are the runs of all workers in order?  Each worker has its own in order of
** their numbers.
*/
static int hpCheckRowsBorders(HpPipe *pPipe){
  const HpCheckPlan *pPlan = pPipe->pPlan->pCheck;
  int aNext[HP_MX_THREAD];
  const HpCheckVal *aLast = 0;
  assert( pPlan->order.n>0 && pPipe->nWorker<=HP_MX_THREAD );
  memset(aNext, 0, sizeof(aNext));
  while( 1 ){
    const HpCheckEnds *pBest = 0;
    int iBest = 0;
    int i;
    for(i=0; i<pPipe->nWorker; i++){
      const HpCheckRows *p = (const HpCheckRows*)pPipe->apWorker[i]->pSink;
      if( aNext[i]<p->nEnds
       && (pBest==0 || p->aEnds[aNext[i]].iSeq<pBest->iSeq)
      ){
        pBest = &p->aEnds[aNext[i]];
        iBest = i;
      }
    }
    if( pBest==0 ) return SQLITE_OK;
    if( aLast && !hpCheckRowsIsNext(pPlan, aLast, pBest->aFirst) ){
      return HP_DECLINE;
    }
    aLast = pBest->aLast;
    aNext[iBest]++;
  }
}

/*
** Put together what all workers have found.
*/
static int hpCheckRowsCombine(HpPipe *pPipe){
  const HpCheckPlan *pPlan = pPipe->pPlan->pCheck;
  HpCheckAll *pAll = pPipe->pQuery->pCheck;
  int i, k;
  assert( pPipe->pCrew==0 && pAll!=0 && (pPlan->bOwn==0 || pPlan->nSum==1) );
  for(i=0; i<pPipe->nWorker; i++){
    const HpCheckRows *p = (const HpCheckRows*)pPipe->apWorker[i]->pSink;
    for(k=0; k<pPlan->nSum; k++){
      int iSum = pPlan->aSum[k].iSum;
      HpCheckSum *pTo = pPlan->bOwn ? &pAll->aOwn[iSum] : &pAll->aSum[iSum];
      assert( iSum>=0 && iSum<pAll->nSum );
      pTo->n += p->aSum[k].n;
      pTo->aSum[0] += p->aSum[k].aSum[0];
      pTo->aSum[1] += p->aSum[k].aSum[1];
    }
  }
  return pPlan->order.n ? hpCheckRowsBorders(pPipe) : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
