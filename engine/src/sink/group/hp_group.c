/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_group: the memory of groups.
**
**    hpGroupInit()    no groups or rows yet
**    hpGroupLayout()  where in a group everything is (prepare time)
**    hpGroupAt()      group number i
**    hpGroupKey()     its normalized key
**    hpGroupHash()    a hash of its keys, the same in all workers
**    hpGroupSame()    are two groups, of different workers, the same?
**    hpGroupMemory()  bytes that a worker's groups or rows take
**    hpGroupMay()     may they take more?
**    hpGroupReset()   no groups any more
**    hpGroupIsSane()  for asserts
**
** A group is HpGroupPlan.szGroup bytes in a chunk that never moves:
**
**    HpPack   packed keys: equal ones are one group
**    state    of each aggregate function: a count, HpSum, HpBest, HpAggOrder, HpAggLog, or
**             the context of SQLite's own step function
**    HpHead   position of the first row, and where the key record is
**    u64      if some function has DISTINCT: a hash of the keys
**    HpKept   for each bare column that no key shows; or
**    u64      for those of one row of a relation: its number.  What the row shows
**             is looked up when the group is delivered
**
** For GROUP BY a, b with sum(x), count(*) and a bare column c that is 16 + 32 + 8 +
** 24 + 32 bytes.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Begin with no entries: pPlan says what an entry of worker p is.
*/
static void hpGroupInit(HpRuns *pRuns, const HpGroupPlan *pPlan, HpWorker *p){
  pRuns->pPlan = pPlan;
  pRuns->pWorker = p;
  hpBudgetArena(p->pQuery, &pRuns->arena);
}

/*
** The normalized key of a group, and in *pn its length.  aBuf is scratch.
*/
static const u8 *hpGroupKey(
  const HpGroupPlan *pPlan,
  const u8 *aGroup,
  u8 *aBuf,              /* HP_SZ_NUMBER bytes */
  u32 *pn
){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  if( hpGroupIsInt(pPlan, aGroup) ){
    *pn = hpKeyInt(aBuf, (i64)hpGroupPack(aGroup)->a, pPlan->keys.aSort[0]);
    return aBuf;
  }
  *pn = pHead->nNorm;
  return pHead->z;
}

static u64 hpGroupHash(const HpGroupPlan *pPlan, const u8 *aGroup){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  const HpPack *pPack = hpGroupPack(aGroup);
  assert( pPlan->keys.n>0 );
  return pPack->b!=HP_UNPACKED ? hpHashPack(*pPack) : hpHashBytes(pHead->z, pHead->nNorm);
}

static SQLITE_INLINE int hpGroupSame(
  const HpGroupPlan *pPlan,
  const u8 *aA,
  const u8 *aB
){
  const HpPack *pA = hpGroupPack(aA);
  const HpHead *a, *b;
  if( pPlan->keys.n==0 ) return 1;
  if( pA->a!=hpGroupPack(aB)->a || pA->b!=hpGroupPack(aB)->b ) return 0;
  if( pA->b!=HP_UNPACKED ) return 1;
  a = hpGroupHead(pPlan, aA);
  b = hpGroupHead(pPlan, aB);
  return a->nNorm==b->nNorm && memcmp(a->z, b->z, a->nNorm)==0;
}

static u8 *hpGroupAt(const HpRuns *pRuns, u32 iGroup){
  assert( iGroup<pRuns->nGroup );
  return pRuns->apChunk[iGroup/HP_CHUNK]
         + (size_t)(iGroup%HP_CHUNK)*pRuns->pPlan->szGroup;
}

/*
** Do functions i and j keep one state, in all arms?
*/
static int hpGroupShares(const HpGroupPlan *p, int i, int j){
  if( p->aAgg[i].eAgg!=HP_AGG_SUM || p->aAgg[j].eAgg!=HP_AGG_SUM ) return 0;
  if( p->aAgg[i].iSet>=0 || p->aAgg[j].iSet>=0 ) return 0;
  for(; p; p=p->pNext){
    if( p->aAgg[i].iVec!=p->aAgg[j].iVec || p->aAgg[i].iFilter!=p->aAgg[j].iFilter ){
      return 0;
    }
  }
  return 1;
}

/*
** Let groups of the arms after the first one be laid out as that has them, in n bytes.
*/
static void hpGroupAlike(HpGroupPlan *pFirst, int n){
  HpGroupPlan *p;
  int i;
  for(p=pFirst->pNext; p; p=p->pNext){
    assert( p->nAgg==pFirst->nAgg && p->nBare==pFirst->nBare );
    assert( p->keys.n==pFirst->keys.n && p->nSet==pFirst->nSet );
    p->bIntKey = pFirst->bIntKey;
    p->iHeadOff = pFirst->iHeadOff;
    p->bKept = pFirst->bKept;
    p->szGroup = n;
    for(i=0; i<p->nAgg; i++){
      assert( p->aAgg[i].eAgg==pFirst->aAgg[i].eAgg );
      p->aAgg[i].bShared = pFirst->aAgg[i].bShared;
      p->aAgg[i].bOvrfl = pFirst->aAgg[i].bOvrfl;
      p->aAgg[i].iOff = pFirst->aAgg[i].iOff;
    }
    for(i=0; i<p->nBare; i++){
      assert( p->aBare[i].iKey==pFirst->aBare[i].iKey && p->aBare[i].iRel<0 );
      p->aBare[i].iOff = pFirst->aBare[i].iOff;
    }
  }
}

