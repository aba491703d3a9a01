/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_found: places of the few rows that matter.
**
**    hpFoundOpen()      begin
**    hpFoundIsLarge()   is the table large enough to try?
**    hpFoundReserve()   room for more places
**    hpFoundPlace()     note the place of a row
**    hpFoundEnough()    after a batch: is there memory for more?
**    hpFoundRun()       a run of leaves is done: are there too many?
**    hpFoundKnows()     has the worker seen enough rows to say?
**    hpFoundMerge()     put together what the workers found
**    hpFoundClose()     free everything
**
** There are three ways to leave most rows out:
**
**    hp_top.c      ORDER BY ... LIMIT: the first N rows in the order of the
**                  ORDER BY terms; of equal rows those scanned first
**    hp_first.c    SELECT DISTINCT: a row whose values were not seen before
**    hp_rowids.c   WHERE: the rows that pass, piece by piece (hp_piece.c)
**
** Each is a sink whose structure begins with an HpFound.
**
** The executor computes no result.  It finds the rows that can matter, reading
** no more columns than it takes to tell, and then stock's own
** loop runs over these rows instead of all rows: WHERE terms, LIMIT, the
** sorter, the table of distinct rows, the result columns are all stock's.
** So what is found has to be a superset of the rows that matter, in scan
** order (of an index that SQLite searches: in that of its entries), and nothing more.
** hp_first.c uses this freedom: it takes values for equal only if their bytes are,
** whatever the collation.
**
**           Rewind -> Goto hp        the noted instruction
**    body:  ...                      stock: filter, sort, output
**           Next -> HpRow body       next row found; or as Next, if declined
**    end:   Goto skip
**    hp:    ...                      constants into registers
**           HpScan   P1=r P2=stock   find rows; on HP_DECLINE jump to stock
**           HpRow body               first row found
**           Goto halt                there is none: as Rewind jumps
**    stock: Rewind halt              the copy
**           Goto body
**    skip:
**
** What is kept of a row is its place in the b-tree: the number of the run of
** leaves, of the leaf in the run, and of the cell in the leaf (HP_PLACE).  As a
** number that is the order of the scan.  The cursor goes there by the numbers of
** the children on the way (hpSourceWays()), and compares no rowid: in a damaged
** file rowids may be out of order, and the rows that a scan sees are not those
** that a search finds.
**
** Each worker finds rows of its own, which are put together and in order of
** their places.  The scan may end early: when too many rows turn out to
** matter, or memory is short, no more runs are taken (HpPass.bEnd), what was
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
** integer) or where they have side effects: hpSafe().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** A row costs more if it is found first and visited by stock's loop
** afterwards, so a scan that finds too many is ended.  Not before so many rows, or
** one row of the table in so many, are scanned: that is what a wrong guess costs.
*/
#define HP_MIN_PROBE    4096
#define HP_PROBE_SHARE 32
#define HP_MIN_PROBED  256    /* Leaves of a table where a guess costs little */

#define HP_BOUND_OFF   16     /* Runs without HpBound where it left few out */

/*
** Find out what the filters say about a column near the front of the record:
** its comparisons with numbers.
*/
static void hpFoundBound(const HpWorker *p, HpBound *pBound){
  const HpProg *pProg = &p->pPlan->prog;
  int i;
  if( !hpZoneIsSafe(pProg) ) return;
  for(i=0; i<pProg->nFilter; i++){
    HpBound x;
    if( hpZoneOf(p, i, &x)<0 || x.bOn==0 ) continue;
    if( x.iStore<0 || x.iStore>HP_MX_BOUND ) continue;
    if( pBound->bOn==0 ){
      *pBound = x;
    }else if( pBound->iStore==x.iStore ){
      hpZoneNarrow(pBound, &x);
    }
  }
}

