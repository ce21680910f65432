"""The assignment problem: a column for each row at the least total cost; a few families size layers by it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def least_cost_columns(costs: Sequence[Sequence[float]]) -> list[int]:
    """The column of each row; no more rows than columns.

    Shortest augmenting paths, row by row (Crouse 2016, doi:10.1109/TAES.2016.140952). Where several assignments cost
    the same, the order of the search decides; it is that of scipy's ``linear_sum_assignment``.
    """
    columns = len(costs[0]) if costs else 0
    row_of: list[int | None] = [None] * columns
    column_of: list[int] = [-1] * len(costs)
    row_price, column_price = [0.0] * len(costs), [0.0] * columns
    for start in range(len(costs)):
        path, shortest = [-1] * columns, [inf] * columns
        seen_rows: list[int] = []
        seen_columns: set[int] = set()
        remaining = list(range(columns - 1, -1, -1))
        row, least, sink = start, 0.0, None
        while sink is None:
            seen_rows.append(row)
            best, lowest = -1, inf
            for place, column in enumerate(remaining):
                length = least + costs[row][column] - row_price[row] - column_price[column]
                if length < shortest[column]:
                    path[column], shortest[column] = row, length
                reached = shortest[column]
                if reached < lowest or (reached == lowest and row_of[column] is None):
                    best, lowest = place, reached
            least, column = lowest, remaining[best]
            seen_columns.add(column)
            remaining[best] = remaining[-1]
            remaining.pop()
            owner = row_of[column]
            if owner is None:
                sink = column
            else:
                row = owner
        row_price[start] += least
        for other in seen_rows[1:]:
            row_price[other] += least - shortest[column_of[other]]
        for column in seen_columns:
            column_price[column] -= least - shortest[column]
        column = sink
        while True:
            row = path[column]
            row_of[column] = row
            column_of[row], column = column, column_of[row]
            if row == start:
                break
    return column_of
