import DataSets
import FedSim
import Scenarios
import Schema

extension Scenario {
  /// The server's settings, with the cohorts that a selector is given read and checked.
  ///
  /// Throws: a fault for a file that is no good, a round without devices, a device that does not
  /// exist or comes twice, and fewer rounds than the run is to play.
  func serverSettings() throws(Faults) -> ServerSettings {
    var server = settings.server
    guard let given = server.selector.value.given else { return server }
    var keys = ["server", "selector", server.selector.name]
    var cohorts = given.cohorts
    var place = place(of: keys + ["cohorts"])
    if let file = given.file {
      place = file.place == .none ? self.place(of: keys) : file.place
      do throws(DataFault) {
        cohorts = try Self.cohorts(path(of: file.path))
      } catch {
        throw Faults([fault(error, at: place, path: (keys + ["file"]).joined(separator: "."))])
      }
      keys.append("file")
    } else {
      keys.append("cohorts")
    }
    if let problem = problem(of: cohorts) {
      let path = keys.joined(separator: ".")
      throw Faults([Fault(at: place, path: path, .contradiction(problem))])
    }
    server.selector = server.selector.with(given.selector(cohorts))
    return server
  }

  /// The rounds of an archive without the -1 that fill short ones up.
  private static func cohorts(_ path: String) throws(DataFault) -> [[Int]] {
    let array = try NPZ(contentsOf: path).array(named: "cohorts")
    guard array.shape.count == 2, let values = array.integers else {
      throw DataFault(
        .countMismatch, in: "\(path):cohorts.npy",
        found: "type \(array.values.descriptor), shape \(array.shape)",
        expected: "whole numbers [rounds, members]")
    }
    let width = array.shape[1]
    return (0..<array.shape[0]).map { round in
      var members = values[round * width..<(round + 1) * width].map { Int($0) }
      while members.last == -1 { members.removeLast() }
      return members
    }
  }

  private func problem(of cohorts: [[Int]]) -> String? {
    let devices = settings.fleet.reduce(0) { $0 + $1.count }
    for (index, members) in cohorts.enumerated() {
      if members.isEmpty { return "round \(index + 1) has no device" }
      var last = -1
      for member in members.sorted() {
        guard (0..<devices).contains(member) else {
          return "round \(index + 1) has device \(member), but the fleet has \(devices) devices,"
            + " numbered from 0"
        }
        if member == last { return "round \(index + 1) has device \(member) twice" }
        last = member
      }
    }
    let rounds = max(settings.stop.rounds ?? 0, settings.stop.versions ?? 0, 1)
    return cohorts.count < rounds
      ? "there are cohorts for \(cohorts.count) rounds, but the run has \(rounds)" : nil
  }
}
