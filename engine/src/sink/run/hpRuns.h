/*
** 2026-11-30
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** Sorted runs of entries: groups, rows, or pairs of a key and a record.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPRUNS_H
#define HPRUNS_H

#define HP_CHUNK       128    /* Groups a chunk */
#define HP_MIN_PART    8192   /* Fewer entries are put together by one thread */
#define HP_POLL        65536  /* Entries between looks at the interrupt flag */

/* What every entry has that is no pair */
typedef struct HpHead HpHead;
struct HpHead {
  u64 iPos;              /* Position of its first row, or HP_NO_POS */
  const u8 *z;           /* Its key record; NULL: see hpEntryIsInt() */
  u32 nNorm;             /* Bytes of the normalized keys, and ... */
  u32 nRec;              /* ... of the whole record */
};

#define hpEntryHead(PLAN,E)     ((HpHead*)&(E)[(PLAN)->iHeadOff])

/* Where the pack of an entry is, if it has one */
#define hpEntryPack(E)          ((HpPack*)(E))

/* True if the only key of an entry is an integer, which its pack holds */
#define hpEntryIsInt(PLAN,E)    ((PLAN)->bIntKey && hpEntryHead(PLAN,E)->z==0)

/*
** What is to be known of entries beside their keys and their size.  Entries
** without such a table stay apart: rows and pairs.
*/
struct HpEntryType {
  /* What a record has beside the entry and its key, or NULL: its size.  Write
  ** that of the first entry, whose copy is the second, and return its end.  Let
  ** the pointers of an entry point there, and return its end */
  u64 (*xSize)(const HpEntryPlan*, const u8*);
  u8 *(*xWrite)(const HpEntryPlan*, const u8*, u8*, u8*);
  u8 *(*xPoint)(const HpEntryPlan*, u8*, u8*);
  /* Add an entry to the one before, which has the same key */
  int (*xCombine)(const HpEntryPlan*, u8*, const u8*);
  /* All parts of an entry have been added up, in memory: is it right, and is it
  ** wanted?  The third argument is what xMixed() says */
  int (*xDone)(const HpPipe*, const u8*, int, int*);
  /* The same of one that is delivered at once: is it wanted? */
  int (*xWanted)(const HpPipe*, const u8*);
  /* Do all entries have to be looked at before the first is delivered? */
  int (*xMixed)(const HpPipe*);
  /* The entries of a worker become a run, in a file or in memory */
  int (*xNote)(HpRuns*, int);
  /* Some are in files, and are put together as they are delivered: HP_DECLINE
  ** if it is not known that this will be right */
  int (*xDoubt)(const HpPipe*);
  /* The next entry is about to be delivered, or NULL */
  int (*xAhead)(HpPipe*, HpMerge*);
  u8 bLarge;             /* Entries may be large, and are looked at before they
                         ** are delivered */
#ifdef SQLITE_DEBUG
  int (*xIsSane)(const HpEntryPlan*, const u8*);
#endif
};

/*
** An entry of a run of which nothing is asked but its place and its record
** (HpEntryPlan.bWhole): two sizes, the key, the record.
*/
typedef struct HpPair HpPair;
struct HpPair {
  u32 nKey;              /* Bytes of the normalized key */
  u32 nRec;              /* Bytes of the record behind it */
};
#define hpPairSize(P) ROUND8(sizeof(HpPair)+(u64)(P)->nKey+(P)->nRec)

/* Who takes pairs in key order, so many at a time */
typedef int (*HpGive)(void*, u8**, u32);

/* A sorted run in memory: hp_memrun.c */
typedef struct HpMemRun HpMemRun;
struct HpMemRun {
  u8 *a;                 /* Its records, as in a file, */
  u32 n;                 /* ... their bytes, */
  u32 nEntry;            /* ... and their number */
  u32 *aAt;              /* Where each begins, in units of 8 bytes; or NULL */
  u8 nHead;              /* Bytes of a record before the entry */
};

