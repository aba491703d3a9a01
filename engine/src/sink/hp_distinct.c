/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_distinct: which values has DISTINCT in an aggregate function seen?
**
**    hpDistinctAdd()      a value: is it new in its group?
**    hpDistinctAhead()    one that will come soon
**    hpDistinctCombine()  several workers have counted: each value once
**    hpDistinctFree()     free a set
**    hpDistinctFull()     what to do when there is no memory for more
**
** Each such function has one set for all groups of a worker (HpSet): hash tables of
** the group and the value.  Numbers and texts of up to 15 bytes are in one as packs
** (hp_pack.c), without memory beside it; of other values there is the normalized key.
**
** Several workers may count (count(DISTINCT x) only; the other functions want to know
** which row came first).  When all of them are done each value that another one has
** seen in the same group, too, is taken out of the count, so that the counts of the
** parts of a group add up.  That takes two steps, in all threads:
**
**    1. each thread takes some of the values (hpDistinctPart()), looks them up over all
**       workers, and notes which are there again
**    2. each thread takes those of its own worker out of the counts
**
** Sets stay in memory.  If that is too little for what several workers have seen, one
** worker begins again (HP_SERIAL).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MIN_SET   64       /* Entries of a new hash table */
#define HP_MX_SET_SLOT 0x7fffffff
#define HP_AHEAD_SET 8191     /* Hash tables of more entries are not in the cache */

/* HP_SERIAL if fewer workers need less memory, else HP_DECLINE */
static int hpDistinctFull(const HpRuns *pRuns){
  return pRuns->pPlan->nSet>0 && pRuns->pWorker->pQuery->nWorker>1 ? HP_SERIAL : HP_DECLINE;
}

/* Memory for a hash table of *pm+1 entries, of sz bytes each, twice as many as it has */
static void *hpDistinctGrow(HpRuns *pRuns, u32 *pm, int sz){
  u32 mNew = *pm ? *pm*2+1 : HP_MIN_SET-1;
  i64 nByte = sz*((i64)mNew+1);
  void *pNew;
  if( mNew>=HP_MX_SET_SLOT || !hpGroupMay(pRuns, nByte, HP_KEEP) ) return 0;
  pNew = hpArenaMalloc(nByte);
  if( pNew==0 ) return 0;
  memset(pNew, 0, nByte);
  pRuns->nTable += nByte - (*pm ? sz*((i64)*pm+1) : 0);
  *pm = mNew;
  return pNew;
}

/* A hash of a value alone */
static SQLITE_INLINE u64 hpDistinctOf(HpPack x){ return hpHashMix(x.a ^ hpHashMix(x.b)); }

/* ... and of it and its group, from that */
static SQLITE_INLINE u32 hpDistinctWith(u64 hash, const HpHead *pHead){
  return (u32)(hpHashMix(hash ^ (u64)(uptr)pHead)>>16);
}

/*
** Add value x, for the group with head pHead.
*/
static int hpDistinctPack(
  HpAgg *pAgg,
  HpSet *pSet,
  const HpHead *pHead,
  HpPack x,
  int bHash0,            /* For tests: all hash values are 0 */
  int *pbNew
){
  u32 j;
  if( pSet->nPack>=pSet->mPack/2 ){
    u32 mOld = pSet->mPack;
    struct HpSetPack *aNew = hpDistinctGrow(&pAgg->runs, &pSet->mPack, sizeof(*aNew));
    u32 i;
    if( aNew==0 ) return hpDistinctFull(&pAgg->runs);
    for(i=0; pSet->aPack && i<=mOld; i++){
      const struct HpSetPack *p = &pSet->aPack[i];
      if( p->pHead==0 ) continue;
      j = bHash0 ? 0 : hpDistinctWith(hpDistinctOf(p->x), p->pHead) & pSet->mPack;
      while( aNew[j].pHead ) j = (j+1) & pSet->mPack;
      aNew[j] = *p;
    }
    sqlite3_free(pSet->aPack);
    pSet->aPack = aNew;
  }
  assert( pSet->nPack<pSet->mPack && pHead!=0 && x.b!=HP_UNPACKED );
  j = bHash0 ? 0 : hpDistinctWith(hpDistinctOf(x), pHead) & pSet->mPack;
  *pbNew = 0;
  while( pSet->aPack[j].pHead ){
    const struct HpSetPack *p = &pSet->aPack[j];
    if( p->x.a==x.a && p->x.b==x.b && p->pHead==pHead ) return SQLITE_OK;
    j = (j+1) & pSet->mPack;
  }
  pSet->aPack[j].pHead = pHead;
  pSet->aPack[j].x = x;
  pSet->nPack++;
  *pbNew = 1;
  return SQLITE_OK;
}

