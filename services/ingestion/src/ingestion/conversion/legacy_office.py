"""Converts Word and PowerPoint files from before 2007, and Rich Text, to .docx and .pptx with LibreOffice."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from ingestion.conversion.errors import CorruptFile, UnsupportedFormat
from ingestion.conversion.file_format import Format

SUCCESSORS = {
    Format.doc: Format.docx,
    Format.rtf: Format.docx,
    Format.ppt: Format.pptx,
}
# No macro runs and no link is followed; anything that is fetched anyway runs into a proxy that does not exist.
SETTINGS = {
    "Office.Common/Security/Scripting": {
        "DisableMacrosExecution": "true",
        "DisableActiveContent": "true",
        "BlockUntrustedRefererLinks": "true",
        "MacroSecurityLevel": "3",
    },
    "Office.Common/Save/URL": {"Internet": "false"},
    "Office.Writer/Content/Update": {"Link": "0"},
    "Office.Calc/Content/Update": {"Link": "2"},
    "Inet/Settings": {
        "ooInetProxyType": "2",
        "ooInetHTTPProxyName": "127.0.0.1",
        "ooInetHTTPProxyPort": "9",
        "ooInetHTTPSProxyName": "127.0.0.1",
        "ooInetHTTPSProxyPort": "9",
        "ooInetNoProxy": "",
    },
}


def through_libreoffice(data: bytes, kind: Format, work: Path) -> tuple[bytes, Format]:
    """Returns the file as .docx or .pptx, converted by a LibreOffice process with its own profile below `work`.

    The process keeps the caller's process group, limits and walls (docling's own conversion would escape the first
    two). Raises UnsupportedFormat if LibreOffice is not installed, CorruptFile if it cannot read the file.
    """
    program = shutil.which("soffice")
    successor = SUCCESSORS[kind]
    if program is None:
        raise UnsupportedFormat(
            f"Reading .{kind} needs LibreOffice, which this worker's image does not have: build it with "
            f"INSTALL_LIBREOFFICE=1, or save the file as .{successor}."
        )
    with tempfile.TemporaryDirectory(dir=work, prefix="office-") as folder:
        source = Path(folder, f"source.{kind}")
        source.write_bytes(data)
        _write_profile(Path(folder, "profile"))
        output = _run(program, source, successor)
        result = source.with_suffix(f".{successor}")
        if not result.is_file():
            reason = " ".join(output.replace(folder, "").split())[:200]
            raise CorruptFile(f"LibreOffice could not read the file as .{kind} ({reason or 'no reason given'}).")
        return result.read_bytes(), successor


def _run(program: str, source: Path, successor: Format) -> str:
    """Runs LibreOffice; returns its standard error output."""
    folder = source.parent
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    options = ["--headless", "--norestore", "--nologo", "--nolockcheck", "--nodefault", "--nofirststartwizard"]
    command = [program, profile, *options, "--convert-to", successor.value, "--outdir", str(folder), str(source)]
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "SAL_USE_VCLPLUGIN": "svp"}
    environment["OSL_SOCKET_PATH"] = str(folder)  # the socket between its own processes
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        cwd=folder,
        env=environment,
    )
    return result.stderr


def _write_profile(profile: Path) -> None:
    items = "".join(
        f'<item oor:path="/org.openoffice.{path}">'
        f'<prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for path, values in SETTINGS.items()
        for name, value in values.items()
    )
    user = profile / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" '
        f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{items}</oor:items>\n',
        encoding="utf-8",
    )