/*
** True if the table is large, as far as the first worker knows, or if that does
** not matter.
*/
static int hpFoundIsLarge(const HpFound *pFound){
  const HpPipe *pPipe = pFound->pWorker->pPipe;
  return pFound->bForce || pFound->pWorker!=pPipe->apWorker[0]
      || pPipe->pSource->nLeaf>=HP_MIN_PROBED;
}

/*
** Begin: nByte is the size of the structure that begins with the HpFound.
*/
static int hpFoundOpen(HpWorker *p, int nByte){
  HpFound *pFound = sqlite3_malloc64(nByte);
  assert( nByte>=(int)sizeof(HpFound) && p->pPipe->pCrew==0 );
  p->pSink = pFound;
  if( pFound==0 ) return HP_DECLINE;
  memset(pFound, 0, nByte);
  pFound->pWorker = p;
  pFound->pPlan = p->pPlan->pFind;
  pFound->iFound = -1;
  pFound->bForce = hpConfigOffload(p->pPipe->pQuery->db)==HP_OFFLOAD_FORCE;
  /* Where rowids have to be in order all rows are looked at */
  if( p->pPlan->source.bOrder==0 ) hpFoundBound(p, &pFound->bound);
  p->pRead->bound = pFound->bound;
  return SQLITE_OK;
}

/*
** Free what hpFoundOpen() made.  Harmless if it has not been called.
*/
static void hpFoundClose(HpWorker *p){
  HpFound *pFound = p->pSink;
  if( pFound ){
    hpArenaClear(&pFound->arena);
    sqlite3_free(pFound->aPlace);
    sqlite3_free(pFound->aWay);
    sqlite3_free(pFound);
    p->pSink = 0;
  }
}

/*
** Make room for n more places.
*/
static int hpFoundReserve(HpFound *pFound, i64 n){
  assert( n>=0 && pFound->nPlace<=pFound->nAlloc );
  if( pFound->nPlace+n>pFound->nAlloc ){
    i64 nNew = MAX(2*pFound->nAlloc, pFound->nPlace+n);
    i64 *aNew;
    sqlite3BeginBenignMalloc();
    aNew = sqlite3_realloc64(pFound->aPlace, sizeof(i64)*(u64)nNew);
    sqlite3EndBenignMalloc();
    if( aNew==0 ) return HP_DECLINE;
    pFound->aPlace = aNew;
    pFound->nAlloc = nNew;
  }
  return SQLITE_OK;
}

/*
** Note the place of row i of the batch: it is returned, or -1 if it has none.
** bAll: see hpPlaceOf().
*/
static i64 hpFoundPlace(HpFound *pFound, int i, int bAll){
  i64 iPlace = hpPlaceOf(pFound->pWorker, i, pFound->iFound, bAll);
  assert( iPlace<0 || iPlace>pFound->iFound );
  if( iPlace>=0 ) pFound->iFound = iPlace;
  return iPlace;
}

/*
** After a batch: if there is no memory for more, stock goes on from here.
*/
static void hpFoundEnough(const HpFound *pFound){
  HpWorker *p = pFound->pWorker;
  hpBudgetHold(p, pFound->arena.nTotal + pFound->nTable
                  + pFound->nAlloc*(i64)sizeof(i64));
  if( !hpBudgetMay(p, 0, HP_WISH) ) AtomicStore(&p->pPipe->pass.bEnd, 1);
}

/*
** Has this worker scanned enough rows to judge?
*/
static int hpFoundKnows(const HpFound *pFound){
  const HpWorker *p = pFound->pWorker;
  i64 nProbe = MAX(HP_MIN_PROBE, pFound->nTableRow/HP_PROBE_SHARE);
  return (i64)p->nScanned*p->pPipe->nWorker>=nProbe;
}

/*
** For tests: does the search end with the run that worker p has done, as if too
** many rows had been found?  One run in HpConfig.nEnd says so.
*/
static int hpFoundEndsHere(const HpWorker *p){
  int nEnd = p->pCfg->nEnd;
  return nEnd>0 && hpHashMix((u64)p->pRead->run.iSeq+(u64)nEnd)%(u64)nEnd==0;
}

