/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_layout: where in a group everything is, and what sorted runs do with it.
**
**    hpLayoutGroup()    lay out the groups of a plan (prepare time)
**
** Runs know keys, and entries that they copy (hp_held.c).  What there is to a
** group beside these they do through a table of functions, HpEntryType, which
** is chosen here by what groups have:
**
**    hpLayoutPlain    counts and sums: nothing else is to be copied
**    hpLayoutKept     texts of the best values and of bare columns, too
**    hpLayoutLate     and the arguments of rows, which functions get when the
**                     group is delivered
**
** These stand in the record of a group behind it, before its key:
**
**    entries   of aggregates with ORDER BY inside (hp_aggorder.c)
**    logs      of those that depend on the order of rows (hp_agglog.c)
**    texts     of the best values and bare columns, in their order
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Texts of a group: call XXX(copy) for each HpKept */
#define HP_EACH_COPY(PLAN,G,XXX) if( (PLAN)->bKept ){ \
  int k_; \
  for(k_=0; k_<(PLAN)->nAgg; k_++){ \
    const HpAggDef *pDef_ = &(PLAN)->aAgg[k_]; \
    if( pDef_->eAgg==HP_AGG_MIN || pDef_->eAgg==HP_AGG_MAX ){ \
      XXX(&((HpBest*)hpGroupState(pDef_, G))->copy) \
    } \
  } \
  for(k_=0; k_<(PLAN)->nBare; k_++){ \
    const struct HpBare *pBare_ = &(PLAN)->aBare[k_]; \
    if( pBare_->iKey<0 && pBare_->iRel<0 ) XXX(hpGroupBare(pBare_, G)) \
  } \
}

/* HpEntryType.xSize: bytes of texts; and of rows' arguments, too */
static u64 hpLayoutKeptSize(const HpEntryPlan *pEntry, const u8 *aGroup){
  const HpGroupPlan *pPlan = hpGroupOf(pEntry);
  u64 n = 0;
#define HP_TEXT_SIZE(C) { \
    const HpKept *c_ = (C); \
    if( c_->tag & HP_STR ) n += c_->n; \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_SIZE)
#undef HP_TEXT_SIZE
  return n;
}
static u64 hpLayoutLateSize(const HpEntryPlan *pEntry, const u8 *aGroup){
  const HpGroupPlan *pPlan = hpGroupOf(pEntry);
  assert( pPlan->nLate>0 );
  return hpAggOrderSize(pPlan, aGroup) + hpAggLogSize(pPlan, (u8*)aGroup)
       + hpLayoutKeptSize(pEntry, aGroup);
}

/*
** HpEntryType.xWrite: write these to a, for a group whose copy is at aTo.
** Returns their end.
*/
static u8 *hpLayoutKeptWrite(
  const HpEntryPlan *pEntry,
  const u8 *aGroup,
  u8 *aTo,
  u8 *a
){
  const HpGroupPlan *pPlan = hpGroupOf(pEntry);
  UNUSED_PARAMETER(aTo);
#define HP_TEXT_COPY(C) { \
    const HpKept *c_ = (C); \
    if( (c_->tag & HP_STR) && c_->n ){ \
      memcpy(a, c_->val.z, c_->n); \
      a += c_->n; \
    } \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_COPY)
#undef HP_TEXT_COPY
  return a;
}
static u8 *hpLayoutLateWrite(
  const HpEntryPlan *pEntry,
  const u8 *aGroup,
  u8 *aTo,
  u8 *a
){
  const HpGroupPlan *pPlan = hpGroupOf(pEntry);
  a = hpAggOrderWrite(pPlan, aGroup, a, aTo);
  a = hpAggLogWrite(pPlan, aTo, a);
  return hpLayoutKeptWrite(pEntry, aGroup, aTo, a);
}

/* HpEntryType.xPoint: they are at a.  Set the pointers to them, and return
** their end */
static u8 *hpLayoutKeptPoint(const HpEntryPlan *pEntry, u8 *aGroup, u8 *a){
  const HpGroupPlan *pPlan = hpGroupOf(pEntry);
#define HP_TEXT_POINT(C) { \
    HpKept *c_ = (C); \
    if( c_->tag & HP_STR ){ \
      c_->val.z = a; \
      a += c_->n; \
    } \
  }
  HP_EACH_COPY(pPlan, aGroup, HP_TEXT_POINT)
#undef HP_TEXT_POINT
  return a;
}
static u8 *hpLayoutLatePoint(const HpEntryPlan *pEntry, u8 *aGroup, u8 *a){
  const HpGroupPlan *pPlan = hpGroupOf(pEntry);
  a = hpAggOrderPointers(pPlan, aGroup, a);
  a = hpAggLogPointers(pPlan, aGroup, a);
  return hpLayoutKeptPoint(pEntry, aGroup, a);
}

