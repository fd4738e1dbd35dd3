-- Named queries of the search index: `-- name --`, one line that says what for, the statement.

-- read_place --
-- How far into the journal the index has come.
SELECT pos FROM place

-- write_place --
-- The same, moved on.
UPDATE place SET pos = ?

-- newest_by_key --
-- The passage that a tool call began, to be told more of.
SELECT passages.id, texts.body FROM passages JOIN texts ON texts.rowid = passages.id
WHERE passages.session = ? AND passages.key = ? ORDER BY passages.seq DESC LIMIT 1

-- insert_passage --
-- Where a text stands.
INSERT INTO passages (session, seq, at, kind, key) VALUES (?, ?, ?, ?, ?)

-- insert_text --
-- The text itself.
INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)

-- replace_text --
-- A text that has grown, or a title that has changed.
UPDATE texts SET title = ?, body = ? WHERE rowid = ?

-- touch_passage --
-- When a title was last in use.
UPDATE passages SET at = ? WHERE id = ?

-- title_passage --
-- The passage that holds a session's title.
SELECT passages.id, texts.title FROM passages JOIN texts ON texts.rowid = passages.id
WHERE passages.session = ? AND passages.kind = 'title'

-- sessions --
-- Every session in the index and how far it is known.
SELECT session, max(seq) FROM passages GROUP BY session

-- drop_texts --
-- The texts of a session.
DELETE FROM texts WHERE rowid IN (SELECT id FROM passages WHERE session = ?)

-- drop_passages --
-- Their places.
DELETE FROM passages WHERE session = ?

-- read_scrub --
-- Whether something was deleted and not overwritten yet.
SELECT scrub FROM place

-- write_scrub --
-- The same, set or done.
UPDATE place SET scrub = ?

-- merge_all --
-- One part instead of several, without the words of texts that are gone.
INSERT INTO texts (texts) VALUES ('optimize')

-- find --
-- The best passages. Which they are is settled first: a snippet is made only for what is shown.
WITH best AS (
  SELECT rowid AS id, rank AS score FROM texts
  WHERE texts MATCH :words AND rank MATCH 'bm25(8.0, 1.0)' ORDER BY rank LIMIT :limit)
SELECT passages.session, passages.seq, passages.at, passages.kind, snippet(texts, -1, char(2), char(3), '…', 24)
FROM best JOIN texts ON texts.rowid = best.id JOIN passages ON passages.id = best.id
WHERE texts MATCH :words
ORDER BY best.score, passages.at DESC
