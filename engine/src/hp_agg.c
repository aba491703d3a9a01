/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_agg: groups and their aggregates.
**
**    hpAggOpen()    an empty table of groups
**    hpAggStep()    add the selected rows of a batch
**    hpAggSort()    put the groups in key order
**    hpAggNext()    copy the next group into the registers of AggInfo
**    hpAggClose()   free everything
**
** Groups are numbered as they appear.  A group is HpPlan.szGroup bytes: its
** keys, a copy of its bare columns, and the state of each aggregate; groups
** lie in chunks that never move.  They are found through a hash table of
** 8-byte entries, the upper half of the hash value beside the number of the
** group, with linear probing, at most half full.
**
** The keys of a row are packed into 128 bits if they fit (one string of up to
** 15 bytes, two of up to 7, integers of 56 bits, ...): then groups are the
** same if their packs are.  Where a key does not fit each
** key is brought to a form that is the same for equal keys:
** a type and 64 bits, which are an integer, a real that is no integer, the
** bytes of a string of up to eight bytes, or a hash of a longer one.  So
** 3 and 3.0 and, under NOCASE, 'a' and 'A' meet in one group, while the group
** remembers the key as its first row had it, which is what stock shows.
**
** The state of sum, total and avg is stock's own SumCtx, stepped as sumStep()
** does it, in scan order; count and the best value of min and max likewise.
** hpAggNext() copies them into aggregate contexts, and stock's OP_AggFinal
** then finishes them.  So rounding and errors are stock's.
**
** Where there are few groups the rows of a batch are first put in order of
** their group.  Each aggregate then runs down one group's rows with its state
** in registers, instead of from memory to memory for each row.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_CHUNK       128    /* Groups a chunk */
#define HP_MX_ORDERED  64     /* Up to so many groups rows are ordered by group */
#define HP_MX_CACHED   256    /* Up to so many groups are in L1 or L2 anyway */
#define HP_MIN_ORDERED 8      /* ... if there are so many rows for each of them */

/* A key of a group.  A key that is NULL has code 0. */
typedef struct HpKey HpKey;
struct HpKey {
  u64 code;              /* Equal for equal keys.  See hpKeyCode() */
  HpVal val;             /* As the first row had it */
  u32 n;                 /* Bytes of text or blob, as the first row had it */
  u32 nCode;             /* Bytes that count: n without what RTRIM ignores */
  u8 tag;                /* Type, as the first row had it */
  u8 eCode;              /* Type that counts: HP_INT for 3.0 */
};

/* All keys of a row in one, if they fit */
typedef struct HpPack HpPack;
struct HpPack {
  u64 a;
  u64 b;                 /* HP_UNPACKED: they do not fit */
};
#define HP_UNPACKED (~(u64)0)

/* A copy of a value in memory of its own: a bare column, or a best value */
typedef struct HpCopy HpCopy;
struct HpCopy {
  HpVal val;             /* z points to aBuf */
  u8 *aBuf;              /* Space for text, from the arena */
  u32 n;                 /* Bytes of text */
  u32 nAlloc;            /* Bytes of aBuf */
  u8 tag;                /* HP_xxx, or 0 if there is none yet */
};

struct HpAgg {
  const HpPlan *pPlan;
  u32 *aSlot;            /* Hash table: salt, number of the group plus one */
  u32 mSlot;             /* Number of its entries, less one */
  u32 nGroup;            /* Groups so far */
  u8 **apChunk;          /* Chunks of groups */
  u32 nChunkAlloc;       /* Size of apChunk */
  HpPack *aGroupPack;    /* Packed keys of the first HP_MX_CACHED groups */
  HpArena arena;         /* Chunks, keys, copies */
  i64 nTable;            /* Bytes of aSlot and apChunk */
  /* Scratch for a batch, in selection order */
  HpPack *aPack;         /* Packed keys */
  u64 *aHash;            /* Hash values */
  u64 *aCode;            /* nKey arrays of key codes */
  u8 *aECode;            /* nKey arrays of key types */
  u32 *aiGroup;          /* Number of the group of each selected row */
  u8 **apGroup;          /* That group */
  u16 *aRow;             /* Selected rows in order of their groups */
  /* Output */
  struct HpSorted { u64 prefix; u32 iGroup; } *aSorted;
  u32 iNext;             /* Next group to deliver */
};

/* Where key i, a bare column, and the state of an aggregate are in a group */
#define hpGroupPack(G)          ((HpPack*)(G))
#define hpGroupKey(PLAN,G,I)    (&((HpKey*)&(G)[(PLAN)->iKeyOff])[I])
#define hpGroupBare(BARE,G)     ((HpCopy*)&(G)[(BARE)->iOff])
#define hpGroupState(DEF,G)     ((void*)&(G)[(DEF)->iOff])

#if defined(__GNUC__)
# define hpPrefetch(X) __builtin_prefetch(X)
#else
# define hpPrefetch(X)
#endif

static SQLITE_INLINE u8 *hpAggGroup(const HpAgg *pAgg, u32 iGroup){
  return pAgg->apChunk[iGroup/HP_CHUNK]
         + (size_t)(iGroup%HP_CHUNK)*pAgg->pPlan->szGroup;
}

/*
** Lay out a group: fills the offsets in pPlan and returns the size of a group.
** sum(X), total(X) and avg(X) keep one state.  What is touched for each row
** comes first.
*/
static int hpAggLayout(HpPlan *pPlan){
  int n = pPlan->nKey ? sizeof(HpPack) : 0;
  int i, j;
  for(i=0; i<pPlan->nAgg; i++){
    HpAggDef *pDef = &pPlan->aAgg[i];
    for(j=0; j<i && pDef->eAgg==HP_AGG_SUM; j++){
      if( pPlan->aAgg[j].eAgg==HP_AGG_SUM && pPlan->aAgg[j].iVec==pDef->iVec ){
        pDef->bShared = 1;
        pDef->iOff = pPlan->aAgg[j].iOff;
        break;
      }
    }
    if( pDef->bShared ) continue;
    pDef->iOff = (u16)n;
    switch( pDef->eAgg ){
      case HP_AGG_COUNT:  n += sizeof(i64);     break;
      case HP_AGG_SUM:    n += ROUND8(sizeof(SumCtx));  break;
      default:            n += sizeof(HpCopy);  break;
    }
  }
  pPlan->iKeyOff = (u16)n;
  n += sizeof(HpKey)*pPlan->nKey;
  for(i=0; i<pPlan->nBare; i++){
    if( pPlan->aBare[i].iKey>=0 ) continue;
    pPlan->aBare[i].iOff = (u16)n;
    n += sizeof(HpCopy);
  }
  return n;
}

