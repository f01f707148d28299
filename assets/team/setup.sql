-- Evidence of a team in PostgreSQL 13 or newer. Run it once as the owner of a database of its own, in UTF-8:
--
--     createdb --encoding=UTF8 --template=template0 evidence
--     countersign evidence push --setup | psql --set ON_ERROR_STOP=1 evidence
--     psql evidence --command 'GRANT countersign_writer, countersign_reader TO ada'
--
-- It can be run again at any time; what is there stays. Who may push gets the role countersign_writer, who may read gets
-- countersign_reader. A writer can only insert rows that continue a chain; nobody can change or delete one.
--
-- The table `ledger` is the evidence. `executions`, `texts` and the other tables are made from its rows by the trigger
-- below and by nothing else, for searches.

BEGIN;
-- What is there already is no news.
SET LOCAL client_min_messages = warning;
-- Nothing that somebody else has made is called by its name alone.
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL standard_conforming_strings = on;

DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('countersign.setup')::bigint);
    IF current_setting('server_version_num')::integer < 130000 THEN
        RAISE EXCEPTION 'PostgreSQL 13 or newer is needed';
    END IF;
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'the encoding of the database must be UTF8, and is %', current_setting('server_encoding');
    END IF;
    -- Roles belong to the whole server, and another database of it may have them already.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'countersign_writer') THEN
        CREATE ROLE countersign_writer NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'countersign_reader') THEN
        CREATE ROLE countersign_reader NOLOGIN;
    END IF;
END $$;

-- Before version 15, everybody may create functions there, and so in the way of others.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA IF NOT EXISTS countersign;
REVOKE ALL ON SCHEMA countersign FROM PUBLIC;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA countersign;

-- The version of what this script makes. A program that knows another one reads and writes nothing.
CREATE OR REPLACE FUNCTION countersign.format() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 2';

-- A row for each record of each origin: the id of an evidence database. `hash` is the SHA-256 of the hash before it (32 zeros
-- before the first) and of `entry`, which is the canonical JSON of the record, redacted as it is stored there. `entry` is null
-- if the record had been purged when it was pushed.
CREATE TABLE IF NOT EXISTS countersign.ledger (
    origin text NOT NULL CHECK (octet_length(origin) BETWEEN 1 AND 200),
    sequence bigint NOT NULL CHECK (sequence > 0),
    table_name text NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    entry text,
    pushed_at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    pushed_by name NOT NULL DEFAULT session_user,
    PRIMARY KEY (origin, sequence)
);

-- A verification begins with them.
CREATE INDEX IF NOT EXISTS ledger_purges ON countersign.ledger (origin, sequence) WHERE table_name = 'purged_rows';

-- The logins that may add to an origin. The first one enters itself; the owner of the database may insert others.
CREATE TABLE IF NOT EXISTS countersign.origin_roles (
    origin text NOT NULL,
    role name NOT NULL,
    PRIMARY KEY (origin, role)
);

-- Texts of artifacts that are too large for their record, which has their digest.
CREATE TABLE IF NOT EXISTS countersign.contents (
    digest bytea PRIMARY KEY,
    text text NOT NULL CHECK (octet_length(text) <= 1048576),
    CONSTRAINT contents_digest CHECK (sha256(convert_to(text, 'UTF8')) = digest)
);

