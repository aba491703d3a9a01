-- Q1
SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
       sum(l_extendedprice*(1-l_discount)),
       sum(l_extendedprice*(1-l_discount)*(1+l_tax)),
       avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
  FROM lineitem WHERE l_shipdate<='1998-09-02'
 GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus;

-- Q6
SELECT sum(l_extendedprice*l_discount) FROM lineitem
 WHERE l_shipdate>='1994-01-01' AND l_shipdate<'1995-01-01'
   AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity<24;

-- a plain sum
SELECT count(*), sum(l_extendedprice) FROM lineitem;
