/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_pipe: from a source to a sink, by several workers.
**
**    hpPipeRun()     run a pipe to its end
**    hpPipeDone()    let go of its source, and of its vectors
**    hpPipeClose()   free its workers and its source
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
**       HpQuery.pMutex held.
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
  const HpPipePlan *pPipe = p->pQuery->pPipe;
  HpFrame *pFrame = &p->frame;
  int rc;
  /* Nothing of a pipe before is left */
  assert( p->frame.aVec==0 && p->vec.nTotal==0 );
  p->pPipe = pPipe;
  rc = pPipe->source.pType->xBegin(p);
  if( rc || pPipe->pSink->xRows==0 ) return rc;
  pFrame->pWorker = p;
  pFrame->db = p->db;
  pFrame->pCfg = p->pCfg;
  pFrame->pProg = &pPipe->prog;
  pFrame->nAlloc = p->batch.nAlloc;
#ifdef HP_AVX2
  pFrame->bAvx2 = !p->pCfg->bNoSimd && __builtin_cpu_supports("avx2");
#endif
  return hpExprOpen(pFrame, aMem);
}

/* Free what hpPipeStart() has made for worker p */
static void hpPipeStop(HpWorker *p){
  p->pQuery->db->hp.aStat[HP_STAT_AHEAD] += p->run.nAsked;
  p->pQuery->db->hp.aStat[HP_STAT_COLUMNS] += p->run.nKept;
  p->pQuery->db->hp.aStat[HP_STAT_MENDED] += p->run.nMended;
  hpKeepClose(p);
  hpMendClose(p);
  hpExprClose(&p->frame);
  hpValuesClose(p);
  hpArenaClear(&p->batch.side);
  hpArenaClear(&p->vec);
}

/*
** Make worker i.
*/
static int hpPipeOpen(HpQuery *pQuery, int i, Mem *aMem){
  HpWorker *p;
  int rc;
  assert( pQuery->apWorker[i]==0 && pQuery->pCrew==0 );
  /* What the pipe before has noted is gone */
  assert( pQuery->pass.nScanned==0 && pQuery->pass.bStop==0 );
  assert( pQuery->pass.bEnd==0 && pQuery->pass.bAll==0 );
  pQuery->apWorker[i] = p = sqlite3_malloc64(sizeof(*p));
  if( p==0 ) return HP_DECLINE;
  memset(p, 0, sizeof(*p));
  p->pQuery = pQuery;
  p->pCfg = pQuery->pCfg;
  p->db = i==0 ? pQuery->db : hpPipeConnection(pQuery->db);
  if( p->db==0 ){
    p->db = pQuery->db;
    return HP_DECLINE;
  }
  rc = hpPipeStart(p, aMem);
  if( rc || pQuery->pPipe->pSink->xRows==0 ) return rc;
  return pQuery->pPipe->pSink->xOpen(p, aMem);
}

/*
** Let worker p, with what its sink has, go on with the pipe of now.
*/
static int hpPipeMore(HpWorker *p, Mem *aMem){
  int rc;
  assert( p->pPipe->bMore && p->pQuery->pPipe->bAdds && p->rc==SQLITE_OK );
  assert( p->pPipe->pSink==p->pQuery->pPipe->pSink );
  hpPipeStop(p);
  memset(&p->run, 0, sizeof(p->run));
  memset(&p->batch, 0, sizeof(p->batch));
  memset(&p->frame, 0, sizeof(p->frame));
  p->pValues = 0;
  p->aRaw = 0;
  rc = hpPipeStart(p, aMem);
  p->pQuery->pPipe->pSink->xMore(p);
  return rc;
}

/*
** A worker has scanned a batch of nRow rows.  Is the scan to stop?
*/
static int hpPipePoll(HpWorker *p, int nRow){
  HpQuery *pQuery = p->pQuery;
  assert( nRow>0 && pQuery->apWorker[0]->db==pQuery->db );
  p->nScanned += nRow;
  if( p==pQuery->apWorker[0] && hpThreadChanged(pQuery) ) return HP_DECLINE;
  return hpThreadProgress(p, (u32)nRow*HP_STEPS);
}

