-- Format 5: retention. A purge deletes rows and keeps their links.

-- One row for each purge: the rule as JSON, why, by whom, and how many rows went.
CREATE TABLE record_purges (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    rule_json TEXT NOT NULL,
    reason TEXT NOT NULL,
    user_name TEXT,
    row_count INTEGER NOT NULL,
    timestamp INTEGER NOT NULL
) STRICT;

-- What a purge took: the records of a run, with the number of its steps by outcome; those of one step; or a content
-- that other rows still name.
CREATE TABLE purged_subjects (
    id INTEGER PRIMARY KEY,
    purge_id TEXT NOT NULL REFERENCES record_purges (id),
    run_id TEXT REFERENCES runs (id),
    execution_id TEXT,                  -- null for all steps of the run
    content TEXT,                       -- the digest of a content; then `run_id` is null
    outcomes_json TEXT                  -- outcome to number; `unknown` for steps without outcome
) STRICT;
CREATE INDEX purged_subjects_by_run ON purged_subjects (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX purged_subjects_by_execution ON purged_subjects (execution_id)
    WHERE execution_id IS NOT NULL;
CREATE INDEX purged_subjects_by_content ON purged_subjects (content) WHERE content IS NOT NULL;

-- The numbers of the deleted rows. Only these rows may be missing. Their links remain; `links_digest` is the SHA-256 of
-- a line `seq table digest` for each of them.
CREATE TABLE purged_rows (
    id INTEGER PRIMARY KEY,
    purge_id TEXT NOT NULL REFERENCES record_purges (id),
    first_row INTEGER NOT NULL UNIQUE,
    last_row INTEGER NOT NULL,
    links_digest TEXT NOT NULL,
    grant_digest TEXT                   -- keyed, so that no other program can remove a revocation
) STRICT;

-- Every search with words looks through the rejections of plans.
CREATE INDEX authorizations_rejected ON authorizations (timestamp) WHERE status = 'rejected';

-- migrations.rs makes these triggers anew, so that they allow the rows above.
DROP TRIGGER IF EXISTS blobs_refuses_delete;
DROP TRIGGER IF EXISTS decisions_refuses_delete;
DROP TRIGGER IF EXISTS diagnostics_refuses_delete;
DROP TRIGGER IF EXISTS edges_refuses_delete;
DROP TRIGGER IF EXISTS execution_artifacts_refuses_delete;
DROP TRIGGER IF EXISTS executions_refuses_delete;
DROP TRIGGER IF EXISTS file_contents_refuses_delete;
DROP TRIGGER IF EXISTS intents_refuses_delete;
