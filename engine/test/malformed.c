/*
** 2026-11-21
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** malformed FIRST COUNT STOCK: malformed databases, made by mutation.
**
** From valid databases of several layouts, number FIRST to FIRST+COUNT-1 of
** a fixed sequence of mutations: the file's header, the headers of pages,
** cell pointers, the varints and serial types of cells, overflow pointers,
** children of interior pages (other pages, the page itself, its ancestors),
** bytes at random, the end of the file.  On each the queries run on ours and
** on the library STOCK, among them some that scan an index or a WITHOUT ROWID
** table.  Both must say the same: the same rows, and the same error.  Not where a
** cell hangs over the end of its page: SQLite then reads what is behind the page
** in memory, which is something else each time.  Damages of single kinds, on larger
** tables, are in damaged.c.
**
** The work is done in child processes of a few mutations each, since what is
** looked for are crashes and loops; their number is the mutation's.
*/
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hptest.h"

#define MX_FILE   (1<<20)  /* Most bytes of a database here */
#define N_CHILD   25       /* Mutations a child process */
#define N_SECOND  60       /* A child that takes longer hangs */

typedef unsigned char u8;
typedef unsigned int u32;

/* The layouts: page size and what else matters to how pages look */
static const char *const azLayout[] = {
  "PRAGMA page_size=512",
  "PRAGMA page_size=1024; PRAGMA auto_vacuum=full",
  "PRAGMA page_size=4096",
  "PRAGMA page_size=32768",
  "PRAGMA page_size=65536",
  "PRAGMA page_size=512; PRAGMA encoding='UTF-16le'",
};
#define N_LAYOUT ((int)(sizeof(azLayout)/sizeof(azLayout[0])))

/* An index, and a table that is one, and what scans them */
static const char zIndexed[] =
  "CREATE TABLE ix(a INTEGER, b REAL, c TEXT);"
  "INSERT INTO ix SELECT a, b, 'a text that an index has not, '||c FROM big;"
  "CREATE INDEX ixab ON ix(a, b);"
  "CREATE TABLE wr(k INTEGER PRIMARY KEY, v, w) WITHOUT ROWID;"
  "INSERT INTO wr SELECT rowid, a, 'x'||c FROM big";
static const char *const azIndexed[] = {
  "SELECT count(*) FROM ix",
  "SELECT sum(a), count(b), min(b), max(a) FROM ix WHERE b>2",
  "SELECT a%3, count(*), sum(b) FROM ix GROUP BY a%3",
  "SELECT count(*), sum(k), min(w) FROM wr",
  "SELECT v, count(*), sum(k) FROM wr GROUP BY v",
};
#define N_INDEXED ((int)(sizeof(azIndexed)/sizeof(azIndexed[0])))

static unsigned long long iRandom;  /* State of the generator */

/* An integer from 0 to n-1, or 0 (splitmix64) */
static u32 rnd(u32 n){
  unsigned long long z = (iRandom += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z>>30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z>>27)) * 0x94d049bb133111ebULL;
  return n ? (u32)((z ^ (z>>31)) % n) : 0;
}

/* A page number: of any page, of none, of far outside */
static u32 anyPage(u32 nPage){
  switch( rnd(8) ){
    case 0:  return 0;
    case 1:  return nPage+1;
    case 2:  return 0xffffffff;
    default: return 1+rnd(nPage);
  }
}

