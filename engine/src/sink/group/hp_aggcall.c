/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_aggcall: calls of the step function of an aggregate.
**
**    hpAggCallBegin()  what calls for one group need
**    hpAggCallStep()   call it with the arguments aMem[]
**    hpAggCallEnd()    free what they needed
**    hpAggCallRow()    all three for a row of a batch
**
** sqlite3_value objects for the arguments are made once for a group.  Whoever
** calls sets them for each row; they point at memory that is there until the end.
**
** Functions that keep nothing but their context may be called for several groups
** at a time, by workers with a copy of the connection each.  What a call reports
** then is no error yet: it is made again by the first worker when it is the group's
** turn (hp_aggahead.c).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_CALL_POLL  64      /* Calls between looks at the interrupt flag */

/*
** Let *p make calls of pDef's step function by pWorker.  pMem, a NULL, becomes the context of
** the group, or is one already.  bAhead: errors are none yet.
*/
static void hpAggCallBegin(
  HpAggCall *p,
  HpWorker *pWorker,
  const HpAggDef *pDef,
  Mem *pMem,
  int bAhead
){
  sqlite3_context *pCtx = (sqlite3_context*)p->aSpace;
  int k;
  /* The application's code runs in the thread that it has called us in */
  assert( (pDef->pFunc->funcFlags & SQLITE_FUNC_BUILTIN)!=0
       || pWorker->db==pWorker->pPipe->pQuery->db );
  p->pWorker = pWorker;
  p->pDef = pDef;
  p->bAhead = bAhead;
  p->nCall = 0;
  memset(p->aSpace, 0, sizeof(p->aSpace));
  sqlite3VdbeMemInit(&p->out, pWorker->db, MEM_Null);
  assert( pDef->nArg<=ArraySize(p->aMem) );
  for(k=0; k<pDef->nArg; k++){
    sqlite3VdbeMemInit(&p->aMem[k], pWorker->db, MEM_Null);
    pCtx->argv[k] = &p->aMem[k];
  }
  pCtx->pOut = &p->out;
  pCtx->pFunc = pDef->pFunc;
  pCtx->pMem = pMem;
  pCtx->pVdbe = pWorker->pPipe->pQuery->v;
  pCtx->enc = ENC(pWorker->db);
  pCtx->argc = pDef->nArg;
}

/*
** Call the step function.
*/
static int hpAggCallStep(HpAggCall *p){
  sqlite3_context *pCtx = (sqlite3_context*)p->aSpace;
  int rc = SQLITE_OK;
  assert( pCtx->pMem->flags & (MEM_Null|MEM_Agg) );
  pCtx->pMem->n++;
  p->pDef->pFunc->xSFunc(pCtx, p->pDef->nArg, pCtx->argv);
  if( pCtx->isError ){
    if( pCtx->isError>0 ){
      if( p->bAhead==0 ){
        sqlite3VdbeError(pCtx->pVdbe, "%s", sqlite3_value_text(&p->out));
      }
      rc = pCtx->isError;
    }
    sqlite3VdbeMemRelease(&p->out);
    p->out.flags = MEM_Null;
    pCtx->isError = 0;
  }
  if( rc==SQLITE_OK && ++p->nCall%HP_CALL_POLL==0 ){
    rc = hpThreadProgress(p->pWorker, HP_CALL_POLL*HP_CALL_OPS);
  }
  return rc;
}

/*
** No more calls.
*/
static void hpAggCallEnd(HpAggCall *p){
  int k;
  for(k=0; k<p->pDef->nArg; k++) sqlite3VdbeMemRelease(&p->aMem[k]);
  sqlite3VdbeMemRelease(&p->out);
}

/*
** Call the step function of pDef for row i of a batch.
*/
static int hpAggCallRow(
  const HpFrame *p,
  const HpAggDef *pDef,
  Mem *pState,
  int i
){
  HpAggCall call;
  int k, rc;
  assert( pState->db==0 || pState->db==p->db );
  if( pState->db==0 ) sqlite3VdbeMemInit(pState, p->db, MEM_Null);
  hpAggCallBegin(&call, p->pWorker, pDef, pState, 1);
  for(k=0; k<pDef->nArg; k++){
    hpVecToMem(p, &p->aVec[pDef->aArg[k]], i, &call.aMem[k]);
  }
  rc = hpAggCallStep(&call);
  hpAggCallEnd(&call);
  return rc ? HP_DECLINE : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
