//! The eight tables of TPC-H, from the crate `tpchgen`: the same rows as dbgen makes.
//!
//! Columns are declared as the benchmark's own schema declares them, so SQLite's
//! ordinary affinities apply: a DECIMAL is NUMERIC, a DATE is ISO text.

use anyhow::{Result, bail};
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator,
    Supplier, SupplierGenerator,
};

use super::{Binder, DataRow, DataTarget, Written, generate};

/// To be raised with every change that makes other bytes.
pub const VERSION: u32 = 1;

/// Rows at scale factor 1, nation and region aside.
const ROWS_AT_SF1: f64 = 8_661_215.0;
/// With fewer than 240 suppliers, the benchmark's formula may give a part the same supplier twice,
/// so that partsupp has no key; of the usual smaller scale factors these do not.
const SMALL_SCALES: [f64; 2] = [0.01, 0.02];
/// Larger ones make files that nobody keeps in SQLite.
const SCALES: std::ops::RangeInclusive<f64> = 0.025..=100.0;

const REGION: &str = "CREATE TABLE region(
  r_regionkey INTEGER NOT NULL PRIMARY KEY,
  r_name CHAR(25) NOT NULL,
  r_comment VARCHAR(152)
)";
const NATION: &str = "CREATE TABLE nation(
  n_nationkey INTEGER NOT NULL PRIMARY KEY,
  n_name CHAR(25) NOT NULL,
  n_regionkey INTEGER NOT NULL,
  n_comment VARCHAR(152)
)";
const SUPPLIER: &str = "CREATE TABLE supplier(
  s_suppkey INTEGER NOT NULL PRIMARY KEY,
  s_name CHAR(25) NOT NULL,
  s_address VARCHAR(40) NOT NULL,
  s_nationkey INTEGER NOT NULL,
  s_phone CHAR(15) NOT NULL,
  s_acctbal DECIMAL(15,2) NOT NULL,
  s_comment VARCHAR(101) NOT NULL
)";
const CUSTOMER: &str = "CREATE TABLE customer(
  c_custkey INTEGER NOT NULL PRIMARY KEY,
  c_name VARCHAR(25) NOT NULL,
  c_address VARCHAR(40) NOT NULL,
  c_nationkey INTEGER NOT NULL,
  c_phone CHAR(15) NOT NULL,
  c_acctbal DECIMAL(15,2) NOT NULL,
  c_mktsegment CHAR(10) NOT NULL,
  c_comment VARCHAR(117) NOT NULL
)";
const PART: &str = "CREATE TABLE part(
  p_partkey INTEGER NOT NULL PRIMARY KEY,
  p_name VARCHAR(55) NOT NULL,
  p_mfgr CHAR(25) NOT NULL,
  p_brand CHAR(10) NOT NULL,
  p_type VARCHAR(25) NOT NULL,
  p_size INTEGER NOT NULL,
  p_container CHAR(10) NOT NULL,
  p_retailprice DECIMAL(15,2) NOT NULL,
  p_comment VARCHAR(23) NOT NULL
)";
const PARTSUPP: &str = "CREATE TABLE partsupp(
  ps_partkey INTEGER NOT NULL,
  ps_suppkey INTEGER NOT NULL,
  ps_availqty INTEGER NOT NULL,
  ps_supplycost DECIMAL(15,2) NOT NULL,
  ps_comment VARCHAR(199) NOT NULL,
  PRIMARY KEY(ps_partkey, ps_suppkey)
)";
const ORDERS: &str = "CREATE TABLE orders(
  o_orderkey INTEGER NOT NULL PRIMARY KEY,
  o_custkey INTEGER NOT NULL,
  o_orderstatus CHAR(1) NOT NULL,
  o_totalprice DECIMAL(15,2) NOT NULL,
  o_orderdate DATE NOT NULL,
  o_orderpriority CHAR(15) NOT NULL,
  o_clerk CHAR(15) NOT NULL,
  o_shippriority INTEGER NOT NULL,
  o_comment VARCHAR(79) NOT NULL
)";
const LINEITEM: &str = "CREATE TABLE lineitem(
  l_orderkey INTEGER NOT NULL,
  l_partkey INTEGER NOT NULL,
  l_suppkey INTEGER NOT NULL,
  l_linenumber INTEGER NOT NULL,
  l_quantity DECIMAL(15,2) NOT NULL,
  l_extendedprice DECIMAL(15,2) NOT NULL,
  l_discount DECIMAL(15,2) NOT NULL,
  l_tax DECIMAL(15,2) NOT NULL,
  l_returnflag CHAR(1) NOT NULL,
  l_linestatus CHAR(1) NOT NULL,
  l_shipdate DATE NOT NULL,
  l_commitdate DATE NOT NULL,
  l_receiptdate DATE NOT NULL,
  l_shipinstruct CHAR(25) NOT NULL,
  l_shipmode CHAR(10) NOT NULL,
  l_comment VARCHAR(44) NOT NULL,
  PRIMARY KEY(l_orderkey, l_linenumber)
)";

