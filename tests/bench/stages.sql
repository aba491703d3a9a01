-- What stages takes apart.

-- TPC-H Q1
SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
       sum(l_extendedprice*(1-l_discount)),
       sum(l_extendedprice*(1-l_discount)*(1+l_tax)),
       avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
  FROM lineitem WHERE l_shipdate<='1998-09-02'
 GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus;

-- TPC-H Q6
SELECT sum(l_extendedprice*l_discount) FROM lineitem
 WHERE l_shipdate>='1994-01-01' AND l_shipdate<'1995-01-01'
   AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity<24;

-- H2O q1
SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1;

-- H2O q3
SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM x GROUP BY id3;

-- LIMIT 5
SELECT * FROM T ORDER BY val_col LIMIT 5;
