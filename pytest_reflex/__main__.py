"""``python -m pytest_reflex`` is ``pytest-reflex``."""

import sys

from pytest_reflex.cli.main import main

sys.exit(main())
