/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_race: SQLite's loops begin, and are given up if they take longer than ours.
**
**    hpRaceMay()      may what SQLite has begun be given up, as far as is seen
**                     at once?
**    hpRaceMayBegin() ... as far as can be told before it begins?
**    hpRaceWasLost()  has it been, in this execution?
**    hpRaceWillBeLost()   has it been before, and is to be at once?
**    hpRaceStart()    OP_HpScan: note when the execution began
**    hpRaceBegin()    OP_HpScan declines, for the time being
**    hpRaceLook()     from SQLite's loops, now and then: is it time?
**    hpRaceKnow()     how long ours would take is known now
**    hpRaceEnd()      they are not given up
**    hpRaceClock()    the time
**    hpRaceNote()     this statement took SQLite long, ...
**    hpRaceIsLong()   ... and will do so again
**
** The cost of the loops of a join depends on how many rows each look-up finds.  Without
** statistics nobody knows, and with them the planner may be wrong by far.  So where it is not
** clear that ours is better OP_HpScan lets SQLite begin.  How fast its loops
** are can be seen then (hp_progress.c).  They are given up as soon as they are
** sure to go on for longer than ours is thought to take, with what the
** statement did before them (HP_RACE_LEFT).  If it cannot be told how long they
** go on, they are given up when they have taken HP_RACE_OURS times that: then
** what is done twice is a third of what they would have taken at least.  So
** whatever was thought wrong costs little.
**
** The statement begins again from its first instruction, and OP_HpScan runs,
** each time that it comes there in this execution.  If it declines then, SQLite's code does it all.
** A statement of several such plans begins again at most HP_RACE_TIMES times.
**
** How long ours would take is found out when SQLite's loops have run for HP_RACE_FIRST
** instructions: a statement that is short pays nothing for that.  Then the clock is
** looked at every HP_RACE_NEXT instructions, where a loop goes back to its beginning.
**
** Nobody may see that a statement begins again.  So it must not have given a row
** nor write, and must call nothing of the application's: no function, no collation, no virtual table.
** Its read transaction stays, so all is read in one state.
**
** Where few rows are expected, and parameters are not known, a statement has no plan at first, as that
** would make preparing it longer.  If it has done HP_AGAIN_STEPS instructions
** (HpRace.bMay), and is not seen to end soon (HP_RACE_MORE), it is prepared
** again, now with a plan, and begins again in a new read transaction.
**
** Where SQLite's loops win by little, ours comes in sooner the next time: it
** keeps columns, from which later executions take a fraction of that.
**
** A statement without parameters that was given up is ours at once in the next HP_RACE_AGAIN executions,
** also if it is prepared anew: a connection remembers the hash values of some such statements.  Then it
** is tried again, as data changes.  Parameters may lead to few rows next time: there the race is run
** each time.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#if SQLITE_OS_UNIX
# include <time.h>
# ifndef SQLITE_WASI
#  include <sys/resource.h>
# endif
#endif

#define HP_RACE_NEXT   2000    /* Instructions between looks at the clock */
#define HP_RACE_OURS   3       /* Given up after so many times what ours takes,
                               ** ... */
#define HP_RACE_LEFT   2       /* ... or if they go on for so many times that,
                               ** after ... */
#define HP_RACE_CLOSE  1.2     /* ... or for so many times, if that was so
                               ** before: the columns that ours keeps make
                               ** later executions faster */
#define HP_RACE_SURE   8       /* ... a part of it that shows how fast they
                               ** are */
#define HP_RACE_SORT   0.5     /* Part of the time of loops that it takes to
                               ** sort their rows, and to add them up */
#define HP_RACE_MORE   3       /* Prepared again if they go on for so many times
                               ** what they have taken */
#define HP_RACE_LOOK 50000     /* Nanoseconds between looks at how far they are,
                               ** at least, ... */
#define HP_RACE_LOOKS  8       /* ... or a part of what they have taken */
#define HP_RACE_AGAIN  15      /* In so many executions a statement is ours at once */
#define HP_RACE_TIMES   4      /* An execution begins again so often */
#define HP_RACE_PROGRAM 0      /* hpRaceNote(): not a loop but all of it */
#define HP_RACE_WAIT 20000     /* Nanoseconds of a wait for a file, about */
#define HP_RACE_STEP   40      /* Without a clock: nanoseconds of an instruction */

