import Learning

/// Trainings that devices will most likely describe, begun by threads that had nothing to do while
/// the loop plays what comes before.
///
/// Nothing depends on it but time: a training that comes otherwise is described anew.
struct Foresight {
  private struct Entry {
    let training: DeferredTraining
    let base: ParameterBuffer
    let epoch: UInt64
  }

  /// What results may take together: more would drive one another out of the caches.
  private static let mostBytes = 8 << 20

  private let isOn: Bool
  private let byteCount: Int
  private var entries: [Int: Entry] = [:]
  private var added = 0
  private var taken = 0

  init(isOn: Bool, byteCount: Int) {
    self.isOn = isOn
    self.byteCount = byteCount
  }

  /// Whether there is room for so many, and most of those before came true.
  func isWorth(_ count: Int) -> Bool {
    isOn && count * byteCount <= Self.mostBytes && (added < 256 || taken * 4 >= added * 3)
  }

  mutating func add(
    _ training: DeferredTraining, by device: Int, from base: ParameterBuffer, epoch: UInt64
  ) {
    added += 1
    entries[device] = Entry(training: training, base: base, epoch: epoch)
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
    taken += 1
    return entry.training
  }

  mutating func forget() { entries.removeAll(keepingCapacity: true) }
}
