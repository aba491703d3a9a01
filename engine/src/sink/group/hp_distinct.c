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
**    hpDistinctBegin()    a group is new: note the hash value of its keys
**    hpDistinctCombine()  several workers have counted: each value once
**    hpDistinctFree()     free a set
**    hpDistinctFull()     what to do when there is no memory for more
**
** Each such function has one set for all groups of a worker (HpSet): hash tables of
** the group and the value.  Numbers and texts of up to 15 bytes are in one as packs
** (hp_pack.c), without memory beside it; of other values there is the normalized key.
**
** Several workers may count (count(DISTINCT x) only; the other functions want to know
** which row came first).  When all of them are done each value that a worker before has
** seen in the same group, too, is taken out of the count, so that the counts of the
** parts of a group add up.  That takes two steps, in all threads:
**
**    1. slices of the sets of each worker but the first are looked up in the sets of those
**       before it (hpDistinctLook()).  Values have the same place in all sets, by the bits
**       that both have, so all of them are gone through from one end to the other
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
#define HP_AHEAD_MOVE 16      /* So many entries ahead their groups are fetched */
#define HP_SET_SLICE 16384    /* Entries of a set that a thread takes */

/* HP_SERIAL if fewer workers need less memory, else HP_DECLINE */
static int hpDistinctFull(const HpRuns *pRuns){
  return hpGroupOf(pRuns->pPlan)->nSet>0 && pRuns->pWorker->pPipe->nWorker>1
       ? HP_SERIAL : HP_DECLINE;
}

/* Memory for a hash table of *pm+1 entries, of sz bytes each, twice as many as it has */
static void *hpDistinctGrow(HpRuns *pRuns, u32 *pm, int sz){
  u32 mNew = *pm ? *pm*2+1 : HP_MIN_SET-1;
  i64 nByte = sz*((i64)mNew+1);
  void *pNew;
  assert( (mNew & (mNew+1))==0 );
  if( mNew>=HP_MX_SET_SLOT || !hpHeldMay(pRuns, nByte, HP_KEEP) ) return 0;
  pNew = hpArenaMalloc(nByte);
  if( pNew==0 ) return 0;
  memset(pNew, 0, nByte);
  pRuns->nTable += nByte - (*pm ? sz*((i64)*pm+1) : 0);
  *pm = mNew;
  return pNew;
}

/* A hash of a value, from that of the value alone, and its group */
static SQLITE_INLINE u32 hpDistinctWith(u64 hash, const HpHead *pHead){
  return (u32)(hpHashMix(hash ^ *hpHeadHash(pHead))>>16);
}

/* The group of a head */
#define hpDistinctGroup(PLAN,HEAD) ((u8*)(HEAD) - (PLAN)->entry.iHeadOff)

/*
** The keys of aGroup, a new group, are set: note a hash of them that is the same in all
** workers.
*/
static void hpDistinctBegin(const HpGroupPlan *pPlan, u8 *aGroup){
  assert( pPlan->nSet>0 && pPlan->keys.n>0 );
  *hpHeadHash(hpGroupHead(pPlan, aGroup)) = hpGroupHash(pPlan, aGroup);
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
      if( i+HP_AHEAD_MOVE<=mOld && p[HP_AHEAD_MOVE].pHead ) hpPrefetch(p[HP_AHEAD_MOVE].pHead);
      if( p->pHead==0 ) continue;
      j = bHash0 ? 0 : hpDistinctWith(hpHashPack(p->x), p->pHead) & pSet->mPack;
      while( aNew[j].pHead ) j = (j+1) & pSet->mPack;
      aNew[j] = *p;
    }
    sqlite3_free(pSet->aPack);
    pSet->aPack = aNew;
  }
  assert( pSet->nPack<pSet->mPack && pHead!=0 && x.b!=HP_UNPACKED );
  j = bHash0 ? 0 : hpDistinctWith(hpHashPack(x), pHead) & pSet->mPack;
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
  assert( pSet->nKey<pSet->mKey );
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
  if( !hpHeldMay(&pAgg->runs, 0, HP_KEEP) ) return hpDistinctFull(&pAgg->runs);
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
  hpPrefetch(&pSet->aPack[hpDistinctWith(hpHashPack(x), pHead) & pSet->mPack]);
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

