/*
** 2026-11-22
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A VFS whose files are in memory, and which can tell what a disk might hold
** if the power failed now.
**
** A file has two images: what programs read (aNow), and what is certainly on
** the disk (aDisk).  A write or truncation changes the first and is kept in a
** list; xSync brings the second up to date and empties the list.
** powerOutage() copies all files of one database under another name as an
** outage might leave them: aDisk with any of the operations in the list, done
** in whole, in part (each sector by itself), or with bytes in a sector that
** nobody wrote.  That is what SQLite says it expects from a disk
** (https://sqlite.org/atomiccommit.html), no more: a sector that was not
** being written is as it was, with power.bSafe each byte.
**
** A file that was made may be gone unless it was synced, since SQLite then
** syncs the folder; one that was deleted without syncing the folder may be
** there again, until the folder is synced for another file, or another file
** is cut short: SQLite relies on the order of these two, which is kept where
** changes of folders and of sizes go through one log.
**
** Locks always succeed: one connection at a time writes.  Shared memory is
** in the file, and is gone after an outage.
*/
#include <stdlib.h>
#include <string.h>
#include "crash.h"

#define MX_FILE    64        /* Most files */
#define SZ_REGION  32768     /* Bytes of a region of shared memory */
#define MX_REGION  64

struct Power power;

typedef struct Image Image;
struct Image {
  unsigned char *a;
  i64 n;                     /* Size of the file */
  i64 nAlloc;
};

/* A change that is not synced: a write, or if a is NULL a truncation */
typedef struct Change Change;
struct Change {
  unsigned char *a;
  i64 i;                     /* Where it is written; the new size */
  int n;
};

typedef struct Disk Disk;
struct Disk {
  char zName[300];           /* Empty: not in use */
  int nRef;                  /* How often it is open */
  int bNow;                  /* It exists */
  int bDisk;                 /* It certainly exists on the disk */
  int bDeleteOnClose;
  Image now;
  Image disk;
  Change *aChange;
  int nChange;
  int nAllocChange;
  char *apRegion[MX_REGION];
};
static Disk aDisk[MX_FILE];

typedef struct PowerFile PowerFile;
struct PowerFile {
  sqlite3_file base;         /* Must be first */
  Disk *p;
};
#define DISK(pFile) (((PowerFile*)(pFile))->p)

/********************************** images ********************************/

static void imageSize(Image *p, i64 n){
  if( n>p->nAlloc ){
    p->nAlloc = n + n/2 + 4096;
    p->a = realloc(p->a, p->nAlloc);
    if( p->a==0 ) abort();
  }
  if( n>p->n ) memset(&p->a[p->n], 0, n - p->n);
  p->n = n;
}

static void imageWrite(Image *p, const void *a, int n, i64 i){
  if( i+n>p->n ) imageSize(p, i+n);
  memcpy(&p->a[i], a, n);
}

static void imageCopy(Image *pTo, const Image *pFrom){
  pTo->n = 0;
  imageSize(pTo, pFrom->n);
  if( pFrom->n ) memcpy(pTo->a, pFrom->a, pFrom->n);
}

static void forgetChanges(Disk *p){
  int i;
  for(i=0; i<p->nChange; i++) free(p->aChange[i].a);
  p->nChange = 0;
}

static void addChange(Disk *p, const void *a, int n, i64 i){
  Change *pChange;
  if( p->nChange>=p->nAllocChange ){
    p->nAllocChange = p->nAllocChange*2 + 100;
    p->aChange = realloc(p->aChange, p->nAllocChange*sizeof(Change));
    if( p->aChange==0 ) abort();
  }
  pChange = &p->aChange[p->nChange++];
  pChange->i = i;
  pChange->n = n;
  pChange->a = 0;
  if( a ){
    pChange->a = malloc(n);
    if( pChange->a==0 ) abort();
    memcpy(pChange->a, a, n);
  }
}

static Disk *findDisk(const char *zName){
  int i;
  for(i=0; i<MX_FILE; i++){
    if( aDisk[i].zName[0] && strcmp(aDisk[i].zName, zName)==0 ){
      return &aDisk[i];
    }
  }
  return 0;
}

static Disk *newDisk(const char *zName){
  Disk *p = findDisk(zName);
  int i;
  for(i=0; p==0 && i<MX_FILE; i++){
    if( aDisk[i].zName[0]==0 ) p = &aDisk[i];
  }
  if( p==0 ) abort();
  snprintf(p->zName, sizeof(p->zName), "%s", zName);
  return p;
}

