/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_deliver: a plan goes into the statement's program, and what it finds into
** SQLite's code (prepare time).
**
**    hpDeliverGroups()      groups to the output of GROUP BY
**    hpDeliverAggs()        the one group of a query without GROUP BY
**    hpDeliverSet()         values to the set of an IN
**    hpDeliverPlaces()      rows to a loop over a table
**    hpDeliverEntries()     entries to a loop that searches an index
**    hpDeliverRecords(), sqlite3HpCodeSorted()    records to the output loop
**                           of ORDER BY
**    hpDeliverFind()        groups to a correlated sub-select
**    hpDeliverExists()      a truth value to a correlated EXISTS
**    hpDeliverTask()        nothing: what the loop is for is done
**
** There are three ways.  Values are put into registers, where SQLite's code
** takes them; then its loops are not run.  Or they are, but OP_HpRow moves the
** cursor from one row that is found to the next.  Or OP_HpTask does all:
**
**    who                 is given      by           where SQLite's code goes on
**    ------------------  ------------  -----------  --------------------------
**    GROUP BY            keys, bare    HpNext       the output subroutine, for
**                        columns,                   each group: OP_AggFinal,
**                        contexts                   HAVING, ORDER BY, result
**    aggregates without  the same,     HpNext       finalizeAggFunctions()
**                        but no keys
**    IN (SELECT)         keys, as a    HpNext       behind its loops; ours adds
**                        record                     to the set and its filter
**    ORDER BY            a record      HpRow        the output loop, behind
**                                                   OP_SorterData
**    WHERE; DISTINCT;    rows of its   HpRow        the loop's body, once a row
**    ORDER BY LIMIT      cursor                     that is found
**    the same, of a      entries of    HpRow        the same
**    search              its cursor
**    correlated          contexts      HpFind       finalizeAggFunctions()
**    sub-select
**    correlated EXISTS   1             HpFind       behind its loop
**    CREATE INDEX, ...   -             HpTask       behind its loop
**
** All is a branch (hp_splice.c).  Ours begins with the constants of the plan,
** which SQLite's code computes, and OP_HpScan, OP_HpFind or OP_HpTask.  The
** plan belongs to the program from then on, and is freed with it
** (hpCompileFree()).
** If that instruction declines SQLite's loops are run.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/*
** Code the value of sub-select pExpr into register iReg.
*/
static void hpDeliverScalar(Parse *pParse, const Expr *pExpr, int iReg){
  Vdbe *v = pParse->pVdbe;
  assert( ExprHasProperty(pExpr, EP_Subrtn) && pExpr->iTable>0 );
  sqlite3VdbeAddOp2(v, OP_Gosub, pExpr->y.sub.regReturn, pExpr->y.sub.iAddr);
  sqlite3VdbeAddOp2(v, OP_Copy, pExpr->iTable, iReg);
}

/*
** Let SQLite make the tables of the sets of pPlan.
*/
static void hpDeliverSets(Parse *pParse, HpPlan *pPlan){
  int i;
  for(i=0; i<pPlan->nSet; i++){
    const Expr *pExpr = pPlan->aSet[i].pExpr;
    /* What it fills is what the pipe reads */
    assert( pPlan->aSet[i].pipe.source.iCsr==pExpr->iTable );
    assert( pExpr->op==TK_IN && ExprHasProperty(pExpr, EP_Subrtn) );
    sqlite3VdbeAddOp2(pParse->pVdbe, OP_Gosub, pExpr->y.sub.regReturn,
                      pExpr->y.sub.iAddr);
    pPlan->aSet[i].pExpr = 0;
  }
}

/*
** Code the constants of pPlan, and its sets.
*/
static void hpDeliverConsts(Parse *pParse, HpPlan *pPlan){
  u8 okConstFactor = pParse->okConstFactor;
  int i, k;
  assert( pPlan->nPipe>0 );
  pParse->okConstFactor = 0;
  for(k=0; k<pPlan->nPipe; k++){
    const HpProg *pProg = &pPlan->aPipe[k].prog;
    for(i=0; i<pProg->nConst; i++){
      struct HpConst *pConst = &pProg->aConst[i];
      assert( pConst->pExpr!=0 );      /* They are coded once */
      assert( pConst->iReg>0 && pConst->iReg<=pParse->nMem );
      if( pConst->pExpr->op==TK_SELECT || pConst->pExpr->op==TK_EXISTS ){
        hpDeliverScalar(pParse, pConst->pExpr, pConst->iReg);
      }else if( !ExprHasProperty(pConst->pExpr, EP_TokenOnly|EP_Leaf) ){
        /* The schema's expressions must not know of this program */
        sqlite3ExprCodeCopy(pParse, pConst->pExpr, pConst->iReg);
      }else{
        sqlite3ExprCode(pParse, pConst->pExpr, pConst->iReg);
      }
      pConst->pExpr = 0;
    }
  }
  hpDeliverSets(pParse, pPlan);
  pParse->okConstFactor = okConstFactor;
}

