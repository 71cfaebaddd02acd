import Learning

/// Trainings that devices will most likely describe, begun by threads that had nothing to do while
/// the loop plays what comes before.
///
/// Nothing depends on it but time: a training that comes otherwise is described again.
struct PredictedTrainings {
  private struct Entry {
    let training: DeferredTraining
    let base: ParameterBuffer
    let epoch: UInt64
    let isBeforehand: Bool
  }

  /// What results may take together: more would drive one another out of the caches.
  private static let mostBytes = 8 << 20

  private let isOn: Bool
  private let byteCount: Int
  private var entries: [Int: Entry] = [:]
  private var added = 0
  private(set) var taken = PredictionCounts()

  init(isOn: Bool, byteCount: Int) {
    self.isOn = isOn
    self.byteCount = byteCount
  }

  /// How many further trainings are worth predicting: as many as there is room for, as long as most
  /// of those before came true.
  var room: Int {
    guard isOn, added < 256 || taken.count * 4 >= added * 3 else { return 0 }
    let most = Self.mostBytes / max(1, byteCount)
    // Models so large that one alone has room train for long compared with what comes before them.
    return most < 2 ? 0 : max(0, most - entries.count)
  }

  mutating func add(
    _ training: DeferredTraining, by device: Int, from base: ParameterBuffer, epoch: UInt64,
    isBeforehand: Bool
  ) {
    added += 1
    entries[device] = Entry(
      training: training, base: base, epoch: epoch, isBeforehand: isBeforehand)
  }

  func has(_ device: Int, from base: ParameterBuffer, epoch: UInt64) -> Bool {
    guard let entry = entries[device] else { return false }
    return entry.base === base && entry.epoch == epoch
  }

  mutating func take(by device: Int, from base: ParameterBuffer, epoch: UInt64)
    -> DeferredTraining?
  {
    guard let entry = entries.removeValue(forKey: device), entry.base === base,
      entry.epoch == epoch
    else { return nil }
    taken.count += 1
    if entry.isBeforehand { taken.beforehand += 1 }
    return entry.training
  }

  mutating func forget() { entries.removeAll(keepingCapacity: true) }
}

/// How many trainings came as predicted: nothing but time depends on it.
package struct PredictionCounts: Equatable {
  /// All of them.
  package var count: Int
  /// Those predicted as the model was published, before their cohort had formed.
  package var beforehand: Int

  /// This many.
  package init(count: Int = 0, beforehand: Int = 0) {
    self.count = count
    self.beforehand = beforehand
  }
}
