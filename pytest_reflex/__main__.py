"""``python -m pytest_reflex`` is ``pytest-reflex``.

``python -m`` puts the working folder first where modules are looked for. A file of the project that
has the name of a module must not run in this program, so the folder is taken off again, unless the
package itself lies there.
"""

import sys

if sys.path and sys.path[0] and not __file__.startswith(sys.path[0].rstrip("/") + "/"):
    del sys.path[0]

from pytest_reflex.cli.main import main  # behind the line above

sys.exit(main())
