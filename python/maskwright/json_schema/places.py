"""Where in which document is a schema, and where does its `$ref` lead?

A `Place` is a schema with the resource that it belongs to (what its references are relative to), the way
from the document's root (for messages) and the dynamic scope. Documents are indexed (`$id`, `$anchor`) only
when a reference needs it: most references are pointers within the document, and cost a walk of a few steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from maskwright.errors import LimitError, MaskwrightError, shown_place
from maskwright.json_schema.keywords import (
    VOCABULARIES,
    Draft,
    Parts,
    nearest_name,
    parts_of,
)
from maskwright.json_schema.refusals import malformed, shown, unsupported

__all__ = ["Documents", "Place", "Resource", "draft_of", "subschemas"]

Trail = tuple[Any, ...] | None
"""The way to a schema: (trail of the parent, step, step, ..); None at the root of a document."""

MAX_SCOPES = 1_000
"""Dynamic scopes of a schema: what is read in each is read anew."""

_PATHS = {
    "draft-04/schema": Draft.D4,
    "draft-06/schema": Draft.D6,
    "draft-07/schema": Draft.D7,
    "draft/2019-09/schema": Draft.D2019,
    "draft/2020-12/schema": Draft.D2020,
    "schema": Draft.LATEST,
}
_LATEST = Draft.LATEST
_DRAFTS = {
    f"{scheme}://json-schema.org/{path}": draft
    for path, draft in _PATHS.items()
    for scheme in ("http", "https")  # the official one differs by draft, and many schemas have the other
}
_ONE = frozenset(
    [
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
_LIST = frozenset(["allOf", "anyOf", "items", "oneOf", "prefixItems"])
_MAP = frozenset(
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]
)


class Resource:
    """A schema with a URI of its own: what references are relative to, and where anchors are found."""

    __slots__ = (
        "_document",
        "anchors",
        "draft",
        "dynamic",
        "is_restricted",
        "origin",
        "parts",
        "schema",
        "trail",
        "uri",
    )

    def __init__(self, uri: str, schema: Any, document: Resource | None, draft: Draft, trail: Trail) -> None:
        self.uri = uri
        self.schema = schema
        self._document = document
        self.origin = ""
        """Of the root of a document other than the caller's schema: by which URI it was found."""
        self.draft = draft
        self.trail = trail
        self.anchors: dict[str, tuple[Any, Trail]] | None = None
        self.dynamic: dict[str, tuple[Any, Trail]] = {}
        self.parts = parts_of(draft)
        """What a schema speaks about, by its keys."""
        self.is_restricted = False
        """Whether a metaschema switches some of the keywords off."""

    @property
    def document(self) -> Resource:
        """The root of the document. Not kept at the root itself: a circle would keep the schema until the
        garbage collector comes."""
        return self._document or self


class Place:
    """A schema and where it is. `flags`: what its keywords speak about, once a reader has looked."""

    __slots__ = ("flags", "resource", "schema", "scope", "trail")

    def __init__(
        self,
        schema: Any,
        resource: Resource,
        trail: Trail,
        scope: tuple[Resource, ...],
        flags: int | None = None,
    ) -> None:
        self.schema = schema
        self.resource = resource
        self.trail = trail
        self.scope = scope
        self.flags = flags

    @property
    def draft(self) -> Draft:
        """By which draft the schema is read."""
        return self.resource.draft

    @property
    def keywords(self) -> dict[str, int]:
        """The keywords that mean something here."""
        return self.resource.parts.known

    @property
    def pointer(self) -> str:
        """The JSON Pointer from the root of the document; with the document's URI before it for another
        one."""
        steps: list[str] = []
        trail = self.trail
        while trail is not None:
            steps.extend(str(step).replace("~", "~0").replace("/", "~1") for step in reversed(trail[1:]))
            trail = trail[0]
        found = "".join(f"/{step}" for step in reversed(steps))
        origin = self.resource.document.origin
        return f"{origin}#{found}" if origin else found

    def pointer_to(self, keyword: str) -> str:
        """The pointer to one keyword here."""
        return f"{self.pointer}/{keyword}"

    @property
    def name(self) -> str:
        """A short name for messages: the last step of the way."""
        return str(self.trail[-1]) if self.trail else "root"


