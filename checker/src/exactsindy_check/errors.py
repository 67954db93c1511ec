"""The three ways a check can end without a proof."""


class Unreadable(Exception):
    """A file is missing, damaged, or not of this kind."""


class Refuted(Exception):
    """A step of the proof, or a claim, does not hold."""


class NotChecked(Exception):
    """The file may be right, but this checker cannot tell: another version, or numbers outside its range."""
