"""The reference of the documentation site, made from signatures, docstrings and the command line's own words.

MkDocs calls ``on_files``; the pages exist in the site only. A public name without a docstring is an error of the build.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

LIBRARY = {
    "package": ("The package", "discreet", "What `import discreet` gives: the verbs, and the values they take and return."),
    "errors": ("Errors", "discreet.errors", None),
    "contracts": ("The contract of a plug-in", "discreet.model.contracts", None),
    "testing": ("The testing kit", "discreet.testing", "The kit that tells whether a plug-in complies, and makers of data."),
}  # fmt: skip
"""Page to title, module and opening words; the module's own docstring opens it where there are none."""
PAPERS = {
    "000": "Orooji & Knapp (2018a)", "001": "Orooji & Knapp (2018b)", "002": "Truta et al. (2003)", "003": "Kartal & Li (2016)",
    "004": "Lebanon et al. (2006)",
}  # fmt: skip
"""What the code calls by number."""
_WIDE = 96


class UndocumentedError(Exception):
    """A public name says nothing of itself."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages; MkDocs calls this once it knows the files of the documentation."""
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def pages() -> dict[str, str]:
    """Each page of the reference as Markdown."""
    texts = {name: module_page(*description) for name, description in LIBRARY.items()}
    return texts | {"command_line": command_page()}


def module_page(title: str, module: str, opening: str | None) -> str:
    """The public names of a module, each with its signature and docstring."""
    loaded = importlib.import_module(module)
    names = public(loaded)
    parts = [
        f"# {title}\n",
        opening or prose(loaded.__doc__ or ""),
        f"\n```python\nfrom {module} import (\n{_listed(names)}\n)\n```\n",
    ]
    for name in names:
        parts += _documented(name, getattr(loaded, name))
    return "\n".join(parts) + "\n"


def _listed(names: Sequence[str]) -> str:
    return textwrap.fill(", ".join(names), 80, initial_indent="    ", subsequent_indent="    ")


def public(module: Any) -> list[str]:
    """The names a module means others to use: its ``__all__``, or the classes and functions it defines."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=lambda name: (name[0].isupper(), name))
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and inspect.isroutine(value) | inspect.isclass(value) and value.__module__ == module.__name__
    ]


def _documented(name: str, value: Any) -> Iterator[str]:
    yield f"\n## {name}\n"
    docstring = inspect.getdoc(value) if value.__doc__ else None
    if not docstring:
        raise UndocumentedError(f"{value.__module__}.{name} has no docstring")
    [node] = ast.parse(textwrap.dedent(inspect.getsource(value))).body
    if isinstance(node, ast.FunctionDef):
        yield _code(_signature(node))
        yield prose(docstring)
        return
    assert isinstance(node, ast.ClassDef)
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    yield _code(f"class {name}({bases})" if bases else f"class {name}")
    yield prose(docstring)
    rows = list(_fields(node))
    if rows:
        yield "\n| field | type | default | meaning |\n|---|---|---|---|"
        yield from ("| " + " | ".join(row) + " |" for row in rows)
        yield ""
    for own in _methods(value, node):
        yield f"\n### {name}.{own.name}\n"
        yield _code(_signature(own))
        yield prose(ast.get_docstring(own) or "")


def _methods(value: Any, node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The public methods of a class, and those it has from bases that are too small to be told of themselves."""
    seen: set[str] = set()
    hidden = [base for base in value.__mro__[1:] if base.__module__ == "discreet.model.showing"]
    for class_node in (node, *(ast.parse(textwrap.dedent(inspect.getsource(base))).body[0] for base in hidden)):
        for part in getattr(class_node, "body", ()):
            if not isinstance(part, ast.FunctionDef) or part.name.startswith("_") or part.name in seen:
                continue
            if not any("validator" in ast.unparse(mark) for mark in part.decorator_list):
                seen.add(part.name)
                yield part


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str, str]]:
    """Annotated fields: name, type, default and what is said of them, in a description or in the string below."""
    for at, part in enumerate(node.body):
        target = part.target if isinstance(part, ast.AnnAssign) else None
        if not isinstance(part, ast.AnnAssign) or not isinstance(target, ast.Name) or target.id.startswith("_"):
            continue
        below = node.body[at + 1] if at + 1 < len(node.body) else None
        meaning = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
        default = ""
        if isinstance(part.value, ast.Call) and ast.unparse(part.value.func) in ("Field", "field"):
            words = {word.arg: word.value for word in part.value.keywords}
            if isinstance(description := words.get("description"), ast.Constant):
                meaning = description.value
            first = part.value.args[0] if part.value.args else words.get("default", words.get("default_factory"))
            default = "" if first is None else ast.unparse(first)
        elif part.value is not None:
            default = ast.unparse(part.value)
        default = default if len(default) <= 40 else "…"
        kind = ast.unparse(part.annotation)
        yield f"`{target.id}`", f"`{kind}`", f"`{default}`" if default else "", " ".join(_inline(str(meaning)).split())


