"""The tree of an edited text, made from the tree before the edit.

Only the members that the edit touches are read, in the innermost container around it; everything else is shared. Where
the brackets no longer match, or reading does not come back to a member that was known, the next outer container tries.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from neurarch_schemas.documents import layout, recovery
from neurarch_schemas.documents.document import Span, TextEdit
from neurarch_schemas.documents.expand import expand
from neurarch_schemas.documents.frames import Frame, Resume
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.nodes import Member, Node, RawProblem, duplicates, object_data
from neurarch_schemas.documents.parser import Parser
from neurarch_schemas.documents.reporting import LARGE, Exhausted, Unbalanced


def edited_tree(root: Node, old: str, new: str, edit: TextEdit, comments_allowed: bool) -> Node | None:
    """The tree of ``new``, which is ``old`` after ``edit``; None where it has to be read from the beginning."""
    if not root.members or len(root.problems) > 20:
        return None
    member = root.members[0]
    node = member.node
    if node is None:
        return None
    if not (node.opened and node.closed):
        return _edited_around_damage(root, node, old, new, edit, comments_allowed)
    damage = list(_structural_damage(root, 0))
    if damage and len(new) <= LARGE:
        return None
    # Brackets that did not match are read again together with the edit: it may have repaired them.
    begin = min([edit.span[0], *(place[0] for place in damage)])
    end = max([edit.span[1], *(place[1] for place in damage)])
    editor = _Editor(old, new, (begin, end), comments_allowed)
    start = root.starts[0]
    if edit.span[0] >= start + node.length and not new[start + node.length :].strip(" \t\r\n") and not root.problems:
        result = Node("array", len(new), root.data)
        result.members, result.starts = root.members, root.starts
        return result
    if end > start + node.length or (child := editor.edited(node, start)) is None:
        return None
    return _document(root, child, editor)


def _edited_around_damage(
    root: Node, node: Node, old: str, new: str, edit: TextEdit, comments_allowed: bool
) -> Node | None:
    """The tree of a large text whose outermost bracket is missing: what an edit far from damage does not touch stays.

    None where the edit may have to do with the damage, and for indentation, which may tell what a line belongs to.
    """
    removed = old[edit.span[0] : edit.span[1]]
    if len(new) <= LARGE or not node.opened or not (removed + edit.text).strip() or _breaks_line(removed + edit.text):
        return None
    editor = _Editor(old, new, edit.span, comments_allowed, around_damage=True)
    child = editor.edited(node, root.starts[0])
    return None if child is None else _document(root, child, editor)


def _breaks_line(text: str) -> bool:
    return "\n" in text or "\r" in text


def _document(root: Node, child: Node, editor: _Editor) -> Node:
    result = Node("array", root.length + editor.delta, [child.data])
    result.members = [Member(None, 0, 0, child.length, child.data, child)]
    result.starts = list(root.starts)
    result.problems = editor.moved(root.problems)
    return result


def _structural_damage(node: Node, start: int) -> Iterator[Span]:
    """Where brackets do not match in a node that begins at ``start``."""
    for problem in node.problems:
        if problem.structural:
            yield start + problem.start, start + problem.end
    for member, place in zip(node.members or (), node.starts, strict=False):
        if member.child is not None:
            yield from _structural_damage(member.child, start + place + member.value_start)


class _Editor:
    """``span`` is the part of the old text that is read again; around it, old and new are the same."""

    def __init__(self, old: str, new: str, span: Span, comments_allowed: bool, around_damage: bool = False) -> None:
        self.around_damage = around_damage
        """Containers may lack their closing brackets, as long as nothing is read anew there but sound members."""
        self.old = old
        self.new = new
        self.start, self.end = span
        self.delta = len(new) - len(old)
        self.comments_allowed = comments_allowed
        self.outer: list[tuple[Node, int]] = []

    def moved(self, problems: Sequence[RawProblem], base: int = 0) -> tuple[RawProblem, ...]:
        """The problems of a node that begins at ``base``, those behind the edit moved with the text."""
        if not problems or not self.delta:
            return tuple(problems)
        limit = self.end - base
        return tuple(
            _shifted(problem, self.delta, limit) if problem.start >= limit else problem for problem in problems
        )

    def edited(self, node: Node, start: int) -> Node | None:
        """The node that begins at ``start`` after the edit, which lies within its brackets; None: unknown."""
        if not (start < self.start and self.end < start + node.length and node.opened):
            return None
        if node.conflict or not (node.closed or self.around_damage):
            return None
        members = expand(node, self.old, start).members or []
        starts = node.starts
        first = max(bisect_right(starts, self.start - start) - 1, 0)
        if first < len(members):
            end = start + starts[first] + members[first].length
            # A container ends with its bracket, whatever follows; a word or a number may go on.
            if end < self.start or (end == self.start and _is_closed(members[first])):
                first += 1
        behind = bisect_right(starts, self.end - start)
        if behind - first == 1:
            member = members[first]
            child = member.node
            if child is not None:
                self.outer.append((node, start))
                changed = self.edited(child, start + starts[first] + member.value_start)
                self.outer.pop()
                if changed is not None:
                    return self._with_child(node, start, first, changed)
        return self._reread(node, start, self._first_to_read(node, start, first), max(behind, first))

    def _with_child(self, node: Node, start: int, at: int, child: Node) -> Node:
        members = list(node.members or ())
        before = members[at]
        length = before.value_length + self.delta
        members[at] = Member(before.key, before.key_length, before.value_start, length, child.data, child, before.sound)
        data: dict[str, JSONValue] | list[JSONValue]
        if isinstance(node.data, dict):
            data = dict(node.data)
            if before.key is not None and data.get(before.key) is before.value:
                data[before.key] = child.data
        else:
            data = list(node.data)
            data[at] = child.data
        result = Node(node.kind, node.length + self.delta, data)
        result.members = members
        result.starts = node.starts[: at + 1] + [place + self.delta for place in node.starts[at + 1 :]]
        result.problems = self.moved(node.problems, start)
        result.index, result.unread = node.index, node.unread
        result.closed = node.closed
        return result

    def _first_to_read(self, node: Node, start: int, first: int) -> int:
        """Goes back over members whose reading depends on what follows: damaged ones, and without a comma behind."""
        members, starts = node.members or [], node.starts
        damage = sorted(problem.start for problem in node.problems)
        while first > 0:
            place = starts[first - 1]
            end = place + members[first - 1].length
            damaged = bisect_left(damage, self.start - start) > bisect_left(damage, place)
            complete = isinstance(members[first - 1].value, dict | list)
            if not damaged and (complete or "," in self.old[start + end : self.start]):
                break
            first -= 1
        return first

    def _reread(self, node: Node, start: int, first: int, behind: int) -> Node | None:
        starts = node.starts
        barred = set()
        for problem in node.problems:
            at = bisect_left(starts, problem.start)
            if at < len(starts) and starts[at] == problem.start and problem.rule != "json-duplicate-key":
                barred.add(at)
        closing = start + node.length - node.closed + self.delta
        for by_layout in (False, True) if len(self.new) > LARGE and not self.around_damage else (False,):
            resume = Resume(starts, start + self.delta, behind, barred, closing)
            frame = self._reader_frame(node, start, first, resume, by_layout)
            if frame is not None and resume.met is not None:
                if self.around_damage and _touches_damage(node, first, resume.met):
                    return None
                return self._spliced(node, first, resume.met, frame)
        return None

    def _reader_frame(self, node: Node, start: int, first: int, resume: Resume, by_layout: bool) -> Frame | None:
        """The container after reading from its member ``first`` on; None where its brackets do not match."""
        at = start + (node.starts[first - 1] + (node.members or [])[first - 1].length if first else 1)
        balance = layout.bracket_balance(self.new[at : resume.next_known]) if by_layout else 0
        parser = Parser(self.new, self.comments_allowed, by_layout, balance)
        parser.limit = resume.next_known
        parser.frames.append(Frame("array", 0))
        for outer, place in (*self.outer, (node, start)):
            frame = Frame(outer.kind, place)
            if by_layout:
                known = first if outer is node else len(outer.members or ())
                recovery.open_layout(frame, self.new, place)
                frame.key_column = next(self._columns(outer, place, known), -1)
            parser.frames.append(frame)
        frame.resume = resume
        if first:
            frame.needs_comma = True
            frame.has_members, frame.end_before = True, at
        try:
            parser.read_members(frame, at)
        except (Unbalanced, Exhausted):
            return None
        return frame if frame.kind == node.kind and frame.closed and parser.owner is None else None

    def _columns(self, node: Node, start: int, known: int) -> Iterator[int]:
        for place in node.starts[: min(known, 3)]:
            column = layout.own_line_column(self.new, start + place)
            if column >= 0:
                yield column

    def _spliced(self, node: Node, first: int, met: int, frame: Frame) -> Node:
        old = node.members or []
        members = old[:first] + frame.members + old[met:]
        starts = node.starts[:first] + frame.starts + [place + self.delta for place in node.starts[met:]]
        result = Node(node.kind, node.length + self.delta, [])
        result.members, result.starts = members, starts
        result.conflict, result.closed = frame.conflict, node.closed
        begin = node.starts[first - 1] + old[first - 1].length if first else 1
        end = node.starts[met] if met < len(old) else node.length - 1
        problems = [problem for problem in node.problems if problem.rule != "json-duplicate-key"]
        kept = [problem for problem in problems if problem.start < begin]
        kept += frame.problems
        kept += [_shifted(problem, self.delta, end) for problem in problems if problem.start >= end]
        if isinstance(node.data, list):
            result.data = node.data[:first] + [member.value for member in frame.members] + node.data[met:]
        else:
            result.data = _spliced_data(node.data, old, members, slice(first, met), frame.members)
            result.unread = node.unread + _unread(frame.members) - _unread(old[first:met])
            if len(result.data) != len(members) - result.unread and not result.conflict:
                kept += duplicates(members, starts)
        result.problems = tuple(kept)
        return result


def _touches_damage(node: Node, first: int, met: int) -> bool:
    """Whether brackets do not match in the members from ``first`` to ``met``, or right beside them."""
    members, starts = node.members or [], node.starts
    begin = starts[first - 1] if first else 0
    end = starts[met + 1] if met + 1 < len(members) else node.length
    beside = members[max(first - 1, 0) : met + 1]
    return any(problem.structural and begin <= problem.start < end for problem in node.problems) or any(
        member.child is not None and not (member.child.opened and member.child.closed) for member in beside
    )


def _spliced_data(
    data: dict[str, JSONValue], before: list[Member], after: list[Member], removed: slice, added: list[Member]
) -> dict[str, JSONValue]:
    """The value of an object with other members in place of the removed ones."""
    if len(data) != len(before):
        return object_data(after)
    # Every member had a key and a value of its own, so the value's items stand in their order.
    gone = before[removed]
    if len(gone) == len(added) and all(
        old.key == new.key and new.value_length >= 0 for old, new in zip(gone, added, strict=True)
    ):
        changed = dict(data)
        changed.update((member.key, member.value) for member in added if member.key is not None)
        return changed
    keys, values = list(data), list(data.values())
    read = [member for member in added if member.key is not None and member.value_length >= 0]
    keys[removed] = [member.key or "" for member in read]
    values[removed] = [member.value for member in read]
    changed = dict(zip(keys, values, strict=True))
    return changed if len(changed) == len(keys) else object_data(after)


def _is_closed(member: Member) -> bool:
    return isinstance(member.value, dict | list) and (member.child is None or member.child.closed)


def _unread(members: list[Member]) -> int:
    return sum(member.value_length < 0 for member in members)


def _shifted(problem: RawProblem, by: int, limit: int) -> RawProblem:
    """A problem behind ``limit``, moved; what it refers to may lie before."""
    related, fix = problem.related, problem.fix
    return problem._replace(
        start=problem.start + by,
        end=problem.end + by,
        related=related if related is None or related[0] < limit else (related[0] + by, related[1] + by),
        fix=None if fix is None else (fix[0] + by, fix[1] + by, fix[2]),
    )
