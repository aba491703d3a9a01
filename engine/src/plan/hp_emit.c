/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_emit: a plan that is finished goes into the statement's program (prepare
** time).
**
**    hpEmitScan()      code constants and OP_HpScan, or OP_HpTask
**    hpEmitTask()      code OP_HpTask
**    hpEmitOpReads()   does an operation read a vector?
**    hpEmitBranch(), hpEmitRejoin()    in place of an instruction: jump to our
**                      code, and back
**    hpEmitDetour()    the same, but our code begins with that instruction
**
** Our code stands behind SQLite's, and a jump to it takes the place of one of
** SQLite's instructions, iFrom:
**
**            Goto ours          iFrom: what was here is copied
**            ...                SQLite's code
**            Goto done          HpBranch.addrSkip
**    ours:   ...                constants into registers
**            HpScan  P1=r P2=x
**            ...                what is done with its rows
**    x:      the copy           it declined
**            Goto iFrom+1
**    done:
**
** That is hpEmitBranch() with hpEmitRejoin().  With hpEmitDetour() the copy is
** the first instruction of our code, and P2 of OP_HpScan is iFrom+1.
**
** hpEmitScan() is where a plan changes hands: it belongs to the program from
** then on, and is freed with it (hpCompileFree()).  Before, it is completed by
** what can be known only of a whole plan: which columns are read for filters
** alone, or as keys of groups (HpOp.bOnlyFilters, bOnlyKeys).
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* Do keys or columns of a relation come from vector iVec? */
static int hpEmitRelReads(const HpRelPlan *p, u16 iVec){
  int k;
  if( p==0 ) return 0;
  for(k=0; k<p->key.keys.n; k++) if( p->key.keys.aVec[k]==iVec ) return 1;
  for(k=0; k<p->nCol; k++) if( p->aVec[k]==iVec ) return 1;
  return 0;
}

/*
** Does anything read vector iVec that is no operation of the program?  Unless
** bGroup, that it is a key of groups does not count.
*/
static int hpEmitSinkReads(const HpPipePlan *pPipe, u16 iVec, int bGroup){
  const HpGroupPlan *pGroup = pPipe->pGroup;
  const HpKeys *pKeys = 0;
  int i, k;
  assert( iVec<pPipe->prog.nVec );
  if( pGroup && bGroup ) pKeys = &pGroup->keys;
  if( pPipe->pSort ) pKeys = &pPipe->pSort->row.keys;
  if( pPipe->pFind ) pKeys = &pPipe->pFind->keys;
  if( pPipe->pPrefix ) pKeys = &pPipe->pPrefix->keys;
  for(k=0; pKeys && k<pKeys->n; k++) if( pKeys->aVec[k]==iVec ) return 1;
  for(i=0; pGroup && i<pGroup->nAgg; i++){
    const HpAggDef *pDef = &pGroup->aAgg[i];
    if( pDef->iVec==iVec || pDef->iFilter==iVec ) return 1;
    for(k=0; k<pDef->nArg; k++) if( pDef->aArg[k]==iVec ) return 1;
    for(k=0; k<pDef->nTerm; k++) if( pDef->aTerm[k].iVec==iVec ) return 1;
  }
  for(i=0; pGroup && i<pGroup->nBare; i++){
    /* What a key shows comes from the group */
    if( pGroup->aBare[i].iVec==iVec && (bGroup || pGroup->aBare[i].iKey<0) ){
      return 1;
    }
  }
  for(i=0; pPipe->pSort && i<pPipe->pSort->nField; i++){
    const HpField *pField = &pPipe->pSort->aField[i];
    if( hpFieldIsVec(pField) && pField->iVec==iVec ) return 1;
  }
  if( pPipe->pFill && pPipe->pFill->iKey==iVec ) return 1;
  if( hpEmitRelReads(pPipe->pRel, iVec)
   || hpEmitRelReads(pPipe->pProbe, iVec) ){
    return 1;
  }
  for(i=0; i<pPipe->nWant; i++){
    if( hpEmitRelReads(pPipe->aWant[i], iVec) ){
      return 1;
    }
  }
  for(i=0; i<pPipe->nSubWant; i++){
    if( hpEmitRelReads(pPipe->aSubWant[i], iVec) ){
      return 1;
    }
  }
  return 0;
}

