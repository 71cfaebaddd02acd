"""Plays a notebook as it is, in a new folder.

    python play_notebook.py NOTEBOOK.ipynb FOLDER [KEPT]

KEPT is a folder for the notebook with its outputs. Ends with exit code 1 at the first cell that raises, or where the
notebook has outputs already: they would say what an earlier FedSim did.
"""
import json
import os
import pathlib
import sys

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


class ThisPython(KernelSpecManager):
    """A kernel that is this Python, whatever kernels the machine has."""

    def get_kernel_spec(self, kernel_name):
        words = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=words, display_name="Python", language="python")


def main(path, folder, kept=""):
    written = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    if any(cell.get("outputs") or cell.get("execution_count") for cell in written["cells"]):
        print(f"{path}: has outputs; clear them", file=sys.stderr)
        return 1
    notebook = nbformat.read(path, as_version=4)
    os.makedirs(folder)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
    client.create_kernel_manager()
    client.km.kernel_spec_manager = ThisPython()
    try:
        client.execute()
    except CellExecutionError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    if kept:
        os.makedirs(kept, exist_ok=True)
        nbformat.write(notebook, pathlib.Path(kept) / pathlib.Path(path).name)
    return 0


if __name__ == "__main__":
    sys.exit(main(*(word for word in sys.argv[1:] if word)))
