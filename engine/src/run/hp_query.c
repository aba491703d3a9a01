/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_query: a scan, from the first leaf to its result.
**
**    sqlite3HpScan()     OP_HpScan: the whole query up to its groups
**    sqlite3HpNext()     OP_HpNext: the next group into registers
**    sqlite3HpTripped()  cursors on a file become invalid: scans notice
**    sqlite3HpRestart()  a statement ran out of memory: does it begin again?
**    sqlite3HpLate()     SQLite's loops run for a while: are they given up?
**    sqlite3HpStays()    a statement cannot be prepared again: does it go on as it is?
**    hpQueryNew(), hpQueryRun()    run a plan
**    hpQueryMayNot()      is this execution of a statement stock's?
**    hpQueryAgain()       a statement begins again
**    hpQueryDone()        let go of what only the scan needed
**    hpQueryFailed()      the error that the statement ends with, or HP_DECLINE
**    hpQueryFree()        free a scan
**
** OP_HpScan runs from the first leaf to the sorted groups without giving
** control back.  Meanwhile only code of the application that the scan calls
** can change this connection: functions, collations, the progress handler.
** After each batch the scan looks whether it has (hpThreadChanged()), and if so
** declines: SQLite's code begins again.  It also looks whether it was
** interrupted.
**
** Memory.  SQLite alone needs less, so that no allocation fails which it would
** have got: one that fails during OP_HpScan declines; one that fails later, in
** whosever code, lets the program begin again without us (sqlite3HpRestart()),
** unless it has given a row.  What is allocated between the rows is what SQLite
** allocates there; where more is needed it is reserved before (hp_merge.c).  A
** statement that writes cannot begin again: while memory is limited OP_HpScan
** declines.
**
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Make statement v, which has not given a row, ready to begin again, when sqlite3Step() sees
** SQLITE_EMPTY.  minWriteFileFormat makes OP_Init not trace it twice, and tells that this is the
** same execution.
*/
static void hpQueryAgain(Vdbe *v){
  /* Nobody has seen anything of this execution */
  assert( v->eVdbeState==VDBE_RUN_STATE && v->cacheCtr==1 );
  closeAllCursors(v);
  sqlite3DbFree(v->db, v->zErrMsg);
  v->zErrMsg = 0;
  v->rc = SQLITE_OK;
  v->pc = 0;
  v->minWriteFileFormat = 254;
}

/*
** Statement v stops with error *pRc.  If it ran out of memory, after OP_HpScan
** took more than SQLite would have, and nobody has seen anything yet, make it
** ready to begin again without it, set *pRc so that sqlite3Step() runs it, and
** return true.
*/
SQLITE_PRIVATE int sqlite3HpRestart(Vdbe *v, int *pRc){
  sqlite3 *db = v->db;
  if( v->eHpRun!=HP_RUN_DONE
   || (*pRc!=SQLITE_NOMEM && *pRc!=SQLITE_IOERR_NOMEM && db->mallocFailed==0)
   || v->eVdbeState!=VDBE_RUN_STATE
   || v->readOnly==0
   || v->cacheCtr!=1               /* A row was given: see OP_ResultRow */
  ){
    return 0;
  }
  hpBudgetOomUndo(db);
  hpQueryAgain(v);
  v->eHpRun = HP_RUN_AGAIN;
  hpConfigStat(db, HP_STAT_DECLINED);
  *pRc = SQLITE_EMPTY;
  return 1;
}

/*
** Nobody looks up relations of p any more: free those of which groups show nothing, and
** rows put aside.
*/
static void hpQueryForget(HpQuery *p){
  const HpGroupPlan *pShow = hpGroupOf(p->pPipe ? p->pPipe->pEntry : 0);
  int i, k;
  assert( p->pPipe==0 || p->pPipe->pCrew==0 );
  for(i=0; i<p->nRel; i++){
    hpStashFree(p->apStash[i]);
    p->apStash[i] = 0;
    for(k=0; pShow && k<pShow->nBare && pShow->aBare[k].iRel!=i; k++){}
    if( pShow && k<pShow->nBare ) continue;
    hpRelFree(p->apRel[i]);
    p->apRel[i] = 0;
  }
}

