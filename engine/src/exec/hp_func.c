/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_func: SQL functions in vector programs.
**
**    hpFuncOpen()     prepare an HP_OP_FUNC
**    hpFuncRun()      compute one for the selected rows
**    hpFuncClose()    free what functions have kept
**
** A function is called as OP_Function calls it, row by row: arguments are
** copied from vectors into sqlite3_values, the result into a vector.  The
** statement that a function sees (sqlite3_context.pVdbe) is a Vdbe of the
** worker's own with what functions use of it:
**
**    db             the worker's connection
**    aOp            two for each operation of the program: the collation of
**                   min(), max() and the like, then the call
**    pAuxData       what sqlite3_set_auxdata() keeps: parsed JSON, patterns
**    iCurrentTime   'now', the same as that of the real statement
**
** Functions that are worth it have a loop of their own (hpFastXxx below) for
** arguments of the usual types, and call SQLite's for the other rows.  A
** function is recognised by its address, since an application may redefine
** any name.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MX_FORMAT  32   /* Most bytes that a format of strftime() comes to */

/* State of an HP_OP_FUNC */
typedef struct HpFunc HpFunc;
struct HpFunc {
  const HpOp *pOp;
  HpVec *pOut;           /* Result */
  HpVec **apArg;         /* Arguments */
  u8 bRow;               /* Some argument is not constant */
  u32 mConst;            /* Arguments that are, as in P1 of OP_Function */
  Mem *aMem;             /* Arguments of a call */
  Mem out;               /* Its result */
  int (*xFast)(HpFrame*,HpFunc*,int);  /* See hpFastXxx(), or NULL */
  u32 nLit;              /* For xFast: what it found out about constants */
  u8 aLit[HP_MX_FORMAT]; /* The same of strftime()'s format: hpIsoFormat() */
  sqlite3_context *pCtx;
};

/*
** Set *pMem, an argument of a function, to row i of pVec.  Memory that the
** function has attached to *pMem is used again.  Text gets the zero byte that
** functions ask for: most are found with one.
*/
static void hpFuncArg(HpFrame *p, const HpVec *pVec, int i, Mem *pMem){
  assert( pVec->bFloat==0 && pVec->bLate==0 );
  i &= pVec->mIdx;
  pMem->flags = MEM_Null;
  switch( pVec->aTag[i] ){
    case HP_INT:
      pMem->u.i = pVec->aVal[i].i;
      pMem->flags = MEM_Int;
      break;
    case HP_REAL:
      pMem->u.r = pVec->aVal[i].r;
      pMem->flags = MEM_Real;
      break;
    case HP_TEXT: {
      u32 n = pVec->aLen[i];
      const u8 *z = pVec->aVal[i].z;
      pMem->n = (int)n;
      pMem->enc = SQLITE_UTF8;
      if( z[n]==0 ){
        pMem->z = (char*)z;
        pMem->flags = MEM_Str|MEM_Ephem|MEM_Term;
      }else if( sqlite3VdbeMemClearAndResize(pMem, (int)n+4)==SQLITE_OK ){
        memcpy(pMem->z, z, n);
        memset(&pMem->z[n], 0, 4);
        pMem->flags = MEM_Str|MEM_Term;
      }
      break;
    }
    case HP_BLOB:
      pMem->z = (char*)pVec->aVal[i].z;
      pMem->n = (int)pVec->aLen[i];
      pMem->enc = SQLITE_UTF8;
      pMem->flags = MEM_Blob|MEM_Ephem;
      break;
  }
  if( pVec->aSub && pVec->aSub[i] ){
    pMem->flags |= MEM_Subtype;
    pMem->eSubtype = pVec->aSub[i]-1;
  }
  UNUSED_PARAMETER(p);
}

