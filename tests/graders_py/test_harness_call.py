"""The harness calls a function and returns its result as data. A program cannot forge a result that equals all."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ioi_eval.model.apps import JsonValue
from ioi_eval.problems.apps_values import Foreign, equal

Run = Callable[..., Any]
HUGE = 10**5000 + 7


def call(run: Run, program: str, *args: Any, **options: Any) -> Any:
    """Call `f` of a program."""
    return run(program, args=args, fn_name="f", **options)


RESULTS: dict[str, tuple[str, Any]] = {
    "None": ("return None", None),
    "bool": ("return True", True),
    "int": ("return 5", 5),
    "builtins replaced": (
        "import builtins\n    builtins.int = builtins.issubclass = builtins.type = None\n    return 5",
        5,
    ),
    "huge": ("return 10**5000 + 7", HUGE),
    "negative": ("return -2**60", -(2**60)),
    "float": ("return 0.1", 0.1),
    "inf": ("return float('-inf')", float("-inf")),
    "text": ("return 'a\\u00e4\\U0001f600\\ud800\\0\"'", 'a\u00e4\U0001f600\ud800\0"'),
    "list": ("return [1, [2.5, 'x'], []]", [1, [2.5, "x"], []]),
    "tuple": ("return (1, (2,), [])", (1, (2,), [])),
    "dict": ("return {1: 'a', (1, 2): None, 'b': {}}", {1: "a", (1, 2): None, "b": {}}),
    "namedtuple": ("import collections\n    return collections.namedtuple('P', 'x y')(1, 2)", (1, 2)),
    "Counter": ("import collections\n    return collections.Counter('aab')", {"a": 2, "b": 1}),
    "defaultdict": (
        "import collections\n    d = collections.defaultdict(list)\n    d[1].append(2)\n    return d",
        {1: [2]},
    ),
    "OrderedDict": ("import collections\n    return collections.OrderedDict(a=1)", {"a": 1}),
    "IntEnum": ("import enum\n    return enum.IntEnum('E', 'A B').B", 2),
    "Fraction": ("import fractions\n    return fractions.Fraction(1, 3)", Fraction(1, 3)),
    "Decimal": ("import decimal\n    return decimal.Decimal('0.25')", Fraction(1, 4)),
}
FOREIGN = {
    "set": ("return {1}", "set"),
    "frozenset": ("return frozenset()", "frozenset"),
    "generator": ("return (x for x in [1])", "generator"),
    "map": ("return map(int, [])", "map"),
    "range": ("return range(3)", "range"),
    "bytes": ("return b'a'", "bytes"),
    "complex": ("return 1j", "complex"),
    "function": ("return f", "function"),
    "object": ("return type('T', (), {})()", "T"),
    "Decimal nan": ("import decimal\n    return decimal.Decimal('nan')", "Decimal"),
    "cycle": ("a = []\n    a.append(a)\n    return a", "nested too deeply"),
    "too large": ("a = 'x' * 1000000\n    return [a] * 100", "too large"),
}


@pytest.mark.parametrize(("body", "value"), [([body], [value]) for body, value in RESULTS.values()], ids=RESULTS)
def test_results(run: Run, body: list[str], value: list[Any]) -> None:
    """Values of all kinds are returned unchanged. An instance of a derived class is returned as its builtin type."""
    ended = call(run, f"def f():\n    {body[0]}")
    assert (ended.code, ended.phase) == (0, "done"), ended.stderr
    assert [ended.value] == value
    assert type(ended.value) is type(value[0])


@pytest.mark.parametrize(("body", "name"), FOREIGN.values(), ids=FOREIGN)
def test_results_that_are_not_data(run: Run, body: str, name: str) -> None:
    """Other values are returned as the name of their type."""
    ended = call(run, f"def f():\n    {body}")
    assert ended.code == 0, ended.stderr
    assert isinstance(ended.value, Foreign)
    assert ended.value.type_name == name


def test_numpy_scalars(run: Run) -> None:
    """Scalars of numpy are returned as numbers; arrays are not data."""
    pytest.importorskip("numpy")
    body = (
        "import numpy as np\n    return [np.int64(3), np.float32(0.5), np.bool_(True), np.float64(0.1), np.arange(3)]"
    )
    value = call(run, f"def f():\n    {body}").value
    assert value[:4] == [3, 0.5, True, 0.1]
    assert [type(item) for item in value[:4]] == [int, float, bool, float]
    assert value[4].type_name == "numpy.ndarray"


@pytest.mark.parametrize(
    "program",
    [
        "class Solution:\n    def f(self, a, b):\n        return [a, b]",
        "class Solution(object):\n    @staticmethod\n    def f(a, b):\n        return [a, b]",
        "def f(a, b):\n    return [a, b]",
        "f = lambda a, b: [a, b]",
        "class Solution: pass\ndef f(a, b): return [a, b]",
        "class Solution:\n    f = lambda self, *a: list(a)\ndef f(a, b): return 0",
        "def f(*args, **kw): return list(args)",
        "if __name__ == '__main__':\n    print(input())\ndef f(a, b): return [a, b]",
        "class Solution:\n    def f(self, a: List[int], b: Optional[int]) -> Dict[int, int]:\n        return [a, b]",
        "@lru_cache(None)\ndef f(a, b): return [a, b, deque, inf][:2]",
        f"def f(a, b): return [a, b, {'9' * 5000}][:2]",
        "import sys\ndef f(a, b): return [a, b] if sys.argv == ['solution.py'] else sys.argv",
    ],
)
def test_functions_and_methods_are_called(run: Run, program: str) -> None:
    """Functions and methods are found, and the names that LeetCode predefines exist."""
    ended = call(run, program, 5, "x")
    assert ended.value == [5, "x"], ended.stderr


def test_no_builtin_is_hidden(run: Run) -> None:
    """The predefined names hide no builtin: `pow(2, 3, 5)` is the builtin function."""
    assert call(run, "def f(): return [pow(2, 3, 5), sum([1]), gcd(4, 6)]").value == [3, 1, 2]


@pytest.mark.parametrize(
    ("program", "phase"),
    [
        ("def f(:", "compile"),
        ("x = 1", "load"),
        ("1 / 0", "load"),
        ("exit()", "load"),
        ("input()\ndef f(a): return 1", "load"),
        ("class Solution:\n    def __init__(self):\n        1 / 0\n    def f(self): pass", "load"),
        ("def f(): return 1", "run"),
        ("def f(a): exit(0)", "run"),
        ("def f(a): return input()", "run"),
    ],
)
def test_failures(run: Run, program: str, phase: str) -> None:
    """A program that fails returns no result, has exit code 1, and the report has the phase in which it failed."""
    ended = call(run, program, 1)
    assert (ended.code, ended.phase, ended.stdout) == (1, phase, b"")


def test_prints_do_not_mix_with_the_result(run: Run) -> None:
    """Output of the program goes to stderr."""
    ended = call(
        run, "import os\nprint('loading')\ndef f():\n    print('running')\n    os.write(1, b'raw')\n    return 1"
    )
    assert ended.value == 1
    assert {"loading", "running"} <= set(ended.stderr.replace("raw", "").split())


def test_arguments_of_all_kinds(run: Run) -> None:
    """Arguments arrive unchanged, and the program can modify them."""
    arguments = ([1, [2]], {1: 2.5, "x": None}, HUGE, "\ud800", True)
    program = "def f(*a):\n    a[0].append(3)\n    return list(a)"
    assert [call(run, program, *arguments).value] == [[[1, [2], 3], *arguments[1:]]]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(JSON_VALUES, min_size=20, max_size=40))
def test_round_trip(run: Run, values: list[Any]) -> None:
    """Any JSON values that are passed and returned equal the original ones."""
    assert equal(values, call(run, "def f(*a): return a", *values).value)


# --------------------------------------------------------------------------- hostile programs

HOSTILE = {
    "equal to everything": """