-- A name without regard to the case of ASCII letters, and as short as an entry of an index must be: a program decides how long
-- the codes of its messages are.
CREATE OR REPLACE FUNCTION countersign.folded(name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT pg_catalog.left(pg_catalog.lower(name COLLATE pg_catalog."C"), 200)
$$;

-- The columns have the names and meanings of the evidence on a computer; times are Unix milliseconds.
CREATE TABLE IF NOT EXISTS countersign.executions (
    origin text NOT NULL, sequence bigint NOT NULL,
    id text NOT NULL, tool_name text NOT NULL, timestamp bigint NOT NULL, success boolean NOT NULL, exit_code integer,
    duration_ms bigint NOT NULL, error_message text, run_id text NOT NULL, step_id text NOT NULL,
    step_index integer NOT NULL, about text NOT NULL, outcome text NOT NULL, error_code text, host text,
    risk_level text NOT NULL,
    PRIMARY KEY (origin, sequence)
);
CREATE INDEX IF NOT EXISTS executions_by_time ON countersign.executions (timestamp DESC, origin DESC, sequence DESC);
CREATE INDEX IF NOT EXISTS executions_by_id ON countersign.executions (id);
CREATE INDEX IF NOT EXISTS executions_by_run ON countersign.executions (run_id);

-- Steps that were about to have an effect. One without an execution was interrupted, or its outcome is not pushed yet.
CREATE TABLE IF NOT EXISTS countersign.intents (
    origin text NOT NULL, sequence bigint NOT NULL,
    id text NOT NULL, tool_name text NOT NULL, timestamp bigint NOT NULL, run_id text NOT NULL, step_id text NOT NULL,
    step_index integer NOT NULL, about text NOT NULL, host text, risk_level text NOT NULL,
    PRIMARY KEY (origin, sequence)
);
CREATE INDEX IF NOT EXISTS intents_by_time ON countersign.intents (timestamp DESC, origin DESC, sequence DESC);
CREATE INDEX IF NOT EXISTS intents_by_id ON countersign.intents (id);

-- The redacted texts of an execution, at most 131,072 characters each: `tool`, `arguments`, `error`, and each artifact by its
-- type. `sequence` is the record of the text.
CREATE TABLE IF NOT EXISTS countersign.texts (
    origin text NOT NULL, sequence bigint NOT NULL,
    execution_id text NOT NULL, field text NOT NULL, text text NOT NULL, words tsvector NOT NULL,
    PRIMARY KEY (origin, sequence, field)
);
CREATE INDEX IF NOT EXISTS texts_words ON countersign.texts USING gin (words);
CREATE INDEX IF NOT EXISTS texts_by_execution ON countersign.texts (execution_id);

CREATE TABLE IF NOT EXISTS countersign.files (
    origin text NOT NULL, sequence bigint NOT NULL,
    execution_id text NOT NULL, path text NOT NULL, wrote boolean NOT NULL,
    PRIMARY KEY (origin, sequence)
);
CREATE INDEX IF NOT EXISTS files_by_execution ON countersign.files (execution_id);

CREATE TABLE IF NOT EXISTS countersign.codes (
    origin text NOT NULL, sequence bigint NOT NULL,
    execution_id text NOT NULL, code text NOT NULL,
    PRIMARY KEY (origin, sequence)
);
DROP INDEX IF EXISTS countersign.codes_by_code;
CREATE INDEX IF NOT EXISTS codes_by_name ON countersign.codes (countersign.folded(code));

CREATE TABLE IF NOT EXISTS countersign.plans (
    origin text NOT NULL, sequence bigint NOT NULL,
    id text NOT NULL, plan_id text NOT NULL, title text, step_count integer NOT NULL, timestamp bigint NOT NULL,
    PRIMARY KEY (origin, sequence)
);

CREATE TABLE IF NOT EXISTS countersign.runs (
    origin text NOT NULL, sequence bigint NOT NULL,
    id text NOT NULL, plan_digest text NOT NULL, plan_id text NOT NULL, authorization_id text NOT NULL,
    workspace text NOT NULL, mode text NOT NULL, target text, parent_run text, attempt_id text, user_name text,
    timestamp bigint NOT NULL,
    PRIMARY KEY (origin, sequence)
);
CREATE INDEX IF NOT EXISTS runs_by_id ON countersign.runs (id);
DROP INDEX IF EXISTS countersign.runs_by_plan;
CREATE INDEX IF NOT EXISTS runs_by_plan_name ON countersign.runs (countersign.folded(plan_id));
CREATE INDEX IF NOT EXISTS runs_by_time ON countersign.runs (timestamp DESC, origin DESC, sequence DESC);

CREATE TABLE IF NOT EXISTS countersign.run_ends (
    origin text NOT NULL, sequence bigint NOT NULL,
    run_id text NOT NULL, status text NOT NULL, completed_steps integer NOT NULL, timestamp bigint NOT NULL,
    PRIMARY KEY (origin, sequence)
);
CREATE INDEX IF NOT EXISTS run_ends_by_run ON countersign.run_ends (run_id);

CREATE TABLE IF NOT EXISTS countersign.authorizations (
    origin text NOT NULL, sequence bigint NOT NULL,
    id text NOT NULL, plan_digest text NOT NULL, status text NOT NULL, method text NOT NULL, user_name text,
    timestamp bigint NOT NULL,
    PRIMARY KEY (origin, sequence)
);
CREATE INDEX IF NOT EXISTS authorizations_by_id ON countersign.authorizations (id);

CREATE TABLE IF NOT EXISTS countersign.decisions (
    origin text NOT NULL, sequence bigint NOT NULL,
    execution_id text, authorization_id text, run_id text, decision text NOT NULL, decided_by text NOT NULL,
    user_name text, note text NOT NULL, timestamp bigint NOT NULL,
    PRIMARY KEY (origin, sequence)
);
CREATE INDEX IF NOT EXISTS decisions_by_execution ON countersign.decisions (execution_id);
CREATE INDEX IF NOT EXISTS decisions_by_authorization ON countersign.decisions (authorization_id);

CREATE TABLE IF NOT EXISTS countersign.attempts (
    origin text NOT NULL, sequence bigint NOT NULL,
    id text NOT NULL, loop_id text NOT NULL, attempt integer NOT NULL, timestamp bigint NOT NULL,
    PRIMARY KEY (origin, sequence)
);

-- Where the extension is depends on who installed it first.
DO $$ BEGIN
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS files_path ON countersign.files USING gin (path %I.gin_trgm_ops)',
        (SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
         WHERE e.extname = 'pg_trgm'));