/*
** The entries of a worker, and the sorted runs that were made of earlier ones.
** Of three groups of GROUP BY city, Rome, Oslo and Bern, in this order:
**
**    aEntry of entry 0     Rome's pack, states, HpHead.z -> "Rome" normalized
**             entry 1     Oslo's
**             entry 2     Bern's
**    aSorted               Bern's, Oslo's, Rome's: when they are put in order
**    pSpill->aRun          earlier ones, in key order, in a file
*/
struct HpRuns {
  const HpEntryPlan *pPlan;  /* What an entry is */
  HpWorker *pWorker;     /* NULL: they are no scan's (bulk/hp_change.c) */
  HpArena arena;         /* Chunks, keys, copies; rows */
  u32 nEntry;            /* Entries in memory that are in no run */
  u8 bOrdered;           /* Their keys increase */
  u8 bRecord;            /* Some of them have key records */
  u32 nSame;             /* Bytes that all normalized keys begin with */
  u8 **apChunk;          /* Groups: chunks of HP_CHUNK */
  u32 nChunkAlloc;       /* Size of apChunk */
  i64 nTable;            /* Bytes beside the arena: apChunk, hash tables */
  HpBuf key;             /* Scratch for a key record */
  struct HpSorted { u64 prefix; u8 *aEntry; } *aSorted;  /* In key order */
  u32 nSortedAlloc;      /* Entries allocated */
  i64 nRowByte;          /* Rows: bytes of those in aSorted */
  HpMemRun *aMemRun;     /* Sorted runs in memory, ... */
  int nMemRun, nMemRunAlloc;
  u64 nMemEntry;         /* ... their groups, ... */
  HpArena memRun;        /* ... and what they are in */
  struct HpSpill *pSpill;  /* Runs in a temporary file, or NULL */
};

/* Numbers rows that come in order: hpNumberSkip() */
struct HpNumber {
  HpBuf norm;            /* The key of the last row */
  u32 nPrefix;           /* Bytes of it that are its partition's */
  u8 bOff;               /* Leave out nothing any more */
  i64 nRow;              /* Rows of the partition so far */
  i64 iNumber;           /* The number of the last one */
};

/* Reads a sorted run: hp_runs.c */
typedef struct HpRunReader HpRunReader;
struct HpRunReader {
  u8 *aEntry;            /* The current group, or NULL at the end */
  u64 prefix;            /* Of a row: first bytes of its key */
  const HpRuns *pRuns;     /* In memory: whose groups, ... */
  u32 iNext, n;          /* ... the next one, and where to stop */
  sqlite3_file *pFd;     /* In a file: which (NULL: aBuf has all of it), ... */
  i64 iOfst, iEnd;       /* ... what is still to be read, ... */
  u64 mxRecord;          /* ... in records of so many bytes at most, ... */
  u8 *aBuf;              /* ... bytes read before, ... */
  u32 iBuf, nBuf, nAlloc;    /* ... place in them, number, size of aBuf */
};

struct HpMerge {
  int nReader;
  HpRunReader *aReader;
  int nHeap;             /* Readers that are not at their end */
  HpRunReader **apHeap;  /* The one with the smallest key first */
  HpRunReader **apUsed;  /* Those whose groups were delivered last */
  int nUsed;
  u8 **apEntry;          /* Without a file: all groups, merged */
  u32 nEntry, iEntry;    /* Their number, and the next one */
  u64 nIn;               /* Entries of all readers */
  u32 iAhead;            /* Up to here HpEntryType.xAhead() has looked */
  HpNumber count;         /* HpSortPlan.pPart: numbers of rows */
};

/*
** How the entries of all workers of a pipe, groups or rows, become its result.
*/
struct HpDelivery {
  HpMerge *apMerge[HP_MX_PART];  /* Parts of all entries, in key order */
  int nMerge;            /* Number of parts */
  int iMerge;            /* What a worker takes next: a part, a slice, a run.
                         ** Then the part that is delivered */
  HpSlices *pSlices;     /* Entries of many runs while they are put together:
                         ** hp_slice.c.  Or NULL */
  i64 mxRow;             /* HpSortPlan.pPart: rows wanted of each partition.  0:
                         ** all */
  HpBuf buf;             /* Scratch */
};

