/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** VACUUM, VACUUM INTO and INSERT INTO an empty table SELECT * FROM one that is alike
** (hp_copy.c), on hp_layer.c: rows and entries of indexes are those that stock copies,
** to the byte, of damaged files, too; the b-trees are ones that stock finds nothing wrong
** with, goes on to insert into, and deletes from; errors are stock's, and leave what stock
** leaves.
**
**    copy STOCK [NAME]     STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "entries.h"

static const char zCopied[] = "b-trees copied bottom up";

/* Tables of all kinds, of which rows have been deleted, so that VACUUM has
** something to do, and rowids to give anew */
static const char zKinds[] =
  "CREATE TABLE plain(x, y); INSERT INTO plain SELECT b, e FROM t;"
  "CREATE TABLE indexed(x, y); INSERT INTO indexed SELECT c, e FROM t;"
  "CREATE INDEX ix ON indexed(y DESC, x); CREATE INDEX in_ ON indexed(x COLLATE nocase);"
  "CREATE UNIQUE INDEX iu ON indexed(rowid_of) WHERE rowid_of IS NOT NULL;"
  "CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT, x); INSERT INTO auto(x) SELECT a FROM t;"
  "CREATE TABLE alone(k TEXT PRIMARY KEY, v, w) WITHOUT ROWID;"
  "INSERT OR IGNORE INTO alone SELECT e, a, zeroblob(b*3) FROM t; CREATE INDEX ia ON alone(v, w);"
  "CREATE TABLE large(x); INSERT INTO large SELECT randomblob(1) FROM t LIMIT 1;"
  "INSERT INTO large SELECT zeroblob(b*40) FROM t WHERE b%9=0; CREATE TABLE empty(x PRIMARY KEY);"
  "INSERT INTO auto(id,x) VALUES(-7,1),(9223372036854775807,2); DELETE FROM auto WHERE id=9223372036854775807;"
  "DELETE FROM plain WHERE rowid%3=1; DELETE FROM indexed WHERE rowid%5=2;"
  "DELETE FROM auto WHERE id%4=1; DELETE FROM alone WHERE v<0; DELETE FROM t WHERE b%6=5;"
  "DELETE FROM large WHERE rowid=1";

/* All that the tables of both files say, and all indexes to the byte.  The files are closed */
static void sameFiles(const char *zOurs, const char *zStock, const char *zWhat){
  static const char *const azSql[] = {
    "SELECT rowid, * FROM t", "SELECT rowid, * FROM plain", "SELECT rowid, * FROM indexed",
    "SELECT rowid, * FROM auto", "SELECT * FROM alone", "SELECT rowid, length(x), x FROM large",
    "SELECT name, type, sql FROM sqlite_schema", "SELECT * FROM sqlite_sequence",
    "PRAGMA freelist_count", "PRAGMA auto_vacuum", "PRAGMA page_size", "PRAGMA integrity_check",
  };
  static const char *const azTree[] = { "i", "ix", "in_", "iu", "alone", "ia" };
  const char *azOld[2] = { azFile[0], azFile[1] };
  unsigned i;
  azFile[0] = zOurs;
  azFile[1] = zStock;
  for(i=0; i<2; i++) adb[i] = openDb(&stock, azFile[i], 0);
  for(i=0; i<sizeof(azSql)/sizeof(azSql[0]); i++){
    Text a = {0,0,0}, b = {0,0,0};
    answer(&stock, adb[0], azSql[i], &a);
    answer(&stock, adb[1], azSql[i], &b);
    check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s: %s\n ours  %.200s\n stock %.200s", zWhat, azSql[i], a.z, b.z);
    textClear(&a);
    textClear(&b);
  }
  for(i=0; i<2; i++) stock.close(adb[i]);
  for(i=0; i<sizeof(azTree)/sizeof(azTree[0]); i++) sameIndex(zWhat, azTree[i]);
  for(i=0; i<2; i++) azFile[i] = azOld[i];
}

