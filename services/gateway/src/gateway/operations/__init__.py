"""What owners see of the streams of events: how far services are behind, and what they gave up."""
