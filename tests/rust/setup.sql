CREATE TABLE region(id INTEGER PRIMARY KEY, name TEXT)
INSERT INTO region VALUES (0, 'north'), (1, 'east'), (2, 'south'), (3, 'west')
CREATE TABLE sale(id INTEGER PRIMARY KEY, region INT, qty INT, price REAL, note TEXT)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) INSERT INTO sale SELECT i, i * 7919 % 4, i * 31 % 17, i * 12.97 / (1 + i % 9), 'note ' || (i * 104729 % 5003) FROM n