static void beginVacuum(const char *zBegin){
  begin(zBegin, azTable[0]);
  both("ALTER TABLE t ADD COLUMN z");
  both("CREATE INDEX i ON t(e,b)");
  both("CREATE TABLE indexed0(x)");
  both("DROP TABLE indexed0");
}

static void kinds(void){
  Text sql = {0,0,0};
  const char *z = strstr(zKinds, "rowid_of");
  /* The column of the unique index is added to the table it is on */
  textAppend(&sql, "%.*s", (int)(strstr(zKinds, "CREATE UNIQUE")-zKinds), zKinds);
  textAppend(&sql, "ALTER TABLE indexed ADD COLUMN rowid_of;"
                   "UPDATE indexed SET rowid_of=rowid WHERE rowid%%2;");
  textAppend(&sql, "%s", strstr(zKinds, "CREATE UNIQUE"));
  check(z!=0, "the tables");
  both(sql.z);
  textClear(&sql);
}

static void testVacuum(void){
  static const char *const azBegin[][2] = {
    { "PRAGMA page_size=512", "VACUUM" },
    { "PRAGMA page_size=1024; PRAGMA journal_mode=WAL", "VACUUM" },
    { "PRAGMA page_size=1024; PRAGMA auto_vacuum=full", "VACUUM" },
    { "PRAGMA page_size=1024", "PRAGMA auto_vacuum=incremental; VACUUM" },
    { "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental", "PRAGMA auto_vacuum=none; VACUUM" },
    { "PRAGMA page_size=1024", "PRAGMA page_size=4096; VACUUM" },
    { "PRAGMA page_size=4096", "PRAGMA page_size=512; VACUUM" },
    { "PRAGMA page_size=2048; PRAGMA secure_delete=on; PRAGMA cache_size=10", "VACUUM" },
    { "PRAGMA page_size=65536", "VACUUM" },
    { "PRAGMA page_size=1024; PRAGMA temp_store=memory", "VACUUM" },
  };
  const char *zOurs = temporaryFile("copy-into-ours.db");
  const char *zStock = temporaryFile("copy-into-stock.db");
  unsigned i;
  for(i=0; i<sizeof(azBegin)/sizeof(azBegin[0]); i++){
    sqlite3_int64 n;
    int k;
    beginVacuum(azBegin[i][0]);
    kinds();
    n = counted(adb[0], zCopied);
    removeDb(zOurs);
    removeDb(zStock);
    for(k=0; k<2; k++){
      Text sql = {0,0,0};
      textAppend(&sql, "VACUUM INTO '%s'", k ? zStock : zOurs);
      runOn(apLib[k], adb[k], sql.z);
      textClear(&sql);
    }
    check(counted(adb[0], zCopied)>=n+8, "VACUUM INTO copied %lld b-trees", counted(adb[0], zCopied)-n);
    n = counted(adb[0], zCopied);
    both(azBegin[i][1]);
    check(counted(adb[0], zCopied)>=n+8, "VACUUM copied %lld b-trees", counted(adb[0], zCopied)-n);
    for(k=0; k<2; k++) apLib[k]->close(adb[k]);
    sameFiles(azFile[0], azFile[1], azBegin[i][0]);
    sameFiles(zOurs, zStock, "INTO");
    adb[1] = openDb(&stock, azFile[0], 0);
    storm("vacuum");
    finishPair();
    removeDb(zOurs);
    removeDb(zStock);
  }
}
/* INSERT INTO a table SELECT * FROM one that is alike: taken over while it is empty */
static void countRows(void *p, int op, const char *zDb, const char *zTab, sqlite3_int64 id){
  (void)op;
  (void)zDb;
  (void)zTab;
  *(sqlite3_int64*)p += id;
}
static void copied(const char *zSql, int bCopied){
  sqlite3_int64 n = counted(adb[0], zCopied);
  pairSame(zSql);
  check((counted(adb[0], zCopied)>n)==bCopied, "%s: %scopied", zSql, bCopied ? "not " : "");
  pairSame("SELECT changes(), total_changes(), last_insert_rowid()");
}
static void testInsert(void){
  static const char *const azTo[] = {
    "CREATE TABLE n(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e)",
    "CREATE TABLE n(a, b INT, c TEXT, d REAL, e)",
    "CREATE TABLE n(a, b INT, c TEXT, d REAL, e); CREATE INDEX nb ON n(b); CREATE INDEX tb ON t(b)",
  };
  int i, k;
  for(i=0; i<3; i++){
    for(k=0; k<3; k++){
      sqlite3_int64 nHook = 0;
      begin(k==0 ? "PRAGMA page_size=512" : k==1 ? "PRAGMA journal_mode=wal" : "PRAGMA auto_vacuum=full",
            i ? "CREATE TABLE t(a, b INT, c TEXT, d REAL, e);" : azTable[0]);
      both("DELETE FROM t WHERE b%9=3");
      both(azTo[i]);
      if( k==2 ) both("BEGIN; DELETE FROM t WHERE b%9=4; SAVEPOINT s");
      copied("INSERT INTO n SELECT * FROM t", 1);
      pairSame("SELECT rowid, * FROM n");
      copied("INSERT INTO n SELECT * FROM t", 0);
      if( k==2 ) both("ROLLBACK TO s; COMMIT");
      pairSame("SELECT rowid, * FROM n");
      both("DELETE FROM n");
      sqlite3_update_hook(adb[0], countRows, &nHook);
      /* Indexes have no hook */
      copied("INSERT INTO n SELECT * FROM t", i==2);
      check(nHook>0, "the hook was not called");
      sqlite3_update_hook(adb[0], 0, 0);
      both("DELETE FROM n");
      copied("INSERT OR REPLACE INTO n SELECT * FROM t", 1);
      both("CREATE TABLE m(a, b); CREATE TABLE o(a, b); INSERT INTO m VALUES(1,2)");
      copied("INSERT INTO o SELECT * FROM m", 1);
      copied("INSERT INTO o SELECT * FROM m WHERE 0", 0);
      both("CREATE TABLE x(id INTEGER PRIMARY KEY AUTOINCREMENT, v); CREATE TABLE y(id INTEGER PRIMARY KEY, v);"
           "INSERT INTO y VALUES(7,1),(9,2)");
      copied("INSERT INTO x SELECT * FROM y", 0);
      pairSame("SELECT * FROM sqlite_sequence");
      checkIntegrity(&ours, adb[0], azTo[i]);
      for(int j=0; j<2; j++) apLib[j]->close(adb[j]);
      adb[1] = openDb(&stock, azFile[0], 0);
      checkIntegrity(&stock, adb[1], azTo[i]);
      runOn(&stock, adb[1], "DELETE FROM n WHERE b%3=1; INSERT INTO n SELECT * FROM n WHERE 0; UPDATE n SET e=e||'z'");
      checkIntegrity(&stock, adb[1], azTo[i]);
      finishPair();
    }
  }
}