/*
** Code instruction op, OP_HpScan, OP_HpFind or OP_HpTask, with pPlan.  Returns
** its address: the caller sets P2, where to go when it declines.
*/
static int hpDeliverOp(
  Parse *pParse,
  HpPlan *pPlan,
  int op,
  int iP1,
  int iP3
){
  Vdbe *v = pParse->pVdbe;
  sqlite3_value *pP4 = sqlite3ValueNew(pParse->db);
  assert( (op==OP_HpTask)==(pPlan->xTask!=0) );
  assert( pPlan->iLoopEnd==0 || pParse->db->mallocFailed
       || (pPlan->iLoop>0 && pPlan->iLoop<=pPlan->iLoopEnd) );
  if( pP4==0 ){
    hpCompileFree(pPlan);
    return sqlite3VdbeAddOp0(v, OP_Noop);
  }
  sqlite3VdbeMemSetPointer(pP4, pPlan, "hp", hpCompileFree);
  return sqlite3VdbeAddOp4(v, op, iP1, 0, iP3, (char*)pP4, P4_MEM);
}

/*
** pPlan, which is compiled, is taken: code its constants.
*/
static void hpDeliverBegin(Parse *pParse, HpPlan *pPlan){
  assert( hpSanePlan(pParse, pPlan) );
  hpShowPlan(pParse, pPlan);
  hpConfigStat(pParse->db, HP_STAT_TAKEN);
  hpLivePlan(pPlan);
  hpDeliverConsts(pParse, pPlan);
}

/*
** Code the constants of pPlan and OP_HpScan, with the execution in register
** regExec.  If it is followed by OP_HpRow there is another one for that.
** Returns the address of OP_HpScan: the caller sets P2.
*/
static int hpDeliverScan(Parse *pParse, HpPlan *pPlan, int regExec){
  const HpPipePlan *pLast = hpPlanLast(pPlan);
  int eRows = 0;         /* HP_SCAN_xxx */
  assert( regExec>0 && regExec<=pParse->nMem );
  hpDeliverBegin(pParse, pPlan);
  if( pLast->pFind ) eRows = HP_SCAN_FIND;
  if( pLast->pSort ) eRows = HP_SCAN_SORT;
  return hpDeliverOp(pParse, pPlan, OP_HpScan, regExec, eRows);
}

/*
** Code OP_HpTask, before a loop of SQLite's whose work pPlan does:
**
**           ...                constants into registers
**           HpTask  P2=end     the caller sets P2, when the loop is there
**           ...                SQLite's loop: it declined
**    end:
**
** Returns its address, or 0 if there is no memory.
*/
static int hpDeliverTask(Parse *pParse, HpPlan *pPlan, int iP1, int iP3){
  int addr;
  assert( pPlan->xTask!=0 );
  /* Without pipes b-trees are copied as they are */
  if( pPlan->nPipe>0 ) hpDeliverBegin(pParse, pPlan);
  addr = hpDeliverOp(pParse, pPlan, OP_HpTask, iP1, iP3);
  return pParse->db->mallocFailed ? 0 : addr;
}

/*
** Let the groups of pPlan go to the registers of pAggInfo.
*/
static void hpDeliverRegs(HpPlan *pPlan, AggInfo *pAggInfo){
  HpGroupPlan *pGroup = hpPlanLast(pPlan)->pGroup;
  assert( pGroup->nAgg==pAggInfo->nFunc );
  pGroup->iBareReg = AggInfoColumnReg(pAggInfo, 0);
  pGroup->iFuncReg = AggInfoFuncReg(pAggInfo, 0);
}

