/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Who tries for a file when, and who copies its log.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPTURN_H
#define HPTURN_H

#ifdef HP_TURN
typedef struct HpTurn HpTurn;

/* hp_turn.c */
static void hpTurnFreed(unixInodeInfo*, int);
#ifdef HP_SYNC
static void hpTurnOffer(unixInodeInfo*, int);
static int hpTurnWaitedSince(unixInodeInfo*, i64);
static int hpTurnAsked(unixInodeInfo*);
#endif
#else
# define hpTurnFreed(A,B) ((void)0)
#endif

#ifdef HP_SYNC
typedef struct HpSync HpSync;

/* hp_sync.c */
static int hpSyncOwns(const unixInodeInfo*);
static int hpSyncLends(const unixFile*);
static void hpSyncReturns(unixFile*);
static void hpSyncFree(unixInodeInfo*);
#else
# define hpSyncOwns(I)           0
# define hpSyncLends(F)          0
# define hpSyncReturns(F)        ((void)0)
# define hpSyncFree(I)           ((void)0)
#endif

#ifdef HP_CHECKPOINT
typedef struct HpCheckpoint HpCheckpoint;

/* hp_checkpoint.c */
static void hpCheckpointGate(const unixFile*);
static void hpCheckpointLocks(const unixFile*, u16);
static int hpCheckpointHas(const unixFile*, u16);
static void hpCheckpointBusy(const unixFile*, u16);
static void hpCheckpointFreed(const unixFile*);
static void hpCheckpointFree(unixInodeInfo*);
#else
# define hpCheckpointGate(F)     ((void)0)
# define hpCheckpointLocks(F,M)  ((void)0)
# define hpCheckpointHas(F,M)    0
# define hpCheckpointBusy(F,M)   ((void)(M))
# define hpCheckpointFreed(F)    ((void)0)
# define hpCheckpointFree(I)     ((void)0)
#endif

#endif /* HPTURN_H */
#endif /* SQLITE_OMIT_HP */
