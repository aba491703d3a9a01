/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_lop: a FROM clause as an operator of a tree (prepare time).
**
**    hpLopTree()      an output over an input
**    hpLopRoot()      the term that is scanned: the driving table of a join
**    hpLopJoin()      FROM and WHERE as a JOIN, or NULL if it is none of ours
**    hpLopFree()      free it
**
** One table drives: that of SQLite's outermost loop, or another one if nobody
** sees the order of rows (hp_root.c).  It is scanned; each of its rows has one
** partner at most in each other input, which is looked up in a hash table
** (hp_rel.c).  So the rows of the join are rows of that table, in its order.
**
** Inputs are the terms of FROM and correlated sub-selects of WHERE
** (HpInput.eJoin):
**
**    HP_JOIN_DRIVES  it is scanned
**    HP_JOIN_INNER   rows without a partner are left out
**    HP_JOIN_LEFT    they stay, with row 0 of the hash table.  The terms of its
**                    ON clause decide about the partner, those of WHERE come
**                    after; so it is no home of others, and is known where its
**                    own home is
**    HP_JOIN_SEMI    from EXISTS: only whether there is a partner; any key
**    HP_JOIN_NONE    the planner has left it out
**    HP_JOIN_MARK    a sub-select: whether there is a partner, as a value
**    HP_JOIN_SINGLE  the aggregates of the partners: groups by any key
**
** The rules come in this order, each in a file of its own:
**
**    hp_subselect.c   correlated sub-selects become inputs
**    hp_term.c        WHERE becomes terms, OR is factored
**    hp_inputkey.c    each input has a key, known at its home
**    hp_many.c        one LEFT JOIN without unique key is grouped first
**    hp_reduce.c      equivalent columns leave out rows early
**    hp_twin.c        sub-selects of one table share a scan
**    hp_errors.c      no error is lost
**
** Then pipes are numbered, so that a hash table is made before it is read.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Let pTop be output eOp of query p, which may be NULL, over input pIn: the
** rows of pItem for which pWhere is true, or if there is pJoin those of the
** join that pItem drives.
*/
static void hpLopTree(
  HpLop *pTop,
  u8 eOp,
  Select *p,
  HpLop *pIn,
  SrcItem *pItem,
  Expr *pWhere,
  HpJoin *pJoin
){
  assert( eOp>HP_LOP_UNION && pItem!=0 );
  memset(pTop, 0, sizeof(*pTop));
  pTop->eOp = eOp;
  pTop->pIn = pIn;
  pTop->pSelect = p;
  memset(pIn, 0, sizeof(*pIn));
  pIn->eOp = pJoin ? HP_LOP_JOIN : hpUnionCount(pItem) ? HP_LOP_UNION
                                                       : HP_LOP_SCAN;
  pIn->pItem = pItem;
  pIn->pWhere = pWhere;
  pIn->pJoin = pJoin;
}

/*
** Number pipes: those of relations before those that look them up.
*/
static void hpLopNumber(HpJoin *p, int i){
  int iTwin = p->aIn[i].iTwin;
  int k;
  if( p->aIn[i].iPipe>=0 ) return;
  if( iTwin>=0 ){
    hpLopNumber(p, iTwin);
    p->aIn[i].iPipe = p->aIn[iTwin].iPipe;
    p->aIn[i].iScan = p->aIn[iTwin].iScan;
    return;
  }
  for(k=0; k<p->nReduce; k++){
    if( p->aReduce[k].iIn==i ) hpLopNumber(p, p->aReduce[k].iRel);
  }
  for(k=0; k<p->nIn; k++){
    if( k!=i && p->aIn[k].eJoin!=HP_JOIN_NONE && k!=p->iRoot
     && p->aIn[k].iHome==i
    ){
      hpLopNumber(p, k);
    }
  }
  assert( p->nPipe+hpInputHasGroups(&p->aIn[i])<HP_MX_PIPE );
  if( hpInputHasGroups(&p->aIn[i]) ) p->aOrder[p->nPipe++] = (u8)i;
  p->aOrder[p->nPipe] = (u8)i;
  p->aIn[i].iPipe = p->nPipe++;
  p->aIn[i].iScan = p->aIn[i].iPipe - hpInputHasGroups(&p->aIn[i]);
}

