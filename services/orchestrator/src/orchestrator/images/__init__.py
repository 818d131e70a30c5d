"""Images that messages show: decoded behind walls, kept in the object store, deleted with their session."""
