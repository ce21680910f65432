"""Configs written in Python code: ``LlamaConfig(hidden_size=4096)`` read as the config.json it stands for.

The result is a ``JsonDocument`` whose places lie on the arguments, so that whatever works on a config.json works on it.
"""
