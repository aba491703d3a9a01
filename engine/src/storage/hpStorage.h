/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** How pages lie in the file, and how they are read and written in large
** pieces, for SQLite itself as well.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPSTORAGE_H
#define HPSTORAGE_H

#define HP_CHAIN_SINGLE 1    /* Read single pages as well */
#define HP_CHAIN_FRAMES 2    /* Read frames of the WAL as well */

/* A read of a page that takes longer was not from the operating system's cache:
** that takes 0.5 us to 2 us for 4 KiB, and 10 us for 64 KiB */
#define HP_SLOW_NS(SZ)  (10000+(SZ)/4)
#define HP_AHEAD_BYTES (8*1024*1024)  /* Most bytes asked for */
#if SQLITE_OS_UNIX && defined(POSIX_FADV_WILLNEED) && defined(CLOCK_MONOTONIC)
# define HP_READAHEAD 1
#endif

/* The smallest b-tree that reserves pages (hp_extent.c).  Of one with fewer
** leaves no more overflow pages are counted than there are (hp_treesize.c) */
#define HP_EXTENT_MIN  32

/* hp_ahead.c */
static int hpAheadNear(Pgno, Pgno);
static int hpAheadOn(const sqlite3*, const BtShared*);
#ifdef HP_READAHEAD
static int hpAheadSpan(i64, i64);
static int hpAheadFrames(Pager*, const Pgno*, u32*, int);
static i64 hpAheadClock(void);
static int hpAheadSlow(i64, i64);
static int hpAheadAsk(Pager*, const Pgno*, const u32*, int, int, u32*);
static int hpAheadMissing(Pager*, Pgno);
#endif

/* hp_chain.c */
#ifdef HP_PREADV
static int hpChainRead(BtShared*, HpGuess*, int, Pgno, u32, u8*, u32, u8*,
                       Pgno*);
#endif

/* hp_extent.c */
typedef struct HpDefrag HpDefrag;
static HpDefrag **hpExtentDefrag(BtShared*);

/* hp_layer.c */
typedef struct HpLayer HpLayer;
static int hpLayerNew(Btree*, Pgno, HpLayer**);
static int hpLayerAdd(HpLayer*, const u8*, u32);
static int hpLayerRow(HpLayer*, i64, const u8*, u32);
static SQLITE_INLINE int hpLayerCell(HpLayer*, const u8*, u32, i64);
static int hpLayerEnd(HpLayer*);
static void hpLayerFree(HpLayer*);

#endif /* HPSTORAGE_H */
#endif /* SQLITE_OMIT_HP */
