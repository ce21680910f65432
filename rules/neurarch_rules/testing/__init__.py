"""The public test kit for rule authors: a rule's page is its documentation, its ``--explain`` text and its test."""
