/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_key: keys of groups as bytes.
**
**    hpKeyNorm()      the normalized keys of a row
**    hpKeyShow()      how the row has them
**    hpKeyValue(), hpKeyAppend(), hpKeyInt(), hpKeyNumber()    one value of such a record
**    hpKeyToMem()     a value back from a key record
**    hpKeyMemStr(), hpKeyMemPoint()    text or blob in a Mem, copied or not
**    hpKeyTrimmed()      bytes of a text without spaces at its end
**
** A key record is what remains of the keys of a group.  Its first part is a
** normalized key: memcmp() of two of them gives the order in which SQLite's
** sorter would put them, collations, DESC and NULLS LAST included, and 0
** exactly if the keys are equal.  For each key that is
**
**    a byte    NULL, number, text, blob: in this order
**    number    the double that is nearest from below, its bits turned so that
**              they sort; from 2^53 on, two bytes more: what an integer is
**              larger than that.  So 3 and 3.0 are equal, and a large integer
**              and a real compare exactly.
**    text      its bytes, as the collation sees them (RTRIM without the
**              spaces at the end, NOCASE in lower case up to a zero byte and
**              then the length), zero bytes as 00 ff, 00 00 at the end
**    blob      likewise
**
** with all bits inverted if the key is descending.  The second part says how
** the first row of the group had the keys: for each key a byte, the type
** (HP_INT or HP_REAL for a number), and after it for text under NOCASE and
** RTRIM its length and bytes.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_RANK_NULL    0x01
#define HP_RANK_NUMBER  0x05
#define HP_RANK_TEXT    0x10
#define HP_RANK_BLOB    0x20
#define HP_RANK_BIGNULL 0xfe   /* NULL where it comes last */

#define HP_MINUS_ZERO   0x80   /* With HP_REAL: -0.0 */
#define HP_2_53 9007199254740992.0

/* Length of text without what RTRIM ignores */
static u32 hpKeyTrimmed(const u8 *z, u32 n){
  while( n>0 && z[n-1]==' ' ) n--;
  return n;
}

/*
** Write a number in the form of a normalized key to aOut.  Returns its length:
** 9 or 11 bytes.
*/
static u32 hpKeyNumber(u8 *aOut, u8 tag, HpVal v){
  u64 x;
  u32 d = 0;             /* What an integer is larger than the double */
  if( tag==HP_INT ){
    double r = (double)v.i;
    if( r>=9223372036854775808.0 || (i64)r>v.i ){
      /* Rounded up: take the double below */
      HpVal y;
      y.r = r;
      y.u += r>0.0 ? -1 : 1;
      r = y.r;
    }
    d = (u32)(v.i - (i64)r);
    v.r = r;
  }else if( v.r==0.0 ){
    v.r = 0.0;           /* -0.0 is equal */
  }
  assert( v.r==v.r && d<=1024 );   /* No NaN.  Doubles near 2^63 are 1024 apart */
  x = v.u ^ ((v.u>>63) ? ~(u64)0 : (u64)1<<63);
  aOut[0] = HP_RANK_NUMBER;
  sqlite3Put4byte(&aOut[1], (u32)(x>>32));
  sqlite3Put4byte(&aOut[5], (u32)x);
  if( fabs(v.r)<HP_2_53 ) return 9;
  aOut[9] = (u8)(d>>8);
  aOut[10] = (u8)d;
  return 11;
}

/*
** Write the normalized key of an integer to aOut, HP_SZ_NUMBER bytes, and return
** its length.  flags is KEYINFO_ORDER_xxx.
*/
static u32 hpKeyInt(u8 *aOut, i64 iVal, u8 flags){
  HpVal v;
  u32 i, n;
  v.i = iVal;
  n = hpKeyNumber(aOut, HP_INT, v);
  assert( n==9 || n==HP_SZ_NUMBER );
  if( flags & KEYINFO_ORDER_DESC ){
    for(i=0; i<n; i++) aOut[i] ^= 0xff;
  }
  return n;
}

