"""Readers of a key, and hand-written meanings."""

from __future__ import annotations

from neurarch_schemas.catalogue.load import ConfigType, config_type, index
from neurarch_schemas.catalogue.meanings import meaning, meanings
from neurarch_schemas.catalogue.reads import classes_reading, is_read


def record(name: str) -> ConfigType:
    found = config_type(name)
    assert found is not None
    return found


def test_which_classes_read_a_key() -> None:
    m2 = record("minimax_m2")
    assert classes_reading(m2, "router_aux_loss_coef") == ("MiniMaxM2ForCausalLM",)
    assert classes_reading(m2, "use_qk_norm") == ()
    assert is_read(m2, "use_qk_norm") is False
    assert is_read(m2, "tie_word_embeddings") is True
    assert classes_reading(record("gpt2"), "n_head") == classes_reading(record("gpt2"), "num_attention_heads") != ()
    assert is_read(record("deepseek_v3"), "aux_loss_alpha") is False


def test_meanings_are_single_sentences_about_known_keys() -> None:
    known: set[str] = set()
    for name in index()["types"]:
        facts = record(name)
        known.update(facts.properties, facts.synonyms, facts.keywords)
    known.update(("factor", "rope_type", "mrope_section", "original_max_position_embeddings", "mrope_interleaved"))
    assert len(meanings()) >= 200
    for key, sentence in meanings().items():
        assert sentence.endswith("."), key
        assert sentence[0].isupper() or sentence.startswith("null"), key
        assert len(sentence) < 200, key
    assert {key for key in meanings() if key not in known} <= REMOTE_CODE_KEYS
    assert meaning("hidden_size") is not None
    assert meaning("no_such_key") is None


# Keys of configs that transformers has no class for, but which are often met.
REMOTE_CODE_KEYS = {
    "aux_loss_alpha",
    "attention_sink",
    "gradient_checkpointing",
    "qk_norm",
    "seq_aux",
    "seq_length",
    "use_routing_bias",
}
