import Foundation

/// MPI, as `libfedsim-mpi.so` has it (`Sources/CMPI`): the library is loaded when it is asked for,
/// so FedSim is built and run without MPI.
public final class MPILibrary: @unchecked Sendable {
  /// Why there are no ranks.
  public struct Fault: Error, CustomStringConvertible {
    /// In words.
    public let description: String
  }

  /// The place of this process, from 0.
  public let rank: Int
  /// How many processes there are.
  public let count: Int
  /// Which MPI it is, in its own words.
  public let name: String

  private typealias Numbers = UnsafePointer<CInt>?
  private typealias Places = UnsafePointer<UnsafeMutableRawPointer?>?
  private typealias Sizes = UnsafePointer<CLongLong>?
  private typealias Begin =
    @convention(c) (
      UnsafeMutablePointer<CInt>, UnsafeMutablePointer<CInt>, UnsafeMutablePointer<CChar>, CInt
    ) -> CInt
  private typealias Exchange =
    @convention(c) (
      CInt, Numbers, Places, Sizes, CInt, Numbers, Places, Sizes
    ) -> Void
  private let exchangeCall: Exchange
  private let abortCall: @convention(c) (CInt) -> Void
  private let endCall: @convention(c) () -> Void

  /// Loads the library, and begins.
  ///
  /// It is looked for where `FEDSIM_MPI` says, next to the program, and in `../lib` of it.
  /// Throws: `Fault` where there is none, or where another MPI has started the processes.
  public static func begin() throws(Fault) -> MPILibrary { try MPILibrary(open()) }

  private init(_ library: UnsafeMutableRawPointer) throws(Fault) {
    func call<Call>(_ name: String, as type: Call.Type) throws(Fault) -> Call {
      guard let symbol = dlsym(library, name) else {
        throw Fault(
          description: "FedSim's MPI library has no \(name): build it again with `make mpi`")
      }
      return unsafeBitCast(symbol, to: type)
    }
    let begin = try call("fedsim_mpi_begin", as: Begin.self)
    exchangeCall = try call("fedsim_mpi_exchange", as: Exchange.self)
    abortCall = try call("fedsim_mpi_abort", as: (@convention(c) (CInt) -> Void).self)
    endCall = try call("fedsim_mpi_end", as: (@convention(c) () -> Void).self)
    var (rank, count) = (CInt(0), CInt(0))
    var text = [CChar](repeating: 0, count: 256)
    let result = begin(&rank, &count, &text, CInt(text.count))
    guard result == 0 else {
      throw Fault(
        description: result == 2 ? "this MPI is without support of threads" : "MPI cannot begin")
    }
    (self.rank, self.count) = (Int(rank), Int(count))
    let line = text.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
    name = String(decoding: line, as: UTF8.self)
    let started = Self.startedCount
    guard count > 1 || started <= 1 else {
      throw Fault(
        description: "\(started) processes were started, but by another MPI than FedSim's library "
          + "is built with (\(name)): build it with the mpicc of that mpirun (`make mpi MPICC=…`)")
    }
  }

  /// How many processes the launcher says that it has started; 1 where none says so.
  private static var startedCount: Int {
    let environment = ProcessInfo.processInfo.environment
    return ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"]
      .compactMap { environment[$0].flatMap(Int.init) }.max() ?? 1
  }

  private static func open() throws(Fault) -> UnsafeMutableRawPointer {
    let file = "libfedsim-mpi.so"
    let folder = (ThisProgram.path as NSString).deletingLastPathComponent
    let given = ProcessInfo.processInfo.environment["FEDSIM_MPI"] ?? ""
    let places = given.isEmpty ? ["\(folder)/\(file)", "\(folder)/../lib/\(file)"] : [given]
    guard let path = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
      throw Fault(
        description: "--mpi: FedSim's MPI library is missing (\(places.joined(separator: ", "))): "
          + "build it with `make mpi` in FedSim's sources, then name its file in FEDSIM_MPI")
    }
    // What Open MPI loads itself looks for MPI's own symbols in the program.
    guard let library = dlopen(path, RTLD_NOW | RTLD_GLOBAL) else {
      throw Fault(
        description: "\(path): \(dlerror().map { String(cString: $0) } ?? "it cannot be loaded")")
    }
    return library
  }

  /// Sends pieces of memory to other ranks and receives theirs; returns when all is done.
  public func exchange(
    _ sent: [(rank: Int, memory: UnsafeMutableRawBufferPointer)],
    _ received: [(rank: Int, memory: UnsafeMutableRawBufferPointer)]
  ) {
    exchangeCall(
      CInt(sent.count), sent.map { CInt($0.rank) }, sent.map(\.memory.baseAddress),
      sent.map { CLongLong($0.memory.count) }, CInt(received.count),
      received.map { CInt($0.rank) }, received.map(\.memory.baseAddress),
      received.map { CLongLong($0.memory.count) })
  }

  /// Ends all processes at once, as one cannot continue.
  public func abort(_ code: Int32) { abortCall(code) }

  /// Ends, on every rank.
  public func end() { endCall() }
}