/* Bytes of memory in use */
static i64 hpAggMemory(const HpAgg *pAgg){
  return pAgg->arena.nTotal + pAgg->nTable;
}

/*
** Create a group, all states empty, and return it, or NULL.
*/
static u8 *hpAggNewGroup(HpAgg *pAgg){
  u32 iGroup = pAgg->nGroup;
  u8 *aGroup;
  if( iGroup%HP_CHUNK==0 ){
    u32 iChunk = iGroup/HP_CHUNK;
    int nFirst = pAgg->pPlan->nKey ? HP_CHUNK : 1;
    if( iChunk>=pAgg->nChunkAlloc ){
      u32 nNew = pAgg->nChunkAlloc ? pAgg->nChunkAlloc*2 : 16;
      u8 **apNew = sqlite3_realloc64(pAgg->apChunk, sizeof(u8*)*(u64)nNew);
      if( apNew==0 ) return 0;
      pAgg->nTable += sizeof(u8*)*(i64)(nNew-pAgg->nChunkAlloc);
      pAgg->apChunk = apNew;
      pAgg->nChunkAlloc = nNew;
    }
    pAgg->apChunk[iChunk] =
        hpArenaAlloc(&pAgg->arena, (i64)nFirst*pAgg->pPlan->szGroup);
    if( pAgg->apChunk[iChunk]==0 ) return 0;
  }
  pAgg->nGroup++;
  aGroup = hpAggGroup(pAgg, iGroup);
  memset(aGroup, 0, pAgg->pPlan->szGroup);
  return aGroup;
}

/*
** Open the groups of p->pPlan.
*/
static int hpAggOpen(HpExec *p, HpAgg **ppAgg){
  const HpPlan *pPlan = p->pPlan;
  int n = p->batch.nAlloc;
  HpAgg *pAgg;

  *ppAgg = pAgg = sqlite3_malloc64(sizeof(*pAgg));
  if( pAgg==0 ) return HP_DECLINE;
  memset(pAgg, 0, sizeof(*pAgg));
  pAgg->pPlan = pPlan;
  if( pPlan->nKey==0 ) return hpAggNewGroup(pAgg) ? SQLITE_OK : HP_DECLINE;
  pAgg->aiGroup = hpArenaAlloc(&p->vec, sizeof(u32)*(i64)n);
  pAgg->apGroup = hpArenaAlloc(&p->vec, sizeof(u8*)*(i64)n);
  pAgg->aRow = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  pAgg->aPack = hpArenaAlloc(&p->vec, sizeof(HpPack)*(i64)n);
  pAgg->aGroupPack = hpArenaAlloc(&p->vec, sizeof(HpPack)*HP_MX_CACHED);
  pAgg->aHash = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)n);
  pAgg->aCode = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)n*pPlan->nKey);
  pAgg->aECode = hpArenaAlloc(&p->vec, (i64)n*pPlan->nKey);
  pAgg->mSlot = 1023;
  pAgg->nTable = 2*sizeof(u32)*(i64)(pAgg->mSlot+1);
  pAgg->aSlot = sqlite3_malloc64(pAgg->nTable);
  if( pAgg->aiGroup==0 || pAgg->apGroup==0 || pAgg->aRow==0
   || pAgg->aPack==0
   || pAgg->aGroupPack==0 || pAgg->aHash==0 || pAgg->aCode==0
   || pAgg->aECode==0 || pAgg->aSlot==0
  ){
    return HP_DECLINE;
  }
  memset(pAgg->aSlot, 0, pAgg->nTable);
  return SQLITE_OK;
}

static void hpAggClose(HpAgg *pAgg){
  if( pAgg ){
    hpArenaClear(&pAgg->arena);
    sqlite3_free(pAgg->aSlot);
    sqlite3_free(pAgg->apChunk);
    sqlite3_free(pAgg->aSorted);
    sqlite3_free(pAgg);
  }
}

/* Mix the bits of x */
static SQLITE_INLINE u64 hpMix(u64 x){
  x ^= x>>32;
  x *= ((u64)0x9e3779b9<<32)|0x7f4a7c15;
  x ^= x>>29;
  return x;
}

/* The first n<=8 bytes at z, where 8 are readable, as a number */
static SQLITE_INLINE u64 hpBytes(const u8 *z, u32 n){
  return n ? hpLoad8(z) >> (64-8*n) : 0;
}

/* The same for n<=7, without a branch */
static SQLITE_INLINE u64 hpBytes7(const u8 *z, u32 n){
  return (hpLoad8(z)>>8) >> (56-8*n);
}

/* A hash of n>8 bytes */
static u64 hpHashBytes(const u8 *z, u32 n){
  u64 h = n;
  while( n>=8 ){
    h = hpMix(h ^ hpLoad8(z));
    z += 8;
    n -= 8;
  }
  return n ? hpMix(h ^ hpBytes(z, n)) : h;
}

/* Length of text without what RTRIM ignores */
static u32 hpTrimmed(const u8 *z, u32 n){
  while( n>0 && z[n-1]==' ' ) n--;
  return n;
}

/* A hash of text under NOCASE, which does not look beyond a zero byte but
** for the length */
static u64 hpHashNoCase(const u8 *z, u32 n){
  u64 h = n;
  u32 i;
  for(i=0; i<n && z[i]; i++){
    h = hpMix(h ^ sqlite3UpperToLower[z[i]]);
  }
  return h;
}

/*
** Set *pi to the integer that real r is, and return true if it is one.  Up to
** 2^63 every real that is a whole number is.
*/
static SQLITE_INLINE int hpRealIsInt(double r, i64 *pi){
  if( r>=-9223372036854775808.0 && r<9223372036854775808.0 ){
    *pi = (i64)r;
    return (double)*pi==r;
  }
  return 0;
}

