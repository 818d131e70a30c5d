-- Leased work: what every table needs that joins in (see service_kit/work.py, which also names the columns).

CREATE FUNCTION notify_work() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_' || TG_ARGV[0], '');
    RETURN NULL;
END $$;

-- Wakes the workers that listen on <schema>_<channel> when a row is queued, or is due earlier than before.
CREATE FUNCTION wake_workers(target regclass, channel text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER work_inserted AFTER INSERT ON %s FOR EACH ROW '
                   'WHEN (NEW.state = ''queued'') EXECUTE FUNCTION notify_work(%L)', target, channel);
    EXECUTE format('CREATE TRIGGER work_queued AFTER UPDATE ON %s FOR EACH ROW '
                   'WHEN (NEW.state = ''queued'' AND (OLD.state <> ''queued'' OR NEW.available_at < OLD.available_at)) '
                   'EXECUTE FUNCTION notify_work(%L)', target, channel);
END $$;
