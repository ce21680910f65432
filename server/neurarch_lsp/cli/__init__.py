"""The command line. Imports neither pygls nor lsprotocol."""