/*
** The time in nanoseconds, when SQLite's code has done nStep instructions.  If
** it can be had it is the processor's, so what others do on it does not count;
** a wait for a file takes HP_RACE_WAIT.
*/
static i64 hpRaceClock(u64 nStep){
#if SQLITE_OS_UNIX && defined(RUSAGE_THREAD)
  struct rusage x;
  if( !hpConfig()->bSteps && getrusage(RUSAGE_THREAD, &x)==0 ){
    return ((i64)x.ru_utime.tv_sec + x.ru_stime.tv_sec)*1000000000
         + ((i64)x.ru_utime.tv_usec + x.ru_stime.tv_usec)*1000 + (i64)x.ru_nvcsw*HP_RACE_WAIT;
  }
#elif SQLITE_OS_UNIX && defined(CLOCK_MONOTONIC)
  struct timespec t;
  if( !hpConfig()->bSteps && clock_gettime(CLOCK_MONOTONIC, &t)==0 ){
    return (i64)t.tv_sec*1000000000 + t.tv_nsec;
  }
#endif
  return (i64)nStep*HP_RACE_STEP;
}

/* Is pFunc the application's, or one that others see the calls of? */
static int hpRaceIsForeignFunc(const FuncDef *pFunc){
#ifndef SQLITE_OMIT_LOAD_EXTENSION
  if( pFunc->xSFunc==loadExt ) return 1;
#endif
  return (pFunc->funcFlags & SQLITE_FUNC_BUILTIN)==0 || pFunc->xSFunc==errlogFunc;
}

/* Does instruction pOp call something of the application's, or a virtual table? */
static int hpRaceIsForeign(const VdbeOp *pOp){
  int i;
  if( pOp->opcode==OP_VOpen ) return 1;
  switch( pOp->p4type ){
    case P4_FUNCDEF: return hpRaceIsForeignFunc(pOp->p4.pFunc);
    case P4_FUNCCTX: return hpRaceIsForeignFunc(pOp->p4.pCtx->pFunc);
    case P4_COLLSEQ: return !hpVecCollIsOwn(pOp->p4.pColl);
    case P4_KEYINFO:
      for(i=0; i<pOp->p4.pKeyInfo->nAllField; i++){
        if( !hpVecCollIsOwn(pOp->p4.pKeyInfo->aColl[i]) ) return 1;
      }
      break;
  }
  return 0;
}

/*
** Where db->hp.aLong[] has statement v and place iLoop in it, and set *puHash to what is there then, but
** for the lowest bits (HP_RACE_AGAIN), which count.  NULL if v is not to be remembered.
*/
static u32 *hpRaceSlot(const Vdbe *v, int iLoop, u32 *puHash){
  HpSettings *p = &v->db->hp;
  u64 u;
  assert( sqlite3_mutex_held(v->db->mutex) );
  if( v->nVar || v->zSql==0 ) return 0;
  u = hpHashMix(hpHashBytes((const u8*)v->zSql, (u32)sqlite3Strlen30(v->zSql)) + (u64)iLoop);
  *puHash = (u32)(u>>32) & ~(u32)HP_RACE_AGAIN;
  return &p->aLong[u % ArraySize(p->aLong)];
}

/*
** At iLoop statement v took SQLite long.
*/
static void hpRaceNote(const Vdbe *v, int iLoop){
  u32 uHash;
  u32 *pSlot = hpRaceSlot(v, iLoop, &uHash);
  assert( pSlot==0 || (uHash & HP_RACE_AGAIN)==0 );
  if( pSlot ) *pSlot = uHash | HP_RACE_AGAIN;
}

/*
** Is that so?
*/
static int hpRaceIsLong(const Vdbe *v, int iLoop){
  u32 uHash;
  u32 *pSlot = hpRaceSlot(v, iLoop, &uHash);
  if( pSlot==0 || (*pSlot & ~(u32)HP_RACE_AGAIN)!=uHash || (*pSlot & HP_RACE_AGAIN)==0 ) return 0;
  (*pSlot)--;
  return 1;
}

/*
** SQLite's loops, which pPlan may come in place of, win by little.  A slot that
** hpRaceNote() has, or had, says that already.
*/
static void hpRaceNoteClose(const Vdbe *v, HpPlan *pPlan){
  u32 uHash;
  u32 *pSlot = hpRaceSlot(v, pPlan->iLoop, &uHash);
  pPlan->bClose = 1;
  if( pSlot && (*pSlot & ~(u32)HP_RACE_AGAIN)!=uHash ) *pSlot = uHash;
}

/* Was that so in an execution before? */
static int hpRaceWasClose(const Vdbe *v, const HpPlan *pPlan){
  u32 uHash;
  const u32 *pSlot = hpRaceSlot(v, pPlan->iLoop, &uHash);
  return pPlan->bClose
      || (pSlot && uHash!=0 && (*pSlot & ~(u32)HP_RACE_AGAIN)==uHash);
}

