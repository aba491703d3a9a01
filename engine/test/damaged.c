/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** damaged STOCK: files with one thing wrong, each a kind of its own.
**
** SQLite reads a damaged b-tree as far as it makes sense of it: it notices what
** it looks at and nothing else.  So what it says depends on which cells a search
** compares, on which columns a query reads, on the order of rows.  Ours has to
** say the same: the same rows, and the same error after the same rows.  Each
** damage below is one that some way of ours of reading would pass over, or stumble
** upon, while SQLite does not:
**
**   1. A search compares other cells (hp_seek.c): the rowids of a leaf, or of an
**      interior page, are not in order.
**   2. Rows are found in one place and looked for in another (hp_found.c).
**   3. A range ends, or begins, where keys are not in order (hp_range.c).
**   4. An index gives a group twice (hp_agg.c).
**   5. Columns that SQLite reads and the scan does not: of rows that are among
**      the first for a while, or left out by a look at one column (hp_record.c).
**   6. A chain of overflow pages about which these and the pointer maps disagree.
**
** All queries run on each damage, on ours and on the library STOCK, twice, in
** rollback mode and in WAL mode, where pages may come from a store (hp_store.c).
** On the sound file ours has to take them over, or there would be nothing to see.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hptest.h"

#define SZ_PAGE  512     /* Bytes a page */
#define N_ROW    1500    /* Rows of the table */

typedef unsigned char u8;
typedef sqlite3_int64 i64;

/* What runs on every damaged file.  bTaken: the engine takes it over */
static const struct Query {
  int bTaken;
  const char *zSql;
} aQuery[] = {
  { 0, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+3 FROM n"
       " WHERE i<4600) SELECT i, (SELECT b FROM t WHERE id=n.i) FROM n" },
  { 0, "SELECT id, b FROM t INDEXED BY ta WHERE a BETWEEN 100 AND 600" },
  { 0, "SELECT id FROM t WHERE id>1000 LIMIT 20" },
  { 1, "SELECT id, a, c FROM t ORDER BY b DESC LIMIT 30" },
  { 1, "SELECT id, d, c FROM t ORDER BY d, b LIMIT 8" },
  { 1, "SELECT id, c FROM t ORDER BY b, d LIMIT 6" },
  { 0, "SELECT sum(a), max(b) FROM t WHERE id BETWEEN 700 AND 3100" },
  { 1, "SELECT id, e FROM t WHERE b>20 ORDER BY d, a LIMIT 9" },
  { 1, "SELECT id, f FROM t ORDER BY id%700 DESC LIMIT 5" },
  { 1, "SELECT DISTINCT d, c FROM t" },
  { 1, "SELECT id, a, e FROM t WHERE b>700 ORDER BY d" },
  { 1, "SELECT sum(a), count(*) FROM t WHERE id>1200" },
  { 1, "SELECT sum(a), count(*), max(b) FROM t WHERE id BETWEEN 700 AND 3000" },
  { 0, "SELECT id, b FROM t WHERE id>900 ORDER BY b" },
  { 1, "SELECT a, count(*) FROM t GROUP BY a" },
  { 1, "SELECT count(*), sum(a) FROM t WHERE a BETWEEN 100 AND 700" },
  { 1, "SELECT count(*), max(a) FROM t WHERE a>250" },
  { 1, "SELECT c, sum(b), count(*) FROM t GROUP BY c" },
  { 1, "SELECT count(*) FROM t" },
  { 1, "SELECT g, length(h) FROM v ORDER BY g" },
  { 1, "SELECT count(g), max(h) FROM v" },
  { 1, "SELECT sum(length(e)), max(f) FROM t" },
};
#define N_QUERY ((int)(sizeof(aQuery)/sizeof(aQuery[0])))

/* The pages of a b-tree, in key order */
typedef struct Tree Tree;
struct Tree {
  int nLeaf, nInner;
  int aLeaf[4000];
  int aInner[400];       /* Those whose children are leaves */
};

static const char *zFile;      /* A sound database */
static const char *azFile[2];  /* What stock and ours read */
static u8 *aFile;        /* The database that is being damaged */
static int nFile;
static Tree tree;        /* The b-tree of table t */
static Tree index_;      /* The b-tree of its index on a */

