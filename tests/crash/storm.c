/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** A storm: long-lived connections, to whom anything happens to their files.
**
** There are two worlds, each with a folder, the same files in it, and the same processes
** (actor.c) that do the same in the same order, one step after the other:
**
**              world of ours        world of stock
**    process 0   ours, 3 connections    stock
**    process 1   ours, 1 connection     stock
**    process 2   stock, 2 connections   stock
**    process 3   stock, opened anew each time: the judge
**
** After a step most connections are asked (azAsk), those of ours several times, so that columns
** and pages are kept.  Whatever is said, errors included, has to be the same in both worlds.
**
** A step is a function of the seed and its number, and of nothing that came of the others.  So
** any of them can be left out: a sequence that fails is made shorter before it is printed.
**
** A step may be: an UPDATE of few rows or all, INSERT at the end or in between, DELETE, DROP and
** CREATE, VACUUM, ROLLBACK, SAVEPOINT, a transaction over several steps; a checkpoint, another
** journal_mode, locking_mode, cache_size, mmap_size; a connection that is closed and opened
** again, a process that is killed within a transaction; a backup over a file; and what no
** connection notices: a file overwritten by one with the same change counter, or replaced.
**
** After that SQLite's own page cache may be out of date, so that what a connection says depends on
** which pages it has.  Until somebody commits only new connections are compared.  With
** journal_mode=OFF what a ROLLBACK leaves depends on what was spilled: there connections of ours
** have to say what the judge does, and the storm is over.
**
** Where all have to be in one process (unix-excl, unix-none) they are in process 0.
**
** Spoiled, rows of the world of ours change in secret.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "crash.h"

#define MX_STEP    60        /* Steps of a storm, at most */
#define N_ACTOR    4
#define N_SLOT     6
#define JUDGE      3
#define SHRINK     40        /* Seconds for making a sequence shorter */
#define MX_SECOND  200       /* Longest time for one */
#define MX_REPLY   64000
#define MX_LOG     4000      /* Commands of a storm that are remembered, at most */

/* A process in one of the worlds */
typedef struct Actor Actor;
struct Actor {
  pid_t pid;
  int fdTo;
  FILE *pFrom;
};

/* A long-lived connection, in both worlds */
typedef struct Slot Slot;
struct Slot {
  int iActor, iConn;
  int iFile;                 /* 0 or 1 */
  int bOpen;
  int bOff;                  /* journal_mode may be OFF */
  int bMemory;               /* ... or MEMORY */
  int bTx;                   /* 1: it has a transaction open, 2: that has written */
};

typedef struct Storm Storm;
struct Storm {
  u64 iSeed;
  const char *zVfs;
  const char *zTest;         /* HPSQLITE_TEST of process 0 and 1 */
  const char *zExtent;
  int szPage, nRow, nWide;
  int iWeather;              /* Which steps there are: aWeather[] */
  int bOne;                  /* All are in process 0 */
  int nFile;
  const char *zJournal;      /* At first */
  int bPsow;                 /* psow=0 now and then */
  int mAsk;                  /* Which of azAsk[] are asked */
  char azDir[2][400];
  Actor aaActor[2][N_ACTOR];
  Slot aSlot[N_SLOT];
  int iExclusive;            /* This slot may have locking_mode=EXCLUSIVE, or -1 */
  int bEnd;                  /* Nothing more can be compared */
  int nBad;
  Rng r;                     /* Of this step */
  int bQuiet;
  char *azReply[2];
  char *azLog[MX_LOG];
  int nLog;
};

/*
** What kinds of steps there are: how many in a hundred of each of aStep[] at the end, and after how many in a
** hundred connections are asked.  Seldom, and they do not see each commit.
*/
#define N_KIND 15
static const struct Weather {
  const char *zName;
  int bOther;                /* Half of it is done by process 2 */
  const char *zOften;        /* Changes that come often: letters of azChange[] */
  int nAsk;
  int nSlot;                 /* How many in a hundred connections are asked then */
  int aPercent[N_KIND];
} aWeather[] = {
  { "all",       0, "",          75, 70, { 34, 5, 3, 12, 10, 5, 7, 5, 5, 3, 2, 4, 2, 1, 2 } },
  { "log",       1, "",          60, 70, { 43, 4, 2, 10, 27, 1, 1, 3, 5, 2, 0, 0, 0, 0, 2 } },
  /* A WAL that is no longer than the one before */
  { "seldom",    1, "cghiijmmp", 40, 70, { 50, 2, 0,  2, 38, 0, 0, 3, 4, 1, 0, 0, 0, 0, 0 } },
  /* All leaves change, then their number, and nothing is in memory meanwhile */
  { "waves",     0, "aaalmms",   50, 20, { 50, 0, 0,  0, 10, 0, 0, 0, 5, 0, 0, 0, 0, 0,35 } },
  { "exclusive", 0, "aafiic",    60, 70, { 40, 5, 2,  4,  2, 9,30, 3, 4, 0, 0, 0, 0, 1, 0 } },
};
#define N_WEATHER ((int)(sizeof(aWeather)/sizeof(aWeather[0])))

/* What an attempt tells whoever has made it: in memory of both */
static struct Told {
  int iStep;                 /* The step at which it failed */
  i64 nCommand;
} *pTold;

