import Results
import Testing

/// Digests of documents that never become files.
@Suite struct DigestTests {
  let tiny = ResultDocument(
    attributes: [.init("seed", .unsigned(1 << 63 + 1))],
    texts: [.init("scenario", "näme: a\n")],
    groups: [
      .init(
        "versions", axes: [.init("version", length: 2, isUnlimited: true)],
        variables: [
          .init(
            "accuracy", ["version"], .double([0.75, -.nan]), units: "1",
            longName: "central accuracy",
            attributes: [.init("pair", .array(.int8([-1, 2])))])
        ])
    ])

  @Test func aTinyDocumentHasTheDigestThatPythonWorksOut() {
    // Fixtures/digest.py packs the bytes that the comment on `contentDigest` names, with struct and
    // hashlib.
    #expect(
      tiny.contentDigest
        == "37c4791c0e6ec9096d531d760bd3cce8be18e459b1e0253b07bfe0c3dad4d255")
  }

  @Test func theDigestIsBlindToItselfAndToTheBitsOfNaN() {
    var other = tiny
    other.root.attributes.append(.init(ResultDocument.digestAttribute, .text("anything")))
    other.root.groups[0].variables[0].values = .double([0.75, .signalingNaN])
    #expect(other.contentDigest == tiny.contentDigest)
    #expect(other.root.groups[0].variables == tiny.root.groups[0].variables)
  }

  @Test func everyPartOfADocumentChangesItsDigest() {
    var variants: [ResultDocument] = []
    func vary(_ change: (inout ResultDocument) -> Void) {
      var copy = tiny
      change(&copy)
      variants.append(copy)
    }
    vary { _ in }
    vary { $0.root.attributes[0].name = "Seed" }
    vary { $0.root.attributes[0].value = .unsigned(1 << 63) }
    vary { $0.root.attributes[0].value = .text("9223372036854775809") }
    vary { $0.root.texts[0].name = "Scenario" }
    vary { $0.root.texts[0].value += " " }
    vary { $0.root.groups[0].name = "rounds" }
    vary { $0.root.groups[0].axes[0].isUnlimited = false }
    vary { $0.root.groups[0].axes.append(.init("other", length: 0)) }
    vary { $0.root.groups[0].variables[0].name = "loss" }
    vary { $0.root.groups[0].variables[0].values = .double([0.5, .nan]) }
    vary { $0.root.groups[0].variables[0].values = .float([0.75, .nan]) }
    vary { $0.root.groups[0].variables[0].units = "percent" }
    vary { $0.root.groups[0].variables[0].longName = "loss" }
    vary { $0.root.groups[0].variables[0].attributes[0].value = .array(.int8([-1, 3])) }
    vary { $0.root.groups[0].variables[0].attributes = [] }
    vary { $0.root.groups[0].attributes = [.init("comment", .text(""))] }
    #expect(Set(variants.map(\.contentDigest)).count == variants.count)
  }

  @Test func wordsChangeNoDigestOfValues() {
    var other = tiny
    other.root.attributes = []
    other.root.texts[0].value = "name: b\n"
    other.root.groups[0].attributes = [.init("comment", .text("two versions"))]
    other.root.groups[0].variables[0].longName = "accuracy on the test set"
    other.root.groups[0].variables[0].attributes = []
    #expect(other.valuesDigest == tiny.valuesDigest)
    #expect(other.contentDigest != tiny.contentDigest)

    var variants = [tiny]
    func vary(_ change: (inout ResultDocument) -> Void) {
      var copy = tiny
      change(&copy)
      variants.append(copy)
    }
    vary { $0.root.groups[0].name = "rounds" }
    vary { $0.root.groups[0].axes[0].isUnlimited = false }
    vary { $0.root.groups[0].variables[0].name = "loss" }
    vary { $0.root.groups[0].variables[0].values = .double([0.5, .nan]) }
    vary { $0.root.groups[0].variables[0].values = .float([0.75, .nan]) }
    vary { $0.root.groups[0].variables[0].units = "percent" }
    vary { $0.root.groups[0].variables = [] }
    #expect(Set(variants.map(\.valuesDigest)).count == variants.count)
  }

  @Test func minusZeroIsAnotherNumber() {
    var other = tiny
    var zero = tiny
    other.root.groups[0].variables[0].values = .double([-0.0, 1])
    zero.root.groups[0].variables[0].values = .double([0.0, 1])
    #expect(other.contentDigest != zero.contentDigest)
    #expect(other != zero)
  }
}
