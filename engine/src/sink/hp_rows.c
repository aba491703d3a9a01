/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_rows: queries that need few of the rows that they scan.
**
**    hpRowsOpen()           begin to look for rows
**    hpRowsStep()           look at the selected rows of a batch
**    hpRowsRun()            a run of leaves is done
**    hpRowsMerge()          put together what the workers found
**    hpRowsClose()          free everything
**
** There are three ways to leave most rows out:
**
**    HP_SINK_TOP     ORDER BY ... LIMIT: the first N rows in the order of
**                    the ORDER BY terms; of equal rows those scanned first
**    HP_SINK_FIRST   SELECT DISTINCT: a row whose values were not seen before
**    HP_SINK_ROWS    WHERE, and something that takes all rows in one step (a
**                    sorter, a table of results, INSERT): the rows that pass
**
** The executor computes no result.  It finds the rows that can matter, reading
** no more columns than it takes to tell, and then stock's own
** loop runs over these rows instead of all rows: WHERE terms, LIMIT, the
** sorter, the table of distinct rows, the result columns are all stock's.
** So what is found has to be a superset of the rows that matter, in scan
** order, and nothing more.  HP_SINK_FIRST uses this freedom: it takes values
** for equal only if their bytes are, whatever the collation.
**
**           Rewind -> Goto hp        the noted instruction
**    body:  ...                      stock: filter, sort, output
**           Next -> HpRow body       next row found; or as Next, if declined
**    end:   Goto skip
**    hp:    ...                      constants into registers
**           HpScan  P1=r P2=stock    find rows; on HP_DECLINE jump to stock
**           HpRow body               first row found
**           Goto halt                there is none: as Rewind jumps
**    stock: Rewind halt              the copy
**           Goto body
**    skip:
**
** What is kept of a row is its place in the b-tree: the number of the run of
** leaves, of the leaf in the run, and of the cell in the leaf.  As a number that
** is the order of the scan.  The cursor goes there by the numbers of the children
** on the way (hpSourceWays()), and compares no rowid: in a damaged file rowids
** may be out of order, and the rows that a scan sees are not those that a search
** finds.
**
** Each worker finds rows of its own, which are put together and in order of
** their places.  The scan may end early: when too many rows turn out to
** matter, or memory is short, no more runs are taken (HpScan.bEnd), what was
** found so far is delivered, and stock's loop goes on at the row that was
** scanned last.  Runs are taken in order, so that is one place.  So little is
** lost by trying, and memory is bounded.
**
** SELECT DISTINCT without ORDER BY returns rows to the application, which may
** write to the table before it asks for the next one; an INSERT that takes rows
** may do so through a foreign key.  A write saves the positions of all cursors
** of a b-tree; OP_HpRow sees that its cursor was, forgets what was found and
** goes on as OP_Next does.
**
** A row that is left out is not seen by the expressions of the result.
** That makes a difference where they raise errors (abs() of the smallest
** integer) or where they have side effects: hpCompileSafe().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Largest LIMIT plus OFFSET.  So many rows are kept with their keys. */
#define HP_MX_TOP      100000

/*
** A row costs more if it is found first and visited by stock's loop
** afterwards, so a scan that finds too many is ended: see hpRowsTooMany().  Not
** before so many rows, or one row of the table in so many, are scanned: that
** is what a wrong guess costs.
*/
#define HP_MN_PROBE    4096
#define HP_PROBE_SHARE 32
#define HP_MIN_PROBED  256    /* Leaves of a table where a guess costs little */
#define HP_TOP_SHARE   60     /* LIMIT is small if below one row in so many */
#define HP_FIRST_SHARE 6      /* Few rows are distinct: one in so many */

/* About what it costs stock to go to a row found, and to fetch another leaf,
** and what it saves not to filter a row and not to fetch a leaf: nanoseconds */
#define HP_NS_SEEK     150
#define HP_NS_FETCH    1200
#define HP_NS_ROW      12
#define HP_NS_LEAF     400
#define HP_BOUND_OFF   16     /* Runs without HpBound where it left few out */

