-- ORDER BY … LIMIT 5
SELECT * FROM T ORDER BY val_col LIMIT 5;

-- avg() by 5 keys
SELECT key_col, avg(val_col) FROM T GROUP BY key_col;

-- count(*)
SELECT count(*) FROM T;
