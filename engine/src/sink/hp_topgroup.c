/*
** 2026-11-25
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_topgroup: groups that may be among the first ones by an aggregate.
**
**    hpTopGroupBegin()    the groups are about to be delivered
**    hpTopGroupWanted()   may the next one be among the first?
**    hpTopGroupEnd()      free what that needs
**
** SELECT a, count(*) FROM t GROUP BY a ORDER BY 2 DESC LIMIT 10 shows ten groups.  SQLite
** sorts all of them, each through a record of its sorter.  Here a heap keeps the ten best
** values of groups that were delivered so far; a group whose value is worse than all of
** them is left out, since ten others come before it whatever further terms say.  Of n
** groups in no particular order about k*ln(n/k) are delivered.
**
** Groups whose value is not a number are delivered, and so are those whose sums raise an
** error.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

/* More groups than this are all delivered */
#define HP_MX_TOPGROUP 10000

/* The best values so far: a heap whose first one is the worst */
struct HpTopGroup {
  i64 nMost;             /* So many groups are wanted */
  i64 n;
  HpLiteral a[1];
};

/* Does pA come behind pB? */
static int hpTopGroupIsWorse(const HpTopAgg *pTop, const HpLiteral *pA, const HpLiteral *pB){
  int c;
  if( pA->tag==HP_NULL || pB->tag==HP_NULL ){
    c = (pA->tag!=HP_NULL) - (pB->tag!=HP_NULL);
  }else{
    c = hpVecValCompare(pA->tag, pA->val, 0, pB->tag, pB->val, 0, 0);
  }
  return pTop->bDesc ? c<0 : c>0;
}

/*
** Groups of p are about to be delivered, of which register pLimit says how many are
** wanted.  Without memory all are.
*/
static void hpTopGroupBegin(HpQuery *p, const Mem *pLimit){
  i64 n = (pLimit->flags & MEM_Int) ? pLimit->u.i : 0;
  assert( p->pTopGroup==0 );
  if( n<=0 || n>HP_MX_TOPGROUP ) return;
  sqlite3BeginBenignMalloc();
  p->pTopGroup = sqlite3_malloc64(sizeof(HpTopGroup) + sizeof(HpLiteral)*(u64)n);
  sqlite3EndBenignMalloc();
  if( p->pTopGroup==0 ) return;
  p->pTopGroup->nMost = n;
  p->pTopGroup->n = 0;
}

/* Put *pNew in the place of the worst value */
static void hpTopGroupSink(HpTopGroup *p, const HpTopAgg *pTop, const HpLiteral *pNew){
  i64 i = 0;
  i64 j;
  while( (j = 2*i+1)<p->n ){
    if( j+1<p->n && hpTopGroupIsWorse(pTop, &p->a[j+1], &p->a[j]) ) j++;
    if( !hpTopGroupIsWorse(pTop, &p->a[j], pNew) ) break;
    p->a[i] = p->a[j];
    i = j;
  }
  p->a[i] = *pNew;
}

/*
** May aGroup, the next group of p, be among those that are wanted?
*/
static int hpTopGroupWanted(HpQuery *p, const u8 *aGroup){
  const HpGroupPlan *pPlan = p->pEntry;
  const HpTopAgg *pTop = &pPlan->top;
  HpTopGroup *pBest = p->pTopGroup;
  HpLiteral x;
  u32 n;
  if( hpResultFails(pPlan, aGroup) ) return 1;
  memset(&x, 0, sizeof(x));
  x.tag = hpResultValue(&pPlan->aAgg[pTop->iAgg], aGroup, &x.val, &n);
  if( x.tag==0 || (x.tag & HP_STR) ) return 1;
  if( pBest->n<pBest->nMost ){
    i64 i = pBest->n++;
    while( i>0 && hpTopGroupIsWorse(pTop, &x, &pBest->a[(i-1)/2]) ){
      pBest->a[i] = pBest->a[(i-1)/2];
      i = (i-1)/2;
    }
    pBest->a[i] = x;
    return 1;
  }
  if( hpTopGroupIsWorse(pTop, &x, &pBest->a[0]) ) return 0;
  hpTopGroupSink(pBest, pTop, &x);
  return 1;
}

/* Free what p has */
static void hpTopGroupEnd(HpQuery *p){
  sqlite3_free(p->pTopGroup);
  p->pTopGroup = 0;
}
#endif /* SQLITE_OMIT_HP */
