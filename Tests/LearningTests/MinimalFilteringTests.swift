import Learning
import Testing

/// Which convolutions `WinogradConvolution` takes: the conditions at its initialiser, worked out by
/// hand. Tiles are of 6×6 pixels, so they give 4×4 outputs for filters of 3×3 and 2×2 for 5×5; t
/// tiles pay if t ≥ 4 and 9·36·t ≤ 5·(outputs of a filter)·(taps of a filter). For filters of 5×5
/// they are of 8×8, which give 4×4 outputs, if T ≥ 4 of these have 3·64·T < 2·36·t; then 9·64·T
/// counts.
@Suite("Shapes that minimal filtering takes")
struct MinimalFilteringTests {
  struct Shape: CustomTestStringConvertible {
    var input: [Int]
    var convolution: Network.Convolution
    var isTaken: Bool
    var why: String

    init(
      _ input: [Int], _ filters: Int, _ size: Int, _ padding: Network.Convolution.Padding = .same,
      stride: Int = 1, groups: Int = 1, isTaken: Bool, _ why: String
    ) {
      self.input = input
      convolution = .init(
        filters: filters, size: size, stride: stride, padding: padding, groups: groups)
      self.isTaken = isTaken
      self.why = why
    }

    var testDescription: String {
      "\(input), \(convolution.filters) of \(convolution.size)×\(convolution.size): \(why)"
    }
  }

