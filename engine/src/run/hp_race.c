/*
** 2026-11-28
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_race: SQLite's loops begin, and are given up if they take longer than ours.
**
**    hpRaceMay()      may what SQLite has begun be given up?
**    hpRaceBegin()    OP_HpScan declines, for the time being
**    hpRaceLook()     from SQLite's loops, now and then: is it time?
**    hpRaceKnow()     how long ours would take is known now
**    hpRaceEnd()      they are not given up
**    hpRaceClock()    the time
**
** What the loops of a join cost hangs on how many rows each look-up finds.  Without
** statistics nobody knows, and with them the planner may be wrong by far.  So where it is not
** clear that ours is better OP_HpScan lets SQLite begin.  When its loops have taken
** a part of what ours is thought to take (HP_RACE_PART), which is all that may be lost, they
** are given up: the statement begins again from its first instruction, and OP_HpScan runs.  If
** it declines then, SQLite's code does it all, and is not given up a second time.
**
** How long ours would take is found out when SQLite's loops have run for HP_RACE_FIRST
** instructions: a statement that is short pays nothing for that.  Then the clock is
** looked at every HP_RACE_NEXT instructions, where a loop goes back to its beginning.
**
** Nobody may see that a statement begins again.  So it must not have given a row
** nor write, and must call nothing of the application's: no function, no virtual table.  Its
** read transaction stays, so all is read in one state.
**
** Where few rows are expected, and parameters are not known, a statement has no plan at first, as that
** would make preparing it longer.  If it has done HP_AGAIN_STEPS instructions (HpRace.bMay) it is
** prepared again, now with a plan, and begins again in a new read transaction.
**
** A statement without parameters that was given up once is ours from then on.  Parameters
** may lead to few rows next time: there the race is run each time.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#if SQLITE_OS_UNIX
# include <time.h>
#endif

#define HP_RACE_FIRST  4000    /* Instructions until it is asked how long ours takes: 0.1 ms */
#define HP_RACE_NEXT   1000    /* ... and from then on between looks at the clock */
#define HP_RACE_PART   0.5     /* Given up after this part of what ours takes */
#define HP_RACE_STEP   40      /* Without a clock: nanoseconds of an instruction */

/*
** The time in nanoseconds, when SQLite's code has done nStep instructions.
*/
static i64 hpRaceClock(u64 nStep){
#if SQLITE_OS_UNIX && defined(CLOCK_MONOTONIC)
  struct timespec t;
  UNUSED_PARAMETER(nStep);
  if( clock_gettime(CLOCK_MONOTONIC, &t)==0 ) return (i64)t.tv_sec*1000000000 + t.tv_nsec;
#endif
  return (i64)nStep*HP_RACE_STEP;
}

/* Does instruction pOp call something of the application's, or a virtual table? */
static int hpRaceIsForeign(const VdbeOp *pOp){
  const FuncDef *pFunc = 0;
  if( pOp->opcode==OP_VOpen ) return 1;
  if( pOp->p4type==P4_FUNCDEF ) pFunc = pOp->p4.pFunc;
  if( pOp->p4type==P4_FUNCCTX ) pFunc = pOp->p4.pCtx->pFunc;
  return pFunc!=0 && (pFunc->funcFlags & SQLITE_FUNC_BUILTIN)==0;
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
** May v begin again, as far as can be told now, and is pPlan one that may come in then?
*/
static int hpRaceMay(const Vdbe *v, const HpPlan *pPlan){
  return pPlan->iLoopEnd>0
      && hpRaceMayAgain(v)
      && (v->eHpRun!=HP_RUN_LATE || v->minWriteFileFormat!=254);   /* It has not done so before */
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
  if( p->nLook!=LARGEST_UINT64 && p->pPlan!=0
   && pPlan->iLoop>=p->pPlan->iLoop && pPlan->iLoop<p->pPlan->iLoopEnd
  ){
    return;
  }
  p->pPlan = pPlan;
  p->nLook = nStep + HP_RACE_FIRST;
  p->tBegin = hpRaceClock(nStep);
  p->tEnd = 0;
  if( rOurs>=0 ) hpRaceKnow(v, rOurs);
  if( nTest ){
    p->nLook = nStep + (u64)nTest;
    hpRaceKnow(v, 0);
  }
}

/* Ours takes rOurs nanoseconds */
static void hpRaceKnow(Vdbe *v, double rOurs){
  v->hpRace.tEnd = v->hpRace.tBegin + MAX(1, (i64)(rOurs*HP_RACE_PART));
}

/* SQLite's loops go on to their end */
static void hpRaceEnd(Vdbe *v){
  v->hpRace.nLook = LARGEST_UINT64;
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
  if( pPlan==0 ){
    hpRaceEnd(v);
    return (v->prepFlags & SQLITE_PREPARE_SAVESQL) && v->minWriteFileFormat!=254 && hpRaceIsClean(v)
         ? HP_RACE_PREPARE : HP_RACE_ON;
  }
  p->nLook = nStep + HP_RACE_NEXT;
  if( v->pFrame ) return HP_RACE_ON;
  if( iAddr<pPlan->iLoop || iAddr>=pPlan->iLoopEnd ){
    /* A subroutine of the loops, or they have ended */
    return HP_RACE_ON;
  }
  if( p->tEnd==0 ) return HP_RACE_ASK;
  if( hpRaceClock(nStep)<p->tEnd ) return HP_RACE_ON;
  hpRaceEnd(v);
  return hpRaceMay(v, pPlan) && hpRaceIsClean(v) ? HP_RACE_LATE : HP_RACE_ON;
}

#endif /* SQLITE_OMIT_HP */
