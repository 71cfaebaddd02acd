private func file(_ path: String, _ text: String) -> Source { Source(path: path, text: text) }

extension Rule {
  /// What a folder of the engine may not name, and where that is reached instead.
  private static let strangers: [(folders: [String], name: String, instead: String)] = [
    (
      ["Server", "Network", "Books", "Policy", "World"], "Devices",
      "the server knows the numbers of devices (Members) and their requests (DeviceNetwork)"
    ),
    (
      ["Network", "Books", "Policy", "World"], "Server",
      "the server reaches out; a view or an announcement comes back"
    ),
  ]

  static let parties = Rule.perFile(
    "The server names no device's state, and network and books name neither party's",
    planted: [
      file("Sources/FedSim/Server/A.swift", "func f(_ devices: inout Devices) {}\n"),
      file("Sources/FedSim/Network/A.swift", "let count = Devices.most\n"),
      file("Sources/FedSim/Books/A.swift", "func f(_ server: borrowing Server) {}\n"),
    ],
    allowed: [
      file("Sources/FedSim/Server/A.swift", "/// Devices.\nlet text = \"Devices\"\n"),
      file("Sources/FedSim/Device/A.swift", "func f(_ devices: inout Devices) {}\n"),
      file("Sources/FedSim/Server/B.swift", "func f(_ server: inout Server) {}\n"),
      file("Sources/Runs/A.swift", "let devices: Devices\n"),
    ]
  ) { source in
    let path = source.path.split(separator: "/").map(String.init)
    guard source.isSwift, path.count == 4, path[1] == "FedSim" else { return [] }
    return strangers.filter { $0.folders.contains(path[2]) }.flatMap { stranger in
      source.tokens.filter { $0.text == stranger.name }.map { token in
        Violation(
          path: source.path, line: token.line,
          message: "\(path[2]) names \(stranger.name): \(stranger.instead).")
      }
    }
  }
}
