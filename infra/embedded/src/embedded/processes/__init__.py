"""Child processes: started on a leash, kept running, and their ends explained."""