static int below(Storm *p, int n){ return rngBelow(&p->r, n); }
static int chance(Storm *p, int nPercent){ return below(p, 100)<nPercent; }

/******************************** processes *******************************/

static void actorStart(Storm *p, int iWorld, int i){
  Actor *pActor = &p->aaActor[iWorld][i];
  int bOurs = iWorld==0 && (i<2 || p->bOne) && i!=JUDGE;
  int aTo[2], aFrom[2];
  if( pipe2(aTo, O_CLOEXEC) || pipe2(aFrom, O_CLOEXEC) ) abort();
  fflush(stdout);
  pActor->pid = fork();
  if( pActor->pid<0 ) abort();
  if( pActor->pid==0 ){
    dup2(aTo[0], 0);
    dup2(aFrom[1], 1);
    if( chdir(p->azDir[iWorld]) ) _exit(3);
    setenv("HPSQLITE_TEST", bOurs ? p->zTest : "", 1);
    execl("/proc/self/exe", "crash", args.zStock, args.zOurs, "actor",
          bOurs ? "ours" : "stock", (char*)0);
    _exit(3);
  }
  close(aTo[0]);
  close(aFrom[1]);
  pActor->fdTo = aTo[1];
  pActor->pFrom = fdopen(aFrom[0], "r");
}

/* Whether it has ended by itself */
static int actorEnd(Storm *p, int iWorld, int i){
  Actor *pActor = &p->aaActor[iWorld][i];
  int status = 0;
  close(pActor->fdTo);
  waitpid(pActor->pid, &status, 0);
  fclose(pActor->pFrom);
  return WIFEXITED(status);
}

/* Has a connection a transaction open? */
static int isTx(Storm *p){
  int i, n = 0;
  for(i=0; i<N_SLOT; i++) n |= p->aSlot[i].bTx;
  return n;
}

static void bad(Storm *p, const char *zFormat, ...){
  char zWhat[1000];
  va_list ap;
  va_start(ap, zFormat);
  vsnprintf(zWhat, sizeof(zWhat), zFormat, ap);
  va_end(ap);
  if( p->nBad++==0 && p->bQuiet==0 ) failed("%s", zWhat);
  p->bEnd = 1;
}

/* Where two replies differ, from the answer on in which they do */
static void showOther(const char *zOurs, const char *zStock){
  int i = 0, iFrom;
  while( zOurs[i] && zOurs[i]==zStock[i] ) i++;
  for(iFrom=i; iFrom>0 && zOurs[iFrom-1]!=';'; iFrom--){}
  printf("  ours:  %.400s\n  stock: %.400s\n", &zOurs[iFrom], &zStock[iFrom]);
}

/* A command for process iActor in both worlds.  bSame: they have to say the same */
static void tell(Storm *p, int iActor, int bSame, const char *zFormat, ...){
  char zLine[8000];
  va_list ap;
  int i;
  if( p->bEnd ) return;
  va_start(ap, zFormat);
  vsnprintf(zLine, sizeof(zLine)-1, zFormat, ap);
  va_end(ap);
  if( p->nLog<MX_LOG ){
    char *z = malloc(strlen(zLine)+30);
    sprintf(z, "process %d%s: %s", iActor, iActor==JUDGE ? " (judge)" : "", zLine);
    p->azLog[p->nLog++] = z;
  }
  pTold->nCommand++;
  strcat(zLine, "\n");
  for(i=0; i<2; i++){
    const char *z = zLine;
    /* Stock says the same each time */
    if( zLine[0]=='a' && i==1 ) zLine[4] = '1';
    if( write(p->aaActor[i][iActor].fdTo, z, strlen(z))<0 ) bad(p, "process %d has ended", iActor);
  }
  for(i=0; i<2; i++){
    char *z = p->azReply[i];
    z[0] = 0;
    if( zLine[0]!='k' && fgets(z, MX_REPLY, p->aaActor[i][iActor].pFrom)==0 ){
      bad(p, "process %d of %s has ended by itself at: %.300s", iActor, i ? "stock" : "ours", zLine);
    }
    z[strcspn(z, "\n")] = 0;
  }
  if( bSame && p->bEnd==0 && strcmp(p->azReply[0], p->azReply[1])!=0 ){
    /* A transaction that spills locks others out.  When it does depends on what is read through the
    ** page cache, so here the worlds part. */
    if( isTx(p) && (strstr(p->azReply[0], "error 5") || strstr(p->azReply[1], "error 5")
                 || p->azReply[0][0]=='5' || p->azReply[1][0]=='5')
    ){
      p->bEnd = 1;
      return;
    }
    bad(p, "other answers from process %d at: %.300s", iActor, zLine);
    if( p->bQuiet==0 ) showOther(p->azReply[0], p->azReply[1]);
  }
}

/********************************** slots *********************************/

static const char *fileOf(int iFile){ return iFile ? "two.db" : "one.db"; }

