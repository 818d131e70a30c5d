"""The audit trail: who did what to which resource, when, and whether it was allowed."""