/*
** The worker has done a run.  xMany says whether it finds too many rows, of nRow
** rows in this run; then the scan ends here.
*/
static void hpFoundRun(
  HpWorker *p,
  int (*xMany)(const HpFound *pFound, i64 nRow)
){
  HpFound *pFound = p->pSink;
  i64 nRow = (i64)(p->nScanned-pFound->nScanned);
  i64 nSkip = (i64)(p->pRead->nSkipped-pFound->nSkipped);
  assert( nRow>=0 && nSkip>=0 && nSkip<=nRow );
  if( nRow==0 ) return;
  if( pFound->pPlan->bByRowid ){
    pFound->iLast = p->pRead->run.aHigh[p->pRead->run.nPage-1];
  }else{
    assert( pFound->bLast==0 || pFound->iLast<hpPlaceLast(p) );
    pFound->iLast = hpPlaceLast(p);
  }
  pFound->bLast = 1;
  assert( pFound->pPlan->bByRowid || pFound->iFound<=pFound->iLast );
  pFound->nLeaf += p->pRead->run.nPage;
  if( pFound->nTableRow==0 ){
    pFound->nTableRow = nRow*p->pPipe->pSource->nLeaf/p->pRead->run.nPage;
    pFound->rFirst = (double)pFound->nPlace/(double)nRow;
  }
  if( (pFound->bForce==0 && xMany(pFound, nRow)) || hpFoundEndsHere(p) ){
    AtomicStore(&p->pPipe->pass.bEnd, 1);
  }
  /* Is it worth to look at the bytes of a record first? */
  if( pFound->nBoundOff>0 ){
    if( --pFound->nBoundOff==0 ) p->pRead->bound = pFound->bound;
  }else if( p->pRead->bound.bOn && 2*nSkip<nRow ){
    p->pRead->bound.bOn = 0;
    pFound->nBoundOff = HP_BOUND_OFF;
  }
  pFound->nScanned = p->nScanned;
  pFound->nSkipped = p->pRead->nSkipped;
  pFound->nBefore = pFound->nPlace;
}

/*
** Put places in order: a heap sort.
*/
static void hpFoundSort(i64 *a, i64 n){
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

#ifdef SQLITE_DEBUG
/* Are the places in scan order, no row twice, and in the runs that were taken? */
static int hpFoundIsSorted(const HpFound *pFound){
  i64 i;
  for(i=1; i<pFound->nPlace; i++){
    if( pFound->aPlace[i]<=pFound->aPlace[i-1] ) return 0;
  }
  return pFound->nPlace==0 || pFound->aPlace[0]>=0 || pFound->pPlan->bByRowid;
}
#endif

/*
** The scan is over: put the places that the workers found together, in scan
** order, in the first worker's list.
*/
static int hpFoundMerge(HpPipe *p){
  HpFound *pOut = p->apWorker[0]->pSink;
  i64 a, b, k;
  int i;
  assert( p->pCrew==0 && p->nWorker>0 );
  for(i=1; i<p->nWorker; i++){
    HpFound *pIn = p->apWorker[i]->pSink;
    assert( pIn->pPlan==pOut->pPlan && pIn->nPlace<=pIn->nAlloc );
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
  if( pOut->pPlan->nTie==0 ){
    hpFoundSort(pOut->aPlace, pOut->nPlace);
    assert( hpFoundIsSorted(pOut) );
  }
  if( pOut->pPlan->bByRowid==0 ){
    pOut->nLevel = hpSourceWays(p->pSource, &pOut->aWay);
  }
  pOut->iPgFound = 0;
  hpArenaClear(&pOut->arena);
  for(i=1; i<p->nWorker; i++) p->pPlan->pSink->xClose(p->apWorker[i]);
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