/*
** Filter the rows of the batch, give those that pass to the sink, and empty it.
*/
static int hpPipeBatch(HpWorker *p){
  HpFrame *pFrame = &p->frame;
  int nRow = p->batch.nRow + p->batch.nSkip;
  int rc = SQLITE_OK;
  assert( p->batch.nRow<=pFrame->nAlloc || pFrame->pWorker==0 );
  if( nRow==0 ) return SQLITE_OK;
  pFrame->nRow = p->batch.nRow;
  if( pFrame->nRow ) rc = hpExprFilter(pFrame);
  if( rc==SQLITE_OK && pFrame->nRow>0 && pFrame->nSel>0 ){
    rc = hpExprRest(pFrame);
    assert( rc || (hpVecIsSelection(pFrame) && pFrame->nDepth==0) );
    p->nPassed += pFrame->nSel;
    if( rc==SQLITE_OK ) rc = p->pPipe->pSink->xRows(p, pFrame);
  }
  p->nSkipped += p->batch.nSkip;
  hpRecordEmpty(&p->batch);
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
  const HpSourceType *pSource = p->pPipe->source.pType;
  const HpSinkType *pSink = p->pPipe->pSink;
  int rc;
  if( p->pQuery->pass.bNone ) return SQLITE_OK;
  if( p->pQuery->pass.bAlone && p!=p->pQuery->apWorker[0] ) return SQLITE_OK;
  while( (rc = pSource->xNext(p))==SQLITE_OK && p->run.nPage>0 ){
    rc = hpPipeBatch(p);
    if( rc ) return rc;
    assert( p->run.iLeaf<=p->run.nPage );
    if( p->run.iLeaf==p->run.nPage ){
      if( pSink->xRunEnd ) pSink->xRunEnd(p);
      if( AtomicLoad(&p->pQuery->pass.bEnd) ){
        /* All runs up to the last one that was taken have been read */
        assert( p->run.iQuick==p->run.nQuick );
        return SQLITE_OK;
      }
    }
  }
  AtomicStore(&p->pQuery->pass.bAll, 1);
  return rc;
}

/*
** All that a worker does in its thread.  The result is in p->rc.
*/
static void hpPipeWork(HpWorker *p){
  const HpSinkType *pSink = p->pPipe->pSink;
  assert( p->pPipe==p->pQuery->pPipe );
  p->rc = hpPipeBatches(p);
  hpKeepForget(p);
  if( p->rc==SQLITE_OK && pSink->xFinish && p->pPipe->bMore==0 ) p->rc = pSink->xFinish(p);
  /* It may end here, so it must not keep others from what they share */
  assert( p->pQuery->pMutex==0 || sqlite3_mutex_notheld(p->pQuery->pMutex) );
  if( p->rc ) AtomicStore(&p->pQuery->pass.bStop, 1);
}

/*
** Free worker i of a scan.
*/
static void hpPipeFree(HpQuery *pQuery, int i){
  HpWorker *p = pQuery->apWorker[i];
  if( p ){
    assert( pQuery->pCrew==0 && p->pQuery->pCrew==0 );
    if( pQuery->pPipe->pSink->xClose ) pQuery->pPipe->pSink->xClose(p);
    hpPipeStop(p);
    if( p->db!=pQuery->db ) sqlite3_free(p->db);
    sqlite3_free(p);
    pQuery->apWorker[i] = 0;
  }
}

/*
** Pipe p->pPipe has run.  Let go of what is not needed to deliver.
*/
static void hpPipeDone(HpQuery *p){
  int i;
  assert( p->pCrew==0 && p->pass.bStop==0 );
  hpSourceClose(p->pSource);
  p->pSource = 0;
  for(i=0; i<p->nWorker; i++){
    hpKeepClose(p->apWorker[i]);
    hpMendClose(p->apWorker[i]);
    hpExprClose(&p->apWorker[i]->frame);
    hpArenaClear(&p->apWorker[i]->vec);
  }
}

/*
** Let go of what pipe p->pPipe has but for what its sink has made for later ones.
*/
static void hpPipeClose(HpQuery *p){
  int i;
  for(i=0; i<p->nWorker; i++) hpPipeFree(p, i);
  p->nWorker = 0;
  hpSourceClose(p->pSource);
  p->pSource = 0;
  assert( p->pMutex==0 || sqlite3_mutex_notheld(p->pMutex) );
  sqlite3_mutex_free(p->pMutex);
  p->pMutex = 0;
}

/*
** Note which rows of the pipe are wanted, if that is known: none, or those whose rowids
** are kept as bits.
*/
static void hpPipeWanted(HpQuery *p, const HpPipePlan *pPipe){
  const HpRel *pRel = pPipe->eWant ? p->apRel[pPipe->iWant] : 0;
  p->pass.bNone = pRel!=0 && pRel->nRow==0;
  p->pWanted = pRel && pPipe->eWant==HP_WANT_ROWID && pRel->nBit ? pRel : 0;
  p->nWanted = p->pWanted ? p->pWanted->nRow : 0;
  p->xWanted = hpRelAny;
}