END $$;

-- A text as JSON, with a sign in place of each NUL, which PostgreSQL cannot store.
CREATE OR REPLACE FUNCTION countersign.parsed(json text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN position('\u0000' IN json) = 0 THEN json::jsonb
           ELSE regexp_replace(json, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::jsonb END
$$;

-- The strings and numbers of a text as JSON, one a line; the text itself if it is no JSON.
CREATE OR REPLACE FUNCTION countersign.flat(json text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    value jsonb;
BEGIN
    value := countersign.parsed(json);
    IF jsonb_typeof(value) NOT IN ('object', 'array') THEN
        RETURN coalesce(value #>> '{}', '');
    END IF;
    RETURN coalesce((SELECT string_agg(node #>> '{}', E'\n') FROM jsonb_path_query(value, 'strict $.**') AS node
                     WHERE jsonb_typeof(node) IN ('string', 'number')), '');
EXCEPTION WHEN data_exception OR statement_too_complex THEN
    RETURN json;
END $$;

-- What is searched of a text, and its words: letters and digits, without regard to case.
CREATE OR REPLACE FUNCTION countersign.searched(text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT left(text, 131072) $$;
CREATE OR REPLACE FUNCTION countersign.words(text text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector('pg_catalog.simple', regexp_replace(text, '[^[:alnum:]]+', ' ', 'g'))
$$;

-- Whether the columns of a record are such as the program writes them and can read them: a record stays for ever, and one that
-- nobody can read would be found by every search.
CREATE OR REPLACE FUNCTION countersign.is_readable(table_name text, c jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN table_name NOT IN ('executions', 'intents', 'runs') THEN true ELSE coalesce(
        c ->> 'id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        AND (SELECT bool_and(jsonb_typeof(c -> name) IS NOT DISTINCT FROM 'number' AND c ->> name ~ '^[0-9]{1,14}$')
             FROM unnest(ARRAY['timestamp', 'step_index', 'duration_ms']) AS name
             WHERE table_name = 'executions' OR name = 'timestamp' OR (name = 'step_index' AND table_name = 'intents'))
        AND (SELECT bool_and(jsonb_typeof(c -> name) IS NOT DISTINCT FROM 'string')
             FROM unnest(ARRAY['plan_id', 'run_id', 'step_id', 'tool_name', 'about', 'risk_level', 'outcome']) AS name
             WHERE (name = 'plan_id') = (table_name = 'runs') AND (name <> 'outcome' OR table_name = 'executions'))
        AND (SELECT bool_and(coalesce(jsonb_typeof(c -> name), 'string') IN ('string', 'null'))
             FROM unnest(ARRAY['error_message', 'error_code', 'host', 'arguments_json']) AS name)
        AND coalesce(c ->> 'exit_code', '0') ~ '^-?[0-9]{1,10}$'
        AND (table_name = 'runs' OR c ->> 'run_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
        AND (table_name <> 'executions' OR c ->> 'outcome' ~ '^[a-z_]{1,40}$'), false) END
$$;

-- Checks the chain of the rows that were just inserted, and makes the other tables from them.
CREATE OR REPLACE FUNCTION countersign.continue_chains() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bad record;
BEGIN
    SELECT a.origin INTO bad FROM added AS a
        WHERE a.sequence = 1 AND a.origin !~ '^countersign/evidence/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'row 1 does not belong to the chain of %', bad.origin
            USING ERRCODE = 'check_violation', CONSTRAINT = 'continues_chain';
    END IF;
    INSERT INTO countersign.origin_roles (origin, role)
        SELECT a.origin, session_user FROM added AS a WHERE a.sequence = 1
            AND NOT EXISTS (SELECT FROM countersign.origin_roles AS r WHERE r.origin = a.origin)
        ON CONFLICT DO NOTHING;
    SELECT DISTINCT a.origin INTO bad FROM added AS a WHERE NOT EXISTS
        (SELECT FROM countersign.origin_roles AS r WHERE r.origin = a.origin AND r.role = session_user) LIMIT 1;
    IF FOUND THEN
        -- Without the first row nobody is entered, and the chain has a gap.
        IF NOT EXISTS (SELECT FROM countersign.origin_roles AS r WHERE r.origin = bad.origin) THEN
            RAISE EXCEPTION 'the rows do not continue the chain of %: it begins with row 1', bad.origin
                USING ERRCODE = 'check_violation', CONSTRAINT = 'continues_chain';
        END IF;
        RAISE EXCEPTION 'the rows of % are those of another login', bad.origin
            USING ERRCODE = 'insufficient_privilege', CONSTRAINT = 'origin_role';
    END IF;

    SELECT l.origin, l.sequence INTO bad FROM (
        SELECT a.origin, a.sequence, a.table_name, a.hash, a.entry,
            CASE WHEN a.sequence = 1 THEN decode(repeat('00', 32), 'hex')
                 WHEN lag(a.sequence) OVER chain = a.sequence - 1 THEN lag(a.hash) OVER chain
                 ELSE (SELECT p.hash FROM countersign.ledger AS p
                       WHERE p.origin = a.origin AND p.sequence = a.sequence - 1) END AS previous
        FROM added AS a WINDOW chain AS (PARTITION BY a.origin ORDER BY a.sequence)) AS l
    WHERE l.previous IS NULL
        OR CASE WHEN l.entry IS NULL
           -- The link of a purged record cannot be computed; a later record has the digest of such links.
           THEN l.table_name NOT IN ('edges', 'diagnostics', 'execution_artifacts', 'file_contents', 'decisions',
                                     'executions', 'intents', 'blobs', 'planner_looks', 'attempt_ends', 'loop_ends',
                                     'loops', 'plans')
           ELSE sha256(l.previous || convert_to(l.entry, 'UTF8')) <> l.hash
                OR right(l.entry, length(l.table_name) + 12) <> ',"table":"' || l.table_name || '"}' END
    ORDER BY l.origin, l.sequence LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'row % does not continue the chain of %', bad.sequence, bad.origin
            USING ERRCODE = 'check_violation', CONSTRAINT = 'continues_chain';
    END IF;

    WITH parsed AS MATERIALIZED (
        SELECT a.origin, a.sequence, a.table_name, countersign.parsed(a.entry) -> 'columns' AS c FROM added AS a
        WHERE a.entry IS NOT NULL AND a.table_name IN
            ('executions', 'intents', 'execution_artifacts', 'edges', 'file_contents', 'diagnostics', 'plans', 'runs',
             'run_ends', 'authorizations', 'decisions', 'attempts', 'database_ids')),
    faults AS (
        SELECT countersign.refuse_number(p.origin, p.sequence) FROM parsed AS p
        WHERE coalesce(p.c ->> 'row', p.c ->> 'id') IS DISTINCT FROM p.sequence::text
           OR (p.table_name = 'database_ids' AND p.origin <> 'countersign/evidence/' || (p.c ->> 'id'))
           OR NOT countersign.is_readable(p.table_name, p.c)),
    new_executions AS (
        INSERT INTO countersign.executions
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c || jsonb_build_object(
                'success', p.c ->> 'success' = '1')) AS c (id text, tool_name text, timestamp bigint,
                success boolean, exit_code integer, duration_ms bigint, error_message text, run_id text, step_id text,
                step_index integer, about text, outcome text, error_code text, host text, risk_level text)
            WHERE p.table_name = 'executions'),
    new_intents AS (
        INSERT INTO countersign.intents
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c) AS c (id text, tool_name text,
                timestamp bigint, run_id text, step_id text, step_index integer, about text, host text, risk_level text)
            WHERE p.table_name = 'intents'),
    fields AS (
        SELECT p.origin, p.sequence, p.c ->> 'id' AS execution_id, f.field, countersign.searched(f.text) AS text
        FROM parsed AS p, LATERAL (VALUES ('tool', p.c ->> 'tool_name'), ('error', p.c ->> 'error_message'),
                                          ('arguments', countersign.flat(p.c ->> 'arguments_json'))) AS f (field, text)
        WHERE p.table_name IN ('executions', 'intents')
        UNION ALL
        SELECT p.origin, p.sequence, p.c ->> 'execution_id', p.c ->> 'artifact_type', countersign.searched(
            CASE WHEN p.c ->> 'blob' IS NULL THEN countersign.flat(p.c ->> 'content_json')
                 WHEN large.text IS NULL THEN countersign.parsed(p.c ->> 'content_json') ->> 'head'
                 WHEN p.c ->> 'artifact_type' IN ('stdout', 'stderr') THEN large.text
                 ELSE countersign.flat(large.text) END)
        FROM parsed AS p LEFT JOIN countersign.contents AS large ON large.digest = decode(p.c ->> 'blob', 'hex')
        WHERE p.table_name = 'execution_artifacts'),
    new_texts AS (
        INSERT INTO countersign.texts
            SELECT f.origin, f.sequence, f.execution_id, f.field, f.text, countersign.words(f.text)
            FROM fields AS f WHERE f.text <> ''),
    new_files AS (
        INSERT INTO countersign.files
            SELECT p.origin, p.sequence, p.c ->> 'execution_id', coalesce(p.c ->> 'path', p.c ->> 'target'),
                p.c ->> 'edge_type' IS NOT DISTINCT FROM 'AFFECTED'
            FROM parsed AS p
            WHERE p.table_name = 'file_contents' OR (p.table_name = 'edges' AND p.c ->> 'target_kind' = 'file')),
    new_codes AS (
        INSERT INTO countersign.codes
            SELECT p.origin, p.sequence, p.c ->> 'execution_id', coalesce(p.c ->> 'code', p.c ->> 'target')
            FROM parsed AS p
            WHERE (p.table_name = 'diagnostics' AND p.c ->> 'code' IS NOT NULL)
               OR (p.table_name = 'edges' AND p.c ->> 'target_kind' = 'diagnostic')),
    new_plans AS (
        INSERT INTO countersign.plans
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c) AS c (id text, plan_id text,
                title text, step_count integer, timestamp bigint)
            WHERE p.table_name = 'plans'),
    new_runs AS (
        INSERT INTO countersign.runs
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c) AS c (id text, plan_digest text,
                plan_id text, authorization_id text, workspace text, mode text, target text, parent_run text,
                attempt_id text, user_name text, timestamp bigint)
            WHERE p.table_name = 'runs'),
    new_authorizations AS (
        INSERT INTO countersign.authorizations
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c) AS c (id text, plan_digest text,
                status text, method text, user_name text, timestamp bigint)
            WHERE p.table_name = 'authorizations'),
    new_decisions AS (
        INSERT INTO countersign.decisions
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c) AS c (execution_id text,
                authorization_id text, run_id text, decision text, decided_by text, user_name text, note text,
                timestamp bigint)
            WHERE p.table_name = 'decisions'),
    new_attempts AS (
        INSERT INTO countersign.attempts
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c) AS c (id text, loop_id text,
                attempt integer, timestamp bigint)
            WHERE p.table_name = 'attempts'),
    new_run_ends AS (
        INSERT INTO countersign.run_ends
            SELECT p.origin, p.sequence, c.* FROM parsed AS p, jsonb_to_record(p.c) AS c (run_id text, status text,
                completed_steps integer, timestamp bigint)
            WHERE p.table_name = 'run_ends')
    SELECT count(*) INTO bad FROM faults;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION countersign.refuse_number(origin text, sequence bigint) RETURNS boolean
LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'row % does not belong to the chain of %', sequence, origin
        USING ERRCODE = 'check_violation', CONSTRAINT = 'continues_chain';
END $$;

CREATE OR REPLACE FUNCTION countersign.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'rows of countersign.% are never changed or deleted', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

-- The end of a chain, for a writer, who cannot read; no row if there is none.
CREATE OR REPLACE FUNCTION countersign.head_of(wanted text, OUT sequence bigint, OUT hash bytea) RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.sequence, l.hash FROM countersign.ledger AS l WHERE l.origin = wanted ORDER BY l.sequence DESC LIMIT 1
$$;
CREATE OR REPLACE FUNCTION countersign.hash_at(wanted text, at bigint) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.hash FROM countersign.ledger AS l WHERE l.origin = wanted AND l.sequence = at
$$;

-- Whether only other logins may add to an origin: somebody may have taken the name of an evidence before its first push.
CREATE OR REPLACE FUNCTION countersign.is_of_others(wanted text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(bool_and(r.role <> session_user), false) FROM countersign.origin_roles AS r WHERE r.origin = wanted
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['ledger', 'origin_roles', 'contents', 'executions', 'intents', 'texts', 'files', 'codes',
                                'plans', 'runs', 'run_ends', 'authorizations', 'decisions', 'attempts'] LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS refuses_change ON countersign.%I', name);
        EXECUTE format('CREATE TRIGGER refuses_change BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.%I
                        FOR EACH STATEMENT EXECUTE FUNCTION countersign.refuse_change()', name);
        EXECUTE format('REVOKE ALL ON countersign.%I FROM PUBLIC, countersign_writer, countersign_reader', name);
        EXECUTE format('GRANT SELECT ON countersign.%I TO countersign_reader', name);
    END LOOP;
END $$;
DROP TRIGGER IF EXISTS continues_chain ON countersign.ledger;
CREATE TRIGGER continues_chain AFTER INSERT ON countersign.ledger REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION countersign.continue_chains();

GRANT USAGE ON SCHEMA countersign TO countersign_writer, countersign_reader;
-- When and by whom a row was pushed is not the writer's to say.
GRANT INSERT (origin, sequence, table_name, hash, entry) ON countersign.ledger TO countersign_writer;
GRANT INSERT ON countersign.contents TO countersign_writer;

COMMIT;
