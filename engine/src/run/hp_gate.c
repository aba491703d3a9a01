/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_gate: is a join worth it, before it runs, and how is it run?  Is a scan
** better than a search?
**
**    hpGateJoin()      yes or no, and which rows are put aside
**    hpGateSearch()    a scan of a table, or SQLite's search of an index?
**    hpGateFind()      how long does it take to make groups of all rows?
**    hpGateLook()      does a loop that is led from row to row look rows up?
**    hpGateLost()      it was not: it declined late
**
** The costs of the operators of a join are added up, ours and SQLite's side by
** side (HpGateCost): the scan and what is kept of each input, the loop over the
** driving table, sub-selects that run for each of its rows.
**
** A join reads all of each table.  SQLite's nested loops read all of the root,
** too, but look up only what belongs to rows that pass the filters on it.  So
** where few rows pass and the other tables are large, they read less.  No
** statistics are needed to tell: the leaves of a b-tree are known from two
** descents, the rows of a leaf from the first one, and the share of rows that
** pass from a sample of the root's leaves, on which the root's own filters are
** run.  A sample is taken only where the answer depends on it, and where it costs
** little in comparison.
**
** Where few rows pass the own filters of a table, they may be put aside first,
** so that of the tables that they look up only what they look up is kept
** (hp_stash.c).  That is the better the more rows those have.
**
** With another root than stock's outermost loop (HpPlan.nStock) nothing is
** known of what stock reads but what the planner says, if it has statistics.
** Indexed look-ups it takes for cheaper than they are, and filters of several
** tables for less selective: its cost has to be HP_GATE_GUESS times ours, or
** twice as much where tables are so small that look-ups are as cheap as that.
** If the table of stock's outermost loop has no statistics, and fewer rows than
** the planner takes it to have, it costs so much less.  (TPC-H with ANALYZE: it
** said 0.07 to 5.5 times what stock took.)
**
** Where stock searches an index of the table that we scan, and looks its rows
** up, their number is that of the entries between the bounds, which the same
** two descents tell.
**
** A correlated sub-select SQLite's loops would run for each row that gets
** there, until hp_find.c makes groups of it: that is a scan of its table for
** each row.  But that of an EXISTS ends with the first partner.  So the keys of
** the first leaves of its table are looked up by the rows of a sample: one
** without a partner there goes on at least.
**
** A WHERE clause with a constant term is sampled, too: if that is false SQLite
** reads nothing at all.
**
** All this is a guess, which may be wrong by a factor of two or three.  So only
** where ours seems to be better by far it is run at once.  Otherwise SQLite
** begins, and is given up when its loops are seen to take longer (hp_race.c).
** That is so for each join whose root is not stock's outermost loop.
**
** Costs are in nanoseconds of one processor of 2020 or later, from a file in
** the operating system's cache whose tables have grown together: leaf after
** leaf is read by itself.  Only their proportions matter.
**
** What cannot be known is whether a join will decline late, because of a key
** that is there twice, of types, or of memory.  Then SQLite's code begins
** again, and the next executions of the statement are left to it: one, then
** three, seven, ...
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What ours takes, in nanoseconds: for a page of HP_GATE_BYTES, for a row */
#define HP_GATE_LEAF     800   /* Read a page */
#define HP_GATE_FIRST   1000   /* Number of pages that go into fresh memory, and
                               ** take twice that */
#define HP_GATE_SCAN      15   /* Cut, filter and look up a row */
#define HP_GATE_BUILD     30   /* Keep a row in a hash table */
#define HP_GATE_COLUMN    20   /* Keep another column of it */
#define HP_GATE_GROUP    100   /* Add a row to one of many groups */
#define HP_GATE_FIND      30   /* See by HP_WANT_KEY that a row is not wanted */
#define HP_GATE_BIT        8   /* See that by HP_WANT_NUMBER */
#define HP_GATE_STASH    200   /* Put a row aside, and take it up twice */
#define HP_GATE_SIFT     800   /* Read a page most of whose rows are left out */
#define HP_GATE_PASS      10   /* Filter a row by a column of an index */
#define HP_GATE_PIPE   50000   /* Begin a pipe: memory and threads */
#define HP_GATE_BYTES   4096
#define HP_GATE_KEPT       5   /* A scan of columns in memory is so many times
                               ** as fast as one of leaves; they may not be
                               ** there after all */
#define HP_GATE_WORKER   0.75  /* Share of a worker that another one adds */

/* What SQLite takes */
#define HP_GATE_PAGE     500   /* Read a page of HP_GATE_BYTES */
#define HP_GATE_ROW       90   /* Visit a row of the driving table */
#define HP_GATE_NEAR     150   /* Look up a row beside the one before */
#define HP_GATE_SEEK     500   /* Find a row of another table by rowid */
#define HP_GATE_INDEX   1500   /* Find it by an index */
#define HP_GATE_READ    1000   /* Read two pages for that, if the table has more
                               ** than HP_GATE_CACHE: its page cache's */