/*
** Find out what the filters say about a column near the front of the record:
** its comparisons with numbers.
**
** Integers below 2^52 compare with integers and reals as doubles do, whichever
** way a column of REAL affinity stores them.
*/
static void hpRowsBound(const HpExec *p, HpBound *pBound){
  const HpProg *pProg = &p->pPlan->prog;
  int i, k;
  for(i=0; i<pProg->nOp; i++){
    if( pProg->aOp[i].eOp==HP_OP_FUNC ) return;  /* May fail: for all rows */
  }
  for(i=0; i<pProg->nFilter; i++){
    const HpOp *pOp = 0;
    const HpVec *pVec;
    double r;
    i64 x;
    int iStore = -1;
    for(k=0; k<pProg->nOp; k++){
      if( pProg->aOp[k].iOut==pProg->aFilter[i].iVec ) pOp = &pProg->aOp[k];
    }
    if( pOp==0 || pOp->eOp!=HP_OP_COMPARE ) continue;
    for(k=0; k<pProg->nOp; k++){
      const HpOp *pA = &pProg->aOp[k];
      if( pA->eOp==HP_OP_COLUMN && pA->iOut==pOp->a ){
        iStore = p->pPlan->aCol[pA->a].iStore;
      }
    }
    if( iStore<0 || iStore>HP_MX_BOUND ) continue;
    if( pBound->bOn && pBound->iStore!=iStore ) continue;
    pVec = &p->aVec[pOp->b];
    if( pVec->mIdx!=0 ) continue;
    if( pVec->aTag[0]==HP_INT ){
      x = pVec->aVal[0].i;
      r = (double)x;
    }else if( pVec->aTag[0]==HP_REAL ){
      r = pVec->aVal[0].r;
      x = fabs(r)<HP_MX_FLOAT ? (i64)r : 0;  /* To zero: never too narrow */
    }else{
      continue;
    }
    if( !(fabs(r)<HP_MX_FLOAT) ) continue;
    if( pBound->bOn==0 ){
      pBound->bOn = 1;
      pBound->iStore = iStore;
      pBound->bNull = 0;
      pBound->iMin = SMALLEST_INT64;
      pBound->iMax = LARGEST_INT64;
      pBound->rMin = -INFINITY;
      pBound->rMax = INFINITY;
    }
    if( pOp->op==TK_EQ || pOp->op==TK_GT || pOp->op==TK_GE ){
      pBound->iMin = MAX(pBound->iMin, x);
      pBound->rMin = MAX(pBound->rMin, r);
    }
    if( pOp->op==TK_EQ || pOp->op==TK_LT || pOp->op==TK_LE ){
      pBound->iMax = MIN(pBound->iMax, x);
      pBound->rMax = MIN(pBound->rMax, r);
    }
    if( pOp->op==TK_IS || pOp->op==TK_ISNOT ) pBound->bNull = 1;
  }
}

/*
** Is the table large enough?
*/
static int hpRowsIsLarge(const HpExec *p, const HpRows *pRows){
  const HpSource *pSource = p->pScan->pSource;
  if( pRows->bForce || p!=p->pScan->apWorker[0] ) return 1;
  if( p->pPlan->eSink==HP_SINK_TOP ){
    return pRows->mxTop<=pSource->nLeaf*hpSourceRowsOnLeaf(pSource)/HP_TOP_SHARE;
  }
  return pSource->nLeaf>=HP_MIN_PROBED;
}

/*
** Begin.  aMem[] are the registers.
*/
static int hpRowsOpen(HpExec *p, Mem *aMem){
  const HpPlan *pPlan = p->pPlan;
  int n = p->batch.nAlloc;
  HpRows *pRows = sqlite3_malloc64(sizeof(*pRows));
  if( pRows==0 ) return HP_DECLINE;
  memset(pRows, 0, sizeof(*pRows));
  p->pRows = pRows;
  pRows->bForce = hpOffload(p->pScan->db)==HP_OFFLOAD_FORCE;
  hpRowsBound(p, &pRows->bound);
  p->bound = pRows->bound;
  if( pPlan->eSink==HP_SINK_TOP ){
    const Mem *pLimit = &aMem[pPlan->iLimitReg];
    if( (pLimit->flags & MEM_Int)==0 ) return HP_DECLINE;
    pRows->mxTop = pLimit->u.i;
    if( pRows->mxTop<=0 || pRows->mxTop>HP_MX_TOP ) return HP_DECLINE;
    if( !hpRowsIsLarge(p, pRows) ){
      p->pScan->bSmall = 1;
      return HP_DECLINE;
    }
    pRows->aCand = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
    pRows->apTop = hpArenaAlloc(&pRows->arena, sizeof(u8*)*pRows->mxTop);
    if( pRows->aCand==0 || pRows->apTop==0 ) return HP_DECLINE;
    return SQLITE_OK;
  }
  if( !hpRowsIsLarge(p, pRows) ){
    p->pScan->bSmall = 1;
    return HP_DECLINE;
  }
  if( pPlan->eSink==HP_SINK_FIRST ){
    pRows->aHash = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)n);
    pRows->mSlot = 1023;
    pRows->nTable = 2*sizeof(u32)*((i64)pRows->mSlot+1);
    pRows->aSlot = sqlite3_malloc64(pRows->nTable);
    if( pRows->aHash==0 || pRows->aSlot==0 ) return HP_DECLINE;
    memset(pRows->aSlot, 0, pRows->nTable);
  }
  return SQLITE_OK;
}

