/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** From leaf pages to columns: runs of leaves, and batches of rows cut from
** them.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPSOURCE_H
#define HPSOURCE_H

#define HP_RUN_BYTES     (256*1024)  /* Bytes of leaves held at once: fits L2 */
#define HP_MX_QUICK      8           /* Runs of columns taken together with
                                     ** another */

/* A table of fewer leaf pages is scanned by one worker: a thread costs about
** 30 microseconds to make and to join, as much as 50 leaves. */
#define HP_MIN_PARALLEL  256

/* A part of the leaves of a b-tree */
struct HpPart {
  i64 nLeaf;             /* So many leaves, at most, ... */
  int nLevel;            /* ... after the one that these children lead to,
                         ** ... */
  u16 aChild[BTCURSOR_MAX_DEPTH];  /* ... from the root on */
  u8 bSearch;            /* Rows will be searched for: decline where that may
                         ** fail */
  u8 bLater;             /* It is not the first part that the statement reads */
  u8 bMore;              /* Result: there may be more leaves behind them */
};

/* A key to search for */
struct HpBoundKey {
  int bOn;               /* False: there is no bound */
  int bNull;             /* What is searched for is next to the key */
  i64 iRowid;            /* Rowid, of a table */
  UnpackedRecord rec;    /* Beginning of a key, of an index */
  Mem aMem[HP_MX_EQ+1];
};

/* A run of leaf pages in memory, all to be consumed before the next one.
** Each worker has one. */
struct HpRun {
  u32 iSeq;              /* Number of the run: 0, 1, 2, ... in key order */
  Pgno *aLeaf;           /* Page numbers of its leaves */
  u32 *aFrame;           /* WAL frame of each leaf; 0: the database file */
  Pgno *aAhead;          /* Pages to ask for ahead, ... */
  u32 *aAheadFrame;      /* ... the WAL frame of each, or 0, ... */
  int nAhead;            /* ... and their number */
  int nSpan;             /* With overflow pages, see hpAheadSpan() */
  u32 nAsked;            /* So many were asked for so far */
  int nPage;             /* Leaves in this run; 0: the end */
  Pgno iInner;           /* With columns: the page above its leaves, ... */
  int iChild;            /* ... and which child of it the first one is */
  Pgno iUnit;            /* First leaf of the unit that it is of, or all of,
                         ** ... */
  int iInUnit;           /* ... and number of its first leaf there */
  u8 bWhole;             /* It is all of the unit */
  int iLeaf, iCell;      /* The next row: in this leaf, this cell */
  int szPage;            /* Bytes kept of a page: all of it, or the header */
  u8 *aBuf;              /* Leaf i is at aBuf + i*szPage, HP_SLACK bytes
                         ** follow */
  HpRecord *aSep;        /* Index: entry i comes after leaf i.  z==0: none */
  u8 *aSepBuf;           /* Index: their bytes */
  u8 bRoot;              /* The leaf is the root: it may be empty */
  u8 iHdr;               /* Offset of the b-tree header (100 on page 1) */
  u8 mBound;             /* 1: iLow is set.  4: rowids are to be in order */
  i64 iLow;              /* The next rowids are greater than this, ... */
  i64 *aHigh;            /* ... and those of each leaf not greater than this */
  const HpColumnRun *pKept;  /* Its columns are in memory, and its leaves not
                             ** read: ... */
  HpSegment ***apKept;   /* ... of each column of the plan, segments: one a
                         ** batch */
  int iQuick, nQuick;    /* ... Runs that were taken together with it, from
                         ** iQuick on: ... */
  const HpColumnRun **apQuick;  /* ... they, ... */
  HpSegment ***apQuickKept;  /* ... and apKept of each */
  u8 **apTime;           /* ... of each, texts of times that it is decoded to:
                         ** hpSegmentColumn() */
  int iKept;             /* ... The segment that is the next batch, ... */
  u32 iKeptFrom;         /* ... first row of the batch in its segment, ... */
  u32 iKeptRow, nKeptRow;  /* ... and in the unit, rows of it, ... */
  u32 iKeptEnd;          /* ... and the first row of the unit that is not of the
                         ** run */
  int nZone;             /* Filters say something about so many columns, ... */
  int *aZoneCol;         /* ... these of the plan, ... */
  HpBound *aZone;        /* ... and this.  -1: it is to be found out */
  u8 bKeep;              /* Its columns are to be kept */
  const HpColumnRun *pMend;  /* They are in memory, but for leaves that have
                             ** changed: ... */
  u8 *aChanged;          /* ... these: only they are read (hp_mend.c) */
  u32 nTaken;            /* So many runs had leaves, ... */
  u32 nKept;             /* ... so many of them had columns in memory, ... */
  u32 nMended;           /* ... of which so many were mended */
};

