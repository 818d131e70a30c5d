"""Work on untrusted content: in a walled process for each piece, outside the event loop."""
