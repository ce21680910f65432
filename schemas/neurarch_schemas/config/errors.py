"""Why no number can be given. The text reaches the user as the ``reason`` of a report."""


class CannotBuild(Exception):
    """The tensors cannot be derived; ``str(error)`` is the reason, one sentence without a full stop.

    ``keys`` are the config keys (canonical names) that stand in the way, where known.
    """

    def __init__(self, reason: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.keys = keys
