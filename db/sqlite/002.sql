-- The newest snapshot, in parts that a program can hold one at a time; `size` is that of all.
CREATE TABLE snapshot (
    part INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    size INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

-- Rows that a repair took out of the journal, for people to look at. Nothing reads them, and a
-- damaged row must fit: no checks.
CREATE TABLE aside (
    cut INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (cut, seq)
) STRICT;
