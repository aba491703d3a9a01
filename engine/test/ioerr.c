/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Reading fails at every single call, on both ways to the pages.
**
**   1. A VFS that wraps the default one and lets its n-th xRead fail.  It is
**      not SQLite's own, so the engine goes through the pager.
**   2. The built-in unix VFS, whose read(2) and pread(2) are replaced through
**      xSetSystemCall: the engine's large reads of adjacent pages meet the
**      error.  It comes as EIO, as an interrupted call (EINTR), as a short
**      read, or as an end of file.
**
** Each on a rollback-journal and on a WAL database, once or from then on,
** with a cold cache for each n.  The answer must be the right one, or rows
** that begin it and then an I/O error; where the file seems to end, stock
** takes missing bytes for zeros, so only that nothing breaks is asked for.
** Afterwards the same connection must give the right answer.
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hptest.h"

#define PAGE_SIZE 1024            /* Of the databases */

static int nLarge = 0;             /* Reads of four pages or more */


/************************ A VFS around the default one ********************/

typedef struct ShimFile ShimFile;
struct ShimFile {
  sqlite3_file base;         /* Must be first */
  sqlite3_file *pReal;       /* The file of the default VFS, after this */
};
static sqlite3_vfs *pRoot;   /* The default VFS */

#define REAL(p) (((ShimFile*)(p))->pReal)

static int shimClose(sqlite3_file *p){
  return REAL(p)->pMethods->xClose(REAL(p));
}
static int shimRead(sqlite3_file *p, void *a, int n, sqlite3_int64 i){
  if( fails() ) return SQLITE_IOERR_READ;
  return REAL(p)->pMethods->xRead(REAL(p), a, n, i);
}
static int shimWrite(sqlite3_file *p, const void *a, int n, sqlite3_int64 i){
  return REAL(p)->pMethods->xWrite(REAL(p), a, n, i);
}
static int shimTruncate(sqlite3_file *p, sqlite3_int64 n){
  return REAL(p)->pMethods->xTruncate(REAL(p), n);
}
static int shimSync(sqlite3_file *p, int flags){
  return REAL(p)->pMethods->xSync(REAL(p), flags);
}
static int shimFileSize(sqlite3_file *p, sqlite3_int64 *pn){
  return REAL(p)->pMethods->xFileSize(REAL(p), pn);
}
static int shimLock(sqlite3_file *p, int e){
  return REAL(p)->pMethods->xLock(REAL(p), e);
}
static int shimUnlock(sqlite3_file *p, int e){
  return REAL(p)->pMethods->xUnlock(REAL(p), e);
}
static int shimCheckReservedLock(sqlite3_file *p, int *pb){
  return REAL(p)->pMethods->xCheckReservedLock(REAL(p), pb);
}
static int shimFileControl(sqlite3_file *p, int op, void *pArg){
  return REAL(p)->pMethods->xFileControl(REAL(p), op, pArg);
}
static int shimSectorSize(sqlite3_file *p){
  return REAL(p)->pMethods->xSectorSize(REAL(p));
}
static int shimDevice(sqlite3_file *p){
  return REAL(p)->pMethods->xDeviceCharacteristics(REAL(p));
}
static int shimShmMap(sqlite3_file *p, int i, int n, int b, void volatile **pp){
  return REAL(p)->pMethods->xShmMap(REAL(p), i, n, b, pp);
}
static int shimShmLock(sqlite3_file *p, int i, int n, int flags){
  return REAL(p)->pMethods->xShmLock(REAL(p), i, n, flags);
}
static void shimShmBarrier(sqlite3_file *p){
  REAL(p)->pMethods->xShmBarrier(REAL(p));
}
static int shimShmUnmap(sqlite3_file *p, int b){
  return REAL(p)->pMethods->xShmUnmap(REAL(p), b);
}
static const sqlite3_io_methods shimMethods = {
  2, shimClose, shimRead, shimWrite, shimTruncate, shimSync, shimFileSize,
  shimLock, shimUnlock, shimCheckReservedLock, shimFileControl,
  shimSectorSize, shimDevice, shimShmMap, shimShmLock, shimShmBarrier,
  shimShmUnmap, 0, 0
};

