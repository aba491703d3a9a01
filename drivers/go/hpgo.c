/*
** See hpgo.h.
**
** sqlite3_column_value() gives an unprotected value, which another thread
** must not change meanwhile. Nothing else uses the connection while one of
** these calls runs: the Go side sees to that, which is also why connections
** are opened with SQLITE_OPEN_NOMUTEX.
*/
#include "hpgo.h"
#include <string.h>
#include <stdlib.h>
#include <time.h>

/* What High Performance SQLite has, if that is what the program runs with:
** hpsqlite.h. hp_row() and hp_fetch() pack rows as packRow() does, several times
** as fast. */
__attribute__((weak)) int hp_fetch(sqlite3_stmt*, unsigned char*,
                                   sqlite3_int64, sqlite3_int64*, int);
__attribute__((weak)) int hp_row(sqlite3_stmt*, unsigned char*,
                                 sqlite3_int64, sqlite3_int64*);
__attribute__((weak)) int hp_linger(int);
#define HP_LINGER_OFF 0
#define HP_LINGER_ON  1
#define HP_LINGER_END 2

/* Rows of so many bytes are packed by hp_row(): none of their values is HPGO_FAR. */
#define PLAIN 4096

void hpgo_linger_end(void){
  if( hp_linger ) hp_linger(HP_LINGER_END);
}

#define STMT(X) ((sqlite3_stmt*)(uintptr_t)(X))
#define DB(X)   ((sqlite3*)(uintptr_t)(X))
#define STOPPED(P) __atomic_load_n(&(P)->bStop, __ATOMIC_SEQ_CST)
#define ROUND8(X) (((X)+7) & ~(int64_t)7)

/* A batch ends when it has taken this long, so that rows that are there are
** not kept back by those that take their time. */
#define BATCH_NS 2000000

static int64_t nowNs(void){
  struct timespec t;
#ifdef CLOCK_MONOTONIC_COARSE
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
#else
  clock_gettime(CLOCK_MONOTONIC, &t);
#endif
  return (int64_t)t.tv_sec*1000000000 + t.tv_nsec;
}

/* The busy handler. SQLite's own goes on sleeping after sqlite3_interrupt(),
** so that a cancelled context would have to wait for it. */
static int busyWait(void *pArg, int n){
  static const unsigned char aDelay[] = { 1, 1, 2, 4, 8, 12, 16, 20, 25 };
  const int nDelay = (int)sizeof(aDelay);
  hpgo_conn *p = (hpgo_conn*)pArg;
  int i, waited = 0, delay;
  for(i=0; i<n && i<nDelay; i++) waited += aDelay[i];
  if( n>nDelay ) waited += (n-nDelay)*aDelay[nDelay-1];
  delay = aDelay[n<nDelay ? n : nDelay-1];
  if( waited+delay>p->msBusy ) delay = p->msBusy - waited;
  if( delay<=0 || STOPPED(p) ) return 0;
  sqlite3_sleep(delay);
  return !STOPPED(p);
}

void hpgo_busy_timeout(hpgo_conn *p, int ms){
  p->msBusy = ms;
  sqlite3_busy_handler(DB(p->db), ms>0 ? busyWait : 0, p);
}

/* PRAGMA busy_timeout knows SQLite's own handler only. Give it that, so that a
** statement that is now prepared says what is in force; hpgo_pragma_after()
** takes over what the statement has set. */
void hpgo_pragma_before(hpgo_conn *p){
  sqlite3_busy_timeout(DB(p->db), p->msBusy);
}
void hpgo_pragma_after(hpgo_conn *p){
  sqlite3_stmt *pStmt = 0;
  int ms = p->msBusy;
  int rc = sqlite3_prepare_v2(DB(p->db), "PRAGMA busy_timeout", -1, &pStmt, 0);
  if( rc==SQLITE_OK && sqlite3_step(pStmt)==SQLITE_ROW ){
    ms = sqlite3_column_int(pStmt, 0);
  }
  sqlite3_finalize(pStmt);
  hpgo_busy_timeout(p, ms);
}

