"""Makes the Neovim pictures of docs/images: a real Neovim on a terminal (tmux), drawn by Chromium.

usage: python tests/editors/neovim_screenshots.py OUTPUT_FOLDER
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT = 118, 30
PALETTE = (
    "#1d1f21", "#cc6666", "#b5bd68", "#f0c674", "#81a2be", "#b294bb", "#8abeb7", "#c5c8c6",
    "#666666", "#d54e53", "#b9ca4a", "#e7c547", "#7aa6da", "#c397d8", "#70c0b1", "#eaeaea",
)  # fmt: skip
INIT = """
vim.o.swapfile, vim.o.termguicolors, vim.o.number, vim.o.signcolumn = false, true, true, 'yes'
vim.o.winborder, vim.o.shortmess, vim.o.laststatus, vim.o.ruler = 'rounded', vim.o.shortmess .. 'I', 0, false
vim.diagnostic.config({ virtual_text = { spacing = 2 }, severity_sort = true })
vim.lsp.config('neurarch_lsp', { cmd = vim.json.decode(vim.env.SERVER) })
vim.lsp.enable('neurarch_lsp')
vim.api.nvim_create_autocmd('LspAttach', { callback = function(event)
  vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
  vim.lsp.codelens.refresh({ bufnr = event.buf })
end })
"""


class Terminal:
    def __init__(self, folder: Path, command: str, environment: dict[str, str]) -> None:
        self.socket = str(folder / "tmux")
        variables = [item for name, value in environment.items() for item in ("-e", f"{name}={value}")]
        self.run("new-session", "-d", "-s", "x", "-x", str(WIDTH), "-y", str(HEIGHT), *variables, command)

    def run(self, *arguments: str) -> str:
        return subprocess.run(
            ["tmux", "-S", self.socket, "-f", os.devnull, *arguments], capture_output=True, text=True, check=True
        ).stdout

    def keys(self, *keys: str) -> None:
        self.run("send-keys", "-t", "x", *keys)

    def wait(self, text: str, gone: bool = False, seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while (text in self.run("capture-pane", "-pt", "x")) is gone:
            if time.monotonic() > end:
                raise TimeoutError(f"{text!r}:\n" + self.run("capture-pane", "-pt", "x"))
            time.sleep(0.05)

    def shot(self, target: Path) -> None:
        time.sleep(0.4)
        draw(self.run("capture-pane", "-ept", "x"), target)


def colour(codes: list[int]) -> str:
    """The colour of an extended SGR sequence (5;n or 2;r;g;b)."""
    if codes[0] == 2:
        return f"rgb({codes[1]},{codes[2]},{codes[3]})"
    number = codes[1]
    if number < 16:
        return PALETTE[number]
    if number >= 232:
        return f"rgb({', '.join([str(8 + 10 * (number - 232))] * 3)})"
    steps = (0, 95, 135, 175, 215, 255)
    number -= 16
    return f"rgb({steps[number // 36]},{steps[number // 6 % 6]},{steps[number % 6]})"


def to_html(text: str) -> str:
    style: dict[str, str] = {}
    pieces: list[str] = []
    for part in re.split(r"(\x1b\[[0-9;:]*m)", text):
        match = re.fullmatch(r"\x1b\[([0-9;:]*)m", part)
        if match is None:
            written = ";".join(f"{name}:{value}" for name, value in style.items())
            pieces.append(f'<span style="{written}">{html.escape(part)}</span>' if part else "")
            continue
        codes = [int(code or 0) for code in match[1].replace(":", ";").split(";")]
        at = 0
        while at < len(codes):
            code = codes[at]
            if code == 0:
                style = {}
            elif code == 1:
                style["font-weight"] = "bold"
            elif code == 3:
                style["font-style"] = "italic"
            elif code in (4, 21):
                style["text-decoration"] = "underline"
            elif code == 7:
                style["color"], style["background"] = style.get("background", "#1d1f21"), style.get("color", "#c5c8c6")
            elif code in (38, 48, 58):
                name = {38: "color", 48: "background", 58: "text-decoration-color"}[code]
                length = 5 if codes[at + 1] == 2 else 3
                style[name] = colour(codes[at + 1 : at + length])
                at += length - 1
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style["color"] = PALETTE[code - 30 if code < 90 else code - 82]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                style["background"] = PALETTE[code - 40 if code < 100 else code - 92]
            elif code in (22, 23, 24, 39, 49, 59):
                names = {
                    22: "font-weight",
                    23: "font-style",
                    24: "text-decoration",
                    39: "color",
                    49: "background",
                    59: "",
                }
                style.pop(names[code], None)
            at += 1
    return "".join(pieces)


def draw(screen: str, target: Path) -> None:
    page = (
        "<meta charset=utf-8><style>body{margin:0;background:#14161b}pre{margin:12px;color:#c5c8c6;"
        "font:14px/1.25 'DejaVu Sans Mono',monospace}</style><pre>" + to_html(screen.rstrip("\n")) + "</pre>"
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "screen.html"
        source.write_text(page, encoding="utf-8")
        subprocess.run(
            [os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={folder}/profile", f"--screenshot={target}",
             f"--window-size={WIDTH * 9 - 30},{HEIGHT * 18 + 8}", source.as_uri()],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip


def main(output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    program = str(Path(sys.executable).with_name("nvim"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "my-model" / "config.json"
        model.parent.mkdir()
        source = (Path(__file__).parent / "vscode" / "config.json").read_text(encoding="utf-8")
        source = (
            source.replace('  "_🤖": "混合專家",\n', "")
            .replace('"_": "🧠", ', "")
            .replace('"vocab_size"', '"vocab_sise"')
        )
        model.write_text(source, encoding="utf-8")
        (folder / "init.lua").write_text(INIT)
        environment = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
        environment |= {
            "SERVER": json.dumps([sys.executable, "-m", "neurarch_lsp"]),
            "LANG": "C.UTF-8",
            "TERM": "tmux-256color",
        }
        command = f"{program} --clean -n --cmd 'set runtimepath^={ROOT}/editors/neovim' -u {folder}/init.lua {model}"
        terminal = Terminal(folder, command, environment)
        try:
            terminal.wait("vocab_sise (did you mean")
            terminal.wait("head_dim 128")
            terminal.shot(output / "neovim-diagnostics.png")
            terminal.keys("/num_key_value", "Enter", "K")
            terminal.wait("KV heads")
            terminal.shot(output / "neovim-hover.png")
            terminal.keys("Escape", "gg", "/vocab_sise", "Enter", "gra")
            terminal.wait("Explain")
            terminal.shot(output / "neovim-quickfix-before.png")
            terminal.keys("1", "Enter")
            terminal.wait("vocab_sise", gone=True)
            terminal.shot(output / "neovim-quickfix-after.png")
        finally:
            terminal.run("kill-server")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
