import CKernels

/// The arithmetic of training in one body, handed from caller to callee and never global.
///
/// Order: each output element accumulates over k in ascending order with fused multiply-add, in its
/// own lane.
public struct Kernels: Sendable {
  /// The body in use.
  public let body: KernelBody
  /// The C functions of that body.
  @inline(__always) package var functions: fs_kernels { table.pointee }

  private nonisolated(unsafe) let table: UnsafePointer<fs_kernels>  // Constant in the program.

  /// The kernels of `body`, or nil where this processor lacks it.
  public init?(_ body: KernelBody) {
    guard let table = fs_kernels_for(body.code) else { return nil }
    self.body = body
    self.table = table
  }

  /// The fastest kernels that this processor can run.
  public static var best: Kernels {
    guard let kernels = Kernels(.best) else { preconditionFailure("baseline runs everywhere") }
    return kernels
  }
}
