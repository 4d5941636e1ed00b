"""``python -m adf_ea_ros.nodes.demo``."""

import sys

from adf_ea_ros.nodes.demo.main import main

sys.exit(main())
