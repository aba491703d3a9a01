/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_aggahead: aggregate functions of groups that keep the arguments of their rows,
** when the groups are delivered.
**
**    hpAggAheadLoad()      call the step function for a group's rows: the context
**    hpAggAheadNext()      a group is about to be delivered: do so for the next
**                          groups, with all workers
**    hpAggAheadClose()     free the contexts that nobody took
**
** The rows are those of a log (hp_agglog.c) or of a list in some other order
** (hp_aggorder.c).
**
** Errors.  Stock calls the functions for one row after the other, and those with ORDER BY
** after the last one.  Here they are called one function after the other.  If a call fails,
** those of all logs are made again, to report the one that comes first for stock.
**
** Most of the time is spent in the step functions then: json_group_array()
** prints numbers.  Those that are SQLite's own are called for the next some
** thousand groups by all workers at once, in threads that end before the step
** does.  If that fails for a group, it is done again when the group's turn comes,
** so that errors come when they should.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MIN_AHEAD   8192    /* Calls for the first groups done ahead: what
                               ** is not wanted because of a LIMIT is lost */
#define HP_MX_AHEAD    262144  /* The same for later ones */
#define HP_AHEAD_TURN  8       /* Groups that a worker takes at once */
#define HP_LATE_GROUP  8       /* So many groups ahead their states are asked
                               ** for, */
#define HP_LATE_ROWS   4       /* ... and the beginnings of their rows */

/* For each aggregate of group G that keeps its rows, in the order of their contexts */
#define HP_EACH_LATE(PLAN,G,...) HP_EACH_STATE(PLAN, G, >=HP_AGG_ORDER, void, __VA_ARGS__)

/* Let *pMem be no context yet */
static void hpAggAheadNew(Mem *pMem, sqlite3 *db){
  sqlite3VdbeMemInit(pMem, db, MEM_Null);
  pMem->n = 0;
}

/* Where the context of a state is kept if it has been made already */
static Mem **hpAggAheadDone(const HpAggDef *pDef, void *pState){
  assert( pDef->eAgg==HP_AGG_ORDER || pDef->eAgg==HP_AGG_LOG );
  return pDef->eAgg==HP_AGG_LOG ? &((HpAggLog*)pState)->pDone
                                : &((HpAggOrder*)pState)->pDone;
}

/* Call the step function for all rows of pState, or do as if: pMem, a NULL, becomes the context */
static int hpAggAheadCalls(
  HpWorker *p,
  const HpAggDef *pDef,
  void *pState,
  Mem *pMem,
  int bAhead
){
  u32 nCall;
  assert( pDef->bParallel || p==p->pPipe->apWorker[0] );
  if( pDef->eAgg==HP_AGG_ORDER ) return hpAggOrderCalls(p, pDef, pState, pMem, bAhead);
  if( hpPercentileMake(p, pDef, pState, pMem) ) return SQLITE_OK;
  return hpAggLogCalls(p, pDef, pState, pMem, bAhead, &nCall);
}

/* How many calls are those for pState? */
static u64 hpAggAheadCost(const HpAggDef *pDef, const void *pState){
  return pDef->eAgg==HP_AGG_LOG ? hpAggLogCost(pState) : hpAggOrderCost(pState);
}

/*
** A call of pFailed for group aGroup has failed with rc, and has set the error.  Set that which
** stock would have come to first, and return its code.
*/
static int hpAggAheadError(
  HpPipe *p,
  u8 *aGroup,
  const HpAggDef *pFailed,
  int rc
){
  const HpAggDef *pFirst = pFailed;
  u32 nFirst = 0xffffffff;
  Mem mem;
  if( hpGroupOf(p->pEntry)->nLate<2 || rc==SQLITE_NOMEM || rc==SQLITE_INTERRUPT ) return rc;
  HP_EACH_STATE(hpGroupOf(p->pEntry), aGroup, ==HP_AGG_LOG, HpAggLog, {
    u32 n;
    hpAggAheadNew(&mem, p->pQuery->db);
    if( hpAggLogCalls(p->apWorker[0], pDef, pState, &mem, 1, &n) && n<nFirst ){
      nFirst = n;
      pFirst = pDef;
    }
    sqlite3VdbeMemRelease(&mem);
  })
  if( pFirst!=pFailed ){
    hpAggAheadNew(&mem, p->pQuery->db);
    rc = hpAggAheadCalls(p->apWorker[0], pFirst, hpGroupState(pFirst, aGroup), &mem, 0);
    sqlite3VdbeMemRelease(&mem);
  }
  return rc;
}

