/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_pipe: from a source to a sink, by several workers.
**
**    hpPipeNew()     the next pipe of a query
**    hpPipeRun()     run it to its end
**    hpPipeMore()    run a further arm with what its sink has
**    hpPipeDone()    let go of its source, and of its vectors
**    hpPipeClose()   free it, if there is one
**
** A pipe is a source (HpSourceType), filters and expressions (HpProg), and a sink
** (HpSinkType).  It knows none of them: each batch goes
**
**    xNext -> HpBatch -> hpExprFilter, hpExprRest -> HpFrame -> xRows
**
** Workers.  Each but the first has a thread of its own (hp_thread.c).  They
** must not touch the connection: its lookaside memory and mallocFailed belong
** to the caller.  Values and SQLite's functions want a connection to allocate
** from and to read limits of, so each of these workers gets a copy of the
** structure (hpPipeConnection).  What is in the copy:
**
**    1. Settings: encoding, limits, flags, collations.  Only the application's
**       thread changes them, and while several workers run it is inside of
**       sqlite3_step().  Functions and collations of the application have one
**       worker.  A progress handler must not change its connection.
**    2. The worker's own: lookaside memory (none), mallocFailed, bBenignMalloc,
**       pErr, pnBytesFreed, and nVdbeExec, which is 0, so that running out of
**       memory here interrupts no statement.
**    3. mutex is NULL: a worker does not hold the connection's, and SQLite's
**       asserts take NULL for one that is held.
**    4. Pointers to what the connection owns: databases, statements, savepoints,
**       hooks, virtual tables, hash tables of functions.  A worker follows none
**       of them here.  It gets to the file by way of HpQuery.db, with
**       HpPipe.pMutex held.
**    5. u1.isInterrupted and counters are those of when the copy was made.
**       Nothing reads them: hpThreadStopped() looks at HpQuery.db.
**
** A new field in a newer SQLite belongs to one of the five: HP_SZ_CONNECTION
** is there to have somebody look.
**
** Pipes of the arms of a UNION ALL have one sink (HpPipePlan.bMore, bAdds).  The workers
** of the first one stay, each with what its sink has so far, and go on with the source
** and the program of the next.
**
** A worker that fails sets HpPass.bStop.  If all that failed declined so does
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
** Bytes of struct sqlite3 without our field, where options decide on none of its
** fields otherwise than by default.  If it is another number fields have come
** or gone: see what they are for hpPipeConnection(), then change it.
*/
#if SQLITE_OS_UNIX && SQLITE_PTRSIZE>4 \
 && defined(SQLITE_ENABLE_PREUPDATE_HOOK) \
 && defined(SQLITE_ENABLE_UNLOCK_NOTIFY) \
 && !defined(SQLITE_ENABLE_SETLK_TIMEOUT) \
 && !defined(SQLITE_OMIT_AUTHORIZATION) \
 && !defined(SQLITE_OMIT_DEPRECATED) \
 && !defined(SQLITE_OMIT_PROGRESS_CALLBACK) \
 && !defined(SQLITE_OMIT_TWOSIZE_LOOKASIDE) \
 && !defined(SQLITE_OMIT_VIRTUALTABLE) \
 && !defined(SQLITE_OMIT_WAL)
# define HP_SZ_CONNECTION 864
#else
# define HP_SZ_CONNECTION (sizeof(sqlite3)-sizeof(HpSettings))
#endif

/*
** A copy of connection db for a worker: see above.
*/
static sqlite3 *hpPipeConnection(sqlite3 *db){
  sqlite3 *pCopy = sqlite3_malloc64(sizeof(*pCopy));
  assert( sizeof(sqlite3)-sizeof(HpSettings)==HP_SZ_CONNECTION );
  assert( sqlite3_mutex_held(db->mutex) );
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
    /* sqlite3DbFree() takes nothing for lookaside memory */
    assert( pCopy->lookaside.pTrueEnd==0 && pCopy->lookaside.pEnd==0 );
  }
  return pCopy;
}

