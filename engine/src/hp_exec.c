/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_exec: running a plan, and the settings.
**
**    sqlite3HpScan()   OP_HpScan: the whole query up to its groups
**    sqlite3HpNext()   OP_HpNext: the next group into registers
**    sqlite3HpPragma() PRAGMA hp_offload, hp_extent, hp_threads, ...
**    hpConfig()        switches from the environment
**
** OP_HpScan runs from the first leaf to the sorted groups without giving
** control back, so nothing else can happen in this connection meanwhile but
** the progress handler, which is called as often as stock's loop of about
** HP_STEPS opcodes a row would call it.  sqlite3_interrupt() is looked at after
** each batch.
**
** Workers.  The thread that called sqlite3_step() is the first worker; the
** others are threads that are made here and joined before the step goes on, so
** there is nothing to break at fork(), dlclose() or exit().  They block all
** signals.  Only the first worker calls the application (progress handler).
** The others must not touch the connection: its lookaside memory and
** mallocFailed belong to the caller.  Values and SQLite's functions want a
** connection to allocate from and to read limits of, so each of them gets a
** copy of the structure, without lookaside memory.
**
** A worker that fails sets HpScan.bStop.  If all that failed declined so does
** the scan; else the error counts.  HP_SERIAL lets the scan run again with one
** worker.
**
** Environment variables, read once a process:
**
**    HPSQLITE=off          nothing is taken over, whatever a PRAGMA says
**    HPSQLITE_TEST=LIST    for tests: a comma-separated list of
**                             force       default of hp_offload is force
**                             batch=N     rows a batch, 1 to HP_BATCH
**                             hash=0      all hash values are equal
**                             simd=off    plain C
**                             source=pager   never read the file directly
**                             disk=cold|warm   all reads, or none, seem slow
**                             memory=N    default of hp_memory, bytes
**                             threads=N   workers, however small the table
**                             run=N       leaves a run
**                             extent=N    each b-tree reserves N pages
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif
#include <stdlib.h>
#if SQLITE_OS_UNIX
# include <signal.h>
# include <pthread.h>
#endif
#if defined(__linux__)
# include <sched.h>
# include <sys/mman.h>
#endif

/* Opcodes a row that the progress handler is told about */
#define HP_STEPS 8

/* Memory blocks of an arena */
struct HpBlock { struct HpBlock *pPrev; i64 nByte; };
#define HP_MX_BLOCK (8*1024*1024)
#define HP_MX_KEPT  (1024*1024)    /* Most bytes that hpArenaReset() keeps */

/*
** sqlite3_malloc64() for what will be filled.  Large memory is made of huge
** pages where the system has them: on a virtual machine the first touch of a
** page takes two microseconds, and groups are visited in no order.
*/
#define HP_HUGE ((uptr)2*1024*1024)
static void *hpMalloc(i64 n){
  u8 *p = sqlite3_malloc64(n);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if( p && n>=2*(i64)HP_HUGE ){
    uptr iFirst = ((uptr)p+HP_HUGE-1) & ~(HP_HUGE-1);
    uptr iEnd = ((uptr)p+(uptr)n) & ~(HP_HUGE-1);
    /* Only a hint: it does not matter whether it is heeded */
    madvise((void*)iFirst, iEnd-iFirst, MADV_HUGEPAGE);
  }
#endif
  return p;
}

/*
** Return n bytes, 8-byte aligned, that live until hpArenaClear(), or NULL.
** Blocks double from 4 KiB to 8 MiB, so that small queries stay small.
*/
static void *hpArenaAlloc(HpArena *pArena, i64 n){
  u8 *pOut;
  n = ROUND8(n);
  if( n>(i64)pArena->nFree ){
    i64 nBlock = MIN(HP_MX_BLOCK, MAX(4096, pArena->nTotal));
    struct HpBlock *pNew = pArena->pSpare;
    if( nBlock<n+(i64)sizeof(*pNew) ) nBlock = n+sizeof(*pNew);
    if( nBlock>0x7fffff00 ) return 0;
    if( pNew && pNew->nByte>=n+(i64)sizeof(*pNew) ){
      pArena->pSpare = pNew->pPrev;
      nBlock = pNew->nByte;
    }else{
      pNew = hpMalloc(nBlock);
      if( pNew==0 ) return 0;
      pNew->nByte = nBlock;
    }
    pNew->pPrev = pArena->pBlock;
    pArena->pBlock = pNew;
    pArena->nTotal += nBlock;
    pArena->pFree = (u8*)&pNew[1];
    pArena->nFree = (u32)(nBlock-sizeof(*pNew));
  }
  pOut = pArena->pFree;
  pArena->pFree += n;
  pArena->nFree -= (u32)n;
  return pOut;
}

