"""Undoes what the collectors of APPS changed in its reference solutions (`--conventions`).

They turned `exit()` at the top level into `return`, which no interpreter accepts there, and `if __name__ ==
"__main__":` into a function `__starting_point`, which some solutions call and others do not.
"""

from __future__ import annotations

import ast
import inspect
import types

FUNCTION = "__top_level"
START = "__starting_point"
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def compile_returning(source: bytes, file: str) -> types.CodeType:
    """The program's code, with its top level in a function, so that it may return; all its names stay global.

    A `return` is not turned into an exception, because an `except:` of the program would catch it.

    Raises:
        SyntaxError: the program has another syntax error too.
    """
    tree = ast.parse(source, file)
    head: list[ast.stmt] = []
    body: list[ast.stmt] = []
    for number, node in enumerate(tree.body):
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        (head if future or docstring else body).append(node)
    shell = ast.parse(f"def {FUNCTION}(): pass\n{FUNCTION}()").body
    function = shell[0]
    assert isinstance(function, ast.FunctionDef)
    function.body = [_TopLevel().visit(node) for node in body]
    code = _code_of(head, function, file)
    if code.co_flags & _SUSPENDS:
        raise SyntaxError("'yield' or 'await' outside function", (file, 1, 1, ""))
    # The compiler tells which names the top level binds: they would be local to the function.
    names = {*code.co_varnames, *code.co_cellvars}
    if names:
        function.body.insert(0, ast.Global(names=sorted(names)))
    module = ast.Module(body=[*head, *shell], type_ignores=[])
    return compile(ast.fix_missing_locations(module), file, "exec", dont_inherit=True)


def lacks_start(source: bytes) -> bool:
    """Whether the program does not call `__starting_point`, which it defines, except in that function itself."""
    nodes: list[ast.AST] = list(ast.parse(source).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == START:
            return False
        if not (isinstance(node, ast.FunctionDef) and node.name == START):
            nodes += ast.iter_child_nodes(node)
    return True


class _TopLevel(ast.NodeTransformer):
    """Replaces statements that are allowed only in a module by ones that are allowed in a function.

    Does not enter other scopes.
    """

    def visit_FunctionDef(self, node: ast.AST) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if [alias.name for alias in node.names] != ["*"]:
            return node
        text = f"from {'.' * node.level}{node.module or ''} import *"
        return ast.copy_location(ast.parse(f"exec({text!r}, globals())").body[0], node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def _code_of(head: list[ast.stmt], function: ast.stmt, file: str) -> types.CodeType:
    probe = ast.fix_missing_locations(ast.Module(body=[*head, function], type_ignores=[]))
    constants = compile(probe, file, "exec", dont_inherit=True).co_consts
    return next(code for code in constants if isinstance(code, types.CodeType) and code.co_name == FUNCTION)