/*
** The form of a key that is the same for equal keys.  Returns its type and
** sets *pCode, and for text *pnCode.
*/
static u8 hpKeyCode(
  u8 tag, HpVal v, u32 n,
  CollSeq *pColl,
  u64 *pCode,
  u32 *pnCode
){
  *pnCode = n;
  switch( tag ){
    case HP_NULL:
      *pCode = 0;
      return HP_NULL;
    case HP_INT:
      *pCode = v.u;
      return HP_INT;
    case HP_REAL: {
      i64 i;
      if( hpRealIsInt(v.r, &i) ){
        *pCode = (u64)i;
        return HP_INT;
      }
      *pCode = v.u;
      return HP_REAL;
    }
  }
  if( tag==HP_TEXT && !sqlite3IsBinary(pColl) ){
    if( pColl->xCmp==nocaseCollatingFunc ){
      *pCode = hpHashNoCase(v.z, n);
      return tag;
    }
    *pnCode = n = hpTrimmed(v.z, n);
  }
  *pCode = n<=8 ? hpBytes(v.z, n) : hpHashBytes(v.z, n);
  return tag;
}

/*
** True if two keys whose codes, lengths and types are equal are equal.
*/
static int hpKeySame(const HpKey *pKey, const u8 *z, u32 n, CollSeq *pColl){
  if( (pKey->eCode & HP_STR)==0 ) return 1;
  if( pKey->eCode==HP_TEXT && !sqlite3IsBinary(pColl) ){
    return pColl->xCmp(pColl->pUser, (int)pKey->n, pKey->val.z, (int)n, z)==0;
  }
  return pKey->nCode<=8 || memcmp(pKey->val.z, z, pKey->nCode)==0;
}

/*
** Double the hash table.
*/
static int hpAggGrow(HpExec *p, HpAgg *pAgg){
  u32 mOld = pAgg->mSlot;
  u32 mNew = mOld*2+1;
  i64 nByte = 2*sizeof(u32)*((i64)mNew+1);
  u32 *aOld = pAgg->aSlot;
  u32 *aNew;
  u32 i;
  if( mNew>=0x7fffffff || hpAggMemory(pAgg)+nByte>p->nMemory ){
    return HP_DECLINE;
  }
  aNew = sqlite3_malloc64(nByte);
  if( aNew==0 ) return HP_DECLINE;
  memset(aNew, 0, nByte);
  for(i=0; i<=mOld; i++){
    u32 iGroup = aOld[2*i+1];
    if( iGroup ){
      u32 j = aOld[2*i] & mNew;
      while( aNew[2*j+1] ) j = (j+1) & mNew;
      aNew[2*j] = aOld[2*i];
      aNew[2*j+1] = iGroup;
    }
  }
  pAgg->nTable += nByte - 2*sizeof(u32)*((i64)mOld+1);
  sqlite3_free(aOld);
  pAgg->aSlot = aNew;
  pAgg->mSlot = mNew;
  return SQLITE_OK;
}

/*
** Copy row i of pVec into *pCopy.
*/
static int hpCopySet(HpAgg *pAgg, HpCopy *pCopy, const HpVec *pVec, int i){
  i &= pVec->mIdx;
  pCopy->tag = pVec->aTag[i];
  pCopy->val = pVec->aVal[i];
  if( pCopy->tag & HP_STR ){
    u32 n = pVec->aLen[i];
    if( n>=pCopy->nAlloc ){
      u32 nAlloc = pCopy->nAlloc ? MAX(n, 2*pCopy->nAlloc) : n;
      u8 *aBuf = hpArenaAlloc(&pAgg->arena, (i64)nAlloc+8);
      if( aBuf==0 ) return HP_DECLINE;
      pCopy->aBuf = aBuf;
      pCopy->nAlloc = nAlloc;
    }
    memcpy(pCopy->aBuf, pCopy->val.z, n);
    memset(&pCopy->aBuf[n], 0, 8);
    pCopy->val.z = pCopy->aBuf;
    pCopy->n = n;
  }
  return SQLITE_OK;
}

