/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_kept: values that are kept longer than the page they come from.
**
**    hpKeptSet()      keep a value of a vector
**    hpKeptCompare()  the order of two values
**    hpKeptCompareKeys(), hpKeptCompareRow()    ... of two rows, by their keys
**
** A bare column, the best value of min() and max(), the keys of a row of a heap:
** each may change with every row, so a text has space that is used again.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Keep row i of pVec in *pKept, text in memory of pArena.
*/
static int hpKeptSet(HpArena *pArena, HpKept *pKept, const HpVec *pVec, int i){
  assert( pVec->bCodes==0 && pVec->bLate==0 );
  assert( pKept->aBuf!=0 || pKept->nAlloc==0 );
  pKept->tag = hpVecValue(pVec, i, &pKept->val, &pKept->n);
  if( pKept->tag & HP_STR ){
    u32 n = pKept->n;
    if( n>pKept->nAlloc || pKept->aBuf==0 ){
      u32 nAlloc = MAX(n, 2*pKept->nAlloc);
      u8 *aBuf = hpArenaAlloc(pArena, (i64)nAlloc+8);
      if( aBuf==0 ) return HP_DECLINE;
      pKept->aBuf = aBuf;
      pKept->nAlloc = nAlloc;
    }
    assert( n<=pKept->nAlloc );
    memcpy(pKept->aBuf, pKept->val.z, n);
    memset(&pKept->aBuf[n], 0, 8);
    pKept->val.z = pKept->aBuf;
  }
  return SQLITE_OK;
}

/*
** Compare two values in the order of a sorter whose KeyInfo has pColl and
** flags (KEYINFO_ORDER_xxx).
*/
static SQLITE_INLINE int hpKeptCompare(
  u8 tA, HpVal a, u32 nA,
  u8 tB, HpVal b, u32 nB,
  CollSeq *pColl,
  u8 flags
){
  int bNull = ((tA | tB) & HP_NULL)!=0;
  int c;
  if( bNull ){
    c = (tB==HP_NULL) - (tA==HP_NULL);
  }else{
    c = hpVecValCompare(tA, a, nA, tB, b, nB, pColl);
  }
  if( c!=0 && flags
   && ((flags & KEYINFO_ORDER_BIGNULL)==0
       || ((flags & KEYINFO_ORDER_DESC)!=0)!=bNull)
  ){
    c = -c;
  }
  return c;
}

/*
** Compare values a[] and b[] of keys iKey and those behind it, the order of two rows.
*/
static SQLITE_INLINE int hpKeptCompareKeys(
  const HpKeys *pKeys,
  int iKey,
  const HpKept *a,
  const HpKept *b
){
  int c = 0;
  for(; iKey<pKeys->n && c==0; iKey++, a++, b++){
    assert( a->tag!=0 && b->tag!=0 );
    c = hpKeptCompare(a->tag, a->val, a->n, b->tag, b->val, b->n, pKeys->aColl[iKey],
                      pKeys->aSort[iKey]);
  }
  return c;
}

/*
** The same of row i of the batch and values b[].
*/
static SQLITE_INLINE int hpKeptCompareRow(
  const HpKeys *pKeys,
  int iKey,
  const HpFrame *p,
  int i,
  const HpKept *b
){
  int c = 0;
  for(; iKey<pKeys->n && c==0; iKey++, b++){
    HpVal v;
    u32 n;
    u8 tag = hpVecValue(&p->aVec[pKeys->aVec[iKey]], i, &v, &n);
    c = hpKeptCompare(tag, v, n, b->tag, b->val, b->n, pKeys->aColl[iKey], pKeys->aSort[iKey]);
  }
  return c;
}
#endif /* SQLITE_OMIT_HP */