/* Free the relations of p, and rows put aside */
static void hpQueryFreeRels(HpQuery *p){
  int i;
  assert( p->pPipe==0 );         /* Nobody looks them up */
  hpQueryForget(p);
  for(i=0; i<p->nSet; i++) hpRelFree(p->apRel[p->nRel+i]);
  sqlite3_free(p->aMxStash);
  p->aMxStash = p->aMxLate = 0;
  p->apRel = 0;
  p->apStash = 0;
  p->nRel = p->nSet = 0;
}

/*
** Free a scan: destructor of the pointer in the register of OP_HpScan.
*/
static void hpQueryFree(void *pArg){
  HpQuery *p = (HpQuery*)pArg;
  if( p ){
    assert( sqlite3_mutex_held(p->db->mutex) );
    hpPipeClose(p);
    hpPieceFree(p->pPieces);
    hpFinderFree(p->pFinder);
    hpQueryFreeRels(p);
    hpArenaClear(&p->arena);
    sqlite3_free(p);
  }
}

/*
** How long values may be in this execution.
**
** Stock fails where a value, or a record that it makes for a sorter, is longer than
** SQLITE_LIMIT_LENGTH, and we make no such records.  Some drivers lower that limit for
** each connection, better-sqlite3 to half a gigabyte.  So we decline where values are so
** long that stock might fail.  A record of stock's has the columns of one row of each
** term of FROM, constants, and results of operations.  With at most HP_MX_NODE terms and
** HP_MX_OP operations it is shorter than the limit if each is shorter than a certain part
** of it.  What a page holds is always shorter, so only rows with overflow pages are
** looked at.  With the usual limit that would be gigabytes, and we do as if there were
** none.
*/
static void hpQueryLengths(HpQuery *p){
  u32 n = (u32)p->db->aLimit[SQLITE_LIMIT_LENGTH];
  assert( 2*HP_MX_NODE<=64 && 4*HP_MX_OP<=4096 );
  assert( HP_MIN_LENGTH/64>SQLITE_MAX_PAGE_SIZE );
  p->mxStored = n<SQLITE_MAX_LENGTH ? n/64 : SQLITE_MAX_LENGTH;
  p->mxText = n<SQLITE_MAX_LENGTH ? n/4096 : SQLITE_MAX_LENGTH;
  assert( p->mxText>0 && p->mxStored>SQLITE_MAX_PAGE_SIZE );
}

/*
** A query for pPlan, to be freed with hpQueryFree(), or NULL.
*/
static HpQuery *hpQueryNew(Vdbe *v, const HpPlan *pPlan){
  HpQuery *p;
  assert( pPlan->nPipe>=1 && pPlan->nPipe<=HP_MX_PIPE );
  sqlite3BeginBenignMalloc();
  p = sqlite3MallocZero(sizeof(*p));
  if( p && (pPlan->nPipe>1 || pPlan->nSet>0) ){
    int nRel = 2*(pPlan->nPipe-1);
    u64 n = (u64)(nRel + pPlan->nSet);
    u64 nPipe = (u64)pPlan->nPipe;
    p->aMxStash = sqlite3MallocZero(2*sizeof(i64)*nPipe
                                    + (sizeof(HpRel*)+sizeof(HpStash*))*n);
    if( p->aMxStash ){
      p->aMxLate = &p->aMxStash[nPipe];
      p->apRel = (HpRel**)&p->aMxLate[nPipe];
      p->apStash = (HpStash**)&p->apRel[n];
      p->nRel = nRel;
      p->nSet = pPlan->nSet;
    }else{
      sqlite3_free(p);
      p = 0;
    }
  }
  sqlite3EndBenignMalloc();
  if( p==0 ) return 0;
  p->db = v->db;
  p->v = v;
  hpQueryLengths(p);
  p->pCfg = hpConfig();
  p->iDb = p->nRel ? -1 : pPlan->aPipe[0].source.iDb;
  p->nChange = hpThreadChanges(p);
  return p;
}

