//! Reading a results file back.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::results::{
    ProblemKind, Recorded, Results, RunSession, StoredPoint, StoredProblem, StoredSuite,
};
use super::schema::{check, open};
use super::sql::{integer, json, number, real, rows};
use crate::bench::model::{Effective, Sample};
use crate::sys::{Db, Library, OPEN_READONLY, OPEN_READWRITE};

impl Results {
    /// Reads a results file, which a run may be writing.
    pub fn read(library: &Library, path: &Path) -> Result<Results> {
        let context = || path.display().to_string();
        std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        // The log of a run that was killed is put in order by whoever opens the file next, if it may.
        let db = open(library, path, OPEN_READWRITE)
            .and_then(|db| check(&db).map(|()| db))
            .or_else(|_| open(library, path, OPEN_READONLY))?;
        check(&db).with_context(context)?;
        read(&db).with_context(context)
    }
}

pub fn suite_of(db: &Db<'_>) -> Result<(StoredSuite, String)> {
    let mut found = None;
    rows(db, "SELECT name, text, hash FROM suite", |row| {
        let suite = StoredSuite {
            name: row.text(0),
            text: row.text(1),
        };
        found = Some((suite, row.text(2)));
        Ok(())
    })?;
    found.ok_or_else(|| anyhow!("the results file names no suite"))
}

pub fn read(db: &Db<'_>) -> Result<Results> {
    // One state of the file, whatever a run adds meanwhile.
    db.exec("BEGIN")?;
    let results = read_all(db);
    db.exec("COMMIT")?;
    results
}

fn read_all(db: &Db<'_>) -> Result<Results> {
    let (suite, suite_hash) = suite_of(db)?;
    let mut sessions = Vec::new();
    rows(
        db,
        "SELECT id, began, tool, environment FROM session ORDER BY id",
        |row| {
            sessions.push(RunSession {
                id: integer(row, 0),
                began: row.text(1),
                tool: row.text(2),
                environment: json(&row.text(3))?,
            });
            Ok(())
        },
    )?;
    let mut points = BTreeMap::new();
    rows(db, "SELECT id, axes, asked FROM point", |row| {
        let id = integer(row, 0);
        let point = StoredPoint {
            id,
            axes: json(&row.text(1))?,
            asked: json(&row.text(2))?,
            effective: None,
            samples: Vec::new(),
            problems: Vec::new(),
        };
        points.insert(id, point);
        Ok(())
    })?;
    rows(
        db,
        "SELECT point, version, settings, durability FROM effective",
        |row| {
            let effective = Effective {
                version: row.text(1),
                settings: json(&row.text(2))?,
                durability: row.text(3),
            };
            if let Some(point) = points.get_mut(&integer(row, 0)) {
                point.effective = Some(effective);
            }
            Ok(())
        },
    )?;
    let counted = "SELECT count(*) FROM sqlite_schema WHERE name='allocation'";
    let (counted, from) = match number(db, counted)? {
        0 => ("0, 0", ""),
        _ => (
            "allocations, allocated",
            "LEFT JOIN allocation USING(point, trial, step)",
        ),
    };
    let samples = format!(
        "SELECT point, trial, step, seconds, user, system, operations, asked, beside, retries, bytes, peak_memory, device_read, \
         device_written, space, answer, percentiles, session, at, load, {counted} FROM sample {from} \
         ORDER BY trial, sample.rowid"
    );
    rows(db, &samples, |row| {
        let count = |i| integer(row, i).max(0) as u64;
        let sample = Sample {
            step: row.text(2),
            seconds: real(row, 3),
            user: real(row, 4),
            system: real(row, 5),
            operations: count(6),
            asked: count(7),
            beside: count(8),
            retries: count(9),
            allocations: count(20),
            allocated: count(21),
            bytes: count(10),
            peak_memory: count(11),
            device_read: count(12),
            device_written: count(13),
            space: count(14),
            answer: row.text(15),
            percentiles: json(&row.text(16))?,
        };
        if let Some(point) = points.get_mut(&integer(row, 0)) {
            point.samples.push(Recorded {
                trial: integer(row, 1) as u32,
                sample,
                session: integer(row, 17),
                at: row.text(18),
                load: real(row, 19),
            });
        }
        Ok(())
    })?;
    rows(
        db,
        "SELECT point, trial, kind, reason FROM problem ORDER BY point, trial",
        |row| {
            let problem = StoredProblem {
                trial: integer(row, 1) as u32,
                kind: match row.text(2).as_str() {
                    "unavailable" => ProblemKind::Unavailable,
                    _ => ProblemKind::Failed,
                },
                reason: row.text(3),
            };
            if let Some(point) = points.get_mut(&integer(row, 0)) {
                point.problems.push(problem);
            }
            Ok(())
        },
    )?;
    let mut warnings = Vec::new();
    rows(db, "SELECT text FROM warning ORDER BY rowid", |row| {
        warnings.push(row.text(0));
        Ok(())
    })?;
    Ok(Results {
        suite,
        suite_hash,
        sessions,
        points: points.into_values().collect(),
        warnings,
    })
}
