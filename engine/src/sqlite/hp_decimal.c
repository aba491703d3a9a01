/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_decimal: the text of a real that is a short decimal.
**
**    sqlite3HpMemReal()    a register becomes text
**    sqlite3HpJsonReal()   JSON gets a real
**
** SQLite computes 18 digits of a real with 128 bits, tries whether fewer give the real back, rounds,
** and interprets a format.  Most reals in databases were decimals of few digits once: prices,
** measurements, averages that were rounded.  Here such a real is multiplied by a power of ten and
** rounded to an integer, whose digits are the text, with a point in it.
**
** That is SQLite's text if two things hold.  The integer has HP_MX_DIGITS digits at most, without
** zeros at its end: then the 15 first digits of the real are those of the decimal, and zeros.  And what
** SQLite makes a real of, text, gives this real: SQLite tries that as well, with the same function.
** Everything else, of other sizes or with more digits, is SQLite's.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#define HP_MN_DECIMAL  1e-3        /* Smallest ... */
#define HP_MID_DECIMAL 4e9         /* ... and largest of six digits behind the point: 4e15 < 2^52 */
#define HP_MX_SHORT    8e12        /* Largest of two */
#define HP_MX_DIGITS   10000000000000    /* An integer with one digit too many */

#define HP_REAL_TEXT   22          /* Bytes that hpDecimalText() writes, most */

/*
** Write the text of r, as "%!.17g" has it, to zOut, and return its bytes.  No
** zero byte follows.  Returns 0 if that is left to SQLite.
*/
static int hpDecimalText(double r, char *zOut){
  double a = r<0 ? -r : r;
  double rScale = 1e6;
  char aBuf[HP_REAL_TEXT];
  char *z = &aBuf[sizeof(aBuf)];
  int nDigit = 6;        /* Behind the point */
  int n;
  u64 i;
  if( !(a>=HP_MN_DECIMAL && a<HP_MX_SHORT) ) return 0;
  if( a>=HP_MID_DECIMAL ){
    rScale = 1e2;
    nDigit = 2;
  }
  i = (u64)(a*rScale+0.5);
  if( (double)i/rScale!=a ) return 0;
  while( nDigit>0 && i%10==0 ){
    i /= 10;
    nDigit--;
  }
  if( i>=HP_MX_DIGITS || sqlite3Fp10Convert2(i, -nDigit)!=a ) return 0;
  if( nDigit==0 ) *--z = '0';
  for(n=nDigit; n>=2; n-=2){
    z -= 2;
    memcpy(z, &sqlite3DigitPairs.a[2*(i%100)], 2);
    i /= 100;
  }
  if( n ){
    *--z = (char)('0' + i%10);
    i /= 10;
  }
  *--z = '.';
  for(; i>=10; i/=100){
    z -= 2;
    memcpy(z, &sqlite3DigitPairs.a[2*(i%100)], 2);
  }
  if( i>0 || z[0]=='.' ) *--z = (char)('0' + i);
  if( r<0 ) *--z = '-';
  n = (int)(&aBuf[sizeof(aBuf)]-z);
  assert( n<=HP_REAL_TEXT );
  memcpy(zOut, z, n);
  return n;
}

/*
** The real p becomes text in zBuf, of p->n bytes.  Returns 0 if SQLite is to
** write it: all of it, or with another number of digits than 17.
*/
SQLITE_PRIVATE int sqlite3HpMemReal(Mem *p, char *zBuf){
  assert( (p->flags & (MEM_Int|MEM_IntReal))==0 );
  if( p->db && p->db->nFpDigit!=17 ) return 0;
  p->n = hpDecimalText(p->u.r, zBuf);
  zBuf[p->n] = 0;
  return p->n;
}

#ifndef SQLITE_OMIT_JSON
/* Append r to p.  Returns 0 if that is left to SQLite */
SQLITE_PRIVATE int sqlite3HpJsonReal(JsonString *p, double r){
  char z[HP_REAL_TEXT];
  int n = hpDecimalText(r, z);
  if( n ) jsonAppendRawNZ(p, z, (u32)n);
  return n;
}
#endif
#endif /* SQLITE_OMIT_HP */
