/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_exec: a scan, from the first leaf to its result.
**
**    sqlite3HpScan()     OP_HpScan: the whole query up to its groups
**    sqlite3HpNext()     OP_HpNext: the next group into registers
**    sqlite3HpTripped()  cursors on a file become invalid: scans notice
**    sqlite3HpRestart()  a statement ran out of memory: does it begin again?
**    hpScanRun()         run a plan
**    hpScanFree()        free a scan
**
** OP_HpScan runs from the first leaf to the sorted groups without giving
** control back.  Meanwhile only code of the application that the scan calls
** can change this connection: functions, collations, the progress handler.
** After each batch the scan looks whether it has (hpScanChanged()), and if so
** declines: SQLite's code begins again.  It also looks whether it was
** interrupted.
**
** Workers.  Each but the first has a thread of its own (hp_thread.c).  They
** must not touch the connection: its lookaside memory and mallocFailed belong
** to the caller.  Values and SQLite's functions want a connection to allocate
** from and to read limits of, so each of these workers gets a copy of the
** structure, without lookaside memory.
**
** Memory.  SQLite alone needs less, so that no allocation fails which it would
** have got: one that fails during OP_HpScan declines; one that fails later, in
** whosever code, lets the program begin again without us (sqlite3HpRestart()),
** unless it has given a row.  What is allocated between the rows is what SQLite
** allocates there; where more is needed it is reserved before (hp_merge.c).  A
** statement that writes cannot begin again: while memory is limited OP_HpScan
** declines.
**
** A worker that fails sets HpScan.bStop.  If all that failed declined so does
** the scan; else the error counts.  HP_SERIAL lets the scan run again with one
** worker.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Opcodes a row that the progress handler is told about */
#define HP_STEPS 8

/*
** Statement v stops with error *pRc.  If it ran out of memory, after OP_HpScan
** took more than SQLite would have, and nobody has seen anything yet, make it
** ready to begin again without it, set *pRc so that sqlite3Step() runs it, and
** return true.
** minWriteFileFormat makes OP_Init not trace it twice, and tells OP_HpScan
** that this is the same execution.
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
  closeAllCursors(v);
  hpOomUndo(db);
  sqlite3DbFree(db, v->zErrMsg);
  v->zErrMsg = 0;
  v->rc = SQLITE_OK;
  v->pc = 0;
  v->minWriteFileFormat = 254;
  v->eHpRun = HP_RUN_AGAIN;
  hpStat(db, HP_STAT_DECLINED);
  *pRc = SQLITE_EMPTY;
  return 1;
}

/*
** Free worker i of a scan.
*/
static void hpExecFree(HpScan *pScan, int i){
  HpExec *p = pScan->apWorker[i];
  if( p ){
    pScan->db->hp.aStat[HP_STAT_AHEAD] += p->run.nAsked;
    if( pScan->pSink->xClose ) pScan->pSink->xClose(p);
    hpExprClose(&p->frame);
    hpArenaClear(&p->batch.side);
    hpArenaClear(&p->vec);
    if( p->db!=pScan->db ) sqlite3_free(p->db);
    sqlite3_free(p);
    pScan->apWorker[i] = 0;
  }
}

/*
** Free a scan: destructor of the pointer in the register of OP_HpScan.
*/
static void hpScanFree(void *pArg){
  HpScan *p = (HpScan*)pArg;
  if( p ){
    int i;
    hpMergeClose(p);
    hpOrderClose(p);
    for(i=0; i<p->nWorker; i++) hpExecFree(p, i);
    hpSourceClose(p->pSource);
    hpArenaClear(&p->arena);
    sqlite3_mutex_free(p->pMutex);
    sqlite3_free(p->buf.a);
    sqlite3_free(p);
  }
}

/*
** A copy of connection db for a worker: see above.
*/
static sqlite3 *hpExecConnection(sqlite3 *db){
  sqlite3 *pCopy = sqlite3_malloc64(sizeof(*pCopy));
  if( pCopy ){
    memcpy(pCopy, db, sizeof(*pCopy));
    memset(&pCopy->lookaside, 0, sizeof(pCopy->lookaside));
    pCopy->lookaside.bDisable = 1;
    pCopy->mutex = 0;
    pCopy->mallocFailed = 0;
    pCopy->bBenignMalloc = 0;
    pCopy->nVdbeExec = 0;
    pCopy->pParse = 0;
    pCopy->pErr = 0;
    pCopy->pnBytesFreed = 0;
  }
  return pCopy;
}

