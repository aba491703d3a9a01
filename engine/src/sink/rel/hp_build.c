/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_build: rows that pass become a relation, which later pipes look up.
**
**    hpBuildOpen()     a worker begins
**    hpBuildRows()     keep the key and the columns of the rows of a batch
**    hpBuildCombine()  make the relation of what all workers have kept
**    hpBuildClose()    free what a worker has
**
** A worker keeps the rows of a batch as a chunk: arrays of keys and of each
** column. Texts are copied to an arena that becomes the relation's.  When all
** workers are done the keys are known, and with them the form of the directory
** (hp_rel.c). Then
**
**    1. each key enters the directory, which numbers the rows.  Of bits that is
**       the order of the keys, of a hash table that of entering
**    2. each chunk's columns go to their rows
**
** The order in which workers have kept rows does not show: no two rows have the
** same key.  The planner knows of a UNIQUE index that says so.  A second row
** with the same key declines nevertheless: the file may be damaged.  Only
** where it is all the same which row is found (HpRelPlan.bSemi) keys may come
** again.
**
** A row whose key has a NULL is never found, and is not kept.
**
** Bits take at most HP_REL_BYTES, and that only while there are not too many
** for each key: what is read at random should fit into a processor's cache.  Only
** where leaves are chosen by them (HpRelPlan.bWant) they may be few.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_REL_BYTES   (16*1024*1024)  /* Most bytes of bits */
#define HP_REL_SMALL   (256*1024)      /* So many are always well spent: they stay
                                       ** in a second-level cache */
#define HP_REL_SPARSE  256             /* Most bits for each key: a hash table takes
                                       ** as many */
#define HP_REL_ROWS    20000           /* So many rows are worth threads */

/* Rows of one batch */
typedef struct HpChunk HpChunk;
struct HpChunk {
  HpChunk *pNext;
  u32 n;                 /* Rows */
  HpRelCol key;          /* Their keys, if all are integers, and the collation is
                         ** BINARY: others have no packs.  Else aVal is NULL: */
  HpPack *aPack;         /* ... packs */
  HpRelKey *aKey;        /* ... and keys where there is none; or NULL */
  u32 iRow;              /* Row of the first one, if the directory is a hash table */
  HpRelCol *aCol;        /* Their columns */
};

/* The values of a column so far */
typedef struct HpSeen HpSeen;
struct HpSeen {
  u8 mType;              /* Types that occur */
  i64 iMin, iMax;        /* The smallest and the largest integer */
};

/* What a worker has kept */
typedef struct HpBuild HpBuild;
struct HpBuild {
  const HpRelPlan *pPlan;
  HpArena rows;          /* Memory of chunks */
  HpArena text;          /* Memory of texts */
  HpChunk *pChunk;       /* The last one, linked to earlier ones */
  i64 nRow;              /* Rows of all chunks */
  u8 bOther;             /* Some key is not an integer */
  i64 iMin, iMax;        /* The smallest and the largest integer */
  u16 *aSel;             /* Scratch: rows without a NULL in the key */
  HpPack *aPack;         /* Scratch: their packs, ... */
  i64 *aInt;             /* ... or integers */
  u32 *aEach;            /* 0, 1, 2, ... */
  HpSeen *aSeen;         /* Each column */
};

/* Nothing is known of nCol columns */
static void hpBuildUnseen(HpSeen *aSeen, int nCol){
  int k;
  for(k=0; k<nCol; k++){
    aSeen[k].mType = 0;
    aSeen[k].iMin = LARGEST_INT64;
    aSeen[k].iMax = SMALLEST_INT64;
  }
}

/*
** Memory for n integers from iMin to iMax in pCol: HpRelCol.sz.
*/
static int hpBuildWidth(HpArena *pMem, HpRelCol *pCol, i64 n, i64 iMin, i64 iMax){
  u64 x = iMin<iMax ? (u64)iMax - (u64)iMin : 0;
  pCol->mType = HP_INT;
  pCol->sz = x<=0xff ? 1 : x<=0xffff ? 2 : x<=0xffffffff ? 4 : 8;
  pCol->iBase = pCol->sz<8 && iMin<=iMax ? iMin : 0;
  pCol->aVal = hpArenaAlloc(pMem, pCol->sz*n);
  return pCol->aVal ? SQLITE_OK : HP_DECLINE;
}

