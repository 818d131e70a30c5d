-- Statistics on workspace_id tell the planner that a workspace which came after them has no rows: it then reads all of
-- the workspace, by the first column of an index, for each row that it could have looked up. Without them it takes every
-- workspace for a small part of the table, and looks rows up. Every table needs this.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT relnamespace::regnamespace::text AS schema_name, relname
        FROM pg_attribute
        INNER JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = 'workspace_id' AND relnamespace = current_schema()::regnamespace AND relkind = 'r'
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN workspace_id SET STATISTICS 0', one.relname);
        -- Earlier servers keep what they have gathered before.
        IF current_setting('server_version_num')::integer >= 180000 THEN
            PERFORM pg_clear_attribute_stats(one.schema_name, one.relname, 'workspace_id', false);
        END IF;
    END LOOP;
END $$;
