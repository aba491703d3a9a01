-- TPC-H Q1: four groups, eight aggregates over nearly all rows
SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
       sum(l_extendedprice*(1-l_discount)),
       sum(l_extendedprice*(1-l_discount)*(1+l_tax)),
       avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
  FROM lineitem WHERE l_shipdate<='1998-09-02'
 GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus;

-- TPC-H Q6: a filter that keeps one row in fifty, one sum
SELECT sum(l_extendedprice*l_discount) FROM lineitem
 WHERE l_shipdate>='1994-01-01' AND l_shipdate<'1995-01-01'
   AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity<24;

-- No GROUP BY, no WHERE
SELECT count(*), sum(l_extendedprice) FROM lineitem;

-- Not taken over: a join, a sort, a search by key
SELECT o_orderpriority, count(*) FROM orders JOIN lineitem ON l_orderkey=o_orderkey
 WHERE o_orderkey<400000 AND l_commitdate<l_receiptdate GROUP BY o_orderpriority;
SELECT o_orderkey, o_totalprice FROM orders ORDER BY o_totalprice DESC LIMIT 10;
SELECT o_totalprice FROM orders WHERE o_orderkey=7;
