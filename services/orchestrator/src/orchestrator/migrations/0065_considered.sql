-- What the search of a run considered, as its messages show it: RetrievalOutcome. Null: there was no search.
ALTER TABLE run ADD COLUMN considered jsonb;
