-- What owners limit their workspace to, besides the operator's limits; null: nothing.
CREATE TABLE workspace_quota (
    workspace_id uuid PRIMARY KEY,
    documents bigint CHECK (documents > 0),
    bytes bigint CHECK (bytes > 0),
    sources bigint CHECK (sources > 0)
);
SELECT protect('workspace_quota');
