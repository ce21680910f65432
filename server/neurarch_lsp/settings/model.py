"""What a settings file may say, as pydantic models: validation and the published JSON Schema come from here."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Severity = Literal["error", "warning", "info", "hint", "off"]
Positive = Annotated[int, Field(ge=1)]


def _hyphens(name: str) -> str:
    return name.replace("_", "-")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=_hyphens, populate_by_name=False, strict=True)


class IgnoreModel(_Table):
    """One suppression: findings of these rules, in these files, at this key or below it."""

    file: str = Field("**", description="Glob relative to the settings file; a bare name matches at any depth.")
    rule: str | None = Field(None, description="One rule name or category.")
    rules: list[str] | None = Field(None, description="Several rule names or categories.")
    pointer: str | None = Field(None, description="JSON pointer of the key, such as /rope_scaling/factor.")
    reason: str = Field("", description="Why this is fine here.")

    @model_validator(mode="after")
    def _says_something(self) -> IgnoreModel:
        if self.rule is None and not self.rules and self.pointer is None:
            raise ValueError(
                "an entry needs a rule or a pointer: ignoring everything in a file is what `exclude` is for"
            )
        return self


class ServingModel(_Table):
    """How the model is meant to be served. Rules about sharding and memory speak only when these are set."""

    context: Positive = Field(8192, description="Tokens of one sequence that are budgeted for.")
    batch: Positive = Field(1, description="Sequences served at once.")
    kv_cache_gb: float = Field(4.0, gt=0, strict=False, description="Budget for the KV cache, in units of 1e9 bytes.")
    kv_cache_dtype: str | None = Field(None, description="torch dtype of the KV cache; default: the config's own.")
    tensor_parallel: Positive | None = Field(None, description="GPUs that share each layer.")
    pipeline_parallel: Positive | None = Field(None, description="Stages that share the layers.")
    gpu: str | None = Field(None, description='A GPU by name, such as "H100-80GB".')
    gpu_memory_gib: float | None = Field(None, gt=0, strict=False, description="Memory of one GPU in GiB.")
    gpus: Positive | None = Field(None, description="Number of GPUs; default: tensor-parallel x pipeline-parallel.")
    engine: str | None = Field(None, description='Serving engine, such as "vllm", "sglang" or "transformers".')
    usd_per_hour: float | None = Field(
        None, gt=0, strict=False, description="Price of one GPU and hour in reports; default: a dated list price."
    )
    cache_levels_kib: list[Positive] | None = Field(
        None,
        min_length=3,
        max_length=3,
        description="KiB per token from which reports call a KV cache moderate, high and very high: [64, 192, 512].",
    )

    @model_validator(mode="after")
    def _levels_rise(self) -> ServingModel:
        levels = self.cache_levels_kib
        if levels is not None and sorted(set(levels)) != levels:
            raise ValueError("cache-levels-kib must rise")
        return self

    @model_validator(mode="after")
    def _gpu_is_known(self) -> ServingModel:
        from neurarch_rules.engine.options import Serving
        from neurarch_rules.facts.hardware import gpu_memory_gib
        from neurarch_schemas.accounting.hardware import devices

        if self.gpu is not None and self.gpu_memory_gib is None and gpu_memory_gib(Serving(gpu=self.gpu)) is None:
            known = ", ".join(device.name for device in devices())
            raise ValueError(
                f"unknown gpu {self.gpu!r}: its memory is not known; write it into the name (as in H100-80GB), set "
                f"gpu-memory-gib, or use one of {known}"
            )
        return self


class LimitsModel(_Table):
    """Thresholds of cost rules."""

    deep_attention_layers: Positive = Field(48, description="Attention layers from which the default init is reported.")
    full_mha_kib_per_token: float = Field(
        256.0, gt=0, strict=False, description="KiB per token from which MHA is reported."
    )


class PythonModel(_Table):
    """How Python model code is read; nothing of it is run."""

    search_paths: list[str] = Field(default=[], description="Folders that imports are looked up in, as text.")


class SettingsModel(_Table):
    """The table ``[tool.neurarch-lsp]`` of pyproject.toml, or the whole of neurarch-lsp.toml."""

    select: list[str] = Field(default=[], description='Rules or categories to run; empty: the default set; "all".')
    extend_select: list[str] = Field(default=[], description="Rules or categories to run besides.")
    ignore: list[str] = Field(default=[], description="Rules or categories not to run.")
    severity: dict[str, Severity] = Field(default={}, description="Severity by rule name or category.")
    ignores: list[IgnoreModel] = Field(default=[], description="Findings that are fine, by file, rule and key.")
    exclude: list[str] = Field(default=[], description="Globs of files that are not linted.")
    serving: ServingModel = Field(default_factory=lambda: ServingModel.model_validate({}))
    limits: LimitsModel = Field(default_factory=lambda: LimitsModel.model_validate({}))
    python: PythonModel = Field(default_factory=lambda: PythonModel.model_validate({}))
    transformers_version: str | None = Field(
        None, description="Installed transformers version, such as 5.2 or >=4.45; default: what requirements name."
    )
    plugins: list[str] = Field(default=[], description="Entry points of third-party rules to load.")
