"""``--report`` on Python files that are broken, too large to build, or leave a shape open."""

from __future__ import annotations

from pathlib import Path

from neurarch_lsp.card.python_report import python_entry, python_text

HEAD = "import torch.nn as nn\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        "


def test_an_unknown_shape_makes_the_count_a_lower_bound(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(HEAD + "self.a = nn.Linear(int(input()), 2)\n")
    text = "\n".join(python_text(str(path), ()))
    assert "at least 3 parameters, estimated: the shape of a.weight is unknown" in text
    parameters = python_entry(f"{path}:M()", (), ())["parameters"]
    assert parameters["total"] is None
    assert parameters["at_least"] == 3
    assert not parameters["exact"]


def test_a_known_count_is_no_lower_bound(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(HEAD + "self.a = nn.Linear(3, 2)\n")
    assert "at least" not in "\n".join(python_text(str(path), ()))
    parameters = python_entry(str(path), (), ())["models"][0]["parameters"]
    assert parameters["total"] == 8
    assert "at_least" not in parameters


def test_a_file_that_cannot_be_parsed_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import torch.nn as nn\nx = = 3\n")
    assert list(python_text(str(path), ())) == [str(path), "  cannot be parsed: line 2: invalid syntax"]
    assert python_entry(str(path), (), ())["error"] == "cannot be parsed: line 2: invalid syntax"


def test_a_file_without_module_classes(tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text("x = 3\n")
    assert list(python_text(str(path), ())) == [str(path), "  no module class is defined here"]


def test_a_file_that_does_not_end_before_its_classes(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    path.write_text("while True: pass\n" + HEAD + "pass\nclass N(M): pass\nclass Plain: pass\n")
    reason = "the file's own statements cannot be followed to their end: evaluation takes more than 1,500,000 steps"
    models = python_entry(str(path), (), ())["models"]
    assert [(each["name"], each["line"], each["parameters"]["reason"]) for each in models] == [
        ("M", 3, reason),
        ("N", 7, reason),
    ]
    parameters = python_entry(f"{path}:M()", (), ())["parameters"]
    assert parameters["reason"] == "evaluation takes more than 1,500,000 steps"


def test_an_error_that_holds_shared_values_is_told(tmp_path: Path) -> None:
    path = tmp_path / "raising.py"
    path.write_text(HEAD + "t = (0,)\n        for i in range(60): t = (t, t)\n        raise ValueError((1, t))\n")
    assert "not known: ValueError" in "\n".join(python_text(str(path), ()))
