import DataSets
import Foundation
import Testing

@Suite("Damaged and unsupported Core ML files")
struct CoreMLDamageTests {
  /// What is done to a model of the fixtures, and what is said of it.
  struct Damage: CustomTestStringConvertible {
    var name: String
    var model: String
    var message: String
    var change: @Sendable (inout ProtobufBytes) -> Void

    var testDescription: String { name }

    init(
      _ name: String, of model: String = "perceptron", _ message: String,
      _ change: @escaping @Sendable (inout ProtobufBytes) -> Void
    ) {
      (self.name, self.model, self.message, self.change) = (name, model, message, change)
    }
  }

  /// The fault of bytes in a file `m.mlmodel`, without the folder.
  static func fault(_ bytes: [UInt8]) throws -> String? {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("fedsim-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("m.mlmodel").path
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return fault(at: path)
  }

  static func fault(at path: String) -> String? {
    do throws(DataFault) {
      _ = try CoreMLNetwork(contentsOf: path)
      return nil
    } catch {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      return error.description.replacing(folder + "/", with: "")
    }
  }

  static func bytes(_ name: String) throws -> [UInt8] {
    let path = "\(CoreMLNetworkTests.folder)/\(name).mlmodel"
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// The field of the network in each fixture.
  static func network(_ name: String) -> Int { name == "perceptron" ? 403 : 500 }

  @Test("a fault is named by what and where", arguments: modelDamages + layerDamages)
  func damaged(_ damage: Damage) throws {
    var message = ProtobufBytes(try Self.bytes(damage.model))
    damage.change(&message)
    #expect(try Self.fault(message.bytes) == damage.message)
  }

  @Test("an unchanged model that was taken apart is read")
  func unchanged() throws {
    for name in ["perceptron", "convolutional", "strided", "pooled", "lstm", "gated", "words"] {
      #expect(try Self.fault(ProtobufBytes(Self.bytes(name)).bytes) == nil)
    }
  }
}

@Suite("Core ML files that are cut, or are none")
struct CoreMLCutTests {
  private typealias Damaged = CoreMLDamageTests

  @Test("a model that ends anywhere is refused, and never crashes")
  func cut() throws {
    for (name, step) in [("perceptron", 1), ("lstm", 11)] {
      let bytes = try Damaged.bytes(name)
      for end in stride(from: 1, to: bytes.count, by: step) {
        let message = try #require(try Damaged.fault(Array(bytes[..<end])))
        #expect(
          message.hasPrefix("m.mlmodel") && message.contains("expected"), "\(end): \(message)")
      }
    }
  }

  @Test("what is cut is named with the byte")
  func place() throws {
    let bytes = try Damaged.bytes("perceptron")
    #expect(
      try Damaged.fault(Array(bytes[..<400]))
        == "m.mlmodel at byte 89: found a field of 479 bytes, expected at most the 309 that are "
        + "left; is it a Core ML model (.mlmodel)?")
    // Byte 124 begins the 125 bytes of the first weights: the tag of their floats, then the length.
    var other = bytes
    #expect(Array(other[123...125]) == [125, 0x0a, 120])
    other[125] = 127
    #expect(
      try Damaged.fault(other)
        == "m.mlmodel:layer 1 at byte 125: found a field of 127 bytes, expected at most the 123 "
        + "that are left")
  }

  @Test("every byte that is turned is read or refused, and never crashes")
  func turned() throws {
    for (name, step) in [("perceptron", 1), ("convolutional", 5)] {
      let bytes = try Damaged.bytes(name)
      for place in stride(from: 0, to: bytes.count, by: step) {
        var other = bytes
        other[place] ^= [0x80, 0x41, 0x08][place % 3]
        _ = try Damaged.fault(other)
      }
    }
  }

  @Test(
    "bytes that are no model",
    arguments: [
      ([], "m.mlmodel: found an empty file, expected a Core ML model"),
      (
        Array("hello, this is a text\n".utf8),
        "m.mlmodel at byte 2: found wire type 4 of field 13, expected 0, 1, 2 or 5; "
          + "is it a Core ML model (.mlmodel)?"
      ),
      (
        [0x08, 4, 0xa2, 0x1f, 0x80, 0x80, 0x80, 0x80, 0x08],
        "m.mlmodel at byte 4: found a field of 2147483648 bytes, expected at most the 0 that "
          + "are left; "
          + "is it a Core ML model (.mlmodel)?"
      ),
      (
        [0x08, 4, 0xa2, 0x1f] + [UInt8](repeating: 0xff, count: 9) + [1],
        "m.mlmodel at byte 4: found a field of 18446744073709551615 bytes, expected at most the 0 "
          + "that are left; is it a Core ML model (.mlmodel)?"
      ),
      (
        [0x08] + [UInt8](repeating: 0xff, count: 11),
        "m.mlmodel at byte 1: found more than 64 bits, expected a whole number; "
          + "is it a Core ML model (.mlmodel)?"
      ),
      (
        [0x0b, 0],
        "m.mlmodel at byte 0: found wire type 3 of field 1, expected 0, 1, 2 or 5; "
          + "is it a Core ML model (.mlmodel)?"
      ),
      (
        [0xa0, 0x1f, 0],
        "m.mlmodel at byte 0: found field 500 with wire type 0, expected wire type 2; "
          + "is it a Core ML model (.mlmodel)?"
      ),
      (
        [0x08, 4],
        "m.mlmodel: found no model in it, expected a neural network; is it a Core ML model "
          + "(.mlmodel)?"
      ),
    ] as [([UInt8], String)])
  func none(bytes: [UInt8], message: String) throws {
    #expect(try Damaged.fault(bytes) == message)
  }

  @Test("folders say which format they are, and how to get a model")
  func folders() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("fedsim-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["a.mlpackage", "b.mlmodelc", "c"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    func fault(_ name: String) -> String? {
      Damaged.fault(at: folder.appendingPathComponent(name).path)
    }
    #expect(
      fault("a.mlpackage")
        == "a.mlpackage: found a package (.mlpackage), expected a `.mlmodel` file; make one of the "
        + "original network with NeuralNetworkBuilder of coremltools, or with "
        + "coremltools.convert(…, convert_to=\"neuralnetwork\") and save(\"m.mlmodel\")")
    #expect(
      fault("b.mlmodelc")
        == "b.mlmodelc: found a compiled model (.mlmodelc), expected a `.mlmodel` file; give the "
        + "`.mlmodel` that it was compiled from")
    #expect(fault("c") == "c: found a folder, expected a `.mlmodel` file")
    #expect(fault("d.mlmodel") == "d.mlmodel: No such file or directory")
  }
}
