import CHDF5

/// Reads a file back into a document.
struct HDF5Reader {
  /// The document in the file at a path, in canonical form; `groups` limits it to some of the
  /// groups below the root. Each place is reported before it is read.
  ///
  /// Throws: `ResultFault.hdf5` if it cannot be read, `.notAResult` if its layout is another.
  static func document(
    at path: String, groups: [String]? = nil, tell: @escaping (String) -> Void = { _ in }
  ) throws(ResultFault) -> ResultDocument {
    try HDF5.exclusively { () throws(ResultFault) in
      let place = HDF5Place(file: path)
      let file = try place.handle(
        "H5Fopen", H5Fopen(path, chdf5_read_only(), chdf5_default()), H5Fclose)
      let root = try place.handle("H5Gopen2", H5Gopen2(file.id, "/", chdf5_default()), H5Gclose)
      var document = ResultDocument()
      var reader = HDF5Reader(tell: tell)
      document.root = try reader.group("", root.id, at: place, only: groups)
      return document
    }
  }

  private let tell: (String) -> Void
  /// The addresses of the groups that were read.
  private var seen: [[UInt]] = []
  /// The names of the scales that were read, by their addresses.
  private var scaleNames: [[UInt]: String] = [:]
  /// How many groups are open, one in the other.
  private var depth = 0
  /// Results have two levels.
  private static let deepest = 16

  private init(tell: @escaping (String) -> Void) { self.tell = tell }

  private mutating func group(
    _ name: String, _ id: hid_t, at place: HDF5Place, only groups: [String]? = nil
  ) throws(ResultFault) -> ResultDocument.Group {
    let address = try address(of: id, at: place)
    guard !seen.contains(address) else {
      throw place.unexpected("a link to a group that is elsewhere, too", "each group once")
    }
    seen.append(address)
    guard depth < Self.deepest else {
      throw place.unexpected("more than \(Self.deepest) groups one in the other", "a result's two")
    }
    depth += 1
    defer { depth -= 1 }
    var group = ResultDocument.Group(name, attributes: try attributes(of: id, at: place))
    for name in try links(of: id, at: place) {
      let inside = place.appending(name)
      tell(inside.path)
      let object = try inside.handle("H5Oopen", H5Oopen(id, name, chdf5_default()), H5Oclose)
      switch H5Iget_type(object.id) {
      case H5I_GROUP:
        guard groups?.contains(name) ?? true else { continue }
        group.groups.append(try self.group(name, object.id, at: inside))
      case H5I_DATASET: try read(name, object.id, at: inside, into: &group)
      default: throw inside.unexpected("an object of another kind", "a group or a data set")
      }
    }
    return group
  }

  /// The names in a group, in the order in which they were made.
  private func links(of id: hid_t, at place: HDF5Place) throws(ResultFault) -> [String] {
    var summary = H5G_info_t()
    try place.check("H5Gget_info", H5Gget_info(id, &summary))
    var names: [String] = []
    var index = H5_INDEX_CRT_ORDER
    for i in 0..<summary.nlinks {
      var bytes = [CChar](repeating: 0, count: 256)
      let one = { (bytes: inout [CChar]) in
        H5Lget_name_by_idx(id, ".", index, H5_ITER_INC, i, &bytes, bytes.count, chdf5_default())
      }
      if one(&bytes) < 0, i == 0 {
        index = H5_INDEX_NAME
        bytes = [CChar](repeating: 0, count: 256)
        try place.check("H5Lget_name_by_idx", one(&bytes))
      }
      names.append(bytes.text)
    }
    return names
  }

  private func address(of id: hid_t, at place: HDF5Place) throws(ResultFault) -> [UInt] {
    var address: [UInt] = [0, 0]
    try place.check("H5Gget_objinfo", chdf5_address(id, &address))
    return address
  }

