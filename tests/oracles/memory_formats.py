"""Random formats that remember, the same for the same seed: their IR, texts near them, and ways to end a
text.

What the formats mean is in `memory_oracle`, which this module does not ask.
"""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random

from maskwright.ir import SPELLING_JSON, SPELLING_RAW, Builder, Declared, Grammar, Node, Open, Rule
from oracles.memory_oracle import SCALARS, Decimal, Distinct, Format, Indented, Members, spell

NAMES = ["a", "b", "ab", "abc", "", "x y", "é", "ba", "a,b"]
FINITE_KEYS = [("a", "q", "qq"), ("z",), ("a", "b"), ("k", "kk", "kkk", "é")]
FINITE_ITEMS = [
    ("1", "2", "12"),
    ("1", "1.0", "1e0", "true"),
    ('"a"', '"\\u0061"', '"b"'),
    ("null", "0", "-0", "0.0", "false"),
    ("[1]", "[1 ]", "[2]"),
    ("7",),
]
STEPS = [
    ("1",),
    ("2",),
    ("0.01",),
    ("0.25",),
    ("3", "2"),
    ("1.5",),
    ("0.3", "0.2"),
    ("7",),
    ("9973", "9967"),
    (),
]
HOLES = [(), (), (), ("2",), ("3", "5"), ("0.5",), ("1",), ("0.03",)]


def random_members(random: Random, *, small: bool) -> Members:
    """An object. `small`: with few texts, so that all can be listed."""
    declared = tuple(random.sample(NAMES, random.randint(0, 3 if small else 5)))
    tails = (
        ("one", "two", "none", "loop") if small else ("one", "two", "ones", "self", "again", "none", "loop")
    )
    minimum = random.choice([0, 0, 0, 1, 2, 3])
    maximum = random.choice([None, None, 1, 2, 3, 4])
    open_keys = random.choice([None, *FINITE_KEYS] if small else [None, "any", "any", *FINITE_KEYS])
    others: list[tuple[str, str, frozenset[int]]] = []
    if not small and random.random() < 0.5:
        for _ in range(random.randint(1, 3)):
            meets = frozenset(random.sample(range(3), random.choice([0, 1, 1, 2])))
            others.append((random.choice(["any", "any", "k"]), random.choice(tails), meets))
    return Members(
        declared=declared,
        required=tuple(key for key in declared if random.random() < 0.4),
        tails=tuple(tails[0] if random.random() < 0.5 else random.choice(tails) for _ in declared),
        open_keys=open_keys,
        open_tail=random.choice([tail for tail in tails if random.random() < 0.95 or tail == "one"]),
        minimum=minimum if maximum is None else min(minimum, maximum),
        maximum=maximum,
        ordered=random.random() < 0.5,
        by_value=random.random() < 0.5,
        separator=random.choice(["tight", "tight", "loose"]),
        others=tuple(others),
    )


def random_distinct(random: Random, *, small: bool) -> Distinct:
    """An array of different items. Places of few values beside others are refused by the engine, and not
    made here.
    """
    infinite = ["string", "number", "pair"]
    minimum, maximum = random.choice([(0, None), (0, 3), (1, 2), (2, None), (3, 3), (0, 1), (2, 4)])
    rest: tuple[str, ...] | str | None = random.choice(FINITE_ITEMS)
    prefix: tuple[str, ...] = ()
    if small:
        maximum = 3 if maximum is None else min(maximum, 3)
        minimum = min(minimum, maximum)
    else:
        prefix = tuple(random.choice(infinite) for _ in range(random.choice([0, 0, 1, 2, 3])))
        if random.random() < 0.8:
            rest = random.choice([*infinite, None] if prefix else infinite)
    return Distinct(
        prefix, rest, minimum, maximum, random.random() < 0.6, random.choice(["tight", "tight", "loose"])
    )


def random_decimal(random: Random, *, small: bool) -> Decimal:
    """A set of numbers: bounds of each kind, multiples, holes."""
    scale = random.choice([1, 10, 100])
    reach = random.choice([5, 99, 1200]) if small else random.choice([99, 1200, 10**6, 10**12])
    low, high = sorted(random.randint(-reach * scale, reach * scale) for _ in range(2))
    return Decimal(
        minimum=None if random.random() < 0.4 else plain(Fraction(low, scale)),
        maximum=None if random.random() < 0.4 else plain(Fraction(high, scale)),
        exclusive_minimum=random.random() < 0.3,
        exclusive_maximum=random.random() < 0.3,
        multiple_of=random.choice(STEPS) if random.random() < 0.6 else (),
        not_multiple_of=random.choice(HOLES),
        integer=random.random() < 0.3,
        max_fraction=random.choice([0, 1, 2]) if small else random.choice([0, 2, 6, 20]),
        max_digits=random.choice([1, 2]) if small else random.choice([3, 8, 40]),
    )


