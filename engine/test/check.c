/*
** 2026-11-29
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** PRAGMA integrity_check and quick_check (hp_trees.c, hp_treepage.c,
** hp_checktask.c, hp_checkrows.c, hp_checkplan.c): in clean files and in damaged
** ones the rows are stock's, word for word; clean files are taken over.
**
**    check STOCK [NAME]     STOCK is the unpatched library; only test NAME
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pair.h"

static const char zTrees[] = "files whose b-trees were checked by workers";
static const char zTables[] = "tables checked in one scan";

/* Rows of all types, as many of them as %s says.  e is on overflow pages in some */
static const char zRows[] =
  "INSERT INTO t(a,b,c,d,e) SELECT"
  " CASE value%7 WHEN 0 THEN NULL WHEN 1 THEN value*1.5 WHEN 2 THEN value"
  "   WHEN 3 THEN (value*7919)%1000*1000003 WHEN 4 THEN -value"
  "   WHEN 5 THEN 'text'||(value%50) ELSE x'00ff'||value END,"
  " (value*7919)%997+value/997*1000,"
  " CASE value%3 WHEN 0 THEN 'Abc'||(value%20) WHEN 1 THEN 'aBC'||(value%20)"
  "   ELSE 'abc'||(value%20)||'  ' END,"
  " CASE value%5 WHEN 0 THEN value WHEN 1 THEN value/4.0 WHEN 2 THEN -0.0"
  "   WHEN 3 THEN 1e15+value ELSE NULL END,"
  " CASE value%11 WHEN 0 THEN printf('%.*c',value%900,'x') ELSE value||'y' END"
  " FROM " SERIES("1800");

/* What a table may be */
static const char *const azTable[] = {
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT NOT NULL, c TEXT, d REAL, e,"
  " UNIQUE(b,c));",
  "CREATE TABLE t(a, b INT, c TEXT COLLATE nocase CHECK(length(c)>2), d REAL, e,"
  " f AS (b+1), g TEXT AS (c||b) STORED, CHECK(b>=0 OR d IS NULL));",
  "CREATE TABLE t(id INTEGER, a, b INT, c TEXT, d REAL, e,"
  " n INTEGER NOT NULL DEFAULT 1, PRIMARY KEY(b DESC,c,e)) WITHOUT ROWID;",
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a ANY, b INTEGER NOT NULL, c TEXT,"
  " d REAL, e ANY, i BLOB) STRICT;",
  "CREATE TABLE t(c TEXT COLLATE rtrim, b NUMERIC UNIQUE, e, d DOUBLE, a,"
  " PRIMARY KEY(c,b));",
};

/* Indexes of them */
static const char *const azIndex[] = {
  "CREATE INDEX i ON t(a); CREATE INDEX j ON t(b DESC, c); CREATE INDEX k ON t(d)",
  "CREATE INDEX i ON t(c COLLATE nocase, b); CREATE INDEX j ON t(c COLLATE rtrim DESC);"
  "CREATE UNIQUE INDEX k ON t(b)",
  "CREATE INDEX i ON t(d DESC, a DESC, b); CREATE INDEX j ON t(e); CREATE INDEX k ON t(e,c,b,a,d)",
  "CREATE INDEX i ON t(b+d, lower(c)); CREATE INDEX j ON t(abs(b)%10, c||e, substr(e,1,3));"
  "CREATE INDEX k ON t(CAST(d AS REAL), d*1.0, +d)",
  "CREATE INDEX i ON t(a) WHERE a IS NOT NULL; CREATE INDEX j ON t(b) WHERE b%3=0 AND c LIKE 'a%';"
  "CREATE INDEX k ON t(b) WHERE b<0",
  "CREATE UNIQUE INDEX i ON t(b,a,c,d,e) WHERE a IS NULL OR b>990; CREATE INDEX j ON t(a,a);"
  "CREATE INDEX k ON t(length(e), typeof(a))",
  "CREATE UNIQUE INDEX i ON t(e||c||b||coalesce(a,'')||coalesce(d,''))",
};
#define COUNT(A) (sizeof(A)/sizeof((A)[0]))

