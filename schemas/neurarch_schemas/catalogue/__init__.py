"""What may be written into a config: recorded facts about every model type of transformers, as JSON Schema data."""
