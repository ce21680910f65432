"""What the README shows is what the program prints; what it names is there."""

from __future__ import annotations

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from neurarch_lsp.__main__ import main
from neurarch_lsp.settings.resolve import Resolver

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
EXAMPLES = [text for language, text in BLOCKS if language == "text"]


def plain(text: str) -> str:
    """Lines are wrapped and aligned by hand in the README."""
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0])
def test_output_is_as_shown(example: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_COLOR", "1")
    command, _, shown = example.partition("\n")
    _, program, *arguments = shlex.split(command)
    assert program == "neurarch-lsp"
    main(arguments)
    printed = plain(capsys.readouterr().out)
    at = 0
    for piece in filter(None, map(plain, re.split(r"^\.\.\.$", shown, flags=re.MULTILINE))):
        assert piece in printed[at:]
        at = printed.index(piece, at) + len(piece)


def test_settings_are_valid(tmp_path: Path) -> None:
    (settings,) = (text for language, text in BLOCKS if language == "toml")
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    options = Resolver().options_for(str(tmp_path / "models" / "legacy" / "config.json"))
    assert options.serving.context == tomllib.loads(settings)["tool"]["neurarch-lsp"]["serving"]["context"]
    assert options.ignores


def test_hooks_and_links_exist() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    for name in ("neurarch-lsp", "neurarch-lsp-fix"):
        assert f"id: {name}\n" in hooks
        assert name in README
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / link).exists(), link


def test_options_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    known = capsys.readouterr().out
    ours = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours)):
        assert option in known, option


def test_the_page_of_the_api_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "api.md"
    monkeypatch.chdir(ROOT / "docs")
    assert doctest.testfile(str(page), module_relative=False).failed == 0
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link
