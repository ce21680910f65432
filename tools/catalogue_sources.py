"""Which config keys the source of a model family reads: textual facts found in its syntax tree."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

CONFIG_NAME = re.compile(r"^(config|cfg|.*_config|.*_cfg)$")


def is_config(node: ast.expr) -> bool:
    """``config``, ``self.config``, ``text_config``, ``self.config.text_config``, ``self.config.get_text_config()``."""
    if isinstance(node, ast.Name):
        return bool(CONFIG_NAME.match(node.id))
    if isinstance(node, ast.Attribute):
        return bool(CONFIG_NAME.match(node.attr))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("get_text_config", "get_encoder", "get_decoder")
    return False


def keys_read(tree: ast.AST) -> list[str]:
    """Names read from something that looks like a config, in order of first appearance."""
    found: dict[str, None] = {}
    methods = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_config(node.func.value)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=value, attr=name, ctx=ast.Load()) if is_config(value):
                if name not in methods and not name.startswith("__"):
                    found[name] = None
            case ast.Call(func=ast.Name("getattr" | "hasattr"), args=[value, ast.Constant(name), *_]) if is_config(
                value
            ):
                found[str(name)] = None
    return list(found)


def config_annotation(node: ast.ClassDef) -> str | None:
    """The config class a module class is constructed with, where its constructor says so."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == "config":
            return class_name(item.annotation)
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            for argument in item.args.args:
                if argument.arg == "config" and argument.annotation is not None:
                    return class_name(argument.annotation)
    return None


def class_name(annotation: ast.expr) -> str | None:
    names = re.findall(r"\w+Config\b", ast.unparse(annotation))
    return names[0] if len(set(names)) == 1 else None


def family_reads(paths: list[Path]) -> dict[str, Any]:
    """``{class or function: [config class or null, [keys]]}`` over the modeling files of a family."""
    result: dict[str, Any] = {}
    for path in paths:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                keys, config = keys_read(node), config_annotation(node)
            elif isinstance(node, ast.FunctionDef):
                keys, config = keys_read(node), None
            else:
                continue
            if keys:
                result[node.name] = [config, keys]
    return result


def keyword_reads(tree: ast.AST) -> dict[str, Any]:
    """Keys a config class takes out of its extra keyword arguments, with the literal default where there is one."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("kwargs"), attr="pop" | "get" | "setdefault"),
                args=[ast.Constant(str(key)), *rest],
            ):
                default = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
                if found.get(key) is None:
                    found[key] = default
            case ast.Compare(left=ast.Constant(str(key)), comparators=[ast.Name("kwargs")]):
                found.setdefault(key, None)
            case ast.Subscript(value=ast.Name("kwargs"), slice=ast.Constant(str(key)), ctx=ast.Load()):
                found.setdefault(key, None)
    return found


def attributes_read(tree: ast.AST) -> list[str]:
    """Names read from ``self`` in the methods of a config class."""
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Load()):
                found[name] = None
    return list(found)
