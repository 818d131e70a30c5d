-- The folder of a file, as its source tells: some manifests name what they speak of by it alone.
ALTER TABLE graphed_document ADD COLUMN folder text NOT NULL DEFAULT '';
