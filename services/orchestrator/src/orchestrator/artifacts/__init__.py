"""The artifact of a session: its versions, and what people do to it by hand."""
