// Written by Tests/Fixtures-scripts/make_partition_numbers.py.

/// Epochs of five members in three rounds; 0: all.
let stragglerEpochs: [Int] = [
  1, 3, 0, 4, 0, 4, 0, 0, 2, 2, 0, 1, 0, 4, 1,
]
