/// A list that grows at its end and whose elements are let go one by one; a number is never given
/// again.
///
/// Elements stand in pages that go with their last element, so a long run needs memory for what
/// lives, and a few bits for each number ever given while an old one lives. Complexity: O(1) for
/// everything but the walk.
package struct Register<Element> {
  private struct Page {
    var elements: [Element?] = []
    var living = 0
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
    if count % Self.pageSize == 0 {
      pages.append(Page())
      pages[pages.count - 1]!.elements.reserveCapacity(Self.pageSize)
    }
    pages[pages.count - 1]!.elements.append(element)
    pages[pages.count - 1]!.living += 1
    count += 1
    living += 1
  }

  /// A living element.
  package subscript(number: Int32) -> Element {
    _read {
      let (page, place) = place(of: number)
      yield pages[page]!.elements[place]!
    }
    _modify {
      let (page, place) = place(of: number)
      yield &pages[page]!.elements[place]!
    }
  }

  /// Whether an element lives.
  package func contains(_ number: Int32) -> Bool {
    let page = Int(number) / Self.pageSize - firstPage
    guard page >= 0, page < pages.count, let elements = pages[page]?.elements else { return false }
    let place = Int(number) % Self.pageSize
    return place < elements.count && elements[place] != nil
  }

  /// Lets an element go.
  package mutating func remove(_ number: Int32) {
    let (page, place) = place(of: number)
    precondition(pages[page]!.elements[place] != nil, "an element is let go once")
    pages[page]!.elements[place] = nil
    pages[page]!.living -= 1
    living -= 1
    // The last page is still to be filled.
    guard pages[page]!.living == 0, pages[page]!.elements.count == Self.pageSize else { return }
    pages[page] = nil
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
      for (place, element) in page.elements.enumerated() where element != nil {
        numbers.append(Int32((firstPage + index) * Self.pageSize + place))
      }
    }
    return numbers
  }

  private func place(of number: Int32) -> (page: Int, place: Int) {
    (Int(number) / Self.pageSize - firstPage, Int(number) % Self.pageSize)
  }
}