/* Tables with indexes of all kinds, and ones that are alike: @ is the name of the table */
static const char *const azAlike[] = {
  "CREATE TABLE @(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e);"
  "CREATE INDEX @1 ON @(a); CREATE INDEX @2 ON @(b DESC, c COLLATE nocase);"
  "CREATE INDEX @3 ON @(c COLLATE rtrim DESC, d); CREATE INDEX @4 ON @(e, a) WHERE b%3;"
  "CREATE INDEX @5 ON @(b+d, lower(c)); CREATE UNIQUE INDEX @6 ON @(e, c, b, a, d, id);",
  "CREATE TABLE @(id INTEGER PRIMARY KEY, a, b INT, c TEXT COLLATE nocase, d REAL, e, f AS (b+1),"
  " g TEXT AS (c||b) STORED);"
  "CREATE INDEX @1 ON @(f, g); CREATE INDEX @2 ON @(e); CREATE INDEX @3 ON @(c, a);"
  "CREATE INDEX @4 ON @(d) WHERE d IS NOT NULL;",
  "CREATE TABLE @(id INTEGER, a, b INT, c TEXT, d REAL, e, PRIMARY KEY(b DESC, c COLLATE rtrim, e)) WITHOUT ROWID;"
  "CREATE INDEX @1 ON @(a, d); CREATE INDEX @2 ON @(c COLLATE nocase); CREATE UNIQUE INDEX @3 ON @(e, b, c);",
  "CREATE TABLE @(a INT, b INT NOT NULL, c TEXT, d REAL, e, UNIQUE(b, e, c, d));"
  "CREATE UNIQUE INDEX @1 ON @(e, c, b, d) WHERE b NOT NULL; CREATE INDEX @2 ON @(1, b, c||d, e);",
};
static const int anAlike[] = { 7, 5, 4, 4 };   /* B-trees of each */
#define nAlike ((int)(sizeof(anAlike)/sizeof(anAlike[0])))

