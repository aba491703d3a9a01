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
** A field of a record is the result column that goes there, or the default of a
** column that is not named.  The affinity of the column is applied to it, as
** OP_MakeRecord does: to one without affinity values of the scanned table go as
** they are stored, without being decoded.  In a REAL column whole numbers are
** stored as integers (HP_FIELD_WHOLE).
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
** A column of the table that gets pExpr, or NULL if that is NULL, in the next
** field of its records.
*/
static int hpFillPlanField(
  HpCompile *pC,
  HpFillPlan *pFill,
  int *pnAlloc,
  const Column *pCol,
  Expr *pExpr
){
  HpField *pField;
  int iVec;
  assert( pC->pPipe->pSort==&pFill->rows && pCol!=0 );
  if( pExpr==0 ){
    /* Where that is not allowed, SQLite knows the message */
    if( pCol->notNull ) return SQLITE_ERROR;
    return hpSortPlanNew(pC, pnAlloc, HP_FIELD_NULL) ? SQLITE_OK : SQLITE_NOMEM;
  }
  if( pCol->affinity<=SQLITE_AFF_BLOB && pCol->notNull==OE_None ){
    return hpSortPlanField(pC, pnAlloc, pExpr, 0);
  }
  if( pCol->affinity>SQLITE_AFF_REAL ) return SQLITE_ERROR;
  iVec = hpCompileExpr(pC, pExpr);
  if( iVec>=0 && pCol->affinity>SQLITE_AFF_BLOB ){
    iVec = hpCompileAff(pC, HP_OP_AFFINITY, pCol->affinity, iVec);
  }
  if( iVec<0 ) return SQLITE_ERROR;
  pField = hpSortPlanNew(pC, pnAlloc, HP_FIELD_VEC);
  if( pField==0 ) return SQLITE_NOMEM;
  if( pCol->affinity==SQLITE_AFF_REAL ) pField->eField = HP_FIELD_WHOLE;
  pField->iVec = (u16)iVec;
  if( pCol->notNull ) pFill->aNotNull[pFill->nNotNull++] = (u16)iVec;
  return SQLITE_OK;
}

/*
** The expression that column i of pTab gets, or NULL: that of a result column
** of pSelect, or its default, which is a copy, as the schema's own may not be
** coded.  Sets *pbRefuse for a default that may be another one for each row.
*/
static Expr *hpFillPlanValue(
  HpCompile *pC,
  Table *pTab,
  const Select *pSelect,
  const int *aiFrom,
  int i,
  int *pbRefuse
){
  const ExprList *pList = pSelect->pEList;
  int iFrom = aiFrom ? aiFrom[i] : i+1;
  Expr *pExpr;
  assert( iFrom>=0 && iFrom<=pList->nExpr );
  if( iFrom>0 ) return pList->a[iFrom-1].pExpr;
  pExpr = sqlite3ColumnExpr(pTab, &pTab->aCol[i]);
  if( pExpr==0 ) return 0;
  if( pExpr->op==TK_SPAN ) pExpr = pExpr->pLeft;
  pExpr = sqlite3ExprDup(pC->pParse->db, pExpr, 0);
  if( pExpr==0 || sqlite3ExprDeferredDelete(pC->pParse, pExpr)
   || !hpCompileIsConst(pC, pExpr)
  ){
    *pbRefuse = 1;
  }
  return pExpr;
}

/*
** The rowid: result column iKey of pSelect.  NULL is as if it were not named.
*/
static int hpFillPlanKey(
  HpCompile *pC,
  HpFillPlan *pFill,
  const Select *pSelect,
  int iKey
){
  Expr *pExpr;
  int iVec;
  pFill->iKey = HP_NO_VEC;
  if( iKey<0 ) return SQLITE_OK;
  assert( iKey<pSelect->pEList->nExpr );
  pExpr = sqlite3ExprSkipCollate(pSelect->pEList->a[iKey].pExpr);
  if( pExpr && pExpr->op==TK_NULL ) return SQLITE_OK;
  iVec = hpCompileExpr(pC, pExpr);
  if( iVec<0 ) return SQLITE_ERROR;
  pFill->iKey = (u16)iVec;
  return SQLITE_OK;
}

/* Does operation pOp want no more than the type or the length of a value? */
static int hpFillPlanIsPart(const HpOp *pOp){
  if( pOp->eOp==HP_OP_ISNULL ) return 1;
  return pOp->eOp==HP_OP_FUNC
      && (((const FuncDef*)pOp->pInfo)->funcFlags
            & (SQLITE_FUNC_LENGTH|SQLITE_FUNC_TYPEOF))!=0;
}