/*
** Call the function for row i.
*/
static void hpFuncCall(HpFrame *p, HpFunc *pF, int i){
  sqlite3_context *pCtx = pF->pCtx;
  HpVec *pOut = pF->pOut;
  int k;
  /* The application's functions run in the thread that it has called us in */
  assert( (pCtx->pFunc->funcFlags & SQLITE_FUNC_BUILTIN)!=0
       || p->db==p->pWorker->pPipe->pQuery->db );
  assert( pF->out.db==p->db && pCtx->argc==pF->pOp->n );
  for(k=0; k<pCtx->argc; k++){
    if( pF->apArg[k]->mIdx ) hpFuncArg(p, pF->apArg[k], i, &pF->aMem[k]);
  }
  MemSetTypeFlag(&pF->out, MEM_Null);
  pCtx->isError = 0;
  pCtx->pFunc->xSFunc(pCtx, pCtx->argc, pCtx->argv);
  if( pCtx->isError ){
    if( pCtx->isError>0 ) p->rcOp = HP_DECLINE;
    sqlite3VdbeDeleteAuxData(p->db, &p->pFuncVdbe->pAuxData, pCtx->iOp,
                             (int)pF->mConst);
    pCtx->isError = 0;
  }
  if( pOut->aSub ){
    pOut->aSub[i] = 0;
    if( pF->out.flags & MEM_Subtype ){
      pOut->aSub[i] = pF->out.eSubtype+1;
      if( pOut->aSub[i]==0 || pF->pOp->bSub==HP_SUB_DECLINE ){
        p->rcOp = HP_DECLINE;
      }
    }
  }
  hpVecSetMem(p, pOut, i, &pF->out);
}

/*
** Compute HP_OP_FUNC number iOp.
*/
static void hpFuncRun(HpFrame *p, int iOp){
  HpFunc *pF = p->apState[iOp];
  const HpOp *pOp = pF->pOp;
  const u16 *aSel = p->aSel;
  HpVec *pOut = pF->pOut;
  int n = p->nSel;
  int k, ii;

  assert( pOp->eOp==HP_OP_FUNC && pOut==&p->aVec[pOp->iOut] );
  assert( p->rcOp==0 && pF->pCtx->pVdbe==p->pFuncVdbe );
  pOut->mType = 0;
  pOut->bFloat = 0;
  for(k=0; k<pOp->n; k++){
    hpVecExact(p, pF->apArg[k]);
    if( pF->apArg[k]->mIdx==0 ) hpFuncArg(p, pF->apArg[k], 0, &pF->aMem[k]);
  }
  for(ii=0; ii<n && p->rcOp==0; ii++){
    if( pF->xFast && pF->xFast(p, pF, aSel[ii]) ) continue;
    hpFuncCall(p, pF, aSel[ii]);
    /* A batch of calls may take long */
    if( AtomicLoad(&p->pWorker->pPipe->pQuery->db->u1.isInterrupted) ){
      p->rcOp = SQLITE_INTERRUPT;
    }
  }
  assert( pOut->mType!=0 || p->rcOp );
  if( p->rcOp==0 && p->bDense && n<p->nRow ) hpVecFill(p, pOut);
}

/* Results of typeof(), with slack after them */
static const u8 aHpTypeName[5][HP_SLACK+8] = {
  "integer", "real", "text", "blob", "null"
};

static void hpFuncFast(HpFrame*, HpFunc*);

