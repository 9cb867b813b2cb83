"""Functions `solve(n)` that attack the harness, which calls them."""

from __future__ import annotations

from tests.attacks.python_attack import function

CALLED = (
    function(
        "equal_to_everything",
        "to return an object that is equal to everything",
        """
        class Everything(str):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return 0
            def __len__(self): return 32
        def solve(n): return Everything()
        """,
    ),
    function(
        "another_class",
        "to return an object that says it is of another class",
        """
        class Liar:
            __class__ = str
            def __eq__(self, other): return True
            def __iter__(self): return iter("1.0")
        def solve(n): return Liar()
        """,
    ),
    function(
        "not_a_number",
        "to return NaN, which is neither greater nor less than a number",
        'def solve(n): return float("nan")',
    ),
    function(
        "endless_result",
        "to return an iterator that never ends",
        """
        import itertools
        def solve(n): return itertools.count()
        """,
        "WA RE TLE MLE",
    ),
    function(
        "result_in_itself",
        "to return a list that contains itself",
        "def solve(n):\n    a = []\n    a.append(a)\n    return a",
        "WA RE MLE",
    ),
    function(
        "deep_result",
        "to return a list a million deep",
        "def solve(n):\n    a = []\n    for _ in range(10**6): a = [a]\n    return a",
        "WA RE MLE TLE",
    ),
    function(
        "alike_keys",
        "a result whose keys all have the same hash, to keep the judge busy",
        """
        def solve(n):
            keys = ",".join('["i","%#x"],0' % (key * ((1 << 61) - 1)) for key in range(100))
            for fd in range(3, 100):
                attempt(os.write, fd, f'["d",{keys}]'.encode())
            os._exit(0)
        """,
    ),
    function(
        "nested_result",
        "a result nested more deeply than its judge can describe, so that the judge fails",
        """
        def solve(n):
            for fd in range(3, 100):
                attempt(os.write, fd, b'["d","",' * 330 + b"1" + b"]" * 330)
            os._exit(0)
        """,
    ),
    function(
        "harness_replaced",
        "to replace the harness's own functions",
        """
        for name, module in list(sys.modules.items()):
            if "harness" in name:
                for each in list(vars(module)):
                    if each in ("encode", "write_all", "quote"):
                        setattr(module, each, lambda *a, **k: b'"1"')
        def solve(n): return "1"
        """,
    ),
    function(
        "result_written_twice",
        "to write a result of its own where the harness writes",
        """
        def solve(n):
            for fd in range(3, 100):
                attempt(os.write, fd, b'"1"\\n')
            return "1"
        """,
    ),
    function(
        "metaclass",
        "a class Solution that has an attribute of every name",
        """
        class Meta(type):
            def __getattr__(cls, name): return lambda *a: "1"
            def __instancecheck__(cls, other): return True
            def __eq__(cls, other): return True
            __hash__ = type.__hash__
        class Solution(metaclass=Meta):
            def __getattr__(self, name): return lambda *a: "1"
        """,
    ),
    function(
        "caller",
        "to find the expected result in its caller",
        """
        def solve(n):
            frame, texts = sys._getframe(), []
            while frame:
                texts += [repr(value) for value in list(frame.f_locals.values())]
                frame = frame.f_back
            return loot(texts)
        """,
    ),
)
