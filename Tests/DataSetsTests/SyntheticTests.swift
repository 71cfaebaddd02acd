import DataSets
import Foundation
import Learning
import Numerics
import Testing

@Suite struct SyntheticTests {
  private func load(
    seed: UInt64 = 1, _ change: (inout SyntheticUsers.Settings) -> Void = { _ in }
  ) throws -> TrainAndTest {
    var settings = SyntheticUsers.Settings()
    (settings.users, settings.features, settings.sizeSigma) = (4, 8, 0.5)
    change(&settings)
    return try SyntheticUsers(settings).load(folders: DataFolders([]), seed: seed)
  }

  private func floats(_ dataset: Dataset) -> [Float] {
    guard case .floats(let floats) = dataset.features else { return [] }
    return floats
  }

  @Test func `a user depends on the seed and its number alone`() throws {
    let few = try load()
    let many = try load { $0.users = 9 }
    let users = try #require(few.users)
    #expect(users.shards.allSatisfy { $0.count >= 50 } && users.names[3] == "user-3")
    #expect(users.shards == Array(try #require(many.users).shards[..<4]))
    #expect(floats(few.train) == Array(floats(many.train)[..<floats(few.train).count]))
    #expect(floats(few.test) == Array(floats(many.test)[..<floats(few.test).count]))
    #expect(few.test.count == users.shards.reduce(0) { $0 + $1.count / 9 })
    #expect(try floats(load(seed: 2).train) != floats(few.train))
  }

  @Test func `samples and labels follow the documented equations and draws`() throws {
    let data = try load { ($0.alpha, $0.beta) = (0.5, 2) }
    let start = try #require(data.users).shards[..<2].joined().count
    let key = StreamKey(seed: 1, purpose: Purpose("synthetic.user")).with(ordinal: 2)
    var stream = key.stream(slot: 0)
    let u = 0.5 * stream.normal()
    let b = 2 * stream.normal()
    let weights = (0..<10).map { _ in (0..<8).map { _ in u + stream.normal() } }
    let offsets = (0..<10).map { _ in u + stream.normal() }
    let centre = (0..<8).map { _ in b + stream.normal() }
    stream = key.stream(slot: 2)
    for sample in start..<start + 50 {
      // Σ_jj = j^−1.2 is the variance.
      let x = (0..<8).map { centre[$0] + pow(Double($0 + 1), -0.6) * stream.normal() }
      let read = floats(data.train)[sample * 8..<sample * 8 + 8]
      for (mine, theirs) in zip(x, read) { #expect(abs(mine - Double(theirs)) < 1e-5) }
      let scores = (0..<10).map { k in
        zip(weights[k], x).reduce(offsets[k]) { $0 + $1.0 * $1.1 }
      }
      #expect(Int(data.train.labels[sample]) == scores.firstIndex(of: scores.max() ?? 0))
    }
  }

  @Test func `sizes are log-normal above the minimum`() throws {
    let data = try load { ($0.users, $0.features, $0.sizeMu, $0.minimumSize) = (2_000, 1, 3, 7) }
    let sizes = try #require(data.users).shards.map { Double($0.count - 7) + 0.5 }
    let logs = sizes.map { log($0) }
    let mean = logs.reduce(0, +) / 2_000
    let variance = logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 2_000
    #expect(abs(mean - 3) < 5 * 0.5 / 2_000.squareRoot() && abs(variance - 0.25) < 0.04)
  }

  @Test func `centres spread by beta, and not at all where users are alike`() throws {
    // Var of a user's mean of v over many features is β² around 0, plus 1/features.
    let data = try load {
      ($0.users, $0.features, $0.beta, $0.minimumSize, $0.sizeSigma) = (400, 40, 3, 20, 0)
      $0.sizeMu = 0
    }
    let values = floats(data.train)
    var sum = 0.0
    for shard in try #require(data.users).shards {
      let own = values[Int(shard[0]) * 40..<(Int(shard[shard.count - 1]) + 1) * 40]
      let mean = own.reduce(0) { $0 + Double($1) } / Double(own.count)
      sum += mean * mean
    }
    #expect(abs(sum / 400 / 9 - 1) < 5 * (2.0 / 400).squareRoot())
    let alike = try load { ($0.iid, $0.features) = (true, 2) }
    let firsts = stride(from: 0, to: floats(alike.train).count, by: 2).map {
      Double(floats(alike.train)[$0])
    }
    let mean = firsts.reduce(0, +) / Double(firsts.count)
    #expect(abs(mean) < 5 / Double(firsts.count).squareRoot())
  }

  @Test func `more numbers than memory should hold are a fault`() {
    let fault = fault {
      _ = try load { ($0.features, $0.minimumSize) = (10_000, 1_000_000) }
    }
    #expect(fault?.kind == .tooLarge)
  }
}

@Suite struct SensorsTests {
  private func load(
    seed: UInt64 = 1, _ change: (inout Sensors.Settings) -> Void = { _ in }
  ) throws -> (data: TrainAndTest, floats: [Float]) {
    var settings = Sensors.Settings()
    (settings.devices, settings.samplesPerDevice) = (20, 50)
    change(&settings)
    let data = try Sensors(settings).load(folders: DataFolders([]), seed: seed)
    guard case .floats(let floats) = data.train.features else { return (data, []) }
    return (data, floats)
  }