/* What is asked of each file */
static const char *const azCheck[] = {
  "PRAGMA integrity_check",
  "PRAGMA quick_check",
  "PRAGMA integrity_check(3)",
  "PRAGMA integrity_check(t)",
  "PRAGMA quick_check(t)",
  "PRAGMA main.integrity_check(sqlite_schema)",
  "PRAGMA quick_check(1)",
};

static void finishPair(void){
  int i;
  for(i=0; i<2; i++){
    if( adb[i] ) apLib[i]->close(adb[i]);
    adb[i] = 0;
    removeDb(azFile[i]);
  }
  check(sqlite3_memory_used()==0, "%lld bytes are left", sqlite3_memory_used());
}

/* The offload is forced, with another number of workers each time */
static void force(void){
  static int n = 0;
  Text sql = {0,0,0};
  textAppend(&sql, "PRAGMA hp_offload=force; PRAGMA hp_threads=%d", 1+n++%3);
  execute(adb[0], sql.z);
  textClear(&sql);
}

/* Both open the file of n bytes */
static void openBoth(const unsigned char *a, int n){
  int i;
  for(i=0; i<2; i++){
    removeDb(azFile[i]);
    writeFile(azFile[i], a, n);
    adb[i] = openDb(apLib[i], azFile[i], 0);
  }
}

/* The same script on two new databases */
static void begin(const char *zBegin, const char *zTable){
  int i;
  for(i=0; i<2; i++){
    removeDb(azFile[i]);
    adb[i] = openDb(apLib[i], azFile[i], 0);
  }
  execute(adb[0], "PRAGMA hp_offload=off");
  both(zBegin);
  both("PRAGMA synchronous=OFF");
  both("BEGIN");
  both(zTable);
  both(zRows);
  both("COMMIT");
}

/* All checks give the same.  How many tables ours took over, and files */
static void checkAll(const char *zWhat, int *pnTable, int *pnFile){
  sqlite3_int64 nTable = counted(adb[0], zTables);
  sqlite3_int64 nFile = counted(adb[0], zTrees);
  unsigned i;
  force();
  for(i=0; i<COUNT(azCheck); i++){
    Text a = {0,0,0}, b = {0,0,0};
    answer(apLib[0], adb[0], azCheck[i], &a);
    answer(apLib[1], adb[1], azCheck[i], &b);
    check(a.n==b.n && memcmp(a.z, b.z, a.n)==0, "%s: %s\n ours  %.900s\n stock %.900s", zWhat,
          azCheck[i], a.z, b.z);
    textClear(&a);
    textClear(&b);
  }
  execute(adb[0], "PRAGMA hp_offload=off");
  if( pnTable ) *pnTable = (int)(counted(adb[0], zTables)-nTable);
  if( pnFile ) *pnFile = (int)(counted(adb[0], zTrees)-nFile);
}

/* Is page 1 an interior page without a cell?  Then scans of the schema are left
** to SQLite */
static int isBare(void){
  int n;
  unsigned char *a = readFile(azFile[0], &n);
  int bBare = n>512 && a[100]==5 && get2(&a[103])==0;
  free(a);
  return bBare;
}

/* The file is clean, and taken over */
static void checkClean(const char *zWhat){
  int nTable, nFile;
  sqlite3_int64 nDeclined = counted(adb[0], "given back: other");
  checkIntegrity(&stock, adb[1], zWhat);
  checkAll(zWhat, &nTable, &nFile);
  check(nFile==(int)COUNT(azCheck), "%s: the b-trees were taken over %d times", zWhat, nFile);
  check(nTable>=6, "%s: tables were taken over %d times", zWhat, nTable);
  nDeclined = counted(adb[0], "given back: other")-nDeclined;
  check(nDeclined==0 || isBare(), "%s: %lld times it was given back", zWhat, nDeclined);
}

