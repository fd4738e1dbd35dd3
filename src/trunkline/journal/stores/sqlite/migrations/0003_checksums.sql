-- A checksum in every row that holds what cannot be made again, and what was found damaged. Rows of before have no checksum.

ALTER TABLE sessions ADD COLUMN crc INTEGER;

ALTER TABLE recent ADD COLUMN crc INTEGER;

ALTER TABLE blocks ADD COLUMN crc INTEGER;

CREATE TABLE damages (
  number    INTEGER PRIMARY KEY,
  at        INTEGER NOT NULL,
  session   TEXT NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  what      TEXT NOT NULL
) STRICT;
