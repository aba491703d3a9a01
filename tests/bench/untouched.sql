-- What runs in SQLite's own code, and must not be slower for it.

-- rows of a join
SELECT o_orderpriority, l_shipmode FROM orders JOIN lineitem ON l_orderkey=o_orderkey
 WHERE o_orderkey<400000 AND l_commitdate<l_receiptdate;

-- a row by its key
SELECT o_totalprice FROM orders WHERE o_orderkey=7;
