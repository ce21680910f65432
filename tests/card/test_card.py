"""The card of a known model, in every format, and what holds of any card."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from neurarch_lsp.__main__ import main
from neurarch_lsp.card.assumptions import Assumptions, from_settings
from neurarch_lsp.card.build import build_card
from neurarch_lsp.card.sections.fields import compact
from neurarch_lsp.card.similar import catalogue
from neurarch_lsp.card.structure import rows
from neurarch_lsp.render.card_html import card_html, card_svg
from neurarch_lsp.render.card_markdown import card_markdown
from neurarch_lsp.render.card_text import card_text, sparkline
from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Serving
from neurarch_schemas.analysis import Analysis

ROOT = Path(__file__).parent.parent.parent
HERON = ROOT / "examples" / "heron-moe-230b" / "config.json"
TERN = ROOT / "examples" / "tern-3b" / "config.json"
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))


def analysis(path: Path = HERON, **changes: Any) -> Analysis:
    data = json.loads(path.read_text(encoding="utf-8")) | changes
    found = analyse_text("model/config.json", json.dumps(data))
    assert found is not None
    return found


def published(name: str) -> Analysis:
    found = next(known for known in catalogue() if known.name == name).analysis()
    assert found is not None
    return found


def section(key: str, found: Analysis | None = None, assumed: Assumptions | None = None) -> dict[str, Any]:
    card = build_card("model/config.json", found or analysis(), assumed=assumed)
    one = card.section(key)
    assert one is not None
    return dict(one.data)


def test_head() -> None:
    head = section("head", analysis(num_mtp_modules=3))
    assert head["scale"] == "229B total, 10.4B active (4.6 %)"
    assert head["kind"] == "sparse MoE decoder"
    assert head["attention"] == "GQA 48:8 with QK-Norm and partial RoPE"
    assert head["layers"] == "62 GQA; 62 sparse MoE"
    assert head["qk_norm"] == "per layer"
    assert head["norm"] == "RMSNorm, pre-norm, eps 1e-06"
    assert head["tied_embeddings"] is False
    assert head["experts"] == "256, top 8 a token"
    assert head["positions"] == "partial RoPE, theta 5,000,000, 0.5 of each head"
    assert head["mtp_modules"] == 3
    assert {"GQA", "QK-Norm", "MoE", "routing bias", "MTP"} <= set(head["concepts"])


def test_cache() -> None:
    cache = section("cache")
    assert cache["bytes_per_token"] == 248 * 1024
    assert cache["level"] == "High"
    levels = Assumptions(cache_levels=(("fine", 0), ("much", 249)))
    assert section("cache", assumed=levels)["level"] == "fine"


def test_fields_that_nobody_reads_are_told() -> None:
    fields = section("fields", analysis(mlp_intermediate_size=8192, attn_type_list=[1] * 62))
    assert {"mlp_intermediate_size", "attn_type_list"} <= set(fields["not_read"])
    assert "hidden_size" not in fields["not_read"]
    assert compact([1] * 62) == "[1x62]"
    assert compact("x" * 10**6).endswith("...")


def test_no_checkpoint_here() -> None:
    found = section("checkpoint")
    assert found["derived"] == 228_689_764_864
    assert found["checkpoint"] is None


def test_scales_of_a_quantized_checkpoint_stand_apart() -> None:
    blocks = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}
    found = section("checkpoint", analysis(quantization_config=blocks))
    assert found["scale_scalars"] > 10_000_000
    assert found["checkpoint"] == found["derived"] + found["scale_scalars"]
    assert found["delta"] == 0


def test_memory_of_training_is_told_by_recipe_and_by_sharding() -> None:
    training = section("training", assumed=Assumptions(length=4096, data_parallel=4, lora_targets="q_proj,v_proj"))
    total = 16 * 228_689_748_992
    ways = {way["way"]: way for way in training["spread"]}
    assert ways["one device"]["bytes_on_each"] - training["checkpointed_activation_bytes"] == total
    assert ways["ZeRO 3 (FSDP) over 4"]["bytes_on_each"] == (total + training["checkpointed_activation_bytes"]) // 4
    assert training["lora_parameters"] == 62 * 16 * ((3072 + 6144) + (3072 + 1024))


def test_activations_of_float32_training_take_twice_the_bytes() -> None:
    training = section("training", assumed=Assumptions(length=4096))
    total = {one["recipe"]: one["bytes"] - 16 * 228_689_748_992 for one in training["memory"]}
    assert total["adam-fp32"] == 2 * total["adam-mixed"] == 2 * training["checkpointed_activation_bytes"]


def test_an_audio_encoder_works_for_every_sequence_and_for_no_generated_token() -> None:
    """Whisper's large encoder: 32 layers of 12 h^2 and two convolutions over n = 1,500, 4 h n^2 a layer besides."""
    found = published("openai/whisper-large-v3-turbo")
    width, positions, layers = 1280, 1500, 32
    matrices = 2 * (layers * 12 * width**2 + 3 * 128 * width + 3 * width**2) * positions
    training = section("training", found, Assumptions(length=448, training_batch=1))
    (tower,) = training["towers"]
    assert tower == {
        "tower": "audio",
        "positions": positions,
        "forward_flops": matrices + layers * 4 * width * positions**2,
        "included": True,
    }
    assert training["forward_flops"] > tower["forward_flops"]
    assert training["checkpointed_activation_bytes"] == 2 * width * (layers * positions + 4 * 448)
    text = card_text(build_card("m/config.json", found))
    assert "Decode    at most 9," in text


