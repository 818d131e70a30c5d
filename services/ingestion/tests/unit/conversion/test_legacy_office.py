"""Legacy office files without LibreOffice."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.conversion.errors import UnsupportedFormat
from ingestion.conversion.file_format import Format
from ingestion.conversion.legacy_office import through_libreoffice


def test_a_failure_is_reported_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        UnsupportedFormat, match=r"\.rtf needs LibreOffice.*INSTALL_LIBREOFFICE=1, or save .* as \.docx"
    ):
        through_libreoffice(b"{\\rtf1}", Format.rtf, tmp_path)
