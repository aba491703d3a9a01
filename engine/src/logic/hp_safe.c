/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_safe: property: may an expression fail (prepare time)?
**
**    hpSafe()          can nothing in an expression, or a list of them, fail?
**    hpSafeSelect()    can nothing in a sub-select fail?
**    hpSafeAggregate() can an aggregate function not?
**    hpSafeHasCall()   does an expression call a function?
**    hpSafeColl()      does it call no collation of the application?
**    hpSafeNumber()    is it row_number(), rank() or dense_rank()?
**
** An error of an expression shows: the statement ends with it, and one that
** writes is rolled back.  So an error that SQLite raises must not be lost, and
** one that it does not raise must not appear.  The latter is simple.  What
** fails while OP_HpScan runs makes it decline, and SQLite's own code finds the
** error, or does not.  So an expression may be evaluated for more rows than
** SQLite evaluates it for.  It must not be evaluated for fewer rows:
**
**    WHERE abs(x)>0 AND y=5       abs(x) fails in a row where y is 7.  Who
**    tests y=5
**                                 first, since that is cheaper, never sees it
**
** This is what is to be proven wherever rows are left out, or terms are tested
** in another order: what is left out cannot fail (hpSafe()), or SQLite has left
** it out by then, too (hpRangeSafe(), hpErrorsKept()).
**
** hpSafe() is an allow-list: operators, and those functions of SQLite that
** raise no error whatever their arguments are.  Operators fail for no value.
** abs() does, of the smallest integer; JSON functions of malformed text;
** printf(), replace() and zeroblob() where the result is too long; LIKE where
** the pattern is.  Functions and collations of the application may do anything.
** Where longer values than SQLite allows might come out of concatenation and
** the like nothing is taken over:  hpQueryLengths().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* HP_NUMBER_xxx of expression pExpr, or 0 if it is none of these */
static u8 hpSafeNumber(const Expr *pExpr){
  if( pExpr->op!=TK_FUNCTION || !ExprHasProperty(pExpr, EP_WinFunc) ) return 0;
  return hpWindowNumber(pExpr->y.pWin->pWFunc);
}

/* Walker callback: stop at an application's collation.  One that is not there
** yet may become that; asking SQLite for it would be an error */
static int hpSafeWalkColl(Walker *pWalker, Expr *pExpr){
  const char *zColl = 0;
  if( pExpr->op==TK_COLLATE ){
    zColl = pExpr->u.zToken;
  }else if( (pExpr->op==TK_COLUMN || pExpr->op==TK_AGG_COLUMN)
         && ExprUseYTab(pExpr) && pExpr->y.pTab && pExpr->iColumn>=0
  ){
    zColl = sqlite3ColumnColl(&pExpr->y.pTab->aCol[pExpr->iColumn]);
  }
  if( zColl ){
    sqlite3 *db = pWalker->pParse->db;
    CollSeq *pColl = sqlite3FindCollSeq(db, SQLITE_UTF8, zColl, 0);
    if( pColl==0 || !hpVecCollIsOwn(pColl) ) return WRC_Abort;
  }
  return WRC_Continue;
}

/* Walker callback: the same, and stop at a function */
static int hpSafeWalkCall(Walker *pWalker, Expr *pExpr){
  if( pExpr->op==TK_FUNCTION ) return WRC_Abort;
  return hpSafeWalkColl(pWalker, pExpr);
}

/* Does a walk through pExpr come to its end? */
static int hpSafeWalks(
  Parse *pParse,
  Expr *pExpr,
  int (*xCallback)(Walker*, Expr*)
){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.pParse = pParse;
  w.xExprCallback = xCallback;
  w.xSelectCallback = sqlite3SelectWalkNoop;
  return sqlite3WalkExpr(&w, pExpr)!=WRC_Abort;
}

/*
** True if pExpr calls no collation of the application.
*/
static int hpSafeColl(Parse *pParse, Expr *pExpr){
  return hpSafeWalks(pParse, pExpr, hpSafeWalkColl);
}

/*
** True if pExpr calls a function, or may call an application's collation.
*/
static int hpSafeHasCall(Parse *pParse, Expr *pExpr){
  return !hpSafeWalks(pParse, pExpr, hpSafeWalkCall);
}

/* Is pExpr a literal text of n characters, or of any number if n is
** negative? */
static int hpSafeIsText(const Expr *pExpr, int n){
  return pExpr->op==TK_STRING
      && (n<0 || sqlite3Utf8CharLen(pExpr->u.zToken, -1)==n);
}

