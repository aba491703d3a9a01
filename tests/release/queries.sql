-- What the shell of each archive must answer as this machine's does, on the fast path.
PRAGMA hp_offload=force;
CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE t(a INTEGER, b REAL, c TEXT, d INTEGER);
WITH n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<7)
  INSERT INTO kind SELECT i, 'kind ' || i FROM n;
WITH n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<20000)
  INSERT INTO t SELECT i%7, i/3.0, 'text ' || (i%11), i*922337203685477 FROM n;
SELECT a, c, count(*), sum(b), avg(b), total(b), max(a+b) FROM t WHERE b>20 GROUP BY a, c;
SELECT a, sum(d%1000003), avg(d), min(d), max(c) FROM t GROUP BY a;
SELECT name, count(*), sum(b) FROM t JOIN kind ON kind.id=t.a GROUP BY name;
SELECT a, b, c FROM t ORDER BY b DESC, c LIMIT 5;
SELECT DISTINCT a, c FROM t WHERE c LIKE '%1%' ORDER BY a, c;
SELECT round(sin(b), 12), round(sqrt(b), 12), printf('%.17g', b) FROM t WHERE rowid IN (7, 77, 777);
EXPLAIN QUERY PLAN SELECT a, sum(b) FROM t GROUP BY a;
EXPLAIN QUERY PLAN SELECT name, count(*) FROM t JOIN kind ON kind.id=t.a GROUP BY name;
SELECT hp_version(), sqlite_version();
