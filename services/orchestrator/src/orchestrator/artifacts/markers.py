"""Citation markers in texts, such as [1] and [1, 2]. Imports no other module of Attractor."""

from __future__ import annotations

import re

MARKER = re.compile(r"\[(\d{1,3}(?:, ?\d{1,3}){0,11})\]")
