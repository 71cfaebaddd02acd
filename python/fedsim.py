"""FedSim's package is `pyfedsim`: on PyPI, `fedsim` is another simulator of federated learning."""
raise ImportError("FedSim's Python package is called pyfedsim: write `import pyfedsim` (only the command is `fedsim`)")
