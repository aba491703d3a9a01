/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What the tests of the engine share: counting, running a statement to a
** text that tells everything about its result, what fails or stops it, and a
** database to run on.
*/
#ifndef HPTEST_H
#define HPTEST_H

#include "sqlite3.h"

/*
** The functions of one SQLite library.  The tests are linked with ours; the
** ones that compare load stock beside it.
*/
typedef struct Lib Lib;
struct Lib {
  int (*open)(const char*, sqlite3**, int, const char*);
  int (*close)(sqlite3*);
  int (*exec)(sqlite3*, const char*, int(*)(void*,int,char**,char**), void*,
              char**);
  int (*prepare)(sqlite3*, const char*, int, sqlite3_stmt**, const char**);
  int (*step)(sqlite3_stmt*);
  int (*finalize)(sqlite3_stmt*);
  int (*count)(sqlite3_stmt*);
  int (*type)(sqlite3_stmt*, int);
  sqlite3_int64 (*int64)(sqlite3_stmt*, int);
  double (*real)(sqlite3_stmt*, int);
  const void *(*blob)(sqlite3_stmt*, int);
  int (*bytes)(sqlite3_stmt*, int);
  int (*errcode)(sqlite3*);
  const char *(*errmsg)(sqlite3*);
  int (*control)(int, ...);
  int (*limit)(sqlite3*, int, int);
};

extern const Lib ours;       /* The library under test */

/* A text that grows */
typedef struct Text Text;
struct Text {
  char *z;               /* NUL-terminated, from malloc(3) */
  int n;                 /* Bytes, without the NUL */
  int nAlloc;            /* Bytes obtained */
};

void textAppend(Text*, const char *zFormat, ...);
void textHex(Text*, const unsigned char*, int);
void textClear(Text*);

/* Rows with the values 1, 2, ... up to N, a text */
#define SERIES(N) "(WITH RECURSIVE k(value) AS (SELECT 1 UNION ALL SELECT" \
                  " value+1 FROM k WHERE value<" N ") SELECT value FROM k)"

/* Queries that the engine takes over, on the tables that fixture() makes */
extern const char *const azQuery[];
extern const int nQuery;

/* What is to fail: the request after nLeft more of them */
typedef struct Fault Fault;
struct Fault {
  int nLeft;             /* Requests until failure; -1: never */
  int bForEver;          /* All later requests fail as well */
  int nFailed;           /* Requests that failed */
};
extern Fault fault;
int fails(void);
void failAfter(int nLeft, int bForEver);
void failMemory(int bOn);
void failReads(int bOn);
void failWrites(int bOn);

/* Statements of now are like others: plans.c does not show their plans */
extern int bNoPlans;

/* A progress handler that stops statements */
void stopAt(sqlite3*, int nOp, int iCall);
int stopEnd(sqlite3*);

/* The tests of a program, by name */
typedef struct Test Test;
struct Test {
  const char *zName;
  void (*x)(void);
};
void runTests(const Test*, int nTest, const char *zName);

void check(int bOk, const char *zFormat, ...);
int finish(void);

sqlite3_syscall_ptr replaceCall(const char *zName, sqlite3_syscall_ptr xNew);

int loadStock(Lib*, const char *zFile);
sqlite3 *openDb(const Lib*, const char *zFile, int flags);
sqlite3 *freshDb(sqlite3 *(*xOpen)(const char*), const char *zFile, const char *zPragmas, const char *zTables);
void execute(sqlite3*, const char *zSql);
void runOn(const Lib*, sqlite3*, const char *zSql);
sqlite3_stmt *prepared(sqlite3*, const char *zSql);
sqlite3_int64 integer(const Lib*, sqlite3*, const char *zSql);
void checkIntegrity(const Lib*, sqlite3*, const char *zWhat);
int answer(const Lib*, sqlite3*, const char *zSql, Text *pOut);
void sameAnswer(sqlite3*, const char *zSql, int nTimes, const char *zWhat);
int isTaken(sqlite3*, const char *zSql);
int hasEngine(void);
int longRun(void);
void stepClock(void);
sqlite3_int64 counted(sqlite3*, const char *zWhat);
void fixture(const char *zFile, const char *zPragmas, int nRow);
const char *temporaryFile(const char *zName);
void removeDb(const char *zFile);
unsigned char *readFile(const char *zFile, int *pn);
void writeFile(const char *zFile, const unsigned char *a, int n);

/* Integers of a database file */
unsigned get2(const unsigned char*);
unsigned get4(const unsigned char*);
void put2(unsigned char*, unsigned);
void put4(unsigned char*, unsigned);

#endif /* HPTEST_H */
