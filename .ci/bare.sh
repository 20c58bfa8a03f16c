# The labs with numpy and pytest alone; on the other Pythons that there are all of core is loaded, and the labs run with
# what they are built of and graded by. Mutants of a lab are killed on one Python alone.
"$1/labs/bin/python" -m pytest -q labs -m "not gpu" -p no:cacheprovider
ground=$(printf 'tests/core/%s ' collectives comm_cost models pipeline_bubble sharding_math two_way_tp)
load='import core, importlib, pkgutil
for module in pkgutil.walk_packages(core.__path__, "core."): importlib.import_module(module.name)'
for version in 3.12 3.13; do
  [ -x "$1/$version/bin/python" ] || { echo "not run: there is no Python $version on this machine"; continue; }
  echo "Python $version"
  "$1/$version/bin/python" - <<<"$load"
  # shellcheck disable=SC2086
  "$1/$version/bin/python" -m pytest -q $ground labs -p no:cacheprovider --sample 20 --ignore-glob '*_mutants_*'
done