/*
** Are these the same group, of two workers?
*/
static int hpDistinctSame(const HpGroupPlan *pPlan, const HpHead *pA, const HpHead *pB){
  return hpGroupSame(pPlan, hpDistinctGroup(pPlan, pA), hpDistinctGroup(pPlan, pB));
}

/* The set of number iSet of worker i */
static HpSet *hpDistinctSet(const HpPipe *p, int i, int iSet){
  return &((HpAgg*)p->apWorker[i]->pSink)->aSet[iSet];
}

/* Number of the places in a set: entries of both hash tables, packs first */
static u32 hpDistinctPlaces(const HpSet *pSet){
  return (pSet->aPack ? pSet->mPack+1 : 0) + (pSet->aKey ? pSet->mKey+1 : 0);
}

/* The group of what is in place i, or NULL */
static const HpHead *hpDistinctHead(const HpSet *pSet, u32 i){
  u32 nPack = pSet->aPack ? pSet->mPack+1 : 0;
  return i<nPack ? pSet->aPack[i].pHead : pSet->aKey[i-nPack].pHead;
}

/* Has pSet, of another worker, the value of entry p in the same group? */
static int hpDistinctHasPack(
  const HpGroupPlan *pPlan,
  const HpSet *pSet,
  const struct HpSetPack *p,
  int bHash0
){
  u32 j;
  if( pSet->aPack==0 ) return 0;
  j = bHash0 ? 0 : hpDistinctWith(hpHashPack(p->x), p->pHead) & pSet->mPack;
  for(; pSet->aPack[j].pHead; j=(j+1) & pSet->mPack){
    const struct HpSetPack *pOther = &pSet->aPack[j];
    if( pOther->x.a==p->x.a && pOther->x.b==p->x.b
     && hpDistinctSame(pPlan, pOther->pHead, p->pHead)
    ){
      return 1;
    }
  }
  return 0;
}
static int hpDistinctHasKey(
  const HpGroupPlan *pPlan,
  const HpSet *pSet,
  const struct HpSetKey *p,
  int bHash0
){
  u32 j;
  if( pSet->aKey==0 ) return 0;
  j = bHash0 ? 0 : hpDistinctWith(p->hash, p->pHead) & pSet->mKey;
  for(; pSet->aKey[j].pHead; j=(j+1) & pSet->mKey){
    const struct HpSetKey *pOther = &pSet->aKey[j];
    if( pOther->hash==p->hash && pOther->n==p->n && memcmp(pOther->z, p->z, p->n)==0
     && hpDistinctSame(pPlan, pOther->pHead, p->pHead)
    ){
      return 1;
    }
  }
  return 0;
}

/* Places iFirst to iEnd-1 of set iSet of worker iWorker: note which are there again */
static void hpDistinctLook(
  const HpPipe *p,
  int iWorker,
  int iSet,
  u32 iFirst,
  u32 iEnd
){
  int bHash0 = p->pQuery->pCfg->bHash0;
  const HpGroupPlan *pPlan = hpGroupOf(p->pEntry);
  HpSet *pSet = hpDistinctSet(p, iWorker, iSet);
  u32 nPack = pSet->aPack ? pSet->mPack+1 : 0;
  u32 i;
  int k;
  assert( iWorker>0 && pSet->aAgain!=0 && iEnd<=hpDistinctPlaces(pSet) );
  for(i=iFirst; i<iEnd; i++){
    if( i+HP_AHEAD_MOVE<iEnd ) hpPrefetch(hpDistinctHead(pSet, i+HP_AHEAD_MOVE));
    if( hpDistinctHead(pSet, i)==0 ) continue;
    for(k=0; k<iWorker && pSet->aAgain[i]==0; k++){
      const HpSet *pOther = hpDistinctSet(p, k, iSet);
      pSet->aAgain[i] = (u8)(i<nPack
          ? hpDistinctHasPack(pPlan, pOther, &pSet->aPack[i], bHash0)
          : hpDistinctHasKey(pPlan, pOther, &pSet->aKey[i-nPack], bHash0));
    }
  }
}

