import Learning
import Numerics

/// What the versions so far may tell of one device.
struct PrivacyLedger: Codable {
  /// The noise's deviation over the bound; 0: not known yet.
  var multiplier = 0.0
  /// The divergences so far, one per order.
  var total: [Double] = []
  /// What the last version reported, and by which noise and rate.
  var lastCurve: [Double] = []
  var lastNoise = 0.0
  var lastRate = 0.0
  /// The share of the fleet that the open round's cohort was drawn from all of it; nil: it was not.
  var rate: Double?

  /// Counts one more version.
  mutating func add(_ sampling: PrivacySampling, noise: Double) {
    let rate: Double
    if case .withoutReplacement(let share) = sampling { rate = share } else { rate = 1 }
    if lastCurve.isEmpty || noise != lastNoise || rate != lastRate {
      lastCurve = sampling.curve(noiseMultiplier: noise).values
      (lastNoise, lastRate) = (noise, rate)
    }
    if total.isEmpty { total = RenyiCurve().values }
    for place in total.indices { total[place] += lastCurve[place] }
  }

  /// ε of what was counted.
  func epsilon(delta: Double) -> Double {
    total.isEmpty ? 0 : RenyiCurve(total).epsilon(delta: delta)
  }
}

extension ServerSettings {
  /// The noise multiplier that a fleet of this many devices needs for what `privacy` asks; nil:
  /// there is none.
  public func noiseMultiplier(devices: Int) -> Double? {
    guard let privacy else { return nil }
    if let multiplier = privacy.noiseMultiplier { return multiplier }
    guard let epsilon = privacy.epsilon, let versions = privacy.versions else { return nil }
    guard privacy.amplification == .population, let members = selector.value.rules?.uniformMembers
    else {
      return PrivacySampling.none.noiseMultiplier(
        epsilon: epsilon, versions: versions, delta: privacy.delta)
    }
    let share = Double(min(members, devices)) / Double(max(1, devices))
    // Neighbours differ by one device that is another one, by twice the bound.
    return PrivacySampling.withoutReplacement(share).noiseMultiplier(
      epsilon: epsilon, versions: versions, delta: privacy.delta
    ).map { 2 * $0 }
  }
}

/// Noise at the server, and what versions may tell of a device.
enum Privacy {
  /// Whether versions are recorded with their privacy.
  private static func recordsPrivacy(_ cx: borrowing Context) -> Bool {
    if cx.inputs.server.privacy != nil { return true }
    if cx.inputs.omitsArithmetic { return false }
    return cx.features.chain?.transforms.contains { $0.asTold != nil } == true
  }

  /// The share of the fleet that a cohort is, where it was drawn from all of it.
  static func noteSampling(
    of members: Int, _ server: inout Server, _ cx: inout Context
  ) {
    guard cx.inputs.server.privacy?.amplification == .population else { return }
    server.privacy.rate =
      server.waiting.count == cx.members.count ? Double(members) / Double(cx.members.count) : nil
  }

  /// The noise multiplier in force.
  private static func multiplier(
    _ server: inout Server, _ cx: inout Context
  ) -> Double {
    if server.privacy.multiplier == 0 {
      // A scenario for which there is none is refused before its run.
      server.privacy.multiplier = cx.inputs.server.noiseMultiplier(devices: cx.members.count) ?? 1e6
    }
    return server.privacy.multiplier
  }

  /// The deviation of the noise on each parameter of the mean of some updates.
  ///
  /// Source: McMahan et al. (2018), §3: z·C/n. Where the server learns the bound by a noisy count,
  /// both together are worth z (Andrew et al. 2021, theorem 1): the sum's noise is (z⁻² −
  /// (2σ_b)⁻²)^−½. The count is of reports less ½, so a device moves it by ½ against its neighbour,
  /// which gives no report.
  private static func deviation(
    _ updates: [Int32], _ server: inout Server, _ cx: inout Context
  ) -> Double {
    let transforms = cx.inputs.server.transforms
    var inverse = 1 / (multiplier(&server, &cx) * multiplier(&server, &cx))
    for transform in transforms {
      if let told = transform.value.asTold {
        inverse -= 1 / (4 * told.reportNoise * told.reportNoise)
      }
    }
    var bound = 0.0
    for update in updates {
      let told = Transforms.told(transforms.count - 1, version: cx.updates[update].base, server)
      bound = max(bound, transforms[transforms.count - 1].value.largestNorm(told: told) ?? 0)
    }
    return bound / (inverse.squareRoot() * Double(updates.count))
  }

  /// The mean of updates with the noise that privacy asks for.
  ///
  /// Draws: one `normal` a parameter, of a stream for each 4,096 (seed `policy`, purpose
  /// `privacy-noise`, ordinal = their place) at slot = the version that is made.
  static func withNoise(
    _ combined: ParameterBuffer, _ updates: [Int32], _ server: inout Server, _ cx: inout Context
  ) -> ParameterBuffer {
    guard cx.inputs.server.privacy != nil else { return combined }
    let deviation = deviation(updates, &server, &cx)
    let key = StreamKey(seed: cx.inputs.seeds.policy, purpose: "privacy-noise")
    let slot = UInt64(server.version) + 1
    let block = 4096
    let blocks = (combined.count + block - 1) / block
    let noise = cx.inputs.pool.map(blocks) { place, _ in
      var stream = key.with(ordinal: UInt32(place)).stream(slot: slot)
      return stream.normals(min(block, combined.count - place * block))
    }
    return ParameterBuffer(count: combined.count) { target in
      for i in 0..<target.count {
        target[i] = ParameterBuffer.nearest(
          Double(combined[i]) + deviation * noise[i / block][i % block])
      }
    }
  }

  /// What the version that these updates make tells; it is counted.
  static func countPrivacy(
    _ updates: [Int32], _ server: inout Server, _ cx: inout Context
  ) -> PrivacyRecord? {
    let within = Transforms.tellNext(updates, &server, &cx)
    guard recordsPrivacy(cx) else { return nil }
    guard let privacy = cx.inputs.server.privacy else {
      return record(within: within, noise: .nan, server, cx)
    }
    // A device may have several updates in a version.
    var (most, run, last) = (1, 0, Int32(-1))
    for update in updates {
      let device = cx.updates[update].device
      run = device == last ? run + 1 : 1
      last = device
      most = max(most, run)
    }
    let noise = multiplier(&server, &cx) / Double(most)
    switch privacy.amplification {
    case .none: server.privacy.add(.none, noise: noise)
    case .population:
      server.privacy.add(.withoutReplacement(server.privacy.rate ?? 1), noise: noise / 2)
    }
    return record(
      within: within,
      noise: cx.inputs.omitsArithmetic ? .nan : deviation(updates, &server, &cx), server,
      cx)
  }

  /// What version 0 tells: nothing.
  static func initialPrivacy(_ server: borrowing Server, _ cx: borrowing Context) -> PrivacyRecord?
  {
    recordsPrivacy(cx) ? record(within: .nan, noise: .nan, server, cx) : nil
  }

  private static func record(
    within: Double, noise: Double, _ server: borrowing Server, _ cx: borrowing Context
  ) -> PrivacyRecord {
    let bound = server.memories.told.compactMap(\.last).last ?? .nan
    let epsilon = cx.inputs.server.privacy.map { server.privacy.epsilon(delta: $0.delta) }
    return PrivacyRecord(epsilon: epsilon ?? .nan, noise: noise, bound: bound, within: within)
  }
}
