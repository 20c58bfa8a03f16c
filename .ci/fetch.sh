# What has to be fetched for the other parts: bare environments, and the list of known vulnerabilities.
python -m pip install -qq pip-audit || echo "pip-audit cannot be had here"
python .ci/audit.py

# an environment of an interpreter without a pip of its own, which takes longer than what it would install
bare() {
  "$1" -m venv --without-pip "$2"
  python -m pip --python "$2/bin/python" install -qq --no-compile "${@:3}"
}
bare python3 "$1/labs" $(grep -E '^(numpy|pytest)==' requirements.txt)

# the interpreter of a version, wherever it was installed; nothing where there is none
python_of() { command -v "$HOME"/.pyenv/versions/"$1".*/bin/python || { "python$1" -V >/dev/null 2>&1 && echo "python$1"; }; }

for version in 3.12 3.13; do
  if python="$(python_of "$version" | head -1)" && [ -n "$python" ]; then
    bare "$python" "$1/$version" $(grep -hE '^(numpy|pytest|hypothesis)==' requirements.txt requirements-dev.txt)
  else
    echo "there is no Python $version on this machine"
  fi
done
