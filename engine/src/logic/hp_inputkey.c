/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_inputkey: rule: by which key an input of a join is looked up (prepare
** time).
**
**    hpInputKeyAll()    find keys of inputs, as long as there are any
**    hpInputKeyMeet()   the pipe in which inputs are known together
**
** The driving table is scanned.  It has to reach all other inputs through
** unique keys, so that each of its rows has one partner at most in each of
** them:
**
**    SELECT n_name, sum(l_price) FROM lineitem, orders, customer, nation
**     WHERE o_orderkey=l_orderkey AND c_custkey=o_custkey
**       AND n_nationkey=c_nationkey AND o_orderdate>'1995-01-01'
**     GROUP BY n_name
**
**    lineitem --l_orderkey-> orders --o_custkey-> customer --> nation
**    drives                  home: lineitem       home: orders
**
** The home of an input is where its key is known: the input that has the
** columns, or, if several have, the one whose pipe meets all of them.  Inputs
** of which only the existence of a partner matters, and those that are grouped
** by their key, may have any key.  One term of an EXISTS may be another
** comparison than an equality: the smallest and the largest value of a key tell
** (HpInput.bSpan).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Let input i, an EXISTS, test pTerm by the smallest and the largest value of
** its column. These compare with others as SQLite would if nothing has to be
** converted.
*/
static int hpInputKeySpan(HpJoin *p, const HpConjunct *pTerm, int i){
  HpInput *pInput = &p->aIn[i];
  HpEdge *pSpan = &pInput->span;
  char affOwn, affOther;
  assert( pTerm>=p->aTerm && pTerm<&p->aTerm[p->nTerm] );
  if( pInput->bSpan || pInput->eJoin==HP_JOIN_SINGLE ) return 0;
  if( !hpTermCompare(p, pTerm, i, -2, pSpan) ) return 0;
  affOwn = sqlite3ExprAffinity(pSpan->pOwn);
  affOther = sqlite3ExprAffinity(pSpan->pOther);
  if( (affOwn<SQLITE_AFF_NUMERIC || affOther<SQLITE_AFF_NUMERIC)
   && (affOwn!=SQLITE_AFF_TEXT || affOther!=SQLITE_AFF_TEXT)
  ){
    return 0;
  }
  if( sqlite3ExprSkipCollate(pSpan->pOther)->op!=TK_COLUMN ) return 0;
  pSpan->iTerm = (int)(pTerm - p->aTerm);
  pInput->bSpan = 1;
  return 1;
}

/*
** Find an edge for column iColumn of input i to inputs that are done.
*/
static int hpInputKeyEdge(
  const HpJoin *p,
  int i,
  int iColumn,
  const char *zColl,     /* Collation of a unique index; NULL: a rowid */
  HpEdge *pEdge
){
  int iOuter = p->aIn[i].eJoin==HP_JOIN_LEFT ? i : -1;
  int k;
  assert( (p->mDone & MASKBIT(i))==0 );
  for(k=0; k<p->nTerm; k++){
    if( p->aTerm[k].iOuter!=iOuter ) continue;
    if( !hpTermEdge(p, &p->aTerm[k], i, iColumn, pEdge) ) continue;
    if( (pEdge->m & ~p->mDone)!=0 ) continue;
    if( zColl && sqlite3StrICmp(pEdge->pColl->zName, zColl)!=0 ) continue;
    pEdge->iTerm = k;
    return 1;
  }
  return 0;
}

/*
** Is there an equality for each column of unique index pIdx, or for the rowid
** if that is NULL?  Then these are the key of input i.
*/
static int hpInputKeyUnique(HpJoin *p, int i, Index *pIdx){
  HpInput *pInput = &p->aIn[i];
  Table *pTab = pInput->pItem->pSTab;
  int n = pIdx ? pIdx->nKeyCol : 1;
  int k;
  assert( pIdx ? IsUniqueIndex(pIdx) && pIdx->pTable==pTab : HasRowid(pTab) );
  if( n>HP_MX_EQ ) return 0;
  for(k=0; k<n; k++){
    int iColumn = pIdx ? pIdx->aiColumn[k] : -1;
    if( iColumn<-1 ) return 0;
    if( !hpInputKeyEdge(p, i, iColumn, pIdx ? pIdx->azColl[k] : 0,
                         &pInput->aKey[k])
     && (pIdx || pTab->iPKey<0
         || !hpInputKeyEdge(p, i, pTab->iPKey, 0, &pInput->aKey[k]))
    ){
      return 0;
    }
  }
  pInput->nKey = n;
  return 1;
}

/* Where input i is known: its pipe, or its home if it has no rows of its own */
static int hpInputKeyHome(const HpJoin *p, int i){
  u8 eJoin = p->aIn[i].eJoin;
  return eJoin==HP_JOIN_DRIVES || eJoin==HP_JOIN_INNER ? i : p->aIn[i].iHome;
}

