/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_reduce: rule: equivalent columns leave out rows early (prepare time).
**
**    hpReduceAll()     inputs that can do without what another one leaves out
**    hpReducePrune()   of a part of a join: omit what leaves out no rows
**
** Where a=b and b=c a row of c's table needs a partner of a's, too, so the hash
** table of a is looked up in both places.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Is the relation of input iTo needed, at once or by way of others, by input
** i? */
static int hpReduceNeeds(const HpJoin *p, int i, int iTo){
  int k;
  if( i==iTo ) return 1;
  for(k=0; k<p->nIn; k++){
    if( k!=p->iRoot && p->aIn[k].eJoin!=HP_JOIN_NONE && p->aIn[k].iHome==i
     && hpReduceNeeds(p, k, iTo)
    ){
      return 1;
    }
  }
  for(k=0; k<p->nReduce; k++){
    if( p->aReduce[k].iIn==i && hpReduceNeeds(p, p->aReduce[k].iRel, iTo) ){
      return 1;
    }
  }
  return 0;
}

/*
** Input i is found by pEdge, by a number.  If another input has an equality
** with the same column it can do without the rows that have no partner, too:
**
**    s_nationkey=n_nationkey AND c_nationkey=s_nationkey
**
** leaves out customers of nations that nation's own filters leave out.
*/
static void hpReduceInput(HpJoin *p, int i){
  const HpEdge *pEdge = &p->aIn[i].aKey[0];
  const Expr *pCol = pEdge->pOther;
  int k, j;
  if( p->aIn[i].eJoin!=HP_JOIN_INNER || p->aIn[i].nKey!=1 ) return;
  assert( pEdge->op==TK_EQ && p->nPipe==0 );
  if( pCol->op!=TK_COLUMN || pEdge->aff<SQLITE_AFF_NUMERIC ) return;
  if( sqlite3ExprAffinity(pCol)<SQLITE_AFF_NUMERIC
   || sqlite3ExprAffinity(pEdge->pOwn)<SQLITE_AFF_NUMERIC
   || !hpPropFilters(p, i)
  ){
    return;
  }
  for(k=0; k<p->nTerm && p->nReduce<HP_MX_REDUCE; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    Expr *pOther = pTerm->pExpr->pRight;
    if( pTerm->iOuter>=0 || pTerm->bImplied || pTerm->pExpr->op!=TK_EQ ){
      continue;
    }
    if( pTerm->pExpr==pEdge->pTerm ) continue;
    if( !sqlite3IsBinary(sqlite3ExprCompareCollSeq(p->pParse, pTerm->pExpr)) ){
      continue;
    }
    if( sqlite3ExprCompare(0, pTerm->pExpr->pLeft, pCol, -1)!=0 ){
      pOther = pTerm->pExpr->pLeft;
      if( sqlite3ExprCompare(0, pTerm->pExpr->pRight, pCol, -1)!=0 ) continue;
    }
    if( pOther->op!=TK_COLUMN || ExprHasProperty(pOther, EP_FixedCol)
     || sqlite3ExprAffinity(pOther)<SQLITE_AFF_NUMERIC
    ){
      continue;
    }
    j = hpTermInput(p, pOther->iTable);
    if( j<0 || p->aIn[j].eJoin!=HP_JOIN_INNER || hpReduceNeeds(p, j, i)
     || hpReduceNeeds(p, i, j)
    ){
      continue;
    }
    p->aReduce[p->nReduce].iIn = j;
    p->aReduce[p->nReduce].iRel = i;
    p->aReduce[p->nReduce].edge = *pEdge;
    p->aReduce[p->nReduce].edge.pOther = pOther;
    p->nReduce++;
  }
}

static void hpReduceAll(HpJoin *p){
  int i;
  assert( p->nReduce==0 );
  for(i=0; i<p->nIn; i++) hpReduceInput(p, i);
}

/*
** Of a part of a join: leave out what leaves no rows of the root out.
*/
static void hpReducePrune(HpJoin *p){
  Bitmask mKeep = MASKBIT(p->iRoot);
  Bitmask mOld;
  int i, k;
  for(i=0; i<p->nIn; i++){
    if( (p->mDone & MASKBIT(i)) && hpPropFilters(p, i) ) mKeep |= MASKBIT(i);
  }
  do{
    mOld = mKeep;
    for(i=0; i<p->nIn; i++){
      if( i==p->iRoot || (mKeep & MASKBIT(i))==0 ) continue;
      assert( (p->mDone & MASKBIT(i))!=0 );
      mKeep |= MASKBIT(p->aIn[i].iHome);
      for(k=0; k<p->aIn[i].nKey; k++) mKeep |= p->aIn[i].aKey[k].m;
    }
  }while( mKeep!=mOld );
  for(i=0; i<p->nIn; i++){
    if( (mKeep & MASKBIT(i))==0 ) p->aIn[i].eJoin = HP_JOIN_NONE;
  }
  p->mDone &= mKeep;
}
#endif /* SQLITE_OMIT_HP */
