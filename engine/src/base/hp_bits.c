/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_bits: a set of integers, with a bit for each number of its range.
**
**    hpBitsCount()    the number of bits set in 64
**    hpBitsAny()      has the set an integer in a range?
**
** The keys of a relation are such a set if all are integers and lie close to
** each other (hp_build.c, which makes it).  A scan of a table leaves out leaves
** without a rowid of such a set (hp_walk.c).  For each 64 bits there is the
** number of integers before them, so both questions take the same time however
** large the set is.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Number of bits set in x */
static SQLITE_INLINE u32 hpBitsCount(u64 x){
#ifdef HP_GNUC
  return (u32)__builtin_popcountll(x);
#else
  x -= (x>>1) & (~(u64)0/3);
  x = (x & (~(u64)0/5)) + ((x>>2) & (~(u64)0/5));
  x = (x + (x>>4)) & (~(u64)0/17);
  return (u32)((x*(~(u64)0/255))>>56);
#endif
}

/* Number of integers of the set that are not greater than iKey */
static u32 hpBitsUpTo(const HpBits *p, i64 iKey){
  u64 k = (u64)iKey - (u64)p->iMin;
  if( iKey<p->iMin ) return 0;
  if( k>p->nBit ) k = p->nBit;   /* The bit behind the last one is 0 */
  assert( ((p->aBit[p->nBit>>6]>>(p->nBit & 63)) & 1)==0 );
  return p->aRank[k>>6] + hpBitsCount(p->aBit[k>>6] << (63-(k & 63)));
}

/*
** Has the set an integer that is greater than iLow and not greater than iHigh?
*/
static int hpBitsAny(const HpBits *p, i64 iLow, i64 iHigh){
  assert( p->nBit>0 && iLow<=iHigh );
  return hpBitsUpTo(p, iLow)<hpBitsUpTo(p, iHigh);
}
#endif /* SQLITE_OMIT_HP */