/* How far input i is from the root */
static int hpInputKeyDepth(const HpJoin *p, int i){
  int n = 0;
  for(; i!=p->iRoot; i=p->aIn[i].iHome) n++;
  assert( n<p->nIn );        /* Homes are no circle */
  return n;
}

/*
** The pipe in which all inputs of m are known: that of the root if m is empty.
*/
static int hpInputKeyMeet(const HpJoin *p, Bitmask m){
  int iMeet = -1;
  int i;
  assert( (m & ~p->mDone)==0 );    /* Others have no home */
  for(i=0; i<p->nIn; i++){
    int k;
    if( (m & MASKBIT(i))==0 ) continue;
    k = hpInputKeyHome(p, i);
    if( iMeet<0 ) iMeet = k;
    while( iMeet!=k ){
      if( hpInputKeyDepth(p, iMeet)>=hpInputKeyDepth(p, k) ){
        iMeet = p->aIn[iMeet].iHome;
      }else{
        k = p->aIn[k].iHome;
      }
    }
  }
  return iMeet<0 ? p->iRoot : iMeet;
}

/*
** Try to find a key of input i, all of it known at inputs that are done.
*/
static int hpInputKeyFind(HpJoin *p, int i){
  HpInput *pInput = &p->aIn[i];
  Table *pTab = pInput->pItem->pSTab;
  Bitmask m = 0;
  Index *pIdx;
  int bRefused = 0;
  int k;
  /* As at first, if that was tried before in vain */
  assert( i!=p->iRoot && pInput->nKey==0 && pInput->bSpan==0 );
  if( pInput->eJoin==HP_JOIN_SEMI || hpInputIsSub(pInput) ){
    for(k=0; k<p->nTerm; k++){
      HpConjunct *pTerm = &p->aTerm[k];
      if( hpInputIsSub(pInput) && pTerm->iOuter!=i ) continue;
      if( (pTerm->m & MASKBIT(i))==0 || pTerm->m==MASKBIT(i) ) continue;
      if( pTerm->bImplied ) continue;
      if( pInput->nKey<HP_MX_EQ
       && hpTermEdge(p, pTerm, i, -2, &pInput->aKey[pInput->nKey])
       && (pInput->aKey[pInput->nKey].m & ~p->mDone)==0
      ){
        pInput->aKey[pInput->nKey++].iTerm = k;
      }else if( !hpInputKeySpan(p, pTerm, i) || (pInput->span.m & ~p->mDone)!=0
      ){
        bRefused = 1;
        break;
      }
    }
    if( bRefused || pInput->nKey==0 ){
      pInput->nKey = 0;
      pInput->bSpan = 0;
      return 0;
    }
    if( pInput->bSpan ) m |= pInput->span.m;
  }else{
    int bFound = HasRowid(pTab) && hpInputKeyUnique(p, i, 0);
    for(pIdx=pTab->pIndex; pIdx && !bFound; pIdx=pIdx->pNext){
      if( !IsUniqueIndex(pIdx) || pIdx->pPartIdxWhere || pIdx->bHasExpr ){
        continue;
      }
      bFound = hpInputKeyUnique(p, i, pIdx);
    }
    if( !bFound ) return 0;
  }
  for(k=0; k<pInput->nKey; k++) m |= pInput->aKey[k].m;
  if( pInput->eJoin==HP_JOIN_LEFT || hpInputIsMany(pInput) ){
    for(k=0; k<p->nTerm; k++){
      if( p->aTerm[k].iOuter==i ) m |= p->aTerm[k].m & ~MASKBIT(i);
    }
    if( (m & ~p->mDone)!=0 ){
      pInput->nKey = 0;
      return 0;
    }
  }
  pInput->iHome = hpInputKeyMeet(p, m);
  assert( pInput->iHome!=i && (p->mDone & MASKBIT(pInput->iHome))!=0 );
  assert( pInput->nKey>0 && pInput->nKey<=HP_MX_EQ );
  for(k=0; k<pInput->nKey; k++){
    HpConjunct *pTerm = &p->aTerm[pInput->aKey[k].iTerm];
    if( !pTerm->bImplied ) pTerm->bKey = 1;
  }
  if( pInput->bSpan ) p->aTerm[pInput->span.iTerm].bKey = 1;
  p->mDone |= MASKBIT(i);
  return 1;
}

/*
** Find keys of inputs, as long as there are any.
*/
static void hpInputKeyAll(HpJoin *p){
  int i, n;
  do{
    n = 0;
    for(i=0; i<p->nIn; i++){
      if( (p->mDone & MASKBIT(i))==0 && p->aIn[i].eJoin!=HP_JOIN_NONE
       && hpInputKeyFind(p, i)
      ){
        n++;
      }
    }
  }while( n );
}
#endif /* SQLITE_OMIT_HP */