/*
** Allocate what worker p needs for the pipe of now, but for its sink, and read the
** constants from registers aMem[].
*/
static int hpPipeStart(HpWorker *p, Mem *aMem){
  const HpPipePlan *pPlan = p->pPipe->pPlan;
  HpFrame *pFrame = &p->frame;
  int rc;
  /* Nothing of a pipe before is left */
  assert( p->frame.aVec==0 && p->vec.nTotal==0 );
  p->pPlan = pPlan;
  rc = pPlan->source.pType->xBegin(p);
  if( rc || pPlan->pSink->xRows==0 ) return rc;
  pFrame->pWorker = p;
  pFrame->pSource = pPlan->source.pType;
  pFrame->db = p->db;
  pFrame->pCfg = p->pCfg;
  pFrame->pProg = &pPlan->prog;
  pFrame->nAlloc = p->pRead->batch.nAlloc;
#ifdef HP_AVX2
  pFrame->bAvx2 = !p->pCfg->bNoSimd && __builtin_cpu_supports("avx2");
#endif
  return hpExprOpen(pFrame, aMem);
}

/* Free what hpPipeStart() has made for worker p */
static void hpPipeStop(HpWorker *p){
  sqlite3 *db = p->pPipe->pQuery->db;
  db->hp.aStat[HP_STAT_AHEAD] += p->pRead->run.nAsked;
  db->hp.aStat[HP_STAT_COLUMNS] += p->pRead->run.nKept;
  db->hp.aStat[HP_STAT_MENDED] += p->pRead->run.nMended;
  hpKeepClose(p);
  hpMendClose(p);
  hpExprClose(&p->frame);
  hpValuesClose(p);
  hpArenaClear(&p->side);
  hpArenaClear(&p->vec);
}

/*
** Make worker i.
*/
static int hpPipeOpen(HpPipe *pPipe, int i, Mem *aMem){
  const HpQuery *pQuery = pPipe->pQuery;
  HpWorker *p;
  int rc;
  assert( pPipe->apWorker[i]==0 && pPipe->pCrew==0 );
  assert( pPipe->pass.nScanned==0 && pPipe->pass.bStop==0 );
  assert( pPipe->pass.bEnd==0 && pPipe->pass.bAll==0 );
  pPipe->apWorker[i] = p = sqlite3MallocZero(sizeof(*p) + sizeof(HpReader));
  if( p==0 ) return HP_DECLINE;
  p->pRead = (HpReader*)&p[1];
  p->pPipe = pPipe;
  p->pCfg = pQuery->pCfg;
  p->db = i==0 ? pQuery->db : hpPipeConnection(pQuery->db);
  if( p->db==0 ){
    p->db = pQuery->db;
    return HP_DECLINE;
  }
  rc = hpPipeStart(p, aMem);
  if( rc || pPipe->pPlan->pSink->xRows==0 ) return rc;
  return pPipe->pPlan->pSink->xOpen(p, aMem);
}

/*
** Let worker p, with what its sink has, go on with the arm that its pipe reads
** now.
*/
static int hpPipeGoOn(HpWorker *p, Mem *aMem){
  int rc;
  assert( p->pPlan->bMore && p->pPipe->pPlan->bAdds && p->rc==SQLITE_OK );
  assert( p->pPlan->pSink==p->pPipe->pPlan->pSink );
  hpPipeStop(p);
  memset(&p->pRead->run, 0, sizeof(p->pRead->run));
  memset(&p->pRead->batch, 0, sizeof(p->pRead->batch));
  memset(&p->frame, 0, sizeof(p->frame));
  p->pRead->pValues = 0;
  p->pRead->aRaw = 0;
  rc = hpPipeStart(p, aMem);
  p->pPlan->pSink->xMore(p);
  return rc;
}

/*
** A worker has scanned a batch of nRow rows.  Is the scan to stop?
*/
static int hpPipePoll(HpWorker *p, int nRow){
  const HpPipe *pPipe = p->pPipe;
  assert( nRow>0 && pPipe->apWorker[0]->db==pPipe->pQuery->db );
  p->nScanned += nRow;
  if( p==pPipe->apWorker[0] && hpThreadChanged(pPipe->pQuery) ){
    return HP_DECLINE;
  }
  return hpThreadProgress(p, (u32)nRow*HP_STEPS);
}

