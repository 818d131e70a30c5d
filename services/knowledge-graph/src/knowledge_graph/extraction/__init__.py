"""From the chunks of a document to its entities and relations. Pure: text in, records out."""
