/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_show: a plan as text, for tests (prepare time).
**
**    hpShowPlan()    lines of EXPLAIN QUERY PLAN, one for each pipe
**
** With HPSQLITE_TEST=tree=show EXPLAIN QUERY PLAN has, besides SQLite's
** lines, what each pipe of a plan does:
**
**    PIPE 1: t2 columns 3 filters 2 LOOKUP 0 GATHER 0.1 -> groups keys 1 ...
**
** which is what is scanned, how many columns of it, bounds, the program, and
** the sink.
**
** engine/test/plans has the texts of the statements of some tests: it is seen
** if less of a query is taken over than before.  So there is nothing in a line
** that depends on sizes, addresses or registers.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifndef SQLITE_OMIT_EXPLAIN
/* What is read */
static void hpShowSource(Parse *pParse, const HpSourcePlan *p, StrAccum *pOut){
  const HpRange *pRange = p->pRange;
  assert( p->pType!=0 && p->nCol>=0 );
  if( p->pType==&hpSetType ){
    sqlite3_str_appendall(pOut, "the rows of IN");
    return;
  }
  if( p->pType==&hpRegroupType ){
    sqlite3_str_appendall(pOut, "the groups before");
  }else{
    hpStepTree(pParse->db, p, pOut);
  }
  sqlite3_str_appendf(pOut, " columns %d", p->nCol);
  if( p->bPlaces ) sqlite3_str_appendall(pOut, " places");
  if( p->bOrder ) sqlite3_str_appendall(pOut, " in order");
  if( pRange ){
    /* Equalities, and which ends of the next column are bound */
    sqlite3_str_appendf(pOut, " range %d%s%s", pRange->nEq,
        pRange->aEnd[0].iReg ? " from" : "", pRange->aEnd[1].iReg ? " to" : "");
    if( pRange->nIn ) sqlite3_str_appendf(pOut, " in %d", pRange->nIn);
  }
}

/* What is computed: filters, and how other relations are read */
static void hpShowProg(const HpPipePlan *pPipe, StrAccum *pOut){
  static const char *const azOp[] = { "LOOKUP", "ROW", "GATHER", "SET" };
  const HpProg *p = &pPipe->prog;
  int i;
  assert( ArraySize(azOp)==HP_OP_SET-HP_OP_LOOKUP+1 );
  assert( p->nRange<=p->nFilter );
  if( p->nFilter ) sqlite3_str_appendf(pOut, " filters %d", p->nFilter);
  if( p->nRange ) sqlite3_str_appendf(pOut, " (%d of the range)", p->nRange);
  for(i=0; i<p->nOp; i++){
    const HpOp *pOp = &p->aOp[i];
    if( pOp->eOp<HP_OP_LOOKUP || pOp->eOp>HP_OP_SET ) continue;
    sqlite3_str_appendf(pOut, " %s %d", azOp[pOp->eOp-HP_OP_LOOKUP], pOp->a);
    if( pOp->eOp==HP_OP_GATHER ) sqlite3_str_appendf(pOut, ".%d", pOp->b);
    if( pOp->eOp==HP_OP_LOOKUP && pOp->n>1 ){
      sqlite3_str_appendf(pOut, " by %d", pOp->n);
    }
  }
  if( pPipe->nWant ) sqlite3_str_appendf(pOut, " wants %d", pPipe->nWant);
  if( pPipe->nSubWant ){
    sqlite3_str_appendf(pOut, " late %d", pPipe->nSubWant);
  }
  if( pPipe->bSerial ) sqlite3_str_appendall(pOut, " serial");
}

