/*
** SQLite's session extension, which a library may lack, and whose declarations
** sqlite3.h shows only to who defines SQLITE_ENABLE_SESSION: they are here, as weak
** symbols.
*/
#ifndef HPGO_SESSION_H
#define HPGO_SESSION_H
#include "hpgo.h"

#define HPGO_WEAK __attribute__((weak))

typedef struct sqlite3_session sqlite3_session;
typedef struct sqlite3_changeset_iter sqlite3_changeset_iter;

int sqlite3session_create(sqlite3*, const char*, sqlite3_session**) HPGO_WEAK;
void sqlite3session_delete(sqlite3_session*) HPGO_WEAK;
int sqlite3session_enable(sqlite3_session*, int) HPGO_WEAK;
int sqlite3session_indirect(sqlite3_session*, int) HPGO_WEAK;
int sqlite3session_attach(sqlite3_session*, const char*) HPGO_WEAK;
int sqlite3session_changeset(sqlite3_session*, int*, void**) HPGO_WEAK;
int sqlite3session_patchset(sqlite3_session*, int*, void**) HPGO_WEAK;
int sqlite3session_isempty(sqlite3_session*) HPGO_WEAK;
int sqlite3session_diff(sqlite3_session*, const char*, const char*,
                        char**) HPGO_WEAK;
int sqlite3changeset_start(sqlite3_changeset_iter**, int, void*) HPGO_WEAK;
int sqlite3changeset_next(sqlite3_changeset_iter*) HPGO_WEAK;
int sqlite3changeset_op(sqlite3_changeset_iter*, const char**, int*, int*,
                        int*) HPGO_WEAK;
int sqlite3changeset_pk(sqlite3_changeset_iter*, unsigned char**,
                        int*) HPGO_WEAK;
int sqlite3changeset_old(sqlite3_changeset_iter*, int,
                         sqlite3_value**) HPGO_WEAK;
int sqlite3changeset_new(sqlite3_changeset_iter*, int,
                         sqlite3_value**) HPGO_WEAK;
int sqlite3changeset_conflict(sqlite3_changeset_iter*, int,
                              sqlite3_value**) HPGO_WEAK;
int sqlite3changeset_fk_conflicts(sqlite3_changeset_iter*, int*) HPGO_WEAK;
int sqlite3changeset_finalize(sqlite3_changeset_iter*) HPGO_WEAK;
int sqlite3changeset_invert(int, const void*, int*, void**) HPGO_WEAK;
int sqlite3changeset_concat(int, void*, int, void*, int*, void**) HPGO_WEAK;
int sqlite3changeset_apply_v2(sqlite3*, int, void*,
                              int(*)(void*, const char*),
                              int(*)(void*, int, sqlite3_changeset_iter*),
                              void*, void**, int*, int) HPGO_WEAK;

/* Whether the library has all of it. */
int hpgo_has_session(void);

/* A change that an iterator is at, and one of its values. */
typedef struct hpgo_change {
  const char *zTable;
  int32_t nCol;
  int32_t op;               /* SQLITE_INSERT, _UPDATE or _DELETE */
  int32_t bIndirect;
  const unsigned char *aPk; /* For each column, whether it is of the key */
} hpgo_change;

#define HPGO_OLD 0
#define HPGO_NEW 1
#define HPGO_CONFLICT 2

int hpgo_change_read(uint64_t iter, hpgo_change *p);

/* Return the type of the value, HPGO_INT..HPGO_NULL, 0 if there is none, or
** a negative error code. *pV is the number, or where the *pN bytes are. */
int hpgo_change_value(uint64_t iter, int which, int i, uint64_t *pV, int *pN);

/* Filter and conflicts go to hpgoFilter() and hpgoConflict(), with h. */
int hpgo_apply(uint64_t db, int n, void *p, int bFilter, uintptr_t h);

#endif
