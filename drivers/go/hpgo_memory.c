/*
** A VFS for databases in memory that several connections share: SQLite's
** "memdb" for names below HPGO_MEMORY, and SQLite's default for all others. With
** memdb alone ATTACH would look for its file in memory as well, because SQLite
** attaches by the VFS of the main database.
*/
#include "hpgo.h"
#include <string.h>

static sqlite3_vfs *pMemdb, *pDefault;

static int isMemory(const char *zName){
  return zName && strncmp(zName, HPGO_MEMORY, sizeof(HPGO_MEMORY)-1)==0;
}

static int memoryOpen(sqlite3_vfs *pVfs, const char *zName, sqlite3_file *pFile,
                      int flags, int *pOut){
  sqlite3_vfs *p = isMemory(zName) ? pMemdb : pDefault;
  (void)pVfs;
  return p->xOpen(p, zName, pFile, flags, pOut);
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
