/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_group: the memory of groups.
**
**    hpGroupLayout()  where in a group everything is (prepare time)
**    hpGroupAt()      group number i
**    hpGroupKey()     its normalized key
**    hpGroupMemory()  bytes that a worker's groups take
**    hpGroupReset()   no groups any more
**
** A group is HpPlan.szGroup bytes in a chunk that never moves:
**
**    HpPack   packed keys: equal ones are one group
**    state    of each aggregate function: a count, HpSum, HpBest, HpOrder, or
**             the context of SQLite's own step function
**    HpHead   position of the first row, and where the key record is
**    HpCopy   for each bare column that no key shows
**
** For GROUP BY a, b with sum(x), count(*) and a bare column c that is 16 + 32 + 8 +
** 24 + 32 bytes.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The normalized key of a group, and in *pn its length.  aBuf is scratch.
*/
static const u8 *hpGroupKey(
  const HpPlan *pPlan,
  const u8 *aGroup,
  u8 *aBuf,              /* HP_SZ_NUMBER bytes */
  u32 *pn
){
  const HpHead *pHead = hpGroupHead(pPlan, aGroup);
  if( hpGroupIsInt(pPlan, aGroup) ){
    *pn = hpKeyInt(aBuf, (i64)hpGroupPack(aGroup)->a, pPlan->aKeySort[0]);
    return aBuf;
  }
  *pn = pHead->nNorm;
  return pHead->z;
}

static u8 *hpGroupAt(const HpAgg *pAgg, u32 iGroup){
  assert( iGroup<pAgg->nGroup );
  return pAgg->apChunk[iGroup/HP_CHUNK]
         + (size_t)(iGroup%HP_CHUNK)*pAgg->pPlan->szGroup;
}

/*
** Lay out a group: fills the offsets in pPlan and returns the size of a group.
** sum(X), total(X) and avg(X) keep one state.  What is touched for each row
** comes first.
*/
static int hpGroupLayout(HpPlan *pPlan){
  int n = pPlan->nKey ? sizeof(HpPack) : 0;
  int i, j;
  pPlan->bIntKey = pPlan->nKey==1 && pPlan->aKeyColl[0]==0;
  for(i=0; i<pPlan->nAgg; i++){
    HpAggDef *pDef = &pPlan->aAgg[i];
    for(j=0; j<i && pDef->eAgg==HP_AGG_SUM && pDef->iSet<0; j++){
      const HpAggDef *pOther = &pPlan->aAgg[j];
      if( pOther->eAgg==HP_AGG_SUM && pOther->iVec==pDef->iVec
       && pOther->iFilter==pDef->iFilter && pOther->iSet<0
      ){
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
      case HP_AGG_ORDER:  n += sizeof(HpOrder);      break;
      default:            n += sizeof(HpBest);  break;
    }
  }
  pPlan->iHeadOff = (u16)n;
  n += sizeof(HpHead);
  for(i=0; i<pPlan->nBare; i++){
    if( pPlan->aBare[i].iKey>=0 ) continue;
    pPlan->aBare[i].iOff = (u16)n;
    n += sizeof(HpCopy);
  }
  /* Offsets in a group have 16 bits, and all of it is aligned */
  assert( n<=0xffff && (n & 7)==0 );
  return n;
}

/* Bytes of memory in use, and what sorting the groups would take */
static i64 hpGroupMemory(const HpAgg *pAgg){
  return pAgg->arena.nTotal + pAgg->nTable
       + 2*(i64)sizeof(struct HpSorted)*pAgg->nGroup;
}

/*
** Forget all groups.  Their states have been written to a file.
*/
static void hpGroupReset(HpAgg *pAgg){
  assert( pAgg->pPlan->bOpaque==0 && pAgg->pPlan->nKey>0 );
  hpArenaRecycle(&pAgg->arena);
  pAgg->nGroup = 0;
  if( pAgg->nDirect ) memset(pAgg->aDirect, 0, sizeof(u32)*pAgg->nDirect);
  memset(pAgg->aSlot, 0, 2*sizeof(u32)*((size_t)pAgg->mSlot+1));
  memset(pAgg->aGroupPack, 0, sizeof(HpPack)*HP_MX_CACHED);
}
#endif /* SQLITE_OMIT_HP */
