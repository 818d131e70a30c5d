"""The one public door of Attractor."""