/* Every index of every table, and every kind of file */
static void testClean(void){
  static const char *const azBegin[] = {
    "PRAGMA page_size=512",
    "PRAGMA page_size=1024; PRAGMA journal_mode=WAL",
    "PRAGMA page_size=512; PRAGMA auto_vacuum=full",
    "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=2",
    "PRAGMA page_size=1024; PRAGMA auto_vacuum=incremental; PRAGMA cache_size=10",
    "PRAGMA page_size=65536",
    "PRAGMA page_size=2048; PRAGMA locking_mode=exclusive",
  };
  unsigned i, k;
  for(i=0; i<COUNT(azTable); i++){
    for(k=0; k<COUNT(azIndex); k++){
      Text what = {0,0,0};
      const char *zBegin = azBegin[(i+k)%COUNT(azBegin)];
      textAppend(&what, "%s, %s, %s", zBegin, azTable[i], azIndex[k]);
      begin(zBegin, azTable[i]);
      both(azIndex[k]);
      if( k%2 ) both("CREATE TABLE x AS SELECT * FROM t; DROP TABLE x");
      if( k%3==1 ) both("DELETE FROM t WHERE b%4=1; UPDATE t SET e=e||'z' WHERE b%5=1");
      if( k%3==2 ) both("ALTER TABLE t ADD COLUMN later TEXT NOT NULL DEFAULT 'x'");
      checkClean(what.z);
      finishPair();
      textClear(&what);
    }
  }
}

/* Pages with bytes at their ends that are not used */
static void testReserved(void){
  int nReserved = 40;
  int n;
  unsigned char *a;
  removeDb(azFile[0]);
  adb[0] = openDb(&ours, azFile[0], 0);
  check(sqlite3_file_control(adb[0], "main", SQLITE_FCNTL_RESERVE_BYTES, &nReserved)==SQLITE_OK,
        "no bytes are reserved");
  execute(adb[0], "PRAGMA page_size=1024; PRAGMA auto_vacuum=full");
  execute(adb[0], azTable[0]);
  execute(adb[0], zRows);
  execute(adb[0], azIndex[2]);
  sqlite3_close(adb[0]);
  a = readFile(azFile[0], &n);
  check(a[20]==40, "%d bytes are reserved", a[20]);
  openBoth(a, n);
  checkClean("reserved bytes");
  free(a);
  finishPair();
}

/* Where else tables may be, and what they may be called by */
static void testElsewhere(void){
  int nTable, nFile;
  begin("PRAGMA page_size=1024", azTable[0]);
  both("CREATE INDEX i ON t(e)");
  checkClean("alone");
  both("ATTACH ':memory:' AS m; CREATE TABLE m.v AS SELECT * FROM t; CREATE INDEX m.vi ON v(c,d);"
       "CREATE TEMP TABLE w AS SELECT * FROM t; CREATE INDEX temp.wi ON w(d);"
       "CREATE VIEW view AS SELECT * FROM t; CREATE TABLE seq(x INTEGER PRIMARY KEY AUTOINCREMENT)");
  checkAll("attached", &nTable, &nFile);
  check(nFile==(int)COUNT(azCheck) && nTable>10, "attached: %d files, %d tables", nFile, nTable);
  force();
  pairSame("PRAGMA m.integrity_check");
  pairSame("PRAGMA temp.quick_check");
  pairSame("PRAGMA integrity_check(nosuch)");
  pairSame("PRAGMA integrity_check(view)");
  pairSame("PRAGMA integrity_check(v)");
  pairSame("SELECT * FROM pragma_integrity_check");
  pairSame("SELECT * FROM pragma_quick_check('t')");
  both("PRAGMA ignore_check_constraints=on");
  checkAll("CHECK ignored", 0, 0);
  both("PRAGMA cell_size_check=on");
  checkAll("cell_size_check", 0, 0);
  both("PRAGMA cell_size_check=off; PRAGMA mmap_size=10000000");
  checkAll("mmap", 0, 0);
  finishPair();
  /* Empty, and nearly */
  begin("PRAGMA page_size=512", azTable[1]);
  both("DELETE FROM t");
  checkAll("empty", 0, 0);
  both("DROP TABLE t");
  checkAll("nothing", 0, 0);
  finishPair();
}

