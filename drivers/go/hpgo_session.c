/* See hpgo_session.h. */
#include "hpgo_session.h"
#include <string.h>
#include "_cgo_export.h"

int hpgo_has_session(void){
  return sqlite3session_create!=0 && sqlite3session_diff!=0
      && sqlite3changeset_apply_v2!=0;
}

#define ITER(X) ((sqlite3_changeset_iter*)(uintptr_t)(X))

int hpgo_change_read(uint64_t iter, hpgo_change *p){
  int nCol = 0, op = 0, bIndirect = 0, nFk, rc;
  unsigned char *aPk = 0;
  memset(p, 0, sizeof(*p));
  /* Of foreign keys that are violated at the end no row is told. */
  if( sqlite3changeset_fk_conflicts(ITER(iter), &nFk)==SQLITE_OK ){
    return SQLITE_OK;
  }
  rc = sqlite3changeset_op(ITER(iter), &p->zTable, &nCol, &op, &bIndirect);
  if( rc==SQLITE_OK ) rc = sqlite3changeset_pk(ITER(iter), &aPk, 0);
  p->nCol = nCol;
  p->op = op;
  p->bIndirect = bIndirect;
  p->aPk = aPk;
  return rc;
}

int hpgo_change_value(uint64_t iter, int which, int i, uint64_t *pV, int *pN){
  sqlite3_value *pVal = 0;
  double r;
  int type, rc;
  switch( which ){
    case HPGO_OLD: rc = sqlite3changeset_old(ITER(iter), i, &pVal); break;
    case HPGO_NEW: rc = sqlite3changeset_new(ITER(iter), i, &pVal); break;
    default: rc = sqlite3changeset_conflict(ITER(iter), i, &pVal); break;
  }
  if( rc!=SQLITE_OK ) return -rc;
  if( pVal==0 ) return 0;
  type = sqlite3_value_type(pVal);
  switch( type ){
    case SQLITE_INTEGER:
      *pV = (uint64_t)sqlite3_value_int64(pVal);
      break;
    case SQLITE_FLOAT:
      r = sqlite3_value_double(pVal);
      memcpy(pV, &r, sizeof(r));
      break;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
      *pV = (uint64_t)(uintptr_t)(type==SQLITE_TEXT
                    ? (const void*)sqlite3_value_text(pVal)
                    : sqlite3_value_blob(pVal));
      *pN = sqlite3_value_bytes(pVal);
      break;
  }
  return type;
}

static int filterTable(void *pArg, const char *zTable){
  return hpgoFilter((uintptr_t)pArg, (char*)zTable);
}
static int resolveConflict(void *pArg, int eKind, sqlite3_changeset_iter *p){
  return hpgoConflict((uintptr_t)pArg, eKind, (uint64_t)(uintptr_t)p);
}

int hpgo_apply(uint64_t db, int n, void *p, int bFilter, uintptr_t h){
  return sqlite3changeset_apply_v2((sqlite3*)(uintptr_t)db, n, p,
      bFilter ? filterTable : 0, resolveConflict, (void*)h, 0, 0, 0);
}