static void slotOpen(Storm *p, Slot *pSlot){
  int bSafe = p->bPsow==0 || chance(p, 40);
  tell(p, pSlot->iActor, 1, "o %d file:%s?vfs=%s%s", pSlot->iConn, fileOf(pSlot->iFile), p->zVfs,
       bSafe ? "" : "&psow=0");
  pSlot->bOpen = p->azReply[0][0]=='0';
  pSlot->bOff = pSlot->bMemory = pSlot->bTx = 0;
  tell(p, pSlot->iActor, 1, "e %d PRAGMA synchronous=%s", pSlot->iConn,
       bSafe || chance(p, 30) ? "off" : "full");   /* Frames are only padded before a sync */
  if( p->zExtent ) tell(p, pSlot->iActor, 0, "e %d PRAGMA hp_extent=%s", pSlot->iConn, p->zExtent);
}

static void slotClose(Storm *p, Slot *pSlot){
  if( pSlot->bOpen ) tell(p, pSlot->iActor, 1, "x %d", pSlot->iConn);
  pSlot->bOpen = 0;
  if( p->iExclusive>=0 && pSlot==&p->aSlot[p->iExclusive] ) p->iExclusive = -1;
}

/* SQL on a slot, as on any connection */
static void sql(Storm *p, Slot *pSlot, const char *zFormat, ...)
    __attribute__((format(printf,3,4)));
static void sql(Storm *p, Slot *pSlot, const char *zFormat, ...){
  char zSql[2000];
  va_list ap;
  va_start(ap, zFormat);
  vsnprintf(zSql, sizeof(zSql), zFormat, ap);
  va_end(ap);
  tell(p, pSlot->iActor, 1, "e %d %s", pSlot->iConn, zSql);
  /* After an error it is rolled back: without a journal what is left of it is
  ** what had been spilled */
  if( p->azReply[0][0]!='0' ){
    if( pSlot->bOff && pSlot->bTx==2 ) p->bEnd = 1;
    pSlot->bTx = 0;
  }
}

static void ask(Storm *p, Slot *pSlot, int bSame){
  /* Often the same again, so that it is kept; a column that is asked for once is not */
  int m = chance(p, 50) ? p->mAsk : p->mAsk & below(p, 4096);
  tell(p, pSlot->iActor, bSame, "a %d %d %d %d", pSlot->iConn, 1+below(p, 3),
       below(p, 60)*p->nRow/50, m ? m : 1);
}

/* Do all those that there are, some of the time */
static void askSome(Storm *p, int nPercent){
  int i;
  for(i=0; i<N_SLOT; i++){
    if( p->aSlot[i].bOpen && chance(p, nPercent) ) ask(p, &p->aSlot[i], 1);
  }
}

/* A slot that is open, or NULL */
static Slot *anySlot(Storm *p){
  int i, k = aWeather[p->iWeather].bOther && chance(p, 50) ? 4 : below(p, N_SLOT);
  for(i=0; i<N_SLOT; i++){
    Slot *pSlot = &p->aSlot[(i+k)%N_SLOT];
    if( pSlot->bOpen ) return pSlot;
  }
  return 0;
}

/* A stock connection of its own looks at a file */
static void judge(Storm *p, int iFile){
  if( strcmp(p->zVfs, "unix-excl")==0 ) return;
  tell(p, JUDGE, 1, "o 0 file:%s?vfs=%s", fileOf(iFile), p->zVfs);
  tell(p, JUDGE, 1, "a 0 1 %d 4095", p->nRow/3);
  tell(p, JUDGE, 1, "x 0");
}

/********************************** files *********************************/

static void worldFile(Storm *p, int iWorld, const char *zName, char *zOut){
  snprintf(zOut, 500, "%s/%s", p->azDir[iWorld], zName);
}

/* The bytes of a file, from malloc(3); NULL if it is not there */
static unsigned char *bytesOf(Storm *p, int iWorld, const char *zName, i64 *pn){
  char z[500];
  struct stat st;
  unsigned char *a;
  int fd;
  worldFile(p, iWorld, zName, z);
  fd = open(z, O_RDONLY|O_CLOEXEC);
  if( fd<0 || fstat(fd, &st) ) return 0;
  a = malloc(st.st_size+100);
  *pn = read(fd, a, st.st_size);
  close(fd);
  return a;
}

static void overwrite(Storm *p, int iWorld, const char *zName, const unsigned char *a, i64 n){
  char z[500];
  int fd;
  worldFile(p, iWorld, zName, z);
  fd = open(z, O_RDWR|O_CREAT|O_CLOEXEC, 0644);
  if( fd<0 || pwrite(fd, a, n, 0)!=n || ftruncate(fd, n) ) abort();
  close(fd);
}

/* Is the file that of a rollback journal in both worlds, and are there no others beside it? */
static int isAlone(Storm *p, int iFile){
  int i;
  for(i=0; i<2; i++){
    i64 n = 0;
    unsigned char *a = bytesOf(p, i, fileOf(iFile), &n);
    int bJournal = a && n>100 && a[18]==1;
    free(a);
    if( bJournal==0 ) return 0;
  }
  return 1;
}