/* azAlike[i] for table zTab, with zBefore in front */
static void alike(Text *pOut, const char *zBefore, int i, const char *zTab){
  const char *z;
  textAppend(pOut, "%s", zBefore);
  for(z=azAlike[i]; *z; z++){
    if( *z=='@' ) textAppend(pOut, "%s", zTab);
    else textAppend(pOut, "%c", *z);
  }
}
/* Two databases with tables t, which has rows, and n, which has none */
static void beginAlike(const char *zBegin, int i){
  Text sql = {0,0,0};
  alike(&sql, "", i, "t");
  begin(zBegin, i==2 ? azTable[2] : sql.z);
  if( i==2 ){
    /* Of equal keys one row remains */
    both("ALTER TABLE t RENAME TO u; DROP TABLE IF EXISTS t");
    both(sql.z);
    both("INSERT OR IGNORE INTO t SELECT id,a,b,c,d,e FROM u; DROP TABLE u");
  }
  both(i==3 ? "DELETE FROM t WHERE a%9=3" : "DELETE FROM t WHERE b%9=3");
  sql.n = 0;
  alike(&sql, "", i, "n");
  both(sql.z);
  textClear(&sql);
}
/* Run zSql, which is to copy nTree b-trees */
static void copiedTrees(const char *zSql, int nTree){
  sqlite3_int64 n = counted(adb[0], zCopied);
  pairSame(zSql);
  n = counted(adb[0], zCopied) - n;
  check(n==nTree, "%s: copied %lld b-trees, not %d", zSql, n, nTree);
  pairSame("SELECT changes(), total_changes(), last_insert_rowid()");
}
/* Close both, and check that all indexes of table cTab are the same in both */
static void endAlike(const char *zWhat, int i, char cTab){
  char zAuto[30];
  char zTab[2] = { cTab, 0 };
  int k;
  for(k=0; k<2; k++) apLib[k]->close(adb[k]);
  for(k=1; k<anAlike[i]-(i>1); k++){
    char zIndex[3] = { cTab, (char)('0'+k), 0 };
    sameIndex(zWhat, zIndex);
  }
  snprintf(zAuto, sizeof(zAuto), "sqlite_autoindex_%c_1", cTab);
  if( i==2 ) sameIndex(zWhat, zTab);
  if( i==3 ) sameIndex(zWhat, zAuto);
  adb[1] = openDb(&stock, azFile[0], 0);
}
static void testIndexes(void){
  static const char *const azBegin[] = {
    "PRAGMA page_size=512", "PRAGMA page_size=1024; PRAGMA journal_mode=wal",
    "PRAGMA page_size=2048; PRAGMA auto_vacuum=full", "PRAGMA page_size=4096; PRAGMA cache_size=10",
    "PRAGMA page_size=8192; PRAGMA secure_delete=on", "PRAGMA page_size=16384", "PRAGMA page_size=32768",
    "PRAGMA page_size=65536", "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental; PRAGMA journal_mode=wal",
    "PRAGMA page_size=1024; PRAGMA encoding=utf16",
  };
  unsigned k;
  int i;
  for(k=0; k<sizeof(azBegin)/sizeof(azBegin[0]); k++){
    for(i=0; i<nAlike; i++){
      int n = anAlike[i];
      beginAlike(azBegin[k], i);
      both("INSERT INTO t(b,c,d,e) VALUES(5000,'x','y','z')");
      copiedTrees("INSERT INTO n SELECT * FROM t", n);
      pairSame(i==2 ? "SELECT * FROM n" : "SELECT rowid, * FROM n");
      pairSame("PRAGMA integrity_check");
      pairSame("INSERT INTO n SELECT * FROM t");
      /* In a transaction, with conflicts that never come */
      both("BEGIN; DELETE FROM n; SAVEPOINT s");
      /* Generated columns are not copied row by row */
      copiedTrees("INSERT OR REPLACE INTO n SELECT * FROM t", i==1 ? 0 : n);
      both("ROLLBACK TO s");
      copiedTrees("INSERT OR IGNORE INTO n SELECT * FROM t", i==1 ? 0 : n);
      both("COMMIT; DELETE FROM n WHERE b%5=1; DELETE FROM n; VACUUM");
      copiedTrees("INSERT INTO n SELECT * FROM t", n);
      pairSame("PRAGMA integrity_check");
      endAlike(azBegin[k], i, 'n');
      runOn(&stock, adb[1], "UPDATE OR IGNORE n SET e=e||'z', b=b+1; DELETE FROM n WHERE b%3=1;"
            "INSERT OR IGNORE INTO n(a,b,c,d,e) SELECT a,b+7,c,d,e FROM t");
      check(integer(&stock, adb[1], "SELECT integrity_check='ok' FROM pragma_integrity_check")==1,
            "%s: the file is not sound", azBegin[k]);
      finishPair();
    }
  }
}