/*
** Rows cut into columns: input of a vector program.  Column k of the plan has,
** in row i, serial type aType[k*nStride+i] and begins at
** apRec[i]+aOfst[k*nStride+i], unless the type is HP_SER_SLOW: then
** aSlow[i*nCol+k] tells about it.
*/
struct HpBatch {
  int nRow;              /* Rows in the batch */
  int nAlloc;            /* Rows allocated */
  int nSkip;             /* Rows left out before the batch: HpReader.bound */
  int nCol;              /* Columns: those of the plan, or 1 */
  int nStride;           /* From one column to the next in aType and aOfst */
  u8 *aType;             /* Serial types */
  u16 *aOfst;            /* Offsets of values */
  const u8 **apRec;      /* Records */
  i64 *aRowid;           /* Rowids, if HpSourcePlan.bRowid */
  u8 *aMin, *aMax;       /* Range of types of column k: the smallest and the
                         ** largest of 32 bytes from 32*k on */
  struct HpSlow {
    u32 type;              /* Serial type, or HP_SER_NONE */
    const u8 *z;           /* The value */
  } *aSlow;              /* Allocated when first used */
};
#define HP_SER_SLOW  0xff        /* In aType: see aSlow */
#define HP_SER_NONE  0xffffffff  /* In aSlow: the record ends before */

/*
** What a row needs to be looked at: a column whose value, if it is a number or
** NULL, lies within bounds.  A test on the bytes of the record, for queries
** that reject nearly all rows.
*/
struct HpBound {
  u8 bOn;                /* False: nothing is said of numbers, all rows are
                         ** looked at */
  u8 bText;              /* True: something is said of texts */
  u8 bNull;              /* Rows with NULL are looked at */
  int iStore;            /* Position of the column in the record */
  i64 iMin, iMax;        /* Bounds of integers */
  double rMin, rMax;     /* Bounds of reals */
  u64 mnText, mxText;    /* Bounds of hpZonePrefix() of a text */
};

/* The first eight bytes of a text of n, with zeros for those that it has not.
** Eight are readable */
static SQLITE_INLINE u64 hpZonePrefix(const u8 *z, u32 n){
  return n>=8 ? hpLoad8(z) : n ? hpLoadBytes(z, n)<<(64-8*n) : 0;
}

/*
** What a worker reads of the source of its pipe.
*/
struct HpReader {
  HpRun run;             /* Leaves being worked on */
  HpBatch batch;         /* Rows being worked on */
  HpBound bound;         /* Rows that need not be looked at */
  u64 nSkipped;          /* Number of rows that were left out because of it */
  HpGuess guess;         /* Are overflow pages adjacent? */
  HpValues *pValues;     /* Values of a batch: hp_values.c */
  HpKeeper *pKeeper;     /* Columns being kept: hp_keep.c */
  HpMender *pMender;     /* Columns being mended: hp_mend.c */
  HpVec *aRaw;           /* Values that go into records: hp_raw.c */
};

/* Records cut at a time */
#define HP_CUT 32

/* Records on their way from a page into the batch */
typedef struct HpCells HpCells;
struct HpCells {
  const u8 *az[HP_CUT];  /* HpRecord.z of each, */
  u32 aLocal[HP_CUT];    /* its nLocal, */
  u32 aByte[HP_CUT];     /* and its nByte */
};

