/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_agg: aggregate functions of groups, row by row.
**
**    hpAggOpen()     a worker begins, without groups
**    hpAggStep()     add the selected rows of a frame to their groups
**
** A batch goes three steps: rows find their groups (hp_assign.c), are added to
** them, and groups stay where they are or are put aside (hp_rare.c).  Adding has
** several ways, too, each a table HpAccumulator; HpAgg.pAccum is the one that is
** used now:
**
**    hpAggOne       no keys: all rows are of one group
**    hpAggStates    values are added to the states in groups
**    hpAggBeside    ... to arrays beside the groups, if there are many rows for
**                   each, and back to the states in the end (hp_tally.c)
**    hpAggAlways    to the states, now and later
**
** The state of sum, total and avg is that of stock's SumCtx, stepped as sumStep()
** does it, in scan order; count and the best value of min and max likewise;
** every other aggregate function is called itself, for each row (hp_aggcall.c).
** What has ORDER BY inside keeps a list of entries (hp_aggorder.c), and those of
** SQLite's functions that depend on the order of rows keep a log (hp_agglog.c).
** hp_result.c makes results of the states, or the contexts that stock's OP_AggFinal finishes.  So
** rounding and errors are stock's.  Sums and counts of many groups may be in arrays meanwhile: hp_tally.c.
**
** Where there are few groups the rows of a batch are first put in order of
** their group.  Each aggregate then runs down one group's rows with its state
** in registers, instead of from memory to memory for each row.
**
** Several workers.  The parts of a group add up to what one worker would have
** found, with the help of the rows' positions for everything that depends on
** which row came first.  Of sums hp_sum.c says when that is so.  Where it is in
** doubt HP_SERIAL says so, and the scan runs again with one worker that adds up
** row by row.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_AHEAD_ROWS  8      /* So many rows ahead of DISTINCT its sets are fetched */
#define HP_MIN_ORDERED 8      /* ... if there are so many rows for each of them */

/*
** One step of min() or max().  Sets *pbSkip if stock would not load the bare
** columns from this row.
*/
static int hpAggBest(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  HpBest *pState,
  int row,
  int *pbSkip
){
  const HpVec *pVec = &p->aVec[pDef->iVec];
  HpKept *pBest = &pState->copy;
  int i = row & pVec->mIdx;
  u8 tag = pVec->aTag[i];
  assert( pVec->bFloat==0 && pVec->bLate==0 && pDef->bShared==0 );
  *pbSkip = 0;
  if( tag==HP_NULL ){
    *pbSkip = pBest->tag!=0;
    if( pBest->tag==0 ) pState->iPos = p->iPos+row+1;
    return SQLITE_OK;
  }
  if( pBest->tag ){
    int c;
    if( (tag & pBest->tag)==HP_INT ){
      i64 a = pBest->val.i;
      i64 b = pVec->aVal[i].i;
      c = a<b ? -1 : a>b;
    }else{
      c = hpVecValCompare(pBest->tag, pBest->val, pBest->n,
                          tag, pVec->aVal[i], (tag&HP_STR) ? pVec->aLen[i] : 0,
                          pDef->pColl);
    }
    if( pDef->eAgg==HP_AGG_MAX ? c>=0 : c<=0 ){
      *pbSkip = 1;
      return SQLITE_OK;
    }
  }
  /* Rows of a worker come in the order of the scan */
  assert( pState->iPos<=p->iPos+row );
  pState->iPos = p->iPos+row+1;
  return hpKeptSet(&pAgg->runs.arena, pBest, pVec, i);
}