/* Open a database. Return 0 if there is no memory; else a connection that has
** to be closed, whatever *pRc is. */
hpgo_conn *hpgo_open(const char *zName, int flags, const char *zVfs, int *pRc){
  hpgo_conn *p = calloc(1, sizeof(*p));
  sqlite3 *db = 0;
  if( p==0 ) return 0;
  *pRc = sqlite3_open_v2(zName, &db, flags, zVfs);
  if( db ) sqlite3_extended_result_codes(db, 1);
  p->db = (uint64_t)(uintptr_t)db;
  return p;
}

/* Whether there is nothing in a file yet. */
static int isEmpty(sqlite3_file *pFile){
  sqlite3_int64 n = 1;
  return pFile && pFile->pMethods
      && pFile->pMethods->xFileSize(pFile, &n)==SQLITE_OK && n==0;
}

/* A commit hook. The transaction has the lock by which only it may write, and
** has written nothing to the file yet: so what is in the file is another's. */
static int onlyIfEmpty(void *pFile){
  return !isEmpty((sqlite3_file*)pFile);
}

/* Return false if there is something in the file of the main database. If not,
** transactions fail with SQLITE_CONSTRAINT_COMMITHOOK from then on if another
** connection has written to the file first, until hpgo_new_end(). */
int hpgo_new_begin(hpgo_conn *p){
  sqlite3_file *pFile = 0;
  sqlite3_file_control(DB(p->db), "main", SQLITE_FCNTL_FILE_POINTER, &pFile);
  if( !isEmpty(pFile) ) return 0;
  sqlite3_commit_hook(DB(p->db), onlyIfEmpty, pFile);
  return 1;
}

/* There must not be a commit hook of anybody else's: it is taken away. */
void hpgo_new_end(hpgo_conn *p){
  sqlite3_commit_hook(DB(p->db), 0, 0);
}

/* From any thread, while the connection is open. bStop stays until it is
** called with bStop==0, which interrupts nothing. */
void hpgo_interrupt(hpgo_conn *p, int bStop){
  __atomic_store_n(&p->bStop, bStop, __ATOMIC_SEQ_CST);
  if( bStop ) sqlite3_interrupt(DB(p->db));
}

/* A blob handle or backup that is still open keeps the sqlite3 alive, which must
** then not wait with what is freed here. */
int hpgo_close(hpgo_conn *p){
  if( p->db ) sqlite3_busy_handler(DB(p->db), 0, 0);
  int rc = sqlite3_close_v2(DB(p->db));
  free(p);
  return rc;
}

int hpgo_prepare(uint64_t db, const char *zSql, int64_t nSql, int flags,
                 hpgo_info *pInfo){
  sqlite3_stmt *p = 0;
  const char *zTail = 0;
  int rc;
  memset(pInfo, 0, sizeof(*pInfo));
  if( nSql>0x7fffffff ) return SQLITE_TOOBIG;
  rc = sqlite3_prepare_v3(DB(db), zSql, (int)nSql, flags, &p, &zTail);
  if( rc!=SQLITE_OK ) return rc;
  pInfo->nSql = zTail ? (int)(zTail - zSql) : (int)nSql;
  if( p ){
    int i;
    pInfo->stmt = (uint64_t)(uintptr_t)p;
    pInfo->nParam = sqlite3_bind_parameter_count(p);
    for(i=1; i<=pInfo->nParam && !pInfo->bNamed; i++){
      const char *zName = sqlite3_bind_parameter_name(p, i);
      pInfo->bNamed = zName!=0 && zName[0]!='?';
    }
    pInfo->nCol = sqlite3_column_count(p);
    pInfo->bReadonly = sqlite3_stmt_readonly(p);
    pInfo->bExplain = sqlite3_stmt_isexplain(p);
  }
  return SQLITE_OK;
}