/*
** Where rows come from.  A pipe calls these for each worker, in the worker's
** thread but for xBegin:
**
**    xBegin    memory
**    xNext     fill the batch; HpRun.nPage is 0 at the end.  HpRun.iLeaf is
**              nPage if the batch is the last one of its run
**    xColumn   values of one column of the plan, for the rows selected in a
**              frame
**    xSegment  the same as it is kept in memory, or NULL.  HpRun.pKept says of
**              what row it is the first.  Without xSegment: never
**
** Expressions know their source by HpFrame.pSource only, so a frame needs no
** leaf.  Sinks that keep places or records of rows (HpSinkType.eRecords,
** hp_raw.c) do: HpWorker.pRead is then about a b-tree.
*/
struct HpSourceType {
  int (*xBegin)(HpWorker*);
  int (*xNext)(HpWorker*);
  void (*xColumn)(HpFrame*, int, HpVec*);
  const HpSegment *(*xSegment)(const HpFrame*, int, int*);
  u8 bValues;            /* It reads no b-tree: hp_values.c */
  u8 bColumns;           /* It asks for values, not for pages: see
                         ** hp_columns.c */
};

/* Forms of segments: hp_segment.c */
#define HP_FORM_SEQ      0
#define HP_FORM_INT      1
#define HP_FORM_DECIMAL  2
#define HP_FORM_REAL     3
#define HP_FORM_DICT     4
#define HP_FORM_DATE     5
#define HP_FORM_TIME     6
#define HP_FORM_FIXED    7
#define HP_FORM_TEXT     8
#define HP_FORM_ANY      9
#define HP_FORM_MX       10

#define HP_TIME_TEXT     24    /* TIME: room for a text that is put together */

/* Entry of a dictionary, or of ANY: bytes of it begin at aText[iOfst] */
struct HpSegmentText {
  u32 iOfst;
  u32 n;
};

/* The values of a column of a batch, in nByte bytes of memory */
struct HpSegment {
  u8 eForm;              /* HP_FORM_xxx */
  u8 mType;              /* Types that occur: HpVec.mType */
  u8 bFloat;             /* HpVec.bFloat */
  u8 w;                  /* Bytes a value; DICT: of a code, TEXT: of an offset;
                         ** FIXED: 0 */
  u8 iScale;             /* DECIMAL: place in aHpScale */
  u8 cBetween;           /* TIME: what stands between date and time */
  u16 nEntry;            /* DICT: entries */
  int nRow;
  u32 nByte;
  u32 nRef;              /* Runs that have it: hp_columnrun.c */
  HpSlab *pSlab;         /* What it lies in, or NULL */
  i64 iBase;             /* SEQ: the first integer.  INT, DECIMAL: the smallest.
                         ** DATE, TIME: the first one, as hp_date.c has it.
                         ** FIXED: the length */
  i64 iMax;              /* SEQ, INT, DECIMAL: the largest.  DATE, TIME: the
                         ** last one */
  u64 mnText, mxText;    /* DICT, DATE, TIME, FIXED, TEXT: of hpZonePrefix() */
  const u8 *aTag;        /* Type of each row.  NULL: all are mType */
  const u8 *aData;       /* A value, a code, or an offset for each row */
  const struct HpSegmentText *aEntry;  /* DICT: entries.  ANY: length of each
                                       ** row */
  const u8 *aText;       /* DICT, FIXED, TEXT, ANY: bytes */
};

/* A column of a run: a segment for each batch of it */
struct HpColumnSet {
  int iStore;            /* HpCol.iStore, ... */
  u8 bReal;              /* ... and bReal */
  HpSegment **apSeg;     /* NULL: it cannot be kept */
};

/* What is known of a page above leaves that are cut into units: hp_columns.c */
struct HpColumnInner {
  HpColumnInner *pNext;  /* In a slot of the hash table, or of those dropped */
  Pgno iPg;
  u64 iBorn;             /* The state that this was seen in */
  int nCell;             /* HpInner.nCell */
  int szUnit;            /* Leaves of a unit */
  Pgno aFirst[1];        /* The first leaf of each */
};

