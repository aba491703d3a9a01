//! The threads of an import.
//!
//! ```text
//! reader ── blocks ──► workers ── rows ──► writer (the thread that called)
//!    └──── for each block, in their order, where its rows will come ────┘
//! ```
//!
//! One thread reads the file and cuts it. Workers make rows of the blocks, as many as there are
//! processors: where they take longer than the writer, it leaves its own to them. The writer takes the rows in the order
//! of the file. What is on its way is bounded, and its memory goes round: a block that is done is used
//! for a later one.
//!
//! The threads are not joined where the import fails. The reader may wait for a pipe on which
//! nothing comes, and all end with the process.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::input::{BLOCK, InputBlocks, InputError};
use super::rows::{RowBlock, RowReader};
use crate::interrupt;

/// How often a writer that waits looks whether Ctrl-C was pressed.
const PAUSE: Duration = Duration::from_millis(50);
/// Blocks on their way, for each worker and for the writer.
const BLOCKS_EACH: usize = 3;

/// A block on its way to a worker, and how it gets from there to the writer.
struct BlockJob {
    block: RowBlock,
    done: SyncSender<RowBlock>,
}

/// A block in its place in the file, or why there is none.
type NextBlock = Result<Receiver<RowBlock>, InputError>;

/// What the writer knows of an import that goes on.
pub struct Pipeline {
    next: Receiver<NextBlock>,
    used: Sender<RowBlock>,
}

impl Pipeline {
    /// Begins with the bytes of a first block, which has been read already.
    pub fn start(first: Vec<u8>, blocks: InputBlocks, rows: &Arc<RowReader>) -> Result<Pipeline> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let on_their_way = BLOCKS_EACH * (workers + 1);
        let (jobs, to_do) = sync_channel::<BlockJob>(on_their_way);
        let (in_order, next) = sync_channel::<NextBlock>(on_their_way);
        let (used, free) = channel::<RowBlock>();
        let to_do = Arc::new(Mutex::new(to_do));
        let first = RowBlock {
            bytes: first,
            ..RowBlock::default()
        };
        for _ in 0..workers {
            let (to_do, rows) = (Arc::clone(&to_do), Arc::clone(rows));
            spawn("import-rows", move || work(&to_do, &rows))?;
        }
        let reader = move || cut(first, blocks, &in_order, &jobs, &free);
        spawn("import-file", reader)?;
        Ok(Pipeline { next, used })
    }

    /// The next block of rows; none at the end of the file. `lines` come before it.
    pub fn next(&self, name: &str, lines: u64) -> Result<Option<RowBlock>> {
        let Some(next) = wait(&self.next)? else {
            return Ok(None);
        };
        match next {
            Err(e) => Err(e.told(name, lines)),
            Ok(rows) => match wait(&rows)? {
                None => bail!("a thread that reads {name} has failed"),
                rows => Ok(rows),
            },
        }
    }

    /// Gives back a block that is done.
    pub fn give_back(&self, block: RowBlock) {
        // The reader may have ended.
        let _ = self.used.send(block);
    }
}

/// Begins a thread, with a name that debuggers and profilers show.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(run).context("cannot make a thread")?;
    Ok(())
}

/// What comes next, or nothing if nothing will; an error if Ctrl-C is pressed.
fn wait<T>(from: &Receiver<T>) -> Result<Option<T>> {
    loop {
        interrupt::check()?;
        match from.recv_timeout(PAUSE) {
            Ok(it) => return Ok(Some(it)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The reader. It ends where the file does, or where nobody listens any more.
fn cut(
    first: RowBlock,
    mut blocks: InputBlocks,
    in_order: &SyncSender<NextBlock>,
    jobs: &SyncSender<BlockJob>,
    free: &Receiver<RowBlock>,
) {
    let mut block = first;
    loop {
        let (done, rows) = sync_channel(1);
        block.position = blocks.position();
        if in_order.send(Ok(rows)).is_err() || jobs.send(BlockJob { block, done }).is_err() {
            return;
        }
        block = free.try_recv().unwrap_or_default();
        block.clear();
        match blocks.next(&mut block.bytes, BLOCK) {
            Ok(()) if block.bytes.is_empty() => return,
            Ok(()) => {}
            Err(e) => {
                // As above.
                let _ = in_order.send(Err(e));
                return;
            }
        }
    }
}

fn work(to_do: &Mutex<Receiver<BlockJob>>, rows: &RowReader) {
    loop {
        let job = to_do.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(BlockJob { mut block, done }) = job else {
            return;
        };
        rows.read(&mut block);
        // The writer may have failed.
        let _ = done.send(block);
    }
}
