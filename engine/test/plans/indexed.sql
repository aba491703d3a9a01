-- The indexes of crates/hpsqlite/src/bench/suites/indexed.toml on the tables of tpch.sql, and what
-- ANALYZE says of them at scale factor 1.
CREATE INDEX lineitem_shipdate ON lineitem(l_shipdate);
CREATE INDEX lineitem_receiptdate ON lineitem(l_receiptdate);
CREATE INDEX lineitem_part ON lineitem(l_partkey);
CREATE INDEX lineitem_supplier ON lineitem(l_suppkey);
CREATE INDEX orders_orderdate ON orders(o_orderdate);
CREATE INDEX orders_customer ON orders(o_custkey);
CREATE INDEX customer_nation ON customer(c_nationkey);
CREATE INDEX customer_segment ON customer(c_mktsegment);
CREATE INDEX supplier_nation ON supplier(s_nationkey);
CREATE INDEX partsupp_supplier ON partsupp(ps_suppkey);
-- statistics
INSERT INTO sqlite_stat1 VALUES
  ('lineitem', 'lineitem_shipdate', '6001215 2376'),
  ('lineitem', 'lineitem_receiptdate', '6001215 2350'),
  ('lineitem', 'lineitem_part', '6001215 31'),
  ('lineitem', 'lineitem_supplier', '6001215 601'),
  ('orders', 'orders_orderdate', '1500000 624'),
  ('orders', 'orders_customer', '1500000 16'),
  ('customer', 'customer_nation', '150000 6000'),
  ('customer', 'customer_segment', '150000 30000'),
  ('supplier', 'supplier_nation', '10000 400'),
  ('partsupp', 'partsupp_supplier', '800000 80');