/* Step 1: slice after slice of all sets */
static void hpDistinctSlices(HpWorker *pWorker){
  HpPipe *p = pWorker->pPipe;
  pWorker->rc = SQLITE_OK;
  while( pWorker->rc==SQLITE_OK ){
    i64 i, n;
    int iWorker, iSet;
    i = hpThreadNext(p, &p->pOut->iMerge);
    for(iWorker=1; iWorker<p->nWorker; iWorker++){
      for(iSet=0; iSet<hpGroupOf(p->pEntry)->nSet; iSet++){
        n = ((i64)hpDistinctPlaces(hpDistinctSet(p, iWorker, iSet)) + HP_SET_SLICE-1)
                / HP_SET_SLICE;
        if( i<n ) break;
        i -= n;
      }
      if( iSet<hpGroupOf(p->pEntry)->nSet ) break;
    }
    if( iWorker==p->nWorker ) break;
    n = hpDistinctPlaces(hpDistinctSet(p, iWorker, iSet));
    hpDistinctLook(p, iWorker, iSet, (u32)(i*HP_SET_SLICE),
                   (u32)MIN((i+1)*HP_SET_SLICE, n));
    pWorker->rc = hpThreadStopped(p);
  }
}

/* Step 2: take what is there again out of the counts of this worker */
static void hpDistinctTake(HpWorker *pWorker){
  const HpGroupPlan *pPlan = hpGroupOf(pWorker->pPipe->pEntry);
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
    nPlace = pSet->aAgain ? hpDistinctPlaces(pSet) : 0;   /* NULL: the first worker's */
    for(i=0; i<nPlace; i++){
      u8 *aGroup;
      if( pSet->aAgain[i]==0 ) continue;
      aGroup = hpDistinctGroup(pPlan, hpDistinctHead(pSet, i));
      *(i64*)hpGroupState(pDef, aGroup) -= 1;
      assert( *(i64*)hpGroupState(pDef, aGroup)>=0 );
    }
  }
}

#ifdef SQLITE_DEBUG
/* Are as many places in use as there are values? */
static int hpDistinctIsSane(const HpSet *pSet){
  u32 n = 0;
  u32 i;
  for(i=0; i<hpDistinctPlaces(pSet); i++) n += hpDistinctHead(pSet, i)!=0;
  return n==pSet->nPack+pSet->nKey;
}
#endif

/*
** All workers are done: see to it that no two of them have counted the same value of the
** same group.
*/
static int hpDistinctCombine(HpPipe *p){
  const HpGroupPlan *pPlan = hpGroupOf(p->pEntry);
  int nWith = 0;         /* Workers with groups */
  int i, k, rc;
  assert( p->pCrew==0 && p->pOut->nMerge==0 );
  if( pPlan->nSet==0 || p->nWorker==1 ) return SQLITE_OK;
  for(i=0; i<p->nWorker; i++){
    for(k=0; k<pPlan->nSet && hpDistinctPlaces(hpDistinctSet(p, i, k))==0; k++){}
    nWith += k<pPlan->nSet;
  }
  if( nWith<2 ) return SQLITE_OK;
  for(i=1; i<p->nWorker; i++){
    for(k=0; k<pPlan->nSet; k++){
      HpSet *pSet = hpDistinctSet(p, i, k);
      i64 n = (i64)hpDistinctPlaces(pSet) + 1;
      assert( pSet->aAgain==0 && hpDistinctIsSane(pSet) );
      pSet->aAgain = hpArenaMalloc(n);
      if( pSet->aAgain==0 ) return HP_DECLINE;
      memset(pSet->aAgain, 0, n);
    }
  }
  p->pOut->iMerge = 0;
  rc = hpThreadEach(p, hpDistinctSlices);
  p->pOut->iMerge = 0;
  return rc ? rc : hpThreadEach(p, hpDistinctTake);
}
#endif /* SQLITE_OMIT_HP */
