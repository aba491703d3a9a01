/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_compileside: operations that only some rows need (prepare time).
**
**    hpCompileSideIf()      operations follow that fewer rows need, ...
**    hpCompileSideEnd()     ... up to here
**    hpCompileSideJoin()    put them together with those before: AND, OR
**    hpCompileSideChoice()  likewise: CASE, COALESCE
**    hpCompileSideIsSafe()  may an expression be computed for fewer rows than
**                           by SQLite?
**
** SQLite jumps over what a row does not need: the right side of an OR whose
** left side is true, the arms of a CASE that are not taken.  A vector program
** has no jumps.  It has sides (HpSide): operations that run with fewer rows
** selected, see hp_side.c.  What decides about a row is compiled first.
** Between hpCompileSideIf() and hpCompileSideEnd() come the operations of the
** side, which may contain other sides, and then the operation that puts both
** together:
**
**    a = ...                       for all rows
**    hpCompileSideIf(a)            select those where a has not decided
**    b = ...                       for these
**    hpCompileSideEnd()
**    hpCompileSideJoin(a, b)       for all rows
**
** There are two reasons for a side.  It is cheaper: hp_cost.c says so.  Or it
** has to be there, since what is in it may fail for rows that SQLite does not
** compute it for.  The opposite is worse.  An expression that SQLite computes
** for all rows and that may fail must not be in a side, as its error would be
** lost: hpCompileSideIsSafe().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Operations follow that stock does not run for all rows: only where eNeed
** (HP_NEED_xxx) is so of vectors aVec[0..nVec-1].  Put them into a side
** (hp_side.c) if bSide, or if they may fail (bMust).  Sets *piSide for
** hpCompileSideEnd().
**
** Never bMust where stock does run the code: an error would go unnoticed.
*/
static int hpCompileSideIf(
  HpCompile *pC,
  int bSide,
  int bMust,
  u8 eNeed,
  const u16 *aVec,
  int nVec,
  int *piSide
){
  /* What decides is known in all rows that are here */
  assert( nVec>0 && hpProgSees(&pC->pPipe->prog, aVec[nVec-1]) );
  *piSide = 0;
  if( bMust==0 && bSide==0 ) return SQLITE_OK;
  if( hpProgSide(&pC->pPipe->prog, eNeed, aVec, nVec, piSide) && bMust ){
    hpCompileNo(pC, HP_NO_LIMIT);
    return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

/*
** End that side, in which vector a has been computed.  Returns whether that is
** there for rows of the side only.  If the side is empty, it may still be of an
** earlier side that had the same rows.
*/
static int hpCompileSideEnd(HpCompile *pC, int iSide, int a){
  HpProg *pProg = &pC->pPipe->prog;
  if( iSide==0 ) return 0;
  return hpProgSideEnd(pProg, iSide) || (a>=0 && !hpProgSees(pProg, a));
}

/* The vector of a AND b, or a OR b: eOp says which.  bSide: b is a side */
static int hpCompileSideJoin(HpCompile *pC, u8 eOp, int a, int b, int bSide){
  HpProg *pProg = &pC->pPipe->prog;
  int i;
  assert( eOp==HP_OP_AND || eOp==HP_OP_OR );
  assert( bSide || b<0 || hpProgSees(pProg, b) );
  a = hpCompileOp(pC, eOp, 0, a, b);
  for(i=pProg->nOp-1; bSide && a>=0 && i>=0; i--){
    if( pProg->aOp[i].iOut==a ){
      pProg->aOp[i].bSide = 1;
      break;
    }
  }
  assert( bSide==0 || a<0 || i>=0 );
  return a;
}

/* The vector of CASE or COALESCE, eOp.  bSide: some arguments are sides */
static int hpCompileSideChoice(
  HpCompile *pC,
  u8 eOp,
  const u16 *aVec,
  int n,
  int bSide
){
  HpOp x;
  assert( n>=2 && (eOp==HP_OP_CASE || eOp==HP_OP_COALESCE) );
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  x.bSide = (u8)(bSide!=0);
  return hpCompileArgs(pC, &x, aVec, n);
}

/* May pExpr be computed for fewer rows than stock computes it for? */
static int hpCompileSideIsSafe(Parse *pParse, Expr *pExpr){
  return ExprHasProperty(pExpr, EP_Subquery)==0
      && hpSafe(pParse, pExpr, 0, HP_SAFE_KNOWN|HP_SAFE_OPEN);
}
#endif /* SQLITE_OMIT_HP */