/*
** Read the sets of IN that the plan has: they are there before all else.  Within an
** execution of the statement they do not change, so those of pOld, the scan that was in
** the same register before, are taken over, if there is one.
*/
static int hpQuerySets(HpQuery *p, const HpPlan *pPlan, HpQuery *pOld, Mem *aMem){
  int rc = SQLITE_OK;
  int i;
  assert( p->nSet==pPlan->nSet && (pOld==0 || pOld->v==p->v) );
  if( pOld && pOld->nSet==pPlan->nSet ){
    for(i=0; i<pPlan->nSet; i++){
      p->apRel[p->nRel+i] = pOld->apRel[pOld->nRel+i];
      pOld->apRel[pOld->nRel+i] = 0;
    }
    return SQLITE_OK;
  }
  for(i=0; i<pPlan->nSet && rc==SQLITE_OK; i++){
    assert( p->apRel[p->nRel+i]==0 );
    rc = hpPipeNew(p, &pPlan->aSet[i].pipe);
    if( rc==SQLITE_OK ) rc = hpPipeRun(p->pPipe, aMem, 1);
    if( rc==SQLITE_OK ) p->apRel[p->nRel+i]->bNull = p->pPipe->pass.bSetNull;
    hpPipeClose(p);
  }
  return rc;
}

/*
** Run pPlan, which reads rows that are put aside, or puts them aside: pStash.
*/
static int hpQueryPipe(
  HpQuery *p,
  const HpPipePlan *pPlan,
  HpStash *pStash,
  Mem *aMem,
  int nWorker
){
  int rc = hpPipeNew(p, pPlan);
  if( rc ) return rc;
  p->pPipe->pStash = pStash;
  return hpPipeRun(p->pPipe, aMem, nWorker);
}

/*
** Run pipe i of the plan so far that its rows are put aside, if they are not yet, and make
** the relations of the keys that they want: of tables, or of sub-selects (bLate).  If
** there are too many rows do nothing.
*/
static int hpQueryStash(
  HpQuery *p,
  const HpPlan *pPlan,
  int i,
  int bLate,
  Mem *aMem,
  int nWorker
){
  HpPipePlan x = pPlan->aPipe[i];
  HpStash *pStash = p->apStash[i];
  int nWant = bLate ? x.nSubWant : x.nWant;
  int rc = SQLITE_OK;
  int k;
  assert( x.source.bIndex==0 && nWant>0 && x.pSink->xRows!=0 );
  x.prog.nFilter = bLate ? x.nLook : x.nOwn;
  x.prog.nOp = bLate ? x.nSubWantOp : x.nWantOp;
  if( pStash==0 ){
    sqlite3BeginBenignMalloc();
    pStash = p->apStash[i] = hpStashNew(bLate ? p->aMxLate[i] : p->aMxStash[i]);
    sqlite3EndBenignMalloc();
    if( pStash==0 ) return HP_DECLINE;
    x.pSink = &hpSinkStash;
    rc = hpQueryPipe(p, &x, pStash, aMem, nWorker);
    hpPipeClose(p);
    if( rc==HP_DECLINE && hpStashIsFull(pStash) ){
      hpStashFree(pStash);
      p->apStash[i] = 0;
      return SQLITE_OK;
    }
  }
  x.source.pType = &hpUnstashType;
  x.prog.nRange = 0;
  x.pSink = &hpSinkRel;
  x.pGroup = 0;
  x.eWant = 0;
  for(k=0; k<nWant && rc==SQLITE_OK; k++){
    x.pRel = bLate ? x.aSubWant[k] : x.aWant[k];
    hpStashRewind(pStash);
    rc = hpQueryPipe(p, &x, pStash, aMem, nWorker);
    hpPipeClose(p);
  }
  assert( p->pPipe==0 );
  return rc;
}

