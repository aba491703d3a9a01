//! A step as it is done: by threads of this process, or by processes with threads of their own.
//!
//! Each is a **member** of the step. It makes ready (connections are open, statements prepared),
//! says so, waits for all others, works, says that it is done, and waits again: connections close
//! when all are done and what was used has been read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::process::{Crew, MemberDone, PartJob, PartProcess, ThreadDone};
use super::{BEGUN_AGAIN, Client, JobDatabase, OperationReading, StepWork, Workload};
use crate::bench::meter::{Usage, percentiles};
use crate::bench::model::{Job, Line, Sample, Step};
use crate::bench::work::options::JobOptions;
use crate::bench::work::{Say, caught};
use crate::bench::{connection, engine};
use crate::data::random::{SplitMix64, mix};
use crate::interrupt;
use crate::sys::{Db, Library};
use crate::timed::{self, Laps, Watch};

/// The most connections of a step.
const MOST: u64 = 1024;

/// A step that is being done.
pub struct StepRun<'r> {
    pub job: &'r Job,
    pub step: &'r Step,
    pub place: &'r JobDatabase,
    pub library: &'r Library,
}

/// What the members of a step share.
struct StepShared<'s> {
    work: &'s dyn StepWork,
    operations: u64,
    /// Until when to go on, whatever the number of operations is.
    seconds: Option<Duration>,
    crew: Crew,
    warm_up: u64,
    salt: u64,
    /// All members are ready.
    start: Barrier,
    /// What was used has been read, connections may close.
    end: Barrier,
    watch: Watch,
    /// Members that have failed.
    failed: AtomicUsize,
    /// Processes that do not look at `watch`.
    children: Mutex<Vec<u32>>,
}

/// A member is ready, or has done its part: did it fail?
struct Told {
    failed: bool,
}

/// The error of a member, and how many had failed before.
type MemberError = (usize, anyhow::Error);

/// What is to be done when all members are ready, and when all are done: the two moments at which
/// a process waits for the other processes. Where a member has failed neither is.
pub struct Cues<'c> {
    pub start: &'c dyn Fn() -> Result<()>,
    pub end: &'c dyn Fn() -> Result<()>,
}

/// The time since some moment that is the same for all processes of the machine.
fn now() -> Duration {
    // SAFETY: clock_gettime fills the structure it is given, which may be all zeros before.
    let time = unsafe {
        let mut time = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time
    };
    let (seconds, nanoseconds) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
}