def plain(value: Fraction) -> str:
    """A decimal fraction as plain decimal, without an exponent."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


# To the IR


def to_ir(format_: Format) -> Grammar:
    """The format in the engine's terms."""
    builder = Builder()
    if isinstance(format_, Decimal):
        node = builder.decimal(
            minimum=format_.minimum,
            maximum=format_.maximum,
            exclusive_minimum=format_.exclusive_minimum,
            exclusive_maximum=format_.exclusive_maximum,
            multiple_of=format_.multiple_of,
            not_multiple_of=format_.not_multiple_of,
            integer=format_.integer,
            max_fraction=format_.max_fraction,
            max_digits=format_.max_digits,
        )
        return builder.grammar(builder.rule("number", node))
    root = builder.rule("root")
    if isinstance(format_, Members):
        builder.define(root, _object(builder, format_, root))
    elif isinstance(format_, Distinct):
        builder.define(root, _array(builder, format_))
    else:
        builder.define(root, _value(builder, format_, root))
    return builder.grammar(root)


def _object(builder: Builder, format_: Members, root: Rule) -> Node:
    declared = [
        Declared(builder.literal(spell(key)), _tail(builder, tail, root), key in format_.required)
        for key, tail in zip(format_.declared, format_.tails, strict=True)
    ]
    keys: list[Node] = []
    if isinstance(format_.open_keys, tuple):
        keys = [builder.literals(map(spell, format_.open_keys))]
    elif format_.open_keys == "any":
        keys = [_any_key(builder, format_.by_value)]
    members = builder.members(
        _separator(builder, format_.separator),
        declared,
        [Open(key, _tail(builder, format_.open_tail, root)) for key in keys]
        + [
            Open(
                _any_key(builder, format_.by_value, b'"k' if keys_ == "k" else b'"'),
                _tail(builder, tail, root),
                sum(1 << need for need in meets),
            )
            for keys_, tail, meets in format_.others
        ],
        minimum=format_.minimum,
        maximum=format_.maximum,
        ordered=format_.ordered,
        spelling=SPELLING_JSON if format_.by_value else SPELLING_RAW,
    )
    return builder.sequence([builder.literal(b"{"), members, builder.literal(b"}")])


def _tail(builder: Builder, tail: str, root: Rule) -> Node:
    one = builder.literal(b"1")
    values = {
        "one": one,
        "two": builder.choice([one, builder.literal(b"12")]),
        "none": builder.empty(),
        "ones": builder.sequence(
            [builder.literal(b"[1"), builder.repeat(builder.literal(b",1"), 0, None), builder.literal(b"]")]
        ),
        "self": builder.choice([one, builder.reference(root)]),
        "again": builder.reference(root),
        "loop": _endless(builder) if tail == "loop" else one,
    }
    return builder.sequence([builder.literal(b":"), values[tail]])


def _endless(builder: Builder) -> Node:
    """A rule that no text ends."""
    rule = builder.rule("endless")
    builder.define(rule, builder.sequence([builder.literal(b"x"), builder.reference(rule)]))
    return builder.reference(rule)


def _any_key(builder: Builder, by_value: bool, opening: bytes = b'"') -> Node:
    character = builder.chars([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)])
    hexadecimal = builder.byte_class(b"0123456789abcdef")
    escapes = [
        builder.sequence([builder.literal(b"\\u"), builder.repeat(hexadecimal, 4, 4)]),
        builder.literal(b'\\"'),
    ]
    body = builder.choice([character, *escapes]) if by_value else character
    quote = builder.literal(b'"')
    return builder.sequence([builder.literal(opening), builder.repeat(body, 0, None), quote])


def _separator(builder: Builder, kind: str) -> Node:
    comma = builder.literal(b",")
    if kind == "tight":
        return comma
    space = builder.optional(builder.literal(b" "))
    return builder.sequence([space, comma, space])