def test_towers_and_what_a_decoder_reads_of_them_stand_in_the_head_and_the_cache() -> None:
    found = published("meta-llama/Llama-3.2-11B-Vision-Instruct")
    head = section("head", found)
    assert head["kind"] == "dense cross-attending decoder"
    assert head["towers"] == [{"tower": "vision", "layers": 40, "parameters": 863_567_379}]
    text = card_text(build_card("m/config.json", found))
    assert "Vision tower  40 layers, 864M parameters" in text
    assert "210 MB a sequence: 32 KiB for each of the 6,404 positions it reads" in text
    assert "cross GQA 32:8, dense" in text


def test_a_vision_tower_is_told_apart() -> None:
    training = section("training", published("llava-hf/llava-v1.6-vicuna-7b-hf"), Assumptions(length=4096))
    assert [(tower["positions"], tower["included"]) for tower in training["towers"]] == [(577, False)]
    assert training["forward_flops"] < 60e12


def test_an_encoder_decodes_nothing() -> None:
    found = analyse_text("m/config.json", '{"model_type": "bert", "architectures": ["BertModel"]}')
    assert found is not None
    card = build_card("m/config.json", found)
    text = card_text(card)
    assert "Forward" in text
    assert "Decode" not in text
    assert card.section("cache") is None


@pytest.mark.parametrize("pair", ["cache-levels=3,2,1", "cache-levels=1,2", "recipe=sgd"])
def test_assumptions_out_of_range_are_usage_errors(pair: str) -> None:
    assert main(["--report", str(HERON), "--assume", pair]) == 2


def test_levels_are_set_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--report", str(HERON), "--assume", "cache-levels=100,249,500"]) == 0
    assert "248 KiB in bfloat16: Moderate" in capsys.readouterr().out


def test_the_full_structure_has_a_row_a_block() -> None:
    """Input, embedding, RoPE, 62 layers of norm, attention, add, norm, experts, add, and final norm, head, output."""
    found = rows(analysis(), expand=True)
    assert len(found) == 378
    assert [row.kind for row in found[3:9]] == ["norm", "attention", "add", "norm", "experts", "add"]
    assert found[3].name == "model.layers.0.input_layernorm"
    folded = rows(analysis())
    assert len(folded) == 12
    assert {row.times for row in folded[3:9]} == {62}


def test_rows_account_for_every_parameter() -> None:
    for path in (HERON, TERN):
        found = analysis(path)
        assert found.parameters is not None
        assert sum(row.parameters * row.times for row in rows(found)) == found.parameters.total