/*
** Forget a file.  What it had allocated is used again.
*/
static void clearDisk(Disk *p){
  int i;
  forgetChanges(p);
  p->now.n = p->disk.n = 0;
  p->bNow = p->bDisk = p->nRef = p->bDeleteOnClose = 0;
  p->zName[0] = 0;
  for(i=0; i<MX_REGION; i++){
    free(p->apRegion[i]);
    p->apRegion[i] = 0;
  }
}

void powerClear(void){
  int i;
  for(i=0; i<MX_FILE; i++) clearDisk(&aDisk[i]);
  memset(&power, 0, sizeof(power));
}

/*
** The folder is synced: files that were deleted are gone for good.
*/
static void syncFolder(void){
  int i;
  for(i=0; i<MX_FILE; i++) if( !aDisk[i].bNow ) clearDisk(&aDisk[i]);
}

/*
** Bytes of all files.
*/
i64 powerBytes(void){
  i64 n = 0;
  int i;
  for(i=0; i<MX_FILE; i++) if( aDisk[i].bNow ) n += aDisk[i].now.n;
  return n;
}

/********************************** outages *******************************/

/*
** Carry out part of change p on an image.  How much of it, and of which
** sectors, is as the random numbers want.
*/
static void tornChange(Image *pImage, const Change *p, Rng *r, int eHow){
  i64 i;
  int nSector = power.szSector;
  if( p->a==0 ){
    if( rngBelow(r, 2) ) imageSize(pImage, p->i);
    return;
  }
  for(i=p->i - p->i%nSector; i<p->i+p->n; i+=nSector){
    i64 iFrom = i<p->i ? p->i : i;
    i64 iTo = i+nSector<p->i+p->n ? i+nSector : p->i+p->n;
    if( rngBelow(r, 2) ){
      imageWrite(pImage, &p->a[iFrom-p->i], iTo-iFrom, iFrom);
    }else if( eHow==1 && rngBelow(r, 3)==0 ){
      /* Neither what was there nor what was written */
      i64 k = power.bSafe ? iFrom : i;
      i64 kEnd = power.bSafe ? iTo : i+nSector;
      if( kEnd>pImage->n ) kEnd = pImage->n;
      for(; k<kEnd; k++) pImage->a[k] = (unsigned char)rngNext(r);
    }
  }
}

static void outageOne(Rng *r, Disk *p, const char *zTo){
  Disk *pTo = newDisk(zTo);
  int eHow = rngBelow(r, 6);
  int i, nDone;
  Image *pImage;
  clearDisk(pTo);
  /* Was it made, or deleted, for certain? */
  if( !p->bNow && !(p->bDisk && rngBelow(r, 2)) ) return;
  if( p->bNow && !p->bDisk && rngBelow(r, 2) ) return;
  pTo = newDisk(zTo);
  pTo->bNow = pTo->bDisk = 1;
  pImage = &pTo->now;
  imageCopy(pImage, &p->disk);
  nDone = p->nChange ? rngBelow(r, p->nChange+1) : 0;
  for(i=0; i<p->nChange; i++){
    const Change *pChange = &p->aChange[i];
    int bWhole = 0, bTorn = 0;
    switch( eHow ){
      case 0: bWhole = 1;                       break;   /* All */
      case 1:                                            /* With garbage */
      case 2: bTorn = 1;                        break;   /* In parts */
      case 3: bWhole = rngBelow(r, 2);          break;   /* Any of them */
      case 4: bWhole = i<nDone; bTorn = i==nDone; break; /* The first */
      case 5: bWhole = i>nDone; bTorn = i==nDone; break; /* The last */
    }
    if( bTorn ){
      tornChange(pImage, pChange, r, eHow);
    }else if( bWhole && pChange->a==0 ){
      imageSize(pImage, pChange->i);
    }else if( bWhole ){
      imageWrite(pImage, pChange->a, pChange->n, pChange->i);
    }
  }
  imageCopy(&pTo->disk, pImage);
}

