/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_lowerjoin: the pipes of a join (prepare time).
**
**    hpLowerJoinPipes()     compile all filters and look-ups of a join
**    hpLowerJoinTerms()     how many terms of GROUP BY does a group need?
**    hpLowerJoinAgg()       an aggregate that is looked up
**    hpLowerJoinIsGiven()   is an expression the same in all rows of a group?
**    hpLowerJoinLate()      a column that is read for groups that are delivered
**
** Each input of the join (hp_lop.c) has a pipe.  Its program is
**
**    1. a look-up of the keys that its home wants, if that is known by then
**    2. filters on the table's own columns, the cheapest first as long as they
**       cannot fail (hp_safe.c), and the keys of what it looks up by them
**       alone: so far rows may be put aside (hp_stash.c)
**    3. look-ups, where a row without a partner is left out: of relations that
**       other equalities lead to (HpJoin.aReduce), then of the inputs whose
**       home it is, those first that leave rows out themselves.  Then the keys
**       of sub-selects: rows may be put aside here, too
**    4. terms of WHERE that name several tables and meet here
**    5. what others want of the table: the columns of its relation
**
** Columns of another table are asked for by hpCompileExpr() (HpCompile.xOther),
** or cheap expressions of them.  They become columns of that table's relation,
** and operations that gather them by the number of the row.  A relation further
** away is reached through those between, each of which keeps the numbers of the
** rows that belong to its own.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* What hpJoinEnter() changes */
typedef struct HpJoinPlace HpJoinPlace;

struct HpJoinPlace {
  int iIn;
  int nSelf;
  u8 bJump, bNoSub;
};

/* Compile for the pipe of input i */
static void hpJoinSwitch(HpCompile *pC, int i){
  HpJoin *p = pC->pJoin;
  HpInput *pInput = &p->aIn[i];
  const HpInput *pScan = pInput->iTwin>=0 ? &p->aIn[pInput->iTwin] : pInput;
  assert( pInput->eJoin!=HP_JOIN_NONE && pScan->iTwin<0 );
  assert( pScan->iScan==pInput->iScan );
  p->iNow = i;
  hpCompileFor(pC, &pC->pPlan->aPipe[pInput->iScan], pInput->pItem->pSTab,
               pScan->pIdx, pInput->pItem->iCursor);
}

/* The same, from within an expression: hpJoinLeave() goes on with that */
static void hpJoinEnter(HpCompile *pC, int i, HpJoinPlace *pPlace){
  pPlace->iIn = pC->pJoin->iNow;
  pPlace->nSelf = pC->nSelf;
  pPlace->bJump = pC->bJump;
  pPlace->bNoSub = pC->bNoSub;
  assert( pC->pPlan->aPipe[pC->pJoin->aIn[i].iScan].prog.iSide==0 );
  pC->nSelf = 0;
  pC->bJump = pC->bNoSub = 0;
  hpJoinSwitch(pC, i);
}

static void hpJoinLeave(HpCompile *pC, const HpJoinPlace *pPlace){
  hpJoinSwitch(pC, pPlace->iIn);
  pC->nSelf = pPlace->nSelf;
  pC->bJump = pPlace->bJump;
  pC->bNoSub = pPlace->bNoSub;
}

/*
** The relation of input i keeps vector iVec of its pipe.  Returns the column.
*/
static int hpJoinKeep(HpCompile *pC, int i, int iVec){
  HpRelPlan *pRel = pC->pPlan->aPipe[pC->pJoin->aIn[i].iPipe].pRel;
  int k;
  if( iVec<0 ) return -1;
  for(k=0; k<pRel->nCol && pRel->aVec[k]!=iVec; k++){}
  /* A vector of what the pipe of the relation has, the root's pipe has none */
  assert( i!=pC->pJoin->iRoot );
  assert( iVec<pC->pPlan->aPipe[pC->pJoin->aIn[i].iPipe].prog.nVec );
  if( k==pRel->nCol ){
    if( k>=HP_MX_COL
     || hpArenaGrow(&pC->pPlan->mem, &pRel->aVec, &pRel->nColAlloc, k,
                    sizeof(u16))
    ){
      return hpCompileNo(pC, HP_NO_LIMIT);
    }
    pRel->aVec[pRel->nCol++] = (u16)iVec;
  }
  return k;
}

/* Add operation eOp of relation iRel with column b and argument iArg */
static int hpJoinOp(HpCompile *pC, u8 eOp, int iRel, int b, u8 op, int iArg){
  u16 aArg[1];
  HpOp x;
  assert( eOp==HP_OP_ROW || eOp==HP_OP_GATHER );
  assert( iRel>=0 && iRel<pC->pJoin->nPipe-1 );
  if( iArg<0 || b<0 ) return -1;
  aArg[0] = (u16)iArg;
  memset(&x, 0, sizeof(x));
  x.eOp = eOp;
  x.op = op;
  x.a = (u16)iRel;
  x.b = (u16)b;
  return hpCompileArgs(pC, &x, aArg, 1);
}