def test_will_it_forward() -> None:
    assert section("structure")["forwards"] is True
    broken = section("structure", analysis(num_key_value_heads=7))
    assert broken["forwards"] is False
    assert "48 attention heads are not a multiple of 7 KV heads" in broken["problems"][0]["message"]


def test_a_billion_layers_fold() -> None:
    assert len(rows(analysis(num_hidden_layers=10**9))) == 12
    assert len(rows(analysis(num_hidden_layers=10**9), expand=True)) == 12


def test_a_file_without_numbers_says_why() -> None:
    card = build_card("x/config.json", analysis(model_type="nobody_knows"))
    assert "nobody_knows" in card_text(card)
    assert card.section("cache") is None


def test_hostile_text_stays_text() -> None:
    found = analysis(evil="<script>alert(1)</script>", **{"<img src=x>": "|`**"})
    card = build_card("x/config.json", found)
    page = card_html(card)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(?<!\\)<", card_markdown(card)), "Markdown would read it as HTML"


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "path", "rect", "circle"):
            self.open.append(tag)
        self.outside += [
            value for name, value in attrs if name in ("src", "href") and value and not value.startswith("#")
        ]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


@pytest.mark.parametrize("path", [HERON, TERN], ids=["moe", "dense"])
def test_html_is_one_file_without_scripts(path: Path) -> None:
    page = card_html(build_card(str(path), analysis(path)))
    parser = Links()
    parser.feed(page)
    assert parser.open == []
    assert parser.outside == []
    assert "url(" not in page
    assert len(page.encode()) < 300_000
    assert page.count("<h1") == 1


def test_svg_stands_alone() -> None:
    from xml.etree import ElementTree

    drawing = ElementTree.fromstring(card_svg(build_card("x/config.json", analysis())))
    assert drawing.tag.endswith("svg")
    texts = [element.text for element in drawing.iter() if element.tag.endswith("text")]
    assert "x 62" in texts
    assert "MoE 256, top 8" in texts


def test_markdown_tables_are_whole() -> None:
    for line in card_markdown(build_card("x/config.json", analysis())).splitlines():
        if line.startswith("|"):
            assert line.endswith("|")


def test_sparkline() -> None:
    assert sparkline([0.0, 1.0], 2) == "▁█"
    assert sparkline([0.0, 0.0], 2) == "▁▁"


