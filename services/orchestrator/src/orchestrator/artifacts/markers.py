"""The markers of citations in texts, such as [1] and [1, 2]. Imports nothing of ours."""

from __future__ import annotations

import re

MARKER = re.compile(r"\[(\d{1,3}(?:, ?\d{1,3}){0,11})\]")
