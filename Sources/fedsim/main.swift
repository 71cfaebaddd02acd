import FedSimCLI