def _array(builder: Builder, format_: Distinct) -> Node:
    items = builder.distinct(
        _separator(builder, format_.separator),
        [_item(builder, kind) for kind in format_.prefix],
        None if format_.rest is None else _item(builder, format_.rest),
        minimum=format_.minimum,
        maximum=format_.maximum,
        spelling=SPELLING_JSON if format_.by_value else SPELLING_RAW,
    )
    return builder.sequence([builder.literal(b"["), items, builder.literal(b"]")])


def _item(builder: Builder, kind: tuple[str, ...] | str) -> Node:
    if isinstance(kind, tuple):
        return builder.literals([item.encode() for item in kind])
    digit = builder.byte_class(b"0123456789")
    more = builder.sequence([builder.byte_class(b"123456789"), builder.repeat(digit, 0, None)])
    whole = builder.choice([builder.literal(b"0"), more])
    if kind == "number":
        minus = builder.optional(builder.literal(b"-"))
        fraction = builder.optional(builder.sequence([builder.literal(b"."), builder.repeat(digit, 1, None)]))
        exponent = builder.optional(builder.sequence([builder.literal(b"e"), minus, digit]))
        return builder.sequence([minus, whole, fraction, exponent])
    if kind == "pair":
        space = builder.optional(builder.literal(b" "))
        comma = builder.literal(b",")
        first = builder.sequence([builder.literal(b"["), space, whole, space, comma])
        return builder.sequence([first, space, whole, space, builder.literal(b"]")])
    hexadecimal = builder.byte_class(b"0123456789abcdef")
    escape = builder.sequence([builder.literal(b"\\u00"), hexadecimal, hexadecimal])
    body = builder.choice([builder.byte_class(b"ab"), builder.literal("é".encode()), escape])
    quote = builder.literal(b'"')
    return builder.sequence([quote, builder.repeat(body, 0, None), quote])


def _value(builder: Builder, format_: Indented, root: Rule) -> Node:
    """A list or an object breaks the line one level deeper before each item, and at its own level before
    its end.
    """
    line = builder.indentation(b"\n", b" " * format_.indent)
    value = builder.reference(root)
    comma = builder.sequence([builder.literal(b","), line])
    item = builder.repeat(builder.sequence([comma, value]), 0, None)
    items = builder.nested(builder.sequence([line, value, item]))
    key = builder.sequence(
        [
            builder.literal(b'"'),
            builder.repeat(builder.byte_class(b"abc"), 0, None),
            builder.literal(b'"'),
        ]
    )
    members = builder.members(
        comma, [], [Open(key, builder.sequence([builder.literal(b": "), value]))], minimum=1
    )
    pairs = builder.nested(builder.sequence([line, members]))
    return builder.choice(
        [
            builder.literals([json.dumps(scalar).encode() for scalar in SCALARS]),
            builder.literals([b"[]", b"{}"]),
            builder.sequence([builder.literal(b"["), items, line, builder.literal(b"]")]),
            builder.sequence([builder.literal(b"{"), pairs, line, builder.literal(b"}")]),
        ]
    )


# Texts


def near_text(format_: Format, random: Random) -> bytes:
    """A text that is in the format, or nearly."""
    if isinstance(format_, Members):
        return _near_object(format_, random, 0)
    if isinstance(format_, Distinct):
        return _near_array(format_, random)
    if isinstance(format_, Decimal):
        return _near_number(format_, random)
    text = format_.write(_random_value(random, 0))
    if random.random() < 0.4:
        at = random.randrange(len(text))
        return text[:at] + random.choice([b" ", b"", b"\n", b","]) + text[at + random.randint(0, 1) :]
    return text


def _near_object(format_: Members, random: Random, depth: int) -> bytes:
    others = {"any": ["k", "kk", "a", "\U0001f600", '"', "\x01"], None: []}
    some = [*others.get(format_.open_keys, format_.open_keys), *(("k", "kq", "q") if format_.others else ())]  # type: ignore[list-item]
    pool = list(dict.fromkeys([*format_.declared, *some, "zz"]))
    count = random.randint(0, min(len(pool), 5))
    keys = random.sample(pool, count) if random.random() < 0.7 else random.choices(pool, k=count)
    if random.random() < 0.6:
        keys = list(dict.fromkeys([*keys, *format_.required]))
    if format_.ordered and random.random() < 0.7:
        keys.sort(key=lambda key: format_.declared.index(key) if key in format_.declared else 99)
    tails = dict(zip(format_.declared, format_.tails, strict=True))
    parts = []
    for key in keys:
        name = spell(key)
        if key not in tails and random.random() < 0.4:
            name = b'"' + b"".join(_spelling(c, random) for c in key) + b'"'
        further = random.choice([format_.open_tail, *(tail for _, tail, _ in format_.others)])
        parts.append(name + _near_tail(format_, tails.get(key, further), random, depth))
    between = [random.choice([b",", b", ", b" ,"]) if format_.separator == "loose" else b"," for _ in parts]
    body = b"".join(part + comma for part, comma in zip(parts, between, strict=True))
    return b"{" + (body.rstrip(b", ") if random.random() < 0.97 else body) + b"}"


