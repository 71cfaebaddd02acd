import FedSim
import Learning
import Numerics
import Schema
import Testing

private func sampling(_ known: PrivacyCase) -> PrivacySampling {
  switch known.kind {
  case "poisson": .poisson(known.rate)
  case "fixed": .withoutReplacement(known.rate)
  default: .none
  }
}

@Suite("Privacy accounting")
struct PrivacyAccountingTests {
  @Test("ε of 50 runs is dp-accounting's", arguments: privacyCases.indices)
  func epsilons(index: Int) {
    let known = privacyCases[index]
    let found = sampling(known).epsilon(
      noiseMultiplier: known.noise, versions: known.versions, delta: known.delta)
    // Half a percent is promised; the same formulas come much nearer.
    #expect((found - known.epsilon).magnitude <= 1e-5 * known.epsilon, "\(known), \(found)")
  }

  @Test("The noise for an ε is dp-accounting's, and keeps it", arguments: privacyTargets.indices)
  func targets(index: Int) throws {
    let known = privacyTargets[index]
    let noise = try #require(
      sampling(known).noiseMultiplier(
        epsilon: known.epsilon, versions: known.versions, delta: known.delta))
    #expect((noise - known.noise).magnitude < 1e-4 * known.noise, "\(noise)")
    let kept = sampling(known).epsilon(
      noiseMultiplier: noise, versions: known.versions, delta: known.delta)
    #expect(kept <= known.epsilon && kept > 0.999 * known.epsilon)
  }

  @Test("A noisy count and a sum that share z have the ε of both, where reports are centred")
  func sharedCount() {
    // dp-accounting, 40 versions, δ = 1e-5, of two Gaussian mechanisms: the sum with the noise
    // multiplier (2⁻² − 3⁻²)^−½ = 2.683, and the count of σ_b = 1.5 that a device moves by ½.
    let stated = PrivacySampling.none.epsilon(noiseMultiplier: 2, versions: 40, delta: 1e-5)
    #expect((stated - 19.053597531631).magnitude < 1e-5 * stated)
    // By privacy loss distributions, which are exact; a report that moves by 1 has 31.55.
    #expect(stated > 17.856586 && stated < 31.553743)
    let sum = 1 / (0.25 - 1 / 9.0).squareRoot()
    let both = zip(
      RenyiCurve.gaussian(noiseMultiplier: sum).values,
      RenyiCurve.gaussian(noiseMultiplier: 1.5 / 0.5).values
    ).map { 40 * ($0 + $1) }
    #expect((RenyiCurve(both).epsilon(delta: 1e-5) - stated).magnitude < 1e-9 * stated)
  }

  @Test("Nothing reported is ε 0, no noise is no promise, and a sample of all is no sample")
  func limits() {
    #expect(RenyiCurve().epsilon(delta: 1e-5) == 0)
    #expect(RenyiCurve.gaussian(noiseMultiplier: 0).epsilon(delta: 1e-5) == .infinity)
    let plain = RenyiCurve.gaussian(noiseMultiplier: 1.5)
    #expect(RenyiCurve.poissonSampled(rate: 1, noiseMultiplier: 1.5) == plain)
    #expect(RenyiCurve.sampledWithoutReplacement(rate: 1, noiseMultiplier: 1.5) == plain)
    #expect(RenyiCurve.poissonSampled(rate: 0, noiseMultiplier: 1.5) == RenyiCurve())
  }

  @Test("An ε that no noise keeps is reported")
  func impossible() {
    let found = PrivacySampling.none.noiseMultiplier(
      epsilon: 1e-3, versions: 10_000_000, delta: 1e-30)
    // At σ = 2²⁰, the most that is tried, ε is about √(2·T·ln(1/δ))/σ = 0.035.
    #expect(found == nil)
  }
}
