//! The server, asked by raw bytes as no browser would.