class E:
    def __eq__(self, o): return True
    __hash__ = None
def f(): return E()
""",
    "claims to be an int": """
class E:
    __class__ = int
    def __index__(self): return 42
def f(): return E()
""",
    "int with overridden methods": """
class E(int):
    def __eq__(self, o): return True
    def __index__(self): return 42
    __repr__ = __str__ = lambda self: '42'
def f(): return E(7)
""",
    "text with overridden methods": """
class E(str):
    def __str__(self): return '42'
    def __eq__(self, o): return True
def f(): return E('7')
""",
    "list with overridden methods": """
class E(list):
    def __iter__(self): return iter([42])
    def __len__(self): return 1
def f(): return E([7])
""",
    "dict with overridden methods": """
class E(dict):
    def items(self): return [(1, 42)]
    def __iter__(self): 1/0
def f(): return E({1: 7})
""",
    "metaclass": """
class M(type):
    __flags__ = 0
    __name__ = __module__ = 'numpy'
    def __subclasscheck__(*a): return True
    def __eq__(*a): return True
    __hash__ = type.__hash__
class E(metaclass=M):
    shape = ()
    def item(self): return 42
def f(): return E()
""",
    "repr that ends the process": """
import os
class E:
    def __repr__(self): os._exit(0)
    __str__ = __repr__
