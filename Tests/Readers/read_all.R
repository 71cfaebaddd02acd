# Reads every variable of every group of result files with R's ncdf4, and writes what it saw as a table.
#
#   Rscript read_all.R TABLE.csv RESULT.h5…
#
# A row a variable: its name with its groups, how many values, how many are missing, their sum, the first and the last,
# the unit. check_result.py compares them with h5py's. A warning ends it with exit code 1: there is none to be expected.
options(warn = 2, digits = 17)
suppressPackageStartupMessages(library(ncdf4))

arguments <- commandArgs(trailingOnly = TRUE)
rows <- list()
for (path in arguments[-1]) {
  file <- nc_open(path)
  # Axes that have coordinates are no variables to ncdf4, but their values are there all the same.
  for (name in names(file$dim)) {
    axis <- file$dim[[name]]
    if (!is.null(axis$dimvarid) && axis$create_dimvar) {
      rows[[length(rows) + 1]] <- list(path, name, "axis", as.numeric(axis$vals), axis$units)
    }
  }
  for (name in names(file$var)) {
    values <- ncvar_get(file, name)
    if (is.character(values)) {
      rows[[length(rows) + 1]] <- list(path, name, "text", nchar(values, type = "bytes"), "text")
    } else {
      rows[[length(rows) + 1]] <- list(path, name, "variable", as.numeric(values), file$var[[name]]$units)
    }
  }
  nc_close(file)
}

number <- function(value) formatC(value, digits = 17, format = "g")
lines <- vapply(rows, function(row) {
  values <- row[[4]]
  known <- values[!is.na(values)]
  ends <- if (length(values) > 0) number(c(values[1], values[length(values)])) else c("", "")
  paste(row[[1]], row[[2]], row[[3]], length(values), sum(is.na(values)), number(sum(known)), ends[1], ends[2],
        row[[5]], sep = "\t")
}, "")
writeLines(c("file\tname\tkind\tcount\tmissing\tsum\tfirst\tlast\tunits", lines), arguments[1])
cat(sprintf("R %s, ncdf4 %s: %d variables, texts and axes of %d files\n", paste(R.version$major, R.version$minor, sep = "."),
            packageVersion("ncdf4"), length(rows), length(arguments) - 1))