/*
** Code the one group of an aggregate query without GROUP BY:
**
**    reset: Goto hp                  the instruction at iReset
**    next:  ...                      SQLite: scan, step
**           Goto done
**    hp:    Null                     what was at reset
**           ...                      constants into registers
**           HpScan  P1=r P2=next
**           OpenEphemeral ...        tables of aggregates with ORDER BY inside
**           HpNext  P1=r P2=done     columns and contexts into registers
**    done:  ...                      SQLite: finalizeAggFunctions()
**
** SQLite's code for the result reads the tables, and the instructions that open
** them are behind the one at iReset.  They stay empty.
*/
static void hpDeliverAggs(
  Parse *pParse,
  HpPlan *pPlan,
  AggInfo *pAggInfo,
  int iReset
){
  Vdbe *v = pParse->pVdbe;
  int regExec = pParse->nMem+1;
  HpBranch branch;
  int addrScan, addrNext, i;
  assert( hpPlanLast(pPlan)->pGroup->keys.n==0 );
  pParse->nMem++;
  hpDeliverRegs(pPlan, pAggInfo);
  hpSpliceDetour(pParse, &branch, iReset);
  pPlan->iLoop = iReset+1;
  pPlan->iLoopEnd = branch.addrSkip;
  addrScan = hpDeliverScan(pParse, pPlan, regExec);
  for(i=0; i<pAggInfo->nFunc; i++){
    int iTab = pAggInfo->aFunc[i].iOBTab;
    if( iTab>=0 ) hpSpliceOpen(v, iReset, iTab);
  }
  addrNext = sqlite3VdbeAddOp1(v, OP_HpNext, regExec);
  sqlite3VdbeJumpHere(v, addrNext);
  hpSpliceReturn(pParse, &branch, addrScan);
}

/*
** Code the groups of an aggregate query with GROUP BY:
**
**    reset: Goto hp                  the instruction at iReset
**    next:  ...                      SQLite: scan, sort, step
**           Goto done
**    hp:    Gosub reset              what was at reset
**           ...                      constants into registers
**           HpScan  P1=r P2=next
**           Integer 1 -> use         there is a group to output
**    loop:  HpNext  P1=r P2=done     keys, columns, contexts into registers
**           Gosub output             SQLite: finish, HAVING, ORDER BY, result
**           IfPos abort              it wants no more
**           Goto loop
**    done:
**
** With GROUP BY the OP_Gosub opens tables of aggregates with ORDER BY inside.
*/
static void hpDeliverGroups(
  Parse *pParse,
  HpPlan *pPlan,
  AggInfo *pAggInfo,
  int iReset,
  const HpGroupsTo *pOut
){
  Vdbe *v = pParse->pVdbe;
  int regExec = pParse->nMem+1;
  HpGroupPlan *pGroup = hpPlanLast(pPlan)->pGroup;
  HpBranch branch;
  int addrScan, addrNext;
  assert( pGroup->keys.n>0 && pOut->regKey>0 && pOut->regUse>0 );
  pParse->nMem++;
  hpDeliverRegs(pPlan, pAggInfo);
  pGroup->iKeyReg = pOut->regKey;
  hpSpliceDetour(pParse, &branch, iReset);
  pPlan->iLoop = iReset+1;
  pPlan->iLoopEnd = hpSpliceSort(v, iReset, branch.addrSkip,
                                 pAggInfo->sortingIdx);
  addrScan = hpDeliverScan(pParse, pPlan, regExec);
  sqlite3VdbeAddOp2(v, OP_Integer, 1, pOut->regUse);
  addrNext = sqlite3VdbeAddOp1(v, OP_HpNext, regExec);
  sqlite3VdbeAddOp2(v, OP_Gosub, pOut->regReturn, pOut->addrOutput);
  sqlite3VdbeAddOp2(v, OP_IfPos, pOut->regAbort, pOut->addrAbort);
  sqlite3VdbeAddOp2(v, OP_Goto, 0, addrNext);
  sqlite3VdbeJumpHere(v, addrNext);
  hpSpliceReturn(pParse, &branch, addrScan);
}

