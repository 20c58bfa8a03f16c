# The oldest and the newest of what the app stands on, by the ranges in pyproject.toml: every page and scene, and a visit.
for end in oldest newest; do
  echo "the $end"
  python -m venv --without-pip "$1/$end"
  # shellcheck disable=SC2046
  python -m pip --python "$1/$end/bin/python" install -qq --no-compile $(python -m runtime.versions "$end")
  "$1/$end/bin/python" -m tests.every_scene
done