/*
** Run pipe i of the plan, whose rows have been put aside.
*/
static int hpQueryTakeUp(
  HpQuery *p,
  const HpPlan *pPlan,
  int i,
  Mem *aMem,
  int nWorker
){
  HpPipePlan *pPipe = hpArenaAlloc(&p->arena, sizeof(*pPipe));
  HpStash *pStash = p->apStash[i];
  int rc;
  assert( i<pPlan->nPipe && pStash!=0 );
  if( pPipe==0 ) return HP_DECLINE;
  assert( !hpStashIsFull(pStash) );
  *pPipe = pPlan->aPipe[i];
  pPipe->source.pType = &hpUnstashType;
  pPipe->prog.nRange = 0;
  pPipe->eWant = 0;
  hpStashRewind(pStash);
  rc = hpQueryPipe(p, pPipe, pStash, aMem, nWorker);
  if( rc==SQLITE_OK ) p->pPipe->pass.nScanned = hpStashScanned(pStash);
  return rc;
}

/*
** Run the plan with up to nWorker workers: pipe after pipe.  What the last one
** leaves is delivered.
**
** Before that, the pipes that p->aMxStash[] says, from the root on, put aside the rows
** that pass their own filters: the tables that these look up can do with fewer rows.
** Those that look up sub-selects may do so when all else that they look up is there:
** p->aMxLate[].
*/
static int hpQueryRun(
  HpQuery *p,            /* New */
  const HpPlan *pPlan,
  Mem *aMem,
  int nWorker,
  int bExact             /* Add up row by row */
){
  int rc = SQLITE_OK;
  int i;
  assert( p->pPipe==0 && (bExact==0 || nWorker==1) );
  p->bExact = bExact;
  for(i=pPlan->nPipe-1; i>=0 && rc==SQLITE_OK; i--){
    if( pPlan->nPipe>1 && p->aMxStash[i]>0 ){
      rc = hpQueryStash(p, pPlan, i, 0, aMem, nWorker);
    }
  }
  for(i=0; i<pPlan->nPipe && rc==SQLITE_OK; i++){
    const HpPipePlan *pPipe = &pPlan->aPipe[i];
    if( pPipe->bAdds ){
      rc = hpPipeMore(p->pPipe, pPipe, aMem);
      continue;
    }
    if( pPipe->source.pType!=&hpRegroupType ) hpPipeClose(p);
    if( pPipe->eEach && p->aMxLate[pPipe->iAround]>0 ){
      rc = hpQueryStash(p, pPlan, pPipe->iAround, 1, aMem, nWorker);
      p->aMxLate[pPipe->iAround] = 0;
      if( rc ) break;
    }
    if( pPlan->nPipe>1 && p->apStash[i] ){
      rc = hpQueryTakeUp(p, pPlan, i, aMem, nWorker);
    }else{
      rc = hpQueryPipe(p, pPipe, 0, aMem, nWorker);
    }
  }
  return rc;
}

/*
** True if nothing is to be taken over in this execution of v.
*/
static int hpQueryMayNot(const Vdbe *v){
  const sqlite3 *db = v->db;
  return db->hp.eOffload==HP_OFFLOAD_OFF
      /* After a ROLLBACK in a function the program may not be true of the schema.
      ** OP_OpenRead says so. */
      || v->expired==1
      || (v->eHpRun==HP_RUN_AGAIN && v->minWriteFileFormat==254)
      /* sqlite3HpDeferAgain(): minWriteFileFormat is another where it writes */
      || (v->readOnly==0 && v->iHpAgain
          && v->iHpAgain==(u32)v->aCounter[SQLITE_STMTSTATUS_RUN])
      || (v->readOnly==0 && hpBudgetIsLimited())
      || db->mallocFailed
      || db->aLimit[SQLITE_LIMIT_LENGTH]<MIN(HP_MIN_LENGTH, SQLITE_MAX_LENGTH);
}

