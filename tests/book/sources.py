"""What an author writes: front matter, code cells and directives of the book's Markdown files."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FENCE = re.compile(r"^\s*(?P<fence>:{3,}|`{3,})\{(?P<name>[\w:-]+)\}\s*(?P<title>.*)$")


@dataclass(frozen=True)
class Directive:
    """A fenced directive: its name, what stands after it, its options, its body, its line."""

    name: str
    title: str
    options: dict[str, Any]
    body: str
    line: int


def front_matter(path: Path) -> dict[str, Any]:
    """Return the YAML block that opens a page, empty where there is none."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith("---\n"):
        return {}
    return yaml.safe_load(text[4 : text.index("\n---\n", 4)]) or {}


def directives(path: Path) -> list[Directive]:
    """Return the fenced directives of a page, nested ones too, in order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines):
        if opening := FENCE.match(line):
            content = textwrap.dedent("\n".join(body(lines, number, opening["fence"]))).splitlines()
            options, rest = split_options(content)
            found.append(
                Directive(opening["name"], opening["title"].strip(), options, rest, number + 1)
            )
    return found


def body(lines: list[str], start: int, fence: str) -> list[str]:
    """Return the lines between a fence and the one that closes it."""
    closing = re.compile(rf"^\s*{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    for end in range(start + 1, len(lines)):
        if closing.match(lines[end]):
            return lines[start + 1 : end]
    raise AssertionError(f"the directive at line {start + 1} is never closed")


def split_options(content: list[str]) -> tuple[dict[str, Any], str]:
    """Separate a directive's options, of either spelling, from its body."""
    if content and content[0].strip() == "---":
        end = next(i for i, line in enumerate(content[1:], 1) if line.strip() == "---")
        options = yaml.safe_load("\n".join(content[1:end])) or {}
        return options, "\n".join(content[end + 1 :]).strip()
    end = next((i for i, line in enumerate(content) if not line.startswith(":")), len(content))
    options = yaml.safe_load("\n".join(line[1:] for line in content[:end])) or {}
    return options, "\n".join(content[end:]).strip()