/*
** pExpr calls like() or glob().  It fails if the pattern is too long, or what
** ESCAPE says is not one character.  eSafe: HP_SAFE_xxx.
*/
static int hpSafeLike(Parse *pParse, const Expr *pExpr, int eSafe){
  const ExprList *pList = pExpr->x.pList;
  int mx = pParse->db->aLimit[SQLITE_LIMIT_LIKE_PATTERN_LENGTH];
  const Expr *pPattern = pList->a[0].pExpr;
  assert( pList->nExpr==2 || pList->nExpr==3 );
  if( pList->nExpr>2 && !hpSafeIsText(pList->a[2].pExpr, 1) ) return 0;
  if( hpSafeIsText(pPattern, -1) ){
    return sqlite3Strlen30(pPattern->u.zToken)<=mx;
  }
  return (eSafe & HP_SAFE_OPEN)!=0 && pList->nExpr==2
      && sqlite3ExprIsConstant(pParse, (Expr*)pPattern);
}

/* Does SQLite's function pDef raise no error, whatever the arguments pList
** are? */
static int hpSafeFunc(const FuncDef *pDef, const ExprList *pList){
  static void (*const axSafe[])(sqlite3_context*,int,sqlite3_value**) = {
    /* versionFunc is coalesce(), iif() and likely(), too */
    lengthFunc, bytelengthFunc, upperFunc, lowerFunc, substrFunc, roundFunc,
    instrFunc, trimFunc, typeofFunc, nullifFunc, unicodeFunc, versionFunc,
    minmaxFunc, concatFunc, concatwsFunc, signFunc,
#ifdef SQLITE_ENABLE_MATH_FUNCTIONS
    ceilingFunc, logFunc, math1Func, math2Func, piFunc,
#endif
#ifndef SQLITE_OMIT_DATETIME_FUNCS
    juliandayFunc, unixepochFunc, datetimeFunc, timeFunc, dateFunc,
#endif
  };
  int i;
  for(i=0; i<ArraySize(axSafe); i++){
    if( pDef->xSFunc==axSafe[i] ) return 1;
  }
#ifndef SQLITE_OMIT_DATETIME_FUNCS
  /* A format that is no constant might be as long as a value may be */
  if( pDef->xSFunc==strftimeFunc ){
    return pList && hpSafeIsText(pList->a[0].pExpr, -1);
  }
#endif
  return 0;
}

/* Is pExpr a column that is computed by an expression that may fail? */
static int hpSafeIsVirtual(Walker *pWalker, const Expr *pExpr){
  Table *pTab = ExprUseYTab(pExpr) ? pExpr->y.pTab : 0;
  Column *pCol;
  if( pTab==0 || pExpr->iColumn<0 || pExpr->iColumn>=pTab->nCol ) return 0;
  pCol = &pTab->aCol[pExpr->iColumn];
  if( (pCol->colFlags & COLFLAG_VIRTUAL)==0 ) return 0;
  return (pTab->tabFlags & TF_Strict)!=0
      || !hpSafe(pWalker->pParse, sqlite3ColumnExpr(pTab, pCol), 0, 0);
}

