/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** ORDER BY and LIMIT on UPDATE and DELETE.
**
** With SQLITE_ENABLE_UPDATE_DELETE_LIMIT, as Debian compiles SQLite, these
** two statements may end in ORDER BY and LIMIT.  The code generator of the
** amalgamation can do it.  Its parser cannot: the grammar is fixed when
** Lemon runs, and the amalgamation is made without it.  This file closes the
** gap without another grammar:
**
**    sqlite3HpTailFind()    Called by sqlite3RunParser() where an ORDER or a
**                           LIMIT comes along.  If it begins the tail of an
**                           UPDATE or DELETE, the tail is set aside and the
**                           parser goes on after it.
**    sqlite3HpTailParse()   Called by the actions for UPDATE and DELETE.  A
**                           second parser reads "SELECT NULL" and the tail.
**    sqlite3HpTailTake()    Called by the action for SELECT.  Where it is the
**                           one of the second parser, its two clauses are
**                           moved to Parse.hpTail, for UPDATE or DELETE.
**
** The tail is parsed as late as in the action so that bound parameters are
** numbered in the order in which they stand in the statement: by then all
** that precedes the tail has been reduced.
*/
#ifdef HP_UPDATE_DELETE_LIMIT

/*
** Return the first token of z[] that is neither blank nor comment, and store
** its length and type.  At the end of the text that is a TK_SEMI of length 0.
*/
static const char *hpTailToken(const char *z, i64 *pn, int *peType){
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
** The statement being parsed has an ORDER or a LIMIT at z.  If that is the
** tail of an UPDATE or DELETE, remember it and return its length in bytes.
** Otherwise return 0.
**
** A tail stands outside of all parentheses and ends before the semicolon.
** The first keyword tells which statement this is, or after WITH the first
** one outside of parentheses that may follow the common table expressions.
** A CREATE TRIGGER is neither: upstream's grammar has no tail there.
*/
SQLITE_PRIVATE i64 sqlite3HpTailFind(Parse *pParse, const char *z){
  const char *zAt = pParse->zTail;  /* The current token */
  i64 n = 0;                        /* Length of the current token */
  int eType;                        /* Type of the current token */
  int nParen = 0;                   /* Open parentheses */
  int bWith = 0;                    /* True after WITH */
  int bVerb = 0;                    /* True after UPDATE or DELETE */

  if( pParse->hpTail.n ) return 0;
  while( (zAt = hpTailToken(zAt+n, &n, &eType))<z ){
    if( eType==TK_LP ){
      nParen++;
    }else if( eType==TK_RP ){
      nParen--;
    }else if( !bVerb && nParen==0 ){
      switch( eType ){
        case TK_UPDATE: case TK_DELETE:
          bVerb = 1;
          break;
        case TK_WITH:
          bWith = 1;
          break;
        case TK_SEMI: case TK_EXPLAIN: case TK_QUERY: case TK_PLAN:
          break;
        case TK_SELECT: case TK_VALUES: case TK_INSERT:
          return 0;
        default:
          if( !bWith ) return 0;
          break;
      }
    }
  }
  if( !bVerb || nParen!=0 ) return 0;
  pParse->hpTail.z = z;
  while( eType!=TK_SEMI ){
    pParse->hpTail.n = zAt + n - z;
    zAt = hpTailToken(zAt+n, &n, &eType);
  }
  return pParse->hpTail.n;
}

/*
** Parse the tail of the UPDATE or DELETE at hand, if it has one.  Its clauses
** are then in Parse.hpTail.  They are the caller's; after an error they are
** NULL.
*/
SQLITE_PRIVATE void sqlite3HpTailParse(Parse *pParse){
  sqlite3 *db = pParse->db;
  const char *z = pParse->hpTail.z;    /* The current token */
  const char *zEnd = z + pParse->hpTail.n;
  Token sSaved = pParse->sLastToken;   /* Last token of the first parser */
  int ePrev = TK_NULL;                 /* Type of the token before */
  int eType;                           /* Type of the current token */
  Token t;                             /* The current token */
  yyParser sEngine;                    /* The second parser */

  if( z==0 || pParse->nErr ) return;
  pParse->hpTail.bParsing = 1;
  sqlite3ParserInit(&sEngine, pParse);
  t.z = pParse->zTail;  /* A result column must have some text of its own */
  t.n = 0;
  sqlite3Parser(&sEngine, TK_SELECT, t);
  sqlite3Parser(&sEngine, TK_NULL, t);
  do{
    i64 n;
    if( z>=zEnd ){
      z = hpTailToken(z, &n, &eType);
    }else{
      n = sqlite3GetToken((const u8*)z, &eType);
    }
    t.z = z;
    t.n = (u32)n;
    z += n;
    switch( eType ){
      case TK_SPACE:
        continue;
      case TK_COMMENT:
        if( db->flags & SQLITE_Comments ) continue;
        /* no break */ deliberate_fall_through
      case TK_ILLEGAL:
        sqlite3ErrorMsg(pParse, "unrecognized token: \"%T\"", &t);
        continue;
#ifndef SQLITE_OMIT_WINDOWFUNC
      case TK_WINDOW:
        eType = analyzeWindowKeyword((const u8*)z);
        break;
      case TK_OVER:
        eType = analyzeOverKeyword((const u8*)z, ePrev);
        break;
      case TK_FILTER:
        eType = analyzeFilterKeyword((const u8*)z, ePrev);
        break;
#endif
      default:
        break;
    }
    pParse->sLastToken = t;
    sqlite3Parser(&sEngine, eType, t);
    ePrev = eType;
  }while( eType!=TK_SEMI && pParse->nErr==0 && pParse->rc==SQLITE_OK );
  sqlite3ParserFinalize(&sEngine);
  pParse->sLastToken = sSaved;
  pParse->hpTail.bParsing = 0;
}

/*
** A SELECT statement has been parsed.  If it is the one that stands for the
** tail of an UPDATE or DELETE, keep its ORDER BY and LIMIT, delete the rest,
** and return true.
*/
SQLITE_PRIVATE int sqlite3HpTailTake(Parse *pParse, Select *p){
  if( !pParse->hpTail.bParsing ) return 0;
  if( p ){
    pParse->hpTail.pOrderBy = p->pOrderBy;
    pParse->hpTail.pLimit = p->pLimit;
    p->pOrderBy = 0;
    p->pLimit = 0;
    sqlite3SelectDelete(pParse->db, p);
    pParse->nSelect--;  /* EXPLAIN QUERY PLAN shows these numbers */
  }
  return 1;
}
#endif /* HP_UPDATE_DELETE_LIMIT */
