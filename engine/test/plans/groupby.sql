-- The tables of the H2O.ai group-by benchmark, as crates/hpsqlite-compare/src/data/h2o.rs makes them, and what
-- ANALYZE says of them at 2,000,000 rows.  engine/test/suites.c puts some rows into each.
CREATE TABLE x(
  id1 TEXT, id2 TEXT, id3 TEXT,
  id4 INTEGER, id5 INTEGER, id6 INTEGER,
  v1 INTEGER, v2 INTEGER, v3 REAL
);
-- statistics
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES
  ('x', NULL, '2000000');
