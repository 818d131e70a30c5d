"""The artifact of a session: its versions, and editing by hand."""