/* Bind the set of parameters at aArg. */
static int bindSet(sqlite3_stmt *p, const hpgo_arg *aArg, int nArg){
  int i, rc = SQLITE_OK;
  for(i=0; i<nArg && rc==SQLITE_OK; i++){
    const hpgo_arg *a = &aArg[i];
    const char *z = (const char*)aArg + a->v;
    double r;
    switch( a->type ){
      case HPGO_INT:
        rc = sqlite3_bind_int64(p, i+1, (sqlite3_int64)a->v);
        break;
      case HPGO_FLOAT:
        memcpy(&r, &a->v, sizeof(r));
        rc = sqlite3_bind_double(p, i+1, r);
        break;
      case HPGO_TEXT:
        rc = sqlite3_bind_text64(p, i+1, z, a->n, SQLITE_STATIC, SQLITE_UTF8);
        break;
      case HPGO_BLOB:
        rc = sqlite3_bind_blob64(p, i+1, z, a->n, SQLITE_STATIC);
        break;
      case HPGO_FAR_TEXT:
        rc = sqlite3_bind_text64(p, i+1, (char*)(uintptr_t)a->v, a->n,
                                 sqlite3_free, SQLITE_UTF8);
        break;
      case HPGO_FAR_BLOB:
        rc = sqlite3_bind_blob64(p, i+1, (void*)(uintptr_t)a->v, a->n,
                                 sqlite3_free);
        break;
      case HPGO_ZEROBLOB:
        rc = sqlite3_bind_zeroblob64(p, i+1, a->v);
        break;
      default:
        rc = sqlite3_bind_null(p, i+1);
        break;
    }
  }
  /* What was not bound has no owner yet. */
  for(; i<nArg; i++){
    if( aArg[i].type==HPGO_FAR_TEXT || aArg[i].type==HPGO_FAR_BLOB ){
      sqlite3_free((void*)(uintptr_t)aArg[i].v);
    }
  }
  return rc;
}

/* Large values are not kept until the statement is used again. */
static void unbindFar(sqlite3_stmt *p, const hpgo_arg *aArg, int nArg){
  int i;
  for(i=0; i<nArg; i++){
    if( aArg[i].type==HPGO_FAR_TEXT || aArg[i].type==HPGO_FAR_BLOB ){
      sqlite3_clear_bindings(p);
      return;
    }
  }
}

/*
** Pack the row that the statement is at to aBuf[iAt], where nBuf is the size
** of the whole buffer. Return the number of bytes that the row takes, which
** is more than there were if it was not written.
*/
static int64_t packRow(
  sqlite3_stmt *p,
  int nCol,
  unsigned char *aBuf,
  int64_t iAt,
  int64_t nBuf,
  int *pbFar,               /* Set if a value was not copied */
  int *pRc                  /* Set if memory ran out */
){
  const int64_t iType = iAt + 8;
  const int64_t iCell = iType + ROUND8(nCol);
  int64_t iHeap = iCell + 8*(int64_t)nCol;
  const int bFixed = iHeap<=nBuf;
  int i;
  for(i=0; i<nCol; i++){
    sqlite3_value *pVal = sqlite3_column_value(p, i);
    int type = sqlite3_value_type(pVal);
    uint64_t cell = 0;
    switch( type ){
      case SQLITE_INTEGER:
        cell = (uint64_t)sqlite3_value_int64(pVal);
        break;
      case SQLITE_FLOAT: {
        double r = sqlite3_value_double(pVal);
        memcpy(&cell, &r, sizeof(cell));
        break;
      }
      case SQLITE_TEXT:
      case SQLITE_BLOB: {
        const void *z = type==SQLITE_TEXT ? (const void*)sqlite3_value_text(pVal)
                                          : sqlite3_value_blob(pVal);
        uint32_t n = (uint32_t)sqlite3_value_bytes(pVal);
        uint32_t aCell[2];
        if( z==0 && (n>0 || type==SQLITE_TEXT) ){
          *pRc = SQLITE_NOMEM;
          return 0;
        }
        aCell[0] = (uint32_t)iHeap;
        aCell[1] = n;
        if( n>=HPGO_FAR ){
          if( iHeap+16<=nBuf ){
            uint64_t aFar[2];
            aFar[0] = (uint64_t)(uintptr_t)z;
            aFar[1] = n;
            memcpy(&aBuf[iHeap], aFar, sizeof(aFar));
          }
          type += HPGO_FAR_TEXT - HPGO_TEXT;
          *pbFar = 1;
          iHeap += 16;
        }else{
          if( n>0 && iHeap+n<=nBuf ) memcpy(&aBuf[iHeap], z, n);
          iHeap += ROUND8(n);
        }
        memcpy(&cell, aCell, sizeof(cell));
        break;
      }
    }
    if( bFixed ){
      aBuf[iType+i] = (unsigned char)type;
      memcpy(&aBuf[iCell+8*(int64_t)i], &cell, sizeof(cell));
    }
  }
  if( iHeap<=nBuf ){
    uint32_t n = (uint32_t)(iHeap - iAt);
    memcpy(&aBuf[iAt], &n, sizeof(n));
  }
  return iHeap - iAt;
}