static u8 *page(int iPg){
  return &aFile[(iPg-1)*SZ_PAGE];
}
static int nCell(int iPg){
  return (int)get2(&page(iPg)[3]);
}
static int isLeaf(int iPg){
  return (page(iPg)[0] & 8)!=0;
}
static u8 *pointer(int iPg, int i){
  return &page(iPg)[(isLeaf(iPg) ? 8 : 12) + 2*i];
}
static u8 *cell(int iPg, int i){
  return &page(iPg)[get2(pointer(iPg, i))];
}
static int child(int iPg, int i){
  return (int)get4(i<nCell(iPg) ? cell(iPg, i) : &page(iPg)[8]);
}

/* The bytes of the varint at a, and its value */
static int varint(const u8 *a, i64 *pi){
  int n = 0;
  i64 i = 0;
  do{ i = (i<<7) | (a[n] & 0x7f); }while( a[n++]>=0x80 );
  if( pi ) *pi = i;
  return n;
}

/* The rowid of a cell of a leaf of a table, and its record */
static u8 *rowid(int iPg, int i){
  u8 *a = cell(iPg, i);
  return a + varint(a, 0);
}
static u8 *record(int iPg, int i){
  u8 *a = rowid(iPg, i);
  return a + varint(a, 0);
}

/* Write iNew over the varint at a, in as many bytes */
static void overwrite(u8 *a, i64 iNew){
  int n = varint(a, 0);
  int i;
  for(i=n-1; i>=0; i--){
    a[i] = (u8)((iNew & 0x7f) | (i<n-1 ? 0x80 : 0));
    iNew >>= 7;
  }
}

static void walk(Tree *p, int iPg){
  int i;
  if( isLeaf(iPg) ){
    p->aLeaf[p->nLeaf++] = iPg;
    return;
  }
  if( isLeaf(child(iPg, 0)) ) p->aInner[p->nInner++] = iPg;
  for(i=0; i<=nCell(iPg); i++) walk(p, child(iPg, i));
}

static void swapPointers(int iPg, int i, int j){
  u8 a[2];
  memcpy(a, pointer(iPg, i), 2);
  memcpy(pointer(iPg, i), pointer(iPg, j), 2);
  memcpy(pointer(iPg, j), a, 2);
}

static void swapChildren(int iPg, int i, int j){
  u8 a[4];
  memcpy(a, cell(iPg, i), 4);
  memcpy(cell(iPg, i), cell(iPg, j), 4);
  memcpy(cell(iPg, j), a, 4);
}

/* The record of the row of t whose rowid is iRowid */
static u8 *recordOf(i64 iRowid){
  int i, k;
  for(i=0; i<tree.nLeaf; i++){
    for(k=0; k<nCell(tree.aLeaf[i]); k++){
      i64 iThis;
      varint(rowid(tree.aLeaf[i], k), &iThis);
      if( iThis==iRowid ) return record(tree.aLeaf[i], k);
    }
  }
  fprintf(stderr, "error: no rowid %lld\n", (long long)iRowid);
  exit(2);
}

/*****************************************************************************
** The damages.
*/
static void leafOrder(void){
  int iPg = tree.aLeaf[tree.nLeaf/3];
  swapPointers(iPg, 1, nCell(iPg)-2);
}
static void leafMiddle(void){
  int iPg = tree.aLeaf[tree.nLeaf/2];
  swapPointers(iPg, nCell(iPg)/2, 0);
}
static void innerOrder(void){
  int iPg = tree.aInner[tree.nInner/2];
  overwrite(cell(iPg, nCell(iPg)/2)+4, 5);
}
static void innerLast(void){
  /* That of the last leaf before the one of row 3100, which ends a range */
  int i, k;
  for(i=0; i<tree.nInner; i++){
    for(k=0; k+1<nCell(tree.aInner[i]); k++){
      i64 iNext;
      varint(cell(tree.aInner[i], k+1)+4, &iNext);
      if( iNext>=3100 ){
        overwrite(cell(tree.aInner[i], k)+4, 3400);
        return;
      }
    }
  }
}
static void innerLarge(void){
  int iPg = tree.aInner[0];
  overwrite(cell(iPg, 3)+4, 16000);
}
static void rowidSmall(void){
  overwrite(rowid(tree.aLeaf[tree.nLeaf/2], 2), 30);
}
static void rowidLarge(void){
  overwrite(rowid(tree.aLeaf[tree.nLeaf/4], 1), 9000);
}
static void rowidTwice(void){
  i64 i;
  int iPg = tree.aLeaf[tree.nLeaf/2];
  varint(rowid(iPg, 1), &i);
  overwrite(rowid(iPg, 2), i);
}
static void leavesSwapped(void){
  swapChildren(tree.aInner[tree.nInner/2], 2, 9);
}
static void leafTwice(void){
  u8 *a = cell(tree.aInner[tree.nInner/3], 4);
  memcpy(a, cell(tree.aInner[tree.nInner/3], 5), 4);
}
static void indexLeavesSwapped(void){
  swapChildren(index_.aInner[index_.nInner/2], 1, 6);
}
static void indexLeafTwice(void){
  u8 *a = cell(index_.aInner[index_.nInner/2], 2);
  memcpy(a, cell(index_.aInner[index_.nInner/2], 7), 4);
}
static void indexOrder(void){
  int iPg = index_.aLeaf[index_.nLeaf/2];
  swapPointers(iPg, 0, nCell(iPg)-1);
}
static void indexValue(void){
  /* A record of two fields: a is the first one */
  int iPg = index_.aLeaf[index_.nLeaf/2];
  u8 *a = cell(iPg, 3);
  a[1+a[1]] = 0x7f;
}
/* Row 60 is among the first by b for a while.  Of its record only c, d, e or f is
** damaged, which such a query shows but does not look at. */
static void resultColumn(void){
  u8 *a = recordOf(60);
  a[4] += 40;
}
/* A row that b leaves out: d comes later and is a key as well */
static void laterColumn(void){
  u8 *a = recordOf(4200);
  a[5] = 0x7f;
}
static void headerLong(void){
  recordOf(3000)[0]++;
}
static void headerShort(void){
  recordOf(3003)[0]--;
}
static void serialTen(void){
  recordOf(1500)[5] = 10;
  recordOf(1503)[5] = 11;
}