/* Free a list of blocks */
static void hpBlockFree(struct HpBlock *pBlock){
  while( pBlock ){
    struct HpBlock *pPrev = pBlock->pPrev;
    sqlite3_free(pBlock);
    pBlock = pPrev;
  }
}

/*
** Forget what was allocated, but keep the memory for what comes: the first
** touch of new memory costs more than all that is done with it.
*/
static void hpArenaRecycle(HpArena *pArena){
  struct HpBlock *pSpare = pArena->pSpare;
  while( pArena->pBlock ){
    struct HpBlock *pBlock = pArena->pBlock;
    pArena->pBlock = pBlock->pPrev;
    pBlock->pPrev = pSpare;
    pSpare = pBlock;
  }
  memset(pArena, 0, sizeof(*pArena));
  pArena->pSpare = pSpare;
}

static void hpArenaClear(HpArena *pArena){
  hpBlockFree(pArena->pBlock);
  hpBlockFree(pArena->pSpare);
  memset(pArena, 0, sizeof(*pArena));
}

/*
** Forget what was allocated, but keep one block of about as much memory.
*/
static void hpArenaReset(HpArena *pArena){
  if( pArena->pBlock==0 ) return;
  if( pArena->pBlock->pPrev ){
    i64 n = MIN(HP_MX_KEPT, pArena->nTotal);
    hpArenaClear(pArena);
    if( hpArenaAlloc(pArena, n-(i64)sizeof(struct HpBlock))==0 ) return;
  }
  pArena->pFree = (u8*)&pArena->pBlock[1];
  pArena->nFree = (u32)(pArena->nTotal - (i64)sizeof(struct HpBlock));
}

/*
** The switches of this process.  Threads that come here first at the same
** time all compute the same.
*/
static const HpConfig *hpConfig(void){
  static HpConfig cfg;
  if( AtomicLoad(&cfg.bInit)==0 ){
    HpConfig x;
    const char *z;
    memset(&x, 0, sizeof(x));
    x.nBatch = HP_BATCH;
    x.nMemory = HP_MEMORY;
    z = getenv("HPSQLITE");
    x.bOff = z!=0 && sqlite3StrICmp(z, "off")==0;
    for(z=getenv("HPSQLITE_TEST"); z && z[0]; ){
      int n = (int)strcspn(z, ",");
      if( n==5 && strncmp(z, "force", 5)==0 ) x.bForce = 1;
      if( n==6 && strncmp(z, "hash=0", 6)==0 ) x.bHash0 = 1;
      if( n==8 && strncmp(z, "simd=off", 8)==0 ) x.bNoSimd = 1;
      if( n==12 && strncmp(z, "source=pager", 12)==0 ) x.bPager = 1;
      if( n==9 && strncmp(z, "disk=cold", 9)==0 ) x.eDisk = HP_DISK_COLD;
      if( n==9 && strncmp(z, "disk=warm", 9)==0 ) x.eDisk = HP_DISK_WARM;
      if( strncmp(z, "batch=", 6)==0 ){
        x.nBatch = MAX(1, MIN(HP_BATCH, atoi(&z[6])));
      }
      if( strncmp(z, "memory=", 7)==0 ) x.nMemory = atoi(&z[7]);
      if( strncmp(z, "threads=", 8)==0 ){
        x.nThread = MAX(1, MIN(HP_MX_THREAD, atoi(&z[8])));
      }
      if( strncmp(z, "run=", 4)==0 ) x.nRun = MAX(1, atoi(&z[4]));
      if( strncmp(z, "extent=", 7)==0 ) x.nExtent = MAX(0, atoi(&z[7]));
      z += n;
      if( z[0]==',' ) z++;
    }
    cfg.bOff = x.bOff;
    cfg.bForce = x.bForce;
    cfg.bHash0 = x.bHash0;
    cfg.bNoSimd = x.bNoSimd;
    cfg.bPager = x.bPager;
    cfg.eDisk = x.eDisk;
    cfg.nBatch = x.nBatch;
    cfg.nMemory = x.nMemory;
    cfg.nThread = x.nThread;
    cfg.nRun = x.nRun;
    cfg.nExtent = x.nExtent;
    AtomicStore(&cfg.bInit, 1);
  }
  return &cfg;
}