/* Can the aggregate function pExpr not fail? */
static int hpSafeAggregate(sqlite3 *db, const Expr *pExpr){
  const FuncDef *pDef;
  const Expr *pArg;
  assert( pExpr->op==TK_AGG_FUNCTION );
  assert( pExpr->pAggInfo==0
       || (pExpr->iAgg>=0 && pExpr->iAgg<pExpr->pAggInfo->nFunc) );
  if( ExprHasProperty(pExpr, EP_WinFunc) ) return 0;
  if( pExpr->pAggInfo ){
    pDef = pExpr->pAggInfo->aFunc[pExpr->iAgg].pFunc;
  }else{
    /* SQLite has coded a copy */
    pDef = sqlite3FindFunction(db, pExpr->u.zToken,
               pExpr->x.pList ? pExpr->x.pList->nExpr : 0, SQLITE_UTF8, 0);
  }
  if( pDef==0 || (pDef->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) return 0;
  if( pDef->xFinalize==countFinalize || pDef->xFinalize==avgFinalize
   || pDef->xFinalize==totalFinalize || pDef->xFinalize==minMaxFinalize
  ){
    return 1;
  }
  if( pDef->xFinalize!=sumFinalize || pExpr->x.pList==0 ) return 0;
  /* Of a REAL column there are no integers */
  pArg = sqlite3ExprSkipCollate(pExpr->x.pList->a[0].pExpr);
  return (pArg->op==TK_COLUMN || pArg->op==TK_AGG_COLUMN) && pArg->iColumn>=0
      && pArg->y.pTab!=0
      && pArg->y.pTab->aCol[pArg->iColumn].affinity==SQLITE_AFF_REAL;
}

/* May function call pExpr be evaluated or not?  Its arguments are looked at
** later on, unless *pbPrune is set. */
static int hpSafeCall(Parse *pParse, Expr *pExpr, int eSafe, int *pbPrune){
  const ExprList *pList = ExprUseXList(pExpr) ? pExpr->x.pList : 0;
  int nArg = pList ? pList->nExpr : 0;
  const FuncDef *pDef;
  assert( pExpr->op==TK_FUNCTION && !ExprHasProperty(pExpr, EP_IntValue) );
  if( ExprHasProperty(pExpr, EP_WinFunc) ){
    *pbPrune = 1;
    return (eSafe & HP_SAFE_EACH)==0 && hpSafeNumber(pExpr);
  }
  pDef = sqlite3FindFunction(pParse->db, pExpr->u.zToken, nArg, SQLITE_UTF8, 0);
  if( pDef==0 ) return 0;
  if( pDef->xSFunc==likeFunc && (eSafe & HP_SAFE_EACH)==0 ){
    /* PRAGMA case_sensitive_like makes one that is not marked as SQLite's */
    return hpSafeLike(pParse, pExpr, eSafe);
  }
  if( (pDef->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) return 0;
  if( (pDef->funcFlags & SQLITE_FUNC_NEEDCOLL)!=0
   && !hpSafeColl(pParse, pExpr) ){
    return 0;
  }
  if( eSafe & HP_SAFE_EACH ) return 1;
  if( (eSafe & HP_SAFE_OPEN)!=0 && sqlite3ExprIsConstant(pParse, pExpr) ){
    *pbPrune = 1;
    return 1;
  }
  return hpSafeFunc(pDef, pList);
}

/* Walker callback of hpSafe().  u.n: HP_SAFE_xxx */
static int hpSafeWalkExpr(Walker *pWalker, Expr *pExpr){
  int eSafe = pWalker->u.n;
  int bPrune = 0;
  int bSafe = 1;
  switch( pExpr->op ){
    case TK_EQ: case TK_NE: case TK_LT: case TK_LE: case TK_GT: case TK_GE:
    case TK_IS: case TK_ISNOT: case TK_BETWEEN: case TK_CASE: case TK_VECTOR:
      bSafe = hpSafeColl(pWalker->pParse, pExpr);
      break;
    case TK_IN:
      bSafe = hpSafeColl(pWalker->pParse, pExpr);
      if( bSafe && ExprUseXSelect(pExpr) && (eSafe & HP_SAFE_KNOWN)!=0 ){
        bSafe = hpSafe(pWalker->pParse, pExpr->pLeft, 0, eSafe);
        bPrune = 1;
      }
      break;
    case TK_COLUMN:
      bSafe = (eSafe & HP_SAFE_EACH)!=0 || !hpSafeIsVirtual(pWalker, pExpr);
      break;
    case TK_AGG_COLUMN:
      bSafe = (eSafe & HP_SAFE_GROUP)!=0
           || ((eSafe & (HP_SAFE_SELECT|HP_SAFE_KNOWN))!=0
               && !hpSafeIsVirtual(pWalker, pExpr));
      break;
    case TK_AGG_FUNCTION:
      if( eSafe & HP_SAFE_GROUP ){
        bPrune = 1;
      }else{
        bSafe = (eSafe & HP_SAFE_SELECT)!=0
             && hpSafeAggregate(pWalker->pParse->db, pExpr);
      }
      break;
    case TK_SELECT: case TK_EXISTS:
      bPrune = (eSafe & HP_SAFE_KNOWN)!=0;
      bSafe = (eSafe & (HP_SAFE_KNOWN|HP_SAFE_SELECT|HP_SAFE_EACH))!=0;
      break;
    case TK_FUNCTION:
      bSafe = hpSafeCall(pWalker->pParse, pExpr, eSafe, &bPrune);
      break;
    case TK_INTEGER: case TK_FLOAT: case TK_STRING: case TK_BLOB: case TK_NULL:
    case TK_TRUEFALSE: case TK_VARIABLE: case TK_REGISTER: case TK_IF_NULL_ROW:
    case TK_TRIGGER: case TK_ASTERISK:
    case TK_UPLUS: case TK_UMINUS: case TK_BITNOT: case TK_NOT: case TK_TRUTH:
    case TK_ISNULL: case TK_NOTNULL: case TK_CAST: case TK_COLLATE:
    case TK_PLUS: case TK_MINUS: case TK_STAR: case TK_SLASH: case TK_REM:
    case TK_BITAND: case TK_BITOR: case TK_LSHIFT: case TK_RSHIFT:
    case TK_CONCAT:
    case TK_AND: case TK_OR: case TK_SELECT_COLUMN: case TK_LIMIT:
    case TK_ORDER:
      break;
    default:
      bSafe = 0;
      break;
  }
  if( bSafe ) return bPrune ? WRC_Prune : WRC_Continue;
  pWalker->eCode = 0;
  return WRC_Abort;
}

/* Can the LIMIT or OFFSET pExpr not fail?  What is no integer is an error. */
static int hpSafeIsLimit(const Expr *pExpr){
  int n;
  return pExpr==0 || sqlite3ExprIsInteger(pExpr, &n, 0, 0);
}

/* Walker callback of hpSafe(): virtual tables may do anything */
static int hpSafeWalkSelect(Walker *pWalker, Select *p){
  int bSafe = 1;
  int i;
  if( p->pLimit ){
    bSafe = hpSafeIsLimit(p->pLimit->pLeft) && hpSafeIsLimit(p->pLimit->pRight);
  }
  for(i=0; p->pSrc && i<p->pSrc->nSrc && bSafe; i++){
    const SrcItem *pItem = &p->pSrc->a[i];
    bSafe = pItem->fg.isSubquery || IsOrdinaryTable(pItem->pSTab);
  }
  if( bSafe ) return WRC_Continue;
  pWalker->eCode = 0;
  return WRC_Abort;
}

/* A walker for HP_SAFE_xxx */
static void hpSafeWalker(Walker *pWalker, Parse *pParse, int eSafe){
  assert( (eSafe & ~(HP_SAFE_EACH|HP_SAFE_OPEN|HP_SAFE_SELECT|HP_SAFE_KNOWN
                    |HP_SAFE_GROUP))==0 );
  /* Each of them says something else of sub-selects */
  assert( (eSafe & HP_SAFE_EACH)==0 || (eSafe & HP_SAFE_SELECT)==0 );
  memset(pWalker, 0, sizeof(*pWalker));
  pWalker->pParse = pParse;
  pWalker->eCode = 1;
  pWalker->xExprCallback = hpSafeWalkExpr;
  pWalker->xSelectCallback = sqlite3SelectWalkFail;
  if( eSafe & HP_SAFE_EACH ) pWalker->xSelectCallback = sqlite3SelectWalkNoop;
  if( eSafe & HP_SAFE_SELECT ) pWalker->xSelectCallback = hpSafeWalkSelect;
  pWalker->u.n = eSafe;
}

/*
** True if neither pExpr nor any of pList, which may be NULL, can fail or have
** an effect, so that they may be evaluated for fewer rows than SQLite does.
** eSafe, a set of bits, says what else is known:
**
**    HP_SAFE_EACH     they will be evaluated for all rows that matter: so they
**                     may fail, but not call functions or collations of the
**                     application, which might write to the table
**    HP_SAFE_OPEN     the plan has them: calls with constants are made when the
**                     pipe begins (hpExprOpen()), whatever rows there are
**    HP_SAFE_SELECT   look into sub-selects and aggregates
**    HP_SAFE_KNOWN    do not look into sub-selects: somebody else does
**    HP_SAFE_GROUP    they are results of groups: aggregates have been computed
*/
static int hpSafe(Parse *pParse, Expr *pExpr, ExprList *pList, int eSafe){
  Walker w;
  hpSafeWalker(&w, pParse, eSafe);
  return sqlite3WalkExpr(&w, pExpr)==WRC_Continue
      && sqlite3WalkExprList(&w, pList)==WRC_Continue && w.eCode;
}

/*
** True if nothing in sub-select p can fail.
*/
static int hpSafeSelect(Parse *pParse, Select *p){
  Walker w;
  hpSafeWalker(&w, pParse, HP_SAFE_SELECT);
  return sqlite3WalkSelect(&w, p)==WRC_Continue && w.eCode;
}
#endif /* SQLITE_OMIT_HP */
