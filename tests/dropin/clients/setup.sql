-- The database every client makes for itself, one statement a line: types mixed
-- within a column, NULLs, whole numbers in a REAL column, an indexed column.
CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT, qty INTEGER, price REAL, note, code TEXT COLLATE NOCASE);
INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60000) SELECT i, 'kind' || (i*7%23), CASE WHEN i%11=0 THEN NULL ELSE i*37%1000-500 END, CASE WHEN i%5=0 THEN i%100 ELSE (i*31%9973)/7.0 END, CASE i%6 WHEN 0 THEN NULL WHEN 1 THEN i%9 WHEN 2 THEN (i%9)*1.0 WHEN 3 THEN 'n' || (i%4) WHEN 4 THEN CAST('b' || (i%3) AS BLOB) ELSE i%4 || '.5' END, CASE i%3 WHEN 0 THEN 'Abc' WHEN 1 THEN 'aBC' ELSE 'xyz' || (i%2) END FROM n;
CREATE INDEX item_qty ON item(qty);
