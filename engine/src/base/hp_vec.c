/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_vec: values in vectors, and what SQLite makes of them.
**
**    hpVecInit(), hpVecConst()    memory; a vector of one value
**    hpVecExact()      integers in float form become integers again
**    hpVecValue()      a value: type, bits, length
**    hpVecToMem()      a value as SQLite has it, ...
**    hpVecSetMem()     ... and back
**    hpVecText()     memory for text computed in this batch
**    hpVecTruth(), hpVecBool(), hpVecFromBool()    truth values
**    hpVecValCompare(), hpVecMemCompare(), hpVecNumCompare(),
**    hpVecBinCompare() order of two values
**    hpVecCollIsOwn()  is a collation SQLite's own?
**    hpVecSame()       are two texts the same?
**    hpVecMayBeNumber()   can an affinity make a number of a text?
**    hpVecScope(), hpVecBack()    select what was selected around a side
**    hpVecFill()       values for the rows that were not computed
**    hpVecIsSelection()    for asserts: is it a selection vector?
**
** A vector holds the values of one expression for the rows of a batch (HpVec).
** Only rows of the selection that it was computed under are defined.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Decline rather than write out so many zeros of a zeroblob() */
#define HP_MX_ZERO   1000000

/*
** Allocate a vector of n values.  There is room for HP_LANES more, since AVX2
** works on four values and 32 tags at a time.
*/
#define HP_LANES 31
static int hpVecInit(HpFrame *p, HpVec *pVec, int n){
  assert( n>=1 && pVec->aTag==0 );
  pVec->aTag = hpArenaAlloc(&p->vec, n+HP_LANES);
  pVec->aVal = hpArenaAlloc(&p->vec, (i64)(n+HP_LANES)*sizeof(HpVal));
  pVec->aLen = hpArenaAlloc(&p->vec, (i64)n*sizeof(u32));
  pVec->mIdx = 0xffff;
  pVec->mType = HP_NULL;
  if( pVec->aTag==0 || pVec->aVal==0 || pVec->aLen==0 ) return HP_DECLINE;
  memset(pVec->aTag, HP_NULL, n+HP_LANES);
  memset(pVec->aVal, 0, (n+HP_LANES)*sizeof(HpVal));
  return SQLITE_OK;
}

/*
** Set constant pVec to the value of register pMem, which stays unchanged
** while the program runs.  Text and blobs are copied, so that HP_SLACK
** bytes after them are readable; if there is no memory pVec->mType is 0.
*/
static void hpVecConst(HpFrame *p, HpVec *pVec, Mem *pMem){
  assert( pVec->aTag!=0 );
  pVec->mIdx = 0;
  pVec->aLen[0] = 0;
  if( pMem->flags & MEM_Null ){
    pVec->aTag[0] = HP_NULL;
  }else if( pMem->flags & (MEM_Int|MEM_IntReal) ){
    if( pMem->flags & MEM_IntReal ){
      pVec->aTag[0] = HP_REAL;
      pVec->aVal[0].r = (double)pMem->u.i;
    }else{
      pVec->aTag[0] = HP_INT;
      pVec->aVal[0].i = pMem->u.i;
    }
  }else if( pMem->flags & MEM_Real ){
    pVec->aTag[0] = HP_REAL;
    pVec->aVal[0].r = pMem->u.r;
  }else{
    u8 *z = 0;
    if( ExpandBlob(pMem)==SQLITE_OK ){
      z = hpArenaAlloc(&p->vec, (i64)pMem->n+HP_SLACK);
    }
    if( z==0 ){
      pVec->aTag[0] = 0;
    }else{
      if( pMem->n ) memcpy(z, pMem->z, pMem->n);
      memset(&z[pMem->n], 0, HP_SLACK);
      pVec->aVal[0].z = z;
      pVec->aLen[0] = pMem->n;
      pVec->aTag[0] = (pMem->flags & MEM_Str) ? HP_TEXT : HP_BLOB;
    }
  }
  pVec->mType = pVec->aTag[0];
}

/*
** Select the rows that were selected with nDepth sides around, and note in
** *pNow what is selected: hpVecBack() selects that again.
*/
static void hpVecScope(HpFrame *p, int nDepth, HpAround *pNow){
  pNow->aSel = p->aSel;
  pNow->nSel = p->nSel;
  pNow->bDense = p->bDense;
  if( nDepth<p->nDepth ){
    p->aSel = p->aAround[nDepth].aSel;
    p->nSel = p->aAround[nDepth].nSel;
    p->bDense = p->aAround[nDepth].bDense;
  }
}
static void hpVecBack(HpFrame *p, const HpAround *pNow){
  p->aSel = pNow->aSel;
  p->nSel = pNow->nSel;
  p->bDense = pNow->bDense;
}

