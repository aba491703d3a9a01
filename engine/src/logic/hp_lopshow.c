/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_lopshow: a tree of operators as text, for tests (prepare time).
**
**    hpLopShow()    a line of EXPLAIN QUERY PLAN
**
** With HPSQLITE_TEST=tree=show EXPLAIN QUERY PLAN has the tree of a query that
** is taken over, before its pipes (hp_show.c):
**
**    TREE: GROUP <- JOIN f, INNER d by 1, SINGLE GROUP u by 2
**
** which is the output, its input, and of a join the table that drives, then
** every other input with the way it is joined, what it is, and the number of
** its keys.  engine/test/plans has the texts of the statements of some tests.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifndef SQLITE_OMIT_EXPLAIN
/* One input of a join */
static void hpLopShowInput(const HpInput *p, StrAccum *pOut){
  static const char *const azJoin[] = {
    "", "INNER ", "LEFT ", "SEMI ", "", "MARK ", "SINGLE "
  };
  assert( ArraySize(azJoin)==HP_JOIN_SINGLE+1 && p->eJoin<=HP_JOIN_SINGLE );
  sqlite3_str_appendf(pOut, "%s%s%S", azJoin[p->eJoin],
                      hpInputHasGroups(p) ? "GROUP " : "", p->pItem);
  if( p->nKey ) sqlite3_str_appendf(pOut, " by %d", p->nKey);
  if( p->bSpan ) sqlite3_str_appendall(pOut, " and a span");
  if( p->iTwin>=0 ) sqlite3_str_appendall(pOut, " (twin)");
}

/* The inputs of a join: the one that drives is the first */
static void hpLopShowJoin(const HpJoin *p, StrAccum *pOut){
  int i;
  hpLopShowInput(&p->aIn[p->iRoot], pOut);
  for(i=0; i<p->nIn; i++){
    if( i==p->iRoot || p->aIn[i].eJoin==HP_JOIN_NONE ) continue;
    sqlite3_str_appendall(pOut, ", ");
    hpLopShowInput(&p->aIn[i], pOut);
  }
  if( p->bPart ) sqlite3_str_appendall(pOut, " (what leaves rows out)");
}
#endif /* SQLITE_OMIT_EXPLAIN */

static void hpLopShow(Parse *pParse, const HpLop *pTop){
#ifndef SQLITE_OMIT_EXPLAIN
  static const char *const azOp[] = {
    "SCAN", "JOIN", "UNION", "GROUP", "SET", "SORT", "TOP", "DISTINCT",
    "FILTER", "KEYED", "FILL"
  };
  const HpLop *pIn = pTop->pIn;
  StrAccum out;
  char *z;
  if( pParse->explain!=2 || !hpConfig()->bShow ) return;
  assert( ArraySize(azOp)==HP_LOP_FILL+1 && pIn!=0 );
  sqlite3StrAccumInit(&out, pParse->db, 0, 0, SQLITE_MAX_LENGTH);
  out.printfFlags |= SQLITE_PRINTF_INTERNAL;     /* %S is a term of FROM */
  sqlite3_str_appendf(&out, "%s <- %s ", azOp[pTop->eOp], azOp[pIn->eOp]);
  if( pIn->pJoin ){
    hpLopShowJoin(pIn->pJoin, &out);
  }else if( pIn->eOp==HP_LOP_UNION ){
    const Select *p;
    for(p=hpUnionFirst(pIn->pItem); p; p=hpUnionNext(p)){
      sqlite3_str_appendf(&out, "%s%S", p->pPrior ? ", " : "", &p->pSrc->a[0]);
    }
  }else{
    sqlite3_str_appendf(&out, "%S", pIn->pItem);
  }
  z = sqlite3StrAccumFinish(&out);
  if( z ) ExplainQueryPlan((pParse, 0, "TREE: %s", z));
  sqlite3DbFree(pParse->db, z);
#else
  UNUSED_PARAMETER(pParse);
  UNUSED_PARAMETER(pTop);
#endif
}
#endif /* SQLITE_OMIT_HP */
