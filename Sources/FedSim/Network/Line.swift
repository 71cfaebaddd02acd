import Numerics

/// A device's end of the network: its links, and its one request at a time.
struct Line: Codable {
  // What every look reads comes first: it is in one place in memory.
  /// The state of the link by the world: 0 offline, 1 cellular, 2 Wi-Fi.
  var linkState: UInt8 = 0
  /// Whether a script has dropped the link.
  var isDropped = false
  /// Whether the device is off.
  var isOff = false
  /// The share of the link's rates, in percent.
  var share: UInt8 = 100
  /// Counts the links that scripts dropped.
  var dropGeneration: UInt32 = 0
  /// The number of the connection: each session has its own.
  var connection: UInt32 = 0
  /// The number of the last request, or of the last plan of when its bytes are through.
  var generation: UInt32 = 0
  /// Where the request under way is; 0: there is none.
  var place: Int32 = 0
  /// Whether the timer of requests without an answer is set.
  var isTimeoutPending = false
  /// The link that is gone and that a request or a stream waits for; 0: none waits.
  var awaitedLink: UInt8 = 0
  @Rebuilt var links: Links

  init(links: Links) { self.links = links }

  /// The link's state: 0 offline, 1 cellular, 2 Wi-Fi.
  var link: UInt8 { @inline(__always) get { isDropped || isOff ? 0 : linkState } }
  var isConnected: Bool { link != 0 }
  /// Whether a request is under way.
  var isBusy: Bool { place != 0 }
  /// Rates of the current link; while offline those of the link that is waited for, else of Wi-Fi.
  var rates: Link {
    let link = link == 1 || awaitedLink == 1 ? links.cellular : links.wifi
    return share == 100 ? link : link.scaled(percent: Int64(share))
  }
  /// Whether there is a link that costs nothing.
  var isUnmetered: Bool {
    @inline(__always) get { isConnected && !(link == 1 ? links.cellular : links.wifi).isMetered }
  }
}
