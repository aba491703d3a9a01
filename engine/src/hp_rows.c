/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_rows: queries that need few of the rows that they scan.
**
**    sqlite3HpRowsAccept()  after the planner chose: is it such a query?
**    sqlite3HpCodeRows()    after stock's loop: code ours
**    hpRowsOpen()           begin to look for rows
**    hpRowsStep()           look at the selected rows of a batch
**    hpRowsRun()            a run of leaves is done
**    hpRowsMerge()          put together what the workers found
**    sqlite3HpRow()         OP_HpRow: go to the next row found
**
** There are three ways to leave most rows out:
**
**    HP_SINK_TOP     ORDER BY ... LIMIT: the first N rows in the order of
**                    the ORDER BY terms; of equal rows those scanned first
**    HP_SINK_FIRST   SELECT DISTINCT: a row whose values were not seen before
**    HP_SINK_ROWS    WHERE, and something that takes all rows in one step (a
**                    sorter, a table of results, INSERT): the rows that pass
**
** The executor computes no result.  It finds the rowids of the rows that can
** matter, reading no more columns than it takes to tell, and then stock's own
** loop runs over these rows instead of all rows: WHERE terms, LIMIT, the
** sorter, the table of distinct rows, the result columns are all stock's.
** So what is found has to be a superset of the rows that matter, in scan
** order, and nothing more.  HP_SINK_FIRST uses this freedom: it takes values
** for equal only if their bytes are, whatever the collation.
**
**           Rewind -> Goto hp        the noted instruction
**    body:  ...                      stock: filter, sort, output
**           Next -> HpRow body       next row found; or as Next, if declined
**    end:   Goto skip
**    hp:    ...                      constants into registers
**           HpScan  P1=r P2=stock    find rows; on HP_DECLINE jump to stock
**           HpRow body               first row found
**           Goto halt                there is none: as Rewind jumps
**    stock: Rewind halt              the copy
**           Goto body
**    skip:
**
** Each worker finds rows of its own, which are put together and in order of
** their rowids.  The scan may end early: when too many rows turn out to
** matter, or memory is short, no more runs are taken (HpScan.bEnd), what was
** found so far is delivered, and stock's loop goes on at the rowid that was
** scanned last.  Runs are taken in order, so that is one place.  So little is
** lost by trying, and memory is bounded.
**
** SELECT DISTINCT without ORDER BY returns rows to the application, which may
** write to the table before it asks for the next one; an INSERT that takes rows
** may do so through a foreign key.  A write saves the positions of all cursors
** of a b-tree; OP_HpRow sees that its cursor was, forgets what was found and
** goes on as OP_Next does.
**
** A row that is left out is not seen by the expressions of the result.
** That makes a difference where they raise errors (abs() of the smallest
** integer) or where they have side effects: hpRowsSafe().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Largest LIMIT plus OFFSET.  So many rows are kept with their keys. */
#define HP_MX_TOP      100000

/*
** A row costs more if it is found first and visited by stock's loop
** afterwards, so a scan that finds too many is ended: see hpRowsTooMany().  Not
** before so many rows, or one row of the table in so many, are scanned: that
** is what a wrong guess costs.
*/
#define HP_MN_PROBE    4096
#define HP_PROBE_SHARE 32
#define HP_MIN_PROBED  256    /* Leaves of a table where a guess costs little */
#define HP_TOP_SHARE   60     /* LIMIT is small if below one row in so many */
#define HP_FIRST_SHARE 6      /* Few rows are distinct: one in so many */

/* About what it costs stock to go to a row found, and to fetch another leaf,
** and what it saves not to filter a row and not to fetch a leaf: nanoseconds */
#define HP_NS_SEEK     150
#define HP_NS_FETCH    1200
#define HP_NS_ROW      12
#define HP_NS_LEAF     400

#define HP_MX_BOUND    7      /* Last column of a record that HpBound tests */
#define HP_BOUND_OFF   16     /* Runs without HpBound where it left few out */

/* A value that is kept */
typedef struct HpKept HpKept;
struct HpKept {
  HpVal val;             /* z points into the arena */
  u32 n;                 /* Bytes of text or blob */
  u32 nAlloc;            /* Bytes at aBuf */
  u8 *aBuf;              /* Space for text or blob, from the arena */
  u8 tag;                /* HP_xxx */
};

/* What a worker finds; after the scan, of the first worker: what all found */
struct HpRows {
  i64 *aRowid;           /* Rowids found */
  i64 nRowid;            /* Entries of aRowid */
  i64 nAlloc;            /* Entries allocated */
  i64 iNext;             /* Next entry to deliver */
  i64 iLast;             /* Last rowid of the last run */
  u8 bLast;              /* True if iLast is set */
  u8 bBegun;             /* Some row has been delivered */
  u8 bForce;             /* For tests: do not stop */
  HpArena arena;         /* Keys, and their text */
  u16 *aCand;            /* HP_SINK_TOP: rows of a batch that may be better */
  i64 mxTop;             /* HP_SINK_TOP: rows wanted */
  i64 nTop;              /* HP_SINK_TOP: rows kept */
  u8 **apTop;            /* A heap of the best rows, the worst one on top: */
                         /*   the rowid, and the keys as HpKept */
  i64 nTableRow;         /* About so many rows in the table.  0: unknown */
  HpBound bound;         /* What the filters say about HpExec.bound */
  int nBoundOff;         /* So many more runs without HpExec.bound */
  u64 nScanned;          /* HpExec.nScanned when the run began */
  u64 nSkipped;          /* HpExec.nSkipped when the run began */
  i64 nFound;            /* nRowid when the run began */
  i64 nLeaf;             /* Leaves scanned */
  double rFirst;         /* Share of rows found in the first run */
  u64 *aHash;            /* HP_SINK_FIRST: hash values of a batch */
  u32 *aSlot;            /* Hash table: salt, index into aKey plus one */
  u32 mSlot;             /* Number of its entries, less one */
  u32 nKey;              /* Entries of aKey */
  u32 nKeyAlloc;         /* Entries allocated */
  HpKept *aKey;          /* Values seen, nKey a row */
  i64 nTable;            /* Bytes of aSlot and aKey */
};

/*****************************************************************************
** At prepare time.
*/