/*
** Turn a vector in float form back: integers are integers.  In all rows that it
** was computed for, which are more than a side has.
*/
static void hpVecExact(HpFrame *p, HpVec *pVec){
  if( pVec->bFloat ){
    HpVal *aVal = pVec->aVal;
    const u8 *aTag = pVec->aTag;
    HpAround now;
    assert( pVec->nDepth<=p->nDepth );
    hpVecScope(p, pVec->nDepth, &now);
    pVec->bFloat = 0;
    HP_ROWS(p, {
      if( aTag[i]==HP_INT ) aVal[i].i = (i64)aVal[i].r;
    })
    hpVecBack(p, &now);
  }
}

/*
** Row i of pVec: sets *pVal and *pn, and returns its type.
*/
static SQLITE_INLINE u8 hpVecValue(
  const HpVec *pVec,
  int i,
  HpVal *pVal,
  u32 *pn
){
  u8 tag;
  i &= pVec->mIdx;
  tag = pVec->aTag[i];
  *pVal = pVec->aVal[i];
  *pn = 0;
  if( tag & HP_STR ){
    *pn = pVec->aLen[i];
  }else if( pVec->bFloat && tag==HP_INT ){
    pVal->i = (i64)pVal->r;
  }
  return tag;
}

/*
** Make *pMem the value of row i of pVec.  The bytes of text and blobs stay
** where they are; whoever changes *pMem releases it.
*/
static void hpVecToMem(const HpFrame *p, const HpVec *pVec, int i, Mem *pMem){
  assert( pVec->bFloat==0 );
  i &= pVec->mIdx;
  sqlite3VdbeMemInit(pMem, p->db, MEM_Null);
  switch( pVec->aTag[i] ){
    case HP_INT:
      pMem->flags = MEM_Int;
      pMem->u.i = pVec->aVal[i].i;
      break;
    case HP_REAL:
      pMem->flags = MEM_Real;
      pMem->u.r = pVec->aVal[i].r;
      break;
    case HP_TEXT:
    case HP_BLOB:
      pMem->flags = (pVec->aTag[i]==HP_TEXT ? MEM_Str : MEM_Blob) | MEM_Ephem;
      pMem->z = (char*)pVec->aVal[i].z;
      pMem->n = (int)pVec->aLen[i];
      pMem->enc = SQLITE_UTF8;
      break;
  }
  if( pVec->aSub && pVec->aSub[i] ){
    pMem->flags |= MEM_Subtype;
    pMem->eSubtype = pVec->aSub[i]-1;
  }
}

/*
** Memory for a text of n bytes that lives until the batch ends.  A zero byte
** follows it, and HP_SLACK bytes are readable.  Returns NULL if there is no
** memory, or too much of it is in use, or the text is too long: then p->rcOp is set.
*/
static u8 *hpVecText(HpFrame *p, u32 n){
  HpArena *pText = &p->text;
  u8 *z = 0;
  if( n>p->pWorker->pPipe->pQuery->mxText ){
    p->rcOp = HP_DECLINE;
    return 0;
  }
  if( pText->nFree>=n+HP_SLACK || hpBudgetMay(p->pWorker, n, HP_KEEP) ){
    z = hpArenaAlloc(pText, (i64)n+HP_SLACK);
  }
  if( z==0 ){
    p->rcOp = HP_DECLINE;
  }else{
    /* The slack may overlap the next text */
    u32 nBack = ROUND8((i64)n+HP_SLACK) - ROUND8((i64)n+8);
    pText->pFree -= nBack;
    pText->nFree += nBack;
    memset(&z[n], 0, 8);
  }
  return z;
}

/*
** Set row i of pOut to a text or blob.
*/
static void hpVecSetStr(
  HpFrame *p,
  HpVec *pOut, int i,
  u8 tag, const u8 *z, u32 n
){
  u8 *zNew = hpVecText(p, n);
  if( zNew==0 ){
    tag = HP_NULL;
  }else{
    if( n ) memcpy(zNew, z, n);
    pOut->aVal[i].z = zNew;
    pOut->aLen[i] = n;
  }
  pOut->aTag[i] = tag;
  pOut->mType |= tag;
}

