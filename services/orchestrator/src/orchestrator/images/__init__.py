"""Images that messages show: taken in behind walls, kept in the object store, deleted with their session."""
