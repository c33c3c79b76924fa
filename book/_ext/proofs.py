"""Make folded proofs and unique anchors of what sphinx-proof and sphinx-exercise emit.

A ``prf:proof`` has no title, which the fold button of sphinx-togglebutton needs, and every proof
and every statement's body carries the same id.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes

PREFIX = "Proof. "
SHARED_IDS = {"proof", "proof-content", "exercise-content", "solution-content"}


def repair(app: Any, doctree: nodes.document) -> None:
    """Title the folded proofs of a page and number the shared ids."""
    for number, node in enumerate(doctree.findall(nodes.Element)):
        is_proof = isinstance(node, nodes.admonition) and "proof" in node["ids"]
        if is_proof and "dropdown" in node["classes"]:
            give_title(node)
        if SHARED_IDS & set(node.get("ids", [])):
            node["ids"] = [f"{name}-{number}" for name in node["ids"]]


def give_title(proof: nodes.admonition) -> None:
    """Move the word *Proof* from the first paragraph into a title."""
    for text in proof.findall(nodes.Text):
        if text.startswith(PREFIX):
            text.parent.replace(text, nodes.Text(text[len(PREFIX) :]))
        break
    proof.insert(0, nodes.title("", "Proof"))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("doctree-read", repair)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
