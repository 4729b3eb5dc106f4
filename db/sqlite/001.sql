-- The journal and what it refers to. Rows are never changed. `tail` has one row and says where the
-- last commit ended, so that rows missing at the end show; it is written in the same transaction.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY CHECK (seq > 0),
    time INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;

CREATE TABLE tail (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    first INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO tail VALUES (1, 1, 0, 0, zeroblob(32));

-- Signed heads, by the row they name.
CREATE TABLE head (
    seq INTEGER PRIMARY KEY CHECK (seq > 0),
    journal TEXT NOT NULL,
    time INTEGER NOT NULL,
    hash BLOB NOT NULL,
    signature BLOB NOT NULL
) STRICT;

-- Reports and manifests, each once, by the digest of its bytes.
CREATE TABLE blob (
    digest TEXT NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;
