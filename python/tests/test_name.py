"""The old name of the package says the new one."""
import importlib
import sys

import pytest


def test_the_old_import_names_the_package():
    sys.modules.pop("fedsim", None)
    with pytest.raises(ImportError, match="called pyfedsim: write `import pyfedsim`"):
        importlib.import_module("fedsim")
