import FedSimCLI
import MyPolicy

FedSimCommand.main(registry: .withMyPolicy)
