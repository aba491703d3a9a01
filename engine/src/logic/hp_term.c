/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_term: the conjuncts of a WHERE clause (prepare time).
**
**    hpTermInput()    the input of a join that a cursor belongs to
**    hpTermMask()     which inputs an expression names
**    hpTermAdd()      the terms that AND connects become terms of the join
**    hpTermFactor()   what all sides of an OR have is a term, too
**    hpTermCompare()  is a term a comparison of a column with other inputs?
**    hpTermEdge()     is it an equality of that kind?
**    hpTermSame()     do two expressions name the same column?
**
** A term of WHERE belongs to the pipe where all its tables meet.  OR has parts
** that belong elsewhere: what all its sides contain may be a key or a filter,
** and if each side says something about one table, rows of it that no side
** wants are left out at once (hp_lowerjoin.c).  OR itself stays.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What hpTermMask() looks for */
typedef struct HpTermWalk HpTermWalk;

struct HpTermWalk {
  const HpJoin *pJoin;
  Bitmask m;             /* Terms of FROM that are named */
};

/* The term of FROM that has cursor iCur, or -1 */
static int hpTermInput(const HpJoin *p, int iCur){
  int i;
  for(i=0; i<p->nIn; i++){
    if( p->aIn[i].pItem->iCursor==iCur ) return i;
  }
  return -1;
}

static int hpTermWalkExpr(Walker *pWalker, Expr *pExpr){
  HpTermWalk *pWalk = (HpTermWalk*)pWalker->u.pNC;
  int i;
  switch( pExpr->op ){
    case TK_COLUMN: case TK_AGG_COLUMN:
      if( ExprHasProperty(pExpr, EP_FixedCol)
       && sqlite3ExprIsConstant(pWalker->pParse, pExpr)
      ){
        return WRC_Prune;
      }
      i = hpTermInput(pWalk->pJoin, pExpr->iTable);
      if( i<0 ) break;
      pWalk->m |= MASKBIT(i);
      return WRC_Continue;
    case TK_SELECT: case TK_EXISTS:
      i = hpSubselectFind(pWalk->pJoin, pExpr);
      if( i>=0 ) pWalk->m |= MASKBIT(i);
      if( i>=0 || hpSubselectIsConst(pWalk->pJoin->pParse, pExpr) ){
        return WRC_Prune;
      }
      pWalker->eCode = 1;
      return WRC_Abort;
    case TK_IN:
      if( !ExprUseXSelect(pExpr) ) return WRC_Continue;
      if( !hpSubselectIsSet(pWalk->pJoin->pParse, pExpr) ) break;
      return sqlite3WalkExpr(pWalker, pExpr->pLeft)==WRC_Abort ? WRC_Abort
          : WRC_Prune;
    case TK_IF_NULL_ROW: case TK_REGISTER:
      break;
    default:
      return WRC_Continue;
  }
  pWalker->eCode = 1;
  return WRC_Abort;
}

/*
** Set *pm to the terms of FROM that pExpr names.  Returns false if there are
** others.
*/
static int hpTermMask(const HpJoin *p, Expr *pExpr, Bitmask *pm){
  Walker w;
  HpTermWalk walk;
  memset(&w, 0, sizeof(w));
  walk.pJoin = p;
  walk.m = 0;
  w.pParse = p->pParse;
  w.xExprCallback = hpTermWalkExpr;
  w.xSelectCallback = sqlite3SelectWalkFail;
  w.u.pNC = (NameContext*)&walk;

  if( sqlite3WalkExpr(&w, pExpr)==WRC_Abort || w.eCode ) return 0;
  assert( (walk.m>>p->nIn)==0 );
  *pm = walk.m;
  return 1;
}

/*
** Add the terms of pExpr that AND connects.  Returns false if one is not ours,
** unless that may be left out (HpJoin.bPart).
*/
static int hpTermAdd(HpJoin *p, Expr *pExpr, u8 bImplied){
  HpConjunct *pTerm;
  if( pExpr==0 || (p->bPart && ExprHasProperty(pExpr, EP_OuterON)) ) return 1;
  if( pExpr->op==TK_AND ){
    return hpTermAdd(p, pExpr->pLeft, bImplied)
        && hpTermAdd(p, pExpr->pRight, bImplied);
  }
  if( p->nTerm>=HP_MX_TERM ) return p->bPart;
  pTerm = &p->aTerm[p->nTerm];
  memset(pTerm, 0, sizeof(*pTerm));
  pTerm->pExpr = pExpr;
  pTerm->iOuter = -1;
  pTerm->bImplied = bImplied;
  if( !hpTermMask(p, pExpr, &pTerm->m) ) return p->bPart;
  if( ExprHasProperty(pExpr, EP_OuterON) ){
    pTerm->iOuter = hpTermInput(p, pExpr->w.iJoin);
    if( pTerm->iOuter<0 ) return 0;
  }
  p->nTerm++;
  return 1;
}