/* Tables of a page are not worth a plan, in a file that nobody has read, either */
static void testSmall(void){
  unsigned char *a;
  int n, k;
  begin("PRAGMA page_size=512", azTable[0]);
  both("CREATE INDEX i ON t(e); CREATE TABLE s1(x INT, y); CREATE INDEX si ON s1(x,y);"
       "INSERT INTO s1 VALUES(1,2); CREATE TABLE s2(x PRIMARY KEY) WITHOUT ROWID");
  apLib[1]->close(adb[1]);
  adb[1] = 0;
  a = readFile(azFile[1], &n);
  finishPair();
  openBoth(a, n);
  free(a);
  execute(adb[0], "PRAGMA hp_offload=on");
  for(k=0; k<2; k++){
    pairSame("PRAGMA integrity_check");
    pairSame("PRAGMA quick_check");
    check(counted(adb[0], zTables)==2*(k+1), "%lld tables were taken over", counted(adb[0], zTables));
    check(counted(adb[0], zTrees)==2*(k+1), "%lld files were taken over", counted(adb[0], zTrees));
    check(counted(adb[0], "taken over")<=4*(k+1), "plans were made for small tables");
  }
  finishPair();
}

/* Dirty pages: what the connection sees, and not what the file holds */
static void testTransactions(void){
  int nTable, nFile, k;
  for(k=0; k<2; k++){
    begin(k ? "PRAGMA page_size=512; PRAGMA journal_mode=WAL" : "PRAGMA page_size=512", azTable[0]);
    both("CREATE INDEX i ON t(a,d); CREATE INDEX j ON t(e) WHERE b%3");
    both("BEGIN; UPDATE t SET a=a||'!', e=e||'?' WHERE b%3=1; DELETE FROM t WHERE b%50=3");
    checkAll("in a transaction", &nTable, &nFile);
    check(nFile==0, "b-trees were read around dirty pages");
    check(nTable>0, "tables of a transaction are left to SQLite");
    both("CREATE TABLE x AS SELECT e FROM t; CREATE INDEX xi ON x(e)");
    checkAll("a new table", 0, 0);
    both("ROLLBACK");
    checkClean("rolled back");
    both("BEGIN; SELECT count(*) FROM t");
    runOn(apLib[0], adb[0], "PRAGMA cache_size=5");
    checkClean("reading");
    both("COMMIT");
    finishPair();
  }
}

