/* See cloop.go. What is not done gives an SQLite result code. */
#include <stdint.h>
#include <sqlite3.h>

/* What was read: rows, integers, bytes of texts. */
typedef struct sums {
  int64_t nRow, iSum, nByte;
} sums;

int cloop_open(const char *zPath, sqlite3 **ppDb);
int cloop_exec(sqlite3 *db, const char *zSql);
int cloop_insert(sqlite3 *db, const char *zSql, int64_t nRow);
int cloop_select(sqlite3 *db, const char *zSql, int64_t nTime, int64_t nKey,
                 sums *pSums);