class Documents:
    """All documents that a schema can refer to: itself, the caller's registry, the standard metaschemas."""

    def __init__(self, schema: Any, draft: Draft | None, registry: Any) -> None:
        self._registry = registry
        self._forced = draft
        self._resources: dict[str, Resource] = {}
        self._named: dict[int, Resource] = {}
        self._aliases: dict[str, tuple[Any, Trail, Resource]] = {}
        self._scopes: set[tuple[Resource, ...]] = set()
        self.root = self._open("", schema)

    def root_place(self) -> Place:
        """The whole schema."""
        return Place(self.root.schema, self.root, None, (self.root,))

    def child(self, place: Place, schema: Any, *steps: Any) -> Place:
        """A schema inside another one."""
        made = Place(schema, place.resource, (place.trail, *steps), place.scope)
        if isinstance(schema, dict) and ("$id" in schema or "id" in schema or "$schema" in schema):
            self._enter_by_id(made)
        return made

    def _enter_by_id(self, place: Place) -> None:
        """A schema with an `$id` of its own is a resource of its own, known once the document is indexed."""
        if self._names_itself(place.schema, place.draft) is None:
            return
        self._index(place.resource.document)
        inner = self._named.get(id(place.schema))
        if inner is not None and inner is not place.resource:
            place.resource = inner
            place.scope = self._entered(place, inner)

    @staticmethod
    def _names_itself(schema: dict[str, Any], draft: Draft) -> str | None:
        """The URI (without an anchor) by which a schema names itself."""
        name = schema.get("$schema")
        if isinstance(name, str):
            draft = _DRAFTS.get(name.rstrip("#"), draft)
        uri = schema.get(draft.id_keyword)
        if not isinstance(uri, str) or (draft.ref_hides and "$ref" in schema):
            return None
        return urldefrag(uri)[0] or None

    # References

    def follow(self, place: Place, keyword: str) -> Place:
        """Where the `$ref` of a schema leads; `SchemaError` where that is nowhere."""
        reference = place.schema[keyword]
        if not isinstance(reference, str):
            raise malformed(place, keyword, "a reference is a string")
        resource, fragment = self._resource_of(place, keyword, reference)
        schema, trail, resource = self._find(place, keyword, reference, resource, fragment)
        return Place(schema, resource, trail, self._entered(place, resource))

    def follow_dynamic(self, place: Place) -> Place:
        """Where a `$dynamicRef` leads: to the outermost resource entered that has the dynamic anchor."""
        target = self.follow(place, "$dynamicRef")
        name = urldefrag(place.schema["$dynamicRef"])[1]
        self._index(target.resource.document)
        if name not in target.resource.dynamic or target.resource.dynamic[name][0] is not target.schema:
            return target
        for outer in place.scope:
            self._index(outer.document)
            if name in outer.dynamic:
                schema, trail = outer.dynamic[name]
                return Place(schema, outer, trail, self._entered(place, outer))
        return target

    def follow_recursive(self, place: Place) -> Place:
        """Where a `$recursiveRef` leads: to the outermost resource in an unbroken line of
        `$recursiveAnchor`s."""
        target = self.follow(place, "$recursiveRef")
        if not _is_recursive(target.schema):
            return target
        for outer in place.scope:
            if _is_recursive(outer.schema):
                return Place(outer.schema, outer, outer.trail, self._entered(place, outer))
        return target

    def _entered(self, place: Place, resource: Resource) -> tuple[Resource, ...]:
        """The scope at a place with a resource that is entered.

        That matters only for a dynamic anchor that none further out has. So resources that extend each other
        have few scopes, and not one for each way through them.
        """
        scope = place.scope
        if resource is scope[-1] or resource in scope:
            return scope
        new = any(all(name not in outer.dynamic for outer in scope) for name in resource.dynamic)
        if not new and not _is_recursive(resource.schema):
            return scope
        if not new and any(_is_recursive(outer.schema) for outer in scope):
            return scope
        scope = (*scope, resource)
        self._scopes.add(scope)
        if len(self._scopes) > MAX_SCOPES:
            raise LimitError(
                "the schema has too many dynamic scopes",
                limit="dynamic_scopes",
                value=MAX_SCOPES,
                where=shown_place(place.pointer),
                why="each way through resources with different dynamic anchors is one",
                try_="fewer names of dynamic anchors",
            )
        return scope

    def _resource_of(self, place: Place, keyword: str, reference: str) -> tuple[Resource, str]:
        if reference.startswith("#"):
            return place.resource, reference[1:]
        uri, fragment = urldefrag(urljoin(place.resource.uri, reference))
        found = self._resources.get(uri)
        if found is None:
            self._index(place.resource.document)
            found = self._resources.get(uri) or self._fetch(uri)
        if found is None:
            raise unsupported(
                place,
                keyword,
                f"{uri or reference!r} is neither in the schema nor in the registry, and nothing is fetched",
                _meant(place.resource, reference) or "registry={uri: schema}",
            )
        return found, fragment

    def _find(
        self, place: Place, keyword: str, reference: str, resource: Resource, fragment: str
    ) -> tuple[Any, Trail, Resource]:
        if not fragment:
            return resource.schema, resource.trail, resource
        if fragment.startswith("/"):
            found = self._walk(resource, unquote(fragment))
        else:
            self._index(resource.document)
            anchor = (resource.anchors or {}).get(fragment)
            found = None if anchor is None else (*anchor, resource)
        if found is None and resource.draft is Draft.LATEST:
            self._index(resource.document)
            found = self._aliases.get(urljoin(resource.uri, reference))
        if found is None:
            raise unsupported(place, keyword, f"{reference!r} leads nowhere", _meant(resource, reference))
        return found

    def _walk(self, resource: Resource, pointer: str) -> tuple[Any, Trail, Resource] | None:
        schema, trail = resource.schema, resource.trail
        for part in pointer[1:].split("/"):
            step: Any = part.replace("~1", "/").replace("~0", "~") if "~" in part else part
            if isinstance(schema, list) and step.isdigit() and int(step) < len(schema):
                step = int(step)
            elif not isinstance(schema, dict) or step not in schema:
                return None
            schema = schema[step]
            trail = (trail, step)
            if isinstance(schema, dict) and ("$id" in schema or "id" in schema):
                inner = self._inner(schema, resource)
                resource = inner or resource
        if not isinstance(schema, (dict, bool)):
            return None
        return schema, trail, resource

    def _inner(self, schema: Any, resource: Resource) -> Resource | None:
        if self._names_itself(schema, resource.draft) is None:
            return None
        self._index(resource.document)
        return self._named.get(id(schema))

    # Documents

    def _open(self, uri: str, schema: Any) -> Resource:
        meta = schema.get("$schema") if isinstance(schema, dict) else None
        named = _DRAFTS.get(meta.rstrip("#")) if isinstance(meta, str) else None
        draft = self._forced or named or (_LATEST if uri == "" else None)
        name = uri
        if isinstance(schema, dict) and ("$id" in schema or "id" in schema):
            name = urljoin(uri, self._names_itself(schema, draft or _LATEST) or "")
        resource = Resource(name, schema, None, draft or self.root.draft, None)
        if isinstance(meta, str) and named is None:
            self._choose_vocabulary(resource, meta)
        self._resources[uri] = self._resources[resource.uri] = resource
        self._named[id(schema)] = resource
        return resource

    def _choose_vocabulary(self, resource: Resource, name: str) -> None:
        """Leave out the keywords that the metaschema of a schema, one of its author's own, does not switch
        on."""
        place = Place(resource.schema, resource, None, (resource,))
        metaschema = _from_registry(self._registry, name.rstrip("#"))
        if not isinstance(metaschema, dict):
            if self._forced is None:
                raise unsupported(
                    place,
                    "$schema",
                    f"{name!r} is no draft known here, and not in the registry",
                    'draft="2020-12", or the one that the schema was written for',
                    may_drop=False,
                )
            return
        vocabulary = metaschema.get("$vocabulary")
        if not isinstance(vocabulary, dict):
            return
        strange = [uri for uri, needed in vocabulary.items() if needed and uri not in VOCABULARIES]
        if strange:
            raise unsupported(
                place,
                "$schema",
                f"the vocabulary {strange[0]!r} of its metaschema is not known",
                may_drop=False,
            )
        on = {word for uri in vocabulary for word in VOCABULARIES.get(uri, ())}
        off = {word for words in VOCABULARIES.values() for word in words} - on
        resource.is_restricted = True
        known = resource.parts.known
        resource.parts = Parts({word: part for word, part in known.items() if word not in off})

    def _fetch(self, uri: str) -> Resource | None:
        """A document out of the registry, or a standard metaschema; never from the network."""
        schema = _from_registry(self._registry, uri)
        if schema is None:
            schema = _metaschema(uri)
        elif not isinstance(schema, (dict, bool)):
            raise MaskwrightError(
                f"the registry must hold schemas, dicts or booleans, not {shown(schema)}",
                where=f"registry[{uri!r}]",
                code="argument.registry",
            )
        if schema is None:
            return None
        found = self._open(uri, schema)
        found.origin = uri
        self._index(found)
        return found

    def _index(self, document: Resource) -> None:
        """Find what has a name in a document. Once, on the first reference that is no plain pointer."""
        if document.anchors is not None:
            return
        document.anchors = {}
        waiting: list[tuple[Any, Resource, Trail]] = [(document.schema, document, document.trail)]
        while waiting:
            schema, resource, trail = waiting.pop()
            if not isinstance(schema, dict):
                continue
            if schema is not document.schema:
                resource = self._maybe_resource(schema, resource, trail)
            self._add_anchors(schema, resource, trail)
            hidden = resource.draft.ref_hides and "$ref" in schema
            for inner, steps in subschemas(schema):
                if not hidden or steps[0] in ("definitions", "$defs"):
                    waiting.append((inner, resource, (trail, *steps)))

    def _maybe_resource(self, schema: dict[str, Any], outer: Resource, trail: Trail) -> Resource:
        draft = draft_of(schema, outer.draft) or outer.draft
        if self._forced:
            draft = self._forced
        uri = self._names_itself(schema, draft)
        if uri is None:
            if outer.draft is Draft.LATEST and isinstance(schema.get("id"), str):
                self._aliases[urljoin(outer.uri, schema["id"])] = (schema, trail, outer)
            return outer
        made = Resource(urljoin(outer.uri, uri), schema, outer.document, draft, trail)
        made.anchors = {}
        self._resources.setdefault(made.uri, made)
        self._named[id(schema)] = made
        return made

    def _add_anchors(self, schema: dict[str, Any], resource: Resource, trail: Trail) -> None:
        anchors = resource.anchors
        assert anchors is not None
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if isinstance(name, str):
                anchors[name] = (schema, trail)
                if keyword == "$dynamicAnchor":
                    resource.dynamic[name] = (schema, trail)
        name = schema.get(resource.draft.id_keyword)
        if isinstance(name, str) and "#" in name[:-1] and not (resource.draft.ref_hides and "$ref" in schema):
            anchors[name.partition("#")[2]] = (schema, trail)