/*
** The scan of p is over.  Count it, and let go of what is not needed to deliver.  SQLite does not count
** rows between bounds.
*/
static void hpQueryDone(HpQuery *p, const HpPlan *pPlan){
  Vdbe *v = p->v;
  u64 nScanned;
  assert( v->db==p->db && p->pPipe!=0 );
  hpConfigStat(p->db, HP_STAT_RUN);
  v->eHpRun = HP_RUN_DONE;
  hpConfigRan();
  hpPipeDone(p->pPipe);
  hpQueryForget(p);
  nScanned = p->pPipe->pass.nScanned;
  if( nScanned && pPlan->pSearch==0
   && hpPlanLast(pPlan)->source.pRange==0 ){
    v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] += (u32)(nScanned-1);
  }
}

/* Does the plan find rows of a table, piece by piece? */
static int hpQueryIsPieces(const HpPlan *pPlan){
  const HpFindPlan *pFind = hpPlanLast(pPlan)->pFind;
  return pFind!=0 && pFind->bPieces;
}

/*
** What the plan reads has to be large: what its last pipe does, or the table whose groups
** that looks up.
*/
static const HpSourcePlan *hpQueryMain(const HpPlan *pPlan){
  int i;
  for(i=0; i<pPlan->nPipe; i++){
    if( hpEachIsJoin(&pPlan->aPipe[i]) ) return &pPlan->aPipe[i].source;
  }
  return &hpPlanLast(pPlan)->source;
}

/*
** Is what the plan reads large enough?  *pbLarge says so.  Of arms one has to
** be.  If it is not, as SQLite's loops are to begin, *prOurs is what ours
** takes, or 0.
*/
static int hpQueryIsLarge(
  const Vdbe *v,
  const HpPlan *pPlan,
  Mem *aMem,
  int *pbLarge,
  double *prOurs
){
  sqlite3 *db = v->db;
  const HpSourcePlan *pSource = hpQueryMain(pPlan);
  int i = hpPlanIsArms(pPlan) ? 0 : pPlan->nPipe-1;
  int rc = SQLITE_OK;
  *pbLarge = 0;
  *prOurs = 0;
  if( pPlan->pSearch && !hpPlanIsJoin(pPlan) ){
    return hpGateSearch(db, pPlan, aMem, hpThreads(db),
                        hpRaceMayBegin(v, pPlan),
                        pbLarge, prOurs);
  }
  for(; i<pPlan->nPipe && rc==SQLITE_OK && *pbLarge==0; i++){
    if( hpPlanIsArms(pPlan) ) pSource = &pPlan->aPipe[i].source;
    if( pSource->pRange ){
      rc = hpSizeRangeIsLarge(db, pSource, aMem, pbLarge);
    }else{
      rc = hpSizeIsLarge(db->aDb[pSource->iDb].pBt, pSource->iRoot, pSource->bIndex,
                           hpQueryIsPieces(pPlan) ? HP_MIN_PIECES : HP_MIN_LEAF, pbLarge);
    }
  }
  return rc;
}

/*
** Running p, which may be NULL, has failed with rc.  Returns what the statement ends
** with: HP_DECLINE if stock's code is to answer.
*/
static int hpQueryFailed(HpQuery *p, sqlite3 *db, int rc){
  assert( rc!=SQLITE_OK );
  /* What is corrupt stock may not get to, or give rows before */
  if( rc==HP_SERIAL || (rc & 0xff)==SQLITE_CORRUPT ) rc = HP_DECLINE;
  if( rc==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM || db->mallocFailed ){
    hpBudgetOomUndo(db);
    rc = HP_DECLINE;
  }
  if( rc==HP_DECLINE ){
    hpConfigStat(db, p && p->pPipe && p->pPipe->pass.bSmall
                     ? HP_STAT_SMALL : HP_STAT_DECLINED);
  }
  assert( rc!=HP_SERIAL && rc!=SQLITE_NOMEM && rc!=SQLITE_IOERR_NOMEM );
  return rc;
}

