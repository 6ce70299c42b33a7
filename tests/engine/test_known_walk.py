"""The walk over a tree of sets against a recursive function."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.known_sets.walk import walk_sets

Tree = dict[int, list[int]]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Node 0 is the root; every other node lies below an earlier one."""
    size = draw(st.integers(1, 12))
    tree: Tree = {node: [] for node in range(size)}
    for node in range(1, size):
        tree[draw(st.integers(0, node - 1))].append(node)
    return tree


def visit_all(tree: Tree, node: int, path: tuple[int, ...], closed: set[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Each set below a node with its path, depth first; nothing below a closed set."""
    visits = []
    for child in tree[node]:
        visits.append((child, path))
        if child not in closed:
            visits += visit_all(tree, child, (*path, child), closed)
    return visits


@given(trees(), st.sets(st.integers(0, 11)))
def test_sets_are_visited_depth_first_with_the_level_of_their_parent(tree: Tree, closed: set[int]) -> None:
    visits: list[tuple[int, tuple[int, ...]]] = []

    def visit(node: int, level: tuple[int, ...]) -> tuple[int, ...] | None:
        visits.append((node, level))
        return None if node in closed else (*level, node)

    top: tuple[int, ...] = (0,)
    walk_sets(tree.__getitem__, top, visit)
    assert visits == visit_all(tree, 0, (0,), closed)


def test_nothing_is_visited_where_nobody_is_left_at_the_root() -> None:
    walk_sets(lambda _: [1, 2], None, lambda *_: 1 / 0)


def test_another_root_is_walked_from() -> None:
    visits: list[int] = []
    walk_sets({-1: [4], 4: []}.__getitem__, "top", lambda node, _: visits.append(node), root=-1)
    assert visits == [4]
