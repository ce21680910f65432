"""``torch.linalg`` and numpy's: the shapes of decompositions, inverses and solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.containers import record_class
from neurarch_schemas.interpreter.torch_nn.factories import orthogonal_triangular
from neurarch_schemas.interpreter.torch_nn.tensor import Shape, Tensor, dtypes, like
from neurarch_schemas.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_COMPLEX = {"float32": "complex64", "float64": "complex128"}


def _parts(machine: Machine, names: str, tensors: list[Tensor]) -> Value:
    """A tuple whose items have names, as torch.return_types."""
    known = f"torch.return_types {names}"
    cls = machine.state.get(known)
    if cls is None:
        cls = machine.state[known] = record_class(machine, "linalg", names.split(), {})
    return machine.call(cls, tensors, {})


def _matrix(value: Value) -> Shape | None:
    return value.shape if isinstance(value, Tensor) and value.shape is not None and len(value.shape) >= 2 else None


def _eigen(vectors: bool, real: bool) -> Any:
    def call(machine: Machine, matrix: Value, *args: Value, **options: Value) -> Value:
        if not isinstance(matrix, Tensor):
            return Unknown("the eigenvalues of an unknown matrix", data=True)
        shape = _matrix(matrix)
        values, made = like(matrix, None if shape is None else shape[:-1]), like(matrix, shape)
        if not real and matrix.dtype.name in _COMPLEX:
            values.dtype = made.dtype = dtypes(machine)[_COMPLEX[matrix.dtype.name]]
        return _parts(machine, "eigenvalues eigenvectors", [values, made]) if vectors else values

    return call


def _singular(reduced: bool, adjoint: bool) -> Any:
    """``reduced`` unless asked otherwise; ``adjoint`` gives the last factor transposed."""

    def call(machine: Machine, matrix: Value, full_matrices: Value = None, *args: Value, **options: Value) -> Value:
        if not isinstance(matrix, Tensor):
            return Unknown("the singular values of an unknown matrix", data=True)
        asked = options.get("some", full_matrices) if reduced else full_matrices
        whole = not reduced if asked is None else bool(asked) is not reduced
        names = "U S Vh" if adjoint else "U S V"
        shape = _matrix(matrix)
        if shape is None:
            return _parts(machine, names, [like(matrix, None) for _ in range(3)])
        *batch, rows, columns = shape
        inner = min(rows, columns)
        left, right = (rows, columns) if whole else (inner, inner)
        last = (right, columns) if adjoint else (columns, right)
        shapes = ((*batch, rows, left), (*batch, inner), (*batch, *last))
        return _parts(machine, names, [like(matrix, each) for each in shapes])

    return call


def _same(machine: Machine, matrix: Value, *args: Value, **options: Value) -> Value:
    return like(matrix, matrix.shape) if isinstance(matrix, Tensor) else Unknown("an unknown matrix", data=True)


def _inverse(machine: Machine, matrix: Value, *args: Value, **options: Value) -> Value:
    shape = _matrix(matrix)
    if not isinstance(matrix, Tensor) or shape is None:
        return Unknown("the inverse of an unknown matrix", data=True)
    return like(matrix, (*shape[:-2], shape[-1], shape[-2]))


def _scalars(machine: Machine, matrix: Value, *args: Value, **options: Value) -> Value:
    shape = _matrix(matrix)
    return like(matrix, shape[:-2]) if isinstance(matrix, Tensor) and shape else Unknown("a determinant", data=True)


def _solution(machine: Machine, matrix: Value, right: Value = None, *args: Value, **options: Value) -> Value:
    return _same(machine, right)


def block_diagonal(machine: Machine, *blocks: Value) -> Value:
    """``torch.block_diag``."""
    tensors = [each for each in blocks if isinstance(each, Tensor)]
    if not tensors or len(tensors) != len(blocks):
        return Unknown("blocks that are not known", data=True)
    rows = columns = 0
    for each in tensors:
        if each.shape is None or len(each.shape) > 2:
            return like(each, None)
        height, width = (1, 1, *each.shape)[-2:]
        rows, columns = rows + height, columns + width
    return like(tensors[0], (rows, columns))


LINALG: dict[str, Any] = {
    "qr": orthogonal_triangular,
    "eigh": _eigen(True, True),
    "eig": _eigen(True, False),
    "eigvalsh": _eigen(False, True),
    "eigvals": _eigen(False, False),
    "svd": _singular(False, True),
    **dict.fromkeys(("cholesky", "matrix_exp", "matrix_power"), _same),
    **dict.fromkeys(("inv", "pinv"), _inverse),
    "det": _scalars,
    **dict.fromkeys(("solve", "solve_triangular"), _solution),
}
"""Functions of ``torch.linalg``; ``qr`` and the rest of numpy's have the same shapes."""
OWN: dict[str, Any] = {
    "svd": _singular(True, False),
    "block_diag": block_diagonal,
    **dict.fromkeys(("cholesky", "matrix_exp", "matrix_power"), _same),
    **dict.fromkeys(("inverse", "pinverse"), _inverse),
}
"""Those that stand in ``torch`` itself."""