/*
** Filter the rows of the batch, give those that pass to the sink, and empty it.
*/
static int hpPipeBatch(HpWorker *p){
  HpFrame *pFrame = &p->frame;
  int nRow = p->pRead->batch.nRow + p->pRead->batch.nSkip;
  int rc = SQLITE_OK;
  assert( p->pRead->batch.nRow<=pFrame->nAlloc || pFrame->pWorker==0 );
  if( nRow==0 ) return SQLITE_OK;
  pFrame->nRow = p->pRead->batch.nRow;
  if( pFrame->nRow ) rc = hpExprFilter(pFrame);
  if( rc==SQLITE_OK && pFrame->nRow>0 && pFrame->nSel>0 ){
    rc = hpExprRest(pFrame);
    assert( rc || (hpVecIsSelection(pFrame) && pFrame->nDepth==0) );
    p->nPassed += pFrame->nSel;
    if( rc==SQLITE_OK ) rc = p->pPlan->pSink->xRows(p, pFrame);
  }
  p->pRead->nSkipped += p->pRead->batch.nSkip;
  hpRecordEmpty(p);
  /* The lower half of a position is the row within the run */
  assert( (pFrame->iPos & 0xffffffff)+(u64)nRow<=0xffffffff );
  pFrame->iPos += nRow;
  if( rc==SQLITE_OK ) rc = hpPipePoll(p, nRow);
  return rc;
}

/*
** Take batch after batch of the source until there is none.
*/
static int hpPipeBatches(HpWorker *p){
  const HpSourceType *pSource = p->pPlan->source.pType;
  const HpSinkType *pSink = p->pPlan->pSink;
  HpPipe *pPipe = p->pPipe;
  int rc;
  if( pPipe->pass.bNone ) return SQLITE_OK;
  if( pPipe->pass.bAlone && p!=pPipe->apWorker[0] ) return SQLITE_OK;
  while( (rc = pSource->xNext(p))==SQLITE_OK && p->pRead->run.nPage>0 ){
    rc = hpPipeBatch(p);
    if( rc ) return rc;
    assert( p->pRead->run.iLeaf<=p->pRead->run.nPage );
    if( p->pRead->run.iLeaf==p->pRead->run.nPage ){
      if( pSink->xRunEnd ) pSink->xRunEnd(p);
      if( AtomicLoad(&pPipe->pass.bEnd) ){
        /* All runs up to the last one that was taken have been read */
        assert( p->pRead->run.iQuick==p->pRead->run.nQuick );
        return SQLITE_OK;
      }
    }
  }
  AtomicStore(&pPipe->pass.bAll, 1);
  return rc;
}

/*
** All that a worker does in its thread.  The result is in p->rc.
*/
static void hpPipeWork(HpWorker *p){
  const HpSinkType *pSink = p->pPlan->pSink;
  assert( p->pPlan==p->pPipe->pPlan );
  p->rc = hpPipeBatches(p);
  hpKeepForget(p);
  if( p->rc==SQLITE_OK && pSink->xFinish && p->pPlan->bMore==0 ){
    p->rc = pSink->xFinish(p);
  }
  /* It may end here, so it must not keep others from what they share */
  assert( p->pPipe->pMutex==0 || sqlite3_mutex_notheld(p->pPipe->pMutex) );
  if( p->rc ) AtomicStore(&p->pPipe->pass.bStop, 1);
}

/*
** Free worker i of a pipe.
*/
static void hpPipeFreeWorker(HpPipe *pPipe, int i){
  HpWorker *p = pPipe->apWorker[i];
  if( p ){
    assert( pPipe->pCrew==0 && p->pPipe==pPipe );
    if( pPipe->pPlan->pSink->xClose ) pPipe->pPlan->pSink->xClose(p);
    hpPipeStop(p);
    if( p->db!=pPipe->pQuery->db ) sqlite3_free(p->db);
    sqlite3_free(p);
    pPipe->apWorker[i] = 0;
  }
}

/*
** Let go of the source, which has been read.
*/
static void hpPipeSourceEnd(HpPipe *p){
  hpSourceClose(p->pSource);
  p->pSource = 0;
}

/*
** Pipe p has run.  Let go of what is not needed to deliver.
*/
static void hpPipeDone(HpPipe *p){
  int i;
  assert( p->pCrew==0 && p->pass.bStop==0 );
  hpPipeSourceEnd(p);
  for(i=0; i<p->nWorker; i++){
    hpKeepClose(p->apWorker[i]);
    hpMendClose(p->apWorker[i]);
    hpExprClose(&p->apWorker[i]->frame);
    hpArenaClear(&p->apWorker[i]->vec);
  }
}

