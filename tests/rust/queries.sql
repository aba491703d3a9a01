SELECT quote(region) || ' ' || count(*) || ' ' || CAST(sum(price) * 1073741824 AS INT) || ' ' || CAST(avg(qty) * 1125899906842624 AS INT) || ' ' || quote(min(note)) AS detail FROM sale GROUP BY region ORDER BY region
SELECT count(*) || ' ' || count(DISTINCT qty) || ' ' || CAST(total(price) * 1073741824 AS INT) || ' ' || CAST(max(price) * 1073741824 AS INT) AS detail FROM sale WHERE qty BETWEEN 3 AND 11
SELECT quote(qty) || ' ' || CAST(sum(price * (1 - qty * 0.01)) * 1073741824 AS INT) AS detail FROM sale WHERE note LIKE '%7%' GROUP BY qty HAVING count(*) > 10 ORDER BY sum(price) DESC LIMIT 5
SELECT quote(name) || ' ' || count(*) || ' ' || CAST(sum(price) * 1073741824 AS INT) AS detail FROM sale JOIN region ON region.id = sale.region GROUP BY name ORDER BY name
SELECT quote(x'616263' LIKE 'a%') || quote('abc' LIKE 'A%') AS detail
SELECT group_concat(k || v, ' ') AS detail FROM (SELECT 'secure_delete=' AS k, secure_delete AS v FROM pragma_secure_delete UNION ALL SELECT 'foreign_keys=', foreign_keys FROM pragma_foreign_keys UNION ALL SELECT 'page_size=', page_size FROM pragma_page_size)
SELECT group_concat(compile_options, ' ') AS detail FROM pragma_compile_options WHERE compile_options IN ('ENABLE_API_ARMOR', 'ENABLE_STAT4', 'ENABLE_FTS5', 'ENABLE_RTREE', 'DEFAULT_FOREIGN_KEYS', 'ENABLE_FTS3_TOKENIZER', 'THREADSAFE=1')
