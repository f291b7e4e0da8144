"""Types of arrays, and how exact means are."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Means that are equal as fractions differ in their last bits as floats; ties are decided on the
# exact means.
DIGITS = 10
