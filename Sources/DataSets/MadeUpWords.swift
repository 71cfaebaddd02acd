import Learning
import Numerics
import Schema

/// Made-up sentences of tokens: each word mostly says which one is next, and users differ.
///
/// Token 0 is padding, 1 is out of vocabulary, the others are words. Each word w has four
/// successors, drawn alike from all words; the first follows with probability 1/2, the second with
/// 1/4, the third and the fourth with 1/8. With probability `rare` the next token is 1 instead, and
/// behind a 1 any word follows alike. With probability `dialect` a word's successor is that of the
/// user's own table in place of the one that all share. A sentence has n words, n alike from 2 to
/// `positions` + 1. Inputs are all its tokens but the last, targets all but the first, both padded.
/// Where the target is padding, nothing is learned; a target of 1 is learned and not scored.
/// The natural partition is the users; the test set is `testPerUser` sentences more of each, user
/// by user. User k depends on the seed and k alone. Draws: the shared table from slot 0 of its
/// stream, word by word four `below(words)`; user k's table from slot 0 of user k's streams
/// likewise, training sentences from slot 1, test sentences from slot 2: `below(positions)` for the
/// length, `below(words)` for the first word, and for each further token `uniform()` for `rare`,
/// then, behind a 1, `below(words)`, else `uniform()` for `dialect` and `below(8)`.
public struct MadeUpWords: DataSource, Part {
  public struct Settings: PartSettings {
    /// How many users.
    public var users = 100
    /// Training sentences of each.
    public var sentencesPerUser = 40
    /// Test sentences of each.
    public var testPerUser = 10
    /// How many tokens there are, padding and the one out of vocabulary included.
    public var tokens = 100
    /// How many positions a sample has.
    public var positions = 12
    /// How often a word's successor is the user's own.
    public var dialect = 0.2
    /// How often a token is out of vocabulary.
    public var rare = 0.05

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("users", \.users, .integer(1...1_000_000), "Number of users."),
        Field(
          "sentencesPerUser", \.sentencesPerUser, .integer(1...1_000_000),
          "Training sentences of each user."),
        Field(
          "testPerUser", \.testPerUser, .integer(1...1_000_000), "Test sentences of each user."),
        Field(
          "tokens", \.tokens, .integer(4...1_000_000),
          "Number of tokens; 0 is padding, 1 is out of vocabulary."),
        Field("positions", \.positions, .integer(1...10_000), "Positions of a sample."),
        Field(
          "dialect", \.dialect, .fraction,
          "Probability that a user's own table gives the next word."),
        Field("rare", \.rare, .fraction, "Probability that a token is out of vocabulary."),
      ]
    }

    /// More numbers than memory should hold.
    public func contradictions() -> [(key: String, message: String)] {
      let values = users * max(sentencesPerUser, testPerUser) * positions
      guard values > 1 << 31 else { return [] }
      return [("users", "\(values) positions in one set, expected at most \(1 << 31)")]
    }
  }

  public static let name = "words"
  public static let summary =
    "Generated sentences of tokens whose next word depends on the last; users differ; has users."

  private let settings: Settings
  private var words: UInt32 { UInt32(settings.tokens - 2) }

  public init(_ settings: Settings) { self.settings = settings }

  public var targets: Dataset.TargetKind { .tokens }

  /// Makes the data from the seed alone. Shapes: sample [positions].
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let key = StreamKey(seed: seed, purpose: Purpose("words.user"))
    let shared = table(StreamKey(seed: seed, purpose: Purpose("words.shared")).stream(slot: 0))
    var sets = [(inputs: [Float](), labels: [Int32]()), (inputs: [Float](), labels: [Int32]())]
    let sizes = [settings.sentencesPerUser, settings.testPerUser]
    for user in 0..<settings.users {
      let streams = key.with(ordinal: UInt32(user))
      let own = table(streams.stream(slot: 0))
      for set in 0..<2 {
        var stream = streams.stream(slot: UInt64(set + 1))
        for _ in 0..<sizes[set] {
          let sentence = sentence(shared, own, &stream)
          let missing = settings.positions + 1 - sentence.count
          sets[set].inputs += sentence.dropLast().map { Float($0) }
          sets[set].inputs += Array(repeating: 0, count: missing)
          sets[set].labels += sentence.dropFirst()
          sets[set].labels += Array(repeating: -1, count: missing)
        }
      }
    }
    let data = sets.map { set in
      Dataset(
        features: .floats(set.inputs), sampleShape: [settings.positions],
        targets: .tokens(
          .init(
            set.labels, positions: settings.positions, count: settings.tokens, unscored: 1)))
    }
    return TrainAndTest(
      train: data[0], test: data[1],
      users: DataUsers(
        names: (0..<settings.users).map { "user-\($0)" },
        sizes: Array(repeating: sizes[0], count: settings.users),
        testSizes: Array(repeating: sizes[1], count: settings.users)))
  }

  /// The successors of each word. Shapes: [word][4].
  private func table(_ source: RandomStream) -> [Int32] {
    var stream = source
    return (0..<4 * Int(words)).map { _ in word(&stream) }
  }

  private func word(_ stream: inout RandomStream) -> Int32 { 2 + Int32(stream.below(words)) }

  private func sentence(
    _ shared: [Int32], _ own: [Int32], _ stream: inout RandomStream
  ) -> [Int32] {
    let count = 2 + Int(stream.below(UInt32(settings.positions)))
    var tokens = [word(&stream)]
    while tokens.count < count {
      let last = tokens[tokens.count - 1]
      if stream.uniform() < settings.rare {
        tokens.append(1)
      } else if last == 1 {
        tokens.append(word(&stream))
      } else {
        let successors = stream.uniform() < settings.dialect ? own : shared
        // Of eight four are the first, two the second.
        let choice = [0, 0, 0, 0, 1, 1, 2, 3][Int(stream.below(8))]
        tokens.append(successors[4 * Int(last - 2) + choice])
      }
    }
    return tokens
  }
}
