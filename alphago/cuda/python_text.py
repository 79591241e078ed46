"""C++ made from the Python text of kernels, for rules that are written only once; `kernel_source.expand` includes it.

`#include "go_ladders.py"` stands for all parts (`@part`) of a module, `#include "go_row.py:copy"` for named functions.
A function becomes a template whose arguments may have any type, and has to be below those that it calls.  What is
understood is the Python of kernels: scalars and flat arrays (`load`, `store`, `boards[depth]`), assignments to names,
`if`, `while`, `for` over `range`, operators, and calls of functions that the C++ has under the same name.
"""

import ast
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

PYTHONS = "Add Sub Mult USub LShift RShift BitAnd BitOr BitXor Invert And Or Not Eq NotEq Lt LtE Gt GtE"
CPPS = "+ - * - << >> & | ^ ~ && || ! == != < <= > >="
OPERATORS = dict(zip(PYTHONS.split(), CPPS.split(), strict=True))
# What C++ would compute otherwise, and is a function of kernels/python.cuh.
DIVISIONS = {"FloorDiv": "floor_divide", "Mod": "modulo"}
BUILTINS = ("min", "max", "abs")


def cpp_text(path: Path, names: Collection[str] = ()) -> str:
    """Return C++ for functions of a kernel module, on the lines on which they are in the module.

    Args:
        path: the module.
        names: the functions; none for all that are decorated with `@part`.

    Raises:
        ValueError: for Python that is not understood, with its file and line, and for a name that is no function.
    """
    translation = Translation(path)
    for name in names or translation.parts():
        translation.add_function(name, "BOTH" if names else "PART")
    return "\n".join([f'#line 1 "{path.name}"', *map(str.rstrip, translation.lines), ""])


