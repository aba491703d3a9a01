/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_key: keys of groups as bytes.
**
**    hpPackRows()     all keys of each row in 128 bits, where they fit
**    hpKeyNorm()      the normalized keys of a row
**    hpKeyShow()      how the row has them
**    hpKeyValue(), hpKeyInt(), hpKeyNumber()    one value of such a record
**    hpKeyToMem()     a value back from a key record
**    hpMemStr(), hpMemPoint()    text or blob in a Mem, copied or not
**    hpBytes()        up to eight bytes as a number that sorts like them
**    hpTrimmed()      bytes of a text without spaces at its end
**
** A pack tells whether two rows belong to the same group: one string of up to
** 15 bytes, two of up to 7, integers of 56 bits, and so on.  It says nothing
** about order.
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

/* The first n<=8 bytes at z, where 8 are readable, as a number */
static SQLITE_INLINE u64 hpBytes(const u8 *z, u32 n){
  return n ? hpLoad8(z) >> (64-8*n) : 0;
}

/* Length of text without what RTRIM ignores */
static u32 hpTrimmed(const u8 *z, u32 n){
  while( n>0 && z[n-1]==' ' ) n--;
  return n;
}

/*
** Set *pi to the integer that real r is, and return true if it is one.  Up to
** 2^63 every real that is a whole number is.
*/
static SQLITE_INLINE int hpRealIsInt(double r, i64 *pi){
  if( r>=-9223372036854775808.0 && r<9223372036854775808.0 ){
    *pi = (i64)r;
    return (double)*pi==r;
  }
  return 0;
}

/*
** One key as a number of nBit bits (32 or 64), or HP_UNPACKED.  The lowest two
** bits tell the type.  Equal keys, and only they, have equal numbers.
*/
static SQLITE_INLINE u64 hpPackKey(u8 tag, HpVal v, u32 n, int nBit){
  i64 x;
  switch( tag ){
    case HP_NULL:
      return 3;
    case HP_TEXT:
      if( (int)n>=nBit/8 ) return HP_UNPACKED;
      return (hpBytes(v.z, n)<<8) | (n<<2) | 1;
    case HP_REAL:
      if( !hpRealIsInt(v.r, &v.i) ) return HP_UNPACKED;
      /* no break */ deliberate_fall_through
    case HP_INT:
      x = (i64)((u64)v.i<<(72-nBit));
      if( x>>(72-nBit)!=v.i ) return HP_UNPACKED;
      return ((u64)x>>(64-nBit)) | 2;
  }
  return HP_UNPACKED;
}

/* The only key of a row as a pack */
static SQLITE_INLINE HpPack hpPackOne(u8 tag, HpVal v, u32 n){
  HpPack x;
  x.a = 0;
  x.b = 3;
  switch( tag ){
    case HP_NULL:
      return x;
    case HP_TEXT:
      if( n<=15 ){
        x.a = hpBytes(v.z, MIN(n,8));
        x.b = (n<<2) | 1;
        if( n>8 ) x.b |= hpBytes(&v.z[8], n-8)<<8;
        return x;
      }
      break;
    case HP_REAL:
      if( !hpRealIsInt(v.r, &v.i) ) break;
      /* no break */ deliberate_fall_through
    case HP_INT:
      x.a = v.u;
      x.b = HP_PACK_INT;
      return x;
  }
  x.a = x.b = HP_UNPACKED;
  return x;
}

#ifdef HP_AVX2
/* The eight bytes of text at Z(0) to Z(3), as big-endian numbers */
#define HP_TEXTS(Z) \
  _mm256_shuffle_epi8( \
      _mm256_set_epi64x(hpRaw8(Z(3)), hpRaw8(Z(2)), hpRaw8(Z(1)), hpRaw8(Z(0))), \
      _mm256_setr_epi8(7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8, \
                       7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8))