  static let shapes = [
    // Filters of 3×3. 8×8 outputs are 2·2 tiles: 324·4 = 1,296 ≤ 5·64·9 = 2,880.
    Shape([8, 8, 16], 16, 3, isTaken: true, "the fewest channels and filters"),
    Shape([8, 8, 15], 16, 3, isTaken: false, "15 channels"),
    Shape([8, 8, 16], 15, 3, isTaken: false, "15 filters"),
    Shape([8, 8, 16], 16, 3, stride: 2, isTaken: false, "a stride"),
    Shape([8, 8, 32], 32, 3, groups: 2, isTaken: false, "groups"),
    Shape([8, 8, 16], 16, 1, isTaken: false, "filters of 1×1"),
    Shape([8, 8, 16], 16, 2, isTaken: false, "filters of 2×2"),
    Shape([8, 8, 16], 16, 4, isTaken: false, "filters of 4×4"),
    Shape([12, 12, 16], 16, 7, isTaken: false, "filters of 7×7"),
    // 6×6 are 4 tiles: 1,296 ≤ 5·36·9 = 1,620. 5×5 are 4 tiles, too: 1,296 > 5·25·9 = 1,125.
    Shape([6, 6, 16], 16, 3, isTaken: true, "tiles that are full enough"),
    Shape([5, 5, 16], 16, 3, isTaken: false, "tiles that are mostly empty"),
    // 4×12 are 1·3 tiles, 4×16 are 1·4, and 4×13 are 1·4: 1,296 ≤ 5·52·9 = 2,340.
    Shape([4, 12, 16], 16, 3, isTaken: false, "three tiles"),
    Shape([4, 13, 16], 16, 3, isTaken: true, "four tiles in a row"),
    // A valid one: 8×8 gives 6×6, which pay; back to 8×8, which pay. 7×7 gives 5×5, which do not.
    Shape([8, 8, 16], 16, 3, .valid, isTaken: true, "valid, both ways pay"),
    Shape([7, 7, 16], 16, 3, .valid, isTaken: false, "valid, forward does not pay"),
    // Padding 2: 5×5 gives 7×7, 4 tiles, 1,296 ≤ 5·49·9 = 2,205; but back to 5×5.
    Shape([5, 5, 16], 16, 3, .count(2), isTaken: false, "padded, backward does not pay"),
    // Filters of 5×5. 5×5 are 3·3 tiles: 324·9 = 2,916 ≤ 5·25·25 = 3,125 (and 2·2 of 8×8: 768 ≥
    // 648). 7×7 are 4·4 tiles or 2·2 of 8×8 (768 < 1,152): 2,304 ≤ 5·49·25 = 6,125. 5×6 are 3·3:
    // 2,916 ≤ 5·30·25 = 3,750.
    Shape([5, 5, 16], 16, 5, isTaken: true, "as large as a filter"),
    Shape([5, 6, 16], 16, 5, isTaken: true, "wider"),
    Shape([7, 7, 16], 16, 5, isTaken: true, "odd sides"),
    // 4×8 are 2·4 tiles (or two of 8×8): 2,592 ≤ 5·32·25 = 4,000; but the outermost rows of a
    // filter would see nothing but zeros.
    Shape([4, 8, 16], 16, 5, isTaken: false, "lower than a filter"),
    // 9×9 gives 5×5, which pay, as does back to 9×9 (3·3 tiles of 8×8: 5,184 ≤ 5·81·25 = 10,125).
    // 8×8 gives 4×4: 2·2 tiles, 1,296 ≤ 5·16·25 = 2,000. 7×7 gives 3×3: 1,296 > 5·9·25 = 1,125.
    Shape([9, 9, 16], 16, 5, .valid, isTaken: true, "valid"),
    Shape([8, 8, 16], 16, 5, .valid, isTaken: true, "valid, four full tiles"),
    Shape([7, 7, 16], 16, 5, .valid, isTaken: false, "valid, four tiles that are mostly empty"),
    // Filters are at most 2¹³ weights a tap for fewer than 9 tiles of 6×6, else 2¹⁴: 64·128 = 2¹³,
    // 128·128 = 2¹⁴; 12×12 are 3·3 tiles of filters of 3×3, 8×8 are 2·2 tiles of 8×8 of 5×5.
    Shape([8, 8, 64], 128, 3, isTaken: true, "4 tiles and 2¹³ weights a tap"),
    Shape([8, 8, 64], 129, 3, isTaken: false, "4 tiles and more"),
    Shape([12, 12, 128], 128, 3, isTaken: true, "9 tiles and 2¹⁴ weights a tap"),
    Shape([12, 12, 128], 129, 3, isTaken: false, "9 tiles and more"),
    Shape([8, 8, 128], 128, 5, isTaken: true, "4 tiles of 8×8 and 2¹⁴ weights a tap"),
    Shape([8, 8, 128], 129, 5, isTaken: false, "4 tiles of 8×8 and more"),
    // Values of an image are 36 planes a tile and channel, in and out, of an odd number of lines of
    // 16 floats: at most 2²² = 4,194,304. 128×128 are 1,024 tiles of filters of 3×3; times 56 and
    // 57 channels 57,344 (3,584 lines, so 3,585) and 58,368 (3,648, so 3,649): with 56 both ways
    // 36·2·57,360 = 4,129,920; with 57 on one side 36·(57,360 + 58,384) = 4,166,784, on both
    // 36·2·58,384 = 4,203,648.
    Shape([128, 128, 56], 56, 3, isTaken: true, "values of an image that fit"),
    Shape([128, 128, 56], 57, 3, isTaken: true, "that just fit"),
    Shape([128, 128, 57], 57, 3, isTaken: false, "that do not"),
  ]

  @Test("it takes these and no others", arguments: shapes)
  func taken(_ shape: Shape) throws {
    let network = try Network(
      sampleShape: shape.input,
      layers: [.convolution(shape.convolution), .dense(outputs: 2, activation: .identity)])
    #expect(network.filtersMinimally == [shape.isTaken], "\(shape.why)")
  }

  @Test("the convolutional network of McMahan et al. has one of its two convolutions so")
  func mcMahan() throws {
    // 28×28 with one channel; then 14×14 with 32 channels and 64 filters of 5×5: 4·4 tiles of 8×8,
    // 9,216 ≤ 5·196·25 = 24,500. A pooling behind a convolution, which becomes part of it, changes
    // nothing.
    let network = try Network(
      sampleShape: [28, 28],
      layers: [
        .convolution(.init(filters: 32, size: 5, padding: .same)),
        .maxPooling(size: 2, stride: 2), .activation(.relu),
        .convolution(.init(filters: 64, size: 5, padding: .same)),
        .maxPooling(size: 2, stride: 2), .activation(.relu),
        .dense(outputs: 10, activation: .identity),
      ])
    #expect(network.filtersMinimally == [false, true])
  }
}
