import DataSets
import Foundation
import Learning
import Testing

/// Targets that are numbers, and tokens, from files.
@Suite struct TargetFileTests {
  private func floats(_ data: Dataset) -> [Float] {
    guard case .floats(let floats) = data.features else { return [] }
    return floats
  }

  private func numbers(_ data: Dataset) -> [Float] {
    guard case .values(let values) = data.targets else { return [] }
    return values.numbers
  }

  private func tokens(_ data: Dataset) -> Dataset.Tokens? {
    guard case .tokens(let tokens) = data.targets else { return nil }
    return tokens
  }

  // MARK: CSV

  @Test func `columns of a table are numbers to learn`() throws {
    let data = try CSVFilesTests.load(
      "t,a,who,u\n1.5,1,x,2\n-2,3,y,4e0\n0,5,x,6\n", "u,t,a\n7,8,9\n"
    ) { ($0.targets, $0.user) = (["u", "t"], "who") }
    #expect(data.train.kind == .values && data.train.outputCount == 2)
    #expect(data.train.sampleShape == [1] && floats(data.train) == [1, 3, 5])
    #expect(numbers(data.train) == [2, 1.5, 4, -2, 6, 0] && numbers(data.test) == [7, 8])
    #expect(floats(data.test) == [9])
    #expect(data.users == DataUsers(names: ["x", "y"], shards: [[0, 2], [1]]))
    #expect(data.train.labels == [0, 0, 0] && data.train.classCount == 1)
  }

  @Test func `a target that is no number, or not there, is refused at its place`() {
    let word = fault {
      _ = try CSVFilesTests.load("t,a\n1,1\nwarm,2\n", "t,a\n1,1\n") { $0.targets = ["t"] }
    }
    #expect(word?.kind == .malformed && word?.place == .text(line: 3, column: 1))
    let missing = fault {
      _ = try CSVFilesTests.load("t,a\n1,1\n", "t,a\n1,1\n") { $0.targets = ["T"] }
    }
    #expect(missing?.kind == .missingName)
    let none = fault {
      _ = try CSVFilesTests.load("t\n1\n", "t\n1\n") { $0.targets = ["t"] }
    }
    #expect(none?.kind == .missingName)
  }

  // MARK: NPZ and NPY

  private func npz(
    _ arrays: [(name: String, array: NPYArray)], _ kind: TargetSettings.Kind,
    _ change: (inout NPZFiles.Settings) -> Void = { _ in }
  ) throws -> TrainAndTest {
    let folder = try TemporaryFolder()
    let path = try folder.write(NPZ.bytes(of: arrays), as: "a.npz")
    return try NPZFilesTests.load(path) {
      $0.targets = TargetSettings()
      $0.targets?.kind = kind
      change(&$0)
    }
  }

  private let samples = (
    train: NPYArray(shape: [2, 2], floats: [1, 2, 3, 4]),
    test: NPYArray(shape: [1, 2], floats: [5, 6])
  )

  @Test func `arrays of numbers, one or several a sample, are targets`() throws {
    for (width, shape) in [(1, [2]), (1, [2, 1]), (3, [2, 3])] {
      let values = (0..<2 * width).map { Double($0) / 2 }
      let data = try npz(
        [
          ("x_train", samples.train), ("y_train", NPYArray(shape: shape, values: .float64(values))),
          ("x_test", samples.test),
          (
            "y_test",
            NPYArray(shape: [1] + shape.dropFirst(), values: .uint8(Array(1...UInt8(width))))
          ),
        ], .values)
      #expect(data.train.targets.width == width && numbers(data.train) == values.map { Float($0) })
      // Bytes are what they are: no fractions.
      #expect(numbers(data.test) == (1...width).map { Float($0) })
    }
  }

  @Test func `numbers that do not fit are refused`() {
    func kind(_ y: NPYArray, _ test: NPYArray) -> DataFault.Kind? {
      fault {
        _ = try npz(
          [
            ("x_train", samples.train), ("y_train", y), ("x_test", samples.test), ("y_test", test),
          ], .values)
      }?.kind
    }
    let one = NPYArray(shape: [1], floats: [1])
    #expect(kind(NPYArray(shape: [3], floats: [1, 2, 3]), one) == .countMismatch)
    #expect(kind(NPYArray(shape: [2, 1, 1], floats: [1, 2]), one) == .countMismatch)
    #expect(kind(NPYArray(shape: [2], floats: [1, .nan]), one) == .outOfRange)
    #expect(kind(NPYArray(shape: [2, 2], floats: [1, 2, 3, 4]), one) == .countMismatch)
    #expect(kind(NPYArray(shape: [2], values: .bool([true, false])), one) == .unsupported)
  }

