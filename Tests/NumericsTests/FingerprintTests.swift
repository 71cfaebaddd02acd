import Numerics
import Testing

@Suite("Fingerprints")
struct FingerprintTests {
  /// Worked out in Python, from the definition: from seed + p5 on a word w makes h
  /// rotl(h ^ rotl(w·p2, 31)·p1, 27)·p1 + p4; then XXH64's avalanche. Of nothing it is XXH64's.
  @Test(
    "equal what the definition gives in another language",
    arguments: [
      (UInt64(0), [UInt64](), UInt64(0xEF46_DB37_51D8_E999)),
      (0, [0], 0xB992_B056_E7D8_A844),
      (0, [1, 2], 0xC042_C4C0_ECA7_D0D5),
      (0, [2, 1], 0x8C3B_DF5E_6379_A81C),
      (7, [1 << 63, .max], 0x4BE4_EAC4_1FEC_712A),
    ])
  func known(seed: UInt64, words: [UInt64], value: UInt64) {
    var print = Fingerprint(seed: seed)
    for word in words { print.combine(word) }
    #expect(print.value == value)
  }
}
