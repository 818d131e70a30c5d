"""What a conversation is about: topics of the session's world, derived from what its user says."""