static void hpRowsClose(HpRows *pRows){
  if( pRows ){
    hpArenaClear(&pRows->arena);
    sqlite3_free(pRows->aPlace);
    sqlite3_free(pRows->aWay);
    sqlite3_free(pRows->aSlot);
    sqlite3_free(pRows->aKey);
    sqlite3_free(pRows);
  }
}

/*
** Take what matters of the selected rows of a batch.
*/
static int hpRowsStep(HpExec *p){
  HpRows *pRows = p->pRows;
  int ii, rc;
  switch( p->pPlan->eSink ){
    case HP_SINK_TOP:
      rc = hpTopStep(p);
      break;
    case HP_SINK_FIRST:
      rc = hpFirstStep(p);
      break;
    default:
      assert( p->pPlan->eSink==HP_SINK_ROWS );
      rc = hpFoundReserve(pRows, p->nSel);
      if( rc ) return rc;
      for(ii=0; ii<p->nSel; ii++){
        pRows->aPlace[pRows->nPlace] = hpFoundPlace(p, p->aSel[ii], 0);
        if( pRows->aPlace[pRows->nPlace++]<0 ) return HP_DECLINE;
      }
      break;
  }
  if( hpFoundMemory(pRows)>p->nMemory ) AtomicStore(&p->pScan->bEnd, 1);
  return rc;
}

/*
** The place of the last row of the run.
*/
static i64 hpRowsLast(const HpExec *p){
  const HpRun *pRun = &p->run;
  int iLeaf = pRun->nPage-1;
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  return HP_FOUND(pRun->iSeq, iLeaf, get2byte(&aPage[pRun->iHdr+3])-1);
}

/*
** True if nFound rows of nRow rows on nLeaf leaves are too many to be worth it.
*/
static int hpRowsIsMany(i64 nFound, i64 nRow, i64 nLeaf){
  return nFound*HP_NS_SEEK + MIN(nFound, nLeaf)*HP_NS_FETCH
            > nRow*HP_NS_ROW + nLeaf*HP_NS_LEAF;
}

/*
** After a run in which nRow rows were scanned: does this worker find too many
** rows?
**
** Distinct values that come at random from a set of some size become rare, and
** each row left out saves a search in a b-tree of distinct rows; so go on if
** they do.  Where a new value comes every few rows the b-tree is searched at
** its end, which is cheap.
*/
static int hpRowsTooMany(HpExec *p, i64 nRow){
  HpRows *pRows = p->pRows;
  i64 nProbe = MAX(HP_MN_PROBE, pRows->nTableRow/HP_PROBE_SHARE);
  i64 nFound = pRows->nPlace - pRows->nFound;
  double r = (double)nFound/(double)nRow;
  if( pRows->nScanned==0 ) pRows->rFirst = r;
  if( pRows->bForce ) return 0;
  if( p->pPlan->eSink==HP_SINK_TOP ){
    /* As many as LIMIT says: known after the first run */
    return pRows->nScanned==0 && pRows->mxTop>pRows->nTableRow/HP_TOP_SHARE;
  }
  if( (i64)p->nScanned*p->pScan->nWorker<nProbe ) return 0;
  if( p->pPlan->eSink==HP_SINK_FIRST ){
    return r*HP_FIRST_SHARE>1.0 && r>pRows->rFirst*0.75;
  }
  return hpRowsIsMany(nFound, nRow, p->run.nPage)
      && hpRowsIsMany(pRows->nPlace, p->nScanned, pRows->nLeaf);
}