/*
** Is SQLite to begin in any case?
*/
static int hpQueryWaits(const Vdbe *v, const HpPlan *pPlan){
  if( hpConfig()->nRace ) return hpRaceMay(v, pPlan);
  return pPlan->bGuess && hpConfigOffload(v->db)!=HP_OFFLOAD_FORCE;
}

/*
** Run the plan of pOp->p4 for OP_HpScan, after nStep instructions.
*/
static int hpQueryScan(Vdbe *v, VdbeOp *pOp, Mem *aMem, u64 nStep){
  sqlite3 *db = v->db;
  HpPlan *pPlan = (HpPlan*)pOp->p4.pMem->z;
  Mem *pReg = &aMem[pOp->p1];
  HpQuery *p;
  int bLarge = 1;
  int eWhen = hpRaceWasLost(v, pPlan) ? HP_GATE_LATE : HP_GATE_FIRST_TIME;
  double rOurs = 0;
  HpQuery *pOld = 0;
  const HpGroupPlan *pShow;
  int rc;
  assert( pOp->opcode==OP_HpScan && sqlite3_mutex_held(db->mutex) );

  if( pPlan->nSet && (pReg->flags & MEM_Dyn) ){
    pOld = (HpQuery*)pReg->z;
  }else{
    sqlite3VdbeMemSetNull(pReg);
  }
  if( db->mallocFailed ) return SQLITE_NOMEM_BKPT;
  if( hpQueryMayNot(v) ) return HP_DECLINE;
  hpRaceStart(v, nStep);
  if( eWhen==HP_GATE_FIRST_TIME && hpQueryWaits(v, pPlan) ){
    if( hpConfig()->nRace || !hpRaceWillBeLost(v, pPlan) ){
      hpConfigStat(db, HP_STAT_SMALL);
      if( pPlan->nSkip>0 ) pPlan->nSkip--;
      else if( hpRaceMay(v, pPlan) ) hpRaceBegin(v, pPlan, nStep, -1);
      return HP_DECLINE;
    }
    eWhen = HP_GATE_LATE;
  }
  if( hpConfigOffload(db)!=HP_OFFLOAD_FORCE && eWhen!=HP_GATE_LATE ){
    rc = hpQueryIsLarge(v, pPlan, aMem, &bLarge, &rOurs);
    if( rc ) return (rc & 0xff)==SQLITE_CORRUPT ? HP_DECLINE : rc;
    if( rOurs>0 && hpRaceWillBeLost(v, pPlan) ) bLarge = 1;
  }
  p = bLarge ? hpQueryNew(v, pPlan) : 0;
  rc = p || !bLarge ? SQLITE_OK : HP_DECLINE;
  if( p ) rc = hpQuerySets(p, pPlan, pOld, aMem);
  sqlite3VdbeMemSetNull(pReg);
  if( p && rc==SQLITE_OK && hpPlanIsJoin(pPlan) && !hpQueryIsPieces(pPlan) ){
    rc = hpGateJoin(p, pPlan, aMem, hpThreads(db), eWhen,
                    hpRaceMayBegin(v, pPlan),
                    &bLarge, &rOurs);
    if( rc==SQLITE_OK && !bLarge && rOurs!=0 && hpRaceWillBeLost(v, pPlan) ){
      rc = hpGateJoin(p, pPlan, aMem, hpThreads(db), HP_GATE_LATE, 0, &bLarge,
                      &rOurs);
    }
  }
  if( rc==SQLITE_OK && !bLarge ){
    hpQueryFree(p);
    if( rOurs!=0 && hpRaceMay(v, pPlan) ) hpRaceBegin(v, pPlan, nStep, rOurs);
    hpConfigStat(db, HP_STAT_SMALL);
    return HP_DECLINE;
  }
  if( rc==SQLITE_OK && hpQueryIsPieces(pPlan) ){
    pReg[1].u.i = hpPieceNew(p, pPlan);
    if( p->pPieces==0 ) rc = HP_DECLINE;
    if( rc==SQLITE_OK ){
      sqlite3VdbeMemSetPointer(pReg, p, "hp", hpQueryFree);
      return SQLITE_OK;
    }
  }
  if( rc==SQLITE_OK ) rc = hpQueryRun(p, pPlan, aMem, hpThreads(db), 0);
  if( rc==HP_SERIAL ){
    hpConfigStat(db, HP_STAT_SERIAL);
    hpQueryFree(p);
    p = hpQueryNew(v, pPlan);
    rc = p ? hpQuerySets(p, pPlan, 0, aMem) : HP_DECLINE;
    if( rc==SQLITE_OK && hpPlanIsJoin(pPlan) ){
      rc = hpGateJoin(p, pPlan, aMem, 1, HP_GATE_LATE, 0, &bLarge, &rOurs);
    }
    if( rc==SQLITE_OK ) rc = hpQueryRun(p, pPlan, aMem, 1, 1);
  }
  if( rc==SQLITE_OK && hpPlanLast(pPlan)->pFind && hpPlanLast(pPlan)->pFind->pRange ){
    rc = hpEntryAll(p, aMem);
  }
  if( rc==SQLITE_OK && db->mallocFailed ) rc = SQLITE_NOMEM;
  if( rc ){
    rc = hpQueryFailed(p, db, rc);
    if( rc==HP_DECLINE && hpPlanIsJoin(pPlan) ) hpGateLost(pPlan);
    hpQueryFree(p);
    return rc;
  }
  hpQueryDone(p, pPlan);
  assert( p->v==v && p->pPipe->pPlan->pSink==hpPlanLast(pPlan)->pSink );
  if( p->pPipe->pEntry ) hpTopGroupBegin(p->pPipe);
  pShow = hpGroupOf(p->pPipe->pEntry);
  if( pShow && pShow->keys.n && !pShow->bStream && !pShow->bNoSort ){
    v->aCounter[SQLITE_STMTSTATUS_SORT]++;
#ifdef SQLITE_TEST
    sqlite3_sort_count++;
#endif
  }
  sqlite3VdbeMemSetPointer(pReg, p, "hp", hpQueryFree);
  return SQLITE_OK;
}

