/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_part: the first rows of each partition of a window.
**
**    sqlite3HpWanted()  before a subquery in FROM is coded: are all rows wanted?
**    hpPartCompile()    the inner sort of a window: leave rows out
**    hpPartLimit()      how many rows are wanted
**    hpPartOpen()       begin
**    hpPartStep()       add the selected rows of a batch
**    hpPartRows()       hand the rows kept over to hp_sort
**    hpPartSkip()       the last rows to leave out, when they are delivered
**
** "The first k rows of each group" is written as
**
**    SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY a ORDER BY b) AS r
**                   FROM t) WHERE r<=k
**
** SQLite makes three SELECTs of it: the outer one, the one with the window, and
** one that it puts in the FROM clause of that, which sorts the rows of t by a
** and b.  row_number(), rank() and dense_rank() of a row depend on nothing but
** rows before it, so rows whose number is too large can be left out before the
** window's code sees them, and the others still get their numbers.  What the
** outer WHERE says is known when it codes its FROM clause: sqlite3HpWanted()
** leaves a note (HpWanted) in the SELECT with the window, and when that one
** codes its own FROM clause the note goes on to the sort.  The sort is hp_sort's,
** and stock's code for window, WHERE and the rest runs over what comes out of it.
** So leaving out fewer rows than possible is never wrong.
**
** Each worker has a hash table of partitions (hp_agg.c, by the PARTITION BY terms
** as if they were those of GROUP BY).  A partition has its first rows so far, in
** order, and what it takes to come before the last of them: a number for the
** first ORDER BY term of each row (hpPartNumber()), which is as far as most rows
** get.  Of row_number() the first k rows are kept, those with equal keys in scan
** order as everywhere; of rank() the first k and what is equal to the k-th; of
** dense_rank() the rows of the first k keys.  In the end the rows kept are sorted
** as hp_sort does it.  The merge of what the workers found counts the rows of
** each partition, and leaves out the rest.
**
** When memory is short the rows kept so far become a sorted run and the
** partitions are forgotten.  If partitions are so many or k so large that most
** rows are kept the worker goes on as if all rows were wanted: from an estimate
** (hpPartEnough()), or when it sees that memory is used up to no avail.
**
** As in hp_rows, a row that is left out is not seen by expressions above the sort.
** None of them may fail or have an effect: hpRowsSafe().
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MX_WANTED   1000   /* Most rows wanted of a partition: they are kept
                              ** in an array in order */
#define HP_PART_CHECK  128    /* Look at partitions after so many rows, and twice
                              ** as many, and so on */
#define HP_PART_CLASS  64     /* Sizes of memory for rows */

/* What the query around a SELECT with a window wants of it */
struct HpWanted {
  Expr *pLimit;          /* A parameter: rows with a larger number are not
                         ** wanted.  Or NULL: nLimit is the number */
  int nLimit;            /* To be added to the value of pLimit */
  int nPart;             /* PARTITION BY terms of the window */
  u8 eNumber;            /* HP_NUMBER_xxx: how rows are numbered */
};

/* A row that is kept.  What the head says is in memory behind it. */
typedef struct HpPartRow HpPartRow;
struct HpPartRow {
  u64 iOrder;            /* hpPartNumber() of the first ORDER BY term */
  HpHead head;
};

/* What is known of a partition: behind the pack of its group */
typedef struct HpPart HpPart;
struct HpPart {
  u64 iLast;             /* bFull: a row with a larger number is not wanted */
  HpPartRow **apRow;     /* Rows kept, in order */
  u32 nRow;              /* Their number */
  u32 nAlloc;            /* Entries of apRow */
  u32 nKey;              /* HP_NUMBER_DENSE: different keys among them */
  u8 bFull;              /* No more rows are wanted */
  u8 bExact;             /* Nor one that has the number iLast */
};

/* The partitions of a worker */
struct HpParts {
  HpAgg *pAgg;           /* Their groups */
  i64 mxRow;             /* Rows wanted of each */
  u64 *aOrder;           /* Scratch: numbers of the rows of a batch */
  i64 nSeen;             /* Rows so far */
  i64 nKept;             /* Rows kept, and ... */
  i64 nSince;            /* ... rows since partitions were forgotten */
  i64 nCheck;            /* When to look whether it is worth it, and ... */
  u32 nPart;             /* ... partitions when that was last done */
  double rRow;           /* About so many rows in the b-tree, or 0 */
  HpPartRow *apFree[HP_PART_CLASS];  /* Memory for rows, linked by head.z */
};

