//! Whether engines gave the same answers.

use std::collections::{BTreeMap, BTreeSet};

use super::advice::shortened;
use crate::bench::answer::{Agreement, Answer, AnswerWay};
use crate::bench::model::ENGINE;
use crate::bench::store::Results;

/// What a step of an engine gave.
struct Given<'r> {
    engine: &'r str,
    text: &'r str,
    answer: Option<Answer>,
}

impl<'r> Given<'r> {
    pub fn of(engine: &'r str, text: &'r str) -> Given<'r> {
        Given {
            engine,
            text,
            answer: Answer::parse(text),
        }
    }

    fn agrees(&self, other: &Given<'_>) -> Agreement {
        match (&self.answer, &other.answer) {
            _ if self.text == other.text => Agreement::Exact,
            (Some(a), Some(b)) => a.agrees(b),
            _ => Agreement::Different,
        }
    }

    pub fn words(&self) -> String {
        match &self.answer {
            Some(answer) => answer.words(),
            None => self.text.to_owned(),
        }
    }
}

/// What comparing the answers came to.
#[derive(Default)]
pub struct Answers {
    /// Steps of which not all samples have the same answer, though only the engine differs.
    pub differing: Vec<String>,
    /// How answers were compared that are not the same to the byte.
    pub loosely: Vec<String>,
}

impl Answers {
    /// Compares all answers; `name` says how an engine is called.
    pub fn compare(results: &Results, name: &dyn Fn(&str) -> String) -> Answers {
        let mut known: BTreeMap<(String, &str), Vec<Given<'_>>> = BTreeMap::new();
        let mut out = Answers::default();
        let (mut turned, mut rounded, mut foreign) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for point in &results.points {
            let engine = point.axes.get(ENGINE).map_or("", String::as_str);
            let others: Vec<String> = point
                .axes
                .iter()
                .filter(|(axis, _)| *axis != ENGINE)
                .map(|(axis, value)| format!("{axis} {value}"))
                .collect();
            let others = others.join(", ");
            for recorded in &point.samples {
                let sample = &recorded.sample;
                if sample.answer.is_empty() {
                    continue;
                }
                let given = Given::of(engine, &sample.answer);
                let way = |g: &Given<'_>| g.answer.as_ref().map(|a| a.way);
                let known = known.entry((others.clone(), &sample.step)).or_default();
                // Those that must be equal to the byte, if there are such.
                let alike = known.iter().find(|k| way(k) == way(&given));
                let is_new = alike.is_none();
                let Some(with) = alike.or(known.first()) else {
                    known.push(given);
                    continue;
                };
                match given.agrees(with) {
                    Agreement::Different => {
                        let place = match others.is_empty() {
                            true => sample.step.clone(),
                            false => format!("{}, {others}", sample.step),
                        };
                        out.differing.push(format!(
                            "Different answers: {place}: {engine} gives {}, {} gave {}.",
                            given.words(),
                            with.engine,
                            with.words()
                        ));
                        break;
                    }
                    Agreement::Exact => {}
                    _ if way(&given) == Some(AnswerWay::Duckdb) => {
                        foreign.insert(name(engine));
                    }
                    Agreement::OtherOrder => {
                        turned.insert(sample.step.clone());
                    }
                    Agreement::Rounded => {
                        rounded.insert(sample.step.clone());
                    }
                }
                if is_new {
                    known.push(given);
                }
            }
        }
        let list = |names: &BTreeSet<String>| shortened(&names.iter().cloned().collect::<Vec<_>>());
        if !foreign.is_empty() {
            out.loosely.push(format!(
                "The answers of {} are compared by the number of rows and, for each column, the number of NULLs, \
                 the sum of the numbers (to one part in ten million) and a hash of the texts in any order; those of \
                 SQLite libraries to the byte.",
                list(&foreign)
            ));
        }
        if !turned.is_empty() {
            out.loosely.push(format!(
                "With ANALYZE the rows are the same to the byte but come in another order: {}.",
                list(&turned)
            ));
        }
        if !rounded.is_empty() {
            out.loosely.push(format!(
                "With ANALYZE numbers are added up in another order, so they differ in their last digits: {}.",
                list(&rounded)
            ));
        }
        out
    }
}
