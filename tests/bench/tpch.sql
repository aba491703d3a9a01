-- Q1: four groups, eight aggregates over nearly all rows
SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
       sum(l_extendedprice*(1-l_discount)),
       sum(l_extendedprice*(1-l_discount)*(1+l_tax)),
       avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
  FROM lineitem WHERE l_shipdate<='1998-09-02'
 GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus;

-- Q6: a filter that keeps one row in fifty, one sum
SELECT sum(l_extendedprice*l_discount) FROM lineitem
 WHERE l_shipdate>='1994-01-01' AND l_shipdate<'1995-01-01'
   AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity<24;

-- a plain sum
SELECT count(*), sum(l_extendedprice) FROM lineitem;

-- GROUP BY l_orderkey with HAVING
SELECT l_orderkey, sum(l_quantity) FROM lineitem
 GROUP BY l_orderkey HAVING sum(l_quantity)>300;

-- count(*)
SELECT count(*) FROM lineitem;

-- ORDER BY … LIMIT over 1.5 million rows
SELECT o_orderkey, o_totalprice FROM orders ORDER BY o_totalprice DESC LIMIT 10;
