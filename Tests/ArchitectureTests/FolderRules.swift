/// Which folder of FedSim names types of which other, read from words: a capitalised word is a type
/// if a file of the target declares one of that name at its top level. `Scripts/house` reads the
/// same from the compiler's index, members included.
struct FolderGraph {
  struct Edge: Hashable, Comparable {
    let from: String
    let to: String

    static func < (a: Edge, b: Edge) -> Bool { (a.from, a.to) < (b.from, b.to) }
  }

  /// Where an edge shows first.
  private(set) var places: [Edge: (path: String, line: Int, name: String)] = [:]

  /// What all may name: the clock, containers, what a policy is asked by, and views of the state.
  private static let exempt: Set<String> = ["Clock", "Storage"]

  init(_ outline: TargetOutline) {
    var homes: [String: String] = [:]
    for (name, place) in outline.places where !name.contains(".") && !name.hasSuffix("View") {
      guard let folder = TargetOutline.folder(place.path), !Self.exempt.contains(folder),
        !(folder == "Policy" && place.type.kind == "protocol")
      else { continue }
      homes[name] = folder
    }
    for file in outline.files {
      guard let folder = TargetOutline.folder(file.path), !Self.exempt.contains(folder) else {
        continue
      }
      let own = Set(file.outline.types.compactMap { $0.name.split(separator: ".").last })
      for (index, token) in file.tokens.enumerated() where token.isCapitalised {
        guard let home = homes[token.text], home != folder,
          !(index > 0 && file.tokens[index - 1].text == "."),
          !own.contains(Substring(token.text)) || extends(token.text, file.outline)
        else { continue }
        let edge = Edge(from: folder, to: home)
        if places[edge] == nil { places[edge] = (file.path, token.line, token.text) }
      }
    }
  }

  private func extends(_ name: String, _ outline: Outline) -> Bool {
    outline.types.contains { $0.kind == "extension" && $0.name == name }
  }

  /// The edges from whose end their start can be reached.
  var inCycles: [Edge] {
    var next: [String: Set<String>] = [:]
    for edge in places.keys { next[edge.from, default: []].insert(edge.to) }
    func reaches(_ start: String, _ end: String) -> Bool {
      var (seen, work) = (Set([start]), [start])
      while let folder = work.popLast() {
        if folder == end { return true }
        for other in next[folder, default: []] where seen.insert(other).inserted {
          work.append(other)
        }
      }
      return false
    }
    return places.keys.filter { reaches($0.to, $0.from) }.sorted()
  }
}

private func file(_ path: String, _ text: String) -> Source {
  Source(path: "Sources/FedSim/\(path)", text: text)
}

extension Rule {
  static let folderCycles = figures(
    "No folder of the engine names a type of another that can come back to it",
    known: KnownExceptions.folderCycles,
    planted: [
      [
        file("Device/Device.swift", "struct Device { var server: Server }\n"),
        file("Server/Server.swift", "struct Server { func f(_ device: Device) {} }\n"),
      ],
      [
        file("Device/Device.swift", "struct Device { let link = Link() }\n"),
        file("Network/Link.swift", "struct Link {}\nextension Server { func f() {} }\n"),
        file("Server/Server.swift", "struct Server { var fleet: [Device] }\n"),
      ],
      [
        file("Device/Device.swift", "struct Device { func f(_ run: inout Simulation) {} }\n"),
        file("Run/Simulation.swift", "struct Simulation { var devices: [Device] }\n"),
      ],
    ],
    allowed: [
      [
        file("Device/Device.swift", "struct Device { func f(_ clock: inout Context) {} }\n"),
        file("Clock/Context.swift", "struct Context { var devices: [Device] }\n"),
        file("Policy/Seams.swift", "protocol Selector { func pick(_ device: Device) }\n"),
        file("Device/DeviceView.swift", "struct DeviceView { let selector: any Selector }\n"),
        file("Run/Simulation.swift", "struct Simulation { var devices: [Device] }\n"),
      ],
      [
        file(
          "Device/Device.swift", "struct Device {}\n// Server\nlet a = \"Server\", b = x.Server\n"),
        file("Server/Server.swift", "struct Server { func f(_ device: Device) {} }\n"),
      ],
    ]
  ) { sources in
    let graph = FolderGraph(TargetOutline(sources, target: "FedSim"))
    let edges = graph.inCycles
    guard let first = edges.first.flatMap({ graph.places[$0] }) else { return [] }
    let shown = edges.prefix(8).compactMap { edge in
      graph.places[edge].map { "\(edge.from) → \(edge.to) (\($0.path):\($0.line) \($0.name))" }
    }
    return [
      Figure(
        name: "edges", value: edges.count, limit: 0, path: first.path, line: first.line,
        message: shown.joined(separator: ", ") + (edges.count > 8 ? ", …" : "")
          + "; hand the value in, or move what is named")
    ]
  }

  static let extensionsAstray = figures(
    "An extension lies in the folder of its type",
    known: KnownExceptions.extensionsAstray,
    planted: [
      [
        file("Device/Device.swift", "struct Device {}\n"),
        file("Server/Device+Server.swift", "extension Device { func f() {} }\n"),
      ],
      [
        file("Device/Device.swift", "struct Device { struct Part {} }\n"),
        file("Server/Part.swift", "extension Device.Part: Sendable {}\n"),
      ],
    ],
    allowed: [
      [
        file("Device/Device.swift", "struct Device { struct Part {} }\n"),
        file("Device/Outbox/Device+Outbox.swift", "extension Device { func f() {} }\n"),
        file("Server/Array.swift", "extension Array where Element == Device { func f() {} }\n"),
        file("Server/Server.swift", "struct Server { struct Part {} }\nextension Server.Part {}\n"),
      ]
    ]
  ) { sources in
    let outline = TargetOutline(sources, target: "FedSim")
    let places = outline.places
    let astray = outline.files.flatMap { file in
      file.outline.types.filter { type in
        guard type.kind == "extension", let place = places[type.name] else { return false }
        return TargetOutline.folder(place.path) != TargetOutline.folder(file.path)
      }.map { (path: file.path, type: $0) }
    }
    guard let first = astray.first else { return [] }
    let shown = astray.prefix(5).map { "\($0.type.name) in \($0.path)" }
    return [
      Figure(
        name: "extensions", value: astray.count, limit: 0, path: first.path, line: first.type.line,
        message: shown.joined(separator: ", ") + (astray.count > 5 ? ", …" : "")
          + "; make it a type that is handed what it needs")
    ]
  }
}
