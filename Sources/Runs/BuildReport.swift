import Analysis
import DataSets
import Foundation
import Learning
import Results

/// What a report of a problem has to say of the program: build, libraries, processor, kernels.
public enum BuildReport {
  /// A line for each, such as `libraries: HDF5 1.10.8, zlib 1.2.13, GSL 2.7.1`.
  public static var text: String {
    let bodies = KernelBody.allCases.filter { Kernels($0) != nil }.map(\.rawValue)
    let processors = ProcessInfo.processInfo.activeProcessorCount
    return """
      fedsim \(FedSimVersion.current)
      build: \(configuration), Swift \(compiler), \(system)
      libraries: HDF5 \(ResultFile.libraryVersion), zlib \(Inflater.libraryVersion), \
      GSL \(Statistics.libraryVersion)
      processor: \(processor), \(processors) in use
      kernels: \(Kernels.best.body.rawValue); this processor has \(bodies.joined(separator: ", "))
      """
  }

  private static var configuration: String {
    #if DEBUG
      return "debug"
    #else
      return "release"
    #endif
  }

  private static var compiler: String {
    #if compiler(>=6.4)
      return "6.4 or later"
    #elseif compiler(>=6.3)
      return "6.3"
    #else
      return "6.2"
    #endif
  }

  private static var system: String {
    #if os(Linux)
      let name = "Linux"
    #else
      let name = "macOS"
    #endif
    #if arch(x86_64)
      return "\(name) on x86_64"
    #else
      return "\(name) on arm64"
    #endif
  }

  /// The processor's name as the kernel gives it.
  private static var processor: String {
    let path = "/proc/cpuinfo"
    guard let bytes = FileManager.default.contents(atPath: path) else { return "unknown" }
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
      ?? "unknown"
  }
}
