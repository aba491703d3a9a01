-- The first five questions of the H2O.ai group-by benchmark
SELECT id1, sum(v1) FROM x GROUP BY id1;
SELECT id1, id2, sum(v1) FROM x GROUP BY id1, id2;
SELECT id3, sum(v1), avg(v3) FROM x GROUP BY id3;
SELECT id4, avg(v1), avg(v2), avg(v3) FROM x GROUP BY id4;
SELECT id6, sum(v1), sum(v2), sum(v3) FROM x GROUP BY id6;
