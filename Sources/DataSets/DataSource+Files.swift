/// A source whose data are the same whatever the seed, such as what is in files.
public protocol SeedlessSource: DataSource {}

extension SeedlessSource {
  /// Nothing is drawn.
  public var drawsFromSeed: Bool { false }
}

extension FashionMNIST: SeedlessSource {}
extension IDXFiles: SeedlessSource {}
extension CIFAR10: SeedlessSource {}
extension CIFAR100: SeedlessSource {}
extension CSVFiles: SeedlessSource {}
extension NPZFiles: SeedlessSource {}
extension NPYFiles: SeedlessSource {}
extension LEAFFiles: SeedlessSource {}
extension TFFFiles: SeedlessSource {}
extension NoData: SeedlessSource {}
