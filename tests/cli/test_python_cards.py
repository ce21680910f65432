"""``--report FILE.py`` in every format that ``--report`` has, and what comparison says of Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neurarch_lsp.__main__ import main

SOURCE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(width, 4)
        self.register_buffer("scale", torch.ones(3))


class Needy(nn.Module):
    def __init__(self, width):
        super().__init__()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(SOURCE)
    return path


def test_markdown_and_html_hold_the_classes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--report", str(file), "--output-format", "markdown"]) == 0
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if line.startswith("| ")]
    assert rows[1] == "| Net | 6 | Net() | 36 | 3 |  | exact |"
    assert rows[2].startswith("| Needy | 13 |  | not known |")
    assert "needs the argument 'width'" in rows[2]
    target = file.with_name("card.html")
    assert main(["--report", str(file), "-o", str(target)]) == 0
    page = target.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert re.findall(r"<td[^>]*>([^<]*)</td>", page)[:7] == ["Net", "6", "Net()", "36", "3", "", "exact"]


def test_an_expression_lists_its_tensors(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--report", f"{file}:Net(width=16)", "--output-format", "markdown"]) == 0
    assert "| fc.weight | 4 x 16 | 1 | parameter |" in capsys.readouterr().out


def test_a_folder_takes_a_card_a_file(file: Path) -> None:
    other = file.with_name("other.py")
    other.write_text("x = 1\n")
    assert main(["--report", str(file), str(other), "-o", str(file.parent / "cards")]) == 0
    assert "no module class" in (file.parent / "cards" / "other.py.html").read_text(encoding="utf-8")
    assert 'href="net.py.html"' in (file.parent / "cards" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [["--output-format", "svg"], ["-o", "card.svg"]])
def test_there_is_no_drawing(
    file: Path, options: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    assert main(["--report", str(file), *options]) == 2
    assert "svg is the drawing of a config" in capsys.readouterr().err
    assert not Path("card.svg").exists()


def test_a_missing_file_is_status_2_in_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("text", "markdown", "html", "json"):
        assert main(["--report", str(tmp_path / "none.py"), "--output-format", form]) == 2
        printed = capsys.readouterr()
        assert "No such file" in printed.err
        assert "No such file" in printed.out


def test_comparison_is_between_configs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--compare", str(file), str(file)]) == 2
    assert "--compare takes configs" in capsys.readouterr().err
    assert main(["--compare", str(file.with_name("none.py"))]) == 2
    assert "No such file" in capsys.readouterr().err


def test_the_page_lists_the_submodules_that_the_lens_shows_too(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--report", str(file), "--output-format", "markdown"]) == 0
    printed = capsys.readouterr().out
    assert "36 parameters as Net()" in printed
    assert "| fc | Linear | 36 | 100.0 % |" in printed
