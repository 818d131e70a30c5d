"""Patterns of words that show which kind of answer a text gives: a time, a duration, a reason, a step."""

from __future__ import annotations

import re

from orchestrator.citations.numbers import SPELLED
from orchestrator.citations.question import Kind

MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|ma[iy]|june?|juni|july?|juli|aug(?:ust)?"
    r"|sep(?:tember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
UNIT = (
    r"(?:milli)?seconds?|ms|minutes?|hours?|days?|weeks?|months?|years?|quarters?"
    r"|sekunden?|minuten?|stunden?|tagen?|tage?|wochen?|monaten?|monate?|jahren?|jahre?"
)
# "How long" also asks for a length.
LENGTH = (
    r"characters?|chars?|columns?|words?|lines?|pages?|bytes?|[kcm]?m|(?:kilo|centi|milli)?(?:meter|metre)s?|miles?|feet|inch(?:es)?"
    r"|zeichen|spalten?|wörtern?|wörter|zeilen|seiten|(?:kilo|zenti|milli)?metern?"
)
_NUMERAL = "|".join([r"\d[\d.,]{0,20}", *SPELLED])
TIME = re.compile(
    rf"\b{MONTH}\b|\b(?:1[89]|20)\d\d\b|\b\d{{1,2}}:\d\d\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d{{1,2}}\.\d{{1,2}}\b"
    rf"|\b\d{{1,2}}\s?(?:uhr|[ap]\.?m|o['’]clock)\b|\b(?:within|innerhalb von|binnen) (?:{_NUMERAL}|an?|eine[mrs]?)\b",
    re.IGNORECASE,
)
_OF = r"[\s-]++(?:\w{1,40}[\s-]){0,2}?"
DURATION = re.compile(
    rf"\b(?:{_NUMERAL}){_OF}(?:{UNIT}|{LENGTH})\b|\b(?:an?|half|several|eine?[rnm]?|halbe[rsnm]?){_OF}(?:{UNIT})\b"
    r"|\baged?\s(?:of\s)?\d|\d:\d\d (?:to|until|bis|-|–) \d"
    r"|\b(?:from|von) \d[\d:.]{0,4}(?: (?:uhr|am|pm))? (?:to|until|bis) \d"
    r"|\d\s?(?:km/h|kph|mph|m/s|knots|[kmgt]?b(?:it|yte)?s?/s)\b|\bper second\b",
    re.IGNORECASE,
)
FRACTION = re.compile(
    r"\b(?:half|an? (?:third|quarter)|two[ -]thirds|three[ -]quarters|none|hälfte|drittel|viertel|keine[nrs]?)\b",
    re.IGNORECASE,
)
FREQUENCY = re.compile(
    rf"\b(?:every|each|once|twice|daily|hourly|weekly|monthly|yearly|quarterly|nightly|times an?|jede[nrs]?|täglich"
    rf"|stündlich|wöchentlich|monatlich|einmal|zweimal)\b|\bper (?:{UNIT})\b",
    re.IGNORECASE,
)
# "Since 2019" is a time, not a reason.
REASON = re.compile(
    rf"\b(?:because|since(?!\s(?:then|when|last|\d|the (?:beginning|start)\b|{MONTH}\b"
    r"|(?:its|their|his|her|our) (?:beginning|birth|creation|foundation|introduction|launch|release|start)\b))"
    r"|due to|owing to|thanks to"
    r"|(?<=, )so (?:it|they|he|she|we|the|nobody)|so that|reasons?|causes?d?|therefore|thus|hence|led to|leads to"
    r"|in order to|in an effort to|aim(?:s|ed)?|would have|as it|as they|as the|to avoid|to prevent|to ensure|otherwise"
    r"|weil|denn|da|damit|wegen|deshalb|daher|dadurch|um zu|grund|ursache)\b",
    re.IGNORECASE,
)
# The whole sentence is a reason for the one before it.
REASON_FOR_IT = re.compile(
    r"\b(?:because|reasons?|due to|owing to|thanks to|weil|wegen|ursache|grund (?:ist|war|dafür|hierfür))\b",
    re.IGNORECASE,
)
OUTCOME = re.compile(
    r"\b(?:if|when|once|otherwise|unless|then|as soon as|until|wenn|falls|sobald|dann|sonst|ohne|without)\b",
    re.IGNORECASE,
)
CONDITION_HEADING = re.compile(r"\b(?:symptoms?|if|when|then|problem|wenn|falls|dann)\b", re.IGNORECASE)
REASON_HEADING = re.compile(r"\b(?:why|causes?|reasons?|rationale|motivation|warum|ursache|grund)\b", re.IGNORECASE)
# Text under these headings often gives a reason without a word for it.
BACKGROUND = re.compile(
    r"\b(?:context|background|problem|purpose|goals?|kontext|hintergrund|zweck|ziele?)\b", re.IGNORECASE
)
# What a rule says of a certain case only: "For comments, the limit is 72 characters".
CASE = re.compile(
    r"[\W_]*+(?:(?:but|and|however|aber|und),? )?(?:for|if|when|unless|where|für|bei|wenn|falls|sofern)\s"
    r"([^,;:.\d]{3,200}),",
    re.IGNORECASE,
)
EXCEPTION = re.compile(
    r"\b(?:provided that|except (?:for|that|when|if)|unless|only (?:if|when)|solely|optional|(?:okay|acceptable) to"
    r"|sofern|außer|ausnahmsweise)\b",
    re.IGNORECASE,
)
ADVICE = re.compile(
    r"\b(?:recommend(?:s|ed)?|preferred|suggest(?:s|ed)?|advised?|discouraged|should|always|never|must|forbidden"
    r"|prohibited|allowed|permissible|permitted|acceptable|empfohlen|empfehlen|grundsätzlich|immer|nie"
    r"|soll(?:en|te|ten)?|muss|müssen|dürfen|darf|braucht|verboten|erlaubt|zulässig)\b",
    re.IGNORECASE,
)
# A sum or a share, which answers what something costs.
COSTS = re.compile(
    r"[$€£₹¥]\s?\d"
    r"|\d\s?(?:[$€£₹%]|(?:\w{1,20} )?(?:percent|per cent|dollars?|euros?|cents?|pounds?|prozent|franken)\b)",
    re.IGNORECASE,
)
IN_BRACKETS = re.compile(r"\(([^()\n]{8,160})\)")
YEAR = re.compile(r"\b\d{3,4}\b")
_INSTRUCTS = (
    r"(?:look|call|restart|run|open|close|check|ask|use|stop|start|set|tell|cancel|turn|press|leave|remove|add|send"
    r"|report|contact|wait|choose|enter|install|put|prefer|avoid|limit|keep|always|never|do not|don['’]t)\b"
    r"|\w{2,30}en sie\b"
)
STEP = re.compile(
    rf"^\W*(?:step \d\b|\d+[.)]|(?:first|then|next)\b|{_INSTRUCTS})|\b(?:should|must|have to|call|restart)\b",
    re.IGNORECASE,
)
RULE = re.compile(rf"[\W_]*+(?:{_INSTRUCTS})", re.IGNORECASE)
# How something is done or made up.
MANNER = re.compile(
    r"\b(?:by (?:\w{1,20} )?\w{1,30}ing|using|consists?|should|must|always|never|ha(?:s|ve) to|needs? to"
    r"|indem|mittels|mithilfe|muss|müssen|soll(?:en|te)?|besteht|verwendet)\b",
    re.IGNORECASE,
)
OF_KIND: dict[Kind, re.Pattern[str]] = {
    "time": TIME,
    "duration": DURATION,
    "frequency": FREQUENCY,
    "reason": REASON,
    "step": STEP,
}
