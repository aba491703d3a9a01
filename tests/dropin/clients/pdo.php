<?php
// PHP's PDO on whatever libsqlite3.so.0 the loader finds: pdo.php FOLDER-OF-SQL

function show(string $name, $value): void {
  echo "$name\t", json_encode($value, JSON_PRESERVE_ZERO_FRACTION | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
function attempt(string $name, callable $what): void {
  try {
    show($name, $what());
  } catch (PDOException $e) {
    show($name, ['error' => $e->getMessage(), 'info' => $e->errorInfo]);
  }
}

$here = $argv[1];
$db = new PDO('sqlite:pdo.db');
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);

foreach (file("$here/setup.sql", FILE_IGNORE_NEW_LINES) as $sql) {
  if (!str_starts_with($sql, '--')) $db->exec($sql);
}

preg_match('/\S*libsqlite3\S*/', file_get_contents('/proc/self/maps'), $path);
echo "@library\t$path[0]\n";
echo "@source_id\t", $db->query('SELECT sqlite_source_id()')->fetchColumn(), "\n";
try {
  $version = $db->query('SELECT hp_version()')->fetchColumn();
} catch (PDOException) {
  $version = 'none';
}
echo "@hp_version\t$version\n";
$plan = $db->query('EXPLAIN QUERY PLAN SELECT kind, sum(qty) FROM item GROUP BY kind')->fetchAll(PDO::FETCH_COLUMN, 3);
echo "@plan\t", implode('; ', $plan), "\n";

// Types, as a bound parameter goes in and as it comes out
$db->exec('CREATE TABLE t(id INTEGER PRIMARY KEY, v, w TEXT)');
$values = [null, 0, -1, PHP_INT_MAX, PHP_INT_MIN, 0.1, -1e300, 1e15, '', 'text', "nul\0inside", "\u{1F600}", '007', true, false];
$insert = $db->prepare('INSERT INTO t(v, w) VALUES(?, ?)');
foreach ($values as $i => $value) {
  $type = match (gettype($value)) {
    'NULL' => PDO::PARAM_NULL, 'integer' => PDO::PARAM_INT, 'boolean' => PDO::PARAM_BOOL, default => PDO::PARAM_STR };
  $insert->bindValue(1, $value, $type);
  $insert->bindValue(2, "row $i");
  $insert->execute();
  show("last insert id $i", $db->lastInsertId());
}
$insert->bindValue(1, "\xff\x00\xfe", PDO::PARAM_LOB);
$insert->bindValue(2, 'blob');
$insert->execute();
foreach ($db->query('SELECT id, v, typeof(v) AS type, hex(v) AS hex FROM t', PDO::FETCH_ASSOC) as $row) {
  show("type $row[id]", [$row['type'], $row['hex'], gettype($row['v']), $row['type'] == 'blob' ? null : $row['v']]);
}
$query = $db->query('SELECT id, v, w, count(*) AS n FROM t');
for ($i = 0; $i < $query->columnCount(); $i++) show("column $i", $query->getColumnMeta($i));
$query = null;

// Prepared statements: named, positional, run again, out of order
$select = $db->prepare('SELECT w FROM t WHERE id BETWEEN :low AND :high ORDER BY id');
foreach ([[1, 3], [4, 4], [9, 2]] as [$low, $high]) {
  $select->execute(['low' => $low, 'high' => $high]);
  show("prepared $low $high", $select->fetchAll(PDO::FETCH_COLUMN));
}
$sum = $db->prepare('SELECT kind, sum(qty), count(*) FROM item WHERE qty > ? AND price < ? GROUP BY kind');
foreach ([[0, 100], [400, 1000.5], ['100', '50'], [null, 1]] as $i => $bound) {
  $sum->execute($bound);
  show("prepared aggregate $i", $sum->fetchAll(PDO::FETCH_NUM));
}
attempt('prepared too few', fn() => $db->prepare('SELECT ?, ?')->execute([1, 2, 3]));

// Transactions, and what another connection sees of them
$other = new PDO('sqlite:pdo.db');
$other->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$count = 'SELECT count(*), sum(qty) FROM item';
$db->beginTransaction();
$db->exec('UPDATE item SET qty = qty + 1 WHERE id <= 1000');
show('inside transaction', [$db->inTransaction(), $db->query($count)->fetch(PDO::FETCH_NUM)]);
show('seen by another', $other->query($count)->fetch(PDO::FETCH_NUM));
$db->rollBack();
show('rolled back', $db->query($count)->fetch(PDO::FETCH_NUM));
$db->beginTransaction();
show('deleted', $db->exec('DELETE FROM item WHERE id > 59000'));
$db->exec('SAVEPOINT s');
$db->exec("INSERT INTO item(kind, qty) VALUES('extra', 5)");
show('in savepoint', $db->query($count)->fetch(PDO::FETCH_NUM));
$db->exec('ROLLBACK TO s');
$db->commit();
show('committed', $other->query($count)->fetch(PDO::FETCH_NUM));
attempt('commit without begin', fn() => $db->commit());
$db->exec('PRAGMA journal_mode=WAL');
$db->exec("INSERT INTO item(kind, qty, price) VALUES('wal', 7, 0.5)");
show('wal', $other->query("SELECT kind, sum(price) FROM item WHERE kind > 'kind9' GROUP BY kind")->fetchAll(PDO::FETCH_NUM));
$other->exec('BEGIN IMMEDIATE');
$db->setAttribute(PDO::ATTR_TIMEOUT, 0);
attempt('locked', fn() => $db->exec('DELETE FROM item'));
$other->exec('ROLLBACK');

// Functions of the application, inside queries that could be taken over
$db->sqliteCreateFunction('twice', fn($x) => $x === null ? null : $x * 2, 1);
$db->sqliteCreateFunction('like', fn($pattern, $value) => (int) ($value === 'kind3'), 2);
show('function', $db->query('SELECT kind, sum(twice(qty)) FROM item GROUP BY kind LIMIT 5')->fetchAll(PDO::FETCH_NUM));
show('like replaced', $db->query("SELECT count(*) FROM item WHERE kind LIKE 'kind1%'")->fetchColumn());
$db->sqliteCreateAggregate('longest', fn($context, $row, $s) => strlen((string) $s) > strlen((string) $context) ? $s : $context, fn($context) => $context, 1);
show('aggregate', $db->query('SELECT code, longest(kind) FROM item GROUP BY code')->fetchAll(PDO::FETCH_NUM));
$db->sqliteCreateCollation('backwards', fn($a, $b) => strcmp(strrev($a), strrev($b)));
show('collation', $db->query('SELECT kind COLLATE backwards AS k, count(*) FROM item GROUP BY k')->fetchAll(PDO::FETCH_NUM));
$db->sqliteCreateFunction('sum', fn($x) => "mine $x", 1);
show('sum replaced', $db->query('SELECT sum(qty) FROM item WHERE id < 4')->fetchAll(PDO::FETCH_COLUMN));

// Errors
attempt('syntax error', fn() => $db->exec('SELEKT 1'));
attempt('no such table', fn() => $db->query('SELECT sum(a) FROM missing GROUP BY b'));
attempt('no such column', fn() => $db->query('SELECT sum(missing) FROM item GROUP BY kind'));
attempt('misuse of aggregate', fn() => $db->query('SELECT count(*) FROM item WHERE sum(qty) > 1'));
attempt('constraint', fn() => $db->exec("INSERT INTO t(id, v) VALUES(1, 'again')"));
attempt('function throws', function () use ($db) {
  $db->sqliteCreateFunction('fails', fn($x) => throw new PDOException('from the function'), 1);
  return $db->query('SELECT sum(fails(qty)) FROM item')->fetchAll();
});

// Aggregates, on a connection of its own without the functions above
$db = null;
$db = new PDO('sqlite:pdo.db');
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
ini_set('serialize_precision', '17');
foreach (file("$here/queries.sql", FILE_IGNORE_NEW_LINES) as $i => $sql) {
  attempt("query $i", fn() => $db->query($sql)->fetchAll(PDO::FETCH_NUM));
}
show('integrity', $db->query('PRAGMA integrity_check')->fetchColumn());
echo "@end\n";
