//! What is wrong with a suite file, found before hours are spent on it.

use anyhow::{Result, bail};

use super::chart::{STEP, TablePlan};
use super::file::SuiteFile;
use super::scalar::OneOrMore;
use crate::bench::model::{ENGINE, PRAGMAS};
use crate::text;

/// Rules have to be for something of the file as it was written: what is then set may leave it out.
pub fn check_rules(file: &SuiteFile) -> Result<()> {
    let quick = file.quick.clone().unwrap_or_default().axes;
    let excluding = file.exclude.iter().map(|rule| ("exclude", rule));
    let excluding = excluding.enumerate();
    let setting = file.set.iter().map(|rule| ("set", &rule.place)).enumerate();
    let showing = file.chart.iter().map(|chart| ("chart", &chart.only));
    for (i, (kind, rule)) in excluding.chain(setting).chain(showing.enumerate()) {
        let rule_name = format!("[[{kind}]] number {}", i + 1);
        for (axis, wanted) in rule {
            let mut values: Vec<String> = match axis.as_str() {
                STEP if kind != "set" => file.step.iter().map(|s| s.name.clone()).collect(),
                _ => match file.axes.get(axis) {
                    Some(values) => values.texts(),
                    None => bail!("{rule_name}: there is no axis {axis}"),
                },
            };
            values.extend(quick.get(axis).map(OneOrMore::texts).unwrap_or_default());
            for value in wanted.texts() {
                if !values.contains(&value) {
                    bail!("{rule_name}: axis {axis} has no value {value}");
                }
            }
        }
    }
    Ok(())
}

/// Tables choose what some part has.
pub fn check_tables(tables: &[TablePlan], files: &[SuiteFile]) -> Result<()> {
    for (i, table) in tables.iter().enumerate() {
        let number = i + 1;
        for step in &table.steps {
            if !files.iter().any(|f| f.step.iter().any(|s| s.name == *step)) {
                bail!("[[table]] number {number}: there is no step {step}");
            }
        }
        let chosen = table.column.iter().map(|c| &c.only);
        let chosen = chosen.chain(table.row.iter().map(|r| &r.only));
        for (axis, value) in chosen.chain([&table.only]).flatten() {
            let has = |f: &SuiteFile| f.axes.get(axis).is_some_and(|v| v.texts().contains(value));
            if axis != STEP && !files.iter().any(has) {
                bail!("[[table]] number {number}: no axis {axis} has a value {value}");
            }
        }
        for axis in &table.each {
            if !files.iter().any(|f| f.axes.contains_key(axis)) {
                bail!("[[table]] number {number}: there is no axis {axis}");
            }
        }
        if table.column.is_empty() == table.each.is_empty() {
            bail!("[[table]] number {number}: it has columns by column or by each");
        }
        for row in &table.row {
            if !row.cells.is_empty() && row.cells.len() != table.column.len() {
                bail!(
                    "[[table]] number {number}: row {} has {} cells, and there are {} columns",
                    row.name,
                    row.cells.len(),
                    table.column.len()
                );
            }
        }
    }
    Ok(())
}

/// Finds what would only be noticed after hours.
pub fn check(file: &SuiteFile) -> Result<()> {
    if file.trials == 0 {
        bail!("trials: there must be at least 1");
    }
    if !file.axes.contains_key(ENGINE) {
        bail!("[axes] has no engine: name at least one, such as engine = [\"stock\", \"ours\"]");
    }
    for (axis, values) in &file.axes {
        let values = values.texts();
        if values.is_empty() {
            bail!("axis {axis} has no values");
        }
        for (i, value) in values.iter().enumerate() {
            if values[..i].contains(value) {
                bail!("axis {axis} has {value} twice");
            }
            if axis == PRAGMAS && !file.pragmas.contains_key(value) {
                bail!("axis {PRAGMAS}: there is no [pragmas.{value}]");
            }
        }
    }
    let known = |axis: &str| axis == STEP || file.axes.contains_key(axis);
    for (i, chart) in file.chart.iter().enumerate() {
        let named = [&chart.x].into_iter().chain(&chart.series);
        for axis in named.chain(&chart.separate).chain(chart.only.keys()) {
            if !known(axis) {
                bail!("[[chart]] number {}: there is no axis {axis}", i + 1);
            }
        }
    }
    if file.step.is_empty() {
        bail!("there is no [[step]]: say what is to be measured");
    }
    for (i, step) in file.step.iter().enumerate() {
        if file.step[..i].iter().any(|s| s.name == step.name) {
            bail!("[[step]] {} is there twice", step.name);
        }
    }
    if file.step.iter().all(|s| s.unmeasured) {
        bail!("every [[step]] is unmeasured: nothing would be left to show");
    }
    Ok(())
}

/// Lines can only cross where there are lines.
pub fn check_break_even(file: &SuiteFile) -> Result<()> {
    for (i, chart) in file.chart.iter().enumerate() {
        let place = format!("[[chart]] number {}: break_even", i + 1);
        if chart.break_even.is_empty() {
            continue;
        }
        let Some(series) = &chart.series else {
            bail!("{place} compares series, and there are none");
        };
        let values = |axis: &String| match axis.as_str() {
            STEP => file.step.iter().map(|s| s.name.clone()).collect(),
            _ => file
                .axes
                .get(axis)
                .map(OneOrMore::texts)
                .unwrap_or_default(),
        };
        if let Some(name) = values(&chart.x)
            .iter()
            .find(|v| text::parse_number(v).is_none())
        {
            bail!(
                "{place} needs numbers along {}, and {name} is none",
                chart.x
            );
        }
        let known = values(series);
        if let Some(name) = chart.break_even.iter().find(|v| !known.contains(v)) {
            bail!("{place}: axis {series} has no value {name}");
        }
    }
    Ok(())
}
