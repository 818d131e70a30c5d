-- Where a chunk stands in the Markdown of its document, in characters; null for chunks indexed before, and if unknown.
ALTER TABLE chunk ADD COLUMN markdown_start integer, ADD COLUMN markdown_end integer;
