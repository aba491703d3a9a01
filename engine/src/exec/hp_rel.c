/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_rel: relations, the tables of a join whose rows are looked up.
**
**    hpRelLookup()   HP_OP_LOOKUP: which rows of a batch have a partner?
**    hpRelIn()       HP_OP_SET: which rows have a value that is in a set?
**    hpRelRow()      HP_OP_ROW: the number of the partner's row
**    hpRelGather()   HP_OP_GATHER: a column of the partner
**    hpRelNever()    are there keys of types that rule the look-up out?
**    hpRelHash()     where a key is in the hash table.  hpRelSlot(), hpRelIsSlot(),
**                    hpRelSame(): a slot of it, and whether it is that of a key
**    hpRelInt()      an integer of a column
**    hpRelValue()    any value of a column
**    hpRelHasRows()  for asserts: are these rows of it?
**    hpRelFree()     free a relation
**
** A relation is made by a pipe (hp_build.c) and read by later ones, by all of
** their workers at once: nothing changes in it any more.  It has at most one
** row for a key, so a batch stays a batch: a look-up is an operation like any
** other, whose result is a number for each row.
**
** Rows are numbered from 1.  Row 0 is a row of NULLs: what an outer join shows
** where there is no partner.  So gathering columns needs no branch.
**
** Columns of integers take as few bytes a value as their range needs: what is
** gathered by most queries, truth values, years and numbers of rows, then fits into
** a processor's cache.
**
** Directories, from a key to a row:
**
**    Bits     One key, all integers, in a range that is not much larger than
**             their number: a bit for each integer from iMin on, and for each
**             64 of them the number of keys before.  Row = that + bits up to
**             the key. One of 1.5 million keys in a range of 6 million takes
**             1.1 MB.
**
**                 iMin = 10, keys 10 12 75     aBit   [ ...00101 ] [ ...10 ]
**                                              aRank  [    0     ] [   2   ]
**                 key 75: offset 65, word 1, row 2 + 1 = 3
**
**    Hash     All others: packs (hp_pack.c), or normalized keys where they do
**             not fit (hp_key.c), found by linear probing in slots of salt and
**             row.
**
** What LOOKUP gives for a row with a partner is not 0.  It is the offset of
** the bit plus one, since most rows that pass one look-up fail the next;
** HP_OP_ROW counts bits only for those that pass all.  Of a hash table it is
** the row.
**
** NULL equals nothing, so a key with a NULL finds no row.  Both sides have had
** the affinity of the comparison applied, as operations of their programs.  Of
** TEXT affinity that is right only if the side that has it holds no number
** (HpLookup.aNever): SQLite compares numbers with numbers as they are.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Look-ups and gathers that are asked for ahead */
#define HP_REL_AHEAD 16

/* Integer i of a column of integers */
static SQLITE_INLINE i64 hpRelInt(const HpRelCol *pCol, u32 i){
  switch( pCol->sz ){
    case 1:  return pCol->iBase + ((const u8*)pCol->aVal)[i];
    case 2:  return pCol->iBase + ((const u16*)pCol->aVal)[i];
    case 4:  return pCol->iBase + ((const u32*)pCol->aVal)[i];
  }
  assert( pCol->sz==sizeof(HpVal) );
  return pCol->aVal[i].i;
}

/*
** The value of a column in row iRow: sets *pVal and *pn, which is 0 for numbers, and
** returns its type.
*/
static u8 hpRelValue(const HpRelCol *pCol, u32 iRow, HpVal *pVal, u32 *pn){
  *pn = 0;
  pVal->i = 0;
  if( iRow==0 ) return HP_NULL;
  if( pCol->sz<sizeof(HpVal) ){
    pVal->i = hpRelInt(pCol, iRow);
  }else{
    *pVal = pCol->aVal[iRow];
  }
  if( pCol->aLen ) *pn = pCol->aLen[iRow];
  return pCol->aTag ? pCol->aTag[iRow] : pCol->mType;
}

/*
** Where a key is in a hash table: its slot begins at the low bits, its salt is
** the high half.
*/
static SQLITE_INLINE u64 hpRelHash(
  const HpConfig *pCfg,
  const HpPack *pPack,
  const u8 *z,           /* The normalized key, if it has no pack */
  u32 n
){
  if( pCfg->bHash0 ) return 0;
  if( pPack->b==HP_UNPACKED ) return hpHashBytes(z, n);
  return hpHashMix(hpHashMix(pPack->a) ^ pPack->b);
}