/*
** Begin a statement (nArg>=0) or go on with it, and pack rows into aBuf until
** there are mxRow, the buffer is full, or time has passed. bSlow says that
** rows took their time in the call before: then the clock is looked at for
** each.
*/
void hpgo_run(uint64_t stmt, const hpgo_arg *aArg, int nArg,
              unsigned char *aBuf, int64_t nBuf, int mxRow, int bSlow){
  sqlite3_stmt *p = STMT(stmt);
  hpgo_out out;
  sqlite3_int64 iAt = sizeof(out);
  int64_t tBegin = 0;
  int rc = SQLITE_ROW, bFar = 0, bStep = nArg!=HPGO_PENDING;
  int nLook = bSlow ? 1 : 8;      /* Look at the clock once there are so many */
  const int nBetween = nLook;
  memset(&out, 0, sizeof(out));
  if( hp_linger ) hp_linger(HP_LINGER_ON);
  if( nArg>0 ){
    rc = bindSet(p, aArg, nArg);
    if( rc!=SQLITE_OK ) goto end;
  }
  if( mxRow>2 ) tBegin = nowNs();
  for(;;){
    int64_t n;
    if( bStep ){
      rc = sqlite3_step(p);
      if( rc!=SQLITE_ROW ) break;
    }
    rc = SQLITE_ROW;
    bStep = 1;
    if( out.nRow==0 ) out.nCol = sqlite3_data_count(p);
    if( hp_row==0 || !hp_row(p, aBuf, nBuf<iAt+PLAIN ? nBuf : iAt+PLAIN, &iAt) ){
      n = packRow(p, out.nCol, aBuf, iAt, nBuf, &bFar, &rc);
      if( rc!=SQLITE_ROW ) break;
      if( iAt+n>nBuf ){
        out.nNeed = iAt + n;
        out.bPending = 1;
        break;
      }
      iAt += n;
    }
    out.nRow++;
    if( bFar ) break;
    if( hp_fetch ){
      int nMore = hp_fetch(p, aBuf, nBuf, &iAt, mxRow - out.nRow);
      if( nMore<0 ){
        if( !sqlite3_stmt_readonly(p) ) continue;   /* The next step ends it */
        rc = SQLITE_DONE;                           /* ... as a reset does */
        break;
      }
      out.nRow += nMore;
    }
    if( out.nRow>=mxRow ) break;
    if( out.nRow>=nLook && tBegin ){
      if( nowNs()-tBegin>BATCH_NS ){
        out.bSlow = 1;
        break;
      }
      nLook = out.nRow + nBetween;
    }
  }
end:
  if( rc!=SQLITE_ROW ){
    int rc2;
    out.nPrepared = sqlite3_stmt_status(p, SQLITE_STMTSTATUS_REPREPARE, 0);
    if( out.nCol==0 ) out.nCol = sqlite3_column_count(p);
    rc2 = sqlite3_reset(p);
    if( rc!=SQLITE_DONE && rc2!=SQLITE_OK ) rc = rc2;
  }else{
    out.nPrepared = sqlite3_stmt_status(p, SQLITE_STMTSTATUS_REPREPARE, 0);
  }
  if( hp_linger ) out.bLinger = hp_linger(HP_LINGER_OFF);
  out.bAuto = sqlite3_get_autocommit(sqlite3_db_handle(p));
  out.rc = rc;
  memcpy(aBuf, &out, sizeof(out));
}

