/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_tally: sums and counts of many groups in arrays beside them.
**
**    hpTallyBegin()     from now on sums are in arrays, if that is worth it
**    hpTallyRows()      add the selected rows to the arrays, if that is possible
**    hpTallyHas()       was that done for a function?
**    hpTallyIsOn()      are there arrays?
**    hpTallySettle()    put what the arrays have into the groups
**    hpTallyClose()     free everything
**
** A group has its key, and of each function a state of 8 to 40 bytes.  Ten thousand groups with five
** sums are more than the processor's cache holds, and each row takes a dozen loads and stores there:
** to a sum, its count of values, and what tells whether it may have overflowed.
**
** Most of it need not be done for each row.  Here the sums of a function are an array by number of the group,
** and so are those of the next function.  One more array counts the rows of each group for all functions;
** where a value is NULL that is noted (HpTallySum.anNull), as it happens less
** often.  Integers are added without a look at overflows: the largest of a batch
** and the number of rows tell before that there is none.
** Reals are added as hp_sum.c does it, in scan order.
**
** The arrays begin when there are more groups than hpAggOrdered() takes, and rows
** enough for each of them.  Groups have to be found without a look at them
** (hp_direct.c), or to be few: comparing the keys already brings a group into
** the cache, so separate arrays would only cost memory.  They take the sums that
** the groups have, and hpTallySettle() gives them back.  That is done before
** anyone looks at a state: when groups become a run or go to a file, and when
** the scan is over.  What the arrays cannot add ends them, too: values that are
** no numbers, integers and reals mixed, integers that may overflow.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_TALLY_ROWS  8      /* So many rows for each group before it begins */
#define HP_TALLY_HASH  4096   /* Up to so many groups if they are found by hash values */
#define HP_TALLY_TRIES 16     /* It begins, or ends, no more often */

/* The array of one function */
typedef struct HpTallySum HpTallySum;
struct HpTallySum {
  int iAgg;              /* Which function */
  u8 eKind;              /* HP_INT or HP_REAL; HP_NULL: count() */
  u64 mAbs;              /* HP_INT: OR of hpAbsBits() of all values, and perhaps of more bits */
  i64 *aInt;             /* HP_INT: sums, ... */
  HpSumReal *aReal;      /* ... or HP_REAL */
  u32 *anNull;           /* Rows of each group that were NULL.  NULL pointer: none */
};

struct HpTally {
  u8 bBegun;             /* There are arrays */
  const HpAccumulator *pBefore;  /* What adds up again when they end */
  int nTry;              /* How often it began, or might have */
  u32 nAlloc;            /* Entries of each array */
  u64 nRow;              /* At most so many values are in a sum */
  u32 *anRow;            /* Rows of each group */
  i64 nByte;             /* Bytes of all arrays */
  int nSum;
  HpTallySum aSum[1];    /* One for each function that it does */
};

/* Is a function one that arrays can do? */
static int hpTallyCan(const HpAggDef *pDef){
  return pDef->bShared==0 && pDef->iFilter==HP_NO_VEC && pDef->iSet<0
      && (pDef->eAgg==HP_AGG_SUM || (pDef->eAgg==HP_AGG_COUNT && pDef->bWeigh==0));
}

/* Are there arrays now?  Is function pDef in them? */
static int hpTallyIsOn(const HpAgg *pAgg){
  return pAgg->pTally && pAgg->pTally->bBegun;
}
static int hpTallyHas(const HpAgg *pAgg, const HpAggDef *pDef){
  return hpTallyIsOn(pAgg) && hpTallyCan(pDef);
}

/*
** HP_INT or HP_REAL: the type of the numbers that function pDef adds from this batch.
** HP_NULL: it counts.  0: neither, or not only that.
*/
static u8 hpTallyKind(const HpAggDef *pDef, const HpFrame *p){
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  u8 m;
  assert( hpTallyCan(pDef) );
  if( pDef->eAgg==HP_AGG_COUNT ) return HP_NULL;
  m = pVec->mType & ~HP_NULL;
  if( pVec->mIdx==0 || (m==HP_INT && pVec->bFloat) ) return 0;
  return m==HP_INT || m==HP_REAL ? m : 0;
}

/*
** Let array *pp have nNew entries of n bytes, of which those from nOld on are zero.
*/
static int hpTallyGrow(HpAgg *pAgg, void **pp, int n, u32 nOld, u32 nNew){
  assert( nNew>nOld && pAgg->pTally->bBegun );
  u8 *aNew = sqlite3_realloc64(*pp, (u64)n*nNew);
  i64 nMore = (i64)n*(nNew-nOld);
  if( aNew==0 ) return HP_DECLINE;
  memset(&aNew[(size_t)n*nOld], 0, (size_t)nMore);
  *pp = aNew;
  pAgg->pTally->nByte += nMore;
  pAgg->runs.nTable += nMore;
  return SQLITE_OK;
}

