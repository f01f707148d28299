-- Format 4.

-- What the person allowed the planner of a loop to look at: `none` or `workspace`; and the SSH destination of the host
-- of the goal. Null in rows of older formats, and without a host.
ALTER TABLE loops ADD COLUMN looks TEXT;
ALTER TABLE loops ADD COLUMN target TEXT;

-- The person's words for the planner: why a plan or a step was denied, or the answer to a question of the planner.
ALTER TABLE attempt_ends ADD COLUMN feedback TEXT;

-- What a planner looked at before it planned, in rounds from 1. `looks_json` is a list of the looks without what they
-- found; `answers_json` is the text that the planner got, a JSON list of the looks with what they found.
CREATE TABLE planner_looks (
    id INTEGER PRIMARY KEY,
    attempt_id TEXT NOT NULL REFERENCES attempts (id),
    round INTEGER NOT NULL,
    looks_json TEXT NOT NULL,
    answers_json TEXT NOT NULL,
    timestamp INTEGER NOT NULL
) STRICT;
CREATE INDEX planner_looks_by_attempt ON planner_looks (attempt_id);
