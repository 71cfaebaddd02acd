import DataSets
import Learning
import Scenarios
import Schema

extension Scenario {
  /// Checks that a network which begins with an embedding gets whole numbers below its count.
  ///
  /// Throws: a fault at the model, with the first value that is no token.
  func checkTokens(
    of data: TrainAndTest, for network: Network, at keys: [String] = ["task", "model"]
  ) throws(Faults) {
    guard let count = network.tokenCount else { return }
    for (name, samples) in [("training", data.train), ("test", data.test)] {
      let wrong: String?
      switch samples.features {
      case .bytes: wrong = "bytes, which represent fractions"
      case .floats(let values):
        wrong = values.first { !($0 >= 0 && $0 < Float(count) && $0 == $0.rounded(.towardZero)) }
          .map { "\($0)" }
      }
      guard let wrong else { continue }
      throw Faults([
        Fault(
          at: place(of: keys), path: keys.dotted,
          .contradiction(
            "the embedding takes whole numbers from 0 to \(count - 1), and the \(name) samples "
              + "have \(wrong)"))
      ])
    }
  }
}