/*
** Prepare HP_OP_FUNC number iOp.  Vectors of its arguments are there.
*/
static int hpFuncOpen(HpFrame *p, int iOp){
  const HpProg *pProg = p->pProg;
  const HpOp *pOp = &pProg->aOp[iOp];
  FuncDef *pDef = pOp->pInfo;
  Vdbe *v = p->pFuncVdbe;
  HpFunc *pF;
  int k;
  assert( pDef->nArg<0 || pDef->nArg==pOp->n );

  assert( p->apState[iOp]==0 && pOp->eOp==HP_OP_FUNC && pDef!=0 );
  assert( pDef->xFinalize==0 );
  if( v==0 ){
    i64 nByte = sizeof(Vdbe) + 2*sizeof(VdbeOp)*(i64)pProg->nOp;
    v = hpArenaAlloc(&p->vec, nByte);
    if( v==0 ) return HP_DECLINE;
    memset(v, 0, nByte);
    v->db = p->db;
    v->aOp = (VdbeOp*)&v[1];
    p->pFuncVdbe = v;
  }
  if( (pDef->funcFlags & SQLITE_FUNC_SLOCHNG) && v->iCurrentTime==0 ){
    sqlite3_int64 *piTime = &p->pWorker->pPipe->pQuery->v->iCurrentTime;
    if( *piTime==0 && sqlite3OsCurrentTimeInt64(p->db->pVfs, piTime) ){
      return HP_DECLINE;
    }
    v->iCurrentTime = *piTime;
  }
  /* All workers see one time, that of the statement */
  assert( v->iCurrentTime==0
       || v->iCurrentTime==p->pWorker->pPipe->pQuery->v->iCurrentTime );
  v->aOp[2*iOp].opcode = OP_CollSeq;
  v->aOp[2*iOp].p4type = P4_COLLSEQ;
  v->aOp[2*iOp].p4.pColl = pOp->pColl;
  v->aOp[2*iOp+1].opcode = OP_Function;

  pF = hpArenaAlloc(&p->vec, sizeof(*pF));
  if( pF==0 ) return HP_DECLINE;
  memset(pF, 0, sizeof(*pF));
  pF->pOp = pOp;
  pF->pOut = &p->aVec[pOp->iOut];
  pF->apArg = hpArenaAlloc(&p->vec, sizeof(HpVec*)*(i64)(pOp->n+1));
  pF->aMem = hpArenaAlloc(&p->vec, sizeof(Mem)*(i64)(pOp->n+1));
  pF->pCtx = hpArenaAlloc(&p->vec, SZ_CONTEXT((i64)pOp->n+1));
  if( pF->apArg==0 || pF->aMem==0 || pF->pCtx==0 ) return HP_DECLINE;
  memset(pF->pCtx, 0, SZ_CONTEXT((i64)pOp->n+1));
  for(k=0; k<pOp->n; k++){
    pF->apArg[k] = &p->aVec[pProg->aArg[pOp->iArg+k]];
    if( k<32 && pF->apArg[k]->mIdx==0 ) pF->mConst |= MASKBIT32(k);
    sqlite3VdbeMemInit(&pF->aMem[k], p->db, MEM_Null);
    pF->pCtx->argv[k] = &pF->aMem[k];
  }
  sqlite3VdbeMemInit(&pF->out, p->db, MEM_Null);
  pF->pCtx->pOut = &pF->out;
  pF->pCtx->pFunc = pDef;
  pF->pCtx->pVdbe = v;
  pF->pCtx->iOp = 2*iOp+1;
  pF->pCtx->enc = SQLITE_UTF8;
  pF->pCtx->argc = pOp->n;
  p->apState[iOp] = pF;
  if( pOp->bSub ){
    i64 n = pOp->bConst ? 1 : p->nAlloc;
    pF->pOut->aSub = hpArenaAlloc(&p->vec, n);
    if( pF->pOut->aSub==0 ) return HP_DECLINE;
    memset(pF->pOut->aSub, 0, n);
  }
  hpFuncFast(p, pF);
  return SQLITE_OK;
}

/*
** Free what functions have kept, and what their arguments hold.
*/
static void hpFuncClose(HpFrame *p){
  int i, k;
  if( p->pFuncVdbe==0 ) return;
  sqlite3VdbeDeleteAuxData(p->db, &p->pFuncVdbe->pAuxData, -1, 0);
  p->pFuncVdbe = 0;
  assert( p->apState!=0 );
  for(i=0; i<p->pProg->nOp; i++){
    HpFunc *pF = p->apState[i];
    if( pF==0 || p->pProg->aOp[i].eOp!=HP_OP_FUNC ) continue;
    for(k=0; k<pF->pOp->n; k++) sqlite3VdbeMemRelease(&pF->aMem[k]);
    sqlite3VdbeMemRelease(&pF->out);
  }
}

/*
** The number of bytes at z, up to n, that are ASCII and not zero.  At least
** HP_SLACK bytes after z[n] are readable.
*/
static SQLITE_INLINE u32 hpAsciiLen(const u8 *z, u32 n){
  u32 i = 0;
#ifdef HP_SSE2
  for(; i<n; i+=16){
    __m128i x = _mm_loadu_si128((const __m128i*)&z[i]);
    u32 m = (u32)_mm_movemask_epi8(_mm_cmpgt_epi8(x, _mm_setzero_si128()));
    if( m!=0xffff ){
      i += (u32)__builtin_ctz(~m);
      break;
    }
  }
#else
  while( i<n && (u8)(z[i]-1)<0x7f ) i++;
#endif
  return MIN(i, n);
}