/* Let aInt[0..n-1] be entries aRow[0..n-1] of pCol */
static void hpBuildPut(HpRelCol *pCol, const u32 *aRow, const i64 *aInt, u32 n){
  u64 iBase = (u64)pCol->iBase;
  u32 ii;
  switch( pCol->sz ){
    case 1: {
      u8 *a = (u8*)pCol->aVal;
      for(ii=0; ii<n; ii++){
        assert( (u64)aInt[ii]-iBase<=0xff );
        a[aRow[ii]] = (u8)((u64)aInt[ii]-iBase);
      }
      break;
    }
    case 2: {
      u16 *a = (u16*)pCol->aVal;
      for(ii=0; ii<n; ii++){
        assert( (u64)aInt[ii]-iBase<=0xffff );
        a[aRow[ii]] = (u16)((u64)aInt[ii]-iBase);
      }
      break;
    }
    case 4: {
      u32 *a = (u32*)pCol->aVal;
      for(ii=0; ii<n; ii++){
        assert( (u64)aInt[ii]-iBase<=0xffffffff );
        a[aRow[ii]] = (u32)((u64)aInt[ii]-iBase);
      }
      break;
    }
    default:
      for(ii=0; ii<n; ii++) pCol->aVal[aRow[ii]].i = aInt[ii];
      break;
  }
}

/*
** Begin in worker p.
*/
static int hpBuildOpen(HpWorker *p, Mem *aMem){
  const HpRelPlan *pPlan = p->pPlan->pRel;
  i64 n = p->frame.nAlloc;
  HpBuild *pNew = sqlite3MallocZero(sizeof(*pNew));
  i64 i;
  UNUSED_PARAMETER(aMem);
  /* Which rows have a key is all that is kept where keys may come again */
  assert( pPlan->bSemi==0 || pPlan->nCol==0 );
  assert( p->pSink==0 && p->pPlan->pSink->xRows==hpBuildRows );
  p->pSink = pNew;
  if( pNew==0 ) return HP_DECLINE;
  pNew->pPlan = pPlan;
  pNew->iMin = LARGEST_INT64;
  pNew->iMax = SMALLEST_INT64;
  hpBudgetArena(p->pPipe, &pNew->rows);
  hpBudgetArena(p->pPipe, &pNew->text);
  pNew->aSel = hpArenaAlloc(&p->vec, sizeof(u16)*n);
  pNew->aPack = hpArenaAlloc(&p->vec, sizeof(HpPack)*(n+4));
  pNew->aInt = (i64*)pNew->aPack;
  pNew->aEach = hpArenaAlloc(&p->vec, sizeof(u32)*n);
  if( pNew->aEach==0 ) return HP_DECLINE;
  for(i=0; i<n; i++) pNew->aEach[i] = (u32)i;
  pNew->aSeen = hpArenaAlloc(&p->vec, sizeof(HpSeen)*(i64)(pPlan->nCol+1));
  if( pNew->aSel==0 || pNew->aPack==0 || pNew->aSeen==0 ) return HP_DECLINE;
  hpBuildUnseen(pNew->aSeen, pPlan->nCol);
  return SQLITE_OK;
}

/*
** Leave in aSel[] the selected rows of p whose keys have no NULL.  Returns
** their number.
*/
static int hpBuildSelect(HpFrame *p, const HpKeys *pKeys, u16 *aSel){
  int n = p->nSel;
  int ii, k;
  memcpy(aSel, p->aSel, sizeof(u16)*n);
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &p->aVec[pKeys->aVec[k]];
    int m = 0;
    if( (pVec->mType & HP_NULL)==0 ) continue;
    for(ii=0; ii<n; ii++){
      u16 i = aSel[ii];
      aSel[m] = i;
      m += pVec->aTag[i & pVec->mIdx]!=HP_NULL;
    }
    n = m;
  }
  return n;
}

/*
** Keep the single key of the rows as integers, if all are.  Where keys may come
** again, one that does so at once is kept once.
*/
static int hpBuildInts(
  HpBuild *pBuild,
  HpFrame *p,
  const u16 *aSel,
  HpChunk *pChunk
){
  const HpVec *pVec = &p->aVec[pBuild->pPlan->key.keys.aVec[0]];
  i64 *aInt = pBuild->aInt;
  i64 iMin = LARGEST_INT64;
  i64 iMax = SMALLEST_INT64;
  int bSemi = pBuild->pPlan->bSemi;
  u32 n = 0;
  u32 ii;
  for(ii=0; ii<pChunk->n; ii++){
    int i = aSel[ii] & pVec->mIdx;
    HpVal v = pVec->aVal[i];
    if( pVec->aTag[i]!=HP_INT
     && (pVec->aTag[i]!=HP_REAL || !hpPackRealIsInt(v.r, &v.i))
    ){
      return SQLITE_OK;
    }
    if( bSemi && n>0 && aInt[n-1]==v.i ) continue;
    aInt[n++] = v.i;
    iMin = MIN(iMin, v.i);
    iMax = MAX(iMax, v.i);
  }
  assert( n<=pChunk->n && (bSemi || n==pChunk->n) );
  if( hpBuildWidth(&pBuild->rows, &pChunk->key, n, iMin, iMax) ) return HP_DECLINE;
  hpBuildPut(&pChunk->key, pBuild->aEach, aInt, n);
  pChunk->n = n;
  pBuild->iMin = MIN(pBuild->iMin, iMin);
  pBuild->iMax = MAX(pBuild->iMax, iMax);
  return SQLITE_OK;
}

