/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_text: operations that make text, and casts.
**
**    hpTextConcat()  a || b
**    hpTextCast()    CAST(a AS type)
**    hpTextCopy()   the same values under another name
**
** Text that is computed lives until the batch ends (HpFrame.text).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The bytes of row i of pVec, which is not NULL, as || takes them.  *pM is
** released by the caller; aBuf holds the text of an integer.
*/
static const u8 *hpVecBytes(
  const HpFrame *p,
  const HpVec *pVec,
  int i,
  Mem *pM,
  char *aBuf,
  u32 *pn
){
  i &= pVec->mIdx;
  assert( pVec->aTag[i]!=HP_NULL && pVec->bFloat==0 );
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
static void hpTextConcat(HpFrame *p, const HpOp *pOp, HpVec *pOut){
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
    assert( (u64)nA+nB<=0xffffffff );
    z = hpVecText(p, nA+nB);
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
  assert( mA.szMalloc==0 && mB.szMalloc==0 );
  pOut->mType |= HP_TEXT;
}

/*
** Make pOut a copy of pIn for the rows selected.
*/
static void hpTextCopy(HpFrame *p, HpVec *pOut, const HpVec *pIn){
  assert( pIn->bCodes==0 && pIn->bLate==0 );
  assert( pOut!=pIn );
  pOut->mType = pIn->mType;
  pOut->bFloat = pIn->bFloat;
  if( p->bDense && pIn->mIdx ){
    int n = p->nRow;
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
static void hpTextCast(HpFrame *p, const HpOp *pOp, HpVec *pOut){
  HpVec *pA = &p->aVec[pOp->a];
  u8 aff = pOp->aff;
  u8 mDone;              /* Types that stay as they are */
  u8 mOut = 0;
  assert( pOp->eOp==HP_OP_CAST || pOp->eOp==HP_OP_AFFINITY );
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
    hpTextCopy(p, pOut, pA);
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
#endif /* SQLITE_OMIT_HP */