/*
** Let all arrays have place for nGroup groups.
*/
static int hpTallyRoom(HpAgg *pAgg, u32 nGroup){
  HpTally *p = pAgg->pTally;
  i64 nMore = sizeof(u32);   /* Bytes for a group in all arrays */
  u32 nOld = p->nAlloc;
  u32 nNew = MAX(2*nGroup, HP_MX_CACHED);
  int rc = SQLITE_OK;
  int i;
  if( nGroup<=nOld ) return SQLITE_OK;
  for(i=0; i<p->nSum; i++){
    u8 eKind = p->aSum[i].eKind;
    nMore += eKind==HP_INT ? sizeof(i64) : eKind==HP_REAL ? sizeof(HpSumReal) : 0;
    if( p->aSum[i].anNull ) nMore += sizeof(u32);
  }
  /* While an array grows it is there twice */
  if( nGroup>0x3fffffff || !hpHeldMay(&pAgg->runs, nMore*nNew, HP_WISH) ) return HP_DECLINE;
  rc = hpTallyGrow(pAgg, (void**)&p->anRow, sizeof(u32), nOld, nNew);
  for(i=0; i<p->nSum && rc==SQLITE_OK; i++){
    HpTallySum *pSum = &p->aSum[i];
    if( pSum->eKind==HP_INT ){
      rc = hpTallyGrow(pAgg, (void**)&pSum->aInt, sizeof(i64), nOld, nNew);
    }else if( pSum->eKind==HP_REAL ){
      rc = hpTallyGrow(pAgg, (void**)&pSum->aReal, sizeof(HpSumReal), nOld, nNew);
    }
    if( rc==SQLITE_OK && pSum->anNull ){
      rc = hpTallyGrow(pAgg, (void**)&pSum->anNull, sizeof(u32), nOld, nNew);
    }
  }
  if( rc==SQLITE_OK ) p->nAlloc = nNew;
  return rc;
}

/* Free the arrays */
static void hpTallyEnd(HpAgg *pAgg){
  HpTally *p = pAgg->pTally;
  int i;
  assert( pAgg->runs.nTable>=p->nByte );
  pAgg->runs.nTable -= p->nByte;
  sqlite3_free(p->anRow);
  for(i=0; i<p->nSum; i++){
    sqlite3_free(p->aSum[i].aInt);
    sqlite3_free(p->aSum[i].aReal);
    sqlite3_free(p->aSum[i].anNull);
  }
  memset(p->aSum, 0, sizeof(p->aSum[0])*(size_t)p->nSum);
  p->anRow = 0;
  p->nSum = 0;
  p->nAlloc = 0;
  p->nByte = 0;
  if( p->bBegun ){
    pAgg->pAccum = p->pBefore;
    pAgg->nHot = pAgg->pPlan->entry.iHeadOff;
  }
  p->bBegun = 0;
}

static void hpTallyClose(HpAgg *pAgg){
  if( pAgg->pTally ) hpTallyEnd(pAgg);
}

/*
** Can sums of integers with these hpAbsBits() not overflow in this worker, nor when all workers' parts
** are put together?
*/
static int hpTallyIsSmall(const HpAgg *pAgg, u64 mAbs){
  return hpSumIsSmall(mAbs,
      pAgg->pTally->nRow * (u64)pAgg->runs.pWorker->pPipe->nWorker);
}

/*
** Take the sums that the groups have into the arrays.  HP_DECLINE: one of them is not as
** the arrays would have made it.
*/
static int hpTallyTake(HpAgg *pAgg){
  HpTally *p = pAgg->pTally;
  u64 nRow = 0;
  u32 g;
  int i;
  assert( p->bBegun && p->nAlloc>=pAgg->runs.nEntry );
  for(i=0; i<p->nSum; i++){
    HpTallySum *pTo = &p->aSum[i];
    const HpAggDef *pDef = &pAgg->pPlan->aAgg[pTo->iAgg];
    if( pTo->eKind==HP_NULL ) continue;
    for(g=0; g<pAgg->runs.nEntry; g++){
      const HpSum *pSum = hpGroupState(pDef, hpHeldAt(&pAgg->runs, g));
      i64 n = hpSumCount(pSum);
      if( pSum->n & HP_SUM_OVRFL ) return HP_DECLINE;
      if( n>0 && hpSumIsReal(pSum)!=(pTo->eKind==HP_REAL) ) return HP_DECLINE;
      nRow = MAX(nRow, (u64)n);
      if( pTo->eKind==HP_INT ){
        if( pSum->u.i.iCarry ) return HP_DECLINE;
        pTo->aInt[g] = pSum->u.i.iSum;
        pTo->mAbs |= pSum->u.i.mAbs;
      }else{
        pTo->aReal[g] = pSum->u.r;
      }
    }
  }
  p->nRow = nRow;
  /* As every group will have the bits of all */
  for(i=0; i<p->nSum; i++){
    if( p->aSum[i].eKind==HP_INT && !hpTallyIsSmall(pAgg, p->aSum[i].mAbs) ) return HP_DECLINE;
  }
  return SQLITE_OK;
}

