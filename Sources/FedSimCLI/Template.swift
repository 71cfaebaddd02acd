import ArgumentParser

/// A scenario to start from.
enum Template: String, CaseIterable, ExpressibleByArgument {
  case phones, alwaysOn = "always-on"

  /// The file.
  var text: String {
    switch self {
    case .phones: Self.head + Self.phonesFleet + Self.server
    case .alwaysOn: Self.head + Self.alwaysOnFleet + Self.server
    }
  }

  private static let head = """
    # A scenario for `fedsim run`. Every value that is not written has a default:
    # `fedsim validate --resolved THIS-FILE` prints them all, `fedsim list` explains them.
    seed: 1                     # the same seed gives the same bytes
    stop: {after: 3 d}          # virtual time; also: rounds, versions, accuracy

    task:
      data:
        source: {blobs: {train: 4000, test: 1000}}   # made-up data; try fashion-mnist
        partition: {dirichlet-by-device: {clients: 100, alpha: 0.5}}
      model: {mlp: {hidden: [32]}}
      training: {epochs: 1, batchSize: 10, optimizer: {sgd: {learningRate: 0.05}}}


    """

  private static let phonesFleet = """
    fleet:
      - name: phones
        count: 100
        # Plugged in at night, on Wi-Fi at home, in use by day: daily rhythms drawn for each device.
        power: {weekly: {intervals: [{from: "22:30", to: "06:30"}]}}
        background:
          processing: {requiresExternalPower: true, budgetMedian: 2 min}
        interruption: {onExpiry: checkpoint}   # also: discard, submitPartial
        compute: {perBatch: 4 s, spread: 0.3}


    """

  private static let alwaysOnFleet = """
    fleet:
      - name: phones
        count: 100
        background: {windows: {fixed: {always: open}}}   # one window that never closes
        participation: {repeats: true, retrain: newVersions}
        compute: {perBatch: 4 s}


    """

  private static let server = """
    server:
      trigger: {threshold: 3, every: 30 min}   # whichever comes first
      aggregator: sample-weighted-mean

    """
}
