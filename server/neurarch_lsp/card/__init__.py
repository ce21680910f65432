"""The model card: everything the numbers of one file can say, as sections of plain blocks that any renderer shows."""
