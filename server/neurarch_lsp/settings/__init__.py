"""Settings files: found beside or above a document, validated, merged into the plain options that rules read."""