/*
** Make worker i: allocate what it needs and read the constants from registers
** aMem[].
*/
static int hpExecOpen(HpScan *pScan, int i, Mem *aMem){
  const HpPlan *pPlan = pScan->pPlan;
  HpExec *p;
  HpFrame *pFrame;
  int rc;

  pScan->apWorker[i] = p = sqlite3_malloc64(sizeof(*p));
  if( p==0 ) return HP_DECLINE;
  memset(p, 0, sizeof(*p));
  p->pScan = pScan;
  p->pPlan = pPlan;
  p->pCfg = pScan->pCfg;
  p->nMemory = hpMemory(pScan->db)/pScan->nWorker;
  p->db = i==0 ? pScan->db : hpExecConnection(pScan->db);
  if( p->db==0 ){
    p->db = pScan->db;
    return HP_DECLINE;
  }
  rc = hpRunInit(p);
  if( rc || pScan->pSink->xRows==0 ) return rc;
  rc = hpBatchInit(p);
  if( rc ) return rc;
  pFrame = &p->frame;
  pFrame->pWorker = p;
  pFrame->db = p->db;
  pFrame->pCfg = p->pCfg;
  pFrame->pProg = &pPlan->prog;
  pFrame->nAlloc = p->batch.nAlloc;
  pFrame->mxText = p->nMemory;
#ifdef HP_AVX2
  pFrame->bAvx2 = !p->pCfg->bNoSimd && __builtin_cpu_supports("avx2");
#endif
  rc = hpExprOpen(pFrame, aMem);
  return rc ? rc : pScan->pSink->xOpen(p, aMem);
}

/*
** A worker has scanned a batch of nRow rows.  Is the scan to stop?
*/
static int hpExecPoll(HpExec *p, int nRow){
  HpScan *pScan = p->pScan;
  p->nScanned += nRow;
  if( p==pScan->apWorker[0] && hpScanChanged(pScan) ) return HP_DECLINE;
  return hpExecProgress(p, (u32)nRow*HP_STEPS);
}

/*
** Filter the rows of the batch, give those that pass to the sink, and empty it.
*/
static int hpExecBatch(HpExec *p){
  HpFrame *pFrame = &p->frame;
  int nRow = p->batch.nRow + p->batch.nSkip;
  int rc = SQLITE_OK;
  if( nRow==0 ) return SQLITE_OK;
  pFrame->nRow = p->batch.nRow;
  if( pFrame->nRow ) rc = hpExprFilter(pFrame);
  if( rc==SQLITE_OK && pFrame->nRow>0 && pFrame->nSel>0 ){
    rc = hpExprRest(pFrame);
    if( rc==SQLITE_OK ) rc = p->pScan->pSink->xRows(p, pFrame);
  }
  p->nSkipped += p->batch.nSkip;
  hpBatchEmpty(&p->batch);
  pFrame->iPos += nRow;
  if( rc==SQLITE_OK ) rc = hpExecPoll(p, nRow);
  return rc;
}

/*
** Work on one run of leaves after the other until there is none.
*/
static int hpExecRuns(HpExec *p){
  const HpSinkType *pSink = p->pScan->pSink;
  int rc;
  int i;
  while( (rc = hpSourceNext(p))==SQLITE_OK && p->run.nPage>0 ){
    p->frame.iPos = (u64)p->run.iSeq<<32;
    for(i=0; i<p->run.nPage; i++){
      int iCell = 0;
      while( iCell>=0 ){
        rc = hpRecordLeaf(p, i, &iCell);
        if( rc ) return rc;
        if( p->batch.nRow==p->batch.nAlloc ){
          rc = hpExecBatch(p);
          if( rc ) return rc;
        }
      }
    }
    /* The next run overwrites the pages that the batch points into */
    rc = hpExecBatch(p);
    if( rc ) return rc;
    if( pSink->xRunEnd ) pSink->xRunEnd(p);
    if( AtomicLoad(&p->pScan->bEnd) ) return SQLITE_OK;
  }
  AtomicStore(&p->pScan->bAll, 1);
  return rc;
}

