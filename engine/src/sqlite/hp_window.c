/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_window: row_number(), rank() and dense_rank() of a row as it comes
** (prepare time).
**
**    sqlite3HpWindow()    code a window that has only these
**    hpWindowNumber()     is a function one of them?
**
** SQLite's code for windows puts each row into a table in memory, steps the
** function, reads the row again for the result, and deletes it.  These three
** depend on nothing but the number of rows so far, and on whether the partition
** or the peers are new, so they are known when the row comes:
**
**           Integer 0 -> n           in place of opening the table
**    loop:  Column ...               the row, in registers, ...
**           MakeRecord               ... and as a record
**           Compare, Jump            a new partition: n = 0
**           Compare, Jump            rank(), dense_rank(): new peers
**           AddImm n
**           Copy -> result           of each function
**           OpenPseudo               the output reads columns of the record
**           Gosub output             stock
**
** The rows are sorted before, by hp_sort.c or by SQLite.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* HP_NUMBER_xxx of function pFunc, or 0 if it is none of these */
static u8 hpWindowNumber(const FuncDef *pFunc){
  if( pFunc==0 || (pFunc->funcFlags & SQLITE_FUNC_BUILTIN)==0 ) return 0;
  if( pFunc->zName==row_numberName ) return HP_NUMBER_ROWS;
  if( pFunc->zName==rankName ) return HP_NUMBER_RANK;
  if( pFunc->zName==dense_rankName ) return HP_NUMBER_DENSE;
  return 0;
}

#ifndef SQLITE_OMIT_WINDOWFUNC

/* Do all functions of pMWin depend on rows before the current one only? */
static int hpWindowMay(const Window *pMWin){
  const Window *pWin;
  if( pMWin->eExclude ) return 0;
  for(pWin=pMWin; pWin; pWin=pWin->pNextWin){
    if( hpWindowNumber(pWin->pWFunc)==0 || pWin->pFilter ) return 0;
    if( pWin->eStart!=TK_UNBOUNDED || pWin->eEnd!=TK_CURRENT ) return 0;
    if( pWin->eFrmType!=pMWin->eFrmType ) return 0;
  }
  return pMWin->eFrmType==TK_ROWS || pMWin->eFrmType==TK_RANGE;
}

/*
** Code the comparison of the registers from iNew on with those from iOld on, of
** the terms of pList.  If they differ the code that follows is run.  Returns
** the address of a jump whose P2 is to be the end of that.
*/
static int hpWindowCompare(Parse *pParse, ExprList *pList, int iNew, int iOld){
  Vdbe *v = pParse->pVdbe;
  KeyInfo *pKeyInfo = sqlite3KeyInfoFromExprList(pParse, pList, 0, 0);
  int addr = sqlite3VdbeAddOp3(v, OP_Compare, iNew, iOld, pList->nExpr);
  assert( iNew>0 && iOld>0 && iNew!=iOld );
  sqlite3VdbeAppendP4(v, (void*)pKeyInfo, P4_KEYINFO);
  return sqlite3VdbeAddOp3(v, OP_Jump, addr+2, 0, addr+2);
}

