import Foundation
import Results
import Testing

/// The last line of a result, which says whether the file is whole.
@Suite struct SealTests {
  /// Digests by Python's `xxhash` 3.8 over the pieces, each behind its length in eight bytes and
  /// padded with zeros to eight; byte i is 7i mod 256.
  @Test(arguments: [
    (0, "ef46db3751d8e999"), (100, "85c6b23b8c239880"), (1_048_581, "497b67b182147fee"),
  ])
  func theLineIsAnIndependentProgramsDigest(count: Int, digits: String) throws {
    try Samples.inFolder { folder in
      var bytes = (0..<count).map { UInt8(truncatingIfNeeded: 7 * $0) }
      bytes += [UInt8](repeating: 0, count: ResultSeal.length)
      ResultSeal.close(&bytes)
      #expect(String(decoding: bytes[count...], as: UTF8.self) == "FedSim seal \(digits)\n")
      try Data(bytes).write(to: URL(filePath: folder + "/a"))
      #expect(ResultSeal.holds(folder + "/a"))
    }
  }

  @Test func aChangedByteAnywhereBreaksIt() throws {
    try Samples.inFolder { folder in
      let path = folder + "/a.h5"
      try ResultFile.prepare(path).write(Samples.result())
      let whole = try Samples.bytes(path)
      #expect(ResultSeal.holds(path))
      for place in stride(from: 0, to: whole.count, by: 97) {
        var damaged = whole
        damaged[place] ^= 0x10
        try damaged.write(to: URL(filePath: path))
        #expect(!ResultSeal.holds(path), "byte \(place)")
      }
      for count in [0, 29, whole.count - 1] {
        try whole.prefix(count).write(to: URL(filePath: path))
        #expect(!ResultSeal.holds(path), "\(count) bytes")
      }
      #expect(!ResultSeal.holds(folder + "/none.h5") && !ResultSeal.holds(folder))
    }
  }

  /// A result of a version before the seal, or one whose last line a copy lost.
  @Test func withoutItTheDigestDecides() throws {
    try Samples.inFolder { folder in
      let path = folder + "/a.h5"
      try ResultFile.prepare(path).write(Samples.result())
      let whole = try Samples.bytes(path)
      let bare = whole.prefix(whole.count - ResultSeal.length)
      try bare.write(to: URL(filePath: path))
      #expect(try ResultFile.reading(path).isAsWritten)
      // The long text is in the file as it is.
      var changed = bare
      let place = try #require(changed.firstRange(of: Data("name: sample".utf8)))
      changed.replaceSubrange(place, with: Data("name: simple".utf8))
      try changed.write(to: URL(filePath: path))
      let reading = try ResultFile.reading(path)
      #expect(!reading.isAsWritten)
      #expect(reading.document.root[text: "scenario"]?.hasPrefix("name: simple") == true)
    }
  }
}