/*
** The keys of the rows as packs, or as bytes where they do not fit.
*/
static int hpBuildPacks(
  HpBuild *pBuild,
  HpFrame *p,
  u16 *aSel,
  HpChunk *pChunk
){
  const HpKeys *pKeys = &pBuild->pPlan->key.keys;
  u16 *aOld = p->aSel;
  int nOld = p->nSel;
  int bAll;
  u32 ii;
  assert( pChunk->n>0 && pChunk->key.aVal==0 );
  p->aSel = aSel;
  p->nSel = (int)pChunk->n;
  bAll = hpPackRows(p, pKeys, pBuild->aPack);
  p->aSel = aOld;
  p->nSel = nOld;
  memcpy(pChunk->aPack, pBuild->aPack, sizeof(HpPack)*(size_t)pChunk->n);
  if( bAll ) return SQLITE_OK;
  pChunk->aKey = hpArenaAlloc(&pBuild->rows, sizeof(HpRelKey)*(i64)pChunk->n);
  if( pChunk->aKey==0 ) return HP_DECLINE;
  memset(pChunk->aKey, 0, sizeof(HpRelKey)*(size_t)pChunk->n);
  for(ii=0; ii<pChunk->n; ii++){
    u8 *z;
    if( pChunk->aPack[ii].b!=HP_UNPACKED ) continue;
    p->key.n = 0;
    if( hpKeyNorm(p, pKeys, aSel[ii], &p->key) ) return HP_DECLINE;
    z = hpArenaAlloc(&pBuild->text, (i64)p->key.n+8);
    if( z==0 ) return HP_DECLINE;
    memcpy(z, p->key.a, p->key.n);
    pChunk->aKey[ii].z = z;
    pChunk->aKey[ii].n = p->key.n;
  }
  return SQLITE_OK;
}

/* Copy n bytes.  Eight more can be read, and written: later texts go there */
static SQLITE_INLINE void hpBuildCopy(u8 *zTo, const u8 *zFrom, u32 n){
  if( n>32 ){
    memcpy(zTo, zFrom, n);
  }else{
    u32 i;
    for(i=0; i<n; i+=8) memcpy(&zTo[i], &zFrom[i], 8);
  }
}

#ifdef SQLITE_DEBUG
/* Bytes of the texts of pCol, which lie one behind the other; or -1 */
static i64 hpBuildTexts(const HpRelCol *pCol, u32 n){
  const u8 *zNext = 0;
  i64 nByte = 0;
  u32 ii;
  for(ii=0; ii<n; ii++){
    if( ((pCol->aTag ? pCol->aTag[ii] : pCol->mType) & HP_STR)==0 ) continue;
    if( zNext && zNext!=pCol->aVal[ii].z ) return -1;
    zNext = &pCol->aVal[ii].z[pCol->aLen[ii]];
    nByte += pCol->aLen[ii];
  }
  return nByte;
}
#endif

