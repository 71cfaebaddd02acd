import DataSets
import Foundation
import Schema
import Testing

@Suite struct DelimitedTableTests {
  typealias Column = DelimitedTable.Column
  static let columns: [Column] = [.required("device"), .required("start"), .optional("rate")]

  func table(_ text: String) throws -> DelimitedTable {
    try DelimitedTable(text: text, file: "windows.csv", columns: Self.columns)
  }

  @Test func `columns may come in any order, with spaces, quotes, comments and empty lines`() throws
  {
    var table = try table(
      "\u{FEFF}# made by hand\r\n start , device\r\n\r\n"
        + "90 min,\"a \"\"b\"\", c\"\r\n  12 ,  plain \n"
    )
    #expect(try table.nextRow())
    #expect(table.line == 4)
    #expect(table.text(0) == "a \"b\", c")
    #expect(try table.microseconds(1) == 5_400_000_000)
    #expect(!table.has(2) && table.isEmpty(2) && table.text(2) == "")
    #expect(try table.nextRow())
    #expect(table.text(0) == "plain")
    #expect(try table.integer(1, in: 0...12) == 12)
    #expect(try !table.nextRow())
    #expect(try !table.nextRow())
  }

  @Test func `the last line needs no line ending`() throws {
    var table = try table("device,start,rate\nx,1,2.5")
    #expect(try table.nextRow())
    #expect(try table.number(2) == 2.5)
    #expect(try !table.nextRow())
  }

  static let times: [(String, Int64)] = [
    ("0", 0), ("5400", 5_400_000_000), ("0.000001", 1), ("1.5 ms", 1_500), ("3us", 3), ("3 µs", 3),
    ("2 h", 7_200_000_000), ("1 d", 86_400_000_000), ("1 wk", 604_800_000_000),
    ("0.1 s", 100_000), ("1e3", 1_000_000_000), ("1.25e-3 s", 1_250), ("-2 s", -2_000_000),
    ("0.0125 min", 750_000), ("16.7 h", 60_120_000_000), ("9223372036854.775807", .max),
    ("0.000000005 wk", 3_024), ("0.00000025 d", 21_600),
  ]

  @Test(arguments: times)
  func `times are exact`(text: String, expected: Int64) throws {
    var table = try table("device,start\nx,\(text)\n")
    #expect(try table.nextRow())
    #expect(try table.microseconds(1) == expected)
  }

  @Test(arguments: ["9007199254740993", "0.1", "-1e-310", "1.7976931348623157e308", "3.", ".5"])
  func `numbers are the nearest Double`(text: String) throws {
    var table = try table("device,start,rate\nx,0,\(text)\n")
    #expect(try table.nextRow())
    // strtod is the C library's correctly rounded conversion.
    #expect(try table.number(2) == strtod(text, nil))
  }

  static let badValues: [(String, DataFault.Kind)] = [
    ("12:30", .malformed), ("90 minutes", .malformed), ("min", .malformed), ("", .malformed),
    ("1_000", .malformed), ("0x10", .malformed), ("nan", .malformed), ("inf", .malformed),
    ("1e", .malformed), ("1e+", .malformed), ("--1", .malformed), ("1 2 s", .malformed),
    ("0.0000001", .outOfRange), ("1e30 d", .outOfRange), ("0.5 us", .outOfRange),
    ("99999999999999999999 s", .outOfRange),
    ("0.000000001 wk", .outOfRange), ("0.0000000125 min", .outOfRange),
  ]

  @Test(arguments: badValues)
  func `what is no time is a fault at its cell`(text: String, kind: DataFault.Kind) throws {
    let fault = fault {
      var table = try table("device,start\nok,1\nü,  \(text)\n")
      while try table.nextRow() { _ = try table.microseconds(1) }
    }
    #expect(fault?.kind == kind)
    #expect(fault?.place == .text(line: 3, column: 5))
  }

  @Test func `numbers and whole numbers out of range are faults`() throws {
    for (text, kind) in [("1e999", DataFault.Kind.outOfRange), ("abc", .malformed)] {
      let fault = fault {
        var table = try table("rate,device,start\n\(text),x,1\n")
        _ = try table.nextRow()
        _ = try table.number(2)
      }
      #expect(fault?.kind == kind)
      #expect(fault?.place == .text(line: 2, column: 1))
    }
    for (text, kind) in [
      ("11", DataFault.Kind.outOfRange), ("-1", .outOfRange), ("2.5", .malformed),
      ("36893488147419103232", .outOfRange), ("two", .malformed),
    ] {
      let fault = fault {
        var table = try table("device,start\n\(text),1\n")
        _ = try table.nextRow()
        _ = try table.integer(0, in: 0...10)
      }
      #expect(fault?.kind == kind)
    }
  }

  static let badTables: [(String, DataFault.Kind, Int, Int)] = [
    ("", .truncated, 1, 1), ("# only a comment\n", .truncated, 1, 1),
    ("device,strat\n", .unknownName, 1, 8), ("device\n", .missingName, 1, 1),
    ("device,start,device\n", .duplicate, 1, 14), ("device,start\nx\n", .countMismatch, 2, 2),
    ("device,start\n\nx,1,2\n", .countMismatch, 3, 6),
    ("device,start\nx,\"1\n2\"\n", .malformed, 2, 3), ("device,start\nx,1\"\n", .malformed, 2, 4),
    ("device,start\n\"x\"y,1\n", .malformed, 2, 4), ("device,start\nx,\u{0}\n", .malformed, 2, 3),
    (String(repeating: "x", count: 3_000_000), .malformed, 1, 1),
  ]

  @Test(arguments: badTables.indices)
  func `broken tables say what and where`(index: Int) throws {
    let (text, kind, line, column) = Self.badTables[index]
    let folder = try TemporaryFolder()
    let path = try folder.write(text, as: "table.csv")
    let fault = fault {
      var table = try DelimitedTable(contentsOf: path, columns: Self.columns)
      while try table.nextRow() {}
    }
    #expect(fault?.kind == kind)
    #expect(fault?.place == .text(line: line, column: column))
    #expect(fault?.file == path)
  }

  @Test func `an unknown column suggests the nearest`() throws {
    let fault = fault { _ = try table("device,strat\n") }
    #expect(fault?.advice == "did you mean 'start'?")
    #expect(
      fault?.description
        == "windows.csv:1:8: found column 'strat', expected one of device, start, rate; "
        + "did you mean 'start'?")
    let scenarioFault = fault.map { Fault($0, path: "fleet.power.csv") }
    #expect(
      scenarioFault?.description
        == "windows.csv:1:8: fleet.power.csv: found column 'strat', expected one of device, "
        + "start, rate; did you mean 'start'?")
  }

  @Test func `a file of many buffers gives every row`() throws {
    let folder = try TemporaryFolder()
    var text = "device,start\n"
    for row in 0..<20_000 { text += "d\(row),\(row).5\n" }
    var table = try DelimitedTable(
      contentsOf: folder.write(text, as: "many.csv"), columns: Self.columns)
    var row = 0
    while try table.nextRow() {
      guard table.text(0) == "d\(row)", try table.number(1) == Double(row) + 0.5 else {
        Issue.record("row \(row) is wrong")
        break
      }
      row += 1
    }
    #expect(row == 20_000 && table.line == 20_001)
  }
}
