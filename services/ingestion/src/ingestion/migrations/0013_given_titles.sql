-- The title and tags that a user gave a document: they stay when it is converted again. Null: those of the file.
ALTER TABLE document ADD COLUMN given_title text, ADD COLUMN given_tags text[];
