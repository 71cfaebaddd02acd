import Learning

/// What adversaries send.
enum Adversary {
  /// What those of an aggregation's updates send that are made up together, as differences; nil:
  /// the update is nobody's who colludes.
  ///
  /// All adversaries with an attack of one name collude, of whatever group; settings are each
  /// group's own. Order: of the updates.
  static func agreements(
    _ updates: [Int32], _ values: [DeferredTraining.Value], _ server: borrowing Server,
    _ cx: borrowing Context
  ) -> [[Double]?] {
    var found = [[Double]?](repeating: nil, count: updates.count)
    guard let chain = cx.features.chain, chain.hasCollusion else { return found }
    var attacks: [Int?] = []
    for update in updates { attacks.append(cx.updates[update].sent?.collusion) }
    for (place, attack) in attacks.enumerated() where attack != nil && found[place] == nil {
      let name = type(of: chain.attacks[attack!]!).name
      let all = attacks.indices.filter { other in
        attacks[other].map { type(of: chain.attacks[$0]!).name == name } ?? false
      }
      var (trained, bases): ([ParameterBuffer], [ParameterBuffer]) = ([], [])
      for other in all where values[other].parameters.isFinite {
        trained.append(values[other].parameters)
        bases.append(cx.updates[updates[other]].baseParameters!)
      }
      // Where no training is finite each sends its own, which is rejected.
      guard !trained.isEmpty else { continue }
      var (others, origins): ([ParameterBuffer], [ParameterBuffer]) = ([], [])
      for other in values.indices where !all.contains(other) && values[other].parameters.isFinite {
        others.append(values[other].parameters)
        origins.append(cx.updates[updates[other]].baseParameters!)
      }
      let collusion = Collusion(
        trained: UpdateValues(trained, bases: bases),
        honest: others.isEmpty ? nil : UpdateValues(others, bases: origins), colluders: all.count,
        updates: updates.count)
      let agreed = chain.attacks[attack!]!.agreement(collusion, pool: cx.inputs.pool)
      precondition(agreed.count == server.model.count, "an agreement has one number per parameter")
      for other in all where attacks[other] == attack { found[other] = agreed }
    }
    return found
  }
}
