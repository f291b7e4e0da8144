"""geval_site: find out, with statistics, whether an LLM can judge your texts."""

import os

from geval_site.version import __version__

__all__ = ["__version__"]

# Set before NumPy is imported. Otherwise its OpenBLAS starts a thread per core, and each product
# waits for all of them: beside two busy processes a report of SummEval took 27 s of CPU, not 5, on
# two cores; alone it is no faster.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