/*
** Walker: may pExpr be evaluated for fewer rows than stock would?  Only if
** it cannot fail and has no effect.  (u.n tells that it will be evaluated for
** all rows that matter anyway: then it may fail, but not call functions of the
** application, which might write to the table.)
*/
static int hpRowsSafeExpr(Walker *pWalker, Expr *pExpr){
  static void (*const axSafe[])(sqlite3_context*,int,sqlite3_value**) = {
    lengthFunc, upperFunc, lowerFunc, substrFunc, roundFunc, instrFunc,
    trimFunc, typeofFunc, nullifFunc, unicodeFunc, versionFunc, minmaxFunc,
  };
  int bLazy = pWalker->u.n;
  int i;
  switch( pExpr->op ){
    case TK_COLUMN:
      if( !bLazy && ExprUseYTab(pExpr) && pExpr->y.pTab && pExpr->iColumn>=0
       && (pExpr->y.pTab->aCol[pExpr->iColumn].colFlags & COLFLAG_VIRTUAL)!=0
      ){
        break;
      }
      return WRC_Continue;
    case TK_FUNCTION: {
      FuncDef *pDef;
      int n = ExprUseXList(pExpr) && pExpr->x.pList ? pExpr->x.pList->nExpr : 0;
      if( ExprHasProperty(pExpr, EP_WinFunc) ){
        if( !bLazy && hpPartFunc(pExpr) ) return WRC_Prune;
        break;
      }
      pDef = sqlite3FindFunction(pWalker->pParse->db, pExpr->u.zToken, n,
                                 SQLITE_UTF8, 0);
      if( pDef==0 || (pDef->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) break;
      if( bLazy ) return WRC_Continue;
      for(i=0; i<ArraySize(axSafe); i++){
        if( pDef->xSFunc==axSafe[i] ) return WRC_Continue;
      }
      break;
    }
    case TK_SELECT: case TK_EXISTS:
      if( bLazy ) return WRC_Continue;
      break;
    case TK_AGG_FUNCTION: case TK_AGG_COLUMN: case TK_RAISE:
      break;
    default:
      return WRC_Continue;
  }
  pWalker->eCode = 0;
  return WRC_Abort;
}

/*
** See above.  Of the expression pExpr, or NULL, and those of pList.
*/
static int hpRowsSafe(Parse *pParse, Expr *pExpr, ExprList *pList, int bLazy){
  Walker w;
  memset(&w, 0, sizeof(w));
  w.pParse = pParse;
  w.eCode = 1;
  w.xExprCallback = hpRowsSafeExpr;
  w.xSelectCallback = bLazy ? sqlite3SelectWalkNoop : sqlite3SelectWalkFail;
  w.u.n = bLazy;
  if( sqlite3WalkExpr(&w, pExpr) || sqlite3WalkExprList(&w, pList) ) return 0;
  return w.eCode;
}

/*
** May LIMIT be a number of rows that hpRowsOpen() takes?
*/
static int hpRowsLimitOk(const Select *p){
  int n;
  if( p->pLimit==0 || !sqlite3ExprIsInteger(p->pLimit->pLeft, &n, 0, 0) ){
    return 1;
  }
  return n>0 && n<=HP_MX_TOP;
}

/*
** HP_SINK_xxx for query p, or 0.  pOrderBy is what a sorter has to do,
** eDistinct how DISTINCT is done.
**
** Where rows go straight to the application only DISTINCT is taken.  Rows that
** go to a co-routine are all asked for, by INSERT or the query around this one,
** unless the latter has a LIMIT: pDest->iSDParm2.
*/
static int hpRowsSink(
  Select *p,
  ExprList *pOrderBy,
  int eDistinct,
  SelectDest *pDest
){
  int eDest = pDest->eDest;
  if( eDest==SRT_Coroutine && pDest->iSDParm2 && pOrderBy==0 ) return 0;
  switch( eDest ){
    case SRT_Output: case SRT_Coroutine: case SRT_EphemTab: case SRT_Set:
    case SRT_Mem:
      break;
    default:
      return 0;
  }
  if( eDistinct==WHERE_DISTINCT_ORDERED ) return 0;
  if( eDistinct==WHERE_DISTINCT_UNORDERED ){
    /* With LIMIT and no sorter stock stops early */
    return p->iLimit==0 || pOrderBy ? HP_SINK_FIRST : 0;
  }
  if( pOrderBy && p->iLimit ) return hpRowsLimitOk(p) ? HP_SINK_TOP : 0;
  if( pOrderBy && eDistinct==WHERE_DISTINCT_NOOP && eDest!=SRT_Mem ){
    return HP_SINK_SORT;
  }
  if( p->pWhere==0 || p->iLimit ) return 0;
  if( pOrderBy || eDest==SRT_EphemTab || eDest==SRT_Set
   || eDest==SRT_Coroutine
  ){
    return HP_SINK_ROWS;
  }
  return 0;
}

/* Leaves that it takes: see hpRowsIsLarge(), hpSortIsSmall(), hpPartWorthIt() */
static int hpRowsLeast(const Select *p, int eSink){
  switch( eSink ){
    case HP_SINK_TOP:   return HP_MIN_LEAF;
    case HP_SINK_SORT:  return p->pHp ? HP_PART_LEAF : HP_MIN_PARALLEL;
    default:            return HP_MIN_PROBED;
  }
}

/* True if the scan that sqlite3HpAccept() found is one of a whole table */
static int hpRowsWhole(const SrcItem *pItem){
  return pItem->hp.pIdx==0 && !pItem->hp.bLower && !pItem->hp.bUpper;
}

/*
** The planner has chosen pWInfo for query p, which does not aggregate.  Return
** the address of the OP_Rewind of the scan if it is one of ours, else 0.
*/
SQLITE_PRIVATE int sqlite3HpRowsAccept(
  Parse *pParse,
  Select *p,
  WhereInfo *pWInfo,
  ExprList *pOrderBy,    /* What the sorter does, or NULL */
  int eDistinct,         /* WHERE_DISTINCT_xxx */
  SelectDest *pDest
){
  sqlite3 *db = pParse->db;
  SrcItem *pItem;
  int iRewind;
  int eSink;
  VdbeOp *pOp;
  if( db->hp.eOffload==HP_OFFLOAD_OFF || hpConfig()->bOff ) return 0;
  eSink = hpRowsSink(p, pOrderBy, eDistinct, pDest);
  if( eSink==0 || pParse->nested || pParse->nErr ) return 0;
  if( p->pWin ) return hpStat(db, HP_NO_WINDOW);
  pItem = &p->pSrc->a[0];
  if( p->pSrc->nSrc!=1 || ENC(db)!=SQLITE_UTF8
   || pItem->fg.isSubquery || pItem->fg.viaCoroutine
   || pItem->fg.isRecursive || pItem->fg.fromExists
   || !IsOrdinaryTable(pItem->pSTab)
   || (pItem->pSTab->tabFlags & TF_Ephemeral)!=0
  ){
    return hpStat(db, HP_NO_SHAPE);
  }
  if( sqlite3HpAccept(1, pWInfo, 0)==0 ) return 0;
  if( pWInfo->eOnePass!=ONEPASS_OFF || pWInfo->a[0].op!=OP_Next ){
    return hpStat(db, HP_NO_PLAN);
  }
  iRewind = pWInfo->a[0].p2-1;
  pOp = sqlite3VdbeGetOp(pParse->pVdbe, iRewind);
  if( pOp->opcode!=OP_Rewind
   || (eSink!=HP_SINK_SORT
       && (pOp->p1!=pItem->iCursor || !HasRowid(pItem->pSTab)
           || !hpRowsWhole(pItem)))
  ){
    return hpStat(db, HP_NO_PLAN);
  }
  return iRewind;
}

/*
** Fill in the keys of the plan: the values that are compared.
*/
static int hpRowsKeys(HpCompile *pC, ExprList *pList){
  HpPlan *pPlan = pC->pPlan;
  int n = pList->nExpr;
  KeyInfo *pKeyInfo;
  int i;
  int rc = SQLITE_OK;
  if( hpPlanKeys(pPlan, n) ) return SQLITE_NOMEM;
  pKeyInfo = sqlite3KeyInfoFromExprList(pC->pParse, pList, 0, 0);
  if( pKeyInfo==0 ) return SQLITE_NOMEM;
  for(i=0; i<n && rc==SQLITE_OK; i++){
    int iVec = hpCompileExpr(pC, pList->a[i].pExpr);
    if( iVec<0 ){
      rc = SQLITE_ERROR;
      break;
    }
    pPlan->aKey[i] = (u16)iVec;
    pPlan->aKeySort[i] = pKeyInfo->aSortFlags[i];
    pPlan->aKeyColl[i] = 0;
    if( pPlan->eSink!=HP_SINK_FIRST
     && !hpCollOk(pKeyInfo->aColl[i], &pPlan->aKeyColl[i])
    ){
      hpNo(pC, HP_NO_COLLATION);
      rc = SQLITE_ERROR;
    }
  }
  pPlan->nKey = n;
  sqlite3KeyInfoUnref(pKeyInfo);
  return rc;
}

/*
** Let the scan read rowids.  If it reads a column, hpRecordRowid() finds them.
*/
static int hpRowsRowid(HpCompile *pC){
  HpPlan *pPlan = pC->pPlan;
  if( pPlan->nCol==0 ){
    if( pPlan->nCol>=HP_MX_COL
     || hpPlanGrow(&pPlan->mem, &pPlan->aCol, &pC->nColAlloc,
                   pPlan->nCol, sizeof(HpCol))
    ){
      return SQLITE_NOMEM;
    }
    memset(&pPlan->aCol[pPlan->nCol], 0, sizeof(HpCol));
    pPlan->aCol[pPlan->nCol++].iStore = -1;
    pPlan->bRowid = 1;
  }
  return SQLITE_OK;
}

/*
** Compile the query.  Returns NULL if it is refused.
*/
static HpPlan *hpRowsCompile(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  int eSink
){
  HpCompile c;
  HpPlan *pPlan;
  int rc;
  if( !hpRowsSafe(pParse, 0, p->pEList, eSink!=HP_SINK_TOP)
   || (pOrderBy && !hpRowsSafe(pParse, 0, pOrderBy, eSink==HP_SINK_ROWS))
  ){
    hpStat(pParse->db, HP_NO_OTHER);
    return 0;
  }
  pPlan = hpPlanNew(&c, pParse, p);
  if( pPlan==0 ) return 0;
  pPlan->eSink = (u8)eSink;
  rc = hpCompileWhere(&c, p->pWhere);
  if( rc==SQLITE_OK && eSink!=HP_SINK_ROWS ){
    rc = hpRowsKeys(&c, eSink==HP_SINK_TOP ? pOrderBy : p->pEList);
  }
  if( rc==SQLITE_OK ) rc = hpRowsRowid(&c);
  if( pPlan->bSerial || pPlan->bUser ) rc = SQLITE_ERROR;
  if( rc || pParse->nErr || pParse->db->mallocFailed ){
    hpStat(pParse->db, c.eNo ? c.eNo : HP_NO_OTHER);
    hpPlanFree(pPlan);
    return 0;
  }
  hpCompileSortColumns(pPlan);
  if( eSink==HP_SINK_TOP ){
    pPlan->iLimitReg = p->iOffset ? p->iOffset+1 : p->iLimit;
  }
  return pPlan;
}

/*
** In EXPLAIN QUERY PLAN say what we do: the nearest line before iRewind.
*/
static void hpRowsExplain(Parse *pParse, int iRewind){
  int i;
  if( pParse->explain!=2 ) return;
  for(i=iRewind; i>0; i--){
    VdbeOp *pOp = sqlite3VdbeGetOp(pParse->pVdbe, i);
    if( pOp->opcode==OP_Explain && pOp->p4type==P4_DYNAMIC && pOp->p4.z
     && strncmp(pOp->p4.z, "SCAN ", 5)==0
    ){
      char *zNew = sqlite3MPrintf(pParse->db, "%s VECTORIZED", pOp->p4.z);
      if( zNew ){
        sqlite3DbFree(pParse->db, pOp->p4.z);
        pOp->p4.z = zNew;
      }
      return;
    }
  }
}

/*
** Code the query's own way.  Called after stock's loop.  iRewind comes from
** sqlite3HpRowsAccept().  If hp_sort does the sorter's work returns the address
** of OP_HpScan, for sqlite3HpCodeSorted(), else 0.
*/
SQLITE_PRIVATE int sqlite3HpCodeRows(
  Parse *pParse,
  Select *p,
  ExprList *pOrderBy,
  int eDistinct,
  SelectDest *pDest,
  int iRewind
){
  Vdbe *v = pParse->pVdbe;
  HpPlan *pPlan;
  VdbeOp *pOp;
  int iCur, iHalt;       /* Operands of OP_Rewind */
  int iNext;             /* Address of OP_Next */
  int nMem = pParse->nMem;
  int addrSkip, addrScan, regExec;
  int eSink;

  if( iRewind==0 || pParse->nErr ) return 0;
  eSink = hpRowsSink(p, pOrderBy, eDistinct, pDest);
  if( !hpPlanWorthIt(pParse, p, hpRowsLeast(p, eSink)) ) return 0;
  if( eSink==HP_SINK_SORT ){
    addrScan = hpSortCode(pParse, p, pOrderBy, pDest->eDest, iRewind);
    if( addrScan || p->pWhere==0 || !hpRowsWhole(&p->pSrc->a[0]) ){
      return addrScan;
    }
    eSink = HP_SINK_ROWS;
  }
  pOp = sqlite3VdbeGetOp(v, iRewind);
  iCur = pOp->p1;
  iHalt = pOp->p2;
  for(iNext=sqlite3VdbeCurrentAddr(v)-1; iNext>iRewind; iNext--){
    pOp = sqlite3VdbeGetOp(v, iNext);
    if( pOp->opcode==OP_Next && pOp->p1==iCur && pOp->p2==iRewind+1 ) break;
  }
  if( iNext==iRewind || pOp->p3!=0 ) return 0;
  pPlan = hpRowsCompile(pParse, p, pOrderBy, eSink);
  if( pPlan==0 ){
    /* The program is to be stock's, down to the numbers of registers */
    pParse->nMem = nMem;
    return 0;
  }
  hpRowsExplain(pParse, iRewind);
  regExec = ++pParse->nMem;
  addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  pOp = sqlite3VdbeGetOp(v, iNext);
  pOp->opcode = OP_HpRow;
  pOp->p3 = regExec;
  pOp = sqlite3VdbeGetOp(v, iRewind);
  pOp->opcode = OP_Goto;
  pOp->p1 = 0;
  pOp->p2 = sqlite3VdbeCurrentAddr(v);
  addrScan = hpCodeScan(pParse, pPlan, regExec);
  sqlite3VdbeAddOp3(v, OP_HpRow, iCur, iRewind+1, regExec);
  sqlite3VdbeChangeP5(v, SQLITE_STMTSTATUS_FULLSCAN_STEP);
  sqlite3VdbeAddOp2(v, OP_Goto, 0, iHalt);
  sqlite3VdbeJumpHere(v, addrScan);
  sqlite3VdbeAddOp2(v, OP_Rewind, iCur, iHalt);
  sqlite3VdbeAddOp2(v, OP_Goto, 0, iRewind+1);
  sqlite3VdbeJumpHere(v, addrSkip);
  return 0;
}

/*****************************************************************************
** At run time.
*/

/*
** Find out what the filters say about a column near the front of the record:
** its comparisons with numbers.
**
** Integers below 2^52 compare with integers and reals as doubles do, whichever
** way a column of REAL affinity stores them.
*/
static void hpRowsBound(const HpExec *p, HpBound *pBound){
  const HpProg *pProg = &p->pPlan->prog;
  int i, k;
  for(i=0; i<pProg->nOp; i++){
    if( pProg->aOp[i].eOp==HP_OP_FUNC ) return;  /* May fail: for all rows */
  }
  for(i=0; i<pProg->nFilter; i++){
    const HpOp *pOp = 0;
    const HpVec *pVec;
    double r;
    i64 x;
    int iStore = -1;
    for(k=0; k<pProg->nOp; k++){
      if( pProg->aOp[k].iOut==pProg->aFilter[i].iVec ) pOp = &pProg->aOp[k];
    }
    if( pOp==0 || pOp->eOp!=HP_OP_COMPARE ) continue;
    for(k=0; k<pProg->nOp; k++){
      const HpOp *pA = &pProg->aOp[k];
      if( pA->eOp==HP_OP_COLUMN && pA->iOut==pOp->a ){
        iStore = p->pPlan->aCol[pA->a].iStore;
      }
    }
    if( iStore<0 || iStore>HP_MX_BOUND ) continue;
    if( pBound->bOn && pBound->iStore!=iStore ) continue;
    pVec = &p->aVec[pOp->b];
    if( pVec->mIdx!=0 ) continue;
    if( pVec->aTag[0]==HP_INT ){
      x = pVec->aVal[0].i;
      r = (double)x;
    }else if( pVec->aTag[0]==HP_REAL ){
      r = pVec->aVal[0].r;
      x = fabs(r)<HP_MX_FLOAT ? (i64)r : 0;  /* To zero: never too narrow */
    }else{
      continue;
    }
    if( !(fabs(r)<HP_MX_FLOAT) ) continue;
    if( pBound->bOn==0 ){
      pBound->bOn = 1;
      pBound->iStore = iStore;
      pBound->bNull = 0;
      pBound->iMin = SMALLEST_INT64;
      pBound->iMax = LARGEST_INT64;
      pBound->rMin = -INFINITY;
      pBound->rMax = INFINITY;
    }
    if( pOp->op==TK_EQ || pOp->op==TK_GT || pOp->op==TK_GE ){
      pBound->iMin = MAX(pBound->iMin, x);
      pBound->rMin = MAX(pBound->rMin, r);
    }
    if( pOp->op==TK_EQ || pOp->op==TK_LT || pOp->op==TK_LE ){
      pBound->iMax = MIN(pBound->iMax, x);
      pBound->rMax = MIN(pBound->rMax, r);
    }
    if( pOp->op==TK_IS || pOp->op==TK_ISNOT ) pBound->bNull = 1;
  }
}

/*
** Rows of the first leaf of the table: what to expect of the others.
*/
static int hpRowsOnLeaf(const HpSource *pSource){
  DbPage *pDb;
  Pgno iPg;
  int n;
  if( pSource->nLevel==0 ) return 0;
  iPg = hpInnerChild(&pSource->aLevel[pSource->nLevel-1].in, 0);
  if( iPg<2
   || sqlite3PagerGet(pSource->pPager, iPg, &pDb, PAGER_GET_READONLY)
  ){
    return 0;
  }
  n = get2byte(&((u8*)sqlite3PagerGetData(pDb))[3]);
  sqlite3PagerUnrefNotNull(pDb);
  return n;
}

/*
** Is the table large enough?
*/
static int hpRowsIsLarge(const HpExec *p, const HpRows *pRows){
  const HpSource *pSource = p->pScan->pSource;
  if( pRows->bForce || p!=p->pScan->apWorker[0] ) return 1;
  if( p->pPlan->eSink==HP_SINK_TOP ){
    return pRows->mxTop<=pSource->nLeaf*hpRowsOnLeaf(pSource)/HP_TOP_SHARE;
  }
  return pSource->nLeaf>=HP_MIN_PROBED;
}

/*
** Begin.  aMem[] are the registers.
*/
static int hpRowsOpen(HpExec *p, Mem *aMem){
  const HpPlan *pPlan = p->pPlan;
  int n = p->batch.nAlloc;
  HpRows *pRows = sqlite3_malloc64(sizeof(*pRows));
  if( pRows==0 ) return HP_DECLINE;
  memset(pRows, 0, sizeof(*pRows));
  p->pRows = pRows;
  pRows->bForce = hpOffload(p->pScan->db)==HP_OFFLOAD_FORCE;
  hpRowsBound(p, &pRows->bound);
  p->bound = pRows->bound;
  if( pPlan->eSink==HP_SINK_TOP ){
    const Mem *pLimit = &aMem[pPlan->iLimitReg];
    if( (pLimit->flags & MEM_Int)==0 ) return HP_DECLINE;
    pRows->mxTop = pLimit->u.i;
    if( pRows->mxTop<=0 || pRows->mxTop>HP_MX_TOP ) return HP_DECLINE;
    if( !hpRowsIsLarge(p, pRows) ){
      p->pScan->bSmall = 1;
      return HP_DECLINE;
    }
    pRows->aCand = hpArenaAlloc(&p->vec, sizeof(u16)*(i64)n);
    pRows->apTop = hpArenaAlloc(&pRows->arena, sizeof(u8*)*pRows->mxTop);
    if( pRows->aCand==0 || pRows->apTop==0 ) return HP_DECLINE;
    return SQLITE_OK;
  }
  if( !hpRowsIsLarge(p, pRows) ){
    p->pScan->bSmall = 1;
    return HP_DECLINE;
  }
  if( pPlan->eSink==HP_SINK_FIRST ){
    pRows->aHash = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)n);
    pRows->mSlot = 1023;
    pRows->nTable = 2*sizeof(u32)*((i64)pRows->mSlot+1);
    pRows->aSlot = sqlite3_malloc64(pRows->nTable);
    if( pRows->aHash==0 || pRows->aSlot==0 ) return HP_DECLINE;
    memset(pRows->aSlot, 0, pRows->nTable);
  }
  return SQLITE_OK;
}