/*
** The database zFrom, its journal and its WAL file, as an outage might leave
** them, become the database zTo.  One time in eight nothing that was not
** synced has come to the disk.
*/
void powerOutage(Rng *r, const char *zFrom, const char *zTo){
  static const char *const azSuffix[] = { "", "-journal", "-wal" };
  int bNothing = rngBelow(r, 8)==0;
  int i;
  for(i=0; i<3; i++){
    char zName[300];
    Disk *p;
    snprintf(zName, sizeof(zName), "%s%s", zTo, azSuffix[i]);
    p = findDisk(zName);
    if( p ) clearDisk(p);
    snprintf(zName, sizeof(zName), "%s%s", zFrom, azSuffix[i]);
    p = findDisk(zName);
    if( p==0 ) continue;
    snprintf(zName, sizeof(zName), "%s%s", zTo, azSuffix[i]);
    if( !bNothing ){
      outageOne(r, p, zName);
    }else if( p->bDisk ){
      Disk *pTo = newDisk(zName);
      imageCopy(&pTo->now, &p->disk);
      imageCopy(&pTo->disk, &p->disk);
      pTo->bNow = pTo->bDisk = 1;
    }
  }
}

/********************************** methods *******************************/

/*
** Count a request.  Is it to fail?
*/
static int event(void){
  power.nEvent++;
  if( power.xEvent ) power.xEvent();
  if( power.nFail==0 || --power.nFail>0 ) return 0;
  power.nFailed++;
  return 1;
}

static int powerClose(sqlite3_file *pFile){
  Disk *p = DISK(pFile);
  if( --p->nRef==0 && p->bDeleteOnClose ) clearDisk(p);
  return SQLITE_OK;
}

static int powerRead(sqlite3_file *pFile, void *a, int n, i64 i){
  Image *p = &DISK(pFile)->now;
  if( power.nFail && event() ) return SQLITE_IOERR_READ;
  if( i+n<=p->n ){
    memcpy(a, &p->a[i], n);
    return SQLITE_OK;
  }
  memset(a, 0, n);
  if( i<p->n ) memcpy(a, &p->a[i], p->n-i);
  return SQLITE_IOERR_SHORT_READ;
}

static int powerWrite(sqlite3_file *pFile, const void *a, int n, i64 i){
  Disk *p = DISK(pFile);
  if( event() ) return SQLITE_IOERR_WRITE;
  if( power.nLimit && i+n>p->now.n
   && powerBytes() + i+n - p->now.n>power.nLimit
  ){
    power.nFailed++;
    return SQLITE_FULL;
  }
  imageWrite(&p->now, a, n, i);
  if( !p->bDeleteOnClose && !power.bForget ) addChange(p, a, n, i);
  return SQLITE_OK;
}

static int powerTruncate(sqlite3_file *pFile, i64 n){
  Disk *p = DISK(pFile);
  if( event() ) return SQLITE_IOERR_TRUNCATE;
  if( n<p->now.n ) syncFolder();
  imageSize(&p->now, n);
  if( !p->bDeleteOnClose && !power.bForget ) addChange(p, 0, 0, n);
  return SQLITE_OK;
}

static int powerSync(sqlite3_file *pFile, int flags){
  Disk *p = DISK(pFile);
  int i;
  (void)flags;
  if( event() ) return SQLITE_IOERR_FSYNC;
  if( power.bLie ) return SQLITE_OK;
  for(i=0; i<p->nChange; i++){
    const Change *pChange = &p->aChange[i];
    if( pChange->a ){
      imageWrite(&p->disk, pChange->a, pChange->n, pChange->i);
    }else{
      imageSize(&p->disk, pChange->i);
    }
  }
  forgetChanges(p);
  if( !p->bDisk ) syncFolder();
  p->bDisk = 1;
  return SQLITE_OK;
}

static int powerFileSize(sqlite3_file *pFile, i64 *pn){
  *pn = DISK(pFile)->now.n;
  return SQLITE_OK;
}
static int powerLock(sqlite3_file *pFile, int e){
  (void)pFile; (void)e;
  return SQLITE_OK;
}
/*
** Nobody else has it reserved: a journal that is found is hot.
*/
static int powerReserved(sqlite3_file *pFile, int *pb){
  (void)pFile;
  *pb = 0;
  return SQLITE_OK;
}
static int powerControl(sqlite3_file *pFile, int op, void *pArg){
  (void)pFile; (void)op; (void)pArg;
  return SQLITE_NOTFOUND;
}
static int powerSector(sqlite3_file *pFile){
  (void)pFile;
  return power.szSector;
}
static int powerDevice(sqlite3_file *pFile){
  (void)pFile;
  return power.bSafe ? SQLITE_IOCAP_POWERSAFE_OVERWRITE : 0;
}