/*
** Lay out a group: fills the offsets in pPlan and returns the size of a group.
** sum(X), total(X) and avg(X) keep one state.  What is touched for each row
** comes first.
*/
static int hpGroupLayout(HpGroupPlan *pPlan){
  int n = pPlan->keys.n ? sizeof(HpPack) : 0;
  int i, j;
  pPlan->bIntKey = pPlan->keys.n==1 && pPlan->keys.aColl[0]==0;
  for(i=0; i<pPlan->nAgg; i++){
    HpAggDef *pDef = &pPlan->aAgg[i];
    for(j=0; j<i; j++){
      if( hpGroupShares(pPlan, i, j) ){
        pDef->bShared = 1;
        pDef->iOff = pPlan->aAgg[j].iOff;
        if( pDef->pFunc->xFinalize==sumFinalize ) pPlan->aAgg[j].bOvrfl = 1;
        break;
      }
    }
    if( pDef->eAgg==HP_AGG_SUM && pDef->pFunc->xFinalize==sumFinalize ){
      pDef->bOvrfl = 1;
    }
    if( pDef->bShared ) continue;
    pDef->iOff = (u16)n;
    switch( pDef->eAgg ){
      case HP_AGG_COUNT:  n += sizeof(i64);     break;
      case HP_AGG_SUM:    n += sizeof(HpSum);   break;
      case HP_AGG_CALL:   n += ROUND8(sizeof(Mem));  break;
      case HP_AGG_ORDER:  n += sizeof(HpAggOrder);      break;
      case HP_AGG_LOG:    n += sizeof(HpAggLog);  break;
      default:
        n += sizeof(HpBest);
        pPlan->bKept = 1;
        break;
    }
  }
  pPlan->iHeadOff = (u16)n;
  n += sizeof(HpHead) + (pPlan->nSet ? sizeof(u64) : 0);
  for(i=0; i<pPlan->nBare; i++){
    struct HpBare *pBare = &pPlan->aBare[i];
    if( pBare->iKey>=0 ) continue;
    pBare->iOff = (u16)n;
    if( pBare->iRel<0 ){
      n += sizeof(HpKept);
      pPlan->bKept = 1;
      continue;
    }
    for(j=0; j<i; j++){
      const struct HpBare *pOther = &pPlan->aBare[j];
      if( pOther->iRel==pBare->iRel && pOther->iVec==pBare->iVec ) break;
    }
    if( j<i ){
      pBare->iOff = pPlan->aBare[j].iOff;
    }else{
      n += sizeof(u64);
    }
  }
  /* Offsets in a group have 16 bits, and all of it is aligned */
  assert( n<=0xffff && (n & 7)==0 );
  hpGroupAlike(pPlan, n);
  return n;
}

/* Bytes of memory in use, and what sorting the groups and putting runs together would take */
static i64 hpGroupMemory(const HpRuns *pRuns){
  i64 nSorted = pRuns->nSortedAlloc;
  return pRuns->arena.nTotal + pRuns->arena.nSpare + pRuns->nTable + pRuns->memRun.nTotal
       + (i64)sizeof(u8*)*pRuns->nMemGroup
       + (i64)sizeof(struct HpSorted)*MAX(2*(i64)pRuns->nGroup, nSorted);
}

/*
** May the worker have nMore bytes more, for what it holds now and these?
*/
static int hpGroupMay(const HpRuns *pRuns, i64 nMore, int eNeed){
  hpBudgetHold(pRuns->pWorker, hpGroupMemory(pRuns));
  return hpBudgetMay(pRuns->pWorker, nMore, eNeed);
}

/*
** Forget all groups.  Nobody needs their states any more.  What is kept of their
** memory is within the worker's share, or it would be put aside again at once.
*/
static void hpGroupReset(HpRuns *pRuns){
  i64 nShare = pRuns->pWorker->pQuery->budget.nShare;
  i64 nSorted = sizeof(struct HpSorted)*(i64)pRuns->nSortedAlloc;
  assert( pRuns->pPlan->bOpaque==0 && pRuns->pPlan->nSet==0 && pRuns->pPlan->keys.n>0 );
  if( nSorted>nShare/4 ){
    sqlite3_free(pRuns->aSorted);
    pRuns->aSorted = 0;
    pRuns->nSortedAlloc = 0;
    nSorted = 0;
  }
  hpArenaRecycle(&pRuns->arena, nShare - pRuns->nTable - nSorted);
  pRuns->nGroup = 0;
}

#ifdef SQLITE_DEBUG
/*
** Has a group a key record, or what stands for it, and has each of its states a
** form that is possible?
*/
static int hpGroupIsSane(const HpGroupPlan *pPlan, const u8 *aGroup){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  int k;
  if( pPlan->bWhole ) return ((const HpPair*)aGroup)->nKey>0;
  if( pHead->nNorm>pHead->nRec || (pHead->z==0 && pHead->nRec>0) ) return 0;
  if( pPlan->bRows ) return 1;
  if( pPlan->keys.n==0 ){
    if( pHead->z!=0 ) return 0;
  }else if( pHead->z==0 ){
    if( !pPlan->bIntKey || hpGroupPack(aGroup)->b!=HP_PACK_INT ) return 0;
  }else if( pHead->nRec<pHead->nNorm+(u32)pPlan->keys.n ){
    return 0;
  }
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    const void *pState = &aGroup[pDef->iOff];
    u8 tag;
    switch( pDef->eAgg ){
      case HP_AGG_SUM:
        if( hpSumCount((const HpSum*)pState)<0 ) return 0;
        break;
      case HP_AGG_MIN: case HP_AGG_MAX:
        tag = ((const HpBest*)pState)->copy.tag;
        if( tag==HP_NULL || (tag & (tag-1)) ) return 0;
        break;
    }
  }
  return 1;
}
#endif
#endif /* SQLITE_OMIT_HP */
