import FedSim
import Learning
import Numerics
import Testing

/// The attack of a name, with settings as a scenario has them.
private func attack(_ name: String, _ setting: String, knows: String) throws -> any Attack {
  var distance = DistanceAttackSettings()
  distance.perturbation = Perturbation(rawValue: setting)
  distance.knows = Collusion.Knowledge(rawValue: knows)
  switch name {
  case "min-max": return MinMaxAttack(distance)
  case "min-sum": return MinSumAttack(distance)
  case "fang-krum":
    var settings = KrumAttack.Settings()
    settings.knows = distance.knows
    return KrumAttack(settings)
  default:
    var settings = LittleIsEnough.Settings()
    settings.knows = distance.knows
    settings.form = LittleIsEnough.Form(rawValue: setting)
    return LittleIsEnough(settings)
  }
}

/// What some of the fixture's eleven updates agree on.
private func agreed(
  _ attack: any Attack, colluders: Int, threads: Int = 1
) -> [Double] {
  let rows = (0..<11).map { ParameterBuffer(attackUpdates.row($0, of: 13)) }
  let origin = ParameterBuffer([Float](repeating: 0, count: 13))
  func values(_ range: Range<Int>) -> UpdateValues {
    UpdateValues(Array(rows[range]), bases: range.map { _ in origin })
  }
  return attack.agreement(
    Collusion(
      trained: values(0..<colluders), honest: values(colluders..<11), colluders: colluders,
      updates: 11),
    pool: WorkerPool(threads: threads))
}

@Suite("What colluders agree on")
struct AgreedAttackTests {
  @Test("It is NumPy's, whatever the threads", arguments: 0..<attackCases.count)
  func numbers(index: Int) throws {
    let known = attackCases[index]
    for threads in 1...3 {
      let sent = agreed(
        try attack(known.attack, known.setting, knows: known.knows), colluders: known.colluders,
        threads: threads)
      let error = zip(sent, known.sent).map { ($0 - $1).magnitude }.max()!
      #expect(error < 1e-9, "\(known.attack) \(known.setting) \(known.knows)")
    }
  }

  @Test("A line of three, worked out by hand")
  func byHand() throws {
    // Of one parameter the known differences are 0, 2, 4: μ = 2, σ = √(8/3), and two are 4 apart at
    // most. Downwards μ − t is 4 from the farthest, 4, at t = 2: 0 is sent. Squared distances of 0
    // add up to 4 + 16 = 20, and of 2 − t to 8 + 3·t²: t = 2 again.
    let rows = [0, 2, 4].map { ParameterBuffer([Float($0)]) }
    let zero = ParameterBuffer([0])
    let collusion = Collusion(
      trained: UpdateValues(rows, bases: [zero, zero, zero]), colluders: 3, updates: 7)
    let pool = WorkerPool(threads: 1)
    for name in ["min-max", "min-sum"] {
      for setting in ["std", "unit", "sign"] {
        let sent = try attack(name, setting, knows: "all").agreement(collusion, pool: pool)
        #expect(sent.count == 1 && sent[0].magnitude < 1e-12, "\(name) \(setting)")
      }
    }
    // Krum: a forged −λ alone is as far from 0 as 0 is from it, and is never nearer. Of two, with
    // f = 2 among five, one neighbour counts, and theirs is the other: any λ is chosen, so the
    // first, √(4/1) + 4.
    let krum = try attack("fang-krum", "", knows: "colluders")
    #expect(krum.agreement(collusion, pool: pool) == [-6])
  }

  @Test("One that knows nothing but itself sends that; all that are equal send that")
  func alone() throws {
    let row = ParameterBuffer([1, -2, 0.5])
    let zero = ParameterBuffer([0, 0, 0])
    let pool = WorkerPool(threads: 1)
    for count in [1, 4] {
      let collusion = Collusion(
        trained: UpdateValues(
          Array(repeating: row, count: count), bases: Array(repeating: zero, count: count)),
        colluders: count, updates: 9)
      for name in ["min-max", "min-sum"] {
        for setting in ["std", "unit", "sign"] {
          let sent = try attack(name, setting, knows: "all").agreement(collusion, pool: pool)
          let error = zip(sent, [1, -2, 0.5]).map { ($0 - $1).magnitude }.max()!
          #expect(error < 1e-12, "\(name) \(setting)")
        }
      }
    }
    // Nobody moves: there is no direction.
    let still = Collusion(trained: UpdateValues([zero], bases: [zero]), colluders: 1, updates: 9)
    #expect(
      try attack("fang-krum", "", knows: "all").agreement(still, pool: pool) == [0, 0, 0])
  }
}
