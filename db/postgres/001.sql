-- The journal and what it refers to, in a schema of its own, which is made before this runs. Every
-- number is a bigint, and what a person may have edited has no checks: it is found by the chain.
CREATE TABLE schema_version (
    id bigint PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO schema_version VALUES (1, 0);

CREATE TABLE journal (
    seq bigint PRIMARY KEY CHECK (seq > 0),
    time bigint NOT NULL,
    kind bigint NOT NULL,
    version bigint NOT NULL,
    body bytea NOT NULL,
    hash bytea NOT NULL
);

-- Where the last commit ended. Whoever writes locks this row first, so writers come one by one.
CREATE TABLE tail (
    id bigint PRIMARY KEY CHECK (id = 1),
    first bigint NOT NULL,
    seq bigint NOT NULL,
    time bigint NOT NULL,
    hash bytea NOT NULL
);
INSERT INTO tail VALUES (1, 1, 0, 0, decode(repeat('00', 32), 'hex'));

-- Who leads, until when by this server's clock (milliseconds since 1970).
CREATE TABLE lease (
    id bigint PRIMARY KEY CHECK (id = 1),
    epoch bigint NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    until bigint NOT NULL
);
INSERT INTO lease VALUES (1, 0, '', '', 0);

-- Signed heads, by the row they name.
CREATE TABLE head (
    seq bigint PRIMARY KEY CHECK (seq > 0),
    journal text NOT NULL,
    time bigint NOT NULL,
    hash bytea NOT NULL,
    signature bytea NOT NULL
);

-- Reports and manifests, each once, by the digest of its bytes.
CREATE TABLE blob (
    digest text COLLATE "C" PRIMARY KEY CHECK (length(digest) = 71),
    bytes bytea NOT NULL
);

-- The newest snapshot, in parts that a program can hold one at a time; `size` is that of all.
CREATE TABLE snapshot (
    part bigint PRIMARY KEY,
    seq bigint NOT NULL,
    size bigint NOT NULL,
    bytes bytea NOT NULL
);

-- Rows that a repair took out of the journal, for people to look at.
CREATE TABLE aside (
    cut bigint NOT NULL,
    seq bigint NOT NULL,
    time bigint NOT NULL,
    kind bigint NOT NULL,
    version bigint NOT NULL,
    body bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (cut, seq)
);

-- What is read once in a while, and who has it until when.
CREATE TABLE task (
    name bytea PRIMARY KEY,
    site bytea NOT NULL,
    every bigint NOT NULL,
    due bigint NOT NULL,
    failures bigint NOT NULL,
    holder bytea,
    until bigint NOT NULL
);

-- Whoever takes tasks locks this row first: the limits hold for all of them together.
CREATE TABLE task_gate (
    id bigint PRIMARY KEY CHECK (id = 1)
);
INSERT INTO task_gate VALUES (1);
