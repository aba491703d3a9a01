-- What stages takes apart, beside Q1 and Q6 of cold.sql.

-- H2O q1
SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1;

-- H2O q3
SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM x GROUP BY id3;

-- LIMIT 5
SELECT * FROM T ORDER BY val_col LIMIT 5;