/* The place of a row: cell ICELL of leaf ILEAF of run ISEQ */
#define HP_PLACE(ISEQ,ILEAF,ICELL) \
    ((i64)(((u64)(ISEQ)<<32) | ((u64)(ILEAF)<<16) | (u64)(ICELL)))
#define hpPlaceSeq(I)   ((u32)((u64)(I)>>32))
#define hpPlaceLeaf(I)  ((int)(((I)>>16) & 0xffff))
#define hpPlaceCell(I)  ((int)((I) & 0xffff))

/* hp_bounds.c */
static void hpBoundsFree(HpRange*);
static int hpBoundsKey(sqlite3*, const HpRange*, Mem*, int, HpBoundKey*);
static void hpBoundsClear(HpBoundKey*);
static int hpBoundsCompare(HpBoundKey*, BtShared*, const u8*, const u8*, int*);

/* hp_segment.c */
#ifdef HP_SHARED
static void hpSegmentColumn(const HpSegment*, int, HpFrame*, HpVec*, u8*);
static const u8 *hpSegmentText(const HpSegment*, u64, u8*, u32*);
static int hpSegmentIsOut(const HpSegment*, const HpBound*);
static int hpSegmentAscends(const HpSegment*, int, int, int, i64*);
static SQLITE_INLINE i64 hpSegmentDate(u8, u8, const u8*, u32);
static HpVal hpSegmentNumber(const HpSegment*, u64);
static HpSegment *hpSegmentDup(const HpSegment*);
static i64 hpSegmentFree(HpSegment*);
#endif

/* hp_segmentmake.c */
#ifdef HP_SHARED
static HpSegment *hpSegmentMake(HpSegmentMaker*, HpVec*, int, int);
static int hpSegmentMakeRow(HpSegment*, int, u8, HpVal, u32);
#endif

/* hp_columns.c */
static const HpColumnInner *hpColumnsInner(HpColumnScan*, Pgno, int);
static void hpColumnsInnerAdd(HpColumnScan*, Pgno, const HpInner*, int);
#ifdef HP_SHARED
static HpSlab *hpColumnsSlab(HpColumnScan*, i64);
static i64 hpColumnsSlabMost(const HpColumnScan*);
#endif

/* hp_columnrun.c */
static i64 hpColumnRunPlace(const HpRun*, u32);
#ifdef HP_SHARED
static int hpColumnRunRows(const HpColumnRun*, int);
static u32 hpColumnRunLeafRows(const HpColumnRun*, int);
static int hpColumnRunChunks(const HpColumnRun*);
static int hpColumnRunInOrder(const HpRun*, int);
static int hpColumnRunSets(HpColumnScan*, const HpColumnRun*,
                           struct HpColumnSet*, int, u8*);
static void hpColumnRunAdd(HpColumnScan*, const HpRun*, int, const u16*,
                           HpSegment**, const u8*, int);
#endif

/* hp_columnscan.c */
static HpColumnScan *hpColumnScanOpen(HpPipe*, Pager*, int);
static int hpColumnScanQuick(HpColumnScan*, HpRun*, int, int, const Pgno*, int);
static int hpColumnScanNext(HpColumnScan*, HpRun*);
static void hpColumnScanFind(HpColumnScan*, HpRun*);
static void hpColumnScanClose(HpColumnScan*);
static void hpColumnScanDistrust(HpColumnScan*);
static int hpColumnScanSeemKept(const sqlite3*, const HpSourcePlan*, i64);
#ifdef HP_SHARED
static int hpColumnScanWanted(const HpColumnScan*, int);
static int hpColumnScanMended(HpColumnScan*, HpRun*, const u16*, const u32*,
                              int,
                              const struct HpColumnSet*, int, HpSegment**);
#endif

/* hp_zone.c */
static int hpZoneIsSafe(const HpProg*);
static int hpZoneOf(const HpWorker*, int, HpBound*);
static void hpZoneNarrow(HpBound*, const HpBound*);

