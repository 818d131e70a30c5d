"""One stream of what changes in a workspace, from the streams on which services speak to each other."""
