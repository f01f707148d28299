-- Format 2.

-- The permission bits of a file before and after, `0o7777` of them: null where it is absent, where they are
-- not known, and in every row of format 1. What is null is not part of what is hashed, so that those rows
-- are still what their links say.
ALTER TABLE file_contents ADD COLUMN before_mode INTEGER;
ALTER TABLE file_contents ADD COLUMN after_mode INTEGER;