/*
** Let register pMem be the context of pDef for the rows of group aGroup.
*/
static int hpAggAheadLoad(
  HpPipe *p,
  u8 *aGroup,
  const HpAggDef *pDef,
  Mem *pMem
){
  void *pState = hpGroupState(pDef, aGroup);
  Mem **ppDone = hpAggAheadDone(pDef, pState);
  int rc;
  assert( p->pCrew==0 );
  if( *ppDone ){
    sqlite3VdbeMemMove(pMem, *ppDone);
    *ppDone = 0;
    return SQLITE_OK;
  }
  sqlite3VdbeMemSetNull(pMem);
  pMem->n = 0;
  rc = hpAggAheadCalls(p->apWorker[0], pDef, pState, pMem, 0);
  return rc ? hpAggAheadError(p, aGroup, pDef, rc) : SQLITE_OK;
}

/*
** apGroup[0] is being read, and n-1 groups follow: ask for their rows.  First
** for the group, then for the beginning of its rows, and then for what that
** names: each is there when the next is looked for.
*/
static void hpAggAheadPrefetch(const HpGroupPlan *pPlan, u8 **apGroup, u32 n){
  assert( n>0 );
  if( n>HP_LATE_GROUP ){
    HP_EACH_LATE(pPlan, apGroup[HP_LATE_GROUP], { hpPrefetch(pState); })
  }
  if( n>HP_LATE_ROWS ){
    HP_EACH_LATE(pPlan, apGroup[HP_LATE_ROWS], {
      if( pDef->eAgg==HP_AGG_LOG ){
        hpAggLogPrefetch(pState, 1);
      }else{
        hpAggOrderPrefetch(pState, 1);
      }
    })
  }
  if( n>1 ){
    HP_EACH_LATE(pPlan, apGroup[1], {
      if( pDef->eAgg==HP_AGG_LOG ){
        hpAggLogPrefetch(pState, 0);
      }else{
        hpAggOrderPrefetch(pState, 0);
      }
    })
  }
}

/*
** All that a worker does for hpAggAhead().
*/
static void hpAggAheadRun(HpWorker *p){
  HpPipe *pPipe = p->pPipe;
  HpAggAhead *pAhead = &pPipe->pShown->ahead;
  const HpGroupPlan *pPlan = hpGroupOf(pPipe->pEntry);
  p->rc = SQLITE_OK;
  while( p->rc==SQLITE_OK ){
    u32 i, iEnd;
    hpThreadLock(pPipe);
    i = pAhead->iNext;
    pAhead->iNext = iEnd = MIN(i+HP_AHEAD_TURN, pAhead->nGroup);
    hpThreadUnlock(pPipe);
    if( i>=iEnd ) break;
    for(; i<iEnd && p->rc==SQLITE_OK; i++){
      Mem *pMem = &pAhead->aMem[(size_t)i*pPlan->nLate];
      u8 *aGroup = pAhead->apGroup[i];
      hpAggAheadPrefetch(pPlan, &pAhead->apGroup[i], pAhead->nGroup-i);
      HP_EACH_LATE(pPlan, aGroup, {
        if( pDef->bParallel && hpAggAheadCost(pDef, pState) ){
          hpAggAheadNew(pMem, p->db);
          if( hpAggAheadCalls(p, pDef, pState, pMem, 1) || p->db->mallocFailed ){
            /* Again when it is the turn of this group */
            sqlite3VdbeMemRelease(pMem);
            if( p->db!=pPipe->pQuery->db ){
              p->db->mallocFailed = 0;
            }else{
              hpBudgetOomUndo(p->db);
            }
          }else{
            assert( *hpAggAheadDone(pDef, pState)==0 );
            pMem->db = pPipe->pQuery->db;
            *hpAggAheadDone(pDef, pState) = pMem;
          }
        }
        pMem++;
      })
      p->rc = hpThreadProgress(p, HP_CALL_OPS);
    }
  }
  if( p->rc ) AtomicStore(&pPipe->pass.bStop, 1);
}

