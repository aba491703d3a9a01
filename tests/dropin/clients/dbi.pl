# Perl's DBD::SQLite on whatever libsqlite3.so.0 the loader finds: dbi.pl FOLDER-OF-SQL
use strict;
use warnings;
use DBI;

my $here = shift;
sub lines { open my $f, '<', $_[0] or die "$_[0]: $!\n"; chomp(my @l = <$f>); return @l }
sub text {
  my $v = shift;
  return 'NULL' unless defined $v;
  return '[' . join(', ', map { text($_) } @$v) . ']' if ref $v;
  $v =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ge;
  return $v;
}
sub show { print "$_[0]\t", text($_[1]), "\n" }
sub attempt {
  my ($name, $what) = @_;
  my $value = eval { $what->() };
  if (my $error = $@) { $error =~ s/ at \S+ line \d+.*//s; show($name, "error: $error") }
  else { show($name, $value) }
}

my $db = DBI->connect('dbi:SQLite:dbname=perl.db', '', '', {RaiseError => 1, PrintError => 0});
$db->do($_) for grep { !/^--/ } lines("$here/setup.sql");

my ($path) = grep { /libsqlite3/ } lines('/proc/self/maps');
$path =~ s/.* //;
print "\@library\t$path\n";
print "\@source_id\t", $db->selectrow_array('SELECT sqlite_source_id()'), "\n";
print "\@hp_version\t", eval { $db->selectrow_array('SELECT hp_version()') } || 'none', "\n";
my $plan = $db->selectall_arrayref('EXPLAIN QUERY PLAN SELECT kind, sum(qty) FROM item GROUP BY kind');
print "\@plan\t", join('; ', map { $_->[3] } @$plan), "\n";

my $sum = $db->prepare('SELECT kind, sum(qty), count(*) FROM item WHERE qty > ? AND price < ? GROUP BY kind');
for my $bound ([0, 100], [400, 1000.5], [undef, 1]) {
  attempt('prepared ' . text($bound), sub { $sum->execute(@$bound); $sum->fetchall_arrayref });
}
show('column types', $sum->{TYPE});
show('column names', $sum->{NAME});

$db->begin_work;
show('updated', $db->do('UPDATE item SET qty = qty - 1 WHERE id % 2'));
attempt('inside transaction', sub { $db->selectall_arrayref('SELECT kind, sum(qty) FROM item GROUP BY kind') });
$db->rollback;
attempt('rolled back', sub { $db->selectall_arrayref('SELECT kind, sum(qty) FROM item GROUP BY kind') });

$db->sqlite_create_function('twice', 1, sub { defined $_[0] ? $_[0] * 2 : undef });
attempt('function', sub { $db->selectall_arrayref('SELECT kind, sum(twice(qty)) FROM item GROUP BY kind') });
$db->sqlite_create_collation('backwards', sub { reverse($_[0]) cmp reverse($_[1]) });
attempt('collation', sub { $db->selectall_arrayref('SELECT kind COLLATE backwards AS k, max(id) FROM item GROUP BY k') });
attempt('no such column', sub { $db->selectall_arrayref('SELECT sum(missing) FROM item') });
my $n = 0;
$db->sqlite_progress_handler(1000, sub { ++$n > 3 });
attempt('interrupted', sub { $db->selectall_arrayref('SELECT count(*) FROM item a, item b') });
$db->sqlite_progress_handler(0, undef);

my $i = 0;
attempt('query ' . $i++, sub { $db->selectall_arrayref($_) }) for lines("$here/queries.sql");
attempt('integrity', sub { $db->selectall_arrayref('PRAGMA integrity_check') });
print "\@end\n";
