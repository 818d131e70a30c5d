-- The SHA-256 of an image as it was sent (hex): ingestion knows by it whether the image is also a document.
SET LOCAL lock_timeout = '2s';
ALTER TABLE attachment ADD COLUMN content_hash text;