/* The long values of v: cells that end with the number of an overflow page */
static int overflowPage(int iRow){
  sqlite3 *db = openDb(&ours, zFile, 0);
  int iPg = (int)integer(&ours, db, "SELECT rootpage FROM sqlite_schema"
                                    " WHERE name='v'");
  u8 *a;
  int nLocal;
  i64 n;
  sqlite3_close(db);
  while( !isLeaf(iPg) ) iPg = child(iPg, 0);
  a = cell(iPg, iRow);
  varint(a, &n);
  /* As the file format says: see "B-tree Cell Format" */
  nLocal = (SZ_PAGE-12)*32/255-23;
  nLocal += (int)((n-nLocal)%(SZ_PAGE-4));
  if( nLocal>SZ_PAGE-35 ) nLocal = (SZ_PAGE-12)*32/255-23;
  return (int)get4(record(iPg, iRow) + nLocal);
}
/* The last two pages of a chain change places.  The pointer maps know better, and
** SQLite asks them about pages that it does not read. */
static void chainDiffers(void){
  int aPg[20];
  int n = 0;
  int iPg;
  for(iPg=overflowPage(1); iPg>0 && n<20; iPg=(int)get4(page(iPg))) aPg[n++] = iPg;
  put4(page(aPg[n-3]), aPg[n-1]);
  put4(page(aPg[n-1]), aPg[n-2]);
  put4(page(aPg[n-2]), 0);
}
static void chainEnds(void){
  put4(page(overflowPage(2)), 0);
}

static const struct Damage {
  const char *zName;
  void (*xDamage)(void);
} aDamage[] = {
  { "nothing", 0 },
  { "two cells of a leaf are swapped", leafOrder },
  { "the cell in the middle of a leaf is not", leafMiddle },
  { "a rowid of an interior page is too small", innerOrder },
  { "a rowid of an interior page is too large", innerLarge },
  { "the rowid of an interior page behind a range is too large", innerLast },
  { "a rowid is too small", rowidSmall },
  { "a rowid is too large", rowidLarge },
  { "a rowid is there twice", rowidTwice },
  { "two leaves are swapped", leavesSwapped },
  { "a leaf is there twice", leafTwice },
  { "two leaves of an index are swapped", indexLeavesSwapped },
  { "a leaf of an index is there twice", indexLeafTwice },
  { "two cells of an index are swapped", indexOrder },
  { "a value of an index is too large", indexValue },
  { "a column that is only shown", resultColumn },
  { "a column behind the one that leaves a row out", laterColumn },
  { "a header is too long", headerLong },
  { "a header is too short", headerShort },
  { "reserved serial types", serialTen },
  { "two pages of an overflow chain change places", chainDiffers },
  { "an overflow chain ends", chainEnds },
};
#define N_DAMAGE ((int)(sizeof(aDamage)/sizeof(aDamage[0])))

/*****************************************************************************
** The file, and the comparison.
*/