def _is_recursive(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("$recursiveAnchor") is True


def draft_of(schema: Any, default: Draft | None) -> Draft | None:
    """The draft that a schema's `$schema` names, else the default."""
    name = schema.get("$schema") if isinstance(schema, dict) else None
    return _DRAFTS.get(name.rstrip("#"), default) if isinstance(name, str) else default


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The schemas right inside one, each with the steps to it."""
    for keyword, value in schema.items():
        if keyword in _MAP and isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, (dict, bool)):
                    yield inner, (keyword, name)
        elif keyword in _LIST and isinstance(value, list):
            for i, inner in enumerate(value):
                yield inner, (keyword, i)
        elif keyword in _ONE and isinstance(value, (dict, bool)):
            yield value, (keyword,)


def _meant(resource: Resource, reference: str) -> str | None:
    """The definition of a document that a reference may be a misspelling of."""
    schema = resource.document.schema
    holders = [name for name in ("$defs", "definitions") if isinstance(schema, dict) and name in schema]
    named = {
        key: f"#/{name}/{key}"
        for name in holders
        if isinstance(schema[name], dict)
        for key in schema[name]
        if isinstance(key, str)
    }
    near = nearest_name(reference.rpartition("/")[2].lstrip("#"), named)
    return f'"$ref": "{named[near]}", if that is meant' if near else None


def _from_registry(registry: Any, uri: str) -> Any:
    for name in (uri, f"{uri}#"):
        if registry is not None and name in registry:
            found = registry[name]
            return getattr(found, "contents", found)  # a referencing.Registry holds resources
    return None


def _metaschema(uri: str) -> Any:
    if not uri.startswith(("http://json-schema.org/", "https://json-schema.org/")):
        return None
    from jsonschema_specifications import (  # type: ignore[import-untyped]  # noqa: PLC0415 - takes 50 ms
        REGISTRY,
    )

    try:
        return REGISTRY.get_or_retrieve(uri).value.contents
    except LookupError:
        return None
