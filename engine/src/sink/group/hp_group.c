/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_group: what is in a group.
**
**    hpGroupHash()    a hash of its keys, the same in all workers
**    hpGroupSame()    are two groups, of different workers, the same?
**    hpGroupIsSane()  for asserts
**
** A group is HpEntryPlan.szEntry bytes in a chunk that never moves:
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

#ifdef SQLITE_DEBUG
/*
** Has a group a key record, or what stands for it, and has each of its states a
** form that is possible?
*/
static int hpGroupIsSane(const HpGroupPlan *pPlan, const u8 *aGroup){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  int k;
  assert( pPlan->entry.bRows==0 );
  if( pHead->nNorm>pHead->nRec || (pHead->z==0 && pHead->nRec>0) ) return 0;
  if( pPlan->keys.n==0 ){
    if( pHead->z!=0 ) return 0;
  }else if( pHead->z==0 ){
    if( !pPlan->entry.bIntKey || hpGroupPack(aGroup)->b!=HP_PACK_INT ) return 0;
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
