-- The whole schema, to read. It is made by migrations/; a test holds the two together.

CREATE TABLE sessions (
  id             TEXT PRIMARY KEY,
  agent          TEXT NOT NULL,
  cwd            TEXT NOT NULL,
  title          TEXT NOT NULL,
  status         TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  checkpoint_seq INTEGER NOT NULL,
  summary        BLOB NOT NULL,
  checkpoint     BLOB NOT NULL,
  crc            INTEGER
) STRICT;

CREATE INDEX sessions_by_activity ON sessions (updated_at, id);

CREATE TABLE recent (
  first_pos INTEGER PRIMARY KEY,
  body      BLOB NOT NULL,
  crc       INTEGER
) STRICT;

CREATE TABLE blocks (
  first_pos    INTEGER PRIMARY KEY,
  session      TEXT NOT NULL,
  first_seq    INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  last_pos     INTEGER NOT NULL,
  packed_bytes INTEGER NOT NULL,
  body         BLOB NOT NULL,
  crc          INTEGER
) STRICT;

CREATE UNIQUE INDEX blocks_by_session ON blocks (session, first_seq, last_seq);

CREATE TABLE deletions (
  session TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE damages (
  number    INTEGER PRIMARY KEY,
  at        INTEGER NOT NULL,
  session   TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  what      TEXT NOT NULL
) STRICT;
