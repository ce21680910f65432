"""``textDocument/documentSymbol``"""

from __future__ import annotations

from lsprotocol import types

from neurarch_lsp.features.outline import Symbol, symbols
from neurarch_lsp.features.poll import Poll
from neurarch_lsp.lsp.positions import Positions
from neurarch_lsp.lsp.python_requests import class_models
from neurarch_lsp.lsp.requests import in_steps, newest, off_loop
from neurarch_lsp.lsp.server import NeurarchServer

KINDS = {
    "object": types.SymbolKind.Module,
    "list": types.SymbolKind.Array,
    "string": types.SymbolKind.String,
    "number": types.SymbolKind.Number,
    "boolean": types.SymbolKind.Boolean,
    "null": types.SymbolKind.Null,
    "layers": types.SymbolKind.Struct,
}


async def handle(
    server: NeurarchServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    known = await newest(server, params.text_document)
    if known is None:
        return []
    analysed, positions = known
    if analysed.python is not None:
        from neurarch_lsp.features import python_outline

        models = await class_models(server, analysed)
        found = await off_loop(server, python_outline.symbols, models, analysed.document.text)
    elif analysed.analysis is None:
        return []
    else:
        found = await in_steps(server, symbols, analysed.analysis.document, analysed.analysis)
    convert = _nested if server.client.hierarchical_symbols else _flat
    return await in_steps(server, convert, found, analysed.document.uri, positions)


def _nested(symbols: tuple[Symbol, ...], uri: str, positions: Positions, poll: Poll) -> list[types.DocumentSymbol]:
    found: list[types.DocumentSymbol] = []
    for symbol in symbols:
        poll()
        found.append(
            types.DocumentSymbol(
                name=symbol.name,
                detail=symbol.detail or None,
                kind=KINDS[symbol.kind],
                range=positions.range(symbol.span),
                selection_range=positions.range(symbol.name_span),
                children=_nested(symbol.children, uri, positions, poll) or None,
            )
        )
    return found


def _flat(symbols: tuple[Symbol, ...], uri: str, positions: Positions, poll: Poll) -> list[types.SymbolInformation]:
    flat: list[types.SymbolInformation] = []
    for symbol in symbols:
        poll()
        _flatten(symbol, None, uri, positions, flat)
    return flat


def _flatten(
    symbol: Symbol, parent: str | None, uri: str, positions: Positions, into: list[types.SymbolInformation]
) -> None:
    place = types.Location(uri, positions.range(symbol.span))
    into.append(
        types.SymbolInformation(location=place, name=symbol.name, kind=KINDS[symbol.kind], container_name=parent)
    )
    for child in symbol.children:
        _flatten(child, symbol.name, uri, positions, into)
