/// A matrix that many products of few rows read one after the other, as panels of columns, one
/// behind the other: rows of a wide matrix would be a multiple of a page apart and drive each
/// other out of a cache.
///
/// No bit depends on it. Shapes: [panel][inputs][32]; the last panel may be narrower.
struct WeightPanels {
  let inputs: Int
  let outputs: Int
  private static let width = 32

  /// How many floats the panels take.
  var count: Int { inputs * ((outputs + Self.width - 1) / Self.width * Self.width) }

  /// Makes the panels of a matrix [inputs][outputs].
  func fill(_ target: UnsafeMutablePointer<Float>, from matrix: UnsafePointer<Float>) {
    for first in stride(from: 0, to: outputs, by: Self.width) {
      let (panel, columns) = (target + first * inputs, min(Self.width, outputs - first))
      for row in 0..<inputs {
        (panel + row * Self.width).update(
          from: matrix + row * outputs + first, count: columns)
      }
    }
  }

  /// Makes the panels of a matrix that is stored as [outputs][inputs].
  func fill(
    _ target: UnsafeMutablePointer<Float>, turning matrix: UnsafePointer<Float>,
    kernels: Kernels
  ) {
    for first in stride(from: 0, to: outputs, by: Self.width) {
      kernels.functions.transpose(
        min(Self.width, outputs - first), inputs, matrix + first * inputs, inputs,
        target + first * inputs, Self.width)
    }
  }

  /// c = start + a·matrix, as the kernel `gemm` has it; rows of a are `aRow` apart.
  func multiply(
    _ rows: Int, _ a: UnsafePointer<Float>, _ aRow: Int, _ panels: UnsafePointer<Float>,
    start: UnsafePointer<Float>?, _ c: UnsafeMutablePointer<Float>, _ cRow: Int, kernels: Kernels
  ) {
    for first in stride(from: 0, to: outputs, by: Self.width) {
      kernels.functions.gemm(
        rows, min(Self.width, outputs - first), inputs, a, aRow, 1, panels + first * inputs,
        Self.width, start.map { $0 + first }, cRow, c + first, cRow)
    }
  }
}
