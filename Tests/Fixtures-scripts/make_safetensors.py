"""Makes Tests/DataSetsTests/Fixtures/*.safetensors with the safetensors library and PyTorch.

Run from the root of the project, with torch and safetensors (0.8 was used):
  python3 Tests/Fixtures-scripts/make_safetensors.py
"""

import pathlib

import torch
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent.parent / "DataSetsTests" / "Fixtures"
VALUES = torch.tensor([[-1, -0.5, 0], [0.1, 65504, 2**-24]], dtype=torch.float64)

save_file({f"{str(kind)[6:]}.weight": VALUES.to(kind)
           for kind in [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int32]}
          | {"one": torch.tensor(3.0), "none": torch.zeros(0, 4)},
          FOLDER / "types.safetensors", metadata={"axes": "torch", "größe": "ß"})
