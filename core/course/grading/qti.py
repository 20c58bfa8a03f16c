"""A lab's questions as a QTI 2.1 package: for each question a pool of numbers, of which a test draws one a student.

An item asks for one number in a named unit, and is right within the tolerance that the questions have. A test has a
section a question, which selects one item of its pool: that is how QTI gives each student numbers of their own.
Source: IMS Question & Test Interoperability 2.1 Final, "Assessment Test, Section and Item Information Model", and
IMS Content Packaging 1.1.4.
"""

from collections.abc import Callable, Iterator, Sequence
from xml.etree import ElementTree as Xml

from core.course.grading.questions import points_each, questions, seed_of
from core.course.grading.tasks import Lab
from core.text.question import Number

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGING = "http://www.imsglobal.org/xsd/imscp_v1p1"
_SCHEMA = "http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def package(
    lab: Lab, secret: str, variants: int, worded: Callable[[int, Number], str]
) -> Iterator[tuple[str, str]]:
    """The files of a package by name: an item for each question and variant, the test, the manifest.

    `worded` asks a question of a number in words.
    """
    pools: list[list[str]] = []
    drawn = [questions(lab, seed_of(f"variant {variant}", lab, secret)) for variant in range(1, variants + 1)]
    for place in range(len(drawn[0])):
        pools.append([])
        for variant, asked in enumerate(drawn, 1):
            name = f"q{place + 1}-{variant:03d}"
            pools[-1].append(name)
            question = asked[place]
            yield (
                f"items/{name}.xml",
                _text(_item(name, f"{lab.folder} q{place + 1}", question, worded(place + 1, question))),
            )
    yield "test.xml", _text(_test(lab, pools))
    yield "imsmanifest.xml", _text(_manifest(lab, [name for pool in pools for name in pool]))


def _item(name: str, title: str, question: Number, asks: str) -> Xml.Element:
    item = _root(
        QTI, "assessmentItem", _SCHEMA, identifier=name, title=title, adaptive="false", timeDependent="false"
    )
    response = _under(item, "responseDeclaration", identifier="RESPONSE", cardinality="single", baseType="float")
    due = f"{question.in_unit:.10g}"
    _under(_under(response, "correctResponse"), "value", due)
    score = _under(item, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float")
    _under(_under(score, "defaultValue"), "value", "0")
    body = _under(item, "itemBody")
    _under(body, "p", asks)
    line = _under(body, "p")
    _under(
        line, "textEntryInteraction", responseIdentifier="RESPONSE", expectedLength="12"
    ).tail = f" {question.unit}"
    condition = _under(_under(item, "responseProcessing"), "responseCondition")
    right = _under(condition, "responseIf")
    percent = f"{100 * question.tolerance:g}"
    bounds = {"toleranceMode": "relative", "tolerance": f"{percent} {percent}"} if question.tolerance else {
        "toleranceMode": "exact"
    }  # fmt: skip
    equal = _under(right, "equal", **bounds)
    _under(equal, "variable", identifier="RESPONSE")
    _under(equal, "correct", identifier="RESPONSE")
    _under(_under(right, "setOutcomeValue", identifier="SCORE"), "baseValue", "1", baseType="float")
    return item


def _test(lab: Lab, pools: Sequence[Sequence[str]]) -> Xml.Element:
    test = _root(QTI, "assessmentTest", _SCHEMA, identifier=lab.key, title=lab.folder)
    total = _under(test, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float")
    _under(_under(total, "defaultValue"), "value", "0")
    part = _under(test, "testPart", identifier="part", navigationMode="nonlinear", submissionMode="simultaneous")
    for place, pool in enumerate(pools, 1):
        section = _under(part, "assessmentSection", identifier=f"q{place}", title=f"q{place}", visible="true")
        _under(section, "selection", select="1")
        for name in pool:
            item = _under(section, "assessmentItemRef", identifier=name, href=f"items/{name}.xml")
            _under(item, "weight", identifier="POINTS", value=f"{points_each(lab):g}")
    outcome = _under(_under(test, "outcomeProcessing"), "setOutcomeValue", identifier="SCORE")
    _under(_under(outcome, "sum"), "testVariables", variableIdentifier="SCORE", weightIdentifier="POINTS")
    return test


def _manifest(lab: Lab, names: Sequence[str]) -> Xml.Element:
    schema = "http://www.imsglobal.org/xsd/qti/qtiv2p1/qtiv2p1_imscpv1p2_v1p0.xsd"
    manifest = _root(PACKAGING, "manifest", schema, identifier=f"{lab.key}-manifest")
    metadata = _under(manifest, "metadata")
    _under(metadata, "schema", "QTIv2.1 Package")
    _under(metadata, "schemaversion", "1.0.0")
    _under(manifest, "organizations")
    resources = _under(manifest, "resources")
    test = _under(resources, "resource", identifier="test", type="imsqti_test_xmlv2p1", href="test.xml")
    _under(test, "file", href="test.xml")
    for name in names:
        _under(test, "dependency", identifierref=name)
    for name in names:
        href = f"items/{name}.xml"
        item = _under(resources, "resource", identifier=name, type="imsqti_item_xmlv2p1", href=href)
        _under(item, "file", href=href)
    return manifest


def _root(namespace: str, name: str, schema: str, **attributes: str) -> Xml.Element:
    located = {"xmlns": namespace, "xmlns:xsi": _XSI, "xsi:schemaLocation": f"{namespace} {schema}"}
    return Xml.Element(name, {**located, **attributes})


def _under(parent: Xml.Element, name: str, text: str = "", **attributes: str) -> Xml.Element:
    element = Xml.SubElement(parent, name, attributes)
    element.text = text or None
    return element


def _text(root: Xml.Element) -> str:
    return _HEAD + Xml.tostring(root, encoding="unicode") + "\n"
