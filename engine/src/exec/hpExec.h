/*
** 2026-11-23
**
** The author disclaims copyright to this source code.
**
*************************************************************************
** From columns to vectors: programs, and relations that they look up.
*/
#ifndef SQLITE_OMIT_HP
#ifndef HPEXEC_H
#define HPEXEC_H

/*
** A relation: rows of a table, found by their key.  See hp_rel.c.
*/
typedef struct HpRelCol HpRelCol;
struct HpRelCol {
  u8 sz;                 /* Bytes a value.  Less than 8: all are integers, ... */
  i64 iBase;             /* ... kept as what each is more than this */
  HpVal *aVal;           /* Value of each row, from row 0 on, or u8, u16, u32 */
  u8 *aTag;              /* Its type; NULL: mType, in all rows but 0 */
  u32 *aLen;             /* Its length; NULL: there is no text and no blob */
  u8 mType;              /* Types that occur */
};
typedef struct HpRelKey HpRelKey;
struct HpRelKey {
  const u8 *z;           /* A normalized key */
  u32 n;
};
struct HpRel {
  u32 nRow;              /* Rows, but for row 0 */
  u8 bNull;              /* A set of IN: there is a NULL, too */
  HpBits bits;           /* A directory of bits.  nBit==0: another one */
  u32 mSlot;             /* Hash: slots less one */
  u64 *aSlot;            /* ... salt and row of each; row 0: empty */
  HpPack *aPack;         /* ... pack of each row */
  HpRelKey *aKey;        /* ... and its key, where there is no pack; or NULL */
  HpRelCol *aCol;        /* Its columns */
  HpArena mem;           /* Memory of all of that, ... */
  HpArena *aText;        /* ... and of texts: nText arenas */
  int nText;
};

/* Run BODY for each row i to compute: all rows or the selected ones */
#define HP_ROWS(P,...) \
  if( (P)->bDense ){ \
    int i, n_ = (P)->nRow; \
    for(i=0; i<n_; i++) __VA_ARGS__ \
  }else{ \
    int ii_, n_ = (P)->nSel; \
    const u16 *aSel_ = (P)->aSel; \
    for(ii_=0; ii_<n_; ii_++){ int i = aSel_[ii_]; __VA_ARGS__ } \
  }

/* Run BODY for the rows to compute, from row IFROM on if all are computed */
#define HP_ROWS_FROM(P,IFROM,...) \
  if( (P)->bDense ){ \
    int i, n_ = (P)->nRow; \
    for(i=(IFROM); i<n_; i++) __VA_ARGS__ \
  }else{ \
    HP_ROWS(P, __VA_ARGS__) \
  }

/*
** The values of an IN list of three or more: a hash table with linear probing,
** at most half full.  Numbers are there by value, so that 3 finds 3.0.
*/
typedef struct HpInSet HpInSet;
struct HpInSet {
  u32 mask;              /* Slots less one */
  struct HpInSlot {
    u64 code;              /* Integer, bits of a real, hash of a string */
    u16 iVec;              /* Vector of the constant */
    u8 tag;                /* HP_INT for 3.0.  0: empty */
  } *aSlot;
};

/* hp_prog.c */
static int hpProgConst(HpProg*, int, Expr*, int);
static int hpProgIsConst(const HpProg*, int);
static int hpProgOp(HpProg*, const HpOp*);
static int hpProgFilter(HpProg*, int);
static int hpProgSide(HpProg*, u8, const u16*, int, int*);
static int hpProgSideEnd(HpProg*, int);
static int hpProgSees(const HpProg*, int);

/* hp_compare.c */
static void hpCompareRun(HpFrame*, const HpOp*);

/* hp_in.c */
static int hpInOpen(HpFrame*, const HpOp*, void**);
static void hpInRun(HpFrame*, const HpOp*, const HpInSet*);
static void hpInAffinity(HpFrame*, const HpOp*);

/* hp_arith.c */
static void hpArithRun(HpFrame*, const HpOp*, HpVec*);
static void hpArithBit(HpFrame*, const HpOp*, HpVec*);

/* hp_text.c */
static void hpTextConcat(HpFrame*, const HpOp*, HpVec*);
static void hpTextCopy(HpFrame*, HpVec*, const HpVec*);
static void hpTextCast(HpFrame*, const HpOp*, HpVec*);

/* hp_like.c */
static int hpLikeOpen(HpFrame*, const HpOp*, void**);
static void hpLikeRun(HpFrame*, const HpOp*, const void*);

/* hp_codes.c */
static int hpCodesLater(HpFrame*, int);
static int hpCodesRun(HpFrame*, int);
static void hpCodesNow(HpFrame*, int);
static int hpCodesLate(HpFrame*, const HpOp*);
static void hpCodesValues(HpFrame*, u16);

/* hp_func.c */
static void hpFuncRun(HpFrame*, int);
static int hpFuncOpen(HpFrame*, int);
static void hpFuncClose(HpFrame*);

/* hp_side.c */
static int hpSideOpen(HpFrame*);
static int hpSideBegin(HpFrame*, const HpSide*);
static void hpSideEnd(HpFrame*, const HpSide*);
static void hpSideSkip(HpFrame*, const HpSide*);

/* hp_expr.c */
static int hpExprOpen(HpFrame*, Mem*);
static void hpExprClose(HpFrame*);
static int hpExprFilter(HpFrame*);
static int hpExprRest(HpFrame*);
static int hpExprRangeIsWhole(const HpPipe*);

/* hp_key.c */
static u32 hpKeyTrimmed(const u8*, u32);
static u32 hpKeyNumber(u8*, u8, HpVal);
static u32 hpKeyInt(u8*, i64, u8);
static int hpKeyValue(HpBuf*, const HpVec*, int, CollSeq*, u8);
static int hpKeyNorm(HpFrame*, const HpKeys*, int, HpBuf*);
static int hpKeyShow(HpFrame*, const HpKeys*, int, HpBuf*);
static void hpKeyMemStr(Mem*, u8, const u8*, u32);
static void hpKeyMemPoint(Mem*, u8, const u8*, u32);
static void hpKeyToMem(const HpKeys*, const u8*, u32, Mem*, HpBuf*);

/* hp_pack.c */
static SQLITE_INLINE HpPack hpPackOne(u8, HpVal, u32);
static int hpPackRows(HpFrame*, const HpKeys*, HpPack*);

/* hp_rel.c */
static int hpRelNever(const HpFrame*, const HpLookup*);
static void hpRelLookup(HpFrame*, const HpOp*, const HpRel*, HpPack*, HpVec*);
static void hpRelIn(HpFrame*, const HpOp*, const HpRel*, HpPack*, HpVec*);
static void hpRelRow(HpFrame*, const HpRel*, const HpVec*, HpVec*);
static void hpRelGather(HpFrame*, const HpRelCol*, const HpVec*, int, HpVec*);
static u8 hpRelValue(const HpRelCol*, u32, HpVal*, u32*);
static void hpRelFree(HpRel*);
#ifdef SQLITE_DEBUG
static int hpRelHasRows(const HpFrame*, const HpRel*, const HpVec*, u32);
#endif

#endif /* HPEXEC_H */
#endif /* SQLITE_OMIT_HP */