/* Where indexes are left to SQLite: not empty, seen, of the application */
static int inReverse(void *p, int n, const void *a, int m, const void *b){
  int c = memcmp(b, a, n<m ? n : m);
  (void)p;
  return c ? c : m-n;
}
static void testIndexesLeft(void){
  sqlite3_int64 nHook = 0;
  sqlite3_stmt *pStmt;
  int i;
  begin("PRAGMA page_size=1024", azTable[0]);
  both("CREATE INDEX tb ON t(b); CREATE INDEX te ON t(e);"
       "CREATE TABLE n(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e);"
       "CREATE INDEX nb ON n(b); CREATE INDEX ne ON n(e); INSERT INTO n(id,b) VALUES(-5,1)");
  copiedTrees("INSERT INTO n SELECT * FROM t", 0);
  both("DELETE FROM n");
  /* A hook is for the rows; indexes have none */
  sqlite3_update_hook(adb[0], countRows, &nHook);
  copiedTrees("INSERT INTO n SELECT * FROM t", 2);
  check(nHook==2500*2501/2, "the hook saw rows of %lld", nHook);
  sqlite3_update_hook(adb[0], 0, 0);
  both("DELETE FROM n");
  /* Somebody is about to read the index that is empty */
  pStmt = prepared(adb[0], "SELECT 1 UNION ALL SELECT b FROM n INDEXED BY nb WHERE b>0");
  check(sqlite3_step(pStmt)==SQLITE_ROW, "no row");
  pairSame("INSERT INTO n SELECT * FROM t");
  for(i=0; sqlite3_step(pStmt)==SQLITE_ROW; i++){}
  check(i>=2400, "%d rows of the index", i);
  sqlite3_finalize(pStmt);
  both("DELETE FROM n; PRAGMA hp_offload=off");
  copiedTrees("INSERT INTO n SELECT * FROM t", 0);
  execute(adb[0], "PRAGMA hp_offload=force");
  both("DELETE FROM n; DROP INDEX tb");
  /* Not alike: rows are inserted */
  copiedTrees("INSERT INTO n SELECT * FROM t", 0);
  both("DROP INDEX nb; DELETE FROM n; CREATE TABLE x(id INTEGER PRIMARY KEY AUTOINCREMENT, v);"
       "CREATE TABLE y(id INTEGER PRIMARY KEY, v); CREATE INDEX xv ON x(v); CREATE INDEX yv ON y(v);"
       "INSERT INTO y SELECT b, e FROM t GROUP BY b");
  copiedTrees("INSERT INTO x SELECT * FROM y", 1);
  pairSame("SELECT * FROM sqlite_sequence");
  /* A row that is too long, and one whose entry is */
  both("UPDATE t SET a=zeroblob(18000000) WHERE id=500");
  for(i=0; i<2; i++) apLib[i]->limit(adb[i], SQLITE_LIMIT_LENGTH, 17000000);
  copiedTrees("INSERT INTO n SELECT * FROM t", 0);
  pairSame("SELECT count(*) FROM n WHERE id>0");
  both("UPDATE t SET a=1 WHERE id=500");
  for(i=0; i<2; i++) apLib[i]->limit(adb[i], SQLITE_LIMIT_LENGTH, 1000000000);
  both("DELETE FROM n; CREATE INDEX na ON n(a, e); CREATE INDEX ta ON t(a, e)");
  both("UPDATE t SET a=zeroblob(16999900), e=zeroblob(200) WHERE id=501");
  for(i=0; i<2; i++) apLib[i]->limit(adb[i], SQLITE_LIMIT_LENGTH, 17000050);
  copiedTrees("INSERT INTO n SELECT * FROM t", 0);
  for(i=0; i<2; i++) apLib[i]->limit(adb[i], SQLITE_LIMIT_LENGTH, 1000000000);
  both("DELETE FROM n");
  copiedTrees("INSERT INTO n SELECT * FROM t", 3);
  both("DELETE FROM n; UPDATE t SET a=1 WHERE id=501; DROP INDEX na; DROP INDEX ta");
  pairSame("PRAGMA integrity_check");
  /* Another file, with pages of another size */
  both("PRAGMA journal_mode=memory; ATTACH ':memory:' AS m; PRAGMA m.page_size=4096;"
       "CREATE TABLE m.n(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e); CREATE INDEX m.ne ON n(e)");
  copiedTrees("INSERT INTO m.n SELECT * FROM t", 2);
  pairSame("PRAGMA m.integrity_check");
  pairSame("SELECT * FROM m.n INDEXED BY ne WHERE e>''");
  endSame("left", "te");
  finishPair();
  begin("PRAGMA page_size=1024", azTable[0]);
  sqlite3_create_collation(adb[0], "reverse", SQLITE_UTF8, 0, inReverse);
  execute(adb[0], "CREATE INDEX te ON t(e COLLATE reverse); CREATE TABLE n(id INTEGER PRIMARY KEY, a, b INT, c TEXT,"
          " d REAL, e); CREATE INDEX ne ON n(e COLLATE reverse)");
  {
    sqlite3_int64 n = counted(adb[0], zCopied);
    execute(adb[0], "INSERT INTO n SELECT * FROM t; PRAGMA integrity_check");
    check(counted(adb[0], zCopied)==n+1, "copied by a collation of the application");
    execute(adb[0], "VACUUM");
    check(counted(adb[0], zCopied)==n+3, "VACUUM copied by a collation of the application");
  }
  sqlite3_close(adb[0]);
  finishPair();
}