/* Set row i of the result */
static SQLITE_INLINE int hpFastInt(HpFunc *pF, int i, i64 x){
  pF->pOut->aVal[i].i = x;
  pF->pOut->aTag[i] = HP_INT;
  pF->pOut->mType |= HP_INT;
  return 1;
}
static SQLITE_INLINE int hpFastReal(HpFunc *pF, int i, double r){
  pF->pOut->aVal[i].r = r;
  pF->pOut->aTag[i] = HP_REAL;
  pF->pOut->mType |= HP_REAL;
  return 1;
}
static SQLITE_INLINE int hpFastNull(HpFunc *pF, int i){
  pF->pOut->aTag[i] = HP_NULL;
  pF->pOut->mType |= HP_NULL;
  return 1;
}
/* The n bytes at z stay where they are until the batch ends */
static SQLITE_INLINE int hpFastText(HpFunc *pF, int i, const u8 *z, u32 n){
  /* Where there are subtypes SQLite's function is called: hpFuncFast() */
  assert( pF->pOut->aSub==0 );
  pF->pOut->aVal[i].z = z;
  pF->pOut->aLen[i] = n;
  pF->pOut->aTag[i] = HP_TEXT;
  pF->pOut->mType |= HP_TEXT;
  return 1;
}

/* Type and index of argument K in row I */
#define hpFastIdx(PF,K,I)  ((I) & (PF)->apArg[K]->mIdx)
#define hpFastTag(PF,K,I)  ((PF)->apArg[K]->aTag[hpFastIdx(PF,K,I)])

/*
** hpFastXxx(): compute row i, or return 0 to have SQLite's function called.
** The comment says for which arguments they know the answer.
*/

/* length(X): blobs; text without zero bytes and of ASCII */
static int hpFastLength(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  int iA = i & pA->mIdx;
  u32 n = pA->aLen[iA];
  UNUSED_PARAMETER(p);
  switch( pA->aTag[iA] ){
    case HP_NULL:
      return hpFastNull(pF, i);
    case HP_BLOB:
      return hpFastInt(pF, i, n);
    case HP_TEXT:
      if( hpAsciiLen(pA->aVal[iA].z, n)==n ) return hpFastInt(pF, i, n);
  }
  return 0;
}

/* upper(X) and lower(X): text.  nLit is 'a' or 'A', the first letter that
** changes */
static int hpFastCase(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  int iA = i & pA->mIdx;
  u32 n = pA->aLen[iA];
  const u8 *z = pA->aVal[iA].z;
  u8 *zOut;
  u32 k = 0;
  if( pA->aTag[iA]!=HP_TEXT ) return 0;
  zOut = hpVecText(p, n);
  if( zOut==0 ) return hpFastNull(pF, i);
#ifdef HP_SSE2
  for(; k<n; k+=16){
    /* This may write into the slack that follows */
    __m128i x = _mm_loadu_si128((const __m128i*)&z[k]);
    __m128i m = _mm_and_si128(
        _mm_cmpgt_epi8(x, _mm_set1_epi8((char)(pF->nLit-1))),
        _mm_cmplt_epi8(x, _mm_set1_epi8((char)(pF->nLit+26))));
    x = _mm_xor_si128(x, _mm_and_si128(m, _mm_set1_epi8(0x20)));
    _mm_storeu_si128((__m128i*)&zOut[k], x);
  }
  memset(&zOut[n], 0, 8);
#else
  for(; k<n; k++) zOut[k] = z[k] ^ ((u8)(z[k]-pF->nLit)<26 ? 0x20 : 0);
#endif
  return hpFastText(pF, i, zOut, n);
}

