"""Evidence-assured action execution for ROS 2: a claim counts only when qualified readbacks prove it.

One package name holds two things: the Python code in this folder, and the modules that the build generates
from ``msg/``, ``srv/`` and ``action/`` into the install folder. ``extend_path`` adds every other
``adf_ea_ros`` folder on ``sys.path`` to this package, so that the source folder (which comes first) and the
generated modules work together, also under ``python -m pytest`` at the repository root. Without a build the
package still imports: only ``adf_ea_ros.msg`` and its siblings are missing then.

Keep this file cheap: the layers that need no ROS are imported through it.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)

# The build checks that this is the version in package.xml; setup.py reads it from here.
__version__ = "0.1.0"
