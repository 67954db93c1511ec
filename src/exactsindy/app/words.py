"""Sentences of the package, which name arguments of Python, in the words of the page: its boxes and buttons."""

from __future__ import annotations

import re

#: The box that cuts trajectories, and the part where columns get their meaning.
CUT, COLUMNS = "Cut at missing values and long breaks", "Meaning of the columns"
_PLACES = (
    (r"Pass gaps='split' to cut the trajectory there", f"Tick {CUT!r} below"),
    (r"(?:pass )?gaps='split'", f"{CUT!r}"),
    (r"[:,] trajectory='\.\.\.'", f", under {COLUMNS!r} below"),
    (r"pass trajectory=(?:'[^']*'|\"[^\"]*\")", f"say so under {COLUMNS!r} below"),
    (r"name the time column, time='\.\.\.'", f"say under {COLUMNS!r} below which column is the time"),
    (r"For the map pass form='map' \(--map on the command line\)", "For the map choose 'next sample (map)' above"),
    (r"leave form='map' \(--map\) out", "choose 'first derivative' above"),
    (r"Pass targets=\[?\(?(?:'[^']*'|\"[^\"]*\")(?:,[^)\]]*)?[)\]]?", "Choose 'first derivative' above"),
    (r"Give library=\.\.\. if you know its terms", "Choose other candidate terms above if you know them"),
    (r"allow more with k_max=", "try 'one more' below"),
    (r"Allow more `seconds`", "Choose more time above"),
)
_SAID = tuple((re.compile(pattern), text) for pattern, text in _PLACES)


def on_page(sentence: str) -> str:
    """Return a sentence that speaks of the page where it spoke of arguments.

    Examples
    --------
    >>> on_page("Pass gaps='split' to cut the trajectory there, or fill them in.")
    "Tick 'Cut at missing values and long breaks' below, or fill them in."
    """
    for pattern, text in _SAID:
        sentence = pattern.sub(text, sentence)
    return sentence
