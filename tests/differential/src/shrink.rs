//! Makes a failing case small: statements, rows, columns, expressions and
//! values go as long as the same kind of difference stays.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::case::{Case, Statement};
use crate::execute::{Difference, Kind};
use crate::sql::{Sql, without_chunks};
use crate::worker::Worker;

/// A small case that fails like `case` did, and how it fails.
pub fn shrink(
    case: Case,
    difference: Difference,
    worker: &mut Worker,
    patience: Duration,
) -> Result<(Case, Difference)> {
    let mut shrinker = Shrinker {
        kind: difference.kind,
        case,
        difference,
        worker,
        end: Instant::now() + patience,
    };
    shrinker.run()?;
    Ok((shrinker.case, shrinker.difference))
}

struct Shrinker<'a> {
    kind: Kind,
    case: Case,
    difference: Difference,
    worker: &'a mut Worker,
    end: Instant,
}

impl Shrinker<'_> {
    fn run(&mut self) -> Result<()> {
        // What comes after the difference cannot matter (a crash does not say where it was).
        if !matches!(self.kind, Kind::Crash | Kind::Hang) {
            let last = self.difference.step + 1;
            self.attempt(|case| case.session.truncate(last))?;
        }
        let mut before = usize::MAX;
        while self.size() < before && Instant::now() < self.end {
            before = self.size();
            self.steps()?;
            self.schema()?;
            self.queries()?;
            self.columns()?;
            self.values()?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        serde_json::to_string(&self.case).map_or(0, |json| json.len())
    }

    /// Takes the change if the difference stays.
    fn attempt(&mut self, change: impl FnOnce(&mut Case)) -> Result<bool> {
        if Instant::now() > self.end {
            return Ok(false);
        }
        let mut smaller = self.case.clone();
        change(&mut smaller);
        match self.worker.case(&smaller)?.difference {
            Some(difference) if difference.kind == self.kind => {
                self.case = smaller;
                self.difference = difference;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Drops ever smaller parts of a list until none can go.
    fn list<T: Clone>(&mut self, get: impl Fn(&mut Case) -> Option<&mut Vec<T>>) -> Result<()> {
        loop {
            let Some(items) = get(&mut self.case).cloned() else {
                return Ok(());
            };
            let mut cut = false;
            for fewer in without_chunks(&items, 0) {
                cut = self.attempt(|case| {
                    if let Some(list) = get(case) {
                        *list = fewer;
                    }
                })?;
                if cut {
                    break;
                }
            }
            if !cut {
                return Ok(());
            }
        }
    }

    fn steps(&mut self) -> Result<()> {
        self.list(|case| Some(&mut case.session))?;
        for i in 0..self.case.session.len() {
            if self.case.session[i].again.is_some()
                && !self.attempt(|case| case.session[i].again = None)?
            {
                self.list(|case| {
                    case.session[i]
                        .again
                        .as_mut()
                        .map(|again| &mut again.between)
                })?;
            }
            if self.case.session[i].pause.is_some()
                && !self.attempt(|case| case.session[i].pause = None)?
            {
                self.list(|case| case.session[i].pause.as_mut().map(|(_, inner)| inner))?;
            }
            if self.case.session[i].stop.is_some() {
                self.attempt(|case| case.session[i].stop = None)?;
            }
            if self.case.session[i].connection != 0 {
                self.attempt(|case| case.session[i].connection = 0)?;
            }
        }
        self.attempt(|case| case.setup = Default::default())?;
        self.attempt(|case| case.wide = false)?;
        Ok(())
    }

    fn schema(&mut self) -> Result<()> {
        self.list(|case| Some(&mut case.schema))?;
        for i in 0..self.case.schema.len() {
            self.list(|case| match &mut case.schema[i] {
                Statement::Insert { rows, .. } => Some(rows),
                _ => None,
            })?;
        }
        if self.case.file {
            self.attempt(|case| case.file = false)?;
        }
        Ok(())
    }

    fn queries(&mut self) -> Result<()> {
        for i in 0..self.case.session.len() {
            self.tree(|case| Some(&mut case.session[i].sql))?;
            for k in 0..self.case.session[i].binds.len() {
                let literal = Sql::from(self.case.session[i].binds[k].literal());
                let place = format!("?{}", k + 1);
                self.attempt(|case| {
                    let sql = case.session[i].sql.render();
                    case.session[i].sql = replaced(&sql, &place, &literal.render()).into();
                })?;
            }
            let sql = self.case.session[i].sql.render();
            while let Some(binds) = Some(&self.case.session[i].binds).filter(|b| !b.is_empty())
                && !sql.contains(&format!("?{}", binds.len()))
            {
                self.case.session[i].binds.pop();
            }
        }
        for i in 0..self.case.schema.len() {
            self.tree(|case| match &mut case.schema[i] {
                Statement::Sql(sql) => Some(sql),
                _ => None,
            })?;
        }
        Ok(())
    }

    /// Cuts one tree until no cut keeps the difference.
    fn tree(&mut self, get: impl Fn(&mut Case) -> Option<&mut Sql>) -> Result<()> {
        loop {
            let Some(sql) = get(&mut self.case).cloned() else {
                return Ok(());
            };
            let mut cut = false;
            for smaller in sql.smaller() {
                cut = self.attempt(|case| {
                    if let Some(sql) = get(case) {
                        *sql = smaller;
                    }
                })?;
                if cut {
                    break;
                }
            }
            if !cut {
                return Ok(());
            }
        }
    }

    /// Columns go from their table and from its rows together.
    fn columns(&mut self) -> Result<()> {
        for i in 0..self.case.schema.len() {
            let Statement::Create { head, columns, .. } = &self.case.schema[i] else {
                continue;
            };
            let table = head.rsplit(' ').next().unwrap_or_default().to_string();
            for name in columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>() {
                self.attempt(|case| drop_column(case, &table, &name))?;
            }
            let count = match &self.case.schema[i] {
                Statement::Create { columns, .. } => columns.len(),
                _ => 0,
            };
            for k in 0..count {
                self.tree(|case| match &mut case.schema[i] {
                    Statement::Create { columns, .. } => Some(&mut columns[k].definition),
                    _ => None,
                })?;
            }
            self.attempt(|case| {
                if let Statement::Create { tail, .. } = &mut case.schema[i] {
                    tail.clear();
                }
            })?;
        }
        Ok(())
    }

    fn values(&mut self) -> Result<()> {
        for i in 0..self.case.schema.len() {
            let Statement::Insert { rows, .. } = &self.case.schema[i] else {
                continue;
            };
            let places: Vec<(usize, usize)> = rows
                .iter()
                .enumerate()
                .flat_map(|(r, row)| (0..row.len()).map(move |c| (r, c)))
                .collect();
            // Large tables are not made more readable by simple values.
            for (r, c) in places.into_iter().take(400) {
                let Statement::Insert { rows, .. } = &self.case.schema[i] else {
                    continue;
                };
                for simpler in rows[r][c].simpler() {
                    let taken = self.attempt(|case| {
                        if let Statement::Insert { rows, .. } = &mut case.schema[i] {
                            rows[r][c] = simpler;
                        }
                    })?;
                    if taken {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

fn drop_column(case: &mut Case, table: &str, name: &str) {
    for statement in &mut case.schema {
        match statement {
            Statement::Create { head, columns, .. } if head.ends_with(table) => {
                columns.retain(|c| c.name != name)
            }
            Statement::Insert {
                table: into,
                columns,
                rows,
            } if into == table => {
                if let Some(at) = columns.iter().position(|c| c == name) {
                    columns.remove(at);
                    for row in rows {
                        row.remove(at);
                    }
                }
            }
            _ => {}
        }
    }
}

/// `sql` with the parameter `place` (?1, not ?10) replaced.
fn replaced(sql: &str, place: &str, with: &str) -> String {
    let mut out = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find(place) {
        let end = at + place.len();
        let longer = rest[end..].starts_with(|c: char| c.is_ascii_digit());
        out.push_str(&rest[..at]);
        out.push_str(if longer { place } else { with });
        rest = &rest[end..];
    }
    out + rest
}