/* The setting of PRAGMA hp_offload that is in force */
static int hpOffload(sqlite3 *db){
  const HpConfig *pCfg = hpConfig();
  if( pCfg->bOff ) return HP_OFFLOAD_OFF;
  if( db->hp.eOffload==HP_OFFLOAD_ON && pCfg->bForce && !db->hp.bSet ){
    return HP_OFFLOAD_FORCE;
  }
  return db->hp.eOffload;
}

/* The budget for groups, in bytes.  A hard heap limit of the process leaves
** no more than half of what is still free. */
static i64 hpMemory(sqlite3 *db){
  i64 n = db->hp.nMemory ? db->hp.nMemory : hpConfig()->nMemory;
  if( mem0.hardLimit>0 ){
    i64 nFree = (mem0.hardLimit - sqlite3_memory_used())/2;
    n = MIN(n, MAX(0, nFree));
  }
  return n;
}

/* Processors that this process may use */
static int hpProcessors(void){
  int n = 1;
#if defined(__linux__) && defined(CPU_COUNT)
  cpu_set_t set;
  if( sched_getaffinity(0, sizeof(set), &set)==0 ) return CPU_COUNT(&set);
#endif
#if SQLITE_OS_UNIX && defined(_SC_NPROCESSORS_ONLN)
  n = (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
  return n;
}

/*
** The most workers that a scan of db may have.
*/
static int hpThreads(sqlite3 *db){
#if SQLITE_THREADSAFE && SQLITE_MAX_WORKER_THREADS>0
  if( sqlite3GlobalConfig.bCoreMutex==0 ) return 1;
  if( db->hp.nThread ) return db->hp.nThread;
  if( hpConfig()->nThread ) return hpConfig()->nThread;
  return MAX(1, MIN(HP_DFLT_THREAD, hpProcessors()));
#else
  return 1;
#endif
}

/*
** PRAGMA hp_stats: a row for each thing that became of queries so far.
*/
static void hpPragmaStats(Parse *pParse){
  static const char *azStat[HP_STAT_MX+1] = { 0,
    "refused: too many columns or operations",
    "refused: subquery",
    "refused: function not deterministic",
    "refused: function bound to its place",
    "refused: window function",
    "refused: row value",
    "refused: collation",
    "refused: column not stored",
    "refused: other expression",
    "refused: not one ordinary table",
    "refused: ORDER BY in an aggregate",
    "refused: the planner's search or order is better",
    "refused: order of rows shows",
    "refused: small table",
    "taken over",
    "run",
    "given back: small table",
    "given back: other",
    "run again with one worker",
    "wrote to a file",
    "overflow pages read in runs",
    "pages asked for ahead",
  };
  Vdbe *v = pParse->pVdbe;
  int i;
  pParse->nMem = MAX(pParse->nMem, 2);
  sqlite3VdbeSetNumCols(v, 2);
  sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "what", SQLITE_STATIC);
  sqlite3VdbeSetColName(v, 1, COLNAME_NAME, "count", SQLITE_STATIC);
  for(i=1; i<=HP_STAT_MX; i++){
    sqlite3VdbeMultiLoad(v, 1, "si", azStat[i],
                         (int)pParse->db->hp.aStat[i]);
  }
}

