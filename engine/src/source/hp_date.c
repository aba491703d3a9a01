/*
** 2026-11-27
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** hp_date: dates and times as numbers.
**
**    hpDateNumber()   of a text such as 2026-11-27
**    hpDateText()     and back
**    hpDateFill()     texts from one number to another are going to be asked for
**    hpDateTimeNumber(), hpDateTimeText()    the same of 2026-11-27 13:45:00
**
** The number of a date is year<<9 | month<<5 | day, so dates that come later have larger ones, and so have
** texts that compare greater.  Months from 00 to 15 and days from 00 to 31 have numbers, whether there
** is such a day or not, and each number has one text: what is kept as a number comes back to the byte.
**
** The texts stand in a table, 16 bytes each, so a column of dates has its texts without copying any.
** It has HP_DATE_YEARS years, two megabytes, of which only those are touched that occur.
**
** The number of a time is date<<17 | hour<<12 | minute<<6 | second, again in the order of texts, where hours
** up to 31 and minutes and seconds up to 63 have numbers.  Its text is put together when it is asked
** for.  What stands between date and time, a space or a T, is not part of the number.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

#define HP_DATE_BITS   9           /* Bits of month and day */
#define HP_DATE_YEAR   1900        /* The first year of the table */
#define HP_DATE_YEARS  256
#define HP_DATE_TEXT   16          /* Bytes from text to text */
#define HP_TIME_BITS   17          /* Bits of hour, minute and second */

/* Of each year: are its texts there? */
#define HP_DATE_FILLING  1
#define HP_DATE_FILLED   2
static u8 aHpDateYear[HP_DATE_YEARS];
static u8 aHpDateText[(HP_DATE_YEARS<<HP_DATE_BITS)*HP_DATE_TEXT + HP_SLACK];

/* Are all bytes of x from 0 to 9?  Then none of them reaches 0x80 with 0x76 more */
static SQLITE_INLINE int hpDateIsDigits(u64 x){
  u64 y = x + (((u64)0x76767676<<32) | 0x76767676);
  return ((x | y) & (((u64)0x80808080<<32) | 0x80808080))==0;
}

/*
** The number of the date that the ten bytes at z are, or -1: they are none, or none of a year of the
** table.
*/
static SQLITE_INLINE int hpDateNumber(const u8 *z){
  /* Each byte becomes a digit, or 0 where a dash has to be */
  u64 x = hpLoad8(z) ^ (((u64)0x30303030<<32) | 0x2d30302d);    /* "0000-00-" */
  u32 iDay = (u32)((z[8]<<8 | z[9]) ^ 0x3030);
  int y, m, d;
  if( !hpDateIsDigits(x) || !hpDateIsDigits(iDay) || (x & 0xff0000ff)!=0 ) return -1;
  x += (x>>8)*10;        /* In each byte: it, and ten times the one before */
  y = (int)(x>>48 & 0xff)*100 + (int)(x>>32 & 0xff);
  m = (int)(x>>8 & 0xff);
  d = (int)((iDay>>8)*10 + (iDay & 0xff));
  if( y<HP_DATE_YEAR || y>=HP_DATE_YEAR+HP_DATE_YEARS || m>15 || d>31 ) return -1;
  return y<<HP_DATE_BITS | m<<5 | d;
}

/* Where the text of date iDate is, once hpDateFill() has been called */
static SQLITE_INLINE const u8 *hpDateText(int iDate){
  int i = iDate - (HP_DATE_YEAR<<HP_DATE_BITS);
  assert( i>=0 && i<HP_DATE_YEARS<<HP_DATE_BITS );
  assert( __atomic_load_n(&aHpDateYear[i>>HP_DATE_BITS], __ATOMIC_RELAXED)==HP_DATE_FILLED );
  return &aHpDateText[i*HP_DATE_TEXT];
}

/* Put the digits of n<100 to z */
static SQLITE_INLINE void hpDateDigits(u8 *z, int n){ memcpy(z, &sqlite3DigitPairs.a[2*n], 2); }

/*
** The number of the time that the 19 bytes at z are, whatever the eleventh is, or -1: they are none, or
** its date has no number.
*/
static SQLITE_INLINE i64 hpDateTimeNumber(const u8 *z){
  u64 x = hpLoad8(&z[11]) ^ (((u64)0x30303a30<<32) | 0x303a3030);    /* "00:00:00" */
  i64 iDate = hpDateNumber(z);
  int h, m, s;
  if( iDate<0 || !hpDateIsDigits(x) || (x & (((u64)0x0000ff00<<32) | 0x00ff0000))!=0 ) return -1;
  x += (x>>8)*10;
  h = (int)(x>>48 & 0xff);
  m = (int)(x>>24 & 0xff);
  s = (int)(x & 0xff);
  return h<32 && m<64 && s<64 ? iDate<<HP_TIME_BITS | h<<12 | m<<6 | s : -1;
}

/* Write the text of time iTime to z[0..HP_TIME_TEXT-1].  hpDateFill() has been called for its date */
static SQLITE_INLINE void hpDateTimeText(i64 iTime, u8 cBetween, u8 *z){
  memcpy(z, hpDateText((int)(iTime>>HP_TIME_BITS)), HP_DATE_TEXT);
  z[10] = cBetween;
  hpDateDigits(&z[11], (int)(iTime>>12 & 31));
  z[13] = ':';
  hpDateDigits(&z[14], (int)(iTime>>6 & 63));
  z[16] = ':';
  hpDateDigits(&z[17], (int)(iTime & 63));
}

/*
** Let there be the texts of all dates of the years of iFirst to iLast.  Of several threads one writes
** those of a year, and the others wait for some microseconds.
*/
static void hpDateFill(int iFirst, int iLast){
  int iYear;
  assert( iFirst<=iLast );
  for(iYear=iFirst>>HP_DATE_BITS; iYear<=iLast>>HP_DATE_BITS; iYear++){
    u8 *pState = &aHpDateYear[iYear-HP_DATE_YEAR];
    u8 *z = &aHpDateText[(iYear-HP_DATE_YEAR)*(HP_DATE_TEXT<<HP_DATE_BITS)];
    u8 eWas = 0;
    int i;
    if( __atomic_load_n(pState, __ATOMIC_ACQUIRE)==HP_DATE_FILLED ) continue;
    if( !__atomic_compare_exchange_n(pState, &eWas, HP_DATE_FILLING, 0,
                                     __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)
    ){
      while( __atomic_load_n(pState, __ATOMIC_ACQUIRE)!=HP_DATE_FILLED ) hpPause();
      continue;
    }
    for(i=0; i<1<<HP_DATE_BITS; i++, z+=HP_DATE_TEXT){
      hpDateDigits(&z[0], iYear/100);
      hpDateDigits(&z[2], iYear%100);
      z[4] = '-';
      hpDateDigits(&z[5], i>>5);
      z[7] = '-';
      hpDateDigits(&z[8], i & 31);
    }
    __atomic_store_n(pState, HP_DATE_FILLED, __ATOMIC_RELEASE);
  }
}
#endif /* HP_SHARED */
#endif /* SQLITE_OMIT_HP */