  private mutating func read(
    _ name: String, _ id: hid_t, at place: HDF5Place, into group: inout ResultDocument.Group
  ) throws(ResultFault) {
    let type = try place.handle("H5Dget_type", H5Dget_type(id), H5Tclose)
    let space = try place.handle("H5Dget_space", H5Dget_space(id), H5Sclose)
    let lengths = try place.lengths(of: space.id)
    if H5Tget_class(type.id) == H5T_STRING {
      guard lengths.isEmpty else {
        throw place.unexpected("strings over \(lengths.count) axes", "one string")
      }
      let texts = try strings(type.id, space.id, count: 1, at: place, "H5Dread") { buffer, type in
        H5Dread(id, type, chdf5_all(), chdf5_all(), chdf5_default(), buffer)
      }
      group.texts.append(.init(name, texts[0]))
      return
    }
    let isScale = H5DSis_scale(id)
    try place.check("H5DSis_scale", isScale)
    if isScale > 0 {
      guard lengths.count == 1 else {
        throw place.unexpected("a scale of \(lengths.count) axes", "one axis")
      }
      var limits = [hsize_t](repeating: 0, count: 1)
      try place.check("dims", H5Sget_simple_extent_dims(space.id, nil, &limits))
      let isUnlimited = limits[0] == chdf5_unlimited()
      group.axes.append(.init(name, length: lengths[0], isUnlimited: isUnlimited))
      scaleNames[try address(of: id, at: place)] = name
      var label = [CChar](repeating: 0, count: 256)
      try place.check("H5DSget_scale_name", H5DSget_scale_name(id, &label, label.count))
      if label.text.hasPrefix("This is a netCDF dimension but not") { return }
    }
    let axes = isScale > 0 ? [name] : try axisNames(of: id, count: lengths.count, at: place)
    var attributes = try attributes(of: id, at: place)
    let units = attributes.takeText("units")
    let longName = attributes.takeText("long_name")
    let count = try place.count(lengths)
    // What is not stored is read as zeros: a damaged shape must not ask for more memory than there
    // is. Filters make a data set a thousand times smaller at most.
    guard count <= 1 << 24 || UInt64(count >> 12) <= H5Dget_storage_size(id) else {
      throw place.unexpected("the shape \(lengths) without its numbers", "as many as are stored")
    }
    let values = try values(type.id, count: count, at: place, "H5Dread") {
      H5Dread(id, $1, chdf5_all(), chdf5_all(), chdf5_default(), $0)
    }
    group.variables.append(
      .init(name, axes, values, units: units, longName: longName, attributes: attributes))
  }

  private func axisNames(of id: hid_t, count: Int, at place: HDF5Place)
    throws(ResultFault) -> [String]
  {
    var names: [String] = []
    for i in 0..<UInt32(count) {
      var address: [UInt] = [0, 0]
      var found = chdf5_scale_of(id, i, &address)
      var name = scaleNames[address]
      if found > 0, name == nil {
        // A scale that comes after its variables, as no result of FedSim has it.
        var path = [CChar](repeating: 0, count: 1024)
        found = chdf5_path_of_scale(id, i, &path)
        name = path.text.split(separator: "/").last.map(String.init)
      }
      // HDF5 gives no reason where what a reference leads to is not the dimension that it was.
      guard found >= 0 else {
        throw place.unexpected(
          "a reference to a dimension that is not there", "one; the file is damaged")
      }
      guard found > 0, let name else {
        throw place.unexpected("an axis without a scale", "a scale on every axis")
      }
      names.append(name)
    }
    return names
  }
}

extension HDF5Place {
  func unexpected(_ found: String, _ expected: String) -> ResultFault {
    .notAResult(path: file, place: path, found: found, expected: expected)
  }
}

extension [CChar] {
  /// The text up to the first zero.
  var text: String {
    String(decoding: prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension [ResultDocument.Attribute] {
  /// Takes out the text of a name; "" if there is none.
  fileprivate mutating func takeText(_ name: String) -> String {
    guard let i = firstIndex(where: { $0.name == name }), case .text(let text) = self[i].value
    else { return "" }
    remove(at: i)
    return text
  }
}