/*
** Set *piPick to the row that min() or max(), pDef, is about to choose among aRow[0..n-1]: the
** first one that no other of them is better than.  False: that is not known.
*/
static int hpAggPick(
  const HpAggDef *pDef,
  const HpVec *pVec,
  const u16 *aRow,
  int n,
  u16 *piPick
){
  const HpVal *aVal = pVec->aVal;
  int bMax = pDef->eAgg==HP_AGG_MAX;
  u16 iBest = aRow[0];
  int ii;
  assert( n>1 && pVec->bFloat==0 );
  if( pVec->mIdx==0 ) return 0;
  switch( pVec->mType ){
    case HP_INT: {
      i64 mFlip = bMax ? -1 : 0;           /* Let the largest be the smallest */
      i64 x = aVal[iBest].i ^ mFlip;
      for(ii=1; ii<n; ii++){
        i64 y = aVal[aRow[ii]].i ^ mFlip;
        if( y<x ){
          x = y;
          iBest = aRow[ii];
        }
      }
      break;
    }
    case HP_REAL:
      for(ii=1; ii<n; ii++){
        double r = aVal[aRow[ii]].r;
        if( bMax ? r>aVal[iBest].r : r<aVal[iBest].r ) iBest = aRow[ii];
      }
      break;
    case HP_TEXT: {
      const u32 *aLen = pVec->aLen;
      const u8 *zLast = 0;   /* Entries of a dictionary often come again at once */
      u32 nLast = 0;
      if( pDef->pColl ) return 0;
      for(ii=1; ii<n; ii++){
        u16 i = aRow[ii];
        int c;
        if( aVal[i].z==zLast && aLen[i]==nLast ) continue;
        zLast = aVal[i].z;
        nLast = aLen[i];
        c = hpVecBinCompare(aVal[i].z, aLen[i], aVal[iBest].z, aLen[iBest]);
        if( bMax ? c>0 : c<0 ) iBest = i;
      }
      break;
    }
    default:
      return 0;
  }
  *piPick = iBest;
  return 1;
}

/*
** Of the rows aRow[0..*pn-1] keep those that pass FILTER and DISTINCT of pDef,
** in pAgg->aPart and pAgg->apPart.  Row ii is of group apGroup[ii], or all of
** group aGroup.
*/
static int hpAggPart(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  u8 *aGroup,
  u8 **apGroup,
  const u16 *aRow,
  int *pn
){
  int n = 0;
  int ii, rc;
  assert( (aGroup==0)!=(apGroup==0) );   /* One group, or one for each row */
  for(ii=0; ii<*pn; ii++){
    int i = aRow[ii];
    u8 *aTo = apGroup ? apGroup[ii] : aGroup;
    if( pDef->iFilter!=HP_NO_VEC
     && hpVecTruth(p, &p->aVec[pDef->iFilter], i)!=1
    ){
      continue;
    }
    if( pDef->iSet>=0 ){
      int bNew;
      if( ii+HP_AHEAD_ROWS<*pn ){
        u8 *aLater = apGroup ? apGroup[ii+HP_AHEAD_ROWS] : aGroup;
        hpDistinctAhead(pAgg, p, pDef, hpGroupHead(pAgg->pPlan, aLater),
                        aRow[ii+HP_AHEAD_ROWS]);
      }
      rc = hpDistinctAdd(pAgg, p, pDef, hpGroupHead(pAgg->pPlan, aTo), i, &bNew);
      if( rc ) return rc;
      if( !bNew ) continue;
    }
    pAgg->aPart[n] = (u16)i;
    if( apGroup ) pAgg->apPart[n] = aTo;
    n++;
  }
  *pn = n;
  return SQLITE_OK;
}