/*
** Are all values of the columns that the plan reads wanted as a whole, by some
** field of the records or by an operation?  Then SQLite reads overflow pages,
** too, though a type or a length is wanted as well.
*/
static int hpFillPlanIsWhole(const HpPipePlan *pPipe){
  const HpSortPlan *pSort = pPipe->pSort;
  const HpProg *pProg = &pPipe->prog;
  int i, k;
  for(i=0; i<pProg->nOp; i++){
    const HpOp *pOp = &pProg->aOp[i];
    if( pOp->eOp!=HP_OP_COLUMN ) continue;
    for(k=0; k<pSort->nField; k++){
      const HpField *pField = &pSort->aField[k];
      if( hpFieldIsVec(pField) && pField->iVec==pOp->iOut ) break;
      if( pField->eField==HP_FIELD_RAW && pField->iCol<=pOp->a
       && pField->iCol+pField->n>pOp->a
      ){
        break;
      }
    }
    if( k<pSort->nField ) continue;
    for(k=i+1; k<pProg->nOp; k++){
      if( hpLiveOpReads(pProg, &pProg->aOp[k], pOp->iOut)
       && !hpFillPlanIsPart(&pProg->aOp[k])
      ){
        break;
      }
    }
    if( k==pProg->nOp ) return 0;
  }
  return 1;
}

/* What is filled: the arguments of sqlite3HpFillBegin() */
typedef struct HpFillTo HpFillTo;
struct HpFillTo {
  Table *pTab;
  const int *aiFrom;
  int iKey;
};

static int hpFillPlanBegin(HpCompile *pC){
  const Table *pTab = ((HpFillTo*)pC->pTop->pMore)->pTab;
  HpFillPlan *pFill = hpCompileAlloc(pC->pPlan, sizeof(*pFill));
  pC->pPlan->xTask = hpFillRun;
  pC->pPipe->pSink = &hpSinkSpool;
  pC->pPipe->pFill = pFill;
  if( pFill==0 ) return SQLITE_NOMEM;
  pFill->aNotNull = hpCompileAlloc(pC->pPlan, sizeof(u16)*(i64)pTab->nCol);
  if( pFill->aNotNull==0 ) return SQLITE_NOMEM;
  pC->pPipe->pSort = &pFill->rows;
  pFill->rows.row.entry.bRows = 1;
  pFill->rows.row.entry.szEntry = sizeof(HpPair);
  pFill->bCount = pTab!=pC->pParse->pNewTable;
  return SQLITE_OK;
}

/* The rowid, and a field for each column of the table */
static int hpFillPlanSink(HpCompile *pC){
  const HpFillTo *pTo = (HpFillTo*)pC->pTop->pMore;
  const Select *pSelect = pC->pTop->pSelect;
  HpFillPlan *pFill = pC->pPipe->pFill;
  Table *pTab = pTo->pTab;
  int bRefuse = 0;
  int nAlloc = 0;
  int rc = hpFillPlanKey(pC, pFill, pSelect, pTo->iKey);
  int i;
  for(i=0; i<pTab->nCol && rc==SQLITE_OK; i++){
    Expr *pExpr = 0;
    if( i!=pTab->iPKey ){
      pExpr = hpFillPlanValue(pC, pTab, pSelect, pTo->aiFrom, i, &bRefuse);
      rc = bRefuse ? SQLITE_ERROR
         : hpFillPlanField(pC, pFill, &nAlloc, &pTab->aCol[i], pExpr);
    }else if( hpSortPlanNew(pC, &nAlloc, HP_FIELD_NULL)==0 ){
      rc = SQLITE_NOMEM;
    }
  }
  return rc;
}

static const HpOutput hpFillPlanOutput = {
  HP_IN(HP_LOP_SCAN),
  HP_OUT_OWN,            /* The application might look at what is written */
  HP_NO_OTHER,
  hpFillPlanBegin, 0, hpFillPlanSink, 0
};

/*
** The plan of the rows that pSelect gives for *pTo, or NULL if it is refused.
*/
static HpPlan *hpFillPlan(Parse *pParse, HpFillTo *pTo, Select *pSelect){
  HpLop in, top;
  HpPlan *pPlan;
  memset(&in, 0, sizeof(in));
  memset(&top, 0, sizeof(top));
  in.eOp = HP_LOP_SCAN;
  in.pItem = &pSelect->pSrc->a[0];
  in.pWhere = pSelect->pWhere;
  top.eOp = HP_LOP_FILL;
  top.pIn = &in;
  top.pSelect = pSelect;
  top.pMore = pTo;
  pPlan = hpLower(pParse, &top, &hpFillPlanOutput);
  if( pPlan && hpFillPlanIsWhole(&pPlan->aPipe[0]) ){
    pPlan->aPipe[0].source.eTypeOnly = 0;
  }
  return pPlan;
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
  pPlan = hpFillPlan(pParse, &to, pSelect);
  return pPlan ? hpDeliverTask(pParse, pPlan, 0, iTo) : 0;
}
#endif /* SQLITE_OMIT_HP */
