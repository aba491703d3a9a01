/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_updatelimit: ORDER BY and LIMIT on UPDATE and DELETE.
**
** With SQLITE_ENABLE_UPDATE_DELETE_LIMIT, as Debian compiles SQLite, these
** two statements may end in ORDER BY and LIMIT.  The code generator of the
** amalgamation can do it.  Its parser cannot: the grammar is fixed when
** Lemon runs, and the amalgamation is made without it.  This file closes the
** gap without another grammar:
**
**    sqlite3HpTailFind()    Called by sqlite3RunParser() where an ORDER or a
**                           LIMIT comes along: sqlite3HpTailSkip().  If it
**                           begins the tail of an UPDATE or DELETE, the tail
**                           is set aside and the parser goes on after it.
**    sqlite3HpTailParse()   Called by the actions for UPDATE and DELETE.  A
**                           second Parse reads "SELECT NULL" and the tail.
**    sqlite3HpTailTake()    Called by the action for SELECT.  Where it is the
**                           one of the second Parse, its two clauses are
**                           moved to Parse.hpTail of the first one.
**
** The tail is parsed as late as in the action so that bound parameters are
** numbered in the order in which they stand in the statement: by then all
** that precedes the tail has been reduced.  The second Parse goes on with the
** numbers and names of the first one, which takes them back.
**
** It is sqlite3RunParser() that runs it: a second caller of sqlite3Parser()
** would cost every statement one percent of its preparing, since compilers put
** a function with one caller into that.
*/
#ifdef HP_UPDATE_DELETE_LIMIT

/* Values of HpTail.eVerb: what the tokens looked at so far say of the
** statement.  Zero: nothing yet. */
#define HP_TAIL_WITH   1     /* It begins with WITH */
#define HP_TAIL_VERB   2     /* It is an UPDATE or DELETE */
#define HP_TAIL_NONE   3     /* It is neither */

/*
** Return the first token of z[] that is neither blank nor comment, and store
** its length and type.  At the end of the text that is a TK_SEMI of length 0.
*/
static const char *hpUpdateLimitToken(const char *z, i64 *pn, int *peType){
  while( z[0]!=0 ){
    *pn = sqlite3GetToken((const u8*)z, peType);
    if( *peType!=TK_SPACE && *peType!=TK_COMMENT ) return z;
    z += *pn;
  }
  *pn = 0;
  *peType = TK_SEMI;
  return z;
}

/*
** The tokens of a statement up to z, of which those up to Parse.hpTail.zSeen
** have been looked at before: return true if z stands at the level of an UPDATE
** or DELETE, outside of all parentheses.
**
** A statement may have an ORDER or a LIMIT in each of its subqueries.  So that
** each token is looked at once, the scan goes on where the last one ended.
**
** The first keyword tells which statement this is, or after WITH the first
** one outside of parentheses that may follow the common table expressions.
** A CREATE TRIGGER is neither: upstream's grammar has no tail there.
*/
static int hpUpdateLimitOutside(Parse *pParse, const char *z){
  HpTail *p = &pParse->hpTail;
  const char *zAt = p->zSeen ? p->zSeen : pParse->zTail;
  i64 n = 0;                        /* Length of the current token */
  int eType;                        /* Type of the current token */

  assert( z>=zAt );
  if( p->eVerb==HP_TAIL_NONE ) return 0;
  if( (zAt[0]|0x20)=='s' && p->zSeen==0 ){
    p->eVerb = HP_TAIL_NONE;        /* SELECT, most often */
    return 0;
  }
  while( (zAt = hpUpdateLimitToken(zAt+n, &n, &eType))<z ){
    if( eType==TK_LP ){
      p->nParen++;
    }else if( eType==TK_RP ){
      p->nParen--;
    }else if( p->eVerb!=HP_TAIL_VERB && p->nParen==0 ){
      switch( eType ){
        case TK_UPDATE: case TK_DELETE:
          p->eVerb = HP_TAIL_VERB;
          break;
        case TK_WITH:
          p->eVerb = HP_TAIL_WITH;
          break;
        case TK_SEMI: case TK_EXPLAIN: case TK_QUERY: case TK_PLAN:
          break;
        default:
          if( p->eVerb==HP_TAIL_WITH && eType!=TK_SELECT && eType!=TK_VALUES
           && eType!=TK_INSERT
          ){
            break;
          }
          p->eVerb = HP_TAIL_NONE;
          return 0;
      }
    }
  }
  assert( zAt==z );
  p->zSeen = z;
  return p->eVerb==HP_TAIL_VERB && p->nParen==0;
}

