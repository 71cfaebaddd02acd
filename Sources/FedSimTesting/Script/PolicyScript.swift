import FedSim
import Learning
import Schema

/// A run that is written by hand: devices that ask for work and bring updates at given times, with
/// given parameters. The engine plays it, so receipts, rounds and versions are those of a real run.
///
///     var script = PolicyScript(model: [0, 0])
///     script.server.trigger = [.threshold(2)]
///     script.device("ann", samples: 1, visits: [.at(.zero)], sends: [.weights([4, 0])])
///     script.device("ben", samples: 3, visits: [.at(.seconds(5))], sends: [.weights([0, 4])])
///     let played = script.play()
///     #expect(played.versions[1].model == [1, 3])
///
/// What travels takes some microseconds, which the times of a played script leave out: they are
/// whole milliseconds. What depends on one another should be a millisecond apart.
public struct PolicyScript: Sendable {
  /// The server and its policy.
  public var server: ServerSettings
  /// Version 0, as its parameters are.
  public let model: [Float]
  /// The devices, in the order of the fleet.
  public private(set) var devices: [ScriptedDevice] = []
  /// When the run ends; nil: a day after the last visit or arrival.
  public var end: SimDuration?
  /// The seeds of selection and of transforms.
  public var seeds = Seeds(1)

  /// A script that begins with a model of at least 2 parameters.
  public init(model: [Float], server: ServerSettings = ServerSettings()) {
    precondition(model.count >= 2, "a script's model has 2 parameters at least")
    self.model = model
    self.server = server
  }

  /// Adds a device.
  ///
  /// `samples` is what an aggregator weighs it by, `takes` how long it trains. Its n-th training
  /// sends the n-th of `sends`, later ones the last. Two visits are at least a second apart.
  public mutating func device(
    _ name: String, samples: Int = 1, takes: SimDuration = .seconds(1), visits: [Visit],
    sends: [Sent]
  ) {
    precondition(!devices.contains { $0.name == name }, "there is a device \(name) already")
    precondition(samples >= 1, "a device without samples does not train")
    precondition(takes > .zero, "a training takes time")
    precondition(!sends.isEmpty, "a training sends something")
    precondition(
      sends.allSatisfy { $0.values.count == model.count }, "what is sent has the model's size")
    precondition(
      zip(visits, visits.dropFirst()).allSatisfy {
        $1.asks >= ($0.arrives ?? $0.asks) + .seconds(1)
      }, "\(name)'s visits are at least a second apart")
    devices.append(
      ScriptedDevice(name: name, samples: samples, takes: takes, visits: visits, sends: sends))
  }

  /// Plays it.
  public func play() -> PlayedScript {
    precondition(!devices.isEmpty, "a script has a device")
    let reader = ScriptReader(devices: devices.map(\.name))
    let invariants = Invariants()
    var simulation = Simulation(inputs)
    simulation.run(observers: [reader, invariants])
    return PlayedScript(reader, broken: invariants.broken, simulation)
  }
}

/// A device of a script.
public struct ScriptedDevice: Sendable {
  /// Its name: its path in the fleet is `name/0`.
  public let name: String
  /// Its samples.
  public let samples: Int
  /// How long it trains.
  public let takes: SimDuration
  /// When it asks for work.
  public let visits: [Visit]
  /// The results of its trainings.
  public let sends: [Sent]
}

/// A time at which a device asks for work.
public struct Visit: Sendable, Equatable {
  /// When, since the start of the run.
  public let asks: SimDuration
  /// When its update reaches the server; nil: as soon as it has trained.
  public let arrives: SimDuration?

  /// A device asks, is accepted now or later, trains, and sends its update.
  public static func at(_ asks: SimDuration) -> Visit { Visit(asks: asks, arrives: nil) }

  /// A device asks, is accepted at once, and is offline from then on until its update arrives. Not
  /// for selectors that let devices wait.
  public static func at(_ asks: SimDuration, arrives: SimDuration) -> Visit {
    precondition(arrives > asks + .milliseconds(2), "an update arrives after its device asked")
    return Visit(asks: asks, arrives: arrives)
  }
}

/// The result of a training, whatever it learned.
public enum Sent: Sendable, Equatable {
  /// These parameters.
  case weights([Float])
  /// The parameters that it began with plus these.
  case difference([Float])

  /// The numbers, as they were given.
  var values: [Float] {
    switch self {
    case .weights(let values), .difference(let values): values
    }
  }

  /// The trained parameters.
  func parameters(from base: ParameterBuffer) -> ParameterBuffer {
    switch self {
    case .weights(let values): ParameterBuffer(values)
    case .difference(let values):
      ParameterBuffer(count: base.count) { target in
        for place in 0..<target.count { target[place] = base[place] + values[place] }
      }
    }
  }
}