/*
** Give the groups what the arrays have, and free the arrays.
*/
static void hpTallySettle(HpAgg *pAgg){
  HpTally *p = pAgg->pTally;
  u32 nGroup = pAgg->runs.nEntry;
  u32 g;
  int i;
  assert( hpTallyIsOn(pAgg) );
  /* Some groups may have been made since the last batch that was added */
  nGroup = MIN(nGroup, p->nAlloc);
  for(i=0; i<p->nSum; i++){
    const HpTallySum *pFrom = &p->aSum[i];
    const HpAggDef *pDef = &pAgg->pPlan->aAgg[pFrom->iAgg];
    for(g=0; g<nGroup; g++){
      i64 n = (i64)p->anRow[g] - (pFrom->anNull ? pFrom->anNull[g] : 0);
      void *pState = hpGroupState(pDef, hpHeldAt(&pAgg->runs, g));
      HpSum *pSum = pState;
      assert( n>=0 );
      if( n==0 ) continue;
      switch( pFrom->eKind ){
        case HP_NULL:
          *(i64*)pState += n;
          break;
        case HP_INT:
          assert( !hpSumIsReal(pSum) && pSum->u.i.iCarry==0 );
          pSum->u.i.iSum = pFrom->aInt[g];
          pSum->u.i.mAbs |= pFrom->mAbs;
          pSum->n += n*HP_SUM_ONE;
          break;
        default:
          assert( hpSumCount(pSum)==0 || hpSumIsReal(pSum) );
          pSum->u.r = pFrom->aReal[g];
          pSum->n = (pSum->n + n*HP_SUM_ONE) | HP_SUM_REAL;
          break;
      }
    }
  }
  hpTallyEnd(pAgg);
}

/* What the functions of a plan need: the memory for that, or NULL */
static HpTally *hpTallyNew(HpAgg *pAgg){
  i64 nByte = sizeof(HpTally) + sizeof(HpTallySum)*(i64)pAgg->pPlan->nAgg;
  HpTally *p = hpArenaAlloc(&pAgg->scratch, nByte);
  if( p ) memset(p, 0, nByte);
  return p;
}

/*
** Begin, if there are groups and rows enough: from now on pBeside adds up.
** Returns 0 if not yet, and -1 if never.
*/
static int hpTallyBegin(
  HpAgg *pAgg,
  const HpFrame *p,
  const HpAccumulator *pBeside
){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const HpPipe *pPipe = p->pWorker->pPipe;
  u32 nTally = (u32)p->pCfg->nTally;
  HpTally *pTally;
  int nState = 0;
  int bAll = 1;          /* All functions are done by arrays */
  int k;
  assert( !hpTallyIsOn(pAgg) );
  if( pAgg->runs.bOrdered ) return 0;
  if( nTally==0 && (pAgg->pHolder->bRuns || pAgg->nRow<HP_TALLY_ROWS*(u64)pAgg->runs.nEntry) ) return 0;
  if( pAgg->runs.nEntry<(nTally ? nTally : HP_MX_ORDERED+1) ) return 0;
  if( nTally==0 && pAgg->runs.nEntry>HP_TALLY_HASH && !hpDirectIsOn(pAgg) ) return 0;
  for(k=0; k<pPlan->nAgg; k++) nState += hpTallyCan(&pPlan->aAgg[k]);
  if( nState==0 || pPipe->pQuery->bExact ) return -1;
  if( pAgg->pTally==0 ) pAgg->pTally = hpTallyNew(pAgg);
  pTally = pAgg->pTally;
  if( pTally==0 || pTally->nTry>=HP_TALLY_TRIES ) return -1;
  pTally->nTry++;
  assert( pTally->bBegun==0 && pTally->nSum==0 );
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    u8 eKind;
    if( pDef->bShared ) continue;
    if( !hpTallyCan(pDef) ){
      bAll = 0;
      continue;
    }
    eKind = hpTallyKind(pDef, p);
    if( eKind==0 ){
      pTally->nSum = 0;
      return 0;
    }
    pTally->aSum[pTally->nSum].iAgg = k;
    pTally->aSum[pTally->nSum].eKind = eKind;
    pTally->nSum++;
  }
  pTally->bBegun = 1;
  pTally->pBefore = pAgg->pAccum;
  pAgg->pAccum = pBeside;
  if( bAll ) pAgg->nHot = 0;
  if( hpTallyRoom(pAgg, pAgg->runs.nEntry) || hpTallyTake(pAgg) ) hpTallyEnd(pAgg);
  return pTally->bBegun;
}