/* Does operation pOp read vector iVec? */
static int hpEmitOpReads(const HpProg *pProg, const HpOp *pOp, u16 iVec){
  int k;
  if( pOp->eOp==HP_OP_COLUMN ) return 0;
  if( pOp->eOp<HP_OP_CASE ){
    return pOp->a==iVec || (pOp->eOp!=HP_OP_TRUTH && pOp->b==iVec);
  }
  for(k=0; k<pOp->n; k++) if( pProg->aArg[pOp->iArg+k]==iVec ) return 1;
  return 0;
}

/*
** Which columns does pPipe read for its filters only, and which for them and as
** keys of groups?  In a join the first filters may be run alone, and then only
** these count.
*/
static void hpEmitOnly(HpPipePlan *pPipe, int bJoin){
  HpProg *pProg = &pPipe->prog;
  int nFilter = bJoin ? pPipe->nOwn : pProg->nFilter;
  int nFirst = nFilter ? pProg->aFilter[nFilter-1].nOp : 0;
  int i, k;
  for(i=0; i<pProg->nOp; i++){
    HpOp *pOp = &pProg->aOp[i];
    if( pOp->eOp!=HP_OP_COLUMN ) continue;
    for(k=nFirst; k<pProg->nOp
        && !hpEmitOpReads(pProg, &pProg->aOp[k], pOp->iOut); k++){}
    if( k<pProg->nOp ) continue;
    pOp->bOnlyFilters = i<nFirst && !hpEmitSinkReads(pPipe, pOp->iOut, 1);
    pOp->bOnlyKeys = pPipe->pGroup && !hpEmitSinkReads(pPipe, pOp->iOut, 0);
  }
}

/*
** Code OP_HpTask.  The plan belongs to the program from now on.  Returns its
** address: the caller sets P1, P2 and P3.
*/
static int hpEmitTask(Parse *pParse, HpPlan *pPlan){
  Vdbe *v = pParse->pVdbe;
  sqlite3_value *pP4 = sqlite3ValueNew(pParse->db);
  assert( pPlan->xTask!=0 );
  if( pP4==0 ){
    hpCompileFree(pPlan);
    return sqlite3VdbeAddOp0(v, OP_Noop);
  }
  sqlite3VdbeMemSetPointer(pP4, pPlan, "hp", hpCompileFree);
  return sqlite3VdbeAddOp4(v, OP_HpTask, 0, 0, 0, (char*)pP4, P4_MEM);
}

/*
** Code the constants of pPlan and OP_HpScan, with the execution in register
** regExec.  If it is followed by OP_HpRow there is another one for that.  The
** plan belongs to the program from now on.  Returns the address of OP_HpScan:
** the caller sets P2, where to go when it declines.
*/
static int hpEmitScan(Parse *pParse, HpPlan *pPlan, int regExec){
  Vdbe *v = pParse->pVdbe;
  sqlite3_value *pP4;
  u8 okConstFactor = pParse->okConstFactor;
  int eRows = 0;         /* HP_SCAN_xxx */
  int i, k;

  assert( (pPlan->xTask ? regExec==0 : regExec>0) && regExec<=pParse->nMem );
  assert( hpSanePlan(pParse, pPlan) );
  assert( pPlan->iLoopEnd==0 || pParse->db->mallocFailed
       || (pPlan->iLoop>0 && pPlan->iLoop<=pPlan->iLoopEnd) );
  hpShowPlan(pParse, pPlan);
  hpConfigStat(pParse->db, HP_STAT_TAKEN);
  pParse->okConstFactor = 0;
  for(k=0; k<pPlan->nSet; k++) hpEmitOnly(&pPlan->aSet[k].pipe, 0);
  for(k=0; k<pPlan->nPipe; k++){
    const HpProg *pProg = &pPlan->aPipe[k].prog;
    hpEmitOnly(&pPlan->aPipe[k], pPlan->nPipe>1);
    for(i=0; i<pProg->nConst; i++){
      struct HpConst *pConst = &pProg->aConst[i];
      assert( pConst->pExpr!=0 );      /* They are coded once */
      assert( pConst->iReg>0 && pConst->iReg<=pParse->nMem );
      if( pConst->pExpr->op==TK_SELECT || pConst->pExpr->op==TK_EXISTS ){
        hpScalarCode(pParse, pConst->pExpr, pConst->iReg);
      }else if( !ExprHasProperty(pConst->pExpr, EP_TokenOnly|EP_Leaf) ){
        /* The schema's expressions must not know of this program */
        sqlite3ExprCodeCopy(pParse, pConst->pExpr, pConst->iReg);
      }else{
        sqlite3ExprCode(pParse, pConst->pExpr, pConst->iReg);
      }
      pConst->pExpr = 0;
    }
  }
  hpScalarCodeSets(pParse, pPlan);
  pParse->okConstFactor = okConstFactor;
  if( pPlan->xTask ) return hpEmitTask(pParse, pPlan);
  pP4 = sqlite3ValueNew(pParse->db);
  if( pP4==0 ){
    hpCompileFree(pPlan);
    return sqlite3VdbeAddOp0(v, OP_Noop);
  }
  sqlite3VdbeMemSetPointer(pP4, pPlan, "hp", hpCompileFree);
  if( hpPlanLast(pPlan)->pFind ) eRows = HP_SCAN_FIND;
  if( hpPlanLast(pPlan)->pSort ) eRows = HP_SCAN_SORT;
  return sqlite3VdbeAddOp4(v, OP_HpScan, regExec, 0, eRows, (char*)pP4, P4_MEM);
}

