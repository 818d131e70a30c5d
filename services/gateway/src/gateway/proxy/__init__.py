"""Requests on their way to a service, and their responses on the way back."""
