"""The rig without ROS lives with the tests of the runtime."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
