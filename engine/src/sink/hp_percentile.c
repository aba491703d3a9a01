/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_percentile: contexts of median(), percentile(), percentile_cont() and percentile_disc().
**
**    hpPercentileMake()    that of a group, of the log of its rows' arguments
**
** SQLite's step function puts a value at the end of an array, and the finalizer moves the wanted one
** to where it would be if all were sorted.  Here the array is made from the log (hp_agglog.c)
** without calls, and the worker that makes it moves the value to its place: the finalizer, which the
** caller's thread runs for one group after the other, has only to read it.  SQLite's own
** percentSort() does it, so what is not a number at all is left to calls, and to SQLite's errors.
**
** The order of the values does not matter, as equal numbers are alike but for zeros.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef SQLITE_ENABLE_PERCENTILE
/*
** Make pMem, a NULL, the context of pDef for the rows of pLog.  False: the step function has to be
** called, and pMem is as before.
*/
static int hpPercentileMake(HpWorker *p, const HpAggDef *pDef, HpAggLog *pLog, Mem *pMem){
  int eFunc = SQLITE_PTR_TO_INT(pDef->pFunc->pUserData);
  double rPart = 0.5;
  HpAggCall call;
  Percentile *pCtx;
  double *a;
  u64 n;
  if( pDef->pFunc->xSFunc!=percentStep || pLog->nCall==0 || pLog->nCall>0x7fffffff/8 ) return 0;
  a = sqlite3_malloc64(sizeof(*a)*pLog->nCall);
  if( a==0 ) return 0;
  if( !hpAggLogNumbers(pDef, pLog, a, &n, &rPart) ){
    sqlite3_free(a);
    return 0;
  }
  if( pDef->nArg==2 ) rPart /= (eFunc & 2) ? 100.0 : 1.0;
  hpAggCallBegin(&call, p, pDef, pMem, 1);
  pCtx = rPart>=0.0 && rPart<=1.0
       ? sqlite3_aggregate_context((sqlite3_context*)call.aSpace, sizeof(*pCtx)) : 0;
  hpAggCallEnd(&call);
  if( pCtx==0 ){
    sqlite3_free(a);
    return 0;
  }
  pMem->n = (int)pLog->nCall;
  pCtx->rPct = rPart;
  pCtx->bPctValid = 1;
  if( n==0 ){
    sqlite3_free(a);
    return 1;
  }
  if( n>=2 ) percentSort(a, (unsigned)n, (int)(rPart*(double)(n-1)));
  pCtx->a = a;
  pCtx->nAlloc = pLog->nCall;
  pCtx->nUsed = n;
  pCtx->bSorted = 1;
  return 1;
}
#else
# define hpPercentileMake(P,DEF,LOG,MEM) 0
#endif
#endif /* SQLITE_OMIT_HP */
