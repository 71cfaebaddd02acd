import Foundation

/// The processors on which processes and threads may run, by their numbers.
public enum Processors {
  /// Words of a `cpu_set_t`.
  private static let words = 16
  private typealias Call = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> CInt

  /// Those of the calling thread, the lowest first; empty where the system does not say.
  public static var allowed: [Int] {
    var set = [UInt](repeating: 0, count: words)
    guard call("sched_getaffinity", 0, &set) else { return [] }
    return (0..<words * UInt.bitWidth).filter {
      set[$0 / UInt.bitWidth] >> ($0 % UInt.bitWidth) & 1 == 1
    }
  }

  /// Has a process or a thread run on some of them only; whether the system does that.
  @discardableResult
  public static func confine(_ process: pid_t, to numbers: [Int]) -> Bool {
    var set = [UInt](repeating: 0, count: words)
    for number in numbers {
      guard set.indices.contains(number / UInt.bitWidth) else { return false }
      set[number / UInt.bitWidth] |= 1 << (number % UInt.bitWidth)
    }
    return call("sched_setaffinity", process, &set)
  }

  /// The system's number of the calling thread; nil: it does not say.
  static var caller: pid_t? {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "gettid") else { return nil }
    return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
  }

  /// Swift's Glibc has neither of the two calls; Darwin's library has none of this name.
  private static func call(_ name: String, _ process: pid_t, _ set: inout [UInt]) -> Bool {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), name) else { return false }
    let function = unsafeBitCast(symbol, to: Call.self)
    return set.withUnsafeMutableBytes { function(process, $0.count, $0.baseAddress!) } >= 0
  }
}
