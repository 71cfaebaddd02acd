import DataSets
import Learning
import Testing

@Suite struct CSVFilesTests {
  static func load(
    _ train: String, _ test: String = "label,a\nx,1\n",
    _ change: (inout CSVFiles.Settings) -> Void = { _ in }
  ) throws -> TrainAndTest {
    let folder = try TemporaryFolder()
    _ = try folder.write(train, as: "train.csv")
    _ = try folder.write(test, as: "test.csv")
    var settings = CSVFiles.Settings()
    (settings.train, settings.test) = ("train.csv", "test.csv")
    change(&settings)
    return try CSVFiles(settings).load(folders: DataFolders([folder.path]), seed: 1)
  }

  func floats(_ dataset: Dataset) -> [Float] {
    guard case .floats(let floats) = dataset.features else { return [] }
    return floats
  }

  @Test func `columns go by name, classes and users as they are met`() throws {
    let data = try Self.load(
      "label,a,b,who\ndog,1,2.5,u2\ncat,-1e1,0,u1\n\ndog, 3 ,\"4\",u2\n", "b,label,a\n7,cat,8\n"
    ) { $0.user = "who" }
    #expect(data.train.sampleShape == [2] && data.train.classCount == 2)
    #expect(floats(data.train) == [1, 2.5, -10, 0, 3, 4])
    // Classes by their bytes: cat, dog.
    #expect(data.train.labels == [1, 0, 1] && data.test.labels == [0])
    #expect(floats(data.test) == [8, 7])
    #expect(data.users == DataUsers(names: ["u2", "u1"], shards: [[0, 2], [1]]))
  }

  @Test func `without a header columns go by place, and numbers as labels by value`() throws {
    let data = try Self.load("1,2,3,4,10\n5,6,7,8,9\n", "0,0,0,0,9\n") {
      ($0.header, $0.label, $0.shape) = (false, "5", [2, 2])
    }
    #expect(data.train.sampleShape == [2, 2] && data.train.labels == [1, 0])
    #expect(floats(data.train) == [1, 2, 3, 4, 5, 6, 7, 8] && data.test.labels == [0])
    #expect(data.users == nil)
  }

  @Test func `features and classes can be listed`() throws {
    let data = try Self.load("id,b,a,label\nq,1,2,x\nr,3,4,y\n", "a,b,label,z\n5,6,y,z\n") {
      ($0.features, $0.classes) = (["a", "b"], ["y", "z", "x"])
    }
    #expect(floats(data.train) == [2, 1, 4, 3] && floats(data.test) == [5, 6])
    #expect(data.train.labels == [2, 0] && data.train.classCount == 3)
  }