#define HP_GATE_CACHE    500
#define HP_GATE_UNIT      20   /* The planner's unit of cost: about a step in a
                               ** b-tree */
#define HP_GATE_LONG 100000000 /* From this on look-ups miss its page cache */

/* Rows are put aside if that saves this at least, or in the hope that one in
** HP_GATE_FEW passes */
#define HP_GATE_SAVING 2000000
#define HP_GATE_FEW        8

/* Ours must be so many times as fast: in percent where SQLite's time is known;
** where only the planner's cost is; where SQLite's loops can begin and be given
** up; and where they cannot */
#define HP_GATE_MARGIN   130
#define HP_GATE_GUESS      2
#define HP_GATE_SURE       4
#define HP_GATE_BLIND      2
/* SQLite's loops are not given up if they seem to be so many times as fast */
#define HP_GATE_HOPELESS   4

#define HP_GATE_SAMPLE    24   /* Leaves of a sample */
#define HP_GATE_PROBE    128   /* Leaves of one where an EXISTS begins */
#define HP_GATE_WORTH 5000000  /* SQLite needs this at least, or no sample is
                               ** taken */

#define HP_GATE_ALL  ((i64)1<<40)  /* For tests: put all rows aside */
#define HP_GATE_MX_SKIP   63   /* Most executions left to SQLite */

/* What a sample counts: rows that pass */
static int hpGateOpen(HpWorker *p, Mem *aMem){
  i64 *pnPass = hpArenaAlloc(&p->vec, sizeof(i64));
  UNUSED_PARAMETER(aMem);
  p->pSink = pnPass;
  if( pnPass==0 ) return HP_DECLINE;
  *pnPass = 0;
  return SQLITE_OK;
}
static int hpGateRows(HpWorker *p, HpFrame *pFrame){
  assert( p->pPipe->nWorker==1 && p->pPipe->portion.nSample>0 );
  *(i64*)p->pSink += pFrame->nSel;
  return SQLITE_OK;
}
static const HpSinkType hpGateSink = {
  0, hpGateOpen, 0, hpGateRows, 0, 0, 0, 0, HP_RECORDS_NOT
};

/*
** Run pPlan on a sample of its leaves, about nLeaf of them; bFirst: the first
** ones.  The pipe is to be closed.
*/
static int hpGatePipe(
  HpQuery *p,
  const HpPipePlan *pPlan,
  int nLeaf,
  int bFirst,
  Mem *aMem
){
  int rc = hpPipeNew(p, pPlan);
  if( rc ) return rc;
  assert( nLeaf>0 );
  p->pPipe->portion.nSample = nLeaf;
  p->pPipe->portion.bFirst = (u8)bFirst;
  return hpPipeRun(p->pPipe, aMem, 1);
}

/*
** Run the own filters of a pipe on a sample of its leaves.  Set *prShare to the
** share of rows that pass.
*/
static int hpGateSample(
  HpQuery *p,
  const HpPipePlan *pPipe,
  Mem *aMem,
  double *prShare
){
  HpPipePlan x = *pPipe;
  int rc;
  assert( p->pPipe==0 && x.nOwn<=x.prog.nFilter );
  *prShare = 1;
  if( x.nOwn==0 ) return SQLITE_OK;
  x.pSink = &hpGateSink;
  x.prog.nFilter = x.nOwn;
  x.prog.nOp = x.prog.aFilter[x.nOwn-1].nOp;
  x.prog.nRange = 0;
  rc = hpGatePipe(p, &x, HP_GATE_SAMPLE, 0, aMem);
  if( rc==SQLITE_OK && p->pPipe->pass.nScanned>0 ){
    *prShare = (double)*(i64*)p->pPipe->apWorker[0]->pSink
             / (double)p->pPipe->pass.nScanned;
  }
  hpPipeClose(p);
  assert( *prShare>=0 && *prShare<=1 );
  return rc;
}

