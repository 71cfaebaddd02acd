/// The operations of Python's pickle format, protocols 0 to 5, by name.
///
/// Source: CPython, `Lib/pickletools.py`, the list of opcodes.
enum PickleOpcode {
  /// The name of an opcode; nil: there is no such opcode.
  static func name(_ byte: UInt8) -> String? { names[byte] }

  private static let names: [UInt8: String] = {
    var names: [UInt8: String] = [:]
    for (letter, name) in letters { names[letter.value < 128 ? UInt8(letter.value) : 0] = name }
    for (offset, name) in later.enumerated() { names[0x80 + UInt8(offset)] = name }
    return names
  }()

  private static let letters: [(Unicode.Scalar, String)] = [
    ("(", "MARK"), (".", "STOP"), ("0", "POP"), ("1", "POP_MARK"), ("2", "DUP"), ("F", "FLOAT"),
    ("I", "INT"), ("J", "BININT"), ("K", "BININT1"), ("L", "LONG"), ("M", "BININT2"),
    ("N", "NONE"), ("P", "PERSID"), ("Q", "BINPERSID"), ("R", "REDUCE"), ("S", "STRING"),
    ("T", "BINSTRING"), ("U", "SHORT_BINSTRING"), ("V", "UNICODE"), ("X", "BINUNICODE"),
    ("a", "APPEND"), ("b", "BUILD"), ("c", "GLOBAL"), ("d", "DICT"), ("}", "EMPTY_DICT"),
    ("e", "APPENDS"), ("g", "GET"), ("h", "BINGET"), ("i", "INST"), ("j", "LONG_BINGET"),
    ("l", "LIST"), ("]", "EMPTY_LIST"), ("o", "OBJ"), ("p", "PUT"), ("q", "BINPUT"),
    ("r", "LONG_BINPUT"), ("s", "SETITEM"), ("t", "TUPLE"), (")", "EMPTY_TUPLE"),
    ("u", "SETITEMS"), ("G", "BINFLOAT"), ("B", "BINBYTES"), ("C", "SHORT_BINBYTES"),
  ]

  /// From byte 80 on.
  private static let later = [
    "PROTO", "NEWOBJ", "EXT1", "EXT2", "EXT4", "TUPLE1", "TUPLE2", "TUPLE3", "NEWTRUE",
    "NEWFALSE", "LONG1", "LONG4", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES8", "EMPTY_SET",
    "ADDITEMS", "FROZENSET", "NEWOBJ_EX", "STACK_GLOBAL", "MEMOIZE", "FRAME", "BYTEARRAY8",
    "NEXT_BUFFER", "READONLY_BUFFER",
  ]
}