/*
** Set row i of pOut to a copy of *pMem, and add its type to pOut->mType.  What
** cannot be in a vector (a pointer, a very long string) sets p->rcOp.
*/
static void hpVecSetMem(HpFrame *p, HpVec *pOut, int i, Mem *pMem){
  u8 tag = HP_NULL;
  if( pMem->flags & MEM_Null ){
    if( pMem->flags & (MEM_Subtype|MEM_Term) ) p->rcOp = HP_DECLINE;
  }else if( pMem->flags & MEM_Int ){
    tag = HP_INT;
    pOut->aVal[i].i = pMem->u.i;
  }else if( pMem->flags & MEM_Real ){
    tag = HP_REAL;
    pOut->aVal[i].r = pMem->u.r;
  }else if( pMem->flags & MEM_IntReal ){
    tag = HP_REAL;
    pOut->aVal[i].r = (double)pMem->u.i;
  }else if( ((pMem->flags & MEM_Zero) && pMem->u.nZero>HP_MX_ZERO)
         || ExpandBlob(pMem)!=SQLITE_OK
         || sqlite3VdbeMemTooBig(pMem)
         || (pMem->flags & (MEM_Str|MEM_Blob))==0
  ){
    p->rcOp = HP_DECLINE;
  }else{
    hpVecSetStr(p, pOut, i, (pMem->flags & MEM_Str) ? HP_TEXT : HP_BLOB,
                (const u8*)pMem->z, (u32)pMem->n);
    return;
  }
  pOut->aTag[i] = tag;
  pOut->mType |= tag;
}

/*
** Compare two numbers as sqlite3MemCompare() does.  A tag is HP_INT or
** HP_REAL.
*/
static SQLITE_INLINE int hpVecNumCompare(u8 tA, HpVal a, u8 tB, HpVal b){
  if( (tA & tB)==HP_INT ){
    return a.i<b.i ? -1 : a.i>b.i;
  }else if( (tA & tB)==HP_REAL ){
    return a.r<b.r ? -1 : a.r>b.r;
  }else if( tA==HP_INT ){
    return sqlite3IntFloatCompare(a.i, b.r);
  }else{
    return -sqlite3IntFloatCompare(b.i, a.r);
  }
}

/* Are the n bytes at zA and zB the same?  Eight more are readable */
static SQLITE_INLINE int hpVecSame(const u8 *zA, const u8 *zB, u32 n){
  if( n<8 ) return hpLoadBytes(zA, n)==hpLoadBytes(zB, n);
  if( hpRaw8(zA)!=hpRaw8(zB) ) return 0;
  if( n<=16 ) return hpRaw8(&zA[n-8])==hpRaw8(&zB[n-8]);
  return memcmp(&zA[8], &zB[8], n-8)==0;
}

/* Compare byte strings as BINARY does */
static SQLITE_INLINE int hpVecBinCompare(
  const u8 *zA, u32 nA,
  const u8 *zB, u32 nB
){
  u32 n = MIN(nA, nB);
  int c;
  if( n>=8 ){
    u64 a = hpLoad8(zA);
    u64 b = hpLoad8(zB);
    if( a!=b ) return a<b ? -1 : 1;
    if( n<=16 ){
      a = hpLoadBytes(&zA[8], n-8);
      b = hpLoadBytes(&zB[8], n-8);
      return a!=b ? (a<b ? -1 : 1) : nA<nB ? -1 : nA>nB;
    }
  }
  c = memcmp(zA, zB, n);
  if( c==0 ) c = nA<nB ? -1 : nA>nB;
  return c;
}

/*
** False if text of n bytes at z is certainly not the form of a number, so
** that numeric affinity leaves it alone.  Dates are the text that matters:
** four digits and a minus.  (Stock reads a number up to a zero byte.)
*/
static SQLITE_INLINE int hpVecMayBeNumber(const u8 *z, u32 n){
  u32 i = 0;
  if( n>4 && z[4]=='-' ){
    u32 x;
    memcpy(&x, z, 4);
    if( (((x+0x46464646) | (x-0x30303030)) & 0x80808080)==0 ) return 0;
  }
  while( i<n && sqlite3Isspace(z[i]) ) i++;
  if( i<n && (z[i]=='-' || z[i]=='+') ) i++;
  while( i<n && sqlite3Isdigit(z[i]) ) i++;
  if( i>=n ) return n>0;
  return z[i]=='.' || z[i]=='e' || z[i]=='E' || z[i]==0
      || sqlite3Isspace(z[i]);
}

/*
** Compare two values that are not NULL, as sqlite3MemCompare() does with
** collation pColl: numbers before text before blobs.
*/
static int hpVecValCompare(
  u8 tA, HpVal a, u32 nA,
  u8 tB, HpVal b, u32 nB,
  CollSeq *pColl
){
  if( (tA|tB) & HP_NUM ){
    if( !(tA & HP_NUM) ) return 1;
    if( !(tB & HP_NUM) ) return -1;
    return hpVecNumCompare(tA, a, tB, b);
  }
  if( tA!=tB ) return tA==HP_TEXT ? -1 : 1;
  if( tA==HP_TEXT && !sqlite3IsBinary(pColl) ){
    return pColl->xCmp(pColl->pUser, (int)nA, a.z, (int)nB, b.z);
  }
  return hpVecBinCompare(a.z, nA, b.z, nB);
}

