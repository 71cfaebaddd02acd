import FedSim
import Numerics
import Testing

/// Devices that wait, held against a plain list that is sorted when it is looked at.
@Suite struct WaitingRoomTests {
  struct Row: Equatable {
    var device: Int
    var participation: Int32
  }

  func rows(_ room: inout WaitingRoom) -> [Row] {
    room.inOrder().enumerated().map { place, checkIn in
      Row(device: checkIn.device, participation: room.request(at: place).participation)
    }
  }

  @Test(arguments: [
    // Few wait, or more than arrive between two merges.
    (devices: 30, steps: 4_000), (devices: 20_000, steps: 30_000),
  ])
  func `the room is a sorted list`(devices: Int, steps: Int) {
    var room = WaitingRoom()
    var reference: [Int: Int32] = [:]
    func sorted() -> [Row] {
      reference.map { Row(device: $0.key, participation: $0.value) }
        .sorted { $0.device < $1.device }
    }
    var stream = StreamKey(seed: 3, purpose: "waiting").stream(slot: UInt64(devices))
    for step in 0..<steps {
      let device = Int(stream.below(UInt32(devices)))
      let found = room.request(of: device)?.participation
      #expect(found == reference[device])
      if found == nil {
        room.insert(
          CheckIn(device: device, heldVersion: step),
          .init(generation: UInt32(step), participation: Int32(step)))
        reference[device] = Int32(step)
      } else if stream.below(4) == 0 {
        let gone = room.remove(device)
        #expect(gone?.participation == reference.removeValue(forKey: device))
        #expect(room.remove(device)?.participation == nil)
      }
      #expect(room.count == reference.count && room.isEmpty == reference.isEmpty)
      guard stream.below(UInt32(steps / 20)) == 0 else { continue }
      let all = sorted()
      #expect(rows(&room) == all, "step \(step)")
      let places = all.indices.filter { _ in stream.below(3) == 0 }
      room.remove(at: places)
      for place in places { reference[all[place].device] = nil }
    }
    var seen: [Int] = []
    room.forEachDevice { seen.append($0) }
    #expect(seen.sorted() == sorted().map(\.device))
    #expect(rows(&room) == sorted())
    room.removeAll()
    #expect(room.isEmpty && room.inOrder().isEmpty)
  }
}
