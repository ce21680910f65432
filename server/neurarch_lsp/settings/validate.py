"""Validation of a settings table; imports pydantic, so only where a settings file exists."""

from __future__ import annotations

from neurarch_lsp.settings.find import SettingsError, SettingsFile


def validate(found: SettingsFile) -> None:
    """Raises SettingsError naming every wrong key, with the rules and categories that exist where a name is unknown."""
    from pydantic import ValidationError

    from neurarch_lsp.settings.model import SettingsModel

    try:
        SettingsModel.model_validate(dict(found.data))
    except ValidationError as error:
        problems = [f"{_path(item['loc'])}: {_say(item['type'], item['msg'])}" for item in error.errors()]
        raise SettingsError(found.path, "; ".join(problems)) from error
    _check_names(found)


def _check_names(found: SettingsFile) -> None:
    from neurarch_rules.engine import discovery, selection

    plugins = tuple(found.data.get("plugins", ()))
    rules = discovery.all_rules(plugins)
    data = found.data
    patterns = [
        *data.get("select", ()),
        *data.get("extend-select", ()),
        *data.get("ignore", ()),
        *data.get("severity", ()),
    ]
    for entry in data.get("ignores", ()):
        patterns += entry.get("rules", ())
        if "rule" in entry:
            patterns.append(entry["rule"])
    unknown = [name for name in selection.unknown(patterns, rules) if name not in discovery.META_RULES]
    if unknown:
        from difflib import get_close_matches

        names = [rule.RULE.name for rule in rules] + list(selection.CATEGORIES)
        hints = get_close_matches(unknown[0], names, n=1)
        raise SettingsError(
            found.path, f"unknown rule {unknown[0]!r}" + (f" (did you mean {hints[0]!r}?)" if hints else "")
        )


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "settings"


def _say(kind: str, message: str) -> str:
    return "unknown key" if kind == "extra_forbidden" else message.removeprefix("Value error, ")
