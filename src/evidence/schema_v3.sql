-- Format 3.

-- The walls of a step (SPEC 7.5): the level, and everything that was granted as JSON. Of an authorization:
-- the level of this computer, and a list with the walls of each step. Null where no version recorded them.
ALTER TABLE authorizations ADD COLUMN walls_level TEXT;
ALTER TABLE authorizations ADD COLUMN walls_json TEXT;
ALTER TABLE intents ADD COLUMN walls_level TEXT;
ALTER TABLE intents ADD COLUMN walls_json TEXT;
ALTER TABLE executions ADD COLUMN walls_level TEXT;
ALTER TABLE executions ADD COLUMN walls_json TEXT;

-- What steps had left running behind their walls and was ended with the run: a list of names as JSON. Null where
-- no version recorded it.
ALTER TABLE run_ends ADD COLUMN left_running_json TEXT;

-- When an approval was given by the clock that runs since the machine was started, in milliseconds, and
-- which start that was. Null where the system has no such clock.
ALTER TABLE authorizations ADD COLUMN boot_id TEXT;
ALTER TABLE authorizations ADD COLUMN since_boot_ms INTEGER;

-- The keyed digest of a row that grants something: without it the row is a record and no grant.
ALTER TABLE decisions ADD COLUMN grant_digest TEXT;
ALTER TABLE authorization_classes ADD COLUMN grant_digest TEXT;

-- One row: the random id under which the head of this database is kept outside of it.
CREATE TABLE database_ids (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;

-- A person accepted this database although the head that was kept outside is not on its chain.
CREATE TABLE head_acceptances (
    id INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    difference TEXT NOT NULL,
    kept_head TEXT,
    kept_rows INTEGER,
    user_name TEXT,
    timestamp INTEGER NOT NULL
) STRICT;