/*
** Copy column k of the rows.
*/
static int hpBuildColumn(
  HpBuild *pBuild,
  HpFrame *p,
  const u16 *aSel,
  HpChunk *pChunk,
  int k
){
  HpVec *pVec = &p->aVec[pBuild->pPlan->aVec[k]];
  HpRelCol *pCol = &pChunk->aCol[k];
  HpSeen *pSeen = &pBuild->aSeen[k];
  i64 iMin = LARGEST_INT64;
  i64 iMax = SMALLEST_INT64;
  u32 n = pChunk->n;
  u32 m = pVec->mIdx;
  u8 mType = pVec->mType;
  i64 nByte = 0;
  u8 *z;
  u32 ii;
  assert( pVec->bCodes==0 && pVec->bLate==0 );
  hpVecExact(p, pVec);
  if( mType==HP_INT ){
    for(ii=0; ii<n; ii++){
      i64 v = pVec->aVal[aSel[ii] & m].i;
      pBuild->aInt[ii] = v;
      iMin = MIN(iMin, v);
      iMax = MAX(iMax, v);
    }
    if( hpBuildWidth(&pBuild->rows, pCol, n, iMin, iMax) ) return HP_DECLINE;
    hpBuildPut(pCol, pBuild->aEach, pBuild->aInt, n);
  }else{
    pCol->sz = 8;
    pCol->aVal = hpArenaAlloc(&pBuild->rows, sizeof(HpVal)*(i64)n);
    if( pCol->aVal==0 ) return HP_DECLINE;
    if( mType & (mType-1) ){
      pCol->aTag = hpArenaAlloc(&pBuild->rows, n);
      if( pCol->aTag==0 ) return HP_DECLINE;
      mType = 0;
    }
    for(ii=0; ii<n; ii++){
      int i = aSel[ii] & m;
      HpVal v = pVec->aVal[i];
      u8 tag = pVec->aTag[i];
      pCol->aVal[ii] = v;
      mType |= tag;
      if( pCol->aTag ) pCol->aTag[ii] = tag;
      if( tag & HP_STR ){
        nByte += pVec->aLen[i];
      }else if( tag==HP_INT ){
        iMin = MIN(iMin, v.i);
        iMax = MAX(iMax, v.i);
      }
    }
    pCol->mType = mType;
  }
  pSeen->mType |= mType;
  pSeen->iMin = MIN(pSeen->iMin, iMin);
  pSeen->iMax = MAX(pSeen->iMax, iMax);
  if( (mType & HP_STR)==0 ) return SQLITE_OK;
  if( !hpBudgetMay(p->pWorker, nByte, HP_KEEP) ) return HP_DECLINE;
  pCol->aLen = hpArenaAlloc(&pBuild->rows, sizeof(u32)*(i64)n);
  z = hpArenaAlloc(&pBuild->text, nByte+HP_SLACK);
  if( pCol->aLen==0 || z==0 ) return HP_DECLINE;
  for(ii=0; ii<n; ii++){
    u32 nText = 0;
    if( (pCol->aTag ? pCol->aTag[ii] : mType) & HP_STR ){
      nText = pVec->aLen[aSel[ii] & m];
      hpBuildCopy(z, pCol->aVal[ii].z, nText);
      pCol->aVal[ii].z = z;
      z += nText;
    }
    pCol->aLen[ii] = nText;
  }
  memset(z, 0, HP_SLACK);
  assert( hpBuildTexts(pCol, n)==nByte );
  return SQLITE_OK;
}

/*
** Keep the selected rows of a frame.
*/
static int hpBuildRows(HpWorker *pWorker, HpFrame *p){
  HpBuild *pBuild = (HpBuild*)pWorker->pSink;
  const HpRelPlan *pPlan = pBuild->pPlan;
  const HpKeys *pKeys = &pPlan->key.keys;
  u16 *aSel = pBuild->aSel;
  HpChunk *pChunk;
  int rc = SQLITE_OK;
  int k, n;
  assert( p->pWorker==pWorker && hpVecIsSelection(p) );
  if( hpRelNever(p, &pPlan->key) ) return HP_DECLINE;
  for(k=0; k<pKeys->n; k++) hpVecExact(p, &p->aVec[pKeys->aVec[k]]);
  n = hpBuildSelect(p, pKeys, aSel);
  if( n==0 ) return SQLITE_OK;
  if( !hpBudgetMay(pWorker, (i64)n*(16+9*pPlan->nCol), HP_KEEP) ){
    return HP_DECLINE;
  }
  pChunk = hpArenaAlloc(&pBuild->rows, sizeof(*pChunk));
  if( pChunk==0 ) return HP_DECLINE;
  memset(pChunk, 0, sizeof(*pChunk));
  pChunk->n = (u32)n;
  pChunk->aCol = hpArenaAlloc(&pBuild->rows, sizeof(HpRelCol)*(i64)(pPlan->nCol+1));
  if( pChunk->aCol==0 ) return HP_DECLINE;
  memset(pChunk->aCol, 0, sizeof(HpRelCol)*(size_t)(pPlan->nCol+1));
  if( pKeys->n==1 && pKeys->aColl[0]==0 ){
    rc = hpBuildInts(pBuild, p, aSel, pChunk);
    if( rc ) return rc;
  }
  if( pChunk->key.aVal==0 ){
    pBuild->bOther = 1;
    pChunk->aPack = hpArenaAlloc(&pBuild->rows, sizeof(HpPack)*(i64)n);
    if( pChunk->aPack==0 ) return HP_DECLINE;
    rc = hpBuildPacks(pBuild, p, aSel, pChunk);
  }
  for(k=0; k<pPlan->nCol && rc==SQLITE_OK; k++){
    rc = hpBuildColumn(pBuild, p, aSel, pChunk, k);
  }
  pChunk->pNext = pBuild->pChunk;
  pBuild->pChunk = pChunk;
  pBuild->nRow += pChunk->n;
  hpBudgetHold(pWorker, pBuild->rows.nTotal + pBuild->text.nTotal);
  return rc;
}

