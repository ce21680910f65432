"""How caches grow with the sequence: windows, compressed entries, buffers of what is not compressed yet."""

from __future__ import annotations

from neurarch_schemas.accounting.kv_cache import KVCache, kv_cache
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.tree import Cache, Module, children, stack


def test_an_encoder_caches_nothing() -> None:
    tree = Module("Model", children=children(layers=stack(attention(8, 2, cached=False), times=3)))
    assert kv_cache(tree) is None


def test_windows_stop_growing_and_transformers_keeps_one_position_less() -> None:
    cache = KVCache(((Cache("sliding", per_token=10, window=16), 2),))
    assert cache.per_token == 20
    assert (cache.at(5), cache.at(1000)) == (100, 320)
    assert cache.transformers_at(1000) == 300


def test_compressed_entries_appear_when_whole() -> None:
    cache = KVCache(((Cache("compressed", per_token=6, tokens_per_entry=4), 1),))
    assert [cache.at(tokens) for tokens in (3, 4, 7, 8)] == [0, 6, 6, 12]
    assert cache.per_token == 2


def test_a_buffer_empties_with_every_whole_group() -> None:
    cache = KVCache(((Cache("compressed", per_token=5, remainder_of=4), 1),))
    assert [cache.at(tokens) for tokens in range(6)] == [0, 5, 10, 15, 0, 5]
    assert cache.per_token == 0


def test_state_may_come_into_being_late() -> None:
    cache = KVCache(((Cache("recurrent", constant=7, constant_from=4), 3), (Cache("convolution", constant=2), 1)))
    assert (cache.at(3), cache.at(4)) == (2, 23)
    assert cache.constant == 23


def test_cross_attention_holds_the_source_at_once() -> None:
    cache = KVCache(((Cache("cross", per_token=8, source_length=100), 1),))
    assert cache.per_token == 0
    assert cache.at(1) == cache.at(9999) == 800