/*
** Code the values of a set, pDest, that are the nKey keys of groups, in place
** of the loops that begin with the instruction at iStart, an OP_OpenRead:
**
**           OpenEphemeral set
**    start: Goto hp                  the instruction at iStart
**           ...                      SQLite: look up, test, put into the set
**           Goto done
**    hp:    ...                      constants into registers
**           HpScan   P1=r P2=back
**    next:  HpNext   P1=r P2=done    the keys of a group
**           MakeRecord, IdxInsert    as SQLite does, and FilterAdd
**           Goto next
**    back:  OpenRead                 the copy
**           Goto start+1
**    done:
*/
static void hpDeliverSet(
  Parse *pParse,
  HpPlan *pPlan,
  int iStart,
  int nKey,
  const SelectDest *pDest
){
  Vdbe *v = pParse->pVdbe;
  int regExec = pParse->nMem+1;
  int regKey = regExec+1;
  int regRecord = regKey+nKey;
  HpBranch branch;
  int addrScan, addrNext;
  assert( pDest->eDest==SRT_Set );
  assert( hpPlanLast(pPlan)->pGroup->keys.n==nKey );
  pParse->nMem += nKey+2;
  hpPlanLast(pPlan)->pGroup->iKeyReg = regKey;
  hpSpliceBranch(pParse, &branch, iStart);
  addrScan = hpDeliverScan(pParse, pPlan, regExec);
  addrNext = sqlite3VdbeAddOp1(v, OP_HpNext, regExec);
  sqlite3VdbeAddOp4(v, OP_MakeRecord, regKey, nKey, regRecord,
                    pDest->zAffSdst, nKey);
  sqlite3VdbeAddOp4Int(v, OP_IdxInsert, pDest->iSDParm, regRecord, regKey,
                       nKey);
  if( pDest->iSDParm2 ){
    sqlite3VdbeAddOp4Int(v, OP_FilterAdd, pDest->iSDParm2, 0, regKey, nKey);
  }
  sqlite3VdbeAddOp2(v, OP_Goto, 0, addrNext);
  hpSpliceRejoin(pParse, &branch, addrScan);
  sqlite3VdbeJumpHere(v, addrNext);
}

/*
** Let loop pLoop, over a whole table, go through the rows that pPlan finds: at
** once, or piece by piece, while the loop goes on.  hp_found.c and hp_piece.c
** have drawings of the two.
*/
static void hpDeliverPlaces(
  Parse *pParse,
  HpPlan *pPlan,
  const HpScanLoop *pLoop
){
  Vdbe *v = pParse->pVdbe;
  int bPieces = hpPlanLast(pPlan)->pFind->bPieces;
  int regExec = pParse->nMem+1;
  HpBranch branch;
  int addrScan;
  assert( pLoop->iFrom>0 && pLoop->iFrom<pLoop->iNext && !pLoop->bIn );
  assert( !bPieces || hpPlanLast(pPlan)->pSink==&hpSinkRowids );
  pParse->nMem += 2;     /* The execution, and what OP_HpRow counts */
  hpSpliceBranch(pParse, &branch, pLoop->iFrom);
  hpSpliceRow(v, pLoop->iNext, regExec);
  addrScan = hpDeliverScan(pParse, pPlan, regExec);
  if( !bPieces ){
    sqlite3VdbeAddOp3(v, OP_HpRow, pLoop->iCur, pLoop->iRow, regExec);
    sqlite3VdbeChangeP5(v, SQLITE_STMTSTATUS_FULLSCAN_STEP);
    sqlite3VdbeAddOp2(v, OP_Goto, 0, pLoop->iEnd);
  }
  hpSpliceRejoin(pParse, &branch, addrScan);
}