static int powerShmMap(
  sqlite3_file *pFile, int i, int n, int bExtend, void volatile **pp
){
  Disk *p = DISK(pFile);
  if( n!=SZ_REGION || i>=MX_REGION ) return SQLITE_IOERR_SHMMAP;
  if( p->apRegion[i]==0 && bExtend ) p->apRegion[i] = calloc(1, n);
  *pp = p->apRegion[i];
  return SQLITE_OK;
}
static int powerShmLock(sqlite3_file *pFile, int i, int n, int flags){
  (void)pFile; (void)i; (void)n; (void)flags;
  return SQLITE_OK;
}
static void powerShmBarrier(sqlite3_file *pFile){
  (void)pFile;
}
static int powerShmUnmap(sqlite3_file *pFile, int bDelete){
  Disk *p = DISK(pFile);
  int i;
  for(i=0; bDelete && i<MX_REGION; i++){
    free(p->apRegion[i]);
    p->apRegion[i] = 0;
  }
  return SQLITE_OK;
}

static int powerOpen(
  sqlite3_vfs *pVfs, sqlite3_filename zName, sqlite3_file *pFile,
  int flags, int *pFlags
){
  static const sqlite3_io_methods methods = {
    2, powerClose, powerRead, powerWrite, powerTruncate, powerSync,
    powerFileSize, powerLock, powerLock, powerReserved, powerControl,
    powerSector, powerDevice, powerShmMap, powerShmLock, powerShmBarrier,
    powerShmUnmap, 0, 0
  };
  static unsigned nTemp = 0;
  char zTemp[40];
  Disk *p;
  (void)pVfs;
  pFile->pMethods = 0;
  if( zName==0 ){
    snprintf(zTemp, sizeof(zTemp), "temporary %u", nTemp++);
    zName = zTemp;
  }
  p = findDisk(zName);
  if( p==0 || !p->bNow ){
    if( !(flags & SQLITE_OPEN_CREATE) ) return SQLITE_CANTOPEN;
    if( p==0 ) p = newDisk(zName);
    forgetChanges(p);
    p->now.n = p->disk.n = 0;
    p->bDisk = 0;
    p->bNow = 1;
  }
  p->bDeleteOnClose = (flags & SQLITE_OPEN_DELETEONCLOSE)!=0;
  p->nRef++;
  DISK(pFile) = p;
  pFile->pMethods = &methods;
  if( pFlags ) *pFlags = flags;
  return SQLITE_OK;
}

static int powerDelete(sqlite3_vfs *pVfs, const char *zName, int bSync){
  Disk *p = findDisk(zName);
  (void)pVfs;
  if( p==0 || !p->bNow ) return SQLITE_IOERR_DELETE_NOENT;
  if( event() ) return SQLITE_IOERR_DELETE;
  p->bNow = 0;
  if( bSync ) syncFolder();
  else if( !p->bDisk ) clearDisk(p);
  return SQLITE_OK;
}

static int powerAccess(
  sqlite3_vfs *pVfs, const char *zName, int flags, int *pb
){
  Disk *p = findDisk(zName);
  (void)pVfs; (void)flags;
  *pb = p!=0 && p->bNow && (flags!=SQLITE_ACCESS_EXISTS || p->now.n>0);
  return SQLITE_OK;
}

static int powerFullPathname(
  sqlite3_vfs *pVfs, const char *zName, int n, char *zOut
){
  (void)pVfs;
  snprintf(zOut, n, "%s", zName);
  return SQLITE_OK;
}

static int powerRandomness(sqlite3_vfs *pVfs, int n, char *z){
  static Rng r;
  int i;
  (void)pVfs;
  for(i=0; i<n; i++) z[i] = (char)rngNext(&r);
  return n;
}
static int powerSleep(sqlite3_vfs *pVfs, int n){
  (void)pVfs;
  return n;
}
static int powerTime(sqlite3_vfs *pVfs, double *pr){
  (void)pVfs;
  *pr = 2461000.5;
  return SQLITE_OK;
}

/*
** Make the VFS "power" known to a library.  The files are the same for both.
*/
void powerRegister(const Lib *pLib){
  static sqlite3_vfs aVfs[2];
  sqlite3_vfs *p = &aVfs[pLib==&ours];
  p->iVersion = 1;
  p->szOsFile = sizeof(PowerFile);
  p->mxPathname = 250;
  p->zName = "power";
  p->xOpen = powerOpen;
  p->xDelete = powerDelete;
  p->xAccess = powerAccess;
  p->xFullPathname = powerFullPathname;
  p->xRandomness = powerRandomness;
  p->xSleep = powerSleep;
  p->xCurrentTime = powerTime;
  pLib->vfs_register(p, 0);
}
