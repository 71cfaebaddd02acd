import Numerics

/// Keys that were made once for each purpose and group: making one means hashing their names.
struct KeyMemory {
  private var made: [(purpose: Purpose, keys: [StreamKey])] = []

  /// The key of a device's draws for a purpose, from the seed of the world.
  mutating func key(
    _ purpose: Purpose, group: Int, of inputs: borrowing SimulationInputs, ordinal: UInt32
  ) -> StreamKey {
    for place in made.indices where made[place].purpose == purpose {
      return made[place].keys[group].with(ordinal: ordinal)
    }
    let seed = inputs.seeds.world
    let keys = inputs.fleet.map { StreamKey(seed: seed, purpose: purpose, group: $0.name) }
    made.append((purpose, keys))
    return keys[group].with(ordinal: ordinal)
  }
}