/*
** Run aggregate pDef over rows aRow[0..n-1] of group aGroup.
*/
static int hpAggRange(
  HpAgg *pAgg,
  HpFrame *p,
  const HpAggDef *pDef,
  u8 *aGroup,
  const u16 *aRow,
  int n
){
  void *pState = hpGroupState(pDef, aGroup);
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  int ii, rc, bSkip;
  u16 iPick;
  assert( pDef->bShared==0 && !hpTallyHas(pAgg, pDef) );
  if( pDef->iFilter!=HP_NO_VEC || pDef->iSet>=0 ){
    rc = hpAggPart(pAgg, p, pDef, aGroup, 0, aRow, &n);
    if( rc ) return rc;
    aRow = pAgg->aPart;
  }
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      if( pDef->bWeigh ){
        assert( pVec!=0 && pVec->mType==HP_INT );
        for(ii=0; ii<n; ii++) *(i64*)pState += pVec->aVal[aRow[ii] & pVec->mIdx].i;
      }else if( pVec==0 || (pVec->mType & HP_NULL)==0 ){
        *(i64*)pState += n;
      }else{
        i64 nNull = 0;
        for(ii=0; ii<n; ii++) nNull += pVec->aTag[aRow[ii] & pVec->mIdx]==HP_NULL;
        *(i64*)pState += n - nNull;
      }
      break;
    case HP_AGG_SUM:
      hpSumRange(pAgg, p, pState, pVec, aRow, n);
      break;
    case HP_AGG_CALL:
      for(ii=0; ii<n; ii++){
        rc = hpAggCallRow(p, pDef, pState, aRow[ii]);
        if( rc ) return rc;
      }
      break;
    case HP_AGG_ORDER:
      for(ii=0; ii<n; ii++){
        rc = hpAggOrderAdd(&pAgg->runs, p, pDef, pState, aRow[ii]);
        if( rc ) return rc;
      }
      break;
    case HP_AGG_LOG:
      for(ii=0; ii<n; ii++){
        rc = hpAggLogAdd(&pAgg->runs, p, pDef, pState, aRow[ii]);
        if( rc ) return rc;
      }
      break;
    default:
      if( n>1 && hpAggPick(pDef, pVec, aRow, n, &iPick) ){
        aRow = &iPick;
        n = 1;
      }
      for(ii=0; ii<n; ii++){
        rc = hpAggBest(pAgg, p, pDef, pState, aRow[ii], &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpTableLoad(pAgg, p, aGroup, aRow[ii]);
        }
        if( rc ) return rc;
      }
      break;
  }
  return SQLITE_OK;
}

#ifdef SQLITE_DEBUG
/* Do the rows of each group, which end at aEnd[], come in scan order? */
static int hpAggIsInOrder(const u16 *aRow, const u16 *aEnd, int nGroup){
  int i = 0;
  int g;
  for(g=0; g<nGroup; g++){
    for(i++; i<aEnd[g] && aRow[i-1]<aRow[i]; i++){}
    if( i<aEnd[g] ) return 0;
    i = aEnd[g];
  }
  return 1;
}
#endif

/*
** Put the selected rows, all of group iFirstGroup or later ones, in order of
** their groups, each group's rows in scan order, and run each aggregate group by
** group.
*/
static int hpAggOrdered(HpAgg *pAgg, HpFrame *p, u32 iFirstGroup){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  const u32 *aiGroup = pAgg->aiGroup;
  const u16 *aSel = p->aSel;
  u16 *aRow = pAgg->aRow;
  u16 aaAt[4][HP_MX_ORDERED];      /* Number, then place of the next row, of
                                   ** each quarter of the rows and group */
  u16 aEnd[HP_MX_ORDERED];         /* Where the rows of each group end */
  int nGroup = (int)(pAgg->runs.nEntry-iFirstGroup);
  int n4 = p->nSel/4;
  int n = 0;
  int ii, k, g, rc;
  assert( nGroup>0 && nGroup<=HP_MX_ORDERED && !hpTallyIsOn(pAgg) );

  /* Each quarter of the rows has places of its own, so that rows of one group
  ** do not wait for each other */
  memset(aaAt, 0, sizeof(aaAt));
#define HP_TALLY(K,I)  aaAt[K][aiGroup[I]-iFirstGroup]++;
  for(ii=0; ii<n4; ii++){
    HP_TALLY(0, ii) HP_TALLY(1, n4+ii) HP_TALLY(2, 2*n4+ii) HP_TALLY(3, 3*n4+ii)
  }
  for(ii=4*n4; ii<p->nSel; ii++) HP_TALLY(3, ii)
  for(g=0; g<nGroup; g++){
    for(k=0; k<4; k++){
      int nPart = aaAt[k][g];
      aaAt[k][g] = (u16)n;
      n += nPart;
    }
    aEnd[g] = (u16)n;
  }
  assert( n==p->nSel );
#define HP_PUT(K,I)  aRow[aaAt[K][aiGroup[I]-iFirstGroup]++] = aSel[I];
  for(ii=0; ii<n4; ii++){
    HP_PUT(0, ii) HP_PUT(1, n4+ii) HP_PUT(2, 2*n4+ii) HP_PUT(3, 3*n4+ii)
  }
  for(ii=4*n4; ii<p->nSel; ii++) HP_PUT(3, ii)
#undef HP_TALLY
#undef HP_PUT
  assert( hpAggIsInOrder(aRow, aEnd, nGroup) );
  for(k=0; k<pPlan->nAgg; k++){
    int iFirst = 0;
    if( pPlan->aAgg[k].bShared ) continue;
    for(g=0; g<nGroup; g++){
      if( aEnd[g]>iFirst ){
        rc = hpAggRange(pAgg, p, &pPlan->aAgg[k],
                        hpHeldAt(&pAgg->runs, iFirstGroup+g),
                        &pAgg->aRow[iFirst], aEnd[g]-iFirst);
        if( rc ) return rc;
      }
      iFirst = aEnd[g];
    }
  }
  return SQLITE_OK;
}

