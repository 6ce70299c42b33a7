"""Forms of the pages without a browser: what would be sent, and by whom."""

from __future__ import annotations

import html
import re

from fastapi.testclient import TestClient

PASSWORD = "a longer password than most"


def log_in_as(client: TestClient, name: str) -> None:
    """Continue as another user."""
    client.cookies.clear()
    assert client.post("/login", data={"name": name, "password": PASSWORD}).status_code == 303
    client.headers["x-csrf-token"] = re.search(r'name="csrf" content="([^"]+)"', client.get("/").text)[1]


def form_values(page: str) -> dict[str, str]:
    """The fields that a browser would send from the form of all attributes."""
    values = {}
    for tag in re.findall(r"<input [^>]*>", page):
        if name := re.search(r'name="((?:name|known|sensitivity)\.\d+|base)"', tag):
            values[name[1]] = html.unescape(re.search(r'value="([^"]*)"', tag)[1])
    for name, options in re.findall(r'<select name="((?:role|level)\.\d+)".*?>(.*?)</select>', page):
        chosen = re.search(r'<option (?:value="([^"]*)")?\s*selected>([^<]*)', options)
        values[name] = (chosen[1] if chosen[1] is not None else chosen[2]) if chosen else ""
    return values