/* A slot: the salt of hash value H, and a row */
#define hpRelSlot(H,R) (((H) & ~(u64)0xffffffff) | (R))
#define hpRelIsSlot(X,H) ((((X)^(H))>>32)==0)

/* Is that the key of row iRow? */
static SQLITE_INLINE int hpRelSame(
  const HpRel *pRel,
  u32 iRow,
  const HpPack *pPack,
  const u8 *z,
  u32 n
){
  const HpPack *p = &pRel->aPack[iRow];
  if( p->a!=pPack->a || p->b!=pPack->b ) return 0;
  return pPack->b!=HP_UNPACKED
      || (pRel->aKey[iRow].n==n && memcmp(pRel->aKey[iRow].z, z, n)==0);
}

/* The row with that key, or 0 */
static SQLITE_INLINE u32 hpRelFind(
  const HpRel *pRel,
  u64 h,
  const HpPack *pPack,
  const u8 *z,
  u32 n
){
  u32 j = (u32)h & pRel->mSlot;
  while( pRel->aSlot[j] ){
    u64 x = pRel->aSlot[j];
    assert( (u32)x>0 && (u32)x<=pRel->nRow );
    if( hpRelIsSlot(x, h) && hpRelSame(pRel, (u32)x, pPack, z, n) ) return (u32)x;
    j = (j+1) & pRel->mSlot;
  }
  return 0;
}

/*
** Look integers up in a directory of bits.
*/
static void hpRelBitLookup(
  HpFrame *p,
  const HpRel *pRel,
  HpVec *pKey,
  HpVec *pOut
){
  const u64 *aBit = pRel->bits.aBit;
  u64 nBit = pRel->bits.nBit;
  i64 iMin = pRel->bits.iMin;
  const u8 *aTag = pKey->aTag;
  const HpVal *aVal = pKey->aVal;
  HpVal *aOut = pOut->aVal;
  u32 m = pKey->mIdx;
  /* There is one bit more than keys can have, which is 0 */
  assert( ((aBit[nBit>>6]>>(nBit & 63)) & 1)==0 );
  hpVecExact(p, pKey);
  if( pKey->mType==HP_INT ){
    HP_ROWS(p, {
      u64 k = aVal[i & m].u - (u64)iMin;
      u64 x = k<nBit ? k : nBit;    /* The bit behind the last one is 0 */
      aOut[i].u = ((aBit[x>>6]>>(x & 63)) & 1) ? k+1 : 0;
    })
    return;
  }
  HP_ROWS(p, {
    HpVal v = aVal[i & m];
    u8 tag = aTag[i & m];
    u64 k;
    if( tag==HP_REAL && hpPackRealIsInt(v.r, &v.i) ) tag = HP_INT;
    k = tag==HP_INT ? v.u - (u64)iMin : nBit;
    if( k>nBit ) k = nBit;
    aOut[i].u = ((aBit[k>>6]>>(k & 63)) & 1) ? k+1 : 0;
  })
}

/*
** Look keys up in a hash table.  aPack is scratch.
*/
static void hpRelHashLookup(
  HpFrame *p,
  const HpRel *pRel,
  const HpKeys *pKeys,
  HpPack *aPack,
  HpVec *pOut
){
  HpVal *aOut = pOut->aVal;
  const u16 *aSel = p->aSel;
  int bAll, ii, k;
  for(k=0; k<pKeys->n; k++) hpVecExact(p, &p->aVec[pKeys->aVec[k]]);
  bAll = hpPackRows(p, pKeys, aPack);
  if( p->bDense ) memset(aOut, 0, sizeof(*aOut)*(size_t)p->nRow);
  if( bAll ){
    for(ii=0; ii<p->nSel; ii++){
      u64 h = hpRelHash(p->pCfg, &aPack[ii], 0, 0);
      hpPrefetch(&pRel->aSlot[(u32)h & pRel->mSlot]);
      aOut[aSel[ii]].u = h;
    }
    for(ii=0; ii<p->nSel; ii++){
      HpVal *pVal = &aOut[aSel[ii]];
      pVal->u = hpRelFind(pRel, pVal->u, &aPack[ii], 0, 0);
    }
  }else{
    for(ii=0; ii<p->nSel; ii++){
      const HpPack *pPack = &aPack[ii];
      p->key.n = 0;
      if( pPack->b==HP_UNPACKED && hpKeyNorm(p, pKeys, aSel[ii], &p->key) ){
        p->rcOp = HP_DECLINE;
        return;
      }
      aOut[aSel[ii]].u = hpRelFind(pRel,
          hpRelHash(p->pCfg, pPack, p->key.a, p->key.n), pPack,
          p->key.a, p->key.n);
    }
  }
  for(k=0; k<pKeys->n; k++){
    const HpVec *pVec = &p->aVec[pKeys->aVec[k]];
    if( (pVec->mType & HP_NULL)==0 ) continue;
    for(ii=0; ii<p->nSel; ii++){
      int i = aSel[ii];
      if( pVec->aTag[i & pVec->mIdx]==HP_NULL ) aOut[i].u = 0;
    }
  }
}