/* abs(X): numbers but for the smallest */
static int hpFastAbs(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  int iA = i & pA->mIdx;
  HpVal v = pA->aVal[iA];
  UNUSED_PARAMETER(p);
  switch( pA->aTag[iA] ){
    case HP_NULL:
      return hpFastNull(pF, i);
    case HP_INT:
      return v.i==SMALLEST_INT64 ? 0 : hpFastInt(pF, i, v.i<0 ? -v.i : v.i);
    case HP_REAL:
      return hpFastReal(pF, i, v.r<0 ? -v.r : v.r);
  }
  return 0;
}

/* round(X) and round(X,0): reals; round(X,Y): integers */
static int hpFastRound(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  int iA = i & pA->mIdx;
  u8 t = pA->aTag[iA];
  double r;
  UNUSED_PARAMETER(p);
  if( pF->pOp->n==2 && hpFastTag(pF, 1, i)!=HP_INT ) return 0;
  if( t==HP_NULL ) return hpFastNull(pF, i);
  if( t==HP_INT ) return hpFastReal(pF, i, (double)pA->aVal[iA].i);
  if( t!=HP_REAL ) return 0;
  if( pF->pOp->n==2 && pF->apArg[1]->aVal[hpFastIdx(pF,1,i)].i>0 ) return 0;
  r = pA->aVal[iA].r;
  if( r>=-HP_MX_FLOAT && r<=HP_MX_FLOAT ){
    r = (double)((i64)(r+(r<0?-0.5:+0.5)));
  }
  return hpFastReal(pF, i, r);
}

/* substr(X,Y) and substr(X,Y,Z): ASCII text, integers, Z not negative */
static int hpFastSubstr(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  int iA = i & pA->mIdx;
  const u8 *z = pA->aVal[iA].z;
  i64 n = pA->aLen[iA];
  i64 p1, p2;
  UNUSED_PARAMETER(p);
  if( pA->aTag[iA]!=HP_TEXT || hpFastTag(pF, 1, i)!=HP_INT ) return 0;
  p1 = pF->apArg[1]->aVal[hpFastIdx(pF,1,i)].i;
  p2 = SQLITE_MAX_LENGTH;
  if( pF->pOp->n==3 ){
    if( hpFastTag(pF, 2, i)!=HP_INT ) return 0;
    p2 = pF->apArg[2]->aVal[hpFastIdx(pF,2,i)].i;
  }
  if( p2<0 || p2>SQLITE_MAX_LENGTH || p1>SQLITE_MAX_LENGTH ) return 0;
  if( p1<0 ){
    if( p1<-SQLITE_MAX_LENGTH ) return 0;
    p1 += n;
    if( p1<0 ){
      p2 = MAX(p2+p1, 0);
      p1 = 0;
    }
    if( hpAsciiLen(z, (u32)n)!=n ) return 0;
  }else{
    if( p1>0 ){
      p1--;
    }else if( p2>0 ){
      p2--;
    }
    if( n>p1+p2 ) n = p1+p2;
    if( hpAsciiLen(z, (u32)n)!=n ) return 0;
  }
  if( p1>n ) p1 = n;
  if( p2>n-p1 ) p2 = n-p1;
  assert( p1>=0 && p2>=0 && p1+p2<=(i64)pA->aLen[iA] );
  return hpFastText(pF, i, &z[p1], (u32)p2);
}


/* instr(X,Y): text where Y begins with ASCII, so that it can only be found at
** the start of a character */
static int hpFastInstr(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  const HpVec *pB = pF->apArg[1];
  int iA = i & pA->mIdx;
  int iB = i & pB->mIdx;
  const u8 *z = pA->aVal[iA].z;
  i64 k, j, x;
  UNUSED_PARAMETER(p);
  if( (pA->aTag[iA] | pB->aTag[iB]) & HP_NULL ) return hpFastNull(pF, i);
  if( (pA->aTag[iA] & pB->aTag[iB])!=HP_TEXT ) return 0;
  if( pB->aLen[iB]==0 || pB->aVal[iB].z[0]>=0x80 ) return 0;
  k = hpLikeFind(z, pA->aLen[iA], pB->aVal[iB].z, pB->aLen[iB], 0);
  if( k<0 ) return hpFastInt(pF, i, 0);
  for(j=x=1; j<=k; j++) x += (z[j] & 0xc0)!=0x80;
  return hpFastInt(pF, i, x);
}

