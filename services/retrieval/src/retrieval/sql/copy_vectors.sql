COPY chunk_vector (workspace_id, chunk, document, model, embedding) FROM STDIN