/* The term of FROM that the outermost loop scans, as sqlite3HpAccept() has
** noted */
static SrcItem *hpLopRoot(SrcList *pSrc){
  int i;
  assert( pSrc->nSrc>0 );
  for(i=0; i<pSrc->nSrc-1 && pSrc->a[i].hp.iLevel!=1; i++){}
  return &pSrc->a[i];
}

/*
** Add the terms of the WHERE clause of input i, a sub-select.  Each is about
** its table, or ties it to others: hpInputKeyFind().
*/
static int hpLopSub(HpJoin *p, int i){
  int k = p->nTerm;
  assert( hpInputIsSub(&p->aIn[i]) && !p->bPart );
  if( !hpTermAdd(p, p->aIn[i].pSub->x.pSelect->pWhere, 0) ) return 0;
  for(; k<p->nTerm; k++){
    Bitmask m = p->aTerm[k].m;
    if( p->aTerm[k].iOuter>=0 || (m!=0 && (m & MASKBIT(i))==0) ) return 0;
    p->aTerm[k].iOuter = i;
  }
  return 1;
}

/* Free p, which may be NULL */
static void hpLopFree(HpJoin *p){
  if( p ) sqlite3DbFree(p->pParse->db, p);
}

#ifdef SQLITE_DEBUG
/*
** Is p a tree, whose pipes come in an order in which they can run?  Each input
** but the root has keys, a home on the way to the root, and a pipe that is
** done when that of its home begins.
*/
static int hpLopIsSane(const HpJoin *p){
  int i, k, n;
  if( p->iRoot<0 || p->iRoot>=p->nIn || p->nIn>HP_MX_NODE ) return 0;
  if( p->nPipe<1 || p->nPipe>HP_MX_PIPE ) return 0;
  if( p->aIn[p->iRoot].iPipe!=p->nPipe-1 ) return 0;
  for(i=0; i<p->nIn; i++){
    const HpInput *pInput = &p->aIn[i];
    int bTwin = pInput->iTwin>=0;
    if( pInput->eJoin==HP_JOIN_NONE || i==p->iRoot ) continue;
    if( pInput->nKey<1 || pInput->nKey>HP_MX_EQ ) return 0;
    if( pInput->iScan<0 || pInput->iScan>pInput->iPipe ) return 0;
    if( p->aOrder[pInput->iPipe]!=(bTwin ? pInput->iTwin : i) ) return 0;
    for(k=i, n=0; k!=p->iRoot; k=p->aIn[k].iHome){
      if( k<0 || n++>=p->nIn ) return 0;
    }
    if( pInput->iPipe>=p->aIn[pInput->iHome].iScan ) return 0;
    for(k=0; k<pInput->nKey; k++){
      if( pInput->aKey[k].m & ~p->mDone ) return 0;
    }
  }
  for(i=0; i<p->nReduce; i++){
    const HpReduce *pReduce = &p->aReduce[i];
    int iPipe = p->aIn[pReduce->iRel].iPipe;
    if( iPipe>=p->aIn[pReduce->iIn].iScan ) return 0;
  }
  return 1;
}
#endif

/* For PRAGMA hp_log: a join cannot go from its root to an input */
static void hpLopLog(const HpJoin *p, const HpInput *pInput){
  const SrcItem *pRoot = p->aIn[p->iRoot].pItem;
  const SrcItem *pItem = pInput->pItem;
  if( hpInputIsSub(pInput) ){
    hpConfigLog(p->pParse->db, "note: a sub-select is looked up by no key");
    return;
  }
  hpConfigLog(p->pParse->db, "note: from %s the join reaches %s by no unique "
      "key: = has no value for all columns of a PRIMARY KEY or UNIQUE index",
      pRoot->zAlias ? pRoot->zAlias : pRoot->pSTab->zName,
      pItem->zAlias ? pItem->zAlias : pItem->pSTab->zName);
}