/* typeof(X) */
static int hpFastTypeof(HpFrame *p, HpFunc *pF, int i){
  UNUSED_PARAMETER(p);
  switch( hpFastTag(pF, 0, i) ){
    case HP_INT:   return hpFastText(pF, i, aHpTypeName[0], 7);
    case HP_REAL:  return hpFastText(pF, i, aHpTypeName[1], 4);
    case HP_TEXT:  return hpFastText(pF, i, aHpTypeName[2], 4);
    case HP_BLOB:  return hpFastText(pF, i, aHpTypeName[3], 4);
  }
  return hpFastText(pF, i, aHpTypeName[4], 4);
}

/* min(X,Y,...) and max(X,Y,...): numbers.  nLit is 1 for max */
static int hpFastMinMax(HpFrame *p, HpFunc *pF, int i){
  int mask = pF->nLit ? -1 : 0;
  int k;
  u8 tag = hpFastTag(pF, 0, i);
  HpVal v = pF->apArg[0]->aVal[hpFastIdx(pF,0,i)];
  UNUSED_PARAMETER(p);
  if( (tag & HP_NUM)==0 ) return 0;
  for(k=1; k<pF->pOp->n; k++){
    u8 t = hpFastTag(pF, k, i);
    HpVal x = pF->apArg[k]->aVal[hpFastIdx(pF,k,i)];
    if( (t & HP_NUM)==0 ) return 0;
    if( (hpVecNumCompare(tag, v, t, x)^mask)>=0 ){
      tag = t;
      v = x;
    }
  }
  return tag==HP_INT ? hpFastInt(pF, i, v.i) : hpFastReal(pF, i, v.r);
}

#ifndef SQLITE_OMIT_DATETIME_FUNCS
/* Two digits at z as a number, or 100 */
static SQLITE_INLINE int hpTwoDigits(const u8 *z){
  u32 a = (u32)z[0]-'0';
  u32 b = (u32)z[1]-'0';
  return (a>9 || b>9) ? 100 : (int)(a*10+b);
}

/*
** If the n bytes at z are "YYYY-MM-DD", or that and " HH:MM:SS" or "THH:MM:SS",
** and name a day and a second that exist, return n, else 0.  For these the
** date functions give back the digits that they read.
*/
static SQLITE_INLINE u32 hpIsoDate(const u8 *z, u32 n){
  int y1, y2, m, d;
  if( (n!=10 && n!=19) || z[4]!='-' || z[7]!='-' ) return 0;
  y1 = hpTwoDigits(z);
  y2 = hpTwoDigits(&z[2]);
  m = hpTwoDigits(&z[5]);
  d = hpTwoDigits(&z[8]);
  if( y1>99 || y2>99 || m<1 || m>12 || d<1 ) return 0;
  if( d>28 && d>daysOfMonth(y1*100+y2, m) ) return 0;
  if( n==19
   && ((z[10]!=' ' && z[10]!='T') || z[13]!=':' || z[16]!=':'
       || hpTwoDigits(&z[11])>23 || hpTwoDigits(&z[14])>59
       || hpTwoDigits(&z[17])>59)
  ){
    return 0;
  }
  return n;
}

/* date(X): dates */
static int hpFastDate(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  int iA = i & pA->mIdx;
  UNUSED_PARAMETER(p);
  if( pA->aTag[iA]==HP_NULL ) return hpFastNull(pF, i);
  if( pA->aTag[iA]!=HP_TEXT || !hpIsoDate(pA->aVal[iA].z, pA->aLen[iA]) ){
    return 0;
  }
  return hpFastText(pF, i, pA->aVal[iA].z, 10);
}

/* Digits that hpIsoDate() has checked */
#define hpTwo(Z)  (((Z)[0]-'0')*10 + ((Z)[1]-'0'))