/*
** Rows i to i+3 of pVec, all of them texts or all integers, as hpPackKey() of
** 64 bits has them.  Where they do not fit *pLong gets all bits.
*/
__attribute__((target("avx2")))
static SQLITE_INLINE __m256i hpPackKeyAvx2(
  const HpVec *pVec,
  int i,
  __m256i *pLong
){
  const HpVal *a = &pVec->aVal[i];
  __m256i x, n;
  if( pVec->mType==HP_INT ){
    __m256i v = _mm256_loadu_si256((const __m256i*)a);
    const __m256i m55 = _mm256_set1_epi64x((i64)1<<55);
    x = _mm256_srli_epi64(_mm256_add_epi64(v, m55), 56);
    *pLong = _mm256_or_si256(*pLong, _mm256_cmpgt_epi64(x,
                                         _mm256_setzero_si256()));
    return _mm256_or_si256(_mm256_slli_epi64(v, 8), _mm256_set1_epi64x(2));
  }
#define HP_TEXT_AT(I) a[I].z
  x = HP_TEXTS(HP_TEXT_AT);
  n = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)&pVec->aLen[i]));
  *pLong = _mm256_or_si256(*pLong,
               _mm256_cmpgt_epi64(n, _mm256_set1_epi64x(7)));
  x = _mm256_srlv_epi64(x, _mm256_sub_epi64(_mm256_set1_epi64x(64),
                                            _mm256_slli_epi64(n, 3)));
  return _mm256_or_si256(_mm256_slli_epi64(x, 8),
             _mm256_or_si256(_mm256_slli_epi64(n, 2), _mm256_set1_epi64x(1)));
}

/*
** The same for the only key of rows i to i+3, as hpPackOne(): *pA and *pB.
*/
__attribute__((target("avx2")))
static SQLITE_INLINE void hpPackOneAvx2(
  const HpVec *pVec,
  int i,
  __m256i *pA,
  __m256i *pB,
  __m256i *pLong
){
  const HpVal *a = &pVec->aVal[i];
  const u32 *aLen = &pVec->aLen[i];
  const __m256i c8 = _mm256_set1_epi64x(8);
  const __m256i c64 = _mm256_set1_epi64x(64);
  __m256i n, x, m;
  if( pVec->mType==HP_INT ){
    *pA = _mm256_loadu_si256((const __m256i*)a);
    *pB = _mm256_set1_epi64x(HP_PACK_INT);
    return;
  }
  n = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)aLen));
  m = _mm256_cmpgt_epi64(n, c8);
  *pA = _mm256_srlv_epi64(HP_TEXTS(HP_TEXT_AT), _mm256_sub_epi64(c64,
            _mm256_slli_epi64(_mm256_blendv_epi8(n, c8, m), 3)));
  *pB = _mm256_or_si256(_mm256_slli_epi64(n, 2), _mm256_set1_epi64x(1));
  if( !_mm256_testz_si256(m, m) ){
    /* Shifted out entirely where there are no more than eight bytes, of which
    ** the first ones are read once more */
#define HP_TEXT_REST(I) &a[I].z[aLen[I]>8 ? 8 : 0]
    x = HP_TEXTS(HP_TEXT_REST);
    x = _mm256_srlv_epi64(x, _mm256_sub_epi64(c64,
            _mm256_slli_epi64(_mm256_sub_epi64(n, c8), 3)));
    *pB = _mm256_or_si256(*pB, _mm256_slli_epi64(x, 8));
    *pLong = _mm256_or_si256(*pLong,
                 _mm256_cmpgt_epi64(n, _mm256_set1_epi64x(15)));
  }
}

/*
** Pack the one or two keys of rows 0, 1, ... of the batch, selected or not, four
** at a time.  Each key is a vector of texts only or of integers only.  Returns
** the number of rows done and clears *pbAll if one did not fit.
*/
__attribute__((target("avx2")))
static int hpPackAvx2(
  const HpVec *pKey0,
  const HpVec *pKey1,    /* NULL: there is one key */
  int nRow,
  HpPack *aPack,
  int *pbAll
){
  __m256i any = _mm256_setzero_si256();
  int i;
  for(i=0; i+4<=nRow; i+=4){
    __m256i mLong = _mm256_setzero_si256();
    __m256i a, b, lo, hi;
    if( pKey1 ){
      a = hpPackKeyAvx2(pKey0, i, &mLong);
      b = hpPackKeyAvx2(pKey1, i, &mLong);
    }else{
      hpPackOneAvx2(pKey0, i, &a, &b, &mLong);
    }
    any = _mm256_or_si256(any, mLong);
    a = _mm256_or_si256(a, mLong);
    b = _mm256_or_si256(b, mLong);
    lo = _mm256_unpacklo_epi64(a, b);
    hi = _mm256_unpackhi_epi64(a, b);
    _mm256_storeu_si256((__m256i*)&aPack[i],
                        _mm256_permute2x128_si256(lo, hi, 0x20));
    _mm256_storeu_si256((__m256i*)&aPack[i+2],
                        _mm256_permute2x128_si256(lo, hi, 0x31));
  }
  if( !_mm256_testz_si256(any, any) ) *pbAll = 0;
  return i;
}
#endif /* HP_AVX2 */