/* May v begin again, as far as that is seen at once? */
static int hpRaceMayAgain(const Vdbe *v){
  return v->readOnly
      && v->pFrame==0
      && v->cacheCtr==1;               /* No row was given: see OP_ResultRow */
}

/* May v begin again? */
static int hpRaceIsClean(const Vdbe *v){
  int i;
  if( !hpRaceMayAgain(v) ) return 0;
  for(i=0; i<v->nOp; i++) if( hpRaceIsForeign(&v->aOp[i]) ) return 0;
  return 1;
}

/*
** Have the loops that pPlan may come in place of been given up in this execution of v?
*/
static int hpRaceWasLost(const Vdbe *v, const HpPlan *pPlan){
  return pPlan->iLate==v->aCounter[SQLITE_STMTSTATUS_RUN];
}

/*
** Did they take long before, so that they are given up at once in this execution?
*/
static int hpRaceWillBeLost(const Vdbe *v, HpPlan *pPlan){
  assert( pPlan->nSkip>=0 );
  if( pPlan->nSkip>0 || !hpRaceIsLong(v, pPlan->iLoop) ) return 0;
  pPlan->iLate = v->aCounter[SQLITE_STMTSTATUS_RUN];
  return 1;
}

/*
** May v begin again, as far as can be told now, and is pPlan one that may come in then?
*/
static int hpRaceMay(const Vdbe *v, const HpPlan *pPlan){
  assert( pPlan->iLoopEnd==0 || (pPlan->iLoop<pPlan->iLoopEnd
                                 && pPlan->iLoopEnd<v->nOp) );
  return pPlan->iLoopEnd>0
      && hpRaceMayAgain(v)
      && !hpRaceWasLost(v, pPlan)
      && (v->minWriteFileFormat!=254 || v->hpRace.nAgain<HP_RACE_TIMES);
}

/* The same, and it calls nothing of the application's */
static int hpRaceMayBegin(const Vdbe *v, const HpPlan *pPlan){
  return hpRaceMay(v, pPlan) && hpRaceIsClean(v);
}

/*
** Note when the execution of v began, as far as that can be told after nStep instructions.
*/
static void hpRaceStart(Vdbe *v, u64 nStep){
  HpRace *p = &v->hpRace;
  if( p->tStart==0 ){
    p->tStart = v->minWriteFileFormat==254 && p->nAgain>0
              ? p->tAgain : hpRaceClock(nStep) - (i64)nStep*HP_RACE_STEP;
  }
}

/*
** SQLite's loops begin, in place of pPlan, when nStep instructions have been done.  rOurs is
** what ours takes, in nanoseconds; negative: that is not known yet.  But if another plan's
** race goes on, in whose loops pPlan is, nothing happens.
*/
static void hpRaceBegin(Vdbe *v, HpPlan *pPlan, u64 nStep, double rOurs){
  HpRace *p = &v->hpRace;
  int nTest = hpConfig()->nRace;
  assert( hpRaceMay(v, pPlan) );
  if( p->pPlan!=0 && p->pPlan!=pPlan
   && pPlan->iLoop>=p->pPlan->iLoop && pPlan->iLoop<p->pPlan->iLoopEnd
  ){
    return;
  }
  p->pPlan = pPlan;
  p->nLook = nStep + HP_RACE_FIRST;
  p->tBegin = hpRaceClock(nStep);
  p->tEnd = 0;
  p->bClose = (u8)hpRaceWasClose(v, pPlan);
  hpProgressBegin(&p->progress);
  if( rOurs>=0 ) hpRaceKnow(v, rOurs);
  if( nTest ){
    p->nLook = nStep + (u64)nTest;
    p->tEnd = p->tBegin;
  }
}

/* Ours takes rOurs nanoseconds */
static void hpRaceKnow(Vdbe *v, double rOurs){
  HpRace *p = &v->hpRace;
  assert( p->pPlan!=0 && p->tEnd==0 );   /* It is found out once */
  p->tOurs = (i64)MAX(1, rOurs) + p->tBegin - p->tStart;
  p->tEnd = p->tBegin + p->tOurs*HP_RACE_OURS;
  p->tLook = 0;
}

