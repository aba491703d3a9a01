//! The texts of a suite, with its numbers in them.

use super::chart::{ChartPlan, TablePlan};
use super::file::SuiteFile;
use crate::bench::model::{PART, Values, filled};
use crate::text;

/// The names that hold for the whole file, and those of a chart or a table before them.
fn named(names: &Values, own: &Values) -> Values {
    let mut all = names.clone();
    all.extend(own.clone());
    all
}

/// The charts, with the numbers in their texts as they are measured.
pub fn shown_charts(file: &SuiteFile, names: &Values) -> Vec<ChartPlan> {
    let values = spoken(file);
    let mut charts = file.chart.clone();
    for chart in &mut charts {
        chart.title = filled(&chart.title, &values);
        chart.about = filled(&chart.about, &values);
        chart.names = named(names, &chart.names);
        for name in chart.names.values_mut() {
            *name = filled(name, &values);
        }
    }
    charts
}

/// The same of the tables; one of a part that is not measured is left out.
pub fn shown_tables(tables: &[TablePlan], names: &Values, files: &[SuiteFile]) -> Vec<TablePlan> {
    let shown = |table: &TablePlan| {
        let part = table.only.get(PART);
        let of: Vec<&SuiteFile> = files
            .iter()
            .filter(|f| part.is_none_or(|p| f.axes.get(PART).is_some_and(|v| v.has(p))))
            .collect();
        let values = common(&of);
        (!of.is_empty()).then(|| TablePlan {
            title: filled(&table.title, &values),
            about: filled(&table.about, &values),
            names: named(names, &table.names),
            ..table.clone()
        })
    };
    tables.iter().filter_map(shown).collect()
}

/// Options and axes of a part as they stand in a text: `5,000,000`, or `1, 2 and 4`.
fn spoken(file: &SuiteFile) -> Values {
    let one = |text: String| match text.parse() {
        Ok(n) => text::thousands(n),
        Err(_) => text,
    };
    let options = file.options.iter().map(|(n, v)| (n, vec![v.text()]));
    let axes = file.axes.iter().map(|(n, v)| (n, v.texts()));
    let all = options.chain(axes).map(|(name, values)| {
        let values: Vec<String> = values.into_iter().map(one).collect();
        (name.clone(), text::list(&values))
    });
    all.collect()
}

/// What is the same in all of these parts.
pub fn common(files: &[&SuiteFile]) -> Values {
    let mut each = files.iter().map(|file| spoken(file));
    let mut all = each.next().unwrap_or_default();
    for values in each {
        all.retain(|name, value| values.get(name) == Some(value));
    }
    all
}
