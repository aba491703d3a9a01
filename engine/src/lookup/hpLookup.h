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

#ifdef HP_SHARED
/* Numbers of pages */
typedef struct HpFilePages HpFilePages;
struct HpFilePages {
  Pgno *a;
  int n, nAlloc;
};

/* What the system says of a file: its size, and when it was changed */
typedef struct HpFileStat HpFileStat;
struct HpFileStat {
  i64 nByte;
  i64 aTime[4];          /* Content, inode: seconds and nanoseconds */
};

/* What is known of the state of a file.  See hp_filestate.c.  Fields marked (m)
** are protected by SQLITE_MUTEX_STATIC_LRU, those from nHeld on by pMutex. */
typedef struct HpFileState HpFileState;
struct HpFileState {
  unixInodeInfo *pInode; /* The file.  It is open as long as nRef>0 */
  int nRef;              /* (m) */
  struct HpColumnFile *pColumns;  /* (m) What hp_columns.c keeps */
  sqlite3_mutex *pMutex;
  u32 nHeld;             /* Things kept of it.  0: changes need not be noted */
  u8 eMode;              /* HP_STATE_xxx */
  u8 bLost;              /* What was kept in state iTold does not hold, ... */
  HpFilePages changed;   /* ... or all but these pages, which have changed */
  u64 iNow, iTold;       /* The state that the fields below tell */
  int szPage;            /* Page size */
  HpFileStat stat;
  u8 aVers[16];          /* _JOURNAL: Pager.dbFileVers */
  const Pager *pWriter;  /* One has written from this state on: that of ... */
  const Pager *pNoted;   /* ... this pager, and this one's has changed ... */
  HpFilePages commit;    /* ... these pages */
  u32 aSalt[2];          /* _WAL: salts, ... */
  u32 mxFrame;           /* ... the last frame that has been looked at, ... */
  u32 aCksum[2];         /* ... its checksum, ... */
  u32 iChange;           /* ... the number of commits by then, ... */
  u32 nDone, nTried;     /* ... WalCkptInfo.nBackfill, .nBackfillAttempted */
};

/* hp_filestate.c */
static int hpFileStateIsKnown(const sqlite3_file*);
static int hpFileStateStat(const sqlite3_file*, HpFileStat*);
static HpFileState *hpFileStateJoin(const sqlite3_file*);
static void hpFileStateUnref(HpFileState*);
static u64 hpFileStateNow(HpFileState*, Pager*);
static void hpFileStateTold(HpFileState*);
static void hpFileStateLost(HpFileState*);
static void hpFileStateForget(const sqlite3_file*);
#endif

/* hp_seek.c */
static int hpSeekInOrder(const u8*, int, int);

/* hp_store.c */
#ifdef HP_SHARED
static int hpStoreAllowed(void);
static i64 hpStoreShare(const Pager*);
#endif
static void hpStoreLeave(Pager*);
static void hpStoreForget(Pager*);

#endif /* HPLOOKUP_H */
#endif /* SQLITE_OMIT_HP */