static void hpRowsClose(HpRows *pRows){
  if( pRows ){
    hpArenaClear(&pRows->arena);
    sqlite3_free(pRows->aRowid);
    sqlite3_free(pRows->aSlot);
    sqlite3_free(pRows->aKey);
    sqlite3_free(pRows);
  }
}

/*
** Make room for n more rowids.
*/
static int hpRowsReserve(HpRows *pRows, i64 n){
  if( pRows->nRowid+n>pRows->nAlloc ){
    i64 nNew = MAX(2*pRows->nAlloc, pRows->nRowid+n);
    i64 *aNew = sqlite3_realloc64(pRows->aRowid, sizeof(i64)*(u64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    pRows->aRowid = aNew;
    pRows->nAlloc = nNew;
  }
  return SQLITE_OK;
}

/*
** Row i of pVec: sets *pVal and *pn, and returns its type.
*/
static SQLITE_INLINE u8 hpRowsValue(
  const HpVec *pVec,
  int i,
  HpVal *pVal,
  u32 *pn
){
  u8 tag;
  i &= pVec->mIdx;
  tag = pVec->aTag[i];
  *pVal = pVec->aVal[i];
  *pn = 0;
  if( tag & HP_STR ){
    *pn = pVec->aLen[i];
  }else if( pVec->bFloat && tag==HP_INT ){
    pVal->i = (i64)pVal->r;
  }
  return tag;
}

/*
** Keep row i of pVec in *pKept.
*/
static int hpRowsKeep(HpRows *pRows, HpKept *pKept, const HpVec *pVec, int i){
  pKept->tag = hpRowsValue(pVec, i, &pKept->val, &pKept->n);
  if( pKept->tag & HP_STR ){
    u32 n = pKept->n;
    if( n>=pKept->nAlloc ){
      u32 nAlloc = MAX(n+8, 2*pKept->nAlloc);
      pKept->aBuf = hpArenaAlloc(&pRows->arena, (i64)nAlloc+8);
      if( pKept->aBuf==0 ) return HP_DECLINE;
      pKept->nAlloc = nAlloc;
    }
    memcpy(pKept->aBuf, pKept->val.z, n);
    memset(&pKept->aBuf[n], 0, 8);
    pKept->val.z = pKept->aBuf;
  }
  return SQLITE_OK;
}

/*
** Bytes that are kept in memory.
*/
static i64 hpRowsMemory(const HpRows *pRows){
  return pRows->arena.nTotal + pRows->nTable + pRows->nAlloc*sizeof(i64);
}

/*
** Compare two values in the order of a sorter whose KeyInfo has pColl and
** flags (KEYINFO_ORDER_xxx).
*/
static SQLITE_INLINE int hpRowsCompare(
  u8 tA, HpVal a, u32 nA,
  u8 tB, HpVal b, u32 nB,
  CollSeq *pColl,
  u8 flags
){
  int bNull = ((tA | tB) & HP_NULL)!=0;
  int c;
  if( bNull ){
    c = (tB==HP_NULL) - (tA==HP_NULL);
  }else{
    c = hpValCompare(tA, a, nA, tB, b, nB, pColl);
  }
  if( c!=0 && flags
   && ((flags & KEYINFO_ORDER_BIGNULL)==0
       || ((flags & KEYINFO_ORDER_DESC)!=0)!=bNull)
  ){
    c = -c;
  }
  return c;
}

/* A row of the heap */
#define hpTopRowid(A)  (*(i64*)(A))
#define hpTopKey(A)    ((HpKept*)&(A)[sizeof(i64)])

/*
** Compare two rows of the heap.  A row with a larger rowid was scanned later,
** so it comes later in the order.
*/
static int hpTopCompare(const HpPlan *pPlan, u8 *aA, u8 *aB){
  const HpKept *a = hpTopKey(aA);
  const HpKept *b = hpTopKey(aB);
  int k;
  for(k=0; k<pPlan->nKey; k++){
    int c = hpRowsCompare(a[k].tag, a[k].val, a[k].n, b[k].tag, b[k].val,
                          b[k].n, pPlan->aKeyColl[k], pPlan->aKeySort[k]);
    if( c ) return c;
  }
  return hpTopRowid(aA)<hpTopRowid(aB) ? -1 : 1;
}

/*
** True if row i of the batch, which is scanned later than all rows of the
** heap, comes before aTop.
*/
static int hpTopIsBetter(HpExec *p, u8 *aTop, int i){
  const HpPlan *pPlan = p->pPlan;
  const HpKept *a = hpTopKey(aTop);
  int k;
  for(k=0; k<pPlan->nKey; k++){
    HpVal v;
    u32 n;
    u8 tag = hpRowsValue(&p->aVec[pPlan->aKey[k]], i, &v, &n);
    int c = hpRowsCompare(tag, v, n, a[k].tag, a[k].val, a[k].n,
                          pPlan->aKeyColl[k], pPlan->aKeySort[k]);
    if( c ) return c<0;
  }
  return 0;
}

/*
** Put row i of the batch into aRow, a row of the heap.
*/
static int hpTopSet(HpExec *p, u8 *aRow, int i){
  const HpPlan *pPlan = p->pPlan;
  int k, rc;
  hpTopRowid(aRow) = hpRecordRowid(p, i);
  for(k=0; k<pPlan->nKey; k++){
    rc = hpRowsKeep(p->pRows, &hpTopKey(aRow)[k], &p->aVec[pPlan->aKey[k]], i);
    if( rc ) return rc;
  }
  return SQLITE_OK;
}

/*
** Add aRow to the heap, which is not full.
*/
static void hpTopUp(const HpPlan *pPlan, HpRows *pRows, u8 *aRow){
  u8 **ap = pRows->apTop;
  i64 j;
  for(j=pRows->nTop++; j>0; j=(j-1)/2){
    if( hpTopCompare(pPlan, ap[(j-1)/2], aRow)>0 ) break;
    ap[j] = ap[(j-1)/2];
  }
  ap[j] = aRow;
}

/*
** Put aRow in place of the row on top of the heap.
*/
static void hpTopDown(const HpPlan *pPlan, HpRows *pRows, u8 *aRow){
  u8 **ap = pRows->apTop;
  i64 n = pRows->nTop;
  i64 j, jNext;
  for(j=0; (jNext = 2*j+1)<n; j=jNext){
    if( jNext+1<n && hpTopCompare(pPlan, ap[jNext+1], ap[jNext])>0 ) jNext++;
    if( hpTopCompare(pPlan, aRow, ap[jNext])>0 ) break;
    ap[j] = ap[jNext];
  }
  ap[j] = aRow;
}

/*
** Add row i of the batch to the heap, which is not full.
*/
static int hpTopAdd(HpExec *p, int i){
  i64 sz = sizeof(i64) + sizeof(HpKept)*p->pPlan->nKey;
  u8 *aRow = hpArenaAlloc(&p->pRows->arena, sz);
  int rc;
  if( aRow==0 ) return HP_DECLINE;
  memset(aRow, 0, sz);
  rc = hpTopSet(p, aRow, i);
  if( rc==SQLITE_OK ) hpTopUp(p->pPlan, p->pRows, aRow);
  return rc;
}

/*
** Replace the worst row of the heap by row i of the batch.
*/
static int hpTopReplace(HpExec *p, int i){
  u8 *aRow = p->pRows->apTop[0];
  int rc = hpTopSet(p, aRow, i);
  if( rc==SQLITE_OK ) hpTopDown(p->pPlan, p->pRows, aRow);
  return rc;
}

/* Those of aRow[0..n-1] where EXPR is true, to aCand.  Returns the number. */
#define HP_CAND_LOOP(EXPR) \
  for(ii=0; ii<n; ii++){ \
    int i = aRow[ii]; \
    aCand[nCand] = (u16)i; \
    nCand += (EXPR); \
  }

/*
** Of the rows aRow[0..n-1], find those whose first key may put them before the
** worst row of the heap: aCand[].  aRow may be aCand.  Returns the number.
** This is what most rows see, and nothing else: so loops by type.
*/
static int hpTopCandidates(HpExec *p, const u16 *aRow, int n){
  const HpPlan *pPlan = p->pPlan;
  const HpVec *pVec = &p->aVec[pPlan->aKey[0]];
  const HpKept *pWorst = hpTopKey(p->pRows->apTop[0]);
  CollSeq *pColl = pPlan->aKeyColl[0];
  u8 flags = pPlan->aKeySort[0];
  int bDesc = (flags & KEYINFO_ORDER_DESC)!=0;
  int bTie = pPlan->nKey>1;        /* Equal keys: the other keys decide */
  const HpVal *aVal = pVec->aVal;
  u16 *aCand = p->pRows->aCand;
  int nCand = 0;
  int ii;

  if( pVec->mIdx && pVec->mType==HP_INT && pWorst->tag==HP_INT ){
    i64 x = pWorst->val.i;
    if( bDesc && bTie ){
      HP_CAND_LOOP( aVal[i].i>=x )
    }else if( bDesc ){
      HP_CAND_LOOP( aVal[i].i>x )
    }else if( bTie ){
      HP_CAND_LOOP( aVal[i].i<=x )
    }else{
      HP_CAND_LOOP( aVal[i].i<x )
    }
  }else if( pVec->mIdx && (pVec->mType==HP_REAL || pVec->bFloat)
         && (pWorst->tag==HP_REAL
             || (pWorst->tag==HP_INT && hpIsExact(pWorst->val.i)))
  ){
    double x = pWorst->tag==HP_REAL ? pWorst->val.r : (double)pWorst->val.i;
    if( bDesc && bTie ){
      HP_CAND_LOOP( aVal[i].r>=x )
    }else if( bDesc ){
      HP_CAND_LOOP( aVal[i].r>x )
    }else if( bTie ){
      HP_CAND_LOOP( aVal[i].r<=x )
    }else{
      HP_CAND_LOOP( aVal[i].r<x )
    }
  }else if( pVec->mIdx && pVec->mType==HP_TEXT && pWorst->tag==HP_TEXT
         && sqlite3IsBinary(pColl)
  ){
    /* Texts whose first eight bytes differ compare as those do */
    u64 x = hpLoad8(pWorst->val.z);
    const u32 *aLen = pVec->aLen;
    for(ii=0; ii<n; ii++){
      int i = aRow[ii];
      u32 nText = MIN(aLen[i], 8);
      u64 y = hpBytes(aVal[i].z, nText) << ((64-8*nText) & 63);
      aCand[nCand] = (u16)i;
      nCand += bDesc ? y>=x : y<=x;
    }
  }else{
    for(ii=0; ii<n; ii++){
      int i = aRow[ii];
      HpVal v;
      u32 nText;
      u8 tag = hpRowsValue(pVec, i, &v, &nText);
      aCand[nCand] = (u16)i;
      nCand += hpRowsCompare(tag, v, nText, pWorst->tag, pWorst->val, pWorst->n,
                             pColl, flags)<bTie;
    }
  }
  return nCand;
}

/*
** Let rows whose first key cannot put them before the worst row of the heap be
** left out before they are decoded, if that key is a number in a column near
** the front of the record.
*/
static void hpTopBound(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  const HpKept *pWorst = hpTopKey(p->pRows->apTop[0]);
  HpBound *pBound = &p->bound;
  u8 flags = pPlan->aKeySort[0];
  int bDesc = (flags & KEYINFO_ORDER_DESC)!=0;
  int iStore = -1;
  double r;              /* The worst key as a real, ... */
  i64 x;                 /* ... and as an integer */
  int i;

  if( p->pRows->nBoundOff>0 ) return;
  for(i=0; i<pPlan->prog.nOp; i++){
    const HpOp *pOp = &pPlan->prog.aOp[i];
    if( pOp->eOp==HP_OP_FUNC ) return;       /* See hpRowsBound() */
    if( pOp->eOp==HP_OP_COLUMN && pOp->iOut==pPlan->aKey[0] ){
      iStore = pPlan->aCol[pOp->a].iStore;
    }
  }
  if( iStore<0 || iStore>HP_MX_BOUND ) return;
  if( pWorst->tag==HP_INT ){
    x = pWorst->val.i;
    r = (double)x;
  }else if( pWorst->tag==HP_REAL ){
    r = pWorst->val.r;
    x = fabs(r)<HP_MX_FLOAT ? (i64)r : 0;
  }else{
    return;
  }
  if( !(fabs(r)<HP_MX_FLOAT) ) return;
  pBound->iStore = iStore;
  pBound->iMin = bDesc ? x : SMALLEST_INT64;
  pBound->iMax = bDesc ? LARGEST_INT64 : x;
  pBound->rMin = bDesc ? r : -INFINITY;
  pBound->rMax = bDesc ? INFINITY : r;
  pBound->bNull = bDesc==((flags & KEYINFO_ORDER_BIGNULL)!=0);
  pBound->bOn = 1;
}

/*
** HP_SINK_TOP: the selected rows of a batch.
*/
static int hpTopStep(HpExec *p){
  HpRows *pRows = p->pRows;
  const u16 *aRow = p->aSel;
  int n = p->nSel;
  int ii = 0;
  int rc;
  while( ii<n && pRows->nTop<pRows->mxTop ){
    rc = hpTopAdd(p, aRow[ii++]);
    if( rc ) return rc;
  }
  if( ii<n ){
    n = hpTopCandidates(p, &aRow[ii], n-ii);
    for(ii=0; ii<n; ii++){
      int i = pRows->aCand[ii];
      if( hpTopIsBetter(p, pRows->apTop[0], i) ){
        rc = hpTopReplace(p, i);
        if( rc ) return rc;
      }
    }
  }
  if( pRows->nTop==pRows->mxTop ) hpTopBound(p);
  return SQLITE_OK;
}

/*
** Double the hash table of HP_SINK_FIRST.
*/
static int hpFirstGrow(HpRows *pRows){
  u32 mOld = pRows->mSlot;
  u32 mNew = mOld*2+1;
  i64 nByte = 2*sizeof(u32)*((i64)mNew+1);
  u32 *aOld = pRows->aSlot;
  u32 *aNew;
  u32 i;
  if( mNew>=0x7fffffff ) return HP_DECLINE;
  aNew = sqlite3_malloc64(nByte);
  if( aNew==0 ) return HP_DECLINE;
  memset(aNew, 0, nByte);
  for(i=0; i<=mOld; i++){
    if( aOld[2*i+1] ){
      u32 j = aOld[2*i] & mNew;
      while( aNew[2*j+1] ) j = (j+1) & mNew;
      aNew[2*j] = aOld[2*i];
      aNew[2*j+1] = aOld[2*i+1];
    }
  }
  pRows->nTable += nByte - 2*sizeof(u32)*((i64)mOld+1);
  sqlite3_free(aOld);
  pRows->aSlot = aNew;
  pRows->mSlot = mNew;
  return SQLITE_OK;
}

/*
** Remember the values of row i under salt, in slot j of the hash table, and
** find its rowid.
*/
static int hpFirstAdd(HpExec *p, int i, u32 salt, u32 j){
  const HpPlan *pPlan = p->pPlan;
  HpRows *pRows = p->pRows;
  int nKey = pPlan->nKey;
  int k, rc;
  if( pRows->nKey>=pRows->nKeyAlloc ){
    u32 nNew = MAX(64, pRows->nKeyAlloc*2);
    HpKept *aNew = sqlite3_realloc64(pRows->aKey,
                                     sizeof(HpKept)*nKey*(u64)nNew);
    if( aNew==0 ) return HP_DECLINE;
    pRows->nTable += sizeof(HpKept)*nKey*(i64)(nNew-pRows->nKeyAlloc);
    pRows->aKey = aNew;
    pRows->nKeyAlloc = nNew;
  }
  for(k=0; k<nKey; k++){
    HpKept *pKept = &pRows->aKey[(i64)pRows->nKey*nKey+k];
    memset(pKept, 0, sizeof(*pKept));
    rc = hpRowsKeep(pRows, pKept, &p->aVec[pPlan->aKey[k]], i);
    if( rc ) return rc;
  }
  pRows->nKey++;
  pRows->aSlot[2*j] = salt;
  pRows->aSlot[2*j+1] = pRows->nKey;
  pRows->aRowid[pRows->nRowid++] = hpRecordRowid(p, i);
  if( pRows->nKey>pRows->mSlot/2 ) return hpFirstGrow(pRows);
  return SQLITE_OK;
}

/*
** True if the values of row i are those at pKept.
*/
static SQLITE_INLINE int hpFirstIs(HpExec *p, const HpKept *pKept, int iRow){
  const HpPlan *pPlan = p->pPlan;
  int k;
  for(k=0; k<pPlan->nKey; k++, pKept++){
    const HpVec *pVec = &p->aVec[pPlan->aKey[k]];
    int i = iRow & pVec->mIdx;
    u8 tag = pVec->aTag[i];
    if( tag!=pKept->tag ) return 0;
    if( tag & HP_NUM ){
      if( pVec->aVal[i].u!=pKept->val.u ) return 0;
    }else if( tag & HP_STR ){
      u32 n = pVec->aLen[i];
      if( n!=pKept->n ) return 0;
      if( n<=8 ){
        if( hpBytes(pVec->aVal[i].z, n)!=hpBytes(pKept->val.z, n) ) return 0;
      }else if( memcmp(pVec->aVal[i].z, pKept->val.z, n)!=0 ){
        return 0;
      }
    }
  }
  return 1;
}

/*
** Hash values of the selected rows.  Values with different bytes may be
** equal, values with the same bytes are.
*/
static void hpFirstHash(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  u64 *aHash = p->pRows->aHash;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int ii, k;
  memset(aHash, 0, sizeof(u64)*nSel);
  for(k=0; k<pPlan->nKey; k++){
    HpVec *pVec = &p->aVec[pPlan->aKey[k]];
    const HpVal *aVal = pVec->aVal;
    u32 mIdx = pVec->mIdx;
    hpVecExact(p, pVec);
    if( (pVec->mType & ~HP_NUM)==0 ){
      for(ii=0; ii<nSel; ii++){
        aHash[ii] = hpMix(aHash[ii] + aVal[aSel[ii] & mIdx].u);
      }
    }else{
      for(ii=0; ii<nSel; ii++){
        int i = aSel[ii] & mIdx;
        u8 tag = pVec->aTag[i];
        u64 x = 0;
        if( tag & HP_NUM ){
          x = aVal[i].u;
        }else if( tag & HP_STR ){
          u32 n = pVec->aLen[i];
          x = n<=8 ? hpBytes(aVal[i].z, n) : hpHashBytes(aVal[i].z, n);
        }
        aHash[ii] = hpMix(aHash[ii] + x + tag);
      }
    }
  }
  if( p->pCfg->bHash0 ) memset(aHash, 0, sizeof(u64)*nSel);
}

/*
** HP_SINK_FIRST: the selected rows of a batch.
*/
static int hpFirstStep(HpExec *p){
  HpRows *pRows = p->pRows;
  const u64 *aHash = pRows->aHash;
  int nKey = p->pPlan->nKey;
  int ii, rc;
  rc = hpRowsReserve(pRows, p->nSel);
  if( rc ) return rc;
  hpFirstHash(p);
  for(ii=0; ii<p->nSel; ii++){
    int i = p->aSel[ii];
    u32 salt = (u32)(aHash[ii]>>16);
    u32 j = salt & pRows->mSlot;
    u32 iKey;
    while( (iKey = pRows->aSlot[2*j+1])!=0 ){
      if( pRows->aSlot[2*j]==salt
       && hpFirstIs(p, &pRows->aKey[(i64)(iKey-1)*nKey], i)
      ){
        break;
      }
      j = (j+1) & pRows->mSlot;
    }
    if( iKey==0 ){
      rc = hpFirstAdd(p, i, salt, j);
      if( rc ) return rc;
    }
  }
  return SQLITE_OK;
}

/*
** Take what matters of the selected rows of a batch.
*/
static int hpRowsStep(HpExec *p){
  HpRows *pRows = p->pRows;
  int ii, rc;
  switch( p->pPlan->eSink ){
    case HP_SINK_TOP:
      rc = hpTopStep(p);
      break;
    case HP_SINK_FIRST:
      rc = hpFirstStep(p);
      break;
    default:
      assert( p->pPlan->eSink==HP_SINK_ROWS );
      rc = hpRowsReserve(pRows, p->nSel);
      if( rc ) return rc;
      for(ii=0; ii<p->nSel; ii++){
        pRows->aRowid[pRows->nRowid++] = hpRecordRowid(p, p->aSel[ii]);
      }
      break;
  }
  if( hpRowsMemory(pRows)>p->nMemory ) AtomicStore(&p->pScan->bEnd, 1);
  return rc;
}

/*
** The last rowid of the run.
*/
static i64 hpRowsLast(const HpExec *p){
  const HpRun *pRun = &p->run;
  const u8 *aPage = &pRun->aBuf[(i64)(pRun->nPage-1)*pRun->szPage];
  const u8 *aHdr = &aPage[pRun->iHdr];
  const u8 *z = &aPage[get2byte(&aHdr[8+2*(get2byte(&aHdr[3])-1)])];
  u32 nByte;
  i64 iRowid;
  z += getVarint32(z, nByte);
  sqlite3GetVarint(z, (u64*)&iRowid);
  return iRowid;
}

/*
** True if nFound rows of nRow rows on nLeaf leaves are too many to be worth it.
*/
static int hpRowsIsMany(i64 nFound, i64 nRow, i64 nLeaf){
  return nFound*HP_NS_SEEK + MIN(nFound, nLeaf)*HP_NS_FETCH
            > nRow*HP_NS_ROW + nLeaf*HP_NS_LEAF;
}

/*
** After a run in which nRow rows were scanned: does this worker find too many
** rows?
**
** Distinct values that come at random from a set of some size become rare, and
** each row left out saves a search in a b-tree of distinct rows; so go on if
** they do.  Where a new value comes every few rows the b-tree is searched at
** its end, which is cheap.
*/
static int hpRowsTooMany(HpExec *p, i64 nRow){
  HpRows *pRows = p->pRows;
  i64 nProbe = MAX(HP_MN_PROBE, pRows->nTableRow/HP_PROBE_SHARE);
  i64 nFound = pRows->nRowid - pRows->nFound;
  double r = (double)nFound/(double)nRow;
  if( pRows->nScanned==0 ) pRows->rFirst = r;
  if( pRows->bForce ) return 0;
  if( p->pPlan->eSink==HP_SINK_TOP ){
    /* As many as LIMIT says: known after the first run */
    return pRows->nScanned==0 && pRows->mxTop>pRows->nTableRow/HP_TOP_SHARE;
  }
  if( (i64)p->nScanned*p->pScan->nWorker<nProbe ) return 0;
  if( p->pPlan->eSink==HP_SINK_FIRST ){
    return r*HP_FIRST_SHARE>1.0 && r>pRows->rFirst*0.75;
  }
  return hpRowsIsMany(nFound, nRow, p->run.nPage)
      && hpRowsIsMany(pRows->nRowid, p->nScanned, pRows->nLeaf);
}

/*
** The worker has done a run.
*/
static void hpRowsRun(HpExec *p){
  HpRows *pRows = p->pRows;
  i64 nRow = (i64)(p->nScanned-pRows->nScanned);
  i64 nSkip = (i64)(p->nSkipped-pRows->nSkipped);
  if( nRow==0 ) return;
  pRows->iLast = hpRowsLast(p);
  pRows->bLast = 1;
  pRows->nLeaf += p->run.nPage;
  if( pRows->nTableRow==0 ){
    pRows->nTableRow = nRow*p->pScan->pSource->nLeaf/p->run.nPage;
  }
  if( hpRowsTooMany(p, nRow) ) AtomicStore(&p->pScan->bEnd, 1);
  /* Is it worth to look at the bytes of a record first? */
  if( pRows->nBoundOff>0 ){
    if( --pRows->nBoundOff==0 ) p->bound = pRows->bound;
  }else if( p->bound.bOn && 2*nSkip<nRow ){
    p->bound.bOn = 0;
    pRows->nBoundOff = HP_BOUND_OFF;
  }
  pRows->nScanned = p->nScanned;
  pRows->nSkipped = p->nSkipped;
  pRows->nFound = pRows->nRowid;
}

/*
** Put rowids in order: a heap sort.
*/
static void hpRowsSort(i64 *a, i64 n){
  i64 i, j, k;
  for(i=1; i<n && a[i-1]<a[i]; i++){}
  if( i>=n ) return;
  for(i=n/2; n>1; ){
    i64 x;
    if( i>0 ){
      x = a[--i];
    }else{
      x = a[--n];
      a[n] = a[0];
    }
    for(j=i; (k = 2*j+1)<n; j=k){
      if( k+1<n && a[k+1]>a[k] ) k++;
      if( x>=a[k] ) break;
      a[j] = a[k];
    }
    a[j] = x;
  }
}

/*
** The scan is over: put what the workers found together, in scan order.
*/
static int hpRowsMerge(HpScan *p){
  HpRows *pOut = p->apWorker[0]->pRows;
  i64 a, b, k;
  int i;
  for(i=1; i<p->nWorker; i++){
    HpRows *pIn = p->apWorker[i]->pRows;
    for(k=0; k<pIn->nTop; k++){
      if( pOut->nTop<pOut->mxTop ){
        hpTopUp(p->pPlan, pOut, pIn->apTop[k]);
      }else if( hpTopCompare(p->pPlan, pIn->apTop[k], pOut->apTop[0])<0 ){
        hpTopDown(p->pPlan, pOut, pIn->apTop[k]);
      }
    }
    if( hpRowsReserve(pOut, pIn->nRowid) ) return HP_DECLINE;
    /* Both are in order: put them together from the end */
    a = pOut->nRowid-1;
    b = pIn->nRowid-1;
    pOut->nRowid += pIn->nRowid;
    for(k=pOut->nRowid-1; b>=0; k--){
      if( a>=0 && pOut->aRowid[a]>pIn->aRowid[b] ){
        pOut->aRowid[k] = pOut->aRowid[a--];
      }else{
        pOut->aRowid[k] = pIn->aRowid[b--];
      }
    }
    if( pIn->bLast && (pOut->bLast==0 || pIn->iLast>pOut->iLast) ){
      pOut->iLast = pIn->iLast;
      pOut->bLast = 1;
    }
  }
  if( hpRowsReserve(pOut, pOut->nTop) ) return HP_DECLINE;
  for(k=0; k<pOut->nTop; k++){
    pOut->aRowid[pOut->nRowid++] = hpTopRowid(pOut->apTop[k]);
  }
  hpRowsSort(pOut->aRowid, pOut->nRowid);
  for(i=1; i<p->nWorker; i++){
    hpRowsClose(p->apWorker[i]->pRows);
    p->apWorker[i]->pRows = 0;
  }
  hpArenaClear(&pOut->arena);
  sqlite3_free(pOut->aSlot);
  sqlite3_free(pOut->aKey);
  pOut->aSlot = 0;
  pOut->aKey = 0;
  return SQLITE_OK;
}

/*
** Move pCur, the cursor of a table, to the row iRowid, which comes after the
** one it is at.  *pRes is not 0 if there is no such row.  Rows found are often
** on the same leaf, where no way down from the root is needed.
*/
static int hpRowsMove(BtCursor *pCur, i64 iRowid, int *pRes){
  if( pCur->eState==CURSOR_VALID && pCur->pPage->intKeyLeaf ){
    MemPage *pPage = pCur->pPage;
    int lwr = pCur->ix+1;
    int upr = pPage->nCell-1;
    int idx = MIN(lwr+7, upr);
    while( lwr<=upr ){
      const u8 *z = findCellPastPtr(pPage, idx);
      u32 nByte;
      i64 iKey;
      z += getVarint32(z, nByte);
      sqlite3GetVarint(z, (u64*)&iKey);
      if( iKey==iRowid ){
        pCur->ix = (u16)idx;
        pCur->curFlags &= ~(BTCF_AtLast|BTCF_ValidOvfl);
        pCur->curFlags |= BTCF_ValidNKey;
        pCur->info.nKey = iKey;
        pCur->info.nSize = 0;
        *pRes = 0;
        return SQLITE_OK;
      }
      if( iKey<iRowid ){
        lwr = idx+1;
      }else{
        upr = idx-1;
      }
      idx = (lwr+upr)/2;
    }
  }
  return sqlite3BtreeTableMoveto(pCur, iRowid, 0, pRes);
}

/*
** OP_HpRow: move the table cursor to the next row found, or as OP_Next does
** if the executor declined.  SQLITE_DONE: there is none.
*/
SQLITE_PRIVATE int sqlite3HpRow(Vdbe *v, VdbeOp *pOp, Mem *aMem){
  VdbeCursor *pC = v->apCsr[pOp->p1];
  BtCursor *pCur = pC->uc.pCursor;
  Mem *pReg = &aMem[pOp->p3];
  HpScan *p;
  HpRows *pRows;
  int res, rc;

  if( isSorter(pC) ) return hpSortRow(v, pOp, aMem);
  if( (pReg->flags & MEM_Dyn)==0 ) return sqlite3BtreeNext(pCur, 0);
  p = (HpScan*)pReg->z;
  pRows = p->apWorker[0]->pRows;
  if( pRows->bBegun && pCur->eState!=CURSOR_VALID ){
    /* Somebody wrote to the table.  What was found may no longer hold. */
    sqlite3VdbeMemSetNull(pReg);
    return sqlite3BtreeNext(pCur, 0);
  }
  pRows->bBegun = 1;
  pC->deferredMoveto = 0;
  pC->cacheStatus = CACHE_STALE;
  while( pRows->iNext<pRows->nRowid ){
    rc = hpRowsMove(pCur, pRows->aRowid[pRows->iNext++], &res);
    if( rc ) return rc;
    if( res==0 ){
      v->aCounter[pOp->p5]--;      /* OP_HpScan has counted all rows */
      return SQLITE_OK;
    }
  }
  if( p->bAll==0 ){
    /* The rest of the table is stock's */
    i64 iLast = pRows->iLast;
    sqlite3VdbeMemSetNull(pReg);
    rc = sqlite3BtreeTableMoveto(pCur, iLast, 0, &res);
    if( rc==SQLITE_OK && res<=0 ) rc = sqlite3BtreeNext(pCur, 0);
    return rc;
  }
  return SQLITE_DONE;
}
#endif /* SQLITE_OMIT_HP */
