"""Values of interpreted programs.

Numbers, strings and containers are Python's own. Everything that has behaviour (classes, instances, functions) is one
of the classes of this package, so that nothing of the host can be reached from interpreted code: attributes are looked
up by ``attributes.py`` alone, never with ``getattr`` on a host object under a name from the source.

``Instance`` and ``Unknown`` define the host's special methods, so the host's own operators and builtins (sorted, sum,
dict lookups) work on them and end in interpreted methods again.
"""

from __future__ import annotations

from neurarch_schemas.interpreter.values.carriers import CARRIERS, INSTANCE_TYPES, OrderedDictInstance
from neurarch_schemas.interpreter.values.classes import Class, Super
from neurarch_schemas.interpreter.values.descriptors import CachedProperty, ClassMethod, Property, StaticMethod
from neurarch_schemas.interpreter.values.errors import Raised, UnknownTruth
from neurarch_schemas.interpreter.values.functions import (
    BoundMethod,
    Builtin,
    Function,
    Generator,
    NativeMethod,
    Partial,
)
from neurarch_schemas.interpreter.values.instances import Instance
from neurarch_schemas.interpreter.values.modules import LazyImport, PythonModule
from neurarch_schemas.interpreter.values.typing_forms import TypingForm
from neurarch_schemas.interpreter.values.unknown import Unknown, derived
from neurarch_schemas.interpreter.values.value import MISSING, Value

__all__ = [
    "CARRIERS",
    "INSTANCE_TYPES",
    "MISSING",
    "BoundMethod",
    "Builtin",
    "CachedProperty",
    "Class",
    "ClassMethod",
    "Function",
    "Generator",
    "Instance",
    "LazyImport",
    "NativeMethod",
    "OrderedDictInstance",
    "Partial",
    "Property",
    "PythonModule",
    "Raised",
    "StaticMethod",
    "Super",
    "TypingForm",
    "Unknown",
    "UnknownTruth",
    "Value",
    "derived",
]
