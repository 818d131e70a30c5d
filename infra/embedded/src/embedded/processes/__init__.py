"""Child processes: started on a leash, kept running, and their crashes explained."""
