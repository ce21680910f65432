"""One file a section of the card; each has ``section(...)``, which returns None where it has nothing to say."""
