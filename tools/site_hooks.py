"""What the documentation site needs beyond Markdown.

Formulas become MathML, which browsers draw themselves, so that nothing is fetched. A heading's address begins with a letter,
for the theme looks headings up by a rule that allows no other.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert
from markdown.extensions.toc import slugify  # type: ignore[import-untyped]

_CODE = re.compile(r"(^ *```.*?^ *```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_WIDE = '<div class="wide" tabindex="0">'
_LONG = ' class="long" tabindex="0"'
_LINE = 25
"""Signs of a formula's source from which on it may be wider than a phone, where it is scrolled by itself."""
_BAR = '<div class="navbar fixed-top'
_BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?!\s)((?:\\.|[^$\\])+?)(?<!\s)\$(?![\w$])", re.DOTALL)


def on_config(config: Any) -> Any:
    """Give headings their addresses; MkDocs calls this once."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = _address
    return config


def _address(heading: str, separator: str) -> str:
    address = slugify(heading, separator)
    return address if address[:1].isalpha() else f"part{separator}{address}"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace formulas outside code; MkDocs calls this for each page."""
    parts = _CODE.split(markdown)
    return "".join(part if at % 2 else _formulas(part) for at, part in enumerate(parts))


def on_page_content(html: str, **_: Any) -> str:
    """Let what is wider than the page be scrolled, with the keyboard as well; MkDocs calls this for each page."""
    html = html.replace("<pre>", '<pre tabindex="0">')
    return re.sub(r"<table>.*?</table>", lambda match: f"{_WIDE}{match[0]}</div>", html, flags=re.DOTALL)


def on_post_page(output: str, **_: Any) -> str:
    """Say what the theme's bar on top is, so that all stands in parts with a name; MkDocs calls this for each page."""
    return output.replace(_BAR, f'{_BAR[:4]} role="banner"{_BAR[4:]}', 1)


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for pages that are not written in Markdown; MkDocs calls this for each."""
    return on_post_page(output_content)


def _formulas(text: str) -> str:
    text = _BLOCK.sub(lambda match: f"\n\n{_WIDE}{_mathml(match[1], 'block')}</div>\n\n", text)
    # inside a span, for Markdown takes a line that begins with a formula for a block of its own
    return _INLINE.sub(lambda match: f"<span{_LONG if len(match[1]) > _LINE else ''}>{_mathml(match[1], 'inline')}</span>", text)


def _mathml(formula: str, display: str) -> str:
    plain = (
        " ".join(html.unescape(formula).split()).replace(r"\boxed", "").replace(r"\;", " ").replace(r"\setminus", r"\backslash")
    )
    markup = convert(plain, display=display)
    # a page needs no namespace, and Markdown must not see a formula's own signs
    markup = markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    return markup.replace("_", "&#95;").replace("*", "&#42;").replace("|", "&#124;")
