import Sweeps
import Testing

/// How cells are cut into arrays of tasks, and what Slurm is asked for.
@Suite struct SlurmPlanTests {
  private func plan(
    _ count: Int, arraySize: Int = 1001, folder: String = "/f", _ settings: SlurmSettings = .init()
  ) -> SlurmPlan {
    SlurmPlan(
      (0..<count).map { "c\($0)" }, number: 4, name: "n", folder: SweepFolder(folder),
      settings: settings, arraySize: arraySize)
  }

  @Test("eleven cells, two a task, two tasks an array: arrays of two, two, and two tasks")
  func arrays() {
    var settings = SlurmSettings()
    settings.cellsPerTask = 2
    let plan = plan(11, arraySize: 2, settings)
    #expect(plan.arrays.map(\.first) == [0, 2, 4])
    #expect(plan.arrays.map(\.tasks) == [2, 2, 2])
    #expect(plan.tasks == 6)
    #expect(plan.later == 0)
    // The last of the six tasks has one cell only: 4, 8, 11.
    #expect((0...3).map { plan.cells(inFirst: $0) } == [0, 4, 8, 11])
  }

  @Test("every cell is in exactly one task, in order")
  func coverage() {
    for count in [1, 2, 7, 60, 1000, 1001, 2500] {
      for cellsPerTask in [nil, 1, 3, 5000] {
        for arraySize in [1, 10, 1001] {
          var settings = SlurmSettings()
          settings.cellsPerTask = cellsPerTask
          let plan = plan(count, arraySize: arraySize, settings)
          #expect(plan.arrays.allSatisfy { (1...arraySize).contains($0.tasks) })
          let tasks = plan.arrays.flatMap { Array($0.first..<$0.first + $0.tasks) }
          let cells = tasks.flatMap {
            SlurmPlan.cells(plan.cells, ofTask: $0, each: plan.cellsPerTask)
          }
          #expect(cells == plan.cells, "\(count) \(cellsPerTask ?? 0) \(arraySize)")
          #expect(cells.count == count)
          if cellsPerTask == nil { #expect(plan.tasks <= 1000) }
        }
      }
    }
    #expect(SlurmPlan.cells(["a", "b", "c"], ofTask: 2, each: 2).isEmpty)
    #expect(SlurmPlan.cells(["a", "b", "c"], ofTask: -1, each: 2).isEmpty)
  }

  @Test("of 60 cells, three a task, at most eight tasks: 24 now, 36 later")
  func mostTasks() {
    var settings = SlurmSettings()
    settings.cellsPerTask = 3
    settings.mostTasks = 8
    let plan = plan(60, settings)
    #expect(plan.tasks == 8)
    #expect(plan.cells.count == 24)
    #expect(plan.later == 36)
  }

  @Test("what sbatch is given")
  func arguments() {
    var settings = SlurmSettings()
    settings.partition = "long"
    settings.account = "lab 7"
    settings.time = "2:00:00"
    settings.memory = "4G"
    settings.cpusPerTask = 3
    settings.tasksAtOnce = 5
    settings.options = ["gres=gpu:1", "exclusive"]
    let plan = plan(2, folder: "/a b/100%", settings)
    let common = [
      "--parsable", "--job-name=fedsim-n", "--ntasks=1", "--cpus-per-task=3", "--partition=long",
      "--account=lab 7", "--time=2:00:00", "--mem=4G", "--requeue", "--open-mode=append",
      "--gres=gpu:1", "--exclusive",
    ]
    #expect(
      plan.arguments(plan.arrays[0]) == common + [
        "--array=0-1%5", "--output=/a b/100%%/slurm/4/task-%A_%a.log", "/a b/100%/slurm/task.sh",
        "4", "0", "1",
      ])
    #expect(
      plan.collectorArguments(after: ["7", "8"], handed: 2, fruitless: 1) == common + [
        "--dependency=afterany:7:8", "--output=/a b/100%%/slurm/4/collect.log",
        "/a b/100%/slurm/collect.sh", "4", "2", "1",
      ])
  }

  @Test("a cluster's limit on arrays is what it says, or 1,001")
  func arraySize() {
    #expect(SlurmCommands.arraySize(config: "") == 1001)
    let config = """
      MaxArraySize            = 4001
      SchedulerParameters     = bf_interval=2,max_array_tasks=500,nohold_on_prolog_fail

      """
    #expect(SlurmCommands.arraySize(config: config) == 500)
    #expect(SlurmCommands.arraySize(config: "MaxArraySize            = 16\n") == 16)
    #expect(SlurmCommands.arraySize(config: "MaxArraySize = many\n") == 1001)
  }

  @Test("words come through a shell as they are")
  func quoting() {
    #expect(ShellQuoting.quoted("--array=0-3%2") == "--array=0-3%2")
    #expect(ShellQuoting.quoted("") == "''")
    #expect(ShellQuoting.quoted("a b") == "'a b'")
    #expect(ShellQuoting.quoted("it's $HOME") == #"'it'\''s $HOME'"#)
  }

  @Test("options of sbatch that the sweep sets, or that have a separate option, are refused")
  func options() {
    for good in ["gres=gpu:1", "exclusive", "comment=a b=c", "qos=low", "no-requeue"] {
      #expect(SlurmSettings.fault(ofOption: good) == nil, "\(good)")
    }
    #expect(
      SlurmSettings.fault(ofOption: "array=0-3") == "found array, which the sweep sets itself")
    #expect(
      SlurmSettings.fault(ofOption: "mem=3G")
        == "found mem, which has a separate option: --mem")
    for bad in ["--qos=low", "-p x", "", "=3", "Qos=low", "a b=c"] {
      #expect(SlurmSettings.fault(ofOption: bad)?.contains("expected KEY=VALUE") == true, "\(bad)")
    }
  }
}
