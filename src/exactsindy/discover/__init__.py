"""One call from data to a selected, certified model."""
