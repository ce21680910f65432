"""Hyper-connections (arXiv:2409.19606): several residual streams, mixed by small learned matrices around each block."""

from __future__ import annotations

from neurarch_schemas.modules.tree import Module, Tensor


def hyper_connection(hidden: int, streams: int, outputs: int, scales: int) -> Module:
    """``outputs`` mixing weights out of all ``streams`` at once, with a base for each and ``scales`` learned scales."""
    return Module(
        "HyperConnection",
        (
            Tensor("fn", (outputs, streams * hidden)),
            Tensor("base", (outputs,)),
            Tensor("scale", (scales,)),
        ),
        part="other",
        multiply_accumulates=outputs * streams * hidden,
        width_in=hidden,
        width_out=hidden,
    )


def hyper_head(hidden: int, streams: int) -> Module:
    """Joins the streams into one before the final norm."""
    return Module(
        "HyperHead",
        (
            Tensor("hc_fn", (streams, streams * hidden)),
            Tensor("hc_base", (streams,)),
            Tensor("hc_scale", (1,)),
        ),
        part="other",
        multiply_accumulates=streams * streams * hidden,
        width_in=hidden,
        width_out=hidden,
    )