def test_json_follows_the_published_schema(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    foreign = tmp_path / "config.json"
    foreign.write_text("{}")
    unknown = tmp_path / "unknown" / "config.json"
    unknown.parent.mkdir()
    unknown.write_text('{"model_type": "nobody_knows", "hidden_size": 5}')
    main(["--report", str(HERON), str(TERN), str(foreign), str(unknown), "--output-format", "json", "--card"])
    entries = json.loads(capsys.readouterr().out)
    jsonschema.validate(entries, SCHEMA)
    assert set(entries[0]["card"]) >= {"head", "cache", "checkpoint", "parts", "structure", "training", "serving"}


def test_output_file_and_folder(tmp_path: Path) -> None:
    assert main(["--report", str(HERON), "-o", str(tmp_path / "card.html")]) == 0
    assert (tmp_path / "card.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["--report", str(ROOT / "examples"), "-o", str(tmp_path / "cards")]) == 0
    names = {path.name for path in (tmp_path / "cards").iterdir()}
    assert {"index.html", "heron-moe-230b.html", "tern-3b.html"} <= names
    index = (tmp_path / "cards" / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r'href="([^"]+)"', index)) <= names


def test_several_models_go_into_one_file_where_the_format_allows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--report", str(HERON), str(TERN)]
    assert main([*both, "-o", str(tmp_path / "cards.json")]) == 0
    assert len(json.loads((tmp_path / "cards.json").read_text(encoding="utf-8"))) == 2
    assert main([*both, "-o", str(tmp_path / "cards.md")]) == 0
    assert len(re.findall(r"^# ", (tmp_path / "cards.md").read_text(encoding="utf-8"), re.MULTILINE)) == 2
    for options in (["-o", str(tmp_path / "card.html")], ["--output-format", "html"], ["--output-format", "svg"]):
        assert main([*both, *options]) == 2
        assert "-o FOLDER takes a page each" in capsys.readouterr().err
    assert not (tmp_path / "card.html").exists()
    assert main([*both, "--output-format", "json", "-o", str(tmp_path / "folder")]) == 2
    assert "-o FILE.json" in capsys.readouterr().err
    (tmp_path / "v1.html").mkdir()
    assert main([*both, "-o", str(tmp_path / "v1.html")]) == 0
    assert (tmp_path / "v1.html" / "index.html").exists()


def test_an_adapter_of_a_published_model_is_counted_against_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rank 32 on the seven matrices of Llama 3.1 8B's 32 layers: 83,886,080 (32 layers x 32 x 81,920)."""
    file = tmp_path / "lora" / "adapter_config.json"
    file.parent.mkdir()
    names = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    settings = {"peft_type": "LORA", "r": 32, "lora_alpha": 64, "target_modules": names}
    file.write_text(json.dumps({**settings, "base_model_name_or_path": "meta-llama/Meta-Llama-3.1-8B"}))
    assert main(["--report", str(file)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("lora\n")
    assert "83,886,080 parameters on 224 modules (1.045 % of the base)" in printed
    assert "2: alpha 64 over the rank" in printed
    assert main(["--report", str(file), "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["adapter"]["trainable"] == 83_886_080
    file.write_text(json.dumps({**settings, "base_model_name_or_path": "nobody/knows"}))
    assert main(["--report", str(file)]) == 0
    assert "nobody/knows, not at hand" in capsys.readouterr().out


def test_hugging_face_cache(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert main(["--report", "acme/tern-3b"]) == 2
    assert "hf download acme/tern-3b config.json" in capsys.readouterr().err
    snapshot = tmp_path / "models--acme--tern-3b" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text(TERN.read_text(encoding="utf-8"))
    assert main(["--report", "acme/tern-3b"]) == 0
    assert "3.02B" in capsys.readouterr().out


@pytest.mark.parametrize("pair", ["batch=0", "batch", "nonsense=1", "gpu=abacus", "utilization=nan"])
def test_wrong_assumptions_are_usage_errors(pair: str) -> None:
    assert main(["--report", str(HERON), "--assume", pair]) == 2


def test_assumptions_change_the_card() -> None:
    few = section("serving", assumed=Assumptions(batch=1, context=8192))
    many = section("serving", assumed=Assumptions(batch=64, context=8192))
    assert many["cache_bytes"] == 64 * few["cache_bytes"]


def test_settings_say_what_a_card_assumes_and_the_command_line_says_it_louder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tern" / "config.json"
    file.parent.mkdir()
    file.write_text(TERN.read_text(encoding="utf-8"))
    settings = (
        'gpu = "A100-80GB"\ngpus = 4\nusd-per-hour = 1.5\ncontext = 4096\nbatch = 8\ncache-levels-kib = [1, 2, 3]\n'
    )
    (tmp_path / "neurarch-lsp.toml").write_text(f"[serving]\n{settings}")
    assert main(["--report", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "of one A100-80GB at 100%" in printed
    assert "on 4 x A100-80GB" in printed
    assert "at 1.5 USD per device and hour" in printed
    assert "for 8 x 4,096 tokens" in printed
    assert "Very high from 3 KiB" in printed
    louder = ["--assume", "gpu=H200", "--assume", "batch=1"]
    assert main(["--report", str(file), *louder, "--output-format", "json", "--card"]) == 0
    card = json.loads(capsys.readouterr().out)[0]["card"]
    assert (card["training"]["gpu"], card["training"]["gpus"], card["serving"]["batch"]) == ("H200", 4, 1)
    assert card["cache"]["level"] == "Very high"


def test_a_gpu_that_no_catalogue_holds_leaves_the_default() -> None:
    assert from_settings(Serving(gpu="Abacus-8GB", gpu_memory_gib=8)).gpu == Assumptions().gpu
    assert from_settings(Serving(tensor_parallel=4, pipeline_parallel=2)).gpus == 8
