/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_values: batches of values that come from no leaf.
**
**    hpValuesBegin()    memory for a worker's batches
**    hpValuesClear()    a new batch begins
**    hpValuesSet()      one value of a row
**    hpValuesMem()      the same, of a register
**    hpValuesText()     room for a text that lives as long as the batch
**    hpValuesDone()     the batch has so many rows
**    hpValuesColumn()   HpSourceType.xColumn
**    hpValuesClose()    free what a worker has
**
** Sources that are not made of records put the values of a batch into arrays, one for
** each column of the plan: the right side of IN (hp_set.c), groups of the pipe before
** (hp_regroup.c).  Each batch is a run of its own.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* The values of a batch: of column k, row i those at k*nStride+i */
struct HpValues {
  int nStride;
  HpVal *aVal;
  u8 *aTag;
  u32 *aLen;
  HpArena text;          /* Their texts */
};

/*
** Memory for the batches of worker p, of the columns of its plan.
*/
static int hpValuesBegin(HpWorker *p){
  HpValues *pNew = hpArenaAlloc(&p->vec, sizeof(*pNew));
  int rc = hpRecordInit(p);
  i64 n = (i64)p->pRead->batch.nAlloc*p->pPlan->source.nCol;
  if( rc || pNew==0 ) return HP_DECLINE;
  memset(pNew, 0, sizeof(*pNew));
  p->pRead->pValues = pNew;
  pNew->nStride = p->pRead->batch.nAlloc;
  pNew->aVal = hpArenaAlloc(&p->vec, sizeof(HpVal)*n);
  pNew->aTag = hpArenaAlloc(&p->vec, n);
  pNew->aLen = hpArenaAlloc(&p->vec, sizeof(u32)*n);
  return pNew->aVal && pNew->aTag && pNew->aLen ? SQLITE_OK : HP_DECLINE;
}

/* Texts of the last batch are needed no more */
static void hpValuesClear(HpWorker *p){
  hpArenaClear(&p->pRead->pValues->text);
}

/* Let column iCol of row i be that value.  A text stays where it is. */
static void hpValuesSet(HpWorker *p, int iCol, int i, u8 tag, HpVal val, u32 n){
  HpValues *pValues = p->pRead->pValues;
  i64 k = (i64)iCol*pValues->nStride + i;
  assert( i>=0 && i<pValues->nStride && iCol<p->pPlan->source.nCol );
  pValues->aVal[k] = val;
  pValues->aTag[k] = tag;
  pValues->aLen[k] = n;
}

/*
** Room for a text of n bytes, and for what is read behind it; or NULL.
*/
static u8 *hpValuesText(HpWorker *p, u32 n){
  u8 *z = hpArenaAlloc(&p->pRead->pValues->text, (i64)n+HP_SLACK);
  if( z ) memset(&z[n], 0, HP_SLACK);
  return z;
}

/*
** Let column iCol of row i be the value of pMem, whose text stays where it is, unless
** bCopy.
*/
static int hpValuesMem(HpWorker *p, int iCol, int i, const Mem *pMem, int bCopy){
  HpVal val;
  u8 tag;
  u32 n = 0;
  val.i = 0;
  if( pMem->flags & MEM_Null ){
    tag = HP_NULL;
  }else if( pMem->flags & MEM_Int ){
    tag = HP_INT;
    val.i = pMem->u.i;
  }else if( pMem->flags & MEM_Real ){
    tag = HP_REAL;
    val.r = pMem->u.r;
  }else{
    tag = (pMem->flags & MEM_Str) ? HP_TEXT : HP_BLOB;
    val.z = (const u8*)pMem->z;
    n = (u32)pMem->n;
    if( bCopy ){
      u8 *z = hpValuesText(p, n);
      if( z==0 ) return HP_DECLINE;
      if( n ) memcpy(z, pMem->z, n);
      val.z = z;
    }
  }
  hpValuesSet(p, iCol, i, tag, val, n);
  return SQLITE_OK;
}

/* The batch has n rows */
static void hpValuesDone(HpWorker *p, int n){
  assert( n>=0 && n<=p->pRead->pValues->nStride && p->pRead->batch.nRow==0 );
  p->pRead->batch.nRow = n;
  p->pRead->run.iSeq++;
  p->pRead->run.nPage = p->pRead->run.iLeaf = n>0;
}

/* The values of the batch */
static void hpValuesColumn(HpFrame *pFrame, int iCol, HpVec *pOut){
  const HpValues *pValues = pFrame->pWorker->pRead->pValues;
  i64 k = (i64)iCol*pValues->nStride;
  u8 mType = 0;
  assert( iCol>=0 && iCol<pFrame->pWorker->pPlan->source.nCol );
  assert( pOut->mIdx!=0 && pFrame->nRow<=pValues->nStride );
  HP_ROWS(pFrame, {
    pOut->aTag[i] = pValues->aTag[k+i];
    pOut->aVal[i] = pValues->aVal[k+i];
    pOut->aLen[i] = pValues->aLen[k+i];
    mType |= pValues->aTag[k+i];
  })
  pOut->bFloat = 0;
  pOut->mType = mType;
}

/* Free the texts of worker p */
static void hpValuesClose(HpWorker *p){
  if( p->pRead->pValues ) hpArenaClear(&p->pRead->pValues->text);
}
#endif /* SQLITE_OMIT_HP */