/*
** Run aggregate pDef over the selected rows, each with its own group.
*/
static int hpAggScattered(HpAgg *pAgg, HpFrame *p, const HpAggDef *pDef){
  const HpVec *pVec = pDef->iVec==HP_NO_VEC ? 0 : &p->aVec[pDef->iVec];
  const u16 *aRow = p->aSel;
  u8 **apGroup = pAgg->apGroup;
  int n = p->nSel;
  int ii, rc, bSkip;
  assert( pDef->bShared==0 && pAgg->pPlan->keys.n>0 );
  if( pDef->iFilter!=HP_NO_VEC || pDef->iSet>=0 ){
    rc = hpAggPart(pAgg, p, pDef, 0, apGroup, aRow, &n);
    if( rc ) return rc;
    aRow = pAgg->aPart;
    apGroup = pAgg->apPart;
  }
  switch( pDef->eAgg ){
    case HP_AGG_COUNT:
      for(ii=0; ii<n; ii++){
        int iIdx = pVec ? aRow[ii] & pVec->mIdx : 0;
        *(i64*)hpGroupState(pDef, apGroup[ii]) +=
            pDef->bWeigh ? pVec->aVal[iIdx].i
                         : pVec==0 || pVec->aTag[iIdx]!=HP_NULL;
      }
      break;
    case HP_AGG_SUM:
      hpSumScattered(pAgg, p, pDef->iOff, pVec, aRow, apGroup, n);
      break;
    case HP_AGG_CALL:
      for(ii=0; ii<n; ii++){
        rc = hpAggCallRow(p, pDef, hpGroupState(pDef, apGroup[ii]), aRow[ii]);
        if( rc ) return rc;
      }
      break;
    case HP_AGG_ORDER:
      for(ii=0; ii<n; ii++){
        if( ii+8<n ){
          hpPrefetch(((HpAggOrder*)hpGroupState(pDef, apGroup[ii+8]))->pFree);
        }
        rc = hpAggOrderAdd(&pAgg->runs, p, pDef,
                           hpGroupState(pDef, apGroup[ii]), aRow[ii]);
        if( rc ) return rc;
      }
      break;
    case HP_AGG_LOG:
      return hpAggLogRows(&pAgg->runs, p, pDef, aRow, apGroup, n);
    default:
      for(ii=0; ii<n; ii++){
        rc = hpAggBest(pAgg, p, pDef, hpGroupState(pDef, apGroup[ii]), aRow[ii],
                       &bSkip);
        if( rc==SQLITE_OK && pDef->bLoad && !bSkip ){
          rc = hpTableLoad(pAgg, p, apGroup[ii], aRow[ii]);
        }
        if( rc ) return rc;
      }
      break;
  }
  return SQLITE_OK;
}

/* Is -2^63 among the selected rows of pVec, as a real number? */
static int hpAggHasLowest(const HpFrame *p, const HpVec *pVec){
  int ii;
  if( (pVec->mType & HP_REAL)==0 ) return 0;
  for(ii=0; ii<p->nSel; ii++){
    int i = p->aSel[ii] & pVec->mIdx;
    if( pVec->aTag[i]==HP_REAL && pVec->aVal[i].r==-9223372036854775808.0 ) return 1;
  }
  return 0;
}