/*
** The join of a join of pSrc with pWhere, whose levels hpChoiceNote() has
** noted, or NULL. bPart: only what leaves rows of the root out is wanted, and
** not all of that.
*/
static HpJoin *hpLopJoin(Parse *pParse, SrcList *pSrc, Expr *pWhere, int bPart){
  HpJoin *pNew;
  int i;
  if( pSrc->nSrc>HP_MX_NODE ) return 0;
  pNew = sqlite3DbMallocZero(pParse->db, sizeof(*pNew));
  if( pNew==0 ) return 0;
  pNew->pParse = pParse;
  pNew->nIn = pSrc->nSrc;
  pNew->iRoot = pNew->iMany = -1;
  pNew->bPart = (u8)bPart;
  for(i=0; i<pSrc->nSrc; i++){
    SrcItem *pItem = &pSrc->a[i];
    HpInput *pInput = &pNew->aIn[i];
    pInput->pItem = pItem;
    pInput->iPipe = pInput->iScan = pInput->iHome = -1;
    pInput->iLookup = pInput->iRow = pInput->iKept = -1;
    pInput->iTwin = pInput->iOnly = -1;
    if( pItem->hp.iLevel==0 || !hpSubselectIsTable(pItem)
     || (bPart && !HasRowid(pItem->pSTab))   /* hp_guard.c: not watched */
    ){
      pInput->eJoin = HP_JOIN_NONE;
    }else if( pItem->fg.jointype & (JT_RIGHT|JT_LTORJ) ){
      hpConfigLog(pParse->db, "note: RIGHT and FULL JOIN are SQLite's");
      goto refused;
    }else if( pItem->hp.iLevel==1 ){
      if( pItem->fg.fromExists || (pItem->fg.jointype & JT_LEFT) ) goto refused;
      assert( pNew->iRoot<0 );     /* Levels differ: hpChoiceNote() */
      pInput->eJoin = HP_JOIN_DRIVES;
      pNew->iRoot = i;
    }else if( pItem->fg.fromExists ){
      pInput->eJoin = HP_JOIN_SEMI;
    }else if( pItem->fg.jointype & JT_LEFT ){
      pInput->eJoin = bPart ? HP_JOIN_NONE : HP_JOIN_LEFT;
    }else{
      pInput->eJoin = HP_JOIN_INNER;
    }
  }
  if( pNew->iRoot<0 ) goto refused;
  if( !bPart && !hpSubselectInputs(pNew, pWhere) ) goto refused;
  if( !hpTermAdd(pNew, pWhere, 0) ) goto refused;
  if( !hpTermFactor(pNew) ) goto refused;
  for(i=pSrc->nSrc; i<pNew->nIn; i++){
    if( !hpLopSub(pNew, i) ) goto refused;
  }
  assert( pNew->nIn>=pSrc->nSrc && pNew->nTerm<=HP_MX_TERM );
  pNew->mDone = MASKBIT(pNew->iRoot);
  hpInputKeyAll(pNew);
  if( bPart ){
    hpReducePrune(pNew);
  }else{
    hpManyFind(pNew);
    if( pNew->iMany>=0 ) hpInputKeyAll(pNew);
  }
  for(i=0; i<pNew->nIn; i++){
    if( (pNew->mDone & MASKBIT(i))==0 && pNew->aIn[i].eJoin!=HP_JOIN_NONE ){
      hpLopLog(pNew, &pNew->aIn[i]);
      goto refused;
    }
  }
  hpReduceAll(pNew);
  hpTwinAll(pNew);
  /* Of a part of a join nothing may fail: hpOutFilterLook() */
  if( !bPart && !hpErrorsKept(pNew) ) goto refused;
  hpLopNumber(pNew, pNew->iRoot);
  assert( hpLopIsSane(pNew) );
  return pNew;

refused:
  hpLopFree(pNew);
  return 0;
}
#endif /* SQLITE_OMIT_HP */