/*
** Let the bare columns of a group show row i.
*/
static int hpAggLoad(HpExec *p, u8 *aGroup, int i){
  const HpPlan *pPlan = p->pPlan;
  int k, rc;
  for(k=0; k<pPlan->nBare; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    if( pBare->iKey>=0 ) continue;
    rc = hpCopySet(p->pAgg, hpGroupBare(pBare, aGroup),
                   &p->aVec[pBare->iVec], i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

/*
** Create the group of selected row ii.
*/
static int hpAggInsert(HpExec *p, int ii){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  int row = p->aSel[ii];
  u8 *aGroup;
  int k;

  if( hpAggMemory(pAgg)>p->nMemory ) return HP_DECLINE;
  aGroup = hpAggNewGroup(pAgg);
  if( aGroup==0 ) return HP_DECLINE;
  *hpGroupPack(aGroup) = pAgg->aPack[ii];
  if( pAgg->nGroup<=HP_MX_CACHED ){
    pAgg->aGroupPack[pAgg->nGroup-1] = pAgg->aPack[ii];
  }
  for(k=0; k<pPlan->nKey; k++){
    const HpVec *pVec = &p->aVec[pPlan->aKey[k]];
    HpKey *pKey = hpGroupKey(pPlan, aGroup, k);
    int i = row & pVec->mIdx;
    pKey->tag = pVec->aTag[i];
    pKey->val = pVec->aVal[i];
    if( pKey->tag & HP_STR ){
      u32 n = pVec->aLen[i];
      u8 *z = hpArenaAlloc(&pAgg->arena, (i64)n+8);
      if( z==0 ) return HP_DECLINE;
      memcpy(z, pKey->val.z, n);
      memset(&z[n], 0, 8);
      pKey->val.z = z;
      pKey->n = n;
    }
    pKey->eCode = hpKeyCode(pKey->tag, pKey->val, pKey->n, pPlan->aKeyColl[k],
                            &pKey->code, &pKey->nCode);
  }
  return SQLITE_OK;
}

/*
** Compute key codes and hash values of key k for the selected rows.
*/
static void hpAggHash(HpExec *p, int k){
  HpAgg *pAgg = p->pAgg;
  const HpVec *pVec = &p->aVec[p->pPlan->aKey[k]];
  CollSeq *pColl = p->pPlan->aKeyColl[k];
  u64 *aCode = &pAgg->aCode[(size_t)k*p->batch.nAlloc];
  u8 *aECode = &pAgg->aECode[(size_t)k*p->batch.nAlloc];
  u64 *aHash = pAgg->aHash;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int ii;

  if( pVec->mType==HP_INT ){
    for(ii=0; ii<nSel; ii++){
      aCode[ii] = pVec->aVal[aSel[ii] & pVec->mIdx].u;
    }
    memset(aECode, HP_INT, (u32)nSel);
  }else if( pVec->mType==HP_TEXT && sqlite3IsBinary(pColl) ){
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      u32 n = pVec->aLen[i];
      const u8 *z = pVec->aVal[i].z;
      aCode[ii] = n<=8 ? hpBytes(z, n) : hpHashBytes(z, n);
    }
    memset(aECode, HP_TEXT, (u32)nSel);
  }else{
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      u8 tag = pVec->aTag[i];
      u32 nCode;
      aECode[ii] = hpKeyCode(tag, pVec->aVal[i], (tag&HP_STR)?pVec->aLen[i]:0,
                             pColl, &aCode[ii], &nCode);
    }
  }
  if( k==0 ){
    for(ii=0; ii<nSel; ii++) aHash[ii] = hpMix(aCode[ii] + aECode[ii]);
  }else{
    for(ii=0; ii<nSel; ii++){
      aHash[ii] = hpMix((aHash[ii]<<7 | aHash[ii]>>57) ^ (aCode[ii]+aECode[ii]));
    }
  }
}

/*
** One key as a number of nBit bits (32 or 64), or HP_UNPACKED.  The lowest two
** bits tell the type.  Equal keys, and only they, have equal numbers.
*/
static SQLITE_INLINE u64 hpPackKey(u8 tag, HpVal v, u32 n, int nBit){
  i64 x;
  switch( tag ){
    case HP_NULL:
      return 3;
    case HP_TEXT:
      if( (int)n>=nBit/8 ) return HP_UNPACKED;
      return (hpBytes(v.z, n)<<8) | (n<<2) | 1;
    case HP_REAL:
      if( !hpRealIsInt(v.r, &v.i) ) return HP_UNPACKED;
      /* no break */ deliberate_fall_through
    case HP_INT:
      x = (i64)((u64)v.i<<(72-nBit));
      if( x>>(72-nBit)!=v.i ) return HP_UNPACKED;
      return ((u64)x>>(64-nBit)) | 2;
  }
  return HP_UNPACKED;
}

/* The only key of a row as a pack */
static SQLITE_INLINE HpPack hpPackOne(u8 tag, HpVal v, u32 n){
  HpPack x;
  x.a = 0;
  x.b = 3;
  switch( tag ){
    case HP_NULL:
      return x;
    case HP_TEXT:
      if( n<=15 ){
        x.a = hpBytes(v.z, MIN(n,8));
        x.b = (n<<2) | 1;
        if( n>8 ) x.b |= hpBytes(&v.z[8], n-8)<<8;
        return x;
      }
      break;
    case HP_REAL:
      if( !hpRealIsInt(v.r, &v.i) ) break;
      /* no break */ deliberate_fall_through
    case HP_INT:
      x.a = v.u;
      x.b = 2;
      return x;
  }
  x.a = x.b = HP_UNPACKED;
  return x;
}

/*
** Pack the keys of the selected rows into pAgg->aPack.  Returns true if all
** of them fit.  Whether the keys of a row fit depends on nothing but them
** (and the query), so that equal rows of all batches meet.
*/
static int hpAggPack(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpPack *aPack = p->pAgg->aPack;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int nKey = pPlan->nKey;
  int bAll = 1;
  int ii, k;

  for(k=0; k<nKey && nKey<=4 && pPlan->aKeyColl[k]==0; k++){}
  if( k<nKey ){
    for(ii=0; ii<nSel; ii++) aPack[ii].a = aPack[ii].b = HP_UNPACKED;
    return 0;
  }
  if( nKey==1 ){
    const HpVec *pVec = &p->aVec[pPlan->aKey[0]];
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      aPack[ii] = hpPackOne(pVec->aTag[i], pVec->aVal[i], pVec->aLen[i]);
      bAll &= aPack[ii].b!=HP_UNPACKED;
    }
    return bAll;
  }
  for(k=0; k<nKey; k++){
    const HpVec *pVec = &p->aVec[pPlan->aKey[k]];
    int nBit = nKey==2 ? 64 : 32;
    if( pVec->mType==HP_TEXT && nKey==2 && bAll ){
      u64 *aTo = k==0 ? &aPack[0].a : &aPack[0].b;
      int bLong = 0;
      for(ii=0; ii<nSel; ii++){
        int i = aSel[ii] & pVec->mIdx;
        u32 n = pVec->aLen[i];
        aTo[2*ii] = (hpBytes7(pVec->aVal[i].z, n&7)<<8) | (n<<2) | 1;
        bLong |= n>7;
      }
      if( k==0 ) for(ii=0; ii<nSel; ii++) aPack[ii].b = 0;
      if( !bLong && bAll ) continue;
    }
    for(ii=0; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      u64 x = hpPackKey(pVec->aTag[i], pVec->aVal[i], pVec->aLen[i], nBit);
      if( k==0 ){
        aPack[ii].a = x;
        aPack[ii].b = 0;
      }else if( aPack[ii].b==HP_UNPACKED ){
        continue;
      }else if( k==1 ){
        aPack[ii].b = x;
      }else{
        aPack[ii].a |= k==2 ? x<<32 : 0;
        aPack[ii].b |= k==3 ? x<<32 : 0;
      }
      if( x==HP_UNPACKED ){
        aPack[ii].a = aPack[ii].b = HP_UNPACKED;
        bAll = 0;
      }
    }
  }
  return bAll;
}

/*
** Packs and hash values of the selected rows.
*/
static void hpAggHashAll(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  const HpPack *aPack = pAgg->aPack;
  u64 *aHash = pAgg->aHash;
  int nSel = p->nSel;
  int bAll = hpAggPack(p);
  int ii, k;
  for(k=0; k<p->pPlan->nKey && !bAll; k++) hpAggHash(p, k);
  for(ii=0; ii<nSel; ii++){
    if( bAll || aPack[ii].b!=HP_UNPACKED ){
      aHash[ii] = hpMix(aPack[ii].a ^ hpMix(aPack[ii].b));
    }
  }
  if( p->pCfg->bHash0 ) memset(aHash, 0, sizeof(u64)*nSel);
}