/* julianday(X) and unixepoch(X): dates.  nLit is 1 for unixepoch */
static int hpFastJulian(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[0];
  int iA = i & pA->mIdx;
  const u8 *z = pA->aVal[iA].z;
  DateTime x;
  u32 n;
  UNUSED_PARAMETER(p);
  if( pA->aTag[iA]==HP_NULL ) return hpFastNull(pF, i);
  if( pA->aTag[iA]!=HP_TEXT || (n = hpIsoDate(z, pA->aLen[iA]))==0 ) return 0;
  memset(&x, 0, sizeof(x));
  x.validYMD = 1;
  x.Y = hpTwo(z)*100 + hpTwo(&z[2]);
  x.M = hpTwo(&z[5]);
  x.D = hpTwo(&z[8]);
  if( n==19 ){
    x.validHMS = 1;
    x.h = hpTwo(&z[11]);
    x.m = hpTwo(&z[14]);
    x.s = hpTwo(&z[17]);
  }
  computeJD(&x);
  if( x.isError || !validJulianDay(x.iJD) ) return 0;
  if( pF->nLit ) return hpFastInt(pF, i, x.iJD/1000 - 21086676*(i64)10000);
  return hpFastReal(pF, i, x.iJD/86400000.0);
}

/* strftime(F,X): dates, where F asks for adjacent parts of X.  nLit is where
** they begin, times 256, and where they end */
static int hpFastStrftime(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[1];
  int iA = i & pA->mIdx;
  u32 iFrom = pF->nLit>>8;
  u32 iTo = pF->nLit & 0xff;
  assert( iFrom<iTo && iTo<=19 );
  UNUSED_PARAMETER(p);
  if( pA->aTag[iA]==HP_NULL ) return hpFastNull(pF, i);
  if( pA->aTag[iA]!=HP_TEXT
   || hpIsoDate(pA->aVal[iA].z, pA->aLen[iA])<iTo
  ){
    return 0;
  }
  return hpFastText(pF, i, pA->aVal[iA].z+iFrom, iTo-iFrom);
}

/* The same of other parts, and other text.  nLit is the number of bytes of the result, times
** 256, and how many X has to have; aLit[] says what they are */
static int hpFastFormat(HpFrame *p, HpFunc *pF, int i){
  const HpVec *pA = pF->apArg[1];
  int iA = i & pA->mIdx;
  const u8 *z = pA->aVal[iA].z;
  u32 n = pF->nLit>>8;
  u8 *zOut;
  u32 k;
  if( pA->aTag[iA]==HP_NULL ) return hpFastNull(pF, i);
  if( pA->aTag[iA]!=HP_TEXT || hpIsoDate(z, pA->aLen[iA])<(pF->nLit & 0xff) ) return 0;
  zOut = hpVecText(p, n);
  if( zOut==0 ) return hpFastNull(pF, i);
  for(k=0; k<n; k++){
    u8 x = pF->aLit[k];
    assert( (x & 0x80)==0 || (x & 0x7fu)<(pF->nLit & 0xff) );
    zOut[k] = (x & 0x80) ? z[x & 0x7f] : x;
  }
  memset(&zOut[n], 0, 8);
  return hpFastText(pF, i, zOut, n);
}

/*
** What strftime() makes with format zFmt of n bytes of a date or time as ISO 8601 writes it,
** "YYYY-MM-DD HH:MM:SS": aLit[i] is byte i of the result, or 0x80 more than the place from which it
** is copied.  Sets *pnNeed to one more than the last of these places, and returns the number of bytes;
** 0: that is left to SQLite.
*/
static u32 hpIsoFormat(const u8 *zFmt, u32 n, u8 *aLit, u32 *pnNeed){
  static const struct HpIsoPart { u8 c, iFrom, iTo; } aPart[] = {
    { 'Y', 0, 4 }, { 'm', 5, 7 }, { 'd', 8, 10 }, { 'H', 11, 13 }, { 'M', 14, 16 }, { 'S', 17, 19 },
    { 'F', 0, 10 }, { 'T', 11, 19 }, { 'R', 11, 16 },
  };
  u32 nOut = 0;
  u32 i;
  *pnNeed = 0;
  for(i=0; i<n; i++){
    u8 c = zFmt[i];
    int k, j;
    if( c==0 || c>=0x80 || nOut==HP_MX_FORMAT ) return 0;
    if( c=='%' && ++i==n ) return 0;
    if( c!='%' || zFmt[i]=='%' ){
      aLit[nOut++] = c;
      continue;
    }
    for(k=0; k<ArraySize(aPart) && aPart[k].c!=zFmt[i]; k++){}
    if( k==ArraySize(aPart) || nOut+aPart[k].iTo-aPart[k].iFrom>HP_MX_FORMAT ) return 0;
    for(j=aPart[k].iFrom; j<aPart[k].iTo; j++) aLit[nOut++] = (u8)(0x80+j);
    *pnNeed = MAX(*pnNeed, aPart[k].iTo);
  }
  assert( nOut<=HP_MX_FORMAT && *pnNeed<=19 );
  return *pnNeed ? nOut : 0;
}

