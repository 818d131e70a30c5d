-- What a document's file name is found by, as `title_terms`; of a document that was indexed before, null: its name itself
-- is looked at.
ALTER TABLE indexed_document ADD COLUMN name_terms text[];