/*
** Are equal values all alike among the selected rows: keys, and in any order what min()
** and max() compare?  Columns of integers keep -2^63 as a real number.
*/
static int hpAggAlike(const HpFrame *p, const HpGroupPlan *pPlan){
  int k;
  for(k=0; k<pPlan->keys.n; k++){
    if( hpAggHasLowest(p, &p->aVec[pPlan->keys.aVec[k]]) ) return 0;
  }
  for(k=0; k<pPlan->nAgg && pPlan->bAnyOrder; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    if( (pDef->eAgg==HP_AGG_MIN || pDef->eAgg==HP_AGG_MAX)
     && hpAggHasLowest(p, &p->aVec[pDef->iVec])
    ){
      return 0;
    }
  }
  return 1;
}

/* HpAccumulator.xRows: all rows are of one group */
static int hpAggOneRows(HpAgg *pAgg, HpFrame *p){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  u8 *aGroup = hpHeldAt(&pAgg->runs, 0);
  int rc = SQLITE_OK;
  int k;
  assert( pAgg->runs.nEntry==1 );
  for(k=0; k<pPlan->nAgg && rc==SQLITE_OK; k++){
    if( pPlan->aAgg[k].bShared ) continue;
    rc = hpAggRange(pAgg, p, &pPlan->aAgg[k], aGroup, p->aSel, p->nSel);
  }
  return rc;
}
static const HpAccumulator hpAggOne = { hpAggOneRows, 0 };

/* Run all aggregates that are not in arrays, each row with its own group */
static int hpAggAll(HpAgg *pAgg, HpFrame *p){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int rc = SQLITE_OK;
  int k;
  for(k=0; k<p->nSel; k++){
    pAgg->apGroup[k] = hpHeldAt(&pAgg->runs, pAgg->aiGroup[k]);
  }
  for(k=0; k<pPlan->nAgg && rc==SQLITE_OK; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    if( pDef->bShared || hpTallyHas(pAgg, pDef) ) continue;
    rc = hpAggScattered(pAgg, p, pDef);
  }
  return rc;
}

/* HpAccumulator.xRows: to arrays, if they can take these rows */
static int hpAggBesideRows(HpAgg *pAgg, HpFrame *p){
  if( hpTallyRows(pAgg, p) && pAgg->nHot==0 ) return SQLITE_OK;
  return hpAggAll(pAgg, p);
}
static const HpAccumulator hpAggBeside = { hpAggBesideRows, hpTallySettle };

/*
** HpAccumulator.xRows: to states, of few groups in order of these.  No row
** belongs to a group before that of the first row if keys come in order.
*/
static int hpAggAlwaysRows(HpAgg *pAgg, HpFrame *p){
  u32 iFirst = pAgg->runs.bOrdered ? pAgg->aiGroup[0] : 0;
  u32 nGroup = pAgg->runs.nEntry-iFirst;
  if( nGroup<=HP_MX_ORDERED && (u32)p->nSel>=nGroup*HP_MIN_ORDERED ){
    return hpAggOrdered(pAgg, p, iFirst);
  }
  return hpAggAll(pAgg, p);
}
static const HpAccumulator hpAggAlways = { hpAggAlwaysRows, 0 };

/* HpAccumulator.xRows: the same, but perhaps arrays are better from now on */
static int hpAggStatesRows(HpAgg *pAgg, HpFrame *p){
  u32 iFirst = pAgg->runs.bOrdered ? pAgg->aiGroup[0] : 0;
  u32 nGroup = pAgg->runs.nEntry-iFirst;
  int eTally;
  if( nGroup<=HP_MX_ORDERED && (u32)p->nSel>=nGroup*HP_MIN_ORDERED ){
    return hpAggOrdered(pAgg, p, iFirst);
  }
  eTally = hpTallyBegin(pAgg, p, &hpAggBeside);
  if( eTally>0 ) return hpAggBesideRows(pAgg, p);
  if( eTally<0 ) pAgg->pAccum = &hpAggAlways;
  return hpAggAll(pAgg, p);
}
static const HpAccumulator hpAggStates = { hpAggStatesRows, 0 };