/* hp_source.c */
#ifdef HP_SHARED
static HpColumnScan *hpSourceColumns(const HpSource*);
static int hpSourceUnmended(HpWorker*);
#endif
static int hpSourceOpen(HpPipe*, Mem*);
static int hpSourceParallel(const HpSource*, int);
static u32 hpSourceRuns(const HpSource*);
static int hpSourceRunInit(HpWorker*, int);
static int hpSourceWays(HpSource*, u16**);
static int hpSourceNext(HpWorker*);
static void hpSourceChained(HpSource*, u32);
static void hpSourceClose(HpSource*);

/* hp_size.c */
static int hpSizeIsLarge(Btree*, Pgno, int, int, int*);
static int hpSizeOfPlan(sqlite3*, const HpSourcePlan*, Mem*, i64*, i64*);
static int hpSizeRangeSkips(HpRange*);
static void hpSizeRangeWas(HpRange*, int);
static int hpSizeRangeIsLarge(sqlite3*, const HpSourcePlan*, Mem*, int*);
static int hpSizeRangeSeemsLarge(sqlite3*, const HpSourcePlan*, Mem*);
static int hpSizeSearchMayBeLarge(sqlite3*, const HpSourcePlan*, Mem*, int);
static int hpSizeOfSearch(sqlite3*, const HpSourcePlan*, Mem*, i64, i64,
    i64*, double*, i64*);
static int hpSizeCountIsLarge(sqlite3*, const HpSourcePlan*, int*);
static i64 hpSizeRows(const HpSource*);
static int hpSizeIsShort(const HpPipe*);

/* hp_record.c */
static void hpRecordEmpty(HpWorker*);
static int hpRecordInit(HpWorker*);
static int hpRecordIsSound(const BtShared*, const u8*, u32);

/* hp_cells.c */
static int hpCellsLeaf(HpWorker*, int, int*);

/* hp_decode.c */
static void hpDecodeFloat(HpFrame*, HpVec*, int*);
static void hpDecodeColumn(HpFrame*, int, HpVec*);

/* hp_keep.c */
static int hpKeepInit(HpWorker*);
static void hpKeepBegin(HpWorker*);
static void hpKeepBatch(HpWorker*);
static int hpKeepIsInOrder(const HpWorker*);
static int hpKeepNext(HpWorker*);
static void hpKeepColumn(HpFrame*, int, HpVec*);
static const HpSegment *hpKeepSegment(const HpFrame*, int, int*);
#ifdef HP_SHARED
static int hpKeepIsElsewhere(const HpWorker*, int);
#endif
static void hpKeepForget(HpWorker*);
static void hpKeepClose(HpWorker*);

/* hp_mend.c */
static int hpMendRun(HpWorker*);
static void hpMendClose(HpWorker*);

/* hp_raw.c */
static int hpRawLoad(HpWorker*, HpFrame*, int, int);
static int hpRawIsInteger(const HpWorker*, int, int);
static void hpRawRecordSize(const HpWorker*, int, u64*, u64*);
static void hpRawRecord(const HpWorker*, int, u8*, u8*);
static void hpRawSize(const HpWorker*, const HpField*, int, u64*, u64*);
static void hpRawCopy(const HpWorker*, const HpField*, int, u8**, u8**);

/* hp_place.c */
static i64 hpPlaceOf(const HpWorker*, int, i64, int);
static i64 hpPlaceLast(const HpWorker*);

/* hp_values.c */
static int hpValuesBegin(HpWorker*);
static void hpValuesClear(HpWorker*);
static void hpValuesSet(HpWorker*, int, int, u8, HpVal, u32);
static int hpValuesMem(HpWorker*, int, int, const Mem*, int);
static u8 *hpValuesText(HpWorker*, u32);
static void hpValuesDone(HpWorker*, int);
static void hpValuesColumn(HpFrame*, int, HpVec*);
static void hpValuesClose(HpWorker*);

#endif /* HPSOURCE_H */
#endif /* SQLITE_OMIT_HP */
