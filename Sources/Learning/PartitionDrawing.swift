import Numerics

/// The samples of each class. Shapes: [class][its samples, in the pool's order].
func samplesByClass(_ labels: [Int32], classCount: Int) -> [[Int32]] {
  var samples = Array(repeating: [Int32](), count: classCount)
  for (sample, label) in labels.enumerated() { samples[Int(label)].append(Int32(sample)) }
  return samples
}

/// The samples of each class, each class's shuffled. Draws: one shuffle from slot 0 of each class.
func shuffledByClass(
  _ labels: [Int32], classCount: Int, streams: PartitionStreams
) -> [[Int32]] {
  var samples = samplesByClass(labels, classCount: classCount)
  for label in 0..<classCount {
    var stream = streams.forPool(ordinal: label)
    stream.shuffle(&samples[label])
  }
  return samples
}

/// This many samples to each client in proportion to its weight, after `minimum` to each.
///
/// What the floors leave over goes out one each by the largest fractions, the lower client first
/// where two are equal. Shapes: result as `weights`, its sum `total`. Order: the weights are summed
/// from the first to the last.
func apportioned(
  _ weights: [Double], total: Int, minimum: Int
) throws(PartitionFault) -> [Int] {
  let (needed, overflow) = weights.count.multipliedReportingOverflow(by: minimum)
  guard !overflow && needed <= total else {
    throw PartitionFault.tooFewSamples(needed: overflow ? .max : needed, available: total)
  }
  let free = total - needed
  var sum = 0.0
  for weight in weights { sum += weight }
  precondition(sum > 0 && sum.isFinite, "weights add up to a number above 0")
  var sizes: [Int] = []
  var fractions: [Double] = []
  var left = free
  for weight in weights {
    let share = weight / sum * Double(free)
    let whole = min(Int(share.rounded(.down)), left)
    sizes.append(minimum + whole)
    fractions.append(share - Double(whole))
    left -= whole
  }
  let order = weights.indices.sorted {
    fractions[$0] != fractions[$1] ? fractions[$0] > fractions[$1] : $0 < $1
  }
  for turn in 0..<left { sizes[order[turn % order.count]] += 1 }
  return sizes
}

/// Random samples of the pool, this many to each client. Draws: one shuffle of the pool.
func dealtAtRandom(
  _ sizes: [Int], samples: Int, streams: PartitionStreams
) -> [[Int32]] {
  var order = (0..<Int32(samples)).map { $0 }
  var stream = streams.forPool()
  stream.shuffle(&order)
  var start = 0
  return sizes.map { size in
    defer { start += size }
    return Array(order[start..<start + size])
  }
}

extension RandomStream {
  /// A point of a Dirichlet distribution with a concentration for each share; 0 gives the share 0.
  ///
  /// Draws: a `logGamma` for each concentration above 0, in order. Order: the shares are summed
  /// from the first to the last.
  mutating func dirichlet(_ concentrations: [Double]) -> [Double] {
    var logarithms: [Double] = []
    var largest = -Double.infinity
    for concentration in concentrations {
      let value = concentration > 0 ? logGamma(shape: concentration) : -.infinity
      logarithms.append(value)
      if value > largest { largest = value }
    }
    precondition(largest > -.infinity, "a Dirichlet point needs a concentration above 0")
    var sum = 0.0
    var shares: [Double] = []
    for value in logarithms {
      shares.append(value == -.infinity ? 0 : Portable.exp(value - largest))
      sum += shares[shares.count - 1]
    }
    for k in shares.indices { shares[k] /= sum }
    return shares
  }

  /// The first place at which the running sum of the shares passes a uniform draw times their sum.
  ///
  /// Draws: one `uniform`. Order: the shares are summed from the first to the last.
  mutating func place(in runningSums: [Double]) -> Int {
    let goal = uniform() * runningSums[runningSums.count - 1]
    var low = 0
    var high = runningSums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if runningSums[middle] > goal { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The sums of the first, the first two, the first three… numbers.
func runningSums(_ numbers: [Double]) -> [Double] {
  var sum = 0.0
  return numbers.map { number in
    sum += number
    return sum
  }
}
