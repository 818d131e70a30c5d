"""Words corrections as the rules know them: "I was wrong about our supplier, it is Veltins". No I/O."""

from __future__ import annotations

import re

_IT_IS = r"[,:;]? (?:and |but )?(?:it|that|he|she|they) (?=(?:is|are)\b)"
_WHAT = r"(?P<what>[^,;:]{1,60}?)"
_RIGHT = r"(?P<right>[^,;:]{1,60}?)(?=[.!]{0,3}$)"
_OURS = r"(?:my|our|the|mein|meine|unser|unsere|der|die|das)"
_NAMED = r"(?=(?:on |in |at )?(?-i:[A-ZÄÖÜ\d]))"
_REWORDED = [
    (re.compile(rf"(?i)^(?:\w+, )?{told}"), words)
    for told, words in (
        # What was wrong is named by its noun,
        (
            rf"i (?:misspoke|was wrong|was mistaken|made a mistake|got it wrong) (?:about|with|on) {_WHAT}{_IT_IS}",
            r"no, \g<what> ",
        ),
        (rf"i (?:misspelled|mistyped|mixed up) {_WHAT}{_IT_IS}", r"no, \g<what> "),
        (rf"i got {_WHAT} wrong{_IT_IS}", r"no, \g<what> "),
        (rf"(?:i (?:gave|told|sent) you the )?wrong (?P<what>[\w-]{{1,40}}){_IT_IS}", r"no, the \g<what> "),
        (rf"correction (?:to|of|for) {_WHAT}: ", r"no, \g<what> is "),
        (rf"(?P<what>{_OURS} [^,;:]{{1,60}}? (?:is|ist)) (?:actually|eigentlich|in fact) {_NAMED}", r"no, \g<what> "),
        # or by its value.
        (
            rf"(?P<wrong>(?-i:[A-ZÄÖÜ])[\w-]{{1,40}}) (?:is|was) wrong{_IT_IS}{_RIGHT}",
            r"no, it \g<right>, not \g<wrong>",
        ),
        (rf"i (?:said|wrote|typed) (?P<wrong>[^,;:]{{1,40}}?){_IT_IS}{_RIGHT}", r"no, it \g<right>, not \g<wrong>"),
        (
            r"(?P<what>[^,;:]{1,60} (?:is|are)) not (?P<wrong>(?:on |in |at )?(?-i:[A-ZÄÖÜ\d])[^,;:]{0,60})[,;] "
            rf"(?:but )?(?:it|he|she|they) (?:is|are) {_NAMED}",
            r"\g<what> not \g<wrong>, but ",
        ),
        # "I do not live in Bonn, I live in Cologne" are two statements.
        (
            r"(?P<what>(?:i|we) (?:(?:do|am|are) not|no longer|stopped) [^,;:]{1,80}), (?:but )?(?=(?:i|we) )",
            r"\g<what>, and ",
        ),
    )
]


def reworded(sentence: str) -> str:
    """Returns the sentence, if it is such a correction in words that the rules know, otherwise as it is."""
    for told, words in _REWORDED:
        sentence = told.sub(words, sentence)
    return sentence