/* Step to the end, whatever comes. */
static int stepAll(sqlite3_stmt *p){
  int rc;
  while( (rc = sqlite3_step(p))==SQLITE_ROW ){}
  if( rc==SQLITE_DONE ) return sqlite3_reset(p);
  sqlite3_reset(p);
  return rc;
}

static int execSet(sqlite3_stmt *p, const hpgo_arg *aArg, int nArg,
                   hpgo_done *pDone){
  sqlite3 *db = sqlite3_db_handle(p);
  sqlite3_int64 nBefore = sqlite3_total_changes64(db);
  int rc = bindSet(p, aArg, nArg);
  if( rc==SQLITE_OK ) rc = stepAll(p);
  unbindFar(p, aArg, nArg);
  /* sqlite3_changes64() stays what it was when nothing is changed. */
  if( rc==SQLITE_OK && sqlite3_total_changes64(db)!=nBefore ){
    pDone->nChange += sqlite3_changes64(db);
  }
  return rc;
}

static void lastDone(sqlite3_stmt *p, hpgo_done *pDone){
  sqlite3 *db = sqlite3_db_handle(p);
  pDone->iRowid = sqlite3_last_insert_rowid(db);
  pDone->bAuto = sqlite3_get_autocommit(db);
}

int hpgo_exec(uint64_t stmt, const hpgo_arg *aArg, int nArg, hpgo_done *pDone){
  int rc;
  memset(pDone, 0, sizeof(*pDone));
  rc = execSet(STMT(stmt), aArg, nArg, pDone);
  lastDone(STMT(stmt), pDone);
  return rc;
}

int hpgo_many(uint64_t stmt, const hpgo_arg *aArg, int nArg, int64_t nSet,
              hpgo_done *pDone){
  int rc = SQLITE_OK;
  memset(pDone, 0, sizeof(*pDone));
  while( pDone->nSet<nSet ){
    rc = execSet(STMT(stmt), &aArg[1], nArg, pDone);
    if( rc!=SQLITE_OK ) break;
    pDone->nSet++;
    aArg = (const hpgo_arg*)((const char*)aArg + aArg->v);
  }
  lastDone(STMT(stmt), pDone);
  return rc;
}

int hpgo_prepare_back(uint64_t db, const char *zSql, int64_t nSql, int flags,
                      hpgo_info *pInfo){
  return hpgo_prepare(db, zSql, nSql, flags, pInfo);
}
void hpgo_run_back(uint64_t stmt, const hpgo_arg *aArg, int nArg,
                   unsigned char *aBuf, int64_t nBuf, int mxRow, int bSlow){
  hpgo_run(stmt, aArg, nArg, aBuf, nBuf, mxRow, bSlow);
}
int hpgo_exec_back(uint64_t stmt, const hpgo_arg *aArg, int nArg,
                   hpgo_done *pDone){
  return hpgo_exec(stmt, aArg, nArg, pDone);
}
int hpgo_many_back(uint64_t stmt, const hpgo_arg *aArg, int nArg, int64_t nSet,
                   hpgo_done *pDone){
  return hpgo_many(stmt, aArg, nArg, nSet, pDone);
}
