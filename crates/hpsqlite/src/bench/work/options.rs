//! Options of a job and of its steps, as their texts are understood.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::model::{Job, Step, Values};

/// Options of a step, or else of its job.
pub struct JobOptions<'j> {
    job: &'j Values,
    step: Option<&'j Values>,
}

impl<'j> JobOptions<'j> {
    pub fn of(job: &'j Job, step: Option<&'j Step>) -> JobOptions<'j> {
        JobOptions {
            job: &job.options,
            step: step.map(|s| &s.options),
        }
    }

    pub fn text(&self, name: &str) -> Option<&'j str> {
        let value = self.step.and_then(|s| s.get(name)).or(self.job.get(name));
        value.map(String::as_str)
    }

    /// A number of seconds above 0, if it is given.
    pub fn seconds(&self, name: &str) -> Result<Option<Duration>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let seconds = text.parse().ok().filter(|s: &f64| *s > 0.0);
        let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
        limit
            .with_context(|| format!("{name}={text}: it is a number of seconds above 0"))
            .map(Some)
    }

    /// Whether it is `on`; what is not given is off.
    pub fn on(&self, name: &str) -> Result<bool> {
        match self.text(name) {
            None | Some("off") => Ok(false),
            Some("on") => Ok(true),
            Some(other) => bail!("{name}={other}: it is on or off"),
        }
    }

    /// A whole number from 1 on, if it is given.
    pub fn counted(&self, name: &str) -> Result<Option<u64>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|n| *n > 0);
        number
            .map(Some)
            .with_context(|| format!("{name}={text}: it is a number from 1 on"))
    }

    pub fn number(&self, name: &str, default: u64) -> Result<u64> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .with_context(|| format!("{name}={text}: it is a whole number")),
        }
    }
}
