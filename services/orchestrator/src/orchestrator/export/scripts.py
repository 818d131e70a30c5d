"""Finds scripts that typst's fonts lack. Pure.

The fonts in its wheel (Libertinus, New Computer Modern, DejaVu Sans Mono) have Latin, Greek, Cyrillic, Armenian,
Hebrew, Arabic and Devanagari.
"""

from __future__ import annotations

import unicodedata

# By the first word of a letter's Unicode name.
UNDRAWN = {
    "CJK": "Chinese characters",
    "HIRAGANA": "Hiragana",
    "KATAKANA": "Katakana",
    "BOPOMOFO": "Bopomofo",
    "HANGUL": "Hangul",
    "THAI": "Thai",
    "KHMER": "Khmer",
    "MYANMAR": "Burmese",
    "TIBETAN": "Tibetan",
    "BENGALI": "Bengali",
    "GURMUKHI": "Gurmukhi",
    "GUJARATI": "Gujarati",
    "ORIYA": "Odia",
    "TAMIL": "Tamil",
    "TELUGU": "Telugu",
    "KANNADA": "Kannada",
    "MALAYALAM": "Malayalam",
    "SINHALA": "Sinhala",
    "ETHIOPIC": "Ethiopic",
    "MONGOLIAN": "Mongolian",
    "SYRIAC": "Syriac",
    "THAANA": "Thaana",
}


def undrawn(text: str) -> list[str]:
    """Returns the names of the scripts in the text that would show as empty boxes."""
    letters = (letter for letter in set(text) if letter > "\u0700")
    words = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return sorted(UNDRAWN[word] for word in words & UNDRAWN.keys())
