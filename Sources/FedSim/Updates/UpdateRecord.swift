import Learning

/// An update from its making to its end.
struct UpdateRecord: Codable {
  /// Copies of an update, of which a device may send several.
  struct Copies: Codable {
    /// Those that wait at the server.
    var pending = 0
    /// Those that have left the device and have not reached the server.
    var onTheWay = 0
  }

  let device: Int32
  let base: Int32
  let samples: Int
  let createdAt: SimTime
  let round: Int32
  let participation: Int32
  var training: DeferredTraining?
  var baseParameters: ParameterBuffer?
  /// The update as it is sent, where there are transforms.
  var sent: DeferredUpdate?
  /// The first data epoch of its training: the slot of what its transforms draw.
  let firstEpoch: UInt64
  /// Samples that its device had as it trained.
  let shardCount: Int32
  /// How full its device's battery was as its training ended, in billionths; −1 without a battery.
  let batteryLevel: Int32
  /// The work that is in it.
  var effort: Effort
  var outcome: UpdateOutcome?
  /// Whether the device still keeps it.
  var isOnDevice = true
  /// Its copies that nobody has acted on.
  var copies = Copies()
  /// What it ends as if none of them is taken in, once the device keeps it no longer.
  var fallback: UpdateOutcome?
  /// Whether it had to wait in the outbox.
  var hasWaited = false
  /// Whether it stays in an outbox that nobody sends from.
  var isShelved = false
  /// Whether the server has had it.
  var hasArrived = false
}

extension UpdateRecord {
  /// Samples that its training processed, repetitions counted.
  var samplesProcessed: Int { effort.samples }
  /// Batches that its training did.
  var batches: Int { effort.batches }
}
