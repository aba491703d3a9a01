/*
** What the Go driver calls: SQLite's interface with many calls made one,
** because a call from Go to C costs as much as a look at a cell.
**
**   hpgo_open()      a connection, with a busy handler that can be interrupted
**   hpgo_prepare()   a statement, and everything that is known of it
**   hpgo_run()       bind, step, and pack rows; then step and pack more
**   hpgo_exec()      bind, step to the end, reset
**   hpgo_many()      the same for many sets of parameters
**
** Handles go over as integers: Go keeps them in its memory, where pointers
** would be looked at.
**
** Parameters: a set is nParam cells (hpgo_arg), behind which are the bytes of
** texts and blobs. They are in memory of C's, because they are bound without
** a copy and so must stay where they are until the statement is reset.
**
** Rows: packed one behind the other into a buffer of Go's, in machine order.
** Everything is aligned to eight bytes.
**
**     hpgo_out     what this call brought
**     row          uint32  bytes of this row, this number included
**                  uint32  unused
**                  uint8   type of each column, HPGO_INT..HPGO_FAR_BLOB
**                  8 bytes for each column: an int64, a double, or
**                          {uint32 offset in the buffer, uint32 length}
**                  bytes of texts and blobs
**     row          ...
**
** A value of HPGO_FAR bytes or more is not copied. Its {offset, length} leads
** to 16 bytes, a pointer and a length; the pointer is SQLite's own and good
** until the next step, so such a row is the last of its call.
*/
#ifndef HPGO_H
#define HPGO_H
#include <stdint.h>
#ifdef HPGO_STATIC
# include "hpgo_names.h"
#endif
#include <sqlite3.h>

#define HPGO_INT      1     /* As SQLITE_INTEGER and so on */
#define HPGO_FLOAT    2
#define HPGO_TEXT     3
#define HPGO_BLOB     4
#define HPGO_NULL     5
#define HPGO_FAR_TEXT 6     /* In rows: see above. In parameters: v is memory */
#define HPGO_FAR_BLOB 7     /* from sqlite3_malloc64(), freed by SQLite       */
#define HPGO_ZEROBLOB 8     /* In parameters only: v zero bytes */

#define HPGO_FAR 32768

typedef struct hpgo_arg {
  uint32_t type;
  uint32_t n;               /* Bytes of a text or blob */
  uint64_t v;               /* The number, or where bytes are from the set's
                            ** beginning, or memory */
} hpgo_arg;

typedef struct hpgo_out {
  int32_t rc;               /* SQLITE_ROW: more may come. SQLITE_DONE, or an
                            ** error: the statement has been reset. */
  int32_t nRow;             /* Rows in the buffer */
  int32_t nCol;             /* Columns of each */
  int32_t nPrepared;        /* How often SQLite prepared it again by itself */
  int64_t nNeed;            /* If nRow is 0: bytes that the next row needs */
  int32_t bPending;         /* SQLite is at a row that found no room */
  int32_t bSlow;            /* Rows take their time */
  int32_t bAuto;            /* No transaction was begun with BEGIN */
  int32_t bLinger;          /* hpgo_linger_end() is to be called soon */
} hpgo_out;

typedef struct hpgo_info {
  uint64_t stmt;            /* 0 if there is nothing but blanks and comments */
  int32_t nSql;             /* Bytes of the SQL that this statement is */
  int32_t nParam;
  int32_t bNamed;           /* Some parameter has a name */
  int32_t nCol;
  int32_t bReadonly;
  int32_t bExplain;
} hpgo_info;

typedef struct hpgo_done {
  int64_t nChange;          /* Rows inserted, updated or deleted */
  int64_t iRowid;           /* sqlite3_last_insert_rowid() */
  int64_t nSet;             /* Sets of parameters that were carried out */
  int64_t bAuto;            /* As in hpgo_out */
} hpgo_done;

/* Give back locks that linger, see hp_linger() in hpsqlite.h. From any thread. */
void hpgo_linger_end(void);

/* Register the VFS for databases in memory that connections share: hpgo_memory.c */
#define HPGO_MEMORY     "/hpgo-memory/"
#define HPGO_MEMORY_VFS "hpgo-memory"
int hpgo_memory_vfs(void);

/* hpgo_run(): nArg is the number of parameters, or one of these. */
#define HPGO_MORE    (-1)   /* Go on */
#define HPGO_PENDING (-2)   /* Go on with the row that found no room */

/* A connection. Memory of C's, because the busy handler points to it. */
typedef struct hpgo_conn {
  uint64_t db;
  int32_t msBusy;           /* How long a statement waits for a lock */
  int32_t bStop;            /* Waiting is to end */
} hpgo_conn;

hpgo_conn *hpgo_open(const char *zName, int flags, const char *zVfs, int *pRc);
void hpgo_busy_timeout(hpgo_conn *p, int ms);
void hpgo_pragma_before(hpgo_conn *p);
void hpgo_pragma_after(hpgo_conn *p);
int hpgo_new_begin(hpgo_conn *p);
void hpgo_new_end(hpgo_conn *p);
void hpgo_interrupt(hpgo_conn *p, int bStop);
int hpgo_close(hpgo_conn *p);
int hpgo_prepare(uint64_t db, const char *zSql, int64_t nSql, int flags,
                 hpgo_info *pInfo);
void hpgo_run(uint64_t stmt, const hpgo_arg *aArg, int nArg,
              unsigned char *aBuf, int64_t nBuf, int mxRow, int bSlow);
int hpgo_exec(uint64_t stmt, const hpgo_arg *aArg, int nArg, hpgo_done *pDone);

/* Many sets, one behind the other. Before each stands one more cell, whose v
** is the number of bytes to the next. */
int hpgo_many(uint64_t stmt, const hpgo_arg *aArg, int nArg, int64_t nSet,
              hpgo_done *pDone);

/* The same for connections that have functions, hooks and so on in Go: cgo
** has to know which calls may come back. */
int hpgo_prepare_back(uint64_t db, const char *zSql, int64_t nSql, int flags,
                      hpgo_info *pInfo);
void hpgo_run_back(uint64_t stmt, const hpgo_arg *aArg, int nArg,
                   unsigned char *aBuf, int64_t nBuf, int mxRow, int bSlow);
int hpgo_exec_back(uint64_t stmt, const hpgo_arg *aArg, int nArg,
                   hpgo_done *pDone);
int hpgo_many_back(uint64_t stmt, const hpgo_arg *aArg, int nArg, int64_t nSet,
                   hpgo_done *pDone);

#endif