/*
** OP_HpScan.  SQLITE_OK: OP_HpNext delivers the groups, or OP_HpRow the rows.
** HP_DECLINE: stock's code is to answer.  Else an error.
**
** nStep instructions have been done: sqlite3HpLate().
**
** If P3 is set (HP_SCAN_xxx) register P1+1 says how many rows OP_HpRow leaves to
** stock.
*/
SQLITE_PRIVATE int sqlite3HpScan(Vdbe *v, VdbeOp *pOp, Mem *aMem, u64 nStep){
  int rc;
  Mem *pStock = &aMem[pOp->p1+1];
  if( pOp->p3 ) sqlite3VdbeMemSetInt64(pStock, 0);
  rc = hpQueryScan(v, pOp, aMem, nStep);
  assert( rc!=HP_SERIAL );           /* That is between workers and here */
  if( pOp->p3==HP_SCAN_FIND && rc==HP_DECLINE ) pStock->u.i = HP_ROWS_ALL;
  return rc;
}

/*
** How long would the plan take that v's loops, which SQLite runs, are in place of?
*/
static void hpQueryAsk(Vdbe *v){
  HpPlan *pPlan = v->hpRace.pPlan;
  HpQuery *p = 0;
  int bLarge = 0;
  double rOurs = 0;
  int rc = hpQueryIsLarge(v, pPlan, v->aMem, &bLarge, &rOurs);
  assert( v->pFrame==0 && v->eVdbeState==VDBE_RUN_STATE );
  if( rc==SQLITE_OK && bLarge ){
    p = hpQueryNew(v, pPlan);
    rc = p ? hpGateJoin(p, pPlan, v->aMem, hpThreads(v->db), HP_GATE_ASK, 1,
                        &bLarge, &rOurs)
           : SQLITE_NOMEM;
    hpQueryFree(p);
  }
  if( rc==SQLITE_OK && rOurs>0 ) hpRaceKnow(v, rOurs);
  else hpRaceEnd(v);
}

