"""The supported formats."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    pdf = "pdf"
    image = "image"
    docx = "docx"
    pptx = "pptx"
    xlsx = "xlsx"
    odt = "odt"
    odp = "odp"
    ods = "ods"
    doc = "doc"
    ppt = "ppt"
    xls = "xls"
    xlsb = "xlsb"
    rtf = "rtf"
    epub = "epub"
    email = "email"
    mhtml = "mhtml"
    boxnote = "boxnote"
    html = "html"
    jats = "jats"
    markdown = "markdown"
    restructured_text = "restructured-text"
    asciidoc = "asciidoc"
    latex = "latex"
    webvtt = "webvtt"
    csv = "csv"
    code = "code"
    text = "text"
