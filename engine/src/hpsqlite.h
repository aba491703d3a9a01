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
** When sqlite3_step() has given a row, pack the rows that come after it: to
** aBuf[*piAt] and following, in order, as many as are at hand, fit into nBuf
** bytes, and no more than mxRow.  Return their number, which may be 0, and
** leave in *piAt where the last one ends.
**
** If it is more than 0 the statement is at the last row that was packed, whose
** columns cannot be asked for.  If it is 0 nothing has happened.  Either way
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
** 4 GiB.
*/
SQLITE_API int hp_fetch(
  sqlite3_stmt*,            /* At a row */
  unsigned char *aBuf,      /* Pack rows here, */
  sqlite3_int64 nBuf,       /* ... which ends there */
  sqlite3_int64 *piAt,      /* IN/OUT: from here on */
  int mxRow                 /* At most so many */
);

#ifdef __cplusplus
}
#endif
#endif
