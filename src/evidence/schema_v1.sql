-- Format 1 of the evidence. Rows are only inserted, except that a purge deletes blobs; migrations.rs adds the
-- triggers that refuse anything else. Each table has an integer primary key (`row`, or `id` if the row has no
-- id of its own): the number of the row's link in the ledger. So the numbers are unique in the database, and
-- give the order in which all rows were written. The rows of an execution or an intent are written directly
-- after it, so `edges` and `file_contents`, of which a step has several, need no index by execution, which
-- would slow down every step.
-- Times are Unix milliseconds, booleans 0 or 1, ids UUID v4 text, digests 64 hex digits.
-- A column whose name ends in `_json` contains canonical JSON: no spaces, keys sorted.

-- Plan files by the digest of their exact bytes; the bytes are in the blob with that digest.
CREATE TABLE plans (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- the digest
    plan_id TEXT NOT NULL,
    dialect TEXT NOT NULL,
    intent TEXT,
    title TEXT,
    created_by TEXT,
    step_count INTEGER NOT NULL,
    timestamp INTEGER NOT NULL
) STRICT;

-- Approvals and rejections of plans, with everything that they cover.
CREATE TABLE authorizations (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    plan_digest TEXT NOT NULL REFERENCES plans (id),
    plan_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('approved', 'rejected')),
    reason TEXT,
    method TEXT NOT NULL,
    user_name TEXT,
    workspace TEXT NOT NULL,
    mode TEXT NOT NULL,
    policy_digest TEXT NOT NULL,
    target TEXT,
    host_key TEXT,
    inputs_json TEXT NOT NULL,          -- path to digest, null for a file that must be absent
    class_id TEXT REFERENCES authorization_classes (id),
    timestamp INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- Authorizations of classes of plans in advance, for the bounded loop.
