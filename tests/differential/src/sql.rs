//! SQL text as a tree that knows where it may be made smaller.

use serde::{Deserialize, Serialize};

/// A piece of SQL. The generator builds it; the shrinker asks for smaller
/// ones. No piece knows SQL's grammar: what a cut breaks, SQLite rejects on
/// both sides, and the cut is not taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sql {
    Text(String),
    /// Pieces one after the other.
    Cat(Vec<Sql>),
    /// A clause that may go.
    Opt(Box<Sql>),
    /// Items with a separator; all but `least` of them may go.
    List {
        separator: String,
        least: usize,
        items: Vec<Sql>,
    },
    /// A value: an inner one or a constant may stand in its place.
    Expr(Box<Sql>),
}

impl<T: Into<String>> From<T> for Sql {
    fn from(text: T) -> Sql {
        Sql::Text(text.into())
    }
}

/// `cat!["a ", piece, "b"]`: pieces one after the other.
#[macro_export]
macro_rules! cat {
    ($($piece:expr),* $(,)?) => { $crate::sql::Sql::Cat(vec![$($crate::sql::Sql::from($piece)),*]) };
}

impl Sql {
    pub fn opt(piece: Sql) -> Sql {
        Sql::Opt(Box::new(piece))
    }

    pub fn expr(piece: impl Into<Sql>) -> Sql {
        Sql::Expr(Box::new(piece.into()))
    }

    pub fn list(separator: &str, least: usize, items: Vec<Sql>) -> Sql {
        Sql::List {
            separator: separator.into(),
            least,
            items,
        }
    }

    /// The SQL text.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Sql::Text(s) => out.push_str(s),
            Sql::Cat(items) => items.iter().for_each(|p| p.write(out)),
            Sql::Opt(p) | Sql::Expr(p) => p.write(out),
            Sql::List {
                separator, items, ..
            } => {
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push_str(separator);
                    }
                    item.write(out);
                }
            }
        }
    }

    /// Every tree that differs from this one by one cut, the largest cuts
    /// first.
    pub fn smaller(&self) -> Vec<Sql> {
        let mut out = Vec::new();
        self.cut(&mut |cut| out.push(cut));
        let size = self.render().len();
        out.retain(|cut| cut.render().len() < size);
        out.sort_by_cached_key(|cut| cut.render().len());
        out
    }

    fn cut(&self, emit: &mut dyn FnMut(Sql)) {
        match self {
            Sql::Text(_) => {}
            Sql::Cat(items) => {
                for (i, item) in items.iter().enumerate() {
                    item.cut(&mut |cut| {
                        let mut items = items.clone();
                        items[i] = cut;
                        emit(Sql::Cat(items));
                    });
                }
            }
            Sql::Opt(inner) => {
                emit(Sql::Cat(Vec::new()));
                inner.cut(&mut |cut| emit(Sql::opt(cut)));
            }
            Sql::List {
                separator,
                least,
                items,
            } => {
                for kept in without_chunks(items, *least) {
                    emit(Sql::list(separator, *least, kept));
                }
                for (i, item) in items.iter().enumerate() {
                    item.cut(&mut |cut| {
                        let mut items = items.clone();
                        items[i] = cut;
                        emit(Sql::list(separator, *least, items));
                    });
                }
            }
            Sql::Expr(inner) => {
                for constant in ["1", "NULL"] {
                    emit(Sql::expr(constant));
                }
                inner.values(emit);
                inner.cut(&mut |cut| emit(Sql::expr(cut)));
            }
        }
    }

    /// The outermost values inside this piece.
    fn values(&self, emit: &mut dyn FnMut(Sql)) {
        match self {
            Sql::Text(_) => {}
            Sql::Cat(items) | Sql::List { items, .. } => items.iter().for_each(|p| p.values(emit)),
            Sql::Opt(p) => p.values(emit),
            Sql::Expr(_) => emit(self.clone()),
        }
    }
}

/// `items` without each of its halves, quarters, … and single items, where at
/// least `least` are left.
pub fn without_chunks<T: Clone>(items: &[T], least: usize) -> Vec<Vec<T>> {
    let mut out = Vec::new();
    let mut chunk = items.len();
    while chunk > 0 {
        for start in (0..items.len()).step_by(chunk) {
            let end = (start + chunk).min(items.len());
            if items.len() - (end - start) >= least {
                out.push([&items[..start], &items[end..]].concat());
            }
        }
        chunk /= 2;
    }
    out
}
