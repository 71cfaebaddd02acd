import Learning

/// What a device is doing, in separate memory for as long as it does anything: most devices
/// of a large fleet are not, most of the time.
///
/// A device is a value as any other: two that share this memory part when one of them changes.
final class ActiveState: Codable {
  // Each is reached through the device alone, which keeps others away.
  @exclusivity(unchecked) var session: Session?
  @exclusivity(unchecked) var run: TrainingRun?
  @exclusivity(unchecked) var attempt: Attempt?

  private init() {}

  /// Makes sure that there is memory, and that nobody else has it.
  @inline(__always)
  static func own(_ activeState: inout ActiveState?) {
    if activeState == nil { return activeState = ActiveState() }
    if !isKnownUniquelyReferenced(&activeState) { activeState = activeState!.copy() }
  }

  /// Gives up memory with nothing in it.
  @inline(__always)
  static func drop(_ activeState: inout ActiveState?) {
    guard let held = activeState else { return }
    if held.session == nil, held.attempt == nil, held.run == nil {
      activeState = nil
    }
  }

  /// Asks for the memory.
  func prefetch() {
    HostMemory.prefetch(Unmanaged.passUnretained(self).toOpaque(), Self.size)
  }

  /// Two words and the object behind them.
  private static var size: Int {
    2 * MemoryLayout<Int>.size + MemoryLayout<Session?>.stride
      + MemoryLayout<TrainingRun?>.stride + MemoryLayout<Attempt?>.stride
  }

  private func copy() -> ActiveState {
    let fresh = ActiveState()
    (fresh.session, fresh.run, fresh.attempt) = (session, run, attempt)
    return fresh
  }
}