CREATE TABLE authorization_classes (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    class_json TEXT NOT NULL,
    user_name TEXT,
    method TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE authorization_class_revocations (
    id INTEGER PRIMARY KEY,
    class_id TEXT NOT NULL UNIQUE REFERENCES authorization_classes (id),
    user_name TEXT,
    timestamp INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    plan_digest TEXT NOT NULL REFERENCES plans (id),
    plan_id TEXT NOT NULL,
    authorization_id TEXT NOT NULL REFERENCES authorizations (id),
    workspace TEXT NOT NULL,
    mode TEXT NOT NULL,
    policy_digest TEXT NOT NULL,
    target TEXT,
    host_key TEXT,
    parent_run TEXT REFERENCES runs (id),
    attempt_id TEXT REFERENCES attempts (id),
    program_version TEXT NOT NULL,
    user_name TEXT,
    timestamp INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_time ON runs (timestamp);

-- An approval is consumed by one run: the second insert fails.
CREATE TABLE authorization_uses (
    id INTEGER PRIMARY KEY,
    authorization_id TEXT NOT NULL UNIQUE REFERENCES authorizations (id),
    run_id TEXT NOT NULL REFERENCES runs (id),
    timestamp INTEGER NOT NULL
) STRICT;

-- A run without a row in this table is active or was interrupted.
CREATE TABLE run_ends (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE REFERENCES runs (id),
    status TEXT NOT NULL CHECK (status IN ('completed', 'failed', 'cancelled')),
    error_code TEXT,
    error_message TEXT,
    next TEXT,
    cancelled_by TEXT,
    completed_steps INTEGER NOT NULL,
    total_duration_ms INTEGER NOT NULL,
    elapsed_ms INTEGER NOT NULL,
    clock_set_back INTEGER NOT NULL,    -- how often the wall clock went back and was held
    timestamp INTEGER NOT NULL
) STRICT;

-- Committed before a tool that can have an effect is called. The id is that of the execution.
CREATE TABLE intents (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tool_name TEXT NOT NULL,
    arguments_json TEXT NOT NULL,
    timestamp INTEGER NOT NULL,         -- start of the step
    run_id TEXT NOT NULL REFERENCES runs (id),
    step_id TEXT NOT NULL,
    step_index INTEGER NOT NULL,
    about TEXT NOT NULL,
    host TEXT,
    risk_level TEXT NOT NULL,
    risk_rule TEXT NOT NULL,
    risk_reason TEXT NOT NULL
) STRICT;
CREATE INDEX intents_by_run ON intents (run_id);

CREATE TABLE executions (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tool_name TEXT NOT NULL,
    arguments_json TEXT NOT NULL,
    timestamp INTEGER NOT NULL,         -- start of the step
    success INTEGER NOT NULL CHECK (success IN (0, 1)),
    exit_code INTEGER,
    duration_ms INTEGER NOT NULL,
    error_message TEXT,
    run_id TEXT NOT NULL REFERENCES runs (id),
    step_id TEXT NOT NULL,
    step_index INTEGER NOT NULL,
    about TEXT NOT NULL,
    outcome TEXT NOT NULL,
    invoked INTEGER NOT NULL CHECK (invoked IN (0, 1)),
    error_code TEXT,
    next TEXT,
    host TEXT,
    risk_level TEXT NOT NULL,
    risk_rule TEXT NOT NULL,
    risk_reason TEXT NOT NULL,
    policy_digest TEXT NOT NULL
) STRICT;
CREATE INDEX executions_by_run ON executions (run_id, step_index);
CREATE INDEX executions_by_tool ON executions (tool_name, timestamp);

CREATE TABLE execution_artifacts (
    id INTEGER PRIMARY KEY,
    execution_id TEXT NOT NULL REFERENCES executions (id),
    artifact_type TEXT NOT NULL,
    content_json TEXT NOT NULL,         -- the value, or {"blob", "bytes", "head"} where `blob` is set
    bytes INTEGER NOT NULL,             -- size of what was captured
    blob TEXT,
    UNIQUE (execution_id, artifact_type)
) STRICT;

-- One row for each diagnostic of the `diagnostics` artifact, for queries by code and file.
CREATE TABLE diagnostics (
    id INTEGER PRIMARY KEY,
    execution_id TEXT NOT NULL REFERENCES executions (id),
    level TEXT NOT NULL,
    code TEXT,
    file_name TEXT NOT NULL,
    line_start INTEGER NOT NULL,
    message TEXT NOT NULL
) STRICT;
CREATE INDEX diagnostics_by_execution ON diagnostics (execution_id);
CREATE INDEX diagnostics_by_code ON diagnostics (code);

-- The decisions of persons and rules. `execution_id` may be the id of an execution that was never recorded.
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    authorization_id TEXT REFERENCES authorizations (id),
    run_id TEXT REFERENCES runs (id),
    execution_id TEXT,
    step_id TEXT,
    step_index INTEGER,
    decision TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    user_name TEXT,
    note TEXT NOT NULL,
    request_json TEXT,                  -- what was shown, or {"blob", "bytes", "head"} where `blob` is set
    blob TEXT,
    timestamp INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_by_run ON decisions (run_id);
CREATE INDEX decisions_by_execution ON decisions (execution_id);

CREATE TABLE edges (
    id INTEGER PRIMARY KEY,
    execution_id TEXT NOT NULL REFERENCES executions (id),
    -- Not IN: for more than two values SQLite builds a table of them at every insert.
    edge_type TEXT NOT NULL CHECK (edge_type = 'EXECUTED_ON' OR edge_type = 'AFFECTED'
        OR edge_type = 'REFERENCED' OR edge_type = 'PRODUCED'),
    target_kind TEXT NOT NULL CHECK (target_kind = 'file' OR target_kind = 'symbol'
        OR target_kind = 'diagnostic'),
    target TEXT NOT NULL
) STRICT;
CREATE INDEX edges_by_target ON edges (target, target_kind);

-- Changes of files: predicted ones with the intent, actual ones with the execution. A null digest means that
-- the file is absent. If the content was stored, it is the blob with the digest.
CREATE TABLE file_contents (
    id INTEGER PRIMARY KEY,
    execution_id TEXT NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('predicted', 'actual')),
    path TEXT NOT NULL,
    before_digest TEXT,
    after_digest TEXT
) STRICT;

-- The bounded loop and its attempts.
CREATE TABLE loops (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    goal TEXT NOT NULL,
    planner TEXT NOT NULL,
    workspace TEXT NOT NULL,
    max_attempts INTEGER NOT NULL,
    verify_scope TEXT NOT NULL,
    class_id TEXT REFERENCES authorization_classes (id),
    user_name TEXT,
    timestamp INTEGER NOT NULL
) STRICT;

CREATE TABLE loop_ends (
    id INTEGER PRIMARY KEY,
    loop_id TEXT NOT NULL UNIQUE REFERENCES loops (id),
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    detail_json TEXT NOT NULL,
    timestamp INTEGER NOT NULL
) STRICT;

CREATE TABLE attempts (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    loop_id TEXT NOT NULL REFERENCES loops (id),
    attempt INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    UNIQUE (loop_id, attempt)
) STRICT;

CREATE TABLE attempt_ends (
    id INTEGER PRIMARY KEY,
    attempt_id TEXT NOT NULL UNIQUE REFERENCES attempts (id),
    planner_json TEXT NOT NULL,
    plan_digest TEXT,
    run_id TEXT REFERENCES runs (id),
    actions_json TEXT NOT NULL,
    verify_json TEXT,
    stop_reason TEXT,
    timestamp INTEGER NOT NULL
) STRICT;

-- Contents by the digest of their plain bytes, in compressed parts, which are encrypted if the content contains
-- a secret.
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    bytes INTEGER NOT NULL,             -- plain size of this part
    encoding TEXT NOT NULL CHECK (encoding IN ('zstd', 'zstd+xchacha20poly1305')),
    data BLOB NOT NULL,
    UNIQUE (digest, part)
) STRICT;

-- Only a blob whose digest is in this table may be deleted.
CREATE TABLE purges (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    reason TEXT NOT NULL,
    user_name TEXT,
    timestamp INTEGER NOT NULL
) STRICT;

-- The chain: one link for each row of the other tables, with the row's number. `entry` is the hashed text of a
-- row that may be purged.
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL,
    digest TEXT NOT NULL,
    entry TEXT
) STRICT;