/*
** Add a value that has no pack, row i of pVec.
*/
static int hpDistinctKey(
  HpAgg *pAgg,
  HpSet *pSet,
  const HpHead *pHead,
  const HpVec *pVec,
  int i,
  CollSeq *pColl,
  int bHash0,
  int *pbNew
){
  HpBuf *pKey = &pAgg->runs.key;
  u8 *zNew;
  u64 hash;
  u32 j;
  if( pSet->nKey>=pSet->mKey/2 ){
    u32 mOld = pSet->mKey;
    struct HpSetKey *aNew = hpDistinctGrow(&pAgg->runs, &pSet->mKey, sizeof(*aNew));
    u32 k;
    if( aNew==0 ) return hpDistinctFull(&pAgg->runs);
    for(k=0; pSet->aKey && k<=mOld; k++){
      const struct HpSetKey *p = &pSet->aKey[k];
      if( p->pHead==0 ) continue;
      j = bHash0 ? 0 : hpDistinctWith(p->hash, p->pHead) & pSet->mKey;
      while( aNew[j].pHead ) j = (j+1) & pSet->mKey;
      aNew[j] = *p;
    }
    sqlite3_free(pSet->aKey);
    pSet->aKey = aNew;
  }
  pKey->n = 0;
  if( hpKeyValue(pKey, pVec, i, pColl, 0) ) return HP_DECLINE;
  hash = hpHashBytes(pKey->a, pKey->n);
  *pbNew = 0;
  j = bHash0 ? 0 : hpDistinctWith(hash, pHead) & pSet->mKey;
  while( pSet->aKey[j].pHead ){
    const struct HpSetKey *p = &pSet->aKey[j];
    if( p->hash==hash && p->pHead==pHead && p->n==pKey->n
     && memcmp(p->z, pKey->a, p->n)==0
    ){
      return SQLITE_OK;
    }
    j = (j+1) & pSet->mKey;
  }
  if( !hpGroupMay(&pAgg->runs, 0, HP_KEEP) ) return hpDistinctFull(&pAgg->runs);
  zNew = hpArenaAlloc(&pAgg->runs.arena, pKey->n);
  if( zNew==0 ) return HP_DECLINE;
  memcpy(zNew, pKey->a, pKey->n);
  pSet->aKey[j].pHead = pHead;
  pSet->aKey[j].hash = hash;
  pSet->aKey[j].z = zNew;
  pSet->aKey[j].n = pKey->n;
  pSet->nKey++;
  *pbNew = 1;
  return SQLITE_OK;
}

/* The pack of the value of pDef's argument in row i; .b is HP_UNPACKED if it has none */
static SQLITE_INLINE HpPack hpDistinctPacked(const HpAggDef *pDef, const HpVec *pVec, int i){
  u8 tag = pVec->aTag[i];
  if( tag==HP_TEXT && pDef->pColl ) tag = HP_BLOB;   /* No bytes are compared */
  return hpPackOne(tag, pVec->aVal[i], (tag & HP_STR) ? pVec->aLen[i] : 0);
}

/*
** The value of row i will be added soon: fetch where that is, if sets are large.
*/
static void hpDistinctAhead(
  const HpAgg *pAgg,
  const HpFrame *p,
  const HpAggDef *pDef,
  const HpHead *pHead,
  int i
){
  const HpSet *pSet = &pAgg->aSet[pDef->iSet];
  const HpVec *pVec = &p->aVec[pDef->iVec];
  HpPack x;
  if( pSet->mPack<HP_AHEAD_SET ) return;
  x = hpDistinctPacked(pDef, pVec, i & pVec->mIdx);
  hpPrefetch(&pSet->aPack[hpDistinctWith(hpDistinctOf(x), pHead) & pSet->mPack]);
}

/*
** Add the value of pDef's argument in row i, for the group with head pHead, to the set
** of values seen.  *pbNew tells whether it was not there, and counts.
*/
static int hpDistinctAdd(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  const HpHead *pHead,
  int i,
  int *pbNew
){
  HpSet *pSet = &pAgg->aSet[pDef->iSet];
  const HpVec *pVec = &p->aVec[pDef->iVec];
  int j = i & pVec->mIdx;
  HpPack x;
  assert( pDef->iSet<pAgg->pPlan->nSet && pVec->bFloat==0 );
  if( pVec->aTag[j]==HP_NULL && pDef->eAgg==HP_AGG_COUNT ){
    *pbNew = 0;
    return SQLITE_OK;
  }
  x = hpDistinctPacked(pDef, pVec, j);
  if( x.b!=HP_UNPACKED ){
    return hpDistinctPack(pAgg, pSet, pHead, x, p->pCfg->bHash0, pbNew);
  }
  return hpDistinctKey(pAgg, pSet, pHead, pVec, i, pDef->pColl, p->pCfg->bHash0, pbNew);
}