/* True if all rows of pVec are of one type that hpPackAvx2() knows */
static SQLITE_INLINE int hpPackIsPlain(const HpVec *pVec){
  return pVec->mIdx!=0 && (pVec->mType==HP_INT || pVec->mType==HP_TEXT);
}

/*
** Pack the keys of the selected rows into aPack.  Returns true if all of them
** fit.  Whether the keys of a row fit depends on nothing but them (and the
** query), so that equal rows of all batches meet.
*/
static int hpPackRows(HpFrame *p, const HpKeys *pKeys, HpPack *aPack){
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int nKey = pKeys->n;
  int bAll = 1;
  int iFrom;             /* So many selected rows are done */
  int ii, k;

  for(k=0; k<nKey && nKey<=4 && pKeys->aColl[k]==0; k++){}
  if( k<nKey ){
    for(ii=0; ii<nSel; ii++) aPack[ii].a = aPack[ii].b = HP_UNPACKED;
    return 0;
  }
  iFrom = 0;
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense && nKey<=2
   && hpPackIsPlain(&p->aVec[pKeys->aVec[0]])
   && hpPackIsPlain(&p->aVec[pKeys->aVec[nKey-1]])
  ){
    int n = hpPackAvx2(&p->aVec[pKeys->aVec[0]],
                       nKey==2 ? &p->aVec[pKeys->aVec[1]] : 0,
                       p->nRow, aPack, &bAll);
    for(iFrom=nSel; iFrom>0 && aSel[iFrom-1]>=n; iFrom--){}
    if( nSel<p->nRow ){
      for(ii=0; ii<iFrom; ii++) aPack[ii] = aPack[aSel[ii]];
    }
    if( !bAll ){
      /* A row that is not selected does not matter */
      bAll = 1;
      for(ii=0; ii<iFrom; ii++) bAll &= aPack[ii].b!=HP_UNPACKED;
    }
  }
#endif
  if( nKey==1 ){
    const HpVec *pVec = &p->aVec[pKeys->aVec[0]];
    for(ii=iFrom; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      aPack[ii] = hpPackOne(pVec->aTag[i], pVec->aVal[i], pVec->aLen[i]);
      bAll &= aPack[ii].b!=HP_UNPACKED;
    }
    return bAll;
  }
  for(k=0; k<nKey; k++){
    const HpVec *pVec = &p->aVec[pKeys->aVec[k]];
    int nBit = nKey==2 ? 64 : 32;
    for(ii=iFrom; ii<nSel; ii++){
      int i = aSel[ii] & pVec->mIdx;
      u64 x = hpPackKey(pVec->aTag[i], pVec->aVal[i], pVec->aLen[i], nBit);
      if( k==0 ){
        aPack[ii].a = x;
        aPack[ii].b = 0;
      }else if( aPack[ii].b==HP_UNPACKED ){
        continue;
      }else if( k==1 ){
        aPack[ii].b = x;
      }else{
        aPack[ii].a |= k==2 ? x<<32 : 0;
        aPack[ii].b |= k==3 ? x<<32 : 0;
      }
      if( x==HP_UNPACKED ){
        aPack[ii].a = aPack[ii].b = HP_UNPACKED;
        bAll = 0;
      }
    }
  }
  return bAll;
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
      if( tag==HP_TEXT && pColl!=0 ) n = hpTrimmed(z, n);
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
static void hpMemStr(Mem *pMem, u8 tag, const u8 *z, u32 n){
  sqlite3VdbeMemSetStr(pMem, (const char*)z, n, tag==HP_TEXT ? SQLITE_UTF8 : 0,
                       SQLITE_TRANSIENT);
}

/*
** Set register pMem to text (with a zero byte behind it) or a blob that stays
** where it is.  MEM_Ephem tells whoever keeps it longer to make a copy.
*/
static void hpMemPoint(Mem *pMem, u8 tag, const u8 *z, u32 n){
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
          hpMemStr(pMem, tag, &zShow[4], n);
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
            hpMemPoint(pMem, tag, z, (u32)(zEnd-z));
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
        hpMemStr(pMem, tag, pBuf->n ? pBuf->a : (const u8*)"", pBuf->n);
        break;
      }
      default: {
        HpVal v;
        u32 d = 0;
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
}
#endif /* SQLITE_OMIT_HP */
