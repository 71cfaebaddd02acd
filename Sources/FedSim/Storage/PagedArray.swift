/// A list that only grows, in pages: it never moves, so a long run leaves no outgrown copies.
public struct PagedArray<Element: Sendable>: RandomAccessCollection, MutableCollection, Sendable {
  private var pages: [[Element]] = []
  private static var pageSize: Int { 128 }

  /// How many elements there are.
  public private(set) var count = 0

  /// An empty list.
  public init() {}

  /// A list of these.
  public init(_ elements: some Sequence<Element>) {
    for element in elements { append(element) }
  }

  /// The place of the first element.
  public var startIndex: Int { 0 }
  /// The place after the last element.
  public var endIndex: Int { count }

  /// The element at a place.
  public subscript(index: Int) -> Element {
    get { pages[index / Self.pageSize][index % Self.pageSize] }
    _modify { yield &pages[index / Self.pageSize][index % Self.pageSize] }
  }

  /// Adds an element at the end.
  public mutating func append(_ element: Element) {
    if count % Self.pageSize == 0 {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(Self.pageSize)
    }
    pages[pages.count - 1].append(element)
    count += 1
  }
}

extension PagedArray: Encodable where Element: Encodable {
  /// Writes the elements in their order.
  public func encode(to encoder: any Encoder) throws {
    var elements = encoder.unkeyedContainer()
    for page in pages { for element in page { try elements.encode(element) } }
  }
}

extension PagedArray: Decodable where Element: Decodable {
  /// Reads the elements.
  public init(from decoder: any Decoder) throws {
    self.init()
    var elements = try decoder.unkeyedContainer()
    while !elements.isAtEnd { append(try elements.decode(Element.self)) }
  }
}
