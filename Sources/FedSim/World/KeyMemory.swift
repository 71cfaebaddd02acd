import Numerics

/// Keys that were made once for each purpose and group: making one means hashing their names.
struct KeyMemory {
  private var entries: [(purpose: Purpose, keys: [StreamKey])] = []

  /// The key of a device's draws for a purpose, from the seed of the world.
  mutating func key(
    _ purpose: Purpose, group: Int, of inputs: borrowing SimulationInputs, ordinal: UInt32
  ) -> StreamKey {
    for place in entries.indices where entries[place].purpose == purpose {
      return entries[place].keys[group].with(ordinal: ordinal)
    }
    let seed = inputs.seeds.world
    let keys = inputs.fleet.map { StreamKey(seed: seed, purpose: purpose, group: $0.name) }
    entries.append((purpose, keys))
    return keys[group].with(ordinal: ordinal)
  }
}