def _spelling(character: str, random: Random) -> bytes:
    if random.random() < 0.5:
        return json.dumps(character, ensure_ascii=False)[1:-1].encode()
    units = character.encode("utf-16-be")
    return b"".join(b"\\u" + units[at : at + 2].hex().encode() for at in range(0, len(units), 2))


def _near_tail(format_: Members, tail: str, random: Random, depth: int) -> bytes:
    if tail in ("self", "again") and depth < 2 and random.random() < 0.6:
        return b":" + _near_object(format_, random, depth + 1)
    return {"two": random.choice([b":1", b":12"]), "ones": random.choice([b":[1]", b":[1,1]"])}.get(
        tail, b":1"
    )


_ITEM_TEXTS = {
    "string": ['""', '"a"', '"\\u0061"', '"ab"', '"b"', '"é"', '"\\u00e9"', '"\\u0022"', '"\\u005c"'],
    "number": ["1", "1.0", "1e0", "10e-1", "0", "-0", "0.0", "0e5", "-1", "12", "1.20", "1.2", "12e-1"],
    "pair": ["[1,2]", "[ 1, 2 ]", "[2,1]", "[12,1]", "[1,21]", "[01,2]"],
}


def _near_array(format_: Distinct, random: Random) -> bytes:
    items = []
    for place in range(random.randint(0, 4)):
        kind = format_.prefix[place] if place < len(format_.prefix) else format_.rest
        pool = _ITEM_TEXTS[kind] if isinstance(kind, str) else kind or ("1",)
        items.append(random.choice(pool).encode())
    between = random.choice([b",", b" , "]) if format_.separator == "loose" else b","
    return b"[" + between.join(items) + (b"]" if random.random() < 0.97 else b",]")


def _near_number(format_: Decimal, random: Random) -> bytes:
    step = Fraction(1)
    for number in format_.multiple_of:
        step = step * Fraction(number) if random.random() < 0.9 else step
    centre = Fraction(random.choice([format_.minimum, format_.maximum, "0"]) or "0")
    near = (
        (centre // step + random.randint(-3, 3)) * step
        if random.random() < 0.6
        else centre + random.randint(-2, 2)
    )
    value = random.choice(
        [near, near + Fraction(random.randint(-20, 20), 100), Fraction(random.randint(-99, 99))]
    )
    text = plain(value)
    if random.random() < 0.3:
        text += random.choice([".", ".0", "0", "00", ".50", "e0"])
    return (random.choice(["-", "0", "+"]) + text if random.random() < 0.1 else text).encode()


def _random_value(random: Random, depth: int) -> object:
    kind = random.random()
    if depth > 3 or kind < 0.4:
        return random.choice(SCALARS)
    if kind < 0.7:
        return [_random_value(random, depth + 1) for _ in range(random.randint(0, 3))]
    keys = random.sample(["", "a", "b", "ab", "abc"], random.randint(0, 3))
    return {key: _random_value(random, depth + 1) for key in keys}


def closers(format_: Format) -> list[bytes]:
    """What to try in turn, at any place, to bring a text to its end; where none fits, any byte will do."""
    if isinstance(format_, Distinct):
        return [b"]", b'"', b",", b"1"]
    if not isinstance(format_, Members):
        return [b"]", b"}", b'"', b"\n", b" ", b"1", b"0"]
    ends = {"one": b":1", "two": b":1", "self": b":1", "ones": b":[1]"}
    tails = zip(format_.declared, format_.tails, strict=True)
    members = [spell(key) + ends[tail] for key, tail in tails if tail in ends]
    members += [b'"k%d"' % n + ends[tail] for n, (_, tail, _) in enumerate(format_.others) if tail in ends]
    # Members that end come first: an object that needs another within it may go on like that.
    first = [*members, *(b"," + member for member in members), b'":1', b'":[1]', b'":{']
    return [*first, b"}", b"]", b":1", b":[", b":{", b"1", b'"', b',"']