/*
** Make new.db of a file, in which values are others.  Its change counter is the same if bSame, else
** greater.  Returns false if there is a WAL or a transaction.
*/
static int makeNew(Storm *p, int iFile, int bSame){
  unsigned char *aaOld[2];
  i64 n;
  int i;
  if( p->iExclusive>=0 || isTx(p) || !isAlone(p, iFile) ) return 0;
  for(i=0; i<2; i++){
    aaOld[i] = bytesOf(p, i, fileOf(iFile), &n);
    overwrite(p, i, "new.db", aaOld[i], n);
  }
  tell(p, JUDGE, 1, "o 0 file:new.db");
  tell(p, JUDGE, 1, "e 0 PRAGMA journal_mode=memory; PRAGMA synchronous=off;"
       "UPDATE t SET x=x+%d; UPDATE u SET n=n+%d", 1+below(p, 1000), 1+below(p, 9));
  tell(p, JUDGE, 1, "x 0");
  for(i=0; i<2 && bSame; i++){
    unsigned char *a = bytesOf(p, i, "new.db", &n);
    memcpy(&a[24], &aaOld[i][24], 4);
    memcpy(&a[92], &aaOld[i][92], 4);
    overwrite(p, i, "new.db", a, n);
    free(a);
  }
  for(i=0; i<2; i++) free(aaOld[i]);
  return 1;
}

/********************************** steps *********************************/

static void schema(Storm *p, Slot *pSlot, int nRow){
  sql(p, pSlot, "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS w(y, z);"
      "CREATE TABLE t(x INTEGER, s TEXT); CREATE TABLE u(id INTEGER PRIMARY KEY, g INT, n INT, r REAL, s TEXT);"
      "INSERT INTO w VALUES(1, 'a');"
      "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM k WHERE i<%d)"
      " INSERT INTO t SELECT %d+i, printf('%%0%dd', i) FROM k;"
      "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM k WHERE i<%d)"
      " INSERT INTO u SELECT i*10, i%%7, i*31%%1000, i%%1000/4.0, 'text '||(i%%50) FROM k; COMMIT",
      nRow, 1000000*(1+pSlot->iFile), p->nWide, nRow/2);
}

/* A change of rows: one statement */
static void change(Storm *p, char *z, int nByte){
  static const char *const azChange[] = {
    "UPDATE t SET x=x+%d",
    "UPDATE t SET x=x+%d WHERE rowid%%997=%d",
    "UPDATE t SET x=x+1+0*%d WHERE rowid=%d",
    "UPDATE t SET x=x+%d WHERE rowid%%5=%d%%5",
    "UPDATE t SET s=s||'longer %d' WHERE rowid%%499=%d%%499",
    "UPDATE u SET n=n+%d",
    "UPDATE u SET n=n+%d, s='text '||(%d%%60) WHERE id%%70=0",
    "UPDATE u SET r=r+%d WHERE id=%d*10",
    "UPDATE w SET y=y+%d",
    "INSERT INTO w SELECT x+%d, s FROM t LIMIT %d%%300",
    "DELETE FROM w WHERE rowid>%d%%5+1",
    "INSERT INTO t SELECT x+%d, s FROM t WHERE rowid%%90=%d%%90",
    "INSERT INTO t VALUES(%d, 'at the end')",
    "INSERT OR IGNORE INTO u SELECT id+1+%d%%9, g, n, r, s FROM u WHERE id%%130=0",
    "INSERT OR REPLACE INTO u SELECT id, g, n+%d, r, s FROM u WHERE id%%990=0",
    "DELETE FROM t WHERE rowid%%301=%d%%301",
    "DELETE FROM t WHERE rowid BETWEEN %d AND %d",
    "DELETE FROM u WHERE id BETWEEN %d AND %d+900",
    "DELETE FROM t WHERE rowid>(SELECT max(rowid) FROM t)-%d%%200",
  };
  const char *zOften = aWeather[p->iWeather].zOften;
  int a = 1+below(p, 900);
  int i = below(p, sizeof(azChange)/sizeof(azChange[0]));
  if( zOften[0] && chance(p, 80) ) i = zOften[below(p, (int)strlen(zOften))]-'a';
  snprintf(z, nByte, azChange[i], a, a+below(p, 90));
}

static void stepChange(Storm *p, Slot *pSlot){
  char z[300];
  int n = chance(p, 25) ? 2+below(p, 3) : 1;
  while( n-- ){
    change(p, z, sizeof(z));
    sql(p, pSlot, "%s", z);
  }
}

/* All leaves change, somebody sees that, and then their number does: nothing is in memory meanwhile */
static void stepWave(Storm *p, Slot *pSlot){
  Slot *pAsk = &p->aSlot[below(p, 2)];
  int i;
  if( pAsk->bOpen==0 ) return;
  sql(p, pSlot, "UPDATE t SET x=x+%d", 1+below(p, 9));
  if( chance(p, 80) ) tell(p, pAsk->iActor, 1, "a %d 1 1 1", pAsk->iConn);
  sql(p, pSlot, "INSERT INTO t SELECT x, s FROM t WHERE rowid<=%d", 1+below(p, 300));
  for(i=0; i<3; i++){
    if( chance(p, 80) ) tell(p, pAsk->iActor, 1, "a %d %d 1 %d", pAsk->iConn, 1+below(p, 3), i<2 ? 8 : 1);
  }
}

