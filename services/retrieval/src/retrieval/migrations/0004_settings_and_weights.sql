-- How a workspace is searched where a request does not say; null is the deployment's default.
CREATE TABLE search_settings (
    workspace_id uuid PRIMARY KEY,
    mode text,
    k1 double precision,
    b double precision,
    rrf_k integer,
    legs jsonb,
    version integer NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL DEFAULT now()
);
SELECT protect('search_settings');

-- What the features of the fusion weigh in an embedding space, where that is not its default. `scaled`: the cosine
-- enters between the worst and the best of a query. `fitted_on` is null for weights that were set by hand.
CREATE TABLE space_weights (
    workspace_id uuid NOT NULL,
    model text NOT NULL,
    dims integer NOT NULL,
    weights jsonb NOT NULL,
    scaled boolean NOT NULL,
    fitted_on text,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, model, dims)
);
SELECT protect('space_weights');
