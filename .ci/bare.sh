# The labs with numpy and pytest alone; the arithmetic on the other Pythons that there are. On the last one every test
# runs, of its cases some. The one between it and the one that runs everything loads all of core, and runs what the
# labs are built of and graded by.
"$1/labs/bin/python" -m pytest -q labs -m "not gpu" -p no:cacheprovider
ground=$(printf 'tests/core/%s ' collectives comm_cost models pipeline_bubble sharding_math two_way_tp)
load='import core, importlib, pkgutil
for module in pkgutil.walk_packages(core.__path__, "core."): importlib.import_module(module.name)'
for version in 3.12 3.13; do
  [ -x "$1/$version/bin/python" ] || { echo "not run: there is no Python $version on this machine"; continue; }
  echo "Python $version"
  "$1/$version/bin/python" - <<<"$load"
  [ "$version" = 3.12 ] && tests="$ground" || tests="tests/core"
  # shellcheck disable=SC2086
  "$1/$version/bin/python" -m pytest -q $tests labs -p no:cacheprovider --sample 20
done
