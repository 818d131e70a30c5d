"""Files and archives that callers send."""