  struct Spoilt: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var train: String
    var test: String
    var kind: DataFault.Kind
    var place: DataFault.Place
    var change: @Sendable (inout CSVFiles.Settings) -> Void
    init(
      _ words: String, _ train: String, test: String = "", _ kind: DataFault.Kind,
      _ place: (Int, Int)?,
      _ change: @escaping @Sendable (inout CSVFiles.Settings) -> Void = { _ in }
    ) {
      (testDescription, self.train, self.test, self.kind) = (words, train, test, kind)
      self.place = place.map { .text(line: $0.0, column: $0.1) } ?? .file
      self.change = change
    }
  }

  static let good = "label,a\nx,1\ny,2\n"
  static let spoilt: [Spoilt] = [
    Spoilt("empty", "", .truncated, (1, 1)),
    Spoilt("no row", "label,a\n", .truncated, (1, 1)),
    Spoilt("a column twice", "label,a,a\nx,1,2\n", .duplicate, (1, 9)),
    Spoilt("no label", "lable,a\nx,1\n", .missingName, (1, 1)),
    Spoilt("no user", good, .missingName, (1, 1)) { $0.user = "who" },
    Spoilt("no such feature", good, .missingName, (1, 1)) { $0.features = ["a", "b"] },
    Spoilt("a cell too many", "label,a\nx,1\ny,1,2\n", .countMismatch, (3, 6)),
    Spoilt("a cell too few", "label,a\nx\n", .countMismatch, (2, 2)),
    Spoilt("not a number", "label,a\nx,nan\n", .malformed, (2, 3)),
    Spoilt("a word", "label,é,a\nx,1,é2\n", .malformed, (2, 5)),
    Spoilt("nothing", "label,a\nx,\n", .malformed, (2, 3)),
    Spoilt("too large", "label,a\nx,1e39\n", .outOfRange, (2, 3)),
    Spoilt("an empty label", "label,a\n,1\n", .malformed, (2, 1)),
    Spoilt("no feature", "label\nx\ny\n", .missingName, (1, 1)),
    Spoilt("an open quote", "label,a\n\"x,1\n", .malformed, (2, 1)),
    Spoilt("a zero byte", "label,a\nx\0,1\n", .malformed, (2, 2)),
    Spoilt("a zero byte in quotes", "label,a\n\"x\0\",1\n", .malformed, (2, 3)),
    Spoilt("a single class", "label,a\nx,1\nx,2\n", .countMismatch, nil),
    Spoilt("another shape", good, .countMismatch, (1, 1)) { $0.shape = [3] },
    Spoilt("a label not listed", good, .outOfRange, (3, 1)) { $0.classes = ["x", "z"] },
    Spoilt("a place beyond", good, .missingName, (1, 1)) { ($0.header, $0.label) = (false, "3") },
    Spoilt("test: a new label", good, test: "label,a\nz,1\n", .outOfRange, (2, 1)),
    Spoilt("test: a column less", good, test: "label\nx\n", .missingName, (1, 1)),
    Spoilt("test: a column more", good, test: "label,a,b\nx,1,2\n", .unknownName, (1, 9)),
    Spoilt("test: infinite", good, test: "label,a\nx,inf\n", .malformed, (2, 3)),
  ]

  @Test(arguments: spoilt)
  func `a spoilt table says where`(spoilt: Spoilt) {
    let fault = fault {
      _ = try Self.load(
        spoilt.train, spoilt.test.isEmpty ? Self.good : spoilt.test, { spoilt.change(&$0) })
    }
    #expect(fault?.kind == spoilt.kind && fault?.place == spoilt.place, "\(fault as Any)")
    #expect(fault?.file.hasSuffix(spoilt.test.isEmpty ? "/train.csv" : "/test.csv") == true)
  }

  @Test func `a column that is missed, or has words, says which key names it`() {
    let missing = fault { _ = try Self.load("kind,a,who\nx,1,u\n", Self.good) }
    #expect(
      missing?.advice == "name a column by `label`; there are 'kind', 'a', 'who'",
      "\(missing as Any)")
    let words = fault { _ = try Self.load("label,a,who\nx,1,u\n", Self.good) }
    #expect(
      words?.advice
        == "list the columns to take in `features`, or name the one of users by `user`",
      "\(words as Any)")
    let others = fault { _ = try Self.load("label,a,b\nx,1,u\n", Self.good) { $0.user = "a" } }
    #expect(others?.advice == "list the columns to take in `features`", "\(others as Any)")
    let cell = fault { _ = try Self.load("label,a\nx,1\ny,u\n", Self.good) }
    #expect(cell != nil && cell?.advice == nil, "\(cell as Any)")
  }

  @Test func `a table in another encoding is a fault, where two labels would become one`() throws {
    // In Latin-1 é is e9 and è is e8; neither is UTF-8.
    let folder = try TemporaryFolder()
    let table = Array("label,a\nx,1\n".utf8) + [0xe9] + Array(",2\n".utf8) + [0xe8]
    _ = try folder.write(table + Array(",3\n".utf8), as: "train.csv")
    _ = try folder.write(Self.good, as: "test.csv")
    var settings = CSVFiles.Settings()
    (settings.train, settings.test) = ("train.csv", "test.csv")
    let fault = fault {
      _ = try CSVFiles(settings).load(folders: DataFolders([folder.path]), seed: 1)
    }
    #expect(fault?.kind == .malformed && fault?.place == .text(line: 3, column: 1))
    #expect(fault?.file.hasSuffix("/train.csv") == true, "\(fault as Any)")
    // Letters beyond ASCII are no fault, and a remark may be in any encoding.
    let data = try Self.load("label,ä\né,1\nè,2\n", "label,ä\nè,1\n")
    #expect(data.train.labels == [1, 0] && data.test.labels == [0])
    let remark = Array("label,a\n# ".utf8) + [0xe9] + Array("\nx,1\ny,2\n".utf8)
    _ = try folder.write(remark, as: "train.csv")
    let read = try CSVFiles(settings).load(folders: DataFolders([folder.path]), seed: 1)
    #expect(read.train.labels == [0, 1])
  }
}
