import Foundation
import Results
import Testing

/// Documents written as HDF5 and read back.
@Suite struct RoundTripTests {
  private func roundTrip(_ document: ResultDocument) throws -> ResultDocument {
    try Samples.inFolder { folder in
      let path = folder + "/a.h5"
      let digest = try ResultFile.prepare(path).write(document)
      #expect(try Samples.names(in: folder) == ["a.h5"])
      var read = try ResultFile.read(path)
      #expect(read.root[attribute: "contentDigest"] == .text(digest))
      #expect(read.contentDigest == digest)
      read.root.attributes.removeAll { $0.name == "contentDigest" }
      return read
    }
  }

  private static let kinds: [@Sendable (Int) -> ResultValues] = [
    { n in .double((0..<n).map { i -> Double in i == 1 ? .nan : Double(i) * -1.5e300 }) },
    { n in .float((0..<n).map { $0 == 1 ? .infinity : Float($0) * 0.1 }) },
    { n in .int64((0..<n).map { .min + Int64($0) }) },
    { n in .int32((0..<n).map { .max - Int32($0) }) },
    { n in .int8((0..<n).map { Int8(truncatingIfNeeded: $0 - 128) }) },
    { n in .uint8((0..<n).map { UInt8(truncatingIfNeeded: 255 - $0) }) },
  ]

  @Test(arguments: [false, true])
  func everyTypeAndRankComesBackToTheSameBits(isUnlimited: Bool) throws {
    // 50 x 40 x 30 numbers are more than is stored in one piece: these go through shuffle and
    // deflate.
    for (x, y, z) in [(3, 2, 4), (50, 40, 30), (0, 2, 3), (1, 1, 1)] {
      var document = ResultDocument(axes: [
        .init("x", length: x, isUnlimited: isUnlimited), .init("y", length: y),
        .init("z", length: z),
      ])
      for (i, make) in Self.kinds.enumerated() {
        for (axes, count) in [
          ([], 1), (["x"], x), (["x", "y"], x * y), (["x", "y", "z"], x * y * z),
          (["y", "z"], y * z),
        ] {
          document.root.variables.append(
            .init(
              "v\(i)\(axes.joined())", axes, make(count), units: "1",
              longName: "kind \(i) over \(axes.count) axes"))
        }
      }
      #expect(try roundTrip(document) == document)
    }
  }

  @Test func aWholeResultComesBackInItsOrder() throws {
    for document in [Samples.result(), Samples.result(versions: 0), Samples.result(versions: 3000)]
    {
      #expect(try roundTrip(document) == document.canonical)
    }
    let read = try roundTrip(Samples.result())
    #expect(read.root.groups.map(\.name) == ["versions", "rounds", "devices", "ledger"])
    let outcome = try #require(read["rounds"]?[variable: "outcome"])
    #expect(outcome.flagMeanings == ["published", "skipped", "failed"])
    #expect(outcome[attribute: "flag_values"] == .array(.int8([0, 1, 2])))
    #expect(read.root[text: "scenario"] == "name: sample\nnote: \"Grüße, 世界\"\n")
    #expect(read["ledger/updates"]?[variable: "arrival"]?.axes == ["entry"])
  }

  @Test func everyKindOfAttributeComesBack() throws {
    let attributes: [ResultDocument.Attribute] = [
      .init("text", .text("Grüße")), .init("empty", .text("")),
      .init("texts", .texts(["a", "", "世界"])), .init("integer", .integer(.min)),
      .init("unsigned", .unsigned(.max)), .init("number", .number(-.infinity)),
      .init("doubles", .array(.double([1, .nan]))), .init("one", .array(.float([0.1]))),
      .init("bytes", .array(.uint8([255]))), .init("ints", .array(.int32([-1, 7]))),
      .init("z", .integer(1)), .init("a", .integer(2)),
    ]
    let document = ResultDocument(
      attributes: attributes, axes: [.init("x", length: 2)],
      variables: [
        .init(
          "v", ["x"], .double([1, 2]), units: "s", longName: "a variable", attributes: attributes)
      ],
      groups: [.init("g", attributes: attributes)])
    #expect(try roundTrip(document) == document)
  }

  @Test func aGroupsTextBeyond64KilobytesBecomesADataSet() throws {
    let long = String(repeating: "0123456789", count: 7000)
    let document = ResultDocument(attributes: [
      .init("log", .text(long)), .init("short", .text("s")),
    ])
    let read = try roundTrip(document)
    #expect(read.root.attributes == [.init("short", .text("s"))])
    #expect(read.root.texts == [.init("log", long)])
    #expect(read.contentDigest == document.contentDigest)
  }

  @Test func manyVariablesCanShareAnAxis() throws {
    var document = ResultDocument(axes: [.init("x", length: 1)])
    for i in 0..<300 {
      document.root.variables.append(
        .init("v\(i)", ["x"], .int32([Int32(i)]), units: "1", longName: "variable \(i)"))
    }
    #expect(try roundTrip(document) == document)
  }

  @Test func filesWrittenASecondApartAreEqualBytes() throws {
    try Samples.inFolder { folder in
      let file = try ResultFile.prepare(folder + "/a.h5")
      try file.write(Samples.result(versions: 4000, devices: 5000))
      let first = try Samples.bytes(folder + "/a.h5")
      // Other contents in the memory that the second file is built in.
      let noise = (0..<64).map { [UInt8](repeating: UInt8($0 + 1), count: 1 << 20) }
      #expect(noise.reduce(0) { $0 + Int($1[7]) } == 2080)
      Thread.sleep(forTimeInterval: 1.1)
      try ResultFile.prepare(folder + "/b.h5").write(Samples.result(versions: 4000, devices: 5000))
      try file.write(Samples.result(versions: 4000, devices: 5000))
      #expect(try Samples.bytes(folder + "/b.h5") == first)
      #expect(try Samples.bytes(folder + "/a.h5") == first)
      #expect(try Samples.names(in: folder) == ["a.h5", "b.h5"])
    }
  }

  @Test func severalThreadsCanWriteAndReadAtOnce() async throws {
    let expected = Samples.result().canonical
    try await withThrowingTaskGroup(of: ResultDocument.self) { tasks in
      for _ in 0..<16 {
        tasks.addTask { try roundTrip(Samples.result()) }
      }
      for try await document in tasks { #expect(document == expected) }
    }
  }

  @Test func aSampleForOtherReadersIsWrittenWhereAsked() throws {
    // `FEDSIM_SAMPLE_RESULT=PATH swift test --filter aSampleForOtherReaders` makes a file for
    // Tests/Readers/check_result.py; without it the sample goes to a temporary folder.
    try Samples.inFolder { folder in
      let asked = ProcessInfo.processInfo.environment["FEDSIM_SAMPLE_RESULT"]
      let path = asked ?? folder + "/sample.h5"
      try ResultFile.prepare(path).write(Samples.result(versions: 2000, devices: 3000))
      #expect(try ResultFile.read(path).root.groups.count == 4)
    }
  }
}
