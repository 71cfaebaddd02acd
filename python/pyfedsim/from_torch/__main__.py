"""python -m pyfedsim.from_torch MODULE:MODEL --shape 1,28,28 [-o NAME]"""
import argparse
import importlib
import os
import sys
from typing import Any

import numpy as np
from torch import nn

from . import Unsupported, convert


def main() -> int:
    options = argparse.ArgumentParser(
        prog="python -m pyfedsim.from_torch", description="Writes a PyTorch module as a model of a scenario.")
    options.add_argument("model", help="module:name of an nn.Module, or of a function or class that makes one")
    options.add_argument("--shape", required=True, help="a sample's shape in PyTorch's order, such as 1,28,28")
    options.add_argument("--tokens", action="store_true", help="samples are whole numbers")
    options.add_argument("-o", "--output", help="the name of the files, without ending; default: the model's name")
    options.add_argument("--force", action="store_true", help="replace files that exist")
    given = options.parse_args()
    module_name, _, name = given.model.partition(":")
    if not name:
        options.error("the model is MODULE:NAME, such as my_models:net")
    sys.path.insert(0, os.getcwd())
    try:
        shape = tuple(int(extent) for extent in given.shape.split(","))
        made = getattr(importlib.import_module(module_name), name)
        converted = convert(made if isinstance(made, nn.Module) else made(), shape, given.tokens)
    except (ImportError, AttributeError, ValueError) as error:
        print(f"from_torch: {error}", file=sys.stderr)
        return 2
    stem = given.output or name
    for ending in (".yaml", ".npz"):
        if os.path.exists(stem + ending) and not given.force:
            print(f"from_torch: {stem}{ending} exists; --force replaces it", file=sys.stderr)
            return 2
    with open(stem + ".npz", "wb") as file:
        tensors: dict[str, Any] = dict(converted.tensors)
        np.savez(file, **tensors)
    with open(stem + ".yaml", "w", encoding="utf-8") as file:
        file.write(f"# Written from {given.model}; put it under `task:`.\n{converted.yaml}initialWeights: {stem}.npz\n")
    count = sum(array.size for array in converted.tensors.values())
    for note in dict.fromkeys(converted.notes):
        print(f"from_torch: note: {note}", file=sys.stderr)
    print(f"{stem}.yaml: {len(converted.layers)} layers; {stem}.npz: {count:,} parameters")
    return 0


sys.exit(main())
