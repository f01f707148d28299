-- Format 3.

-- The walls of a step (SPEC 7.5): the level, and all grants as JSON. For an authorization: the level of the
-- computer, and a list with the walls of each step. Null if they were not determined, and in older rows.
ALTER TABLE authorizations ADD COLUMN walls_level TEXT;
ALTER TABLE authorizations ADD COLUMN walls_json TEXT;
ALTER TABLE intents ADD COLUMN walls_level TEXT;
ALTER TABLE intents ADD COLUMN walls_json TEXT;
ALTER TABLE executions ADD COLUMN walls_level TEXT;
ALTER TABLE executions ADD COLUMN walls_json TEXT;

-- The processes that steps had left running and that were ended with the run: a list of names as JSON. Null in
-- rows of older formats.
ALTER TABLE run_ends ADD COLUMN left_running_json TEXT;

-- The time of an approval in milliseconds since the computer was started, and the id of that start. Null if the
-- system has no such clock.
ALTER TABLE authorizations ADD COLUMN boot_id TEXT;
ALTER TABLE authorizations ADD COLUMN since_boot_ms INTEGER;

-- The keyed digest of a row that grants something. A row without a valid digest grants nothing.
ALTER TABLE decisions ADD COLUMN grant_digest TEXT;
ALTER TABLE authorization_classes ADD COLUMN grant_digest TEXT;

-- One row: the random id under which the head of this database is kept outside its folder.
CREATE TABLE database_ids (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;

-- Acceptances by a person of this database although it differed from the head kept outside its folder.
CREATE TABLE head_acceptances (
    id INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    difference TEXT NOT NULL,
    kept_head TEXT,
    kept_rows INTEGER,
    user_name TEXT,
    timestamp INTEGER NOT NULL
) STRICT;
