import FedSimCLI

FedSimCommand.main()
