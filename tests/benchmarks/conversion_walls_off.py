"""Preloaded by the fork server of `conversion_walls`, so that it finds no walls on this machine."""

import sys
from importlib import import_module

from service_kit.sandbox.walls import Walls

import_module("ingestion.conversion.preload")
sys.modules["__main__"].__dict__["survey"] = lambda _: Walls((), 0, None, files=False, calls=False, tasks=False)