/* HpEntryType.xCombine: add the part aFrom of a group to the part aTo */
static int hpLayoutCombine(
  const HpEntryPlan *pEntry,
  u8 *aTo,
  const u8 *aFrom
){
  return hpResultMerge(hpGroupOf(pEntry), aTo, aFrom);
}

/* HpEntryType.xDone: all parts of a group of p have been put together */
static int hpLayoutDone(
  const HpPipe *p,
  const u8 *aGroup,
  int bCheck,
  int *pbWanted
){
  const HpGroupPlan *pPlan = hpGroupOf(p->pEntry);
  int rc = hpResultDoubt(pPlan, aGroup, bCheck);
  *pbWanted = hpResultWanted(pPlan, aGroup, p->pShown->aHaving);
  return rc;
}

/* HpEntryType.xWanted: may HAVING want it? */
static int hpLayoutWanted(const HpPipe *p, const u8 *aGroup){
  return hpResultWanted(hpGroupOf(p->pEntry), aGroup, p->pShown->aHaving);
}

#ifdef SQLITE_DEBUG
static int hpLayoutIsSane(const HpEntryPlan *pEntry, const u8 *aGroup){
  return hpGroupIsSane(hpGroupOf(pEntry), aGroup);
}
# define HP_LAYOUT_SANE  , hpLayoutIsSane
#else
# define HP_LAYOUT_SANE
#endif

static const HpEntryType hpLayoutPlain = {
  0, 0, 0, hpLayoutCombine, hpLayoutDone, hpLayoutWanted, hpResultMixed,
  hpSignNote, hpSignDoubt, 0, 0 HP_LAYOUT_SANE
};
static const HpEntryType hpLayoutKept = {
  hpLayoutKeptSize, hpLayoutKeptWrite, hpLayoutKeptPoint,
  hpLayoutCombine, hpLayoutDone, hpLayoutWanted, hpResultMixed,
  hpSignNote, hpSignDoubt, 0, 0 HP_LAYOUT_SANE
};
static const HpEntryType hpLayoutLate = {
  hpLayoutLateSize, hpLayoutLateWrite, hpLayoutLatePoint,
  hpLayoutCombine, hpLayoutDone, hpLayoutWanted, hpResultMixed,
  hpSignNote, hpSignDoubt, hpAggAheadNext, 1 HP_LAYOUT_SANE
};

/*
** Do functions i and j keep one state, in all arms?
*/
static int hpLayoutShares(const HpGroupPlan *p, int i, int j){
  if( p->aAgg[i].eAgg!=HP_AGG_SUM || p->aAgg[j].eAgg!=HP_AGG_SUM ) return 0;
  if( p->aAgg[i].iSet>=0 || p->aAgg[j].iSet>=0 ) return 0;
  for(; p; p=p->pNext){
    if( p->aAgg[i].iVec!=p->aAgg[j].iVec
     || p->aAgg[i].iFilter!=p->aAgg[j].iFilter
    ){
      return 0;
    }
  }
  return 1;
}

/*
** Let groups of the arms after the first one be laid out as that has them, in n
** bytes.
*/
static void hpLayoutAlike(HpGroupPlan *pFirst, int n){
  HpGroupPlan *p;
  int i;
  for(p=pFirst->pNext; p; p=p->pNext){
    assert( p->nAgg==pFirst->nAgg && p->nBare==pFirst->nBare );
    assert( p->keys.n==pFirst->keys.n && p->nSet==pFirst->nSet );
    p->entry = pFirst->entry;
    p->entry.szEntry = n;
    p->bKept = pFirst->bKept;
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
static int hpLayoutGroup(HpGroupPlan *pPlan){
  int n = pPlan->keys.n ? sizeof(HpPack) : 0;
  int i, j;
  pPlan->entry.bIntKey = pPlan->keys.n==1 && pPlan->keys.aColl[0]==0;
  if( pPlan->entry.bIntKey ) pPlan->entry.eSort = pPlan->keys.aSort[0];
  for(i=0; i<pPlan->nAgg; i++){
    HpAggDef *pDef = &pPlan->aAgg[i];
    for(j=0; j<i; j++){
      if( hpLayoutShares(pPlan, i, j) ){
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
  pPlan->entry.iHeadOff = (u16)n;
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
  pPlan->entry.pType = pPlan->nLate ? &hpLayoutLate
                     : pPlan->bKept ? &hpLayoutKept : &hpLayoutPlain;
  hpLayoutAlike(pPlan, n);
  return n;
}
#endif /* SQLITE_OMIT_HP */
