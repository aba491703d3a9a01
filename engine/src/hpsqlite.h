/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What High Performance SQLite has beyond SQLite's interface.  A program that
** shall also run with SQLite itself looks these functions up, or declares them
** weak, and does without them.
*/
#ifndef HPSQLITE_H
#define HPSQLITE_H
#include "sqlite3.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
** When sqlite3_step() has given a row, pack it to aBuf[*piAt] and following, as
** hp_fetch() packs rows, leave in *piAt where it ends, and return 1.  Return 0,
** with nothing done, if there is too little room, no row, or a value that is not
** there as it would be packed: then ask for its columns.
*/
SQLITE_API int hp_row(
  sqlite3_stmt*,            /* At a row */
  unsigned char *aBuf,      /* Pack it here, */
  sqlite3_int64 nBuf,       /* ... which ends there */
  sqlite3_int64 *piAt       /* IN/OUT: from here on */
);

/*
** When sqlite3_step() has given a row, pack the rows that come after it: to
** aBuf[*piAt] and following, in order, as many as are at hand, fit into nBuf
** bytes, and no more than mxRow.  Return their number, which may be 0, and
** leave in *piAt where the last one ends.  Return -1, whatever mxRow is, if it
** is plain that no row comes after this one, as with a look-up by a unique key:
** then sqlite3_step() is SQLITE_DONE, at once.
**
** If the number is more than 0 the statement is at the last row that was packed, whose
** columns cannot be asked for.  Otherwise nothing has happened.  Either way
** sqlite3_step() gives the row that comes next.  So this reads all of a query:
**
**     while( sqlite3_step(p)==SQLITE_ROW ){
**       sqlite3_int64 n = 0;
**       ... sqlite3_column_xxx(p, ...) ...
**       nRow = hp_fetch(p, aBuf, sizeof(aBuf), &n, 1000);
**       ... nRow rows in aBuf ...
**     }
**
** A packed row, in the byte order of the machine:
**
**     u32       bytes of the row, this number included; a multiple of 8
**     u32       unused
**     u8[]      the type of each column, SQLITE_INTEGER..SQLITE_NULL, with
**               bytes up to a multiple of 8
**     8 bytes   for each column: an integer, a double; or u32 where in aBuf
**               the text (UTF-8, without a NUL) or blob begins and u32 its
**               length
**     u8[]      texts and blobs, each with bytes up to a multiple of 8
**
** aBuf is aligned to 8 bytes, *piAt is a multiple of 8, and nBuf less than
** 4 GiB.  What is behind the rows in aBuf may be written over.
*/
SQLITE_API int hp_fetch(
  sqlite3_stmt*,            /* At a row */
  unsigned char *aBuf,      /* Pack rows here, */
  sqlite3_int64 nBuf,       /* ... which ends there */
  sqlite3_int64 *piAt,      /* IN/OUT: from here on */
  int mxRow                 /* At most so many */
);

/*
** Look-ups in WAL mode, each a transaction of its own, spend half of their
** time on locking and unlocking a read mark.  A program that has a timer may let
** the lock linger:
**
**    HP_LINGER_ON    from now on locks on read marks are not given back at the
**                    end of a transaction, if it ends in this thread
**    HP_LINGER_OFF   they are, as ever
**    HP_LINGER_END   give back those that no transaction needs, in the whole
**                    process
**    HP_LINGER_ASK   nothing
**
** Return true if locks have come to linger since HP_LINGER_END was last called:
** then it is to be called some milliseconds later.  Other processes see nothing
** but a reader that stays as long: a checkpoint of theirs does not go beyond its
** snapshot, as with any reader.  A lock does not come to linger where it would
** keep a log that has been copied back from being begun anew.  If HP_LINGER_END
** is never called the reader stays until the connection is closed, reads again,
** or the process ends.  In this process the lock is in nobody's way.
** Safe in any thread at any time.
*/
#define HP_LINGER_OFF 0
#define HP_LINGER_ON  1
#define HP_LINGER_END 2
#define HP_LINGER_ASK 3
SQLITE_API int hp_linger(int);

/*
** A program that fills a table from several threads:
**
**     p = hp_load_new(pInsert);
**     in any thread:      n = hp_load_row(p, aValue, aTo, nTo);
**     in one thread:      rc = hp_load_rows(p, aRow, nByte, &nRow);
**     hp_load_free(p);
**
** pInsert is an INSERT with a parameter for each column, or for some of them,
** on a table of which a row needs nothing else: no index, trigger, CHECK,
** default value of a column that is not named, foreign key that is checked,
** generated column, AUTOINCREMENT or virtual table, and no OR.  hp_load_new()
** returns NULL if it is another one, if a hook, a trace or UTF-16 is in the
** way, or if there is no memory: then bind values and step, as ever.
** hp_load_rows() may not be called once the statement is finalized;
** hp_load_free() may, in any thread.
*/
typedef struct hp_load hp_load;
SQLITE_API hp_load *hp_load_new(sqlite3_stmt*);
SQLITE_API void hp_load_free(hp_load*);

/*
** Make a row of the values aValue[], one for each parameter, in their order, as
** the INSERT would make it of them.  Returns the bytes of the row, which is
** written to aTo; what is behind it in aTo may be written over.  Returns 0 if
** there may be too little room, or the row is to be inserted by the statement
** instead: SQLite may refuse it.  There is enough room for 128 bytes, and 48
** for each column of the table, and all texts and blobs.
**
** It reads nothing but what hp_load_new() found, and allocates nothing, so any
** number of threads may call it at a time, while others use the connection.
*/
typedef struct hp_load_value hp_load_value;
struct hp_load_value {
  union {
    sqlite3_int64 i;        /* SQLITE_INTEGER */
    double r;               /* SQLITE_FLOAT */
    const char *z;          /* SQLITE_TEXT in UTF-8, SQLITE_BLOB */
  } v;
  unsigned int n;           /* Bytes of a text or blob, less than 2^31 */
  unsigned int eType;       /* SQLITE_INTEGER .. SQLITE_NULL */
};
SQLITE_API sqlite3_int64 hp_load_row(
  const hp_load*,
  const hp_load_value *aValue,
  unsigned char *aTo,       /* Write it here, */
  sqlite3_int64 nTo         /* ... in so many bytes */
);

/*
** Append rows that hp_load_row() has made to the table, one behind the other in
** aRow[0..nByte-1], as if the INSERT had been stepped once for each.  *pnRow is
** the number of those that were appended.  If it is less than all, and the
** result is SQLITE_OK, the next row is to be inserted by the statement: because
** its key is not greater than those that are there, no write transaction is
** open, the schema has changed, or the like.  An error is one that the INSERT
** would have met, and leaves of the transaction what it would have left.
*/
SQLITE_API int hp_load_rows(
  hp_load*,
  const unsigned char *aRow, sqlite3_int64 nByte,
  sqlite3_int64 *pnRow
);

#ifdef __cplusplus
}
#endif
#endif
