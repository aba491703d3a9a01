/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Who tries for a file when.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPTURN_H
#define HPTURN_H

#ifdef HP_TURN
typedef struct HpTurn HpTurn;

/* hp_turn.c */
static void hpTurnFreed(unixInodeInfo*, int);
#else
# define hpTurnFreed(A,B) ((void)0)
#endif

#endif /* HPTURN_H */
#endif /* SQLITE_OMIT_HP */
