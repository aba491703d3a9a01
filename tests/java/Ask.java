import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sqlite.Function;

/**
 * What sqlite-jdbc answers on the native library that it has loaded: {@code Ask FOLDER-OF-SQL}.
 *
 * <p>Lines that begin with @ name that library; all others must be the same on each.
 */
class Ask {
  interface Question {
    Object ask() throws SQLException;
  }

  static String text(Object value) {
    if (value instanceof byte[]) return Arrays.toString((byte[]) value);
    if (value instanceof Double) return Double.toHexString((Double) value);
    if (value instanceof List) {
      StringBuilder all = new StringBuilder("[");
      for (Object each : (List<?>) value) all.append(text(each)).append(", ");
      return all.append("]").toString();
    }
    return value == null ? "NULL" : value.getClass().getSimpleName() + " " + value;
  }

  static void show(String name, Question question) {
    String answer;
    try {
      answer = text(question.ask());
    } catch (SQLException e) {
      answer = "error " + e.getErrorCode() + ": " + e.getMessage();
    }
    System.out.println(name + "\t" + answer);
  }

  static List<List<Object>> rows(java.sql.ResultSet set) throws SQLException {
    List<List<Object>> all = new ArrayList<>();
    while (set.next()) {
      List<Object> row = new ArrayList<>();
      for (int i = 1; i <= set.getMetaData().getColumnCount(); i++) row.add(set.getObject(i));
      all.add(row);
    }
    return all;
  }

  static List<List<Object>> query(Connection db, String sql) throws SQLException {
    try (var statement = db.createStatement();
        var set = statement.executeQuery(sql)) {
      return rows(set);
    }
  }

  static void execute(Connection db, String sql) throws SQLException {
    try (var statement = db.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  /** Seconds for two aggregations of a million rows, the least of five times. */
  static double seconds(Connection db) throws SQLException {
    execute(db, "CREATE TEMP TABLE times AS SELECT value FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]')");
    execute(db, "CREATE TABLE big AS SELECT kind, qty, price, code FROM item, times");
    double least = Double.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      long start = System.nanoTime();
      query(db, "SELECT kind, sum(qty), avg(price) FROM big GROUP BY kind");
      query(db, "SELECT kind, code, sum(qty), avg(price) FROM big WHERE price < 900 GROUP BY kind, code");
      least = Math.min(least, (System.nanoTime() - start) / 1e9);
    }
    execute(db, "DROP TABLE big");
    return least;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Connection db = DriverManager.getConnection("jdbc:sqlite:java.db");
    for (String sql : Files.readAllLines(folder.resolve("setup.sql"))) {
      if (!sql.startsWith("--")) execute(db, sql);
    }

    String library =
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.contains("sqlitejdbc"))
            .map(line -> line.replaceFirst("^[^/]*", ""))
            .findFirst()
            .orElse("none");
    System.out.println("@library\t" + library);
    show("@hp_version", () -> query(db, "SELECT hp_version()").get(0).get(0));
    String kinds = "SELECT kind, sum(qty) FROM item GROUP BY kind";
    show("@plan", () -> query(db, "EXPLAIN QUERY PLAN " + kinds));
    for (var option : query(db, "PRAGMA compile_options")) System.out.println("@option\t" + option.get(0));
    for (var name : query(db, "SELECT DISTINCT name FROM pragma_function_list")) System.out.println("@function\t" + name.get(0));
    System.out.println("@seconds\t" + seconds(db));

    // What sqlite-jdbc reports of a file that is new; its own settings are among it.
    for (String name : new String[] {"page_size", "secure_delete", "foreign_keys", "journal_mode", "cache_size"}) {
      show("PRAGMA " + name, () -> query(db, "PRAGMA " + name));
    }
    try (var sum = db.prepareStatement(
        "SELECT kind, sum(qty), count(*) FROM item WHERE qty > ? AND price < ? GROUP BY kind")) {
      Object[][] bounds = {{0, 100}, {400L, 1000.5}, {"100", "50"}, {null, 1}};
      for (Object[] bound : bounds) {
        sum.setObject(1, bound[0]);
        sum.setObject(2, bound[1]);
        show("prepared " + Arrays.toString(bound), () -> rows(sum.executeQuery()));
      }
      show("column types", () -> {
        List<Object> types = new ArrayList<>();
        var meta = sum.getMetaData();
        for (int i = 1; i <= meta.getColumnCount(); i++) types.add(meta.getColumnName(i) + " " + meta.getColumnTypeName(i));
        return types;
      });
    }
    db.setAutoCommit(false);
    show("updated", () -> {
      try (var update = db.createStatement()) {
        return update.executeUpdate("UPDATE item SET qty = qty + 1 WHERE id <= 1000");
      }
    });
    show("inside transaction", () -> query(db, kinds));
    db.rollback();
    db.setAutoCommit(true);
    show("rolled back", () -> query(db, kinds));
    Function.create(db, "twice", new Function() {
      @Override protected void xFunc() throws SQLException {
        result(value_long(0) * 2);
      }
    });
    show("function", () -> query(db, "SELECT kind, sum(twice(qty)) FROM item GROUP BY kind"));
    Function.create(db, "longest", new Function.Aggregate() {
      String best = "";
      @Override protected void xStep() throws SQLException {
        if (value_text(0).length() > best.length()) best = value_text(0);
      }
      @Override protected void xFinal() throws SQLException {
        result(best);
      }
    });
    show("aggregate", () -> query(db, "SELECT code, longest(kind) FROM item GROUP BY code"));
    show("syntax error", () -> query(db, "SELEKT 1"));
    show("no such column", () -> query(db, "SELECT sum(missing) FROM item"));
    show("constraint", () -> query(db, "INSERT INTO item(id) VALUES(1) RETURNING id"));
    List<String> queries = Files.readAllLines(folder.resolve("queries.sql"));
    for (int i = 0; i < queries.size(); i++) {
      String sql = queries.get(i);
      show("query " + i, () -> query(db, sql));
    }
    show("backup", () -> {
      execute(db, "backup to java-copy.db");
      try (Connection copy = DriverManager.getConnection("jdbc:sqlite:java-copy.db")) {
        return query(copy, kinds);
      }
    });
    show("integrity", () -> query(db, "PRAGMA integrity_check"));
    db.close();
    System.out.println("@end");
  }
}