/* Free *pSet */
static void hpDistinctFree(HpSet *pSet){
  sqlite3_free(pSet->aPack);
  sqlite3_free(pSet->aKey);
  sqlite3_free(pSet->aAgain);
}

/* The group of a head */
#define hpDistinctGroup(PLAN,HEAD) ((u8*)(HEAD) - (PLAN)->iHeadOff)

/*
** Are these the same group, of two workers?
*/
static int hpDistinctSame(const HpGroupPlan *pPlan, const HpHead *pA, const HpHead *pB){
  const HpPack *a, *b;
  if( pPlan->keys.n==0 ) return 1;
  a = hpGroupPack(hpDistinctGroup(pPlan, pA));
  b = hpGroupPack(hpDistinctGroup(pPlan, pB));
  if( a->b!=b->b ) return 0;
  if( a->b!=HP_UNPACKED ) return a->a==b->a;
  return pA->nNorm==pB->nNorm && memcmp(pA->z, pB->z, pA->nNorm)==0;
}

/* A hash of the keys of a group, the same in all workers */
static u64 hpDistinctKeys(const HpGroupPlan *pPlan, const HpHead *pHead){
  const HpPack *p;
  if( pPlan->keys.n==0 ) return 0;
  p = hpGroupPack(hpDistinctGroup(pPlan, pHead));
  if( p->b!=HP_UNPACKED ) return hpHashMix(p->a ^ hpHashMix(p->b));
  return hpHashBytes(pHead->z, pHead->nNorm);
}

/* A value of a set, wherever it is */
typedef struct HpSetValue HpSetValue;
struct HpSetValue {
  const HpHead *pHead;   /* Its group, or NULL: there is no value */
  u64 hash;              /* Of the value alone */
  HpPack x;              /* Its pack, or ... */
  const u8 *z;           /* ... not NULL: its normalized key, ... */
  u32 n;                 /* ... of so many bytes */
};

/* Number of the places in a set: entries of both hash tables */
static u32 hpDistinctPlaces(const HpSet *pSet){
  return (pSet->aPack ? pSet->mPack+1 : 0) + (pSet->aKey ? pSet->mKey+1 : 0);
}

/* Let *p be what is in place i */
static SQLITE_INLINE void hpDistinctAt(const HpSet *pSet, u32 i, HpSetValue *p){
  u32 nPack = pSet->aPack ? pSet->mPack+1 : 0;
  if( i<nPack ){
    const struct HpSetPack *pPack = &pSet->aPack[i];
    p->pHead = pPack->pHead;
    p->hash = hpDistinctOf(pPack->x);
    p->x = pPack->x;
    p->z = 0;
    p->n = 0;
  }else{
    const struct HpSetKey *pKey = &pSet->aKey[i-nPack];
    p->pHead = pKey->pHead;
    p->hash = pKey->hash;
    p->x.a = p->x.b = 0;
    p->z = pKey->z;
    p->n = pKey->n;
  }
}

/* Are these the same value of the same group? */
static int hpDistinctEqual(
  const HpGroupPlan *pPlan,
  const HpSetValue *pX,
  const HpSetValue *pY
){
  return pX->hash==pY->hash && pX->x.a==pY->x.a && pX->x.b==pY->x.b && pX->n==pY->n
      && (pX->z!=0)==(pY->z!=0) && (pX->z==0 || memcmp(pX->z, pY->z, pX->n)==0)
      && hpDistinctSame(pPlan, pX->pHead, pY->pHead);
}

/* The set of number iSet of worker i */
static HpSet *hpDistinctSet(const HpQuery *p, int i, int iSet){
  return &((HpAgg*)p->apWorker[i]->pSink)->aSet[iSet];
}

/* Does part iPart take value p? */
static SQLITE_INLINE int hpDistinctMine(const HpQuery *pQuery, int iPart, const HpSetValue *p){
  return p->pHead && (int)((p->hash>>40) % (u64)pQuery->nWorker)==iPart;
}