/*
** Let loop pLoop, a search, go through the entries of the rows that pPlan
** finds:
**
**    from:  Goto hp                  the instruction at pLoop->iFrom
**           ...
**    row:   ...                      SQLite
**           HpRow idx -> row         was Next idx
**           Goto done
**    hp:    ...                      what was at from; constants into registers
**           HpScan  P1=r P2=from+1
**           HpRow idx -> row         the first one
**           Goto end
**    done:
**
** With IN there is a loop around this one, which entries do not end: OP_IdxGT
** asks whether they have the value that it is at.  So ours leaves OP_IdxGT out,
** and goes on behind the loop outside.  The instruction at pLoop->iNext does
** one or the other:
**
**           Rewind values -> end     ours begins with a copy of this
**           ...
**           SeekGE idx, IdxGT idx    SQLite's only
**    row:   DeferredSeek idx, table
**           ...
**           Goto x                   was Next idx
**           Next values
**    end:
**    hp:    HpRow idx -> row
**           Goto end
**    stock: Next idx                 the copy
**           Goto ...
**    x:     IfPos -> stock           OP_HpScan has declined
**           Goto hp
*/
static void hpDeliverEntries(
  Parse *pParse,
  HpPlan *pPlan,
  const HpScanLoop *pLoop
){
  Vdbe *v = pParse->pVdbe;
  int regExec = pParse->nMem+1;
  HpBranch branch;
  int addrScan, addrRow;
  assert( pPlan->pSearch!=0 );
  assert( pLoop->iFrom>0 && pLoop->iFrom<pLoop->iNext );
  pParse->nMem += 2;     /* The execution, and what OP_HpRow counts */
  hpPlanLast(pPlan)->pFind->iIdxCur = pLoop->iCur;
  if( !pLoop->bIn ) hpSpliceRow(v, pLoop->iNext, regExec);
  hpSpliceDetour(pParse, &branch, pLoop->iFrom);
  pPlan->iLoop = pLoop->iFrom+1;
  pPlan->iLoopEnd = pLoop->iEnd;
  addrScan = hpDeliverScan(pParse, pPlan, regExec);
  addrRow = sqlite3VdbeAddOp3(v, OP_HpRow, pLoop->iCur, pLoop->iRow, regExec);
  sqlite3VdbeAddOp2(v, OP_Goto, 0, pLoop->iEnd);
  if( pLoop->bIn ){
    int addrNext = sqlite3VdbeCurrentAddr(v);
    int addrX;
    hpSpliceMove(pParse, pLoop->iNext);
    sqlite3VdbeAddOp2(v, OP_Goto, 0, pLoop->iNext+1);
    addrX = sqlite3VdbeAddOp2(v, OP_IfPos, regExec+1, addrNext);
    sqlite3VdbeChangeP2(v, pLoop->iNext, addrX);
    sqlite3VdbeAddOp2(v, OP_Goto, 0, addrRow);
  }
  hpSpliceReturn(pParse, &branch, addrScan);
}

/*
** Code the sorted records of pPlan, in place of the loop that begins at iFrom:
** an OP_Rewind, or where the code of a search begins.  pLimit: how many rows of
** a partition are wanted, or NULL.  Returns the address of OP_HpScan:
**
**           HpScan  P1=r
**           OpenPseudo               as SQLite's output loop has it
**           HpRow   P3=r P2=body     first record into the register
**           Goto done                there is none
**
** sqlite3HpCodeSorted() fills in the rest, when the output loop is there.
*/
static int hpDeliverRecords(
  Parse *pParse,
  HpPlan *pPlan,
  int iFrom,
  Expr *pLimit
){
  Vdbe *v = pParse->pVdbe;
  HpSortPlan *pSort = hpPlanLast(pPlan)->pSort;
  int bSearch = pPlan->pSearch!=0;
  HpBranch branch;
  int addrScan;
  assert( pSort!=0 && (pLimit==0 || pSort->pPart!=0) );
  if( bSearch ){
    hpSpliceDetour(pParse, &branch, iFrom);
    pPlan->iLoop = iFrom+1;
    pPlan->iLoopEnd = branch.addrSkip;
  }else{
    hpSpliceBranch(pParse, &branch, iFrom);
  }
  if( pLimit ){
    pSort->iLimitReg = ++pParse->nMem;
    sqlite3ExprCode(pParse, pLimit, pSort->iLimitReg);
  }
  pParse->nMem += 2;     /* The execution, and one for OP_HpRow */
  addrScan = hpDeliverScan(pParse, pPlan, pParse->nMem-1);
  sqlite3VdbeAddOp0(v, OP_OpenPseudo);
  sqlite3VdbeAddOp0(v, OP_HpRow);
  sqlite3VdbeAddOp0(v, OP_Goto);
  if( bSearch ){
    hpSpliceReturn(pParse, &branch, addrScan);
  }else{
    hpSpliceRejoin(pParse, &branch, addrScan);
  }
  return addrScan;
}

