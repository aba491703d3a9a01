/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_gate: is a join worth it, before it runs?
**
**    hpGateJoin()      yes or no
**    hpGateLost()      it was not: it declined late
**
** A join reads all of each table.  SQLite's nested loops read all of the root, too,
** but look up only what belongs to rows that pass the filters on it.  So where few
** rows pass and the other tables are large, they read less.  No statistics are
** needed to tell: the leaves of a b-tree are known from two descents, the rows of
** a leaf from the first one, and the share of rows that pass from a sample of the
** root's leaves, on which the root's own filters are run.  A sample is taken only
** where the answer hangs on it, and where it costs little in comparison.
**
** A WHERE clause with a constant term is sampled, too: if that is false SQLite reads
** nothing at all.
**
** Costs are in nanoseconds of one processor of 2020 or later, from a file in the
** operating system's cache whose tables have grown together: leaf after leaf is read
** by itself.  Only their proportions matter.
**
** What cannot be known is whether a join will decline late, because of a key that is
** there twice, of types, or of memory.  Then SQLite's code begins again, and the
** next executions of the statement are left to it: one, then three, seven, ...
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_GATE_LEAF    1200   /* We read a page of HP_GATE_BYTES */
#define HP_GATE_SCAN      20   /* ... and cut, filter and look up a row of the root */
#define HP_GATE_BUILD     50   /* ... or keep one in a relation */
#define HP_GATE_PIPE   50000   /* A pipe: memory and threads */
#define HP_GATE_BYTES   4096
#define HP_GATE_PAGE     500   /* Stock reads a page of HP_GATE_BYTES */
#define HP_GATE_ROW       90   /* ... visits a row of the root */
#define HP_GATE_SEEK     500   /* ... finds a row of another table by rowid */
#define HP_GATE_INDEX   1500   /* ... or by an index */

/* Ours must be so much better, in percent */
#define HP_GATE_MARGIN   130

#define HP_GATE_SAMPLE    24   /* Leaves of a sample */
#define HP_GATE_WORTH 5000000  /* A sample is taken if SQLite needs this at least */

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
  *(i64*)p->pSink += pFrame->nSel;
  return SQLITE_OK;
}
static const HpSinkType hpGateSink = { 0, hpGateOpen, hpGateRows, 0, 0, 0, 0 };

/*
** Run the root's own filters on a sample of its leaves.  Set *prShare to the share
** of rows that pass.
*/
static int hpGateSample(
  HpQuery *p,
  const HpPlan *pPlan,
  Mem *aMem,
  double *prShare
){
  HpPipePlan x = *hpPlanLast(pPlan);
  int rc;
  assert( p->pSource==0 && p->nWorker==0 && x.nOwn<=x.prog.nFilter );
  *prShare = 1;
  if( x.nOwn==0 ) return SQLITE_OK;
  x.pSink = &hpGateSink;
  x.prog.nFilter = x.nOwn;
  x.prog.nOp = x.prog.aFilter[x.nOwn-1].nOp;
  x.prog.nRange = 0;
  p->nSample = HP_GATE_SAMPLE;
  rc = hpPipeRun(p, &x, aMem, 1);
  if( rc==SQLITE_OK && p->nScanned>0 ){
    *prShare = (double)*(i64*)p->apWorker[0]->pSink / (double)p->nScanned;
  }
  hpPipeClose(p);
  p->nSample = 0;
  p->pPipe = &pPlan->aPipe[0];
  return rc;
}

/*
** Set *pbTake to whether the join pPlan is to be run by p, which is new.  Constants
** are in aMem[], and there may be nWorker workers.
*/
static int hpGateJoin(
  HpQuery *p,
  HpPlan *pPlan,
  Mem *aMem,
  int nWorker,
  int *pbTake
){
  const HpPipePlan *pRoot = hpPlanLast(pPlan);
  double rOurs = 0;      /* Time of ours */
  double rStock = 0;     /* ... of SQLite, without looking anything up */
  double rSeek = 0;      /* ... and of looking up what passes */
  double rShare = 1;     /* The share of rows that pass */
  i64 nLeaf = 0;
  i64 nRow = 0;
  int i;
  int rc = SQLITE_OK;
  if( pPlan->nSkip>0 ){
    pPlan->nSkip--;
    *pbTake = 0;
    return SQLITE_OK;
  }
  for(i=0; i<pPlan->nPipe; i++){
    const HpSourcePlan *pSource = &pPlan->aPipe[i].source;
    int bRoot = i==pPlan->nPipe-1;
    double rPage, r;
    rc = hpSourcePlanSize(p->db, pSource, aMem, &nLeaf, &nRow);
    if( rc ) return rc;
    rPage = (double)sqlite3BtreeGetPageSize(p->db->aDb[pSource->iDb].pBt)
                / HP_GATE_BYTES;
    r = rPage*nLeaf*HP_GATE_LEAF + (double)nRow*(bRoot ? HP_GATE_SCAN : HP_GATE_BUILD);
    if( nLeaf>=HP_MIN_PARALLEL ) r /= MIN(nWorker, 4);
    rOurs += r + HP_GATE_PIPE;
    if( bRoot ) rStock = rPage*nLeaf*HP_GATE_PAGE + (double)nRow*HP_GATE_ROW;
  }
  rOurs *= HP_GATE_MARGIN/100.0;
  if( rStock>=HP_GATE_WORTH ){
    rSeek = (double)nRow * (pRoot->bIndexed ? HP_GATE_INDEX : HP_GATE_SEEK);
    if( pRoot->bConstant || (rOurs>=rStock && rOurs<rStock+rSeek) ){
      rc = hpGateSample(p, pPlan, aMem, &rShare);
    }
  }
  if( pRoot->bConstant && rShare==0 ) rStock = 0;
  if( rc==SQLITE_OK ) *pbTake = rOurs<rStock+rSeek*rShare;
  return rc;
}

/*
** pPlan has declined late.
*/
static void hpGateLost(HpPlan *pPlan){
  assert( pPlan->nPipe>1 );
  pPlan->nLost = MIN(2*pPlan->nLost+1, HP_GATE_MX_SKIP);
  pPlan->nSkip = pPlan->nLost;
}
#endif /* SQLITE_OMIT_HP */
