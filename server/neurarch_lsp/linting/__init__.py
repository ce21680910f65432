"""Running the rules over files: which files, one file, many files, and what is remembered between runs."""