/* What becomes of the rows */
static void hpShowSink(const HpPipePlan *p, StrAccum *pOut){
  assert( p->pSink!=0 );
  if( p->pGroup ){
    const HpGroupPlan *pGroup = p->pGroup;
    sqlite3_str_appendf(pOut, " -> groups keys %d aggregates %d",
                        pGroup->keys.n, pGroup->nAgg);
    if( pGroup->nBare ) sqlite3_str_appendf(pOut, " bare %d", pGroup->nBare);
    if( pGroup->nSet ) sqlite3_str_appendf(pOut, " distinct %d", pGroup->nSet);
    if( pGroup->nLate ) sqlite3_str_appendf(pOut, " calls %d", pGroup->nLate);
    if( pGroup->nHaving ){
      sqlite3_str_appendf(pOut, " having %d", pGroup->nHaving);
    }
    if( pGroup->top.iLimitReg ) sqlite3_str_appendall(pOut, " first ones");
    if( pGroup->bInOrder ) sqlite3_str_appendall(pOut, " given in order");
    if( pGroup->bAnyOrder ) sqlite3_str_appendall(pOut, " any order");
  }else if( p->pFill ){
    sqlite3_str_appendf(pOut, " -> records fields %d%s", p->pSort->nField,
        p->pFill->iKey==HP_NO_VEC ? "" : " with rowids");
  }else if( p->pSort ){
    sqlite3_str_appendf(pOut, " -> sorted by %d fields %d%s",
        p->pSort->row.keys.n, p->pSort->nField,
        p->pSort->pPart ? " first of partitions" : "");
  }else if( p->pFind ){
    sqlite3_str_appendf(pOut, " -> %s keys %d",
        p->pSink==&hpSinkTop ? "first rows" :
        p->pSink==&hpSinkFirst ? "one row each" : "rows", p->pFind->keys.n);
    if( p->pFind->bPieces ) sqlite3_str_appendall(pOut, " by pieces");
  }else if( p->pRel ){
    sqlite3_str_appendf(pOut, " -> relation %d keys %d", p->pRel->iRel,
                        p->pRel->key.keys.n);
    if( p->pRel->nCol ) sqlite3_str_appendf(pOut, " columns %d", p->pRel->nCol);
    if( p->pRel->bSemi ) sqlite3_str_appendall(pOut, " semi");
  }else if( p->pPrefix && p->pSink==&hpSinkNone ){
    sqlite3_str_appendall(pOut, " -> none");
  }else if( p->pPrefix ){
    sqlite3_str_appendf(pOut, " -> prefixes keys %d%s",
        p->pPrefix->keys.n, p->pPrefix->bUnique ? " unique" : "");
  }else if( p->pCheck ){
    sqlite3_str_appendf(pOut, " -> types %d checks %d sums %d order %d",
        p->pCheck->nType, p->pCheck->nTrue, p->pCheck->nSum,
        p->pCheck->order.n);
  }
  if( p->bMore ) sqlite3_str_appendall(pOut, ", and more of the next pipe");
}

/* One line */
static void hpShowPipe(Parse *pParse, const char *zWhat, int n, HpPipePlan *p){
  StrAccum out;
  char *z;
  assert( pParse->explain==2 );
  sqlite3StrAccumInit(&out, pParse->db, 0, 0, SQLITE_MAX_LENGTH);
  hpShowSource(pParse, &p->source, &out);
  hpShowProg(p, &out);
  hpShowSink(p, &out);
  z = sqlite3StrAccumFinish(&out);
  if( z ) ExplainQueryPlan((pParse, 0, "%s %d: %s", zWhat, n, z));
  sqlite3DbFree(pParse->db, z);
}
#endif /* SQLITE_OMIT_EXPLAIN */

/*
** pPlan has been compiled: EXPLAIN QUERY PLAN shows it, if that is asked for.
*/
static void hpShowPlan(Parse *pParse, HpPlan *pPlan){
#ifndef SQLITE_OMIT_EXPLAIN
  int i;
  if( pParse->explain!=2 || !hpConfig()->bShow ) return;
  for(i=0; i<pPlan->nSet; i++){
    hpShowPipe(pParse, "SET", i, &pPlan->aSet[i].pipe);
  }
  for(i=0; i<pPlan->nPipe; i++){
    hpShowPipe(pParse, "PIPE", i, &pPlan->aPipe[i]);
  }
#else
  UNUSED_PARAMETER(pParse);
  UNUSED_PARAMETER(pPlan);
#endif
}
#endif /* SQLITE_OMIT_HP */