/*
** Pipe i, an EXISTS, is what SQLite would scan for each row of the root that
** passes its own filters.  Their share is *prShare; if that is negative it is
** found out.  Set *prRow to a number of rows that it would go through at least
** for one of them: those of the first leaves, if the partner is not there.  0:
** that cannot be told.
*/
static int hpGateProbe(
  HpQuery *p,
  const HpPlan *pPlan,
  int i,
  Mem *aMem,
  double *prShare,
  double *prRow
){
  const HpPipePlan *pRoot = hpPlanLast(pPlan);
  HpPipePlan x = pPlan->aPipe[i];
  HpPipePlan y = *pRoot;
  int iRel = x.pProbe->iRel;
  i64 nByte = p->nHeld;
  double rFound = 0;
  u64 nFirst = 0;
  int k, rc;
  *prRow = 0;
  assert( iRel>=0 && iRel<p->nRel && i<pPlan->nPipe-1 );
  if( x.iAround!=pPlan->nPipe-1 ) return SQLITE_OK;
  for(k=0; k<y.prog.nOp; k++){
    const HpOp *pOp = &y.prog.aOp[k];
    if( pOp->iSide ) return SQLITE_OK;
    if( pOp->eOp==HP_OP_LOOKUP && pOp->a==iRel ) break;
    if( pOp->eOp==HP_OP_ROW || pOp->eOp==HP_OP_GATHER ) return SQLITE_OK;
  }
  if( k==y.prog.nOp ) return SQLITE_OK;
  assert( p->pPipe==0 && p->apRel[iRel]==0 );
  y.prog.aFilter = hpArenaAlloc(&p->arena,
                                sizeof(struct HpFilter)*((i64)y.nOwn+1));
  if( y.prog.aFilter==0 ) return HP_DECLINE;
  y.prog.aFilter[y.nOwn].iVec = y.prog.aOp[k].iOut;
  if( y.nOwn ){
    memcpy(y.prog.aFilter, pRoot->prog.aFilter,
           sizeof(struct HpFilter)*(size_t)y.nOwn);
    k = MAX(k, y.prog.aFilter[y.nOwn-1].nOp-1);
  }
  y.prog.aFilter[y.nOwn].nOp = (u16)(k+1);
  y.nOwn++;
  x.pSink = &hpSinkRel;
  x.pRel = x.pProbe;
  x.pGroup = 0;
  rc = hpGatePipe(p, &x, HP_GATE_PROBE, 1, aMem);
  if( rc==SQLITE_OK ) nFirst = p->pPipe->pass.nScanned;
  hpPipeClose(p);
  if( rc==SQLITE_OK && *prShare<0 ) rc = hpGateSample(p, pRoot, aMem, prShare);
  if( rc==SQLITE_OK ) rc = hpGateSample(p, &y, aMem, &rFound);
  assert( p->pPipe==0 );
  if( rc==SQLITE_OK && *prShare>rFound ){
    *prRow = (double)nFirst*(*prShare-rFound) / *prShare;
  }
  hpRelFree(p->apRel[iRel]);
  p->apRel[iRel] = 0;
  p->nHeld = nByte;
  return rc;
}

/* What is known of the size of a pipe's table */
typedef struct HpGateSize HpGateSize;
struct HpGateSize {
  i64 nRow;              /* About so many rows */
  double rPage;          /* ... on so many pages of HP_GATE_BYTES, if leaves */
  i64 nLeaf;             /* Leaves */
};

/* Set *pSize to the size of the b-tree of pSource.  Constants are in aMem[]. */
static int hpGateSizeOf(
  sqlite3 *db,
  const HpSourcePlan *pSource,
  Mem *aMem,
  HpGateSize *pSize
){
  int rc = hpSizeOfPlan(db, pSource, aMem, &pSize->nLeaf, &pSize->nRow);
  pSize->rPage = 0;
  if( rc ) return rc;
  assert( pSize->nLeaf>=0 && pSize->nRow>=0 );
  pSize->rPage = (double)pSize->nLeaf/HP_GATE_BYTES
      * sqlite3BtreeGetPageSize(db->aDb[pSource->iDb].pBt);
  return SQLITE_OK;
}

/* The work of nWorker workers is done in this part of the time that one takes:
** they share memory, and other processes work, too */
static double hpGateShare(int nWorker){
  assert( nWorker>=1 && nWorker<=HP_MX_THREAD );
  return 1/(1 + HP_GATE_WORKER*(MIN(nWorker, 4)-1));
}

/* Our time of reading a table and testing its rows */
static double hpGateScan(const HpGateSize *pSize){
  return (pSize->rPage + MIN(pSize->rPage, HP_GATE_FIRST))*HP_GATE_LEAF
            + (double)pSize->nRow*HP_GATE_SCAN;
}

/* The same where an index would lead SQLite to rFound of the rows, and we
** leave the others out */
static double hpGateSift(const HpGateSize *pSize, double rFound){
  assert( rFound>=0 && pSize->rPage>=0 );
  return (pSize->rPage + MIN(pSize->rPage, HP_GATE_FIRST))*HP_GATE_SIFT
            + (double)pSize->nRow*HP_GATE_PASS + rFound*HP_GATE_SCAN;
}

/* The time of keeping a row in the relation of pPipe, or in its groups */
static double hpGateKeep(const HpPipePlan *pPipe){
  if( pPipe->pRel==0 ) return HP_GATE_GROUP;
  return HP_GATE_BUILD + (double)HP_GATE_COLUMN*pPipe->pRel->nCol;
}

