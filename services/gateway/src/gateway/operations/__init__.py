"""What owners see of the event streams: how far services are behind, and which events they gave up."""
