/*
** A VFS for databases in memory that several connections share: SQLite's
** "memdb" for names below HPGO_MEMORY, and SQLite's default for all others. With
** memdb alone ATTACH would look for its file in memory as well, because SQLite
** attaches by the VFS of the main database. And PRAGMA locking_mode is without
** effect, as for other databases in memory: memdb would lock the other
** connections out.
*/
#include "hpgo.h"
#include <string.h>

static sqlite3_vfs *pMemdb, *pDefault;
static sqlite3_io_methods methods;   /* memdb's, but for xFileControl */
static int (*xMemdbControl)(sqlite3_file*, int, void*);

static int memoryControl(sqlite3_file *pFile, int op, void *pArg){
  if( op==SQLITE_FCNTL_PRAGMA ){
    char **azArg = (char**)pArg;
    if( sqlite3_stricmp(azArg[1], "locking_mode")==0 ){
      azArg[0] = sqlite3_mprintf("normal");
      return azArg[0] ? SQLITE_OK : SQLITE_NOMEM;
    }
  }
  return xMemdbControl(pFile, op, pArg);
}

static int isMemory(const char *zName){
  return zName && strncmp(zName, HPGO_MEMORY, sizeof(HPGO_MEMORY)-1)==0;
}

static int memoryOpen(sqlite3_vfs *pVfs, const char *zName, sqlite3_file *pFile,
                      int flags, int *pOut){
  int rc;
  (void)pVfs;
  if( !isMemory(zName) ) return pDefault->xOpen(pDefault, zName, pFile, flags, pOut);
  rc = pMemdb->xOpen(pMemdb, zName, pFile, flags, pOut);
  if( rc==SQLITE_OK ) pFile->pMethods = &methods;
  return rc;
}

/* memdb's methods, which a file has to be opened for. */
static int readMethods(void){
  sqlite3_file *pFile = sqlite3_malloc(pMemdb->szOsFile);
  int out, rc;
  if( pFile==0 ) return SQLITE_NOMEM;
  memset(pFile, 0, pMemdb->szOsFile);
  rc = pMemdb->xOpen(pMemdb, HPGO_MEMORY "methods", pFile,
       SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE|SQLITE_OPEN_MAIN_DB, &out);
  if( rc==SQLITE_OK ){
    methods = *pFile->pMethods;
    xMemdbControl = methods.xFileControl;
    methods.xFileControl = memoryControl;
    pFile->pMethods->xClose(pFile);
  }
  sqlite3_free(pFile);
  return rc;
}

static int memoryDelete(sqlite3_vfs *pVfs, const char *zName, int bSync){
  (void)pVfs;
  return isMemory(zName) ? SQLITE_OK : pDefault->xDelete(pDefault, zName, bSync);
}

static int memoryAccess(sqlite3_vfs *pVfs, const char *zName, int flags,
                        int *pOut){
  sqlite3_vfs *p = isMemory(zName) ? pMemdb : pDefault;
  (void)pVfs;
  return p->xAccess(p, zName, flags, pOut);
}

static int memoryFullPathname(sqlite3_vfs *pVfs, const char *zName, int n,
                              char *zOut){
  sqlite3_vfs *p = isMemory(zName) ? pMemdb : pDefault;
  (void)pVfs;
  return p->xFullPathname(p, zName, n, zOut);
}

int hpgo_memory_vfs(void){
  static sqlite3_vfs vfs;
  int rc = sqlite3_initialize();
  if( rc!=SQLITE_OK ) return rc;
  pMemdb = sqlite3_vfs_find("memdb");
  pDefault = sqlite3_vfs_find(0);
  if( pMemdb==0 || pDefault==0 ) return SQLITE_NOTFOUND;
  rc = readMethods();
  if( rc!=SQLITE_OK ) return rc;
  /* Whatever does not have to do with names is the default's, which finds
  ** itself by pAppData. */
  vfs = *pDefault;
  vfs.pNext = 0;
  vfs.zName = HPGO_MEMORY_VFS;
  if( vfs.szOsFile<pMemdb->szOsFile ) vfs.szOsFile = pMemdb->szOsFile;
  vfs.xOpen = memoryOpen;
  vfs.xDelete = memoryDelete;
  vfs.xAccess = memoryAccess;
  vfs.xFullPathname = memoryFullPathname;
  return sqlite3_vfs_register(&vfs, 0);
}
