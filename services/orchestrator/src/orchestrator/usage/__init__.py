"""What models took, and what they may take."""