/* Leaf number i of the index at iRoot of a file, from 0 on: its page, or NULL */
static unsigned char *leaf(unsigned char *aFile, unsigned szPage, unsigned iRoot, int *pi){
  unsigned char *a = &aFile[(size_t)(iRoot-1)*szPage];
  int nCell = (int)get2(&a[3]);
  int k;
  if( a[0]==10 || a[0]==13 ) return (*pi)-- == 0 ? a : 0;
  for(k=0; k<=nCell; k++){
    unsigned char *p = leaf(aFile, szPage, k<nCell ? get4(&a[get2(&a[12+2*k])]) : get4(&a[8]), pi);
    if( p ) return p;
  }
  return 0;
}
/* Damage leaf a in way iWay.  Returns 0 if there is none like it */
static int damageLeaf(unsigned char *a, int iWay){
  int nCell = (int)get2(&a[3]);
  int k = nCell/2;
  unsigned char *z = &a[get2(&a[8+2*k])];
  unsigned x = get2(&a[8+2*k]);
  switch( iWay ){
    case 0:              /* Two entries have changed places */
      put2(&a[8+2*k], get2(&a[10+2*k]));
      put2(&a[10+2*k], x);
      return 1;
    case 1:              /* The first and the last one */
      x = get2(&a[8]);
      put2(&a[8], get2(&a[8+2*(nCell-1)]));
      put2(&a[8+2*(nCell-1)], x);
      return 1;
    case 2:              /* Two are the same */
      put2(&a[8+2*k], get2(&a[10+2*k]));
      return 1;
    case 3:              /* The size of the header: too large */
      z[1] = 0x7f;
      return 1;
    case 4:              /* ... of none */
      z[1] = 1;
      return 1;
    case 5:              /* ... of nothing but itself */
      z[1] = 0;
      return 1;
    case 6:              /* Types that do not exist */
      z[2] = 10;
      return 1;
    case 7:
      z[2] = 11;
      return 1;
    case 8:              /* A value that goes on behind the record */
      z[2] = 0x7d;
      return 1;
    case 9:              /* A column less */
      z[1]--;
      return 1;
    case 10:             /* One of another type */
      z[2] = z[2]==9 ? 8 : 9;
      return 1;
    case 11:             /* A record of no bytes, or of many */
      z[0] = 0;
      return 1;
    case 12:
      z[0] = 0x7f;
      return 1;
    case 13:             /* No page of an index */
      a[0] = 13;
      return 1;
    case 14:             /* A cell that is somewhere in another one */
      put2(&a[8+2*k], 512-17);
      return 1;
    case 15:             /* A type of two bytes that would have one */
      z[2] = 0x80;
      z[3] = 5;
      return 1;
  }
  return 0;
}
/* Damaged sources: what stock makes of them, with its errors.  bBegin: in a transaction; else VACUUM, too */
static void damagedCopy(int iTable, const char *zIndex, int iLeaf, int iWay, int bBegin){
  unsigned char *aFile;
  unsigned char *a;
  char zWhat[100];
  char zSql[100];
  int n, i;
  unsigned iRoot;
  snprintf(zWhat, sizeof(zWhat), "table %d, index %s, leaf %d, way %d", iTable, zIndex, iLeaf, iWay);
  snprintf(zSql, sizeof(zSql), "SELECT rootpage FROM sqlite_schema WHERE name='%s'", zIndex);
  beginAlike("PRAGMA page_size=512", iTable);
  iRoot = (unsigned)integer(&stock, adb[1], zSql);
  for(i=0; i<2; i++) apLib[i]->close(adb[i]);
  aFile = readFile(azFile[1], &n);
  a = leaf(aFile, 512, iRoot, &iLeaf);
  check(a!=0, "%s: no leaf", zWhat);
  if( a && get2(&a[3])>=3 ) damageLeaf(a, iWay);
  for(i=0; i<2; i++){
    writeFile(azFile[i], aFile, n);
    adb[i] = openDb(apLib[i], azFile[i], 0);
  }
  free(aFile);
  both("PRAGMA synchronous=OFF");
  execute(adb[0], "PRAGMA hp_offload=force");
  if( bBegin ) both("BEGIN; INSERT INTO n(b,c,e) VALUES(1,2,3); DELETE FROM n");
  pairSame("INSERT INTO n SELECT * FROM t");
  pairSame("SELECT changes(), total_changes(), last_insert_rowid()");
  pairSame("SELECT count(*), total(b), max(e) FROM n NOT INDEXED");
  pairSame("PRAGMA integrity_check(n)");
  if( bBegin ) pairSame("COMMIT");
  else pairSame("VACUUM");
  endAlike(zWhat, iTable, bBegin || iWay>2 ? 'n' : 't');
  finishPair();
}
static void testDamaged(void){
  int iWay, i;
  for(iWay=0; iWay<16; iWay++){
    for(i=0; i<nAlike; i++){
      damagedCopy(i, i==3 ? "sqlite_autoindex_t_1" : "t1", iWay%3 ? 5 : 0, iWay, iWay%2);
      damagedCopy(i, "t2", 2, iWay, iWay%2==0);
      if( i==2 ) damagedCopy(i, "t", 3, iWay, 0);
      if( i==0 ) damagedCopy(i, "t6", 40, iWay, 1);
    }
  }
}