/*
** Choose up to nWorker workers for the pipe of now, and make them.
*/
static int hpPipeCrew(HpQuery *p, Mem *aMem, int nWorker){
  int rc = SQLITE_OK;
  int i;
  p->nWorker = 1;
  if( nWorker>1 && p->pPipe->bSerial==0 && hpThreadsFit(p)
   && (p->pPipe->bMore || hpSourceParallel(p->pSource, p->pCfg->nThread>1))
  ){
    p->pMutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    if( p->pMutex ) p->nWorker = nWorker;
  }
  assert( p->nWorker<=p->nMost && (p->nWorker==1)==(p->pMutex==0) );
  hpBudgetOpen(p);
  for(i=0; i<p->nWorker && rc==SQLITE_OK; i++) rc = hpPipeOpen(p, i, aMem);
  return rc;
}

/*
** Run pipe pPipe of p with up to nWorker workers.  The workers stay: if the pipe adds to
** the groups of the one before, those that this had.
*/
static int hpPipeRun(
  HpQuery *p,
  const HpPipePlan *pPipe,
  Mem *aMem,
  int nWorker
){
  HpStep step;
  int rc, i;

  assert( sqlite3_mutex_held(p->db->mutex) );
  assert( nWorker>=1 && nWorker<=HP_MX_THREAD );
  /* Running out of memory here is no error: stock needs less */
  sqlite3BeginBenignMalloc();
  assert( p->pSource==0 && (pPipe->bAdds ? p->nWorker>0 : p->nWorker==0 && p->pMutex==0) );
  assert( (pPipe->pGroup!=0)+(pPipe->pSort!=0)+(pPipe->pFind!=0)
              +(pPipe->pRel!=0)+(pPipe->pCheck!=0)
              +(pPipe->pPrefix!=0 && pPipe->pSink->xRows!=0)
                  ==(pPipe->pSink->xRows!=0) );
  p->pPipe = pPipe;
  p->nMost = nWorker;
  memset(&p->pass, 0, sizeof(p->pass));
  if( pPipe->bAdds==0 ) p->iRun = 0;
  p->pEntry = pPipe->pSort ? &pPipe->pSort->row.entry
            : pPipe->pGroup ? &pPipe->pGroup->entry : 0;
  p->nTrip = hpThreadPager(p)->hp.nTrip;
  hpStepBegin(p, &step);
  hpPipeWanted(p, pPipe);
  rc = pPipe->source.pType->bValues ? SQLITE_OK : hpSourceOpen(p, aMem);
  if( pPipe->bAdds ){
    for(i=0; i<p->nWorker && rc==SQLITE_OK; i++) rc = hpPipeMore(p->apWorker[i], aMem);
  }else{
    if( rc==SQLITE_OK && pPipe->pSink->xBegin ) rc = pPipe->pSink->xBegin(p, aMem);
    if( rc==SQLITE_OK ) rc = hpPipeCrew(p, aMem, nWorker);
  }
  if( pPipe->pGroup ){
    for(i=0; i<pPipe->pGroup->nHaving && rc==SQLITE_OK; i++){
      const HpVec *aVec = p->apWorker[0]->frame.aVec;
      const HpVec *pVec = &aVec[pPipe->pGroup->aHaving[i].iVec];
      assert( pVec->mIdx==0 && i<HP_MX_HAVING );
      p->aHaving[i].tag = pVec->aTag[0];
      p->aHaving[i].val = pVec->aVal[0];
    }
  }
  if( rc==SQLITE_OK && (pPipe->bMore || pPipe->bAdds) ){
    p->pass.bAlone = !hpSourceParallel(p->pSource, 1);
  }
  sqlite3EndBenignMalloc();
  /* Functions with constant arguments have been called */
  if( rc==SQLITE_OK && hpThreadChanged(p) ) rc = HP_DECLINE;
  if( rc==SQLITE_OK ) rc = hpThreadEach(p, hpPipeWork);
  assert( p->pCrew==0 && (rc || p->pass.bStop==0) );
  if( rc==SQLITE_OK && hpThreadChanged(p) ) rc = HP_DECLINE;
  if( rc==SQLITE_OK && pPipe->prog.nRange>0 && !hpExprRangeIsWhole(p) ){
    rc = HP_DECLINE;
  }
  if( rc==SQLITE_OK ){
    for(i=0; i<p->nWorker; i++) p->pass.nScanned += p->apWorker[i]->nScanned;
    if( pPipe->bMore ){
      p->iRun = hpSourceRuns(p->pSource);
      hpSourceClose(p->pSource);
      p->pSource = 0;
    }else if( pPipe->pSink->xCombine ){
      rc = pPipe->pSink->xCombine(p);
    }
  }
  if( rc==SQLITE_OK ) hpStepEnd(p, &step);
  return rc;
}
#endif /* SQLITE_OMIT_HP */
