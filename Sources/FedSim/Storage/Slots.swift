/// Elements that are added and removed; the place of a removed one is used again.
///
/// Place 0 is never used: it always reads as nil. The subscript never copies an element.
/// Complexity: O(1) for everything.
struct Slots<Element> {
  private var elements = RecordArray<Element?>()
  private var free: [Int32] = []

  init() { elements.append(nil) }

  /// The element at a place; nil: the place is free.
  subscript(place: Int32) -> Element? {
    @inline(__always) unsafeAddress { address(place) }
    @inline(__always) unsafeMutableAddress { mutableAddress(place) }
  }

  /// Where an element is, for subscripts that yield it; valid until the list changes.
  @inline(__always) func address(_ place: Int32) -> UnsafePointer<Element?> {
    elements.address(Int(place))
  }

  /// The same for changing it, in memory that no other list shares.
  @inline(__always) mutating func mutableAddress(_ place: Int32) -> UnsafeMutablePointer<Element?> {
    elements.mutableAddress(Int(place))
  }

  /// Adds an element and says its place, above 0.
  mutating func insert(_ element: consuming Element) -> Int32 {
    guard let place = free.popLast() else {
      elements.append(element)
      return Int32(elements.count - 1)
    }
    mutableAddress(place).initialize(to: element)  // nothing is there to be released
    return place
  }

  /// Takes an element out.
  mutating func remove(_ place: Int32) -> Element {
    let address = mutableAddress(place)
    precondition(address.pointee != nil, "nobody has place \(place)")
    free.append(place)
    defer { address.initialize(to: nil) }
    return address.move().unsafelyUnwrapped
  }

  /// Asks for the memory of an element, if there is one.
  func prefetch(_ place: Int32) {
    if place > 0 { elements.prefetch(Int(place)) }
  }
}

extension Slots: Codable where Element: Codable {}
