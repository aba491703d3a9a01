/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_buf: arrays and bytes that grow.
**
**    hpBufRoom()     room for more bytes
**    hpBufAppend()   more bytes
**    hpBufGrow()     room for one more entry of an array
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Make *paEntry, an array of entries of sz bytes, larger if it is full.
*/
static int hpBufGrow(void *ppEntry, int *pnAlloc, int nUsed, int sz){
  void **pp = (void**)ppEntry;
  assert( nUsed>=0 && nUsed<=*pnAlloc );
  if( nUsed>=*pnAlloc ){
    int n = *pnAlloc ? *pnAlloc*2 : 8;
    void *pNew = sqlite3_realloc64(*pp, (u64)n*sz);
    if( pNew==0 ) return SQLITE_NOMEM;
    *pp = pNew;
    *pnAlloc = n;
  }
  return SQLITE_OK;
}

/*
** Make room for n more bytes.
*/
static int hpBufRoom(HpBuf *pBuf, u32 n){
  assert( pBuf->n<=pBuf->nAlloc && (pBuf->nAlloc==0)==(pBuf->a==0) );
  if( pBuf->nAlloc-pBuf->n<n ){
    u64 nNew = (u64)pBuf->nAlloc*2 + n;
    u8 *aNew;
    if( nNew>SQLITE_MAX_LENGTH ) return HP_DECLINE;
    aNew = sqlite3_realloc64(pBuf->a, nNew);
    if( aNew==0 ) return HP_DECLINE;
    pBuf->a = aNew;
    pBuf->nAlloc = (u32)nNew;
    assert( pBuf->nAlloc-pBuf->n>=n );
  }
  return SQLITE_OK;
}

/*
** Append bytes a[0..n-1].
*/
static int hpBufAppend(HpBuf *pBuf, const u8 *a, u32 n){
  if( hpBufRoom(pBuf, n) ) return HP_DECLINE;
  memcpy(&pBuf->a[pBuf->n], a, n);
  pBuf->n += n;
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