/*
** PRAGMA hp_offload, hp_threads, hp_extent, hp_memory: called for a PRAGMA that
** SQLite does not know.  zLeft is its name, zRight the value or NULL.  Returns
** true if it is ours; then code is generated that returns the value as it is
** now.  A value that makes no sense leaves the setting as it is, as with other
** PRAGMAs.
*/
SQLITE_PRIVATE int sqlite3HpPragma(
  Parse *pParse,
  const char *zLeft,
  const char *zRight
){
  static const char *azOffload[] = { "on", "off", "force" };
  sqlite3 *db = pParse->db;
  Vdbe *v;
  if( sqlite3StrNICmp(zLeft, "hp_", 3)!=0 ) return 0;
  v = sqlite3GetVdbe(pParse);
  if( v==0 ) return 1;
  if( sqlite3StrICmp(zLeft, "hp_offload")==0 ){
    if( zRight ){
      int i;
      for(i=0; i<ArraySize(azOffload); i++){
        if( sqlite3StrICmp(zRight, azOffload[i])==0 ) break;
      }
      if( i==ArraySize(azOffload) && (zRight[0]=='0' || zRight[0]=='1')
       && zRight[1]==0
      ){
        i = zRight[0]=='1' ? HP_OFFLOAD_ON : HP_OFFLOAD_OFF;
      }
      if( i<ArraySize(azOffload) ){
        db->hp.eOffload = (u8)i;
        db->hp.bSet = 1;
        sqlite3ExpirePreparedStatements(db, 0);
      }
    }
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "hp_offload", SQLITE_STATIC);
    pParse->nMem = MAX(pParse->nMem, 1);
    returnSingleText(v, azOffload[hpOffload(db)]);
    return 1;
  }
  if( sqlite3StrICmp(zLeft, "hp_threads")==0 ){
    i64 n;
    if( zRight && sqlite3StrICmp(zRight, "auto")==0 ){
      db->hp.nThread = 0;
    }else if( zRight && sqlite3DecOrHexToI64(zRight, &n)==0
           && n>=0 && n<=HP_MX_THREAD
    ){
      db->hp.nThread = (u8)n;
    }
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "hp_threads", SQLITE_STATIC);
    pParse->nMem = MAX(pParse->nMem, 1);
    returnSingleInt(v, hpThreads(db));
    return 1;
  }
  if( sqlite3StrICmp(zLeft, "hp_readahead")==0 ){
    if( zRight ) db->hp.bNoAhead = !sqlite3GetBoolean(zRight, !db->hp.bNoAhead);
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "hp_readahead", SQLITE_STATIC);
    pParse->nMem = MAX(pParse->nMem, 1);
    returnSingleText(v, db->hp.bNoAhead || hpConfig()->bOff ? "off" : "on");
    return 1;
  }
  if( sqlite3StrICmp(zLeft, "hp_stats")==0 ){
    hpPragmaStats(pParse);
    return 1;
  }
  if( sqlite3StrICmp(zLeft, "hp_extent")==0 ){
    i64 n;
    if( zRight && sqlite3StrICmp(zRight, "auto")==0 ){
      db->hp.nExtent = 0;
    }else if( zRight && sqlite3StrICmp(zRight, "off")==0 ){
      db->hp.nExtent = HP_EXTENT_OFF;
    }else if( zRight && sqlite3DecOrHexToI64(zRight, &n)==0
           && n>=0 && n<=HP_MX_EXTENT
    ){
      db->hp.nExtent = n==0 ? HP_EXTENT_OFF : (int)n;
    }
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "hp_extent", SQLITE_STATIC);
    pParse->nMem = MAX(pParse->nMem, 1);
    if( hpConfig()->bOff || db->hp.nExtent==HP_EXTENT_OFF ){
      returnSingleText(v, "off");
    }else if( db->hp.nExtent==0 ){
      returnSingleText(v, "auto");
    }else{
      returnSingleInt(v, db->hp.nExtent);
    }
    return 1;
  }
  if( sqlite3StrICmp(zLeft, "hp_memory")==0 ){
    i64 n;
    if( zRight && sqlite3DecOrHexToI64(zRight, &n)==0 && n>=0 ){
      db->hp.nMemory = n;
    }
    sqlite3VdbeSetNumCols(v, 1);
    sqlite3VdbeSetColName(v, 0, COLNAME_NAME, "hp_memory", SQLITE_STATIC);
    pParse->nMem = MAX(pParse->nMem, 1);
    returnSingleInt(v, db->hp.nMemory ? db->hp.nMemory : hpConfig()->nMemory);
    return 1;
  }
  return 0;
}