/*
** The statement being parsed has an ORDER or a LIMIT at z.  If that is the
** tail of an UPDATE or DELETE, remember it and return its length in bytes.
** Otherwise return 0.  A tail ends before the semicolon.
*/
SQLITE_PRIVATE i64 sqlite3HpTailFind(Parse *pParse, const char *z){
  HpTail *p = &pParse->hpTail;
  const char *zAt = z;              /* The current token */
  i64 n = 0;                        /* Length of the current token */
  int eType;                        /* Type of the current token */

  if( p->pOuter ){
    /* The second Parse has come to the tail: nothing before has parameters */
    Parse *pOuter = p->pOuter;
    if( pOuter->hpTail.n ){
      pParse->nVar = pOuter->nVar;
      pParse->pVList = pOuter->pVList;
      pOuter->pVList = 0;
      pOuter->hpTail.n = 0;
    }
    return 0;
  }
  if( p->n || !hpUpdateLimitOutside(pParse, z) ) return 0;
  p->z = z;
  for(;;){
    zAt = hpUpdateLimitToken(zAt+n, &n, &eType);
    if( eType==TK_SEMI ) break;
    p->n = zAt + n - z;
  }
  assert( p->n>0 && p->eVerb==HP_TAIL_VERB );
  return p->n;
}

/*
** Parse the tail of the UPDATE or DELETE at hand, if it has one.  Its clauses
** are then in Parse.hpTail.  They are the caller's; after an error they are
** NULL.
**
** The text that is parsed has the tail where the statement has it, so that an
** error is reported to be at the right place.
*/
SQLITE_PRIVATE void sqlite3HpTailParse(Parse *pParse){
  static const char zSelect[] = "SELECT NULL";
  sqlite3 *db = pParse->db;
  const char *z = pParse->hpTail.z;
  const char *zEnd;
  i64 n;
  int eType;
  char *zText;
  Parse sParse;

  if( z==0 || pParse->nErr ) return;
  zEnd = hpUpdateLimitToken(&z[pParse->hpTail.n], &n, &eType) + n;
  n = z - pParse->zTail;
  assert( n>=(i64)sizeof(zSelect) );
  zText = sqlite3DbMallocRaw(db, n + (zEnd-z) + 1);
  if( zText==0 ){
    pParse->nErr++;
    pParse->rc = SQLITE_NOMEM_BKPT;
    return;
  }
  memset(zText, ' ', n);
  memcpy(zText, zSelect, sizeof(zSelect)-1);
  memcpy(&zText[n], z, zEnd-z);
  zText[n+(zEnd-z)] = 0;
  sqlite3ParseObjectInit(&sParse, db);
  sParse.hpTail.pOuter = pParse;
  sParse.prepFlags = pParse->prepFlags | SQLITE_PREPARE_DONT_LOG;
  sParse.nSelect = pParse->nSelect;
  if( sqlite3RunParser(&sParse, zText) ){
    pParse->nErr++;
    pParse->rc = sParse.rc;
    sqlite3DbFree(db, pParse->zErrMsg);
    pParse->zErrMsg = sParse.zErrMsg;
    sParse.zErrMsg = 0;
  }
  sqlite3DbFree(db, sParse.zErrMsg);
  sqlite3ParseObjectReset(&sParse);
  sqlite3DbFree(db, zText);
}

/*
** A SELECT statement has been parsed.  If it is the one that stands for the
** tail of an UPDATE or DELETE, keep its ORDER BY and LIMIT, delete the rest,
** and return true.
*/
SQLITE_PRIVATE int sqlite3HpTailTake(Parse *pParse, Select *p){
  Parse *pOuter = pParse->hpTail.pOuter;
  if( pOuter==0 ) return 0;
  assert( pOuter->hpTail.pOrderBy==0 && pOuter->hpTail.pLimit==0 );
  assert( pOuter->hpTail.pOuter==0 );  /* A tail has no tail */
  if( p ){
    pOuter->hpTail.pOrderBy = p->pOrderBy;
    pOuter->hpTail.pLimit = p->pLimit;
    p->pOrderBy = 0;
    p->pLimit = 0;
    sqlite3SelectDelete(pParse->db, p);
  }
  pOuter->nVar = pParse->nVar;
  pOuter->pVList = pParse->pVList;
  pParse->pVList = 0;
  /* EXPLAIN QUERY PLAN shows these numbers */
  pOuter->nSelect = pParse->nSelect - 1;
  return 1;
}
#endif /* HP_UPDATE_DELETE_LIMIT */
