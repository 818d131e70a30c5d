"""The vectors of texts, as clients of the OpenAI API ask for them."""
