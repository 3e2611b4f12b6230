"""What to try when a query that found nothing was perhaps meant in another way than it was read."""

import re

from ..ports.search import QueryMode

# Dots, brackets and single stars are as common in plain code, so they say nothing.
_REGEX_LIKE = re.compile(r"[|\\]|[.)\]][*+?]|^\^|\$$")
_FILTER = re.compile(r"(?<!\S)-?(?:(?:file|lang|repo|branch):\S|case:(?:yes|no|auto)\b)")
# A filter's value is no text that was looked for in lines.
_FILTER_VALUE = re.compile(
    r"(?<!\S)-?(?:f|file|l|lang|case|t|type|r|repo|b|branch):" r'(?:"(?:\\.|[^"\\])*"|\S*)'
)
_TEXT_LIKE = re.compile(r'["\\]|\w\(')


def hint(text: str, mode: QueryMode) -> str:
    """One sentence for a query that found nothing; "" where nothing suggests another reading."""
    if mode is QueryMode.ZOEKT:
        if not _TEXT_LIKE.search(_FILTER_VALUE.sub(" ", text)):
            return ""
        return (
            "words are regular expressions, in quotes too; "
            "mode literal looks for a text as it stands, without filters"
        )
    if _FILTER.search(text):
        return f"mode {mode} takes filters for a part of the text; mode zoekt applies them"
    if mode is QueryMode.LITERAL and _REGEX_LIKE.search(text):
        return "mode literal looks for these characters themselves; mode regex gives them a meaning"
    if mode is QueryMode.REGEX and len(text) > 1 and text[0] == text[-1] == '"':
        return "mode regex takes the quotes for a part of the text; leave them out"
    return ""
