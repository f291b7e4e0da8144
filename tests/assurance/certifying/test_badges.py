"""A badge is an SVG that every reader of XML takes, whatever names are on it."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assurance.certifying.sealed import badge
from geval.reports.requirements import RequirementOutcome


@given(judge=st.text(st.characters(exclude_categories=())), criterion=st.text(), fits=st.booleans())
def test_a_badge_is_xml_whatever_the_names(judge: str, criterion: str, fits: bool) -> None:
    root = ET.fromstring(badge(judge, criterion, RequirementOutcome.MET, fits=fits))

    assert root.tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("odd", ["\x01", "\x1b[31m", "\x7f", "\x85", "\ufffe", "\ud800", "\n"])
def test_control_characters_of_names_are_blanks(odd: str) -> None:
    root = ET.fromstring(badge(f"my{odd}judge", "relevance", RequirementOutcome.MET))

    assert root.attrib["aria-label"].startswith("my ")
    assert root.attrib["aria-label"].endswith("judge: relevance: met")