/* Look the keys of the rows up, by whatever directory pRel has.  aPack is scratch. */
static void hpRelFindRows(
  HpFrame *p,
  const HpRel *pRel,
  const HpKeys *pKeys,
  HpPack *aPack,
  HpVec *pOut
){
  if( pRel->bits.nBit ){
    assert( pKeys->n==1 );
    hpRelBitLookup(p, pRel, &p->aVec[pKeys->aVec[0]], pOut);
  }else{
    hpRelHashLookup(p, pRel, pKeys, aPack, pOut);
  }
}

/*
** Are there keys of types that they must not have?
*/
static int hpRelNever(const HpFrame *p, const HpLookup *pKey){
  int k;
  for(k=0; k<pKey->keys.n; k++){
    if( p->aVec[pKey->keys.aVec[k]].mType & pKey->aNever[k] ) return 1;
  }
  return 0;
}

/*
** HP_OP_LOOKUP, of relation pRel, or NULL: nobody has said which keys are wanted, so
** all are.  The truth of each row is set in p->aBool, too.
*/
static void hpRelLookup(
  HpFrame *p,
  const HpOp *pOp,
  const HpRel *pRel,
  HpPack *aPack,         /* Scratch */
  HpVec *pOut
){
  const HpLookup *pKey = (const HpLookup*)pOp->pInfo;
  u8 *aBool = p->aBool;
  const HpVal *aOut = pOut->aVal;
  assert( pKey->keys.n>0 && pOut->bFloat==0 );
  memset(pOut->aTag, HP_INT, p->nRow);
  pOut->mType = HP_INT;
  if( pRel==0 ){
    HP_ROWS(p, { pOut->aVal[i].u = aBool[i] = 1; })
    return;
  }
  if( hpRelNever(p, pKey) ){
    p->rcOp = HP_DECLINE;
    return;
  }
  hpRelFindRows(p, pRel, &pKey->keys, aPack, pOut);
  HP_ROWS(p, { aBool[i] = aOut[i].u!=0; })
}

/*
** HP_OP_SET, of the set pRel.  Nothing is in an empty set; otherwise a NULL, on either
** side, may be equal to anything.
*/
static void hpRelIn(
  HpFrame *p,
  const HpOp *pOp,
  const HpRel *pRel,
  HpPack *aPack,         /* Scratch */
  HpVec *pOut
){
  const HpLookup *pKey = (const HpLookup*)pOp->pInfo;
  HpVec *pIn = &p->aVec[pKey->keys.aVec[0]];
  int bEmpty = pRel->nRow==0 && pRel->bNull==0;
  u8 tagMissing = pRel->bNull ? HP_NULL : HP_INT;
  assert( pKey->keys.n==1 && pOut->bFloat==0 );
  hpRelFindRows(p, pRel, &pKey->keys, aPack, pOut);
  pOut->mType = HP_INT | tagMissing;
  HP_ROWS(p, {
    int bFound = pOut->aVal[i].u!=0;
    pOut->aVal[i].i = bFound;
    pOut->aTag[i] = bFound ? HP_INT : tagMissing;
  })
  if( (pIn->mType & HP_NULL)!=0 && !bEmpty ){
    pOut->mType |= HP_NULL;
    HP_ROWS(p, {
      if( pIn->aTag[i & pIn->mIdx]==HP_NULL ) pOut->aTag[i] = HP_NULL;
    })
  }
}

