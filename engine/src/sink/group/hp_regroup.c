/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_regroup: the groups of a pipe as rows of the next one.
**
**    hpRegroupType      the source that reads them
**    hpRegroupKeep()    the groups of a pipe become the source of the next one
**    hpRegroupForget()  they are about to be freed
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
** reads them.  Meanwhile the pipe that made them stays, with its workers, and
** belongs to the one that reads them: HpPipe.pGroups.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The groups that pGroups has made become the source of p, which owns that pipe
** from now on.  What its workers hold counts for the query.
*/
static void hpRegroupKeep(HpPipe *p, HpPipe *pGroups){
  int i;
  assert( p->pGroups==0 && pGroups->pGroups==0 && pGroups->pCrew==0 );
  assert( pGroups->pEntry!=0 && pGroups->pOut->nMerge>0 );
  p->pGroups = pGroups;
  for(i=0; i<pGroups->nWorker; i++){
    p->pQuery->nHeld += pGroups->apWorker[i]->nHeld;
  }
  assert( p->pQuery->nHeld>=0 );
}

/*
** The groups that p has read are needed no more: what their workers held does
** not count any longer.
*/
static void hpRegroupForget(HpPipe *p){
  int i;
  for(i=0; i<p->pGroups->nWorker; i++){
    p->pQuery->nHeld -= p->pGroups->apWorker[i]->nHeld;
  }
  assert( p->pQuery->nHeld>=0 && p->pGroups->pCrew==0 );
}

/*
** Let row i of the batch be the group aGroup.
*/
static int hpRegroupRow(HpWorker *p, u8 *aGroup, int i){
  HpPipe *pGroups = p->pPipe->pGroups;
  const HpGroupPlan *pPlan = hpGroupOf(pGroups->pEntry);
  int nKey = pPlan->keys.n;
  int k, rc;
  HpVal val;
  assert( i<p->pRead->batch.nAlloc && hpGroupIsSane(pPlan, aGroup) );
  if( hpGroupIsInt(pPlan, aGroup) ){
    val.u = hpGroupPack(aGroup)->a;
    hpValuesSet(p, 0, i, HP_INT, val, 0);
  }else{
    const HpHead *pHead = hpGroupHead(pPlan, aGroup);
    Mem aMem[HP_MX_EQ];
    assert( nKey<=HP_MX_EQ );
    for(k=0; k<nKey; k++) sqlite3VdbeMemInit(&aMem[k], p->db, MEM_Null);
    hpKeyToMem(&pPlan->keys, pHead->z, pHead->nNorm, aMem, &pGroups->pOut->buf);
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
  assert( p->pPipe->nWorker==1 );   /* Groups come one after the other */
  hpValuesClear(p);
  for(n=0; n<p->pRead->batch.nAlloc; n++){
    u8 *aGroup;
    int rc = hpMergeNext(p->pPipe->pGroups, &aGroup);
    if( rc==SQLITE_OK && aGroup==0 ) break;
    if( rc==SQLITE_OK ) rc = hpRegroupRow(p, aGroup, n);
    if( rc ) return rc;
  }
  hpValuesDone(p, n);
  return SQLITE_OK;
}

static const HpSourceType hpRegroupType = {
  hpValuesBegin, hpRegroupNext, hpValuesColumn, 0, 1, 0
};
#endif /* SQLITE_OMIT_HP */
