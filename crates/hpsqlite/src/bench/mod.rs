//! The benchmark lab: products of settings, measured in turn, each sample in a process of its own.
//!
//! ```text
//! suite file ── suite ──> points ── runner ──> jobs ── measure (a process each) ──> samples
//!                                      │                                               │
//!                                      └──────────────── store (results file) <────────┘
//!                                                             │
//!                                                          report ──> terminal, HTML, SVG, PNG, CSV, JSON, Markdown
//! ```
//!
//! [`model`] is what they say to each other. What a job does is its [`work`]; what it reads and keeps
//! from run to run is a [`dataset`].

pub mod answer;
pub mod command;
pub mod connection;
pub mod dataset;
pub mod engine;
mod machine;
pub mod measure;
pub mod meter;
pub mod model;
mod progress;
pub mod report;
pub mod runner;
pub mod store;
pub mod suite;
pub mod work;
