"""The version of the running code, for all that tell or compare it; importing this loads no more."""

from importlib.metadata import version

VERSION = version("attractor-service-kit")