/*
** Are the n bytes that aLit[] says one piece of the date or time?  Then set *piFrom to where it begins.
** What stands between date and time may be a space or a T.
*/
static int hpIsoIsPiece(const u8 *aLit, u32 n, u32 *piFrom){
  static const char zIso[] = "\0\0\0\0-\0\0-\0\0\0\0\0:\0\0:\0";
  u32 i;
  assert( n>0 && n<=HP_MX_FORMAT );
  *piFrom = aLit[0] & 0x7f;
  if( (aLit[0] & 0x80)==0 ) return 0;
  for(i=1; i<n; i++){
    u32 iAt = *piFrom+i;
    if( iAt>=sizeof(zIso) || (aLit[i]!=0x80+iAt && aLit[i]!=(u8)zIso[iAt]) ) return 0;
  }
  return 1;
}
#endif /* SQLITE_OMIT_DATETIME_FUNCS */

/*
** Choose pF->xFast.
*/
static void hpFuncFast(HpFrame *p, HpFunc *pF){
  const FuncDef *pDef = pF->pOp->pInfo;
  void (*xFunc)(sqlite3_context*,int,sqlite3_value**) = pDef->xSFunc;
  int nArg = pF->pOp->n;
  assert( pF->xFast==0 && pF->pCtx->pFunc==pDef );
  UNUSED_PARAMETER(p);
  UNUSED_PARAMETER(nArg);
  if( pF->pOut->aSub ) return;
  if( xFunc==lengthFunc ){
    pF->xFast = hpFastLength;
  }else if( xFunc==upperFunc || xFunc==lowerFunc ){
    pF->xFast = hpFastCase;
    pF->nLit = xFunc==upperFunc ? 'a' : 'A';
  }else if( xFunc==absFunc ){
    pF->xFast = hpFastAbs;
  }else if( xFunc==roundFunc ){
    pF->xFast = hpFastRound;
  }else if( xFunc==substrFunc ){
    pF->xFast = hpFastSubstr;
  }else if( xFunc==instrFunc ){
    pF->xFast = hpFastInstr;
  }else if( xFunc==typeofFunc ){
    pF->xFast = hpFastTypeof;
  }else if( xFunc==minmaxFunc ){
    pF->xFast = hpFastMinMax;
    pF->nLit = pDef->pUserData!=0;
#ifndef SQLITE_OMIT_DATETIME_FUNCS
  }else if( xFunc==dateFunc && nArg==1 ){
    pF->xFast = hpFastDate;
  }else if( (xFunc==juliandayFunc || xFunc==unixepochFunc) && nArg==1 ){
    pF->xFast = hpFastJulian;
    pF->nLit = xFunc==unixepochFunc;
  }else if( xFunc==strftimeFunc && nArg==2 && pF->apArg[0]->mIdx==0
         && pF->apArg[0]->mType==HP_TEXT
  ){
    u32 iFrom, nNeed;
    u32 n = hpIsoFormat(pF->apArg[0]->aVal[0].z, pF->apArg[0]->aLen[0], pF->aLit, &nNeed);
    if( n && hpIsoIsPiece(pF->aLit, n, &iFrom) ){
      pF->xFast = hpFastStrftime;
      pF->nLit = iFrom*256 + iFrom+n;
    }else if( n ){
      pF->xFast = hpFastFormat;
      pF->nLit = n*256 + nNeed;
    }
#endif
  }
}
#endif /* SQLITE_OMIT_HP */
