import subprocess
import sys
from pathlib import Path

from service_kit.own_folder import own_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from service_kit.own_folder import own_folder
with own_folder(Path(sys.argv[1]), "work-") as folder:
    (folder / "half").write_bytes(b"x" * 1000)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_files_left_by_a_killed_process_are_removed_by_the_next(tmp_path: Path) -> None:
    """Matters for Compose: work files are on a volume, which a restart does not empty, unlike a tmpfs."""
    other = tmp_path / "mine"
    other.mkdir()
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert [path.name for path in tmp_path.glob("work-*/*")] == ["half"]
    with own_folder(tmp_path, "work-") as folder:
        assert list(tmp_path.glob("work-*")) == [folder]
    assert list(tmp_path.iterdir()) == [other]


def test_files_of_a_live_process_are_kept(tmp_path: Path) -> None:
    with own_folder(tmp_path, "work-") as first, own_folder(tmp_path, "work-") as second:
        assert sorted(tmp_path.iterdir()) == sorted([first, second])
