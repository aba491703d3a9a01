/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_outfill: output FILL: records that fill a table (prepare time).
**
**    hpOutFill()    the plan of the rows of a SELECT for a table
**
** A field of a record is the result column that goes there, or the default of a
** column that is not named.  The affinity of the column is applied to it, as
** OP_MakeRecord does: to one without affinity values of the scanned table go as
** they are stored, without being decoded.  In a REAL column whole numbers are
** stored as integers (HP_FIELD_WHOLE).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** A column of the table that gets pExpr, or NULL if that is NULL, in the next
** field of its records.
*/
static int hpOutFillField(
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
    return hpOutSortNew(pC, pnAlloc, HP_FIELD_NULL) ? SQLITE_OK : SQLITE_NOMEM;
  }
  if( pCol->affinity<=SQLITE_AFF_BLOB && pCol->notNull==OE_None ){
    return hpOutSortField(pC, pnAlloc, pExpr, 0);
  }
  if( pCol->affinity>SQLITE_AFF_REAL ) return SQLITE_ERROR;
  iVec = hpCompileExpr(pC, pExpr);
  if( iVec>=0 && pCol->affinity>SQLITE_AFF_BLOB ){
    iVec = hpCompileAff(pC, HP_OP_AFFINITY, pCol->affinity, iVec);
  }
  if( iVec<0 ) return SQLITE_ERROR;
  pField = hpOutSortNew(pC, pnAlloc, HP_FIELD_VEC);
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
static Expr *hpOutFillValue(
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
static int hpOutFillKey(
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
static int hpOutFillIsPart(const HpOp *pOp){
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
static int hpOutFillIsWhole(const HpPipePlan *pPipe){
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
       && !hpOutFillIsPart(&pProg->aOp[k])
      ){
        break;
      }
    }
    if( k==pProg->nOp ) return 0;
  }
  return 1;
}

static int hpOutFillBegin(HpCompile *pC){
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
static int hpOutFillSink(HpCompile *pC){
  const HpFillTo *pTo = (HpFillTo*)pC->pTop->pMore;
  const Select *pSelect = pC->pTop->pSelect;
  HpFillPlan *pFill = pC->pPipe->pFill;
  Table *pTab = pTo->pTab;
  int bRefuse = 0;
  int nAlloc = 0;
  int rc = hpOutFillKey(pC, pFill, pSelect, pTo->iKey);
  int i;
  for(i=0; i<pTab->nCol && rc==SQLITE_OK; i++){
    Expr *pExpr = 0;
    if( i!=pTab->iPKey ){
      pExpr = hpOutFillValue(pC, pTab, pSelect, pTo->aiFrom, i, &bRefuse);
      rc = bRefuse ? SQLITE_ERROR
         : hpOutFillField(pC, pFill, &nAlloc, &pTab->aCol[i], pExpr);
    }else if( hpOutSortNew(pC, &nAlloc, HP_FIELD_NULL)==0 ){
      rc = SQLITE_NOMEM;
    }
  }
  return rc;
}

static const HpOutput hpOutFillType = {
  HP_IN(HP_LOP_SCAN),    /* Rows get their rowids in the order of one scan */
  HP_OUT_OWN,            /* The application might look at what is written */
  HP_NO_OTHER,
  hpOutFillBegin, 0, hpOutFillSink, 0
};

/*
** The plan of the rows that pSelect gives for *pTo, or NULL if it is refused.
*/
static HpPlan *hpOutFill(Parse *pParse, HpFillTo *pTo, Select *pSelect){
  HpLop in, top;
  HpPlan *pPlan;
  hpLopTree(&top, HP_LOP_FILL, pSelect, &in, &pSelect->pSrc->a[0],
            pSelect->pWhere, 0);
  top.pMore = pTo;
  pPlan = hpLower(pParse, &top, &hpOutFillType);
  if( pPlan && hpOutFillIsWhole(&pPlan->aPipe[0]) ){
    pPlan->aPipe[0].source.eTypeOnly = 0;
  }
  return pPlan;
}
#endif /* SQLITE_OMIT_HP */