static void stepRollback(Storm *p, Slot *pSlot){
  char z[300], zOther[300];
  if( pSlot->bTx || pSlot->bOff ) return;
  change(p, z, sizeof(z));
  change(p, zOther, sizeof(zOther));
  switch( below(p, 3) ){
    case 0: sql(p, pSlot, "BEGIN; %s; %s; ROLLBACK", z, zOther); break;
    case 1: sql(p, pSlot, "BEGIN; %s; SAVEPOINT one; %s; ROLLBACK TO one; COMMIT", z, zOther); break;
    default: sql(p, pSlot, "SAVEPOINT one; %s; SAVEPOINT two; %s; RELEASE two; RELEASE one", z, zOther);
  }
}

/* With journal_mode=OFF: see above */
static void stepRollbackOff(Storm *p, Slot *pSlot){
  char *zJudge;
  if( isTx(p) || p->iExclusive>=0 || strcmp(p->zVfs, "unix-excl")==0 || !isAlone(p, pSlot->iFile) ) return;
  ask(p, pSlot, 1);
  sql(p, pSlot, "PRAGMA journal_mode=off; PRAGMA cache_size=%d", below(p, 2) ? 10 : -2000);
  sql(p, pSlot, "BEGIN; UPDATE t SET x=x+%d; ROLLBACK", 1+below(p, 9));
  tell(p, JUDGE, 0, "o 0 file:%s?vfs=%s", fileOf(pSlot->iFile), p->zVfs);
  tell(p, JUDGE, 0, "a 0 1 77 4095");
  zJudge = strdup(p->azReply[0]);
  tell(p, JUDGE, 0, "x 0");
  /* The first one may be told of the error */
  tell(p, pSlot->iActor, 0, "e %d SELECT 1 FROM w", pSlot->iConn);
  tell(p, pSlot->iActor, 0, "a %d 1 77 4095", pSlot->iConn);
  if( p->bEnd==0 && strcmp(zJudge, p->azReply[0]) ){
    bad(p, "other answers from process %d after a rollback without a journal", pSlot->iActor);
    if( p->bQuiet==0 ) showOther(p->azReply[0], zJudge);
  }
  free(zJudge);
  p->bEnd = 1;
}

static void stepSchema(Storm *p, Slot *pSlot){
  if( chance(p, 50) ){
    sql(p, pSlot, "VACUUM");
  }else{
    sql(p, pSlot, "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u");
    schema(p, pSlot, p->nRow/(1+below(p, 3)));
  }
}

/* A transaction over some steps; or its end */
static void stepTransaction(Storm *p, Slot *pSlot){
  int i;
  for(i=0; i<N_SLOT; i++){
    Slot *pOpen = &p->aSlot[i];
    if( pOpen->bTx==0 ) continue;
    sql(p, pOpen, pOpen->bTx==2 && pOpen->bOff==0 && chance(p, 40) ? "ROLLBACK" : "COMMIT");
    if( p->azReply[0][0]=='0' ) pOpen->bTx = 0;
    return;
  }
  if( strcmp(p->zVfs, "unix-none")==0 ) return;
  if( chance(p, 60) ){
    sql(p, pSlot, "BEGIN; SELECT count(*) FROM w");
    pSlot->bTx = p->azReply[0][0]=='0';
  }else{
    char z[300];
    change(p, z, sizeof(z));
    sql(p, pSlot, "BEGIN IMMEDIATE; %s", z);
    pSlot->bTx = p->azReply[0][0]=='0' ? 2 : 0;
  }
}

static void stepCheckpoint(Storm *p, Slot *pSlot){
  static const char *const azMode[] = { "passive", "full", "restart", "truncate" };
  sql(p, pSlot, "PRAGMA wal_checkpoint(%s)", azMode[below(p, 4)]);
  /* The next commit begins the WAL anew */
  if( chance(p, 40) ) sql(p, pSlot, "INSERT INTO w SELECT x, s FROM t LIMIT %d", 1+below(p, 300));
}

static void stepJournal(Storm *p, Slot *pSlot){
  static const char *const azMode[] = {
    "delete", "truncate", "persist", "memory", "wal", "wal", "off",
  };
  const char *zMode = azMode[below(p, 7)];
  if( pSlot->bTx ) return;
  sql(p, pSlot, "PRAGMA journal_mode=%s", zMode);
  pSlot->bOff = strcmp(zMode, "off")==0;
  pSlot->bMemory = strcmp(zMode, "memory")==0;
}

static void stepLocking(Storm *p, Slot *pSlot){
  if( p->iExclusive>=0 ){
    pSlot = &p->aSlot[p->iExclusive];
    sql(p, pSlot, "PRAGMA locking_mode=normal");
    sql(p, pSlot, "SELECT count(*) FROM w");
    p->iExclusive = -1;
  }else if( pSlot->bTx==0 && strcmp(p->zVfs, "unix-none")!=0 ){
    if( chance(p, 70) ) ask(p, pSlot, 1);
    sql(p, pSlot, "PRAGMA locking_mode=exclusive");
    if( chance(p, 60) ) sql(p, pSlot, "PRAGMA cache_size=10");
    if( chance(p, 60) ){
      sql(p, pSlot, "PRAGMA journal_mode=off");
      pSlot->bOff = 1;
    }
    p->iExclusive = (int)(pSlot - p->aSlot);
    /* The first commit counts, as the change counter tells, and those after it do not */
    if( chance(p, 50) ) sql(p, pSlot, "UPDATE w SET y=y+1; UPDATE t SET x=x+%d", 1+below(p, 9));
    stepChange(p, pSlot);
    if( chance(p, 60) ) stepChange(p, pSlot);
  }
}