/*
** Code window pMWin of p, if it has only functions that are known when a row
** comes.  Returns false if it has others; nothing has been coded then.  The
** arguments are those of sqlite3WindowCodeStep(), after sqlite3WindowCodeInit()
** and sqlite3WhereBegin().
*/
SQLITE_PRIVATE int sqlite3HpWindow(
  Parse *pParse,
  Select *p,
  WhereInfo *pWInfo,
  int regGosub,
  int addrGosub
){
  Window *pMWin = p->pWin;
  Vdbe *v = pParse->pVdbe;
  ExprList *pPart = pMWin->pPartition;
  ExprList *pOrderBy = pMWin->pOrderBy;
  int csrInput = p->pSrc->a[0].iCursor;
  int nInput = p->pSrc->a[0].pSTab->nCol;
  int regNew = pParse->nMem+1;           /* The row */
  int regRecord = regNew+nInput;         /* ... as a record */
  int regRow = regRecord+1;              /* Rows of the partition so far */
  int regRank = regRow+1;                /* rank() of the peers, ... */
  int regDense = regRank+1;              /* ... dense_rank() */
  int regPeer = regDense+1;              /* ORDER BY terms of the peers */
  int regNewPeer = regNew + pMWin->nBufferCol + (pPart ? pPart->nExpr : 0);
  Window *pWin;
  VdbeOp *aOp = sqlite3VdbeGetOp(v, 0);
  int i, addr;
  if( hpConfigOffload(pParse->db)==HP_OFFLOAD_OFF || !hpWindowMay(pMWin) ){
    return 0;
  }
  if( pParse->nErr || pParse->db->mallocFailed ) return 0;
  for(i=sqlite3VdbeCurrentAddr(v)-1; i>0; i--){
    if( aOp[i].opcode==OP_OpenEphemeral && aOp[i].p1==pMWin->iEphCsr ) break;
  }
  if( i<=0 ) return 0;
  /* The terms are the last columns of the row, as sqlite3WindowRewrite() has
  ** put them there */
  assert( regNewPeer+(pOrderBy ? pOrderBy->nExpr : 0)<=regRecord );
  assert( p->pSrc->nSrc==1 && (pPart==0 || pMWin->regPart>0) );
  pParse->nMem = regPeer + (pOrderBy ? pOrderBy->nExpr : 0);
  sqlite3VdbeChangeToNoop(v, i);
  aOp[i].opcode = OP_Integer;
  aOp[i].p1 = 0;
  aOp[i].p2 = regRow;
  for(addr=i+1; aOp[addr].opcode==OP_OpenDup
   && aOp[addr].p2==pMWin->iEphCsr; addr++){
    sqlite3VdbeChangeToNoop(v, addr);
  }
  for(i=0; i<nInput; i++) sqlite3VdbeAddOp3(v, OP_Column, csrInput, i,
                                            regNew+i);
  sqlite3VdbeAddOp3(v, OP_MakeRecord, regNew, nInput, regRecord);
  if( pPart ){
    int regNewPart = regNew + pMWin->nBufferCol;
    addr = hpWindowCompare(pParse, pPart, regNewPart, pMWin->regPart);
    sqlite3VdbeAddOp2(v, OP_Integer, 0, regRow);
    sqlite3VdbeAddOp3(v, OP_Copy, regNewPart, pMWin->regPart, pPart->nExpr-1);
    sqlite3VdbeChangeP2(v, addr, sqlite3VdbeCurrentAddr(v));
  }
  if( pMWin->eFrmType==TK_RANGE ){
    int addrFirst = sqlite3VdbeAddOp2(v, OP_IfNot, regRow, 0);
    int addrSame, addrPeers;
    if( pOrderBy ){
      addrSame = hpWindowCompare(pParse, pOrderBy, regNewPeer, regPeer);
      addrPeers = sqlite3VdbeAddOp0(v, OP_Goto);
    }else{
      addrSame = sqlite3VdbeAddOp0(v, OP_Goto);
      addrPeers = 0;
    }
    sqlite3VdbeJumpHere(v, addrFirst);
    sqlite3VdbeAddOp2(v, OP_Integer, 0, regDense);
    if( addrPeers ){
      sqlite3VdbeJumpHere(v, addrPeers);
      sqlite3VdbeAddOp3(v, OP_Copy, regNewPeer, regPeer, pOrderBy->nExpr-1);
    }
    sqlite3VdbeAddOp2(v, OP_AddImm, regDense, 1);
    sqlite3VdbeAddOp3(v, OP_Copy, regRow, regRank, 0);
    sqlite3VdbeAddOp2(v, OP_AddImm, regRank, 1);
    sqlite3VdbeChangeP2(v, addrSame, sqlite3VdbeCurrentAddr(v));
  }
  sqlite3VdbeAddOp2(v, OP_AddImm, regRow, 1);
  for(pWin=pMWin; pWin; pWin=pWin->pNextWin){
    int reg = regRow;
    switch( hpWindowNumber(pWin->pWFunc) ){
      case HP_NUMBER_RANK:   reg = regRank;  break;
      case HP_NUMBER_DENSE:  reg = regDense;  break;
    }
    assert( pWin->regResult>0 && pWin->regResult<regNew );
    sqlite3VdbeAddOp3(v, OP_Copy, reg, pWin->regResult, 0);
  }
  sqlite3VdbeAddOp3(v, OP_OpenPseudo, pMWin->iEphCsr, regRecord, nInput);
  sqlite3VdbeAddOp2(v, OP_Gosub, regGosub, addrGosub);
  sqlite3WhereEnd(pWInfo);
  return 1;
}
#endif /* SQLITE_OMIT_WINDOWFUNC */
#endif /* SQLITE_OMIT_HP */
