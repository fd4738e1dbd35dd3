-- The search index. It holds nothing that the journal does not: another version of it is not migrated but made anew.

CREATE TABLE place (
  pos   INTEGER NOT NULL,
  scrub INTEGER NOT NULL
) STRICT;

INSERT INTO place (pos, scrub) VALUES (0, 0);

CREATE TABLE passages (
  id      INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  key     TEXT NOT NULL
) STRICT;

CREATE INDEX passages_by_key ON passages (session, key, seq);

CREATE VIRTUAL TABLE texts USING fts5 (title, body, tokenize = "unicode61 remove_diacritics 2");
