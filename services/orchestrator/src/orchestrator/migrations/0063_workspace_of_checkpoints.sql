-- LangGraph's checkpoints are of a workspace: seen in its transactions, and in those that delete what ended runs left.
-- The tables are as the library makes them; its statements name their keys, which begin with the thread, a run's id.
CREATE TABLE IF NOT EXISTS checkpoints (
    thread_id text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    checkpoint_id text NOT NULL,
    parent_checkpoint_id text,
    type text,
    checkpoint jsonb NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE TABLE IF NOT EXISTS checkpoint_blobs (
    thread_id text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    channel text NOT NULL,
    version text NOT NULL,
    type text NOT NULL,
    blob bytea,
    PRIMARY KEY (thread_id, checkpoint_ns, channel, version)
);
CREATE TABLE IF NOT EXISTS checkpoint_writes (
    thread_id text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    checkpoint_id text NOT NULL,
    task_id text NOT NULL,
    idx integer NOT NULL,
    channel text NOT NULL,
    type text,
    blob bytea NOT NULL,
    task_path text NOT NULL DEFAULT '',
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

-- The version before writes outside of a workspace's transactions, while processes are replaced one by one.
CREATE FUNCTION workspace_of_thread() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    NEW.workspace_id := (SELECT workspace_id FROM run WHERE id::text = NEW.thread_id);
    RETURN NEW;
END $$;

DO $$
DECLARE
    target text;
BEGIN
    FOREACH target IN ARRAY ARRAY['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'] LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN workspace_id uuid DEFAULT current_workspace()', target);
        EXECUTE format('UPDATE %I AS saved SET workspace_id = run.workspace_id FROM run '
                       'WHERE run.id::text = saved.thread_id', target);
        EXECUTE format('DELETE FROM %I WHERE workspace_id IS NULL', target);
        EXECUTE format('ALTER TABLE %I ADD CHECK (workspace_id IS NOT NULL)', target);
        EXECUTE format('CREATE TRIGGER earlier_version BEFORE INSERT ON %I FOR EACH ROW '
                       'WHEN (NEW.workspace_id IS NULL) EXECUTE FUNCTION workspace_of_thread()', target);
        EXECUTE format('DROP POLICY IF EXISTS system ON %I', target);
        PERFORM protect_queue(target::regclass);
    END LOOP;
END $$;