/*
** Of set iSet: look up those values of all workers that part iPart takes, and note which
** are there again.
*/
static int hpDistinctOne(HpWorker *pWorker, int iPart, int iSet){
  const HpQuery *p = pWorker->pQuery;
  const HpGroupPlan *pPlan = p->pEntry;
  HpRuns *pRuns = pWorker->pRuns;
  struct HpPlace {
    u32 hash;
    u32 iWorker, i;          /* Place i-1 of the set of a worker */
  } *aPlace;
  HpSetValue x, y;
  u64 n = 0;
  u32 mPlace, i;
  i64 nByte;
  int k;
  for(k=0; k<p->nWorker; k++){
    const HpSet *pSet = hpDistinctSet(p, k, iSet);
    u32 nPlace = hpDistinctPlaces(pSet);
    for(i=0; i<nPlace; i++){
      hpDistinctAt(pSet, i, &x);
      n += hpDistinctMine(p, iPart, &x);
    }
  }
  if( n==0 ) return SQLITE_OK;
  for(mPlace=HP_MIN_SET-1; mPlace/2<n && mPlace<HP_MX_SET_SLOT; mPlace=2*mPlace+1){}
  nByte = sizeof(*aPlace)*((i64)mPlace+1);
  if( mPlace>=HP_MX_SET_SLOT || !hpGroupMay(pRuns, nByte, HP_KEEP) ) return HP_SERIAL;
  aPlace = hpArenaMalloc(nByte);
  if( aPlace==0 ) return HP_SERIAL;
  memset(aPlace, 0, nByte);
  n = 0;
  for(k=0; k<p->nWorker; k++){
    const HpSet *pSet = hpDistinctSet(p, k, iSet);
    u32 nPlace = hpDistinctPlaces(pSet);
    for(i=0; i<nPlace; i++){
      u32 hash = 0;
      u32 j;
      hpDistinctAt(pSet, i, &x);
      if( !hpDistinctMine(p, iPart, &x) ) continue;
      if( ++n%HP_POLL==0 && hpThreadStopped(p) ){
        sqlite3_free(aPlace);
        return hpThreadStopped(p);
      }
      if( !pWorker->pCfg->bHash0 ){
        hash = (u32)(hpHashMix(x.hash ^ hpDistinctKeys(pPlan, x.pHead))>>8);
      }
      for(j=hash & mPlace; aPlace[j].i; j=(j+1) & mPlace){
        if( aPlace[j].hash!=hash ) continue;
        hpDistinctAt(hpDistinctSet(p, (int)aPlace[j].iWorker, iSet), aPlace[j].i-1, &y);
        if( hpDistinctEqual(pPlan, &x, &y) ){
          pSet->aAgain[i] = 1;
          break;
        }
      }
      if( aPlace[j].i==0 ){
        aPlace[j].hash = hash;
        aPlace[j].iWorker = (u32)k;
        aPlace[j].i = i+1;
      }
    }
  }
  sqlite3_free(aPlace);
  return SQLITE_OK;
}

/* Step 1: all sets */
static void hpDistinctPart(HpWorker *pWorker){
  const HpQuery *p = pWorker->pQuery;
  int iPart = 0;
  int k;
  while( p->apWorker[iPart]!=pWorker ) iPart++;
  pWorker->rc = SQLITE_OK;
  for(k=0; k<p->pEntry->nSet && pWorker->rc==SQLITE_OK; k++){
    pWorker->rc = hpDistinctOne(pWorker, iPart, k);
  }
}

/* Step 2: take what is there again out of the counts of this worker */
static void hpDistinctTake(HpWorker *pWorker){
  const HpGroupPlan *pPlan = pWorker->pQuery->pEntry;
  HpAgg *pAgg = (HpAgg*)pWorker->pSink;
  int k;
  pWorker->rc = SQLITE_OK;
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    const HpSet *pSet;
    u32 i, nPlace;
    if( pDef->iSet<0 ) continue;
    assert( pDef->eAgg==HP_AGG_COUNT && pDef->bShared==0 );
    pSet = &pAgg->aSet[pDef->iSet];
    nPlace = hpDistinctPlaces(pSet);
    for(i=0; i<nPlace; i++){
      HpSetValue x;
      if( pSet->aAgain[i]==0 ) continue;
      hpDistinctAt(pSet, i, &x);
      *(i64*)hpGroupState(pDef, hpDistinctGroup(pPlan, x.pHead)) -= 1;
    }
  }
}

/*
** All workers are done: see to it that no two of them have counted the same value of the
** same group.
*/
static int hpDistinctCombine(HpQuery *p){
  const HpGroupPlan *pPlan = p->pEntry;
  int nWith = 0;         /* Workers with groups */
  int i, k, rc;
  if( pPlan->nSet==0 || p->nWorker==1 ) return SQLITE_OK;
  for(i=0; i<p->nWorker; i++){
    for(k=0; k<pPlan->nSet && hpDistinctPlaces(hpDistinctSet(p, i, k))==0; k++){}
    nWith += k<pPlan->nSet;
  }
  if( nWith<2 ) return SQLITE_OK;
  for(i=0; i<p->nWorker; i++){
    for(k=0; k<pPlan->nSet; k++){
      HpSet *pSet = hpDistinctSet(p, i, k);
      i64 n = (i64)hpDistinctPlaces(pSet) + 1;
      pSet->aAgain = hpArenaMalloc(n);
      if( pSet->aAgain==0 ) return HP_DECLINE;
      memset(pSet->aAgain, 0, n);
    }
  }
  rc = hpThreadEach(p, hpDistinctPart);
  return rc ? rc : hpThreadEach(p, hpDistinctTake);
}
#endif /* SQLITE_OMIT_HP */