/*
** Append value (tag, v, n) to normalized key pBuf.  flags is KEYINFO_ORDER_xxx.
** 8 bytes are readable after text and blobs.
*/
static int hpKeyAppend(
  HpBuf *pBuf,
  u8 tag, HpVal v, u32 n,
  CollSeq *pColl,
  u8 flags
){
  u32 iStart = pBuf->n;
  u8 *a;
  /* Others cannot be written as bytes that memcmp() puts in order */
  assert( tag!=HP_TEXT || pColl==0 || hpVecCollIsOwn(pColl) );
  if( hpBufRoom(pBuf, (tag & HP_STR) ? 2*n+16 : 16) ) return HP_DECLINE;
  a = &pBuf->a[iStart];
  switch( tag ){
    case HP_NULL:
      *a++ = (flags & KEYINFO_ORDER_BIGNULL) ? HP_RANK_BIGNULL : HP_RANK_NULL;
      break;
    case HP_INT:
    case HP_REAL:
      a += hpKeyNumber(a, tag, v);
      break;
    default: {
      const u8 *z = v.z;
      *a++ = tag==HP_TEXT ? HP_RANK_TEXT : HP_RANK_BLOB;
      if( tag==HP_TEXT && pColl!=0 && pColl->xCmp==nocaseCollatingFunc ){
        u32 i;
        for(i=0; i<n && z[i]; i++) *a++ = sqlite3UpperToLower[z[i]];
        *a++ = 0;
        sqlite3Put4byte(a, n);
        a += 4;
        break;
      }
      if( tag==HP_TEXT && pColl!=0 ) n = hpKeyTrimmed(z, n);
      if( n==0 || memchr(z, 0, n)==0 ){
        if( n ) memcpy(a, z, n);
        a += n;
      }else{
        u32 i;
        for(i=0; i<n; i++){
          *a++ = z[i];
          if( z[i]==0 ) *a++ = 0xff;
        }
      }
      *a++ = 0;
      *a++ = 0;
      break;
    }
  }
  pBuf->n = (u32)(a - pBuf->a);
  assert( pBuf->n>iStart && pBuf->n<=pBuf->nAlloc );
  if( flags & KEYINFO_ORDER_DESC ){
    u32 i;
    for(i=iStart; i<pBuf->n; i++) pBuf->a[i] ^= 0xff;
  }
  return SQLITE_OK;
}

/*
** hpKeyAppend() for row i of pVec.
*/
static int hpKeyValue(
  HpBuf *pBuf,
  const HpVec *pVec,
  int i,
  CollSeq *pColl,
  u8 flags
){
  u8 tag;
  assert( pVec->bFloat==0 );
  i &= pVec->mIdx;
  tag = pVec->aTag[i];
  return hpKeyAppend(pBuf, tag, pVec->aVal[i],
                     (tag & HP_STR) ? pVec->aLen[i] : 0, pColl, flags);
}

/*
** Append the first part of the key record of row i.
*/
static int hpKeyNorm(HpFrame *p, const HpKeys *pKeys, int i, HpBuf *pBuf){
  int k;
  for(k=0; k<pKeys->n; k++){
    if( hpKeyValue(pBuf, &p->aVec[pKeys->aVec[k]], i, pKeys->aColl[k],
                   pKeys->aSort[k])
    ){
      return HP_DECLINE;
    }
  }
  return SQLITE_OK;
}

/*
** Append the second part of the key record of row i.
*/
static int hpKeyShow(HpFrame *p, const HpKeys *pKeys, int i, HpBuf *pBuf){
  int k;
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &p->aVec[pKeys->aVec[k]];
    int j = i & pVec->mIdx;
    u8 tag = pVec->aTag[j];
    u32 n = tag==HP_TEXT && pKeys->aColl[k] ? pVec->aLen[j]+4 : 0;
    assert( pVec->bFloat==0 && pVec->bLate==0 );
    if( hpBufRoom(pBuf, n+1) ) return HP_DECLINE;
    if( tag==HP_REAL && pVec->aVal[j].r==0.0 && (pVec->aVal[j].u>>63) ){
      tag |= HP_MINUS_ZERO;
    }
    pBuf->a[pBuf->n++] = tag;
    if( n ){
      sqlite3Put4byte(&pBuf->a[pBuf->n], n-4);
      if( n>4 ) memcpy(&pBuf->a[pBuf->n+4], pVec->aVal[j].z, n-4);
      pBuf->n += n;
    }
  }
  return SQLITE_OK;
}

