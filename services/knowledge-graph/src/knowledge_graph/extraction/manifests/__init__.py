"""What manifests and schemas state: who depends on what, who owns it, what holds what."""
