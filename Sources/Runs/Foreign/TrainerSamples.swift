import DataSets
import Learning

/// The samples that a trainer states: their number, their labels, and whose they are.
struct TrainerSamples {
  let train: Dataset
  let test: Dataset
  let users: PythonTrainer.DataUsersLists?

  /// Throws: where what is stated does not fit together.
  init(_ statement: TrainerStatement, _ arrays: [[Int32]]) throws(PythonTrainer.NotReady) {
    let labels = arrays[0]
    guard labels.count == statement.train, statement.train > 0 else {
      throw .init(reason: "\(labels.count) labels for \(statement.train) training samples")
    }
    guard statement.classes > 0, labels.allSatisfy({ 0..<Int32(statement.classes) ~= $0 }) else {
      throw .init(reason: "a label is none of \(statement.classes) classes, numbered from 0")
    }
    func samples(_ labels: [Int32]) -> Dataset {
      Dataset(
        features: .bytes(Array(repeating: 0, count: labels.count)), sampleShape: [1],
        labels: labels, classCount: statement.classes)
    }
    train = samples(labels)
    test = samples(Array(repeating: 0, count: statement.test))
    guard let names = statement.clients else {
      users = nil
      return
    }
    let tests = statement.hasTestOwners ? arrays[2] : []
    guard arrays[1].count == statement.train, tests.count == statement.test || tests.isEmpty else {
      throw .init(reason: "not every sample has one owner")
    }
    users = .init(
      names: names, shards: try Self.lists(of: arrays[1], names.count),
      tests: statement.hasTestOwners ? try Self.lists(of: tests, names.count) : [])
  }

  /// The samples of each owner.
  private static func lists(
    of owners: [Int32], _ count: Int
  ) throws(PythonTrainer.NotReady) -> [[Int32]] {
    var lists = Array(repeating: [Int32](), count: count)
    for (sample, owner) in owners.enumerated() {
      guard lists.indices.contains(Int(owner)) else {
        throw .init(reason: "sample \(sample) is owned by \(owner), and there are \(count) clients")
      }
      lists[Int(owner)].append(Int32(sample))
    }
    return lists
  }
}