/*
** The groups apGroup[0..nGroup-1] come next.  Call the step functions for some of
** them, *pn, if that is worth the threads.
*/
static int hpAggAhead(HpPipe *p, u8 **apGroup, u32 nGroup, u32 *pn){
  const HpGroupPlan *pPlan = hpGroupOf(p->pEntry);
  u64 nCost = 0;
  u32 n;
  HpAggAhead *pAhead = &p->pShown->ahead;
  int bForce = p->pQuery->pCfg->nThread>1;
  assert( p->nWorker>1 && p->pCrew==0 && pPlan->nLate>0 );
  if( pAhead->nCost==0 ) pAhead->nCost = bForce ? 64 : HP_MIN_AHEAD;
  for(n=0; n<nGroup && n<pAhead->nCost && nCost<pAhead->nCost; n++){
    HP_EACH_LATE(pPlan, apGroup[n], {
      if( pDef->bParallel ) nCost += hpAggAheadCost(pDef, pState);
    })
  }
  *pn = n;
  /* Contexts of many groups at a time: SQLite has one */
  if( hpBudgetIsLimited() ) return SQLITE_OK;
  if( nCost<pAhead->nCost/4 || n<2 ) return SQLITE_OK;
  pAhead->nCost = MIN(2*pAhead->nCost, HP_MX_AHEAD);
  hpAggAheadClose(p);
  sqlite3BeginBenignMalloc();
  pAhead->aMem = sqlite3_malloc64(sizeof(Mem)*(u64)n*pPlan->nLate);
  sqlite3EndBenignMalloc();
  if( pAhead->aMem==0 ) return SQLITE_OK;
  memset(pAhead->aMem, 0, sizeof(Mem)*(size_t)n*pPlan->nLate);
  pAhead->apGroup = apGroup;
  pAhead->nGroup = n;
  pAhead->iNext = 0;
  return hpThreadEach(p, hpAggAheadRun);
}

/*
** HpEntryType.xAhead: the next group of pMerge is about to be delivered.
*/
static int hpAggAheadNext(HpPipe *p, HpMerge *pMerge){
  u8 **apGroup = &pMerge->apEntry[pMerge->iEntry];
  u32 nGroup = pMerge->nEntry-pMerge->iEntry;
  assert( nGroup>0 );
  if( p->nWorker>1 && pMerge->iEntry==pMerge->iAhead ){
    u32 n;
    int rc = hpAggAhead(p, apGroup, nGroup, &n);
    pMerge->iAhead += n;
    if( rc ) return rc;
  }
  hpAggAheadPrefetch(hpGroupOf(p->pEntry), apGroup, nGroup);
  return SQLITE_OK;
}

/*
** Free what hpAggAhead() has made and nobody has taken.
*/
static void hpAggAheadClose(HpPipe *p){
  u64 i;
  HpAggAhead *pAhead = &p->pShown->ahead;
  u64 n = pAhead->aMem
        ? (u64)pAhead->nGroup*hpGroupOf(p->pEntry)->nLate : 0;
  assert( p->pCrew==0 && pAhead->iNext<=pAhead->nGroup );
  for(i=0; i<n; i++){
    if( pAhead->aMem[i].db ) sqlite3VdbeMemRelease(&pAhead->aMem[i]);
  }
  sqlite3_free(pAhead->aMem);
  pAhead->aMem = 0;
  pAhead->nGroup = pAhead->iNext = 0;
}
#endif /* SQLITE_OMIT_HP */