impl StepRun<'_> {
    /// A connection with the settings of the job and of the step.
    fn open(&self) -> Result<Db<'_>> {
        let db = self.place.open(self.library)?;
        connection::insist(&db, &connection::pragmas(&self.step.options))?;
        Ok(db)
    }

    /// Does the step, and looks at the database afterwards.
    pub fn sample(&self, workload: &dyn Workload, say: Say<'_>) -> Result<Sample> {
        let options = JobOptions::of(self.job, Some(self.step));
        let (threads, processes) = (
            options.number("threads", 1)?,
            options.number("processes", 1)?,
        );
        ensure!(
            (1..=MOST).contains(&threads),
            "threads={threads}: there may be 1 to {MOST}"
        );
        ensure!(
            (1..=MOST / threads).contains(&processes),
            "processes={processes}: there may be 1 to {} with threads={threads}",
            MOST / threads
        );
        let all = threads * processes;
        ensure!(
            processes == 1 || !self.step.cold,
            "processes={processes}: they look at the database before the clock starts, so cold \
             needs threads"
        );
        let mut work = workload.work(self.step)?;
        work.before(&self.open()?)?;
        if self.step.cold {
            self.place.cool()?;
        }
        let whole = Crew {
            all,
            first: 0,
            own: all,
        };
        let members = whole.divided(if processes > 1 { threads } else { 1 });
        let shared = self.shared(&*work, whole, members.len())?;
        let nothing: &dyn Fn() -> Result<()> = &|| Ok(());
        let cues = Cues {
            start: nothing,
            end: nothing,
        };
        let done = self.members(&shared, &members, processes > 1, &cues, say)?;
        let mut sample = self.looked_at(&shared, done)?;
        sample.step.clone_from(&self.step.name);
        sample.space = engine::space(&self.place.folder)?;
        Ok(sample)
    }

    /// The part of a step that is this process's, one of several.
    pub fn part(&self, workload: &dyn Workload, crew: Crew, cues: &Cues<'_>) -> Result<MemberDone> {
        let mut work = workload.work(self.step)?;
        work.before(&self.open()?)?;
        let members = crew.divided(1);
        let shared = self.shared(&*work, crew, members.len())?;
        self.members(&shared, &members, false, cues, &|_| Ok(()))
    }

    fn shared<'s>(
        &self,
        work: &'s dyn StepWork,
        crew: Crew,
        members: usize,
    ) -> Result<StepShared<'s>> {
        let options = JobOptions::of(self.job, Some(self.step));
        Ok(StepShared {
            work,
            operations: work.operations(),
            seconds: match options.number("seconds", 0)? {
                0 => None,
                n => Some(Duration::from_secs(n)),
            },
            crew,
            warm_up: options.number("warm_up", 0)?,
            salt: xxh3_64_with_seed(self.step.name.as_bytes(), self.job.seed),
            start: Barrier::new(members + 1),
            end: Barrier::new(members + 1),
            watch: Watch::default(),
            failed: AtomicUsize::new(0),
            children: Mutex::new(Vec::new()),
        })
    }

    /// Has the members do all operations; each is a thread, or a process with that many.
    fn members(
        &self,
        shared: &StepShared<'_>,
        members: &[Crew],
        processes: bool,
        cues: &Cues<'_>,
        say: Say<'_>,
    ) -> Result<MemberDone> {
        let (tell, told) = channel::<Told>();
        let (parts, mut all, cued) = std::thread::scope(|scope| {
            let threads: Vec<_> = members
                .iter()
                .map(|member| {
                    let tell = tell.clone();
                    scope.spawn(move || match processes {
                        false => self.thread(member.first, shared, &tell),
                        true => self.process(*member, shared, &tell),
                    })
                })
                .collect();
            let mut failed = false;
            for _ in members {
                failed |= told.recv().is_ok_and(|told| told.failed);
            }
            let again = BEGUN_AGAIN.load(Ordering::Relaxed);
            let before = Usage::begin(&[]);
            let mut cued = Ok(());
            if !failed {
                cued = (cues.start)();
            }
            if failed || cued.is_err() {
                shared.stop();
            }
            shared.start.wait();
            let began = Instant::now();
            timed::wait(&told, members.len(), |told| {
                failed |= match told {
                    Some(told) => told.failed,
                    // Nobody may be listening any more: then there is nothing to do either.
                    None => {
                        let share = shared.share(began.elapsed());
                        let stop = interrupt::raised() || say(Line::Progress(share)).is_err();
                        if stop {
                            shared.stop();
                        }
                        false
                    }
                };
                if failed {
                    shared.stop();
                }
            });
            let all = MemberDone {
                threads: Vec::new(),
                // A process that only waits for others has used nothing.
                usage: match processes {
                    true => Usage::default(),
                    false => Usage::now(&[]).since(&before),
                },
                retries: BEGUN_AGAIN.load(Ordering::Relaxed) - again,
            };
            if cued.is_ok() && !failed {
                cued = (cues.end)();
            }
            shared.end.wait();
            let panicked = |_| Err((usize::MAX, anyhow!("a thread panicked")));
            let parts: Vec<Result<MemberDone, MemberError>> = threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(panicked))
                .collect();
            (parts, all, cued)
        });
        interrupt::check()?;
        let mut first: Option<MemberError> = None;
        for part in parts {
            match part {
                Ok(part) => {
                    all.threads.extend(part.threads);
                    all.usage = all.usage.with(&part.usage);
                    all.retries += part.retries;
                }
                Err(e) if first.as_ref().is_none_or(|first| e.0 < first.0) => first = Some(e),
                Err(_) => {}
            }
        }
        if let Some((_, e)) = first {
            return Err(e);
        }
        cued?;
        ensure!(!shared.watch.is_stopped(), "stopped");
        Ok(all)
    }

    /// What all connections did, and what the database is now.
    fn looked_at(&self, shared: &StepShared<'_>, done: MemberDone) -> Result<Sample> {
        let mut all = ThreadDone {
            readonly: true,
            ..ThreadDone::default()
        };
        let mut least = u64::MAX;
        for part in done.threads {
            least = least.min(part.operations);
            all.operations += part.operations;
            all.times.extend(part.times);
            all.answer = all.answer.wrapping_add(part.answer);
            all.count += part.count;
            all.readonly &= part.readonly;
            all.span = timed::whole([all.span, part.span]);
        }
        let alone = shared.crew.all == 1;
        let mut answer = Vec::new();
        // Of a step that ends with the clock nobody knows how much it reads.
        if shared.seconds.is_none() && (alone || all.readonly) {
            answer.push(format!("{:016x}", all.answer));
        }
        if !all.readonly {
            let db = self.open()?;
            answer.push(shared.work.check(&db, all.count, alone)?);
        }
        answer.retain(|part| !part.is_empty());
        let mut percentiles = percentiles(&mut all.times);
        if shared.seconds.is_some() {
            let mean = all.operations as f64 / shared.crew.all as f64;
            let share = least as f64 / mean.max(1.0);
            percentiles.insert("least".to_owned(), format!("{share:.4}"));
        }
        Ok(Sample {
            seconds: all.span.map_or(0.0, |(from, to)| (to - from).as_secs_f64()),
            user: done.usage.user,
            system: done.usage.system,
            operations: all.operations,
            retries: done.retries,
            peak_memory: done.usage.peak,
            device_read: done.usage.device_read,
            device_written: done.usage.device_written,
            answer: answer.join(", "),
            percentiles,
            ..Sample::default()
        })
    }

    /// The part of thread `t`.
    fn thread(
        &self,
        t: u64,
        shared: &StepShared<'_>,
        tell: &Sender<Told>,
    ) -> Result<MemberDone, MemberError> {
        // Whatever happens, the others must not wait for it.
        let db = caught(|| self.open());
        let client = match &db {
            Ok(db) => caught(|| shared.work.client(db)),
            Err(e) => Err(anyhow!("{e:#}")),
        };
        let client = client.and_then(|mut client| {
            caught(|| {
                let mut nothing = OperationReading::default();
                for j in shared.operations..shared.operations + shared.warm_up {
                    client.operation(j, shared.random(j), &mut nothing)?;
                }
                client.finish()?;
                Ok(client)
            })
        });
        // It closes when all are done.
        let mut kept = None;
        let part = shared.member(tell, client, |client| {
            let client = kept.insert(client);
            caught(|| part(t, &mut **client, shared))
        });
        Ok(MemberDone {
            threads: vec![part?],
            ..MemberDone::default()
        })
    }

    /// The part of a process of its own.
    fn process(
        &self,
        crew: Crew,
        shared: &StepShared<'_>,
        tell: &Sender<Told>,
    ) -> Result<MemberDone, MemberError> {
        let part = PartJob {
            job: self.job.clone(),
            step: self.step.clone(),
            library: self.library.path().to_owned(),
            crew,
        };
        let process = caught(|| {
            let process = PartProcess::start(&part)?;
            shared.children().push(process.id());
            Ok(process)
        });
        let mut kept = None;
        let worked = shared.member(tell, process, |process| {
            let process = kept.insert(process);
            caught(|| process.work())
        });
        let Some(process) = &mut kept else {
            return worked.map(|()| MemberDone::default());
        };
        // Its number is another's as soon as its end has been waited for.
        shared.children().retain(|id| *id != process.id());
        worked?;
        process.end().map_err(|e| shared.error(e))
    }
}

