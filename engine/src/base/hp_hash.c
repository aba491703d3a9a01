/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_hash: hash values.
**
**    hpHashMix()        of a number
**    hpHashBytes()  of bytes
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
#endif /* SQLITE_OMIT_HP */
