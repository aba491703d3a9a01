/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_like: LIKE and GLOB with a constant pattern.
**
**    hpLikeOpen()    cut the pattern into pieces
**    hpLikeRun()     match the selected rows
**    hpLikeFind()    where a piece of text begins
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Do blobs match nothing?  Not as #ifdef where it is asked: that is within the
** arguments of a macro, which MSVC refuses */
#ifdef SQLITE_LIKE_DOESNT_MATCH_BLOBS
# define HP_LIKE_NO_BLOB 1
#else
# define HP_LIKE_NO_BLOB 0
#endif

/*
** A pattern of LIKE or GLOB.  If it holds only ASCII and the wildcard for any
** text, it is cut into pieces: the text has to begin with the first, to end
** with the last, and the others are looked for one after the other.
** Otherwise nPiece is 0 and patternCompare() does it all.
**
** Byte by byte is the same as stock's character by character for such
** patterns, because no byte of a character beyond ASCII, valid or not, is
** taken for an ASCII character.  Text ends at its first zero byte.
*/
typedef struct HpLike HpLike;
struct HpLike {
  const struct compareInfo *pInfo;
  const u8 *zPat;        /* The pattern, zero-terminated, or NULL */
  u8 bBlob;              /* The pattern is a blob: matches nothing */
  u8 bNoCase;
  int nPiece;            /* Pieces.  1: no wildcard */
  struct HpPiece {
    const u8 *z;           /* Folded to lower case if bNoCase */
    u32 n;
  } *aPiece;
};

/*
** Prepare LIKE: its pattern is constant.
*/
static int hpLikeOpen(HpFrame *p, const HpOp *pOp, void **ppState){
  const HpVec *pPat = &p->aVec[pOp->a];
  const struct compareInfo *pInfo = pOp->pInfo;
  HpLike *pLike = hpArenaAlloc(&p->vec, sizeof(*pLike));
  Mem m;
  const u8 *z;
  u8 *zCopy;
  u32 i, n;
  int nPiece = 1;

  assert( pPat->mIdx==0 && pOp->eOp==HP_OP_LIKE );
  if( pLike==0 ) return HP_DECLINE;
  memset(pLike, 0, sizeof(*pLike));
  *ppState = pLike;
  pLike->pInfo = pInfo;
  pLike->bNoCase = pInfo->noCase;
  if( pPat->aTag[0]==HP_NULL ) return SQLITE_OK;
  pLike->bBlob = pPat->aTag[0]==HP_BLOB;
  hpVecToMem(p, pPat, 0, &m);
  if( sqlite3_value_bytes((sqlite3_value*)&m)
        >p->db->aLimit[SQLITE_LIMIT_LIKE_PATTERN_LENGTH]
   || (z = sqlite3_value_text((sqlite3_value*)&m))==0
  ){
    sqlite3VdbeMemRelease(&m);
    return HP_DECLINE;
  }
  n = (u32)strlen((const char*)z);
  zCopy = hpArenaAlloc(&p->vec, 2*(i64)n+2);
  pLike->aPiece = hpArenaAlloc(&p->vec, sizeof(struct HpPiece)*((i64)n+1));
  if( zCopy==0 || pLike->aPiece==0 ){
    sqlite3VdbeMemRelease(&m);
    return HP_DECLINE;
  }
  memcpy(zCopy, z, n+1);
  sqlite3VdbeMemRelease(&m);
  pLike->zPat = zCopy;
  zCopy = &zCopy[n+1];
  pLike->aPiece[0].z = zCopy;
  pLike->aPiece[0].n = 0;
  for(i=0; i<n; i++){
    u8 c = pLike->zPat[i];
    if( c>=0x80 || c==pInfo->matchOne || c==pInfo->matchSet ) return SQLITE_OK;
    zCopy[i] = pLike->bNoCase ? sqlite3UpperToLower[c] : c;
    if( c==pInfo->matchAll ){
      pLike->aPiece[nPiece].z = &zCopy[i+1];
      pLike->aPiece[nPiece].n = 0;
      nPiece++;
    }else{
      pLike->aPiece[nPiece-1].n++;
    }
  }
  assert( nPiece>=1 && nPiece<=(int)n+1 );
  pLike->nPiece = nPiece;
  return SQLITE_OK;
}

/* True if the n bytes at z are those of zPiece */
static SQLITE_INLINE int hpLikeIs(
  const u8 *z,
  const u8 *zPiece,
  u32 n,
  int bNoCase
){
  u32 i;
  if( bNoCase==0 ) return memcmp(z, zPiece, n)==0;
  for(i=0; i<n && sqlite3UpperToLower[z[i]]==zPiece[i]; i++){}
  return i==n;
}