/*
** Compare row i of a with row i of b as OP_Eq and its like do: with
** affinity aff applied to copies of both.  Neither is NULL.
*/
static int hpVecMemCompare(
  const HpFrame *p,
  const HpVec *pA,
  const HpVec *pB,
  int i,
  u8 aff,
  CollSeq *pColl
){
  Mem a, b;
  int res;
  hpVecToMem(p, pA, i, &a);
  hpVecToMem(p, pB, i, &b);
  if( aff>=SQLITE_AFF_NUMERIC ){
    if( (a.flags | b.flags) & MEM_Str ){
      if( a.flags & MEM_Str ) applyNumericAffinity(&a, 0);
      if( b.flags & MEM_Str ) applyNumericAffinity(&b, 0);
    }
  }else if( aff==SQLITE_AFF_TEXT && ((a.flags | b.flags) & MEM_Str)!=0 ){
    if( a.flags & (MEM_Int|MEM_Real) ){
      sqlite3VdbeMemStringify(&a, SQLITE_UTF8, 1);
    }
    if( b.flags & (MEM_Int|MEM_Real) ){
      sqlite3VdbeMemStringify(&b, SQLITE_UTF8, 1);
    }
  }
  res = sqlite3MemCompare(&a, &b, pColl);
  sqlite3VdbeMemRelease(&a);
  sqlite3VdbeMemRelease(&b);
  return res;
}

/* Make a vector of the truth values in p->aBool */
static void hpVecFromBool(HpFrame *p, HpVec *pOut){
  u8 mType = 0;
  assert( p->nRow>0 && pOut->bFloat==0 );
  HP_ROWS(p, {
    u8 b = p->aBool[i];
    u8 tag = b==2 ? HP_NULL : HP_INT;
    pOut->aTag[i] = tag;
    pOut->aVal[i].i = b;
    mType |= tag;
  })
  pOut->mType = mType;
}

/* Truth of row i of pVec */
static u8 hpVecTruth(const HpFrame *p, const HpVec *pVec, int i){
  u8 b;
  Mem m;
  i &= pVec->mIdx;
  switch( pVec->aTag[i] ){
    case HP_NULL:  return 2;
    case HP_INT:   return pVec->aVal[i].i!=0;
    case HP_REAL:  return pVec->aVal[i].r!=0.0;
  }
  hpVecToMem(p, pVec, i, &m);
  b = sqlite3VdbeBooleanValue(&m, 0)!=0;
  sqlite3VdbeMemRelease(&m);
  return b;
}

/* The same without a call for truth values */
static SQLITE_INLINE u8 hpVecBool(const HpFrame *p, const HpVec *pVec, int i){
  u8 t = pVec->aTag[i & pVec->mIdx];
  if( t & ~(HP_INT|HP_NULL) ) return hpVecTruth(p, pVec, i);
  return t==HP_NULL ? 2 : pVec->aVal[i & pVec->mIdx].i!=0;
}

/*
** Rows that are not selected are computed where most are (HpFrame.bDense), but
** those of pOut were not.  Give them the value of a row that was, so that
** pOut->mType stays as it is.
*/
static void hpVecFill(HpFrame *p, HpVec *pOut){
  const u16 *aSel = p->aSel;
  int n = p->nSel;
  int i, ii, from;
  assert( p->bDense && n<p->nRow );
  if( n==0 ){
    memset(pOut->aTag, HP_NULL, p->nAlloc);
    pOut->mType = HP_NULL;
    return;
  }
  from = aSel[0];
  for(i=0, ii=0; i<p->nRow; i++){
    if( ii<n && aSel[ii]==i ){
      from = i;
      ii++;
    }else{
      pOut->aTag[i] = pOut->aTag[from];
      pOut->aVal[i] = pOut->aVal[from];
      pOut->aLen[i] = pOut->aLen[from];
      if( pOut->aSub ) pOut->aSub[i] = pOut->aSub[from];
    }
  }
}

/*
** Is pColl one of SQLite's own collations, which any thread may call, and nobody sees the calls of?
** NULL is BINARY.
*/
static int hpVecCollIsOwn(const CollSeq *pColl){
  return sqlite3IsBinary(pColl)
      || pColl->xCmp==nocaseCollatingFunc || pColl->xCmp==rtrimCollFunc;
}

#ifdef SQLITE_DEBUG
/* A selection vector: rows of the frame, each after the one before it */
static int hpVecIsSelection(const HpFrame *p){
  int ii;
  if( p->nSel<0 || p->nSel>p->nRow || p->nRow>p->nAlloc ) return 0;
  for(ii=0; ii<p->nSel; ii++){
    if( p->aSel[ii]>=p->nRow ) return 0;
    if( ii>0 && p->aSel[ii]<=p->aSel[ii-1] ) return 0;
  }
  return 1;
}
#endif
#endif /* SQLITE_OMIT_HP */
