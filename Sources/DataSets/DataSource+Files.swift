// Sources whose data are what stands in their files, whatever the seed.

extension FashionMNIST {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension IDXFiles {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension CIFAR10 {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension CIFAR100 {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension CSVFiles {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension NPZFiles {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension NPYFiles {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension LEAFFiles {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension TFFFiles {
  /// The files say it all.
  public var drawsFromSeed: Bool { false }
}

extension NoData {
  /// There is nothing to draw.
  public var drawsFromSeed: Bool { false }
}
