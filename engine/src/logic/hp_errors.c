/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_errors: property: is an error lost that SQLite raises? (prepare time)
**
**    hpErrorsKept()   is none?  Notes which terms may fail
**
** What may fail is told in hp_safe.c.  Here it is compared with what SQLite
** evaluates: a term that may fail has to be tested for all rows that SQLite
** tests it for.
**
** SQLite's order.  It tests a term in the innermost of the loops whose tables
** the term names: its level.  First come the terms by which rows are found.  If
** these are looked up by an index then come those that need only what the index
** has, then the others, and last those with correlated sub-selects; each in the
** order of the WHERE clause.  (sqlite3WhereCodeOneLoopStart())
**
** In a join, terms of one table that may fail are tested where they stand in
** the WHERE clause (hpJoinFilters()), for all rows of the table: nobody tells
** it which rows are wanted (HpInput.bAll).  All other terms that may fail are
** tested when all look-ups have left rows out.  So each of these has to be
** behind all else in SQLite's order, too, or the join is refused.  A key that
** may fail has to be behind all but the terms of the table that is looked up.
** And what an OR that may fail implies leaves no rows out.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** The level of SQLite's loops in which it tests a term about inputs m, which
** may be of the ON clause of input iOuter.
*/
static int hpErrorsLevel(const HpJoin *p, Bitmask m, int iOuter){
  int iLevel = 0;
  int i;
  assert( iOuter>=-1 && iOuter<p->nIn && (m>>p->nIn)==0 );
  if( iOuter>=0 ) m |= MASKBIT(iOuter);
  for(i=0; i<p->nIn; i++){
    if( (m & MASKBIT(i))==0 ) continue;
    /* Sub-selects have no loop, but terms that have them come last:
    ** hpErrorsClass() */
    iLevel = MAX(iLevel, p->aIn[i].pSub ? 0 : p->aIn[i].pItem->hp.iStock);
  }
  return iLevel;
}

/* Where SQLite tests term k, of those of one level */
#define HP_ERRORS_ACCESS  0    /* It finds rows by that */
#define HP_ERRORS_PLAIN   1
#define HP_ERRORS_LAST    2    /* It has a correlated sub-select */
static int hpErrorsClass(const HpJoin *p, int k){
  const HpConjunct *pTerm = &p->aTerm[k];
  int eClass = HP_ERRORS_PLAIN;
  int i;
  assert( k>=0 && k<p->nTerm );
  for(i=0; i<p->nIn; i++){
    const HpInput *pInput = &p->aIn[i];
    if( pInput->eJoin==HP_JOIN_NONE ) continue;
    if( pInput->pItem->hp.pAccess==pTerm->pExpr ) return HP_ERRORS_ACCESS;
    if( pInput->pSub && (pTerm->m & MASKBIT(i)) ) eClass = HP_ERRORS_LAST;
  }
  return eClass;
}

/* Does SQLite test the terms of input i that find no rows in the order of the
** WHERE clause? */
static int hpErrorsIsPlain(const HpJoin *p, int i){
  const HpInput *pInput = &p->aIn[i];
  /* Of the root that is looked up by an index hpRangeSafe() is asked */
  if( i==p->iRoot && pInput->pItem->hp.pVia ) return 1;
  return pInput->pItem->hp.bPlain;
}

/*
** Term k may fail, and is tested behind all look-ups.  Does SQLite test it
** behind all terms that leave rows out before, too?
*/
static int hpErrorsIsLast(const HpJoin *p, int k){
  const HpConjunct *pTerm = &p->aTerm[k];
  int iLevel = hpErrorsLevel(p, pTerm->m, pTerm->iOuter);
  int eClass = hpErrorsClass(p, k);
  int i, j;
  assert( pTerm->bFails && !pTerm->bKey && !pTerm->bImplied );
  if( pTerm->iOuter>=0 ) return 0;
  for(i=0; i<p->nIn; i++){
    if( p->aIn[i].bSpan && p->aIn[i].pSub==0 ) return 0;
    if( p->aIn[i].pSub==0 && p->aIn[i].eJoin!=HP_JOIN_NONE
     && p->aIn[i].pItem->hp.iStock==iLevel && !hpErrorsIsPlain(p, i)
    ){
      return 0;
    }
  }
  for(j=0; j<p->nTerm; j++){
    const HpConjunct *pOther = &p->aTerm[j];
    int iOther = hpErrorsLevel(p, pOther->m, pOther->iOuter);
    int eOther = hpErrorsClass(p, j);
    if( j==k ) continue;
    /* A key or a filter that is part of an OR, of this one perhaps */
    if( pOther->bImplied ) return 0;
    /* Terms of ON and of sub-selects leave no rows out themselves */
    if( pOther->iOuter>=0 ) continue;
    if( iOther<iLevel || (iOther==iLevel && eOther<eClass) ) continue;
    if( iOther>iLevel || eOther>eClass || j>k ) return 0;
  }
  return 1;
}