static void stepSetting(Storm *p, Slot *pSlot){
  static const char *const azSet[] = {
    "cache_size=10", "cache_size=-2000", "cache_size=-20000", "cache_spill=off", "cache_spill=on",
    "mmap_size=10000000", "mmap_size=0", "synchronous=normal", "synchronous=off", "secure_delete=on",
    "wal_autocheckpoint=10", "wal_autocheckpoint=1000", "journal_size_limit=0",
  };
  sql(p, pSlot, "PRAGMA %s", azSet[below(p, sizeof(azSet)/sizeof(azSet[0]))]);
}

static void stepReopen(Storm *p, Slot *pSlot){
  if( pSlot->bTx ) return;
  slotClose(p, pSlot);
  if( chance(p, 30) ) askSome(p, 30);
  slotOpen(p, pSlot);
}

static void stepKill(Storm *p, Slot *pSlot){
  int iActor = 1+below(p, 2);
  char z[300];
  int i, w;
  (void)pSlot;
  if( p->bOne || isTx(p) || strcmp(p->zVfs, "unix")!=0 ) return;
  /* One without a journal takes no notice of another one's, and says what its cache does */
  for(i=0; i<N_SLOT; i++) if( p->aSlot[i].bOpen && p->aSlot[i].bOff ) return;
  for(i=0; i<N_SLOT && (p->aSlot[i].iActor!=iActor || !p->aSlot[i].bOpen); i++){}
  /* Without a journal in a file what it leaves depends on what was spilled */
  if( i==N_SLOT || p->aSlot[i].bMemory ) return;
  change(p, z, sizeof(z));
  tell(p, iActor, 0, "k %d PRAGMA cache_size=%d; BEGIN IMMEDIATE; UPDATE t SET x=x+1; %s",
       p->aSlot[i].iConn, chance(p, 50) ? 10 : -2000, z);
  if( p->bEnd ) return;
  for(w=0; w<2; w++){
    actorEnd(p, w, iActor);
    actorStart(p, w, iActor);
  }
  for(i=0; i<N_SLOT; i++){
    if( p->aSlot[i].iActor!=iActor ) continue;
    if( p->iExclusive==i ) p->iExclusive = -1;
    p->aSlot[i].bOpen = 0;
  }
  askSome(p, 60);
  for(i=0; i<N_SLOT; i++){
    if( p->aSlot[i].iActor==iActor && p->aSlot[i].iFile<p->nFile ) slotOpen(p, &p->aSlot[i]);
  }
}

static void stepBackup(Storm *p, Slot *pSlot){
  if( pSlot->bTx || !makeNew(p, pSlot->iFile, 0) ) return;
  tell(p, pSlot->iActor, 1, "b %d file:new.db", pSlot->iConn);
}

/* A file is overwritten, with the same change counter mostly */
static void stepOverwrite(Storm *p, Slot *pSlot){
  int iFile = pSlot->iFile;
  int i, w, iActor;
  if( !makeNew(p, iFile, chance(p, 80)) ) return;
  for(w=0; w<2; w++){
    i64 n;
    unsigned char *a = bytesOf(p, w, "new.db", &n);
    overwrite(p, w, fileOf(iFile), a, n);
    free(a);
  }
  if( p->nLog<MX_LOG ) p->azLog[p->nLog++] = strdup("new.db is copied over the file");
  for(i=0; i<N_SLOT; i++){
    if( p->aSlot[i].bOpen && p->aSlot[i].iFile==iFile && chance(p, 40) ) ask(p, &p->aSlot[i], 0);
  }
  for(iActor=0; iActor<(p->bOne ? 1 : 2); iActor++){
    tell(p, iActor, 1, "o 9 file:%s?vfs=%s", fileOf(iFile), p->zVfs);
    tell(p, iActor, 1, "a 9 3 %d 1933", below(p, p->nRow));
    if( iActor==0 ) tell(p, 0, 1, "e 9 PRAGMA synchronous=off; UPDATE w SET y=y+1");
    tell(p, iActor, 1, "x 9");
  }
}

/* A file is replaced by another one.  Who has it open goes on reading the old one */
static void stepReplace(Storm *p, Slot *pSlot){
  int iFile = pSlot->iFile;
  int i, w;
  if( !makeNew(p, iFile, chance(p, 50)) ) return;
  for(i=0; i<N_SLOT; i++) if( p->aSlot[i].bOpen && p->aSlot[i].bOff ) return;
  for(w=0; w<2; w++){
    char zNew[500], zFile[500];
    worldFile(p, w, "new.db", zNew);
    worldFile(p, w, fileOf(iFile), zFile);
    if( rename(zNew, zFile) ) abort();
  }
  if( p->nLog<MX_LOG ) p->azLog[p->nLog++] = strdup("new.db is renamed to the file");
  for(i=0; i<N_SLOT; i++){
    if( p->aSlot[i].bOpen && p->aSlot[i].iFile==iFile ) ask(p, &p->aSlot[i], 1);
  }
  tell(p, 0, 1, "o 9 file:%s?vfs=%s", fileOf(iFile), p->zVfs);
  tell(p, 0, 1, "a 9 3 %d 1933", below(p, p->nRow));
  for(i=0; i<N_SLOT; i++){
    Slot *pOther = &p->aSlot[i];
    if( pOther->bOpen && pOther->iFile==iFile ){
      slotClose(p, pOther);
      slotOpen(p, pOther);
    }
  }
  tell(p, 0, 1, "x 9");
}

