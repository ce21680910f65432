"""The language server. The only package that imports pygls and lsprotocol; one file per LSP method in ``methods/``."""
