//! `hpsqlite demo`: what the library is for, shown on real input in a few minutes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::compare::report::{CompareReport, html, terminal};
use crate::compare::script::Script;
use crate::compare::{self, CompareOptions, MIN_RUNS, SideOptions};
use crate::data::{self, DataTarget};
use crate::libs;
use crate::output::OutputFile;

/// What stands below the help.
pub const HELP: &str = "\
Generates TPC-H data into an ordinary SQLite file, unless it is there from the last time, runs \
the same queries on stock SQLite and High Performance SQLite in turn, checks that the answers \
are the same, prints times and speed-ups and writes a page with charts. Exit status as for \
`hpsqlite compare`.";

/// A quarter of scale factor 1: generating and comparing takes less than a minute on two cores.
const SCALE: f64 = 0.25;

#[derive(Args)]
pub struct DemoArgs {
    /// Folder for the data and the page [default: hpsqlite in the user's cache folder]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Scale factor: 1 is 8.7 million rows in 1.3 GB; 0.01, 0.02, or from 0.025 to 100
    #[arg(long, default_value_t = SCALE, value_name = "N")]
    sf: f64,
    /// Rounds to measure, at least 5 [default: 5 to 25, as many as fit into 3 seconds a query]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(i64::from(MIN_RUNS)..))]
    runs: Option<u32>,
    /// Show the plans of both libraries, too
    #[arg(long)]
    plans: bool,
}

/// Questions to TPC-H data: one table, joins, and a look-up, which is SQLite's own.
const QUERIES: &[(&str, &str)] = &[
    (
        "Pricing summary (TPC-H Q1)",
        "SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty,
       sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
       avg(l_quantity) AS avg_qty, avg(l_extendedprice) AS avg_price,
       avg(l_discount) AS avg_disc, count(*) AS count_order
FROM lineitem
WHERE l_shipdate <= '1998-09-02'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus",
    ),
    (
        "Discounts foregone (TPC-H Q6)",
        "SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    ),
    (
        "Totals of the table",
        "SELECT count(*), sum(l_quantity), avg(l_extendedprice), min(l_shipdate), max(l_shipdate)
FROM lineitem",
    ),
    (
        "Late deliveries by ship mode",
        "SELECT l_shipmode, count(*) AS late, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem
WHERE l_receiptdate > l_commitdate AND l_shipdate >= '1996-01-01'
GROUP BY l_shipmode
ORDER BY late DESC",
    ),
    (
        "Ten best suppliers",
        "SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, count(*)
FROM lineitem
GROUP BY l_suppkey
ORDER BY revenue DESC
LIMIT 10",
    ),
    (
        "Sales by day of shipping",
        "SELECT l_shipdate, count(*), sum(l_quantity)
FROM lineitem
GROUP BY l_shipdate
HAVING count(*) > 1",
    ),
    (
        "Orders by status and priority",
        "SELECT o_orderstatus, o_orderpriority, count(*), avg(o_totalprice)
FROM orders
GROUP BY o_orderstatus, o_orderpriority",
    ),
    (
        "Orders with a certain remark",
        "SELECT count(*), sum(o_totalprice)
FROM orders
WHERE o_comment LIKE '%special%requests%'",
    ),
    (
        "Different parts by ship mode",
        "SELECT l_shipmode, count(DISTINCT l_partkey)
FROM lineitem
WHERE l_shipdate >= '1998-06-01'
GROUP BY l_shipmode",
    ),
    (
        "Unshipped orders (TPC-H Q3)",
        "SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < '1995-03-15' AND l_shipdate > '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 10",
    ),
    (
        "Sales within Asia by nation (TPC-H Q5)",
        "SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'ASIA' AND o_orderdate >= '1994-01-01' AND o_orderdate < '1995-01-01'
GROUP BY n_name
ORDER BY revenue DESC",
    ),
    (
        "Share of promoted parts by year",
        "SELECT substr(l_shipdate, 1, 4) AS year,
       100.0 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) END)
             / sum(l_extendedprice * (1 - l_discount)) AS promoted
FROM lineitem JOIN part ON p_partkey = l_partkey
WHERE l_shipdate >= '1996-01-01'
GROUP BY year",
    ),
    (
        "Customers without orders, by country",
        "SELECT substr(c_phone, 1, 2) AS country, count(*), sum(c_acctbal)
FROM customer
WHERE c_mktsegment = 'BUILDING' AND c_acctbal > 9900
  AND NOT EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey)
GROUP BY country",
    ),
    (
        "One order by its key",
        "SELECT * FROM lineitem WHERE l_orderkey = 47011",
    ),
];

/// Generates the data if it is not there, compares, prints the table and writes the page.
pub fn run(args: &DemoArgs) -> Result<u8> {
    let sf = args.sf;
    let folder: PathBuf = match &args.dir {
        Some(folder) => folder.clone(),
        None => libs::cache_folder()?,
    };
    let options = |database: &Path| -> Result<CompareOptions> {
        Ok(CompareOptions {
            database: database.to_owned(),
            sides: [("stock", libs::stock()?), ("ours", libs::ours()?)].map(|(label, library)| {
                SideOptions {
                    label: label.to_owned(),
                    library,
                    pragmas: Vec::new(),
                }
            }),
            scratch: false,
            cold: false,
            runs: args.runs,
            warmup: 1,
        })
    };
    let database = folder.join(format!("tpch-sf{sf}.db"));
    // What is missing is said before the data is made.
    let options = options(&database)?;
    generate(&folder, &database, sf)?;

    eprintln!(
        "Running {} statements on stock SQLite and High Performance SQLite in turn.",
        QUERIES.len()
    );
    let scripts: Vec<Script> = QUERIES
        .iter()
        .map(|(title, sql)| Script {
            name: format!("demo: {title}"),
            text: (*sql).to_owned(),
            title: Some((*title).to_owned()),
        })
        .collect();
    let report = compare::compare(&options, &scripts)?;
    let page = write_page(&folder, &report)?;
    terminal::show(&report, args.plans)?;
    println!("Charts: {}", page.canonicalize()?.display());
    Ok(report.status())
}

fn generate(folder: &Path, database: &Path, sf: f64) -> Result<()> {
    if database.exists() {
        eprintln!("Using the data in {}.", database.display());
        return Ok(());
    }
    eprintln!("Generating TPC-H data at scale factor {sf} into an ordinary SQLite file.");
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let written = data::tpch::write(
        sf,
        &DataTarget {
            file: database,
            force: false,
            library: None,
        },
    )?;
    eprintln!("{}: {written}", database.display());
    Ok(())
}

fn write_page(folder: &Path, report: &CompareReport) -> Result<PathBuf> {
    let page = folder.join("demo.html");
    if let Some(file) = OutputFile::begin(Some(&page), [])? {
        file.end(html::page(report))?;
    }
    Ok(page)
}