/*
** The time that pPipe saves if no more than rRow of its rows are wanted.
*/
static double hpGateWanted(
  const HpPipePlan *pPipe,
  const HpGateSize *pSize,
  double rRow
){
  double rLess = (double)pSize->nRow - rRow;
  double r;
  assert( rRow>=0 );
  if( rLess<=0 ) return 0;
  r = rLess*hpGateKeep(pPipe);
  if( pPipe->eWant!=HP_WANT_ROWID ){
    r -= (double)pSize->nRow
            * (pPipe->eWant==HP_WANT_NUMBER ? HP_GATE_BIT : HP_GATE_FIND);
  }else if( rRow<pSize->nLeaf/2 ){
    /* Leaves are left out */
    r += (1 - rRow/(double)pSize->nLeaf)
            * (pSize->rPage*HP_GATE_LEAF + (double)pSize->nRow*HP_GATE_SCAN);
  }
  return MAX(r, 0);
}

/*
** Does it pay to put the rows of pipe i aside, for its relations aWant[]?  Then
** set *pMx to the number of rows up to which it does, and *prSave to what is
** saved.  The share of rows that pass its own filters is *prShare; if that is
** negative it is found out.
**
** For sub-selects rows may be put aside behind look-ups.  Nothing is known of
** these before: so that is tried, and given up where many rows pass.
*/
static int hpGateStash(
  HpQuery *p,
  const HpPlan *pPlan,
  int i,
  int bLate,                 /* For sub-selects */
  Mem *aMem,
  const HpGateSize *aSize,   /* Of each pipe */
  double *prShare,
  double *prSave
){
  const HpPipePlan *pPipe = &pPlan->aPipe[i];
  HpRelPlan **aWant = bLate ? pPipe->aSubWant : pPipe->aWant;
  int nWant = bLate ? pPipe->nSubWant : pPipe->nWant;
  i64 *pMx = bLate ? &p->aMxLate[i] : &p->aMxStash[i];
  double rMost = 0;      /* Saved if no row passed, ... */
  double rSave = 0;      /* ... and if that share does */
  double rRow;
  int rc = SQLITE_OK;
  int k;
  *prSave = 0;
  if( nWant==0 ) return SQLITE_OK;
  for(k=0; k<nWant; k++){
    int iRel = aWant[k]->iRel - (pPlan->nPipe-1);
    assert( iRel>=0 && iRel<pPlan->nPipe && aWant[k]->bWant );
    rMost += hpGateWanted(&pPlan->aPipe[iRel], &aSize[iRel], 0);
  }
  if( rMost<HP_GATE_SAVING ) return SQLITE_OK;
  if( *prShare<0 ) rc = hpGateSample(p, pPipe, aMem, prShare);
  if( rc ) return rc;
  assert( *prShare>=0 && *prShare<=1 );
  rRow = *prShare*(double)aSize[i].nRow;
  for(k=0; k<nWant; k++){
    int iRel = aWant[k]->iRel - (pPlan->nPipe-1);
    rSave += hpGateWanted(&pPlan->aPipe[iRel], &aSize[iRel], rRow);
  }
  rSave -= rRow*HP_GATE_STASH;
  if( rSave>=HP_GATE_SAVING ){
    *pMx = 1000 + (i64)(rMost/HP_GATE_STASH);
    *prSave = rSave;
  }
  if( bLate && pPipe->nLook>pPipe->nOwn ){
    *pMx = MIN(1000 + (i64)(rMost/HP_GATE_STASH), aSize[i].nRow/HP_GATE_FEW);
  }
  return SQLITE_OK;
}

/* SQLite's time of finding a row of a table by rowid */
static double hpGateLookUp(const HpGateSize *pSize){
  return HP_GATE_SEEK + (pSize->rPage>HP_GATE_CACHE)*HP_GATE_READ;
}

/* The number of rows that pPipe finds for SQLite's loop, or 0: LIMIT */
static i64 hpGateTop(const HpPipePlan *pPipe, const Mem *aMem){
  const Mem *pLimit = pPipe->pFind ? &aMem[pPipe->pFind->iLimitReg] : 0;
  return pLimit && (pLimit->flags & MEM_Int)!=0 ? MAX(pLimit->u.i, 0) : 0;
}

/*
** SQLite would search the index of pPlan->pSearch, and look up rows of the
** table that we scan, of size *pSize.  Set *prRow to about the number of rows,
** and *prStock to the time that it takes.  If that is less than rLeast *prStock
** is only known to be no more.
**
** The rows are the entries between the bounds.  What each of them costs depends
** on whether it is near the row before: entries on leaves of the index tell.
** Where all rows are on a few pages each of these is read once.  If SQLite
** tests something on the entries first (HpPlan.bNarrow) none of them may have
** to be looked up.
*/
static int hpGateLookedUp(
  sqlite3 *db,
  const HpPlan *pPlan,
  Mem *aMem,
  const HpGateSize *pSize,
  double rLeast,
  double *prRow,
  double *prStock
){
  double rFar = 1;
  double rLook = hpGateLookUp(pSize);
  i64 nSpan = 0;
  i64 nNear = pSize->nRow/MAX(1, pSize->nLeaf)/2;
  i64 nRow;
  int rc = hpSizeOfSearch(db, pPlan->pSearch, aMem, nNear,
                          MAX(1, (i64)(rLeast/(HP_GATE_ROW+rLook))), &nRow,
                          &rFar, &nSpan);
  assert( rc || (rFar>=0 && rFar<=1 && nRow>=0) );
  *prRow = (double)nRow;
  *prStock = *prRow*HP_GATE_ROW;
  if( nSpan>0 && pSize->nRow>0 && rLook>HP_GATE_SEEK ){
    double rPage = pSize->rPage
                 * (double)MIN(nSpan, pSize->nRow)/(double)pSize->nRow;
    if( rPage<HP_GATE_CACHE && rPage<*prRow*rFar ){
      *prStock += rPage*HP_GATE_READ;
      rLook = HP_GATE_SEEK;
    }
  }
  if( !pPlan->bNarrow ) *prStock += *prRow*(rFar*rLook + (1-rFar)*HP_GATE_NEAR);
  return rc;
}