/// What a thread does while the clock runs.
fn part(t: u64, client: &mut dyn Client, shared: &StepShared<'_>) -> Result<ThreadDone> {
    let mut part = ThreadDone {
        readonly: client.readonly(),
        ..ThreadDone::default()
    };
    let (from, start) = (now(), Instant::now());
    let mut turns = Laps::new(&shared.watch, shared.seconds.map(|time| start + time));
    let operations: Box<dyn Iterator<Item = u64>> = match shared.seconds {
        Some(_) => Box::new((t..).step_by(usize::try_from(shared.crew.all)?)),
        None => {
            let of = |t| shared.operations * t / shared.crew.all;
            turns.times.reserve(usize::try_from(of(t + 1) - of(t))?);
            Box::new(of(t)..of(t + 1))
        }
    };
    let mut read = OperationReading::default();
    turns.run(operations, |j| {
        client.operation(j, shared.random(j), &mut read)?;
        part.answer = part.answer.wrapping_add(read.end(j));
        Ok(1)
    })?;
    (part.operations, part.times) = (turns.done(), turns.times);
    client.finish()?;
    part.span = Some((from, now()));
    part.count = client.count();
    Ok(part)
}

impl StepShared<'_> {
    /// A member that was made ready, or not, waits for the others, does its part, and waits again.
    fn member<M, D>(
        &self,
        tell: &Sender<Told>,
        ready: Result<M>,
        work: impl FnOnce(M) -> Result<D>,
    ) -> Result<D, MemberError> {
        let ready = ready.map_err(|e| self.error(e));
        let failed = ready.is_err();
        let _ = tell.send(Told { failed });
        self.start.wait();
        let done = match ready {
            Ok(_) if self.watch.is_stopped() => Err(self.error(anyhow!("stopped"))),
            Ok(ready) => work(ready).map_err(|e| self.error(e)),
            Err(e) => Err(e),
        };
        let failed = done.is_err();
        let _ = tell.send(Told { failed });
        self.end.wait();
        done
    }

    /// The error of a member, which is in its place among those of the others.
    fn error(&self, error: anyhow::Error) -> MemberError {
        (self.failed.fetch_add(1, Ordering::Relaxed), error)
    }

    /// No member goes on.
    fn stop(&self) {
        self.watch.stop();
        for id in self.children().drain(..) {
            // SAFETY: a plain system call; the process is a child whose end nobody has waited for.
            unsafe { libc::kill(id.cast_signed(), libc::SIGKILL) };
        }
    }

    fn children(&self) -> MutexGuard<'_, Vec<u32>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much is done, of 1.
    fn share(&self, elapsed: Duration) -> f64 {
        match self.seconds {
            Some(time) => (elapsed.as_secs_f64() / time.as_secs_f64()).min(1.0),
            None => self.watch.share(self.operations),
        }
    }

    /// What is random in operation `j`.
    fn random(&self, j: u64) -> u64 {
        SplitMix64(self.salt ^ mix(j)).bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::model::Values;
    use crate::bench::report::tests::library;
    use crate::sys::SqlError;

    /// Panics while a client is made, or at an operation.
    struct Panics(Option<u64>);

    impl Workload for Panics {
        fn work(&self, _: &Step) -> Result<Box<dyn StepWork>> {
            Ok(Box::new(Panics(self.0)))
        }
    }

    impl StepWork for Panics {
        fn operations(&self) -> u64 {
            10
        }

        fn client<'d>(&'d self, _db: &'d Db<'d>) -> Result<Box<dyn Client + 'd>> {
            match self.0 {
                Some(at) => Ok(Box::new(PanicsAt(at))),
                None => panic!("as it is to be"),
            }
        }
    }

    struct PanicsAt(u64);

    impl Client for PanicsAt {
        fn operation(&mut self, j: u64, _: u64, _: &mut OperationReading) -> Result<(), SqlError> {
            assert_ne!(j, self.0);
            Ok(())
        }

        fn readonly(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_thread_that_panics_ends_the_job_with_an_error() {
        let library = library();
        let folder = tempfile::tempdir().unwrap();
        let step = Step {
            name: "s".to_owned(),
            options: Values::from([("threads".to_owned(), "3".to_owned())]),
            cold: false,
            unmeasured: false,
        };
        let mut job = Job {
            kind: crate::bench::model::JobKind::Transactions,
            engine: "stock".to_owned(),
            library: None,
            folder: folder.path().to_owned(),
            options: Values::new(),
            steps: Vec::new(),
            seed: 1,
        };
        // While connections are made, while they warm up (after the last operation), and then.
        for (at, warm_up) in [(None, 0), (Some(10), 1), (Some(5), 0)] {
            job.options
                .insert("warm_up".to_owned(), warm_up.to_string());
            let run = StepRun {
                job: &job,
                step: &step,
                place: &JobDatabase::new(&job).unwrap(),
                library: &library,
            };
            let e = run.sample(&Panics(at), &|_| Ok(()));
            assert_eq!(format!("{:#}", e.unwrap_err()), "a thread panicked");
        }
    }
}
