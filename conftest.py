"""Rule pages are tests: ``rules/neurarch_rules/rules/*.md`` are collected wherever pytest looks for them."""

pytest_plugins = ["neurarch_rules.testing.pytest_plugin"]
