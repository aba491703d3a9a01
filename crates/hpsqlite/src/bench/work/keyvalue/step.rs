//! The steps that there are for keys and values.

use anyhow::{Result, bail};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    Sequential,
    Random,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PairStep {
    Fill(KeyOrder),
    Overwrite,
    Batch,
    Read(KeyOrder),
    ReadWhileWriting,
}

impl PairStep {
    pub fn named(name: &str) -> Result<PairStep> {
        Ok(match name {
            "fill-sequential" => PairStep::Fill(KeyOrder::Sequential),
            "fill-random" => PairStep::Fill(KeyOrder::Random),
            "overwrite" => PairStep::Overwrite,
            "batch" => PairStep::Batch,
            "read-sequential" => PairStep::Read(KeyOrder::Sequential),
            "read-random" => PairStep::Read(KeyOrder::Random),
            "read-while-writing" => PairStep::ReadWhileWriting,
            _ => bail!("no such step for keys and values"),
        })
    }
}