/* A readable schema that says something else than the file */
static const char *const azSchema[] = {
  "sql='CREATE INDEX i ON t(d)' WHERE name='i'",
  "sql='CREATE INDEX i ON t(b,e)' WHERE name='i'",
  "sql='CREATE INDEX i ON t(b DESC)' WHERE name='i'",
  "sql='CREATE UNIQUE INDEX j ON t(c)' WHERE name='j'",
  "sql='CREATE INDEX j ON t(c COLLATE nocase)' WHERE name='j'",
  "sql='CREATE INDEX j ON t(c COLLATE rtrim)' WHERE name='j'",
  "sql='CREATE INDEX j ON t(c) WHERE b>100' WHERE name='j'",
  "sql='CREATE INDEX k ON t(b%8)' WHERE name='k'",
  "sql='CREATE UNIQUE INDEX k ON t(b%7)' WHERE name='k'",
  "sql=replace(sql,'a, b INT','a NOT NULL, b INT') WHERE name='t'",
  "sql=replace(sql,'d REAL','d REAL NOT NULL') WHERE name='t'",
  "sql=replace(sql,'d REAL','d TEXT') WHERE name='t'",
  "sql=replace(sql,'d REAL','d REAL CHECK(d<1700)') WHERE name='t'",
  "sql=replace(sql,'c TEXT','c INT') WHERE name='t'",
  "sql=replace(sql,' e,',' e INT,') WHERE name='t'",
  "sql=replace(sql,'a, b INT','a TEXT, b INT') WHERE name='t'",
  "sql=sql||' STRICT' WHERE name='t'",
  "rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='j') WHERE name='i'",
  "rootpage=2 WHERE name='j'",
  "rootpage=0 WHERE name='i'",
  "rootpage=100000 WHERE name='i'",
  "sql='CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT)' WHERE name='t'",
};
static void testSchema(void){
  unsigned i;
  unsigned char *a;
  int n;
  begin("PRAGMA page_size=512", "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d REAL, e,"
        " n DEFAULT '12');");
  both("CREATE INDEX i ON t(b); CREATE INDEX j ON t(c); CREATE INDEX k ON t(b%7);"
       "CREATE TABLE u AS SELECT * FROM t LIMIT 100; CREATE INDEX ui ON u(a);"
       "UPDATE t SET d=d+0.5, c=c||'1', e='12' WHERE id%97=0; UPDATE t SET c='17.5' WHERE id=900");
  checkClean("before");
  apLib[1]->close(adb[1]);
  adb[1] = 0;
  a = readFile(azFile[1], &n);
  for(i=0; i<COUNT(azSchema); i++){
    Text sql = {0,0,0};
    unsigned char *aNew;
    textAppend(&sql, "PRAGMA writable_schema=on; UPDATE sqlite_schema SET %s", azSchema[i]);
    finishPair();
    openBoth(a, n);
    runOn(&stock, adb[1], sql.z);
    apLib[1]->close(adb[1]);
    sqlite3_close(adb[0]);
    aNew = readFile(azFile[1], &n);
    openBoth(aNew, n);
    checkAll(azSchema[i], 0, 0);
    free(aNew);
    textClear(&sql);
  }
  free(a);
  finishPair();
}

/* Pages of a file that is damaged */
static unsigned char *aFile;
static int nFile, szPage;
static unsigned char *page(int i){ return &aFile[(i-1)*szPage]; }

/* The next page from *pi on whose type is eType.  0: there is none */
static unsigned char *nextPage(int *pi, int eType){
  for((*pi)++; *pi<=nFile/szPage; (*pi)++){
    if( *pi>1 && page(*pi)[0]==eType && get2(&page(*pi)[3])>3 ) return page(*pi);
  }
  return 0;
}

/* Check the file as it is now, and go back to what it was */
static void damaged(const unsigned char *aSound, const char *zWhat, int i, int k){
  Text what = {0,0,0};
  textAppend(&what, "%s %d, %d", zWhat, i, k);
  openBoth(aFile, nFile);
  checkAll(what.z, 0, 0);
  apLib[0]->close(adb[0]);
  apLib[1]->close(adb[1]);
  adb[0] = adb[1] = 0;
  memcpy(aFile, aSound, nFile);
  textClear(&what);
}

static unsigned iRandom = 1;
static unsigned aRandom(unsigned n){
  iRandom = iRandom*1103515245 + 12345;
  return (iRandom>>8) % n;
}

