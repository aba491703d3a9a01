/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_expr: vector programs.
**
**    hpProgConst(), hpProgOp(), hpProgFilter()    make one (prepare time)
**    hpVecInit(), hpVecConst()                    memory, constants
**    hpExecFilter()    run the filters: narrows the selection vector
**    hpExecRest()      run what is left, under the final selection
**
** An operation computes one vector from others, for the rows of the
** selection vector.  It looks at the types that occur in its operands and
** takes a typed loop where they are all integers, all reals, or all text,
** and otherwise one general loop, in which everything but plain numbers is
** turned into a Mem and handed to the functions that the VDBE itself uses
** (sqlite3MemCompare, applyNumericAffinity, sqlite3VdbeBooleanValue, ...).
** The typed loops are what makes it fast; the general loop is what makes it
** right; each typed loop says under which condition it is the same thing.
**
** All operands are computed for all selected rows, whether or not SQL's short
** cuts would have reached them.  Operators cannot fail but for memory.  SQL
** functions can, and may cost much, so they are called for selected rows only,
** and where a CASE, COALESCE, AND or OR stands before them only where it
** leads to them (HpOp.iGuard).  A function that fails even so sets p->rcOp to
** HP_DECLINE: stock's code then finds the error, or finds that it does not
** matter.  Out of memory inside a stock function sets db->mallocFailed, which
** is looked at after each batch.
**
** An operation whose operands are constants is one itself: hpExprOpen()
** computes it.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Integers up to this size are the same as doubles */
#define HP_MX_EXACT  (((i64)1)<<53)
#define hpIsExact(X) ((X)<=HP_MX_EXACT && (X)>=-HP_MX_EXACT)

/* Decline rather than write out so many zeros of a zeroblob() */
#define HP_MX_ZERO   1000000

/*
** Make *paEntry, an array of entries of sz bytes, larger if it is full.
*/
static int hpGrow(void *ppEntry, int *pnAlloc, int nUsed, int sz){
  void **pp = (void**)ppEntry;
  if( nUsed>=*pnAlloc ){
    int n = *pnAlloc ? *pnAlloc*2 : 8;
    void *pNew = sqlite3_realloc64(*pp, (u64)n*sz);
    if( pNew==0 ) return SQLITE_NOMEM;
    *pp = pNew;
    *pnAlloc = n;
  }
  return SQLITE_OK;
}

/*
** The same for an array of a plan, whose memory comes from *pMem.
*/
static int hpPlanGrow(
  HpArena *pMem,
  void *ppEntry,
  int *pnAlloc,
  int nUsed,
  int sz
){
  void **pp = (void**)ppEntry;
  if( nUsed>=*pnAlloc ){
    int n = *pnAlloc ? *pnAlloc*2 : 4;
    void *pNew = hpArenaAlloc(pMem, (i64)n*sz);
    if( pNew==0 ) return SQLITE_NOMEM;
    if( nUsed ) memcpy(pNew, *pp, (size_t)nUsed*sz);
    *pp = pNew;
    *pnAlloc = n;
  }
  return SQLITE_OK;
}

/*
** Add a constant to the program: the value of pExpr, which does not depend
** on the row and will be in register iReg.  bList tells that it stands in an
** IN list.  Returns its vector, or -1 if there is no room.
*/
static int hpProgConst(HpProg *pProg, int iReg, Expr *pExpr, int bList){
  struct HpConst *pConst;
  if( pProg->nVec>=HP_MX_VEC
   || hpPlanGrow(pProg->pMem, &pProg->aConst, &pProg->nConstAlloc, pProg->nConst,
             sizeof(*pConst))
  ){
    return -1;
  }
  pConst = &pProg->aConst[pProg->nConst++];
  pConst->iVec = (u16)pProg->nVec++;
  pConst->iReg = iReg;
  pConst->bList = (u8)bList;
  pConst->pExpr = pExpr;
  return pConst->iVec;
}

/* True if the result of pOp is a truth value, computed in p->aBool */
static int hpOpIsBool(const HpOp *pOp){
  return pOp->eOp>=HP_OP_COMPARE && pOp->eOp<=HP_OP_BOOL;
}

/*
** True if vector iVec has the same value for all rows.
*/
static int hpProgIsConst(const HpProg *pProg, int iVec){
  int i;
  for(i=0; i<pProg->nOp; i++){
    if( pProg->aOp[i].iOut==iVec ) return pProg->aOp[i].bConst;
  }
  return 1;
}

/*
** Add an operation, or find the same one.  pOp->iOut is not used.  Returns
** the vector of the result, or -1 if there is no room.
*/
static int hpProgOp(HpProg *pProg, const HpOp *pOp){
  int i, k;
  HpOp *pNew;
  HpOp x = *pOp;
  int nArg = x.eOp>=HP_OP_CASE ? x.n : 0;
  if( nArg || x.eOp==HP_OP_FUNC ){
    for(k=0; k<nArg && hpProgIsConst(pProg, pProg->aArg[x.iArg+k]); k++){}
    x.bConst = k==nArg;
  }else if( x.eOp!=HP_OP_COLUMN ){
    x.bConst = hpProgIsConst(pProg, x.a)
            && (x.eOp==HP_OP_IN || x.eOp==HP_OP_TRUTH
                || hpProgIsConst(pProg, x.b));
  }
  if( x.bConst ) x.iGuard = HP_NO_VEC;
  for(i=0; i<pProg->nOp; i++){
    HpOp *p = &pProg->aOp[i];
    if( p->bFilter ) continue;
    if( p->eOp==x.eOp && p->op==x.op && p->aff==x.aff
     && p->a==x.a && p->b==x.b && p->n==x.n && p->iGuard==x.iGuard
     && p->pColl==x.pColl && p->pInfo==x.pInfo
     && (nArg==0 || memcmp(&pProg->aArg[p->iArg], &pProg->aArg[x.iArg],
                           nArg*sizeof(u16))==0)
    ){
      return p->iOut;
    }
  }
  if( pProg->nVec>=HP_MX_VEC || pProg->nOp>=HP_MX_OP
   || hpPlanGrow(pProg->pMem, &pProg->aOp, &pProg->nOpAlloc, pProg->nOp, sizeof(*pNew))
  ){
    return -1;
  }
  pNew = &pProg->aOp[pProg->nOp++];
  *pNew = x;
  pNew->iOut = (u16)pProg->nVec++;
  return pNew->iOut;
}

/*
** Make the truth of vector iVec, the result of operations so far, a filter.
*/
static int hpProgFilter(HpProg *pProg, int iVec){
  if( hpPlanGrow(pProg->pMem, &pProg->aFilter, &pProg->nFilterAlloc, pProg->nFilter,
             sizeof(pProg->aFilter[0]))
  ){
    return SQLITE_NOMEM;
  }
  if( pProg->nOp>0 && pProg->aOp[pProg->nOp-1].iOut==iVec ){
    HpOp *pOp = &pProg->aOp[pProg->nOp-1];
    pOp->bFilter = hpOpIsBool(pOp) && pOp->bConst==0;
  }
  pProg->aFilter[pProg->nFilter].iVec = (u16)iVec;
  pProg->aFilter[pProg->nFilter].nOp = (u16)pProg->nOp;
  pProg->nFilter++;
  return SQLITE_OK;
}

