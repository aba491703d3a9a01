SELECT count(*), count(qty), sum(qty), avg(qty), total(price), min(note), max(note) FROM item
SELECT kind, count(*), sum(qty), sum(price), avg(price), min(qty), max(price) FROM item GROUP BY kind
SELECT note, typeof(note), count(*) FROM item GROUP BY note
SELECT code, count(*), min(id) FROM item GROUP BY code
SELECT kind, code, sum(qty*price), sum(qty+1) FROM item GROUP BY kind, code HAVING count(*)>200 ORDER BY 3 DESC, 1, 2 LIMIT 10
SELECT sum(price*(1-qty/1000.0)) FROM item WHERE id BETWEEN 1000 AND 50000 AND price<700 AND NOT qty=3
SELECT kind, sum(note) FROM item WHERE kind LIKE 'kind1%' OR code='ABC' GROUP BY 1
SELECT qty, max(price) FROM item WHERE qty IN (1,2,3,5,8,13) GROUP BY qty
SELECT count(*) FROM item WHERE note IS NULL
SELECT kind, max(id), price FROM item GROUP BY kind
SELECT qty%10, count(*) FROM item GROUP BY qty%10
SELECT count(DISTINCT note), group_concat(DISTINCT kind) FROM item
SELECT sum(9223372036854775807) FROM item
SELECT avg(note), min(code) FROM item WHERE 0
SELECT id, kind FROM item WHERE id%20000=1 ORDER BY price
