import ArgumentParser

/// A scenario to start from; none needs a data file.
enum Template: String, CaseIterable, ExpressibleByArgument {
  /// Phones that train at night and are cut off.
  case phones
  /// Synchronous rounds of devices that are always there.
  case synchronous

  /// The one for a first run.
  static let example = phones

  /// The scenario's YAML.
  var text: String {
    switch self {
    case .phones: Self.phonesText
    case .synchronous: Self.synchronousText
    }
  }

  private static let task = """
    task:
      data:
        source: {blobs: {classes: 10, features: 16, train: 6000, test: 1000, spread: 1.5}}
        # Made-up points; `source: fashion-mnist` for real images.
        partition: {dirichlet-by-device: {clients: 100, alpha: 0.5}}   # who holds which labels
        validationFraction: 0.1
      model: {mlp: {hidden: [32]}}                                      # or: softmax
      training: {epochs: 2, batchSize: 10, optimizer: {sgd: 0.05}}
    """

  private static let head = """
    # Every value that is not written here has a default: `fedsim validate --resolved FILE` prints
    # all of them, `fedsim list` explains them, `--set server.payload=weights` changes one.
    """

  private static let phonesText = """
    # A hundred phones for a week. They train at night, while plugged in and idle, in background
    # tasks of some minutes; an interrupted training is resumed the next time.
    \(head)
    seed: 1                              # the same seed gives the same bytes
    start: 2025-11-17T00:00:00Z
    stop: {after: 7 d}                   # virtual time; also: rounds, versions, accuracy
    \(task)
    fleet:
      - name: phones
        count: 100
        utcOffset: 1 h
        power:                           # plugged in at night, as each phone's habit has it
          diurnal:
            - {from: "22:30", to: "07:00", probability: 0.9, spread: 45 min, deviceSpread: 1 h}
        link:                            # wifi, cellular, or offline for a while
          markov:
            - {state: wifi, mean: 8 h, weight: 3}
            - {state: cellular, mean: 2 h, weight: 2}
            - {state: offline, mean: 40 min, weight: 1}
        usage:                           # in somebody's hand
          diurnal:
            - {from: "19:00", to: "22:00", spread: 40 min}
        background:
          processing: {requiresExternalPower: true, earliestBegin: 6 h, budgetMedian: 1 min}
        interruption: {onExpiry: checkpoint}   # or: discard, submitPartial
        compute: {perBatch: 3 s, spread: 0.5}  # how long a batch takes on the phone
    server:
      payload: delta                     # devices send differences; or: weights
      trigger: {threshold: 5, every: 30 min}
    record:
      evaluateEvery: {versions: 5}

    """

  private static let synchronousText = """
    # A hundred devices that are always available, in synchronous rounds of ten: the reference case.
    \(head)
    seed: 1                              # the same seed gives the same bytes
    stop: {rounds: 40, after: 1 d}       # the first to hold; also: versions, accuracy
    \(task)
    fleet:
      - name: devices
        count: 100
        background: {windows: {fixed: open}}         # one window that never closes
        participation: {repeats: true, pause: 1 s}   # ask again after each update
        compute: {perBatch: 100 ms, spread: 0.3}     # how long a batch takes on the device
    server:
      policy: synchronous-fedavg
      selector: {uniform: {cohort: 10, overSelection: 1.3}}
      trigger: {cohort-complete: {}, deadline: 30 s}

    """
}