/*
** Can the selected rows be added to array pSum, and is there memory for that?
*/
static int hpTallyMay(HpAgg *pAgg, const HpFrame *p, HpTallySum *pSum){
  const HpAggDef *pDef = &pAgg->pPlan->aAgg[pSum->iAgg];
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  assert( pSum->iAgg<pAgg->pPlan->nAgg && hpTallyHas(pAgg, pDef) );
  if( hpTallyKind(pDef, p)!=pSum->eKind ) return 0;
  if( pSum->eKind==HP_INT ){
    u64 mAbs = pSum->mAbs | hpSumBits(p, pVec);
    if( !hpTallyIsSmall(pAgg, mAbs) ) return 0;
    pSum->mAbs = mAbs;
  }
  if( pVec && (pVec->mType & HP_NULL) && pSum->anNull==0
   && hpTallyGrow(pAgg, (void**)&pSum->anNull, sizeof(u32), 0, pAgg->pTally->nAlloc)
  ){
    return 0;
  }
  return 1;
}

/*
** Add the selected rows to one array.
*/
static void hpTallyAdd(const HpAgg *pAgg, const HpFrame *p, HpTallySum *pSum){
  const HpAggDef *pDef = &pAgg->pPlan->aAgg[pSum->iAgg];
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  const u32 *aiGroup = pAgg->aiGroup;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int ii;
  if( pVec==0 ) return;
  assert( pSum->eKind==HP_NULL || pVec->mIdx!=0 );
  if( (pVec->mType & HP_NULL)==0 ){
    const HpVal *aVal = pVec->aVal;
    if( pSum->eKind==HP_INT ){
      i64 *aInt = pSum->aInt;
      for(ii=0; ii<nSel; ii++) aInt[aiGroup[ii]] += aVal[aSel[ii]].i;
    }else if( pSum->eKind==HP_REAL ){
      HpSumReal *aReal = pSum->aReal;
      for(ii=0; ii<nSel; ii++) hpSumReal(&aReal[aiGroup[ii]], aVal[aSel[ii]].r);
    }
    return;
  }
  for(ii=0; ii<nSel; ii++){
    int i = aSel[ii] & pVec->mIdx;
    u32 g = aiGroup[ii];
    if( pVec->aTag[i]==HP_NULL ){
      pSum->anNull[g]++;
    }else if( pSum->eKind==HP_INT ){
      pSum->aInt[g] += pVec->aVal[i].i;
    }else if( pSum->eKind==HP_REAL ){
      hpSumReal(&pSum->aReal[g], pVec->aVal[i].r);
    }
  }
}

/*
** Add the selected rows, whose groups are in pAgg->aiGroup, to the arrays.
** Returns false if that is not possible: then there are no arrays any more.
*/
static int hpTallyRows(HpAgg *pAgg, const HpFrame *p){
  HpTally *pTally = pAgg->pTally;
  const u32 *aiGroup = pAgg->aiGroup;
  u32 *anRow;
  int i, ii;
  assert( hpTallyIsOn(pAgg) );
  pTally->nRow += p->nSel;
  if( hpTallyRoom(pAgg, pAgg->runs.nEntry) || pTally->nRow>0x7fffffff ){
    hpTallySettle(pAgg);
    return 0;
  }
  for(i=0; i<pTally->nSum; i++){
    if( !hpTallyMay(pAgg, p, &pTally->aSum[i]) ){
      hpTallySettle(pAgg);
      return 0;
    }
  }
  anRow = pTally->anRow;
  assert( pTally->nAlloc>=pAgg->runs.nEntry );
  for(ii=0; ii<p->nSel; ii++) anRow[aiGroup[ii]]++;
  for(i=0; i<pTally->nSum; i++) hpTallyAdd(pAgg, p, &pTally->aSum[i]);
  return 1;
}
#endif /* SQLITE_OMIT_HP */
