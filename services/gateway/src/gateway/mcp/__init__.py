"""The MCP server of the deployment: Attractor's tools and resources at /mcp."""
