/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_first: the first row of each combination of values, for SELECT DISTINCT.
**
**    hpFirstStep()  look at the selected rows of a batch
**
** Combinations seen are in a hash table.  Of a new one the place of its row is
** noted (hp_found.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Double the hash table of HP_SINK_FIRST.
*/
static int hpFirstGrow(HpRows *pRows){
  u32 mOld = pRows->mSlot;
  u32 mNew = mOld*2+1;
  i64 nByte = 2*sizeof(u32)*((i64)mNew+1);
  u32 *aOld = pRows->aSlot;
  u32 *aNew;
  u32 i;
  if( mNew>=0x7fffffff ) return HP_DECLINE;
  aNew = sqlite3_malloc64(nByte);
  if( aNew==0 ) return HP_DECLINE;
  memset(aNew, 0, nByte);
  for(i=0; i<=mOld; i++){
    if( aOld[2*i+1] ){
      u32 j = aOld[2*i] & mNew;
      while( aNew[2*j+1] ) j = (j+1) & mNew;
      aNew[2*j] = aOld[2*i];
      aNew[2*j+1] = aOld[2*i+1];
    }
  }
  pRows->nTable += nByte - 2*sizeof(u32)*((i64)mOld+1);
  sqlite3_free(aOld);
  pRows->aSlot = aNew;
  pRows->mSlot = mNew;
  return SQLITE_OK;
}

/*
** Remember the values of row i under salt, in slot j of the hash table, and
** find its place.
*/
static int hpFirstAdd(HpExec *p, int i, u32 salt, u32 j){
  const HpPlan *pPlan = p->pPlan;
  HpRows *pRows = p->pRows;
  int nKey = pPlan->nKey;
  int k, rc;
  if( pRows->nKey>=pRows->nKeyAlloc ){
    u32 nNew = MAX(64, pRows->nKeyAlloc*2);
    HpKept *aNew = sqlite3_realloc64(pRows->aKey,
                                     sizeof(HpKept)*nKey*(u64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    pRows->nTable += sizeof(HpKept)*nKey*(i64)(nNew-pRows->nKeyAlloc);
    pRows->aKey = aNew;
    pRows->nKeyAlloc = nNew;
  }
  for(k=0; k<nKey; k++){
    HpKept *pKept = &pRows->aKey[(i64)pRows->nKey*nKey+k];
    memset(pKept, 0, sizeof(*pKept));
    rc = hpFoundKeep(pRows, pKept, &p->aVec[pPlan->aKey[k]], i);
    if( rc ) return rc;
  }
  pRows->nKey++;
  pRows->aSlot[2*j] = salt;
  pRows->aSlot[2*j+1] = pRows->nKey;
  pRows->aPlace[pRows->nPlace] = hpFoundPlace(p, i, 0);
  if( pRows->aPlace[pRows->nPlace++]<0 ) return HP_DECLINE;
  if( pRows->nKey>pRows->mSlot/2 ) return hpFirstGrow(pRows);
  return SQLITE_OK;
}

/*
** True if the values of row i are those at pKept.
*/
static SQLITE_INLINE int hpFirstIs(HpExec *p, const HpKept *pKept, int iRow){
  const HpPlan *pPlan = p->pPlan;
  int k;
  for(k=0; k<pPlan->nKey; k++, pKept++){
    const HpVec *pVec = &p->aVec[pPlan->aKey[k]];
    int i = iRow & pVec->mIdx;
    u8 tag = pVec->aTag[i];
    if( tag!=pKept->tag ) return 0;
    if( tag & HP_NUM ){
      if( pVec->aVal[i].u!=pKept->val.u ) return 0;
    }else if( tag & HP_STR ){
      u32 n = pVec->aLen[i];
      if( n!=pKept->n ) return 0;
      if( n<=8 ){
        if( hpBytes(pVec->aVal[i].z, n)!=hpBytes(pKept->val.z, n) ) return 0;
      }else if( memcmp(pVec->aVal[i].z, pKept->val.z, n)!=0 ){
        return 0;
      }
    }
  }
  return 1;
}

/*
** Hash values of the selected rows.  Values with different bytes may be
** equal, values with the same bytes are.
*/
static void hpFirstHash(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  u64 *aHash = p->pRows->aHash;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int ii, k;
  memset(aHash, 0, sizeof(u64)*nSel);
  for(k=0; k<pPlan->nKey; k++){
    HpVec *pVec = &p->aVec[pPlan->aKey[k]];
    const HpVal *aVal = pVec->aVal;
    u32 mIdx = pVec->mIdx;
    hpVecExact(p, pVec);
    if( (pVec->mType & ~HP_NUM)==0 ){
      for(ii=0; ii<nSel; ii++){
        aHash[ii] = hpMix(aHash[ii] + aVal[aSel[ii] & mIdx].u);
      }
    }else{
      for(ii=0; ii<nSel; ii++){
        int i = aSel[ii] & mIdx;
        u8 tag = pVec->aTag[i];
        u64 x = 0;
        if( tag & HP_NUM ){
          x = aVal[i].u;
        }else if( tag & HP_STR ){
          u32 n = pVec->aLen[i];
          x = n<=8 ? hpBytes(aVal[i].z, n) : hpHashBytes(aVal[i].z, n);
        }
        aHash[ii] = hpMix(aHash[ii] + x + tag);
      }
    }
  }
  if( p->pCfg->bHash0 ) memset(aHash, 0, sizeof(u64)*nSel);
}

/*
** HP_SINK_FIRST: the selected rows of a batch.
*/
static int hpFirstStep(HpExec *p){
  HpRows *pRows = p->pRows;
  const u64 *aHash = pRows->aHash;
  int nKey = p->pPlan->nKey;
  int ii, rc;
  rc = hpFoundReserve(pRows, p->nSel);
  if( rc ) return rc;
  hpFirstHash(p);
  for(ii=0; ii<p->nSel; ii++){
    int i = p->aSel[ii];
    u32 salt = (u32)(aHash[ii]>>16);
    u32 j = salt & pRows->mSlot;
    u32 iKey;
    while( (iKey = pRows->aSlot[2*j+1])!=0 ){
      if( pRows->aSlot[2*j]==salt
       && hpFirstIs(p, &pRows->aKey[(i64)(iKey-1)*nKey], i)
      ){
        break;
      }
      j = (j+1) & pRows->mSlot;
    }
    if( iKey==0 ){
      rc = hpFirstAdd(p, i, salt, j);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
