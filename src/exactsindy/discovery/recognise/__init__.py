"""Recognise data that mislead: what about them makes laws that differ look alike."""
