"""How are the formats made that no notation writes well: chains of rules, towers of `~`, huge objects?

Each maker takes the size of the case and gives a grammar in the engine's terms.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from maskwright.ir import Builder, Declared, Grammar, Node, Open


def rule_chain_down(size: int) -> Grammar:
    """r0 = "a" r1 "b", r1 = "a" r2 "b", ...: each rule refers to the next."""
    return _chain(size, range(size), nests=True)


def rule_chain_up(size: int) -> Grammar:
    """The same, where each rule refers to the one declared before it."""
    return _chain(size, range(size - 1, -1, -1), nests=True)


def unit_chain_down(size: int) -> Grammar:
    """r0 = r1, r1 = r2, ..., and the last is a letter."""
    return _chain(size, range(size), nests=False)


def unit_chain_up(size: int) -> Grammar:
    """The same, where each rule refers to the one declared before it."""
    return _chain(size, range(size - 1, -1, -1), nests=False)


def _chain(size: int, order: range, *, nests: bool) -> Grammar:
    builder = Builder()
    rules = [builder.rule(f"r{number}") for number in range(size)]
    chain = [rules[number] for number in order]
    for this, following in pairwise(chain):
        body = builder.reference(following)
        if nests:
            body = builder.sequence([builder.literal(b"a"), body, builder.literal(b"b")])
        builder.define(this, body)
    builder.define(chain[-1], builder.literal(b"x"))
    return builder.grammar(chain[0])


def rule_ladder(size: int) -> Grammar:
    """Levels of three rules, each a choice of a digit and any rule of the next level: copies would be
    3**size.
    """
    builder = Builder()
    levels = [[builder.rule(f"r{level}.{number}") for number in range(3)] for level in range(size)]
    for level, rules in enumerate(levels):
        for number, rule in enumerate(rules):
            digit = builder.literal(b"%d" % number)
            below = levels[level + 1] if level + 1 < size else []
            tails = [builder.sequence([digit, builder.reference(other)]) for other in below]
            builder.define(rule, builder.choice(tails or [digit]))
    return builder.grammar(levels[0][0])


def rule_cycle(size: int) -> Grammar:
    """r0 = r1, r1 = r2, ..., and the last is the first or a letter: a cycle that reads nothing."""
    builder = Builder()
    rules = [builder.rule(f"r{number}") for number in range(size)]
    for number, rule in enumerate(rules):
        body = builder.reference(rules[(number + 1) % size])
        builder.define(rule, builder.choice([body, builder.literal(b"x")]) if number == size - 1 else body)
    return builder.grammar(rules[0])


def node_tower(size: int) -> Grammar:
    """Optional parts, each inside the one before: nodes as deep as the case is large."""
    builder = Builder()
    node = builder.literal(b"x")
    for _ in range(size):
        node = builder.optional(builder.sequence([builder.literal(b"a"), node]))
    return _only(builder, node)


def left_tower(size: int) -> Grammar:
    """Sequences, each the beginning of the next."""
    builder = Builder()
    node = builder.literal(b"x")
    for _ in range(size):
        node = builder.sequence([builder.optional(node), builder.literal(b"a")])
    return _only(builder, node)


def doubling(size: int) -> Grammar:
    """Each node is the one before it twice: 2**size letters, in as many nodes as the case is large."""
    builder = Builder()
    node = builder.literal(b"a")
    for _ in range(size):
        node = builder.sequence([node, node])
    return _only(builder, node)


def and_parts(size: int) -> Grammar:
    """The strings in which none of many words occurs: an intersection of complements."""
    builder = Builder()
    anything = builder.repeat(builder.byte_class(range(256)), 0, None)
    parts = [
        builder.complement(builder.sequence([anything, builder.literal(b"<%d>" % number), anything]))
        for number in range(size)
    ]
    return _only(builder, builder.intersection(parts))


def and_counts(size: int) -> Grammar:
    """Lengths that are multiples of many primes at once: the product of the automata has as many states as
    their product.
    """
    builder = Builder()
    primes = [n for n in range(2, 10 * size) if all(n % d for d in range(2, n))][:size]
    parts = []
    for prime in primes:
        run = builder.literal(b"a" * prime)
        parts.append(builder.repeat(run, 1, None))
    return _only(builder, builder.intersection(parts))


def and_of_nothing(size: int) -> Grammar:
    """(aa)* and a(aa)*: each side has texts, together they have none."""
    builder = Builder()
    even = builder.repeat(builder.literal(b"aa"), 0, None)
    odd = builder.sequence([builder.literal(b"a"), even])
    return _only(builder, builder.intersection([even, odd] * size))


def not_tower(size: int) -> Grammar:
    """~(a ~(a ~(...)))."""
    builder = Builder()
    node = builder.literal(b"x")
    for _ in range(size):
        node = builder.complement(builder.sequence([builder.literal(b"a"), node]))
    return _only(builder, node)


def not_of_not(size: int) -> Grammar:
    """~~~~...a."""
    builder = Builder()
    node = builder.literal(b"a")
    for _ in range(size):
        node = builder.complement(node)
    return _only(builder, node)


def not_of_subsets(size: int) -> Grammar:
    """The complement of: an `a` that many letters precede the end by. Its smallest automaton has 2**size
    states.
    """
    builder = Builder()
    letter = builder.byte_class(b"ab")
    late = builder.sequence(
        [builder.repeat(letter, 0, None), builder.literal(b"a"), builder.repeat(letter, size, size)]
    )
    return _only(builder, builder.complement(late))


def members(size: int) -> Grammar:
    """An object of so many declared keys in any order, every other one required, and any further keys."""
    return _members(size, ordered=False)


def members_in_order(size: int) -> Grammar:
    """The same, in order."""
    return _members(size, ordered=True)


def _members(size: int, *, ordered: bool) -> Grammar:
    builder = Builder()
    tail = builder.literal(b":1")
    declared = [Declared(builder.literal(b'"k%d"' % n), tail, n % 2 == 0) for n in range(size)]
    text = builder.repeat(builder.chars([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)]), 0, None)
    quote = builder.literal(b'"')
    further = Open(builder.sequence([quote, text, quote]), tail)
    node = builder.members(builder.literal(b","), declared, [further], ordered=ordered)
    return _only(builder, builder.sequence([builder.literal(b"{"), node, builder.literal(b"}")]))


def different_items(size: int) -> Grammar:
    """An array of so many different strings at least."""
    builder = Builder()
    quote = builder.literal(b'"')
    text = builder.sequence([quote, builder.repeat(builder.byte_class(b"0123456789"), 0, None), quote])
    node = builder.distinct(builder.literal(b","), [], text, minimum=size)
    return _only(builder, builder.sequence([builder.literal(b"["), node, builder.literal(b"]")]))


def different_words(size: int) -> Grammar:
    """An array of different words out of a list; all of them must be there."""
    builder = Builder()
    word = builder.literals([b'"%d"' % n for n in range(size)])
    node = builder.distinct(builder.literal(b","), [], word, minimum=size)
    return _only(builder, builder.sequence([builder.literal(b"["), node, builder.literal(b"]")]))


def decimal_of_primes(size: int) -> Grammar:
    """Multiples of 9973 and 9967 and of no 7, with so many digits."""
    builder = Builder()
    node = builder.decimal(multiple_of=["9973", "9967"], not_multiple_of=["7"], integer=True, max_digits=size)
    return _only(builder, node)


def decimal_of_nothing(size: int) -> Grammar:
    """Multiples of many primes that are multiples of none: no number but by arithmetic."""
    builder = Builder()
    primes = [str(n) for n in range(2, 12 * size) if all(n % d for d in range(2, n))][:size]
    node = builder.decimal(minimum="1", multiple_of=primes, not_multiple_of=primes[:1], max_digits=100)
    return _only(builder, node)


def decimal_of_holes(size: int) -> Grammar:
    """A number that is a multiple of none of many primes, above all small ones."""
    builder = Builder()
    primes = [str(n) for n in range(2, 12 * size) if all(n % d for d in range(2, n))][:size]
    node = builder.decimal(minimum="2", not_multiple_of=primes, integer=True, max_digits=300)
    return _only(builder, node)


def records(size: int) -> Grammar:
    """A counted array of records whose members come in any order: every step is a new configuration."""
    builder = Builder()
    digits = builder.repeat(builder.byte_class(b"0123456789"), 1, 9)
    tail = builder.sequence([builder.literal(b":"), digits])
    declared = [Declared(builder.literal(b'"%c"' % letter), tail, True) for letter in b"abcdef"]
    members_ = builder.members(builder.literal(b","), declared)
    record = builder.rule(
        "record", builder.sequence([builder.literal(b"{"), members_, builder.literal(b"}")])
    )
    more = builder.sequence([builder.literal(b","), builder.reference(record)])
    body = [
        builder.literal(b"["),
        builder.reference(record),
        builder.repeat(more, size, size),
        builder.literal(b"]"),
    ]
    return _only(builder, builder.sequence(body))


def indented_lists(size: int) -> Grammar:
    """Lists in lists, each level indented by more; `size` blanks a level."""
    builder = Builder()
    value = builder.rule("value")
    line = builder.indentation(b"\n", b" " * size)
    inner = builder.nested(builder.sequence([line, builder.reference(value)]))
    nested = builder.sequence([builder.literal(b"["), inner, line, builder.literal(b"]")])
    builder.define(value, builder.choice([builder.literal(b"1"), nested]))
    return builder.grammar(value)


def wide_choice(size: int) -> Grammar:
    """A choice of many rules that begin alike."""
    builder = Builder()
    branches: list[Node] = []
    for number in range(size):
        rule = builder.rule(f"r{number}", builder.literal(b"common beginning %d" % number))
        branches.append(builder.sequence([builder.reference(rule), builder.literal(b"!")]))
    return _only(builder, builder.choice(branches))


def _only(builder: Builder, node: Node) -> Grammar:
    return builder.grammar(builder.rule("root", node))


MAKERS: dict[str, Callable[[int], Grammar]] = {
    maker.__name__: maker
    for maker in (
        *(
            rule_chain_down,
            rule_chain_up,
            unit_chain_down,
            unit_chain_up,
            rule_ladder,
            rule_cycle,
            wide_choice,
        ),
        *(node_tower, left_tower, doubling, and_parts, and_counts, and_of_nothing),
        *(not_tower, not_of_not, not_of_subsets, members, members_in_order, different_items, different_words),
        *(decimal_of_primes, decimal_of_nothing, decimal_of_holes, records, indented_lists),
    )
}
