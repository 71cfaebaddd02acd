import Testing

import Analysis

@Suite("What describes a list of numbers")
struct DescriptionTests {
  @Test("numbers that are not there are left out, and of none there is no mean")
  func missing() {
    #expect(Statistics.mean([1, .nan, 4]) == 2.5)
    #expect(Statistics.median([.nan, 3, 1, 2]) == 2)
    #expect(Statistics.mean([]).isNaN && Statistics.quantile(0.5, of: [.nan]).isNaN)
    #expect(Statistics.variance([3]).isNaN)
    #expect(Statistics.meanOfLowest(0.1, of: []).isNaN)
  }

  /// 2 is halfway between 1 and 3, a quarter of the way from 1 at 0.25 of one step.
  @Test("quantiles of few numbers are on the line between them")
  func quantiles() {
    #expect(Statistics.quantiles([0, 0.25, 0.5, 1], of: [3, 1]) == [1, 1.5, 2, 3])
    #expect(Statistics.median([1, 2, .infinity]) == 2)
    #expect(Statistics.median([1, .infinity]) == .infinity)
    #expect(Statistics.median([1, 2, .infinity, .infinity]) == .infinity)
  }

  /// ⌈25 / 10⌉ = 3: the mean of 1, 2 and 3; of 30 exactly 3.
  @Test("a worst decile is of a tenth of the devices, rounded up")
  func worstDecile() {
    #expect(Statistics.meanOfLowest(0.1, of: (1...25).map(Double.init)) == 2)
    #expect(Statistics.meanOfLowest(0.1, of: (1...30).map(Double.init)) == 2)
    #expect(Statistics.meanOfHighest(0.1, of: (1...30).map(Double.init)) == 29)
    #expect(Statistics.meanOfLowest(0.1, of: [0.25]) == 0.25)
  }

  /// Of 1 and 3 the mean absolute difference of the four pairs is (0 + 2 + 2 + 0) / 4 = 1, half of
  /// it by the mean 2 is 1/4; Jain is 4² / (2 · 10).
  @Test("Gini and Jain by hand, and where all or none have something")
  func evenness() {
    #expect(Statistics.gini([1, 3]) == 0.25)
    #expect(Statistics.jain([1, 3]) == 0.8)
    #expect(Statistics.gini([0, 0, 0, 8]) == 0.75)
    #expect(Statistics.jain([0, 0, 0, 8]) == 0.25)
    #expect(Statistics.gini([2, 2, 2]) == 0 && Statistics.jain([2, 2, 2]) == 1)
    #expect(Statistics.gini([0, 0]) == 0 && Statistics.jain([0, 0]) == 1)
  }

  @Test("an empirical distribution steps at each different number")
  func distribution() {
    let steps = Statistics.distribution([2, 1, 2, .nan, 5])
    #expect(steps.map(\.value) == [1, 2, 5])
    #expect(steps.map(\.share) == [0.25, 0.75, 1])
    #expect(Statistics.distribution([]).isEmpty)
  }

  @Test("a bootstrap interval is the same again, another with another seed, and none of one number")
  func bootstrap() throws {
    let values = [3.0, 1, 4, 1, 5, 9, 2, 6]
    let interval = try #require(Bootstrap(.bca, resamples: 500).interval(of: values))
    #expect(Bootstrap(.bca, resamples: 500).interval(of: values) == interval)
    #expect(Bootstrap(.bca, resamples: 500, seed: 1).interval(of: values) != interval)
    #expect(interval.contains(Statistics.mean(values)) && interval.level == 0.95)
    #expect(Bootstrap().interval(of: [1]) == nil)
    #expect(Bootstrap().interval(of: [2, 2, 2]) == Interval(low: 2, high: 2, level: 0.95))
    // More resamples begin with the same ones.
    let few = Bootstrap(.bca, resamples: 20).distribution(of: values, Statistics.mean)
    let many = Bootstrap(.bca, resamples: 40).distribution(of: values, Statistics.mean)
    #expect(few.allSatisfy(many.contains))
  }

  /// 300 samples of 10 numbers between -1/2 and 1/2, whose mean is 0: of 90 % intervals 270 should
  /// hold it, with a standard deviation of 5. Of so few numbers both kinds hold it a little less
  /// often than they say.
  @Test("bootstrap intervals hold the truth about as often as they say")
  func coverage() {
    let scores = (0..<200).map { Double($0) / 199 - 0.5 }
    var covered = [0, 0]
    for trial in UInt64(0)..<300 {
      var sample: [Double] = []
      _ = Bootstrap(.percentile, resamples: 1, seed: 77 + trial).distribution(of: scores) {
        sample = Array($0.prefix(10))
        return 0
      }
      for (place, method) in [Bootstrap.Method.percentile, .bca].enumerated() {
        let interval = Bootstrap(method, resamples: 400, level: 0.9).interval(of: sample)
        if interval?.contains(0) == true { covered[place] += 1 }
      }
    }
    #expect(covered.allSatisfy { (240...285).contains($0) }, "\(covered)")
  }

  @Test("a band over seeds is made of their steps, and counts who is known where")
  func band() {
    let curves = [
      StepCurve([(0, 1), (10, 3)], end: 20), StepCurve([(0, 2), (5, 4)], end: 15),
      StepCurve([(0, .nan), (5, 6)], end: 20),
    ]
    let band = SeedBand(curves, from: 0, to: 1)
    #expect(band.places == [0, 5, 10, 15, 20])
    #expect(band.counts == [2, 3, 3, 3, 2])
    #expect(band.median == [1.5, 4, 4, 4, 4.5])
    #expect(band.low == [1, 1, 3, 3, 3])
    #expect(band.high == [2, 6, 6, 6, 6])
    #expect(curves[0].value(at: 9.99) == 1 && curves[0].value(at: 10) == 3)
    #expect(curves[0].value(at: 21).isNaN && curves[2].value(at: 1).isNaN)
    let thin = SeedBand([StepCurve((0...99).map { (Double($0), 0) })], mostPlaces: 4)
    #expect(thin.places == [0, 33, 66, 99])
  }
}
