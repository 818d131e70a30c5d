-- The document's language, as its conversion found it (ISO 639-1); null where it is unknown, which reads as English.
ALTER TABLE graphed_document ADD COLUMN language text;