/*
** Memory for a relation of nRow rows: its directory, empty, and its columns,
** with row 0.
*/
static int hpBuildNew(
  HpRel *pRel,
  const HpRelPlan *pPlan,
  const HpSeen *aSeen,
  i64 nRow
){
  i64 n = nRow+1;
  HpArena *pMem = &pRel->mem;
  static const u8 aEmpty[HP_SLACK];
  int k;
  assert( pRel->aCol==0 && pRel->bits.aBit==0 && pRel->aSlot==0 );
  if( pRel->bits.nBit ){
    i64 nWord = (i64)(pRel->bits.nBit>>6)+1;
    pRel->bits.aBit = hpArenaAlloc(pMem, sizeof(u64)*nWord);
    pRel->bits.aRank = hpArenaAlloc(pMem, sizeof(u32)*nWord);
    if( pRel->bits.aBit==0 || pRel->bits.aRank==0 ) return HP_DECLINE;
    memset(pRel->bits.aBit, 0, sizeof(u64)*(size_t)nWord);
  }else{
    i64 nSlot = 16;
    while( nSlot<2*n ) nSlot *= 2;
    pRel->mSlot = (u32)(nSlot-1);
    pRel->aSlot = hpArenaAlloc(pMem, sizeof(u64)*nSlot);
    pRel->aPack = hpArenaAlloc(pMem, sizeof(HpPack)*n);
    if( pRel->aSlot==0 || pRel->aPack==0 ) return HP_DECLINE;
    memset(pRel->aSlot, 0, sizeof(u64)*(size_t)nSlot);
  }
  pRel->aCol = hpArenaAlloc(pMem, sizeof(HpRelCol)*(i64)(pPlan->nCol+1));
  if( pRel->aCol==0 ) return HP_DECLINE;
  memset(pRel->aCol, 0, sizeof(HpRelCol)*(size_t)(pPlan->nCol+1));
  for(k=0; k<pPlan->nCol; k++){
    HpRelCol *pCol = &pRel->aCol[k];
    if( aSeen[k].mType==HP_INT ){
      if( hpBuildWidth(pMem, pCol, n, aSeen[k].iMin, aSeen[k].iMax) ) return HP_DECLINE;
      memset(pCol->aVal, 0, pCol->sz);
      continue;
    }
    pCol->mType = aSeen[k].mType ? aSeen[k].mType : HP_NULL;
    pCol->sz = 8;
    pCol->aVal = hpArenaAlloc(pMem, sizeof(HpVal)*n);
    if( pCol->aVal==0 ) return HP_DECLINE;
    pCol->aVal[0].u = 0;
    if( pCol->mType & (pCol->mType-1) ){
      pCol->aTag = hpArenaAlloc(pMem, n);
      if( pCol->aTag==0 ) return HP_DECLINE;
      pCol->aTag[0] = HP_NULL;
    }
    if( pCol->mType & HP_STR ){
      pCol->aLen = hpArenaAlloc(pMem, sizeof(u32)*n);
      if( pCol->aLen==0 ) return HP_DECLINE;
      pCol->aLen[0] = 0;
      pCol->aVal[0].z = aEmpty;
    }
  }
  return SQLITE_OK;
}

/* May workers enter keys at the same time?  That takes atomic operations on 8
** bytes, which old processors of 32 bits do not have, and on others of 32 bits
** an alignment that members of structures lack */
#if defined(HP_THREADS) && SQLITE_PTRSIZE>=8 \
 && defined(__GCC_ATOMIC_LLONG_LOCK_FREE)
# if __GCC_ATOMIC_LLONG_LOCK_FREE==2
#  define HP_BUILD_BOTH 1
# endif
#endif
#ifndef HP_BUILD_BOTH
# define HP_BUILD_BOTH 0
#endif

/* Set bits m of *p, which other workers may do at the same time.  Returns what it
** was. */
static SQLITE_INLINE u64 hpBuildOr(u64 *p, u64 m){
#if HP_BUILD_BOTH
  return __atomic_fetch_or(p, m, __ATOMIC_RELAXED);
#else
  u64 x = *p;
  *p |= m;
  return x;
#endif
}

