# What has to be fetched for the other parts: bare environments, and the list of known vulnerabilities.
python -m pip install -qq pip-audit || echo "pip-audit cannot be had here"
python .ci/audit.py

python3 -m venv "$1/labs"
"$1/labs/bin/python" -m pip install -qq --no-compile "$(grep '^numpy==' requirements.txt)" "$(grep '^pytest==' requirements.txt)"

# the interpreter of a version, wherever it was installed; nothing where there is none
python_of() { command -v "$HOME"/.pyenv/versions/"$1".*/bin/python || { "python$1" -V >/dev/null 2>&1 && echo "python$1"; }; }

for version in 3.12 3.13; do
  if python="$(python_of "$version" | head -1)" && [ -n "$python" ]; then
    "$python" -m venv "$1/$version"
    "$1/$version/bin/python" -m pip install -qq --no-compile $(grep -E '^(numpy|pytest)==' requirements.txt) \
      $(grep -E '^(hypothesis|pytest-xdist)==' requirements-dev.txt)
  else
    echo "there is no Python $version on this machine"
  fi
done
