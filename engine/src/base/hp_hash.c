/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_hash: hash values.
**
**    hpHashMix()        of a number
**    hpHashPack()   of a pack
**    hpHashBytes()  of bytes
**    hpHashWord()   of a text that is known by its ends: the highest bits are the best
**    hpHashMove()   the entries of a table to a larger one
**
** All bits of a value depend on all bits of what it is made from: tables take
** slots from some bits and salts from others.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Mix the bits of x */
static SQLITE_INLINE u64 hpHashMix(u64 x){
  x ^= x>>32;
  x *= ((u64)0x9e3779b9<<32)|0x7f4a7c15;
  x ^= x>>29;
  return x;
}

/* The hash of a text of n bytes, of which k1 are the first eight and k2 the last eight */
static SQLITE_INLINE u64 hpHashWord(u64 k1, u64 k2, u32 n){
  return (k1 ^ (k2<<23 | k2>>41) ^ n)*(((u64)0x9e3779b9<<32)|0x7f4a7c15);
}

/* The hash of a pack */
static SQLITE_INLINE u64 hpHashPack(HpPack x){ return hpHashMix(x.a ^ hpHashMix(x.b)); }

/* A hash of n bytes */
static u64 hpHashBytes(const u8 *z, u32 n){
  u64 h = n;
  u64 x = 0;
  while( n>=8 ){
    h = hpHashMix(h ^ hpLoad8(z));
    z += 8;
    n -= 8;
  }
  memcpy(&x, z, n);
  return hpHashMix(h ^ x);
}

/*
** Move the entries of hash table aOld, of mOld+1, to aNew, of mNew+1, which is
** empty and larger.  An entry is a salt and a number, 0 if there is none.  Linear
** probing, from where the low bits of the salt say.
*/
static void hpHashMove(const u32 *aOld, u32 mOld, u32 *aNew, u32 mNew){
  u32 i;
  assert( mNew>mOld && (mNew & (mNew+1))==0 );
  for(i=0; i<=mOld; i++){
    if( aOld[2*i+1] ){
      u32 j = aOld[2*i] & mNew;
      while( aNew[2*j+1] ) j = (j+1) & mNew;
      aNew[2*j] = aOld[2*i];
      aNew[2*j+1] = aOld[2*i+1];
    }
  }
}
#endif /* SQLITE_OMIT_HP */