/*
** True if the keys of selected row ii are those of aGroup.
*/
static SQLITE_INLINE int hpAggIsGroup(HpExec *p, const u8 *aGroup, int ii){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  const HpPack *pPack = &pAgg->aPack[ii];
  int nAlloc = p->batch.nAlloc;
  int nKey = pPlan->nKey;
  int k;
  if( pPack->b!=hpGroupPack(aGroup)->b || pPack->a!=hpGroupPack(aGroup)->a ){
    return 0;
  }
  if( pPack->b!=HP_UNPACKED ) return 1;
  for(k=0; k<nKey; k++){
    const HpKey *pKey = hpGroupKey(pPlan, aGroup, k);
    u8 eCode = pAgg->aECode[(size_t)k*nAlloc+ii];
    if( pKey->code!=pAgg->aCode[(size_t)k*nAlloc+ii] ) return 0;
    if( pKey->eCode!=eCode ) return 0;
    if( eCode & HP_STR ){
      const HpVec *pVec = &p->aVec[pPlan->aKey[k]];
      int i = p->aSel[ii] & pVec->mIdx;
      u32 n = pVec->aLen[i];
      CollSeq *pColl = pPlan->aKeyColl[k];
      if( pColl==0 && n<=8 ){
        if( n!=pKey->nCode ) return 0;
        continue;
      }
      if( pColl!=0 && pColl->xCmp==rtrimCollFunc && eCode==HP_TEXT ){
        if( hpTrimmed(pVec->aVal[i].z, n)!=pKey->nCode ) return 0;
      }else if( n!=pKey->nCode ){
        return 0;
      }
      if( !hpKeySame(pKey, pVec->aVal[i].z, n, pColl) ) return 0;
    }
  }
  return 1;
}

/*
** Find or create the group of selected row ii: pAgg->aiGroup[ii].
*/
static int hpAggFindRow(HpExec *p, int ii){
  HpAgg *pAgg = p->pAgg;
  u32 salt = (u32)(pAgg->aHash[ii]>>16);
  u32 j = salt & pAgg->mSlot;
  u32 iGroup;
  int rc;
  while( (iGroup = pAgg->aSlot[2*j+1])!=0 ){
    if( pAgg->aSlot[2*j]==salt
     && hpAggIsGroup(p, hpAggGroup(pAgg, iGroup-1), ii)
    ){
      break;
    }
    j = (j+1) & pAgg->mSlot;
  }
  if( iGroup==0 ){
    rc = hpAggInsert(p, ii);
    if( rc ) return rc;
    iGroup = pAgg->nGroup;
    pAgg->aSlot[2*j] = salt;
    pAgg->aSlot[2*j+1] = iGroup;
    if( p->pPlan->bLoadFirst ){
      rc = hpAggLoad(p, hpAggGroup(pAgg, iGroup-1), p->aSel[ii]);
      if( rc ) return rc;
    }
    if( pAgg->nGroup>pAgg->mSlot/2 ){
      rc = hpAggGrow(p, pAgg);
      if( rc ) return rc;
    }
  }
  pAgg->aiGroup[ii] = iGroup-1;
  return SQLITE_OK;
}

