/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** What a b-tree in a file holds, page by page and to the byte: for tests of what
** writes b-trees bottom up.
*/
#ifndef TREE_H
#define TREE_H

#include "pair.h"

/* A b-tree of a file: the entries of an index, or the rows of a table, in order */
typedef struct Tree Tree;
struct Tree {
  const unsigned char *aFile;
  unsigned szPage, nUsable;
  int bTable;
  Text text;
  int nPage;
};

static unsigned long long varint(const unsigned char **pz){
  const unsigned char *z = *pz;
  unsigned long long x = 0;
  int i;
  for(i=0; i<8; i++){
    x = x<<7 | (z[i] & 0x7f);
    if( z[i]<0x80 ){
      *pz = &z[i+1];
      return x;
    }
  }
  *pz = &z[9];
  return x<<8 | z[8];
}

/* The payload of a cell, behind the rowid if it is a table's */
static void treeEntry(Tree *p, const unsigned char *z){
  unsigned n = (unsigned)varint(&z);
  unsigned mx = p->bTable ? p->nUsable-35 : (p->nUsable-12)*64/255 - 23;
  unsigned mn = (p->nUsable-12)*32/255 - 23;
  unsigned nLocal = n;
  if( p->bTable ) textAppend(&p->text, "%lld ", (long long)varint(&z));
  if( n>mx ){
    nLocal = mn + (n-mn)%(p->nUsable-4);
    if( nLocal>mx ) nLocal = mn;
  }
  textHex(&p->text, z, (int)nLocal);
  if( n>nLocal ){
    unsigned iNext = get4(&z[nLocal]);
    n -= nLocal;
    while( iNext ){
      const unsigned char *a = &p->aFile[(size_t)(iNext-1)*p->szPage];
      unsigned k = n<p->nUsable-4 ? n : p->nUsable-4;
      textHex(&p->text, &a[4], (int)k);
      n -= k;
      iNext = get4(a);
    }
  }
  textAppend(&p->text, "\n");
}

static void treePage(Tree *p, unsigned iPage){
  const unsigned char *a = &p->aFile[(size_t)(iPage-1)*p->szPage];
  int eInner = p->bTable ? 5 : 2;
  int bLeaf = a[0]==eInner+8;
  int nCell = (int)get2(&a[3]);
  int i;
  p->nPage++;
  check(a[0]==eInner || bLeaf, "page %u has type %d", iPage, a[0]);
  check(bLeaf || nCell>0, "interior page %u has no cell", iPage);
  for(i=0; i<nCell; i++){
    const unsigned char *z = &a[get2(&a[(bLeaf ? 8 : 12)+2*i])];
    if( !bLeaf ){
      treePage(p, get4(z));
      z += 4;
    }
    /* Interior cells of a table are no rows */
    if( bLeaf || !p->bTable ) treeEntry(p, z);
  }
  if( !bLeaf ) treePage(p, get4(&a[8]));
}

/* What table or index zName in the closed file zFile holds.  *pnPage: its pages */
static inline void tree(const char *zFile, const char *zName, int bTable, Text *pOut, int *pnPage){
  Tree x;
  sqlite3 *db = openDb(&stock, zFile, 0);
  Text sql = {0,0,0};
  unsigned char *a;
  unsigned iRoot;
  int n;
  memset(&x, 0, sizeof(x));
  textAppend(&sql, "SELECT rootpage FROM sqlite_schema WHERE name='%s'", zName);
  iRoot = (unsigned)integer(&stock, db, sql.z);
  runOn(&stock, db, "PRAGMA wal_checkpoint");
  stock.close(db);
  x.aFile = a = readFile(zFile, &n);
  x.szPage = get2(&a[16]);
  if( x.szPage==1 ) x.szPage = 65536;
  x.nUsable = x.szPage - a[20];
  x.bTable = bTable;
  textAppend(&x.text, "");
  treePage(&x, iRoot);
  *pOut = x.text;
  *pnPage = x.nPage;
  textClear(&sql);
  free(a);
}

#endif /* TREE_H */