/*
** Compile one side of key k of input i, pSide.
*/
static int hpJoinSide(
  HpCompile *pC,
  const HpEdge *pEdge,
  Expr *pSide,
  HpLookup *pKey,
  int k
){
  int iVec = hpCompileExpr(pC, pSide);
  char aff = sqlite3ExprAffinity(pSide);
  if( iVec<0 ) return SQLITE_ERROR;
  if( pEdge->aff>=SQLITE_AFF_NUMERIC ){
    if( aff<SQLITE_AFF_NUMERIC ){
      iVec = hpCompileAff(pC, HP_OP_AFFINITY, SQLITE_AFF_NUMERIC, iVec);
    }
  }else if( pEdge->aff==SQLITE_AFF_TEXT ){
    if( aff==SQLITE_AFF_TEXT ){
      pKey->aNever[k] = HP_NUM;
    }else{
      iVec = hpCompileAff(pC, HP_OP_AFFINITY, SQLITE_AFF_TEXT, iVec);
    }
  }
  if( iVec<0 ) return SQLITE_ERROR;
  assert( k>=0 && k<pKey->keys.n && pEdge->op==TK_EQ );
  pKey->keys.aVec[k] = (u16)iVec;
  pKey->keys.aSort[k] = 0;
  if( !hpCompileCollOk(pEdge->pColl, &pKey->keys.aColl[k]) ){
    hpCompileNo(pC, HP_NO_COLLATION);
    return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

/* Memory for a key of n columns */
static int hpJoinKey(HpCompile *pC, HpLookup *pKey, int n){
  assert( n>0 && n<=HP_MX_EQ );
  pKey->keys.n = n;
  pKey->aNever = hpCompileAlloc(pC->pPlan, n);
  return pKey->aNever==0 || hpCompileKeys(pC->pPlan, &pKey->keys, n);
}

/* Compile n keys of an input: of its own side, or of the other one */
static int hpJoinSides(
  HpCompile *pC,
  HpLookup *pKey,
  const HpEdge *aKey,
  int n,
  int bOwn
){
  int k;
  if( hpJoinKey(pC, pKey, n) ){
    hpCompileNo(pC, HP_NO_LIMIT);
    return SQLITE_NOMEM;
  }
  for(k=0; k<n; k++){
    Expr *pSide = bOwn ? aKey[k].pOwn : aKey[k].pOther;
    if( hpJoinSide(pC, &aKey[k], pSide, pKey, k) ) return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

/* Is that column of pInput its rowid? */
static int hpJoinIsRowid(const HpInput *pInput, const HpEdge *pEdge){
  const Table *pTab = pInput->pItem->pSTab;
  int iColumn = sqlite3ExprSkipCollate(pEdge->pOwn)->iColumn;
  return HasRowid(pTab) && (iColumn<0 || iColumn==pTab->iPKey);
}

/* Is pInput found by its rowid, and by nothing else? */
static int hpJoinByRowid(const HpInput *pInput){
  return pInput->nKey==1 && hpJoinIsRowid(pInput, &pInput->aKey[0]);
}

/* Would stock need two searches to find a row of pInput by pEdge? */
static int hpJoinIsIndexed(const HpInput *pInput, const HpEdge *pEdge){
  return HasRowid(pInput->pItem->pSTab) && !hpJoinIsRowid(pInput, pEdge);
}

/*
** Look keys aKey[] of input i up in relation iRel, in the pipe of now: by the
** input's own side of them, or by the other one.  Returns the vector of
** HP_OP_LOOKUP.
*/
static int hpJoinLookup(HpCompile *pC, int i, int iRel, const HpEdge *aKey,
                        int bOwn){
  const HpInput *pInput = &pC->pJoin->aIn[i];
  HpLookup *pKey = hpCompileAlloc(pC->pPlan, sizeof(*pKey));
  HpOp x;
  assert( pInput->nKey>0 && iRel>=0 && iRel<2*(pC->pJoin->nPipe-1) );
  assert( pInput->eJoin!=HP_JOIN_NONE && pInput->iTwin<0 );
  if( pKey==0 ) return hpCompileNo(pC, HP_NO_LIMIT);
  if( hpJoinSides(pC, pKey, aKey, pInput->nKey, bOwn) ) return -1;
  if( !bOwn ) pC->pPipe->bIndexed |= (u8)hpJoinIsIndexed(pInput, aKey);
  memset(&x, 0, sizeof(x));
  x.eOp = HP_OP_LOOKUP;
  x.a = (u16)iRel;
  x.pInfo = pKey;
  return hpCompileArgs(pC, &x, pKey->keys.aVec, pKey->keys.n);
}

/*
** In the pipe of its home: input i is a LEFT JOIN whose ON clause has other
** terms than its key.  Where one of them is not true there is no partner.
*/
static int hpJoinOn(HpCompile *pC, int i){
  HpJoin *p = pC->pJoin;
  HpInput *pInput = &p->aIn[i];
  int iVec = pInput->iLookup;
  int k;
  assert( pInput->iHome==p->iNow );
  for(k=0; k<p->nTerm; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    u16 aArg[3];
    int a, b;
    if( pTerm->iOuter!=i || pTerm->bKey || pTerm->m==MASKBIT(i) ) continue;
    if( pTerm->m==0 && hpInputIsMany(pInput) ) continue;
    a = hpCompileExpr(pC, pTerm->pExpr);
    b = a<0 ? -1 : hpCompileLiteral(pC, TK_INTEGER, "0");
    if( b<0 ) return -1;
    aArg[0] = (u16)a;
    aArg[1] = (u16)iVec;
    aArg[2] = (u16)b;
    iVec = hpCompileList(pC, HP_OP_CASE, aArg, 3);
    if( iVec<0 ) return -1;
  }
  return iVec;
}

/*
** The vector of the number of input i's row, in the pipe of now.
*/
static int hpJoinRow(HpCompile *pC, int i){
  HpJoin *p = pC->pJoin;
  HpInput *pInput = &p->aIn[i];
  int iHome = pInput->iHome;
  HpJoinPlace place;
  int iVec, k;
  if( pInput->iTwin>=0 ) return hpJoinRow(pC, pInput->iTwin);
  if( iHome==p->iNow ){
    /* In an expression it may stand in a side that does not reach to here */
    const HpProg *pProg = &pC->pPipe->prog;
    if( pInput->iRow>=0 && hpProgSees(pProg, pInput->iRow) ){
      return pInput->iRow;
    }
    if( pInput->iLookup<0 || !hpProgSees(pProg, pInput->iLookup) ){
      pInput->iLookup = hpJoinLookup(pC, i, pInput->iPipe, pInput->aKey, 0);
    }
    if( pInput->iLookup<0 ) return -1;
    pInput->iRow = hpJoinOp(pC, HP_OP_ROW, pInput->iPipe, 0, 0,
                            pInput->iLookup);
    if( (pInput->eJoin==HP_JOIN_LEFT || hpInputIsMany(pInput))
     && pInput->iRow>=0
    ){
      iVec = hpJoinOn(pC, i);
      pInput->iRow = hpJoinOp(pC, HP_OP_ROW, pInput->iPipe, 0, 0, iVec);
    }
    return pInput->iRow;
  }
  for(k=iHome; k!=p->iNow; k=p->aIn[k].iHome){
    if( k==p->iRoot ) return hpCompileNo(pC, HP_NO_JOIN);
  }
  if( pInput->iKept<0 ){
    hpJoinEnter(pC, iHome, &place);
    pInput->iKept = hpJoinKeep(pC, iHome, hpJoinRow(pC, i));
    hpJoinLeave(pC, &place);
  }
  assert( pInput->iKept
          <pC->pPlan->aPipe[p->aIn[iHome].iPipe].pRel->nCol );
  /* Its row 0 would give the least number that is kept, and not 0 */
  assert( p->aIn[iHome].eJoin!=HP_JOIN_LEFT
       && !hpInputIsMany(&p->aIn[iHome]) );
  iVec = hpJoinRow(pC, iHome);
  return hpJoinOp(pC, HP_OP_GATHER, p->aIn[iHome].iPipe, pInput->iKept, 0,
                  iVec);
}

/*
** pExpr names columns of input i only: let its relation keep it, as column
** *pk.  Returns the vector of the row's number, in the pipe of now, or -1.
*/
static int hpJoinReach(HpCompile *pC, Expr *pExpr, int i, int bJump, int *pk){
  HpJoinPlace place;
  int iRow = hpJoinRow(pC, i);
  if( iRow<0 ) return -1;
  assert( i!=pC->pJoin->iNow );
  hpJoinEnter(pC, i, &place);
  pC->bJump = (u8)bJump;
  *pk = hpJoinKeep(pC, i, hpCompileExpr(pC, pExpr));
  hpJoinLeave(pC, &place);
  return *pk<0 ? -1 : iRow;
}

/*
** The vector of pExpr, which names columns of input i only, in the pipe of now.
*/
static int hpJoinFetch(HpCompile *pC, Expr *pExpr, int i, int bJump){
  const HpInput *pInput = &pC->pJoin->aIn[i];
  int k = -1;
  int iRow = hpJoinReach(pC, pExpr, i, bJump, &k);
  return hpJoinOp(pC, HP_OP_GATHER, pInput->iPipe, k,
                  pInput->eJoin==HP_JOIN_LEFT,
                  iRow);
}

/*
** The vector of whether input i, an EXISTS with a span, has a partner.
*/
static int hpJoinSpan(HpCompile *pC, int i){
  const HpInput *pInput = &pC->pJoin->aIn[i];
  int iRow = hpJoinRow(pC, i);
  int iMax = hpJoinOp(pC, HP_OP_GATHER, pInput->iPipe, pInput->iAgg+1, 1, iRow);
  int iMin = hpJoinOp(pC, HP_OP_GATHER, pInput->iPipe, pInput->iAgg, 1, iRow);
  assert( pInput->bSpan );
  return hpLowerSubSpan(pC, pInput, iMin, iMax);
}

/*
** HpCompile.xSub: the vector of pExpr, a sub-select or an IN of one, or an
** aggregate function of a sub-select.
*/
static int hpJoinSub(HpCompile *pC, Expr *pExpr){
  const HpJoin *p = pC->pJoin;
  const HpInput *pInput;
  int i, iRow;
  if( pExpr->op==TK_AGG_FUNCTION ){
    for(i=0; i<p->nIn && p->aIn[i].pAggInfo!=pExpr->pAggInfo; i++){}
    if( i==p->nIn || pExpr->pAggInfo==0 ){
      return hpCompileNo(pC, HP_NO_SUBQUERY);
    }
    pInput = &p->aIn[i];
    iRow = hpJoinRow(pC, i);
    assert( pExpr->iAgg>=0 && pExpr->iAgg<pInput->pAggInfo->nFunc );
    return hpLowerSubMissing(pC, &pInput->pAggInfo->aFunc[pExpr->iAgg],
               hpJoinOp(pC, HP_OP_GATHER, pInput->iPipe,
                        pInput->iAgg+pExpr->iAgg, 1, iRow), 0);
  }
  i = hpSubselectFind(p, pExpr);
  if( i<0 ) return hpScalarSub(pC, pExpr);
  if( p->aIn[i].eJoin==HP_JOIN_SINGLE ){
    return hpCompileExpr(pC, pExpr->x.pSelect->pEList->a[0].pExpr);
  }
  iRow = hpJoinRow(pC, i);
  if( p->aIn[i].bSpan ) return hpJoinSpan(pC, i);
  if( p->aIn[i].iHome==p->iNow ) iRow = p->aIn[i].iLookup;
  return hpCompileOp(pC, HP_OP_COMPARE, TK_NE, iRow,
                     hpCompileLiteral(pC, TK_INTEGER, "0"));
}

/* Walker: functions but LIKE, and what makes texts, are not for
** hpJoinOther() */
static int hpJoinWalkExpr(Walker *pWalker, Expr *pExpr){
  if( pExpr->op==TK_CONCAT || pExpr->op==TK_CAST
   || (pExpr->op==TK_FUNCTION && !ExprHasProperty(pExpr, EP_InfixFunc))
  ){
    pWalker->eCode = 1;
    return WRC_Abort;
  }
  return WRC_Continue;
}

/*
** Is pExpr, which is no column, better computed for the rows of a relation than
** for those that look it up?  If it is cheap: a number takes less room than the
** texts that it depends on, and is computed once for each of them.
*/
static int hpJoinIsCheap(Expr *pExpr){
  Walker w;
  switch( pExpr->op ){
    case TK_EQ: case TK_NE: case TK_LT: case TK_LE: case TK_GT: case TK_GE:
    case TK_IS: case TK_ISNOT: case TK_ISNULL: case TK_NOTNULL: case TK_BETWEEN:
    case TK_IN: case TK_AND: case TK_OR: case TK_NOT: case TK_CASE:
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_FUNCTION:
      memset(&w, 0, sizeof(w));
      w.xExprCallback = hpJoinWalkExpr;
      w.xSelectCallback = sqlite3SelectWalkFail;
      return sqlite3WalkExpr(&w, pExpr)!=WRC_Abort && w.eCode==0;
  }
  return 0;
}

/* The input that has column pExpr in a relation, or -1 */
static int hpJoinOwner(const HpJoin *p, const Expr *pExpr){
  int i = hpTermInput(p, pExpr->iTable);
  if( i<0 || i==p->iRoot || pExpr->y.pTab!=p->aIn[i].pItem->pSTab
   || (p->aIn[i].eJoin!=HP_JOIN_INNER && p->aIn[i].eJoin!=HP_JOIN_LEFT)
  ){
    return -1;
  }
  return i;
}

/*
** HpCompile.xOther: the vector of pExpr if it is about another table than that
** of the pipe of now, else -2.
*/
static int hpJoinOther(HpCompile *pC, Expr *pExpr, int bJump){
  HpJoin *p = pC->pJoin;
  Bitmask m;
  int i;
  if( pExpr->op==TK_COLUMN || pExpr->op==TK_AGG_COLUMN ){
    if( ExprHasProperty(pExpr, EP_FixedCol)
     && sqlite3ExprIsConstant(pC->pParse, pExpr)
    ){
      return -2;
    }
    if( pExpr->iTable==pC->iCur ) return -2;
    i = hpJoinOwner(p, pExpr);
    if( i<0 ) return hpCompileNo(pC, HP_NO_JOIN);
    return hpJoinFetch(pC, pExpr, i, 0);
  }
  if( !hpJoinIsCheap(pExpr) || !hpTermMask(p, pExpr, &m) || m==0 ) return -2;
  for(i=0; (m & MASKBIT(i))==0; i++){}
  if( m!=MASKBIT(i) || i==p->iNow || p->aIn[i].eJoin!=HP_JOIN_INNER ) return -2;
  return hpJoinFetch(pC, pExpr, i, bJump);
}

/*
** pExpr is shown of a row of each group.  If it is a column of a table that is
** looked up, return the vector of that row's number and set in *pBare which
** column of the relation it is: it is read for what is delivered.  Otherwise
** return -2, or -1 if it cannot be done.
*/
static int hpLowerJoinLate(HpCompile *pC, Expr *pExpr, struct HpBare *pBare){
  HpJoin *p = pC->pJoin;
  int k = -1;
  int i, iRow;
  if( (pExpr->op!=TK_COLUMN && pExpr->op!=TK_AGG_COLUMN)
   || ExprHasProperty(pExpr, EP_FixedCol) || pExpr->iTable==pC->iCur
  ){
    return -2;
  }
  i = hpJoinOwner(p, pExpr);
  if( i<0 ) return -2;
  iRow = hpJoinReach(pC, pExpr, i, 0, &k);
  if( iRow<0 ) return -1;
  pBare->iRel = (i16)p->aIn[i].iPipe;
  pBare->iRelCol = (u16)k;
  return iRow;
}

/*
** Let *pDef be aggregate function k of the query, which HpJoin.iMany has for
** each key.
*/
static int hpLowerJoinAgg(HpCompile *pC, int k, HpAggDef *pDef){
  const HpJoin *p = pC->pJoin;
  const HpInput *pInput = &p->aIn[p->iMany];
  const struct AggInfo_func *pF = &pInput->pAggInfo->aFunc[k];
  int iRow = hpJoinRow(pC, p->iMany);
  int iVec = hpJoinOp(pC, HP_OP_GATHER, pInput->iPipe, k, 1, iRow);
  assert( hpInputIsMany(pInput) && k>=0 && k<pInput->nAgg );
  iVec = hpLowerSubMissing(pC, pF, iVec, 1);
  return iVec<0 ? SQLITE_ERROR : hpCompileAggOf(pC, pF, iVec, pDef);
}

/*
** Is pExpr the same in all rows of a group?
*/
static int hpLowerJoinIsGiven(HpCompile *pC, Expr *pExpr){
  Bitmask m;
  return pC->mGiven!=0 && hpTermMask(pC->pJoin, pExpr, &m)
      && m!=0 && (m & ~pC->mGiven)==0;
}

/*
** How many terms of GROUP BY does a group need?  The last ones may be columns
** that are the same in all rows that have the same values of the terms before:
**
**    GROUP BY c_custkey, c_name, n_name    c_custkey tells the row of customer,
**                                            and that the row of nation
**
** These neither divide groups nor order them: they are shown as the first row
** has them.  (What is no column stock reads from the register of the term.)
*/
static int hpLowerJoinTerms(
  HpCompile *pC,
  const ExprList *pGroupBy,
  const KeyInfo *pKeyInfo
){
  int n = 0;
  int i;
  assert( pC->mGiven==0 );     /* It is found here, and used afterwards */
  for(i=0; i<pGroupBy->nExpr; i++){
    Expr *pExpr = pGroupBy->a[i].pExpr;
    if( (pExpr->op!=TK_COLUMN && pExpr->op!=TK_AGG_COLUMN)
     || !hpLowerJoinIsGiven(pC, pExpr)
    ){
      n = i+1;
    }
    pC->mGiven = hpPropGiven(pC->pJoin, pC->mGiven, pExpr, pKeyInfo->aColl[i]);
  }
  return n;
}

/*
** The vector of what pExpr, sides that OR connects, says about input i: true
** where it may be true for some row of the others.  -2: nothing.
*/
static int hpJoinImplied(HpCompile *pC, Expr *pExpr, int i){
  const HpJoin *p = pC->pJoin;
  Bitmask m;
  int a, b;
  if( pExpr->op==TK_OR || pExpr->op==TK_AND ){
    a = hpJoinImplied(pC, pExpr->pLeft, i);
    if( a==-1 || (a==-2 && pExpr->op==TK_OR) ) return a;
    b = hpJoinImplied(pC, pExpr->pRight, i);
    if( b==-1 || (b==-2 && pExpr->op==TK_OR) ) return b;
    if( a==-2 ) return b;
    if( b==-2 ) return a;
    return hpCompileOp(pC, pExpr->op==TK_OR ? HP_OP_OR : HP_OP_AND, 0, a, b);
  }
  if( !hpTermMask(p, pExpr, &m) || m!=MASKBIT(i) ) return -2;
  return hpCompileExpr(pC, pExpr);
}

/*
** What a filter costs for a row: 0 for a comparison with a constant, 1 for one
** of columns or with a list, 2 for all else.
*/
#define HP_LOWER_COSTS 3

static int hpJoinCost(Parse *pParse, Expr *pExpr){
  switch( pExpr->op ){
    case TK_ISNULL: case TK_NOTNULL: case TK_BETWEEN:
      return 0;
    case TK_IN:
      return 1;
    case TK_EQ: case TK_NE: case TK_LT: case TK_LE: case TK_GT: case TK_GE:
    case TK_IS: case TK_ISNOT:
      return !sqlite3ExprIsConstant(pParse, pExpr->pLeft)
          && !sqlite3ExprIsConstant(pParse, pExpr->pRight);
  }
  return 2;
}

/* Does a term of WHERE leave out rows of input i by their own columns? */
static int hpJoinHasOwn(const HpJoin *p, int i){
  int k;
  for(k=0; k<p->nTerm; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    if( pTerm->m==MASKBIT(i) && pTerm->iOuter<0 && !pTerm->bKey ) return 1;
  }
  return 0;
}

/*
** Can rows of input i's home be put aside before they look input i up?  Those
** that pass its own filters, and for a sub-select look-ups, too.
*/
static int hpJoinMayWait(const HpJoin *p, int i){
  int iHome = p->aIn[i].iHome;
  int k;
  assert( i!=p->iRoot && iHome>=0 );
  if( p->bPart || p->aIn[iHome].pIdx ) return 0;
  if( hpJoinHasOwn(p, iHome) ) return 1;
  for(k=0; hpInputIsLate(&p->aIn[i]) && k<p->nIn; k++){
    const HpInput *pInput = &p->aIn[k];
    if( k!=p->iRoot && pInput->iHome==iHome && hpPropFilters(p, k)
     && (pInput->eJoin==HP_JOIN_INNER || pInput->eJoin==HP_JOIN_SEMI)
     && !pInput->bSpan
    ){
      return 1;
    }
  }
  return 0;
}

/*
** In the pipe of input i: if rows of its home can be put aside before they look
** it up (hp_stash.c), leave out what none of them looks up.
*/
static int hpJoinWanted(HpCompile *pC, int i){
  HpJoin *p = pC->pJoin;
  HpInput *pInput = &p->aIn[i];
  HpRelPlan *pWant;
  int iVec, k;
  /* What it makes is the first filter of the pipe: HpPipePlan.eWant */
  assert( pInput->pWant==0 && pC->pPipe->prog.nFilter==0 );
  if( pInput->bAll || !hpJoinMayWait(p, i) ) return SQLITE_OK;
  for(k=0; k<pInput->nKey; k++){
    if( pInput->aKey[k].m!=MASKBIT(pInput->iHome) ) return SQLITE_OK;
  }
  pWant = hpCompileAlloc(pC->pPlan, sizeof(*pWant));
  if( pWant==0 ) return SQLITE_NOMEM;
  pWant->iRel = pC->pPipe->iWant = p->nPipe-1 + pInput->iScan;
  pWant->bSemi = pWant->bWant = 1;
  pInput->pWant = pWant;
  iVec = hpJoinLookup(pC, i, pWant->iRel, pInput->aKey, 1);
  if( iVec<0 ) return SQLITE_ERROR;
  if( hpJoinByRowid(pInput) && pInput->iScan==pInput->iPipe ){
    pC->pPipe->eWant = HP_WANT_ROWID;
  }else if( pInput->nKey==1 && pInput->aKey[0].aff>=SQLITE_AFF_NUMERIC ){
    pC->pPipe->eWant = HP_WANT_NUMBER;
  }else{
    pC->pPipe->eWant = HP_WANT_KEY;
  }
  return hpProgFilter(&pC->pPipe->prog, iVec);
}

/*
** In the pipe of input i: the keys of the inputs that hpJoinWanted() is about,
** when its own filters have been compiled; and of sub-selects (bLate), when its
** look-ups have.
*/
static int hpJoinWants(HpCompile *pC, int i, int bLate){
  HpJoin *p = pC->pJoin;
  HpPipePlan *pPipe = pC->pPipe;
  int k;
  for(k=0; k<p->nIn; k++){
    HpInput *pInput = &p->aIn[k];
    HpRelPlan *pWant = pInput->pWant;
    int rc;
    if( pWant==0 || pInput->iHome!=i || hpInputIsLate(pInput)!=bLate ) continue;
    assert( pWant->iRel>=p->nPipe-1 && pWant->iRel<2*(p->nPipe-1) );
    rc = hpJoinSides(pC, &pWant->key, pInput->aKey, pInput->nKey, 0);
    if( rc ) return rc;
    if( bLate ){
      rc = hpArenaGrow(&pC->pPlan->mem, &pPipe->aSubWant, &pPipe->nSubWantAlloc,
                       pPipe->nSubWant, sizeof(HpRelPlan*));
      if( rc==SQLITE_OK ) pPipe->aSubWant[pPipe->nSubWant++] = pWant;
    }else{
      rc = hpArenaGrow(&pC->pPlan->mem, &pPipe->aWant, &pPipe->nWantAlloc,
                       pPipe->nWant, sizeof(HpRelPlan*));
      if( rc==SQLITE_OK ) pPipe->aWant[pPipe->nWant++] = pWant;
    }
    if( rc ) return rc;
  }
  if( bLate ){
    pPipe->nSubWantOp = pPipe->prog.nOp;
  }else{
    pPipe->nWantOp = pPipe->prog.nOp;
  }
  return SQLITE_OK;
}

/*
** Make a filter of pExpr, about the table of now.  Of a part of a join it may
** be left out.
*/
static int hpJoinTerm(HpCompile *pC, Expr *pExpr){
  HpMark mark;
  int rc;
  if( pC->pJoin->bPart==0 ) return hpCompileExprWhere(pC, pExpr);
  hpCompileMark(pC, &mark);
  pC->xSub = hpSubselectIsStrict(pExpr) ? hpScalarSub : 0;
  rc = hpCompileExprWhere(pC, pExpr);
  if( rc || pC->pPipe->bSerial || pC->pPipe->bUser ) hpCompileBack(pC, &mark);
  return SQLITE_OK;
}

/*
** Is term k of the WHERE clause about input i only, and no look-up?
*/
static int hpJoinIsOwn(const HpJoin *p, int i, int k){
  const HpConjunct *pTerm = &p->aTerm[k];
  int eJoin = p->aIn[i].eJoin;
  int bSub = hpInputIsSub(&p->aIn[i]);
  if( pTerm->iOuter!=(eJoin==HP_JOIN_LEFT || bSub ? i : -1) || pTerm->bKey ){
    return 0;
  }
  return pTerm->m==MASKBIT(i)
      || (pTerm->m==0 && (eJoin==HP_JOIN_DRIVES || bSub));
}

/*
** The vector of the own terms of input i, a twin, in *piVec: -1 if it has none.
*/
static int hpJoinOnly(HpCompile *pC, int i, int *piVec){
  const HpJoin *p = pC->pJoin;
  int k;
  *piVec = -1;
  for(k=0; k<p->nTerm; k++){
    int iVec;
    if( !hpJoinIsOwn(p, i, k) ) continue;
    if( p->aTerm[k].m==0 ) pC->pPipe->bConstant = 1;
    iVec = hpCompileExpr(pC, p->aTerm[k].pExpr);
    if( iVec>=0 && *piVec>=0 ){
      iVec = hpCompileOp(pC, HP_OP_AND, 0, *piVec, iVec);
    }
    if( iVec<0 ) return SQLITE_ERROR;
    *piVec = iVec;
  }
  return SQLITE_OK;
}

/*
** Does input k make its groups in the pipe of input i?
*/
static int hpJoinIsIn(const HpJoin *p, int k, int i){
  return k==i || p->aIn[k].iTwin==i;
}

/*
** Input i has twins.  Their own terms are filters of their aggregates; a row
** that none of them wants is left out.
*/
static int hpJoinTwins(HpCompile *pC, int i){
  HpJoin *p = pC->pJoin;
  int bAll = 1;          /* Each of them leaves rows out */
  int iAny = -1;
  int k;
  assert( hpInputHasGroups(&p->aIn[i]) && p->aIn[i].iTwin<0 );
  for(k=i; k<p->nIn; k++){
    HpInput *pInput = &p->aIn[k];
    if( !hpJoinIsIn(p, k, i) ) continue;
    hpJoinSwitch(pC, k);
    if( hpJoinOnly(pC, k, &pInput->iOnly) ) return SQLITE_ERROR;
    if( pInput->iOnly<0 ){
      bAll = 0;
    }else{
      iAny = iAny<0 ? pInput->iOnly
          : hpCompileOp(pC, HP_OP_OR, 0, iAny, pInput->iOnly);
      if( iAny<0 ) return SQLITE_ERROR;
    }
  }
  hpJoinSwitch(pC, i);
  assert( bAll==0 || iAny>=0 );
  return bAll ? hpProgFilter(&pC->pPipe->prog, iAny) : SQLITE_OK;
}

/*
** Make filters of the own terms of input i that are among those from iFrom to
** iTo, of which only the last one may fail: the cheapest first, and that one
** last.
*/
static int hpJoinTerms(HpCompile *pC, int i, int iFrom, int iTo){
  const HpJoin *p = pC->pJoin;
  int iPass, k;
  assert( iFrom>=0 && iFrom<=iTo && iTo<p->nTerm );
  for(iPass=0; iPass<=HP_LOWER_COSTS; iPass++){
    for(k=iFrom; k<=iTo; k++){
      const HpConjunct *pTerm = &p->aTerm[k];
      int iCost = pTerm->bFails ? HP_LOWER_COSTS
          : hpJoinCost(pC->pParse, pTerm->pExpr);
      if( iCost!=iPass || !hpJoinIsOwn(p, i, k) ) continue;
      if( pTerm->m==0 ) pC->pPipe->bConstant = 1;
      if( hpJoinTerm(pC, pTerm->pExpr) ) return SQLITE_ERROR;
    }
  }
  return SQLITE_OK;
}

/*
** Compile the filters of input i, whose pipe is that of now: see above.
*/
static int hpJoinFilters(HpCompile *pC, int i){
  HpJoin *p = pC->pJoin;
  int eJoin = p->aIn[i].eJoin;
  int bSub = hpInputIsSub(&p->aIn[i]);
  int iPass, iTo, k;
  assert( p->iNow==i );
  assert( pC->pPipe==&pC->pPlan->aPipe[p->aIn[i].iScan] );
  if( i!=p->iRoot && hpJoinWanted(pC, i) ) return SQLITE_ERROR;
  if( hpInputHasGroups(&p->aIn[i])
   && p->aIn[i].nAgg>hpSubselectAggs(&p->aIn[i])
  ){
    return hpJoinTwins(pC, i);
  }
  for(k=0; k<p->nTerm; k=iTo+1){
    for(iTo=k; iTo<p->nTerm-1; iTo++){
      if( p->aTerm[iTo].bFails && hpJoinIsOwn(p, i, iTo) ) break;
    }
    if( hpJoinTerms(pC, i, k, iTo) ) return SQLITE_ERROR;
  }
  if( eJoin==HP_JOIN_LEFT || eJoin==HP_JOIN_SEMI || bSub ) return SQLITE_OK;
  for(k=0; k<p->nTerm; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    int iVec;
    if( pTerm->iOuter>=0 || pTerm->pExpr->op!=TK_OR || pTerm->bImplied
     || pTerm->bFails || (pTerm->m & MASKBIT(i))==0 || pTerm->m==MASKBIT(i)
         || p->bPart
    ){
      continue;
    }
    iVec = hpJoinImplied(pC, pTerm->pExpr, i);
    if( iVec==-1 ) return SQLITE_ERROR;
    if( iVec>=0 && hpProgFilter(&pC->pPipe->prog, iVec) ) return SQLITE_ERROR;
  }
  pC->pPipe->nOwn = pC->pPipe->prog.nFilter;
  if( hpJoinWants(pC, i, 0) ) return SQLITE_ERROR;
  for(k=0; k<p->nReduce; k++){
    const HpReduce *pReduce = &p->aReduce[k];
    int iVec;
    if( pReduce->iIn!=i ) continue;
    iVec = hpJoinLookup(pC, pReduce->iRel, p->aIn[pReduce->iRel].iPipe,
                        &pReduce->edge, 0);
    if( iVec<0 || hpProgFilter(&pC->pPipe->prog, iVec) ) return SQLITE_ERROR;
  }
  for(iPass=0; iPass<2; iPass++){
    for(k=0; k<p->nIn; k++){
      HpInput *pInput = &p->aIn[k];
      if( pInput->iHome!=i || k==p->iRoot ) continue;
      if( pInput->eJoin!=HP_JOIN_INNER && pInput->eJoin!=HP_JOIN_SEMI ){
        continue;
      }
      if( pInput->bSpan ) continue;
      if( hpPropFilters(p, k)!=(iPass==0) ) continue;
      pInput->iLookup = hpJoinLookup(pC, k, pInput->iPipe, pInput->aKey, 0);
      if( pInput->iLookup<0 ) return SQLITE_ERROR;
      if( hpProgFilter(&pC->pPipe->prog, pInput->iLookup) ) return SQLITE_ERROR;
    }
  }
  pC->pPipe->nLook = pC->pPipe->prog.nFilter;
  assert( pC->pPipe->nOwn<=pC->pPipe->nLook );
  if( hpJoinWants(pC, i, 1) ) return SQLITE_ERROR;
  for(k=0; k<p->nIn; k++){
    int iVec;
    if( p->aIn[k].iHome!=i || !p->aIn[k].bSpan || hpInputIsSub(&p->aIn[k]) ){
      continue;
    }
    iVec = hpJoinSpan(pC, k);
    if( iVec<0 || hpProgFilter(&pC->pPipe->prog, iVec) ) return SQLITE_ERROR;
  }
  for(k=0; k<p->nTerm && p->bPart==0; k++){
    const HpConjunct *pTerm = &p->aTerm[k];
    if( pTerm->iOuter>=0 || pTerm->m==0 || pTerm->m==MASKBIT(i) ) continue;
    if( pTerm->bKey || pTerm->bImplied ) continue;
    if( (pTerm->m & (pTerm->m-1))==0 ){
      /* The own filter of another input, unless that has none */
      int j;
      for(j=0; pTerm->m!=MASKBIT(j); j++){}
      if( p->aIn[j].eJoin!=HP_JOIN_LEFT && !hpInputIsSub(&p->aIn[j]) ) continue;
    }
    if( hpInputKeyMeet(p, pTerm->m)!=i ) continue;
    if( hpCompileExprWhere(pC, pTerm->pExpr) ) return SQLITE_ERROR;
  }
  return SQLITE_OK;
}

/*
** The sink of the pipe of input i: a relation, or groups that become one.
*/
static int hpJoinSink(HpCompile *pC, int i){
  const HpJoin *p = pC->pJoin;
  const HpInput *pInput = &p->aIn[i];
  HpGroupPlan *pGroup;
  HpLookup key;
  int k, rc;
  assert( i!=p->iRoot && pInput->iTwin<0 );
  if( !hpInputHasGroups(pInput) ){
    pC->pPipe->source.bOrder = (u8)hpJoinByRowid(pInput);
    return hpJoinSides(pC, &pC->pPipe->pRel->key, pInput->aKey, pInput->nKey,
                       1);
  }
  memset(&key, 0, sizeof(key));
  rc = hpJoinSides(pC, &key, pInput->aKey, pInput->nKey, 1);
  if( rc ) return rc;
  pGroup = hpLowerSubGroups(pC, &key, pInput->nAgg);
  if( pGroup==0 ) return SQLITE_NOMEM;
  for(k=i; k<p->nIn; k++){
    if( !hpJoinIsIn(p, k, i) ) continue;
    hpJoinSwitch(pC, k);
    if( hpLowerSubAggs(pC, &p->aIn[k]) ) return SQLITE_ERROR;
    pC->pPipe->nEach++;
  }
  hpJoinSwitch(pC, i);
  pGroup->entry.szEntry = hpLayoutGroup(pGroup);
  if( pGroup->entry.szEntry>0x7fff ) return SQLITE_ERROR;
  if( pInput->bSpan && pC->pPipe->eEach==HP_EACH_SCAN ){
    HpRelPlan *pProbe = hpCompileAlloc(pC->pPlan, sizeof(*pProbe));
    if( pProbe==0 ) return SQLITE_NOMEM;
    pProbe->iRel = pInput->iPipe;
    pProbe->bSemi = 1;
    pProbe->key = key;
    pC->pPipe->pProbe = pProbe;
  }
  return hpLowerSubRegroup(pC, &pC->pPlan->aPipe[pInput->iPipe], pC->pPipe,
                           &key,
                          pInput->iPipe);
}

/*
** Compile the join that pJoin is of, with pWhere: filters, look-ups and
** relations. Afterwards the pipe of now is that of the root.
*/
static int hpLowerJoinPipes(HpCompile *pC, HpJoin *pJoin, Expr *pWhere){
  HpPlan *pPlan = pC->pPlan;
  int n;
  assert( pC->pJoin==0 && pC->xOther==0 );    /* No arms of a UNION ALL */
  pC->pJoin = pJoin;
  pC->xOther = hpJoinOther;
  pC->xSub = hpJoinSub;
  pJoin->iNow = pJoin->iRoot;
  assert( pPlan->nPipe==pJoin->nPipe );
  pJoin->aIn[pJoin->iRoot].pIdx = pC->pIdx;
  for(n=0; n<pJoin->nPipe-1; n++){
    HpInput *pInput = &pJoin->aIn[pJoin->aOrder[n]];
    HpPipePlan *pPipe = &pPlan->aPipe[n];
    if( n!=pInput->iScan ) continue;      /* hpLowerSubRegroup() */
    if( hpInputIsLate(pInput) ){
      if( hpInputIsMany(pInput) ){
        pPipe->eEach = pInput->pItem->hp.bBuild ? HP_EACH_BUILD : HP_EACH_JOIN;
      }else if( hpPropMaySearch(pJoin, pJoin->aOrder[n]) ){
        pPipe->eEach = HP_EACH_SEARCH;
      }else{
        pPipe->eEach = HP_EACH_SCAN;
      }
      pPipe->iAround = pJoin->aIn[pInput->iHome].iPipe;
    }
    if( !HasRowid(pInput->pItem->pSTab) ){
      pInput->pIdx = sqlite3PrimaryKeyIndex(pInput->pItem->pSTab);
    }
    hpCompileSource(pC->pParse, pPipe, pInput->pItem->pSTab, pInput->pIdx);
    if( n!=pInput->iPipe ) continue;      /* hpLowerSubGroups() */
    pPipe->pSink = &hpSinkRel;
    pPipe->pRel = hpCompileAlloc(pPlan, sizeof(*pPipe->pRel));
    if( pPipe->pRel==0 ) return SQLITE_NOMEM;
    pPipe->pRel->iRel = n;
    pPipe->pRel->bSemi = pInput->eJoin==HP_JOIN_SEMI 
                          || pInput->eJoin==HP_JOIN_MARK;
    if( pPipe->eEach==HP_EACH_SCAN ) pPipe->pProbe = pPipe->pRel;
  }
  for(n=0; n<pJoin->nPipe; n++){
    int i = pJoin->aOrder[n];
    if( n!=pJoin->aIn[i].iScan ) continue;
    hpJoinSwitch(pC, i);
    if( i==pJoin->iRoot && pJoin->bPart==0
     && hpRangeCompile(pC, pJoin->aIn[i].pItem, pWhere)
    ){
      return SQLITE_ERROR;
    }
    if( hpJoinFilters(pC, i) ) return SQLITE_ERROR;
    if( i!=pJoin->iRoot && hpJoinSink(pC, i) ) return SQLITE_ERROR;
  }
  assert( pJoin->iNow==pJoin->iRoot && pC->pPipe==hpPlanLast(pPlan) );
  return SQLITE_OK;
}
#endif /* SQLITE_OMIT_HP */
