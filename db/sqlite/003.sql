-- What is read once in a while, and who has it until when. Names are bytes, compared as such.
CREATE TABLE task (
    name BLOB PRIMARY KEY,
    site BLOB NOT NULL,
    every INTEGER NOT NULL,
    due INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    holder BLOB,
    until INTEGER NOT NULL,
    wanted INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