/*
** Change one thing in the database of n bytes.  Return its new size.
*/
static int mutate(u8 *a, int n, u32 szPage){
  u32 nPage = n/szPage;
  u32 iPage = rnd(nPage);
  u8 *aPage = &a[iPage*szPage];
  u8 *aHdr = aPage + (iPage==0 ? 100 : 0);
  u32 room = szPage - (iPage==0 ? 100 : 0);
  int bInterior = aHdr[0]==2 || aHdr[0]==5;
  u32 nCell = get2(&aHdr[3]);
  u32 nHdr = bInterior ? 12 : 8;
  u8 *aPtr = nCell>0 ? &aHdr[nHdr + 2*rnd(nCell)] : 0;
  u8 *aCell = 0;
  if( aPtr && aPtr+2<=aPage+szPage && get2(aPtr)+16<=szPage ){
    aCell = &aPage[get2(aPtr)];
  }
  switch( rnd(16) ){
    case 0:   /* The file's header */
      a[16+rnd(84)] = (u8)rnd(256);
      break;
    case 1:   /* The page's header */
      aHdr[rnd(nHdr)] = (u8)rnd(256);
      break;
    case 2:   /* Its kind: a leaf of a table, an index, an interior page */
      aHdr[0] = "\x02\x05\x0a\x0d\x00\x0c"[rnd(6)];
      break;
    case 3:   /* Its number of cells */
      put2(&aHdr[3], rnd(3) ? nCell+rnd(5)-2 : rnd(65536));
      break;
    case 4:   /* A cell pointer */
      if( aPtr ) put2(aPtr, rnd(2) ? rnd(szPage) : get2(aPtr)+rnd(9)-4);
      break;
    case 5:   /* A cell pointer to the page's very end */
      if( aPtr ) put2(aPtr, szPage-1-rnd(6));
      break;
    case 6:   /* A child, or the rowid or size of a cell */
    case 7:
      if( bInterior ){
        put4(rnd(2) && aCell ? aCell : &aHdr[8], rnd(4) ? anyPage(nPage) : iPage+1);
      }else if( aCell ){
        aCell[rnd(4)] = (u8)rnd(256);
      }
      break;
    case 8:   /* A long varint */
      if( aCell ) memset(&aCell[rnd(4)], 0xff, 1+rnd(9));
      break;
    case 9:   /* The header of a record */
    case 10:
      if( aCell ) aCell[2+rnd(12)] = (u8)rnd(256);
      break;
    case 11:  /* A serial type that is reserved */
      if( aCell ) aCell[3+rnd(8)] = 10+rnd(2);
      break;
    case 12:  /* What may be an overflow pointer: the last bytes of a cell */
      if( room>100 ) put4(&aHdr[room-4-rnd(room/2)], anyPage(nPage));
      break;
    case 13:  /* The next page of an overflow chain, if this is one */
      put4(aPage, anyPage(nPage));
      break;
    case 14:  /* Bytes at random */
      {
        int k;
        for(k=rnd(20); k>=0; k--) aPage[rnd(szPage)] ^= 1<<rnd(8);
      }
      break;
    default:  /* The end of the file */
      n -= rnd(3) ? (1+rnd(nPage))*szPage/2 : rnd(szPage);
      if( n<512 ) n = 512;
      break;
  }
  return n;
}

static u8 *aBase[N_LAYOUT];       /* The valid databases */
static int nBase[N_LAYOUT];       /* Bytes of each */

/*
** Does stock find a cell that hangs over the end of its page?
*/
static int hasLongCell(const Lib *pStock, const char *zFile, const char *zSql){
  sqlite3 *db = openDb(pStock, zFile, 0);
  Text text = {0,0,0};
  int rc;
  pStock->exec(db, "PRAGMA cell_size_check=on", 0, 0, 0);
  rc = answer(pStock, db, zSql, &text);
  pStock->close(db);
  textClear(&text);
  return rc==SQLITE_CORRUPT;
}

/*
** Run all queries on mutation iMutation.  Print what differs and return how
** many did.
*/
static int tryMutation(int iMutation, const Lib *pStock, const char *azFile[2]){
  static u8 a[MX_FILE];
  int iLayout = iMutation % N_LAYOUT;
  int n = nBase[iLayout];
  u32 szPage = get2(&aBase[iLayout][16])==1 ? 65536 : get2(&aBase[iLayout][16]);
  int i, k, nDiffer = 0;
  const Lib *apLib[2];
  sqlite3 *adb[2];
  apLib[0] = pStock;
  apLib[1] = &ours;
  memcpy(a, aBase[iLayout], n);
  iRandom = iMutation*7919;
  for(k=rnd(2); k>=0; k--) n = mutate(a, n, szPage);
  for(i=0; i<2; i++){
    writeFile(azFile[i], a, n);
    adb[i] = openDb(apLib[i], azFile[i], 0);
  }
  for(k=0; k<nQuery+N_INDEXED; k++){
    const char *zSql = k<nQuery ? azQuery[k] : azIndexed[k-nQuery];
    Text aText[2];
    memset(aText, 0, sizeof(aText));
    for(i=0; i<2; i++) answer(apLib[i], adb[i], zSql, &aText[i]);
    if( strcmp(aText[0].z, aText[1].z)!=0
     && !hasLongCell(pStock, azFile[0], zSql)
    ){
      printf("FAILED: mutation %d (%s): %s\n stock %.600s ours  %.600s",
             iMutation, azLayout[iLayout], zSql, aText[0].z, aText[1].z);
      nDiffer++;
    }
    textClear(&aText[0]);
    textClear(&aText[1]);
  }
  for(i=0; i<2; i++){
    apLib[i]->close(adb[i]);
    removeDb(azFile[i]);
  }
  return nDiffer;
}