/*
** Is pPlan, the scan of a table, to be run with nWorker workers, where SQLite
** would search an index and look up the rows that it finds?  Set *pbTake to
** that.  Constants are in aMem[].
**
** The cost of a row for SQLite depends on where it lies, ours on what is in
** memory.  So where that does not differ much SQLite begins, if
** bRace says that its loops may be given up: then *prOurs is what ours takes.
** It is 0 if they go on to their end.
*/
static int hpGateSearch(
  sqlite3 *db,
  const HpPlan *pPlan,
  Mem *aMem,
  int nWorker,
  int bRace,
  int *pbTake,
  double *prOurs
){
  const HpPipePlan *pPipe = hpPlanLast(pPlan);
  HpRange *pRange = pPlan->pSearch->pRange;
  HpGateSize size;
  double rOurs, rStock, rRow;
  i64 nTop = hpGateTop(pPipe, aMem);
  double rShare = 1;
  int rc;
  assert( !hpPlanIsJoin(pPlan) && nWorker>=1 );
  *pbTake = 0;
  *prOurs = 0;
  if( hpSizeRangeSkips(pRange) ) return SQLITE_OK;
  rc = hpGateSizeOf(db, &pPipe->source, aMem, &size);
  if( rc==SQLITE_OK && size.nLeaf>=HP_MIN_LEAF ){
    if( size.nLeaf>=HP_MIN_PARALLEL && pPipe->bSerial==0 ){
      rShare = hpGateShare(nWorker);
    }
    if( hpColumnScanSeemKept(db, &pPipe->source, size.nLeaf) ){
      rShare /= HP_GATE_KEPT;
    }
    /* Twice SQLite's cursors go to each row that is found, and to its entry
    ** in the index */
    rOurs = hpGateSift(&size, 0)*rShare
          + 4*(double)nTop*hpGateLookUp(&size) + HP_GATE_PIPE;
    if( nTop<=size.nRow/HP_TOP_SHARE ){
      rc = hpGateLookedUp(db, pPlan, aMem, &size, rOurs, &rRow, &rStock);
      rOurs += rRow*HP_GATE_SCAN*rShare;
      *pbTake = rc==SQLITE_OK
             && rStock>=rOurs*(bRace ? HP_GATE_SURE : HP_GATE_BLIND);
      if( !*pbTake && bRace && rStock*HP_GATE_HOPELESS>=rOurs ) *prOurs = rOurs;
    }
  }
  hpSizeRangeWas(pRange, *pbTake || *prOurs>0);
  return rc;
}

/*
** What a join costs, ours and SQLite's: the sums over its operators.  All times
** are in HP_GATE units.
*/
typedef struct HpGateCost HpGateCost;
struct HpGateCost {
  double rOurs;          /* Time of ours */
  double rKept;          /* The same if columns in memory are there after all */
  double rStock;         /* Time of SQLite, without looking anything up */
  double rSub;           /* Time of running each sub-select of it once */
  double rJoin;          /* Time of all partners of all rows */
  double rProbe;         /* Time of scans of it that may end soon; not in
                         ** rSub */
  double rGuess;         /* bMoved: share that there is of what the planner
                         ** thinks */
  double rFound;         /* Rows of the driving table that SQLite comes to */
  double rSmall;         /* SQLite is left alone if its loop over the driving
                         ** table costs less */
  u8 bSmall;             /* It does */
  u8 bRead;              /* A table that is looked up is large */
  HpGateSize aSize[HP_MX_PIPE];
};

/* Forced: nothing is weighed, and all rows may be put aside */
static void hpGateForced(HpQuery *p, const HpPlan *pPlan){
  int i;
  assert( hpConfigOffload(p->db)==HP_OFFLOAD_FORCE );
  for(i=0; i<pPlan->nPipe && p->pCfg->bStash; i++){
    if( pPlan->aPipe[i].nWant>0 ) p->aMxStash[i] = HP_GATE_ALL;
    if( pPlan->aPipe[i].nSubWant>0 ) p->aMxLate[i] = HP_GATE_ALL;
  }
}

