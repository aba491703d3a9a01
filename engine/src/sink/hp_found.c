/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_found: places of rows that were found, and values kept of them.
**
**    hpFoundReserve()  room for more places
**    hpFoundPlace()    note the place of a row
**    hpFoundKeep()     keep a value, ...
**    hpFoundValue()    ... and one of a batch in the same form
**    hpFoundCompare()   the order of two values
**    hpFoundMemory()   is there memory for more?
**
** A place (HP_FOUND) is the number of a run, the leaf in it, and the cell in that.
** Places increase as stock reads rows.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Make room for n more places.
*/
static int hpFoundReserve(HpRows *pRows, i64 n){
  if( pRows->nPlace+n>pRows->nAlloc ){
    i64 nNew = MAX(2*pRows->nAlloc, pRows->nPlace+n);
    i64 *aNew = sqlite3_realloc64(pRows->aPlace, sizeof(i64)*(u64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    pRows->aPlace = aNew;
    pRows->nAlloc = nNew;
  }
  return SQLITE_OK;
}

/*
** Row i of pVec: sets *pVal and *pn, and returns its type.
*/
static SQLITE_INLINE u8 hpFoundValue(
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
** Keep row i of pVec in *pKept.
*/
static int hpFoundKeep(HpRows *pRows, HpKept *pKept, const HpVec *pVec, int i){
  pKept->tag = hpFoundValue(pVec, i, &pKept->val, &pKept->n);
  if( pKept->tag & HP_STR ){
    u32 n = pKept->n;
    if( n>=pKept->nAlloc ){
      u32 nAlloc = MAX(n+8, 2*pKept->nAlloc);
      pKept->aBuf = hpArenaAlloc(&pRows->arena, (i64)nAlloc+8);
      if( pKept->aBuf==0 ) return HP_DECLINE;
      pKept->nAlloc = nAlloc;
    }
    memcpy(pKept->aBuf, pKept->val.z, n);
    memset(&pKept->aBuf[n], 0, 8);
    pKept->val.z = pKept->aBuf;
  }
  return SQLITE_OK;
}

/*
** Bytes that are kept in memory.
*/
static i64 hpFoundMemory(const HpRows *pRows){
  return pRows->arena.nTotal + pRows->nTable + pRows->nAlloc*sizeof(i64);
}

/*
** Compare two values in the order of a sorter whose KeyInfo has pColl and
** flags (KEYINFO_ORDER_xxx).
*/
static SQLITE_INLINE int hpFoundCompare(
  u8 tA, HpVal a, u32 nA,
  u8 tB, HpVal b, u32 nB,
  CollSeq *pColl,
  u8 flags
){
  int bNull = ((tA | tB) & HP_NULL)!=0;
  int c;
  if( bNull ){
    c = (tB==HP_NULL) - (tA==HP_NULL);
  }else{
    c = hpValCompare(tA, a, nA, tB, b, nB, pColl);
  }
  if( c!=0 && flags
   && ((flags & KEYINFO_ORDER_BIGNULL)==0
       || ((flags & KEYINFO_ORDER_DESC)!=0)!=bNull)
  ){
    c = -c;
  }
  return c;
}

/*
** The place of row i of the batch, which comes after all that were asked for
** before.  Its cell is looked for from the one found last on, by where its
** record begins: so all cells of a leaf are gone through once.
**
** If bAll the record is to be sound as far as its header tells, for stock's loop
** reads other columns of it than the scan does.
**
** Returns -1 if there is no such cell, or if the record is not sound.
*/
static i64 hpFoundPlace(HpExec *p, int i, int bAll){
  const HpRun *pRun = &p->run;
  const BtShared *pBt = p->pScan->db->aDb[p->pPlan->iDb].pBt->pBt;
  const u8 *z = p->batch.apRec[i];
  i64 iLast = p->pRows->iFound;
  int iLeaf = (int)((z - pRun->aBuf)/pRun->szPage);
  const u8 *aPage = &pRun->aBuf[(i64)iLeaf*pRun->szPage];
  const u8 *aHdr = &aPage[pRun->iHdr];
  int nCell = get2byte(&aHdr[3]);
  int iRec = (int)(z - aPage);
  int iCell = 0;
  if( hpPlaceSeq(iLast)==pRun->iSeq && hpPlaceLeaf(iLast)==iLeaf ){
    iCell = hpPlaceCell(iLast);
  }
  for(; iCell<nCell; iCell++){
    int ofst = get2byte(&aHdr[8+2*iCell]);
    u32 nByte;
    if( (u32)(iRec-ofst-2)<=16
     && hpCellHead(&aPage[ofst], &nByte, 0)==iRec-ofst
    ){
      if( bAll && !hpRecordIsSound(pBt, z, nByte) ) return -1;
      p->pRows->iFound = HP_FOUND(pRun->iSeq, iLeaf, iCell);
      return p->pRows->iFound;
    }
  }
  return -1;
}
#endif /* SQLITE_OMIT_HP */
