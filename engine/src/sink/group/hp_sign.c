/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_sign: can parts of sums that are in sorted runs be put together later?
**
**    hpSignNote()     a worker's groups become a run: note what they have
**    hpSignDoubt()    when all workers are done: is any sum in doubt?
**
** Where runs are in files groups are put together as they are delivered, and it
** is too late then to find that a sum depends on the order of rows.  So of each
** part it is noted how large it is and of which sign, for all groups together
** (HpSign).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Note in pAgg->aSign what hpSignDoubt() has to know of these groups.
*/
static void hpSignParts(HpAgg *pAgg){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const HpRuns *pRuns = &pAgg->runs;
  u32 i;
  int k;
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    struct HpSign *pSign = &pAgg->aSign[k];
    if( pDef->eAgg!=HP_AGG_SUM || pDef->bShared ) continue;
    for(i=0; i<pRuns->nEntry; i++){
      const HpSum *pSum = hpGroupState(pDef, hpHeldAt(pRuns, i));
      if( hpSumCount(pSum)==0 ) continue;
      if( hpSumIsReal(pSum) ){
        double r = fabs(pSum->u.r.rSum);
        pSign->bReal = 1;
        if( pSum->u.r.rSum<0.0 ) pSign->bMinus = 1;
        if( pSum->u.r.rSum>0.0 ) pSign->bPlus = 1;
        /* Stricter than hpSumIsSound(), so that it holds for merged parts */
        if( (pSum->n & HP_SUM_OVRFL)
         || !(r<=1e300/HP_MX_RUN)
         || !(fabs(pSum->u.r.rErr)<=r*(1.0/(1<<21)))
         || !(pSum->u.r.mx<=r*(1<<20))
        ){
          pSign->bUnsound = 1;
        }
      }else{
        pSign->mAbs |= pSum->u.i.mAbs;
        if( pSum->u.i.iSum<0 ) pSign->bMinus = 1;
        if( pSum->u.i.iSum>0 ) pSign->bPlus = 1;
      }
    }
  }
}

/*
** May some sums of pDef, of nRow rows at most, not be what one worker would
** have found once they are merged?
**
** Integers are safe if even the sum of all sizes of all rows has 63 bits or,
** where sum() is not wanted, what stock loses has 53.  Reals are if all parts
** are sound and none has another sign than another.
*/
static int hpSignIsDoubt(
  const HpAggDef *pDef,
  const struct HpSign *pSign,
  u64 nRow
){
  assert( pDef->eAgg==HP_AGG_SUM && pDef->bShared==0 );
  if( pSign->bUnsound ) return 1;
  if( pSign->bReal && pSign->bMinus && pSign->bPlus ) return 1;
  if( hpSumIsSmall(pSign->mAbs, nRow) ) return 0;
  return pSign->bReal || pDef->bOvrfl
      || hpSumLost(pSign->mAbs, nRow)>HP_MX_LOST;
}

/*
** HpEntryType.xNote: groups of pRuns are about to become a run, in a file if
** bFile is set.  What hpSignDoubt() will find need not be written.
*/
static int hpSignNote(HpRuns *pRuns, int bFile){
  HpAgg *pAgg = (HpAgg*)pRuns;
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int k;
  assert( pPlan->bOpaque==0 && pPlan->nSet==0 && (bFile || pPlan->nLate==0) );
  hpSignParts(pAgg);
  for(k=0; k<pPlan->nAgg && bFile; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    if( pDef->eAgg==HP_AGG_SUM && !pDef->bShared
     && hpSignIsDoubt(pDef, &pAgg->aSign[k], pRuns->pWorker->nScanned)
    ){
      return HP_DECLINE;
    }
  }
  return pPlan->nLate ? hpAggOrderSort(pRuns) : SQLITE_OK;
}

/*
** Parts of groups are in runs in files.  Is any sum of the scan in doubt?  Then
** return HP_DECLINE: when groups are delivered it will be too late.
*/
static int hpSignDoubt(const HpPipe *p){
  const HpGroupPlan *pPlan = hpGroupOf(p->pEntry);
  int k, i;
  assert( pPlan->bOpaque==0 && pPlan->entry.bRows==0 );
  for(i=0; i<p->nWorker; i++) hpSignParts((HpAgg*)p->apWorker[i]->pRuns);
  for(k=0; k<pPlan->nAgg; k++){
    struct HpSign all;
    if( pPlan->aAgg[k].eAgg!=HP_AGG_SUM || pPlan->aAgg[k].bShared ) continue;
    memset(&all, 0, sizeof(all));
    for(i=0; i<p->nWorker; i++){
      const HpAgg *pAgg = (const HpAgg*)p->apWorker[i]->pRuns;
      const struct HpSign *pSign = &pAgg->aSign[k];
      all.mAbs |= pSign->mAbs;
      all.bReal |= pSign->bReal;
      all.bMinus |= pSign->bMinus;
      all.bPlus |= pSign->bPlus;
      all.bUnsound |= pSign->bUnsound;
    }
    if( hpSignIsDoubt(&pPlan->aAgg[k], &all, p->pass.nScanned) ){
      return HP_DECLINE;
    }
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
