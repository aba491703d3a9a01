//! Kinds of jobs, a file each.

pub mod blobs;
pub mod duckdb;
pub mod go;
pub mod sql;
pub mod transactions;