/*
** Mutations iFirst to iEnd-1 in a child process.
*/
static void tryRange(int iFirst, int iEnd, const char *zStock){
  int aPipe[2];
  int iAt = iFirst, status = 0;
  pid_t pid;
  fflush(stdout);
  if( pipe(aPipe) ) exit(2);
  pid = fork();
  if( pid==0 ){
    Lib stock;
    const char *azFile[2];
    int nDiffer = 0;
    azFile[0] = temporaryFile("malformed-stock.db");
    azFile[1] = temporaryFile("malformed-ours.db");
    alarm(N_SECOND);
    if( loadStock(&stock, zStock) ) exit(2);
    for(iAt=iFirst; iAt<iEnd; iAt++){
      if( write(aPipe[1], &iAt, sizeof(iAt))<0 ) exit(2);
      nDiffer += tryMutation(iAt, &stock, azFile)>0;
    }
    fflush(stdout);
    exit(nDiffer==0 ? 0 : 10+nDiffer);
  }
  close(aPipe[1]);
  while( read(aPipe[0], &iAt, sizeof(iAt))>0 ){}
  close(aPipe[0]);
  waitpid(pid, &status, 0);
  if( WIFEXITED(status) && (WEXITSTATUS(status)==0 || WEXITSTATUS(status)>10) ){
    int nDiffer = WEXITSTATUS(status) ? WEXITSTATUS(status)-10 : 0;
    int i;
    for(i=iFirst; i<iEnd; i++) check(i-iFirst>=nDiffer, "%d of mutations %d to"
      " %d differ", nDiffer, iFirst, iEnd-1);
  }else{
    check(0, "mutation %d: %s %d", iAt,
      WIFSIGNALED(status) && WTERMSIG(status)==SIGALRM ? "no end, signal" :
      WIFSIGNALED(status) ? "signal" : "exit status",
      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if( iAt+1<iEnd ) tryRange(iAt+1, iEnd, zStock);
  }
}

/*
** Ours is to scan an index for zSql: not in UTF-16, which is all stock's.
*/
static void checkScans(sqlite3 *db, const char *zSql, const char *zLayout){
  sqlite3_stmt *pStmt = 0;
  char *zPlan = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", zSql);
  const char *z = "";
  if( strstr(zLayout, "UTF-16")==0 ){
    sqlite3_prepare_v2(db, zPlan, -1, &pStmt, 0);
    if( sqlite3_step(pStmt)==SQLITE_ROW ){
      z = (const char*)sqlite3_column_text(pStmt, 3);
    }
    check(strstr(z, "VECTORIZED")
          && (strstr(z, "COVERING INDEX ixab") || strstr(z, "SCAN wr")),
          "%s: %s", zSql, z);
    sqlite3_finalize(pStmt);
  }
  sqlite3_free(zPlan);
}

int main(int argc, char **argv){
  const char *zFile = temporaryFile("malformed.db");
  int i, iFirst, nMutation;
  if( argc!=4 ){
    fprintf(stderr, "usage: malformed FIRST COUNT STOCK\n");
    return 2;
  }
  iFirst = atoi(argv[1]);
  nMutation = atoi(argv[2]);
  for(i=0; i<N_LAYOUT; i++){
    sqlite3 *db;
    int k;
    fixture(zFile, azLayout[i], 60);
    db = openDb(&ours, zFile, 0);
    execute(db, zIndexed);
    for(k=0; k<N_INDEXED; k++) checkScans(db, azIndexed[k], azLayout[i]);
    sqlite3_close(db);
    aBase[i] = readFile(zFile, &nBase[i]);
    if( nBase[i]>MX_FILE ) exit(2);
  }
  removeDb(zFile);
  for(i=0; i<nMutation; i+=N_CHILD){
    int n = nMutation-i<N_CHILD ? nMutation-i : N_CHILD;
    tryRange(iFirst+i, iFirst+i+n, argv[3]);
  }
  return finish();
}
