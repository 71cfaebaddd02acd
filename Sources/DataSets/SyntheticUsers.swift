import Learning
import Numerics
import Schema

/// Made-up users, each with its own model and its own cloud of samples: Synthetic(α, β) of FedProx.
///
/// User k draws u_k ~ N(0, α²) and B_k ~ N(0, β²); a matrix W_k and a vector b_k, each entry
/// N(u_k, 1); a centre v_k, each entry N(B_k, 1). A sample is x ~ N(v_k, Σ) with Σ diagonal and
/// Σ_jj = j^−1.2 (j from 1), its label the first largest entry of W_k·x + b_k. User k has
/// minimumSize + ⌊exp(sizeMu + sizeSigma·z_k)⌋ training samples, and one test sample for every nine
/// of them (at least one); the test set is all users' test samples, user by user. With `iid` all
/// users share one W and b, each entry N(0, 1), and v_k = 0.
/// The natural partition is the users. User k depends on the seed and k alone, so that adding users
/// changes nobody. Draws: from the streams of user k, its model from slot 0 (u, B, W row by row, b,
/// v), its size from slot 1, training samples from slot 2, test samples from slot 3; `features`
/// normals a sample. Order: W·x is summed over features from the first to the last.
/// Source: Li et al., "Federated optimization in heterogeneous networks" (2020), section 5.1 and
/// appendix C.1. There α and β are said to be variances; as in the authors' generator they are
/// standard deviations here. Differs: the authors split each user's samples 9 to 1 after a shuffle.
public struct SyntheticUsers: DataSource, Part {
  public struct Settings: PartSettings {
    /// How many users.
    public var users = 30
    /// How much the users' models differ.
    public var alpha = 1.0
    /// How much the users' samples differ.
    public var beta = 1.0
    /// Number of features.
    public var features = 60
    public var classes = 10
    /// The mean of the sizes' logarithms.
    public var sizeMu = 4.0
    /// The standard deviation of the sizes' logarithms.
    public var sizeSigma = 2.0
    /// Training samples of each user beforehand.
    public var minimumSize = 50
    /// Whether all users share one model and one cloud.
    public var iid = false

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("users", \.users, .integer(1...1_000_000), "Number of users."),
        Field("alpha", \.alpha, .number(0...100), "How much the users' models differ."),
        Field("beta", \.beta, .number(0...100), "How much the users' samples differ."),
        Field("features", \.features, .integer(1...10_000), "Numbers in one sample."),
        Field("classes", \.classes, .integer(2...1_000), "Number of classes."),
        Field("sizeMu", \.sizeMu, .number(0...8), "Mean of the logarithm of a user's size."),
        Field(
          "sizeSigma", \.sizeSigma, .number(0...3),
          "Standard deviation of the logarithm of a user's size."),
        Field(
          "minimumSize", \.minimumSize, .integer(1...1_000_000),
          "Training samples that each user has first."),
        Field("iid", \.iid, .flag, "All users share one model and one cloud."),
      ]
    }
  }

  public static let name = "synthetic"
  public static let summary =
    "Generated users with different models, Synthetic(alpha, beta) of FedProx; has users."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Makes the data from the seed alone. Throws: `tooLarge` for more than 2³¹ numbers.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let key = StreamKey(seed: seed, purpose: Purpose("synthetic.user"))
    var sharedStream = StreamKey(seed: seed, purpose: Purpose("synthetic.shared")).stream(slot: 0)
    let shared = settings.iid ? model(&sharedStream) : nil
    let spreads = (1...settings.features).map { Portable.exp(-0.6 * Portable.log(Double($0))) }
    var train = Samples()
    var test = Samples()
    var sizes: (train: [Int], test: [Int]) = ([], [])
    for user in 0..<settings.users {
      let streams = key.with(ordinal: UInt32(user))
      var stream = streams.stream(slot: 0)
      let model = shared ?? model(&stream)
      stream = streams.stream(slot: 1)
      let drawn = stream.logNormal(
        median: Portable.exp(settings.sizeMu), sigma: settings.sizeSigma)
      let size = settings.minimumSize + Int(min(drawn, 1e9))
      guard (train.labels.count + size) * settings.features <= 1 << 31 else {
        throw DataFault(
          .tooLarge, in: Self.name, found: "more than 2^31 numbers", expected: "fewer",
          advice: "lower `users`, `sizeMu` or `sizeSigma`")
      }
      stream = streams.stream(slot: 2)
      train.append(size, of: model, spreads, &stream)
      stream = streams.stream(slot: 3)
      test.append(max(1, size / 9), of: model, spreads, &stream)
      sizes.train.append(size)
      sizes.test.append(max(1, size / 9))
    }
    return TrainAndTest(
      train: train.dataset(settings), test: test.dataset(settings),
      users: DataUsers(
        names: (0..<settings.users).map { "user-\($0)" }, sizes: sizes.train,
        testSizes: sizes.test))
  }

  private func model(_ stream: inout RandomStream) -> Model {
    let isOwn = !settings.iid
    let u = isOwn ? settings.alpha * stream.normal() : 0
    let b = isOwn ? settings.beta * stream.normal() : 0
    let weights = (0..<settings.classes).map { _ in
      (0..<settings.features).map { _ in u + stream.normal() }
    }
    let offsets = (0..<settings.classes).map { _ in u + stream.normal() }
    let centre = (0..<settings.features).map { _ in isOwn ? b + stream.normal() : 0 }
    return Model(weights: weights, offsets: offsets, centre: centre)
  }

  /// What a user's samples and labels come from. Shapes: weights [class][feature].
  private struct Model {
    let weights: [[Double]]
    let offsets: [Double]
    let centre: [Double]

    func label(of x: [Double]) -> Int32 {
      var best = 0
      var largest = -Double.infinity
      for label in weights.indices {
        var value = offsets[label]
        for j in x.indices { value += weights[label][j] * x[j] }
        if value > largest { (best, largest) = (label, value) }
      }
      return Int32(best)
    }
  }

  private struct Samples {
    var values: [Float] = []
    var labels: [Int32] = []

    mutating func append(
      _ count: Int, of model: Model, _ spreads: [Double], _ stream: inout RandomStream
    ) {
      for _ in 0..<count {
        let noise = stream.normals(spreads.count)
        let x = spreads.indices.map { model.centre[$0] + spreads[$0] * noise[$0] }
        labels.append(model.label(of: x))
        for value in x { values.append(Float(value)) }
      }
    }

    func dataset(_ settings: Settings) -> Dataset {
      Dataset(
        features: .floats(values), sampleShape: [settings.features], labels: labels,
        classCount: settings.classes)
    }
  }
}