/*
** All that a worker does in its thread.  The result is in p->rc.
*/
static void hpExecRun(HpExec *p){
  const HpSinkType *pSink = p->pScan->pSink;
  p->rc = pSink->xRows ? hpExecRuns(p) : hpCountRuns(p);
  if( p->rc==SQLITE_OK && pSink->xFinish ) p->rc = pSink->xFinish(p);
  if( p->rc ) AtomicStore(&p->pScan->bStop, 1);
}

/*
** Run the plan with up to nWorker workers.  *ppScan is to be freed.
*/
static int hpScanRun(
  Vdbe *v,
  const HpPlan *pPlan,
  Mem *aMem,
  int nWorker,
  int bExact,            /* Add up row by row */
  HpScan **ppScan
){
  HpScan *p;
  int rc, i;

  /* Running out of memory here is no error: stock needs less */
  sqlite3BeginBenignMalloc();
  *ppScan = p = sqlite3_malloc64(sizeof(*p));
  if( p==0 ){
    rc = HP_DECLINE;
  }else{
    memset(p, 0, sizeof(*p));
    p->db = v->db;
    p->v = v;
    p->pPlan = pPlan;
    p->pCfg = hpConfig();
    p->pSink = hpSinkOf(pPlan);
    p->nChange = hpScanChanges(p);
    p->nTrip = hpScanPager(p)->hp.nTrip;
    p->bExact = bExact;
    rc = hpSourceOpen(p, aMem);
    if( rc==SQLITE_OK && p->pSink->xBegin ) rc = p->pSink->xBegin(p, aMem);
    if( rc==SQLITE_OK ){
      p->nWorker = 1;
      if( nWorker>1 && pPlan->bSerial==0 && hpThreadsFit(p)
       && hpSourceParallel(p->pSource, p->pCfg->nThread>1)
      ){
        p->pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
        if( p->pMutex ) p->nWorker = nWorker;
      }
      for(i=0; i<p->nWorker && rc==SQLITE_OK; i++){
        rc = hpExecOpen(p, i, aMem);
      }
    }
  }
  for(i=0; i<pPlan->nHaving && rc==SQLITE_OK; i++){
    const HpVec *pVec = &p->apWorker[0]->frame.aVec[pPlan->aHaving[i].iVec];
    p->aHaving[i].tag = pVec->aTag[0];
    p->aHaving[i].val = pVec->aVal[0];
  }
  sqlite3EndBenignMalloc();
  /* Functions with constant arguments have been called */
  if( rc==SQLITE_OK && hpScanChanged(p) ) rc = HP_DECLINE;
  if( rc==SQLITE_OK ) rc = hpScanEach(p, hpExecRun);
  if( rc==SQLITE_OK && hpScanChanged(p) ) rc = HP_DECLINE;
  if( rc==SQLITE_OK && pPlan->prog.nRange>0 && !hpExprRangeIsWhole(p) ){
    rc = HP_DECLINE;
  }
  if( rc==SQLITE_OK ){
    for(i=0; i<p->nWorker; i++) p->nScanned += p->apWorker[i]->nScanned;
    if( p->pSink->xCombine ) rc = p->pSink->xCombine(p);
  }
  return rc;
}