/* Copies with indexes that are stopped, run out of memory, or of disk: the file is as it was */
static void testIndexesFail(void){
  int k, n;
  for(k=0; k<4; k++){
    int rc = SQLITE_ERROR;
    int nFailed = 0;
    int i = k==3 ? 2 : k;
    if( k==1 ) failMemory(1);
    beginAlike(k==2 ? "PRAGMA page_size=512; PRAGMA journal_mode=wal; PRAGMA cache_size=10"
                    : "PRAGMA page_size=512; PRAGMA cache_size=10", i);
    if( k==1 ) both("DELETE FROM t WHERE rowid>500");
    if( k>=2 ) failWrites(1);
    for(n=0; rc; n+=(n<10 ? 1 : longRun() ? 7 : 1+n/5)){
      sqlite3 *db = adb[0];
      failAfter(k==0 ? -1 : n, n%2);
      if( k==0 ) stopAt(db, 500, n);
      rc = sqlite3_exec(db, "INSERT INTO n SELECT * FROM t", 0, 0, 0);
      fault.nLeft = -1;
      (void)stopEnd(db);
      nFailed += rc!=SQLITE_OK;
      check(rc==SQLITE_OK || integer(&ours, db, "SELECT count(*) FROM n")==0, "failed at %d: rows are left", n);
      if( rc==SQLITE_OK && fault.nFailed ){
        rc = SQLITE_IOERR;
        execute(db, "DELETE FROM n");
      }
      checkIntegrity(&ours, db, "INSERT failed");
    }
    check(nFailed>10, "INSERT failed %d times", nFailed);
    if( k>=2 ) failWrites(0);
    runOn(&stock, adb[1], "INSERT INTO n SELECT * FROM t");
    endAlike("INSERT that had failed", i, 'n');
    finishPair();
    if( k==1 ) failMemory(0);
  }
}

