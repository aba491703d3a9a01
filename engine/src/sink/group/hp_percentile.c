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
** caller's thread runs for one group after the other, has only to read it.  What is not a number at all
** is left to calls, and to SQLite's errors.
**
** The value is found by selection: values are parted at one of them, and the part that has the place is
** parted again (Hoare, 1961).  No branch depends on how a value compares: of random ones the processor
** would guess every other wrong (Lomuto's scheme, in the form of Bentley's "Programming Pearls",
** with an exchange at each step).
**
** The order of the values does not matter, as equal numbers are alike but for zeros.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef SQLITE_ENABLE_PERCENTILE
#define HP_MN_PART     24     /* Fewer values are sorted by insertion */

/*
** Part a[0..n-1]: those less than r, or with bEqual not larger than r, come first.  Returns
** their number.
*/
static SQLITE_INLINE u64 hpPercentilePart(double *a, u64 n, double r, int bEqual){
  u64 j = 0;
  u64 i;
  for(i=0; i<n; i++){
    double x = a[i];
    a[i] = a[j];
    a[j] = x;
    j += bEqual ? x<=r : x<r;
  }
  return j;
}

/* Of three values the one in the middle */
static double hpPercentileMiddle(double x, double y, double z){
  return MAX(MIN(x, y), MIN(MAX(x, y), z));
}

#ifdef SQLITE_DEBUG
/* Are a[i] and a[i+1] where they would be if all were sorted? */
static int hpPercentileIsAt(const double *a, u64 n, u64 i){
  u64 j;
  for(j=0; j<n; j++){
    if( j<i ? a[j]>a[i] : a[j]<a[i] ) return 0;
    if( j>i && a[j]<a[i+1] ) return 0;
  }
  return 1;
}
#endif

/*
** Let a[i] and a[i+1], if there are such, be what they would be if a[0..n-1] were sorted.  There is no
** NaN among the values.
*/
static void hpPercentileSelect(double *a, u64 n, u64 i){
  u64 iLow = 0;          /* What is before this place is not larger than what follows, ... */
  u64 iEnd = n;          /* ... nor what is from here on smaller than what is before */
  int nPart = 0;
  u64 j, k;
  assert( i<n );
  while( iEnd-iLow>=HP_MN_PART ){
    double *aPart = &a[iLow];
    u64 nIn = iEnd-iLow;
    double r;
    assert( i>=iLow && i<iEnd && iEnd<=n );
    if( ++nPart>64 ){
      /* Each time it was parted badly, which takes some skill */
      percentSort(aPart, (unsigned)nIn, -1);
      break;
    }
    r = hpPercentileMiddle(
        hpPercentileMiddle(aPart[0], aPart[nIn/8], aPart[nIn/4]),
        hpPercentileMiddle(aPart[nIn/8*3], aPart[nIn/2], aPart[nIn/8*5]),
        hpPercentileMiddle(aPart[nIn/4*3], aPart[nIn/8*7], aPart[nIn-1]));
    j = hpPercentilePart(aPart, nIn, r, 0);
    if( i-iLow<j ){
      iEnd = iLow+j;
      continue;
    }
    k = j + hpPercentilePart(&aPart[j], nIn-j, r, 1);
    if( i-iLow<k ){
      /* It is r, and so is all from j to k */
      iLow = i;
      iEnd = iLow+1;
    }else{
      iLow += k;
    }
  }
  for(j=iLow+1; j<iEnd; j++){
    double x = a[j];
    for(k=j; k>iLow && a[k-1]>x; k--) a[k] = a[k-1];
    a[k] = x;
  }
  /* The next one is the smallest of what comes behind */
  if( i+1<n ){
    double x;
    for(k=j=i+1; j<n; j++){
      if( a[j]<a[k] ) k = j;
    }
    x = a[k];
    a[k] = a[i+1];
    a[i+1] = x;
  }
  assert( hpPercentileIsAt(a, n, i) );
}

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
  assert( pMem->flags & MEM_Null );
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
  hpPercentileSelect(a, n, (u64)(rPart*(double)(n-1)));
  assert( n<=pLog->nCall && rPart>=0.0 && rPart<=1.0 );
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
