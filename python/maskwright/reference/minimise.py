"""Which states of a DFA are one and the same, and in which order do they come?

Liveness, minimisation and numbering: after them the tables are a function of the language alone.
"""

from __future__ import annotations

from collections import defaultdict

from maskwright.reference.subset import DEAD


def live_states(rows: list[list[int]], accept: list[bool]) -> list[bool]:
    """Which states can still reach an accepting one: a search backwards from those."""
    before = predecessors(rows)
    live = list(accept)
    stack = [state for state, accepting in enumerate(accept) if accepting]
    while stack:
        for state in before[stack.pop()]:
            if not live[state]:
                live[state] = True
                stack.append(state)
    return live


def cut_dead(rows: list[list[int]], live: list[bool]) -> list[list[int]]:
    """The rows with every transition into a state that is not live turned into DEAD."""
    return [[target if target != DEAD and live[target] else DEAD for target in row] for row in rows]


def predecessors(rows: list[list[int]]) -> list[list[int]]:
    """For each state the states with a transition to it, each once."""
    before: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row):
            if target != DEAD:
                before[target].append(state)
    return before


def equivalence_blocks(rows: list[list[int]], accept: list[bool]) -> list[int]:
    """The block of each state: two states share one exactly if they accept the same futures.

    Moore's refinement, starting from accepting and not: a block splits where its states go to different
    blocks. Two savings keep it from a round of all states per step, which would take minutes on a chain of
    10,000: only states with a successor that changed its block are looked at again, and the largest part of
    a split keeps the number (as in Hopcroft), so that a state changes its block at most log2(n) times.
    """
    before = predecessors(rows)
    # The entry past the end stands for DEAD, which is -1 and so indexes it.
    block = [int(accepting) for accepting in accept] + [DEAD]
    members = [{s for s, accepting in enumerate(accept) if accepting == wanted} for wanted in (False, True)]
    changed = set(range(len(rows)))
    while changed:
        touched: defaultdict[int, set[int]] = defaultdict(set)
        for state in changed:
            touched[block[state]].add(state)
        parts = [_parts(members[number], dirty, rows, block) for number, dirty in touched.items()]
        changed = set()
        for number, split in zip(touched, parts, strict=True):
            for part in _all_but_largest(split):
                for state in part:
                    block[state] = len(members)
                    changed.update(before[state])
                members[number] -= part
                members.append(part)
    return block[:-1]


def _parts(members: set[int], dirty: set[int], rows: list[list[int]], block: list[int]) -> list[set[int]]:
    """Split one block by where its states go. The states that are not dirty go where they went: one part."""
    by_successors: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
    for state in dirty:
        by_successors[_successors(rows[state], block)].add(state)
    if len(dirty) < len(members):
        clean = members - dirty
        by_successors[_successors(rows[next(iter(clean))], block)] |= clean
    return list(by_successors.values())


def _successors(row: list[int], block: list[int]) -> tuple[int, ...]:
    return tuple([block[target] for target in row])


def _all_but_largest(parts: list[set[int]]) -> list[set[int]]:
    largest = max(parts, key=len)
    return [part for part in parts if part is not largest]


def breadth_first(rows: list[list[int]], block: list[int]) -> list[int]:
    """One state of each reachable block, in the order of a breadth-first walk with the classes ascending."""
    order = [0]
    seen = {block[0]}
    for state in order:  # grows while it is read
        for target in rows[state]:
            if target != DEAD and block[target] not in seen:
                seen.add(block[target])
                order.append(target)
    return order
