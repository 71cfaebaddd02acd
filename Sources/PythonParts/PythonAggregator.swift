import FedSim
import Learning
import Schema

/// An aggregator in Python.
public struct PythonAggregator: Aggregator, PythonPart {
  public static let name = "python"
  public static let summary = "An aggregator of your own in Python (docs/own-policy.md)"
  public typealias Settings = PythonPartSettings<AggregatorSeam>
  public typealias Memory = PythonMemory

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }
  public func makeMemory() -> PythonMemory { PythonMemory() }
  var code: PolicyCode { settings.code }

  public var needs: AggregatorNeeds {
    var needs = AggregatorNeeds()
    for word in settings.code.statement.needs {
      switch word {
      case "bases": needs.insert(.bases)
      case "differences": needs.insert(.differences)
      default: break
      }
    }
    return needs
  }

  private struct Call: Encodable {
    var call = "combine"
    var payload: String
    /// Parameters in an array; arrays begin at multiples of `stride` bytes.
    var count: Int
    var stride: Int
    /// Whether a base follows each update's parameters.
    var hasBases: Bool
    var updates: [Update]
    var size: Int

    struct Update: Encodable {
      var device: Int
      var samples: Int
      var staleness: Int
    }
  }

  /// Asks the class. Arrays: the result, the current model, then of each update what it trained
  /// and, where they are needed, what that began with.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout PythonMemory
  ) -> ParameterBuffer {
    let hasBases = needs.contains(.bases) || batch.payload == .delta
    var arrays = [batch.current]
    for update in batch.updates {
      arrays.append(update.parameters)
      if hasBases { arrays.append(update.base) }
    }
    let call = { (area: ArrayArea) in
      Call(
        payload: batch.payload.rawValue, count: area.count, stride: area.stride,
        hasBases: hasBases,
        updates: batch.updates.map {
          .init(device: $0.device, samples: $0.samples, staleness: $0.staleness)
        }, size: area.bytes)
    }
    return ArrayArea(arrays).call(settings.code, call, memory: &memory)
  }
}

/// Arrays of one length in the memory that a part shares with FedSim; the first is the result.
struct ArrayArea {
  let arrays: [ParameterBuffer]
  let count: Int
  /// Bytes from one array to the next.
  let stride: Int
  var bytes: Int { stride * (arrays.count + 1) }

  init(_ arrays: [ParameterBuffer]) {
    self.arrays = arrays
    count = arrays[0].count
    stride = (arrays[0].byteCount + 63) / 64 * 64
  }

  /// Makes a call that leaves its result in the first array.
  func call(
    _ code: PolicyCode, _ call: (ArrayArea) -> some Encodable, memory: inout PythonMemory
  ) -> ParameterBuffer {
    var result: ParameterBuffer?
    let _: Bool = code.call(
      call(self), memory: &memory, bytes: bytes,
      put: { area in
        for (place, array) in arrays.enumerated() {
          array.withUnsafeBufferPointer {
            UnsafeMutableRawBufferPointer(rebasing: area[(stride * (place + 1))...])
              .copyMemory(from: UnsafeRawBufferPointer($0))
          }
        }
      },
      take: { area in
        let bytes = UnsafeRawBufferPointer(rebasing: area[..<(4 * count)])
        result = ParameterBuffer(copying: bytes.bindMemory(to: Float.self))
      })
    return result!
  }
}