class Translation:
    """The C++ of a module, to which functions are added.

    Attributes:
        lines: the text so far, a line for each line of the module.
    """

    def __init__(self, path: Path) -> None:
        source = path.read_text()
        self.lines = [""] * len(source.splitlines())
        self._file = path.name
        self._functions: dict[str, ast.FunctionDef] = {}
        self._imported: set[str] = set()  # names of other modules of kernels, and of what they have
        # The module's own constants, which are written as what they stand for: other modules may have the same names.
        self._constants: dict[str, ast.expr] = {}
        self._scopes: list[set[str]] = []  # the variables of the block that is being translated and of those around it
        for node in ast.parse(source).body:
            match node:
                case ast.FunctionDef(name):
                    self._functions[name] = node
                case ast.ImportFrom(_, names):
                    self._imported |= {name.asname or name.name for name in names}
                case ast.Assign([ast.Name(name)], value):
                    self._constants[name] = value
                case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                    self._constants |= dict(zip(map(ast.unparse, targets), values, strict=True))

    def parts(self) -> list[str]:
        """Return the names of the module's parts."""
        decorators = {name: list(map(ast.unparse, node.decorator_list)) for name, node in self._functions.items()}
        return [name for name, texts in decorators.items() if "part" in texts]

    def add_function(self, name: str, keyword: str) -> None:
        """Add a function; keyword: BOTH or PART, see kernels/python.cuh."""
        if name not in self._functions:
            raise ValueError(f"{self._file} has no function {name}")
        function = self._functions[name]
        arguments = [argument.arg for argument in function.args.args]
        types = ", ".join(f"class T{i}" for i in range(len(arguments)))
        typed = ", ".join(f"T{i} {argument}" for i, argument in enumerate(arguments))
        self._add_block(function, f"template <{types}> {keyword} auto {name}({typed})", function.body, arguments)

    def _add_block(self, node: ast.stmt, head: str, body: list[ast.stmt], variables: Collection[str] = ()) -> None:
        """Add a block of statements with its head.

        Args:
            node: the head is on the line on which this statement begins.
            variables: those that the head declares.
        """
        self.lines[node.lineno - 1] += f"{head} {{ "
        self._scopes.append(set(variables))
        for statement in body:
            self._add_statement(statement)
        self._scopes.pop()
        self.lines[(body[-1].end_lineno or 0) - 1] += "} "

    def _add_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.If(test, body, others):
                self._add_block(node, f"if {self._condition(test)}", body)
                if others:
                    self._add_block(others[0], "else", others)
            case ast.While(test, body, []):
                self._add_block(node, f"while {self._condition(test)}", body)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), limits), body, []) if not (
                self._is_variable(name) or name in assigned(body)
            ):
                self._add_block(node, self._loop(name, limits), body, [name])
            case ast.Pass() | ast.Expr(ast.Constant(str())):  # the latter is a docstring
                pass
            case _:
                self.lines[node.lineno - 1] += f"{self._statement(node)}; "

    def _loop(self, name: str, limits: list[ast.expr]) -> str:
        """Return the head of a loop over a range, whose end is computed once, as in Python."""
        step = ast.literal_eval(limits[2]) if len(limits) == 3 else 1
        start, end = (self._text(limit) for limit in (limits[:2] if len(limits) > 1 else [ast.Constant(0), *limits]))
        sign = "<" if step > 0 else ">"
        return f"for (auto {name} = {start}, end_of_{name} = {end}; {name} {sign} end_of_{name}; {name} += {step})"

    def _statement(self, node: ast.stmt) -> str:
        """Return the text of a statement without a block and without its semicolon."""
        match node:
            case ast.Break() | ast.Continue() | ast.Return(None):
                return ast.unparse(node)
            case ast.Return(ast.expr() as value):
                return f"return {self._text(value)}"
            case ast.Expr(ast.Call(ast.Name("store"), [array, i, value])):
                return f"{self._text(array)}[{self._text(i)}] = {self._text(value)}"
            case ast.Expr(ast.Call() as call):
                return self._text(call)
            case ast.AugAssign(ast.Name(name), op, value) if self._is_variable(name) and self._sign(op):
                return f"{name} {self._sign(op)}= {self._text(value)}"
            case ast.Assign([*others, ast.Name(name)], value):
                first = self._assignment(name, self._text(value))
                rest = ast.copy_location(ast.Assign(others, ast.Name(name)), node)  # `a = b = 0` sets b, then a to b
                return f"{first}; {self._statement(rest)}" if others else first
        self._refuse(node)

    def _assignment(self, name: str, value: str) -> str:
        """Return an assignment, which declares a variable that neither the block nor one around it has."""
        declaration = "" if self._is_variable(name) else "auto "
        if declaration:
            self._scopes[-1].add(name)
        return f"{declaration}{name} = {value}"

    def _is_variable(self, name: str) -> bool:
        """Return whether the block or one around it has this variable."""
        return any(name in scope for scope in self._scopes)

    def _sign(self, op: ast.AST) -> str | None:
        """Return the sign of an operator that C++ has too; None for others."""
        return OPERATORS.get(type(op).__name__)

    def _condition(self, node: ast.expr) -> str:
        """Return the text of a condition, in one pair of parentheses: compilers warn of two around a comparison."""
        text = self._text(node)
        return text if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)) else f"({text})"

    def _text(self, node: ast.expr) -> str:
        """Return the text of an expression, in parentheses where C++ might read it otherwise."""
        match node:
            case ast.Constant(bool(value)):
                return str(value).lower()
            case ast.Constant(int(value)):
                return str(value)
            case ast.Name(name) if self._is_variable(name):
                return name
            case ast.Name(name) if name in self._constants:
                return self._text(self._constants[name])
            case ast.Name(name):
                self._refuse(node, f"{name} is no variable of this block or of one around it")
            case ast.Attribute(ast.Name(module), name) if module in self._imported:  # a constant of another module
                return name
            case ast.Subscript(ast.Attribute(ast.Name(array), "shape"), i):
                return f"{array}.shape[{self._text(i)}]"
            case ast.Subscript(array, i) | ast.Call(ast.Name("load"), [array, i]):
                return f"{self._text(array)}[{self._text(i)}]"
            case ast.Call(ast.Attribute(ast.Name("np"), "float32"), [value]):
                return f"(float)({self._text(value)})"
            case ast.Call(ast.Name(name), arguments, []) if name in BUILTINS:
                return f"python::{name}({self._texts(arguments)})"
            case ast.Call(ast.Name(name), arguments, []) if name in self._imported | self._functions.keys():
                return f"{name}({self._texts(arguments)})"
            case ast.Call(ast.Attribute(ast.Name(module), name), arguments, []) if module in self._imported:
                return f"{name}({self._texts(arguments)})"
            case ast.BinOp(left, op, right) if type(op).__name__ in DIVISIONS:
                return f"python::{DIVISIONS[type(op).__name__]}({self._texts([left, right])})"
            case ast.BinOp(ast.Call(ast.Attribute(_, "float32")), ast.Div(), ast.Call(ast.Attribute(_, "float32"))):
                return f"({self._text(node.left)} / {self._text(node.right)})"  # of other numbers Python makes doubles
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]) if self._sign(op):
                return f"({self._text(left)} {self._sign(op)} {self._text(right)})"
            case ast.UnaryOp(op, operand) if self._sign(op):
                return f"({self._sign(op)}{self._text(operand)})"
            case ast.BoolOp(op, values):
                return f"({self._texts(values, f' {self._sign(op)} ')})"
            case ast.IfExp(test, body, other):
                return f"({self._text(test)} ? {self._text(body)} : {self._text(other)})"
        self._refuse(node)

    def _texts(self, nodes: list[ast.expr], between: str = ", ") -> str:
        return between.join(map(self._text, nodes))

    def _refuse(self, node: ast.stmt | ast.expr, reason: str = "") -> NoReturn:
        """Raise ValueError for Python that is not understood."""
        reason = reason or f"C++ cannot be made of {ast.unparse(node)!r}"
        raise ValueError(f"{self._file}, line {node.lineno}: {reason}")


def assigned(body: list[ast.stmt]) -> set[str]:
    """Return the names to which statements assign."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
