/// A list that grows at its end and whose elements are let go one by one; a number is never given
/// again. The subscript never copies an element.
///
/// Elements are in pages that go with their last element, so a long run needs memory for what
/// lives, and a few bits for each number ever given while an old one lives. Complexity: O(1) for
/// everything but the walk.
package struct SlotMap<Element> {
  /// Memory for some elements; two maps may share it until one of them changes.
  private final class Page {
    let base = UnsafeMutablePointer<Element>.allocate(capacity: SlotMap.pageSize)
    /// How many numbers of the page were given.
    var count = 0
    /// A bit for each element that lives.
    var living: UInt16 = 0

    func lives(_ place: Int) -> Bool { living >> UInt16(place) & 1 == 1 }

    func copy() -> Page {
      let fresh = Page()
      for place in 0..<count where lives(place) {
        (fresh.base + place).initialize(to: base[place])
      }
      (fresh.count, fresh.living) = (count, living)
      return fresh
    }

    deinit {
      for place in 0..<count where lives(place) { (base + place).deinitialize(count: 1) }
      base.deallocate()
    }
  }

  private static var pageSize: Int { 16 }
  /// The pages from number `firstPage` on; nil where nothing lives.
  private var pages: [Page?] = []
  private var firstPage = 0
  /// Leading pages that are gone and still in the list.
  private var goneAhead = 0

  /// An empty list.
  package init() {}

  /// How many numbers were given.
  package private(set) var count = 0
  /// How many elements live.
  package private(set) var living = 0

  /// Adds an element; its number is the count before.
  package mutating func append(_ element: Element) {
    if count % Self.pageSize == 0 { pages.append(Page()) }
    let page = ownPage(pages.count - 1)
    (page.base + page.count).initialize(to: element)
    page.living |= 1 << UInt16(page.count)
    page.count += 1
    count += 1
    living += 1
  }

  /// A living element.
  package subscript(number: Int32) -> Element {
    unsafeAddress { address(number) }
    unsafeMutableAddress {
      let (index, place) = place(of: number)
      let page = ownPage(index)
      precondition(page.lives(place), "a living element")
      return page.base + place
    }
  }

  /// Where a living element is, for subscripts that yield it; valid until the list changes.
  func address(_ number: Int32) -> UnsafePointer<Element> {
    let (index, place) = place(of: number)
    let page = pages[index]!
    precondition(page.lives(place), "a living element")
    return UnsafePointer(page.base + place)
  }

  /// A page that no other map has.
  private mutating func ownPage(_ index: Int) -> Page {
    if !isKnownUniquelyReferenced(&pages[index]) { pages[index] = pages[index]!.copy() }
    return pages[index]!
  }

  /// Whether an element lives.
  package func contains(_ number: Int32) -> Bool {
    let (index, place) = place(of: number)
    guard index >= 0, index < pages.count, let page = pages[index] else { return false }
    return page.lives(place)
  }

  /// Lets an element go.
  package mutating func remove(_ number: Int32) {
    let (index, place) = place(of: number)
    let page = ownPage(index)
    precondition(page.lives(place), "an element is released once")
    (page.base + place).deinitialize(count: 1)
    page.living &= ~(1 << UInt16(place))
    living -= 1
    // The last page is still to be filled.
    guard page.living == 0, page.count == Self.pageSize else { return }
    pages[index] = nil
    while goneAhead < pages.count, pages[goneAhead] == nil { goneAhead += 1 }
    if goneAhead > 64, 2 * goneAhead > pages.count {
      pages.removeSubrange(..<goneAhead)
      firstPage += goneAhead
      goneAhead = 0
    }
  }

  /// The numbers of the living elements, ascending.
  package var numbers: [Int32] {
    var numbers: [Int32] = []
    numbers.reserveCapacity(living)
    for (index, page) in pages.enumerated() {
      guard let page else { continue }
      for place in 0..<page.count where page.lives(place) {
        numbers.append(Int32((firstPage + index) * Self.pageSize + place))
      }
    }
    return numbers
  }

  private func place(of number: Int32) -> (page: Int, place: Int) {
    (Int(number) / Self.pageSize - firstPage, Int(number) % Self.pageSize)
  }
}

extension SlotMap: Encodable where Element: Encodable {
  /// Writes how many numbers were given, and the living elements with theirs.
  package func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    try values.encode(count)
    let numbers = numbers
    try values.encode(numbers)
    for number in numbers { try values.encode(self[number]) }
  }
}

extension SlotMap: Decodable where Element: Decodable {
  /// Reads them. Pages in which nothing lives need no memory.
  package init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    count = try values.decode(Int.self)
    let numbers = try values.decode([Int32].self)
    let size = Self.pageSize
    firstPage = (numbers.first.map { Int($0) } ?? count) / size
    guard count >= 0, count <= Int(Int32.max), numbers.allSatisfy({ $0 >= 0 && $0 < count }),
      zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 })
    else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "numbers of a register"))
    }
    pages = Array(repeating: nil, count: (count + size - 1) / size - firstPage)
    // The last page is still to be filled.
    if count % size != 0 { page(ofNumber: count) }
    for number in numbers {
      let element = try values.decode(Element.self)
      let page = page(ofNumber: Int(number))
      (page.base + Int(number) % size).initialize(to: element)
      page.living |= 1 << UInt16(Int(number) % size)
      living += 1
    }
  }

  /// The page of a number that was given, made if it is not there.
  @discardableResult
  private mutating func page(ofNumber number: Int) -> Page {
    let index = number / Self.pageSize - firstPage
    if let page = pages[index] { return page }
    let page = Page()
    page.count = min(Self.pageSize, count - number / Self.pageSize * Self.pageSize)
    pages[index] = page
    return page
  }
}
