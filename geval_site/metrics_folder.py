"""Where the web server's processes keep their counters, so that each process can report the counts
of all.

`prometheus_client` writes one file per process into the folder named by PROMETHEUS_MULTIPROC_DIR,
which has to be set before it is imported. https://prometheus.github.io/client_python/multiprocess/
"""

import os
import shutil
import tempfile
from pathlib import Path

from geval_site import environment
from geval_site.datafolder import default_data_dir, private_folder

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_made: list[Path] = []


def share_metrics() -> None:
    """Give this server and its future workers a folder for their counters, unless there is one."""
    if os.environ.get(VARIABLE):
        return
    data_dir = environment.folder("GEVAL_DATA_DIR", default=default_data_dir())
    folders = data_dir / "metrics"
    try:
        private_folder(data_dir)
        private_folder(folders)
        _remove_those_of_ended_servers(folders)
        made = folders / str(os.getpid())
        shutil.rmtree(made, ignore_errors=True)
        private_folder(made)
    except OSError:  # a site on another database may have no data folder
        made = Path(tempfile.mkdtemp(prefix="geval-metrics-"))
    _made.append(made)
    os.environ[VARIABLE] = str(made)


def remove_metrics() -> None:
    """Remove the folder of a server that ends, unless the operator configured it."""
    for folder in _made:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_those_of_ended_servers(folders: Path) -> None:
    for folder in folders.iterdir():
        try:
            os.kill(int(folder.name), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (PermissionError, ValueError):
            continue  # the process is alive, or the folder is not ours