/* Cells of pages of type eType in another order, twice, or left out */
static void damageCells(const unsigned char *aSound, int eType, const char *zWhat){
  int iHdr = eType==5 || eType==2 ? 12 : 8;
  int i = 0, n = 0;
  unsigned char *a;
  while( (a = nextPage(&i, eType))!=0 && n++<3 ){
    unsigned nCell = get2(&a[3]);
    unsigned char aTmp[2];
    unsigned char *p = &a[iHdr+2*(nCell/2)];
    memcpy(aTmp, p, 2);
    memcpy(p, p+2, 2);
    memcpy(p+2, aTmp, 2);
    damaged(aSound, zWhat, i, 0);
    memcpy(p, p+2, 2);
    damaged(aSound, zWhat, i, 1);
    put2(&a[3], nCell-1);
    damaged(aSound, zWhat, i, 2);
    put2(&a[3], 0);
    damaged(aSound, zWhat, i, 3);
    a[7] ^= 1;
    damaged(aSound, zWhat, i, 4);
    put2(&a[1], get2(&a[5]));
    damaged(aSound, zWhat, i, 5);
    put2(&a[5], get2(&a[5])-1);
    damaged(aSound, zWhat, i, 6);
    put2(&a[5], get2(&a[5])+1);
    damaged(aSound, zWhat, i, 7);
    a[0] ^= 15;
    damaged(aSound, zWhat, i, 8);
    a[get2(p)+(iHdr==12 ? 4 : 0)] ^= 1;        /* The size of a cell */
    damaged(aSound, zWhat, i, 9);
    a[get2(p)+(iHdr==12 ? 4 : 0)+1] ^= 1;
    damaged(aSound, zWhat, i, 10);
    a[get2(p)+(iHdr==12 ? 4 : 0)+2] ^= 3;
    damaged(aSound, zWhat, i, 11);
    if( iHdr==12 ){
      a[get2(p)+3] ^= 1;                   /* The number of a child */
      damaged(aSound, zWhat, i, 12);
      memcpy(&a[8], &a[get2(p)], 4);
      damaged(aSound, zWhat, i, 13);
      put4(&a[8], (unsigned)i);
      damaged(aSound, zWhat, i, 14);
    }
  }
}

/* The value of a REAL column becomes one that is no number */
static void damageReals(const unsigned char *aSound){
  static const unsigned char aReal[8] = { 0x40, 0x93, 0x4a, 0x45, 0x6d, 0x5c, 0xfa, 0xad };
  static const unsigned char aNan[8] = { 0x7f, 0xf8, 0, 0, 0, 0, 0, 1 };
  int i, n = 0;
  for(i=0; i+8<=nFile; i++){
    if( memcmp(&aFile[i], aReal, 8)==0 ) memcpy(&aFile[i], aNan, 8);
  }
  damaged(aSound, "not a number", -1, 0);
  for(i=0; i+8<=nFile; i++){
    if( memcmp(&aFile[i], aReal, 8) ) continue;
    memcpy(&aFile[i], aNan, 8);
    damaged(aSound, "not a number", i, 0);
    n++;
  }
  check(n>=2, "1234.5678 is there %d times", n);
}

/* Entries of an index whose rowid becomes shorter than what is stored of it */
static void damageRowids(const unsigned char *aSound){
  int i = 0, n = 0;
  unsigned char *a;
  while( (a = nextPage(&i, 10))!=0 && n<6 ){
    unsigned char *z = &a[get2(&a[8])];
    unsigned nHdr;
    if( z[0]>=0x80 || z[1]>=0x80 ) continue;
    nHdr = z[1];
    if( z[nHdr]!=2 ) continue;                 /* The type of the last field */
    z[nHdr] = 1;
    damaged(aSound, "a byte behind an entry", i, 0);
    a = page(i);
    z = &a[get2(&a[8])];
    z[nHdr] = 9;
    damaged(aSound, "a rowid that is 1", i, 0);
    z[nHdr] = 0;
    damaged(aSound, "a rowid that is NULL", i, 0);
    z[1] = (unsigned char)(nHdr-1);
    damaged(aSound, "a field less", i, 0);
    n++;
  }
  check(n>0, "there is no rowid of two bytes");
}

