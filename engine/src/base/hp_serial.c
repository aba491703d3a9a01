/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_serial: values as records have them.
**
**    hpSerialGet()     a number from its bytes
**    hpSerialIsSane()  for asserts
**    hpSerialRoom()    bytes of a value in a record
**    hpSerialInt()     the serial type of an integer
**    hpSerialType()    the serial type of a value, ...
**    hpSerialHead()    ... as a varint, ...
**    hpSerialPut()     ... and the value's bytes
**
** A record is a header of serial types and then the values: the file format's
** section 2.1.  hpSerialPut() writes what sqlite3VdbeSerialPut() would, and
** hpSerialGet() reads it back.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Decoding of serial types 0..11 without a branch: the eight bytes at the
** value, as a big-endian number, shifted, masked, plus a constant.
*/
#define HP_WIDE 0x80
static const struct HpSer {
  u64 mask;
  u8 shift;
  u8 add;
  u8 tag;
  u8 seen;               /* tag, and HP_WIDE for eight bytes */
} aHpSer[12] = {
  { 0,       0,  0, HP_NULL, HP_NULL },
  { ~(u64)0, 56, 0, HP_INT,  HP_INT },
  { ~(u64)0, 48, 0, HP_INT,  HP_INT },
  { ~(u64)0, 40, 0, HP_INT,  HP_INT },
  { ~(u64)0, 32, 0, HP_INT,  HP_INT },
  { ~(u64)0, 16, 0, HP_INT,  HP_INT },
  { ~(u64)0, 0,  0, HP_INT,  HP_INT|HP_WIDE },
  { ~(u64)0, 0,  0, HP_REAL, HP_REAL },
  { 0,       0,  0, HP_INT,  HP_INT },
  { 0,       0,  1, HP_INT,  HP_INT },
  { 0,       0,  0, HP_NULL, HP_NULL },
  { 0,       0,  0, HP_NULL, HP_NULL },
};

/* The bits of a value of the serial type that pSer is for, at z, where eight bytes
** are readable */
static SQLITE_INLINE i64 hpSerialGet(const struct HpSer *pSer, const u8 *z){
  return (((i64)hpLoad8(z) >> pSer->shift) & pSer->mask) + pSer->add;
}

#ifdef SQLITE_DEBUG
/*
** Does aHpSer[] say of each type what SQLite's own code does?  Types 10 and 11
** are as NULL there too.
*/
static int hpSerialIsSane(void){
  static const u8 aTo[8] = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88 };
  u32 t;
  for(t=0; t<12; t++){
    const struct HpSer *p = &aHpSer[t];
    Mem mem;
    sqlite3VdbeSerialGet(aTo, t, &mem);
    if( (p->tag==HP_NULL)!=((mem.flags & (MEM_Int|MEM_Real))==0) ) return 0;
    if( p->tag==HP_NULL ) continue;
    if( (p->tag==HP_REAL)!=((mem.flags & MEM_Real)!=0) ) return 0;
    if( hpSerialGet(p, aTo)!=mem.u.i || (p->seen & ~HP_WIDE)!=p->tag ) return 0;
  }
  return 1;
}
#endif

/* The serial type of an integer, as sqlite3VdbeSerialType() */
static SQLITE_INLINE u32 hpSerialInt(i64 i){
  u64 u = (u64)(i<0 ? ~i : i);
  if( u<=127 ) return (i & 1)==i ? 8+(u32)u : 1;
  if( u<=32767 ) return 2;
  if( u<=8388607 ) return 3;
  if( u<=2147483647 ) return 4;
  if( u<=(((u64)0x7fff<<32)|0xffffffff) ) return 5;
  return 6;
}

/* The serial type of a value */
static SQLITE_INLINE u32 hpSerialType(u8 tag, HpVal v, u32 n){
  switch( tag ){
    case HP_INT:  return hpSerialInt(v.i);
    case HP_REAL: return 7;
    case HP_TEXT: return 2*n+13;
    case HP_BLOB: return 2*n+12;
  }
  return 0;
}

/*
** Add to *pnHdr and *pnData what a value takes in the header of a record and
** behind it.  Returns its serial type.
*/
static SQLITE_INLINE u32 hpSerialRoom(
  u8 tag,
  HpVal v,
  u32 n,
  u64 *pnHdr,
  u64 *pnData
){
  u32 t = hpSerialType(tag, v, n);
  *pnHdr += t<0x80 ? 1 : sqlite3VarintLen(t);
  *pnData += t<12 ? sqlite3SmallTypeSizes[t] : n;
  return t;
}

/*
** Write a value of serial type t to z, where eight bytes more than it takes are
** writable.  Returns its length.
*/
static SQLITE_INLINE u32 hpSerialPut(u8 *z, u32 t, HpVal v, u32 n){
  static const u8 aShift[] = { 0, 56, 48, 40, 32, 16, 0, 0, 0, 0 };
  if( t<12 ){
    u64 x = v.u << aShift[t];
#if SQLITE_BYTEORDER==1234
    x = sqlite3BSwap64(x);
    memcpy(z, &x, 8);
#else
    sqlite3Put4byte(z, (u32)(x>>32));
    sqlite3Put4byte(&z[4], (u32)x);
#endif
    return sqlite3SmallTypeSizes[t];
  }
  if( n ) memcpy(z, v.z, n);
  return n;
}

/* Write the serial type t to z.  Returns its length. */
static SQLITE_INLINE u32 hpSerialHead(u8 *z, u32 t){
  if( t<0x80 ){
    *z = (u8)t;
    return 1;
  }
  return (u32)sqlite3PutVarint(z, t);
}
#endif /* SQLITE_OMIT_HP */
