"""What counts as active, and what a tied matrix does."""

from __future__ import annotations

from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.modules.assembly import lm_head
from neurarch_schemas.modules.experts import fused_experts, router
from neurarch_schemas.modules.layers import linear, token_embedding
from neurarch_schemas.modules.tree import Module, children, stack


def model(tied: bool) -> Module:
    layer = Module(
        "Layer",
        children=children(
            gate=router(16, 8, correction_bias="correction"),
            experts=fused_experts(16, 4, 8, 2),
            attention=linear(16, 16, bias=False),
        ),
    )
    backbone = Module("Model", children=children(embed=token_embedding(100, 16), layers=stack(layer, times=5)))
    return Module(
        "LM", children=children(model=backbone, head=lm_head(16, 100, tied_to="model.embed.weight" if tied else None))
    )


EXPERTS = 8 * (2 * 4 * 16 + 16 * 4)
DENSE = 8 * 16 + 16 * 16


def test_untied_leaves_the_lookup_out() -> None:
    count = count_parameters(model(tied=False))
    assert count.total == 2 * 1600 + 5 * (EXPERTS + DENSE)
    assert count.buffers == 40
    assert count.stored == count.total + 40
    assert count.active == 1600 + 5 * (EXPERTS // 4 + DENSE)
    assert count.active_with_embeddings == count.active + 1600


def test_tied_counts_once_as_head() -> None:
    count = count_parameters(model(tied=True))
    assert count.total == 1600 + 5 * (EXPERTS + DENSE)
    assert count.active == count.active_with_embeddings == 1600 + 5 * (EXPERTS // 4 + DENSE)


def test_tied_inside_a_larger_model() -> None:
    count = count_parameters(Module("Outer", children=children(language=model(tied=True))))
    assert count.active == count.active_with_embeddings


def test_parts_sum_to_the_total() -> None:
    count = count_parameters(model(tied=False))
    assert sum(dict(count.by_part).values()) == count.total
    assert dict(count.by_part)["experts"] == 5 * EXPERTS