/*
** Allocate a vector of n values.  There is room for HP_LANES more, since AVX2
** works on four values and 32 tags at a time.
*/
#define HP_LANES 31
static int hpVecInit(HpExec *p, HpVec *pVec, int n){
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
static void hpVecConst(HpExec *p, HpVec *pVec, Mem *pMem){
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
** Turn a vector in float form back: integers are integers.
*/
static void hpVecExact(HpExec *p, HpVec *pVec){
  if( pVec->bFloat ){
    HpVal *aVal = pVec->aVal;
    const u8 *aTag = pVec->aTag;
    pVec->bFloat = 0;
    HP_ROWS(p, {
      if( aTag[i]==HP_INT ) aVal[i].i = (i64)aVal[i].r;
    })
  }
}

/*
** Make *pMem the value of row i of pVec.  The bytes of text and blobs stay
** where they are; whoever changes *pMem releases it.
*/
static void hpVecToMem(const HpExec *p, const HpVec *pVec, int i, Mem *pMem){
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
** memory, or too much of it is in use: then p->rcOp is set.
*/
static u8 *hpTextAlloc(HpExec *p, u32 n){
  HpArena *pText = &p->text;
  u8 *z = 0;
  if( (i64)n+pText->nTotal<=p->nMemory ){
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
  HpExec *p,
  HpVec *pOut, int i,
  u8 tag, const u8 *z, u32 n
){
  u8 *zNew = hpTextAlloc(p, n);
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
static void hpVecSetMem(HpExec *p, HpVec *pOut, int i, Mem *pMem){
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
static SQLITE_INLINE int hpNumCompare(u8 tA, HpVal a, u8 tB, HpVal b){
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

/* Compare byte strings as BINARY does */
static SQLITE_INLINE int hpBinCompare(
  const u8 *zA, u32 nA,
  const u8 *zB, u32 nB
){
  u32 n = MIN(nA, nB);
  int c;
  if( n>=8 ){
    u64 a = hpLoad8(zA);
    u64 b = hpLoad8(zB);
    if( a!=b ) return a<b ? -1 : 1;
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
static SQLITE_INLINE int hpMayBeNumber(const u8 *z, u32 n){
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
static int hpValCompare(
  u8 tA, HpVal a, u32 nA,
  u8 tB, HpVal b, u32 nB,
  CollSeq *pColl
){
  if( (tA|tB) & HP_NUM ){
    if( !(tA & HP_NUM) ) return 1;
    if( !(tB & HP_NUM) ) return -1;
    return hpNumCompare(tA, a, tB, b);
  }
  if( tA!=tB ) return tA==HP_TEXT ? -1 : 1;
  if( tA==HP_TEXT && !sqlite3IsBinary(pColl) ){
    return pColl->xCmp(pColl->pUser, (int)nA, a.z, (int)nB, b.z);
  }
  return hpBinCompare(a.z, nA, b.z, nB);
}

/*
** Compare row i of a with row i of b as OP_Eq and its like do: with
** affinity aff applied to copies of both.  Neither is NULL.
*/
static int hpMemCompare(
  const HpExec *p,
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
static void hpVecFromBool(HpExec *p, HpVec *pOut){
  u8 mType = 0;
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
static u8 hpVecTruth(const HpExec *p, const HpVec *pVec, int i){
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
static SQLITE_INLINE u8 hpVecBool(const HpExec *p, const HpVec *pVec, int i){
  u8 t = pVec->aTag[i & pVec->mIdx];
  if( t & ~(HP_INT|HP_NULL) ) return hpVecTruth(p, pVec, i);
  return t==HP_NULL ? 2 : pVec->aVal[i & pVec->mIdx].i!=0;
}

/* For a comparison operator: its truth where left is smaller, equal, larger */
static void hpCompareTruth(int op, u8 *aTruth){
  static const u8 aT[][3] = {
    {1,0,1}, {0,1,0}, {0,0,1}, {1,1,0}, {1,0,0}, {0,1,1}
  };
  assert( TK_EQ==TK_NE+1 && TK_GT==TK_NE+2 && TK_LE==TK_NE+3 );
  assert( TK_LT==TK_NE+4 && TK_GE==TK_NE+5 );
  if( op==TK_IS ) op = TK_EQ;
  if( op==TK_ISNOT ) op = TK_NE;
  memcpy(aTruth, aT[op-TK_NE], 3);
}

/* p->aBool[i] = EXPR for each row i */
#define HP_BOOL_LOOP(EXPR)  HP_ROWS(p, { aBool[i] = (u8)(EXPR); })

/* The six comparisons of A with B, both already of one C type */
#define HP_COMPARE_LOOPS(A,B) \
  switch( op ){ \
    case TK_NE: HP_BOOL_LOOP((A)!=(B)) break; \
    case TK_EQ: HP_BOOL_LOOP((A)==(B)) break; \
    case TK_GT: HP_BOOL_LOOP((A)>(B))  break; \
    case TK_LE: HP_BOOL_LOOP((A)<=(B)) break; \
    case TK_LT: HP_BOOL_LOOP((A)<(B))  break; \
    default:    HP_BOOL_LOOP((A)>=(B)) break; \
  }

#ifdef HP_AVX2
#define HP_BOOL_ASK 0xff /* In aBool: not known yet */

/*
** Compare texts aVal[0..n-1] with one whose first eight bytes are prefix, four at
** a time: aBool[i] is aTruth[0] where those of the text are smaller and aTruth[2]
** where they are larger.  It is HP_BOOL_ASK where they are equal or fewer or, if
** bNumeric, where the text does not begin like a date.  Returns the number of
** rows done, and sets *pbAsk if HP_BOOL_ASK was stored.
*/
__attribute__((target("avx2")))
static int hpPrefixAvx2(
  const HpVal *aVal,
  const u32 *aLen,
  int n,
  u64 prefix,
  int bNumeric,
  const u8 *aTruth,
  u8 *aBool,
  int *pbAsk
){
  static const u32 aSpread[16] = {
    0x00000000, 0x00000001, 0x00000100, 0x00000101,
    0x00010000, 0x00010001, 0x00010100, 0x00010101,
    0x01000000, 0x01000001, 0x01000100, 0x01000101,
    0x01010000, 0x01010001, 0x01010100, 0x01010101,
  };
  const __m256i swap = _mm256_setr_epi8(
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8,
      7,6,5,4,3,2,1,0, 15,14,13,12,11,10,9,8);
  const __m256i sign = _mm256_set1_epi64x(SMALLEST_INT64);
  const __m256i y = _mm256_xor_si256(_mm256_set1_epi64x((i64)prefix), sign);
  const __m256i minus = _mm256_set1_epi64x((i64)'-'<<32);
  const __m256i mMinus = _mm256_set1_epi64x((i64)0xff<<32);
  const __m256i mDigit = _mm256_set1_epi64x((i64)0xffffffff);
  int mTrue0 = aTruth[0] ? 15 : 0;
  int mTrue2 = aTruth[2] ? 15 : 0;
  int mAsk = 0;
  int i;
  for(i=0; i+4<=n; i+=4){
    int mLess, mMore, m;
    u32 x4;
    __m256i x = _mm256_set_epi64x(hpRaw8(aVal[i+3].z), hpRaw8(aVal[i+2].z),
                                  hpRaw8(aVal[i+1].z), hpRaw8(aVal[i].z));
    __m256i ok = _mm256_cmpgt_epi64(
        _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i*)&aLen[i])),
        _mm256_set1_epi64x(7));
    if( bNumeric ){
      /* As hpMayBeNumber(): four digits and a minus */
      __m256i bad = _mm256_subs_epu8(
          _mm256_sub_epi8(x, _mm256_set1_epi8('0')), _mm256_set1_epi8(9));
      bad = _mm256_or_si256(_mm256_and_si256(bad, mDigit),
                _mm256_xor_si256(_mm256_and_si256(x, mMinus), minus));
      ok = _mm256_and_si256(ok,
               _mm256_cmpeq_epi64(bad, _mm256_setzero_si256()));
    }
    x = _mm256_xor_si256(_mm256_shuffle_epi8(x, swap), sign);
    mLess = _mm256_movemask_pd(_mm256_castsi256_pd(
                _mm256_and_si256(ok, _mm256_cmpgt_epi64(y, x))));
    mMore = _mm256_movemask_pd(_mm256_castsi256_pd(
                _mm256_and_si256(ok, _mm256_cmpgt_epi64(x, y))));
    m = 15 ^ (mLess | mMore);
    mAsk |= m;
    x4 = aSpread[(mLess & mTrue0) | (mMore & mTrue2)] | aSpread[m]*HP_BOOL_ASK;
    memcpy(&aBool[i], &x4, 4);
  }
  if( mAsk ) *pbAsk = 1;
  return i;
}
#endif /* HP_AVX2 */

/*
** Comparison of text with a text constant under BINARY into p->aBool.
** If bNumeric, text in the form of a number becomes one before it is compared;
** the constant does not have that form.
*/
static void hpCompareText(HpExec *p, const HpOp *pOp, int bNumeric){
  const HpVec *pA = &p->aVec[pOp->a];
  const HpVec *pB = &p->aVec[pOp->b];
  const HpVal *aA = pA->aVal;
  const u32 *aLen = pA->aLen;
  const u8 *z = pB->aVal[0].z;
  u32 n = pB->aLen[0];
  u64 prefix = n>=8 ? hpLoad8(z) : 0;
  u8 *aBool = p->aBool;
  int iFrom = 0;         /* Rows done, but for those with HP_BOOL_ASK */
  int bAsk = 0;
  u8 aTruth[3];
  hpCompareTruth(pOp->op, aTruth);
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense && n>=8 ){
    iFrom = hpPrefixAvx2(aA, aLen, p->batch.nRow, prefix, bNumeric, aTruth,
                         aBool, &bAsk);
  }
#endif
  HP_ROWS_FROM(p, bAsk ? 0 : iFrom, {
    const u8 *zA = aA[i].z;
    u32 nA = aLen[i];
    u64 x;
    int c;
#ifdef HP_AVX2
    if( i<iFrom && aBool[i]!=HP_BOOL_ASK ) continue;
#endif
    x = hpLoad8(zA);
    if( bNumeric && hpMayBeNumber(zA, nA) ){
      c = hpMemCompare(p, pA, pB, i, pOp->aff, pOp->pColl);
      c = (c>0)-(c<0);
    }else if( n>=8 && nA>=8 && x!=prefix ){
      c = (x>prefix)*2-1;
    }else{
      c = memcmp(zA, z, MIN(nA, n));
      c = c ? (c>0)*2-1 : (nA>n)-(nA<n);
    }
    aBool[i] = aTruth[1+c];
  })
}

/* Comparison of values of any types into p->aBool */
static void hpCompareAny(HpExec *p, const HpOp *pOp){
  const HpVec *pA = &p->aVec[pOp->a];
  const HpVec *pB = &p->aVec[pOp->b];
  int op = pOp->op;
  int bBin = sqlite3IsBinary(pOp->pColl);
  u8 *aBool = p->aBool;
  u8 aTruth[3];
  hpCompareTruth(op, aTruth);
  HP_ROWS(p, {
    int iA = i & pA->mIdx;
    int iB = i & pB->mIdx;
    u8 tA = pA->aTag[iA];
    u8 tB = pB->aTag[iB];
    HpVal a = pA->aVal[iA];
    HpVal b = pB->aVal[iB];
    int c;
    if( (tA|tB) & HP_NULL ){
      if( op==TK_IS || op==TK_ISNOT ){
        aBool[i] = (tA==tB)==(op==TK_IS);
      }else{
        aBool[i] = 2;
      }
      continue;
    }
    if( ((tA|tB) & ~HP_NUM)==0 ){
      /* Numbers compare as numbers whatever the affinity */
      c = hpNumCompare(tA, a, tB, b);
    }else if( (tA & tB)==HP_TEXT && bBin
           && (pOp->aff<SQLITE_AFF_NUMERIC
               || (!hpMayBeNumber(a.z, pA->aLen[iA])
                   && !hpMayBeNumber(b.z, pB->aLen[iB])))
    ){
      c = hpBinCompare(a.z, pA->aLen[iA], b.z, pB->aLen[iB]);
    }else{
      c = hpMemCompare(p, pA, pB, i, pOp->aff, pOp->pColl);
    }
    aBool[i] = aTruth[1+(c>0)-(c<0)];
  })
}

/*
** Compute a comparison into p->aBool.
*/
static void hpOpCompare(HpExec *p, const HpOp *pOp){
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  u8 *aBool = p->aBool;
  int op = pOp->op;
  u8 mType = pA->mType | pB->mType;
  const HpVal *aA = pA->aVal;
  const HpVal *aB = pB->aVal;
  u32 mA = pA->mIdx;
  u32 mB = pB->mIdx;
  int bConst = mA!=0 && mB==0;

  if( pOp->n && (pA->mType & HP_NUM)==0 && (pB->mType & HP_NUM)!=0 ){
    HpOp x = *pOp;
    x.b = pOp->n - 1;
    x.n = 0;
    hpOpCompare(p, &x);
    return;
  }

  if( (mType & HP_NULL)==0 ){
    if( op==TK_IS ) op = TK_EQ;
    if( op==TK_ISNOT ) op = TK_NE;
  }
  if( bConst && (mType & ~HP_NUM)==0 && pB->mType!=HP_NUM
   && (pA->mType==HP_REAL || pA->bFloat)
   && (pB->mType==HP_REAL || hpIsExact(aB[0].i))
  ){
    double b = pB->mType==HP_REAL ? aB[0].r : (double)aB[0].i;
    HP_COMPARE_LOOPS(aA[i].r, b)
    return;
  }
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  if( mType==HP_INT && bConst ){
    i64 b = aB[0].i;
    HP_COMPARE_LOOPS(aA[i].i, b)
  }else if( mType==HP_INT ){
    HP_COMPARE_LOOPS(aA[i & mA].i, aB[i & mB].i)
  }else if( mType==HP_REAL ){
    HP_COMPARE_LOOPS(aA[i & mA].r, aB[i & mB].r)
  }else if( mType==HP_TEXT && bConst && sqlite3IsBinary(pOp->pColl)
         && (pOp->aff<SQLITE_AFF_NUMERIC
             || !hpMayBeNumber(aB[0].z, pB->aLen[0]))
  ){
    if( (op==TK_EQ || op==TK_NE) && pOp->aff<SQLITE_AFF_NUMERIC ){
      const u8 *z = aB[0].z;
      u32 n = pB->aLen[0];
      int bEq = op==TK_EQ;
      HP_BOOL_LOOP( (pA->aLen[i]==n && memcmp(aA[i].z, z, n)==0)==bEq )
    }else{
      hpCompareText(p, pOp, pOp->aff>=SQLITE_AFF_NUMERIC);
    }
  }else{
    hpCompareAny(p, pOp);
  }
}

/*
** The values of an IN list of three or more: a hash table with linear probing,
** at most half full.  Numbers are there by value, so that 3 finds 3.0.
*/
typedef struct HpInSet HpInSet;
struct HpInSet {
  u32 mask;              /* Slots less one */
  struct HpInSlot {
    u64 code;              /* Integer, bits of a real, hash of a string */
    u16 iVec;              /* Vector of the constant */
    u8 tag;                /* HP_INT for 3.0.  0: empty */
  } *aSlot;
};

static SQLITE_INLINE u32 hpInHash(u64 x){
  x *= ((u64)0x9e3779b9<<32)|0x7f4a7c15;
  return (u32)(x>>32) ^ (u32)x>>16;
}

/* Bring a value to the form it has in a set: its type and a code that is the
** same for equal values */
static u8 hpInCode(u8 tag, HpVal v, u32 n, u64 *pCode){
  if( tag==HP_REAL && v.r>=-9223372036854775808.0 && v.r<9223372036854775808.0
   && (double)(i64)v.r==v.r
  ){
    v.i = (i64)v.r;
    tag = HP_INT;
  }
  if( tag & HP_STR ){
    const u8 *z = v.z;
    u64 h = n;
    for(; n>=8; n-=8, z+=8) h = (h ^ hpLoad8(z)) * (((u64)1<<40)|0x1b3);
    while( n-->0 ) h = (h ^ *(z++)) * (((u64)1<<40)|0x1b3);
    *pCode = h;
  }else{
    *pCode = v.u;
  }
  return tag;
}

/*
** True if a value that is not NULL is in the set.  Text compares as BINARY.
*/
static int hpInFind(
  const HpExec *p,
  const HpOp *pOp,
  const HpInSet *pSet,
  u8 tag, HpVal v, u32 n
){
  u64 code;
  u32 h;
  UNUSED_PARAMETER(pOp);
  tag = hpInCode(tag, v, n, &code);
  for(h=hpInHash(code) & pSet->mask; pSet->aSlot[h].tag; h=(h+1)&pSet->mask){
    const struct HpInSlot *pSlot = &pSet->aSlot[h];
    if( pSlot->code==code && pSlot->tag==tag ){
      const HpVec *pB = &p->aVec[pSlot->iVec];
      if( (tag & HP_STR)==0
       || (pB->aLen[0]==n && memcmp(pB->aVal[0].z, v.z, n)==0)
      ){
        return 1;
      }
    }
  }
  return 0;
}

/*
** Make the set of the constants of pOp.
*/
static int hpInOpen(HpExec *p, const HpOp *pOp, void **ppState){
  HpInSet *pSet;
  u32 nSlot = 8;
  int k;
  if( pOp->n<=2 ) return SQLITE_OK;
  while( nSlot<2*(u32)pOp->n ) nSlot *= 2;
  *ppState = pSet = hpArenaAlloc(&p->vec, sizeof(*pSet));
  if( pSet==0 ) return HP_DECLINE;
  pSet->mask = nSlot-1;
  pSet->aSlot = hpArenaAlloc(&p->vec, sizeof(pSet->aSlot[0])*(i64)nSlot);
  if( pSet->aSlot==0 ) return HP_DECLINE;
  memset(pSet->aSlot, 0, sizeof(pSet->aSlot[0])*(i64)nSlot);
  for(k=0; k<pOp->n; k++){
    const HpVec *pB = &p->aVec[pOp->b+k];
    u64 code;
    u8 tag;
    u32 h;
    if( pB->mType==HP_NULL ) continue;
    tag = hpInCode(pB->mType, pB->aVal[0], pB->aLen[0], &code);
    for(h=hpInHash(code) & pSet->mask; pSet->aSlot[h].tag; h=(h+1)&pSet->mask){}
    pSet->aSlot[h].code = code;
    pSet->aSlot[h].tag = tag;
    pSet->aSlot[h].iVec = (u16)(pOp->b+k);
  }
  return SQLITE_OK;
}

/*
** Compute a IN (b, b+1, ...) into p->aBool.
**
** Stock compares one or two values as "=" would, with the affinity of the
** left side on both; more of them go into a b-tree with that affinity
** applied, and the left side, which by then has its affinity, is looked up
** as it is.  Declared affinities cannot be violated by well-formed files,
** so only then could the two differ; hence the two cases here as well.
*/
static void hpOpIn(HpExec *p, const HpOp *pOp, const HpInSet *pSet){
  const HpVec *pA = &p->aVec[pOp->a];
  u8 aff = pOp->n<=2 ? pOp->aff : SQLITE_AFF_BLOB;
  u8 *aBool = p->aBool;
  u8 bNull = 0;          /* 2 if a value is NULL */
  int k;

  for(k=0; k<pOp->n; k++){
    if( p->aVec[pOp->b+k].mType==HP_NULL ) bNull = 2;
  }
  if( pSet && pA->mType==HP_INT ){
    const HpVal *aVal = pA->aVal;
    u32 m = pA->mIdx;
    HP_ROWS(p, {
      u64 x = aVal[i & m].u;
      u32 h = hpInHash(x) & pSet->mask;
      u8 b = bNull;
      while( pSet->aSlot[h].tag ){
        if( pSet->aSlot[h].code==x && pSet->aSlot[h].tag==HP_INT ){
          b = 1;
          break;
        }
        h = (h+1) & pSet->mask;
      }
      aBool[i] = b;
    })
    return;
  }
  if( pSet && ((pA->mType & HP_TEXT)==0 || sqlite3IsBinary(pOp->pColl)) ){
    HP_ROWS(p, {
      int iA = i & pA->mIdx;
      u8 tag = pA->aTag[iA];
      aBool[i] = 2;
      if( tag!=HP_NULL ){
        aBool[i] = hpInFind(p, pOp, pSet, tag, pA->aVal[iA], pA->aLen[iA])
                   ? 1 : bNull;
      }
    })
    return;
  }
  HP_ROWS(p, {
    int iA = i & pA->mIdx;
    u8 tA = pA->aTag[iA];
    aBool[i] = 2;
    if( tA==HP_NULL ) continue;
    aBool[i] = bNull;
    for(k=0; k<pOp->n; k++){
      const HpVec *pB = &p->aVec[pOp->b+k];
      u8 tB = pB->mType;
      int c;
      if( tB==HP_NULL ) continue;
      if( ((tA|tB) & ~HP_NUM)==0 ){
        c = hpNumCompare(tA, pA->aVal[iA], tB, pB->aVal[0]);
      }else if( (tA & tB)==HP_TEXT && aff<SQLITE_AFF_NUMERIC
             && sqlite3IsBinary(pOp->pColl)
      ){
        u32 n = pB->aLen[0];
        c = pA->aLen[iA]!=n || memcmp(pA->aVal[iA].z, pB->aVal[0].z, n)!=0;
      }else{
        c = hpMemCompare(p, pA, pB, i, aff, pOp->pColl);
      }
      if( c==0 ){
        aBool[i] = 1;
        break;
      }
    }
  })
}

/*
** Give the constants of IN lists of more than two values the affinity that
** stock's b-tree of them would.
*/
static void hpOpInAffinity(HpExec *p, const HpOp *pOp){
  int k;
  char aff = pOp->aff;
  if( aff<=SQLITE_AFF_NONE ) return;
  if( aff==SQLITE_AFF_REAL ) aff = SQLITE_AFF_NUMERIC;
  for(k=0; k<pOp->n && pOp->n>2; k++){
    HpVec *pB = &p->aVec[pOp->b+k];
    Mem m;
    hpVecToMem(p, pB, 0, &m);
    applyAffinity(&m, aff, SQLITE_UTF8);
    hpVecConst(p, pB, &m);
    sqlite3VdbeMemRelease(&m);
  }
}

/* Arithmetic on two integers as OP_Add and its like do it.  Returns the tag
** of the result, or 0 if it has to be done with reals. */
static SQLITE_INLINE u8 hpIntArith(int op, i64 a, i64 b, HpVal *pOut){
  switch( op ){
    case TK_PLUS:   if( sqlite3AddInt64(&a, b) ) return 0;  break;
    case TK_MINUS:  if( sqlite3SubInt64(&a, b) ) return 0;  break;
    case TK_STAR:   if( sqlite3MulInt64(&a, b) ) return 0;  break;
    case TK_SLASH:
      if( b==0 ) return HP_NULL;
      if( b==-1 && a==SMALLEST_INT64 ) return 0;
      a /= b;
      break;
    default:
      if( b==0 ) return HP_NULL;
      if( b==-1 ) b = 1;
      a %= b;
      break;
  }
  pOut->i = a;
  return HP_INT;
}

/* Arithmetic on two reals; iA and iB are the operands as integers, for % */
static SQLITE_INLINE u8 hpRealArith(
  int op, double a, double b, i64 iA, i64 iB, HpVal *pOut
){
  double r;
  switch( op ){
    case TK_PLUS:   r = a+b;  break;
    case TK_MINUS:  r = a-b;  break;
    case TK_STAR:   r = a*b;  break;
    case TK_SLASH:
      if( b==(double)0 ) return HP_NULL;
      r = a/b;
      break;
    default:
      if( iB==0 ) return HP_NULL;
      if( iB==-1 ) iB = 1;
      r = (double)(iA % iB);
      break;
  }
  if( r!=r ) return HP_NULL;
  pOut->r = r;
  return HP_REAL;
}

/*
** Row i of pVec as an operand of arithmetic.  Returns HP_INT or HP_REAL, or
** HP_NULL.  *pi is the value as an integer (for %), *pr as a real.
*/
static u8 hpVecNumber(
  const HpExec *p,
  const HpVec *pVec,
  int i,
  i64 *pi,
  double *pr
){
  Mem m;
  u16 t;
  i &= pVec->mIdx;
  switch( pVec->aTag[i] ){
    case HP_NULL:
      return HP_NULL;
    case HP_INT:
      *pi = pVec->aVal[i].i;
      *pr = (double)*pi;
      return HP_INT;
    case HP_REAL:
      *pr = pVec->aVal[i].r;
      *pi = sqlite3RealToI64(*pr);
      return HP_REAL;
  }
  hpVecToMem(p, pVec, i, &m);
  t = numericType(&m);
  if( t & MEM_Int ){
    *pi = m.u.i;
  }
  /* numericType() leaves the number in m.u and the text in m.z */
  hpVecToMem(p, pVec, i, &m);
  if( (t & MEM_Int)==0 ) *pi = sqlite3VdbeIntValue(&m);
  *pr = sqlite3VdbeRealValue(&m);
  sqlite3VdbeMemRelease(&m);
  return (t & MEM_Int) ? HP_INT : HP_REAL;
}

#ifdef HP_AVX2
/*
** aOut[i] = a op b for rows 0..n-1, where a step of 0 stands for a constant.
** *pbOdd is set if some result is not a number or not below HP_MX_FLOAT,
** *pbZero if some result is zero.  Rows are handled four at a time; vectors
** have room for that.
*/
__attribute__((target("avx2")))
static void hpArithAvx2(
  int op,
  const HpVal *aA, int iStepA,
  const HpVal *aB, int iStepB,
  HpVal *aOut,
  int n,
  int *pbOdd,
  int *pbZero
){
  const __m256d mx = _mm256_set1_pd(HP_MX_FLOAT);
  const __m256d abs = _mm256_castsi256_pd(_mm256_set1_epi64x(LARGEST_INT64));
  __m256d bad = _mm256_setzero_pd();
  __m256d zero = _mm256_setzero_pd();
  __m256d a = _mm256_set1_pd(aA[0].r);
  __m256d b = _mm256_set1_pd(aB[0].r);
  int i;
  for(i=0; i<n; i+=4){
    __m256d r;
    if( iStepA ) a = _mm256_loadu_pd(&aA[i].r);
    if( iStepB ) b = _mm256_loadu_pd(&aB[i].r);
    switch( op ){
      case TK_PLUS:  r = _mm256_add_pd(a, b);  break;
      case TK_MINUS: r = _mm256_sub_pd(a, b);  break;
      default:       r = _mm256_mul_pd(a, b);  break;
    }
    bad = _mm256_or_pd(bad,
              _mm256_cmp_pd(_mm256_and_pd(r, abs), mx, _CMP_NLT_UQ));
    zero = _mm256_or_pd(zero,
              _mm256_cmp_pd(r, _mm256_setzero_pd(), _CMP_EQ_OQ));
    _mm256_storeu_pd(&aOut[i].r, r);
  }
  *pbOdd = _mm256_movemask_pd(bad)!=0;
  *pbZero = _mm256_movemask_pd(zero)!=0;
}

/*
** aOut[i] is HP_INT where both aA[i] and aB[i] are, else HP_REAL.  All tags are
** one of the two.  Returns the OR of aOut.  aA or aB may be one constant.
** Vectors have room for 32 at a time.
*/
__attribute__((target("avx2")))
static u8 hpTagsAvx2(
  const u8 *aA, u32 mA,
  const u8 *aB, u32 mB,
  u8 *aOut,
  int n
){
  const __m256i isInt = _mm256_set1_epi8(HP_INT);
  const __m256i isReal = _mm256_set1_epi8(HP_REAL);
  __m256i a = _mm256_set1_epi8((char)aA[0]);
  __m256i b = _mm256_set1_epi8((char)aB[0]);
  u8 mOut = 0;
  int i;
  for(i=0; i<n; i+=32){
    __m256i x;
    u32 m;
    u32 mUse = n-i>=32 ? 0xffffffff : (((u32)1<<(n-i))-1);
    if( mA ) a = _mm256_loadu_si256((const __m256i*)&aA[i]);
    if( mB ) b = _mm256_loadu_si256((const __m256i*)&aB[i]);
    x = _mm256_and_si256(_mm256_and_si256(a, b), isInt);
    m = (u32)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, isInt)) & mUse;
    mOut |= (m ? HP_INT : 0) | (m!=mUse ? HP_REAL : 0);
    _mm256_storeu_si256((__m256i*)&aOut[i], _mm256_sub_epi8(isReal, x));
  }
  return mOut;
}
#endif

/*
** The same in plain C, for the rows of p.
*/
#define HP_REAL_LOOP(OP) \
  HP_ROWS(p, { \
    double r = aA[i*iStepA].r OP aB[i*iStepB].r; \
    bOdd |= !(fabs(r)<HP_MX_FLOAT); \
    bZero |= r==0.0; \
    aOut[i].r = r; \
  })
static void hpArithPlain(
  HpExec *p,
  int op,
  const HpVal *aA, int iStepA,
  const HpVal *aB, int iStepB,
  HpVal *aOut,
  int *pbOdd,
  int *pbZero
){
  int bOdd = 0;
  int bZero = 0;
  switch( op ){
    case TK_PLUS:   HP_REAL_LOOP(+)  break;
    case TK_MINUS:  HP_REAL_LOOP(-)  break;
    default:        HP_REAL_LOOP(*)  break;
  }
  *pbOdd = bOdd;
  *pbZero = bZero;
}

/*
** Compute pOut = a op b with doubles, for +, - and * of numbers in float form,
** reals, and constants.  Returns 0 if that does not give stock's result.
**
** Where both operands are integers the result is one, and as long as it is
** below 2^53 the double is exactly it.  Where one is real the double is the
** result.  Only -0.0 = 0 * -1 is no integer.
*/
static int hpFloatArith(HpExec *p, const HpOp *pOp, HpVec *pOut){
  const HpVec *apIn[2];
  const HpVal *aaVal[2];
  int aStep[2];
  HpVal aConst[2];
  u8 *aTag = pOut->aTag;
  int op = pOp->op;
  int bOdd;              /* Some result is not a number or large */
  int bZero;             /* Some result is 0.0 or -0.0 */
  int bInt;              /* Some results may be integers */
  int i;

  if( op!=TK_PLUS && op!=TK_MINUS && op!=TK_STAR ) return 0;
  apIn[0] = &p->aVec[pOp->a];
  apIn[1] = &p->aVec[pOp->b];
  for(i=0; i<2; i++){
    const HpVec *pVec = apIn[i];
    aaVal[i] = pVec->aVal;
    aStep[i] = pVec->mIdx!=0;
    if( pVec->mIdx==0 && pVec->mType==HP_INT ){
      i64 x = pVec->aVal[0].i;
      if( x>=((i64)1<<51) || x<-((i64)1<<51) ) return 0;
      aConst[i].r = (double)x;
      aaVal[i] = &aConst[i];
    }else if( pVec->mType!=HP_REAL && !pVec->bFloat ){
      return 0;
    }
  }
  bInt = (apIn[0]->mType & apIn[1]->mType & HP_INT)!=0;
#ifdef HP_AVX2
  if( p->bAvx2 && p->bDense ){
    hpArithAvx2(op, aaVal[0], aStep[0], aaVal[1], aStep[1], pOut->aVal,
                p->batch.nRow, &bOdd, &bZero);
  }else
#endif
  hpArithPlain(p, op, aaVal[0], aStep[0], aaVal[1], aStep[1], pOut->aVal,
               &bOdd, &bZero);
  if( !bInt ){
    int bNaN = 0;
    memset(aTag, HP_REAL, p->batch.nRow);
    pOut->mType = HP_REAL;
    pOut->bFloat = 0;
    if( bOdd ){
      HP_ROWS(p, {
        if( pOut->aVal[i].r!=pOut->aVal[i].r ){
          aTag[i] = HP_NULL;
          bNaN = 1;
        }
      })
    }
    if( bNaN ) pOut->mType |= HP_NULL;
  }else{
    const u8 *aTA = apIn[0]->aTag;
    const u8 *aTB = apIn[1]->aTag;
    u32 mA = apIn[0]->mIdx;
    u32 mB = apIn[1]->mIdx;
    HpVal *aVal = pOut->aVal;
    u8 mType = 0;
    if( bOdd ) return 0;
#ifdef HP_AVX2
    if( p->bAvx2 && p->bDense ){
      mType = hpTagsAvx2(aTA, mA, aTB, mB, aTag, p->batch.nRow);
    }else
#endif
    HP_ROWS(p, {
      u8 t = HP_REAL - (aTA[i & mA] & aTB[i & mB] & HP_INT);
      aTag[i] = t;
      mType |= t;
    })
    if( op==TK_STAR && bZero ){
      HP_ROWS(p, { if( aTag[i]==HP_INT ) aVal[i].r += 0.0; })
    }
    pOut->mType = mType;
    pOut->bFloat = 1;
    if( mType==HP_REAL ) pOut->bFloat = 0;
    if( mType==HP_INT ) hpVecExact(p, pOut);
  }
  return 1;
}

/*
** Compute pOut = a op b.
*/
static void hpOpArith(HpExec *p, const HpOp *pOp, HpVec *pOut){
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  int op = pOp->op;
  u32 mA = pA->mIdx;
  u32 mB = pB->mIdx;
  u8 mType = pA->mType | pB->mType;
  u8 mOut = 0;

  pOut->bFloat = 0;
  if( (mType & ~HP_NUM)==0 && mType!=HP_INT && hpFloatArith(p, pOp, pOut) ){
    return;
  }
  pOut->bFloat = 0;
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  HP_ROWS(p, {
    int iA = i & mA;
    int iB = i & mB;
    u8 tA = pA->aTag[iA];
    u8 tB = pB->aTag[iB];
    HpVal *pVal = &pOut->aVal[i];
    u8 t = 0;
    if( (tA & tB)==HP_INT ){
      t = hpIntArith(op, pA->aVal[iA].i, pB->aVal[iB].i, pVal);
    }
    if( t ){
      /* Done */
    }else if( ((tA|tB) & ~HP_NUM)==0 && op!=TK_REM ){
      double rA = tA==HP_INT ? (double)pA->aVal[iA].i : pA->aVal[iA].r;
      double rB = tB==HP_INT ? (double)pB->aVal[iB].i : pB->aVal[iB].r;
      t = hpRealArith(op, rA, rB, 0, 0, pVal);
    }else if( (tA|tB) & HP_NULL ){
      t = HP_NULL;
    }else{
      i64 xA;
      i64 xB;
      double rA;
      double rB;
      tA = hpVecNumber(p, pA, i, &xA, &rA);
      tB = hpVecNumber(p, pB, i, &xB, &rB);
      if( (tA & tB)==HP_INT ) t = hpIntArith(op, xA, xB, pVal);
      if( t==0 ) t = hpRealArith(op, rA, rB, xA, xB, pVal);
    }
    pOut->aTag[i] = t;
    mOut |= t;
  })
  pOut->mType = mOut;
}

/*
** Row i of pVec as an integer, as stock casts operands of & and |.  *pi is not
** set if it is NULL.
*/
static u8 hpVecInt(const HpExec *p, const HpVec *pVec, int i, i64 *pi){
  Mem m;
  i &= pVec->mIdx;
  switch( pVec->aTag[i] ){
    case HP_NULL:
      return HP_NULL;
    case HP_INT:
      *pi = pVec->aVal[i].i;
      return HP_INT;
    case HP_REAL:
      *pi = sqlite3RealToI64(pVec->aVal[i].r);
      return HP_INT;
  }
  hpVecToMem(p, pVec, i, &m);
  *pi = sqlite3VdbeIntValue(&m);
  sqlite3VdbeMemRelease(&m);
  return HP_INT;
}

/* a shifted left by b bits, right if b is negative, as OP_ShiftLeft does */
static i64 hpShift(i64 a, i64 b){
  if( b>=64 ) return 0;
  if( b<=-64 ) return a<0 ? -1 : 0;
  if( b>=0 ) return (i64)((u64)a << b);
  return a<0 ? (i64)~(~(u64)a >> -b) : (i64)((u64)a >> -b);
}

/*
** Compute pOut = a & b, a | b, a << b, a >> b, or ~a.
*/
static void hpOpBit(HpExec *p, const HpOp *pOp, HpVec *pOut){
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  u8 mOut = 0;
  pOut->bFloat = 0;
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  HP_ROWS(p, {
    i64 a = 0;
    i64 b = 0;
    u8 t = hpVecInt(p, pA, i, &a) | hpVecInt(p, pB, i, &b);
    if( t & HP_NULL ) t = HP_NULL;
    switch( pOp->op ){
      case TK_BITAND:  a &= b;  break;
      case TK_BITOR:   a |= b;  break;
      case TK_LSHIFT:  a = hpShift(a, b);  break;
      case TK_RSHIFT:  a = hpShift(a, b==SMALLEST_INT64 ? 64 : -b);  break;
      default:         a = ~a;  break;
    }
    pOut->aVal[i].i = a;
    pOut->aTag[i] = t;
    mOut |= t;
  })
  pOut->mType = mOut;
}

/*
** The bytes of row i of pVec, which is not NULL, as || takes them.  *pM is
** released by the caller; aBuf holds the text of an integer.
*/
static const u8 *hpVecBytes(
  const HpExec *p,
  const HpVec *pVec,
  int i,
  Mem *pM,
  char *aBuf,
  u32 *pn
){
  i &= pVec->mIdx;
  if( pVec->aTag[i] & HP_STR ){
    *pn = pVec->aLen[i];
    return pVec->aVal[i].z;
  }
  if( pVec->aTag[i]==HP_INT ){
    *pn = (u32)sqlite3Int64ToText(pVec->aVal[i].i, aBuf);
    return (const u8*)aBuf;
  }
  hpVecToMem(p, pVec, i, pM);
  if( sqlite3VdbeMemStringify(pM, SQLITE_UTF8, 0) ){
    *pn = 0;
    return (const u8*)aBuf;
  }
  *pn = (u32)pM->n;
  return (const u8*)pM->z;
}

/*
** Compute pOut = a || b.
*/
static void hpOpConcat(HpExec *p, const HpOp *pOp, HpVec *pOut){
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  Mem mA, mB;
  char aBufA[32], aBufB[32];
  sqlite3VdbeMemInit(&mA, p->db, MEM_Null);
  sqlite3VdbeMemInit(&mB, p->db, MEM_Null);
  pOut->bFloat = 0;
  pOut->mType = 0;
  hpVecExact(p, pA);
  hpVecExact(p, pB);
  HP_ROWS(p, {
    const u8 *zA;
    const u8 *zB;
    u32 nA;
    u32 nB;
    u8 *z;
    pOut->aTag[i] = HP_NULL;
    if( (pA->aTag[i & pA->mIdx] | pB->aTag[i & pB->mIdx]) & HP_NULL ){
      pOut->mType |= HP_NULL;
      continue;
    }
    zA = hpVecBytes(p, pA, i, &mA, aBufA, &nA);
    zB = hpVecBytes(p, pB, i, &mB, aBufB, &nB);
    if( (i64)nA+nB>SQLITE_MAX_LENGTH ){
      p->rcOp = HP_DECLINE;
      nA = nB = 0;
    }
    z = hpTextAlloc(p, nA+nB);
    if( z ){
      memcpy(z, zA, nA);
      memcpy(&z[nA], zB, nB);
      pOut->aVal[i].z = z;
      pOut->aLen[i] = nA+nB;
      pOut->aTag[i] = HP_TEXT;
    }
    if( mA.szMalloc ) sqlite3VdbeMemRelease(&mA);
    if( mB.szMalloc ) sqlite3VdbeMemRelease(&mB);
    if( p->rcOp ) break;
  })
  pOut->mType |= HP_TEXT;
}

/*
** Make pOut a copy of pIn for the rows selected.
*/
static void hpVecCopy(HpExec *p, HpVec *pOut, const HpVec *pIn){
  pOut->mType = pIn->mType;
  pOut->bFloat = pIn->bFloat;
  if( p->bDense && pIn->mIdx ){
    int n = p->batch.nRow;
    memcpy(pOut->aTag, pIn->aTag, n);
    memcpy(pOut->aVal, pIn->aVal, n*sizeof(HpVal));
    if( pIn->mType & HP_STR ) memcpy(pOut->aLen, pIn->aLen, n*sizeof(u32));
  }else{
    HP_ROWS(p, {
      int iIn = i & pIn->mIdx;
      pOut->aTag[i] = pIn->aTag[iIn];
      pOut->aVal[i] = pIn->aVal[iIn];
      pOut->aLen[i] = pIn->aLen[iIn];
    })
  }
}

/*
** The integer that text begins with, if that is one to 18 digits, perhaps with
** a minus before them.  Returns 0 if not.
*/
static SQLITE_INLINE int hpTextToInt(const u8 *z, u32 n, i64 *pi){
  i64 x = 0;
  u32 i = n>0 && z[0]=='-';
  u32 iFirst = i;
  for(; i<n && sqlite3Isdigit(z[i]); i++){
    if( i>=18 ) return 0;
    x = x*10 + (z[i]-'0');
  }
  if( i==iFirst ) return 0;
  *pi = iFirst ? -x : x;
  return 1;
}

/*
** Compute pOut = CAST(a AS aff), or a as a column of affinity aff stores it.
*/
static void hpOpCast(HpExec *p, const HpOp *pOp, HpVec *pOut){
  HpVec *pA = &p->aVec[pOp->a];
  u8 aff = pOp->aff;
  u8 mDone;              /* Types that stay as they are */
  u8 mOut = 0;
  if( pOp->eOp==HP_OP_CAST ){
    switch( aff ){
      case SQLITE_AFF_TEXT:     mDone = HP_NULL|HP_TEXT;  break;
      case SQLITE_AFF_INTEGER:  mDone = HP_NULL|HP_INT;   break;
      case SQLITE_AFF_REAL:     mDone = HP_NULL|HP_REAL;  break;
      case SQLITE_AFF_NUMERIC:  mDone = HP_NULL|HP_NUM;   break;
      default:                  mDone = HP_NULL|HP_BLOB;  break;
    }
  }else{
    switch( aff ){
      case SQLITE_AFF_TEXT:     mDone = HP_NULL|HP_STR;   break;
      case SQLITE_AFF_REAL:     mDone = HP_NULL|HP_BLOB;  break;
      case SQLITE_AFF_NUMERIC:
      case SQLITE_AFF_INTEGER:  mDone = HP_NULL|HP_INT|HP_BLOB;  break;
      default:                  mDone = 0xff;  break;
    }
  }
  if( (pA->mType & ~mDone)==0 ){
    hpVecCopy(p, pOut, pA);
    return;
  }
  hpVecExact(p, pA);
  pOut->bFloat = 0;
  pOut->mType = 0;
  HP_ROWS(p, {
    int iA = i & pA->mIdx;
    u8 t = pA->aTag[iA];
    HpVal v = pA->aVal[iA];
    if( t & mDone ){
      pOut->aLen[i] = pA->aLen[iA];
    }else if( t==HP_REAL && aff==SQLITE_AFF_INTEGER && pOp->eOp==HP_OP_CAST ){
      t = HP_INT;
      v.i = sqlite3RealToI64(v.r);
    }else if( t==HP_TEXT && aff==SQLITE_AFF_INTEGER && pOp->eOp==HP_OP_CAST
           && hpTextToInt(v.z, pA->aLen[iA], &v.i)
    ){
      t = HP_INT;
    }else if( t==HP_REAL && aff==SQLITE_AFF_REAL ){
      v.r += 0.0;        /* A column has no -0.0 */
    }else if( t==HP_INT && aff==SQLITE_AFF_REAL ){
      t = HP_REAL;
      v.r = (double)v.i;
    }else{
      Mem m;
      hpVecToMem(p, pA, iA, &m);
      if( pOp->eOp==HP_OP_CAST ){
        sqlite3VdbeMemCast(&m, aff, SQLITE_UTF8);
      }else{
        applyAffinity(&m, aff, SQLITE_UTF8);
        if( aff==SQLITE_AFF_REAL && (m.flags & MEM_Int)!=0 ){
          m.u.r = (double)m.u.i;
          MemSetTypeFlag(&m, MEM_Real);
        }
      }
      hpVecSetMem(p, pOut, i, &m);
      sqlite3VdbeMemRelease(&m);
      if( p->rcOp ) break;
      continue;
    }
    pOut->aTag[i] = t;
    pOut->aVal[i] = v;
    mOut |= t;
  })
  pOut->mType |= mOut;
}

/*
** Set pOut to aArg[p->aPick[i]] in each row i, or to NULL where aPick[i] is
** n.
*/
static void hpVecPick(HpExec *p, HpVec *pOut, const u16 *aArg, int n){
  const u16 *aPick = p->aPick;
  u8 mType = 0;
  u8 bFloat = 1;         /* All in float form or reals */
  int k;
  for(k=0; k<n; k++){
    HpVec *pVec = &p->aVec[aArg[k]];
    mType |= pVec->mType;
    if( pVec->mIdx==0 && pVec->mType==HP_INT
     && pVec->aVal[0].i<=1000000 && pVec->aVal[0].i>=-1000000
    ){
      continue;          /* Converted below */
    }
    if( pVec->bFloat==0 && pVec->mType!=HP_REAL ) bFloat = 0;
  }
  if( mType!=HP_NUM ) bFloat = 0;
  for(k=0; k<n && bFloat==0; k++) hpVecExact(p, &p->aVec[aArg[k]]);
  mType = 0;
  HP_ROWS(p, {
    u8 t = HP_NULL;
    if( aPick[i]<n ){
      const HpVec *pVec = &p->aVec[aArg[aPick[i]]];
      int iIn = i & pVec->mIdx;
      t = pVec->aTag[iIn];
      pOut->aVal[i] = pVec->aVal[iIn];
      pOut->aLen[i] = pVec->aLen[iIn];
      if( bFloat && pVec->mIdx==0 && t==HP_INT ){
        pOut->aVal[i].r = (double)pVec->aVal[0].i;
      }
    }
    pOut->aTag[i] = t;
    mType |= t;
  })
  pOut->bFloat = bFloat;
  pOut->mType = mType;
  if( mType!=HP_NUM ) hpVecExact(p, pOut);
}

/*
** Compute a CASE without base: arguments are WHEN, THEN, WHEN, THEN, ..., and
** perhaps ELSE.
*/
static void hpOpCase(HpExec *p, const HpOp *pOp, HpVec *pOut){
  const u16 *aArg = &p->pPlan->prog.aArg[pOp->iArg];
  u16 aThen[HP_MX_LIST/2+1];
  u16 *aPick = p->aPick;
  int nWhen = pOp->n/2;
  int k;
  for(k=0; k<nWhen; k++) aThen[k] = aArg[2*k+1];
  if( pOp->n%2 ) aThen[nWhen] = aArg[2*nWhen];
  HP_ROWS(p, { aPick[i] = (u16)nWhen; })
  for(k=nWhen-1; k>=0; k--){
    HpVec *pWhen = &p->aVec[aArg[2*k]];
    hpVecExact(p, pWhen);
    if( (pWhen->mType & ~(HP_INT|HP_NULL))==0 ){
      const u8 *aTag = pWhen->aTag;
      const HpVal *aVal = pWhen->aVal;
      u32 m = pWhen->mIdx;
      HP_ROWS(p, {
        int b = (aTag[i & m]==HP_INT) & (aVal[i & m].i!=0);
        aPick[i] = b ? (u16)k : aPick[i];
      })
    }else{
      HP_ROWS(p, {
        if( hpVecTruth(p, pWhen, i)==1 ) aPick[i] = (u16)k;
      })
    }
  }
  hpVecPick(p, pOut, aThen, nWhen + pOp->n%2);
}

/*
** Compute COALESCE(): the first argument that is not NULL.
*/
static void hpOpCoalesce(HpExec *p, const HpOp *pOp, HpVec *pOut){
  const u16 *aArg = &p->pPlan->prog.aArg[pOp->iArg];
  u16 *aPick = p->aPick;
  int n = pOp->n;
  int k;
  if( (p->aVec[aArg[0]].mType & HP_NULL)==0 ){
    hpVecCopy(p, pOut, &p->aVec[aArg[0]]);
    return;
  }
  HP_ROWS(p, { aPick[i] = (u16)(n-1); })
  for(k=n-2; k>=0; k--){
    const HpVec *pVec = &p->aVec[aArg[k]];
    const u8 *aTag = pVec->aTag;
    u32 m = pVec->mIdx;
    HP_ROWS(p, { aPick[i] = aTag[i & m]!=HP_NULL ? (u16)k : aPick[i]; })
  }
  hpVecPick(p, pOut, aArg, n);
}

/*
** The selected rows that pOp is needed for: sets *paSel and returns their
** number.
*/
static int hpSelGuard(HpExec *p, const HpOp *pOp, const u16 **paSel){
  int n = p->nSel;
  *paSel = p->aSel;
  if( pOp->iGuard!=HP_NO_VEC ){
    const HpVec *pGuard = &p->aVec[pOp->iGuard];
    int ii;
    for(ii=n=0; ii<p->nSel; ii++){
      int i = p->aSel[ii];
      p->aPick[n] = (u16)i;
      n += pGuard->aVal[i & pGuard->mIdx].i==1;
    }
    *paSel = p->aPick;
  }
  return n;
}

/*
** Run a comparison by an application's collation into p->aBool.  Only rows that
** stock would compare are compared; the others are false.
*/
static void hpOpUser(HpExec *p, int iOp){
  const HpOp *pOp = &p->pPlan->prog.aOp[iOp];
  u16 *aSel = p->aSel;
  int nSel = p->nSel;
  u8 bDense = p->bDense;
  const u16 *aNeed;
  hpVecExact(p, &p->aVec[pOp->a]);
  if( pOp->eOp==HP_OP_COMPARE ) hpVecExact(p, &p->aVec[pOp->b]);
  memset(p->aBool, 0, p->batch.nRow);
  p->nSel = hpSelGuard(p, pOp, &aNeed);
  p->aSel = (u16*)aNeed;
  p->bDense = 0;
  if( pOp->eOp==HP_OP_COMPARE ){
    hpOpCompare(p, pOp);
  }else{
    hpOpIn(p, pOp, p->apState[iOp]);
  }
  p->aSel = aSel;
  p->nSel = nSel;
  p->bDense = bDense;
}

/*
** Run operation iOp for the rows selected.
*/
static void hpOpRun(HpExec *p, int iOp){
  const HpOp *pOp = &p->pPlan->prog.aOp[iOp];
  HpVec *pOut = &p->aVec[pOp->iOut];
  HpVec *pA = &p->aVec[pOp->a];
  HpVec *pB = &p->aVec[pOp->b];
  u8 *aBool = p->aBool;

  switch( pOp->eOp ){
    case HP_OP_COLUMN:
      hpRecordColumn(p, pOp->a, pOut);
      return;
    case HP_OP_ARITH:
      hpOpArith(p, pOp, pOut);
      return;
    case HP_OP_BIT:
    case HP_OP_BITNOT:
      hpOpBit(p, pOp, pOut);
      return;
    case HP_OP_CONCAT:
      hpOpConcat(p, pOp, pOut);
      return;
    case HP_OP_CAST:
    case HP_OP_AFFINITY:
      hpOpCast(p, pOp, pOut);
      return;
    case HP_OP_CASE:
      hpOpCase(p, pOp, pOut);
      return;
    case HP_OP_COALESCE:
      hpOpCoalesce(p, pOp, pOut);
      return;
    case HP_OP_FUNC:
      hpFuncRun(p, iOp);
      return;
    case HP_OP_COMPARE:
      if( pOp->bUser ){
        hpOpUser(p, iOp);
      }else{
        hpOpCompare(p, pOp);
      }
      break;
    case HP_OP_IN:
      if( pOp->bUser ){
        hpOpUser(p, iOp);
        break;
      }
      hpVecExact(p, pA);
      hpOpIn(p, pOp, p->apState[iOp]);
      break;
    case HP_OP_LIKE:
      hpVecExact(p, pB);
      hpLikeRun(p, pOp, p->apState[iOp]);
      break;
    case HP_OP_ISNULL:
      HP_ROWS(p, {
        int bNull = pA->aTag[i & pA->mIdx]==HP_NULL;
        aBool[i] = bNull==(pOp->op==TK_ISNULL);
      })
      break;
    case HP_OP_NOT:
      hpVecExact(p, pA);
      HP_ROWS(p, {
        u8 b = hpVecBool(p, pA, i);
        aBool[i] = b==2 ? 2 : !b;
      })
      break;
    case HP_OP_TRUTH:
      hpVecExact(p, pA);
      HP_ROWS(p, {
        u8 b = hpVecBool(p, pA, i);
        if( b==2 ) b = pOp->b & 1;
        aBool[i] = b ^ (pOp->b>>1);
      })
      break;
    case HP_OP_AND:
      hpVecExact(p, pA);
      hpVecExact(p, pB);
      HP_ROWS(p, {
        u8 a = hpVecBool(p, pA, i);
        u8 b = hpVecBool(p, pB, i);
        aBool[i] = (a==0 || b==0) ? 0 : (a & b & 1) ? 1 : 2;
      })
      break;
    default:
      assert( pOp->eOp==HP_OP_OR );
      hpVecExact(p, pA);
      hpVecExact(p, pB);
      HP_ROWS(p, {
        u8 a = hpVecBool(p, pA, i);
        u8 b = hpVecBool(p, pB, i);
        aBool[i] = (a==1 || b==1) ? 1 : ((a|b) & 2);
      })
      break;
  }
  if( !pOp->bFilter ) hpVecFromBool(p, pOut);
}

/*
** Compute operation iOp, which is constant, for one row that stands for all.
*/
static void hpOpRunConst(HpExec *p, int iOp){
  u16 *aSel = p->aSel;
  p->aSel = p->aAll;
  p->nSel = 1;
  p->bDense = 0;
  p->batch.nRow = 1;
  hpOpRun(p, iOp);
  p->aVec[p->pPlan->prog.aOp[iOp].iOut].mIdx = 0;
  p->aSel = aSel;
  p->batch.nRow = 0;
}

/*
** Allocate vectors and what operations keep, and compute those that are
** constant.  Constants are there, and so are p->aSel, aAll and aBool.
*/
static int hpExprOpen(HpExec *p){
  const HpProg *pProg = &p->pPlan->prog;
  i64 n = p->batch.nAlloc;
  int i;
  p->aPick = hpArenaAlloc(&p->vec, sizeof(u16)*n);
  p->apState = hpArenaAlloc(&p->vec, sizeof(void*)*(i64)(pProg->nOp+1));
  if( p->aPick==0 || p->apState==0 ) return HP_DECLINE;
  memset(p->apState, 0, sizeof(void*)*(i64)(pProg->nOp+1));
  for(i=0; i<pProg->nOp; i++){
    const HpOp *pOp = &pProg->aOp[i];
    int rc = hpVecInit(p, &p->aVec[pOp->iOut], pOp->bConst ? 1 : (int)n);
    if( rc==SQLITE_OK ){
      switch( pOp->eOp ){
        case HP_OP_IN:
          hpOpInAffinity(p, pOp);
          rc = hpInOpen(p, pOp, &p->apState[i]);
          break;
        case HP_OP_LIKE:
          rc = hpLikeOpen(p, pOp, &p->apState[i]);
          break;
        case HP_OP_FUNC:
          rc = hpFuncOpen(p, i);
          break;
      }
    }
    if( rc ) return rc;
    if( pOp->bConst ) hpOpRunConst(p, i);
    if( p->rcOp ) return p->rcOp;
  }
  /* Text of constants computed here stays */
  p->textConst = p->text;
  memset(&p->text, 0, sizeof(p->text));
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}

/*
** Free what hpExprOpen() made.  Harmless if it has not been called.
*/
static void hpExprClose(HpExec *p){
  hpFuncClose(p);
  hpArenaClear(&p->text);
  hpArenaClear(&p->textConst);
}

/*
** Run operations *piOp up to iTo, but for constant ones.  Returns p->rcOp.
*/
static int hpOpRunTo(HpExec *p, int *piOp, int iTo){
  for(; *piOp<iTo; (*piOp)++){
    if( p->pPlan->prog.aOp[*piOp].bConst ) continue;
    hpOpRun(p, *piOp);
    if( p->rcOp ) return p->rcOp;
  }
  return SQLITE_OK;
}

/*
** Apply the filters to the batch: afterwards p->aSel[0..p->nSel-1] are the
** rows for which the WHERE clause is true, in order.
**
** While at least half of the rows are selected all rows are computed: loops
** without a selection vector are that much faster.
*/
static int hpExecFilter(HpExec *p){
  const HpProg *pProg = &p->pPlan->prog;
  int iOp = 0;
  int i, ii;

  p->nSel = p->batch.nRow;
  p->bDense = 1;
  memcpy(p->aSel, p->aAll, sizeof(u16)*p->nSel);
  hpArenaReset(&p->text);
  for(i=0; i<pProg->nFilter && p->nSel>0; i++){
    const struct HpFilter *pFilter = &pProg->aFilter[i];
    int n = 0;
    if( hpOpRunTo(p, &iOp, pFilter->nOp) ) return p->rcOp;
    if( iOp==0 || !pProg->aOp[iOp-1].bFilter
     || pProg->aOp[iOp-1].iOut!=pFilter->iVec
    ){
      HpVec *pVec = &p->aVec[pFilter->iVec];
      hpVecExact(p, pVec);
      for(ii=0; ii<p->nSel; ii++){
        p->aBool[p->aSel[ii]] = hpVecTruth(p, pVec, p->aSel[ii]);
      }
    }
    for(ii=0; ii<p->nSel; ii++){
      u16 row = p->aSel[ii];
      p->aSel[n] = row;
      n += p->aBool[row]==1;
    }
    p->nSel = n;
    p->bDense = n*2>=p->batch.nRow;
  }
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}

/*
** Compute keys and arguments for the rows that passed the filters.
*/
static int hpExecRest(HpExec *p){
  const HpProg *pProg = &p->pPlan->prog;
  int iOp = pProg->nFilter ? pProg->aFilter[pProg->nFilter-1].nOp : 0;
  if( hpOpRunTo(p, &iOp, pProg->nOp) ) return p->rcOp;
  return p->db->mallocFailed ? SQLITE_NOMEM : SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