/*
** SQLite's loops run, nStep instructions of v have been done, and pOp+1 is the next one.  Returns
** SQLITE_OK, or what sqlite3VdbeExec() is to return: SQLITE_EMPTY if they are given up and v begins
** again; SQLITE_ERROR, as if the schema had changed, if it is to be prepared again.
*/
SQLITE_PRIVATE int sqlite3HpLate(Vdbe *v, const VdbeOp *pOp, u64 nStep){
  HpPlan *pPlan = v->hpRace.pPlan;
  switch( hpRaceLook(v, pOp, nStep) ){
    case HP_RACE_ASK:
      hpQueryAsk(v);
      break;
    case HP_RACE_LATE:
      hpConfigStat(v->db, HP_STAT_LATE);
      pPlan->iLate = v->aCounter[SQLITE_STMTSTATUS_RUN];
      v->hpRace.nAgain = v->minWriteFileFormat==254 ? v->hpRace.nAgain+1 : 1;
      v->hpRace.tAgain = hpRaceClock(nStep);
      hpRaceNote(v, pPlan->iLoop);
      hpQueryAgain(v);
      v->eHpRun = 0;
      return SQLITE_EMPTY;
    case HP_RACE_PREPARE:
      hpConfigLog(v->db, "prepared again");
      v->hpRace.bLong = 1;
      v->rc = SQLITE_SCHEMA;
      sqlite3VdbeHalt(v);
#ifndef SQLITE_OMIT_TRACE
      v->startTime = 0;    /* No profile of this part */
#endif
      return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

/*
** v was to be prepared again, which failed with rc.  True if it goes on with the program that it has:
** perhaps a limit has been lowered since.
*/
SQLITE_PRIVATE int sqlite3HpStays(Vdbe *v, int rc){
  v->db->hp.bKeep = 0;
  rc &= 0xff;
  if( v->hpRace.bLong==0 || v->expired || rc==SQLITE_NOMEM || rc==SQLITE_INTERRUPT ) return 0;
  v->hpRace.bLong = v->hpRace.bMay = v->eHpSmall = 0;
  return 1;
}

/*
** All cursors of pBtree become invalid and give rc from now on, because of a
** ROLLBACK.
*/
SQLITE_PRIVATE void sqlite3HpTripped(Btree *pBtree, int rc){
  Pager *pPager = sqlite3BtreePager(pBtree);
  pPager->hp.nTrip++;
  pPager->hp.rcTrip = rc;
}

/*
** OP_HpNext.  Copy the next group of the OP_HpScan with the same P1 into
** registers.  *pbDone is set if there is none.
*/
SQLITE_PRIVATE int sqlite3HpNext(Vdbe *v, VdbeOp *pOp, Mem *aMem, int *pbDone){
  HpPipe *p = ((HpQuery*)aMem[pOp->p1].z)->pPipe;
  u8 *aGroup;
  int rc = hpTopGroupNext(p, &aGroup);
  /* Too late: hpSignDoubt() is there to rule this out */
  assert( pOp->opcode==OP_HpNext && p->pQuery->v==v && p->pCrew==0 );
  assert( rc!=HP_SERIAL && rc!=HP_DECLINE );
  if( rc==HP_SERIAL || rc==HP_DECLINE ) rc = SQLITE_INTERNAL;
  /* Stock would have gone on with its cursor */
  if( rc==SQLITE_OK && aGroup && hpGroupOf(p->pEntry)->bStream && hpThreadTripped(p) ){
    rc = hpThreadPager(p)->hp.rcTrip;
  }
  *pbDone = aGroup==0;
  if( rc==SQLITE_OK && aGroup ){
    rc = hpResultLoad(p, aGroup, aMem, &p->pOut->buf);
  }
  if( v->db->mallocFailed ) rc = SQLITE_NOMEM_BKPT;
  return rc;
}
#endif /* SQLITE_OMIT_HP */