/* Set *p to iNew if it is 0.  Returns what it was. */
static SQLITE_INLINE u64 hpBuildClaim(u64 *p, u64 iNew){
#if HP_BUILD_BOTH
  u64 x = 0;
  __atomic_compare_exchange_n(p, &x, iNew, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return x;
#else
  u64 x = *p;
  if( x==0 ) *p = iNew;
  return x;
#endif
}

/*
** Enter the keys of a chunk into a directory of bits.  Keys often come in order, so
** bits of one word are set together.
*/
static int hpBuildBits(HpRel *pRel, const HpChunk *pChunk, int bSemi){
  u64 iWord = 0;
  u64 m = 0;
  int bTwice = 0;
  u32 ii;
  for(ii=0; ii<pChunk->n; ii++){
    u64 k = (u64)hpRelInt(&pChunk->key, ii) - (u64)pRel->bits.iMin;
    u64 bit = (u64)1<<(k & 63);
    assert( k<pRel->bits.nBit );
    if( (k>>6)!=iWord ){
      bTwice |= m && (hpBuildOr(&pRel->bits.aBit[iWord], m) & m)!=0;
      iWord = k>>6;
      m = 0;
    }
    bTwice |= (m & bit)!=0;
    m |= bit;
  }
  bTwice |= m && (hpBuildOr(&pRel->bits.aBit[iWord], m) & m)!=0;
  return bTwice && !bSemi ? HP_DECLINE : SQLITE_OK;
}

/*
** Enter the keys of a chunk into a hash table.  Row ii is row pChunk->iRow+ii of the
** relation.  A slot is claimed when all of the row's key can be read.
*/
static int hpBuildHash(
  const HpConfig *pCfg,
  HpRel *pRel,
  const HpChunk *pChunk,
  int bSemi
){
  static const HpRelKey none = {0, 0};
  u32 ii;
  for(ii=0; ii<pChunk->n; ii++){
    const HpRelKey *pKey = pChunk->aKey ? &pChunk->aKey[ii] : &none;
    u32 iRow = pChunk->iRow + ii;
    HpPack pack;
    u64 h, x;
    u32 j;
    assert( iRow>0 && iRow<=pRel->nRow );
    if( pChunk->key.aVal ){
      pack.a = (u64)hpRelInt(&pChunk->key, ii);
      pack.b = HP_PACK_INT;
    }else{
      pack = pChunk->aPack[ii];
    }
    pRel->aPack[iRow] = pack;
    if( pRel->aKey ) pRel->aKey[iRow] = *pKey;
    h = hpRelHash(pCfg, &pack, pKey->z, pKey->n);
    for(j=(u32)h & pRel->mSlot; 1; j=(j+1) & pRel->mSlot){
      x = hpBuildClaim(&pRel->aSlot[j], hpRelSlot(h, iRow));
      if( x==0 ) break;
      if( hpRelIsSlot(x, h) && hpRelSame(pRel, (u32)x, &pack, pKey->z, pKey->n) ){
        if( !bSemi ) return HP_DECLINE;
        break;
      }
    }
  }
  return SQLITE_OK;
}

/* The row that the key k of a directory of bits has */
static SQLITE_INLINE u32 hpBuildRank(const HpRel *pRel, i64 iKey){
  u64 k = (u64)iKey - (u64)pRel->bits.iMin;
  assert( (pRel->bits.aBit[k>>6]>>(k & 63)) & 1 );
  return pRel->bits.aRank[k>>6]
       + hpBitsCount(pRel->bits.aBit[k>>6] << (63-(k & 63)));
}

/*
** Copy the columns of a chunk to their rows of the relation.
*/
static void hpBuildScatter(
  HpRel *pRel,
  const HpRelPlan *pPlan,
  const HpChunk *pChunk
){
  u32 aRow[HP_BATCH];
  i64 aInt[HP_BATCH];
  u32 n = pChunk->n;
  u32 ii;
  int k;
  assert( n<=HP_BATCH );
  if( pPlan->nCol==0 ) return;
  for(ii=0; ii<n; ii++){
    aRow[ii] = pRel->bits.nBit ? hpBuildRank(pRel, hpRelInt(&pChunk->key, ii))
                          : pChunk->iRow+ii;
    assert( aRow[ii]>0 && aRow[ii]<=pRel->nRow );
  }
  for(k=0; k<pPlan->nCol; k++){
    const HpRelCol *pIn = &pChunk->aCol[k];
    HpRelCol *pOut = &pRel->aCol[k];
    if( pIn->mType==HP_INT ){
      for(ii=0; ii<n; ii++) aInt[ii] = hpRelInt(pIn, ii);
      hpBuildPut(pOut, aRow, aInt, n);
    }else{
      assert( pOut->sz==8 );
      for(ii=0; ii<n; ii++) pOut->aVal[aRow[ii]] = pIn->aVal[ii];
    }
    if( pOut->aTag ){
      for(ii=0; ii<n; ii++){
        pOut->aTag[aRow[ii]] = pIn->aTag ? pIn->aTag[ii] : pIn->mType;
      }
    }
    if( pOut->aLen ){
      for(ii=0; ii<n; ii++) pOut->aLen[aRow[ii]] = pIn->aLen ? pIn->aLen[ii] : 0;
    }
  }
}

/*
** What a worker does in its thread: enter the keys of its chunks.
*/
static void hpBuildEnter(HpWorker *p){
  const HpBuild *pBuild = (const HpBuild*)p->pSink;
  const HpRelPlan *pPlan = pBuild->pPlan;
  HpRel *pRel = p->pPipe->pQuery->apRel[pPlan->iRel];
  const HpChunk *pChunk;
  p->rc = SQLITE_OK;
  for(pChunk=pBuild->pChunk; pChunk && p->rc==SQLITE_OK; pChunk=pChunk->pNext){
    if( pRel->bits.nBit ){
      p->rc = hpBuildBits(pRel, pChunk, pPlan->bSemi);
    }else{
      p->rc = hpBuildHash(p->pCfg, pRel, pChunk, pPlan->bSemi);
    }
    if( p->rc==SQLITE_OK ) p->rc = hpThreadStopped(p->pPipe);
  }
  if( p->rc ) AtomicStore(&p->pPipe->pass.bStop, 1);
}

/*
** Afterwards: copy their columns.
*/
static void hpBuildFill(HpWorker *p){
  const HpBuild *pBuild = (const HpBuild*)p->pSink;
  HpRel *pRel = p->pPipe->pQuery->apRel[pBuild->pPlan->iRel];
  const HpChunk *pChunk;
  p->rc = SQLITE_OK;
  for(pChunk=pBuild->pChunk; pChunk && p->rc==SQLITE_OK; pChunk=pChunk->pNext){
    hpBuildScatter(pRel, pBuild->pPlan, pChunk);
    p->rc = hpThreadStopped(p->pPipe);
  }
}

/*
** Let all workers do xRun: in threads if that is worth it.
*/
static int hpBuildEach(HpPipe *p, i64 nRow, void (*xRun)(HpWorker*)){
  int rc = SQLITE_OK;
  int i;
  if( nRow>=HP_REL_ROWS ) return hpThreadEach(p, xRun);
  for(i=0; i<p->nWorker && rc==SQLITE_OK; i++){
    xRun(p->apWorker[i]);
    rc = p->apWorker[i]->rc;
  }
  return rc;
}

/*
** Fill in the numbers of bits before each word of the directory.
*/
static void hpBuildRanks(HpRel *pRel){
  u64 nWord = (pRel->bits.nBit>>6)+1;
  u64 i;
  u32 n = 0;
  for(i=0; i<nWord; i++){
    pRel->bits.aRank[i] = n;
    n += hpBitsCount(pRel->bits.aBit[i]);
  }
  assert( n<=pRel->nRow );           /* Fewer if keys came again */
  pRel->nRow = n;
}

#ifdef SQLITE_DEBUG
/* Is each row in the directory once?  With bSemi some may not be there. */
static int hpBuildIsWhole(const HpRel *pRel, int bSemi){
  u64 n = 0;
  u64 i;
  if( pRel->bits.nBit ){
    for(i=0; i<=pRel->bits.nBit>>6; i++) n += hpBitsCount(pRel->bits.aBit[i]);
  }else{
    for(i=0; i<=pRel->mSlot; i++){
      u32 iRow = (u32)pRel->aSlot[i];
      if( iRow>pRel->nRow || (iRow==0 && pRel->aSlot[i]!=0) ) return 0;
      n += iRow>0;
    }
  }
  return bSemi ? n<=pRel->nRow : n==pRel->nRow;
}
#endif

/* How many bits the directory of nRow integers from iMin to iMax has, or 0 if a
** hash table is better */
static u64 hpBuildDirectory(
  const HpConfig *pCfg,
  const HpRelPlan *pPlan,
  i64 iMin, i64 iMax,
  i64 nRow
){
  u64 nBit;
  if( pCfg->bDirHash ) return 0;
  if( nRow==0 ) return 1;
  assert( iMin<=iMax );
  nBit = (u64)iMax - (u64)iMin;
  if( nBit/8>=HP_REL_BYTES ) return 0;
  if( pPlan->bWant ) return nBit+1;
  if( nBit/8>=HP_REL_SMALL && nBit/(u64)nRow>=HP_REL_SPARSE ) return 0;
  return nBit+1;
}

/*
** Make the relation of what the workers of p have kept.
*/
static int hpBuildCombine(HpPipe *p){
  const HpRelPlan *pPlan = p->pPlan->pRel;
  HpQuery *pQuery = p->pQuery;
  HpRel *pRel;
  i64 iMin = LARGEST_INT64;
  i64 iMax = SMALLEST_INT64;
  i64 nRow = 0;
  HpSeen aSeen[HP_MX_COL];
  int bOther = pPlan->key.keys.n!=1;
  int bKey = 0;
  u32 iRow = 1;
  int rc = SQLITE_OK;
  int i, k;
  HpChunk *pChunk;

  assert( p->pCrew==0 && pPlan->iRel<pQuery->nRel+pQuery->nSet );
  assert( pQuery->apRel[pPlan->iRel]==0 );
  assert( pPlan->nCol<=HP_MX_COL );
  sqlite3BeginBenignMalloc();
  pQuery->apRel[pPlan->iRel] = pRel = sqlite3MallocZero(sizeof(*pRel));
  if( pRel ) pRel->aText = sqlite3MallocZero(sizeof(HpArena)*(u64)p->nWorker);
  if( pRel==0 || pRel->aText==0 ) rc = HP_DECLINE;
  hpBuildUnseen(aSeen, pPlan->nCol);
  for(i=0; i<p->nWorker && rc==SQLITE_OK; i++){
    HpBuild *pBuild = (HpBuild*)p->apWorker[i]->pSink;
    nRow += pBuild->nRow;
    iMin = MIN(iMin, pBuild->iMin);
    iMax = MAX(iMax, pBuild->iMax);
    bOther |= pBuild->bOther;
    for(k=0; k<pPlan->nCol; k++){
      aSeen[k].mType |= pBuild->aSeen[k].mType;
      aSeen[k].iMin = MIN(aSeen[k].iMin, pBuild->aSeen[k].iMin);
      aSeen[k].iMax = MAX(aSeen[k].iMax, pBuild->aSeen[k].iMax);
    }
    for(pChunk=pBuild->pChunk; pChunk; pChunk=pChunk->pNext){
      pChunk->iRow = iRow;
      iRow += pChunk->n;
      bKey |= pChunk->aKey!=0;
    }
  }
  if( nRow>=0x7fffffff/4 ) rc = HP_DECLINE;
  if( rc==SQLITE_OK ){
    i64 nByte = nRow*13*(i64)pPlan->nCol;
    assert( (i64)iRow==nRow+1 );
    pRel->bits.iMin = nRow ? iMin : 0;
    pRel->bits.nBit = bOther ? 0
        : hpBuildDirectory(pQuery->pCfg, pPlan, iMin, iMax, nRow);
    nByte += pRel->bits.nBit ? (i64)(pRel->bits.nBit/5) : 48*nRow;
    if( !hpBudgetMay(p->apWorker[0], nByte, HP_KEEP) ) rc = HP_DECLINE;
  }
  if( rc==SQLITE_OK ) rc = hpBuildNew(pRel, pPlan, aSeen, nRow);
  if( rc==SQLITE_OK && bKey ){
    pRel->aKey = hpArenaAlloc(&pRel->mem, sizeof(HpRelKey)*(nRow+1));
    if( pRel->aKey==0 ) rc = HP_DECLINE;
  }
  if( rc==SQLITE_OK ) pRel->nRow = (u32)nRow;
  if( rc==SQLITE_OK ){
    rc = hpBuildEach(p, HP_BUILD_BOTH ? nRow : 0, hpBuildEnter);
  }
  assert( rc || hpBuildIsWhole(pRel, pPlan->bSemi) );
  if( rc==SQLITE_OK && pRel->bits.nBit ) hpBuildRanks(pRel);
  if( rc==SQLITE_OK && pPlan->nCol>0 ) rc = hpBuildEach(p, nRow, hpBuildFill);
  for(i=0; i<p->nWorker && rc==SQLITE_OK; i++){
    HpBuild *pBuild = (HpBuild*)p->apWorker[i]->pSink;
    pRel->aText[pRel->nText++] = pBuild->text;
    memset(&pBuild->text, 0, sizeof(pBuild->text));
    pQuery->nHeld += pRel->aText[pRel->nText-1].nTotal;
  }
  sqlite3EndBenignMalloc();
  if( rc==SQLITE_OK ) pQuery->nHeld += pRel->mem.nTotal;
  return rc;
}

/*
** Free what worker p has kept.
*/
static void hpBuildClose(HpWorker *p){
  HpBuild *pBuild = (HpBuild*)p->pSink;
  if( pBuild ){
    hpArenaClear(&pBuild->rows);
    hpArenaClear(&pBuild->text);
    sqlite3_free(pBuild);
    p->pSink = 0;
  }
}
#endif /* SQLITE_OMIT_HP */
