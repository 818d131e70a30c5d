"""What users say of answers, and what owners see of it."""
