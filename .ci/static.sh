# Lint, format, types, and what is known of the packages.
ruff check .
ruff format --check .
mypy
if command -v npx >/dev/null; then
  for script in $(git ls-files '*.js' ':!ui'); do node --check "$script"; done
  npm install --silent --no-save
  npx --no-install eslint ui
fi
python -m pip install -qq --no-compile pip-audit || echo "pip-audit cannot be had here"
python .ci/audit.py
