/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_in: x IN (constant, ...).
**
**    hpInOpen()          the constants as a hash table, when the scan begins
**    hpInRun()            look the values of a vector up
**    hpInAffinity()    the same where values take an affinity first
**
** Each constant stands in the table under a code: integers and the reals that
** equal them have one, texts and blobs are hashed.  A NULL among the constants
** turns "not found" into NULL.  A list of a few texts needs no table.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_IN_TEXTS 8    /* Texts that are compared one by one */

static SQLITE_INLINE u32 hpInHash(u64 x){
  x *= ((u64)0x9e3779b9<<32)|0x7f4a7c15;
  return (u32)(x>>32) ^ (u32)x>>16;
}

/* Bring a value to the form it has in a set: its type and a code that is the
** same for equal values */
static u8 hpInCode(u8 tag, HpVal v, u32 n, u64 *pCode){
  assert( tag!=HP_NULL );            /* A NULL is never in a set */
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
  const HpFrame *p,
  const HpOp *pOp,
  const HpInSet *pSet,
  u8 tag, HpVal v, u32 n
){
  u64 code;
  u32 h;
  UNUSED_PARAMETER(pOp);
  assert( tag!=HP_NULL && pOp->n>2 );
  tag = hpInCode(tag, v, n, &code);
  for(h=hpInHash(code) & pSet->mask; pSet->aSlot[h].tag; h=(h+1)&pSet->mask){
    const struct HpInSlot *pSlot = &pSet->aSlot[h];
    if( pSlot->code==code && pSlot->tag==tag ){
      assert( pSlot->iVec>=pOp->b && pSlot->iVec<pOp->b+pOp->n );
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
static int hpInOpen(HpFrame *p, const HpOp *pOp, void **ppState){
  HpInSet *pSet;
  u32 nSlot = 8;
  int k;
  if( pOp->n<=2 ) return SQLITE_OK;
  while( nSlot<2*(u32)pOp->n ) nSlot *= 2;
  assert( pOp->eOp==HP_OP_IN && (nSlot & (nSlot-1))==0 );
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
    assert( pB->mIdx==0 && pB->bFloat==0 );
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
** The same for text, or NULL, in a list of a few texts: they differ in length or in
** their first eight bytes, so all are compared without branches.  Returns false if
** the list is another one.
*/
static int hpInTexts(HpFrame *p, const HpOp *pOp, u8 bNull){
  struct { u64 x; const u8 *z; u32 n; } aText[HP_IN_TEXTS];
  const HpVec *pA = &p->aVec[pOp->a];
  const u8 *aTag = pA->aTag;
  const HpVal *aVal = pA->aVal;
  const u32 *aLen = pA->aLen;
  u32 m = pA->mIdx;
  u8 *aBool = p->aBool;
  int nText = 0;
  int k;
  if( (pA->mType & ~HP_NULL)!=HP_TEXT || !sqlite3IsBinary(pOp->pColl) ) return 0;
  for(k=0; k<pOp->n; k++){
    const HpVec *pB = &p->aVec[pOp->b+k];
    if( pB->mType==HP_NULL || (pB->mType!=HP_TEXT && pOp->n>2) ) continue;
    if( nText==HP_IN_TEXTS || pB->mType!=HP_TEXT ) return 0;
    aText[nText].z = pB->aVal[0].z;
    aText[nText].n = pB->aLen[0];
    aText[nText].x = hpLoadBytes(pB->aVal[0].z, MIN(pB->aLen[0], 8));
    nText++;
  }
  assert( nText<=HP_IN_TEXTS && pA->bFloat==0 );
  HP_ROWS(p, {
    u32 n = aLen[i & m];
    u8 b = 2;
    if( aTag[i & m]!=HP_NULL ){
      const u8 *z = aVal[i & m].z;
      u64 x = hpLoadBytes(z, MIN(n, 8));
      int bAny = 0;
      for(k=0; k<nText; k++) bAny |= (aText[k].x==x) & (aText[k].n==n);
      if( bAny && n>8 ){
        bAny = 0;
        for(k=0; k<nText && bAny==0; k++){
          bAny = aText[k].n==n && hpVecSame(aText[k].z, z, n);
        }
      }
      b = bAny ? 1 : bNull;
    }
    aBool[i] = b;
  })
  return 1;
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
static void hpInRun(HpFrame *p, const HpOp *pOp, const HpInSet *pSet){
  const HpVec *pA = &p->aVec[pOp->a];
  u8 aff = pOp->n<=2 ? pOp->aff : SQLITE_AFF_BLOB;
  u8 *aBool = p->aBool;
  u8 bNull = 0;          /* 2 if a value is NULL */
  int k;
  assert( (pSet==0)==(pOp->n<=2) && pA->bFloat==0 );

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
  if( (pOp->n>2 || aff<SQLITE_AFF_NUMERIC) && hpInTexts(p, pOp, bNull) ) return;
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
        c = hpVecNumCompare(tA, pA->aVal[iA], tB, pB->aVal[0]);
      }else if( (tA & tB)==HP_TEXT && aff<SQLITE_AFF_NUMERIC
             && sqlite3IsBinary(pOp->pColl)
      ){
        u32 n = pB->aLen[0];
        c = pA->aLen[iA]!=n || memcmp(pA->aVal[iA].z, pB->aVal[0].z, n)!=0;
      }else{
        c = hpVecMemCompare(p, pA, pB, i, aff, pOp->pColl);
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
static void hpInAffinity(HpFrame *p, const HpOp *pOp){
  int k;
  char aff = pOp->aff;
  if( aff<=SQLITE_AFF_NONE ) return;
  if( aff==SQLITE_AFF_REAL ) aff = SQLITE_AFF_NUMERIC;
  for(k=0; k<pOp->n && pOp->n>2; k++){
    HpVec *pB = &p->aVec[pOp->b+k];
    Mem m;
    assert( pB->mIdx==0 && hpProgIsConst(p->pProg, pOp->b+k) );
    hpVecToMem(p, pB, 0, &m);
    applyAffinity(&m, aff, SQLITE_UTF8);
    hpVecConst(p, pB, &m);
    sqlite3VdbeMemRelease(&m);
  }
}
#endif /* SQLITE_OMIT_HP */
