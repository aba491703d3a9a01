# Ruby's sqlite3 on whatever libsqlite3.so.0 the loader finds: gem.rb FOLDER-OF-SQL
require 'sqlite3'

here = ARGV[0]
def show(name, value) = puts("#{name}\t#{value.inspect}")
def attempt(name)
  show(name, yield)
rescue SQLite3::Exception => e
  show(name, [e.class, e.message, e.code])
end

db = SQLite3::Database.new('ruby.db')
File.readlines("#{here}/setup.sql", chomp: true).each { |sql| db.execute(sql) unless sql.start_with?('--') }

puts "@library\t#{File.read('/proc/self/maps')[/\S*libsqlite3\S*/]}"
puts "@source_id\t#{db.get_first_value('SELECT sqlite_source_id()')}"
version = begin
  db.get_first_value('SELECT hp_version()')
rescue SQLite3::Exception
  'none'
end
puts "@hp_version\t#{version}"
plan = db.execute('EXPLAIN QUERY PLAN SELECT kind, sum(qty) FROM item GROUP BY kind').map { |row| row[3] }
puts "@plan\t#{plan.join('; ')}"

sum = db.prepare('SELECT kind, sum(qty), count(*) FROM item WHERE qty > ? AND price < ? GROUP BY kind')
[[0, 100], [400, 1000.5], [nil, 1]].each do |bound|
  attempt("prepared #{bound}") { sum.execute(*bound).to_a }
end
show('column names', sum.columns)
show('column types', sum.types)
sum.close

db.transaction
db.execute('UPDATE item SET qty = qty - 1 WHERE id % 2')
attempt('inside transaction') { db.execute('SELECT kind, sum(qty) FROM item GROUP BY kind') }
db.rollback
attempt('rolled back') { db.execute('SELECT kind, sum(qty) FROM item GROUP BY kind') }

db.create_function('twice', 1) { |f, x| f.result = x && x * 2 }
attempt('function') { db.execute('SELECT kind, sum(twice(qty)) FROM item GROUP BY kind') }
db.create_aggregate('longest', 1) do
  step { |f, s| f[:best] = s if s.to_s.size > f[:best].to_s.size }
  finalize { |f| f.result = f[:best] }
end
attempt('aggregate') { db.execute('SELECT code, longest(kind) FROM item GROUP BY code') }
attempt('no such column') { db.execute('SELECT sum(missing) FROM item') }
attempt('constraint') { db.execute("INSERT INTO item(id) VALUES(1)") }

File.readlines("#{here}/queries.sql", chomp: true).each_with_index do |sql, i|
  attempt("query #{i}") { db.execute(sql) }
end
attempt('integrity') { db.execute('PRAGMA integrity_check') }
puts '@end'
