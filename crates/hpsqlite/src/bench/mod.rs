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
//! [`model`] is what they say to each other. A job is one of five kinds: statements ([`sql`], and
//! [`duckdb`] for the same there), keys and values ([`engine`]), [`blobs`], [`transactions`], benchmarks
//! written in Go ([`golang`]); what they read and keep from run to run is a [`dataset`].

pub mod answer;
pub mod blobs;
pub mod command;
pub mod connection;
pub mod dataset;
pub mod duckdb;
pub mod engine;
pub mod engines;
pub mod golang;
mod machine;
pub mod measure;
pub mod meter;
pub mod model;
mod options;
mod progress;
pub mod report;
pub mod runner;
pub mod sql;
pub mod store;
pub mod suite;
pub mod transactions;