/* Is pExpr one of the terms of pList that AND connects? */
static int hpTermHas(const Expr *pList, const Expr *pExpr){
  if( pList->op==TK_AND ){
    return hpTermHas(pList->pLeft, pExpr) || hpTermHas(pList->pRight, pExpr);
  }
  return sqlite3ExprCompare(0, pList, pExpr, -1)==0;
}

/* Do all sides of pOr contain pExpr? */
static int hpTermAllHave(const Expr *pOr, const Expr *pExpr){
  if( pOr->op==TK_OR ){
    return hpTermAllHave(pOr->pLeft, pExpr)
        && hpTermAllHave(pOr->pRight, pExpr);
  }
  return hpTermHas(pOr, pExpr);
}

/*
** Add the terms of pSide, which AND connects, that all sides of pOr have.
*/
static int hpTermCommon(HpJoin *p, const Expr *pOr, Expr *pSide){
  if( pSide->op==TK_AND ){
    return hpTermCommon(p, pOr, pSide->pLeft)
        && hpTermCommon(p, pOr, pSide->pRight);
  }
  return !hpTermAllHave(pOr, pSide) || hpTermAdd(p, pSide, 1);
}

/*
** Add what all sides of an OR of WHERE have: it is implied.  Returns false if a
** term is not ours.
*/
static int hpTermFactor(HpJoin *p){
  int nTerm = p->nTerm;
  int i;
  assert( nTerm<=HP_MX_TERM );
  for(i=0; i<nTerm; i++){
    Expr *pOr = p->aTerm[i].pExpr;
    Expr *pSide = pOr;
    if( pOr->op!=TK_OR || p->aTerm[i].iOuter>=0 ) continue;
    while( pSide->op==TK_OR ) pSide = pSide->pLeft;
    if( !hpTermCommon(p, pOr, pSide) ) return 0;
  }
  return 1;
}

/*
** Is term pTerm a comparison of column iColumn of input i (any column if that
** is below -1) with something that input i is not in?  Then fill in *pEdge.
*/
static int hpTermCompare(
  const HpJoin *p,
  const HpConjunct *pTerm,
  int i,
  int iColumn,
  HpEdge *pEdge
){
  Expr *pExpr = pTerm->pExpr;
  int k;
  if( pExpr->op<TK_NE || pExpr->op>TK_GE || (pTerm->m & MASKBIT(i))==0 ){
    return 0;
  }
  if( sqlite3ExprIsVector(pExpr->pLeft) ) return 0;
  for(k=0; k<2; k++){
    Expr *pOwn = k ? pExpr->pRight : pExpr->pLeft;
    Expr *pOther = k ? pExpr->pLeft : pExpr->pRight;
    Expr *pCol = sqlite3ExprSkipCollate(pOwn);
    Bitmask m;
    if( pCol->op!=TK_COLUMN || ExprHasProperty(pCol, EP_FixedCol)
     || pCol->iTable!=p->aIn[i].pItem->iCursor
    ){
      continue;
    }
    if( iColumn>=-1 && pCol->iColumn!=iColumn ) continue;
    if( !hpTermMask(p, pOther, &m) || (m & MASKBIT(i))!=0 ) continue;
    assert( (m & ~pTerm->m)==0 );    /* A part names what the whole does */
    pEdge->pTerm = pExpr;
    pEdge->pOwn = pOwn;
    pEdge->pOther = pOther;
    pEdge->m = m;
    pEdge->op = pExpr->op;
    if( k && pEdge->op>=TK_GT ) pEdge->op = ((pEdge->op-TK_GT)^2) + TK_GT;
    pEdge->aff = binaryCompareP5(pExpr->pLeft, pExpr->pRight, 0)
                     & SQLITE_AFF_MASK;
    pEdge->pColl = sqlite3ExprCompareCollSeq(p->pParse, pExpr);
    if( pEdge->pColl==0 ) pEdge->pColl = p->pParse->db->pDfltColl;
    return 1;
  }
  return 0;
}

/* Is it an equality? */
static int hpTermEdge(
  const HpJoin *p,
  const HpConjunct *pTerm,
  int i,
  int iColumn,
  HpEdge *pEdge
){
  return pTerm->pExpr->op==TK_EQ && hpTermCompare(p, pTerm, i, iColumn, pEdge);
}

/* Do both name the same column? */
static int hpTermSame(const Expr *pA, const Expr *pB){
  return (pA->op==TK_COLUMN || pA->op==TK_AGG_COLUMN)
      && (pB->op==TK_COLUMN || pB->op==TK_AGG_COLUMN)
      && pA->iTable==pB->iTable && pA->iColumn==pB->iColumn;
}
#endif /* SQLITE_OMIT_HP */