/* A file with all kinds of pages, from which the damaged ones are made */
static unsigned char *makeFile(const char *zBegin, const char *zTable, const char *zIndex){
  unsigned char *aSound;
  begin(zBegin, zTable);
  both(zIndex);
  both("CREATE TABLE x AS SELECT * FROM t; CREATE INDEX xi ON x(a); UPDATE x SET d=1234.5678 WHERE rowid=700;"
       "UPDATE t SET d=1234.5678 WHERE b=77; CREATE TABLE y AS SELECT * FROM t LIMIT 500; DROP TABLE y");
  checkIntegrity(&stock, adb[1], "the file");
  szPage = (int)integer(&stock, adb[1], "PRAGMA page_size");
  apLib[0]->close(adb[0]);
  apLib[1]->close(adb[1]);
  adb[0] = adb[1] = 0;
  aSound = readFile(azFile[1], &nFile);
  aFile = malloc(nFile);
  memcpy(aFile, aSound, nFile);
  openBoth(aSound, nFile);
  checkClean("the file as it is");
  apLib[0]->close(adb[0]);
  apLib[1]->close(adb[1]);
  return aSound;
}

static void testDamaged(void){
  static const struct {
    const char *zBegin;
    int iTable, iIndex;
  } aKind[] = {
    { "PRAGMA page_size=512", 0, 0 },
    { "PRAGMA page_size=1024; PRAGMA auto_vacuum=full", 1, 1 },
    { "PRAGMA page_size=512; PRAGMA auto_vacuum=incremental", 2, 2 },
    { "PRAGMA page_size=1024", 3, 5 },
    { "PRAGMA page_size=512", 4, 3 },
    { "PRAGMA page_size=4096", 0, 4 },
  };
  unsigned k;
  int n = longRun() ? 2000 : 70;
  for(k=0; k<COUNT(aKind); k++){
    unsigned char *aSound = makeFile(aKind[k].zBegin, azTable[aKind[k].iTable],
                                     azIndex[aKind[k].iIndex]);
    int nPage = nFile/szPage;
    int i;
    damageCells(aSound, 13, "leaf of a table");
    damageCells(aSound, 5, "interior page of a table");
    damageCells(aSound, 10, "leaf of an index");
    damageCells(aSound, 2, "interior page of an index");
    damageReals(aSound);
    if( aKind[k].iTable!=2 ) damageRowids(aSound);
    /* The header: free pages, their number, vacuum */
    for(i=32; i<72; i+=4){
      aFile[i+3] ^= 1;
      if( i!=40 && i!=56 && i!=44 ) damaged(aSound, "header", i, 0);
      memcpy(aFile, aSound, nFile);
    }
    /* Anywhere: bits, bytes, the numbers that pages begin with */
    for(i=0; i<n; i++){
      int iPg = 1+(int)aRandom((unsigned)nPage);
      unsigned iAt = i%3==0 ? aRandom(12) : aRandom((unsigned)szPage);
      if( iPg==1 ) iAt = 100+iAt%(szPage-100);
      page(iPg)[iAt] ^= (unsigned char)(i%2 ? 1u<<aRandom(8) : 1+aRandom(255));
      damaged(aSound, "somewhere", iPg, (int)iAt);
    }
    /* A page in place of another, and a file that ends too early */
    for(i=0; i<n/10; i++){
      int iPg = 2+(int)aRandom((unsigned)nPage-1);
      memcpy(page(iPg), page(2+(int)aRandom((unsigned)nPage-1)), szPage);
      damaged(aSound, "another page", iPg, i);
      memset(page(iPg), i%2 ? 0 : 0xff, szPage);
      damaged(aSound, "zeros", iPg, i);
    }
    nFile -= szPage*(nPage/9);
    damaged(aSound, "too short", nFile, 0);
    free(aSound);
    free(aFile);
    finishPair();
  }
}