/* hp_version(): the version of High Performance SQLite */
static void hpVersionFunc(
  sqlite3_context *ctx,
  int nArg,
  sqlite3_value **apArg
){
  UNUSED_PARAMETER2(nArg, apArg);
  sqlite3_result_text(ctx, HP_VERSION, -1, SQLITE_STATIC);
}

/*
** Register the SQL functions of this module, once a process.
*/
SQLITE_PRIVATE void sqlite3HpRegisterFunctions(void){
  static FuncDef aFunc[] = {
    FUNCTION(hp_version, 0, 0, 0, hpVersionFunc)
  };
  sqlite3InsertBuiltinFuncs(aFunc, ArraySize(aFunc));
}

/* The mutex of a scan with several workers */
static void hpScanLock(const HpScan *p){
  sqlite3_mutex_enter(p->pMutex);
}
static void hpScanUnlock(const HpScan *p){
  sqlite3_mutex_leave(p->pMutex);
}

/* Not SQLITE_OK if the scan is to stop: sqlite3_interrupt(), or a worker
** failed */
static int hpScanStopped(const HpScan *p){
  if( AtomicLoad(&p->db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
  return AtomicLoad(&p->bStop) ? HP_DECLINE : SQLITE_OK;
}

/*
** Free worker i of a scan.
*/
static void hpExecFree(HpScan *pScan, int i){
  HpExec *p = pScan->apWorker[i];
  if( p ){
    pScan->db->hp.aStat[HP_STAT_AHEAD] += p->run.nAsked;
    hpAggClose(p->pAgg);
    hpRowsClose(p->pRows);
    hpPartClose(p);
    hpExprClose(p);
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
  const HpProg *pProg = &pPlan->prog;
  HpExec *p;
  int n, k, rc;

  pScan->apWorker[i] = p = sqlite3_malloc64(sizeof(*p));
  if( p==0 ) return HP_DECLINE;
  memset(p, 0, sizeof(*p));
  p->pScan = pScan;
  p->pPlan = pPlan;
  p->pCfg = pScan->pCfg;
  p->nMemory = hpMemory(pScan->db)/pScan->nWorker;
#ifdef HP_AVX2
  p->bAvx2 = !p->pCfg->bNoSimd && __builtin_cpu_supports("avx2");
#endif
  p->db = i==0 ? pScan->db : hpExecConnection(pScan->db);
  if( p->db==0 ){
    p->db = pScan->db;
    return HP_DECLINE;
  }
  rc = hpRunInit(p);
  if( rc || pPlan->eSink==HP_SINK_COUNT ) return rc;
  rc = hpBatchInit(p);
  if( rc ) return rc;
  n = p->batch.nAlloc;
  p->aSel = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  p->aAll = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
  p->aBool = hpArenaAlloc(&p->vec, n);
  p->aVec = hpArenaAlloc(&p->vec, sizeof(HpVec)*(i64)(pProg->nVec+1));
  if( p->aSel==0 || p->aAll==0 || p->aBool==0 || p->aVec==0 ){
    return HP_DECLINE;
  }
  memset(p->aVec, 0, sizeof(HpVec)*(i64)(pProg->nVec+1));
  for(k=0; k<n; k++) p->aAll[k] = (u16)k;
  for(k=0; k<pProg->nConst; k++){
    HpVec *pVec = &p->aVec[pProg->aConst[k].iVec];
    rc = hpVecInit(p, pVec, 1);
    if( rc ) return rc;
    hpVecConst(p, pVec, &aMem[pProg->aConst[k].iReg]);
    if( pVec->mType==0 ) return HP_DECLINE;
  }
  rc = hpExprOpen(p);
  if( rc ) return rc;
  if( pPlan->eSink==HP_SINK_SORT ) return hpSortOpen(p);
  if( pPlan->eSink!=HP_SINK_GROUPS ) return hpRowsOpen(p, aMem);
  return hpAggOpen(p, &p->pAgg);
}

/*
** Stock would have run nStep opcodes for what this worker has done.  Has
** anybody asked to stop?
*/
static int hpExecProgress(HpExec *p, u64 nStep){
  HpScan *pScan = p->pScan;
  sqlite3 *db = pScan->db;
  int rc = hpScanStopped(pScan);
  if( rc ) return rc;
#ifndef SQLITE_OMIT_PROGRESS_CALLBACK
  if( p==pScan->apWorker[0] && db->xProgress ){
    p->nProgress += nStep;
    while( db->xProgress && p->nProgress>=db->nProgressOps ){
      p->nProgress -= db->nProgressOps;
      if( db->xProgress(db->pProgressArg) ) return SQLITE_INTERRUPT;
      if( AtomicLoad(&db->u1.isInterrupted) ) return SQLITE_INTERRUPT;
    }
  }
#endif
  return SQLITE_OK;
}

/*
** The same after a batch of nRow rows.
*/
static int hpExecPoll(HpExec *p, int nRow){
  HpScan *pScan = p->pScan;
  p->nScanned += nRow;
  /* Application code may write to the table that is being read */
  if( p->pPlan->bUser && pScan->db->nTotalChange!=pScan->nChange ){
    return HP_DECLINE;
  }
  /* The other workers are about as far */
  return hpExecProgress(p, (u64)nRow*HP_STEPS*pScan->nWorker);
}

/*
** Filter and aggregate the rows of the batch, and empty it.
*/
static int hpExecBatch(HpExec *p){
  int nRow = p->batch.nRow + p->batch.nSkip;
  int rc = SQLITE_OK;
  if( nRow==0 ) return SQLITE_OK;
  if( p->batch.nRow ) rc = hpExecFilter(p);
  if( rc==SQLITE_OK && p->batch.nRow>0 && p->nSel>0 ){
    rc = hpExecRest(p);
    if( rc==SQLITE_OK ){
      switch( p->pPlan->eSink ){
        case HP_SINK_GROUPS: rc = hpAggStep(p);   break;
        case HP_SINK_SORT:   rc = hpSortStep(p);  break;
        default:             rc = hpRowsStep(p);  break;
      }
    }
  }
  p->nSkipped += p->batch.nSkip;
  hpBatchEmpty(&p->batch);
  p->iPos += nRow;
  if( rc==SQLITE_OK ) rc = hpExecPoll(p, nRow);
  return rc;
}

/*
** Work on one run of leaves after the other until there is none.
*/
static int hpExecRuns(HpExec *p){
  int rc;
  int i;
  while( (rc = hpSourceNext(p))==SQLITE_OK && p->run.nPage>0 ){
    p->iPos = (u64)p->run.iSeq<<32;
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
    if( p->pRows ) hpRowsRun(p);
    if( AtomicLoad(&p->pScan->bEnd) ) return SQLITE_OK;
  }
  AtomicStore(&p->pScan->bAll, 1);
  return rc;
}

/*
** All that a worker does until groups are merged.  The result is in p->rc.
*/
static void hpExecRun(HpExec *p){
  p->rc = p->pPlan->eSink==HP_SINK_COUNT ? hpCountRuns(p) : hpExecRuns(p);
  if( p->rc==SQLITE_OK && p->pAgg ){
    p->rc = p->pPlan->eSink==HP_SINK_SORT ? hpSortRun(p) : hpSortGroups(p);
    if( p->rc==SQLITE_OK && p->pPlan->nOrder ) p->rc = hpOrderSort(p);
  }
  if( p->rc ) AtomicStore(&p->pScan->bStop, 1);
}

#if SQLITE_THREADSAFE && SQLITE_MAX_WORKER_THREADS>0
/* A worker in a thread of its own */
static void *hpExecThread(void *pArg){
  HpExec *p = (HpExec*)pArg;
#if SQLITE_OS_UNIX
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
#endif
  p->xRun(p);
#if SQLITE_OS_UNIX
  /* sqlite3ThreadCreate() may have called us in the caller's thread */
  pthread_sigmask(SIG_SETMASK, &old, 0);
#endif
  return 0;
}
#endif

/*
** Let all workers do xRun, each in its thread, and wait for them.
*/
static int hpScanEach(HpScan *p, void (*xRun)(HpExec*)){
  int rc = SQLITE_OK;
  int i;
#if SQLITE_THREADSAFE && SQLITE_MAX_WORKER_THREADS>0
  SQLiteThread *apThread[HP_MX_THREAD];
  for(i=1; i<p->nWorker; i++){
    apThread[i] = 0;
    p->apWorker[i]->xRun = xRun;
    if( sqlite3ThreadCreate(&apThread[i], hpExecThread, p->apWorker[i]) ){
      /* It could not be made: the others do its work */
      p->apWorker[i]->rc = SQLITE_OK;
    }
  }
#endif
  xRun(p->apWorker[0]);
#if SQLITE_THREADSAFE && SQLITE_MAX_WORKER_THREADS>0
  for(i=1; i<p->nWorker; i++){
    void *pOut;
    if( apThread[i] ) sqlite3ThreadJoin(apThread[i], &pOut);
  }
#endif
  for(i=0; i<p->nWorker; i++){
    HpExec *pExec = p->apWorker[i];
    if( pExec->rc && (rc==SQLITE_OK || rc==HP_DECLINE) ) rc = pExec->rc;
    /* Memory of a worker's own: stock needs less */
    if( i>0 && pExec->rc==SQLITE_NOMEM && pExec->db->mallocFailed ){
      rc = HP_DECLINE;
    }
  }
  return rc;
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
    p->nChange = v->db->nTotalChange;
    p->bExact = bExact;
    rc = hpSourceOpen(p, aMem);
    p->mxRow = hpPartLimit(pPlan, aMem);
    if( rc==SQLITE_OK && pPlan->eSink==HP_SINK_SORT && hpSortIsSmall(p)
     && !hpPartWorthIt(p)
    ){
      p->bSmall = 1;
      rc = HP_DECLINE;
    }
    if( rc==SQLITE_OK ){
      p->nWorker = 1;
      if( nWorker>1 && pPlan->bSerial==0
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
    const HpVec *pVec = &p->apWorker[0]->aVec[pPlan->aHaving[i].iVec];
    p->aHaving[i].tag = pVec->aTag[0];
    p->aHaving[i].val = pVec->aVal[0];
  }
  sqlite3EndBenignMalloc();
  if( rc==SQLITE_OK ) rc = hpScanEach(p, hpExecRun);
  if( rc==SQLITE_OK ){
    for(i=0; i<p->nWorker; i++) p->nScanned += p->apWorker[i]->nScanned;
    if( p->apWorker[0]->pAgg ){
      rc = hpMergeOpen(p);
    }else if( pPlan->eSink!=HP_SINK_COUNT ){
      rc = hpRowsMerge(p);
    }
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
    if( rc ) return rc;
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
  if( rc ){
    if( rc==HP_SERIAL ) rc = HP_DECLINE;
    if( rc==HP_DECLINE ){
      hpStat(db, p && p->bSmall ? HP_STAT_SMALL : HP_STAT_DECLINED);
    }
    hpScanFree(p);
    return rc;
  }
  hpStat(db, HP_STAT_RUN);
  hpSourceClose(p->pSource);
  p->pSource = 0;
  for(i=0; i<p->nWorker; i++){
    hpPartClose(p->apWorker[i]);
    hpExprClose(p->apWorker[i]);
    hpArenaClear(&p->apWorker[i]->vec);
  }
  if( p->nScanned ) v->aCounter[SQLITE_STMTSTATUS_FULLSCAN_STEP] +=
      (u32)(p->nScanned-1);
  if( pPlan->nKey && p->apWorker[0]->pAgg ){
    v->aCounter[SQLITE_STMTSTATUS_SORT]++;
#ifdef SQLITE_TEST
    sqlite3_sort_count++;
#endif
  }
  sqlite3VdbeMemSetPointer(pReg, p, "hp", hpScanFree);
  return SQLITE_OK;
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
  *pbDone = aGroup==0;
  if( rc==SQLITE_OK && aGroup ) rc = hpGroupLoad(p, aGroup, aMem, &p->buf);
  if( v->db->mallocFailed ) rc = SQLITE_NOMEM_BKPT;
  return rc;
}
#endif /* SQLITE_OMIT_HP */
