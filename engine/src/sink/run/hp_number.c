/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_number: row_number(), rank() and dense_rank() of rows that come in order.
**
**    hpNumberSkip()  is the next row beyond the number that is wanted?
**
** Workers keep the first rows of each partition (hp_partition.c), each of those
** that it has seen.  When all rows come out of the merge they are numbered, and
** those with a number too large are left out.  SQLite's window code numbers the
** others once more.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Rows come in order.  Is this one not wanted, as those before it tell?
*/
static int hpNumberSkip(const HpPipe *p, HpNumber *pCount, const u8 *aRow){
  const HpHead *pHead = (const HpHead*)aRow;
  u32 nPrefix = sqlite3Get4byte(&pHead->z[pHead->nRec-4]);
  int bPart;             /* Of the same partition as the row before */
  int bPeer;             /* And with an equal key */
  if( p->pOut->mxRow==0 || pCount->bOff ) return 0;
  assert( nPrefix<=pHead->nNorm && pHead->nNorm+4<=pHead->nRec );
  bPart = pCount->nRow>0 && pCount->nPrefix==nPrefix
       && (nPrefix==0 || memcmp(pCount->norm.a, pHead->z, nPrefix)==0);
  bPeer = bPart && pCount->norm.n==pHead->nNorm
       && memcmp(pCount->norm.a, pHead->z, pHead->nNorm)==0;
  if( bPart==0 ) pCount->nRow = pCount->iNumber = 0;
  pCount->nRow++;
  switch( p->pPlan->pSort->eNumber ){
    case HP_NUMBER_ROWS:   pCount->iNumber = pCount->nRow;             break;
    case HP_NUMBER_RANK:   if( !bPeer ) pCount->iNumber = pCount->nRow;  break;
    default:               if( !bPeer ) pCount->iNumber++;             break;
  }
  assert( pCount->iNumber>0 && pCount->iNumber<=pCount->nRow );
  if( bPeer==0 ){
    pCount->nPrefix = nPrefix;
    pCount->norm.n = 0;
    if( hpBufRoom(&pCount->norm, pHead->nNorm) ){
      pCount->bOff = 1;    /* Not wanted, but no harm */
      return 0;
    }
    if( pHead->nNorm ) memcpy(pCount->norm.a, pHead->z, pHead->nNorm);
    pCount->norm.n = pHead->nNorm;
  }
  return pCount->iNumber>p->pOut->mxRow;
}
#endif /* SQLITE_OMIT_HP */
