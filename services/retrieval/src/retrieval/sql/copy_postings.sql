COPY posting (workspace_id, term, chunk, document, frequency, length) FROM STDIN
