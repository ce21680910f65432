"""The public test kit for rule authors: a rule's Markdown page is its documentation, its ``--explain`` text and its test."""
