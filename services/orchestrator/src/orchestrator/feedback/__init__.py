"""Users' feedback on answers, and its overview for owners."""
