import Numerics

/// Keys that were made once for each purpose and group: making one means hashing their names.
struct StreamKeyCache {
  private var purposes: [Purpose] = []
  /// [purpose][group].
  private var known: [[StreamKey]] = []
  /// The key of the selector's draws.
  let selection: StreamKey

  init(_ inputs: borrowing SimulationInputs) {
    selection = StreamKey(seed: inputs.seeds.policy, purpose: "selection")
  }

  /// The key of a device's draws for a purpose, from the seed of the world.
  mutating func key(
    _ purpose: Purpose, group: Int, of inputs: borrowing SimulationInputs, ordinal: UInt32
  ) -> StreamKey {
    for place in 0..<purposes.count where purposes[place] == purpose {
      return known[place][group].with(ordinal: ordinal)
    }
    let seed = inputs.seeds.world
    let keys = inputs.fleet.map { StreamKey(seed: seed, purpose: purpose, group: $0.name) }
    purposes.append(purpose)
    known.append(keys)
    return keys[group].with(ordinal: ordinal)
  }
}
