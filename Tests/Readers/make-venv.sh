#!/bin/sh
# Makes a Python environment, unless it is there already for the same versions.
#   Tests/Readers/make-venv.sh [FOLDER [REQUIREMENTS]]
# FOLDER is .venv-readers unless given, REQUIREMENTS the requirements.txt next to this file.
# Then: FOLDER/bin/python Tests/Readers/check_result.py RESULT.h5
set -eu
folder=${1:-.venv-readers}
requirements=${2:-$(cd "$(dirname "$0")" && pwd)/requirements.txt}
if cmp -s "$requirements" "$folder/requirements.txt"; then exit 0; fi
rm -rf "$folder"
python3 -m venv "$folder" || {
  echo "make-venv.sh: python3 cannot make an environment (Debian: apt install python3-venv)" >&2
  exit 1
}
"$folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
cp "$requirements" "$folder/requirements.txt"
