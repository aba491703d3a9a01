//! The ways in which our library is made to work: the same seeds go through each.

/// One regime. The test switches in HPSQLITE_TEST are read once a process, so a
/// regime is a process.
#[derive(Clone, Copy, Debug)]
pub struct Regime {
    pub name: &'static str,
    /// HPSQLITE_TEST of the process.
    pub switches: &'static str,
    pub pragmas: &'static [&'static str],
    /// Is every query that the library can take over taken over?
    pub forced: bool,
}

const FORCE: &[&str] = &["PRAGMA hp_offload=force"];

pub const REGIMES: &[Regime] = &[
    Regime {
        name: "force",
        switches: "",
        pragmas: FORCE,
        forced: true,
    },
    // One thread, in scan order.
    Regime {
        name: "threads1",
        switches: "threads=1",
        pragmas: FORCE,
        forced: true,
    },
    // More threads than processors, and every leaf a unit of work, so that
    // small tables are spread over them too.
    Regime {
        name: "threads4",
        switches: "stash=all,threads=4,run=1",
        pragmas: FORCE,
        forced: true,
    },
    // Vectors of one row, and of an odd few: every boundary between batches. Relations
    // have hash tables only in one of them, bits where they can in the other. Groups
    // become sorted runs in that one, in twos and threes, and sums are in arrays.
    Regime {
        name: "batch1",
        switches: "batch=1,threads=1",
        pragmas: FORCE,
        forced: true,
    },
    Regime {
        name: "batch3",
        switches: "batch=3,dir=hash,stash=all,threads=3,run=1,rare=2,tally=1",
        pragmas: FORCE,
        forced: true,
    },
    // Every key collides with every other, also in the relations of joins.
    Regime {
        name: "hash0",
        switches: "hash=0,dir=hash,threads=2,run=1,tally=1",
        pragmas: FORCE,
        forced: true,
    },
    // The portable decoder, on machines that would not use it.
    Regime {
        name: "nosimd",
        switches: "simd=off",
        pragmas: FORCE,
        forced: true,
    },
    // Each scan keeps columns in memory, and reads those that others kept.
    Regime {
        name: "columns",
        switches: "columns=force,tally=2",
        pragmas: FORCE,
        forced: true,
    },
    Regime {
        name: "columns4",
        switches: "columns=force,threads=4,run=1,batch=7,simd=off",
        pragmas: FORCE,
        forced: true,
    },
    // ... of which there is room for a few only.
    Regime {
        name: "columnstiny",
        switches: "columns=tiny,run=3,threads=2",
        pragmas: FORCE,
        forced: true,
    },
    // Page by page, as with a VFS that is not SQLite's own.
    Regime {
        name: "pager",
        switches: "source=pager,stash=all,threads=2,run=1",
        pragmas: FORCE,
        forced: true,
    },
    // A search for rows ends early, after any run: SQLite's loop goes on from there.
    Regime {
        name: "early",
        switches: "end=2,run=1,threads=2,stash=all",
        pragmas: FORCE,
        forced: true,
    },
    Regime {
        name: "early3",
        switches: "end=3,run=1,batch=7,columns=force,memory=20000",
        pragmas: FORCE,
        forced: true,
    },
    // Memory is always short: groups and rows go to temporary files in between.
    Regime {
        name: "spill",
        switches: "memory=20000,stash=all,threads=1,tally=3",
        pragmas: FORCE,
        forced: true,
    },
    Regime {
        name: "spill4",
        switches: "memory=3000,threads=4,run=1,batch=7,rare=20",
        pragmas: FORCE,
        forced: true,
    },
    Regime {
        name: "all",
        switches: "batch=3,hash=0,dir=hash,stash=all,simd=off,source=pager,memory=20000,threads=4,run=1",
        pragmas: FORCE,
        forced: true,
    },
    // SQLite's loops begin, and are given up after few instructions, or many.
    Regime {
        name: "race",
        switches: "race=30,threads=1",
        pragmas: FORCE,
        forced: true,
    },
    Regime {
        name: "race2",
        switches: "race=700,stash=all,threads=2,run=1",
        pragmas: FORCE,
        forced: true,
    },
    // What a user has: small tables stay with stock's code, and so do its plans.
    // Only the large ones of a case are ours, on all processors.
    Regime {
        name: "on",
        switches: "",
        pragmas: &[],
        forced: false,
    },
    Regime {
        name: "off",
        switches: "",
        pragmas: &["PRAGMA hp_offload=off"],
        forced: false,
    },
];

pub fn find(name: &str) -> Option<&'static Regime> {
    REGIMES.iter().find(|r| r.name == name)
}
