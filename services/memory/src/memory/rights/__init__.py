"""What people may ask of what is known about them: to forget it, to hand it over, to keep it no longer than agreed."""
