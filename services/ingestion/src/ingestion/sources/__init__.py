"""Sources: folders, buckets, sites and repositories that documents come from by themselves."""
