/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_first: the first row of each combination of values, for SELECT DISTINCT.
**
**    hpFirstOpen()   begin
**    hpFirstRows()   look at the selected rows of a frame
**    hpFirstRun()    a run of leaves is done
**    hpFirstMerge()  the rows of all workers
**    hpFirstClose()  free everything
**
** Combinations seen are in a hash table.  Of a new one the place of its row is
** noted (hp_found.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_FIRST_SHARE 6      /* Few rows are distinct: one in so many */

/*
** Double the hash table.
*/
static int hpFirstGrow(HpFirst *pFirst){
  u32 mOld = pFirst->mSlot;
  u32 mNew = mOld*2+1;
  i64 nByte = 2*sizeof(u32)*((i64)mNew+1);
  u32 *aOld = pFirst->aSlot;
  u32 *aNew;
  assert( (mOld & (mOld+1))==0 && pFirst->nKey<=mOld );
  if( mNew>=0x7fffffff ) return HP_DECLINE;
  aNew = sqlite3_malloc64(nByte);
  if( aNew==0 ) return HP_DECLINE;
  memset(aNew, 0, nByte);
  hpHashMove(aOld, mOld, aNew, mNew);
  pFirst->found.nTable += nByte - 2*sizeof(u32)*((i64)mOld+1);
  sqlite3_free(aOld);
  pFirst->aSlot = aNew;
  pFirst->mSlot = mNew;
  return SQLITE_OK;
}

/*
** Remember the values of row i under salt, in slot j of the hash table, and
** find its place.
*/
static int hpFirstAdd(
  HpFirst *pFirst,
  const HpFrame *p,
  int i,
  u32 salt,
  u32 j
){
  HpFound *pFound = &pFirst->found;
  const HpFindPlan *pPlan = pFound->pPlan;
  int nKey = pPlan->keys.n;
  int k, rc;
  if( pFirst->nKey>=pFirst->nKeyAlloc ){
    u32 nNew = MAX(64, pFirst->nKeyAlloc*2);
    HpKept *aNew = sqlite3_realloc64(pFirst->aKey,
                                     sizeof(HpKept)*nKey*(u64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    pFirst->found.nTable += sizeof(HpKept)*nKey*(i64)(nNew-pFirst->nKeyAlloc);
    pFirst->aKey = aNew;
    pFirst->nKeyAlloc = nNew;
  }
  for(k=0; k<nKey; k++){
    HpKept *pKept = &pFirst->aKey[(i64)pFirst->nKey*nKey+k];
    memset(pKept, 0, sizeof(*pKept));
    rc = hpKeptSet(&pFound->arena, pKept, &p->aVec[pPlan->keys.aVec[k]], i);
    if( rc ) return rc;
  }
  pFirst->nKey++;
  assert( pFirst->nKey<=pFirst->mSlot && pFirst->aSlot[2*j+1]==0 );
  pFirst->aSlot[2*j] = salt;
  pFirst->aSlot[2*j+1] = pFirst->nKey;
  /* One place for each combination */
  assert( pFound->nPlace==pFirst->nKey-1 && pFound->nPlace<pFound->nAlloc );
  pFound->aPlace[pFound->nPlace] = hpFoundPlace(pFound, i, 0);
  if( pFound->aPlace[pFound->nPlace++]<0 ) return HP_DECLINE;
  if( pFirst->nKey>pFirst->mSlot/2 ) return hpFirstGrow(pFirst);
  return SQLITE_OK;
}

/*
** True if the values of row i are those at pKept.
*/
static SQLITE_INLINE int hpFirstIs(
  const HpFindPlan *pPlan,
  const HpFrame *p,
  const HpKept *pKept,
  int iRow
){
  int k;
  for(k=0; k<pPlan->keys.n; k++, pKept++){
    const HpVec *pVec = &p->aVec[pPlan->keys.aVec[k]];
    int i = iRow & pVec->mIdx;
    u8 tag = pVec->aTag[i];
    assert( pVec->bFloat==0 && pVec->bLate==0 );
    if( tag!=pKept->tag ) return 0;
    if( tag & HP_NUM ){
      if( pVec->aVal[i].u!=pKept->val.u ) return 0;
    }else if( tag & HP_STR ){
      u32 n = pVec->aLen[i];
      if( n!=pKept->n ) return 0;
      if( n<=8 ){
        if( hpLoadBytes(pVec->aVal[i].z, n)!=hpLoadBytes(pKept->val.z, n) ) return 0;
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
static void hpFirstHash(HpFirst *pFirst, HpFrame *p){
  const HpFindPlan *pPlan = pFirst->found.pPlan;
  u64 *aHash = pFirst->aHash;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int ii, k;
  memset(aHash, 0, sizeof(u64)*nSel);
  for(k=0; k<pPlan->keys.n; k++){
    HpVec *pVec = &p->aVec[pPlan->keys.aVec[k]];
    const HpVal *aVal = pVec->aVal;
    u32 mIdx = pVec->mIdx;
    hpVecExact(p, pVec);
    if( (pVec->mType & ~HP_NUM)==0 ){
      for(ii=0; ii<nSel; ii++){
        aHash[ii] = hpHashMix(aHash[ii] + aVal[aSel[ii] & mIdx].u);
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
          x = n<=8 ? hpLoadBytes(aVal[i].z, n) : hpHashBytes(aVal[i].z, n);
        }
        aHash[ii] = hpHashMix(aHash[ii] + x + tag);
      }
    }
  }
  if( p->pCfg->bHash0 ) memset(aHash, 0, sizeof(u64)*nSel);
}

/*
** Begin.
*/
static int hpFirstOpen(HpWorker *p, Mem *aMem){
  HpFirst *pFirst;
  int rc = hpFoundOpen(p, sizeof(HpFirst));
  UNUSED_PARAMETER(aMem);
  assert( p->pPipe->pCrew==0 && p->pPipe->pass.bEnd==0 );
  if( rc ) return rc;
  pFirst = p->pSink;
  if( !hpFoundIsLarge(&pFirst->found) ){
    p->pPipe->pass.bSmall = 1;
    return HP_DECLINE;
  }
  pFirst->aHash = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)p->frame.nAlloc);
  pFirst->mSlot = 1023;
  pFirst->found.nTable = 2*sizeof(u32)*((i64)pFirst->mSlot+1);
  pFirst->aSlot = sqlite3_malloc64(pFirst->found.nTable);
  if( pFirst->aHash==0 || pFirst->aSlot==0 ) return HP_DECLINE;
  memset(pFirst->aSlot, 0, pFirst->found.nTable);
  return SQLITE_OK;
}

static void hpFirstClose(HpWorker *p){
  HpFirst *pFirst = p->pSink;
  if( pFirst ){
    sqlite3_free(pFirst->aSlot);
    sqlite3_free(pFirst->aKey);
    hpFoundClose(p);
  }
}

/*
** The selected rows of a frame.
*/
static int hpFirstRows(HpWorker *pWorker, HpFrame *p){
  HpFirst *pFirst = pWorker->pSink;
  const HpFindPlan *pPlan = pFirst->found.pPlan;
  const u64 *aHash = pFirst->aHash;
  int nKey = pPlan->keys.n;
  int ii, rc;
  assert( pFirst->found.pWorker==pWorker && hpVecIsSelection(p) );
  assert( p->pSource->bValues==0 );  /* Rows have places */
  rc = hpFoundReserve(&pFirst->found, p->nSel);
  if( rc ) return rc;
  hpFirstHash(pFirst, p);
  for(ii=0; ii<p->nSel; ii++){
    int i = p->aSel[ii];
    u32 salt = (u32)(aHash[ii]>>16);
    u32 j = salt & pFirst->mSlot;
    u32 iKey;
    while( (iKey = pFirst->aSlot[2*j+1])!=0 ){
      if( pFirst->aSlot[2*j]==salt
       && hpFirstIs(pPlan, p, &pFirst->aKey[(i64)(iKey-1)*nKey], i)
      ){
        break;
      }
      j = (j+1) & pFirst->mSlot;
    }
    if( iKey==0 ){
      rc = hpFirstAdd(pFirst, p, i, salt, j);
      if( rc ) return rc;
    }
  }
  hpFoundEnough(&pFirst->found);
  return SQLITE_OK;
}

/*
** After nRow rows more: are too many rows distinct?  Values that come at random
** from a set of some size become rare, and each row left out saves a search in a
** b-tree of distinct rows; so go on if they do.  Where a new value comes every few
** rows the b-tree is searched at its end, which is cheap.
*/
static int hpFirstIsMany(const HpFound *pFound, i64 nRow){
  double r = (double)(pFound->nPlace-pFound->nBefore)/(double)nRow;
  return hpFoundKnows(pFound)
      && r*HP_FIRST_SHARE>1.0 && r>pFound->rFirst*0.75;
}
static void hpFirstRun(HpWorker *p){
  hpFoundRun(p, hpFirstIsMany);
}

/*
** The scan is over.  Several workers may have found a row for the same values.
*/
static int hpFirstMerge(HpPipe *p){
  HpFirst *pFirst = p->apWorker[0]->pSink;
  assert( p->pCrew==0 );
  sqlite3_free(pFirst->aSlot);
  sqlite3_free(pFirst->aKey);
  pFirst->aSlot = 0;
  pFirst->aKey = 0;
  return hpFoundMerge(p);
}
#endif /* SQLITE_OMIT_HP */
