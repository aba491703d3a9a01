//! What is shown of a file in figures: its numbers, and the advice that follows from them.

use serde::Serialize;

use super::advice::{self, Advice};
use super::device::Device;
use super::numbers::{self, Numbers, Whole};
use super::walk::Model;

/// All that is shown of a file in figures.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// By b-tree.
    pub trees: Vec<Numbers>,
    pub whole: Whole,
    pub advice: Vec<Advice>,
    pub device: Device,
}

impl Figures {
    /// The figures of a file that was scanned.
    pub fn of(model: &Model, device: Device) -> Figures {
        let (trees, whole) = numbers::of(model, device);
        Figures {
            advice: advice::of(model, &trees, &whole, device, model.schema()),
            trees,
            whole,
            device,
        }
    }
}