/*
** SQLite's loops are at instruction iAddr of v, and it is tNow.  Are they to be
** given up?
*/
static int hpRaceIsLost(Vdbe *v, int iAddr, i64 tNow){
  HpRace *p = &v->hpRace;
  HpPlan *pPlan = p->pPlan;
  double rLeft;
  int bAll;
  assert( iAddr>=pPlan->iLoop && iAddr<pPlan->iLoopEnd && p->tEnd!=0 );
  if( hpConfig()->nRace ) return 1;
  if( tNow<p->tLook ) return 0;
  rLeft = hpProgressLeft(v, &p->progress, iAddr, pPlan->iLoop, pPlan->iLoopEnd,
                         tNow, &bAll);
  p->tLook = tNow + MAX(HP_RACE_LOOK, (tNow - p->tBegin)/HP_RACE_LOOKS);
  if( rLeft>=0 && v->aOp[pPlan->iLoopEnd].opcode==OP_SorterSort ){
    /* All rows come a second time */
    rLeft += (rLeft + (double)(tNow - p->tBegin))*HP_RACE_SORT;
  }
  if( rLeft>(double)p->tOurs*(p->bClose ? HP_RACE_CLOSE : HP_RACE_LEFT) ){
    return tNow - p->tBegin >= p->tOurs/HP_RACE_SURE;
  }
  if( rLeft>(double)p->tOurs*HP_RACE_CLOSE ) hpRaceNoteClose(v, pPlan);
  return (rLeft<0 || !bAll) && tNow>=p->tEnd;
}

/*
** v, which has no plan, is at instruction iAddr after nStep others.  Will it go
** on for so long that it is to be prepared again?
*/
static int hpRaceGoesOn(Vdbe *v, int iAddr, u64 nStep){
  HpRace *p = &v->hpRace;
  i64 tNow = hpRaceClock(nStep);
  double rLeft;
  int bAll;
  assert( iAddr>0 && iAddr<v->nOp && v->pFrame==0 );
  hpRaceStart(v, nStep);
  rLeft = hpProgressLeft(v, &p->progress, iAddr, 1, v->nOp, tNow, &bAll);
  return rLeft<0 || !bAll || rLeft>(double)(tNow - p->tStart)*HP_RACE_MORE;
}

/* SQLite's loops go on to their end.  There may be others that have no plan yet */
static void hpRaceEnd(Vdbe *v){
  v->hpRace.pPlan = 0;
  v->hpRace.nLook = v->hpRace.bMay ? HP_AGAIN_STEPS : LARGEST_UINT64;
}

/*
** v is about to run instruction pOp+1, after nStep others, and race.nLook says to look.  Returns
** HP_RACE_LATE if SQLite's loops are to be given up, HP_RACE_ASK if it is not known how long ours
** takes, HP_RACE_PREPARE if there is no plan, but may be one now, else HP_RACE_ON.
*/
static int hpRaceLook(Vdbe *v, const VdbeOp *pOp, u64 nStep){
  HpRace *p = &v->hpRace;
  const HpPlan *pPlan = p->pPlan;
  int iAddr = (int)(pOp - v->aOp) + 1;
  assert( v->eVdbeState==VDBE_RUN_STATE && iAddr>0 && iAddr<v->nOp );
  if( v->pFrame ){
    p->nLook = nStep + HP_RACE_NEXT;
    return HP_RACE_ON;
  }
  if( pPlan==0 || iAddr<pPlan->iLoop || iAddr>=pPlan->iLoopEnd ){
    /* A subroutine of the loops, or they have ended, or there are none */
    p->nLook = pPlan || p->bMay==0 ? nStep + HP_RACE_NEXT : HP_AGAIN_STEPS;
    if( p->bMay==0 || !hpRaceMayAgain(v) ) return HP_RACE_ON;
    if( nStep<HP_AGAIN_STEPS
     && (pPlan!=0 || !hpRaceIsLong(v, HP_RACE_PROGRAM))
    ){
      if( pPlan==0 ) (void)hpRaceGoesOn(v, iAddr, nStep);
      return HP_RACE_ON;
    }
    if( (v->prepFlags & SQLITE_PREPARE_SAVESQL) && v->minWriteFileFormat!=254 && hpRaceIsClean(v) ){
      if( nStep>=HP_AGAIN_STEPS ) hpRaceNote(v, HP_RACE_PROGRAM);
      if( nStep<HP_AGAIN_STEPS || pPlan!=0 || hpRaceGoesOn(v, iAddr, nStep) ){
        return HP_RACE_PREPARE;
      }
      p->nLook = nStep + HP_AGAIN_STEPS;
      return HP_RACE_ON;
    }
    p->bMay = 0;
    p->nLook = pPlan ? nStep + HP_RACE_NEXT : LARGEST_UINT64;
    return HP_RACE_ON;
  }
  p->nLook = nStep + HP_RACE_NEXT;
  if( p->tEnd==0 ) return HP_RACE_ASK;
  if( !hpRaceIsLost(v, iAddr, hpRaceClock(nStep)) ) return HP_RACE_ON;
  if( hpRaceMay(v, pPlan) && hpRaceIsClean(v) ) return HP_RACE_LATE;
  hpRaceEnd(v);
  return HP_RACE_ON;
}

#endif /* SQLITE_OMIT_HP */
