-- Named queries of the SQLite journal: `-- name --`, one line that says what for, the statement.

-- begin --
-- Take the write lock at once: a transaction that reads first and writes later could be refused.
BEGIN IMMEDIATE

-- commit --
-- End a transaction.
COMMIT

-- snapshot --
-- Let several reads of one page see the same state.
BEGIN

-- insert_recent --
-- The small parts of a group, of all its sessions, as one row.
INSERT INTO recent (first_pos, body, crc) VALUES (?, ?, ?)

-- insert_block --
-- A run of entries of one session.
INSERT INTO blocks (first_pos, session, first_seq, last_seq, last_pos, body, crc, packed_bytes)
VALUES (?, ?, ?, ?, ?, ?, ?, 0)

-- insert_large --
-- Room for a run of one large entry, to be written into. Behind the room nothing may stand that takes any, or SQLite makes two
-- copies of it: the checksum is before it, below zero.
INSERT INTO blocks (first_pos, session, first_seq, last_seq, last_pos, body, packed_bytes)
VALUES (?, ?, ?, ?, ?, zeroblob(?), -1 - ?)

-- insert_packed --
-- A block that takes the place of others, with the length of its body before compression.
INSERT INTO blocks (first_pos, session, first_seq, last_seq, last_pos, body, crc, packed_bytes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- upsert_session --
-- The session's row, written with the entries that changed it.
INSERT INTO sessions (id, agent, cwd, title, status, created_at, updated_at, checkpoint_seq, summary, checkpoint, crc)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
  agent = excluded.agent, cwd = excluded.cwd, title = excluded.title, status = excluded.status,
  created_at = excluded.created_at, updated_at = excluded.updated_at, checkpoint_seq = excluded.checkpoint_seq,
  summary = excluded.summary, checkpoint = excluded.checkpoint, crc = excluded.crc

-- last_seq --
-- The highest seq of a session among its blocks.
SELECT last_seq FROM blocks WHERE session = ? ORDER BY first_seq DESC LIMIT 1

-- last_pos --
-- The highest pos among blocks and deleted sessions. A block's span is bounded, hence the look back.
SELECT max(
  coalesce((SELECT value FROM counters WHERE name = 'pos'), 0),
  coalesce((SELECT max(last_pos) FROM blocks WHERE first_pos >= (SELECT max(first_pos) FROM blocks) - :span), 0))

-- all_recent --
-- What the last run of the hub left unfolded.
SELECT first_pos, body, crc FROM recent ORDER BY first_pos

-- drop_recent_until --
-- Groups that a fold has moved into blocks.
DELETE FROM recent WHERE first_pos <= ?

-- blocks_forward --
-- Blocks that hold entries with after < seq < before, oldest first.
SELECT first_pos, session, first_seq, last_seq, last_pos, body,
  coalesce(crc, iif(packed_bytes < 0, -1 - packed_bytes, NULL))
FROM blocks
WHERE session = :session
  AND first_seq >= coalesce((SELECT max(first_seq) FROM blocks WHERE session = :session AND first_seq <= :after + 1), 0)
  AND first_seq < :before AND last_seq > :after
ORDER BY first_seq

-- blocks_backward --
-- The same, newest first.
SELECT first_pos, session, first_seq, last_seq, last_pos, body,
  coalesce(crc, iif(packed_bytes < 0, -1 - packed_bytes, NULL))
FROM blocks
WHERE session = :session
  AND first_seq >= coalesce((SELECT max(first_seq) FROM blocks WHERE session = :session AND first_seq <= :after + 1), 0)
  AND first_seq < :before AND last_seq > :after
ORDER BY first_seq DESC

-- block_before --
-- The block that stands before one, to tell when that was written.
SELECT first_pos, session, first_seq, last_seq, last_pos, body, crc FROM blocks
WHERE session = :session AND first_seq < :first_seq ORDER BY first_seq DESC LIMIT 1

-- block_behind --
-- The block that stands behind one.
SELECT first_pos, session, first_seq, last_seq, last_pos, body, crc FROM blocks
WHERE session = :session AND first_seq > :first_seq ORDER BY first_seq LIMIT 1

-- created_at --
-- When a session began.
SELECT created_at FROM sessions WHERE id = ?

-- hub_blocks --
-- Blocks of all sessions that hold entries with pos > after, in the order they begin.
SELECT first_pos, session, first_seq, last_seq, last_pos, body,
  coalesce(crc, iif(packed_bytes < 0, -1 - packed_bytes, NULL))
FROM blocks
WHERE first_pos > :after - :span AND last_pos > :after
ORDER BY first_pos

-- rows --
-- Session rows, newest activity first; a filter that is null matches everything.
SELECT id, agent, cwd, title, status, created_at, updated_at, summary, checkpoint, checkpoint_seq,
  coalesce((SELECT last_seq FROM blocks WHERE session = id ORDER BY first_seq DESC LIMIT 1), 0), crc
FROM sessions
WHERE (:status IS NULL OR status IN (SELECT value FROM json_each(:status)))
  AND (:agent IS NULL OR agent = :agent)
  AND (:text IS NULL OR instr(casefold(title), :text) OR instr(casefold(agent), :text) OR instr(casefold(cwd), :text))
  AND (:before_at IS NULL OR (updated_at, id) < (:before_at, :before_id))
ORDER BY updated_at DESC, id DESC
LIMIT :limit

-- row --
-- One session's row, by its id.
SELECT id, agent, cwd, title, status, created_at, updated_at, summary, checkpoint, checkpoint_seq,
  coalesce((SELECT last_seq FROM blocks WHERE session = id ORDER BY first_seq DESC LIMIT 1), 0), crc
FROM sessions WHERE id = ?

-- session_ids --
-- The ids of all sessions.
SELECT id FROM sessions

-- packable --
-- Blocks of a session that lie below a seq, in seq order, without their bodies.
SELECT first_pos, packed_bytes, length(body) FROM blocks
WHERE session = ?1 AND first_seq < ?2 AND last_seq < ?2 ORDER BY first_seq

-- block --
-- One block by its place.
SELECT first_pos, session, first_seq, last_seq, last_pos, body,
  coalesce(crc, iif(packed_bytes < 0, -1 - packed_bytes, NULL))
FROM blocks WHERE first_pos = ?

-- drop_blocks_within --
-- Blocks that were merged into one that holds these seqs.
DELETE FROM blocks WHERE session = ?1 AND first_seq BETWEEN ?2 AND ?3

-- mark_deletion --
-- From here on the session is gone; what is left of it is removed in small steps.
INSERT OR IGNORE INTO deletions (session) VALUES (?)

-- deletions --
-- Sessions whose removal was cut short.
SELECT session FROM deletions

-- drop_session --
-- The session's row.
DELETE FROM sessions WHERE id = ?

-- keep_pos --
-- Remember the highest pos, so that deleting the newest entries never makes one come back.
INSERT INTO counters (name, value) VALUES ('pos', ?1) ON CONFLICT (name) DO UPDATE SET value = max(value, ?1)

-- folded --
-- How far the last fold came, with its check.
SELECT value FROM counters WHERE name = 'folded'

-- origin --
-- What the records of this file's logs carry.
SELECT value FROM counters WHERE name = 'origin'

-- note_origin --
-- The same, for good.
INSERT INTO counters (name, value) VALUES ('origin', ?) ON CONFLICT (name) DO NOTHING

-- note_folded --
-- Every pos up to here is in this file, or deleted.
INSERT INTO counters (name, value) VALUES ('folded', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1

-- forget_folded --
-- There are no logs beside this file any more.
DELETE FROM counters WHERE name = 'folded'

-- places_behind --
-- Where the blocks stand that hold entries with pos > after.
SELECT first_pos, last_pos, first_seq, last_seq FROM blocks WHERE first_pos > :after - :span AND last_pos > :after

-- note_unscrubbed --
-- Text of what is deleted stands in places that are to be overwritten.
INSERT INTO counters (name, value) VALUES ('unscrubbed', 1) ON CONFLICT (name) DO NOTHING

-- unscrubbed --
-- Whether it does.
SELECT value FROM counters WHERE name = 'unscrubbed'

-- forget_unscrubbed --
-- It is overwritten.
DELETE FROM counters WHERE name = 'unscrubbed'

-- begin_log --
-- Count the beginnings of the write-ahead log: what matters is that something is written.
INSERT INTO counters (name, value) VALUES ('logs', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1

-- droppable --
-- The next blocks of a session to remove, with their sizes.
SELECT first_pos, length(body) FROM blocks WHERE session = ? ORDER BY first_seq LIMIT 64

-- drop_block --
-- One block of a session that is deleted.
DELETE FROM blocks WHERE first_pos = ?

-- unmark_deletion --
-- Nothing is left of the session.
DELETE FROM deletions WHERE session = ?

-- damages --
-- What was found damaged, the newest first.
SELECT number, at, session, first_seq, last_seq, what FROM damages ORDER BY number DESC LIMIT ?

-- add_damage --
-- Something was found damaged.
INSERT INTO damages (at, session, first_seq, last_seq, what) VALUES (?, ?, ?, ?, ?)
