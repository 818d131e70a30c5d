"""What every Attractor service would otherwise repeat."""
