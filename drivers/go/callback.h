/*
** Where SQLite calls Go. What it calls is known to C by a number only, see
** numbers in callback.go.
**
** A function written in Go costs one call from C: its arguments are looked up
** before, and its result is handed to SQLite after.
*/
#ifndef HPGO_CALLBACK_H
#define HPGO_CALLBACK_H
#include "hpgo.h"

/* An argument of a function. */
typedef struct hpgo_value {
  uint32_t type;            /* HPGO_INT to HPGO_NULL */
  uint32_t n;               /* Bytes of a text or blob */
  uint64_t v;               /* The number, or where the bytes are */
  uint64_t p;               /* The sqlite3_value */
} hpgo_value;

/* What is asked of a function. */
#define HPGO_CALL    0
#define HPGO_STEP    1
#define HPGO_INVERSE 2
#define HPGO_VALUE   3
#define HPGO_FINAL   4

/* Results beside those of hpgo_arg. */
#define HPGO_ARGUMENT 9     /* v is a sqlite3_value */
#define HPGO_ERROR    10    /* n bytes of message in aShort; v is the code */

#define HPGO_SHORT 256

/* One call of a function. */
typedef struct hpgo_call {
  uint64_t ctx;             /* sqlite3_context */
  uint64_t *pState;         /* An aggregate's: 0 before its first call */
  hpgo_value *aArg;
  int32_t nArg;
  int32_t op;               /* HPGO_CALL to HPGO_FINAL */
  uint32_t type;            /* Of the result: HPGO_INT and so on */
  uint32_t n;
  uint64_t v;
  uint32_t subtype;
  char aShort[HPGO_SHORT];  /* Texts and blobs that fit */
} hpgo_call;

/* Hooks of a connection, of which there is one each. */
#define HPGO_UPDATE     0
#define HPGO_COMMIT     1
#define HPGO_ROLLBACK   2
#define HPGO_WAL        3
#define HPGO_PREUPDATE  4
#define HPGO_AUTHORIZER 5
#define HPGO_PROGRESS   6
#define HPGO_TRACE      7
#define HPGO_BUSY       8
#define HPGO_HOOKS      9

/* What a connection with callbacks has beside its hpgo_conn. */
typedef struct hpgo_hooks {
  hpgo_conn *pConn;
  uint64_t db;
  uint64_t aId[HPGO_HOOKS]; /* Numbers of the hooks, 0 for none */
  int32_t nCheckpoint;      /* Pages of WAL after which to checkpoint */
  int32_t bFailed;          /* A callback failed that could not tell SQLite:
                            ** what is being written is not to be committed */
} hpgo_hooks;

/* A row as the preupdate hook finds it. */
typedef struct hpgo_preupdate_row {
  uint64_t db;
  int32_t op;               /* SQLITE_INSERT and so on */
  int32_t nCol;
  int32_t depth;
  int32_t iBlob;            /* Column that a blob handle writes, or -1 */
  const char *zDb;
  const char *zTable;
  int64_t iOld;             /* Rowids */
  int64_t iNew;
} hpgo_preupdate_row;

hpgo_hooks *hpgo_hooks_new(hpgo_conn *pConn);
void hpgo_hooks_free(hpgo_hooks *p);

/* Set a hook, or take it away if id is 0. arg is the progress handler's number
** of instructions, the trace's events, the WAL hook's nCheckpoint. SQLITE_ERROR
** if the library does not have it. */
int hpgo_set_hook(hpgo_hooks *p, int iHook, uint64_t id, int arg);

int hpgo_create_function(uint64_t db, const char *zName, int nArg, int flags,
                         uint64_t id);
int hpgo_create_aggregate(uint64_t db, const char *zName, int nArg, int flags,
                          uint64_t id, int bWindow);
int hpgo_remove_function(uint64_t db, const char *zName, int nArg);
int hpgo_create_collation(hpgo_hooks *p, const char *zName, uint64_t id);
void hpgo_set_aux(uint64_t ctx, int i, uint64_t id);
uint64_t hpgo_get_aux(uint64_t ctx, int i);
int hpgo_rollback(uint64_t db);
int hpgo_preupdate_value(uint64_t db, int bNew, int i, hpgo_value *pOut);

#endif
