-- What DuckDB runs in place of the statement of the same title in h2o.sql.

-- q6: median(v3), stddev(v3) by id4, id5
SELECT id4, id5, median(v3) AS median_v3, stddev(v3) AS sd_v3 FROM x GROUP BY id4, id5;

-- q8: the two largest v3 by id6
SELECT id6, unnest(max(v3, 2)) AS largest2_v3 FROM x WHERE v3 IS NOT NULL GROUP BY id6;

-- q9: r2 of v1, v2 by id2, id4
SELECT id2, id4, pow(corr(v1, v2), 2) AS r2 FROM x GROUP BY id2, id4;