/*
** Add what SQLite does for input pPipe of a join, whose table has size p1: it
** is not the driving table.  Look-ups by unique keys cost what their number
** says: hpGateJoin().
*/
static void hpGateAddInput(
  const HpPipePlan *pPipe,
  const HpGateSize *p1,
  HpGateCost *pCost
){
  double rScan = p1->rPage*HP_GATE_PAGE + (double)p1->nRow*HP_GATE_ROW;
  assert( pPipe->source.pType->bValues==0 );
  if( pPipe->eEach==HP_EACH_SCAN ){
    if( pPipe->pProbe ){
      pCost->rProbe += rScan;
    }else{
      pCost->rSub += rScan*MAX(1, pPipe->nEach);
    }
  }else if( hpEachIsJoin(pPipe) ){
    pCost->rJoin += pCost->rFound*HP_GATE_INDEX
                  + (double)p1->nRow*HP_GATE_SEEK;
    if( pPipe->eEach==HP_EACH_BUILD ) pCost->rStock += rScan;
  }else if( pPipe->eEach ){
    pCost->rSub += HP_GATE_INDEX*MAX(1, pPipe->nEach);
  }
}

/*
** Add what SQLite's loop over the driving table costs, and set *pr to what ours
** is: the scan, or where SQLite searches an index, sifting it.
*/
static int hpGateAddRoot(
  HpQuery *p,
  const HpPlan *pPlan,
  Mem *aMem,
  const HpGateSize *p1,
  HpGateCost *pCost,
  double *pr
){
  int rc = SQLITE_OK;
  assert( p1==&pCost->aSize[pPlan->nPipe-1] );
  if( pPlan->nStock>0 ){
    pCost->rStock = (double)sqlite3LogEstToInt(pPlan->nStock)*HP_GATE_UNIT;
  }else if( !pPlan->bSought ){
    pCost->rStock = p1->rPage*HP_GATE_PAGE + pCost->rFound*HP_GATE_ROW;
    if( pPlan->pSearch ){
      rc = hpGateLookedUp(p->db, pPlan, aMem, p1, 0, &pCost->rFound,
                          &pCost->rStock);
      *pr = hpGateSift(p1, pCost->rFound);
    }
  }
  return rc;
}

/*
** Add operator i of a join: the scan of its table, and what is done with its
** rows.  nWorker workers may share that.
*/
static int hpGateAdd(
  HpQuery *p,
  const HpPlan *pPlan,
  Mem *aMem,
  int nWorker,
  int i,
  HpGateCost *pCost
){
  const HpPipePlan *pPipe = &pPlan->aPipe[i];
  const HpSourcePlan *pSource = &pPipe->source;
  HpGateSize *p1 = &pCost->aSize[i];
  double r;
  int rc;
  if( pSource->pType->bValues ){
    memset(p1, 0, sizeof(*p1));
    return SQLITE_OK;
  }
  rc = hpGateSizeOf(p->db, pSource, aMem, p1);
  if( rc ) return rc;
  r = hpGateScan(p1);
  if( i==pPlan->nPipe-1 ) pCost->rFound = (double)p1->nRow;
  if( pPlan->nStockRow>0 && pSource->iRoot==pPlan->iStockRoot ){
    double rRow = (double)sqlite3LogEstToInt(pPlan->nStockRow);
    pCost->rGuess = MIN(1, (double)p1->nRow/rRow);
  }
  hpGateAddInput(pPipe, p1, pCost);
  if( i<pPlan->nPipe-1 ){
    r += (double)p1->nRow*hpGateKeep(pPipe);
    if( p1->rPage>HP_GATE_CACHE ) pCost->bRead = 1;
  }else{
    rc = hpGateAddRoot(p, pPlan, aMem, p1, pCost, &r);
    pCost->bSmall = pPlan->nStock==0 && !pPlan->bSought
                 && pCost->rStock<pCost->rSmall;
    if( rc || pCost->bSmall ) return rc;
  }
  if( p1->nLeaf>=HP_MIN_PARALLEL && pPipe->bSerial==0 ){
    r *= hpGateShare(nWorker);
  }
  pCost->rOurs += r;
  if( hpColumnScanSeemKept(p->db, pSource, p1->nLeaf) ) r /= HP_GATE_KEPT;
  pCost->rKept += r;
  return SQLITE_OK;
}

/* The rows that are put aside save something: of each pipe, and of
** sub-selects */
static int hpGateSave(
  HpQuery *p,
  HpPlan *pPlan,
  Mem *aMem,
  int nWorker,
  HpGateCost *pCost,
  double *prShare
){
  int iRoot = pPlan->nPipe-1;
  int rc = SQLITE_OK;
  int i, bLate;
  for(i=iRoot; i>=0 && rc==SQLITE_OK; i--){
    double rOther = -1;
    double *pr = i==iRoot ? prShare : &rOther;
    for(bLate=0; bLate<2 && rc==SQLITE_OK; bLate++){
      double rSave;
      rc = hpGateStash(p, pPlan, i, bLate, aMem, pCost->aSize, pr, &rSave);
      pCost->rOurs -= rSave*hpGateShare(nWorker);
    }
  }
  return rc;
}