/*
** Term k may fail, and is a key by which an input is looked up.  Has SQLite
** tested all terms by then that have left rows out before we evaluate the other
** side of it?  What only leaves rows of the input out does not matter.
*/
static int hpErrorsIsKey(const HpJoin *p, int k){
  const HpConjunct *pTerm = &p->aTerm[k];
  int iLevel = hpErrorsLevel(p, pTerm->m, -1);
  int i, j;
  int n = 0;             /* Keys of the input */
  assert( pTerm->bFails && pTerm->bKey );
  for(i=0; i<p->nIn; i++){
    const HpInput *pInput = &p->aIn[i];
    for(n=0; n<pInput->nKey && pInput->aKey[n].iTerm!=k; n++){}
    if( n==pInput->nKey ) continue;
    if( pInput->eJoin!=HP_JOIN_INNER && pInput->eJoin!=HP_JOIN_SEMI ) return 0;
    if( pInput->bSpan || pInput->pItem->hp.iStock<iLevel
     || !hpSafe(p->pParse, pInput->aKey[n].pOwn, 0, 0)
    ){
      return 0;
    }
    break;
  }
  if( i==p->nIn ) return 0;
  for(j=0; j<p->nTerm; j++){
    const HpConjunct *pOther = &p->aTerm[j];
    if( pOther->bImplied ) return 0;
    if( pOther->iOuter>=0 || hpErrorsLevel(p, pOther->m, -1)<iLevel ) continue;
    for(n=0; n<p->aIn[i].nKey && p->aIn[i].aKey[n].iTerm!=j; n++){}
    if( n==p->aIn[i].nKey && pOther->m!=MASKBIT(i) ) return 0;
  }
  return 1;
}

/* Can the aggregates of input i not fail? */
static int hpErrorsAggs(const HpJoin *p, int i){
  const AggInfo *pAggInfo = p->aIn[i].pAggInfo;
  const int eSafe = HP_SAFE_OPEN|HP_SAFE_KNOWN;
  int k;
  assert( p->aIn[i].pSub!=0 );
  for(k=0; pAggInfo && k<pAggInfo->nFunc; k++){
    const Expr *pFunc = pAggInfo->aFunc[k].pFExpr;
    if( !hpSafeAggregate(p->pParse->db, pFunc)
     || !hpSafe(p->pParse, 0, pFunc->x.pList, eSafe)
    ){
      return 0;
    }
  }
  return 1;
}

/*
** Sub-select i has aggregates that may fail.  The rows around it that want a
** group are those that all look-ups have left.  True if SQLite evaluates it for
** no others.
*/
static int hpErrorsWanted(const HpJoin *p, int i){
  Bitmask m = 0;
  int iLevel, k;
  assert( hpInputIsSub(&p->aIn[i]) && p->aIn[i].nKey>0 );
  for(k=0; k<p->nTerm && m==0; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    if( pTerm->iOuter<0 && (pTerm->m & MASKBIT(i))!=0 ) m = pTerm->m;
  }
  for(k=0; k<p->aIn[i].nKey; k++) m |= p->aIn[i].aKey[k].m;
  iLevel = hpErrorsLevel(p, m, -1);
  for(k=0; k<p->nIn; k++){
    const HpInput *pInput = &p->aIn[k];
    if( pInput->pSub || pInput->eJoin==HP_JOIN_NONE ) continue;
    if( pInput->pItem->hp.iStock>iLevel ) return 0;
  }
  return 1;
}

/*
** Is term k about input i only, so that it is tested for rows of that?
*/
static int hpErrorsIsOwn(const HpJoin *p, int k, int i){
  const HpConjunct *pTerm = &p->aTerm[k];
  const HpInput *pInput = &p->aIn[i];
  int bInner = pInput->eJoin==HP_JOIN_LEFT || hpInputIsSub(pInput);
  assert( i>=0 && i<p->nIn && k>=0 && k<p->nTerm );
  return pTerm->m==MASKBIT(i) && pTerm->bKey==0 && pTerm->bImplied==0
      && pTerm->iOuter==(bInner ? i : -1);
}

/*
** The inputs of p have their keys.  True if no error is lost that SQLite
** raises: see above.  Notes which terms may fail, and of which inputs all rows
** have to be read.
*/
static int hpErrorsKept(HpJoin *p){
  int i, j, k;
  /* Inputs have been attached and paired, pipes have not been numbered */
  assert( p->bPart==0 && p->nPipe==0 && (p->mDone & MASKBIT(p->iRoot))!=0 );
  for(k=0; k<p->nTerm; k++){
    HpConjunct *pTerm = &p->aTerm[k];
    if( hpSafe(p->pParse, pTerm->pExpr, 0, HP_SAFE_OPEN|HP_SAFE_KNOWN) ){
      continue;
    }
    pTerm->bFails = 1;
    if( pTerm->bImplied ) continue;        /* The OR that it is of may fail,
                                           ** too */
    for(i=0; i<p->nIn && !hpErrorsIsOwn(p, k, i); i++){}
    if( i==p->nIn ){
      if( pTerm->bKey ? !hpErrorsIsKey(p, k) : !hpErrorsIsLast(p, k) ) return 0;
      continue;
    }
    p->aIn[i].bAll = 1;
    for(j=0; j<k && !hpErrorsIsPlain(p, i); j++){
      if( hpErrorsIsOwn(p, j, i) ) return 0;
    }
  }
  for(i=0; i<p->nIn; i++){
    if( p->aIn[i].pSub && !hpErrorsAggs(p, i) && !hpErrorsWanted(p, i) ){
      p->aIn[i].bAll = 1;
    }
    if( p->aIn[i].iTwin>=0 && p->aIn[i].bAll ){
      p->aIn[p->aIn[i].iTwin].bAll = 1;
    }
  }
  return 1;
}
#endif /* SQLITE_OMIT_HP */