/// Writes the eight tables at scale factor `sf` (1 is 8.7 million rows, 1.2 GB).
pub fn write(sf: f64, target: &DataTarget<'_>) -> Result<Written> {
    if !SCALES.contains(&sf) && !SMALL_SCALES.contains(&sf) {
        bail!("the scale factor must be 0.01, 0.02, or from 0.025 to 100");
    }
    generate(target, (sf * ROWS_AT_SF1) as u64, |to| {
        to.table("region", REGION, RegionGenerator::new(sf, 1, 1).iter())?;
        to.table("nation", NATION, NationGenerator::new(sf, 1, 1).iter())?;
        to.table(
            "supplier",
            SUPPLIER,
            SupplierGenerator::new(sf, 1, 1).iter(),
        )?;
        to.table(
            "customer",
            CUSTOMER,
            CustomerGenerator::new(sf, 1, 1).iter(),
        )?;
        to.table("part", PART, PartGenerator::new(sf, 1, 1).iter())?;
        to.table(
            "partsupp",
            PARTSUPP,
            PartSuppGenerator::new(sf, 1, 1).iter(),
        )?;
        to.table("orders", ORDERS, OrderGenerator::new(sf, 1, 1).iter())?;
        to.table(
            "lineitem",
            LINEITEM,
            LineItemGenerator::new(sf, 1, 1).iter(),
        )
    })
}

/// Hundredths, correctly rounded: both numbers are exact, so the quotient is the nearest double.
fn decimal(v: TPCHDecimal) -> f64 {
    v.into_inner() as f64 / 100.0
}

impl DataRow for Region<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.r_regionkey);
        to.text(self.r_name);
        to.text(self.r_comment);
    }
}

impl DataRow for Nation<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.n_nationkey);
        to.text(self.n_name);
        to.int(self.n_regionkey);
        to.text(self.n_comment);
    }
}

impl DataRow for Supplier {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.s_suppkey);
        to.shown(&self.s_name);
        to.shown(&self.s_address);
        to.int(self.s_nationkey);
        to.shown(&self.s_phone);
        to.real(decimal(self.s_acctbal));
        to.text(&self.s_comment);
    }
}

impl DataRow for Customer<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.c_custkey);
        to.shown(&self.c_name);
        to.shown(&self.c_address);
        to.int(self.c_nationkey);
        to.shown(&self.c_phone);
        to.real(decimal(self.c_acctbal));
        to.text(self.c_mktsegment);
        to.text(self.c_comment);
    }
}

impl DataRow for Part<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.p_partkey);
        to.shown(&self.p_name);
        to.shown(&self.p_mfgr);
        to.shown(&self.p_brand);
        to.text(self.p_type);
        to.int(self.p_size);
        to.text(self.p_container);
        to.real(decimal(self.p_retailprice));
        to.text(self.p_comment);
    }
}

impl DataRow for PartSupp<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.ps_partkey);
        to.int(self.ps_suppkey);
        to.int(self.ps_availqty);
        to.real(decimal(self.ps_supplycost));
        to.text(self.ps_comment);
    }
}

impl DataRow for Order<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.o_orderkey);
        to.int(self.o_custkey);
        to.text(self.o_orderstatus.as_str());
        to.real(decimal(self.o_totalprice));
        to.shown(&self.o_orderdate);
        to.text(self.o_orderpriority);
        to.shown(&self.o_clerk);
        to.int(self.o_shippriority);
        to.text(self.o_comment);
    }
}

impl DataRow for LineItem<'_> {
    fn bind<'a>(&'a self, to: &mut Binder<'a, '_, '_>) {
        to.int(self.l_orderkey);
        to.int(self.l_partkey);
        to.int(self.l_suppkey);
        to.int(self.l_linenumber);
        to.int(self.l_quantity);
        to.real(decimal(self.l_extendedprice));
        to.real(decimal(self.l_discount));
        to.real(decimal(self.l_tax));
        to.text(self.l_returnflag);
        to.text(self.l_linestatus);
        to.shown(&self.l_shipdate);
        to.shown(&self.l_commitdate);
        to.shown(&self.l_receiptdate);
        to.text(self.l_shipinstruct);
        to.text(self.l_shipmode);
        to.text(self.l_comment);
    }
}