/*
** Worker p begins: HpWorker.pSink and HpWorker.pRuns.
*/
static int hpAggOpen(HpWorker *p){
  HpAgg *pAgg;
  int rc = hpTableOpen(&p->frame, p->pPlan->pGroup, &pAgg);
  p->pSink = pAgg;
  p->pRuns = pAgg ? &pAgg->runs : 0;
  if( rc ) return rc;
  hpAssignOpen(pAgg, 1);
  pAgg->pAccum = pAgg->pPlan->keys.n ? &hpAggStates : &hpAggOne;
  hpRareOpen(pAgg);
  return SQLITE_OK;
}

/*
** The selected rows have been added: is there memory for more groups?  If not
** those that there are go to a file.
*/
static int hpAggRoom(HpAgg *pAgg, const HpFrame *p){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int rc;
  if( pAgg->pAccum==&hpAggBeside && !hpHeldMay(&pAgg->runs, 0, HP_WISH) ){
    /* Rather no arrays than groups in a file */
    hpAggSettle(pAgg);
    pAgg->pAccum = &hpAggAlways;
  }
  if( pAgg->bFull || !hpHeldMay(&pAgg->runs, 0, HP_WISH) ){
    if( pPlan->keys.n==0 || pPlan->bOpaque || pPlan->nSet ) return hpDistinctFull(&pAgg->runs);
    rc = hpTableSpill(pAgg);
    return rc==SQLITE_OK && pAgg->runs.nMemRun ? hpRunsSpill(&pAgg->runs) : rc;
  }
  pAgg->nRow += p->nSel;
  return pAgg->pHolder->xBatch ? pAgg->pHolder->xBatch(pAgg, p) : SQLITE_OK;
}

/*
** Add the selected rows of the batch to their groups.
*/
static int hpAggStep(HpAgg *pAgg, HpFrame *p){
  const HpGroupPlan *pPlan = pAgg->pPlan;
  int rc, k;

  if( p->nSel==0 ) return SQLITE_OK;
  assert( pAgg->runs.pPlan==&pPlan->entry && pAgg->runs.pWorker==p->pWorker );
  assert( pPlan->entry.bRows==0 && (pPlan->keys.n>0 || pAgg->runs.nEntry==1) );
  for(k=0; k<pPlan->keys.n; k++) hpVecExact(p, &p->aVec[pPlan->keys.aVec[k]]);
  for(k=0; k<pPlan->nBare; k++) hpVecExact(p, &p->aVec[pPlan->aBare[k].iVec]);
  for(k=0; k<pPlan->nAgg; k++){
    const HpAggDef *pDef = &pPlan->aAgg[k];
    int i;
    if( pDef->iFilter!=HP_NO_VEC ) hpVecExact(p, &p->aVec[pDef->iFilter]);
    if( pDef->iVec!=HP_NO_VEC && (pDef->eAgg>=HP_AGG_MIN || pDef->iSet>=0) ){
      hpVecExact(p, &p->aVec[pDef->iVec]);
    }
    for(i=0; i<pDef->nArg; i++) hpVecExact(p, &p->aVec[pDef->aArg[i]]);
    for(i=0; i<pDef->nTerm; i++) hpVecExact(p, &p->aVec[pDef->aTerm[i].iVec]);
  }
  if( (pPlan->bAlike || pPlan->bAnyOrder) && !hpAggAlike(p, pPlan) ) return HP_DECLINE;
  rc = pAgg->pAssigner->xRows(pAgg, p);
  if( rc ) return rc;
  assert( pPlan->keys.n==0 || hpAssignIsRight(pAgg, p) );
  rc = pAgg->pAccum->xRows(pAgg, p);
  assert( hpTallyIsOn(pAgg)==(pAgg->pAccum==&hpAggBeside) );
  if( rc==SQLITE_OK ) rc = hpAggRoom(pAgg, p);
  if( rc==SQLITE_OK && p->db->mallocFailed ) rc = SQLITE_NOMEM;
  return rc;
}
#endif /* SQLITE_OMIT_HP */
