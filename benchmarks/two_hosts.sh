#!/usr/bin/env bash
# The same run on two hosts: two network namespaces of this machine, joined by a wire whose rate a token bucket shapes.
#
#   sudo benchmarks/two_hosts.sh [MODEL] [STEPS]          records data/two_hosts/{loopback,10gbit,1gbit}
#
# It shapes rate, not delay: what it shows is the bandwidth regime, a long prefill. Needs root, `ip netns`, `tc` and as
# many free cores as ranks. Linux only.
set -euo pipefail
cd "$(dirname "$0")/.."

model="${1:-gpt-30m}"
steps="${2:-33}"
python="${PYTHON:-python}"
port=29531
work="$(mktemp -d)"

tear_down() {
    ip netns del shardlab-a 2>/dev/null || true
    ip netns del shardlab-b 2>/dev/null || true
}
trap 'tear_down; rm -rf "$work"' EXIT

# A namespace for each host and a veth pair between them, both ends shaped.
build() {
    local rate="$1"
    tear_down
    ip netns add shardlab-a
    ip netns add shardlab-b
    ip -n shardlab-a link add wire-a type veth peer name wire-b netns shardlab-b
    for end in a b; do
        local address=$([ "$end" = a ] && echo 10.99.0.1 || echo 10.99.0.2)
        ip -n "shardlab-$end" addr add "$address/24" dev "wire-$end"
        ip -n "shardlab-$end" link set lo up
        ip -n "shardlab-$end" link set "wire-$end" up
        tc -n "shardlab-$end" qdisc add dev "wire-$end" root tbf rate "$rate" burst 256kb latency 50ms
    done
}

# One node's part: NODE ADDRESS INTERFACE, in the namespace that stands before it.
node() {
    local rank="$1" address="$2" interface="$3"
    GLOO_SOCKET_IFNAME="$interface" OMP_NUM_THREADS=1 "${inside[@]}" "$python" -m torch.distributed.run \
        --nnodes=2 --nproc-per-node=1 --node-rank="$rank" --master-addr="$address" --master-port="$port" \
        -m distributed.run_tp --backend gloo --model "$model" --steps-per-prompt "$steps" --json "$work/result.json"
}

record() {
    local name="$1" address="$2"
    rm -f "$work/result.json"
    inside=("${host_b[@]}")
    node 1 "$address" "$interface_b" >/dev/null 2>"$work/second" &
    inside=("${host_a[@]}")
    node 0 "$address" "$interface_a" >"$work/lines.jsonl" 2>"$work/first" || { cat "$work/first" >&2; exit 1; }
    wait
    "$python" -m runtime.record_capture "$name" --kept "$work/lines.jsonl" "$work/result.json" --folder data/two_hosts
}

host_a=() host_b=() interface_a=lo interface_b=lo
record loopback 127.0.0.1
host_a=(ip netns exec shardlab-a) host_b=(ip netns exec shardlab-b) interface_a=wire-a interface_b=wire-b
for rate in 10gbit 1gbit; do
    build "$rate"
    record "$rate" 10.99.0.1
done
