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
**    hpDateNumbersAvx2()   of many texts, of either kind
**
** The number of a date is year<<9 | month<<5 | day, so dates that come later have larger ones, and so
** have texts that compare greater.  Months from 00 to 15 and days from 00 to 31 have numbers, whether there
** is such a day or not, and each number has one text: what is kept as a number comes back to the byte.
**
** The texts stand in a table, 16 bytes each, so a column of dates has its texts without copying any.
** It has HP_DATE_YEARS years, two megabytes, of which only those are touched that occur.
**
** The number of a time is date<<17 | hour<<12 | minute<<6 | second, again in the order of texts, where
** hours up to 31 and minutes and seconds up to 63 have numbers.  Its text is put together when it is asked
** for.  What stands between date and time, a space or a T, is not part of the number.
*/
#ifndef SQLITE_OMIT_HP
#ifndef SQLITE_AMALGAMATION
# include "hpInt.h"
#endif

#ifdef HP_SHARED

#define HP_DATE_BITS   9           /* Bits of month and day */
#define HP_DATE_YEAR   1900        /* The first year of the table */
#define HP_DATE_YEAR_BITS 8
#define HP_DATE_YEARS  (1<<HP_DATE_YEAR_BITS)
#define HP_DATE_TEXT   16          /* Bytes from text to text */
#define HP_TIME_BITS   17          /* Bits of hour, minute and second */

/* Of each year: HP_DATE_FILLED if its texts are there, the number of a process
** of which a thread is writing them, or 0.  Atomic */
#define HP_DATE_FILLED   0xffffffff
static u32 aHpDateYear[HP_DATE_YEARS];
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

#ifdef HP_AVX2
/*
** The numbers of two digits in the 16 bytes at a[0].z to a[3].z, as words, four for each text, from the
** bytes that order says.  zero: what becomes 0 in each byte, and most: up to which value.
** Otherwise some of *pBad is set.
*/
__attribute__((target("avx2")))
static SQLITE_INLINE __m256i hpDatePairsAvx2(
  const HpVal *a,
  int iFrom,             /* Where the 16 bytes begin */
  __m256i zero,
  __m256i most,
  __m256i order,
  __m256i *pBad
){
#define HP_DATE_LOAD(I)  _mm_loadu_si128((const __m128i*)&a[I].z[iFrom])
#define HP_DATE_BOTH(I,J) \
    _mm256_inserti128_si256(_mm256_castsi128_si256(HP_DATE_LOAD(I)), HP_DATE_LOAD(J), 1)
  __m256i x = _mm256_xor_si256(HP_DATE_BOTH(0, 2), zero);
  __m256i y = _mm256_xor_si256(HP_DATE_BOTH(1, 3), zero);
  __m256i more = _mm256_or_si256(_mm256_subs_epu8(x, most), _mm256_subs_epu8(y, most));
  *pBad = _mm256_or_si256(*pBad, more);
  x = _mm256_unpacklo_epi64(_mm256_shuffle_epi8(x, order), _mm256_shuffle_epi8(y, order));
  return _mm256_maddubs_epi16(x, _mm256_set1_epi16(0x010a));
}