static int shimOpen(
  sqlite3_vfs *pVfs, sqlite3_filename zName, sqlite3_file *p,
  int flags, int *pFlags
){
  int rc;
  (void)pVfs;
  memset(p, 0, sizeof(ShimFile));
  REAL(p) = (sqlite3_file*)&((ShimFile*)p)[1];
  rc = pRoot->xOpen(pRoot, zName, REAL(p), flags, pFlags);
  if( REAL(p)->pMethods ) p->pMethods = &shimMethods;
  return rc;
}

/****************** read(2) and pread(2) of the built-in VFS ***************/

static ssize_t (*xRealRead)(int, void*, size_t);
static ssize_t (*xRealPread)(int, void*, size_t, off_t);
static enum { FAULT_EIO, FAULT_EINTR, FAULT_SHORT, FAULT_END } eFault;

/*
** If this read of n bytes is to fail: set errno, and return -1 or the number
** of bytes to read instead.  Otherwise return n.
*/
static ssize_t faulty(size_t n){
  if( n>=4*PAGE_SIZE ) nLarge++;
  if( !fails() ) return n;
  switch( eFault ){
    case FAULT_EIO:    errno = EIO;   return -1;
    case FAULT_EINTR:  errno = EINTR; return -1;
    case FAULT_SHORT:  return n>1 ? n/2 : n;
    default:           return 0;
  }
}
static ssize_t faultyRead(int fd, void *a, size_t n){
  ssize_t k = faulty(n);
  return k>0 ? xRealRead(fd, a, k) : k;
}
static ssize_t faultyPread(int fd, void *a, size_t n, off_t i){
  ssize_t k = faulty(n);
  return k>0 ? xRealPread(fd, a, k, i) : k;
}

/*
** Put the faulty calls in the place of those that the VFS uses.  Which there
** are depends on how SQLite was compiled.
*/
static void replaceCalls(sqlite3_vfs *pVfs){
  static const char *const azPread[] = { "pread", "pread64" };
  int i;
  xRealRead = (void*)pVfs->xGetSystemCall(pVfs, "read");
  pVfs->xSetSystemCall(pVfs, "read", (sqlite3_syscall_ptr)faultyRead);
  for(i=0; i<2; i++){
    sqlite3_syscall_ptr x = pVfs->xGetSystemCall(pVfs, azPread[i]);
    if( x==0 ) continue;
    xRealPread = (void*)x;
    pVfs->xSetSystemCall(pVfs, azPread[i], (sqlite3_syscall_ptr)faultyPread);
  }
}

