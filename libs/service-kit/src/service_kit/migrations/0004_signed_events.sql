-- Until when events without a signature are taken: for an hour after the upgrade from a version that signed none. What is
-- still on the streams then, and what services of that version write until they are replaced, is not lost.
DO $$
DECLARE
    is_new boolean := NOT EXISTS (SELECT FROM migration WHERE name NOT LIKE 'service_kit/%');
BEGIN
    EXECUTE format(
        'CREATE FUNCTION unsigned_until() RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $f$ SELECT %L::timestamptz $f$',
        CASE WHEN is_new THEN now() ELSE now() + interval '1 hour' END
    );
END $$;
