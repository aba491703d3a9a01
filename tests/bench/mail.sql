-- the newest 100 of the inbox
SELECT id, subject, sender_name, received, flags, size, attachments, snippet
  FROM message WHERE folder=1 ORDER BY received DESC LIMIT 100;

-- the whole inbox
SELECT id, subject, sender_name, received, flags, size, attachments
  FROM message WHERE folder=1 ORDER BY received DESC;

-- a small folder
SELECT id, subject, sender_name, received, flags, size, attachments
  FROM message WHERE folder=30 ORDER BY received DESC;

-- unread by folder
SELECT folder, count(*) FROM message WHERE flags&1=0 GROUP BY folder;

-- size of each folder
SELECT folder.name, count(*), sum(message.size) FROM folder JOIN message ON message.folder=folder.id
 GROUP BY folder.id;

-- mail from one person
SELECT id, folder, subject, received, snippet FROM message
 WHERE sender=(SELECT sender FROM message ORDER BY id LIMIT 1 OFFSET 500) ORDER BY received DESC;

-- a word in a subject
SELECT id, folder, subject, sender_name, received FROM message
 WHERE subject LIKE '%invoice%' ORDER BY received DESC LIMIT 50;

-- a thread
SELECT id, folder, subject, sender_name, sent, snippet FROM message
 WHERE thread=(SELECT thread FROM message GROUP BY thread ORDER BY count(*) DESC LIMIT 1) ORDER BY sent;

-- answers to one's mail, by references
SELECT m.id, m.subject, m.sender_name, m.sent FROM message AS mine
  JOIN reference AS r ON r.message_id=mine.message_id JOIN message AS m ON m.id=r.message
 WHERE mine.folder=2 AND mine.received>1700000000 ORDER BY m.sent;

-- an account in one year
SELECT id, folder, subject, sender_name, sent, flags FROM message
 WHERE account=1 AND sent BETWEEN 1640995200 AND 1672531199 ORDER BY sent;

-- old unread mail of a folder
SELECT id, uid FROM message WHERE folder=1 AND flags&1=0 AND received<1750000000;

-- large attachments
SELECT a.id, a.name, a.size, m.subject, m.received FROM attachment AS a JOIN message AS m ON m.id=a.message
 WHERE a.type LIKE 'image/%' ORDER BY a.size DESC LIMIT 50;

-- one message
SELECT m.subject, m.recipients, b.text FROM message AS m JOIN body AS b ON b.message=m.id
 WHERE m.folder=1 ORDER BY m.received DESC LIMIT 1;

-- a word in the texts of a folder
SELECT m.id, m.subject FROM message AS m JOIN body AS b ON b.message=m.id
 WHERE m.folder=6 AND b.text LIKE '%invoice%' ORDER BY m.received DESC;

-- a word in all texts
SELECT count(*) FROM body WHERE text LIKE '%meeting invoice%';

-- who writes most
SELECT sender, count(*), max(received) FROM message GROUP BY sender ORDER BY 2 DESC LIMIT 20;

-- messages by month
SELECT strftime('%Y-%m', received, 'unixepoch'), count(*), sum(size) FROM message GROUP BY 1;
