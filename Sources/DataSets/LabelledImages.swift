/// Grey images and their labels, from a pair of IDX files.
public struct LabelledImages: Sendable, Equatable {
  /// How many images.
  public let count: Int
  /// Pixels from top to bottom.
  public let rows: Int
  /// Pixels from left to right.
  public let columns: Int
  /// The pixels. Shapes: [count, rows, columns].
  public let pixels: [UInt8]
  /// The labels, each below the number of classes. Shapes: [count].
  public let labels: [UInt8]

  /// Reads an IDX file of images (rank 3) and one of labels (rank 1).
  ///
  /// Throws: `countMismatch` where the two differ in length, `outOfRange` for the first label that
  /// is no class, and what `IDX` throws.
  public init(imagesAt images: String, labelsAt labels: String, classes: Int) throws(DataFault) {
    let names = try IDX(contentsOf: labels, rank: 1)
    let pictures = try IDX(contentsOf: images, rank: 3)
    guard names.dimensions[0] == pictures.dimensions[0] else {
      throw DataFault(
        .countMismatch, in: labels, at: .byte(4), found: "\(names.dimensions[0]) labels",
        expected: "\(pictures.dimensions[0]), the number of images in \(images)")
    }
    if let first = names.bytes.firstIndex(where: { Int($0) >= classes }) {
      throw DataFault(
        .outOfRange, in: labels, at: .byte(8 + first), found: "label \(names.bytes[first])",
        expected: "a label from 0 to \(classes - 1)")
    }
    count = pictures.dimensions[0]
    rows = pictures.dimensions[1]
    columns = pictures.dimensions[2]
    pixels = pictures.bytes
    self.labels = names.bytes
  }
}