static void makeFile(const char *zPragma){
  sqlite3 *db;
  char *zSql;
  removeDb(zFile);
  db = openDb(&ours, zFile, 0);
  zSql = sqlite3_mprintf(
    "PRAGMA page_size=%d; %s; PRAGMA synchronous=OFF;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL, c TEXT, d, e, f);"
    "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<%d)"
    " INSERT INTO t SELECT k*3, 128+k*7919%%1009, k+0.5, 'c'||(k*31%%97),"
    "  128+k%%13, 'e'||k, CASE WHEN k%%100 THEN 'f'||(k%%7)"
    "   ELSE hex(zeroblob(600)) END FROM n;"
    "CREATE INDEX ta ON t(a);"
    "CREATE TABLE v(g, x, h);"
    "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM n WHERE k<40)"
    " INSERT INTO v SELECT k, hex(zeroblob(2000)), 'h'||hex(zeroblob(300))||k"
    " FROM n;", SZ_PAGE, zPragma, N_ROW);
  execute(db, zSql);
  sqlite3_free(zSql);
  memset(&tree, 0, sizeof(tree));
  memset(&index_, 0, sizeof(index_));
  aFile = 0;
  {
    int iTable = (int)integer(&ours, db, "SELECT rootpage FROM sqlite_schema"
                                         " WHERE name='t'");
    int iIndex = (int)integer(&ours, db, "SELECT rootpage FROM sqlite_schema"
                                         " WHERE name='ta'");
    int i;
    for(i=0; i<N_QUERY; i++){
      check(isTaken(db, aQuery[i].zSql)>=aQuery[i].bTaken, "%s: not taken over",
            aQuery[i].zSql);
    }
    sqlite3_close(db);
    aFile = readFile(zFile, &nFile);
    walk(&tree, iTable);
    walk(&index_, iIndex);
  }
}

/*
** Do ours and stock give the same on the file at aFile?
*/
static void compare(
  const Lib *pStock,
  const char *zPragma,
  const char *zMode,
  const char *zDamage
){
  const Lib *apLib[2];
  sqlite3 *adb[2];
  int i, k, n;
  apLib[0] = pStock;
  apLib[1] = &ours;
  for(i=0; i<2; i++){
    removeDb(azFile[i]);
    writeFile(azFile[i], aFile, nFile);
    adb[i] = openDb(apLib[i], azFile[i], 0);
    apLib[i]->exec(adb[i], zMode, 0, 0, 0);
  }
  for(n=0; n<2; n++){
    for(k=0; k<N_QUERY; k++){
      Text aText[2];
      memset(aText, 0, sizeof(aText));
      for(i=0; i<2; i++) answer(apLib[i], adb[i], aQuery[k].zSql, &aText[i]);
      check(strcmp(aText[0].z, aText[1].z)==0,
            "%s; %s: %s: %s\n stock %d bytes, ends %s ours  %d bytes, ends %s",
            zPragma, zMode, zDamage, aQuery[k].zSql,
            aText[0].n, &aText[0].z[aText[0].n>40 ? aText[0].n-40 : 0],
            aText[1].n, &aText[1].z[aText[1].n>40 ? aText[1].n-40 : 0]);
      for(i=0; i<2; i++) textClear(&aText[i]);
    }
  }
  for(i=0; i<2; i++){
    apLib[i]->close(adb[i]);
    removeDb(azFile[i]);
  }
}

int main(int argc, char **argv){
  static const char *const azPragma[] = {
    "PRAGMA auto_vacuum=none", "PRAGMA auto_vacuum=full"
  };
  static const char *const azMode[] = {
    "PRAGMA journal_mode=delete", "PRAGMA journal_mode=wal"
  };
  Lib stock;
  int i, k, m;
  if( argc!=2 ){
    fprintf(stderr, "usage: damaged STOCK\n");
    return 2;
  }
  if( loadStock(&stock, argv[1]) ) return 2;
  zFile = temporaryFile("damaged.db");
  azFile[0] = temporaryFile("damaged-stock.db");
  azFile[1] = temporaryFile("damaged-ours.db");
  for(k=0; k<2; k++){
    u8 *aSound;
    makeFile(azPragma[k]);
    aSound = malloc(nFile);
    if( aSound==0 ) return 2;
    memcpy(aSound, aFile, nFile);
    for(i=0; i<N_DAMAGE; i++){
      memcpy(aFile, aSound, nFile);
      if( aDamage[i].xDamage ) aDamage[i].xDamage();
      for(m=0; m<2; m++){
        if( m==1 && i%2==k ) continue;
        compare(&stock, azPragma[k], azMode[m], aDamage[i].zName);
      }
    }
    free(aSound);
    free(aFile);
    removeDb(zFile);
  }
  return finish();
}
