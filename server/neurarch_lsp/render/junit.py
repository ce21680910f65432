"""Findings as JUnit XML: a test suite for each file, a test case for each finding."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from neurarch_lsp.render.report import FileReport, file_of, range_of

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(reports: Iterable[FileReport]) -> str:
    suites = [_suite(report) for report in reports]
    tests = sum(max(1, len(report.findings)) for report in reports)
    failures = sum(len(report.findings) for report in reports)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    head += f'<testsuites name="neurarch-lsp" tests="{tests}" failures="{failures}">\n'
    return f"{head}{''.join(suites)}</testsuites>\n"


def _suite(report: FileReport) -> str:
    name = quoteattr(_clean(report.file))
    if not report.findings:
        case = f"    <testcase name={name} classname={name}/>\n"
        return f'  <testsuite name={name} tests="1" failures="0">\n{case}  </testsuite>\n'
    count = len(report.findings)
    lines = [f'  <testsuite name={name} tests="{count}" failures="{count}">\n']
    for finding in report.findings:
        (line, column), _ = range_of(finding.place, report)
        place = f"{file_of(finding.place, report)}:{line}:{column}"
        lines += [
            f'    <testcase name={quoteattr(finding.rule)} classname={name} line="{line}" column="{column}">\n',
            f"      <failure type={quoteattr(str(finding.severity))} message={quoteattr(_clean(finding.message))}>",
            f"{escape(_clean(place))}</failure>\n    </testcase>\n",
        ]
    return "".join([*lines, "  </testsuite>\n"])


def _clean(text: str) -> str:
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