/*
** Set *pbTake to whether the join pPlan is to be run by p, which is new, and
** p->aMxStash[] to what is put aside.  Constants are in aMem[], and there may
** be nWorker workers.
**
** If it is not, *prOurs is set to the time that it would take: SQLite's loops
** are given up if they take about as long (hp_race.c).  Negative: to be asked
** once they have run for a while (HP_GATE_ASK), when only that is wanted.  0:
** they are not given up.
*/
static int hpGateJoin(
  HpQuery *p,
  HpPlan *pPlan,
  Mem *aMem,
  int nWorker,
  int eWhen,             /* HP_GATE_xxx */
  int bRace,             /* SQLite's loops may be given up */
  int *pbTake,
  double *prOurs
){
  const HpPipePlan *pRoot = hpPlanLast(pPlan);
  int iRoot = pPlan->nPipe-1;
  int bMoved = pPlan->nStock>0;
  HpGateCost cost;
  double rSeek = 0;      /* Time of SQLite to look up what passes */
  double rShare = -1;    /* The share of rows that pass, if known */
  int bSub = 0;          /* There are sub-selects */
  int bJoin = 0;         /* There are other tables */
  int bWorth;            /* SQLite needs so long that samples cost little */
  int i;
  int rc = SQLITE_OK;
  assert( hpPlanIsJoin(pPlan) && pPlan->nPipe<=HP_MX_PIPE );
  assert( p->pPipe==0 );
  *pbTake = 1;
  *prOurs = 0;
  if( hpConfigOffload(p->db)==HP_OFFLOAD_FORCE ){
    hpGateForced(p, pPlan);
    return SQLITE_OK;
  }
  if( eWhen==HP_GATE_FIRST_TIME && pPlan->nSkip>0 ){
    pPlan->nSkip--;
    *pbTake = 0;
    return SQLITE_OK;
  }
  for(i=0; i<iRoot; i++){
    const HpPipePlan *pPipe = &pPlan->aPipe[i];
    bSub |= pPipe->eEach==HP_EACH_SCAN || hpEachIsJoin(pPipe);
    bJoin |= pPipe->eEach==0 && !pPipe->source.pType->bValues;
  }
  memset(&cost, 0, sizeof(cost));
  cost.rGuess = 1;
  cost.rOurs = (double)HP_GATE_PIPE*pPlan->nPipe;
  if( eWhen==HP_GATE_FIRST_TIME && !bSub ){
    cost.rSmall = MIN(HP_GATE_WORTH, cost.rOurs*HP_GATE_MARGIN/100);
  }
  for(i=iRoot; i>=0; i--){
    rc = hpGateAdd(p, pPlan, aMem, nWorker, i, &cost);
    if( rc ) return rc;
    if( cost.bSmall ){
      /* The driving table alone says it: no other is looked at */
      *pbTake = 0;
      *prOurs = -1;
      return SQLITE_OK;
    }
  }
  *prOurs = cost.rKept;
  if( eWhen==HP_GATE_ASK ){
    *pbTake = 0;
    return SQLITE_OK;
  }
  if( bMoved && eWhen!=HP_GATE_LATE ){
    /* From the end where SQLite would not begin: that is seen when it has
    ** begun */
    cost.rStock *= cost.rGuess;
    if( bRace || cost.rStock<cost.rOurs*(cost.rStock<HP_GATE_LONG
                                 ? 2*HP_GATE_GUESS : HP_GATE_GUESS) ){
      *pbTake = 0;
      return SQLITE_OK;
    }
  }
  if( bJoin && !pPlan->bSought ){
    rSeek = pRoot->bIndexed ? HP_GATE_INDEX + cost.bRead*HP_GATE_READ
                            : HP_GATE_SEEK;
  }
  bWorth = eWhen==HP_GATE_LATE
      || cost.rStock+cost.rSub+cost.rProbe+cost.rJoin>=HP_GATE_WORTH;
  if( bWorth && pRoot->bConstant ){
    rc = hpGateSample(p, pRoot, aMem, &rShare);
    if( rc==SQLITE_OK && rShare==0 ){
      cost.rStock = 0;
      bWorth = 0;
    }
  }
  for(i=0; i<iRoot && rc==SQLITE_OK && bWorth && !bMoved; i++){
    double rRow = 0;
    if( pPlan->aPipe[i].pProbe==0 ) continue;
    rc = hpGateProbe(p, pPlan, i, aMem, &rShare, &rRow);
    cost.rSub += HP_GATE_SEEK + rRow*HP_GATE_ROW;
  }
  if( rc ) return rc;
  rSeek = (rSeek + cost.rSub)*cost.rFound + cost.rJoin;
  if( bWorth ) rc = hpGateSave(p, pPlan, aMem, nWorker, &cost, &rShare);
  assert( cost.rGuess>=0 && cost.rGuess<=1 && rShare<=1 );
  if( bMoved || eWhen==HP_GATE_LATE ){
    *pbTake = cost.rStock>0 || eWhen==HP_GATE_LATE;
    return rc;
  }
  if( pPlan->pSearch ){
    cost.rOurs *= bRace ? HP_GATE_SURE : HP_GATE_BLIND;
  }else{
    cost.rOurs *= bRace ? HP_GATE_BLIND : HP_GATE_MARGIN/100.0;
  }
  if( rc==SQLITE_OK && rShare<0 && bWorth
   && cost.rOurs>=cost.rStock && cost.rOurs<cost.rStock+rSeek
  ){
    rc = hpGateSample(p, pRoot, aMem, &rShare);
  }
  if( !bWorth ) rSeek = 0;
  if( pPlan->pSearch && rShare>=0 && cost.rFound>0 ){
    /* A share of these rows, not of all */
    rShare = MIN(1, rShare*(double)cost.aSize[iRoot].nRow/cost.rFound);
  }
  if( rc==SQLITE_OK ){
    *pbTake = cost.rOurs<cost.rStock+rSeek*(rShare<0 ? 1 : rShare);
  }
  return rc;
}