/*
** HP_OP_ROW: from what HP_OP_LOOKUP gave, in vector pIn, to rows.
*/
static void hpRelRow(HpFrame *p, const HpRel *pRel, const HpVec *pIn, HpVec *pOut){
  const u64 *aBit = pRel->bits.aBit;
  const u32 *aRank = pRel->bits.aRank;
  const HpVal *aIn = pIn->aVal;
  HpVal *aOut = pOut->aVal;
  u32 m = pIn->mIdx;
  assert( pIn->mType==HP_INT && pIn->bFloat==0 );
  memset(pOut->aTag, HP_INT, p->nRow);
  pOut->mType = HP_INT;
  if( pRel->bits.nBit==0 ){
    HP_ROWS(p, { aOut[i] = aIn[i & m]; })
    return;
  }
  HP_ROWS(p, {
    u64 k = aIn[i & m].u;
    if( k ){
      k--;
      assert( k<pRel->bits.nBit );
      k = aRank[k>>6] + hpBitsCount(aBit[k>>6] << (63-(k & 63)));
    }
    aOut[i].u = k;
  })
}

#ifdef SQLITE_DEBUG
/*
** Does pRow say a row of pRel in each selected row, from number iFirst on?
*/
static int hpRelHasRows(
  const HpFrame *p,
  const HpRel *pRel,
  const HpVec *pRow,
  u32 iFirst
){
  int ii;
  for(ii=0; ii<p->nSel; ii++){
    u64 iRow = pRow->aVal[p->aSel[ii] & pRow->mIdx].u;
    if( iRow<iFirst || iRow>pRel->nRow ) return 0;
  }
  return 1;
}
#endif

/*
** HP_OP_GATHER: column pCol in the rows that pRow says.  bNull: rows may be 0.
*/
static void hpRelGather(
  HpFrame *p,
  const HpRelCol *pCol,
  const HpVec *pRow,
  int bNull,
  HpVec *pOut
){
  const HpVal *aRow = pRow->aVal;
  const HpVal *aIn = pCol->aVal;
  HpVal *aOut = pOut->aVal;
  i64 iBase = pCol->iBase;
  u32 m = pRow->mIdx;
  /* Of a relation without rows, rows are NULL, and their value is 0 */
  assert( pRow->mType==HP_INT || pRow->mType==HP_NULL );
  pOut->bFloat = 0;
  pOut->mType = pCol->mType | (bNull ? HP_NULL : 0);
  switch( pCol->sz ){
    case 1:
      HP_ROWS(p, { aOut[i].i = iBase + ((const u8*)aIn)[aRow[i & m].u]; })
      break;
    case 2:
      HP_ROWS(p, { aOut[i].i = iBase + ((const u16*)aIn)[aRow[i & m].u]; })
      break;
    case 4:
      HP_ROWS(p, { aOut[i].i = iBase + ((const u32*)aIn)[aRow[i & m].u]; })
      break;
    default:
      if( p->bDense==0 ){
        int ii;
        for(ii=0; ii+HP_REL_AHEAD<p->nSel; ii++){
          hpPrefetch(&aIn[aRow[p->aSel[ii+HP_REL_AHEAD] & m].u]);
        }
      }
      HP_ROWS(p, { aOut[i] = aIn[aRow[i & m].u]; })
      break;
  }
  if( pCol->aTag ){
    HP_ROWS(p, { pOut->aTag[i] = pCol->aTag[aRow[i & m].u]; })
  }else if( bNull ){
    HP_ROWS(p, { pOut->aTag[i] = aRow[i & m].u ? pCol->mType : HP_NULL; })
  }else{
    memset(pOut->aTag, pCol->mType, p->nRow);
  }
  if( pCol->aLen ){
    HP_ROWS(p, { pOut->aLen[i] = pCol->aLen[aRow[i & m].u]; })
  }
}

/*
** Free a relation.
*/
static void hpRelFree(HpRel *pRel){
  int i;
  if( pRel==0 ) return;
  for(i=0; i<pRel->nText; i++) hpArenaClear(&pRel->aText[i]);
  hpArenaClear(&pRel->mem);
  sqlite3_free(pRel->aText);
  sqlite3_free(pRel);
}
#endif /* SQLITE_OMIT_HP */