static int interrupt(void *p){
  sqlite3_interrupt((sqlite3*)p);
  return 0;
}
/* Stopped by the progress handler at its n-th call, or by an interrupt */
static void testStop(void){
  int n, rc = SQLITE_INTERRUPT;
  sqlite3 *db;
  Text a = {0,0,0};
  begin("PRAGMA page_size=512", azTable[0]);
  both("CREATE INDEX i ON t(e)");
  force();
  db = adb[0];
  for(n=0; rc==SQLITE_INTERRUPT; n+=(n<10 ? 1 : 7)){
    stopAt(db, 100, n);
    a.n = 0;
    rc = answer(&ours, db, "PRAGMA integrity_check", &a);
    (void)stopEnd(db);
    check(rc==SQLITE_OK || rc==SQLITE_INTERRUPT, "stopped at call %d: error %d", n, rc);
  }
  check(n>30 && strstr(a.z, "t'6f6b'|")!=0, "%d calls: %s", n, a.z);
  sqlite3_progress_handler(db, 100, interrupt, db);
  rc = answer(&ours, db, "PRAGMA integrity_check", &a);
  check(rc==SQLITE_INTERRUPT, "interrupted: %d", rc);
  sqlite3_progress_handler(db, 0, 0, 0);
  textClear(&a);
  checkClean("after that");
  finishPair();
}

/* Each request for memory fails, once or from then on */
static void testMemory(void){
  int bForEver, n;
  failMemory(1);
  for(bForEver=0; bForEver<2; bForEver++){
    int rc = SQLITE_NOMEM;
    begin("PRAGMA page_size=512; PRAGMA auto_vacuum=full", azTable[0]);
    both("DELETE FROM t WHERE id>900; CREATE INDEX i ON t(e); CREATE INDEX j ON t(c,d)");
    execute(adb[0], "PRAGMA hp_offload=force; PRAGMA hp_threads=3");
    for(n=0; rc==SQLITE_NOMEM || fault.nFailed>0; n+=(n<100 || longRun() ? 1 : 5)){
      Text a = {0,0,0};
      failAfter(n, bForEver);
      rc = answer(&ours, adb[0], n%2 ? "PRAGMA quick_check" : "PRAGMA integrity_check", &a);
      fault.nLeft = -1;
      check(rc==SQLITE_NOMEM || strcmp(a.z, "t'6f6b'|\n")==0, "allocation %d: %d: %s", n, rc, a.z);
      textClear(&a);
    }
    check(n>20, "only %d allocations", n);
    checkClean("memory");
    finishPair();
  }
  failMemory(0);
}

/* Each read fails */
static void testReads(void){
  int n, nBad = 0;
  begin("PRAGMA page_size=512", azTable[0]);
  both("CREATE INDEX i ON t(e)");
  force();
  failReads(1);
  for(n=0; n<400; n+=(n<20 || longRun() ? 1 : 13)){
    Text a = {0,0,0};
    int rc;
    execute(adb[0], "PRAGMA shrink_memory");
    failAfter(n, n%2);
    rc = answer(&ours, adb[0], "PRAGMA integrity_check", &a);
    fault.nLeft = -1;
    nBad += strcmp(a.z, "t'6f6b'|\n")!=0;
    check(fault.nFailed>0 || rc==SQLITE_OK, "read %d: %d", n, rc);
    check(n%2==0 || fault.nFailed==0 || rc || strcmp(a.z, "t'6f6b'|\n"), "read %d was not missed", n);
    textClear(&a);
  }
  failReads(0);
  check(nBad>0, "no read has failed");
  checkClean("reads");
  finishPair();
}

int main(int argc, char **argv){
  static const Test aTest[] = {
    { "clean", testClean }, { "reserved", testReserved }, { "elsewhere", testElsewhere }, { "small", testSmall }, { "transactions", testTransactions },
    { "schema", testSchema }, { "damaged", testDamaged }, { "stop", testStop },
    { "memory", testMemory }, { "reads", testReads },
  };
  if( argc<2 || pairLoad(argv[1]) ){
    fprintf(stderr, "usage: check STOCK [NAME]\n");
    return 2;
  }
  if( !hasEngine() ) return finish();
  azFile[0] = temporaryFile("check-ours.db");
  azFile[1] = temporaryFile("check-stock.db");
  runTests(aTest, COUNT(aTest), argc<3 ? 0 : argv[2]);
  return finish();
}