/*
** Set *prOurs to the time that it takes to scan the table of pPipe and to make
** groups of its rows, or 0 if it is small.
*/
static int hpGateFind(sqlite3 *db, const HpPipePlan *pPipe, Mem *aMem,
                      double *prOurs){
  HpGateSize size;
  int rc = hpGateSizeOf(db, &pPipe->source, aMem, &size);
  *prOurs = 0;
  if( rc || size.nLeaf<HP_MIN_LEAF ) return rc;
  *prOurs = hpGateScan(&size) + (double)size.nRow*HP_GATE_GROUP;
  if( size.nLeaf>=HP_MIN_PARALLEL && pPipe->bSerial==0 ){
    *prOurs *= hpGateShare(hpThreads(db));
  }
  return SQLITE_OK;
}

/*
** SQLite's loop goes from row found to row found of the last pipe of pPlan.  Is
** it worth making relations of its other pipes, so that rows without partner
** are not found?  Set *pbTake to that, and *pnWait to so many rows that
** SQLite's loop goes through while these are made.
*/
static int hpGateLook(
  HpQuery *p,
  const HpPlan *pPlan,
  Mem *aMem,
  i64 *pnWait,
  int *pbTake
){
  const HpPipePlan *pRoot = hpPlanLast(pPlan);
  int nWorker = hpThreads(p->db);
  double rOurs = (double)HP_GATE_PIPE*(pPlan->nPipe-1);
  double rShare = 1;
  double rSeek;
  HpGateSize size;       /* Of a pipe; in the end, of the last one */
  int bRead = 0;
  int rc = SQLITE_OK;
  int i;
  *pnWait = 0;
  *pbTake = 1;
  if( hpConfigOffload(p->db)==HP_OFFLOAD_FORCE ) return SQLITE_OK;
  for(i=0; i<pPlan->nPipe; i++){
    const HpPipePlan *pPipe = &pPlan->aPipe[i];
    double r;
    rc = hpGateSizeOf(p->db, &pPipe->source, aMem, &size);
    if( rc ) return rc;
    if( pPipe==pRoot ) break;
    bRead |= size.rPage>HP_GATE_CACHE;
    r = hpGateScan(&size) + (double)size.nRow*hpGateKeep(pPipe);
    if( size.nLeaf>=HP_MIN_PARALLEL ) r *= hpGateShare(nWorker);
    rOurs += r;
  }
  rSeek = pRoot->bIndexed ? HP_GATE_INDEX + bRead*HP_GATE_READ : HP_GATE_SEEK;
  if( rOurs*HP_GATE_MARGIN/100 < (double)size.nRow*rSeek ){
    rc = hpGateSample(p, pRoot, aMem, &rShare);
  }
  *pbTake = rOurs*HP_GATE_MARGIN/100 < (double)size.nRow*rShare*rSeek;
  *pnWait = (i64)(rOurs/(HP_GATE_ROW + rShare*rSeek));
  assert( *pnWait>=0 && rShare>=0 );
  return rc;
}

/*
** pPlan has declined late.  That SQLite's loops were given up is forgotten.
*/
static void hpGateLost(HpPlan *pPlan){
  assert( pPlan->nPipe>1 );
  pPlan->nLost = MIN(2*pPlan->nLost+1, HP_GATE_MX_SKIP);
  pPlan->nSkip = pPlan->nLost;
  pPlan->iLate = 0;
}
#endif /* SQLITE_OMIT_HP */