/* A row of the world of ours changes in secret */
static void spoil(Storm *p){
  static const char zSecret[] = "e 4 UPDATE t SET x=x+1 WHERE rowid=7\n";
  Actor *pActor = &p->aaActor[0][p->aSlot[4].iActor];
  if( write(pActor->fdTo, zSecret, sizeof(zSecret)-1)<0
   || fgets(p->azReply[0], MX_REPLY, pActor->pFrom)==0
  ){
    bad(p, "no secret is kept");
  }
}

/* The steps: see aWeather[] */
static void (*const aStep[N_KIND])(Storm*, Slot*) = {
  stepChange, stepRollback, stepSchema, stepTransaction, stepCheckpoint, stepJournal, stepLocking,
  stepSetting, stepReopen, stepKill, stepBackup, stepOverwrite, stepReplace, stepRollbackOff, stepWave,
};

static void step(Storm *p, int iStep){
  Slot *pSlot;
  int i, k;
  p->r = rngSeed(p->iSeed, 1000+iStep);
  pSlot = anySlot(p);
  k = below(p, 100);
  if( pSlot==0 ) return;
  if( args.bSpoil && iStep==5 ) spoil(p);
  for(i=0; k>=aWeather[p->iWeather].aPercent[i]; i++) k -= aWeather[p->iWeather].aPercent[i];
  aStep[i](p, pSlot);
  if( chance(p, aWeather[p->iWeather].nAsk) ) askSome(p, aWeather[p->iWeather].nSlot);
  /* Often enough to be kept */
  for(i=0; i<2 && chance(p, 10); i++) askSome(p, 100);
  if( chance(p, 10) && isTx(p)==0 ) judge(p, below(p, p->nFile));
}

/********************************* a storm ********************************/

static void setup(Storm *p, u64 iSeed){
  static const char *const azVfs[] = {
    "unix", "unix", "unix", "unix", "unix", "unix-dotfile", "unix-none", "unix-excl",
  };
  static const char *const azJournal[] = {
    "wal", "wal", "wal", "delete", "truncate", "persist", "memory",
  };
  static const char *const azTest[] = {
    "force,columns=force", "force,columns=force,threads=4", "force,columns=force,run=4", "force,columns=tiny",
    "force", "", "", "",
  };
  static const int aPage[] = { 512, 1024, 4096, 4096 };
  const char *zWeather;
  int i;
  p->iSeed = iSeed;
  p->r = rngSeed(iSeed, 5);
  p->zVfs = azVfs[below(p, 8)];
  p->bOne = strcmp(p->zVfs, "unix-excl")==0 || strcmp(p->zVfs, "unix-none")==0;
  p->iWeather = below(p, N_WEATHER);
  p->zJournal = azJournal[below(p, 7)];
  zWeather = aWeather[p->iWeather].zName;
  if( strchr("lsw", zWeather[0]) ) p->zJournal = "wal";
  p->zTest = azTest[below(p, 8)];
  if( zWeather[0]=='w' ) p->zTest = "";
  p->szPage = aPage[below(p, 4)];
  p->bPsow = chance(p, strcmp(zWeather, "seldom")==0 ? 80 : 50);
  /* Sometimes of table t only */
  p->mAsk = chance(p, 60) && zWeather[0]!='w' ? 4095 : chance(p, 50) ? 0x28d : 1+8*below(p, 2);
  p->nFile = 1+below(p, 2);
  p->zExtent = chance(p, 70) ? "off" : 0;
  /* Without force tables are large, or they would be left to SQLite */
  p->nRow = p->zTest[0] ? 1200+below(p, 2400) : 5000+below(p, 4000);
  p->nWide = p->zTest[0] ? 30+below(p, 200) : 300+below(p, 200);
  p->iExclusive = -1;
  for(i=0; i<N_SLOT; i++){
    static const int aiActor[] = { 0, 0, 0, 1, 2, 2 };
    static const int aiFile[] = { 0, 0, 1, 0, 0, 1 };
    p->aSlot[i].iActor = p->bOne ? 0 : aiActor[i];
    p->aSlot[i].iConn = i;
    p->aSlot[i].iFile = aiFile[i];
  }
}

static void describe(const Storm *p){
  printf("seed %llu: weather %s, vfs %s, journal_mode %s, page_size %d, %d rows of %d, %d files, psow %s, queries %x,"
     " hp_extent %s, HPSQLITE_TEST=%s\n", (unsigned long long)p->iSeed, aWeather[p->iWeather].zName, p->zVfs, p->zJournal,
     p->szPage, p->nRow, p->nWide, p->nFile, p->bPsow ? "0 or 1" : "1", p->mAsk, p->zExtent ? p->zExtent : "auto",
     p->zTest);
}

