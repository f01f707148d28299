-- Format 2.

-- The permission bits (`0o7777`) of a file before and after a change. Null if the file is absent, if they are not
-- known, and in rows of format 1. Null columns are not hashed, so that the links of those rows remain valid.
ALTER TABLE file_contents ADD COLUMN before_mode INTEGER;
ALTER TABLE file_contents ADD COLUMN after_mode INTEGER;