/*
** OP_HpScan.  Run the plan of pOp->p4.  SQLITE_OK: OP_HpNext delivers the
** groups.  HP_DECLINE: stock's code is to answer.  Else an error.
*/
SQLITE_PRIVATE int sqlite3HpScan(Vdbe *v, VdbeOp *pOp, Mem *aMem){
  sqlite3 *db = v->db;
  const HpPlan *pPlan = (const HpPlan*)pOp->p4.pMem->z;
  Mem *pReg = &aMem[pOp->p1];
  HpScan *p;
  int i, rc;

  sqlite3VdbeMemSetNull(pReg);
  if( db->hp.eOffload==HP_OFFLOAD_OFF ) return HP_DECLINE;
  /* After a ROLLBACK in a function the program may not be true of the schema.
  ** OP_OpenRead says so. */
  if( v->expired==1 ) return HP_DECLINE;
  if( v->eHpRun==HP_RUN_AGAIN && v->minWriteFileFormat==254 ) return HP_DECLINE;
  if( v->readOnly==0 && hpMemoryLimited() ) return HP_DECLINE;
  if( db->mallocFailed ) return SQLITE_NOMEM_BKPT;
  /* Below the usual limit stock may fail on records of its sorter */
  if( db->aLimit[SQLITE_LIMIT_LENGTH]<SQLITE_MAX_LENGTH ) return HP_DECLINE;
  if( hpOffload(db)!=HP_OFFLOAD_FORCE ){
    int bLarge;
    if( pPlan->pRange ){
      rc = hpSourceRangeIsLarge(db, pPlan, aMem, &bLarge);
    }else{
      rc = hpSourceIsLarge(db->aDb[pPlan->iDb].pBt, pPlan->iRoot,
                           pPlan->bIndex, HP_MIN_LEAF, &bLarge);
    }
    if( rc ) return (rc & 0xff)==SQLITE_CORRUPT ? HP_DECLINE : rc;
    if( !bLarge ){
      hpStat(db, HP_STAT_SMALL);
      return HP_DECLINE;
    }
  }
  rc = hpScanRun(v, pPlan, aMem, hpThreads(db), 0, &p);
  if( rc==HP_SERIAL ){
    hpStat(db, HP_STAT_SERIAL);
    hpScanFree(p);
    rc = hpScanRun(v, pPlan, aMem, 1, 1, &p);
  }
  if( rc==SQLITE_OK && db->mallocFailed ) rc = SQLITE_NOMEM;
  if( rc ){
    /* What is corrupt stock may not get to, or give rows before */
    if( rc==HP_SERIAL || (rc & 0xff)==SQLITE_CORRUPT ) rc = HP_DECLINE;
    if( rc==SQLITE_NOMEM || rc==SQLITE_IOERR_NOMEM || db->mallocFailed ){
      hpOomUndo(db);
      rc = HP_DECLINE;
    }
    if( rc==HP_DECLINE ){
      hpStat(db, p && p->bSmall ? HP_STAT_SMALL : HP_STAT_DECLINED);
    }
    hpScanFree(p);
    return rc;
  }
  hpStat(db, HP_STAT_RUN);
  v->eHpRun = HP_RUN_DONE;
  hpRan();
  hpSourceClose(p->pSource);
  p->pSource = 0;
  for(i=0; i<p->nWorker; i++){
    hpExprClose(&p->apWorker[i]->frame);
    hpArenaClear(&p->apWorker[i]->vec);
  }
  if( p->nScanned ) v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] +=
      (u32)(p->nScanned-1);
  if( pPlan->keys.n && p->apWorker[0]->pRuns ){
    v->aCounter[SQLITE_STMTSTATUS_SORT]++;
#ifdef SQLITE_TEST
    sqlite3_sort_count++;
#endif
  }
  sqlite3VdbeMemSetPointer(pReg, p, "hp", hpScanFree);
  return SQLITE_OK;
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
** registers.  *pbDone is set when there is none.
*/
SQLITE_PRIVATE int sqlite3HpNext(Vdbe *v, VdbeOp *pOp, Mem *aMem, int *pbDone){
  HpScan *p = (HpScan*)aMem[pOp->p1].z;
  u8 *aGroup;
  int rc = hpMergeNext(p, &aGroup);
  /* Too late: hpMergeDoubt() is there to rule this out */
  assert( rc!=HP_SERIAL && rc!=HP_DECLINE );
  if( rc==HP_SERIAL || rc==HP_DECLINE ) rc = SQLITE_INTERNAL;
  /* Stock would have gone on with its cursor */
  if( rc==SQLITE_OK && aGroup && p->pPlan->bStream && hpScanTripped(p) ){
    rc = hpScanPager(p)->hp.rcTrip;
  }
  *pbDone = aGroup==0;
  if( rc==SQLITE_OK && aGroup ) rc = hpResultLoad(p, aGroup, aMem, &p->buf);
  if( v->db->mallocFailed ) rc = SQLITE_NOMEM_BKPT;
  return rc;
}
#endif /* SQLITE_OMIT_HP */