/*
** The worker has done a run.
*/
static void hpRowsRun(HpExec *p){
  HpRows *pRows = p->pRows;
  i64 nRow = (i64)(p->nScanned-pRows->nScanned);
  i64 nSkip = (i64)(p->nSkipped-pRows->nSkipped);
  if( nRow==0 ) return;
  pRows->iLast = hpRowsLast(p);
  pRows->bLast = 1;
  pRows->nLeaf += p->run.nPage;
  if( pRows->nTableRow==0 ){
    pRows->nTableRow = nRow*p->pScan->pSource->nLeaf/p->run.nPage;
  }
  if( hpRowsTooMany(p, nRow) ) AtomicStore(&p->pScan->bEnd, 1);
  /* Is it worth to look at the bytes of a record first? */
  if( pRows->nBoundOff>0 ){
    if( --pRows->nBoundOff==0 ) p->bound = pRows->bound;
  }else if( p->bound.bOn && 2*nSkip<nRow ){
    p->bound.bOn = 0;
    pRows->nBoundOff = HP_BOUND_OFF;
  }
  pRows->nScanned = p->nScanned;
  pRows->nSkipped = p->nSkipped;
  pRows->nFound = pRows->nPlace;
}

/*
** Put places in order: a heap sort.
*/
static void hpRowsSort(i64 *a, i64 n){
  i64 i, j, k;
  for(i=1; i<n && a[i-1]<a[i]; i++){}
  if( i>=n ) return;
  for(i=n/2; n>1; ){
    i64 x;
    if( i>0 ){
      x = a[--i];
    }else{
      x = a[--n];
      a[n] = a[0];
    }
    for(j=i; (k = 2*j+1)<n; j=k){
      if( k+1<n && a[k+1]>a[k] ) k++;
      if( x>=a[k] ) break;
      a[j] = a[k];
    }
    a[j] = x;
  }
}

/*
** The scan is over: put what the workers found together, in scan order.
*/
static int hpRowsMerge(HpScan *p){
  HpRows *pOut = p->apWorker[0]->pRows;
  i64 a, b, k;
  int i;
  for(i=1; i<p->nWorker; i++){
    HpRows *pIn = p->apWorker[i]->pRows;
    for(k=0; k<pIn->nTop; k++){
      if( pOut->nTop<pOut->mxTop ){
        hpTopUp(p->pPlan, pOut, pIn->apTop[k]);
      }else if( hpTopCompare(p->pPlan, pIn->apTop[k], pOut->apTop[0])<0 ){
        hpTopDown(p->pPlan, pOut, pIn->apTop[k]);
      }
    }
    if( hpFoundReserve(pOut, pIn->nPlace) ) return HP_DECLINE;
    /* Both are in order: put them together from the end */
    a = pOut->nPlace-1;
    b = pIn->nPlace-1;
    pOut->nPlace += pIn->nPlace;
    for(k=pOut->nPlace-1; b>=0; k--){
      if( a>=0 && pOut->aPlace[a]>pIn->aPlace[b] ){
        pOut->aPlace[k] = pOut->aPlace[a--];
      }else{
        pOut->aPlace[k] = pIn->aPlace[b--];
      }
    }
    if( pIn->bLast && (pOut->bLast==0 || pIn->iLast>pOut->iLast) ){
      pOut->iLast = pIn->iLast;
      pOut->bLast = 1;
    }
  }
  if( hpFoundReserve(pOut, pOut->nTop) ) return HP_DECLINE;
  for(k=0; k<pOut->nTop; k++){
    pOut->aPlace[pOut->nPlace++] = hpTopPlace(pOut->apTop[k]);
  }
  hpRowsSort(pOut->aPlace, pOut->nPlace);
  pOut->nLevel = hpSourceWays(p->pSource, &pOut->aWay);
  pOut->iPgFound = 0;
  for(i=1; i<p->nWorker; i++){
    hpRowsClose(p->apWorker[i]->pRows);
    p->apWorker[i]->pRows = 0;
  }
  hpArenaClear(&pOut->arena);
  sqlite3_free(pOut->aSlot);
  sqlite3_free(pOut->aKey);
  pOut->aSlot = 0;
  pOut->aKey = 0;
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
