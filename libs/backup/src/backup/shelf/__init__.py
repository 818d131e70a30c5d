"""The backup folder and what is in it: manifests, the log, copies of objects."""