def _signature(node: ast.FunctionDef) -> str:
    marks = [mark for mark in map(ast.unparse, node.decorator_list) if mark in ("property", "classmethod", "staticmethod")]
    kinds = "".join(f"@{mark}\n" for mark in marks)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    whole = f"{kinds}{node.name}({ast.unparse(node.args)}){returns}"
    if max(map(len, whole.split("\n"))) <= _WIDE:
        return whole
    return f"{kinds}{node.name}(\n" + "".join(f"    {parameter},\n" for parameter in _parameters(node.args)) + f"){returns}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    """Parameters one by one, as they are written."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: Sequence[ast.expr | None] = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    for argument, default in zip(plain, defaults, strict=True):
        yield ast.unparse(argument) + (f" = {ast.unparse(default)}" if default is not None else "")
    if arguments.vararg or arguments.kwonlyargs:
        yield f"*{ast.unparse(arguments.vararg)}" if arguments.vararg else "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield ast.unparse(argument) + (f" = {ast.unparse(default)}" if default is not None else "")
    if arguments.kwarg:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```\n"


def prose(text: str) -> str:
    """A docstring as Markdown: examples and indented parts as code, the rest as it reads.

    >>> print(prose("Adds ``1``.\\n\\n>>> 1 + 1\\n2"))
    Adds `1`.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    blocks = []
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if part.lstrip().startswith(">>>"):
            blocks.append(_code(textwrap.dedent(part), "pycon").strip())
        elif all(line.startswith("    ") for line in part.split("\n")):
            blocks.append(_code(textwrap.dedent(part), "text").strip())
        else:
            blocks.append(_inline(part))
    return "\n\n".join(blocks)


def _inline(text: str) -> str:
    """Words between two backticks, and names with a role, as code; nothing else is markup."""
    text = re.sub(r"\bseeds? (00\d)(?: and (00\d))?", lambda match: " and ".join(PAPERS[n] for n in match.groups() if n), text)
    text = re.sub(r":\w+:`~?([^`]+)`", r"``\1``", text)
    parts = re.split(r"``(.+?)``", text, flags=re.DOTALL)
    return "".join(f"`{part}`" if at % 2 else re.sub(r"([*_<$|\[])", r"\\\1", part) for at, part in enumerate(parts))


def command_page() -> str:
    """Every command with its arguments and options, as ``--help`` tells them."""
    from typer.main import get_command

    from discreet.cli.app import app

    root: Any = get_command(app)
    parts = ["# The command line\n", _inline(root.help), ""]
    for words, command in _commands(root, ["discreet"]):
        shown = " ".join(words)
        usage = " ".join(piece for parameter in command.params for piece in [_usage(parameter)] if piece)
        parts += [f"\n## {shown}\n", _inline(inspect.cleandoc(command.help or "")), "", _code(f"{shown} {usage}".strip(), "text")]
        rows = [
            (_named(parameter), _inline(getattr(parameter, "help", None) or ""))
            for parameter in command.params
            if parameter.name != "help"
        ]
        if rows:
            parts += [
                "| word | meaning |\n|---|---|",
                *(f"| {name} | {' '.join(meaning.split())} |" for name, meaning in rows),
                "",
            ]
    return "\n".join(parts) + "\n"


def _commands(group: Any, words: list[str]) -> Iterator[tuple[list[str], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, [*words, name])
        else:
            yield [*words, name], command


def _usage(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = parameter.name.upper() + ("…" if parameter.nargs == -1 else "")
        return name if parameter.required else f"[{name}]"
    return f"{parameter.opts[0]} {parameter.name.upper()}" if parameter.required else ""


def _named(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    return ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))