#define hpGroupPart(G)  ((HpPart*)&(G)[sizeof(HpPack)])

/*****************************************************************************
** At prepare time.
*/

/* HP_NUMBER_xxx of a window function, or 0 if it is none of these */
static u8 hpPartFunc(const Expr *pExpr){
  const FuncDef *pFunc;
  if( pExpr->op!=TK_FUNCTION || !ExprHasProperty(pExpr, EP_WinFunc) ) return 0;
  pFunc = pExpr->y.pWin->pWFunc;
  if( pFunc==0 || (pFunc->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) return 0;
  if( pFunc->zName==row_numberName ) return HP_NUMBER_ROWS;
  if( pFunc->zName==rankName ) return HP_NUMBER_RANK;
  if( pFunc->zName==dense_rankName ) return HP_NUMBER_DENSE;
  return 0;
}

/*
** If pExpr is a column of the FROM clause term pItem, a SELECT with a window that
** numbers rows, return HP_NUMBER_xxx: how.  Else 0.
*/
static u8 hpPartColumn(const SrcItem *pItem, const Expr *pExpr){
  const Select *pSub = pItem->u4.pSubq->pSelect;
  const Expr *pFunc;
  const Window *pWin;
  if( pExpr==0 || pExpr->op!=TK_COLUMN || pExpr->iTable!=pItem->iCursor ) return 0;
  if( pExpr->iColumn<0 || pExpr->iColumn>=pSub->pEList->nExpr ) return 0;
  if( sqlite3ExprAffinity(pExpr)==SQLITE_AFF_TEXT ) return 0;
  pFunc = pSub->pEList->a[pExpr->iColumn].pExpr;
  if( pFunc->op!=TK_FUNCTION || !ExprHasProperty(pFunc, EP_WinFunc) ) return 0;
  for(pWin=pSub->pWin; pWin && pWin!=pFunc->y.pWin; pWin=pWin->pNextWin){}
  return pWin ? hpPartFunc(pFunc) : 0;
}

/*
** If term pTerm of WHERE bounds the number of rows of pItem from above fill in
** *p and return true.
*/
static int hpPartTerm(const SrcItem *pItem, const Expr *pTerm, HpWanted *p){
  const Expr *pNumber = pTerm->pLeft;
  Expr *pLimit = pTerm->pRight;
  int i, n;
  if( ExprHasProperty(pTerm, EP_OuterON) ) return 0;
  memset(p, 0, sizeof(*p));
  switch( pTerm->op ){
    case TK_EQ: case TK_IS:
      if( hpPartColumn(pItem, pNumber)==0 ){
        pNumber = pTerm->pRight;
        pLimit = pTerm->pLeft;
      }
      break;
    case TK_LT:
      p->nLimit = -1;
      break;
    case TK_LE:
      break;
    case TK_GT:
      p->nLimit = -1;
      /* no break */ deliberate_fall_through
    case TK_GE:
      pNumber = pTerm->pRight;
      pLimit = pTerm->pLeft;
      break;
    case TK_BETWEEN:
      pLimit = pTerm->x.pList->a[1].pExpr;
      break;
    case TK_IN:
      if( !ExprUseXList(pTerm) || pTerm->x.pList==0 ) return 0;
      p->eNumber = hpPartColumn(pItem, pNumber);
      for(i=0; i<pTerm->x.pList->nExpr && p->eNumber; i++){
        if( !sqlite3ExprIsInteger(pTerm->x.pList->a[i].pExpr, &n, 0, 0) ) return 0;
        p->nLimit = MAX(p->nLimit, n);
      }
      return p->eNumber!=0;
    default:
      return 0;
  }
  p->eNumber = hpPartColumn(pItem, pNumber);
  if( p->eNumber==0 ) return 0;
  if( sqlite3ExprIsInteger(pLimit, &n, 0, 0) ){
    p->nLimit = n>0 ? n+p->nLimit : 0;
    return 1;
  }
  p->pLimit = pLimit;
  return pLimit->op==TK_VARIABLE;
}

/*
** The same for a WHERE clause: some term of it.
*/
static int hpPartWhere(const SrcItem *pItem, const Expr *pWhere, HpWanted *p){
  while( pWhere->op==TK_AND ){
    if( hpPartWhere(pItem, pWhere->pRight, p) ) return 1;
    pWhere = pWhere->pLeft;
  }
  return hpPartTerm(pItem, pWhere, p);
}

/*
** Query p is about to code the subquery of term iFrom of its FROM clause.  If
** the subquery has a window, or p has and the subquery sorts the rows for it,
** leave a note there which rows are wanted.
*/
SQLITE_PRIVATE void sqlite3HpWanted(Parse *pParse, Select *p, int iFrom){
  SrcItem *pItem = &p->pSrc->a[iFrom];
  Select *pSub = pItem->u4.pSubq->pSelect;
  HpWanted x;
  HpWanted *pNew;
  int i;
  if( p->pWin ){
    if( p->pHp==0 ) return;
    if( pSub->pWin
     && (sqlite3ExprListCompare(pSub->pWin->pPartition, p->pWin->pPartition, -1)
         || sqlite3ExprListCompare(pSub->pWin->pOrderBy, p->pWin->pOrderBy, -1))
    ){
      return;
    }
    pSub->pHp = p->pHp;
    return;
  }
  if( pSub->pWin==0 || p->pWhere==0 ) return;
  if( pSub->pPrior || pSub->pLimit || (pSub->selFlags & SF_Aggregate) ) return;
  if( pItem->fg.jointype & (JT_LEFT|JT_RIGHT|JT_LTORJ) ) return;
  if( pItem->fg.isCte
   && (pItem->u2.pCteUse->eM10d==M10d_Yes || pItem->u2.pCteUse->nUse>=2)
  ){
    return;              /* Somebody else may read it */
  }
  if( isSelfJoinView(p->pSrc, pItem, 0, iFrom)
   || isSelfJoinView(p->pSrc, pItem, iFrom+1, p->pSrc->nSrc)
  ){
    return;              /* Likewise */
  }
  for(i=0; i<p->pSrc->nSrc; i++){
    if( p->pSrc->a[i].fg.isTabFunc ) return;
  }
  if( !hpPartWhere(pItem, p->pWhere, &x) ) return;
  if( x.eNumber!=HP_NUMBER_ROWS && pSub->pWin->pOrderBy==0 ) return;
  if( !hpRowsSafe(pParse, p->pWhere, pSub->pEList, 0)
   || !hpRowsSafe(pParse, 0, pSub->pOrderBy, 0)
  ){
    return;
  }
  pNew = sqlite3DbMallocRaw(pParse->db, sizeof(*pNew));
  if( pNew==0 ) return;
  if( pSub->pWin->pPartition ) x.nPart = pSub->pWin->pPartition->nExpr;
  *pNew = x;
  sqlite3ParserAddCleanup(pParse, sqlite3DbFree, pNew);
  if( pParse->nErr==0 ) pSub->pHp = pNew;
}

/*
** The plan, which has its keys already, sorts rows for a window, and *pWanted is
** known.
*/
static int hpPartCompile(HpPlan *pPlan, const HpWanted *pWanted){
  HpPlan *pPart;
  int n = sizeof(HpPack) + ROUND8(sizeof(HpPart));
  assert( pWanted->nPart<=pPlan->nKey );
  pPlan->pPart = pPart = hpArenaAlloc(&pPlan->mem, sizeof(*pPart));
  if( pPart==0 ) return SQLITE_NOMEM;
  memset(pPart, 0, sizeof(*pPart));
  pPart->nKey = pWanted->nPart;
  pPart->aKey = pPlan->aKey;
  pPart->aKeyColl = pPlan->aKeyColl;
  pPart->aKeySort = pPlan->aKeySort;
  pPart->bIntKey = pPart->nKey==1 && pPart->aKeyColl[0]==0;
  pPart->iHeadOff = (u16)n;
  pPart->szGroup = n + sizeof(HpHead);
  pPlan->eNumber = pWanted->eNumber;
  pPlan->nLimit = pWanted->nLimit;
  return SQLITE_OK;
}

/*****************************************************************************
** At run time.
*/

/*
** How many rows are wanted of each partition?  0: all of them.
*/
static i64 hpPartLimit(const HpPlan *pPlan, const Mem *aMem){
  i64 n = 0;
  if( pPlan->pPart==0 ) return 0;
  if( pPlan->iLimitReg ){
    const Mem *pMem = &aMem[pPlan->iLimitReg];
    if( (pMem->flags & MEM_Int)==0 ) return 0;
    n = MAX(pMem->u.i, 0);
  }
  /* One row is as right as none */
  return MAX(n + pPlan->nLimit, 1);
}

/* True if few rows are wanted, and the table is not too small */
static int hpPartWorthIt(const HpScan *p){
  return p->mxRow>0 && p->mxRow<=HP_MX_WANTED
      && (p->pSource->nLeaf>=HP_PART_LEAF || !hpSortIsSmall(p));
}

/*
** Begin.
*/
static int hpPartOpen(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpParts *pParts;
  int rc;
  if( !hpPartWorthIt(p->pScan) ) return SQLITE_OK;
  p->pParts = pParts = sqlite3_malloc64(sizeof(*pParts));
  if( pParts==0 ) return HP_DECLINE;
  memset(pParts, 0, sizeof(*pParts));
  pParts->mxRow = p->pScan->mxRow;
  pParts->nCheck = HP_PART_CHECK;
  pParts->rRow = (double)hpRowsOnLeaf(p->pScan->pSource)
                 * (double)p->pScan->pSource->nLeaf;
  pParts->aOrder = hpArenaAlloc(&p->vec, sizeof(u64)*(i64)p->batch.nAlloc);
  if( pParts->aOrder==0 ) return HP_DECLINE;
  p->pPlan = pPlan->pPart;
  rc = hpAggOpen(p, &pParts->pAgg);
  p->pPlan = pPlan;
  /* In order of the keys groups might be put aside: hpAggUnordered() */
  if( pParts->pAgg ) pParts->pAgg->bOrdered = 0;
  return rc;
}

/*
** Forget the partitions of worker p.
*/
static void hpPartClose(HpExec *p){
  if( p->pParts ){
    hpAggClose(p->pParts->pAgg);
    sqlite3_free(p->pParts);
    p->pParts = 0;
  }
}

/*
** A number for a value, so that a value with a smaller one comes before it in the
** order of flags (KEYINFO_ORDER_xxx).  Doubles have 2^64 - 2^53 different values,
** their bits turned so that they sort.  What lies before is for NULL, what lies
** behind for the first bytes of texts and blobs.  8 bytes are readable there.
*/
#define HP_ORDER_TEXT ((((u64)0xfff00000)<<32) | 1)
#define HP_ORDER_BLOB ((((u64)0xfff80000)<<32) | 1)
static SQLITE_INLINE u64 hpPartNumber(
  u8 tag, HpVal v, u32 n,
  CollSeq *pColl,
  u8 flags
){
  u64 x = 0;
  if( tag & HP_NUM ){
    if( tag==HP_INT ) v.r = (double)v.i;
    if( v.r==0.0 ) v.r = 0.0;      /* -0.0 is equal */
    x = v.u ^ ((v.u>>63) ? ~(u64)0 : (u64)1<<63);
  }else if( tag & HP_STR ){
    if( pColl==0 && n>0 ) x = hpBytes(v.z, MIN(n,8)) << (64-8*MIN(n,8));
    x = tag==HP_TEXT ? HP_ORDER_TEXT+(x>>13) : HP_ORDER_BLOB+(x>>14);
  }else if( flags & KEYINFO_ORDER_BIGNULL ){
    x = ~(u64)0;
  }
  return (flags & KEYINFO_ORDER_DESC) ? ~x : x;
}

/*
** True if all values with number x are equal: NULL, and numbers below 2^53.
*/
static int hpPartExact(u64 x, u8 flags){
  if( flags & KEYINFO_ORDER_DESC ) x = ~x;
  return x==0 || x==~(u64)0
      || (x>(((u64)0x3cbfffff<<32)|0xffffffff) && x<(u64)0xc3400000<<32);
}

/*
** Numbers of the first ORDER BY terms of the selected rows.
*/
static void hpPartOrder(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  u64 *aOrder = p->pParts->aOrder;
  const u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int k = pPlan->pPart->nKey;
  int ii;
  if( k==pPlan->nKey ){
    memset(aOrder, 0, sizeof(u64)*nSel);
  }else{
    const HpVec *pVec = &p->aVec[pPlan->aKey[k]];
    CollSeq *pColl = pPlan->aKeyColl[k];
    u8 flags = pPlan->aKeySort[k];
    u8 mType = pVec->mType;
#define HP_ORDER_LOOP(TAG,LEN) \
    for(ii=0; ii<nSel; ii++){ \
      int i = aSel[ii] & pVec->mIdx; \
      aOrder[ii] = hpPartNumber(TAG, pVec->aVal[i], LEN, pColl, flags); \
    }
    if( mType==HP_INT ){
      HP_ORDER_LOOP(HP_INT, 0)
    }else if( mType==HP_REAL ){
      HP_ORDER_LOOP(HP_REAL, 0)
    }else{
      HP_ORDER_LOOP(pVec->aTag[i], (pVec->aTag[i] & HP_STR) ? pVec->aLen[i] : 0)
    }
#undef HP_ORDER_LOOP
  }
}

/*
** Which list of HpParts.apFree is for rows of n bytes?  *pn is set to the bytes
** that each of its rows has.
*/
static int hpPartClass(u64 n, i64 *pn){
  int i;
  if( n<=1024 ){
    i = (int)((n-1)/32);
    *pn = 32*(i+1);
  }else{
    *pn = 2048;
    for(i=32; *pn<(i64)n; i++) *pn *= 2;
  }
  assert( i<HP_PART_CLASS );
  return i;
}

/*
** Compare a row that has iOrder, and its key in a[0..nNorm-1], with one that was
** kept.  The first nPrefix bytes are those of their partition.
*/
static SQLITE_INLINE int hpPartCompare(
  u64 iOrder, const u8 *a, u32 nNorm,
  u32 nPrefix,
  const HpPartRow *pRow
){
  u32 n = MIN(nNorm, pRow->head.nNorm) - nPrefix;
  if( iOrder!=pRow->iOrder ) return iOrder<pRow->iOrder ? -1 : 1;
  return n ? memcmp(&a[nPrefix], &pRow->head.z[nPrefix], n) : 0;
}
#define hpPartCompareRows(A,B,N) \
  hpPartCompare((A)->iOrder, (A)->head.z, (A)->head.nNorm, N, B)

/*
** Make a row of what is in pBuf, and insert it as entry j of pPart.
*/
static int hpPartInsert(
  HpExec *p,
  HpPart *pPart, u32 j,
  const HpBuf *pBuf, u32 nNorm,
  u64 iOrder, u64 iPos
){
  HpParts *pParts = p->pParts;
  HpPartRow *pRow;
  i64 n;
  int iClass = hpPartClass((u64)sizeof(*pRow)+pBuf->n, &n);
  if( pPart->nRow>=pPart->nAlloc ){
    u32 nNew = pPart->nAlloc ? pPart->nAlloc*2
                             : (u32)MIN(pParts->mxRow+1, 4);
    HpPartRow **apNew = hpArenaAlloc(&pParts->pAgg->arena,
                                     sizeof(HpPartRow*)*(i64)nNew);
    if( apNew==0 ) return HP_DECLINE;
    if( pPart->nRow ){
      memcpy(apNew, pPart->apRow, sizeof(HpPartRow*)*(size_t)pPart->nRow);
    }
    pPart->apRow = apNew;
    pPart->nAlloc = nNew;
  }
  pRow = pParts->apFree[iClass];
  if( pRow ){
    pParts->apFree[iClass] = (HpPartRow*)pRow->head.z;
  }else{
    pRow = hpArenaAlloc(&p->pAgg->arena, n);
    if( pRow==0 ) return HP_DECLINE;
  }
  pRow->iOrder = iOrder;
  pRow->head.iPos = iPos;
  pRow->head.z = (u8*)&pRow[1];
  pRow->head.nNorm = nNorm;
  pRow->head.nRec = pBuf->n;
  memcpy(&pRow[1], pBuf->a, pBuf->n);
  memmove(&pPart->apRow[j+1], &pPart->apRow[j],
          sizeof(HpPartRow*)*(size_t)(pPart->nRow-j));
  pPart->apRow[j] = pRow;
  pPart->nRow++;
  pParts->nKept++;
  return SQLITE_OK;
}

/*
** Leave out the last row of pPart.
*/
static void hpPartDrop(HpParts *pParts, HpPart *pPart){
  HpPartRow *pRow = pPart->apRow[--pPart->nRow];
  i64 n;
  int iClass = hpPartClass((u64)sizeof(*pRow)+pRow->head.nRec, &n);
  pRow->head.z = (u8*)pParts->apFree[iClass];
  pParts->apFree[iClass] = pRow;
  pParts->nKept--;
}

/*
** Leave out what is not wanted any more of a partition that has got a row more.
** nPrefix are the bytes of the partition in its rows' keys.
*/
static void hpPartTrim(HpExec *p, HpPart *pPart, u32 nPrefix){
  const HpPlan *pPlan = p->pPlan;
  HpParts *pParts = p->pParts;
  HpPartRow **ap = pPart->apRow;
  u32 mxRow = (u32)pParts->mxRow;
  int nPart = pPlan->pPart->nKey;
  switch( pPlan->eNumber ){
    case HP_NUMBER_ROWS:
      if( pPart->nRow>mxRow ) hpPartDrop(pParts, pPart);
      pPart->bFull = pPart->nRow==mxRow;
      break;
    case HP_NUMBER_RANK:
      while( pPart->nRow>mxRow
          && hpPartCompareRows(ap[pPart->nRow-1], ap[mxRow-1], nPrefix)!=0
      ){
        hpPartDrop(pParts, pPart);
      }
      pPart->bFull = pPart->nRow>=mxRow;
      break;
    default:
      assert( pPlan->eNumber==HP_NUMBER_DENSE );
      if( pPart->nKey>mxRow ){
        u32 n = pPart->nRow-1;
        while( n>0 && hpPartCompareRows(ap[n-1], ap[n], nPrefix)==0 ) n--;
        while( pPart->nRow>n ) hpPartDrop(pParts, pPart);
        pPart->nKey--;
      }
      pPart->bFull = pPart->nKey==mxRow;
      break;
  }
  if( pPart->bFull ){
    pPart->iLast = ap[pPart->nRow-1]->iOrder;
    pPart->bExact = pPlan->eNumber==HP_NUMBER_ROWS
        && (nPart==pPlan->nKey
            || (nPart+1==pPlan->nKey
                && hpPartExact(pPart->iLast, pPlan->aKeySort[nPart])));
  }
}

/*
** Keep row i of the batch, which is of partition pPart, unless it turns out
** that it is not wanted.  All rows there were scanned before it.
*/
static int hpPartAdd(HpExec *p, HpPart *pPart, int i, u64 iOrder){
  HpBuf *pBuf = &p->pAgg->key;
  u32 lwr = 0;
  u32 upr = pPart->nRow;
  u32 nPrefix, nNorm;
  int bSame;             /* There is a row with an equal key */
  int rc;
#define hpPartNew(J) \
  hpPartCompare(iOrder, pBuf->a, nNorm, nPrefix, pPart->apRow[J])
  pBuf->n = 0;
  if( hpSortKey(p, i, pBuf, &nPrefix) ) return HP_DECLINE;
  nNorm = pBuf->n;
  /* It goes to lwr, behind those that are not larger */
  if( upr>0 && hpPartNew(upr-1)>=0 ) lwr = upr;
  while( lwr<upr ){
    u32 j = (lwr+upr)/2;
    if( hpPartNew(j)<0 ){
      upr = j;
    }else{
      lwr = j+1;
    }
  }
  bSame = lwr>0 && hpPartNew(lwr-1)==0;
#undef hpPartNew
  if( pPart->bFull && lwr==pPart->nRow
   && (bSame==0 || p->pPlan->eNumber==HP_NUMBER_ROWS)
  ){
    return SQLITE_OK;
  }
  if( hpSortTail(p, i, pBuf, nPrefix) ) return HP_DECLINE;
  rc = hpPartInsert(p, pPart, lwr, pBuf, nNorm, iOrder, p->iPos + i);
  if( rc ) return rc;
  if( bSame==0 ) pPart->nKey++;
  hpPartTrim(p, pPart, nPrefix);
  return SQLITE_OK;
}

/*
** hpSortRun() asks for the rows kept: as if they were all that there had been.
** Then there are no partitions.
*/
static int hpPartRows(HpExec *p){
  HpParts *pParts = p->pParts;
  HpAgg *pAgg = p->pAgg;
  u32 n = 0;
  u32 iPart, j;
  if( pParts->nKept>0x7fffffff ) return HP_DECLINE;
  if( pParts->nKept>pAgg->nSortedAlloc ){
    struct HpSorted *aNew;
    aNew = sqlite3_realloc64(pAgg->aSorted, sizeof(*aNew)*(u64)pParts->nKept);
    if( aNew==0 ) return HP_DECLINE;
    pAgg->aSorted = aNew;
    pAgg->nSortedAlloc = (u32)pParts->nKept;
  }
  for(iPart=0; iPart<pParts->pAgg->nGroup; iPart++){
    HpPart *pPart = hpGroupPart(hpAggGroup(pParts->pAgg, iPart));
    for(j=0; j<pPart->nRow; j++){
      pAgg->aSorted[n++].aGroup = (u8*)&pPart->apRow[j]->head;
    }
  }
  assert( n==pParts->nKept );
  pAgg->nGroup = n;
  pParts->nKept = pParts->nSince = 0;
  memset(pParts->apFree, 0, sizeof(pParts->apFree));
  if( p->pPlan->pPart->nKey ){
    hpAggReset(pParts->pAgg);
    pParts->pAgg->bOrdered = 0;
  }else{
    memset(hpGroupPart(hpAggGroup(pParts->pAgg, 0)), 0, sizeof(HpPart));
  }
  return SQLITE_OK;
}

/*
** After the selected rows: will most rows be kept, because there are so many
** partitions, or so many rows wanted of each?  How many partitions there will be
** is to be guessed.  If more than half of the rows were the first of their
** partition take them for drawn at random from a set of some size; else, if new
** ones come as often as before, they will go on to come.
*/
static int hpPartTooMany(HpExec *p){
  HpParts *pParts = p->pParts;
  u32 nPart = pParts->pAgg->nGroup;
  u32 nBefore = pParts->nPart;
  double rSeen = (double)pParts->nSeen;
  double rScanned = (double)p->nScanned + p->aSel[p->nSel-1] + 1;
  double rAll = pParts->rRow * rSeen / (rScanned*p->pScan->nWorker);
  double rKept = (double)nPart;
  pParts->nPart = nPart;
  if( pParts->rRow==0.0 ) return 0;
  if( rKept>rSeen/2 ){
    rKept = rSeen*rSeen / (2*(rSeen-rKept+1));
  }else if( nBefore>0 && nPart-nBefore>nBefore-nBefore/8 ){
    rKept *= rAll/rSeen;
  }
  rKept = MAX(rKept*(double)pParts->mxRow, (double)pParts->nKept);
  return (hpSortIsSmall(p->pScan) ? 4 : 2)*rKept>rAll;
}

/*
** After the selected rows: is it worth to go on, and is there memory enough?
*/
static int hpPartEnough(HpExec *p){
  HpParts *pParts = p->pParts;
  HpScan *pScan = p->pScan;
  int bOff;
  int rc;
  i64 n = hpAggMemory(p->pAgg) + hpAggMemory(pParts->pAgg)
          + pParts->nKept*(i64)sizeof(struct HpSorted);
  if( n>p->nMemory/3 ){
    bOff = 2*pParts->nKept>pParts->nSince;
    rc = hpSortRun(p);
    if( rc==SQLITE_OK && !sqlite3TempInMemory(pScan->db) ) rc = hpSpillRuns(p);
  }else if( pParts->nSeen>=pParts->nCheck ){
    pParts->nCheck *= 2;
    bOff = hpPartTooMany(p);
    if( bOff==0 ) return SQLITE_OK;
    if( hpSortIsSmall(pScan) ) return HP_DECLINE;
    rc = hpSortRun(p);
  }else{
    return SQLITE_OK;
  }
  if( bOff ) hpPartClose(p);
  return rc;
}

/*
** Add the selected rows.
*/
static int hpPartRun(HpExec *p){
  const HpPlan *pPlan = p->pPlan;
  HpParts *pParts = p->pParts;
  HpAgg *pAgg = pParts->pAgg;
  HpAgg *pRows = p->pAgg;
  const u64 *aOrder = pParts->aOrder;
  int nKey = pPlan->pPart->nKey;
  int ii, rc;
  if( nKey ){
    /* The groups of the same rows under another plan */
    p->pPlan = pPlan->pPart;
    p->pAgg = pAgg;
    rc = hpAggFind(p);
    p->pPlan = pPlan;
    p->pAgg = pRows;
    if( rc ) return rc;
  }
  hpPartOrder(p);
  for(ii=0; ii<p->nSel; ii++){
    HpPart *pPart = hpGroupPart(hpAggGroup(pAgg, nKey ? pAgg->aiGroup[ii] : 0));
    u64 x = aOrder[ii];
    if( pPart->bFull
     && (x>pPart->iLast || (x==pPart->iLast && pPart->bExact))
    ){
      continue;
    }
    rc = hpPartAdd(p, pPart, p->aSel[ii], x);
    if( rc ) return rc;
  }
  pParts->nSeen += p->nSel;
  pParts->nSince += p->nSel;
  return hpPartEnough(p);
}

/*
** Add the selected rows of the batch, the first ones of a scan in smaller portions,
** as long as there are partitions.  *pn is set to the number of rows added.
*/
static int hpPartStep(HpExec *p, int *pn){
  u16 *aSel = p->aSel;
  int nSel = p->nSel;
  int n = 0;
  int rc = SQLITE_OK;
  while( n<nSel && p->pParts && rc==SQLITE_OK ){
    p->aSel = &aSel[n];
    p->nSel = nSel-n;
    if( p->pParts->nSeen<HP_BATCH ) p->nSel = MIN(p->nSel, HP_PART_CHECK);
    n += p->nSel;
    rc = hpPartRun(p);
  }
  p->aSel = aSel;
  p->nSel = nSel;
  *pn = n;
  return rc;
}

/*
** Rows come in order.  Is this one not wanted, as those before it tell?
*/
static int hpPartSkip(const HpScan *p, HpCount *pCount, const u8 *aRow){
  const HpHead *pHead = (const HpHead*)aRow;
  u32 nPrefix = sqlite3Get4byte(&pHead->z[pHead->nRec-4]);
  int bPart;             /* Of the same partition as the row before */
  int bPeer;             /* And with an equal key */
  if( p->mxRow==0 || pCount->bOff ) return 0;
  bPart = pCount->nRow>0 && pCount->nPrefix==nPrefix
       && (nPrefix==0 || memcmp(pCount->norm.a, pHead->z, nPrefix)==0);
  bPeer = bPart && pCount->norm.n==pHead->nNorm
       && memcmp(pCount->norm.a, pHead->z, pHead->nNorm)==0;
  if( bPart==0 ) pCount->nRow = pCount->iNumber = 0;
  pCount->nRow++;
  switch( p->pPlan->eNumber ){
    case HP_NUMBER_ROWS:   pCount->iNumber = pCount->nRow;             break;
    case HP_NUMBER_RANK:   if( !bPeer ) pCount->iNumber = pCount->nRow;  break;
    default:               if( !bPeer ) pCount->iNumber++;             break;
  }
  if( bPeer==0 ){
    pCount->nPrefix = nPrefix;
    pCount->norm.n = 0;
    if( hpBufRoom(&pCount->norm, pHead->nNorm) ){
      pCount->bOff = 1;    /* Not wanted, but no harm */
      return 0;
    }
    if( pHead->nNorm ) memcpy(pCount->norm.a, pHead->z, pHead->nNorm);
    pCount->norm.n = pHead->nNorm;
  }
  return pCount->iNumber>p->mxRow;
}
#endif /* SQLITE_OMIT_HP */
