/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_fillplan: rows of a scan that fill a table (prepare time).
**
**    sqlite3HpFillBegin()   before SQLite's loop over the rows: OP_HpTask
**
** CREATE TABLE AS and INSERT ... SELECT code their SELECT as a co-routine, and
** a loop that inserts the rows it gives:
**
**            InitCoroutine
**            ...              the SELECT
**            OpenWrite        the table
**            HpTask  P2=end   as sqlite3HpFillBegin() codes it
**    next:   Yield            SQLite's loop
**            MakeRecord
**            NewRowid
**            Insert
**            Goto next
**    end:
**
** What the planner chose for the SELECT has to be a scan of one b-tree, all of
** it or a range: hpChoiceFill() has noted so.  Rows have numbers in the order
** of that scan.  So whatever changes it is left to SQLite: joins, aggregates,
** DISTINCT, ORDER BY, LIMIT, windows, the search of an index that has not all
** columns.
**
** The table may have NOT NULL columns, and an INTEGER PRIMARY KEY.  Left to
** SQLite are tables with anything else that looks at a row: indexes, CHECK,
** foreign keys, triggers, AUTOINCREMENT, STRICT, generated columns.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** May rows be put into pTab by their records alone?
*/
static int hpFillPlanMay(Parse *pParse, Table *pTab){
  sqlite3 *db = pParse->db;
#ifdef SQLITE_ENABLE_NULL_TRIM
  return 0;              /* Records would be shorter */
#endif
  if( !hpTaskPlanMay(pParse) || pParse->nested || pParse->pToplevel ) return 0;
  if( (db->mDbFlags & DBFLAG_Vacuum) || (db->flags & SQLITE_CountRows) ){
    return 0;
  }
  assert( pTab!=0 && pParse->pVdbe!=0 );
  if( !IsOrdinaryTable(pTab) || !HasRowid(pTab) || pTab->pIndex ) return 0;
  /* Of the table that CREATE makes the root page is not known yet */
  if( pTab->tnum<=1 && pTab!=pParse->pNewTable ) return 0;
#ifndef SQLITE_OMIT_CHECK
  if( pTab->pCheck ) return 0;
#endif
  if( pTab->tabFlags & (TF_Autoincrement|TF_Strict|TF_HasGenerated|TF_HasHidden
                        |TF_Ephemeral)
  ){
    return 0;
  }
#if !defined(SQLITE_OMIT_FOREIGN_KEY) && !defined(SQLITE_OMIT_TRIGGER)
  if( sqlite3FkRequired(pParse, pTab, 0, 0) ) return 0;
#endif
  return 1;
}

/*
** Is p the SELECT of a scan of one b-tree?
*/
static int hpFillPlanIsScan(const Select *p){
  const SrcItem *pItem = &p->pSrc->a[0];
  if( p->pPrior || p->pSrc->nSrc!=1 || pItem->hp.bFill==0 ) return 0;
  if( p->pLimit || p->iLimit || p->pOrderBy || p->pHaving ) return 0;
  if( p->selFlags & (SF_Aggregate|SF_Distinct) ) return 0;
#ifndef SQLITE_OMIT_WINDOWFUNC
  if( p->pWin ) return 0;
#endif
  return hpSubselectIsTable(pItem);
}

/*
** SQLite is about to code the loop that puts the rows of pSelect, which has
** been coded as a co-routine, into pTab, open as cursor iTo.  Returns the
** address of OP_HpTask, or 0 if it is left to SQLite.
*/
SQLITE_PRIVATE int sqlite3HpFillBegin(
  Parse *pParse,
  Table *pTab,
  Select *pSelect,
  const int *aiFrom,     /* Of each column of pTab the result column for it,
                         ** plus one; 0: its default.  NULL: in order */
  int iKey,              /* The result column that is the rowid, or -1 */
  int iTo
){
  HpFillTo to;
  HpPlan *pPlan;
  if( pSelect==0 || !hpFillPlanMay(pParse, pTab) ) return 0;
  if( !hpFillPlanIsScan(pSelect) ) return 0;
  if( !hpWorthMayPay(pParse, &pSelect->pSrc->a[0], HP_MIN_LEAF) ){
    hpCompileSmall(pParse);
    return 0;
  }
  assert( aiFrom!=0 || pSelect->pEList->nExpr==pTab->nCol );
  to.pTab = pTab;
  to.aiFrom = aiFrom;
  to.iKey = iKey;
  pPlan = hpOutFill(pParse, &to, pSelect);
  return pPlan ? hpDeliverTask(pParse, pPlan, 0, iTo) : 0;
}
#endif /* SQLITE_OMIT_HP */
