-- Format 6: the records of bounded loops can be purged.

-- What a purge took: the text of a whole loop, or what one attempt of it recorded; then `run_id` is null. A loop keeps
-- its id, its times and how it ended: these are written anew without the text, because a row is never changed. So are
-- the plans of its attempts, whose titles are often the goal of the loop.
ALTER TABLE purged_subjects ADD COLUMN loop_id TEXT;
ALTER TABLE purged_subjects ADD COLUMN attempt_id TEXT;     -- null for the whole loop
-- The executions of a run that was purged as a whole: 16 bytes for each id, in their order.
ALTER TABLE purged_subjects ADD COLUMN execution_ids BLOB;
CREATE INDEX purged_subjects_by_loop ON purged_subjects (loop_id) WHERE loop_id IS NOT NULL;

-- migrations.rs makes these triggers anew, so that they allow the rows of a recorded purge.
DROP TRIGGER IF EXISTS attempt_ends_refuses_delete;
DROP TRIGGER IF EXISTS loop_ends_refuses_delete;
DROP TRIGGER IF EXISTS loops_refuses_delete;
DROP TRIGGER IF EXISTS planner_looks_refuses_delete;
DROP TRIGGER IF EXISTS plans_refuses_delete;

-- Every run begins with a look at the decisions that trust or allow something, which belong to no run.
CREATE INDEX decisions_without_run ON decisions (decision) WHERE run_id IS NULL;
-- The decisions about an execution are those about its step and about the authorization of its run.
CREATE INDEX decisions_by_authorization ON decisions (authorization_id)
    WHERE authorization_id IS NOT NULL;