  /// The kinds of events in the order in which each is seen best, as a class of six; 3 channels.
  private func decoded(_ sequence: ArraySlice<Float>) -> Int {
    let steps = sequence.count / 3
    var channelMeans = [0.0, 0, 0]
    for (place, value) in sequence.enumerated() {
      channelMeans[place % 3] += Double(value) / Double(steps)
    }
    let times = (0..<3).map { kind -> Int in
      let matches = (0..<steps).map { step in
        (0..<3).reduce(0.0) { sum, channel in
          let pattern = (kind + channel) % 3 == 0 ? 1.0 : -0.5
          let value = Double(sequence[sequence.startIndex + step * 3 + channel])
          return sum + pattern * (value - channelMeans[channel])
        }
      }
      return matches.firstIndex(of: matches.max() ?? 0) ?? 0
    }
    let order = [0, 1, 2].sorted { times[$0] < times[$1] }
    return [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].firstIndex(of: order)
      ?? 0
  }

  @Test func `without noise and drift the class is the order of the events`() throws {
    let (data, floats) = try load { ($0.drift, $0.noise) = (0, 0) }
    #expect(data.train.sampleShape == [40, 3] && data.train.classCount == 6)
    for sample in 0..<data.train.count {
      let sequence = floats[sample * 120..<(sample + 1) * 120]
      #expect(decoded(sequence) == Int(data.train.labels[sample]))
      // The patterns of the three kinds cancel out: sums over time tell nothing.
      for channel in 0..<3 {
        let sum = (0..<40).reduce(Float(0)) {
          $0 + sequence[sequence.startIndex + $1 * 3 + channel]
        }
        #expect(abs(sum) < 1e-4)
      }
    }
    let counts = Partition(shards: [Array(0..<Int32(data.train.count))]).labelHistogram(
      labels: data.train.labels, classCount: 6)[0]
    #expect(counts.allSatisfy { abs(Double($0) - 1_000.0 / 6) < 5 * 12 })
  }

  @Test func `the order is there to be seen at the defaults, but hardly in the steps' means`()
    throws
  {
    let (data, floats) = try load { $0.devices = 60 }
    let labels = data.train.labels.map { Int($0) }
    var means = Array(repeating: Array(repeating: 0.0, count: 120), count: 6)
    var counts = Array(repeating: 0.0, count: 6)
    for sample in labels.indices {
      counts[labels[sample]] += 1
      for place in 0..<120 { means[labels[sample]][place] += Double(floats[sample * 120 + place]) }
    }
    for label in 0..<6 { for place in 0..<120 { means[label][place] /= counts[label] } }
    guard case .floats(let test) = data.test.features else {
      Issue.record("features are floats")
      return
    }
    var (byOrder, byMean) = (0, 0)
    for sample in 0..<data.test.count {
      let sequence = test[sample * 120..<(sample + 1) * 120]
      let label = Int(data.test.labels[sample])
      if decoded(sequence) == label { byOrder += 1 }
      let distances = means.map { mean in
        zip(mean, sequence).reduce(0.0) { $0 + ($1.0 - Double($1.1)) * ($1.0 - Double($1.1)) }
      }
      if distances.firstIndex(of: distances.min() ?? 0) == label { byMean += 1 }
    }
    let count = Double(data.test.count)
    #expect(Double(byOrder) / count > 0.8, "a matched filter: \(Double(byOrder) / count)")
    #expect(Double(byMean) / count < 0.4, "the nearest mean: \(Double(byMean) / count)")
  }

  @Test func `a device depends on the seed and its number alone, and differs from others`() throws {
    let few = try load { $0.noise = 0 }
    let many = try load {
      ($0.noise, $0.devices) = (0, 25)
    }
    #expect(few.floats == Array(many.floats[..<few.floats.count]))
    #expect(try load(seed: 2).floats != load().floats)
    #expect(few.data.users?.shards[1] == Array(50..<100))
    #expect(few.data.test.count == 400)
    // Without drift a device's mean is 0 in every channel; with it the offsets spread by drift.
    let wide = try load { ($0.devices, $0.drift, $0.noise) = (400, 2, 0) }
    var square = 0.0
    for device in 0..<400 {
      let own = wide.floats[device * 50 * 120..<(device + 1) * 50 * 120]
      let mean = own.enumerated().reduce(0.0) { $0 + ($1.offset % 3 == 0 ? Double($1.element) : 0) }
      square += (mean / 2_000) * (mean / 2_000)
    }
    // The sway's mean over a sequence, at most its amplitude 1, adds to the offsets' 4.
    #expect(square / 400 > 3 && square / 400 < 5.5)
  }

  @Test func `two classes take two kinds of events, 24 take four`() throws {
    #expect(try load { $0.classes = 2 }.data.train.classCount == 2)
    let many = try load {
      ($0.classes, $0.channels, $0.steps, $0.drift) = (24, 5, 24, 0)
    }
    #expect(Set(many.data.train.labels).count == 24 && many.data.train.sampleShape == [24, 5])
  }
}