/*
** Let the program go on from instruction iFrom, which is not run then, with the
** code that follows: a jump takes its place.  What is coded so far does not
** come here.
*/
static void hpEmitBranch(Parse *pParse, HpBranch *p, int iFrom){
  Vdbe *v = pParse->pVdbe;
  VdbeOp *pOp;
  assert( iFrom>0 && iFrom<sqlite3VdbeCurrentAddr(v) );
  p->iFrom = iFrom;
  p->addrSkip = sqlite3VdbeAddOp0(v, OP_Goto);
  pOp = sqlite3VdbeGetOp(v, iFrom);
  p->op = *pOp;
  pOp->p4type = P4_NOTUSED;
  pOp->p4.p = 0;
  pOp->p5 = 0;
  pOp->opcode = OP_Goto;
  pOp->p1 = pOp->p3 = 0;
  pOp->p2 = sqlite3VdbeCurrentAddr(v);
}

/*
** When the instruction at addrScan declines the program goes on as it did, with
** a copy of the instruction that the jump has replaced.  Our code ends here.
*/
static void hpEmitRejoin(Parse *pParse, const HpBranch *p, int addrScan){
  Vdbe *v = pParse->pVdbe;
  int addr;
  /* hpEmitBranch() has been called, and then our code has been made */
  assert( pParse->db->mallocFailed
       || (p->iFrom<p->addrSkip && p->addrSkip<addrScan) );
  assert( pParse->db->mallocFailed
       || sqlite3VdbeGetOp(v, p->iFrom)->p2==p->addrSkip+1 );
  sqlite3VdbeJumpHere(v, addrScan);
  addr = sqlite3VdbeAddOp3(v, p->op.opcode, p->op.p1, p->op.p2, p->op.p3);
  if( pParse->db->mallocFailed ){
    freeP4(pParse->db, p->op.p4type, p->op.p4.p);
  }else{
    VdbeOp *pOp = sqlite3VdbeGetOp(v, addr);
    pOp->p4type = p->op.p4type;
    pOp->p4 = p->op.p4;
    pOp->p5 = p->op.p5;
  }
  sqlite3VdbeAddOp2(v, OP_Goto, 0, p->iFrom+1);
  sqlite3VdbeJumpHere(v, p->addrSkip);
}

/*
** The same, but the code that follows begins with a copy of instruction iFrom,
** and if it declines it goes on with the one after that.
*/
static void hpEmitDetour(Parse *pParse, int iFrom){
  Vdbe *v = pParse->pVdbe;
  VdbeOp *pOp = sqlite3VdbeGetOp(v, iFrom);
  int addr = sqlite3VdbeAddOp3(v, pOp->opcode, pOp->p1, pOp->p2, pOp->p3);
  if( pParse->db->mallocFailed ) return;
  pOp = sqlite3VdbeGetOp(v, addr);
  /* Behind the code that it jumps out of */
  assert( iFrom>0 && iFrom<addr );
  *pOp = *sqlite3VdbeGetOp(v, iFrom);
  pOp = sqlite3VdbeGetOp(v, iFrom);
  pOp->p4type = P4_NOTUSED;
  pOp->p4.p = 0;
  pOp->p5 = 0;
  pOp->opcode = OP_Goto;
  pOp->p1 = pOp->p3 = 0;
  pOp->p2 = addr;
}
#endif /* SQLITE_OMIT_HP */