/* The normalized key of an entry of a run, and its size: *pn */
static SQLITE_INLINE const u8 *hpEntryKey(
  const HpEntryPlan *pPlan,
  const u8 *aEntry,
  u32 *pn
){
  if( pPlan->bWhole ){
    const HpPair *p = (const HpPair*)aEntry;
    *pn = p->nKey;
    return (const u8*)&p[1];
  }else{
    const HpHead *p = hpEntryHead(pPlan, aEntry);
    *pn = p->nNorm;
    return p->z;
  }
}

/* hp_held.c */
static void hpHeldInit(HpRuns*, const HpEntryPlan*, HpWorker*);
static u8 *hpHeldAt(const HpRuns*, u32);
static const u8 *hpHeldKey(const HpEntryPlan*, const u8*, u8*, u32*);
static i64 hpHeldMemory(const HpRuns*);
static int hpHeldMay(const HpRuns*, i64, int);
static void hpHeldReset(HpRuns*);
#ifdef SQLITE_DEBUG
static int hpHeldIsSane(const HpEntryPlan*, const u8*);
#endif

/* hp_radix.c */
static void hpRadixPass(struct HpSorted*, struct HpSorted*, u32, u64);
static void hpRadixMerge(const HpEntryPlan*, struct HpSorted*, struct HpSorted*,
                         u32);
static int hpRadixSort(HpRuns*, struct HpSorted*, u32, int);
static int hpRadixPairs(HpRuns*, struct HpSorted*, u32, u32);
static int hpRadixHeld(HpRuns*);
static u8 *hpRadixAt(const HpRuns*, u32);

/* hp_spill.c */
static u64 hpSpillSize(const HpEntryPlan*, const u8*);
static int hpSpillRecord(const HpEntryPlan*, const u8*, HpBuf*);
static void hpSpillPointers(const HpEntryPlan*, u8*);
static void hpSpillNote(struct HpSpill*, u64);
static int hpSpillWrite(struct HpSpill*, HpBuf*);
static int hpSpillOpen(HpRuns*);
static int hpSpillHeld(HpRuns*);
static void hpSpillClose(HpRuns*);

/* hp_runs.c */
static void hpRunsFree(HpMerge*);
static HpMerge *hpRunsNew(int);
static void hpRunsMemory(HpMerge*, const HpRuns*);
static int hpRunsFirst(const HpEntryPlan*, HpMerge*);
static int hpRunsStep(const HpEntryPlan*, HpMerge*, u8**);
static int hpRunsWanted(const HpPipe*, HpMerge*, u8**);
static int hpRunsSpill(HpRuns*);
static int hpRunsMixed(const HpPipe*);

/* hp_memrun.c */
static int hpMemRunMake(HpRuns*);
static u8 *hpMemRunAt(const HpMemRun*, u32);
static void hpMemRunFree(HpRuns*);

/* hp_number.c */
static int hpNumberSkip(const HpPipe*, HpNumber*, const u8*);

/* hp_slice.c */
static int hpSliceAll(HpPipe*, u64, u8***, u32*);
static void hpSliceForget(HpPipe*);
static int hpSliceReady(HpPipe*, u64);
static int hpSliceGive(HpPipe*, HpGive, void*);

/* hp_merge.c */
static void hpMergeClose(HpPipe*);
static int hpMergeOpen(HpPipe*);
static int hpMergeSort(HpPipe*);
static int hpMergeTake(HpPipe*, u8**, u32);
static int hpMergeNext(HpPipe*, u8**);
static int hpMergeGive(HpPipe*, HpGive, void*);

#endif /* HPRUNS_H */
#endif /* SQLITE_OMIT_HP */
