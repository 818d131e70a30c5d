"""Sources: folders, buckets, sites and repositories that Attractor follows."""
