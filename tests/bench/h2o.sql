-- The ten questions of the H2O.ai group-by benchmark. SQLite as Debian compiles
-- it has no median(), standard deviation or correlation: q6 and q9 compute them
-- from sums, and where the order of values matters (q6, q8) the values of a
-- group are put into a JSON array in order. On stock SQLite that is quicker than
-- window functions: q6 4.5 s instead of 9.8 s, q8 3.4 s instead of 5.0 s.

-- q1: sum(v1) by id1
SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1;

-- q2: sum(v1) by id1, id2
SELECT id1, id2, sum(v1) AS v1 FROM x GROUP BY id1, id2;

-- q3: sum(v1), avg(v3) by id3
SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM x GROUP BY id3;

-- q4: avg(v1), avg(v2), avg(v3) by id4
SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM x GROUP BY id4;

-- q5: sum(v1), sum(v2), sum(v3) by id6
SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM x GROUP BY id6;

-- q6: median(v3), stddev(v3) by id4, id5
SELECT id4, id5,
       (json_extract(vs, '$[' || ((n-1)/2) || ']')
        + json_extract(vs, '$[' || (n/2) || ']')) / 2.0 AS median_v3,
       sqrt((vv - v*v/n) / (n-1)) AS sd_v3
  FROM (SELECT id4, id5, count(v3) AS n, sum(v3) AS v, sum(v3*v3) AS vv,
               json_group_array(v3 ORDER BY v3) FILTER (WHERE v3 IS NOT NULL) AS vs
          FROM x GROUP BY id4, id5);

-- q7: max(v1)-min(v2) by id3
SELECT id3, max(v1)-min(v2) AS range_v1_v2 FROM x GROUP BY id3;

-- q8: the two largest v3 by id6
SELECT id6, json_extract(vs, '$[' || column1 || ']') AS largest2_v3
  FROM (SELECT id6, count(v3) AS n,
               json_group_array(v3 ORDER BY v3 DESC) FILTER (WHERE v3 IS NOT NULL) AS vs
          FROM x GROUP BY id6)
  JOIN (VALUES(0), (1)) ON column1<n;

-- q9: r2 of v1, v2 by id2, id4
SELECT id2, id4, pow(n*xy - x*y, 2) / ((n*xx - x*x) * (n*yy - y*y)) AS r2
  FROM (SELECT id2, id4, 1.0*count(*) AS n, sum(v1) AS x, sum(v2) AS y,
               sum(v1*v1) AS xx, sum(v2*v2) AS yy, sum(v1*v2) AS xy
          FROM x WHERE v1 IS NOT NULL AND v2 IS NOT NULL
         GROUP BY id2, id4);

-- q10: sum(v3), count(*) by id1 to id6
SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS n
  FROM x GROUP BY id1, id2, id3, id4, id5, id6;
