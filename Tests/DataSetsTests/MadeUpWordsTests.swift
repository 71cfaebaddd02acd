import DataSets
import Learning
import Testing

/// Made-up sentences: padding, the successors of words, and users.
@Suite struct MadeUpWordsTests {
  private struct Set {
    let inputs: [Float]
    let tokens: Dataset.Tokens
    let positions: Int

    /// A sample's tokens, without padding.
    func sentence(_ sample: Int) -> [Int32] {
      let labels = tokens.labels[sample * positions..<(sample + 1) * positions]
        .prefix { $0 >= 0 }
      return [Int32(inputs[sample * positions])] + labels
    }
  }

  private func load(
    seed: UInt64 = 1, _ change: (inout MadeUpWords.Settings) -> Void = { _ in }
  ) throws -> (data: TrainAndTest, train: Set, test: Set) {
    var settings = MadeUpWords.Settings()
    (settings.users, settings.sentencesPerUser, settings.testPerUser) = (6, 50, 5)
    change(&settings)
    let data = try MadeUpWords(settings).load(folders: DataFolders([]), seed: seed)
    let sets = try [data.train, data.test].map { set in
      guard case .floats(let floats) = set.features, case .tokens(let tokens) = set.targets else {
        throw DataFault(.malformed, in: "words", found: "no tokens", expected: "tokens")
      }
      return Set(inputs: floats, tokens: tokens, positions: settings.positions)
    }
    return (data, sets[0], sets[1])
  }

  @Test func `inputs are a sentence without its last token, targets without its first`() throws {
    let (data, train, test) = try load()
    #expect(data.train.sampleShape == [12] && data.train.count == 300 && data.test.count == 30)
    #expect(train.tokens.positions == 12 && train.tokens.count == 100)
    #expect(train.tokens.unscored == 1)
    #expect(MadeUpWords(.init()).targets == .tokens)
    var lengths: [Int: Int] = [:]
    for (set, count) in [(train, 300), (test, 30)] {
      for sample in 0..<count {
        let sentence = set.sentence(sample)
        lengths[sentence.count, default: 0] += 1
        #expect(sentence.allSatisfy { $0 >= 1 && $0 < 100 })
        let missing = 13 - sentence.count
        let inputs = sentence.dropLast().map { Float($0) } + Array(repeating: 0, count: missing)
        #expect(Array(set.inputs[sample * 12..<(sample + 1) * 12]) == inputs)
        let labels = Array(sentence.dropFirst()) + Array(repeating: -1, count: missing)
        #expect(Array(set.tokens.labels[sample * 12..<(sample + 1) * 12]) == labels)
      }
    }
    #expect(lengths.keys.min() == 2 && lengths.keys.max() == 13)
  }

  @Test func `a word has at most four successors, and half the time its first`() throws {
    let (_, train, _) = try load { ($0.dialect, $0.rare, $0.tokens) = (0, 0, 12) }
    var successors: [Int32: [Int32: Int]] = [:]
    for sample in 0..<300 {
      let sentence = train.sentence(sample)
      for (word, next) in zip(sentence, sentence.dropFirst()) {
        successors[word, default: [:]][next, default: 0] += 1
      }
    }
    #expect(successors.count == 10)
    for counts in successors.values {
      #expect(counts.count <= 4 && !counts.keys.contains(1))
      // Of some 200 draws; further successors may be the first one again.
      let share = Double(counts.values.max() ?? 0) / Double(counts.values.reduce(0, +))
      #expect(share > 0.35, "\(counts)")
    }
  }

  @Test func `rare says how many tokens are out of vocabulary, and none is first`() throws {
    let (_, train, _) = try load { $0.rare = 0.25 }
    var (rare, all) = (0, 0)
    for sample in 0..<300 {
      let sentence = train.sentence(sample)
      #expect(sentence[0] > 1)
      rare += sentence.dropFirst().count { $0 == 1 }
      all += sentence.count - 1
    }
    // Some 1,950 draws: the standard deviation is 0.01.
    #expect(abs(Double(rare) / Double(all) - 0.25) < 0.04)
    #expect(train.tokens.answers == all - rare)
  }

  @Test func `with a dialect alone no two users share their successors`() throws {
    let (_, train, _) = try load { ($0.dialect, $0.rare, $0.users) = (1, 0, 2) }
    let pairs = [0, 50].map { first -> [[Int32]] in
      (first..<first + 50).flatMap { sample -> [[Int32]] in
        let sentence = train.sentence(sample)
        return zip(sentence, sentence.dropFirst()).map { [$0, $1] }
      }
    }
    // Of 98·4 pairs of 98² in one table some 4 % are in the other.
    let common = pairs[0].count { pairs[1].contains($0) }
    #expect(Double(common) < 0.2 * Double(pairs[0].count))
  }

  @Test func `a user depends on the seed and its own number alone`() throws {
    let few = try load { $0.users = 3 }
    let many = try load { $0.users = 5 }
    #expect(Array(many.train.inputs.prefix(few.train.inputs.count)) == few.train.inputs)
    #expect(
      Array(many.train.tokens.labels.prefix(few.train.tokens.labels.count))
        == few.train.tokens.labels)
    #expect(try load(seed: 2) { $0.users = 3 }.train.inputs != few.train.inputs)
    let users = try #require(many.data.users)
    #expect(users.names.first == "user-0" && users.names.count == 5)
    #expect(users.shards[1] == Array(50..<100))
  }

  @Test func `more than memory should hold is refused`() {
    var settings = MadeUpWords.Settings()
    settings.users = 1_000_000
    settings.sentencesPerUser = 1000
    #expect(settings.contradictions().map(\.key) == ["users"])
  }
}