/*
** Where zPiece first occurs in the n bytes at z, or -1.  At least HP_SLACK
** bytes after z[n] are readable.
*/
static i64 hpLikeFind(
  const u8 *z,
  u32 n,
  const u8 *zPiece,
  u32 nPiece,
  int bNoCase
){
  u32 i = 0;
  u32 mx;                /* Last place where it can begin */
  if( nPiece==0 ) return 0;
  if( nPiece>n ) return -1;
  mx = n-nPiece;
#ifdef HP_SSE2
  {
    u8 c0 = zPiece[0];
    u8 c1 = zPiece[nPiece-1];
    __m128i a = _mm_set1_epi8((char)c0);
    __m128i b = _mm_set1_epi8((char)c1);
    __m128i aUp = _mm_set1_epi8((char)(bNoCase ? sqlite3Toupper(c0) : c0));
    __m128i bUp = _mm_set1_epi8((char)(bNoCase ? sqlite3Toupper(c1) : c1));
    for(; i<=mx; i+=16){
      __m128i x = _mm_loadu_si128((const __m128i*)&z[i]);
      __m128i y = _mm_loadu_si128((const __m128i*)&z[i+nPiece-1]);
      u32 m;
      x = _mm_or_si128(_mm_cmpeq_epi8(x, a), _mm_cmpeq_epi8(x, aUp));
      y = _mm_or_si128(_mm_cmpeq_epi8(y, b), _mm_cmpeq_epi8(y, bUp));
      m = (u32)_mm_movemask_epi8(_mm_and_si128(x, y));
      while( m ){
        u32 k = i + (u32)__builtin_ctz(m);
        if( k>mx ) return -1;
        if( hpLikeIs(&z[k], zPiece, nPiece, bNoCase) ) return k;
        m &= m-1;
      }
    }
  }
#else
  for(; i<=mx; i++){
    if( hpLikeIs(&z[i], zPiece, nPiece, bNoCase) ) return i;
  }
#endif
  return -1;
}

/*
** Does the text of n bytes at z match?
*/
static SQLITE_INLINE int hpLikeText(const HpLike *pLike, const u8 *z, u32 n){
  const struct HpPiece *pFirst = &pLike->aPiece[0];
  const struct HpPiece *pLast = &pLike->aPiece[pLike->nPiece-1];
  int bNoCase = pLike->bNoCase;
  const u8 *zEnd;
  int i;
  assert( pLike->nPiece>=1 && pLike->bBlob==0 );
  if( n<pFirst->n || !hpLikeIs(z, pFirst->z, pFirst->n, bNoCase) ) return 0;
  if( pLike->nPiece==1 ) return n==pFirst->n || z[pFirst->n]==0;
  z += pFirst->n;
  n -= pFirst->n;
  for(i=1; i<pLike->nPiece-1; i++){
    const struct HpPiece *pPiece = &pLike->aPiece[i];
    i64 k = hpLikeFind(z, n, pPiece->z, pPiece->n, bNoCase);
    if( k<0 || (k>0 && memchr(z, 0, (size_t)k)) ) return 0;
    z += k + pPiece->n;
    n -= (u32)k + pPiece->n;
  }
  if( pLast->n==0 ) return 1;
  zEnd = n ? memchr(z, 0, n) : 0;
  if( zEnd ) n = (u32)(zEnd-z);
  assert( memchr(z, 0, n)==0 );      /* The text ends here */
  return n>=pLast->n
      && hpLikeIs(&z[n-pLast->n], pLast->z, pLast->n, bNoCase);
}

/*
** The text of row i of pVec with a zero byte after it, until the next call.
** Returns NULL, and sets mallocFailed, if there is no memory.
*/
static const u8 *hpLikeZ(HpFrame *p, const HpVec *pVec, int i){
  u32 n = pVec->aLen[i];
  if( n>=p->nText ){
    u32 nNew = 2*n+256;
    u8 *aNew = hpArenaAlloc(&p->vec, nNew);
    if( aNew==0 ){
      sqlite3OomFault(p->db);
      return 0;
    }
    p->aText = aNew;
    p->nText = nNew;
  }
  assert( n<p->nText );
  memcpy(p->aText, pVec->aVal[i].z, n);
  p->aText[n] = 0;
  return p->aText;
}

/*
** Compute b LIKE a into p->aBool, as likeFunc() does.
*/
static void hpLikeRun(HpFrame *p, const HpOp *pOp, const void *pState){
  const HpLike *pLike = pState;
  const struct compareInfo *pInfo = pLike->pInfo;
  const HpVec *pB = &p->aVec[pOp->b];
  u8 *aBool = p->aBool;
  assert( pB->bFloat==0 && (pLike->zPat!=0 || pLike->nPiece==0) );

  if( pB->mType==HP_TEXT && pLike->nPiece && pLike->bBlob==0 ){
    u32 m = pB->mIdx;
    HP_ROWS(p, {
      aBool[i] = (u8)hpLikeText(pLike, pB->aVal[i & m].z, pB->aLen[i & m]);
    })
    return;
  }
  HP_ROWS(p, {
    int iB = i & pB->mIdx;
    u8 t = pB->aTag[iB];
    Mem m;
    const u8 *z;
    if( HP_LIKE_NO_BLOB && (t==HP_BLOB || pLike->bBlob) ){
      aBool[i] = 0;
      continue;
    }
    aBool[i] = 2;
    if( t==HP_NULL || pLike->zPat==0 ) continue;
    if( t==HP_TEXT && pLike->nPiece ){
      aBool[i] = (u8)hpLikeText(pLike, pB->aVal[iB].z, pB->aLen[iB]);
    }else if( t==HP_TEXT ){
      z = hpLikeZ(p, pB, iB);
      if( z==0 ) continue;
      aBool[i] = patternCompare(pLike->zPat, z, pInfo, pInfo->matchSet)
                 ==SQLITE_MATCH;
    }else{
      hpVecToMem(p, pB, iB, &m);
      z = sqlite3_value_text((sqlite3_value*)&m);
      if( z ){
        aBool[i] = patternCompare(pLike->zPat, z, pInfo, pInfo->matchSet)
                   ==SQLITE_MATCH;
      }
      sqlite3VdbeMemRelease(&m);
    }
  })
}
#endif /* SQLITE_OMIT_HP */