/*
** SQLite's output loop for sorter iSorter has been coded.  Let it deliver the
** rows of the OP_HpScan at addrScan, which comes from sqlite3HpCodeRows(): 0 if
** there is none.  hp_sort.c has a drawing.
*/
SQLITE_PRIVATE void sqlite3HpCodeSorted(
  Parse *pParse,
  int addrScan,
  int iSorter
){
  Vdbe *v = pParse->pVdbe;
  HpSortLoop loop;
  int regExec;
  if( addrScan==0 || pParse->nErr ) return;
  regExec = hpSpliceSorted(v, addrScan, iSorter, &loop);
  assert( regExec>0 && regExec<pParse->nMem );
  sqlite3VdbeChangeP1(v, addrScan+1, loop.iCur);
  sqlite3VdbeChangeP2(v, addrScan+1, loop.regRecord);
  sqlite3VdbeChangeP3(v, addrScan+1, loop.nField);
  sqlite3VdbeChangeP1(v, addrScan+2, iSorter);
  sqlite3VdbeChangeP2(v, addrScan+2, loop.iRow);
  sqlite3VdbeChangeP3(v, addrScan+2, regExec);
  sqlite3VdbeChangeP2(v, addrScan+3, loop.iEnd);
  hpSpliceRow(v, loop.iNext, regExec);
}

/*
** Code constants, the outer sides of the keys, and OP_HpFind.  Returns its
** address.
*/
static int hpDeliverKeyed(Parse *pParse, HpPlan *pPlan){
  HpKeyed *pKeyed = pPlan->pKeyed;
  HpGroupPlan *pGroup = hpPlanLast(pPlan)->pGroup;
  u8 okConstFactor = pParse->okConstFactor;
  int nKey = pKeyed->nKey;
  int regExec = pParse->nMem+1;
  int regKey = regExec+2;
  int i;
  /* One key of groups for each outer side; the registers follow each other */
  assert( nKey>0 && nKey<=HP_MX_EQ && pGroup->keys.n==nKey );
  pParse->nMem += 2+2*nKey;
  pGroup->iKeyReg = regKey+nKey;
  pParse->okConstFactor = 0;
  for(i=0; i<nKey; i++){
    sqlite3ExprCode(pParse, pKeyed->aKey[i].pExpr, regKey+i);
    pKeyed->aKey[i].pExpr = pKeyed->aKey[i].pOwn = 0;
  }
  pParse->okConstFactor = okConstFactor;
  /* Aggregates go to registers of the query, EXISTS to one of its own */
  assert( (pKeyed->iExistsReg>0)==(pGroup->nAgg==0) );
  hpDeliverBegin(pParse, pPlan);
  return hpDeliverOp(pParse, pPlan, OP_HpFind, regExec, regKey);
}

/*
** Code the groups of a correlated sub-select, an aggregate without GROUP BY:
**
**    reset: Goto hp                  the instruction at iReset
**    next:  ...                      SQLite: scan, step
**           Goto done
**    hp:    Null                     what was at reset
**           ...                      outer sides, constants into registers
**           HpFind  P1=r P2=next P3=outer    contexts of the group, if any
**    done:  ...                      SQLite: finalizeAggFunctions()
*/
static void hpDeliverFind(
  Parse *pParse,
  HpPlan *pPlan,
  AggInfo *pAggInfo,
  int iReset
){
  HpBranch branch;
  int addr;
  assert( hpSpliceIsNull(pParse->pVdbe, iReset) || pParse->db->mallocFailed );
  hpDeliverRegs(pPlan, pAggInfo);
  hpSpliceDetour(pParse, &branch, iReset);
  addr = hpDeliverKeyed(pParse, pPlan);
  hpSpliceReturn(pParse, &branch, addr);
}

/*
** Code the groups of a correlated EXISTS, whose loop is pLoop: register
** regResult becomes 1 if there is one.
**
**           Goto hp                  the OP_Rewind
**           ...                      SQLite: its loop
**           Goto done
**    hp:    ...                      outer sides, constants into registers
**           HpFind  P1=r P2=x P3=outer
**           Goto end
**    x:     Rewind -> end            the copy: it declined
**           Goto ...
**    done:
*/
static void hpDeliverExists(
  Parse *pParse,
  HpPlan *pPlan,
  const HpScanLoop *pLoop,
  int regResult
){
  HpBranch branch;
  int addr;
  assert( pPlan->pKeyed!=0 && regResult>0 && regResult<=pParse->nMem );
  pPlan->pKeyed->iExistsReg = regResult;
  hpSpliceBranch(pParse, &branch, pLoop->iFrom);
  addr = hpDeliverKeyed(pParse, pPlan);
  sqlite3VdbeAddOp2(pParse->pVdbe, OP_Goto, 0, pLoop->iEnd);
  hpSpliceRejoin(pParse, &branch, addr);
}
#endif /* SQLITE_OMIT_HP */
