import Numerics
import Schema

/// Gaussian noise on the features of each client's samples, stronger from client to client.
///
/// Feature skew of NIID-Bench. Client i of N (from 0) adds noise of mean 0 to each feature:
/// `byProgram` with the standard deviation level·i/(N − 1), `byPaper` with the variance
/// level·(i + 1)/N. Bytes become floats from 0 to 1 first. Validation samples have the noise of
/// their client; test samples, and training samples of nobody, have none.
/// Draws: for each sample one `normal` a feature, from slot (number of the sample) of its client's
/// `feature-noise` stream (seed `data`).
/// Source: Li, Diao, Chen, He, "Federated learning on non-IID data silos" (2022), section 4.2, and
/// its program with `noise_type=level`. Differs: the program draws new noise whenever a sample is
/// read, FedSim once for each sample.
public struct FeatureNoise: PartSettings {
  /// How the noise grows.
  public enum Rule: String, CaseIterable, Sendable {
    /// As the authors' program: standard deviation level·i/(N − 1).
    case byProgram
    /// As the paper: variance level·(i + 1)/N.
    case byPaper
  }

  /// The noise of the last client.
  public var level = 0.1
  /// How it grows from client to client.
  public var rule = Rule.byProgram

  public init() {}
  /// A bare number is the level.
  public static var shorthand: String? { "level" }
  public static var fields: [Field<FeatureNoise>] {
    [
      Field("level", \.level, .number(0...1_000), required: true, "Noise of the last client."),
      Field(
        "rule", \.rule, .choice,
        "Growth over N clients: standard deviation level·i/(N − 1), i from 0, or variance"
          + " level·i/N, i from 1."),
    ]
  }

  /// The standard deviation of a client's noise.
  public func deviation(client: Int, of clients: Int) -> Double {
    switch rule {
    case .byProgram: clients > 1 ? level * Double(client) / Double(clients - 1) : 0
    case .byPaper: (level * Double(client + 1) / Double(clients)).squareRoot()
    }
  }

  /// The same samples with the noise of the clients that hold them.
  ///
  /// Complexity: a pass over all features. Throws: `sampleTwice` where clients share a sample.
  public func applied(
    to data: Dataset, _ partition: Partition, seed: UInt64
  ) throws(PartitionFault) -> Dataset {
    precondition(data.targets.kind != .tokens, "tokens are no quantities")
    var values: [Float] =
      switch data.features {
      case .bytes(let bytes): bytes.map { Float($0) / 255 }
      case .floats(let floats): floats
      }
    let key = StreamKey(seed: seed, purpose: "feature-noise")
    var owners = Array(repeating: Int32(-1), count: data.count)
    for client in 0..<partition.clientCount {
      let deviation = deviation(client: client, of: partition.clientCount)
      for sample in partition.shards[client] + partition.validation[client] {
        let owner = owners[Int(sample)]
        guard owner < 0 || owner == client else {
          throw .sampleTwice(
            sample: Int(sample), firstClient: Int(owner), secondClient: client)
        }
        guard owner < 0 else { continue }
        owners[Int(sample)] = Int32(client)
        guard deviation > 0 else { continue }
        var stream = key.with(ordinal: UInt32(client)).stream(slot: UInt64(sample))
        let start = Int(sample) * data.sampleSize
        for (i, noise) in stream.normals(data.sampleSize).enumerated() {
          values[start + i] += Float(deviation * noise)
        }
      }
    }
    return data.with(features: values)
  }
}
