"""The gateway's own routes and the API documentation."""