/*
** Free pipe p, with its result.  What its sink has made for later pipes belongs
** to the query.
*/
static void hpPipeFree(HpPipe *p){
  int i;
  assert( p->pCrew==0 );
  hpMergeClose(p);
  hpTopGroupEnd(p);
  hpAggAheadClose(p);
  for(i=0; i<p->nWorker; i++) hpPipeFreeWorker(p, i);
  hpPipeSourceEnd(p);
  assert( p->pMutex==0 || sqlite3_mutex_notheld(p->pMutex) );
  sqlite3_mutex_free(p->pMutex);
  if( p->pGroups ){
    hpRegroupForget(p);
    hpPipeFree(p->pGroups);
  }
  hpArenaClear(&p->arena);
  sqlite3_free(p->pOut->buf.a);
  sqlite3_free(p);
}

/*
** Free the pipe that p has, if there is one.
*/
static void hpPipeClose(HpQuery *p){
  if( p->pPipe ){
    assert( p->pPipe->pQuery==p );
    hpPipeFree(p->pPipe);
    p->pPipe = 0;
  }
}

/*
** Let pQuery have a pipe that does pPlan.  It has none, or one whose groups the
** new one reads and owns.  HP_DECLINE: there is no memory.
*/
static int hpPipeNew(HpQuery *pQuery, const HpPipePlan *pPlan){
  HpPipe *pOld = pQuery->pPipe;
  HpPipe *p;
  assert( (pOld!=0)==(pPlan->source.pType==&hpRegroupType) );
  assert( (pPlan->pGroup!=0)+(pPlan->pSort!=0)+(pPlan->pFind!=0)
              +(pPlan->pRel!=0)+(pPlan->pCheck!=0)
              +(pPlan->pPrefix!=0 && pPlan->pSink->xRows!=0)
                  ==(pPlan->pSink->xRows!=0) );
  /* Running out of memory here is no error: stock needs less */
  sqlite3BeginBenignMalloc();
  p = sqlite3MallocZero(sizeof(*p) + sizeof(HpDelivery) + sizeof(HpShown));
  sqlite3EndBenignMalloc();
  if( p==0 ) return HP_DECLINE;
  p->pQuery = pQuery;
  p->pPlan = pPlan;
  p->pOut = (HpDelivery*)&p[1];
  p->pShown = (HpShown*)&p->pOut[1];
  if( pOld ){
    hpPipeSourceEnd(pOld);
    hpRegroupKeep(p, pOld);
  }
  pQuery->pPipe = p;
  return SQLITE_OK;
}

/*
** Note which rows of the pipe are wanted, if that is known: none, or those whose rowids
** are kept as bits.
*/
static void hpPipeWanted(HpPipe *p){
  HpPortion *pPortion = &p->portion;
  const HpPipePlan *pPlan = p->pPlan;
  const HpRel *pRel = pPlan->eWant ? p->pQuery->apRel[pPlan->iWant] : 0;
  p->pass.bNone = pRel!=0 && pRel->nRow==0;
  pPortion->pWanted = 0;
  pPortion->nWanted = 0;
  if( pRel && pPlan->eWant==HP_WANT_ROWID && pRel->bits.nBit ){
    pPortion->pWanted = &pRel->bits;
    pPortion->nWanted = pRel->nRow;
  }
}

/*
** Choose up to p->mxWorker workers, and make them.
*/
static int hpPipeCrew(HpPipe *p, Mem *aMem){
  const HpPipePlan *pPlan = p->pPlan;
  int bMany = p->pQuery->pCfg->nThread>1;
  int rc = SQLITE_OK;
  int i;
  p->nWorker = 1;
  if( p->mxWorker>1 && pPlan->bSerial==0 && hpThreadsFit(p)
   && (pPlan->bMore || hpSourceParallel(p->pSource, bMany))
  ){
    p->pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    if( p->pMutex ) p->nWorker = p->mxWorker;
  }
  assert( p->nWorker<=p->mxWorker && (p->nWorker==1)==(p->pMutex==0) );
  hpBudgetOpen(p);
  for(i=0; i<p->nWorker && rc==SQLITE_OK; i++) rc = hpPipeOpen(p, i, aMem);
  return rc;
}