/* Set register pMem to text or a blob */
static void hpKeyMemStr(Mem *pMem, u8 tag, const u8 *z, u32 n){
  sqlite3VdbeMemSetStr(pMem, (const char*)z, n, tag==HP_TEXT ? SQLITE_UTF8 : 0,
                       SQLITE_TRANSIENT);
}

/*
** Set register pMem to text (with a zero byte behind it) or a blob that stays
** where it is.  MEM_Ephem tells whoever keeps it longer to make a copy.
*/
static void hpKeyMemPoint(Mem *pMem, u8 tag, const u8 *z, u32 n){
  assert( tag!=HP_TEXT || z[n]==0 );
  if( VdbeMemDynamic(pMem) ) sqlite3VdbeMemSetNull(pMem);
  pMem->flags = tag==HP_TEXT ? MEM_Str|MEM_Term|MEM_Ephem : MEM_Blob|MEM_Ephem;
  pMem->z = (char*)z;
  pMem->n = (int)n;
  pMem->enc = SQLITE_UTF8;
}

/*
** Set registers aMem[0..n-1] to the keys of the record at z, nNorm bytes of
** it a normalized key.  pBuf is scratch.  Text may stay where it is, in the
** group, which lives until the next one is asked for.
*/
static void hpKeyToMem(
  const HpKeys *pKeys,
  const u8 *z,
  u32 nNorm,
  Mem *aMem,
  HpBuf *pBuf
){
  const u8 *zShow = &z[nNorm];
  int k;
  VVA_ONLY( const u8 *zEnd = zShow; )
  for(k=0; k<pKeys->n; k++){
    Mem *pMem = &aMem[k];
    u8 tag = *zShow++;
    u8 mask = (pKeys->aSort[k] & KEYINFO_ORDER_DESC) ? 0xff : 0;
    z++;                 /* The rank */
    switch( tag ){
      case HP_NULL:
        sqlite3VdbeMemSetNull(pMem);
        break;
      case HP_TEXT:
      case HP_BLOB: {
        int bNoCase = 0;
        pBuf->n = 0;
        if( tag==HP_TEXT && pKeys->aColl[k] ){
          u32 n = sqlite3Get4byte(zShow);
          bNoCase = pKeys->aColl[k]->xCmp==nocaseCollatingFunc;
          hpKeyMemStr(pMem, tag, &zShow[4], n);
          zShow += n+4;
          while( (z[0]^mask)!=0 || (!bNoCase && (z[1]^mask)!=0) ){
            z += (z[0]^mask)==0 ? 2 : 1;
          }
          z += bNoCase ? 5 : 2;
          break;
        }
        if( mask==0 ){
          /* Most often there is no zero byte inside: no copy is needed */
          const u8 *zEnd = (const u8*)strchr((const char*)z, 0);
          if( zEnd[1]==0 ){
            hpKeyMemPoint(pMem, tag, z, (u32)(zEnd-z));
            z = &zEnd[2];
            break;
          }
        }
        while( (z[0]^mask)!=0 || (z[1]^mask)!=0 ){
          if( hpBufRoom(pBuf, 1) ){
            sqlite3OomFault(pMem->db);
            return;
          }
          pBuf->a[pBuf->n++] = z[0]^mask;
          z += (z[0]^mask)==0 ? 2 : 1;
        }
        z += 2;
        hpKeyMemStr(pMem, tag, pBuf->n ? pBuf->a : (const u8*)"", pBuf->n);
        break;
      }
      default: {
        HpVal v;
        u32 d = 0;
        assert( (tag & ~HP_MINUS_ZERO)==HP_REAL || tag==HP_INT );
        v.u = ((u64)sqlite3Get4byte(z)<<32) | sqlite3Get4byte(&z[4]);
        if( mask ) v.u = ~v.u;
        v.u ^= (v.u>>63) ? (u64)1<<63 : ~(u64)0;
        z += 8;
        if( fabs(v.r)>=HP_2_53 ){
          d = ((u32)(z[0]^mask)<<8) | (z[1]^mask);
          z += 2;
        }
        if( tag==HP_INT ){
          sqlite3VdbeMemSetInt64(pMem, (i64)v.r + (i64)d);
        }else{
          sqlite3VdbeMemSetDouble(pMem, (tag & HP_MINUS_ZERO) ? -0.0 : v.r);
        }
        break;
      }
    }
  }
  assert( z==zEnd );                 /* Both parts have the same keys */
}
#endif /* SQLITE_OMIT_HP */