/*
** Set aInt[] to hpDateNumber() of n texts, four at least; to hpDateTimeNumber(), if cBetween is not 0, with
** that between date and time.  Returns false if one of them has none.  There are 16 bytes at each text.
*/
__attribute__((target("avx2")))
static int hpDateNumbersAvx2(const HpVal *a, int n, u8 cBetween, i64 *aInt){
#define HP_TWICE(Z)  _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)(Z)))
#define HP_FOUR(A,B,C,D)  _mm256_set1_epi64x((i64)(A) | (i64)(B)<<16 | (i64)(C)<<32 | (i64)(D)<<48)
  const __m256i zero = HP_TWICE("0000-00-00\0\0\0\0\0");
  const __m256i most = HP_TWICE("\11\11\11\11\0\11\11\0\11\11\377\377\377\377\377\377");
  const __m256i order = _mm256_set1_epi64x(((i64)0x09080605<<32) | 0x03020100);
  const __m256i mostNumber = HP_FOUR(99, 99, 15, 31);
  const __m256i weight = HP_FOUR(100, 1, 32, 1);
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  const __m256i first = _mm256_set1_epi64x(HP_DATE_YEAR<<HP_DATE_BITS);
  const __m256i zeroTime = _mm256_insert_epi8(_mm256_insert_epi8(
      HP_TWICE("\0\0\0\0\0\0\0\00000:00:00"), cBetween, 7), cBetween, 23);
  const __m256i mostTime = HP_TWICE("\377\377\377\377\377\377\377\0\11\11\0\11\11\0\11\11");
  const __m256i orderTime = _mm256_set1_epi64x(((i64)0x80800f0e<<32) | 0x0c0b0908);
  const __m256i mostTimeNumber = HP_FOUR(31, 63, 63, 0);
  const __m256i weightTime = HP_FOUR(1<<12, 1<<6, 1, 0);
  __m256i bad = _mm256_setzero_si256();
  int i;
  assert( n>=4 );
  for(i=0; i<n; i+=4){
    int iRow = MIN(i, n-4);    /* The last four may have been done in part */
    __m256i x = hpDatePairsAvx2(&a[iRow], 0, zero, most, order, &bad);
    bad = _mm256_or_si256(bad, _mm256_subs_epu16(x, mostNumber));
    x = _mm256_madd_epi16(x, weight);
    x = _mm256_add_epi64(_mm256_and_si256(_mm256_slli_epi64(x, HP_DATE_BITS), low),
                         _mm256_srli_epi64(x, 32));
    bad = _mm256_or_si256(bad, _mm256_srli_epi64(_mm256_sub_epi64(x, first),
                                                 HP_DATE_BITS+HP_DATE_YEAR_BITS));
    if( cBetween ){
      __m256i t = hpDatePairsAvx2(&a[iRow], 3, zeroTime, mostTime, orderTime, &bad);
      bad = _mm256_or_si256(bad, _mm256_subs_epu16(t, mostTimeNumber));
      t = _mm256_madd_epi16(t, weightTime);
      t = _mm256_add_epi64(_mm256_and_si256(t, low), _mm256_srli_epi64(t, 32));
      x = _mm256_add_epi64(_mm256_slli_epi64(x, HP_TIME_BITS), t);
    }
    _mm256_storeu_si256((__m256i*)&aInt[iRow], x);
  }
  return _mm256_testz_si256(bad, bad);
}
#endif /* HP_AVX2 */

/*
** Let there be the texts of all dates of the years of iFirst to iLast.  Of several threads one writes
** those of a year, and the others wait for some microseconds.  fork() may have
** left that thread in the other process: then the first one of this process
** that comes writes them.
*/
static void hpDateFill(int iFirst, int iLast){
  int iYear;
  assert( iFirst<=iLast );
  for(iYear=iFirst>>HP_DATE_BITS; iYear<=iLast>>HP_DATE_BITS; iYear++){
    u32 *pState = &aHpDateYear[iYear-HP_DATE_YEAR];
    u8 *z = &aHpDateText[(iYear-HP_DATE_YEAR)*(HP_DATE_TEXT<<HP_DATE_BITS)];
    u32 eWas = __atomic_load_n(pState, __ATOMIC_ACQUIRE);
    u32 iOwn;
    int i;
    if( eWas==HP_DATE_FILLED ) continue;
    iOwn = (u32)osGetpid(0);
    assert( iOwn!=0 && iOwn!=HP_DATE_FILLED );
    while( eWas!=HP_DATE_FILLED
        && (eWas==iOwn || !__atomic_compare_exchange_n(pState, &eWas, iOwn, 0,
                                       __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
    ){
      hpPause();
      eWas = __atomic_load_n(pState, __ATOMIC_ACQUIRE);
    }
    if( eWas==HP_DATE_FILLED ) continue;
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