/* VACUUM that is stopped, runs out of memory, or of disk, leaves the file as it was */
static void testVacuumFails(void){
  int k, n;
  for(k=0; k<3; k++){
    int rc = SQLITE_ERROR;
    int nFailed = 0;
    if( k==1 ) failMemory(1);
    beginVacuum("PRAGMA page_size=512");
    if( k==1 ) both("DELETE FROM t WHERE id>500");
    kinds();
    if( k==2 ) failWrites(1);
    for(n=0; rc; n+=(n<10 ? 1 : longRun() ? 7 : n/3)){
      sqlite3 *db = adb[0];
      failAfter(k==0 ? -1 : n, n%2);
      if( k==0 ) stopAt(db, 500, n);
      rc = sqlite3_exec(db, "VACUUM", 0, 0, 0);
      fault.nLeft = -1;
      (void)stopEnd(db);
      nFailed += rc!=SQLITE_OK;
      if( rc==SQLITE_OK && fault.nFailed ) rc = SQLITE_IOERR;
      checkIntegrity(&ours, db, "VACUUM failed");
    }
    check(nFailed>10, "VACUUM failed %d times", nFailed);
    if( k==2 ) failWrites(0);
    runOn(&stock, adb[1], "VACUUM");
    for(n=0; n<2; n++) apLib[n]->close(adb[n]);
    sameFiles(azFile[0], azFile[1], "VACUUM that had failed");
    adb[1] = openDb(&stock, azFile[0], 0);
    finishPair();
    if( k==1 ) failMemory(0);
  }
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "vacuum", testVacuum },
    { "fails", testVacuumFails }, { "insert", testInsert },
    { "indexes", testIndexes }, { "left", testIndexesLeft },
    { "damaged", testDamaged }, { "stopped", testIndexesFail },
  };
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: copy STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("copy-ours.db");
  azFile[1] = temporaryFile("copy-stock.db");
  runTests(aTest, sizeof(aTest)/sizeof(aTest[0]), argc<3 ? 0 : argv[2]);
  return finish();
}
