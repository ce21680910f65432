"""A JSON text read tolerantly: plain values for everybody, source ranges for whoever asks by JSON pointer."""
# The interface that the rest of the code uses; the parser behind it may change.
#
# class JsonDocument:
#     uri: str
#     version: int | None
#     text: str
#     data: JSONValue                       plain values, as json.loads gives them (the last duplicate key wins)
#     problems: tuple[SyntaxProblem, ...]
#     lines: LineIndex                      (documents/line_index.py) offset <-> (line, column)
#     def value_span(pointer) -> Span | None
#     def key_span(pointer) -> Span | None      of the key's string, quotes included
#     def pair_span(pointer) -> Span | None     key through value
#     def nearest_span(pointer) -> Span         for a key that is absent: nearest written ancestor's key, or its brace
#     def pointer_at(offset) -> (pointer, "key" | "value" | "object" ...)
#     def edited(edits, version) -> JsonDocument    incremental
# documents/json_edits.py: replace_value, rename_key, remove_pair, insert_pair ... -> tuple[TextEdit, ...]
