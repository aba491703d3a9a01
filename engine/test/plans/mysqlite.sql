-- The table of the MySQLite project, as crates/hpsqlite-compare/src/data/mysqlite.rs makes it, and
-- what ANALYZE says of it at 10,000,000 rows.  engine/test/suites.c puts some rows into it.
CREATE TABLE T(key_col INT, val_col INT);
-- statistics
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('T', NULL, '10000000');