  @Test func `numbers as labels without targets are refused, with what to write`() {
    let found = fault {
      _ = try npz(
        [
          ("x_train", samples.train), ("y_train", NPYArray(shape: [2], floats: [1, 2])),
          ("x_test", samples.test), ("y_test", NPYArray(shape: [1], floats: [1])),
        ], .classes)
    }
    #expect(found?.kind == .unsupported && found?.description.contains("targets: values") == true)
  }

  @Test func `a token at each position, without padding and with one that is not scored`() throws {
    let data = try npz(
      [
        ("x_train", samples.train),
        ("y_train", NPYArray(shape: [2, 3], values: .int32([1, 0, 3, 2, 0, 0]))),
        ("x_test", samples.test), ("y_test", NPYArray(shape: [1, 3], values: .int64([4, 0, 1]))),
      ], .tokens
    ) {
      $0.targets?.padding = 0
      $0.targets?.outOfVocabulary = 3
    }
    let train = try #require(tokens(data.train))
    // As many tokens as the largest label says, over both sets.
    #expect(train.labels == [1, -1, 3, 2, -1, -1] && train.positions == 3 && train.count == 5)
    #expect(train.answers == 2 && train.unscored == 3)
    #expect(tokens(data.test)?.labels == [4, -1, 1])
  }

  @Test func `the next token is the sequence shifted by one`() throws {
    let sequences = (
      NPYArray(shape: [2, 4], values: .uint16([5, 1, 2, 0, 3, 4, 0, 0])),
      NPYArray(shape: [1, 4], values: .uint16([1, 2, 3, 4]))
    )
    let data = try npz([("x_train", sequences.0), ("x_test", sequences.1)], .nextToken) {
      $0.targets?.padding = 0
    }
    #expect(data.train.sampleShape == [3] && floats(data.train) == [5, 1, 2, 3, 4, 0])
    let train = try #require(tokens(data.train))
    // Token 5 is only ever the first, and counts.
    #expect(train.labels == [1, 2, -1, 4, -1, -1] && train.count == 6)
    #expect(tokens(data.test)?.labels == [2, 3, 4])
  }

  @Test func `tokens that do not fit are refused`() {
    func kind(_ shape: [Int], _ values: [Int32], padding: Int? = nil) -> DataFault.Kind? {
      fault {
        let array = NPYArray(shape: shape, values: .int32(values))
        _ = try npz([("x_train", array), ("x_test", array)], .nextToken) {
          $0.targets?.padding = padding
        }
      }?.kind
    }
    #expect(kind([1, 1], [1]) == .countMismatch)
    #expect(kind([1, 2, 1], [1, 2]) == .countMismatch)
    #expect(kind([1, 2], [-1, 2]) == .outOfRange)
    #expect(kind([1, 3], [1, 0, 0], padding: 0) == .truncated)
  }

  @Test func `files of one array each are the same`() throws {
    let folder = try TemporaryFolder()
    let x = NPYArray(shape: [2, 3], values: .int32([1, 2, 3, 3, 2, 0]))
    _ = try folder.write(x.npyBytes(), as: "x.npy")
    var settings = NPYFiles.Settings()
    (settings.trainSamples, settings.testSamples) = ("x.npy", "x.npy")
    settings.targets = TargetSettings()
    settings.targets?.kind = .nextToken
    #expect(settings.contradictions().isEmpty)
    let data = try NPYFiles(settings).load(folders: DataFolders([folder.path]), seed: 1)
    #expect(tokens(data.train)?.labels == [2, 3, 2, 0])
    #expect(floats(data.test) == [1, 2, 3, 2])
    settings.trainLabels = "y.npy"
    #expect(settings.contradictions().map(\.key) == ["trainLabels"])
    settings.targets = nil
    #expect(
      settings.contradictions().map(\.message) == ["`testLabels` is needed: a file of labels"])
  }
}
