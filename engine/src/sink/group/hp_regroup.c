/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_regroup: the groups of a pipe as rows of the next one.
**
**    hpRegroupType      the source that reads them
**    hpRegroupKeep()    leave the groups that a pipe has made to the next one
**    hpRegroupForget()  free them
**
** A correlated aggregate that is computed for all keys at once takes two pipes:
**
**    orders' leaves -> groups by o_custkey -> rows of key, count -> relation
**
** Columns of the second one are the keys of the group, in order, and then what its
** aggregates come to, computed as SQLite's finalizers do.  Where these would raise an
** error that is declined.
**
** Groups come as hp_merge.c delivers them, from memory or from files, so one worker
** reads them.  Meanwhile the workers that made them stay, in a copy of the query:
** HpQuery.pGroups.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Pipe p->pPipe has made groups.  Leave them to the next one.
*/
static int hpRegroupKeep(HpQuery *p){
  HpQuery *pNew;
  int i;
  assert( p->pGroups==0 && p->pCrew==0 && p->pEntry!=0 );
  sqlite3BeginBenignMalloc();
  pNew = sqlite3_malloc64(sizeof(*pNew));
  sqlite3EndBenignMalloc();
  if( pNew==0 ) return HP_DECLINE;
  *pNew = *p;
  memset(&pNew->buf, 0, sizeof(pNew->buf));
  pNew->pSource = 0;
  pNew->pMutex = 0;
  hpSourceClose(p->pSource);
  p->pSource = 0;
  sqlite3_mutex_free(p->pMutex);
  p->pMutex = 0;
  p->pGroups = pNew;
  for(i=0; i<p->nWorker; i++){
    p->nRelByte += p->apWorker[i]->nHeld;
    p->apWorker[i] = 0;
  }
  p->nWorker = 0;
  p->nMerge = p->iMerge = 0;
  assert( pNew->nMerge>0 && p->nRelByte>=0 );
  p->aAhead = 0;
  p->apAhead = 0;
  p->nAhead = p->iAhead = 0;
  return SQLITE_OK;
}

/*
** The groups are needed no more.  xFree frees the workers of a query.
*/
static void hpRegroupForget(HpQuery *p, void (*xFree)(HpQuery*)){
  HpQuery *pGroups = p->pGroups;
  int i;
  if( pGroups==0 ) return;
  p->pGroups = 0;
  for(i=0; i<pGroups->nWorker; i++) p->nRelByte -= pGroups->apWorker[i]->nHeld;
  assert( p->nRelByte>=0 && pGroups->pCrew==0 );
  hpMergeClose(pGroups);
  hpAggAheadClose(pGroups);
  xFree(pGroups);
  sqlite3_free(pGroups->buf.a);
  sqlite3_free(pGroups);
}

/*
** Let row i of the batch be the group aGroup.
*/
static int hpRegroupRow(HpWorker *p, u8 *aGroup, int i){
  HpQuery *pGroups = p->pQuery->pGroups;
  const HpGroupPlan *pPlan = hpGroupOf(pGroups->pEntry);
  int nKey = pPlan->keys.n;
  int k, rc;
  HpVal val;
  assert( i<p->batch.nAlloc && hpGroupIsSane(pPlan, aGroup) );
  if( hpGroupIsInt(pPlan, aGroup) ){
    val.u = hpGroupPack(aGroup)->a;
    hpValuesSet(p, 0, i, HP_INT, val, 0);
  }else{
    const HpHead *pHead = hpGroupHead(pPlan, aGroup);
    Mem aMem[HP_MX_EQ];
    assert( nKey<=HP_MX_EQ );
    for(k=0; k<nKey; k++) sqlite3VdbeMemInit(&aMem[k], p->db, MEM_Null);
    hpKeyToMem(&pPlan->keys, pHead->z, pHead->nNorm, aMem, &pGroups->buf);
    for(k=0, rc=SQLITE_OK; k<nKey; k++){
      if( rc==SQLITE_OK ) rc = hpValuesMem(p, k, i, &aMem[k], 1);
      sqlite3VdbeMemRelease(&aMem[k]);
    }
    if( rc ) return rc;
  }
  for(k=0; k<pPlan->nAgg; k++){
    u32 n = 0;
    u8 tag = hpResultValue(&pPlan->aAgg[k], aGroup, &val, &n);
    if( tag==0 ) return HP_DECLINE;
    if( tag & HP_STR ){
      u8 *z = hpValuesText(p, n);
      if( z==0 ) return HP_DECLINE;
      if( n ) memcpy(z, val.z, n);
      val.z = z;
    }
    hpValuesSet(p, nKey+k, i, tag, val, n);
  }
  return SQLITE_OK;
}

/*
** Fill the batch of p with the next groups.
*/
static int hpRegroupNext(HpWorker *p){
  int n;
  assert( p->pQuery->nWorker==1 );   /* Groups come one after the other */
  hpValuesClear(p);
  for(n=0; n<p->batch.nAlloc; n++){
    u8 *aGroup;
    int rc = hpMergeNext(p->pQuery->pGroups, &aGroup);
    if( rc==SQLITE_OK && aGroup==0 ) break;
    if( rc==SQLITE_OK ) rc = hpRegroupRow(p, aGroup, n);
    if( rc ) return rc;
  }
  hpValuesDone(p, n);
  return SQLITE_OK;
}

static const HpSourceType hpRegroupType = {
  hpValuesBegin, hpRegroupNext, hpValuesColumn, 1, 0
};
#endif /* SQLITE_OMIT_HP */
