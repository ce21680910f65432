"""Small parts on their own: URIs, editor settings, client abilities, snippets, markup."""

from __future__ import annotations

import pytest
from lsprotocol import types

from neurarch_lsp.lsp import client_features, editor_settings, uris
from neurarch_lsp.lsp.snippets import plain_text
from neurarch_lsp.lsp.transport import content_length
from neurarch_lsp.render.markup import Table, Text, code, escape, to_markdown, to_plain


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/config.json", "/a/config.json"),
        ("file:///a%20b/%E6%A8%A1/config.json", "/a b/模/config.json"),
        ("file:///c%3A/m/config.json", "C:/m/config.json"),
        ("file:///C:/m/config.json", "C:/m/config.json"),
        ("file:///c:/m/config.json", "C:/m/config.json"),
        ("file://server/share/config.json", "//server/share/config.json"),
        ("file://localhost/a/config.json", "/a/config.json"),
        ("file:///a%23b/c%3Fd.json", "/a#b/c?d.json"),
        ("untitled:Untitled-1", None),
        ("vscode-vfs://github/x/config.json", None),
    ],
)
def test_paths_of_uris(uri: str, path: str | None) -> None:
    assert uris.to_path(uri) == path


@pytest.mark.parametrize("path", ["/a/b c/config.json", "/模型/ü.json", "/a#b/c?d.json", "/100%/x.json"])
def test_uris_of_paths_lead_back(path: str) -> None:
    assert uris.to_path(uris.from_path(path)) == path


def test_spellings_of_one_uri_meet() -> None:
    assert uris.key("file:///c%3A/m/config.json") == uris.key("file:///C:/m/config.json")
    assert uris.key("file:///a%20b.json") == uris.key("file:///a b.json")
    assert uris.file_name("file:///a/%C3%BC.json") == "ü.json"
    assert uris.file_name("untitled:config.json") == "config.json"


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (None, "utf-16"),
        ([], "utf-16"),
        (["utf-16"], "utf-16"),
        (["utf-16", "utf-8"], "utf-8"),
        (["utf-16", "utf-8", "utf-32"], "utf-32"),
        (["utf-7"], "utf-16"),
    ],
)
def test_encoding_is_ours_to_choose(offered: list[str] | None, chosen: str) -> None:
    assert client_features.choose_encoding(offered) == chosen


def test_a_client_that_says_nothing_can_nothing() -> None:
    found = client_features.resolve(types.InitializeParams(capabilities=types.ClientCapabilities()))
    assert found == client_features.ClientFeatures()


@pytest.mark.parametrize(
    "given",
    [
        {"serving": {"kvCacheGb": 8}, "severity": {"moe-no-aux-loss": "off"}, "transformersVersion": "5.0"},
        {"serving": {"kv-cache-gb": 8}, "severity": {"moe-no-aux-loss": "off"}, "transformers-version": "5.0"},
    ],
)
def test_camel_case_and_hyphens_mean_the_same(given: dict[str, object]) -> None:
    found = editor_settings.parse(given)
    assert found.problems == ()
    assert found.table == {
        "serving": {"kv-cache-gb": 8},
        "severity": {"moe-no-aux-loss": "off"},
        "transformers-version": "5.0",
    }


@pytest.mark.parametrize("given", [3, "x", [1], {"serving": 3}, {"severity": {"x": "loud"}}, {"syntaxErrors": "maybe"}])
def test_wrong_settings_are_named_and_left_out(given: object) -> None:
    found = editor_settings.parse(given)
    assert found.problems
    assert found.table == {}
    assert found.syntax_errors == "auto"


def test_syntax_is_left_to_editors_that_report_it() -> None:
    auto, on, off = (editor_settings.EditorSettings(syntax_errors=value) for value in ("auto", "on", "off"))  # type: ignore[arg-type]
    json_rules, python_rules = editor_settings.JSON_SYNTAX, frozenset({"python-syntax"})
    assert editor_settings.hidden_rules(auto, "Visual Studio Code", "json") == json_rules
    assert editor_settings.hidden_rules(auto, "Visual Studio Code", "python") == python_rules
    assert not editor_settings.hidden_rules(auto, "Neovim", "json")
    assert not editor_settings.hidden_rules(on, "Visual Studio Code", "json")
    assert editor_settings.hidden_rules(off, "Neovim", "json") == json_rules
    assert not editor_settings.hidden_rules(off, "Neovim", "toml")


@pytest.mark.parametrize(
    ("snippet", "text"),
    [
        ('"a": ${1:32}', '"a": 32'),
        ('"a": ${1|true,false|}', '"a": true'),
        ('"a": "$1"', '"a": ""'),
        ('{"x": "${1:a}", "y": ${2:1.5}}', '{"x": "a", "y": 1.5}'),
        ("\\$5 \\} \\\\", "$5 } \\"),
        ("${1:{\\}}", "{}"),
    ],
)
def test_snippets_without_placeholders(snippet: str, text: str) -> None:
    assert plain_text(snippet) == text


@pytest.mark.parametrize(
    ("header", "length"),
    [
        (b"Content-Length: 12\r\n", 12),
        (b"content-length:12\r\n", 12),
        (b"Content-Type: x\r\n", None),
        (b"Content-Length: -1\r\n", None),
        (b"Content-Length: 99999999999\r\n", None),
        (b"nonsense\r\n", None),
    ],
)
def test_headers(header: bytes, length: int | None) -> None:
    assert content_length(header) == length


def test_markup_of_the_users_words_is_shown_as_it_is() -> None:
    hostile = "a*b_c`d[e](f)<g>|h"
    assert to_plain([Text(escape(hostile))]) == hostile
    assert code("a`b") == "`` a`b ``"
    table = Table(("k", "v"), (("1", "22"), ("333", "4")), 1)
    assert to_plain([table]) == "  k     v\n  1    22\n> 333   4"
    lines = to_markdown([table]).split("\n")
    assert lines[0].startswith("| k ")
    assert "**333**" in lines[3]
