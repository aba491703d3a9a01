/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** See plans.c.
*/
#ifndef PLANS_H
#define PLANS_H

#include "hptest.h"

/* How a statement is done */
typedef struct Plan Plan;
struct Plan {
  int rc;                /* Of preparing it */
  Text pipes;            /* A line for each pipe of what is taken over, ... */
  Text reason;           /* ... and why other parts of it are not */
  int nScan;             /* Tables and indexes that SQLite's plan reads */
};

void planOf(sqlite3*, const char *zSql, Plan*, int *pnByte);
void planClear(Plan*);

#endif /* PLANS_H */
