-- Format 7: signatures with SSH keys of persons.

-- One row for each signature. `document` has the exact bytes that were signed, `signature` the text that
-- `ssh-keygen -Y sign` made of them, and `fingerprint` that of the key in it. The document repeats the record that it is
-- about as the evidence has it, so that a signature counts for nothing else.
CREATE TABLE signatures (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,                 -- `authorization`, `run_end`, `head` or `review`
    authorization_id TEXT REFERENCES authorizations (id),
    run_id TEXT REFERENCES runs (id),
    request_id TEXT,                    -- of a `review`: the request that was answered
    document TEXT NOT NULL,
    signature TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    principal TEXT NOT NULL,            -- who signed, as the document says
    user_name TEXT,
    timestamp INTEGER NOT NULL
) STRICT;
CREATE INDEX signatures_by_authorization ON signatures (authorization_id)
    WHERE authorization_id IS NOT NULL;
CREATE INDEX signatures_by_run ON signatures (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX signatures_by_request ON signatures (request_id) WHERE request_id IS NOT NULL;