/*
** Note the constants of HAVING.
*/
static void hpPipeHaving(HpPipe *p){
  const HpGroupPlan *pGroup = p->pPlan->pGroup;
  const HpVec *aVec = p->apWorker[0]->frame.aVec;
  int i;
  for(i=0; i<pGroup->nHaving; i++){
    const HpVec *pVec = &aVec[pGroup->aHaving[i].iVec];
    assert( pVec->mIdx==0 && i<HP_MX_HAVING );
    p->pShown->aHaving[i].tag = pVec->aTag[0];
    p->pShown->aHaving[i].val = pVec->aVal[0];
  }
}

/*
** Open the source of p->pPlan, and get ready to read it.
*/
static int hpPipeBegin(HpPipe *p, Mem *aMem){
  const HpPipePlan *pPlan = p->pPlan;
  int rc, i;
  assert( p->pSource==0 && p->pass.nScanned==0 );
  p->pEntry = pPlan->pSort ? &pPlan->pSort->row.entry
            : pPlan->pGroup ? &pPlan->pGroup->entry : 0;
  p->pBt = p->pQuery->db->aDb[pPlan->source.iDb].pBt->pBt;
  p->nTrip = hpThreadPager(p)->hp.nTrip;
  hpPipeWanted(p);
  rc = pPlan->source.pType->bValues ? SQLITE_OK : hpSourceOpen(p, aMem);
  if( pPlan->bAdds ){
    for(i=0; i<p->nWorker && rc==SQLITE_OK; i++){
      rc = hpPipeGoOn(p->apWorker[i], aMem);
    }
  }else{
    if( rc==SQLITE_OK && pPlan->pSink->xBegin ){
      rc = pPlan->pSink->xBegin(p, aMem);
    }
    if( rc==SQLITE_OK ) rc = hpPipeCrew(p, aMem);
  }
  if( rc==SQLITE_OK && pPlan->pGroup ) hpPipeHaving(p);
  if( rc==SQLITE_OK && (pPlan->bMore || pPlan->bAdds) ){
    p->pass.bAlone = !hpSourceParallel(p->pSource, 1);
  }
  return rc;
}

/*
** Read the source of p->pPlan to its end.
*/
static int hpPipeRead(HpPipe *p, Mem *aMem){
  const HpPipePlan *pPlan = p->pPlan;
  HpStep step;
  int rc, i;
  assert( sqlite3_mutex_held(p->pQuery->db->mutex) );
  hpStepBegin(p, &step);
  /* Running out of memory here is no error: stock needs less */
  sqlite3BeginBenignMalloc();
  rc = hpPipeBegin(p, aMem);
  sqlite3EndBenignMalloc();
  /* Functions with constant arguments have been called */
  if( rc==SQLITE_OK && hpThreadChanged(p->pQuery) ) rc = HP_DECLINE;
  if( rc==SQLITE_OK ) rc = hpThreadEach(p, hpPipeWork);
  assert( p->pCrew==0 && (rc || p->pass.bStop==0) );
  if( rc==SQLITE_OK && hpThreadChanged(p->pQuery) ) rc = HP_DECLINE;
  if( rc==SQLITE_OK && pPlan->prog.nRange>0 && !hpExprRangeIsWhole(p) ){
    rc = HP_DECLINE;
  }
  if( rc ) return rc;
  for(i=0; i<p->nWorker; i++) p->pass.nScanned += p->apWorker[i]->nScanned;
  if( pPlan->bMore ){
    p->portion.iRun = hpSourceRuns(p->pSource);
    hpPipeSourceEnd(p);
  }else if( pPlan->pSink->xCombine ){
    rc = pPlan->pSink->xCombine(p);
  }
  if( rc==SQLITE_OK ) hpStepEnd(p, &step);
  return rc;
}

/*
** Run p, which is new, with up to nWorker workers.
*/
static int hpPipeRun(HpPipe *p, Mem *aMem, int nWorker){
  assert( nWorker>=1 && nWorker<=HP_MX_THREAD );
  assert( p->nWorker==0 && p->pMutex==0 && p->pPlan->bAdds==0 );
  p->mxWorker = nWorker;
  return hpPipeRead(p, aMem);
}

/*
** Let the workers of p, which has run, go on with pPlan: its rows go to the
** groups that they have.
*/
static int hpPipeMore(HpPipe *p, const HpPipePlan *pPlan, Mem *aMem){
  assert( pPlan->bAdds && p->pPlan->bMore && p->nWorker>0 );
  p->pPlan = pPlan;
  memset(&p->pass, 0, sizeof(p->pass));
  return hpPipeRead(p, aMem);
}
#endif /* SQLITE_OMIT_HP */
