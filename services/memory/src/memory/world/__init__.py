"""The world state of workspaces and sessions: documents, the operations that change them, and their history."""