def f(): return E()
""",
    "named like numpy": """
class E: pass
E.__module__ = 'numpy'
E.item = lambda self: 42
E.shape = ()
def f(): return E()
""",
    "patched json": """
import json
json.dumps = lambda *a, **k: '42'
json.encoder.encode_basestring_ascii = lambda s: '42'
def f(): return 'x'
""",
    "patched builtins": """
import builtins
builtins.issubclass = lambda *a: False
builtins.str = builtins.int = lambda *a: 42
builtins.isinstance = lambda *a: True
def f(): return 7
""",
    "frames": """
import sys
def f():
    seen = []
    frame = sys._getframe()
    while frame:
        seen += [k for k, v in frame.f_locals.items() if v == 42]
        frame = frame.f_back
    return seen
""",
    "garbage": """
import gc
def f(): return sum(1 for o in gc.get_objects() if type(o) is list and 4242 in o)
""",
    "leaves without a result": """
import os
def f(): os._exit(0)
""",
}


@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE)
def test_hostile_results(run: Run, program: str) -> None:
    """No returned object compares equal to an expected value, and the process does not contain expected values."""
    ended = call(run, program)
    assert ended.code in (0, 1)
    if ended.code == 0 and ended.stdout:
        wanted: tuple[JsonValue, ...] = (42, "42", [42], {"1": 42}, [[42]])
        for expected in wanted:
            assert not equal(expected, ended.value), ended.value


def test_methods_are_not_called(run: Run) -> None:
    """Encoding a result does not call methods of the program's classes."""
    writes_a_file = "(lambda *a, **k: open('called', 'w').write('x'))"
    names = (
        "__eq__ __repr__ __str__ __iter__ __len__ __getitem__ __index__ __int__ __hash__ items keys __getattribute__"
    )
    program = (
        f"def bad(base):\n    return type('B', (base,), {{name: {writes_a_file} for name in {names.split()!r}}})\n"
        "kept = [bad(int)(5), bad(list)([1]), bad(dict)({1: 2}), bad(str)('a'), bad(tuple)((1,)), bad(float)(1.5)]\n"
        "def f(): return kept"
    )
    ended = call(run, program)
    assert ended.value == [5, [1], {1: 2}, "a", (1,), 1.5]
    assert call(run, "import os\ndef f(): return os.path.exists('called')").value is False
