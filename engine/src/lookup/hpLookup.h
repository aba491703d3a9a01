/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Single rows by key: finding them, sharing their pages, short transactions.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPLOOKUP_H
#define HPLOOKUP_H

/* hp_seek.c.  MemPage.nHpSeek is the number of searches so far, or */
#define HP_SEEK_ORDER   254    /* Rowids are in order */
#define HP_SEEK_NONE    255    /* They are not */

/* hp_seek.c */
static int hpSeekInOrder(const u8*, int, int);

/* hp_store.c */
#ifdef HP_SHARED
static int hpStoreAllowed(Pager*);
#endif
static void hpStoreLeave(Pager*);
static void hpStoreForget(Pager*);

#endif /* HPLOOKUP_H */
#endif /* SQLITE_OMIT_HP */