/* A storm of nStep steps but those of aSkip[].  Returns the number of failures */
static int storm(u64 iSeed, const unsigned char *aSkip, int nStep, int bQuiet){
  static Storm s;
  Storm *p = &s;
  int i, w;
  memset(p, 0, sizeof(*p));
  setup(p, iSeed);
  p->bQuiet = bQuiet;
  signal(SIGPIPE, SIG_IGN);
  for(w=0; w<2; w++){
    snprintf(p->azDir[w], sizeof(p->azDir[w]), "%s", fileName(w ? "stock" : "ours"));
    mkdir(p->azDir[w], 0755);
    p->azReply[w] = malloc(MX_REPLY);
    for(i=0; i<N_ACTOR; i++) actorStart(p, w, i);
  }
  for(i=0; i<p->nFile; i++){
    Slot *pSlot = &p->aSlot[4+i];
    slotOpen(p, pSlot);
    sql(p, pSlot, "PRAGMA page_size=%d; PRAGMA journal_mode=%s", p->szPage, p->zJournal);
    pSlot->bMemory = strcmp(p->zJournal, "memory")==0;
    schema(p, pSlot, p->nRow);
  }
  for(i=0; i<4; i++){
    if( p->aSlot[i].iFile<p->nFile ) slotOpen(p, &p->aSlot[i]);
  }
  askSome(p, 100);
  for(i=0; i<nStep && p->bEnd==0; i++){
    if( aSkip[i] ) continue;
    pTold->iStep = i;
    step(p, i);
  }
  p->r = rngSeed(iSeed, 6);
  for(i=0; i<N_SLOT && p->bEnd==0; i++){
    /* Without a journal it could not be rolled back */
    if( p->aSlot[i].bTx ) sql(p, &p->aSlot[i], "COMMIT");
    p->aSlot[i].bTx = 0;
  }
  for(i=0; i<N_SLOT && p->bEnd==0; i++) slotClose(p, &p->aSlot[i]);
  for(i=0; i<p->nFile && p->bEnd==0; i++){
    judge(p, i);
    tell(p, JUDGE, 1, "o 0 %s", fileOf(i));
    tell(p, JUDGE, 1, "e 0 PRAGMA integrity_check(3)");
    tell(p, JUDGE, 1, "x 0");
  }
  if( p->nBad && bQuiet==0 ){
    describe(p);
    for(i=0; i<p->nLog; i++) printf("  %s\n", p->azLog[i]);
  }
  for(w=0; w<2; w++){
    for(i=0; i<N_ACTOR; i++){
      if( !actorEnd(p, w, i) && p->nBad==0 ){
        bad(p, "process %d of %s has been ended by a signal", i, w ? "stock" : "ours");
      }
    }
    for(i=0; i<3; i++){
      char z[500];
      worldFile(p, w, i==2 ? "new.db" : fileOf(i), z);
      removeDb(z);
      strcat(z, ".lock");
      rmdir(z);
    }
    rmdir(p->azDir[w]);
  }
  return p->nBad;
}

/* The same in a process of its own, so that it may crash */
static int attempt(u64 iSeed, const unsigned char *aSkip, int nStep, int bQuiet){
  int status;
  pid_t pid;
  fflush(stdout);
  pid = fork();
  if( pid==0 ){
    int n;
    alarm(MX_SECOND);
    n = storm(iSeed, aSkip, nStep, bQuiet);
    fflush(stdout);
    _exit(n>0);
  }
  waitpid(pid, &status, 0);
  return status!=0;
}

/* Leave out steps as long as it fails */
static int shrink(u64 iSeed, unsigned char *aSkip, int nStep){
  double begin = now();
  int n, i;
  for(n=nStep/2; n>0; n=n>1 ? (n+1)/2 : 0){
    for(i=0; i<nStep && now()-begin<SHRINK; i+=n){
      unsigned char aTry[MX_STEP];
      memcpy(aTry, aSkip, MX_STEP);
      memset(&aTry[i], 1, i+n<nStep ? n : nStep-i);
      if( memcmp(aTry, aSkip, MX_STEP)==0 || !attempt(iSeed, aTry, nStep, 1) ) continue;
      memcpy(aSkip, aTry, MX_STEP);
      nStep = pTold->iStep+1;
    }
  }
  return nStep;
}

/*
** One case.  Returns the number of failures.
*/
int stormCase(u64 iSeed){
  unsigned char aSkip[MX_STEP];
  double begin = now();
  int nStep = MX_STEP;
  memset(aSkip, 0, sizeof(aSkip));
  pTold = mmap(0, sizeof(*pTold), PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0);
  if( pTold==MAP_FAILED ) abort();
  if( !attempt(iSeed, aSkip, nStep, 1) ){
    if( args.bVerbose ){
      static Storm s;
      setup(&s, iSeed);
      describe(&s);
      printf("  %lld commands in %.1f s\n", (long long)pTold->nCommand, now()-begin);
    }
    return 0;
  }
  nStep = pTold->iStep+1;
  if( args.bSpoil ) return 1;
  nStep = shrink(iSeed, aSkip, nStep);
  if( !attempt(iSeed, aSkip, nStep, 0) ){
    failed("seed %llu: it fails, but not always", (unsigned long long)iSeed);
  }
  printf("  repeat: storm --seed %llu --cases 1\n", (unsigned long long)iSeed);
  return 1;
}
