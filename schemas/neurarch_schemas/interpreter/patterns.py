"""The ``match`` statement."""

from __future__ import annotations

import ast

from neurarch_schemas.interpreter.core import Core
from neurarch_schemas.interpreter.scopes import Frame
from neurarch_schemas.interpreter.values import MISSING, UnknownTruth, Value


class Patterns(Core):
    def _Match(self, node: ast.Match, frame: Frame) -> Value:
        subject = self.evaluate(node.subject, frame)
        for case in node.cases:
            try:
                if not self._matches(case.pattern, subject, frame):
                    continue
                if case.guard is not None and not self.truth(self.evaluate(case.guard, frame)):
                    continue
            except UnknownTruth as error:
                if not self.decide(error.unknown, case.pattern, frame, case.body, []):
                    continue
            return self.execute(case.body, frame)
        return None

    def _matches(self, pattern: ast.pattern, subject: Value, frame: Frame) -> bool:
        if isinstance(pattern, ast.MatchValue):
            return self.truth(self.compare(ast.Eq, subject, self.evaluate(pattern.value, frame)))
        if isinstance(pattern, ast.MatchSingleton):
            return subject is pattern.value
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None and not self._matches(pattern.pattern, subject, frame):
                return False
            if pattern.name is not None:
                frame.locals[pattern.name] = subject
            return True
        if isinstance(pattern, ast.MatchOr):
            return any(self._matches(each, subject, frame) for each in pattern.patterns)
        if isinstance(pattern, ast.MatchSequence):
            return self._matches_sequence(pattern, subject, frame)
        if isinstance(pattern, ast.MatchMapping):
            if not isinstance(subject, dict):
                return False
            keys = [self.evaluate(key, frame) for key in pattern.keys]
            if not all(key in subject for key in keys):
                return False
            matched = all(
                self._matches(each, subject[key], frame) for key, each in zip(keys, pattern.patterns, strict=True)
            )
            if matched and pattern.rest is not None:
                frame.locals[pattern.rest] = {key: value for key, value in subject.items() if key not in keys}
            return matched
        if isinstance(pattern, ast.MatchClass):
            return self._matches_class(pattern, subject, frame)
        return False

    def _matches_sequence(self, pattern: ast.MatchSequence, subject: Value, frame: Frame) -> bool:
        if not isinstance(subject, list | tuple):
            return False
        items = list(subject)
        star = next((i for i, each in enumerate(pattern.patterns) if isinstance(each, ast.MatchStar)), None)
        if star is None:
            return len(items) == len(pattern.patterns) and all(
                self._matches(each, item, frame) for each, item in zip(pattern.patterns, items, strict=True)
            )
        after = len(pattern.patterns) - star - 1
        if len(items) < star + after:
            return False
        middle = pattern.patterns[star]
        if isinstance(middle, ast.MatchStar) and middle.name is not None:
            frame.locals[middle.name] = items[star : len(items) - after]
        ends = [*items[:star], *(items[-after:] if after else [])]
        rest = [*pattern.patterns[:star], *pattern.patterns[star + 1 :]]
        return all(self._matches(each, item, frame) for each, item in zip(rest, ends, strict=True))

    def _matches_class(self, pattern: ast.MatchClass, subject: Value, frame: Frame) -> bool:
        cls = self.evaluate(pattern.cls, frame)
        if not self.truth(self.is_instance(subject, cls)):
            return False
        names = list(pattern.kwd_attrs)
        patterns = list(pattern.kwd_patterns)
        if pattern.patterns:
            positional = self.find_attr(cls, "__match_args__")
            if positional is MISSING:
                return len(pattern.patterns) == 1 and self._matches(pattern.patterns[0], subject, frame)
            names = [*positional[: len(pattern.patterns)], *names]
            patterns = [*pattern.patterns, *patterns]
        for name, each in zip(names, patterns, strict=True):
            value = self.find_attr(subject, name)
            if value is MISSING or not self._matches(each, value, frame):
                return False
        return True
