//! Calls of aggregate functions.

use super::pick;
use super::query::Query;
use super::traits::Trait;
use crate::cat;
use crate::sql::Sql;

const NUMERIC: [&str; 9] = [
    "count", "sum", "sum", "total", "avg", "avg", "min", "max", "max",
];

impl Query<'_> {
    pub fn aggregate_call(&mut self, depth: u8) -> Sql {
        if self.chance(15) {
            return Sql::expr(cat!["count(*)", self.only_some()]);
        }
        match self.rng.u8(0..20) {
            0..=2 if self.may(Trait::AggText) => self.text_call(depth),
            3 if self.may(Trait::AggJson) => self.json_call(depth),
            4 if self.may(Trait::AggUser) => self.user_call(depth),
            _ => {
                let name = *pick(self.rng, &NUMERIC);
                let value = self.value(depth);
                self.dress(name, value, "")
            }
        }
    }

    /// name([DISTINCT] value more [ORDER BY …]) [FILTER …]
    fn dress(&mut self, name: &str, value: Sql, more: &str) -> Sql {
        let best = ["min", "max"].contains(&name);
        let all = best && !(self.chance(20) && self.may(Trait::BestOfSome));
        let single = more.is_empty() && !all;
        let distinct = if single && self.chance(15) && self.may(Trait::AggDistinct) {
            "DISTINCT "
        } else {
            ""
        };
        let order = self.inner_order(name, &value);
        let filter = if all { "".into() } else { self.only_some() };
        Sql::expr(cat![
            name,
            "(",
            Sql::opt(distinct.into()),
            value,
            more,
            Sql::opt(order),
            ")",
            filter
        ])
    }

    /// ORDER BY inside an aggregate function of value: often by this value
    /// alone, with or without a direction.
    fn inner_order(&mut self, name: &str, value: &Sql) -> Sql {
        let textual = !NUMERIC.contains(&name);
        if !self.chance(if textual { 40 } else { 8 }) || !self.may(Trait::AggOrder) {
            return "".into();
        }
        let mut terms = Vec::new();
        for _ in 0..*pick(self.rng, &[1, 1, 1, 2, 3]) {
            let term = if self.chance(35) {
                value.clone()
            } else {
                self.value(0)
            };
            let collation = *pick(
                self.rng,
                &["", "", "", "", " COLLATE nocase", " COLLATE rtrim"],
            );
            let way = *pick(
                self.rng,
                &["", "", " DESC", " NULLS LAST", " DESC NULLS FIRST"],
            );
            terms.push(cat![term, collation, way]);
        }
        cat![" ORDER BY ", Sql::list(", ", 1, terms)]
    }

    fn only_some(&mut self) -> Sql {
        if self.chance(12) && self.may(Trait::AggFilter) {
            return Sql::opt(cat![" FILTER(WHERE ", self.condition(1), ")"]);
        }
        "".into()
    }

    fn text_call(&mut self, depth: u8) -> Sql {
        let value = self.value(depth);
        match self.rng.u8(0..6) {
            0 => self.dress("string_agg", value, ", ';'"),
            1 => self.dress("group_concat", value, ", '-'"),
            2 => self.dress("group_concat", value, ", NULL"),
            3 => {
                // A separator that changes from row to row.
                let separator = self.value(0);
                let order = self.inner_order("group_concat", &value);
                let both = cat![value, ", ", separator, Sql::opt(order)];
                Sql::expr(cat!["group_concat(", both, ")", self.only_some()])
            }
            _ => self.dress("group_concat", value, ""),
        }
    }

    /// JSON holds no blobs, and its values carry a mark that they are JSON.
    fn json_call(&mut self, depth: u8) -> Sql {
        let value = self.value(depth);
        let safe = match self.rng.u8(0..6) {
            0 => value,
            1 => cat!["json_array(quote(", value, "))"],
            2 => cat!["json_quote(quote(", value, "))"],
            3 => cat![
                "CASE typeof(",
                value.clone(),
                ") WHEN 'blob' THEN 0 ELSE ",
                value,
                " END"
            ],
            _ => cat!["quote(", value, ")"],
        };
        if self.chance(30) {
            let key = self.value(0);
            let order = self.inner_order("json_group_object", &key);
            return Sql::expr(cat![
                "json_group_object(quote(",
                key,
                "), ",
                safe,
                Sql::opt(order),
                ")",
                self.only_some()
            ]);
        }
        self.dress("json_group_array", safe, "")
    }

    /// The application's own: the sum of lengths, and one that shows in which
    /// order it was given its values.
    fn user_call(&mut self, depth: u8) -> Sql {
        let value = self.value(depth);
        match self.rng.u8(0..4) {
            0 => self.dress("lengths", value, ""),
            1 => {
                let more = self.value(0);
                let order = self.inner_order("trail", &value);
                let both = cat![value, ", ", more, Sql::opt(order)];
                Sql::expr(cat!["trail(", both, ")", self.only_some()])
            }
            _ => self.dress("trail", value, ""),
        }
    }
}
