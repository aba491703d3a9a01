/**
 * Statements to begin with, made from the schema. Names are quoted, whatever is in them.
 */

/** Tables and indexes that examples are made of, the largest first. */
const TABLES = 3;

/** A name as SQL has it. */
export function quoted(name) {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Whether a b-tree is a table with rows of its own. */
function isTable(tree) {
  return tree.role === "table" || tree.role === "without-rowid";
}

/** Whether SQLite keeps it for itself. */
function isInternal(name) {
  return /^sqlite_/i.test(name);
}

/**
 * Examples for the largest tables: `[{label, sql}]`. `columnsOf(t)` is a promise of the columns of
 * b-tree number t: `[{name, declared, is_rowid, key}]`.
 */
export async function examples({ trees }, columnsOf) {
  const numbered = trees.map((tree, t) => ({ ...tree, t }));
  const bySize = (a, b) => b.pages - a.pages;
  const tables = numbered
    .filter((tree) => isTable(tree) && !isInternal(tree.name))
    .sort(bySize)
    .slice(0, TABLES);
  const all = [];
  for (const table of tables) {
    const columns = await columnsOf(table.t).catch(() => []);
    const indexes = numbered.filter((tree) => tree.role === "index" && tree.table === table.name).sort(bySize);
    const firstOf = async (index) => (await columnsOf(index.t).catch(() => []))[0]?.name;
    const index = indexes.find((tree) => !isInternal(tree.name)) ?? indexes[0];
    all.push(...ofTable(table, columns, index, index && (await firstOf(index))));
  }
  all.push({ label: "The list of tables and indexes", sql: "SELECT type, name, tbl_name\nFROM sqlite_schema" });
  return all;
}

/** Examples for one table; `indexed` is the first column of `index`. */
function ofTable(table, columns, index, indexed) {
  const name = quoted(table.name);
  const plain = columns.filter((column) => column.name && !column.is_rowid);
  const last = plain.at(-1);
  const group = plain.find((column) => column.name !== indexed && !column.key) ?? plain[0];
  const made = [{ label: `${table.name}: all rows, in order`, sql: `SELECT *\nFROM ${name}` }];
  if (last) {
    made.push({
      label: `${table.name}: a sum over the whole table`,
      sql: `SELECT count(*), sum(length(${quoted(last.name)}))\nFROM ${name}`,
    });
  }
  if (group) {
    const g = quoted(group.name);
    made.push({
      label: `${table.name}: the commonest ${group.name}`,
      sql: `SELECT ${g}, count(*)\nFROM ${name}\nGROUP BY ${g}\nORDER BY 2 DESC\nLIMIT 20`,
    });
  }
  if (table.role === "table") {
    made.push({ label: `${table.name}: one row by its rowid`, sql: `SELECT *\nFROM ${name}\nWHERE rowid = 1000` });
  }
  if (index && indexed) {
    const through = isInternal(index.name) ? "" : ` INDEXED BY ${quoted(index.name)}`;
    made.push({
      label: `${table.name}: 200 rows in the order of ${indexed}, by its index`,
      sql: `SELECT *\nFROM ${name}${through}\nORDER BY ${quoted(indexed)}\nLIMIT 200`,
    });
  }
  return made;
}