/*
** Find or create the group of each selected row where groups are few: the
** hash table and the packs of all groups are in the nearest cache.
*/
static int hpAggFindFew(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  const HpPack *aPack = pAgg->aPack;
  const HpPack *aGroupPack = pAgg->aGroupPack;
  const u64 *aHash = pAgg->aHash;
  u32 *aiGroup = pAgg->aiGroup;
  int nSel = p->nSel;
  int ii;
  for(ii=0; ii<nSel; ii++){
    u32 salt = (u32)(aHash[ii]>>16);
    u32 j = salt & pAgg->mSlot;
    u32 iGroup = pAgg->aSlot[2*j+1];
    u64 b = aPack[ii].b;
    if( iGroup!=0 && iGroup<=HP_MX_CACHED && b!=HP_UNPACKED
     && aGroupPack[iGroup-1].a==aPack[ii].a && aGroupPack[iGroup-1].b==b
    ){
      aiGroup[ii] = iGroup-1;
    }else{
      int rc = hpAggFindRow(p, ii);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}

/*
** The same where groups are many and each step is a cache miss, so in two
** passes: the first reads the hash table, whose lines were asked for some rows
** before, and asks for the group that the salt names; the second compares
** keys.
*/
static int hpAggFindMany(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  const u64 *aHash = pAgg->aHash;
  int nHot = p->pPlan->iKeyOff;    /* Bytes of a group that are used a row */
  int nSel = p->nSel;
  int ii, k, rc;
  for(ii=0; ii<nSel; ii++){
    u32 salt = (u32)(aHash[ii]>>16);
    u32 j = salt & pAgg->mSlot;
    u32 iGroup;
    if( ii+16<nSel ){
      hpPrefetch(&pAgg->aSlot[2*((u32)(aHash[ii+16]>>16) & pAgg->mSlot)]);
    }
    while( (iGroup = pAgg->aSlot[2*j+1])!=0 && pAgg->aSlot[2*j]!=salt ){
      j = (j+1) & pAgg->mSlot;
    }
    pAgg->aiGroup[ii] = iGroup;
    if( iGroup ){
      u8 *aGroup = hpAggGroup(pAgg, iGroup-1);
      for(k=0; k<nHot; k+=64) hpPrefetch(&aGroup[k]);
    }
  }
  for(ii=0; ii<nSel; ii++){
    u32 iGroup = pAgg->aiGroup[ii];
    if( iGroup && hpAggIsGroup(p, hpAggGroup(pAgg, iGroup-1), ii) ){
      pAgg->aiGroup[ii] = iGroup-1;
    }else{
      rc = hpAggFindRow(p, ii);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}

/* One step of sum() with a real.  As kahanBabuskaNeumaierStep(). */
static SQLITE_INLINE void hpSumReal(SumCtx *pSum, double r){
  double s = pSum->rSum;
  double t = s + r;
  if( fabs(s) > fabs(r) ){
    pSum->rErr += (s - t) + r;
  }else{
    pSum->rErr += (r - t) + s;
  }
  pSum->rSum = t;
}

/* The first real turns the integer sum into a real one */
static void hpSumApprox(SumCtx *pSum){
  kahanBabuskaNeumaierInit(pSum, pSum->iSum);
  pSum->approx = 1;
}

/*
** One step of sum() with row i of pVec.  As sumStep().
*/
static SQLITE_INLINE void hpSumValue(
  HpExec *p,
  SumCtx *pSum,
  const HpVec *pVec,
  int i
){
  u8 tag;
  i64 iVal = 0;
  double r = 0.0;
  i &= pVec->mIdx;
  tag = pVec->aTag[i];
  if( tag==HP_NULL ) return;
  if( tag==HP_INT ){
    iVal = pVec->bFloat ? (i64)pVec->aVal[i].r : pVec->aVal[i].i;
  }else if( tag==HP_REAL ){
    r = pVec->aVal[i].r;
  }else{
    Mem m;
    hpVecToMem(p, pVec, i, &m);
    if( sqlite3_value_numeric_type((sqlite3_value*)&m)==SQLITE_INTEGER ){
      tag = HP_INT;
      iVal = sqlite3_value_int64((sqlite3_value*)&m);
    }else{
      r = sqlite3_value_double((sqlite3_value*)&m);
    }
    sqlite3VdbeMemRelease(&m);
  }
  pSum->cnt++;
  if( tag==HP_INT ){
    if( pSum->approx==0 ){
      i64 x = pSum->iSum;
      if( sqlite3AddInt64(&x, iVal)==0 ){
        pSum->iSum = x;
        return;
      }
      pSum->ovrfl = 1;
      hpSumApprox(pSum);
    }
    if( iVal<4503599627370496LL && iVal>-4503599627370496LL ){
      hpSumReal(pSum, (double)iVal);
    }else{
      kahanBabuskaNeumaierStepInt64(pSum, iVal);
    }
  }else{
    if( pSum->approx==0 ){
      hpSumApprox(pSum);
    }else{
      pSum->ovrfl = 0;
    }
    hpSumReal(pSum, r);
  }
}

/*
** Sum the values of pVec in rows aRow[0..n-1], which all belong to one group.
*/
static void hpSumRange(
  HpExec *p,
  SumCtx *pSum,
  const HpVec *pVec,
  const u16 *aRow,
  int n
){
  const HpVal *aVal = pVec->aVal;
  int ii = 0;
  if( pVec->mIdx!=0 && pVec->mType==HP_INT && pSum->approx==0 ){
    i64 iSum = pSum->iSum;
    for(; ii<n; ii++){
      i64 x = iSum;
      if( sqlite3AddInt64(&x, aVal[aRow[ii]].i) ) break;
      iSum = x;
    }
    pSum->iSum = iSum;
    pSum->cnt += ii;
  }else if( pVec->mIdx!=0 && (pVec->mType==HP_REAL || pVec->bFloat) ){
    /* Stock's sum is one of integers until the first real.  From there on,
    ** unless it had overflowed, integers and reals take the same step. */
    while( ii<n && (pSum->approx==0 || pSum->ovrfl) ){
      hpSumValue(p, pSum, pVec, aRow[ii++]);
    }
    if( ii<n ){
      double s = pSum->rSum;
      double e = pSum->rErr;
      pSum->cnt += n-ii;
      for(; ii<n; ii++){
        double r = aVal[aRow[ii]].r;
        double t = s + r;
        if( fabs(s) > fabs(r) ){
          e += (s - t) + r;
        }else{
          e += (r - t) + s;
        }
        s = t;
      }
      pSum->rSum = s;
      pSum->rErr = e;
    }
  }
  for(; ii<n; ii++) hpSumValue(p, pSum, pVec, aRow[ii]);
}

/*
** Add each selected row's value of pVec to the sum at iOff of its own group.
*/
static void hpSumScattered(HpExec *p, int iOff, const HpVec *pVec){
  u8 **apGroup = p->pAgg->apGroup;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int ii;
  if( pVec->mIdx==0
   || (pVec->mType!=HP_INT && pVec->mType!=HP_REAL && !pVec->bFloat)
  ){
    for(ii=0; ii<nSel; ii++){
      hpSumValue(p, (SumCtx*)&apGroup[ii][iOff], pVec, aSel[ii]);
    }
  }else if( pVec->mType==HP_INT ){
    for(ii=0; ii<nSel; ii++){
      SumCtx *pSum = (SumCtx*)&apGroup[ii][iOff];
      i64 x = pSum->iSum;
      if( pSum->approx || sqlite3AddInt64(&x, pVec->aVal[aSel[ii]].i) ){
        hpSumValue(p, pSum, pVec, aSel[ii]);
      }else{
        pSum->iSum = x;
        pSum->cnt++;
      }
    }
  }else{
    for(ii=0; ii<nSel; ii++){
      SumCtx *pSum = (SumCtx*)&apGroup[ii][iOff];
      if( pSum->approx==0 || pSum->ovrfl ){
        hpSumValue(p, pSum, pVec, aSel[ii]);
      }else{
        pSum->cnt++;
        hpSumReal(pSum, pVec->aVal[aSel[ii]].r);
      }
    }
  }
}

/*
** One step of min() or max().  Sets *pbSkip if stock would not load the bare
** columns from this row.
*/
static int hpBestValue(
  HpExec *p,
  const HpAggDef *pDef,
  HpCopy *pBest,
  int row,
  int *pbSkip
){
  const HpVec *pVec = &p->aVec[pDef->iVec];
  int i = row & pVec->mIdx;
  u8 tag = pVec->aTag[i];
  *pbSkip = 0;
  if( tag==HP_NULL ){
    *pbSkip = pBest->tag!=0;
    return SQLITE_OK;
  }
  if( pBest->tag ){
    int c;
    if( (tag & pBest->tag)==HP_INT ){
      i64 a = pBest->val.i;
      i64 b = pVec->aVal[i].i;
      c = a<b ? -1 : a>b;
    }else{
      c = hpValCompare(pBest->tag, pBest->val, pBest->n,
                       tag, pVec->aVal[i], (tag&HP_STR) ? pVec->aLen[i] : 0,
                       pDef->pColl);
    }
    if( pDef->eAgg==HP_AGG_MAX ? c>=0 : c<=0 ){
      *pbSkip = 1;
      return SQLITE_OK;
    }
  }
  return hpCopySet(p->pAgg, pBest, pVec, i);
}

/*
** Run aggregate pDef over rows aRow[0..n-1] of group aGroup.
*/
static int hpAggRange(
  HpExec *p,
  const HpAggDef *pDef,
  u8 *aGroup,
  const u16 *aRow,
  int n
){
  void *pState = hpGroupState(pDef, aGroup);
  const HpVec *pVec = pDef->iVec==0xffff ? 0 : &p->aVec[pDef->iVec];
  int ii, rc, bSkip;
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      if( pVec==0 || (pVec->mType & HP_NULL)==0 ){
        *(i64*)pState += n;
      }else{
        i64 nNull = 0;
        for(ii=0; ii<n; ii++) nNull += pVec->aTag[aRow[ii] & pVec->mIdx]==HP_NULL;
        *(i64*)pState += n - nNull;
      }
      break;
    case HP_AGG_SUM:
      hpSumRange(p, pState, pVec, aRow, n);
      break;
    default:
      for(ii=0; ii<n; ii++){
        rc = hpBestValue(p, pDef, pState, aRow[ii], &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpAggLoad(p, aGroup, aRow[ii]);
        }
        if( rc ) return rc;
      }
      break;
  }
  return SQLITE_OK;
}

/*
** Put the selected rows in order of their groups, each group's rows in scan
** order, and run each aggregate group by group.
*/
static int hpAggOrdered(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  u16 aEnd[HP_MX_ORDERED+1];
  int nGroup = (int)pAgg->nGroup;
  int ii, k, g, rc;

  memset(aEnd, 0, sizeof(aEnd[0])*(nGroup+1));
  for(ii=0; ii<p->nSel; ii++) aEnd[pAgg->aiGroup[ii]+1]++;
  for(g=0; g<nGroup; g++) aEnd[g+1] += aEnd[g];
  for(ii=0; ii<p->nSel; ii++){
    pAgg->aRow[aEnd[pAgg->aiGroup[ii]]++] = p->aSel[ii];
  }
  /* Now aEnd[g] is where the rows of group g end */
  for(k=0; k<pPlan->nAgg; k++){
    int iFirst = 0;
    if( pPlan->aAgg[k].bShared ) continue;
    for(g=0; g<nGroup; g++){
      if( aEnd[g]>iFirst ){
        rc = hpAggRange(p, &pPlan->aAgg[k], hpAggGroup(pAgg, g),
                        &pAgg->aRow[iFirst], aEnd[g]-iFirst);
        if( rc ) return rc;
      }
      iFirst = aEnd[g];
    }
  }
  return SQLITE_OK;
}

/*
** Run aggregate pDef over the selected rows, each with its own group.
*/
static int hpAggScattered(HpExec *p, const HpAggDef *pDef){
  HpAgg *pAgg = p->pAgg;
  const HpVec *pVec = pDef->iVec==0xffff ? 0 : &p->aVec[pDef->iVec];
  int ii, rc, bSkip;
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      for(ii=0; ii<p->nSel; ii++){
        *(i64*)hpGroupState(pDef, pAgg->apGroup[ii]) +=
            pVec==0 || pVec->aTag[p->aSel[ii] & pVec->mIdx]!=HP_NULL;
      }
      break;
    case HP_AGG_SUM:
      hpSumScattered(p, pDef->iOff, pVec);
      break;
    default:
      for(ii=0; ii<p->nSel; ii++){
        u8 *aGroup = pAgg->apGroup[ii];
        int row = p->aSel[ii];
        rc = hpBestValue(p, pDef, hpGroupState(pDef, aGroup), row, &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpAggLoad(p, aGroup, row);
        }
        if( rc ) return rc;
      }
      break;
  }
  return SQLITE_OK;
}

/*
** Add the selected rows of the batch to their groups.
*/
static int hpAggStep(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  int rc = SQLITE_OK;
  int k;

  if( p->nSel==0 ) return SQLITE_OK;
  for(k=0; k<pPlan->nKey; k++) hpVecExact(p, &p->aVec[pPlan->aKey[k]]);
  for(k=0; k<pPlan->nBare; k++) hpVecExact(p, &p->aVec[pPlan->aBare[k].iVec]);
  for(k=0; k<pPlan->nAgg; k++){
    if( pPlan->aAgg[k].eAgg>=HP_AGG_MIN ){
      hpVecExact(p, &p->aVec[pPlan->aAgg[k].iVec]);
    }
  }
  if( pPlan->nKey ){
    hpAggHashAll(p);
    rc = pAgg->nGroup<HP_MX_CACHED ? hpAggFindFew(p) : hpAggFindMany(p);
    if( rc ) return rc;
  }else if( pPlan->bLoadFirst && pAgg->iNext==0 ){
    pAgg->iNext = 1;     /* The first row has been seen */
    rc = hpAggLoad(p, hpAggGroup(pAgg, 0), p->aSel[0]);
    if( rc ) return rc;
  }
  if( pPlan->nKey && pAgg->nGroup<=HP_MX_ORDERED
   && (u32)p->nSel>=pAgg->nGroup*HP_MIN_ORDERED
  ){
    rc = hpAggOrdered(p);
  }else{
    for(k=0; k<p->nSel && pPlan->nKey; k++){
      pAgg->apGroup[k] = hpAggGroup(pAgg, pAgg->aiGroup[k]);
    }
    for(k=0; k<pPlan->nAgg && rc==SQLITE_OK; k++){
      const HpAggDef *pDef = &pPlan->aAgg[k];
      if( pDef->bShared ) continue;
      if( pPlan->nKey ){
        rc = hpAggScattered(p, pDef);
      }else{
        rc = hpAggRange(p, pDef, hpAggGroup(pAgg, 0), p->aSel, p->nSel);
      }
    }
  }
  if( rc==SQLITE_OK && hpAggMemory(pAgg)>p->nMemory ) rc = HP_DECLINE;
  if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
  return rc;
}

/*
** Compare two groups by their keys, as stock's sorter does.
*/
static int hpGroupCompare(const HpAgg *pAgg, u32 iA, u32 iB){
  const HpPlan *pPlan = pAgg->pPlan;
  const u8 *aA = hpAggGroup(pAgg, iA);
  const u8 *aB = hpAggGroup(pAgg, iB);
  int k;
  for(k=0; k<pPlan->nKey; k++){
    const HpKey *a = hpGroupKey(pPlan, aA, k);
    const HpKey *b = hpGroupKey(pPlan, aB, k);
    u8 flags = pPlan->aKeySort[k];
    int bNull = ((a->tag | b->tag) & HP_NULL)!=0;
    int c;
    if( bNull ){
      c = (b->tag==HP_NULL) - (a->tag==HP_NULL);
    }else{
      c = hpValCompare(a->tag, a->val, a->n, b->tag, b->val, b->n,
                       pPlan->aKeyColl[k]);
    }
    if( c!=0 ){
      if( flags
       && ((flags & KEYINFO_ORDER_BIGNULL)==0
           || (flags & KEYINFO_ORDER_DESC)!=bNull)
      ){
        c = -c;
      }
      return c;
    }
  }
  return 0;
}

static SQLITE_INLINE int hpSortedLess(
  const HpAgg *pAgg,
  const struct HpSorted *a,
  const struct HpSorted *b
){
  if( a->prefix!=b->prefix ) return a->prefix<b->prefix;
  return hpGroupCompare(pAgg, a->iGroup, b->iGroup)<=0;
}

/*
** Put the groups in key order.  A merge sort of entries that carry the first
** eight bytes of the first key, as a number in the order of the keys, if
** all first keys are integers or all are text under BINARY.
*/
static int hpAggSort(HpExec *p){
  HpAgg *pAgg = p->pAgg;
  const HpPlan *pPlan = p->pPlan;
  u32 n = pAgg->nGroup;
  struct HpSorted *aFrom, *aTo;
  u32 i, nRun;
  u8 mType = 0;

  pAgg->iNext = 0;
  if( pPlan->nKey==0 ) return SQLITE_OK;
  sqlite3_free(pAgg->aSlot);
  pAgg->aSlot = 0;
  pAgg->nTable = 0;
  if( n==0 ) return SQLITE_OK;
  if( hpAggMemory(pAgg)+2*(i64)sizeof(*aFrom)*n>p->nMemory ) return HP_DECLINE;
  pAgg->aSorted = aFrom = sqlite3_malloc64(2*sizeof(*aFrom)*(u64)n);
  if( aFrom==0 ) return HP_DECLINE;
  aTo = &aFrom[n];
  for(i=0; i<n; i++) mType |= hpGroupKey(pPlan, hpAggGroup(pAgg, i), 0)->tag;
  for(i=0; i<n; i++){
    const HpKey *pKey = hpGroupKey(pPlan, hpAggGroup(pAgg, i), 0);
    u64 x = 0;
    if( mType==HP_INT ){
      x = pKey->val.u ^ ((u64)1<<63);
    }else if( mType==HP_TEXT && sqlite3IsBinary(pPlan->aKeyColl[0]) ){
      x = hpLoad8(pKey->val.z);    /* Zero bytes follow a short one */
    }
    if( mType!=0 && (pPlan->aKeySort[0] & KEYINFO_ORDER_DESC) ) x = ~x;
    aFrom[i].prefix = x;
    aFrom[i].iGroup = i;
  }
  for(nRun=1; nRun<n; nRun*=2){
    struct HpSorted *aSwap = aFrom;
    for(i=0; i<n; i+=2*nRun){
      u32 a = i, b = MIN(i+nRun, n), k = i;
      u32 mxA = b, mxB = MIN(b+nRun, n);
      while( a<mxA && b<mxB ){
        aTo[k++] = hpSortedLess(pAgg, &aFrom[a], &aFrom[b]) ? aFrom[a++]
                                                            : aFrom[b++];
      }
      while( a<mxA ) aTo[k++] = aFrom[a++];
      while( b<mxB ) aTo[k++] = aFrom[b++];
    }
    aFrom = aTo;
    aTo = aSwap;
    if( AtomicLoad(&p->db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
  }
  if( aFrom!=pAgg->aSorted ){
    memcpy(pAgg->aSorted, aFrom, sizeof(*aFrom)*(u64)n);
  }
  return SQLITE_OK;
}

/* Set register pMem to a value */
static void hpMemSet(Mem *pMem, u8 tag, HpVal v, u32 n){
  switch( tag ){
    case HP_INT:
      sqlite3VdbeMemSetInt64(pMem, v.i);
      break;
    case HP_REAL:
      sqlite3VdbeMemSetDouble(pMem, v.r);
      break;
    case HP_TEXT:
      sqlite3VdbeMemSetStr(pMem, (const char*)v.z, n, SQLITE_UTF8,
                           SQLITE_TRANSIENT);
      break;
    case HP_BLOB:
      sqlite3VdbeMemSetStr(pMem, (const char*)v.z, n, 0, SQLITE_TRANSIENT);
      break;
    default:
      sqlite3VdbeMemSetNull(pMem);
      break;
  }
}

/*
** Make register pMem an aggregate context of nByte zero bytes, as
** sqlite3_aggregate_context() would, and return them, or NULL.
*/
static void *hpMemAgg(Mem *pMem, FuncDef *pFunc, int nByte){
  if( sqlite3VdbeMemClearAndResize(pMem, nByte) ) return 0;
  pMem->flags = MEM_Agg;
  pMem->u.pDef = pFunc;
  memset(pMem->z, 0, nByte);
  return pMem->z;
}

/*
** Copy the next group into the registers aMem[].  SQLITE_DONE if there is
** none.
*/
static int hpAggNext(HpExec *p, Mem *aMem){
  const HpPlan *pPlan = p->pPlan;
  HpAgg *pAgg = p->pAgg;
  u8 *aGroup;
  int k;

  if( pAgg->iNext>=pAgg->nGroup ) return SQLITE_DONE;
  aGroup = hpAggGroup(pAgg, pPlan->nKey ? pAgg->aSorted[pAgg->iNext].iGroup : 0);
  pAgg->iNext++;
  for(k=0; k<pPlan->nKey; k++){
    const HpKey *pKey = hpGroupKey(pPlan, aGroup, k);
    hpMemSet(&aMem[pPlan->iKeyReg+k], pKey->tag, pKey->val, pKey->n);
  }
  for(k=0; k<pPlan->nBare; k++){
    const struct HpBare *pBare = &pPlan->aBare[k];
    Mem *pMem = &aMem[pPlan->iBareReg+k];
    if( pBare->iKey>=0 ){
      const HpKey *pKey = hpGroupKey(pPlan, aGroup, pBare->iKey);
      hpMemSet(pMem, pKey->tag, pKey->val, pKey->n);
    }else{
      const HpCopy *pCopy = hpGroupBare(pBare, aGroup);
      hpMemSet(pMem, pCopy->tag, pCopy->val, pCopy->n);
    }
  }
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    Mem *pMem = &aMem[pPlan->iFuncReg+k];
    void *pState = hpGroupState(pDef, aGroup);
    switch( pDef->eAgg ){
      case HP_AGG_COUNT: {
        CountCtx *pCtx = hpMemAgg(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx ) pCtx->n = *(i64*)pState;
        break;
      }
      case HP_AGG_SUM: {
        SumCtx *pCtx = hpMemAgg(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx ) memcpy(pCtx, pState, sizeof(*pCtx));
        break;
      }
      default: {
        const HpCopy *pBest = pState;
        Mem *pCtx = hpMemAgg(pMem, pDef->pFunc, sizeof(*pCtx));
        if( pCtx && pBest->tag ){
          sqlite3VdbeMemInit(pCtx, p->db, MEM_Null);
          hpMemSet(pCtx, pBest->tag, pBest->val, pBest->n);
        }
        break;
      }
    }
  }
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