/*
** Let read number n=0,1,2,... of zSql fail until there are no more reads.
*/
static int tryQuery(
  const char *zVfs,      /* VFS to use, or NULL */
  const char *zFile,     /* The database */
  const char *zSql,      /* The query */
  int bMode              /* 0: fail once.  1: fail from then on */
){
  int n, nTotal = 0, bMore = 1;
  for(n=0; bMore; n++){
    Text right = {0,0,0};
    Text got = {0,0,0};
    Text after = {0,0,0};
    sqlite3 *db = 0;
    int rc, bOk;
    if( sqlite3_open_v2(zFile, &db, SQLITE_OPEN_READWRITE, zVfs) ){
      fprintf(stderr, "error: cannot open %s\n", zFile);
      exit(2);
    }
    execute(db, "PRAGMA hp_offload=force");
    answer(&ours, db, zSql, &right);
    /* A prepared schema, but no page of the table */
    execute(db, "PRAGMA shrink_memory");
    fault.nLeft = n;
    fault.bForEver = bMode;
    fault.nFailed = 0;
    rc = answer(&ours, db, zSql, &got);
    bMore = fault.nFailed>0;
    nTotal += fault.nFailed>0;
    fault.nLeft = -1;
    if( eFault==FAULT_END ){
      bOk = 1;
    }else if( (rc&0xff)==SQLITE_IOERR || rc==SQLITE_CORRUPT ){
      /* EIO is SQLITE_IOERR_CORRUPTFS to the VFS, SQLITE_CORRUPT to others */
      bOk = eFault==FAULT_EIO
         && strncmp(got.z, right.z, strstr(got.z, "error") - got.z)==0;
    }else{
      bOk = strcmp(got.z, right.z)==0;
    }
    check(bOk, "vfs %s, fault %d, read %d%s: %s\n got  %s right %s",
          zVfs ? zVfs : "unix", eFault, n, bMode ? " and later" : "", zSql,
          got.z, right.z);
    execute(db, "PRAGMA shrink_memory");
    answer(&ours, db, zSql, &after);
    check(eFault==FAULT_END || strcmp(after.z, right.z)==0,
          "vfs %s, fault %d, after read %d%s failed: %s\n got  %s right %s",
          zVfs ? zVfs : "unix", eFault, n, bMode ? " and later" : "", zSql,
          after.z, right.z);
    check(sqlite3_close(db)==SQLITE_OK, "a statement is left: %s", zSql);
    textClear(&right);
    textClear(&got);
    textClear(&after);
    /* An interrupted call is tried again for ever: once is enough. */
    if( n>400 ) break;
  }
  return nTotal;
}

int main(void){
  static const char *const azPragma[] = {
    "PRAGMA page_size=1024",
    "PRAGMA page_size=1024; PRAGMA journal_mode=wal"
  };
  static sqlite3_vfs shim;
  sqlite3_vfs *pUnix = sqlite3_vfs_find("unix");
  int iDb, i, nInjected = 0;
  sqlite3_initialize();
  pRoot = sqlite3_vfs_find(0);
  shim = *pRoot;
  shim.zName = "shim";
  shim.szOsFile = sizeof(ShimFile) + pRoot->szOsFile;
  shim.xOpen = shimOpen;
  sqlite3_vfs_register(&shim, 0);
  for(iDb=0; iDb<2; iDb++){
    const char *zFile = temporaryFile("ioerr.db");
    sqlite3 *keep = 0;
    fixture(zFile, azPragma[iDb], 120);
    if( iDb==1 ){
      /* A connection that stays open keeps the last one from emptying the
      ** WAL: half of the pages stay there. */
      keep = openDb(&ours, zFile, 0);
      execute(keep, "PRAGMA wal_autocheckpoint=0;"
                    "UPDATE t SET i=i+1 WHERE id%2;"
                    "UPDATE big SET b=b+1 WHERE rowid%50=0;");
    }
    for(i=0; i<nQuery; i+=3){
      eFault = FAULT_EIO;
      nInjected += tryQuery("shim", zFile, azQuery[i], 0);
      nInjected += tryQuery("shim", zFile, azQuery[i], 1);
    }
    replaceCalls(pUnix);
    for(i=0; i<nQuery; i++){
      static const int aFault[] = {
        FAULT_EIO, FAULT_EINTR, FAULT_SHORT, FAULT_END
      };
      int k;
      for(k=0; k<4; k++){
        eFault = aFault[k];
        nInjected += tryQuery(0, zFile, azQuery[i], 0);
        if( eFault==FAULT_EIO ){
          nInjected += tryQuery(0, zFile, azQuery[i], 1);
        }
      }
    }
    pUnix->xSetSystemCall(pUnix, 0, 0);
    if( iDb==0 && hasEngine() ){
      check(nLarge>0, "no large read was seen: the file was not read directly");
    }
    sqlite3_close(keep);
    removeDb(zFile);
  }
  check(nInjected>nQuery*20, "only %d reads failed", nInjected);
  return finish();
}
